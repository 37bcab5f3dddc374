/* unchanged.cu - work that the device leaves out if keys are in order. */
#include "cuda/decision.cuh"

struct decide_unchanged_args {
  static constexpr uint32_t max_threads = 1;
  const uint32_t *found;
  device_decision decision;
};

/* One thread. Reads whether the keys were in order. Writes the number of a graph's conditional
 * node: only a kernel can, and the host must not wait. */
static __global__ void __launch_bounds__(decide_unchanged_args::max_threads)
    decide_unchanged(const __grid_constant__ decide_unchanged_args args)
{
  device_await_before();
  device_decide(args.decision, *args.found);
}

device_status device_start_unless_unchanged(const device_job *job, device_work *work, void *context)
{
  decide_unchanged_args args = {job->unchanged->found, {}};
  device_status status = device_begin_decision(job, &args.decision);
  if (status == 0) status = device_launch(decide_unchanged, 1, 1, 0, job->stream, args);
  return status ? status
                : device_branch(job, args.decision, 1, [&](unsigned, const device_job *inner) {
                    return work(context, inner->stream);
                  });
}

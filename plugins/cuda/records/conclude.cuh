/* conclude.cuh - what all kernels have found, in one number. */
#ifndef RECSORT_CUDA_RECORDS_CONCLUDE_CUH
#define RECSORT_CUDA_RECORDS_CONCLUDE_CUH

#include "cuda/device.h"
#include "gpu/records.h"
#include "recsort/job.h"

namespace records
{

struct conclude_args {
  static constexpr uint32_t max_threads = 1;
  const records_facts *facts;
  device_certificate certificate;
  const uint32_t *unchanged;
  uint32_t *status;
};

/* Reads the facts and the certificate. Writes a recsort_status. One thread: a launch takes longer
 * than its work. */
template <class = void>
__global__ void __launch_bounds__(conclude_args::max_threads)
    conclude(const __grid_constant__ conclude_args args)
{
  device_await_before();
  const bool wrong = *args.certificate.disorder || (*args.certificate.balance && !*args.unchanged);
  *args.status = wrong                  ? RECSORT_CORRUPT_RESULT
                 : args.facts->overlong ? RECSORT_INVALID_ARGUMENT
                 : args.facts->invalid  ? RECSORT_INVALID_RECORD
                                        : RECSORT_OK;
}

template <class = void>
device_status start_conclude(const records_facts *facts, const device_certificate &certificate,
                             const uint32_t *unchanged, uint32_t *status, void *stream)
{
  const conclude_args args = {facts, certificate, unchanged, status};
  return device_launch(conclude<>, 1, conclude_args::max_threads, 0, stream, args);
}

} // namespace records

#endif

/* decision.cuh - where the host must not wait, a kernel may decide which launches follow, if the
 * stream is being captured in a graph.
 *
 *   device_can_decide(job)
 *   device_begin_decision(job, &decision)     before the kernel is launched
 *   device_decide(decision, number)           in the kernel; if none does, the number is 0
 *   device_branch(job, decision, branches, start)
 *                                             start(number, job) launches what is to be done for
 *                                             that number, with the job that it gets. If the
 *                                             number is `branches` or more, nothing runs. Branches
 *                                             may have branches, but these none: each level takes a
 *                                             stream
 *
 * A decision is a conditional node of the graph, a switch, whose bodies are the branches. On an
 * H200 the node takes 6 us. (Kernels that are launched in any case and leave at once would take 100
 * us for 2^24 pairs, and 1.3 ms for 2^28; launches by kernels, 14 us each.)
 */
#ifndef RECSORT_CUDA_DECISION_CUH
#define RECSORT_CUDA_DECISION_CUH

#include "cuda/device.h"

/* The job of a branch: with one stream less. */
static inline device_job device_branch_job(const device_job *job)
{
  device_job inner = *job;
  inner.stream = job->branches[0];
  inner.branches[0] = job->branches[1];
  inner.branches[1] = NULL;
  return inner;
}

#if !defined __CUDACC__ || defined RECSORT_DECIDES_ON_HOST

/* In the emulator kernels have run when their launch returns, so the number is known then. Built
 * for sanitizers, which do not understand such graphs, the host waits for it. */
struct device_decision {
  uint32_t *number;
};

#ifdef __CUDACC__
#define DEVICE_NUMBERS static __managed__
static inline device_status device_await_decision(const device_job *job, device_job *inner)
{
  inner->stream = job->stream;
  return (device_status)cudaStreamSynchronize((cudaStream_t)job->stream);
}
#else
#define DEVICE_NUMBERS static thread_local
static inline device_status device_await_decision(const device_job *, device_job *)
{
  return 0;
}
#endif

static inline bool device_can_decide(const device_job *job)
{
  return job->branches[0] != NULL;
}

DEVICE_NUMBERS uint32_t device_numbers[2]; /* the second one is of branches of branches */

static inline device_status device_begin_decision(const device_job *job, device_decision *decision)
{
  decision->number = &device_numbers[job->branches[1] == NULL];
  *decision->number = 0;
  return 0;
}

DEVICE_INLINE void device_decide(device_decision decision, uint32_t number)
{
  *decision.number = number;
}

template <class Start>
static inline device_status device_branch(const device_job *job, device_decision decision,
                                          unsigned branches, Start start)
{
  RS_ASSERT(branches > 0);
  device_job inner = device_branch_job(job);
  const device_status status = device_await_decision(job, &inner);
  return status || *decision.number >= branches ? status : start(*decision.number, &inner);
}

#elif CUDART_VERSION < 13000 /* the calls below had other parameters */

struct device_decision {
};

static inline bool device_can_decide(const device_job *)
{
  return false;
}
static inline device_status device_begin_decision(const device_job *, device_decision *)
{
  return (device_status)cudaErrorNotSupported;
}
DEVICE_INLINE void device_decide(device_decision, uint32_t)
{
}
template <class Start>
static inline device_status device_branch(const device_job *, device_decision, unsigned, Start)
{
  return (device_status)cudaErrorNotSupported;
}

#else

struct device_decision {
  cudaGraphConditionalHandle handle;
};

static inline bool device_can_decide(const device_job *job)
{
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return job->branches[0] && cudaStreamIsCapturing((cudaStream_t)job->stream, &status) == 0 &&
         status == cudaStreamCaptureStatusActive;
}

/* The graph that is being captured, and the nodes that the next one comes after. */
struct device_capture {
  cudaGraph_t graph;
  const cudaGraphNode_t *before;
  size_t before_count;
};

static inline cudaError_t device_capture_of(const device_job *job, device_capture *capture)
{
  cudaStreamCaptureStatus status;
  return cudaStreamGetCaptureInfo((cudaStream_t)job->stream, &status, NULL, &capture->graph,
                                  &capture->before, NULL, &capture->before_count);
}

static inline device_status device_begin_decision(const device_job *job, device_decision *decision)
{
  device_capture capture;
  cudaError_t error = device_capture_of(job, &capture);
  if (!error)
    error = cudaGraphConditionalHandleCreate(&decision->handle, capture.graph, 0,
                                             cudaGraphCondAssignDefault);
  return (device_status)error;
}

DEVICE_INLINE void device_decide(device_decision decision, uint32_t number)
{
  cudaGraphSetConditional(decision.handle, number);
}

template <class Start>
static inline device_status device_capture_branch(const device_job *job, cudaGraph_t body,
                                                  unsigned number, Start start)
{
  const device_job inner = device_branch_job(job);
  const cudaStream_t stream = (cudaStream_t)inner.stream;
  const cudaError_t begun =
      cudaStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0, cudaStreamCaptureModeRelaxed);
  if (begun) return (device_status)begun;
  const device_status started = start(number, &inner);
  const cudaError_t ended = cudaStreamEndCapture(stream, &body);
  return started ? started : (device_status)ended;
}

/* Adds the node. What is captured next comes after it. */
template <class Start>
static inline device_status device_branch(const device_job *job, device_decision decision,
                                          unsigned branches, Start start)
{
  device_capture capture;
  cudaGraphNode_t node;
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = decision.handle;
  params.conditional.type = cudaGraphCondTypeSwitch;
  params.conditional.size = branches;
  cudaError_t error = device_capture_of(job, &capture);
  if (!error)
    error =
        cudaGraphAddNode(&node, capture.graph, capture.before, NULL, capture.before_count, &params);
  device_status status = (device_status)error;
  for (unsigned number = 0; number < branches && status == 0; number++)
    status = device_capture_branch(job, params.conditional.phGraph_out[number], number, start);
  return status ? status
                : (device_status)cudaStreamUpdateCaptureDependencies(
                      (cudaStream_t)job->stream, &node, NULL, 1, cudaStreamSetCaptureDependencies);
}

#endif

#endif

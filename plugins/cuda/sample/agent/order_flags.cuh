/* order_flags.cuh - what kernels find out about the order of keys, and how they tell the host;
 * and what those of a drop-merge share.
 */
#ifndef RECSORT_CUDA_SAMPLE_ORDER_FLAGS_CUH
#define RECSORT_CUDA_SAMPLE_ORDER_FLAGS_CUH

#include "cuda/pair.cuh"
#include "cuda/sample/plan.h"

namespace sample
{

enum {
  DETECT_BLOCK = 256,
  FEW_DESCEND = 12,       /* one of so many, of keys that may be nearly sorted */
  DROP_MERGE_CHUNK = 256, /* of these, for a warp */
  DROP_MERGE_BLOCK = 128
};

/* Behind all other memory. */
struct order_flags {
  uint32_t unsorted;    /* some key is less than the one before */
  uint32_t unreversed;  /* some key is not less */
  uint32_t unlike;      /* more than a few of those that were sampled at descend */
  uint32_t unmergeable; /* what seems to be an order is none */
  uint32_t dense;       /* some chunk has more than 32 dropped keys */
  uint32_t looked;      /* blocks that are done */
  uint64_t dropped;     /* keys that are out of order */
};

enum { ORDER_FLAGS_BYTES = 32 };

/* In pinned memory of the host (device_job.mailbox). */
struct host_flags {
  order_flags flags;
  uint32_t ready;
};

/* To be called by one thread. */
DEVICE_INLINE void notify_host(volatile host_flags *to_host, const volatile order_flags *flags)
{
  to_host->flags.unsorted = flags->unsorted;
  to_host->flags.unreversed = flags->unreversed;
  to_host->flags.unlike = flags->unlike;
  to_host->flags.unmergeable = flags->unmergeable;
  to_host->flags.dropped = flags->dropped;
  device_post(&to_host->ready, 1);
}

/* To be called before a kernel that notifies the host. */
static inline host_flags *expect_flags(const device_job *job)
{
  host_flags *const to_host = (host_flags *)job->mailbox;
  assert(sizeof *to_host <= DEVICE_MAILBOX);
  to_host->ready = 0;
  return to_host;
}

static inline device_status await_flags(const device_job *job, order_flags *flags)
{
  const host_flags *const to_host = (const host_flags *)job->mailbox;
  const device_status status = device_await(&to_host->ready, job->stream);
  if (status == 0) *flags = to_host->flags;
  return status;
}

/* ---- What the kernels of a drop-merge share ---- */

/* The keys, in chunks. */
template <class Pair> struct key_chunks {
  const key_of<Pair> *keys;
  uint64_t count, chunks;
};

/* Which keys are dropped. */
struct filter_result {
  uint32_t *kept;   /* a bit a key */
  uint16_t *drops;  /* how many of a chunk's keys are dropped */
  uint64_t *groups; /* how many of those of the groups of chunks before */
};

/* The dropped pairs, sorted. */
template <class Pair> struct dropped_pairs {
  const key_of<Pair> *keys;
  const index_of<Pair> *numbers; /* of pairs in the order of their indices, which are here: */
  const index_of<Pair> *indices;
  uint64_t count;
};

} // namespace sample

#endif

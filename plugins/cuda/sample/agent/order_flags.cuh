/* order_flags.cuh - flags about the order of keys, which kernels set and report to the host, and
 * types that the kernels of a drop-merge share. */
#ifndef RECSORT_CUDA_SAMPLE_ORDER_FLAGS_CUH
#define RECSORT_CUDA_SAMPLE_ORDER_FLAGS_CUH

#include "cuda/pair.cuh"
#include "cuda/sample/plan.h"

namespace sample
{

enum {
  DETECT_BLOCK = 256,
  FEW_DESCEND = 12,       /* nearly sorted: at most 1 in 12 samples descends */
  DROP_MERGE_CHUNK = 256, /* keys of a warp */
  DROP_MERGE_BLOCK = 128
};

/* The flags, in device memory. */
struct order_flags {
  uint32_t unsorted;    /* some key is less than the one before */
  uint32_t unreversed;  /* some key is not less than the one before */
  uint32_t unlike;      /* more than a few of the sampled keys descend */
  uint32_t unmergeable; /* the bounds of chunks do not ascend */
  uint32_t dense;       /* some chunk has more than 32 dropped keys */
  uint32_t looked;      /* blocks that have finished */
  uint64_t dropped;     /* keys that were dropped */
};

enum { ORDER_FLAGS_BYTES = 32 };

/* The copy for the host: what a sample sort has in device_job.mailbox. */
struct order_mailbox {
  order_flags flags;
  uint32_t ready;
};

/* Copies the flags to the host. By one thread. */
DEVICE_INLINE void notify_host(volatile order_mailbox *mailbox, const volatile order_flags *flags)
{
  mailbox->flags.unsorted = flags->unsorted;
  mailbox->flags.unreversed = flags->unreversed;
  mailbox->flags.unlike = flags->unlike;
  mailbox->flags.unmergeable = flags->unmergeable;
  mailbox->flags.dropped = flags->dropped;
  device_post(&mailbox->ready, 1);
}

/* Resets the host's copy. Call it before you launch a kernel that notifies the host. */
static inline order_mailbox *expect_flags(const device_job *job)
{
  order_mailbox *const mailbox = (order_mailbox *)job->mailbox;
  assert(sizeof *mailbox <= DEVICE_MAILBOX);
  mailbox->ready = 0;
  return mailbox;
}

static inline device_status await_flags(const device_job *job, order_flags *flags)
{
  const order_mailbox *const mailbox = (const order_mailbox *)job->mailbox;
  const device_status status = device_await(&mailbox->ready, job->stream);
  if (status == 0) *flags = mailbox->flags;
  return status;
}

/* ---- Drop-merge ---- */

/* The keys in input order, cut into chunks. */
template <class Pair> struct key_chunks {
  const key_of<Pair> *keys;
  uint64_t count, chunks;
};

/* Which keys are kept, and how many are dropped. */
struct filter_result {
  uint32_t *kept;   /* a bit for each key */
  uint16_t *drops;  /* how many keys of each chunk are dropped */
  uint64_t *groups; /* for each group of chunks: how many are dropped in all groups before it */
};

/* The dropped pairs, sorted. */
template <class Pair> struct dropped_pairs {
  const key_of<Pair> *keys;
  const index_of<Pair> *numbers; /* for each sorted pair: its position in `indices` */
  const index_of<Pair> *indices;
  uint64_t count;
};

} // namespace sample

#endif

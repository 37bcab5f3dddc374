/* order_flags.cuh - flags about the order of keys, which kernels set; how they report what they
 * found; and types that the kernels of a drop-merge share. */
#ifndef RECSORT_CUDA_SAMPLE_ORDER_FLAGS_CUH
#define RECSORT_CUDA_SAMPLE_ORDER_FLAGS_CUH

#include "cuda/decision.cuh"
#include "cuda/pair.cuh"
#include "cuda/sort/sample/plan.h"

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

/* What kernels find, and, if they decide, the number of a branch. Keys that ascend or descend need
 * none: detect_order has written the result. */
enum key_order {
  KEYS_MIXED,
  KEYS_NEARLY_ASCEND,
  KEYS_ASCEND,
  KEYS_DESCEND,
  KEY_BRANCHES = KEYS_ASCEND
};

enum { ORDER_FLAGS_BYTES = 32 };

/* What a sample sort has in device_job.mailbox. */
struct order_mailbox {
  uint64_t found;
  uint32_t ready;
};

/* Where a kernel reports a number that it has found: to the host, which waits for it, or, where the
 * host must not wait, as a decision. */
struct order_report {
  order_mailbox *mailbox; /* NULL: a decision */
  device_decision decision;
};

/* By one thread. `number` is for the host, `branch` for a decision. */
DEVICE_INLINE void report(const order_report *to, uint64_t number, uint32_t branch)
{
  volatile order_mailbox *const mailbox = to->mailbox;
  if (!mailbox) {
    device_decide(to->decision, branch);
    return;
  }
  mailbox->found = number;
  device_post(&to->mailbox->ready, 1);
}

/* Prepares a report. Call it before you launch the kernel that makes it. */
static inline device_status expect_report(const device_job *job, order_report *report)
{
  *report = {};
  report->mailbox = (order_mailbox *)job->mailbox;
  RS_ASSERT(sizeof *report->mailbox <= DEVICE_MAILBOX);
  if (!report->mailbox) return device_begin_decision(job, &report->decision);
  report->mailbox->ready = 0;
  return 0;
}

static inline device_status await_report(const device_job *job, uint64_t *number)
{
  const order_mailbox *const mailbox = (const order_mailbox *)job->mailbox;
  const device_status status = device_await(&mailbox->ready, job->stream);
  if (status == 0) *number = mailbox->found;
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
  const uint64_t *count; /* in device memory: the host may not know it */
};

} // namespace sample

#endif

/* call.h - a call's job, once it has been read, and how it goes through the files at the top of
 * core. */
#ifndef RS_CALL_H
#define RS_CALL_H

#include "base/assert.h"
#include "sorter.h"

/* A job, and what is found for it. */
typedef struct rs_call {
  const recsort_job *job;
  size_t count;        /* job->count */
  size_t bytes;        /* of the records */
  size_t wanted;       /* records of the result */
  unsigned index_bits; /* of job->permutation */
  bool in_place;       /* job->sorted is job->records */
  bool only_records; /* no permutation has to be found: it is not wanted, and nothing moves by it */
  bool merges;       /* runs of records, which are merged; other runs are sorted */
  rs_scope scope;

  double began;      /* seconds of the clock: the sort is timed for "auto"; 0: it is not */
  const void *moved; /* where the sorted records are; NULL: they have not been moved */
  rs_order order;    /* the permutation, if they have not; the first `wanted` places */
} rs_call;

/* Reads the jobs of a call on the host's memory, which must be one. It looks at no array, and at
 * pointers only for which are NULL or equal. */
recsort_status rs_call_read(const recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                            rs_call *call, recsort_error *error);

/* Checks what it points to, and gives the key program the columns and the scope. Call
 * rs_call_close even if this fails. */
recsort_status rs_call_open(recsort_sorter *sorter, const rs_call *call, recsort_error *error);
void rs_call_close(recsort_sorter *sorter);

/* The first of the records of part `part`. */
static inline size_t rs_call_offset(const rs_call *call, size_t part)
{
  const recsort_job *const job = call->job;
  RS_ASSERT(job->offsets && part <= job->part_count);
  return (size_t)rs_offset_at(job->offsets, rs_job_offset_bits(job), part);
}

/* The address of record `index` of the input; NULL if it is in columns. */
const void *rs_call_record(const recsort_sorter *sorter, const rs_call *call, size_t index);

/* True if nothing is wanted but the permutation, which stays in the sorter. */
static inline bool rs_call_keeps(const rs_call *call)
{
  const recsort_job *const job = call->job;
  return !job->sorted && !job->keys_out && !job->permutation && !job->array_count;
}

/* ---- The first records of the order (head.c) ---- */

/* True if the wanted records are selected; otherwise all are sorted. */
bool rs_head_suits(const recsort_sorter *sorter, const rs_call *call);

/* The most records, up to call->count, that are sorted all and not selected from. */
size_t rs_head_most_sorted(const recsort_sorter *sorter, const rs_call *call);

/* The size of the block that selecting takes. */
recsort_status rs_head_memory(const recsort_sorter *sorter, const rs_call *call, size_t *bytes,
                              recsort_error *error);

/* Leaves the order of the wanted records in the block. */
recsort_status rs_head_find(recsort_sorter *sorter, rs_call *call, recsort_error *error);

/* ---- Merges (merge.c) ---- */

/* The size of the block that a merge takes. */
recsort_status rs_merge_memory(recsort_sorter *sorter, const rs_call *call, size_t *bytes,
                               recsort_error *error);

/* Merges the records to job->sorted, or leaves their order in the block. */
recsort_status rs_merge(recsort_sorter *sorter, rs_call *call, recsort_error *error);

/* The error of the first run that is not sorted; OK if there is none. */
recsort_status rs_merge_check(recsort_sorter *sorter, const rs_call *call, recsort_error *error);

/* ---- Checks (check.c) ---- */

/* Bytes beside the block that a check of neighbours works in. */
size_t rs_check_memory(const recsort_sorter *sorter);

/* Finds the first of records [first, first + count) whose key is less than that of the record
 * before it; otherwise `*disorder` becomes `count`. `records` are those from number `first` on; of
 * columns they are ignored. */
recsort_status rs_check_sorted(recsort_sorter *sorter, const void *records, size_t first,
                               size_t count, size_t *disorder, recsort_error *error);

/* Checks a result of the plugin in use. CORRUPT_RESULT says where keys do not ascend by the order,
 * or equal ones are not in input order; or where the keys of moved records do not ascend, or the
 * records differ from the input's. */
recsort_status rs_check_order(recsort_sorter *sorter, const rs_call *call, const rs_order *order,
                              recsort_error *error);
recsort_status rs_check_moved(recsort_sorter *sorter, const rs_call *call, const void *sorted,
                              recsort_error *error);

#endif

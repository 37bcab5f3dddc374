/* jobs.h - jobs that tests run often. */
#ifndef RS_TEST_JOBS_H
#define RS_TEST_JOBS_H

#include "recsort/recsort.h"

static inline recsort_status run_job(recsort_sorter *sorter, recsort_job job, recsort_error *error)
{
  job.struct_size = sizeof job;
  return recsort_run(sorter, &job, 1, error);
}

/* ---- Memory ---- */

static inline recsort_status plan_bytes(recsort_sorter *sorter, recsort_job job, size_t *bytes,
                                        recsort_error *error)
{
  recsort_needs needs = RECSORT_NEEDS_INIT;
  job.struct_size = sizeof job;
  const recsort_status status = recsort_plan(sorter, &job, 1, &needs, error);
  if (status == RECSORT_OK) *bytes = needs.host;
  return status;
}

/* Those of a sort of `count` records. */
static inline recsort_status sort_bytes(recsort_sorter *sorter, size_t count, bool in_place,
                                        size_t *bytes, recsort_error *error)
{
  char here, there;
  const recsort_job job = {.count = count, .records = &here, .sorted = in_place ? &here : &there};
  return plan_bytes(sorter, job, bytes, error);
}

/* ---- The permutation that a sorter keeps ---- */

typedef struct permutation {
  recsort_job job; /* that has left it in the sorter */
  const void *index;
  unsigned index_bits;
  size_t count;
} permutation;

/* Fills in `found` if there is no error. */
static inline recsort_status find_by_job(recsort_sorter *sorter, recsort_job job,
                                         permutation *found, recsort_error *error)
{
  job.struct_size = sizeof job;
  const recsort_status status = recsort_run(sorter, &job, 1, error);
  if (status) return status;
  found->job = job;
  found->index = recsort_sorter_permutation(sorter, &found->index_bits, &found->count);
  return status;
}

static inline recsort_status find_permutation(recsort_sorter *sorter, const void *records,
                                              size_t count, permutation *found,
                                              recsort_error *error)
{
  return find_by_job(sorter, (recsort_job){.count = count, .records = records}, found, error);
}

static inline recsort_status make_unique(recsort_sorter *sorter, permutation *found,
                                         recsort_error *error)
{
  return recsort_unique(sorter, &found->job, &found->count, error);
}

static inline uint64_t permutation_at(const permutation *found, size_t place)
{
  return found->index_bits == 32 ? ((const uint32_t *)found->index)[place]
                                 : ((const uint64_t *)found->index)[place];
}

/* ---- Merges ---- */

static inline recsort_job runs_job(const void *records, const size_t *offsets, size_t run_count)
{
  recsort_job job = RECSORT_JOB_INIT;
  job.count = offsets[run_count];
  job.records = records;
  job.parts = RECSORT_RUNS;
  job.offsets = offsets;
  job.offset_bits = 8 * sizeof *offsets;
  job.part_count = run_count;
  return job;
}

static inline recsort_status merge_to(recsort_sorter *sorter, const void *records,
                                      const size_t *offsets, size_t run_count, void *sorted,
                                      recsort_error *error)
{
  recsort_job job = runs_job(records, offsets, run_count);
  job.sorted = sorted;
  return recsort_run(sorter, &job, 1, error);
}

static inline recsort_status merge_in_place(recsort_sorter *sorter, void *records,
                                            const size_t *offsets, size_t run_count,
                                            recsort_error *error)
{
  return merge_to(sorter, records, offsets, run_count, records, error);
}

static inline recsort_status argmerge(recsort_sorter *sorter, const void *records,
                                      const size_t *offsets, size_t run_count, void *index,
                                      unsigned index_bits, recsort_error *error)
{
  recsort_job job = runs_job(records, offsets, run_count);
  job.permutation = index;
  job.index_bits = index_bits;
  return recsort_run(sorter, &job, 1, error);
}

/* ---- Columns ---- */

static inline recsort_status argsort_columns(recsort_sorter *sorter, const recsort_column *columns,
                                             size_t column_count, size_t count, void *index,
                                             unsigned index_bits, recsort_error *error)
{
  const recsort_job job = {.count = count,
                           .columns = columns,
                           .column_count = column_count,
                           .permutation = index,
                           .index_bits = index_bits};
  return run_job(sorter, job, error);
}

#endif

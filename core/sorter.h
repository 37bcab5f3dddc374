/* sorter.h - the sorter, for the files at the top of core, the only ones that include all stages.
 *
 *   sort.c       every stage of a job in order: begin to read here
 *   job.c        refuses wrong jobs
 *   call.c       reads jobs on the host
 *   head.c       selects the first records of the order
 *   merge.c      merges sorted runs
 *   check.c      compares neighbours: checks, and the first of each run of equal keys
 *   sorter.c     creates and describes sorters, and holds their memory
 *   partition.c  samples, splitters and parts, for other distributed sorts
 *   device.c     jobs in the memory of devices
 */
#ifndef RS_SORTER_H
#define RS_SORTER_H

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "permute/permute.h"
#include "plan/plan.h"
#include "plugin/choice.h"

/* How a call divides the block: the plugin's part, and the part behind the permutation. A call like
 * the last one finds it planned. */
typedef struct rs_block_plan {
  const rs_candidate *plugin; /* whose plan it is; NULL: nothing is planned */
  size_t copy_size;           /* of the records, if they are sorted in place; else 0 */
  recsort_plugin_job job;
  recsort_plugin_work work;
  size_t after; /* the end of the permutation */
  size_t size;
  bool takes_records; /* the plugin sorts whole records here */
} rs_block_plan;

struct recsort_sorter {
  recsort_allocator allocator;
  rs_arena arena;
  rs_plan plan;
  rs_choice choice; /* the choice of the plugin */
  bool verify; /* results in full */
  bool on_device; /* jobs are in a device's memory, and no call takes records of the host's */
  bool selected;  /* the last call has sorted nothing but the first records */
  team team;
  bool usual_team; /* neither options nor executor set its threads: rs_team() counts processors */
  bool own_team;   /* of the library's pool */
  rs_block_plan planned;
  void *block; /* aligned as plugins require; an allocator may align less */
  size_t block_size;
  void *allocation; /* the allocation that contains the block */
  size_t allocation_size;
  void *spare; /* memory beside the block: for a copy of an array that moves, and for checks */
  size_t spare_size;
  bool keeps;            /* the last one has left its permutation in the block, */
  rs_order kept;         /* this one, */
  recsort_job made;      /* of this job, */
  uint64_t made_columns; /* whose columns have this mark */
  recsort_job simple;    /* that of a call without one: zeros, but for what such calls set */
  recsort_stats stats;
  recsort_error reported; /* zeroed, except while a plugin is called */
};

/* Checks the arguments of a call on records, and computes the bytes of `count` records. */
recsort_status rs_sorter_check(const recsort_sorter *sorter, const void *records, size_t count,
                               size_t *bytes, recsort_error *error);

/* Counts the processors again, unless the options or the executor set the number of threads. */
void rs_sorter_count_threads(recsort_sorter *sorter);

/* The block that calls work in, as plugins want it aligned. */
enum { RS_BLOCK_ALIGNMENT = 64 };

/* Bytes of an allocation that a block of that size can be aligned in. */
size_t rs_sorter_block_bytes(size_t block_size);
/* Makes the block at least so large. What was in it is lost if it grows. */
recsort_status rs_sorter_reserve(recsort_sorter *sorter, size_t size, recsort_error *error);
/* Memory that lives beside the block until the next call, what was in it before is lost; NULL:
 * there is not enough. */
void *rs_sorter_spare(recsort_sorter *sorter, size_t size);
/* Frees the block. */
void rs_sorter_release_block(recsort_sorter *sorter);
/* Frees that beside it. */
void rs_sorter_release_spare(recsort_sorter *sorter);

/* ---- Jobs ---- */

/* Refuses jobs that are wrong whatever their addresses are: of pointers it looks only at which are
 * NULL or equal. No size of an array overflows in a job that it accepts. */
recsort_status rs_jobs_check(const recsort_sorter *sorter, const recsort_job *jobs,
                             size_t job_count, recsort_error *error);

/* Refuses, for a run of jobs that rs_jobs_check accepts, what is missing, not aligned, or overlaps.
 * The columns are in place. On the host it reads the offsets. */
recsort_status rs_jobs_check_arrays(const recsort_sorter *sorter, const recsort_job *jobs,
                                    size_t job_count, recsort_error *error);

/* The records of a result. */
static inline size_t rs_job_wanted(const recsort_job *job)
{
  return job->head && job->head < job->count ? job->head : job->count;
}

static inline unsigned rs_job_index_bits(const recsort_job *job)
{
  return job->index_bits ? job->index_bits : (uint64_t)job->count > UINT64_C(1) << 32 ? 64 : 32;
}

static inline unsigned rs_job_offset_bits(const recsort_job *job)
{
  return job->offset_bits ? job->offset_bits : 64;
}

/* How many bits of a key are compared, which has `all`. */
static inline unsigned rs_job_bits(const recsort_job *job, unsigned all)
{
  RS_ASSERT(job->first_bit < all);
  return job->bits ? job->bits : all - job->first_bit;
}

/* recsort_plan and recsort_run of a sorter with on_device (device.c); the sorter and the jobs are
 * not NULL. */
recsort_status rs_device_plan(recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                              recsort_needs *needs, recsort_error *error);
recsort_status rs_device_run(recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                             recsort_error *error);
/* What the plugin says that such jobs take, without a check. */
recsort_status rs_device_ask(const recsort_sorter *sorter, const recsort_job *jobs,
                             size_t job_count, recsort_needs *needs, recsort_error *error);

/* Begins a call that works in the block: from here on the permutation of the last one is gone. */
void rs_sorter_begin(recsort_sorter *sorter, size_t count);

#endif

/* resident.h - a job in the device's memory: planned and concluded by resident.c, sorted by
 * resident_records.c or, if its records are numbers, by resident_pairs.c; resident_moves.c moves
 * what these have not moved. */
#ifndef RECSORT_GPU_RESIDENT_H
#define RECSORT_GPU_RESIDENT_H

#include "base/assert.h"
#include "gpu/device_pairs.h"
#include "gpu/device_segments.h"
#include "gpu/gpu_plugin.h"

/* What kernels find, and what they leave for others, in the workspace. */
typedef struct resident_facts {
  records_facts records;
  uint64_t balance; /* of a device_certificate, */
  uint32_t disorder;
  uint32_t unchanged; /* of device_unchanged */
  uint32_t differ;    /* of device_pairs_encode */
  uint32_t lengths[DEVICE_MEASURE_WORDS];
  uint64_t tally;      /* device_job.tally */
  uint64_t offsets[2]; /* of the one segment that a device_count makes */
} resident_facts;

enum { RESIDENT_FACTS = DEVICE_ALIGNMENT /* their bytes */ };
_Static_assert(sizeof(resident_facts) <= RESIDENT_FACTS, "room for all");

/* Room for copies of pairs: the keys and indices of a side of the sort's buffers, and what is
 * behind all. */
typedef struct resident_room {
  char *side, *behind;
  uint64_t side_bytes, behind_bytes; /* left, and taken */
} resident_room;

typedef struct resident {
  const gpu_instance *self;
  recsort_job job; /* with its defaults filled in; head is 0 if all are wanted */
  recsort_error *error;

  /* The keys. Those of all bits are encoded before the sort if they are wanted, or if some of their
   * bits are compared: then these are the sort's own. */
  recsort_key_program whole; /* all bits, */
  recsort_key_program part;  /* and the bits that are compared */
  recsort_key_step part_steps[2];
  recsort_key_column part_columns[2];
  bool encodes;
  recsort_plugin_job sort;

  /* The memory, in this order, and its bytes. The pairs are where it begins. */
  uint64_t facts_at, keys_at, room_at, copy_at, bytes;
  char *memory;
  resident_facts *facts;
  bool finds;   /* the job has a status, and kernels may find something */
  bool settles; /* a kernel that looks at the result of few writes it */

  /* What is sorted. */
  const void *records; /* keys are made of these; NULL: of the columns of `part` */
  device_segments segments;
  bool is_numbers;
  bool in_segments; /* the records are numbers, in segments of the caller's: not is_numbers */
  bool are_words;   /* records that are sorted together with their other bits, if they `carry` */
  bool are_few;     /* numbers that resident_sort_few sorts */
  device_pairs numbers;
  uint64_t value; /* number of the array that is their values */
  bool carries;   /* numbers and values are sorted together */
  resident_room room;
  uint32_t *differ; /* NULL: nothing looks */

  /* The sort. What follows is of one that has been started. */
  gpu_pairs pairs;
  device_buffers buffers;
  bool certified; /* the sort does it */
  unsigned side;  /* that has the sorted pairs */
  records_order order;
  device_unchanged unchanged;
  device_segment_sort tiles; /* the sort of short segments, and the arrays that it has moved */
  uint64_t tiles_moved[DEVICE_MOST_MOVED];
  device_words words; /* if the sort makes keys of them */
  device_move move;   /* what it moves, */
  uint64_t moved;     /* of the array of that number */
  uint64_t staged;    /* the array that it stages where a copy would be */
} resident;

/* True if the result is checked. */
static inline bool resident_is_checked(const resident *r)
{
  return r->job.status && runtime_verifies(r->self->device);
}

/* Has the sort that is about to start certify its result, if it can. */
static inline void resident_certify(resident *r)
{
  const device_algorithm *const algorithm = r->pairs.algorithm;
  if (!algorithm->skills || !algorithm->skills(&r->pairs.job).certifies) return;
  r->pairs.job.certificate = r->pairs.certificate;
  r->pairs.certificate.index_bits = 0; /* the sort settles these */
  r->certified = r->pairs.certificate.disorder != NULL;
}

/* ---- What moves (resident_moves.c) ---- */

/* The arrays of a job are counted: its sorted records, the keys that it wants, and then the
 * caller's. `to` is NULL if one is not wanted. */
enum { RESIDENT_SORTED, RESIDENT_KEYS, RESIDENT_ARRAYS };
#define RESIDENT_NONE UINT64_MAX

static inline uint64_t resident_arrays(const resident *r)
{
  return RESIDENT_ARRAYS + r->job.array_count;
}

static inline recsort_array resident_array(const resident *r, uint64_t number)
{
  RS_ASSERT(number < resident_arrays(r));
  const recsort_job *const job = &r->job;
  if (number == RESIDENT_SORTED)
    return (recsort_array){job->records, job->sorted, (size_t)r->whole.record_size};
  if (number == RESIDENT_KEYS)
    return (recsort_array){r->memory ? r->memory + r->keys_at : NULL, job->keys_out,
                           r->whole.key_width / 8};
  return job->arrays[number - RESIDENT_ARRAYS];
}

static inline bool resident_in_place(const recsort_array *array)
{
  return array->from == array->to;
}

/* Starts a copy of an array that is read after it has been written to. */
device_status resident_copy(resident *r, const recsort_array *array, void *stream);

/* Starts what follows a sort: the results that go elsewhere, then those in place, unless the device
 * has found that nothing changes there. */
device_status resident_move(resident *r);

/* True if a sort of numbers moves them and their values, and nothing else is wanted. */
bool resident_moves_pairs_only(const resident *r);

/* True if nothing but that array moves. */
bool resident_moves_only(const resident *r, uint64_t number);

/* ---- Records (resident_records.c) ---- */

/* Finds out whether the sort stages an array. */
void resident_plan_staged(resident *r);

/* True if one kernel can look at the order of few records in the end, and write the job's status.
 */
bool resident_settles_records(const resident *r);

/* Sorts and moves. */
device_status resident_sort_records(resident *r);

/* ---- Numbers (resident_pairs.c) ---- */

/* Finds out whether the records are numbers, or words, that are sorted as such, and plans it. */
void resident_plan_pairs(resident *r);

/* The bytes of copies that do not fit in what the sort leaves; or of hashes of few numbers. */
uint64_t resident_room_bytes(const resident *r);

/* True if the pairs of r->pairs are so few that resident_sort_few may do the whole, if nothing else
 * moves. */
bool resident_pairs_are_few(const resident *r);
device_status resident_sort_few(resident *r);

/* Sorts; resident_move has the results written. */
device_status resident_sort_pairs(resident *r);

/* The memory for pairs in which numbers and values are sorted together; 0: they are not. */
uint64_t resident_carry_bytes(const resident *r);

/* True if that is the fastest way. */
bool resident_carry_is_fast(const resident *r);

/* Enough for a sort of up to so many numbers, which does so if it can. */
uint64_t resident_most_carry_bytes(const resident *r);

/* Sorts numbers and values together. */
device_status resident_carry(const resident *r);

/* True if they and their values are sorted in place. */
bool resident_pairs_stay(const resident *r);

/* Starts to write the sorted numbers and their values. */
device_status resident_finish_pairs(resident *r, void *stream);

#endif

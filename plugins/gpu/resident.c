/* resident.c - a job in the device's memory. It only starts work on the caller's stream, in the
 * caller's workspace: it neither waits nor allocates, so the stream may be captured. What is
 * started returns the runtime's number, which gpu_run_job judges.
 *
 *   plan      reads the job, divides the workspace
 *   begin     clears what kernels find; makes a segment of a device_count, unless numbers are few,
 *             or many that are carried; encodes keys of all bits
 *   sort      of records (resident_records.c), or of numbers (resident_pairs.c)
 *   move      what the sort has not moved (resident_moves.c)
 *   conclude  writes what was found to the job's status, or RECSORT_OK, which is 0. Of few records
 *             one kernel looks at the result and writes it, without what is found before (settles)
 *
 * In a captured stream, the device may choose among such jobs of fewer records, if their count is
 * there.
 *
 * The workspace: the memory of the pairs, facts, keys of all bits, copies of pairs, a copy, or
 * staged records. */
#include "gpu/resident.h"

#include <stdio.h>

#include "base/assert.h"

enum { MOST_KEY_BITS = 128, MOST_COUNT_BITS = 40 /* more than any device has memory for */ };

/* ---- Plan ---- */

/* Has only some bits of the keys compared: they are parts of the words of encoded keys. */
static void plan_part(resident *r, uint32_t first, uint32_t bits)
{
  const uint32_t width = r->whole.key_width, word = width < 64 ? width : 64;
  RS_ASSERT(bits > 0 && first + bits <= width);
  r->part = r->whole;
  r->part.key_bits = bits;
  r->part.key_width = gpu_pair_width(bits);
  r->part.step_count = 0;
  r->part.steps = r->part_steps;
  r->part.columns = r->part_columns;
  for (uint32_t w = width / word; w-- > 0;) {
    const uint32_t begin = first > w * word ? first : w * word,
                   end = first + bits < (w + 1) * word ? first + bits : (w + 1) * word;
    if (begin >= end) continue;
    r->part_columns[r->part.step_count] = (recsort_key_column){NULL, width / 8};
    r->part_steps[r->part.step_count++] = (recsort_key_step){.kind = RECSORT_KEY_UNSIGNED,
                                                             .offset = w * (word / 8),
                                                             .bytes = (uint8_t)(word / 8),
                                                             .bit = (uint8_t)(begin - w * word),
                                                             .width = (uint8_t)(end - begin),
                                                             .shift = begin - first};
  }
  RS_ASSERT(r->part.step_count > 0 && r->part.step_count <= 2);
}

static uint64_t copy_bytes(const resident *r)
{
  uint64_t most = 0;
  for (uint64_t a = 0; a < resident_arrays(r); a++) {
    const recsort_array array = resident_array(r, a);
    if (array.to && resident_in_place(&array) && array.element_size > most &&
        !(r->is_numbers && (a == RESIDENT_SORTED || a == r->value)))
      most = array.element_size;
  }
  if (r->staged != RESIDENT_NONE) most = resident_array(r, r->staged).element_size;
  return r->job.count * most;
}

/* With `pair_bytes` for the pairs. */
static void divide(resident *r, uint64_t pair_bytes)
{
  const bool copies = !r->carries;
  r->facts_at = device_aligned(pair_bytes);
  r->keys_at = r->facts_at + RESIDENT_FACTS;
  r->room_at =
      r->keys_at + (r->encodes ? device_aligned(r->job.count * (r->whole.key_width / 8)) : 0);
  r->copy_at = r->room_at + (r->is_numbers && copies ? device_aligned(resident_room_bytes(r)) : 0);
  r->bytes = r->copy_at + (copies ? copy_bytes(r) : 0);
  RS_ASSERT(r->keys_at <= r->room_at && r->room_at <= r->copy_at && r->copy_at <= r->bytes);
}

static void divide_for(resident *r, bool carries, uint64_t carry_bytes)
{
  r->carries = carries;
  divide(r, carries ? carry_bytes : r->pairs.bytes);
}

/* Divides the workspace for the faster of two ways to sort numbers or to move records; or for the
 * other one if only that has room, as the workspace may be for another number of them. */
static void divide_workspace(resident *r)
{
  const uint64_t bytes = resident_carry_bytes(r), room = r->job.workspace_size;
  const bool fast = bytes && resident_carry_is_fast(r);
  divide_for(r, fast, bytes);
  if (r->staged != RESIDENT_NONE && r->bytes > room) {
    r->staged = RESIDENT_NONE;
    divide_for(r, fast, bytes);
  }
  if (!bytes || r->bytes <= room || r->job.device_count) return; /* other sorts do not read that */
  divide_for(r, !fast, bytes);
  if (r->bytes > room) divide_for(r, fast, bytes);
}

/* Plans what is sorted, with its segments. */
static recsort_status plan_sort(resident *r, uint32_t algorithm)
{
  const recsort_job *const job = &r->job;
  const uint32_t first = job->first_bit, all = r->whole.key_bits,
                 bits = job->bits ? job->bits : all - first;
  RS_ASSERT(bits > 0 && first + bits <= all);
  r->part = r->whole;
  r->records = job->records;
  r->moved = r->value = RESIDENT_NONE;
  resident_plan_pairs(r);
  r->encodes = job->keys_out != NULL;
  if (bits < all && !r->is_numbers) {
    plan_part(r, first, bits);
    r->records = NULL;
    r->encodes = true;
  }
  const uint32_t above = r->segments.count ? records_segment_bits(r->segments.count) : 0;
  if (bits + above > MOST_KEY_BITS)
    return refuse(r->error, "keys and the numbers of segments have more than 128 bits together");
  r->sort = (recsort_plugin_job){.size = sizeof r->sort,
                                 .algorithm = algorithm,
                                 .count = job->count,
                                 .key_bits = bits + above,
                                 .key_width = gpu_pair_width(bits + above),
                                 .index_bits = gpu_index_bits(job->count),
                                 .threads = 1};
  r->pairs = gpu_plan_resident(r->self, &r->sort, job->stream);
  r->are_few = resident_pairs_are_few(r) && resident_moves_pairs_only(r);
  resident_plan_staged(r);
  return RECSORT_OK;
}

static recsort_status read_job(resident *r, uint32_t algorithm, const recsort_key_program *program,
                               const recsort_job *jobs)
{
  r->job = gpu_read_job(jobs, 0);
  recsort_job *const job = &r->job;
  r->whole = *program;
  if ((uint64_t)job->count >> MOST_COUNT_BITS)
    return refuse(r->error, "there are too many records for a device");
  if (!records_encodable(&r->whole))
    return refuse(r->error, "on a device, keys have at most 128 bits and 16 parts");
  if (job->head >= job->count) job->head = 0;
  if (job->parts == RECSORT_SEGMENTS)
    r->segments =
        (device_segments){job->offsets, job->part_count, job->offset_bits, job->longest_part};
  const recsort_status status = plan_sort(r, algorithm);
  if (status || !job->device_count || (r->are_few && r->sort.key_bits < MOST_KEY_BITS) ||
      (resident_carry_bytes(r) && resident_carry_is_fast(r)))
    return status;
  r->segments = (device_segments){NULL, 1, 64, 0};
  return plan_sort(r, algorithm);
}

recsort_status gpu_plan_job(const gpu_instance *self, uint32_t algorithm,
                            const recsort_key_program *program, const recsort_job *job,
                            recsort_needs *needs, recsort_error *error)
{
  resident r = {.self = self, .error = error};
  const recsort_status status = read_job(&r, algorithm, program, job);
  if (status) return status;
  r.carries = resident_carry_bytes(&r) && resident_carry_is_fast(&r);
  divide(&r,
         r.carries ? resident_most_carry_bytes(&r) : gpu_most_pair_bytes(self->device, &r.sort));
  needs->host = 0;
  needs->device = (size_t)r.bytes;
  if (!r.carries || !r.are_words) return RECSORT_OK;
  r.carries = false; /* so are words that are not aligned */
  r.staged = RESIDENT_NONE;
  divide(&r, gpu_most_pair_bytes(self->device, &r.sort));
  if (r.bytes > needs->device) needs->device = (size_t)r.bytes;
  return RECSORT_OK;
}

recsort_status gpu_job_bytes(const gpu_instance *self, uint32_t algorithm,
                             const recsort_key_program *program, const recsort_job *job,
                             uint64_t *bytes, recsort_error *error)
{
  resident r = {.self = self, .error = error};
  const recsort_status status = read_job(&r, algorithm, program, job);
  if (status) return status;
  divide_workspace(&r);
  *bytes = r.bytes;
  return status;
}

/* ---- Begin ---- */

/* True if kernels may find a record or a segment that is wrong. */
static bool may_refuse(const resident *r)
{
  bool may = r->segments.count > 0;
  for (uint32_t s = 0; s < r->whole.step_count && !may; s++)
    may = r->whole.steps[s].kind == RECSORT_KEY_OFFSET;
  return may;
}

/* True if the kernel that looks at a result has all that the status tells. */
static bool settles(const resident *r)
{
  const device_algorithm *const algorithm = r->pairs.algorithm;
  if (!resident_is_checked(r) || may_refuse(r) || r->carries || r->job.head || !algorithm->skills ||
      !algorithm->skills(&r->pairs.job).few)
    return false;
  return r->are_few || resident_settles_records(r);
}

static device_certificate certificate_of(const resident *r)
{
  return (device_certificate){&r->facts->disorder, &r->facts->balance, 0};
}

static recsort_status place(resident *r)
{
  const recsort_job *const job = &r->job;
  if (job->count == 0) return RECSORT_OK;
  divide_workspace(r);
  const recsort_status status = gpu_check_workspace(job, r->bytes, r->error);
  if (status) return status;
  r->memory = job->workspace;
  RS_ASSERT((uintptr_t)r->memory % DEVICE_ALIGNMENT == 0);
  r->facts = (resident_facts *)(void *)(r->memory + r->facts_at);
  for (uint32_t s = 0; s < 2; s++)
    r->part_columns[s].data = r->memory + r->keys_at + r->part_steps[s].offset;
  if (job->device_count && r->segments.count) r->segments.offsets = r->facts->offsets;
  r->room.behind = r->memory + r->room_at;
  r->buffers = device_divide(&r->pairs.job, r->memory, r->pairs.extra_bytes);
  r->unchanged.found = &r->facts->unchanged;
  r->settles = settles(r);
  if (r->settles) r->pairs.job.tally = &r->facts->tally;
  r->pairs.certificate =
      resident_is_checked(r) && !r->settles ? certificate_of(r) : (device_certificate){0};
  r->finds = job->status && (resident_is_checked(r) || may_refuse(r));
  return RECSORT_OK;
}

/* Records of which no key is wanted may be looked at here, too: those outside all segments. */
static device_status start_keys(const resident *r)
{
  const records_program own = records_program_of(&r->whole, r->whole.key_width);
  return records_encode(&own, r->job.records, r->job.count, r->memory + r->keys_at, false,
                        &r->facts->records, r->job.stream);
}

static device_status begin(resident *r)
{
  RS_ASSERT(r->facts);
  const recsort_job *const job = &r->job;
  device_status status = 0;
  if ((r->finds && !r->settles) || r->segments.count)
    status = runtime_start_clear(job->stream, r->facts, sizeof *r->facts);
  if (!status && job->device_count && r->segments.count)
    status = runtime_start_across(job->stream, &r->facts->offsets[1], job->device_count,
                                  sizeof(uint64_t));
  return !status && r->encodes ? start_keys(r) : status;
}

/* ---- The extension ---- */

static device_status sort(resident *r)
{
  if (r->carries) return resident_carry(r);
  if (!r->is_numbers) return resident_sort_records(r);
  if (r->are_few) return resident_sort_few(r);
  const device_status status = resident_sort_pairs(r);
  return status ? status : resident_move(r);
}

static device_status start(resident *r)
{
  const recsort_job *const job = &r->job;
  device_status status = job->count ? begin(r) : 0;
  if (!status && job->count) status = sort(r);
  if (status || !job->status || r->settles) return status;
  if (!r->finds) return runtime_start_clear(job->stream, job->status, sizeof(uint32_t));
  const device_certificate certificate = certificate_of(r);
  return records_conclude(&r->facts->records, &certificate, &r->facts->unchanged, job->status,
                          job->stream);
}

/* ---- As many records as the device says ---- */

/* A job whose count is on the device, for which it chooses among sorts of fewer. */
typedef struct resident_counted {
  const resident *all;
  const recsort_key_program *program;
  uint32_t algorithm;
} resident_counted;

static bool is_measurable(const resident *r)
{
  return r->job.device_count && r->segments.count && !r->job.keys_out &&
         device_count_measurable(&r->pairs.job);
}

/* What is behind the first `most` records stays where it is. */
static device_status start_rest(const resident *r, uint64_t most, void *stream)
{
  RS_ASSERT(most <= r->job.count);
  const recsort_job *const job = &r->job;
  device_status status = 0;
  if (most == job->count) return 0;
  if (job->permutation)
    status = device_number_rest(job->permutation, job->index_bits, most, job->count, stream);
  for (uint64_t a = 0; a < resident_arrays(r) && !status; a++) {
    const recsort_array array = resident_array(r, a);
    const uint64_t size = array.element_size;
    if (array.to && !resident_in_place(&array))
      status =
          runtime_start_across(stream, (char *)array.to + most * size,
                               (const char *)array.from + most * size, (job->count - most) * size);
  }
  return status;
}

/* Starts a branch: a job of fewer records, for which the workspace is large enough. */
static device_status start_at_most(void *context, uint64_t most, const device_job *inner)
{
  const resident_counted *const counted = context;
  resident own = {.self = counted->all->self, .error = counted->all->error};
  recsort_job job = counted->all->job;
  job.count = (size_t)most;
  job.stream = inner->stream;
  recsort_status refused = read_job(&own, counted->algorithm, counted->program, &job);
  if (!refused) refused = place(&own);
  if (refused) return (device_status)refused; /* it is not: fewer take no more */
  own.pairs.job.branches[0] = NULL;
  own.finds = job.status != NULL; /* so that a kernel sets it */
  const device_status status = start_rest(counted->all, most, job.stream);
  return status ? status : start(&own);
}

static device_status start_counted(const resident *r, uint32_t algorithm,
                                   const recsort_key_program *program)
{
  resident_counted counted = {r, program, algorithm};
  return device_count_measure(r->job.device_count, &r->pairs.job, start_at_most, &counted);
}

recsort_status gpu_run_job(const gpu_instance *self, uint32_t algorithm,
                           const recsort_key_program *program, const recsort_job *job,
                           recsort_error *error)
{
  resident r = {.self = self, .error = error};
  recsort_status status = read_job(&r, algorithm, program, job);
  if (!status) status = place(&r);
  if (!status) status = runtime_enter(self->device, error);
  if (status) return status;
  const device_status started =
      is_measurable(&r) ? start_counted(&r, algorithm, program) : start(&r);
  status = runtime_judge(started, "the start of a job", error);
  runtime_leave(self->device);
  return status;
}

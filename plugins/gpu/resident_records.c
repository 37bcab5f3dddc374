/* resident_records.c - sorts records of a job in the device's memory.
 *
 *   head      the first records, if they are few: finds their order
 *   tiles     segments that are all short: sorts them, and moves small arrays. In a captured stream
 *             the device may find out whether they are short. Otherwise:
 *   encode    makes keys in the workspace; the number of a record's segment goes above its key
 *   sort      by the job's algorithm. It gets no mailbox, so it does not wait. In a captured stream
 *             the device may decide what is to be done. The algorithm may make keys itself, and
 *             move an array, or stage it: the indices are then places in a copy (device_skills)
 *   move      see resident_moves.c */
#include "base/assert.h"
#include "gpu/device_head.h"
#include "gpu/resident.h"

/* ---- Head ---- */

/* Memory for all pairs is more than enough for it. */
static bool head_suits(const resident *r)
{
  const recsort_job *const job = &r->job;
  return job->head && device_head_suits(job->count, job->head) &&
         device_head_bytes(job->count, job->head) + job->head * sizeof(uint64_t) <= r->facts_at;
}

static device_status start_head(resident *r)
{
  const recsort_job *const job = &r->job;
  RS_ASSERT(job->head > 0 && job->head < job->count);
  const records_program own = records_program_of(&r->part, r->part.key_width);
  const device_head wanted = {.program = &own,
                              .records = r->records,
                              .count = job->count,
                              .head = job->head,
                              .index_bits = job->index_bits,
                              .memory = r->memory,
                              .order = r->memory + device_head_bytes(job->count, job->head),
                              .facts = &r->facts->records,
                              .stream = job->stream};
  r->order =
      (records_order){.indices = wanted.order, .count = job->head, .index_bits = job->index_bits};
  return device_head_find(&wanted);
}

/* ---- Tiles ---- */

static device_segment_sort plan_tiles(const resident *r)
{
  return (device_segment_sort){.key_bits = r->part.key_bits,
                               .records = r->records,
                               .count = r->job.count,
                               .segments = r->segments,
                               .shared_bytes = r->pairs.job.shared_bytes,
                               .index_bits = r->sort.index_bits,
                               .disorder = r->pairs.certificate.disorder,
                               .facts = &r->facts->records,
                               .stream = r->job.stream};
}

/* Has the tiles move the small arrays that are sorted in place, or the others. Returns whether
 * these are all of them. */
static bool add_moved(resident *r, bool in_place)
{
  device_segment_sort *const to = &r->tiles;
  bool all = true;
  for (uint64_t a = 0; a < resident_arrays(r); a++) {
    const recsort_array array = resident_array(r, a);
    const uint64_t aligned = (uintptr_t)array.from | (uintptr_t)array.to | array.element_size;
    if (!array.to || resident_in_place(&array) != in_place) continue;
    if (aligned % 4 || array.element_size > 4 * DEVICE_MOST_MOVED_WORDS ||
        to->moved_count == DEVICE_MOST_MOVED) {
      all = false;
      continue;
    }
    r->tiles_moved[to->moved_count] = a;
    to->moved[to->moved_count++] =
        (device_moved){array.from, array.to, (uint32_t)(array.element_size / 4)};
  }
  RS_ASSERT(to->moved_count <= DEVICE_MOST_MOVED);
  return all;
}

/* It moves arrays in place only if it moves all. */
static device_status start_tiles(resident *r)
{
  const records_program own = records_program_of(&r->part, r->part.key_width);
  r->tiles.program = &own;
  const bool others = add_moved(r, false), alone = r->tiles.moved_count == 0;
  const bool moved = others && alone && add_moved(r, true);
  r->order = (records_order){
      .indices = r->buffers.indices[0], .count = r->job.count, .index_bits = r->sort.index_bits};
  if (!moved || r->job.permutation) r->tiles.order = r->buffers.indices[0];
  return device_segments_sort(&r->tiles);
}

/* ---- Sort ---- */

static device_status start_encode(const resident *r, const device_certificate *certificate)
{
  const recsort_job *const job = &r->job;
  const records_program own = records_program_of(&r->part, r->pairs.job.key_width);
  records_facts *const facts = &r->facts->records;
  void *const keys = r->buffers.keys[0];
  return r->segments.count
             ? records_encode_segments(&own, r->records, job->count, &r->segments, r->part.key_bits,
                                       keys, facts, certificate, job->stream)
             : records_encode_certified(&own, r->records, job->count, keys, facts, certificate,
                                        job->stream);
}

static device_status start_sort(resident *r)
{
  const bool encodes = !r->buffers.words, all = !r->job.head;
  if (encodes && all && r->pairs.certificate.disorder)
    r->pairs.certificate.index_bits = r->sort.index_bits;
  const device_certificate certificate = r->pairs.certificate;
  resident_certify(r);
  device_status started = encodes ? start_encode(r, &certificate) : 0;
  if (!started) started = r->pairs.algorithm->sort(&r->pairs.job, &r->buffers, &r->side);
  r->order = gpu_order_of(&r->pairs, &r->buffers, r->side);
  if (r->staged != RESIDENT_NONE) r->order.keys = NULL;
  return started;
}

/* The array that the sort moves: the first one that goes to another place, or else the first. */
static uint64_t first_moved(const resident *r)
{
  uint64_t first = RESIDENT_NONE;
  for (uint64_t a = 0; a < resident_arrays(r); a++) {
    const recsort_array array = resident_array(r, a);
    if (array.to && !resident_in_place(&array)) return a;
    if (array.to && first == RESIDENT_NONE) first = a;
  }
  return first;
}

/* True if `size` bytes at `in` hold all words. */
static bool holds(const void *in, uint64_t size, const device_words *words, uint64_t count)
{
  RS_ASSERT(count > 0);
  const uint64_t offset = (uint64_t)((uintptr_t)words->data - (uintptr_t)in);
  return offset < size && (count - 1) * words->stride < size - offset;
}

/* True if the sort can make keys of words in a copy of the array, which is aligned. */
static bool copy_has(const recsort_array *array, const device_words *words, uint64_t count)
{
  const uint64_t offset = (uint64_t)((uintptr_t)words->data - (uintptr_t)array->from);
  return holds(array->from, count * array->element_size, words, count) &&
         offset % sizeof(uint32_t) == 0;
}

static bool overlap(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes)
{
  return (uintptr_t)a < (uintptr_t)b + b_bytes && (uintptr_t)b < (uintptr_t)a + a_bytes;
}

/* Has the sort move an array. If it makes the keys itself, the array must not go where these are
 * made from: in place, they are made from its copy. */
static device_status plan_move(resident *r, uint64_t number)
{
  device_words *const words = &r->words;
  const recsort_array array = resident_array(r, number);
  const uint64_t count = r->job.count, bytes = count * array.element_size;
  char *const copy = r->memory + r->copy_at;
  const bool in_place = resident_in_place(&array);
  const bool held = r->buffers.words && in_place && holds(array.from, bytes, words, count);
  if (held && !copy_has(&array, words, count))
    r->buffers.words = NULL; /* they are aligned only where they are */
  else if (held)
    words->data = copy + ((const char *)words->data - (const char *)array.from);
  else if (r->buffers.words && overlap(array.to, bytes, words->data, count * words->stride))
    return 0;
  r->move = (device_move){in_place ? copy : array.from, array.to, array.element_size};
  r->moved = number;
  r->pairs.job.move = &r->move;
  return in_place ? resident_copy(r, &array, r->job.stream) : 0;
}

void resident_plan_staged(resident *r)
{
  const records_program own = records_program_of(&r->part, r->part.key_width);
  const device_algorithm *const algorithm = r->pairs.algorithm;
  const uint64_t first = first_moved(r);
  device_job job = r->pairs.job;
  device_words words;
  job.branches[0] = NULL; /* as stage() has it */
  r->staged = RESIDENT_NONE;
  if (r->is_numbers || r->segments.count || r->job.head || first == RESIDENT_NONE ||
      !resident_moves_only(r, first) || !records_words(&own, r->records, &words))
    return;
  const recsort_array array = resident_array(r, first);
  const uint64_t aligned = (uintptr_t)array.from | (uintptr_t)array.to | array.element_size;
  if (aligned % 4 == 0 && array.element_size <= DEVICE_MOST_STAGED &&
      words.stride == array.element_size &&
      (uintptr_t)words.data - (uintptr_t)array.from < array.element_size && algorithm->skills &&
      algorithm->skills(&job).stages)
    r->staged = first;
}

/* The device decides nothing, as it would look at keys in memory, and these are read from the
 * records. The sort certifies the order, as the sorted words are not
 * kept. */
static void stage(resident *r)
{
  RS_ASSERT(r->staged != RESIDENT_NONE);
  const recsort_array array = resident_array(r, r->staged);
  r->buffers.words = &r->words;
  r->move = (device_move){array.from, r->memory + r->copy_at, array.element_size};
  r->pairs.job.move = &r->move;
  r->pairs.job.branches[0] = NULL;
}

/* Leaves to the sort what it can do besides. Few records take as many other kernels as it has. */
static device_status plan_skills(resident *r)
{
  const records_program own = records_program_of(&r->part, r->part.key_width);
  const device_algorithm *const algorithm = r->pairs.algorithm;
  const device_skills skills =
      algorithm->skills ? algorithm->skills(&r->pairs.job) : (device_skills){0};
  if (skills.reads_words && !r->segments.count && records_words(&own, r->records, &r->words))
    r->buffers.words = &r->words;
  if (r->staged != RESIDENT_NONE && records_words(&own, r->records, &r->words)) stage(r);
  const uint64_t first = first_moved(r);
  return skills.moves && first != RESIDENT_NONE && !r->job.head ? plan_move(r, first) : 0;
}

static device_status start_with_skills(resident *r)
{
  const device_status status = plan_skills(r);
  return status ? status : start_sort(r);
}

/* ---- Few records, whose status one kernel settles ---- */

/* What keys are made of must still be there: nothing is written over it, but for the only array, if
 * the sort moves it from a copy of which it makes the keys. */
bool resident_settles_records(const resident *r)
{
  const recsort_job *const job = &r->job;
  const records_program own = records_program_of(&r->part, r->pairs.job.key_width);
  device_words words;
  const bool reads_words = records_words(&own, r->records, &words) &&
                           r->pairs.algorithm->skills(&r->pairs.job).reads_words;
  const void *const from = reads_words ? words.data : r->records;
  const uint64_t bytes = job->count * (reads_words ? words.stride : r->whole.record_size);
  uint64_t wanted = 0, written_over = 0;
  if (!from || r->is_numbers || r->encodes ||
      (job->permutation &&
       overlap(job->permutation, job->count * (job->index_bits / 8), from, bytes)))
    return false;
  for (uint64_t a = 0; a < resident_arrays(r); a++) {
    const recsort_array array = resident_array(r, a);
    const uint64_t size = job->count * array.element_size;
    if (!array.to) continue;
    wanted++;
    if (!overlap(array.to, size, from, bytes)) continue;
    if (!reads_words || !resident_in_place(&array) || !copy_has(&array, &words, job->count))
      return false;
    written_over++;
  }
  return written_over == 0 || (written_over == 1 && wanted == 1);
}

static device_status start_settle(const resident *r)
{
  records_program own = records_program_of(&r->part, r->pairs.job.key_width);
  const bool words = r->buffers.words;
  if (words) own.columns[0] = (recsort_key_column){r->words.data, r->words.stride};
  return records_settle(&own, words ? NULL : r->records, &r->order, &r->facts->tally, r->job.status,
                        r->job.stream);
}

static device_status start_planned(resident *r)
{
  r->pairs.job.unchanged = &r->unchanged;
  device_status status = head_suits(r) ? start_head(r)
                         : r->segments.count && device_segments_suit(&r->tiles)
                             ? start_tiles(r)
                             : start_with_skills(r);
  if (r->job.head) { /* so many are moved, which are no permutation */
    r->job.count = r->order.count = r->job.head;
    r->order.certificate.balance = NULL;
  }
  if (!status) status = resident_move(r);
  return status || !r->settles ? status : start_settle(r);
}

/* ---- Segments that the device measures ---- */

/* Starts a branch. */
static device_status start_measured(void *context, uint64_t longest, const device_job *inner)
{
  resident own = *(const resident *)context;
  own.job.stream = inner->stream;
  own.pairs.job = *inner;
  own.segments.most = longest;
  own.tiles = plan_tiles(&own);
  return start_planned(&own);
}

device_status resident_sort_records(resident *r)
{
  r->tiles = plan_tiles(r);
  if (!r->segments.count || !device_segments_measurable(&r->tiles, &r->pairs.job))
    return start_planned(r);
  return device_segments_measure(&r->tiles, &r->pairs.job, r->facts->lengths, start_measured, r);
}

/* merge.c - runs are merged in rounds, by all threads.
 *
 * Of each run a few blocks of records are in memory. A round merges what it may of all but the last
 * of them: the records before the least of the last ones, for nothing that is still to be read
 * comes before those. The library merges them, each block as a run; meanwhile threads read blocks
 * that are free, and the caller takes what the round before merged.
 *
 * The library checks the order within what it gets. Where blocks and rounds meet, this file does.
 */
#include "sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_BLOCKS = 3, /* of a run */
  OUTPUTS = 2,
  READERS = 4,           /* threads */
  LEAST_RECORDS = 16,    /* of a block, and */
  LEAST_SIZE = 64 << 10, /* bytes of it, unless memory is too small to merge two runs so: */
  SCARCE_SIZE = 4 << 10, /* then so many, or one record */
  MOST_SIZE = 4 << 20,
  DROPS = 16,          /* parts of a run that are given back to the disk, each at once, */
  DROP_SIZE = 16 << 20 /* or so many bytes */
};

/* What a merge has in memory. */
typedef struct rf_shape {
  size_t runs;
  size_t blocks;   /* of a run */
  size_t merged;   /* of them, that a round may merge */
  size_t outputs;  /* with two, one is filled while the caller has the other one; 0: records are
                    * given where they were read, one at a time */
  size_t capacity; /* records of a block */
} rf_shape;

/* Records of a run, in the order in which they were read. */
typedef struct rf_block {
  unsigned char *memory;
  unsigned char *records;
  size_t count;   /* 0: free */
  size_t at;      /* records passed over */
  uint64_t first; /* records of the run before these */
} rf_block;

typedef struct rf_run {
  const rf_source *source;
  rf_block blocks[MOST_BLOCKS];
  atomic_size_t filled; /* blocks that were filled so far, in turn, */
  atomic_size_t passed; /* and those of them whose records have been passed over */
  uint64_t read;        /* records */
  rf_checksum sum;      /* of the bytes that were read, if the run is in the store */
  uint64_t dropped;     /* bytes */
  bool ended;           /* all have been read */
  bool any;             /* a record has been passed over: */
  unsigned char *last_key;
} rf_run;

/* A part of a block that a round merges. */
typedef struct rf_part {
  size_t run;
  rf_block *block;
  size_t count;
} rf_part;

struct rf_merge {
  recsort_file *file;
  rf_shape shape;
  size_t record_size, key_size;
  uint64_t left;                /* records that are wanted */
  atomic_uint_least64_t unread; /* bytes of runs in the store */
  unsigned char *memory;
  size_t memory_size;
  rf_run *runs;
  unsigned char *keys; /* two: scratch, and the bound's; then the last one of each run */
  rf_part *parts;      /* of the round */
  size_t part_count;
  const void **arrays;
  uint64_t *offsets;
  const unsigned char *result; /* of the round */
  unsigned char *outputs[OUTPUTS];
  size_t output; /* that the round fills */
  size_t count;  /* its records */
  rf_task round;
  rf_task readers[READERS];
  atomic_size_t next_run; /* to be read */
  recsort_status status;  /* of the round */
  recsort_error error;
  atomic_int read_status; /* of the readers: the first failure */
  recsort_error read_error;
};

/* ---- Memory ---- */

/* The result of a merge of a group is a run. */
static bool writes_runs(const recsort_file *file)
{
  return file->writer.memory != NULL;
}

static size_t block_size(const recsort_file *file, const rf_shape *shape)
{
  const size_t size = shape->capacity * file->record_size;
  return (size + RF_SECTOR - 1) / RF_SECTOR * RF_SECTOR + 2 * RF_SECTOR;
}

static size_t output_size(const recsort_file *file, const rf_shape *shape)
{
  return shape->runs * shape->merged * shape->capacity * file->record_size;
}

static size_t array_size(const recsort_file *file, const rf_shape *shape)
{
  const size_t parts = shape->runs * shape->merged;
  return shape->runs * sizeof(rf_run) + (shape->runs + 2) * file->key_size +
         parts * (sizeof(rf_part) + sizeof(void *)) + (parts + 1) * sizeof(uint64_t);
}

/* The largest round. Its pointers only say what there is. */
static recsort_job round_of(const rf_shape *shape)
{
  static char records, sorted;
  static const uint64_t offset;
  recsort_job job = RECSORT_JOB_INIT;
  job.part_count = shape->runs * shape->merged;
  job.count = job.part_count * shape->capacity;
  job.records = &records;
  job.sorted = &sorted;
  job.parts = RECSORT_RUNS;
  job.offsets = &offset;
  return job;
}

/* The bytes of a merge; UINT64_MAX: it cannot be done so. */
static uint64_t shape_size(recsort_file *file, const rf_shape *shape)
{
  const recsort_job job = round_of(shape);
  recsort_needs needs = RECSORT_NEEDS_INIT;
  if (job.part_count > RECSORT_MOST_RUNS ||
      recsort_plan(file->sorter, &job, 1, &needs, NULL) != RECSORT_OK) {
    return UINT64_MAX;
  }
  const uint64_t writer = writes_runs(file) ? rf_writer_size(file->writer.piece) : 0;
  const uint64_t merging = shape->outputs > 0 ? needs.host : 0;
  return merging + writer + array_size(file, shape) +
         shape->runs * shape->blocks * (uint64_t)block_size(file, shape) +
         shape->outputs * (uint64_t)output_size(file, shape);
}

static rf_shape large_shape(const recsort_file *file, size_t runs)
{
  const size_t records = LEAST_SIZE / file->record_size;
  return (rf_shape){.runs = runs,
                    .blocks = MOST_BLOCKS,
                    .merged = MOST_BLOCKS - 1,
                    .outputs = OUTPUTS,
                    .capacity = records > LEAST_RECORDS ? records : LEAST_RECORDS};
}

/* Where memory is scarce: no reading and no writing beside a merge. */
static rf_shape small_shape(const recsort_file *file, size_t runs)
{
  const size_t records = SCARCE_SIZE / file->record_size;
  return (rf_shape){
      .runs = runs, .blocks = 1, .merged = 1, .outputs = 1, .capacity = records > 1 ? records : 1};
}

/* Where there is room for nothing but a record of each run. */
static rf_shape least_shape(size_t runs)
{
  return (rf_shape){.runs = runs, .blocks = 1, .merged = 1, .outputs = 0, .capacity = 1};
}

static bool fits(recsort_file *file, const rf_shape *shape)
{
  return shape_size(file, shape) <= file->memory;
}

recsort_status rf_merge_least(recsort_file *file, uint64_t *memory, recsort_error *error)
{
  const rf_shape shape = least_shape(2);
  *memory = shape_size(file, &shape);
  return *memory != UINT64_MAX
             ? RECSORT_OK
             : rf_fail(error, RECSORT_PLUGIN_ERROR, "runs of such records cannot be merged");
}

/* Raises *number, up to `most`, as long as the shape fits. */
static void raise(recsort_file *file, rf_shape *shape, size_t *number, size_t most)
{
  size_t low = *number, high = most + 1;
  while (high - low > 1) {
    *number = low + (high - low) / 2;
    if (fits(file, shape)) {
      low = *number;
    } else {
      high = *number;
    }
  }
  *number = low;
}

/* The best shape of a merge of `runs` that fits. */
static rf_shape shape_of(recsort_file *file, size_t runs)
{
  rf_shape shape = large_shape(file, runs);
  if (!fits(file, &shape)) shape = small_shape(file, runs);
  if (!fits(file, &shape)) return least_shape(runs);
  const size_t most = MOST_SIZE / file->record_size;
  if (most > shape.capacity) raise(file, &shape, &shape.capacity, most);
  return shape;
}

size_t rf_merge_most(recsort_file *file)
{
  const size_t held = RECSORT_MOST_RUNS / (MOST_BLOCKS - 1);
  const size_t most = file->most_runs != 0 && file->most_runs < held ? file->most_runs : held;
  rf_shape shape = large_shape(file, 2);
  if (!fits(file, &shape)) shape = small_shape(file, 2);
  if (!fits(file, &shape)) shape = least_shape(2);
  raise(file, &shape, &shape.runs, most);
  return shape.runs;
}

static recsort_status take_memory(rf_merge *merge, recsort_error *error)
{
  const recsort_file *const file = merge->file;
  const rf_shape *const shape = &merge->shape;
  const size_t parts = shape->runs * shape->merged, block = block_size(file, shape);
  const size_t output = output_size(file, shape);
  merge->memory_size = shape->runs * shape->blocks * block + shape->outputs * output;
  merge->memory = rf_map(merge->memory_size);
  merge->runs = calloc(shape->runs, sizeof *merge->runs);
  merge->keys = calloc(shape->runs + 2, file->key_size);
  merge->parts = calloc(parts, sizeof *merge->parts);
  merge->arrays = calloc(parts, sizeof *merge->arrays);
  merge->offsets = calloc(parts + 1, sizeof *merge->offsets);
  if (merge->memory == NULL || merge->runs == NULL || merge->keys == NULL || merge->parts == NULL ||
      merge->arrays == NULL || merge->offsets == NULL) {
    return rf_fail_memory(error, merge->memory_size + array_size(file, shape));
  }
  unsigned char *at = merge->memory;
  for (size_t r = 0; r < shape->runs; r++) {
    merge->runs[r].last_key = merge->keys + (2 + r) * file->key_size;
    for (size_t b = 0; b < shape->blocks; b++, at += block)
      merge->runs[r].blocks[b].memory = at;
  }
  for (size_t i = 0; i < shape->outputs; i++, at += output)
    merge->outputs[i] = at;
  return RECSORT_OK;
}

/* ---- Reading ---- */

/* Space is given back while it is needed: for another run, as temporary files take one copy of the
 * records at most; for the result, if it may be on the same disk; for anybody, if it is memory. It
 * costs a disk time. */
static bool needs_space(const rf_merge *merge, const rf_extent *run)
{
  const recsort_file *const file = merge->file;
  const uint64_t left = atomic_load(&merge->unread) + file->memory;
  return writes_runs(file) || file->store.files[run->file].in_memory ||
         !rf_store_has_room(&file->store, run->file, left);
}

static recsort_status read_from_store(rf_merge *merge, rf_run *run, rf_block *block, size_t *count,
                                      recsort_error *error)
{
  rf_store *const store = &merge->file->store;
  const rf_extent *const extent = &run->source->extent;
  const uint64_t done = run->sum.size, left = extent->size - done;
  const size_t most = merge->shape.capacity * merge->record_size;
  const size_t size = left < most ? (size_t)left : most;
  void *at = block->memory;
  recsort_status status = RECSORT_OK;
  if (size > 0) status = rf_store_next(store, extent, &run->sum, size, block->memory, &at, error);
  if (status) return status;
  block->records = at;
  *count = size / merge->record_size;
  atomic_fetch_sub(&merge->unread, size);
  const uint64_t part = extent->size / DROPS < DROP_SIZE ? extent->size / DROPS : DROP_SIZE;
  const bool drops = done + size - run->dropped >= part || size == left;
  if (drops && needs_space(merge, extent)) {
    rf_store_drop(store, extent, done + size);
    run->dropped = done + size;
  }
  return status;
}

static recsort_status read_block(rf_merge *merge, rf_run *run, recsort_error *error)
{
  rf_block *const block = &run->blocks[run->filled % merge->shape.blocks];
  const rf_source *const source = run->source;
  size_t count = 0;
  recsort_status status;
  if (source->read != NULL) {
    block->records = block->memory;
    *error = (recsort_error){0};
    status = source->read(source->context, block->records, merge->shape.capacity, &count, error);
    if (status == RECSORT_OK) atomic_fetch_add(&merge->file->caller_records, count);
  } else {
    status = read_from_store(merge, run, block, &count, error);
  }
  if (status) return status;
  run->ended = count == 0;
  if (run->ended) return status;
  block->count = count;
  block->at = 0;
  block->first = run->read;
  run->read += count;
  run->filled++;
  return status;
}

static size_t used_blocks(const rf_run *run)
{
  return run->filled - run->passed;
}

/* Fills the free blocks of runs that no other reader has taken. Readers run beside a round, which
 * makes blocks free, and until the next one begins. */
static void read_runs(void *context)
{
  rf_merge *const merge = context;
  for (size_t r; (r = atomic_fetch_add(&merge->next_run, 1)) < merge->shape.runs;) {
    rf_run *const run = &merge->runs[r];
    recsort_error error;
    while (!run->ended && used_blocks(run) < merge->shape.blocks) {
      if (atomic_load(&merge->read_status)) return;
      const recsort_status status = read_block(merge, run, &error);
      int none = RECSORT_OK;
      if (status && atomic_compare_exchange_strong(&merge->read_status, &none, (int)status))
        merge->read_error = error;
    }
  }
}

static void begin_reading(rf_merge *merge)
{
  merge->next_run = 0;
  for (size_t i = 0; i < READERS && i < merge->shape.runs; i++)
    rf_task_begin(&merge->readers[i], read_runs, merge);
}

static recsort_status end_reading(rf_merge *merge, recsort_error *error)
{
  const double begin = rf_seconds();
  for (size_t i = 0; i < READERS; i++)
    rf_task_end(&merge->readers[i]);
  merge->file->stats.wait_seconds += rf_seconds() - begin;
  const recsort_status status = (recsort_status)atomic_load(&merge->read_status);
  if (status && error) *error = merge->read_error;
  return status;
}

/* Reads without threads. */
static recsort_status read_now(rf_merge *merge, recsort_error *error)
{
  merge->next_run = 0;
  read_runs(merge);
  return end_reading(merge, error);
}

/* Not all records are wanted: compares what was read of each run, up to the end of the part that it
 * is in. */
static recsort_status compare_parts(rf_merge *merge, recsort_error *error)
{
  enum { MOST = 64 << 10, ROOM = MOST + 2 * RF_SECTOR };
  void *const memory = rf_map(ROOM), *at;
  recsort_status status = end_reading(merge, error);
  if (memory == NULL) return rf_fail_memory(error, ROOM);
  for (size_t r = 0; r < merge->shape.runs; r++) {
    rf_run *const run = &merge->runs[r];
    const rf_extent *const extent = &run->source->extent;
    uint64_t rest;
    while (!status && run->source->read == NULL && (rest = rf_store_rest(extent, &run->sum)) > 0)
      status = rf_store_next(&merge->file->store, extent, &run->sum,
                             rest < MOST ? (size_t)rest : MOST, memory, &at, error);
  }
  rf_unmap(memory, ROOM);
  return status;
}

/* ---- Keys ---- */

/* An error about record `number` of a run; `what` is the rest of its text. */
static recsort_status fail_record(const rf_merge *merge, size_t run, uint64_t number,
                                  recsort_status status, const char *what, recsort_error *error)
{
  const rf_source *const source = merge->runs[run].source;
  if (source->read == NULL)
    return rf_store_fail_changed(&merge->file->store, &source->extent, error);
  return rf_fail(error, status, "run %zu, record %" PRIu64 ": %.300s", source->number, number,
                 what);
}

static recsort_status fail_disorder(const rf_merge *merge, size_t run, uint64_t number,
                                    recsort_error *error)
{
  return fail_record(merge, run, number, RECSORT_UNSORTED_RUN,
                     "its key is less than that of the record before it", error);
}

static const unsigned char *record_at(const rf_merge *merge, const rf_block *block, size_t at)
{
  return block->records + at * merge->record_size;
}

static recsort_status read_key(const rf_merge *merge, size_t run, const rf_block *block, size_t at,
                               unsigned char *key, recsort_error *error)
{
  recsort_error found;
  int length = 0;
  const recsort_status status =
      recsort_encode(merge->file->sorter, record_at(merge, block, at), 1, key, &found);
  if (status == RECSORT_OK) return status;
  sscanf(found.text, "record 0: %n", &length);
  return fail_record(merge, run, block->first + at, status, found.text + length, error);
}

static int compare(const rf_merge *merge, const unsigned char *a, const unsigned char *b)
{
  return recsort_key_compare(merge->file->sorter, a, b);
}

/* ---- A round ---- */

static rf_block *block_at(const rf_merge *merge, rf_run *run, size_t number)
{
  return &run->blocks[(run->passed + number) % merge->shape.blocks];
}

static size_t merged_blocks(const rf_merge *merge, const rf_run *run)
{
  const size_t used = used_blocks(run);
  return used < merge->shape.merged ? used : merge->shape.merged;
}

/* Finds the least of the records before which this round stops: its key, and its run; that is the
 * number of runs if the round takes all there is. */
static recsort_status find_bound(rf_merge *merge, unsigned char *bound, size_t *found,
                                 recsort_error *error)
{
  *found = merge->shape.runs;
  for (size_t r = 0; r < merge->shape.runs; r++) {
    rf_run *const run = &merge->runs[r];
    const size_t blocks = merged_blocks(merge, run);
    if (blocks == 0 || (run->ended && used_blocks(run) == blocks)) continue;
    const rf_block *const last = block_at(merge, run, blocks - 1);
    const recsort_status status = read_key(merge, r, last, last->count - 1, merge->keys, error);
    if (status) return status;
    if (*found < merge->shape.runs && compare(merge, merge->keys, bound) >= 0) continue;
    memcpy(bound, merge->keys, merge->key_size);
    *found = r;
  }
  return RECSORT_OK;
}

/* Finds the first record of a block that this round leaves: one whose key is greater than the bound
 * or, unless `or_equal`, equal to it. */
static recsort_status find_end(const rf_merge *merge, size_t run, const rf_block *block,
                               const unsigned char *bound, bool or_equal, size_t *end,
                               recsort_error *error)
{
  size_t low = block->at, high = block->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const recsort_status status = read_key(merge, run, block, middle, merge->keys, error);
    if (status) return status;
    const int order = compare(merge, merge->keys, bound);
    if (order < 0 || (or_equal && order == 0)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *end = low;
  return RECSORT_OK;
}

/* Adds the next `count` records of a block to the round. */
static recsort_status add_part(rf_merge *merge, size_t number, rf_block *block, size_t count,
                               recsort_error *error)
{
  rf_run *const run = &merge->runs[number];
  recsort_status status = read_key(merge, number, block, block->at, merge->keys, error);
  if (status) return status;
  if (run->any && compare(merge, run->last_key, merge->keys) > 0)
    return fail_disorder(merge, number, block->first + block->at, error);
  run->any = true;
  status = read_key(merge, number, block, block->at + count - 1, run->last_key, error);
  merge->parts[merge->part_count] = (rf_part){number, block, count};
  merge->arrays[merge->part_count] = record_at(merge, block, block->at);
  merge->offsets[merge->part_count + 1] = merge->offsets[merge->part_count] + count;
  merge->part_count++;
  return status;
}

/* Finds the parts of a round; none: all is done. */
static recsort_status find_parts(rf_merge *merge, recsort_error *error)
{
  unsigned char *const bound = merge->keys + merge->key_size;
  size_t least;
  merge->part_count = 0;
  recsort_status status = find_bound(merge, bound, &least, error);
  for (size_t r = 0; r < merge->shape.runs && status == RECSORT_OK; r++) {
    rf_run *const run = &merge->runs[r];
    const size_t blocks = merged_blocks(merge, run);
    const bool all = least == merge->shape.runs || r == least;
    bool stopped = false;
    for (size_t b = 0; b < blocks && !stopped && status == RECSORT_OK; b++) {
      rf_block *const block = block_at(merge, run, b);
      size_t end = block->count;
      if (!all) status = find_end(merge, r, block, bound, r < least, &end, error);
      if (status == RECSORT_OK && end > block->at)
        status = add_part(merge, r, block, end - block->at, error);
      stopped = end < block->count;
    }
  }
  return status;
}

/* After a round. */
static void pass_over(rf_merge *merge)
{
  for (size_t p = 0; p < merge->part_count; p++) {
    const rf_part *const part = &merge->parts[p];
    rf_run *const run = &merge->runs[part->run];
    part->block->at += part->count;
    if (part->block->at == part->block->count) run->passed++;
  }
}

/* What the library found in a part. */
static recsort_status fail_part(const rf_merge *merge, recsort_status status,
                                const recsort_error *found, recsort_error *error)
{
  uint64_t number = 0;
  size_t part = 0;
  int length = 0;
  sscanf(found->text, "run %zu, record %" SCNu64 ": %n", &part, &number, &length);
  if (length == 0 || part >= merge->part_count) {
    *error = *found;
    return status;
  }
  const rf_part *const at = &merge->parts[part];
  return fail_record(merge, at->run, number + at->block->first + at->block->at, status,
                     found->text + length, error);
}

static recsort_status merge_parts(rf_merge *merge, recsort_error *error)
{
  const double begin = rf_seconds();
  recsort_job job = RECSORT_JOB_INIT;
  recsort_error found;
  job.count = (size_t)merge->offsets[merge->part_count];
  job.part_records = merge->arrays;
  job.parts = RECSORT_RUNS;
  job.offsets = merge->offsets;
  job.part_count = merge->part_count;
  job.sorted = merge->outputs[merge->output];
  merge->result = job.sorted;
  if (merge->left < job.count) job.head = (size_t)merge->left;
  const recsort_status status = recsort_run(merge->file->sorter, &job, 1, &found);
  merge->file->stats.merge_seconds += rf_seconds() - begin;
  if (status) return fail_part(merge, status, &found, error);
  merge->count = job.head != 0 ? job.head : job.count;
  return status;
}

/* Merges records into the output; none: there are no more. */
static void run_round(void *context)
{
  rf_merge *const merge = context;
  const bool beside = merge->shape.blocks > merge->shape.merged;
  recsort_error *const error = &merge->error;
  recsort_status status = RECSORT_OK;
  merge->count = 0;
  if (merge->left == 0) return;
  if (merge->shape.outputs == 0) pass_over(merge); /* what the caller had until now */
  status = beside ? end_reading(merge, error) : read_now(merge, error);
  if (status == RECSORT_OK) status = find_parts(merge, error);
  if (status == RECSORT_OK && merge->part_count > 0) {
    if (beside) begin_reading(merge);
    if (merge->shape.outputs > 0) {
      status = merge_parts(merge, error);
      pass_over(merge);
    } else { /* a part is one record, and the first one is the least */
      merge->part_count = merge->count = 1;
      merge->result = merge->arrays[0];
    }
  }
  merge->left -= merge->count;
  if (status == RECSORT_OK && merge->left == 0) status = compare_parts(merge, error);
  merge->status = status;
}

/* ---- The merge ---- */

recsort_status rf_merge_open(recsort_file *file, size_t first, size_t count, uint64_t head,
                             recsort_error *error)
{
  rf_merge *const merge = calloc(1, sizeof *merge);
  if (merge == NULL) return rf_fail_memory(error, sizeof *merge);
  file->merge = merge;
  *merge = (rf_merge){.file = file,
                      .shape = shape_of(file, count),
                      .record_size = file->record_size,
                      .key_size = file->key_size,
                      .left = head};
  recsort_status status = take_memory(merge, error);
  if (status) return status;
  for (size_t r = 0; r < count; r++) {
    merge->runs[r].source = &file->sources[first + r];
    merge->unread += file->sources[first + r].extent.size; /* 0 for a run of the caller */
  }
  if (merge->shape.outputs > 0) { /* by this thread, see load.c */
    const recsort_job job = round_of(&merge->shape);
    status = recsort_sorter_reserve(file->sorter, &job, error);
  }
  if (status || merge->shape.outputs < 2) return status; /* it reads when it merges */
  begin_reading(merge);
  rf_task_begin(&merge->round, run_round, merge);
  return RECSORT_OK;
}

uint64_t rf_merge_size(const recsort_file *file)
{
  return file->merge->unread;
}

recsort_status rf_merge_next(recsort_file *file, const void **records, size_t *count,
                             recsort_error *error)
{
  rf_merge *const merge = file->merge;
  if (merge->shape.outputs > 1) {
    rf_task_end(&merge->round);
  } else {
    run_round(merge);
  }
  if (merge->status && error) *error = merge->error;
  if (merge->status) return merge->status;
  *records = merge->result;
  *count = merge->count;
  if (merge->shape.outputs < 2 || merge->count == 0) return RECSORT_OK;
  merge->output = !merge->output;
  rf_task_begin(&merge->round, run_round, merge);
  return RECSORT_OK;
}

recsort_status rf_merge_compare(recsort_file *file, recsort_error *error)
{
  rf_merge *const merge = file->merge;
  rf_task_end(&merge->round);
  merge->left = merge->count = 0;
  if (merge->status)
    *error = merge->error;
  else
    merge->status = compare_parts(merge, error);
  return merge->status;
}

void rf_merge_wait(recsort_file *file)
{
  if (file->merge != NULL) rf_task_end(&file->merge->round);
}

void rf_merge_close(recsort_file *file)
{
  rf_merge *const merge = file->merge;
  if (merge == NULL) return;
  rf_task_end(&merge->round);
  for (size_t i = 0; i < READERS; i++)
    rf_task_end(&merge->readers[i]);
  rf_unmap(merge->memory, merge->memory_size);
  free(merge->runs);
  free(merge->keys);
  free(merge->parts);
  free(merge->arrays);
  free(merge->offsets);
  free(merge);
  file->merge = NULL;
}

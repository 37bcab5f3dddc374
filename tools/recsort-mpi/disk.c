/* disk.c - see disk.h. */
#include "disk.h"

#include "recsort/folders.h"

#include "support/message.h"

#include "recsort/file.h"

#include "files/checksum.h"
#include "mpi/rounds.h"
#include "mpi/votes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory ---- */

/* So many records that take about `size` bytes; at least one. */
static size_t records_in(const disk_sort *d, uint64_t size)
{
  return size > d->record_size ? (size_t)(size / d->record_size) : 1;
}

static size_t bytes_of(const disk_sort *d, size_t records)
{
  return records * d->record_size;
}

/* Divides `memory`: what is moved at a time, and what the index has. Returns what a recsort_file
 * gets: it takes its memory beside what sorts a slice, and beside the runs that are merged. */
static uint64_t plan(disk_sort *d, uint64_t memory)
{
  enum { SHARE = 64, MOST = 4 << 20 };
  const uint64_t share = memory / SHARE;
  d->piece = records_in(d, share < MOST ? share : MOST);
  const size_t entries = records_in(d, share);
  d->stride = d->count / entries + 1;
  d->index_size = bytes_of(d, entries);
  const uint64_t sorting =
      bytes_of(d, d->piece) + 2 * RF_SECTOR + rf_writer_size(bytes_of(d, d->piece)) + d->index_size;
  const uint64_t each = 4 * share / (uint64_t)d->ranks; /* as much in all as for sorting */
  d->merged = records_in(d, each < MOST ? each : MOST);
  const uint64_t merging = (uint64_t)d->ranks * (bytes_of(d, d->merged) + 3 * RF_SECTOR);
  const uint64_t own = sorting > merging ? sorting : merging;
  return memory > own + 1 ? memory - own : 1;
}

/* The least memory that leaves `least` bytes for a recsort_file. */
static uint64_t least_for(const disk_sort *d, uint64_t least)
{
  disk_sort planned = *d;
  uint64_t memory = least;
  for (uint64_t left; (left = plan(&planned, memory)) < least;)
    memory += least - left;
  return memory;
}

static bool take(void **memory, size_t size)
{
  *memory = rf_map(size);
  if (*memory == NULL) tool_error_memory(size);
  return *memory != NULL;
}

static bool take_memory(disk_sort *d)
{
  const size_t ranks = (size_t)d->ranks, piece = bytes_of(d, d->piece);
  const size_t mark_size = recsort_key_size(d->job->sorter) + RECSORT_MARK_EXTRA;
  void *buffer = NULL, *index = NULL;
  const bool mapped = take(&buffer, piece + 2 * RF_SECTOR) && take(&index, d->index_size);
  d->buffer = buffer;
  d->index = index;
  if (!mapped) return false;
  d->rounds = malloc(rounds_memory(mark_size, ranks - 1));
  d->cuts = calloc(7 * ranks + 1, sizeof *d->cuts);
  d->runs = calloc(ranks, sizeof *d->runs);
  if (d->rounds != NULL && d->cuts != NULL && d->runs != NULL && rf_writer_open(&d->writer, piece))
    return true;
  tool_error_memory(rf_writer_size(piece));
  return false;
}

static void release(disk_sort *d)
{
  rf_writer_close(&d->writer);
  if (d->buffer != NULL) rf_unmap(d->buffer, bytes_of(d, d->piece) + 2 * RF_SECTOR);
  if (d->index != NULL) rf_unmap(d->index, d->index_size);
  free(d->rounds);
  d->buffer = d->index = NULL;
  d->rounds = NULL;
}

/* ---- Errors ---- */

static bool fail(const disk_sort *d, const recsort_error *error)
{
  uint64_t number = d->first + error_record(error), least;
  size_t size;
  if (error->status == RECSORT_INVALID_RECORD) {
    const char *const name = inputs_find(d->in, &number);
    job_error(name, number, error);
  } else if (sscanf(error->text,
                    "not enough memory: records of %zu bytes need at least %" SCNu64 " KiB", &size,
                    &least) == 2) {
    tool_error("not enough memory: each process needs at least %" PRIu64 " KiB for records of %zu "
               "bytes",
               (least_for(d, least << 10) + 1023) >> 10, size);
  } else {
    tool_error_library(error);
  }
  return false;
}

static bool fail_compared(void)
{
  tool_error("the records were changed on their way: a disk, the network or memory is at fault");
  return false;
}

/* ---- Begin and end ---- */

static bool open_store(disk_sort *d, int neighbours, uint64_t memory)
{
  const cli_options *const options = d->job->options;
  char *const usual = options->folder_count == 0 ? folders_usual(options) : NULL;
  const char *const folder = usual;
  if (usual == NULL && options->folder_count == 0) {
    tool_error_memory(0);
    return false;
  }
  const char *const *const folders = usual != NULL ? &folder : options->folders;
  const size_t count = usual != NULL ? 1 : options->folder_count;
  const uint64_t machine = (uint64_t)neighbours;
  recsort_error error;
  const bool done =
      folders_have_space(folders, count, machine * bytes_of(d, d->count), machine * memory) &&
      (rf_store_open(&d->store, folders, count, &error) == RECSORT_OK || fail(d, &error));
  free(usual);
  if (done) d->store.next = (size_t)d->rank % count;
  return done;
}

bool disk_open(disk_sort *d, const cli_job *job, const inputs *in, int rank, int ranks,
               int neighbours, uint64_t memory)
{
  *d = (disk_sort){.job = job,
                   .in = in,
                   .rank = rank,
                   .ranks = ranks,
                   .first = inputs_begin(in, ranks, rank),
                   .record_size = in->format.record_size};
  d->count = (size_t)(inputs_begin(in, ranks, rank + 1) - d->first);
  d->memory = plan(d, memory);
  return open_store(d, neighbours, memory) && take_memory(d);
}

void disk_close(disk_sort *d)
{
  release(d);
  rf_store_close(&d->store);
  free(d->cuts);
  free(d->runs);
}

static recsort_status open_file(const disk_sort *d, recsort_file **file, recsort_error *error)
{
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  const char *folders[RECSORT_FILE_MOST_FOLDERS];
  const size_t count = d->store.file_count;
  for (size_t i = 0; i < count; i++)
    folders[i] = d->store.files[(i + (size_t)d->rank) % count].folder;
  options.memory = d->memory;
  options.folders = folders;
  options.folder_count = count;
  return recsort_file_open(d->job->sorter, &options, file, error);
}

/* ---- The slice ---- */

static bool append_slice(disk_sort *d, recsort_file *file)
{
  recsort_error error;
  for (size_t done = 0, part; done < d->count; done += part) {
    part = d->count - done < d->piece ? d->count - done : d->piece;
    if (!inputs_read(d->in, d->first + done, part, d->buffer)) return false;
    d->in_sum += rf_checksum_records(d->buffer, part, d->record_size);
    if (recsort_file_append(file, d->buffer, part, &error) != RECSORT_OK) return fail(d, &error);
  }
  return true;
}

/* Copies those of records [at, at + count) of the sorted slice that the index has. */
static void add_to_index(disk_sort *d, const unsigned char *records, size_t at, size_t count)
{
  for (size_t i = (at + d->stride - 1) / d->stride; i * d->stride < at + count; i++)
    memcpy(d->index + bytes_of(d, i), records + bytes_of(d, i * d->stride - at), d->record_size);
}

static recsort_status write_sorted(disk_sort *d, recsort_file *file, recsort_error *error)
{
  const void *records;
  size_t at = 0, part = 1;
  recsort_status status = recsort_file_finish(file, error);
  if (status == RECSORT_OK)
    status = rf_store_begin(&d->store, &d->writer, bytes_of(d, d->count), error);
  while (status == RECSORT_OK && part > 0) {
    status = recsort_file_next(file, &records, &part, error);
    if (status) break;
    add_to_index(d, records, at, part);
    at += part;
    if (!rf_writer_add(&d->writer, records, bytes_of(d, part)))
      status = rf_store_fail(&d->writer, error);
  }
  if (status == RECSORT_OK) status = rf_store_end(&d->store, &d->writer, &d->sorted, error);
  return status ? status : rf_store_wait(&d->writer, error);
}

bool disk_sort_slice(disk_sort *d)
{
  recsort_file *file;
  recsort_error error;
  if (open_file(d, &file, &error) != RECSORT_OK) return fail(d, &error);
  const bool done =
      append_slice(d, file) && (write_sorted(d, file, &error) == RECSORT_OK || fail(d, &error));
  recsort_file_close(file);
  return done;
}

/* ---- Where it is cut ---- */

/* Reads at most a piece. */
static recsort_status read_sorted(disk_sort *d, size_t low, size_t high, const void **records,
                                  recsort_error *error)
{
  recsort_status status = RECSORT_OK;
  if (low < d->held || high > d->held_end) {
    status = rf_store_read(&d->store, &d->sorted, bytes_of(d, low), bytes_of(d, high - low),
                           d->buffer, &d->held_at, error);
    d->held = status ? 0 : low;
    d->held_end = status ? 0 : high;
  }
  *records = (char *)d->held_at + bytes_of(d, low - d->held);
  return status;
}

/* A record about in the middle of [low, high): one of the index, if it has one there. */
static recsort_status read_middle(disk_sort *d, size_t low, size_t high, size_t *at,
                                  const void **record, recsort_error *error)
{
  const size_t middle = low + (high - low) / 2, entry = middle / d->stride;
  const bool before = entry * d->stride >= low, after = (entry + 1) * d->stride < high;
  *at = before ? entry * d->stride : after ? (entry + 1) * d->stride : middle;
  *record = d->index + bytes_of(d, *at / d->stride);
  return before || after ? RECSORT_OK : read_sorted(d, middle, middle + 1, record, error);
}

/* A refine_read: halves until what is left is a piece. */
static recsort_status read_around(void *context, const unsigned char *mark, size_t *low,
                                  size_t *high, const void **records, recsort_error *error)
{
  disk_sort *const d = context;
  while (*high - *low > d->piece) {
    size_t at, before;
    const void *record;
    recsort_status status = read_middle(d, *low, *high, &at, &record, error);
    if (status == RECSORT_OK)
      status = recsort_partition_sorted(d->job->sorter, record, 1, d->first + at, mark, 1, &before,
                                        error);
    if (status) return status;
    if (before)
      *low = at + 1;
    else
      *high = at;
  }
  return read_sorted(d, *low, *high, records, error);
}

bool disk_divide(disk_sort *d)
{
  const size_t splitters = (size_t)d->ranks - 1;
  rounds r = {.comm = MPI_COMM_WORLD,
              .refine = {.sorter = d->job->sorter,
                         .read = read_around,
                         .context = d,
                         .record_count = d->count,
                         .first = d->first,
                         .count = splitters}};
  rounds_open(&r, d->in->total, d->rounds);
  for (size_t i = 0; i < splitters; i++)
    r.refine.splitters[i].target = inputs_begin(d->in, d->ranks, (int)i + 1);
  if (!rounds_find(&r)) return r.status == RECSORT_OK || fail(d, &r.error);
  d->round_count = r.done;
  for (size_t i = 0; i < splitters; i++)
    d->cuts[i + 1] = r.refine.splitters[i].low_cut;
  d->cuts[d->ranks] = d->count;
  return true;
}

/* ---- Exchange ---- */

/* Gives the space of a part's first bytes back. A part need not end with a sector, and what comes
 * behind it stays: rf_store_drop, which takes the last sector of a run, must not see an end. */
static void drop(disk_sort *d, const rf_extent *part, uint64_t size)
{
  const rf_extent endless = {.file = part->file, .begin = part->begin, .size = UINT64_MAX};
  rf_store_drop(&d->store, &endless, size);
}

/* The part of the sorted slice for a rank. */
static rf_extent part_of(const disk_sort *d, int rank)
{
  const uint64_t begin = d->cuts[rank] * d->record_size, end = d->cuts[rank + 1] * d->record_size;
  return (rf_extent){.file = d->sorted.file, .begin = d->sorted.begin + begin, .size = end - begin};
}

/* Sends a part to one rank, and writes what comes from another one, `in` bytes, in messages of at
 * most `most`. A rank that has failed sends empty messages, so that no other one waits for it. */
static recsort_status swap_parts(disk_sort *d, int to, int from, uint64_t in, uint64_t most,
                                 recsort_status status, recsort_error *error)
{
  const rf_extent part = part_of(d, to);
  const uint64_t out = part.size;
  if (!status) status = rf_store_begin(&d->store, &d->writer, in, error);
  for (uint64_t at = 0; at < out || at < in; at += most) {
    const size_t sent = (size_t)(at >= out ? 0 : out - at < most ? out - at : most);
    const size_t taken = (size_t)(at >= in ? 0 : in - at < most ? in - at : most);
    void *data = d->buffer;
    MPI_Status message;
    int got;
    if (!status && sent > 0)
      status = rf_store_read(&d->store, &part, at, sent, d->buffer, &data, error);
    MPI_Sendrecv(data, status ? 0 : (int)sent, MPI_BYTE, sent > 0 ? to : MPI_PROC_NULL, 0,
                 status ? d->buffer : rf_writer_room(&d->writer), (int)taken, MPI_BYTE,
                 taken > 0 ? from : MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message);
    MPI_Get_count(&message, MPI_BYTE, &got);
    if (!status && got > 0 && !rf_writer_put(&d->writer, (size_t)got))
      status = rf_store_fail(&d->writer, error);
    if (!status && sent > 0) drop(d, &part, at + sent);
  }
  return status ? status : rf_store_end(&d->store, &d->writer, &d->runs[from], error);
}

bool disk_exchange(disk_sort *d)
{
  uint64_t *const out = d->cuts + d->ranks + 1, *const in = out + (ptrdiff_t)3 * d->ranks;
  enum { MOST_MESSAGE = 1 << 30 }; /* one record may be larger */
  const uint64_t own = bytes_of(d, d->piece) < MOST_MESSAGE ? bytes_of(d, d->piece) : MOST_MESSAGE;
  uint64_t most[3] = {own}; /* that all have room for: their memories may differ */
  recsort_status status = RECSORT_OK;
  recsort_error error;
  for (int r = 0; r < d->ranks; r++)
    out[r] = part_of(d, r).size;
  votes_swap(out, in, MPI_COMM_WORLD);
  votes_reduce(most, 1, MPI_MIN, MPI_COMM_WORLD);
  d->runs[d->rank] = part_of(d, d->rank); /* it stays where it is */
  for (int step = 1; step < d->ranks; step++) {
    const int to = (int)(((int64_t)d->rank + step) % d->ranks);
    const int from = (int)(((int64_t)d->rank + d->ranks - step) % d->ranks);
    status = swap_parts(d, to, from, in[from], most[0], status, &error);
  }
  if (status == RECSORT_OK) status = rf_store_wait(&d->writer, &error);
  release(d);
  return status == RECSORT_OK || fail(d, &error);
}

/* ---- Merge ---- */

/* A run, and what of it is in memory. */
typedef struct run_reader {
  disk_sort *d;
  const rf_extent *run;
  uint64_t done; /* bytes that were read */
  size_t most;   /* bytes that are read at a time */
  void *memory, *at;
  size_t held; /* bytes at `at` */
} run_reader;

/* A recsort_file_read. */
static recsort_status read_run(void *context, void *records, size_t capacity, size_t *count,
                               recsort_error *error)
{
  run_reader *const r = context;
  if (r->held == 0 && r->done < r->run->size) {
    const uint64_t left = r->run->size - r->done;
    r->held = left < r->most ? (size_t)left : r->most;
    const recsort_status status =
        rf_store_read(&r->d->store, r->run, r->done, r->held, r->memory, &r->at, error);
    if (status) return status;
    r->done += r->held;
    drop(r->d, r->run, r->done);
  }
  *count = r->held / r->d->record_size < capacity ? r->held / r->d->record_size : capacity;
  const size_t size = bytes_of(r->d, *count);
  if (size > 0) memcpy(records, r->at, size);
  r->at = (char *)r->at + size;
  r->held -= size;
  return RECSORT_OK;
}

static bool merge_runs(disk_sort *d, run_reader *readers, slice_output *output)
{
  recsort_file *file;
  recsort_error error;
  const void *records;
  size_t count = 1;
  bool done = true;
  if (open_file(d, &file, &error) != RECSORT_OK) return fail(d, &error);
  recsort_status status = RECSORT_OK;
  for (int r = 0; r < d->ranks && !status; r++)
    if (d->runs[r].size > 0) status = recsort_file_add_run(file, read_run, &readers[r], &error);
  if (!status) status = recsort_file_finish(file, &error);
  while (done && !status && count > 0) {
    status = recsort_file_next(file, &records, &count, &error);
    if (status) break;
    d->out_sum += rf_checksum_records(records, count, d->record_size);
    done = slice_write(output, records, bytes_of(d, count));
  }
  recsort_file_close(file);
  /* the records were valid, and the runs sorted */
  if (status == RECSORT_INVALID_RECORD || status == RECSORT_UNSORTED_RUN) return fail_compared();
  return status ? fail(d, &error) : done;
}

bool disk_merge(disk_sort *d, slice_output *output)
{
  const size_t ranks = (size_t)d->ranks, most = bytes_of(d, d->merged);
  const size_t each = (most + RF_SECTOR - 1) / RF_SECTOR * RF_SECTOR + 2 * RF_SECTOR;
  run_reader *const readers = calloc(ranks, sizeof *readers);
  void *memory = NULL;
  const bool taken = readers != NULL && take(&memory, ranks * each);
  if (readers == NULL) tool_error_memory(ranks * sizeof *readers);
  for (size_t r = 0; r < ranks && taken; r++)
    readers[r] =
        (run_reader){.d = d, .run = &d->runs[r], .most = most, .memory = (char *)memory + r * each};
  const bool done = taken && merge_runs(d, readers, output);
  if (memory != NULL) rf_unmap(memory, ranks * each);
  free(readers);
  return done;
}

bool disk_compare(const disk_sort *d)
{
  uint64_t sum[3] = {d->in_sum - d->out_sum};
  votes_reduce(sum, 1, MPI_SUM, MPI_COMM_WORLD);
  return sum[0] == 0 || fail_compared();
}

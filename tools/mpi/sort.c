/* sort.c - see recsort/mpi.h. Calls every step of a distributed sort in order.
 *
 * A step that can fail on one rank alone ends with `agree`, or tells the others in a sum that they
 * need anyway. So all ranks leave at the same place, and none waits for one that has left. */
#define _DEFAULT_SOURCE
#include "recsort/mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "files/checksum.h"
#include "rounds.h"
#include "votes.h"

enum { BLOCKS = 16, WINDOW = 64 /* messages on their way */, MOST_MESSAGE = 1 << 30 };

/* A sort, and what this rank knows of it. */
typedef struct sort_job {
  recsort_sorter *sorter;
  MPI_Comm comm;
  int rank, ranks;
  recsort_mpi_job given; /* with what the sort did so far */
  recsort_allocator allocator;
  double tolerance;
  size_t message;
  size_t record_size, mark_size;
  bool starts_from_last; /* rank 0 has splitters of a sort before */
  size_t count;          /* of `sorted` */
  void *sorted;          /* what was given, in order; in the end the result */
  void *received;        /* from all ranks, one run from each */
  size_t new_count;
  rounds rounds;
  uint64_t *counts;              /* of the records of each rank; then the sums that they tell */
  uint64_t *sums;                /* checksums of what each rank is sent. Both: see votes.h */
  size_t *offsets, *run_offsets; /* of what is sent and received */
  recsort_status status;         /* of this rank; after agree, of all */
  recsort_error error;
  struct {
    void *memory;
    size_t size;
  } blocks[BLOCKS]; /* working memory */
  size_t block_count;
} sort_job;

/* ---- Memory and errors ---- */

/* Memory that free() releases, in huge pages if it is large: gathers read it at random. */
static void *allocate(void *context, size_t size)
{
  const size_t huge = (size_t)2 << 20;
  void *memory;
  (void)context;
  if (size < 4 * huge) return malloc(size);
  if (posix_memalign(&memory, huge, size) != 0) return NULL;
  madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

static void release(void *context, void *memory, size_t size)
{
  (void)context, (void)size;
  free(memory);
}

static void fail(sort_job *j, recsort_status status, const char *text)
{
  j->status = j->error.status = status;
  snprintf(j->error.text, sizeof j->error.text, "%s", text);
}

/* Memory for `count` elements. NULL, and the job fails, if there is none; NULL without a failure if
 * the job has failed already, or for no elements. */
static void *take(sort_job *j, size_t count, size_t size)
{
  if (j->status || !count) return NULL;
  void *const memory =
      count <= SIZE_MAX / size ? j->allocator.allocate(j->allocator.context, count * size) : NULL;
  if (!memory) {
    j->status = j->error.status = RECSORT_OUT_OF_MEMORY;
    snprintf(j->error.text, sizeof j->error.text, "no memory for %zu elements of %zu bytes", count,
             size);
  }
  return memory;
}

static void give_back(const sort_job *j, void *memory, size_t size)
{
  if (memory) j->allocator.release(j->allocator.context, memory, size);
}

/* Memory that is released when the job ends. */
static void *borrow(sort_job *j, size_t count, size_t size)
{
  void *const memory = take(j, count, size);
  if (memory) {
    j->blocks[j->block_count].memory = memory;
    j->blocks[j->block_count++].size = count * size;
  }
  return memory;
}

/* Collective. False if the job has failed on any rank: then all ranks have the error of the first
 * one that failed. */
static bool agree(sort_job *j)
{
  enum { WORDS = (sizeof j->error + 7) / 8 };
  uint64_t first[3] = {j->status ? (uint64_t)j->rank : VOTES_NOBODY}, words[3 * WORDS] = {0};
  votes_reduce(first, 1, MPI_MIN, j->comm);
  if (first[0] == VOTES_NOBODY) return true;
  if (first[0] == (uint64_t)j->rank) {
    recsort_error named = {.status = j->status, .line = j->error.line, .column = j->error.column};
    snprintf(named.text, sizeof named.text, "rank %d%s %.480s", j->rank,
             j->status == RECSORT_INVALID_RECORD ? "," : ":", j->error.text);
    memcpy(words, &named, sizeof named);
  }
  votes_reduce(words, WORDS, MPI_BOR, j->comm);
  memcpy(&j->error, words, sizeof j->error);
  j->status = j->error.status;
  return false;
}

/* ---- Arguments ---- */

static void read_job(sort_job *j, const recsort_mpi_job *given)
{
  if (!j->sorter || !given) {
    fail(j, RECSORT_INVALID_ARGUMENT, "sorter and job must not be NULL");
    return;
  }
  if (given->struct_size != sizeof *given) {
    char text[120];
    snprintf(text, sizeof text,
             "struct_size is %zu, but a recsort_mpi_job has %zu bytes: use RECSORT_MPI_JOB_INIT",
             given->struct_size, sizeof *given);
    fail(j, RECSORT_INVALID_ARGUMENT, text);
    return;
  }
  j->given = *given;
  j->tolerance = given->tolerance == 0 ? 0.05 : given->tolerance;
  j->message = given->message == 0 ? MOST_MESSAGE : given->message;
  if (given->allocator) j->allocator = *given->allocator;
  if (!given->records && given->count)
    fail(j, RECSORT_INVALID_ARGUMENT, "records must not be NULL");
  if (!(j->tolerance > 0 && j->tolerance < 1))
    fail(j, RECSORT_INVALID_ARGUMENT, "the tolerance must be between 0 and 1");
  if (j->message > INT_MAX)
    fail(j, RECSORT_INVALID_ARGUMENT, "a message has fewer than 2^31 bytes");
  if (j->ranks > RECSORT_MOST_RUNS) fail(j, RECSORT_INVALID_ARGUMENT, "too many ranks");
  recsort_stats stats;
  recsort_sorter_get_stats(j->sorter, &stats, sizeof stats);
  j->record_size = stats.record_size;
  j->mark_size = recsort_key_size(j->sorter) + RECSORT_MARK_EXTRA;
}

/* Collective. False if ranks have different sorters or want different things. */
static bool are_alike(sort_job *j)
{
  enum { VALUES = 5 };
  uint64_t least[3 * (2 * VALUES + 1)] = {j->record_size, j->mark_size, j->given.balance, 0,
                                          j->message};
  bool alike = true;
  memcpy(&least[3], &j->tolerance, sizeof least[3]);
  for (size_t i = 0; i < VALUES; i++)
    least[VALUES + i] = ~least[i];
  least[2 * VALUES] = j->rank > 0 || j->given.splitters;
  votes_reduce(least, 2 * VALUES + 1, MPI_MIN, j->comm);
  for (size_t i = 0; i < VALUES; i++)
    alike &= least[i] == ~least[VALUES + i];
  j->starts_from_last = least[2 * VALUES];
  if (!alike)
    fail(j, RECSORT_INVALID_ARGUMENT,
         "the ranks have records or keys of different sizes, or different jobs");
  return alike;
}

/* ---- Splitters ---- */

/* The records of the ranks before `rank`. */
static uint64_t count_before(const sort_job *j, int rank)
{
  uint64_t count = 0;
  for (int r = 0; r < rank; r++)
    count += j->counts[r];
  return count;
}

/* Where the splitters are wanted. */
static void set_targets(sort_job *j, uint64_t total)
{
  const uint64_t ranks = (uint64_t)j->ranks, share = total / ranks, rest = total % ranks;
  const bool keeps = !j->given.balance;
  uint64_t target = 0;
  for (size_t i = 0; i < j->rounds.refine.count; i++) {
    target += keeps ? j->counts[i] : share + (i < rest);
    j->rounds.refine.splitters[i].target = target;
  }
  /* a part has two ends */
  j->rounds.refine.tolerance = keeps ? 0 : (uint64_t)(j->tolerance / 2 * (double)share);
}

/* Memory for the rounds, and the first bounds. */
static bool begin_rounds(sort_job *j)
{
  const size_t count = (size_t)j->ranks - 1;
  const uint64_t total = j->given.total = count_before(j, j->ranks);
  void *const memory = borrow(j, 1, rounds_memory(j->mark_size, count));
  if (!agree(j)) return false;
  j->rounds = (rounds){.comm = j->comm,
                       .refine = {.sorter = j->sorter,
                                  .records = j->sorted,
                                  .record_count = j->count,
                                  .first = count_before(j, j->rank),
                                  .count = count}};
  rounds_open(&j->rounds, total, memory);
  set_targets(j, total);
  return true;
}

/* Collective. Finds where this rank's records are cut. If there was a sort before, rank 0's
 * splitters of it are the samples of the first round. */
static bool split(sort_job *j)
{
  rounds *const r = &j->rounds;
  if (!begin_rounds(j)) return false;
  const bool starts = j->starts_from_last && r->refine.count;
  const bool found = (!starts || rounds_try(r, j->given.splitters)) && rounds_find(r);
  j->given.rounds = r->done;
  if (!found) {
    j->status = r->status;
    j->error = r->error;
    return agree(j);
  }
  j->offsets[0] = 0;
  for (size_t i = 0; i < r->refine.count; i++)
    j->offsets[i + 1] = r->refine.splitters[i].low_cut;
  j->offsets[j->ranks] = j->count;
  return true;
}

/* Writes the splitters for the next sort. */
static void keep_splitters(const sort_job *j)
{
  const size_t size = j->mark_size;
  for (size_t i = 0; i < j->rounds.refine.count && j->given.splitters; i++)
    memcpy((char *)j->given.splitters + i * size, j->rounds.refine.marks + 2 * i * size, size);
}

/* ---- Exchange ---- */

/* Messages on their way, at most WINDOW of them: a new one waits for the oldest. All ranks send and
 * receive in the order of steps and pieces, so the first message that is not through has both its
 * ends under way, and none waits for ever. */
typedef struct window {
  MPI_Request requests[WINDOW];
  size_t next;
} window;

static MPI_Request *next_request(window *w)
{
  MPI_Request *const request = &w->requests[w->next++ % WINDOW];
  MPI_Wait(request, MPI_STATUS_IGNORE);
  return request;
}

/* Records [begin, end) of an array, in bytes. */
typedef struct part {
  char *at;
  size_t size;
} part;

static part part_of(const sort_job *j, void *records, const size_t *offsets, int rank)
{
  const size_t begin = offsets[rank], end = offsets[rank + 1];
  return (part){(char *)records + begin * j->record_size, (end - begin) * j->record_size};
}

static int piece_size(const sort_job *j, part p, size_t at)
{
  return (int)(p.size - at < j->message ? p.size - at : j->message);
}

/* In step s, each rank sends to the one s places after it, and receives from the one s before. */
static void exchange(sort_job *j)
{
  window w = {.next = 0};
  for (size_t i = 0; i < WINDOW; i++)
    w.requests[i] = MPI_REQUEST_NULL;
  const part own = part_of(j, j->sorted, j->offsets, j->rank);
  if (own.size) memcpy(part_of(j, j->received, j->run_offsets, j->rank).at, own.at, own.size);
  for (int step = 1; step < j->ranks; step++) {
    const int to = (int)(((int64_t)j->rank + step) % j->ranks);
    const int from = (int)(((int64_t)j->rank + j->ranks - step) % j->ranks);
    const part out = part_of(j, j->sorted, j->offsets, to);
    const part in = part_of(j, j->received, j->run_offsets, from);
    j->given.sent += out.size / j->record_size;
    for (size_t at = 0; at < in.size || at < out.size; at += j->message) {
      if (at < in.size)
        MPI_Irecv(in.at + at, piece_size(j, in, at), MPI_BYTE, from, 0, j->comm, next_request(&w));
      if (at < out.size)
        MPI_Isend(out.at + at, piece_size(j, out, at), MPI_BYTE, to, 0, j->comm, next_request(&w));
    }
  }
  for (size_t i = 0; i < WINDOW; i++)
    next_request(&w);
}

/* Collective. Where the runs of the other ranks will be, and memory for them. */
static bool make_room(sort_job *j)
{
  uint64_t *const sizes = j->sums = borrow(j, 3 * (size_t)j->ranks, sizeof *sizes);
  if (!agree(j)) return false;
  for (int r = 0; r < j->ranks; r++)
    sizes[r] = j->offsets[r + 1] - j->offsets[r];
  votes_swap(sizes, j->counts, j->comm);
  j->run_offsets[0] = 0;
  for (int r = 0; r < j->ranks; r++)
    j->run_offsets[r + 1] = j->run_offsets[r] + (size_t)j->counts[r];
  j->new_count = j->run_offsets[j->ranks];
  j->received = take(j, j->new_count, j->record_size);
  return agree(j);
}

/* Collective. The job fails if what a rank received is not what was sent to it. */
static void compare(sort_job *j)
{
  for (int r = 0; r < j->ranks; r++) {
    const part out = part_of(j, j->sorted, j->offsets, r);
    j->sums[r] = r == j->rank ? 0 : rf_checksum_bytes(out.at, out.size);
  }
  votes_swap(j->sums, j->counts, j->comm);
  for (int r = 0; r < j->ranks && !j->status; r++) {
    const part in = part_of(j, j->received, j->run_offsets, r);
    char text[100];
    if (r == j->rank || rf_checksum_bytes(in.at, in.size) == j->counts[r]) continue;
    snprintf(text, sizeof text, "the records from rank %d are not those that it sent", r);
    fail(j, RECSORT_CORRUPT_RESULT, text);
  }
}

/* ---- A sort ---- */

static double lap(double *since)
{
  const double now = MPI_Wtime(), seconds = now - *since;
  *since = now;
  return seconds;
}

/* Collective. Sorts this rank's records, and tells the others how many there are. */
static bool sort_own(sort_job *j)
{
  const size_t ranks = (size_t)j->ranks;
  j->count = j->given.count;
  j->sorted = take(j, j->count, j->record_size);
  j->counts = borrow(j, 3 * ranks, sizeof *j->counts);
  j->offsets = borrow(j, ranks + 1, sizeof *j->offsets);
  j->run_offsets = borrow(j, ranks + 1, sizeof *j->run_offsets);
  if (!j->status)
    j->status = recsort_sort_to(j->sorter, j->given.records, j->count, j->sorted, &j->error);
  if (!agree(j)) return false;
  memset(j->counts, 0, ranks * sizeof *j->counts);
  j->counts[j->rank] = j->count;
  votes_reduce(j->counts, ranks, MPI_BOR, j->comm);
  return true;
}

/* Collective. Merges what was received, into an array of the size that the caller will release. */
static bool merge(sort_job *j)
{
  recsort_job merging = RECSORT_JOB_INIT;
  if (j->new_count != j->count) {
    give_back(j, j->sorted, j->count * j->record_size);
    j->count = j->new_count;
    j->sorted = take(j, j->count, j->record_size);
  }
  merging.count = j->count;
  merging.records = j->received;
  merging.sorted = j->sorted;
  merging.parts = RECSORT_RUNS;
  merging.offsets = j->run_offsets;
  merging.offset_bits = 8 * sizeof *j->run_offsets;
  merging.part_count = (size_t)j->ranks;
  if (!j->status) j->status = recsort_run(j->sorter, &merging, 1, &j->error);
  return agree(j);
}

static bool run(sort_job *j, const recsort_mpi_job *job)
{
  read_job(j, job);
  if (!agree(j) || !are_alike(j)) return false;
  j->given.sent = j->given.rounds = 0;
  double clock = MPI_Wtime();
  if (!sort_own(j)) return false;
  j->given.sort_seconds = lap(&clock);
  if (!split(j) || !make_room(j)) return false;
  j->given.split_seconds = lap(&clock);
  exchange(j);
  compare(j);
  j->given.exchange_seconds = lap(&clock);
  if (!merge(j)) return false;
  j->given.merge_seconds = lap(&clock);
  return true;
}

recsort_status recsort_mpi_sort(recsort_sorter *sorter, MPI_Comm comm, recsort_mpi_job *job,
                                recsort_error *error)
{
  sort_job j = {.sorter = sorter, .allocator = {NULL, allocate, release}};
  MPI_Comm_dup(comm, &j.comm); /* so that no message of the caller's is taken for one of ours */
  MPI_Comm_set_errhandler(j.comm, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_rank(j.comm, &j.rank);
  MPI_Comm_size(j.comm, &j.ranks);
  if (run(&j, job)) {
    keep_splitters(&j);
    give_back(&j, job->records, job->count * j.record_size);
    j.given.records = j.sorted;
    j.given.count = j.new_count;
    *job = j.given;
  } else {
    give_back(&j, j.sorted, j.count * j.record_size);
    if (error) *error = j.error;
  }
  give_back(&j, j.received, j.new_count * j.record_size);
  while (j.block_count > 0) {
    j.block_count--;
    give_back(&j, j.blocks[j.block_count].memory, j.blocks[j.block_count].size);
  }
  MPI_Comm_free(&j.comm);
  return j.status;
}

recsort_status recsort_mpi_sort_fortran(recsort_sorter *sorter, MPI_Fint comm, recsort_mpi_job *job,
                                        recsort_error *error)
{
  return recsort_mpi_sort(sorter, MPI_Comm_f2c(comm), job, error);
}

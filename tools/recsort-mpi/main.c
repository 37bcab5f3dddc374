/* main.c - recsort-mpi: sorts files by all processes that mpirun starts.
 *
 * Each rank reads a slice of the records; the library sorts all of them and leaves each rank as
 * many as it read; and each rank writes its own to one new file, at the place where they belong.
 * Rank 0 makes that file, and renames it when it is complete on the disk. */
#include "disk.h"
#include "phase.h"
#include "report.h"
#include "slice.h"

#include "recsort/cli_job.h"
#include "recsort/names.h"

#include "support/around.h"
#include "support/message.h"
#include "support/output.h"
#include "support/progress.h"
#include "support/team.h"

#include "mpi/votes.h"
#include "recsort/mpi.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A run of the program on one rank. */
typedef struct mpi_job {
  int rank, ranks;
  int neighbours; /* ranks on this machine */
  cli_options options;
  npy_input npy;
  tool_ahead ahead;
  cli_job job;
  inputs in;
  uint64_t begin; /* of this rank's slice */
  size_t count;
  uint64_t memory; /* that it may take */
  bool spills;     /* the slices do not fit in memory: */
  disk_sort disk;
  report report;
  void *records;
  tool_reader first;  /* rank 0: the input that header and trailer come from */
  tool_output output; /* rank 0 */
  struct {
    uint64_t header; /* bytes before the records */
    char path[PATH_MAX];
  } shared; /* the new file, as rank 0 has told; zeros until then */
} mpi_job;

/* ---- The command line ---- */

static bool print_usage(void)
{
  fputs("Usage: mpirun [-n PROCESSES] recsort-mpi [-s SCHEMA] [OPTION]... INPUT... -o OUTPUT\n"
        "Sort files of fixed-size binary records stably, by all processes.\n"
        "OUTPUT may be an INPUT, and is replaced in one step. All processes see the files.\n"
        "  -s, --schema FILE      fields and keys of a record (YAML); .npy needs none\n"
        "  -k, --key, --param, -r, --reverse, --files0-from, --skip, --count, --trailer,\n"
        "  --keep-trailer, --raw, --plugin, --algorithm, --plugin-option, --verify,\n"
        "  --threads, --parallel, -T, --temporary-directory\n"
        "                         as for recsort\n"
        "      --stats[=json]     print figures of all processes to standard error\n"
        "  -S, --memory SIZE|N%   for each process, or all of a machine; for the rest: -T\n"
        "  -h, --help, --version  print this, version\n"
        "Exit status: 0 done, 2 trouble. See recsort-mpi(1) and recsort(1).\n",
        stdout);
  return tool_flush_stdout();
}

static bool is_supported(const cli_options *options)
{
  if (options->command != COMMAND_SORT || options->unique || options->has_head ||
      options->index_bits != 0) {
    tool_usage_error("this only sorts whole files: no --check, --merge, --unique, --head, --index, "
                     "--explain, --list-plugins or --completion");
  } else if (options->output == NULL || tool_is_standard(options->output)) {
    tool_usage_error("an output file is needed: --output FILE");
  } else if (options->input_count == 0) {
    tool_usage_error("an input file is needed");
  } else {
    return true;
  }
  return false;
}

/* ---- Threads and memory ---- */

/* The rank's share of the processors that the ranks on this machine may run on. */
static unsigned count_threads(MPI_Comm machine)
{
  enum { WORDS = sizeof(cpu_set_t) / sizeof(uint64_t) };
  cpu_set_t own, all;
  uint64_t words[3 * WORDS];
  if (sched_getaffinity(0, sizeof own, &own) != 0) CPU_ZERO(&own); /* the others wait for us */
  const uint64_t count = (uint64_t)CPU_COUNT(&own);
  uint64_t sum[3] = {count};
  memcpy(words, &own, sizeof own);
  votes_reduce(words, WORDS, MPI_BOR, machine);
  votes_reduce(sum, 1, MPI_SUM, machine);
  memcpy(&all, words, sizeof all);
  const uint64_t share = sum[0] > 0 ? count * (uint64_t)CPU_COUNT(&all) / sum[0] : 0;
  return share > 1 ? (unsigned)share : 1;
}

static void share_machine(mpi_job *j)
{
  MPI_Comm machine;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &j->neighbours);
  const unsigned threads = count_threads(machine);
  MPI_Comm_free(&machine);
  if (j->options.sorting.threads == 0) j->options.sorting.threads = threads;
}

/* Sets the memory of this rank: --memory, or its share of the machine's. */
static void share_memory(mpi_job *j)
{
  j->memory = job_memory_limit(&j->options);
  if (j->options.memory == 0) j->memory /= (uint64_t)j->neighbours;
}

/* Whether three arrays of records and the sorter's memory are more than this rank has. */
static bool measure(mpi_job *j)
{
  recsort_job sorting = RECSORT_JOB_INIT;
  recsort_needs needs = RECSORT_NEEDS_INIT;
  recsort_error error;
  sorting.count = j->count;
  if (recsort_plan(j->job.sorter, &sorting, 1, &needs, &error) != RECSORT_OK) {
    tool_error_library(&error);
    return false;
  }
  j->spills = 3 * (uint64_t)j->count * j->in.format.record_size + needs.host > j->memory;
  return true;
}

/* ---- Steps ---- */

static void take_slice(mpi_job *j)
{
  j->begin = inputs_begin(&j->in, j->ranks, j->rank);
  j->count = (size_t)(inputs_begin(&j->in, j->ranks, j->rank + 1) - j->begin);
}

/* Every rank does the same: reads the schema, measures the inputs, makes a sorter. */
static bool prepare(mpi_job *j)
{
  const cli_options *const options = &j->options;
  if (!inputs_are_files(options->inputs, options->input_count) ||
      !job_open(&j->job, options, &j->npy, &j->ahead, true)) {
    return false;
  }
  if (j->job.format.file.repeat) {
    tool_usage_error("a file whose headers are repeated is sorted by recsort");
    return false;
  }
  if (!inputs_measure(&j->in, options->inputs, options->input_count, &j->job.format) ||
      !job_open_sorter(&j->job)) {
    return false;
  }
  take_slice(j);
  share_memory(j);
  return measure(j);
}

/* True if all ranks see as many records. If one of them has not enough memory, all use files. */
static bool compare(mpi_job *j)
{
  uint64_t least[3 * 3] = {j->in.total, ~j->in.total, !j->spills};
  votes_reduce(least, 3, MPI_MIN, MPI_COMM_WORLD);
  j->spills = !least[2];
  if (least[0] == ~least[1]) return true;
  tool_error("%s: the processes see inputs of different sizes", tool_input_name(j->in.paths[0]));
  return false;
}

/* Rank 0 opens the new file and writes its header. */
static bool begin_output(mpi_job *j)
{
  if (j->rank != 0) return true;
  if (!tool_output_open(&j->output, j->options.output)) return false;
  if (!tool_output_is_file(&j->output)) {
    tool_error("%s: it is no regular file, to which all processes could write", j->options.output);
    return false;
  }
  const bool done = tool_reader_open(&j->first, j->in.paths[0], &j->in.format) &&
                    tool_around_begin(&j->first, &j->output, j->in.total) &&
                    tool_output_share(&j->output, j->shared.path, sizeof j->shared.path);
  j->shared.header = j->output.written;
  return done;
}

static bool read_slice(mpi_job *j)
{
  const size_t bytes = j->count * j->in.format.record_size;
  j->records = bytes > 0 ? malloc(bytes) : NULL;
  if (j->records == NULL && bytes > 0) {
    tool_error_memory(bytes);
    return false;
  }
  return inputs_read(&j->in, j->begin, j->count, j->records);
}

/* Collective. All ranks have the error; its record is that of a slice. */
static bool sort(mpi_job *j)
{
  recsort_mpi_job sorting = RECSORT_MPI_JOB_INIT;
  recsort_error error;
  int rank = 0, length = 0;
  uint64_t number;
  sorting.records = j->records;
  sorting.count = j->count;
  if (recsort_mpi_sort(j->job.sorter, MPI_COMM_WORLD, &sorting, &error) == RECSORT_OK) {
    j->records = sorting.records;
    j->report.seconds[STEP_SORT] = sorting.sort_seconds;
    j->report.seconds[STEP_SPLIT] = sorting.split_seconds;
    j->report.seconds[STEP_EXCHANGE] = sorting.exchange_seconds;
    j->report.seconds[STEP_MERGE] = sorting.merge_seconds;
    j->report.sent = sorting.sent;
    j->report.rounds = sorting.rounds;
    return true;
  }
  if (sscanf(error.text, "rank %d, record %" SCNu64 ": %n", &rank, &number, &length) == 2 &&
      length > 0) {
    mpi_job failed = {.rank = rank, .ranks = j->ranks, .in.total = j->in.total};
    take_slice(&failed);
    number += failed.begin;
    const char *const name = inputs_find(&j->in, &number);
    tool_error("%s: record %" PRIu64 ": %s", name, number, error.text + length);
  } else {
    tool_error("%s", error.text);
  }
  return false;
}

/* ---- Steps by way of temporary files ---- */

static bool open_disk(mpi_job *j)
{
  const bool asked = j->options.memory != 0 || j->options.percent != 0;
  /* a quarter stays for other programs and the page cache */
  return disk_open(&j->disk, &j->job, &j->in, j->rank, j->ranks, j->neighbours,
                   asked ? j->memory : j->memory / 4 * 3);
}

static bool sort_slice(mpi_job *j)
{
  return disk_sort_slice(&j->disk);
}

static bool divide(mpi_job *j)
{
  return disk_divide(&j->disk);
}

static bool exchange(mpi_job *j)
{
  j->report.rounds = j->disk.round_count;
  j->report.sent = j->count - (j->disk.cuts[j->rank + 1] - j->disk.cuts[j->rank]);
  return disk_exchange(&j->disk);
}

/* ---- The last steps ---- */

/* All ranks learn where the new file is. */
static bool tell_output(mpi_job *j)
{
  enum { WORDS = sizeof j->shared / sizeof(uint64_t) };
  uint64_t words[3 * WORDS];
  memcpy(words, &j->shared, sizeof j->shared);
  votes_reduce(words, WORDS, MPI_BOR, MPI_COMM_WORLD);
  memcpy(&j->shared, words, sizeof j->shared);
  return true;
}

/* Writes this rank's records where they belong, and brings them to the disk. */
static bool write_slice(mpi_job *j)
{
  const size_t record_size = j->in.format.record_size;
  const uint64_t offset = j->shared.header + j->begin * record_size;
  slice_output output;
  if (!slice_open(&output, j->shared.path, offset, j->options.output, j->rank)) return false;
  return slice_close(&output, j->spills ? disk_merge(&j->disk, &output)
                                        : slice_write(&output, j->records, j->count * record_size));
}

static bool compare_sums(mpi_job *j)
{
  return !j->spills || disk_compare(&j->disk);
}

/* Rank 0 writes what follows the records, and puts the new file in place of the old one. */
static bool end_output(mpi_job *j)
{
  if (j->rank != 0) return true;
  const uint64_t end = j->shared.header + j->in.total * j->in.format.record_size;
  if (lseek(j->output.fd, (off_t)end, SEEK_SET) < 0) {
    tool_error_errno(j->options.output, errno);
    return false;
  }
  j->output.written = end;
  if (!tool_around_end(&j->first, &j->output, j->in.total)) return false;
  tool_dropped_say(&j->in.dropped);
  return tool_output_commit(&j->output);
}

/* ---- A run ---- */

/* One that all ranks take. */
typedef struct step {
  bool (*take)(mpi_job *j); /* false, after a message, if it failed on this rank */
  step_kind kind;           /* STEP_TOTAL: it sets the seconds of several kinds itself */
} step;

/* Collective. False if it failed on any rank. The seconds are without the wait for other ranks. */
static bool take_step(mpi_job *j, const step *s)
{
  const double begin = tool_seconds();
  phase_begin();
  const bool done = s->take(j);
  if (s->kind != STEP_TOTAL) j->report.seconds[s->kind] += tool_seconds() - begin;
  return phase_end(done);
}

static bool take_steps(mpi_job *j, const step *steps)
{
  while (steps->take != NULL && take_step(j, steps))
    steps++;
  return steps->take == NULL;
}

static int run(mpi_job *j)
{
  static const step first[] = {
      {prepare, STEP_PREPARE}, {compare, STEP_PREPARE}, {begin_output, STEP_PREPARE}, {0}};
  static const step in_memory[] = {{read_slice, STEP_READ}, {sort, STEP_TOTAL}, {0}};
  static const step on_disk[] = {{open_disk, STEP_PREPARE},
                                 {sort_slice, STEP_SORT},
                                 {divide, STEP_SPLIT},
                                 {exchange, STEP_EXCHANGE},
                                 {0}};
  static const step last[] = {{tell_output, STEP_WRITE},
                              {write_slice, STEP_WRITE},
                              {compare_sums, STEP_WRITE},
                              {end_output, STEP_WRITE},
                              {0}};
  const double begin = tool_seconds();
  share_machine(j);
  if (!take_steps(j, first) || !take_steps(j, j->spills ? on_disk : in_memory) ||
      !take_steps(j, last))
    return TOOL_TROUBLE;
  j->report.seconds[STEP_TOTAL] = tool_seconds() - begin;
  if (j->options.stats != STATS_NONE)
    report_print(&j->report, j->options.stats == STATS_JSON, j->in.total, j->in.format.record_size,
                 j->spills);
  return TOOL_OK;
}

static bool parse(mpi_job *j, int argc, char **argv)
{
  phase_begin();
  bool done = options_parse(&j->options, argc, argv);
  const cli_command command = j->options.command;
  tool_progress_set("never");
  if (command != COMMAND_HELP && command != COMMAND_VERSION)
    done = done && names_read(&j->options) && is_supported(&j->options);
  return phase_end(done);
}

static int main_of(mpi_job *j, int argc, char **argv)
{
  if (!parse(j, argc, argv)) return TOOL_TROUBLE;
  const bool speaks = j->rank == 0;
  switch (j->options.command) {
  case COMMAND_HELP:
    return !speaks || print_usage() ? TOOL_OK : TOOL_TROUBLE;
  case COMMAND_VERSION:
    if (speaks) printf("recsort-mpi %s\n", recsort_version());
    return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
  default:
    return run(j);
  }
}

int main(int argc, char **argv)
{
  static mpi_job j = {.first.stream.fd = -1, .output = TOOL_NO_OUTPUT};
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &j.ranks);
  tool_set_name("recsort-mpi");
  signal(SIGXFSZ, SIG_IGN); /* so that a write over the limit just fails */
  const int status = main_of(&j, argc, argv);
  tool_output_discard(&j.output);
  free(j.records);
  disk_close(&j.disk);
  free(j.in.ends);
  recsort_sorter_destroy(j.job.sorter);
  npy_close(&j.npy);
  tool_ahead_close(&j.ahead);
  tool_reader_close(&j.first);
  options_free(&j.options);
  MPI_Finalize();
  return status;
}

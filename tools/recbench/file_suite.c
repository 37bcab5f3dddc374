/* file_suite.c - see file_suite.h.
 *
 * Both cp and recsort write a new file each time. recsort syncs its output to the disk and cp does
 * not. Its time is measured separately beside cp ("fsync"), so that no contender pays for data that
 * another one left unwritten. Before each run the input is read once. If recsort maps its output,
 * its peak memory includes the pages of that file, which any program's output takes.
 */
#include "file_suite.h"

#include "memory_suite.h"
#include "support/message.h"
#include "support/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CP "cp"
#define COMMAND "recsort FILE"
#define MERGE "recsort --merge"
#define TEXT_MERGE "sort -m of text"
#define FEW_FILES "2 files"
#define MANY_FILES "16 files"

enum { CHUNK = 1 << 20 };

/* ---- The folder ----------------------------------------------------------------------------- */

/* The runs that are merged: 2 and 16, in records and in text. */
enum { FEW_RUNS = 2, MANY_RUNS = 16, RUN_FILES = FEW_RUNS + MANY_RUNS };
enum {
  FILE_INPUT,
  FILE_OUTPUT,
  FILE_SCHEMA,
  FILE_RUNS,
  FILE_TEXTS = FILE_RUNS + RUN_FILES,
  FILE_COUNT = FILE_TEXTS + RUN_FILES
};

/* Its paths are static, for the signal handler. */
static char folder[PATH_MAX];
static char files[FILE_COUNT][PATH_MAX + 16];

static void remove_folder(void)
{
  for (size_t i = 0; i < FILE_COUNT; i++)
    unlink(files[i]);
  rmdir(folder);
}

static void on_signal(int number)
{
  remove_folder();
  raise(number); /* SA_RESETHAND: the default action follows */
}

static void handle_signals(void (*handler)(int))
{
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    sigaction(signals[i], &action, NULL);
  }
}

static bool make_folder(const char *parent)
{
  static const char *const names[] = {"input.bin", "output.bin", "entity.yaml"};
  const int length = snprintf(folder, sizeof folder, "%s/recbench-XXXXXX", parent);
  if (length < 0 || (size_t)length >= sizeof folder || mkdtemp(folder) == NULL) {
    tool_error_errno(parent, errno);
    return false;
  }
  for (size_t i = 0; i < FILE_RUNS; i++) {
    snprintf(files[i], sizeof files[i], "%s/%s", folder, names[i]);
  }
  for (size_t i = 0; i < RUN_FILES; i++) {
    snprintf(files[FILE_RUNS + i], sizeof files[0], "%s/%02zu.bin", folder, i);
    snprintf(files[FILE_TEXTS + i], sizeof files[0], "%s/%02zu.txt", folder, i);
  }
  handle_signals(on_signal);
  return true;
}

static bool write_file(const char *path, const void *data, size_t size)
{
  FILE *file = fopen(path, "wbx");
  bool done = file != NULL && fwrite(data, 1, size, file) == size && fflush(file) == 0 &&
              fsync(fileno(file)) == 0;
  const int error = errno;
  if (file != NULL) done = (fclose(file) == 0) && done;
  if (!done) tool_error_errno(path, error);
  return done;
}

/* Reads all of a file. With `expected`, its contents must be equal. */
static bool read_file(const char *path, const unsigned char *expected, size_t size)
{
  static unsigned char chunk[CHUNK];
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  size_t done = 0;
  ssize_t got = file < 0 ? -1 : 0;
  bool same = true;
  while (file >= 0 && same && (got = read(file, chunk, sizeof chunk)) > 0) {
    const size_t more = (size_t)got;
    same = more <= size - done && (!expected || memcmp(chunk, expected + done, more) == 0);
    done += more;
  }
  if (got < 0) tool_error_errno(path, errno);
  if (file >= 0) close(file);
  if (got < 0) return false;
  if (!same || done != size) tool_error("wrong result: %s is not what was expected", path);
  return same && done == size;
}

static bool sync_file(const char *path, double *seconds)
{
  const double before = tool_seconds();
  const int file = open(path, O_RDWR | O_CLOEXEC);
  const bool done = file >= 0 && fsync(file) == 0;
  if (!done) tool_error_errno(path, errno);
  if (file >= 0) close(file);
  *seconds = tool_seconds() - before;
  return done;
}

/* ---- Runs ----------------------------------------------------------------------------------- */

/* A line of text: a key that ascends, and the bytes of the record. */
enum { KEY_DIGITS = 8, LINE = KEY_DIGITS + 2 * (int)sizeof(entity) + 1 };

static void put_digits(char *to, size_t count, uint32_t value)
{
  for (size_t i = 0; i < count; i++)
    to[i] = "0123456789abcdef"[value >> 4 * (count - 1 - i) & 15];
}

/* The greater the distance the earlier a record comes; none is negative. */
static void put_line(char *line, const unsigned char *record)
{
  uint32_t distance;
  memcpy(&distance, record + offsetof(entity, distance), sizeof distance);
  put_digits(line, KEY_DIGITS, ~distance);
  for (size_t i = 0; i < sizeof(entity); i++)
    put_digits(line + KEY_DIGITS + 2 * i, 2, record[i]);
  line[LINE - 1] = '\n';
}

/* Writes the lines of records, or with a `same` compares them with those of the file. */
static bool use_text(const char *path, const unsigned char *records, size_t count, bool *same)
{
  FILE *file = fopen(path, same != NULL ? "rb" : "wbx");
  bool done = file != NULL;
  for (size_t i = 0; i < count && done; i++) {
    char line[LINE], found[LINE];
    put_line(line, records + i * sizeof(entity));
    if (same == NULL) {
      done = fwrite(line, 1, LINE, file) == LINE;
    } else {
      done = fread(found, 1, LINE, file) == LINE;
      *same = *same && done && memcmp(line, found, LINE) == 0;
    }
  }
  const int error = errno;
  if (file != NULL) done = fclose(file) == 0 && done;
  if (!done) tool_error_errno(path, error);
  return done;
}

/* The input in `runs` parts, each sorted, in files of records and of text. */
static bool write_runs(const bench_workload *input, recsort_sorter *sorter, size_t runs,
                       size_t first_file)
{
  const size_t each = input->count / runs + 1;
  unsigned char *const part = malloc(each * sizeof(entity));
  bool done = part != NULL;
  if (!done) tool_error("out of memory");
  for (size_t r = 0; r < runs && done; r++) {
    const size_t begin = r * each < input->count ? r * each : input->count;
    const size_t count = input->count - begin < each ? input->count - begin : each;
    recsort_error error;
    memcpy(part, input->records + begin * sizeof(entity), count * sizeof(entity));
    done = recsort_sort(sorter, part, count, &error) == RECSORT_OK;
    if (!done) tool_error_library(&error);
    done = done && write_file(files[FILE_RUNS + first_file + r], part, count * sizeof(entity)) &&
           use_text(files[FILE_TEXTS + first_file + r], part, count, NULL);
  }
  free(part);
  return done;
}

/* ---- The contenders' runs ------------------------------------------------------------------- */

typedef struct file_job {
  bench_runner *runner;
  const char *program;
  uint64_t base;  /* memory of the program itself */
  uint64_t files; /* bytes of the input, and of the output if it is mapped */
} file_job;

/* Runs a command that makes FILE_OUTPUT from FILE_INPUT. */
static bool run_command(bench_contender *self, const char *const *command, command_result *result)
{
  const file_job *const job = self->job;
  if (unlink(files[FILE_OUTPUT]) != 0 && errno != ENOENT) {
    tool_error_errno(files[FILE_OUTPUT], errno);
    return false;
  }
  return read_file(files[FILE_INPUT], NULL, self->input->size) &&
         runner_run(job->runner, command, result) &&
         contender_add(self, WALL, "s", result->seconds);
}

static bool run_cp(bench_contender *self)
{
  /* Without reflinks, with which some file systems share blocks and copy nothing. */
  const char *const command[] = {"cp", "--reflink=never", files[FILE_INPUT], files[FILE_OUTPUT],
                                 NULL};
  command_result result;
  double seconds;
  return run_command(self, command, &result) && sync_file(files[FILE_OUTPUT], &seconds) &&
         contender_add(self, "fsync", "s", seconds) &&
         read_file(files[FILE_OUTPUT], self->input->records, self->input->size);
}

static bool run_recsort(bench_contender *self)
{
  const file_job *const job = self->job;
  char threads[16];
  snprintf(threads, sizeof threads, "%u", self->threads);
  const char *const command[] = {job->program, "--schema",    files[FILE_SCHEMA], "--plugin",
                                 self->plugin, "--algorithm", self->algorithm,    "--threads",
                                 threads,      "--output",    files[FILE_OUTPUT], files[FILE_INPUT],
                                 NULL};
  const double count = (double)self->input->count;
  command_result result;
  return run_command(self, command, &result) &&
         contender_add(self, "peak", "bytes/record", (double)result.peak / count) &&
         contender_add(self, "extra", "bytes/record",
                       ((double)result.peak - (double)job->base - (double)job->files) / count) &&
         read_file(files[FILE_OUTPUT], self->input->sorted, self->input->size);
}

/* The files of a merge behind the words that say what to do. */
static void add_runs(const char **command, size_t words, size_t first_file, size_t runs)
{
  for (size_t r = 0; r < runs; r++)
    command[words + r] = files[first_file + r];
  command[words + runs] = NULL;
}

static size_t runs_of(const bench_contender *self)
{
  return strcmp(self->variant, MANY_FILES) == 0 ? MANY_RUNS : FEW_RUNS;
}

/* The runs are read before they are merged, as the input is before it is sorted. */
static bool warm_up(const bench_contender *self, size_t first_file)
{
  static unsigned char chunk[CHUNK];
  for (size_t r = 0; r < runs_of(self); r++) {
    const int file = open(files[first_file + r], O_RDONLY | O_CLOEXEC);
    while (file >= 0 && read(file, chunk, sizeof chunk) > 0) {
    }
    if (file >= 0) close(file);
  }
  return true;
}

static bool run_merge(bench_contender *self)
{
  const file_job *const job = self->job;
  const size_t runs = runs_of(self), first = FILE_RUNS + (runs == FEW_RUNS ? 0 : FEW_RUNS);
  char threads[16];
  snprintf(threads, sizeof threads, "%u", self->threads);
  const char *command[10 + MANY_RUNS + 1] = {
      job->program, "--schema", files[FILE_SCHEMA], "--plugin", "cpu",
      "--threads",  threads,    "--merge",          "--output", files[FILE_OUTPUT]};
  add_runs(command, 10, first, runs);
  command_result result;
  return warm_up(self, first) && run_command(self, command, &result) &&
         contender_add(self, "peak", "bytes/record",
                       (double)result.peak / (double)self->input->count) &&
         read_file(files[FILE_OUTPUT], self->input->sorted, self->input->size);
}

static bool run_text(bench_contender *self)
{
  const size_t runs = runs_of(self), first = FILE_TEXTS + (runs == FEW_RUNS ? 0 : FEW_RUNS);
  const char *command[8 + MANY_RUNS + 1] = {"env", "LC_ALL=C",  "sort", "-m",
                                            "-s",  "-k1.1,1.8", "-o",   files[FILE_OUTPUT]};
  command_result result;
  bool same = true;
  add_runs(command, 8, first, runs);
  if (!warm_up(self, first) || !run_command(self, command, &result) ||
      !use_text(files[FILE_OUTPUT], self->input->sorted, self->input->count, &same)) {
    return false;
  }
  if (!same) tool_error("wrong result: %s is not what was expected", files[FILE_OUTPUT]);
  return same;
}

/* ---- The suite ------------------------------------------------------------------------------ */

/* Finds the program: as the options say, else in recbench's own folder or the one above, else in
 * $PATH. */
static const char *find_program(const bench_options *options)
{
  static const char *const places[] = {"recsort", "../recsort"};
  static char path[PATH_MAX];
  if (options->command != NULL) return options->command;
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "../recsort");
  while (length > 0 && path[length - 1] != '/')
    length--;
  for (size_t i = 0; i < sizeof places / sizeof *places && length > 0; i++) {
    strcpy(path + length, places[i]);
    if (access(path, X_OK) == 0) return path;
  }
  return "recsort";
}

/* True if recsort would map its output, by recsort's own code. */
static bool maps_output(unsigned threads)
{
  tool_output output;
  if (!tool_output_open(&output, files[FILE_OUTPUT])) return false;
  tool_output_fill_by(&output, threads);
  const bool maps = output.mappable;
  tool_output_discard(&output);
  return maps;
}

static bool prepare(bench_group *group, const bench_options *options, file_job *job,
                    unsigned threads)
{
  const char *const schema = record_schema(RECORD_ENTITY);
  const size_t count = (size_t)(options->file_size / record_size(RECORD_ENTITY));
  bench_workload *const input = &group->inputs[0];
  const char *const command[] = {job->program, "--version", NULL};
  command_result result;
  if (count == 0) {
    tool_usage_error("--size: less than a record");
    return false;
  }
  if (!runner_run(job->runner, command, &result)) return false;
  job->base = result.peak;
  job->files = count * record_size(RECORD_ENTITY) * (maps_output(threads) ? 2 : 1);
  group->input_count = 1;
  return workload_make(input, RECORD_ENTITY, DISTRIBUTION_RANDOM, count) &&
         write_file(files[FILE_INPUT], input->records, input->size) &&
         write_file(files[FILE_SCHEMA], schema, strlen(schema));
}

static bool add_contenders(bench_group *group, memory_job *memory, file_job *file, unsigned threads)
{
  const bench_contender in_memory = {.method = RECSORT,
                                     .plugin = memory->method.plugin,
                                     .algorithm = memory->method.algorithm,
                                     .threads = threads,
                                     .input = &group->inputs[0],
                                     .run = memory_run_warm,
                                     .job = memory};
  bench_contender other = in_memory;
  if (group_add(group, &in_memory) == NULL) return false;
  other.variant = "first";
  other.run = memory_run_new;
  if (group_add(group, &other) == NULL) return false;
  other.variant = NULL;
  other.method = COMMAND;
  other.run = run_recsort;
  other.job = file;
  if (group_add(group, &other) == NULL) return false;
  other = (bench_contender){
      .method = CP, .threads = 1, .input = &group->inputs[0], .run = run_cp, .job = file};
  if (group_add(group, &other) == NULL) return false;
  for (size_t i = 0; i < 2; i++) {
    other.variant = i == 0 ? FEW_FILES : MANY_FILES;
    other.method = MERGE;
    other.threads = threads;
    other.run = run_merge;
    if (group_add(group, &other) == NULL) return false;
    other.method = TEXT_MERGE;
    other.threads = 1;
    other.run = run_text;
    if (group_add(group, &other) == NULL) return false;
  }
  return true;
}

/* The order is that of add_contenders. */
static void add_targets(bench_group *group)
{
  const bench_contender *const c = group->contenders;
  const double copy = contender_seconds(&c[3]), sum = contender_seconds(&c[0]) + copy;
  const bench_target time = {.text = "time of " COMMAND " over a sort in memory and " CP,
                             .value = contender_seconds(&c[2]) / sum,
                             .bound = 1.5,
                             .at_most = true};
  /* A command's memory is always new, which on some machines costs more than the sort itself. */
  const bench_target first = {.text = "time of " COMMAND " over a first sort and " CP,
                              .value = contender_seconds(&c[2]) / (contender_seconds(&c[1]) + copy),
                              .bound = 1.5,
                              .at_most = true};
  const bench_target memory = {.text = "extra bytes a record of " COMMAND,
                               .value = series_summary(contender_series(&c[2], "extra")).median,
                               .bound = (double)record_size(RECORD_ENTITY) + 16,
                               .at_most = true};
  group_add_target(group, &time);
  group_add_target(group, &first);
  group_add_target(group, &memory);
  for (size_t i = 4; i <= 6; i += 2) {
    bench_target merge = {.value = contender_seconds(&c[i]) / copy, .bound = 2, .at_most = true};
    snprintf(merge.text, sizeof merge.text, "time of " MERGE ", %s, over " CP, c[i].variant);
    group_add_target(group, &merge);
  }
}

bool file_suite(bench_group *group, const bench_options *options, const bench_method *method,
                bench_runner *runner)
{
  const unsigned threads = options->threads[options->thread_count - 1];
  file_job file = {.runner = runner, .program = find_program(options)};
  memory_job memory = {.method = *method};
  recsort_schema *schema = NULL;
  if (!make_folder(options->folder)) return false;
  bool done = prepare(group, options, &file, threads);
  if (!done) goto out;
  schema = memory_schema(RECORD_ENTITY);
  memory.schema = schema;
  memory.scratch = malloc(group->inputs[0].size);
  if (memory.scratch == NULL) tool_error("out of memory");
  if (schema != NULL) memory.sorter = method_sorter(method, threads, schema);
  done = memory.scratch != NULL && memory.sorter != NULL &&
         write_runs(&group->inputs[0], memory.sorter, FEW_RUNS, 0) &&
         write_runs(&group->inputs[0], memory.sorter, MANY_RUNS, FEW_RUNS) &&
         add_contenders(group, &memory, &file, threads) && group_measure(group, options->repeat);
  if (done) add_targets(group);
out:
  recsort_sorter_destroy(memory.sorter);
  recsort_schema_destroy(schema);
  free(memory.scratch);
  group_free_inputs(group);
  remove_folder();
  handle_signals(SIG_DFL);
  return done;
}

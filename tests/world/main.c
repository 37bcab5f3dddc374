/* main.c - sorts of many ranks in a world that misbehaves, each drawn from a seed; see world.h.
 *
 *   world --seed N       one sort, in words
 *   world --seeds A B    those of the seeds [A, B), and what happened how often
 *
 * A seed draws a job and the weather: how late messages are, which ranks and disks are slow, how
 * often a bit of a collective call's result is another one. Under it the result must be right. Then
 * one thing more goes wrong: at a drawn place a rank is killed, a disk fails or a bit is another
 * one. Then the result is right, or there is one clear error and the old output; of a rank that was
 * killed, the old output or the new one. */
#include "mpi.h"

#include "world.h"

#include "recsort/mpi.h"
#include "support/random.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <dirent.h>
#include <unistd.h>

int recsort_mpi_main(int argc, char **argv);

/* ---- Jobs ---- */

enum { MOST_INPUTS = 3, PLACE = 4 };
enum { BY_LIBRARY, BY_COMMAND, BY_DISK };

/* What was found of the library's sort on a rank. */
typedef struct found {
  recsort_status status;
  char text[500];
  size_t count;
  unsigned char *records;
} found;

typedef struct task {
  int way, ranks;
  size_t record_size, total;
  size_t counts[MOST_RANKS]; /* of the ranks, or of the inputs */
  size_t inputs;
  bool framed; /* an input has a header, which says how many records there are; the first one, a
                * trailer, too */
  bool old, in_place, stats; /* there is an output; it is an input; figures are wanted */
  bool balance;
  double tolerance;
  size_t message;
  size_t bad; /* a record that is wrong; SIZE_MAX: none */
  unsigned char *records, *sorted;
  size_t old_size;
  unsigned char *old_bytes;
  found *found;
  char schema[1000];
} task;

static task job;
static char folder[200]; /* for the files of a sort */

static void insist(bool good, const char *what)
{
  if (good) return;
  perror(what);
  exit(1);
}

static void *get(size_t size)
{
  void *const memory = malloc(size + 1);
  insist(memory != NULL, "malloc");
  return memory;
}

/* ---- The oracle: it knows how its own records are made, and compares them ---- */

/* The number of a record in the input: the key's last part, so that no two are equal. */
static uint32_t place_of(const unsigned char *r)
{
  return (uint32_t)r[4] | (uint32_t)r[5] << 8 | (uint32_t)r[6] << 16 | (uint32_t)r[7] << 24;
}

static int compare(const void *left, const void *right)
{
  const unsigned char *const a = left, *const b = right;
  const int x = a[0] | a[1] << 8, y = b[0] | b[1] << 8;
  if (x != y) return x < y ? -1 : 1;
  const int v = a[2] < 128 ? a[2] : a[2] - 256, w = b[2] < 128 ? b[2] : b[2] - 256;
  if (v != w) return v > w ? -1 : 1;
  if (a[3] != b[3]) return a[3] < b[3] ? -1 : 1;
  return place_of(a) < place_of(b) ? -1 : place_of(a) > place_of(b);
}

static const char frame_text[] = "skip: 16\ncount: {offset: 4, type: uint32}\ntrailer: any\n";
static const char schema_text[] = "record: Item\nlayout: packed\nendian: little\n%sfields:\n"
                                  "  - {name: major, type: uint16}\n"
                                  "  - {name: minor, type: int8}\n"
                                  "  - {name: kind, type: enum, base: uint8, values: [a, b]}\n"
                                  "  - {name: place, type: uint32}\n%s"
                                  "keys: [major, {field: minor, order: desc}, kind]\n";

static void make_records(task *t, uint64_t *random)
{
  static const unsigned values[] = {1, 2, 5, 300, 65536};
  const unsigned major = values[random_below(random, 5)];
  const unsigned minor = values[random_below(random, 3)];
  const uint64_t sorted = random_below(random, 4);
  t->records = get(t->total * t->record_size);
  t->sorted = get(t->total * t->record_size);
  fill_random(t->records, t->total * t->record_size, random);
  for (size_t i = 0; i < t->total; i++) {
    unsigned char *const r = t->records + i * t->record_size;
    uint64_t key = random_below(random, major);
    if (sorted == 0) key = i * major / t->total;
    if (sorted == 1) key = major - 1 - i * major / t->total;
    r[0] = (unsigned char)key;
    r[1] = (unsigned char)(key >> 8);
    r[2] = (unsigned char)random_below(random, minor);
    r[3] = (unsigned char)random_below(random, 2);
    for (unsigned b = 0; b < 4; b++)
      r[PLACE + b] = (unsigned char)(i >> 8 * b);
  }
  memcpy(t->sorted, t->records, t->total * t->record_size);
  qsort(t->sorted, t->total, t->record_size, compare);
  if (t->bad != SIZE_MAX) t->records[t->bad * t->record_size + 3] = 9;
}

static void draw_counts(task *t, uint64_t *random)
{
  const size_t parts = t->way == BY_LIBRARY ? (size_t)t->ranks : t->inputs;
  static const size_t sizes[] = {2, 10, 60, 400};
  const size_t most = t->way == BY_DISK ? 0 : sizes[random_below(random, 4)];
  for (size_t i = 0; i < parts; i++) {
    t->counts[i] = random_below(random, 4) ? (size_t)random_below(random, most + 1) : 0;
    if (t->way == BY_DISK) {
      const size_t bytes = (size_t)t->ranks * (140000 + random_below(random, 30000));
      t->counts[i] = bytes / t->inputs / t->record_size;
    }
    t->total += t->counts[i];
  }
}

static void draw_task(task *t, uint64_t *random)
{
  static const size_t sizes[] = {8, 9, 20, 100};
  static const double tolerances[] = {0, 1e-9, 0.5};
  char rest[100] = "";
  *t = (task){.way = BY_DISK, .bad = SIZE_MAX};
  const uint64_t way = random_below(random, 16);
  if (way < 14) t->way = way < 7 ? BY_LIBRARY : BY_COMMAND;
  t->ranks = 1 + (int)random_below(random, t->way == BY_DISK ? 4 : MOST_RANKS);
  t->record_size = sizes[random_below(random, 4)];
  t->inputs = 1 + (size_t)random_below(random, MOST_INPUTS);
  draw_counts(t, random);
  if (t->way != BY_LIBRARY) t->framed = random_below(random, 4) == 0;
  t->old = random_below(random, 2);
  t->in_place = random_below(random, 4) == 0;
  t->stats = random_below(random, 4) == 0;
  t->balance = random_below(random, 2);
  t->tolerance = tolerances[random_below(random, 3)];
  t->message = random_below(random, 2) ? 0 : 8 + (size_t)random_below(random, 300);
  if (t->total && random_below(random, 16) == 0) t->bad = (size_t)random_below(random, t->total);
  make_records(t, random);
  if (t->record_size > 8)
    snprintf(rest, sizeof rest, "  - {name: rest, type: bytes, count: %zu}\n", t->record_size - 8);
  snprintf(t->schema, sizeof t->schema, schema_text, t->framed ? frame_text : "", rest);
}

static void draw_weather(weather *w, uint64_t *random)
{
  static const unsigned sticky[] = {0, 128, 240, 250}, chances[] = {0, 0, 8, 64, 256};
  static const uint64_t longest[] = {3, 30, 1000};
  *w = (weather){.sticky = sticky[random_below(random, 4)],
                 .eager = chances[random_below(random, 5)],
                 .loose = chances[random_below(random, 5)],
                 .late = chances[random_below(random, 5)],
                 .slow = chances[random_below(random, 3)],
                 .slow_disk = chances[random_below(random, 4)],
                 .short_call = chances[random_below(random, 4)],
                 .interrupted = chances[random_below(random, 4)],
                 .flipped = chances[random_below(random, 4)],
                 .longest = longest[random_below(random, 3)]};
}

/* ---- Files ---- */

static char *path_of(const char *name)
{
  static char paths[8][300];
  static unsigned next;
  char *const path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
  FILE *const file = fopen(path, "wb");
  insist(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, path);
}

/* Its bytes; NULL: it is not there. */
static unsigned char *read_file(const char *path, size_t *size)
{
  FILE *const file = fopen(path, "rb");
  struct stat status;
  if (!file) return NULL;
  insist(fstat(fileno(file), &status) == 0, path);
  *size = (size_t)status.st_size;
  unsigned char *const bytes = get(*size);
  insist(fread(bytes, 1, *size, file) == *size && fclose(file) == 0, path);
  bytes[*size] = '\0';
  return bytes;
}

/* Removes the files of the last sort. Returns those in the output's folder that are not its. */
static int clear(const char *name)
{
  int others = 0;
  DIR *const entries = opendir(path_of(name));
  insist(entries != NULL, name);
  for (const struct dirent *e; (e = readdir(entries));) {
    char path[600];
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    others += strcmp(e->d_name, "out") != 0;
    snprintf(path, sizeof path, "%s/%s", path_of(name), e->d_name);
    insist(unlink(path) == 0, path);
  }
  closedir(entries);
  return others;
}

static char *input_path(const task *t, size_t i)
{
  char name[20] = "out/out";
  if (!t->in_place || i > 0) snprintf(name, sizeof name, "in%zu", i);
  return path_of(name);
}

/* A file of records. */
static unsigned char *framed(const task *t, const void *records, size_t count, bool first,
                             size_t *size)
{
  enum { HEADER = 16, COUNT = 4, TRAILER = 1 };
  const size_t header = t->framed ? HEADER : 0, bytes = count * t->record_size;
  *size = header + bytes + (t->framed && first ? TRAILER : 0);
  unsigned char *const file = get(*size);
  memset(file, 'f', *size);
  for (unsigned b = 0; b < 4 && t->framed; b++)
    file[COUNT + b] = (unsigned char)(count >> 8 * b);
  memcpy(file + header, records, bytes);
  return file;
}

static void write_files(task *t)
{
  static unsigned char old[] = "old";
  unsigned char *from = t->records;
  write_file(path_of("schema"), t->schema, strlen(t->schema));
  write_file(path_of("messages"), "", 0);
  for (size_t i = 0; i < t->inputs; i++) {
    size_t size;
    unsigned char *const bytes = framed(t, from, t->counts[i], i == 0, &size);
    write_file(input_path(t, i), bytes, size);
    from += t->counts[i] * t->record_size;
    if (t->in_place && i == 0) {
      t->old_size = size;
      t->old_bytes = bytes;
    } else {
      free(bytes);
    }
  }
  if (t->in_place) return;
  t->old_bytes = t->old ? old : NULL;
  t->old_size = sizeof old;
  if (t->old) write_file(path_of("out/out"), old, sizeof old);
}

/* ---- A rank ---- */

static int run_command(int rank)
{
  char *words[30] = {"recsort-mpi", "--threads", "1", "-s", path_of("schema"), "-o"};
  int count = 6;
  (void)rank;
  FILE *const messages = fopen(path_of("messages"), "a"); /* this call of ours does not fail */
  insist(messages && dup2(fileno(messages), STDERR_FILENO) >= 0, "messages");
  words[count++] = path_of("out/out");
  if (job.way == BY_DISK) {
    words[count++] = "-S400K";
    words[count++] = "-T";
    words[count++] = path_of("temporary");
  }
  if (job.stats) words[count++] = "--stats=json";
  for (size_t i = 0; i < job.inputs; i++)
    words[count++] = input_path(&job, i);
  return recsort_mpi_main(count, words);
}

static int run_library(int rank)
{
  const recsort_options options = {
      .struct_size = sizeof options, .record_size = job.record_size, .plugin = "cpu", .threads = 1};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_mpi_job sorting = RECSORT_MPI_JOB_INIT;
  recsort_error error = {0};
  found *const f = &job.found[rank];
  int provided;
  if (recsort_schema_load_memory(job.schema, strlen(job.schema), "item", NULL, &schema, &error) ||
      recsort_sorter_create(schema, &options, &sorter, &error))
    world_fail("%s", error.text);
  recsort_schema_destroy(schema);
  size_t first = 0;
  for (int r = 0; r < rank; r++)
    first += job.counts[r];
  sorting.count = job.counts[rank];
  sorting.records = sorting.count ? get(sorting.count * job.record_size) : NULL;
  if (sorting.count)
    memcpy(sorting.records, job.records + first * job.record_size, sorting.count * job.record_size);
  sorting.balance = job.balance;
  sorting.tolerance = job.tolerance;
  sorting.message = job.message;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  f->status = recsort_mpi_sort(sorter, MPI_COMM_WORLD, &sorting, &error);
  memcpy(f->text, error.text, sizeof f->text);
  f->count = sorting.count;
  f->records = world_memory(sorting.count * job.record_size);
  if (sorting.count) memcpy(f->records, sorting.records, sorting.count * job.record_size);
  MPI_Finalize();
  free(sorting.records);
  recsort_sorter_destroy(sorter);
  return f->status ? 2 : 0;
}

/* ---- What came of it ---- */

typedef enum outcome { RIGHT, KILLED_OLD, KILLED_NEW, ERRORS } outcome;

static struct {
  const char *text;
  uint64_t count;
} errors[] = {{"it is complete, but may be the old one again", 0},
              {"No space left on device", 0},
              {"Input/output error", 0},
              {"Permission denied", 0},
              {"which is outside the range of its enum", 0},
              {"are not those that it sent", 0},
              {"the records were changed on their way", 0},
              {"a temporary file does not hold what was written to it", 0}};

enum { ERROR_TEXTS = sizeof errors / sizeof *errors };

/* Says why, and returns false. */
#define WRONG(...) (snprintf(the_world->failure, sizeof the_world->failure, __VA_ARGS__), false)

static bool count_error(const char *text)
{
  for (int i = 0; i < ERROR_TEXTS; i++)
    if (strstr(text, errors[i].text)) {
      errors[i].count++;
      return true;
    }
  return WRONG("an error that is not clear: %.400s", text);
}

static bool same(const unsigned char *a, size_t a_size, const unsigned char *b, size_t b_size)
{
  return a && b ? a_size == b_size && memcmp(a, b, a_size) == 0 : a == b;
}

/* Something has gone wrong besides the weather. */
static bool has_reason(void)
{
  bool faulty = false;
  for (int event = DIES; event < EVENTS; event++)
    faulty |= the_world->events[event] > 0;
  return faulty;
}

/* If nothing else is wrong, the error names the record that is. */
static bool names_record(const task *t, const char *text)
{
  char wanted[40];
  size_t part = 0, record = t->bad;
  if (has_reason() || t->bad == SIZE_MAX) return true;
  for (; record >= t->counts[part]; part++)
    record -= t->counts[part];
  if (t->way == BY_LIBRARY)
    snprintf(wanted, sizeof wanted, "rank %zu, record %zu: ", part, record);
  else
    snprintf(wanted, sizeof wanted, ": record %zu: ", record);
  return strstr(text, wanted) || WRONG("record %zu is wrong, not: %.400s", t->bad, text);
}

static bool check_library(const task *t, outcome *came)
{
  size_t first = 0;
  const size_t size = t->record_size;
  *came = t->found[0].status ? ERRORS : RIGHT;
  for (int r = 0; r < t->ranks; r++) {
    const found *const f = &t->found[r];
    if (f->status != t->found[0].status || strcmp(f->text, t->found[0].text) != 0)
      return WRONG("the ranks have different errors: \"%.100s\", \"%.100s\"", t->found[0].text,
                   f->text);
    const unsigned char *const wanted = f->status ? t->records : t->sorted;
    if (f->status || !t->balance) {
      if (f->count != t->counts[r]) return WRONG("rank %d has %zu records", r, f->count);
    }
    if (f->count > t->total - first ||
        memcmp(f->records, wanted + first * size, f->count * size) != 0)
      return WRONG("rank %d has wrong records", r);
    first += f->count;
  }
  if (first != t->total) return WRONG("%zu records of %zu", first, t->total);
  if (*came == RIGHT) return t->bad == SIZE_MAX || WRONG("a wrong record was not found");
  return names_record(t, t->found[0].text) && count_error(t->found[0].text);
}

static bool check_messages(const task *t, int status)
{
  size_t size;
  char *const text = (char *)read_file(path_of("messages"), &size);
  const bool one =
      size && strchr(text, '\n') == text + size - 1 && strncmp(text, "recsort-mpi: ", 13) == 0;
  bool good;
  if (status == 2)
    good = one ? names_record(t, text) && count_error(text) : WRONG("not one error: %.400s", text);
  else if (t->stats)
    good = text[0] == '{' || WRONG("no figures: %.400s", text);
  else
    good = size == 0 || WRONG("messages without an error: %.400s", text);
  free(text);
  return good;
}

static bool check_command(const task *t, outcome *came)
{
  bool killed = false;
  size_t size = 0, wanted_size;
  unsigned char *const output = read_file(path_of("out/out"), &size);
  unsigned char *const wanted = framed(t, t->sorted, t->total, true, &wanted_size);
  const bool is_new = same(output, size, wanted, wanted_size);
  const bool is_old = same(output, size, t->old_bytes, t->old_size);
  free(wanted);
  free(output);
  const int others = clear("out"), temporary = clear("temporary");
  const int status = the_world->rank[0].status;
  for (int r = 0; r < t->ranks; r++)
    killed |= the_world->rank[r].killed;
  *came = killed ? is_new ? KILLED_NEW : KILLED_OLD : status ? ERRORS : RIGHT;
  if (!is_old && !is_new) return WRONG("the output is neither the old one nor the new one");
  if (killed) return true;
  for (int r = 0; r < t->ranks; r++)
    if (the_world->rank[r].status != status)
      return WRONG("rank %d ends with %d, others with %d", r, the_world->rank[r].status, status);
  if (status != 0 && status != 2) return WRONG("the ranks end with %d", status);
  if (others || temporary) return WRONG("a temporary file is left");
  if (status == 0 && (!is_new || t->bad != SIZE_MAX)) return WRONG("a success, and not the output");
  return check_messages(t, status);
}

/* ---- A seed ---- */

static struct {
  uint64_t seeds, ways[3], outcomes[2][4], events[EVENTS], calls[CALLS], repeated;
} sum;

static bool run_once(task *t, uint64_t seed, const weather *w, const fault *f, outcome *came)
{
  static const fault none = {.event = LATE};
  if (t->way != BY_LIBRARY) write_files(t);
  the_world->used = 0;
  job.found = world_memory(MOST_RANKS * sizeof(found));
  bool good =
      world_run(seed, t->ranks, w, f ? f : &none, t->way == BY_LIBRARY ? run_library : run_command);
  bool killed = false;
  for (int r = 0; r < t->ranks; r++)
    killed |= the_world->rank[r].killed;
  *came = KILLED_OLD;
  if (!good && t->way != BY_LIBRARY) {
    clear("out");
    clear("temporary");
  } else if (good && (t->way != BY_LIBRARY || !killed)) {
    good = (t->way == BY_LIBRARY ? check_library : check_command)(t, came);
  }
  if (t->in_place && t->way != BY_LIBRARY) free(t->old_bytes);
  if (good && *came == ERRORS && !has_reason() && t->bad == SIZE_MAX)
    good = WRONG("an error without a reason");
  for (int event = 0; event < EVENTS; event++)
    sum.events[event] += the_world->events[event];
  if (good) sum.outcomes[f != NULL][*came]++;
  return good;
}

/* How many places the run had at which this could go wrong. */
static uint64_t places_of(const task *t, const fault *f)
{
  const rank_state *const r = &the_world->rank[f->rank];
  const uint64_t calls = r->calls[f->by_thread][f->call];
  switch (f->event) {
  case DIES:
    return t->way == BY_LIBRARY ? 0 : r->points; /* it leaves nothing to look at */
  case NO_SPACE:
    return f->call == CALL_PWRITE || f->call == CALL_WRITE ? calls : 0;
  case BROKEN:
    return calls;
  case FLIPPED_MESSAGE:
    return r->messages;
  default:
    return r->temporary_reads[f->by_thread];
  }
}

/* Draws what goes wrong, at a place that the run in the same weather without it had. */
static bool draw_fault(const task *t, fault *f, uint64_t *random)
{
  *f = (fault){.bit = next_random(random)};
  for (int tries = 0; tries < 100; tries++) {
    f->event = DIES + (int)random_below(random, EVENTS - DIES);
    f->call = (int)random_below(random, CALLS);
    f->number = f->event == NO_SPACE ? ENOSPC : f->call == CALL_OPEN ? EACCES : EIO;
    const uint64_t both = 2 * (uint64_t)t->ranks, first = random_below(random, both);
    for (uint64_t i = 0; i < both; i++) {
      f->rank = (int)((first + i) % both / 2);
      f->by_thread = (first + i) % 2;
      const uint64_t places = places_of(t, f);
      if (!places) continue;
      f->at = 1 + random_below(random, places);
      return true;
    }
  }
  return false;
}

static const char *const event_names[EVENTS] = {"a message is late",
                                                "a message overtakes another rank's",
                                                "a send waits for its receive",
                                                "a rank leaves a collective early",
                                                "a rank is slow",
                                                "a disk is slow",
                                                "a call does less",
                                                "a call is interrupted",
                                                "a bit of a collective call's result is flipped",
                                                "a rank is killed",
                                                "a disk is full",
                                                "a call of a disk fails",
                                                "a bit of a message is flipped",
                                                "a bit of a temporary file is flipped"};
static const char *const call_names[CALLS] = {"open",  "read",   "pread",  "write", "pwrite",
                                              "fsync", "linkat", "rename", "close"};
static const char *const outcome_names[] = {"right", "killed, the old output",
                                            "killed, the new output", "one clear error"};
static const char *const way_names[] = {"library", "command", "command by way of temporary files"};

static void describe(uint64_t seed, const task *t, const fault *f)
{
  printf("seed %" PRIu64 ": %s, %d ranks, %zu records of %zu bytes", seed, way_names[t->way],
         t->ranks, t->total, t->record_size);
  if (t->way != BY_LIBRARY) printf(", %zu inputs", t->inputs);
  if (t->bad != SIZE_MAX) printf(", record %zu is wrong", t->bad);
  if (f) printf("; rank %d: %s", f->rank, event_names[f->event]);
  if (f && (f->event == BROKEN || f->event == NO_SPACE))
    printf(" (%s%s)", call_names[f->call], f->by_thread ? " of a thread" : "");
  if (f) printf(", place %" PRIu64, f->at);
}

static bool say(bool good, bool in_words, uint64_t seed, const task *t, const fault *f,
                outcome came)
{
  if (good && !in_words) return true;
  describe(seed, t, f);
  printf("; step %" PRIu64 ", trace %016" PRIx64 ": %s\n", the_world->step, the_world->trace,
         good ? outcome_names[came] : the_world->failure);
  return good;
}

/* A seed must give the same again, or nobody could look for what it found. */
static bool repeats(task *t, uint64_t run, const weather *w, const fault *f, outcome came)
{
  const uint64_t trace = the_world->trace, step = the_world->step;
  outcome again;
  if (!run_once(t, run, w, f, &again)) return false;
  sum.repeated++;
  return (again == came && the_world->trace == trace && the_world->step == step) ||
         WRONG("the same seed gave another run, with the trace %016" PRIx64, trace);
}

static bool run_seed(uint64_t seed, bool in_words)
{
  uint64_t random = mix(seed);
  weather sky;
  fault wrong;
  outcome came;
  draw_task(&job, &random);
  draw_weather(&sky, &random);
  const uint64_t run = next_random(&random);
  sum.seeds++;
  sum.ways[job.way]++;
  bool good = run_once(&job, run, &sky, NULL, &came);
  good = say(good, in_words, seed, &job, NULL, came);
  if (good && draw_fault(&job, &wrong, &random)) {
    good = run_once(&job, run, &sky, &wrong, &came);
    if (wrong.event == BROKEN && the_world->events[BROKEN]) sum.calls[wrong.call]++;
    if (good && seed % 8 == 0) good = repeats(&job, run, &sky, &wrong, came);
    good = say(good, in_words, seed, &job, &wrong, came);
  }
  free(job.records);
  free(job.sorted);
  return good;
}

/* ---- All of them ---- */

/* Says how often everything happened. False if something never did. */
static bool report(uint64_t failures)
{
  bool all = true;
  printf("%" PRIu64 " seeds: %" PRIu64 " by the library, %" PRIu64 " by the command, %" PRIu64
         " of it by way of temporary files; %" PRIu64 " were repeated; %" PRIu64 " failures\n",
         sum.seeds, sum.ways[BY_LIBRARY], sum.ways[BY_COMMAND] + sum.ways[BY_DISK],
         sum.ways[BY_DISK], sum.repeated, failures);
  for (int f = 0; f < 2; f++)
    for (int i = 0; i < 4; i++)
      if (sum.outcomes[f][i])
        printf("%8" PRIu64 "  %s: %s\n", sum.outcomes[f][i], f ? "with a fault" : "without a fault",
               outcome_names[i]);
  for (int i = 0; i < ERROR_TEXTS; i++)
    printf("%8" PRIu64 "  errors: %s\n", errors[i].count, errors[i].text);
  for (int i = 0; i < EVENTS; i++) {
    printf("%8" PRIu64 "  times %s\n", sum.events[i], event_names[i]);
    all &= sum.events[i] > 0;
  }
  for (int i = 0; i < CALLS; i++) {
    all &= sum.calls[i] > 0;
    printf("%8" PRIu64 "  times %s fails\n", sum.calls[i], call_names[i]);
  }
  if (!all) printf("something never happened\n");
  return all;
}

static void make_folder(void)
{
  const char *const parent = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%.150s/world.XXXXXX", parent ? parent : "/tmp");
  insist(mkdtemp(folder) != NULL, folder);
  insist(mkdir(path_of("out"), 0777) == 0 && mkdir(path_of("temporary"), 0777) == 0, folder);
}

static void remove_folder(void)
{
  clear("out");
  clear("temporary");
  rmdir(path_of("out"));
  rmdir(path_of("temporary"));
  clear(".");
  rmdir(folder);
}

int main(int argc, char **argv)
{
  enum { ENOUGH = 20 };
  uint64_t begin = 0, end = 0, failures = 0;
  bool all = true;
  if (argc == 3 && strcmp(argv[1], "--seed") == 0) {
    begin = strtoull(argv[2], NULL, 10);
    end = begin + 1;
  } else if (argc == 4 && strcmp(argv[1], "--seeds") == 0) {
    begin = strtoull(argv[2], NULL, 10);
    end = strtoull(argv[3], NULL, 10);
  }
  if (begin >= end) {
    fputs("Usage: world --seed N | --seeds A B\n", stderr);
    return 2;
  }
  make_folder();
  world_open();
  for (uint64_t seed = begin; seed < end && failures < ENOUGH; seed++)
    failures += !run_seed(seed, argc == 3);
  if (argc == 4) all = report(failures);
  remove_folder();
  return failures || !all;
}

/* crash - cuts the power at every instant of a sort that replaces a file.
 *
 * Usage: crash RECSORT SCHEMA SHIM [ROUNDS]
 *
 * recsort writes to ext4 on a disk that records what reaches it (disk.h). Then, for each prefix of
 * that record, the disk keeps all writes since the last flush, none of them, or (ROUNDS times) each
 * block or not by chance; ext4 is mounted again and recovers, and the output must be the complete
 * old file or the complete new one, and after recsort's exit the new one.
 *
 * As a control, the test must fail with recsort's fsync disabled. Exits with 77, after saying why,
 * if there is no FUSE, no loop device or no ext4. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "disk.h"
#include "support/random.h"

enum { COUNT = 3000, LARGE = 20000, DISK_SIZE = 4 << 20, BLOCK = 1024, SKIPPED = 77 };

typedef struct entity {
  float x, y, angle;
  int16_t sprite;
  float distance;
} entity;

typedef enum outcome { OLD, NEW, TORN, UNKNOWN } outcome;

/* A run of recsort; its output is its input, another file, or a new one. `large` is sorted by way
 * of temporary files. */
typedef struct scenario {
  const char *output;
  const char *mount;    /* options */
  const char *no_fsync; /* whose fsync the shim disables; NULL: none */
  bool named;           /* the temporary has a name, as without O_TMPFILE */
  bool commits;         /* the journal is committed between any two steps */
} scenario;

typedef struct tally {
  size_t runs, instants, cuts;
  size_t outcomes[UNKNOWN + 1];
  size_t lost; /* old after exit status 0 */
} tally;

static struct {
  char *recsort, *schema, *shim; /* absolute paths */
  unsigned rounds;
  char top[64], disk[80], folder[80], scratch[80];
  disk d;
  unsigned char *base;    /* the disk before recsort starts */
  unsigned char *durable; /* the same with all that was flushed */
  unsigned char *image;   /* the same with what a power cut left */
  uint64_t random;
} test = {.rounds = 1, .random = 1};

static entity input[LARGE], sorted[COUNT], large[LARGE];

static void fail(const char *what)
{
  (void)printf("%s: %s\n", what, strerror(errno));
  exit(1);
}

static void skip(const char *why)
{
  (void)printf("skipped: %s\n", why);
  exit(SKIPPED);
}

/* ---- Files ---- */

static void path_of(char path[static 128], const char *name)
{
  (void)snprintf(path, 128, "%s/%s", test.folder, name);
}

static void write_file(const char *path, const void *data, size_t size)
{
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0 || write(file, data, size) != (ssize_t)size || close(file) != 0) fail(path);
}

static void read_file(const char *path, void *data, size_t size)
{
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || read(file, data, size) != (ssize_t)size) fail(path);
  close(file);
}

/* Descending by distance, and stable. */
static int compare(const void *a, const void *b)
{
  const entity *const left = a, *const right = b;
  if (left->distance != right->distance) return left->distance < right->distance ? 1 : -1;
  return (left->x > right->x) - (left->x < right->x);
}

static void make_records(void)
{
  for (size_t i = 0; i < LARGE; i++)
    input[i] = (entity){(float)i, 0, 0, (int16_t)(i % 7), (float)(i * 7919 % 997)};
  memcpy(sorted, input, sizeof sorted);
  qsort(sorted, COUNT, sizeof *sorted, compare);
  memcpy(large, input, sizeof large);
  qsort(large, LARGE, sizeof *large, compare);
}

static bool is_large(const scenario *s)
{
  return strcmp(s->output, "large") == 0;
}

/* ---- Programs ---- */

/* Runs a program. Returns its exit status, or -1. */
static int run_program(const char *folder, char *const arguments[], char *const environment[])
{
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status = -1;
  if (posix_spawn_file_actions_init(&actions) != 0 ||
      posix_spawn_file_actions_addchdir_np(&actions, folder) != 0)
    fail("posix_spawn");
  if (posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environment) == 0)
    (void)waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool make_file_system(void)
{
  char *const arguments[] = {"mkfs.ext4", "-qF",      "-b1024",
                             "-N64",      "-Jsize=1", "-Elazy_itable_init=0,lazy_journal_init=0",
                             "scratch",   NULL};
  char *const environment[] = {"PATH=/usr/sbin:/sbin:/usr/bin:/bin", NULL};
  return truncate(test.scratch, DISK_SIZE) == 0 &&
         run_program(test.top, arguments, environment) == 0;
}

static void run_recsort(const scenario *s)
{
  char preload[512], no_fsync[64];
  char *environment[5] = {preload};
  size_t words = 1;
  char *const arguments[] = {test.recsort,
                             "-s",
                             test.schema,
                             "--threads=2",
                             is_large(s) ? "-S" : "--verify=default",
                             is_large(s) ? "420K" : "--plugin=cpu",
                             is_large(s) ? "large" : "in",
                             "-o",
                             (char *)s->output,
                             NULL};
  (void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s", test.shim);
  (void)snprintf(no_fsync, sizeof no_fsync, "SHIM_NO_FSYNC=%s", s->no_fsync ? s->no_fsync : "");
  if (s->named) environment[words++] = "SHIM_NO_TMPFILE=1";
  if (s->commits) environment[words++] = "SHIM_COMMIT=other";
  if (s->no_fsync) environment[words] = no_fsync;
  if (run_program(test.folder, arguments, environment) != 0) {
    (void)printf("recsort has failed\n");
    exit(1);
  }
}

/* ---- Disks ---- */

static void apply(unsigned char *image, const disk_event *event)
{
  if (event->data) memcpy(image + event->offset, event->data, event->size);
}

/* Applies each block of a write, or not. A disk may also split a block of 1 KiB into two sectors,
 * but ext4 relies on its superblock being written whole. */
static void apply_some(unsigned char *image, const disk_event *event)
{
  for (size_t at = 0; event->data && at < event->size; at += BLOCK)
    if (next_random(&test.random) & 1)
      memcpy(image + event->offset + at, event->data + at,
             event->size - at < BLOCK ? event->size - at : BLOCK);
}

/* Makes a disk with ext4, with a file to sort and one to replace. */
static void make_base(void)
{
  char path[128];
  if (!disk_mount(test.scratch, test.folder, "")) skip("no loop device or no ext4");
  path_of(path, "in");
  write_file(path, input, sizeof sorted);
  path_of(path, "other-old");
  write_file(path, input, sizeof sorted / 2);
  path_of(path, "large");
  write_file(path, input, sizeof large);
  if (!disk_unmount(test.folder)) exit(1);
  read_file(test.scratch, test.base, DISK_SIZE);
}

static outcome look(const scenario *s)
{
  static unsigned char found[sizeof input + 1];
  const entity *const new = is_large(s) ? large : sorted;
  const size_t new_size = is_large(s) ? sizeof large : sizeof sorted;
  const size_t old_size = strcmp(s->output, "other-old") == 0 ? new_size / 2 : new_size;
  char path[128];
  path_of(path, s->output);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT && strcmp(s->output, "new") == 0 ? OLD : TORN;
  const ssize_t size = read(file, found, sizeof found);
  close(file);
  if (size == (ssize_t)new_size && memcmp(found, new, new_size) == 0) return NEW;
  const bool old = size == (ssize_t)old_size && memcmp(found, input, old_size) == 0;
  return old && strcmp(s->output, "new") != 0 ? OLD : TORN;
}

/* Cuts the power, mounts the disk again and checks the output. */
static void cut(const scenario *s, bool exited, tally *t)
{
  outcome found = UNKNOWN;
  const int scratch = open(test.scratch, O_WRONLY | O_CLOEXEC); /* its pages are kept */
  if (scratch < 0 || write(scratch, test.image, DISK_SIZE) != DISK_SIZE || close(scratch) != 0)
    fail(test.scratch);
  if (disk_mount(test.scratch, test.folder, s->mount)) {
    found = look(s);
    if (!disk_unmount(test.folder)) exit(1);
  }
  t->cuts++;
  t->outcomes[found]++;
  t->lost += exited && found == OLD;
}

/* ---- One run and its power cuts ---- */

/* Cuts the power before event `end`, when those from `begin` on are not flushed. Skips states that
 * a later instant covers: none of the writes, until the flush; all of them, before it. */
static void cut_at(const scenario *s, size_t begin, size_t end, bool exited, tally *t)
{
  const disk_event *const events = test.d.events;
  const bool last = end == test.d.count, flush = last || !events[end].data;
  if (begin == end && !last) return;
  for (unsigned round = 0; round < test.rounds + 2; round++) {
    if (round == 0 ? !flush : round == 1 && flush && !last) continue;
    memcpy(test.image, test.durable, DISK_SIZE);
    for (size_t i = begin; round > 0 && i < end; i++)
      (round == 1 ? apply : apply_some)(test.image, &events[i]);
    cut(s, exited, t);
  }
}

/* Runs recsort. Returns the number of events when it ended; later writes by others may commit what
 * it has not. */
static size_t record(const scenario *s)
{
  char path[128];
  disk_record(&test.d, test.base);
  if (!disk_mount(test.disk, test.folder, s->mount)) exit(1);
  run_recsort(s);
  const size_t exited = disk_events(&test.d);
  path_of(path, "other");
  const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || write(file, "y", 1) != 1 || fsync(file) != 0) fail(path);
  close(file);
  disk_stop(&test.d);
  if (!disk_unmount(test.folder)) exit(1);
  return exited;
}

static bool caught(const tally *t)
{
  return t->outcomes[TORN] || t->outcomes[UNKNOWN] || t->lost;
}

/* A control ends at the first failure, which it must show. */
static void cut_everywhere(const scenario *s, tally *t)
{
  const size_t exited = record(s);
  size_t begin = 0;
  memcpy(test.durable, test.base, DISK_SIZE);
  for (size_t end = 0; end <= test.d.count; end++) {
    cut_at(s, begin, end, end >= exited, t);
    if (s->no_fsync && caught(t)) break;
    if (end == test.d.count || test.d.events[end].data) continue;
    for (; begin < end; begin++)
      apply(test.durable, &test.d.events[begin]);
  }
  t->runs++;
  t->instants += test.d.count + 1;
}

/* ---- The program ---- */

/* Without auto_da_alloc, ext4 does not help programs that rename without fsync. */
#define HARSH "noauto_da_alloc,data=writeback"

static const scenario scenarios[] = {
    {"in", "", NULL, false, false},          {"in", "", NULL, true, true},
    {"in", HARSH, NULL, false, true},        {"in", HARSH, NULL, true, false},
    {"other-old", HARSH, NULL, false, true}, {"other-old", "", NULL, true, false},
    {"new", "", NULL, false, true},          {"new", HARSH, NULL, true, true},
    {"large", "", NULL, false, false},       {"large", HARSH, NULL, true, true},
};

static const scenario controls[] = {
    {"in", HARSH, "all", false, true},
    {"in", HARSH, "file", true, false},
    {"in", HARSH, "folder", false, false},
    {"large", HARSH, "all", false, false},
};

static void report(const char *name, const tally *t)
{
  (void)printf("%s: %zu runs, %zu power cuts at %zu instants: %zu old, %zu new, %zu torn, %zu file "
               "systems lost, %zu old after exit status 0\n",
               name, t->runs, t->cuts, t->instants, t->outcomes[OLD], t->outcomes[NEW],
               t->outcomes[TORN], t->outcomes[UNKNOWN], t->lost);
}

/* Makes a mount namespace, which ends with this process, and a folder in memory. */
static void open_all(void)
{
  if (unshare(CLONE_NEWNS) != 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
    skip("no right to mount");
  (void)strcpy(test.top, "/tmp/crash-XXXXXX");
  if (!mkdtemp(test.top)) fail(test.top);
  (void)snprintf(test.disk, sizeof test.disk, "%s/disk", test.top);
  (void)snprintf(test.scratch, sizeof test.scratch, "%s/scratch", test.top);
  (void)snprintf(test.folder, sizeof test.folder, "%s/folder", test.top);
  if (mount("tmpfs", test.top, "tmpfs", 0, "mode=700") != 0) fail("mount of tmpfs");
  write_file(test.disk, "", 0);
  write_file(test.scratch, "", 0);
  if (mkdir(test.folder, 0700) != 0) fail(test.folder);
  test.base = malloc(DISK_SIZE);
  test.durable = malloc(DISK_SIZE);
  test.image = malloc(DISK_SIZE);
  if (!test.base || !test.durable || !test.image) fail("memory");
  if (!make_file_system()) skip("no mkfs.ext4");
  make_base();
  if (!disk_open(&test.d, test.disk, DISK_SIZE)) skip("no FUSE");
}

static void remove_folder(void)
{
  if (!test.top[0]) return;
  (void)umount2(test.top, MNT_DETACH);
  (void)rmdir(test.top);
}

static bool cut_runs(void)
{
  tally t = {0};
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
    cut_everywhere(&scenarios[i], &t);
  report("recsort", &t);
  return !caught(&t) && t.outcomes[OLD] && t.outcomes[NEW];
}

static bool cut_controls(void)
{
  bool good = true;
  for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
    char name[64];
    tally t = {0};
    cut_everywhere(&controls[i], &t);
    (void)snprintf(name, sizeof name, "without fsync of %s", controls[i].no_fsync);
    report(name, &t);
    good = good && !t.outcomes[UNKNOWN] && caught(&t);
  }
  return good;
}

int main(int argc, char **argv)
{
  if (argc < 4) return 2;
  test.recsort = argv[1];
  test.schema = argv[2];
  test.shim = argv[3];
  if (argc > 4) test.rounds = (unsigned)strtoul(argv[4], NULL, 10);
  (void)setvbuf(stdout, NULL, _IOLBF, 0);
  (void)atexit(remove_folder);
  make_records();
  open_all();
  const bool runs = cut_runs(), controls_caught = cut_controls();
  disk_close(&test.d, test.disk);
  free(test.base);
  free(test.durable);
  free(test.image);
  return runs && controls_caught ? 0 : 1;
}

/* schedule.c - whose turn it is; see world.h. */
#include "world.h"

#include "support/random.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEMORY = 1 << 28, MOST_POINTS = 1 << 15 };

world *the_world;
int own_rank = -1;
static char *memory;

void world_open(void)
{
  const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
  the_world = mmap(NULL, sizeof *the_world, PROT_READ | PROT_WRITE, flags, -1, 0);
  memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (the_world == MAP_FAILED || memory == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
}

void *world_memory(size_t size)
{
  world *const w = the_world;
  char *const at = memory + w->used;
  const size_t rounded = (size + 15) / 16 * 16;
  if (rounded > MEMORY - w->used) world_fail("the simulation has no memory left");
  w->used += rounded;
  memset(at, 0, size);
  return at;
}

uint64_t world_below(uint64_t end)
{
  return random_below(&the_world->random, end);
}

bool world_chance(unsigned of_256)
{
  return world_below(256) < of_256;
}

void world_count(int event)
{
  the_world->events[event]++;
}

bool world_is_main_thread(void)
{
  return syscall(SYS_gettid) == getpid();
}

void world_progress(void)
{
  the_world->progress++;
}

void world_fail(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char *const text = the_world->failure;
  const size_t size = sizeof the_world->failure;
  const int length = own_rank < 0 ? 0 : snprintf(text, size, "rank %d: ", own_rank);
  vsnprintf(text + length, size - (size_t)length, format, arguments);
  va_end(arguments);
  if (own_rank >= 0) raise(SIGKILL);
  fprintf(stderr, "%s\n", text);
  exit(1);
}

/* ---- Turns ---- */

static bool can_go_on(const rank_state *r)
{
  const world *const w = the_world;
  if (!r->alive || r->slow_until > w->step) return false;
  return !r->waits || r->idle_at != w->progress || r->wakes_at <= w->step;
}

/* The next step at which a rank can go on, if nothing else happens. */
static uint64_t next_step(void)
{
  const world *const w = the_world;
  uint64_t next = UINT64_MAX;
  for (int i = 0; i < w->ranks; i++) {
    const rank_state *const r = &w->rank[i];
    if (!r->alive) continue;
    uint64_t at = r->waits && r->idle_at == w->progress ? r->wakes_at : w->step;
    if (at < r->slow_until) at = r->slow_until;
    if (at < next) next = at;
  }
  return next;
}

/* The rank that goes on; -1: none ever will. */
static int choose(void)
{
  world *const w = the_world;
  int able[MOST_RANKS], count = 0;
  if (next_step() == UINT64_MAX) return -1;
  if (next_step() > w->step) w->step = next_step();
  for (int i = 0; i < w->ranks; i++)
    if (can_go_on(&w->rank[i])) able[count++] = i;
  if (own_rank >= 0 && can_go_on(&w->rank[own_rank]) && world_chance(w->weather.sticky))
    return own_rank;
  return able[world_below((uint64_t)count)];
}

static void say_deadlock(void)
{
  world *const w = the_world;
  size_t length = (size_t)snprintf(w->failure, sizeof w->failure, "deadlock:");
  for (int i = 0; i < w->ranks && length < sizeof w->failure - 60; i++)
    length += (size_t)snprintf(w->failure + length, sizeof w->failure - length, " rank %d %.40s,",
                               i, w->rank[i].alive ? w->rank[i].in : "has ended");
}

static void pass_on(void)
{
  world *const w = the_world;
  const int next = choose();
  if (next == own_rank) return;
  if (next < 0) raise(SIGKILL); /* the parent sees why */
  w->running = next;
  sem_post(&w->rank[next].turn);
  while (sem_wait(&w->rank[own_rank].turn) != 0 && errno == EINTR) {
  }
}

void world_point(const char *in)
{
  world *const w = the_world;
  rank_state *const r = &w->rank[own_rank];
  r->in = in;
  r->points++;
  w->step++;
  w->trace = mix(w->trace ^ (uint64_t)own_rank ^ (uint64_t)(unsigned char)in[4] << 8) + w->step;
  if (r->points == r->dies_at) {
    r->killed = true;
    raise(SIGKILL);
  }
  if (r->points > MOST_POINTS) world_fail("no end after %d calls", MOST_POINTS);
  if (world_chance(w->weather.slow)) {
    r->slow_until = w->step + 1 + world_below(w->weather.longest);
    world_count(SLOW_RANK);
  }
  pass_on();
}

void world_wait(const char *in, uint64_t wakes_at)
{
  rank_state *const r = &the_world->rank[own_rank];
  r->in = in;
  r->waits = true;
  r->idle_at = the_world->progress;
  r->wakes_at = wakes_at;
  pass_on();
  r->waits = false;
}

/* ---- A run ---- */

static void start(int rank, int (*body)(int rank))
{
  rank_state *const r = &the_world->rank[rank];
  sem_init(&r->turn, 1, 0);
  r->alive = true;
  const pid_t pid = fork();
  if (pid < 0) {
    perror("fork");
    exit(1);
  }
  if (pid > 0) {
    r->pid = pid;
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  own_rank = rank;
  while (sem_wait(&r->turn) != 0 && errno == EINTR) {
  }
  r->status = body(rank);
  r->finished = true;
  exit(0);
}

/* When one rank has been killed, the others are, too, each at its own instant. */
static void end_others(void)
{
  world *const w = the_world;
  for (int i = 0; i < w->ranks; i++) {
    rank_state *const r = &w->rank[i];
    if (r->alive && r->dies_at == 0) r->dies_at = r->points + 1 + world_below(100);
  }
}

static void kill_all(void)
{
  for (int i = 0; i < the_world->ranks; i++)
    if (the_world->rank[i].alive) kill(the_world->rank[i].pid, SIGKILL);
}

/* A rank has ended. False if it should not have. */
static bool note_end(rank_state *r, int status)
{
  world *const w = the_world;
  const int rank = (int)(r - w->rank);
  r->alive = false;
  world_progress();
  if (w->failure[0]) return false;
  if (r->killed) {
    if (w->fault.event == DIES && w->fault.rank == rank) world_count(DIES);
    end_others();
    return true;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && r->finished) return true;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    say_deadlock();
  else
    snprintf(w->failure, sizeof w->failure, "rank %d ended %s %d in or after %s", rank,
             WIFSIGNALED(status) ? "by signal" : "with status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), r->in);
  return false;
}

static rank_state *reap(int *status)
{
  const pid_t pid = waitpid(-1, status, 0);
  for (int i = 0; i < the_world->ranks; i++)
    if (the_world->rank[i].pid == pid) return &the_world->rank[i];
  perror("waitpid");
  exit(1);
}

static bool any_alive(void)
{
  for (int i = 0; i < the_world->ranks; i++)
    if (the_world->rank[i].alive) return true;
  return false;
}

static bool any_killed(void)
{
  for (int i = 0; i < the_world->ranks; i++)
    if (the_world->rank[i].killed) return true;
  return false;
}

/* Ranks that wait for one that was killed end with the job. */
static void end_job(void)
{
  int status;
  for (int i = 0; i < the_world->ranks; i++)
    if (the_world->rank[i].alive) the_world->rank[i].killed = true;
  kill_all();
  while (any_alive())
    reap(&status)->alive = false;
}

bool world_run(uint64_t seed, int ranks, const weather *sky, const fault *wrong,
               int (*body)(int rank))
{
  world *const w = the_world;
  *w = (world){.random = seed, .pure = mix(seed), .ranks = ranks, .used = w->used};
  w->weather = *sky;
  w->fault = *wrong;
  if (wrong->event == DIES) w->rank[wrong->rank].dies_at = wrong->at;
  mpi_begin();
  fflush(NULL);
  for (int i = 0; i < ranks; i++)
    start(i, body);
  while (any_alive()) {
    int status;
    const int next = choose();
    if (next < 0 && any_killed()) break;
    if (next < 0) {
      say_deadlock();
      break;
    }
    w->running = next;
    sem_post(&w->rank[next].turn);
    rank_state *const ended = reap(&status);
    if (any_killed() && WIFSIGNALED(status) && !ended->killed && !w->failure[0] &&
        WTERMSIG(status) == SIGKILL)
      ended->killed = true; /* it found that nobody will go on */
    if (!note_end(ended, status)) break;
  }
  end_job();
  if (!w->failure[0] && !any_killed()) {
    const char *const left = mpi_end();
    const char *const undone = left || w->rank[0].status ? left : disk_end();
    if (undone) snprintf(w->failure, sizeof w->failure, "%s", undone);
  }
  return w->failure[0] == '\0';
}

#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "emulator.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "../support/random.h"

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define WITH_ASAN
#endif
#elif defined __SANITIZE_ADDRESS__
#define WITH_ASAN
#endif

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* Stacks are no power of two apart: their ends would share a few places of the cache. */
enum { MAX_THREADS = 1024, STACK_BYTES = 128 * 1024 + 13 * 64, GUARD_BYTES = 64, MAX_AREAS = 16 };

/* A point to resume a stack at, for the compiler's built-in jumps: swapcontext reads the signal
 * mask by a system call each time, and with longjmp AddressSanitizer would lose its state of the
 * stack. */
typedef void *place[5];

typedef enum fiber_state {
  FIBER_READY,
  FIBER_AT_BARRIER,
  FIBER_AT_EXCHANGE,
  FIBER_DONE
} fiber_state;

/* A thread of the block; reused for the next block. */
typedef struct fiber {
  place place;
  bool begun;
  void *fake_stack; /* AddressSanitizer's */
  fiber_state state;
  emulator_site site; /* where it waits */
  uint64_t given[2];  /* for its warp, alternating: a fast lane is at most one exchange ahead */
  unsigned turn;
} fiber;

/* An array in shared memory; the first is the dynamic one. */
typedef struct area {
  const char *id;
  size_t offset;
  size_t size;
} area;

emulator_index threadIdx, blockIdx, blockDim, gridDim;
int (*emulator_watch)(const void *stream, bool waits);

/* The settings of the tests. */
static emulator_order order;
static uint64_t random_state;
static emulator_site ignored;
static emulator_site sites[EMULATOR_MAX_SITES];
static size_t site_count;
static bool used_shared;
static size_t shared_limit = EMULATOR_SHARED_BYTES;
static const char *counted_path;
static size_t path_count;

/* The launch. */
static fiber fibers[MAX_THREADS];
static ucontext_t begins[MAX_THREADS]; /* how fibers start */
static char *stacks;
static size_t stack_count;
static void (*thread_main)(const void *args);
static const void *thread_args;
static place host;
static void *host_fake_stack;
static const void *host_stack;
static size_t host_stack_size;
static unsigned round_threads[MAX_THREADS], round_count, round_at; /* who runs, in this order */
static char failure[200];

static _Alignas(64) unsigned char shared[2 * EMULATOR_SHARED_BYTES];
static unsigned char poison = 0xee;
static area areas[MAX_AREAS];
static size_t area_count;

/* ---- For tests ---- */

void emulator_set_order(emulator_order wanted, uint64_t seed)
{
  order = wanted;
  random_state = seed;
  poison = 0xee;
}

void emulator_set_shared(size_t bytes)
{
  assert(bytes <= EMULATOR_SHARED_BYTES);
  shared_limit = bytes;
}

size_t emulator_sites(emulator_site found[EMULATOR_MAX_SITES])
{
  memcpy(found, sites, sizeof sites);
  return site_count;
}

void emulator_clear_sites(void)
{
  site_count = 0;
  used_shared = false;
}

bool emulator_used_shared(void)
{
  return used_shared;
}

void emulator_ignore(emulator_site site)
{
  ignored = site;
}

void emulator_count_path(const char *name)
{
  counted_path = name;
  path_count = 0;
}

void emulator_take_path(const char *name)
{
  path_count += counted_path && strcmp(name, counted_path) == 0;
}

size_t emulator_path_count(void)
{
  return path_count;
}

const char *emulator_failure(void)
{
  return failure;
}

static bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static bool fail(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(failure, sizeof failure, format, arguments);
  va_end(arguments);
  return false;
}

static bool same_site(emulator_site a, emulator_site b)
{
  return a.line == b.line && a.file && b.file && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

static void note_site(emulator_site site)
{
  for (size_t i = 0; i < site_count; i++)
    if (same_site(sites[i], site)) return;
  if (site_count < EMULATOR_MAX_SITES) sites[site_count++] = site;
}

/* ---- Switching between the host and the fibers ---- */

static void leave_stack(void **fake_stack, const void *bottom, size_t size)
{
#ifdef WITH_ASAN
  __sanitizer_start_switch_fiber(fake_stack, bottom, size);
#else
  (void)fake_stack, (void)bottom, (void)size;
#endif
}

static void enter_stack(void *fake_stack, const void **from, size_t *from_size)
{
#ifdef WITH_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, from, from_size);
#else
  (void)fake_stack, (void)from, (void)from_size;
#endif
}

#define UNGUARDED __attribute__((noinline, no_sanitize("address")))

/* Not inlined, as the function that is resumed must not contain the jump. */
UNGUARDED static void jump(place to, const ucontext_t *begin)
{
  if (begin) (void)setcontext(begin);
  __builtin_longjmp(to, 1);
}

/* Resumes `to`, or starts it. Returns when `from` is resumed. */
UNGUARDED static void switch_stack(place from, place to, const ucontext_t *begin)
{
  if (__builtin_setjmp(from) == 0) jump(to, begin);
}

/* Leaves a stack for the next fiber of the round, after the last one for the host's: to pass
 * through the host each time would take twice as long. Returns when the stack is resumed. */
static void pass_on(place from, void **fake_stack)
{
  if (round_at == round_count) {
    leave_stack(fake_stack, host_stack, host_stack_size);
    switch_stack(from, host, NULL);
    return;
  }
  const unsigned thread = round_threads[round_at++];
  fiber *const f = &fibers[thread];
  const bool begins_now = !f->begun;
  threadIdx.x = thread;
  f->begun = true;
  leave_stack(fake_stack, stacks + (size_t)thread * STACK_BYTES, STACK_BYTES);
  switch_stack(from, f->place, begins_now ? &begins[thread] : NULL);
}

/* The host starts the first fiber of a round. */
static void enter_fiber(void *fake_stack)
{
  const bool from_host = round_at == 1;
  enter_stack(fake_stack, from_host ? &host_stack : NULL, from_host ? &host_stack_size : NULL);
}

static void suspend(fiber *f, fiber_state state)
{
  f->state = state;
  pass_on(f->place, &f->fake_stack);
  enter_fiber(f->fake_stack);
}

static void fiber_main(void)
{
  enter_fiber(NULL);
  for (;;) {
    thread_main(thread_args);
    suspend(&fibers[threadIdx.x], FIBER_DONE);
  }
}

/* Starts a fiber on the next block; one that was abandoned gets a new stack. */
static void start_fiber(unsigned thread)
{
  fiber *const f = &fibers[thread];
  if (!f->begun || f->state != FIBER_DONE) {
    ucontext_t *const begin = &begins[thread];
    (void)getcontext(begin);
    begin->uc_stack.ss_sp = stacks + (size_t)thread * STACK_BYTES;
    begin->uc_stack.ss_size = STACK_BYTES;
    begin->uc_link = NULL;
    makecontext(begin, fiber_main, 0);
    f->begun = false;
  }
  f->state = FIBER_READY;
  f->turn = 0;
}

/* ---- Waiting ---- */

void emulator_barrier(const char *file, int line)
{
  const emulator_site site = {file, line};
  fiber *const f = &fibers[threadIdx.x];
  if (same_site(site, ignored)) return;
  if (threadIdx.x == 0) note_site(site);
  f->site = site;
  suspend(f, FIBER_AT_BARRIER);
}

/* Passes a value to the other lanes and waits for theirs. Returns which of a fiber's `given` holds
 * them. */
static unsigned give(uint64_t value, const char *file, int line)
{
  fiber *const f = &fibers[threadIdx.x];
  const unsigned turn = f->turn++ % 2;
  f->given[turn] = value;
  f->site = (emulator_site){file, line};
  suspend(f, FIBER_AT_EXCHANGE);
  return turn;
}

uint64_t emulator_exchange(uint64_t value, unsigned lane, const char *file, int line)
{
  const unsigned partner = threadIdx.x / EMULATOR_WARP * EMULATOR_WARP + lane % EMULATOR_WARP;
  const unsigned turn = give(value, file, line);
  return fibers[partner < blockDim.x ? partner : threadIdx.x].given[turn];
}

uint32_t emulator_ballot(bool value, const char *file, int line)
{
  const unsigned begin = threadIdx.x / EMULATOR_WARP * EMULATOR_WARP;
  const unsigned turn = give(value, file, line);
  uint32_t bits = 0;
  for (unsigned lane = 0; lane < EMULATOR_WARP && begin + lane < blockDim.x; lane++)
    bits |= (uint32_t)fibers[begin + lane].given[turn] << lane;
  return bits;
}

uint32_t emulator_match(uint64_t value, const char *file, int line)
{
  const unsigned begin = threadIdx.x / EMULATOR_WARP * EMULATOR_WARP;
  const unsigned turn = give(value, file, line);
  uint32_t bits = 0;
  for (unsigned lane = 0; lane < EMULATOR_WARP && begin + lane < blockDim.x; lane++)
    bits |= (uint32_t)(fibers[begin + lane].given[turn] == value) << lane;
  return bits;
}

/* True if threads [begin, end) are all in `state`, and wait at the same place if they wait. */
static bool all_are(unsigned begin, unsigned end, fiber_state state)
{
  for (unsigned t = begin; t < end; t++)
    if (fibers[t].state != state ||
        (state != FIBER_DONE && !same_site(fibers[t].site, fibers[begin].site)))
      return false;
  return true;
}

static void release(unsigned begin, unsigned end)
{
  for (unsigned t = begin; t < end; t++)
    fibers[t].state = FIBER_READY;
}

static bool release_warps(void)
{
  bool any = false;
  for (unsigned begin = 0; begin < blockDim.x; begin += EMULATOR_WARP) {
    const unsigned end = begin + EMULATOR_WARP < blockDim.x ? begin + EMULATOR_WARP : blockDim.x;
    if (!all_are(begin, end, FIBER_AT_EXCHANGE)) continue;
    release(begin, end);
    any = true;
  }
  return any;
}

/* ---- A block ---- */

static void set_access(size_t offset, size_t size, bool allowed)
{
#ifdef WITH_ASAN
  if (allowed)
    ASAN_UNPOISON_MEMORY_REGION(shared + offset, size);
  else
    ASAN_POISON_MEMORY_REGION(shared + offset, size);
#else
  (void)offset, (void)size, (void)allowed;
#endif
}

/* Adds an array. Arrays begin at multiples of 64, with guard bytes behind each. */
static void add_area(const char *id, size_t size)
{
  const area *const last = area_count ? &areas[area_count - 1] : NULL;
  const size_t offset = last ? (last->offset + last->size + 2 * GUARD_BYTES) / 64 * 64 : 0;
  assert(area_count < MAX_AREAS && offset + size + GUARD_BYTES <= sizeof shared);
  set_access(offset, size + GUARD_BYTES, true);
  memset(shared + offset, poison, size + GUARD_BYTES);
  used_shared = used_shared || size > 0;
  set_access(offset + size, GUARD_BYTES, false);
  areas[area_count++] = (area){id, offset, size};
}

static bool check_areas(void)
{
  bool good = true;
  size_t used = 0;
  for (size_t i = 0; i < area_count; i++) {
    used += areas[i].size;
    const size_t end = areas[i].offset + areas[i].size;
    set_access(end, GUARD_BYTES, true);
    for (size_t k = 0; k < GUARD_BYTES; k++)
      good = good && shared[end + k] == poison;
  }
  if (!good) return fail("a thread wrote behind the end of shared memory");
  return used <= shared_limit ||
         fail("a block used %zu bytes of shared memory, and may use %zu", used, shared_limit);
}

void *emulator_shared(void)
{
  return shared;
}

void *emulator_shared_array(const char *id, size_t size)
{
  for (size_t i = 1; i < area_count; i++)
    if (areas[i].id == id) return shared + areas[i].offset;
  add_area(id, size);
  return shared + areas[area_count - 1].offset;
}

/* Chooses who runs in this round: the ready threads, in the chosen order. A shuffled order changes
 * in every round; in it random warps pause, so that others run ahead as far as barriers allow.
 * False: no thread is ready. */
static bool begin_round(void)
{
  const uint64_t left_out = order == EMULATOR_SHUFFLED ? next_random(&random_state) : 0;
  bool any = false;
  round_at = round_count = 0;
  for (unsigned i = 0; i < blockDim.x; i++) {
    const unsigned thread = order == EMULATOR_REVERSE ? blockDim.x - 1 - i : i;
    if (fibers[thread].state != FIBER_READY) continue;
    any = true;
    if (!(left_out >> thread / EMULATOR_WARP & 1)) round_threads[round_count++] = thread;
  }
  for (unsigned i = round_count; order == EMULATOR_SHUFFLED && i > 1; i--) {
    const unsigned other = (unsigned)random_below(&random_state, i), last = round_threads[i - 1];
    round_threads[i - 1] = round_threads[other];
    round_threads[other] = last;
  }
  return any;
}

/* Runs the ready threads. False: no thread was ready. */
static bool run_ready(void)
{
  const bool any = begin_round();
  if (round_count > 0) {
    pass_on(host, &host_fake_stack);
    enter_stack(host_fake_stack, NULL, NULL);
  }
  return any;
}

static bool report_divergence(void)
{
  for (unsigned t = 0; t < blockDim.x; t++)
    if (fibers[t].state != FIBER_DONE)
      return fail("thread %u waits at %s:%d, which not all others reach", t, fibers[t].site.file,
                  fibers[t].site.line);
  return false;
}

static bool run_block(uint64_t shared_bytes)
{
  if (random_state)
    poison = random_below(&random_state, 2) ? (unsigned char)next_random(&random_state) : 0;
  area_count = 0;
  add_area(NULL, (size_t)shared_bytes);
  for (unsigned t = 0; t < blockDim.x; t++)
    start_fiber(t);
  for (;;) {
    const bool any = run_ready();
    if (release_warps() || any) continue;
    if (all_are(0, blockDim.x, FIBER_DONE)) return check_areas();
    if (!all_are(0, blockDim.x, FIBER_AT_BARRIER)) return report_divergence();
    release(0, blockDim.x);
  }
}

/* ---- A launch ---- */

/* Not by malloc, so that the sanitizers of addresses and leaks look at no stack that nobody uses.
 */
static bool make_stacks(size_t count)
{
  if (count <= stack_count) return true;
  if (stacks) (void)munmap(stacks, stack_count * STACK_BYTES);
  memset(fibers, 0, sizeof fibers);
  stacks = mmap(NULL, count * STACK_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) stacks = NULL;
  stack_count = stacks ? count : 0;
  return stacks != NULL;
}

/* Clears the sanitizer's marks that abandoned fibers have left. */
static void clean_stacks(void)
{
#ifdef WITH_ASAN
  ASAN_UNPOISON_MEMORY_REGION(stacks, stack_count * STACK_BYTES);
#endif
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
  while (b) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Block i is i * stride + start, modulo the grid. */
typedef struct block_order {
  uint64_t start;
  uint64_t stride;
} block_order;

static block_order order_blocks(uint64_t grid)
{
  block_order blocks = {0, 1};
  if (order == EMULATOR_REVERSE) blocks = (block_order){grid - 1, grid - 1};
  if (order != EMULATOR_SHUFFLED) return blocks;
  blocks.start = random_below(&random_state, grid);
  do
    blocks.stride = 1 + random_below(&random_state, grid);
  while (common_divisor(blocks.stride, grid) != 1);
  return blocks;
}

int emulator_begin(const void *stream, bool waits)
{
  return emulator_watch ? emulator_watch(stream, waits) : EMULATOR_OK;
}

int emulator_copy(void *to, const void *from, size_t size)
{
  if (from)
    memcpy(to, from, size);
  else
    memset(to, 0, size);
  return EMULATOR_OK;
}

int emulator_launch(const emulator_kernel *kernel, uint64_t grid, uint32_t block,
                    uint64_t shared_bytes, const void *args)
{
  if (grid == 0 || grid > INT32_MAX || block == 0 || block > MAX_THREADS ||
      block > kernel->max_threads || shared_bytes > shared_limit) {
    (void)fail("%llu blocks of %u threads with %llu bytes of shared memory",
               (unsigned long long)grid, block, (unsigned long long)shared_bytes);
    return EMULATOR_BAD_LAUNCH;
  }
  if (!make_stacks(block)) return EMULATOR_OUT_OF_MEMORY;
  thread_main = kernel->thread;
  thread_args = args;
  gridDim = (emulator_index){(unsigned)grid, 1, 1};
  blockDim = (emulator_index){block, 1, 1};
  const block_order blocks = order_blocks(grid);
  for (uint64_t i = 0; i < grid; i++) {
    blockIdx.x = (unsigned)((blocks.start + i * blocks.stride) % grid);
    if (run_block(shared_bytes)) continue;
    clean_stacks();
    return EMULATOR_LAUNCH_FAILED;
  }
  return EMULATOR_OK;
}

#define _GNU_SOURCE /* REG_RBP */
#include "checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define NEED(condition) ((condition) ? (void)0 : give_up(#condition, __LINE__))

enum {
  STACK_BYTES = 64 * 1024,
  OBJECTS = 128,
  VALUES = 2048,
  VALUES_OF_ONE = 120,
  CELLS = 1 << 14, /* a power of two, as SLOTS */
  CELL_BYTES = 4,
  SLOTS = 1 << 9,
  LOCKS = 16,
  MOST_STEPS = 4000,
  SITES = 512,
  UNUSED_BYTES = 1024,
  LOOP_LOADS = 3, /* a loop that polls has no more */
  NOBODY = 255
};

/* ---- Values of atomic objects, and views ---- */

/* The oldest value of each object that may be read, as a place in the modification order; and which
 * epochs of each thread happen before. A thread's epoch ends with a step that follows a plain
 * access. */
typedef struct view {
  uint8_t seen[OBJECTS];
  uint16_t clock[CHECKER_THREADS];
} view;

typedef struct value {
  uint64_t bits;
  bool follows; /* stored by the step that has read the value before: nothing comes between */
  view view;
} value;

typedef struct object {
  const void *at;
  unsigned slot;
  unsigned size;
  unsigned count;
  bool weak; /* some step on it is not seq_cst: so a thread may read an older value than the last */
  uint16_t newest; /* the value that was stored last; and all in modification order */
  uint16_t order[VALUES_OF_ONE];
} object;

/* ---- Threads ---- */

typedef enum kind {
  KIND_LOAD,
  KIND_STORE,
  KIND_ADD, /* from here on: load and store */
  KIND_SUB,
  KIND_AND,
  KIND_OR,
  KIND_XOR,
  KIND_NAND,
  KIND_MIN,
  KIND_MAX,
  KIND_EXCHANGE,
  KIND_COMPARE,
  KIND_FENCE,
  KIND_LOCK,
  KIND_TRY,
  KIND_UNLOCK,
  KIND_WAIT,
  KIND_WAITING, /* the second half of KIND_WAIT */
  KIND_SIGNAL,
  KIND_BROADCAST,
  KIND_JOIN,
  KIND_MEET,
  KIND_MET, /* the second half of KIND_MEET */
  KIND_PAUSE,
  KIND_AWAIT,
  KIND_END
} kind;

static const char *const kind_names[] = {
    "load",   "store",     "add",     "sub",   "and",  "or",    "xor",    "nand", "min",
    "max",    "exchange",  "compare", "fence", "lock", "try",   "unlock", "wait", "wakes",
    "signal", "broadcast", "join",    "meet",  "met",  "pause", "await",  "end"};

/* The next step of a thread. */
typedef struct step {
  kind kind;
  const void *place; /* in the code under test */
  const void *at;    /* the object, mutex or condition */
  const void *mutex; /* of KIND_WAIT */
  unsigned size;
  int order, if_unequal; /* memory orders */
  uint64_t operand, wanted;
  bool split, omit;
} step;

typedef void *mark[5]; /* where to resume a stack, for the compiler's jumps */

typedef enum haste {
  HASTE_NONE,
  HASTE_ROUND, /* to the next pause */
  HASTE_OUT    /* until the time is asked for */
} haste;

typedef struct thread {
  mark mark;
  bool begun;
  void (*run)(void *argument);
  void *argument;
  step next;
  uint64_t result;
  bool changed; /* it has accessed plain memory in this epoch */
  view now, acquired,
      released; /* what the next acquire fence adds; what the last release fence had */
  bool signalled;
  unsigned spared_unlocks; /* of locks that are left out */
  haste haste;
  bool polls;
  uint16_t loaded[LOOP_LOADS + 1]; /* numbers of values, since the last pause */
  uint8_t loaded_from[LOOP_LOADS + 1];
  unsigned loads;
} thread;

typedef struct lock {
  const void *at;
  uint8_t owner;
  view view;
} lock;

/* ---- The state of a run ---- */

static struct {
  thread threads[CHECKER_THREADS];
  object objects[OBJECTS];
  value values[VALUES];
  lock locks[LOCKS];
} all;

/* How much of that is in use, and the rest. */
static struct {
  unsigned thread_count, object_count, value_count, lock_count;
  uint8_t strict[OBJECTS];        /* the last seq_cst store */
  view fences;                    /* what seq_cst fences have seen */
  unsigned spurious, preemptions; /* that are left */
  unsigned last;                  /* the thread that has done the last step */
  unsigned cell_count, kept_count;
} now;

static unsigned self; /* the thread that runs */
static bool running;
static unsigned quiet; /* assertions that are being evaluated: one may be in another */
static mark host;
static char *stacks;
static ucontext_t begins[CHECKER_THREADS];
static char failure[200];
static mutant mutation;

/* Objects by address. */
static struct {
  const void *at;
  unsigned run, object;
} slots[SLOTS];

/* The last plain accesses of each cell. */
static struct cell {
  uintptr_t number;
  unsigned run;
  uint8_t writer;
  bool kept;
  uint16_t written, read[CHECKER_THREADS];
} cells[CELLS];
static uint16_t cell_list[CELLS];

/* Plain memory as it was before the run. */
static struct {
  uintptr_t number;
  unsigned char bytes[CELL_BYTES];
} kept[CELLS];

/* The search. */
static struct {
  uint16_t taken, of;  /* ways */
  unsigned char *copy; /* of the state, if ways are left */
  size_t room;
} path[MOST_STEPS];
static unsigned depth, chosen;
static unsigned run_number;
static uint64_t *visited;
static size_t visited_room, visited_count;

static site sites[SITES];
static size_t site_count;

static void (*shown)(unsigned thread, const void *place, const char *text);

/* Objects that are weak, and whether there are fences, is found out on the way; then the search
 * begins again. */
static const void *weak[OBJECTS];
static unsigned weak_count;
static bool fenced, again;

/* The checker has too little room, or an error. */
__attribute__((noreturn, cold)) static void give_up(const char *what, int line)
{
  (void)fprintf(stderr, "checker.c:%d: %s\n", line, what);
  _exit(2);
}

static uint64_t mix(uint64_t hash, uint64_t more)
{
  hash = (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15);
  hash ^= hash >> 29;
  hash *= UINT64_C(0xbf58476d1ce4e5b9);
  return hash ^ hash >> 32;
}

/* ---- Fibers ---- */

__attribute__((noinline)) static void jump(mark to, const ucontext_t *begin)
{
  if (begin) (void)setcontext(begin);
  __builtin_longjmp(to, 1);
}

__attribute__((noinline)) static void switch_to(mark from, mark to, const ucontext_t *begin)
{
  if (__builtin_setjmp(from) == 0) jump(to, begin);
}

/* The value of a volatile store that the running thread has just done. */
static const void *stored_at;
static unsigned stored_size;
static uint16_t stored;

static uint64_t read_memory(const void *at, unsigned size)
{
  uint64_t bits = 0;
  memcpy(&bits, at, size); /* the lower bytes come first */
  return bits;
}

static void take_stored(void)
{
  if (stored_at) all.values[stored].bits = read_memory(stored_at, stored_size);
  stored_at = NULL;
}

static const void *hasty_at; /* what the running thread has just loaded in haste */

static void to_host(void)
{
  take_stored();
  hasty_at = NULL;
  switch_to(all.threads[self].mark, host, NULL);
}

static void end_epoch(thread *t)
{
  if (t->changed) t->now.clock[t - all.threads]++;
  t->changed = false;
}

static void fiber(void)
{
  thread *const t = &all.threads[self];
  t->run(t->argument);
  end_epoch(t);
  t->next = (step){.kind = KIND_END};
  to_host();
}

/* Clears the unused part of a stack, so that equal states look equal. */
static void clear_below(void *stack)
{
  memset((char *)stack - UNUSED_BYTES, 0, UNUSED_BYTES);
}

/* Runs a thread up to its next step. */
static void resume(unsigned number)
{
  static const int registers[] = {REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15};
  thread *const t = &all.threads[number];
  const ucontext_t *begin = NULL;
  self = number;
  if (!t->begun) {
    ucontext_t *const first = &begins[number];
    (void)getcontext(first);
    first->uc_stack.ss_sp = stacks + (size_t)number * STACK_BYTES;
    first->uc_stack.ss_size = STACK_BYTES;
    first->uc_link = NULL;
    makecontext(first, fiber, 0);
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
      first->uc_mcontext.gregs[registers[i]] = 0; /* which the fiber would save */
    t->begun = true;
    begin = first;
  }
  switch_to(host, t->mark, begin);
  clear_below(t->mark[2]);
}

static void fail(const char *what, const char *detail)
{
  if (!failure[0]) (void)snprintf(failure, sizeof failure, "%s%s", what, detail);
}

/* By a thread, which does not go on. */
__attribute__((noreturn)) static void fail_here(const char *what, const char *detail)
{
  fail(what, detail);
  for (;;)
    to_host();
}

void checker_quiet(bool yes)
{
  quiet = yes ? quiet + 1 : quiet - 1;
}

void checker_fail(const char *what, const char *file, int line)
{
  char text[160];
  const char *const slash = strrchr(file, '/');
  (void)snprintf(text, sizeof text, "%s:%d: %s", slash ? slash + 1 : file, line, what);
  if (!running) {
    (void)fprintf(stderr, "%s\n", text);
    abort();
  }
  quiet = 0;
  fail_here("not true: ", text);
}

/* ---- Memory ---- */

static void join_views(view *to, const view *from)
{
  for (unsigned i = 0; i < now.object_count; i++)
    if (to->seen[i] < from->seen[i]) to->seen[i] = from->seen[i];
  for (unsigned i = 0; i < CHECKER_THREADS; i++)
    if (to->clock[i] < from->clock[i]) to->clock[i] = from->clock[i];
}

static object *find_object(const void *at)
{
  for (unsigned i = (unsigned)((uintptr_t)at * 31 / 2) % SLOTS;; i = (i + 1) % SLOTS) {
    if (slots[i].run != run_number) return NULL;
    if (slots[i].at == at) return &all.objects[slots[i].object];
  }
}

static bool is_weak(const void *at)
{
  for (unsigned i = 0; i < weak_count; i++)
    if (weak[i] == at) return true;
  return false;
}

static object *object_at(const void *at, unsigned size)
{
  object *o = find_object(at);
  if (!o) {
    unsigned i = (unsigned)((uintptr_t)at * 31 / 2) % SLOTS;
    while (slots[i].run == run_number)
      i = (i + 1) % SLOTS;
    NEED(now.object_count < OBJECTS);
    slots[i].at = at;
    slots[i].run = run_number;
    slots[i].object = now.object_count;
    o = &all.objects[now.object_count++];
    o->at = at;
    o->slot = i;
    o->size = size;
    o->count = 0;
    o->weak = is_weak(at);
  }
  NEED(o->size == size);
  if (o->count == 0) {
    NEED(now.value_count < VALUES);
    value *const first = &all.values[now.value_count];
    memset(first, 0, sizeof *first);
    first->bits = read_memory(at, size);
    o->order[o->count++] = (uint16_t)now.value_count++;
  }
  return o;
}

static value *value_of(const object *o, unsigned place)
{
  return &all.values[o->order[place]];
}

static unsigned index_of(const object *o)
{
  return (unsigned)(o - all.objects);
}

static bool is_acquire(int order)
{
  return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
         order == __ATOMIC_SEQ_CST;
}

static bool is_release(int order)
{
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* The place of the oldest value that a step may read, or store behind. */
static unsigned oldest(const thread *t, const object *o, int order)
{
  const unsigned i = index_of(o), seen = t->now.seen[i], strict = now.strict[i];
  return order == __ATOMIC_SEQ_CST && strict > seen ? strict : seen;
}

static bool is_free(const object *o, unsigned place)
{
  return place == o->count || !value_of(o, place)->follows;
}

/* Shifts what views say of an object, as a value has come in at `place`. */
static void shift_views(const object *o, unsigned place)
{
  const unsigned i = index_of(o);
#define SHIFT(seen_at) ((seen_at) = (uint8_t)((seen_at) + ((seen_at) >= place)))
  for (unsigned t = 0; t < now.thread_count; t++) {
    SHIFT(all.threads[t].now.seen[i]);
    SHIFT(all.threads[t].acquired.seen[i]);
    SHIFT(all.threads[t].released.seen[i]);
  }
  for (unsigned v = 0; v < now.value_count; v++)
    SHIFT(all.values[v].view.seen[i]);
  for (unsigned l = 0; l < now.lock_count; l++)
    SHIFT(all.locks[l].view.seen[i]);
  SHIFT(now.fences.seen[i]);
  SHIFT(now.strict[i]);
#undef SHIFT
}

static void put(thread *t, object *o, unsigned place, uint64_t bits, int order,
                const value *followed)
{
  const unsigned i = index_of(o);
  NEED(now.value_count < VALUES);
  if (o->count == VALUES_OF_ONE) {
    fail("does not end", "");
    return;
  }
  if (place < o->count) shift_views(o, place);
  value *const made = &all.values[now.value_count];
  memmove(o->order + place + 1, o->order + place, (o->count - place) * sizeof *o->order);
  o->newest = (uint16_t)now.value_count;
  o->order[place] = (uint16_t)now.value_count++;
  o->count++;
  made->bits = bits;
  made->follows = followed != NULL;
  t->now.seen[i] = (uint8_t)place;
  made->view = is_release(order) ? t->now : t->released;
  made->view.seen[i] = (uint8_t)place;
  if (followed) join_views(&made->view, &followed->view); /* as it continues a release sequence */
  if (order == __ATOMIC_SEQ_CST && now.strict[i] < place) now.strict[i] = (uint8_t)place;
}

static value *get(thread *t, object *o, unsigned place, int order)
{
  value *const v = value_of(o, place);
  t->now.seen[index_of(o)] = (uint8_t)place;
  join_views(&t->acquired, &v->view);
  if (is_acquire(order)) join_views(&t->now, &v->view);
  return v;
}

static uint64_t masked(uint64_t bits, unsigned size)
{
  return size == 8 ? bits : bits & ((UINT64_C(1) << 8 * size) - 1);
}

static uint64_t apply(const step *s, uint64_t old)
{
  switch (s->kind) {
  case KIND_ADD:
    return masked(old + s->operand, s->size);
  case KIND_SUB:
    return masked(old - s->operand, s->size);
  case KIND_AND:
    return old & s->operand;
  case KIND_OR:
    return old | s->operand;
  case KIND_XOR:
    return old ^ s->operand;
  case KIND_NAND:
    return masked(~(old & s->operand), s->size);
  case KIND_MIN:
    return old < s->operand ? old : s->operand;
  case KIND_MAX:
    return old > s->operand ? old : s->operand;
  default:
    return s->operand;
  }
}

/* ---- Data races ---- */

static struct cell *cell_at(uintptr_t number)
{
  uintptr_t i = number * 31 % CELLS;
  while (cells[i].run == run_number && cells[i].number != number)
    i = (i + 1) % CELLS;
  if (cells[i].run != run_number) {
    memset(&cells[i], 0, sizeof cells[i]);
    cells[i].number = number;
    cells[i].run = run_number;
    cells[i].writer = NOBODY;
    cell_list[now.cell_count++] = (uint16_t)i;
  }
  return &cells[i];
}

static bool is_stack(uintptr_t address)
{
  return address - (uintptr_t)stacks < (uintptr_t)CHECKER_THREADS * STACK_BYTES;
}

static void keep_once(uintptr_t number)
{
  struct cell *const c = cell_at(number);
  if (c->kept || is_stack(number * CELL_BYTES)) return;
  c->kept = true;
  NEED(now.kept_count < CELLS);
  kept[now.kept_count].number = number;
  memcpy(kept[now.kept_count++].bytes, (const void *)(number * CELL_BYTES), CELL_BYTES);
}

static void restore_memory(unsigned from)
{
  while (now.kept_count > from) {
    now.kept_count--;
    memcpy((void *)(kept[now.kept_count].number * CELL_BYTES), kept[now.kept_count].bytes,
           CELL_BYTES);
  }
}

/* Of an atomic object. */
static void write_memory(void *at, unsigned size, uint64_t bits)
{
  const uintptr_t first = (uintptr_t)at / CELL_BYTES, end = ((uintptr_t)at + size - 1) / CELL_BYTES;
  for (uintptr_t n = first; n <= end; n++)
    keep_once(n);
  memcpy(at, &bits, size);
}

/* True if all earlier plain accesses to the memory that conflict happen before. */
static bool is_ordered(const thread *t, const void *at, size_t size, bool writes)
{
  const uintptr_t first = (uintptr_t)at / CELL_BYTES, end = ((uintptr_t)at + size - 1) / CELL_BYTES;
  const unsigned own = (unsigned)(t - all.threads);
  for (uintptr_t n = first; n <= end; n++) {
    const struct cell *const c = cell_at(n);
    if (c->writer != NOBODY && c->writer != own && c->written > t->now.clock[c->writer])
      return false;
    for (unsigned i = 0; writes && i < CHECKER_THREADS; i++)
      if (i != own && c->read[i] > t->now.clock[i]) return false;
  }
  return true;
}

/* An atomic object becomes plain memory, until its next atomic access. */
static void make_plain(const thread *t, object *o)
{
  const unsigned n = index_of(o);
  if (t->now.seen[n] + 1u != o->count) fail_here("data race", "");
  write_memory((void *)(uintptr_t)o->at, o->size, value_of(o, o->count - 1)->bits);
  o->count = 0;
  for (unsigned i = 0; i < now.thread_count; i++)
    all.threads[i].now.seen[n] = all.threads[i].acquired.seen[n] = all.threads[i].released.seen[n] =
        0;
  for (unsigned i = 0; i < now.value_count; i++)
    all.values[i].view.seen[n] = 0;
  for (unsigned i = 0; i < now.lock_count; i++)
    all.locks[i].view.seen[n] = 0;
  now.fences.seen[n] = now.strict[n] = 0;
}

/* A plain access. */
static void plain(const void *at, size_t size, bool writes)
{
  if (!running || quiet) return;
  thread *const t = &all.threads[self];
  const uintptr_t first = (uintptr_t)at / CELL_BYTES, end = ((uintptr_t)at + size - 1) / CELL_BYTES;
  t->changed = true;
  if (!is_ordered(t, at, size, writes)) fail_here("data race", "");
  for (uintptr_t n = first; n <= end; n++) {
    struct cell *const c = cell_at(n);
    if (writes) keep_once(n);
    if (!writes) c->read[self] = (uint16_t)(t->now.clock[self] + 1);
    if (writes) {
      memset(c->read, 0, sizeof c->read); /* they happen before */
      c->writer = (uint8_t)self;
      c->written = (uint16_t)(t->now.clock[self] + 1);
    }
  }
  for (size_t i = 0; i < size; i++) {
    object *const o = find_object((const char *)at + i);
    if (o && o->count > 0) make_plain(t, o);
  }
}

/* ---- What steps are possible, and what they do ---- */

static lock *lock_at(const void *at)
{
  for (unsigned i = 0; i < now.lock_count; i++)
    if (all.locks[i].at == at) return &all.locks[i];
  NEED(now.lock_count < LOCKS);
  lock *const made = &all.locks[now.lock_count++];
  memset(made, 0, sizeof *made);
  made->at = at;
  made->owner = NOBODY;
  return made;
}

static bool is_waiting(const thread *t, const void *condition)
{
  return t->next.kind == KIND_WAITING && t->next.at == condition && !t->signalled;
}

/* The place of a value of the i-th load since the last pause. */
static unsigned loaded_place(const thread *t, unsigned i)
{
  const object *const o = &all.objects[t->loaded_from[i]];
  unsigned place = 0;
  while (o->order[place] != t->loaded[i])
    place++;
  return place;
}

/* The loads since the last pause after which there are newer values. Writes which one is the `n`th
 * to *which. */
static unsigned count_newer(const thread *t, unsigned n, unsigned *which)
{
  unsigned count = 0;
  for (unsigned i = t->next.kind == KIND_AWAIT && t->loads ? t->loads - 1 : 0; i < t->loads; i++) {
    bool later = false;
    for (unsigned k = i + 1; k < t->loads; k++)
      later = later || t->loaded_from[k] == t->loaded_from[i];
    if (later || loaded_place(t, i) + 1 == all.objects[t->loaded_from[i]].count) continue;
    if (count++ == n) *which = i;
  }
  return count;
}

static bool exchanges(kind k)
{
  return k >= KIND_ADD && k <= KIND_COMPARE;
}

/* The places that a step on an object may read, or, if it only stores, take. Writes the `n`th to
 * *place. */
static unsigned count_places(const thread *t, unsigned n, unsigned *place)
{
  const step *const s = &t->next;
  const object *const o = object_at(s->at, s->size);
  const unsigned low = oldest(t, o, s->order);
  unsigned count = 0;
  for (unsigned i = o->count; i-- > low;) {
    const bool possible = s->kind == KIND_LOAD || (exchanges(s->kind) && s->split) ||
                          is_free(o, i + 1) ||
                          (s->kind == KIND_COMPARE && value_of(o, i)->bits != s->wanted);
    if (possible && count++ == n) *place = s->kind == KIND_STORE ? i + 1 : i;
  }
  return count;
}

/* In how many ways the next step of a thread is possible. 0: it waits. */
static unsigned count_ways(const thread *t)
{
  const step *const s = &t->next;
  unsigned any = 0, waiting = 0;
  switch (s->kind) {
  case KIND_LOCK:
    return lock_at(s->at)->owner == NOBODY;
  case KIND_WAITING:
    return (s->omit || lock_at(s->mutex)->owner == NOBODY) && (t->signalled || now.spurious > 0);
  case KIND_SIGNAL:
    for (unsigned i = 0; i < now.thread_count; i++)
      waiting += is_waiting(&all.threads[i], s->at);
    return waiting > 0 ? waiting : 1;
  case KIND_JOIN:
    return s->omit || all.threads[s->operand].next.kind == KIND_END;
  case KIND_MET:
    return t->signalled;
  case KIND_PAUSE:
    return 1 + count_newer(t, 0, &any);
  case KIND_AWAIT:
    return count_newer(t, 0, &any);
  case KIND_END:
    return 0;
  case KIND_FENCE:
  case KIND_TRY:
  case KIND_UNLOCK:
  case KIND_WAIT:
  case KIND_MEET:
  case KIND_BROADCAST:
    return 1;
  default:
    return count_places(t, 0, &any);
  }
}

static void show_step(const thread *t, const char *detail, uint64_t number)
{
  char text[160];
  if (!shown) return;
  const step *const s = &t->next;
  const object *const o = s->kind <= KIND_COMPARE ? find_object(s->at) : NULL;
  (void)snprintf(text, sizeof text, "%s %s %llu (object %d, order %d)", kind_names[s->kind], detail,
                 (unsigned long long)number, o ? (int)index_of(o) : -1, s->order);
  shown((unsigned)(t - all.threads), s->place, text);
}

static void note_load(thread *t, const object *o, unsigned place)
{
  if (t->loads > LOOP_LOADS) {
    memmove(t->loaded, t->loaded + 1, LOOP_LOADS * sizeof *t->loaded);
    memmove(t->loaded_from, t->loaded_from + 1, LOOP_LOADS * sizeof *t->loaded_from);
    t->polls = false;
    t->loads--;
  }
  t->loaded[t->loads] = o->order[place];
  t->loaded_from[t->loads++] = (uint8_t)index_of(o);
}

/* A step on an object. False: its second half is still to do. */
static bool access_object(thread *t, unsigned way)
{
  step *const s = &t->next;
  object *const o = object_at(s->at, s->size);
  unsigned at = 0;
  (void)count_places(t, way, &at);
  if (!is_ordered(t, s->at, s->size, s->kind != KIND_LOAD)) fail("data race", "");
  if (s->kind == KIND_STORE) {
    show_step(t, "of", s->operand);
    put(t, o, at, s->operand, s->order, NULL);
    return true;
  }
  value *const v = value_of(o, at);
  const uint64_t old = v->bits;
  const bool stores = s->kind != KIND_LOAD && !(s->kind == KIND_COMPARE && old != s->wanted);
  (void)get(t, o, at, stores || s->kind == KIND_LOAD ? s->order : s->if_unequal);
  if (s->kind != KIND_LOAD || t->haste == HASTE_NONE) show_step(t, "finds", old);
  t->result = old;
  if (s->kind == KIND_LOAD) note_load(t, o, at);
  if (!stores) return true;
  const uint64_t made = apply(s, old);
  if (s->split) {
    s->kind = KIND_STORE;
    s->operand = made;
    return false;
  }
  put(t, o, at + 1, made, s->order, v);
  return true;
}

static void fence(thread *t, int order)
{
  if (is_acquire(order)) join_views(&t->now, &t->acquired);
  if (order == __ATOMIC_SEQ_CST) {
    join_views(&t->now, &now.fences);
    now.fences = t->now;
  }
  if (is_release(order)) t->released = t->now;
}

static void take_lock(thread *t, lock *l)
{
  l->owner = (uint8_t)(t - all.threads);
  join_views(&t->now, &l->view);
}

static void free_lock(thread *t, lock *l)
{
  if (l->owner != (uint8_t)(t - all.threads))
    fail("a thread unlocks a mutex that it has not locked", "");
  l->owner = NOBODY;
  l->view = t->now;
}

static void signal_one(const void *condition, unsigned way)
{
  for (unsigned i = 0; i < now.thread_count; i++)
    if (is_waiting(&all.threads[i], condition) && way-- == 0) all.threads[i].signalled = true;
}

/* At a barrier, which has a lock of its own for the view. The last thread lets all go on. */
static void arrive(const thread *last, lock *l)
{
  unsigned here = 0;
  join_views(&l->view, &last->now);
  for (unsigned i = 0; i < now.thread_count; i++) {
    const thread *const t = &all.threads[i];
    here += t->next.kind == KIND_MET && t->next.at == l->at && !t->signalled;
  }
  for (unsigned i = 0; i < now.thread_count && here == last->next.operand; i++)
    if (all.threads[i].next.kind == KIND_MET && all.threads[i].next.at == l->at)
      all.threads[i].signalled = true;
}

/* Does the next step of a thread. False: its second half is still to do. */
static bool take_step(thread *t, unsigned way)
{
  step *const s = &t->next;
  unsigned which = 0;
  end_epoch(t);
  if (s->kind != KIND_LOAD && s->kind != KIND_PAUSE) t->polls = false;
  if (s->kind > KIND_COMPARE) show_step(t, "way", way);
  switch (s->kind) {
  case KIND_FENCE:
    fence(t, s->order);
    return true;
  case KIND_LOCK:
    take_lock(t, lock_at(s->at));
    return true;
  case KIND_TRY:
    t->result = lock_at(s->at)->owner == NOBODY;
    if (t->result) take_lock(t, lock_at(s->at));
    return true;
  case KIND_UNLOCK:
    free_lock(t, lock_at(s->at));
    return true;
  case KIND_WAIT:
    if (!s->omit) free_lock(t, lock_at(s->mutex));
    s->kind = KIND_WAITING;
    t->signalled = false;
    return false;
  case KIND_WAITING:
    if (!t->signalled) now.spurious--;
    t->signalled = false;
    if (!s->omit) take_lock(t, lock_at(s->mutex));
    return true;
  case KIND_SIGNAL:
    signal_one(s->at, way);
    return true;
  case KIND_BROADCAST:
    for (unsigned i = 0; i < now.thread_count; i++)
      signal_one(s->at, 0);
    return true;
  case KIND_JOIN:
    if (!s->omit) join_views(&t->now, &all.threads[s->operand].now);
    return true;
  case KIND_MEET:
    s->kind = KIND_MET;
    t->signalled = false;
    arrive(t, lock_at(s->at));
    return false;
  case KIND_MET:
    t->signalled = false;
    join_views(&t->now, &lock_at(s->at)->view);
    return true;
  case KIND_PAUSE:
  case KIND_AWAIT:
    if (s->kind == KIND_PAUSE && way == 0) {
      t->haste = HASTE_OUT;
    } else {
      (void)count_newer(t, way - (s->kind == KIND_PAUSE), &which);
      const unsigned from = t->loaded_from[which];
      const unsigned place = loaded_place(t, which) + 1;
      if (t->now.seen[from] < place) t->now.seen[from] = (uint8_t)place;
    }
    t->loads = 0;
    return true;
  default:
    return access_object(t, way);
  }
}

/* ---- What the code under test calls ---- */

/* An access before or after the search, or one that is no step. */
static uint64_t access_now(const step *s)
{
  const object *const o = running ? find_object(s->at) : NULL;
  const uint64_t old =
      o && o->count ? value_of(o, o->count - 1)->bits : read_memory(s->at, s->size);
  if (s->kind == KIND_LOAD || (s->kind == KIND_COMPARE && old != s->wanted)) return old;
  NEED(!running);
  const uint64_t made = apply(s, old);
  memcpy((void *)(uintptr_t)s->at, &made, s->size);
  return old;
}

static void note_site(const void *place, site_kind met, int order)
{
  for (size_t i = 0; i < site_count; i++)
    if (sites[i].place == place) return;
  NEED(site_count < SITES);
  sites[site_count++] = (site){place, met, order};
}

static bool is_mutated(const void *place, change how)
{
  return mutation.how == how && mutation.place == place;
}

static uint64_t do_step(const step *s)
{
  thread *const t = &all.threads[self];
  if (failure[0]) fail_here("", "");
  t->next = *s;
  if (t->haste == HASTE_OUT && s->kind == KIND_LOAD && s->at == hasty_at) return t->result;
  if (t->haste != HASTE_NONE && s->kind == KIND_LOAD) {
    hasty_at = s->at;
    unsigned any;
    (void)take_step(t, count_places(t, 0, &any) - 1);
    return t->result;
  }
  t->haste = HASTE_NONE;
  to_host();
  return t->result;
}

static uint64_t reach(kind k, const void *at, unsigned size, uint64_t operand, uint64_t wanted,
                      int order, int if_unequal, const void *place)
{
  step s = {.kind = k, .place = place, .at = at, .size = size, .order = order & 0xff};
  s.if_unequal = if_unequal;
  s.operand = masked(operand, size);
  s.wanted = masked(wanted, size);
  if (!running || quiet) return access_now(&s);
  note_site(place,
            k == KIND_LOAD    ? SITE_LOAD
            : k == KIND_STORE ? SITE_STORE
                              : SITE_EXCHANGE,
            s.order);
  s.split = is_mutated(place, CHANGE_SPLIT);
  if (is_mutated(place, CHANGE_ORDER)) s.order = s.if_unequal = mutation.order;
  if ((s.order != __ATOMIC_SEQ_CST || s.if_unequal != __ATOMIC_SEQ_CST) && !is_weak(at)) {
    NEED(weak_count < OBJECTS);
    weak[weak_count++] = at;
    again = true;
  }
  return do_step(&s);
}

#define HERE __builtin_return_address(0)
#define EXPORT __attribute__((visibility("default"), used))

#define EXCHANGES(bits, name, kind)                                                                \
  EXPORT uint##bits##_t __tsan_atomic##bits##_##name(volatile void *at, uint##bits##_t operand,    \
                                                     int order);                                   \
  uint##bits##_t __tsan_atomic##bits##_##name(volatile void *at, uint##bits##_t operand,           \
                                              int order)                                           \
  {                                                                                                \
    return (uint##bits##_t)reach(kind, (const void *)(uintptr_t)at, (bits) / 8, operand, 0, order, \
                                 order, HERE);                                                     \
  }
#define COMPARES(bits, name)                                                                       \
  EXPORT bool __tsan_atomic##bits##_compare_exchange_##name(                                       \
      volatile void *at, uint##bits##_t *wanted, uint##bits##_t operand, int order, int unequal);  \
  bool __tsan_atomic##bits##_compare_exchange_##name(                                              \
      volatile void *at, uint##bits##_t *wanted, uint##bits##_t operand, int order, int unequal)   \
  {                                                                                                \
    const uint##bits##_t old =                                                                     \
        (uint##bits##_t)reach(KIND_COMPARE, (const void *)(uintptr_t)at, (bits) / 8, operand,      \
                              *wanted, order, unequal, HERE);                                      \
    const bool equal = old == *wanted;                                                             \
    *wanted = old;                                                                                 \
    return equal;                                                                                  \
  }
#define ATOMICS(bits)                                                                              \
  EXPORT uint##bits##_t __tsan_atomic##bits##_load(const volatile void *at, int order);            \
  uint##bits##_t __tsan_atomic##bits##_load(const volatile void *at, int order)                    \
  {                                                                                                \
    return (uint##bits##_t)reach(KIND_LOAD, (const void *)(uintptr_t)at, (bits) / 8, 0, 0, order,  \
                                 order, HERE);                                                     \
  }                                                                                                \
  EXPORT void __tsan_atomic##bits##_store(volatile void *at, uint##bits##_t bits_, int order);     \
  void __tsan_atomic##bits##_store(volatile void *at, uint##bits##_t bits_, int order)             \
  {                                                                                                \
    (void)reach(KIND_STORE, (const void *)(uintptr_t)at, (bits) / 8, bits_, 0, order, order,       \
                HERE);                                                                             \
  }                                                                                                \
  EXCHANGES(bits, exchange, KIND_EXCHANGE)                                                         \
  EXCHANGES(bits, fetch_add, KIND_ADD)                                                             \
  EXCHANGES(bits, fetch_sub, KIND_SUB)                                                             \
  EXCHANGES(bits, fetch_and, KIND_AND)                                                             \
  EXCHANGES(bits, fetch_or, KIND_OR)                                                               \
  EXCHANGES(bits, fetch_xor, KIND_XOR)                                                             \
  EXCHANGES(bits, fetch_nand, KIND_NAND)                                                           \
  COMPARES(bits, strong)                                                                           \
  COMPARES(bits, weak)
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

#define PLAIN(size)                                                                                \
  EXPORT void __tsan_read##size(void *at);                                                         \
  void __tsan_read##size(void *at)                                                                 \
  {                                                                                                \
    plain(at, size, false);                                                                        \
  }                                                                                                \
  EXPORT void __tsan_write##size(void *at);                                                        \
  void __tsan_write##size(void *at)                                                                \
  {                                                                                                \
    plain(at, size, true);                                                                         \
  }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

/* A volatile access is a relaxed atomic one, for kernels. The compiler does it itself when the call
 * has returned: so a load finds its value in memory, and the value of a store is taken from there
 * before the next step. */
static void load_volatile(void *at, unsigned size, const void *place)
{
  if (!running || quiet) return;
  const uint64_t bits = reach(KIND_LOAD, at, size, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, place);
  write_memory(at, size, bits);
}

static void store_volatile(void *at, unsigned size, const void *place)
{
  if (!running || quiet) return;
  (void)reach(KIND_STORE, at, size, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, place);
  write_memory(at, size, 0); /* to keep what was there */
  stored = find_object(at)->newest;
  stored_at = at;
  stored_size = size;
}

#define VOLATILE(size)                                                                             \
  EXPORT void __tsan_volatile_read##size(void *at);                                                \
  void __tsan_volatile_read##size(void *at)                                                        \
  {                                                                                                \
    load_volatile(at, size, HERE);                                                                 \
  }                                                                                                \
  EXPORT void __tsan_volatile_write##size(void *at);                                               \
  void __tsan_volatile_write##size(void *at)                                                       \
  {                                                                                                \
    store_volatile(at, size, HERE);                                                                \
  }
VOLATILE(1)
VOLATILE(2)
VOLATILE(4)
VOLATILE(8)

EXPORT void __tsan_read_range(void *at, size_t size);
void __tsan_read_range(void *at, size_t size)
{
  if (size) plain(at, size, false);
}
EXPORT void __tsan_write_range(void *at, size_t size);
void __tsan_write_range(void *at, size_t size)
{
  if (size) plain(at, size, true);
}
EXPORT void __tsan_init(void);
void __tsan_init(void)
{
}
EXPORT void __tsan_func_entry(void *at);
void __tsan_func_entry(void *at)
{
  (void)at;
}
EXPORT void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

void checker_fence(void)
{
  const step s = {.kind = KIND_FENCE, .place = HERE, .order = __ATOMIC_SEQ_CST};
  note_site(HERE, SITE_FENCE, s.order);
  again = again || !fenced;
  fenced = true;
  if (!is_mutated(HERE, CHANGE_OMIT)) (void)do_step(&s);
}

void checker_lock(const void *mutex)
{
  const step s = {.kind = KIND_LOCK, .place = HERE, .at = mutex};
  if (!running) return;
  note_site(HERE, SITE_LOCK, 0);
  if (is_mutated(HERE, CHANGE_OMIT))
    all.threads[self].spared_unlocks++;
  else
    (void)do_step(&s);
}

bool checker_try(const void *mutex)
{
  const step s = {.kind = KIND_TRY, .place = HERE, .at = mutex};
  if (!running) return true;
  note_site(HERE, SITE_LOCK, 0);
  if (is_mutated(HERE, CHANGE_OMIT)) return ++all.threads[self].spared_unlocks;
  return do_step(&s);
}

void checker_unlock(const void *mutex)
{
  const step s = {.kind = KIND_UNLOCK, .place = HERE, .at = mutex};
  if (!running) return;
  if (all.threads[self].spared_unlocks)
    all.threads[self].spared_unlocks--;
  else
    (void)do_step(&s);
}

/* Without the mutex if locking it is left out. */
void checker_wait(const void *condition, const void *mutex)
{
  const step s = {.kind = KIND_WAIT,
                  .place = HERE,
                  .at = condition,
                  .mutex = mutex,
                  .omit = all.threads[self].spared_unlocks > 0};
  (void)do_step(&s);
}

void checker_signal(const void *condition, bool broadcast)
{
  const step s = {.kind = broadcast ? KIND_BROADCAST : KIND_SIGNAL, .place = HERE, .at = condition};
  if (!running) return;
  note_site(HERE, SITE_SIGNAL, 0);
  if (!is_mutated(HERE, CHANGE_OMIT)) (void)do_step(&s);
}

unsigned checker_start(void (*run)(void *argument), void *argument)
{
  NEED(now.thread_count < CHECKER_THREADS);
  thread *const t = &all.threads[now.thread_count];
  thread *const parent = &all.threads[self];
  memset(t, 0, sizeof *t);
  t->run = run;
  t->argument = argument;
  if (now.thread_count > 0) {
    parent->now.clock[self]++;
    parent->changed = false;
    t->now = parent->now;
  }
  return now.thread_count++;
}

void checker_join(unsigned number)
{
  const step s = {
      .kind = KIND_JOIN, .place = HERE, .operand = number, .omit = is_mutated(HERE, CHANGE_OMIT)};
  if (!running) return;
  note_site(HERE, SITE_JOIN, 0);
  (void)do_step(&s);
}

void checker_barrier(unsigned number, unsigned threads)
{
  static const char barriers[CHECKER_THREADS];
  const step s = {.kind = KIND_MEET, .place = HERE, .at = &barriers[number], .operand = threads};
  note_site(HERE, SITE_BARRIER, 0);
  if (!is_mutated(HERE, CHANGE_OMIT)) (void)do_step(&s);
}

unsigned checker_self(void)
{
  return self;
}

uint32_t checker_min32(uint32_t *at, uint32_t other)
{
  return (uint32_t)reach(KIND_MIN, at, sizeof *at, other, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                         HERE);
}

uint32_t checker_max32(uint32_t *at, uint32_t other)
{
  return (uint32_t)reach(KIND_MAX, at, sizeof *at, other, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                         HERE);
}

bool checker_has_ended(unsigned number)
{
  return all.threads[number].next.kind == KIND_END;
}

/* The first pause of a loop only makes the thread load again, so that the next one knows what the
 * loop loads. */
void checker_pause(void)
{
  const step s = {.kind = KIND_PAUSE, .place = HERE};
  thread *const t = &all.threads[self];
  if (!running || t->haste == HASTE_OUT) return;
  if (!t->polls) {
    t->polls = true;
    t->loads = 0;
    t->haste = HASTE_ROUND;
    return;
  }
  t->next = s;
  t->haste = HASTE_NONE;
  to_host();
}

int64_t checker_time(void)
{
  thread *const t = &all.threads[self];
  const bool late = t->haste == HASTE_OUT;
  t->haste = HASTE_NONE;
  return late ? INT64_MAX / 2 : 0;
}

void checker_await(void)
{
  const step s = {.kind = KIND_AWAIT, .place = HERE};
  (void)do_step(&s);
}

/* ---- The search ---- */

/* What all threads have seen: only what is newer makes a difference. */
static view common;

static void find_common(void)
{
  memset(&common, 0xff, sizeof common);
  for (unsigned t = 0; t < now.thread_count; t++) {
    const thread *const own = &all.threads[t];
    if (own->next.kind == KIND_END) continue;
    for (unsigned i = 0; i < now.object_count; i++)
      if (own->now.seen[i] < common.seen[i]) common.seen[i] = own->now.seen[i];
    for (unsigned i = 0; i < CHECKER_THREADS; i++)
      if (own->now.clock[i] < common.clock[i]) common.clock[i] = own->now.clock[i];
  }
}

static unsigned beyond(unsigned number, unsigned floor)
{
  return number > floor ? number - floor : 0;
}

static uint64_t hash_view(uint64_t hash, const view *v)
{
  for (unsigned i = 0; i < CHECKER_THREADS; i++)
    hash = mix(hash, beyond(v->clock[i], common.clock[i]));
  for (unsigned i = 0; i < now.object_count; i++)
    if (all.objects[i].weak)
      hash += mix((uintptr_t)all.objects[i].at, beyond(v->seen[i], common.seen[i]));
  return hash;
}

static uint64_t hash_object(const object *o)
{
  const unsigned n = index_of(o);
  uint64_t hash = mix((uintptr_t)o->at, o->weak ? beyond(now.strict[n], common.seen[n]) : 0);
  for (unsigned k = o->weak ? common.seen[n] : o->count - 1; k < o->count; k++) {
    const value *const v = value_of(o, k);
    hash = hash_view(mix(hash, v->bits << 1 | (o->weak && v->follows)), &v->view);
  }
  return hash;
}

/* Its stack has the rest of its state. */
static uint64_t hash_thread(unsigned number)
{
  const thread *const t = &all.threads[number];
  const uint64_t *const end = (const uint64_t *)(stacks + (size_t)(number + 1) * STACK_BYTES);
  uint64_t hash = mix(number, (uint64_t)t->next.kind << 32 | t->spared_unlocks << 8 |
                                  (unsigned)t->haste << 2 | t->polls << 1 | t->signalled);
  if (t->next.kind == KIND_END) return hash;
  for (const uint64_t *at = t->mark[2]; at < end; at++)
    hash = mix(hash, *at);
  hash = mix(hash, t->next.operand);
  hash = hash_view(mix(hash, t->changed), &t->now);
  if (fenced) hash = hash_view(hash_view(hash, &t->acquired), &t->released);
  for (unsigned i = 0; i < t->loads; i++)
    hash = mix(mix(hash, (uintptr_t)all.objects[t->loaded_from[i]].at),
               beyond(loaded_place(t, i), common.seen[t->loaded_from[i]]));
  return hash;
}

static uint64_t hash_cell(const struct cell *c)
{
  uint64_t hash = 0;
  if (c->writer != NOBODY) hash = mix(c->writer, beyond(c->written, common.clock[c->writer]));
  for (unsigned i = 0; i < CHECKER_THREADS; i++)
    hash = mix(hash, beyond(c->read[i], common.clock[i]));
  if (!is_stack(c->number * CELL_BYTES)) {
    uint32_t bytes;
    memcpy(&bytes, (const void *)(c->number * CELL_BYTES), sizeof bytes);
    hash = mix(hash, bytes);
  }
  return mix(hash, c->number);
}

static uint64_t hash_state(void)
{
  uint64_t sum = mix(now.spurious, now.preemptions);
  if (now.preemptions != CHECKER_ANY) sum = mix(sum, now.last);
  find_common();
  for (unsigned i = 0; i < now.thread_count; i++)
    sum += hash_thread(i);
  for (unsigned i = 0; i < now.object_count; i++)
    if (all.objects[i].count > 0) sum += hash_object(&all.objects[i]);
  for (unsigned i = 0; i < now.lock_count; i++)
    sum += hash_view(mix((uintptr_t)all.locks[i].at, all.locks[i].owner), &all.locks[i].view);
  if (fenced) sum += hash_view(7, &now.fences);
  for (unsigned i = 0; i < now.cell_count; i++)
    sum += hash_cell(&cells[cell_list[i]]);
  return sum ? sum : 1;
}

static void grow_visited(void)
{
  uint64_t *const old = visited;
  const size_t room = visited_room;
  visited_room = room ? 2 * room : 1 << 16;
  visited = calloc(visited_room, sizeof *visited);
  NEED(visited);
  visited_count = 0;
  for (size_t i = 0; i < room; i++) {
    if (!old[i]) continue;
    size_t k = old[i] % visited_room;
    while (visited[k])
      k = (k + 1) % visited_room;
    visited[k] = old[i];
    visited_count++;
  }
  free(old);
}

/* False if the state was visited before. */
static bool visit(uint64_t state)
{
  if (2 * visited_count >= visited_room) grow_visited();
  size_t k = state % visited_room;
  for (; visited[k]; k = (k + 1) % visited_room)
    if (visited[k] == state) return false;
  visited[k] = state;
  visited_count++;
  return true;
}

/* ---- Copies of the state ---- */

typedef enum direction { SIZE, SAVE, LOAD } direction;

static void move_bytes(direction d, unsigned char **at, void *bytes, size_t size)
{
  if (d == SAVE) memcpy(*at, bytes, size);
  if (d == LOAD) memcpy(bytes, *at, size);
  *at += size;
}

/* Moves all that `now` counts. Returns the size, with `at` NULL for SIZE. */
static size_t move_state(direction d, unsigned char *at)
{
  unsigned char *const begin = at;
  move_bytes(d, &at, all.threads, now.thread_count * sizeof *all.threads);
  move_bytes(d, &at, all.objects, now.object_count * sizeof *all.objects);
  move_bytes(d, &at, all.values, now.value_count * sizeof *all.values);
  move_bytes(d, &at, all.locks, now.lock_count * sizeof *all.locks);
  for (unsigned i = 0; i < now.cell_count; i++)
    move_bytes(d, &at, &cells[cell_list[i]], sizeof *cells);
  for (unsigned i = 0; i < now.kept_count; i++)
    move_bytes(d, &at, (void *)(kept[i].number * CELL_BYTES), CELL_BYTES);
  for (unsigned i = 0; i < now.thread_count; i++) {
    char *const stack = all.threads[i].mark[2];
    if (all.threads[i].next.kind == KIND_END) continue;
    move_bytes(d, &at, stack, (size_t)(stacks + (size_t)(i + 1) * STACK_BYTES - stack));
    if (d == LOAD) clear_below(stack);
  }
  return (size_t)(at - begin);
}

static void save_state(unsigned node)
{
  static unsigned char nothing[1];
  const size_t size = sizeof now + move_state(SIZE, nothing);
  if (path[node].room < size) {
    free(path[node].copy);
    path[node].copy = malloc(2 * size);
    NEED(path[node].copy);
    path[node].room = 2 * size;
  }
  memcpy(path[node].copy, &now, sizeof now);
  (void)move_state(SAVE, path[node].copy + sizeof now);
}

static void load_state(unsigned node)
{
  unsigned objects = now.object_count, used = now.cell_count;
  const unsigned char *const copy = path[node].copy;
  unsigned kept_then;
  memcpy(&kept_then, copy + ((unsigned char *)&now.kept_count - (unsigned char *)&now),
         sizeof kept_then);
  restore_memory(kept_then);
  memcpy(&now, copy, sizeof now);
  while (objects > now.object_count)
    slots[all.objects[--objects].slot].run = 0;
  while (used > now.cell_count)
    cells[cell_list[--used]].run = 0;
  (void)move_state(LOAD, path[node].copy + sizeof now);
}

/* ---- The order of steps ---- */

/* Writes in how many ways each thread can go on. Returns the sum. */
static unsigned count_all(unsigned ways[CHECKER_THREADS], bool *would_go_on)
{
  unsigned sum = 0;
  for (unsigned i = 0; i < now.thread_count; i++)
    ways[i] = count_ways(&all.threads[i]);
  const kind last = all.threads[now.last].next.kind;
  *would_go_on = ways[now.last] > (last == KIND_PAUSE) && last != KIND_WAITING;
  for (unsigned i = 0; i < now.thread_count; i++) {
    if (*would_go_on && now.preemptions == 0 && i != now.last) ways[i] = 0;
    sum += ways[i];
  }
  return sum;
}

/* Chooses the next step. Returns false if no thread can go on, or if the state was visited before.
 */
static bool choose(unsigned *number, unsigned *way)
{
  unsigned ways[CHECKER_THREADS];
  bool would_go_on;
  const unsigned sum = count_all(ways, &would_go_on);
  if (sum == 0) { /* threads may be left that only wait for more work */
    if (all.threads[0].next.kind != KIND_END) fail("the first thread waits for ever", "");
    return false;
  }
  if (depth == MOST_STEPS) {
    fail("does not end", "");
    return false;
  }
  if (depth == chosen) {
    if (!visit(hash_state())) return false;
    path[chosen].taken = 0;
    path[chosen].of = (uint16_t)sum;
    if (sum > 1) save_state(chosen);
    chosen++;
  }
  NEED(path[depth].of == sum);
  *way = path[depth++].taken;
  for (*number = 0; *way >= ways[*number]; ++*number)
    *way -= ways[*number];
  if (would_go_on && *number != now.last && now.preemptions != CHECKER_ANY) now.preemptions--;
  now.last = *number;
  return true;
}

/* Goes on until the program ends, or is in a state that was visited before. Returns how many steps
 * it has done. */
static size_t go_on(void)
{
  unsigned number, way;
  const unsigned first = depth;
  running = true;
  do {
    for (unsigned i = 0; i < now.thread_count && !failure[0]; i++)
      if (!all.threads[i].begun) resume(i);
    if (failure[0] || !choose(&number, &way)) break;
    if (take_step(&all.threads[number], way) && !failure[0]) resume(number);
  } while (!failure[0]);
  running = false;
  quiet = 0;
  return depth - first;
}

static void begin(const scenario *s)
{
  run_number++;
  depth = 0;
  failure[0] = 0;
  memset(&now, 0, sizeof now);
  now.spurious = s->spurious;
  now.preemptions = s->preemptions;
  self = 0;
  (void)checker_start((void (*)(void *))(void (*)(void))s->run, NULL);
}

/* Goes back to the last node that has a step not yet tried. Returns false if there is no such node.
 */
static bool next_node(void)
{
  while (chosen > 0 && path[chosen - 1].taken + 1 == path[chosen - 1].of)
    chosen--;
  if (chosen > 0) path[chosen - 1].taken++;
  return chosen > 0;
}

outcome checker_explore(const scenario *s, mutant m, size_t most)
{
  outcome o = {0};
  if (!stacks)
    stacks = mmap(NULL, (size_t)CHECKER_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NEED(stacks != MAP_FAILED);
  mutation = m;
  weak_count = 0;
  fenced = false;
  do {
    again = false;
    if (visited) memset(visited, 0, visited_room * sizeof *visited);
    visited_count = 0;
    chosen = 0;
    begin(s);
    o.steps += go_on();
    while (!again && !failure[0] && visited_count < most && next_node()) {
      depth = chosen - 1;
      load_state(depth);
      o.steps += go_on();
    }
    restore_memory(0);
  } while (again && !failure[0]);
  o.states = visited_count;
  o.failure = failure[0] ? failure : NULL;
  o.complete = o.failure || visited_count < most;
  return o;
}

void checker_show(const scenario *s,
                  void (*show)(unsigned thread, const void *place, const char *text))
{
  shown = show;
  begin(s);
  (void)go_on();
  restore_memory(0);
  shown = NULL;
}

size_t checker_sites(const site **found)
{
  *found = sites;
  return site_count;
}

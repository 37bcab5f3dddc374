/* mpi.c - what MPI promises, and no more; see world.h. */
#include "mpi.h"

#include "world.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CHANNELS = 512, POISON = 0xa5 };

/* A message and its receive: the n-th of a channel are for each other. */
typedef struct message {
  struct message *next;
  bool sent, awaited, received;
  bool eager;
  uint64_t order; /* of all messages that were sent */
  uint64_t visible_at;
  size_t size, room;
  unsigned char *data;
} message;

/* Messages from a rank to a rank with a tag: these do not overtake each other. */
typedef struct channel {
  MPI_Comm comm;
  int from, to, tag;
  message *first, *last, *next_sent, *next_awaited, *undelivered;
} channel;

struct world_request {
  channel *channel;
  message *message;
  const unsigned char *sent; /* NULL: a receive, */
  unsigned char *to;
  size_t size;
};

/* A call that all ranks of a communicator make. */
typedef struct collective {
  struct collective *next;
  const char *name;
  int op, type, count;
  bool loose;
  int arrived;
  bool here[MOST_RANKS];
  uint64_t visible_at[MOST_RANKS];
  unsigned char *data[MOST_RANKS];
  int made[MOST_RANKS]; /* communicators */
} collective;

typedef struct comm {
  int size, members[MOST_RANKS];
  bool freed[MOST_RANKS];
  collective *first, *last, *entered[MOST_RANKS];
} comm;

typedef struct mpi_state {
  comm comms[MOST_COMMS];
  int comm_count;
  channel channels[MOST_CHANNELS];
  int channel_count;
  uint64_t sent;
} mpi_state;

/* ---- State ---- */

static mpi_state *state(void)
{
  return the_world->mpi;
}

static rank_state *own(void)
{
  return &the_world->rank[own_rank];
}

static MPI_Comm make_comm(const int *members, int size)
{
  mpi_state *const s = state();
  if (s->comm_count == MOST_COMMS) world_fail("too many communicators");
  comm *const c = &s->comms[s->comm_count];
  c->size = size;
  memcpy(c->members, members, (size_t)size * sizeof *members);
  return s->comm_count++;
}

void mpi_begin(void)
{
  int all[MOST_RANKS];
  the_world->mpi = world_memory(sizeof(mpi_state));
  for (int i = 0; i < the_world->ranks; i++)
    all[i] = i;
  make_comm(all, the_world->ranks);
}

const char *mpi_end(void)
{
  const mpi_state *const s = state();
  for (int i = 0; i < the_world->ranks; i++)
    if (!the_world->rank[i].finalized) return "a rank ended without MPI_Finalize";
  for (int c = 0; c < s->channel_count; c++)
    for (const message *m = s->channels[c].first; m; m = m->next)
      if (!m->received) return "a message was sent, and never received";
  for (int c = 1; c < s->comm_count; c++)
    for (int i = 0; i < s->comms[c].size; i++)
      if (!s->comms[c].freed[s->comms[c].members[i]]) return "a communicator was not freed";
  return NULL;
}

static int place_of(const comm *c, int rank)
{
  for (int i = 0; i < c->size; i++)
    if (c->members[i] == rank) return i;
  return -1;
}

static comm *comm_of(MPI_Comm handle, const char *in)
{
  mpi_state *const s = state();
  if (!own()->initialized || own()->finalized) world_fail("%s before or after MPI is there", in);
  if (handle < 0 || handle >= s->comm_count) world_fail("%s: no communicator", in);
  comm *const c = &s->comms[handle];
  if (place_of(c, own_rank) < 0 || c->freed[own_rank])
    world_fail("%s: a communicator of others, or one that was freed", in);
  return c;
}

static size_t size_of(MPI_Datatype type, int count, const char *in)
{
  if (type != MPI_BYTE && type != MPI_UINT64_T) world_fail("%s: no type", in);
  if (count < 0) world_fail("%s: count is %d", in, count);
  return (type == MPI_BYTE ? 1 : sizeof(uint64_t)) * (size_t)count;
}

static uint64_t visible_at(void)
{
  const weather *const w = &the_world->weather;
  return world_chance(w->late) ? the_world->step + 1 + world_below(w->longest) : the_world->step;
}

/* ---- Begin and end ---- */

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
  (void)argc, (void)argv;
  if (own()->initialized) world_fail("MPI_Init_thread a second time");
  world_point("MPI_Init_thread");
  own()->initialized = true;
  *provided = wanted;
  return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
  comm_of(MPI_COMM_WORLD, "MPI_Finalize");
  world_point("MPI_Finalize");
  if (own()->requests) world_fail("MPI_Finalize: %d requests were not waited for", own()->requests);
  own()->finalized = true;
  return MPI_SUCCESS;
}

double MPI_Wtime(void)
{
  return (double)the_world->step * 1e-6;
}

/* ---- Messages ---- */

static channel *channel_of(MPI_Comm handle, int from, int to, int tag)
{
  mpi_state *const s = state();
  for (int i = 0; i < s->channel_count; i++) {
    channel *const c = &s->channels[i];
    if (c->comm == handle && c->from == from && c->to == to && c->tag == tag) return c;
  }
  if (s->channel_count == MOST_CHANNELS) world_fail("too many channels");
  channel *const made = &s->channels[s->channel_count++];
  *made = (channel){.comm = handle, .from = from, .to = to, .tag = tag};
  return made;
}

static message *add_message(channel *c)
{
  message *const m = world_memory(sizeof *m);
  if (c->last)
    c->last->next = m;
  else
    c->first = m;
  c->last = m;
  if (!c->next_sent) c->next_sent = m;
  if (!c->next_awaited) c->next_awaited = m;
  if (!c->undelivered) c->undelivered = m;
  return m;
}

static int member(const comm *c, int place, const char *in)
{
  if (place < 0 || place >= c->size) world_fail("%s: no rank %d", in, place);
  return c->members[place];
}

static MPI_Request new_request(channel *c, message *m, const void *sent, void *to, size_t size)
{
  MPI_Request made = world_memory(sizeof *made);
  *made = (struct world_request){c, m, sent, to, size};
  own()->requests++;
  return made;
}

static MPI_Request send(const void *from, int count, MPI_Datatype type, int to, int tag,
                        MPI_Comm handle, const char *in)
{
  const comm *const c = comm_of(handle, in);
  const size_t size = size_of(type, count, in);
  channel *const line = channel_of(handle, own_rank, member(c, to, in), tag);
  message *const m = line->next_sent ? line->next_sent : add_message(line);
  line->next_sent = m->next;
  m->data = world_memory(size);
  if (size) memcpy(m->data, from, size);
  m->size = size;
  m->sent = true;
  m->eager = world_chance(the_world->weather.eager);
  m->order = state()->sent++;
  m->visible_at = visible_at();
  world_progress();
  return new_request(line, m, size ? from : m->data, NULL, size);
}

static MPI_Request receive(void *to, int count, MPI_Datatype type, int from, int tag,
                           MPI_Comm handle, const char *in)
{
  const comm *const c = comm_of(handle, in);
  const size_t size = size_of(type, count, in);
  channel *const line = channel_of(handle, member(c, from, in), own_rank, tag);
  message *const m = line->next_awaited ? line->next_awaited : add_message(line);
  line->next_awaited = m->next;
  m->awaited = true;
  m->room = size;
  if (size) memset(to, POISON, size);
  world_progress();
  return new_request(line, m, NULL, to, size);
}

/* When a request can end: now or before, at a later step, or never if nothing else happens. */
static uint64_t ready_at(const struct world_request *q)
{
  const message *const m = q->message;
  if (q->sent) return m->eager || m->awaited ? 0 : UINT64_MAX;
  return m->sent ? m->visible_at : UINT64_MAX;
}

static void count_overtaking(const channel *c, const message *m)
{
  mpi_state *const s = state();
  bool found = false;
  for (int i = 0; i < s->channel_count; i++) {
    channel *const other = &s->channels[i];
    while (other->undelivered && other->undelivered->received)
      other->undelivered = other->undelivered->next;
    const message *const u = other->undelivered;
    found |= other->to == c->to && other != c && u && u->sent && u->order < m->order;
  }
  if (found) world_count(OVERTAKEN);
}

static void take_message(const struct world_request *q, const char *in)
{
  const fault *const f = &the_world->fault;
  message *const m = q->message;
  for (size_t i = 0; i < q->size; i++)
    if (q->to[i] != POISON) world_fail("%s: memory was written to while it was received", in);
  if (m->size > q->size)
    world_fail("%s: a message of %zu bytes in room for %zu", in, m->size, q->size);
  if (m->size) memcpy(q->to, m->data, m->size);
  m->received = true;
  count_overtaking(q->channel, m);
  if (m->size && ++own()->messages == f->at && f->event == FLIPPED_MESSAGE && f->rank == own_rank) {
    q->to[f->bit / 8 % m->size] ^= (unsigned char)(1 << f->bit % 8);
    world_count(FLIPPED_MESSAGE);
  }
}

static void complete(MPI_Request *request, MPI_Status *status, const char *in)
{
  struct world_request *const q = *request;
  uint64_t at = ready_at(q);
  if (at > the_world->step) world_count(q->sent ? RENDEZVOUS : LATE);
  for (; (at = ready_at(q)) > the_world->step;)
    world_wait(in, at);
  if (!q->sent)
    take_message(q, in);
  else if (memcmp(q->sent, q->message->data, q->size) != 0)
    world_fail("%s: memory was changed while it was sent", in);
  if (status) status->bytes = (int)q->message->size;
  own()->requests--;
  *request = MPI_REQUEST_NULL;
}

int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm handle,
              MPI_Request *request)
{
  world_point("MPI_Isend");
  *request = send(from, count, type, to, tag, handle, "MPI_Isend");
  return MPI_SUCCESS;
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm handle,
              MPI_Request *request)
{
  world_point("MPI_Irecv");
  *request = receive(to, count, type, from, tag, handle, "MPI_Irecv");
  return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
  if (*request == MPI_REQUEST_NULL) {
    if (status) status->bytes = 0;
    return MPI_SUCCESS;
  }
  world_point("MPI_Wait");
  complete(request, status, "MPI_Wait");
  return MPI_SUCCESS;
}

int MPI_Sendrecv(const void *from, int sent, MPI_Datatype sent_type, int to, int sent_tag, void *at,
                 int taken, MPI_Datatype taken_type, int source, int taken_tag, MPI_Comm handle,
                 MPI_Status *status)
{
  static const char in[] = "MPI_Sendrecv";
  MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
  world_point(in);
  if (to != MPI_PROC_NULL) sending = send(from, sent, sent_type, to, sent_tag, handle, in);
  if (source != MPI_PROC_NULL)
    receiving = receive(at, taken, taken_type, source, taken_tag, handle, in);
  if (status) status->bytes = 0;
  if (receiving) complete(&receiving, status, in);
  if (sending) complete(&sending, NULL, in);
  return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
  *count = status->bytes / (int)size_of(type, 1, "MPI_Get_count");
  return MPI_SUCCESS;
}

/* ---- Collective calls ---- */

/* Enters a call with `size` bytes for the others. */
static collective *enter(MPI_Comm handle, const char *name, const void *data, size_t size,
                         collective as)
{
  comm *const c = comm_of(handle, name);
  world_point(name);
  collective *const before = c->entered[own_rank], *k = before ? before->next : c->first;
  if (!k) {
    k = world_memory(sizeof *k);
    *k = as;
    k->name = name;
    k->loose = world_chance(the_world->weather.loose);
    if (c->last)
      c->last->next = k;
    else
      c->first = k;
    c->last = k;
  }
  c->entered[own_rank] = k;
  if (strcmp(k->name, name) != 0 || k->op != as.op || k->type != as.type || k->count != as.count)
    world_fail("%s of %d elements, where another rank calls %s of %d elements", name, as.count,
               k->name, k->count);
  k->data[own_rank] = world_memory(size);
  if (size) memcpy(k->data[own_rank], data, size);
  k->here[own_rank] = true;
  k->visible_at[own_rank] = visible_at();
  k->arrived++;
  world_progress();
  return k;
}

/* Waits for members [begin, end), or for all if the call is not loose. */
static void await(MPI_Comm handle, const collective *k, int begin, int end)
{
  const comm *const c = &state()->comms[handle];
  if (!k->loose) {
    begin = 0;
    end = c->size;
  }
  for (uint64_t at = 1; at;) {
    at = 0;
    for (int i = begin; i < end; i++) {
      const int rank = c->members[i];
      const uint64_t when = k->here[rank] ? k->visible_at[rank] : UINT64_MAX;
      if (when > the_world->step && when > at) at = when;
    }
    if (at) world_wait(k->name, at);
  }
  if (k->arrived < c->size) world_count(LOOSE);
}

/* MPICH 4.0 compares unsigned words as signed ones, and so do half of the worlds. */
static bool is_less(uint64_t a, uint64_t b)
{
  const uint64_t sign = the_world->pure % 2 << 63;
  return (a ^ sign) < (b ^ sign);
}

static uint64_t combine(uint64_t a, uint64_t b, MPI_Op op)
{
  switch (op) {
  case MPI_SUM:
    return a + b;
  case MPI_MIN:
    return is_less(a, b) ? a : b;
  case MPI_MAX:
    return is_less(b, a) ? a : b;
  default:
    return a | b;
  }
}

/* What members [begin, end) gave, combined. */
static void fold(MPI_Comm handle, const collective *k, int begin, int end, void *to)
{
  const comm *const c = &state()->comms[handle];
  uint64_t *const words = to;
  if (k->type != MPI_UINT64_T || k->op < MPI_SUM || k->op > MPI_BOR)
    world_fail("%s: not simulated", k->name);
  for (int i = begin; i < end; i++) {
    const uint64_t *const given = (const uint64_t *)(const void *)k->data[c->members[i]];
    for (int n = 0; n < k->count; n++)
      words[n] = i == begin ? given[n] : combine(words[n], given[n], k->op);
  }
}

/* A bit of what this rank gets from a call may be another one. */
static void flip_result(void *to, size_t size)
{
  if (!size || !world_chance(the_world->weather.flipped)) return;
  ((unsigned char *)to)[world_below(size)] ^= (unsigned char)(1 << world_below(8));
  world_count(FLIPPED_RESULT);
}

static void apart(const void *from, size_t from_size, const void *to, size_t to_size,
                  const char *in)
{
  const char *const a = from, *const b = to;
  if (from_size && to_size && a < b + to_size && b < a + from_size)
    world_fail("%s: its buffers overlap", in);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm handle)
{
  static const char in[] = "MPI_Allreduce";
  const comm *const c = comm_of(handle, in);
  const size_t size = size_of(type, count, in);
  const collective as = {.op = op, .type = type, .count = count};
  if (from != MPI_IN_PLACE) apart(from, size, to, size, in);
  collective *const k = enter(handle, in, from == MPI_IN_PLACE ? to : from, size, as);
  await(handle, k, 0, c->size);
  fold(handle, k, 0, c->size, to);
  flip_result(to, size);
  return MPI_SUCCESS;
}

int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm handle)
{
  static const char in[] = "MPI_Exscan";
  const comm *const c = comm_of(handle, in);
  const size_t size = size_of(type, count, in);
  const collective as = {.op = op, .type = type, .count = count};
  const int place = place_of(c, own_rank);
  if (from != MPI_IN_PLACE) apart(from, size, to, size, in);
  collective *const k = enter(handle, in, from == MPI_IN_PLACE ? to : from, size, as);
  await(handle, k, 0, place);
  fold(handle, k, 0, place, to);
  if (place == 0 && size) memset(to, POISON, size); /* it is undefined */
  flip_result(to, place == 0 ? 0 : size);
  return MPI_SUCCESS;
}

int MPI_Alltoall(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                 MPI_Datatype to_type, MPI_Comm handle)
{
  static const char in[] = "MPI_Alltoall";
  const comm *const c = comm_of(handle, in);
  const size_t size = size_of(type, count, in), all = size * (size_t)c->size;
  const size_t place = (size_t)place_of(c, own_rank);
  const collective as = {.type = type, .count = count};
  if (size != size_of(to_type, to_count, in)) world_fail("%s: sizes differ", in);
  apart(from, all, to, all, in);
  collective *const k = enter(handle, in, from, all, as);
  await(handle, k, 0, c->size);
  for (int i = 0; i < c->size && size; i++)
    memcpy((char *)to + (size_t)i * size, k->data[c->members[i]] + place * size, size);
  flip_result(to, all);
  return MPI_SUCCESS;
}

/* ---- Communicators ---- */

int MPI_Comm_rank(MPI_Comm handle, int *rank)
{
  *rank = place_of(comm_of(handle, "MPI_Comm_rank"), own_rank);
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm handle, int *size)
{
  *size = comm_of(handle, "MPI_Comm_size")->size;
  return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm handle, MPI_Comm *made)
{
  static const char in[] = "MPI_Comm_dup";
  const comm *const c = comm_of(handle, in);
  collective *const k = enter(handle, in, NULL, 0, (collective){.count = 0});
  await(handle, k, 0, c->size);
  if (!k->made[0]) k->made[0] = make_comm(c->members, c->size);
  *made = k->made[0];
  return MPI_SUCCESS;
}

/* Each rank is on a machine that the seed draws. */
int MPI_Comm_split_type(MPI_Comm handle, int type, int key, MPI_Info info, MPI_Comm *made)
{
  static const char in[] = "MPI_Comm_split_type";
  const comm *const c = comm_of(handle, in);
  const uint64_t machine = world_below(3);
  (void)info;
  if (type != MPI_COMM_TYPE_SHARED || key != 0) world_fail("%s: not simulated", in);
  collective *const k = enter(handle, in, &machine, sizeof machine, (collective){.count = 0});
  await(handle, k, 0, c->size);
  if (!k->made[machine]) {
    int same[MOST_RANKS], count = 0;
    for (int i = 0; i < c->size; i++)
      if (memcmp(k->data[c->members[i]], &machine, sizeof machine) == 0)
        same[count++] = c->members[i];
    k->made[machine] = make_comm(same, count);
  }
  *made = k->made[machine];
  return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm handle, MPI_Errhandler handler)
{
  comm_of(handle, "MPI_Comm_set_errhandler");
  return handler == MPI_ERRORS_ARE_FATAL ? MPI_SUCCESS : -1;
}

int MPI_Comm_free(MPI_Comm *handle)
{
  static const char in[] = "MPI_Comm_free";
  comm *const c = comm_of(*handle, in);
  collective *const k = enter(*handle, in, NULL, 0, (collective){.count = 0});
  await(*handle, k, 0, 0);
  c->freed[own_rank] = true;
  *handle = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

MPI_Comm MPI_Comm_f2c(MPI_Fint handle)
{
  return handle;
}

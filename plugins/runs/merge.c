/* merge.c - the passes of a merge, and their memory.
 *
 * A pass makes one run of each group of up to `fan`. The last one writes the result, and those
 * before it write to the result and to a copy in turn, so that each reads what the one before it
 * wrote. In place the first pass must write to the copy, for it is the one that checks the runs,
 * and nothing may have moved by then: where the number of passes is odd, a pass that only copies
 * goes before. For a permutation the passes before the last move keys and indices in place of
 * records.
 */
#include "runs/merge.h"

#include <string.h>

#include "base/assert.h"
#include "base/stream_copy.h"
#include "base/work_size.h"
#include "runs/runs.h"

enum {
  PIECE_LEAST = 1 << 14, /* records */
  PIECE_MOST = 1 << 20,  /* unless there are PIECES: small ones may have few of the runs */
  PIECES = 64,
  SAMPLES_A_PIECE = 8,
  STREAM_THREADS = 4, /* so many share what memory can do; fewer wait for it less if they write
                       * through the caches */
  COPY_KEYS = 1 << 13 /* of 8 bytes, that a thread looks at together when it only copies */
};

/* ---- Memory ---- */

/* How a job is done, and where in its memory what is. */
typedef struct merge_plan {
  size_t fan;
  size_t passes;     /* that merge */
  bool copies_first; /* a pass that copies goes before them */
  size_t threads;
  size_t pieces;                                       /* of a pass, at most */
  uint64_t runs, first, piece, cuts, samples, scratch; /* offsets */
  uint64_t copies[2], indices[2];
  uint64_t scratch_size;
  uint64_t bytes;
} merge_plan;

static size_t groups_of(size_t runs, size_t fan)
{
  RS_ASSERT(fan > 0);
  return (runs + fan - 1) / fan;
}

/* Copies of all records that the passes need: 0, 1 or 2. */
static unsigned copies_for(const run_job *job, size_t passes)
{
  if (job->in_place) return 1;
  if (job->index_bits) return passes > 2 ? 2 : passes > 1;
  return passes > 1;
}

static uint64_t scratch_for(size_t fan, size_t key_size)
{
  const uint64_t tile = rs_run_tile_scratch(fan, key_size);
  const uint64_t copy = (COPY_KEYS + 1) * 8 + (key_size > 8 ? 2 * (uint64_t)key_size : 0);
  return tile > copy ? tile : (copy + 63) / 64 * 64;
}

static bool plan_merge(const run_job *job, merge_plan *plan)
{
  const size_t runs = job->run_count, key_size = job->format.key_size,
               order_size = job->index_bits / 8,
               copied = order_size ? key_size : job->format.record_size;
  RS_ASSERT((job->fan >= 2 || job->run_count <= job->fan) && job->threads > 0);
  const uint64_t worth = job->count / PIECE_LEAST + 1;
  *plan = (merge_plan){.fan = runs < job->fan ? (runs ? runs : 1) : job->fan};
  plan->threads = worth < job->threads ? (size_t)worth : job->threads;
  for (size_t left = runs; left > 1 || plan->passes == 0; left = groups_of(left, plan->fan))
    plan->passes++;
  RS_ASSERT(plan->passes > 0);
  plan->copies_first = job->in_place && plan->passes % 2;
  const size_t pieces = team_pieces((team){.threads = (unsigned)plan->threads});
  plan->pieces = groups_of(runs, plan->fan) + (pieces < PIECES ? PIECES : pieces);
  plan->scratch_size = scratch_for(plan->fan, key_size);
  const unsigned copies = copies_for(job, plan->passes);
  work_place(&plan->bytes, &plan->runs, runs, sizeof(recsort_plugin_run));
  work_place(&plan->bytes, &plan->first, runs + 1, sizeof(uint64_t));
  work_place(&plan->bytes, &plan->piece, plan->pieces, sizeof(run_piece));
  work_place(&plan->bytes, &plan->cuts, (uint64_t)plan->pieces + groups_of(runs, plan->fan),
             plan->fan * sizeof(uint64_t));
  work_place(&plan->bytes, &plan->samples, (uint64_t)plan->pieces * SAMPLES_A_PIECE,
             sizeof(run_sample));
  work_place(&plan->bytes, &plan->scratch, plan->threads, plan->scratch_size);
  work_place(&plan->bytes, &plan->copies[0], copies ? job->count : 0, copied);
  work_place(&plan->bytes, &plan->copies[1], copies > 1 ? job->count : 0, copied);
  work_place(&plan->bytes, &plan->indices[0], copies ? job->count : 0, order_size);
  work_place(&plan->bytes, &plan->indices[1], copies > 1 ? job->count : 0, order_size);
  return work_fits(plan->bytes);
}

/* ---- A pass ---- */

typedef struct merging {
  run_pass pass;
  team team;
  run_piece *pieces;
  size_t piece_count;
  uint64_t *cuts;
  run_sample *samples;
} merging;

_Static_assert(PIECE_LEAST >= 2 * SAMPLES_A_PIECE, "each sample has a record of its own");

/* How many pieces a group is cut into. */
static size_t pieces_of(uint64_t count, uint64_t piece_size)
{
  return count ? (size_t)((count - 1) / piece_size + 1) : 0;
}

static uint64_t piece_size_for(uint64_t count, team t)
{
  const size_t pieces = team_pieces(t), many = pieces < PIECES ? PIECES : pieces;
  const uint64_t even = count / pieces + 1, small = count / many + 1;
  if (even < PIECE_LEAST) return PIECE_LEAST;
  return even < PIECE_MOST ? even : small < PIECE_MOST ? PIECE_MOST : small;
}

typedef struct cut_task {
  merging *m;
  size_t group;
  size_t first_piece; /* of the group */
  size_t count;       /* pieces */
} cut_task;

/* The cut before piece `number` + 1 of a group. */
static void cut_piece(void *argument, size_t number, unsigned slot)
{
  const cut_task *const task = argument;
  run_pass *const pass = &task->m->pass;
  const size_t sample = (number + 1) * SAMPLES_A_PIECE;
  RS_ASSERT(number + 1 < task->count);
  uint64_t *const cut = (uint64_t *)(void *)task->m->pieces[task->first_piece + number].to;
  if (!rs_run_cut(pass, task->group, &task->m->samples[sample], cut,
                  pass->scratch + slot * pass->scratch_size))
    atomic_store_explicit(&pass->bad, true, memory_order_relaxed);
}

/* Where the pieces of a group begin in the output. Cuts of runs that are not sorted may be in any
 * order. */
static bool place_pieces(const merging *m, size_t group, run_piece *pieces, size_t count)
{
  const size_t runs = run_group_size(&m->pass, group);
  uint64_t at = m->pass.first[group * m->pass.fan];
  for (size_t p = 0; p < count; p++) {
    pieces[p].at = at;
    for (size_t r = 0; r < runs; r++) {
      if (pieces[p].from[r] > pieces[p].to[r]) return false;
      at += pieces[p].to[r] - pieces[p].from[r];
    }
  }
  return true;
}

/* Cuts a group into `count` pieces. Returns the place behind its cuts. */
static uint64_t *cut_group(merging *m, size_t group, size_t count, uint64_t *cuts)
{
  run_pass *const pass = &m->pass;
  const size_t fan = pass->fan, runs = run_group_size(pass, group);
  RS_ASSERT(count > 0);
  run_piece *const pieces = m->pieces + m->piece_count;
  for (size_t p = 0; p < count; p++)
    pieces[p] = (run_piece){group, cuts + p * fan, cuts + (p + 1) * fan, 0};
  for (size_t r = 0; r < runs; r++) {
    cuts[r] = 0;
    cuts[count * fan + r] = pass->runs[group * fan + r].count;
  }
  if (count > 1) {
    cut_task task = {m, group, m->piece_count, count};
    if (!rs_run_sample_group(pass, group, m->samples, count * SAMPLES_A_PIECE, pass->scratch))
      pass->bad = true;
    else
      team_each(m->team, count - 1, cut_piece, &task);
  }
  if (!pass->bad && !place_pieces(m, group, pieces, count)) pass->bad = true;
  m->piece_count += count;
  return cuts + (count + 1) * fan;
}

static void merge_one_piece(void *argument, size_t number, unsigned slot)
{
  merging *const m = argument;
  if (!atomic_load_explicit(&m->pass.bad, memory_order_relaxed))
    rs_run_merge_piece(&m->pass, &m->pieces[number], m->pass.scratch + slot * m->pass.scratch_size);
}

/* Returns false if a run is not sorted, or a value invalid. */
static bool do_pass(merging *m)
{
  run_pass *const pass = &m->pass;
  const uint64_t size = piece_size_for(pass->first[pass->run_count], m->team);
  RS_ASSERT(pass->run_count > 0);
  uint64_t *cuts = m->cuts;
  m->piece_count = 0;
  pass->stream = pass->output == RUN_RECORDS && m->team.threads >= STREAM_THREADS &&
                 pass->first[pass->run_count] * pass->format.record_size >= STREAM_LEAST;
  for (size_t group = 0; group * pass->fan < pass->run_count && !pass->bad; group++) {
    const size_t begin = group * pass->fan, end = begin + run_group_size(pass, group);
    const size_t count = pieces_of(pass->first[end] - pass->first[begin], size);
    if (count) cuts = cut_group(m, group, count, cuts);
  }
  if (!pass->bad) team_each(m->team, m->piece_count, merge_one_piece, m);
  return !pass->bad;
}

/* ---- Copy ---- */

/* Checks records [range.begin, range.end) of all runs and, if there is a `to`, copies them. */
static bool copy_range(const run_pass *pass, team_range range, unsigned char *keys)
{
  const run_format *const format = &pass->format;
  const size_t size = format->record_size, key_size = format->key_size,
               most = key_size > 8 ? COPY_KEYS * 8 / key_size + 1 : COPY_KEYS;
  size_t low = 0, high = pass->run_count;
  while (high - low > 1) { /* the run that holds the first record */
    const size_t middle = low + (high - low) / 2;
    if (pass->first[middle] <= range.begin)
      low = middle;
    else
      high = middle;
  }
  RS_ASSERT(pass->first[low] <= range.begin);
  for (uint64_t at = range.begin; at < range.end; low++) {
    const uint64_t end = pass->first[low + 1] < range.end ? pass->first[low + 1] : range.end;
    const unsigned char *const records = pass->runs[low].records;
    while (at < end) {
      const uint64_t place = at - pass->first[low];
      const size_t count = end - at < most ? (size_t)(end - at) : most;
      const unsigned char *const from = records + place * size;
      if (place && !rs_run_read_keys(format, from - size, 1, keys)) return false;
      if (!rs_run_read_keys(format, from, count, keys + key_size)) return false;
      if (!rs_run_in_order(key_size, place ? keys : keys + key_size, count + (place != 0)))
        return false;
      if (pass->to) memcpy(pass->to + at * size, from, count * size);
      at += count;
    }
  }
  return true;
}

typedef struct copying {
  run_pass *pass;
  size_t pieces;
} copying;

static void copy_piece(void *argument, size_t number, unsigned slot)
{
  const copying *const c = argument;
  run_pass *const pass = c->pass;
  const team_range range = team_cut((size_t)pass->first[pass->run_count], number, c->pieces);
  if (!copy_range(pass, range, pass->scratch + slot * pass->scratch_size))
    atomic_store_explicit(&pass->bad, true, memory_order_relaxed);
}

static bool copy_runs(merging *m)
{
  copying c = {&m->pass, team_pieces(m->team)};
  team_each(m->team, c.pieces, copy_piece, &c);
  return !m->pass.bad;
}

/* ---- Passes ---- */

/* The runs that a pass made of groups, each of which begins at a multiple of `size` bytes. */
static void regroup(run_pass *pass, recsort_plugin_run *runs, uint64_t *first, size_t size)
{
  const size_t groups = groups_of(pass->run_count, pass->fan);
  RS_ASSERT(groups <= pass->run_count);
  for (size_t g = 0; g < groups; g++) {
    const uint64_t begin = first[g * pass->fan];
    const uint64_t end = first[g * pass->fan + run_group_size(pass, g)];
    RS_ASSERT(begin <= end);
    runs[g] = (recsort_plugin_run){pass->to + begin * size, end - begin};
    first[g] = begin;
  }
  first[groups] = first[pass->run_count];
  pass->runs = runs;
  pass->run_count = groups;
}

/* The job, with the parts of its memory. */
typedef struct merge_job {
  const run_job *wanted;
  merge_plan plan;
  recsort_plugin_run *runs;
  uint64_t *first;
  unsigned char *result;
  unsigned char *copies[2];
  unsigned char *indices[2];
  merging m;
} merge_job;

/* Where the pass with `behind` passes after it writes records. */
static unsigned char *target_of(const merge_job *job, size_t behind)
{
  return behind % 2 ? job->copies[0] : job->result;
}

static bool merge_records(merge_job *job)
{
  run_pass *const pass = &job->m.pass;
  size_t behind = job->plan.passes;
  if (job->plan.copies_first) {
    pass->to = job->copies[0];
    if (!copy_runs(&job->m)) return false;
    for (size_t r = 0; r < pass->run_count; r++)
      job->runs[r] = (recsort_plugin_run){pass->to + job->first[r] * pass->format.record_size,
                                          pass->runs[r].count};
    pass->runs = job->runs;
    pass->check = false;
  }
  while (behind-- > 0) {
    pass->to = target_of(job, behind);
    if (!do_pass(&job->m)) return false;
    pass->check = false;
    regroup(pass, job->runs, job->first, pass->format.record_size);
  }
  RS_ASSERT(pass->run_count == 1);
  return true;
}

/* Passes before the last one write keys, and apart from them their indices. */
static bool merge_indices(merge_job *job)
{
  run_pass *const pass = &job->m.pass;
  const size_t key_size = pass->format.key_size;
  for (size_t behind = job->plan.passes; behind-- > 0;) {
    const size_t copy = (behind + 1) % 2;
    pass->output = behind ? RUN_KEYED : RUN_INDEX;
    pass->to = behind ? job->copies[copy] : job->result;
    pass->to_indices = job->indices[copy];
    if (!do_pass(&job->m)) return false;
    pass->check = false;
    pass->format.is_plain = true;
    pass->format.flip = 0;
    pass->format.record_size = key_size;
    pass->indices = pass->to_indices;
    pass->index_size = pass->order_size;
    pass->relative = false;
    regroup(pass, job->runs, job->first, key_size);
  }
  RS_ASSERT(pass->run_count == 1);
  return true;
}

/* Whether the last record of each run is not greater than the first one of the next: then sorted
 * runs that follow one another are merged already. Says no if a value is invalid. */
static bool follow_in_order(const run_pass *pass)
{
  const size_t key_size = pass->format.key_size, size = pass->format.record_size;
  unsigned char *const last = pass->scratch, *const next = last + key_size;
  bool any = false;
  for (size_t r = 0; r < pass->run_count; r++) {
    const unsigned char *const records = pass->runs[r].records;
    const uint64_t count = pass->runs[r].count;
    if (count == 0) continue;
    if (!rs_run_read_keys(&pass->format, records, 1, next)) return false;
    if (any && run_compare(key_size, last, next) > 0) return false;
    if (!rs_run_read_keys(&pass->format, records + (count - 1) * size, 1, last)) return false;
    any = true;
  }
  return true;
}

static bool do_job(merge_job *job)
{
  run_pass *const pass = &job->m.pass;
  if (job->wanted->index_bits) return merge_indices(job);
  if (!job->wanted->in_place || !follow_in_order(pass)) return merge_records(job);
  pass->to = NULL;
  return copy_runs(&job->m);
}

static void open_job(merge_job *job, team t, unsigned char *memory)
{
  const merge_plan *const plan = &job->plan;
  const run_job *const wanted = job->wanted;
  job->runs = (void *)(memory + plan->runs);
  job->first = (void *)(memory + plan->first);
  for (size_t c = 0; c < 2; c++) {
    job->copies[c] = memory + plan->copies[c];
    job->indices[c] = memory + plan->indices[c];
  }
  job->m.pieces = (void *)(memory + plan->piece);
  job->m.cuts = (void *)(memory + plan->cuts);
  job->m.samples = (void *)(memory + plan->samples);
  job->m.team = team_of_at_most(t, plan->threads);
  job->first[0] = 0;
  for (size_t r = 0; r < wanted->run_count; r++)
    job->first[r + 1] = job->first[r] + wanted->runs[r].count;
  RS_ASSERT(job->first[wanted->run_count] == wanted->count);
  job->m.pass.format = wanted->format;
  job->m.pass.runs = wanted->runs;
  job->m.pass.first = job->first;
  job->m.pass.run_count = wanted->run_count;
  job->m.pass.fan = plan->fan;
  job->m.pass.indices = (const unsigned char *)wanted->indices;
  job->m.pass.index_size = sizeof *wanted->indices;
  job->m.pass.relative = true;
  job->m.pass.order_size = wanted->index_bits / 8;
  job->m.pass.check = wanted->check;
  job->m.pass.scratch = memory + plan->scratch;
  job->m.pass.scratch_size = (size_t)plan->scratch_size;
  atomic_init(&job->m.pass.bad, false);
}

/* ---- Jobs ---- */

bool rs_run_merge_size(const run_job *job, uint64_t *bytes)
{
  merge_plan plan;
  if (!plan_merge(job, &plan)) return false;
  *bytes = plan.bytes;
  return true;
}

bool rs_run_merge(const run_job *wanted, team t, void *memory, void *result)
{
  merge_job job = {.wanted = wanted, .result = result};
  RS_ASSERT((uintptr_t)memory % sizeof(uint64_t) == 0);
  if (wanted->count == 0) return true;
  const bool planned = plan_merge(wanted, &job.plan);
  RS_ASSERT(planned); /* as when its memory was asked for */
  open_job(&job, t, memory);
  return do_job(&job);
}

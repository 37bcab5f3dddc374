/* report.c - see report.h. */
#include "report.h"

#include "support/message.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>

#include "mpi/votes.h"

static const char *const names[STEP_KINDS] = {"prepare",  "read",  "sort",  "split",
                                              "exchange", "merge", "write", "total"};

/* Of all ranks. */
typedef struct summary {
  int ranks;
  uint64_t records, bytes, sent, most_sent;
  unsigned rounds;
  bool spilled;
  double sum[STEP_KINDS], most[STEP_KINDS];
} summary;

static double mean(const summary *s, int step)
{
  return s->sum[step] / s->ranks;
}

/* 1: all ranks took as long. */
static double imbalance(const summary *s, int step)
{
  return s->sum[step] > 0 ? s->most[step] / mean(s, step) : 1;
}

static void print_text(const summary *s)
{
  fprintf(stderr, "records    %" PRIu64 "\n", s->records);
  fprintf(stderr, "bytes      %" PRIu64 "\n", s->bytes);
  fprintf(stderr, "processes  %d\n", s->ranks);
  fprintf(stderr, "way        %s\n", s->spilled ? "temporary files" : "memory");
  fprintf(stderr, "rounds     %u\n", s->rounds);
  fprintf(stderr, "sent       %" PRIu64 " records, of one process %" PRIu64 " at the most\n",
          s->sent, s->most_sent);
  fprintf(stderr, "            mean, s    most, s  most / mean\n");
  for (int i = 0; i < STEP_KINDS; i++)
    fprintf(stderr, "%-8s %10.6f %10.6f %12.2f\n", names[i], mean(s, i), s->most[i],
            imbalance(s, i));
}

static bool fill_json(cJSON *object, const summary *s)
{
  bool filled = cJSON_AddNumberToObject(object, "records", (double)s->records) &&
                cJSON_AddNumberToObject(object, "bytes", (double)s->bytes) &&
                cJSON_AddNumberToObject(object, "processes", s->ranks) &&
                cJSON_AddBoolToObject(object, "temporary_files", s->spilled) &&
                cJSON_AddNumberToObject(object, "rounds", s->rounds) &&
                cJSON_AddNumberToObject(object, "sent", (double)s->sent) &&
                cJSON_AddNumberToObject(object, "most_sent", (double)s->most_sent);
  cJSON *const steps = cJSON_AddObjectToObject(object, "seconds");
  for (int i = 0; filled && i < STEP_KINDS; i++) {
    cJSON *const step = cJSON_AddObjectToObject(steps, names[i]);
    filled = cJSON_AddNumberToObject(step, "mean", mean(s, i)) &&
             cJSON_AddNumberToObject(step, "most", s->most[i]) &&
             cJSON_AddNumberToObject(step, "imbalance", imbalance(s, i));
  }
  return filled;
}

static void print_json(const summary *s)
{
  cJSON *const object = cJSON_CreateObject();
  char *const text = object != NULL && fill_json(object, s) ? cJSON_PrintUnformatted(object) : NULL;
  if (text != NULL)
    fprintf(stderr, "%s\n", text);
  else
    tool_error("no memory for the figures");
  cJSON_free(text);
  cJSON_Delete(object);
}

void report_print(const report *own, bool as_json, uint64_t records, size_t record_size,
                  bool spilled)
{
  summary s = {.records = records,
               .bytes = records * record_size,
               .rounds = own->rounds,
               .spilled = spilled};
  enum { FIGURES = STEP_KINDS + 1 };
  const double nanosecond = 1e-9;
  int rank;
  uint64_t sum[3 * FIGURES] = {own->sent}, most[3 * FIGURES] = {own->sent};
  for (int i = 0; i < STEP_KINDS; i++)
    sum[i + 1] = most[i + 1] = (uint64_t)(own->seconds[i] / nanosecond);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
  votes_reduce(sum, FIGURES, MPI_SUM, MPI_COMM_WORLD);
  votes_reduce(most, FIGURES, MPI_MAX, MPI_COMM_WORLD);
  if (rank != 0) return;
  s.sent = sum[0];
  s.most_sent = most[0];
  for (int i = 0; i < STEP_KINDS; i++) {
    s.sum[i] = (double)sum[i + 1] * nanosecond;
    s.most[i] = (double)most[i + 1] * nanosecond;
  }
  if (as_json)
    print_json(&s);
  else
    print_text(&s);
}

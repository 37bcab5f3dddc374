/* stats.c - the figures of --stats. */
#include "stats.h"

#include "support/message.h"
#include "support/progress.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>

typedef struct stage {
  const char *name;
  double seconds;
} stage;

enum { stage_count = 6 };

/* Adds what went by way of temporary files to the seconds of the sorter's stages. */
static void add_file(recsort_stats *stats, const recsort_file_stats *file)
{
  stats->encode_seconds = stats->verify_seconds = 0; /* these are in the next one */
  stats->sort_seconds = file->sort_seconds + file->merge_seconds;
}

static void print_text(const recsort_stats *stats, uint64_t records, const stage *stages,
                       const recsort_file_stats *file)
{
  const uint64_t bytes = records * stats->record_size;
  fprintf(stderr, "records    %" PRIu64 "\n", records);
  fprintf(stderr, "bytes      %" PRIu64 "\n", bytes);
  fprintf(stderr, "key bits   %u of %u\n", stats->key_bits, stats->key_width);
  fprintf(stderr, "plugin     %s\n", stats->plugin);
  fprintf(stderr, "algorithm  %s\n", stats->algorithm);
  fprintf(stderr, "choice     %s\n", stats->choice);
  fprintf(stderr, "threads    %u\n", stats->threads);
  fprintf(stderr, "fallback   %s\n", stats->fallback != NULL ? stats->fallback : "none");
  for (int i = 0; i < stage_count; i++) {
    fprintf(stderr, "%-7s %9.6f s\n", stages[i].name, stages[i].seconds);
  }
  if (file->runs == 0) return;
  fprintf(stderr, "runs       %" PRIu64 ", of %" PRIu64 " bytes written and %" PRIu64 " read\n",
          file->runs, file->bytes_written, file->bytes_read);
  fprintf(stderr, "  sorted   %9.6f s\n", file->sort_seconds);
  fprintf(stderr, "  written  %9.6f s\n", file->write_seconds);
  fprintf(stderr, "  merged   %9.6f s, and waited for reads %9.6f s\n", file->merge_seconds,
          file->wait_seconds);
}

static bool fill_json(cJSON *object, const recsort_stats *stats, uint64_t records,
                      const stage *stages, const recsort_file_stats *file)
{
  bool filled =
      cJSON_AddNumberToObject(object, "records", (double)records) != NULL &&
      cJSON_AddNumberToObject(object, "bytes", (double)records * (double)stats->record_size) &&
      cJSON_AddNumberToObject(object, "record_size", (double)stats->record_size) != NULL &&
      cJSON_AddNumberToObject(object, "key_bits", stats->key_bits) != NULL &&
      cJSON_AddNumberToObject(object, "key_width", stats->key_width) != NULL &&
      cJSON_AddStringToObject(object, "plugin", stats->plugin) != NULL &&
      cJSON_AddStringToObject(object, "algorithm", stats->algorithm) != NULL &&
      cJSON_AddStringToObject(object, "choice", stats->choice) != NULL &&
      cJSON_AddNumberToObject(object, "threads", stats->threads) != NULL &&
      (stats->fallback != NULL ? cJSON_AddStringToObject(object, "fallback", stats->fallback)
                               : cJSON_AddNullToObject(object, "fallback")) != NULL &&
      cJSON_AddNumberToObject(object, "runs", (double)file->runs) != NULL &&
      cJSON_AddNumberToObject(object, "spilled_bytes", (double)file->bytes_written) != NULL &&
      cJSON_AddNumberToObject(object, "read_back_bytes", (double)file->bytes_read) != NULL;
  cJSON *const seconds = cJSON_AddObjectToObject(object, "seconds");
  for (int i = 0; filled && i < stage_count; i++) {
    filled = cJSON_AddNumberToObject(seconds, stages[i].name, stages[i].seconds) != NULL;
  }
  return filled;
}

static void print_json(const recsort_stats *stats, uint64_t records, const stage *stages,
                       const recsort_file_stats *file)
{
  cJSON *const object = cJSON_CreateObject();
  char *text = NULL;
  if (object != NULL && fill_json(object, stats, records, stages, file)) {
    text = cJSON_PrintUnformatted(object);
  }
  if (text != NULL) {
    fprintf(stderr, "%s\n", text);
  } else {
    tool_error("no memory for the figures");
  }
  cJSON_free(text);
  cJSON_Delete(object);
}

void print_stats(const cli_job *job, uint64_t records, const run_times *times, recsort_file *file)
{
  recsort_file_stats spilled;
  recsort_stats stats = job_stats(job);
  recsort_file_get_stats(file, &spilled, sizeof spilled);
  if (file != NULL) add_file(&stats, &spilled);
  const stage stages[stage_count] = {
      {"read", times->read},        {"encode", stats.encode_seconds},
      {"sort", stats.sort_seconds}, {"verify", stats.verify_seconds},
      {"write", times->write},      {"total", tool_seconds() - times->begin},
  };
  if (job->options->stats == STATS_NONE) return;
  tool_progress_clear();
  if (job->options->stats == STATS_JSON) {
    print_json(&stats, records, stages, &spilled);
  } else {
    print_text(&stats, records, stages, &spilled);
  }
}

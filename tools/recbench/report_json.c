/* report_json.c - writes every figure, for programs. The format is described in
 * results/README.md. */
#include "memory_suite.h"
#include "report.h"
#include "support/message.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FORMAT = 1 };

static void add_text(cJSON *object, const char *name, const char *text)
{
  if (text != NULL) cJSON_AddStringToObject(object, name, text);
}

static void add_machine(cJSON *object, const bench_machine *machine)
{
  cJSON *json = cJSON_AddObjectToObject(object, "machine");
  add_text(json, "cpu", machine->cpu);
  cJSON_AddNumberToObject(json, "cores", machine->cores);
  cJSON_AddNumberToObject(json, "memory", (double)machine->memory);
  add_text(json, "kernel", machine->kernel);
  add_text(json, "compiler", machine->compiler);
  add_text(json, "build", machine->build);
}

static void add_series(cJSON *object, const bench_series *series)
{
  const bench_summary summary = series_summary(series);
  cJSON *json = cJSON_AddObjectToObject(object, series->name);
  add_text(json, "unit", series->unit);
  cJSON_AddNumberToObject(json, "median", summary.median);
  cJSON_AddNumberToObject(json, "min", summary.min);
  cJSON_AddNumberToObject(json, "max", summary.max);
  cJSON_AddItemToObject(json, "each", cJSON_CreateDoubleArray(series->values, (int)series->count));
}

static void add_ratio(cJSON *object, const char *name, double ratio)
{
  if (ratio > 0) cJSON_AddNumberToObject(object, name, ratio);
}

static void add_contender(cJSON *array, const bench_group *group, const bench_contender *contender)
{
  const bench_workload *const input = contender->input;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToArray(array, json);
  add_text(json, "method", contender->method);
  add_text(json, "variant", contender->variant);
  add_text(json, "plugin", contender->plugin);
  add_text(json, "algorithm", contender->algorithm);
  cJSON_AddNumberToObject(json, "threads", contender->threads);
  add_text(json, "record", record_name(input->record));
  cJSON_AddNumberToObject(json, "record_size", (double)record_size(input->record));
  add_text(json, "distribution", distribution_name(input->distribution));
  cJSON_AddNumberToObject(json, "count", (double)input->count);
  if (input->runs != 0) cJSON_AddNumberToObject(json, "runs", (double)input->runs);
  cJSON *ratios = cJSON_AddObjectToObject(json, "times_as_fast_as");
  add_ratio(ratios, STD, contender_ratio(group, contender, STD, 1));
  add_ratio(ratios, PARALLEL, contender_ratio(group, contender, PARALLEL, contender->threads));
  cJSON *series = cJSON_AddObjectToObject(json, "series");
  for (size_t s = 0; s < contender->series_count; s++)
    add_series(series, &contender->series[s]);
}

static void add_target(cJSON *array, const bench_target *target)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToArray(array, json);
  add_text(json, "text", target->text);
  cJSON_AddNumberToObject(json, "value", target->value);
  cJSON_AddNumberToObject(json, target->at_most ? "at_most" : "at_least", target->bound);
  cJSON_AddBoolToObject(json, "met", target_met(target));
}

static void add_group(cJSON *array, const bench_group *group)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToArray(array, json);
  add_text(json, "suite", group->suite);
  cJSON *contenders = cJSON_AddArrayToObject(json, "contenders");
  for (size_t c = 0; c < group->contender_count; c++) {
    add_contender(contenders, group, &group->contenders[c]);
  }
  cJSON *targets = cJSON_AddArrayToObject(json, "targets");
  for (size_t t = 0; t < group->target_count; t++)
    add_target(targets, &group->targets[t]);
}

static bool write_text(const char *path, const char *text)
{
  errno = 0;
  FILE *file = fopen(path, "w");
  bool done = file != NULL && fprintf(file, "%s\n", text) >= 0;
  if (file != NULL) done = fclose(file) == 0 && done;
  if (!done) tool_error_errno(path, errno);
  return done;
}

bool report_json(const char *path, const bench_machine *machine, const bench_group *groups,
                 size_t group_count)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "format", FORMAT);
  add_text(json, "recsort", recsort_version());
  add_text(json, "commit", machine->commit);
  add_text(json, "date", machine->date);
  add_machine(json, machine);
  cJSON *array = cJSON_AddArrayToObject(json, "groups");
  for (size_t g = 0; g < group_count; g++)
    add_group(array, &groups[g]);
  char *text = cJSON_Print(json);
  if (text == NULL) tool_error("out of memory");
  const bool done = text != NULL && write_text(path, text);
  cJSON_free(text);
  cJSON_Delete(json);
  return done;
}

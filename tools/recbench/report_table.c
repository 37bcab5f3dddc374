/* report_table.c - writes a table of 80 columns. */
#include "memory_suite.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

void contender_name(const bench_contender *contender, char name[NAME_MAX_SIZE])
{
  const bool plain = contender->plugin == NULL;
  const bool varied = contender->variant != NULL;
  snprintf(name, NAME_MAX_SIZE, "%s%s%s%s%s%s%s", contender->method, plain ? "" : " ",
           plain ? "" : contender->plugin, plain ? "" : "/", plain ? "" : contender->algorithm,
           varied ? ", " : "", varied ? contender->variant : "");
}

double contender_ratio(const bench_group *group, const bench_contender *contender,
                       const char *method, unsigned threads)
{
  const double seconds = contender_seconds(contender);
  for (size_t c = 0; c < group->contender_count && seconds > 0; c++) {
    const bench_contender *const peer = &group->contenders[c];
    if (peer->input == contender->input && peer->threads == threads &&
        strcmp(peer->method, method) == 0) {
      return contender_seconds(peer) / seconds;
    }
  }
  return 0;
}

void report_machine(const bench_machine *machine)
{
  printf("%s, %u cores, %.1f GiB, %s\n", machine->cpu, machine->cores,
         (double)machine->memory / 0x1p30, machine->kernel);
  printf("%s, %s, recsort %s, commit %s, %s\n", machine->compiler, machine->build,
         recsort_version(), machine->commit, machine->date);
}

static void print_ratio(double ratio)
{
  if (ratio > 0)
    printf(" %6.2f", ratio);
  else
    printf(" %6s", "-");
}

/* Prints the other series, if any, in milliseconds or bytes a record. */
static void print_details(const bench_contender *contender)
{
  if (contender->series_count < 2) return;
  const char *separator = "   ";
  for (size_t s = 1; s < contender->series_count; s++) {
    const bench_series *const series = &contender->series[s];
    const bool seconds = strcmp(series->unit, "s") == 0;
    const double median = series_summary(series).median;
    printf("%s %s %.*f", separator, series->name, seconds ? 3 : 1, seconds ? median * 1e3 : median);
    separator = ",";
  }
  printf("\n");
}

static void print_contender(const bench_group *group, const bench_contender *contender)
{
  char name[NAME_MAX_SIZE];
  contender_name(contender, name);
  const bench_series *const wall = contender_series(contender, WALL);
  if (wall == NULL) return;
  const bench_summary time = series_summary(wall);
  printf("  %-29s %3u %9.3f %9.3f %9.3f", name, contender->threads, time.median * 1e3,
         time.min * 1e3, time.max * 1e3);
  print_ratio(contender_ratio(group, contender, STD, 1));
  print_ratio(contender_ratio(group, contender, PARALLEL, contender->threads));
  printf("\n");
  print_details(contender);
}

static void print_target(const bench_target *target)
{
  printf("  %-6s %7.2f, at %s %g: %s\n", target_met(target) ? "met" : "MISSED", target->value,
         target->at_most ? "most" : "least", target->bound, target->text);
}

void report_table(const bench_group *group)
{
  for (size_t i = 0; i < group->input_count; i++) {
    const bench_workload *const input = &group->inputs[i];
    printf("\n%s: %s, %s, %zu records of %zu bytes", group->suite, record_name(input->record),
           distribution_name(input->distribution), input->count, record_size(input->record));
    if (input->runs != 0) printf(" in %zu runs", input->runs);
    printf("\n");
    printf("  %-29s %3s %9s %9s %9s %6s %6s\n", "ms; bytes a record", "thr", "median", "min", "max",
           "x std", "x par");
    for (size_t c = 0; c < group->contender_count; c++) {
      if (group->contenders[c].input == input) print_contender(group, &group->contenders[c]);
    }
  }
  for (size_t t = 0; t < group->target_count; t++)
    print_target(&group->targets[t]);
  fflush(stdout);
}

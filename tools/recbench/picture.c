/* picture.c - passes a table of medians and plot.gp to gnuplot. It draws only sorts in memory with
 * a warm sorter, and their peers. */
#include "report.h"
#include "support/message.h"

#include "plot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { METHODS_MAX = 32 };

extern char **environ;

static bool drawn(const bench_group *group, const bench_contender *contender)
{
  return strcmp(group->suite, "file") != 0 && strcmp(group->suite, "merge") != 0 &&
         contender->variant == NULL;
}

static void method_label(const bench_contender *contender, char label[NAME_MAX_SIZE])
{
  char name[NAME_MAX_SIZE];
  contender_name(contender, name);
  snprintf(label, NAME_MAX_SIZE, "%.70s, %u thread%s", name, contender->threads,
           contender->threads == 1 ? "" : "s");
}

/* The labels of all methods, each once. */
static size_t find_methods(const bench_group *groups, size_t group_count,
                           char labels[METHODS_MAX][NAME_MAX_SIZE])
{
  size_t found = 0;
  for (size_t g = 0; g < group_count; g++) {
    for (size_t c = 0; c < groups[g].contender_count && found < METHODS_MAX; c++) {
      if (!drawn(&groups[g], &groups[g].contenders[c])) continue;
      method_label(&groups[g].contenders[c], labels[found]);
      size_t same = 0;
      while (strcmp(labels[same], labels[found]) != 0)
        same++;
      if (same == found) found++;
    }
  }
  return found;
}

static void write_cell(FILE *file, const bench_group *group, const bench_workload *input,
                       const char *label)
{
  char own[NAME_MAX_SIZE];
  for (size_t c = 0; c < group->contender_count; c++) {
    const bench_contender *const contender = &group->contenders[c];
    if (contender->input != input || !drawn(group, contender)) continue;
    method_label(contender, own);
    if (strcmp(own, label) != 0) continue;
    const bench_summary time = series_summary(contender_series(contender, WALL));
    const double millions = (double)input->count * 1e-6;
    fprintf(file, " %g %g %g", millions / time.median, millions / time.max, millions / time.min);
    return;
  }
  fprintf(file, " - - -");
}

static void write_table(FILE *file, const bench_group *groups, size_t group_count)
{
  char labels[METHODS_MAX][NAME_MAX_SIZE];
  const size_t methods = find_methods(groups, group_count, labels);
  fprintf(file, "methods = %zu\n$data << EOD\nx", methods);
  for (size_t m = 0; m < methods; m++)
    fprintf(file, " \"%s\" x x", labels[m]);
  fprintf(file, "\n");
  for (size_t g = 0; g < group_count; g++) {
    if (strcmp(groups[g].suite, "file") == 0) continue;
    for (size_t i = 0; i < groups[g].input_count; i++) {
      const bench_workload *const input = &groups[g].inputs[i];
      fprintf(file, "\"%s\\n%s\\n%zu\"", record_name(input->record),
              distribution_name(input->distribution), input->count);
      for (size_t m = 0; m < methods; m++)
        write_cell(file, &groups[g], input, labels[m]);
      fprintf(file, "\n");
    }
  }
  fprintf(file, "EOD\n");
}

/* Runs gnuplot from `script` to `path`. */
static bool run_gnuplot(int script, const char *path)
{
  char *words[] = {"gnuplot", "-", NULL};
  pid_t process;
  int status = 0;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
  const int picture = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (picture < 0) {
    tool_error_errno(path, errno);
    posix_spawn_file_actions_destroy(&actions);
    return false;
  }
  posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
  const int error = posix_spawnp(&process, words[0], &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(picture);
  if (error == 0) {
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
      continue;
    if (status == 0) return true;
    tool_error("gnuplot failed; %s was not drawn", path);
  } else {
    tool_error("gnuplot is needed to draw %s: %s", path, strerror(error));
  }
  unlink(path);
  return false;
}

bool report_picture(const char *path, const bench_machine *machine, const bench_group *groups,
                    size_t group_count)
{
  FILE *file = tmpfile();
  if (file == NULL) {
    tool_error_errno("temporary file", errno);
    return false;
  }
  fprintf(file, "heading = \"recsort %s (%s) on %s, %u cores\"\n", recsort_version(),
          machine->commit, machine->cpu, machine->cores);
  write_table(file, groups, group_count);
  fputs(plot_script, file);
  bool done = fflush(file) == 0 && !ferror(file);
  if (!done) tool_error_errno("temporary file", errno);
  rewind(file);
  done = done && run_gnuplot(fileno(file), path);
  fclose(file);
  return done;
}

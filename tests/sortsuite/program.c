/* program.c - asks a program to sort. README.md describes what is written and read. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include "sorts.h"

/* Of this process; sortsuite starts a process for each sort. */
static FILE *to, *from;

static bool start(const char *command)
{
  int there[2], back[2];
  if (pipe(there) || pipe(back)) return false;
  (void)fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    struct rlimit all; /* sortsuite limits a sort, but one program does all */
    (void)getrlimit(RLIMIT_CPU, &all);
    all.rlim_cur = all.rlim_max;
    (void)setrlimit(RLIMIT_CPU, &all);
    (void)dup2(there[0], STDIN_FILENO);
    (void)dup2(back[1], STDOUT_FILENO);
    for (int i = 0; i < 2; i++) {
      (void)close(there[i]);
      (void)close(back[i]);
    }
    (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
  }
  (void)close(there[0]);
  (void)close(back[1]);
  (void)signal(SIGPIPE, SIG_IGN);
  to = fdopen(there[1], "w");
  from = fdopen(back[0], "r");
  return child > 0 && to && from;
}

static void ask(const suite_case *c)
{
  (void)fprintf(to, "%zu %zu %s\n", c->count, c->key_size, c->kind);
  for (size_t i = 0; i < c->count; i++)
    (void)fwrite(c->input + i * c->record_size, 1, c->key_size, to);
  (void)fflush(to);
}

int program_sort(void *context, const suite_case *c)
{
  char answer[16];
  if (!to && !start(context)) return SUITE_BROKEN;
  ask(c);
  if (!fgets(answer, sizeof answer, from)) abort(); /* the program ended: a crash */
  if (strcmp(answer, "refused\n") == 0) return SUITE_REFUSED;
  if (strcmp(answer, "placed\n") != 0) return SUITE_BROKEN;
  if (fread(c->places, sizeof *c->places, c->count, from) != c->count) abort();
  return SUITE_PLACED;
}

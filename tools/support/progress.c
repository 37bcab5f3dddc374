/* progress.c - draws one line on standard error, at most ten times a second. */
#include "support/progress.h"

#include "support/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double interval = 0.1, least_spent = 2, least_share = 0.02;

static struct {
  bool enabled;
  bool drawn;
  const char *stage;
  uint64_t total;
  double began; /* time of the stage */
  double next;  /* time of the next drawing */
} progress;

bool tool_progress_set(const char *mode)
{
  if (mode == NULL || strcmp(mode, "always") == 0) {
    progress.enabled = true;
  } else if (strcmp(mode, "never") == 0) {
    progress.enabled = false;
  } else if (strcmp(mode, "auto") == 0) {
    progress.enabled = isatty(STDERR_FILENO) == 1;
  } else {
    return false;
  }
  return true;
}

/* Draws how long the stage still takes, once it took so long that this can be said. */
static void draw_left(double share)
{
  const double spent = tool_seconds() - progress.began;
  if (spent < least_spent || share < least_share) return;
  const double left = spent / share - spent;
  if (left < 100) {
    fprintf(stderr, ", %.0f s left", left);
  } else {
    fprintf(stderr, ", %.0f min left", left / 60);
  }
}

static void draw(uint64_t done)
{
  char bar[31];
  const double share = done < progress.total ? (double)done / (double)progress.total : 1.0;
  const size_t filled = (size_t)(share * (sizeof bar - 1));
  memset(bar, ' ', sizeof bar - 1);
  memset(bar, '=', filled);
  bar[sizeof bar - 1] = '\0';
  if (progress.total == 0) {
    fprintf(stderr, "\r\033[K%s: %s", tool_name(), progress.stage);
  } else {
    fprintf(stderr, "\r\033[K%s: %-8s [%s] %3.0f%%", tool_name(), progress.stage, bar, share * 100);
    draw_left(share);
  }
  fflush(stderr);
  progress.drawn = true;
  progress.next = tool_seconds() + interval;
}

void tool_progress_begin(const char *stage, uint64_t total)
{
  if (!progress.enabled) return;
  progress.stage = stage;
  progress.total = total;
  progress.began = tool_seconds();
  draw(0);
}

void tool_progress_update(uint64_t done)
{
  if (!progress.enabled || tool_seconds() < progress.next) return;
  draw(done);
}

void tool_progress_clear(void)
{
  if (!progress.drawn) return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  progress.drawn = false;
}

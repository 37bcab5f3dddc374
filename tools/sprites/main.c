/* main.c - the loop of a small game: see `sprites --help` and sprites(1). */
#include "sprites/sprites.h"
#include "support/message.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "Usage: sprites [OPTION...]\n"
    "A small game that sorts its entities in each frame, to draw them far to near.\n"
    "\n"
    "      --entities N    how many; default 2000\n"
    "      --count N       how many frames; default 300, in a window no end\n"
    "      --size WxH      of a frame, in pixels; default 480x300\n"
    "      --seed N        another N gives another game; default 1\n"
    "      --plugin NAME, --threads N    what sorts, as for recsort\n"
    "      --check         compare each order with qsort's; exit status 1: it differs\n"
    "      --frames DIR    write DIR/frame-0001.png and so on\n"
    "      --strip FILE    write the first, middle and last frame side by side\n"
    "      --plot FILE     write a picture of how long each sort took\n"
    "      --window        show a window, the default if there is a display\n"
    "  -h, --help, -V, --version\n";

/* What play.given holds: the value of an option, "" if it takes none, NULL if it is not given. */
enum { ENTITIES, COUNT, SIZE, SEED, PLUGIN, THREADS, CHECK, FRAMES, STRIP, PLOT, WINDOW, GIVEN };
static const struct option options[] = {
    {"entities", 1, NULL, ENTITIES}, {"count", 1, NULL, COUNT},
    {"size", 1, NULL, SIZE},         {"seed", 1, NULL, SEED},
    {"plugin", 1, NULL, PLUGIN},     {"threads", 1, NULL, THREADS},
    {"check", 0, NULL, CHECK},       {"frames", 1, NULL, FRAMES},
    {"strip", 1, NULL, STRIP},       {"plot", 1, NULL, PLOT},
    {"window", 0, NULL, WINDOW},     {"help", 0, NULL, 'h'},
    {"version", 0, NULL, 'V'},       {0}};

enum { PANELS = 3, GAP = 4, MOST_FRAMES = 1 << 20 };
typedef struct play { /* the only one lives as long as the program */
  const char *given[GIVEN];
  uint64_t count, threads, ties, panel;
  game g;
  recsort_sorter *sorter;
  double *seconds, slowest; /* of each frame's sort */
  numbered *expected;
  canvas strip, frame; /* a panel of it */
} play;

static bool is_bad(const play *p, int option, uint64_t least, uint64_t most, uint64_t *value)
{
  const char *const text = p->given[option];
  return text && !tool_option_count(options[option].name, text, least, most, value);
}

static int read_options(play *p)
{
  const char **const given = p->given, *const size = given[SIZE];
  canvas *const f = &p->frame;
  const int read = size ? sscanf(size, "%4dx%4d%c", &f->width, &f->height, &(char){0}) : 2;
  if (read != 2 || f->width < 1 || f->height < 1)
    return tool_usage_error("bad --size '%s': WxH, each 1 to 9999", size);
  const bool writes = given[FRAMES] || given[STRIP] || given[PLOT];
  if (!SPRITES_PNG && writes) return tool_usage_error("built without libpng: no PNG files");
  if (!SPRITES_SDL && given[WINDOW]) return tool_usage_error("built without SDL: no window");
  if (SPRITES_SDL && !writes && !given[CHECK] && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")))
    given[WINDOW] = "";
  p->count = given[WINDOW] ? MOST_FRAMES : 300;
  if (is_bad(p, ENTITIES, 1, 10000000, &p->g.count) || is_bad(p, COUNT, 1, MOST_FRAMES, &p->count))
    return TOOL_TROUBLE;
  if (is_bad(p, SEED, 0, UINT64_MAX, &p->g.seed)) return TOOL_TROUBLE;
  return is_bad(p, THREADS, 0, UINT32_MAX, &p->threads) ? TOOL_TROUBLE : TOOL_OK;
}

static int start(play *p)
{
  const int panels = p->count < PANELS ? (int)p->count : PANELS;
  p->strip = p->frame;
  p->strip.width = panels * (p->frame.width + GAP) - GAP;
  p->strip.stride = p->frame.stride = 3 * p->strip.width;
  p->strip.pixels = p->frame.pixels = calloc((size_t)p->strip.stride, (size_t)p->strip.height);
  p->seconds = calloc(p->count, sizeof *p->seconds);
  p->g.entities = calloc(p->g.count, sizeof *p->g.entities);
  p->expected = calloc(p->g.count, sizeof *p->expected);
  recsort_error error = {.text = "out of memory"};
  if (p->strip.pixels && p->seconds && p->g.entities && p->expected) {
    game_start(&p->g);
    p->sorter = depth_sorter_create(p->given[PLUGIN], (unsigned)p->threads, &error);
  }
  if (!p->sorter) tool_error_library(&error);
  return p->sorter ? TOOL_OK : TOOL_TROUBLE;
}

static int play_frame(play *p)
{
  const char *const folder = p->given[FRAMES];
  const size_t count = p->g.count;
  game_step(&p->g);
  if (p->given[CHECK]) p->ties += check_expect(p->expected, p->g.entities, count);
  recsort_error error;
  const double begin = tool_seconds();
  const recsort_status status = depth_sort(p->sorter, p->g.entities, count, &error);
  const double seconds = p->seconds[p->g.frame - 1] = tool_seconds() - begin;
  if (seconds > p->slowest) p->slowest = seconds;
  if (status) tool_error_library(&error);
  if (status) return TOOL_TROUBLE;
  const size_t at = p->given[CHECK] ? check_compare(p->expected, p->g.entities, count) : count;
  if (at < count) tool_error("frame %" PRIu64 ": place %zu has the wrong entity", p->g.frame, at);
  if (at < count) return TOOL_DISORDER;
  draw_game(&p->frame, &p->g);
  char path[4096] = "";
  if (folder) snprintf(path, sizeof path, "%s/frame-%04" PRIu64 ".png", folder, p->g.frame);
  if (SPRITES_PNG && folder && !draw_to_file(&p->frame, path)) return TOOL_TROUBLE;
  bool closed = false;
  if (SPRITES_SDL && p->given[WINDOW] && !draw_to_window(&p->frame, &closed)) return TOOL_TROUBLE;
  if (closed) p->count = p->g.frame;
  /* After the first, the middle and the last frame, the next panel is drawn. */
  if (p->g.frame == 1 + (p->count - 1) * p->panel / (PANELS - 1) && ++p->panel < PANELS)
    p->frame.pixels += 3 * (p->frame.width + GAP);
  return TOOL_OK;
}

static int compare(const void *a, const void *b)
{
  return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

/* Prints the figures and writes the pictures that are due at the end. */
static int finish(play *p, double seconds)
{
  const canvas *const c = &p->strip;
  const int n = (int)p->count;
  const double width = (double)c->width / n;
  if (SPRITES_PNG && p->given[STRIP] && !draw_to_file(c, p->given[STRIP])) return TOOL_TROUBLE;
  draw_box(c, 0, 0, c->width, c->height, 0xffffff);
  for (int i = 0; i < n; i++) { /* a bar, its height relative to the slowest */
    const int top = (int)(c->height * (1 - p->seconds[i] / (p->slowest + 1e-9)));
    draw_box(c, (int)(i * width), top, (int)(i * width + width) + 1, c->height, 0x4878b0);
  }
  if (SPRITES_PNG && p->given[PLOT] && !draw_to_file(c, p->given[PLOT])) return TOOL_TROUBLE;
  recsort_stats stats;
  recsort_sorter_get_stats(p->sorter, &stats, sizeof stats);
  printf("%d frames of %" PRIu64 " entities, %.1f a second; plugin %s\n", n, p->g.count,
         n / seconds, stats.plugin);
  double *const at = p->seconds;
  qsort(at, p->count, sizeof *at, compare);
  printf("sort, ms: 50%% %.3f, 90%% %.3f, 99%% %.3f, max %.3f\n", 1e3 * at[n / 2],
         1e3 * at[(int)(0.9 * n)], 1e3 * at[(int)(0.99 * n)], 1e3 * at[n - 1]);
  if (p->given[CHECK]) printf("every order is right; %" PRIu64 " neighbours tie\n", p->ties);
  return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
}

int main(int argc, char **argv)
{
  opterr = 0;
  tool_set_name("sprites");
  static play p = {.g = {.count = 2000, .seed = 1}, .frame = {.width = 480, .height = 300}};
  for (int option; (option = getopt_long(argc, argv, ":hV", options, NULL)) != -1;) {
    if (option == 'h') fputs(help, stdout);
    if (option == 'V') printf("sprites %s\n", recsort_version());
    if (option == 'h' || option == 'V') return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
    if (option == ':') return tool_usage_error("option '%s' needs a value", argv[optind - 1]);
    if (option == '?') return tool_usage_error("unknown option '%s'", argv[optind - 1]);
    p.given[option] = optarg ? optarg : "";
  }
  if (optind < argc) return tool_usage_error("unexpected argument '%s'", argv[optind]);
  int status = read_options(&p);
  if (status == TOOL_OK) status = start(&p);
  const double begin = tool_seconds();
  while (status == TOOL_OK && p.g.frame < p.count)
    status = play_frame(&p);
  if (status == TOOL_OK) status = finish(&p, tool_seconds() - begin);
  recsort_sorter_destroy(p.sorter);
  return status;
}

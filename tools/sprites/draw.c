/* draw.c - see sprites.h. */
#include "sprites/sprites.h"

#include "support/message.h"

#include <string.h>

/* The shapes side by side, those that walk first. # outline; b, l, d body, light and dark; w, k, n,
 * r white, black, brown, red. */
enum { COLUMNS = 11, ROWS = 12 };
static const char sheet[ROWS][COLUMNS * SHAPES + 1] = {
    "...#####..................#r#.......#####.......###.............................##.##...",
    "..#bbbbb#...............#######...##bbwbb##....#lbb#...........................#lb#bb#..",
    ".#lbbbbbb#.....###......#lbbbd#..#bwlbbbbwb#...#lbd#......##.##................#bb#bb#..",
    ".#lwwbwwb#...##lbb##....#kwkwk#..#blbbwbbbd#..#lbbbd#....#lb#lb#......####....#b##w##b#.",
    ".#bwkbwkb#..#llbbbbb#...#lbbbd#..#wbbbbbbbw#..##bbb##...#lbbbbbb#...##llbb#..#lb#www#bd#",
    ".#bbbbbbb#..#lwwbwwb#....#####...#bbbwbwbdd#.#lbbbbbd#.#lbbrbbbbd#.#lbbbbbb#..#b##w##b#.",
    ".#bbbbbbd#.#lbwkbwkbb#.#########..#########..##bbbbb##.#bbbbbbrbd#.#bbbdbbd#...#bb#bb#..",
    ".#bbkkkbd#.#bbbbbbbbb##lb#lbd#bd#..#wwwww#..#lbbbbbbbd##brbbbbbbd##lbbbbbbbd#..#bd#bd#..",
    ".#bbbbbbd#.#bbbkkkbbd##w##lbd##w#..#wkwkw#..#bbbbbbbdd##bbbbrbbdd##bbbbbbdbd#...##n##...",
    ".#bbbbbbd#.#bbbrrrbbd#.###bbd###...#wwwww#...#########.#bbbbbbddd##bbdbbbbdd#..#d#n#d#..",
    ".#d#bdb#d#.#dbbbbbddd#..#d#.#d#....#w###w#.....#nnn#....#bbrbbdd#.#bbbbbdddd#...#dnd#...",
    "..#.#.#.#...#########...###.###....##...##.....#####.....#######...#########.....###....",
};
static const float heights[SHAPES] = {1.2f, 1, 1.6f, 1.1f, 2.2f, 1.3f, 0.7f, 0.4f};
/* Colours of bodies: eight for those that walk, two for each shape that stands. */
static const uint32_t bodies[] = {0xe8e4f0, 0x4fc3e8, 0xf2a33c, 0xe0567a, 0x9b6ce0, 0x6fd08c,
                                  0xf0d34a, 0xe07048, 0x2f8f4e, 0x3f9a3a, 0x5aa844, 0x79a838,
                                  0x9a9a94, 0xb0a08c, 0xf08cc0, 0xf0b030};
static const uint32_t sky = 0x5f8fd0, haze = 0xc8d4e0, ground = 0x5c7a48;

void draw_box(const canvas *c, int left, int top, int right, int bottom, uint32_t colour)
{
  const uint8_t pixel[] = {colour >> 16 & 255, colour >> 8 & 255, colour & 255};
  for (int y = top > 0 ? top : 0; y < bottom && y < c->height; y++) {
    unsigned char *const row = c->pixels + (ptrdiff_t)y * c->stride;
    for (int x = left > 0 ? left : 0; x < right && x < c->width; x++)
      memcpy(row + 3 * x, pixel, sizeof pixel);
  }
}

/* `part` of 16 parts of `b`, and the rest of `a`. */
static uint32_t mix(uint32_t a, uint32_t b, uint32_t part)
{
  uint32_t mixed = 0;
  for (unsigned shift = 0; shift < 24; shift += 8)
    mixed |= ((a >> shift & 255) * (16 - part) + (b >> shift & 255) * part) / 16 << shift;
  return mixed;
}

/* A sprite that stands at (x, y). `part` of 16 parts of it are haze. */
static void draw_sprite(const canvas *c, int index, float x, float y, float scale, uint32_t part)
{
  const int shape = index % SHAPES, hue = index / SHAPES % 8;
  const uint32_t body = bodies[shape < WALKERS ? hue : 2 * shape + hue % 2];
  const uint32_t inks[128] = {['b'] = body,     ['l'] = mix(body, 0xffffff, 6),
                              ['w'] = 0xffffff, ['d'] = mix(body, 0x000000, 5),
                              ['n'] = 0x7a5230, ['r'] = 0xd03838};
  const float cell = scale * heights[shape] / ROWS;
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    const int row = i / COLUMNS, column = i % COLUMNS;
    const char ink = sheet[row][shape * COLUMNS + column];
    const float left = x + ((float)column - COLUMNS / 2.0f) * cell;
    const float top = y + (float)(row - ROWS) * cell;
    if (ink != '.' && left + cell > 0)
      draw_box(c, (int)left, (int)top, (int)(left + cell), (int)(top + cell),
               mix(inks[(int)ink], haze, part));
  }
}

void draw_game(const canvas *c, const game *g)
{
  const int horizon = c->height * 3 / 10;
  for (int y = 0; y < c->height; y++) {
    const int up = horizon - y, part = 16 * up / (up > 0 ? horizon : horizon - c->height);
    draw_box(c, 0, y, c->width, y + 1, mix(haze, up > 0 ? sky : ground, (uint32_t)part));
  }
  const float eye = 2.8f, focal = 0.8f * (float)c->width;
  for (uint64_t i = 0; i < g->count; i++) {
    const entity *const e = &g->entities[i];
    const float x = e->x - g->player_x, y = e->y - g->player_y, far = e->distanceFromPlayer;
    const float ahead = x * g->forward_x + y * g->forward_y;
    const float aside = x * g->forward_y - y * g->forward_x;
    if (ahead < far / 2) continue; /* behind the player, or far to one side */
    draw_sprite(c, e->spriteIndex, (float)c->width / 2 + focal * aside / ahead,
                (float)horizon + focal * eye / far, focal / far, far < 60 ? (uint32_t)far / 4 : 15);
  }
}

#if SPRITES_PNG
#include <errno.h>
#include <png.h>

bool draw_to_file(const canvas *c, const char *path)
{
  png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
  image.width = (png_uint_32)c->width;
  image.height = (png_uint_32)c->height;
  errno = 0;
  FILE *const file = fopen(path, "wb");
  bool done = file && png_image_write_to_stdio(&image, file, 0, c->pixels, c->stride, NULL);
  if (file) done = !fclose(file) && done;
  if (!done) tool_error("%s: %s", path, errno ? strerror(errno) : image.message);
  return done;
}
#endif

#if SPRITES_SDL
#include <SDL.h>

bool draw_to_window(const canvas *c, bool *closed)
{
  static SDL_Window *window;
  if (!window && !atexit(SDL_Quit) && !SDL_Init(SDL_INIT_VIDEO))
    window = SDL_CreateWindow("sprites", 0, 0, c->width, c->height, 0);
  SDL_Surface *const picture = SDL_CreateRGBSurfaceWithFormatFrom(
      c->pixels, c->width, c->height, 24, c->stride, SDL_PIXELFORMAT_RGB24);
  const bool shown = window &&
                     !SDL_BlitSurface(picture, NULL, SDL_GetWindowSurface(window), NULL) &&
                     !SDL_UpdateWindowSurface(window);
  if (!shown) tool_error("no window: %s", SDL_GetError());
  SDL_FreeSurface(picture);
  SDL_Delay(1000 / FRAMES_A_SECOND);
  SDL_PumpEvents();
  *closed = SDL_HasEvent(SDL_QUIT);
  return shown;
}
#endif

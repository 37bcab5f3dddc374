/* sprites.h - a game that needs its entities in order: the game, its pictures, and an oracle. */
#ifndef SPRITES_SPRITES_H
#define SPRITES_SPRITES_H

#include "sprites/depth_sort.h"

/* Entities walk about a player, who turns. Frames are the same on every machine: the time step is
 * fixed, and floats are only added, multiplied, divided, rooted and rounded. Many entities tie:
 * distances are rounded, and of eight entities four stand on one spot, the largest one first. */
typedef struct game {
  entity *entities;
  uint64_t count, seed, frame;
  float radius;                                   /* of the world, round (0, 0) */
  float player_x, player_y, forward_x, forward_y; /* where the player is, and looks */
} game;
/* spriteIndex % SHAPES is the shape, the rest the colour. The first shapes walk. */
enum { SHAPES = 8, WALKERS = 4, FRAMES_A_SECOND = 30 };
/* Places the entities, which are zeros; in each frame, moves them and computes the distances. */
void game_start(game *g);
void game_step(game *g);

/* 3 bytes a pixel, red first; `stride` bytes a row. It may be a part of a wider canvas. */
typedef struct canvas {
  int width, height, stride;
  unsigned char *pixels;
} canvas;
/* Fills a rectangle, or what of it is on the canvas, with a colour 0xRRGGBB. */
void draw_box(const canvas *c, int left, int top, int right, int bottom, uint32_t colour);
/* Draws what the player sees, in the order of the entities: each covers those before it. */
void draw_game(const canvas *c, const game *g);
/* Writes a PNG file; only if SPRITES_PNG. False, with a message, on failure. */
bool draw_to_file(const canvas *c, const char *path);
/* Shows a frame in a window, which the first call opens, for a 30th of a second; only if
 * SPRITES_SDL. Says whether the user closed it. False, with a message, on failure. */
bool draw_to_window(const canvas *c, bool *closed);

typedef struct numbered {
  entity record;
  size_t place;
} numbered;
/* Before a sort: computes the order to expect, by qsort. Returns how many neighbours tie. */
size_t check_expect(numbered *expected, const entity *entities, size_t count);
/* After it: the first place where a byte is not as expected; `count` if there is none. */
size_t check_compare(const numbered *expected, const entity *sorted, size_t count);

#endif

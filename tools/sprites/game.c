/* game.c - see sprites.h. */
#include "sprites/sprites.h"

#include "support/random.h"

#include <math.h>

static const float clearing = 7, orbit = 2; /* radii: no entities inside; the path of the player */

/* A number from 0 up to 1. */
static float random_part(uint64_t *stream)
{
  return (float)(random_next(stream) >> 40) * 0x1p-24f;
}

/* Bhaskara's approximation, as the C library's sine differs between machines. */
static float sine(float turns)
{
  const float part = 2 * (turns - floorf(turns)), half = part < 1 ? part : part - 1;
  const float product = half * (1 - half), value = 16 * product / (5 - 4 * product);
  return part < 1 ? value : -value;
}

void game_start(game *g)
{
  g->radius = 12 + sqrtf((float)g->count);
  for (uint64_t i = 0; i < g->count; i++) {
    entity *const e = &g->entities[i];
    const uint64_t shape = i % SHAPES;
    uint64_t stream = random_stream(g->seed, shape < WALKERS ? i : i - shape + WALKERS);
    const float reach = clearing + (g->radius - clearing) * random_part(&stream);
    e->angle = random_part(&stream);
    e->x = reach * sine(e->angle + 0.25f);
    e->y = reach * sine(e->angle);
    e->spriteIndex = (int16_t)(shape + random_next(&stream) % 1024 * SHAPES);
  }
}

void game_step(game *g)
{
  const uint64_t round = 20 * FRAMES_A_SECOND; /* frames in which the player turns once */
  const float heading = (float)(g->frame++ % round) / (float)round;
  g->forward_x = sine(heading + 0.25f);
  g->forward_y = sine(heading);
  g->player_x = orbit * g->forward_x;
  g->player_y = orbit * g->forward_y;
  for (uint64_t i = 0; i < g->count; i++) {
    entity *const e = &g->entities[i];
    uint64_t stream = random_stream(g->seed + g->frame, i);
    const float step = e->spriteIndex % SHAPES < WALKERS ? 1.5f / FRAMES_A_SECOND : 0;
    e->angle += (random_part(&stream) - 0.5f) * 0.1f;
    const float x = e->x + step * sine(e->angle + 0.25f), y = e->y + step * sine(e->angle);
    const float reach = sqrtf(x * x + y * y);
    const bool goes = reach >= clearing && reach <= g->radius;
    e->x = goes ? x : e->x;
    e->y = goes ? y : e->y;
    e->angle += goes ? 0 : 0.5f; /* turns round at the edge */
    const float right = e->x - g->player_x, up = e->y - g->player_y;
    e->distanceFromPlayer = floorf(sqrtf(right * right + up * up) * 8 + 0.5f) / 8;
  }
}

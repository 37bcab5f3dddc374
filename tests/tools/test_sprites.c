/* test_sprites.c - the parts of the game: there are ties, the check finds wrong orders, and a wrong
 * order can be seen. */
#include "sprites/sprites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 800, FRAMES = 40, WIDTH = 160, HEIGHT = 100 };

typedef struct fixture {
  game g;
  recsort_sorter *sorter;
  numbered expected[COUNT];
  entity planted[COUNT]; /* the order of a frame, to be spoilt */
  size_t ties;
} fixture;

/* The last of some frames, sorted. */
static int setup(void **state)
{
  fixture *const f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->g = (game){.entities = calloc(COUNT, sizeof(entity)), .count = COUNT, .seed = 7};
  f->sorter = depth_sorter_create(NULL, 1, NULL);
  assert_non_null(f->g.entities);
  assert_non_null(f->sorter);
  game_start(&f->g);
  for (int i = 0; i < FRAMES; i++) {
    game_step(&f->g);
    f->ties = check_expect(f->expected, f->g.entities, COUNT);
    assert_int_equal(RECSORT_OK, depth_sort(f->sorter, f->g.entities, COUNT, NULL));
    assert_int_equal(COUNT, check_compare(f->expected, f->g.entities, COUNT));
  }
  memcpy(f->planted, f->g.entities, sizeof f->planted);
  *state = f;
  return 0;
}

static int teardown(void **state)
{
  fixture *const f = *state;
  recsort_sorter_destroy(f->sorter);
  free(f->g.entities);
  free(f);
  return 0;
}

static bool tie(const entity *a, const entity *b)
{
  return !(a->distanceFromPlayer < b->distanceFromPlayer) &&
         !(a->distanceFromPlayer > b->distanceFromPlayer);
}

static bool stand_together(const entity *a, const entity *b)
{
  return !memcmp(&a->x, &b->x, sizeof a->x) && !memcmp(&a->y, &b->y, sizeof a->y);
}

static void exchange(entity *entities, size_t i)
{
  entity first;
  memcpy(&first, &entities[i], sizeof first); /* with its padding */
  memcpy(&entities[i], &entities[i + 1], sizeof first);
  memcpy(&entities[i + 1], &first, sizeof first);
}

/* Neighbours tie, on one spot and elsewhere, and no two of them are the same. */
static void test_ties(void **state)
{
  const fixture *const f = *state;
  size_t ties = 0, together = 0;
  for (size_t i = 0; i + 1 < COUNT; i++) {
    const entity *const a = &f->planted[i], *const b = a + 1;
    assert_true(a->distanceFromPlayer >= b->distanceFromPlayer);
    assert_memory_not_equal(a, b, sizeof *a);
    ties += tie(a, b);
    together += stand_together(a, b);
  }
  assert_int_equal(f->ties, ties);
  assert_in_range(together, COUNT / 4, COUNT / 2); /* three pairs of every eight entities at most */
  assert_true(ties > together + COUNT / 8);
}

/* Those on one spot are where they were placed in relation to each other, frames later. */
static void test_stacks_keep_their_order(void **state)
{
  const fixture *const f = *state;
  size_t pairs = 0;
  for (size_t i = 0; i < COUNT; i++) {
    for (size_t j = i + 1; j < COUNT; j++) {
      const entity *const a = &f->planted[i], *const b = &f->planted[j];
      if (!stand_together(a, b)) continue;
      pairs++;
      assert_true(a->spriteIndex % SHAPES >= WALKERS);
      assert_true(a->spriteIndex % SHAPES < b->spriteIndex % SHAPES);
    }
  }
  assert_int_equal(COUNT / 8 * 6, pairs);
}

/* Any exchange of neighbours is found where it is, also of those that tie. */
static void test_check_finds_exchanges(void **state)
{
  fixture *const f = *state;
  for (size_t i = 0; i + 1 < COUNT; i++) {
    exchange(f->planted, i);
    assert_int_equal(i, check_compare(f->expected, f->planted, COUNT));
    exchange(f->planted, i);
  }
  assert_int_equal(COUNT, check_compare(f->expected, f->planted, COUNT));
}

/* And any byte that differs, even of the padding; and a lost record. */
static void test_check_finds_bytes(void **state)
{
  fixture *const f = *state;
  unsigned char *const bytes = (unsigned char *)f->planted;
  for (size_t i = 0; i < sizeof f->planted; i++) {
    bytes[i] ^= 1;
    assert_int_equal(i / sizeof(entity), check_compare(f->expected, f->planted, COUNT));
    bytes[i] ^= 1;
  }
  memcpy(&f->planted[99], &f->planted[98], sizeof(entity));
  assert_int_equal(99, check_compare(f->expected, f->planted, COUNT));
}

/* Exchanged ties change the picture: a larger sprite then covers a smaller one on its spot. */
static void test_a_wrong_order_is_seen(void **state)
{
  fixture *const f = *state;
  static unsigned char right[3 * WIDTH * HEIGHT], wrong[sizeof right];
  const canvas c = {WIDTH, HEIGHT, 3 * WIDTH, right}, d = {WIDTH, HEIGHT, 3 * WIDTH, wrong};
  draw_game(&c, &f->g);
  game other = f->g;
  other.entities = f->planted;
  draw_game(&d, &other);
  assert_memory_equal(right, wrong, sizeof right);
  size_t seen = 0;
  for (size_t i = 0; i + 1 < COUNT; i++) {
    if (!stand_together(&f->planted[i], &f->planted[i + 1])) continue;
    exchange(f->planted, i);
    draw_game(&d, &other);
    seen += memcmp(right, wrong, sizeof right) != 0;
    exchange(f->planted, i);
  }
  assert_true(seen > 10);
}

/* Who stands on an edge of the world, within it, walks on; who stands beyond it turns round. */
static void test_edges_belong_to_the_world(void **state)
{
  enum { PLACES = 4, STANDS = WALKERS };
  static const float places[PLACES] = {6.75f, 7, 20, 20.25f};
  entity entities[PLACES] = {{0}};
  game g = {.entities = entities, .count = PLACES, .radius = 20};
  (void)state;
  for (int i = 0; i < PLACES; i++) {
    entities[i].x = places[i];
    entities[i].spriteIndex = STANDS;
  }
  game_step(&g);
  for (int i = 0; i < PLACES; i++)
    assert_int_equal(i == 0 || i == PLACES - 1, entities[i].angle > 0.25f);
}

/* A canvas may be a part of a wider one: nothing is written beside it. */
static void test_canvas_is_kept_to(void **state)
{
  const fixture *const f = *state;
  static unsigned char pixels[3 * WIDTH * HEIGHT];
  enum { LEFT = 3 * 50, RIGHT = 3 * 110 };
  memset(pixels, 0xab, sizeof pixels);
  const canvas c = {(RIGHT - LEFT) / 3, HEIGHT, 3 * WIDTH, pixels + LEFT};
  draw_game(&c, &f->g);
  for (size_t i = 0; i < sizeof pixels; i++) {
    const size_t x = i % (3 * WIDTH);
    if (x < LEFT || x >= RIGHT) assert_int_equal(0xab, pixels[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_ties, setup, teardown),
      cmocka_unit_test_setup_teardown(test_stacks_keep_their_order, setup, teardown),
      cmocka_unit_test_setup_teardown(test_check_finds_exchanges, setup, teardown),
      cmocka_unit_test_setup_teardown(test_check_finds_bytes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_a_wrong_order_is_seen, setup, teardown),
      cmocka_unit_test(test_edges_belong_to_the_world),
      cmocka_unit_test_setup_teardown(test_canvas_is_kept_to, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

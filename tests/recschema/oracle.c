/* Usage: oracle keys        prints the number and the path of each key
 *        oracle records     writes records with ties for each key
 *        oracle sort N      writes the same records, sorted stably by key N
 * C's own idea of a struct, in C or C++ and on any machine, to compare recsort with. */
#include KEYS_STRUCT

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

enum { COUNT = 400 };

typedef struct numbered {
  int number;
  sample record; /* its flexible array has no elements */
} numbered;

static numbered records[COUNT];

/* Few values, small and large, positive and negative. */
static void fill(sample *r, uint64_t *state)
{
  static const unsigned char some[] = {0, 1, 0x7f, 0x80, 0xff};
  static const double reals[] = {-1e3, -0.5, 0, 0.25, 7};
  unsigned char *const bytes = (unsigned char *)r;
  const bool few = random_below(state, 2) != 0;
  for (size_t i = 0; i < sizeof *r; i++)
    bytes[i] = some[random_below(state, few ? 2 : 5)];
#define REAL reals[random_below(state, 5)]
#define TRUTH random_below(state, 2) != 0
  FILL(r);
}

static int by_number(const numbered *a, const numbered *b)
{
  return (a->number > b->number) - (a->number < b->number);
}

#define COMPARE(less, more) return (less) ? -1 : (more) ? 1 : by_number(a, b)
#define LINE_(line) by_##line
#define LINE(line) LINE_(line)
#define BY(path, member)                                                                           \
  static int LINE(__LINE__)(const void *x, const void *y)                                          \
  {                                                                                                \
    const numbered *const a = (const numbered *)x, *const b = (const numbered *)y;                 \
    const sample *r = &a->record;                                                                  \
    const auto_type first = member + 0;                                                            \
    r = &b->record;                                                                                \
    const auto_type second = member + 0;                                                           \
    COMPARE(first < second, second < first);                                                       \
  }
#define BYTES(path, member)                                                                        \
  static int LINE(__LINE__)(const void *x, const void *y)                                          \
  {                                                                                                \
    const numbered *const a = (const numbered *)x, *const b = (const numbered *)y;                 \
    const sample *r = &a->record;                                                                  \
    const void *const first = &member;                                                             \
    r = &b->record;                                                                                \
    const int order = memcmp(first, &member, sizeof member);                                       \
    COMPARE(order<0, order> 0);                                                                    \
  }
#define TEXT(path, member)                                                                         \
  static int LINE(__LINE__)(const void *x, const void *y)                                          \
  {                                                                                                \
    const numbered *const a = (const numbered *)x, *const b = (const numbered *)y;                 \
    const sample *r = &a->record;                                                                  \
    const char *const first = member;                                                              \
    r = &b->record;                                                                                \
    const int order = strncmp(first, member, sizeof member);                                       \
    COMPARE(order<0, order> 0);                                                                    \
  }
#ifdef __cplusplus
#define auto_type auto
#else
#define auto_type __auto_type
#endif
#include KEYS
#undef BY
#undef BYTES
#undef TEXT

static const struct {
  const char *path;
  int (*compare)(const void *, const void *);
} keys[] = {
#define BY(path, member) {#path, LINE(__LINE__)},
#define BYTES BY
#define TEXT BY
#include KEYS
};

int main(int argc, char **argv)
{
  const size_t count = sizeof keys / sizeof *keys;
  uint64_t state = 1;
  if (argc == 2 && strcmp(argv[1], "keys") == 0) {
    for (size_t i = 0; i < count; i++)
      printf("%d %s\n", (int)i, keys[i].path);
    return 0;
  }
  for (int i = 0; i < COUNT; i++) {
    fill(&records[i].record, &state);
    records[i].number = i;
  }
  if (argc == 3) qsort(records, COUNT, sizeof *records, keys[atoi(argv[2])].compare);
  for (int i = 0; i < COUNT; i++)
    fwrite(&records[i].record, sizeof(sample), 1, stdout);
  return 0;
}

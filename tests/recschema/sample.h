/* A struct with a member of every kind that debug information can describe. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum kind { TREE, BUSH = 5, ROCK };
enum weather { SUN = -1, RAIN, SNOW };

typedef struct {
  float x, y;
} point;

struct inner { /* with padding at its end */
  double weight;
  char tag[3];
  short id;
  const char last;
};

typedef struct sample {
  char letter;
  signed char small;
  unsigned char tiny;
  bool alive;
  int32_t number;
  short shorter;
  unsigned long long_one;
  long long further;
  float real;
  volatile double precise;
  enum kind kind;
  enum weather weather, forecast[2];
  char name[5];
  uint8_t digest[4];
  signed char steps[3];
  point at;
  struct inner parts[2];
  int grid[2][3];
  union {
    int32_t as_int;
    float as_float;
  };
  union {
    uint16_t word;
    uint8_t bytes[2];
  } choice;
  struct {
    short hidden;
    bool yes;
  };
  unsigned a : 3, b : 7, : 2, c : 12;
  unsigned char lone : 5;
  uint64_t wide : 40, rest : 20;
  bool flag : 1;
  unsigned : 8, shifted : 24; /* its integer begins at the bits without a name */
  uint8_t before_tight;
  unsigned tight : 24; /* its integer would overlap before_tight */
#ifdef __FLT16_MAX__
  _Float16 half;
#endif
  __int128 huge;
  unsigned __int128 vast;
  const void *address;
  long double extended;
  struct none {
  } empty;
  int tail[];
} sample;

/* Gives values to what cannot have any bytes. */
#ifdef __FLT16_MAX__
#define FILL_HALF(r) r->half = (_Float16)REAL
#else
#define FILL_HALF(r) (void)r
#endif
#define FILL(r)                                                                                    \
  r->alive = TRUTH, r->yes = TRUTH, r->real = (float)REAL, r->precise = REAL;                      \
  r->at.y = (float)REAL, r->parts[1].weight = REAL;                                                \
  r->kind = TRUTH ? TREE : ROCK, r->weather = TRUTH ? SUN : SNOW;                                  \
  r->forecast[0] = RAIN, r->forecast[1] = TRUTH ? RAIN : SNOW;                                     \
  FILL_HALF(r)

#endif

/* suite.h - inputs that any sort can be given, and what is wrong with what it makes of them.
 *
 * A sort is a callback. An input has a kind of record (kinds.c), a pattern (patterns.c) and a
 * length, and always has ties unless it is short. The suite does not need the library: of recsort.h
 * it takes only names of types. The header is C and C++.
 */
#ifndef RS_CONFORMANCE_SUITE_H
#define RS_CONFORMANCE_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct suite suite;

/* One input. A record is its keys, packed, and behind them a tag of 8 bytes, which is no key: the
 * record's place in the input. */
typedef struct suite_case {
  const char *kind;    /* "int32", "float64 desc", ... */
  const char *pattern; /* "uniform", "zipf", ... */
  size_t count;
  size_t record_size;
  size_t key_size;            /* bytes of the keys: all of a record but its tag */
  const unsigned char *input; /* the records; stays as it is */
  unsigned char *records;     /* the same, to be sorted in place; */
  uint64_t *places;           /* or, for each place of the result, the place in the input */
  const suite *owner;
} suite_case;

/* What a sort returns. */
enum {
  SUITE_SORTED,  /* `records` are sorted */
  SUITE_PLACED,  /* `places` are written */
  SUITE_REFUSED, /* it does not sort such keys: that is no fault */
  SUITE_BROKEN   /* it failed */
};
typedef int suite_sort(void *context, const suite_case *c);

/* Less than, equal to or greater than 0, if record `a` goes before, ties with or goes after `b`.
 * For sorts that take a comparison; any thread may call it. Pointers into what lies around
 * `records` are noticed. */
int suite_compare(const suite_case *c, const void *a, const void *b);

/* What can be wrong. A result may have several faults: 1 << fault each. */
typedef enum suite_fault {
  SUITE_ORDER,     /* a record is before one that goes before it */
  SUITE_NAN,       /* the same, but the input has NaNs: they go last, unless the kind says other */
  SUITE_STABILITY, /* records whose keys are the same bytes changed their order */
  SUITE_EQUALS,    /* records with equal keys of other bytes did: 0 and -0, two NaNs */
  SUITE_LOST,      /* a record is not there, comes twice, or is another one */
  SUITE_OUTSIDE,   /* memory outside the array was written, or given to suite_compare */
  SUITE_FAILURE,   /* the sort returned SUITE_BROKEN */
  SUITE_CRASH,     /* the process ended; only a caller that starts one notices it, */
  SUITE_ENDLESS,   /* and that it does not end */
  SUITE_FAULTS
} suite_fault;
extern const char *const suite_fault_names[SUITE_FAULTS];

/* Memory for inputs of up to `most` records. NULL: the allocation failed. */
suite *suite_create(size_t most);
void suite_destroy(suite *s);

size_t suite_kinds(void);
const char *suite_kind(size_t number);
const char *suite_pattern(size_t number);
enum { SUITE_MOST = (1 << 18) + 1 }; /* records of the largest input that suite_each has */

/* An input: which kind, which pattern, how many records. */
typedef struct suite_input {
  size_t kind, pattern, count;
} suite_input;

/* Calls `visit` for each input of a kind: every pattern with every length up to 70; then lengths at
 * which sorts change their behaviour, the fewer patterns the longer. `few`: about one of 100. */
typedef void suite_visit(void *context, suite_input input);
void suite_each(size_t number, bool few, suite_visit *visit, void *context);

/* Makes an input. It is valid until the next one. */
const suite_case *suite_make(suite *s, suite_input input, uint64_t *random);

/* Its correct result: the place in the input of each record. */
const uint64_t *suite_places(const suite *s);
bool suite_has_ties(const suite *s);

/* From now on suite_compare contradicts itself, as a careless comparison does. No order is right
 * then, but a sort must neither lose records nor leave the array. */
void suite_contradict(suite *s, bool contradicts);

/* Sorts the input, and says what is wrong. `refused` may be NULL. */
unsigned suite_try(suite *s, suite_sort *sort, void *context, bool *refused);

#ifdef __cplusplus
}
#endif
#endif

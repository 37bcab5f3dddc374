/* peers.c - sorts of all ranks by others. Each is used in two ways. It sorts the records with their
 * places; or it sorts words of key and place, and each rank asks the others for the records of its
 * words. */
#include "bench.h"

#include <string.h>

#if BENCH_SC
#include <sc_sort.h>
#endif
#if BENCH_MPSORT
#include <mpsort.h>
#endif

#if BENCH_SC || BENCH_MPSORT
/* Ascending words are descending distances, and then ascending places. */
static uint64_t word_of(const entity *one, uint32_t place)
{
  uint32_t bits;
  memcpy(&bits, &one->distance, sizeof bits);
  return (uint64_t)~bits << 32 | place;
}

static void pack(const bench *b, uint64_t *words)
{
  const uint32_t first = (uint32_t)((size_t)b->rank * b->count);
  for (size_t i = 0; i < b->count; i++)
    words[i] = word_of(&b->records[i], first + (uint32_t)i);
}

static void add_places(bench *b)
{
  const uint32_t first = (uint32_t)((size_t)b->rank * b->count);
  for (size_t i = 0; i < b->count; i++)
    b->numbered_records[i] = (numbered){b->records[i], first + (uint32_t)i};
}

static void remove_places(bench *b, const numbered *sorted)
{
  for (size_t i = 0; i < b->count; i++)
    b->result[i] = sorted[i].one;
}

/* Where the parts of an array begin that go to each rank. */
static void sum_up(const bench *b, const int *counts, int *begins)
{
  begins[0] = 0;
  for (int r = 1; r < b->ranks; r++)
    begins[r] = begins[r - 1] + counts[r - 1];
}

/* Puts the records of sorted words into `result`. Each record is wanted once, so a rank is asked
 * for as many as it has. */
static void fetch(bench *b)
{
  int wanted[MOST_RANKS] = {0}, wanted_at[MOST_RANKS], asked[MOST_RANKS], asked_at[MOST_RANKS];
  int next[MOST_RANKS];
  uint32_t *const wishes = (uint32_t *)b->other_words, *const requests = wishes + b->count;
  entity *const outgoing = (entity *)b->numbered_records;
  const uint32_t count = (uint32_t)b->count;
  MPI_Datatype type;
  for (size_t i = 0; i < count; i++)
    wanted[(uint32_t)b->words[i] / count]++;
  MPI_Alltoall(wanted, 1, MPI_INT, asked, 1, MPI_INT, b->comm);
  sum_up(b, wanted, wanted_at);
  sum_up(b, asked, asked_at);
  memcpy(next, wanted_at, sizeof next);
  for (size_t i = 0; i < count; i++)
    wishes[next[(uint32_t)b->words[i] / count]++] = (uint32_t)b->words[i] % count;
  MPI_Alltoallv(wishes, wanted, wanted_at, MPI_UINT32_T, requests, asked, asked_at, MPI_UINT32_T,
                b->comm);
  for (size_t i = 0; i < count; i++)
    outgoing[i] = b->records[requests[i]];
  MPI_Type_contiguous(sizeof(entity), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Alltoallv(outgoing, asked, asked_at, type, b->records, wanted, wanted_at, type, b->comm);
  MPI_Type_free(&type);
  memcpy(next, wanted_at, sizeof next);
  for (size_t i = 0; i < count; i++)
    b->result[i] = b->records[next[(uint32_t)b->words[i] / count]++];
}

#endif

#if BENCH_SC
static int compare_words(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static int compare_numbered(const void *a, const void *b)
{
  const numbered *const x = a, *const y = b;
  if (x->one.distance != y->one.distance) return x->one.distance < y->one.distance ? 1 : -1;
  return (x->place > y->place) - (x->place < y->place);
}

static void sc_words(bench *b)
{
  pack(b, b->words);
  sc_psort(b->comm, b->words, b->sizes, sizeof *b->words, compare_words);
  fetch(b);
}

static void sc_records(bench *b)
{
  add_places(b);
  sc_psort(b->comm, b->numbered_records, b->sizes, sizeof *b->numbered_records, compare_numbered);
  remove_places(b, b->numbered_records);
}
#endif

#if BENCH_MPSORT
static void key_of_word(const void *word, void *key, void *none)
{
  (void)none;
  memcpy(key, word, sizeof(uint64_t));
}

static void key_of_numbered(const void *one, void *key, void *none)
{
  const numbered *const from = one;
  const uint64_t word = word_of(&from->one, from->place);
  (void)none;
  memcpy(key, &word, sizeof word);
}

static void mpsort_words(bench *b)
{
  pack(b, b->other_words);
  mpsort_mpi_newarray(b->other_words, b->count, b->words, b->count, sizeof(uint64_t), key_of_word,
                      sizeof(uint64_t), NULL, b->comm);
  fetch(b);
}

static void mpsort_records(bench *b)
{
  add_places(b);
  mpsort_mpi_newarray(b->numbered_records, b->count, b->other_numbered, b->count, sizeof(numbered),
                      key_of_numbered, sizeof(uint64_t), NULL, b->comm);
  remove_places(b, b->other_numbered);
}
#endif

const contestant peers[] = {
#if BENCH_SC
    {"sc_psort, words, then records", sc_words},
    {"sc_psort, records", sc_records},
#endif
#if BENCH_MPSORT
    {"MP-sort, words, then records", mpsort_words},
    {"MP-sort, records", mpsort_records},
#endif
    {.name = NULL}};

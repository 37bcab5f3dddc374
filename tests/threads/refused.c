/* refused.c - the system refuses threads. This program's pthread_create, which the library finds
 * instead of the C library's, refuses all but a few: every sort must still give the same bytes,
 * without messages and without ending the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"

enum { COUNT = 400000, THREADS = 6 };

static atomic_int left; /* threads that can still be created */
static atomic_int refusals;

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*start)(void *), void *argument)
{
  static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!create) {
    void *const symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&create, &symbol, sizeof symbol);
  }
  if (atomic_fetch_sub(&left, 1) > 0) return create(thread, attributes, start, argument);
  (void)atomic_fetch_add(&refusals, 1);
  return EAGAIN;
}

/* The pool retries after a while, and then gets one more thread. */
static bool sorts_with(recsort_sorter *sorter, int threads)
{
  numbered *const records = make_numbered(COUNT, (uint32_t)threads);
  usleep(150000);
  left = threads > 0;
  const bool sorted = records && recsort_sort(sorter, records, COUNT, NULL) == RECSORT_OK &&
                      in_order(records, COUNT);
  const size_t found = pool_threads();
  free(records);
  printf("%d threads to be had: %s, %zu beside the caller\n", threads, sorted ? "sorted" : "wrong",
         found);
  return sorted && found == (size_t)threads;
}

int main(void)
{
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cpu", .threads = THREADS};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  bool good = recsort_schema_create(&numbered_schema, NULL, &schema, NULL) == RECSORT_OK &&
              recsort_sorter_create(schema, &options, &sorter, NULL) == RECSORT_OK;
  for (int threads = 0; threads < THREADS && good; threads++)
    good = sorts_with(sorter, threads);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  printf("%d refusals\n", (int)refusals);
  return good && refusals >= THREADS - 1 ? 0 : 1;
}

/* copies.cpp - two copies of recsort.c in one program, each with its own pool of threads. */
#include "copies.h"

#include <cstdio>
#include <filesystem>
#include <iterator>

unsigned threads_now()
{
  return static_cast<unsigned>(std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                             std::filesystem::directory_iterator()));
}

int main()
{
  const unsigned count = 1 << 19, before = threads_now();
  const unsigned one = first_sorts(count), two = second_sorts(count), again = first_sorts(count);
  std::printf("%u threads, then %u, %u and %u\n", before, one, two, again);
  return before == 1 && one == THREADS && two == 2 * THREADS - 1 && again == two ? 0 : 1;
}

/* copy.cpp - a part of a program that has a copy of the library of its own. It is compiled for each
 * copy, with the copy's RECSORT_PREFIX, and SORTS is the name of its function. */
#include "copies.h"

#include <algorithm>
#include <random>
#include <vector>

#include "recsort.hpp"

namespace
{
struct entity {
  float distance;
  unsigned number;
};
} // namespace

/* Sorts by several threads. Returns how many threads the process had meanwhile; 0: it is wrong. */
unsigned SORTS(unsigned count)
{
  std::vector<entity> entities(count);
  std::mt19937 random(count);
  recsort_options options = RECSORT_OPTIONS_INIT;
  options.threads = THREADS;
  recsort::sorter<entity> by({recsort::desc(&entity::distance)}, options);
  for (unsigned i = 0; i < count; i++)
    entities[i] = {static_cast<float>(random() % 1000), i};
  std::vector<entity> expected = entities;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const entity &a, const entity &b) { return a.distance > b.distance; });
  by.sort(entities);
  return std::equal(entities.begin(), entities.end(), expected.begin(),
                    [](const entity &a, const entity &b) { return a.number == b.number; })
             ? threads_now()
             : 0;
}

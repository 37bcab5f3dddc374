/* conflicts.cpp - an input that is bad for merge sorts in shared memory.
 *
 * A thread of a merge takes E neighbours of the result, which it reads from two runs one by one. In
 * 32 banks whole columns of a run lie one above the other; where as many threads as can be begin to
 * read at the head of a column they ask the same bank for each of their E keys, one after the
 * other. Threads between them read the rest of a column, and fill up from the other run. (Berney
 * and Sitchinava, "Engineering worst-case inputs for pairwise merge sort on GPUs", 2020; here each
 * thread's share is chosen by what makes the next one begin at a head.)
 *
 * The sorted order is taken apart, from the last merge to the first: each run becomes the two that
 * are merged that way.
 */
#include <algorithm>

#include "bench.h"

namespace bench
{

namespace
{

/* Of CUB's merge sort of 32-bit keys: a thread's keys, and a block's. */
constexpr uint32_t banks = 32, each = 17, tile = 256 * each;

/* A warp's keys in their order: true those of the run that has more of them. */
std::vector<bool> warp_pattern()
{
  const uint32_t all[2] = {(each + 1) / 2 * banks, each / 2 * banks};
  uint32_t at[2] = {0, 0};
  std::vector<bool> pattern;
  for (uint32_t thread = 0; thread < banks; thread++) {
    const auto to_head = [&](int run) { return banks - at[run] % banks; };
    const auto left = [&](int run) { return all[run] - at[run]; };
    uint32_t first;
    if (at[0] % banks == 0 && left(0) >= each)
      first = each;
    else if (at[1] % banks == 0 && left(1) >= each)
      first = 0;
    else if (to_head(0) <= each)
      first = to_head(0);
    else
      first = each - std::min(each, to_head(1));
    first = std::max(std::min(first, left(0)), each - std::min(each, left(1)));
    for (uint32_t i = 0; i < each; i++)
      pattern.push_back(i < first);
    at[0] += first;
    at[1] += each - first;
  }
  return pattern;
}

/* The keys of a sorted run to the two that are merged to it; and so on, down to what a warp merges.
 */
void take_apart(const std::vector<bool> &pattern, uint32_t *run, uint64_t count,
                std::vector<uint32_t> &room)
{
  if (count < 2 * pattern.size()) return;
  uint64_t half = count / 2;
  if (count > tile) /* blocks sort tiles, and these are merged */
    for (half = tile; 2 * half < count;)
      half *= 2;
  uint64_t to[2] = {0, half};
  const uint64_t ends[2] = {half, count};
  for (uint64_t i = 0; i < count; i++) {
    const bool swapped = i / pattern.size() % 2; /* so that both have as many */
    const unsigned wanted = pattern[i % pattern.size()] == swapped;
    room[to[to[wanted] < ends[wanted] ? wanted : 1 - wanted]++] = run[i];
  }
  std::copy(room.begin(), room.begin() + (ptrdiff_t)count, run);
  take_apart(pattern, run, half, room);
  take_apart(pattern, run + half, count - half, room);
}

} // namespace

std::vector<uint32_t> conflicting_ranks(uint64_t count)
{
  std::vector<uint32_t> ranks(count), room(count);
  for (uint64_t i = 0; i < count; i++)
    ranks[i] = (uint32_t)i;
  take_apart(warp_pattern(), ranks.data(), count, room);
  return ranks;
}

} // namespace bench

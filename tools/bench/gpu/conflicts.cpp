/* conflicts.cpp - makes an input that is bad for merge sorts in shared memory.
 *
 * A thread of a merge produces E neighbours of the result, which it reads from two runs one by one.
 * Shared memory has 32 banks, so whole columns of a run are in the same bank. If as many threads as
 * possible start to read at the head of a column, they access the same bank for each of their E
 * keys, one after the other. The threads between them read the rest of a column, and fill up from
 * the other run. (Berney and Sitchinava, "Engineering worst-case inputs for pairwise merge sort on
 * GPUs", 2020; here each thread's share is chosen so that the next one starts at a head.)
 *
 * The sorted order is split, from the last merge to the first: each run becomes two runs whose
 * merge has these conflicts.
 */
#include <algorithm>

#include "bench.h"

namespace bench
{

namespace
{

/* CUB's merge sort of 32-bit keys: the keys of a thread, and of a block. */
constexpr uint32_t banks = 32, each = 17, tile = 256 * each;

/* A warp's keys in sorted order; true: from the run that has more of them. */
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

/* Splits the keys of a sorted run into the two runs that are merged to it, and so on, down to the
 * merges of a warp. */
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
    const bool swapped = i / pattern.size() % 2; /* so that both get equally many */
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

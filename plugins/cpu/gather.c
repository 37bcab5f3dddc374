#include "cpu/gather.h"

#include <string.h>

/* `as` is a constant in each call. */
__attribute__((always_inline)) static inline bool move_as(const gathering *g, size_t i,
                                                          const char *from, char *to, copy_class as)
{
  const uint32_t index = g->order[i];
  if (index >= g->count) return false;
  g->seen[index] = 1;
  copy_record(to, from + index * g->size, g->size, as);
  return true;
}

/* Many records do not fit the caches of a processor: they are fetched ahead. */
__attribute__((always_inline)) static inline bool
gather_as(gathering g, size_t first, size_t end, const char *from, char *to, copy_class as)
{
  enum { AHEAD = 16, CACHED = 1 << 19 };
  size_t i = first;
  if (g.count * g.size > CACHED)
    for (; i + AHEAD < end; i++) {
      __builtin_prefetch(from + g.order[i + AHEAD] * g.size);
      if (!move_as(&g, i, from, to + (i - first) * g.size, as)) return false;
    }
  for (; i < end; i++)
    if (!move_as(&g, i, from, to + (i - first) * g.size, as)) return false;
  return true;
}

bool gather_some(const gathering *g, size_t first, size_t count, const char *from, char *to)
{
  if (!g->order) {
    memcpy(to, from + first * g->size, count * g->size);
    return true;
  }
  switch (g->copy) {
  case COPY_TWO_4:
    return gather_as(*g, first, first + count, from, to, COPY_TWO_4);
  case COPY_TWO_8:
    return gather_as(*g, first, first + count, from, to, COPY_TWO_8);
  case COPY_TWO_16:
    return gather_as(*g, first, first + count, from, to, COPY_TWO_16);
  case COPY_TWO_32:
    return gather_as(*g, first, first + count, from, to, COPY_TWO_32);
  case COPY_BYTES:
    break;
  }
  return gather_as(*g, first, first + count, from, to, COPY_BYTES);
}

bool gathered_all(const gathering *g)
{
  return !g->order || !memchr(g->seen, 0, g->count);
}

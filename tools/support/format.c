/* format.c - see format.h. */
#include "support/format.h"

#include <string.h>
#include <sys/mman.h>

/* ---- Bytes ---- */

enum {
  page = 64 << 10, /* unit of tool_bytes */
  huge = 2 << 20   /* from this size on, huge pages pay */
};

bool tool_bytes_reserve(tool_bytes *bytes, size_t capacity)
{
  if (capacity <= bytes->capacity) return true;
  if (capacity > SIZE_MAX / 2) return false;
  capacity = (capacity + page - 1) / page * page;
  void *const data =
      bytes->data == NULL
          ? mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
          : mremap(bytes->data, bytes->capacity, capacity, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) return false;
  if (capacity >= huge) madvise(data, capacity, MADV_HUGEPAGE);
  bytes->data = data;
  bytes->capacity = capacity;
  return true;
}

bool tool_bytes_append(tool_bytes *bytes, const void *data, size_t size)
{
  if (size == 0) return true;
  if (!tool_bytes_reserve(bytes, bytes->size + size)) return false;
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
  return true;
}

void tool_bytes_give_back(const tool_bytes *bytes, size_t size)
{
  if (size >= page) madvise(bytes->data, size / page * page, MADV_DONTNEED);
}

void tool_bytes_drop(tool_bytes *bytes, size_t size)
{
  if (size == 0) return;
  bytes->size -= size;
  memmove(bytes->data, bytes->data + size, bytes->size);
}

void tool_bytes_free(tool_bytes *bytes)
{
  if (bytes->data != NULL) munmap(bytes->data, bytes->capacity);
  *bytes = (tool_bytes){0};
}

/* ---- Formats ---- */

tool_format tool_format_of(const recsort_schema *schema, const tool_said *said)
{
  tool_format format = {.file = *recsort_schema_describe(schema), .said = *said};
  format.record_size = format.file.size;
  format.skip = said->skip != TOOL_ANY ? said->skip : format.file.skip;
  format.count = said->count != TOOL_ANY  ? said->count
                 : format.file.count != 0 ? format.file.count
                                          : TOOL_ANY;
  /* with --count, everything behind the records is the trailer */
  const bool said_trailer = said->trailer != TOOL_ANY || said->count != TOOL_ANY;
  format.trailer = format.file.repeat ? 0 : said_trailer ? said->trailer : format.file.trailer;
  format.settled = !tool_format_has(&format, RECSORT_PLACE_SIZE, RECSORT_PLACE_SIZE);
  return format;
}

bool tool_format_uses(const tool_format *format, const recsort_place_desc *place)
{
  switch (place->kind) {
  case RECSORT_PLACE_SKIP:
  case RECSORT_PLACE_SKIP_LINE:
  case RECSORT_PLACE_SKIP_LINES:
    return format->said.skip == TOOL_ANY;
  case RECSORT_PLACE_COUNT:
  case RECSORT_PLACE_LENGTH:
    return format->said.count == TOOL_ANY;
  case RECSORT_PLACE_AFTER:
  case RECSORT_PLACE_SIZE:
  case RECSORT_PLACE_HEAP:
  case RECSORT_PLACE_EXPECT:
    break;
  }
  return true;
}

bool tool_format_has(const tool_format *format, recsort_place_kind first, recsort_place_kind last)
{
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    if (place->kind >= first && place->kind <= last && tool_format_uses(format, place)) return true;
  }
  return false;
}

bool tool_format_has_numbers(const tool_format *format)
{
  if (format->header != NULL) return true;
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    if (place->kind >= RECSORT_PLACE_COUNT && place->kind <= RECSORT_PLACE_AFTER &&
        !place->behind && tool_format_uses(format, place)) {
      return true;
    }
  }
  return false;
}

bool tool_format_is_counted_by_file(const tool_format *format)
{
  return format->header != NULL ||
         tool_format_has(format, RECSORT_PLACE_COUNT, RECSORT_PLACE_LENGTH);
}

bool tool_format_size(const tool_format *format, uint64_t count, uint64_t *size)
{
  return !__builtin_mul_overflow(count, (uint64_t)format->record_size, size) && *size <= INT64_MAX;
}

uint64_t tool_format_padding(const tool_format *format, uint64_t skip, uint64_t count)
{
  const uint64_t to = format->file.pad_to;
  return to != 0 ? (to - (skip + count * format->record_size + format->heap) % to) % to : 0;
}

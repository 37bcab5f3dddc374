/* columns.h - the fields of records as columns, each in a place of its own with gaps between its
 * values. */
#ifndef RS_TEST_COLUMNS_H
#define RS_TEST_COLUMNS_H

#include <string.h>

#include "recsort/recsort.h"
#include "support/random.h"

enum { COLUMNS_MOST = 16, COLUMNS_GAP = 9 };

/* The bytes that the columns of `count` records take at most. */
static inline size_t columns_bytes(size_t record_size, size_t count)
{
  return (count + 1) * (record_size + (size_t)COLUMNS_MOST * COLUMNS_GAP);
}

/* Copies each field, and returns their number. Gaps are of any size, or there is none. */
static inline size_t columns_split(const recsort_schema *schema, const void *records, size_t count,
                                   unsigned char *memory, uint64_t *random,
                                   recsort_column columns[COLUMNS_MOST])
{
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  const size_t record_size = desc->size;
  size_t made = 0;
  memset(memory, 0xa5, columns_bytes(record_size, count));
  for (size_t f = 0; f < desc->field_count; f++) {
    const recsort_field_desc *const field = &desc->fields[f];
    const size_t size = field->size * (field->count ? field->count : 1);
    const size_t gap = random_below(random, 2) ? random_below(random, COLUMNS_GAP) : 0;
    if (field->type == RECSORT_BITFIELD) continue;
    memory += random_below(random, COLUMNS_GAP);
    columns[made++] = (recsort_column){field->name, memory, gap ? size + gap : 0};
    for (size_t i = 0; i < count; i++, memory += size + gap)
      memcpy(memory, (const unsigned char *)records + i * record_size + field->offset, size);
  }
  return made;
}

#endif

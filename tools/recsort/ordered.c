/* ordered.c - see ordered.h. */
#include "ordered.h"

#include "support/around.h"
#include "support/message.h"

#include <stdlib.h>
#include <string.h>

enum {
  KEYS = 1024,           /* encoded at a time */
  READ_SIZE = 256 << 10, /* bytes that are read back at a time, at least a record */
};

static size_t record_size(const ordered_copy *ordered)
{
  return recsort_schema_describe(ordered->keys.schema)->size;
}

bool ordered_begin(ordered_copy *ordered, const cli_job *job, tool_output *output,
                   tool_reader *first, uint64_t count)
{
  const cli_options *const options = job->options;
  *ordered = (ordered_copy){.keys = *job, .output = output};
  ordered->keys.sorter = NULL;
  if (!tool_output_is_file(output) || options->unique || options->has_head ||
      options->index_bits != 0 || first->format.file.repeat ||
      (count == TOOL_ANY && tool_format_has_numbers(&first->format))) {
    return true;
  }
  if (!job_open_sorter(&ordered->keys)) return false;
  ordered->key_size = recsort_key_size(ordered->keys.sorter);
  ordered->seen = malloc((KEYS + 1) * ordered->key_size);
  if (ordered->seen == NULL) tool_error_memory((KEYS + 1) * ordered->key_size);
  if (ordered->seen == NULL || !tool_around_begin(first, output, count)) return false;
  tool_output_bypass_cache(output);
  ordered->begin = output->written;
  ordered->copies = true;
  return true;
}

/* True if they are in order, behind those that were copied. Values that make no key are not. */
static bool are_in_order(ordered_copy *ordered, const unsigned char *records, size_t count)
{
  recsort_sorter *const sorter = ordered->keys.sorter;
  const size_t size = record_size(ordered), key_size = ordered->key_size;
  bool any = ordered->size > 0;
  for (size_t done = 0, part; done < count; done += part) {
    part = count - done < KEYS ? count - done : KEYS;
    unsigned char *const keys = ordered->seen + key_size;
    if (recsort_encode(sorter, records + done * size, part, keys, NULL) != RECSORT_OK) return false;
    for (size_t i = any ? 0 : 1; i < part; i++) {
      const unsigned char *const key = ordered->seen + i * key_size;
      if (recsort_key_compare(sorter, key, key + key_size) > 0) return false;
    }
    memcpy(ordered->seen, ordered->seen + part * key_size, key_size);
    any = true;
  }
  return true;
}

bool ordered_add(ordered_copy *ordered, const void *records, size_t count)
{
  const size_t bytes = count * record_size(ordered);
  ordered->copies = are_in_order(ordered, records, count);
  if (!ordered->copies) return true;
  ordered->size += bytes;
  return tool_output_write(ordered->output, records, bytes);
}

bool ordered_take_back(ordered_copy *ordered,
                       bool (*pass)(void *context, const void *records, size_t count),
                       void *context)
{
  const size_t size = record_size(ordered),
               most = size < READ_SIZE ? READ_SIZE / size * size : size;
  if (ordered->size == 0) return true;
  unsigned char *const buffer = malloc(most);
  if (buffer == NULL) tool_error_memory(most);
  bool done = buffer != NULL;
  for (uint64_t at = 0; done && at < ordered->size; at += most) {
    const uint64_t left = ordered->size - at;
    const size_t part = left < most ? (size_t)left : most;
    done = tool_output_read(ordered->output, ordered->begin + at, buffer, part) &&
           pass(context, buffer, part / size);
  }
  free(buffer);
  return done && tool_output_truncate(ordered->output, ordered->begin);
}

void ordered_end(ordered_copy *ordered)
{
  recsort_sorter_destroy(ordered->keys.sorter);
  free(ordered->seen);
}

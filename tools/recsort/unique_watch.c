/* unique_watch.c - see unique_watch.h. */
#include "unique_watch.h"

#include "value.h"

#include "support/message.h"

#include <stdlib.h>
#include <string.h>

static bool is_string(const recsort_key_info *key)
{
  return key->field != NULL && key->field->type == RECSORT_CSTRING;
}

bool unique_watch_begin(unique_watch *watch, const cli_job *job)
{
  const size_t size = recsort_schema_describe(job->schema)->size;
  recsort_key_info key;
  size_t count = 0;
  *watch = (unique_watch){.job = job};
  for (size_t i = 0; recsort_sorter_get_key(job->sorter, i, &key, sizeof key), key.path; i++)
    count += is_string(&key);
  if (!job->options->unique || count == 0) return true;
  watch->strings = calloc(count, sizeof *watch->strings);
  watch->kept = calloc(1, size);
  if (watch->strings == NULL || watch->kept == NULL) {
    tool_error_memory(size);
    unique_watch_end(watch);
    return false;
  }
  for (size_t i = 0; recsort_sorter_get_key(job->sorter, i, &key, sizeof key), key.path; i++) {
    if (!is_string(&key)) continue;
    const recsort_value value = key_value(job->schema, &key, watch->kept);
    watch->strings[watch->count++] =
        (watched_string){(size_t)(value.as.bytes - watch->kept), value.size, key.path};
  }
  return true;
}

void unique_watch_end(unique_watch *watch)
{
  free(watch->strings);
  free(watch->kept);
  *watch = (unique_watch){.count = 0};
}

void unique_watch_keep(unique_watch *watch, const void *record)
{
  if (watch->count > 0)
    memcpy(watch->kept, record, recsort_schema_describe(watch->job->schema)->size);
}

/* The first string that is equal in two records but has other bytes behind its NUL; NULL if a
 * string differs, or none does so. */
static const watched_string *find_hidden(const unique_watch *watch, const unsigned char *a,
                                         const unsigned char *b)
{
  const watched_string *found = NULL;
  for (size_t i = 0; i < watch->count; i++) {
    const watched_string *const string = &watch->strings[i];
    const unsigned char *const in_a = a + string->offset, *const in_b = b + string->offset;
    if (memcmp(in_a, in_b, string->size) == 0) continue;
    if (strncmp((const char *)in_a, (const char *)in_b, string->size) != 0) return NULL;
    if (found == NULL) found = string;
  }
  return found;
}

static void say(unique_watch *watch, const watched_string *string)
{
  tool_error(
      "--unique: records are dropped that differ from the one that is kept behind the NUL of "
      "%s; give it the type bytes to keep them",
      string->path);
  watch->count = 0;
}

void unique_watch_drop(unique_watch *watch, const void *record)
{
  const watched_string *const hidden = find_hidden(watch, watch->kept, record);
  if (hidden != NULL) say(watch, hidden);
}

/* Whether the keys of two records are equal. */
static bool equal_keys(const cli_job *job, const unsigned char *a, const unsigned char *b,
                       unsigned char *keys)
{
  const size_t key_size = recsort_key_size(job->sorter);
  return recsort_encode(job->sorter, a, 1, keys, NULL) == RECSORT_OK &&
         recsort_encode(job->sorter, b, 1, keys + key_size, NULL) == RECSORT_OK &&
         recsort_key_compare(job->sorter, keys, keys + key_size) == 0;
}

bool unique_watch_order(const cli_job *job, const void *records, const cli_order *order)
{
  const size_t size = recsort_schema_describe(job->schema)->size;
  const size_t key_size = recsort_key_size(job->sorter);
  unique_watch watch;
  if (!unique_watch_begin(&watch, job)) return false;
  if (watch.count == 0) return true;
  unsigned char *const keys = malloc(2 * key_size);
  if (keys == NULL) tool_error_memory(2 * key_size);
  for (size_t i = 1; keys != NULL && i < order->count && watch.count > 0; i++) {
    const unsigned char *const a =
        (const unsigned char *)records + (size_t)order_at(order, i - 1) * size;
    const unsigned char *const b =
        (const unsigned char *)records + (size_t)order_at(order, i) * size;
    const watched_string *const hidden = find_hidden(&watch, a, b);
    if (hidden != NULL && equal_keys(job, a, b, keys)) say(&watch, hidden);
  }
  unique_watch_end(&watch);
  free(keys);
  return keys != NULL;
}

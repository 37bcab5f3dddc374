/* check.c - checks whether the inputs, as one sequence, are sorted, in constant memory. */
#include "commands.h"
#include "stats.h"

#include "value.h"

#include "support/input.h"
#include "support/message.h"
#include "support/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { piece_size = 4 << 20 };

/* Only the key and values of the previous record are kept, not the record: it may be large. */
typedef struct check_state {
  const cli_job *job;
  tool_format format;
  size_t key_size;
  size_t capacity; /* records of the buffer */
  unsigned char *buffer;
  unsigned char *keys;   /* keys[0] is that of the record before buffer[0] */
  recsort_value *values; /* values of the keys in the record before buffer[0] */
  unsigned char *bytes;  /* the bytes of these values */
  uint64_t records;      /* records read so far, of all inputs */
} check_state;

static void keep_values(const check_state *checker, const unsigned char *record)
{
  const cli_job *const job = checker->job;
  recsort_key_info key;
  unsigned char *bytes = checker->bytes;
  for (size_t i = 0; recsort_sorter_get_key(job->sorter, i, &key, sizeof key), key.path; i++) {
    if (!key_is_value(&key)) continue;
    recsort_value *const value = &checker->values[i];
    *value = key_value(job->schema, &key, record);
    if (value->kind != RECSORT_VALUE_BYTES) continue;
    value->as.bytes = memcpy(bytes, value->as.bytes, value->size);
    bytes += value->size;
  }
}

/* Whether a key that is computed, or an array, has the same code in two encoded keys. The words of
 * an encoded key are least significant first; a key of 4 bytes is half a word. */
static bool same_code(const recsort_key_info *key, const unsigned char *a, const unsigned char *b,
                      size_t key_size)
{
  for (unsigned bit = key->shift; bit < key->shift + key->bits; bit++) {
    uint64_t words[2] = {0};
    const unsigned char *const keys[2] = {a, b};
    for (int i = 0; i < 2; i++) {
      uint32_t half;
      if (key_size == sizeof half) {
        memcpy(&half, keys[i], sizeof half);
        words[i] = half;
      } else {
        memcpy(&words[i], keys[i] + bit / 64 * sizeof *words, sizeof *words);
      }
    }
    if ((words[0] ^ words[1]) >> bit % 64 & 1) return false;
  }
  return true;
}

/* Values that print alike are shown with their bytes. */
static void report_values(const recsort_key_info *key, const char *name, uint64_t number,
                          recsort_value value, recsort_value before)
{
  const value_text text = value_as_text(key->field, value);
  const value_text text_before = value_as_text(key->field, before);
  char bytes[2 * VALUE_TEXT + 64] = "";
  if (strcmp(text.text, text_before.text) == 0) {
    const value_bytes shown = value_differing_bytes(key->field, value, before);
    char from[48] = "";
    if (shown.from > 0) snprintf(from, sizeof from, " from byte %zu on", shown.from);
    snprintf(bytes, sizeof bytes, "; the bytes%s: %s after %s", from, shown.a.text, shown.b.text);
  }
  tool_error("%s: record %" PRIu64 " is out of order (key %s = %s after %s%s)", name, number,
             key->path, text.text, text_before.text, bytes);
}

/* The first key whose value differs from that of the previous record is the one out of order. */
static void report_disorder(const check_state *checker, const char *name, uint64_t number,
                            const unsigned char *record, const unsigned char *encoded)
{
  const cli_job *const job = checker->job;
  recsort_key_info key;
  for (size_t i = 0; recsort_sorter_get_key(job->sorter, i, &key, sizeof key), key.path; i++) {
    if (!key_is_value(&key)) {
      if (same_code(&key, encoded, encoded + checker->key_size, checker->key_size)) continue;
      tool_error("%s: record %" PRIu64 " is out of order (key %s)", name, number, key.path);
      return;
    }
    const recsort_value value = key_value(job->schema, &key, record);
    const recsort_value value_before = checker->values[i];
    if (key_values_equal(&key, value, value_before)) continue;
    report_values(&key, name, number, value, value_before);
    return;
  }
}

/* The first of `count` records in the buffer that is out of order, or `count`. */
static size_t find_disorder(const check_state *checker, size_t count)
{
  size_t place = checker->records == 0 ? 1 : 0;
  while (place < count) {
    const unsigned char *const before = checker->keys + place * checker->key_size;
    if (recsort_key_compare(checker->job->sorter, before, before + checker->key_size) > 0) break;
    place++;
  }
  return place < count ? place : count;
}

static int check_input(check_state *checker, tool_reader *reader)
{
  const size_t size = checker->format.record_size, key_size = checker->key_size;
  uint64_t done = 0;
  tool_progress_begin("checking", reader->left);
  for (;;) {
    recsort_error error;
    size_t count;
    if (!tool_reader_read_records(reader, checker->buffer, checker->capacity, &count)) {
      return TOOL_TROUBLE;
    }
    if (count == 0) return tool_reader_end(reader) ? TOOL_OK : TOOL_TROUBLE;
    if (recsort_encode(checker->job->sorter, checker->buffer, count, checker->keys + key_size,
                       &error) != RECSORT_OK) {
      job_error(reader->name, done + error_record(&error), &error);
      return TOOL_TROUBLE;
    }
    const size_t disorder = find_disorder(checker, count);
    if (disorder < count) {
      const unsigned char *const record = checker->buffer + disorder * size;
      if (checker->job->options->quiet) return TOOL_DISORDER;
      if (disorder > 0) keep_values(checker, record - size);
      report_disorder(checker, reader->name, done + disorder, record,
                      checker->keys + disorder * key_size);
      return TOOL_DISORDER;
    }
    memcpy(checker->keys, checker->keys + count * key_size, key_size);
    keep_values(checker, checker->buffer + (count - 1) * size);
    checker->records += count;
    done += count;
    tool_progress_update(reader->given);
  }
}

static int check_inputs(check_state *checker)
{
  const cli_options *const options = checker->job->options;
  const size_t inputs = options->input_count != 0 ? options->input_count : 1;
  int status = TOOL_OK;
  for (size_t i = 0; status == TOOL_OK && i < inputs; i++) {
    tool_reader reader;
    const char *const path = options->input_count != 0 ? options->inputs[i] : NULL;
    status = tool_reader_open(&reader, path, &checker->format) ? check_input(checker, &reader)
                                                               : TOOL_TROUBLE;
    tool_reader_close(&reader);
  }
  return status;
}

static size_t count_keys(const recsort_sorter *sorter)
{
  size_t i = 0;
  for (recsort_key_info key; recsort_sorter_get_key(sorter, i, &key, sizeof key), key.path;)
    i++;
  return i;
}

static bool take_memory(check_state *checker)
{
  const size_t size = checker->format.record_size;
  checker->capacity = size < piece_size ? piece_size / size : 1;
  const size_t keys = (checker->capacity + 1) * checker->key_size;
  if (!job_fits("check it", checker->capacity * size + keys, "free some of it, or raise its limit"))
    return false;
  checker->buffer = calloc(checker->capacity, size);
  checker->keys = malloc(keys);
  checker->values = calloc(count_keys(checker->job->sorter), sizeof(recsort_value));
  checker->bytes = malloc(checker->key_size);
  if (checker->buffer && checker->keys && checker->values && checker->bytes) return true;
  tool_error_memory(checker->capacity * size + keys);
  return false;
}

int command_check(cli_job *job)
{
  if (!job_open_sorter(job)) return TOOL_TROUBLE;
  check_state checker = {
      .job = job, .format = job->format, .key_size = recsort_key_size(job->sorter)};
  run_times times = {.begin = tool_seconds()};
  const int status = take_memory(&checker) ? check_inputs(&checker) : TOOL_TROUBLE;
  if (status != TOOL_TROUBLE) print_stats(job, checker.records, &times, NULL);
  free(checker.buffer);
  free(checker.keys);
  free(checker.values);
  free(checker.bytes);
  return status;
}

/* spill.c - see spill.h. librecsort_file sorts; this file asks it for what the options want.
 *
 * --index sorts records that end with their numbers, and writes only these. --unique compares each
 * key of the result with the one before it.
 */
#include "spill.h"

#include "folders.h"

#include "support/around.h"
#include "support/message.h"
#include "support/progress.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROWS_SIZE = 256 << 10, /* bytes of records with numbers, at least one */
  KEYS = 1024,           /* encoded at a time */
  OWN_SIZE = 8 << 20,    /* bytes that the buffers of the command take, at most, */
  LARGE = 1 << 20        /* unless records are larger than this: then two of them, too */
};

static size_t record_size(const spilled_sort *spill)
{
  return recsort_schema_describe(spill->own.schema)->size;
}

/* Bytes of an input that are held; of runs the library holds them. */
static uint64_t held_size(const spilled_sort *spill)
{
  const bool merges = spill->own.options->command == COMMAND_MERGE;
  return !merges && record_size(spill) > LARGE ? 2 * (uint64_t)record_size(spill) : 0;
}

/* What of the memory is not the library's. */
static uint64_t own_size(const spilled_sort *spill, uint64_t memory)
{
  return held_size(spill) + (memory / 16 < OWN_SIZE ? memory / 16 : OWN_SIZE);
}

/* The library says what it needs; this adds what is not its own. */
static void add_own_size(const spilled_sort *spill, recsort_error *error)
{
  size_t size;
  uint64_t kib;
  if (sscanf(error->text, "not enough memory: records of %zu bytes need at least %" SCNu64, &size,
             &kib) != 2) {
    return;
  }
  kib += (held_size(spill) + 1023) >> 10;
  kib += kib / 15 < OWN_SIZE >> 10 ? kib / 15 + 1 : OWN_SIZE >> 10;
  snprintf(error->text, sizeof error->text,
           "not enough memory: records of %zu bytes need at least %" PRIu64 " KiB", size, kib);
}

static bool fail(const recsort_error *error)
{
  tool_error_library(error);
  return false;
}

static const char *inputs_name(const cli_options *options)
{
  return options->input_count > 1
             ? "the inputs"
             : tool_input_name(options->input_count ? options->inputs[0] : NULL);
}

void spill_report_record(const cli_job *job, const tool_records *input, const recsort_error *error)
{
  const cli_options *const options = job->options;
  const uint64_t number = error_record(error);
  size_t i = 0;
  while (i + 1 < options->input_count && number >= input->ends[i])
    i++;
  const char *const path = options->input_count > 0 ? options->inputs[i] : NULL;
  const bool of_all = error->status != RECSORT_INVALID_RECORD;
  job_error(of_all ? inputs_name(options) : tool_input_name(path),
            number - (i > 0 ? input->ends[i - 1] : 0), error);
}

/* ---- Begin ---- */

static bool is_numbered(const spilled_sort *spill)
{
  return spill->own.options->index_bits != 0;
}

/* The schema of a record with its number behind it. */
static bool add_number(spilled_sort *spill, const cli_job *job)
{
  recsort_schema_desc desc = *recsort_schema_describe(job->schema);
  recsort_error error;
  desc.struct_size = sizeof desc;
  desc.size += sizeof(uint64_t);
  desc.layout = RECSORT_LAYOUT_EXPLICIT;
  if (recsort_schema_create(&desc, NULL, &spill->numbered, &error) != RECSORT_OK)
    return fail(&error);
  spill->own.schema = spill->numbered;
  spill->own.sorter = NULL;
  spill->rows = malloc(desc.size > ROWS_SIZE ? desc.size : ROWS_SIZE);
  if (spill->rows == NULL) tool_error_memory(ROWS_SIZE);
  return spill->rows != NULL && job_open_sorter(&spill->own);
}

static bool watch_keys(spilled_sort *spill)
{
  spill->keys = spill->own;
  spill->keys.sorter = NULL;
  if (!job_open_sorter(&spill->keys) || !unique_watch_begin(&spill->watch, &spill->keys))
    return false;
  spill->key_size = recsort_key_size(spill->keys.sorter);
  spill->seen = calloc(KEYS + 1, spill->key_size);
  if (spill->seen == NULL) tool_error_memory((KEYS + 1) * spill->key_size);
  return spill->seen != NULL;
}

static recsort_status show(void *context, recsort_file_phase phase, uint64_t done,
                           recsort_error *error)
{
  spilled_sort *const spill = context;
  static const char *const names[] = {"reading", "merging groups", "merging"};
  (void)error;
  if (phase == RECSORT_FILE_RUNS) return RECSORT_OK; /* the reading is shown */
  if (spill->shown != phase)
    tool_progress_begin(names[phase], phase == RECSORT_FILE_MERGE ? spill->total : 0);
  spill->shown = phase;
  tool_progress_update(done);
  return RECSORT_OK;
}

/* True if how many records the header must name is known only after them. */
static bool corrects_header(const cli_job *job)
{
  return job->options->unique && job->options->index_bits == 0 &&
         tool_format_has_numbers(&job->format);
}

bool spill_open(spilled_sort *spill, const cli_job *job, const tool_output *output, uint64_t memory,
                uint64_t count, size_t most_runs)
{
  const cli_options *const options = job->options;
  recsort_file_options wanted = RECSORT_FILE_OPTIONS_INIT;
  recsort_error error;
  *spill = (spilled_sort){.own = *job};
  if (corrects_header(job) && !tool_output_is_file(output)) {
    tool_error("--unique: the header says how many records follow, which is known too late for "
               "an output that is no file: -o FILE");
    return false;
  }
  if (is_numbered(spill) && !add_number(spill, job)) return false;
  if (options->unique && !watch_keys(spill)) return false;
  char *const usual = options->folder_count == 0 ? folders_usual(options) : NULL;
  const char *const folder = usual;
  if (usual == NULL && options->folder_count == 0) {
    tool_error_memory(0);
    return false;
  }
  wanted.folders = usual != NULL ? &folder : options->folders;
  wanted.folder_count = usual != NULL ? 1 : options->folder_count;
  const uint64_t own = own_size(spill, memory);
  wanted.memory = memory > own + 1 ? memory - own : 1;
  wanted.head = options->unique || !options->has_head ? 0 : options->head;
  wanted.most_runs = most_runs;
  wanted.progress = show;
  wanted.context = spill;
  const uint64_t kept = wanted.head != 0 && wanted.head < count ? wanted.head : count;
  const bool known = count != TOOL_ANY && kept * record_size(spill) > memory / 4;
  const uint64_t size = known ? count * record_size(spill) : 0;
  bool opened = !known || folders_have_space(wanted.folders, wanted.folder_count, size, memory);
  if (opened && recsort_file_open(spill->own.sorter, &wanted, &spill->file, &error) != RECSORT_OK) {
    add_own_size(spill, &error);
    opened = fail(&error);
  }
  free(usual);
  return opened;
}

void spill_close(spilled_sort *spill)
{
  recsort_file_close(spill->file);
  unique_watch_end(&spill->watch);
  free(spill->seen);
  free(spill->rows);
  recsort_sorter_destroy(spill->keys.sorter);
  if (spill->numbered != NULL) recsort_sorter_destroy(spill->own.sorter);
  recsort_schema_destroy(spill->numbered);
}

/* ---- Input ---- */

static bool append(spilled_sort *spill, const void *records, size_t count)
{
  recsort_error error;
  if (recsort_file_append(spill->file, records, count, &error) == RECSORT_OK) return true;
  add_own_size(spill, &error);
  spill->report(spill, &error);
  return false;
}

bool spill_pass(spilled_sort *spill, const void *records, size_t count)
{
  spill->passed += count;
  if (!is_numbered(spill)) return append(spill, records, count);
  uint64_t number = spill->passed - count;
  const size_t size = record_size(spill), plain = size - sizeof(uint64_t);
  const size_t most = ROWS_SIZE > size ? ROWS_SIZE / size : 1;
  const unsigned char *from = records;
  for (size_t part; count > 0; count -= part) {
    part = count < most ? count : most;
    for (size_t i = 0; i < part; i++, from += plain, number++) {
      memcpy(spill->rows + i * size, from, plain);
      memcpy(spill->rows + i * size + plain, &number, sizeof number);
    }
    if (!append(spill, spill->rows, part)) return false;
  }
  return true;
}

/* ---- Output ---- */

typedef struct result {
  spilled_sort *spill;
  tool_output *output;
  const tool_reader *first;
  uint64_t wanted;             /* records */
  const unsigned char *header; /* the next repeated header, */
  size_t block;                /* its number, */
  uint64_t block_left;         /* and the records behind the one before it */
} result;

/* Writes the numbers of records. */
static bool write_numbers(result *r, const unsigned char *records, size_t count)
{
  const size_t size = record_size(r->spill), bytes = r->spill->own.options->index_bits / 8;
  unsigned char *const rows = r->spill->rows;
  for (size_t done = 0, part; done < count; done += part) {
    part =
        count - done < ROWS_SIZE / sizeof(uint64_t) ? count - done : ROWS_SIZE / sizeof(uint64_t);
    for (size_t i = 0; i < part; i++) {
      uint64_t number;
      memcpy(&number, records + (done + i + 1) * size - sizeof number, sizeof number);
      number = htole64(number);
      memcpy(rows + i * bytes, &number, bytes); /* little-endian: the low bytes come first */
    }
    if (!tool_output_write(r->output, rows, part * bytes)) return false;
  }
  return true;
}

/* Writes records and the headers that are repeated between them. */
static bool write_blocks(result *r, const unsigned char *records, size_t count)
{
  const tool_reader *const from = r->first;
  const tool_block *const blocks = (const tool_block *)(const void *)from->blocks.data;
  const size_t all = from->blocks.size / sizeof *blocks, size = record_size(r->spill);
  for (;;) {
    while (r->block_left == 0 && r->block < all) {
      const tool_block *const block = &blocks[r->block++];
      if (!tool_output_write(r->output, r->header, block->header_size)) return false;
      r->header += block->header_size;
      r->block_left = block->records;
    }
    if (count == 0) return true;
    const size_t part = r->block_left < count ? (size_t)r->block_left : count;
    if (!tool_output_write(r->output, records, part * size)) return false;
    records += part * size;
    count -= part;
    r->block_left -= part;
  }
}

/* Writes records that are all wanted, as far as --head says. */
static bool write_wanted(result *r, const unsigned char *records, size_t count)
{
  if (r->wanted - r->spill->given < count) count = (size_t)(r->wanted - r->spill->given);
  r->spill->given += count;
  if (count == 0) return true;
  if (is_numbered(r->spill)) return write_numbers(r, records, count);
  if (r->first->format.file.repeat) return write_blocks(r, records, count);
  return tool_output_write(r->output, records, count * record_size(r->spill));
}

/* Writes the first of each run of equal keys. */
static bool write_unique(result *r, const unsigned char *records, size_t count)
{
  spilled_sort *const spill = r->spill;
  const size_t size = record_size(spill);
  recsort_error error;
  for (size_t done = 0, part; done < count && spill->given < r->wanted; done += part) {
    const unsigned char *const at = records + done * size;
    size_t first = 0; /* of the records that are kept and not written yet */
    part = count - done < KEYS ? count - done : KEYS;
    if (recsort_encode(spill->keys.sorter, at, part, spill->seen + spill->key_size, &error) !=
        RECSORT_OK)
      return fail(&error);
    for (size_t i = 0; i < part; i++) {
      const unsigned char *const key = spill->seen + i * spill->key_size;
      const bool any = spill->given > 0 || done > 0 || i > 0;
      if (!any || recsort_key_compare(spill->keys.sorter, key, key + spill->key_size) != 0) {
        unique_watch_keep(&spill->watch, at + i * size);
        continue;
      }
      unique_watch_drop(&spill->watch, at + i * size);
      if (!write_wanted(r, at + first * size, i - first)) return false;
      first = i + 1;
    }
    if (!write_wanted(r, at + first * size, part - first)) return false;
    memcpy(spill->seen, spill->seen + part * spill->key_size, spill->key_size);
  }
  return true;
}

bool spill_write(spilled_sort *spill, tool_output *output, tool_reader *first, uint64_t count)
{
  const cli_options *const options = spill->own.options;
  const bool around = options->index_bits == 0, blocks = around && first->format.file.repeat;
  const uint64_t wanted = count < options->head ? count : options->head;
  result r = {.spill = spill,
              .output = output,
              .first = first,
              .wanted = wanted,
              .header = first->header.data};
  recsort_error error;
  const void *records;
  size_t part = 1;
  spill->total = count != TOOL_ANY ? count : spill->passed;
  tool_output_bypass_cache(output);
  recsort_status status = recsort_file_finish(spill->file, &error);
  if (status == RECSORT_OK && around && !blocks &&
      !tool_around_begin(first, output, options->unique || count == TOOL_ANY ? TOOL_ANY : wanted)) {
    return false;
  }
  while (status == RECSORT_OK && part > 0 && spill->given < wanted) {
    status = recsort_file_next(spill->file, &records, &part, &error);
    if (status == RECSORT_OK &&
        !(options->unique ? write_unique : write_wanted)(&r, records, part)) {
      return false;
    }
  }
  if (status == RECSORT_OK) status = recsort_file_verify(spill->file, &error);
  if (status) {
    spill->report(spill, &error);
    return false;
  }
  if (blocks) return write_blocks(&r, NULL, 0); /* headers without records */
  if (corrects_header(&spill->own) && !tool_around_correct(first, output, spill->given))
    return false;
  if (options->command == COMMAND_MERGE) return true;
  return around ? tool_around_end(first, output, spill->given) : tool_reader_end(first);
}

/* explain.c - shows what a schema means, what the sorter plans, and which plugins there are. */
#include "commands.h"
#include "folders.h"

#include "support/message.h"
#include "support/records.h"
#include "support/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* True if the byte order matters for a field. */
static bool has_endian(const recsort_field_desc *field)
{
  const recsort_type_class type_class = recsort_type_describe(field->type)->type_class;
  return type_class != RECSORT_CLASS_STRUCT && type_class != RECSORT_CLASS_BYTES && field->size > 1;
}

/* "uint16[4] big", "enum uint8", "bits 3..5 of uint32", "char 16". */
static void format_type(const recsort_field_desc *field, char *text, size_t size)
{
  const char *const name = recsort_type_describe(field->type)->name;
  const bool big = field->endian == RECSORT_BIG_ENDIAN && has_endian(field);
  const char *const endian = big ? " big" : "";
  char count[32] = "";
  if (field->count != 0) snprintf(count, sizeof count, "[%zu]", field->count);
  if (field->type == RECSORT_BITFIELD) {
    snprintf(text, size, "bits %" PRIu32 "..%" PRIu32 " of %s%s", field->bit,
             field->bit + field->width - 1, recsort_type_describe(field->base)->name, endian);
  } else if (field->type == RECSORT_ENUM) {
    snprintf(text, size, "enum %s%s%s", recsort_type_describe(field->base)->name, count, endian);
  } else {
    snprintf(text, size, "%s%s%s", name, count, endian);
  }
}

static void print_fields(const recsort_field_desc *fields, size_t count, uint64_t base, int depth)
{
  for (size_t i = 0; i < count; i++) {
    const recsort_field_desc *const field = &fields[i];
    const size_t elements = field->count != 0 ? field->count : 1;
    char type[64];
    format_type(field, type, sizeof type);
    printf("%8" PRIu64 "  %8zu  %-24s  %*s%s\n", base + field->offset, field->size * elements, type,
           2 * depth, "", field->name);
    print_fields(field->fields, field->field_count, base + field->offset, depth + 1);
  }
}

static const char *const meanings[] = {
    [RECSORT_PLACE_SKIP] = "header size",  [RECSORT_PLACE_SKIP_LINE] = "header",
    [RECSORT_PLACE_SKIP_LINES] = "header", [RECSORT_PLACE_COUNT] = "records",
    [RECSORT_PLACE_LENGTH] = "length",     [RECSORT_PLACE_AFTER] = "offset behind the records",
    [RECSORT_PLACE_SIZE] = "record size",  [RECSORT_PLACE_HEAP] = "heap",
    [RECSORT_PLACE_EXPECT] = "is known"};

/* Where a place is. */
static void print_place(const recsort_place_desc *place)
{
  const recsort_field_desc *const field =
      place->kind == RECSORT_PLACE_EXPECT ? place->when->field : place->field;
  char type[64];
  printf("file %s: ", meanings[place->kind]);
  if (place->kind == RECSORT_PLACE_SKIP_LINE) {
    printf("up to the line \"%s\"", place->word);
  } else if (place->kind == RECSORT_PLACE_SKIP_LINES) {
    printf("the lines that begin with \"%s\"", place->word);
  } else if (field != NULL) {
    format_type(field, type, sizeof type);
    const bool expected = place->kind == RECSORT_PLACE_EXPECT;
    printf("%sthe %s at offset %zu %s (%s)", expected ? "by " : "", expected ? "value" : "number",
           field->offset, place->behind ? "behind the records" : "of the header", type);
  } else if (place->kind == RECSORT_PLACE_EXPECT) {
    printf("by the line \"%s\"", place->when->line_text);
  } else {
    printf("the number behind \"%s\"", place->word);
  }
  if (place->unit > 1) printf(", in units of %" PRIu32 " bytes", place->unit);
  if (place->plus != 0) printf(", %+" PRId64 " bytes", place->plus);
  puts(place->when != NULL && place->kind != RECSORT_PLACE_EXPECT ? ", in some files" : "");
}

/* Prints the places of a kind in [first, last]. False if there is none. */
static bool print_places(const tool_format *format, recsort_place_kind first,
                         recsort_place_kind last)
{
  bool any = false;
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    if (place->kind < first || place->kind > last || !tool_format_uses(format, place)) continue;
    print_place(place);
    any = true;
  }
  return any;
}

static void print_file(const tool_format *format)
{
  if (!print_places(format, RECSORT_PLACE_SKIP, RECSORT_PLACE_SKIP_LINES) && format->skip != 0)
    printf("file header: %" PRIu64 " bytes\n", format->skip);
  if (!print_places(format, RECSORT_PLACE_COUNT, RECSORT_PLACE_LENGTH) && format->count != TOOL_ANY)
    printf("file records: %" PRIu64 "\n", format->count);
  (void)print_places(format, RECSORT_PLACE_AFTER, RECSORT_PLACE_EXPECT);
  if (format->file.zero_all) printf("file records: all, if the header says 0\n");
  if (format->file.repeat) printf("header and records are repeated up to the end of the file\n");
  if (format->file.pad_to != 0) {
    printf("file padding: up to a multiple of %" PRIu32 " bytes, of value %u\n",
           format->file.pad_to, (unsigned)format->file.pad_with);
  }
  if (format->trailer == TOOL_ANY) {
    printf("file trailer: what follows them\n");
  } else if (format->trailer != 0) {
    printf("file trailer: %" PRIu64 " bytes\n", format->trailer);
  }
}

static void print_layout(const recsort_schema *schema, const tool_format *format)
{
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  printf("record %s: %zu bytes\n", desc->record, desc->size);
  print_file(format);
  printf("\n  offset      size  type                      field\n");
  print_fields(desc->fields, desc->field_count, 0, 0);
}

static void print_keys(const recsort_sorter *sorter, const recsort_stats *stats)
{
  static const char *const nans[] = {
      [RECSORT_NAN_LAST] = "last", [RECSORT_NAN_FIRST] = "first", [RECSORT_NAN_TOTAL] = "total"};
  recsort_key_info key;
  printf("\nkey: %u bits, kept in %u\n\n", stats->key_bits, stats->key_width);
  printf("    bits     shift  order  nan    field\n");
  for (size_t i = 0; recsort_sorter_get_key(sorter, i, &key, sizeof key), key.path; i++) {
    const bool real = key.field == NULL || tool_has_nan(key.field);
    printf("%8u  %8u  %-5s  %-5s  %s\n", key.bits, key.shift,
           key.order == RECSORT_DESCENDING ? "desc" : "asc", real ? nans[key.nan] : "-", key.path);
  }
}

/* Does not open what might block until another process writes. */
static bool print_input(const char *path, const tool_format *format, uint64_t *count)
{
  tool_reader reader = {.stream.fd = -1};
  struct stat status;
  bool known = !tool_is_standard(path) && stat(path, &status) == 0;
  if (tool_is_standard(path) || (known && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))) {
    tool_error("%s: --explain reads nothing, and only a file says how long it is",
               tool_input_name(path));
    return false;
  }
  known = tool_reader_open(&reader, path, format);
  if (known) {
    const uint64_t records = reader.size / format->record_size;
    printf("%12" PRIu64 "  %12" PRIu64 "  %12" PRIu64 "  %s\n", reader.format.skip, records,
           tool_reader_behind(&reader) + reader.padding, path);
    *count += records;
  }
  tool_reader_close(&reader);
  return known;
}

/* Prints where records go that do not fit in memory. */
static bool print_spilled(const cli_options *options, uint64_t size, uint64_t needed)
{
  if (needed <= job_memory_limit(options)) return true;
  char *const folder = options->folder_count == 0 ? folders_usual(options) : NULL;
  printf("temporary files: %" PRIu64 " MiB in", size >> 20);
  for (size_t i = 0; i < options->folder_count; i++)
    printf(" %s", options->folders[i]);
  if (folder != NULL) printf(" %s", folder);
  puts("");
  free(folder);
  return true;
}

/* Prints what each input holds, and the memory to sort them. */
static bool print_inputs(cli_job *job, const tool_format *format)
{
  const cli_options *const options = job->options;
  uint64_t count = 0;
  sort_needs needs;
  recsort_error error;
  if (options->input_count == 0) return true;
  printf("\n      header       records       trailer  file\n");
  for (size_t i = 0; i < options->input_count; i++) {
    if (!print_input(options->inputs[i], format, &count)) return false;
  }
  if (!sort_memory(job, count, &needs, &error)) {
    tool_error_library(&error);
    return false;
  }
  printf("\nmemory to sort: %" PRIu64 " MiB (%" PRIu64 " bytes of records, %" PRIu64
         " to work in, %" PRIu64 " to write)\n",
         (needs.records + needs.working + needs.buffers) >> 20, needs.records, needs.working,
         needs.buffers);
  return print_spilled(options, needs.records, needs.records + needs.working + needs.buffers);
}

/* Makes the sorter choose the plugin for the inputs; without inputs, for many records. */
static void choose_plugin(cli_job *job, const tool_format *format)
{
  const cli_options *const options = job->options;
  enum { MANY = 1 << 20 };
  tool_extent extent;
  recsort_job sorting = RECSORT_JOB_INIT;
  recsort_needs needs = RECSORT_NEEDS_INIT;
  const bool known = tool_measure(options->inputs, options->input_count, format, &extent);
  sorting.count = known ? (size_t)extent.count : MANY;
  (void)recsort_plan(job->sorter, &sorting, 1, &needs, NULL);
}

int command_explain(cli_job *job)
{
  const tool_format format = job->format;
  if (!job_open_sorter(job)) return TOOL_TROUBLE;
  choose_plugin(job, &format);
  const recsort_stats stats = job_stats(job);
  print_layout(job->schema, &format);
  print_keys(job->sorter, &stats);
  printf("\nplugin: %s, algorithm %s\nwhy: %s\n", stats.plugin, stats.algorithm, stats.choice);
  if (stats.transfer != NULL) printf("transfer: %s\n", stats.transfer);
  if (job->options->sorting.verify == RECSORT_VERIFY_FULL) {
    printf("verify: full: keys and ties of an order, checksums and keys of records that the plugin "
           "moves\n");
  }
  if (stats.fallback != NULL) printf("fallback: %s\n", stats.fallback);
  const bool printed = print_inputs(job, &format);
  return tool_flush_stdout() && printed ? TOOL_OK : TOOL_TROUBLE;
}

static void print_plugin(const recsort_plugin_info *plugin)
{
  const char *const path = plugin->path != NULL ? plugin->path : "linked in";
  if (plugin->reason != NULL) {
    printf("%s (%s)\n  refused: %s\n", plugin->name, path, plugin->reason);
    return;
  }
  printf("%s %s (%s), score %u\n  %s\n", plugin->name, plugin->version, path, plugin->score,
         plugin->description);
  for (size_t i = 0; i < plugin->algorithm_count; i++) {
    printf("  %-12s %s\n", plugin->algorithms[i], plugin->algorithm_texts[i]);
  }
  for (size_t i = 0; i < plugin->option_count; i++) {
    printf("  --plugin-option %s=: %s\n", plugin->options[i], plugin->option_texts[i]);
  }
}

int command_list_plugins(void)
{
  const recsort_plugin_info *list = NULL;
  recsort_error error;
  if (recsort_plugins_find(NULL, &list, &error) != RECSORT_OK) {
    tool_error_library(&error);
    return TOOL_TROUBLE;
  }
  for (const recsort_plugin_info *plugin = list; plugin; plugin = plugin->next)
    print_plugin(plugin);
  recsort_plugins_destroy(list);
  return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
}

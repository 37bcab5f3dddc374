/* reccat - shows records: see `reccat --help` and reccat(1). */
#include "reccat/checksum.h"
#include "reccat/printer.h"
#include "support/input.h"
#include "support/message.h"

#include <getopt.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: reccat -s SCHEMA [OPTION...] [FILE...]\n"
    "Show the records of all FILEs (default and '-': standard input) as SCHEMA\n"
    "describes them.\n"
    "\n"
    "  -s, --schema FILE    what a record looks like (YAML), or an installed one: las\n"
    "      --head N         only the first N records\n"
    "      --tail N         only the last N; with --head, of those after the first\n"
    "      --skip N, --count N, --trailer N  bytes before, records, bytes after\n"
    "      --raw            records, even if the file looks compressed\n"
    "  -f, --format FORMAT  table (the default), csv or jsonl (one object a line)\n"
    "      --json           the same as --format jsonl\n"
    "      --index          add the record's number, from 0, as '#'\n"
    "      --checksum       show no records, but a checksum that does not depend on\n"
    "                       their order, and how many there are\n"
    "  -h, --help           this text\n"
    "  -V, --version        the version\n"
    "\n"
    "Floats are the shortest text that reads back the same. What is not printable in\n"
    "a string is \\xNN. A table shows at most 32 columns of a string or of bytes.\n";

typedef struct settings {
  const char *schema;
  char *const *inputs;
  size_t input_count;
  tool_said files;
  uint64_t head;
  uint64_t tail;
  bool headed;
  bool tailed;
  bool numbered;
  bool checksum;
  print_format format;
} settings;

/* The inputs, the reader of one of them, and a block of whole records. */
typedef struct source {
  const settings *settings;
  recsort_schema *schema;
  size_t next; /* input */
  tool_reader reader;
  tool_ahead ahead;
  size_t record_size;
  size_t block; /* records */
  bool ended;
  unsigned char *records;
} source;

/* Opens the next input. The first one says how large a record is, if the schema does not. */
static bool source_next(source *s)
{
  const settings *const options = s->settings;
  const char *const path = options->input_count > 0 ? options->inputs[s->next] : NULL;
  tool_format format;
  tool_reader_close(&s->reader);
  tool_ahead_close(&s->ahead);
  s->reader = (tool_reader){.stream.fd = -1};
  s->ahead = (tool_ahead){0};
  s->next++;
  if (!tool_format_open(&format, s->schema, &options->files, path, true, &s->ahead)) return false;
  if (s->record_size != 0 && format.record_size != s->record_size) {
    tool_error("%s: a record has %zu bytes; those of the files before it have %zu",
               tool_input_name(path), format.record_size, s->record_size);
    return false;
  }
  s->record_size = format.record_size;
  return tool_reader_open(&s->reader, path, &format);
}

static bool source_open(source *s)
{
  enum { BLOCK = 1 << 18 };
  if (!source_next(s)) return false;
  s->block = s->record_size < BLOCK ? BLOCK / s->record_size : 1;
  s->records = malloc(s->block * s->record_size);
  if (!s->records) tool_error("out of memory: a record has %zu bytes", s->record_size);
  return s->records;
}

static void source_close(source *s)
{
  tool_reader_close(&s->reader);
  tool_ahead_close(&s->ahead);
  free(s->records);
}

/* Reads the next records; 0 only at the end. */
static bool source_read(source *s, size_t *count)
{
  const size_t capacity = s->block * s->record_size;
  size_t size = 0;
  while (!s->ended && size < capacity) {
    size_t got;
    if (!tool_reader_read(&s->reader, s->records + size, capacity - size, &got)) return false;
    if (!got) s->ended = s->next >= s->settings->input_count;
    if (!got && !s->ended && !source_next(s)) return false;
    size += got;
  }
  *count = size / s->record_size;
  return true;
}

static bool print(const printer *p, uint64_t first, const unsigned char *records, size_t count)
{
  const size_t size = recsort_schema_describe(p->schema)->size;
  for (size_t i = 0; i < count; i++)
    printer_record(p, first + i, records + i * size);
  return !ferror(stdout) || tool_flush_stdout();
}

/* Appends records to those kept; only the last `most` bytes are needed. */
static bool keep_last(tool_bytes *kept, const unsigned char *records, size_t size, uint64_t most)
{
  if (kept->size / 2 >= most) {
    if (most) memmove(kept->data, kept->data + (kept->size - most), most);
    kept->size = most;
  }
  if (!size) return true;
  if (!tool_bytes_reserve(kept, kept->size + size)) {
    tool_error("out of memory for the last records");
    return false;
  }
  memcpy(kept->data + kept->size, records, size);
  kept->size += size;
  return true;
}

static bool print_last(const printer *p, const tool_bytes *kept, uint64_t total, uint64_t most)
{
  const size_t size = recsort_schema_describe(p->schema)->size;
  const size_t there = kept->size / size;
  const size_t count = there < most ? there : (size_t)most;
  return !count || print(p, total - count, kept->data + (there - count) * size, count);
}

static bool print_parts(const settings *s, const printer *p, source *from)
{
  const uint64_t head = s->headed || s->tailed ? s->head : UINT64_MAX;
  uint64_t most; /* bytes to keep */
  if (__builtin_mul_overflow(s->tail, from->record_size, &most)) most = UINT64_MAX;
  tool_bytes kept = {0};
  uint64_t total = 0;
  bool done = true;
  while (done && (s->tailed || total < head)) {
    size_t count;
    done = source_read(from, &count);
    if (!done || !count) break;
    const size_t first = total >= head ? 0 : head - total < count ? (size_t)(head - total) : count;
    const size_t size = from->record_size;
    done = print(p, total, from->records, first);
    if (done && s->tailed) {
      done = keep_last(&kept, from->records + first * size, (count - first) * size, most);
    }
    total += count;
  }
  done = done && print_last(p, &kept, total, s->tail);
  tool_bytes_free(&kept);
  return done;
}

static bool print_records(const settings *s, const recsort_schema *schema, source *from)
{
  printer p;
  bool done = printer_open(&p, schema, s->format, s->numbered);
  if (done) {
    printer_header(&p);
    done = print_parts(s, &p, from);
  } else {
    tool_error("out of memory");
  }
  printer_close(&p);
  return done;
}

static bool print_checksum(source *from)
{
  checksum sum = {0, 0};
  uint64_t total = 0;
  for (size_t count = 1; count; total += count) {
    if (!source_read(from, &count)) return false;
    checksum_add(&sum, from->records, count, from->record_size);
  }
  printf("checksum %016" PRIx64 "%016" PRIx64 " records %" PRIu64 "\n", sum.high, sum.low, total);
  return true;
}

static int show(const settings *s)
{
  recsort_schema *const schema = tool_load_schema(s->schema);
  if (!schema) return TOOL_TROUBLE;
  source from = {.settings = s, .schema = schema, .reader.stream.fd = -1};
  bool done = source_open(&from);
  if (done) done = s->checksum ? print_checksum(&from) : print_records(s, schema, &from);
  done = done && tool_flush_stdout(); /* what could not be written before has had its message */
  source_close(&from);
  recsort_schema_destroy(schema);
  return done ? TOOL_OK : TOOL_TROUBLE;
}

/* ---- Options ------------------------------------------------------------------------------ */

enum {
  OPTION_HEAD = 256,
  OPTION_TAIL,
  OPTION_INDEX,
  OPTION_CHECKSUM,
  OPTION_SKIP,
  OPTION_COUNT,
  OPTION_TRAILER,
  OPTION_RAW,
  OPTION_JSON
};

static const struct option options[] = {
    {"schema", required_argument, NULL, 's'},
    {"head", required_argument, NULL, OPTION_HEAD},
    {"tail", required_argument, NULL, OPTION_TAIL},
    {"skip", required_argument, NULL, OPTION_SKIP},
    {"count", required_argument, NULL, OPTION_COUNT},
    {"trailer", required_argument, NULL, OPTION_TRAILER},
    {"raw", no_argument, NULL, OPTION_RAW},
    {"format", required_argument, NULL, 'f'},
    {"json", no_argument, NULL, OPTION_JSON},
    {"index", no_argument, NULL, OPTION_INDEX},
    {"checksum", no_argument, NULL, OPTION_CHECKSUM},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {0},
};

static bool find_format(const char *name, print_format *format)
{
  static const char *const names[] = {"table", "csv", "jsonl"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *format = (print_format)i;
    return true;
  }
  return false;
}

/* Sets a number of bytes or records of the file; the limit keeps sums from overflowing. */
static int set_size(const char *name, const char *value, uint64_t *size)
{
  return tool_option_count(name, value, 0, INT64_MAX / 4, size) ? TOOL_OK : TOOL_TROUBLE;
}

/* Applies an option, which the command line calls `name`. TOOL_OK, or a message says what is
 * wrong. */
static int apply_option(settings *s, int option, const char *value, const char *name)
{
  switch (option) {
  case 's':
    s->schema = value;
    return TOOL_OK;
  case OPTION_INDEX:
    s->numbered = true;
    return TOOL_OK;
  case OPTION_CHECKSUM:
    s->checksum = true;
    return TOOL_OK;
  case OPTION_SKIP:
    return set_size("skip", value, &s->files.skip);
  case OPTION_COUNT:
    return set_size("count", value, &s->files.count);
  case OPTION_TRAILER:
    return set_size("trailer", value, &s->files.trailer);
  case OPTION_RAW:
    s->files.raw = true;
    return TOOL_OK;
  case OPTION_HEAD:
    s->headed = tool_option_count("head", value, 0, UINT64_MAX, &s->head);
    return s->headed ? TOOL_OK : TOOL_TROUBLE;
  case OPTION_TAIL:
    s->tailed = tool_option_count("tail", value, 0, UINT64_MAX, &s->tail);
    return s->tailed ? TOOL_OK : TOOL_TROUBLE;
  case OPTION_JSON:
    s->format = PRINT_JSONL;
    return TOOL_OK;
  case 'f':
    if (find_format(value, &s->format)) return TOOL_OK;
    return tool_usage_error("unknown format '%s': table, csv or jsonl", value);
  case ':':
    return tool_usage_error("option '%s' needs a value", name);
  default:
    return tool_usage_error("unknown option '%s'", name);
  }
}

int main(int argc, char **argv)
{
  opterr = 0;
  tool_set_name("reccat");
  setlocale(LC_CTYPE, "C.UTF-8"); /* without it, only ASCII is printable */
  settings s = {.files = TOOL_SAID_NOTHING};
  for (int option; (option = getopt_long(argc, argv, ":s:f:hV", options, NULL)) != -1;) {
    if (option == 'h' || option == 'V') {
      if (option == 'h')
        fputs(help, stdout);
      else
        printf("reccat %s\n", recsort_version());
      return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
    }
    const int status = apply_option(&s, option, optarg, argv[optind - 1]);
    if (status != TOOL_OK) return status;
  }
  if (!s.schema) return tool_usage_error("which schema? --schema is missing");
  s.inputs = argv + optind;
  s.input_count = (size_t)(argc - optind);
  return show(&s);
}

/* recgen - makes a file of records for a schema: see `recgen --help` and recgen(1). */
#include "recgen/records.h"
#include "support/input.h"
#include "support/message.h"
#include "support/output.h"
#include "support/places.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "Usage: recgen -s SCHEMA -n COUNT [OPTION...]\n"
    "Make COUNT records as SCHEMA describes them. The same arguments give the same\n"
    "bytes on every machine.\n"
    "\n"
    "  -s, --schema FILE          what a record looks like (YAML)\n"
    "  -n, --count N              how many records\n"
    "  -o, --output FILE          where to; default and '-': standard output\n"
    "      --seed K               another K gives other records; default 1\n"
    "  -d, --distribution NAME    of the keys (without keys, of the first field):\n"
    "        uniform     each at random (the default)\n"
    "        sorted      as recsort leaves them\n"
    "        reverse     the other way round\n"
    "        nearly      sorted, but for 1% of the records\n"
    "        few         16 different values\n"
    "        equal       one value\n"
    "        zipf        the k-th most frequent value k times as rare as the first\n"
    "        saw         16 ascending runs\n"
    "        organ-pipe  ascending, then descending\n"
    "      --special              NaN, infinities, -0 and negative numbers among the\n"
    "                             random floats\n"
    "  -h, --help                 this text\n"
    "  -V, --version              the version\n";

typedef struct settings {
  const char *schema;
  const char *output;
  bool counted;
  generator_options generator;
} settings;

enum { OPTION_SEED = 256, OPTION_SPECIAL };

static const struct option options[] = {
    {"schema", required_argument, NULL, 's'},
    {"count", required_argument, NULL, 'n'},
    {"output", required_argument, NULL, 'o'},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"distribution", required_argument, NULL, 'd'},
    {"special", no_argument, NULL, OPTION_SPECIAL},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {0},
};

/* Applies an option, which the command line calls `name`. TOOL_OK, or a message says what is
 * wrong. */
static int apply_option(settings *s, int option, const char *value, const char *name)
{
  switch (option) {
  case 's':
    s->schema = value;
    return TOOL_OK;
  case 'o':
    s->output = value;
    return TOOL_OK;
  case OPTION_SPECIAL:
    s->generator.special = true;
    return TOOL_OK;
  case 'n':
    s->counted = tool_option_count("count", value, 0, UINT64_MAX, &s->generator.count);
    return s->counted ? TOOL_OK : TOOL_TROUBLE;
  case OPTION_SEED:
    return tool_option_count("seed", value, 0, UINT64_MAX, &s->generator.seed) ? TOOL_OK
                                                                               : TOOL_TROUBLE;
  case 'd':
    if (distribution_find(value, &s->generator.distribution)) return TOOL_OK;
    return tool_usage_error("unknown distribution '%s'", value);
  case ':':
    return tool_usage_error("option '%s' needs a value", name);
  default:
    return tool_usage_error("unknown option '%s'", name);
  }
}

static bool write_zeros(tool_output *output, uint64_t size)
{
  return tool_output_write_byte(output, 0, size);
}

/* Writes records [begin, end). */
static bool write_records(tool_output *output, generator *g, uint64_t begin, uint64_t end,
                          size_t size)
{
  const size_t block = size < (1 << 18) ? (1 << 18) / size : 1;
  unsigned char *const records = calloc(block, size);
  bool done = records;
  if (!done) tool_error("out of memory: a record has %zu bytes", size);
  for (uint64_t first = begin; done && first < end; first += block) {
    const size_t part = end - first < block ? (size_t)(end - first) : block;
    generator_write(g, first, part, records);
    done = tool_output_write(output, records, part * size);
  }
  free(records);
  return done;
}

/* Records, and around them zeros but for what the file says about its records. */
static bool write_part(tool_output *output, generator *g, uint64_t begin, uint64_t end,
                       tool_format *format)
{
  tool_bytes header = {0}, trailer = {0};
  tool_why why;
  const bool made = tool_header_make(format, end - begin, &header, &trailer, &why);
  if (!made) tool_error("%s", why.text);
  const uint64_t padding = tool_format_padding(format, format->skip, end - begin);
  const bool done = made && tool_output_write(output, header.data, header.size) &&
                    write_zeros(output, format->skip - header.size) &&
                    write_records(output, g, begin, end, format->record_size) &&
                    tool_output_write_byte(output, format->file.pad_with, padding) &&
                    tool_output_write(output, trailer.data, trailer.size) &&
                    write_zeros(output, format->trailer - trailer.size);
  tool_bytes_free(&header);
  tool_bytes_free(&trailer);
  return done;
}

static bool write_file(const settings *s, generator *g, tool_format *format)
{
  tool_output output;
  if (!tool_output_open(&output, s->output)) return false;
  /* Of repeated headers, each has as many records as it says, or as a packet of NetFlow. */
  enum { IN_A_BLOCK = 30 };
  const uint64_t count = s->generator.count;
  const uint64_t each = !format->file.repeat                     ? count
                        : tool_format_is_counted_by_file(format) ? IN_A_BLOCK
                                                                 : format->count;
  uint64_t done = 0;
  bool written = true;
  do {
    const uint64_t part = count - done < each ? count - done : each;
    written = write_part(&output, g, done, done + part, format);
    done += part;
  } while (written && done < count);
  if (written) return tool_output_commit(&output);
  tool_output_discard(&output);
  return false;
}

static bool fits_a_file(const tool_format *format, uint64_t count)
{
  uint64_t size;
  if (!__builtin_mul_overflow(count, format->record_size, &size) &&
      !__builtin_add_overflow(size, format->skip, &size) &&
      !__builtin_add_overflow(size, format->trailer, &size) && size <= INT64_MAX) {
    return true;
  }
  tool_error("so many records of %zu bytes are more than a file can hold", format->record_size);
  return false;
}

/* Other distributions spread ranks over the fields that are keys. */
static bool suits(const settings *s, const recsort_schema *schema)
{
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  if (desc->computed_count == 0 || s->generator.distribution == DISTRIBUTION_UNIFORM) return true;
  tool_error("%s: key \"%s\" is computed, so only the distribution uniform can be made", s->schema,
             desc->computed->name);
  return false;
}

static int generate(const settings *s)
{
  recsort_schema *const schema = tool_load_schema(s->schema);
  if (!schema) return TOOL_TROUBLE;
  tool_format format = tool_format_of(schema, &TOOL_SAID_NOTHING);
  if (format.trailer == TOOL_ANY) format.trailer = 0;
  const bool fixed = format.file.repeat && !tool_format_is_counted_by_file(&format);
  int status = TOOL_TROUBLE;
  if (fixed && s->generator.count % format.count != 0) {
    tool_error("%s: each header has %" PRIu64 " records, so their number is a multiple of that",
               s->schema, format.count);
  } else if (suits(s, schema) && fits_a_file(&format, s->generator.count)) {
    generator *const g = generator_create(schema, &s->generator);
    if (!g) tool_error("out of memory");
    if (g && write_file(s, g, &format)) status = TOOL_OK;
    generator_destroy(g);
  }
  recsort_schema_destroy(schema);
  return status;
}

int main(int argc, char **argv)
{
  opterr = 0;
  tool_set_name("recgen");
  settings s = {.generator.seed = 1};
  for (int option; (option = getopt_long(argc, argv, ":s:n:o:d:hV", options, NULL)) != -1;) {
    if (option == 'h' || option == 'V') {
      if (option == 'h')
        fputs(help, stdout);
      else
        printf("recgen %s\n", recsort_version());
      return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
    }
    const int status = apply_option(&s, option, optarg, argv[optind - 1]);
    if (status != TOOL_OK) return status;
  }
  if (optind < argc) return tool_usage_error("unexpected argument '%s'", argv[optind]);
  if (!s.schema) return tool_usage_error("which schema? --schema is missing");
  if (!s.counted) return tool_usage_error("how many records? --count is missing");
  if (!tool_may_write(s.output)) return TOOL_TROUBLE;
  return generate(&s);
}

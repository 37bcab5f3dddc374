/* A command line, its words separated by NULs: understood or refused, nothing else. */
#include <getopt.h>
#include <string.h>

#include "fuzz.h"
#include "recsort/options.h"
#include "support/message.h"

enum { MOST_WORDS = 32, MOST_BYTES = 4096 };

static void check_options(const cli_options *options)
{
  EXPECT(options->command <= COMMAND_HELP);
  EXPECT(options->index_bits == 0 || options->index_bits == 32 || options->index_bits == 64);
  for (size_t i = 0; i < options->sorting.key_count; i++) {
    const recsort_key_desc *key = &options->sorting.keys[i];
    EXPECT(key->path && key->order <= RECSORT_DESCENDING && key->nan <= RECSORT_NAN_TOTAL);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static char program[] = "recsort";
  char text[MOST_BYTES + 1];
  char *words[MOST_WORDS + 2] = {program};
  int count = 1;
  cli_options options;
  if (size > MOST_BYTES) return 0;
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  for (size_t at = 0; at < size && count < MOST_WORDS; at += strlen(text + at) + 1)
    words[count++] = text + at;
  static FILE *nowhere; /* for the tool's messages; the fuzzer's own still appear */
  if (!nowhere) nowhere = fopen("/dev/null", "w");
  if (!nowhere) return 0;
  stderr = nowhere;
  tool_set_name("recsort");
  optind = 0; /* glibc: restart */
  if (options_parse(&options, count, words)) check_options(&options);
  options_free(&options);
  return 0;
}

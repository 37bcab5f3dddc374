#include "cuda/options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

/* Parses a value of `length` characters. */
typedef bool option_parse(const char *text, size_t length, cuda_options *options);

typedef struct option {
  recsort_plugin_option shown;
  option_parse *parse;
  const char *wanted;
} option;

static bool parse_number(const char *text, size_t length, uint64_t *number)
{
  uint64_t made = 0;
  for (size_t i = 0; i < length; i++)
    if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(made, 10, &made) ||
        __builtin_add_overflow(made, (uint64_t)(text[i] - '0'), &made))
      return false;
  *number = made;
  return length > 0;
}

bool cuda_parse_size(const char *text, size_t length, uint64_t *size)
{
  static const char suffixes[] = "KMGT";
  uint64_t number;
  const char *const suffix = length ? strchr(suffixes, text[length - 1]) : NULL;
  const unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
  RS_ASSERT(shift <= 40);
  if (!parse_number(text, length - (suffix != NULL), &number) || number == 0 ||
      number > UINT64_MAX >> shift)
    return false;
  *size = number << shift;
  return true;
}

static bool parse_device(const char *text, size_t length, cuda_options *options)
{
  uint64_t number;
  if (!parse_number(text, length, &number) || number > INT_MAX) return false;
  options->device = (int)number;
  return true;
}

static bool parse_memory(const char *text, size_t length, cuda_options *options)
{
  return cuda_parse_size(text, length, &options->memory);
}

static const option device_option = {
    {sizeof(recsort_plugin_option), 0, "device",
     "the GPU's number, from 0; else the calling thread's current one"},
    parse_device,
    "the number of a device, from 0"};
static const option memory_option = {
    {sizeof(recsort_plugin_option), 0, "memory",
     "the most device memory to use, such as 512M or 8G; else all that is free"},
    parse_memory,
    "a size such as 512M or 8G"};

static const option *const all[CUDA_OPTIONS] = {&device_option, &memory_option};
const recsort_plugin_option *const cuda_option_list[CUDA_OPTIONS] = {&device_option.shown,
                                                                     &memory_option.shown};

static const option *find(const char *key, size_t length)
{
  for (size_t i = 0; i < CUDA_OPTIONS; i++)
    if (strncmp(all[i]->shown.name, key, length) == 0 && !all[i]->shown.name[length]) return all[i];
  return NULL;
}

/* Reads one "key=value". */
static bool read_pair(const char *pair, cuda_options *options, char *reason, size_t reason_size)
{
  enum { SHOWN = 80 };
  const size_t length = strlen(pair), key = strcspn(pair, "=");
  const option *const known = find(pair, key);
  const int shown = length < SHOWN ? (int)length : SHOWN;
  if (known && key < length && known->parse(pair + key + 1, length - key - 1, options)) return true;
  if (known)
    (void)snprintf(reason, reason_size, "option \"%.*s\": the value must be %s", shown, pair,
                   known->wanted);
  else
    (void)snprintf(reason, reason_size, "option \"%.*s\": there is no option of this name", shown,
                   pair);
  return false;
}

bool cuda_options_read(const recsort_host *host, cuda_options *options, char *reason,
                       size_t reason_size)
{
  *options = (cuda_options){.device = CUDA_CURRENT_DEVICE, .verify = (recsort_verify)host->verify};
  for (size_t i = 0; i < host->option_count; i++)
    if (!read_pair(host->options[i], options, reason, reason_size)) return false;
  return true;
}

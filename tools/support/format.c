/* format.c - see format.h. */
#include "support/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* ---- Bytes ---- */

enum {
  page = 64 << 10, /* unit of tool_bytes */
  huge = 2 << 20   /* from this size on, huge pages pay */
};

bool tool_bytes_reserve(tool_bytes *bytes, size_t capacity)
{
  if (capacity <= bytes->capacity) return true;
  if (capacity > SIZE_MAX / 2) return false;
  capacity = (capacity + page - 1) / page * page;
  void *const data =
      bytes->data == NULL
          ? mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
          : mremap(bytes->data, bytes->capacity, capacity, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) return false;
  if (capacity >= huge) madvise(data, capacity, MADV_HUGEPAGE);
  bytes->data = data;
  bytes->capacity = capacity;
  return true;
}

bool tool_bytes_append(tool_bytes *bytes, const void *data, size_t size)
{
  if (size == 0) return true;
  if (!tool_bytes_reserve(bytes, bytes->size + size)) return false;
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
  return true;
}

void tool_bytes_free(tool_bytes *bytes)
{
  if (bytes->data != NULL) munmap(bytes->data, bytes->capacity);
  *bytes = (tool_bytes){0};
}

/* ---- Fields of a header ---- */

/* No file needs larger numbers, and sums of them do not overflow. */
static const uint64_t largest = INT64_MAX / 4;

static size_t end_of(const recsort_field *field)
{
  return field != NULL ? field->offset + field->size : 0;
}

static size_t fields_needed(const tool_format *format, const unsigned char *bytes, size_t size)
{
  const size_t skip = end_of(format->skip_field), count = end_of(format->count_field);
  (void)bytes, (void)size;
  return skip > count ? skip : count;
}

/* Decimal digits with blanks or NULs around them. */
static bool parse_digits(const unsigned char *text, size_t size, uint64_t *number)
{
  size_t digits = 0;
  *number = 0;
  while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\0'))
    size--;
  while (size > 0 && *text == ' ')
    text++, size--;
  for (; digits < size; digits++) {
    if (text[digits] < '0' || text[digits] > '9' || *number > largest / 10) return false;
    *number = 10 * *number + (uint64_t)(text[digits] - '0');
  }
  return digits > 0;
}

static bool read_number(const recsort_field *field, const unsigned char *bytes, uint64_t *number,
                        tool_why *why)
{
  recsort_value value;
  if (field == NULL) return true;
  recsort_field_get(field, bytes, 0, &value, sizeof value);
  uint64_t read = value.as.u; /* a negative number is beyond the largest one */
  const bool good =
      value.kind != RECSORT_VALUE_BYTES || parse_digits(value.as.bytes, value.size, &read);
  if (good && read <= largest) {
    *number = read;
    return true;
  }
  snprintf(why->text, sizeof why->text, "its header has no valid %s at offset %zu", field->name,
           field->offset);
  return false;
}

static bool fields_read(tool_format *format, const unsigned char *bytes, size_t size, tool_why *why)
{
  if (!read_number(format->skip_field, bytes, &format->skip, why) ||
      !read_number(format->count_field, bytes, &format->count, why)) {
    return false;
  }
  if (format->skip >= size) return true;
  snprintf(why->text, sizeof why->text,
           "its header of %" PRIu64 " bytes ends before the numbers that it should hold",
           format->skip);
  return false;
}

/* Writes a number into its field; digits to the right, unless they were to the left. */
static bool write_number(const recsort_field *field, unsigned char *bytes, uint64_t number,
                         tool_why *why)
{
  char digits[24];
  uint64_t back = 0;
  recsort_value value = {.kind = RECSORT_VALUE_UNSIGNED, .as.u = number};
  unsigned char *const at = bytes + field->offset;
  const int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
  if (field->type != RECSORT_CHAR) {
    recsort_field_set(field, bytes, 0, &value, sizeof value);
  } else if ((size_t)length <= field->size) {
    const bool left = *at >= '0' && *at <= '9' && field->size > 1;
    const int blank = left && at[field->size - 1] == '\0' ? '\0' : ' ';
    memset(at, blank, field->size);
    memcpy(left ? at : at + field->size - (size_t)length, digits, (size_t)length);
  }
  if (read_number(field, bytes, &back, why) && back == number) return true;
  snprintf(why->text, sizeof why->text, "its header has no room for a %s of %" PRIu64, field->name,
           number);
  return false;
}

static bool fields_write_count(const tool_format *format, tool_bytes *bytes, uint64_t count,
                               tool_why *why)
{
  return format->count_field == NULL || write_number(format->count_field, bytes->data, count, why);
}

const tool_header tool_header_fields = {fields_needed, fields_read, fields_write_count};

/* ---- Formats ---- */

void tool_format_settle(tool_format *format)
{
  const bool none = format->skip_field == NULL && format->count_field == NULL;
  format->header = none ? NULL : &tool_header_fields;
}

bool tool_format_is_counted_by_header(const tool_format *format)
{
  const bool fields = format->header == &tool_header_fields;
  return format->header != NULL && (!fields || format->count_field != NULL);
}

tool_format tool_format_of(const recsort_schema *schema)
{
  recsort_file_info file;
  recsort_schema_get_file(schema, &file, sizeof file);
  tool_format format = {.record_size = recsort_schema_record_size(schema),
                        .skip = file.skip,
                        .count = file.count != 0 ? file.count : TOOL_ANY,
                        .trailer = file.trailer,
                        .repeat = file.repeat,
                        .skip_field = file.skip_field,
                        .count_field = file.count_field};
  tool_format_settle(&format);
  return format;
}

bool tool_header_make(tool_format *format, uint64_t count, tool_bytes *bytes, tool_why *why)
{
  const size_t size = format->header != NULL ? fields_needed(format, NULL, 0) : 0;
  if (format->skip_field != NULL) format->skip = size;
  if (!tool_bytes_reserve(bytes, size)) {
    snprintf(why->text, sizeof why->text, "out of memory");
    return false;
  }
  bytes->size = size;
  return (format->skip_field == NULL ||
          write_number(format->skip_field, bytes->data, format->skip, why)) &&
         fields_write_count(format, bytes, count, why);
}

/* cell.c - see cell.h. */
#include "reccat/cell.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

enum { NUMBER_ROOM = 32 };

static bool is_float(const recsort_field *field)
{
  return field->type == RECSORT_FLOAT16 || field->type == RECSORT_BFLOAT16 ||
         field->type == RECSORT_FLOAT32 || field->type == RECSORT_FLOAT64;
}

bool cell_is_number(const recsort_field *field)
{
  return field->type != RECSORT_CHAR && field->type != RECSORT_BYTES &&
         field->type != RECSORT_ENUM && field->type != RECSORT_BOOL;
}

/* ---- Room --------------------------------------------------------------------------------- */

static size_t longest_name(const recsort_field *field)
{
  size_t longest = 0;
  for (size_t i = 0; i < field->enumerator_count; i++) {
    const size_t length = strlen(field->enumerators[i].name);
    if (length > longest) longest = length;
  }
  return longest;
}

size_t cell_width(const recsort_field *field)
{
  switch (field->type) {
  case RECSORT_BOOL:
    return strlen("false");
  case RECSORT_INT8:
    return strlen("-128");
  case RECSORT_UINT8:
    return strlen("255");
  case RECSORT_INT16:
    return strlen("-32768");
  case RECSORT_UINT16:
    return strlen("65535");
  case RECSORT_INT32:
    return strlen("-2147483648");
  case RECSORT_UINT32:
    return strlen("4294967295");
  case RECSORT_INT64:
    return strlen("-9223372036854775808");
  case RECSORT_UINT64:
    return strlen("18446744073709551615");
  case RECSORT_FLOAT16:
  case RECSORT_BFLOAT16:
    return strlen("-1.2345e-38");
  case RECSORT_FLOAT32:
    return strlen("-1.23456789e-38");
  case RECSORT_FLOAT64:
    return strlen("-1.2345678901234567e-308");
  case RECSORT_BITFIELD:
    return (size_t)(field->width * 0.30103) + 1;
  case RECSORT_ENUM:
    return longest_name(field);
  case RECSORT_BYTES:
    return 2 * field->size;
  default:
    return field->size;
  }
}

size_t cell_room(const recsort_field *field)
{
  const size_t text = field->type == RECSORT_CHAR ? 4 * field->size : cell_width(field);
  return (text > NUMBER_ROOM ? text : NUMBER_ROOM) + 1;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

/* What a reader of the text gets who wants such a field. */
static double read_back(const recsort_field *field, const char *text)
{
  if (field->type == RECSORT_FLOAT64) return strtod(text, NULL);
  if (field->type == RECSORT_FLOAT32) return (double)strtof(text, NULL);
  const recsort_field alone = {.type = field->type, .endian = field->endian, .size = field->size};
  recsort_value value = {.kind = RECSORT_VALUE_REAL, .as.real = strtod(text, NULL)};
  unsigned char bytes[8];
  recsort_field_set(&alone, bytes, 0, &value, sizeof value);
  recsort_field_get(&alone, bytes, 0, &value, sizeof value);
  return value.as.real;
}

/* The digits that every text of so few keeps on its way through the type and back: with them the
 * shortest text is found at once. Below the least normal number there is no such promise. */
static int kept_digits(const recsort_field *field, double value)
{
  const double size = fabs(value);
  switch (field->type) {
  case RECSORT_FLOAT16:
    return size < 0x1p-14 ? 1 : 3;
  case RECSORT_BFLOAT16:
    return size < FLT_MIN ? 1 : 2;
  case RECSORT_FLOAT32:
    return size < FLT_MIN ? 1 : FLT_DIG;
  default:
    return size < DBL_MIN ? 1 : DBL_DIG;
  }
}

static void write_float(const recsort_field *field, double value, char *text)
{
  if (!isfinite(value)) {
    const char *const word = isnan(value) ? "nan" : "inf";
    snprintf(text, NUMBER_ROOM, "%s%s", signbit(value) ? "-" : "", word);
    return;
  }
  for (int digits = kept_digits(field, value); digits <= DBL_DECIMAL_DIG; digits++) {
    snprintf(text, NUMBER_ROOM, "%.*g", digits, value);
    if (read_back(field, text) == value) break;
  }
  if (strstr(text, "e+") && fabs(value) < 1e9) snprintf(text, NUMBER_ROOM, "%.0f", value);
}

static void write_integer(recsort_value value, char *text)
{
  if (value.kind == RECSORT_VALUE_SIGNED)
    snprintf(text, NUMBER_ROOM, "%" PRId64, value.as.i);
  else
    snprintf(text, NUMBER_ROOM, "%" PRIu64, value.as.u);
}

static void write_enum(const recsort_field *field, recsort_value value, char *text)
{
  const uint64_t bits = value.kind == RECSORT_VALUE_SIGNED ? (uint64_t)value.as.i : value.as.u;
  for (size_t i = 0; i < field->enumerator_count; i++) {
    if ((uint64_t)field->enumerators[i].value != bits) continue;
    strcpy(text, field->enumerators[i].name);
    return;
  }
  write_integer(value, text);
}

/* ---- Strings ------------------------------------------------------------------------------ */

static void write_hex(const unsigned char *bytes, size_t size, char *text)
{
  for (size_t i = 0; i < size; i++)
    sprintf(text + 2 * i, "%02x", (unsigned)bytes[i]);
}

/* How many bytes of a printable character begin there; 0 if none does. */
static size_t printable_length(const char *bytes, size_t size)
{
  mbstate_t state = {0};
  wchar_t c;
  const size_t length = mbrtowc(&c, bytes, size, &state);
  return length <= size && iswprint((wint_t)c) ? length : 0;
}

static void write_text(const unsigned char *bytes, size_t size, char *text)
{
  while (size && !bytes[size - 1])
    size--;
  for (size_t i = 0; i < size;) {
    const size_t length = printable_length((const char *)bytes + i, size - i);
    if (!length) {
      text += sprintf(text, "\\x%02x", (unsigned)bytes[i++]);
      continue;
    }
    if (bytes[i] == '\\') *text++ = '\\';
    memcpy(text, bytes + i, length);
    text += length;
    i += length;
  }
  *text = '\0';
}

void cell_write(const recsort_field *field, const void *base, size_t element, char *text)
{
  recsort_value value;
  recsort_field_get(field, base, element, &value, sizeof value);
  switch (field->type) {
  case RECSORT_BOOL:
    strcpy(text, value.as.u ? "true" : "false");
    return;
  case RECSORT_ENUM:
    write_enum(field, value, text);
    return;
  case RECSORT_BYTES:
    write_hex(value.as.bytes, value.size, text);
    return;
  case RECSORT_CHAR:
    write_text(value.as.bytes, value.size, text);
    return;
  default:
    if (is_float(field))
      write_float(field, value.as.real, text);
    else
      write_integer(value, text);
  }
}

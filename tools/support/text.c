/* text.c - see text.h. */
#include "support/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Floats ------------------------------------------------------------------------------- */

/* The value that a text is read as. */
static double read_back(recsort_type type, const char *text)
{
  if (type == RECSORT_FLOAT64) return strtod(text, NULL);
  if (type == RECSORT_FLOAT32) return (double)strtof(text, NULL);
  const recsort_field alone = {
      .type = type, .endian = RECSORT_LITTLE_ENDIAN, .size = recsort_type_describe(type)->size};
  recsort_value value = {.kind = RECSORT_VALUE_REAL, .as.real = strtod(text, NULL)};
  unsigned char bytes[8];
  recsort_field_set(&alone, bytes, 0, &value, sizeof value);
  recsort_field_get(&alone, bytes, 0, &value, sizeof value);
  return value.as.real;
}

/* A decimal with this many digits survives the round trip through the type, so the search for the
 * shortest text begins here. This does not hold for subnormal numbers. */
static int kept_digits(recsort_type type, double value)
{
  const recsort_type_info *const info = recsort_type_describe(type);
  const double least_normal = ldexp(1, 2 - (1 << (info->exponent_bits - 1)));
  return fabs(value) < least_normal ? 1 : (int)(info->fraction_bits * 0.30103); /* log10(2) */
}

void tool_float_text(recsort_type type, double value, char *text)
{
  if (!isfinite(value)) {
    const char *const word = isnan(value) ? "nan" : "inf";
    snprintf(text, TOOL_NUMBER_TEXT, "%s%s", signbit(value) ? "-" : "", word);
    return;
  }
  for (int digits = kept_digits(type, value); digits <= DBL_DECIMAL_DIG; digits++) {
    snprintf(text, TOOL_NUMBER_TEXT, "%.*g", digits, value);
    if (read_back(type, text) == value) break;
  }
  if (strstr(text, "e+") && fabs(value) < 1e9) snprintf(text, TOOL_NUMBER_TEXT, "%.0f", value);
}

/* ---- Bytes -------------------------------------------------------------------------------- */

/* True if a hyphen precedes byte `i`: a uuid has groups of 8-4-4-4-12 digits. */
static bool begins_group(recsort_type type, size_t i)
{
  return type == RECSORT_UUID && (i == 4 || i == 6 || i == 8 || i == 10);
}

char *tool_bytes_text(recsort_type type, const unsigned char *bytes, size_t size, char *text)
{
  for (size_t i = 0; i < size; i++)
    text += sprintf(text, "%s%02x", begins_group(type, i) ? "-" : "", (unsigned)bytes[i]);
  *text = '\0';
  return text;
}

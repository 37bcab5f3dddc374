/* text.c - see text.h. */
#include "support/text.h"

#include <arpa/inet.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* ---- Integers ----------------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 uint128;

/* Writes a number's digits, so many of them behind a point; fewer than 0: zeros at the end. */
static void write_digits(uint128 number, bool negative, int decimals, char *text)
{
  char digits[TOOL_NUMBER_TEXT] = "", *at = digits + sizeof digits - 1;
  for (int i = decimals; i < 0 && number != 0; i++)
    *--at = '0';
  for (int i = 0; number != 0 || i == 0 || i <= decimals; i++, number /= 10) {
    if (i == decimals && i > 0) *--at = '.';
    *--at = (char)('0' + (int)(number % 10));
  }
  if (negative) *--at = '-';
  strcpy(text, at);
}

void tool_integer_text(const recsort_field *field, recsort_value value, char *text)
{
  const char *scale = recsort_field_scale(field);
  const bool negative = value.kind == RECSORT_VALUE_SIGNED && value.as.i < 0;
  uint64_t factor = scale == NULL;
  int decimals = 0;
  bool after = false;
  for (; scale != NULL && *scale != '\0' && *scale != 'e'; scale++) {
    if (*scale != '.') factor = 10 * factor + (uint64_t)(*scale - '0');
    if (*scale != '.') decimals += after;
    after = after || *scale == '.';
  }
  if (scale != NULL && *scale == 'e') decimals -= atoi(scale + 1);
  write_digits((uint128)(negative ? 0 - value.as.u : value.as.u) * factor, negative, decimals,
               text);
}

void tool_wide_text(const recsort_field *field, const unsigned char *bytes, char *text)
{
  uint128 value = 0;
  for (size_t i = 0; i < sizeof value; i++)
    value = value << 8 | bytes[field->endian == RECSORT_BIG_ENDIAN ? i : sizeof value - 1 - i];
  const bool negative = field->type == RECSORT_INT128 && value >> 127;
  write_digits(negative ? 0 - value : value, negative, 0, text);
}

/* ---- Times ------------------------------------------------------------------------------------
 */

void tool_time_text(recsort_type type, int64_t time, char *text)
{
  const int64_t units = type == RECSORT_DATETIME_MS   ? 1000
                        : type == RECSORT_DATETIME_US ? 1000000
                        : type == RECSORT_DATETIME_NS ? 1000000000
                                                      : 1;
  int64_t seconds = time / units, rest = time % units;
  struct tm date;
  if (rest < 0) {
    rest += units;
    seconds--;
  }
  if (time == INT64_MIN) {
    strcpy(text, "NaT");
  } else if ((type == RECSORT_DATETIME_D && __builtin_mul_overflow(time, 86400, &seconds)) ||
             gmtime_r(&seconds, &date) == NULL || date.tm_year > 999997999 ||
             date.tm_year < -1000000000) {
    snprintf(text, TOOL_NUMBER_TEXT, "%" PRId64, time);
  } else {
    char *end = text + sprintf(text, date.tm_year < -1900 ? "%05d-%02d-%02d" : "%04d-%02d-%02d",
                               date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
    if (type == RECSORT_DATETIME_D) return;
    end += sprintf(end, "T%02d:%02d:%02d", date.tm_hour, date.tm_min, date.tm_sec);
    if (units > 1)
      sprintf(end, ".%0*" PRId64,
              type == RECSORT_DATETIME_MS   ? 3
              : type == RECSORT_DATETIME_US ? 6
                                            : 9,
              rest);
  }
}

/* ---- Bytes -------------------------------------------------------------------------------- */

/* True if a hyphen precedes byte `i`: a uuid has groups of 8-4-4-4-12 digits. */
static bool begins_group(recsort_type type, size_t i)
{
  return type == RECSORT_UUID && (i == 4 || i == 6 || i == 8 || i == 10);
}

char *tool_bytes_text(recsort_type type, const unsigned char *bytes, size_t size, char *text)
{
  if (type == RECSORT_IPV4 || type == RECSORT_IPV6) {
    inet_ntop(type == RECSORT_IPV4 ? AF_INET : AF_INET6, bytes, text, INET6_ADDRSTRLEN);
    return text + strlen(text);
  }
  for (size_t i = 0; i < size; i++) {
    const char *const before = begins_group(type, i)          ? "-"
                               : type == RECSORT_MAC && i > 0 ? ":"
                                                              : "";
    text += sprintf(text, "%s%02x", before, (unsigned)bytes[i]);
  }
  *text = '\0';
  return text;
}

size_t tool_bytes_text_length(recsort_type type, size_t size)
{
  return type == RECSORT_IPV4 ? INET_ADDRSTRLEN - 1
         : type == RECSORT_IPV6
             ? INET6_ADDRSTRLEN - 1
             : 2 * size + (type == RECSORT_UUID ? 4 : 0) + (type == RECSORT_MAC ? size - 1 : 0);
}

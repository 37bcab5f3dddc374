/* text.c - see text.h. */
#include "support/text.h"

#include "support/floats.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Integers ----------------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 uint128;

static char *write_number(uint64_t number, char *text)
{
  char digits[20], *at = digits + sizeof digits;
  do
    *--at = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  const size_t length = (size_t)(digits + sizeof digits - at);
  memcpy(text, at, length);
  text[length] = '\0';
  return text + length;
}

/* Writes a number's digits, so many of them behind a point; fewer than 0: zeros at the end. */
static char *write_digits(uint128 number, bool negative, int decimals, char *text)
{
  char digits[TOOL_NUMBER_TEXT] = "", *at = digits + sizeof digits - 1;
  for (int i = decimals; i < 0 && number != 0; i++)
    *--at = '0';
  for (int i = 0; number != 0 || i == 0 || i <= decimals; i++, number /= 10) {
    if (i == decimals && i > 0) *--at = '.';
    *--at = (char)('0' + (int)(number % 10));
  }
  if (negative) *--at = '-';
  return stpcpy(text, at);
}

char *tool_integer_text(const recsort_field_desc *field, recsort_value value, char *text)
{
  const char *scale = field->scale;
  const bool negative = value.kind == RECSORT_VALUE_SIGNED && value.as.i < 0;
  const uint64_t size = negative ? 0 - value.as.u : value.as.u;
  if (negative && scale == NULL) *text++ = '-';
  if (scale == NULL) return write_number(size, text);
  uint64_t factor = 0;
  int decimals = 0;
  bool after = false;
  for (; *scale != '\0' && *scale != 'e'; scale++) {
    if (*scale != '.') factor = 10 * factor + (uint64_t)(*scale - '0');
    if (*scale != '.') decimals += after;
    after = after || *scale == '.';
  }
  if (*scale == 'e') decimals -= atoi(scale + 1);
  return write_digits((uint128)size * factor, negative, decimals, text);
}

char *tool_wide_text(const recsort_field_desc *field, const unsigned char *bytes, char *text)
{
  uint128 value = 0;
  for (size_t i = 0; i < sizeof value; i++)
    value = value << 8 | bytes[field->endian == RECSORT_BIG_ENDIAN ? i : sizeof value - 1 - i];
  const bool negative = field->type == RECSORT_INT128 && value >> 127;
  return write_digits(negative ? 0 - value : value, negative, 0, text);
}

/* ---- Floats ------------------------------------------------------------------------------- */

/* Finds the digits of a float of 16 bits or fewer: the fewest that it is read from. Few floats have
 * so few bits, so this may take long. */
static char *half_digits(recsort_type type, double value, char *text)
{
  const size_t size = recsort_type_describe(type)->size;
  const recsort_field_desc alone = {.type = type, .endian = RECSORT_LITTLE_ENDIAN, .size = size};
  recsort_value read = {.kind = RECSORT_VALUE_REAL, .as.real = NAN};
  int length = 0;
  for (int digits = 0; read.as.real != value; digits++) {
    unsigned char bytes[2];
    length = sprintf(text, "%.*e", digits, value);
    read = (recsort_value){.kind = RECSORT_VALUE_REAL, .as.real = strtod(text, NULL)};
    recsort_field_set(&alone, bytes, 0, &read, sizeof read);
    recsort_field_get(&alone, bytes, 0, &read, sizeof read);
  }
  return text + length;
}

/* Writes a finite number as in -1.25e-07. */
static char *write_scientific(recsort_type type, double value, char *text)
{
  return type == RECSORT_FLOAT64   ? tool_double_digits(value, text)
         : type == RECSORT_FLOAT32 ? tool_float_digits((float)value, text)
                                   : half_digits(type, value, text);
}

/* The least number of digits for which no exponent is needed: all decimals with so many survive the
 * round trip through the type. This does not hold for subnormal numbers. */
static int kept_digits(recsort_type type, double value)
{
  const recsort_type_info *const info = recsort_type_describe(type);
  const double least_normal = ldexp(1, 1 - (int)info->exponent_bias);
  return fabs(value) < least_normal ? 1 : (int)(info->fraction_bits * 0.30103); /* log10(2) */
}

/* The number in e-07. */
static int exponent_at(const char *e)
{
  int size = 0;
  for (const char *at = e + 2; *at; at++)
    size = 10 * size + (*at - '0');
  return e[1] == '-' ? -size : size;
}

/* Writes digits with the point before or after some of them. */
static char *write_plain(const char *digits, int count, int exponent, char *text)
{
  if (exponent < 0) *text++ = '0';
  for (int i = exponent < 0 ? exponent + 1 : 0; i < count || i <= exponent; i++) {
    if (i == exponent + 1) *text++ = '.';
    *text++ = 0 <= i && i < count ? digits[i] : '0';
  }
  *text = '\0';
  return text;
}

char *tool_float_text(recsort_type type, double value, char *text)
{
  if (signbit(value)) *text++ = '-';
  if (!isfinite(value)) return stpcpy(text, isnan(value) ? "nan" : "inf");
  char digits[TOOL_NUMBER_TEXT];
  *write_scientific(type, fabs(value), digits) = '\0';
  const char *const e = strchr(digits, 'e');
  const int exponent = exponent_at(e);
  const int count = e - digits > 1 ? (int)(e - digits) - 1 : 1;
  const int kept = kept_digits(type, value);
  if (exponent >= -4 && exponent < (count > kept ? count : kept)) {
    digits[1] = digits[0]; /* in place of the point, if there is one */
    return write_plain(digits + 1, count, exponent, text);
  }
  /* An integer, whose last digits are not all known. */
  if (exponent > 0 && fabs(value) < 1e9) return write_number((uint64_t)fabs(value), text);
  return stpcpy(text, digits);
}

/* ---- Times ------------------------------------------------------------------------------------
 */

char *tool_time_text(recsort_type type, int64_t time, char *text)
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
  if (time == INT64_MIN) return stpcpy(text, "NaT");
  if ((type == RECSORT_DATETIME_D && __builtin_mul_overflow(time, 86400, &seconds)) ||
      gmtime_r(&seconds, &date) == NULL || date.tm_year > 999997999 || date.tm_year < -1000000000)
    return text + sprintf(text, "%" PRId64, time);
  text += sprintf(text, date.tm_year < -1900 ? "%05d-%02d-%02d" : "%04d-%02d-%02d",
                  date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
  if (type == RECSORT_DATETIME_D) return text;
  text += sprintf(text, "T%02d:%02d:%02d", date.tm_hour, date.tm_min, date.tm_sec);
  const int decimals = type == RECSORT_DATETIME_MS ? 3 : type == RECSORT_DATETIME_US ? 6 : 9;
  return units > 1 ? text + sprintf(text, ".%0*" PRId64, decimals, rest) : text;
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

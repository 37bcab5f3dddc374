#include "base/error.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

const char *recsort_status_text(recsort_status status)
{
  switch (status) {
  case RECSORT_OK:
    return "success";
  case RECSORT_INVALID_ARGUMENT:
    return "invalid argument";
  case RECSORT_OUT_OF_MEMORY:
    return "out of memory";
  case RECSORT_IO_ERROR:
    return "input error";
  case RECSORT_INVALID_SCHEMA:
    return "invalid schema";
  case RECSORT_INVALID_KEY:
    return "invalid key";
  case RECSORT_INVALID_RECORD:
    return "invalid record";
  case RECSORT_PLUGIN_ERROR:
    return "plugin error";
  case RECSORT_DEVICE_ERROR:
    return "device error";
  case RECSORT_DEVICE_LOST:
    return "device lost";
  case RECSORT_CORRUPT_RESULT:
    return "corrupt result";
  case RECSORT_UNSORTED_RUN:
    return "unsorted run";
  }
  return "unknown status";
}

/* Appends to error->text at `used`; returns the new length. */
static size_t append(recsort_error *error, size_t used, const char *format, va_list arguments)
{
  RS_ASSERT(used < sizeof error->text);
  const size_t left = sizeof error->text - used;
  const int length = vsnprintf(error->text + used, left, format, arguments);
  if (length < 0) return used;
  return (size_t)length < left ? used + (size_t)length : sizeof error->text - 1;
}

static size_t append_text(recsort_error *error, size_t used, const char *format, ...)
    RS_PRINTS(3, 4);

static size_t append_text(recsort_error *error, size_t used, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  used = append(error, used, format, arguments);
  va_end(arguments);
  return used;
}

/* Messages quote text from files: this replaces control characters, which could break the line or
 * reach the terminal. */
static void clean(char *text)
{
  for (; *text; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = '?';
}

static void fill(recsort_error *error, recsort_status status, rs_place place, const char *format,
                 va_list arguments)
{
  RS_ASSERT(status != RECSORT_OK);
  size_t used = 0;
  if (!error) return;
  memset(error, 0, sizeof *error);
  error->status = status;
  error->line = place.line;
  error->column = place.column;
  if (place.source && place.line)
    used = append_text(error, used, "%.200s:%u:%u: ", place.source, place.line, place.column);
  else if (place.source)
    used = append_text(error, used, "%.200s: ", place.source);
  append(error, used, format, arguments);
  RS_ASSERT(strlen(error->text) < sizeof error->text);
  clean(error->text);
}

recsort_status rs_fail(recsort_error *error, recsort_status status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fill(error, status, (rs_place){0}, format, arguments);
  va_end(arguments);
  return status;
}

recsort_status rs_fail_at(recsort_error *error, recsort_status status, rs_place place,
                          const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fill(error, status, place, format, arguments);
  va_end(arguments);
  return status;
}

recsort_status rs_fail_memory(recsort_error *error, size_t size)
{
  return rs_fail(error, RECSORT_OUT_OF_MEMORY, "out of memory (%zu bytes wanted)", size);
}

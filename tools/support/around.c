/* around.c - see around.h. */
#include "support/around.h"

#include "support/message.h"
#include "support/places.h"

#include <inttypes.h>
#include <stdio.h>

static bool refused(const tool_reader *first, const tool_why *why)
{
  tool_error("%s: %s", first->name, why->text);
  return false;
}

/* ---- What would go stale ---- */

/* Says that other data moves along with the records, if the schema does not say who refers to it. A
 * single byte is an end mark. */
static void say_moved(const tool_reader *first)
{
  const tool_format *const format = &first->format;
  const uint64_t behind = tool_reader_behind(first);
  if (format->header != NULL || format->trailer != TOOL_ANY || behind <= 1 ||
      format->file.pad_to != 0 ||
      tool_format_has(format, RECSORT_PLACE_AFTER, RECSORT_PLACE_AFTER)) {
    return;
  }
  tool_error(
      "%s: the number of records changes, and what follows them moves; if the file says where "
      "that is, or pads the records, say so by after: or pad: in the schema",
      first->name);
}

/* Whether header and trailer may stay although there are `count` records instead. They may if the
 * file says how many there are, or if the user insists. Otherwise a header gets a warning, and
 * bytes that are known to follow the records make it an error. */
static bool may_keep(const tool_reader *first, uint64_t count)
{
  const tool_format *const format = &first->format;
  const uint64_t own = tool_reader_count(first);
  const bool behind = tool_reader_behind(first) != 0;
  if ((count == own && own != TOOL_ANY) || format->said.keep_trailer ||
      (format->skip == 0 && !behind)) {
    return true;
  }
  if (format->header != NULL || tool_places_count(format, &first->header)) {
    say_moved(first);
    return true;
  }
  char change[64] = "";
  if (own != TOOL_ANY && count != TOOL_ANY)
    snprintf(change, sizeof change, " from %" PRIu64 " to %" PRIu64, own, count);
  if (behind) {
    tool_error("%s: the number of records changes%s, and what is around them would stay as it is: "
               "say by count: or length: in the schema where the file has their number, or insist "
               "by --keep-trailer",
               first->name, change);
  } else if (count != TOOL_ANY) {
    tool_error("%s: the number of records changes%s, and its header is kept; if that has their "
               "number, say where by count: or length: in the schema",
               first->name, change);
  }
  return !behind;
}

/* ---- The header ---- */

static tool_change change_to(const tool_reader *first, uint64_t count)
{
  const tool_format *const format = &first->format;
  const uint64_t own = tool_reader_count(first);
  const bool known = first->sized || first->ended;
  const uint64_t padding = known ? first->padding : tool_format_padding(format, format->skip, own);
  const uint64_t due = tool_format_padding(format, format->skip, count);
  return (tool_change){own, count, padding, own == count ? padding : due};
}

/* Makes the header for `count` records. */
static bool make_header(const tool_reader *first, uint64_t count, tool_bytes *made, tool_why *why)
{
  const tool_format *const format = &first->format;
  const tool_change change = change_to(first, count);
  tool_bytes trailer = {0};
  if (format->header == NULL) {
    const bool good =
        tool_places_write(format, &first->header, NULL, &change, made, why) &&
        (first->behind.size == 0 ||
         tool_places_write(format, &first->header, &first->behind, &change, &trailer, why));
    tool_bytes_free(&trailer);
    return good;
  }
  if (!tool_bytes_append(made, first->header.data, first->header.size)) {
    snprintf(why->text, sizeof why->text, "out of memory");
    return false;
  }
  return format->header->write_count(format, made, count, why);
}

static uint64_t behind_offset(const tool_reader *first)
{
  return first->start + first->format.skip + first->size;
}

/* Copies the rest of the header, which has no places. */
static bool copy_header(tool_reader *first, tool_output *to)
{
  const uint64_t skip = first->format.skip, read = first->header.size;
  const uint64_t offset = first->sized ? first->start + read : TOOL_HERE;
  const uint64_t left = first->sized ? skip - read : first->header_left;
  uint64_t passed;
  if (!tool_stream_pass(&first->stream, offset, left, to, &passed)) return false;
  if (!first->sized) first->header_left -= passed;
  if (passed == left) return true;
  tool_error("%s: %" PRIu64 " bytes are too few for its header of %" PRIu64, first->name,
             skip - left + passed, skip);
  return false;
}

bool tool_around_begin(tool_reader *first, tool_output *to, uint64_t count)
{
  const bool unknown = count == TOOL_ANY;
  tool_bytes made = {0};
  tool_why why;
  if (first->put) return true;
  if (!first->said && !(unknown && tool_output_is_file(to)) && !may_keep(first, count))
    return false;
  first->said |= !unknown;
  const uint64_t known = unknown ? tool_reader_count(first) : count;
  bool good = make_header(first, known, &made, &why) || refused(first, &why);
  const uint64_t grown = made.size - first->header.size; /* may wrap around */
  first->put_size = first->format.skip + grown;
  good = good && tool_output_write(to, made.data, made.size) && copy_header(first, to);
  first->put = good;
  tool_bytes_free(&made);
  return good;
}

bool tool_around_correct(const tool_reader *first, tool_output *to, uint64_t count)
{
  tool_bytes made = {0};
  tool_why why;
  bool good = make_header(first, count, &made, &why) || refused(first, &why);
  if (good && first->format.skip + (made.size - first->header.size) != first->put_size) {
    tool_error("%s: the header would become longer or shorter by the number of records, which is "
               "known too late; give more memory",
               first->name);
    good = false;
  }
  good = good && tool_output_overwrite(to, made.data, made.size);
  tool_bytes_free(&made);
  return good;
}

/* ---- The trailer ---- */

/* Copies bytes behind the records: from `at` on, as many as there are if `size` is TOOL_ANY. */
static bool copy_behind(tool_reader *first, uint64_t at, uint64_t size, tool_output *to)
{
  const uint64_t offset = first->sized ? behind_offset(first) + at : TOOL_HERE;
  uint64_t passed;
  if (!tool_stream_pass(&first->stream, offset, size, to, &passed)) return false;
  return passed == size || size == TOOL_ANY || tool_reader_truncated(first);
}

/* Writes the trailer's first bytes, which have places. */
static bool write_behind(const tool_reader *first, uint64_t count, tool_output *to)
{
  const tool_change change = change_to(first, count);
  tool_bytes made = {0};
  tool_why why;
  if (first->behind.size == 0) return true;
  const bool good =
      (tool_places_write(&first->format, &first->header, &first->behind, &change, &made, &why) ||
       refused(first, &why)) &&
      tool_output_write(to, made.data, made.size);
  tool_bytes_free(&made);
  return good;
}

bool tool_around_end(tool_reader *first, tool_output *to, uint64_t count)
{
  const tool_format *const format = &first->format;
  const uint64_t heap = format->heap, padding = first->padding, places = first->behind.size;
  if (format->file.repeat) return true;
  if (!first->said && !may_keep(first, count)) return false;
  const uint64_t due = count == tool_reader_count(first)
                           ? padding
                           : tool_format_padding(format, first->put_size, count);
  const uint64_t trailer = first->trailer;
  return copy_behind(first, 0, heap, to) && copy_behind(first, heap, padding, NULL) &&
         tool_output_write_byte(to, format->file.pad_with, due) && write_behind(first, count, to) &&
         copy_behind(first, heap + padding, places, NULL) &&
         copy_behind(first, heap + padding + places,
                     trailer == TOOL_ANY ? trailer : trailer - places, to) &&
         (!first->sized || tool_reader_is_unchanged(first));
}

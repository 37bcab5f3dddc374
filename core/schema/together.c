#include "schema/together.h"

#include <stddef.h>

#include "base/assert.h"

enum { PAD_MAX_BYTES = 1 << 20 };

bool rs_has_place(const recsort_schema_desc *desc, recsort_place_kind first,
                  recsort_place_kind last)
{
  RS_ASSERT(first <= last);
  for (size_t i = 0; i < desc->place_count; i++)
    if (desc->places[i].kind >= first && desc->places[i].kind <= last) return true;
  return false;
}

/* What is wrong with one of `trailer`, `pad`, `zero` and `repeat`. */
static const char *word_trouble(const recsort_schema_desc *desc, rs_file_word word)
{
  const bool places = rs_has_place(desc, RECSORT_PLACE_COUNT, RECSORT_PLACE_LENGTH);
  const bool counted = desc->count || places;
  const bool skipped =
      desc->skip || rs_has_place(desc, RECSORT_PLACE_SKIP, RECSORT_PLACE_SKIP_LINES);
  const bool heap = rs_has_place(desc, RECSORT_PLACE_HEAP, RECSORT_PLACE_HEAP);
  switch (word) {
  case RS_TRAILER_WORD:
    if (desc->trailer != RECSORT_ANY_TRAILER || counted) return NULL;
    return "a trailer of any size needs a count or length: where would it begin?";
  case RS_PAD_WORD:
    if (!desc->pad_to) return desc->pad_with || heap ? "heap and pad_with need pad_to" : NULL;
    if (desc->pad_to > PAD_MAX_BYTES) return "pad is to more than 1048576 bytes";
    return counted ? NULL : "pad needs a count or length: where would the padding begin?";
  case RS_ZERO_WORD:
    if (!desc->zero_all || places) return NULL;
    return "zero needs a count or length that the file says itself";
  case RS_REPEAT_WORD:
    if (!desc->repeat) return NULL;
    if (!skipped || !counted || desc->trailer)
      return "what is repeated has a skip, a count and no trailer";
    return desc->pad_to || desc->zero_all ? "what is repeated has neither pad nor zero" : NULL;
  case RS_OTHER_WORD:
    break;
  }
  const bool any = desc->trailer == RECSORT_ANY_TRAILER;
  if (desc->skip > INT64_MAX || (!any && desc->trailer > INT64_MAX - desc->skip))
    return "skip and trailer together are larger than any file";
  if (desc->skip && rs_has_place(desc, RECSORT_PLACE_SKIP, RECSORT_PLACE_SKIP_LINES))
    return "skip is both a number and a field of the header";
  if (desc->count && places) return "count is both a number and a field of the header";
  return NULL;
}

const char *rs_file_trouble(const recsort_schema_desc *desc, rs_file_word *at)
{
  const char *why = NULL;
  for (*at = RS_OTHER_WORD; !why && *at <= RS_REPEAT_WORD; ++*at)
    why = word_trouble(desc, *at);
  if (why) --*at;
  RS_ASSERT(!why || *at <= RS_REPEAT_WORD);
  return why;
}

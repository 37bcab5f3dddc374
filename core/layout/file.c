/* file.c - where the records of a file are, and the numbers in its own header that say so. */
#include "layout/layout.h"

#include <stdlib.h>

#include "base/sized.h"
#include "base/types.h"
#include "schema/words.h"

/* Tools hold a header up to the last of these fields in memory. */
enum { HEADER_MAX_BYTES = 1 << 20 };

static const char *trouble(const recsort_field_desc *desc)
{
  const bool text = desc->type == RECSORT_CHAR;
  if (!text && !rs_type_is_integer(desc->type)) return "it is neither an integer nor a char";
  if (!text && !rs_type_fills_bytes(desc->type)) return "it is not an integer of whole bytes";
  if (!text && desc->count) return "it is an array";
  if (desc->endian < RECSORT_ENDIAN_DEFAULT || desc->endian > RECSORT_BIG_ENDIAN)
    return "its endian is not a recsort_endian";
  if (desc->offset == RECSORT_NO_OFFSET) return "it has no offset";
  if (desc->offset > HEADER_MAX_BYTES || desc->count > HEADER_MAX_BYTES - desc->offset ||
      desc->offset + recsort_type_describe(desc->type)->size > HEADER_MAX_BYTES)
    return "it ends beyond 1048576 bytes";
  return NULL;
}

/* Lays out a number of the header; `*field` stays NULL if there is none. */
static recsort_status lay_number(const recsort_schema_desc *desc, const char *name,
                                 const recsort_field_desc *given, recsort_schema *schema,
                                 const recsort_field **field, recsort_error *error)
{
  if (!given) return RECSORT_OK;
  const void *read = given;
  const recsort_status status =
      rs_read_array(&schema->arena, &read, 1, desc->field_stride, sizeof *given,
                    RS_FIRST_FIELD_DESC, "recsort_field_desc", error);
  if (status) return status;
  given = read;
  const char *const why = trouble(given);
  if (why)
    return rs_fail_at(error, RECSORT_INVALID_SCHEMA,
                      (rs_place){desc->source, given->line, given->column}, "the header's %s: %s",
                      name, why);
  recsort_field *const made = rs_arena_array(&schema->arena, 1, sizeof *made);
  if (!made) return rs_fail_memory(error, sizeof *made);
  const recsort_endian of_record = desc->endian ? desc->endian : RECSORT_LITTLE_ENDIAN;
  const unsigned size = recsort_type_describe(given->type)->size;
  *made = (recsort_field){.name = name,
                          .type = given->type,
                          .endian = given->endian ? given->endian : of_record,
                          .offset = (size_t)given->offset,
                          .size = size           ? size
                                  : given->count ? (size_t)given->count
                                                 : 1};
  *field = made;
  return RECSORT_OK;
}

static bool lies_beyond(const recsort_field *field, uint64_t skip)
{
  return field && field->offset + field->size > skip;
}

recsort_status rs_layout_file(const recsort_schema_desc *desc, recsort_schema *schema,
                              recsort_error *error)
{
  recsort_file_info *const file = &schema->file;
  const bool any = desc->trailer == RECSORT_ANY_TRAILER;
  const char *why = NULL;
  *file = (recsort_file_info){
      .skip = desc->skip, .trailer = desc->trailer, .count = desc->count, .repeat = desc->repeat};
  recsort_status status =
      lay_number(desc, "skip", desc->skip_field, schema, &file->skip_field, error);
  if (!status)
    status = lay_number(desc, "count", desc->count_field, schema, &file->count_field, error);
  if (status) return status;
  if (!desc->skip_field && lies_beyond(file->count_field, desc->skip))
    return rs_fail_at(
        error, RECSORT_INVALID_SCHEMA,
        (rs_place){desc->source, desc->count_field->line, desc->count_field->column},
        "the header's count: it ends beyond the header, which has the %llu bytes that skip says",
        (unsigned long long)desc->skip);
  if (desc->skip > INT64_MAX || (!any && desc->trailer > INT64_MAX - desc->skip))
    why = "skip and trailer together are larger than any file";
  else if (desc->skip && desc->skip_field)
    why = "skip is both a number and a field of the header";
  else if (desc->count && desc->count_field)
    why = "count is both a number and a field of the header";
  else if (any && !desc->count && !desc->count_field)
    why = "a trailer of any size needs a count: where would it begin?";
  else if (desc->repeat && (desc->trailer || !(desc->count || desc->count_field) ||
                            !(desc->skip || desc->skip_field)))
    why = "what is repeated has a skip, a count and no trailer";
  if (!why) return RECSORT_OK;
  return rs_fail_at(error, RECSORT_INVALID_SCHEMA, (rs_place){.source = desc->source}, "%s", why);
}

/* schema_open.c - the public functions that make and read schemas: text is parsed to a description,
 * which is laid out. */
#include "recsort/tools.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/platform/files.h"
#include "base/struct_size.h"
#include "base/types.h"
#include "layout/layout.h"
#include "schema/parse.h"

static recsort_schema *allocate_schema(const recsort_allocator *allocator, recsort_error *error)
{
  const recsort_allocator a = rs_allocator(allocator);
  recsort_schema *schema = rs_allocate(&a, sizeof *schema);
  if (!schema) {
    rs_fail_memory(error, sizeof *schema);
    return NULL;
  }
  memset(schema, 0, sizeof *schema);
  rs_arena_init(&schema->arena, &a);
  return schema;
}

static recsort_status judge_arena(const rs_arena *arena, recsort_status status, const char *source,
                                  recsort_error *error)
{
  RS_ASSERT(!arena->is_full || status != RECSORT_OK);
  if (!arena->is_full) return status;
  return rs_fail_at(error, RECSORT_INVALID_SCHEMA, (rs_place){source, 0, 0},
                    "it takes more than the %d MiB of memory that a schema may take; describe "
                    "fewer fields, or some of them as one, of bytes",
                    RS_ARENA_MAX_MIB);
}

static recsort_status create_schema(const recsort_schema_desc *desc, rs_zero_offset zero,
                                    const recsort_allocator *allocator, recsort_schema **schema,
                                    recsort_error *error)
{
  recsort_schema *made = allocate_schema(allocator, error);
  if (!made) return RECSORT_OUT_OF_MEMORY;
  const recsort_status status =
      judge_arena(&made->arena, rs_layout_create(desc, zero, made, error), desc->source, error);
  RS_ASSERT(status != RECSORT_OK || made->desc.size >= made->fields_size);
  if (status)
    recsort_schema_destroy(made);
  else
    *schema = made;
  return status;
}

recsort_status recsort_schema_create(const recsort_schema_desc *desc,
                                     const recsort_allocator *allocator, recsort_schema **schema,
                                     recsort_error *error)
{
  if (!desc || !schema)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "no description, or nowhere to put the schema");
  recsort_status status = rs_check_size(desc, recsort_schema_desc, RECSORT_SCHEMA_DESC_INIT, error);
  if (!status) status = rs_check_allocator(allocator, error);
  return status ? status : create_schema(desc, RS_ZERO_NOT_GIVEN, allocator, schema, error);
}

#ifndef RS_READS_YAML
recsort_status rs_schema_parse(const void *text, size_t size, const char *name, rs_arena *arena,
                               recsort_schema_desc *desc, recsort_error *error)
{
  (void)text, (void)size, (void)arena, (void)desc;
  return rs_fail_at(error, RECSORT_INVALID_SCHEMA, (rs_place){.source = name},
                    "this library was built without YAML: describe the schema in C");
}

/* Opens no file. */
static const char *read_file(const char *path, void *bytes, size_t limit, size_t *size)
{
  (void)path, (void)bytes, (void)limit, (void)size;
  return NULL;
}
#else
#define read_file rs_file_read
#endif

recsort_status recsort_schema_load_memory(const void *text, size_t size, const char *name,
                                          const recsort_allocator *allocator,
                                          recsort_schema **schema, recsort_error *error)
{
  const recsort_allocator a = rs_allocator(allocator);
  recsort_schema_desc desc;
  rs_arena arena; /* holds the description until it is laid out */
  if ((!text && size) || !schema)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "no text, or nowhere to put the schema");
  recsort_status status = rs_check_allocator(allocator, error);
  if (status) return status;
  rs_arena_init(&arena, &a);
  status = rs_schema_parse(text ? text : "", size, name, &arena, &desc, error);
  status = judge_arena(&arena, status, name, error);
  if (!status) status = create_schema(&desc, RS_ZERO_GIVEN, allocator, schema, error);
  rs_arena_free(&arena);
  return status;
}

static recsort_endian native_endian(void)
{
  const uint16_t one = 1;
  return *(const unsigned char *)&one ? RECSORT_LITTLE_ENDIAN : RECSORT_BIG_ENDIAN;
}

recsort_status recsort_schema_create_number(recsort_type type, recsort_order order, recsort_nan nan,
                                            const recsort_allocator *allocator,
                                            recsort_schema **schema, recsort_error *error)
{
  const recsort_type_class class = rs_class_of(type);
  const recsort_field_desc field = {.name = "key", .type = type};
  const recsort_key_desc key = {.path = field.name, .order = order, .nan = nan};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "number",
                                    .endian = native_endian(),
                                    .layout = RECSORT_LAYOUT_PACKED,
                                    .fields = &field,
                                    .field_count = 1,
                                    .keys = &key,
                                    .key_count = 1};
  if (class != RECSORT_CLASS_BOOL && class != RECSORT_CLASS_SIGNED &&
      class != RECSORT_CLASS_UNSIGNED && class != RECSORT_CLASS_FLOAT &&
      class != RECSORT_CLASS_WIDE && class != RECSORT_CLASS_TIME)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "the type is not that of a number");
  return recsort_schema_create(&desc, allocator, schema, error);
}

recsort_status recsort_schema_load_file(const char *path, const recsort_allocator *allocator,
                                        recsort_schema **schema, recsort_error *error)
{
  enum { LIMIT = RS_SCHEMA_MAX_BYTES + 1 }; /* detects a file that is too large */
  const recsort_allocator a = rs_allocator(allocator);
  size_t size = 0;
  if (!path || !schema)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "no path, or nowhere to put the schema");
  recsort_status status = rs_check_allocator(allocator, error);
  if (status) return status;
  unsigned char *const text = rs_allocate(&a, LIMIT);
  if (!text) return rs_fail_memory(error, LIMIT);
  const char *const why = read_file(path, text, LIMIT, &size);
  RS_ASSERT(why || size <= LIMIT);
  if (why)
    status = rs_fail_at(error, RECSORT_IO_ERROR, (rs_place){path, 0, 0}, "%s", why);
  else
    status = recsort_schema_load_memory(text, size, path, allocator, schema, error);
  rs_release(&a, text, LIMIT);
  return status;
}

/* ---- Contents of a schema ---- */

void recsort_schema_destroy(recsort_schema *schema)
{
  if (!schema) return;
  const recsort_allocator a = schema->arena.allocator;
  rs_arena_free(&schema->arena);
  rs_release(&a, schema, sizeof *schema);
}

const recsort_schema_desc *recsort_schema_describe(const recsort_schema *schema)
{
  return schema ? &schema->desc : NULL;
}

recsort_status recsort_schema_set_record_size(recsort_schema *schema, size_t size,
                                              recsort_error *error)
{
  if (!schema || size > RS_RECORD_MAX_BYTES)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "no schema, or a record of more than %d bytes",
                   RS_RECORD_MAX_BYTES);
  RS_ASSERT(schema->desc.size >= schema->fields_size);
  if (size < schema->fields_size)
    return rs_fail(error, RECSORT_INVALID_SCHEMA,
                   "a record of %zu bytes has no room for the fields, which take %zu", size,
                   schema->fields_size);
  schema->desc.size = size;
  return RECSORT_OK;
}

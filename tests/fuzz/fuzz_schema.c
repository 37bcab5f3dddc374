/* Any bytes as a schema: refused with a message, or a consistent layout. */
#include <string.h>

#include "fuzz.h"
#include "support/same_schemas.h"

static void check_fields(const recsort_field_desc *fields, size_t count, size_t end)
{
  for (size_t i = 0; i < count; i++) {
    const recsort_field_desc *field = &fields[i];
    const size_t elements = field->count ? field->count : 1;
    EXPECT(field->name && field->name[0]);
    EXPECT(field->size > 0 && field->offset <= end);
    EXPECT(elements <= (end - field->offset) / field->size);
    EXPECT(recsort_type_describe(field->type)->name);
    check_fields(field->fields, field->field_count, field->size);
  }
}

/* A place has a field within the first 2^20 bytes, or a text; a condition of its own, too. */
static void check_place(const recsort_field_desc *field, const char *text)
{
  EXPECT(!field != !text);
  if (field) EXPECT(field->size > 0 && field->offset + field->size <= 1 << 20);
  if (text) EXPECT(text[0]);
}

static void check_places(const recsort_schema_desc *desc)
{
  for (size_t i = 0; i < desc->place_count; i++) {
    const recsort_place_desc *place = &desc->places[i];
    EXPECT(place->kind >= RECSORT_PLACE_SKIP && place->kind <= RECSORT_PLACE_EXPECT);
    if (place->kind == RECSORT_PLACE_EXPECT)
      EXPECT(place->when);
    else
      check_place(place->field, place->word);
    if (!place->when) continue;
    check_place(place->when->field, place->when->line_text);
    EXPECT(!place->when->field || place->when->alternative_count || place->when->least);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  const recsort_status status =
      recsort_schema_load_memory(data, size, "fuzz", NULL, &schema, &error);
  if (status) {
    EXPECT(!schema && error.status == status && error.text[0]);
    EXPECT(!strchr(error.text, '\n') && strlen(error.text) < sizeof error.text);
    return 0;
  }
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  EXPECT(desc->field_count > 0);
  check_fields(desc->fields, desc->field_count, desc->size);
  check_places(desc);
  recsort_schema *again = NULL;
  EXPECT(recsort_schema_create(desc, NULL, &again, NULL) == RECSORT_OK);
  EXPECT(same_schemas(desc, recsort_schema_describe(again)));
  recsort_schema_destroy(again);
  recsort_schema_destroy(schema);
  return 0;
}

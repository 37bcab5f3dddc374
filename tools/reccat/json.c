/* json.c - see json.h. Numbers go through cJSON as raw text, as its own numbers are doubles. */
#include "reccat/json.h"
#include "reccat/cell.h"

#include <cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static cJSON *object_of(const recsort_field *fields, size_t count, const unsigned char *base,
                        char *text);

static cJSON *value_of(const recsort_field *field, const unsigned char *base, size_t element,
                       char *text)
{
  if (field->type == RECSORT_STRUCT) {
    const unsigned char *const inner = base + field->offset + element * field->size;
    return object_of(field->fields, field->field_count, inner, text);
  }
  cell_write(field, base, element, text);
  const bool finite = text[strspn(text, "-0123456789.e+")] == '\0';
  const bool raw = field->type == RECSORT_BOOL || (cell_is_number(field) && finite);
  return raw ? cJSON_CreateRaw(text) : cJSON_CreateString(text);
}

static cJSON *array_of(const recsort_field *field, const unsigned char *base, char *text)
{
  cJSON *const array = cJSON_CreateArray();
  for (size_t i = 0; i < field->count; i++) {
    cJSON *const value = value_of(field, base, i, text);
    if (value && cJSON_AddItemToArray(array, value)) continue;
    cJSON_Delete(value);
    cJSON_Delete(array);
    return NULL;
  }
  return array;
}

static bool add_fields(cJSON *object, const recsort_field *fields, size_t count,
                       const unsigned char *base, char *text)
{
  for (const recsort_field *field = fields; field < fields + count; field++) {
    cJSON *const value =
        field->count ? array_of(field, base, text) : value_of(field, base, 0, text);
    if (value && cJSON_AddItemToObjectCS(object, field->name, value)) continue;
    cJSON_Delete(value);
    return false;
  }
  return true;
}

static cJSON *object_of(const recsort_field *fields, size_t count, const unsigned char *base,
                        char *text)
{
  cJSON *const object = cJSON_CreateObject();
  if (object && add_fields(object, fields, count, base, text)) return object;
  cJSON_Delete(object);
  return NULL;
}

bool json_print(const recsort_schema *schema, const uint64_t *number, const unsigned char *record,
                char *text)
{
  size_t count;
  const recsort_field *const fields = recsort_schema_fields(schema, &count);
  char *line = NULL;
  cJSON *const object = cJSON_CreateObject();
  if (!object) goto out;
  if (number) {
    snprintf(text, cell_text_size(&fields[0]), "%" PRIu64, *number);
    if (!cJSON_AddRawToObject(object, "#", text)) goto out;
  }
  if (!add_fields(object, fields, count, record, text)) goto out;
  line = cJSON_PrintUnformatted(object);
  if (line) puts(line);
out:
  cJSON_Delete(object);
  const bool done = line;
  cJSON_free(line);
  return done;
}

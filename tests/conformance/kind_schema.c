#include "kind_schema.h"

#include <stdio.h>

/* 1,024 values around 0; and nearly the whole range of 64 bits, so that the code takes 64 bits. */
static const recsort_enumerator small_values[] = {{"most", 523}, {"zero", 0}, {"least", -500}};
static const recsort_enumerator large_values[] = {{"least", 7}, {"most", -1}};

static recsort_field_desc describe(const kind_field *field, const char *name)
{
  const bool small = field->base == RECSORT_INT16;
  recsort_field_desc desc = {.name = name,
                             .type = field->type,
                             .offset = RECSORT_NO_OFFSET,
                             .endian = field->endian,
                             .size = field->size,
                             .count = field->count,
                             .nulls = field->nulls,
                             .null_count = field->null_count};
  if (field->type == RECSORT_ENUM) {
    desc.base = field->base;
    desc.enumerators = small ? small_values : large_values;
    desc.enumerator_count = small ? sizeof small_values / sizeof *small_values
                                  : sizeof large_values / sizeof *large_values;
  }
  return desc;
}

recsort_schema *kind_schema(const kind *k, oracle_key keys[KIND_MAX_KEYS])
{
  static const char *const names[KIND_MAX_KEYS] = {"a", "b", "c", "d", "e"};
  static const char *const bits[KIND_MAX_KEYS] = {"a_", "b_", "c_", "d_", "e_"};
  recsort_field_desc fields[2 * KIND_MAX_KEYS + 1];
  recsort_key_desc wanted[KIND_MAX_KEYS] = {{0}};
  recsort_schema *schema = NULL;
  recsort_error error;
  size_t count = 0;
  kind_keys(k, keys);
  for (size_t i = 0; i < k->count; i++) {
    const kind_field *field = &k->fields[i];
    const bool bitfield = field->type == RECSORT_BITFIELD;
    fields[count++] = describe(field, names[i]);
    if (bitfield) {
      fields[count - 1].type = field->base;
      fields[count++] = (recsort_field_desc){.name = bits[i],
                                             .type = RECSORT_BITFIELD,
                                             .offset = RECSORT_NO_OFFSET,
                                             .bit_base = names[i],
                                             .bit = field->bit,
                                             .width = field->bits};
    }
    wanted[i] = (recsort_key_desc){
        .path = bitfield ? bits[i] : names[i], .order = field->order, .nan = field->nan};
  }
  fields[count++] =
      (recsort_field_desc){.name = "tag", .type = RECSORT_UINT64, .offset = RECSORT_NO_OFFSET};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "Kind",
                                    .layout = RECSORT_LAYOUT_PACKED,
                                    .fields = fields,
                                    .field_count = count,
                                    .keys = wanted,
                                    .key_count = k->count};
  if (recsort_schema_create(&desc, NULL, &schema, &error) != RECSORT_OK)
    (void)fprintf(stderr, "kind %s: %s\n", k->name, error.text);
  return schema;
}

/* value.h - a key's value in a record, for messages. */
#ifndef RECSORT_VALUE_H
#define RECSORT_VALUE_H

#include "recsort/tools.h"

#include <stdbool.h>
#include <stddef.h>

/* True if the key is one value of a field: it is not computed, and not a whole array. */
bool key_is_value(const recsort_key_info *key);
/* The value of the field that such a key names. */
recsort_value key_value(const recsort_schema *schema, const recsort_key_info *key,
                        const void *record);
/* True if two values are equal for the key. */
bool key_values_equal(const recsort_key_info *key, recsort_value a, recsort_value b);
/* A value as text, cut if it is too long. */
enum { VALUE_TEXT = 80 };
typedef struct value_text {
  char text[VALUE_TEXT];
} value_text;
value_text value_as_text(const recsort_field_desc *field, recsort_value value);

/* The bytes of two values in hexadecimal digits, for those whose texts are equal: all bytes, or if
 * they are many, some from the first one on that differs. */
typedef struct value_bytes {
  size_t from; /* the first byte shown */
  value_text a, b;
} value_bytes;
value_bytes value_differing_bytes(const recsort_field_desc *field, recsort_value a,
                                  recsort_value b);

#endif

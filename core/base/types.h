/* types.h - the table of types. All that the library knows about a type is in its row.
 * docs/extend.md lists the files that a new type takes. */
#ifndef RS_BASE_TYPES_H
#define RS_BASE_TYPES_H

#include "recsort/tools.h"

typedef struct rs_type {
  recsort_type_info info;
  const char *numpy[3]; /* NumPy's spellings, without byte order and length; NULL ends them */
  const char *words[5]; /* other spellings; NULL ends them */
} rs_type;

enum { RS_TYPE_ROWS = 64 }; /* unused rows have class NONE */
extern const rs_type rs_types[RS_TYPE_ROWS];

/* The row of a type; a row of class NONE if it is not a recsort_type. */
const rs_type *rs_type_of(recsort_type type);

static inline recsort_type_class rs_class_of(recsort_type type)
{
  return (size_t)type < RS_TYPE_ROWS ? rs_types[type].info.type_class : RECSORT_CLASS_NONE;
}

static inline bool rs_is_type(recsort_type type)
{
  return rs_class_of(type) != RECSORT_CLASS_NONE;
}

/* An integer of at most 64 bits. */
static inline bool rs_type_is_integer(recsort_type type)
{
  const recsort_type_class found = rs_class_of(type);
  return found == RECSORT_CLASS_SIGNED || found == RECSORT_CLASS_UNSIGNED;
}

/* True if all bits of an integer's bytes count: a bitfield, an enum, a coordinate or a number of a
 * header can be one. */
static inline bool rs_type_fills_bytes(recsort_type type)
{
  return rs_type_is_integer(type) && rs_types[type].info.bits == 8 * rs_types[type].info.size;
}

/* True for char, cstring and bytes: a field says how long they are. */
static inline bool rs_type_has_length(recsort_type type)
{
  return rs_class_of(type) == RECSORT_CLASS_BYTES && rs_types[type].info.size == 0;
}

/* True if an integer type can hold this value; for uint64, `value` holds the same 64 bits. */
bool rs_type_holds(recsort_type type, int64_t value);

#endif

/* types.h - the one table of types. What the library knows of a type is a row of it: a new one is a
 * constant in recsort.h, a row in types.c and a row in docs/schema.md. */
#ifndef RS_BASE_TYPES_H
#define RS_BASE_TYPES_H

#include "recsort/recsort.h"

typedef struct rs_type {
  recsort_type_info info;
  const char *numpy[3]; /* NumPy's spellings, without byte order and length; NULL ends them */
  const char *words[5]; /* what else it may be called; likewise */
} rs_type;

enum { RS_TYPE_ROWS = 32 }; /* those that no type has are of class NONE */
extern const rs_type rs_types[RS_TYPE_ROWS];

/* The row of a type; for what is not a recsort_type, one of class NONE. */
const rs_type *rs_type_of(recsort_type type);

static inline recsort_type_class rs_class_of(recsort_type type)
{
  return (size_t)type < RS_TYPE_ROWS ? rs_types[type].info.type_class : RECSORT_CLASS_NONE;
}

static inline bool rs_is_type(recsort_type type)
{
  return rs_class_of(type) != RECSORT_CLASS_NONE;
}

static inline bool rs_type_is_integer(recsort_type type)
{
  const recsort_type_class found = rs_class_of(type);
  return found == RECSORT_CLASS_SIGNED || found == RECSORT_CLASS_UNSIGNED;
}

/* Whether an integer type has this value; for uint64 it stands for the same 64 bits. */
bool rs_type_holds(recsort_type type, int64_t value);

#endif

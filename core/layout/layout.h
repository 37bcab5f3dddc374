/* layout.h - turns the description of a schema into fields with offsets and sizes.
 *
 * rs_layout_create checks the description: names, overlaps, sizes, bitfields, enums, depth, and
 * that every key names a field that can be ordered.
 */
#ifndef RS_LAYOUT_LAYOUT_H
#define RS_LAYOUT_LAYOUT_H

#include "recsort/tools.h"

#include "base/error.h"
#include "base/memory.h"

/* The size of the largest record. Sums of offsets and sizes cannot overflow. */
#define RS_RECORD_MAX_BYTES INT32_MAX

/* What a key's path names: a field that is no struct, the offset of its first value from the start
 * of the record, and how many values there are; or a computed value, and no field. */
typedef struct rs_target {
  const recsort_field_desc *field;
  uint64_t offset;
  size_t count; /* 1, unless it is a whole array */
  const struct rs_computed *computed;
} rs_target;

/* A computed value, checked. */
typedef struct rs_computed {
  const char *name;
  recsort_compute compute;
  uint32_t bits; /* curves: of each coordinate */
  size_t count;  /* of coordinates */
  rs_target coordinates[RECSORT_MOST_COORDINATES];
  const char *paths[RECSORT_MOST_COORDINATES];
  const char *parameter;                   /* the point's or vector's name; NULL: it is `origin` */
  double origin[RECSORT_MOST_COORDINATES]; /* the point, the vector, or the grid's least corner */
  double limit[RECSORT_MOST_COORDINATES];  /* curves: of the grid */
  double scale[RECSORT_MOST_COORDINATES];  /* curves: cells of a unit */
} rs_computed;

/* A curve has a grid, a distance a point, and a dot product a vector. */
static inline bool rs_is_curve(recsort_compute compute)
{
  return compute == RECSORT_MORTON || compute == RECSORT_HILBERT;
}

/* A schema with its layout; everything is in `arena`. */
struct recsort_schema {
  rs_arena arena;
  recsort_schema_desc desc;
  size_t fields_size;    /* of a record without padding behind its fields */
  rs_computed *computed; /* those of `desc`, of which `computed_count` have been read */
  size_t computed_count;
};

/* What an offset of 0 means if the layout computes offsets. In a description from C, which was
 * zeroed first, it is not given; in one read from text, it is given. */
typedef enum rs_zero_offset { RS_ZERO_NOT_GIVEN, RS_ZERO_GIVEN } rs_zero_offset;

/* Lays out `desc` into `schema`, whose arena is initialised and belongs to the caller even on
 * failure. Keeps no pointer into `desc`. */
recsort_status rs_layout_create(const recsort_schema_desc *desc, rs_zero_offset zero,
                                recsort_schema *schema, recsort_error *error);

/* Reads the computed values of `desc` into `schema`, which has its fields. */
recsort_status rs_layout_compute(const recsort_schema_desc *desc, recsort_schema *schema,
                                 recsort_error *error);

/* Checks and copies the places of `desc` into `schema`. */
recsort_status rs_layout_file(const recsort_schema_desc *desc, recsort_schema *schema,
                              recsort_error *error);

/* Follows a key's path and checks that its type allows its `nan`. Errors: INVALID_KEY, at the key's
 * line and column in `source` (NULL: none). */
recsort_status rs_layout_find(const recsort_schema *schema, const recsort_key_desc *key,
                              const char *source, rs_target *target, recsort_error *error);

#endif

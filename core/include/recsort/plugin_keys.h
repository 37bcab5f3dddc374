/* plugin_keys.h - how to make the key of a record, as plain data, for plugins that take whole
 * records. The host compiles it, and one interpreter (recsort/key_interpreter.h) runs it on host
 * and device. */
#ifndef RECSORT_PLUGIN_KEYS_H
#define RECSORT_PLUGIN_KEYS_H

#include <stdint.h>

typedef enum recsort_key_kind {
  RECSORT_KEY_UNSIGNED = 1, /* bits [bit, bit + width) of the integer */
  RECSORT_KEY_SIGNED,       /* two's complement: the sign bit is inverted */
  RECSORT_KEY_BOOL,         /* 1 unless every bit is 0 */
  RECSORT_KEY_OFFSET,       /* integer - bias, modulo 2^(8 * bytes); above `limit`: invalid */
  RECSORT_KEY_FLOAT,        /* integer * 2^bit, modulo 2^width, as sign and magnitude; a magnitude
                             * above `limit` is a NaN. With MINUS_0_NAN so is -0 */
  RECSORT_KEY_TEXT,         /* bytes of a C string: those behind a NUL count as NUL. If `bit` is 1,
                             * all do where the step before it ends with one */
  /* Has `bit` operands, the steps that follow. */
  RECSORT_KEY_NULLABLE, /* the lowest bits of an integer, those of `bias` inverted. The operands'
                         * `bias` are such numbers, ascending: all have one code, the least or the
                         * greatest. The others have consecutive codes at the other end */
  /* Computed from them (recsort/computed_key.h). */
  RECSORT_KEY_DISTANCE, /* the squared distance from a point, as a FLOAT of `width` bits */
  RECSORT_KEY_DOT,      /* the dot product with a vector, the same */
  RECSORT_KEY_MORTON,   /* the place of a cell on a Morton curve */
  RECSORT_KEY_HILBERT,  /* the same on a Hilbert curve */
  RECSORT_KEY_OPERAND   /* an operand, not part of the key (`width` is 0): a number of kind `bit`,
                         * which is UNSIGNED, SIGNED or FLOAT. FLOAT: `shift` is the number of
                         * fraction bits. Operands of DISTANCE and DOT: `bias` holds a double, the
                         * point's or vector's coordinate. Of MORTON and HILBERT: `bias` holds the
                         * least value, and `limit` the number of cells for each unit. Of NULLABLE:
                         * only `bias` counts; it reads no bytes */
} recsort_key_kind;

enum { RECSORT_KEY_MOST_OPERANDS = 8 }; /* of a computed key */

enum {
  RECSORT_KEY_BIG_ENDIAN = 1, /* the integer is big-endian in the record */
  RECSORT_KEY_DESCENDING = 2, /* the code is complemented, except for NaNs without NAN_TOTAL */
  RECSORT_KEY_NAN_FIRST =
      4, /* NaNs and null values become the least code; otherwise the greatest */
  RECSORT_KEY_NAN_TOTAL = 8, /* floats: every bit counts, as in IEEE 754 totalOrder */
  RECSORT_KEY_POINT_AT = 16, /* operands of DISTANCE and DOT: `bias` holds the double's address, in
                              * memory of the device; only for recsort_plugin_device.run */
  RECSORT_KEY_MINUS_0_NAN =
      32 /* floats: the bits of -0 are the NaN, the least value with NAN_TOTAL; `bit` is 1, which
            makes room for it above the numbers */
};

/* One field of the key, or up to 8 bytes of a longer one. Its code of `width` bits goes to bit
 * `shift` of the key; it may straddle two 64-bit words. */
typedef struct recsort_key_step {
  uint64_t offset; /* bytes from the start of the record, unaligned */
  uint64_t bias;   /* OFFSET, NULLABLE, OPERAND */
  uint64_t limit;  /* OFFSET: the greatest valid code; FLOAT: the greatest magnitude that is not a
                      NaN, shifted by `bit` */
  uint16_t kind;
  uint16_t flags;
  uint8_t bytes; /* 1 to 8, read as one integer; TEXT: as a big-endian one */
  uint8_t bit;   /* UNSIGNED, FLOAT, TEXT; the number of operands */
  uint8_t width; /* 0 to 64 */
  uint8_t reserved;
  uint32_t shift;
  uint32_t key; /* which of the schema's keys, for messages */
} recsort_key_step;

/* Where the bytes of a step are in an array: those of record i at `data` + i * `stride`, unaligned.
 */
typedef struct recsort_key_column {
  const void *data;
  uint64_t stride;
} recsort_key_column;

typedef struct recsort_key_program {
  uint32_t size;
  uint32_t step_count;
  const recsort_key_step *steps; /* most significant first */
  uint64_t record_size;
  uint32_t key_bits;
  uint32_t key_width;
  /* Only for recsort_plugin_device.run; else NULL. One for each step, if the fields are in several
   * arrays: then there is no array of records, and the offsets of steps have no meaning. A step of
   * a computed kind has none, but each of its operands does. */
  const recsort_key_column *columns;
} recsort_key_program;

#endif

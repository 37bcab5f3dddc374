/* tools.h - what commands, converters and bindings ask of the library beside sorting.
 *
 * Such programs learn a schema at run time. This header says what the library knows about types,
 * keys and plugins, reads and writes values of fields, and says where the records of a file are.
 * The conventions of recsort.h hold here too.
 */
#ifndef RECSORT_TOOLS_H
#define RECSORT_TOOLS_H

#include "recsort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ----------------------------------------------------------------------------------- */

/* The class of a type. Code that switches on the class works for every type in it, also for later
 * ones. */
typedef enum recsort_type_class {
  RECSORT_CLASS_NONE, /* not a recsort_type */
  RECSORT_CLASS_BOOL,
  RECSORT_CLASS_SIGNED,
  RECSORT_CLASS_UNSIGNED,
  RECSORT_CLASS_FLOAT, /* a sign, an exponent and a fraction, laid out as by IEEE 754 */
  RECSORT_CLASS_BYTES, /* compared as bytes */
  RECSORT_CLASS_STRUCT,
  RECSORT_CLASS_ENUM,
  RECSORT_CLASS_BITFIELD,
  RECSORT_CLASS_WIDE, /* an integer of more than 64 bits; its value is RECSORT_VALUE_BYTES */
  RECSORT_CLASS_TIME  /* a signed number of units since 1970; the least one is NaT, no time */
} recsort_type_class;

/* Which bits of a float are a NaN. */
typedef enum recsort_nans {
  RECSORT_NANS_IEEE = 0, /* the greatest exponent with a fraction; without one it is infinity */
  RECSORT_NANS_ONES,     /* ones but for the sign; there is no infinity */
  RECSORT_NANS_MINUS_0,  /* where -0 would be; there is no infinity and no -0 */
  RECSORT_NANS_NONE      /* none; there is no infinity */
} recsort_nans;

/* What the library knows about a type. */
typedef struct recsort_type_info {
  const char *name; /* canonical, such as "float32" */
  recsort_type_class type_class;
  unsigned size;          /* bytes of a value; 0: depends on the field */
  unsigned alignment;     /* in layout C; 0: depends on the field */
  unsigned exponent_bits; /* floats; otherwise 0 */
  unsigned fraction_bits; /* floats; otherwise 0 */
  unsigned bits;          /* numbers: the low bits of their bytes that count; otherwise 0. A float
                           * without a sign has no bit for it */
  unsigned exponent_bias; /* floats; otherwise 0 */
  recsort_nans nans;      /* floats */
} recsort_type_info;

/* Describes a type; a number that is not a recsort_type has class NONE and the name "unknown type".
 * Never NULL; lives as long as the library. Any thread. */
RECSORT_API const recsort_type_info *recsort_type_describe(recsort_type type);

/* ---- Values ---------------------------------------------------------------------------------- */

/* The kind of a value says which member of the union holds it. */
typedef enum recsort_value_kind {
  RECSORT_VALUE_SIGNED,
  RECSORT_VALUE_UNSIGNED, /* bool and bitfields too */
  RECSORT_VALUE_REAL,
  RECSORT_VALUE_BYTES /* char, cstring, bytes, uuid and the like, and integers of 128 bits in the
                       * byte order of the field: points into the record */
} recsort_value_kind;

typedef struct recsort_value {
  recsort_value_kind kind;
  union {
    int64_t i;
    uint64_t u;
    double real;
    const unsigned char *bytes;
  } as;
  size_t size; /* of `bytes`; otherwise the bytes the value takes in the record */
} recsort_value;

/* Reads element `element` (0 if the field is not an array) of a field that is not a struct. `base`
 * is the address of the enclosing struct: the record, or for the fields of a nested struct one
 * element of it, at struct_field->offset + number * struct_field->size. Addresses may be unaligned.
 * `size` is sizeof(recsort_value). Nothing is checked. Any thread. */
RECSORT_API void recsort_field_get(const recsort_field_desc *field, const void *base,
                                   size_t element, recsort_value *value, size_t size);
/* Writes a value to the same place. A value of the wrong kind, or one that does not fit, is
 * truncated to the field's bits; a real is rounded to nearest even; bytes that are too short are
 * padded with NUL. */
RECSORT_API void recsort_field_set(const recsort_field_desc *field, void *base, size_t element,
                                   const recsort_value *value, size_t size);

/* ---- Keys and parameters of a sorter ------------------------------------------------------- */

/* One key of the plan. It takes `bits` bits of the encoded key, from bit `shift` up. The field of a
 * computed value is NULL. A key is a whole array if its field is one and its path does not end
 * in an index. */
typedef struct recsort_key_info {
  const char *path;
  const recsort_field_desc *field;
  recsort_order order;
  recsort_nan nan;
  unsigned bits;
  unsigned shift;
} recsort_key_info;

/* Describes key number `key`, from 0, of the plan: fills in `info`, of `size` bytes; its `path` is
 * NULL if there are no more. The strings and the field live as long as the sorter. */
RECSORT_API void recsort_sorter_get_key(const recsort_sorter *sorter, size_t key,
                                        recsort_key_info *info, size_t size);

/* The name of parameter `number`, from 0, of the sorter's keys; NULL: there are no more. A name
 * that several keys have comes as often. `count` becomes the number of its values and `is_set`
 * whether it has any; both may be NULL. The name lives as long as the sorter. */
RECSORT_API const char *recsort_sorter_get_parameter(const recsort_sorter *sorter, size_t number,
                                                     size_t *count, bool *is_set);

/* ---- Files -----------------------------------------------------------------------------------
 *
 * A schema may say how many bytes of a file come before the first record and after the last one. It
 * may also have places: fields and lines of the file that say so, or say how many records there
 * are. The library reads no files. A program that reads them asks the schema for its places, and
 * passes the file's header to recsort_field_get. */

/* A trailer of any size, for files whose number of records is known. */
#define RECSORT_ANY_TRAILER UINT64_MAX

/* What a place in a file says. */
typedef enum recsort_place_kind {
  RECSORT_PLACE_SKIP = 1,   /* the bytes before the first record */
  RECSORT_PLACE_SKIP_LINE,  /* the header ends with the first line that is `word`, blanks at the
                             * line's end aside */
  RECSORT_PLACE_SKIP_LINES, /* the header is all lines at the file's start that begin with `word` */
  RECSORT_PLACE_COUNT,      /* the number of records */
  RECSORT_PLACE_LENGTH,     /* value * unit is the bytes of the records + `plus` */
  RECSORT_PLACE_AFTER, /* value * unit is an offset of something behind the records, or a length
                        * that includes them. Who writes another number of records adds as many
                        * bytes to it as to the records, with their padding unless `unpadded`.
                        * 0 stays, and so do all bits set */
  RECSORT_PLACE_SIZE,  /* value * unit is the bytes of a record + `plus`: at least those of the
                        * fields;  the rest is padding */
  RECSORT_PLACE_HEAP,  /* bytes behind the records that are kept, and precede the padding */
  RECSORT_PLACE_EXPECT /* nothing: `when` must hold, otherwise the file is another one */
} recsort_place_kind;

/* A condition on the header of a file: its field holds one of the values or texts, or at least
 * `least`; or it has a line. */
typedef struct recsort_condition_desc {
  const recsort_field_desc *field; /* an integer of at most 64 bits, char or bytes; see
                                    * recsort_place_desc. NULL: `line_text` */
  const int64_t *values;           /* integers: `alternative_count` of them; for uint64 the bits */
  const char *texts;               /* char, bytes: the same, each of the field's size, end to end */
  size_t alternative_count;
  uint64_t least;        /* integers, without alternatives; not 0 */
  const char *line_text; /* the header has this line, blanks at the line's end aside; or these
                          * lines, one behind the other, with '\n' between them */
  uint32_t line;
  uint32_t column;
} recsort_condition_desc;

/* A place in the header of a file, or behind its records, that says something about them. Members
 * that do not apply stay 0. */
typedef struct recsort_place_desc {
  recsort_place_kind kind;
  /* An integer of at most 64 bits, or a char with decimal digits and blanks around them. `offset`
   * counts from the start of the file, and the field ends within 2^20 bytes; `name` is ignored.
   * NULL: `word` */
  const recsort_field_desc *field;
  const char *word; /* SKIP_LINE, SKIP_LINES: see there. Otherwise the number is in the first line
                     * of the header that begins with this word and a blank, in decimal digits
                     * behind them */
  bool behind;   /* COUNT, LENGTH, AFTER: the field's offset counts from the end of the records; it
                  * lies in a trailer of known size */
  bool unpadded; /* AFTER */
  int64_t plus;  /* LENGTH, SIZE */
  uint32_t unit; /* LENGTH, AFTER, SIZE: the bytes that 1 stands for; 0: 1, filled in */
  const recsort_condition_desc *when; /* COUNT, LENGTH, AFTER: the place is there only if this
                                       * holds; NULL: in all files. EXPECT: what
                                       * must hold */
  uint32_t line;
  uint32_t column;
} recsort_place_desc;

/* Gives the records of a schema the size that a file says (RECSORT_PLACE_SIZE). Call it before you
 * make sorters of the schema, and while no other thread uses it. Errors: INVALID_SCHEMA (the fields
 * take more), INVALID_ARGUMENT. */
RECSORT_API recsort_status recsort_schema_set_record_size(recsort_schema *schema, size_t size,
                                                          recsort_error *error);

/* ---- Plugins ------------------------------------------------------------------------------ */

/* One plugin that was found, whether it can be used or not. */
typedef struct recsort_plugin_info {
  const struct recsort_plugin_info *next; /* NULL: there are no more */
  const char *name;              /* NAME of librecsort_NAME.so (.dll) if it could not be loaded */
  const char *path;              /* NULL: linked in */
  const char *version;           /* NULL if it could not be loaded */
  const char *description;       /* NULL if it could not be loaded */
  unsigned score;                /* 0: refused */
  const char *reason;            /* why it was refused; NULL if it was not */
  const char *const *algorithms; /* names, the default first */
  const char *const *algorithm_texts;
  size_t algorithm_count;
  const char *const *options; /* names, for recsort_options.plugin_options */
  const char *const *option_texts;
  size_t option_count;
} recsort_plugin_info;

/* Loads every plugin that can be found, and makes `*plugins` the first of a list of them, best
 * score first: those linked in, those in the plugin folder, and those in the folders of the
 * environment variable RECSORT_PLUGIN_PATH (absolute paths, separated by colons, on Windows by
 * semicolons; ignored in a process with raised privileges). The plugin folder is "recsort" beside
 * the file of the shared library. If there is no such folder, or the program links the static
 * library, it is "recsort" in the library folder of the installation that the build was configured
 * for. You own the list. A sorter loads what it needs by itself. Errors: OUT_OF_MEMORY,
 * INVALID_ARGUMENT. Any thread. */
RECSORT_API recsort_status recsort_plugins_find(const recsort_allocator *allocator,
                                                const recsort_plugin_info **plugins,
                                                recsort_error *error);
/* Frees a list, with all that its elements point to, and unloads its plugins; NULL is allowed. */
RECSORT_API void recsort_plugins_destroy(const recsort_plugin_info *plugins);

#ifdef __cplusplus
}
#endif

#endif

/* recsort_file.h - where the records of a file are, and what the file says about them itself.
 *
 * A schema may say how many bytes of a file come before the first record and after the last one. It
 * may also have places: fields and lines of the file that say so, or say how many records there
 * are. The library reads no files. A program that reads them asks the schema for its places, and
 * passes the file's header to recsort_field_get. The conventions of recsort.h hold here too.
 */
#ifndef RECSORT_RECSORT_FILE_H
#define RECSORT_RECSORT_FILE_H

#include "recsort.h"

#ifdef __cplusplus
extern "C" {
#endif

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
                        * that spans them: it changes by as many bytes as the records, with
                        * their padding unless `unpadded`. 0 stays, and so do all bits set */
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

#ifdef __cplusplus
}
#endif

#endif

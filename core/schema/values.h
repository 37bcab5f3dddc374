/* values.h - reads what stands behind a word of a schema: a number, a choice, a byte order, a type.
 * `word` is the word's name in messages. */
#ifndef RS_SCHEMA_VALUES_H
#define RS_SCHEMA_VALUES_H

#include "schema/reader.h"
#include "schema/types.h"

/* Refuses the value of `word` in `text`, and says why. */
recsort_status rs_refuse_value(const rs_reader *reader, const rs_subject *subject, const char *word,
                               const rs_text *text, const char *why);

/* These leave their result alone if the text was not given, and on failure. The second one reads a
 * number that cannot be 0, which means "not given" in the description. */
recsort_status rs_read_number(const rs_reader *reader, const rs_subject *subject, const char *word,
                              const rs_text *text, uint64_t *number);
recsort_status rs_read_positive(const rs_reader *reader, const rs_subject *subject,
                                const char *word, const rs_text *text, uint64_t *number);

typedef struct rs_word_value {
  const char *word;
  int value;
} rs_word_value;

recsort_status rs_read_choice(const rs_reader *reader, const rs_subject *subject, const char *word,
                              const rs_text *text, const rs_word_value *choices,
                              size_t choice_count, int *value);
recsort_status rs_read_endian(const rs_reader *reader, const rs_subject *subject,
                              const rs_text *text, recsort_endian *endian);

/* A value of an integer type, from a text that was given; for uint64 the same 64 bits. */
recsort_status rs_read_integer(const rs_reader *reader, const rs_subject *subject, const char *word,
                               const rs_text *text, recsort_type type, int64_t *value);
recsort_status rs_read_type(const rs_reader *reader, const rs_subject *subject, const char *word,
                            const rs_text *text, rs_type_word *type);
/* Combines the byte order in the spelling of a type with that of the word `endian`. */
recsort_status rs_combine_endian(const rs_reader *reader, const rs_subject *subject,
                                 const char *word, const rs_text *type, recsort_endian spelled,
                                 recsort_endian *endian);
/* The count of a field that has its type, or the length of a char, cstring or bytes. The type may
 * have `spelled` it; 0: it has not. */
recsort_status rs_read_count(const rs_reader *reader, const rs_subject *subject,
                             const rs_text *text, uint64_t spelled, recsort_field_desc *field);
/* The offset of a field; unchanged if none is given. */
recsort_status rs_read_offset(const rs_reader *reader, const rs_subject *subject,
                              const rs_text *text, recsort_field_desc *field);

#endif

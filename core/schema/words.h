/* words.h - helpers for names and messages about them: UTF-8, valid names, and guesses. */
#ifndef RS_SCHEMA_WORDS_H
#define RS_SCHEMA_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the UTF-8 character at `text`, which has `size` > 0 bytes. Returns its length, or 0 if it
 * is invalid; surrogates and overlong forms are. */
size_t rs_utf8_next(const unsigned char *text, size_t size, uint32_t *character);

/* What is wrong with a name; NULL: nothing. `in_paths`: the paths of keys use it. */
const char *rs_name_trouble(const char *name, bool in_paths);

/* The length of a name for "%.*s": at most 64 bytes, cut between characters. */
int rs_shown_length(const char *name);
#define RS_SHOWN(name) rs_shown_length(name), (name)

/* The nearest of the offered names, if one is similar enough. */
typedef struct rs_guess {
  const char *word;
  const char *nearest; /* NULL: none is similar */
  size_t distance;
} rs_guess;

void rs_guess_offer(rs_guess *guess, const char *name);

#endif

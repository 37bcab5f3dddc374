#include "schema/words.h"

#include <string.h>

#include "base/assert.h"

enum { SHOWN_BYTES = 64, GUESS_BYTES = 32 };

size_t rs_utf8_next(const unsigned char *text, size_t size, uint32_t *character)
{
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  RS_ASSERT(size > 0);
  const unsigned char lead = text[0];
  const size_t length = lead < 0x80             ? 1
                        : (lead & 0xe0) == 0xc0 ? 2
                        : (lead & 0xf0) == 0xe0 ? 3
                        : (lead & 0xf8) == 0xf0 ? 4
                                                : 0;
  if (length == 0 || length > size) return 0;
  uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (text[i] & 0x3fu);
  }
  if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  *character = code;
  return length;
}

const char *rs_name_trouble(const char *name, bool in_paths)
{
  const size_t size = strlen(name);
  uint32_t c;
  if (size == 0) return "a name must not be empty";
  for (size_t at = 0, length; at < size; at += length) {
    length = rs_utf8_next((const unsigned char *)name + at, size - at, &c);
    if (length == 0) return "a name must be UTF-8";
    if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return "a name must not hold control characters";
    if (in_paths && (c == '.' || c == '[' || c == ']'))
      return "a name must not hold . [ or ], which paths use";
  }
  return NULL;
}

int rs_shown_length(const char *name)
{
  size_t length = 0;
  while (length <= SHOWN_BYTES && name[length])
    length++;
  if (length > SHOWN_BYTES)
    for (length = SHOWN_BYTES; length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80;)
      length--;
  RS_ASSERT(length <= SHOWN_BYTES);
  return (int)length;
}

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* The number of insertions, deletions, replacements and swaps of neighbours that turn one word into
 * the other. Row i of the classic table needs only the two rows above it. */
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
  size_t rows[3][GUESS_BYTES + 1];
  RS_ASSERT(a_size <= GUESS_BYTES && b_size <= GUESS_BYTES);
  for (size_t j = 0; j <= b_size; j++)
    rows[0][j] = j;
  for (size_t i = 1; i <= a_size; i++) {
    size_t *row = rows[i % 3];
    const size_t *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b_size; j++) {
      row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = smaller(row[j], above2[j - 2] + 1);
    }
  }
  RS_ASSERT(rows[a_size % 3][b_size] <= (a_size > b_size ? a_size : b_size));
  return rows[a_size % 3][b_size];
}

/* The length of a word; GUESS_BYTES + 1 if it is longer than that. */
static size_t length_for_guess(const char *word)
{
  const char *const end = memchr(word, '\0', GUESS_BYTES + 1);
  return end ? (size_t)(end - word) : GUESS_BYTES + 1;
}

void rs_guess_offer(rs_guess *guess, const char *name)
{
  const size_t size = length_for_guess(guess->word), name_size = length_for_guess(name);
  if (size > GUESS_BYTES || name_size > GUESS_BYTES) return;
  const size_t limit = guess->nearest ? guess->distance : 2 + size / 4;
  const size_t difference = size > name_size ? size - name_size : name_size - size;
  if (difference >= limit) return;
  const size_t distance = edit_distance(guess->word, size, name, name_size);
  RS_ASSERT(distance >= difference);
  if (distance >= limit || distance >= size) return;
  guess->nearest = name;
  guess->distance = distance;
}

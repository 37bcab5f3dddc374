/* literal.c - see literal.h. */
#include "literal.h"

#include <string.h>

char literal_peek(literal *text)
{
  while (text->at < text->end && *text->at == ' ')
    text->at++;
  return text->at < text->end ? *text->at : '\0';
}

bool literal_take(literal *text, char wanted)
{
  const bool found = literal_peek(text) == wanted;
  if (found) text->at++;
  return found;
}

/* Python 2 may write a `u` before the quotes. */
bool literal_take_string(literal *text, literal *string)
{
  literal rest = *text;
  if (literal_peek(&rest) == 'u') rest.at++;
  const char quote = rest.at < rest.end ? *rest.at : '\0';
  if (quote != '\'' && quote != '"') return false;
  const char *const begin = rest.at + 1;
  for (const char *at = begin; at < rest.end; at++) {
    if (*at == quote) {
      *string = (literal){begin, at};
      text->at = at + 1;
      return true;
    }
    if (*at == '\\') at++;
  }
  return false;
}

bool literal_equals(literal string, const char *word)
{
  const size_t length = (size_t)(string.end - string.at);
  return length == strlen(word) && memcmp(string.at, word, length) == 0;
}

bool literal_take_number(literal *text, uint64_t *number)
{
  const char *const begin = text->at;
  *number = 0;
  for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
    if (__builtin_mul_overflow(*number, 10u, number) ||
        __builtin_add_overflow(*number, (uint64_t)(*text->at - '0'), number)) {
      return false;
    }
  }
  return text->at > begin;
}

/* That of Python 2 may end with an L. */
bool literal_take_length(literal *text, literal *digits, uint64_t *number)
{
  literal_peek(text);
  digits->at = text->at;
  if (!literal_take_number(text, number)) return false;
  digits->end = text->at;
  if (text->at < text->end && *text->at == 'L') text->at++;
  return true;
}

bool literal_take_shape(literal *text, uint64_t *product)
{
  literal digits;
  *product = 1;
  if (!literal_take(text, '(')) return literal_take_length(text, &digits, product);
  while (!literal_take(text, ')')) {
    uint64_t number;
    if (!literal_take_length(text, &digits, &number) ||
        __builtin_mul_overflow(*product, number, product)) {
      return false;
    }
    if (!literal_take(text, ',') && literal_peek(text) != ')') return false;
  }
  return true;
}

bool literal_skip(literal *text)
{
  size_t open = 0;
  for (char c; (c = literal_peek(text)) != '\0';) {
    literal string;
    const bool closes = c == ')' || c == ']' || c == '}';
    if (open == 0 && (c == ',' || closes)) return true;
    if (c == '\'' || c == '"') {
      if (!literal_take_string(text, &string)) return false;
      continue;
    }
    open += c == '(' || c == '[' || c == '{';
    open -= closes;
    text->at++;
  }
  return false;
}

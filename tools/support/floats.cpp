/* floats.cpp - see floats.h. In C++, whose standard library has this. */
#include "support/floats.h"

#include <charconv>

enum { SPACE = 32 };

char *tool_float_digits(float value, char *text)
{
  return std::to_chars(text, text + SPACE, value, std::chars_format::scientific).ptr;
}

char *tool_double_digits(double value, char *text)
{
  return std::to_chars(text, text + SPACE, value, std::chars_format::scientific).ptr;
}

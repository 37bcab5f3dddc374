/* compile.h - debug information of a header. */
#ifndef RECSCHEMA_DWARF_COMPILE_H
#define RECSCHEMA_DWARF_COMPILE_H

#include <stdbool.h>

typedef struct compiled {
  char folder[256];
  char object[272];
} compiled;

/* Compiles a header by itself, with the compiler $CC (for C++, $CXX) and `options`, which end with
 * NULL. The compiler prints to standard error. False, with a message, on failure; otherwise end
 * with compile_remove. */
bool compile_header(compiled *result, const char *header, char *const *options);
void compile_remove(const compiled *result);

#endif

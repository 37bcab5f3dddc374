/* find.h - a struct of compiled code as a schema. */
#ifndef RECSCHEMA_DWARF_FIND_H
#define RECSCHEMA_DWARF_FIND_H

#include <stdbool.h>

/* Prints the schema of the struct `name`, as YAML, from the debug information of `file`: an object,
 * a library or a program. `origin` is the name of the file in messages. False, with a message, if
 * there is no such struct, if several differ, or if a schema cannot describe it. */
bool find_and_print(const char *file, const char *origin, const char *name);

#endif

/* members.h - the members of a struct that debug information describes, as fields of a schema. */
#ifndef RECSCHEMA_DWARF_MEMBERS_H
#define RECSCHEMA_DWARF_MEMBERS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes the list of fields of a struct, and a comment where a field is not all of its member.
 * `big` says whether its machine is big-endian. False, with a message, on failure. */
bool members_print(Dwarf_Die *type, bool big, FILE *out);

/* Writes a name as YAML, in quotes if it needs them. */
void members_print_name(const char *name, FILE *out);

#endif

/* find.c - see find.h. */
#include "recschema/dwarf/find.h"

#include "recschema/dwarf/members.h"
#include "support/message.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is searched, and the schema that was found: NULL, none yet. */
typedef struct search {
  const char *origin;
  const char *name;
  bool big;
  char *text;
} search;

/* ---- The schema --------------------------------------------------------------------------- */

static bool print_schema(const search *s, Dwarf_Die *type, FILE *out)
{
  Dwarf_Word size = 0;
  dwarf_aggregate_size(type, &size);
  fputs("record: ", out);
  members_print_name(s->name, out);
  if (s->big) fputs("\nendian: big", out);
  fprintf(out, "\nlayout: explicit\nsize: %" PRIu64 "\nfields:\n", size);
  return members_print(type, s->big, out);
}

/* Takes a struct of that name. Code that was compiled in several parts has it several times. */
static bool take(search *s, Dwarf_Die *type)
{
  char *text = NULL;
  size_t size;
  FILE *const out = open_memstream(&text, &size);
  bool done = out == NULL || print_schema(s, type, out); /* which says why it failed */
  bool whole = out != NULL && ferror(out) == 0;
  if (out != NULL && fclose(out) != 0) whole = false;
  if (done && (!whole || text == NULL)) {
    tool_error("out of memory");
    done = false;
  }
  if (done && s->text == NULL) {
    s->text = text;
    return true;
  }
  const bool same = done && strcmp(text, s->text) == 0;
  if (done && !same) tool_error("%s: it has different structs \"%s\"", s->origin, s->name);
  free(text);
  return same;
}

/* ---- The search --------------------------------------------------------------------------- */

/* The struct that a type or a typedef is. */
static bool struct_of(Dwarf_Die *die, Dwarf_Die *type)
{
  const int tag = dwarf_tag(die);
  if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_typedef)
    return false;
  if (dwarf_peel_type(die, type) != 0 || dwarf_hasattr(type, DW_AT_declaration)) return false;
  return dwarf_tag(type) == DW_TAG_structure_type || dwarf_tag(type) == DW_TAG_class_type;
}

/* Searches a unit, a namespace or a class for `name`, which may be "outer::inner". */
static bool search_in(search *s, Dwarf_Die *parent, const char *name)
{
  Dwarf_Die die, type;
  int rest = dwarf_child(parent, &die);
  for (; rest == 0; rest = dwarf_siblingof(&die, &die)) {
    const char *const found = dwarf_diename(&die);
    const size_t length = found != NULL ? strlen(found) : 0;
    if (found == NULL || strncmp(name, found, length) != 0) continue;
    if (name[length] == '\0' && struct_of(&die, &type)) {
      if (!take(s, &type)) return false;
    } else if (strncmp(name + length, "::", 2) == 0 && dwarf_haschildren(&die)) {
      if (!search_in(s, &die, name + length + 2)) return false;
    }
  }
  return true;
}

static bool search_units(search *s, Dwarf *dwarf, const char *name)
{
  Dwarf_CU *unit = NULL;
  Dwarf_Die die, split;
  while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, &split) == 0)
    if (!search_in(s, split.addr != NULL ? &split : &die, name)) return false;
  return true;
}

/* ---- The file ----------------------------------------------------------------------------- */

/* Whether the schema is one, as the library sees it. */
static bool is_valid(const search *s)
{
  recsort_schema *schema = NULL;
  recsort_error error;
  if (recsort_schema_load_memory(s->text, strlen(s->text), s->name, NULL, &schema, &error)) {
    tool_error_library(&error);
    return false;
  }
  recsort_schema_destroy(schema);
  return true;
}

static bool search_module(search *s, Dwfl_Module *module)
{
  Dwarf_Addr bias;
  Dwarf *const dwarf = dwfl_module_getdwarf(module, &bias);
  Elf *const elf = dwfl_module_getelf(module, &bias);
  const char *const identity = elf != NULL ? elf_getident(elf, NULL) : NULL;
  if (dwarf == NULL || identity == NULL) {
    tool_error("%s: it has no debug information; compile it with -g", s->origin);
    return false;
  }
  s->big = identity[EI_DATA] == ELFDATA2MSB;
  if (!search_units(s, dwarf, s->name)) return false;
  if (s->text != NULL) return is_valid(s);
  tool_error("%s: its debug information has no struct \"%s\"", s->origin, s->name);
  return false;
}

static bool search_file(search *s, const char *file)
{
  static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo,
                                           .section_address = dwfl_offline_section_address};
  Dwfl *const dwfl = dwfl_begin(&callbacks);
  Dwfl_Module *const module = dwfl != NULL ? dwfl_report_offline(dwfl, "", file, -1) : NULL;
  if (module == NULL) tool_error("%s: %s", s->origin, dwfl_errmsg(-1));
  const bool found =
      module != NULL && dwfl_report_end(dwfl, NULL, NULL) == 0 && search_module(s, module);
  dwfl_end(dwfl);
  return found;
}

/* A comment is one line, whatever the names have in them. */
static void print_comment(const char *text)
{
  for (const char *c = text; *c != '\0'; c++)
    putchar((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c);
}

bool find_and_print(const char *file, const char *origin, const char *name)
{
  search s = {.origin = origin, .name = name};
  const bool found = search_file(&s, file);
  if (found) {
    printf("# struct ");
    print_comment(name);
    printf(" of ");
    print_comment(origin);
    printf(", by recschema. Add the keys, the first one first:\n"
           "# keys:\n#   - {field: NAME, order: desc}\n%s",
           s.text);
  }
  free(s.text);
  return found;
}

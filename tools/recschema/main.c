/* recschema - from schemas to C and back: see `recschema --help` and recschema(1). */
#include "recschema/header.h"
#include "support/message.h"
#if RECSCHEMA_DWARF
#include "recschema/dwarf/compile.h"
#include "recschema/dwarf/find.h"
#endif

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Usage: recschema --emit-header -s SCHEMA\n"
    "       recschema --from-header FILE --struct NAME [-- COMPILER-OPTION...]\n"
    "       recschema --from-elf FILE --struct NAME\n"
    "Make a C struct from a schema, or a schema from a struct, on standard output.\n"
    "\n"
    "      --emit-header      a struct, and assertions of its size and its offsets\n"
    "  -s, --schema FILE      what a record looks like (YAML)\n"
    "      --from-header FILE a schema of a struct in a header, which $CC compiles (cc;\n"
    "                         C++, by the name of the file: $CXX, c++)\n"
    "      --from-elf FILE    a schema of a struct in a program, a library or an object\n"
    "                         file, by the debug information that -g gives it\n"
    "      --struct NAME      which struct; also a typedef; in C++ outer::inner\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n"
    "Exit status: 0 done, 2 trouble. See recschema(1).\n";

typedef struct settings {
  bool emits_header;
  const char *schema, *header, *elf, *name;
  char *const *compiler_options; /* end with NULL */
} settings;

enum { OPTION_EMIT = 256, OPTION_HEADER, OPTION_ELF, OPTION_STRUCT };

static const struct option options[] = {
    {"emit-header", no_argument, NULL, OPTION_EMIT},
    {"schema", required_argument, NULL, 's'},
    {"from-header", required_argument, NULL, OPTION_HEADER},
    {"from-elf", required_argument, NULL, OPTION_ELF},
    {"struct", required_argument, NULL, OPTION_STRUCT},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {0},
};

static int emit_header(const settings *s)
{
  recsort_schema *const schema = tool_load_schema(s->schema);
  if (schema == NULL) return TOOL_TROUBLE;
  header_print(schema);
  recsort_schema_destroy(schema);
  return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
}

#if RECSCHEMA_DWARF
static bool print_struct(const settings *s)
{
  compiled object;
  if (s->elf != NULL) return find_and_print(s->elf, s->elf, s->name);
  if (!compile_header(&object, s->header, s->compiler_options)) return false;
  const bool found = find_and_print(object.object, s->header, s->name);
  compile_remove(&object);
  return found;
}
#else
static bool print_struct(const settings *s)
{
  tool_error("%s: recschema was built without libdw, which reads structs; build it where Debian's "
             "package libdw-dev, or elfutils, is installed",
             s->elf != NULL ? s->elf : s->header);
  return false;
}
#endif

/* "struct Entity" is Entity. */
static const char *without_keyword(const char *name)
{
  static const char *const words[] = {"struct ", "class "};
  for (size_t i = 0; i < 2; i++)
    if (strncmp(name, words[i], strlen(words[i])) == 0) return name + strlen(words[i]);
  return name;
}

/* Applies an option, which the command line calls `name`. TOOL_OK, or a message says what is
 * wrong. */
static int apply_option(settings *s, int option, const char *value, const char *name)
{
  switch (option) {
  case OPTION_EMIT:
    s->emits_header = true;
    return TOOL_OK;
  case 's':
    s->schema = value;
    return TOOL_OK;
  case OPTION_HEADER:
    s->header = value;
    return TOOL_OK;
  case OPTION_ELF:
    s->elf = value;
    return TOOL_OK;
  case OPTION_STRUCT:
    s->name = without_keyword(value);
    return TOOL_OK;
  case ':':
    return tool_usage_error("option '%s' needs a value", name);
  default:
    return tool_usage_error("unknown option '%s'", name);
  }
}

static int check_together(const settings *s)
{
  if (s->emits_header + (s->header != NULL) + (s->elf != NULL) != 1)
    return tool_usage_error("one of --emit-header, --from-header and --from-elf is needed");
  if (s->emits_header && s->schema == NULL)
    return tool_usage_error("which schema? --schema is missing");
  if (!s->emits_header && s->name == NULL)
    return tool_usage_error("which struct? --struct is missing");
  if (s->emits_header ? s->name != NULL : s->schema != NULL)
    return tool_usage_error("--schema goes with --emit-header, --struct with the others");
  if (s->header == NULL && s->compiler_options[0] != NULL)
    return tool_usage_error("unexpected argument '%s'", s->compiler_options[0]);
  return TOOL_OK;
}

int main(int argc, char **argv)
{
  opterr = 0;
  tool_set_name("recschema");
  settings s = {0};
  for (int option; (option = getopt_long(argc, argv, ":s:hV", options, NULL)) != -1;) {
    if (option == 'h' || option == 'V') {
      if (option == 'h')
        fputs(help, stdout);
      else
        printf("recschema %s\n", recsort_version());
      return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
    }
    const int status = apply_option(&s, option, optarg, argv[optind - 1]);
    if (status != TOOL_OK) return status;
  }
  s.compiler_options = argv + optind;
  const int status = check_together(&s);
  if (status != TOOL_OK) return status;
  if (s.emits_header) return emit_header(&s);
  return print_struct(&s) && tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
}

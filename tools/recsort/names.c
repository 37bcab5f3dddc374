/* names.c - see names.h. */
#include "names.h"

#include "support/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool add_name(cli_options *options, char *name)
{
  char **const names = realloc(options->names, (options->input_count + 1) * sizeof *names);
  if (names == NULL) {
    tool_error_memory((options->input_count + 1) * sizeof *names);
    return false;
  }
  names[options->input_count++] = name;
  options->inputs = options->names = names;
  return true;
}

/* `-` could be the file of names itself. */
static bool is_name(const cli_options *options, const char *name)
{
  if (*name != '\0' && !tool_is_standard(name)) return true;
  tool_error("%s: name %zu is '%s', which is no file", tool_input_name(options->files_from),
             options->input_count + 1, name);
  return false;
}

static bool read_names(cli_options *options, FILE *file)
{
  for (;;) {
    char *name = NULL;
    size_t room = 0;
    errno = 0;
    if (getdelim(&name, &room, '\0', file) < 0) {
      free(name);
      break;
    }
    if (!is_name(options, name) || !add_name(options, name)) {
      free(name);
      return false;
    }
  }
  if (!feof(file)) {
    tool_error_errno(tool_input_name(options->files_from), errno);
  } else if (options->input_count == 0) {
    tool_error("%s: it names no input", tool_input_name(options->files_from));
  }
  return feof(file) && options->input_count > 0;
}

bool names_read(cli_options *options)
{
  if (options->files_from == NULL) return true;
  const bool is_standard = tool_is_standard(options->files_from);
  FILE *const file = is_standard ? stdin : fopen(options->files_from, "rb");
  if (file == NULL) {
    tool_error_errno(options->files_from, errno);
    return false;
  }
  const bool done = read_names(options, file);
  if (!is_standard) fclose(file);
  return done;
}

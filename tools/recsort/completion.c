/* completion.c - see completion.h. */
#include "completion.h"

#include "options.h"

#include "support/message.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Prints text inside single quotes. */
static void put_quoted(const char *text, int length)
{
  for (int i = 0; i < length; i++) {
    if (text[i] == '\'') fputs("'\\'", stdout);
    putchar(text[i]);
  }
}

/* Words with '|' between them are printed with spaces. */
static void put_choices(const option_words *option)
{
  for (int i = 0; i < option->argument_length; i++)
    putchar(option->argument[i] == '|' ? ' ' : option->argument[i]);
}

static bool has_choices(const option_words *option)
{
  return option->argument_length > 0 && !isupper((unsigned char)*option->argument);
}

static bool is_file(const option_words *option)
{
  return option->argument_length == 4 && strncmp(option->argument, "FILE", 4) == 0;
}

/* ---- The shells --------------------------------------------------------------------------- */

/* Files are completed by default; values only behind '=', where bash divides words. */
static void print_bash(void)
{
  option_words option;
  printf("# bash completion for recsort, made by recsort --completion bash\n"
         "_recsort()\n{\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
         "  COMPREPLY=()\n"
         "  if [[ $word == = ]]; then\n    word=\n"
         "  elif [[ $before == = ]]; then\n    before=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "  else\n    before=\n  fi\n"
         "  case $before in\n");
  for (size_t i = 0; options_describe(i, &option); i++) {
    if (!has_choices(&option)) continue;
    printf("  --%s) words='", option.name);
    put_choices(&option);
    printf("' ;;\n");
  }
  printf("  esac\n  [[ $word == -* ]] && words='");
  for (size_t i = 0; options_describe(i, &option); i++) {
    if (option.name != NULL) printf("--%s ", option.name);
    if (option.letter != 0) printf("-%c ", option.letter);
  }
  printf("'\n  [[ $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
         "complete -o default -F _recsort recsort\n");
}

static void print_zsh_option(const option_words *option, bool is_long)
{
  printf(" \\\n  '*-");
  if (is_long)
    printf("-%s", option->name);
  else
    putchar(option->letter);
  /* A letter has no argument that may be left out. */
  const bool takes = option->argument_length > 0 && (is_long || !option->is_optional);
  if (takes) fputs(is_long ? (option->is_optional ? "=-" : "=") : "+", stdout);
  putchar('[');
  put_quoted(option->text, option->text_length);
  putchar(']');
  if (takes) {
    printf("%s", option->is_optional ? "::" : ":");
    fputs(is_file(option) ? "file:_files" : "value:", stdout);
    if (has_choices(option)) {
      putchar('(');
      put_choices(option);
      putchar(')');
    }
  }
  putchar('\'');
}

static void print_zsh(void)
{
  option_words option;
  printf("#compdef recsort\n# zsh completion, made by recsort --completion zsh\n_arguments -s -S");
  for (size_t i = 0; options_describe(i, &option); i++) {
    if (option.letter != 0) print_zsh_option(&option, false);
    if (option.name != NULL) print_zsh_option(&option, true);
  }
  printf(" \\\n  '*:input:_files'\n");
}

static void print_fish(void)
{
  option_words option;
  printf("# fish completion for recsort, made by recsort --completion fish\n");
  for (size_t i = 0; options_describe(i, &option); i++) {
    printf("complete -c recsort");
    if (option.letter != 0) printf(" -s %c", option.letter);
    if (option.name != NULL) printf(" -l %s", option.name);
    if (option.argument_length > 0 && !option.is_optional) printf(is_file(&option) ? " -r" : " -x");
    if (has_choices(&option)) {
      printf(" -f -a '");
      put_choices(&option);
      putchar('\'');
    }
    printf(" -d '");
    put_quoted(option.text, option.text_length);
    printf("'\n");
  }
}

static const struct {
  const char *name;
  void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

enum { SHELLS = sizeof shells / sizeof *shells };

bool completion_exists(const char *shell)
{
  for (size_t i = 0; i < SHELLS; i++)
    if (strcmp(shell, shells[i].name) == 0) return true;
  return false;
}

bool completion_print(const char *shell)
{
  for (size_t i = 0; i < SHELLS; i++)
    if (strcmp(shell, shells[i].name) == 0) shells[i].print();
  return tool_flush_stdout();
}

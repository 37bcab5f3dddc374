/* main.c - makes recsort(1) of recsort.1, which is its standard input: a line .OPTION NAME...
 * becomes the heading of these options, from the table that also makes --help. Fails if an option
 * has no such line, or has two. */
#include "recsort/options.h"

#include "support/message.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_OPTIONS = 100 };

/* Options are written as in --help, which has no backslash: words in upper case stand for others.
 */
static void put_text(const char *text, int length)
{
  char font = 'R';
  for (int i = 0; i < length; i++) {
    const unsigned char c = (unsigned char)text[i];
    const char wanted = isupper(c) ? 'I' : strchr(" []|,.", c) != NULL ? 'R' : 'B';
    if (wanted != font) printf("\\f%c", wanted);
    font = wanted;
    if (c == '-') putchar('\\');
    putchar(c);
  }
  if (font != 'R') fputs("\\fR", stdout);
}

static void put_option(const option_words *option)
{
  char text[64];
  if (option->letter != 0) printf("\\fB\\-%c\\fR", option->letter);
  if (option->name == NULL) return;
  if (option->letter != 0) fputs(", ", stdout);
  put_text(text, snprintf(text, sizeof text, "--%s", option->name));
  put_text(option->usage, option->usage_length);
}

static bool is_called(const option_words *option, const char *word)
{
  if (option->name != NULL) return strcmp(option->name, word) == 0;
  return option->letter == word[0] && word[1] == '\0';
}

/* Prints the heading of an option, which has none so far. */
static bool put_heading(const char *word, bool *done)
{
  option_words option;
  for (size_t i = 0; options_describe(i, &option); i++) {
    if (!is_called(&option, word)) continue;
    if (done[i]) tool_error("recsort.1: .OPTION %s: it has a heading already", word);
    put_option(&option);
    return !done[i] && (done[i] = true);
  }
  tool_error("recsort.1: .OPTION %s: there is no such option", word);
  return false;
}

/* Prints the heading of the options with spaces between them. */
static bool put_headings(char *words, bool *done)
{
  char *next;
  fputs(".TP\n", stdout);
  for (const char *word = strtok_r(words, " \n", &next); word != NULL;) {
    if (!put_heading(word, done)) return false;
    word = strtok_r(NULL, " \n", &next);
    fputs(word != NULL ? ", " : "\n", stdout);
  }
  return true;
}

int main(void)
{
  static const char mark[] = ".OPTION ";
  char line[1000];
  bool done[MOST_OPTIONS] = {false}, good = true;
  option_words option;
  tool_set_name("recsort_page");
  while (good && fgets(line, sizeof line, stdin) != NULL) {
    if (strncmp(line, mark, strlen(mark)) == 0)
      good = put_headings(line + strlen(mark), done);
    else
      fputs(line, stdout);
  }
  for (size_t i = 0; good && options_describe(i, &option); i++) {
    good = done[i];
    if (good) continue;
    if (option.name != NULL)
      tool_error("recsort.1: --%s has no .OPTION", option.name);
    else
      tool_error("recsort.1: -%c has no .OPTION", option.letter);
  }
  return good && tool_flush_stdout() ? 0 : 2;
}

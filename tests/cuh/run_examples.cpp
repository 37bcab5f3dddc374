/* Runs the programs of docs/cuh.md and the examples in the comments of recsort.cuh, and compares
 * what they print with what is printed there. examples.py writes them. */
#include <unistd.h>

#include <cstdio>
#include <string>

#define EXAMPLE(name, printed) int name();
#include "examples.inc"
#undef EXAMPLE

/* The text that a program prints. */
static std::string printed_by(int (*program)())
{
  FILE *const file = std::tmpfile();
  std::fflush(stdout);
  const int shown = dup(STDOUT_FILENO);
  if (!file || shown < 0 || dup2(fileno(file), STDOUT_FILENO) < 0) return "no file";
  const int status = program();
  std::fflush(stdout);
  dup2(shown, STDOUT_FILENO);
  close(shown);
  std::string text = status ? "failed\n" : "";
  std::rewind(file);
  for (int c; (c = std::fgetc(file)) != EOF;)
    text += (char)c;
  std::fclose(file);
  return text;
}

static int wrong, total;

static void expect(const char *name, int (*program)(), const std::string &expected)
{
  const std::string found = printed_by(program);
  total++;
  if (found == expected) return;
  wrong++;
  std::printf("%s prints\n%sand not\n%s", name, found.c_str(), expected.c_str());
}

int main()
{
#define EXAMPLE(name, printed) expect(#name, name, printed);
#include "examples.inc"
  std::printf("%d examples, %d wrong\n", total, wrong);
  return wrong != 0;
}

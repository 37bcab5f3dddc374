/* test_hostile.c - hostile schemas: each is refused with the expected message, and none takes more
 * than 50 ms of processor time or 16 MiB. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "recsort/recsort.h"
#include "schema/parse.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* The limits apply to optimised builds without sanitizers. */
#ifdef __has_feature
#define HAS_FEATURE(feature) __has_feature(feature)
#else
#define HAS_FEATURE(feature) 0
#endif
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||     \
    HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer)
enum { SLACK = 8 };
#else
enum { SLACK = 1 };
#endif

/* ---- Written schemas ---------------------------------------------------------------------------
 */

static void refuse(const char *text, size_t size, const char *name, const char *message)
{
  char expected[800];
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  snprintf(expected, sizeof expected, "%s:%s", name, message);
  assert_int_not_equal(recsort_schema_load_memory(text, size, name, NULL, &schema, &error),
                       RECSORT_OK);
  assert_string_equal(error.text, expected);
  assert_null(schema);
}

/* The schemas of hostile.txt, which says what it holds. */
static void refuses_the_written(void **state)
{
  char line[600], name[100] = "", text[4096];
  size_t size = 0, count = 0;
  FILE *table = fopen(RS_HOSTILE, "r");
  (void)state;
  assert_non_null(table);
  while (fgets(line, sizeof line, table)) {
    const int length = (int)strcspn(line, "\n");
    if (strncmp(line, "==== ", 5) == 0) {
      assert_string_equal(name, ""); /* the one before has its message */
      snprintf(name, sizeof name, "%.*s.yaml", length - 5, line + 5);
      size = 0;
    } else if (strncmp(line, "---- ", 5) == 0) {
      line[length] = '\0';
      refuse(text, size, name, line + 5);
      name[0] = '\0';
      count++;
    } else {
      assert_true(size + strlen(line) <= sizeof text);
      memcpy(text + size, line, strlen(line));
      size += strlen(line);
    }
  }
  fclose(table);
  assert_string_equal(name, "");
  assert_int_not_equal(count, 0);
  print_message("%zu schemas refused\n", count);
}

static void refuses_bytes_that_are_no_text(void **state)
{
#define REFUSE(text, name, message) refuse(text, sizeof(text) - 1, name, message)
  (void)state;
  REFUSE("\xef\xbb\xbfrecord: R\nfields:\n  - {name: a, type: int8}\n", "byte-order-mark",
         "1:1: a byte order mark; save the file without one");
  REFUSE("record: R\n# a bell: \a\n", "control-character", "2:11: a control character; remove it");
  REFUSE("record: Gr\xf6\xdf"
         "e\n",
         "latin-1", "1:11: bytes that are not UTF-8; save the file as UTF-8");
  REFUSE(
      "record: R\nfields:\n\t- {name: a, type: int8}\n", "tab",
      "3:1: not YAML: found character that cannot start any token; indent with spaces, and quote "
      "what begins with a special character, such as \">i2\"");
  REFUSE("\xff\xfer\0e\0c\0o\0r\0d\0:\0 \0R\0\n\0f\0i\0e\0l\0d\0s\0:\0\n\0 \0 \0-\0 \0{\0"
         "n\0a\0m\0e\0:\0 \0a\0,\0 \0t\0y\0p\0e\0:\0 \0i\0n\0t\0\070\0}\0\n\0",
         "utf-16", "1:1: bytes that are not UTF-8; save the file as UTF-8");
#undef REFUSE
}

/* ---- Generated schemas ------------------------------------------------------------------------
 */

/* A repeated text: `before` and, if there is an `after`, a running number and `after`; `count`
 * times, or until the text has 1 MiB. */
typedef struct part {
  const char *before;
  const char *after;
  size_t count;
} part;

typedef struct hostile {
  const char *name;
  part parts[4];
} hostile;

#define FILL ((size_t)-1)
#define FIELDS                                                                                     \
  {                                                                                                \
    "record: R\nfields:\n", NULL, 1                                                                \
  }

#define A_RECORD "record: R\nfields: [{name: a, type: int8}]\n"

static const char long_name[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

static const hostile generated[] = {
    {"brackets", {{"[", NULL, FILL}}},
    {"brackets, one a line", {{"[\n", NULL, FILL}}},
    {"braces", {{"{", NULL, FILL}}},
    {"braces, one a line", {{"{\n", NULL, FILL}}},
    {"brackets with keys", {{"[? ", NULL, FILL}}},
    {"brackets as a value", {{"record: ", NULL, 1}, {"[", NULL, FILL}}},
    {"brackets with colons", {{"record: ", NULL, 1}, {"[a: ", NULL, FILL}}},
    {"brackets as fields", {{"record: R\nfields: ", NULL, 1}, {"[{", NULL, FILL}}},
    {"structs in structs", {FIELDS, {"[{name: a, type: struct, fields: ", NULL, FILL}}},
    {"dashes", {{"- ", NULL, FILL}}},
    {"question marks", {{"? ", NULL, FILL}}},
    {"question marks, one a line", {{"?\n", NULL, FILL}}},
    {"colons", {{": ", NULL, FILL}}},
    {"commas", {{"[", NULL, 1}, {",", NULL, FILL}}},
    {"one comment", {{"#", NULL, FILL}}},
    {"comments", {{"#\n", NULL, FILL}}},
    {"spaces", {{" ", NULL, FILL}}},
    {"tabs", {{"\t", NULL, FILL}}},
    {"empty lines", {{"\r\n", NULL, FILL}}},
    {"a long word", {{"a", NULL, FILL}}},
    {"long words", {{long_name, "\n", FILL}}},
    {"words in braces", {{"{", NULL, 1}, {long_name, "\n", FILL}}},
    {"words in quotes", {{"\"a\" ", NULL, FILL}}},
    {"a long value", {{"record: ", NULL, 1}, {"a ", NULL, FILL}}},
    {"a value of many lines", {{"record: ", NULL, 1}, {"a\n ", NULL, FILL}}},
    {"a value in quotes", {{"record: \"", NULL, 1}, {"a", NULL, FILL}}},
    {"escapes", {{"record: \"", NULL, 1}, {"\\u1234", NULL, FILL}}},
    {"lines in quotes", {{"record: \"", NULL, 1}, {"\n", NULL, FILL}}},
    {"a block", {{"record: |\n", NULL, 1}, {" a\n", NULL, FILL}}},
    {"an empty block", {{"record: |\n", NULL, 1}, {"\n", NULL, FILL}}},
    {"a folded block", {{"record: >\n", NULL, 1}, {" a\n  b\n", NULL, FILL}}},
    {"a long anchor", {{"record: &", NULL, 1}, {"a", NULL, FILL}}},
    {"anchors", {{"record: ", NULL, 1}, {"&a ", NULL, FILL}}},
    {"aliases", {{"*a ", NULL, FILL}}},
    {"a long tag", {{"record: !<", NULL, 1}, {"%41", NULL, FILL}}},
    {"tag directives", {{"%TAG !a", "! b\n", FILL}}},
    {"tag directives at the end",
     {FIELDS, {"- {name: a, type: int8}\n...\n", NULL, 1}, {"%TAG !a", "! b\n", FILL}}},
    {"version directives", {{"%YAML 1.1\n", NULL, FILL}}},
    {"unknown directives", {{"%FOO\n", NULL, FILL}}},
    {"documents", {{"---\n", NULL, FILL}}},
    {"ends of documents", {{"...\n", NULL, FILL}}},
    {"unknown words", {{"abc", ": d\n", FILL}}},
    {"bytes that are not UTF-8", {{"\xff", NULL, FILL}}},
    {"a wrong byte at the end", {{"#", NULL, RS_SCHEMA_MAX_BYTES - 1}, {"\xff", NULL, 1}}},
    {"empty items", {FIELDS, {"- \n", NULL, FILL}}},
    {"many fields", {FIELDS, {"- {type: bool, name: a", "}\n", FILL}}},
    {"many fields and no such key",
     {FIELDS, {"- {type: bool, name: a", "}\n", 4000}, {"keys: [nothing]", NULL, 1}}},
    {"many long names and no such key",
     {FIELDS,
      {"- {type: bool, name: aaaaaaaaaaaaaaaaaaaaaaaaaaa", "}\n", 4000},
      {"keys: [aaaaaaaaaaaaaaaaaaaaaaaaaaazzz]", NULL, 1}}},
    {"many names of values",
     {FIELDS,
      {"- {name: a, type: enum, values: [", NULL, 1},
      {"a", ",", 16000},
      {"a1]}", NULL, 1}}},
    {"more names of values",
     {FIELDS, {"- {name: a, type: enum, values: [a", NULL, 1}, {"a", ",", FILL}}},
    {"bits of bits",
     {FIELDS,
      {"- {type: uint64, name: a", "}\n", 1000},
      {"- {type: bitfield, base: a999, bit: 0, name: b", "}\n", 1400}}},
    {"many keys of many fields",
     {FIELDS,
      {"- {type: bool, name: b", "}\n", 3500},
      {"- {name: z, type: bool, count: 99999}\nkeys:\n", NULL, 1},
      {"- z[", "]\n", 1000}}},
    {"more keys",
     {FIELDS, {"- {name: z, type: bool, count: 99999}\nkeys:\n", NULL, 1}, {"- z[", "]\n", 2000}}},
    {"many places that need others",
     {{A_RECORD "skip: 8\nafter:\n", NULL, 1},
      {"- {word: a", "}\n", 1023},
      {"count: {word: a}\nkeys: [nothing]", NULL, 1}}},
    {"more places than are allowed",
     {{A_RECORD "skip: 8\nafter:\n", NULL, 1},
      {"- {word: a", "}\n", 8000},
      {"count: {word: a}\n", NULL, 1}}},
    {"many conditions",
     {{A_RECORD "skip: 8\nexpect:\n", NULL, 1},
      {"- {offset: 0, bytes: a}\n", NULL, 1024},
      {"keys: [nothing]", NULL, 1}}},
    {"many expected lines",
     {{A_RECORD "skip: 8\nexpect: {line: [", NULL, 1},
      {long_name, ",\n", 14000},
      {"a]}\nkeys: [nothing]", NULL, 1}}},
    {"many expected bytes",
     {{A_RECORD "skip: 8000\nexpect: {offset: 0, bytes: [", NULL, 1},
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,\n", NULL, 16000},
      {"b]}\nkeys: [nothing]", NULL, 1}}},
    {"many expected values",
     {{A_RECORD "skip: 8\nexpect: {offset: 0, type: uint64, value: [", NULL, 1},
      {"1", ",", 16000},
      {"1]}\nkeys: [nothing]", NULL, 1}}},
};

static size_t write_text(const hostile *h, char *text)
{
  size_t size = 0;
  for (const part *p = h->parts; p < h->parts + LENGTH(h->parts) && p->before; p++) {
    for (size_t i = 0; i < p->count && size < RS_SCHEMA_MAX_BYTES; i++) {
      char piece[200];
      const int length = p->after ? snprintf(piece, sizeof piece, "%s%zu%s", p->before, i, p->after)
                                  : snprintf(piece, sizeof piece, "%s", p->before);
      const size_t room = RS_SCHEMA_MAX_BYTES - size;
      const size_t taken = (size_t)length < room ? (size_t)length : room;
      memcpy(text + size, piece, taken);
      size += taken;
    }
  }
  return size;
}

static void refuses_more_places_than_a_file_has(void **state)
{
  static const hostile h = {"places",
                            {{"record: R\nskip: 8\nexpect:\n", NULL, 1},
                             {"  - {offset: 0, bytes: a}\n", NULL, 1025},
                             {"fields:\n  - {name: a, type: int32}\nkeys: [a]\n", NULL, 1}}};
  static char text[RS_SCHEMA_MAX_BYTES];
  (void)state;
  refuse(text, write_text(&h, text), h.name, "1028:5: more than 1024 places, which no file has");
}

static double milliseconds(struct timeval t)
{
  return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

/* The cost of a load, which a child reports to its parent. */
typedef struct cost {
  recsort_status status;
  double milliseconds;
  long kibibytes;
  recsort_error error;
} cost;

static cost measure(const char *text, size_t size)
{
  struct rusage before, after;
  recsort_schema *schema = NULL;
  cost c = {0};
  getrusage(RUSAGE_SELF, &before);
  c.status = recsort_schema_load_memory(text, size, "t.yaml", NULL, &schema, &c.error);
  getrusage(RUSAGE_SELF, &after);
  c.milliseconds = milliseconds(after.ru_utime) + milliseconds(after.ru_stime) -
                   milliseconds(before.ru_utime) - milliseconds(before.ru_stime);
  c.kibibytes = after.ru_maxrss - before.ru_maxrss;
  return c;
}

/* Measures in a new process, so that each starts with the memory of this one. */
static cost measure_apart(const char *text, size_t size)
{
  int ends[2], status;
  cost c = {0};
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    c = measure(text, size);
    _exit(write(ends[1], &c, sizeof c) == (ssize_t)sizeof c ? 0 : 1);
  }
  close(ends[1]);
  assert_int_equal(read(ends[0], &c, sizeof c), sizeof c);
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  return c;
}

/* The least of several tries, as others may use the machine. */
static cost measure_best(const char *text, size_t size)
{
  cost best = measure_apart(text, size);
  for (int i = 0; i < 4 && best.milliseconds > 50.0 * SLACK; i++) {
    const cost c = measure_apart(text, size);
    if (c.milliseconds < best.milliseconds) best = c;
  }
  return best;
}

static void stays_within_time_and_memory(void **state)
{
  static char text[RS_SCHEMA_MAX_BYTES];
  double slowest = 0;
  long largest = 0;
  (void)state;
  for (size_t i = 0; i < LENGTH(generated); i++) {
    const size_t size = write_text(&generated[i], text);
    const cost c = measure_best(text, size);
    /* All but one are refused; that one is the most expensive valid schema. */
    const bool fine = strcmp(generated[i].name, "many keys of many fields") == 0;
    if ((c.status == RECSORT_OK) != fine)
      fail_msg("%s: %s", generated[i].name, c.status ? c.error.text : "accepted");
    if (c.milliseconds > 50.0 * SLACK || c.kibibytes > 16384 * SLACK)
      fail_msg("%s: %.1f ms, %ld KiB", generated[i].name, c.milliseconds, c.kibibytes);
    if (c.milliseconds > slowest) slowest = c.milliseconds;
    if (c.kibibytes > largest) largest = c.kibibytes;
  }
  print_message("%zu schemas, the slowest in %.1f ms, the largest in %ld KiB\n", LENGTH(generated),
                slowest, largest);
}

static void refuses_more_than_a_mebibyte(void **state)
{
  const size_t size = RS_SCHEMA_MAX_BYTES + 1;
  char *text = malloc(size);
  (void)state;
  assert_non_null(text);
  memset(text, '\n', size);
  cost c = measure(text, size);
  assert_string_equal(c.error.text, "t.yaml: larger than 1 MiB, which no schema is");
  assert_true(c.error.line == 0 && c.error.column == 0);
  memcpy(text, "record: R\nfields: [{name: a, type: int8}]\n", 42);
  assert_int_equal(measure(text, size).status, RECSORT_INVALID_SCHEMA);
  c = measure_apart(text, size - 1);
  assert_int_equal(c.status, RECSORT_OK);
  free(text);
}

static void refuses_a_file_of_more_than_a_mebibyte(void **state)
{
  static const char start[] = "record: R\nfields: [{name: a, type: int8}]\n";
  char path[] = "/tmp/recsort-schema-XXXXXX", expected[100];
  const int file = mkstemp(path);
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  (void)state;
  assert_true(file >= 0);
  assert_int_equal(write(file, start, sizeof start - 1), sizeof start - 1);
  const size_t rest = RS_SCHEMA_MAX_BYTES - (sizeof start - 1);
  char *lines = malloc(rest);
  assert_non_null(lines);
  memset(lines, '\n', rest);
  assert_int_equal(write(file, lines, rest), rest);
  free(lines);
  const recsort_status fits = recsort_schema_load_file(path, NULL, &schema, &error);
  recsort_schema_destroy(schema);
  schema = NULL;
  assert_int_equal(write(file, "\n", 1), 1);
  close(file);
  recsort_schema_load_file(path, NULL, &schema, &error);
  unlink(path);
  assert_int_equal(fits, RECSORT_OK);
  assert_null(schema);
  snprintf(expected, sizeof expected, "%s: larger than 1 MiB, which no schema is", path);
  assert_string_equal(error.text, expected);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_the_written),
      cmocka_unit_test(refuses_bytes_that_are_no_text),
      cmocka_unit_test(refuses_more_places_than_a_file_has),
      cmocka_unit_test(stays_within_time_and_memory),
      cmocka_unit_test(refuses_more_than_a_mebibyte),
      cmocka_unit_test(refuses_a_file_of_more_than_a_mebibyte),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

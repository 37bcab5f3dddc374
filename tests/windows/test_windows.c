/* What is different on Windows: names of files, the folders of plugins, and unloading. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs these first. */
#include <cmocka.h>
#include <stdio.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "recsort/tools.h"

#include "support/told.h"

#define FOLDER L"w\u00e4hrung \u65e5\u672c"
#define FOLDER_UTF8 "w\xc3\xa4hrung \xe6\x97\xa5\xe6\x9c\xac"

/* The path of FOLDER, and behind it `name`. */
static const char *in_folder(const char *name)
{
  static char path[4 * MAX_PATH];
  wchar_t here[MAX_PATH];
  assert_true(GetCurrentDirectoryW(MAX_PATH, here) > 0);
  const int length = WideCharToMultiByte(CP_UTF8, 0, here, -1, path, MAX_PATH, NULL, NULL);
  assert_true(length > 0);
  (void)strcpy(path + length - 1, "\\" FOLDER_UTF8);
  return strcat(path, name);
}

static int make_folders(void **state)
{
  (void)state;
  (void)CreateDirectoryW(FOLDER, NULL);
  (void)CreateDirectoryW(FOLDER L"\\recsort", NULL);
  return !CopyFileW(RS_LIBRARY, FOLDER L"\\librecsort.dll", FALSE) ||
         !CopyFileW(RS_PLUGIN, FOLDER L"\\librecsort_scripted.dll", FALSE) ||
         !CopyFileW(RS_PLUGIN, FOLDER L"\\recsort\\librecsort_scripted.dll", FALSE);
}

/* ---- Schemas ---- */

static void expect_refusal(const char *path, const char *why)
{
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  assert_int_equal(recsort_schema_load_file(path, NULL, &schema, &error), RECSORT_IO_ERROR);
  assert_null(schema);
  if (!strstr(error.text, why)) fail_msg("%s", error.text);
}

/* Ctrl-Z, which ended files of text once, does not end a schema. */
static void test_a_schema_is_read_as_bytes(void **state)
{
  static const char text[] =
      "record: N\r\nfields: [{name: key, type: uint32}]\r\n\x1akeys: [key]\r\n";
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  FILE *const file = fopen("ctrl-z.yaml", "wb");
  (void)state;
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, sizeof text - 1, file), sizeof text - 1);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(recsort_schema_load_file("ctrl-z.yaml", NULL, &schema, &error),
                   RECSORT_INVALID_SCHEMA);
  assert_string_equal(error.text, "ctrl-z.yaml:3:1: a control character; remove it");
}

static void test_names_are_utf8(void **state)
{
  static const char text[] =
      "record: N\r\nfields:\r\n  - {name: key, type: uint32}\r\nkeys: [key]\r\n";
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  DWORD written;
  const HANDLE file = CreateFileW(FOLDER L"\\\u00fc.yaml", GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
                                  FILE_ATTRIBUTE_NORMAL, NULL);
  (void)state;
  assert_true(WriteFile(file, text, sizeof text - 1, &written, NULL) && CloseHandle(file));
  if (recsort_schema_load_file(FOLDER_UTF8 "/\xc3\xbc.yaml", NULL, &schema, &error))
    fail_msg("%s", error.text);
  assert_int_equal(recsort_schema_describe(schema)->size, 4);
  recsort_schema_destroy(schema);
  expect_refusal(FOLDER_UTF8 "/none.yaml", FOLDER_UTF8 "/none.yaml: No such file");
  expect_refusal(FOLDER_UTF8, "is a folder");
  expect_refusal("NUL", "is neither a file nor a pipe");
  expect_refusal("\xff.yaml", "its name is not UTF-8");
}

/* ---- Plugins ---- */

static const recsort_plugin_info *list_with(const wchar_t *path)
{
  const recsort_plugin_info *list = NULL;
  assert_true(SetEnvironmentVariableW(L"RECSORT_PLUGIN_PATH", path));
  assert_int_equal(recsort_plugins_find(NULL, &list, NULL), RECSORT_OK);
  assert_true(SetEnvironmentVariableW(L"RECSORT_PLUGIN_PATH", NULL));
  return list;
}

static void test_plugins_in_a_folder_of_the_path(void **state)
{
  static wchar_t path[2 * MAX_PATH + 8];
  const recsort_plugin_info *list;
  (void)state;
  assert_true(GetCurrentDirectoryW(MAX_PATH, path) > 0);
  (void)wcscat(path, L"\\" FOLDER L";C:\\nowhere");
  list = list_with(path);
  assert_null(plugin_at(list, 2).name);
  assert_string_equal(plugin_at(list, 0).name, "scripted");
  assert_true(plugin_at(list, 0).score > 0);
  assert_string_equal(plugin_at(list, 0).path, in_folder("/librecsort_scripted.dll"));
  recsort_plugins_destroy(list);
}

/* A path without a drive depends on the current one. */
static void test_only_whole_paths_are_searched(void **state)
{
  const recsort_plugin_info *const list =
      list_with(L"" FOLDER L";\\nowhere;/nowhere;C:nowhere;C:\\nowhere;D:/nowhere;\\\\.\\nowhere");
  (void)state;
  assert_null(plugin_at(list, 1 + 4).name);
  for (size_t i = 1; i < 5; i++) {
    assert_int_equal(plugin_at(list, i).score, 0);
    assert_non_null(strstr(plugin_at(list, i).reason, "absolute"));
  }
  assert_string_equal(plugin_at(list, 1).name, FOLDER_UTF8);
  recsort_plugins_destroy(list);
}

/* ---- A library that is loaded and unloaded ---- */

#define GET(library, name)                                                                         \
  __typeof__(name) *const name##_ = (__typeof__(name) *)find(library, #name)

typedef void function(void);

static function *find(HMODULE library, const char *name)
{
  function *const found = (function *)GetProcAddress(library, name);
  assert_non_null(found);
  return found;
}

static HMODULE load_copy(void)
{
  const HMODULE library = LoadLibraryW(FOLDER L"\\librecsort.dll");
  assert_non_null(library);
  return library;
}

static bool copy_is_loaded(void)
{
  wchar_t path[2 * MAX_PATH];
  assert_true(GetCurrentDirectoryW(MAX_PATH, path) > 0);
  return GetModuleHandleW(wcscat(path, L"\\" FOLDER L"\\librecsort.dll")) != NULL;
}

static void test_the_folder_beside_the_library(void **state)
{
  const HMODULE library = load_copy();
  GET(library, recsort_plugins_find);
  GET(library, recsort_plugins_destroy);
  const recsort_plugin_info *list = NULL;
  (void)state;
  assert_int_equal(recsort_plugins_find_(NULL, &list, NULL), RECSORT_OK);
  assert_null(plugin_at(list, 2).name);
  assert_string_equal(list->name, "scripted");
  assert_string_equal(list->path, in_folder("/recsort/librecsort_scripted.dll"));
  recsort_plugins_destroy_(list);
  assert_true(FreeLibrary(library));
  assert_false(copy_is_loaded()); /* it has had no threads */
}

/* With threads it stays, and the process ends as usual. */
static void test_a_library_with_threads_stays(void **state)
{
  enum { COUNT = 300000 };
  static uint32_t records[COUNT];
  const HMODULE library = load_copy();
  GET(library, recsort_schema_create);
  GET(library, recsort_schema_destroy);
  GET(library, recsort_sorter_create);
  GET(library, recsort_sorter_destroy);
  GET(library, recsort_sort);
  const recsort_field_desc field = {.name = "key", .type = RECSORT_UINT32};
  const recsort_key_desc key = {.path = "key"};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "R",
                                    .fields = &field,
                                    .field_count = 1,
                                    .keys = &key,
                                    .key_count = 1};
  const recsort_options options = {.struct_size = sizeof options, .plugin = "cpu", .threads = 4};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  (void)state;
  for (uint32_t i = 0; i < COUNT; i++)
    records[i] = i * 2654435761u >> 12;
  assert_int_equal(recsort_schema_create_(&desc, NULL, &schema, NULL), RECSORT_OK);
  assert_int_equal(recsort_sorter_create_(schema, &options, &sorter, NULL), RECSORT_OK);
  assert_int_equal(recsort_sort_(sorter, records, COUNT, NULL), RECSORT_OK);
  for (size_t i = 1; i < COUNT; i++)
    assert_true(records[i - 1] <= records[i]);
  recsort_sorter_destroy_(sorter);
  recsort_schema_destroy_(schema);
  for (int i = 0; i < 3; i++)
    assert_true(FreeLibrary(library));
  assert_true(copy_is_loaded());
  Sleep(20); /* its threads fall asleep */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_schema_is_read_as_bytes),
      cmocka_unit_test(test_names_are_utf8),
      cmocka_unit_test(test_plugins_in_a_folder_of_the_path),
      cmocka_unit_test(test_only_whole_paths_are_searched),
      cmocka_unit_test(test_the_folder_beside_the_library),
      cmocka_unit_test(test_a_library_with_threads_stays),
  };
  return cmocka_run_group_tests_name("windows", tests, make_folders, NULL);
}

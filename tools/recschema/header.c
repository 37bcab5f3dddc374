/* header.c - see header.h. */
#include "recschema/header.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "recsort/tools.h"

/* A field and the structs around it; the outermost is first printed. */
typedef struct place {
  const struct place *outer; /* NULL: the record */
  const recsort_field_desc *siblings;
  const recsort_field_desc *field;
} place;

/* ---- Names -------------------------------------------------------------------------------- */

/* Words that no member can have as its name: of C, of C++, and macros of gcc and the headers. */
static const char words[] =
    " alignas alignof and and_eq asm assert auto bitand bitor bool break case catch char char8_t "
    "char16_t char32_t class co_await co_return co_yield compl concept const const_cast consteval "
    "constexpr constinit continue decltype default delete do double dynamic_cast else enum "
    "explicit export extern false float for friend goto if inline int linux long mutable "
    "namespace new noexcept not not_eq NULL nullptr offsetof operator or or_eq private protected "
    "public register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef "
    "typeid typename union unix unsigned using virtual void volatile wchar_t while xor xor_eq ";

static bool is_word(const char *name)
{
  const size_t length = strlen(name);
  for (const char *at = words; (at = strstr(at, name)) != NULL; at++)
    if (at[-1] == ' ' && at[length] == ' ') return true;
  return false;
}

/* What stands for a character of a name. */
static char identifier_char(char c)
{
  return isalnum((unsigned char)c) && (unsigned char)c < 128 ? c : '_';
}

static bool is_identifier(const char *name)
{
  for (const char *c = name; *c != '\0'; c++)
    if (identifier_char(*c) != *c) return false;
  return !isdigit((unsigned char)*name) && !is_word(name);
}

static bool same_identifier(const char *a, const char *b)
{
  while (*a != '\0' && identifier_char(*a) == identifier_char(*b))
    a++, b++;
  return *a == '\0' && *b == '\0';
}

static void put_identifier(const char *name, bool upper)
{
  if (isdigit((unsigned char)*name) || *name == '\0') putchar('_');
  for (const char *c = name; *c != '\0'; c++)
    putchar(upper ? toupper((unsigned char)identifier_char(*c)) : identifier_char(*c));
  if (is_word(name)) putchar('_');
}

/* The name of a member; its offset is added if another one before it has the same. */
static void put_member(const recsort_field_desc *siblings, const recsort_field_desc *field)
{
  put_identifier(field->name, false);
  for (const recsort_field_desc *other = siblings; other < field; other++) {
    if (!same_identifier(other->name, field->name)) continue;
    printf("_at_%zu", field->offset);
    return;
  }
}

static void put_path(const place *at, const char *between)
{
  if (at->outer != NULL) {
    put_path(at->outer, between);
    if (*between == '.' && at->outer->field->count != 0) printf("[0]");
    printf("%s", between);
  }
  put_member(at->siblings, at->field);
}

/* Text inside a comment or a string, which it must not end. */
static void put_text(const char *text)
{
  for (const char *c = text; *c != '\0'; c++)
    putchar(*c == '/' || *c == '"' || *c == '\\' ? '_' : *c);
}

/* ---- Layout ------------------------------------------------------------------------------- */

typedef struct shape {
  size_t alignment;
  bool packed; /* some member is not where its alignment would put it */
} shape;

static shape shape_of(const recsort_field_desc *fields, size_t count, size_t size);

static size_t alignment_of(const recsort_field_desc *field)
{
  if (field->type == RECSORT_STRUCT)
    return shape_of(field->fields, field->field_count, field->size).alignment;
  const recsort_type_info *const info =
      recsort_type_describe(field->type == RECSORT_ENUM ? field->base : field->type);
  const bool is_bytes = info->type_class == RECSORT_CLASS_BYTES; /* an array of characters in C */
  return is_bytes || info->alignment == 0 ? 1 : info->alignment;
}

static shape shape_of(const recsort_field_desc *fields, size_t count, size_t size)
{
  shape found = {.alignment = 1};
  for (size_t i = 0; i < count; i++) {
    if (fields[i].type == RECSORT_BITFIELD) continue;
    const size_t alignment = alignment_of(&fields[i]);
    if (alignment > found.alignment) found.alignment = alignment;
    if (fields[i].offset % alignment != 0) found.packed = true;
  }
  if (size % found.alignment != 0) found.packed = true;
  if (found.packed) found.alignment = 1;
  return found;
}

static size_t round_up(size_t size, size_t alignment)
{
  return (size + alignment - 1) / alignment * alignment;
}

/* ---- Members ------------------------------------------------------------------------------ */

static void print_members(const place *outer, const recsort_field_desc *fields, size_t count,
                          size_t size, int depth);

static void print_struct(const place *outer, const recsort_field_desc *fields, size_t count,
                         size_t size, int depth)
{
  printf("%s{\n", shape_of(fields, count, size).packed ? "__attribute__((packed)) " : "");
  print_members(outer, fields, count, size, depth + 1);
  printf("%*s}", 2 * depth, "");
}

/* True for integers of which C has no type: their members are bytes. */
static bool lacks_type(const recsort_type_info *info)
{
  const bool is_integer =
      info->type_class == RECSORT_CLASS_SIGNED || info->type_class == RECSORT_CLASS_UNSIGNED;
  const unsigned bits = info->bits;
  return is_integer && bits != 8 && bits != 16 && bits != 32 && bits != 64;
}

/* The C type of a member's elements. A float that C may lack is an integer of its size. */
static void print_type(const place *at, int depth)
{
  const recsort_field_desc *const field = at->field;
  const recsort_type type = field->type == RECSORT_ENUM ? field->base : field->type;
  const recsort_type_info *const info = recsort_type_describe(type);
  switch (info->type_class) {
  case RECSORT_CLASS_BOOL:
    printf("bool");
    return;
  case RECSORT_CLASS_SIGNED:
  case RECSORT_CLASS_UNSIGNED:
    if (lacks_type(info))
      printf("unsigned char");
    else
      printf("%sint%u_t", info->type_class == RECSORT_CLASS_SIGNED ? "" : "u", 8 * info->size);
    return;
  case RECSORT_CLASS_WIDE:
    printf("__extension__ %s__int128", type == RECSORT_INT128 ? "" : "unsigned ");
    return;
  case RECSORT_CLASS_TIME:
    printf("int64_t");
    return;
  case RECSORT_CLASS_FLOAT:
    printf("%s", info->size == 1   ? "unsigned char"
                 : info->size == 2 ? "uint16_t"
                 : info->size == 4 ? "float"
                                   : "double");
    return;
  case RECSORT_CLASS_BYTES:
    printf("%s", type == RECSORT_CHAR || type == RECSORT_CSTRING ? "char" : "unsigned char");
    return;
  case RECSORT_CLASS_STRUCT:
    printf("struct ");
    print_struct(at, field->fields, field->field_count, field->size, depth);
    return;
  case RECSORT_CLASS_ENUM: /* it has its base's class */
  case RECSORT_CLASS_BITFIELD:
  case RECSORT_CLASS_NONE:
    return;
  }
}

/* What the C type does not say. */
static void print_remarks(const recsort_field_desc *field)
{
  const recsort_type_info *const info =
      recsort_type_describe(field->type == RECSORT_ENUM ? field->base : field->type);
  const bool is_short_float = info->type_class == RECSORT_CLASS_FLOAT && info->size <= 2;
  const bool big = info->size > 1 && field->endian == RECSORT_BIG_ENDIAN &&
                   info->type_class != RECSORT_CLASS_BYTES;
  const bool renamed = !is_identifier(field->name);
  const char *const scale = field->scale;
  const bool is_named = is_short_float || lacks_type(info) ||
                        info->type_class == RECSORT_CLASS_TIME ||
                        (info->type_class == RECSORT_CLASS_BYTES && info->size > 1);
  if (!is_named && !big && !renamed && !scale && !field->null_count) return;
  printf(" /*");
  if (renamed) {
    printf(" \"");
    put_text(field->name);
    putchar('"');
  }
  if (is_named) printf(" %s", info->name);
  if (big) printf(" big-endian");
  if (scale) printf(" times %s", scale);
  for (size_t i = 0; i < field->null_count; i++) {
    printf(i == 0 ? " null if " : " or ");
    if (info->type_class == RECSORT_CLASS_SIGNED)
      printf("%" PRId64, field->nulls[i]);
    else
      printf("%" PRIu64, (uint64_t)field->nulls[i]);
  }
  printf(" */");
}

static void print_bitfield(const place *at, int depth)
{
  const recsort_field_desc *const field = at->field, *base = at->siblings;
  while (strcmp(base->name, field->bit_base) != 0)
    base++;
  printf("%*s/* ", 2 * depth, "");
  put_text(field->name);
  printf(field->width > 1 ? ": bits %" PRIu32 " to %" PRIu32 " of " : ": bit %" PRIu32 " of ",
         field->bit, field->bit + field->width - 1);
  put_member(at->siblings, base);
  printf(" */\n");
}

static void print_padding(size_t from, size_t to, int depth)
{
  if (from < to) printf("%*sunsigned char padding_at_%zu[%zu];\n", 2 * depth, "", from, to - from);
}

/* Members that C pads by itself stand without padding. */
static void print_members(const place *outer, const recsort_field_desc *fields, size_t count,
                          size_t size, int depth)
{
  const shape natural = shape_of(fields, count, size);
  size_t end = 0;
  for (size_t i = 0; i < count; i++) {
    const recsort_field_desc *const field = &fields[i];
    const place at = {outer, fields, field};
    if (field->type == RECSORT_BITFIELD) {
      print_bitfield(&at, depth);
      continue;
    }
    if (round_up(end, natural.packed ? 1 : alignment_of(field)) != field->offset)
      print_padding(end, field->offset, depth);
    printf("%*s", 2 * depth, "");
    print_type(&at, depth);
    putchar(' ');
    put_member(fields, field);
    if (field->count != 0) printf("[%zu]", field->count);
    const recsort_type_info *const info =
        recsort_type_describe(field->type == RECSORT_ENUM ? field->base : field->type);
    const bool is_bytes = info->type_class == RECSORT_CLASS_BYTES || lacks_type(info);
    if (is_bytes && field->size > 1) printf("[%zu]", field->size);
    putchar(';');
    print_remarks(field);
    putchar('\n');
    end = field->offset + field->size * (field->count != 0 ? field->count : 1);
  }
  if (round_up(end, natural.alignment) != size) print_padding(end, size, depth);
}

/* ---- Names of values, and assertions ------------------------------------------------------ */

/* Whether every value is one of C's enums. */
static bool fits_int(const recsort_field_desc *field)
{
  const bool is_unsigned = recsort_type_describe(field->base)->type_class == RECSORT_CLASS_UNSIGNED;
  for (size_t i = 0; i < field->enumerator_count; i++) {
    const int64_t value = field->enumerators[i].value; /* of 64 bits if it is unsigned */
    if (value < (is_unsigned ? 0 : INT32_MIN) || value > INT32_MAX) return false;
  }
  return field->enumerator_count > 0;
}

static void print_values(const char *record, const place *at)
{
  const recsort_field_desc *const field = at->field;
  if (!fits_int(field)) return;
  printf("enum {");
  for (size_t i = 0; i < field->enumerator_count; i++) {
    printf("%s\n  ", i > 0 ? "," : "");
    put_identifier(record, false);
    putchar('_');
    put_path(at, "_");
    putchar('_');
    put_identifier(field->enumerators[i].name, false);
    printf(" = %" PRId64, field->enumerators[i].value);
  }
  printf("\n};\n");
}

static void print_assertion(const char *record, const place *at)
{
  if (at->field->type == RECSORT_BITFIELD) return;
  size_t offset = 0;
  for (const place *p = at; p != NULL; p = p->outer)
    offset += p->field->offset;
  printf("static_assert(offsetof(struct ");
  put_identifier(record, false);
  printf(", ");
  put_path(at, ".");
  printf(") == %zu, \"", offset);
  put_text(at->field->name);
  printf("\");\n");
}

typedef void (*visit_call)(const char *record, const place *at);

static void visit(const char *record, const place *outer, const recsort_field_desc *fields,
                  size_t count, visit_call call)
{
  for (size_t i = 0; i < count; i++) {
    const place at = {outer, fields, &fields[i]};
    call(record, &at);
    visit(record, &at, fields[i].fields, fields[i].field_count, call);
  }
}

static void print_guard(const char *begin, const char *record)
{
  printf("%s ", begin);
  put_identifier(record, true);
  printf("_RECORD_H\n");
}

/* What a place of a file is; NULL: nothing that a program has to write. */
static const char *meaning_of(recsort_place_kind kind)
{
  switch (kind) {
  case RECSORT_PLACE_SKIP:
    return "the offset of the first record";
  case RECSORT_PLACE_COUNT:
    return "the number of records";
  case RECSORT_PLACE_LENGTH:
    return "the length of all records";
  case RECSORT_PLACE_AFTER:
    return "an offset behind the records";
  case RECSORT_PLACE_SIZE:
    return "the size of a record";
  case RECSORT_PLACE_HEAP:
    return "the length of what is between records and padding";
  case RECSORT_PLACE_SKIP_LINE:
  case RECSORT_PLACE_SKIP_LINES:
  case RECSORT_PLACE_EXPECT:
    break;
  }
  return NULL;
}

static void print_place(const recsort_place_desc *at)
{
  const char *const meaning = meaning_of(at->kind);
  if (meaning == NULL) return;
  if (at->field == NULL) {
    printf("/* The number behind \"");
    put_text(at->word);
    printf("\" in the header");
  } else {
    printf("/* The %s at byte %zu %s",
           at->field->type == RECSORT_CHAR ? "text" : recsort_type_describe(at->field->type)->name,
           at->field->offset, at->behind ? "behind the records" : "of a file");
  }
  printf(" is %s", meaning);
  if (at->unit > 1) printf(", in units of %" PRIu32 " bytes", at->unit);
  if (at->plus != 0) printf(", and %" PRId64 " bytes", at->plus);
  printf("%s. */\n", at->when != NULL ? ", in some files" : "");
}

/* Where the records of a file are. */
static void print_file(const recsort_schema_desc *file)
{
  for (size_t i = 0; i < file->place_count; i++)
    print_place(&file->places[i]);
  if (file->skip != 0)
    printf("/* A file has %" PRIu64 " bytes before the first record. */\n", file->skip);
  if (file->count != 0) printf("/* A file has %" PRIu64 " records. */\n", file->count);
  if (file->pad_to != 0)
    printf("/* Bytes of %u follow the records, up to a multiple of %" PRIu32 ". */\n",
           file->pad_with, file->pad_to);
  if (file->trailer != 0 && file->trailer != RECSORT_ANY_TRAILER)
    printf("/* A file has %" PRIu64 " bytes after the last record. */\n", file->trailer);
  if (file->repeat) printf("/* Headers and records are repeated. */\n");
}

void header_print(const recsort_schema *schema)
{
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  const recsort_field_desc *const fields = desc->fields;
  const size_t count = desc->field_count, size = desc->size;
  const char *const record = desc->record;
  printf("/* Made by recschema --emit-header: change the schema, not this file. */\n");
  print_guard("#ifndef", record);
  print_guard("#define", record);
  printf("\n#include <assert.h>\n#include <stdbool.h>\n#include <stddef.h>\n"
         "#include <stdint.h>\n\n");
  visit(record, NULL, fields, count, print_values);
  print_file(desc);
  printf("struct ");
  if (shape_of(fields, count, size).packed) printf("__attribute__((packed)) ");
  put_identifier(record, false);
  printf(" {\n");
  print_members(NULL, fields, count, size, 1);
  printf("};\n\nstatic_assert(sizeof(struct ");
  put_identifier(record, false);
  printf(") == %zu, \"the size of a record\");\n", size);
  visit(record, NULL, fields, count, print_assertion);
  printf("\n#endif\n");
}

/* members.c - see members.h. */
#include "recschema/dwarf/members.h"

#include "support/message.h"

#include <ctype.h>
#include <dwarf.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A member, with those of unnamed structs and of base classes in one list. */
typedef struct member {
  const char *name;
  Dwarf_Die type; /* without typedefs and qualifiers */
  uint64_t bit;   /* its first one in memory, from the start of the struct */
  uint64_t width; /* in bits; 0: no bit-field */
  bool of_union;  /* the others of its union are not in the list */
} member;

typedef struct members {
  member *at;
  size_t count;
} members;

typedef struct writer {
  FILE *out;
  bool big;
  int depth; /* of the list of fields */
} writer;

/* ---- Debug information -------------------------------------------------------------------- */

static bool number_of(Dwarf_Die *die, unsigned name, uint64_t *value)
{
  Dwarf_Attribute attribute;
  Dwarf_Word word;
  if (dwarf_attr_integrate(die, name, &attribute) == NULL) return false;
  if (dwarf_formudata(&attribute, &word) != 0) return false;
  *value = word;
  return true;
}

/* Where a member begins; DWARF 2 writes an expression that adds a constant. */
static bool location_of(Dwarf_Die *die, uint64_t *location)
{
  Dwarf_Attribute attribute;
  Dwarf_Op *steps;
  size_t count;
  *location = 0; /* of a union's members */
  if (dwarf_attr_integrate(die, DW_AT_data_member_location, &attribute) == NULL) return true;
  if (number_of(die, DW_AT_data_member_location, location)) return true;
  if (dwarf_getlocation(&attribute, &steps, &count) != 0 || count != 1) return false;
  *location = steps[0].number;
  return steps[0].atom == DW_OP_plus_uconst;
}

/* The type of a member, of an array's elements, or of a base class. It may be in a unit of its own
 * (-fdebug-types-section), with a signature in its place. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(die, DW_AT_type, &attribute) == NULL ||
      dwarf_formref_die(&attribute, type) == NULL || dwarf_peel_type(type, type) != 0)
    return false;
  return dwarf_attr(type, DW_AT_signature, &attribute) == NULL ||
         dwarf_formref_die(&attribute, type) != NULL;
}

static bool has(Dwarf_Die *die, unsigned name)
{
  return dwarf_hasattr_integrate(die, name) != 0;
}

static bool is_struct(Dwarf_Die *type)
{
  const int tag = dwarf_tag(type);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* The elements of an array, in all its dimensions; 0: not known. */
static uint64_t elements_of(Dwarf_Die *array)
{
  uint64_t product = 1;
  Dwarf_Die die;
  for (int rest = dwarf_child(array, &die); rest == 0; rest = dwarf_siblingof(&die, &die)) {
    uint64_t count;
    if (dwarf_tag(&die) != DW_TAG_subrange_type) continue;
    if (!number_of(&die, DW_AT_count, &count))
      count = number_of(&die, DW_AT_upper_bound, &count) ? count + 1 : 0;
    if (__builtin_mul_overflow(product, count, &product)) return 0;
  }
  return product;
}

/* 0: not known, or none. */
static uint64_t size_of(Dwarf_Die *type)
{
  Dwarf_Die element;
  Dwarf_Word size;
  if (dwarf_tag(type) != DW_TAG_array_type)
    return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
  if (!type_of(type, &element)) return 0;
  return __builtin_mul_overflow(elements_of(type), size_of(&element), &size) ? 0 : size;
}

/* Where a bit-field begins. Before DWARF 4 its place was told from the most significant bit of an
 * integer in memory. */
static bool bit_of(Dwarf_Die *die, Dwarf_Die *type, uint64_t location, uint64_t width, bool big,
                   uint64_t *bit)
{
  Dwarf_Attribute attribute;
  Dwarf_Sword before = 0;
  uint64_t bytes;
  if (number_of(die, DW_AT_data_bit_offset, bit)) return true;
  *bit = 8 * location;
  if (dwarf_attr_integrate(die, DW_AT_bit_offset, &attribute) == NULL) return true;
  if (dwarf_formsdata(&attribute, &before) != 0) return false;
  if (!number_of(die, DW_AT_byte_size, &bytes)) bytes = size_of(type);
  *bit += big ? (uint64_t)before : 8 * bytes - (uint64_t)before - width;
  return true;
}

/* ---- The list ----------------------------------------------------------------------------- */

static bool append(members *list, const member *added)
{
  member *const at = realloc(list->at, (list->count + 1) * sizeof *at);
  if (at == NULL) {
    tool_error_memory((list->count + 1) * sizeof *at);
    return false;
  }
  at[list->count++] = *added;
  list->at = at;
  return true;
}

static bool collect(Dwarf_Die *type, uint64_t bit, bool big, bool of_union, members *list);

static bool collect_member(Dwarf_Die *die, uint64_t bit, bool big, bool of_union, members *list)
{
  member added = {.name = dwarf_diename(die), .of_union = of_union};
  uint64_t location;
  if (!type_of(die, &added.type) || !location_of(die, &location) ||
      (has(die, DW_AT_bit_size) && !number_of(die, DW_AT_bit_size, &added.width)) ||
      !bit_of(die, &added.type, location, added.width, big, &added.bit)) {
    tool_error("member \"%s\": its place is not fixed", added.name != NULL ? added.name : "");
    return false;
  }
  added.bit += bit;
  if (added.name == NULL || dwarf_tag(die) == DW_TAG_inheritance)
    return !is_struct(&added.type) || collect(&added.type, added.bit, big, of_union, list);
  return append(list, &added);
}

/* Members of the class, not of its objects, and pointers to tables of functions are left out. */
static bool counts(Dwarf_Die *die)
{
  const int tag = dwarf_tag(die);
  return (tag == DW_TAG_member || tag == DW_TAG_inheritance) && !has(die, DW_AT_external) &&
         !has(die, DW_AT_artificial);
}

/* Of a union, its first member stands for all. */
static bool collect(Dwarf_Die *type, uint64_t bit, bool big, bool of_union, members *list)
{
  const bool is_union = dwarf_tag(type) == DW_TAG_union_type;
  const size_t before = list->count;
  Dwarf_Die die;
  int rest = dwarf_child(type, &die);
  for (; rest == 0 && !(is_union && list->count > before); rest = dwarf_siblingof(&die, &die)) {
    if (counts(&die) && !collect_member(&die, bit, big, of_union || is_union, list)) return false;
  }
  return rest >= 0;
}

/* ---- YAML --------------------------------------------------------------------------------- */

void members_print_name(const char *name, FILE *out)
{
  /* what YAML takes for something other than text */
  static const char *const words[] = {"yes", "no", "on", "off", "true", "false", "null", "nan"};
  bool plain = isalpha((unsigned char)*name) || *name == '_';
  for (const char *c = name; *c != '\0'; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') plain = false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcasecmp(name, words[i]) == 0) plain = false;
  if (!plain) putc('"', out);
  for (const char *c = name; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\') putc('\\', out);
    putc(*c, out);
  }
  if (!plain) putc('"', out);
}

static void indent(const writer *w)
{
  fprintf(w->out, "%*s", 4 * w->depth + 2, "");
}

static void begin_field(const writer *w, const char *name)
{
  indent(w);
  fputs("- {name: ", w->out);
  members_print_name(name, w->out);
}

static void print_raw(const writer *w, const char *name, uint64_t offset, uint64_t size)
{
  begin_field(w, name);
  fprintf(w->out, ", type: bytes, count: %" PRIu64 ", offset: %" PRIu64 "}", size, offset);
}

/* ---- Types -------------------------------------------------------------------------------- */

/* A number's type; false if the schema has none for it. */
static bool number_type(Dwarf_Die *type, char *text, size_t room)
{
  const uint64_t size = size_of(type);
  const char *const name = dwarf_diename(type);
  uint64_t encoding = 0;
  const char *kind = "uint";
  number_of(type, DW_AT_encoding, &encoding);
  if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) return false;
  if (dwarf_tag(type) == DW_TAG_base_type) {
    switch (encoding) {
    case DW_ATE_boolean:
      if (size == 1) kind = NULL;
      break;
    case DW_ATE_signed_char:
    case DW_ATE_signed:
      kind = "int";
      break;
    case DW_ATE_unsigned_char:
    case DW_ATE_unsigned:
    case DW_ATE_UTF:
      break;
    case DW_ATE_float:
      kind = size == 2 && name != NULL && strstr(name, "bf") != NULL ? "bfloat" : "float";
      if (size == 1 || size == 16) return false;
      break;
    default:
      return false;
    }
  } else if (dwarf_tag(type) == DW_TAG_array_type || is_struct(type) || size == 16) {
    return false;
  }
  if (kind == NULL) {
    snprintf(text, room, "bool");
  } else if (size == 1 && name != NULL && strcmp(name, "char") == 0) {
    snprintf(text, room, "char");
  } else {
    snprintf(text, room, "%s%" PRIu64, kind, 8 * size);
  }
  return true;
}

/* Whether the bytes of a member are one value, text or raw, if it is an array. */
static bool is_byte(Dwarf_Die *type)
{
  const char *const name = dwarf_diename(type);
  if (size_of(type) != 1 || name == NULL) return false;
  return strcmp(name, "char") == 0 || strcmp(name, "unsigned char") == 0 ||
         strcmp(name, "byte") == 0;
}

/* The dimensions of an array, also of arrays of it. */
static size_t dimensions_of(Dwarf_Die type)
{
  size_t count = 0;
  Dwarf_Die die;
  do {
    if (dwarf_tag(&type) != DW_TAG_array_type) break;
    for (int rest = dwarf_child(&type, &die); rest == 0; rest = dwarf_siblingof(&die, &die))
      count += dwarf_tag(&die) == DW_TAG_subrange_type;
  } while (type_of(&type, &type));
  return count;
}

/* The type of an array of bytes: of char, a C string if it has one dimension, else text as a whole.
 */
static const char *bytes_type(const Dwarf_Die *array, Dwarf_Die *element)
{
  if (strcmp(dwarf_diename(element), "char") != 0) return "bytes";
  return dimensions_of(*array) == 1 ? "cstring" : "char";
}

static bool value_of(Dwarf_Die *die, bool is_unsigned, int64_t *value)
{
  Dwarf_Attribute attribute;
  Dwarf_Sword number;
  Dwarf_Word word;
  if (dwarf_attr(die, DW_AT_const_value, &attribute) == NULL) return false;
  if (is_unsigned) {
    if (dwarf_formudata(&attribute, &word) != 0) return false;
    *value = (int64_t)word;
    return true;
  }
  if (dwarf_formsdata(&attribute, &number) != 0) return false;
  *value = number;
  return true;
}

/* Calls for each value of an enum; how many there are. */
static size_t each_value(Dwarf_Die *type, bool is_unsigned, int64_t *least, FILE *out)
{
  size_t count = 0;
  Dwarf_Die die;
  for (int rest = dwarf_child(type, &die); rest == 0; rest = dwarf_siblingof(&die, &die)) {
    int64_t value;
    if (dwarf_tag(&die) != DW_TAG_enumerator || !value_of(&die, is_unsigned, &value)) continue;
    if (value < *least) *least = value;
    if (out != NULL) {
      fputs(count > 0 ? ", {name: " : "{name: ", out);
      members_print_name(dwarf_diename(&die), out);
      if (is_unsigned)
        fprintf(out, ", value: %" PRIu64 "}", (uint64_t)value);
      else
        fprintf(out, ", value: %" PRId64 "}", value);
    }
    count++;
  }
  return count;
}

/* Whether an enum has unsigned integers: DWARF may name their type; otherwise the values decide. */
static bool is_unsigned_enum(Dwarf_Die *type)
{
  Dwarf_Die base;
  uint64_t encoding;
  int64_t least = 0;
  if (type_of(type, &base) && number_of(&base, DW_AT_encoding, &encoding))
    return encoding != DW_ATE_signed && encoding != DW_ATE_signed_char;
  each_value(type, false, &least, NULL);
  return least >= 0;
}

static bool is_signed(Dwarf_Die *type)
{
  uint64_t encoding;
  if (dwarf_tag(type) == DW_TAG_enumeration_type) return !is_unsigned_enum(type);
  return number_of(type, DW_AT_encoding, &encoding) &&
         (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char);
}

/* ---- Fields ------------------------------------------------------------------------------- */

static bool print_members(const writer *w, const members *list, uint64_t size);

static void print_remark(const writer *w, const member *m, const char *remark)
{
  if (remark != NULL) fprintf(w->out, " # %s", remark);
  if (m->of_union) fprintf(w->out, " %s", remark != NULL ? "; one of a union" : "# one of a union");
  putc('\n', w->out);
}

/* A struct, or an array of `count` of them (0: no array). One without members is raw bytes. */
static bool print_struct(const writer *w, const member *m, Dwarf_Die *type, uint64_t count)
{
  const writer inner = {w->out, w->big, w->depth + 1};
  const uint64_t size = size_of(type);
  members list = {0};
  bool done = collect(type, 0, w->big, false, &list);
  if (done && list.count == 0) {
    print_raw(w, m->name, m->bit / 8, size * (count > 0 ? count : 1));
    print_remark(w, m, NULL);
  } else if (done) {
    indent(w);
    fputs("- name: ", w->out);
    members_print_name(m->name, w->out);
    if (m->of_union) fputs(" # one of a union", w->out);
    fprintf(w->out, "\n%*stype: struct\n", 4 * w->depth + 4, "");
    fprintf(w->out, "%*soffset: %" PRIu64 "\n", 4 * w->depth + 4, "", m->bit / 8);
    if (count > 0) fprintf(w->out, "%*scount: %" PRIu64 "\n", 4 * w->depth + 4, "", count);
    fprintf(w->out, "%*sfields:\n", 4 * w->depth + 4, "");
    done = print_members(&inner, &list, size);
  }
  free(list.at);
  return done;
}

static void print_enum(const writer *w, const member *m, Dwarf_Die *type, uint64_t count)
{
  const bool is_unsigned = is_unsigned_enum(type);
  int64_t least = 0;
  begin_field(w, m->name);
  if (each_value(type, is_unsigned, &least, NULL) == 0) {
    fprintf(w->out, ", type: %sint%" PRIu64, is_unsigned ? "u" : "", 8 * size_of(type));
  } else {
    fprintf(w->out, ", type: enum, base: %sint%" PRIu64 ", values: [", is_unsigned ? "u" : "",
            8 * size_of(type));
    each_value(type, is_unsigned, &least, w->out);
    putc(']', w->out);
  }
  if (count > 0) fprintf(w->out, ", count: %" PRIu64, count);
  fprintf(w->out, ", offset: %" PRIu64 "}", m->bit / 8);
  print_remark(w, m, NULL);
}

static bool print_member(const writer *w, const member *m)
{
  char number[16];
  Dwarf_Die type = m->type;
  const uint64_t size = size_of(&type);
  while (dwarf_tag(&type) == DW_TAG_array_type && type_of(&type, &type)) {
  }
  const uint64_t element = size_of(&type);
  if (size == 0 || element == 0) {
    indent(w);
    fprintf(w->out, "# %s is left out: it has no fixed size\n", m->name);
    return true;
  }
  const uint64_t count = dwarf_tag((Dwarf_Die *)&m->type) == DW_TAG_array_type ? size / element : 0;
  if (is_struct(&type)) return print_struct(w, m, &type, count);
  if (count > 0 && is_byte(&type)) {
    begin_field(w, m->name);
    fprintf(w->out, ", type: %s, count: %" PRIu64 ", offset: %" PRIu64 "}",
            bytes_type(&m->type, &type), count, m->bit / 8);
    print_remark(w, m, NULL);
  } else if (dwarf_tag(&type) == DW_TAG_enumeration_type) {
    print_enum(w, m, &type, count);
  } else if (number_type(&type, number, sizeof number)) {
    begin_field(w, m->name);
    fprintf(w->out, ", type: %s", number);
    if (count > 0) fprintf(w->out, ", count: %" PRIu64, count);
    fprintf(w->out, ", offset: %" PRIu64 "}", m->bit / 8);
    print_remark(w, m, dwarf_tag(&type) == DW_TAG_base_type ? NULL : "an address");
  } else {
    print_raw(w, m->name, m->bit / 8, size);
    print_remark(w, m, dwarf_diename(&type));
  }
  return true;
}

/* ---- Bit-fields --------------------------------------------------------------------------- */

/* Bytes [from, to) with bit-fields `first` to `last` - 1 of a list, and with no other member. */
typedef struct bits {
  size_t first, last;
  uint64_t from, to;
} bits;

static bool is_bits(const members *list, size_t place)
{
  return place < list->count && list->at[place].width > 0;
}

/* Adds the next bit-field, and those that share its bytes. */
static void add_bits(bits *b, const members *list)
{
  do {
    const member *const m = &list->at[b->last++];
    const uint64_t end = (m->bit + m->width + 7) / 8;
    if (end > b->to) b->to = end;
  } while (is_bits(list, b->last) && list->at[b->last].bit / 8 < b->to);
}

/* Makes them the bytes of the smallest integer that lies between bytes `least` and `most`. False if
 * there is none. */
static bool widen(bits *b, uint64_t least, uint64_t most)
{
  for (uint64_t size = 1; size <= 8; size *= 2) {
    if (size < b->to - b->from || size > most - least) continue;
    if (b->from + size > most) b->from = most - size;
    b->to = b->from + size;
    return true;
  }
  return false;
}

/* Finds as many bit-fields, from `first` on, as one integer holds that overlaps no other member:
 * after byte `least`, in a struct of `size` bytes. False: no integer holds those of `found`. */
static bool find_bits(const members *list, size_t first, uint64_t least, uint64_t size, bits *found)
{
  bits all = {first, first, list->at[first].bit / 8, 0};
  bool fits = false;
  for (bool is_first = true; is_bits(list, all.last); is_first = false) {
    add_bits(&all, list);
    bits one = all;
    const uint64_t most = all.last < list->count ? list->at[all.last].bit / 8 : size;
    const bool holds = widen(&one, least, most);
    if (holds || is_first) *found = one;
    fits = fits || holds;
  }
  return fits;
}

static void print_bits(const writer *w, const members *list, const bits *b, bool fits)
{
  char base[40];
  snprintf(base, sizeof base, "bits at %" PRIu64, b->from);
  if (!fits) {
    print_raw(w, base, b->from, b->to - b->from);
    fputs(" # bit-fields that no integer holds:", w->out);
    for (size_t i = b->first; i < b->last; i++)
      fprintf(w->out, " %s", list->at[i].name);
    putc('\n', w->out);
    return;
  }
  begin_field(w, base);
  const uint64_t width = 8 * (b->to - b->from);
  fprintf(w->out, ", type: uint%" PRIu64 ", offset: %" PRIu64 "}\n", width, b->from);
  for (size_t i = b->first; i < b->last; i++) {
    const member *const m = &list->at[i];
    const uint64_t first = m->bit - 8 * b->from;
    begin_field(w, m->name);
    fprintf(w->out, ", type: bitfield, base: \"%s\", bit: %" PRIu64 ", width: %" PRIu64 "}", base,
            w->big ? width - first - m->width : first, m->width);
    print_remark(w, m, is_signed((Dwarf_Die *)&m->type) ? "signed; a schema's are not" : NULL);
  }
}

/* What is left of `size` bytes is padding, as an element of an array needs its whole size. */
static bool print_members(const writer *w, const members *list, uint64_t size)
{
  uint64_t end = 0;
  for (size_t i = 0; i < list->count;) {
    const member *const m = &list->at[i];
    if (m->width == 0) {
      if (!print_member(w, m)) return false;
      end = m->bit / 8 + size_of((Dwarf_Die *)&m->type);
      i++;
      continue;
    }
    bits b = {.first = i};
    const bool fits = find_bits(list, i, end, size, &b);
    print_bits(w, list, &b, fits);
    end = b.to;
    i = b.last;
  }
  if (end < size && w->depth > 0) {
    print_raw(w, "(padding)", end, size - end);
    putc('\n', w->out);
  }
  return true;
}

bool members_print(Dwarf_Die *type, bool big, FILE *out)
{
  const writer w = {out, big, 0};
  members list = {0};
  const bool done = collect(type, 0, big, false, &list) && print_members(&w, &list, size_of(type));
  free(list.at);
  return done;
}

/* path.c - finds the value that a key's path names: "stats.hp", "items[3].id". */
#include "base/assert.h"
#include "layout/layout.h"

#include <stdio.h>
#include <string.h>

#include "base/types.h"
#include "schema/words.h"

/* A path that is being followed; `rest` is still to be read. */
typedef struct walk {
  const recsort_key_desc *key;
  const char *source;
  recsort_error *error;
  const char *rest;
} walk;

#define REFUSE(walk, ...)                                                                          \
  rs_fail_at((walk)->error, RECSORT_INVALID_KEY,                                                   \
             (rs_place){(walk)->source, (walk)->key->line, (walk)->key->column}, __VA_ARGS__)

/* The part of the path that has been read, for "%.*s". */
#define SHOWN_SO_FAR(walk) shown_so_far(walk), (walk)->key->path

static int shown_so_far(const walk *w)
{
  const int shown = rs_shown_length(w->key->path);
  const ptrdiff_t read = w->rest - w->key->path;
  RS_ASSERT(read >= 0);
  return read < shown ? (int)read : shown;
}

/* The first names of fields, as many as there is room for: one at least. */
static void list_names(const recsort_field_desc *fields, size_t count, char *text, size_t size)
{
  RS_ASSERT(size > sizeof ", ...");
  size_t used = 0;
  *text = '\0';
  for (size_t i = 0; i < count; i++) {
    const size_t length = (size_t)rs_shown_length(fields[i].name);
    if (used + 2 + length + sizeof ", ..." > size) { /* 2: a comma and a blank */
      strcpy(text + used, ", ...");
      return;
    }
    used += (size_t)sprintf(text + used, "%s%.*s", i > 0 ? ", " : "", (int)length, fields[i].name);
    RS_ASSERT(used < size);
  }
}

static recsort_status refuse_name(const walk *w, const recsort_field_desc *fields, size_t count,
                                  const char *name, size_t length)
{
  char word[64] = "";
  memcpy(word, name, length < sizeof word - 1 ? length : sizeof word - 1);
  rs_guess guess = {.word = word};
  for (size_t i = 0; i < count; i++)
    rs_guess_offer(&guess, fields[i].name);
  if (length == 0)
    return REFUSE(w, "key \"%.*s\": a name is missing; say a path such as pos[2] or stats.hp",
                  RS_SHOWN(w->key->path));
  char known[160];
  list_names(fields, count, known, sizeof known);
  /* In Python -mag descends. */
  const bool descends = guess.nearest && word[0] == '-' && strcmp(word + 1, guess.nearest) == 0;
  return REFUSE(w, "key \"%.*s\": there is no field \"%.*s\"; %s %s%s%s", RS_SHOWN(w->key->path),
                RS_SHOWN(word), guess.nearest ? "did you mean" : "known here:",
                guess.nearest ? guess.nearest : known, descends ? " in the order desc" : "",
                guess.nearest ? "?" : "");
}

static recsort_status read_name(walk *w, const recsort_field_desc *fields, size_t count,
                                const recsort_field_desc **field)
{
  const char *name = w->rest;
  const size_t length = strcspn(name, ".[]");
  for (size_t i = 0; i < count; i++) {
    if (strncmp(fields[i].name, name, length) != 0 || fields[i].name[length]) continue;
    *field = &fields[i];
    w->rest = name + length;
    return RECSORT_OK;
  }
  return refuse_name(w, fields, count, name, length);
}

static recsort_status refuse_missing_index(const walk *w, const recsort_field_desc *field)
{
  if (field->type != RECSORT_STRUCT)
    return REFUSE(w, "key \"%.*s\": %.*s is an array of %s, not a struct", RS_SHOWN(w->key->path),
                  RS_SHOWN(field->name), recsort_type_describe(field->type)->name);
  return REFUSE(w, "key \"%.*s\": %.*s is an array of %zu; say which element, such as %.*s[0]",
                RS_SHOWN(w->key->path), RS_SHOWN(field->name), field->count, SHOWN_SO_FAR(w));
}

/* The index after an array's name; without it the path ends, and means the whole array. It has one
 * spelling only, so that equal keys have equal paths. */
static recsort_status read_index(walk *w, const recsort_field_desc *field, size_t *index,
                                 size_t *count)
{
  *index = 0;
  *count = 1;
  if (*w->rest != '[') {
    if (field->count && (*w->rest || field->type == RECSORT_STRUCT))
      return refuse_missing_index(w, field);
    if (field->count) *count = field->count;
    return RECSORT_OK;
  }
  if (!field->count)
    return REFUSE(w, "key \"%.*s\": %.*s is not an array; leave the index out",
                  RS_SHOWN(w->key->path), RS_SHOWN(field->name));
  const char *digits = w->rest + 1;
  const size_t length = strspn(digits, "0123456789");
  if (length == 0 || digits[length] != ']' || (length > 1 && digits[0] == '0'))
    return REFUSE(w, "key \"%.*s\": an index is written as in pos[2]", RS_SHOWN(w->key->path));
  for (size_t i = 0; i < length && *index < field->count; i++)
    *index = *index * 10 + (size_t)(digits[i] - '0');
  if (*index >= field->count)
    return REFUSE(w, "key \"%.*s\": the index is out of range; %.*s has elements 0 to %zu",
                  RS_SHOWN(w->key->path), RS_SHOWN(field->name), field->count - 1);
  w->rest = digits + length + 1;
  return RECSORT_OK;
}

static recsort_status check_order(const walk *w)
{
  const recsort_key_desc *key = w->key;
  if (key->order != RECSORT_ASCENDING && key->order != RECSORT_DESCENDING)
    return REFUSE(w, "key \"%.*s\": its order is not a recsort_order", RS_SHOWN(key->path));
  if (key->nan < RECSORT_NAN_LAST || key->nan > RECSORT_NAN_TOTAL)
    return REFUSE(w, "key \"%.*s\": its nan is not a recsort_nan", RS_SHOWN(key->path));
  return RECSORT_OK;
}

/* A path must end at a value or an array of them, of a type that fits the rest of the key. */
static recsort_status check_end(const walk *w, const recsort_field_desc *field)
{
  const recsort_key_desc *key = w->key;
  RS_ASSERT(field);
  if (field->type == RECSORT_STRUCT)
    return REFUSE(w, "key \"%.*s\": %.*s is a struct; say which field, such as %.*s.%.*s",
                  RS_SHOWN(key->path), RS_SHOWN(field->name), SHOWN_SO_FAR(w),
                  RS_SHOWN(field->fields[0].name));
  const recsort_status status = check_order(w);
  if (status) return status;
  const recsort_type_class found = rs_class_of(field->type);
  if (key->nan != RECSORT_NAN_LAST && found != RECSORT_CLASS_FLOAT && found != RECSORT_CLASS_TIME &&
      !field->null_count)
    return REFUSE(w,
                  "key \"%.*s\": nan is for floats, times and fields with null, and %.*s is %s; "
                  "leave it out",
                  RS_SHOWN(key->path), RS_SHOWN(field->name),
                  recsort_type_describe(field->type)->name);
  return RECSORT_OK;
}

/* Only a dot may follow a name, and only if it names a struct. */
static recsort_status read_dot(walk *w, const recsort_field_desc *field)
{
  if (*w->rest != '.')
    return REFUSE(w,
                  "key \"%.*s\": \"%.*s\" is out of place; say a path such as pos[2] or stats.hp",
                  RS_SHOWN(w->key->path), RS_SHOWN(w->rest));
  if (field->type != RECSORT_STRUCT)
    return REFUSE(w, "key \"%.*s\": %.*s is %s, not a struct", RS_SHOWN(w->key->path),
                  RS_SHOWN(field->name), recsort_type_describe(field->type)->name);
  w->rest++;
  return RECSORT_OK;
}

/* The computed value that the path is the name of, or NULL. */
static const rs_computed *find_computed(const recsort_schema *schema, const char *path)
{
  for (size_t i = 0; i < schema->computed_count; i++)
    if (strcmp(schema->computed[i].name, path) == 0) return &schema->computed[i];
  return NULL;
}

recsort_status rs_layout_find(const recsort_schema *schema, const recsort_key_desc *key,
                              const char *source, rs_target *target, recsort_error *error)
{
  walk w = {key, source, error, key->path};
  const recsort_field_desc *fields = schema->desc.fields, *field = NULL;
  size_t count = schema->desc.field_count, values = 1;
  uint64_t offset = 0;
  if (!key->path) return REFUSE(&w, "a key has no path");
  const rs_computed *const computed = find_computed(schema, key->path);
  if (computed) {
    if (key->nan == RECSORT_NAN_TOTAL)
      return REFUSE(&w, "key \"%.*s\": nan is last or first for what is computed",
                    RS_SHOWN(key->path));
    *target = (rs_target){.computed = computed};
    return check_order(&w);
  }
  for (;;) {
    size_t index;
    recsort_status status = read_name(&w, fields, count, &field);
    if (!status) status = read_index(&w, field, &index, &values);
    if (status) return status;
    offset += field->offset + (uint64_t)index * field->size;
    if (!*w.rest) break;
    status = read_dot(&w, field);
    if (status) return status;
    fields = field->fields;
    count = field->field_count;
  }
  const recsort_status status = check_end(&w, field);
  if (status) return status;
  RS_ASSERT(values > 0 && offset + values * field->size <= RS_RECORD_MAX_BYTES);
  *target = (rs_target){.field = field, .offset = offset, .count = values};
  return RECSORT_OK;
}

/* The codes of all values of up to 32 bits: in the order of the values, equal where these are
 * equal, and turned back into them.
 *
 * Up to 16 bits, oracle.h compares neighbours in the order of the codes. Of 32 bits, C compares
 * neighbours in an order of the values that these comparisons show to ascend.
 *
 * Usage: all_keys EACH: of 32 bits, the first and last EACH of every 2^16 values. 32768 is all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exhaustive/codes.h"
#include "key/encode.h"
#include "sorter.h"
#include "support/native.h"
#include "support/open.h"
#include "support/oracle.h"
#include "support/random.h"

enum { BLOCK = 1 << 16 };

static uint32_t each; /* at either end of a block */

static recsort_sorter *open_sorter(const char *type, recsort_order order, recsort_nan nan)
{
  const recsort_key_desc key = {.path = "key", .order = order, .nan = nan};
  const recsort_options options = {
      .struct_size = sizeof options, .keys = &key, .key_count = 1, .plugin = "cpu", .threads = 1};
  char text[200];
  (void)snprintf(text, sizeof text, "record: R\n" NATIVE "fields:\n  - {name: key, type: %s}\n",
                 type);
  return sorter_of(text, &options);
}

/* ---- Up to 16 bits ---- */

static const struct {
  recsort_type type;
  const char *name;
  size_t size;
} types[] = {{RECSORT_BOOL, "bool", 1},
             {RECSORT_INT1, "int1", 1},
             {RECSORT_INT2, "int2", 1},
             {RECSORT_INT4, "int4", 1},
             {RECSORT_UINT1, "uint1", 1},
             {RECSORT_UINT2, "uint2", 1},
             {RECSORT_UINT4, "uint4", 1},
             {RECSORT_INT8, "int8", 1},
             {RECSORT_UINT8, "uint8", 1},
             {RECSORT_INT16, "int16", 2},
             {RECSORT_UINT16, "uint16", 2},
             {RECSORT_FLOAT16, "float16", 2},
             {RECSORT_BFLOAT16, "bfloat16", 2},
             {RECSORT_FLOAT8_E3M4, "float8_e3m4", 1},
             {RECSORT_FLOAT8_E4M3, "float8_e4m3", 1},
             {RECSORT_FLOAT8_E4M3B11FNUZ, "float8_e4m3b11fnuz", 1},
             {RECSORT_FLOAT8_E4M3FN, "float8_e4m3fn", 1},
             {RECSORT_FLOAT8_E4M3FNUZ, "float8_e4m3fnuz", 1},
             {RECSORT_FLOAT8_E5M2, "float8_e5m2", 1},
             {RECSORT_FLOAT8_E5M2FNUZ, "float8_e5m2fnuz", 1},
             {RECSORT_FLOAT8_E8M0FNU, "float8_e8m0fnu", 1},
             {RECSORT_FLOAT6_E2M3FN, "float6_e2m3fn", 1},
             {RECSORT_FLOAT6_E3M2FN, "float6_e3m2fn", 1},
             {RECSORT_FLOAT4_E2M1FN, "float4_e2m1fn", 1}};

typedef struct coded {
  uint32_t code;
  uint16_t raw; /* as in memory */
} coded;

static int compare_codes(const void *a, const void *b)
{
  const coded *const x = a, *const y = b;
  return oracle_sign(x->code > y->code, x->code < y->code);
}

static void try_narrow(size_t t, recsort_order order, recsort_nan nan)
{
  static coded all[BLOCK];
  const size_t size = types[t].size, count = (size_t)1 << 8 * size;
  const oracle_key key = {
      .type = types[t].type, .endian = NATIVE_ENDIAN, .size = size, .order = order, .nan = nan};
  recsort_sorter *const sorter = open_sorter(types[t].name, order, nan);
  assert_int_equal(rs_key_size(&sorter->plan), sizeof all->code);
  for (size_t i = 0; i < count; i++) {
    const uint8_t byte = (uint8_t)i;
    memset(&all[i].raw, 0, sizeof all[i].raw);
    if (size == 1)
      memcpy(&all[i].raw, &byte, sizeof byte);
    else
      all[i].raw = (uint16_t)i;
    assert_true(rs_key_encode_part(&sorter->plan, &all[i].raw, 0, 1, &all[i].code));
  }
  qsort(all, count, sizeof *all, compare_codes);
  for (size_t i = 0; i < count; i++) {
    const int after = i > 0 ? compare_codes(&all[i], &all[i - 1]) : 1;
    const int before = i + 1 < count ? compare_codes(&all[i], &all[i + 1]) : -1;
    if (i > 0 && oracle_compare(&key, 1, &all[i].raw, &all[i - 1].raw) != after)
      fail_msg("%s, order %d, NaN %d: %#x and %#x", types[t].name, (int)order, (int)nan, all[i].raw,
               all[i - 1].raw);
    uint16_t decoded = 0;
    rs_key_decode(&sorter->plan, &all[i].code, &decoded);
    const bool alone = after && before;
    if (alone ? decoded != all[i].raw : oracle_compare(&key, 1, &decoded, &all[i].raw) != 0)
      fail_msg("%s, order %d, NaN %d: %#x became %#x", types[t].name, (int)order, (int)nan,
               all[i].raw, decoded);
  }
  recsort_sorter_destroy(sorter);
}

static void test_narrow(void **state)
{
  static const recsort_order orders[] = {RECSORT_ASCENDING, RECSORT_DESCENDING};
  static const recsort_nan nans[] = {RECSORT_NAN_LAST, RECSORT_NAN_FIRST, RECSORT_NAN_TOTAL};
  (void)state;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t o = 0; o < 2; o++)
      for (size_t n = 0; n < (oracle_is_float(types[t].type) ? 3 : 1); n++)
        try_narrow(t, orders[o], nans[n]);
}

/* ---- 32 bits ---- */

typedef enum kind { UNSIGNED, SIGNED, REAL } kind;

typedef struct form {
  kind kind;
  recsort_order order;
  recsort_nan nan;
} form;

/* Value `i` in ascending order, as in memory. Negative floats come first, and count downwards. */
static uint32_t raw_at(kind k, uint32_t i)
{
  const uint32_t sign = UINT32_C(1) << 31;
  if (k == UNSIGNED) return i;
  if (k == SIGNED) return i ^ sign;
  return i & sign ? i ^ sign : ~i;
}

static float float_of(uint32_t raw)
{
  float value;
  memcpy(&value, &raw, sizeof value);
  return value;
}

static bool is_nan(uint32_t raw)
{
  return float_of(raw) != float_of(raw);
}

/* Whether the value that comes `next` is greater, in the ascending order of all but NaNs. */
static bool is_greater(kind k, uint32_t next, uint32_t last)
{
  if (k == UNSIGNED) return next > last;
  if (k == SIGNED) return (int32_t)next > (int32_t)last;
  return float_of(next) > float_of(last);
}

static void fail_at(const form *f, uint32_t raw, uint32_t code)
{
  fail_msg("kind %d, order %d, NaN %d: %#x has the code %#x", (int)f->kind, (int)f->order,
           (int)f->nan, raw, code);
}

/* What has been seen of a form, value after value. */
typedef struct walk {
  form form;
  bool begun;
  uint32_t last; /* not a NaN, or any with NAN_TOTAL */
  uint32_t last_code;
} walk;

static void look_at(walk *w, uint32_t raw, uint32_t code)
{
  const form *const f = &w->form;
  const bool total = f->nan == RECSORT_NAN_TOTAL;
  if (f->kind == REAL && !total && is_nan(raw)) { /* all the same, and beyond all others */
    if (code != (f->nan == RECSORT_NAN_FIRST ? 0 : UINT32_MAX)) fail_at(f, raw, code);
    return;
  }
  const bool nan = f->kind == REAL && (is_nan(raw) || (w->begun && is_nan(w->last)));
  const bool zeros = f->kind == REAL && w->begun && float_of(raw) == 0 && float_of(w->last) == 0;
  const bool apart = !zeros || total; /* with TOTAL the order is that of the bits */
  if (w->begun && !nan && !zeros && !is_greater(f->kind, raw, w->last)) fail_at(f, raw, code);
  const uint32_t up = f->order == RECSORT_DESCENDING ? w->last_code : code;
  const uint32_t down = f->order == RECSORT_DESCENDING ? code : w->last_code;
  if (w->begun && (apart ? up <= down : up != down)) fail_at(f, raw, code);
  if (f->kind == REAL && !total && code == (f->nan == RECSORT_NAN_FIRST ? 0 : UINT32_MAX))
    fail_at(f, raw, code);
  w->begun = true;
  w->last = raw;
  w->last_code = code;
}

/* The value that a code becomes: zeros become +0, and NaNs the quiet one without a sign. */
static uint32_t expected_of(const form *f, uint32_t raw)
{
  if (f->kind != REAL || f->nan == RECSORT_NAN_TOTAL) return raw;
  return is_nan(raw) ? UINT32_C(0x7fc00000) : float_of(raw) == 0 ? 0 : raw;
}

static void try_form(form f)
{
  static const char *const names[] = {"uint32", "int32", "float32"};
  static uint32_t raw[BLOCK], codes[BLOCK];
  recsort_sorter *const sorter = open_sorter(names[f.kind], f.order, f.nan);
  walk w = {.form = f};
  const size_t count = 2 * (size_t)each;
  for (uint32_t block = 0; block < BLOCK; block++) {
    const uint32_t first = block * (uint32_t)BLOCK;
    for (uint32_t i = 0; i < count; i++)
      raw[i] = raw_at(f.kind, first + (i < each ? i : BLOCK - 2 * each + i));
    assert_true(rs_key_encode_part(&sorter->plan, raw, 0, count, codes));
    for (size_t i = 0; i < count; i++) {
      uint32_t decoded = 0;
      look_at(&w, raw[i], codes[i]);
      rs_key_decode(&sorter->plan, &codes[i], &decoded);
      if (decoded != expected_of(&f, raw[i]))
        fail_msg("%s, order %d, NaN %d: %#x became %#x", names[f.kind], (int)f.order, (int)f.nan,
                 raw[i], decoded);
    }
  }
  recsort_sorter_destroy(sorter);
}

static void test_integers(void **state)
{
  (void)state;
  for (kind k = UNSIGNED; k <= SIGNED; k++) {
    try_form((form){k, RECSORT_ASCENDING, RECSORT_NAN_LAST});
    try_form((form){k, RECSORT_DESCENDING, RECSORT_NAN_LAST});
  }
}

static void test_floats(void **state)
{
  static const recsort_nan nans[] = {RECSORT_NAN_LAST, RECSORT_NAN_FIRST, RECSORT_NAN_TOTAL};
  (void)state;
  for (size_t n = 0; n < sizeof nans / sizeof *nans; n++) {
    try_form((form){REAL, RECSORT_ASCENDING, nans[n]});
    try_form((form){REAL, RECSORT_DESCENDING, nans[n]});
  }
}

/* ---- 64 bits ---- */

/* proofs.py shows the order of the codes of codes.h: here, that keys have these. Values are random,
 * and random with few bits beside those of one that is special. */
static void test_64(void **state)
{
  static const struct {
    const char *name;
    unsigned kind;
  } wide[] = {{"uint64", RECSORT_KEY_UNSIGNED},
              {"int64", RECSORT_KEY_SIGNED},
              {"float64", RECSORT_KEY_FLOAT}};
  static const uint64_t special[] = {0, UINT64_C(1) << 63, UINT64_C(0x7ff) << 52,
                                     UINT64_C(0xfff) << 52};
  static const struct {
    recsort_nan nan;
    unsigned flags;
  } nans[] = {{RECSORT_NAN_LAST, 0},
              {RECSORT_NAN_FIRST, RECSORT_KEY_NAN_FIRST},
              {RECSORT_NAN_TOTAL, RECSORT_KEY_NAN_TOTAL}};
  uint64_t random = 1;
  (void)state;
  for (size_t f = 0; f < 18; f++) {
    const size_t type = f / 6, n = f / 2 % 3;
    const recsort_order order = f % 2 ? RECSORT_DESCENDING : RECSORT_ASCENDING;
    const unsigned flags = nans[n].flags | (f % 2 ? RECSORT_KEY_DESCENDING : 0);
    if (n > 0 && wide[type].kind != RECSORT_KEY_FLOAT) continue;
    recsort_sorter *const sorter = open_sorter(wide[type].name, order, nans[n].nan);
    for (size_t i = 0; i < 200000; i++) {
      const uint64_t bits = next_random(&random);
      const uint64_t raw = i % 2 ? bits : special[i / 2 % 4] ^ (bits & 1) << (bits >> 58);
      uint64_t made = 0, decoded = 0;
      assert_true(rs_key_encode_part(&sorter->plan, &raw, 0, 1, &made));
      rs_key_decode(&sorter->plan, &made, &decoded);
      assert_true(made == code_of(raw, wide[type].kind, flags));
      assert_true(decoded == value_of(made, wide[type].kind, flags));
    }
    recsort_sorter_destroy(sorter);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_narrow), cmocka_unit_test(test_integers),
                                     cmocka_unit_test(test_floats), cmocka_unit_test(test_64)};
  if (argc != 2) return 2;
  each = (uint32_t)strtoul(argv[1], NULL, 10);
  if (each == 0 || each > BLOCK / 2) return 2;
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Made by recschema --emit-header: change the schema, not this file. */
#ifndef AWKWARD_RECORD___RECORD_H
#define AWKWARD_RECORD___RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  Awkward_record___mode_no_value = -1,
  Awkward_record___mode_int_ = 0
};
enum {
  Awkward_record___few_none = 0,
  Awkward_record___few_some = 1
};
struct __attribute__((packed)) Awkward_record__ {
  unsigned char padding_at_0[3];
  double two_words; /* "two words" */
  uint16_t two_words_at_11;
  bool class_; /* "class" */
  char _1st; /* "1st" */
  unsigned char padding_at_15[1];
  uint16_t gr____e[2]; /* "größe" float16 big-endian */
  unsigned char end_______[2][16]; /* "end *_ _ _" uuid */
  uint32_t flags; /* big-endian */
  /* one: bit 31 of flags */
  unsigned char padding_at_56[1];
  struct __attribute__((packed)) {
    unsigned char padding_at_0[1];
    int32_t a;
    struct {
      unsigned char padding_at_0[1];
      uint8_t b;
    } struct_[2]; /* "struct" */
  } inner[2];
  unsigned char padding_at_75[1];
  uint64_t huge;
  int8_t mode;
  struct __attribute__((packed)) {
    int32_t i; /* times 1e-7 */
    bool j;
  } odd[2];
  unsigned char wide[2][5]; /* uint40 big-endian null if 7 or 1099511627775 */
  unsigned char few[3]; /* int24 */
  unsigned char tiny; /* float8_e4m3fn */
  unsigned char nibble; /* int4 null if -8 */
  unsigned char padding_at_110[2];
};

static_assert(sizeof(struct Awkward_record__) == 112, "the size of a record");
static_assert(offsetof(struct Awkward_record__, two_words) == 3, "two words");
static_assert(offsetof(struct Awkward_record__, two_words_at_11) == 11, "two_words");
static_assert(offsetof(struct Awkward_record__, class_) == 13, "class");
static_assert(offsetof(struct Awkward_record__, _1st) == 14, "1st");
static_assert(offsetof(struct Awkward_record__, gr____e) == 16, "größe");
static_assert(offsetof(struct Awkward_record__, end_______) == 20, "end *_ _ _");
static_assert(offsetof(struct Awkward_record__, flags) == 52, "flags");
static_assert(offsetof(struct Awkward_record__, inner) == 57, "inner");
static_assert(offsetof(struct Awkward_record__, inner[0].a) == 58, "a");
static_assert(offsetof(struct Awkward_record__, inner[0].struct_) == 62, "struct");
static_assert(offsetof(struct Awkward_record__, inner[0].struct_[0].b) == 63, "b");
static_assert(offsetof(struct Awkward_record__, huge) == 76, "huge");
static_assert(offsetof(struct Awkward_record__, mode) == 84, "mode");
static_assert(offsetof(struct Awkward_record__, odd) == 85, "odd");
static_assert(offsetof(struct Awkward_record__, odd[0].i) == 85, "i");
static_assert(offsetof(struct Awkward_record__, odd[0].j) == 89, "j");
static_assert(offsetof(struct Awkward_record__, wide) == 95, "wide");
static_assert(offsetof(struct Awkward_record__, few) == 105, "few");
static_assert(offsetof(struct Awkward_record__, tiny) == 108, "tiny");
static_assert(offsetof(struct Awkward_record__, nibble) == 109, "nibble");

#endif

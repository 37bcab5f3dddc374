/* test_schema.c - the schema language: what is accepted, and every refusal with its place and
 * text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/types.h"
#include "schema/parse.h"
#include "support/open.h"
#include "support/same_schemas.h"

#define FIELDS "record: R\nfields:\n"
/* With one character more, two of these fit in a message; a third one of 52 almost does. */
#define LONG "forty-nine characters of which a list takes two  "

/* A record with one field of every kind that a key may or may not name; its keys begin on line
 * 9. */
#define KEYS                                                                                       \
  FIELDS "  - {name: x, type: float32}\n"                                                          \
         "  - {name: name, type: char, count: 4}\n"                                                \
         "  - {name: pos, type: int16, count: 3}\n"                                                \
         "  - {name: stats, type: struct, fields: [{name: hp, type: int8}]}\n"                     \
         "  - {name: items, type: struct, count: 2, fields: [{name: id, type: int8}]}\n"           \
         "keys:\n"

/* `message` follows "t.yaml:". */
typedef struct refusal {
  const char *text;
  const char *message;
} refusal;

static const refusal of_text[] = {
    {"", "1:1: empty; a schema begins with record: and the record's name"},
    {"# only a comment\n", "1:1: empty; a schema begins with record: and the record's name"},
    {"record: R\n", "1:1: no fields; say fields: and list at least one"},
    {"fields: [{name: a, type: int8}]\n",
     "1:1: no record; begin with record: and the record's name"},
    {"record: R\nfields: []\n", "1:1: no fields; say fields: and list at least one"},
    {"just text\n", "1:1: a schema must be a mapping, not a single value"},
    {"- a\n", "1:1: a schema must be a mapping, not a list"},
    {"\357\273\277record: R\n", "1:1: a byte order mark; save the file without one"},
    {"record: R\n# \377\n", "2:3: bytes that are not UTF-8; save the file as UTF-8"},
    {"record: R\n# \303(\n", "2:3: bytes that are not UTF-8; save the file as UTF-8"},
    {"# \355\240\200\n", "1:3: bytes that are not UTF-8; save the file as UTF-8"},
    {"# \300\200\n", "1:3: bytes that are not UTF-8; save the file as UTF-8"},
    {"# \365\200\200\200\n", "1:3: bytes that are not UTF-8; save the file as UTF-8"},
    {"# a\342\202", "1:4: bytes that are not UTF-8; save the file as UTF-8"},
    {"record: R\n# \007\n", "2:3: a control character; remove it"},
    {"# \303\251\303\251\302\205 \302\237\n", "1:7: a control character; remove it"},
    {"record: \"R\\0x\"\n", "1:9: record holds a NUL character; leave it out"},
    {FIELDS "  - {name: a, type: int8}\n---\nrecord: S\n",
     "4:1: a second document begins; a schema is one document"},
    {FIELDS "  - {name: a, type: int8}\n...\nmore\n",
     "5:1: not YAML: did not find expected <document start>; look at the indentation, and for a "
     "missing colon or dash"},
    {"%TAG ! tag:x,2000:\n---\nrecord: R\n",
     "1:1: tags are not allowed in a schema; leave the %TAG line out"},
    {"%FOO\n---\n", "1:5: not YAML: found unknown directive name; look at the indentation, and for "
                    "a missing colon or dash"},
    {"record: R\nrecord: S\n", "2:1: record is given twice, first on line 1"},
    {"record: R\nfeilds: []\n", "2:1: unknown word \"feilds\"; did you mean fields?"},
    {"record: R\nwhatever: 1\n", "2:1: unknown word \"whatever\"; known here: record, endian, "
                                 "layout, fields, keys, size, skip, count, length, after, "
                                 "expect, trailer, pad, zero, repeat"},
    {"record: [R]\n", "1:9: record must be a single value, not a list"},
    {"record: {a: b}\n", "1:9: record must be a single value, not a mapping"},
    {"record: R\nfields: a\n", "2:9: fields must be a list, not a single value"},
    {"[a, b]: c\n", "1:1: a word before a colon must be a single value, not a list"},
    {"? [a]\n: b\n", "1:3: a word before a colon must be a single value, not a list"},
    {"record: &a R\n", "1:9: anchors are not allowed in a schema; leave the & word out"},
    {"record: R\nfields: &f [{name: a, type: int8}]\n",
     "2:9: anchors are not allowed in a schema; leave the & word out"},
    {FIELDS "  - &m {name: a, type: int8}\n",
     "3:5: anchors are not allowed in a schema; leave the & word out"},
    {"record: *a\n", "1:9: aliases are not allowed in a schema; write the value again"},
    {"record: !!str R\n", "1:9: tags are not allowed in a schema; leave the ! word out"},
    {"record: ! R\n", "1:9: tags are not allowed in a schema; leave the ! word out"},
    {"record: R\nfields: !!seq []\n",
     "2:9: tags are not allowed in a schema; leave the ! word out"},
    {"!!map {record: R}\n", "1:1: tags are not allowed in a schema; leave the ! word out"},
    {FIELDS "  - {<<: *a}\n", "3:10: aliases are not allowed in a schema; write the value again"},
    {FIELDS "\t- a\n", "3:1: not YAML: found character that cannot start any token; indent with "
                       "spaces, and quote what begins with a special character, such as \">i2\""},
    {"record: R\nfields: [{name: a, type: int8}\nkeys: []\n",
     "3:1: not YAML: did not find expected ',' or ']'; look for a missing bracket or comma, and "
     "put a path such as \"pos[2]\" in quotes"},
    {"record: 'R\n", "2:1: not YAML: found unexpected end of stream; look at the indentation, and "
                     "for a missing colon or dash"},
    {FIELDS "  - {name: a, type: >i2}\n",
     "3:21: not YAML: found character that cannot start any token; indent with spaces, and quote "
     "what begins with a special character, such as \">i2\""},
    {FIELDS "  - {name: a, type: |u1}\n",
     "3:21: not YAML: found character that cannot start any token; indent with spaces, and quote "
     "what begins with a special character, such as \">i2\""},
    {FIELDS "  - {name: a, type: ?}\n", "3:21: not YAML: did not find expected node content; look "
                                        "at the indentation, and for a missing colon or dash"},
    {FIELDS "  - {name: a, type: int8}\nkeys: [{field: pos[2]}]\n",
     "4:19: not YAML: did not find expected ',' or '}'; look for a missing bracket or comma, and "
     "put a path such as \"pos[2]\" in quotes"},
    {FIELDS "  - {name: a type: int8}\n",
     "3:18: not YAML: did not find expected ',' or '}'; look for a missing bracket or comma, and "
     "put a path such as \"pos[2]\" in quotes"},
    {"record: R: S\n", "1:10: not YAML: mapping values are not allowed in this context; look at "
                       "the indentation, and for a missing colon or dash"},
};

static const refusal of_record[] = {
    {"record: R\nendian: middle\nfields:\n  - {name: a, type: int8}\n",
     "2:9: unknown endian \"middle\"; say one of little, big"},
    {"record: R\nendian: litle\nfields:\n  - {name: a, type: int8}\n",
     "2:9: unknown endian \"litle\"; did you mean little?"},
    {"record: R\nlayout: natural\nfields:\n  - {name: a, type: int8}\n",
     "2:9: unknown layout \"natural\"; say one of c, packed, explicit"},
    {"record: R\nsize: 0\nfields: [{name: a, type: int8}]\n",
     "2:7: size is 0; say 1 or more, or leave it out"},
    {"record: R\nsize: -1\nfields: [{name: a, type: int8}]\n", "2:7: size \"-1\" is negative"},
    {"record: R\nsize: 1.5\nfields: [{name: a, type: int8}]\n",
     "2:7: size \"1.5\" is not a whole number; write it in decimal or as 0x and hex digits"},
    {"record: R\nsize: '4'\nfields: [{name: a, type: int8}]\n",
     "2:7: size \"4\" is text; write the number without quotes"},
    {"record: R\nsize: ten\nfields: [{name: a, type: int8}]\n",
     "2:7: size \"ten\" is not a whole number; write it in decimal or as 0x and hex digits"},
    {"record: R\nsize: 0x\nfields: [{name: a, type: int8}]\n",
     "2:7: size \"0x\" is not a whole number; write it in decimal or as 0x and hex digits"},
    {"record: R\nsize: 0xg\nfields: [{name: a, type: int8}]\n",
     "2:7: size \"0xg\" is not a whole number; write it in decimal or as 0x and hex digits"},
    {"record: R\nsize: 010\nfields: [{name: a, type: int8}]\n",
     "2:7: size \"010\" begins with 0, which some take for octal; leave the 0 out"},
    {"record: R\nsize: 99999999999999999999\nfields: [{name: a, type: int8}]\n",
     "2:7: size \"99999999999999999999\" does not fit 64 bits"},
    {"record: R\nsize: 0x8000000000000000\nfields: [{name: a, type: int8}]\n",
     "2:7: size \"0x8000000000000000\" is too large"},
    {"record: R\nsize: 4294967296\nfields: [{name: a, type: int8}]\n",
     "2:7: size 4294967296 is more than the 2147483647 bytes that a record may have"},
    {"record: R\nsize: ''\nfields: [{name: a, type: int8}]\n",
     "2:7: size \"\" is text; write the number without quotes"},
    {"record: R\nsize: \nfields: [{name: a, type: int8}]\n",
     "2:6: size \"\" is not a whole number; write it in decimal or as 0x and hex digits"},
    {"record: R\nskip: -1\nfields: [{name: a, type: int8}]\n", "2:7: skip \"-1\" is negative"},
    {"record: R\ntrailer: x\nfields: [{name: a, type: int8}]\n",
     "2:10: trailer \"x\" is not a whole number; write it in decimal or as 0x and hex digits"},
    {"record: R\nskip: 0x7fffffffffffffff\ntrailer: 1\nfields: [{name: a, type: int8}]\n",
     "2:7: skip \"0x7fffffffffffffff\" is too large"},
    {"record: ''\nfields: [{name: a, type: int8}]\n", "1:9: a name must not be empty"},
    {"record: \"a\\tb\"\nfields: [{name: a, type: int8}]\n",
     "1:9: a name must not hold control characters"},
    {"record: R\nsize: 3\nfields: [{name: a, type: int32}]\n",
     "2:7: size 3 is less than the 4 bytes that the fields take"},
    {"record: R\nsize: 5\nfields: [{name: a, type: int32}, {name: b, type: int8}]\n",
     "2:7: size 5 is less than the 8 bytes that the fields take"},
};

static const refusal of_fields[] = {
    {FIELDS "  - a\n", "3:5: field: it must be a mapping, not a single value"},
    {FIELDS "  - [a]\n", "3:5: field: it must be a mapping, not a list"},
    {FIELDS "  - {}\n", "3:5: field: it has no name; say {name: x, type: int32}"},
    {FIELDS "  - {name: a}\n", "3:5: field \"a\": it has no type; say {name: x, type: int32}"},
    {FIELDS "  - {type: int8}\n", "3:5: field: it has no name; say {name: x, type: int32}"},
    {FIELDS "  - {name: price, nmae: b}\n",
     "3:19: field \"price\": unknown word \"nmae\"; did you mean name?"},
    {FIELDS "  - {nmae: a}\n", "3:6: field: unknown word \"nmae\"; did you mean name?"},
    {FIELDS "  - {name: a, name: b}\n", "3:15: field \"a\": name is given twice, first on line 3"},
    {FIELDS "  - {name: a, type: int8, type: int8}\n",
     "3:27: field \"a\": type is given twice, first on line 3"},
    {FIELDS "  - {name: [a], type: int8}\n",
     "3:12: field: name must be a single value, not a list"},
    {FIELDS "  - {name: a, type: [int8]}\n",
     "3:21: field \"a\": type must be a single value, not a list"},
    {FIELDS "  - {name: '', type: int8}\n", "3:12: field \"\": a name must not be empty"},
    {FIELDS "  - {name: a.b, type: int8}\n",
     "3:12: field \"a.b\": a name must not hold . [ or ], which paths use"},
    {FIELDS "  - {name: \"a[0]\", type: int8}\n",
     "3:12: field \"a[0]\": a name must not hold . [ or ], which paths use"},
    {FIELDS "  - {name: \"a]\", type: int8}\n",
     "3:12: field \"a]\": a name must not hold . [ or ], which paths use"},
    {FIELDS "  - {name: \"a\\tb\", type: int8}\n",
     "3:12: field \"a?b\": a name must not hold control characters"},
    {FIELDS "  - {name: \"a\\x9f\", type: int8}\n",
     "3:12: field \"a\302\237\": a name must not hold control characters"},
    {FIELDS "  - {name: price, type: f31}\n",
     "3:25: field \"price\": unknown type \"f31\"; did you mean float32?"},
    {FIELDS "  - {name: a, type: i8}\n",
     "3:21: field \"a\": unknown type \"i8\"; say int8 for 8 bits, int64 for 8 bytes"},
    {FIELDS "  - {name: a, type: u8}\n",
     "3:21: field \"a\": unknown type \"u8\"; say uint8 for 8 bits, uint64 for 8 bytes"},
    {FIELDS "  - {name: a, type: f8}\n",
     "3:21: field \"a\": unknown type \"f8\"; say float64 for 8 bytes"},
    {FIELDS "  - {name: a, type: u16}\n", "3:21: field \"a\": unknown type \"u16\"; say uint16"},
    {FIELDS "  - {name: a, type: i4}\n", "3:21: field \"a\": unknown type \"i4\"; say int32"},
    {FIELDS "  - {name: a, type: f32}\n", "3:21: field \"a\": unknown type \"f32\"; say float32"},
    {FIELDS "  - {name: a, type: long}\n", "3:21: field \"a\": unknown type \"long\"; say int64, "
                                           "since the size of long differs between systems"},
    {FIELDS "  - {name: a, type: unsigned long}\n",
     "3:21: field \"a\": unknown type \"unsigned long\"; say uint64, since the size of long "
     "differs between systems"},
    {FIELDS "  - {name: a, type: long double}\n",
     "3:21: field \"a\": unknown type \"long double\"; say float64, if 8 bytes are what it takes"},
    {FIELDS "  - {name: a, type: size_t}\n", "3:21: field \"a\": unknown type \"size_t\"; say "
                                             "uint64, since its size differs between systems"},
    {FIELDS "  - {name: a, type: string}\n",
     "3:21: field \"a\": unknown type \"string\"; say char or cstring, with a count"},
    {FIELDS "  - {name: a, type: flaot}\n",
     "3:21: field \"a\": unknown type \"flaot\"; did you mean float?"},
    {FIELDS "  - {name: a, type: Int32}\n",
     "3:21: field \"a\": unknown type \"Int32\"; did you mean int32?"},
    {FIELDS "  - {name: a, type: uint33}\n",
     "3:21: field \"a\": unknown type \"uint33\"; did you mean uint32?"},
    {FIELDS "  - {name: a, type: quaternion}\n",
     "3:21: field \"a\": unknown type \"quaternion\"; say one such as int32, float32 or char"},
    {FIELDS "  - {name: a, type: ''}\n",
     "3:21: field \"a\": unknown type \"\"; say one such as int32, float32 or char"},
    {FIELDS "  - {name: a, type: \"|i4\"}\n",
     "3:21: field \"a\": unknown type \"|i4\"; did you mean int32?"},
    {FIELDS "  - {name: a, type: \"=i4\"}\n",
     "3:21: field \"a\": unknown type \"=i4\"; did you mean int32?"},
    {FIELDS "  - {name: a, type: <i3}\n",
     "3:21: field \"a\": unknown type \"<i3\"; say one such as int32, float32 or char"},
    {FIELDS "  - {name: a, type: S0}\n",
     "3:21: field \"a\": unknown type \"S0\"; say one such as int32, float32 or char"},
    {FIELDS "  - {name: a, type: S}\n",
     "3:21: field \"a\": unknown type \"S\"; say one such as int32, float32 or char"},
    {FIELDS "  - {name: a, type: S99999999999}\n",
     "3:21: field \"a\": unknown type \"S99999999999\"; say one such as int32, float32 or char"},
    {FIELDS "  - {name: a, type: int8, count: 0}\n",
     "3:34: field \"a\": count is 0; say 1 or more, or leave it out"},
    {FIELDS "  - {name: a, type: int8, count: -1}\n",
     "3:34: field \"a\": count \"-1\" is negative"},
    {FIELDS "  - {name: a, type: int8, count: x}\n",
     "3:34: field \"a\": count \"x\" is not a whole number; write it in decimal or as 0x and hex "
     "digits"},
    {FIELDS "  - {name: a, type: S4, count: 2}\n",
     "3:32: field \"a\": count \"2\" is given beside a type that has one already"},
    {FIELDS "  - {name: a, type: V0}\n",
     "3:21: field \"a\": unknown type \"V0\"; say one such as int32, float32 or char"},
    {FIELDS "  - {name: a, type: int8, count: 2147483648}\n",
     "3:12: field \"a\": count 2147483648 is more than the 2147483647 bytes that a record may "
     "have"},
    {FIELDS "  - {name: a, type: int64, count: 0x7fffffff}\n",
     "3:12: field \"a\": it ends beyond the 2147483647 bytes that a record may have"},
    {FIELDS "  - {name: a, type: int8, offset: -4}\n",
     "3:35: field \"a\": offset \"-4\" is negative"},
    {FIELDS "  - {name: a, type: int8, offset: 1}\n",
     "3:12: field \"a\": offset 1 does not agree with layout c, which puts it at 0"},
    {FIELDS "  - {name: a, type: int8, offset: 18446744073709551615}\n",
     "3:35: field \"a\": offset \"18446744073709551615\" is too large"},
    {FIELDS "  - {name: a, type: int8, offset: 18446744073709551616}\n",
     "3:35: field \"a\": offset \"18446744073709551616\" does not fit 64 bits"},
    {FIELDS "  - {name: a, type: <f4, endian: big}\n",
     "3:21: field \"a\": type \"<f4\" is little-endian, and endian says big"},
    {FIELDS "  - {name: a, type: \">f4\", endian: little}\n",
     "3:21: field \"a\": type \">f4\" is big-endian, and endian says little"},
    {FIELDS "  - {name: a, type: int8, endian: both}\n",
     "3:35: field \"a\": unknown endian \"both\"; say one of little, big"},
    {FIELDS "  - {name: a, type: int8, bit: 0}\n",
     "3:27: field \"a\": bit does not go with type int8"},
    {FIELDS "  - {name: a, type: int8, width: 1}\n",
     "3:27: field \"a\": width does not go with type int8"},
    {FIELDS "  - {name: a, type: int8, base: int8}\n",
     "3:27: field \"a\": base does not go with type int8"},
    {FIELDS "  - {name: a, type: int8, values: [a]}\n",
     "3:27: field \"a\": values does not go with type int8"},
    {FIELDS "  - {name: a, type: int8, fields: [{name: b, type: int8}]}\n",
     "3:27: field \"a\": fields does not go with type int8"},
    {FIELDS "  - {name: a, type: int8}\n  - {name: b, type: int8}\n  - {name: a, type: int8}\n",
     "5:12: field \"a\": another field of this struct has that name"},
};

static const refusal of_structs[] = {
    {FIELDS "  - {name: s, type: struct}\n", "3:21: field \"s\": type struct needs fields"},
    {FIELDS "  - {name: s, type: struct, fields: []}\n",
     "3:12: field \"s\": a struct needs fields"},
    {FIELDS "  - {name: s, type: struct, fields: x}\n",
     "3:37: field \"s\": fields must be a list, not a single value"},
    {FIELDS "  - {name: s, type: struct, values: [a], fields: [{name: b, type: int8}]}\n",
     "3:29: field \"s\": values does not go with type struct"},
    {FIELDS "  - {name: s, type: struct, fields: [{name: b, type: f31}]}\n",
     "3:54: field \"b\": unknown type \"f31\"; did you mean float32?"},
    {FIELDS "  - {name: s, type: struct, fields: [{name: b, type: int8}, {name: b, type: int8}]}\n",
     "3:68: field \"b\": another field of this struct has that name"},
    {FIELDS "  - {name: s, type: struct, count: 1073741824, fields: [{name: b, type: int32}]}\n",
     "3:12: field \"s\": it ends beyond the 2147483647 bytes that a record may have"},
};

static const refusal of_enums[] = {
    {FIELDS "  - {name: e, type: enum}\n", "3:21: field \"e\": type enum needs values"},
    {FIELDS "  - {name: e, type: enum, values: []}\n",
     "3:12: field \"e\": an enum needs at least one name in values"},
    {FIELDS "  - {name: e, type: enum, values: a}\n",
     "3:35: field \"e\": values must be a list, not a single value"},
    {FIELDS "  - {name: e, type: enum, base: float, values: [a]}\n",
     "3:33: field \"e\": base \"float\" is not an integer type; say uint8"},
    {FIELDS "  - {name: e, type: enum, base: uint9, values: [a]}\n",
     "3:33: field \"e\": unknown base \"uint9\"; did you mean uint8?"},
    {FIELDS "  - {name: e, type: enum, base: u8, values: [a]}\n",
     "3:33: field \"e\": unknown base \"u8\"; say uint8 for 8 bits, uint64 for 8 bytes"},
    {FIELDS "  - {name: e, type: enum, base: \">u2\", endian: little, values: [a]}\n",
     "3:33: field \"e\": base \">u2\" is big-endian, and endian says little"},
    {FIELDS "  - {name: e, type: enum, values: [a, b, a]}\n",
     "3:12: field \"e\": value \"a\" is named twice"},
    {FIELDS "  - {name: e, type: enum, values: ['']}\n",
     "3:36: field \"e\": a name must not be empty"},
    {FIELDS "  - {name: e, type: enum, values: [\"a\\nb\"]}\n",
     "3:36: field \"e\": a name must not hold control characters"},
    {FIELDS "  - {name: e, type: enum, values: [[a]]}\n",
     "3:36: field \"e\": it must be a mapping, not a list"},
    {FIELDS "  - {name: e, type: enum, values: [{value: 1}]}\n",
     "3:36: field \"e\": a value without a name; say {name: ..., value: ...}"},
    {FIELDS "  - {name: e, type: enum, values: [{name: a, valeu: 1}]}\n",
     "3:46: field \"e\": unknown word \"valeu\"; did you mean value?"},
    {FIELDS "  - {name: e, type: enum, values: [{name: a, value: x}]}\n",
     "3:53: field \"e\": value \"x\" is not a whole number; write it in decimal or as 0x and hex "
     "digits"},
    {FIELDS "  - {name: e, type: enum, base: uint8, values: [{name: a, value: 256}]}\n",
     "3:66: field \"e\": value \"256\" does not fit uint8"},
    {FIELDS "  - {name: e, type: enum, base: uint8, values: [{name: a, value: -1}]}\n",
     "3:66: field \"e\": value \"-1\" does not fit uint8"},
    {FIELDS "  - {name: e, type: enum, base: int8, values: [{name: a, value: 127}, b]}\n",
     "3:71: field \"e\": name \"b\" follows the largest value of the base type; give it one"},
    {FIELDS "  - {name: e, type: enum, base: int8, values: [{name: a, value: -129}]}\n",
     "3:65: field \"e\": value \"-129\" does not fit int8"},
    {FIELDS
     "  - {name: e, type: enum, base: int64, values: [{name: a, value: 0x8000000000000000}]}\n",
     "3:66: field \"e\": value \"0x8000000000000000\" does not fit int64"},
    {FIELDS
     "  - {name: e, type: enum, base: int64, values: [{name: a, value: -9223372036854775809}]}\n",
     "3:66: field \"e\": value \"-9223372036854775809\" does not fit int64"},
    {FIELDS "  - {name: e, type: enum, base: uint64, values: [{name: a, value: -1}]}\n",
     "3:67: field \"e\": value \"-1\" does not fit uint64"},
    {FIELDS
     "  - {name: e, type: enum, base: uint64, values: [{name: a, value: 18446744073709551616}]}\n",
     "3:67: field \"e\": value \"18446744073709551616\" does not fit 64 bits"},
    {FIELDS
     "  - {name: e, type: enum, base: int64, values: [{name: a, value: 9223372036854775807}, b]}\n",
     "3:88: field \"e\": name \"b\" follows the largest value of the base type; give it one"},
    {FIELDS
     "  - {name: e, type: enum, base: uint64, values: [{name: a, value: 0xffffffffffffffff}, b]}\n",
     "3:88: field \"e\": name \"b\" follows the largest value of the base type; give it one"},
    {FIELDS "  - {name: e, type: enum, width: 2, values: [a]}\n",
     "3:27: field \"e\": width does not go with type enum"},
};

static const refusal of_bitfields[] = {
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield}\n",
     "4:21: field \"b\": type bitfield needs base"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flags}\n",
     "4:21: field \"b\": type bitfield needs bit"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, bit: 0}\n",
     "4:21: field \"b\": type bitfield needs base"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flasg, bit: 0}\n",
     "4:12: field \"b\": its base \"flasg\" is not an earlier field of this struct; did you mean "
     "flags?"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: zzz, bit: 0}\n",
     "4:12: field \"b\": its base \"zzz\" is not an earlier field of this struct"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: b, bit: 0}\n",
     "4:12: field \"b\": its base \"b\" is not an earlier field of this struct"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flags, bit: 8}\n",
     "4:12: field \"b\": bit 8 and width 1 lie outside the 8 bits of \"flags\""},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flags, bit: 4, "
            "width: 5}\n",
     "4:12: field \"b\": bit 4 and width 5 lie outside the 8 bits of \"flags\""},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flags, bit: 64}\n",
     "4:49: field \"b\": bit \"64\" is beyond 63"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flags, bit: 0, "
            "width: 65}\n",
     "4:59: field \"b\": width \"65\" is beyond 64"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flags, bit: 0, "
            "width: 0}\n",
     "4:59: field \"b\": width is 0; say 1 or more, or leave it out"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flags, bit: -1}\n",
     "4:49: field \"b\": bit \"-1\" is negative"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flags, bit: 0, "
            "count: 2}\n",
     "4:52: field \"b\": count does not go with type bitfield"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flags, bit: 0, "
            "offset: 0}\n",
     "4:52: field \"b\": offset does not go with type bitfield"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flags, bit: 0, "
            "endian: big}\n",
     "4:52: field \"b\": endian does not go with type bitfield"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: flags, bit: 0, "
            "width: 3}\n  - {name: c, type: bitfield, base: flags, bit: 2}\n",
     "5:12: field \"c\": its bits overlap those of \"b\""},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: f, type: float32}\n  - {name: b, type: "
            "bitfield, base: f, bit: 0}\n",
     "5:12: field \"b\": its base \"f\" must be a single integer of whole bytes"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: f, type: uint8, count: 2}\n  - {name: b, "
            "type: bitfield, base: f, bit: 0}\n",
     "5:12: field \"b\": its base \"f\" must be a single integer of whole bytes"},
    {FIELDS "  - {name: flags, type: uint8}\n  - {name: b, type: bitfield, base: later, bit: 0}\n  "
            "- {name: later, type: uint8}\n",
     "4:12: field \"b\": its base \"later\" is not an earlier field of this struct"},
};

static const refusal of_null_values[] = {
    {FIELDS "  - {name: a, type: int8, null: 128}\n",
     "3:33: field \"a\": null \"128\" does not fit int8"},
    {FIELDS "  - {name: a, type: uint16, null: [7, -1]}\n",
     "3:39: field \"a\": null \"-1\" does not fit uint16"},
    {FIELDS "  - {name: a, type: uint64, null: -1}\n",
     "3:35: field \"a\": null \"-1\" does not fit uint64"},
    {FIELDS "  - {name: a, type: int4, null: 8}\n",
     "3:33: field \"a\": null \"8\" does not fit int4"},
    {FIELDS "  - {name: a, type: int8, null: 1.5}\n",
     "3:33: field \"a\": null \"1.5\" is not a whole number; write it in decimal or as 0x and hex "
     "digits"},
    {FIELDS "  - {name: a, type: int8, null: []}\n",
     "3:33: field \"a\": null is an empty list; leave it out"},
    {FIELDS "  - {name: a, type: int8, null: [1, 2, 0x1]}\n",
     "3:12: field \"a\": null has the same value twice; leave one out"},
    {FIELDS "  - {name: a, type: int8, null: {value: 1}}\n",
     "3:33: field \"a\": null must be a single value, not a mapping"},
    {FIELDS "  - {name: a, type: float32, null: 1}\n",
     "3:30: field \"a\": null does not go with type float32"},
    {FIELDS "  - {name: a, type: int128, null: 1}\n",
     "3:29: field \"a\": null does not go with type int128"},
    {FIELDS "  - {name: a, type: enum, values: [x], null: 0}\n",
     "3:40: field \"a\": null does not go with type enum"},
    {FIELDS "  - {name: a, type: int8, null: 0}\n  - {name: b, type: int8}\n"
            "keys: [{distance: {fields: [b, a], from: [0, 0]}}]\n",
     "5:19: key \"distance(b, a from 0, 0)\": a has null values, which are no coordinates"},
    {FIELDS "  - {name: a, type: float8_e4m3fn}\nkeys: [{distance: {fields: [a], from: [0]}}]\n",
     "4:19: key \"distance(a from 0)\": a is float8_e4m3fn, which no coordinate can be; convert it "
     "to "
     "int8 "
     "or float32"},
    {FIELDS "  - {name: a, type: int4}\nkeys: [{distance: {fields: [a], from: [0]}}]\n",
     "4:19: key \"distance(a from 0)\": a is int4, which no coordinate can be; convert it to int8 "
     "or "
     "float32"},
    {FIELDS "  - {name: a, type: enum, base: int4, values: [x]}\n",
     "3:33: field \"a\": base \"int4\" is not of whole bytes; say uint8"},
    {FIELDS "  - {name: a, type: uint4}\n  - {name: b, type: bitfield, base: a, bit: 0}\n",
     "4:12: field \"b\": its base \"a\" must be a single integer of whole bytes"},
};

static const refusal of_layouts[] = {
    {"record: R\nlayout: explicit\nfields:\n  - {name: a, type: int8}\n",
     "4:12: field \"a\": layout explicit wants an offset for every field"},
    {"record: R\nlayout: explicit\nfields:\n  - {name: a, type: int32, offset: 0}\n  - {name: b, "
     "type: int8, offset: 3}\n",
     "5:12: field \"b\": at offset 3 it overlaps field \"a\", which ends at 4"},
    {"record: R\nlayout: explicit\nfields:\n  - {name: a, type: int32, offset: 4}\n  - {name: b, "
     "type: int16, count: 3, offset: 0}\n",
     "4:12: field \"a\": at offset 4 it overlaps field \"b\", which ends at 6"},
    {"record: R\nlayout: explicit\nfields:\n  - {name: a, type: int8, offset: 0}\n  - {name: b, "
     "type: int8, offset: 0}\n",
     "5:12: field \"b\": at offset 0 it overlaps field \"a\", which ends at 1"},
    {"record: R\nlayout: explicit\nfields:\n  - {name: a, type: int8, offset: 2147483647}\n",
     "4:12: field \"a\": it ends beyond the 2147483647 bytes that a record may have"},
    {"record: R\nlayout: explicit\nsize: 4\nfields:\n  - {name: a, type: int8, offset: 4}\n",
     "3:7: size 4 is less than the 5 bytes that the fields take"},
    {"record: R\nlayout: packed\nfields:\n  - {name: a, type: int8}\n  - {name: b, type: int32, "
     "offset: 4}\n",
     "5:12: field \"b\": offset 4 does not agree with layout packed, which puts it at 1"},
    {FIELDS "  - {name: a, type: int8}\n  - {name: b, type: int32, offset: 1}\n",
     "4:12: field \"b\": offset 1 does not agree with layout c, which puts it at 4"},
    {"record: R\nlayout: explicit\nfields:\n  - {name: s, type: struct, offset: 0, fields: [{name: "
     "a, type: int8}]}\n",
     "4:56: field \"a\": layout explicit wants an offset for every field"},
};

static const refusal of_keys[] = {
    {KEYS "  - y\n",
     "9:5: key \"y\": there is no field \"y\"; known here: x, name, pos, stats, items"},
    {FIELDS "  - {name: " LONG "a, type: int8}\n  - {name: " LONG "b, type: int8}\n"
            "  - {name: " LONG "ccc, type: int8}\n  - {name: d, type: int8}\nkeys: [q]\n",
     "7:8: key \"q\": there is no field \"q\"; known here: " LONG "a, " LONG "b, ..."},
    {KEYS "  - -name\n",
     "9:5: key \"-name\": there is no field \"-name\"; did you mean name in the order desc?"},
    {KEYS "  - -nam\n", "9:5: key \"-nam\": there is no field \"-nam\"; did you mean name?"},
    {KEYS "  - stas.hp\n", "9:5: key \"stas.hp\": there is no field \"stas\"; did you mean stats?"},
    {KEYS "  - stats.pp\n", "9:5: key \"stats.pp\": there is no field \"pp\"; did you mean hp?"},
    {KEYS "  - stats\n",
     "9:5: key \"stats\": stats is a struct; say which field, such as stats.hp"},
    {KEYS "  - items\n",
     "9:5: key \"items\": items is an array of 2; say which element, such as items[0]"},
    {KEYS "  - items[1]\n",
     "9:5: key \"items[1]\": items is a struct; say which field, such as items[1].id"},
    {KEYS "  - items.id\n",
     "9:5: key \"items.id\": items is an array of 2; say which element, such as items[0]"},
    {KEYS "  - pos.x\n", "9:5: key \"pos.x\": pos is an array of int16, not a struct"},
    {KEYS "  - pos\n  - {field: pos, order: desc}\n",
     "10:13: key \"pos\": it is a key already; leave the later one out"},
    {KEYS "  - pos[3]\n",
     "9:5: key \"pos[3]\": the index is out of range; pos has elements 0 to 2"},
    {KEYS "  - pos[99999999999999999999]\n",
     "9:5: key \"pos[99999999999999999999]\": the index is out of range; pos has elements 0 to 2"},
    {KEYS "  - pos[18446744073709551616]\n",
     "9:5: key \"pos[18446744073709551616]\": the index is out of range; pos has elements 0 to 2"},
    {KEYS "  - pos[]\n", "9:5: key \"pos[]\": an index is written as in pos[2]"},
    {KEYS "  - pos[-1]\n", "9:5: key \"pos[-1]\": an index is written as in pos[2]"},
    {KEYS "  - pos[01]\n", "9:5: key \"pos[01]\": an index is written as in pos[2]"},
    {KEYS "  - pos[x]\n", "9:5: key \"pos[x]\": an index is written as in pos[2]"},
    {KEYS "  - pos[1\n", "9:5: key \"pos[1\": an index is written as in pos[2]"},
    {KEYS "  - pos[1]x\n",
     "9:5: key \"pos[1]x\": \"x\" is out of place; say a path such as pos[2] or stats.hp"},
    {KEYS "  - pos[1][0]\n",
     "9:5: key \"pos[1][0]\": \"[0]\" is out of place; say a path such as pos[2] or stats.hp"},
    {KEYS "  - pos[0].x\n", "9:5: key \"pos[0].x\": pos is int16, not a struct"},
    {KEYS "  - x[0]\n", "9:5: key \"x[0]\": x is not an array; leave the index out"},
    {KEYS "  - x.y\n", "9:5: key \"x.y\": x is float32, not a struct"},
    {KEYS "  - name[0]\n", "9:5: key \"name[0]\": name is not an array; leave the index out"},
    {KEYS "  - stats[0].hp\n",
     "9:5: key \"stats[0].hp\": stats is not an array; leave the index out"},
    {KEYS "  - stats.\n",
     "9:5: key \"stats.\": a name is missing; say a path such as pos[2] or stats.hp"},
    {KEYS "  - ''\n", "9:5: key \"\": a name is missing; say a path such as pos[2] or stats.hp"},
    {KEYS "  - .x\n", "9:5: key \".x\": a name is missing; say a path such as pos[2] or stats.hp"},
    {KEYS "  - x]\n",
     "9:5: key \"x]\": \"]\" is out of place; say a path such as pos[2] or stats.hp"},
    {KEYS "  - {field: pos[0], nan: last}\n",
     "9:16: not YAML: did not find expected ',' or '}'; look for a missing bracket or comma, and "
     "put a path such as \"pos[2]\" in quotes"},
    {KEYS "  - {field: \"pos[0]\", nan: first}\n",
     "9:13: key \"pos[0]\": nan is for floats, times and fields with null, and pos is int16; leave "
     "it out"},
    {KEYS "  - {field: name, nan: total}\n", "9:13: key \"name\": nan is for floats, times and "
                                             "fields with null, and name is char; leave it out"},
    {KEYS "  - {field: x, nan: middle}\n",
     "9:21: key \"x\": unknown nan \"middle\"; say one of last, first, total"},
    {KEYS "  - {field: x, order: descending}\n",
     "9:23: key \"x\": unknown order \"descending\"; say one of asc, desc"},
    {KEYS "  - {field: x, order: up}\n",
     "9:23: key \"x\": unknown order \"up\"; say one of asc, desc"},
    {KEYS "  - {order: asc}\n", "9:5: key: it has no field; say {field: x, order: asc}"},
    {KEYS "  - {feild: x}\n", "9:6: key: unknown word \"feild\"; did you mean field?"},
    {KEYS "  - {field: x, ann: last}\n",
     "9:16: key \"x\": unknown word \"ann\"; did you mean nan?"},
    {KEYS "  - [x]\n", "9:5: key: it must be a mapping, not a list"},
    {KEYS "  - {field: x, field: x}\n", "9:16: key \"x\": field is given twice, first on line 9"},
    {KEYS "  - x\n  - {field: x, order: desc}\n",
     "10:13: key \"x\": it is a key already; leave the later one out"},
    {KEYS "  x\n", "9:3: keys must be a list, not a single value"},
};

static void expect_refusal(const char *text, size_t size, const char *message)
{
  char whole[600];
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  snprintf(whole, sizeof whole, "t.yaml:%s", message);
  const recsort_status status =
      recsort_schema_load_memory(text, size, "t.yaml", NULL, &schema, &error);
  if (status == RECSORT_OK) fail_msg("accepted:\n%s", text);
  assert_string_equal(error.text, whole);
  assert_int_equal(error.status, status);
  assert_int_equal(status, strstr(message, ": key \"") && !strstr(message, "unknown") &&
                                   !strstr(message, "given twice") && !strstr(message, "more than")
                               ? RECSORT_INVALID_KEY
                               : RECSORT_INVALID_SCHEMA);
  assert_null(schema);
  unsigned line, column;
  assert_int_equal(sscanf(message, "%u:%u", &line, &column), 2);
  assert_int_equal(error.line, line);
  assert_int_equal(error.column, column);
}

static void expect_refusals(const refusal *refusals, size_t count)
{
  for (size_t i = 0; i < count; i++)
    expect_refusal(refusals[i].text, strlen(refusals[i].text), refusals[i].message);
}

#define REFUSALS(name)                                                                             \
  static void refuses_##name(void **state)                                                         \
  {                                                                                                \
    (void)state;                                                                                   \
    expect_refusals(of_##name, sizeof of_##name / sizeof *of_##name);                              \
  }
REFUSALS(text)
REFUSALS(record)
REFUSALS(fields)
REFUSALS(structs)
REFUSALS(enums)
REFUSALS(bitfields)
REFUSALS(null_values)
REFUSALS(layouts)
REFUSALS(keys)

static void refuses_many_keys(void **state)
{
  enum { MOST = 1024 };
  char text[8 * MOST] = "record: R\nfields:\n  - {name: a, type: int8}\nkeys: [a";
  (void)state;
  for (int i = 0; i < MOST; i++)
    strcat(text, ", a");
  strcat(text, "]\n");
  expect_refusal(text, strlen(text),
                 "4:3080: key \"a\": more than 1024 keys, which no order needs");
}

static void refuses_utf16(void **state)
{
  static const char text[] = "r\0e\0c\0";
  (void)state;
  expect_refusal(text, sizeof text, "1:2: a NUL character; save the file as UTF-8, not UTF-16");
}

/* ---- The table of types and its documentation ---- */

static char *read_beside_schemas(const char *name)
{
  char path[400];
  snprintf(path, sizeof path, RS_SCHEMAS "/%s", name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *text = calloc(1, 1 << 16);
  assert_non_null(text);
  const size_t size = fread(text, 1, (1 << 16) - 1, file);
  assert_true(size > 0 && feof(file));
  fclose(file);
  return text;
}

static void expect_quoted(const char *text, char quote, const char *word)
{
  char quoted[64];
  snprintf(quoted, sizeof quoted, "%c%s%c", quote, word, quote);
  if (!strstr(text, quoted)) fail_msg("%s is not written down", quoted);
}

static void documents_every_type(void **state)
{
  char *page = read_beside_schemas("../docs/schema.md");
  char *editors = read_beside_schemas("recsort.schema.json");
  char *example = read_beside_schemas("everything.yaml");
  (void)state;
  for (recsort_type type = RECSORT_BOOL; rs_is_type(type); type++) {
    const rs_type *row = rs_type_of(type);
    char used[64];
    expect_quoted(page, '`', row->info.name);
    expect_quoted(editors, '"', row->info.name);
    for (const char *const *word = row->words; *word; word++)
      expect_quoted(editors, '"', *word);
    snprintf(used, sizeof used, "type: %s", row->info.name);
    if (!strstr(example, used)) fail_msg("everything.yaml has no %s", used);
  }
  free(page);
  free(editors);
  free(example);
}

/* Every spelling of a type, and the field that it makes. */
enum { MOST_SPELLINGS = 5 };
static const struct {
  recsort_type type;
  bool big_endian;
  size_t size;
  const char *words[MOST_SPELLINGS]; /* NULL ends them */
} spellings[] = {
    {RECSORT_BOOL, false, 1, {"bool", "_Bool", "?", "|b1"}},
    {RECSORT_INT8, false, 1, {"int8", "signed char", "int8_t", ">i1"}},
    {RECSORT_INT16, false, 2, {"int16", "short", "short int", "int16_t", "<i2"}},
    {RECSORT_INT32, false, 4, {"int32", "int", "signed", "signed int", "int32_t"}},
    {RECSORT_INT64, false, 8, {"int64", "long long", "long long int", "int64_t"}},
    {RECSORT_UINT8, false, 1, {"uint8", "unsigned char", "uint8_t", "|u1"}},
    {RECSORT_UINT16, false, 2, {"uint16", "unsigned short", "unsigned short int", "uint16_t"}},
    {RECSORT_UINT32, false, 4, {"uint32", "unsigned", "unsigned int", "uint32_t"}},
    {RECSORT_UINT64, false, 8, {"uint64", "unsigned long long", "uint64_t"}},
    {RECSORT_UINT64, false, 8, {"unsigned long long int"}},
    {RECSORT_FLOAT16, false, 2, {"float16", "_Float16", "half", "<f2"}},
    {RECSORT_BFLOAT16, false, 2, {"bfloat16", "__bf16"}},
    {RECSORT_FLOAT32, false, 4, {"float32", "float", "<f4"}},
    {RECSORT_FLOAT64, false, 8, {"float64", "double"}},
    {RECSORT_CHAR, false, 1, {"char", "|S1"}},
    {RECSORT_BYTES, false, 1, {"bytes"}},
    {RECSORT_INT16, true, 2, {">i2"}},
    {RECSORT_INT32, true, 4, {">i4"}},
    {RECSORT_INT64, true, 8, {">i8"}},
    {RECSORT_UINT16, true, 2, {">u2"}},
    {RECSORT_UINT32, true, 4, {">u4"}},
    {RECSORT_UINT64, true, 8, {">u8"}},
    {RECSORT_FLOAT32, true, 4, {">f4"}},
    {RECSORT_FLOAT64, true, 8, {">f8"}},
    {RECSORT_CHAR, false, 10, {"S10"}},
    {RECSORT_UUID, false, 16, {"uuid"}},
    {RECSORT_IPV4, false, 4, {"ipv4"}},
    {RECSORT_IPV6, false, 16, {"ipv6"}},
    {RECSORT_MAC, false, 6, {"mac"}},
    {RECSORT_INT128, false, 16, {"int128", "__int128", "__int128_t"}},
    {RECSORT_UINT128, false, 16, {"uint128", "unsigned __int128", "__uint128_t"}},
    {RECSORT_DATETIME_D, false, 8, {"datetime_d", "<M8[D]"}},
    {RECSORT_DATETIME_S, false, 8, {"datetime_s", "time_t", "<M8[s]"}},
    {RECSORT_DATETIME_MS, false, 8, {"datetime_ms", "<M8[ms]"}},
    {RECSORT_DATETIME_US, false, 8, {"datetime_us", "<M8[us]"}},
    {RECSORT_DATETIME_NS, true, 8, {">M8[ns]"}},
    {RECSORT_DATETIME_NS, false, 8, {"datetime_ns", "<M8[ns]"}},
    {RECSORT_CSTRING, false, 1, {"cstring"}},
    {RECSORT_INT24, false, 3, {"int24"}},
    {RECSORT_INT40, false, 5, {"int40"}},
    {RECSORT_INT48, false, 6, {"int48"}},
    {RECSORT_INT56, false, 7, {"int56"}},
    {RECSORT_UINT24, false, 3, {"uint24"}},
    {RECSORT_UINT40, false, 5, {"uint40"}},
    {RECSORT_UINT48, false, 6, {"uint48"}},
    {RECSORT_UINT56, false, 7, {"uint56"}},
    {RECSORT_INT1, false, 1, {"int1"}},
    {RECSORT_INT2, false, 1, {"int2"}},
    {RECSORT_INT4, false, 1, {"int4"}},
    {RECSORT_UINT1, false, 1, {"uint1"}},
    {RECSORT_UINT2, false, 1, {"uint2"}},
    {RECSORT_UINT4, false, 1, {"uint4"}},
    {RECSORT_FLOAT8_E3M4, false, 1, {"float8_e3m4"}},
    {RECSORT_FLOAT8_E4M3, false, 1, {"float8_e4m3"}},
    {RECSORT_FLOAT8_E4M3B11FNUZ, false, 1, {"float8_e4m3b11fnuz"}},
    {RECSORT_FLOAT8_E4M3FN, false, 1, {"float8_e4m3fn"}},
    {RECSORT_FLOAT8_E4M3FNUZ, false, 1, {"float8_e4m3fnuz"}},
    {RECSORT_FLOAT8_E5M2, false, 1, {"float8_e5m2"}},
    {RECSORT_FLOAT8_E5M2FNUZ, false, 1, {"float8_e5m2fnuz"}},
    {RECSORT_FLOAT8_E8M0FNU, false, 1, {"float8_e8m0fnu"}},
    {RECSORT_FLOAT6_E2M3FN, false, 1, {"float6_e2m3fn"}},
    {RECSORT_FLOAT6_E3M2FN, false, 1, {"float6_e3m2fn"}},
    {RECSORT_FLOAT4_E2M1FN, false, 1, {"float4_e2m1fn"}},
    {RECSORT_BYTES, false, 10, {"V10"}},
    {RECSORT_BYTES, false, 3, {"|V3"}},
};

static void expect_spelling(const char *word, recsort_type type, bool big_endian, size_t size)
{
  char text[200];
  size_t count;
  snprintf(text, sizeof text, FIELDS "  - {name: a, type: \"%s\"}\n", word);
  recsort_schema *schema = schema_of(text);
  const recsort_field_desc *field = recsort_schema_describe(schema)->fields;
  count = recsort_schema_describe(schema)->field_count;
  assert_int_equal(count, 1);
  if (field->type != type) fail_msg("%s is not read as it should", text);
  assert_int_equal(field->endian, big_endian ? RECSORT_BIG_ENDIAN : RECSORT_LITTLE_ENDIAN);
  assert_int_equal(field->size, size);
  assert_int_equal(field->count, 0);
  recsort_schema_destroy(schema);
}

static void reads_every_spelling_of_a_type(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
    for (size_t w = 0; w < MOST_SPELLINGS && spellings[i].words[w]; w++)
      expect_spelling(spellings[i].words[w], spellings[i].type, spellings[i].big_endian,
                      spellings[i].size);
}

static void reads_every_word_of_the_record(void **state)
{
  (void)state;
  recsort_schema *schema =
      schema_of("---\nkeys: [{nan: total, field: b, order: desc}, a]\ntrailer: 0x10\n"
                "skip: 24\nsize: 7\nlayout: packed\nendian: big\nfields:\n"
                "- {type: float, name: b}\n- {name: a, type: short}\n"
                "record: \"two words\"\n...\n");
  size_t count;
  const recsort_field_desc *fields = recsort_schema_describe(schema)->fields;
  count = recsort_schema_describe(schema)->field_count;
  assert_int_equal(count, 2);
  assert_string_equal(fields[1].name, "a");
  assert_int_equal(fields[1].offset, 4);
  assert_int_equal(fields[1].endian, RECSORT_BIG_ENDIAN);
  assert_string_equal(recsort_schema_describe(schema)->record, "two words");
  assert_int_equal(recsort_schema_describe(schema)->size, 7);
  recsort_schema_desc info = *recsort_schema_describe(schema);
  assert_int_equal(info.skip, 24);
  assert_int_equal(info.trailer, 16);
  const recsort_key_desc *keys = recsort_schema_describe(schema)->keys;
  count = recsort_schema_describe(schema)->key_count;
  assert_int_equal(count, 2);
  assert_string_equal(keys[0].path, "b");
  assert_int_equal(keys[0].order, RECSORT_DESCENDING);
  assert_int_equal(keys[0].nan, RECSORT_NAN_TOTAL);
  assert_int_equal(keys[0].line, 2);
  assert_int_equal(keys[0].column, 28);
  assert_string_equal(keys[1].path, "a");
  assert_int_equal(keys[1].order, RECSORT_ASCENDING);
  assert_int_equal(keys[1].nan, RECSORT_NAN_LAST);
  recsort_schema_destroy(schema);
}

static void reads_the_words_of_files(void **state)
{
  (void)state;
  recsort_schema *schema =
      schema_of("record: R\nendian: big\nskip: {type: uint16, offset: 0x60}\ntrailer: any\n"
                "count: {offset: 3, type: char, count: 20}\nfields: [{name: a, type: int8}]\n");
  recsort_schema_desc info = *recsort_schema_describe(schema);
  assert_int_equal(info.skip, 0);
  assert_int_equal(info.count, 0);
  assert_true(info.trailer == RECSORT_ANY_TRAILER);
  assert_int_equal(info.place_count, 2);
  assert_int_equal(info.places[0].kind, RECSORT_PLACE_SKIP);
  assert_int_equal(info.places[0].field->type, RECSORT_UINT16);
  assert_int_equal(info.places[0].field->offset, 96);
  assert_int_equal(info.places[0].field->size, 2);
  assert_int_equal(info.places[0].field->endian, RECSORT_BIG_ENDIAN);
  assert_int_equal(info.places[1].kind, RECSORT_PLACE_COUNT);
  assert_int_equal(info.places[1].field->type, RECSORT_CHAR);
  assert_int_equal(info.places[1].field->size, 20);
  recsort_schema_destroy(schema);
  schema = schema_of("record: R\nskip: 7\ncount: 5\nfields: [{name: a, type: int8}]\n");
  info = *recsort_schema_describe(schema);
  assert_int_equal(info.skip, 7);
  assert_int_equal(info.count, 5);
  assert_int_equal(info.trailer, 0);
  assert_int_equal(info.place_count, 0);
  assert_false(info.repeat);
  recsort_schema_destroy(schema);
  schema =
      schema_of("record: R\nskip: 7\nrepeat: true\ncount: 5\nfields: [{name: a, type: int8}]\n");
  info = *recsort_schema_describe(schema);
  assert_true(info.repeat);
  recsort_schema_destroy(schema);
  schema =
      schema_of("record: R\nskip: {offset: 0, type: \">u4\"}\nfields: [{name: a, type: int8}]\n");
  info = *recsort_schema_describe(schema);
  assert_int_equal(info.places[0].field->endian, RECSORT_BIG_ENDIAN);
  recsort_schema_destroy(schema);
  assert_null(recsort_schema_describe(NULL));
}

/* A value or a list; the field has them in ascending order. */
static void reads_null_values(void **state)
{
  static const struct {
    const char *type, *text;
    size_t count;
    int64_t values[3];
  } cases[] = {
      {"int8", "-128", 1, {-128}},
      {"uint8", "0xff", 1, {255}},
      {"int24", "[8388607, -8388608, 0]", 3, {-8388608, 0, 8388607}},
      {"uint56", "0xffffffffffffff", 1, {0xffffffffffffff}},
      {"int64", "[-9223372036854775808, 9223372036854775807]", 2, {INT64_MIN, INT64_MAX}},
      {"uint64", "[18446744073709551615, 0]", 2, {0, -1}},
      {"int4", "[7, -8]", 2, {-8, 7}},
      {"uint1", "1", 1, {1}},
  };
  char text[200];
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    (void)snprintf(text, sizeof text, FIELDS "  - {null: %s, name: a, type: %s}\n", cases[i].text,
                   cases[i].type);
    recsort_schema *schema = schema_of(text);
    const recsort_field_desc *const field = recsort_schema_describe(schema)->fields;
    assert_int_equal(field->null_count, cases[i].count);
    for (size_t v = 0; v < cases[i].count; v++)
      assert_true(field->nulls[v] == cases[i].values[v]);
    recsort_schema_destroy(schema);
  }
  recsort_schema *schema = schema_of(FIELDS "  - {name: a, type: int8}\n");
  assert_int_equal(recsort_schema_describe(schema)->fields->null_count, 0);
  recsort_schema_destroy(schema);
}

/* What the limits of a scale are; tests/schema/hostile.txt has what lies beyond them. */
static void reads_scales(void **state)
{
  static const char *const scales[] = {"1",      "0.01",   ".5",    "5.",   "000000000000000001",
                                       "1e-18",  "1.5e18", "9e+18", "0.10", "0.00000000000000001",
                                       "1.2e07", "3e0"};
  char text[100];
  (void)state;
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    (void)snprintf(text, sizeof text,
                   "record: R\nfields: [{name: a, type: uint64, count: 2, scale: %s}]\n",
                   scales[i]);
    recsort_schema *schema = schema_of(text);
    assert_string_equal(recsort_schema_describe(schema)->fields->scale, scales[i]);
    recsort_schema_destroy(schema);
  }
  static const char *const wrong[] = {
      "1e",   "1e-",   "1e+-1", "1e001", "e5",   ".",     "1e1x",
      "1E-2", "1e-19", "0e5",   "inf",   "0x10", "1 000", "0.000000000000000001"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const recsort_field_desc field = {.name = "a", .type = RECSORT_INT8, .scale = wrong[i]};
    const recsort_schema_desc desc = {
        .struct_size = sizeof desc, .record = "R", .fields = &field, .field_count = 1};
    recsort_schema *schema = NULL;
    recsort_error error = {0};
    assert_int_equal(recsort_schema_create(&desc, NULL, &schema, &error), RECSORT_INVALID_SCHEMA);
    assert_non_null(strstr(error.text, wrong[i]));
  }
  recsort_schema *schema = schema_of("record: R\nfields:\n  - {name: a, type: int8}\n"
                                     "  - {name: b, type: enum, values: [x]}\n");
  assert_null(recsort_schema_describe(schema)->fields->scale);
  assert_null(recsort_schema_describe(schema)->fields[1].scale);
  recsort_schema_destroy(schema);
}

static void numbers_enumerators_as_c_does(void **state)
{
  static const int64_t expected[] = {0, 1, 5, 6, -3, -2, INT64_MIN, 16};
  (void)state;
  recsort_schema *schema =
      schema_of(FIELDS "  - {name: e, type: enum, base: int64, values: [a, b, {name: "
                       "c, value: 5}, {name: d}, {value: -3, name: e}, f, {name: g, "
                       "value: -9223372036854775808}, {name: h, value: 0x10}]}\n");
  const recsort_field_desc *field = recsort_schema_describe(schema)->fields;
  assert_int_equal(field->enumerator_count, 8);
  for (size_t i = 0; i < 8; i++) {
    assert_int_equal(field->enumerators[i].value, expected[i]);
    assert_int_equal(field->enumerators[i].name[0], 'a' + (int)i);
  }
  recsort_schema_destroy(schema);
  schema = schema_of(FIELDS "  - {name: e, type: enum, values: [a, {name: b, value: "
                            "9223372036854775807}, c, {name: d, value: 18446744073709551615}], "
                            "base: uint64}\n");
  field = recsort_schema_describe(schema)->fields;
  assert_int_equal(field->base, RECSORT_UINT64);
  assert_true((uint64_t)field->enumerators[2].value == UINT64_C(1) << 63);
  assert_true((uint64_t)field->enumerators[3].value == UINT64_MAX);
  recsort_schema_destroy(schema);
}

static void takes_any_utf8_as_a_name(void **state)
{
  (void)state;
  recsort_schema *schema = schema_of("record: Größe\nfields:\n  - {name: 距離 🎯, type: int8}\n"
                                     "  - {name: no, type: int8}\nkeys: [距離 🎯, no]\n");
  assert_string_equal(recsort_schema_describe(schema)->fields->name, "距離 🎯");
  recsort_schema_destroy(schema);
}

/* Nested structs, with one field in the innermost; depth 1 is a record without structs. */
static void nested_text(char *text, unsigned depth)
{
  strcpy(text, "record: R\nfields: [");
  for (unsigned i = 1; i < depth; i++)
    sprintf(text + strlen(text), "{name: s%u, type: struct, fields: [", i);
  strcat(text, "{name: x, type: int8}");
  for (unsigned i = 1; i < depth; i++)
    strcat(text, "]}");
  strcat(text, "]\n");
}

static void nests_32_deep_and_no_deeper(void **state)
{
  char text[4096];
  (void)state;
  nested_text(text, RS_SCHEMA_MAX_DEPTH);
  recsort_schema_destroy(schema_of(text));
  nested_text(text, RS_SCHEMA_MAX_DEPTH + 1);
  expect_refusal(text, strlen(text), "2:1121: field \"s32\": fields are nested deeper than 32");
}

static void cuts_long_names_between_characters(void **state)
{
  char text[400] = FIELDS "  - {name: \"", expected[200];
  (void)state;
  for (int i = 0; i < 40; i++)
    strcat(text, "äx");
  strcat(text, "\", type: f31}\n");
  strcpy(expected, "3:102: field \"");
  for (int i = 0; i < 21; i++)
    strcat(expected, "äx");
  strcat(expected, "\": unknown type \"f31\"; did you mean float32?");
  expect_refusal(text, strlen(text), expected);
}

/* What a schema says about itself makes the same schema. */
static void expect_same_again(const recsort_schema *schema)
{
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  recsort_schema *again = NULL;
  recsort_error error = {0};
  if (recsort_schema_create(desc, NULL, &again, &error)) fail_msg("%s", error.text);
  assert_true(same_schemas(desc, recsort_schema_describe(again)));
  recsort_schema_destroy(again);
}

/* Computed values, null values, and conditions on numbers, texts and lines. */
static void is_made_again_of_its_description(void **state)
{
#define POINTS "fields: [{name: x, type: float32}, {name: y, type: float32}]\n"
  static const char *const texts[] = {
      "record: R\n" POINTS "keys:\n  - distance: {fields: [x, y], from: here}\n"
      "  - distance: {fields: [x], from: [2.5]}\n    order: desc\n",
      "record: R\n" POINTS "keys:\n  - dot: {fields: [x, y], with: forward}\n"
      "  - dot: {fields: [y], with: [-1]}\n    nan: first\n",
      "record: R\n" POINTS
      "keys: [{morton: {fields: [x, y], bits: 5, min: [0, 1], max: [8, 9]}}, x]\n",
      "record: R\n" POINTS
      "keys: [{hilbert: {fields: [y, x], bits: 7, min: [-1, -2], max: [3, 4]}}]\n",
      "record: R\nskip: 32\ncount: {offset: 4, type: uint32}\n"
      "expect:\n  - {offset: 0, bytes: ABCD}\n  - {offset: 8, type: int16, value: [-3, 7]}\n"
      "  - {offset: 10, type: uint16, least: 4}\n"
      "fields: [{name: a, type: int16, null: [7, -1]}]\nkeys: [a]\n"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    recsort_schema *const schema = schema_of(texts[i]);
    expect_same_again(schema);
    recsort_schema_destroy(schema);
  }
}

static void loads_the_example_schemas(void **state)
{
  static const struct {
    const char *file;
    size_t size, fields, keys;
  } examples[] = {{"entity", 20, 5, 1},    {"gensort", 100, 2, 1}, {"elf64-sym", 24, 9, 1},
                  {"netflow5", 48, 22, 2}, {"particle", 28, 3, 1}, {"everything", 352, 70, 11},
                  {"las", 28, 14, 1},      {"stl", 50, 3, 3},      {"utmp", 384, 13, 2},
                  {"las6", 30, 17, 1},     {"wav", 4, 2, 2},       {"fits", 8, 2, 2},
                  {"pcd", 16, 4, 2},       {"ply", 15, 6, 3},      {"dbf", 31, 3, 2},
                  {"shx", 8, 2, 1},        {"pcap", 76, 5, 3},     {"segy", 240, 5, 2}};
  (void)state;
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
    char path[300];
    recsort_schema *schema = NULL;
    recsort_error error = {0};
    snprintf(path, sizeof path, "%s/%s.yaml", RS_SCHEMAS, examples[i].file);
    if (recsort_schema_load_file(path, NULL, &schema, &error)) fail_msg("%s", error.text);
    assert_int_equal(recsort_schema_describe(schema)->size, examples[i].size);
    assert_int_equal(recsort_schema_describe(schema)->field_count, examples[i].fields);
    assert_int_equal(recsort_schema_describe(schema)->key_count, examples[i].keys);
    expect_same_again(schema);
    recsort_schema_destroy(schema);
  }
}

/* ---- Files and arguments ----------------------------------------------------------------------
 */

static void refuses_what_is_no_file(void **state)
{
  static const char *const cases[][2] = {
      {"/nonexistent/a.yaml", "/nonexistent/a.yaml: No such file or directory"},
      {"/", "/: is a folder, not a schema"},
      {"/dev/null", "/dev/null: is neither a file nor a pipe"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    recsort_schema *schema = NULL;
    recsort_error error = {0};
    assert_int_equal(recsort_schema_load_file(cases[i][0], NULL, &schema, &error),
                     RECSORT_IO_ERROR);
    assert_string_equal(error.text, cases[i][1]);
    assert_int_equal(error.line, 0);
    assert_null(schema);
  }
}

static void refuses_calls_that_make_no_sense(void **state)
{
  recsort_schema *schema = NULL;
  (void)state;
  assert_int_equal(recsort_schema_load_file(NULL, NULL, &schema, NULL), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_schema_load_file("a", NULL, NULL, NULL), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_schema_load_memory(NULL, 1, NULL, NULL, &schema, NULL),
                   RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_schema_load_memory("a", 1, NULL, NULL, NULL, NULL),
                   RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_schema_load_memory(NULL, 0, NULL, NULL, &schema, NULL),
                   RECSORT_INVALID_SCHEMA);
  assert_int_equal(recsort_schema_create(NULL, NULL, &schema, NULL), RECSORT_INVALID_ARGUMENT);
  recsort_schema_destroy(NULL);
  assert_null(schema);
}

/* ---- Memory -----------------------------------------------------------------------------------
 */

typedef struct counter {
  size_t left; /* allocations until one fails */
  size_t live; /* bytes held */
} counter;

static void *counted_allocate(void *context, size_t size)
{
  counter *c = context;
  if (c->left == 0) return NULL;
  c->left--;
  c->live += size;
  return test_malloc(size);
}

static void counted_release(void *context, void *memory, size_t size)
{
  ((counter *)context)->live -= size;
  test_free(memory);
}

static void survives_every_failing_allocation(void **state)
{
  size_t faults = 0;
  recsort_status status;
  (void)state;
  do {
    counter c = {.left = faults};
    const recsort_allocator allocator = {&c, counted_allocate, counted_release};
    recsort_schema *schema = NULL;
    recsort_error error = {0};
    status = recsort_schema_load_file(RS_SCHEMAS "/everything.yaml", &allocator, &schema, &error);
    if (status) {
      assert_int_equal(status, RECSORT_OUT_OF_MEMORY);
      assert_int_equal(error.status, RECSORT_OUT_OF_MEMORY);
      assert_null(schema);
    }
    recsort_schema_destroy(schema);
    assert_int_equal(c.live, 0);
    faults += status != RECSORT_OK;
  } while (status);
  print_message("%zu allocations failed in turn\n", faults);
  assert_true(faults >= 5);
}

/* The characters that YAML allows in a comment, and others; lines may end as on any system. */
static void judges_each_character(void **state)
{
  static const struct {
    const char *text;
    unsigned line; /* the line where it is refused; 0: accepted */
  } cases[] = {
      {"record: R # \t\xc2\xa0\xef\xbf\xbd\xc2\x85\nfields: [{name: a, type: uint8}]\n", 0},
      {"record: R\rfields:\r  - {name: a, type: uint8}\r", 0},
      {"record: R\r\nfields:\r\n  - {name: a, type: uint8}\r\n", 0},
      {"record: R\r# \x01\r", 2},
      {"record: R\r\n# \x01\r\n", 2},
      {"record: R\r", 1},
      {"record: R\n# \x7f\n", 2},
      {"record: R\n# \xc2\x9f\n", 2},
      {"record: R\n\n# \xef\xbb\xbf\n", 3},
      {"record: R\n\n# \xef\xbf\xbe\n", 3},
      {"record: R\n\n# \xef\xbf\xbf\n", 3},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    recsort_schema *schema = NULL;
    recsort_error error = {0};
    const recsort_status status = recsort_schema_load_memory(cases[i].text, strlen(cases[i].text),
                                                             "t.yaml", NULL, &schema, &error);
    char place[20];
    (void)snprintf(place, sizeof place, "t.yaml:%u", cases[i].line);
    if ((status == RECSORT_OK) != (cases[i].line == 0)) fail_msg("%zu: %s", i, error.text);
    if (cases[i].line > 1 && !strstr(error.text, place)) fail_msg("%zu: %s", i, error.text);
    recsort_schema_destroy(schema);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_text),
      cmocka_unit_test(refuses_record),
      cmocka_unit_test(refuses_fields),
      cmocka_unit_test(refuses_structs),
      cmocka_unit_test(refuses_enums),
      cmocka_unit_test(refuses_bitfields),
      cmocka_unit_test(refuses_null_values),
      cmocka_unit_test(refuses_layouts),
      cmocka_unit_test(refuses_keys),
      cmocka_unit_test(refuses_many_keys),
      cmocka_unit_test(refuses_utf16),
      cmocka_unit_test(documents_every_type),
      cmocka_unit_test(reads_every_spelling_of_a_type),
      cmocka_unit_test(reads_every_word_of_the_record),
      cmocka_unit_test(reads_the_words_of_files),
      cmocka_unit_test(reads_scales),
      cmocka_unit_test(reads_null_values),
      cmocka_unit_test(numbers_enumerators_as_c_does),
      cmocka_unit_test(takes_any_utf8_as_a_name),
      cmocka_unit_test(nests_32_deep_and_no_deeper),
      cmocka_unit_test(cuts_long_names_between_characters),
      cmocka_unit_test(is_made_again_of_its_description),
      cmocka_unit_test(loads_the_example_schemas),
      cmocka_unit_test(refuses_what_is_no_file),
      cmocka_unit_test(refuses_calls_that_make_no_sense),
      cmocka_unit_test(judges_each_character),
      cmocka_unit_test(survives_every_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

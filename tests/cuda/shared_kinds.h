/* shared_kinds.h - records, and their sizes, that tests of device memory sort. Their keys have many
 * ties. Needs support/native.h. */
#ifndef RS_TEST_SHARED_KINDS_H
#define RS_TEST_SHARED_KINDS_H

#define SHARED_KINDS                                                                               \
  {"record: Row\n" NATIVE "fields:\n- {name: key, type: uint32}\n"                                 \
   "- {name: kind, type: enum, base: uint8, values: [x, y]}\n- {name: rest, type: uint8, count: "  \
   "7}\n"                                                                                          \
   "- {name: place, type: uint64}\nkeys: [{field: key}, {field: kind, order: desc}]\n",            \
   24},                                                                                            \
      {"record: Small\n" NATIVE "layout: packed\nfields:\n- {name: low, type: uint16}\n"           \
       "- {name: rest, type: uint8, count: 3}\nkeys: [low]\n",                                     \
       5},                                                                                         \
      {"record: Entity\n" NATIVE                                                                   \
       "fields:\n- {name: x, type: float32}\n- {name: y, type: float32}\n"                         \
       "- {name: angle, type: float32}\n- {name: sprite, type: int16}\n"                           \
       "- {name: distance, type: float32}\nkeys: [{field: distance, order: desc}]\n",              \
       20},                                                                                        \
  {                                                                                                \
    "record: Wide\n" NATIVE "fields:\n- {name: high, type: uint64}\n- {name: low, type: int64}\n"  \
    "keys: [high, low]\n",                                                                         \
        16                                                                                         \
  }

#endif

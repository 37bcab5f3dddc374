/* reader.h - reads YAML text as the few shapes of a schema: texts, lists, and mappings of known
 * words. It refuses everything else in YAML (anchors, aliases, tags, a second document) as it
 * arrives. A reader is one event ahead; each rs_read_ call consumes a whole node. */
#ifndef RS_SCHEMA_READER_H
#define RS_SCHEMA_READER_H

#include "base/error.h"
#include "base/memory.h"
#include "base/platform/print.h"

/* The most words of a schema, so that no text of 1 MiB takes long. */
enum { RS_SCHEMA_MAX_WORDS = 1 << 14 };

typedef struct rs_reader rs_reader;

typedef struct rs_text {
  const char *value; /* NULL: not given */
  bool quoted;
  rs_place place;
} rs_text;

/* The subject of a message, as in `field "price": `. NULL: the whole schema. */
typedef struct rs_subject {
  const char *what;
  const rs_text *name; /* its value may be NULL so far */
} rs_subject;

/* Reads one item of a list into `list`. */
typedef recsort_status rs_item_reader(rs_reader *reader, void *list);

/* A word that a mapping may hold, and where its value goes. */
typedef struct rs_slot {
  const char *word;
  rs_text *text;        /* the value is a text, or */
  rs_item_reader *item; /* a list whose items this reads */
  void *list;
  rs_item_reader *node; /* or anything that this reads into `list` */
  rs_place place;       /* place of the word; line 0: not given */
} rs_slot;

/* Checks the whole text and starts reading. `*reader` is in `arena`; close it, even after a
 * failure, unless it is NULL. */
recsort_status rs_reader_open(const void *text, size_t size, const char *name, rs_arena *arena,
                              rs_reader **reader, recsort_error *error);
void rs_reader_close(rs_reader *reader);
/* Checks that nothing follows the node of the document. */
recsort_status rs_reader_end(rs_reader *reader);

bool rs_reader_at_text(const rs_reader *reader);
bool rs_reader_at_list(const rs_reader *reader);
rs_place rs_reader_place(const rs_reader *reader);

/* `what` is the name of the text in messages. */
recsort_status rs_read_text(rs_reader *reader, const rs_subject *subject, const char *what,
                            rs_text *text);
recsort_status rs_read_list(rs_reader *reader, const rs_subject *subject, const char *what,
                            rs_item_reader *item, void *list);
recsort_status rs_read_mapping(rs_reader *reader, const rs_subject *subject, rs_slot *slots,
                               size_t slot_count);

/* Refuses the schema. The subject precedes the text. */
recsort_status rs_refuse(const rs_reader *reader, rs_place place, const rs_subject *subject,
                         const char *format, ...) RS_PRINTS(4, 5);

/* Memory from the arena. NULL if there is none; the error is filled in. */
void *rs_reader_memory(const rs_reader *reader, size_t count, size_t size);
/* Returns `items` with space for one more than `count`: the same array, or a copy of twice the size
 * in the arena. NULL as above. */
void *rs_reader_grow(const rs_reader *reader, void *items, size_t count, size_t size);

#endif

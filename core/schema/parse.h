/* parse.h - turns YAML text into the description of a schema.
 *
 * It reads events, not a document, so it refuses hostile text as it arrives and never stores it: by
 * its size before anything is read, by its depth, and at the first anchor, alias, tag or second
 * document.
 */
#ifndef RS_SCHEMA_PARSE_H
#define RS_SCHEMA_PARSE_H

#include "base/error.h"
#include "base/memory.h"

enum { RS_SCHEMA_MAX_BYTES = 1 << 20, RS_SCHEMA_MAX_DEPTH = 32 };

/* Fills in `desc`; everything it points to is in `arena`, which may hold part of it on failure. It
 * checks only the text (words, types, numbers); the layout checks whether the fields make a record.
 * `name` is used as desc->source. */
recsort_status rs_schema_parse(const void *text, size_t size, const char *name, rs_arena *arena,
                               recsort_schema_desc *desc, recsort_error *error);

#endif

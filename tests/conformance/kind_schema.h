/* kind_schema.h - the library's schema of a kind. The kinds themselves do not need the library. */
#ifndef RS_CONFORMANCE_KIND_SCHEMA_H
#define RS_CONFORMANCE_KIND_SCHEMA_H

#include "kinds.h"

/* The schema of a kind, and its keys for the oracle. NULL, after a message, on failure. */
recsort_schema *kind_schema(const kind *k, oracle_key keys[KIND_MAX_KEYS]);

#endif

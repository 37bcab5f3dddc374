/* json.h - a record as a JSON object in one line. Structs become objects, arrays arrays, and
 * numbers are exact; NaN, infinities and all other values are strings. */
#ifndef RECCAT_JSON_H
#define RECCAT_JSON_H

#include "recsort/recsort.h"

/* Prints a record. `number`, unless NULL, becomes the member "#". `text` is a buffer for any value.
 * False: out of memory. */
bool json_print(const recsort_schema *schema, const uint64_t *number, const unsigned char *record,
                char *text);

#endif

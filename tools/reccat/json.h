/* json.h - a record as a JSON object in one line: structs are objects, arrays arrays, numbers
 * exact; NaN, infinities and whatever cell.h gives no number for are strings. */
#ifndef RECCAT_JSON_H
#define RECCAT_JSON_H

#include "recsort/recsort.h"

/* `number`, unless NULL, becomes the member "#"; `text` can hold any value. False: out of
 * memory. */
bool json_print(const recsort_schema *schema, const uint64_t *number, const unsigned char *record,
                char *text);

#endif

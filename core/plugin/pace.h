/* pace.h - how fast a plugin has sorted arrays of each size. */
#ifndef RS_PLUGIN_PACE_H
#define RS_PLUGIN_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RS_PACE_SIZES = 64, RS_PACE_TRIES = 3 };

/* Of sorts of whole records, and of others; of 2^n to 2^(n + 1) - 1 records. */
typedef struct rs_pace {
  float seconds[2][RS_PACE_SIZES]; /* a record */
  uint8_t tries[2][RS_PACE_SIZES]; /* up to RS_PACE_TRIES */
} rs_pace;

/* How often the plugin has sorted about so many records. */
unsigned rs_pace_tries(const rs_pace *pace, size_t count, bool whole);

/* The seconds that it takes for them; only after a try. */
double rs_pace_expects(const rs_pace *pace, size_t count, bool whole);

/* Of the tries the fastest one counts, as the first one may have allocated memory. After them, the
 * pace follows what sorts take. */
void rs_pace_note(rs_pace *pace, size_t count, bool whole, double seconds);

#endif

/* device_segments.h - the interface of sorts of short segments on a device. A plugin defines these.
 *
 * Records are sorted where they are, each segment by itself: a block has the keys of some segments
 * in its shared memory. It can move small elements as well, so that they are read and written once.
 */
#ifndef RECSORT_GPU_DEVICE_SEGMENTS_H
#define RECSORT_GPU_DEVICE_SEGMENTS_H

#include "gpu/device_sort.h"
#include "gpu/records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An array with an element for each record. Its addresses are multiples of 4. */
typedef struct device_moved {
  const void *from;
  void *to;       /* `from`, or memory that does not overlap it */
  uint32_t words; /* of 4 bytes, of an element */
} device_moved;

enum { DEVICE_MOST_MOVED = 4, DEVICE_MOST_MOVED_WORDS = 2 };

typedef struct device_segment_sort {
  const records_program *program;
  uint32_t key_bits;
  const void *records;
  uint64_t count;
  device_segments segments;
  uint64_t shared_bytes; /* shared memory that a block may use */
  void *order;           /* `count` indices; NULL: not wanted */
  uint32_t index_bits;
  device_moved moved[DEVICE_MOST_MOVED]; /* in this order */
  uint32_t moved_count;
  uint32_t *disorder; /* set to 1 if a block finds that it has not sorted; NULL: not checked */
  records_facts *facts;
  void *stream;
} device_segment_sort;

/* Whether the segments are short enough. Reads key_bits, count, segments and shared_bytes only. */
bool device_segments_suit(const device_segment_sort *job);

/* Starts the kernel; call it only if they are. It sets facts->invalid if a record in a segment
 * holds an invalid value, and facts->overlong if a segment is longer than was said and so does not
 * fit in its block. The records of such a block are written in the order that they had. */
device_status device_segments_sort(const device_segment_sort *job);

/* Whether the device can find out how long the longest segment is, and it is worth it. */
bool device_segments_measurable(const device_segment_sort *job, const device_job *sort);

/* Starts the sort of segments of at most `longest` records; 0: of any. */
typedef device_status device_segment_work(void *context, uint64_t longest, const device_job *inner);

enum { DEVICE_MEASURE_WORDS = 2 };

/* Has the device find out, and start the work that suits. Call it only if it can. `memory` is in
 * the device's memory, 0 before and after. `work` is called
 * once for each length that the device may find. */
device_status device_segments_measure(const device_segment_sort *job, const device_job *sort,
                                      uint32_t memory[DEVICE_MEASURE_WORDS],
                                      device_segment_work *work, void *context);

/* ---- As many records as the device says ---- */

/* Whether the device can find out how many of sort->count records there are, and it is worth it. */
bool device_count_measurable(const device_job *sort);

/* Has the device read *count, and start the work for the least of some limits that it is within:
 * `longest` is the limit, sort->count at most. Call it only if it can. */
device_status device_count_measure(const uint64_t *count, const device_job *sort,
                                   device_segment_work *work, void *context);

/* Writes each number from `first` to `end` - 1 to its place in `to`: integers of 32 or 64 bits. */
device_status device_number_rest(void *to, uint32_t bits, uint64_t first, uint64_t end,
                                 void *stream);

#ifdef __cplusplus
}
#endif

#endif

/* sized.h - reads structs of callers, which may be of an older or a newer version. */
#ifndef RS_BASE_SIZED_H
#define RS_BASE_SIZED_H

#include "base/memory.h"
#include "base/struct_size.h"
#include "recsort/device.h"
#include "recsort/device_pairs.h"
#include "recsort/partition.h"
#include "recsort/shards.h"

/* Sizes in the first version. Smaller structs are refused. */
enum {
  RS_FIRST_OPTIONS = SIZE_UP_TO(recsort_options, allocator),
  RS_FIRST_EXECUTOR = SIZE_UP_TO(recsort_executor, threads),
  RS_FIRST_SCHEMA_DESC = SIZE_UP_TO(recsort_schema_desc, column),
  RS_FIRST_FIELD_DESC = SIZE_UP_TO(recsort_field_desc, null_count),
  RS_FIRST_ENUMERATOR = SIZE_UP_TO(recsort_enumerator, value),
  RS_FIRST_KEY_DESC = SIZE_UP_TO(recsort_key_desc, column),
  RS_FIRST_COMPUTED = SIZE_UP_TO(recsort_computed_desc, column),
  RS_FIRST_PERMUTATION = SIZE_UP_TO(recsort_permutation, sorting),
  RS_FIRST_RUNS = SIZE_UP_TO(recsort_runs, arrays),
  RS_FIRST_DEVICE_LIMITS = SIZE_UP_TO(recsort_device_limits, index_bits),
  RS_FIRST_DEVICE_JOB = SIZE_UP_TO(recsort_device_job, offset_bits),
  RS_FIRST_DEVICE_PAIRS_JOB = SIZE_UP_TO(recsort_device_pairs_job, values_out),
  RS_FIRST_SHARD = SIZE_UP_TO(recsort_shard, rank),
  RS_FIRST_SHARDS_LIMITS = SIZE_UP_TO(recsort_shards_limits, balance)
};

/* Reads a struct whose struct_size is `from_size` into the library's own; members that it lacks
 * become 0. Errors: INVALID_ARGUMENT, if it is smaller than in the first version. */
recsort_status rs_read_sized(void *to, size_t to_size, const void *from, size_t from_size,
                             size_t first_size, const char *type, recsort_error *error);

/* Turns *array, `count` elements that are `stride` bytes apart (0: first_size), into an array with
 * elements of `size` bytes: the same one, or a copy in `arena`. */
recsort_status rs_read_array(rs_arena *arena, const void **array, size_t count, size_t stride,
                             size_t size, size_t first_size, const char *type,
                             recsort_error *error);

#endif

/* peers.h - the stable sorts and merges of the C++ library, on the structs themselves. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "records.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sorts `count` records in place; false: out of memory. */
typedef bool peer_sort(void *records, size_t count, unsigned threads);

/* NULL if this build has none. */
peer_sort *peer_std(record_id record);
peer_sort *peer_parallel(record_id record);

/* Merges runs of records, run r from offsets[r] on, into another array; false: out of memory. */
typedef bool peer_merge(const void *records, const size_t *offsets, size_t run_count, void *merged,
                        unsigned threads);

/* NULL where this build has none. */
peer_merge *peer_merge_std(record_id record); /* of two runs */
peer_merge *peer_merge_heap(record_id record);
peer_merge *peer_merge_parallel(record_id record);

#ifdef __cplusplus
}
#endif

#endif

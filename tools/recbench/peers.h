/* peers.h - the stable sorts of the C++ library, on the structs themselves. */
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

/* NULL where this build has none. */
peer_sort *peer_std(record_id record);
peer_sort *peer_parallel(record_id record);

#ifdef __cplusplus
}
#endif

#endif

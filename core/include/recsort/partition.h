/* partition.h - what a distributed sort asks of a local one.
 *
 * Records are on several ranks: processes, machines or devices. Each rank has an array of them, its
 * shard. A sort of all of them takes these steps, and messages between them that you send:
 *
 *   recsort_partition_sample     each rank takes a sample of its records,
 *   recsort_partition_splitters  all samples together give the splitters, the same for each rank,
 *   recsort_partition_sorted     says where the splitters cut records that are sorted, or
 *   recsort_partition_records    divides records in any order: counts them, or moves them too
 *   recsort_run                  merges the sorted parts that a rank has got (RECSORT_RUNS), or
 *   recsort_sort                 sorts the parts that a rank has got
 *
 * The input is the shards one after the other, in the order of their ranks. A sample and a splitter
 * are marks. A mark is a place in the order of all records: a record's key, and its position in the
 * input, so no two records have the same mark. Equal keys are therefore divided like any others,
 * even if all keys are equal, and a sort stays stable.
 *
 * A mark is recsort_key_size + RECSORT_MARK_EXTRA bytes that memcmp puts in order, the same on
 * every machine. Send it as bytes, to ranks that sort by the same keys, and keep it as long as you
 * like.
 *
 * Regular samples: if each rank's records are sorted and it takes s samples of them, so many that
 * each sample of each rank stands for equally many records, no part has more than 1 + (p + 1) / s
 * times its share of the records on p ranks, but for 3 * p records (Shi and Schaeffer, "Parallel
 * sorting by regular sampling", 1992). That takes p * s samples, with s far above p. Many ranks
 * need fewer if they sample again between the splitters so far, count how many records come before
 * each sample by recsort_partition_sorted, and so close in on the places that they want (Harsh,
 * Kale and Solomonik, "Histogram sort with sampling", 2019): recsort/mpi.h does.
 *
 * Calls take `count` records of one rank; `first` is the position of the first of them in the
 * input. If you do not know how many records the ranks before have, leave gaps: positions of each
 * rank from rank << 40 on, for example. The conventions of recsort.h hold here too. One thread at a
 * time may use a sorter; all its threads work. Errors of every call: INVALID_RECORD, whose text has
 * the position of a record, OUT_OF_MEMORY, INVALID_ARGUMENT.
 */
#ifndef RECSORT_PARTITION_H
#define RECSORT_PARTITION_H

#include "recsort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a mark beyond those of a key (recsort_key_size). */
enum { RECSORT_MARK_EXTRA = 8 };

/* Writes the marks of `wanted` records, at most `count`, to `marks`. They are at equal distances,
 * and each stands for the records around it. */
RECSORT_API recsort_status recsort_partition_sample(recsort_sorter *sorter, const void *records,
                                                    size_t count, uint64_t first, size_t wanted,
                                                    void *marks, recsort_error *error);

/* Chooses `splitter_count` splitters, in ascending order, that divide the samples `marks` into
 * parts whose numbers differ by at most one. The same samples in any order give the same splitters.
 * Sorts `marks`. Errors: also INVALID_ARGUMENT if there are splitters to choose and no marks. */
RECSORT_API recsort_status recsort_partition_splitters(recsort_sorter *sorter, void *marks,
                                                       size_t mark_count, void *splitters,
                                                       size_t splitter_count, recsort_error *error);

/* Says how many of the records, which are sorted, come before each splitter: cuts[i] for splitter
 * i. A record that a splitter marks does not come before it. Reads some records for each splitter;
 * splitters may have any order. */
RECSORT_API recsort_status recsort_partition_sorted(recsort_sorter *sorter, const void *records,
                                                    size_t count, uint64_t first,
                                                    const void *splitters, size_t splitter_count,
                                                    size_t *cuts, recsort_error *error);

/* Divides records in any order into splitter_count + 1 parts. Part i has the records from splitter
 * i - 1 on and before splitter i, in their order. `offsets` has splitter_count + 2 elements: part i
 * becomes records [offsets[i], offsets[i + 1]) of `partitioned`, an array of `count` records that
 * does not overlap `records`; NULL: only the offsets are wanted. Takes memory, at most 4 bytes for
 * each record, and 8 for each part and thread. Ends the life of the permutation that the sorter
 * keeps. On failure `offsets` and `partitioned` are unspecified. Errors: also INVALID_ARGUMENT if
 * splitters descend or are 2^32 or more. */
RECSORT_API recsort_status recsort_partition_records(recsort_sorter *sorter, const void *records,
                                                     size_t count, uint64_t first,
                                                     const void *splitters, size_t splitter_count,
                                                     void *partitioned, size_t *offsets,
                                                     recsort_error *error);

#ifdef __cplusplus
}
#endif

#endif

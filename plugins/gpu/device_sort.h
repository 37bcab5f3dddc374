/* device_sort.h - the interface of sorts on a device.
 *
 * A sort gets `count` keys (uint32_t, uint64_t or unsigned __int128, as key_width says) in
 * buffers.keys[0] and leaves the sorted pairs of keys and indices in one of the two pairs of
 * buffers; it returns which. It ignores what the indices were and numbers the keys from 0. It
 * launches kernels on the stream and allocates no memory. It may wait for some kernels if it has a
 * mailbox, but does not wait for the last ones.
 *
 * The count may be any, including 0, without padding. Pairs with equal keys are in the order of
 * their indices afterwards. A merge sort takes the left run first (co_rank.h); the sample sort
 * compares key and index.
 */
#ifndef RECSORT_GPU_DEVICE_SORT_H
#define RECSORT_GPU_DEVICE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 0: success; otherwise the runtime's error number. */
typedef int device_status;

/* Whether a sort on `stream` finds all keys in order, so that indices are 0, 1, 2 ... The caller
 * owns both. */
typedef struct device_unchanged {
  uint32_t *found; /* device memory: 1 or 0, once the stream gets there; if it looks at all */
  bool looks;      /* set to true by a sort that will look; false before */
} device_unchanged;

/* How to make the key of a record if it is one aligned word of a column, in the device's order of
 * bytes: in a fifth of the instructions. See word_code_32. */
typedef struct records_word {
  uint32_t bytes; /* 4 or 8; 0: the key is not such a word */
  uint32_t reserved;
  uint64_t negative;  /* a number with this bit ... */
  uint64_t if_set;    /* ... is XORed with this mask, */
  uint64_t if_clear;  /* another one with this one */
  uint64_t magnitude; /* the bits of a float without its sign; 0: no value is special */
  uint64_t infinity;  /* a greater magnitude is a NaN, whose code is ... */
  uint64_t nan_code;
} records_word;

/* Words of which a sort or a merge makes keys as it reads them. */
typedef struct device_words {
  const void *data; /* device memory: word i begins i * stride bytes behind */
  uint64_t stride;
  records_word code;
} device_words;

/* An array that a sort moves along with its pairs. */
typedef struct device_move {
  const void *from; /* device memory */
  void *to;         /* gets element `indices[i]` in place i; the two do not overlap */
  uint64_t size;    /* bytes of an element */
} device_move;

/* Where a sort leaves what it finds out about its result, in device memory that is 0 before. If a
 * sort certifies its result, both are 0 in the end, unless the result is wrong. */
typedef struct device_certificate {
  uint32_t *disorder;  /* set to 1 if a key or an index is out of order; NULL: nothing is checked */
  uint64_t *balance;   /* the hashes of what was read, less those of what was written */
  uint32_t index_bits; /* not 0: it has the sort's keys, with their numbers of so many bits, as they
                        * were made */
} device_certificate;

/* Segments of an array: segment s is [offset s, offset s + 1). */
typedef struct device_segments {
  const void *offsets; /* device memory: count + 1 of them, which ascend */
  uint64_t count;
  uint32_t offset_bits; /* 32 or 64 */
  uint64_t most;        /* elements of the longest segment; 0: not known */
} device_segments;

/* The most bytes of an element that is staged. A gather of larger elements wastes less of the
 * memory that it reads. */
enum { DEVICE_MOST_STAGED = 32 };

/* What a sort of a job can do besides, so that fewer kernels are started. */
typedef struct device_skills {
  bool reads_words; /* device_buffers.words */
  bool moves;       /* device_job.move */
  bool stages;      /* it moves elements that have its words in them to device_job.move->to in an
                     * order in which neighbours of the sorted ones are near; the indices are then
                     * places in there, and ascend among equal keys */
  bool few;         /* if it sorts codes of numbers, device_pairs_sort_few may in its place */
  bool certifies;   /* device_job.certificate */
} device_skills;

typedef struct device_job {
  uint64_t count;
  uint32_t key_bits;     /* only these low bits of a key can be nonzero */
  uint32_t key_width;    /* 32, 64 or 128 */
  uint32_t index_bits;   /* 32 or 64 */
  uint32_t block;        /* threads of a block, at most DEVICE_MAX_BLOCK; 0: the sort chooses */
  uint32_t tile;         /* elements of a tile; 0: the sort chooses by the device's shared memory */
  uint64_t shared_bytes; /* shared memory that a block may use */
  const void *tuning;    /* from tests, for a sort that has parameters of its own; usually NULL */
  uint32_t multiprocessors;
  void *stream;
  void *mailbox; /* DEVICE_MAILBOX bytes of pinned host memory, where kernels notify the host; NULL:
                  * the sort must not wait */
  void *branches[2]; /* without a mailbox: idle streams, with which kernels may decide what is done
                      * next if `stream` is being captured; NULL: they decide nothing */
  device_unchanged *unchanged;    /* NULL: not wanted */
  const device_move *move;        /* for a sort that moves; NULL: nothing */
  device_certificate certificate; /* for a sort that certifies */
  uint64_t *tally; /* for a sort with device_skills.few, which sets it to 0 for the kernel that
                    * looks at the result. NULL: no kernel does */
} device_job;

enum { DEVICE_MAX_BLOCK = 512, DEVICE_MAILBOX = 64 };

/* Device memory: two pairs of arrays of `count` elements, and what an algorithm needs besides. A
 * sort may overlay them with other arrays, so their order is fixed: indices[0] follows keys[0] in
 * one block; indices[1], keys[1] and `extra` are in one block, in this order; and if keys have 64
 * bits and indices 32, both blocks are one. */
typedef struct device_buffers {
  void *keys[2];
  void *indices[2];
  void *extra;
  uint64_t extra_bytes;
  const void *input; /* without a mailbox: the keys, in place of keys[0]; the sort does not change
                      * them. NULL: they are in keys[0] */
  const device_words *words; /* for a sort that reads words, in place of keys; NULL: none */
} device_buffers;

static inline const void *device_input(const device_buffers *buffers)
{
  return buffers->input ? buffers->input : buffers->keys[0];
}

enum { DEVICE_ALIGNMENT = 256, DEVICE_INPUT_ALIGNMENT = 16 /* of device_buffers.input */ };

static inline uint64_t device_aligned(uint64_t bytes)
{
  return (bytes + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT;
}

/* The bytes of device memory for a job. */
static inline uint64_t device_bytes(const device_job *job, uint64_t extra_bytes)
{
  RS_ASSERT(job->key_width % 32 == 0 && (job->index_bits == 32 || job->index_bits == 64));
  return 2 * device_aligned(job->count * (job->key_width / 8)) +
         2 * device_aligned(job->count * (job->index_bits / 8)) + extra_bytes;
}

/* The buffers in a block of device_bytes() that begins at a multiple of DEVICE_ALIGNMENT. */
static inline device_buffers device_divide(const device_job *job, void *memory,
                                           uint64_t extra_bytes)
{
  RS_ASSERT((uintptr_t)memory % DEVICE_ALIGNMENT == 0);
  const uint64_t keys = device_aligned(job->count * (job->key_width / 8));
  const uint64_t indices = device_aligned(job->count * (job->index_bits / 8));
  char *const at = (char *)memory;
  const device_buffers buffers = {{at, at + keys + 2 * indices},
                                  {at + keys, at + keys + indices},
                                  at + 2 * keys + 2 * indices,
                                  extra_bytes,
                                  NULL,
                                  NULL};
  return buffers;
}

/* On success *result is the number, 0 or 1, of the buffers that hold the sorted pairs. */
typedef device_status device_sort(const device_job *job, const device_buffers *buffers,
                                  unsigned *result);

/* Starts work on the stream that it gets. */
typedef device_status device_work(void *context, void *stream);

/* Starts work that the device leaves out if job->unchanged, of a sort that looks, is found. A
 * plugin defines this. */
device_status device_start_unless_unchanged(const device_job *job, device_work *work,
                                            void *context);

#ifdef __cplusplus
}
#endif

#endif

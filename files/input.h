/* input.h - reads an open file from front to back, each piece while the caller works on the one
 * before it; a pipe when the caller asks, as it may never end.
 *
 * A piece that is in the page cache comes from there. Any other one is read past the cache, by
 * O_DIRECT where the file system allows it: then other programs keep their memory. */
#ifndef FILES_INPUT_H
#define FILES_INPUT_H

#include "store.h"

typedef struct rf_input {
  int fd; /* the caller's */
  uint64_t end;
  size_t piece;              /* bytes */
  unsigned char *memory;     /* of the buffers */
  unsigned char *buffers[2]; /* the caller has the first one; the other one is filled */
  rf_file direct;            /* the file, opened once more */
  bool tells_pages;          /* the kernel says which pages are in the cache */
  rf_task task;
  uint64_t at; /* of the piece that the task reads */
  void *data;  /* the piece, */
  size_t size; /* its bytes, */
  int failure; /* and an error number */
} rf_input;

/* Begins at byte `at`. `end`: of a regular file; UINT64_MAX: it has no offsets, and is read where
 * it is. `piece`: bytes that are read at a time. False if there is no memory. */
bool rf_input_open(rf_input *input, int fd, uint64_t at, uint64_t end, size_t piece);
/* The next piece; fewer bytes only at the end of the file, none beyond. They are valid until the
 * next call. False, with `failure`, if the read failed. */
bool rf_input_next(rf_input *input, const void **data, size_t *size);
/* Leaves `fd` open. Does nothing if the memory is NULL. */
void rf_input_close(rf_input *input);

#endif

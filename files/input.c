/* input.c - see input.h. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t room_of(size_t piece)
{
  return (piece + RF_SECTOR - 1) / RF_SECTOR * RF_SECTOR + 2 * RF_SECTOR;
}

/* True if all pages of a piece are in the page cache. */
static bool is_cached(const rf_input *input, size_t size)
{
  unsigned char *const pages = input->buffers[1]; /* a byte for each */
  const uint64_t first = input->at / RF_SECTOR * RF_SECTOR;
  const size_t mapped = (size_t)(input->at + size - first);
  const size_t count = (mapped + RF_SECTOR - 1) / RF_SECTOR;
  if (!input->tells_pages) return false;
  void *const memory = mmap(NULL, mapped, PROT_READ, MAP_SHARED, input->fd, (off_t)first);
  if (memory == MAP_FAILED) return false;
  bool cached = mincore(memory, mapped, pages) == 0;
  for (size_t i = 0; i < count; i++)
    cached = cached && (pages[i] & 1) != 0;
  munmap(memory, mapped);
  return cached;
}

/* Reads a piece by the caller's file. Returns an error number. */
static int read_here(rf_input *input, size_t size)
{
  unsigned char *const to = input->buffers[1];
  const bool pipe = input->end == UINT64_MAX;
  input->data = to;
  while (input->size < size) {
    const size_t left = size - input->size;
    const ssize_t part =
        pipe ? read(input->fd, to + input->size, left)
             : pread(input->fd, to + input->size, left, (off_t)(input->at + input->size));
    if (part == 0) break;
    if (part < 0 && errno != EINTR) return errno;
    if (part > 0) input->size += (size_t)part;
  }
  return 0;
}

static void read_task(void *context)
{
  rf_input *const input = context;
  const uint64_t left = input->end - input->at;
  const size_t size = left < input->piece ? (size_t)left : input->piece;
  const bool here = input->end == UINT64_MAX || is_cached(input, size);
  input->failure = here ? read_here(input, size)
                        : rf_file_read(&input->direct, input->at, size, input->buffers[1],
                                       &input->data, &input->size);
}

/* Begins to read a piece to the other buffer. */
static void begin(rf_input *input)
{
  input->size = 0;
  if (input->at < input->end) rf_task_begin(&input->task, read_task, input);
}

bool rf_input_open(rf_input *input, int fd, uint64_t at, uint64_t end, size_t piece)
{
  char path[32];
  *input = (rf_input){.fd = fd, .at = at, .end = end, .piece = piece};
  input->memory = rf_map(2 * room_of(piece));
  if (input->memory == NULL) return false;
  input->buffers[0] = input->memory;
  input->buffers[1] = input->memory + room_of(piece);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  input->direct.fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
  input->direct.direct = input->direct.fd >= 0;
  if (input->direct.fd < 0) input->direct.fd = fd;
  input->tells_pages = euidaccess(path, W_OK) == 0; /* mincore says "cached" of all others */
  begin(input);
  return true;
}

bool rf_input_next(rf_input *input, const void **data, size_t *size)
{
  rf_task_end(&input->task);
  if (input->failure != 0) return false;
  unsigned char *const read = input->buffers[1];
  input->buffers[1] = input->buffers[0];
  input->buffers[0] = read;
  *data = input->data;
  *size = input->size;
  input->at += input->size;
  begin(input);
  return true;
}

void rf_input_close(rf_input *input)
{
  if (input->memory == NULL) return;
  rf_task_end(&input->task);
  if (input->direct.fd != input->fd) close(input->direct.fd);
  rf_unmap(input->memory, 2 * room_of(input->piece));
  input->memory = NULL;
}

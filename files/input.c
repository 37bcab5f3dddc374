/* input.c - see input.h. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t room_of(size_t piece)
{
  return (piece + RF_SECTOR - 1) / RF_SECTOR * RF_SECTOR + 2 * RF_SECTOR;
}

static bool is_pipe(const rf_input *input)
{
  return input->end == UINT64_MAX;
}

/* True if all pages of a piece are in the page cache. */
static bool is_cached(const rf_input *input, size_t size)
{
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = input->at / page * page;
  const size_t mapped = (size_t)(input->at + size - first);
  const size_t count = (mapped + page - 1) / page;
  unsigned char *const pages = input->buffers[1]; /* a byte for each */
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
  input->data = to;
  while (input->size < size) {
    const size_t left = size - input->size;
    const ssize_t part =
        is_pipe(input) ? read(input->fd, to + input->size, left)
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
  input->failure = is_cached(input, size)
                       ? read_here(input, size)
                       : rf_file_read(&input->direct, input->at, size, input->buffers[1],
                                      &input->data, &input->size);
}

/* Begins to read a piece to the other buffer. */
static void begin(rf_input *input)
{
  input->size = 0;
  if (!is_pipe(input) && input->at < input->end) rf_task_begin(&input->task, read_task, input);
}

/* Opens the file once more. */
static void open_direct(rf_input *input)
{
  char path[32];
  struct stat stat;
  snprintf(path, sizeof path, "/proc/self/fd/%d", input->fd);
  posix_fadvise(input->fd, 0, 0, POSIX_FADV_RANDOM); /* only what is asked for is read */
  input->direct.fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
  input->direct.direct = input->direct.fd >= 0;
  if (input->direct.fd < 0) input->direct.fd = input->fd;
  /* of all other files mincore says that they are in the cache */
  input->tells_pages = input->direct.direct && fstat(input->fd, &stat) == 0 &&
                       (stat.st_uid == geteuid() || euidaccess(path, W_OK) == 0);
}

bool rf_input_open(rf_input *input, int fd, uint64_t at, uint64_t end, size_t piece)
{
  *input = (rf_input){.fd = fd, .at = at, .end = end, .piece = piece, .direct.fd = fd};
  input->memory = rf_map(2 * room_of(piece));
  if (input->memory == NULL) return false;
  input->buffers[0] = input->memory;
  input->buffers[1] = input->memory + room_of(piece);
  if (!is_pipe(input)) open_direct(input);
  begin(input);
  return true;
}

bool rf_input_next(rf_input *input, const void **data, size_t *size)
{
  rf_task_end(&input->task);
  if (is_pipe(input)) input->failure = read_here(input, input->piece);
  if (input->failure != 0) return false;
  unsigned char *const read = input->buffers[1];
  input->buffers[1] = input->buffers[0];
  input->buffers[0] = read;
  *data = input->data;
  *size = input->size;
  input->at += input->size;
  if (is_pipe(input) && input->size < input->piece) input->end = input->at;
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

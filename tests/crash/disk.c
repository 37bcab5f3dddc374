/* disk.c - implements the few requests of the FUSE protocol that one file needs, without a
 * library. */
#define _GNU_SOURCE
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_WRITE = 128 << 10, REQUEST = MAX_WRITE + (64 << 10) };

static bool say(const char *what)
{
  (void)printf("%s: %s\n", what, strerror(errno));
  return false;
}

/* ---- The record ---- */

static void note(disk *d, const void *data, uint64_t offset, size_t size)
{
  disk_event event = {NULL, offset, size};
  pthread_mutex_lock(&d->lock);
  if (d->recording) {
    if (d->count == d->capacity) {
      d->capacity = 2 * d->capacity + 64;
      d->events = realloc(d->events, d->capacity * sizeof *d->events);
    }
    event.data = data ? malloc(size) : NULL;
    if (!d->events || (data && !event.data)) abort();
    if (data) memcpy(event.data, data, size);
    d->events[d->count++] = event;
  }
  pthread_mutex_unlock(&d->lock);
}

static void forget(disk *d)
{
  for (size_t i = 0; i < d->count; i++)
    free(d->events[i].data);
  d->count = 0;
}

void disk_record(disk *d, const unsigned char *image)
{
  pthread_mutex_lock(&d->lock);
  forget(d);
  d->recording = true;
  memcpy(d->image, image, d->size);
  pthread_mutex_unlock(&d->lock);
}

void disk_stop(disk *d)
{
  pthread_mutex_lock(&d->lock);
  d->recording = false;
  pthread_mutex_unlock(&d->lock);
}

size_t disk_events(disk *d)
{
  pthread_mutex_lock(&d->lock);
  const size_t count = d->count;
  pthread_mutex_unlock(&d->lock);
  return count;
}

/* ---- Requests ---- */

static void reply(const disk *d, uint64_t unique, int error, const void *data, size_t size)
{
  struct fuse_out_header header = {(uint32_t)(sizeof header + size), error, unique};
  const struct iovec parts[] = {{&header, sizeof header}, {(void *)(uintptr_t)data, size}};
  /* ENOENT: the request was interrupted. */
  if (writev(d->fuse, parts, size ? 2 : 1) < 0 && errno != ENOENT) (void)say("/dev/fuse");
}

static void reply_attributes(const disk *d, uint64_t unique)
{
  const struct fuse_attr_out out = {.attr_valid = 3600,
                                    .attr = {.ino = FUSE_ROOT_ID,
                                             .size = d->size,
                                             .blocks = d->size / DISK_SECTOR,
                                             .mode = S_IFREG | 0600,
                                             .nlink = 1,
                                             .blksize = 4096}};
  reply(d, unique, 0, &out, sizeof out);
}

static void reply_read(const disk *d, uint64_t unique, const struct fuse_read_in *in)
{
  const size_t left = in->offset < d->size ? d->size - (size_t)in->offset : 0;
  reply(d, unique, 0, d->image + in->offset, in->size < left ? in->size : left);
}

static void serve_write(disk *d, uint64_t unique, const struct fuse_write_in *in)
{
  const struct fuse_write_out out = {.size = in->size};
  if (in->offset > d->size || in->size > d->size - in->offset) {
    reply(d, unique, -ENOSPC, NULL, 0);
    return;
  }
  memcpy(d->image + in->offset, in + 1, in->size);
  note(d, in + 1, in->offset, in->size);
  reply(d, unique, 0, &out, sizeof out);
}

static void serve_request(disk *d, const struct fuse_in_header *header)
{
  const void *const in = header + 1;
  const uint64_t unique = header->unique;
  switch (header->opcode) {
  case FUSE_INIT: {
    const struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
                                      .minor = 31,
                                      .flags = FUSE_BIG_WRITES,
                                      .max_write = MAX_WRITE};
    reply(d, unique, 0, &out, sizeof out);
    break;
  }
  case FUSE_GETATTR:
  case FUSE_SETATTR:
    reply_attributes(d, unique);
    break;
  case FUSE_OPEN: {
    const struct fuse_open_out out = {.open_flags = FOPEN_DIRECT_IO}; /* bypasses the page cache */
    reply(d, unique, 0, &out, sizeof out);
    break;
  }
  case FUSE_READ:
    reply_read(d, unique, in);
    break;
  case FUSE_WRITE:
    serve_write(d, unique, in);
    break;
  case FUSE_FSYNC:
    note(d, NULL, 0, 0);
    reply(d, unique, 0, NULL, 0);
    break;
  case FUSE_FLUSH: /* a descriptor was closed: not a flush of the disk */
  case FUSE_RELEASE:
    reply(d, unique, 0, NULL, 0);
    break;
  case FUSE_FORGET:
  case FUSE_BATCH_FORGET:
  case FUSE_INTERRUPT:
    break;
  default:
    reply(d, unique, -ENOSYS, NULL, 0);
  }
}

static void *serve(void *argument)
{
  disk *const d = argument;
  void *const request = malloc(REQUEST);
  for (;;) {
    const ssize_t size = request ? read(d->fuse, request, REQUEST) : -1;
    if (size < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) continue;
    if (size < 0) break; /* ENODEV: it was unmounted */
    serve_request(d, request);
  }
  free(request);
  return NULL;
}

/* ---- Opening and closing ---- */

bool disk_open(disk *d, const char *path, size_t size)
{
  char options[100];
  *d =
      (disk){.fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC), .size = size, .image = calloc(size, 1)};
  if (d->fuse < 0) return say("/dev/fuse");
  if (!d->image) return say("memory");
  pthread_mutex_init(&d->lock, NULL);
  (void)snprintf(options, sizeof options, "fd=%d,rootmode=%o,user_id=0,group_id=0", d->fuse,
                 S_IFREG | 0600);
  if (mount("disk", path, "fuse", MS_NOSUID | MS_NODEV, options) != 0) return say("mount of FUSE");
  return pthread_create(&d->server, NULL, serve, d) == 0 || say("thread");
}

void disk_close(disk *d, const char *path)
{
  if (umount2(path, MNT_DETACH) != 0) (void)say("unmount of FUSE");
  pthread_join(d->server, NULL);
  close(d->fuse);
  forget(d);
  free(d->events);
  free(d->image);
}

/* ---- Loop devices ---- */

/* Attaches a free loop device to the file `backing`; retries if another process takes it first. */
static int attach(int backing, char name[static 32])
{
  struct loop_config config = {
      .fd = (uint32_t)backing, .block_size = DISK_SECTOR, .info = {.lo_flags = LO_FLAGS_AUTOCLEAR}};
  const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
  int loop = -1;
  for (int tries = 0; control >= 0 && loop < 0 && tries < 100; tries++) {
    const int number = ioctl(control, LOOP_CTL_GET_FREE);
    (void)snprintf(name, 32, "/dev/loop%d", number);
    loop = number < 0 ? -1 : open(name, O_RDWR | O_CLOEXEC);
    if (loop >= 0 && ioctl(loop, LOOP_CONFIGURE, &config) != 0) {
      close(loop);
      loop = -1;
      if (errno != EBUSY) break;
    }
  }
  if (control >= 0) close(control);
  return loop;
}

bool disk_mount(const char *path, const char *folder, const char *options)
{
  char name[32];
  const int backing = open(path, O_RDWR | O_CLOEXEC);
  if (backing < 0) return say(path);
  const int loop = attach(backing, name);
  close(backing);
  if (loop < 0) return say("loop device");
  const bool mounted =
      mount(name, folder, "ext4", MS_NOATIME, options) == 0 || say("mount of ext4");
  close(loop);
  return mounted;
}

bool disk_unmount(const char *folder)
{
  return umount2(folder, 0) == 0 || say("unmount of ext4");
}

/* disk.h - a disk that records its writes and flushes in order, so that a power cut can be
 * simulated at every instant.
 *
 * It is a file that this process serves through /dev/fuse, and a loop device turns it into a disk.
 * A disk may keep or lose each sector written since the last flush, in any combination; writes
 * before a flush are durable. */
#ifndef RS_TEST_DISK_H
#define RS_TEST_DISK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DISK_SECTOR = 512 };

typedef struct disk_event {
  unsigned char *data; /* NULL: a flush */
  uint64_t offset;
  size_t size;
} disk_event;

typedef struct disk {
  int fuse;
  unsigned char *image;
  size_t size;
  pthread_t server;
  pthread_mutex_t lock; /* of what follows */
  bool recording;
  disk_event *events;
  size_t count;
  size_t capacity;
} disk;

/* Each function reports its errors. The disk is the file at `path`, which must exist. */
bool disk_open(disk *d, const char *path, size_t size);
void disk_close(disk *d, const char *path);

/* Writes `image` to the disk and starts a new record; nothing may be mounted. */
void disk_record(disk *d, const unsigned char *image);
void disk_stop(disk *d);
size_t disk_events(disk *d);

/* Mounts the ext4 file system in the file at `path` through a loop device, which is freed on
 * unmount. */
bool disk_mount(const char *path, const char *folder, const char *options);
bool disk_unmount(const char *folder);

#endif

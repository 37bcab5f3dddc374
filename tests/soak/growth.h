/* growth.h - the resources of a process, and whether they grow. */
#ifndef RS_TEST_GROWTH_H
#define RS_TEST_GROWTH_H

#include <dirent.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/recsort.h"

/* Counts the library's memory through the allocator hook; any thread. */
typedef struct counted_memory {
  _Atomic size_t calls, blocks, bytes;
} counted_memory;

static inline void *counted_allocate(void *context, size_t size)
{
  counted_memory *const m = context;
  void *const memory = malloc(size);
  m->calls++;
  m->blocks += memory != NULL;
  m->bytes += memory ? size : 0;
  return memory;
}

static inline void counted_release(void *context, void *memory, size_t size)
{
  counted_memory *const m = context;
  m->blocks -= memory != NULL;
  m->bytes -= memory ? size : 0;
  free(memory);
}

typedef struct holding {
  size_t blocks, bytes; /* held through the hook */
  size_t heap, resident;
  size_t mappings, descriptors, threads;
} holding;

/* Sanitizers keep freed memory. */
#if defined(__SANITIZE_ADDRESS__)
#define RS_KEEPS_FREED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RS_KEEPS_FREED 1
#endif
#endif

static inline size_t entries(const char *path)
{
  size_t count = 0;
  DIR *const folder = opendir(path);
  while (folder && readdir(folder))
    count++;
  if (folder) closedir(folder);
  return count;
}

/* Whether a thread exits: one that was joined may still be listed. */
static inline bool exits(const char *thread)
{
  enum { FLAGS = 7, EXITING = 4 }; /* place behind the name; PF_EXITING of the kernel */
  char path[320], line[1024] = "";
  (void)snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
  FILE *const file = fopen(path, "r");
  if (!file) return true;
  const char *at = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
  (void)fclose(file);
  for (int word = 0; at && word < FLAGS; word++)
    at = strchr(at + 1, ' ');
  return !at || strtoul(at, NULL, 10) & EXITING;
}

static inline size_t count_threads(void)
{
  size_t count = 0;
  DIR *const folder = opendir("/proc/self/task");
  for (const struct dirent *entry; folder && (entry = readdir(folder));)
    count += entry->d_name[0] != '.' && !exits(entry->d_name);
  if (folder) closedir(folder);
  return count;
}

static inline holding hold(counted_memory *m)
{
  const struct mallinfo2 heap = mallinfo2();
  holding now = {.blocks = m->blocks, .bytes = m->bytes, .heap = heap.uordblks + heap.hblkhd};
  char line[512];
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmRSS: %zu", &now.resident) == 1) now.resident <<= 10;
  if (file) (void)fclose(file);
  file = fopen("/proc/self/maps", "r");
  while (file && fgets(line, sizeof line, file))
    now.mappings++;
  if (file) (void)fclose(file);
  now.descriptors = entries("/proc/self/fd");
  now.threads = count_threads();
#ifdef RS_KEEPS_FREED
  now.heap = now.resident = now.mappings = 0;
#endif
  return now;
}

static inline bool grew(const char *what, size_t before, size_t after, size_t slack)
{
  if (after <= before + slack) return false;
  (void)printf("  %s grew from %zu to %zu\n", what, before, after);
  return true;
}

/* The C library caches some freed blocks, which count as allocated, and stacks of ended threads. */
static inline bool has_grown(const char *name, holding before, holding after)
{
  bool grown = grew("blocks", before.blocks, after.blocks, 0);
  grown |= grew("bytes", before.bytes, after.bytes, 0);
  grown |= grew("heap", before.heap, after.heap, 16 << 10);
  grown |= grew("resident memory", before.resident, after.resident, 1 << 20);
  grown |= grew("mappings", before.mappings, after.mappings, 4);
  grown |= grew("descriptors", before.descriptors, after.descriptors, 0);
  grown |= grew("threads", before.threads, after.threads, 0);
  (void)printf(
      "%s: %zu KiB resident, %zu KiB of heap, %zu blocks, %zu descriptors, %zu threads, %s\n", name,
      after.resident >> 10, after.heap >> 10, after.blocks, after.descriptors, after.threads,
      grown ? "GROWN" : "no growth");
  return grown;
}

#endif

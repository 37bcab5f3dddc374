/* signature.c - see signature.h. */
#include "support/signature.h"

#include "support/message.h"

#include <stdio.h>
#include <string.h>

typedef struct signature {
  const char *name;
  const char *bytes;
  size_t size;
  const char *reader; /* a command that writes the records; NULL: there is none */
} signature;

#define BYTES(text) text, sizeof text - 1

/* As many bytes as a format fixes, since records may begin with any few; goes_on has more rules. */
static const signature known[] = {
    {"compressed by gzip", BYTES("\x1f\x8b\x08"), "zcat FILE"}, /* and flags */
    {"compressed by bzip2", BYTES("BZh"), "bzcat FILE"},        /* and more, below */
    {"compressed by xz",
     BYTES("\xfd"
           "7zXZ\0"),
     "xzcat FILE"},
    {"compressed by zstd", BYTES("\x28\xb5\x2f\xfd"), "zstdcat FILE"},
    {"compressed by lz4", BYTES("\x04\x22\x4d\x18"), "lz4cat FILE"},
    {"a ZIP archive", BYTES("PK\3\4"), "unzip -p FILE"},
    {"a 7z archive", BYTES("7z\xbc\xaf\x27\x1c"), "7z x -so FILE"},
    {"an HDF5 file", BYTES("\x89HDF\r\n\x1a\n"), NULL},
    {"an Arrow file", BYTES("ARROW1\0\0"), NULL},
};

static const char parquet[] = {'P', 'A', 'R', '1'};

/* Rules beyond the first bytes. */
static bool goes_on(const signature *s, const unsigned char *bytes, size_t size)
{
  if (s->bytes[0] == '\x1f') return size >= 4 && (bytes[3] & 0xe0) == 0; /* reserved flags */
  if (s->bytes[0] == 'B')
    return size >= 10 && bytes[3] >= '1' && bytes[3] <= '9' &&
           (memcmp(bytes + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 || /* a block */
            memcmp(bytes + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);  /* none: the end */
  return true;
}

static bool begins(const unsigned char *bytes, size_t size, const char *with, size_t length)
{
  return size >= length && memcmp(bytes, with, length) == 0;
}

bool tool_signature_needs_end(const unsigned char *bytes, size_t size)
{
  return begins(bytes, size, parquet, sizeof parquet);
}

bool tool_signature_is_npy(const unsigned char *bytes, size_t size)
{
  return begins(bytes, size, "\x93NUMPY", 6);
}

bool tool_signature_is_foreign(const unsigned char *bytes, size_t size, const unsigned char *end,
                               tool_why *why)
{
  const char *name = NULL, *reader = NULL;
  if (tool_signature_needs_end(bytes, size) && end != NULL &&
      memcmp(end, parquet, sizeof parquet) == 0) {
    name = "a Parquet file";
  }
  for (size_t i = 0; i < sizeof known / sizeof *known && name == NULL; i++) {
    if (!begins(bytes, size, known[i].bytes, known[i].size) || !goes_on(&known[i], bytes, size))
      continue;
    name = known[i].name;
    reader = known[i].reader;
  }
  if (name == NULL) return false;
  if (reader != NULL)
    snprintf(why->text, sizeof why->text,
             "it is %s, and its records are inside; write: %s | %s ..., or insist by --raw", name,
             reader, tool_name());
  else
    snprintf(why->text, sizeof why->text,
             "it is %s, whose values do not stand in records; write them as records first, or "
             "insist by --raw",
             name);
  return true;
}

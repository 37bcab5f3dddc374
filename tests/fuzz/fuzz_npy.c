/* The header of a .npy file: refused, or a schema; and a count that is written to it is read back.
 */
#include <string.h>

#include "fuzz.h"
#include "recsort/npy.h"
#include "support/message.h"

static void check_schema(const tool_bytes *header)
{
  const recsort_key_desc key = {.path = "value[0].a"};
  for (size_t given = 0; given < 2; given++) {
    const recsort_options sorting = {.keys = &key, .key_count = given};
    npy_input npy = {0};
    if (npy_make_schema(&npy, "in", header, &sorting)) {
      const recsort_schema_desc *const desc = recsort_schema_describe(npy.schema);
      EXPECT(desc->size > 0);
      EXPECT((desc->key_count == 0) == (given != 0));
    }
    npy_close(&npy);
  }
}

static void check_count(const tool_header *kind, tool_bytes *header, uint64_t count)
{
  tool_format format = {.header = kind};
  tool_why why;
  if (!kind->write_count(&format, header, count, &why)) return;
  EXPECT(kind->read(&format, header->data, header->size, &why));
  EXPECT(format.count == count && format.skip == header->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const npy_input none = {0};
  tool_format format = npy_format(&none);
  const tool_header *const kind = format.header;
  tool_bytes header = {0};
  tool_why why;
  static FILE *nowhere; /* for the tool's messages; the fuzzer's own still appear */
  if (!nowhere) nowhere = fopen("/dev/null", "w");
  if (!nowhere) return 0;
  stderr = nowhere;
  tool_set_name("recsort");
  format.context = NULL;
  size_t needed = kind->needed(&format, data, 0);
  while (needed > header.size && needed <= size) {
    tool_bytes_free(&header);
    EXPECT(tool_bytes_append(&header, data, needed));
    needed = kind->needed(&format, header.data, header.size);
  }
  if (needed == header.size && kind->read(&format, header.data, header.size, &why)) {
    EXPECT(format.skip == header.size);
    check_schema(&header);
    check_count(kind, &header, 0);
    check_count(kind, &header, UINT64_MAX / 2);
    check_count(kind, &header, 12345);
  }
  tool_bytes_free(&header);
  return 0;
}

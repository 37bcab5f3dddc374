/* driver.h - functions of the CUDA driver, for tests that do not link it. Needs cmocka.h and
 * cuda_runtime_api.h. */
#ifndef RS_TEST_DRIVER_H
#define RS_TEST_DRIVER_H

#include <string.h>

/* Sets *call, a pointer to a function, to the one of that name. */
static void driver_call(const char *name, void *call)
{
  enum cudaDriverEntryPointQueryResult found;
  void *address = NULL;
  assert_int_equal(
      cudaGetDriverEntryPointByVersion(name, &address, 4000, cudaEnableDefault, &found),
      cudaSuccess);
  assert_non_null(address);
  memcpy(call, &address, sizeof address);
}

#endif

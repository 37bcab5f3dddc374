/* replay FILE... - runs a target on kept inputs, for compilers without libFuzzer. */
#include "fuzz.h"

int main(int argc, char **argv)
{
  enum { MOST = 1 << 20 };
  uint8_t *const data = malloc(MOST);
  int status = data && argc > 1 ? 0 : 1;
  for (int i = 1; i < argc && status == 0; i++) {
    FILE *file = fopen(argv[i], "rb");
    if (file) {
      const size_t size = fread(data, 1, MOST, file);
      (void)fclose(file);
      /* memory of exactly this size, so that sanitizers notice accesses beyond it */
      uint8_t *exact = malloc(size ? size : 1);
      for (size_t b = 0; exact && b < size; b++)
        exact[b] = data[b];
      if (exact) (void)LLVMFuzzerTestOneInput(exact, size);
      free(exact);
    } else {
      perror(argv[i]);
      status = 1;
    }
  }
  free(data);
  (void)printf("%d inputs\n", argc - 1);
  return status;
}

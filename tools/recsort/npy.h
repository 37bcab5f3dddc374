/* npy.h - .npy files of NumPy: their headers say what a schema would. */
#ifndef RECSORT_NPY_H
#define RECSORT_NPY_H

#include "dtype.h"
#include "options.h"

#include "support/input.h"

/* What the first input's header says. */
typedef struct npy_input {
  recsort_schema *schema;
  dtype_schema dtype; /* its fields must be those of the other inputs, too */
} npy_input;

/* Opens the first input, reads its header and makes a schema. Its keys, unless the command line has
 * some, are all fields in their order. False, after a message, if the input is no .npy file or
 * cannot be sorted. Call npy_close in any case. */
bool npy_open(npy_input *npy, const cli_options *options, tool_ahead *ahead);
/* Makes the schema from a header, with keys of its own unless `sorting` has some. `name` is that of
 * its file. False, after a message, on failure. */
bool npy_make_schema(npy_input *npy, const char *name, const tool_bytes *header,
                     const recsort_options *sorting);
/* The format of .npy files with the same fields; `npy` must outlive it. */
tool_format npy_format(const npy_input *npy);
void npy_close(npy_input *npy);

#endif

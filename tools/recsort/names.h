/* names.h - the names of inputs in a file, as find -print0 writes them. */
#ifndef RECSORT_NAMES_H
#define RECSORT_NAMES_H

#include "options.h"

/* Reads the names in options->files_from, if that is given, in place of the inputs. False, after a
 * message, if it cannot be read, names nothing, or names something that is no file. */
bool names_read(cli_options *options);

#endif

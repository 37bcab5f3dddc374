/* completion.h - what shells need to complete recsort's command line. */
#ifndef RECSORT_COMPLETION_H
#define RECSORT_COMPLETION_H

#include <stdbool.h>

/* Whether there are completions for a shell: bash, zsh or fish. */
bool completion_exists(const char *shell);
/* Prints them, made from the table of options. False, with a message, if that fails. */
bool completion_print(const char *shell);

#endif

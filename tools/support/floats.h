/* floats.h - the digits of floats, which the C library finds only by trial. */
#ifndef TOOL_FLOATS_H
#define TOOL_FLOATS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the shortest decimal that reads back as the same finite number, as in -1.25e-07; of
 * several the nearest. Returns its end; there is no NUL. Needs 32 bytes. */
char *tool_float_digits(float value, char *text);
char *tool_double_digits(double value, char *text);

#ifdef __cplusplus
}
#endif

#endif

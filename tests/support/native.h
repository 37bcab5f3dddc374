/* native.h - the byte order of the processor that the test runs on: a schema's line, and C's. */
#ifndef RS_TEST_NATIVE_H
#define RS_TEST_NATIVE_H

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NATIVE "endian: big\n"
#define NATIVE_ENDIAN RECSORT_BIG_ENDIAN
#else
#define NATIVE "endian: little\n"
#define NATIVE_ENDIAN RECSORT_LITTLE_ENDIAN
#endif

#endif

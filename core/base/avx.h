/* avx.h - whether functions for AVX are compiled. A sort chooses them if the processor has AVX. */
#ifndef RS_BASE_AVX_H
#define RS_BASE_AVX_H

#if defined(__x86_64__) && !defined(RS_NO_AVX)
#define RS_HAS_AVX
#include <immintrin.h>
#ifdef _MSC_VER /* clang-cl leaves these out if no option asks for AVX */
#include <avxintrin.h>
#include <avx2intrin.h>
#endif
#endif

#endif

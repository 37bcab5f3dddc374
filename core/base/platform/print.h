/* print.h - lets the compiler check the arguments of functions that format text like printf. */
#ifndef RS_PLATFORM_PRINT_H
#define RS_PLATFORM_PRINT_H

/* Numbers of the arguments, from 1: the format, and the first one that it prints. */
#if defined(_WIN32) && !defined(__clang__) /* "printf" means that of Microsoft, which has no %zu   \
                                            */
#define RS_PRINTS(format_, first) __attribute__((format(gnu_printf, format_, first)))
#else
#define RS_PRINTS(format_, first) __attribute__((format(printf, format_, first)))
#endif

#endif

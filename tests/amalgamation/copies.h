/* copies.h - the two copies of the library in the program copies. */
#ifndef RECSORT_TEST_COPIES_H
#define RECSORT_TEST_COPIES_H

enum { THREADS = 3 };

unsigned first_sorts(unsigned count);
unsigned second_sorts(unsigned count);

/* The threads of the process, with the main one. */
unsigned threads_now();

#endif

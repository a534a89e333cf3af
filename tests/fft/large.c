/* Reductions of arrays whose indices have 64 bits: the tests of reduce.c, with a lower limit for indices of 32 bits. */
#define VD__REDUCE_NARROW 100ull
#include "tests/fft/own.h"
#include "tests/fft/reduce.c"

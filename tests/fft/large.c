/* Reductions of arrays whose indices have 64 bits: the tests of reduce.c, with a lower limit for indices of 32 bits. */
#include "tests/fft/reduce.c"

/* Transforms of arrays whose indices have 64 bits: the tests of real.c, with a lower limit for indices of 32
   bits. */
#define FFT_FEW_CASES 1
#include "tests/fft/real.c"

/* Arrays of up to four dimensions, and their complex transforms by FFTW. A shape ends with its first 0. */
#ifndef TESTS_FFT_FFTW_H
#define TESTS_FFT_FFTW_H

#include "common.h"

#include <fftw3.h>

static inline uint32_t dimensions_of(const uint64_t *shape) {
    uint32_t d = 0;
    while (d < 4 && shape[d]) d++;
    return d;
}

static inline uint64_t elements_of(const uint64_t *shape) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < dimensions_of(shape); i++) n *= shape[i];
    return n;
}

/* Position in memory of element i in C order. Strides of zeros: C order. */
static inline uint64_t place_of(const uint64_t *shape, const uint64_t *stride, uint64_t i) {
    uint64_t at = 0;
    if (!(stride[0] | stride[1] | stride[2] | stride[3])) return i;
    for (uint32_t d = dimensions_of(shape); d-- > 0; i /= shape[d]) at += i % shape[d] * stride[d];
    return at;
}

/* Transforms x in place along `axes`, without normalisation. Returns the product of their lengths. */
static inline double fftw_transform(const uint64_t *shape, uint32_t axes, bool inverse, fftw_complex *x) {
    fftw_iodim along[4], across[4];
    int along_count = 0, across_count = 0, stride = 1;
    double product = 1;
    for (uint32_t i = dimensions_of(shape); i-- > 0;) {
        fftw_iodim d = { (int)shape[i], stride, stride };
        if (axes >> i & 1) {
            along[along_count++] = d;
            product *= (double)shape[i];
        } else {
            across[across_count++] = d;
        }
        stride *= (int)shape[i];
    }
    fftw_plan plan = fftw_plan_guru_dft(along_count, along, across_count, across, x, x,
                                        inverse ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
    assert_non_null(plan);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return product;
}

#endif

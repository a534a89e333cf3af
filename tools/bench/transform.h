/* Complex values and a butterfly, for benchmarks that need a large straight-line kernel. */
#ifndef BENCH_TRANSFORM_H
#define BENCH_TRANSFORM_H

#include <math.h>
#include <string.h>

enum {
    TURNS = 4096,  /* the smallest angle is 2 pi / TURNS */
    STRAIGHT = 256 /* points per thread */
};

typedef struct complex_val { vc_val re, im; } complex_val;

static inline complex_val c_add(complex_val a, complex_val b) {
    complex_val r = { vc_add(a.re, b.re), vc_add(a.im, b.im) };
    return r;
}

static inline complex_val c_sub(complex_val a, complex_val b) {
    complex_val r = { vc_sub(a.re, b.re), vc_sub(a.im, b.im) };
    return r;
}

/* exp(2 pi i n / TURNS), computed before the timed part. */
static double turn_cos[TURNS], turn_sin[TURNS];

static inline void make_turns(void) {
    for (int n = 0; n < TURNS; n++) {
        turn_cos[n] = cos(2 * 3.14159265358979323846 * n / TURNS);
        turn_sin[n] = sin(2 * 3.14159265358979323846 * n / TURNS);
    }
}

/* Multiplies by exp(sign 2 pi i turn / of), a constant of the kernel. */
static inline complex_val c_turn(complex_val a, int turn, int of, int sign) {
    int n = turn % of * (TURNS / of);
    vc_val re = vc_f32((float)turn_cos[n]), im = vc_f32((float)(sign * turn_sin[n]));
    if (n == 0) return a;
    complex_val r = { vc_fma(a.re, re, vc_neg(vc_mul(a.im, im))), vc_fma(a.re, im, vc_mul(a.im, re)) };
    return r;
}

static inline void dft4(complex_val *x, int stride, int sign) {
    complex_val a = c_add(x[0], x[2 * stride]), b = c_sub(x[0], x[2 * stride]);
    complex_val c = c_add(x[stride], x[3 * stride]), d = c_sub(x[stride], x[3 * stride]);
    complex_val e = { sign > 0 ? vc_neg(d.im) : d.im, sign > 0 ? d.re : vc_neg(d.re) };
    x[0] = c_add(a, c);
    x[stride] = c_add(b, e);
    x[2 * stride] = c_sub(a, c);
    x[3 * stride] = c_sub(b, e);
}

/* In place, results in natural order: 16 = 4 x 4. */
static inline void dft16(complex_val *x, int sign) {
    complex_val y[16];
    for (int i = 0; i < 4; i++) dft4(x + i, 4, sign);
    for (int i = 0; i < 16; i++) x[i] = c_turn(x[i], (i / 4) * (i % 4), 16, sign);
    for (int i = 0; i < 4; i++) dft4(x + 4 * i, 1, sign);
    for (int i = 0; i < 16; i++) y[i / 4 + 4 * (i % 4)] = x[i];
    memcpy(x, y, sizeof y);
}

/* 256 = 16 x 16. */
static inline void dft256(complex_val *x, int sign) {
    complex_val line[16], y[256];
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 16; j++) line[j] = x[i + 16 * j];
        dft16(line, sign);
        for (int j = 0; j < 16; j++) x[i + 16 * j] = c_turn(line[j], i * j, 256, sign);
    }
    for (int i = 0; i < 16; i++) {
        dft16(x + 16 * i, sign);
        for (int j = 0; j < 16; j++) y[i + 16 * j] = x[16 * i + j];
    }
    memcpy(x, y, sizeof y);
}

/* Interleaved real and imaginary parts, STRAIGHT complex numbers per thread. `scale` is a constant of the kernel. */
static inline void record_straight(vc_kernel *k, float scale) {
    vc_ref in = vc_buffer(k, "points", VC_F32, VC_READ);
    vc_ref out = vc_buffer(k, "result", VC_F32, VC_WRITE);
    VC_EACH(k, i) {
        static complex_val x[STRAIGHT];
        vc_val first = vc_mul(i, vc_u32(2 * STRAIGHT));
        for (uint32_t j = 0; j < STRAIGHT; j++) {
            x[j].re = vc_mul(vc_load(vc_offset(in, vc_u32(2 * j)), first), vc_f32(scale));
            x[j].im = vc_mul(vc_load(vc_offset(in, vc_u32(2 * j + 1)), first), vc_f32(scale));
        }
        dft256(x, -1);
        for (uint32_t j = 0; j < STRAIGHT; j++) {
            vc_store(vc_offset(out, vc_u32(2 * j)), first, x[j].re);
            vc_store(vc_offset(out, vc_u32(2 * j + 1)), first, x[j].im);
        }
    }
}

#endif /* BENCH_TRANSFORM_H */

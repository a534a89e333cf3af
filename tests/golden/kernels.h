/* Sample kernels of the kinds that occur in practice. Each is a function that records into an open kernel; the table
   at the end lists them with their local sizes. The golden test and other tests use them. Include
   vkdispatch_codegen.h first. */
#ifndef VKDISPATCH_TESTS_KERNELS_H
#define VKDISPATCH_TESTS_KERNELS_H

#include <math.h>
#include <string.h>

typedef struct kernel_sample {
    const char *name;
    uint32_t local_size[3];
    void (*build)(vc_kernel *k);
} kernel_sample;

static void kernel_saxpy(vc_kernel *k) {
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ);
    vc_ref y = vc_buffer(k, "y", VC_F32, VC_READ_WRITE);
    vc_val a = vc_param(k, "a", VC_F32);
    VC_EACH(k, i) { vc_store(y, i, vc_fma(a, vc_load(x, i), vc_load(y, i))); }
}

/* Converts a picture from packed RGBA to luminance. */
static void kernel_grey(vc_kernel *k) {
    vc_ref rgba = vc_buffer(k, "rgba", VC_VEC(VC_U8, 4), VC_READ);
    vc_ref grey = vc_buffer(k, "grey", VC_F32, VC_WRITE);
    VC_EACH2(k, x, y) {
        vc_val at = vc_add(vc_mul(y, vc_threads(k, 0)), x);
        vc_val c = vc_mul(vc_cast(VC_F32X4, vc_load(rgba, at)), vc_f32(1.0f / 255.0f));
        vc_val red = vc_mul(vc_component(c, 0), vc_f32(0.2126f)), green = vc_mul(vc_component(c, 1), vc_f32(0.7152f));
        vc_store(grey, at, vc_add(vc_add(red, green), vc_mul(vc_component(c, 2), vc_f32(0.0722f))));
    }
}

static vc_val kernel_clamped(vc_val at, uint32_t halo, vc_val extent) {
    vc_val moved = vc_sub(vc_cast(VC_I32, at), vc_i32((int32_t)halo));
    return vc_cast(VC_U32, vc_clamp(moved, vc_i32(0), vc_sub(vc_cast(VC_I32, extent), vc_i32(1))));
}

/* 5 x 5 Gaussian blur: a tile of 16 x 16 with a halo of 2 in shared memory. The extent is an argument because
   VC_EACH must not contain barriers. */
static void kernel_gauss(vc_kernel *k) {
    static const float weight[5] = { 1.0f / 16, 4.0f / 16, 6.0f / 16, 4.0f / 16, 1.0f / 16 };
    const uint32_t side = 20;
    vc_ref in = vc_buffer(k, "in", VC_F32, VC_READ);
    vc_ref out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    vc_val size = vc_param(k, "size", VC_U32X2);
    vc_ref tile = vc_shared(k, "tile", VC_F32, side * side);
    vc_val width = vc_component(size, 0), height = vc_component(size, 1);
    vc_val lx = vc_local_id(k, 0), ly = vc_local_id(k, 1), x = vc_global_id(k, 0), y = vc_global_id(k, 1);
    VC_FOR_STEP(k, i, vc_local_index(k), vc_u32(side * side), vc_u32(256)) {
        vc_val left = vc_mul(vc_group_id(k, 0), vc_u32(16)), top = vc_mul(vc_group_id(k, 1), vc_u32(16));
        vc_val from_x = kernel_clamped(vc_add(left, vc_rem(i, vc_u32(side))), 2, width);
        vc_val from_y = kernel_clamped(vc_add(top, vc_div(i, vc_u32(side))), 2, height);
        vc_store(tile, i, vc_load(in, vc_add(vc_mul(from_y, width), from_x)));
    }
    vc_barrier(k);
    VC_IF(k, vc_and(vc_lt(x, width), vc_lt(y, height))) {
        vc_val first = vc_add(vc_mul(ly, vc_u32(side)), lx), sum = vc_f32(0);
        for (uint32_t r = 0; r < 5; r++)
            for (uint32_t c = 0; c < 5; c++) {
                vc_val pixel = vc_load(vc_offset(tile, vc_u32(r * side + c)), first);
                sum = r + c ? vc_fma(pixel, vc_f32(weight[r] * weight[c]), sum)
                    : vc_mul(pixel, vc_f32(weight[r] * weight[c]));
            }
        vc_store(out, vc_add(vc_mul(y, width), x), sum);
    }
}

/* Sums each group of 256 by a tree reduction. */
static void kernel_reduce(vc_kernel *k) {
    vc_ref in = vc_buffer(k, "in", VC_F32, VC_READ);
    vc_ref out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    vc_ref part = vc_shared(k, "part", VC_F32, 256);
    vc_val i = vc_local_index(k), at = vc_global_id(k, 0);
    vc_store(part, i, vc_load_or(in, at, vc_lt(at, vc_length(in)), vc_f32(0)));
    vc_barrier(k);
    for (uint32_t half = 128; half; half /= 2) {
        VC_IF(k, vc_lt(i, vc_u32(half))) {
            vc_store(part, i, vc_add(vc_load(part, i), vc_load(vc_offset(part, vc_u32(half)), i)));
        }
        vc_barrier(k);
    }
    VC_IF(k, vc_eq(i, vc_u32(0))) { vc_store(out, vc_group_id(k, 0), vc_load(part, vc_u32(0))); }
}

/* One invocation per bin counts its byte value in the whole input. */
static void kernel_histogram(vc_kernel *k) {
    vc_ref in = vc_buffer(k, "in", VC_U8, VC_READ);
    vc_ref bins = vc_buffer(k, "bins", VC_U32, VC_WRITE);
    VC_EACH(k, bin) {
        vc_ref count = vc_var(k, "count", VC_U32);
        VC_FOR(k, i, vc_u32(0), vc_length(in)) {
            vc_set(count, vc_add(vc_get(count), vc_cast(VC_U32, vc_eq(vc_cast(VC_U32, vc_load(in, i)), bin))));
        }
        vc_store(bins, bin, vc_get(count));
    }
}

static void kernel_mandelbrot(vc_kernel *k) {
    vc_ref rounds = vc_buffer(k, "rounds", VC_U32, VC_WRITE);
    vc_val corner = vc_param(k, "corner", VC_F32X2);
    vc_val step = vc_param(k, "step", VC_F32);
    vc_val most = vc_param(k, "most rounds", VC_U32);
    VC_EACH2(k, x, y) {
        vc_val cx = vc_fma(vc_cast(VC_F32, x), step, vc_component(corner, 0));
        vc_val cy = vc_fma(vc_cast(VC_F32, y), step, vc_component(corner, 1));
        vc_ref zx = vc_var(k, "zx", VC_F32), zy = vc_var(k, "zy", VC_F32), n = vc_var(k, "n", VC_U32);
        VC_LOOP(k) {
            vc_val re = vc_get(zx), im = vc_get(zy), re2 = vc_mul(re, re), im2 = vc_mul(im, im);
            vc_break_if(k, vc_or(vc_ge(vc_get(n), most), vc_gt(vc_add(re2, im2), vc_f32(4))));
            vc_set(zy, vc_add(vc_mul(vc_mul(re, im), vc_f32(2)), cy));
            vc_set(zx, vc_add(vc_sub(re2, im2), cx));
            vc_set(n, vc_add(vc_get(n), vc_u32(1)));
        }
        vc_store(rounds, vc_add(vc_mul(y, vc_threads(k, 0)), x), vc_get(n));
    }
}

/* An interpreter: one opcode per invocation. One opcode leaves the loop from inside the switch. */
static void kernel_switch(vc_kernel *k) {
    vc_ref code = vc_buffer(k, "code", VC_U32, VC_READ);
    vc_ref result = vc_buffer(k, "switch", VC_I32, VC_WRITE);
    VC_EACH(k, i) {
        vc_ref sum = vc_var(k, "sum", VC_I32);
        VC_FOR(k, round, vc_i32(0), vc_i32(8)) {
            vc_val op = vc_rem(vc_load(code, vc_add(vc_mul(i, vc_u32(8)), vc_cast(VC_U32, round))), vc_u32(5));
            VC_SWITCH(k, op) {
                VC_CASE(k, 0) { vc_set(sum, vc_add(vc_get(sum), round)); }
                VC_CASE(k, 1) { vc_set(sum, vc_mul(vc_get(sum), vc_i32(3))); }
                VC_CASE(k, 3) { vc_break_if(k, vc_gt(vc_get(sum), vc_i32(100))); }
                VC_DEFAULT(k) { vc_set(sum, vc_not(vc_get(sum))); }
            }
            VC_SWITCH(k, vc_get(sum)) {
                VC_CASE(k, -1) { vc_set(sum, vc_i32(INT32_MIN)); }
                VC_CASE(k, 7) { vc_set(sum, vc_i32(INT32_MAX)); }
            }
        }
        vc_store(result, i, vc_get(sum));
    }
}

/* Saturating addition of 8-bit, 16-bit and half values, with narrow parameters. */
static void kernel_narrow(vc_kernel *k) {
    vc_ref a = vc_buffer(k, "a", VC_U8, VC_READ), b = vc_buffer(k, "b", VC_I16, VC_READ_WRITE);
    vc_ref c = vc_buffer(k, "c", VC_F16, VC_READ_WRITE);
    vc_val bias = vc_param(k, "bias", VC_U8), limit = vc_param(k, "limit", VC_I16), gain = vc_param(k, "gain", VC_F16);
    vc_val on = vc_param(k, "on", VC_BOOL);
    VC_EACH(k, i) {
        vc_val sum = vc_add(vc_load(a, i), bias);
        vc_val wrapped = vc_lt(sum, bias);
        vc_val byte = vc_select(wrapped, vc_u8(255), sum);
        vc_store(b, i, vc_min(vc_add(vc_load(b, i), vc_cast(VC_I16, byte)), limit));
        VC_IF(k, on) { vc_store(c, i, vc_add(vc_mul(vc_load(c, i), gain), vc_f16(0.1f))); }
    }
}

/* f64: Newton iteration for a root, with an elementary function. */
static void kernel_double(vc_kernel *k) {
    vc_ref x = vc_buffer(k, "x", VC_F64, VC_READ_WRITE);
    vc_val tiny = vc_param(k, "tiny", VC_F64);
    VC_EACH(k, i) {
        vc_val a = vc_load(x, i), r = a;
        for (int step = 0; step < 3; step++) r = vc_mul(vc_add(r, vc_div(a, r)), vc_f64(0.5));
        vc_store(x, i, vc_add(vc_sqrt(vc_max(r, tiny)), vc_f64(1e-300)));
    }
}

/* Particles: vectors of three components in buffers with the layout of C. */
static void kernel_particles(vc_kernel *k) {
    vc_ref position = vc_buffer(k, "position", VC_F32X3, VC_READ_WRITE);
    vc_ref velocity = vc_buffer(k, "velocity", VC_F32X3, VC_READ_WRITE);
    vc_ref mass = vc_buffer(k, "mass", VC_F32, VC_READ);
    vc_val dt = vc_param(k, "dt", VC_F32), pull = vc_param(k, "pull", VC_F32X3);
    VC_EACH(k, i) {
        vc_val p = vc_load(position, i), d = vc_sub(pull, p);
        vc_val r2 = vc_add(vc_dot(d, d), vc_f32(1e-4f)), inverse = vc_rsqrt(r2);
        vc_val a = vc_mul(d, vc_div(vc_mul(inverse, vc_mul(inverse, inverse)), vc_load(mass, i)));
        vc_val v = vc_add(vc_load(velocity, i), vc_mul(a, dt));
        vc_store(velocity, i, v);
        vc_store(position, i, vc_add(p, vc_mul(v, dt)));
    }
}

/* A constant table, and a private array. */
static void kernel_table(vc_kernel *k) {
    static const float taps[8] = { 0.5f, -0.25f, 0.125f, 1e-10f, 3.0f, 16777216.0f, 0.1f, -0.0f };
    static const int32_t order[4] = { 3, -1, INT32_MIN, 0 };
    vc_ref in = vc_buffer(k, "in", VC_F32, VC_READ), out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    vc_ref tap = vc_table(k, "taps", VC_F32, taps, 8), turn = vc_table(k, "order", VC_I32, order, 4);
    VC_EACH(k, i) {
        vc_ref window = vc_array(k, "window", VC_F32, 8);
        vc_ref sum = vc_var(k, "sum", VC_F32);
        for (uint32_t j = 0; j < 8; j++) vc_store(window, vc_u32(j), vc_load(vc_offset(in, vc_u32(j)), i));
        VC_FOR(k, j, vc_u32(0), vc_u32(8)) {
            vc_val other = vc_and(vc_add(j, vc_cast(VC_U32, vc_load(turn, vc_and(i, vc_u32(3))))), vc_u32(7));
            vc_set(sum, vc_fma(vc_load(tap, j), vc_load(window, other), vc_get(sum)));
        }
        vc_store(out, i, vc_get(sum));
    }
}

/* Nested loops with continue, break and return. */
static void kernel_loops(vc_kernel *k) {
    vc_ref out = vc_buffer(k, "out", VC_U32, VC_WRITE);
    vc_val rows = vc_param(k, "rows", VC_I32);
    VC_EACH(k, i) {
        vc_ref sum = vc_var(k, "sum", VC_U32);
        vc_return_if(k, vc_eq(vc_rem(i, vc_u32(7)), vc_u32(6)));
        VC_FOR_STEP(k, a, vc_sub(rows, vc_i32(1)), vc_i32(-1), vc_i32(-2)) {
            vc_continue_if(k, vc_eq(vc_and(a, vc_i32(3)), vc_i32(3)));
            VC_FOR(k, b, vc_u32(0), i) {
                vc_continue_if(k, vc_eq(vc_and(b, vc_u32(1)), vc_u32(0)));
                vc_break_if(k, vc_gt(vc_get(sum), vc_u32(1000)));
                VC_IF(k, vc_lt(vc_cast(VC_I32, b), a)) { vc_set(sum, vc_add(vc_get(sum), b)); }
                VC_ELSE(k) { vc_set(sum, vc_xor(vc_get(sum), vc_cast(VC_U32, a))); }
            }
        }
        vc_store(out, i, vc_get(sum));
    }
}

typedef struct kernel_complex { vc_val re, im; } kernel_complex;

static kernel_complex kernel_twiddled(kernel_complex z, float re, float im) {
    kernel_complex r;
    r.re = vc_fma(z.re, vc_f32(re), vc_neg(vc_mul(z.im, vc_f32(im))));
    r.im = vc_fma(z.re, vc_f32(im), vc_mul(z.im, vc_f32(re)));
    return r;
}

/* A radix-16 butterfly as straight-line code: four radix-2 steps, then the twiddle factors. */
static void kernel_butterfly(vc_kernel *k) {
    static const float cosine[8] = { 1.0f, 0.923879533f, 0.707106781f, 0.382683432f, 0.0f, -0.382683432f, -0.707106781f,
                                     -0.923879533f };
    static const float sine[8] = { 0.0f, -0.382683432f, -0.707106781f, -0.923879533f, -1.0f, -0.923879533f,
                                   -0.707106781f, -0.382683432f };
    kernel_complex z[16], even, odd;
    vc_ref data = vc_buffer(k, "data", VC_F32X2, VC_READ_WRITE);
    VC_EACH(k, i) {
        vc_val first = vc_mul(i, vc_u32(16)), v;
        for (uint32_t n = 0; n < 16; n++) {
            v = vc_load(vc_offset(data, vc_u32((n & 1) << 3 | (n & 2) << 1 | (n & 4) >> 1 | n >> 3)), first);
            z[n].re = vc_component(v, 0);
            z[n].im = vc_component(v, 1);
        }
        for (uint32_t half = 1; half < 16; half *= 2)
            for (uint32_t n = 0; n < 16; n++) {
                if (n & half) continue;
                even = z[n];
                odd = kernel_twiddled(z[n + half], cosine[(n % half) * (8 / half)], sine[(n % half) * (8 / half)]);
                z[n].re = vc_add(even.re, odd.re);
                z[n].im = vc_add(even.im, odd.im);
                z[n + half].re = vc_sub(even.re, odd.re);
                z[n + half].im = vc_sub(even.im, odd.im);
            }
        for (uint32_t n = 0; n < 16; n++) vc_store(vc_offset(data, vc_u32(n)), first, vc_vec2(z[n].re, z[n].im));
    }
}

/* 64-bit integers as indices, as values and in a random number generator. */
static void kernel_random(vc_kernel *k) {
    vc_ref state = vc_buffer(k, "state", VC_U64, VC_READ_WRITE), out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    vc_val stride = vc_param(k, "stride", VC_I64);
    VC_EACH(k, i) {
        vc_val at = vc_mul(vc_cast(VC_I64, i), stride), s = vc_load(state, at);
        vc_val next = vc_add(vc_mul(s, vc_u64(6364136223846793005u)), vc_u64(1442695040888963407u));
        vc_val x = vc_cast(VC_U32, vc_shr(vc_xor(vc_shr(s, vc_u32(18)), s), vc_u32(27)));
        vc_val turn = vc_cast(VC_U32, vc_shr(s, vc_u32(59)));
        vc_val r = vc_or(vc_shr(x, turn), vc_shl(x, vc_neg(turn)));
        vc_store(state, at, next);
        vc_store(out, i, vc_mul(vc_cast(VC_F32, vc_shr(r, vc_u32(8))), vc_f32(1.0f / 16777216.0f)));
    }
}

/* Vector conditions, bool in memory, and constants without a decimal representation. */
static void kernel_conditions(vc_kernel *k) {
    vc_ref in = vc_buffer(k, "in", VC_F32X4, VC_READ), flags = vc_buffer(k, "flags", VC_BOOL, VC_READ_WRITE);
    vc_ref out = vc_buffer(k, "out", VC_F32X4, VC_WRITE);
    VC_EACH(k, i) {
        vc_val v = vc_load(in, i), low = vc_lt(v, vc_f32(0)), odd = vc_or(vc_isnan(v), vc_not(vc_isinf(v)));
        vc_val chosen = vc_select(vc_and(low, odd), vc_neg(v), vc_f32(INFINITY));
        vc_val any = vc_xor(vc_any(low), vc_load(flags, i));
        vc_store(out, i, vc_select(any, chosen, vc_swizzle(chosen, "wzyx")));
        vc_store(flags, i, vc_and(vc_all(odd), vc_ne(vc_component(v, 1), vc_f32(-0.0f))));
    }
}

/* Integer arithmetic that differs between languages: division, remainder, shifts, and out-of-range conversions. */
static void kernel_edges(vc_kernel *k) {
    vc_ref a = vc_buffer(k, "a", VC_I32, VC_READ), b = vc_buffer(k, "b", VC_I32, VC_READ);
    vc_ref f = vc_buffer(k, "f", VC_F32, VC_READ);
    vc_ref out = vc_buffer(k, "out", VC_I32X4, VC_WRITE);
    VC_EACH(k, i) {
        vc_val x = vc_load(a, i), y = vc_load(b, i), z = vc_load(f, i);
        vc_store(out, i, vc_vec4(vc_add(vc_div(x, y), vc_rem(x, y)), vc_mod(x, y), vc_shr(x, y),
                                 vc_cast(VC_I32, vc_pow(z, vc_f32(2.5f)))));
    }
}

/* All kinds of names: none, reserved words, words of other languages, duplicates, characters that are not letters. */
static void kernel_names(vc_kernel *k) {
    static const char *const names[] = { NULL, "", "float", "__global__", "v1", "gl_Position", "sum", "sum", "sum_2",
                                         "7 up", "\xc3\xa9t\xc3\xa9", "threadIdx", "main", "a__b", "*/" };
    vc_val sum = vc_f32(0);
    vc_ref out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) sum = vc_add(sum, vc_param(k, names[n], VC_F32));
    VC_EACH(k, i) {
        vc_ref v = vc_var(k, "sum", VC_F32);
        vc_set(v, sum);
        VC_IF(k, vc_gt(vc_get(v), vc_f32(1))) { vc_set(v, vc_f32(1)); }
        vc_store(out, i, vc_get(v));
    }
}

/* Two buffers that may alias. */
static void kernel_alias(vc_kernel *k) {
    vc_ref from = vc_buffer(k, "from", VC_F32, VC_READ | VC_MAY_ALIAS);
    vc_ref to = vc_buffer(k, "to", VC_F32, VC_READ_WRITE | VC_MAY_ALIAS);
    VC_EACH(k, i) {
        vc_val before = vc_load(from, i);
        vc_store(to, i, vc_add(vc_load(to, i), vc_f32(1)));
        vc_store(to, i, vc_mul(vc_load(from, i), before));
    }
}

/* A histogram with minimum and maximum: integer atomics in shared memory, float atomics with and without native
   support. */
static void kernel_atomics(vc_kernel *k) {
    vc_ref in = vc_buffer(k, "in", VC_F32, VC_READ), count = vc_buffer(k, "count", VC_U32, VC_READ_WRITE);
    vc_ref sum = vc_buffer(k, "sum", VC_F32, VC_READ_WRITE);
    vc_ref range = vc_buffer(k, "range", VC_F32, VC_READ_WRITE), total = vc_buffer(k, "total", VC_I64, VC_READ_WRITE);
    vc_ref flag = vc_buffer(k, "flag", VC_U32, VC_READ_WRITE), tile = vc_shared(k, "tile", VC_U32, 64);
    vc_val lane = vc_local_index(k), value = vc_load(in, vc_global_id(k, 0)), old, seen;
    vc_val bin = vc_and(vc_cast(VC_U32, value), vc_u32(63));
    vc_store(tile, lane, vc_u32(0));
    vc_barrier(k);
    vc_atomic_add(tile, bin, vc_u32(1), &old);
    vc_atomic_sub(total, vc_u32(0), vc_i64(1), NULL);
    vc_atomic_add(sum, bin, value, NULL);
    vc_atomic_min(range, vc_u32(0), value, NULL);
    vc_atomic_max(range, vc_u32(1), vc_mul(value, vc_f32(2)), &seen);
    vc_atomic_exchange(range, vc_add(lane, vc_u32(2)), seen, NULL);
    vc_barrier(k);
    vc_atomic_add(count, lane, vc_load(tile, lane), NULL);
    vc_atomic_compare_exchange(flag, vc_u32(0), old, vc_add(old, vc_u32(1)), &old);
    VC_IF(k, vc_eq(old, vc_u32(7))) {
        vc_fence(k, VC_SCOPE_DEVICE, VC_STORAGE_BUFFER);
        vc_atomic_store(vc_ordered(flag, VC_RELEASE, VC_SCOPE_DEFAULT), vc_u32(1), old);
    }
    vc_atomic_load(vc_ordered(flag, VC_ACQUIRE, VC_SCOPE_WORKGROUP), vc_u32(2), &old);
    vc_atomic_xor(flag, vc_u32(3), old, NULL);
}

/* Work-group sums through subgroups, positions from ballots, and values of neighbours. */
static void kernel_subgroups(vc_kernel *k) {
    vc_ref in = vc_buffer(k, "in", VC_F32, VC_READ), out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    vc_ref ids = vc_buffer(k, "ids", VC_U32, VC_WRITE);
    vc_val i = vc_global_id(k, 0), v = vc_load(in, i), keep = vc_gt(v, vc_f32(0)), ballot = vc_subgroup_ballot(keep);
    vc_val lane = vc_subgroup_local_id(k);
    vc_val next = vc_subgroup_shuffle_down(v, vc_u32(1));
    vc_val other = vc_subgroup_shuffle_xor(vc_cast(VC_U32, keep), vc_u32(1));
    vc_ref part = vc_shared(k, "part", VC_F32, 128);
    vc_val sum = vc_subgroup_reduce(VC_ADD, v), before = vc_subgroup_exclusive(VC_ADD, v);
    vc_val most = vc_subgroup_clustered(VC_MAX, v, 4);
    VC_IF(k, vc_subgroup_elect(k)) { vc_store(part, vc_subgroup_id(k), sum); }
    vc_barrier(k);
    VC_FOR(k, j, vc_u32(0), vc_subgroup_id(k)) {
        vc_store(out, i, vc_add(vc_subgroup_broadcast_first(vc_load(part, j)), before));
    }
    VC_IF(k, vc_subgroup_any(vc_not(keep))) { vc_store(out, i, vc_mul(next, most)); }
    VC_IF(k, vc_subgroup_all_equal(other)) { vc_store(out, i, vc_subgroup_broadcast(v, vc_u32(2))); }
    vc_store(ids, i,
             vc_add(vc_add(vc_subgroup_ballot_exclusive(ballot), vc_mul(vc_subgroup_ballot_count(ballot), lane)),
                    vc_subgroup_size(k)));
    vc_store(ids, vc_add(i, vc_subgroup_count(k)), vc_subgroup_inclusive(VC_XOR, vc_subgroup_shuffle(lane, other)));
}

/* Newton's method for z^3 = 1: a complex variable in a loop, and the exact roots in a constant table. */
static inline void kernel_newton(vc_kernel *k) {
    static const float roots[6] = { 1.0f, 0.0f, -0.5f, 0.8660254f, -0.5f, -0.8660254f };
    vc_ref out = vc_buffer(k, "out", VC_F32C, VC_WRITE), distance = vc_buffer(k, "distance", VC_F32, VC_WRITE);
    vc_ref root = vc_table(k, "roots", VC_F32C, roots, 3), z = vc_var(k, "z", VC_F32C);
    vc_val start = vc_param(k, "start", VC_F32C), step = vc_param(k, "step", VC_F32C);
    VC_EACH2(k, x, y) {
        vc_val at = vc_add(vc_mul(y, vc_threads(k, 0)), x), offset = vc_complex(vc_cast(VC_F32, x), vc_cast(VC_F32, y));
        vc_val value, square;
        vc_set(z, vc_add(start, vc_mul(offset, step)));
        VC_FOR(k, i, vc_u32(0), vc_u32(20)) {
            value = vc_get(z);
            square = vc_mul(value, value);
            vc_set(z, vc_sub(value, vc_div(vc_sub(vc_mul(square, value), vc_f32(1)), vc_mul(square, vc_f32(3)))));
        }
        vc_store(out, at, vc_get(z));
        vc_store(distance, at, vc_abs(vc_sub(vc_get(z), vc_load(root, vc_rem(at, vc_u32(3))))));
    }
}

/* Structs with nested members in a buffer, in shared memory and as a parameter, and a matrix that rotates them. */
static inline void kernel_bodies(vc_kernel *k) {
    const vc_member shape_members[] = { { "kind", VC_U8 }, { "corners", vc_array_type(k, VC_F32X2, 3) } };
    const vc_type shape = vc_struct(k, "shape", shape_members, 2);
    const vc_member members[] = { { "position", VC_F32X3 }, { "mass", VC_F32 }, { "shape", shape },
                                  { "frame", VC_F32X3X3 }, { "weights", VC_F32X4 } };
    const vc_type body = vc_struct(k, "body", members, 5);
    vc_ref in = vc_buffer(k, "bodies", body, VC_READ_WRITE), tile = vc_shared(k, "tile", body, 64);
    vc_ref sum = vc_var(k, "sum", VC_F32X3);
    vc_val turn = vc_param(k, "turn", VC_F32X3X3), other = vc_param(k, "other", shape), lane = vc_local_id(k, 0);
    vc_val i = vc_global_id(k, 0);
    vc_val b = vc_load(in, i), at = vc_rem(i, vc_u32(3));
    vc_store(tile, lane, b);
    vc_barrier(k);
    VC_FOR(k, j, vc_u32(0), vc_u32(64)) {
        vc_ref that = vc_at(tile, j);
        vc_set(sum, vc_fma(vc_get(vc_field(that, 0)), vc_get(vc_field(that, 1)), vc_get(sum)));
    }
    b = vc_with(vc_with(b, 0, vc_mul(turn, vc_get(sum))), 3, vc_mul(turn, vc_part(b, 3)));
    vc_store(in, i, vc_select(vc_gt(vc_determinant(vc_part(b, 3)), vc_f32(0)), b, vc_with(b, 2, other)));
    vc_set(vc_at(vc_field(vc_field(vc_at(in, i), 2), 1), at), vc_load(vc_field(vc_field(vc_at(tile, lane), 2), 1), at));
}

/* Operations that are built in in some languages only: bit counts, high halves of products, packed f16, and a
   counter-based random number. */
static void kernel_bits(vc_kernel *k) {
    vc_ref out = vc_buffer(k, "out", VC_U32X4, VC_READ_WRITE), halves = vc_buffer(k, "halves", VC_U32, VC_READ_WRITE);
    vc_val wide = vc_param(k, "wide", VC_U64);
    VC_EACH(k, i) {
        vc_val v = vc_load(out, i), x = vc_component(v, 0), y = vc_component(v, 1);
        vc_val pair = vc_unpack_half2(vc_load(halves, i));
        vc_store(halves, i, vc_pack_half2(vc_add(pair, vc_f32(0.5f))));
        x = vc_add(vc_popcount(x), vc_bit_reverse(y));
        y = vc_add(vc_mul_hi(x, y), vc_cast(VC_U32, vc_find_lsb(y)));
        x = vc_xor(x, vc_cast(VC_U32, vc_find_msb(vc_xor(wide, vc_cast(VC_U64, y)))));
        vc_store(out, i, vc_philox(vc_vec4(x, y, i, vc_u32(0)), vc_vec2(vc_const(k, vc_u32(1)), vc_u32(2))));
    }
}

/* Stream compaction: how many values a workgroup keeps, and the position of each. */
static void kernel_compact(vc_kernel *k) {
    vc_ref in = vc_buffer(k, "in", VC_F32, VC_READ), out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    vc_ref count = vc_buffer(k, "count", VC_U32, VC_READ_WRITE);
    vc_ref place = vc_shared(k, "place", VC_U32, 1);
    vc_val v = vc_load(in, vc_global_id(k, 0)), keep = vc_gt(v, vc_f32(0)), before, total, old;
    vc_group_exclusive(k, VC_ADD, vc_cast(VC_U32, keep), &before);
    vc_group_reduce(k, VC_ADD, vc_cast(VC_U32, keep), &total);
    VC_IF(k, vc_eq(vc_local_index(k), vc_u32(0))) {
        vc_atomic_add(count, vc_u32(0), total, &old);
        vc_store(place, vc_u32(0), old);
    }
    vc_barrier_scoped(k, VC_SCOPE_WORKGROUP, VC_SCOPE_WORKGROUP, VC_STORAGE_SHARED);
    VC_IF(k, keep) { vc_store(out, vc_add(vc_load(place, vc_u32(0)), before), v); }
}

/* printf with values of several types, and an assertion. */
static void kernel_print(vc_kernel *k) {
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ_WRITE);
    VC_EACH(k, i) {
        vc_val v = vc_load(x, i);
        vc_printf(k, "%u: %8.3f of %d\n", i, vc_vec2(v, vc_f32(1)), vc_cast(VC_I16, v));
        vc_assert(k, vc_ge(v, vc_f32(0)), "v >= 0");
        vc_store(x, i, vc_sqrt(v));
    }
}

/* Maps a picture through a colour table and adds it to the existing output: sampled, fetched, loaded and stored
   images. */
static void kernel_picture(vc_kernel *k) {
    vc_image_desc desc;
    vc_image_ref in, colours, layers, out;
    vc_ref gain = vc_buffer(k, "gain", VC_F32, VC_READ);
    in = vc_image(k, "in", NULL);
    memset(&desc, 0, sizeof desc);
    desc.dim = VC_DIM_BUFFER;
    colours = vc_image(k, "colours", &desc);
    memset(&desc, 0, sizeof desc);
    desc.dim = VC_DIM_2D_ARRAY;
    desc.storage = true;
    desc.format = VC_FORMAT_RGBA16_U;
    layers = vc_image(k, "layers", &desc);
    memset(&desc, 0, sizeof desc);
    desc.storage = true;
    desc.format = VC_FORMAT_RGBA8_UNORM;
    out = vc_image(k, "out", &desc);
    VC_EACH2(k, x, y) {
        vc_val size = vc_cast(VC_F32X2, vc_image_size(in, vc_u32(0))), at = vc_vec2(x, y);
        vc_val middle = vc_add(vc_cast(VC_F32X2, at), vc_f32(0.5f));
        vc_val c = vc_sample(in, vc_div(middle, size)), below = vc_image_load(layers, vc_vec3(x, y, vc_u32(1)));
        vc_val other = vc_fetch(in, at, vc_u32(0)), number = vc_cast(VC_I32, vc_mul(vc_component(c, 0), vc_f32(255)));
        c = vc_add(vc_fetch(colours, number, vc_u32(0)), vc_mul(vc_add(c, other), vc_load(gain, x)));
        vc_image_store(out, at, vc_mix(c, vc_cast(VC_F32X4, below), vc_f32(0.25f)));
    }
}

static const kernel_sample kernel_samples[] = {
    { "saxpy", { 0, 0, 0 }, kernel_saxpy },
    { "grey", { 16, 16, 0 }, kernel_grey },
    { "gauss", { 16, 16, 0 }, kernel_gauss },
    { "reduce", { 256, 0, 0 }, kernel_reduce },
    { "histogram", { 64, 0, 0 }, kernel_histogram },
    { "mandelbrot", { 8, 8, 0 }, kernel_mandelbrot },
    { "switch", { 0, 0, 0 }, kernel_switch },
    { "narrow", { 0, 0, 0 }, kernel_narrow },
    { "double", { 0, 0, 0 }, kernel_double },
    { "particles", { 0, 0, 0 }, kernel_particles },
    { "table", { 0, 0, 0 }, kernel_table },
    { "loops", { 0, 0, 0 }, kernel_loops },
    { "butterfly", { 64, 0, 0 }, kernel_butterfly },
    { "random", { 0, 0, 0 }, kernel_random },
    { "conditions", { 0, 0, 0 }, kernel_conditions },
    { "edges", { 0, 0, 0 }, kernel_edges },
    { "names", { 0, 0, 0 }, kernel_names },
    { "alias", { 0, 0, 0 }, kernel_alias },
    { "atomics", { 64, 0, 0 }, kernel_atomics },
    { "subgroups", { 128, 0, 0 }, kernel_subgroups },
    { "compact", { 32, 0, 0 }, kernel_compact },
    { "newton", { 16, 16, 0 }, kernel_newton },
    { "bodies", { 64, 0, 0 }, kernel_bodies },
    { "bits", { 0, 0, 0 }, kernel_bits },
    { "print", { 32, 0, 0 }, kernel_print },
    { "picture", { 8, 8, 0 }, kernel_picture }
};
enum { KERNEL_SAMPLES = sizeof kernel_samples / sizeof *kernel_samples };

/* Records a kernel of the table. The caller frees it with vc_free. */
static vc_kernel *kernel_sample_make(const kernel_sample *sample, vc_buffers buffers) {
    vc_kernel_desc desc;
    vc_kernel *k;
    memset(&desc, 0, sizeof desc);
    desc.name = sample->name;
    memcpy(desc.local_size, sample->local_size, sizeof desc.local_size);
    desc.buffers = buffers;
    k = vc_begin(&desc);
    sample->build(k);
    return k;
}

#endif

/* Kernels made by the builder, compared with the same kernels written by hand in GLSL and CUDA C.

       make bench-kernels

   Three kernels: `histogram` counts the bytes of an array in shared memory, in a loop whose step is the number of
   threads; `montgomery` multiplies 8-word numbers modulo another one (Koç, Acar, Kaliski, Analyzing and comparing
   Montgomery multiplication algorithms, 1996: CIOS); `sha256` hashes one block per thread (FIPS 180-4). On Vulkan,
   the module of the builder and glslang's module of the GLSL are timed alternately; both results are compared with
   C. `sass` counts machine instructions of the CUDA C for sm_90, by NVRTC and the nvdisasm of the CUDA toolkit, in
   PATH or at BENCH_NVDISASM. `spirv` counts instructions of the modules and has no bound. */
#define _POSIX_C_SOURCE 200809L
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#include "tools/bench/bench.h"

static void die(const char *what, const char *why) {
    fprintf(stderr, "bench-kernels: %s: %s\n", what, why ? why : "");
    exit(1);
}

#include "tools/bench/glslang.h"
#include "tools/bench/kernels_hand.h"
#include "tools/bench/sass.h"

enum { WORDS = 8, NUMBERS = 1 << 16, BYTES_OF = 1 << 22, BLOCKS = 1 << 15, GROUPS = 64, ROUNDS = 21 };

/* ---- kernels by the builder ---- */

static void record_histogram(vc_kernel *k) {
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ), counts = vc_buffer(k, "counts", VC_U32, VC_READ_WRITE);
    vc_val n = vc_param(k, "n", VC_U32), step = vc_param(k, "step", VC_U32), lane = vc_local_id(k, 0);
    vc_ref bins = vc_shared(k, "bins", VC_U32, 256);
    vc_store(bins, lane, vc_u32(0));
    vc_barrier(k);
    VC_FOR_STEP(k, i, vc_global_id(k, 0), n, step) {
        vc_val word = vc_load(x, i);
        for (uint32_t byte = 0; byte < 4; byte++)
            vc_atomic_add(bins, vc_and(vc_shr(word, vc_u32(8 * byte)), vc_u32(255)), vc_u32(1), NULL);
    }
    vc_barrier(k);
    vc_atomic_add(counts, lane, vc_load(bins, lane), NULL);
}

/* *t + a * b + *carry, which fits two words. */
static void multiply_add(vc_val a, vc_val b, vc_val *t, vc_val *carry) {
    vc_val low = vc_mul(a, b), high = vc_mul_hi(a, b), sum = vc_add(low, *t);
    high = vc_add(high, vc_add_carry(low, *t));
    *t = vc_add(sum, *carry);
    *carry = vc_add(high, vc_add_carry(sum, *carry));
}

static void record_montgomery(vc_kernel *k) {
    vc_ref in_a = vc_buffer(k, "a", VC_U32, VC_READ), in_b = vc_buffer(k, "b", VC_U32, VC_READ);
    vc_ref in_m = vc_buffer(k, "m", VC_U32, VC_READ);
    vc_ref out = vc_buffer(k, "r", VC_U32, VC_WRITE);
    vc_val inverse = vc_param(k, "inverse", VC_U32), zero = vc_const(k, vc_u32(0));
    vc_val from = vc_mul(vc_global_id(k, 0), vc_u32(WORDS));
    vc_val a[WORDS], b[WORDS], m[WORDS], t[WORDS + 2], d[WORDS], borrow = zero;
    for (uint32_t i = 0; i < WORDS; i++) {
        a[i] = vc_load(vc_offset(in_a, vc_u32(i)), from);
        b[i] = vc_load(vc_offset(in_b, vc_u32(i)), from);
        m[i] = vc_load(in_m, vc_u32(i));
    }
    for (uint32_t i = 0; i < WORDS + 2; i++) t[i] = zero;
    for (uint32_t i = 0; i < WORDS; i++) {
        vc_val carry = zero, sum, q, first;
        for (uint32_t j = 0; j < WORDS; j++) multiply_add(a[j], b[i], &t[j], &carry);
        sum = vc_add(t[WORDS], carry);
        t[WORDS + 1] = vc_add_carry(t[WORDS], carry);
        t[WORDS] = sum;
        q = vc_mul(t[0], inverse);
        carry = zero;
        first = t[0];
        multiply_add(q, m[0], &first, &carry);
        for (uint32_t j = 1; j < WORDS; j++) {
            multiply_add(q, m[j], &t[j], &carry);
            t[j - 1] = t[j];
        }
        t[WORDS - 1] = vc_add(t[WORDS], carry);
        t[WORDS] = vc_add(t[WORDS + 1], vc_add_carry(t[WORDS], carry));
    }
    for (uint32_t j = 0; j < WORDS; j++) {
        vc_val part = vc_sub(t[j], m[j]), first = vc_sub_borrow(t[j], m[j]);
        d[j] = vc_sub(part, borrow);
        borrow = vc_or(first, vc_sub_borrow(part, borrow));
    }
    vc_val keep = vc_lt(t[WORDS], borrow);
    for (uint32_t j = 0; j < WORDS; j++) vc_store(vc_offset(out, vc_u32(j)), from, vc_select(keep, t[j], d[j]));
}

static vc_val turned3(vc_val x, uint32_t a, uint32_t b, uint32_t c, bool shift) {
    return vc_xor(vc_xor(vc_rotr(x, vc_u32(a)), vc_rotr(x, vc_u32(b))),
                  shift ? vc_shr(x, vc_u32(c)) : vc_rotr(x, vc_u32(c)));
}

static void record_sha256(vc_kernel *k) {
    vc_ref in = vc_buffer(k, "x", VC_U32, VC_READ), out = vc_buffer(k, "r", VC_U32, VC_WRITE);
    vc_val id = vc_global_id(k, 0), from = vc_mul(id, vc_u32(16)), to = vc_mul(id, vc_u32(8)), w[16], v[8];
    for (uint32_t i = 0; i < 16; i++) w[i] = vc_load(vc_offset(in, vc_u32(i)), from);
    for (uint32_t i = 0; i < 8; i++) v[i] = vc_const(k, vc_u32(sha256_first[i]));
    for (uint32_t i = 0; i < 64; i++) {
        if (i >= 16) {
            vc_val s0 = turned3(w[(i + 1) % 16], 7, 18, 3, true), s1 = turned3(w[(i + 14) % 16], 17, 19, 10, true);
            w[i % 16] = vc_add(vc_add(w[i % 16], s0), vc_add(w[(i + 9) % 16], s1));
        }
        vc_val choice = vc_xor(vc_and(v[4], v[5]), vc_and(vc_not(v[4]), v[6]));
        vc_val most = vc_xor(vc_xor(vc_and(v[0], v[1]), vc_and(v[0], v[2])), vc_and(v[1], v[2]));
        vc_val t1 = vc_add(vc_add(vc_add(v[7], turned3(v[4], 6, 11, 25, false)),
                                  vc_add(choice, vc_u32(sha256_round[i]))), w[i % 16]);
        vc_val t2 = vc_add(turned3(v[0], 2, 13, 22, false), most);
        for (uint32_t j = 7; j > 0; j--) v[j] = v[j - 1];
        v[4] = vc_add(v[4], t1);
        v[0] = vc_add(t1, t2);
    }
    for (uint32_t i = 0; i < 8; i++) vc_store(vc_offset(out, vc_u32(i)), to, vc_add(v[i], vc_u32(sha256_first[i])));
}

/* ---- reference in C ---- */

static uint32_t modulus[WORDS], modulus_inverse;

static void expect_histogram(uint32_t *const *x, uint32_t *out) {
    for (uint32_t i = 0; i < BYTES_OF / 4; i++) for (int b = 0; b < 4; b++) out[x[0][i] >> 8 * b & 255]++;
}

static void expect_montgomery(uint32_t *const *x, uint32_t *out) {
    for (uint32_t n = 0; n < NUMBERS; n++) {
        const uint32_t *a = x[0] + n * WORDS, *b = x[1] + n * WORDS;
        uint32_t t[WORDS + 2] = { 0 }, d[WORDS];
        uint64_t w;
        int64_t borrow = 0;
        for (int i = 0; i < WORDS; i++) {
            uint64_t carry = 0;
            for (int j = 0; j < WORDS; j++) {
                w = (uint64_t)a[j] * b[i] + t[j] + carry;
                t[j] = (uint32_t)w;
                carry = w >> 32;
            }
            w = t[WORDS] + carry;
            t[WORDS] = (uint32_t)w;
            t[WORDS + 1] = (uint32_t)(w >> 32);
            uint32_t q = t[0] * modulus_inverse;
            carry = ((uint64_t)q * modulus[0] + t[0]) >> 32;
            for (int j = 1; j < WORDS; j++) {
                w = (uint64_t)q * modulus[j] + t[j] + carry;
                t[j - 1] = (uint32_t)w;
                carry = w >> 32;
            }
            w = t[WORDS] + carry;
            t[WORDS - 1] = (uint32_t)w;
            t[WORDS] = t[WORDS + 1] + (uint32_t)(w >> 32);
        }
        for (int j = 0; j < WORDS; j++) {
            int64_t v = (int64_t)t[j] - modulus[j] + borrow;
            d[j] = (uint32_t)v;
            borrow = v >> 32;
        }
        memcpy(out + n * WORDS, (int64_t)t[WORDS] + borrow < 0 ? t : d, sizeof d);
    }
}

static uint32_t right(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void expect_sha256(uint32_t *const *x, uint32_t *out) {
    for (uint32_t n = 0; n < BLOCKS; n++) {
        uint32_t w[64], v[8];
        memcpy(w, x[0] + n * 16, 64);
        memcpy(v, sha256_first, 32);
        for (int i = 16; i < 64; i++)
            w[i] = w[i - 16] + (right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
                   (right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >> 10);
        for (int i = 0; i < 64; i++) {
            uint32_t t1 = v[7] + (right(v[4], 6) ^ right(v[4], 11) ^ right(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6]))
                + sha256_round[i] + w[i];
            uint32_t t2 = (right(v[0], 2) ^ right(v[0], 13) ^ right(v[0], 22))
                + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 28);
            v[4] += t1;
            v[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) out[n * 8 + (uint32_t)i] = v[i] + sha256_first[i];
    }
}

/* ---- the table of kernels ---- */

typedef struct subject {
    const char *name, *glsl, *cuda;
    void (*record)(vc_kernel *k);
    void (*expect)(uint32_t *const *x, uint32_t *out);
    uint32_t in[3], out, threads, values[2]; /* words of each buffer; 0: no such buffer */
    uint32_t local;
} subject;

static subject subjects[] = {
    { "histogram", hand_glsl_histogram, hand_cuda_histogram, record_histogram, expect_histogram, { BYTES_OF / 4, 0, 0 },
      256, GROUPS * 256, { BYTES_OF / 4, GROUPS * 256 }, 256 },
    { "montgomery", hand_glsl_montgomery, hand_cuda_montgomery, record_montgomery, expect_montgomery,
      { NUMBERS * WORDS, NUMBERS * WORDS, WORDS }, NUMBERS * WORDS, NUMBERS, { 0, 0 }, 128 },
    { "sha256", hand_glsl_sha256, hand_cuda_sha256, record_sha256, expect_sha256, { BLOCKS * 16, 0, 0 }, BLOCKS * 8,
      BLOCKS, { 0, 0 }, 128 }
};

static vc_kernel *build(const subject *s) {
    vc_kernel_desc desc = { 0 };
    desc.name = s->name;
    desc.local_size[0] = s->local;
    desc.buffers = VC_BUFFERS_BINDING;
    desc.machine.max_groups[0] = desc.machine.max_groups[1] = desc.machine.max_groups[2] = 0x7fffffff;
    vc_kernel *k = vc_begin(&desc);
    s->record(k);
    if (vc_error(k)) die(s->name, vc_error(k));
    return k;
}

/* ---- counting ---- */

static double spirv_instructions(const uint32_t *words, size_t count) {
    double found = 0;
    bool inside = false;
    for (size_t i = 5; i < count; i += words[i] >> 16) {
        uint32_t op = words[i] & 0xffffu;
        if (op == 54) inside = true; /* OpFunction */
        found += inside && op != 8 && op != 317; /* OpLine, OpNoLine */
        if (op == 56) inside = false;
    }
    return found;
}

static void print_counts(const char *name, const char *size, double ours, double theirs, const char *unit,
                         double bound) {
    printf("bench %s %s ours=%.0f hand=%.0f unit=%s ratio=%.3f bound=", name, size, ours, theirs, unit, ours / theirs);
    if (bound > 0) printf("%.3g %s\n", bound, ours <= bound * theirs ? "ok" : "short");
    else printf("none ok\n");
}

static void bench_sass(const subject *s, const char *missing) {
    vc_kernel *k = build(s);
    const char *text = vc_source(k, VC_TARGET_CUDA);
    if (!text) die(s->name, vc_error(k));
    if (missing) bench_not_run("sass", s->name, missing);
    else {
        sass ours = sass_count(text), hand = sass_count(s->cuda);
        print_counts("sass", s->name, ours.instructions, hand.instructions, "instructions", 1.1);
        print_counts("sass-registers", s->name, ours.registers, hand.registers, "registers", 0);
    }
    vc_free(k);
}

/* ---- running ---- */

#if HAS_GLSLANG
typedef struct work { vd_context *ctx; vd_buffer in[3], out; uint32_t *x[3], *want, *got; vd_kernel kernel[2]; } work;

static vd_buffer buffer_of(vd_context *ctx, const uint32_t *data, uint64_t count) {
    vd_buffer_desc desc = { 0 };
    desc.shape[0] = count;
    desc.type = VD_U32;
    desc.data = data;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) die("vd_buffer_create", vd_error_text());
    return b;
}

/* The GLSL has the arguments of the builder: buffers by binding, then values. */
static vd_kernel kernel_of(vd_context *ctx, const vc_info *info, const uint32_t *words, size_t count) {
    vd_arg_info args[8];
    vd_kernel_desc desc = { 0 };
    if (info->implicit_count) die(info->name, "the builder's kernel has values of its own, which the GLSL has not");
    for (int i = 0; i < info->arg_count; i++) {
        const vc_arg_info *a = &info->args[i];
        vd_arg_info one = { a->name, (vd_arg_kind)a->kind, a->type, a->access, a->location, a->size, a->align,
                            a->may_alias, a->sampled, (vd_dim)a->dim, (vd_format)a->format, false, false, 0 };
        args[i] = one;
    }
    desc.name = info->name;
    desc.args = args;
    desc.arg_count = info->arg_count;
    desc.argument_bytes = info->argument_bytes;
    desc.code = words;
    desc.code_size = 4 * count;
    vd_kernel made = vd_kernel_create(ctx, &desc);
    if (!made.id) die(info->name, vd_error_text());
    return made;
}

static double run_once(work *w, const subject *s, int side) {
    vd_kernel kernel = w->kernel[side];
    vd_result r;
    double start = bench_now();
    if (s->record == record_histogram)
        r = vd_run(w->ctx, kernel, s->threads, vd_b(w->in[0]), vd_b(w->out), vd_u32(s->values[0]),
                   vd_u32(s->values[1]));
    else if (s->in[2])
        r = vd_run(w->ctx, kernel, s->threads, vd_b(w->in[0]), vd_b(w->in[1]), vd_b(w->in[2]), vd_b(w->out),
                   vd_u32(s->values[0]));
    else r = vd_run(w->ctx, kernel, s->threads, vd_b(w->in[0]), vd_b(w->out));
    if (r == VD_OK) r = vd_wait_idle(w->ctx);
    if (r) die(s->name, vd_error_text());
    return bench_now() - start;
}

static void run_check(work *w, const subject *s, int side) {
    vd_result r = vd_buffer_write(w->ctx, w->out, 0, memset(w->got, 0, 4 * s->out), VD_WHOLE);
    if (r) die(s->name, vd_error_text());
    run_once(w, s, side);
    if (vd_buffer_read(w->ctx, w->out, 0, w->got, VD_WHOLE)) die(s->name, vd_error_text());
    if (memcmp(w->got, w->want, 4 * s->out))
        die(s->name, side ? "wrong result of the GLSL" : "wrong result of the builder's kernel");
}

static void fill(work *w, subject *s) {
    uint32_t seed = 12345;
    for (int j = 0; j < 3; j++) {
        if (!s->in[j]) continue;
        w->x[j] = (uint32_t *)malloc(4 * s->in[j]);
        for (uint32_t i = 0; i < s->in[j]; i++) {
            seed = seed * 1664525u + 1013904223u;
            w->x[j][i] = seed ^ seed >> 15;
        }
    }
    if (s->record == record_montgomery) { /* an odd modulus with its top bit set, and numbers below it */
        for (uint32_t n = 0; n < NUMBERS; n++)
            for (int j = 0; j < 2; j++) w->x[j][n * WORDS + WORDS - 1] &= 0x7fffffffu;
        w->x[2][0] |= 1;
        w->x[2][WORDS - 1] |= 0x80000000u;
        memcpy(modulus, w->x[2], sizeof modulus);
        modulus_inverse = 1;
        for (int i = 0; i < 5; i++) modulus_inverse *= 2 - modulus[0] * modulus_inverse;
        modulus_inverse = 0 - modulus_inverse;
        s->values[0] = modulus_inverse;
    }
    for (int j = 0; j < 3; j++) if (s->in[j]) w->in[j] = buffer_of(w->ctx, w->x[j], s->in[j]);
    w->out = buffer_of(w->ctx, NULL, s->out);
    w->want = (uint32_t *)calloc(s->out, 4);
    w->got = (uint32_t *)calloc(s->out, 4);
    s->expect(w->x, w->want);
}

static void bench_times(vd_context *ctx, subject *s) {
    static bench_pair pair;
    work w;
    size_t words = 0;
    vc_kernel *k = build(s);
    const uint32_t *code = vc_spirv(k, &words);
    if (!code) die(s->name, vc_error(k));
    module hand = glslang_compile(s->glsl);
    print_counts("spirv", s->name, spirv_instructions(code, words), spirv_instructions(hand.words, hand.count),
                 "instructions", 0);
    memset(&w, 0, sizeof w);
    w.ctx = ctx;
    fill(&w, s);
    w.kernel[0] = kernel_of(ctx, vc_reflect(k), code, words);
    w.kernel[1] = kernel_of(ctx, vc_reflect(k), hand.words, hand.count);
    for (int side = 0; side < 2; side++) run_check(&w, s, side);
    pair.name = "kernel-time";
    pair.size = s->name;
    pair.rival = "hand-glsl";
    pair.rounds = ROUNDS;
    pair.scale = 1e3;
    pair.unit = "ms";
    pair.bound = 1.1;
    for (int i = 0; i < ROUNDS; i++) {
        pair.ours[i] = run_once(&w, s, 0);
        pair.theirs[i] = run_once(&w, s, 1);
    }
    bench_print(&pair);
    for (int j = 0; j < 3; j++) { if (s->in[j]) vd_buffer_destroy(ctx, w.in[j]); free(w.x[j]); }
    vd_buffer_destroy(ctx, w.out);
    free(w.want);
    free(w.got);
    free(hand.words);
    vc_free(k);
}

static void bench_all_times(void) {
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    desc.backend = VD_BACKEND_VULKAN;
    if (vd_context_create(&desc, &ctx)) { bench_not_run("kernel-time", "histogram", vd_error_text()); return; }
    printf("# %s, %s\n", vd_device(ctx, 0)->name, vd_device(ctx, 0)->driver);
    glslang_initialize_process();
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) bench_times(ctx, &subjects[i]);
    glslang_finalize_process();
    vd_context_destroy(ctx);
}
#else
static void bench_all_times(void) { bench_not_run("kernel-time", "histogram", NO_GLSLANG); }
#endif

int main(void) {
    const char *missing = sass_open();
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) bench_sass(&subjects[i], missing);
    bench_all_times();
    return 0;
}

/* Builder to SPIR-V, beside glslang on the GLSL of the same kernel.

       make bench-build

   The kernel is a straight-line transform of 256 complex points: two passes of sixteen radix-16 butterflies, every step a builder call.
   An instruction is one of SPIR-V's inside the function; a node is what one builder call recorded. `reused` builds with vc_restart in memory that
   is there already, `cold` from vc_begin to vc_free, both in time of the thread, as glslang's; `cold-memory` is what the system had to give for that,
   which is most of the difference, and 0 where malloc kept what the last kernel had. Where a device works, the kernel is run on both modules
   and compared with a transform in double, and the time it takes to make a pipeline of either is compared, with a constant that changes each time so
   that no cache knows the module. */
#define _POSIX_C_SOURCE 200809L
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#if defined(__has_include)
#if __has_include(<glslang/Include/glslang_c_interface.h>)
#define HAS_GLSLANG 1
#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#endif
#endif
#ifndef HAS_GLSLANG
#define HAS_GLSLANG 0
#endif

#include "tools/bench/bench.h"

#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

enum { POINTS = 256, REUSED_ROUNDS = 31, COLD_ROUNDS = 31, GLSLANG_ROUNDS = 7, PIPELINE_ROUNDS = 5, THREADS = 64 };

static void die(const char *what, const char *why) {
    fprintf(stderr, "bench-build: %s: %s\n", what, why ? why : "");
    exit(1);
}

/* ---- the kernel ---- */

typedef struct complex_val { vc_val re, im; } complex_val;

static complex_val c_add(complex_val a, complex_val b) {
    complex_val r = { vc_add(a.re, b.re), vc_add(a.im, b.im) };
    return r;
}

static complex_val c_sub(complex_val a, complex_val b) {
    complex_val r = { vc_sub(a.re, b.re), vc_sub(a.im, b.im) };
    return r;
}

/* exp(2 pi i n / POINTS), made before anything is timed. */
static double turn_cos[POINTS], turn_sin[POINTS];

static void make_turns(void) {
    for (int n = 0; n < POINTS; n++) {
        turn_cos[n] = cos(2 * 3.14159265358979323846 * n / POINTS);
        turn_sin[n] = sin(2 * 3.14159265358979323846 * n / POINTS);
    }
}

/* By exp(sign 2 pi i turn / of), known while the kernel is written. */
static complex_val c_turn(complex_val a, int turn, int of, int sign) {
    int n = turn % of * (POINTS / of);
    vc_val re = vc_f32((float)turn_cos[n]), im = vc_f32((float)(sign * turn_sin[n]));
    if (n == 0) return a;
    complex_val r = { vc_fma(a.re, re, vc_neg(vc_mul(a.im, im))), vc_fma(a.re, im, vc_mul(a.im, re)) };
    return r;
}

static void dft4(complex_val *x, int stride, int sign) {
    complex_val a = c_add(x[0], x[2 * stride]), b = c_sub(x[0], x[2 * stride]);
    complex_val c = c_add(x[stride], x[3 * stride]), d = c_sub(x[stride], x[3 * stride]);
    complex_val e = { sign > 0 ? vc_neg(d.im) : d.im, sign > 0 ? d.re : vc_neg(d.re) };
    x[0] = c_add(a, c);
    x[stride] = c_add(b, e);
    x[2 * stride] = c_sub(a, c);
    x[3 * stride] = c_sub(b, e);
}

/* In place and in natural order: 16 = 4 x 4. */
static void dft16(complex_val *x, int sign) {
    complex_val y[16];
    for (int i = 0; i < 4; i++) dft4(x + i, 4, sign);
    for (int i = 0; i < 16; i++) x[i] = c_turn(x[i], (i / 4) * (i % 4), 16, sign);
    for (int i = 0; i < 4; i++) dft4(x + 4 * i, 1, sign);
    for (int i = 0; i < 16; i++) y[i / 4 + 4 * (i % 4)] = x[i];
    memcpy(x, y, sizeof y);
}

/* 256 = 16 x 16. */
static void dft256(complex_val *x, int sign) {
    complex_val line[16], y[POINTS];
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 16; j++) line[j] = x[i + 16 * j];
        dft16(line, sign);
        for (int j = 0; j < 16; j++) x[i + 16 * j] = c_turn(line[j], i * j, POINTS, sign);
    }
    for (int i = 0; i < 16; i++) {
        dft16(x + 16 * i, sign);
        for (int j = 0; j < 16; j++) y[i + 16 * j] = x[16 * i + j];
    }
    memcpy(x, y, sizeof y);
}

/* Interleaved real and imaginary parts, POINTS complex numbers a thread. `scale` is a constant of the kernel. */
static void record(vc_kernel *k, float scale) {
    vc_ref in = vc_buffer(k, "points", VC_F32, VC_READ);
    vc_ref out = vc_buffer(k, "result", VC_F32, VC_WRITE);
    VC_EACH(k, i) {
        static complex_val x[POINTS];
        vc_val first = vc_mul(i, vc_u32(2 * POINTS));
        for (uint32_t j = 0; j < POINTS; j++) {
            x[j].re = vc_mul(vc_load(vc_offset(in, vc_u32(2 * j)), first), vc_f32(scale));
            x[j].im = vc_mul(vc_load(vc_offset(in, vc_u32(2 * j + 1)), first), vc_f32(scale));
        }
        dft256(x, -1);
        for (uint32_t j = 0; j < POINTS; j++) {
            vc_store(vc_offset(out, vc_u32(2 * j)), first, x[j].re);
            vc_store(vc_offset(out, vc_u32(2 * j + 1)), first, x[j].im);
        }
    }
}

static vc_kernel_desc describe(const vd_context *ctx) {
    vc_kernel_desc desc = { 0 };
    desc.name = "transform";
    desc.local_size[0] = THREADS;
    desc.buffers = VC_BUFFERS_BINDING;
    if (ctx) desc.machine = vd_machine(ctx);
    return desc;
}

/* ---- counting ---- */

static double instructions(const uint32_t *words, size_t count) {
    double found = 0;
    bool inside = false;
    for (size_t i = 5; i < count; i += words[i] >> 16) {
        uint32_t op = words[i] & 0xffffu;
        if (op == 54) inside = true; /* OpFunction */
        found += inside;
        if (op == 56) inside = false; /* OpFunctionEnd */
        if (words[i] >> 16 == 0) die("a module with an instruction of no words", "");
    }
    return found;
}

typedef struct module {
    uint32_t *words;
    size_t count;
    double seconds;
} module;

static module module_copy(const uint32_t *words, size_t count) {
    module m = { (uint32_t *)malloc(4 * count + 4), count, 0 };
    if (!m.words) die("malloc", "");
    memcpy(m.words, words, 4 * count);
    return m;
}

/* ---- ours ---- */

typedef struct split { double record, print, total; } split;

static split build_reused(vc_kernel *k, const vc_kernel_desc *desc, size_t *words, const uint32_t **code) {
    split s;
    double start = bench_busy();
    vc_restart(k, desc);
    record(k, 1);
    double recorded = bench_busy();
    *code = vc_spirv(k, words);
    double end = bench_busy();
    if (!*code) die("vc_spirv", vc_error(k));
    s.record = recorded - start;
    s.print = end - recorded;
    s.total = end - start;
    return s;
}

static double build_cold(const vc_kernel_desc *desc) {
    size_t words = 0;
    double start = bench_busy();
    vc_kernel *k = vc_begin(desc);
    record(k, 1);
    if (!vc_spirv(k, &words)) die("vc_spirv", vc_error(k));
    vc_free(k);
    return bench_busy() - start;
}

/* Kilobytes that the system had to give since the process began. */
static double touched(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)r.ru_minflt * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void to_unit(double *values, int count, double unit) {
    for (int i = 0; i < count; i++) values[i] *= 1e9 / unit;
}

static double bench_ours(vc_kernel *k, const vc_kernel_desc *desc) {
    double reused[REUSED_ROUNDS], recording[REUSED_ROUNDS], printing[REUSED_ROUNDS], cold[COLD_ROUNDS], fresh[COLD_ROUNDS], nodes[REUSED_ROUNDS];
    const uint32_t *code = NULL;
    size_t words = 0;
    char size[64];
    build_reused(k, desc, &words, &code);
    double count = instructions(code, words), recorded = (double)vc_reflect(k)->nodes;
    for (int i = 0; i < REUSED_ROUNDS; i++) {
        split s = build_reused(k, desc, &words, &code);
        reused[i] = nodes[i] = s.total;
        recording[i] = s.record;
        printing[i] = s.print;
    }
    for (int i = 0; i < COLD_ROUNDS; i++) {
        double before = touched();
        cold[i] = build_cold(desc);
        fresh[i] = touched() - before;
    }
    double seconds = bench_median(reused, REUSED_ROUNDS);
    to_unit(reused, REUSED_ROUNDS, count);
    to_unit(recording, REUSED_ROUNDS, count);
    to_unit(printing, REUSED_ROUNDS, count);
    to_unit(nodes, REUSED_ROUNDS, recorded);
    to_unit(cold, COLD_ROUNDS, count);
    snprintf(size, sizeof size, "%.0f-instructions", count);
    bench_print_alone("build-reused", size, reused, REUSED_ROUNDS, "ns/instruction", 40);
    bench_print_alone("build-cold", size, cold, COLD_ROUNDS, "ns/instruction", 70);
    bench_print_alone("build-cold-memory", size, fresh, COLD_ROUNDS, "KB", -1);
    bench_print_alone("build-reused-record", size, recording, REUSED_ROUNDS, "ns/instruction", -1);
    bench_print_alone("build-reused-schedule-and-print", size, printing, REUSED_ROUNDS, "ns/instruction", -1);
    snprintf(size, sizeof size, "%.0f-nodes", recorded);
    bench_print_alone("build-reused", size, nodes, REUSED_ROUNDS, "ns/node", -1);
    return seconds;
}

/* ---- glslang ---- */

#if HAS_GLSLANG
static module glslang_compile(const char *source) {
    double start = bench_busy();
    glslang_input_t input;
    memset(&input, 0, sizeof input);
    input.language = GLSLANG_SOURCE_GLSL;
    input.stage = GLSLANG_STAGE_COMPUTE;
    input.client = GLSLANG_CLIENT_VULKAN;
    input.client_version = GLSLANG_TARGET_VULKAN_1_2;
    input.target_language = GLSLANG_TARGET_SPV;
    input.target_language_version = GLSLANG_TARGET_SPV_1_3;
    input.code = source;
    input.default_version = 450;
    input.default_profile = GLSLANG_NO_PROFILE;
    input.messages = GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT;
    input.resource = glslang_default_resource();
    glslang_shader_t *shader = glslang_shader_create(&input);
    if (!glslang_shader_preprocess(shader, &input) || !glslang_shader_parse(shader, &input)) die("glslang", glslang_shader_get_info_log(shader));
    glslang_program_t *program = glslang_program_create();
    glslang_program_add_shader(program, shader);
    if (!glslang_program_link(program, GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT)) die("glslang", glslang_program_get_info_log(program));
    glslang_program_SPIRV_generate(program, GLSLANG_STAGE_COMPUTE);
    module m = module_copy((const uint32_t *)glslang_program_SPIRV_get_ptr(program), glslang_program_SPIRV_get_size(program));
    glslang_program_delete(program);
    glslang_shader_delete(shader);
    m.seconds = bench_busy() - start;
    return m;
}

/* Both sides in turn: builder calls to SPIR-V in memory that is there already, GLSL text to SPIR-V. */
static void bench_glslang(vc_kernel *k, const vc_kernel_desc *desc) {
    static bench_pair pair;
    const uint32_t *code = NULL;
    size_t words = 0;
    char size[64];
    vc_restart(k, desc);
    record(k, 1);
    const char *text = vc_source(k, VC_TARGET_GLSL);
    if (!text) die("vc_source", vc_error(k));
    char *source = (char *)malloc(strlen(text) + 1);
    strcpy(source, text);
    pair.name = "build-reused";
    pair.rival = "glslang";
    pair.rounds = GLSLANG_ROUNDS;
    pair.scale = 1e3;
    pair.unit = "ms";
    pair.bound = 1.0 / 50;
    for (int i = 0; i < GLSLANG_ROUNDS; i++) {
        module m = glslang_compile(source);
        pair.theirs[i] = m.seconds;
        pair.ours[i] = build_reused(k, desc, &words, &code).total;
        snprintf(size, sizeof size, "%.0f/%.0f-instructions", instructions(code, words), instructions(m.words, m.count));
        free(m.words);
    }
    pair.size = size;
    bench_print(&pair);
    free(source);
}
#else
static void bench_glslang(vc_kernel *k, const vc_kernel_desc *desc) {
    (void)k;
    (void)desc;
    bench_not_run("build-reused", "glslang", "glslang's headers are not here (Debian: glslang-dev)");
}
#endif

/* ---- on a device ---- */

#if HAS_GLSLANG
/* Point k of the transform of a thread's points, in double. */
static void transform_point(const float *in, int k, double scale, double out[2]) {
    out[0] = out[1] = 0;
    for (int j = 0; j < POINTS; j++) {
        double angle = -2 * 3.14159265358979323846 * (double)(j * k % POINTS) / POINTS, c = cos(angle), s = sin(angle);
        double re = (double)in[2 * j] * scale, im = (double)in[2 * j + 1] * scale;
        out[0] += re * c - im * s;
        out[1] += re * s + im * c;
    }
}

static void check_result(vd_context *ctx, vd_kernel kernel, float scale, const char *whose) {
    enum { WORDS = 2 * POINTS * THREADS };
    static float in[WORDS], out[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) in[i] = (float)((i * 2654435761u >> 8) % 1000u) / 1000.0f - 0.5f;
    vd_buffer_desc desc = { 0 };
    desc.type = VD_F32;
    desc.shape[0] = WORDS;
    vd_buffer result = vd_buffer_create(ctx, &desc);
    desc.data = in;
    vd_buffer points = vd_buffer_create(ctx, &desc);
    if (vd_run(ctx, kernel, THREADS, vd_b(points), vd_b(result)) || vd_buffer_read(ctx, result, 0, out, VD_WHOLE)) die(whose, vd_error_text());
    for (int i = 0; i < WORDS / 2; i++) {
        double expected[2];
        transform_point(in + i / POINTS * 2 * POINTS, i % POINTS, (double)scale, expected);
        for (int j = 0; j < 2; j++)
            if (!(fabs((double)out[2 * i + j] - expected[j]) < 1e-4)) die(whose, "wrong result of the transform");
    }
    vd_buffer_destroy(ctx, points);
    vd_buffer_destroy(ctx, result);
}

static double pipeline_time(vd_context *ctx, vd_kernel_desc desc, const uint32_t *words, size_t count, float scale, const char *whose) {
    desc.code = words;
    desc.code_size = 4 * count;
    double start = bench_now();
    vd_kernel kernel = vd_kernel_create(ctx, &desc);
    double took = bench_now() - start;
    if (!kernel.id) die(whose, vd_error_text());
    check_result(ctx, kernel, scale, whose);
    vd_kernel_destroy(ctx, kernel);
    return took;
}

/* The arguments of both modules: those of the builder. */
static vd_kernel_desc arguments_of(const vc_info *info, vd_arg_info *args, vd_hidden_info *hidden) {
    vd_kernel_desc desc = { 0 };
    desc.name = info->name;
    for (int i = 0; i < info->arg_count; i++) {
        const vc_arg_info *a = &info->args[i];
        vd_arg_info one = { a->name, (vd_arg_kind)a->kind, a->type, a->access, a->place, a->size, a->align, a->may_alias,
                            a->sampled, (vd_dim)a->dim, (vd_format)a->format };
        args[i] = one;
    }
    for (int i = 0; i < info->hidden_count; i++) {
        const vc_hidden_info *h = &info->hidden[i];
        vd_hidden_info one = { (vd_hidden)h->kind, h->arg, h->axis, h->place };
        hidden[i] = one;
    }
    desc.args = args;
    desc.arg_count = info->arg_count;
    desc.hidden = hidden;
    desc.hidden_count = info->hidden_count;
    desc.value_bytes = info->value_bytes;
    return desc;
}

static void bench_pipelines(vd_context *ctx, vc_kernel *k, const vc_kernel_desc *desc) {
    static bench_pair pair;
    vd_arg_info args[8];
    vd_hidden_info hidden[8];
    pair.name = "pipeline";
    pair.size = "same-kernel";
    pair.rival = "glslang-module";
    pair.rounds = PIPELINE_ROUNDS;
    pair.scale = 1e3;
    pair.unit = "ms";
    for (int i = 0; i < PIPELINE_ROUNDS; i++) {
        float scale = 1.0f + (float)(i + 1) / 16.0f + (float)(time(NULL) % 997) / 65536.0f;
        size_t words = 0;
        vc_restart(k, desc);
        record(k, scale);
        const uint32_t *code = vc_spirv(k, &words);
        const char *text = vc_source(k, VC_TARGET_GLSL);
        if (!code || !text) die("build", vc_error(k));
        vd_kernel_desc described = arguments_of(vc_reflect(k), args, hidden);
        module m = glslang_compile(text);
        pair.theirs[i] = pipeline_time(ctx, described, m.words, m.count, scale, "glslang's module");
        pair.ours[i] = pipeline_time(ctx, described, code, words, scale, "our module");
        free(m.words);
    }
    bench_print(&pair);
}
#else
static void bench_pipelines(vd_context *ctx, vc_kernel *k, const vc_kernel_desc *desc) {
    (void)ctx;
    (void)k;
    (void)desc;
    bench_not_run("pipeline", "same-kernel", "glslang's headers are not here (Debian: glslang-dev)");
}
#endif

int main(void) {
    vd_context *ctx = NULL;
    vd_context_desc wanted = { 0 };
    wanted.backend = VD_BACKEND_VULKAN;
    make_turns();
    vd_context_create(&wanted, &ctx);
    vc_kernel_desc desc = describe(ctx);
    vc_kernel *k = vc_begin(&desc);
    bench_ours(k, &desc);
#if HAS_GLSLANG
    glslang_initialize_process();
#endif
    bench_glslang(k, &desc);
    if (ctx) {
        printf("# %s, %s\n", vd_device(ctx, 0)->name, vd_device(ctx, 0)->driver);
        bench_pipelines(ctx, k, &desc);
    } else {
        bench_not_run("pipeline", "same-kernel", vd_error_text());
    }
    vc_free(k);
    vd_context_destroy(ctx);
#if HAS_GLSLANG
    glslang_finalize_process();
#endif
    return 0;
}

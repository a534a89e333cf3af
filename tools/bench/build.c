/* Time from builder calls to SPIR-V, compared with glslang on the GLSL of the same kernel.

       make bench-build

   The kernel is a straight-line transform of 256 complex points: two passes of sixteen radix-16 butterflies, every
   operation a builder call. `shifts` and `rotates` are chains of integer operations of which half are shifts or
   rotates by constants, as in hash functions and random number generators. "instruction" counts SPIR-V instructions
   inside the function; "node" counts operations that builder calls recorded. `reused` builds with vc_restart in
   memory that is already allocated, `cold` measures vc_begin to vc_free; both are CPU times of the thread, as is
   glslang's. `cold-memory` is the memory that the operating system had to provide for a cold build: page faults
   cause most of the difference. It is 0 if malloc kept the memory of the previous kernel. bench-pipeline runs such
   modules. */
#define _POSIX_C_SOURCE 200809L
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch_codegen.h"

#include "tools/bench/bench.h"
#include "tools/bench/transform.h"

#include <sys/resource.h>
#include <unistd.h>

enum { REUSED_ROUNDS = 31, COLD_ROUNDS = 31, GLSLANG_ROUNDS = 7 };

static void die(const char *what, const char *why) {
    fprintf(stderr, "bench-build: %s: %s\n", what, why ? why : "");
    exit(1);
}

#include "tools/bench/glslang.h"

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

/* ---- ours ---- */

typedef struct split { double record, print, total; } split;

typedef void recorder(vc_kernel *k);

static void record_transform(vc_kernel *k) { record_straight(k, 1); }

/* 8192 operations; every second one is a shift or a rotate. */
static void record_chain(vc_kernel *k, bool rotates) {
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val i = vc_global_id(k, 0), v = vc_load(x, i), w = i;
    for (uint32_t n = 0; n < 4096; n++) {
        vc_val by = vc_u32(1 + n % 31), turned = rotates ? vc_rotl(v, by) : n % 2 ? vc_shl(v, by) : vc_shr(v, by);
        v = n % 2 ? vc_add(turned, w) : vc_xor(turned, w);
        w = turned;
    }
    vc_store(x, i, v);
}
static void record_shifts(vc_kernel *k) { record_chain(k, false); }
static void record_rotates(vc_kernel *k) { record_chain(k, true); }

static split build_reused(vc_kernel *k, const vc_kernel_desc *desc, recorder *record, size_t *words,
                          const uint32_t **code) {
    split s;
    double start = bench_busy();
    vc_restart(k, desc);
    record(k);
    double recorded = bench_busy();
    *code = vc_spirv(k, words);
    double end = bench_busy();
    if (!*code) die("vc_spirv", vc_error(k));
    s.record = recorded - start;
    s.print = end - recorded;
    s.total = end - start;
    return s;
}

static double build_cold(const vc_kernel_desc *desc, recorder *record) {
    size_t words = 0;
    double start = bench_busy();
    vc_kernel *k = vc_begin(desc);
    record(k);
    if (!vc_spirv(k, &words)) die("vc_spirv", vc_error(k));
    vc_free(k);
    return bench_busy() - start;
}

/* Kilobytes of memory that the operating system provided since the process began. */
static double touched(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)r.ru_minflt * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void to_unit(double *values, int count, double unit) {
    for (int i = 0; i < count; i++) values[i] *= 1e9 / unit;
}

static void bench_ours(vc_kernel *k, const vc_kernel_desc *desc, const char *name, recorder *record) {
    double reused[REUSED_ROUNDS], recording[REUSED_ROUNDS], printing[REUSED_ROUNDS], cold[COLD_ROUNDS],
        fresh[COLD_ROUNDS], nodes[REUSED_ROUNDS];
    const uint32_t *code = NULL;
    size_t words = 0;
    char size[64], reused_name[64], cold_name[64], memory_name[64], record_name[64], print_name[64];
    snprintf(reused_name, sizeof reused_name, "build%s-reused", name);
    snprintf(cold_name, sizeof cold_name, "build%s-cold", name);
    snprintf(memory_name, sizeof memory_name, "build%s-cold-memory", name);
    snprintf(record_name, sizeof record_name, "build%s-reused-record", name);
    snprintf(print_name, sizeof print_name, "build%s-reused-schedule-and-print", name);
    build_reused(k, desc, record, &words, &code);
    double count = instructions(code, words), recorded = (double)vc_reflect(k)->operations;
    for (int i = 0; i < REUSED_ROUNDS; i++) {
        split s = build_reused(k, desc, record, &words, &code);
        reused[i] = nodes[i] = s.total;
        recording[i] = s.record;
        printing[i] = s.print;
    }
    for (int i = 0; i < COLD_ROUNDS; i++) {
        double before = touched();
        cold[i] = build_cold(desc, record);
        fresh[i] = touched() - before;
    }
    to_unit(reused, REUSED_ROUNDS, count);
    to_unit(recording, REUSED_ROUNDS, count);
    to_unit(printing, REUSED_ROUNDS, count);
    to_unit(nodes, REUSED_ROUNDS, recorded);
    to_unit(cold, COLD_ROUNDS, count);
    snprintf(size, sizeof size, "%.0f-instructions", count);
    bench_print_alone(reused_name, size, reused, REUSED_ROUNDS, "ns/instruction", 40);
    bench_print_alone(cold_name, size, cold, COLD_ROUNDS, "ns/instruction", 70);
    bench_print_alone(memory_name, size, fresh, COLD_ROUNDS, "KB", -1);
    bench_print_alone(record_name, size, recording, REUSED_ROUNDS, "ns/instruction", -1);
    bench_print_alone(print_name, size, printing, REUSED_ROUNDS, "ns/instruction", -1);
    snprintf(size, sizeof size, "%.0f-nodes", recorded);
    bench_print_alone(reused_name, size, nodes, REUSED_ROUNDS, "ns/node", -1);
}

/* ---- glslang ---- */

#if HAS_GLSLANG
/* Times both alternately: builder calls to SPIR-V in memory that is already allocated, and GLSL text to SPIR-V. */
static void bench_glslang(vc_kernel *k, const vc_kernel_desc *desc) {
    static bench_pair pair;
    const uint32_t *code = NULL;
    size_t words = 0;
    char size[64];
    vc_restart(k, desc);
    record_transform(k);
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
        pair.ours[i] = build_reused(k, desc, record_transform, &words, &code).total;
        snprintf(size, sizeof size, "%.0f/%.0f-instructions", instructions(code, words),
                 instructions(m.words, m.count));
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
    bench_not_run("build-reused", "glslang", NO_GLSLANG);
}
#endif

int main(void) {
    vc_kernel_desc desc = { 0 };
    desc.name = "transform";
    desc.local_size[0] = 64;
    desc.buffers = VC_BUFFERS_BINDING;
    make_turns();
    vc_kernel *k = vc_begin(&desc);
    bench_ours(k, &desc, "", record_transform);
    bench_ours(k, &desc, "-shifts", record_shifts);
    bench_ours(k, &desc, "-rotates", record_rotates);
#if HAS_GLSLANG
    glslang_initialize_process();
#endif
    bench_glslang(k, &desc);
    vc_free(k);
#if HAS_GLSLANG
    glslang_finalize_process();
#endif
    return 0;
}

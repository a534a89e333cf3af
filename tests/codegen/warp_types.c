/* Reductions, scans and clustered operations of every type in CUDA C that runs on the host (host_warps.h): full warps,
   partial warps, and any set of active lanes in divergent control flow. Each runs for compute capabilities with and
   without __reduce_add_sync. NVRTC compiles the same text. */
#include "vkdispatch_codegen.h"
#include "../kernels.h"
#include "host_warps.h"
#include "nvrtc.h"
#include "combine.h"

enum { REDUCE, INCLUSIVE, EXCLUSIVE, CLUSTERED, WHATS, FORMS = 4, LOCAL_MOST = 84, SITES_MOST = 7 * (WHATS + 2) };

/* active: bit i: lane i takes the first branch; all bits set: no branch. */
static const struct { uint32_t local, active; } forms[FORMS] = {
    { 64, 0xffffffffu }, { 84, 0xffffffffu }, { 64, 0x96e15a3cu }, { 84, 0x00010000u }
};

typedef struct Site { int what; vc_combine op; uint32_t size; } Site;

static int sites_of(vc_type type, Site site[SITES_MOST]) {
    int count = 0;
    for (int op = VC_ADD; op <= VC_XOR; op++) {
        if (op >= VC_AND ? is_float(type) : type == VC_BOOL) continue;
        for (int what = REDUCE; what < WHATS; what++)
            for (uint32_t size = 2; size <= 32; size *= 4)
                if (what == CLUSTERED || size == 2) site[count++] = (Site){ what, (vc_combine)op, size };
    }
    return count;
}

static vc_val combine(const Site *site, vc_val x) {
    switch (site->what) {
    case REDUCE: return vc_subgroup_reduce(site->op, x);
    case INCLUSIVE: return vc_subgroup_inclusive(site->op, x);
    case EXCLUSIVE: return vc_subgroup_exclusive(site->op, x);
    default: return vc_subgroup_clustered(site->op, x, site->size);
    }
}

static void name_of(vc_type type, int form, char name[32]) {
    snprintf(name, 32, "lanes_%s_%d", vc_type_name(type), form);
}

static vc_kernel *build(vc_type type, int form) {
    const uint32_t local = forms[form].local, active = forms[form].active;
    Site site[SITES_MOST];
    const int count = sites_of(type, site);
    vc_kernel_desc desc;
    char name[32];
    memset(&desc, 0, sizeof desc);
    name_of(type, form, name);
    desc.name = name;
    desc.local_size[0] = local;
    vc_kernel *k = vc_begin(&desc);
    vc_ref in = vc_buffer(k, "in", type, VC_READ), out = vc_buffer(k, "out", type, VC_WRITE);
    vc_val i = vc_local_index(k), x = vc_load(in, i);
    vc_val bit = vc_and(vc_shr(vc_u32(active), vc_and(i, vc_u32(31))), vc_u32(1));
    if (active == 0xffffffffu)
        for (int j = 0; j < count; j++) vc_store(vc_offset(out, vc_u32((uint32_t)j * local)), i, combine(&site[j], x));
    else {
        VC_IF(k, vc_ne(bit, vc_u32(0))) {
            for (int j = 0; j < count; j++)
                vc_store(vc_offset(out, vc_u32((uint32_t)j * local)), i, combine(&site[j], x));
        } VC_ELSE(k) {
            for (int j = 0; j < count; j++)
                vc_store(vc_offset(out, vc_u32((uint32_t)j * local)), i, combine(&site[j], x));
        }
    }
    return k;
}

/* Values whose sums and products are exact in any order. */
static uint64_t input_of(vc_type type, uint32_t i) {
    uint64_t state = i + 1, r = random_next(&state);
    if (is_float(type)) return bits_of(type, i % 8 == 3 ? 2.0 : i % 8 == 5 ? -0.5 : r & 1 ? 1 : -1);
    return type == VC_BOOL ? r & 1 : narrow(type, r);
}

static bool is_active(int form, uint32_t i) { return forms[form].active >> i % 32 & 1; }

static uint64_t want(vc_type type, int form, const Site *site, uint32_t i) {
    const uint32_t lane = i % 32, first = i - lane, row = site->what == CLUSTERED ? lane & ~(site->size - 1) : 0;
    const uint32_t end = site->what == CLUSTERED ? row + site->size : site->what == REDUCE ? 32
                         : site->what == INCLUSIVE ? lane + 1 : lane;
    uint64_t r = neutral(site->op, type);
    for (uint32_t j = first + row; j < first + end && j < forms[form].local; j++)
        if (is_active(form, j) == is_active(form, i)) r = combined(site->op, type, r, input_of(type, j));
    return r;
}

static long passed, failed, skipped;

static void check(vc_type type, int form, void *library, int architecture) {
    static const char *const whats[] = { "reduce", "inclusive", "exclusive", "clustered" };
    static uint64_t in[LOCAL_MOST], out[SITES_MOST * LOCAL_MOST];
    struct { const void *in; void *out; uint32_t base; } args = { in, out, 0 };
    Site site[SITES_MOST];
    const int count = sites_of(type, site);
    const uint32_t local = forms[form].local;
    char name[32], run_name[40];
    HostCudaRun *call;
    name_of(type, form, name);
    snprintf(run_name, sizeof run_name, "run_%s", name);
    void *run = dlsym(library, run_name), *wrong = dlsym(library, "wrong");
    if (!run || !wrong) { printf("  %s is not in the library\n", name); failed++; return; }
    memcpy(&call, &run, sizeof call);
    memset(out, 0x5a, sizeof out);
    for (uint32_t i = 0; i < local; i++) put_bits(type, in, i, input_of(type, i));
    call(&args, local, 1);
    bool good = *(int *)wrong == 0;
    if (!good) printf("  %s: a mask does not match the lanes that arrive\n", name);
    for (int j = 0; j < count && good; j++)
        for (uint32_t i = 0; i < local && good; i++) {
            uint64_t w = want(type, form, &site[j], i), got = get_bits(type, out, (size_t)j * local + i);
            good = got == w || (is_float(type) && real_of(type, got) == real_of(type, w));
            if (!good)
                printf("  %s, %d: %s, op %d, size %u, invocation %u: got %llx, expected %llx\n", name, architecture,
                       whats[site[j].what], (int)site[j].op, site[j].size, i, (unsigned long long)got,
                       (unsigned long long)w);
        }
    if (good) passed++; else failed++;
}

/* Runs all kernels of a type. With RUN_SAMPLE, kernels of some types are only built; those of one type run always. */
static void check_type(vc_type type, bool compiler) {
    static char runners[FORMS * 64];
    char *text = (char *)calloc(1, 1);
    runners[0] = 0;
    for (int form = 0; form < FORMS; form++) {
        vc_kernel *k = build(type, form);
        const char *cuda = vc_source(k, VC_TARGET_CUDA);
        char name[32];
        if (!cuda) { printf("  %s\n", vc_error(k)); exit(1); }
        text = (char *)realloc(text, strlen(text) + strlen(cuda) + 1);
        if (!text) exit(2);
        strcat(text, cuda);
        name_of(type, form, name);
        sprintf(runners + strlen(runners), "RUN_WARPS(%s)\n", name);
        vc_free(k);
    }
    const uint64_t types = VC_F64 - VC_BOOL + 1, sample = (uint64_t)run_sample();
    if (!is_in_turn(type, sample < types ? sample : types)) {
        free(text);
        return;
    }
    const char *bad = compiler ? nvrtc_wrong(text) : NULL;
    if (bad) { printf("  %s: %s\n", vc_type_name(type), bad); failed++; }
    for (int architecture = 750; architecture <= 800; architecture += 50) {
        if (architecture == 800 && !strstr(text, "__CUDA_ARCH__")) continue;
        void *library = host_warps_build(text, runners, architecture);
        if (!library) { printf("  %s does not compile on the host\n", vc_type_name(type)); failed++; continue; }
        for (int form = 0; form < FORMS; form++) check(type, form, library, architecture);
    }
    free(text);
}

int main(void) {
    const char *without = nvrtc_open();
    if (without) { printf("# reason: CUDA C not compiled: %s\n", without); skipped++; }
    for (vc_type type = VC_BOOL; type <= VC_F64; type++) check_type(type, !without);
    printf("%ld passed, %ld failed, %ld skipped\n", passed, failed, skipped);
    return failed > 0;
}

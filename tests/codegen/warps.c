/* Subgroup operations in divergent control flow, as CUDA C that runs on the host (host_warps.h). NVRTC compiles the
   text too.
     warps [-v]     -v prints the text */
#include "vkdispatch_codegen.h"
#include "../kernels.h"
#include "host_warps.h"
#include "nvrtc.h"

enum { LOCAL_MOST = 80, GROUPS = 2, MOST = LOCAL_MOST * GROUPS, SITES = 14, NOTHING = 0x5a5a5a5a };

/* Whether invocation i reaches this call site. */
static bool comes(unsigned site, uint32_t i, uint32_t threads) {
    if (i >= threads) return false;
    switch (site) {
    case 1: case 2: case 10: return i & 1;
    case 3: case 4: return (i & 3) == 3;
    case 5: return (i & 3) == 1;
    case 6: case 7: case 8: case 13: return !(i & 1);
    case 9: return i % 3 == 0;
    default: return true;
    }
}

static void put(vc_ref out, unsigned site, vc_val i, vc_val v) { vc_store(vc_offset(out, vc_u32(site * MOST)), i, v); }

static vc_kernel *build(uint32_t local) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "warps";
    desc.local_size[0] = local;
    vc_kernel *k = vc_begin(&desc);
    vc_ref in = vc_buffer(k, "in", VC_U32, VC_READ), out = vc_buffer(k, "out", VC_U32, VC_WRITE);
    VC_EACH(k, i) {
        vc_val x = vc_load(in, i);
        vc_ref sum = vc_var(k, "sum", VC_U32);
        put(out, 0, i, vc_subgroup_reduce(VC_ADD, x));
        VC_IF(k, vc_ne(vc_and(i, vc_u32(1)), vc_u32(0))) {
            put(out, 1, i, vc_subgroup_inclusive(VC_ADD, x));
            put(out, 2, i, vc_cast(VC_U32, vc_subgroup_elect(k)));
            VC_IF(k, vc_ne(vc_and(i, vc_u32(2)), vc_u32(0))) {
                put(out, 3, i, vc_subgroup_broadcast_first(x));
                put(out, 4, i, vc_component(vc_subgroup_ballot(vc_gt(x, vc_u32(500))), 0));
            } VC_ELSE(k) { put(out, 5, i, vc_subgroup_exclusive(VC_MAX, x)); }
            put(out, 10, i, vc_cast(VC_U32, vc_subgroup_all_equal(vc_div(i, vc_u32(32)))));
        } VC_ELSE(k) {
            put(out, 6, i, vc_subgroup_clustered(VC_ADD, x, 4));
            put(out, 7, i, vc_cast(VC_U32, vc_subgroup_any(vc_gt(x, vc_u32(950)))));
            vc_barrier_scoped(k, VC_SCOPE_SUBGROUP, VC_SCOPE_SUBGROUP, VC_STORAGE_SHARED);
            put(out, 8, i, vc_cast(VC_U32, vc_subgroup_all(vc_gt(x, vc_u32(50)))));
            put(out, 13, i, vc_subgroup_shuffle_xor(x, vc_u32(2)));
        }
        VC_FOR(k, j, vc_u32(0), vc_u32(2)) {
            VC_IF(k, vc_eq(vc_rem(i, vc_u32(3)), vc_u32(0))) {
                vc_set(sum, vc_add(vc_get(sum), vc_subgroup_reduce(VC_MIN, vc_add(x, j))));
            }
        }
        VC_IF(k, vc_eq(vc_rem(i, vc_u32(3)), vc_u32(0))) { put(out, 9, i, vc_get(sum)); }
        put(out, 11, i, vc_subgroup_ballot_count(vc_subgroup_ballot(vc_gt(x, vc_u32(500)))));
        put(out, 12, i, vc_subgroup_reduce(VC_XOR, x));
    }
    return k;
}

static uint32_t in_data[MOST], out_data[SITES * MOST];
static uint32_t local_size, threads;

/* Combines the lanes of the warp of i that reach the site, from lane `from` to lane `to`. */
static uint32_t over(unsigned site, uint32_t i, int from, int to, vc_combine op, uint32_t r, uint32_t more) {
    uint32_t first = i / local_size * local_size + i % local_size / 32 * 32;
    uint32_t end = i / local_size * local_size + local_size;
    for (int lane = from; lane <= to; lane++) {
        uint32_t j = first + (uint32_t)lane, x = j < MOST ? in_data[j] + more : 0;
        if (j >= end || !comes(site, j, threads)) continue;
        r = op == VC_ADD ? r + x : op == VC_MAX ? (x > r ? x : r) : op == VC_MIN ? (x < r ? x : r) : r ^ x;
    }
    return r;
}

static uint32_t ballot(unsigned site, uint32_t i, uint32_t above) {
    uint32_t first = i / local_size * local_size + i % local_size / 32 * 32;
    uint32_t end = i / local_size * local_size + local_size, r = 0;
    for (uint32_t lane = 0; lane < 32 && first + lane < end; lane++)
        if (comes(site, first + lane, threads) && in_data[first + lane] > above) r |= 1u << lane;
    return r;
}

static uint32_t want(unsigned site, uint32_t i) {
    int lane = (int)(i % local_size % 32), count = 0;
    uint32_t all = ballot(site, i, 0), first = i - (uint32_t)lane, b; /* numbers are positive */
    switch (site) {
    case 0: return over(site, i, 0, 31, VC_ADD, 0, 0);
    case 1: return over(site, i, 0, lane, VC_ADD, 0, 0);
    case 2: return lane == __builtin_ctz(all);
    case 3: return in_data[first + (uint32_t)__builtin_ctz(all)];
    case 4: return ballot(site, i, 500);
    case 5: return over(site, i, 0, lane - 1, VC_MAX, 0, 0);
    case 6: return over(site, i, lane & ~3, lane | 3, VC_ADD, 0, 0);
    case 7: return ballot(site, i, 950) != 0;
    case 8: return ballot(site, i, 50) == all;
    case 9: return over(site, i, 0, 31, VC_MIN, UINT32_MAX, 0) + over(site, i, 0, 31, VC_MIN, UINT32_MAX, 1);
    case 10: for (b = 0; b < 32; b++) count += all >> b & 1 && (first + b) / 32 != i / 32; return count == 0;
    case 11: for (b = ballot(site, i, 500); b; b &= b - 1) count++; return (uint32_t)count;
    case 12: return over(site, i, 0, 31, VC_XOR, 0, 0);
    default: return in_data[first + ((uint32_t)lane ^ 2u)];
    }
}

/* Whether the source lane of a shuffle is active. */
static bool known(unsigned site, uint32_t i) {
    uint32_t j = i / local_size * local_size + ((i % local_size) ^ 2u);
    return site != 13 || (j / local_size == i / local_size && comes(site, j, threads));
}

static long passed, failed, skipped;

static void judge(bool right, const char *what) {
    if (right) passed++; else failed++;
    if (!right) printf("  local size %u, %u threads: %s\n", local_size, threads, what);
}

static void check(uint32_t local, uint32_t of, int architecture, bool compiler, bool verbose) {
    struct { const uint32_t *in; uint32_t *out; uint32_t threads, base; } args;
    local_size = local; threads = of;
    vc_kernel *k = build(local);
    const char *cuda = vc_source(k, VC_TARGET_CUDA), *bad;
    if (verbose && cuda) printf("%s\n", cuda);
    judge(cuda != NULL, vc_error(k) ? vc_error(k) : "no text");
    if (cuda && compiler) { bad = nvrtc_wrong(cuda); judge(!bad, bad ? bad : ""); }
    void *library = cuda ? host_warps_build(cuda, "RUN_WARPS(warps)\n", architecture) : NULL;
    void *run = library ? dlsym(library, "run_warps") : NULL;
    void *wrong = library ? dlsym(library, "wrong") : NULL;
    HostCudaRun *call;
    judge(run && wrong, "does not compile on the host");
    memset(out_data, 0x5a, sizeof out_data);
    args.in = in_data; args.out = out_data; args.threads = of; args.base = 0;
    memcpy(&call, &run, sizeof call);
    if (run && wrong) {
        call(&args, local, (of + local - 1) / local);
        judge(*(int *)wrong == 0, *(int *)wrong & 1 ? "one came that the mask does not name"
              : "one that the mask names never came");
        for (unsigned site = 0; site < SITES; site++) {
            unsigned off = 0;
            for (uint32_t i = 0; i < MOST; i++) {
                uint32_t got = out_data[site * MOST + i], w = comes(site, i, of) ? want(site, i) : (uint32_t)NOTHING;
                if (got == w || (comes(site, i, of) && !known(site, i))) continue;
                if (off++ < 2) printf("  operation %u at %u: got %u, wanted %u\n", site, i, got, w);
            }
            judge(!off, "wrong numbers");
        }
    }
    vc_free(k);
}

/* vc_subgroup_elect in control flow that diverges. Sites: in a VC_IF, in its VC_ELSE, in three iterations of a VC_FOR,
   in two of a VC_LOOP before its exit, in a VC_IF of the same, after a return. */
enum { ELECT_SITES = 9 };

static bool comes_to_elect(unsigned site, uint32_t i, uint32_t of) {
    if (i >= of) return false;
    switch (site) {
    case 0: return i & 1;
    case 1: return !(i & 1);
    case 2: case 3: case 4: return (i & 3) > site - 2;
    case 5: return true;
    case 7: return (i & 6) == 6;
    default: return i & 2;
    }
}

static void put_elected(vc_ref out, vc_val site, vc_val i) {
    vc_kernel *k = out.kernel;
    vc_store(out, vc_add(vc_mul(site, vc_u32(MOST)), i), vc_cast(VC_U32, vc_subgroup_elect(k)));
}

/* `masks`: another operation requires masks of the active lanes. */
static vc_kernel *build_elects(bool masks) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "elects";
    desc.local_size[0] = 64;
    vc_kernel *k = vc_begin(&desc);
    vc_ref in = vc_buffer(k, "in", VC_U32, VC_READ), out = vc_buffer(k, "out", VC_U32, VC_WRITE);
    VC_EACH(k, i) {
        vc_ref n = vc_var(k, "n", VC_U32);
        VC_IF(k, vc_ne(vc_and(i, vc_u32(1)), vc_u32(0))) {
            put_elected(out, vc_u32(0), i);
            if (masks) vc_store(out, vc_add(i, vc_u32(ELECT_SITES * MOST)), vc_subgroup_reduce(VC_ADD, vc_load(in, i)));
        } VC_ELSE(k) { put_elected(out, vc_u32(1), i); }
        VC_FOR(k, j, vc_u32(0), vc_and(i, vc_u32(3))) { put_elected(out, vc_add(j, vc_u32(2)), i); }
        VC_LOOP(k) {
            put_elected(out, vc_add(vc_get(n), vc_u32(5)), i);
            vc_break_if(k, vc_ge(vc_get(n), vc_and(vc_shr(i, vc_u32(1)), vc_u32(1))));
            VC_IF(k, vc_ne(vc_and(i, vc_u32(4)), vc_u32(0))) { put_elected(out, vc_u32(7), i); }
            vc_set(n, vc_add(vc_get(n), vc_u32(1)));
        }
        vc_return_if(k, vc_eq(vc_and(i, vc_u32(2)), vc_u32(0)));
        put_elected(out, vc_u32(8), i);
    }
    return k;
}

/* In each warp that reaches a site, an active lane is elected: with masks in VC_IF, only the lowest one. */
static void check_elected(bool masks, uint32_t of) {
    for (unsigned site = 0; site < ELECT_SITES; site++)
        for (uint32_t first = 0; first < MOST; first += 32) {
            unsigned count = 0, elected = 0, lowest = 0;
            for (uint32_t i = first; i < first + 32 && i < MOST; i++) {
                uint32_t got = out_data[site * MOST + i];
                bool active = comes_to_elect(site, i, of);
                judge(active ? got <= 1 : got == (uint32_t)NOTHING, "an inactive lane stored, or an active one did not");
                if (active && !count++) lowest = got;
                elected += active && got == 1;
            }
            judge(!count || elected, "no lane is elected");
            if (masks && site < 2) judge(!count || (elected == 1 && lowest == 1), "not only the lowest lane is elected");
        }
}

static void check_elects(bool masks, uint32_t of, bool compiler, bool verbose) {
    struct { const uint32_t *in; uint32_t *out; uint32_t threads, base; } args = { in_data, out_data, of, 0 };
    local_size = 64; threads = of;
    vc_kernel *k = build_elects(masks);
    const char *cuda = vc_source(k, VC_TARGET_CUDA), *bad;
    if (verbose && cuda) printf("%s\n", cuda);
    judge(cuda != NULL, vc_error(k) ? vc_error(k) : "no text");
    if (cuda && compiler) { bad = nvrtc_wrong(cuda); judge(!bad, bad ? bad : ""); }
    void *library = cuda ? host_warps_build(cuda, "RUN_WARPS(elects)\n", 750) : NULL;
    void *run = library ? dlsym(library, "run_elects") : NULL;
    HostCudaRun *call;
    judge(run != NULL, "does not compile on the host");
    memset(out_data, 0x5a, sizeof out_data);
    memcpy(&call, &run, sizeof call);
    if (run) {
        call(&args, 64, (of + 63) / 64);
        check_elected(masks, of);
    }
    vc_free(k);
}

/* Operations without a suitable mask must be refused. */
static void check_refused(void) {
    for (int form = 0; form < 3; form++) {
        vc_kernel *k = vc_begin(NULL);
        vc_ref out = vc_buffer(k, "out", VC_U32, VC_READ_WRITE);
        VC_EACH(k, i) {
            if (form == 0) VC_FOR(k, j, vc_u32(0), i) { vc_store(out, i, vc_subgroup_reduce(VC_ADD, j)); }
            if (form == 1) VC_SWITCH(k, i) { VC_CASE(k, 1) { vc_store(out, i, vc_subgroup_reduce(VC_ADD, i)); } }
            if (form == 2) {
                vc_return_if(k, vc_eq(vc_load(out, i), vc_u32(7)));
                vc_store(out, i, vc_subgroup_reduce(VC_ADD, i));
            }
        }
        const char *source = vc_source(k, VC_TARGET_CUDA), *error = vc_error(k);
        judge(!source && error && strstr(error, "because of a loop, a VC_SWITCH or an exit"), "is not refused");
        vc_free(k);
    }
}

int main(int count, char **args) {
    const char *without = nvrtc_open();
    uint64_t state = 5;
    bool verbose = count > 1 && !strcmp(args[1], "-v");
    for (int i = 0; i < MOST; i++) in_data[i] = 1 + (uint32_t)(random_next(&state) >> 33) % 1000;
    if (without) { printf("# reason: CUDA C not compiled: %s\n", without); skipped++; }
    for (int architecture = 750; architecture <= 800; architecture += 50) { /* without and with __reduce_add_sync */
        const bool first = architecture == 750;
        check(64, 128, architecture, first && !without, first && verbose);
        check(64, 101, architecture, first && !without, false);
        check(80, 150, architecture, first && !without, false);
        check(20, 33, architecture, first && !without, false);
    }
    for (int masks = 0; masks < 2; masks++) {
        check_elects(masks != 0, 128, !without, verbose);
        check_elects(masks != 0, 75, false, false);
    }
    check_refused();
    printf("%ld passed, %ld failed, %ld skipped\n", passed, failed, skipped);
    return failed > 0;
}

/* Creates plans of reductions, scans, sorts and histograms of every type, to check that their kernels compile. Run on
   CUDA without a GPU: NVRTC compiles the source, and the fake driver accepts the result. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <glob.h>

enum { COUNT = 100000 };

static void need_compiler(void) {
    static const char text[] = "libnvrtc could not be opened";
    vd_reduce_desc desc = { 0 };
    if (device_context) {
        desc.shape[0] = 1;
        vd_reduce *plan = vd_reduce_create(device_context, &desc);
        bool missing = !plan && strstr(vd_error_text(), text);
        vd_reduce_destroy(plan);
        if (!missing) return;
    }
    print_message("# reason: %s\n", vd_error_text());
    skip();
}

/* Finds NVRTC where CUDA's own packages install it, which the library does not search. */
static void find_nvrtc(void) {
    static const char *const places[] = { "/usr/local/cuda*/lib64/libnvrtc.so", "/usr/lib/*/libnvrtc.so.1?" };
    for (size_t i = 0; i < sizeof places / sizeof *places && !getenv("VKDISPATCH_NVRTC"); i++) {
        glob_t found;
        if (glob(places[i], 0, NULL, &found) != 0) continue;
        setenv("VKDISPATCH_NVRTC", found.gl_pathv[0], 1);
        globfree(&found);
    }
}

static void made(const void *plan, const char *what, vd_type type) {
    if (!plan) fail_msg("%s of %s: %s", what, vd_type_name(type), vd_error_text());
}

static void reductions(void **state) {
    (void)state;
    need_compiler();
    for (vd_type type = VD_I8; type <= VD_F64; type++)
        for (int i = 0; i < 2; i++) { /* every operation for some type: parts of one result, rows, columns */
            static const vd_reduce_op some[] = { VD_REDUCE_SUM,  VD_REDUCE_ANY,      VD_REDUCE_ARGMIN, VD_REDUCE_DOT,
                                                 VD_REDUCE_NORM, VD_REDUCE_VARIANCE, VD_REDUCE_MAX };
            vd_reduce_desc desc = { 0 };
            desc.op = some[(2 * type + (vd_type)i) % 7];
            desc.type = type;
            desc.shape[0] = i || type % 3 ? 300 : COUNT;
            if (i || type % 3) { desc.shape[1] = 400; desc.axes = type % 3; }
            vd_reduce *plan = vd_reduce_create(device_context, &desc);
            made(plan, "a reduction", type);
            vd_reduce_destroy(plan);
        }
}

static void odd(vc_kernel *k, vd_fragment_io *io, void *user) {
    vc_type type = vc_typeof(io->in[0]);
    (void)k, (void)user;
    io->out = vc_ne(vc_rem(io->in[0], vc_cast(type, vc_i32(2))), vc_cast(type, vc_i32(0)));
}

static void scans(void **state) {
    (void)state;
    need_compiler();
    for (vd_type type = VD_I8; type <= VD_F64; type++) {
        vd_scan_desc desc = { 0 };
        desc.type = type;
        desc.shape[0] = COUNT;
        desc.segmented = type % 2;
        desc.exclusive = type % 3 == 0;
        desc.method = type % 4 ? VD_SCAN_ONE_PASS : VD_SCAN_THREE_KERNELS;
        vd_scan *plan = vd_scan_create(device_context, &desc);
        made(plan, "a scan", type);
        vd_scan_destroy(plan);
        if (type % 3) continue;
        vd_compact_desc compact = { 0 };
        compact.type = type;
        compact.count = COUNT;
        compact.keep.build = odd;
        plan = vd_compact_create(device_context, &compact);
        made(plan, "a compaction", type);
        vd_scan_destroy(plan);
    }
}

static void sorts_and_histograms(void **state) {
    (void)state;
    need_compiler();
    for (vd_type type = VD_I8; type <= VD_F64; type += 2) {
        vd_sort_desc desc = { 0 };
        vd_histogram_desc counts = { 0 };
        desc.type = type;
        desc.values = type % 4 == 1 ? VD_F64 : type % 4 ? VD_U32 : VD_BYTES;
        desc.count = counts.count = COUNT;
        vd_sort *plan = vd_sort_create(device_context, &desc);
        made(plan, "a sort", type);
        vd_sort_destroy(plan);
        counts.type = type;
        counts.bins = type % 4 ? 100 : COUNT;
        vd_histogram *histogram = vd_histogram_create(device_context, &counts);
        made(histogram, "a histogram", type);
        vd_histogram_destroy(histogram);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(reductions), cmocka_unit_test(scans),
                                        cmocka_unit_test(sorts_and_histograms) };
    find_nvrtc();
    return RUN_ON_DEVICE(tests);
}

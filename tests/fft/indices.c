/* Index arithmetic of kernels, in 32 bits, compared with 64 bits on the host, for lengths up to the limits.
   Transforms of these lengths need more memory than test machines have. */
#include "tests/fft/own.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common.h"

enum { INDICES = 64 };

/* Kind IV of odd length: see vd__real_index_kind4. */
static uint32_t expected_kind4(uint64_t n, uint64_t m, bool *negative) {
    uint64_t a = n + 4 * m;
    *negative = (m % 2 != 0) != (a >= 2 * n);
    return (uint32_t)((a < 2 * n ? a : a < 4 * n ? 4 * n - a : a - 4 * n) / 2);
}

/* Indices next to each change of the formula, and others. */
static void fill_indices(uint64_t n, uint32_t *m) {
    uint64_t state = n;
    for (uint32_t i = 0; i < INDICES; i++) m[i] = random_below(&state, (uint32_t)n);
    m[0] = 0;
    for (uint32_t quarter = 1; quarter < 5; quarter++) {
        uint32_t last = (uint32_t)(quarter * n / 4);
        m[2 * quarter - 1] = last - 1;
        m[2 * quarter] = last < n ? last : 0;
        m[8 + quarter] = last + 1 < n ? last + 1 : 0;
    }
}

static void check_kind4(uint64_t n) {
    uint32_t m[INDICES], found[2 * INDICES];
    vd__real rule;
    memset(&rule, 0, sizeof rule);
    rule.n = n;
    fill_indices(n, m);
    vc_kernel_desc desc = { 0 };
    desc.name = "kind4";
    desc.machine = vd_machine(device_context);
    vc_kernel *k = vc_begin(&desc);
    vc_ref in = vc_buffer(k, "in", VC_U32, VC_READ), out = vc_buffer(k, "out", VC_U32, VC_WRITE);
    VC_EACH(k, i) {
        vc_val negative, j = vd__real_index_kind4(&rule, vc_load(in, i), &negative);
        vc_store(out, vc_mul(i, vc_u32(2)), j);
        vc_store(out, vc_add(vc_mul(i, vc_u32(2)), vc_u32(1)), vc_cast(VC_U32, negative));
    }
    vd_kernel kernel = vd_kernel_build(device_context, k);
    vc_free(k);
    if (!kernel.id) fail_msg("%s", vd_error_text());
    vd_buffer from = buffer_of(device_context, VD_U32, INDICES, m);
    vd_buffer to = buffer_of(device_context, VD_U32, sizeof found / sizeof *found, NULL);
    vd_arg args[] = { vd_b(from), vd_b(to) };
    vd_dispatch_desc dispatch = { 0 };
    dispatch.kernel = kernel;
    dispatch.threads[0] = INDICES;
    dispatch.args = args;
    dispatch.arg_count = COUNT(args);
    if (vd_dispatch(vd_immediate(device_context, 0, 0), &dispatch)
        || vd_buffer_read(device_context, to, 0, found, VD_WHOLE))
        fail_msg("%s", vd_error_text());
    for (uint32_t i = 0; i < INDICES; i++) {
        bool negative;
        uint32_t j = expected_kind4(n, m[i], &negative);
        if (found[2 * i] != j || found[2 * i + 1] != negative)
            fail_msg("n = %llu, m = %u: j is %u%s instead of %u%s", (unsigned long long)n, m[i], found[2 * i],
                     found[2 * i + 1] ? ", negative" : "", j, negative ? ", negative" : "");
    }
    vd_buffer_destroy(device_context, from);
    vd_buffer_destroy(device_context, to);
    vd_kernel_destroy(device_context, kernel);
}

static void kind4(void **state) {
    static const uint64_t lengths[] = { 5, 7, 15, 10007, 858993461, 1162261467, 1717986919, 2147483647 };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(lengths); i++) check_kind4(lengths[i]);
}

static void none_left(void **state) {
    (void)state;
    need_device();
    nothing_left(device_context);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(kind4), cmocka_unit_test(none_left) };
    return RUN_ON_DEVICE(tests);
}

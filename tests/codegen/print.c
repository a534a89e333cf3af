/* Kernels with printf and assert as CUDA C: NVRTC compiles every type, in kernels with one and three axes.
   tests/conformance/print tests the output. */
#include "vkdispatch_codegen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "nvrtc.h"

static void every_type(vc_kernel *k) {
    static const vc_type types[] = { VC_BOOL, VC_I8, VC_I16, VC_I32, VC_I64, VC_U8, VC_U16, VC_U32, VC_U64, VC_F16,
                                     VC_F32, VC_F64, VC_VEC(VC_F16, 3), VC_F32X4, VC_VEC(VC_I64, 2), VC_F64X3 };
    VC_EACH3(k, x, y, z) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            vc_ref in = vc_buffer(k, "output", types[i], VC_READ); /* also the name of the implicit output buffer */
            uint32_t kind = types[i] & 15u;
            vc_val v = vc_load(in, x);
            vc_printf(k, kind >= VC_F16 ? "%g\n" : kind <= VC_I64 ? "%d\n" : "%u\n", v);
            if (kind >= VC_F16)
                vc_printf(k, "%a at %u", vc_complex(vc_component(v, 0), vc_component(v, 0)), vc_add(y, z));
        }
        vc_assert(k, vc_lt(x, y), "x < y");
    }
}

static void in_loops(vc_kernel *k) {
    vc_ref n = vc_buffer(k, "n", VC_U32, VC_READ_WRITE);
    vc_val i = vc_global_id(k, 0);
    VC_FOR(k, round, vc_u32(0), vc_load(n, i)) {
        vc_printf(k, "round %u", round);
        vc_assert(k, vc_ne(round, vc_u32(7)), "never 7");
        vc_break_if(k, vc_eq(round, vc_u32(9)));
    }
    vc_return_if(k, vc_eq(i, vc_u32(0)));
    vc_printf(k, "end");
}

static void compiles(void (*body)(vc_kernel *), uint32_t x, uint32_t y, uint32_t z) {
    vc_kernel_desc desc;
    const char *text, *wrong;
    memset(&desc, 0, sizeof desc);
    desc.name = "printf";
    desc.local_size[0] = x;
    desc.local_size[1] = y;
    desc.local_size[2] = z;
    vc_kernel *k = vc_begin(&desc);
    body(k);
    text = vc_source(k, VC_TARGET_CUDA);
    if (!text) fail_msg("%s", vc_error(k));
    wrong = nvrtc_wrong(text);
    if (wrong) fail_msg("%s\n%s", wrong, text);
    vc_free(k);
}

static void nvrtc_compiles_the_kernels(void **state) {
    const char *reason = nvrtc_open();
    (void)state;
    if (reason) {
        print_message("# reason: %s\n", reason);
        skip();
    }
    compiles(every_type, 4, 4, 4);
    compiles(in_loops, 64, 1, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(nvrtc_compiles_the_kernels) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

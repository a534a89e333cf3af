/* Sorts and histograms of arrays whose indices have 64 bits: the tests of sort.c, with a lower limit for indices of 32
   bits; carries of 64-bit counts. */
#include "tests/fft/own.h"
#define FFT_FEW_CASES 1
#include "tests/fft/common.h"

/* Threads add to the same two bins, one of them amounts that wrap around in every other addition. */
static void carries(void **state) {
    enum { THREADS = 1000 };
    vc_kernel_desc desc = { 0 };
    vd_dispatch_desc run = { 0 };
    uint64_t got[3] = { 5, 0xfffffffe, 7 };
    (void)state;
    need_device();
    desc.name = "carries";
    desc.local_size[0] = 50;
    desc.machine = vd_machine(device_context);
    vc_kernel *k = vc_begin(&desc);
    vc_ref to = vc_buffer(k, "to", VC_U32, VC_READ_WRITE | VC_ANY_TYPE);
    vd__histogram_add(k, to, true, vc_u32(0), vc_u32(0x80000001u));
    vd__histogram_add(k, to, true, vc_and(vc_global_id(k, 0), vc_u32(1)), vc_u32(1));
    run.kernel = vd_kernel_build(device_context, k);
    vc_free(k);
    vd_buffer out = buffer_of(device_context, VD_U64, 3, got);
    vd_arg arg = vd_b(out);
    run.threads[0] = THREADS;
    run.args = &arg;
    run.arg_count = 1;
    if (!run.kernel.id || vd_dispatch(vd_immediate(device_context, 0, 0), &run)
        || vd_buffer_read(device_context, out, 0, got, VD_WHOLE))
        fail_msg("%s", vd_error_text());
    assert_true(got[0] == 5 + THREADS * (uint64_t)0x80000001u + THREADS / 2);
    assert_true(got[1] == 0xfffffffe + (uint64_t)THREADS / 2);
    assert_true(got[2] == 7);
    vd_kernel_destroy(device_context, run.kernel);
    vd_buffer_destroy(device_context, out);
}

#define SORT_OWN_TESTS cmocka_unit_test(carries),
#include "tests/fft/sort.c"

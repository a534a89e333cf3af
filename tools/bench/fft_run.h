/* Shared by the FFT benchmarks: clocks, lists, the copy that transforms are compared with, and the input. */
#ifndef FFT_RUN_H
#define FFT_RUN_H

#include "vkdispatch_fft.h"

#include "tools/bench/bench.h"
#include "tools/bench/fft_work.h"

static bool on_processor; /* whether the device is a processor */

static inline double now(void) {
    if (!on_processor) return bench_now();
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void submit(vd_context *ctx, vd_list *list) {
    vd_event event;
    if (vd_submit(list, NULL, &event) || vd_wait(ctx, event, VD_FOREVER)) die("vd_submit", vd_error_text());
}

static vd_list *begin(vd_context *ctx) {
    vd_list_desc desc = { 0 };
    vd_list *list = vd_list_begin(ctx, &desc);
    if (!list) die("vd_list_begin", vd_error_text());
    return list;
}

static vd_kernel copy_kernel(vd_context *ctx) {
    vc_kernel_desc desc = { 0 };
    desc.name = "copy";
    desc.local_size[0] = 256;
    desc.machine = vd_machine(ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_ref from = vc_buffer(k, "from", VC_F32X4, VC_READ | VC_ANY_TYPE);
    vc_ref to = vc_buffer(k, "to", VC_F32X4, VC_WRITE | VC_ANY_TYPE);
    VC_EACH(k, i) { vc_store(to, i, vc_load(from, i)); }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    if (!kernel.id) die("the kernel that copies", vd_error_text());
    return kernel;
}

/* Records a copy of `bytes` bytes, a multiple of 16. */
static vd_result record_copy(vd_list *list, vd_kernel copy, vd_buffer in, vd_buffer out, uint64_t bytes) {
    vd_dispatch_desc desc = { 0 };
    vd_arg args[2];
    args[0] = vd_b(in);
    args[1] = vd_b(out);
    desc.kernel = copy;
    desc.threads[0] = bytes / 16;
    desc.args = args;
    desc.arg_count = 2;
    return vd_dispatch(list, &desc);
}

/* Fills a buffer with repetitions of x. */
static void fill(vd_context *ctx, vd_buffer in, const numbers *x, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += x->period * 8) {
        uint64_t left = bytes - at;
        if (vd_buffer_write(ctx, in, at, x->data, left < x->period * 8 ? left : x->period * 8))
            die("vd_buffer_write", vd_error_text());
    }
}

/* Returns the desc of a plan for a size, without a name. */
static inline vd_fft_desc desc_of(const size *s, uint64_t bytes) {
    vd_fft_desc desc = { 0 };
    desc.shape[0] = batch_of(s, bytes);
    for (uint32_t i = 0; i < s->rank; i++) { desc.shape[i + 1] = s->n[i]; desc.axes |= 2u << i; }
    if (is_columns(s)) desc.shape[2] = s->n[0];
    if (is_real_row(s)) desc.kind = VD_FFT_REAL;
    if (s->what == REAL_BACK) desc.norm = VD_FFT_NORM_NONE;
    return desc;
}

#endif /* FFT_RUN_H */

/* Reads results of each frame three frames later, without waiting: the program keeps recording while the device works.
   A kernel writes 2 MB in each of 120 frames a second, which are read through a ring of tickets. Prints how many frames
   had to wait for the device, and checks every result.
   cc -std=c99 -O1 -I. examples/late_readback.c -o late_readback -ldl -lpthread -lm */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#include <stdio.h>
#include <time.h>

enum { SAMPLES = 1 << 19, FRAMES = 60, LATE = 3 };

/* x[i] = i * frame */
static vd_kernel build(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "wave", .machine = vd_machine(ctx) });
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_WRITE);
    vc_val frame = vc_param(k, "frame", VC_U32);
    VC_EACH(k, i) { vc_store(x, i, vc_mul(i, frame)); }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* Returns whether the 2 MB of a frame are right. They are in memory of the library until vd_read_end: nothing is
   copied. */
static bool check(const uint32_t *x, uint32_t frame) {
    for (uint32_t i = 0; i < SAMPLES; i++)
        if (x[i] != i * frame) return false;
    return true;
}

/* Waits only if the device lags by more than LATE frames. */
static vd_result use_oldest(vd_context *ctx, vd_ticket ticket, uint32_t frame, uint32_t *waited) {
    const void *data = NULL;
    vd_result r = vd_read_ready(ctx, ticket, 0, &data);
    if (r == VD_TIMEOUT) {
        ++*waited;
        r = vd_read_ready(ctx, ticket, VD_FOREVER, &data);
    }
    if (!r && !check((const uint32_t *)data, frame)) {
        fprintf(stderr, "frame %u is wrong\n", (unsigned)frame);
        r = VD_ERROR_BACKEND;
    }
    vd_read_end(ctx, ticket);
    return r;
}

int main(void) {
    vd_context *ctx = NULL;
    vd_ticket ring[LATE];
    uint32_t waited = 0;
    if (vd_context_create(NULL, &ctx)) {
        fprintf(stderr, "no device: %s\n", vd_error_text());
        return 1;
    }
    vd_kernel kernel = build(ctx);
    vd_buffer x = vd_buffer_create(ctx, &(vd_buffer_desc){ .type = VD_U32, .shape = { SAMPLES } });
    vd_list *list = vd_immediate(ctx, 0, 0);
    vd_result r = kernel.id && x.id ? VD_OK : vd_error_result();
    for (uint32_t frame = 0; frame < FRAMES + LATE && !r; frame++) {
        vd_ticket *slot = &ring[frame % LATE];
        if (frame >= LATE) r = use_oldest(ctx, *slot, frame - LATE, &waited);
        if (r || frame >= FRAMES) continue;
        r = vd_run(ctx, kernel, SAMPLES, vd_b(x), vd_u32(frame));
        if (!r) r = vd_read_begin(list, &(vd_read_desc){ .buffer = x }, slot);
        if (!r) r = vd_flush(ctx); /* the device starts, the host goes on */
        nanosleep(&(struct timespec){ 0, 1000000000 / 120 }, NULL); /* a program would draw a frame here */
    }
    if (r) fprintf(stderr, "%s\n", vd_error_text());
    else printf("%d frames of 2 MB, read %d frames late: %u of them had to wait\n", FRAMES, LATE, (unsigned)waited);
    vd_context_destroy(ctx);
    return r != VD_OK;
}

/* Adds a number to every element of a buffer on the GPU, and checks the result.
   cc -std=c99 -O1 -I. examples/add_scalar.c -o add_scalar -ldl -lpthread */
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#include <stdio.h>

int main(void) {
    vd_context *ctx = NULL;
    if (vd_context_create(NULL, &ctx)) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }

    /* The kernel: each thread adds `a` to one element. */
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "add_scalar", .machine = vd_machine(ctx) });
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ_WRITE);
    vc_val a = vc_param(k, "a", VC_F32);
    VC_EACH(k, i) { vc_store(x, i, vc_add(vc_load(x, i), a)); }
    vd_kernel add_scalar = vd_kernel_build(ctx, k);
    vc_free(k);

    float data[1000];
    for (int i = 0; i < 1000; i++) data[i] = (float)i;
    vd_buffer buffer = vd_buffer_create(ctx, &(vd_buffer_desc){ .type = VD_F32, .shape = { 1000 }, .data = data });

    /* Dispatches 1000 threads. Reading the buffer waits for the kernel. */
    vd_result r = vd_run(ctx, add_scalar, 1000, vd_b(buffer), vd_f32(0.5f));
    if (!r) r = vd_buffer_read(ctx, buffer, 0, data, VD_WHOLE);
    if (r) fprintf(stderr, "%s\n", vd_error_text());

    int wrong = 0;
    for (int i = 0; i < 1000; i++) wrong += data[i] != (float)i + 0.5f;
    if (!r) printf("%s added 0.5 to 1000 numbers; %d of them are wrong.\n", vd_device(ctx, 0)->name, wrong);
    vd_context_destroy(ctx);
    return r || wrong;
}

/* Shares work between two devices: each counts the primes of one half of the numbers, and the host adds their results.
   With one device, the context has it twice, as two devices with memory of their own.
   cc -std=c99 -O1 -I. examples/two_devices.c -o two_devices -ldl -lpthread -lm */
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#include <stdio.h>

enum { NUMBERS = 1 << 20, HALF = NUMBERS / 2, PRIMES = 82025 /* below 2^20 */ };

/* Counts the primes among the numbers from `first` on, one for each thread. */
static vd_kernel build(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "primes", .machine = vd_machine(ctx) });
    vc_ref count = vc_buffer(k, "count", VC_U32, VC_READ_WRITE), divisor = vc_var(k, "divisor", VC_U32);
    vc_val first = vc_param(k, "first", VC_U32);
    VC_EACH(k, i) {
        vc_val n = vc_add(first, i);
        vc_set(divisor, vc_u32(2));
        VC_LOOP(k) {
            vc_val d = vc_get(divisor);
            vc_break_if(k, vc_or(vc_gt(vc_mul(d, d), n), vc_eq(vc_rem(n, d), vc_u32(0))));
            vc_set(divisor, vc_add(d, vc_u32(1)));
        }
        vc_val d = vc_get(divisor);
        VC_IF(k, vc_and(vc_gt(vc_mul(d, d), n), vc_ge(n, vc_u32(2)))) {
            vc_atomic_add(count, vc_u32(0), vc_u32(1), NULL);
        }
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* Opens the first two devices of the default backend, or its only one twice. */
static vd_result open_devices(vd_context **ctx) {
    vd_context *first = NULL;
    vd_device_info infos[2];
    int indices[2] = { 1, 2 };
    vd_result r = vd_context_create(NULL, &first);
    if (r) return r;
    vd_backend backend = vd_device(first, 0)->backend;
    int found = vd_devices(backend, infos, 2);
    if (found < 2) indices[0] = indices[1] = 1 + vd_device(first, 0)->index;
    vd_context_destroy(first);
    if (found < 2) printf("there is only one device: it is used twice\n");
    return vd_context_create(&(vd_context_desc){ .backend = backend, .devices = indices, .device_count = 2 }, ctx);
}

/* Submits half of the work to each device, and then begins to read both results: the devices work at the same time. */
static vd_result share(vd_context *ctx, vd_kernel kernel, vd_buffer count, vd_ticket tickets[2]) {
    vd_result r = VD_OK;
    for (int device = 0; device < 2 && !r; device++) {
        vd_list *list = vd_immediate(ctx, device, 0);
        vd_arg args[] = { vd_b(count), vd_u32((uint32_t)device * HALF) };
        vd_dispatch_desc desc = { .kernel = kernel, .threads = { HALF }, .args = args, .arg_count = 2 };
        if (!list) return vd_error_result();
        r = vd_fill(list, count, 0, VD_WHOLE, NULL, 0);
        if (!r) r = vd_dispatch(list, &desc);
        if (!r) r = vd_read_begin(list, &(vd_read_desc){ .buffer = count }, &tickets[device]);
        if (!r) r = vd_submit(list, NULL, NULL);
    }
    return r;
}

int main(void) {
    vd_context *ctx = NULL;
    vd_ticket tickets[2];
    uint32_t sum = 0;
    if (open_devices(&ctx)) {
        fprintf(stderr, "no device: %s\n", vd_error_text());
        return 1;
    }
    vd_kernel kernel = build(ctx);
    vd_buffer count = vd_buffer_create(ctx, &(vd_buffer_desc){ .type = VD_U32, .shape = { 1 } });
    vd_result r = kernel.id && count.id ? share(ctx, kernel, count, tickets) : vd_error_result();
    for (int device = 0; device < 2 && !r; device++) {
        const void *data = NULL;
        r = vd_read_ready(ctx, tickets[device], VD_FOREVER, &data);
        if (r) break;
        printf("%s: %u primes from %d on\n", vd_device(ctx, device)->name, (unsigned)*(const uint32_t *)data,
               device * HALF);
        sum += *(const uint32_t *)data;
        vd_read_end(ctx, tickets[device]);
    }
    if (r) fprintf(stderr, "%s\n", vd_error_text());
    else printf("%u primes below %d\n", (unsigned)sum, NUMBERS);
    vd_context_destroy(ctx);
    return r != VD_OK || sum != PRIMES;
}

/* Lists all devices, and the one that a context uses by default.

   cc -I. examples/devices.c -o devices -ldl -lpthread */
#define VKDISPATCH_CUDA   /* every backend; each loads its library at run time and is skipped if that is missing */
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"

#include <stdio.h>

int main(void) {
    vd_device_info infos[16];
    int count = vd_devices(VD_BACKEND_DEFAULT, infos, 16);
    for (int i = 0; i < count && i < 16; i++) {
        printf("%s %d: %s, %.1f GiB, subgroups of %u, %s\n", vd_backend_name(infos[i].backend), infos[i].index,
               infos[i].name, (double)infos[i].device_memory / 1073741824.0, infos[i].limits.subgroup_size,
               infos[i].features & VD_FEATURE_F64 ? "computes in f64" : "no f64");
    }

    vd_context *ctx = NULL;
    if (vd_context_create(NULL, &ctx)) {
        fprintf(stderr, "no context: %s\n", vd_error_text());
        return 1;
    }
    printf("a context uses: %s (%s)\n", vd_device(ctx, 0)->name, vd_device(ctx, 0)->driver);
    vd_context_destroy(ctx);
    return 0;
}

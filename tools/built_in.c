/* Prints the kernels that are part of vkdispatch.h in the format of its room `vulkan kernel`. tools/built-in inserts
   them there. */
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch_codegen.h"

#include <stdio.h>
#include <string.h>

/* Copies 16 bytes per invocation from address to address. Has no group offset: the runtime splits copies that exceed
   one dispatch. */
static vc_kernel *copy(void) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "copy";
    desc.local_size[0] = 256;
    desc.buffers = VC_BUFFERS_ADDRESS;
    desc.machine.max_groups[0] = INT32_MAX;
    vc_kernel *k = vc_begin(&desc);
    vc_ref to = vc_buffer(k, "to", VC_VEC(VC_U32, 4), VC_WRITE);
    vc_ref from = vc_buffer(k, "from", VC_VEC(VC_U32, 4), VC_READ);
    vc_val count = vc_param(k, "count", VC_U32), i = vc_global_id(k, 0);
    VC_IF(k, vc_lt(i, count)) { vc_store(to, i, vc_load(from, i)); }
    return k;
}

/* Tests trunc and round of f64 on eight numbers. */
static vc_kernel *rounded(void) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "round";
    desc.local_size[0] = 8;
    desc.buffers = VC_BUFFERS_BINDING;
    desc.machine.max_groups[0] = INT32_MAX;
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_F64, VC_READ_WRITE);
    vc_val i = vc_local_index(k), number = vc_load(x, i);
    vc_store(x, i, vc_trunc(number));
    vc_store(x, vc_add(i, vc_u32(8)), vc_round(number));
    return k;
}

static void print(const char *name, vc_kernel *k) {
    size_t count = 0;
    const uint32_t *words = vc_spirv(k, &count);
    printf("static const uint32_t vd__vk_%s_words[] = {", name);
    for (size_t i = 0; i < count; i++)
        printf("%s0x%x%s", i % 9 ? " " : "\n    ", (unsigned)words[i], i + 1 < count ? "," : "\n};\n");
}

int main(void) {
    vc_kernel *k = copy(), *r = rounded();
    const vc_info *info = vc_reflect(k), *round_info = vc_reflect(r);
    if (!info || info->argument_bytes != 20 || info->args[0].location != 0 || info->args[1].location != 8
        || info->args[2].location != 16 || info->implicit_count) {
        fprintf(stderr, "built_in: %s\n",
                vc_error(k) ? vc_error(k) : "the block of values is not as the runtime fills it");
        return 1;
    }
    if (!round_info || round_info->argument_bytes || round_info->args[0].location) {
        fprintf(stderr, "built_in: %s\n",
                vc_error(r) ? vc_error(r) : "round has values, or its buffer is not at binding 0");
        return 1;
    }
    print("copy", k);
    print("round", r);
    vc_free(k);
    vc_free(r);
    return 0;
}

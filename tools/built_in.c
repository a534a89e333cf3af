/* Prints the kernels that vkdispatch.h brings along, as its `vulkan kernel` room has them: tools/built-in puts them there. */
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch_codegen.h"

#include <stdio.h>
#include <string.h>

/* 16 bytes an invocation, from address to address. No group base: the runtime cuts what is too large for one dispatch into several. */
static vc_kernel *move(void) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "move";
    desc.local_size[0] = 256;
    desc.buffers = VC_BUFFERS_ADDRESS;
    desc.machine.max_groups[0] = INT32_MAX;
    vc_kernel *k = vc_begin(&desc);
    vc_ref to = vc_buffer(k, "to", VC_VEC(VC_U32, 4), VC_WRITE), from = vc_buffer(k, "from", VC_VEC(VC_U32, 4), VC_READ);
    vc_val count = vc_param(k, "count", VC_U32), i = vc_global_id(k, 0);
    VC_IF(k, vc_lt(i, count)) { vc_store(to, i, vc_load(from, i)); }
    return k;
}

int main(void) {
    vc_kernel *k = move();
    size_t count = 0;
    const uint32_t *words = vc_spirv(k, &count);
    const vc_info *info = vc_reflect(k);
    if (!words || info->value_bytes != 20 || info->args[0].place != 0 || info->args[1].place != 8 || info->args[2].place != 16 || info->hidden_count) {
        fprintf(stderr, "built_in: %s\n", vc_error(k) ? vc_error(k) : "the block of values is not as the runtime fills it");
        return 1;
    }
    printf("static const uint32_t vd__vk_move_words[] = {");
    for (size_t i = 0; i < count; i++) printf("%s0x%x%s", i % 14 ? " " : "\n    ", (unsigned)words[i], i + 1 < count ? "," : "\n};\n");
    vc_free(k);
    return 0;
}

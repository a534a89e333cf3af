/* Prints the kernels that are part of vkdispatch.h in the format of its room `vulkan kernel`. tools/built-in inserts
   them there. */
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch_codegen.h"

#include <stdbool.h>
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

/* Converts the size of an indirect dispatch, one invocation for each axis. vd__vk_size describes the words of `block`
   from `base` on; `first` is the index of the numbers in `counts`, `groups` tells whether they are work-groups. */
static vc_kernel *indirect(void) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "indirect";
    desc.local_size[0] = 3;
    desc.buffers = VC_BUFFERS_BINDING;
    desc.machine.max_groups[0] = INT32_MAX;
    vc_kernel *k = vc_begin(&desc);
    vc_ref counts = vc_buffer(k, "counts", VC_U32, VC_READ), block = vc_buffer(k, "block", VC_U32, VC_READ_WRITE);
    vc_val base = vc_param(k, "base", VC_U32), first = vc_param(k, "first", VC_U32);
    vc_val by_groups = vc_ne(vc_param(k, "groups", VC_U32), vc_u32(0)), axis = vc_local_index(k);
    vc_val count = vc_load(counts, vc_add(first, axis)), words[5];
    vc_val row = vc_add(base, vc_add(vc_u32(8), vc_mul(axis, vc_u32(5))));
    for (uint32_t i = 0; i < 5; i++) words[i] = vc_load(block, vc_add(row, vc_u32(i)));
    vc_val rest = vc_select(vc_ne(vc_mod(count, words[0]), vc_u32(0)), vc_u32(1), vc_u32(0));
    vc_val wanted = vc_select(by_groups, count, vc_add(vc_div(count, words[0]), rest));
    vc_val limited = vc_gt(wanted, words[1]), groups = vc_min(wanted, words[1]);
    vc_val threads = vc_select(vc_or(by_groups, limited), vc_mul(groups, words[0]), count);
    vc_store(block, vc_add(base, axis), vc_min(groups, words[4]));
    vc_store(block, vc_add(base, vc_add(axis, vc_u32(4))), groups);
    vc_store(block, words[2], threads);
    vc_store(block, words[3], groups);
    VC_IF(k, limited) { vc_store(block, vc_add(base, vc_u32(3)), vc_u32(1)); }
    return k;
}

enum { SPIRV_HEAD = 5, OP_NAME = 5, OP_MEMBER_NAME = 6 };

/* Prints a word in LEB128, at most 24 bytes on a line. */
static void print_word(uint32_t word, size_t *printed) {
    do {
        printf("%s%u,", (*printed)++ % 24 ? " " : "\n    ", (unsigned)(word >= 128 ? (word & 127) | 128 : word));
        word >>= 7;
    } while (word);
}

/* Prints a kernel without names. Returns the number of its words. */
static size_t print(const char *name, vc_kernel *k) {
    size_t count = 0, printed = 0, kept = 0;
    const uint32_t *words = vc_spirv(k, &count);
    printf("static const uint8_t vd__vk_%s_code[] = {", name);
    for (size_t i = 0; i < count;) {
        size_t end = i < SPIRV_HEAD ? i + 1 : i + (words[i] >> 16);
        bool keep = i < SPIRV_HEAD || ((words[i] & 0xffff) != OP_NAME && (words[i] & 0xffff) != OP_MEMBER_NAME);
        kept += keep ? end - i : 0;
        for (; i < end; i++) if (keep) print_word(words[i], &printed);
    }
    printf("\n};\n");
    return kept;
}

int main(void) {
    vc_kernel *k = copy(), *r = rounded(), *n = indirect();
    const vc_info *info = vc_reflect(k), *round_info = vc_reflect(r), *size_info = vc_reflect(n);
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
    if (!size_info || size_info->argument_bytes != 12 || size_info->args[1].location != 1
        || size_info->args[2].location != 0 || size_info->args[4].location != 8 || size_info->implicit_count) {
        fprintf(stderr, "built_in: %s\n",
                vc_error(n) ? vc_error(n) : "the arguments of indirect are not as the runtime fills them");
        return 1;
    }
    size_t counts[] = { print("copy", k), print("round", r), print("indirect", n) }, most = 0;
    for (int i = 0; i < 3; i++) if (counts[i] > most) most = counts[i];
    printf("enum { VD__VK_BUILT_IN_WORDS = %u }; /* of the longest one */\n", (unsigned)most);
    vc_free(k);
    vc_free(r);
    vc_free(n);
    return 0;
}

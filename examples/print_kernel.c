/* Prints the output of the builder for a kernel: GLSL, the list of its operations, its arguments and its SPIR-V. Needs
   no GPU and no driver.
   cc -std=c99 -O1 -I. examples/print_kernel.c -o print_kernel
   Run: ./print_kernel [binding]. With the argument, the kernel accesses buffers through bindings instead of
   addresses. */
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch_codegen.h"

#include <stdio.h>
#include <string.h>

/* Counts how many steps the Collatz sequence of each number needs to reach 1. */
static void collatz(vc_kernel *k) {
    vc_ref numbers = vc_buffer(k, "numbers", VC_U32, VC_READ);
    vc_ref steps = vc_buffer(k, "steps", VC_U32, VC_WRITE);
    vc_val most = vc_param(k, "most", VC_U32);
    VC_EACH(k, i) {
        vc_ref n = vc_var(k, "n", VC_U32), count = vc_var(k, "count", VC_U32);
        vc_set(n, vc_load(numbers, i));
        VC_LOOP(k) {
            vc_break_if(k, vc_or(vc_le(vc_get(n), vc_u32(1)), vc_ge(vc_get(count), most)));
            vc_val half = vc_shr(vc_get(n), vc_u32(1)), up = vc_add(vc_mul(vc_get(n), vc_u32(3)), vc_u32(1));
            vc_set(n, vc_select(vc_eq(vc_and(vc_get(n), vc_u32(1)), vc_u32(0)), half, up));
            vc_set(count, vc_add(vc_get(count), vc_u32(1)));
        }
        vc_store(steps, i, vc_get(count));
    }
}

/* Prints the header of five words, then one instruction per line: its opcode and its operands. */
static void print_spirv(const uint32_t *words, size_t count) {
    printf("header ");
    for (size_t i = 0; i < 5; i++) printf(" %08x", (unsigned)words[i]);
    for (size_t at = 5; at < count; at += words[at] >> 16) {
        printf("\nop %-5u", (unsigned)(words[at] & 0xffff));
        for (size_t i = 1; i < words[at] >> 16; i++) printf(" %x", (unsigned)words[at + i]);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    static const char *const kinds[] = { "", "binding", "address, at byte", "value, at byte" };
    vc_kernel_desc desc = { .name = "collatz", .local_size = { 64 } };
    if (argc > 1 && strcmp(argv[1], "binding") != 0) {
        fprintf(stderr, "'%s': the only argument is binding\n", argv[1]);
        return 1;
    }
    if (argc > 1) desc.buffers = VC_BUFFERS_BINDING;
    vc_kernel *k = vc_begin(&desc);
    collatz(k);

    size_t count = 0;
    const uint32_t *words = vc_spirv(k, &count);
    const char *glsl = vc_source(k, VC_TARGET_GLSL), *dump = vc_dump(k);
    if (!words || !glsl) { fprintf(stderr, "%s\n", vc_error(k) ? vc_error(k) : "out of memory"); vc_free(k); return 1; }
    printf("---- GLSL\n%s\n---- operations\n%s\n---- arguments\n", glsl, dump);
    const vc_info *info = vc_reflect(k);
    for (int i = 0; i < info->arg_count; i++)
        printf("%-8s %-6s %s %u\n", info->args[i].name, vc_type_name(info->args[i].type), kinds[info->args[i].kind],
               (unsigned)info->args[i].location);
    printf("\n---- SPIR-V, %u words\n", (unsigned)count);
    print_spirv(words, count);
    vc_free(k);
    return 0;
}

/* Kernels for the tests of tools/vcc: every kind of argument, and unusual names. VC_KERNEL(comment) is not a kernel. */
#include "vkdispatch_codegen.h"

VC_KERNEL(affine, 64) {
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val mul = vc_param(k, "mul", VC_U32), add = vc_param(k, "add", VC_U32);
    VC_EACH(k, i) { vc_store(x, i, vc_add(vc_mul(vc_load(x, i), mul), add)); }
}

#define EDGE 8

/* Transposes a matrix of n x n with tiles in shared memory; n is a multiple of EDGE. */
VC_KERNEL(transpose, EDGE, EDGE) {
    vc_ref from = vc_buffer(k, "from", VC_F32, VC_READ), to = vc_buffer(k, "to", VC_F32, VC_WRITE);
    vc_ref tile = vc_shared(k, "tile", VC_F32, EDGE * (EDGE + 1));
    vc_val n = vc_shape(from, 0), x = vc_local_id(k, 0), y = vc_local_id(k, 1), edge = vc_u32(EDGE),
           row = vc_u32(EDGE + 1);
    vc_val left = vc_mul(vc_group_id(k, 0), edge), top = vc_mul(vc_group_id(k, 1), edge);
    vc_store(tile, vc_add(vc_mul(y, row), x), vc_load(from, vc_add(vc_mul(vc_add(top, y), n), vc_add(left, x))));
    vc_barrier(k);
    vc_store(to, vc_add(vc_mul(vc_add(left, y), n), vc_add(top, x)), vc_load(tile, vc_add(vc_mul(x, row), y)));
}

/* out = v.xyz + in, with vectors as values and as elements. */
VC_KERNEL(vectors) {
    vc_ref in = vc_buffer(k, "in", VC_F32X3, VC_READ | VC_MAY_ALIAS),
           out = vc_buffer(k, "out", VC_F32X3, VC_WRITE | VC_MAY_ALIAS);
    vc_val v = vc_param(k, "v", VC_F32X4);
    VC_EACH(k, i) { vc_store(out, i, vc_add(vc_load(in, i), vc_swizzle(v, "xyz"))); }
}

/* Requires f64. */
VC_KERNEL(halves) {
    vc_ref x = vc_buffer(k, "x", VC_F64, VC_READ_WRITE);
    VC_EACH(k, i) { vc_store(x, i, vc_mul(vc_load(x, i), vc_f64(0.5))); }
}

#if 0
VC_KERNEL(left_out) { (void)k; }
#endif

/* Adds the number of groups and the length of the buffer, and stores the sum in a buffer whose name is a reserved
   word. */
VC_KERNEL(names, 1) {
    vc_ref out = vc_buffer(k, "\"out\" \\ ?" "?/ \xc3\xbc\n */", VC_U32, VC_WRITE),
           other = vc_buffer(k, NULL, VC_U32, VC_READ);
    vc_val count = vc_param(k, "main", VC_U32), no = vc_param(k, "", VC_BOOL);
    vc_set(out, vc_add(vc_add(vc_groups(k, 0), vc_length(other)), vc_select(no, vc_u32(0), count)));
}

/* Has no arguments and does nothing. */
VC_KERNEL(nothing) { (void)k; }

/* Prints what it reads, with an operand of each size. */
VC_KERNEL(prints, 4) {
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    VC_EACH(k, i) {
        vc_printf(k, "\"x\"[%u] ?" "?/ is %u, \\ 100%%\n", i, vc_load(x, i));
        vc_assert(k, vc_lt(vc_load(x, i), vc_u32(3)), "x[i] < 3");
    }
}

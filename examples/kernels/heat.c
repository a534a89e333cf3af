/* The kernels of examples/ahead_of_time.c, for tools/vcc. */
#include "vkdispatch_codegen.h"

/* Sets the temperature to half a period of a sine, zero at both ends. */
VC_KERNEL(heat_start) {
    vc_ref rod = vc_buffer(k, "rod", VC_F32, VC_WRITE);
    vc_val step = vc_param(k, "step", VC_F32); /* radians between neighbouring points */
    VC_EACH(k, i) { vc_store(rod, i, vc_sin(vc_mul(vc_cast(VC_F32, i), step))); }
}

/* One step of the heat equation: each inner point moves towards the mean of its neighbours. The end points keep
   their values. */
VC_KERNEL(heat_step, 64) {
    vc_ref from = vc_buffer(k, "from", VC_F32, VC_READ);
    vc_ref to = vc_buffer(k, "to", VC_F32, VC_WRITE);
    vc_val rate = vc_param(k, "rate", VC_F32);
    VC_EACH(k, i) {
        vc_val inside = vc_and(vc_gt(i, vc_u32(0)), vc_lt(i, vc_sub(vc_length(from), vc_u32(1))));
        vc_val here = vc_load(from, i), left = vc_load_or(vc_offset(from, vc_i32(-1)), i, inside, here);
        vc_val right = vc_load_or(vc_offset(from, vc_i32(1)), i, inside, here);
        vc_val bend = vc_add(vc_sub(left, vc_mul(here, vc_f32(2))), right);
        vc_store(to, i, vc_select(inside, vc_fma(rate, bend, here), here));
    }
}

// narrow
#pragma OPENCL FP_CONTRACT OFF
#ifndef VC_F32_OF_F16
#define VC_F32_OF_F16
static float f32_of_f16(ushort h) { return vload_half(0, (const __private half *)&h); }
#endif
#ifndef VC_F16_OF_F32
#define VC_F16_OF_F32
static ushort f16_of_f32(float x) { ushort h; vstore_half_rte(x, 0, (__private half *)&h); return h; }
#endif
struct narrow_args {
    uchar bias;
    short limit;
    ushort gain;
    uint on;
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void narrow(__global const uchar *restrict a, __global short *restrict b, __global ushort *restrict c, const struct narrow_args args) {
    bool on = args.on != 0;
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        uchar v2 = (uchar)((uint)a[v1] + (uint)args.bias);
        short v3 = (short)((uint)b[v1] + (uint)((short)(v2 < args.bias ? (uchar)255 : v2)));
        b[v1] = v3 < args.limit ? v3 : args.limit;
        if (on) {
            float v4 = f32_of_f16(c[v1]) * f32_of_f16(args.gain);
            float v5 = f32_of_f16(f16_of_f32(v4)) + 0.099975586f;
            c[v1] = f16_of_f32(v5);
        }
    }
}

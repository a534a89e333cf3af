// picture: 8 x 8 x 1 threads per block
#ifndef VC_SIZE_2D
#define VC_SIZE_2D
static __device__ __inline__ uint2 vc_size_2D(unsigned long long t, int level) {
    uint2 n;
    asm("txq.level.width.b32 %0, [%1], %2;" : "=r"(n.x) : "l"(t), "r"(level));
    asm("txq.level.height.b32 %0, [%1], %2;" : "=r"(n.y) : "l"(t), "r"(level));
    return n;
}
#endif
#ifndef VC_FETCH_2D_f32
#define VC_FETCH_2D_f32
static __device__ __inline__ float4 vc_fetch_2D_f32(unsigned long long t, int x, int y, int level) {
    float4 v;
    asm("tex.level.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%6, %7}], %5;"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(t), "r"(level), "r"(x), "r"(y));
    return v;
}
#endif
#ifndef VC_OF_rgba16ui
#define VC_OF_rgba16ui
static __device__ __inline__ uint4 vc_of_rgba16ui(ushort4 v) { return make_uint4(v.x, v.y, v.z, v.w); }
#endif
#ifndef VC_TO_rgba8
#define VC_TO_rgba8
static __device__ __inline__ uchar4 vc_to_rgba8(float4 v) { return make_uchar4((unsigned char)rintf(fminf(fmaxf(v.x, 0.0f), 1.0f) * 255.0f), (unsigned char)rintf(fminf(fmaxf(v.y, 0.0f), 1.0f) * 255.0f), (unsigned char)rintf(fminf(fmaxf(v.z, 0.0f), 1.0f) * 255.0f), (unsigned char)rintf(fminf(fmaxf(v.w, 0.0f), 1.0f) * 255.0f)); }
#endif
struct picture_args {
    const float *gain;
    unsigned long long my_in;
    unsigned long long colours;
    unsigned long long layers;
    unsigned long long my_out;
    unsigned int threads_x;
    unsigned int threads_y;
    unsigned int group_base_x;
    unsigned int group_base_y;
};

extern "C" __global__ void __launch_bounds__(64) picture(const struct picture_args args) {
    const float *__restrict__ gain = args.gain;
    unsigned int v1 = (blockIdx.x * 8u + threadIdx.x) + args.group_base_x * 8u;
    unsigned int v2 = (blockIdx.y * 8u + threadIdx.y) + args.group_base_y * 8u;
    if (v1 < args.threads_x && v2 < args.threads_y) {
        uint2 v3 = make_uint2(v1, v2);
        float v4 = (float)v1 + 0.5f;
        float v5 = (float)v2 + 0.5f;
        uint2 v6 = vc_size_2D(args.my_in, (int)0);
        float4 v7 = tex2D<float4>(args.my_in, __fdiv_rn(v4, (float)v6.x), __fdiv_rn(v5, (float)v6.y));
        float v8 = v7.x;
        float v9 = __fmul_rn(v8, 255.0f);
        float4 v10 = tex1Dfetch<float4>(args.colours, (int)(2.1474836e+09f <= v9 ? 2147483647 : (int)((__float_as_uint(v9) & 2147483647u) <= 2139095040u ? fminf(fmaxf(v9, -2.1474836e+09f), 2.1474835e+09f) : 0.0f)));
        float4 v11 = vc_fetch_2D_f32(args.my_in, (int)v3.x, (int)v3.y, (int)0);
        float v12 = __ldg(&gain[v1]);
        uint4 v13 = vc_of_rgba16ui(surf2DLayeredread<ushort4>(args.layers, 8 * (int)v1, (int)v2, (int)1u, cudaBoundaryModeZero));
        float v14 = __fmul_rn(v10.x + __fmul_rn(v8 + v11.x, v12), 0.75f) + __fmul_rn((float)v13.x, 0.25f);
        float v15 = __fmul_rn(v10.y + __fmul_rn(v7.y + v11.y, v12), 0.75f) + __fmul_rn((float)v13.y, 0.25f);
        float v16 = __fmul_rn(v10.z + __fmul_rn(v7.z + v11.z, v12), 0.75f) + __fmul_rn((float)v13.z, 0.25f);
        float v17 = __fmul_rn(v10.w + __fmul_rn(v7.w + v11.w, v12), 0.75f) + __fmul_rn((float)v13.w, 0.25f);
        surf2Dwrite(vc_to_rgba8(make_float4(v14, v15, v16, v17)), args.my_out, 4 * (int)v3.x, (int)v3.y, cudaBoundaryModeZero);
    }
}

// bits: 128 x 1 x 1 threads a block
#ifndef VC_F32_OF_F16
#define VC_F32_OF_F16
static __device__ __inline__ float f32_of_f16(unsigned short h) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}
#endif
#ifndef VC_F16_OF_F32
#define VC_F16_OF_F32
static __device__ __inline__ unsigned short f16_of_f32(float x) {
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}
#endif
struct bits_args {
    uint4 *my_out;
    unsigned int *halves;
    unsigned long long wide;
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) bits(const struct bits_args args) {
    uint4 *__restrict__ my_out = args.my_out;
    unsigned int *__restrict__ halves = args.halves;
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        unsigned int *v2 = halves + v1;
        unsigned int v3 = v2[0];
        float v4 = f32_of_f16((unsigned short)((unsigned short)v3)) + 0.5f;
        float v5 = f32_of_f16((unsigned short)((unsigned short)(v3 >> 16u))) + 0.5f;
        uint4 *v6 = my_out + v1;
        uint4 v7 = v6[0];
        unsigned int v8 = v7.y;
        v2[0] = (unsigned int)((unsigned short)f16_of_f32(v4)) | ((unsigned int)((unsigned short)f16_of_f32(v5)) << 16u);
        unsigned int v9 = (unsigned int)__popc((int)v7.x) + __brev(v8);
        unsigned int v10 = __umulhi(v9, v8) + (unsigned int)((__ffs((int)v8) - 1));
        unsigned long long v11 = args.wide ^ (unsigned long long)v10;
        unsigned int v12 = (unsigned int)(v11 >> 32ull);
        unsigned int v13 = v9 ^ (unsigned int)((long long)(v12 != 0u ? (int)((unsigned int)((31 - __clz((int)v12))) + 32u) : (31 - __clz((int)((unsigned int)v11)))));
        unsigned int v14 = __umulhi(v13, 3528531795u) ^ 2u;
        unsigned int v15 = __umulhi(v14, 3449720151u) ^ (v1 * 3449720151u) ^ 2654435770u;
        unsigned int v16 = __umulhi(v1, 3449720151u) ^ v10 ^ 1u;
        unsigned int v17 = __umulhi(v15, 3528531795u) ^ (v16 * 3528531795u) ^ 1993301260u;
        unsigned int v18 = __umulhi(v16, 3528531795u) ^ (v13 * 3528531795u) ^ 3144134279u;
        unsigned int v19 = __umulhi(v17, 3449720151u) ^ (v18 * 3449720151u) ^ 3668340012u;
        unsigned int v20 = __umulhi(v18, 3449720151u) ^ (v14 * 3449720151u) ^ 1013904243u;
        unsigned int v21 = __umulhi(v19, 3528531795u) ^ (v20 * 3528531795u) ^ 3986602518u;
        unsigned int v22 = __umulhi(v20, 3528531795u) ^ (v15 * 3528531795u) ^ 842468241u;
        unsigned int v23 = __umulhi(v21, 3449720151u) ^ (v22 * 3449720151u) ^ 387276958u;
        unsigned int v24 = __umulhi(v22, 3449720151u) ^ (v17 * 3449720151u) ^ 2027808485u;
        unsigned int v25 = __umulhi(v23, 3528531795u) ^ (v24 * 3528531795u) ^ 1684936480u;
        unsigned int v26 = __umulhi(v24, 3528531795u) ^ (v19 * 3528531795u) ^ 2835769499u;
        unsigned int v27 = __umulhi(v25, 3449720151u) ^ (v26 * 3449720151u) ^ 1401181200u;
        unsigned int v28 = __umulhi(v26, 3449720151u) ^ (v21 * 3449720151u) ^ 3041712727u;
        unsigned int v29 = __umulhi(v27, 3528531795u) ^ (v28 * 3528531795u) ^ 3678237738u;
        unsigned int v30 = __umulhi(v28, 3528531795u) ^ (v23 * 3528531795u) ^ 534103461u;
        unsigned int v31 = __umulhi(v30, 3449720151u) ^ (v25 * 3449720151u) ^ 4055616969u;
        uint4 v32 = make_uint4(__umulhi(v29, 3449720151u) ^ (v30 * 3449720151u) ^ 2415085442u, v29 * 3449720151u, __umulhi(v31, 3528531795u) ^ (v27 * 3528531795u) ^ 2527404719u, v31 * 3528531795u);
        v6[0] = v32;
    }
}

// bits: 128 x 1 x 1 threads per block
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
        unsigned long long v13 = (unsigned long long)(v9 ^ (unsigned int)((long long)(v12 != 0u ? (int)((unsigned int)((31 - __clz((int)v12))) + 32u) : (31 - __clz((int)((unsigned int)v11))))));
        unsigned long long v14 = v13 * 3528531795ull;
        unsigned long long v15 = (unsigned long long)((unsigned int)(v14 >> 32ull) ^ 2u) * 3449720151ull;
        unsigned long long v16 = (unsigned long long)v1 * 3449720151ull;
        unsigned long long v17 = (unsigned long long)((unsigned int)(v15 >> 32ull) ^ (unsigned int)v16 ^ 2654435770u) * 3528531795ull;
        unsigned long long v18 = (unsigned long long)((unsigned int)(v16 >> 32ull) ^ v10 ^ 1u) * 3528531795ull;
        unsigned long long v19 = (unsigned long long)((unsigned int)(v17 >> 32ull) ^ (unsigned int)v18 ^ 1993301260u) * 3449720151ull;
        unsigned long long v20 = (unsigned long long)((unsigned int)(v18 >> 32ull) ^ (unsigned int)v14 ^ 3144134279u) * 3449720151ull;
        unsigned long long v21 = (unsigned long long)((unsigned int)(v19 >> 32ull) ^ (unsigned int)v20 ^ 3668340012u) * 3528531795ull;
        unsigned long long v22 = (unsigned long long)((unsigned int)(v20 >> 32ull) ^ (unsigned int)v15 ^ 1013904243u) * 3528531795ull;
        unsigned long long v23 = (unsigned long long)((unsigned int)(v21 >> 32ull) ^ (unsigned int)v22 ^ 3986602518u) * 3449720151ull;
        unsigned long long v24 = (unsigned long long)((unsigned int)(v22 >> 32ull) ^ (unsigned int)v17 ^ 842468241u) * 3449720151ull;
        unsigned long long v25 = (unsigned long long)((unsigned int)(v23 >> 32ull) ^ (unsigned int)v24 ^ 387276958u) * 3528531795ull;
        unsigned long long v26 = (unsigned long long)((unsigned int)(v24 >> 32ull) ^ (unsigned int)v19 ^ 2027808485u) * 3528531795ull;
        unsigned long long v27 = (unsigned long long)((unsigned int)(v25 >> 32ull) ^ (unsigned int)v26 ^ 1684936480u) * 3449720151ull;
        unsigned long long v28 = (unsigned long long)((unsigned int)(v26 >> 32ull) ^ (unsigned int)v21 ^ 2835769499u) * 3449720151ull;
        unsigned long long v29 = (unsigned long long)((unsigned int)(v27 >> 32ull) ^ (unsigned int)v28 ^ 1401181200u) * 3528531795ull;
        unsigned long long v30 = (unsigned long long)((unsigned int)(v28 >> 32ull) ^ (unsigned int)v23 ^ 3041712727u) * 3528531795ull;
        unsigned long long v31 = (unsigned long long)((unsigned int)(v29 >> 32ull) ^ (unsigned int)v30 ^ 3678237738u) * 3449720151ull;
        unsigned long long v32 = (unsigned long long)((unsigned int)(v30 >> 32ull) ^ (unsigned int)v25 ^ 534103461u) * 3449720151ull;
        unsigned long long v33 = (unsigned long long)((unsigned int)(v32 >> 32ull) ^ (unsigned int)v27 ^ 4055616969u) * 3528531795ull;
        uint4 v34 = make_uint4((unsigned int)(v31 >> 32ull) ^ (unsigned int)v32 ^ 2415085442u, (unsigned int)v31, (unsigned int)(v33 >> 32ull) ^ (unsigned int)v29 ^ 2527404719u, (unsigned int)v33);
        v6[0] = v34;
    }
}

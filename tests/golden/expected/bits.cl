// bits
#pragma OPENCL FP_CONTRACT OFF
#ifndef VC_F32_OF_F16
#define VC_F32_OF_F16
static float f32_of_f16(ushort h) { return vload_half(0, (const __private half *)&h); }
#endif
#ifndef VC_F16_OF_F32
#define VC_F16_OF_F32
static ushort f16_of_f32(float x) { ushort h; vstore_half_rte(x, 0, (__private half *)&h); return h; }
#endif
struct bits_args {
    ulong wide;
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void bits(__global uint4 *restrict my_out, __global uint *restrict halves, const struct bits_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        uint v2 = halves[v1];
        float v3 = f32_of_f16((ushort)((ushort)v2)) + 0.5f;
        float v4 = f32_of_f16((ushort)((ushort)(v2 >> 16u))) + 0.5f;
        uint4 v5 = my_out[v1];
        uint v6 = v5.y;
        halves[v1] = (uint)((ushort)f16_of_f32(v3)) | ((uint)((ushort)f16_of_f32(v4)) << 16u);
        uint v7 = ((v6 & 1431655765u) << 1u) | ((v6 >> 1u) & 1431655765u);
        uint v8 = ((v7 & 858993459u) << 2u) | ((v7 >> 2u) & 858993459u);
        uint v9 = ((v8 & 252645135u) << 4u) | ((v8 >> 4u) & 252645135u);
        uint v10 = ((v9 & 16711935u) << 8u) | ((v9 >> 8u) & 16711935u);
        uint v11 = (uint)popcount((int)v5.x) + (((v10 & 65535u) << 16u) | ((v10 >> 16u) & 65535u));
        uint v12 = mul_hi(v11, v6) + (uint)((31 - (int)clz(v6 & -v6)));
        ulong v13 = args.wide ^ (ulong)v12;
        uint v14 = (uint)(v13 >> 32ul);
        uint v15 = v11 ^ (uint)((long)(v14 != 0u ? (int)((uint)((31 - (int)clz(v14))) + 32u) : (31 - (int)clz((uint)v13))));
        uint v16 = mul_hi(v15, 3528531795u) ^ 2u;
        uint v17 = mul_hi(v16, 3449720151u) ^ (v1 * 3449720151u) ^ 2654435770u;
        uint v18 = mul_hi(v1, 3449720151u) ^ v12 ^ 1u;
        uint v19 = mul_hi(v17, 3528531795u) ^ (v18 * 3528531795u) ^ 1993301260u;
        uint v20 = mul_hi(v18, 3528531795u) ^ (v15 * 3528531795u) ^ 3144134279u;
        uint v21 = mul_hi(v19, 3449720151u) ^ (v20 * 3449720151u) ^ 3668340012u;
        uint v22 = mul_hi(v20, 3449720151u) ^ (v16 * 3449720151u) ^ 1013904243u;
        uint v23 = mul_hi(v21, 3528531795u) ^ (v22 * 3528531795u) ^ 3986602518u;
        uint v24 = mul_hi(v22, 3528531795u) ^ (v17 * 3528531795u) ^ 842468241u;
        uint v25 = mul_hi(v23, 3449720151u) ^ (v24 * 3449720151u) ^ 387276958u;
        uint v26 = mul_hi(v24, 3449720151u) ^ (v19 * 3449720151u) ^ 2027808485u;
        uint v27 = mul_hi(v25, 3528531795u) ^ (v26 * 3528531795u) ^ 1684936480u;
        uint v28 = mul_hi(v26, 3528531795u) ^ (v21 * 3528531795u) ^ 2835769499u;
        uint v29 = mul_hi(v27, 3449720151u) ^ (v28 * 3449720151u) ^ 1401181200u;
        uint v30 = mul_hi(v28, 3449720151u) ^ (v23 * 3449720151u) ^ 3041712727u;
        uint v31 = mul_hi(v29, 3528531795u) ^ (v30 * 3528531795u) ^ 3678237738u;
        uint v32 = mul_hi(v30, 3528531795u) ^ (v25 * 3528531795u) ^ 534103461u;
        uint v33 = mul_hi(v32, 3449720151u) ^ (v27 * 3449720151u) ^ 4055616969u;
        uint4 v34 = (uint4)(mul_hi(v31, 3449720151u) ^ (v32 * 3449720151u) ^ 2415085442u, v31 * 3449720151u, mul_hi(v33, 3528531795u) ^ (v29 * 3528531795u) ^ 2527404719u, v33 * 3528531795u);
        my_out[v1] = v34;
    }
}

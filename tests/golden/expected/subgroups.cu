// subgroups: 128 x 1 x 1 threads a block
struct subgroups_args {
    const float *my_in;
    float *my_out;
    unsigned int *ids;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) subgroups(const struct subgroups_args args) {
    __shared__ float part[128];
    const float *__restrict__ my_in = args.my_in;
    float *__restrict__ my_out = args.my_out;
    unsigned int *__restrict__ ids = args.ids;
    unsigned int local_index = threadIdx.x;
    unsigned int v1 = local_index & 31u;
    unsigned int v2 = local_index >> 5u;
    unsigned int v3 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    float v4 = __ldg(&my_in[v3]);
    float v5 = __shfl_up_sync(4294967295u, v4, 1u);
    float v6 = v5 + v4;
    bool v7 = 1u <= v1;
    float v8 = v7 ? v6 : v4;
    float v9 = __shfl_up_sync(4294967295u, v8, 2u);
    float v10 = v9 + v8;
    bool v11 = 2u <= v1;
    float v12 = v11 ? v10 : v8;
    float v13 = __shfl_up_sync(4294967295u, v12, 4u);
    float v14 = v13 + v12;
    bool v15 = 4u <= v1;
    float v16 = v15 ? v14 : v12;
    float v17 = __shfl_up_sync(4294967295u, v16, 8u);
    float v18 = v17 + v16;
    bool v19 = 8u <= v1;
    float v20 = v19 ? v18 : v16;
    float v21 = __shfl_up_sync(4294967295u, v20, 16u);
    float v22 = v21 + v20;
    bool v23 = 16u <= v1;
    float v24 = __shfl_sync(4294967295u, v23 ? v22 : v20, 31u);
    float v25 = __shfl_up_sync(4294967295u, v4, 1u);
    float v26 = v25 + v4;
    float v27 = v7 ? v26 : v4;
    float v28 = __shfl_up_sync(4294967295u, v27, 2u);
    float v29 = v28 + v27;
    float v30 = v11 ? v29 : v27;
    float v31 = __shfl_up_sync(4294967295u, v30, 4u);
    float v32 = v31 + v30;
    float v33 = v15 ? v32 : v30;
    float v34 = __shfl_up_sync(4294967295u, v33, 8u);
    float v35 = v34 + v33;
    float v36 = v19 ? v35 : v33;
    float v37 = __shfl_up_sync(4294967295u, v36, 16u);
    float v38 = v37 + v36;
    float v39 = __shfl_up_sync(4294967295u, v23 ? v38 : v36, 1u);
    float v40 = v7 ? v39 : 0.0f;
    bool v41 = 0.0f < v4;
    float v42 = __shfl_down_sync(4294967295u, v4, 1u);
    unsigned int v43 = v1 & 4294967292u;
    unsigned int v44 = __ballot_sync(4294967295u, true);
    float v45 = __shfl_sync(4294967295u, v4, v43);
    float v46 = ((v44 >> (v43 & 31u)) & 1u) != 0u ? fmaxf(__uint_as_float(0xff800000u), v45) : __uint_as_float(0xff800000u);
    unsigned int v47 = v43 | 1u;
    float v48 = __shfl_sync(4294967295u, v4, v47);
    float v49 = ((v44 >> (v47 & 31u)) & 1u) != 0u ? fmaxf(v46, v48) : v46;
    unsigned int v50 = v43 | 2u;
    float v51 = __shfl_sync(4294967295u, v4, v50);
    float v52 = ((v44 >> (v50 & 31u)) & 1u) != 0u ? fmaxf(v49, v51) : v49;
    unsigned int v53 = v43 | 3u;
    float v54 = __shfl_sync(4294967295u, v4, v53);
    float v55 = ((v44 >> (v53 & 31u)) & 1u) != 0u ? fmaxf(v52, v54) : v52;
    unsigned int v56 = __shfl_xor_sync(4294967295u, v41 ? 1u : 0u, 1u);
    unsigned int v57 = __ballot_sync(4294967295u, v41);
    if (v1 == 0u) {
        part[v2] = v24;
    }
    __syncthreads();
    for (unsigned int i1 = 0u; i1 < v2; i1++) {
        float v58 = __shfl_sync(4294967295u, part[i1], 0u);
        float v59 = v58 + v40;
        my_out[v3] = v59;
    }
    bool v60 = __any_sync(4294967295u, !v41);
    if (v60) {
        float v61 = __fmul_rn(v42, v55);
        my_out[v3] = v61;
    }
    unsigned int v62 = __shfl_sync(4294967295u, v56, 0u);
    bool v63 = __all_sync(4294967295u, v56 == v62);
    if (v63) {
        float v64 = __shfl_sync(4294967295u, v4, 2u);
        my_out[v3] = v64;
    }
    unsigned int v65 = (unsigned int)__popc((int)(v57 & ((1u << (v1 & 31u)) - 1u))) + (unsigned int)__popc((int)v57) * v1;
    ids[v3] = v65 + 32u;
    unsigned int v66 = __shfl_sync(4294967295u, v1, v56);
    unsigned int v67 = __shfl_up_sync(4294967295u, v66, 1u);
    unsigned int v68 = v7 ? v67 ^ v66 : v66;
    unsigned int v69 = __shfl_up_sync(4294967295u, v68, 2u);
    unsigned int v70 = v11 ? v69 ^ v68 : v68;
    unsigned int v71 = __shfl_up_sync(4294967295u, v70, 4u);
    unsigned int v72 = v15 ? v71 ^ v70 : v70;
    unsigned int v73 = __shfl_up_sync(4294967295u, v72, 8u);
    unsigned int v74 = v19 ? v73 ^ v72 : v72;
    unsigned int v75 = __shfl_up_sync(4294967295u, v74, 16u);
    ids[v3 + 4u] = v23 ? v75 ^ v74 : v74;
}

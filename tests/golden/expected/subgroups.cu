// subgroups: 128 x 1 x 1 threads per block
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
    float v5 = __shfl_xor_sync(4294967295u, v4, 16u);
    float v6 = v4 + v5;
    float v7 = __shfl_xor_sync(4294967295u, v6, 8u);
    float v8 = v6 + v7;
    float v9 = __shfl_xor_sync(4294967295u, v8, 4u);
    float v10 = v8 + v9;
    float v11 = __shfl_xor_sync(4294967295u, v10, 2u);
    float v12 = v10 + v11;
    float v13 = __shfl_xor_sync(4294967295u, v12, 1u);
    float v14 = v12 + v13;
    float v15 = __shfl_up_sync(4294967295u, v4, 1u);
    float v16 = v15 + v4;
    bool v17 = 1u <= v1;
    float v18 = v17 ? v16 : v4;
    float v19 = __shfl_up_sync(4294967295u, v18, 2u);
    float v20 = v19 + v18;
    bool v21 = 2u <= v1;
    float v22 = v21 ? v20 : v18;
    float v23 = __shfl_up_sync(4294967295u, v22, 4u);
    float v24 = v23 + v22;
    bool v25 = 4u <= v1;
    float v26 = v25 ? v24 : v22;
    float v27 = __shfl_up_sync(4294967295u, v26, 8u);
    float v28 = v27 + v26;
    bool v29 = 8u <= v1;
    float v30 = v29 ? v28 : v26;
    float v31 = __shfl_up_sync(4294967295u, v30, 16u);
    float v32 = v31 + v30;
    bool v33 = 16u <= v1;
    float v34 = __shfl_up_sync(4294967295u, v33 ? v32 : v30, 1u);
    float v35 = v17 ? v34 : 0.0f;
    bool v36 = 0.0f < v4;
    float v37 = __shfl_down_sync(4294967295u, v4, 1u);
    float v38 = __shfl_xor_sync(4294967295u, v4, 2u);
    float v39 = fmaxf(v4, v38);
    float v40 = __shfl_xor_sync(4294967295u, v39, 1u);
    float v41 = fmaxf(v39, v40);
    unsigned int v42 = __shfl_xor_sync(4294967295u, v36 ? 1u : 0u, 1u);
    unsigned int v43 = __ballot_sync(4294967295u, v36);
    if (v1 == 0u) {
        part[v2] = v14;
    }
    __syncthreads();
    for (unsigned int i1 = 0u; i1 < v2; i1++) {
        float v44 = __shfl_sync(4294967295u, part[i1], 0u);
        float v45 = v44 + v35;
        my_out[v3] = v45;
    }
    bool v46 = __any_sync(4294967295u, !v36);
    if (v46) {
        float v47 = __fmul_rn(v37, v41);
        my_out[v3] = v47;
    }
    unsigned int v48 = __shfl_sync(4294967295u, v42, 0u);
    bool v49 = __all_sync(4294967295u, v42 == v48);
    if (v49) {
        float v50 = __shfl_sync(4294967295u, v4, 2u);
        my_out[v3] = v50;
    }
    unsigned int v51 = (unsigned int)__popc((int)(v43 & ((1u << (v1 & 31u)) - 1u))) + (unsigned int)__popc((int)v43) * v1;
    ids[v3] = v51 + 32u;
    unsigned int v52 = __shfl_sync(4294967295u, v1, v42);
    unsigned int v53 = __shfl_up_sync(4294967295u, v52, 1u);
    unsigned int v54 = v17 ? v53 ^ v52 : v52;
    unsigned int v55 = __shfl_up_sync(4294967295u, v54, 2u);
    unsigned int v56 = v21 ? v55 ^ v54 : v54;
    unsigned int v57 = __shfl_up_sync(4294967295u, v56, 4u);
    unsigned int v58 = v25 ? v57 ^ v56 : v56;
    unsigned int v59 = __shfl_up_sync(4294967295u, v58, 8u);
    unsigned int v60 = v29 ? v59 ^ v58 : v58;
    unsigned int v61 = __shfl_up_sync(4294967295u, v60, 16u);
    ids[v3 + 4u] = v33 ? v61 ^ v60 : v60;
}

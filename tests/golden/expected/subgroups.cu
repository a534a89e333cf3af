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
    unsigned int v45 = v43 >> 5u;
    bool v46 = (((v45 == 3u ? 0u : (v45 == 2u ? 0u : (v45 == 1u ? 0u : v44))) >> (v43 & 31u)) & 1u) != 0u;
    float v47 = __shfl_sync(4294967295u, v4, v43);
    float v48 = v46 ? fmaxf(__uint_as_float(0xff800000u), v47) : __uint_as_float(0xff800000u);
    unsigned int v49 = v43 | 1u;
    unsigned int v50 = v49 >> 5u;
    bool v51 = (((v50 == 3u ? 0u : (v50 == 2u ? 0u : (v50 == 1u ? 0u : v44))) >> (v49 & 31u)) & 1u) != 0u;
    float v52 = __shfl_sync(4294967295u, v4, v49);
    float v53 = v51 ? fmaxf(v48, v52) : v48;
    unsigned int v54 = v43 | 2u;
    unsigned int v55 = v54 >> 5u;
    bool v56 = (((v55 == 3u ? 0u : (v55 == 2u ? 0u : (v55 == 1u ? 0u : v44))) >> (v54 & 31u)) & 1u) != 0u;
    float v57 = __shfl_sync(4294967295u, v4, v54);
    float v58 = v56 ? fmaxf(v53, v57) : v53;
    unsigned int v59 = v43 | 3u;
    unsigned int v60 = v59 >> 5u;
    bool v61 = (((v60 == 3u ? 0u : (v60 == 2u ? 0u : (v60 == 1u ? 0u : v44))) >> (v59 & 31u)) & 1u) != 0u;
    float v62 = __shfl_sync(4294967295u, v4, v59);
    float v63 = v61 ? fmaxf(v58, v62) : v58;
    unsigned int v64 = __shfl_xor_sync(4294967295u, v41 ? 1u : 0u, 1u);
    unsigned int v65 = __ballot_sync(4294967295u, v41);
    if (v1 == 0u) {
        part[v2] = v24;
    }
    __syncthreads();
    for (unsigned int i1 = 0u; i1 < v2; i1++) {
        float v66 = __shfl_sync(4294967295u, part[i1], 0u);
        float v67 = v66 + v40;
        my_out[v3] = v67;
    }
    bool v68 = __any_sync(4294967295u, !v41);
    if (v68) {
        float v69 = __fmul_rn(v42, v63);
        my_out[v3] = v69;
    }
    unsigned int v70 = __shfl_sync(4294967295u, v64, 0u);
    bool v71 = __all_sync(4294967295u, v64 == v70);
    if (v71) {
        float v72 = __shfl_sync(4294967295u, v4, 2u);
        my_out[v3] = v72;
    }
    unsigned int v73 = (unsigned int)__popc((int)(v65 & ((1u << (v1 & 31u)) - 1u))) + (unsigned int)__popc((int)v65) * v1;
    ids[v3] = v73 + 32u;
    unsigned int v74 = __shfl_sync(4294967295u, v1, v64);
    unsigned int v75 = __shfl_up_sync(4294967295u, v74, 1u);
    unsigned int v76 = v7 ? v75 ^ v74 : v74;
    unsigned int v77 = __shfl_up_sync(4294967295u, v76, 2u);
    unsigned int v78 = v11 ? v77 ^ v76 : v76;
    unsigned int v79 = __shfl_up_sync(4294967295u, v78, 4u);
    unsigned int v80 = v15 ? v79 ^ v78 : v78;
    unsigned int v81 = __shfl_up_sync(4294967295u, v80, 8u);
    unsigned int v82 = v19 ? v81 ^ v80 : v80;
    unsigned int v83 = __shfl_up_sync(4294967295u, v82, 16u);
    ids[v3 + 4u] = v23 ? v83 ^ v82 : v82;
}

// atomics
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
struct kernel_atomics_args {
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void kernel_atomics(__global const float *restrict my_in, __global uint *restrict count, __global float *restrict sum, __global uint *restrict range, __global long *restrict total, __global uint *restrict flag, const struct kernel_atomics_args args) {
    __local uint tile[64];
    uint local_index = (uint)(get_local_id(0) + 64 * (get_local_id(1) + 1 * get_local_id(2)));
    float v1 = my_in[(uint)get_global_id(0) + args.group_base_x * 64u];
    uint v2 = (4.2949673e+09f <= v1 ? 4294967295u : (uint)fmin(fmax(v1, 0.0f), 4.294967e+09f)) & 63u;
    tile[local_index] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    uint v3 = atomic_add((volatile __local uint *)&tile[v2], 1u);
    atom_add((volatile __global long *)&total[0], -1l);
    uint v4 = *(volatile __global uint *)&sum[v2];
    for (uint v5; (v5 = atomic_cmpxchg((volatile __global uint *)&sum[v2], v4, as_uint(as_float(v4) + v1))) != v4; v4 = v5) { }
    uint v6 = *(volatile __global uint *)&range[0];
    for (uint v7; (v7 = atomic_cmpxchg((volatile __global uint *)&range[0], v6, as_uint(v1 < as_float(v6) || isnan(as_float(v6)) ? v1 : as_float(v6)))) != v6; v6 = v7) { }
    float v8 = v1 * 2.0f;
    uint v9 = *(volatile __global uint *)&range[1];
    for (uint v10; (v10 = atomic_cmpxchg((volatile __global uint *)&range[1], v9, as_uint(as_float(v9) < v8 || isnan(as_float(v9)) ? v8 : as_float(v9)))) != v9; v9 = v10) { }
    float v11 = as_float(v9);
    atomic_xchg((volatile __global uint *)&range[local_index + 2u], as_uint(v11));
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    atomic_add((volatile __global uint *)&count[local_index], tile[local_index]);
    uint v12 = atomic_cmpxchg((volatile __global uint *)&flag[0], v3, v3 + 1u);
    if (v12 == 7u) {
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        write_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        *(volatile __global uint *)&flag[1] = v12;
    }
    uint v13 = *(volatile __global uint *)&flag[2];
    read_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    atomic_xor((volatile __global uint *)&flag[3], v13);
}

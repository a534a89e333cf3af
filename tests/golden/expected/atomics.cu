// atomics: 64 x 1 x 1 threads per block
struct kernel_atomics_args {
    const float *my_in;
    unsigned int *count;
    float *sum;
    unsigned int *range;
    long long *total;
    unsigned int *flag;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(64) kernel_atomics(const struct kernel_atomics_args args) {
    __shared__ unsigned int tile[64];
    const float *__restrict__ my_in = args.my_in;
    unsigned int *__restrict__ count = args.count;
    float *__restrict__ sum = args.sum;
    unsigned int *__restrict__ range = args.range;
    long long *__restrict__ total = args.total;
    unsigned int *__restrict__ flag = args.flag;
    unsigned int local_index = threadIdx.x;
    float v1 = __ldg(&my_in[(blockIdx.x * 64u + threadIdx.x) + args.group_base_x * 64u]);
    unsigned int v2 = (4.2949673e+09f <= v1 ? 4294967295u : (unsigned int)fminf(fmaxf(v1, 0.0f), 4.294967e+09f)) & 63u;
    tile[local_index] = 0u;
    __syncthreads();
    unsigned int v3 = atomicAdd((unsigned int *)&tile[v2], 1u);
    atomicAdd((unsigned long long *)&total[0], -1ll);
    atomicAdd((float *)&sum[v2], v1);
    unsigned int v4 = *(volatile unsigned int *)&range[0];
    for (unsigned int v5; (v5 = atomicCAS((unsigned int *)&range[0], v4, __float_as_uint(v1 < __uint_as_float(v4) || isnan(__uint_as_float(v4)) ? v1 : __uint_as_float(v4)))) != v4; v4 = v5) { }
    float v6 = __fmul_rn(v1, 2.0f);
    unsigned int v7 = *(volatile unsigned int *)&range[1];
    for (unsigned int v8; (v8 = atomicCAS((unsigned int *)&range[1], v7, __float_as_uint(__uint_as_float(v7) < v6 || isnan(__uint_as_float(v7)) ? v6 : __uint_as_float(v7)))) != v7; v7 = v8) { }
    float v9 = __uint_as_float(v7);
    atomicExch((unsigned int *)&range[local_index + 2u], __float_as_uint(v9));
    __syncthreads();
    atomicAdd((unsigned int *)&count[local_index], tile[local_index]);
    unsigned int v10 = atomicCAS((unsigned int *)&flag[0], v3, v3 + 1u);
    if (v10 == 7u) {
        __threadfence();
        __threadfence();
        *(volatile unsigned int *)&flag[1] = v10;
    }
    unsigned int v11 = *(volatile unsigned int *)&flag[2];
    __threadfence_block();
    atomicXor((unsigned int *)&flag[3], v11);
}

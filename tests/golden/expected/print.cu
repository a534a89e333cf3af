// print: 32 x 1 x 1 threads per block
struct print_args {
    float *x;
    unsigned int *my_output;
    unsigned int threads_x;
    unsigned int group_base_x;
    unsigned int group_base_y;
    unsigned int group_base_z;
    unsigned int output_length;
    unsigned int first_format;
};

extern "C" __global__ void __launch_bounds__(32) print(const struct print_args args) {
    float *__restrict__ x = args.x;
    unsigned int *__restrict__ my_output = args.my_output;
    unsigned int global_y = (blockIdx.y * 1u + threadIdx.y);
    unsigned int global_z = (blockIdx.z * 1u + threadIdx.z);
    unsigned int v1 = (blockIdx.x * 32u + threadIdx.x) + args.group_base_x * 32u;
    if (v1 < args.threads_x) {
        bool lost = false;
        float *v2 = x + v1;
        float v3 = v2[0];
        unsigned int v4 = __float_as_uint(v3);
        unsigned int v5 = (unsigned int)((int)((short)((int)((v4 & 2147483647u) <= 2139095040u ? fminf(fmaxf(v3, -32768.0f), 32767.0f) : 0.0f))));
        lost = true;
        unsigned int v6 = *(volatile unsigned int *)&my_output[0];
        if (v6 < args.output_length) {
            unsigned int v7 = atomicAdd((unsigned int *)&my_output[0], 8u);
            unsigned int v8 = v7 + 8u;
            if (v8 + 8u <= args.output_length) {
                unsigned int *v9 = my_output + v8;
                v9[0] = args.first_format;
                v9[1] = v1;
                v9[2] = global_y + args.group_base_y;
                v9[3] = global_z + args.group_base_z;
                v9[4] = v1;
                v9[5] = v4;
                v9[6] = 1065353216u;
                v9[7] = v5;
                lost = false;
            } else {
                if (v8 < args.output_length) {
                    my_output[v8] = 0u;
                }
            }
        }
        if (lost) {
            atomicAdd((unsigned int *)&my_output[1], 1u);
            atomicMax((unsigned int *)&my_output[2], args.first_format);
            atomicMax((unsigned int *)&my_output[3], ~args.first_format);
        }
        if (!(0.0f <= v3)) {
            unsigned int v10 = args.first_format + 1u;
            atomicAdd((unsigned int *)&my_output[4], 1u);
            atomicMax((unsigned int *)&my_output[5], v10);
            bool lost_2 = false;
            lost_2 = true;
            unsigned int v11 = *(volatile unsigned int *)&my_output[0];
            if (v11 < args.output_length) {
                unsigned int v12 = atomicAdd((unsigned int *)&my_output[0], 4u);
                unsigned int v13 = v12 + 8u;
                if (v13 + 4u <= args.output_length) {
                    unsigned int *v14 = my_output + v13;
                    v14[0] = v10;
                    v14[1] = v1;
                    v14[2] = global_y + args.group_base_y;
                    v14[3] = global_z + args.group_base_z;
                    lost_2 = false;
                } else {
                    if (v13 < args.output_length) {
                        my_output[v13] = 0u;
                    }
                }
            }
            if (lost_2) {
                atomicAdd((unsigned int *)&my_output[1], 1u);
                atomicMax((unsigned int *)&my_output[2], v10);
                atomicMax((unsigned int *)&my_output[3], ~v10);
            }
        }
        v2[0] = __fsqrt_rn(v3);
    }
}

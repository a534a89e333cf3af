// print
#pragma OPENCL FP_CONTRACT OFF
struct print_args {
    uint threads_x;
    uint group_base_x;
    uint group_base_y;
    uint group_base_z;
    uint output_length;
    uint first_format;
};

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void print(__global float *restrict x, __global uint *restrict my_output, const struct print_args args) {
    uint global_y = (uint)get_global_id(1);
    uint global_z = (uint)get_global_id(2);
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 32u;
    if (v1 < args.threads_x) {
        bool lost = false;
        float v2 = x[v1];
        uint v3 = as_uint(v2);
        uint v4 = (uint)((int)((short)((int)((v3 & 2147483647u) <= 2139095040u ? fmin(fmax(v2, -32768.0f), 32767.0f) : 0.0f))));
        lost = true;
        uint v5 = *(volatile __global uint *)&my_output[0];
        if (v5 < args.output_length) {
            uint v6 = atomic_add((volatile __global uint *)&my_output[0], 8u);
            uint v7 = v6 + 8u;
            if (v7 + 8u <= args.output_length) {
                my_output[v7] = args.first_format;
                my_output[v7 + 1l] = v1;
                my_output[v7 + 2l] = global_y + args.group_base_y;
                my_output[v7 + 3l] = global_z + args.group_base_z;
                my_output[v7 + 4l] = v1;
                my_output[v7 + 5l] = v3;
                my_output[v7 + 6l] = 1065353216u;
                my_output[v7 + 7l] = v4;
                lost = false;
            } else {
                if (v7 < args.output_length) {
                    my_output[v7] = 0u;
                }
            }
        }
        if (lost) {
            atomic_add((volatile __global uint *)&my_output[1], 1u);
            atomic_max((volatile __global uint *)&my_output[2], args.first_format);
            atomic_max((volatile __global uint *)&my_output[3], ~args.first_format);
        }
        if (!(0.0f <= v2)) {
            uint v8 = args.first_format + 1u;
            atomic_add((volatile __global uint *)&my_output[4], 1u);
            atomic_max((volatile __global uint *)&my_output[5], v8);
            bool lost_2 = false;
            lost_2 = true;
            uint v9 = *(volatile __global uint *)&my_output[0];
            if (v9 < args.output_length) {
                uint v10 = atomic_add((volatile __global uint *)&my_output[0], 4u);
                uint v11 = v10 + 8u;
                if (v11 + 4u <= args.output_length) {
                    my_output[v11] = v8;
                    my_output[v11 + 1l] = v1;
                    my_output[v11 + 2l] = global_y + args.group_base_y;
                    my_output[v11 + 3l] = global_z + args.group_base_z;
                    lost_2 = false;
                } else {
                    if (v11 < args.output_length) {
                        my_output[v11] = 0u;
                    }
                }
            }
            if (lost_2) {
                atomic_add((volatile __global uint *)&my_output[1], 1u);
                atomic_max((volatile __global uint *)&my_output[2], v8);
                atomic_max((volatile __global uint *)&my_output[3], ~v8);
            }
        }
        x[v1] = sqrt(v2);
    }
}

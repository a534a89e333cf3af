// names
#pragma OPENCL FP_CONTRACT OFF
struct names_args {
    float value;
    float value_2;
    float my_float;
    float my_global;
    float my_v1;
    float my_gl_Position;
    float sum;
    float sum_2;
    float sum_2_2;
    float my_7_up;
    float t;
    float my_threadIdx;
    float my_main;
    float a_b;
    float value_3;
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void names(__global float *restrict my_out, const struct names_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    float v2 = 0.0f + args.value + args.value_2 + args.my_float + args.my_global + args.my_v1 + args.my_gl_Position + args.sum + args.sum_2 + args.sum_2_2;
    float v3 = v2 + args.my_7_up + args.t + args.my_threadIdx + args.my_main + args.a_b + args.value_3;
    if (v1 < args.threads_x) {
        float sum_3 = 0.0f;
        sum_3 = v3;
        if (1.0f < sum_3) {
            sum_3 = 1.0f;
        }
        my_out[v1] = sum_3;
    }
}

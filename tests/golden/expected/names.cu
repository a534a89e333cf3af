// names: 128 x 1 x 1 threads per block
struct names_args {
    float *my_out;
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
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) names(const struct names_args args) {
    float *__restrict__ my_out = args.my_out;
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
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

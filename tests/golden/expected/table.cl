// table
#pragma OPENCL FP_CONTRACT OFF
struct table_args {
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void table(__global const float *restrict my_in, __global float *restrict my_out, const struct table_args args) {
    __constant float taps[8] = { 0.5f, -0.25f, 0.125f, 1e-10f, 3.0f, 16777216.0f, 0.1f, -0.0f };
    __constant int order[4] = { 3, -1, (-2147483647 - 1), 0 };
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        float window[8];
        float sum = 0.0f;
        window[0] = my_in[v1];
        window[1] = my_in[v1 + 1l];
        window[2] = my_in[v1 + 2l];
        window[3] = my_in[v1 + 3l];
        window[4] = my_in[v1 + 4l];
        window[5] = my_in[v1 + 5l];
        window[6] = my_in[v1 + 6l];
        window[7] = my_in[v1 + 7l];
        for (uint i1 = 0u; i1 < 8u; i1++) {
            sum = fma(taps[i1], window[(i1 + (uint)order[v1 & 3u]) & 7u], sum);
        }
        my_out[v1] = sum;
    }
}

// random
#pragma OPENCL FP_CONTRACT OFF
struct random_args {
    long stride;
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void random(__global ulong *restrict state, __global float *restrict my_out, const struct random_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        long v2 = (long)((ulong)((long)v1) * (ulong)args.stride);
        ulong v3 = state[v2];
        uint v4 = (uint)(((v3 >> 18ul) ^ v3) >> 27ul);
        uint v5 = (uint)(v3 >> 59ul);
        state[v2] = v3 * 6364136223846793005ul + 1442695040888963407ul;
        float v6 = (float)(((v4 >> (v5 & 31u)) | (v4 << (-v5 & 31u))) >> 8u) * 5.9604645e-08f;
        my_out[v1] = v6;
    }
}

// histogram
#pragma OPENCL FP_CONTRACT OFF
struct histogram_args {
    uint threads_x;
    uint group_base_x;
    uint in_length;
};

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void histogram(__global const uchar *restrict my_in, __global uint *restrict bins, const struct histogram_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 64u;
    if (v1 < args.threads_x) {
        uint count = 0u;
        for (uint i1 = 0u; i1 < args.in_length; i1++) {
            count = count + ((uint)my_in[i1] == v1 ? 1u : 0u);
        }
        bins[v1] = count;
    }
}

// picture
#pragma OPENCL FP_CONTRACT OFF
struct picture_args {
    uint threads_x;
    uint threads_y;
    uint group_base_x;
    uint group_base_y;
};

__kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void picture(__global const float *restrict gain, __read_only image2d_t my_in, sampler_t my_in_sampler, __read_only image1d_buffer_t colours, __read_only image2d_array_t layers, __write_only image2d_t my_out, const struct picture_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 8u;
    uint v2 = (uint)get_global_id(1) + args.group_base_y * 8u;
    if (v1 < args.threads_x && v2 < args.threads_y) {
        uint2 v3 = (uint2)(v1, v2);
        float v4 = (float)v1 + 0.5f;
        float v5 = (float)v2 + 0.5f;
        uint2 v6 = (uint2)(get_image_width(my_in), get_image_height(my_in));
        float4 v7 = read_imagef(my_in, my_in_sampler, (float2)(v4 / (float)v6.x, v5 / (float)v6.y));
        float v8 = v7.x;
        float v9 = v8 * 255.0f;
        float4 v10 = read_imagef(colours, (int)(2.1474836e+09f <= v9 ? 2147483647 : (int)((as_uint(v9) & 2147483647u) <= 2139095040u ? fmin(fmax(v9, -2.1474836e+09f), 2.1474835e+09f) : 0.0f)));
        float4 v11 = read_imagef(my_in, (int2)(v3.x, v3.y));
        float v12 = gain[v1];
        uint4 v13 = read_imageui(layers, (int4)(v1, v2, 1u, 0));
        float v14 = (v10.x + (v8 + v11.x) * v12) * 0.75f + (float)v13.x * 0.25f;
        float v15 = (v10.y + (v7.y + v11.y) * v12) * 0.75f + (float)v13.y * 0.25f;
        float v16 = (v10.z + (v7.z + v11.z) * v12) * 0.75f + (float)v13.z * 0.25f;
        float v17 = (v10.w + (v7.w + v11.w) * v12) * 0.75f + (float)v13.w * 0.25f;
        write_imagef(my_out, (int2)(v3.x, v3.y), (float4)(v14, v15, v16, v17));
    }
}

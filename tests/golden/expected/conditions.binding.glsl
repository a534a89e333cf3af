#version 450

// conditions
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly restrict buffer my_in_block { vec4 my_in[]; };
layout(set = 0, binding = 1, std430) restrict buffer flags_block { uint flags[]; };
layout(set = 0, binding = 2, std430) writeonly restrict buffer my_out_block { vec4 my_out[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uint threads_x;
    layout(offset = 4) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        vec4 v2 = my_in[v1];
        bvec4 v3 = lessThan(v2, vec4(0.0));
        bool v4 = any(v3) != bool(flags[v1]);
        bvec4 v5 = notEqual(uvec4(isnan(v2)) | uvec4(not(isinf(v2))), uvec4(0));
        vec4 v6 = mix(vec4(uintBitsToFloat(0x7f800000u)), -v2, equal(uvec4(v3) & uvec4(v5), uvec4(1)));
        my_out[v1] = mix(vec4(v6.w, v6.z, v6.y, v6.x), v6, bvec4(v4));
        flags[v1] = uint(all(v5) && v2.y != -0.0);
    }
}

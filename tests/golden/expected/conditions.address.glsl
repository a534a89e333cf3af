#version 450
#extension GL_EXT_buffer_reference2 : require

// conditions
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly restrict buffer my_in_at { vec4 at; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict buffer flags_at { uint at; };
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly restrict buffer my_out_at { vec4 at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) my_in_at my_in;
    layout(offset = 8) flags_at flags;
    layout(offset = 16) my_out_at my_out;
    layout(offset = 24) uint threads_x;
    layout(offset = 28) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        vec4 v2 = my_in[v1].at;
        bvec4 v3 = lessThan(v2, vec4(0.0));
        flags_at v4 = flags + v1;
        bool v5 = any(v3) != bool(v4.at);
        bvec4 v6 = notEqual(uvec4(isnan(v2)) | uvec4(not(isinf(v2))), uvec4(0));
        vec4 v7 = mix(vec4(uintBitsToFloat(0x7f800000u)), -v2, equal(uvec4(v3) & uvec4(v6), uvec4(1)));
        my_out[v1].at = mix(vec4(v7.w, v7.z, v7.y, v7.x), v7, bvec4(v5));
        v4.at = uint(all(v6) && v2.y != -0.0);
    }
}

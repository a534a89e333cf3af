#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_buffer_reference2 : require

// random
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 8) restrict buffer state_at { uint64_t at; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly restrict buffer my_out_at { float at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) state_at state;
    layout(offset = 8) my_out_at my_out;
    layout(offset = 16) int64_t stride;
    layout(offset = 24) uint threads_x;
    layout(offset = 28) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        state_at v2 = state + uint64_t(int64_t(v1) * stride);
        uint64_t v3 = v2.at;
        uint v4 = uint(((v3 >> 18ul) ^ v3) >> 27ul);
        uint v5 = uint(v3 >> 59ul);
        v2.at = v3 * 6364136223846793005ul + 1442695040888963407ul;
        precise float v6 = float(((v4 >> (v5 & 31u)) | (v4 << (-v5 & 31u))) >> 8u) * 5.9604645e-08;
        my_out[v1].at = v6;
    }
}

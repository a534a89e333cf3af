#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

// random
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) restrict buffer state_block { uint64_t state[]; };
layout(set = 0, binding = 1, std430) writeonly restrict buffer my_out_block { float my_out[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) int64_t stride;
    layout(offset = 8) uint threads_x;
    layout(offset = 12) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        int64_t v2 = int64_t(v1) * stride;
        uint64_t v3 = state[int(v2)];
        uint v4 = uint(((v3 >> 18ul) ^ v3) >> 27ul);
        uint v5 = uint(v3 >> 59ul);
        state[int(v2)] = v3 * 6364136223846793005ul + 1442695040888963407ul;
        precise float v6 = float(((v4 >> (v5 & 31u)) | (v4 << (-v5 & 31u))) >> 8u) * 5.9604645e-08;
        my_out[v1] = v6;
    }
}

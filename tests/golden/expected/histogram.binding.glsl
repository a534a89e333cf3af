#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_8bit_storage : require

// histogram
layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly restrict buffer my_in_block { uint8_t my_in[]; };
layout(set = 0, binding = 1, std430) writeonly restrict buffer bins_block { uint bins[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uint threads_x;
    layout(offset = 4) uint group_base_x;
    layout(offset = 8) uint in_length;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 64u;
    if (v1 < threads_x) {
        uint count = 0u;
        for (uint i1 = 0u; i1 < in_length; i1++) {
            count = count + (uint(my_in[i1]) == v1 ? 1u : 0u);
        }
        bins[v1] = count;
    }
}

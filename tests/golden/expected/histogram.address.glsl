#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_buffer_reference2 : require

// histogram
layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 1) readonly restrict buffer my_in_at { uint8_t at; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly restrict buffer bins_at { uint at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) my_in_at my_in;
    layout(offset = 8) bins_at bins;
    layout(offset = 16) uint threads_x;
    layout(offset = 20) uint group_base_x;
    layout(offset = 24) uint in_length;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 64u;
    if (v1 < threads_x) {
        uint count = 0u;
        for (uint i1 = 0u; i1 < in_length; i1++) {
            count = count + (uint(my_in[i1].at) == v1 ? 1u : 0u);
        }
        bins[v1].at = count;
    }
}

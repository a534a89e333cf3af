#version 450
#extension GL_EXT_buffer_reference2 : require

// reduce
layout(local_size_x = 256, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer my_in_at { float at; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly restrict buffer my_out_at { float at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) my_in_at my_in;
    layout(offset = 8) my_out_at my_out;
    layout(offset = 16) uint group_base_x;
    layout(offset = 20) uint in_length;
};
shared float part[256];

void main() {
    uint local_index = gl_LocalInvocationIndex;
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 256u;
    bool v2 = v1 < in_length;
    float v3 = my_in[v2 ? v1 : 0u].at;
    part[local_index] = v2 ? v3 : 0.0;
    memoryBarrierBuffer();
    barrier();
    if (local_index < 128u) {
        precise float v4 = part[local_index] + part[local_index + 128u];
        part[local_index] = v4;
    }
    memoryBarrierBuffer();
    barrier();
    if (local_index < 64u) {
        precise float v5 = part[local_index] + part[local_index + 64u];
        part[local_index] = v5;
    }
    memoryBarrierBuffer();
    barrier();
    if (local_index < 32u) {
        precise float v6 = part[local_index] + part[local_index + 32u];
        part[local_index] = v6;
    }
    memoryBarrierBuffer();
    barrier();
    if (local_index < 16u) {
        precise float v7 = part[local_index] + part[local_index + 16u];
        part[local_index] = v7;
    }
    memoryBarrierBuffer();
    barrier();
    if (local_index < 8u) {
        precise float v8 = part[local_index] + part[local_index + 8u];
        part[local_index] = v8;
    }
    memoryBarrierBuffer();
    barrier();
    if (local_index < 4u) {
        precise float v9 = part[local_index] + part[local_index + 4u];
        part[local_index] = v9;
    }
    memoryBarrierBuffer();
    barrier();
    if (local_index < 2u) {
        precise float v10 = part[local_index] + part[local_index + 2u];
        part[local_index] = v10;
    }
    memoryBarrierBuffer();
    barrier();
    if (local_index < 1u) {
        precise float v11 = part[local_index] + part[local_index + 1u];
        part[local_index] = v11;
    }
    memoryBarrierBuffer();
    barrier();
    if (local_index == 0u) {
        my_out[gl_WorkGroupID.x + group_base_x].at = part[0];
    }
}

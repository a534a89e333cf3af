#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_KHR_memory_scope_semantics : require

// print
layout(local_size_x = 32, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) restrict buffer x_block { float x[]; };
layout(set = 0, binding = 1, std430) restrict buffer my_output_block { uint my_output[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uint threads_x;
    layout(offset = 4) uint group_base_x;
    layout(offset = 8) uint group_base_y;
    layout(offset = 12) uint group_base_z;
    layout(offset = 16) uint output_length;
    layout(offset = 20) uint first_format;
};

void main() {
    uint global_y = gl_GlobalInvocationID.y;
    uint global_z = gl_GlobalInvocationID.z;
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 32u;
    if (v1 < threads_x) {
        bool lost = false;
        float v2 = x[v1];
        uint v3 = floatBitsToUint(v2);
        float v4 = -32768.0 < v2 ? v2 : -32768.0;
        uint v5 = uint(int(int16_t(int((v3 & 2147483647u) <= 2139095040u ? (v4 < 32767.0 ? v4 : 32767.0) : 0.0))));
        lost = true;
        uint v6 = atomicLoad(my_output[0], gl_ScopeDevice, 0, 0);
        if (v6 < output_length) {
            uint v7 = atomicAdd(my_output[0], 8u);
            uint v8 = v7 + 8u;
            if (v8 + 8u <= output_length) {
                my_output[v8] = first_format;
                my_output[v8 + 1u] = v1;
                my_output[v8 + 2u] = global_y + group_base_y;
                my_output[v8 + 3u] = global_z + group_base_z;
                my_output[v8 + 4u] = v1;
                my_output[v8 + 5u] = v3;
                my_output[v8 + 6u] = 1065353216u;
                my_output[v8 + 7u] = v5;
                lost = false;
            } else {
                if (v8 < output_length) {
                    my_output[v8] = 0u;
                }
            }
        }
        if (lost) {
            atomicAdd(my_output[1], 1u);
            atomicMax(my_output[2], first_format);
            atomicMax(my_output[3], ~first_format);
        }
        if (!(0.0 <= v2)) {
            uint v9 = first_format + 1u;
            atomicAdd(my_output[4], 1u);
            atomicMax(my_output[5], v9);
            bool lost_2 = false;
            lost_2 = true;
            uint v10 = atomicLoad(my_output[0], gl_ScopeDevice, 0, 0);
            if (v10 < output_length) {
                uint v11 = atomicAdd(my_output[0], 4u);
                uint v12 = v11 + 8u;
                if (v12 + 4u <= output_length) {
                    my_output[v12] = v9;
                    my_output[v12 + 1u] = v1;
                    my_output[v12 + 2u] = global_y + group_base_y;
                    my_output[v12 + 3u] = global_z + group_base_z;
                    lost_2 = false;
                } else {
                    if (v12 < output_length) {
                        my_output[v12] = 0u;
                    }
                }
            }
            if (lost_2) {
                atomicAdd(my_output[1], 1u);
                atomicMax(my_output[2], v9);
                atomicMax(my_output[3], ~v9);
            }
        }
        x[v1] = sqrt(v2);
    }
}

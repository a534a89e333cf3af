#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_KHR_memory_scope_semantics : require

// print
layout(local_size_x = 32, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) restrict buffer x_at { float at; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict buffer my_output_at { uint at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) x_at x;
    layout(offset = 8) my_output_at my_output;
    layout(offset = 16) uint threads_x;
    layout(offset = 20) uint group_base_x;
    layout(offset = 24) uint group_base_y;
    layout(offset = 28) uint group_base_z;
    layout(offset = 32) uint output_length;
    layout(offset = 36) uint first_format;
};

void main() {
    uint global_y = gl_GlobalInvocationID.y;
    uint global_z = gl_GlobalInvocationID.z;
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 32u;
    if (v1 < threads_x) {
        bool lost = false;
        x_at v2 = x + v1;
        float v3 = v2.at;
        uint v4 = floatBitsToUint(v3);
        float v5 = -32768.0 < v3 ? v3 : -32768.0;
        uint v6 = uint(int(int16_t(int((v4 & 2147483647u) <= 2139095040u ? (v5 < 32767.0 ? v5 : 32767.0) : 0.0))));
        lost = true;
        uint v7 = atomicLoad(my_output.at, gl_ScopeDevice, 0, 0);
        if (v7 < output_length) {
            uint v8 = atomicAdd(my_output.at, 8u);
            uint v9 = v8 + 8u;
            if (v9 + 8u <= output_length) {
                my_output_at v10 = my_output + v9;
                v10.at = first_format;
                v10[1].at = v1;
                v10[2].at = global_y + group_base_y;
                v10[3].at = global_z + group_base_z;
                v10[4].at = v1;
                v10[5].at = v4;
                v10[6].at = 1065353216u;
                v10[7].at = v6;
                lost = false;
            } else {
                if (v9 < output_length) {
                    my_output[v9].at = 0u;
                }
            }
        }
        if (lost) {
            atomicAdd(my_output[1].at, 1u);
            atomicMax(my_output[2].at, first_format);
            atomicMax(my_output[3].at, ~first_format);
        }
        if (!(0.0 <= v3)) {
            uint v11 = first_format + 1u;
            atomicAdd(my_output[4].at, 1u);
            atomicMax(my_output[5].at, v11);
            bool lost_2 = false;
            lost_2 = true;
            uint v12 = atomicLoad(my_output.at, gl_ScopeDevice, 0, 0);
            if (v12 < output_length) {
                uint v13 = atomicAdd(my_output.at, 4u);
                uint v14 = v13 + 8u;
                if (v14 + 4u <= output_length) {
                    my_output_at v15 = my_output + v14;
                    v15.at = v11;
                    v15[1].at = v1;
                    v15[2].at = global_y + group_base_y;
                    v15[3].at = global_z + group_base_z;
                    lost_2 = false;
                } else {
                    if (v14 < output_length) {
                        my_output[v14].at = 0u;
                    }
                }
            }
            if (lost_2) {
                atomicAdd(my_output[1].at, 1u);
                atomicMax(my_output[2].at, v11);
                atomicMax(my_output[3].at, ~v11);
            }
        }
        v2.at = sqrt(v3);
    }
}

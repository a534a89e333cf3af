#version 450
#extension GL_EXT_buffer_reference2 : require

// edges
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer a_at { int at; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer b_at { int at; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer f_at { float at; };
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly restrict buffer my_out_at { ivec4 at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) a_at a;
    layout(offset = 8) b_at b;
    layout(offset = 16) f_at f;
    layout(offset = 24) my_out_at my_out;
    layout(offset = 32) uint threads_x;
    layout(offset = 36) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        int v2 = a[v1].at;
        int v3 = b[v1].at;
        bool v4 = v3 == 0;
        bool v5 = v3 == -1;
        int v6 = v4 || v5 ? 1 : v3;
        int v7 = v2 / v6;
        int v8 = v4 ? v2 : v2 - v7 * v6;
        float v9 = f[v1].at;
        float v10 = v9 == 1.0 ? 1.0 : (0.0 <= v9 ? (abs(v9) < 1.1754944e-38 ? 0.0 : pow(v9, 2.5)) : uintBitsToFloat(0x7fc00000u));
        float v11 = -2.1474836e+09 < v10 ? v10 : -2.1474836e+09;
        ivec4 v12 = ivec4((v4 ? -1 : (v5 ? -v2 : v7)) + v8, v8 + (v8 != 0 && (v8 ^ v3) < 0 ? v3 : 0), v2 >> (v3 & 31), 2.1474836e+09 <= v10 ? 2147483647 : int((floatBitsToUint(v10) & 2147483647u) <= 2139095040u ? (v11 < 2.1474835e+09 ? v11 : 2.1474835e+09) : 0.0));
        my_out[v1].at = v12;
    }
}

#version 450

// picture
layout(local_size_x = 8, local_size_y = 8, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly restrict buffer gain_block { float gain[]; };
layout(set = 0, binding = 1) uniform sampler2D my_in;
layout(set = 0, binding = 2) uniform samplerBuffer colours;
layout(set = 0, binding = 3, rgba16ui) uniform readonly restrict uimage2DArray layers;
layout(set = 0, binding = 4, rgba8) uniform writeonly restrict image2D my_out;
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uint threads_x;
    layout(offset = 4) uint threads_y;
    layout(offset = 8) uint group_base_x;
    layout(offset = 12) uint group_base_y;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 8u;
    uint v2 = gl_GlobalInvocationID.y + group_base_y * 8u;
    if (v1 < threads_x && v2 < threads_y) {
        uvec2 v3 = uvec2(v1, v2);
        precise vec2 v4 = vec2(v3) + vec2(0.5);
        uvec2 v5 = uvec2(textureSize(my_in, 0));
        vec4 v6 = textureLod(my_in, v4 / vec2(v5), 0.0);
        precise float v7 = v6.x * 255.0;
        float v8 = -2.1474836e+09 < v7 ? v7 : -2.1474836e+09;
        vec4 v9 = texelFetch(colours, 2.1474836e+09 <= v7 ? 2147483647 : int((floatBitsToUint(v7) & 2147483647u) <= 2139095040u ? (v8 < 2.1474835e+09 ? v8 : 2.1474835e+09) : 0.0));
        vec4 v10 = texelFetch(my_in, ivec2(v3), 0);
        float v11 = gain[v1];
        uvec4 v12 = imageLoad(layers, ivec3(uvec3(v1, v2, 1u)));
        precise vec4 v13 = (v9 + (v6 + v10) * vec4(v11)) * vec4(0.75) + vec4(v12) * vec4(0.25);
        imageStore(my_out, ivec2(v3), v13);
    }
}

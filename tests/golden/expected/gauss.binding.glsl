#version 450

// gauss
layout(local_size_x = 16, local_size_y = 16, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly restrict buffer my_in_block { float my_in[]; };
layout(set = 0, binding = 1, std430) writeonly restrict buffer my_out_block { float my_out[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uvec2 size;
    layout(offset = 8) uint group_base_x;
    layout(offset = 12) uint group_base_y;
};
shared float tile[400];

void main() {
    uint v1 = size.y;
    uint v2 = size.x;
    uint v3 = gl_GlobalInvocationID.x + group_base_x * 16u;
    uint v4 = gl_GlobalInvocationID.y + group_base_y * 16u;
    for (uint i1 = gl_LocalInvocationIndex; i1 < 400u; i1 += 256u) {
        int v5 = min(max(int((gl_WorkGroupID.y + group_base_y) * 16u + i1 / 20u) - 2, 0), int(v1) - 1);
        int v6 = min(max(int((gl_WorkGroupID.x + group_base_x) * 16u + i1 % 20u) - 2, 0), int(v2) - 1);
        tile[i1] = my_in[uint(v5) * v2 + uint(v6)];
    }
    memoryBarrierBuffer();
    barrier();
    if (v3 < v2 && v4 < v1) {
        uint v7 = gl_LocalInvocationID.y * 20u + gl_LocalInvocationID.x;
        precise float v8 = tile[v7] * 0.00390625;
        float v9 = fma(tile[v7 + 20u], 0.015625, fma(tile[v7 + 4u], 0.00390625, fma(tile[v7 + 3u], 0.015625, fma(tile[v7 + 2u], 0.0234375, fma(tile[v7 + 1u], 0.015625, v8)))));
        float v10 = fma(tile[v7 + 40u], 0.0234375, fma(tile[v7 + 24u], 0.015625, fma(tile[v7 + 23u], 0.0625, fma(tile[v7 + 22u], 0.09375, fma(tile[v7 + 21u], 0.0625, v9)))));
        float v11 = fma(tile[v7 + 60u], 0.015625, fma(tile[v7 + 44u], 0.0234375, fma(tile[v7 + 43u], 0.09375, fma(tile[v7 + 42u], 0.140625, fma(tile[v7 + 41u], 0.09375, v10)))));
        float v12 = fma(tile[v7 + 80u], 0.00390625, fma(tile[v7 + 64u], 0.015625, fma(tile[v7 + 63u], 0.0625, fma(tile[v7 + 62u], 0.09375, fma(tile[v7 + 61u], 0.0625, v11)))));
        my_out[v4 * v2 + v3] = fma(tile[v7 + 84u], 0.00390625, fma(tile[v7 + 83u], 0.015625, fma(tile[v7 + 82u], 0.0234375, fma(tile[v7 + 81u], 0.015625, v12))));
    }
}

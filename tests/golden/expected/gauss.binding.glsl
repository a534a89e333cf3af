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
    uint local_index = gl_LocalInvocationIndex;
    uint v1 = local_index < 400u ? (400u - local_index - 1u) / 256u + 1u : 0u;
    uint v2 = size.y;
    uint v3 = size.x;
    uint v4 = gl_GlobalInvocationID.x + group_base_x * 16u;
    uint v5 = gl_GlobalInvocationID.y + group_base_y * 16u;
    for (uint i1 = 0u; i1 < v1; i1++) {
        uint v6 = local_index + i1 * 256u;
        int v7 = min(max(int((gl_WorkGroupID.y + group_base_y) * 16u + v6 / 20u) - 2, 0), int(v2) - 1);
        int v8 = min(max(int((gl_WorkGroupID.x + group_base_x) * 16u + v6 % 20u) - 2, 0), int(v3) - 1);
        tile[v6] = my_in[uint(v7) * v3 + uint(v8)];
    }
    memoryBarrierBuffer();
    barrier();
    if (v4 < v3 && v5 < v2) {
        uint v9 = gl_LocalInvocationID.y * 20u + gl_LocalInvocationID.x;
        float v10 = fma(tile[v9 + 4u], 0.00390625, fma(tile[v9 + 3u], 0.015625, fma(tile[v9 + 2u], 0.0234375, fma(tile[v9 + 1u], 0.015625, tile[v9] * 0.00390625))));
        float v11 = fma(tile[v9 + 24u], 0.015625, fma(tile[v9 + 23u], 0.0625, fma(tile[v9 + 22u], 0.09375, fma(tile[v9 + 21u], 0.0625, fma(tile[v9 + 20u], 0.015625, v10)))));
        float v12 = fma(tile[v9 + 44u], 0.0234375, fma(tile[v9 + 43u], 0.09375, fma(tile[v9 + 42u], 0.140625, fma(tile[v9 + 41u], 0.09375, fma(tile[v9 + 40u], 0.0234375, v11)))));
        float v13 = fma(tile[v9 + 64u], 0.015625, fma(tile[v9 + 63u], 0.0625, fma(tile[v9 + 62u], 0.09375, fma(tile[v9 + 61u], 0.0625, fma(tile[v9 + 60u], 0.015625, v12)))));
        float v14 = fma(tile[v9 + 84u], 0.00390625, fma(tile[v9 + 83u], 0.015625, fma(tile[v9 + 82u], 0.0234375, fma(tile[v9 + 81u], 0.015625, fma(tile[v9 + 80u], 0.00390625, v13)))));
        my_out[v5 * v3 + v4] = v14;
    }
}

#version 450
#extension GL_EXT_buffer_reference2 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_clustered : require

// subgroups
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer my_in_at { float at; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly restrict buffer my_out_at { float at; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly restrict buffer ids_at { uint at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) my_in_at my_in;
    layout(offset = 8) my_out_at my_out;
    layout(offset = 16) ids_at ids;
    layout(offset = 24) uint group_base_x;
};
shared float part[128];

void main() {
    uint subgroup_id = gl_SubgroupID;
    uint lane = gl_SubgroupInvocationID;
    bool v1 = subgroupElect();
    uint v2 = gl_GlobalInvocationID.x + group_base_x * 128u;
    float v3 = my_in[v2].at;
    float v4 = subgroupAdd(v3);
    float v5 = subgroupExclusiveAdd(v3);
    bool v6 = 0.0 < v3;
    float v7 = subgroupShuffleDown(v3, 1u);
    float v8 = subgroupClusteredMax(v3, 4u);
    uint v9 = subgroupShuffleXor(v6 ? 1u : 0u, 1u);
    uvec4 v10 = subgroupBallot(v6);
    if (v1) {
        part[subgroup_id] = v4;
    }
    memoryBarrierBuffer();
    barrier();
    for (uint i1 = 0u; i1 < subgroup_id; i1++) {
        float v11 = subgroupBroadcastFirst(part[i1]);
        precise float v12 = v11 + v5;
        my_out[v2].at = v12;
    }
    bool v13 = subgroupAny(!v6);
    if (v13) {
        precise float v14 = v7 * v8;
        my_out[v2].at = v14;
    }
    bool v15 = subgroupAllEqual(v9);
    if (v15) {
        float v16 = subgroupBroadcast(v3, 2u);
        my_out[v2].at = v16;
    }
    uint v17 = subgroupBallotExclusiveBitCount(v10);
    uint v18 = subgroupBallotBitCount(v10);
    ids[v2].at = v17 + v18 * lane + gl_SubgroupSize;
    uint v19 = subgroupShuffle(lane, v9);
    uint v20 = subgroupInclusiveXor(v19);
    ids[v2 + gl_NumSubgroups].at = v20;
}

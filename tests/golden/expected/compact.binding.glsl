#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require

// compact
layout(local_size_x = 32, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly restrict buffer my_in_block { float my_in[]; };
layout(set = 0, binding = 1, std430) writeonly restrict buffer my_out_block { float my_out[]; };
layout(set = 0, binding = 2, std430) restrict buffer count_block { uint count[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uint group_base_x;
};
shared uint place[1];
shared uint group[64];

void main() {
    uint local_index = gl_LocalInvocationIndex;
    uint subgroup_size = gl_SubgroupSize;
    float v1 = my_in[gl_GlobalInvocationID.x + group_base_x * 32u];
    bool v2 = 0.0 < v1;
    uint v3 = v2 ? 1u : 0u;
    group[local_index] = v3;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    bool v4 = 1u <= local_index;
    uint v5 = v4 ? local_index - 1u : 0u;
    uint v6 = v4 ? group[v5] + v3 : v3;
    group[local_index + 32u] = v6;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    bool v7 = 2u <= local_index;
    uint v8 = v7 ? group[(v7 ? local_index - 2u : 0u) + 32u] + v6 : v6;
    group[local_index] = v8;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    bool v9 = 4u <= local_index;
    uint v10 = v9 ? group[v9 ? local_index - 4u : 0u] + v8 : v8;
    group[local_index + 32u] = v10;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    bool v11 = 8u <= local_index;
    uint v12 = v11 ? group[(v11 ? local_index - 8u : 0u) + 32u] + v10 : v10;
    group[local_index] = v12;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    bool v13 = 16u <= local_index;
    group[local_index + 32u] = v13 ? group[v13 ? local_index - 16u : 0u] + v12 : v12;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    uint v14 = v4 ? group[v5 + 32u] : 0u;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    bool v15 = subgroupElect();
    uint v16 = subgroupAdd(v3);
    uint left = 0u;
    if (v15) {
        group[gl_SubgroupID] = v16;
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    left = max(gl_NumSubgroups, (31u + subgroup_size) / subgroup_size);
    while (true) {
        if (left <= 1u) break;
        uint v17 = left;
        uint v18 = v17 - (v17 >> 1u);
        uint v19 = local_index + v18;
        if (v19 < v17) {
            group[local_index] = group[local_index] + group[v19];
        }
        controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
        left = v18;
    }
    uint v20 = group[0];
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    if (local_index == 0u) {
        uint v21 = atomicAdd(count[0], v20);
        place[0] = v21;
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    if (v2) {
        my_out[place[0] + v14] = v1;
    }
}

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
    uint v6 = group[v5] + v3;
    uint v7 = v4 ? v6 : v3;
    group[local_index + 32u] = v7;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    bool v8 = 2u <= local_index;
    uint v9 = group[(v8 ? local_index - 2u : 0u) + 32u] + v7;
    uint v10 = v8 ? v9 : v7;
    group[local_index] = v10;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    bool v11 = 4u <= local_index;
    uint v12 = group[v11 ? local_index - 4u : 0u] + v10;
    uint v13 = v11 ? v12 : v10;
    group[local_index + 32u] = v13;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    bool v14 = 8u <= local_index;
    uint v15 = group[(v14 ? local_index - 8u : 0u) + 32u] + v13;
    uint v16 = v14 ? v15 : v13;
    group[local_index] = v16;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    bool v17 = 16u <= local_index;
    uint v18 = group[v17 ? local_index - 16u : 0u] + v16;
    group[local_index + 32u] = v17 ? v18 : v16;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    uint v19 = group[v5 + 32u];
    uint v20 = v4 ? v19 : 0u;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    bool v21 = subgroupElect();
    uint v22 = subgroupAdd(v3);
    uint remaining = 0u;
    if (v21) {
        group[gl_SubgroupID] = v22;
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    remaining = max(gl_NumSubgroups, (31u + subgroup_size) / subgroup_size);
    while (true) {
        if (remaining <= 1u) break;
        uint v23 = remaining;
        uint v24 = v23 - (v23 >> 1u);
        uint v25 = local_index + v24;
        if (v25 < v23) {
            group[local_index] = group[local_index] + group[v25];
        }
        controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
        remaining = v24;
    }
    uint v26 = group[0];
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    if (local_index == 0u) {
        uint v27 = atomicAdd(count[0], v26);
        place[0] = v27;
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    if (v2) {
        my_out[place[0] + v20] = v1;
    }
}

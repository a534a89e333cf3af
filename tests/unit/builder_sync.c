/* Atomics, fences and subgroup operations: refused calls and reflection. */
#include "tests/unit/unit.h"

typedef struct sync_rig { vc_kernel *k; vc_ref u, f, h, d, tile; vc_val i, a; } sync_rig;

static sync_rig sync_begin(uint64_t lacks) {
    vc_kernel_desc desc;
    sync_rig r;
    memset(&desc, 0, sizeof desc);
    desc.name = "sum";
    desc.machine.missing_features = lacks;
    r.k = vc_begin(&desc);
    r.u = vc_buffer(r.k, "u", VC_U32, VC_READ_WRITE);
    r.f = vc_buffer(r.k, "f", VC_F32, VC_READ_WRITE);
    r.h = vc_buffer(r.k, "h", VC_F16, VC_READ_WRITE);
    r.d = vc_buffer(r.k, "d", VC_F64, VC_READ_WRITE);
    r.tile = vc_shared(r.k, "tile", VC_F32, 4);
    r.i = vc_local_index(r.k);
    r.a = vc_param(r.k, "a", VC_F32);
    return r;
}

/* The kernel's error is this message; later calls return nothing. */
static void sync_fails(sync_rig r, const char *text) {
    vc_val old = vc_u32(1);
    const char *error;
    vc_spirv(r.k, NULL);
    error = vc_error(r.k);
    assert_non_null(error);
    assert_string_equal(error, text);
    vc_atomic_add(r.u, r.i, vc_u32(1), &old);
    assert_int_equal(old.owner, 0);
    vc_fence(r.k, VC_SCOPE_DEVICE, 0);
    assert_null(vc_source(r.k, VC_TARGET_GLSL));
    assert_null(vc_dump(r.k));
    vc_free(r.k);
}

static void atomics_check_their_operands(void **state) {
    sync_rig r = sync_begin(0);
    vc_ref var = vc_var(r.k, "v", VC_U32), only = vc_buffer(r.k, "only", VC_U32, VC_WRITE), wide;
    vc_val old;
    (void)state;
    vc_atomic_add(var, vc_u32(0), vc_u32(1), NULL);
    sync_fails(r, "vc_atomic_add in kernel 'sum': variable 'v' does not support atomics; use a buffer or a shared array");
    r = sync_begin(0);
    vc_atomic_max(r.h, r.i, vc_f16(1), &old);
    sync_fails(r, "vc_atomic_max in kernel 'sum': buffer 'h' has elements of f16, but this call requires i32, u32, i64, u64, f32 or f64");
    r = sync_begin(0);
    wide = vc_buffer(r.k, "wide", VC_F32X4, VC_READ_WRITE);
    vc_atomic_add(wide, r.i, r.a, NULL);
    sync_fails(r, "vc_atomic_add in kernel 'sum': buffer 'wide' has elements of f32x4, but this call requires i32, u32, i64, u64, f32 or f64");
    r = sync_begin(0);
    wide = vc_shared(r.k, "bytes", VC_U8, 64);
    vc_atomic_exchange(wide, r.i, vc_u8(1), NULL);
    sync_fails(r, "vc_atomic_exchange in kernel 'sum': shared array 'bytes' has elements of u8, but this call requires i32, u32, i64, u64, f32 or f64");
    r = sync_begin(0);
    vc_atomic_or(r.h, r.i, vc_u32(1), NULL);
    sync_fails(r, "vc_atomic_or in kernel 'sum': buffer 'h' has elements of f16, but this call requires i32, u32, i64 or u64");
    r = sync_begin(0);
    vc_atomic_xor(r.tile, r.i, r.a, NULL);
    sync_fails(r, "vc_atomic_xor in kernel 'sum': shared array 'tile' has elements of f32, but this call requires i32, u32, i64 or u64");
    r = sync_begin(0);
    vc_atomic_add(r.u, r.i, r.a, NULL);
    sync_fails(r, "vc_atomic_add in kernel 'sum': the value 'a' is f32, but the element type is u32; convert it with vc_cast");
    r = sync_begin(0);
    vc_atomic_compare_exchange(r.f, r.i, r.a, vc_const(r.k, vc_u32(1)), NULL);
    sync_fails(r, "vc_atomic_compare_exchange in kernel 'sum': the value is u32, but the element type is f32; convert it with vc_cast");
    r = sync_begin(0);
    only = vc_buffer(r.k, "only", VC_U32, VC_WRITE);
    vc_atomic_or(only, r.i, vc_u32(1), NULL);
    sync_fails(r, "vc_atomic_or in kernel 'sum': buffer 'only' was declared without VC_READ");
    r = sync_begin(0);
    vc_atomic_sub(r.tile, vc_u32(4), r.a, NULL);
    sync_fails(r, "vc_atomic_sub in kernel 'sum': element 4 is out of range: the last one of shared array 'tile' is 3");
    r = sync_begin(0);
    vc_atomic_load(r.u, r.a, &old);
    sync_fails(r, "vc_atomic_load in kernel 'sum': the index 'a' is f32, but must be a scalar integer of 32 or 64 bits");
}

static void orders_and_scopes(void **state) {
    sync_rig r = sync_begin(0);
    (void)state;
    vc_fence(r.k, (vc_scope)9, 0);
    sync_fails(r, "vc_fence in kernel 'sum': scope is 9, but must be VC_SCOPE_SUBGROUP, VC_SCOPE_WORKGROUP or VC_SCOPE_DEVICE");
    r = sync_begin(0);
    vc_fence(r.k, VC_SCOPE_DEVICE, 8);
    sync_fails(r, "vc_fence in kernel 'sum': storage is 8, but must be 0 (all memory) or a combination of VC_STORAGE_BUFFER and VC_STORAGE_SHARED");
    r = sync_begin(0);
    vc_atomic_store(vc_ordered(r.u, (vc_order)5, VC_SCOPE_DEFAULT), r.i, vc_u32(1));
    sync_fails(r, "vc_ordered in kernel 'sum': order is 5, but must be VC_RELAXED, VC_ACQUIRE, VC_RELEASE or VC_ACQ_REL");
    r = sync_begin(0);
    VC_SWITCH(r.k, r.i) { vc_fence(r.k, VC_SCOPE_DEVICE, 0); }
    sync_fails(r, "vc_fence in kernel 'sum': called directly inside a VC_SWITCH, which may only contain VC_CASE and VC_DEFAULT");
}

static void missing_features_are_reported(void **state) {
    sync_rig r = sync_begin(VC_FEATURE_ATOMIC_I64);
    vc_ref wide;
    (void)state;
    vc_atomic_add(r.d, r.i, vc_f64(1), NULL);
    sync_fails(r, "vc_atomic_add in kernel 'sum': requires 64-bit atomics, which the device does not support (VC_FEATURE_ATOMIC_I64)");
    r = sync_begin(VC_FEATURE_ATOMIC_I64);
    wide = vc_shared(r.k, "wide", VC_I64, 1);
    vc_atomic_min(wide, vc_u32(0), vc_i64(1), NULL);
    sync_fails(r, "vc_atomic_min in kernel 'sum': requires 64-bit atomics, which the device does not support (VC_FEATURE_ATOMIC_I64)");
}

/* Adding f32 requires the device's atomic instruction if the device has it, and nothing otherwise. */
static void features_of(uint64_t lacks, void (*call)(vc_ref, vc_val, vc_val, vc_val *), uint64_t wanted) {
    sync_rig r = sync_begin(lacks | VC_FEATURE_ADDRESS);
    const vc_info *info;
    call(r.f, r.i, r.a, NULL);
    info = vc_reflect(r.k);
    assert_non_null(info);
    assert_int_equal(info->features, wanted);
    assert_int_equal(info->args[1].type, VC_F32);
    assert_int_equal(info->args[1].access, VC_READ_WRITE);
    assert_int_equal(info->args[0].access, 0);
    vc_free(r.k);
}

static void atomics_require_features(void **state) {
    (void)state;
    features_of(0, vc_atomic_add, VC_FEATURE_ATOMIC_F32_ADD);
    features_of(VC_FEATURE_ATOMIC_F32_ADD, vc_atomic_add, 0);
    features_of(0, vc_atomic_max, 0);
    features_of(0, vc_atomic_exchange, 0);
}

static void loads_and_stores_are_exact(void **state) {
    sync_rig r = sync_begin(0);
    vc_val v;
    const vc_info *info;
    (void)state;
    vc_atomic_load(r.u, r.i, &v);
    vc_atomic_store(r.f, r.i, r.a);
    info = vc_reflect(r.k);
    assert_non_null(info);
    assert_int_equal(info->args[0].access, VC_READ);
    assert_int_equal(info->args[1].access, VC_WRITE);
    assert_int_equal(vc_typeof(v), VC_U32);
    vc_free(r.k);
}

/* The result of an atomic diverges, and two equal atomics are never merged. */
static void atomic_results_diverge(void **state) {
    sync_rig r = sync_begin(0);
    vc_val a, b;
    const char *dump;
    (void)state;
    vc_atomic_add(r.u, vc_u32(0), vc_u32(1), &a);
    vc_atomic_add(r.u, vc_u32(0), vc_u32(1), &b);
    vc_store(r.u, vc_u32(1), vc_sub(a, b));
    dump = vc_dump(r.k);
    assert_non_null(dump);
    dump = strstr(dump, "u32 = atomic_add");
    assert_non_null(dump);
    assert_non_null(strstr(dump + 1, "u32 = atomic_add"));
    VC_IF(r.k, vc_eq(a, vc_u32(0))) { vc_barrier(r.k); }
    sync_fails(r, "vc_barrier in kernel 'sum': called in control flow that diverges within a work-group, but all invocations must reach it");
}

/* ---- subgroups ---- */

static void subgroup_operations_check_their_operands(void **state) {
    sync_rig r = sync_begin(0);
    (void)state;
    vc_subgroup_any(r.a);
    sync_fails(r, "vc_subgroup_any in kernel 'sum': the condition 'a' is f32, but must be a scalar bool; compare it with vc_ne(v, vc_i32(0))");
    r = sync_begin(0);
    vc_subgroup_reduce(VC_AND, r.a);
    sync_fails(r, "vc_subgroup_reduce in kernel 'sum': operand 1 'a' is f32, but must be bool or an integer");
    r = sync_begin(0);
    vc_subgroup_inclusive(VC_ADD, vc_lt(r.a, r.a));
    sync_fails(r, "vc_subgroup_inclusive in kernel 'sum': operand 1 is bool, but must be a number");
    r = sync_begin(0);
    vc_subgroup_exclusive((vc_combine)9, r.a);
    sync_fails(r, "vc_subgroup_exclusive in kernel 'sum': op is 9, which is not a vc_combine");
    r = sync_begin(0);
    vc_subgroup_shuffle(r.a, r.a);
    sync_fails(r, "vc_subgroup_shuffle in kernel 'sum': operand 2 'a' is f32, but must be a scalar u32");
    r = sync_begin(0);
    vc_subgroup_ballot_count(r.i);
    sync_fails(r, "vc_subgroup_ballot_count in kernel 'sum': operand 1 is u32, but must be the u32x4 result of vc_subgroup_ballot");
    r = sync_begin(0);
    vc_subgroup_clustered(VC_ADD, r.a, 6);
    sync_fails(r, "vc_subgroup_clustered in kernel 'sum': size is 6, but must be a power of two up to 128");
    r = sync_begin(0);
    vc_store(r.f, r.i, vc_subgroup_reduce(VC_ADD, vc_f32(1)));
    sync_fails(r, "vc_store in kernel 'sum': operand 3 is vc_subgroup_reduce of immediates only, so its kernel is unknown; wrap one of them in vc_const");
    r = sync_begin(VC_FEATURE_SUBGROUP_TYPES);
    vc_store(r.u, r.i, vc_cast(VC_U32, vc_subgroup_reduce(VC_ADD, vc_cast(VC_I64, r.i))));
    sync_fails(r, "vc_subgroup_add in kernel 'sum': requires subgroup operations on 8, 16 and 64 bits, which the device does not support "
                  "(VC_FEATURE_SUBGROUP_TYPES)");
}

#define DIVERGES_IN_SUBGROUP "called in control flow that diverges within a subgroup; this requires maximal reconvergence, which the device does not support " \
              "(VC_FEATURE_RECONVERGENCE)"

static void subgroup_operations_require_reconvergence(void **state) {
    sync_rig r = sync_begin(VC_FEATURE_RECONVERGENCE);
    (void)state;
    VC_IF(r.k, vc_lt(r.i, vc_u32(3))) { vc_subgroup_reduce(VC_ADD, r.a); }
    sync_fails(r, "vc_subgroup_reduce in kernel 'sum': " DIVERGES_IN_SUBGROUP);
    r = sync_begin(VC_FEATURE_RECONVERGENCE);
    VC_EACH(r.k, i) { vc_subgroup_shuffle(i, vc_u32(1)); }
    sync_fails(r, "vc_subgroup_shuffle in kernel 'sum': " DIVERGES_IN_SUBGROUP);
    r = sync_begin(VC_FEATURE_RECONVERGENCE);
    VC_SWITCH(r.k, r.i) { VC_DEFAULT(r.k) { vc_subgroup_broadcast_first(r.a); } }
    sync_fails(r, "vc_subgroup_broadcast_first in kernel 'sum': " DIVERGES_IN_SUBGROUP);
    r = sync_begin(VC_FEATURE_RECONVERGENCE);
    vc_return_if(r.k, vc_eq(r.i, vc_u32(3)));
    vc_subgroup_all(vc_lt(r.a, r.a));
    sync_fails(r, "vc_subgroup_all in kernel 'sum': " DIVERGES_IN_SUBGROUP);
    r = sync_begin(VC_FEATURE_RECONVERGENCE);
    VC_LOOP(r.k) {
        vc_subgroup_ballot(vc_lt(r.a, r.a));
        vc_break_if(r.k, vc_eq(r.i, vc_u32(3)));
    }
    sync_fails(r, "vc_break_if in kernel 'sum': the condition differs between the invocations of a subgroup, and the loop contains a subgroup operation; this "
                  "requires maximal reconvergence, which the device does not support (VC_FEATURE_RECONVERGENCE)");
}

static void subgroup_uniform_conditions_are_allowed(void **state) {
    sync_rig r = sync_begin(VC_FEATURE_RECONVERGENCE);
    vc_val any;
    (void)state;
    any = vc_subgroup_any(vc_lt(vc_load(r.f, r.i), r.a));
    VC_IF(r.k, any) { vc_store(r.f, r.i, vc_subgroup_reduce(VC_MUL, r.a)); }
    VC_FOR(r.k, j, vc_u32(0), vc_subgroup_id(r.k)) { vc_store(r.u, r.i, vc_subgroup_broadcast(r.i, j)); }
    VC_LOOP(r.k) {
        vc_break_if(r.k, vc_subgroup_all(vc_lt(r.a, vc_load(r.f, r.i))));
        vc_store(r.u, r.i, vc_subgroup_inclusive(VC_ADD, r.i));
    }
    VC_IF(r.k, vc_lt(r.i, vc_u32(3))) {
        VC_IF(r.k, vc_subgroup_elect(r.k)) { vc_store(r.u, vc_u32(0), vc_subgroup_local_id(r.k)); }
    }
    assert_null(vc_error(r.k));
    assert_non_null(vc_spirv(r.k, NULL));
    assert_int_equal(vc_reflect(r.k)->features & VC_FEATURE_RECONVERGENCE, 0);
    VC_IF(r.k, any) { vc_barrier(r.k); } /* uniform within a subgroup, but not within the work-group */
    sync_fails(r, "vc_barrier in kernel 'sum': called in control flow that diverges within a work-group, but all invocations must reach it");
}

/* Maximal reconvergence is required if the device has it, except when a subgroup is one invocation. */
static void reconvergence_is_required(void **state) {
    static const uint64_t lacks[] = { 0, VC_FEATURE_SUBGROUP | VC_FEATURE_RECONVERGENCE };
    (void)state;
    for (int i = 0; i < 2; i++) {
        sync_rig r = sync_begin(lacks[i]);
        size_t words = 0, j, found = 0;
        const uint32_t *code;
        VC_EACH(r.k, id) { vc_store(r.f, id, vc_subgroup_reduce(VC_ADD, vc_load(r.f, id))); }
        code = vc_spirv(r.k, &words);
        assert_non_null(code);
        for (j = 5; j < words; j += code[j] >> 16) found += code[j] == (3u << 16 | 16u) && code[j + 2] == 6023u;
        assert_int_equal(found, i == 0);
        assert_int_equal((vc_reflect(r.k)->features & VC_FEATURE_RECONVERGENCE) != 0, i == 0);
        assert_int_equal((vc_reflect(r.k)->features & VC_FEATURE_SUBGROUP) != 0, i == 0);
        assert_int_equal(strstr(vc_source(r.k, VC_TARGET_GLSL), "subgroupAdd") != NULL, i == 0);
        vc_free(r.k);
    }
}

/* Equal subgroup operations are not merged: the set of active invocations may have changed in between. */
static void subgroup_operations_are_not_merged(void **state) {
    sync_rig r = sync_begin(0);
    vc_val a, b;
    const char *text;
    (void)state;
    a = vc_subgroup_reduce(VC_ADD, r.a);
    b = vc_subgroup_reduce(VC_ADD, r.a);
    vc_store(r.f, r.i, vc_add(a, b));
    text = strstr(vc_source(r.k, VC_TARGET_GLSL), "subgroupAdd");
    assert_non_null(text);
    assert_non_null(strstr(text + 1, "subgroupAdd"));
    vc_free(r.k);
}

/* ---- workgroups ---- */

static void group_operations_check_their_operands(void **state) {
    sync_rig r = sync_begin(0);
    vc_val out = vc_u32(1);
    (void)state;
    VC_EACH(r.k, i) { vc_group_reduce(r.k, VC_ADD, i, &out); }
    assert_int_equal(out.owner, 0);
    sync_fails(r, "vc_group_reduce in kernel 'sum': called inside VC_EACH, which some invocations skip; guard the loads and stores instead");
    r = sync_begin(0);
    VC_IF(r.k, vc_eq(vc_subgroup_id(r.k), vc_u32(0))) { vc_group_broadcast(r.k, r.a, vc_u32(0), &out); }
    sync_fails(r, "vc_group_broadcast in kernel 'sum': called in control flow that diverges within a work-group, but all invocations must reach it");
    r = sync_begin(0);
    vc_group_inclusive(r.k, VC_OR, r.a, &out);
    sync_fails(r, "vc_group_inclusive in kernel 'sum': operand 1 'a' is f32, but must be bool or an integer");
    r = sync_begin(0);
    vc_group_exclusive(r.k, VC_COMBINE_NONE, r.a, &out);
    sync_fails(r, "vc_group_exclusive in kernel 'sum': op is 0, which is not a vc_combine");
    r = sync_begin(0);
    vc_group_reduce(r.k, VC_MAX, vc_vec2(r.a, r.a), NULL);
    sync_fails(r, "vc_group_reduce in kernel 'sum': operand 1 is f32x2, but must be a scalar");
    r = sync_begin(0);
    vc_barrier_scoped(r.k, VC_SCOPE_DEVICE, VC_SCOPE_DEVICE, 0);
    sync_fails(r, "vc_barrier_scoped in kernel 'sum': execution is 3, but must be VC_SCOPE_SUBGROUP or VC_SCOPE_WORKGROUP");
    r = sync_begin(0);
    vc_return_if(r.k, vc_eq(r.i, vc_u32(1)));
    vc_barrier_scoped(r.k, VC_SCOPE_WORKGROUP, VC_SCOPE_DEVICE, 0);
    sync_fails(r, "vc_barrier_scoped in kernel 'sum': called after a vc_return_if that may have ended some invocations of a work-group");
}

/* The result of a work-group operation is uniform and may guard a barrier. Operations of one type share their shared
   memory. */
static void group_results_are_uniform(void **state) {
    sync_rig r = sync_begin(0);
    vc_val sum, most;
    (void)state;
    vc_group_reduce(r.k, VC_ADD, r.i, &sum);
    vc_group_reduce(r.k, VC_MAX, sum, &most);
    VC_IF(r.k, vc_gt(most, vc_u32(3))) { vc_barrier(r.k); }
    vc_store(r.u, r.i, sum);
    assert_non_null(vc_spirv(r.k, NULL));
    assert_int_equal(vc_reflect(r.k)->shared_bytes, 2 * 128 * 4);
    vc_free(r.k);
}

static const struct CMUnitTest builder_sync_tests[] = {
    cmocka_unit_test(atomics_check_their_operands), cmocka_unit_test(orders_and_scopes),
    cmocka_unit_test(missing_features_are_reported), cmocka_unit_test(atomics_require_features),
    cmocka_unit_test(loads_and_stores_are_exact), cmocka_unit_test(atomic_results_diverge),
    cmocka_unit_test(subgroup_operations_check_their_operands),
    cmocka_unit_test(subgroup_operations_require_reconvergence),
    cmocka_unit_test(subgroup_uniform_conditions_are_allowed), cmocka_unit_test(reconvergence_is_required),
    cmocka_unit_test(subgroup_operations_are_not_merged), cmocka_unit_test(group_operations_check_their_operands),
    cmocka_unit_test(group_results_are_uniform),
};

/* What atomics, fences and subgroup operations refuse, and what the reflection says of them. */
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch_codegen.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

typedef struct rig { vc_kernel *k; vc_ref u, f, h, d, tile; vc_val i, a; } rig;

static rig begin(uint64_t lacks) {
    vc_kernel_desc desc;
    rig r;
    memset(&desc, 0, sizeof desc);
    desc.name = "sum";
    desc.machine.lacks = lacks;
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

/* The kernel's error is this sentence; calls after it set what they would give to nothing. */
static void fails(rig r, const char *text) {
    vc_val old = vc_u32(1);
    const char *error;
    vc_spirv(r.k, NULL);
    error = vc_error(r.k);
    assert_non_null(error);
    assert_string_equal(error, text);
    vc_atomic_add(r.u, r.i, vc_u32(1), &old);
    assert_int_equal(old.of, 0);
    vc_fence(r.k, VC_SCOPE_DEVICE, 0);
    assert_null(vc_source(r.k, VC_TARGET_GLSL));
    assert_null(vc_dump(r.k));
    vc_free(r.k);
}

static void atomics_take_what_they_can(void **state) {
    rig r = begin(0);
    vc_ref var = vc_var(r.k, "v", VC_U32), only = vc_buffer(r.k, "only", VC_U32, VC_WRITE), wide;
    vc_val old;
    (void)state;
    vc_atomic_add(var, vc_u32(0), vc_u32(1), NULL);
    fails(r, "vc_atomic_add in kernel 'sum': variable 'v' belongs to one invocation; atomics are on buffers and shared arrays");
    r = begin(0);
    vc_atomic_max(r.h, r.i, vc_f16(1), &old);
    fails(r, "vc_atomic_max in kernel 'sum': buffer 'h' has elements of f16, on which no device has atomics; keep what is gathered in f32");
    r = begin(0);
    wide = vc_buffer(r.k, "wide", VC_F32X4, VC_READ_WRITE);
    vc_atomic_add(wide, r.i, r.a, NULL);
    fails(r, "vc_atomic_add in kernel 'sum': buffer 'wide' has elements of f32x4; atomics are on i32, u32, i64, u64, f32 and f64");
    r = begin(0);
    wide = vc_shared(r.k, "bytes", VC_U8, 64);
    vc_atomic_exchange(wide, r.i, vc_u8(1), NULL);
    fails(r, "vc_atomic_exchange in kernel 'sum': shared array 'bytes' has elements of u8; atomics are on i32, u32, i64, u64, f32 and f64");
    r = begin(0);
    vc_atomic_xor(r.tile, r.i, r.a, NULL);
    fails(r, "vc_atomic_xor in kernel 'sum': shared array 'tile' has elements of f32; it takes integers");
    r = begin(0);
    vc_atomic_add(r.u, r.i, r.a, NULL);
    fails(r, "vc_atomic_add in kernel 'sum': the value 'a' is f32, the element type is u32; convert it with vc_cast");
    r = begin(0);
    vc_atomic_compare_exchange(r.f, r.i, r.a, vc_u32(1), NULL);
    fails(r, "vc_atomic_compare_exchange in kernel 'sum': the value is u32, the element type is f32; convert it with vc_cast");
    r = begin(0);
    only = vc_buffer(r.k, "only", VC_U32, VC_WRITE);
    vc_atomic_or(only, r.i, vc_u32(1), NULL);
    fails(r, "vc_atomic_or in kernel 'sum': buffer 'only' was declared without VC_READ");
    r = begin(0);
    vc_atomic_sub(r.tile, vc_u32(4), r.a, NULL);
    fails(r, "vc_atomic_sub in kernel 'sum': element 4 of shared array 'tile', which has 4");
    r = begin(0);
    vc_atomic_load(r.u, r.a, &old);
    fails(r, "vc_atomic_load in kernel 'sum': the index 'a' is f32; it takes a scalar integer of 32 or 64 bits");
}

static void orders_and_scopes(void **state) {
    rig r = begin(0);
    (void)state;
    vc_fence(r.k, (vc_scope)9, 0);
    fails(r, "vc_fence in kernel 'sum': scope 9; it takes VC_SCOPE_SUBGROUP, VC_SCOPE_WORKGROUP or VC_SCOPE_DEVICE");
    r = begin(0);
    vc_fence(r.k, VC_SCOPE_DEVICE, 8);
    fails(r, "vc_fence in kernel 'sum': storage 8; it takes VC_STORAGE_BUFFER, VC_STORAGE_SHARED, both, or 0 for both");
    r = begin(0);
    vc_atomic_store(vc_ordered(r.u, (vc_order)5, VC_SCOPE_DEFAULT), r.i, vc_u32(1));
    fails(r, "vc_ordered in kernel 'sum': order 5; it takes VC_RELAXED, VC_ACQUIRE, VC_RELEASE or VC_ACQ_REL");
    r = begin(0);
    VC_SWITCH(r.k, r.i) { vc_fence(r.k, VC_SCOPE_DEVICE, 0); }
    fails(r, "vc_fence in kernel 'sum': a VC_SWITCH holds only VC_CASE and VC_DEFAULT");
}

static void the_machine_has_to_have_them(void **state) {
    rig r = begin(VC_FEATURE_ATOMIC_I64);
    vc_ref wide;
    (void)state;
    vc_atomic_add(r.d, r.i, vc_f64(1), NULL);
    fails(r, "vc_atomic_add in kernel 'sum' needs 64-bit atomics, which the machine lacks (VC_FEATURE_ATOMIC_I64)");
    r = begin(VC_FEATURE_ATOMIC_I64);
    wide = vc_shared(r.k, "wide", VC_I64, 1);
    vc_atomic_min(wide, vc_u32(0), vc_i64(1), NULL);
    fails(r, "vc_atomic_min in kernel 'sum' needs 64-bit atomics, which the machine lacks (VC_FEATURE_ATOMIC_I64)");
}

/* Adding f32 asks for the device's own instruction where the machine has it, and for nothing where it has not. */
static void features_of(uint64_t lacks, void (*call)(vc_ref, vc_val, vc_val, vc_val *), uint64_t wanted) {
    rig r = begin(lacks | VC_FEATURE_ADDRESS);
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

static void needs(void **state) {
    (void)state;
    features_of(0, vc_atomic_add, VC_FEATURE_ATOMIC_F32_ADD);
    features_of(VC_FEATURE_ATOMIC_F32_ADD, vc_atomic_add, 0);
    features_of(0, vc_atomic_max, 0);
    features_of(0, vc_atomic_exchange, 0);
}

static void loads_and_stores_are_exact(void **state) {
    rig r = begin(0);
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

/* What an atomic gives differs between invocations; two of them are never one. */
static void results_differ(void **state) {
    rig r = begin(0);
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
    fails(r, "vc_barrier in kernel 'sum': stands where some invocations of a workgroup may not come, under a condition that differs between them");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atomics_take_what_they_can), cmocka_unit_test(orders_and_scopes), cmocka_unit_test(the_machine_has_to_have_them),
        cmocka_unit_test(needs), cmocka_unit_test(loads_and_stores_are_exact), cmocka_unit_test(results_differ)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

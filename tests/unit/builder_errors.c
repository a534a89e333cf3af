/* Every rule in the builder's manual has an error message, and calls after the first error are harmless. */
#include "tests/unit/unit.h"

typedef struct rule_rig { vc_kernel *k; vc_ref x, y; vc_val a, n, v; } rule_rig;

static rule_rig rule_begin(const vc_machine *machine) {
    vc_kernel_desc desc;
    rule_rig r;
    memset(&desc, 0, sizeof desc);
    desc.name = "saxpy";
    if (machine) desc.machine = *machine;
    r.k = vc_begin(&desc);
    r.x = vc_buffer(r.k, "x", VC_F32, VC_READ);
    r.y = vc_buffer(r.k, "y", VC_F32, VC_WRITE);
    r.a = vc_param(r.k, "a", VC_F32);
    r.n = vc_param(r.k, "n", VC_U32);
    r.v = vc_param(r.k, NULL, VC_F32X4);
    return r;
}

/* The kernel's error is this message; every call after it is harmless. */
static void rule_fails(rule_rig r, const char *text) {
    const char *error = vc_error(r.k);
    assert_non_null(error);
    assert_string_equal(error, text);
    VC_FOR(r.k, i, vc_u32(0), r.n) { vc_store(r.y, i, vc_sin(r.a)); vc_break_if(r.k, vc_bool(true)); }
    vc_barrier(r.k);
    assert_int_equal(vc_add(r.a, r.a).owner, 0);
    assert_null(vc_spirv(r.k, NULL));
    assert_null(vc_source(r.k, VC_TARGET_GLSL));
    assert_null(vc_dump(r.k));
    assert_null(vc_reflect(r.k));
    assert_int_equal(vc_hash(r.k), 0);
    assert_string_equal(vc_error(r.k), text);
    vc_free(r.k);
}

static void types(void **state) {
    rule_rig r = rule_begin(NULL);
    (void)state;
    vc_add(r.a, r.n);
    rule_fails(r, "vc_add in kernel 'saxpy': operand 1 'a' is f32 and operand 2 'n' is u32; both must have the same type; convert one with vc_cast");
    r = rule_begin(NULL);
    vc_fma(r.a, r.a, vc_const(r.k, vc_f64(1)));
    rule_fails(r, "vc_fma in kernel 'saxpy': operand 1 'a' is f32 and operand 3 is f64; both must have the same type; convert one with vc_cast");
    r = rule_begin(NULL);
    vc_mul(r.a, vc_i32(16777217));
    rule_fails(r, "vc_mul in kernel 'saxpy': operand 2 is the immediate 16777217, which cannot be represented exactly in f32");
    r = rule_begin(NULL);
    vc_mul(r.a, vc_u64(16777217));
    rule_fails(r, "vc_mul in kernel 'saxpy': operand 2 is the immediate 16777217, which cannot be represented exactly in f32");
    r = rule_begin(NULL);
    vc_mul(r.a, vc_f64(1e-42));
    rule_fails(r, "vc_mul in kernel 'saxpy': operand 2 is an f64 immediate that is NaN or subnormal as f32; "
                  "pass it as an immediate of type f32");
    r = rule_begin(NULL);
    VC_IF(r.k, vc_eq(r.v, r.v)) { }
    rule_fails(r, "VC_IF in kernel 'saxpy': the condition is boolx4, but must be a scalar bool; combine the components with vc_any or vc_all");
    r = rule_begin(NULL);
    vc_gt(r.n, vc_i32(-1));
    rule_fails(r, "vc_gt in kernel 'saxpy': operand 2 is the immediate -1, which is out of range for u32");
    r = rule_begin(NULL);
    vc_add(r.v, vc_vec2(r.a, r.a));
    rule_fails(r, "vc_add in kernel 'saxpy': operand 1 is f32x4 and operand 2 is f32x2; vectors must have the same number of components");
    r = rule_begin(NULL);
    vc_sin(r.n);
    rule_fails(r, "vc_sin in kernel 'saxpy': operand 1 'n' is u32, but must be f16, f32 or f64");
    r = rule_begin(NULL);
    vc_and(r.a, r.a);
    rule_fails(r, "vc_and in kernel 'saxpy': operand 1 'a' is f32, but must be bool or an integer");
    r = rule_begin(NULL);
    vc_select(r.n, r.a, r.a);
    rule_fails(r, "vc_select in kernel 'saxpy': operand 1 'n' is u32, but must be bool");
    r = rule_begin(NULL);
    vc_select(vc_lt(r.a, r.a), r.a, r.n);
    rule_fails(r, "vc_select in kernel 'saxpy': operand 2 'a' is f32 and operand 3 'n' is u32; both must have the same type; convert one with vc_cast");
    r = rule_begin(NULL);
    vc_shl(r.n, r.a);
    rule_fails(r, "vc_shl in kernel 'saxpy': operand 2 'a' is f32, but must be an integer");
    r = rule_begin(NULL);
    vc_dot(r.a, r.a);
    rule_fails(r, "vc_dot in kernel 'saxpy': operand 1 is f32 and operand 2 is f32; at least one must be a vector");
    r = rule_begin(NULL);
    vc_bitcast(VC_F64, r.a);
    rule_fails(r, "vc_bitcast in kernel 'saxpy': operand 1 'a' is f32, which cannot be converted to f64: the size and number of components must be the same, "
                  "and neither type may be bool");
    r = rule_begin(NULL);
    vc_cast(VC_F32X2X2, r.a);
    rule_fails(r, "vc_cast in kernel 'saxpy': operand 1 is f32, which cannot be converted to f32x2x2; build a matrix from its columns with vc_make");
    r = rule_begin(NULL);
    vc_cast(VC_F32X2, r.v);
    rule_fails(r, "vc_cast in kernel 'saxpy': operand 1 is f32x4, which cannot be converted to f32x2: the number of components must be the same, "
                  "unless the operand is a scalar");
    r = rule_begin(NULL);
    vc_cast(12345, r.a);
    rule_fails(r, "vc_cast in kernel 'saxpy': operand 1 'a' is f32, which cannot be converted to type 12345: the result must be a scalar or vector type");
    r = rule_begin(NULL);
    vc_bitcast(12345, r.a);
    rule_fails(r, "vc_bitcast in kernel 'saxpy': operand 1 'a' is f32, which cannot be converted to type 12345: the result must be a scalar or vector type");
    r = rule_begin(NULL);
    vc_cast_sat(12345, r.a);
    rule_fails(r, "vc_cast_sat in kernel 'saxpy': operand 1 is f32, which cannot be converted to type 12345: the result must be a scalar or vector type");
    r = rule_begin(NULL);
    vc_add(r.a, vc_cast(12345, vc_f32(1)));
    rule_fails(r, "vc_add in kernel 'saxpy': operand 2 is vc_cast of an immediate to type 12345, which is not a scalar or vector type");
    r = rule_begin(NULL);
    vc_add(r.a, vc_cast(VC_MAT(VC_F32, 2, 3), vc_f32(1)));
    rule_fails(r, "vc_add in kernel 'saxpy': operand 2 is vc_cast of an immediate to f32x2x3, which is not a scalar or vector type");
    r = rule_begin(NULL);
    vc_store(r.y, r.n, vc_bitcast(VC_NONE, vc_f32(1)));
    rule_fails(r, "vc_store in kernel 'saxpy': operand 3 is vc_bitcast of an immediate to none, which is not a scalar or vector type");
    r = rule_begin(NULL);
    vc_select(r.v, r.v, r.v);
    rule_fails(r, "vc_select in kernel 'saxpy': operand 1 is f32x4, but must be bool");
    r = rule_begin(NULL);
    vc_mul(vc_select(vc_u32(1), vc_f32(1), vc_f32(2)), r.a);
    rule_fails(r, "vc_mul in kernel 'saxpy': operand 1 is vc_select of immediates whose condition is u32, but must be bool");
    r = rule_begin(NULL);
    vc_param(r.k, "m", VC_F32 + 64);
    rule_fails(r, "vc_param in kernel 'saxpy': 'm' has type 75, which is not a valid type: there is no such vector or matrix");
}

static void rule_vectors(void **state) {
    rule_rig r = rule_begin(NULL);
    (void)state;
    vc_component(r.v, 4);
    rule_fails(r, "vc_component in kernel 'saxpy': component 4 is out of range: the last one of f32x4 is 3");
    r = rule_begin(NULL);
    vc_swizzle(r.v, "xq");
    rule_fails(r, "vc_swizzle in kernel 'saxpy': components is \"xq\", but must be 1 to 4 of the letters xyzw, the components of f32x4");
    r = rule_begin(NULL);
    vc_vec2(r.v, r.v);
    rule_fails(r, "vc_vec2 in kernel 'saxpy': the operands are f32x4, but must be scalars");
    r = rule_begin(NULL);
    vc_splat(r.a, 5);
    rule_fails(r, "vc_splat in kernel 'saxpy': operand 1 is f32 and components is 5, but they must be a scalar and 1 to 4");
    r = rule_begin(NULL);
    vc_insert(r.v, 7, r.a);
    rule_fails(r, "vc_insert in kernel 'saxpy': component 7 is out of range: the last one of f32x4 is 3");
    r = rule_begin(NULL);
    vc_extract(r.v, r.a);
    rule_fails(r, "vc_extract in kernel 'saxpy': operand 2 'a' is f32, but must be a scalar integer");
}

static void vectors_loops_and_views(void **state) {
    vc_val parts[5];
    rule_rig r = rule_begin(NULL);
    (void)state;
    for (int i = 0; i < 5; i++) parts[i] = r.v;
    vc_vec_of(r.k, parts, 2);
    rule_fails(r, "vc_vec in kernel 'saxpy': the parts have 8 components, but a vector has 2 to 4");
    r = rule_begin(NULL);
    vc_vec_of(r.k, parts, 5);
    rule_fails(r, "vc_vec in kernel 'saxpy': the call has 5 parts, but must have 1 to 4");
    r = rule_begin(NULL);
    vc_vec_of(r.k, NULL, 2);
    rule_fails(r, "vc_vec in kernel 'saxpy': parts is NULL");
    r = rule_begin(NULL);
    parts[0] = r.a;
    parts[1] = r.n;
    vc_vec_of(r.k, parts, 2);
    rule_fails(r, "vc_vec in kernel 'saxpy': operand 1 'a' is f32 and operand 2 'n' is u32; both must have the same type; convert one with vc_cast");
    r = rule_begin(NULL);
    vc_set_component(r.y, 0, r.a);
    rule_fails(r, "vc_set_component in kernel 'saxpy': buffer 'y' is not private to an invocation; store a whole vector, or a scalar through vc_as");
    r = rule_begin(NULL);
    vc_set_component(vc_var(r.k, "t", VC_F32X2), 2, r.a);
    rule_fails(r, "vc_set_component in kernel 'saxpy': component 2 is out of range: the last one of f32x2 is 1");
    r = rule_begin(NULL);
    vc_as(vc_shared(r.k, "s", VC_F32, 2), VC_U32);
    rule_fails(r, "vc_as in kernel 'saxpy': shared array 's' is not a buffer; vc_bitcast converts the values of its elements");
    r = rule_begin(NULL);
    vc_as(vc_offset(r.x, vc_u32(1)), VC_U32);
    rule_fails(r, "vc_as in kernel 'saxpy': the ref to buffer 'x' has an offset or index; call vc_as first");
    r = rule_begin(NULL);
    vc_as(r.x, VC_BOOL);
    rule_fails(r, "vc_as in kernel 'saxpy': type is bool, but must be a number or a vector of numbers");
    r = rule_begin(NULL);
    VC_FOR(r.k, i, vc_u32(0), r.n) { vc_break_outer_if(r.k, 1, vc_eq(i, r.n)); }
    rule_fails(r, "vc_break_outer_if in kernel 'saxpy': levels is 1, but must be at most 0, the number of loops around the innermost one");
    r = rule_begin(NULL);
    vc_break_outer_if(r.k, 0, vc_eq(r.n, r.n));
    rule_fails(r, "vc_break_outer_if in kernel 'saxpy': called outside of a loop");
}

static void rule_values(void **state) {
    static const vc_val never = { 0, 0 };
    rule_rig r = rule_begin(NULL), other = rule_begin(NULL);
    vc_val inner = never, old, one = vc_f32(1), yes = vc_bool(true);
    const struct { const char *call; vc_val value; } unfolded[] = {
        { "vc_sin", vc_sin(one) }, { "vc_add", vc_add(one, vc_i32(1)) }, { "vc_gt", vc_gt(one, vc_i32(1)) },
        { "vc_neg", vc_neg(vc_neg(yes)) }, { "vc_vec2", vc_vec2(one, one) }, { "vc_vec3", vc_vec3(one, one, one) },
        { "vc_vec4", vc_vec4(one, one, one, one) }, { "vc_splat", vc_splat(one, 2) },
        { "vc_component", vc_component(one, 1) }, { "vc_part", vc_part(one, 1) }, { "vc_extract", vc_extract(one, one) },
        { "vc_insert", vc_insert(one, 1, one) }, { "vc_swizzle", vc_swizzle(one, "xx") },
        { "vc_swizzle", vc_swizzle(one, "y") }, { "vc_sin", vc_extract(one, vc_sin(one)) },
        { "vc_sin", vc_swizzle(vc_insert(one, 0, vc_extract(vc_sin(one), vc_i32(0))), "x") },
        { "vc_cast", vc_cast(VC_F32X2, one) }, { "vc_bitcast", vc_bitcast(VC_F64, one) },
        { "vc_shl", vc_shl(one, vc_i32(1)) }, { "vc_select", vc_select(yes, one, vc_i32(1)) },
        { "vc_complex", vc_re(vc_complex(one, one)) }, { "vc_complex", vc_im(vc_conj(vc_complex(one, one))) },
        { "vc_polar", vc_arg(vc_polar(one, one)) }, { "vc_outer", vc_transpose(vc_outer(one, one)) },
        { "vc_re", vc_re(one) }, { "vc_determinant", vc_determinant(one) }, { "vc_inverse", vc_inverse(one) },
        { "vc_sqrt", vc_sub(vc_sqrt(vc_f32(-1)), one) }, { "vc_vec2", vc_norm(vc_vec2(one, one)) },
        { "vc_fma", vc_cast(VC_F32, vc_fma(one, one, one)) }
    };
    vc_ref var;
    char text[200];
    size_t c;
    (void)state;
    assert_true(vc_extract(one, vc_u64(3)).owner == one.owner && vc_extract(one, vc_u64(3)).bits == one.bits);
    assert_true(vc_insert(yes, 0, vc_bool(false)).owner == yes.owner && vc_insert(yes, 0, vc_bool(false)).bits == 0);
    assert_true(vc_swizzle(one, "x").owner == one.owner && vc_swizzle(one, "x").bits == one.bits);
    vc_add(r.a, never);
    rule_fails(r, "vc_add in kernel 'saxpy': operand 2 was never set");
    r = rule_begin(NULL);
    vc_add(r.a, vc_add(never, vc_f32(1)));
    rule_fails(r, "vc_add in kernel 'saxpy': operand 2 was never set");
    r = rule_begin(NULL);
    vc_insert(never, 0, r.a);
    rule_fails(r, "vc_insert in kernel 'saxpy': operand 1 was never set");
    for (c = 0; c < sizeof unfolded / sizeof unfolded[0]; c++) {
        r = rule_begin(NULL);
        assert_int_equal(vc_typeof(unfolded[c].value), VC_NONE);
        vc_mul(r.a, unfolded[c].value);
        snprintf(text, sizeof text, "vc_mul in kernel 'saxpy': operand 2 is %s of %s", unfolded[c].call,
                 strncmp(unfolded[c].call, "vc_vec", 6) == 0 ? "immediates only, so its kernel is unknown; use vc_vec"
                 : !strcmp(unfolded[c].call, "vc_component") || !strcmp(unfolded[c].call, "vc_part")
                     ? "an immediate, which has only component 0"
                 : "immediates only, so its kernel is unknown; wrap one of them in vc_const");
        rule_fails(r, text);
    }
    r = rule_begin(NULL);
    vc_add(r.a, other.a);
    rule_fails(r, "vc_add in kernel 'saxpy': operand 2 belongs to another kernel");
    r = rule_begin(NULL);
    VC_IF(r.k, vc_lt(r.a, vc_f32(0))) { inner = vc_add(r.a, r.a); }
    vc_neg(inner);
    rule_fails(r, "vc_neg in kernel 'saxpy': operand 1 (add) was created in a block that is already closed; pass it out of the block in a vc_var");
    r = rule_begin(NULL);
    VC_FOR(r.k, i, vc_u32(0), r.n) { inner = i; }
    vc_neg(inner);
    rule_fails(r, "vc_neg in kernel 'saxpy': operand 1 (for) was created in a block that is already closed; pass it out of the block in a vc_var");
    r = rule_begin(NULL);
    memset(&var, 0, sizeof var);
    VC_LOOP(r.k) { var = vc_var(r.k, "sum", VC_F32); vc_break_if(r.k, vc_bool(true)); }
    vc_set(var, r.a);
    rule_fails(r, "vc_set in kernel 'saxpy': variable 'sum' was declared in a block that is already closed");
    r = rule_begin(NULL);
    old = r.a;
    vc_restart(r.k, NULL);
    vc_const(r.k, vc_f32(0));
    vc_add(vc_param(r.k, NULL, VC_F32), old);
    assert_string_equal(vc_error(r.k), "vc_add in kernel 'kernel': operand 2 was created before vc_restart");
    vc_restart(r.k, NULL);
    vc_store(r.y, vc_u32(0), vc_f32(0));
    assert_string_equal(vc_error(r.k), "vc_store in kernel 'kernel': the ref was created before vc_restart");
    vc_free(r.k);
    vc_free(other.k);
}

static void memory(void **state) {
    static const vc_val never = { 0, 0 };
    rule_rig r = rule_begin(NULL);
    vc_ref t;
    static const float data[2] = { 1, 2 };
    (void)state;
    vc_load(r.y, vc_u32(0));
    rule_fails(r, "vc_load in kernel 'saxpy': buffer 'y' was declared without VC_READ");
    r = rule_begin(NULL);
    vc_store(r.x, vc_u32(0), r.a);
    rule_fails(r, "vc_store in kernel 'saxpy': buffer 'x' was declared without VC_WRITE");
    r = rule_begin(NULL);
    t = vc_table(r.k, "t", VC_F32, data, 2);
    vc_set(t, r.a);
    rule_fails(r, "vc_set in kernel 'saxpy': table 't' is constant");
    r = rule_begin(NULL);
    t = vc_table(r.k, "t", VC_F32, data, 2);
    vc_load(t, vc_i32(2));
    rule_fails(r, "vc_load in kernel 'saxpy': element 2 is out of range: the last one of table 't' is 1");
    r = rule_begin(NULL);
    vc_load(vc_offset(r.x, vc_i32(2)), vc_i32(-3));
    rule_fails(r, "vc_load in kernel 'saxpy': element -1 of buffer 'x' is negative");
    r = rule_begin(NULL);
    vc_load(r.x, vc_u64(0x80000000u));
    rule_fails(r, "vc_load in kernel 'saxpy': the constant offset 2147483648 into buffer 'x' does not fit into 32 "
                  "bits; pass it as a 64-bit value with vc_const");
    r = rule_begin(NULL);
    vc_load(vc_var(r.k, "s", VC_F32), r.n);
    rule_fails(r, "vc_load in kernel 'saxpy': variable 's' has no elements; use vc_get and vc_set");
    r = rule_begin(NULL);
    vc_load(r.x, r.a);
    rule_fails(r, "vc_load in kernel 'saxpy': the index 'a' is f32, but must be a scalar integer of 32 or 64 bits");
    r = rule_begin(NULL);
    vc_store(r.y, r.n, r.n);
    rule_fails(r, "vc_store in kernel 'saxpy': the value 'n' is u32, but the element type is f32; convert it with vc_cast");
    r = rule_begin(NULL);
    vc_store(r.y, r.n, r.v);
    rule_fails(r, "vc_store in kernel 'saxpy': the value is f32x4, but the element type is f32; convert it with vc_cast");
    r = rule_begin(NULL);
    vc_set(vc_var(r.k, "s", VC_F32), never);
    rule_fails(r, "vc_set in kernel 'saxpy': operand 2 was never set");
    r = rule_begin(NULL);
    vc_load_or(r.x, r.n, never, r.a);
    rule_fails(r, "vc_load_or in kernel 'saxpy': operand 3 was never set");
    r = rule_begin(NULL);
    vc_load_or(r.x, r.n, vc_bool(true), never);
    rule_fails(r, "vc_load_or in kernel 'saxpy': operand 4 was never set");
    r = rule_begin(NULL);
    vc_buffer(r.k, "z", VC_F32, 0);
    rule_fails(r, "vc_buffer in kernel 'saxpy': 'z': access is 0, but must be VC_READ, VC_WRITE or VC_READ_WRITE, optionally with VC_MAY_ALIAS and "
                  "VC_ANY_TYPE");
    r = rule_begin(NULL);
    vc_shared(r.k, "s", VC_F32, 0);
    rule_fails(r, "vc_shared in kernel 'saxpy': 's' has 0 elements of f32, but must have at least one and less than 2^31 bytes");
    r = rule_begin(NULL);
    vc_table(r.k, "t", VC_F32, NULL, 2);
    rule_fails(r, "vc_table in kernel 'saxpy': 't': data is NULL");
    r = rule_begin(NULL);
    memset(&t, 0, sizeof t);
    vc_store(t, r.n, r.a);
    rule_fails(r, "vc_store in kernel 'saxpy': the ref was never set");
    r = rule_begin(NULL);
    vc_shape(vc_var(r.k, "s", VC_F32), 0);
    rule_fails(r, "vc_shape in kernel 'saxpy': variable 's' has no shape; only buffers have one");
    r = rule_begin(NULL);
    vc_global_id(r.k, 3);
    rule_fails(r, "vc_global_id in kernel 'saxpy': axis is 3, but must be 0 to 2");
}

static void blocks(void **state) {
    rule_rig r = rule_begin(NULL);
    (void)state;
    VC_ELSE(r.k) { vc_barrier(r.k); }
    rule_fails(r, "VC_ELSE in kernel 'saxpy': must directly follow the block of a VC_IF");
    r = rule_begin(NULL);
    VC_IF(r.k, vc_lt(r.a, vc_f32(0))) { vc_store(r.y, vc_u32(0), r.a); }
    vc_store(r.y, vc_u32(0), r.a);
    VC_ELSE(r.k) { vc_store(r.y, vc_u32(0), r.a); }
    rule_fails(r, "VC_ELSE in kernel 'saxpy': must directly follow the block of a VC_IF");
    r = rule_begin(NULL);
    VC_EACH(r.k, i) { VC_EACH(r.k, j) { vc_store(r.y, vc_add(i, j), r.a); } VC_ELSE(r.k) { vc_store(r.y, i, r.a); } }
    rule_fails(r, "VC_ELSE in kernel 'saxpy': must directly follow the block of a VC_IF");
    r = rule_begin(NULL);
    VC_IF(r.k, r.n) { vc_store(r.y, vc_u32(0), r.a); }
    rule_fails(r, "VC_IF in kernel 'saxpy': the condition 'n' is u32, but must be a scalar bool; compare it with vc_ne(v, vc_i32(0))");
    r = rule_begin(NULL);
    VC_CASE(r.k, 1) { vc_barrier(r.k); }
    rule_fails(r, "VC_CASE in kernel 'saxpy': must be directly inside a VC_SWITCH");
    r = rule_begin(NULL);
    VC_SWITCH(r.k, r.n) { vc_store(r.y, vc_u32(0), r.a); }
    rule_fails(r, "vc_store in kernel 'saxpy': called directly inside a VC_SWITCH, which may only contain VC_CASE and VC_DEFAULT");
    r = rule_begin(NULL);
    VC_SWITCH(r.k, r.n) {
        VC_CASE(r.k, 1) { vc_store(r.y, vc_u32(0), r.a); }
        VC_CASE(r.k, 1) { vc_store(r.y, vc_u32(0), r.a); }
    }
    rule_fails(r, "VC_CASE in kernel 'saxpy': the value 1 is already used by another VC_CASE");
    r = rule_begin(NULL);
    VC_SWITCH(r.k, r.n) {
        VC_CASE(r.k, -1) { vc_store(r.y, vc_u32(0), r.a); }
    }
    rule_fails(r, "VC_CASE in kernel 'saxpy': the value is -1, which is out of range for u32");
    r = rule_begin(NULL);
    VC_SWITCH(r.k, r.a) {
        VC_CASE(r.k, -1) { vc_store(r.y, vc_u32(0), r.a); }
    }
    rule_fails(r, "VC_SWITCH in kernel 'saxpy': the value 'a' is f32, but must be a scalar integer");
    r = rule_begin(NULL);
    vc_break_if(r.k, vc_bool(true));
    rule_fails(r, "vc_break_if in kernel 'saxpy': called outside of a loop");
    r = rule_begin(NULL);
    VC_LOOP(r.k) { vc_store(r.y, vc_u32(0), r.a); }
    rule_fails(r, "VC_LOOP in kernel 'saxpy': the loop has no vc_break_if, vc_break_outer_if or vc_return_if, so it never terminates");
    r = rule_begin(NULL);
    for (int i = 0; i <= 1000; i++) vc_if_begin(r.k, vc_lt(r.a, vc_f32(0)));
    rule_fails(r, "kernel 'saxpy': blocks are nested too deeply: the limit is 1000 levels");
    r = rule_begin(NULL);
    vc_block_end(r.k);
    rule_fails(r, "vc_block_end in kernel 'saxpy': no block is open");
    r = rule_begin(NULL);
    VC_FOR(r.k, i, r.a, r.a) { vc_store(r.y, i, r.a); }
    rule_fails(r, "VC_FOR in kernel 'saxpy': first and limit are f32, but must be scalar integers");
    r = rule_begin(NULL);
    VC_FOR_STEP(r.k, i, vc_u32(0), r.n, vc_param(r.k, "s", VC_I64)) { vc_store(r.y, i, r.a); }
    rule_fails(r, "VC_FOR_STEP in kernel 'saxpy': the step 's' is i64, but must be a scalar integer as wide as u32");
    r = rule_begin(NULL);
    VC_LOOP(r.k) {
        vc_break_if(r.k, vc_bool(true));
        VC_IF(r.k, vc_lt(r.a, vc_f32(0))) { if (r.k) break; }
    }
    assert_string_equal(vc_error(r.k), "kernel 'saxpy': VC_LOOP (statement 1) was not closed: C code left it, or a block inside it, by break, continue, goto "
                                       "or return");
    assert_null(vc_spirv(r.k, NULL));
    vc_block_end(r.k);
    assert_null(vc_error(r.k));
    assert_non_null(vc_spirv(r.k, NULL));
    vc_free(r.k);
    r = rule_begin(NULL);
    VC_SWITCH(r.k, vc_load(vc_buffer(r.k, "mode", VC_U32, VC_READ), vc_u32(0))) { if (r.k) break; }
    assert_string_equal(vc_error(r.k), "kernel 'saxpy': VC_SWITCH of load 'mode' (statement 1) was not closed: C code left it, or a block inside it, by "
                                       "break, continue, goto or return");
    vc_free(r.k);
}

/* Refs and images that were never set, together with immediates: no operand identifies the kernel. */
static void never_set(void **state) {
    static const char text[] = "in kernel 'saxpy': the ref or image was never set; no operand identifies the kernel, so this may be an error of another kernel";
    vc_ref t;
    vc_image_ref p;
    vc_val i = vc_u32(0), v = vc_f32(1), old;
    (void)state;
    memset(&t, 0, sizeof t);
    memset(&p, 0, sizeof p);
#define STRAY(name, ...) do { \
        char want[240]; \
        rule_rig r = rule_begin(NULL); \
        name(__VA_ARGS__); \
        snprintf(want, sizeof want, "%s %s", #name, text); \
        rule_fails(r, want); \
        r = rule_begin(NULL); /* reported once */ \
        assert_null(vc_error(r.k)); \
        vc_free(r.k); \
    } while (0)
    STRAY(vc_store, t, i, v);
    STRAY(vc_set, t, v);
    STRAY(vc_load, t, i);
    STRAY(vc_get, t);
    STRAY(vc_load_or, t, i, vc_bool(true), v);
    STRAY(vc_offset, t, i);
    STRAY(vc_at, t, i);
    STRAY(vc_field, t, 0);
    STRAY(vc_length, t);
    STRAY(vc_shape, t, 0);
    STRAY(vc_ordered, t, VC_ACQUIRE, VC_SCOPE_DEVICE);
    STRAY(vc_atomic_add, t, i, v, &old);
    STRAY(vc_atomic_sub, t, i, v, NULL);
    STRAY(vc_atomic_compare_exchange, t, i, v, v, &old);
    STRAY(vc_atomic_load, t, i, &old);
    STRAY(vc_atomic_store, t, i, v);
    STRAY(vc_sample, p, v);
    STRAY(vc_sample_lod, p, v, v);
    STRAY(vc_sample_grad, p, v, v, v);
    STRAY(vc_sample_offset, p, v, v, 0, 0, 0);
    STRAY(vc_gather, p, v, 0);
    STRAY(vc_fetch, p, i, i);
    STRAY(vc_image_load, p, i);
    STRAY(vc_image_store, p, i, v);
    STRAY(vc_image_size, p, i);
    STRAY(vc_image_levels, p);
}

static void *no_memory(void *user, size_t size) { (void)user, (void)size; return NULL; }
static void *no_more_memory(void *user, void *block, size_t size) { (void)user, (void)block, (void)size; return NULL; }
static void no_release(void *user, void *block) { (void)user, (void)block; }

/* Refs, images and values of failed calls are not errors in another kernel, and do not hide its own errors. */
static void failed_results(void **state) {
    static const char text[] = "vc_store in kernel 'saxpy': the ref or image was never set; no operand identifies the kernel, so this may be an error "
                               "of another kernel";
    static const vc_ref never = {0};
    vc_val i = vc_u32(0), v = vc_f32(1), given;
    vc_kernel_desc desc;
    vc_kernel *none;
    vc_ref t;
    rule_rig good = rule_begin(NULL), bad = rule_begin(NULL);
    (void)state;
    t = vc_array(bad.k, "none", VC_F32, 0);
    vc_store(t, i, v);
    vc_store(vc_offset(vc_at(vc_field(t, 0), i), i), i, v);
    given = vc_load(t, i);
    vc_store(never, i, given);
    vc_store(never, vc_shl(vc_cast(VC_U32, given), i), vc_select(vc_bool(true), given, v));
    vc_store(never, i, vc_vec2(v, vc_average(given, v)));
    vc_image_load(vc_image(bad.k, "none", NULL), i);
    assert_non_null(vc_error(bad.k));
    assert_null(vc_error(good.k));
    /* good's own mistake is reported although another kernel failed */
    vc_store(never, i, v);
    assert_non_null(vc_error(bad.k));
    rule_fails(good, text);
    /* using them in another kernel is an error there */
    good = rule_begin(NULL);
    vc_store(t, good.n, good.a);
    rule_fails(good, "vc_store in kernel 'saxpy': the ref is the result of a failed call");
    good = rule_begin(NULL);
    vc_store(good.y, good.n, given);
    rule_fails(good, "vc_store in kernel 'saxpy': operand 3 is the result of a failed call");
    good = rule_begin(NULL);
    vc_image_load(vc_image(bad.k, "none", NULL), good.n);
    rule_fails(good, "vc_image_load in kernel 'saxpy': the image is the result of a failed call");
    vc_free(bad.k);
    /* as is using those of a kernel that ran out of memory */
    good = rule_begin(NULL);
    memset(&desc, 0, sizeof desc);
    desc.allocator.allocate = no_memory;
    desc.allocator.reallocate = no_more_memory;
    desc.allocator.release = no_release;
    none = vc_begin(&desc);
    assert_null(none);
    t = vc_buffer(none, "x", VC_F32, VC_READ_WRITE);
    vc_store(t, i, vc_load(t, i));
    vc_image_load(vc_image(none, "p", NULL), i);
    assert_null(vc_error(good.k));
    vc_store(never, i, v);
    rule_fails(good, text);
}

static void rule_sizes(void **state) {
    static const uint32_t data[65536];
    vc_kernel_desc desc;
    rule_rig r = rule_begin(NULL);
    vc_type both;
    (void)state;
#define LIMIT ", but the limit for the private arrays of an invocation (64 KiB, and 4 MiB per work-group) is "
    vc_array(r.k, "huge", VC_F32, 1000000);
    rule_fails(r, "vc_array in kernel 'saxpy': 'huge' has 4000000 bytes and earlier declarations have 0" LIMIT "32768 bytes; use a buffer");
    r = rule_begin(NULL);
    for (int i = 0; i < 9; i++) vc_array(r.k, "many", VC_F32, 1024);
    rule_fails(r, "vc_array in kernel 'saxpy': 'many' has 4096 bytes and earlier declarations have 32768" LIMIT "32768 bytes; use a buffer");
    r = rule_begin(NULL);
    both = vc_array_type(r.k, VC_F32, 5000);
    vc_var(r.k, "a", both);
    vc_var(r.k, "b", both);
    rule_fails(r, "vc_var in kernel 'saxpy': 'b' has 20000 bytes and earlier declarations have 20000" LIMIT "32768 bytes; use a buffer");
    r = rule_begin(NULL);
    vc_table(r.k, "t", VC_U32, data, 65536);
    vc_table(r.k, "u", VC_U32, data, 1);
    rule_fails(r, "vc_table in kernel 'saxpy': 'u' has 4 bytes and earlier declarations have 262144, but the limit for the tables of a kernel is 262144 bytes; "
                  "use a buffer");
    memset(&desc, 0, sizeof desc);
    desc.name = "saxpy";
    desc.local_size[0] = 1;
    r.k = vc_begin(&desc);
    vc_array(r.k, "most", VC_U32, 16384);
    assert_null(vc_error(r.k));
    vc_restart(r.k, &desc);
    vc_array(r.k, "most", VC_U32, 16384);
    assert_null(vc_error(r.k));
    vc_array(r.k, "more", VC_U8, 1);
    assert_string_equal(vc_error(r.k), "vc_array in kernel 'saxpy': 'more' has 1 bytes and earlier declarations have 65536" LIMIT "65536 bytes; use a buffer");
    vc_free(r.k);
}

static void short_circuit(void **state) {
    rule_rig r = rule_begin(NULL);
    vc_val out, inner = { 0, 0 }, never = { 0, 0 };
    (void)state;
    vc_and_then(r.k, &out, r.n, vc_bool(true));
    rule_fails(r, "vc_and_then in kernel 'saxpy': the condition 'n' is u32, but must be a scalar bool; compare it with vc_ne(v, vc_i32(0))");
    r = rule_begin(NULL);
    vc_or_else(r.k, &out, vc_lt(r.a, vc_f32(0)), r.a);
    rule_fails(r, "vc_or_else in kernel 'saxpy': operand 2 'a' is f32, but must be bool");
    r = rule_begin(NULL);
    vc_select_lazy(r.k, &out, vc_lt(r.a, vc_f32(0)), r.a, r.n);
    rule_fails(r, "vc_select_lazy in kernel 'saxpy': operand 3 'n' is u32, but must be f32");
    r = rule_begin(NULL);
    vc_select_lazy(r.k, &out, vc_lt(r.a, vc_f32(0)), never, r.n);
    rule_fails(r, "vc_select_lazy in kernel 'saxpy': operand 2 was never set");
    assert_int_equal(out.owner, 0);
    r = rule_begin(NULL);
    vc_select_lazy(r.k, &out, vc_lt(r.a, vc_f32(0)), r.n, vc_i32(-1));
    rule_fails(r, "vc_select_lazy in kernel 'saxpy': operand 3 is the immediate -1, which is out of range for u32");
    r = rule_begin(NULL);
    vc_and_then(r.k, &out, vc_lt(r.a, vc_f32(0)), vc_lt(inner = vc_load(r.x, r.n), vc_f32(0)));
    vc_store(r.y, r.n, inner);
    rule_fails(r, "vc_store in kernel 'saxpy': operand 3 (load 'x') was created in a block that is already closed; pass it out of the block in a vc_var");
    r = rule_begin(NULL);
    vc_and_then(r.k, &out, vc_lt(r.a, vc_f32(0)), (vc_loop_begin(r.k), vc_bool(true)));
    rule_fails(r, "vc_and_then in kernel 'saxpy': an operand opens a block that it does not close, or closes one that it did not open");
    r = rule_begin(NULL);
    VC_SWITCH(r.k, r.n) { vc_and_then(r.k, &out, vc_lt(r.a, vc_f32(0)), vc_bool(true)); }
    rule_fails(r, "vc_and_then in kernel 'saxpy': called directly inside a VC_SWITCH, which may only contain VC_CASE and VC_DEFAULT");
}

static void rule_barriers(void **state) {
    rule_rig r = rule_begin(NULL);
    (void)state;
    VC_EACH(r.k, i) { vc_store(r.y, i, r.a); vc_barrier(r.k); }
    rule_fails(r, "vc_barrier in kernel 'saxpy': called inside VC_EACH, which some invocations skip; guard the loads and stores instead");
    r = rule_begin(NULL);
    VC_IF(r.k, vc_lt(vc_local_id(r.k, 0), vc_u32(3))) { vc_barrier(r.k); }
    rule_fails(r, "vc_barrier in kernel 'saxpy': called in control flow that diverges within a work-group, but all invocations must reach it");
    r = rule_begin(NULL);
    VC_FOR(r.k, i, vc_u32(0), vc_global_id(r.k, 0)) { vc_barrier(r.k); vc_store(r.y, i, r.a); }
    rule_fails(r, "vc_barrier in kernel 'saxpy': called in control flow that diverges within a work-group, but all invocations must reach it");
    r = rule_begin(NULL);
    vc_return_if(r.k, vc_ge(vc_global_id(r.k, 0), r.n));
    vc_barrier(r.k);
    rule_fails(r, "vc_barrier in kernel 'saxpy': called after a vc_return_if that may have ended some invocations of a work-group");
    r = rule_begin(NULL);
    VC_LOOP(r.k) { vc_barrier(r.k); vc_break_if(r.k, vc_eq(vc_local_index(r.k), vc_u32(1))); }
    rule_fails(r, "vc_break_if in kernel 'saxpy': the condition differs between the invocations of a work-group, but the loop contains a "
                  "barrier or work-group function that all of them must reach");
    r = rule_begin(NULL);
    VC_LOOP(r.k) {
        vc_continue_if(r.k, vc_eq(vc_local_index(r.k), vc_u32(1)));
        vc_barrier(r.k);
        vc_break_if(r.k, vc_bool(true));
    }
    rule_fails(r, "vc_barrier in kernel 'saxpy': called in control flow that diverges within a work-group, but all invocations must reach it");
    r = rule_begin(NULL); /* all of these are uniform */
    VC_FOR(r.k, i, vc_u32(0), r.n) {
        vc_barrier(r.k);
        VC_IF(r.k, vc_lt(vc_local_id(r.k, 0), i)) { vc_store(r.y, i, r.a); }
        vc_barrier(r.k);
        vc_break_if(r.k, vc_lt(vc_load(r.x, vc_group_id(r.k, 0)), r.a));
    }
    vc_barrier(r.k);
    VC_FOR(r.k, i, vc_u32(0), vc_local_id(r.k, 0)) { vc_break_if(r.k, vc_eq(i, vc_u32(7))); }
    vc_barrier(r.k);
    assert_null(vc_error(r.k));
    vc_free(r.k);
}

static void machine(void **state) {
    vc_machine m;
    vc_kernel_desc desc;
    vc_kernel *k;
    rule_rig r;
    vc_ref z;
    (void)state;
    memset(&m, 0, sizeof m);
    m.missing_features = VC_FEATURE_F64 | VC_FEATURE_STORAGE_16 | VC_FEATURE_ADDRESS | VC_FEATURE_I64;
    m.max_shared_bytes = 64;
    m.max_private_bytes = 128 * 20;
    r = rule_begin(&m);
    vc_store(r.y, vc_u32(0), vc_cast(VC_F32, vc_mul(vc_cast(VC_F64, r.a), vc_f64(2))));
    assert_null(vc_error(r.k));
    assert_null(vc_spirv(r.k, NULL));
    rule_fails(r, "vc_const in kernel 'saxpy': requires f64 arithmetic, which the device does not support (VC_FEATURE_F64)");
    r = rule_begin(&m);
    vc_store(vc_shared(r.k, "s", VC_F32, 17), r.n, r.a);
    vc_reflect(r.k);
    rule_fails(r, "kernel 'saxpy': needs 68 bytes of shared memory, but the device's limit is 64");
    r = rule_begin(&m);
    vc_store(vc_array(r.k, "t", VC_F32, 5), r.n, r.a);
    vc_store(vc_array(r.k, "u", VC_F32, 1), r.n, r.a);
    vc_reflect(r.k);
    rule_fails(r, "kernel 'saxpy': needs 24 bytes of private arrays in each of 128 invocations, but the device's limit is 2560 bytes per work-group");
    r = rule_begin(&m);
    z = vc_buffer(r.k, "z", VC_U64, VC_READ);
    vc_store(r.y, vc_u32(0), vc_cast(VC_F32, vc_load(z, r.n)));
    vc_reflect(r.k);
    rule_fails(r, "vc_load in kernel 'saxpy': requires 64-bit integer arithmetic, which the device does not support (VC_FEATURE_I64)");
    memset(&desc, 0, sizeof desc);
    desc.name = "wide";
    desc.machine.max_local_size[0] = 64;
    k = vc_begin(&desc);
    assert_string_equal(vc_error(k), "kernel 'wide': local_size[0] is 128, but the device's limit is 64");
    desc.machine.max_local_size[0] = 0;
    desc.machine.max_local_invocations = 256;
    desc.local_size[0] = 32;
    desc.local_size[1] = 16;
    vc_restart(k, &desc);
    assert_string_equal(vc_error(k), "kernel 'wide': local_size is 32 x 16 x 1, but the device's limit is 256 invocations");
    desc.machine.max_local_invocations = 0;
    desc.local_size[0] = desc.local_size[1] = 65536;
    vc_restart(k, &desc);
    assert_string_equal(vc_error(k), "kernel 'wide': local_size is 65536 x 65536 x 1, but the limit is 2^31 - 1 invocations");
    desc.local_size[0] = 0;
    vc_restart(k, &desc);
    assert_string_equal(vc_error(k), "kernel 'wide': local_size[0] is 0, but only trailing sizes may be 0");
    desc.local_size[1] = 0;
    desc.buffers = VC_BUFFERS_ADDRESS;
    desc.machine.missing_features = VC_FEATURE_ADDRESS;
    vc_restart(k, &desc);
    assert_string_equal(vc_error(k), "kernel 'wide': desc.buffers is VC_BUFFERS_ADDRESS, which requires VC_FEATURE_ADDRESS and "
                                     "VC_FEATURE_I64; the device lacks VC_FEATURE_ADDRESS");
    desc.machine.missing_features = VC_FEATURE_I64;
    vc_restart(k, &desc);
    assert_string_equal(vc_error(k), "kernel 'wide': desc.buffers is VC_BUFFERS_ADDRESS, which requires VC_FEATURE_ADDRESS and "
                                     "VC_FEATURE_I64; the device lacks VC_FEATURE_I64");
    desc.machine.missing_features = VC_FEATURE_ADDRESS | VC_FEATURE_I64;
    vc_restart(k, &desc);
    assert_string_equal(vc_error(k), "kernel 'wide': desc.buffers is VC_BUFFERS_ADDRESS, which requires VC_FEATURE_ADDRESS and "
                                     "VC_FEATURE_I64; the device lacks both");
    desc.buffers = (vc_buffers)7;
    vc_restart(k, &desc);
    assert_string_equal(vc_error(k), "kernel 'wide': desc.buffers is 7, but must be VC_BUFFERS_DEFAULT, VC_BUFFERS_ADDRESS or VC_BUFFERS_BINDING");
    assert_int_equal(vc_hash(k), 0);
    vc_free(k);
    desc.buffers = VC_BUFFERS_DEFAULT;
    desc.allocator.release = vc__std_release;
    k = vc_begin(&desc);
    assert_string_equal(vc_error(k), "kernel 'wide': desc.allocator.allocate is NULL; set allocate, reallocate and release, or none");
    vc_free(k);
    desc.allocator.allocate = vc__std_allocate;
    k = vc_begin(&desc);
    assert_string_equal(vc_error(k), "kernel 'wide': desc.allocator.reallocate is NULL; set allocate, reallocate and release, or none");
    vc_free(k);
    memset(&m, 0, sizeof m); /* offsets of two types are added without i64 on devices that lack it */
    m.missing_features = VC_FEATURE_I64;
    r = rule_begin(&m);
    vc_store(vc_offset(r.y, r.n), vc_param(r.k, "i", VC_I32), r.a);
    assert_non_null(vc_spirv(r.k, NULL));
    assert_false(vc_reflect(r.k)->features & VC_FEATURE_I64);
    vc_free(r.k);
}

/* Without 64-bit integers, f64 is not rounded by operations on its bits. Casts to f32 and back remain in the code. */
static void casts_that_round(void **state) {
    static const vc_type types[] = { VC_F32, VC_F16 };
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        vc_machine m;
        size_t size = 0;
        uint32_t casts = 0;
        memset(&m, 0, sizeof m);
        m.missing_features = VC_FEATURE_I64 | VC_FEATURE_ADDRESS;
        rule_rig r = rule_begin(&m);
        vc_val d = vc_load(vc_buffer(r.k, "d", VC_F64, VC_READ), r.n);
        vc_set(vc_buffer(r.k, "out", VC_F64, VC_WRITE), vc_cast(VC_F64, vc_cast(types[i], d)));
        const uint32_t *words = vc_spirv(r.k, &size);
        if (!words) fail_msg("%s", vc_error(r.k));
        for (size_t at = 5; at < size; at += words[at] >> 16) casts += (words[at] & 0xffffu) == VC__OpFConvert;
        assert_true(casts >= 2);
        vc_free(r.k);
    }
}

static void no_kernel(void **state) {
    static const vc_val never = { 0, 0 };
    vc_ref none;
    (void)state;
    memset(&none, 0, sizeof none);
    assert_string_equal(vc_error(NULL), "the kernel is NULL: vc_begin ran out of host memory or was not called");
    none = vc_buffer(NULL, "x", VC_F32, VC_READ);
    VC_EACH(NULL, i) { vc_store(none, i, vc_load(none, i)); }
    VC_SWITCH(NULL, never) {
        VC_CASE(NULL, 1) { vc_barrier(NULL); }
        VC_DEFAULT(NULL) { vc_return_if(NULL, never); }
    }
    VC_IF(NULL, never) { vc_set(none, never); } VC_ELSE(NULL) { vc_break_if(NULL, never); }
    vc_add(vc_global_id(NULL, 0), vc_length(none));
    assert_int_equal(vc_typeof(never), VC_NONE);
    assert_null(vc_spirv(NULL, NULL));
    assert_null(vc_source(NULL, VC_TARGET_GLSL));
    assert_null(vc_dump(NULL));
    assert_null(vc_reflect(NULL));
    assert_int_equal(vc_hash(NULL), 0);
    vc_restart(NULL, NULL);
    vc_free(NULL);
}

static void no_body(void **state) {
    vc_kernel *k = vc_begin_with(NULL, "empty", 0, 0, 0, NULL);
    (void)state;
    assert_string_equal(vc_error(k), "vc_begin_with in kernel 'empty': body is NULL");
    vc_free(k);
}

/* Rarely reached limits and operands. */
static void rare_limits(void **state) {
    static const uint32_t data[70000] = { 1 };
    static vc_member members[1025];
    char name[1000] = "";
    vc_kernel_desc desc;
    vc_val nothing = { 77, 0 };
    rule_rig r = rule_begin(NULL);
    vc_ref s;
    (void)state;
    vc_add(r.a, nothing);
    rule_fails(r, "vc_add in kernel 'saxpy': operand 2 is an immediate of type 77, which is not a scalar type; use vc_imm");
    r = rule_begin(NULL);
    vc_part(r.v, 4);
    rule_fails(r, "vc_part in kernel 'saxpy': component 4 is out of range: the last one of f32x4 is 3");
    r = rule_begin(NULL);
    vc_with(r.v, 4, r.a);
    rule_fails(r, "vc_with in kernel 'saxpy': component 4 is out of range: the last one of f32x4 is 3");
    memset(name, 'n', sizeof name - 1); /* a long name leaves room for the reason */
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    r = rule_begin(NULL);
    vc_restart(r.k, &desc);
    r.a = vc_param(r.k, "a", VC_F32);
    vc_and(r.a, r.a);
    assert_memory_equal(vc_error(r.k), "vc_and in kernel 'nnnn", 22);
    assert_non_null(strstr(vc_error(r.k), "nnnn': operand 1 'a' is f32, but must be bool or an integer"));
    vc_free(r.k);
    r = rule_begin(NULL);
    vc_load(vc_offset(r.x, vc_i64(INT64_MAX)), vc_i32(1));
    rule_fails(r, "vc_load in kernel 'saxpy': the constant index exceeds 64 bits");
    r = rule_begin(NULL);
    VC_FOR_STEP(r.k, i, vc_u8(0), vc_param(r.k, "m", VC_U8), vc_i32(300)) { vc_store(r.y, vc_cast(VC_U32, i), r.a); }
    rule_fails(r, "VC_FOR_STEP in kernel 'saxpy': the step 300 is out of range for u8");
    r = rule_begin(NULL);
    vc_each_begin(r.k, 4, 0);
    rule_fails(r, "VC_EACH in kernel 'saxpy': axes is 4, but must be 1 to 3");
    r = rule_begin(NULL);
    vc_add(r.a, vc_imm(VC_F32X2, 5));
    rule_fails(r, "vc_add in kernel 'saxpy': operand 2 is vc_imm of f32x2, but vc_imm requires a scalar type");
    r = rule_begin(NULL);
    vc_store(r.y, r.n, vc_imm(777, 5));
    rule_fails(r, "vc_store in kernel 'saxpy': operand 3 is vc_imm of type 777, but vc_imm requires a scalar type");
    r = rule_begin(NULL);
    vc_assert(r.k, vc_imm(777, 5), "never");
    assert_non_null(strstr(vc_error(r.k), "operand 1 is vc_imm of type 777, but vc_imm requires a scalar type"));
    vc_free(r.k);
    r = rule_begin(NULL);
    vc_printf(r.k, "%*d\n", r.n);
    rule_fails(r, "vc_printf in kernel 'saxpy': '%*': the width is '*', but must be a number");
    r = rule_begin(NULL);
    s = vc_table(r.k, "t", VC_U16, data, 70000);
    vc_store(r.y, r.n, vc_cast(VC_F32, vc_load(s, r.n)));
    assert_null(vc_spirv(r.k, NULL));
    rule_fails(r, "vc_spirv in kernel 'saxpy': table 't' has 70000 elements, but the limit of SPIR-V is 65532; use a buffer");
    r = rule_begin(NULL);
    VC_SWITCH(r.k, r.n) { for (int i = 0; i < 16384; i++) VC_CASE(r.k, i) { vc_store(r.y, r.n, r.a); } }
    assert_null(vc_spirv(r.k, NULL));
    rule_fails(r, "vc_spirv in kernel 'saxpy': a VC_SWITCH has 16384 cases, but the limit of SPIR-V is 16383");
    r = rule_begin(NULL);
    for (int i = 0; i < 1025; i++) members[i].type = VC_F32;
    vc_shared(r.k, "s", vc_struct(r.k, "many", members, 1025), 2);
    rule_fails(r, "vc_shared in kernel 'saxpy': shared array 's' of type struct many would be split into 1025 arrays "
                  "of scalars or vectors, but the limit is 1024");
}

/* Asking for an invalid target is an error of that call; the kernel stays usable. */
static void rule_targets(void **state) {
    rule_rig r = rule_begin(NULL);
    uint64_t hash;
    (void)state;
    vc_store(r.y, r.n, r.a);
    hash = vc_hash(r.k);
    assert_null(vc_source(r.k, (vc_target)9));
    assert_string_equal(vc_error(r.k), "vc_source in kernel 'saxpy': target is 9, but must be VC_TARGET_GLSL, VC_TARGET_CUDA or VC_TARGET_OPENCL");
    assert_non_null(vc_source(r.k, VC_TARGET_GLSL));
    assert_null(vc_error(r.k));
    assert_null(vc_source(r.k, VC_TARGET_SPIRV));
    assert_null(vc_reflect_for(r.k, (vc_target)9));
    assert_string_equal(vc_error(r.k), "vc_reflect_for in kernel 'saxpy': target is 9, which is not a vc_target");
    assert_int_equal(vc_hash(r.k), hash);
    assert_null(vc_error(r.k));
    assert_null(vc_source(r.k, VC_TARGET_NONE));
    vc_store(r.y, vc_u32(0), r.a); /* no error so far */
    assert_int_not_equal(vc_hash(r.k), hash);
    assert_null(vc_source(r.k, VC_TARGET_NONE));
    vc_add(r.a, r.n);
    assert_non_null(strstr(vc_error(r.k), "vc_add in kernel"));
    vc_free(r.k);
}

/* ---- desc.error ---- */

typedef struct error_calls { int count; char text[256]; } error_calls;

static void error_called(void *user, const char *message) {
    error_calls *calls = (error_calls *)user;
    calls->count++;
    snprintf(calls->text, sizeof calls->text, "%s", message);
}

/* The call that makes the first error calls desc.error, and later calls do not. */
static void the_first_error_calls_back(void **state) {
    (void)state;
    error_calls calls = { 0, "" };
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "k";
    desc.error = error_called;
    desc.error_user = &calls;
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_WRITE);
    assert_int_equal(calls.count, 0);
    vc_store(x, vc_u32(0), vc_f32(1));
    assert_int_equal(calls.count, 1);
    assert_string_equal(calls.text, vc_error(k));
    vc_store(x, vc_f32(0), vc_u32(1));
    assert_null(vc_spirv(k, NULL));
    assert_int_equal(calls.count, 1);
    vc_restart(k, &desc);
    vc_store(vc_buffer(k, "x", VC_U32, VC_WRITE), vc_global_id(k, 7), vc_u32(1));
    assert_int_equal(calls.count, 2);
    assert_string_equal(calls.text, "vc_global_id in kernel 'k': axis is 7, but must be 0 to 2");
    vc_restart(k, NULL);
    vc_global_id(k, 7);
    assert_int_equal(calls.count, 2);
    vc_free(k);
}

/* ---- source positions ---- */

/* The error of a kernel with this name, made by a call at file:line. */
static vc_kernel *failed_at(const char *name, const char *file, int line) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    vc_kernel *k = vc_begin(&desc);
    vc_source_line(file, line);
    vc_global_id(k, 7);
    vc_source_line(NULL, 0);
    return k;
}

/* An error ends with the source position, of which a long path keeps its end. A long sentence is cut off, the position
   is not. tests/compile/lines.c tests the macros that set it. */
static void source_positions(void **state) {
    (void)state;
    char path[400];
    vc_kernel *k = failed_at("k", "shader.c", 42);
    assert_string_equal(vc_error(k), "vc_global_id in kernel 'k': axis is 7, but must be 0 to 2 (shader.c:42)");
    vc_global_id(k, 8);
    assert_string_equal(vc_error(k), "vc_global_id in kernel 'k': axis is 7, but must be 0 to 2 (shader.c:42)");
    vc_free(k);
    k = failed_at("k", NULL, 42);
    assert_string_equal(vc_error(k), "vc_global_id in kernel 'k': axis is 7, but must be 0 to 2");
    vc_restart(k, NULL);
    vc_global_id(k, 7);
    assert_string_equal(vc_error(k), "vc_global_id in kernel 'kernel': axis is 7, but must be 0 to 2");
    vc_free(k);
    memset(path, '/', sizeof path - 1);
    strcpy(path + sizeof path - 9, "shader.c");
    k = failed_at(path, path, 2147483647);
    const char *error = vc_error(k);
    assert_in_range(strlen(error), 300, 511);
    assert_non_null(strstr(error, " (/////"));
    assert_string_equal(error + strlen(error) - 20, "shader.c:2147483647)");
    vc_free(k);
    k = vc_begin(NULL);
    vc_source_line(path, 1);
    vc_val v = vc_param(k, path, VC_F32);
    vc_add(v, vc_param(k, path, VC_U32));
    vc_source_line(NULL, 0);
    error = vc_error(k);
    assert_in_range(strlen(error), 300, 511);
    assert_string_equal(error + strlen(error) - 11, "shader.c:1)");
    vc_free(k);
}

/* A call whose kernel is unknown is reported with its own position. */
static void source_position_without_kernel(void **state) {
    (void)state;
    vc_ref unset;
    memset(&unset, 0, sizeof unset);
    vc_kernel *k = vc_begin(NULL);
    vc_source_line("shader.c", 7);
    vc_store(unset, vc_u32(0), vc_f32(1));
    vc_source_line("shader.c", 8);
    assert_non_null(strstr(vc_error(k), "another kernel (shader.c:7)"));
    vc_restart(k, NULL);
    vc_global_id(k, 7);
    assert_non_null(strstr(vc_error(k), "0 to 2 (shader.c:8)"));
    vc_source_line(NULL, 0);
    vc_free(k);
}

static const struct CMUnitTest builder_errors_tests[] = {
    cmocka_unit_test(types), cmocka_unit_test(rule_targets), cmocka_unit_test(rule_vectors),
    cmocka_unit_test(vectors_loops_and_views), cmocka_unit_test(rule_values), cmocka_unit_test(memory),
    cmocka_unit_test(blocks), cmocka_unit_test(short_circuit),
    cmocka_unit_test(never_set), cmocka_unit_test(rule_sizes), cmocka_unit_test(failed_results),
    cmocka_unit_test(rule_barriers), cmocka_unit_test(machine), cmocka_unit_test(casts_that_round),
    cmocka_unit_test(no_kernel), cmocka_unit_test(no_body),
    cmocka_unit_test(rare_limits), cmocka_unit_test(the_first_error_calls_back),
    cmocka_unit_test(source_positions), cmocka_unit_test(source_position_without_kernel),
};

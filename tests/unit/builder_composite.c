/* Composite types: layout, parts that are eliminated, and an error for every mismatch. */
#include "tests/unit/unit.h"

typedef struct composite_rig {
    vc_kernel *k;
    vc_type pair, box; /* struct pair { f32 x; u8 tag; }, struct box { pair list[4]; f64x2x2 m; } */
    vc_ref boxes, f;   /* buffers */
    vc_val i, a, z, m23, m22, p, b;
} composite_rig;

static vc_type make_pair(vc_kernel *k) {
    const vc_member m[] = { { "x", VC_F32 }, { "tag", VC_U8 } };
    return vc_struct(k, "pair", m, 2);
}

static composite_rig composite_begin(void) {
    vc_kernel_desc desc;
    composite_rig r;
    memset(&desc, 0, sizeof desc);
    desc.name = "k";
    r.k = vc_begin(&desc);
    r.pair = make_pair(r.k);
    const vc_member m[] = { { "list", vc_array_type(r.k, r.pair, 4) }, { "m", VC_F64X2X2 } };
    r.box = vc_struct(r.k, "box", m, 2);
    r.boxes = vc_buffer(r.k, "boxes", r.box, VC_READ_WRITE);
    r.f = vc_buffer(r.k, "f", VC_F32, VC_READ_WRITE);
    r.i = vc_global_id(r.k, 0);
    r.a = vc_param(r.k, "a", VC_F32);
    r.z = vc_param(r.k, "z", VC_F32C);
    r.m23 = vc_param(r.k, "m23", VC_MAT(VC_F32, 2, 3));
    r.m22 = vc_param(r.k, "m22", VC_F32X2X2);
    r.p = vc_param(r.k, "p", r.pair);
    r.b = vc_param(r.k, "b", r.box);
    assert_null(vc_error(r.k));
    return r;
}

/* ---- invalid input ---- */

static void no_members(composite_rig *r) { vc_struct(r->k, "empty", NULL, 0); }
static void members_at_null(composite_rig *r) { vc_struct(r->k, "s", NULL, 3); }
static void unknown_member(composite_rig *r) {
    const vc_member m[] = { { "a", VC_F32 }, { "b", 13 } };
    vc_struct(r->k, "s", m, 2);
}
static void huge_struct(composite_rig *r) {
    const vc_member m[] = { { "a", vc_array_type(r->k, VC_F64, 200000000) },
                            { "b", vc_array_type(r->k, VC_F32, 200000000) } };
    vc_struct(r->k, "s", m, 2);
}
static void deep_type(composite_rig *r) {
    vc_type t = VC_U8;
    for (int i = 0; i < 40; i++) t = vc_array_type(r->k, t, 1);
}
static void empty_array(composite_rig *r) { vc_array_type(r->k, VC_F32, 0); }
static void unknown_element(composite_rig *r) { vc_array_type(r->k, VC_F16 + 80, 2); }
static void huge_array(composite_rig *r) { vc_array_type(r->k, r->box, 100000000); }
static void offset_of_part(composite_rig *r) { vc_offset_of(r->k, r->pair, 2); }
static void offset_of_nothing(composite_rig *r) { vc_offset_of(r->k, 5000, 0); }
static void field_beyond(composite_rig *r) { vc_field(vc_at(r->boxes, r->i), 2); }
static void field_of_array(composite_rig *r) { vc_field(vc_field(vc_at(r->boxes, r->i), 0), 0); }
static void field_of_number(composite_rig *r) { vc_field(r->f, 0); }
static void field_of_vector(composite_rig *r) { vc_field(vc_field(vc_field(vc_at(r->boxes, r->i), 1), 0), 0); }
static void element_beyond(composite_rig *r) { vc_at(vc_field(vc_at(r->boxes, r->i), 0), vc_u32(4)); }
static void element_below(composite_rig *r) { vc_at(vc_field(vc_at(r->boxes, r->i), 0), vc_i32(-1)); }
static void element_of_struct(composite_rig *r) { vc_at(vc_at(r->boxes, r->i), vc_u32(1)); }
static void element_of_variable(composite_rig *r) { vc_at(vc_var(r->k, "v", VC_F32), r->i); }
static void shared_beyond(composite_rig *r) { vc_get(vc_at(vc_shared(r->k, "tile", r->box, 4), vc_u32(4))); }
static void index_of_float(composite_rig *r) { vc_at(vc_field(vc_at(r->boxes, r->i), 0), r->a); }
static void offset_inside(composite_rig *r) { vc_offset(vc_at(r->boxes, r->i), vc_u32(1)); }
static void part_beyond(composite_rig *r) { vc_part(r->z, 2); }
static void with_beyond(composite_rig *r) { vc_with(r->m23, 3, r->a); }
static void with_wrong(composite_rig *r) { vc_with(r->p, 0, r->i); }
static void make_count(composite_rig *r) { vc_val v[3]; v[0] = v[1] = v[2] = r->a; vc_make(r->k, r->pair, v, 3); }
static void make_part(composite_rig *r) { vc_val v[2]; v[0] = r->z; v[1] = vc_u8(1); vc_make(r->k, r->pair, v, 2); }
static void make_column(composite_rig *r) {
    vc_val v[2];
    v[0] = v[1] = vc_vec3(r->a, r->a, r->a);
    vc_make(r->k, VC_F32X2X2, v, 2);
}
static void make_nested(composite_rig *r) { vc_val v[2]; v[0] = r->p; v[1] = r->m22; vc_make(r->k, r->box, v, 2); }
static void many_parts(composite_rig *r) { vc_get(vc_buffer(r->k, "big", vc_array_type(r->k, VC_F32, 2000), VC_READ)); }
static void store_wrong(composite_rig *r) { vc_store(r->boxes, r->i, r->p); }
static void store_number(composite_rig *r) { vc_store(r->boxes, r->i, r->a); }
static void store_complex(composite_rig *r) { vc_store(r->f, r->i, r->z); }
static void struct_arithmetic(composite_rig *r) { vc_add(r->p, r->p); }
static void struct_equal(composite_rig *r) { vc_eq(r->p, r->p); }
static void complex_sine(composite_rig *r) { vc_sin(r->z); }
static void complex_order(composite_rig *r) { vc_gt(r->z, r->z); }
static void complex_fma(composite_rig *r) { vc_fma(r->z, r->z, r->z); }
static void complex_fma_last(composite_rig *r) { vc_fma(r->a, r->a, r->z); }
static void complex_kinds(composite_rig *r) { vc_mul(r->z, vc_cast(VC_F64C, r->z)); }
static void complex_integer(composite_rig *r) { vc_add(r->z, r->i); }
static void complex_vector(composite_rig *r) { vc_mul(vc_vec2(r->a, r->a), r->z); }
static void complex_of_integers(composite_rig *r) { vc_complex(r->i, r->i); }
static void complex_of_two(composite_rig *r) { vc_complex(r->a, vc_f64(1)); }
static void real_part_of_real(composite_rig *r) { vc_re(r->a); }
static void matrix_product(composite_rig *r) { vc_mul(r->m23, r->m22); }
static void matrix_vector(composite_rig *r) { vc_mul(r->m23, vc_vec2(r->a, r->a)); }
static void matrix_sum(composite_rig *r) { vc_add(r->m23, r->m22); }
static void matrix_over(composite_rig *r) { vc_div(r->a, r->m22); }
static void matrix_quotient(composite_rig *r) { vc_div(r->m22, r->m22); }
static void matrix_root(composite_rig *r) { vc_sqrt(r->m22); }
static void matrix_determinant(composite_rig *r) { vc_determinant(r->m23); }
static void vector_transpose(composite_rig *r) { vc_transpose(vc_vec2(r->a, r->a)); }
static void outer_scalar(composite_rig *r) { vc_outer(vc_vec2(r->a, r->a), r->a); }
static void cast_shape(composite_rig *r) { vc_cast(VC_F64X2X2, r->m23); }
static void cast_struct(composite_rig *r) { vc_cast(VC_F32, r->p); }
static void select_types(composite_rig *r) { vc_select(vc_bool(true), r->z, r->m22); }
static void condition(composite_rig *r) { VC_IF(r->k, r->z) { } }
static void component(composite_rig *r) { vc_component(r->z, 0); }
static void vector_of(composite_rig *r) { vc_vec2(r->z, r->z); }
static void index_of(composite_rig *r) { vc_load(r->f, r->z); }
static void dot_of_structs(composite_rig *r) { vc_dot(r->p, r->p); }
static void cast_to_struct(composite_rig *r) { vc_cast(r->pair, r->a); }
static void atomic_struct(composite_rig *r) { vc_atomic_add(r->boxes, r->i, vc_u32(1), NULL); }
static void load_or_other(composite_rig *r) { vc_load_or(vc_field(r->boxes, 0), r->i, vc_bool(true), r->a); }
static void load_or_never(composite_rig *r) {
    vc_load_or(vc_field(vc_at(r->boxes, r->i), 0), vc__no_operand(), vc_bool(true), r->a);
}
static void data_at_null(composite_rig *r) { vc_table(r->k, "t", r->pair, NULL, 4); }
static void closed_value(composite_rig *r) {
    vc_val v = { 0, 0 };
    VC_IF(r->k, vc_lt(r->i, vc_u32(3))) { v = vc_get(vc_field(vc_at(r->boxes, r->i), 1)); }
    vc_add(v, v);
}
static void closed_path(composite_rig *r) {
    vc_ref at = r->boxes;
    VC_IF(r->k, vc_lt(r->i, vc_u32(3))) { at = vc_at(r->boxes, vc_add(r->i, vc_u32(1))); }
    vc_get(at);
}
static void closed_constant_path(composite_rig *r) { /* a varying index before a constant one */
    vc_ref at = r->boxes;
    VC_IF(r->k, vc_lt(r->i, vc_u32(3))) {
        at = vc_at(vc_field(vc_at(r->boxes, vc_add(r->i, vc_u32(1))), 0), vc_u32(2));
    }
    vc_get(at);
}
static void foreign_value(composite_rig *r) {
    composite_rig other = composite_begin();
    vc_add(r->z, other.z);
    vc_free(other.k);
}
static void foreign_struct(composite_rig *r) {
    vc_kernel *other = vc_begin(NULL);
    const vc_member m[] = { { "q", VC_F64 } };
    vc_type t = vc_struct(other, "mine", m, 1);
    vc_buffer(r->k, "x", t, VC_READ);
    vc_free(other);
}

/* ---- valid input ---- */

static void composite_layout(void **state) {
    composite_rig r = composite_begin();
    vc_type list = vc_array_type(r.k, r.pair, 4);
    (void)state;
    assert_int_equal(vc_size_of(r.k, r.pair), 8);
    assert_int_equal(vc_size_of(r.k, r.box), 64);
    assert_int_equal(vc_offset_of(r.k, r.box, 1), 32);
    assert_int_equal(vc_offset_of(r.k, list, 3), 24);
    assert_int_equal(vc_offset_of(r.k, VC_MAT(VC_F64, 3, 2), 1), 24);
    assert_int_equal(vc_offset_of(r.k, VC_F32C, 1), 4);
    assert_int_equal(vc_offset_of(r.k, VC_F32X3, 2), 8);
    assert_int_equal(list, vc_array_type(r.k, r.pair, 4));
    assert_int_equal(r.pair, make_pair(r.k));
    assert_int_equal(vc_size_of(r.k, 0), 0);
    assert_int_equal(vc_type_size(VC_F16C), 4);
    assert_int_equal(vc_type_size(VC_MAT(VC_F64, 4, 3)), 96);
    assert_int_equal(vc_type_size(VC_MAT(VC_F16, 2, 2)), 0);
    assert_int_equal(vc_type_size(VC_COMPLEX(VC_U32)), 0);
    assert_int_equal(vc_type_size(r.box), 0);
    assert_int_equal(vc_type_size(VC_STRUCT(24)), 24);
    assert_string_equal(vc_type_name(VC_F64C), "complex f64");
    assert_string_equal(vc_type_name(VC_MAT(VC_F32, 2, 4)), "f32x2x4");
    assert_int_equal(vc_typeof(r.z), VC_F32C);
    assert_int_equal(vc_typeof(vc_part(r.b, 0)), list);
    assert_int_equal(vc_typeof(vc_mul(r.m22, r.m23)), VC_MAT(VC_F32, 2, 3));
    assert_null(vc_error(r.k));
    vc_free(r.k);
}

/* Reflection of composite types: struct sizes, the alignment that accesses rely on, and the combined access of all
   views. */
static void composite_reflection(void **state) {
    composite_rig r = composite_begin();
    const vc_info *info;
    (void)state;
    vc_store(vc_field(vc_at(r.boxes, r.i), 1), vc_u32(0), vc_get(vc_field(vc_at(r.boxes, r.i), 1)));
    info = vc_reflect(r.k);
    assert_non_null(info);
    assert_int_equal(info->arg_count, 8);
    assert_int_equal(info->args[0].type, VC_STRUCT(64));
    assert_int_equal(info->args[0].access, VC_READ_WRITE);
    assert_int_equal(info->args[0].align, 16); /* columns of two f64 are read in one access */
    assert_int_equal(info->args[1].access, 0);
    assert_int_equal(info->args[3].type, VC_F32C);
    assert_int_equal(info->args[4].type, VC_MAT(VC_F32, 2, 3));
    assert_int_equal(info->args[4].size, 24);
    assert_int_equal(info->args[6].type, VC_STRUCT(8));
    assert_int_equal(info->args[7].location % 8, 0);
    vc_free(r.k);
}

/* A kernel with composite values compiles to the same bytes as one with their parts. */
static uint64_t hash_of(bool composite) {
    vc_kernel_desc desc;
    vc_kernel *k;
    vc_ref x, y;
    vc_val i, a, b, p[2];
    uint64_t hash;
    memset(&desc, 0, sizeof desc);
    desc.name = "twiddle";
    k = vc_begin(&desc);
    x = vc_buffer(k, "x", composite ? (vc_type)VC_F32C : (vc_type)VC_F32X2, VC_READ);
    y = vc_buffer(k, "y", composite ? (vc_type)VC_F32C : (vc_type)VC_F32X2, VC_WRITE);
    i = vc_global_id(k, 0);
    a = vc_load(x, i);
    b = vc_load(vc_offset(x, vc_u32(1)), i);
    if (composite) vc_store(y, i, vc_add(vc_mul(a, b), vc_make(k, VC_F32C, (p[0] = vc_re(b), p[1] = vc_im(a), p), 2)));
    else {
        vc_val ar = vc_component(a, 0), ai = vc_component(a, 1), br = vc_component(b, 0), bi = vc_component(b, 1);
        vc_store(
            y, i,
            vc_vec2(vc_add(vc_fma(ar, br, vc_neg(vc_mul(ai, bi))), br), vc_add(vc_fma(ar, bi, vc_mul(ai, br)), ai)));
    }
    hash = vc_hash(k);
    assert_null(vc_error(k));
    vc_free(k);
    return hash;
}

static void composites_compile_to_the_same_bytes(void **state) {
    (void)state;
    assert_true(hash_of(true) != 0);
    assert_true(hash_of(true) == hash_of(false));
}

/* Counts an operation in the dump. */
static uint32_t composite_live(vc_kernel *k, uint32_t op) {
    vc__listing l;
    uint32_t i, n = 0;
    assert_true(vc__schedule(k, VC_TARGET_SPIRV, VC_BUFFERS_BINDING, &l));
    for (i = 0; i < l.count; i++) {
        assert_int_not_equal(l.node[i].op, VC__OP_PARTS);
        assert_int_not_equal(l.node[i].op, VC__OP_PATH);
        assert_int_not_equal(l.node[i].op, VC__OP_INDEX);
        assert_true(l.node[i].type < 64);
        n += l.node[i].op == op;
    }
    return n;
}

static void parts_are_eliminated(void **state) {
    composite_rig r = composite_begin();
    vc_val v = vc_load(r.boxes, r.i), w = vc_with(v, 1, vc_transpose(vc_transpose(vc_part(v, 1))));
    (void)state;
    vc_store(r.f, r.i, vc_part(vc_part(vc_part(w, 0), 2), 0)); /* one of 10 loads is needed */
    assert_int_equal(composite_live(r.k, VC__OP_LOAD), 1);
    vc_set(vc_field(vc_at(r.boxes, r.i), 1), vc_part(w, 1)); /* two columns, unchanged */
    assert_int_equal(composite_live(r.k, VC__OP_LOAD), 3);
    assert_int_equal(composite_live(r.k, VC__OP_STORE), 3);
    assert_int_equal(composite_live(r.k, VC__OP_VEC), 0);
    assert_null(vc_error(r.k));
    vc_free(r.k);
}

/* Atomics on a member: indexed where the member is an array too, and in the memory order that the ref specifies. */
static void atomics_on_members(void **state) {
    composite_rig r = composite_begin();
    vc_type counts = vc_array_type(r.k, VC_U32, 4);
    const vc_member m[] = { { "mass", VC_F32 }, { "counts", counts } };
    vc_ref bins = vc_buffer(r.k, "bins", vc_struct(r.k, "bin", m, 2), VC_READ_WRITE);
    (void)state;
    vc_atomic_add(vc_field(vc_at(bins, r.i), 1), vc_u32(2), vc_u32(1), NULL);
    assert_int_equal(composite_live(r.k, VC__OP_ATOMIC_ADD), 1);
    assert_int_equal(composite_live(r.k, VC__OP_FENCE), 0);
    vc_atomic_add(vc_ordered(vc_field(vc_at(bins, r.i), 1), VC_ACQ_REL, VC_SCOPE_DEVICE), vc_u32(2), vc_u32(1), NULL);
    assert_int_equal(composite_live(r.k, VC__OP_FENCE), 2);
    assert_null(vc_error(r.k));
    vc_free(r.k);
}

/* A parameter may be used wherever its parts may, even if it was declared inside a block. */
static void parameter_of_block(void **state) {
    composite_rig r = composite_begin();
    vc_val p = { 0, 0 };
    (void)state;
    VC_IF(r.k, vc_lt(r.i, vc_u32(3))) { p = vc_param(r.k, "late", r.pair); }
    vc_store(r.f, r.i, vc_part(p, 0));
    assert_null(vc_error(r.k));
    vc_free(r.k);
}

/* 2^30 numbers in one element: there is one view per type, not one per part. */
static void one_view_per_type(void **state) {
    static vc_member m[1024];
    composite_rig r = composite_begin();
    vc_type type = VC_U8;
    (void)state;
    for (int depth = 0; depth < 3; depth++) {
        for (int i = 0; i < 1024; i++) m[i].type = type;
        type = vc_struct(r.k, "nest", m, 1024);
    }
    vc_set(vc_field(vc_field(vc_field(vc_buffer(r.k, "all", type, VC_WRITE), 5), 6), 7), vc_u8(1));
    assert_int_equal(composite_live(r.k, VC__OP_STORE), 1);
    vc_free(r.k);
}

static void dumped(void **state) {
    composite_rig r = composite_begin();
    (void)state;
    vc_set(vc_field(vc_at(vc_field(vc_at(r.boxes, r.i), 0), vc_local_id(r.k, 0)), 0), r.a);
    assert_non_null(strstr(vc_dump(r.k), " * 16"));
    vc_free(r.k);
}

#define BAD(name, text) { name, #name, text }
static const struct { void (*run)(composite_rig *r); const char *name, *text; } bad_calls[] = {
    BAD(dot_of_structs, "vc_dot in kernel 'k': operand 1 is struct pair, which does not support arithmetic; use its parts (vc_part)"),
    BAD(cast_to_struct, "vc_cast in kernel 'k': operand 1 'a' is f32, which cannot be converted to struct pair: the result must be a scalar or vector type"),
    BAD(atomic_struct, "vc_atomic_add in kernel 'k': buffer 'boxes' has elements of struct box, but this call requires i32, u32, i64, u64, f32 or f64"),
    BAD(load_or_other, "vc_load_or in kernel 'k': operand 4 'a' is f32, but must be struct pair"),
    BAD(load_or_never, "vc_load_or in kernel 'k': operand 2 was never set"),
    BAD(no_members, "vc_struct in kernel 'k': 'empty' has 0 members, but must have 1 to 4096"),
    BAD(members_at_null, "vc_struct in kernel 'k': 's': members is NULL, but count is 3"),
    BAD(unknown_member, "vc_struct in kernel 'k': member 1 'b' of 's' has type 13, which is not a type of this kernel"),
    BAD(huge_struct, "vc_struct in kernel 'k': 's' has 2147483648 bytes or more, but the limit is 2^31 - 2 bytes"),
    BAD(deep_type, "vc_array_type in kernel 'k': 'u8[1][1][1][1][1][1][1][1][1]...[1]' has a nesting depth of 33 types, but the limit is 32"),
    BAD(empty_array, "vc_array_type in kernel 'k': count is 0, but an array of f32 must have at least 1 element"),
    BAD(unknown_element, "vc_array_type in kernel 'k': element is 90, which is not a type of this kernel"),
    BAD(huge_array, "vc_array_type in kernel 'k': 'struct box[100000000]' has 6400000000 bytes, but the limit is 2^31 - 2 bytes"),
    BAD(offset_of_part, "vc_offset_of in kernel 'k': part 2 is out of range: the last one of struct pair is 1"),
    BAD(offset_of_nothing, "vc_offset_of in kernel 'k': type is 5000, which is not a type of this kernel"),
    BAD(field_beyond, "vc_field in kernel 'k': part 2 is out of range: the last one of struct box is 1"),
    BAD(field_of_array, "vc_field in kernel 'k': the ref points to struct pair[4], which has no members; use vc_at for elements"),
    BAD(field_of_number, "vc_field in kernel 'k': the ref points to f32, which has no members"),
    BAD(field_of_vector, "vc_field in kernel 'k': the ref points to f64x2, which has no members; load it and use vc_component"),
    BAD(element_beyond, "vc_at in kernel 'k': element 4 of struct pair[4] in buffer 'boxes' is out of range"),
    BAD(element_below, "vc_at in kernel 'k': element -1 of struct pair[4] in buffer 'boxes' is out of range"),
    BAD(element_of_struct, "vc_at in kernel 'k': the ref points to a single struct box, which has no elements; use vc_field for members"),
    BAD(element_of_variable, "vc_at in kernel 'k': variable 'v' has no elements; use vc_get and vc_set"),
    BAD(shared_beyond, "vc_at in kernel 'k': element 4 is out of range: the last one of shared array 'tile' is 3"),
    BAD(index_of_float, "vc_at in kernel 'k': the index 'a' is f32, but must be a scalar integer of 32 or 64 bits"),
    BAD(offset_inside, "vc_offset in kernel 'k': the ref points to a single struct box, not to an array; use vc_at"),
    BAD(part_beyond, "vc_part in kernel 'k': part 2 is out of range: the last one of complex f32 is 1"),
    BAD(with_beyond, "vc_with in kernel 'k': part 3 is out of range: the last one of f32x2x3 is 2"),
    BAD(with_wrong, "vc_with in kernel 'k': the value is u32, but the element type is f32; convert it with vc_cast"),
    BAD(make_count, "vc_make in kernel 'k': count is 3, but struct pair has 2 parts"),
    BAD(make_part, "vc_make in kernel 'k': operand 1 is complex f32, which this call does not support"),
    BAD(make_column, "vc_make in kernel 'k': the value is f32x3, but the element type is f32x2; convert it with vc_cast"),
    BAD(make_nested, "vc_make in kernel 'k': operand 1 is struct pair, but must be struct pair[4]"),
    BAD(many_parts, "vc_get in kernel 'k': f32[2000] has 2000 scalars and vectors, but the limit for a value is 1024; access its parts with vc_at and "
                    "vc_field"),
    BAD(store_wrong, "vc_store in kernel 'k': operand 3 is struct pair, but must be struct box"),
    BAD(store_number, "vc_store in kernel 'k': operand 3 'a' is f32, but must be struct box"),
    BAD(store_complex, "vc_store in kernel 'k': operand 3 is complex f32, which this call does not support"),
    BAD(struct_arithmetic, "vc_add in kernel 'k': operand 1 is struct pair, which does not support arithmetic; use its parts (vc_part)"),
    BAD(struct_equal, "vc_eq in kernel 'k': operand 1 is struct pair, which does not support arithmetic; use its parts (vc_part)"),
    BAD(complex_sine, "vc_sin in kernel 'k': operand 1 is complex f32, which this call does not support"),
    BAD(complex_order, "vc_gt in kernel 'k': operand 1 is complex f32, which this call does not support"),
    BAD(complex_fma, "vc_fma in kernel 'k': operand 1 is complex f32, which this call does not support"),
    BAD(complex_fma_last, "vc_fma in kernel 'k': operand 3 is complex f32, which this call does not support"),
    BAD(complex_kinds, "vc_mul in kernel 'k': operand 1 is complex f32 and operand 2 is complex f64; both must be complex numbers of one component type, or "
                       "one of them a real number of that type"),
    BAD(complex_integer, "vc_add in kernel 'k': operand 1 is complex f32 and operand 2 is u32; both must be complex numbers of one component type, or one of "
                         "them a real number of that type"),
    BAD(complex_vector, "vc_mul in kernel 'k': operand 1 is f32x2 and operand 2 is complex f32; both must be complex numbers of one component type, or one of "
                        "them a real number of that type"),
    BAD(complex_of_integers, "vc_complex in kernel 'k': operand 1 is u32 and operand 2 is u32; both must be scalars of the same type: f16, f32 or f64"),
    BAD(complex_of_two, "vc_complex in kernel 'k': operand 1 'a' is f32 and operand 2 is f64; both must be scalars of the same type: f16, f32 or f64"),
    BAD(real_part_of_real, "vc_re in kernel 'k': operand 1 is f32, but must be a complex number"),
    BAD(matrix_product, "vc_mul in kernel 'k': operand 1 is f32x2x3 and operand 2 is f32x2x2; the inner dimensions and the component types must match"),
    BAD(matrix_vector, "vc_mul in kernel 'k': operand 1 is f32x2x3 and operand 2 is f32x2; the inner dimensions and the component types must match"),
    BAD(matrix_sum, "vc_add in kernel 'k': operand 1 is f32x2x3 and operand 2 is f32x2x2; vc_add, vc_sub, vc_eq and vc_ne require matrices of the same type; "
                    "vc_div requires a matrix and a scalar of its component type"),
    BAD(matrix_over, "vc_div in kernel 'k': operand 1 is f32 and operand 2 is f32x2x2; vc_add, vc_sub, vc_eq and vc_ne require matrices of the same type; "
                     "vc_div requires a matrix and a scalar of its component type"),
    BAD(matrix_quotient, "vc_div in kernel 'k': operand 1 is f32x2x2 and operand 2 is f32x2x2; vc_add, vc_sub, vc_eq and vc_ne require matrices of the same "
                         "type; vc_div requires a matrix and a scalar of its component type"),
    BAD(matrix_root, "vc_sqrt in kernel 'k': operand 1 is f32x2x2, which this call does not support"),
    BAD(matrix_determinant, "vc_determinant in kernel 'k': operand 1 is f32x2x3, but must be a square matrix"),
    BAD(vector_transpose, "vc_transpose in kernel 'k': operand 1 is f32x2, but must be a matrix"),
    BAD(outer_scalar, "vc_outer in kernel 'k': operand 1 is f32x2 and operand 2 is f32; both must be vectors of f32 or both of f64"),
    BAD(cast_shape, "vc_cast in kernel 'k': operand 1 is f32x2x3, which cannot be converted to f64x2x2: the numbers of rows and columns must be the same"),
    BAD(cast_struct, "vc_cast in kernel 'k': operand 1 is struct pair, which does not support arithmetic; use its parts (vc_part)"),
    BAD(select_types, "vc_select in kernel 'k': operand 2 is complex f32 and operand 3 is f32x2x2; both must have the same type"),
    BAD(condition, "VC_IF in kernel 'k': operand 1 is complex f32, which this call does not support"),
    BAD(component, "vc_component in kernel 'k': operand 1 is complex f32, which this call does not support"),
    BAD(vector_of, "vc_vec2 in kernel 'k': operand 1 is complex f32, which this call does not support"),
    BAD(index_of, "vc_load in kernel 'k': operand 2 is complex f32, which this call does not support"),
    BAD(data_at_null, "vc_table in kernel 'k': 't': data is NULL"),
    BAD(closed_value, "vc_add in kernel 'k': operand 1 (f64x2x2) was created in a block that is already closed; pass it out of the block in a vc_var"),
    BAD(closed_path, "vc_get in kernel 'k': the index of the ref to buffer 'boxes' was computed in a block that is "
        "already closed; pass it out of the block in a variable (vc_var)"),
    BAD(closed_constant_path, "vc_get in kernel 'k': the index of the ref to buffer 'boxes' was computed in a block that is "
        "already closed; pass it out of the block in a variable (vc_var)"),
    BAD(foreign_value, "vc_add in kernel 'k': operand 2 belongs to another kernel"),
    BAD(foreign_struct, "vc_buffer in kernel 'k': 'x' has type 1051332608, which is not a type of this kernel")
};

static void messages(void **state) {
    size_t i;
    (void)state;
    for (i = 0; i < sizeof bad_calls / sizeof *bad_calls; i++) {
        composite_rig r = composite_begin();
        bad_calls[i].run(&r);
        const char *error = vc_error(r.k);
        if (!error || strcmp(error, bad_calls[i].text) != 0)
            print_error("%s: %s\n", bad_calls[i].name, error ? error : "no error");
        assert_non_null(error);
        assert_string_equal(error, bad_calls[i].text);
        vc_store(r.boxes, r.i, vc_load(r.boxes, r.i)); /* all harmless by now */
        assert_int_equal(vc_mul(r.z, r.z).owner, 0);
        assert_int_equal(vc_inverse(r.m22).owner, 0);
        assert_int_equal(vc_part(r.p, 0).owner, 0);
        assert_int_equal(vc_complex(r.a, vc_f64(1)).owner, 0);
        assert_null(vc_spirv(r.k, NULL));
        assert_string_equal(vc_error(r.k), bad_calls[i].text);
        vc_free(r.k);
    }
}

/* Equal declarations are one type, whatever the structs are named; different member names or types make another
   type. */
static void equal_structs(void **state) {
    const vc_member m[] = { { "a", VC_F32 }, { NULL, VC_U32X2 } }, renamed[] = { { "b", VC_F32 }, { NULL, VC_U32X2 } };
    const vc_member named[] = { { "a", VC_F32 }, { "b", VC_U32X2 } },
                    retyped[] = { { "a", VC_I32 }, { NULL, VC_U32X2 } };
    vc_kernel *k = vc_begin(NULL);
    char name[2] = "a";
    vc_member copied[] = { { NULL, VC_F32 }, { NULL, VC_U32X2 } };
    vc_type one = vc_struct(k, "one", m, 2);
    vc_ref x = vc_buffer(k, "x", one, VC_READ), y;
    (void)state;
    copied[0].name = name;
    y = vc_buffer(k, "y", vc_struct(k, NULL, copied, 2), VC_WRITE);
    assert_int_equal(vc_struct(k, "one", m, 2), one);
    assert_int_equal(vc_struct(k, "two", copied, 2), one);
    assert_int_not_equal(vc_struct(k, "one", renamed, 2), one);
    assert_int_not_equal(vc_struct(k, "one", named, 2), one);
    assert_int_not_equal(vc_struct(k, "one", retyped, 2), one);
    assert_int_not_equal(vc_struct(k, "one", m, 1), one);
    VC_EACH(k, i) { vc_store(y, i, vc_load(x, i)); }
    if (!vc_spirv(k, NULL)) fail_msg("%s", vc_error(k));
    vc_free(k);
}

/* A ref with constant indices may be used after the block in which it was made, to any type of element. */
static void constant_paths_outlive_their_block(void **state) {
    composite_rig r = composite_begin();
    vc_ref number = r.f, pair = r.boxes;
    (void)state;
    VC_IF(r.k, vc_lt(r.i, vc_u32(3))) {
        number = vc_at(r.f, vc_u32(3));
        pair = vc_at(vc_field(vc_at(r.boxes, vc_u32(3)), 0), vc_u32(2));
    }
    VC_IF(r.k, vc_lt(r.i, vc_u32(1))) { vc_set(vc_field(pair, 0), vc_get(number)); }
    if (!vc_spirv(r.k, NULL)) fail_msg("%s", vc_error(r.k));
    const char *text = vc_source(r.k, VC_TARGET_CUDA);
    assert_non_null(text);
    vc_free(r.k);
}

static const struct CMUnitTest builder_composite_tests[] = {
    cmocka_unit_test(constant_paths_outlive_their_block),
    cmocka_unit_test(composite_layout), cmocka_unit_test(composite_reflection),
    cmocka_unit_test(composites_compile_to_the_same_bytes), cmocka_unit_test(parts_are_eliminated),
    cmocka_unit_test(atomics_on_members), cmocka_unit_test(parameter_of_block), cmocka_unit_test(one_view_per_type),
    cmocka_unit_test(dumped), cmocka_unit_test(equal_structs), cmocka_unit_test(messages),
};
#undef BAD

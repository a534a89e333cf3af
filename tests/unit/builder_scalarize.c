/* Lowering of vectors to scalars for targets whose language has no vectors: the vectors that remain are loaded or
   stored. */
#include "tests/unit/unit.h"

static bool is_plain_vector(uint32_t op) {
    return op == VC__OP_LOAD || op == VC__OP_PARAM || op == VC__OP_VEC || op == VC__OP_TUPLE || op == VC__OP_STORE
           || op == VC__OP_POINTER || (op >= VC__OP_BUFFER && op <= VC__OP_ARRAY);
}

/* Every vector operand belongs to a STORE or a COMPONENT, and every vector value is loaded or stored. Returns the
   number of loads and stores. */
static uint32_t check_listing(const vc__listing *l) {
    uint32_t i, j, accesses = 0;
    for (i = 0; i < l->count; i++) {
        const vc__node *n = &l->node[i];
        const uint32_t count = vc__op[n->op].operands == VC__MANY ? n->a[1] : vc__op[n->op].operands;
        const uint32_t *a = vc__op[n->op].operands == VC__MANY ? l->extra + n->a[0] : n->a;
        if (vc__components(n->type) > 1) assert_true(is_plain_vector(n->op));
        for (j = 0; j < count; j++)
            if (a[j] != VC__NIL && vc__components(l->node[a[j]].type) > 1 && l->node[a[j]].op != VC__OP_POINTER
                && vc__op[l->node[a[j]].op].class_ != VC__NEW)
                assert_true(n->op == VC__OP_COMPONENT || (n->op == VC__OP_STORE && j != 1)
                            || (n->op == VC__OP_LOAD && j == 0) || n->op == VC__OP_POINTER);
        accesses += n->op == VC__OP_LOAD || n->op == VC__OP_STORE;
    }
    return accesses;
}

static uint32_t operations_of(const vc__listing *l, uint32_t op) {
    uint32_t i, n = 0;
    for (i = 0; i < l->count; i++) n += l->node[i].op == op;
    return n;
}

/* Records every kind of operation on vectors of this size. */
static void parts_record(vc_kernel *k, uint32_t rows) {
    vc_ref f = vc_buffer(k, "f", VC_VEC(VC_F32, rows), VC_READ_WRITE),
           u = vc_buffer(k, "u", VC_VEC(VC_U32, rows), VC_READ_WRITE);
    vc_ref out = vc_buffer(k, "out", VC_F32, VC_WRITE), tile = vc_shared(k, "tile", VC_VEC(VC_F32, rows), 128);
    vc_val p = vc_param(k, "p", VC_VEC(VC_F32, rows)), i = vc_global_id(k, 0), l = vc_local_id(k, 0);
    vc_ref sum = vc_var(k, "sum", VC_VEC(VC_F32, rows));
    vc_val a = vc_load(f, i), b = vc_mul(vc_add(a, p), vc_f32(2)), c = vc_lt(a, b), n = vc_load(u, i);
    vc_store(tile, l, vc_select(c, vc_sin(a), vc_pow(vc_abs(a), b)));
    vc_barrier(k);
    VC_FOR(k, j, vc_u32(0), vc_u32(8)) { vc_set(sum, vc_add(vc_get(sum), vc_load(tile, vc_add(j, l)))); }
    vc_store(u, i, vc_shl(vc_div(n, vc_cast(VC_VEC(VC_U32, rows), b)), n));
    vc_store(out, i, vc_add(vc_dot(a, vc_get(sum)), vc_extract(b, l)));
    vc_store(f, i, vc_select(vc_any(c), vc_bitcast(VC_VEC(VC_F32, rows), n), vc_insert(b, 1, vc_f32(1))));
    vc_store(f, vc_add(i, vc_u32(1)),
             vc_select(vc_all(vc_isnan(a)),
                       vc_swizzle(a, rows == 2   ? "yx"
                                     : rows == 3 ? "zyx"
                                                 : "wzyx"),
                       vc_mix(a, b, b)));
}

static void parts_vectors(void **state) {
    static const vc_target targets[2] = { VC_TARGET_CUDA, VC_TARGET_OPENCL };
    vc_kernel *k = vc_begin(NULL);
    vc__listing l;
    uint32_t rows, t;
    (void)state;
    for (rows = 2; rows <= 4; rows++) {
        vc_restart(k, NULL);
        parts_record(k, rows);
        assert_null(vc_error(k));
        for (t = 0; t < 2; t++) {
            assert_true(vc__schedule(k, targets[t], t ? VC_BUFFERS_BINDING : VC_BUFFERS_ADDRESS, &l));
            /* no access was split: memory is read and written in whole vectors */
            assert_int_equal(check_listing(&l), 11);
            assert_int_equal(operations_of(&l, VC__OP_EXTRACT) + operations_of(&l, VC__OP_ANY)
                             + operations_of(&l, VC__OP_ALL) + operations_of(&l, VC__OP_DOT), 0);
            assert_int_equal(operations_of(&l, VC__OP_SIN), rows);
        }
    }
    vc_free(k);
}

/* Copying vectors uses no component. */
static void copies(void **state) {
    vc_kernel *k = vc_begin(NULL);
    vc_ref x = vc_buffer(k, "x", VC_F32X4, VC_READ), y = vc_buffer(k, "y", VC_F32X4, VC_WRITE);
    vc_val i = vc_global_id(k, 0), v = vc_load(x, i);
    vc__listing l;
    (void)state;
    vc_store(y, i, vc_vec4(vc_component(v, 0), vc_component(v, 1), vc_component(v, 2), vc_component(v, 3)));
    assert_true(vc__schedule(k, VC_TARGET_CUDA, VC_BUFFERS_ADDRESS, &l));
    assert_int_equal(check_listing(&l), 2);
    assert_int_equal(operations_of(&l, VC__OP_COMPONENT) + operations_of(&l, VC__OP_VEC), 0);
    vc_free(k);
}

/* Constants fold by component, equal components merge, and unused components are not computed. */
static void parts_fold(void **state) {
    vc_kernel *k = vc_begin(NULL);
    vc_ref x = vc_buffer(k, "x", VC_F32X3, VC_READ), y = vc_buffer(k, "y", VC_F32, VC_WRITE);
    vc_val i = vc_global_id(k, 0), v = vc_load(x, i), w;
    vc__listing l;
    (void)state;
    w = vc_mul(vc_sqrt(v), vc_add(vc_vec3(vc_const(k, vc_f32(1)), vc_f32(2), vc_f32(3)), vc_f32(1)));
    vc_store(y, i, vc_add(vc_component(w, 1), vc_component(vc_sqrt(v), 1)));
    assert_true(vc__schedule(k, VC_TARGET_OPENCL, VC_BUFFERS_BINDING, &l));
    check_listing(&l);
    assert_int_equal(operations_of(&l, VC__OP_SQRT), 1);
    assert_int_equal(operations_of(&l, VC__OP_MUL), 2); /* 3 * sqrt(v.y), and the group base of the id */
    vc_free(k);
}

static const struct CMUnitTest builder_scalarize_tests[] = {
    cmocka_unit_test(parts_vectors), cmocka_unit_test(copies), cmocka_unit_test(parts_fold),
};

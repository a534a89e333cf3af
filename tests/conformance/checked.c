/* Checked kernels: accesses past the end of a buffer or array do nothing and are reported with kernel, memory, index
   and invocation; memory next to the buffer is intact. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"
#include "vkdispatch_fft.h"

/* ---- one kind of access to a view of elements 64 to 73 of a buffer, by 40 threads ---- */

enum { FIRST = 128, LENGTH = 10, ALL = 224, THREADS = 40 }; /* the view begins at a multiple of 512 bytes */

typedef struct rig { vc_kernel *k; vc_ref y, out; vc_val i; } rig;

static void do_store(rig *r) { vc_store(r->y, r->i, vc_u32(7)); }
static void do_store_at_offset(rig *r) { vc_store(vc_offset(r->y, vc_u32(4)), r->i, vc_u32(7)); }
static void do_store_before(rig *r) { vc_store(r->y, vc_sub(vc_cast(VC_I32, r->i), vc_i32(3)), vc_u32(7)); }
static void do_store_wrapped(rig *r) { vc_store(r->y, vc_sub(r->i, vc_u32(1)), vc_u32(7)); }
static void do_store_far(rig *r) {
    vc_store(r->y, vc_add(vc_shl(vc_cast(VC_U64, r->i), vc_u32(33)), vc_u64(2)), vc_u32(7));
}
static void do_store_constant(rig *r) { vc_store(r->y, vc_u32(11), vc_u32(7)); }
static void do_load(rig *r) { vc_store(r->out, r->i, vc_load(r->y, r->i)); }
static void do_load_or(rig *r) {
    vc_store(r->out, r->i, vc_load_or(r->y, r->i, vc_lt(r->i, vc_length(r->y)), vc_u32(5)));
}
static void do_load_under_wrong_condition(rig *r) {
    vc_store(r->out, r->i, vc_load_or(r->y, r->i, vc_le(r->i, vc_length(r->y)), vc_u32(5)));
}
static void do_set(rig *r) { vc_set(vc_at(r->y, r->i), vc_u32(7)); }
static void do_add(rig *r) {
    vc_val old;
    vc_atomic_add(r->y, r->i, vc_u32(1), &old);
    vc_store(r->out, r->i, old);
}
static void do_add_without_result(rig *r) {
    vc_atomic_add(vc_ordered(r->y, VC_ACQ_REL, VC_SCOPE_DEFAULT), r->i, vc_u32(1), NULL);
}
static void do_compare_exchange(rig *r) {
    vc_atomic_compare_exchange(r->y, r->i, vc_u32(0), vc_u32(1), NULL);
}
static void do_atomic_load(rig *r) {
    vc_val v;
    vc_atomic_load(r->y, r->i, &v);
    vc_store(r->out, r->i, v);
}
static void do_atomic_store(rig *r) { vc_atomic_store(r->y, r->i, vc_u32(7)); }
static void do_loop(rig *r) {
    VC_FOR(r->k, j, vc_u32(0), vc_u32(3)) { vc_store(r->y, vc_add(r->i, j), vc_u32(7)); }
}
static void do_return(rig *r) {
    vc_store(r->y, r->i, vc_u32(7));
    vc_return_if(r->k, vc_ge(r->i, vc_u32(3)));
    vc_store(r->out, r->i, vc_u32(1));
}
static void do_shared(rig *r) {
    vc_ref s = vc_shared(r->k, "tile", VC_U32, 8);
    vc_store(s, r->i, vc_u32(1));
}
static void do_private(rig *r) {
    vc_ref a = vc_array(r->k, "list", VC_U32, 12);
    vc_store(a, r->i, vc_u32(1));
    vc_store(r->out, r->i, vc_load(a, vc_u32(3)));
}
static void do_table(rig *r) {
    static const uint32_t data[3] = { 1, 2, 3 };
    vc_store(r->out, r->i, vc_load(vc_table(r->k, "steps", VC_U32, data, 3), r->i));
}
static void do_private_structs(rig *r) {
    static const vc_member members[2] = { { "a", VC_F32X3 }, { "b", VC_U32 } };
    vc_ref a = vc_array(r->k, "parts", vc_struct(r->k, "part", members, 2), 6);
    vc_set(vc_field(vc_at(a, r->i), 1), vc_u32(1));
    vc_store(r->out, r->i, vc_get(vc_field(vc_at(a, vc_u32(2)), 1)));
}

/* An array inside of a struct has neighbours in the same memory. */
static vc_type particle_type(vc_kernel *k) {
    const vc_member member[3] = { { "mass", VC_F32 }, { "trail", vc_array_type(k, VC_F32X3, 4) }, { "age", VC_U32 } };
    return vc_struct(k, "particle", member, 3);
}
static void do_private_inside(rig *r) {
    vc_ref a = vc_array(r->k, "parts", particle_type(r->k), 3);
    vc_set(vc_at(vc_field(vc_at(a, vc_u32(1)), 1), r->i), vc_f32(1));
    vc_store(r->out, r->i, vc_get(vc_field(vc_at(a, vc_u32(2)), 2)));
}
static void do_variable_inside(rig *r) {
    vc_ref a = vc_var(r->k, "part", particle_type(r->k));
    vc_store(r->out, r->i, vc_bitcast(VC_U32, vc_component(vc_load(vc_field(a, 1), r->i), 2)));
}
static void do_shared_matrix(rig *r) {
    vc_ref a = vc_shared(r->k, "tile", vc_array_type(r->k, VC_U32, 5), 6);
    vc_atomic_add(vc_at(a, vc_u32(2)), r->i, vc_u32(1), NULL);
}
static void do_inner_before(rig *r) {
    vc_ref a = vc_shared(r->k, "tile", vc_array_type(r->k, VC_U32, 5), 6);
    vc_set(vc_at(vc_at(a, r->i), vc_sub(vc_cast(VC_I32, r->i), vc_i32(2))), vc_u32(1));
}

static const struct access {
    const char *name;
    void (*record)(rig *r);
    uint32_t first_bad;      /* the lowest thread that is out of range; THREADS: none */
    const char *text;        /* of its report */
} accesses[] = {
    { "store", do_store, 10, "vc_store: element 10 of buffer 'y' is out of range (10 elements)" },
    { "offset", do_store_at_offset, 6, "vc_store: element 10 of buffer 'y' is out of range (10 elements)" },
    { "before", do_store_before, 0, "vc_store: element -3 of buffer 'y' is out of range (10 elements)" },
    { "wrapped", do_store_wrapped, 0, "vc_store: element 4294967295 of buffer 'y' is out of range (10 elements)" },
    { "far", do_store_far, 1, "vc_store: element 8589934594 of buffer 'y' is out of range (10 elements)" },
    { "constant", do_store_constant, 0, "vc_store: element 11 of buffer 'y' is out of range (10 elements)" },
    { "load", do_load, 10, "vc_load: element 10 of buffer 'y' is out of range (10 elements)" },
    { "load_or", do_load_or, THREADS, NULL },
    { "load_under", do_load_under_wrong_condition, 10, "vc_load_or: element 10 of buffer 'y' is out of range (10 elements)" },
    { "set", do_set, 10, "vc_set: element 10 of buffer 'y' is out of range (10 elements)" },
    { "add", do_add, 10, "vc_atomic_add: element 10 of buffer 'y' is out of range (10 elements)" },
    { "add_alone", do_add_without_result, 10, "vc_atomic_add: element 10 of buffer 'y' is out of range (10 elements)" },
    { "exchange", do_compare_exchange, 10, "vc_atomic_compare_exchange: element 10 of buffer 'y' is out of range (10 elements)" },
    { "atomic_load", do_atomic_load, 10, "vc_atomic_load: element 10 of buffer 'y' is out of range (10 elements)" },
    { "atomic_store", do_atomic_store, 10, "vc_atomic_store: element 10 of buffer 'y' is out of range (10 elements)" },
    { "loop", do_loop, 8, "vc_store: element 10 of buffer 'y' is out of range (10 elements)" },
    { "return", do_return, 10, "vc_store: element 10 of buffer 'y' is out of range (10 elements)" },
    { "shared", do_shared, 8, "vc_store: element 8 of shared array 'tile' is out of range (8 elements)" },
    { "private", do_private, 12, "vc_store: element 12 of array 'list' is out of range (12 elements)" },
    { "table", do_table, 3, "vc_load: element 3 of table 'steps' is out of range (3 elements)" },
    { "structs", do_private_structs, 6, "vc_set: element 6 of array 'parts' is out of range (6 elements)" },
    { "inside", do_private_inside, 4, "vc_set: element 4 of f32x3[4] in array 'parts' is out of range (4 elements)" },
    { "variable", do_variable_inside, 4, "vc_load: element 4 of f32x3[4] in variable 'part' is out of range (4 elements)" },
    { "matrix", do_shared_matrix, 5, "vc_atomic_add: element 5 of u32[5] in shared array 'tile' is out of range (5 elements)" },
    { "inner_before", do_inner_before, 0, "vc_set: element -2 of u32[5] in shared array 'tile' is out of range (5 elements)" },
};

static vc_kernel_desc checked_desc(vd_context *ctx, const char *name) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.machine = vd_machine(ctx);
    desc.checked = true;
    return desc;
}

/* Runs the kernel with `threads` threads and returns the result of waiting. Checks that only elements of the view were
   changed. */
static vd_result run_access(vd_context *ctx, const struct access *a, uint32_t threads) {
    static const uint32_t zeros[ALL];
    uint32_t data[ALL], after[ALL];
    vc_kernel_desc desc = checked_desc(ctx, a->name);
    vd_view_desc view;
    rig r;
    desc.local_size[0] = 64;
    r.k = vc_begin(&desc);
    r.y = vc_buffer(r.k, "y", VC_U32, VC_READ_WRITE);
    r.out = vc_buffer(r.k, "out", VC_U32, VC_WRITE);
    VC_EACH(r.k, i) {
        r.i = i;
        a->record(&r);
        vc_store(r.out, vc_u32(0), vc_u32(0));
    }
    vd_kernel kernel = kernel_end(ctx, r.k);
    for (uint32_t i = 0; i < ALL; i++) data[i] = 1000 + i;
    vd_buffer all = buffer_u32(ctx, "all", ALL, data), out = buffer_u32(ctx, "out", THREADS, zeros);
    memset(&view, 0, sizeof view);
    view.buffer = all;
    view.offset = 4 * FIRST;
    view.type = VD_U32;
    view.shape[0] = LENGTH;
    OK(vd_run(ctx, kernel, threads, vd_b(vd_buffer_view(ctx, &view)), vd_b(out)));
    vd_result result = vd_wait_idle(ctx);
    OK(vd_buffer_read(ctx, all, 0, after, sizeof after));
    for (uint32_t i = 0; i < ALL; i++)
        if (after[i] != data[i] && (i < FIRST || i >= FIRST + LENGTH))
            fail_msg("%s changed element %u, which is not part of the view", a->name, i);
    vd_buffer_destroy(ctx, all);
    vd_buffer_destroy(ctx, out);
    vd_kernel_destroy(ctx, kernel);
    return result;
}

static void ignore_log(void *user, vd_log_level level, const char *message) {
    (void)user;
    (void)level;
    (void)message;
}

static vd_context *quiet_context(fixture *f, int form, bool debug) {
    vd_context_desc desc = fixture_desc(f);
    desc.debug = debug;
    desc.log = ignore_log;
    desc.disable = form ? VD_FEATURE_ADDRESS : 0;
    return context_with(f, &desc);
}

TEST_EXECUTED(every_access_is_checked) {
    for (int form = 0; form < 2; form++) {
        vd_context *ctx = quiet_context(f, form, false);
        for (size_t i = 0; i < COUNT(accesses); i++) {
            const struct access *a = &accesses[i];
            char text[300];
            if (strstr(a->text ? a->text : "", "element 4294967295") || a->record == do_store_far)
                if (!(vd_device(ctx, 0)->features & VD_FEATURE_I64)) continue; /* indices have 32 bits, with a sign */
            if (a->first_bad) OK(run_access(ctx, a, a->first_bad));
            if (a->first_bad == THREADS) continue;
            snprintf(text, sizeof text, "kernel '%s': %s in invocation (%u, 0, 0)", a->name, a->text, a->first_bad);
            FAILS(run_access(ctx, a, a->first_bad + 1), VD_ERROR_ASSERTION, text);
            FAILS(run_access(ctx, a, THREADS), VD_ERROR_ASSERTION, "is out of range (| elements) in invocation (");
        }
    }
}

/* A load out of range returns 0, and an atomic operation out of range returns 0 as the old value. */
TEST_EXECUTED(values_out_of_range_are_zero) {
    vd_context *ctx = quiet_context(f, 0, false);
    uint32_t data[4] = { 11, 12, 13, 14 }, after[24];
    vc_kernel_desc desc = checked_desc(ctx, NULL);
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE), out = vc_buffer(k, "out", VC_U32, VC_WRITE);
    VC_EACH(k, i) {
        vc_val old;
        vc_store(out, i, vc_load(x, i));
        vc_atomic_max(x, i, vc_u32(1), &old);
        vc_store(vc_offset(out, vc_u32(8)), i, old);
        vc_store(vc_offset(out, vc_u32(16)), i, vc_load_or(x, i, vc_lt(i, vc_length(x)), vc_u32(99)));
    }
    vd_kernel kernel = kernel_end(ctx, k);
    vd_buffer in = buffer_u32(ctx, "x", 4, data), to = buffer_u32(ctx, "out", 24, NULL);
    OK(vd_run(ctx, kernel, 8, vd_b(in), vd_b(to)));
    FAILS(vd_wait_idle(ctx), VD_ERROR_ASSERTION, "of buffer 'x' is out of range (4 elements)| and 3 more");
    OK(vd_buffer_read(ctx, to, 0, after, sizeof after));
    for (uint32_t i = 0; i < 24; i++) assert_int_equal(after[i], i % 8 < 4 ? data[i % 4] : i < 16 ? 0 : 99);
    vd_buffer_destroy(ctx, in);
    vd_buffer_destroy(ctx, to);
}

/* ---- buffers whose type differs from that of the access ---- */

typedef struct body { float position[3], velocity[3], mass; } body;

static vc_type body_type(vc_kernel *k) {
    const vc_member members[3] = { { "position", VC_F32X3 }, { "velocity", VC_F32X3 }, { "mass", VC_F32 } };
    return vc_struct(k, "body", members, 3);
}

/* The number of elements in the message is that of the declared type, also if the buffer is bytes. */
TEST_EXECUTED(elements_are_counted_in_the_type_of_the_kernel) {
    static const vd_type passed[] = { VD_STRUCT(sizeof(body)), VD_BYTES };
    for (int form = 0; form < 2; form++)
        for (size_t t = 0; t < COUNT(passed); t++) {
            vd_context *ctx = quiet_context(f, form, false);
            vc_kernel_desc desc = checked_desc(ctx, "move");
            vc_kernel *k = vc_begin(&desc);
            vc_ref x = vc_buffer(k, "bodies", body_type(k), VC_READ_WRITE);
            VC_EACH(k, i) { vc_set(vc_field(vc_at(x, i), 2), vc_add(vc_get(vc_field(vc_at(x, i), 2)), vc_f32(1))); }
            vd_kernel kernel = kernel_end(ctx, k);
            body data[5];
            memset(data, 0, sizeof data);
            vd_buffer b = buffer_named(ctx, "bodies", passed[t], passed[t] ? 5 : sizeof data, data);
            OK(vd_run(ctx, kernel, 5, vd_b(b)));
            OK(vd_wait_idle(ctx));
            OK(vd_run(ctx, kernel, 6, vd_b(b)));
            FAILS(vd_wait_idle(ctx), VD_ERROR_ASSERTION, "kernel 'move': vc_get: element 5 of buffer 'bodies'| (5 elements) in "
                                                        "invocation (5, 0, 0)");
            OK(vd_buffer_read(ctx, b, 0, data, sizeof data));
            for (int i = 0; i < 5; i++) assert_true(data[i].mass == 2 && data[i].velocity[2] == 0);
            vd_buffer_destroy(ctx, b);
            vd_kernel_destroy(ctx, kernel);
        }
}

typedef struct node { float weight; struct { int32_t to; float cost[2]; } edge[3]; uint32_t id; } node;

static vc_type node_type(vc_kernel *k) {
    const vc_member edge[2] = { { "to", VC_I32 }, { "cost", vc_array_type(k, VC_F32, 2) } };
    const vc_member members[3] = {
        { "weight", VC_F32 }, { "edge", vc_array_type(k, vc_struct(k, "edge", edge, 2), 3) }, { "id", VC_U32 }
    };
    return vc_struct(k, "node", members, 3);
}

/* edge[e].cost[c] of each element, for e and c that only the kernel knows: a bad index would change a neighbour. */
TEST_EXECUTED(arrays_inside_of_elements_are_checked) {
    static const struct { int32_t e, c; const char *text; } at[] = {
        { 2, 1, NULL },
        { 2, 2, "vc_set: element 2 of f32[2] in buffer 'nodes' is out of range (2 elements)" },
        { 0, -1, "vc_set: element -1 of f32[2] in buffer 'nodes' is out of range (2 elements)" },
        { 3, 0, "vc_set: element 3 of struct edge[3] in buffer 'nodes' is out of range (3 elements)" },
        { -1, 1, "vc_set: element -1 of struct edge[3] in buffer 'nodes' is out of range (3 elements)" },
        { INT32_MAX, INT32_MIN, "vc_set: element | in buffer 'nodes' is out of range (" },
    };
    for (int form = 0; form < 2; form++) {
        vd_context *ctx = quiet_context(f, form, false);
        vc_kernel_desc desc = checked_desc(ctx, "relax");
        vc_kernel *k = vc_begin(&desc);
        vc_ref x = vc_buffer(k, "nodes", node_type(k), VC_READ_WRITE), index = vc_buffer(k, "at", VC_I32, VC_READ);
        VC_EACH(k, i) {
            vc_val e = vc_load(index, vc_u32(0)), c = vc_load(index, vc_u32(1));
            vc_at(vc_field(vc_at(x, i), 1), vc_add(e, vc_i32(100))); /* out of range, but not accessed */
            vc_set(vc_at(vc_field(vc_at(vc_field(vc_at(x, i), 1), e), 1), c), vc_f32(7));
        }
        vd_kernel kernel = kernel_end(ctx, k);
        for (size_t t = 0; t < COUNT(at); t++) {
            node data[4], after[4];
            int32_t both[2] = { at[t].e, at[t].c };
            memset(data, 0, sizeof data);
            vd_buffer b = buffer_named(ctx, "nodes", VD_STRUCT(sizeof(node)), 4, data);
            vd_buffer a = buffer_named(ctx, "at", VD_I32, 2, both);
            OK(vd_run(ctx, kernel, 4, vd_b(b), vd_b(a)));
            if (at[t].text) FAILS(vd_wait_idle(ctx), VD_ERROR_ASSERTION, at[t].text);
            else OK(vd_wait_idle(ctx));
            OK(vd_buffer_read(ctx, b, 0, after, sizeof after));
            if (!at[t].text) for (int i = 0; i < 4; i++) data[i].edge[2].cost[1] = 7;
            assert_memory_equal(data, after, sizeof data);
            vd_buffer_destroy(ctx, a);
            vd_buffer_destroy(ctx, b);
        }
        vd_kernel_destroy(ctx, kernel);
    }
}

/* A whole element that is read through an index inside of it, with vectors at offsets that are not multiples of 12. */
TEST_EXECUTED(composite_loads_check_the_arrays_on_their_path) {
    vd_context *ctx = quiet_context(f, 0, false);
    float data[2 * 15], after[8];
    vc_kernel_desc desc = checked_desc(ctx, "copy");
    for (int i = 0; i < 30; i++) data[i] = (float)(i + 1);
    vc_kernel *k = vc_begin(&desc);
    const vc_member pair[2] = { { "a", VC_F32 }, { "b", VC_F32X3 } };
    const vc_member member[3] = {
        { "first", VC_F32X2 }, { "pair", vc_array_type(k, vc_struct(k, "pair", pair, 2), 3) }, { "last", VC_F32 }
    };
    vc_ref x = vc_buffer(k, "x", vc_struct(k, "all", member, 3), VC_READ), out = vc_buffer(k, "out", VC_F32X4, VC_WRITE);
    VC_EACH(k, i) {
        vc_val all = vc_get(vc_at(vc_field(vc_at(x, vc_u32(1)), 1), vc_add(i, vc_u32(2))));
        vc_val b = vc_part(all, 1);
        vc_store(out, i, vc_vec4(vc_part(all, 0), vc_component(b, 0), vc_component(b, 1), vc_component(b, 2)));
    }
    vd_kernel kernel = kernel_end(ctx, k);
    vd_buffer in = buffer_named(ctx, "x", VD_STRUCT(60), 2, data), to = buffer_named(ctx, "out", VD_F32X4, 2, NULL);
    OK(vd_run(ctx, kernel, 2, vd_b(in), vd_b(to)));
    FAILS(vd_wait_idle(ctx), VD_ERROR_ASSERTION,
          "kernel 'copy': vc_get: element 3 of struct pair[3] in buffer 'x' is out of range (3 elements) in invocation (1, 0, 0)");
    OK(vd_buffer_read(ctx, to, 0, after, sizeof after));
    for (int i = 0; i < 8; i++) assert_true(after[i] == (i < 4 ? (float)(26 + i) : 0));
    vd_buffer_destroy(ctx, in);
    vd_buffer_destroy(ctx, to);
}

/* VC_ANY_TYPE: 6 pairs of f32 read as 4 vectors of three. */
TEST_EXECUTED(a_buffer_of_any_type_is_checked_by_its_bytes) {
    vd_context *ctx = quiet_context(f, 0, false);
    vc_kernel_desc desc = checked_desc(ctx, "any");
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "100%d", VC_F32X3, VC_READ_WRITE | VC_ANY_TYPE);
    VC_EACH(k, i) { vc_store(x, i, vc_f32(1)); }
    vd_kernel kernel = kernel_end(ctx, k);
    vd_buffer b = buffer_named(ctx, "pairs", VD_F32X2, 6, NULL);
    OK(vd_run(ctx, kernel, 4, vd_b(b)));
    OK(vd_wait_idle(ctx));
    OK(vd_run(ctx, kernel, 5, vd_b(b)));
    FAILS(vd_wait_idle(ctx), VD_ERROR_ASSERTION, "kernel 'any': vc_store: element 4 of buffer '100%d' is out of range (4 elements)");
    vd_buffer_destroy(ctx, b);
}

/* ---- the environment, and kernels of the library ---- */

/* Reads `table`, which has 4 elements, at the index of the point. */
static vc_ref hook_table;

static void hook_declare(vc_kernel *k, void *user) {
    (void)user;
    hook_table = vc_buffer(k, "window", VC_F32, VC_READ);
}

static void hook_load(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    (void)user;
    v->re = vc_mul(v->re, vc_load(hook_table, at->index));
}

/* In debug mode, kernels of the library are not checked. */
static const struct { uint64_t elements; bool checked; } hook_cases[] = { { 16, true }, { 4, true }, { 4, false } };

TEST_EXECUTED(the_environment_checks_kernels_of_the_library) {
    vd_context *ctx = quiet_context(f, 0, true);
    float data[32] = { 0 };
    vd_fft_desc desc;
    vd_fft_io io;
    vd_buffer x = buffer_named(ctx, "x", VD_F32C, 16, data), all = buffer_named(ctx, "all", VD_F32, 16, data);
    for (size_t i = 0; i < COUNT(hook_cases); i++) {
        bool bad = hook_cases[i].checked && hook_cases[i].elements < 16;
        if (hook_cases[i].checked) setenv("VKDISPATCH_CHECK_KERNELS", "1", 1);
        else unsetenv("VKDISPATCH_CHECK_KERNELS");
        memset(&desc, 0, sizeof desc);
        desc.name = "spectrum";
        desc.shape[0] = 16;
        desc.hook_declare = hook_declare;
        desc.load = hook_load;
        vd_fft *plan = vd_fft_create(ctx, &desc);
        if (!plan) fail_msg("%s", vd_error_text());
        vd_view_desc view;
        memset(&view, 0, sizeof view);
        view.name = "window";
        view.buffer = all;
        view.type = VD_F32;
        view.shape[0] = hook_cases[i].elements;
        vd_buffer window = vd_buffer_view(ctx, &view);
        vd_named_arg argument = { "window", vd_b(window) };
        memset(&io, 0, sizeof io);
        io.in = x;
        io.out = x;
        io.args = &argument;
        io.arg_count = 1;
        OK(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io));
        if (bad) FAILS(vd_wait_idle(ctx), VD_ERROR_ASSERTION, "vc_load: element |of buffer 'window' is out of range (4 elements)");
        else OK(vd_wait_idle(ctx));
        vd_fft_destroy(plan);
        vd_buffer_destroy(ctx, window);
    }
    vd_buffer_destroy(ctx, all);
    vd_buffer_destroy(ctx, x);
}

/* A load hook that makes its elements itself: the input, which is too short, is not read. */
static void hook_ignores(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    (void)user;
    v->re = vc_cast(VC_F32, vc_cast(VC_U32, at->index));
    v->im = vc_const(k, vc_f32(0));
}

TEST_EXECUTED(ignored_input_is_not_checked) {
    vd_context *ctx = quiet_context(f, 0, false);
    static const vd_fft_kind kinds[] = { VD_FFT_COMPLEX, VD_FFT_REAL };
    setenv("VKDISPATCH_CHECK_KERNELS", "1", 1);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        vd_fft_desc desc;
        vd_fft_io io;
        float got[2];
        memset(&desc, 0, sizeof desc);
        memset(&io, 0, sizeof io);
        desc.kind = kinds[i];
        desc.shape[0] = 16;
        desc.load = hook_ignores;
        vd_fft *plan = vd_fft_create(ctx, &desc);
        if (!plan) fail_msg("%s", vd_error_text());
        vd_buffer x = buffer_named(ctx, "x", VD_F32C, 16, NULL);
        io.out = x;
        OK(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io));
        OK(vd_buffer_read(ctx, x, 0, got, sizeof got));
        assert_true(got[0] == 120 && got[1] == 0); /* the sum */
        vd_fft_destroy(plan);
        vd_buffer_destroy(ctx, x);
    }
    unsetenv("VKDISPATCH_CHECK_KERNELS");
}

static const struct CMUnitTest cases[] = {
    CASE(every_access_is_checked), CASE(values_out_of_range_are_zero),
    CASE(elements_are_counted_in_the_type_of_the_kernel), CASE(a_buffer_of_any_type_is_checked_by_its_bytes),
    CASE(arrays_inside_of_elements_are_checked), CASE(composite_loads_check_the_arrays_on_their_path),
    CASE(the_environment_checks_kernels_of_the_library), CASE(ignored_input_is_not_checked)
};
MAIN("checked", cases)

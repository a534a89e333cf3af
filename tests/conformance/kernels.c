/* Kernels: dispatch by threads and by groups, splitting, implicit arguments, arguments of every type and count, modules
   of other compilers. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"
#include "tests/conformance/foreign.h"

/* Tests that pass arguments run with buffers by address and by binding. */
typedef void (*with_context)(vd_context *ctx);

static void in_both_forms(fixture *f, with_context run) {
    for (int form = 0; form < 2; form++) {
        run(form ? context_without(f, VD_FEATURE_ADDRESS) : f->ctx);
    }
}

static uint32_t *read_all(vd_context *ctx, vd_buffer b, uint32_t count) {
    uint32_t *words = (uint32_t *)malloc(4 * (size_t)count);
    assert_non_null(words);
    OK(vd_buffer_read(ctx, b, 0, words, 4 * (uint64_t)count));
    return words;
}

/* ---- threads and groups ---- */

/* out[index] += index + 1 for each thread, index = x + width * (y + height * z). */
static vd_kernel kernel_visit(vd_context *ctx, uint32_t lx, uint32_t ly, uint32_t lz) {
    vc_kernel *k = kernel_begin(ctx, "visit", lx, ly, lz);
    vc_ref out = vc_buffer(k, "out", VC_U32, VC_READ_WRITE);
    VC_EACH3(k, x, y, z) {
        vc_val index = vc_add(x, vc_mul(vc_threads(k, 0), vc_add(y, vc_mul(vc_threads(k, 1), z))));
        vc_store(out, index, vc_add(vc_load(out, index), vc_add(index, vc_u32(1))));
    }
    return kernel_end(ctx, k);
}

static void check_visits(vd_context *ctx, vd_buffer out, uint32_t visited, uint32_t total) {
    uint32_t *words = read_all(ctx, out, total);
    for (uint32_t i = 0; i < total; i++) {
        if (words[i] != (i < visited ? i + 1 : 0)) fail_msg("element %u of %u visited is %u", i, visited, words[i]);
    }
    free(words);
}

static void visit(vd_context *ctx, const uint32_t *local, const uint32_t *threads) {
    uint32_t total = threads[0] * threads[1] * threads[2];
    vd_kernel k = kernel_visit(ctx, local[0], local[1], local[2]);
    vd_buffer out = buffer_u32(ctx, "out", total + 100, NULL);
    OK(vd_run3(ctx, k, threads[0], threads[1], threads[2], vd_b(out)));
    check_visits(ctx, out, total, total + 100);
    vd_buffer_destroy(ctx, out);
    vd_kernel_destroy(ctx, k);
}

static void visit_shapes(vd_context *ctx) {
    static const uint32_t locals[][3] = {
        { 1, 1, 1 }, { 64, 1, 1 }, { 8, 8, 1 }, { 4, 4, 4 }, { 1, 1, 32 }, { 3, 5, 2 }
    };
    static const uint32_t threads[][3] = {
        { 1, 1, 1 }, { 100, 1, 1 }, { 17, 9, 1 }, { 5, 6, 7 }, { 1, 1, 40 }, { 64, 2, 1 }
    };
    for (size_t i = 0; i < COUNT(locals); i++) {
        for (size_t j = 0; j < COUNT(threads); j++) visit(ctx, locals[i], threads[j]);
    }
}

TEST_EXECUTED(each_thread_runs_once_whatever_the_shape) { in_both_forms(f, visit_shapes); }

static uint32_t registers_of(vd_context *ctx, vd_kernel k) {
    vd_kernel_info info;
    OK(vd_kernel_query(ctx, k, &info));
    return info.registers;
}

/* Drivers need not report registers, except CUDA's. */
TEST_EXECUTED(kernels_whose_registers_are_counted_run) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "increment";
    desc.local_size[0] = 64;
    desc.machine = vd_machine(f->ctx);
    desc.count_registers = true;
    vc_kernel *builder = vc_begin(&desc);
    vc_ref x = vc_buffer(builder, "x", VC_U32, VC_READ_WRITE);
    VC_EACH(builder, i) { vc_store(x, i, vc_add(vc_load(x, i), vc_u32(1))); }
    vd_kernel counted = kernel_end(f->ctx, builder), plain = kernel_affine(f->ctx);
    vd_buffer buffer = buffer_u32(f->ctx, "x", 64, NULL);
    OK(vd_run(f->ctx, counted, 64, vd_b(buffer)));
    assert_int_equal(read_u32(f->ctx, buffer, 63), 1);
    assert_int_equal(registers_of(f->ctx, plain), 0);
    if (f->backend == VD_BACKEND_CUDA) assert_true(registers_of(f->ctx, counted) > 0);
    else assert_true(registers_of(f->ctx, counted) <= 1024);
    vd_kernel_destroy(f->ctx, counted);
    vd_kernel_destroy(f->ctx, plain);
    vd_buffer_destroy(f->ctx, buffer);
}

TEST_EXECUTED(the_largest_workgroup_runs) {
    const vd_limits *l = &vd_device(f->ctx, 0)->limits;
    uint32_t local[3] = { l->max_local_size[0] < l->max_local_invocations ? l->max_local_size[0]
                                                                          : l->max_local_invocations,
                          1, 1 };
    uint32_t threads[3] = { 3 * local[0] - 1, 1, 1 };
    visit(f->ctx, local, threads);
}

TEST_EXECUTED(dispatch_by_groups) {
    vd_kernel k = kernel_visit(f->ctx, 4, 2, 1);
    vd_buffer out = buffer_u32(f->ctx, "out", 4 * 3 * 2 * 5 * 3 + 50, NULL);
    vd_arg arg = vd_b(out);
    vd_dispatch_desc desc = { { 0 }, { 0, 0, 0 }, { 3, 5, 3 }, NULL, 1, { 0 }, 0, false, NULL, NULL, 0 };
    desc.kernel = k;
    desc.args = &arg;
    OK(vd_dispatch(vd_immediate(f->ctx, 0, 0), &desc));
    check_visits(f->ctx, out, 4 * 3 * 2 * 5 * 3, 4 * 3 * 2 * 5 * 3 + 50);
}

static void split_one_axis(vd_context *ctx, uint32_t axis) {
    enum { MANY = 65600 };
    vc_kernel *k = kernel_begin(ctx, "split", 1, 1, 1);
    vc_ref out = vc_buffer(k, "out", VC_U32, VC_READ_WRITE);
    vc_val at = vc_group_id(k, axis), global = vc_global_id(k, axis);
    vc_store(out, at, vc_add(vc_load(out, at), vc_add(global, vc_u32(1))));
    VC_IF(k, vc_eq(at, vc_u32(MANY - 1))) { vc_store(out, vc_u32(MANY), vc_groups(k, axis)); }
    vd_kernel kernel = kernel_end(ctx, k);
    vd_buffer b = buffer_u32(ctx, "out", MANY + 1, NULL);
    vd_arg arg = vd_b(b);
    vd_dispatch_desc desc = { { 0 }, { 0, 0, 0 }, { 1, 1, 1 }, NULL, 1, { 0 }, 0, false, NULL, NULL, 0 };
    desc.kernel = kernel;
    desc.args = &arg;
    desc.groups[axis] = MANY;
    OK(vd_dispatch(vd_immediate(ctx, 0, 0), &desc));
    uint32_t *words = read_all(ctx, b, MANY + 1);
    for (uint32_t i = 0; i < MANY; i++) assert_int_equal(words[i], i + 1);
    assert_int_equal(words[MANY], MANY);
    free(words);
    vd_buffer_destroy(ctx, b);
    vd_kernel_destroy(ctx, kernel);
}

TEST_EXECUTED(more_groups_than_the_limit_are_split) {
    for (uint32_t axis = 0; axis < 3; axis++) split_one_axis(f->ctx, axis);
}

static void split_threads(vd_context *ctx) {
    vd_kernel k = kernel_visit(ctx, 1, 1, 1);
    vd_buffer out = buffer_u32(ctx, "out", 66000, NULL);
    OK(vd_run2(ctx, k, 1, 65700, vd_b(out)));
    check_visits(ctx, out, 65700, 66000);
}

TEST_EXECUTED(more_threads_than_the_limit_are_split) { in_both_forms(f, split_threads); }

/* ---- implicit arguments ---- */

enum { HIDDEN_VALUES = 3 + 3 + 3 + 1 + 4 + 1 };

static vd_kernel kernel_hidden(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "hidden", 4, 2, 1);
    vc_ref shaped = vc_buffer(k, "shaped", VC_F32, VC_READ), out = vc_buffer(k, "out", VC_U32, VC_WRITE);
    vc_val v[HIDDEN_VALUES], global = vc_add(vc_global_id(k, 0), vc_add(vc_global_id(k, 1), vc_global_id(k, 2)));
    int n = 0;
    for (uint32_t axis = 0; axis < 3; axis++) v[n++] = vc_threads(k, axis);
    for (uint32_t axis = 0; axis < 3; axis++) v[n++] = vc_groups(k, axis);
    for (uint32_t axis = 0; axis < 3; axis++) v[n++] = vc_local_size(k, axis);
    v[n++] = vc_length(shaped);
    for (uint32_t axis = 0; axis < 4; axis++) v[n++] = vc_shape(shaped, axis);
    v[n++] = vc_length(out);
    VC_IF(k, vc_eq(global, vc_u32(0))) {
        for (int i = 0; i < n; i++) vc_store(out, vc_u32((uint32_t)i), v[i]);
    }
    return kernel_end(ctx, k);
}

static void hidden_values(vd_context *ctx) {
    static const uint32_t by_threads[HIDDEN_VALUES] = { 9, 3, 1, 3, 2, 1, 4, 2, 1, 210, 2, 3, 5, 7, 40 };
    static const uint32_t by_groups[HIDDEN_VALUES] = { 20, 12, 7, 5, 6, 7, 4, 2, 1, 210, 2, 3, 5, 7, 40 };
    vd_kernel k = kernel_hidden(ctx);
    vd_buffer_desc desc = { 0 };
    desc.type = VD_F32;
    for (int axis = 0; axis < 4; axis++) desc.shape[axis] = by_threads[10 + axis];
    vd_buffer shaped = vd_buffer_create(ctx, &desc), out = buffer_u32(ctx, "out", 40, NULL);
    assert_true(shaped.id != 0);
    OK(vd_run2(ctx, k, 9, 3, vd_b(shaped), vd_b(out)));
    uint32_t *words = read_all(ctx, out, HIDDEN_VALUES);
    for (int i = 0; i < HIDDEN_VALUES; i++) assert_int_equal(words[i], by_threads[i]);
    free(words);
    vd_arg args[2];
    args[0] = vd_b(shaped);
    args[1] = vd_b(out);
    vd_dispatch_desc d = { { 0 }, { 0, 0, 0 }, { 5, 6, 7 }, NULL, 2, { 0 }, 0, false, NULL, NULL, 0 };
    d.kernel = k;
    d.args = args;
    OK(vd_dispatch(vd_immediate(ctx, 0, 0), &d));
    words = read_all(ctx, out, HIDDEN_VALUES);
    for (int i = 0; i < HIDDEN_VALUES; i++) assert_int_equal(words[i], by_groups[i]);
    free(words);
}

TEST_EXECUTED(implicit_arguments_have_threads_groups_lengths_and_shapes) { in_both_forms(f, hidden_values); }

/* ---- values ---- */

/* Values of every scalar type in one kernel, in an order that causes padding, each compared with its expected value. */
static void values_of_every_type(vd_context *ctx) {
    uint64_t has = vd_device(ctx, 0)->features;
    vc_kernel *k = kernel_begin(ctx, "values", 1, 1, 1);
    vc_ref out = vc_buffer(k, "out", VC_U32, VC_WRITE);
    vd_arg args[16];
    vc_val right[16];
    int n = 0;
#define VALUE(feature, type, arg, expected) if ((has & (feature)) == (feature)) { \
        right[n] = vc_eq(vc_param(k, NULL, type), expected); args[1 + n++] = arg; }
    VALUE(0, VC_BOOL, vd_bool(true), vc_bool(true))
    VALUE(VD_FEATURE_I8, VC_I8, vd_i8(-7), vc_i8(-7))
    VALUE(VD_FEATURE_I64, VC_I64, vd_i64(-1234567890123), vc_i64(-1234567890123))
    VALUE(VD_FEATURE_I16, VC_U16, vd_u16(65535), vc_u16(65535))
    VALUE(0, VC_U32, vd_u32(0x80000001u), vc_u32(0x80000001u))
    VALUE(VD_FEATURE_I8, VC_U8, vd_u8(200), vc_u8(200))
    VALUE(VD_FEATURE_F64, VC_F64, vd_f64(-0.1), vc_f64(-0.1))
    VALUE(VD_FEATURE_F16, VC_F16, vd_f16_bits(0x3e00), vc_f16(1.5f))
    VALUE(0, VC_F32, vd_f32(3.25f), vc_f32(3.25f))
    VALUE(VD_FEATURE_I16, VC_I16, vd_i16(-30000), vc_i16(-30000))
    VALUE(0, VC_I32, vd_i32(-5), vc_i32(-5))
    VALUE(VD_FEATURE_I64, VC_U64, vd_u64(UINT64_MAX - 1), vc_u64(UINT64_MAX - 1))
#undef VALUE
    for (int i = 0; i < n; i++) vc_store(out, vc_u32((uint32_t)i), vc_select(right[i], vc_u32(1), vc_u32(2)));
    vd_kernel kernel = kernel_end(ctx, k);
    vd_buffer b = buffer_u32(ctx, "out", 16, NULL);
    args[0] = vd_b(b);
    OK(dispatch(vd_immediate(ctx, 0, 0), kernel, 1, args, n + 1));
    uint32_t *words = read_all(ctx, b, 16);
    for (int i = 0; i < n; i++) {
        if (words[i] != 1) fail_msg("value %d of %d arrived wrong", i, n);
    }
    free(words);
}

TEST_EXECUTED(values_of_every_scalar_type_arrive) { in_both_forms(f, values_of_every_type); }

static void vector_values(vd_context *ctx) {
    float v3[3] = { 1, 2, 3 };
    int32_t v4[4] = { -1, -2, -3, -4 };
    uint32_t v2[2] = { 7, 9 };
    vc_kernel *k = kernel_begin(ctx, "vectors", 1, 1, 1);
    vc_val a = vc_param(k, "a", VC_F32X3), b = vc_param(k, "b", VC_I32X4), c = vc_param(k, "c", VC_U32X2);
    vc_ref out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    for (uint32_t i = 0; i < 3; i++) vc_store(out, vc_u32(i), vc_component(a, i));
    for (uint32_t i = 0; i < 4; i++) vc_store(out, vc_u32(3 + i), vc_cast(VC_F32, vc_component(b, i)));
    for (uint32_t i = 0; i < 2; i++) vc_store(out, vc_u32(7 + i), vc_cast(VC_F32, vc_component(c, i)));
    vd_kernel kernel = kernel_end(ctx, k);
    vd_buffer buffer = buffer_named(ctx, "out", VD_F32, 9, NULL);
    static const float expected[9] = { 1, 2, 3, -1, -2, -3, -4, 7, 9 };
    float got[9];
    OK(vd_run(ctx, kernel, 1, vd_value(VD_F32X3, v3), vd_value(VD_I32X4, v4), vd_value(VD_U32X2, v2), vd_b(buffer)));
    v3[0] = 100; /* copied during the call */
    OK(vd_buffer_read(ctx, buffer, 0, got, VD_WHOLE));
    assert_memory_equal(got, expected, sizeof got);
}

TEST_EXECUTED(vectors_arrive) { in_both_forms(f, vector_values); }

enum { MANY_VALUES = 56 };

/* 56 vectors of 16 bytes: more than the push constants of any device. Each dispatch has different values. */
static void many_values(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "many", 1, 1, 1);
    vc_ref out = vc_buffer(k, "out", VC_U32X4, VC_WRITE);
    vc_val which = vc_param(k, "which", VC_U32), sum = vc_splat(vc_const(k, vc_u32(0)), 4);
    for (uint32_t i = 0; i < MANY_VALUES; i++) sum = vc_add(sum, vc_mul(vc_param(k, NULL, VC_U32X4), vc_u32(i + 1)));
    vc_store(out, which, sum);
    vd_kernel kernel = kernel_end(ctx, k);
    enum { RUNS = 200 };
    static uint32_t v[MANY_VALUES][4], expected[RUNS][4], got[RUNS][4];
    vd_arg args[2 + MANY_VALUES];
    vd_buffer b = buffer_named(ctx, "out", VD_U32X4, RUNS, NULL);
    args[0] = vd_b(b);
    memset(expected, 0, sizeof expected);
    for (uint32_t run = 0; run < RUNS; run++) {
        args[1] = vd_u32(run);
        for (uint32_t i = 0; i < MANY_VALUES; i++) {
            for (uint32_t j = 0; j < 4; j++) {
                v[i][j] = run * 31 + i * 7 + j;
                expected[run][j] += v[i][j] * (i + 1);
            }
            args[2 + i] = vd_value(VD_U32X4, v[i]);
        }
        OK(dispatch(vd_immediate(ctx, 0, 0), kernel, 1, args, 2 + MANY_VALUES));
    }
    OK(vd_buffer_read(ctx, b, 0, got, VD_WHOLE));
    assert_memory_equal(got, expected, sizeof got);
}

TEST_EXECUTED(more_values_than_push_constants) { in_both_forms(f, many_values); }

static void small_and_large_values_in_turn(vd_context *ctx) {
    vd_kernel large = kernel_large(ctx), small = kernel_affine(ctx);
    vd_buffer b = buffer_u32(ctx, "out", 1, NULL);
    vd_arg args[21];
    uint32_t v[4] = { 1, 2, 3, 4 }, expected = 0;
    args[0] = vd_b(b);
    for (int i = 0; i < 20; i++) args[1 + i] = vd_value(VD_U32X4, v);
    for (uint32_t i = 0; i < 100; i++) {
        v[i % 4]++;
        OK(dispatch(vd_immediate(ctx, 0, 0), large, 1, args, 21));
        OK(affine(vd_immediate(ctx, 0, 0), small, b, 1, 3, i));
        expected = (expected + 5 * (v[0] + v[1] + v[2] + v[3])) * 3 + i;
    }
    assert_int_equal(read_u32(ctx, b, 0), expected);
}

TEST_EXECUTED(small_and_large_argument_blocks_alternate) { in_both_forms(f, small_and_large_values_in_turn); }

/* Values and buffers may be reused from one dispatch to the next. Whatever happens in between, every dispatch sees its
   own. */
static void reused_values(vd_context *ctx) {
    vd_kernel large = kernel_large(ctx), small = kernel_affine(ctx);
    vd_list *now = vd_immediate(ctx, 0, 0);
    vd_buffer b[2], dead = buffer_u32(ctx, "dead", 4, NULL);
    vd_arg args[21];
    dice d = { 7 };
    uint32_t v[4] = { 1, 2, 3, 4 }, expected[2] = { 0, 0 }, mul = 1, add = 0, at = 0;
    for (int i = 0; i < 2; i++) b[i] = buffer_u32(ctx, "b", 65536, NULL);
    for (int i = 0; i < 20; i++) args[1 + i] = vd_value(VD_U32X4, v);
    vd_buffer_destroy(ctx, dead);
    for (int i = 0; i < 400; i++) {
        uint32_t act = roll(&d, 16);
        if (act < 2) at = roll(&d, 2);
        if (act == 2) mul = 1 + 2 * roll(&d, 3); /* odd, so that no bit is shifted out */
        if (act == 3) add = roll(&d, 100);
        if (act == 4) v[roll(&d, 4)]++;
        if (act == 5) OK(vd_flush(ctx));
        if (act == 6) FAILS(affine(now, small, dead, 1, mul + 2, add + 1), VD_ERROR_INVALID, "destroyed");
        if (act == 7) { /* a refused dispatch does not affect the values of the next */
            vd_arg odd[3] = { vd_b(b[at]), vd_u32(mul += 2), vd_f32(1) };
            FAILS(dispatch(now, small, 1, odd, 3), VD_ERROR_INVALID, "add|f32");
        }
        if (act == 8) {
            OK(vd_copy(now, b[1 - at], 0, b[at], 0, VD_WHOLE));
            expected[1 - at] = expected[at];
        }
        args[0] = vd_b(b[at]);
        if (act == 9) OK(dispatch(now, large, 1, args, 21));
        if (act == 9) expected[at] += 5 * (v[0] + v[1] + v[2] + v[3]);
        OK(affine(now, small, b[at], 1, mul, add));
        expected[at] = expected[at] * mul + add;
    }
    for (uint32_t i = 0; i < 2; i++) assert_int_equal(read_u32(ctx, b[i], 0), expected[i]);
}

TEST_EXECUTED(reused_values_are_right) { in_both_forms(f, reused_values); }

static void many_buffers(vd_context *ctx) {
    uint32_t limit = vd_device(ctx, 0)->limits.max_bindings, count = limit < 17 ? limit - 1 : 16;
    vc_kernel *k = kernel_begin(ctx, "buffers", 1, 1, 1);
    vc_val sum = vc_u32(0);
    for (uint32_t i = 0; i < count; i++)
        sum = vc_add(sum, vc_mul(vc_load(vc_buffer(k, NULL, VC_U32, VC_READ), vc_u32(i)), vc_u32(i + 1)));
    vc_ref out = vc_buffer(k, "out", VC_U32, VC_WRITE);
    vc_store(out, vc_u32(0), sum);
    vd_kernel kernel = kernel_end(ctx, k);
    vd_arg args[17];
    uint32_t expected = 0, words[16];
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < 16; j++) words[j] = i * 100 + j;
        args[i] = vd_b(buffer_u32(ctx, NULL, 16, words));
        expected += (i * 100 + i) * (i + 1);
    }
    vd_buffer b = buffer_u32(ctx, "out", 1, NULL);
    args[count] = vd_b(b);
    OK(dispatch(vd_immediate(ctx, 0, 0), kernel, 1, args, (int)count + 1));
    assert_int_equal(read_u32(ctx, b, 0), expected);
}

TEST_EXECUTED(many_buffers_arrive_in_order) { in_both_forms(f, many_buffers); }

/* ---- memory inside kernels ---- */

static void shared_memory(vd_context *ctx) {
    enum { GROUP = 64 };
    vc_kernel *k = kernel_begin(ctx, "reverse", GROUP, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE), s = vc_shared(k, "s", VC_U32, GROUP);
    vc_val l = vc_local_id(k, 0), g = vc_global_id(k, 0);
    vc_store(s, l, vc_load(x, g));
    vc_barrier(k);
    vc_store(x, g, vc_load(s, vc_sub(vc_u32(GROUP - 1), l)));
    vd_kernel kernel = kernel_end(ctx, k);
    uint32_t words[4 * GROUP];
    for (uint32_t i = 0; i < 4 * GROUP; i++) words[i] = i;
    vd_buffer b = buffer_u32(ctx, "x", 4 * GROUP, words);
    OK(vd_run(ctx, kernel, 4 * GROUP, vd_b(b)));
    OK(vd_buffer_read(ctx, b, 0, words, VD_WHOLE));
    for (uint32_t i = 0; i < 4 * GROUP; i++) assert_int_equal(words[i], i / GROUP * GROUP + GROUP - 1 - i % GROUP);
}

TEST_EXECUTED(shared_memory_is_shared_by_a_group) { in_both_forms(f, shared_memory); }

static void narrow_elements(vd_context *ctx) {
    if (!(vd_device(ctx, 0)->features & VD_FEATURE_STORAGE_8)) return;
    vc_kernel *k = kernel_begin(ctx, "bytes", 64, 1, 1);
    vc_ref in = vc_buffer(k, "in", VC_U8, VC_READ), out = vc_buffer(k, "out", VC_U8, VC_WRITE);
    VC_EACH(k, i) { vc_store(out, i, vc_cast(VC_U8, vc_add(vc_cast(VC_U32, vc_load(in, i)), vc_u32(1)))); }
    if (vc_error(k)) { /* arithmetic on bytes is a separate feature */
        vc_free(k);
        return;
    }
    vd_kernel kernel = kernel_end(ctx, k);
    uint8_t bytes[301];
    for (int i = 0; i < 301; i++) bytes[i] = (uint8_t)i;
    vd_buffer a = buffer_named(ctx, "in", VD_U8, 301, bytes), b = buffer_named(ctx, "out", VD_U8, 301, NULL);
    OK(vd_run(ctx, kernel, 300, vd_b(a), vd_b(b)));
    OK(vd_buffer_read(ctx, b, 0, bytes, VD_WHOLE));
    for (int i = 0; i < 300; i++) assert_int_equal(bytes[i], (uint8_t)(i + 1));
    assert_int_equal(bytes[300], 0);
}

TEST_EXECUTED(elements_narrower_than_a_word_work) { in_both_forms(f, narrow_elements); }

TEST_EXECUTED(a_kernel_may_be_destroyed_while_in_use) {
    vd_buffer b = buffer_u32(f->ctx, "b", 64, NULL);
    uint64_t before = stats_of(f->ctx).kernels;
    for (uint32_t i = 0; i < 20; i++) {
        vd_kernel k = kernel_affine(f->ctx);
        OK(affine(vd_immediate(f->ctx, 0, 0), k, b, 64, 1, 1));
        vd_kernel_destroy(f->ctx, k);
        if (i % 3 == 0) OK(vd_flush(f->ctx));
    }
    assert_int_equal(read_u32(f->ctx, b, 63), 20);
    assert_int_equal(stats_of(f->ctx).kernels, before);
}

/* ---- reflection ---- */

static vd_kernel_arg_info arg_of(vd_context *ctx, vd_kernel kernel, int index) {
    vd_kernel_arg_info arg;
    OK(vd_kernel_arg_query(ctx, kernel, index, &arg));
    return arg;
}

static void query_matches_builder(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "queried", 8, 4, 2);
    vc_ref x = vc_buffer(k, "x", VC_F32X4, VC_READ_WRITE), y = vc_buffer(k, "y", VC_U32, VC_READ_WRITE),
           s = vc_shared(k, "s", VC_F32, 100);
    vc_val a = vc_param(k, "a", VC_F32), b = vc_param(k, "b", VC_F32X2);
    vc_store(s, vc_local_index(k), a);
    vc_store(y, vc_global_id(k, 0),
             vc_cast(VC_U32, vc_add(vc_component(vc_load(x, vc_u32(0)), 3), vc_component(b, 1))));
    vd_kernel kernel = vd_kernel_build(ctx, k);
    if (!kernel.id) fail_msg("%s", vd_error_text());
    vd_kernel_info info;
    OK(vd_kernel_query(ctx, kernel, &info));
    assert_string_equal(info.name, "queried");
    assert_int_equal(info.arg_count, 4);
    assert_true(info.local_size[0] == 8 && info.local_size[1] == 4 && info.local_size[2] == 2);
    assert_int_equal(info.shared_bytes, 400);
    vc_free(k);
    vd_kernel_arg_info args[4];
    for (int i = 0; i < 4; i++) args[i] = arg_of(ctx, kernel, i);
    vd_kernel_destroy(ctx, kernel);
    assert_string_equal(args[0].name, "x");
    assert_string_equal(args[1].name, "y");
    assert_int_equal(args[0].arg.type, VD_F32X4);
    assert_int_equal(args[0].arg.access, VD_READ);
    assert_int_equal(args[1].arg.access, VD_WRITE);
    assert_int_equal(args[2].arg.kind, VD_ARG_VALUE);
    assert_int_equal(args[2].arg.size, 4);
    assert_int_equal(args[3].arg.type, VD_VEC(VD_F32, 2));
    assert_int_equal(args[3].arg.size, 8);
    const vd_device_info *device = vd_device(ctx, 0); /* CUDA has no other way */
    bool address = (device->features & VD_FEATURE_ADDRESS) != 0 || device->backend == VD_BACKEND_CUDA;
    if (!getenv("VKDISPATCH_BUFFERS")) assert_int_equal(args[0].arg.kind, address ? VD_ARG_ADDRESS : VD_ARG_BINDING);
}

TEST(a_query_returns_the_builders_reflection) { in_both_forms(f, query_matches_builder); }

static vd_kernel_desc foreign_desc(const uint32_t *words) {
    vd_kernel_desc desc = { 0 };
    desc.name = "foreign";
    desc.code = words;
    desc.code_size = sizeof foreign_saxpy;
    return desc;
}

static vd_kernel foreign_kernel(vd_context *ctx, const uint32_t *words) {
    vd_kernel_desc desc = foreign_desc(words);
    vd_kernel k = vd_kernel_create(ctx, &desc);
    if (!k.id) fail_msg("vd_kernel_create: %s", vd_error_text());
    return k;
}

static void check_foreign(vd_context *ctx, vd_kernel k) {
    static const vd_arg_info expected[] = {
        { "", VD_ARG_BINDING, VD_F32, VD_READ, 1, 0, 0, false, false, VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false, 0 },
        { "", VD_ARG_BINDING, VD_F32, VD_READ_WRITE, 3, 0, 0, false, false,
          VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false, 0 },
        { "", VD_ARG_VALUE, VD_F32, 0, 0, 4, 0, false, false, VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false, 0 },
        { "", VD_ARG_VALUE, VD_U32, 0, 4, 4, 0, false, false, VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false, 0 } };
    vd_kernel_info info;
    OK(vd_kernel_query(ctx, k, &info));
    assert_int_equal(info.arg_count, 4);
    assert_int_equal(info.local_size[0], 32);
    for (int i = 0; i < 4; i++) {
        vd_arg_info arg = arg_of(ctx, k, i).arg;
        assert_int_equal(arg.kind, expected[i].kind);
        assert_int_equal(arg.type, expected[i].type);
        assert_int_equal(arg.location, expected[i].location);
        if (i < 2) assert_int_equal(arg.access, expected[i].access);
        if (i >= 2) assert_int_equal(arg.size, expected[i].size);
    }
}

static void run_foreign(vd_context *ctx, vd_kernel k) {
    float x[100], y[100];
    for (int i = 0; i < 100; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    vd_buffer bx = buffer_named(ctx, "x", VD_F32, 100, x), by = buffer_named(ctx, "y", VD_F32, 100, y);
    OK(vd_run(ctx, k, 100, vd_b(bx), vd_b(by), vd_f32(0.5f), vd_u32(90)));
    OK(vd_buffer_read(ctx, by, 0, y, VD_WHOLE));
    for (int i = 0; i < 100; i++) assert_true(y[i] == (i < 90 ? 1 + 0.5f * (float)i : 1));
}

TEST(arguments_of_foreign_modules_are_read_from_them) {
    vd_kernel_desc desc = foreign_desc(foreign_saxpy);
    if (!takes_spirv(f, &desc)) return;
    vd_kernel k = foreign_kernel(f->ctx, foreign_saxpy);
    check_foreign(f->ctx, k);
    if (f->executes) run_foreign(f->ctx, k);
}

TEST(modules_of_the_other_byte_order_are_accepted) {
    static uint32_t swapped[COUNT(foreign_saxpy)];
    for (size_t i = 0; i < COUNT(foreign_saxpy); i++) {
        uint32_t w = foreign_saxpy[i];
        swapped[i] = w >> 24 | (w >> 8 & 0xff00u) | (w << 8 & 0xff0000u) | w << 24;
    }
    vd_kernel_desc desc = foreign_desc(swapped);
    if (!takes_spirv(f, &desc)) return;
    vd_kernel k = foreign_kernel(f->ctx, swapped);
    check_foreign(f->ctx, k);
    if (f->executes) run_foreign(f->ctx, k);
}

TEST(reflection_finds_the_bindings_of_our_module) {
    size_t words = 0;
    vc_kernel_desc desc = { 0 };
    desc.name = "plain";
    desc.buffers = VC_BUFFERS_BINDING;
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ), y = vc_buffer(k, "y", VC_F32, VC_WRITE);
    vc_store(y, vc_local_index(k), vc_load(x, vc_local_index(k)));
    vd_kernel_desc plain = { 0 };
    plain.code = vc_spirv(k, &words);
    assert_non_null(plain.code);
    plain.code_size = 4 * words;
    if (!takes_spirv(f, &plain)) {
        vc_free(k);
        return;
    }
    vd_kernel kernel = vd_kernel_create(f->ctx, &plain);
    if (!kernel.id) fail_msg("%s", vd_error_text());
    vd_kernel_info info;
    OK(vd_kernel_query(f->ctx, kernel, &info));
    assert_int_equal(info.arg_count, 2);
    vd_kernel_arg_info in = arg_of(f->ctx, kernel, 0), out = arg_of(f->ctx, kernel, 1);
    assert_int_equal(in.arg.kind, VD_ARG_BINDING);
    assert_int_equal(in.arg.access, VD_READ);
    assert_int_equal(out.arg.access, VD_WRITE);
    assert_int_equal(out.arg.location, 1);
    assert_int_equal(out.arg.type, VD_F32);
    assert_int_equal(info.local_size[0], 128);
    vc_free(k);
}

static const struct CMUnitTest cases[] = {
    CASE(each_thread_runs_once_whatever_the_shape), CASE(kernels_whose_registers_are_counted_run),
    CASE(the_largest_workgroup_runs), CASE(dispatch_by_groups),
    CASE(more_groups_than_the_limit_are_split), CASE(more_threads_than_the_limit_are_split),
    CASE(implicit_arguments_have_threads_groups_lengths_and_shapes), CASE(values_of_every_scalar_type_arrive),
    CASE(vectors_arrive), CASE(more_values_than_push_constants), CASE(small_and_large_argument_blocks_alternate),
    CASE(reused_values_are_right), CASE(many_buffers_arrive_in_order), CASE(shared_memory_is_shared_by_a_group),
    CASE(elements_narrower_than_a_word_work), CASE(a_kernel_may_be_destroyed_while_in_use),
    CASE(a_query_returns_the_builders_reflection), CASE(arguments_of_foreign_modules_are_read_from_them),
    CASE(modules_of_the_other_byte_order_are_accepted), CASE(reflection_finds_the_bindings_of_our_module),
};

MAIN("kernels", cases)

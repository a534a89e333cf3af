/* SPIR-V from other sources: how its interface behaves when it runs. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"
#include "tests/assembler.h"
#include "tests/unit/data/modules.h"

static vd_kernel kernel_of(fixture *f, const char *name, const uint32_t *words, size_t count) {
    vd_kernel_desc desc = { 0 };
    desc.name = name;
    desc.code = words;
    desc.code_size = count * 4;
    if (!takes_spirv(f, &desc)) skip_because("the backend takes no SPIR-V");
    vd_kernel k = vd_kernel_create(f->ctx, &desc);
    if (!k.id) fail_msg("%s", vd_error_text());
    return k;
}

/* An element type: its vd_type, capabilities besides Shader, and the words of its scalar type. */
typedef struct element { vd_type type; uint32_t capabilities[2], rows, op, bits; } element;

static const element elements[] = {
    { VD_U8, { 4448, 39 }, 1, 21, 8 }, { VD_I16, { 4433, 22 }, 1, 21, 16 }, { VD_F16, { 4433, 9 }, 1, 22, 16 },
    { VD_U32, { 0, 0 }, 1, 21, 32 }, { VD_VEC(VD_U8, 3), { 4448, 39 }, 3, 21, 8 },
    { VD_VEC(VD_I16, 3), { 4433, 22 }, 3, 21, 16 }, { VD_F32X3, { 0, 0 }, 3, 22, 32 }, { VD_U64, { 11, 0 }, 1, 21, 64 },
    { VD_F64, { 10, 0 }, 1, 22, 64 }, { VD_F32X4, { 0, 0 }, 4, 22, 32 }
};

static bool has_element(const fixture *f, const element *e) {
    uint64_t features = vd_device(f->ctx, 0)->features, needs = 0;
    for (int i = 0; i < 2; i++) {
        switch (e->capabilities[i]) {
        case 9: needs |= VD_FEATURE_F16; break;
        case 10: needs |= VD_FEATURE_F64; break;
        case 11: needs |= VD_FEATURE_I64; break;
        case 22: needs |= VD_FEATURE_I16; break;
        case 39: needs |= VD_FEATURE_I8; break;
        case 4433: needs |= VD_FEATURE_STORAGE_16; break;
        case 4448: needs |= VD_FEATURE_STORAGE_8; break;
        default: break;
        }
    }
    return (features & needs) == needs;
}

/* to[0] = from.length(), with `from` a struct of `head` words followed by a tightly packed array. */
static void assemble_length(unit_module *m, const element *e, uint32_t head) {
    enum {
        VOID_T = 1,
        MAIN_T,
        U32,
        SCALAR,
        VECTOR,
        COUNT_HEAD,
        HEAD,
        ARRAY,
        FROM_T,
        TO_ARRAY,
        TO_T,
        FROM_P,
        TO_P,
        U32_P,
        ZERO,
        FROM,
        TO,
        MAIN,
        LABEL,
        LENGTH,
        AT,
        BOUND
    };
    uint32_t scalar = e->type == VD_U32 ? (uint32_t)U32 : (uint32_t)SCALAR,
             of = e->rows > 1 ? (uint32_t)VECTOR : scalar;
    memset(m, 0, sizeof *m);
    m->count = 5;
    unit_op(m, 17, 1u, 1u);
    for (int i = 0; i < 2; i++) if (e->capabilities[i]) unit_op(m, 17, 1u, e->capabilities[i]);
    if (e->bits == 8) unit_text(m, 10, "SPV_KHR_8bit_storage", 0u);
    unit_op(m, 14, 2u, 0u, 1u);
    unit_text(m, 15, "main", 2u, 5u, (uint32_t)MAIN);
    unit_op(m, 16, 5u, (uint32_t)MAIN, 17u, 1u, 1u, 1u);
    unit_op(m, 71, 3u, (uint32_t)ARRAY, 6u, e->rows * e->bits / 8);
    unit_op(m, 71, 3u, (uint32_t)TO_ARRAY, 6u, 4u);
    unit_op(m, 71, 2u, (uint32_t)FROM_T, 2u);
    if (head) {
        unit_op(m, 71, 3u, (uint32_t)HEAD, 6u, 4u);
        unit_op(m, 72, 4u, (uint32_t)FROM_T, 1u, 35u, 4 * head);
    }
    unit_op(m, 72, 4u, (uint32_t)FROM_T, 0u, 35u, 0u);
    unit_op(m, 71, 2u, (uint32_t)TO_T, 2u);
    unit_op(m, 72, 4u, (uint32_t)TO_T, 0u, 35u, 0u);
    for (uint32_t i = 0; i < 2; i++) {
        unit_op(m, 71, 3u, FROM + i, 34u, 0u);
        unit_op(m, 71, 3u, FROM + i, 33u, i);
    }
    unit_op(m, 19, 1u, (uint32_t)VOID_T);
    unit_op(m, 33, 2u, (uint32_t)MAIN_T, (uint32_t)VOID_T);
    unit_op(m, 21, 3u, (uint32_t)U32, 32u, 0u);
    if (e->op == 22) unit_op(m, 22, 2u, (uint32_t)SCALAR, e->bits);
    else if (scalar != U32) unit_op(m, 21, 3u, (uint32_t)SCALAR, e->bits, e->type % 16 == VD_I16 ? 1u : 0u);
    if (e->rows > 1) unit_op(m, 23, 3u, (uint32_t)VECTOR, scalar, e->rows);
    if (head) {
        unit_op(m, 43, 3u, (uint32_t)U32, (uint32_t)COUNT_HEAD, head);
        unit_op(m, 28, 3u, (uint32_t)HEAD, (uint32_t)U32, (uint32_t)COUNT_HEAD);
    }
    unit_op(m, 29, 2u, (uint32_t)ARRAY, of);
    if (head) unit_op(m, 30, 3u, (uint32_t)FROM_T, (uint32_t)HEAD, (uint32_t)ARRAY);
    else unit_op(m, 30, 2u, (uint32_t)FROM_T, (uint32_t)ARRAY);
    unit_op(m, 29, 2u, (uint32_t)TO_ARRAY, (uint32_t)U32);
    unit_op(m, 30, 2u, (uint32_t)TO_T, (uint32_t)TO_ARRAY);
    unit_op(m, 32, 3u, (uint32_t)FROM_P, 12u, (uint32_t)FROM_T);
    unit_op(m, 32, 3u, (uint32_t)TO_P, 12u, (uint32_t)TO_T);
    unit_op(m, 32, 3u, (uint32_t)U32_P, 12u, (uint32_t)U32);
    unit_op(m, 43, 3u, (uint32_t)U32, (uint32_t)ZERO, 0u);
    unit_op(m, 59, 3u, (uint32_t)FROM_P, (uint32_t)FROM, 12u);
    unit_op(m, 59, 3u, (uint32_t)TO_P, (uint32_t)TO, 12u);
    unit_op(m, 54, 4u, (uint32_t)VOID_T, (uint32_t)MAIN, 0u, (uint32_t)MAIN_T);
    unit_op(m, 248, 1u, (uint32_t)LABEL);
    unit_op(m, 68, 4u, (uint32_t)U32, (uint32_t)LENGTH, (uint32_t)FROM, head ? 1u : 0u);
    unit_op(m, 65, 5u, (uint32_t)U32_P, (uint32_t)AT, (uint32_t)TO, (uint32_t)ZERO, (uint32_t)ZERO);
    unit_op(m, 62, 2u, (uint32_t)AT, (uint32_t)LENGTH);
    unit_op(m, 253, 0u);
    unit_op(m, 56, 0u);
    m->words[0] = 0x07230203;
    m->words[1] = 0x00010300;
    m->words[3] = m->bound = BOUND;
}

/* length() ends with the view, for elements of every size, after other members, and if a view has fewer bytes than an
   element. */
TEST_EXECUTED(lengths_end_with_the_view) {
    unit_module m;
    uint64_t offset = vd_device(f->ctx, 0)->limits.binding_alignment * 2;
    if (offset % 16) offset *= 16;
    vd_buffer b = buffer_named(f->ctx, "b", VD_BYTES, offset + 1024, NULL), to = buffer_u32(f->ctx, "to", 1, NULL);
    for (size_t i = 0; i < COUNT(elements); i++) {
        const element *e = &elements[i];
        uint32_t size = e->rows * e->bits / 8;
        if (!has_element(f, e)) continue;
        assemble_length(&m, e, 0);
        vd_kernel k = kernel_of(f, vd_type_name(e->type), m.words, m.count);
        assemble_length(&m, e, 6);
        vd_kernel behind = kernel_of(f, "behind a head", m.words, m.count);
        for (uint32_t count = 1; count < 10; count++) {
            vd_buffer v = view_of(f->ctx, b, offset, e->type, count);
            OK(vd_run(f->ctx, k, 1, vd_b(v), vd_b(to)));
            if (read_u32(f->ctx, to, 0) != count)
                fail_msg("%s: length() of a view of %u elements is %u", vd_type_name(e->type), count,
                         read_u32(f->ctx, to, 0));
            vd_buffer_destroy(f->ctx, v);
            v = view_of(f->ctx, b, offset, VD_BYTES, 24 + count * size - 1);
            OK(vd_run(f->ctx, behind, 1, vd_b(v), vd_b(to)));
            if (read_u32(f->ctx, to, 0) != count - 1)
                fail_msg("%s: length() of %u bytes behind a head is %u", vd_type_name(e->type), count * size - 1,
                         read_u32(f->ctx, to, 0));
            vd_buffer_destroy(f->ctx, v);
        }
        vd_kernel_destroy(f->ctx, k);
        vd_kernel_destroy(f->ctx, behind);
    }
}

/* The same for kernels of the builder, by address and by binding. */
TEST_EXECUTED(lengths_of_the_builder_end_with_the_view) {
    uint64_t offset = vd_device(f->ctx, 0)->limits.binding_alignment * 16;
    vd_buffer b = buffer_named(f->ctx, "b", VD_BYTES, offset + 1024, NULL), to = buffer_u32(f->ctx, "to", 1, NULL);
    for (size_t i = 0; i < COUNT(elements); i++) {
        const element *e = &elements[i];
        if (!has_element(f, e)) continue;
        vc_kernel *c = kernel_begin(f->ctx, "length", 1, 1, 1);
        vc_ref x = vc_buffer(c, "x", e->type, VC_READ), y = vc_buffer(c, "y", VC_U32, VC_WRITE);
        vc_store(y, vc_u32(0), vc_length(x));
        vd_kernel k = kernel_end(f->ctx, c);
        for (uint32_t count = 1; count < 10; count++) {
            vd_buffer v = view_of(f->ctx, b, offset, e->type, count);
            OK(vd_run(f->ctx, k, 1, vd_b(v), vd_b(to)));
            assert_int_equal(read_u32(f->ctx, to, 0), count);
            vd_buffer_destroy(f->ctx, v);
        }
        vd_kernel_destroy(f->ctx, k);
    }
}

/* c = a * b without `readonly`: a may be the same buffer as b, and readers do not wait for each other. */
TEST(buffers_that_are_only_read_may_alias) {
    float two[64], got[64];
    for (int i = 0; i < 64; i++) two[i] = (float)i;
    vd_kernel k = kernel_of(f, "mult", module_square, COUNT(module_square));
    vd_buffer a = buffer_named(f->ctx, "a", VD_F32, 64, two), c[16];
    for (int i = 0; i < 16; i++) c[i] = buffer_named(f->ctx, "c", VD_F32, 64, NULL);
    OK(vd_wait_idle(f->ctx));
    vd_list *list = list_begin(f->ctx);
    uint64_t before = stats_of(f->ctx).barriers;
    for (int i = 0; i < 16; i++) {
        vd_arg args[] = { vd_b(a), vd_b(a), vd_b(c[i]), vd_u32(64) };
        OK(dispatch(list, k, 64, args, 4));
    }
    assert_int_equal(stats_of(f->ctx).barriers, before);
    OK(vd_submit(list, NULL, NULL));
    OK(vd_buffer_read(f->ctx, c[15], 0, got, VD_WHOLE));
    for (int i = 0; i < 64 && f->executes; i++) assert_true(got[i] == (float)(i * i));
    vd_arg args[] = { vd_b(a), vd_b(c[0]), vd_b(a), vd_u32(64) };
    FAILS(dispatch(vd_immediate(f->ctx, 0, 0), k, 64, args, 4), VD_ERROR_INVALID, "vd_dispatch 'mult'|'a'|'c'|overlap|the kernel writes at least one");
}

TEST_EXECUTED(matrices_keep_their_layout) {
    float a[16], b[8], c[4], got[32];
    for (int i = 0; i < 16; i++) a[i] = (float)i;
    for (int i = 0; i < 8; i++) b[i] = (float)(100 + i);
    for (int i = 0; i < 4; i++) c[i] = (float)(200 + i);
    vd_kernel k = kernel_of(f, "matrices", module_matrix_values, COUNT(module_matrix_values));
    vd_buffer y = buffer_named(f->ctx, "y", VD_F32X4, 8, NULL);
    OK(vd_run(f->ctx, k, 1, vd_b(y), vd_value(VD_F32X4X4, a), vd_value(VD_STRUCT(sizeof b), b), vd_value(VD_F32X2X2, c),
              vd_f32(300)));
    OK(vd_buffer_read(f->ctx, y, 0, got, VD_WHOLE));
    assert_memory_equal(got, a, sizeof a);
    for (int row = 0; row < 4; row++) /* row-major: b[2 * row + column] */
        for (int column = 0; column < 2; column++) assert_true(got[16 + 4 * column + row] == b[2 * row + column]);
    assert_memory_equal(got + 24, c, sizeof c);
    assert_true(got[28] == 300 && got[31] == 300);
    FAILS(vd_run(f->ctx, k, 1, vd_b(y), vd_value(VD_F32X2X2, c), vd_value(VD_STRUCT(sizeof b), b),
                 vd_value(VD_F32X2X2, c), vd_f32(300)),
          VD_ERROR_INVALID, "vd_run 'matrices'|'a'|f32x2x2|f32x4x4");
}

/* y[gl_WorkGroupID.x] = gl_LocalInvocationID of the last invocation, with the local size by id (SPIR-V 1.2) and without
   the feature that it requires. */
TEST_EXECUTED(a_local_size_by_id) {
    enum {
        VOID_T = 1,
        MAIN_T,
        U32,
        ARRAY,
        TO_T,
        TO_P,
        U32_P,
        ZERO,
        SIX,
        ONE,
        TO,
        MAIN,
        LABEL,
        U32X3,
        INPUT_P,
        ID,
        ID_X,
        IN_P,
        LOADED,
        AT,
        BOUND
    };
    unit_module m;
    memset(&m, 0, sizeof m);
    m.count = 5;
    unit_op(&m, 17, 1u, 1u);
    unit_op(&m, 14, 2u, 0u, 1u);
    unit_text(&m, 15, "main", 2u, 5u, (uint32_t)MAIN);
    m.words[m.count++] = ID; /* the entry point's interface */
    m.words[m.count - 6] += 1u << 16;
    unit_op(&m, 331, 5u, (uint32_t)MAIN, 38u, (uint32_t)SIX, (uint32_t)ONE, (uint32_t)ONE);
    unit_op(&m, 71, 3u, (uint32_t)ARRAY, 6u, 4u);
    unit_op(&m, 71, 2u, (uint32_t)TO_T, 2u);
    unit_op(&m, 72, 4u, (uint32_t)TO_T, 0u, 35u, 0u);
    unit_op(&m, 71, 3u, (uint32_t)TO, 34u, 0u);
    unit_op(&m, 71, 3u, (uint32_t)TO, 33u, 0u);
    unit_op(&m, 71, 3u, (uint32_t)ID, 11u, 27u); /* LocalInvocationId */
    unit_op(&m, 19, 1u, (uint32_t)VOID_T);
    unit_op(&m, 33, 2u, (uint32_t)MAIN_T, (uint32_t)VOID_T);
    unit_op(&m, 21, 3u, (uint32_t)U32, 32u, 0u);
    unit_op(&m, 23, 3u, (uint32_t)U32X3, (uint32_t)U32, 3u);
    unit_op(&m, 29, 2u, (uint32_t)ARRAY, (uint32_t)U32);
    unit_op(&m, 30, 2u, (uint32_t)TO_T, (uint32_t)ARRAY);
    unit_op(&m, 32, 3u, (uint32_t)TO_P, 12u, (uint32_t)TO_T);
    unit_op(&m, 32, 3u, (uint32_t)U32_P, 12u, (uint32_t)U32);
    unit_op(&m, 32, 3u, (uint32_t)INPUT_P, 1u, (uint32_t)U32X3);
    unit_op(&m, 32, 3u, (uint32_t)IN_P, 1u, (uint32_t)U32);
    unit_op(&m, 43, 3u, (uint32_t)U32, (uint32_t)ZERO, 0u);
    unit_op(&m, 43, 3u, (uint32_t)U32, (uint32_t)SIX, 6u);
    unit_op(&m, 43, 3u, (uint32_t)U32, (uint32_t)ONE, 1u);
    unit_op(&m, 59, 3u, (uint32_t)TO_P, (uint32_t)TO, 12u);
    unit_op(&m, 59, 3u, (uint32_t)INPUT_P, (uint32_t)ID, 1u);
    unit_op(&m, 54, 4u, (uint32_t)VOID_T, (uint32_t)MAIN, 0u, (uint32_t)MAIN_T);
    unit_op(&m, 248, 1u, (uint32_t)LABEL);
    unit_op(&m, 65, 4u, (uint32_t)IN_P, (uint32_t)ID_X, (uint32_t)ID, (uint32_t)ZERO);
    unit_op(&m, 61, 3u, (uint32_t)U32, (uint32_t)LOADED, (uint32_t)ID_X);
    unit_op(&m, 65, 5u, (uint32_t)U32_P, (uint32_t)AT, (uint32_t)TO, (uint32_t)ZERO, (uint32_t)LOADED);
    unit_op(&m, 62, 2u, (uint32_t)AT, (uint32_t)LOADED);
    unit_op(&m, 253, 0u);
    unit_op(&m, 56, 0u);
    m.words[0] = 0x07230203;
    m.words[1] = 0x00010300;
    m.words[3] = BOUND;
    vd_kernel k = kernel_of(f, "local size by id", m.words, m.count);
    vd_kernel_info info;
    OK(vd_kernel_query(f->ctx, k, &info));
    assert_int_equal(info.local_size[0], 6);
    assert_int_equal(m.words[1], 0x00010300);
    vd_buffer to = buffer_u32(f->ctx, "to", 8, NULL);
    OK(vd_run(f->ctx, k, 1, vd_b(to)));
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(read_u32(f->ctx, to, i), i < 6 ? i : 0);
}

/* Specialisation constants as the device sees them: sizes of arrays and of the work-group, and every type. */
TEST_EXECUTED(specialisation_constants) {
    vd_kernel_desc desc = { 0 };
    uint32_t got[8];
    float a[3] = { 7, 0, 0 };
    vd_constant c[6] = { { 0, vd_u32(8) }, { 2, vd_u32(10) }, { 3, vd_bool(true) }, { 1, vd_u32(3) }, { 5, vd_i32(1) },
                         { 4, vd_f32(3) } };
    vd_buffer y = buffer_u32(f->ctx, "y", 8, NULL);
    desc.name = "specialised";
    desc.code = module_specialised;
    desc.code_size = sizeof module_specialised;
    if (!takes_spirv(f, &desc)) skip_because("the backend takes no SPIR-V");
    vd_kernel defaults = vd_kernel_create(f->ctx, &desc);
    if (!defaults.id) fail_msg("%s", vd_error_text());
    desc.constants = c;
    desc.constant_count = 6;
    vd_kernel k = vd_kernel_create(f->ctx, &desc);
    if (!k.id) fail_msg("%s", vd_error_text());
    OK(vd_run(f->ctx, defaults, 1, vd_b(y), vd_value(VD_STRUCT(4), a)));
    OK(vd_buffer_read(f->ctx, y, 0, got, VD_WHOLE));
    const uint32_t by_default[6] = { 4, 1, 10, 99, 1, 1 };
    assert_memory_equal(got, by_default, sizeof by_default);
    OK(vd_run(f->ctx, k, 1, vd_b(y), vd_value(VD_STRUCT(12), a)));
    OK(vd_buffer_read(f->ctx, y, 0, got, VD_WHOLE));
    const uint32_t expected[6] = { 31, 24, 21, 101, 8, 3 };
    assert_memory_equal(got, expected, sizeof expected);
    /* 48 threads: tile[30] is 30, rows[23] is 23 or 47 */
    assert_true(got[6] == 7 || got[6] == UINT32_MAX - 16);
}

TEST_EXECUTED(specialisation_constants_of_every_width) {
    const uint64_t needs = VD_FEATURE_I64 | VD_FEATURE_F64 | VD_FEATURE_I16 | VD_FEATURE_I8;
    vd_kernel_desc desc = { 0 };
    uint32_t got[5];
    vd_constant c[4] = { { 1, vd_u64(0x700000009) }, { 2, vd_f64(0.25) }, { 3, vd_i16(-30) }, { 4, vd_i8(-100) } };
    if ((vd_device(f->ctx, 0)->features & needs) != needs) skip_because("the device lacks one of the types");
    desc.name = "widths";
    desc.code = module_widths;
    desc.code_size = sizeof module_widths;
    if (!takes_spirv(f, &desc)) skip_because("the backend takes no SPIR-V");
    desc.constants = c;
    desc.constant_count = 4;
    vd_kernel k = vd_kernel_create(f->ctx, &desc);
    if (!k.id) fail_msg("%s", vd_error_text());
    vd_buffer y = buffer_u32(f->ctx, "y", 5, NULL);
    OK(vd_run(f->ctx, k, 1, vd_b(y)));
    OK(vd_buffer_read(f->ctx, y, 0, got, VD_WHOLE));
    const uint32_t expected[5] = { 7, 9, 25, 970, 900 };
    assert_memory_equal(got, expected, sizeof expected);
}

/* Two uniform blocks, one of them a view, beside a storage buffer and an argument block; also in a graph, where the
   argument block becomes a third uniform block. */
TEST_EXECUTED(uniform_blocks) {
    struct { uint32_t n, pad[3]; float color[4], m[8], w[8]; } u = { 3, { 0 }, { 1, 2, 3, 0 }, { 0 }, { 0 } };
    float scale[8] = { 0 }, got[4];
    uint64_t offset = 4096;
    u.m[4] = 10;
    u.w[4] = 100;
    scale[7] = 2;
    vd_kernel k = kernel_of(f, "uniform", module_uniform, COUNT(module_uniform));
    vd_buffer b = buffer_named(f->ctx, "u", VD_BYTES, sizeof u, &u);
    vd_buffer all = buffer_named(f->ctx, "all", VD_F32, 2048, NULL), y = buffer_named(f->ctx, "y", VD_F32, 4, NULL);
    OK(vd_buffer_write(f->ctx, all, offset, scale, sizeof scale));
    vd_buffer v = view_of(f->ctx, all, offset, VD_F32, 8);
    OK(vd_run(f->ctx, k, 4, vd_b(b), vd_b(y), vd_b(v), vd_u32(5)));
    OK(vd_buffer_read(f->ctx, y, 0, got, VD_WHOLE));
    for (int i = 0; i < 4; i++) assert_true(got[i] == (i < 3 ? (float)(i + 111) * 2 + 5 : 0));
    /* written by a command before the kernel reads it */
    u.n = 4;
    u.color[3] = 4;
    OK(vd_write(vd_immediate(f->ctx, 0, 0), b, 0, &u, sizeof u));
    OK(vd_run(f->ctx, k, 4, vd_b(b), vd_b(y), vd_b(v), vd_u32(6)));
    OK(vd_buffer_read(f->ctx, y, 0, got, VD_WHOLE));
    for (int i = 0; i < 3; i++) assert_true(got[i] == (float)(i + 111) * 2 + 6);

    vd_list *list = vd_graph_begin(f->ctx, NULL);
    vd_arg args[4] = { vd_b(b), vd_b(y), vd_b(v), vd_slot("add", vd_u32(7)) };
    OK(dispatch(list, k, 4, args, 4));
    vd_graph graph = vd_graph_end(list);
    if (!graph.id) fail_msg("%s", vd_error_text());
    OK(vd_graph_set(f->ctx, graph, "add", vd_u32(8)));
    OK(vd_graph_submit(f->ctx, graph, NULL, NULL));
    OK(vd_buffer_read(f->ctx, y, 0, got, VD_WHOLE));
    for (int i = 0; i < 3; i++) assert_true(got[i] == (float)(i + 111) * 2 + 8);
    vd_graph_destroy(f->ctx, graph);
}

/* The size of subgroups in kernels that require one, for each size that the device can set. */
TEST_EXECUTED(required_subgroup_sizes) {
    const vd_limits *limits = &vd_device(f->ctx, 0)->limits;
    vd_kernel_desc desc = { 0 };
    desc.name = "subgroups";
    desc.code = module_subgroups;
    desc.code_size = sizeof module_subgroups;
    if (!takes_spirv(f, &desc)) skip_because("the backend takes no SPIR-V");
    needs_feature(f, VD_FEATURE_SUBGROUP);
    vd_buffer y = buffer_u32(f->ctx, "y", 1, NULL);
    for (desc.subgroup_size = limits->min_subgroup_size; desc.subgroup_size <= limits->max_subgroup_size;
         desc.subgroup_size *= 2) {
        vd_kernel k = vd_kernel_create(f->ctx, &desc);
        if (!k.id) {
            check_failure("vd_kernel_create", vd_error_result(), VD_ERROR_UNSUPPORTED, "cannot set the subgroup size");
            continue;
        }
        OK(vd_run(f->ctx, k, 64, vd_b(y)));
        assert_int_equal(read_u32(f->ctx, y, 0), desc.subgroup_size);
        vd_kernel_destroy(f->ctx, k);
    }
    assert_int_equal(vd_kernel_create(f->ctx, &desc).id, 0);
    check_failure("vd_kernel_create", vd_error_result(), VD_ERROR_UNSUPPORTED, "desc.subgroup_size is|max_subgroup_size");
}

static const struct CMUnitTest cases[] = {
    CASE(lengths_end_with_the_view), CASE(lengths_of_the_builder_end_with_the_view),
    CASE(buffers_that_are_only_read_may_alias), CASE(matrices_keep_their_layout), CASE(a_local_size_by_id),
    CASE(specialisation_constants), CASE(specialisation_constants_of_every_width),
    CASE(uniform_blocks), CASE(required_subgroup_sizes),
};

MAIN("modules", cases)

/* The SPIR-V reader: what it finds in valid modules; invalid modules are refused and cause no harm. */
#include "tests/unit/unit.h"
#include "data/modules.h"

static vd_context *reflect_ctx;

static int reflect_setup(void **state) {
    (void)state;
    reflect_ctx = unit_context(NULL);
    return 0;
}

static int reflect_teardown(void **state) {
    (void)state;
    vd_context_destroy(reflect_ctx);
    return 0;
}

static vd_kernel create(const void *code, size_t size) {
    vd_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.name = "k";
    d.code = code;
    d.code_size = size;
    return vd_kernel_create(reflect_ctx, &d);
}

typedef struct reflect_reflection {
    vd_kernel_info kernel;
    vd_kernel_arg_info args[VD_MAX_ARGS];
} reflect_reflection;

static void check_arg(const reflect_reflection *info, int i, const char *name, vd_arg_kind kind, vd_type type,
                      uint32_t access, uint32_t place, uint32_t size) {
    const vd_arg_info *a = &info->args[i].arg;
    assert_true(i < info->kernel.arg_count);
    assert_string_equal(info->args[i].name, name);
    assert_int_equal(a->kind, kind);
    assert_string_equal(vd_type_name(a->type), vd_type_name(type));
    assert_int_equal(a->access, access);
    assert_int_equal(a->location, place);
    assert_int_equal(a->size, size);
}

static reflect_reflection query(vd_kernel k) {
    reflect_reflection info;
    if (!k.id) print_error("%s\n", vd_error_text());
    assert_int_equal(vd_kernel_query(reflect_ctx, k, &info.kernel), VD_OK);
    for (int i = 0; i < info.kernel.arg_count; i++)
        assert_int_equal(vd_kernel_arg_query(reflect_ctx, k, i, &info.args[i]), VD_OK);
    return info;
}

/* Returns the registers of a kernel that the builder makes. */
static uint32_t reflect_registers(bool count) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.count_registers = count;
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_WRITE);
    VC_EACH(k, i) vc_store(x, i, vc_f32(1));
    vd_kernel kernel = vd_kernel_build(reflect_ctx, k);
    vc_free(k);
    return query(kernel).kernel.registers;
}

static void registers_are_counted_if_the_desc_asks_for_them(void **state) {
    vd__dummy_device *dummy = vd__dummy_of(&reflect_ctx->devices[0].device);
    (void)state;
    assert_int_equal(reflect_registers(true), 0); /* not known */
    dummy->registers = 77;
    assert_int_equal(reflect_registers(true), 77);
    assert_int_equal(reflect_registers(false), 0);
    dummy->registers = 0;
}

/* The results of a query belong to the caller and stay valid after the kernel is destroyed. Long names are cut. */
static void queries_copy(void **state) {
    static const char letters[] = "a name of more than sixty-three bytes, of which sixty-three stay: abcdefgh";
    vd_arg_info arg;
    vd_kernel_desc d;
    vd_kernel_info info;
    vd_kernel_arg_info first;
    (void)state;
    memset(&arg, 0, sizeof arg);
    memset(&d, 0, sizeof d);
    arg.name = letters;
    arg.kind = VD_ARG_BINDING;
    arg.type = VD_F32;
    arg.access = VD_READ;
    arg.align = 16;
    arg.may_alias = true;
    d.name = letters;
    d.code = module_saxpy;
    d.code_size = sizeof module_saxpy;
    d.args = &arg;
    d.arg_count = 1;
    vd_kernel k = vd_kernel_create(reflect_ctx, &d);
    assert_int_equal(vd_kernel_query(reflect_ctx, k, &info), VD_OK);
    assert_int_equal(vd_kernel_arg_query(reflect_ctx, k, 0, &first), VD_OK);
    assert_int_equal(vd_kernel_arg_query(reflect_ctx, k, 1, &first), VD_ERROR_INVALID);
    CHECK_TEXT("the argument index is 1, but must be below 1, the number of arguments of the kernel");
    assert_int_equal(vd_kernel_arg_query(reflect_ctx, k, -1, &first), VD_ERROR_INVALID);
    vd_kernel_destroy(reflect_ctx, k);
    assert_int_equal(vd_wait_idle(reflect_ctx), VD_OK);
    assert_int_equal(vd_kernel_arg_query(reflect_ctx, k, 0, &first), VD_ERROR_INVALID);
    CHECK_TEXT("vd_kernel_arg_query: the kernel");
    assert_int_equal(strlen(info.name), 63);
    assert_memory_equal(info.name, letters, 63);
    assert_int_equal(info.arg_count, 1);
    assert_memory_equal(first.name, letters, 63);
    assert_int_equal(first.arg.kind, VD_ARG_BINDING);
    assert_int_equal(first.arg.align, 16);
    assert_true(first.arg.may_alias && !first.arg.sampled);
    assert_int_equal(vd_kernel_arg_query(NULL, k, 0, &first), VD_ERROR_INVALID);
    assert_int_equal(vd_kernel_arg_query(reflect_ctx, k, 0, NULL), VD_ERROR_INVALID);
    CHECK_TEXT("vd_kernel_arg_query: out is NULL");
}

static void bindings_and_values(void **state) {
    (void)state;
    reflect_reflection info = query(create(module_saxpy, sizeof module_saxpy));
    assert_int_equal(info.kernel.arg_count, 4);
    check_arg(&info, 0, "x", VD_ARG_BINDING, VD_F32, VD_READ, 0, 0);
    check_arg(&info, 1, "y", VD_ARG_BINDING, VD_F32, VD_READ_WRITE, 1, 0);
    check_arg(&info, 2, "a", VD_ARG_VALUE, VD_F32, 0, 0, 4);
    check_arg(&info, 3, "n", VD_ARG_VALUE, VD_U32, 0, 4, 4);
    assert_int_equal(info.kernel.local_size[0], 64);
    assert_int_equal(info.kernel.argument_bytes, 8);
    assert_int_equal(info.kernel.shared_bytes, 0);
}

static void addresses(void **state) {
    (void)state;
    reflect_reflection info = query(create(module_addr, sizeof module_addr));
    assert_int_equal(info.kernel.arg_count, 4);
    check_arg(&info, 0, "x", VD_ARG_ADDRESS, VD_F32, VD_READ, 0, 8);
    check_arg(&info, 1, "y", VD_ARG_ADDRESS, VD_F32, VD_READ_WRITE, 8, 8);
    check_arg(&info, 2, "a", VD_ARG_VALUE, VD_F32, 0, 16, 4);
    assert_int_equal(info.kernel.shared_bytes, 1024);
    assert_int_equal(info.kernel.features, VD_FEATURE_ADDRESS);
}

static void structs_arrays_and_vectors(void **state) {
    (void)state;
    reflect_reflection info = query(create(module_shared, sizeof module_shared));
    check_arg(&info, 0, "head", VD_ARG_BINDING, VD_BYTES, VD_READ, 0, 0);
    check_arg(&info, 1, "out_", VD_ARG_BINDING, VD_I32X4, VD_WRITE, 2, 0);
    check_arg(&info, 2, "a", VD_ARG_VALUE, VD_F32X4, 0, 0, 16);
    check_arg(&info, 3, "b", VD_ARG_VALUE, VD_F64X2, 0, 16, 16);
    check_arg(&info, 4, "c", VD_ARG_VALUE, VD_I64, 0, 32, 8);
    check_arg(&info, 5, "t", VD_ARG_VALUE, VD_BYTES, 0, 40, 12);
    assert_int_equal(info.kernel.argument_bytes, 52);
    assert_int_equal(info.kernel.local_size[0], 8);
    assert_int_equal(info.kernel.local_size[1], 4);
    assert_int_equal(info.kernel.local_size[2], 2);
    assert_int_equal(info.kernel.shared_bytes, 1200 + 16 + 2 * 32); /* with the layout of std430 */
    const uint64_t needed = VD_FEATURE_F64 | VD_FEATURE_I64 | VD_FEATURE_I16;
    assert_true((info.kernel.features & needed) == needed);
}

static void other_byte_order_and_odd_address(void **state) {
    (void)state;
    static uint8_t bytes[sizeof module_saxpy + 1];
    static uint32_t swapped[VD__COUNT(module_saxpy)];
    for (size_t i = 0; i < VD__COUNT(module_saxpy); i++) swapped[i] = __builtin_bswap32(module_saxpy[i]);
    assert_string_equal(query(create(swapped, sizeof swapped)).args[1].name, "y");
    memcpy(bytes + 1, module_saxpy, sizeof module_saxpy);
    assert_string_equal(query(create(bytes + 1, sizeof module_saxpy)).args[1].name, "y");
}

static void our_own_assembler(void **state) {
    (void)state;
    unit_module m;
    unit_saxpy(&m);
    reflect_reflection info = query(create(m.words, m.count * 4));
    check_arg(&info, 0, "x", VD_ARG_BINDING, VD_F32, VD_READ, 0, 0);
    check_arg(&info, 1, "y", VD_ARG_BINDING, VD_F32, VD_READ_WRITE, 1, 0);
}

/* Access is derived from the instructions, not from declarations: atomics, modf, copies, function parameters, variables
   that hold addresses. */
static void access_is_what_the_kernel_does(void **state) {
    (void)state;
    reflect_reflection info = query(create(module_square, sizeof module_square));
    assert_int_equal(info.kernel.arg_count, 4);
    check_arg(&info, 0, "a", VD_ARG_BINDING, VD_F32, VD_READ, 0, 0);
    check_arg(&info, 1, "b", VD_ARG_BINDING, VD_F32, VD_READ, 1, 0);
    check_arg(&info, 2, "c", VD_ARG_BINDING, VD_F32, VD_WRITE, 2, 0);
    static const struct { const char *name; uint32_t access; } expected[] = {
        { "x", VD_READ }, { "y", VD_READ_WRITE }, { "s", VD_READ_WRITE }, { "u", VD_READ }, { "w", VD_WRITE },
        { "q", VD_READ }, { "loaded", VD_READ }, { "passed", VD_READ }, { "chosen", VD_WRITE }, { "other", VD_WRITE },
        { "counted", VD_READ_WRITE }, { "returned", VD_READ }, { "written", VD_WRITE }, { "unused", VD_READ },
        { "n", 0 }
    };
    info = query(create(module_flows, sizeof module_flows));
    assert_int_equal(info.kernel.arg_count, VD__COUNT(expected));
    for (int i = 0; i < info.kernel.arg_count; i++) {
        if (strcmp(info.args[i].name, expected[i].name) || info.args[i].arg.access != expected[i].access)
            fail_msg("argument %d '%s' has access %u, expected '%s' with %u", i, info.args[i].name,
                     info.args[i].arg.access, expected[i].name, expected[i].access);
    }
}

/* ---- modules with a body written by the test: three storage buffers a, b, c of u32[] ---- */

enum { T_VOID = 1, T_MAIN, T_U32, T_ARRAY, T_BLOCK, P_BLOCK, P_U32, ZERO, ONE, BUFFER_A, BUFFER_B, BUFFER_C, T_U64,
       T_PHYSICAL, P_PHYSICAL, MAIN, OTHER, P_VARIABLE, FREE = 40 };

static void body_begin(unit_module *m, uint32_t entries) {
    memset(m, 0, sizeof *m);
    m->words[0] = 0x07230203;
    m->words[1] = 0x00010300;
    m->bound = 100;
    m->count = 5;
    unit_op(m, 17, 1u, 1u);
    unit_op(m, 14, 2u, 0u, 1u);
    unit_text(m, 15, "main", 2u, 5u, (uint32_t)MAIN);
    if (entries > 1) unit_text(m, 15, "other", 2u, 5u, (uint32_t)OTHER);
    unit_op(m, 16, 5u, (uint32_t)MAIN, 17u, 8u, 1u, 1u);
    if (entries > 1) unit_op(m, 16, 5u, (uint32_t)OTHER, 17u, 4u, 2u, 1u);
    unit_text(m, 5, "a", 1u, (uint32_t)BUFFER_A);
    unit_text(m, 5, "b", 1u, (uint32_t)BUFFER_B);
    unit_text(m, 5, "c", 1u, (uint32_t)BUFFER_C);
    unit_op(m, 71, 3u, (uint32_t)T_ARRAY, 6u, 4u);
    unit_op(m, 71, 2u, (uint32_t)T_BLOCK, 2u);
    unit_op(m, 72, 4u, (uint32_t)T_BLOCK, 0u, 35u, 0u);
    for (uint32_t i = 0; i < 3; i++) {
        unit_op(m, 71, 3u, BUFFER_A + i, 34u, 0u);
        /* a and c share a binding, in different entry points */
        unit_op(m, 71, 3u, BUFFER_A + i, 33u, entries > 1 && i == 2 ? 0 : i);
    }
    unit_op(m, 19, 1u, (uint32_t)T_VOID);
    unit_op(m, 33, 2u, (uint32_t)T_MAIN, (uint32_t)T_VOID);
    unit_op(m, 21, 3u, (uint32_t)T_U32, 32u, 0u);
    unit_op(m, 21, 3u, (uint32_t)T_U64, 64u, 0u);
    unit_op(m, 29, 2u, (uint32_t)T_ARRAY, (uint32_t)T_U32);
    unit_op(m, 30, 2u, (uint32_t)T_BLOCK, (uint32_t)T_ARRAY);
    unit_op(m, 32, 3u, (uint32_t)P_BLOCK, 12u, (uint32_t)T_BLOCK);
    unit_op(m, 32, 3u, (uint32_t)P_U32, 12u, (uint32_t)T_U32);
    unit_op(m, 32, 3u, (uint32_t)P_PHYSICAL, 5349u, (uint32_t)T_U32);
    unit_op(m, 32, 3u, (uint32_t)P_VARIABLE, 7u, (uint32_t)P_U32);
    unit_op(m, 43, 3u, (uint32_t)T_U32, (uint32_t)ZERO, 0u);
    unit_op(m, 43, 3u, (uint32_t)T_U32, (uint32_t)ONE, 1u);
    for (uint32_t i = 0; i < 3; i++) unit_op(m, 59, 3u, (uint32_t)P_BLOCK, BUFFER_A + i, 12u);
}

static void function_begin(unit_module *m, uint32_t id, uint32_t label) {
    unit_op(m, 54, 4u, (uint32_t)T_VOID, id, 0u, (uint32_t)T_MAIN);
    unit_op(m, 248, 1u, label);
}

static void function_end(unit_module *m) {
    unit_op(m, 253, 0u);
    unit_op(m, 56, 0u);
}

static void body_access(unit_module *m, uint32_t a, uint32_t b, uint32_t c) {
    m->words[3] = m->bound;
    reflect_reflection info = query(create(m->words, m->count * 4));
    assert_int_equal(info.kernel.arg_count, 3);
    if (info.args[0].arg.access != a || info.args[1].arg.access != b || info.args[2].arg.access != c)
        fail_msg("access %u %u %u, expected %u %u %u", info.args[0].arg.access, info.args[1].arg.access,
                 info.args[2].arg.access, a, b, c);
}

/* Pointers through OpSelect, OpPhi, OpPtrAccessChain, OpCopyObject, variables and functions that are defined after
   their callers. */
static void access_follows_pointers(void **state) {
    unit_module m;
    uint32_t id = FREE;
    (void)state;
    body_begin(&m, 1);
    function_begin(&m, MAIN, id++);
    uint32_t a = id++, b = id++, chosen = id++, moved = id++, same = id++, value = id++, condition = id++;
    unit_op(&m, 65, 5u, (uint32_t)P_U32, a, (uint32_t)BUFFER_A, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 65, 5u, (uint32_t)P_U32, b, (uint32_t)BUFFER_B, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 1, 2u, (uint32_t)T_U32, condition);
    unit_op(&m, 169, 5u, (uint32_t)P_U32, chosen, condition, a, b);
    unit_op(&m, 67, 4u, (uint32_t)P_U32, moved, chosen, (uint32_t)ONE);
    unit_op(&m, 83, 3u, (uint32_t)P_U32, same, moved);
    unit_op(&m, 62, 2u, same, (uint32_t)ONE);
    unit_op(&m, 65, 5u, (uint32_t)P_U32, value, (uint32_t)BUFFER_C, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 61, 3u, (uint32_t)T_U32, id++, value);
    function_end(&m);
    body_access(&m, VD_WRITE, VD_WRITE, VD_READ);

    /* main: p = &a[1]; q = phi(p, r); r = q + 1; store(&b[1]); *q is read; store is defined after its callers */
    enum { T_STORE = 90, STORE, CALLER, PARAM };
    body_begin(&m, 1);
    unit_op(&m, 33, 3u, (uint32_t)T_STORE, (uint32_t)T_VOID, (uint32_t)P_U32);
    function_begin(&m, MAIN, id = FREE);
    uint32_t label = id++, loop = id++, phi = id++, next = id++, called = id++;
    a = id++, b = id++;
    unit_op(&m, 65, 5u, (uint32_t)P_U32, a, (uint32_t)BUFFER_A, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 65, 5u, (uint32_t)P_U32, b, (uint32_t)BUFFER_B, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 249, 1u, loop);
    unit_op(&m, 248, 1u, loop);
    unit_op(&m, 245, 6u, (uint32_t)P_U32, phi, a, label, next, loop);
    unit_op(&m, 67, 4u, (uint32_t)P_U32, next, phi, (uint32_t)ONE);
    unit_op(&m, 61, 3u, (uint32_t)T_U32, id++, phi);
    unit_op(&m, 57, 4u, (uint32_t)T_VOID, called, (uint32_t)CALLER, b);
    function_end(&m);
    unit_op(&m, 54, 4u, (uint32_t)T_VOID, (uint32_t)CALLER, 0u, (uint32_t)T_STORE);
    unit_op(&m, 55, 2u, (uint32_t)P_U32, id);
    unit_op(&m, 248, 1u, id + 1);
    unit_op(&m, 57, 4u, (uint32_t)T_VOID, id + 2, (uint32_t)STORE, id);
    function_end(&m);
    unit_op(&m, 54, 4u, (uint32_t)T_VOID, (uint32_t)STORE, 0u, (uint32_t)T_STORE);
    unit_op(&m, 55, 2u, (uint32_t)P_U32, (uint32_t)PARAM);
    unit_op(&m, 248, 1u, id + 3);
    unit_op(&m, 62, 2u, (uint32_t)PARAM, (uint32_t)ONE);
    function_end(&m);
    body_access(&m, VD_READ, VD_WRITE, VD_READ);

    /* a variable that holds &c[1], and a copy from a to b by OpCopyMemory */
    body_begin(&m, 1);
    function_begin(&m, MAIN, id = FREE);
    uint32_t variable = ++id, held = ++id, c = ++id;
    a = ++id, b = ++id;
    unit_op(&m, 59, 3u, (uint32_t)P_VARIABLE, variable, 7u);
    unit_op(&m, 65, 5u, (uint32_t)P_U32, a, (uint32_t)BUFFER_A, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 65, 5u, (uint32_t)P_U32, b, (uint32_t)BUFFER_B, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 65, 5u, (uint32_t)P_U32, c, (uint32_t)BUFFER_C, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 62, 2u, variable, c);
    unit_op(&m, 61, 3u, (uint32_t)P_U32, held, variable);
    unit_op(&m, 228, 4u, held, (uint32_t)ONE, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 63, 2u, b, a);
    function_end(&m);
    body_access(&m, VD_READ, VD_WRITE, VD_WRITE);

    /* an address computed from an integer may belong to any buffer */
    body_begin(&m, 1);
    unit_op(&m, 46, 2u, (uint32_t)T_U64, (uint32_t)FREE);
    function_begin(&m, MAIN, FREE + 1);
    unit_op(&m, 120, 3u, (uint32_t)P_PHYSICAL, (uint32_t)FREE + 2, (uint32_t)FREE);
    unit_op(&m, 62, 4u, (uint32_t)FREE + 2, (uint32_t)ONE, 2u, 4u);
    function_end(&m);
    body_access(&m, VD_WRITE, VD_WRITE, VD_WRITE);
}

/* A module in which `direct` and `indirect` are variables outside of functions: one holds a pointer to buffer b, the
   other a pointer to `direct`. `main` stores through `indirect` and reads c; with two entry points `other` reads a. */
static void module_with_pointers(unit_module *m, uint32_t entries) {
    enum { P_DIRECT = FREE, P_INDIRECT, DIRECT, INDIRECT, LABEL, LOADED, BLOCK, AT_B, AT_C, VALUE, LABEL_OTHER, AT_A,
           READ };
    body_begin(m, entries);
    unit_op(m, 32, 3u, (uint32_t)P_DIRECT, 6u, (uint32_t)P_BLOCK); /* Private */
    unit_op(m, 32, 3u, (uint32_t)P_INDIRECT, 6u, (uint32_t)P_DIRECT);
    unit_op(m, 59, 4u, (uint32_t)P_DIRECT, (uint32_t)DIRECT, 6u, (uint32_t)BUFFER_B);
    unit_op(m, 59, 4u, (uint32_t)P_INDIRECT, (uint32_t)INDIRECT, 6u, (uint32_t)DIRECT);
    function_begin(m, MAIN, LABEL);
    unit_op(m, 61, 3u, (uint32_t)P_DIRECT, (uint32_t)LOADED, (uint32_t)INDIRECT);
    unit_op(m, 61, 3u, (uint32_t)P_BLOCK, (uint32_t)BLOCK, (uint32_t)LOADED);
    unit_op(m, 65, 5u, (uint32_t)P_U32, (uint32_t)AT_B, (uint32_t)BLOCK, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(m, 65, 5u, (uint32_t)P_U32, (uint32_t)AT_C, (uint32_t)BUFFER_C, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(m, 61, 3u, (uint32_t)T_U32, (uint32_t)VALUE, (uint32_t)AT_C);
    unit_op(m, 62, 2u, (uint32_t)AT_B, (uint32_t)VALUE);
    function_end(m);
    if (entries > 1) {
        function_begin(m, OTHER, LABEL_OTHER);
        unit_op(m, 65, 5u, (uint32_t)P_U32, (uint32_t)AT_A, (uint32_t)BUFFER_A, (uint32_t)ZERO, (uint32_t)ONE);
        unit_op(m, 61, 3u, (uint32_t)T_U32, (uint32_t)READ, (uint32_t)AT_A);
        function_end(m);
    }
    m->words[3] = m->bound;
}

/* Pointers in variables outside of functions, set by initialisers. */
static void access_follows_initialisers(void **state) {
    unit_module m;
    vd_kernel_desc d;
    (void)state;
    module_with_pointers(&m, 1);
    body_access(&m, VD_READ, VD_WRITE, VD_READ); /* a is not used */
    module_with_pointers(&m, 2);
    memset(&d, 0, sizeof d);
    d.name = "k";
    d.code = m.words;
    d.code_size = m.count * 4;
    d.entry = "main";
    reflect_reflection info = query(vd_kernel_create(reflect_ctx, &d));
    assert_int_equal(info.kernel.arg_count, 2);
    check_arg(&info, 0, "c", VD_ARG_BINDING, VD_U32, VD_READ, 0, 0);
    check_arg(&info, 1, "b", VD_ARG_BINDING, VD_U32, VD_WRITE, 1, 0);
    d.entry = "other";
    info = query(vd_kernel_create(reflect_ctx, &d));
    assert_int_equal(info.kernel.arg_count, 1);
    check_arg(&info, 0, "a", VD_ARG_BINDING, VD_U32, VD_READ, 0, 0);
}

/* With several entry points the arguments are those that the selected one uses, directly or through functions. */
static void several_entry_points(void **state) {
    unit_module m;
    uint32_t id = FREE;
    vd_kernel_desc d;
    (void)state;
    body_begin(&m, 2);
    /* main uses a; other calls 3 functions deep, the last of which stores to b and reads c */
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t at = 0, of = i == 0 ? (uint32_t)MAIN : i == 1 ? (uint32_t)OTHER : 80u;
        function_begin(&m, of, id++);
        if (i == 0) {
            unit_op(&m, 65, 5u, (uint32_t)P_U32, at = id++, (uint32_t)BUFFER_A, (uint32_t)ZERO, (uint32_t)ONE);
            unit_op(&m, 61, 3u, (uint32_t)T_U32, id++, at);
        } else unit_op(&m, 57, 3u, (uint32_t)T_VOID, id++, i == 1 ? 80u : 81u);
        function_end(&m);
    }
    function_begin(&m, 81, id++);
    unit_op(&m, 65, 5u, (uint32_t)P_U32, id, (uint32_t)BUFFER_B, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 65, 5u, (uint32_t)P_U32, id + 1, (uint32_t)BUFFER_C, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 63, 2u, id, id + 1);
    function_end(&m);
    m.words[3] = m.bound;
    memset(&d, 0, sizeof d);
    d.name = "k";
    d.code = m.words;
    d.code_size = m.count * 4;
    assert_int_equal(vd_kernel_create(reflect_ctx, &d).id, 0);
    CHECK_TEXT("2 compute entry points; select one with desc.entry");
    d.entry = "main";
    reflect_reflection info = query(vd_kernel_create(reflect_ctx, &d));
    assert_int_equal(info.kernel.arg_count, 1);
    check_arg(&info, 0, "a", VD_ARG_BINDING, VD_U32, VD_READ, 0, 0);
    assert_int_equal(info.kernel.local_size[0], 8);
    d.entry = "other";
    info = query(vd_kernel_create(reflect_ctx, &d));
    assert_int_equal(info.kernel.arg_count, 2);
    check_arg(&info, 0, "c", VD_ARG_BINDING, VD_U32, VD_READ, 0, 0);
    check_arg(&info, 1, "b", VD_ARG_BINDING, VD_U32, VD_WRITE, 1, 0);
    assert_int_equal(info.kernel.local_size[1], 2);
}

/* Uniform blocks have a size, which includes nested structs and the padding of std140. */
static void uniform_blocks(void **state) {
    (void)state;
    reflect_reflection info = query(create(module_uniform, sizeof module_uniform));
    assert_int_equal(info.kernel.arg_count, 4);
    check_arg(&info, 0, "u", VD_ARG_BINDING, VD_BYTES, VD_READ, 1, 96);
    check_arg(&info, 1, "y", VD_ARG_BINDING, VD_F32, VD_WRITE, 2, 0);
    check_arg(&info, 2, "V", VD_ARG_BINDING, VD_BYTES, VD_READ, 4, 32);
    assert_true(info.args[0].arg.uniform && !info.args[1].arg.uniform && info.args[2].arg.uniform);
}

/* Sizes and alignments of the buffers, numbers of blocks, and descs that are wrong. */
static void bad_uniform_blocks(void **state) {
    static uint8_t zeros[96];
    vd_arg_info args[2];
    vd_buffer_desc bd;
    vd_view_desc vd;
    vd_kernel_desc d;
    (void)state;
    vd_kernel k = create(module_uniform, sizeof module_uniform);
    memset(&bd, 0, sizeof bd);
    bd.name = "b";
    bd.shape[0] = 1 << 17;
    vd_buffer b = vd_buffer_create(reflect_ctx, &bd);
    bd.type = VD_F32;
    bd.shape[0] = 4;
    vd_buffer y = vd_buffer_create(reflect_ctx, &bd);
    memset(&vd, 0, sizeof vd);
    vd.name = "v";
    vd.buffer = b;
    vd.shape[0] = 96;
    vd_buffer whole = vd_buffer_view(reflect_ctx, &vd);
    assert_int_equal(vd_run(reflect_ctx, k, 1, vd_b(whole), vd_b(y), vd_b(whole), vd_u32(1)), VD_OK);
    assert_int_equal(vd_run(reflect_ctx, k, 1, vd_b(b), vd_b(y), vd_b(whole), vd_u32(1)), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("argument 0 'u': buffer 'b' has 131072 bytes, but the device's limit for a uniform block is 65536");
    vd.shape[0] = 95;
    assert_int_equal(vd_run(reflect_ctx, k, 1, vd_b(vd_buffer_view(reflect_ctx, &vd)), vd_b(y), vd_b(whole), vd_u32(1)),
                     VD_ERROR_INVALID);
    CHECK_TEXT("argument 0 'u': buffer 'v' has 95 bytes, but the uniform block has 96");
    vd.shape[0] = 96;
    vd.offset = 16;
    assert_int_equal(vd_run(reflect_ctx, k, 1, vd_b(vd_buffer_view(reflect_ctx, &vd)), vd_b(y), vd_b(whole), vd_u32(1)),
                     VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("buffer 'v' begins at byte 16 of its memory, but a uniform block must begin at a multiple of 256 (uniform_alignment)");
    assert_int_equal(vd_run(reflect_ctx, k, 1, vd_value(VD_STRUCT(96), zeros), vd_b(y), vd_b(whole), vd_u32(1)),
                     VD_ERROR_INVALID);

    memset(args, 0, sizeof args);
    memset(&d, 0, sizeof d);
    args[0].kind = args[1].kind = VD_ARG_BINDING;
    args[0].uniform = args[1].uniform = true;
    args[0].access = VD_READ;
    args[1].access = VD_READ_WRITE;
    args[1].location = 1;
    d.name = "k";
    d.code = module_uniform;
    d.code_size = sizeof module_uniform;
    d.args = args;
    d.arg_count = 2;
    assert_int_equal(vd_kernel_create(reflect_ctx, &d).id, 0);
    CHECK_TEXT("argument 1 '' is a uniform block, so its kind must be VD_ARG_BINDING, and its access must not include VD_WRITE");
    args[1].access = VD_READ;
    vd_device_info limited = *vd_device(reflect_ctx, 0);
    limited.limits.max_uniform_blocks = 1;
    vd_context *other = unit_context(&limited);
    assert_int_equal(vd_kernel_create(other, &d).id, 0);
    CHECK_TEXT("the kernel has 2 uniform blocks, but the device's limit is 1 (max_uniform_blocks)");
    vd_context_destroy(other);
}

static void matrices_among_the_values(void **state) {
    (void)state;
    reflect_reflection info = query(create(module_matrices, sizeof module_matrices));
    assert_int_equal(info.kernel.arg_count, 10);
    check_arg(&info, 0, "y", VD_ARG_BINDING, VD_BYTES, VD_WRITE, 0, 0);
    check_arg(&info, 1, "a", VD_ARG_VALUE, VD_F32X4X4, 0, 0, 64);
    check_arg(&info, 2, "b", VD_ARG_VALUE, VD_BYTES, 0, 64, 32);           /* row-major */
    check_arg(&info, 3, "c", VD_ARG_VALUE, VD_F32X2X2, 0, 96, 16);
    check_arg(&info, 4, "d", VD_ARG_VALUE, VD_BYTES, 0, 112, 48);          /* columns of 3 every 16 bytes */
    check_arg(&info, 5, "e", VD_ARG_VALUE, VD_BYTES, 0, 160, 32);
    check_arg(&info, 6, "f", VD_ARG_VALUE, VD_BYTES, 0, 192, 32);
    check_arg(&info, 7, "g", VD_ARG_VALUE, VD_BYTES, 0, 224, 48);          /* a struct whose last member is a matrix */
    check_arg(&info, 8, "h", VD_ARG_VALUE, VD_BYTES, 0, 272, 32);          /* an array of matrices */
    check_arg(&info, 9, "i", VD_ARG_VALUE, VD_F32, 0, 304, 4);
    static uint32_t words[VD__COUNT(module_matrices)];
    memcpy(words, module_matrices, sizeof words);
    /* the stride of a, after that of y and of the struct */
    for (uint32_t at = 5, left = 2; left; at += words[at] >> 16)
        if ((words[at] & 0xFFFFu) == 72 && words[at + 3] == VD__DecorationMatrixStride && left-- == 1)
            words[at + 3] = VD__DecorationNonWritable;
    vd_kernel k = create(words, sizeof words);
    assert_int_equal(k.id, 0);
    CHECK_TEXT("push-constant member 6 'g' without a supported explicit layout");
}

/* ---- specialisation constants ---- */

static vd_kernel specialised(const void *code, size_t size, const vd_constant *constants, int count) {
    vd_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.name = "k";
    d.code = code;
    d.code_size = size;
    d.constants = constants;
    d.constant_count = count;
    return vd_kernel_create(reflect_ctx, &d);
}

static vd_constant constant(uint32_t id, vd_arg value) {
    vd_constant c;
    c.id = id;
    c.value = value;
    return c;
}

/* The shared memory, local size and argument block of module_specialised with the given constants. */
static void check_specialised(const vd_constant *constants, int count, uint32_t n, uint32_t x, uint32_t y,
                              uint32_t values) {
    reflect_reflection info = query(specialised(module_specialised, sizeof module_specialised, constants, count));
    assert_int_equal(info.kernel.shared_bytes, 4 * n + 4 * x * y);
    assert_int_equal(info.kernel.local_size[0], x);
    assert_int_equal(info.kernel.local_size[1], y);
    assert_int_equal(info.kernel.local_size[2], 2);
    check_arg(&info, 1, "a", VD_ARG_VALUE, VD_BYTES, 0, 0, 4 * values);
}

/* The defaults of the module apply to constants that the desc does not set. */
static void constants_change_sizes(void **state) {
    const int32_t from_memory = 5;
    (void)state;
    vd_constant c[] = { constant(0, vd_u32(8)), constant(2, vd_u32(10)), constant(3, vd_bool(true)),
                        constant(1, vd_u32(3)), constant(5, vd_value(VD_I32, &from_memory)), constant(4, vd_f32(2)) };
    check_specialised(NULL, 0, 4, 1, 1, 1);
    check_specialised(c, 1, 4, 8, 1, 1);
    check_specialised(c, 2, 10, 8, 1, 1);
    check_specialised(c, 3, 31, 8, 1, 1);
    check_specialised(c, 6, 31, 8, 3, 7);
    c[1].value = vd_i32(6); /* integers of the same size */
    check_specialised(c, 2, 6, 8, 1, 1);
    query(create(module_constants, sizeof module_constants));
    c[0] = constant(7, vd_u32(32));
    reflect_reflection info = query(specialised(module_local_id, sizeof module_local_id, c, 1));
    assert_int_equal(info.kernel.local_size[0], 32);
}

static void constants_refused(const vd_constant *constants, int count, const char *text) {
    assert_int_equal(specialised(module_specialised, sizeof module_specialised, constants, count).id, 0);
    CHECK_TEXT(text);
}

static void bad_constants(void **state) {
    vd_constant c[] = { constant(2, vd_u32(8)), constant(9, vd_u32(1)), constant(2, vd_u32(8)) };
    vd_constant many[VD_MAX_CONSTANTS + 1];
    vd_kernel_desc d;
    (void)state;
    for (uint32_t i = 0; i <= VD_MAX_CONSTANTS; i++) many[i] = constant(100 + i, vd_u32(i));
    constants_refused(c, 2, "vd_kernel_create 'k': desc.constants[1] sets specialisation constant 9, which the SPIR-V "
                      "does not have");
    c[1] = c[2];
    constants_refused(c, 2, "desc.constants[1] sets specialisation constant 2, which desc.constants[0] also sets");
    constants_refused(c, -1, "desc.constant_count is -1, but must be 0 to 256");
    constants_refused(NULL, 1, "desc.constant_count is 1, but desc.constants is NULL");
    constants_refused(many, VD_MAX_CONSTANTS + 1, "desc.constant_count is 257");
    constants_refused(many, VD_MAX_CONSTANTS, "sets specialisation constant 100, which the SPIR-V does not have");
    assert_true(strstr(vd_error_text(), "100 = 0, 101 = 1, ") != NULL);

    static const struct { uint32_t id; vd_type type; const char *text; } wrong[] = {
        { 2, VD_U64, "desc.constants[0].value has type u64, but specialisation constant 2 has type u32" },
        { 2, VD_U16, "has type u16, but specialisation constant 2 has type u32" },
        { 2, VD_F32, "has type f32, but specialisation constant 2 has type u32" },
        { 2, VD_U32X2, "has type u32x2, but specialisation constant 2 has type u32" },
        { 2, VD_BOOL, "has type bool, but specialisation constant 2 has type u32" },
        { 3, VD_U32, "has type u32, but specialisation constant 3 has type bool" },
        { 4, VD_F64, "has type f64, but specialisation constant 4 has type f32" },
        { 4, VD_U32, "has type u32, but specialisation constant 4 has type f32" }
    };
    static const double zeros[4];
    for (size_t i = 0; i < VD__COUNT(wrong); i++) {
        c[0] = constant(wrong[i].id, vd_value(wrong[i].type, zeros));
        constants_refused(c, 1, wrong[i].text);
        assert_int_equal(vd_error_result(), VD_ERROR_INVALID);
    }
    c[0] = constant(2, vd_b((vd_buffer){ 5 }));
    constants_refused(c, 1, "desc.constants[0].value is not a value, such as vd_u32(1); specialisation constant 2 has type u32");
    c[0] = constant(2, vd_slot("n", vd_u32(1)));
    constants_refused(c, 1, "is not a value, such as");
    memset(&c[0], 0, sizeof c[0]);
    constants_refused(c, 1, "is not a value, such as vd_u32(1); specialisation constant 0 has type ");

    memset(&d, 0, sizeof d);
    d.name = "text";
    d.code_kind = VD_CODE_CUDA;
    d.code = "extern \"C\" __global__ void f() {}";
    d.local_size[0] = 1;
    d.constants = many;
    d.constant_count = 1;
    assert_int_equal(vd_kernel_create(reflect_ctx, &d).id, 0);
    CHECK_TEXT("vd_kernel_create 'text': desc.constant_count is 1, but CUDA C has no specialisation constants");
}

static void required_subgroup_sizes(void **state) {
    vd_device_info info;
    vd_kernel_desc d;
    (void)state;
    memset(&d, 0, sizeof d);
    memset(&info, 0, sizeof info);
    info.limits.min_subgroup_size = 8;
    info.limits.max_subgroup_size = 32;
    vd_context *ctx = unit_context(&info);
    vd_constant c[] = { constant(0, vd_u32(16)), constant(1, vd_u32(16)) };
    d.name = "k";
    d.code = module_specialised;
    d.code_size = sizeof module_specialised;
    d.constants = c;
    d.constant_count = 2;
    for (d.subgroup_size = 16; d.subgroup_size <= 32; d.subgroup_size *= 2)
        assert_int_not_equal(vd_kernel_create(ctx, &d).id, 0);
    assert_int_equal(vd_kernel_create(ctx, &d).id, 0);
    CHECK_TEXT("vd_kernel_create 'k': desc.subgroup_size is 64, but must be a power of two from 8 to 32");
    d.subgroup_size = 12;
    assert_int_equal(vd_kernel_create(ctx, &d).id, 0);
    assert_int_equal(vd_error_result(), VD_ERROR_INVALID);
    d.subgroup_size = 8; /* 16 x 16 x 2 invocations */
    assert_int_equal(vd_kernel_create(ctx, &d).id, 0);
    CHECK_TEXT("the work-group has 512 invocations, but with desc.subgroup_size 8 the limit is 256 (32 subgroups)");
    CHECK_TEXT("(specialisation constants: 0 = 16, 1 = 16)");
    d.subgroup_size = 16;
    ctx->devices[0].device.max_sized_subgroups = 0; /* a device without VK_EXT_subgroup_size_control */
    assert_int_equal(vd_kernel_create(ctx, &d).id, 0);
    CHECK_TEXT("desc.subgroup_size is 16, but device 'dummy' cannot set the subgroup size of compute kernels");
    vd_context_destroy(ctx);
}

/* These tests are compiled without VKDISPATCH_GLSLANG. */
static void glsl_needs_a_macro(void **state) {
    vd_kernel_desc d;
    (void)state;
    memset(&d, 0, sizeof d);
    d.name = "k";
    d.code = "void main() {}";
    d.code_kind = VD_CODE_GLSL;
    assert_int_equal(vd_kernel_create(reflect_ctx, &d).id, 0);
    assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("vd_kernel_create 'k': desc.code_kind is GLSL, which this program cannot compile; define "
               "VKDISPATCH_GLSLANG together with VKDISPATCH_IMPLEMENTATION, and link glslang");
    d.code_kind = VD_CODE_HLSL;
    assert_int_equal(vd_kernel_create(reflect_ctx, &d).id, 0);
    CHECK_TEXT("desc.code_kind is HLSL, which this program cannot compile");
}

/* Limits that are broken by constants: the message names the limit and the constants. */
static void constants_over_limits(void **state) {
    const vd_limits *limits = &vd_device(reflect_ctx, 0)->limits;
    char text[256];
    (void)state;
    vd_constant c[] = { constant(0, vd_u32(limits->max_local_size[0] + 1)), constant(2, vd_u32(7)) };
    snprintf(text, sizeof text, "vd_kernel_create 'k': local_size[0] is %u, but the device's limit is %u "
             "(max_local_size) (specialisation constants: 0 = %u, 2 = 7)", limits->max_local_size[0] + 1,
             limits->max_local_size[0], limits->max_local_size[0] + 1);
    constants_refused(c, 2, text);
    c[0].value = vd_u32(0);
    constants_refused(c, 1, "of an array is 0 (specialisation constants: 0 = 0)");
    c[0] = constant(5, vd_i32(-2));
    constants_refused(c, 1, "of an array is 0 (specialisation constants: 5 = -2)");
    c[0] = constant(5, vd_i32(-7));
    constants_refused(c, 1, "(specialisation constants: 5 = -7)");
    c[0] = constant(2, vd_u32(UINT32_MAX));
    constants_refused(c, 1, "max_shared_bytes) (specialisation constants: 2 = 4294967295)");
    c[0] = constant(2, vd_u32(limits->max_shared_bytes / 4));
    constants_refused(c, 1, "bytes of shared memory, but the device's limit is");
}

/* tile[f(A, B, C)] in shared memory: f is computed from an operation on the constants 1, 2 and 3 of type `type`. */
static uint32_t folded(uint32_t op, int operands, uint32_t type, uint32_t result, int64_t a, int64_t b, int64_t c) {
    enum { T_I32 = FREE, T_BOOL, T_U16, T_TILE, P_TILE, X, Y, Z, RESULT, LENGTH, TILE };
    uint32_t types[] = { T_U32, T_I32, T_BOOL, T_U16, T_U64 };
    unit_module m;
    vd_constant set[3];
    int64_t values[3] = { a, b, c };
    body_begin(&m, 1);
    for (uint32_t i = 0; i < 3; i++) unit_op(&m, 71, 3u, X + i, 1u, i + 1);
    unit_op(&m, 21, 3u, (uint32_t)T_I32, 32u, 1u);
    unit_op(&m, 20, 1u, (uint32_t)T_BOOL);
    unit_op(&m, 21, 3u, (uint32_t)T_U16, 16u, 0u);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t of = op == 169 && !i ? 2 : type; /* the condition of OpSelect */
        set[i].id = i + 1;
        set[i].value = of == 0 ? vd_u32((uint32_t)values[i]) : of == 1 ? vd_i32((int32_t)values[i])
                       : of == 2 ? vd_bool(values[i] != 0) : of == 3 ? vd_u16((uint16_t)values[i])
                       : vd_u64((uint64_t)values[i]);
        if (of == 2) unit_op(&m, 48, 2u, types[of], X + i);
        else if (of == 4) unit_op(&m, 50, 4u, types[of], X + i, 1u, 0u);
        else unit_op(&m, 50, 3u, types[of], X + i, 1u);
    }
    if (operands == 1) unit_op(&m, 52, 4u, types[result], (uint32_t)RESULT, op, (uint32_t)X);
    else if (operands == 2) unit_op(&m, 52, 5u, types[result], (uint32_t)RESULT, op, (uint32_t)X, (uint32_t)Y);
    else unit_op(&m, 52, 6u, types[result], (uint32_t)RESULT, op, (uint32_t)X, (uint32_t)Y, (uint32_t)Z);
    uint32_t length = RESULT;
    if (result == 2)
        unit_op(&m, 52, 6u, (uint32_t)T_U32, length = LENGTH, 169u, (uint32_t)RESULT, (uint32_t)ZERO, (uint32_t)ONE);
    unit_op(&m, 28, 3u, (uint32_t)T_TILE, (uint32_t)T_U32, length);
    unit_op(&m, 32, 3u, (uint32_t)P_TILE, 4u, (uint32_t)T_TILE);
    unit_op(&m, 59, 3u, (uint32_t)P_TILE, (uint32_t)TILE, 4u);
    function_begin(&m, MAIN, 90);
    function_end(&m);
    m.words[3] = m.bound;
    vd_kernel k = specialised(m.words, m.count * 4, set, 3);
    if (!k.id) return 0;
    return query(k).kernel.shared_bytes / 4;
}

/* Each operation that is folded: opcode, operands, type of operands and result (u32, i32, bool, u16, u64), operands,
   result. The length of an array is unsigned, so results are positive. A boolean result is 1 for false, and its array
   has no element if it is true. */
static void constant_expressions(void **state) {
    static const struct {
        uint32_t op;
        int count;
        uint32_t type, result;
        int64_t a, b, c;
        uint32_t expected;
    } cases[] = {
        { 128, 2, 0, 0, 5, 7, 0, 12 }, { 128, 2, 0, 0, UINT32_MAX, 7, 0, 6 }, { 128, 2, 3, 3, 65535, 3, 0, 2 },
        { 130, 2, 1, 1, 5, -7, 0, 12 }, { 132, 2, 1, 1, -5, -7, 0, 35 }, { 132, 2, 0, 0, 65537, 0xfffd0003, 0, 3 },
        { 134, 2, 0, 0, 4000000000, 1000000000, 0, 4 }, { 134, 2, 0, 0, 4, 0, 0, 0 }, { 135, 2, 1, 1, -7, -2, 0, 3 },
        { 135, 2, 1, 1, -7, 0, 0, 0 }, { 137, 2, 0, 0, 17, 5, 0, 2 }, { 138, 2, 1, 1, 17, -5, 0, 2 },
        { 139, 2, 1, 1, -17, 5, 0, 3 }, { 139, 2, 1, 1, 17, 5, 0, 2 }, { 126, 1, 1, 1, -9, 0, 0, 9 },
        { 194, 2, 0, 0, 100, 3, 0, 12 }, { 195, 2, 1, 1, 100, 3, 0, 12 }, { 196, 2, 0, 0, 3, 4, 0, 48 },
        { 196, 2, 3, 3, 0x8003, 1, 0, 6 }, { 197, 2, 0, 0, 5, 3, 0, 7 }, { 198, 2, 0, 0, 5, 3, 0, 6 },
        { 199, 2, 0, 0, 5, 3, 0, 1 }, { 200, 1, 0, 0, -8, 0, 0, 7 }, { 169, 3, 0, 0, 1, 20, 30, 20 },
        { 169, 3, 0, 0, 0, 20, 30, 30 }, { 113, 1, 3, 0, 12000, 0, 0, 12000 }, { 113, 1, 0, 3, 65539, 0, 0, 3 },
        { 113, 1, 4, 0, 0x700000009, 0, 0, 9 }, { 114, 1, 3, 0, 7, 0, 0, 7 },
        { 170, 2, 0, 2, 5, 7, 0, 1 }, { 170, 2, 0, 2, 5, 5, 0, 0 }, { 171, 2, 0, 2, 5, 5, 0, 1 },
        { 171, 2, 0, 2, 5, 7, 0, 0 }, { 172, 2, 0, 2, -1, 1, 0, 0 }, { 173, 2, 1, 2, -1, 1, 0, 1 },
        { 173, 2, 1, 2, 1, -1, 0, 0 }, { 174, 2, 0, 2, 5, 5, 0, 0 }, { 174, 2, 0, 2, 4, 5, 0, 1 },
        { 175, 2, 1, 2, -5, -5, 0, 0 }, { 175, 2, 1, 2, -5, 4, 0, 1 }, { 176, 2, 0, 2, 1, -1, 0, 0 },
        { 176, 2, 0, 2, 5, 5, 0, 1 }, { 177, 2, 1, 2, -1, 1, 0, 0 }, { 177, 2, 1, 2, 1, -1, 0, 1 },
        { 178, 2, 0, 2, 5, 5, 0, 0 }, { 178, 2, 0, 2, 6, 5, 0, 1 }, { 179, 2, 1, 2, -6, 5, 0, 0 },
        { 179, 2, 1, 2, 6, -5, 0, 1 }, { 164, 2, 2, 2, 1, 1, 0, 0 }, { 164, 2, 2, 2, 1, 0, 0, 1 },
        { 165, 2, 2, 2, 1, 0, 0, 0 }, { 165, 2, 2, 2, 1, 1, 0, 1 }, { 166, 2, 2, 2, 1, 0, 0, 0 },
        { 166, 2, 2, 2, 0, 0, 0, 1 }, { 167, 2, 2, 2, 1, 1, 0, 0 }, { 167, 2, 2, 2, 1, 0, 0, 1 },
        { 168, 1, 2, 2, 0, 0, 0, 0 }, { 168, 1, 2, 2, 1, 0, 0, 1 }
    };
    (void)state;
    for (size_t i = 0; i < VD__COUNT(cases); i++) {
        uint32_t got = folded(cases[i].op, cases[i].count, cases[i].type, cases[i].result, cases[i].a, cases[i].b,
                              cases[i].c);
        if (got == cases[i].expected) continue;
        fail_msg("case %u, opcode %u: %u, expected %u: %s", (unsigned)i, cases[i].op, got, cases[i].expected,
                 got ? "" : vd_error_text());
    }
}

/* Truncated and damaged modules with constants: an error or a kernel, never a crash. */
static void damaged_constants(void **state) {
    static uint32_t words[VD__COUNT(module_specialised)];
    const vd_constant c[] = { constant(0, vd_u32(8)), constant(2, vd_u32(10)), constant(3, vd_bool(true)) };
    uint32_t made = 0;
    (void)state;
    for (size_t at = 5; at < VD__COUNT(words); at++)
        for (uint32_t change = 0; change < 5; change++) {
            static const uint32_t to[] = { 0, 1, 14, 0x7fffffff, 0xffffffff };
            memcpy(words, module_specialised, sizeof words);
            words[at] = change == 4 ? words[at] ^ 1u << (at % 32) : to[change];
            vd_kernel k = specialised(words, sizeof words, c, 3);
            made += k.id != 0;
            vd_kernel_destroy(reflect_ctx, k);
            if (change) continue;
            assert_int_equal(specialised(words, at * 4 - 4, c, 3).id, 0);
        }
    assert_true(made > 0);
}

/* One word or instruction of the valid module is changed; the text names the mistake. */
static void reflect_refused(unit_module *m, const char *text) {
    m->words[3] = m->bound;
    assert_int_equal(create(m->words, m->count * 4).id, 0);
    CHECK_TEXT(text);
}

static uint32_t find_op(const unit_module *m, uint32_t op) {
    for (uint32_t at = 5; at < m->count; at += m->words[at] >> 16)
        if ((m->words[at] & 0xFFFFu) == op) return at;
    fail();
    return 0;
}

#define BAD(change, text) do { unit_saxpy(&m); change; reflect_refused(&m, text); } while (0)

static void bad_modules(void **state) {
    (void)state;
    unit_module m;
    BAD(m.words[0] = 5, "it begins with 0x00000005");
    BAD(m.words[1] = 0x00010700, "has version 0x00010700");
    BAD(m.bound = 0, "id bound of 0");
    BAD(m.bound = 1u << 23, "id bound of 8388608");
    BAD(m.bound = 5, "is not in the range 1 to 4");
}

static void bad_instructions(void **state) {
    (void)state;
    unit_module m;
    BAD(m.words[5] = 17, "OpCapability has 0 words");
    BAD(m.words[5] = (9999u << 16) | 17, "OpCapability has 9999 words");
    BAD(m.words[5] = (1u << 16) | 17, "OpCapability has 1 words, but it needs at least 2");
    BAD(m.words[6] = 4441, "capability VariablePointersStorageBuffer");
    BAD(m.words[6] = 4000, "capability 4000");
    BAD(m.words[find_op(&m, 253)] = (1u << 16) | 9, "instruction 9");
    BAD(m.words[find_op(&m, 22) + 1] = m.words[find_op(&m, 21) + 1], "is defined twice");
    BAD(m.words[find_op(&m, 21) + 1] = 0, "id 0 is not in the range");
    BAD(m.words[find_op(&m, 21) + 2] = 33, "an integer type has 33 bits");
    BAD(m.words[find_op(&m, 29) + 2] = 9, "id 9 is not a type that was defined before");
    BAD(m.words[find_op(&m, 15) + 1] = 4, "no compute entry point");
    BAD(m.words[find_op(&m, 15) + 2] = 3, "the id 3 of the entry point is not a function");
    BAD(memset(&m.words[find_op(&m, 15) + 3], 'x', 8), "a string is not terminated");
    BAD(m.words[find_op(&m, 16) + 2] = 18, "has no local size");
    BAD(m.words[find_op(&m, 16) + 3] = 0, "local_size[0] is 0");
    BAD(m.words[find_op(&m, 59) + 3] = 12, "not a pointer type with its storage class");
    BAD(m.count -= 1, "the last function has no OpFunctionEnd");
    BAD(m.words[find_op(&m, 253)] = (1u << 16) | 56, "OpFunctionEnd is inside a block");
    BAD(m.words[find_op(&m, 248)] = (2u << 16) | 249, "is outside a block");
}

static void bad_resources(void **state) {
    (void)state;
    unit_module m;
    uint32_t set;
    BAD(m.words[find_op(&m, 59) + 3] = m.words[find_op(&m, 32) + 2] = 0, "an image 'x' of an unsupported type");
    unit_saxpy(&m);
    for (set = 5; !((m.words[set] & 0xFFFFu) == 71 && m.words[set + 2] == 34); set += m.words[set] >> 16) {}
    m.words[set + 3] = 3;
    reflect_refused(&m, "buffer 'x' in descriptor set 3");
    unit_saxpy(&m);
    for (set = 5; !((m.words[set] & 0xFFFFu) == 71 && m.words[set + 2] == 3); set += m.words[set] >> 16) {}
    m.words[set + 2] = 2;
    reflect_refused(&m, "a uniform block 'x'");
    unit_saxpy(&m);
    for (set = 5; !((m.words[set] & 0xFFFFu) == 71 && m.words[set + 2] == 33); set += m.words[set] >> 16) {}
    m.words[set + 3] = 1;
    reflect_refused(&m, "two buffers with binding 1");
    uint32_t pointer = find_op(&m, VD__OpTypePointer), variable = find_op(&m, VD__OpVariable);
    m.words[pointer + 4 + 2] = m.words[variable + 4 + 3] = VD__StorageClassUniformConstant; /* y, the second one */
    reflect_refused(&m, "two resources with binding 1");
}

/* Makes x of the saxpy module an array of blocks: of run-time length, or of `count` elements. */
static void make_descriptor_array(unit_module *m, uint32_t count) {
    enum { U32 = 4, X_T = 6, FOUR = 100, BLOCKS, BOUND };
    uint32_t pointer, run_time[3] = { 3u << 16 | VD__OpTypeRuntimeArray, BLOCKS, X_T };
    uint32_t sized[8] = { 4u << 16 | VD__OpConstant, U32, FOUR, count, 4u << 16 | VD__OpTypeArray, BLOCKS, X_T, FOUR };
    uint32_t added = count ? 8 : 3;
    unit_saxpy(m);
    pointer = find_op(m, VD__OpTypePointer);
    assert_int_equal(m->words[pointer + 3], X_T);
    m->words[pointer + 3] = BLOCKS;
    memmove(m->words + pointer + added, m->words + pointer, (m->count - pointer) * 4);
    memcpy(m->words + pointer, count ? sized : run_time, added * 4);
    m->count += added;
    m->bound = BOUND;
}

static void descriptor_arrays(void **state) {
    (void)state;
    unit_module m;
    vd_kernel_arg_info a;
    make_descriptor_array(&m, 0);
    reflect_refused(&m, "the kernel has 65 buffers by binding, but the device's limit is 16 (max_bindings)");
    for (uint32_t count = 1; count <= 4; count += 3) {
        make_descriptor_array(&m, count);
        m.words[3] = m.bound;
        vd_kernel k = create(m.words, m.count * 4);
        if (!k.id) fail_msg("%s", vd_error_text());
        assert_int_equal(vd_kernel_arg_query(reflect_ctx, k, 0, &a), VD_OK);
        assert_string_equal(a.name, "x");
        assert_true(a.arg.count == count && a.arg.type == VD_F32 && a.arg.access == VD_READ && !a.arg.size);
        assert_int_equal(vd_kernel_arg_query(reflect_ctx, k, 1, &a), VD_OK);
        assert_int_equal(a.arg.count, 0);
        vd_kernel_destroy(reflect_ctx, k);
    }
    make_descriptor_array(&m, 4);
    m.words[find_op(&m, VD__OpTypeArray) + 2] = m.words[find_op(&m, VD__OpTypeArray) + 1];
    m.words[3] = m.bound;
    assert_int_equal(create(m.words, m.count * 4).id, 0);
}

static void truncations_of(const uint32_t *module, size_t size) {
    uint32_t *copy;
    for (size_t n = 0; n < size; n++) {
        /* an allocation of exactly this size, so that reads past its end are detected */
        copy = (uint32_t *)malloc(n ? n : 1);
        memcpy(copy, module, n);
        vd_kernel k = create(copy, n);
        free(copy);
        if (!k.id) continue;
        print_error("cut to %u of %u bytes it is still accepted\n", (unsigned)n, (unsigned)size);
        fail();
    }
}

static void truncations(void **state) {
    (void)state;
    truncations_of(module_saxpy, sizeof module_saxpy);
    truncations_of(module_addr, sizeof module_addr);
    truncations_of(module_shared, sizeof module_shared);
}

static void random_bytes(void **state) {
    (void)state;
    uint64_t random = 1;
    static uint32_t words[256];
    for (int round = 0; round < 20000; round++) {
        size_t size = 20 + unit_random(&random) % 1000;
        for (size_t i = 0; i < 256; i++) words[i] = unit_random(&random) << 1 ^ unit_random(&random);
        if (round % 2) {
            words[0] = 0x07230203;
            words[1] = 0x00010300;
            words[3] = unit_random(&random) % 1000;
            for (size_t i = 5; i < 256; i++)
                words[i] = unit_random(&random) % 4 ? unit_random(&random) % 80
                                                    : (1 + unit_random(&random) % 6) << 16 | unit_random(&random) % 80;
        }
        assert_int_equal(create(words, size).id, 0);
    }
}

/* A changed module is refused or can be read; neither causes harm. */
static void mutations(void **state) {
    (void)state;
    unit_module array;
    make_descriptor_array(&array, 4);
    array.words[3] = array.bound;
    const uint32_t *const modules[] = { module_saxpy, module_addr, module_shared, module_flows, array.words };
    const size_t counts[] = { VD__COUNT(module_saxpy), VD__COUNT(module_addr), VD__COUNT(module_shared),
                              VD__COUNT(module_flows), array.count };
    uint64_t random = 7;
    uint32_t accepted = 0;
    for (unsigned round = 0; round < 100000 / unit_stride(); round++) {
        uint32_t which = unit_random(&random) % VD__COUNT(modules), changes = 1 + unit_random(&random) % 3;
        size_t count = counts[which];
        uint32_t *copy = (uint32_t *)malloc(count * 4);
        memcpy(copy, modules[which], count * 4);
        for (uint32_t i = 0; i < changes; i++) {
            size_t at = 3 + unit_random(&random) % (count - 3);
            switch (unit_random(&random) % 4) {
            case 0: copy[at] ^= 1u << unit_random(&random) % 32; break;
            case 1: copy[at] = unit_random(&random) % 128; break;
            case 2: copy[at] = copy[3 + unit_random(&random) % (count - 3)]; break;
            default: copy[at] = unit_random(&random) << 1; break;
            }
        }
        vd_kernel k = create(copy, count * 4);
        free(copy);
        if (!k.id) continue;
        accepted++;
        vd_kernel_destroy(reflect_ctx, k);
    }
    print_message("# %u of %u changed modules could still be read\n", accepted, 100000 / unit_stride());
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, reflect_setup, reflect_teardown)

static const struct CMUnitTest reflect_tests[] = {
    CASE(bindings_and_values), CASE(addresses), CASE(structs_arrays_and_vectors),
    CASE(other_byte_order_and_odd_address), CASE(our_own_assembler), CASE(access_is_what_the_kernel_does),
    CASE(access_follows_pointers), CASE(access_follows_initialisers), CASE(several_entry_points), CASE(uniform_blocks),
    CASE(bad_uniform_blocks), CASE(required_subgroup_sizes),
    CASE(matrices_among_the_values), CASE(constants_change_sizes), CASE(bad_constants), CASE(glsl_needs_a_macro),
    CASE(constants_over_limits), CASE(constant_expressions), CASE(damaged_constants), CASE(queries_copy),
    CASE(registers_are_counted_if_the_desc_asks_for_them),
    CASE(bad_modules), CASE(bad_instructions), CASE(bad_resources), CASE(descriptor_arrays), CASE(truncations),
    CASE(random_bytes), CASE(mutations),
};
#undef CASE
#undef BAD

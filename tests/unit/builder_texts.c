/* Source in CUDA C and OpenCL C: names, the argument block, wide accesses, dynamic shared memory, and the effect of
   `fast`. */
#include "tests/unit/unit.h"

static const vc_target texts_targets[2] = { VC_TARGET_CUDA, VC_TARGET_OPENCL };

static vc_kernel *texts_begin(const char *name, bool fast) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.fast = fast;
    desc.local_size[0] = 64;
    return vc_begin(&desc);
}

static void has(vc_kernel *k, vc_target target, const char *part) {
    const char *text = vc_source(k, target);
    if (!text) fail_msg("%s", vc_error(k));
    if (!strstr(text, part)) fail_msg("no '%s' in\n%s", part, text);
}
static void lacks(vc_kernel *k, vc_target target, const char *part) {
    const char *text = vc_source(k, target);
    if (!text) fail_msg("%s", vc_error(k));
    if (strstr(text, part)) fail_msg("'%s' in\n%s", part, text);
}

static void entries(void **state) {
    static const struct { const char *name, *entry; } texts_names[] = {
        { "saxpy", "saxpy" }, { "two words", "two_words" }, { "float4", "kernel_float4" }, { "main", "kernel_main" },
        { "3d", "kernel_3d" }, { "__global__", "kernel_global" }, { "FLT_MAX", "kernel_FLT_MAX" }, { "", "kernel_" },
        { "get_global_id", "kernel_get_global_id" }, { "\xc3\xa4", "kernel_" }, { "normf", "kernel_normf" },
        { "umax", "kernel_umax" }, { "leaf", "leaf" }, { "v2x", "v2x" }, { "images", "images" }
    };
    char part[64];
    (void)state;
    for (size_t i = 0; i < sizeof texts_names / sizeof texts_names[0]; i++) {
        vc_kernel *k = texts_begin(texts_names[i].name, false);
        vc_ref x = vc_buffer(k, "x", VC_F32, VC_WRITE);
        vc_store(x, vc_u32(0), vc_f32(1));
        for (size_t t = 0; t < 2; t++) {
            assert_string_equal(vc_reflect_for(k, texts_targets[t])->entry, texts_names[i].entry);
            snprintf(part, sizeof part, " %s(", texts_names[i].entry);
            has(k, texts_targets[t], part);
        }
        assert_string_equal(vc_reflect(k)->entry, "main");
        vc_free(k);
    }
}

/* Names that are reserved in the language or used by the generated source get a prefix; others are unchanged. */
static void texts_names(void **state) {
    static const char *const taken[] = {
        "float4", "args", "threadIdx", "fmaxf", "expf", "get_local_id", "MAXFLOAT", "as_float", "f16_of_f32",
        "convert_int_sat", "v3", "before1", "gap_4"
    };
    (void)state;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        vc_kernel *k = texts_begin("names", false);
        vc_ref x = vc_buffer(k, taken[i], VC_F32, VC_READ_WRITE), y = vc_buffer(k, "kept", VC_F32, VC_READ_WRITE);
        char part[64];
        VC_EACH(k, j) { vc_store(x, j, vc_load(y, j)); }
        snprintf(part, sizeof part, strcmp(taken[i], "args") == 0 ? "%s[" : "my_%s[", taken[i]);
        for (size_t t = 0; t < 2; t++) {
            has(k, texts_targets[t], part);
            has(k, texts_targets[t], "kept[");
        }
        if (strcmp(taken[i], "args") == 0) has(k, VC_TARGET_CUDA, "args_2.args;");
        vc_free(k);
    }
}

/* Signed integers are negated as unsigned ones of the same width, because -INT64_MIN is undefined in C. */
static void negation_wraps(void **state) {
    vc_kernel *k = texts_begin("negation", false);
    vc_ref x = vc_buffer(k, "x", VC_I64, VC_READ_WRITE), y = vc_buffer(k, "y", VC_I32, VC_READ_WRITE);
    vc_val i = vc_global_id(k, 0);
    (void)state;
    vc_store(x, i, vc_neg(vc_load(x, i)));
    vc_store(y, i, vc_abs(vc_load(y, i)));
    has(k, VC_TARGET_CUDA, "(long long)(0u - (unsigned long long)");
    has(k, VC_TARGET_CUDA, "(int)(0u - (unsigned int)");
    has(k, VC_TARGET_OPENCL, "(long)(0u - (ulong)");
    has(k, VC_TARGET_OPENCL, "(int)(0u - (uint)");
    vc_free(k);
}

/* All operands are evaluated, as in SPIR-V: no memory access is placed inside &&, || or ?:, or after a later exit.
   Arithmetic may be. */
static void operands_are_evaluated(void **state) {
    static const vc_target all[3] = { VC_TARGET_GLSL, VC_TARGET_CUDA, VC_TARGET_OPENCL };
    static const char table[] = { 1, 2, 3 };
    vc_kernel *k = texts_begin("eager", false);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ), y = vc_buffer(k, "y", VC_F32, VC_READ_WRITE),
           t = vc_table(k, "t", VC_I8, table, 3);
    vc_val n = vc_param(k, "n", VC_U32), i = vc_global_id(k, 0), zero = vc_f32(0), inside = vc_lt(i, n),
           early = vc_load(x, n);
    (void)state;
    VC_IF(k, vc_and(inside, vc_gt(vc_load(x, i), zero))) { vc_store(y, i, zero); }
    VC_IF(k, vc_or(inside, vc_lt(vc_load(y, i), zero))) { vc_store(y, i, zero); }
    vc_store(y, i, vc_select(inside, vc_load(y, i), zero));
    vc_store(y, i, vc_select(inside, zero, vc_cast(VC_F32, vc_load(t, i))));
    vc_return_if(k, vc_le(n, i));
    vc_store(y, i, vc_select(inside, early, vc_add(early, vc_f32(1))));
    for (size_t target = 0; target < 3; target++) {
        const char *text = vc_source(k, all[target]), *at, *end;
        assert_non_null(text);
        assert_non_null(strstr(text, "return;"));
        assert_null(strstr(strstr(text, "return;"), "x["));
        assert_non_null(strstr(text, " + 1.0"));
        for (at = text; (at = strpbrk(at, "&|?")) != NULL; at = end) {
            end = strchr(at, '\n');
            if (at[0] != '?' && at[1] != at[0]) continue;
            for (; at < end; at++) if (*at == '[') fail_msg("memory is read in an operand that may not be evaluated in\n%s", text);
        }
    }
    vc_free(k);
}

/* The argument block is a C struct that holds every argument: its size is a multiple of its alignment, and each offset
   is offsetof. */
static void argument_block(void **state) {
    struct cuda { float *x; uint8_t a; float v[3]; double d; uint16_t h; uint32_t b, threads, base; } like;
    vc_kernel *k = texts_begin("block", false);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ_WRITE);
    vc_val v;
    (void)state;
    (void)vc_param(k, "a", VC_U8);
    v = vc_param(k, "v", VC_F32X3);
    (void)vc_param(k, "d", VC_F64);
    (void)vc_param(k, "h", VC_F16);
    vc_val b = vc_param(k, "b", VC_BOOL);
    VC_EACH(k, i) { VC_IF(k, b) { vc_store(x, i, vc_component(v, 1)); } }
    const vc_info *info = vc_reflect_for(k, VC_TARGET_CUDA);
    const size_t places[6] = { offsetof(struct cuda, x), offsetof(struct cuda, a), offsetof(struct cuda, v),
                               offsetof(struct cuda, d), offsetof(struct cuda, h), offsetof(struct cuda, b) };
    assert_non_null(info);
    assert_int_equal(info->arg_count, 6);
    for (int i = 0; i < 6; i++) assert_int_equal(info->args[i].location, places[i]);
    assert_int_equal(info->args[0].kind, VC_ARG_ADDRESS);
    assert_int_equal(info->argument_bytes, sizeof like);
    has(k, VC_TARGET_CUDA, "struct block_args {\n    float *x;\n    unsigned char a;\n    float v[3];\n    double d;\n    unsigned short h;\n"
                           "    unsigned int b;\n    unsigned int threads_x;\n    unsigned int group_base_x;\n};\n");
    info = vc_reflect_for(k, VC_TARGET_OPENCL);
    assert_int_equal(info->args[0].kind, VC_ARG_BINDING);
    assert_int_equal(info->argument_bytes, 40); /* the same without the pointer */
    has(k, VC_TARGET_OPENCL, "void block(__global float *restrict x, const struct block_args args)");
    vc_free(k);
}

static void wide_accesses(void **state) {
    vc_kernel *k = texts_begin("wide", false);
    vc_ref a = vc_buffer(k, "a", VC_F32X4, VC_READ), b = vc_buffer(k, "b", VC_VEC(VC_F64, 4), VC_READ_WRITE),
           c = vc_buffer(k, "c", VC_F32X3, VC_READ_WRITE);
    (void)state;
    VC_EACH(k, i) {
        vc_store(b, i, vc_cast(VC_VEC(VC_F64, 4), vc_add(vc_load(a, i), vc_f32(1))));
        vc_store(c, i, vc_add(vc_load(c, i), vc_f32(1)));
    }
    has(k, VC_TARGET_CUDA, "float4 v2 = __ldg(&a[v1]);");
    has(k, VC_TARGET_CUDA, "b[v1] = f64x4{ (double)");
    has(k, VC_TARGET_CUDA, "= make_float3(");
    has(k, VC_TARGET_OPENCL, "float4 v2 = a[v1];");
    has(k, VC_TARGET_OPENCL, "vload3(v1, c)");
    has(k, VC_TARGET_OPENCL, ", v1, c);");
    vc_free(k);
}

/* Up to 48 KB are declared statically; more is one dynamic array of vc_info.shared_bytes. */
static void dynamic_shared_memory_of_texts(void **state) {
    (void)state;
    for (uint32_t count = 6144; count <= 6145; count++) { /* of 8 bytes */
        vc_kernel *k = texts_begin("shared", false);
        vc_ref x = vc_buffer(k, "x", VC_F64, VC_READ_WRITE), s = vc_shared(k, "s", VC_F64, count);
        vc_store(s, vc_local_id(k, 0), vc_load(x, vc_global_id(k, 0)));
        vc_barrier(k);
        vc_store(x, vc_global_id(k, 0), vc_load(s, vc_sub(vc_u32(63), vc_local_id(k, 0))));
        assert_int_equal(vc_reflect_for(k, VC_TARGET_CUDA)->shared_bytes, count * 8);
        if (count == 6144) has(k, VC_TARGET_CUDA, "__shared__ double s[6144];");
        else has(k, VC_TARGET_CUDA, "double *s = (double *)(shared_memory + 0);");
        has(k, VC_TARGET_OPENCL, "__local double s[");
        vc_free(k);
    }
}

/* Nothing is contracted to fma unless the kernel is fast, whatever the compiler's options. */
static void contraction(void **state) {
    (void)state;
    for (int fast = 0; fast < 2; fast++) {
        vc_kernel *k = texts_begin("contraction", fast != 0);
        vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ_WRITE);
        VC_EACH(k, i) {
            vc_store(x, i,
                     vc_sqrt(vc_add(vc_mul(vc_load(x, i), vc_load(x, vc_u32(1))),
                                    vc_div(vc_load(x, vc_u32(0)), vc_f32(3)))));
        }
        (fast ? lacks : has)(k, VC_TARGET_CUDA, "__fmul_rn(");
        (fast ? lacks : has)(k, VC_TARGET_CUDA, "__fdiv_rn(");
        (fast ? lacks : has)(k, VC_TARGET_CUDA, "__fsqrt_rn(");
        (fast ? lacks : has)(k, VC_TARGET_OPENCL, "#pragma OPENCL FP_CONTRACT OFF");
        vc_free(k);
    }
}

/* The size of the source does not grow quadratically with its depth. */
static void size_grows_linearly(void **state) {
    vc_kernel *k = texts_begin("depth", false);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val at = vc_load(x, vc_u32(0));
    (void)state;
    for (uint32_t i = 0; i < 900; i++) (void)vc_if_begin(k, vc_lt(vc_u32(i), at));
    vc_store(x, vc_u32(1), at);
    for (uint32_t i = 0; i < 900; i++) (void)vc_block_end(k);
    for (size_t t = 0; t < 2; t++) {
        const char *text = vc_source(k, texts_targets[t]);
        assert_non_null(text);
        assert_true(strlen(text) < 900 * 2 * (96 + 40));
    }
    vc_free(k);
}

static void refusals(void **state) {
    vc_kernel *k = texts_begin("refusals", false);
    (void)state;
    assert_null(vc_source(NULL, VC_TARGET_CUDA));
    assert_null(vc_reflect_for(NULL, VC_TARGET_CUDA));
    assert_null(vc_source(k, VC_TARGET_SPIRV));
    assert_non_null(strstr(vc_error(k), "but must be VC_TARGET_GLSL, VC_TARGET_CUDA or VC_TARGET_OPENCL"));
    assert_non_null(vc_source(k, VC_TARGET_CUDA)); /* the kernel is still valid */
    vc_free(k);
    k = texts_begin("refusals", false);
    assert_null(vc_reflect_for(k, (vc_target)77));
    assert_non_null(strstr(vc_error(k), "target is 77, which is not a vc_target"));
    vc_free(k);
}

/* The text of each target stays valid while others are requested. */
static void texts_stay_valid(void **state) {
    vc_kernel *k = texts_begin("kept", false);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ_WRITE);
    const char *cuda, *opencl, *glsl;
    (void)state;
    VC_EACH(k, i) { vc_store(x, i, vc_mul(vc_load(x, i), vc_f32(2))); }
    cuda = vc_source(k, VC_TARGET_CUDA);
    opencl = vc_source(k, VC_TARGET_OPENCL);
    glsl = vc_source(k, VC_TARGET_GLSL);
    assert_ptr_equal(cuda, vc_source(k, VC_TARGET_CUDA));
    assert_non_null(strstr(cuda, "__global__"));
    assert_non_null(strstr(opencl, "__kernel"));
    assert_non_null(strstr(glsl, "#version"));
    vc_free(k);
}

/* Exchanging the bytes of a 16-bit value uses an addition, masked or not. Other widths and other shifts do not. */
static void byte_swaps(void **state) {
    static const struct { vc_type type; uint32_t left, right; bool masked, added; } samples[] = {
        { VC_U16, 8, 8, false, true }, { VC_U16, 8, 8, true, true }, { VC_VEC(VC_U16, 3), 8, 8, false, true },
        { VC_U16, 4, 12, false, false }, { VC_U32, 8, 8, false, false }, { VC_U32, 16, 16, false, false }
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        vc_kernel *k = texts_begin("bytes", false);
        vc_ref x = vc_buffer(k, "x", samples[i].type, VC_READ_WRITE);
        vc_val v = vc_load(x, vc_global_id(k, 0)), up = vc_shl(v, vc_u32(samples[i].left)),
               down = vc_shr(v, vc_u32(samples[i].right));
        if (samples[i].masked) down = vc_and(down, vc_imm(VC_U16, 0xff));
        vc_store(x, vc_global_id(k, 0), i % 2 ? vc_or(down, up) : vc_xor(up, down));
        for (size_t t = 0; t < 3; t++) {
            if (samples[i].added) lacks(k, t < 2 ? texts_targets[t] : VC_TARGET_GLSL, i % 2 ? " | " : " ^ ");
            else has(k, t < 2 ? texts_targets[t] : VC_TARGET_GLSL, i % 2 ? " | " : " ^ ");
        }
        vc_free(k);
    }
}

/* Pointers in C need no 64-bit arithmetic in the kernel. */
static void pointers(void **state) {
    vc_kernel_desc desc;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.name = "pointers";
    desc.machine.missing_features = VC_FEATURE_I64;
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ_WRITE);
    VC_EACH(k, i) { vc_store(x, i, vc_mul(vc_load(x, i), vc_f32(2))); }
    for (size_t t = 0; t < 2; t++) has(k, texts_targets[t], t ? "__kernel" : "__global__");
    vc_free(k);
}

/* A rotate is one instruction where the language has one; its count is reduced to less than the width. */
static void rotates(void **state) {
    (void)state;
    vc_kernel *k = texts_begin("rotates", false);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val i = vc_global_id(k, 0), v = vc_load(x, i);
    vc_store(x, i, vc_rotl(vc_rotr(vc_add(v, i), vc_i32(7)), vc_u8(40)));
    has(k, VC_TARGET_CUDA, "__funnelshift_l(");
    has(k, VC_TARGET_OPENCL, "rotate(");
    for (size_t t = 0; t < 2; t++) {
        has(k, texts_targets[t], ", 25u)");
        has(k, texts_targets[t], ", 8u)");
        lacks(k, texts_targets[t], "<<");
        lacks(k, texts_targets[t], ">>");
    }
    vc_free(k);
}

/* A sum of several words is a chain of 64-bit sums in CUDA C: no carry is computed separately. */
static void carries(void **state) {
    vc_kernel *k = texts_begin("sum", false);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ), y = vc_buffer(k, "y", VC_U32, VC_READ),
           r = vc_buffer(k, "r", VC_U32, VC_WRITE);
    vc_val carry = vc_const(k, vc_u32(0));
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        vc_val a = vc_load(x, vc_u32(i)), b = vc_load(y, vc_u32(i)), low = vc_add(a, b), first = vc_add_carry(a, b);
        vc_store(r, vc_u32(i), vc_add(low, carry));
        carry = vc_add(first, vc_add_carry(low, carry));
    }
    vc_store(r, vc_u32(4), carry);
    lacks(k, VC_TARGET_CUDA, ">> 32ull) + ");
    lacks(k, VC_TARGET_CUDA, " < ");
    vc_free(k);
}

static const struct CMUnitTest builder_texts_tests[] = {
    cmocka_unit_test(entries), cmocka_unit_test(texts_names), cmocka_unit_test(negation_wraps),
    cmocka_unit_test(operands_are_evaluated),
    cmocka_unit_test(argument_block), cmocka_unit_test(wide_accesses), cmocka_unit_test(dynamic_shared_memory_of_texts),
    cmocka_unit_test(contraction), cmocka_unit_test(size_grows_linearly), cmocka_unit_test(refusals),
    cmocka_unit_test(texts_stay_valid), cmocka_unit_test(byte_swaps), cmocka_unit_test(pointers),
    cmocka_unit_test(rotates), cmocka_unit_test(carries),
};

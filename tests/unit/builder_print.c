/* What vc_printf and vc_assert accept and refuse, checked kernels, and the reflection of formats and of the output
   buffer. */
#include "tests/unit/unit.h"

typedef struct print_rig { vc_kernel *k; vc_val u, i, f, d, v, b; } print_rig;

static print_rig print_begin(void) {
    vc_kernel_desc desc;
    print_rig r;
    memset(&desc, 0, sizeof desc);
    desc.name = "talk";
    r.k = vc_begin(&desc);
    r.u = vc_param(r.k, "u", VC_U32);
    r.i = vc_param(r.k, "i", VC_I32);
    r.f = vc_param(r.k, "f", VC_F32);
    r.d = vc_param(r.k, "d", VC_F64);
    r.v = vc_param(r.k, "v", VC_F32X3);
    r.b = vc_param(r.k, "b", VC_BOOL);
    return r;
}

/* The kernel's error is this message, and later calls are harmless. */
static void print_fails(print_rig r, const char *text) {
    assert_non_null(vc_error(r.k));
    assert_string_equal(vc_error(r.k), text);
    vc_printf(r.k, "%u", r.u);
    vc_assert(r.k, r.b, "b");
    assert_string_equal(vc_error(r.k), text);
    assert_null(vc_spirv(r.k, NULL));
    assert_null(vc_reflect(r.k));
    vc_free(r.k);
}

#define BAD(statement, text) do { print_rig r = print_begin(); statement; print_fails(r, text); } while (0)
#define OPERAND "vc_printf in kernel 'talk': operand "
#define FORMAT "vc_printf in kernel 'talk': "

static void operands_match_conversions(void **state) {
    vc_val none = { 0, 0 };
    (void)state;
    BAD(vc_printf(r.k, "%d", r.u), OPERAND "1 'u' is u32, but '%d' requires i8 to i64 or bool");
    BAD(vc_printf(r.k, "%f %u", r.f, r.i), OPERAND "2 'i' is i32, but '%u' requires u8 to u64 or bool");
    BAD(vc_printf(r.k, "%u %u %f", r.u, r.u, r.u), OPERAND "3 'u' is u32, but '%f' requires f16, f32 or f64");
    BAD(vc_printf(r.k, "%x", r.f), OPERAND "1 'f' is f32, but '%x' requires an integer");
    BAD(vc_printf(r.k, "%c", r.b), OPERAND "1 'b' is bool, but '%c' requires an integer");
    BAD(vc_printf(r.k, "%d", r.v), OPERAND "1 'v' is f32x3, but '%d' requires i8 to i64 or bool");
    BAD(vc_printf(r.k, "%d", vc_f32(1)), OPERAND "1 is f32, but '%d' requires i8 to i64 or bool");
    BAD(vc_printf(r.k, "%d", vc_complex(vc_neg(r.f), r.f)),
        OPERAND "1 is complex f32, but '%d' requires i8 to i64 or bool");
    BAD(vc_printf(r.k, "%f", vc_outer(r.v, r.v)), OPERAND "1 is f32x3x3, which cannot be printed; print its parts (vc_part)");
    BAD(vc_printf(r.k, "%f", none), OPERAND "1 was never set");
    BAD(vc_printf(r.k, "%f"), FORMAT "'%f' requires operand 1, but the call has 0 operands");
    BAD(vc_printf(r.k, "%f %f", r.f), FORMAT "'%f' requires operand 2, but the call has 1 operands");
    BAD(vc_printf(r.k, "%f", r.f, r.f, r.f), FORMAT "the format has 1 conversions, but the call has 3 operands");
    BAD(vc_printf(r.k, "none", r.f), FORMAT "the format has 0 conversions, but the call has 1 operands");
    BAD(vc_printf_args(r.k, "%f", NULL, 1), FORMAT "args is NULL, but count is 1");
    BAD(vc_printf_args(r.k, "%f", &none, 33), FORMAT "the call has 33 operands, but the limit is 32");
    BAD(vc_printf_args(r.k, NULL, NULL, 0), FORMAT "format is NULL");
    BAD(VC_IF(r.k, r.b) { none = vc_add(r.f, r.f); } vc_printf(r.k, "%f", none),
        OPERAND "1 (add) was created in a block that is already closed; pass it out of the block in a vc_var");
}

static void conversions_are_those_of_c(void **state) {
    char many[1100];
    (void)state;
    memset(many, 'x', sizeof many);
    many[sizeof many - 1] = 0;
    BAD(vc_printf(r.k, "%s", r.u), FORMAT "'%s' is not supported, because operands are numbers; write the text into the format");
    BAD(vc_printf(r.k, "%p", r.u), FORMAT "'%p' is not a supported conversion; use d i u x X o c f F e E g G a A or %%");
    BAD(vc_printf(r.k, "%-08n", r.u), FORMAT "'%-08n' is not a supported conversion; use d i u x X o c f F e E g G a A or %%");
    BAD(vc_printf(r.k, "100%", r.u), FORMAT "'%' is not a supported conversion; use d i u x X o c f F e E g G a A or %%");
    BAD(vc_printf(r.k, "%Lf", r.f), FORMAT "'%L' is not a supported conversion; use d i u x X o c f F e E g G a A or %%");
    BAD(vc_printf(r.k, "%*u", r.u, r.u), FORMAT "'%*': the width is '*', but must be a number");
    BAD(vc_printf(r.k, "%.*f", r.u, r.f), FORMAT "'%.*': the precision is '*', but must be a number");
    BAD(vc_printf(r.k, "%256u", r.u), FORMAT "'%256': the width exceeds the limit of 255");
    BAD(vc_printf(r.k, "%.99999999999f", r.f), FORMAT "'%.999': the precision exceeds the limit of 255");
    BAD(vc_printf(r.k, "%#u", r.u), FORMAT "'%u' does not support the flag '#'");
    BAD(vc_printf(r.k, "%+x", r.u), FORMAT "'%x' does not support the flag '+'");
    BAD(vc_printf(r.k, "%04c", r.u), FORMAT "'%c' does not support the flag '0'");
    BAD(vc_printf(r.k, "%.2c", r.u), FORMAT "'%c' does not support a precision");
    BAD(vc_printf(r.k, many), FORMAT "format has 1099 bytes, but the limit is 1024");
    BAD(vc_assert(r.k, r.b, many), "vc_assert in kernel 'talk': text has 1099 bytes, but the limit is 1024");
    BAD(vc_assert(r.k, r.b, NULL), "vc_assert in kernel 'talk': text is NULL");
    BAD(vc_assert(r.k, r.u, "u"), "vc_assert in kernel 'talk': the condition 'u' is u32, but must be a scalar bool; compare it with vc_ne(v, vc_i32(0))");
    BAD(for (unsigned i = 0; i < 1025; i++) {
        snprintf(many, sizeof many, "%u", i);
        vc_printf(r.k, many);
    }, FORMAT "too many different formats and assertion texts: the limit is 1024");
    vc_printf(NULL, "%u", vc_u32(1));
    vc_assert(NULL, vc_bool(false), "no kernel");
}

/* Formats are listed with their types, each once and only if used; the output buffer stays the last argument. */
static void the_reflection_has_formats_and_buffer(void **state) {
    static const char *const wanted[] = {
        "u32 i32:%u %-+5d%%\n", "f32x3 bool complex_f32:%.3f %d %g", "f64 u32:%a %X", ":done", "assert:100% of %d"
    };
    print_rig r = print_begin();
    (void)state;
    vc_printf(r.k, "%llu %-+-5hhd%%\n", r.u, r.i);
    vc_printf(r.k, "%.3f %d %g", r.v, r.b, vc_complex(r.f, r.f));
    vc_ref x = vc_buffer(r.k, "x", VC_U32, VC_READ_WRITE);
    vc_val late = vc_param(r.k, "late", VC_I64);
    vc_printf(r.k, "%a %X", r.d, r.u);
    vc_printf(r.k, "done");
    vc_assert(r.k, r.b, "100% of %d");
    vc_printf(r.k, "%u %-+5d%%\n", r.u, r.i);
    vc_store(x, r.u, vc_cast(VC_U32, late));
    for (int target = 0; target < 3; target++) {
        static const vc_target targets[3] = { VC_TARGET_SPIRV, VC_TARGET_CUDA, VC_TARGET_OPENCL };
        const vc_info *info = vc_reflect_for(r.k, targets[target]);
        int outputs = 0;
        if (!info) fail_msg("%s", vc_error(r.k));
        assert_int_equal(info->arg_count, 9);
        assert_string_equal(info->args[6].name, "x");
        assert_string_equal(info->args[7].name, "late");
        assert_string_equal(info->args[8].name, "output");
        assert_int_equal(info->args[8].type, VC_U32);
        assert_int_equal(info->args[8].access, VC_READ_WRITE);
        for (int i = 0; i < info->implicit_count; i++) {
            if (info->implicit[i].kind != VC_IMPLICIT_OUTPUT) continue;
            assert_int_equal(info->implicit[i].arg, 8);
            outputs++;
        }
        assert_int_equal(outputs, 1);
        assert_int_equal(info->format_count, 5);
        for (int i = 0; i < 5; i++) assert_string_equal(info->formats[i], wanted[i]);
    }
    assert_non_null(vc_spirv(r.k, NULL));
    assert_non_null(vc_source(r.k, VC_TARGET_GLSL));
    vc_free(r.k);
}

/* ---- checked kernels ---- */

static vc_kernel *checked_kernel(bool checked, uint64_t missing) {
    static const vc_member members[2] = { { "a", VC_F32X3 }, { "b", VC_U32 } };
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "checked";
    desc.checked = checked;
    desc.machine.missing_features = missing;
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE), s = vc_shared(k, "s", VC_F32, 8);
    vc_ref parts = vc_buffer(k, "parts", vc_struct(k, "part", members, 2), VC_READ_WRITE);
    VC_EACH(k, i) {
        vc_store(vc_offset(x, vc_u32(3)), i, vc_load(x, i));
        vc_atomic_add(x, i, vc_u32(1), NULL);
        vc_store(s, i, vc_f32(1));
        vc_store(s, vc_u32(7), vc_f32(1));
        vc_set(vc_field(vc_at(parts, i), 1), vc_u32(2));
    }
    return k;
}

/* Checks are printed for all targets and machines, once, and not if they are off. */
static void checked_kernels_have_formats(void **state) {
    static const char *const wanted[] = {
        "vc_load: element %d of buffer 'x' is out of range (%u elements)",
        "vc_store: element %d of buffer 'x' is out of range (%u elements)",
        "vc_atomic_add: element %d of buffer 'x' is out of range (%u elements)",
        "vc_store: element %d of shared array 's' is out of range (%u elements)",
        "vc_set: element %d of buffer 'parts' is out of range (%u elements)"
    };
    (void)state;
    for (int small = 0; small < 2; small++) {
        vc_kernel *k = checked_kernel(true, small ? VC_FEATURE_I64 : 0);
        uint64_t hash = vc_hash(k);
        size_t words = 0, again = 0;
        assert_non_null(vc_spirv(k, &words));
        for (int target = VC_TARGET_GLSL; target <= (small ? VC_TARGET_GLSL : VC_TARGET_OPENCL); target++)
            if (!vc_source(k, (vc_target)target)) fail_msg("%s", vc_error(k));
        assert_non_null(vc_spirv(k, &again));
        assert_int_equal(words, again);
        assert_true(hash == vc_hash(k));
        const vc_info *info = vc_reflect(k);
        assert_int_equal(info->arg_count, 3);
        assert_int_equal(info->format_count, 5);
        for (int i = 0; i < 5; i++) {
            assert_memory_equal(info->formats[i], small ? "check i32 u32:" : "check i64 u32:", 14);
            assert_string_equal(info->formats[i] + 14, wanted[i]);
        }
        vc_free(k);
    }
    vc_kernel *k = checked_kernel(false, 0);
    assert_int_equal(vc_reflect(k)->arg_count, 2);
    assert_int_equal(vc_reflect(k)->implicit_count, 2); /* threads and group base of VC_EACH, no length */
    vc_free(k);
}

/* Constant indices of arrays need no check, and vc_restart removes the checks. */
static void constant_indices_of_arrays_are_not_checked(void **state) {
    vc_kernel_desc desc;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.checked = true;
    vc_kernel *k = vc_begin(&desc);
    vc_store(vc_shared(k, "s", VC_U32, 4), vc_u32(3), vc_u32(1));
    assert_int_equal(vc_reflect(k)->format_count, 0);
    vc_restart(k, NULL);
    vc_store(vc_buffer(k, "x", VC_U32, VC_WRITE), vc_u32(3), vc_u32(1));
    assert_int_equal(vc_reflect(k)->format_count, 0);
    vc_restart(k, &desc);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_WRITE);
    vc_store(x, vc_u32(3), vc_u32(1));
    assert_int_equal(vc_reflect(k)->format_count, 1);
    vc_store(x, vc_u32(4), vc_u32(1)); /* the kernel continues after it was printed */
    assert_int_equal(vc_reflect(k)->format_count, 1);
    assert_non_null(vc_spirv(k, NULL));
    vc_free(k);
}

static void the_environment_selects_checked_kernels(void **state) {
    (void)state;
    setenv("VKDISPATCH_CHECK_KERNELS", "1", 1);
    vc_kernel *k = checked_kernel(false, 0);
    assert_int_equal(vc_reflect(k)->format_count, 5);
    vc_free(k);
    setenv("VKDISPATCH_CHECK_KERNELS", "yes", 1);
    k = checked_kernel(false, 0);
    assert_string_equal(vc_error(k), "kernel 'checked': the environment variable VKDISPATCH_CHECK_KERNELS is 'yes', but must be 0 or 1");
    vc_free(k);
    setenv("VKDISPATCH_CHECK_KERNELS", "0", 1);
    k = checked_kernel(false, 0);
    assert_int_equal(vc_reflect(k)->format_count, 0);
    vc_free(k);
    unsetenv("VKDISPATCH_CHECK_KERNELS");
}

/* Ids that are only in reports do not count as axes of the kernel. */
static void debug_mode_selects_checked_kernels(void **state) {
    (void)state;
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.machine.debug = true;
    for (int variant = 0; variant < 3; variant++) {
        if (variant == 1) setenv("VKDISPATCH_CHECK_KERNELS", "0", 1);
        vc_kernel *k = vc_begin(&desc);
        vc_ref x = vc_buffer(k, "x", VC_U32, VC_WRITE);
        VC_EACH(k, i) { vc_store(x, i, variant == 2 ? vc_global_id(k, 2) : vc_u32(1)); }
        assert_int_equal(vc_reflect(k)->format_count, variant != 1);
        assert_int_equal(vc_reflect(k)->axes, variant == 2 ? 5 : 1);
        vc_restart(k, NULL);
        vc_printf(k, "%u", vc_u32(1));
        assert_int_equal(vc_reflect(k)->axes, 0);
        vc_free(k);
        unsetenv("VKDISPATCH_CHECK_KERNELS");
    }
}

/* An assertion that is known to hold leaves no trace in the reflection, and vc_restart removes earlier output. */
static void a_kernel_without_output_has_no_output_buffer(void **state) {
    print_rig r = print_begin();
    const vc_info *info;
    (void)state;
    vc_assert(r.k, vc_bool(true), "true");
    vc_assert(r.k, vc_lt(vc_u32(1), vc_u32(2)), "1 < 2");
    info = vc_reflect(r.k);
    assert_int_equal(info->arg_count, 6);
    assert_int_equal(info->implicit_count, 0);
    assert_int_equal(info->format_count, 0);
    vc_printf(r.k, "%f", r.f);
    assert_int_equal(vc_reflect(r.k)->arg_count, 7);
    vc_restart(r.k, NULL);
    vc_buffer(r.k, "x", VC_F32, VC_READ);
    info = vc_reflect(r.k);
    assert_int_equal(info->arg_count, 1);
    assert_int_equal(info->format_count, 0);
    vc_free(r.k);
}

static const struct CMUnitTest builder_print_tests[] = {
    cmocka_unit_test(operands_match_conversions), cmocka_unit_test(conversions_are_those_of_c),
    cmocka_unit_test(the_reflection_has_formats_and_buffer),
    cmocka_unit_test(a_kernel_without_output_has_no_output_buffer), cmocka_unit_test(checked_kernels_have_formats),
    cmocka_unit_test(constant_indices_of_arrays_are_not_checked),
    cmocka_unit_test(the_environment_selects_checked_kernels),
    cmocka_unit_test(debug_mode_selects_checked_kernels),
};
#undef BAD

/* Robustness of the builder: every allocation refused once, far too many operations, names that are reserved words of a
   target language, constant indices outside of their arrays. */
#include "tests/unit/unit.h"

#include "../golden/kernels.h"
#include "../kernels.h"

/* ---- memory ---- */

static const vc_target texts[] = { VC_TARGET_GLSL, VC_TARGET_CUDA, VC_TARGET_OPENCL };
enum { TEXTS = sizeof texts / sizeof texts[0], ALL_TEXTS = (1 << TEXTS) - 1 };

static bool print_everything(vc_kernel *k, unsigned which) {
    bool good = vc_spirv(k, NULL) != NULL;
    for (int i = 0; i < TEXTS; i++) if (which >> i & 1 && !vc_source(k, texts[i])) good = false;
    if (!vc_reflect(k)) good = false;
    return vc_dump(k) != NULL && good;
}

/* The targets for which a sample has a text: not every language has every operation. */
static unsigned texts_of(const kernel_sample *sample) {
    unsigned which = 0;
    for (int i = 0; i < TEXTS; i++) {
        vc_kernel *k = kernel_sample_make(sample, VC_BUFFERS_DEFAULT);
        if (vc_source(k, texts[i])) which |= 1u << i;
        vc_free(k);
    }
    assert_true(which & 1);
    return which;
}

/* Counts the allocations in the lifetime of a sample; allocation fail_at is refused. */
static long live(const kernel_sample *sample, unsigned which, long fail_at, bool once) {
    unit_memory a = { 0, 0, 0, false };
    vc_kernel_desc desc;
    vc_kernel *k;
    bool good;
    a.fail_at = fail_at;
    a.once = once;
    memset(&desc, 0, sizeof desc);
    desc.name = sample->name;
    desc.allocator.allocate = unit_allocate;
    desc.allocator.reallocate = unit_reallocate;
    desc.allocator.release = unit_release;
    desc.allocator.user = &a;
    memcpy(desc.local_size, sample->local_size, sizeof desc.local_size);
    k = vc_begin(&desc);
    sample->build(k);
    good = print_everything(k, which);
    if (good != (fail_at == 0))
        fail_msg("%s, request %ld refused: %s", sample->name, fail_at, good ? "no error" : vc_error(k));
    if (fail_at) {
        assert_non_null(vc_error(k));
        if (k && !strstr(vc_error(k), "out of host memory"))
            fail_msg("%s, request %ld: %s", sample->name, fail_at, vc_error(k));
    }
    vc_free(k);
    assert_int_equal(a.live, 0);
    return a.calls;
}

static void every_allocation_can_fail(void **state) {
    (void)state;
    for (size_t i = 0; i < KERNEL_SAMPLES; i++) {
        unsigned which = texts_of(&kernel_samples[i]);
        long requests = live(&kernel_samples[i], which, 0, false);
        assert_true(requests > 10);
        for (long n = 1; n <= requests; n += (long)unit_stride()) {
            live(&kernel_samples[i], which, n, true);
            live(&kernel_samples[i], which, n, false);
        }
    }
}

/* ---- size ---- */

static void ten_million_operations_are_the_limit(void **state) {
    vc_kernel *k;
    vc_val v;
    uint32_t i;
    (void)state;
    if (unit_stride() > 1) {
        print_message("# reason: the limit does not depend on the system, and emulators and sanitizers take long to reach it\n");
        skip();
    }
    k = vc_begin(NULL);
    v = vc_param(k, "v", VC_U32);
    for (i = 0; i < 20000000 && !vc_error(k); i++) v = vc_add(v, v);
    assert_non_null(vc_error(k));
    assert_string_equal(vc_error(k), "kernel 'kernel': too many operations: the limit is 10000000");
    assert_true(i < 10000000);
    assert_null(vc_spirv(k, NULL));
    assert_null(vc_source(k, VC_TARGET_OPENCL));
    assert_null(vc_dump(k));
    vc_restart(k, NULL);
    v = vc_param(k, "v", VC_U32);
    vc_set(vc_buffer(k, "out", VC_U32, VC_WRITE), vc_add(v, v));
    assert_non_null(vc_spirv(k, NULL));
    vc_free(k);
}

/* Chains are not lowered by recursion, so their length is not limited by the stack. */
static void long_chains_are_accepted(void **state) {
    vc_kernel *k = vc_begin(NULL);
    vc_val v = vc_param(k, "v", VC_U32);
    size_t count = 0;
    uint32_t length = 1000000 / unit_stride();
    (void)state;
    for (uint32_t i = 0; i < length; i++) v = vc_mul(vc_add(v, vc_u32(i)), v);
    vc_set(vc_buffer(k, "out", VC_U32, VC_WRITE), v);
    assert_non_null(vc_spirv(k, &count));
    assert_true(count > 8 * (size_t)length);
    assert_non_null(vc_source(k, VC_TARGET_GLSL));
    vc_free(k);
}

/* ---- names ---- */

static const char *const odd_names[] = {
    NULL, "", " ", "x", "x", "X", "_", "__", "_x", "__x", "x__y", "x_", "9", "9lives", "a b", "a-b", "a.b", "a;b", "*/",
    "/*", "//", "\\", "\\n", "\"", "'", "\n", "\r\n", "\t", "#", "#define x 1", "%s%n%d", "${x}", "\x01", "\x7f",
    "\xc3\xbc", "\xff\xfe", "main", "void", "int", "uint", "float", "half", "double", "bool", "long", "ulong", "short",
    "ushort", "char", "uchar", "vec4", "mat3", "float4", "int2", "half2", "uint3", "kernel", "__kernel", "global",
    "__global", "local", "constant", "private", "buffer", "uniform", "shared", "__shared__", "__device__", "readonly",
    "restrict", "volatile", "const", "static", "inline", "extern", "struct", "union", "enum", "typedef", "class",
    "template", "typename", "this", "new", "delete", "operator", "namespace", "using", "virtual", "friend", "try",
    "catch", "throw", "asm", "if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue",
    "return", "goto", "discard", "in", "out", "inout", "highp", "precision", "sampler2D", "image2D", "texture",
    "layout", "attribute", "varying", "flat", "smooth", "sample", "patch", "subroutine", "common", "partition",
    "active", "asm", "gl_GlobalInvocationID", "gl_x", "threadIdx", "blockIdx", "gridDim", "warpSize", "get_global_id",
    "barrier", "sin", "fma", "min", "max", "abs", "clamp", "mix", "select", "step", "sqrt", "dot", "length", "any",
    "all", "not", "and", "or", "xor", "true", "false", "NULL", "nullptr", "INFINITY", "M_PI", "assert", "printf",
    "size_t", "ptrdiff_t", "int32_t", "uint8_t", "wchar_t", "auto", "register", "signed", "unsigned", "sizeof",
    "alignas", "decltype", "constexpr", "concept", "requires", "import", "module", "export", "final", "override",
    "pipe", "image2d_t", "event_t", "vload4", "as_float", "convert_int", "isnan", "v0", "v1", "i0", "i1", "values",
    "args", "pack", "unpack", "threads", "threads_x", "groups_x", "group_base_x", "length_x", "shape_x", "x_length",
    "at", "f32x3", "my_x", "x_block", "x_at", "linux", "unix", "i386", "FLT_MAX", "INT_MAX", "CHAR_BIT", "MAXFLOAT",
    "HUGE_VALF", "CLK_LOCAL_MEM_FENCE", "M_PI_F", "CL_VERSION_1_1", "GL_KHR_x", "__LINE__", "__VERSION__",
    "CL_VERSION_1_2", "__CUDA_ARCH__", "VULKAN", "GL_EXT_buffer_reference", "defined", "before1", "gap_4", "expf",
    "generic", "kernel_exec", "image1d_t", "subgroupAdd", "textureLod" };
enum { ODD_NAMES = sizeof odd_names / sizeof odd_names[0] };

/* A kernel whose buffers, values, variable, array, shared memory and table are named with the list's entries from
   `first` on. All of them are used. */
static vc_kernel *named(size_t first, vc_buffers buffers) {
    static const uint32_t data[2] = { 5, 6 };
    const char *name[7];
    vc_kernel_desc desc;
    vc_kernel *k;
    vc_ref a, b, var, array, shared, table;
    vc_val p;
    for (size_t i = 0; i < 7; i++) name[i] = odd_names[(first + i) % ODD_NAMES];
    memset(&desc, 0, sizeof desc);
    desc.name = name[6];
    desc.buffers = buffers;
    k = vc_begin(&desc);
    a = vc_buffer(k, name[0], VC_U32, VC_READ_WRITE);
    b = vc_buffer(k, name[1], VC_F32X3, VC_READ);
    p = vc_param(k, name[2], VC_U32);
    shared = vc_shared(k, name[3], VC_U32, 4);
    table = vc_table(k, name[4], VC_U32, data, 2);
    VC_EACH(k, i) {
        var = vc_var(k, name[5], VC_U32);
        array = vc_array(k, name[0], VC_U32, 3);
        vc_store(array, vc_and(i, vc_u32(1)), p);
        vc_store(shared, vc_and(i, vc_u32(3)), vc_load(array, vc_u32(1)));
        vc_set(var, vc_add(vc_load(table, vc_and(i, vc_u32(1))), vc_add(vc_length(b), vc_shape(a, 1))));
        VC_FOR(k, j, vc_u32(0), p) {
            vc_set(var, vc_add(vc_get(var), vc_add(j, vc_cast(VC_U32, vc_component(vc_load(b, j), 1)))));
        }
        vc_store(a, i, vc_add(vc_get(var), vc_load(shared, vc_u32(0))));
    }
    return k;
}

static void check_module(vc_kernel *k) {
    size_t count = 0;
    const uint32_t *words = vc_spirv(k, &count);
    const char *why = words ? spirv_wrong(words, count) : vc_error(k);
    if (why) fail_msg("%s", why);
}

static void any_name_is_allowed(void **state) {
    (void)state;
    for (size_t first = 0; first < ODD_NAMES; first++)
        for (int form = VC_BUFFERS_ADDRESS; form <= VC_BUFFERS_BINDING; form++) {
            vc_kernel *k = named(first, (vc_buffers)form);
            const char *text = vc_source(k, VC_TARGET_GLSL), *why = text ? glsl_wrong(text) : vc_error(k);
            if (why) fail_msg("%s\n%s", why, text ? text : "");
            check_module(k);
            assert_true(print_everything(k, ALL_TEXTS));
            vc_free(k);
        }
}

#ifndef _WIN32
/* clang's own headers declare the functions of OpenCL C. The text is passed through a pipe, because several runs may
   test at once. */
static void compile_opencl(const char *text) {
    FILE *clang = popen("clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -fsyntax-only -target spir64 -",
                        "w");
    assert_non_null(text);
    assert_non_null(clang);
    fputs(text, clang);
    if (pclose(clang)) fail_msg("clang does not compile\n%s", text);
}

/* Compiles one in seven kernels: clang is slow to start. */
static void clang_compiles_the_names_in_opencl_c(void **state) {
    (void)state;
    if (system("clang --version >/dev/null 2>&1")) {
        print_message("# reason: clang is not installed\n");
        skip();
    }
    for (size_t first = 0; first < ODD_NAMES; first += 3) {
        vc_kernel *k = named(first, VC_BUFFERS_DEFAULT);
        compile_opencl(vc_source(k, VC_TARGET_OPENCL));
        vc_free(k);
    }
}

#endif

/* Fails if an object of the user could have the name of a function that a text calls. The text is a program, whose
   own names contain `own`, or a pattern of the table of operations. $f: in C "f" or nothing; #: a number; @: a
   prefix. */
static void calls_are_reserved(const char *text, const char *own, bool (*is_reserved)(const char *name)) {
    for (const char *at = text, *begin; *at;) {
        char name[2][64] = { "", "" };
        size_t n[2] = { 0, 0 };
        if (!vc__p_is_letter(*at) && *at != '_') { at++; continue; }
        for (begin = at; vc__p_is_letter(*at) || vc__p_is_digit(*at) || (*at && strchr("_#@$", *at)); at++) {
            if (*at == '$' && at[1] != 'f') break;
            if (*at == '$' && is_reserved) name[0][n[0]++] = *++at;
            else if (*at == '$') at++;
            else if (*at != '@') for (int i = 0; i < 2; i++) name[i][n[i]++] = *at == '#' ? '2' : *at;
        }
        if (*at != '(' || (begin > text && begin[-1] == '$') || strncmp(begin, "reqd_work", 9) == 0) continue;
        for (int i = 0; i < 2; i++)
            if (!strstr(name[i], own) && vc__p_is_safe(is_reserved, name[i])) fail_msg("%s is not reserved", name[i]);
    }
}

static void functions_that_texts_call_are_reserved(void **state) {
    (void)state;
    for (uint32_t op = 0; op < VC__OP_COUNT; op++)
        for (uint32_t column = 0; column < 16; column++) {
            const char *text = vc__op_text(op, column);
            if (text) calls_are_reserved(text, "none", column < VC__TEXT_CUDA ? NULL : vc__c_is_reserved);
        }
    for (size_t i = 0; i < KERNEL_SAMPLES; i++) {
        vc_kernel *k = kernel_sample_make(&kernel_samples[i], VC_BUFFERS_DEFAULT);
        for (int t = 0; t < TEXTS; t++) {
            const char *text = vc_source(k, texts[t]);
            if (text) calls_are_reserved(text, kernel_samples[i].name, t ? vc__c_is_reserved : NULL);
        }
        vc_free(k);
    }
}

/* ---- constant indices ---- */

/* An index that folds to a constant outside its array, in a branch that is never taken: the kernel still compiles for
   every target. */
static void constant_indices_out_of_bounds_compile(void **state) {
    static const uint32_t data[2] = { 5, 6 };
    static const uint32_t at[] = { 3, 4, 100, 0x7fffffff, 0x80000000, 0xffffffff };
    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
        for (int form = VC_BUFFERS_ADDRESS; form <= VC_BUFFERS_BINDING; form++) {
            vc_kernel_desc desc;
            vc_kernel *k;
            memset(&desc, 0, sizeof desc);
            desc.buffers = (vc_buffers)form;
            k = vc_begin(&desc);
            vc_ref out = vc_buffer(k, "out", VC_U32, VC_READ_WRITE), array = vc_array(k, "array", VC_U32, 3),
                   shared = vc_shared(k, "shared", VC_U32, 3);
            vc_ref table = vc_table(k, "table", VC_U32, data, 2);
            vc_val n = vc_param(k, "n", VC_U32), index = vc_add(vc_const(k, vc_u32(at[i] - 1)), vc_u32(1)),
                   low = vc_cast(VC_I32, index);
            vc_store(array, vc_u32(0), n);
            vc_store(shared, vc_u32(0), n);
            VC_IF(k, vc_gt(n, vc_u32(5))) {
                vc_store(out, index,
                         vc_add(vc_load(array, index), vc_add(vc_load(shared, index), vc_load(table, index))));
                vc_store(array, low, vc_load(out, low));
                vc_store(shared, low, vc_load(vc_offset(array, vc_i32(-1)), index));
            }
            vc_store(out, n, vc_add(vc_load(array, vc_u32(0)), vc_load(shared, vc_u32(0))));
            const char *text = vc_source(k, VC_TARGET_GLSL), *why = text ? glsl_wrong(text) : vc_error(k);
            if (why) fail_msg("%s\n%s", why, text ? text : "");
            check_module(k);
            assert_true(print_everything(k, ALL_TEXTS));
            vc_free(k);
        }
}

static const struct CMUnitTest builder_robust_tests[] = {
    cmocka_unit_test(every_allocation_can_fail), cmocka_unit_test(ten_million_operations_are_the_limit),
    cmocka_unit_test(long_chains_are_accepted), cmocka_unit_test(any_name_is_allowed),
    POSIX(clang_compiles_the_names_in_opencl_c), cmocka_unit_test(functions_that_texts_call_are_reserved),
    cmocka_unit_test(constant_indices_out_of_bounds_compile),
};

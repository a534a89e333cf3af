/* Kernels that tools/vcc compiled, as a header and as a blob: their reflection equals the builder's, and their results
   are right. */
#include "tests/conformance/common.h"

#include "heat.h"
#include "assorted.h"

/* The same kernels, built at run time under other names. */
#define affine build_affine
#define transpose build_transpose
#define vectors build_vectors
#define halves build_halves
#define names build_names
#define nothing build_nothing
#define prints build_prints
#include "tests/ahead/assorted.c"
#undef affine
#undef transpose
#undef vectors
#undef halves
#undef names
#undef nothing
#undef prints

#ifndef AHEAD_FOLDER
#define AHEAD_FOLDER "build/ahead"
#endif

static const struct ahead {
    const char *name;
    vd_kernel (*create)(vd_context *);
    vc_kernel *(*build)(const vc_kernel_desc *);
} kernels[] = {
    { "affine", affine_create, build_affine }, { "transpose", transpose_create, build_transpose },
    { "vectors", vectors_create, build_vectors }, { "halves", halves_create, build_halves },
    { "names", names_create, build_names }, { "nothing", nothing_create, build_nothing },
    { "prints", prints_create, build_prints }
};

typedef struct blob { void *at; size_t size; } blob;

static blob read_blob(const char *path) {
    FILE *f = fopen(path, "rb");
    blob b = { NULL, 0 };
    if (!f) fail_msg("%s is not there; tools/vcc makes it", path);
    b.at = malloc(1 << 20);
    assert_non_null(b.at);
    b.size = fread(b.at, 1, 1 << 20, f);
    fclose(f);
    return b;
}

static vd_kernel load(vd_context *ctx, const char *name) {
    blob b = read_blob(AHEAD_FOLDER "/assorted.blob");
    vd_kernel k = vd_kernel_load(ctx, b.at, b.size, name);
    free(b.at);
    if (!k.id) fail_msg("%s", vd_error_text());
    return k;
}

/* ---- the reflection ---- */

static void same(vd_context *ctx, vd_kernel a, vd_kernel b, const char *name) {
    vd_kernel_info x, y;
    OK(vd_kernel_query(ctx, a, &x));
    OK(vd_kernel_query(ctx, b, &y));
    assert_string_equal(x.name, name);
    assert_int_equal(x.arg_count, y.arg_count);
    for (int i = 0; i < x.arg_count; i++) {
        vd_kernel_arg_info p, q;
        OK(vd_kernel_arg_query(ctx, a, i, &p));
        OK(vd_kernel_arg_query(ctx, b, i, &q));
        assert_string_equal(p.name, q.name);
        assert_int_equal(p.arg.kind, q.arg.kind);
        assert_int_equal(p.arg.type, q.arg.type);
        assert_int_equal(p.arg.access, q.arg.access);
        assert_int_equal(p.arg.location, q.arg.location);
        assert_int_equal(p.arg.size, q.arg.size);
        assert_int_equal(p.arg.align, q.arg.align);
        assert_int_equal(p.arg.may_alias, q.arg.may_alias);
    }
    assert_memory_equal(x.local_size, y.local_size, sizeof x.local_size);
    assert_int_equal(x.shared_bytes, y.shared_bytes);
    assert_int_equal(x.argument_bytes, y.argument_bytes);
    /* stated or not: CUDA has no other way */
    uint64_t always = vd_device(ctx, 0)->backend == VD_BACKEND_CUDA ? VD_FEATURE_ADDRESS : 0;
    assert_int_equal(x.features | always, y.features | always);
}

static void compare_all(fixture *f, uint64_t disable) {
    vd_context *ctx = disable ? context_without(f, disable) : f->ctx;
    for (size_t i = 0; i < COUNT(kernels); i++) {
        vc_kernel_desc form;
        memset(&form, 0, sizeof form);
        form.buffers = vd_device(ctx, 0)->features & VD_FEATURE_ADDRESS ? VC_BUFFERS_ADDRESS : VC_BUFFERS_BINDING;
        vc_kernel *k = kernels[i].build(&form);
        vd_kernel built = kernel_end(ctx, k), header = kernels[i].create(ctx), loaded = load(ctx, kernels[i].name);
        if (!header.id) fail_msg("%s", vd_error_text());
        same(ctx, header, built, kernels[i].name);
        same(ctx, loaded, built, kernels[i].name);
    }
}

TEST(reflection_equals_the_builders) {
    needs_feature(f, VD_FEATURE_F64);
    compare_all(f, 0);
}

TEST(reflection_equals_the_builders_with_bindings) {
    needs_feature(f, VD_FEATURE_F64);
    compare_all(f, VD_FEATURE_ADDRESS);
}

TEST(a_missing_feature_is_reported) {
    vd_context *ctx = context_without(f, VD_FEATURE_F64);
    blob b = read_blob(AHEAD_FOLDER "/assorted.blob");
    assert_int_equal(halves_create(ctx).id, 0);
    check_text("halves_create", "halves|f64");
    assert_int_equal(vd_kernel_load(ctx, b.at, b.size, "halves").id, 0);
    check_text("vd_kernel_load", "halves|f64");
    free(b.at);
}

/* ---- results ---- */

static void run_affine(vd_context *ctx, vd_kernel k) {
    uint32_t data[1000];
    for (uint32_t i = 0; i < 1000; i++) data[i] = i;
    vd_buffer x = buffer_u32(ctx, "x", 1000, data);
    OK(vd_run(ctx, k, 999, vd_b(x), vd_u32(3), vd_u32(7)));
    OK(vd_buffer_read(ctx, x, 0, data, VD_WHOLE));
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(data[i], i < 999 ? 3 * i + 7 : i);
}

static void run_transpose(vd_context *ctx, vd_kernel k) {
    enum { N = 5 * EDGE };
    static float in[N * N], out[N * N];
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.type = VD_F32;
    desc.shape[0] = desc.shape[1] = N;
    desc.data = in;
    for (int i = 0; i < N * N; i++) in[i] = (float)i;
    vd_buffer from = vd_buffer_create(ctx, &desc), to = vd_buffer_create(ctx, &desc);
    OK(vd_run2(ctx, k, N, N, vd_b(from), vd_b(to)));
    OK(vd_buffer_read(ctx, to, 0, out, VD_WHOLE));
    for (int i = 0; i < N * N; i++) assert_true(out[i] == (float)(i % N * N + i / N));
}

static void run_vectors(vd_context *ctx, vd_kernel k) {
    static const float v[4] = { 0.5f, -1, 100, 3 };
    float data[3 * 50];
    for (int i = 0; i < 150; i++) data[i] = (float)i;
    vd_buffer x = buffer_named(ctx, "x", VD_F32X3, 50, data);
    OK(vd_run(ctx, k, 50, vd_b(x), vd_b(x), vd_value(VD_F32X4, v)));
    OK(vd_buffer_read(ctx, x, 0, data, VD_WHOLE));
    for (int i = 0; i < 150; i++) assert_true(data[i] == (float)i + v[i % 3]);
}

static void run_halves(vd_context *ctx, vd_kernel k) {
    double data[3] = { 1, -3, 1e300 };
    vd_buffer x = buffer_named(ctx, "x", VD_F64, 3, data);
    OK(vd_run(ctx, k, 3, vd_b(x)));
    OK(vd_buffer_read(ctx, x, 0, data, VD_WHOLE));
    assert_true(data[0] == 0.5 && data[1] == -1.5 && data[2] == 5e299);
}

static void run_names(vd_context *ctx, vd_kernel k) {
    vd_buffer out = buffer_u32(ctx, "out", 1, NULL), other = buffer_u32(ctx, "other", 50, NULL);
    OK(vd_run(ctx, k, 7, vd_b(out), vd_b(other), vd_u32(1000), vd_bool(false)));
    assert_int_equal(read_u32(ctx, out, 0), 1057);
    OK(vd_run(ctx, k, 7, vd_b(out), vd_b(other), vd_u32(1000), vd_bool(true)));
    assert_int_equal(read_u32(ctx, out, 0), 57);
}

static void run_nothing(vd_context *ctx, vd_kernel k) { OK(vd_run_args(ctx, k, 100, 1, 1, NULL, 0)); }

static void run_prints(vd_context *ctx, vd_kernel k) {
    static const uint32_t data[4] = { 1, 2, 3, 0 };
    vd_buffer x = buffer_u32(ctx, "x", 4, data);
    OK(vd_run(ctx, k, 4, vd_b(x)));
    FAILS(vd_wait_idle(ctx), VD_ERROR_ASSERTION, "kernel 'prints': assertion 'x[i] < 3' failed in invocation (2, 0, 0)");
}

static void (*const runs[])(vd_context *, vd_kernel) = { run_affine, run_transpose, run_vectors, run_halves,
                                                         run_names,  run_nothing,   run_prints };

TEST_EXECUTED(kernels_of_the_header_compute_correctly) {
    needs_feature(f, VD_FEATURE_F64);
    for (size_t i = 0; i < COUNT(kernels); i++) runs[i](f->ctx, kernels[i].create(f->ctx));
}

TEST_EXECUTED(kernels_of_the_blob_compute_correctly) {
    needs_feature(f, VD_FEATURE_F64);
    for (size_t i = 0; i < COUNT(kernels); i++) runs[i](f->ctx, load(f->ctx, kernels[i].name));
}

static void hear(void *user, const char *kernel, const uint32_t id[3], const char *text) {
    assert_string_equal(kernel, "prints");
    if (id[0] == 1) snprintf((char *)user, 100, "%s", text);
}

TEST_EXECUTED(formats_are_included) {
    char text[100] = "";
    vd_context *ctx = NULL;
    vd_context_desc desc = fixture_desc(f);
    desc.print = hear;
    desc.print_user = text;
    OK(vd_context_create(&desc, &ctx));
    for (int loaded = 0; loaded < 2; loaded++) {
        text[0] = 0;
        run_prints(ctx, loaded ? load(ctx, "prints") : prints_create(ctx));
        assert_string_equal(text, "\"x\"[1] ?" "?/ is 2, \\ 100%\n");
    }
    vd_context_destroy(ctx);
}

/* The example's kernels, which are in another header. */
TEST_EXECUTED(headers_of_two_files_can_be_combined) {
    float heat[3] = { 9, 9, 9 };
    vd_buffer rod = buffer_named(f->ctx, "rod", VD_F32, 3, heat), next = buffer_named(f->ctx, "next", VD_F32, 3, heat);
    OK(vd_run(f->ctx, heat_start_create(f->ctx), 3, vd_b(rod), vd_f32(1.57079633f)));
    OK(vd_run(f->ctx, heat_step_create(f->ctx), 3, vd_b(rod), vd_b(next), vd_f32(0.25f)));
    OK(vd_buffer_read(f->ctx, next, 0, heat, VD_WHOLE));
    assert_true(heat[0] == 0 && heat[1] > 0.4999f && heat[1] < 0.5001f && heat[2] > -1e-5f && heat[2] < 1e-5f);
}

TEST(a_null_context_is_refused) {
    (void)f;
    assert_int_equal(affine_create(NULL).id, 0);
    check_text("affine_create", "vd_kernel_create|context is NULL");
}

static const struct CMUnitTest cases[] = {
    CASE(reflection_equals_the_builders), CASE(reflection_equals_the_builders_with_bindings),
    CASE(a_missing_feature_is_reported), CASE(kernels_of_the_header_compute_correctly),
    CASE(kernels_of_the_blob_compute_correctly), CASE(formats_are_included), CASE(headers_of_two_files_can_be_combined),
    CASE(a_null_context_is_refused),
};

MAIN("ahead_of_time", cases)

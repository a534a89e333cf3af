/* OpenCL C written by hand: a text of the caller's is a kernel like any other, a broken one is told with its line, and compiled ones are kept in files. The
   tests run twice where the device shares memory with the host: with its memory used by address, and with buffer objects. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <dirent.h>
#include <unistd.h>

/* y[i] = a * x[i] + y[i] for i below the number of threads. */
static const char saxpy[] =
    "typedef struct values { float a; uint threads; } values;\n"
    "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void saxpy(__global const float *x, __global float *y, values v) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < v.threads) y[i] = v.a * x[i] + y[i];\n"
    "}\n";

typedef struct saxpy_desc {
    vd_kernel_desc desc;
    vd_arg_info args[3];
    vd_hidden_info hidden;
} saxpy_desc;

static void describe(saxpy_desc *s) {
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < 2; i++) {
        s->args[i].kind = VD_ARG_BINDING;
        s->args[i].type = VD_F32;
        s->args[i].place = i;
    }
    s->args[0].name = "x"; s->args[0].access = VD_READ;
    s->args[1].name = "y"; s->args[1].access = VD_READ_WRITE;
    s->args[2].name = "a"; s->args[2].kind = VD_ARG_VALUE; s->args[2].type = VD_F32; s->args[2].size = 4;
    s->hidden.kind = VD_HIDDEN_THREADS;
    s->hidden.place = 4;
    s->desc.name = "saxpy";
    s->desc.code_kind = VD_CODE_OPENCL;
    s->desc.code = saxpy;
    s->desc.args = s->args;
    s->desc.arg_count = 3;
    s->desc.hidden = &s->hidden;
    s->desc.hidden_count = 1;
    s->desc.value_bytes = 8;
    s->desc.local_size[0] = 64;
    s->desc.local_size[1] = s->desc.local_size[2] = 1;
}

static vd_kernel saxpy_create(vd_context *ctx) {
    saxpy_desc s;
    describe(&s);
    vd_kernel k = vd_kernel_create(ctx, &s.desc);
    if (!k.id) fail_msg("vd_kernel_create: %s", vd_error_text());
    return k;
}

static void check_saxpy(vd_context *ctx, vd_kernel k, uint32_t count) {
    float *x = (float *)test_malloc(count * sizeof *x), *y = (float *)test_malloc(count * sizeof *y);
    for (uint32_t i = 0; i < count; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    vd_buffer bx = buffer_named(ctx, "x", VD_F32, count, x), by = buffer_named(ctx, "y", VD_F32, count, y);
    for (int round = 0; round < 3; round++) OK(vd_run(ctx, k, count - 1, vd_b(bx), vd_b(by), vd_f32(2)));
    OK(vd_buffer_read(ctx, by, 0, y, VD_WHOLE));
    for (uint32_t i = 0; i + 1 < count; i++)
        if (y[i] != 1 + 6 * (float)i) fail_msg("element %u is %g", i, (double)y[i]);
    assert_true(y[count - 1] == 1); /* past the number of threads */
    vd_buffer_destroy(ctx, bx);
    vd_buffer_destroy(ctx, by);
    test_free(x);
    test_free(y);
}

TEST_EXECUTED(a_text_runs) {
    vd_kernel k = saxpy_create(f->ctx);
    check_saxpy(f->ctx, k, 2);
    check_saxpy(f->ctx, k, 100000);
    vd_kernel_destroy(f->ctx, k);
}

/* The shared context is of the default kind; here memory is in buffer objects. */
TEST_EXECUTED(a_text_runs_on_buffer_objects) {
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    desc.disable = VD_FEATURE_ADDRESS;
    OK(vd_context_create(&desc, &ctx));
    vd_kernel k = saxpy_create(ctx);
    check_saxpy(ctx, k, 100000);
    vd_context_destroy(ctx);
}

/* Of several kernels in a program the desc has to name one. */
TEST_EXECUTED(a_program_of_two_kernels) {
    static const char text[] =
        "__kernel void one(__global uint *x) { x[get_global_id(0)] = 1; }\n"
        "__kernel void two(__global uint *x) { x[get_global_id(0)] = 2; }\n";
    vd_kernel_desc d;
    vd_arg_info arg;
    memset(&d, 0, sizeof d);
    memset(&arg, 0, sizeof arg);
    arg.name = "x"; arg.kind = VD_ARG_BINDING; arg.type = VD_U32; arg.access = VD_WRITE;
    d.name = "of two";
    d.code_kind = VD_CODE_OPENCL;
    d.code = text;
    d.args = &arg;
    d.arg_count = 1;
    d.local_size[0] = d.local_size[1] = d.local_size[2] = 1;
    assert_true(vd_kernel_create(f->ctx, &d).id == 0);
    check_text("vd_kernel_create", "of two|2 kernels|entry");
    d.entry = "three";
    assert_true(vd_kernel_create(f->ctx, &d).id == 0);
    check_text("vd_kernel_create", "of two|no kernel 'three'");
    d.entry = "two";
    vd_kernel k = vd_kernel_create(f->ctx, &d);
    if (!k.id) fail_msg("vd_kernel_create: %s", vd_error_text());
    vd_buffer x = buffer_u32(f->ctx, "x", 4, NULL);
    OK(vd_run(f->ctx, k, 4, vd_b(x)));
    assert_int_equal(read_u32(f->ctx, x, 3), 2);
}

TEST_EXECUTED(a_broken_text_is_told_with_its_line) {
    static const struct { const char *text, *words; } rows[] = {
        { "__kernel void k(__global uint *x) {\n    uint a = 1;\n    x[0] = b;\n}\n", "saxpy|line 3|x[0] = b;|error" },
        { "__kernel void k(__global uint *x) {", "saxpy|OpenCL cannot compile it" },
        { "this is no program", "saxpy|line 1|this is no program" },
        { "int f(int x) { return x; }", "saxpy|kernels" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        saxpy_desc s;
        describe(&s);
        s.desc.code = rows[i].text;
        assert_true(vd_kernel_create(f->ctx, &s.desc).id == 0);
        check_text("vd_kernel_create", rows[i].words);
    }
    assert_int_equal(f->messages, 0);
    vd_kernel k = saxpy_create(f->ctx);
    check_saxpy(f->ctx, k, 1000);
}

TEST_EXECUTED(a_desc_that_does_not_fit_its_text) {
    saxpy_desc s;
    describe(&s);
    s.desc.arg_count = 2; /* without `a`, which leaves the values to the hidden one */
    s.desc.args = s.args + 1;
    assert_true(vd_kernel_create(f->ctx, &s.desc).id == 0);
    check_text("vd_kernel_create", "saxpy|3 parameters|2: 1 buffers and the block of values");
    describe(&s);
    s.desc.local_size[0] = 32;
    assert_true(vd_kernel_create(f->ctx, &s.desc).id == 0);
    check_text("vd_kernel_create", "saxpy|32 x 1 x 1|64 x 1 x 1");
    describe(&s);
    s.desc.code_kind = VD_CODE_CUDA;
    assert_true(vd_kernel_create(f->ctx, &s.desc).id == 0);
    check_text("vd_kernel_create", "saxpy|CUDA C|opencl takes OpenCL C");
    describe(&s);
    s.args[0].kind = VD_ARG_ADDRESS;
    s.args[0].size = 8;
    s.args[0].place = 8;
    s.desc.value_bytes = 16;
    assert_true(vd_kernel_create(f->ctx, &s.desc).id == 0);
    check_text("vd_kernel_create", "saxpy|address");
}

/* ---- compiled programs in files ---- */

/* Files in the folder; `change`: each gets a byte changed, `empty`: each is removed. */
static int cache_files(const char *folder, bool change, bool empty) {
    DIR *d = opendir(folder);
    int count = 0;
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        char path[512];
        if (e->d_name[0] == '.') continue;
        count++;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (change) {
            FILE *file = fopen(path, "r+b");
            assert_non_null(file);
            fseek(file, -1, SEEK_END);
            int byte = fgetc(file);
            fseek(file, -1, SEEK_END);
            fputc(byte ^ 1, file);
            fclose(file);
        }
        if (empty) remove(path);
    }
    closedir(d);
    return count;
}

static void run_with_cache(fixture *f, const char *folder) {
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    desc.cache_directory = folder;
    OK(vd_context_create(&desc, &ctx));
    vd_kernel k = saxpy_create(ctx);
    check_saxpy(ctx, k, 1000);
    vd_context_destroy(ctx);
}

TEST_EXECUTED(programs_kept_in_files) {
    char folder[] = "/tmp/vd-opencl-cache-XXX" "XXX";
    assert_non_null(mkdtemp(folder));
    run_with_cache(f, folder);
    int kept = cache_files(folder, false, false);
    run_with_cache(f, folder);
    int still = cache_files(folder, true, false);
    run_with_cache(f, folder); /* the broken file is ignored and replaced */
    int after = cache_files(folder, false, false);
    run_with_cache(f, folder);
    cache_files(folder, false, true);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(kept, 1);
    assert_int_equal(still, 1);
    assert_int_equal(after, 1);
    run_with_cache(f, "/tmp/vd-opencl-cache-is-not-there");
    assert_int_equal(f->messages, 0);
}

static const struct CMUnitTest cases[] = {
    CASE(a_text_runs), CASE(a_text_runs_on_buffer_objects), CASE(a_program_of_two_kernels), CASE(a_broken_text_is_told_with_its_line),
    CASE(a_desc_that_does_not_fit_its_text), CASE(programs_kept_in_files),
};

int main(void) {
    the_fixture.backend = VD_BACKEND_OPENCL;
    return cmocka_run_group_tests_name("texts on opencl", cases, NULL, NULL);
}

/* OpenCL only: kernels from OpenCL C source, error messages with the source line, the cache of compiled programs,
   driver calls that fail, queues that wait for each other. */
#define _POSIX_C_SOURCE 200809L
#include "tests/insides.h"
#include "layers.h"

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
    vd_implicit_info hidden;
} saxpy_desc;

static void describe(saxpy_desc *s) {
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < 2; i++) {
        s->args[i].kind = VD_ARG_BINDING;
        s->args[i].type = VD_F32;
        s->args[i].location = i;
    }
    s->args[0].name = "x"; s->args[0].access = VD_READ;
    s->args[1].name = "y"; s->args[1].access = VD_READ_WRITE;
    s->args[2].name = "a"; s->args[2].kind = VD_ARG_VALUE; s->args[2].type = VD_F32; s->args[2].size = 4;
    s->hidden.kind = VD_IMPLICIT_THREADS;
    s->hidden.offset = 4;
    s->desc.name = "saxpy";
    s->desc.code_kind = VD_CODE_OPENCL;
    s->desc.code = saxpy;
    s->desc.args = s->args;
    s->desc.arg_count = 3;
    s->desc.implicit = &s->hidden;
    s->desc.implicit_count = 1;
    s->desc.argument_bytes = 8;
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
    assert_true(y[count - 1] == 1); /* beyond the number of threads */
    vd_buffer_destroy(ctx, bx);
    vd_buffer_destroy(ctx, by);
    test_free(x);
    test_free(y);
}

TEST_EXECUTED(opencl_source_runs) {
    vd_kernel k = saxpy_create(f->ctx);
    check_saxpy(f->ctx, k, 2);
    check_saxpy(f->ctx, k, 100000);
    vd_kernel_destroy(f->ctx, k);
}

/* The shared context uses the default memory type; this one uses buffer objects. */
TEST_EXECUTED(opencl_source_runs_on_buffer_objects) {
    vd_context *ctx = context_without(f, VD_FEATURE_ADDRESS);
    check_saxpy(ctx, saxpy_create(ctx), 100000);
}

/* Parameters: the buffers, then the values of the argument block one by one, by offset. */
TEST_EXECUTED(values_one_by_one) {
    static const char text[] =
        "__kernel void saxpy(__global const float *x, __global float *y, float a, uint threads) {\n"
        "    uint i = (uint)get_global_id(0);\n"
        "    if (i < threads) y[i] += a * x[i];\n"
        "}\n";
    static const char swapped[] =
        "__kernel void saxpy(__global const float *x, float a, __global float *y, uint threads) { y[0] = a * x[0]; }\n";
    saxpy_desc s;
    describe(&s);
    s.desc.code = text;
    s.desc.local_size[1] = s.desc.local_size[2] = 0; /* trailing zeros mean 1 */
    vd_kernel k = vd_kernel_create(f->ctx, &s.desc);
    if (!k.id) fail_msg("vd_kernel_create: %s", vd_error_text());
    check_saxpy(f->ctx, k, 2);
    check_saxpy(f->ctx, k, 1000);
    vd_kernel_destroy(f->ctx, k);
    s.desc.code = swapped;
    assert_true(vd_kernel_create(f->ctx, &s.desc).id == 0);
    check_text("vd_kernel_create", "saxpy|the last 2 parameters of the kernel must be the values of the argument block");
}

/* If a program has several kernels, the desc must name one. */
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
    assert_int_equal(vd_error_result(), VD_ERROR_INVALID); /* the desc is wrong, not the code */
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

TEST_EXECUTED(errors_of_the_compiler_name_the_line) {
    static const struct { const char *text, *words; } rows[] = {
        { "__kernel void k(__global uint *x) {\n    uint a = 1;\n    x[0] = b;\n}\n", "saxpy|line 3|x[0] = b;|error" },
        { "__kernel void k(__global uint *x) {", "saxpy|the OpenCL driver failed to compile the code" },
        { "this is no program", "saxpy|line 1|this is no program" },
        { "int f(int x) { return x; }", "saxpy|the program has no kernel" },
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

TEST_EXECUTED(a_desc_that_does_not_match_its_source) {
    saxpy_desc s;
    describe(&s);
    s.desc.arg_count = 2; /* without `a`, so the implicit argument is its value */
    s.desc.args = s.args + 1;
    assert_true(vd_kernel_create(f->ctx, &s.desc).id == 0);
    check_text("vd_kernel_create", "saxpy|the last 2 parameters of the kernel must be the values of the argument block");
    describe(&s);
    s.desc.arg_count = 2; /* without `y` */
    s.args[1] = s.args[2];
    s.desc.implicit_count = 0;
    s.desc.argument_bytes = 4;
    s.args[1].location = 0;
    assert_true(vd_kernel_create(f->ctx, &s.desc).id == 0);
    check_text("vd_kernel_create", "saxpy|3 parameters, but must have 1 buffers, images and samplers, then|as 1 values");
    describe(&s);
    s.desc.local_size[0] = 32;
    assert_true(vd_kernel_create(f->ctx, &s.desc).id == 0);
    check_text("vd_kernel_create", "saxpy|32 x 1 x 1|64 x 1 x 1");
    describe(&s);
    s.desc.code_kind = VD_CODE_CUDA;
    assert_true(vd_kernel_create(f->ctx, &s.desc).id == 0);
    check_text("vd_kernel_create", "saxpy|CUDA C|opencl accepts OpenCL C");
    describe(&s);
    s.args[0].kind = VD_ARG_ADDRESS;
    s.args[0].size = 8;
    s.args[0].location = 8;
    s.desc.argument_bytes = 16;
    assert_true(vd_kernel_create(f->ctx, &s.desc).id == 0);
    check_text("vd_kernel_create", "saxpy|address");
}

/* ---- the cache of compiled programs ---- */

/* Counts the files in the folder. `change`: modifies a byte of each; `empty`: removes each. */
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

static void run_with_cache(fixture *f, const char *folder, uint64_t hits, uint64_t writes) {
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    desc.cache_directory = folder;
    OK(vd_context_create(&desc, &ctx));
    vd_kernel k = saxpy_create(ctx);
    check_saxpy(ctx, k, 1000);
    vd_stats stats = stats_of(ctx);
    vd_context_destroy(ctx);
    assert_int_equal(stats.cache_hits, hits);
    assert_int_equal(stats.cache_misses, 1 - hits);
    assert_int_equal(stats.cache_writes, writes);
}

TEST_EXECUTED(compiled_programs_are_cached) {
    char folder[] = "/tmp/vd-opencl-cache-XXXXXX";
    assert_non_null(mkdtemp(folder));
    run_with_cache(f, folder, 0, 1);
    int kept = cache_files(folder, false, false);
    run_with_cache(f, folder, 1, 0);
    int still = cache_files(folder, true, false);
    run_with_cache(f, folder, 0, 1); /* the damaged file is ignored and replaced */
    int after = cache_files(folder, false, false);
    run_with_cache(f, folder, 1, 0);
    cache_files(folder, false, true);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(kept, 1);
    assert_int_equal(still, 1);
    assert_int_equal(after, 1);
    run_with_cache(f, "/tmp/vd-opencl-cache-is-not-there", 0, 0);
    assert_int_equal(f->messages, 2); /* warnings about the damaged file and the folder that does not exist */
}

/* ---- failing driver calls ---- */

/* Functions that return an error. The parameters are listed twice: with types, and as arguments. */
#define FAILING(X) \
    X(clBuildProgram, (vd__cl_program a, uint32_t b, const vd__cl_device_id *c, const char *d, \
        void (*e)(vd__cl_program, void *), void *g), (void)a, (void)b, (void)c, (void)d, (void)e, (void)g) \
    X(clSetKernelArg, (vd__cl_kernel_id a, uint32_t b, size_t c, const void *d), (void)a, (void)b, (void)c, (void)d) \
    X(clEnqueueNDRangeKernel, (vd__cl_command_queue a, vd__cl_kernel_id b, uint32_t c, const size_t *d, \
        const size_t *e, const size_t *g, uint32_t h, const vd__cl_event *i, vd__cl_event *j), (void)a, (void)b, \
        (void)c, (void)d, (void)e, (void)g, (void)h, (void)i, (void)j) \
    X(clEnqueueReadBuffer, (vd__cl_command_queue a, vd__cl_mem b, uint32_t c, size_t d, size_t e, void *g, uint32_t h, \
        const vd__cl_event *i, vd__cl_event *j), (void)a, (void)b, (void)c, (void)d, (void)e, (void)g, (void)h, \
        (void)i, (void)j) \
    X(clEnqueueWriteBuffer, (vd__cl_command_queue a, vd__cl_mem b, uint32_t c, size_t d, size_t e, const void *g, \
        uint32_t h, const vd__cl_event *i, vd__cl_event *j), (void)a, (void)b, (void)c, (void)d, (void)e, (void)g, \
        (void)h, (void)i, (void)j) \
    X(clEnqueueFillBuffer, (vd__cl_command_queue a, vd__cl_mem b, const void *c, size_t d, size_t e, size_t g, \
        uint32_t h, const vd__cl_event *i, vd__cl_event *j), (void)a, (void)b, (void)c, (void)d, (void)e, (void)g, \
        (void)h, (void)i, (void)j) \
    X(clFlush, (vd__cl_command_queue a), (void)a)

#define DEFINE_FAILING(name, args, ...) \
    static int32_t failing_##name args { __VA_ARGS__; return VD__CL_OUT_OF_RESOURCES; }
FAILING(DEFINE_FAILING)

static vd__cl_mem failing_clCreateSubBuffer(vd__cl_mem a, uint64_t b, uint32_t c, const void *d, int32_t *error) {
    (void)a, (void)b, (void)c, (void)d;
    *error = VD__CL_OUT_OF_RESOURCES;
    return NULL;
}

/* Makes function `which` fail, or restores it. Returns its name, or NULL after the last. */
static const char *break_one(vd__cl_driver *cl, const vd__cl_driver *whole, int which) {
    int at = 0;
    *cl = *whole;
    if (at++ == which) {
        cl->clCreateSubBuffer = failing_clCreateSubBuffer;
        return "clCreateSubBuffer";
    }
#define BREAK(name, args, ...) if (at++ == which) { cl->name = failing_##name; return #name; }
    FAILING(BREAK)
#undef BREAK
    return NULL;
}

/* Uses all features; returns the text of the first error, "" if nothing failed. */
static void use_everything(vd_context *ctx, vd_kernel k, vd_buffer x, vd_buffer y, char *text, size_t size) {
    float got[64];
    saxpy_desc s;
    bool failed = false;
    text[0] = 0;
#define STEP(bad) if ((bad) && !failed) { failed = true; snprintf(text, size, "%s", vd_error_text()); }
    describe(&s);
    vd_kernel other = vd_kernel_create(ctx, &s.desc);
    STEP(!other.id)
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.type = VD_F32;
    desc.shape[0] = 64;
    vd_buffer fresh = vd_buffer_create(ctx, &desc);
    STEP(!fresh.id)
    STEP(vd_buffer_write(ctx, x, 0, "abcdefgh", 8))
    STEP(vd_wait_idle(ctx))
    STEP(vd_fill(vd_immediate(ctx, 0, 0), y, 0, 64, NULL, 0))
    STEP(vd_wait_idle(ctx))
    STEP(vd_run(ctx, k, 64, vd_b(x), vd_b(y), vd_f32(3)))
    STEP(vd_wait_idle(ctx))
    STEP(vd_buffer_read(ctx, y, 0, got, sizeof got))
    vd_wait_idle(ctx);
    vd_buffer_destroy(ctx, fresh);
    vd_kernel_destroy(ctx, other);
#undef STEP
}

TEST_EXECUTED(driver_calls_fail) {
    vd_context *ctx = context_without(f, VD_FEATURE_ADDRESS);
    vd__cl_driver *cl = vd__cl_driver_of(&ctx->driver), whole = *cl;
    vd_kernel k = saxpy_create(ctx);
    vd_buffer x = buffer_named(ctx, "x", VD_F32, 64, NULL), y = buffer_named(ctx, "y", VD_F32, 64, NULL);
    for (int which = -1; which < 64; which++) {
        char text[1024];
        OK(vd_wait_idle(ctx));
        const char *name = which < 0 ? "" : break_one(cl, &whole, which);
        if (name) use_everything(ctx, k, x, y, text, sizeof text);
        *cl = whole;
        if (name && which < 0) assert_string_equal(text, "");
        else if (name && (!strstr(text, name) || !strstr(text, "CL_OUT_OF_RESOURCES")))
            fail_msg("%s fails: '%s'", name, text);
        /* the last one: without flushes no work is known to end, and the device counts as lost */
        if (!name || !strcmp(name, "clFlush")) return;
        check_saxpy(ctx, k, 1000);
    }
}

/* ---- a driver that copies between buffers and 1-D arrays only in layer 0, as NVIDIA's version 580 does ---- */

static vd__cl_driver strict;  /* its functions, and the number of boxes that it refused */
static uint32_t refused_boxes;
static bool refuses_all;

static bool refuses_box(const size_t *origin, const size_t *extent) {
    bool refused = refuses_all || origin[1] || extent[1] > 1;
    refused_boxes += refused;
    return refused;
}

static int32_t strict_to_buffer(vd__cl_command_queue queue, vd__cl_mem image, vd__cl_mem buffer, const size_t *origin,
                                const size_t *extent, size_t offset, uint32_t count, const vd__cl_event *waits,
                                vd__cl_event *event) {
    if (refuses_box(origin, extent)) return VD__CL_INVALID_VALUE;
    return strict.clEnqueueCopyImageToBuffer(queue, image, buffer, origin, extent, offset, count, waits, event);
}

static int32_t strict_to_image(vd__cl_command_queue queue, vd__cl_mem buffer, vd__cl_mem image, size_t offset,
                               const size_t *origin, const size_t *extent, uint32_t count, const vd__cl_event *waits,
                               vd__cl_event *event) {
    if (refuses_box(origin, extent)) return VD__CL_INVALID_VALUE;
    return strict.clEnqueueCopyBufferToImage(queue, buffer, image, offset, origin, extent, count, waits, event);
}

TEST_EXECUTED(drivers_may_refuse_layers_of_1d_arrays) {
    vd__cl_driver *cl = vd__cl_driver_of(&f->ctx->driver);
    needs_feature(f, VD_FEATURE_IMAGE);
    strict = *cl;
    refused_boxes = 0;
    cl->clEnqueueCopyImageToBuffer = strict_to_buffer;
    cl->clEnqueueCopyBufferToImage = strict_to_image;
    check_parts_of_1d_arrays(f->ctx);
    assert_true(refused_boxes > 3);

    uint32_t texels[LAYERS_WIDTH];
    layer_stack a, b;
    layers_create(f->ctx, &a, VD_FORMAT_R32_U, 0);
    layers_create(f->ctx, &b, VD_FORMAT_R32_F, 0);
    vd_image_transfer from = layers_transfer(&a, 2, 1), to = layers_transfer(&b, 1, 1);
    refuses_all = true;
    OK(vd_copy_image(vd_immediate(f->ctx, 0, 0), &to.box, &from.box));
    FAILS(vd_image_download(f->ctx, &to, texels), VD_ERROR_BACKEND, "vd_image_download|a copy to a 1-D array "
          "(texel 3, 0, 0, layer 1; 6 x 1 x 1 texels, 1 layers) failed: CL_INVALID_VALUE");
    refuses_all = false;
    *cl = strict;
    vd_image_destroy(f->ctx, a.image);
    vd_image_destroy(f->ctx, b.image);
}

/* ---- a driver whose calls fail at random while several threads use it ---- */

static vd__cl_driver sound;   /* the original functions of the driver */
static uint32_t calls, one_in; /* number of calls; one in `one_in` fails, at random */

static bool bad_luck(void) {
    dice d = { __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) * UINT64_C(0x9e3779b97f4a7c15) };
    uint32_t often = __atomic_load_n(&one_in, __ATOMIC_RELAXED);
    roll(&d, 0);
    return often && roll(&d, often) == 0;
}

/* Functions that return an error. The parameters are listed twice: with types, and as arguments. */
#define SHAKY(X) \
    X(clEnqueueMigrateMemObjects, (vd__cl_command_queue q, uint32_t n, const vd__cl_mem *m, uint64_t f, uint32_t w, \
        const vd__cl_event *l, vd__cl_event *e), (q, n, m, f, w, l, e)) \
    X(clSetKernelArg, (vd__cl_kernel_id k, uint32_t i, size_t s, const void *v), (k, i, s, v)) \
    X(clEnqueueNDRangeKernel, (vd__cl_command_queue q, vd__cl_kernel_id k, uint32_t n, const size_t *o, \
        const size_t *g, const size_t *s, uint32_t w, const vd__cl_event *l, vd__cl_event *e), \
        (q, k, n, o, g, s, w, l, e)) \
    X(clEnqueueReadBuffer, (vd__cl_command_queue q, vd__cl_mem m, uint32_t b, size_t o, size_t s, void *p, uint32_t w, \
        const vd__cl_event *l, vd__cl_event *e), (q, m, b, o, s, p, w, l, e)) \
    X(clEnqueueWriteBuffer, (vd__cl_command_queue q, vd__cl_mem m, uint32_t b, size_t o, size_t s, const void *p, \
        uint32_t w, const vd__cl_event *l, vd__cl_event *e), (q, m, b, o, s, p, w, l, e)) \
    X(clEnqueueFillBuffer, (vd__cl_command_queue q, vd__cl_mem m, const void *p, size_t n, size_t o, size_t s, \
        uint32_t w, const vd__cl_event *l, vd__cl_event *e), (q, m, p, n, o, s, w, l, e))

#define DEFINE_SHAKY(name, parameters, arguments) \
    static int32_t shaky_##name parameters { return bad_luck() ? VD__CL_OUT_OF_RESOURCES : sound.name arguments; }
SHAKY(DEFINE_SHAKY)

/* Called after work failed; the device is lost if this fails too. */
static int32_t shaky_clEnqueueMarkerWithWaitList(vd__cl_command_queue q, uint32_t w, const vd__cl_event *l,
                                                 vd__cl_event *e) {
    return __atomic_load_n(&calls, __ATOMIC_RELAXED) > 2000 && bad_luck()
               ? VD__CL_OUT_OF_RESOURCES
               : sound.clEnqueueMarkerWithWaitList(q, w, l, e);
}

static vd__cl_mem shaky_clCreateBuffer(vd__cl_context context, uint64_t flags, size_t size, void *host,
                                       int32_t *error) {
    if (!bad_luck()) return sound.clCreateBuffer(context, flags, size, host, error);
    *error = VD__CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

static vd__cl_mem shaky_clCreateSubBuffer(vd__cl_mem buffer, uint64_t flags, uint32_t type, const void *region,
                                          int32_t *error) {
    if (!bad_luck()) return sound.clCreateSubBuffer(buffer, flags, type, region, error);
    *error = VD__CL_OUT_OF_RESOURCES;
    return NULL;
}

static void *shaky_clEnqueueMapBuffer(vd__cl_command_queue q, vd__cl_mem m, uint32_t b, uint64_t f, size_t o, size_t s,
                                      uint32_t w, const vd__cl_event *l, vd__cl_event *e, int32_t *error) {
    if (!bad_luck()) return sound.clEnqueueMapBuffer(q, m, b, f, o, s, w, l, e, error);
    *error = VD__CL_OUT_OF_RESOURCES;
    return NULL;
}

enum { SHAKEN_THREADS = 8, SHAKEN_ROUNDS = 60 };

typedef struct shaken { vd_context *ctx; vd_kernel kernel; uint32_t number, failed; } shaken;

static void *work_shaken(void *user) {
    static const uint32_t sizes[] = { 1, 17, 1000, 100000, 3000000 };
    shaken *w = (shaken *)user;
    dice d = { w->number };
    for (uint32_t i = 0; i < SHAKEN_ROUNDS; i++) {
        uint32_t words = sizes[roll(&d, i % 20 ? 4 : 5)], tag = w->number << 16 | i, got = 0;
        vd_buffer_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.type = VD_U32;
        desc.shape[0] = words;
        vd_buffer b = vd_buffer_create(w->ctx, &desc);
        bool ok = b.id && !vd_fill(vd_immediate(w->ctx, 0, 0), b, 0, VD_WHOLE, &tag, 4)
                  && !affine(vd_immediate(w->ctx, 0, 0), w->kernel, b, words, 1, 1);
        vd_list *list = ok ? vd_list_begin(w->ctx, NULL) : NULL;
        if (list)
            ok = !vd_write(list, b, 0, &tag, 4) && !affine(list, w->kernel, b, words, 1, 1)
                 && !vd_submit(list, NULL, NULL);
        if (b.id) ok = !vd_buffer_read(w->ctx, b, 4 * (uint64_t)(words - 1), &got, 4) && ok;
        w->failed += !ok;
        vd_buffer_destroy(w->ctx, b);
    }
    return NULL;
}

static void check_shaken(fixture *f, uint64_t disable, uint32_t often) {
    pthread_t threads[SHAKEN_THREADS];
    shaken w[SHAKEN_THREADS];
    account memory = { 0, 0, 0 };
    vd_context *ctx = NULL;
    vd_context_desc desc = fixture_desc(f);
    uint32_t failed = 0;
    desc.disable = disable;
    desc.allocator = account_allocator(&memory);
    OK(vd_context_create(&desc, &ctx));
    vd_kernel kernel = kernel_affine(ctx);
    vd__cl_driver *cl = vd__cl_driver_of(&ctx->driver);
    sound = *cl;
    calls = 0;
    one_in = often;
#define SHAKE(name, parameters, arguments) cl->name = shaky_##name;
    SHAKY(SHAKE)
    cl->clEnqueueMarkerWithWaitList = shaky_clEnqueueMarkerWithWaitList;
    cl->clCreateBuffer = shaky_clCreateBuffer;
    cl->clCreateSubBuffer = shaky_clCreateSubBuffer;
    cl->clEnqueueMapBuffer = shaky_clEnqueueMapBuffer;
    for (uint32_t i = 0; i < SHAKEN_THREADS; i++) {
        memset(&w[i], 0, sizeof w[i]);
        w[i].ctx = ctx;
        w[i].kernel = kernel;
        w[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work_shaken, &w[i]), 0);
    }
    for (uint32_t i = 0; i < SHAKEN_THREADS; i++) {
        pthread_join(threads[i], NULL);
        failed += w[i].failed;
    }
    __atomic_store_n(&one_in, 0, __ATOMIC_RELAXED);
    vd_context_destroy(ctx);
    if (often <= 10) assert_true(failed > 0);
    assert_int_equal(memory.live, 0);
    f->messages = 0; /* they return the error */
}

TEST_EXECUTED(driver_calls_fail_under_threads) {
    for (uint32_t often = 250; often > 1; often /= 5) {
        check_shaken(f, VD_FEATURE_ADDRESS, often);
        check_shaken(f, 0, often);
    }
}

static int32_t (*real_event_info)(vd__cl_event, uint32_t, size_t, void *, size_t *);

static int32_t event_that_failed(vd__cl_event event, uint32_t what, size_t size, void *out, size_t *written) {
    int32_t status, error = real_event_info(event, what, size, out, written);
    memcpy(&status, out, sizeof status);
    if (status == VD__CL_COMPLETE) status = VD__CL_OUT_OF_RESOURCES;
    memcpy(out, &status, sizeof status);
    return error;
}

TEST_EXECUTED(work_that_ends_with_an_error_loses_the_device) {
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    OK(vd_context_create(&desc, &ctx));
    vd_buffer x = buffer_named(ctx, "x", VD_F32, 64, NULL);
    OK(vd_wait_idle(ctx));
    vd__cl_driver *cl = vd__cl_driver_of(&ctx->driver);
    real_event_info = cl->clGetEventInfo;
    cl->clGetEventInfo = event_that_failed;
    vd_fill(vd_immediate(ctx, 0, 0), x, 0, 64, NULL, 0);
    assert_int_equal(vd_wait_idle(ctx), VD_ERROR_DEVICE_LOST);
    assert_int_equal(vd_buffer_write(ctx, x, 0, "abcd", 4), VD_ERROR_DEVICE_LOST);
    check_text("vd_buffer_write", "lost");
    vd_context_destroy(ctx);
    assert_int_equal(f->messages, 1); /* logged once */
}

/* ---- several queues: the backend's own operations ---- */

enum { PLENTY = 32 << 20 };

typedef struct piece { vd__block block; vd__memory memory; } piece;

static void piece_create(vd__device *dev, piece *p, vd_memory usage, uint64_t size) {
    const vd__backend *b = dev->driver->backend;
    vd__memory_requirements need;
    memset(p, 0, sizeof *p);
    memset(&need, 0, sizeof need);
    p->memory.size = size;
    p->memory.serial = 1;
    OK(b->memory_create(dev, &p->memory, &need));
    p->block.size = need.size;
    p->block.type = vd__lowest_bit(b->memory_types(dev, usage, need.types));
    OK(b->block_create(dev, &p->block));
    p->memory.block = &p->block;
    p->memory.mapped = p->block.mapped;
    OK(b->memory_bind(dev, &p->memory));
}

static void piece_destroy(vd__device *dev, piece *p) {
    dev->driver->backend->memory_destroy(dev, &p->memory);
    dev->driver->backend->block_destroy(dev, &p->block);
}

static void a_queue_after_another(fixture *f, uint64_t disable) {
    const vd__backend *b = f->ctx->driver.backend;
    vd__device dev;
    vd__commands c[3];
    piece from, to, seen;
    vd__copy_range whole = { 0, 0, PLENTY }, end = { PLENTY - 4, 0, 4 };
    vd__wait first = { 1, 0 };
    memset(&dev, 0, sizeof dev);
    memset(c, 0, sizeof c);
    dev.queue_count = 2;
    OK(b->device_open(&f->ctx->driver, vd_device(f->ctx, 0)->index, disable, &dev));
    piece_create(&dev, &from, VD_MEMORY_DEVICE, PLENTY);
    piece_create(&dev, &to, VD_MEMORY_DEVICE, PLENTY);
    piece_create(&dev, &seen, VD_MEMORY_READBACK, 4);
    for (int i = 0; i < 3; i++) {
        OK(b->commands_create(&dev, &c[i]));
        OK(b->commands_begin(&dev, &c[i], false));
    }
    for (uint32_t i = 1; i <= 8; i++) b->record_fill(&dev, &c[0], &from.memory, 0, PLENTY, i);
    b->record_copy(&dev, &c[1], &to.memory, &from.memory, &whole, 1);
    b->record_copy(&dev, &c[2], &seen.memory, &to.memory, &end, 1);
    for (int i = 0; i < 3; i++) OK(b->commands_end(&dev, &c[i]));
    vd__submission submissions[3] = {
        { &c[0], 1, false, NULL, 0, NULL, 0, NULL, false, false },
        { &c[1], 1, false, &first, 1, NULL, 0, NULL, false, false },
        { &c[2], 2, false, &first, 1, NULL, 0, NULL, false, false }
    };
    for (uint32_t i = 0; i < 3; i++) OK(b->queue_submit(&dev, i ? 1 : 0, &submissions[i]));
    OK(b->queue_wait(&dev, 1, 2, VD_FOREVER));
    assert_int_equal(b->queue_value(&dev, 1), 2);
    assert_int_equal(b->queue_value(&dev, 0), 1);
    assert_int_equal(*(const uint32_t *)(const void *)seen.memory.mapped, 8);
    vd__submission empty = { NULL, 9, false, NULL, 0, NULL, 0, NULL, false, false };
    OK(b->queue_submit(&dev, 0, &empty));
    while (b->queue_wait(&dev, 0, 9, 1000000) == VD_TIMEOUT) continue;
    assert_int_equal(b->queue_value(&dev, 0), 9);
    for (int i = 0; i < 3; i++) b->commands_destroy(&dev, &c[i]);
    piece_destroy(&dev, &from);
    piece_destroy(&dev, &to);
    piece_destroy(&dev, &seen);
    b->device_close(&dev);
}

TEST_EXECUTED(a_queue_waits_for_another) {
    a_queue_after_another(f, 0);
    a_queue_after_another(f, VD_FEATURE_ADDRESS);
}

/* Finds the names that precede a parenthesis, and checks that all are known. */
TEST_EXECUTED(all_needed_declarations_are_included) {
    static const char *const known[] = {
        "void own(int a) { barrier(1); if(get_local_id(0)) own(a - (int)fma(1.0f, 2.0f, 3.0f)); }",
        "void own() {}(get_group_id(0)"
    };
    static const char *const unknown[] = {
        "void own() { sin(1.0f); }", "void other() {}", "", "own", "get_local_id", "void own() { get_local_ids(0); }"
    };
    saxpy_desc s;
    vd_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.entry = "own";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        desc.code = known[i];
        desc.code_size = strlen(known[i]);
        if (!vd__cl_declared_calls(&desc)) fail_msg("'%s' calls what is not known", known[i]);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        desc.code = unknown[i];
        desc.code_size = strlen(unknown[i]);
        if (vd__cl_declared_calls(&desc)) fail_msg("'%s' calls nothing unknown", unknown[i]);
    }
    describe(&s);
    s.desc.entry = "saxpy";
    s.desc.code_size = strlen(saxpy);
    assert_true(vd__cl_declared_calls(&s.desc) != 0);
    vd_kernel k = vd_kernel_create(f->ctx, &s.desc);
    if (!k.id) fail_msg("vd_kernel_create: %s", vd_error_text());
    check_saxpy(f->ctx, k, 1000);
    vd_kernel_destroy(f->ctx, k);
}

static const struct CMUnitTest cases[] = {
    CASE(opencl_source_runs), CASE(opencl_source_runs_on_buffer_objects), CASE(values_one_by_one),
    CASE(a_program_of_two_kernels),
    CASE(errors_of_the_compiler_name_the_line), CASE(a_desc_that_does_not_match_its_source),
    CASE(compiled_programs_are_cached), CASE(driver_calls_fail), CASE(driver_calls_fail_under_threads),
    CASE(drivers_may_refuse_layers_of_1d_arrays),
    CASE(work_that_ends_with_an_error_loses_the_device), CASE(a_queue_waits_for_another),
    CASE(all_needed_declarations_are_included),
};

int main(void) {
    the_fixture.backend = VD_BACKEND_OPENCL;
    return RUN_CASES("texts on opencl", cases);
}

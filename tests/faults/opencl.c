/* Every OpenCL call of a program fails once, and from then on. Outputs of failed calls are filled with garbage. The
   program must terminate, must not pass garbage back to the driver, must report an error or have the right result, and
   must release everything. The library finds the driver's functions with dlsym, which is replaced here. */
#define _POSIX_C_SOURCE 200809L
#include "tests/insides.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/faults/program.h"

/* ---- the driver ---- */

enum { REFUSED = -6 }; /* CL_OUT_OF_HOST_MEMORY */

/* Functions that create an object: its type, parameters, arguments; the last one is the error. */
#define MAKERS(X) \
    X(clCreateContext, vd__cl_context, (const intptr_t *a, uint32_t b, const vd__cl_device_id *c, \
        void (*d)(const char *, const void *, size_t, void *), void *e, int32_t *error), (a, b, c, d, e, error)) \
    X(clCreateCommandQueue, vd__cl_command_queue, (vd__cl_context a, vd__cl_device_id b, uint64_t c, int32_t *error), \
        (a, b, c, error)) \
    X(clCreateBuffer, vd__cl_mem, (vd__cl_context a, uint64_t b, size_t c, void *d, int32_t *error), \
        (a, b, c, d, error)) \
    X(clCreateSubBuffer, vd__cl_mem, (vd__cl_mem a, uint64_t b, uint32_t c, const void *d, int32_t *error), \
        (a, b, c, d, error)) \
    X(clCreateProgramWithSource, vd__cl_program, (vd__cl_context a, uint32_t b, const char **c, const size_t *d, \
        int32_t *error), (a, b, c, d, error)) \
    X(clCreateKernel, vd__cl_kernel_id, (vd__cl_program a, const char *b, int32_t *error), (a, b, error))

/* Functions that output an event, which may be NULL. */
#define COMMANDS(X) \
    X(clEnqueueNDRangeKernel, (vd__cl_command_queue a, vd__cl_kernel_id b, uint32_t c, const size_t *d, \
        const size_t *e, const size_t *f, uint32_t g, const vd__cl_event *h, vd__cl_event *out), \
        (a, b, c, d, e, f, g, h, out)) \
    X(clEnqueueReadBuffer, (vd__cl_command_queue a, vd__cl_mem b, uint32_t c, size_t d, size_t e, void *f, uint32_t g, \
        const vd__cl_event *h, vd__cl_event *out), (a, b, c, d, e, f, g, h, out)) \
    X(clEnqueueWriteBuffer, (vd__cl_command_queue a, vd__cl_mem b, uint32_t c, size_t d, size_t e, const void *f, \
        uint32_t g, const vd__cl_event *h, vd__cl_event *out), (a, b, c, d, e, f, g, h, out)) \
    X(clEnqueueCopyBuffer, (vd__cl_command_queue a, vd__cl_mem b, vd__cl_mem c, size_t d, size_t e, size_t f, \
        uint32_t g, const vd__cl_event *h, vd__cl_event *out), (a, b, c, d, e, f, g, h, out)) \
    X(clEnqueueFillBuffer, (vd__cl_command_queue a, vd__cl_mem b, const void *c, size_t d, size_t e, size_t f, \
        uint32_t g, const vd__cl_event *h, vd__cl_event *out), (a, b, c, d, e, f, g, h, out)) \
    X(clEnqueueMigrateMemObjects, (vd__cl_command_queue a, uint32_t b, const vd__cl_mem *c, uint64_t d, uint32_t e, \
        const vd__cl_event *f, vd__cl_event *out), (a, b, c, d, e, f, out)) \
    X(clEnqueueMarkerWithWaitList, (vd__cl_command_queue a, uint32_t b, const vd__cl_event *c, vd__cl_event *out), \
        (a, b, c, out)) \
    X(clEnqueueBarrierWithWaitList, (vd__cl_command_queue a, uint32_t b, const vd__cl_event *c, vd__cl_event *out), \
        (a, b, c, out)) \
    X(clEnqueueSVMMemcpy, (vd__cl_command_queue a, uint32_t b, void *c, const void *d, size_t e, uint32_t f, \
        const vd__cl_event *g, vd__cl_event *out), (a, b, c, d, e, f, g, out)) \
    X(clEnqueueSVMMemFill, (vd__cl_command_queue a, void *b, const void *c, size_t d, size_t e, uint32_t f, \
        const vd__cl_event *g, vd__cl_event *out), (a, b, c, d, e, f, g, out))

/* Others: parameters, arguments, an output and its size. */
#define CALLS(X) \
    X(clGetPlatformIDs, (uint32_t a, vd__cl_platform_id *b, uint32_t *c), (a, b, c), c, sizeof *c) \
    X(clGetDeviceIDs, (vd__cl_platform_id a, uint64_t b, uint32_t c, vd__cl_device_id *d, uint32_t *e), \
        (a, b, c, d, e), e, sizeof *e) \
    X(clGetDeviceInfo, (vd__cl_device_id a, uint32_t b, size_t c, void *d, size_t *e), (a, b, c, d, e), d, c) \
    X(clBuildProgram, (vd__cl_program a, uint32_t b, const vd__cl_device_id *c, const char *d, \
        void (*e)(vd__cl_program, void *), void *f), (a, b, c, d, e, f), NULL, 0) \
    X(clCreateKernelsInProgram, (vd__cl_program a, uint32_t b, vd__cl_kernel_id *c, uint32_t *d), (a, b, c, d), c, \
        sizeof *c) \
    X(clGetKernelInfo, (vd__cl_kernel_id a, uint32_t b, size_t c, void *d, size_t *e), (a, b, c, d, e), d, c) \
    X(clGetKernelWorkGroupInfo, (vd__cl_kernel_id a, vd__cl_device_id b, uint32_t c, size_t d, void *e, size_t *f), \
        (a, b, c, d, e, f), e, d) \
    X(clSetKernelArg, (vd__cl_kernel_id a, uint32_t b, size_t c, const void *d), (a, b, c, d), NULL, 0) \
    X(clSetKernelArgSVMPointer, (vd__cl_kernel_id a, uint32_t b, const void *c), (a, b, c), NULL, 0) \
    X(clFlush, (vd__cl_command_queue a), (a), NULL, 0) \
    X(clGetCommandQueueInfo, (vd__cl_command_queue a, uint32_t b, size_t c, void *d, size_t *e), (a, b, c, d, e), d, \
        c) \
    X(clGetEventProfilingInfo, (vd__cl_event a, uint32_t b, size_t c, void *d, size_t *e), (a, b, c, d, e), d, c) \
    X(clGetEventInfo, (vd__cl_event a, uint32_t b, size_t c, void *d, size_t *e), (a, b, c, d, e), d, c)

#define REFERENCES(X) \
    X(Context, vd__cl_context) X(CommandQueue, vd__cl_command_queue) X(MemObject, vd__cl_mem) \
        X(Program, vd__cl_program) X(Kernel, vd__cl_kernel_id) \
    X(Event, vd__cl_event)

#define MAKER(name, type, parameters, arguments) \
    static type (*real_##name) parameters; \
    static type fault_##name parameters { \
        bool no = refused(#name); \
        if (no) *error = REFUSED; \
        type made = no ? NULL : real_##name arguments; \
        if (made) driver.live++; \
        return made; \
    }
MAKERS(MAKER)

#define COMMAND(name, parameters, arguments) \
    static int32_t (*real_##name) parameters; \
    static int32_t fault_##name parameters { \
        bool no = refused(#name); \
        if (no) poison(out, sizeof *out); \
        int32_t error = no ? REFUSED : real_##name arguments; \
        if (!error && out) driver.live++; \
        return error; \
    }
COMMANDS(COMMAND)

#define CALL(name, parameters, arguments, output, size) \
    static int32_t (*real_##name) parameters; \
    static int32_t fault_##name parameters { \
        bool no = refused(#name); \
        if (no) poison(output, size); \
        return no ? REFUSED : real_##name arguments; \
    }
CALLS(CALL)

#define REFERENCE(name, type) \
    static int32_t (*real_clRetain##name)(type), (*real_clRelease##name)(type); \
    static int32_t fault_clRetain##name(type object) { \
        if (refused("clRetain" #name)) return REFUSED; \
        driver.live++; \
        return real_clRetain##name(object); \
    } \
    static int32_t fault_clRelease##name(type object) { \
        return destroyed((uintptr_t)object) ? real_clRelease##name(object) : REFUSED; \
    }
REFERENCES(REFERENCE)

static uint32_t lacking; /* samplers that the driver refuses, by 2 * address mode + linear */
static vd__cl_sampler (*real_clCreateSampler)(vd__cl_context, uint32_t, uint32_t, uint32_t, int32_t *);
static vd__cl_sampler fault_clCreateSampler(vd__cl_context context, uint32_t normalized, uint32_t mode, uint32_t filter,
                                            int32_t *error) {
    static const uint32_t modes[] = {
        VD__CL_ADDRESS_CLAMP_TO_EDGE, VD__CL_ADDRESS_REPEAT, VD__CL_ADDRESS_MIRRORED_REPEAT, VD__CL_ADDRESS_CLAMP
    };
    uint32_t i = 0;
    while (modes[i] != mode) i++;
    if (!(lacking >> (2 * i + (filter == VD__CL_FILTER_LINEAR)) & 1u))
        return real_clCreateSampler(context, normalized, mode, filter, error);
    *error = REFUSED;
    return NULL;
}

/* The Makefile links dlsym of the library to this function. */
void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name) {
    void *found = __real_dlsym(library, name);
    /* RTLD_NEXT: a sanitizer that looks up what it replaces, before it is initialised */
    if (library == (void *)(intptr_t)-1) return found;
#define REPLACE(call) if (found && !strcmp(name, #call)) { \
        memcpy((void *)&real_##call, &found, sizeof found); \
        return (void *)(uintptr_t)fault_##call; \
    }
#define REPLACE_1(call, type, parameters, arguments) REPLACE(call)
#define REPLACE_2(call, parameters, arguments) REPLACE(call)
#define REPLACE_3(call, parameters, arguments, output, size) REPLACE(call)
#define REPLACE_4(name_, type) REPLACE(clRetain##name_) REPLACE(clRelease##name_)
    MAKERS(REPLACE_1)
    REPLACE(clCreateSampler)
    COMMANDS(REPLACE_2)
    CALLS(REPLACE_3)
    REFERENCES(REPLACE_4)
    return found;
}

/* ---- the tests ---- */

static void refuse_each_without(uint64_t disable) {
    vd_context_desc desc;
    long runs;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_OPENCL;
    desc.queues = 2;
    desc.profile = true;
    desc.disable = disable;
    long errors = refuse_each(&desc, LOST, false, &runs);
    assert_true(errors > runs / MANNERS); /* no OpenCL call reports a lost device */
}

static void shared_memory(void **state) {
    (void)state;
    refuse_each_without(0);
}

static void buffer_objects(void **state) {
    (void)state;
    refuse_each_without(VD_FEATURE_ADDRESS | VD_FEATURE_MAPPED);
}

/* A context opens without samplers; what needs them is refused by name. */
static void samplers_that_the_driver_refuses(void **state) {
    static const struct { uint32_t lacking; bool sampled, linear_images, repeat; } cases[] = {
        { 0, true, true, true }, { 12, true, true, false }, { 2, true, false, true }, { 255, false, false, false }
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vd_context *ctx;
        vd_context_desc desc;
        vd_image_desc image;
        vd_sampler_desc sampler;
        vd_format_info format;
        memset(&desc, 0, sizeof desc);
        memset(&image, 0, sizeof image);
        memset(&sampler, 0, sizeof sampler);
        desc.backend = VD_BACKEND_OPENCL;
        lacking = cases[i].lacking;
        vd_result r = vd_context_create(&desc, &ctx);
        lacking = 0;
        skip_without_device(r);
        assert_int_equal(r, VD_OK);
        if (!(vd_device(ctx, 0)->features & VD_FEATURE_IMAGE)) {
            vd_context_destroy(ctx);
            print_message("# reason: the device has no images\n");
            skip();
        }
        image.format = VD_FORMAT_RGBA8_UNORM;
        image.extent[0] = image.extent[1] = 4;
        image.usage = VD_IMAGE_SAMPLED;
        assert_int_equal(vd_image_create(ctx, &image).id != 0, cases[i].sampled);
        if (!cases[i].sampled) assert_non_null(strstr(vd_error_text(), "sampled"));
        image.usage = VD_IMAGE_STORAGE;
        assert_true(vd_image_create(ctx, &image).id != 0);
        assert_int_equal(vd_format_query(ctx, 0, image.format, &format), VD_OK);
        assert_int_equal((format.usage & VD_IMAGE_LINEAR) != 0, cases[i].linear_images);
        for (int j = 0; j < 3; j++) sampler.address[j] = VD_ADDRESS_REPEAT;
        assert_int_equal(vd_sampler_create(ctx, &sampler).id != 0, cases[i].repeat);
        if (!cases[i].repeat)
            assert_non_null(strstr(vd_error_text(), "does not support samplers with this filter and address mode, which "
                                                    "the driver refuses"));
        vd_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory), cmocka_unit_test(buffer_objects),
        cmocka_unit_test(samplers_that_the_driver_refuses)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

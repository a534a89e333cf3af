/* The first OpenCL device, without the runtime: builds programs and runs kernels of one workgroup size along x.
   Loads libOpenCL at run time. */
#ifndef TESTS_OPENCL_H
#define TESTS_OPENCL_H

#if defined(__has_include)
#if __has_include(<CL/cl.h>)
#define TESTS_HAVE_OPENCL
#endif
#endif

/* a buffer, or a value if `buffer` is NULL */
typedef struct OpenclArg { void *buffer; const void *value; size_t size; } OpenclArg;

#if !defined(TESTS_HAVE_OPENCL)
static inline const char *opencl_open(void) { return "no CL/cl.h"; }
static inline void *opencl_buffer(const void *data, size_t size) { (void)data; (void)size; return NULL; }
static inline void *opencl_build(const char *text, const char *language, const char **log) {
    (void)text, (void)language;
    *log = "";
    return NULL;
}
static inline const char *opencl_language(void) { return "CL1.2"; }
static inline void opencl_drop(void *program) { (void)program; }
static inline const char *opencl_run(void *program, const char *name, const OpenclArg *args, int count, size_t local,
                                     size_t groups) {
    (void)program; (void)name; (void)args; (void)count; (void)local; (void)groups;
    return "no OpenCL";
}
static inline bool opencl_write(void *buffer, const void *data, size_t size) {
    (void)buffer;
    (void)data;
    (void)size;
    return false;
}
static inline bool opencl_read(void *buffer, void *data, size_t size) {
    (void)buffer;
    (void)data;
    (void)size;
    return false;
}
static inline void opencl_close(void) { }
#else
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#define OPENCL_FUNCTIONS(X) \
    X(clGetPlatformIDs) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext) X(clCreateCommandQueue) \
    X(clCreateBuffer) X(clCreateProgramWithSource) X(clBuildProgram) X(clGetProgramBuildInfo) \
    X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel) \
    X(clSetKernelArg) X(clEnqueueNDRangeKernel) \
    X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clReleaseCommandQueue) X(clReleaseContext) X(clReleaseMemObject)
#define OPENCL_DECLARE(name) __typeof__(&name) name##_at;
static struct {
    OPENCL_FUNCTIONS(OPENCL_DECLARE)
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem made[512];
    int made_count;
} opencl;
#undef OPENCL_DECLARE

/* Returns NULL, or why there is no device. */
static inline const char *opencl_open(void) {
    static char name[256];
    cl_platform_id platform;
    cl_int result = CL_SUCCESS;
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) return "no libOpenCL.so.1";
#define OPENCL_OPEN(f) \
    do { \
        void *at = dlsym(library, #f); \
        if (!at) return "libOpenCL lacks " #f; \
        memcpy(&opencl.f##_at, &at, sizeof at); \
    } while (0);
    OPENCL_FUNCTIONS(OPENCL_OPEN)
#undef OPENCL_OPEN
    if (opencl.clGetPlatformIDs_at(1, &platform, NULL) != CL_SUCCESS) return "no OpenCL platform";
    if (opencl.clGetDeviceIDs_at(platform, CL_DEVICE_TYPE_ALL, 1, &opencl.device, NULL) != CL_SUCCESS)
        return "no OpenCL device";
    opencl.context = opencl.clCreateContext_at(NULL, 1, &opencl.device, NULL, NULL, &result);
    if (result == CL_SUCCESS) opencl.queue = opencl.clCreateCommandQueue_at(opencl.context, opencl.device, 0, &result);
    if (result != CL_SUCCESS) return "no OpenCL context";
    opencl.clGetDeviceInfo_at(opencl.device, CL_DEVICE_NAME, sizeof name, name, NULL);
    printf("# opencl: %s\n", name);
    return NULL;
}

static inline void *opencl_buffer(const void *data, size_t size) {
    cl_mem made = opencl.clCreateBuffer_at(opencl.context, CL_MEM_READ_WRITE, size, NULL, NULL);
    if (made && data) opencl.clEnqueueWriteBuffer_at(opencl.queue, made, CL_TRUE, 0, size, data, 0, NULL, NULL);
    if (made && opencl.made_count < (int)(sizeof opencl.made / sizeof opencl.made[0]))
        opencl.made[opencl.made_count++] = made;
    return made;
}

static inline bool opencl_write(void *buffer, const void *data, size_t size) {
    return opencl.clEnqueueWriteBuffer_at(opencl.queue, (cl_mem)buffer, CL_TRUE, 0, size, data, 0, NULL,
                                          NULL) == CL_SUCCESS;
}

static inline bool opencl_read(void *buffer, void *data, size_t size) {
    return opencl.clEnqueueReadBuffer_at(opencl.queue, (cl_mem)buffer, CL_TRUE, 0, size, data, 0, NULL,
                                         NULL) == CL_SUCCESS;
}

/* The newest language that the library compiles for the device: see vd__cl_options. */
static inline const char *opencl_language(void) {
    char version[256] = "";
    opencl.clGetDeviceInfo_at(opencl.device, CL_DEVICE_VERSION, sizeof version, version, NULL);
    return !strncmp(version, "OpenCL 3", 8) ? "CL3.0" : !strncmp(version, "OpenCL 2", 8) ? "CL2.0" : "CL1.2";
}

/* language: CL1.2 and so on. Returns NULL with the log if the build fails or prints anything. */
static inline void *opencl_build(const char *text, const char *language, const char **log) {
    static char said[8192];
    char options[64];
    snprintf(options, sizeof options, "-cl-std=%s -Werror", language);
    cl_program made = opencl.clCreateProgramWithSource_at(opencl.context, 1, &text, NULL, NULL);
    cl_int result = made ? opencl.clBuildProgram_at(made, 1, &opencl.device, options, NULL, NULL)
        : CL_OUT_OF_HOST_MEMORY;
    said[0] = 0;
    *log = said;
    if (result == CL_SUCCESS) return made;
    if (made) opencl.clGetProgramBuildInfo_at(made, opencl.device, CL_PROGRAM_BUILD_LOG, sizeof said - 1, said, NULL);
    if (!said[0]) snprintf(said, sizeof said, "clBuildProgram gave %d", (int)result);
    if (made) opencl.clReleaseProgram_at(made);
    return NULL;
}

static inline void opencl_drop(void *program) { if (program) opencl.clReleaseProgram_at((cl_program)program); }

/* Returns NULL, or what failed. */
static inline const char *opencl_run(void *program, const char *name, const OpenclArg *args, int count, size_t local,
                                     size_t groups) {
    static char why[128];
    cl_int result;
    size_t global = local * groups;
    cl_kernel kernel = opencl.clCreateKernel_at((cl_program)program, name, &result);
    why[0] = 0;
    if (!kernel) { snprintf(why, sizeof why, "clCreateKernel gave %d", (int)result); return why; }
    for (int i = 0; i < count; i++) {
        cl_mem buffer = (cl_mem)args[i].buffer;
        result = buffer ? opencl.clSetKernelArg_at(kernel, (cl_uint)i, sizeof buffer, &buffer)
                        : opencl.clSetKernelArg_at(kernel, (cl_uint)i, args[i].size, args[i].value);
        if (result != CL_SUCCESS) {
            snprintf(why, sizeof why, "clSetKernelArg of argument %d gave %d", i, (int)result);
            break;
        }
    }
    if (!why[0]) {
        result = opencl.clEnqueueNDRangeKernel_at(opencl.queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
        if (result != CL_SUCCESS) snprintf(why, sizeof why, "clEnqueueNDRangeKernel gave %d", (int)result);
    }
    opencl.clReleaseKernel_at(kernel);
    return why[0] ? why : NULL;
}

static inline void opencl_close(void) {
    for (int i = 0; i < opencl.made_count; i++) opencl.clReleaseMemObject_at(opencl.made[i]);
    if (opencl.queue) opencl.clReleaseCommandQueue_at(opencl.queue);
    if (opencl.context) opencl.clReleaseContext_at(opencl.context);
}
#endif
#endif

/* Every CUDA and NVRTC call of a program on the fake driver (tests/fake/libcuda.c) fails once, with each error that the
   driver API documents for it, and from then on, and with a device that is lost. Outputs of failed calls are filled
   with garbage. The conditions are those of opencl.c; the fake driver does not run kernels. */
#define _POSIX_C_SOURCE 200809L
#include "tests/insides.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/faults/program.h"

/* ---- the driver ---- */

/* The documented errors of groups of functions, ended by 0. Those of `any` are errors of almost all functions. */
enum {
    INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, DEINITIALIZED = 4, NO_DEVICE = 100, INVALID_DEVICE = 101,
    INVALID_IMAGE = 200, INVALID_CONTEXT = 201, NO_BINARY_FOR_GPU = 209, INVALID_PTX = 218,
    JIT_COMPILER_NOT_FOUND = 221, UNSUPPORTED_PTX_VERSION = 222, SYMBOL_NOT_FOUND = 302, SHARED_INIT_FAILED = 303,
    INVALID_HANDLE = 400, NOT_FOUND = 500, OUT_OF_RESOURCES = 701, LAUNCH_TIMEOUT = 702,
    INCOMPATIBLE_TEXTURING = 703, LAUNCH_FAILED = 719, NOT_PERMITTED = 800, NOT_SUPPORTED = 801, DRIVER_MISMATCH = 803,
    COMPAT_NOT_SUPPORTED = 804, GRAPH_UPDATE_FAILURE = 910, UNKNOWN = 999
};
#define ANY INVALID_VALUE, NOT_INITIALIZED, DEINITIALIZED, INVALID_CONTEXT
static const int any[] = { ANY, 0 }, init[] = { NO_DEVICE, INVALID_VALUE, INVALID_DEVICE, DRIVER_MISMATCH,
                                                COMPAT_NOT_SUPPORTED, UNKNOWN, 0 },
                 device[] = { INVALID_DEVICE, ANY, OUT_OF_MEMORY, UNKNOWN, 0 }, memory[] = { OUT_OF_MEMORY, ANY, 0 },
                 pages[] = { OUT_OF_MEMORY, INVALID_VALUE, INVALID_DEVICE, NOT_INITIALIZED, DEINITIALIZED,
                             NOT_PERMITTED, NOT_SUPPORTED, 0 },
                 stream[] = { INVALID_HANDLE, ANY, NOT_SUPPORTED, 0 },
                 event[] = { INVALID_HANDLE, ANY, OUT_OF_MEMORY, LAUNCH_FAILED, UNKNOWN, 0 },
                 load[] = { INVALID_IMAGE, ANY, OUT_OF_MEMORY, INVALID_PTX, UNSUPPORTED_PTX_VERSION, NOT_FOUND,
                            NO_BINARY_FOR_GPU, SYMBOL_NOT_FOUND, SHARED_INIT_FAILED, JIT_COMPILER_NOT_FOUND, 0 },
                 launch[] = { LAUNCH_FAILED, ANY, INVALID_HANDLE, INVALID_IMAGE, OUT_OF_RESOURCES, LAUNCH_TIMEOUT,
                              INCOMPATIBLE_TEXTURING, SHARED_INIT_FAILED, NOT_FOUND, 0 },
                 graph[] = { OUT_OF_MEMORY, ANY, NOT_SUPPORTED, GRAPH_UPDATE_FAILURE, 0 },
                 nvrtc[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0 }; /* NVRTC_ERROR_ */
enum { MOST_ERRORS = 13 };

static size_t error_index;     /* which of the errors of a function is returned */

/* Returns the error of a call that fails, or 0. */
static int error_of(const char *name, const int *errors) {
    size_t count = 0;
    if (driver.manner == LOST && driver.name && errors != nvrtc) {
        driver.calls++;
        return LAUNCH_FAILED;
    }
    if (!refused(name)) return 0;
    while (errors[count]) count++;
    return driver.manner == LOST && errors != nvrtc ? LAUNCH_FAILED : errors[error_index % count];
}

/* Exported name, parameters, arguments, an output and its size, errors. */
#define CALLS(X) \
    X(cuInit, (unsigned a), (a), NULL, 0, init) \
    X(cuDriverGetVersion, (int *a), (a), a, sizeof *a, any) \
    X(cuDeviceGetCount, (int *a), (a), a, sizeof *a, any) \
    X(cuDeviceGet, (int *a, int b), (a, b), a, sizeof *a, device) \
    X(cuDeviceGetName, (char *a, int b, int c), (a, b, c), a, (size_t)b, device) \
    X(cuDeviceGetUuid_v2, (void *a, int b), (a, b), a, 16, device) \
    X(cuDeviceTotalMem_v2, (size_t *a, int b), (a, b), a, sizeof *a, device) \
    X(cuDeviceGetAttribute, (int *a, int b, int c), (a, b, c), a, sizeof *a, device) \
    X(cuMemGetInfo_v2, (size_t *a, size_t *b), (a, b), a, sizeof *a, any) \
    X(cuMemGetAllocationGranularity, (size_t *a, const vd__cu_allocation *b, int c), (a, b, c), a, sizeof *a, pages) \
    X(cuMemMap, (vd__cu_address a, size_t b, size_t c, vd__cu_object d, unsigned long long e), (a, b, c, d, e), NULL, \
        0, pages) \
    X(cuMemSetAccess, (vd__cu_address a, size_t b, const vd__cu_access *c, size_t d), (a, b, c, d), NULL, 0, pages) \
    X(cuMemHostGetDevicePointer_v2, (vd__cu_address *a, void *b, unsigned c), (a, b, c), a, sizeof *a, any) \
    X(cuMemcpyAsync, (vd__cu_address a, vd__cu_address b, size_t c, void *d), (a, b, c, d), NULL, 0, stream) \
    X(cuMemcpy2DAsync_v2, (const vd__cu_copy_2d *a, void *b), (a, b), NULL, 0, stream) \
    X(cuMemsetD32Async, (vd__cu_address a, unsigned b, size_t c, void *d), (a, b, c, d), NULL, 0, stream) \
    X(cuStreamQuery, (void *a), (a), NULL, 0, event) \
    X(cuStreamSynchronize, (void *a), (a), NULL, 0, event) \
    X(cuStreamWaitEvent, (void *a, void *b, unsigned c), (a, b, c), NULL, 0, stream) \
    X(cuEventElapsedTime, (float *a, void *b, void *c), (a, b, c), a, sizeof *a, event) \
    X(cuEventRecord, (void *a, void *b), (a, b), NULL, 0, event) \
    X(cuModuleGetFunction, (void **a, void *b, const char *c), (a, b, c), a, sizeof *a, load) \
    X(cuFuncGetAttribute, (int *a, int b, void *c), (a, b, c), a, sizeof *a, stream) \
    X(cuFuncSetAttribute, (void *a, int b, int c), (a, b, c), NULL, 0, stream) \
    X(cuLaunchKernel, (void *a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f, unsigned g, unsigned h, \
        void *i, void **j, void **k), (a, b, c, d, e, f, g, h, i, j, k), NULL, 0, launch) \
    X(cuStreamIsCapturing, (void *a, int *b), (a, b), b, sizeof *b, stream) \
    X(cuStreamWriteValue64_v2, (void *a, vd__cu_address b, unsigned long long c, unsigned d), (a, b, c, d), NULL, 0, \
        stream) \
    X(cuModuleGetFunctionCount, (unsigned *a, void *b), (a, b), a, sizeof *a, any) \
    X(cuModuleEnumerateFunctions, (void **a, unsigned b, void *c), (a, b, c), a, sizeof *a, any) \
    X(cuFuncLoad, (void *a), (a), NULL, 0, load) \
    X(cuFuncGetParamInfo, (void *a, size_t b, size_t *c, size_t *d), (a, b, c, d), c, sizeof *c, any) \
    X(cuGraphAddKernelNode, (void **a, void *b, void *const *c, size_t d, const vd__cu_kernel_node *e), \
        (a, b, c, d, e), a, sizeof *a, graph) \
    X(cuGraphAddMemcpyNode, (void **a, void *b, void *const *c, size_t d, const vd__cu_copy_3d *e, void *f), \
        (a, b, c, d, e, f), a, sizeof *a, graph) \
    X(cuGraphAddMemsetNode, (void **a, void *b, void *const *c, size_t d, const vd__cu_fill_node *e, void *f), \
        (a, b, c, d, e, f), a, sizeof *a, graph) \
    X(cuGraphAddEmptyNode, (void **a, void *b, void *const *c, size_t d), (a, b, c, d), a, sizeof *a, graph) \
    X(cuGraphExecKernelNodeSetParams, (void *a, void *b, const vd__cu_kernel_node *c), (a, b, c), NULL, 0, graph) \
    X(cuGraphLaunch, (void *a, void *b), (a, b), NULL, 0, launch) \
    X(nvrtcVersion, (int *a, int *b), (a, b), a, sizeof *a, nvrtc) \
    X(nvrtcGetNumSupportedArchs, (int *a), (a), a, sizeof *a, nvrtc) \
    X(nvrtcGetSupportedArchs, (int *a), (a), a, sizeof *a, nvrtc) \
    X(nvrtcCompileProgram, (void *a, int b, const char *const *c), (a, b, c), NULL, 0, nvrtc) \
    X(nvrtcGetProgramLogSize, (void *a, size_t *b), (a, b), b, sizeof *b, nvrtc) \
    X(nvrtcGetProgramLog, (void *a, char *b), (a, b), b, 1, nvrtc) \
    X(nvrtcGetCUBINSize, (void *a, size_t *b), (a, b), b, sizeof *b, nvrtc) \
    X(nvrtcGetCUBIN, (void *a, char *b), (a, b), b, 1, nvrtc) \
    X(nvrtcGetPTXSize, (void *a, size_t *b), (a, b), b, sizeof *b, nvrtc) \
    X(nvrtcGetPTX, (void *a, char *b), (a, b), b, 1, nvrtc)

/* Functions that create an object: their first parameter is the output. */
#define MAKERS(X) \
    X(cuDevicePrimaryCtxRetain, (void **a, int b), (a, b), device) \
    X(cuMemAlloc_v2, (vd__cu_address *a, size_t b), (a, b), memory) \
    X(cuMemHostAlloc, (void **a, size_t b, unsigned c), (a, b, c), memory) \
    X(cuMemAddressReserve, (vd__cu_address *a, size_t b, size_t c, vd__cu_address d, unsigned long long e), \
        (a, b, c, d, e), pages) \
    X(cuMemCreate, (vd__cu_object *a, size_t b, const vd__cu_allocation *c, unsigned long long d), (a, b, c, d), \
        pages) \
    X(cuStreamCreate, (void **a, unsigned b), (a, b), memory) \
    X(cuEventCreate, (void **a, unsigned b), (a, b), memory) \
    X(cuModuleLoadDataEx, (void **a, const void *b, unsigned c, int *d, void **e), (a, b, c, d, e), load) \
    X(cuGraphCreate, (void **a, unsigned b), (a, b), graph) \
    X(cuGraphInstantiateWithFlags, (void **a, void *b, unsigned long long c), (a, b, c), graph) \
    X(nvrtcCreateProgram, (void **a, const char *b, const char *c, int d, const char *const *e, \
        const char *const *f), (a, b, c, d, e, f), nvrtc)

/* Functions that destroy one: parameters, arguments, its handle. The library cannot handle their failure. */
#define DESTROYERS(X) \
    X(cuDevicePrimaryCtxRelease_v2, (int a), (a), (uint64_t)a + 1) \
    X(cuMemFree_v2, (vd__cu_address a), (a), a) \
    X(cuMemFreeHost, (void *a), (a), (uintptr_t)a) \
    X(cuMemAddressFree, (vd__cu_address a, size_t b), (a, b), a) \
    X(cuMemRelease, (vd__cu_object a), (a), a) \
    X(cuStreamDestroy_v2, (void *a), (a), (uintptr_t)a) \
    X(cuEventDestroy_v2, (void *a), (a), (uintptr_t)a) \
    X(cuModuleUnload, (void *a), (a), (uintptr_t)a) \
    X(cuGraphDestroy, (void *a), (a), (uintptr_t)a) \
    X(cuGraphExecDestroy, (void *a), (a), (uintptr_t)a) \
    X(nvrtcDestroyProgram, (void **a), (a), (uintptr_t)*a)

#define CALL(name, parameters, arguments, output, size, errors) \
    static int (*real_##name) parameters; \
    static int fault_##name parameters { \
        int error = error_of(#name, errors); \
        if (error) poison(output, size); \
        return error ? error : real_##name arguments; \
    }
CALLS(CALL)

#define MAKER(name, parameters, arguments, errors) \
    static int (*real_##name) parameters; \
    static int fault_##name parameters { \
        int error = error_of(#name, errors); \
        if (error) poison(a, sizeof *a); \
        else error = real_##name arguments; \
        if (!error) driver.live++; \
        return error; \
    }
MAKERS(MAKER)

#define DESTROYER(name, parameters, arguments, handle) \
    static int (*real_##name) parameters; \
    static int fault_##name parameters { return destroyed(handle) ? real_##name arguments : INVALID_VALUE; }
DESTROYERS(DESTROYER)

#ifdef __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Objects are destroyed in the context: without one, those of the fake driver are left, so this call does not fail
   under the sanitizers. A lost device does not change which context is current. */
static int (*real_cuCtxPushCurrent_v2)(void *context);
static int fault_cuCtxPushCurrent_v2(void *context) {
    int error = driver.manner == LOST || SANITIZED ? 0 : error_of("cuCtxPushCurrent_v2", any);
    driver.may_leak |= error != 0;
    return error ? error : real_cuCtxPushCurrent_v2(context);
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
#define REPLACE_1(call, parameters, arguments, output, size, errors) REPLACE(call)
#define REPLACE_2(call, parameters, arguments, errors) REPLACE(call)
    CALLS(REPLACE_1)
    MAKERS(REPLACE_2)
    DESTROYERS(REPLACE_2)
    REPLACE(cuCtxPushCurrent_v2)
    return found;
}

/* ---- the tests ---- */

/* With scopes, commands of graphs are executed one by one; without, as graphs of the driver. */
static void refuse_with_errors(uint64_t disable, int manners, size_t first, size_t end) {
    vd_context_desc desc;
    long runs;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_CUDA;
    desc.queues = 2;
    desc.profile = !disable;
    desc.disable = disable;
    for (error_index = first; error_index < end; error_index++) {
        long errors = refuse_each(&desc, manners, false, &runs);
        assert_true(errors > runs / (2 * MANNERS)); /* the last calls only destroy */
    }
}

static void calls_fail_in_each_manner(void **state) {
    (void)state;
    refuse_with_errors(0, MANNERS, 0, 1);
}

static void calls_fail_with_each_error(void **state) {
    (void)state;
    refuse_with_errors(0, 1, 1, MOST_ERRORS);
}

static void calls_of_graphs_fail_in_each_manner(void **state) {
    (void)state;
    refuse_with_errors(VD_FEATURE_TIMESTAMP, MANNERS, 0, 1);
}

static void calls_of_graphs_fail_with_each_error(void **state) {
    (void)state;
    refuse_with_errors(VD_FEATURE_TIMESTAMP, 1, 1, MOST_ERRORS);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(calls_fail_in_each_manner),
                                        cmocka_unit_test(calls_fail_with_each_error),
                                        cmocka_unit_test(calls_of_graphs_fail_in_each_manner),
                                        cmocka_unit_test(calls_of_graphs_fail_with_each_error) };
    const char *end = argc > 0 ? strrchr(argv[0], '/') : NULL;
    char fake[512];
    snprintf(fake, sizeof fake, "%.*s/../fake/libcuda.so", end ? (int)(end - argv[0]) : 1, end ? argv[0] : ".");
    setenv("VKDISPATCH_LIBCUDA", fake, 1);
    setenv("VKDISPATCH_NVRTC", fake, 1);
    kernels_run = false;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

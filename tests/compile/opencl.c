/* Compares the OpenCL declarations of vkdispatch.h with the OpenCL headers: each function can be assigned to our
   pointer type, and each constant is equal. With VKDISPATCH_TEST_HEADERS_LAST the headers are included after the
   implementation. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#ifndef VKDISPATCH_TEST_HEADERS_LAST
#include <CL/cl.h>
#include <CL/cl_ext.h>
#endif

#define VKDISPATCH_OPENCL
#define VKDISPATCH_NO_VULKAN
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"

#ifdef VKDISPATCH_TEST_HEADERS_LAST
#include <CL/cl.h>
#include <CL/cl_ext.h>
#endif

#define SAME_NUMBER(name, value) \
    typedef char same_##name[(long long)CL_##name == (long long)(value) ? 1 : -1] VD__UNUSED;
#define SAME_ERROR(name, value, result) SAME_NUMBER(name, value)

/* Not linked with libOpenCL, so nothing here is evaluated. */
#define SAME_FUNCTION(result, name, args) (void)sizeof(table.name = name);

int main(void) {
    vd__cl_driver table;
    VD__CL_NUMBERS(SAME_NUMBER)
    VD__CL_ERRORS(SAME_ERROR)
    VD__CL_FUNCTIONS(SAME_FUNCTION)
    VD__CL_FUNCTIONS_2_0(SAME_FUNCTION)
    (void)sizeof table;
    vd_context *ctx = NULL;
    vd_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_OPENCL;
    vd_result r = vd_context_create(&desc, &ctx); /* succeeds, or fails with a message */
    int ok = r ? vd_error_text()[0] != 0 : vd_device(ctx, 0)->backend == VD_BACKEND_OPENCL;
    vd_context_destroy(ctx);
    return sizeof(vd__cl_region) == sizeof(cl_buffer_region) && ok ? 0 : 1;
}

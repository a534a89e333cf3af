/* Programs with kernels in GLSL and HLSL. They have their own implementation, because only programs with
   VKDISPATCH_GLSLANG link glslang. */
#ifndef CONFORMANCE_GLSL_H
#define CONFORMANCE_GLSL_H

#define _POSIX_C_SOURCE 200809L
#if defined(__has_include)
#if __has_include(<glslang/Include/glslang_c_interface.h>)
#define VKDISPATCH_GLSLANG
#endif
#endif
#define VKDISPATCH_STATIC
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#include "tests/conformance/common.h"

static inline vd_kernel_desc code_desc(vd_code kind, const char *code) {
    vd_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.name = "blur";
    d.code_kind = kind;
    d.code = code;
    return d;
}

/* Skips if the backend does not accept SPIR-V, and therefore no GLSL, or if glslang is missing: both must be named. */
static inline void needs_glsl(fixture *f) {
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, "void main() {}");
    vd_kernel k = vd_kernel_create(f->ctx, &d);
    if (f->backend != VD_BACKEND_VULKAN && f->backend != VD_BACKEND_DUMMY) {
        if (k.id || !strstr(vd_error_text(), "desc.code_kind is GLSL (6), but backend")) fail_msg("%s", vd_error_text());
        skip_because("the backend takes no SPIR-V");
    }
#ifndef VKDISPATCH_GLSLANG
    if (k.id || !strstr(vd_error_text(), "define VKDISPATCH_GLSLANG")) fail_msg("%s", vd_error_text());
    skip_because("glslang's headers are not here (Debian: glslang-dev)");
#endif
    if (!k.id) fail_msg("%s", vd_error_text());
    vd_kernel_destroy(f->ctx, k);
}

static inline vd_kernel kernel_of(fixture *f, const vd_kernel_desc *desc) {
    vd_kernel k = vd_kernel_create(f->ctx, desc);
    if (!k.id) fail_msg("%s", vd_error_text());
    return k;
}

#endif

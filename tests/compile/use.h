/* Calls of each header for the compile matrix: enough to be linked and run without a driver. C99 and C++11. */
#include <stdio.h>
#include <string.h>

#ifdef USE_RUNTIME
static int use_runtime(void)
{
    vd_context_desc desc;
    vd_context *context = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    if (vd_context_create(&desc, &context) != VD_OK) {
        printf("%s\n", vd_error_text());
        return 1;
    }
    vd_context_destroy(context);
    return 0;
}
#endif

#ifdef USE_CODEGEN
/* `without`: the macro that excludes the target, NULL if it is not defined. */
static int use_target(vc_target target, const char *without)
{
    vc_kernel *kernel = vc_begin(NULL);
    vc_ref x = vc_buffer(kernel, "x", VC_F32, VC_READ_WRITE);
    const char *text;
    int failed;
    VC_EACH(kernel, i) { vc_store(x, i, vc_neg(vc_load(x, i))); }
    text = vc_source(kernel, target);
    failed = without ? text != NULL || vc_error(kernel) == NULL || strstr(vc_error(kernel), without) == NULL : text
        == NULL;
    if (failed) printf("target %d: %s\n", (int)target, vc_error(kernel) ? vc_error(kernel) : "is not left out");
    vc_free(kernel);
    return failed;
}

static int use_targets(void)
{
    const char *glsl = NULL, *cuda = NULL, *opencl = NULL;
#ifdef VKDISPATCH_NO_GLSL
    glsl = "VKDISPATCH_NO_GLSL";
#endif
#ifdef VKDISPATCH_NO_CUDA_C
    cuda = "VKDISPATCH_NO_CUDA_C";
#endif
#ifdef VKDISPATCH_NO_OPENCL_C
    opencl = "VKDISPATCH_NO_OPENCL_C";
#endif
    return use_target(VC_TARGET_GLSL, glsl) | use_target(VC_TARGET_CUDA, cuda) | use_target(VC_TARGET_OPENCL, opencl);
}

static int use_codegen(void)
{
    vc_kernel_desc desc;
    vc_kernel *kernel;
    vc_ref x;
    size_t words = 0;
    int failed;
    memset(&desc, 0, sizeof desc);
    desc.name = "double_it";
    kernel = vc_begin(&desc);
    x = vc_buffer(kernel, "x", VC_F32, VC_READ_WRITE);
    VC_EACH(kernel, i) { vc_store(x, i, vc_mul(vc_load(x, i), vc_f32(2.0f))); }
    VC_FOR(kernel, round, vc_u32(0), vc_u32(2)) { vc_barrier(kernel); } /* the counter is unused */
    vc_printf(kernel, "done\n");
    vc_printf(kernel, "%u of %u\n", vc_global_id(kernel, 0), vc_threads(kernel, 0));
    vc_assert(kernel, vc_lt(vc_global_id(kernel, 0), vc_length(x)), "the buffer is long enough");
    failed = vc_error(kernel) != NULL || vc_spirv(kernel, &words) == NULL || words == 0;
    if (failed) printf("%s\n", vc_error(kernel));
    vc_free(kernel);
    return failed;
}
#endif

/* For both implementations in one translation unit, in either order. */
#ifdef USE_GLUE
#ifdef VKDISPATCH_NO_IMAGES
/* Kernels with images are refused. */
static int use_no_images(vd_context *context)
{
    vc_kernel *builder = vc_begin(NULL);
    vc_val i = vc_global_id(builder, 0);
    vc_ref x = vc_buffer(builder, "x", VC_U32, VC_WRITE);
    vd_kernel kernel;
    int failed;
    vc_store(x, i, vc_component(vc_image_size(vc_image(builder, "picture", NULL), vc_u32(0)), 0));
    kernel = vd_kernel_build(context, builder);
    failed = kernel.id != 0 || vd_error_result() != VD_ERROR_UNSUPPORTED || !strstr(vd_error_text(), "image");
    if (failed) printf("images are not left out: %s\n", vd_error_text());
    failed |= (vd_device(context, 0)->features & VD_FEATURE_IMAGE) != 0;
    vc_free(builder);
    return failed;
}
#endif

static int use_glue(void)
{
    vd_context_desc desc;
    vd_buffer_desc numbers;
    vd_context *context = NULL;
    vc_kernel *builder = vc_begin(NULL);
    vc_ref x = vc_buffer(builder, "x", VC_F32, VC_READ_WRITE);
    vd_kernel kernel;
    int failed;
    VC_EACH(builder, i) { vc_store(x, i, vc_neg(vc_load(x, i))); }
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    if (vd_context_create(&desc, &context) != VD_OK) return 1;
    memset(&numbers, 0, sizeof numbers);
    numbers.type = VD_F32;
    numbers.shape[0] = 10;
    kernel = vd_kernel_build(context, builder);
    failed = vd_run(context, kernel, 10, vd_b(vd_buffer_create(context, &numbers))) != VD_OK;
    if (failed) printf("%s\n", vd_error_text());
#ifdef __cplusplus
    /* compiles, but the argument is missing at run time */
    failed |= vd_run(context, kernel, 10) == VD_OK || vd_run2(context, kernel, 10, 2) == VD_OK;
#endif
#ifdef VKDISPATCH_NO_IMAGES
    failed |= use_no_images(context);
#endif
    vc_free(builder);
    vd_context_destroy(context);
    return failed;
}
#endif

#ifdef USE_FFT
static int use_fft(void)
{
    vd_context_desc desc;
    vd_buffer_desc numbers;
    vd_context *context = NULL;
    vd_buffer buffer;
    int failed;
    memset(&desc, 0, sizeof desc);
    memset(&numbers, 0, sizeof numbers);
    desc.backend = VD_BACKEND_DUMMY;
    numbers.type = VD_F32X2;
    numbers.shape[0] = 30;
    if (vd_context_create(&desc, &context) != VD_OK) return 1;
    buffer = vd_buffer_create(context, &numbers);
    failed = vd_fft_forward(context, buffer) != VD_OK || vd_wait_idle(context) != VD_OK || vd_fft_good_size(11) != 12;
    if (failed) printf("%s\n", vd_error_text());
    vd_context_destroy(context);
    return failed;
}
#endif

int main(void)
{
    int failed = 0;
#ifdef USE_RUNTIME
    failed |= use_runtime();
#endif
#ifdef USE_CODEGEN
    failed |= use_codegen();
    failed |= use_targets();
#endif
#ifdef USE_GLUE
    failed |= use_glue();
#endif
#ifdef USE_FFT
    failed |= use_fft();
#endif
    return failed;
}

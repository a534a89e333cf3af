/* A builder without GLSL and CUDA C: the other targets print the same bytes, and asking for these two says why they are
   missing. */
#define VKDISPATCH_NO_GLSL
#define VKDISPATCH_NO_CUDA_C
#include "tests/unit/unit.h"
#include "tests/golden/kernels.h"

#include <inttypes.h>

static FILE *expected(const char *sample, const char *suffix) {
    char path[200];
    FILE *f;
    snprintf(path, sizeof path, "tests/golden/expected/%s.%s", sample, suffix);
    f = fopen(path, "rb");
    if (!f) fail_msg("no %s", path);
    return f;
}

static void same_text(const char *sample, const char *suffix, const char *text) {
    FILE *f = expected(sample, suffix);
    assert_non_null(text);
    for (size_t i = 0; text[i]; i++)
        if (fgetc(f) != (unsigned char)text[i]) fail_msg("%s.%s differs from byte %u on", sample, suffix, (unsigned)i);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

static void same_words(const char *sample, const char *suffix, const uint32_t *words, size_t count) {
    FILE *f = expected(sample, suffix);
    uint32_t want;
    assert_non_null(words);
    for (size_t i = 0; i < count; i++)
        if (fscanf(f, "%" SCNx32, &want) != 1 || want != words[i])
            fail_msg("%s.%s differs from word %u on", sample, suffix, (unsigned)i);
    assert_int_equal(fscanf(f, "%" SCNx32, &want), EOF);
    fclose(f);
}

static void remaining_targets_print_the_same_bytes(void **state) {
    (void)state;
    for (size_t i = 0; i < KERNEL_SAMPLES; i++) {
        const char *name = kernel_samples[i].name;
        for (int form = VC_BUFFERS_ADDRESS; form <= VC_BUFFERS_BINDING; form++) {
            vc_kernel *k = kernel_sample_make(&kernel_samples[i], (vc_buffers)form);
            size_t count;
            const uint32_t *words = vc_spirv(k, &count);
            same_words(name, form == VC_BUFFERS_ADDRESS ? "address.spvhex" : "binding.spvhex", words, count);
            same_text(name, "cl", vc_source(k, VC_TARGET_OPENCL));
            if (form == VC_BUFFERS_ADDRESS) same_text(name, "dump", vc_dump(k));
            assert_true(vc_hash(k) != 0);
            vc_free(k);
        }
    }
}

static void left_out_told(vc_kernel *k, const char *sentence) {
    assert_string_equal(vc_error(k), sentence);
    assert_non_null(vc_spirv(k, NULL)); /* the kernel stays valid */
    assert_null(vc_error(k));
    vc_free(k);
}

static void missing_targets_say_why(void **state) {
    (void)state;
    vc_kernel *k = kernel_sample_make(&kernel_samples[0], VC_BUFFERS_DEFAULT);
    assert_string_equal(vc_reflect_for(k, VC_TARGET_SPIRV)->entry, "main");
    assert_string_equal(vc_reflect_for(k, VC_TARGET_OPENCL)->entry, "saxpy");
    assert_null(vc_source(k, VC_TARGET_GLSL));
    left_out_told(k, "vc_source in kernel 'saxpy': GLSL is disabled in this program by VKDISPATCH_NO_GLSL");
    k = kernel_sample_make(&kernel_samples[0], VC_BUFFERS_DEFAULT);
    assert_null(vc_source(k, VC_TARGET_CUDA));
    left_out_told(k, "vc_source in kernel 'saxpy': CUDA C is disabled in this program by VKDISPATCH_NO_CUDA_C");
    k = kernel_sample_make(&kernel_samples[0], VC_BUFFERS_DEFAULT);
    assert_null(vc_reflect_for(k, VC_TARGET_CUDA));
    left_out_told(k, "vc_reflect_for in kernel 'saxpy': CUDA C is disabled in this program by VKDISPATCH_NO_CUDA_C");
    assert_null(vc_source(NULL, VC_TARGET_CUDA));
    k = kernel_sample_make(&kernel_samples[0], VC_BUFFERS_DEFAULT);
    assert_null(vc_source(k, VC_TARGET_SPIRV));
    left_out_told(k, "vc_source in kernel 'saxpy': target is 1, but must be VC_TARGET_GLSL, VC_TARGET_CUDA or VC_TARGET_OPENCL");
}

/* On a fake driver (tests/fake/libcuda.c). The backend works for kernels that come as text or cubin; kernels of this
   builder are refused and stay valid. */
static void the_cuda_backend_refuses_kernels_of_this_builder(void **state) {
    (void)state;
    vc_kernel *k = kernel_sample_make(&kernel_samples[0], VC_BUFFERS_DEFAULT);
    vd_context_desc desc;
    vd_context *ctx = NULL;
    setenv("VKDISPATCH_LIBCUDA", unit_fake_cuda, 1);
    setenv("VKDISPATCH_NVRTC", unit_fake_cuda, 1);
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_CUDA;
    if (vd_context_create(&desc, &ctx)) fail_msg("%s", vd_error_text());
    assert_true(vd_kernel_build(ctx, k).id == 0);
    CHECK_TEXT("vd_kernel_build 'saxpy': device '");
    CHECK_TEXT("' requires CUDA C, which is disabled in this program by VKDISPATCH_NO_CUDA_C");
    assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
    assert_true(vd_kernel_build(ctx, NULL).id == 0);
    CHECK_TEXT("the kernel is NULL");
    vd_context_destroy(ctx);
    assert_null(vc_error(k));
    ctx = unit_context(NULL);
    assert_true(vd_kernel_build(ctx, k).id != 0);
    vd_context_destroy(ctx);
    vc_free(k);
}

static const struct CMUnitTest left_out_tests[] = {
    cmocka_unit_test(remaining_targets_print_the_same_bytes), cmocka_unit_test(missing_targets_say_why),
    cmocka_unit_test(the_cuda_backend_refuses_kernels_of_this_builder),
};

int main(int argc, char **argv) {
    const unit_file file = UNIT_FILE(left_out);
    return unit_run(&file, 1, argc, argv);
}

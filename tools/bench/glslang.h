/* Compiles GLSL text to SPIR-V with glslang, if its headers are installed, and measures the time. Requires bench.h
   and a function die(what, why) that ends the program. Call between glslang_initialize_process and
   glslang_finalize_process. */
#ifndef BENCH_GLSLANG_H
#define BENCH_GLSLANG_H

#if defined(__has_include)
#if __has_include(<glslang/Include/glslang_c_interface.h>)
#define HAS_GLSLANG 1
#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#endif
#endif
#ifndef HAS_GLSLANG
#define HAS_GLSLANG 0
#endif

#define NO_GLSLANG "glslang's headers are not here (Debian: glslang-dev)"

typedef struct module {
    uint32_t *words;
    size_t count;
    double seconds;
} module;

static module module_copy(const uint32_t *words, size_t count) {
    module m = { (uint32_t *)malloc(4 * count + 4), count, 0 };
    if (!m.words) die("malloc", "");
    memcpy(m.words, words, 4 * count);
    return m;
}

#if HAS_GLSLANG
static module glslang_compile(const char *source) {
    double start = bench_busy();
    glslang_input_t input;
    memset(&input, 0, sizeof input);
    input.language = GLSLANG_SOURCE_GLSL;
    input.stage = GLSLANG_STAGE_COMPUTE;
    input.client = GLSLANG_CLIENT_VULKAN;
    input.client_version = GLSLANG_TARGET_VULKAN_1_2;
    input.target_language = GLSLANG_TARGET_SPV;
    input.target_language_version = GLSLANG_TARGET_SPV_1_3;
    input.code = source;
    input.default_version = 450;
    input.default_profile = GLSLANG_NO_PROFILE;
    input.messages = GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT;
    input.resource = glslang_default_resource();
    glslang_shader_t *shader = glslang_shader_create(&input);
    if (!glslang_shader_preprocess(shader, &input) || !glslang_shader_parse(shader, &input))
        die("glslang", glslang_shader_get_info_log(shader));
    glslang_program_t *program = glslang_program_create();
    glslang_program_add_shader(program, shader);
    if (!glslang_program_link(program, GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT))
        die("glslang", glslang_program_get_info_log(program));
    glslang_program_SPIRV_generate(program, GLSLANG_STAGE_COMPUTE);
    module m = module_copy((const uint32_t *)glslang_program_SPIRV_get_ptr(program),
                           glslang_program_SPIRV_get_size(program));
    glslang_program_delete(program);
    glslang_shader_delete(shader);
    m.seconds = bench_busy() - start;
    return m;
}
#endif

#endif /* BENCH_GLSLANG_H */

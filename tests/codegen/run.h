/* Builds, validates and runs kernels in several forms, for tests whose oracle checks a whole dispatch. Include after
   ../kernels.h. Macros of the including file:
   RUN_DISABLE, RUN_DISABLE_MORE: additional features to run without. RUN_OPENCL: run through OpenCL too.
   RUN_NVRTC: compile the CUDA C of everything that runs by address, if NVRTC is installed, many kernels in a program.
   With RUN_NVRTC=0 in the environment the text is only generated. */
#ifndef TESTS_CODEGEN_RUN_H
#define TESTS_CODEGEN_RUN_H
#include "from_code.h"

enum { RUN_BUFFERS = 6 };

#if defined(RUN_NVRTC)
#include "nvrtc.h"
enum { RUN_BATCH = 24 };
typedef struct RunCuda { char *text, name[96]; } RunCuda; /* one kernel that waits to be compiled */
static bool run_nvrtc;
static RunCuda run_cuda[RUN_BATCH];
static int run_cuda_count;
#endif

typedef struct Form {
    const char *name; vc_buffers buffers; bool glsl; uint64_t disable; vd_context *ctx; vd_backend backend;
} Form;
static Form forms[] = {
#if defined(RUN_OPENCL)
    { "opencl", VC_BUFFERS_BINDING, false, 0, NULL, VD_BACKEND_OPENCL },
#endif
#if defined(RUN_DISABLE)
    { "without", VC_BUFFERS_ADDRESS, false, RUN_DISABLE, NULL, VD_BACKEND_VULKAN },
    { "without glsl", VC_BUFFERS_BINDING, true, RUN_DISABLE, NULL, VD_BACKEND_VULKAN },
#endif
#if defined(RUN_DISABLE_MORE)
    { "without more", VC_BUFFERS_ADDRESS, false, RUN_DISABLE_MORE, NULL, VD_BACKEND_VULKAN },
#endif
    { "address", VC_BUFFERS_ADDRESS, false, 0, NULL, VD_BACKEND_VULKAN },
    { "binding", VC_BUFFERS_BINDING, false, VD_FEATURE_ADDRESS, NULL, VD_BACKEND_VULKAN },
    { "glsl", VC_BUFFERS_BINDING, true, 0, NULL, VD_BACKEND_VULKAN }
};
enum { FORMS = sizeof forms / sizeof *forms };

typedef void (*Build)(void *user, vc_kernel *k);
typedef struct Run {
    const char *name;
    const Form *form;
    uint32_t threads, local; /* along axis 0 */
    uint32_t rows;           /* threads and local size along axis 1; 0 means 1 */
    Build build;
    void *user;
    int count;
    vd_buffer buffer[RUN_BUFFERS];
    void *out[RUN_BUFFERS];
    bool fast;
    vd_type value_type; /* one more argument, passed by value; VD_BYTES: none */
    const void *value;
} Run;

static const char *run_filter;
static bool run_verbose;
static long run_kernels, run_passed, run_failed, run_skipped, run_sampled;
static uint64_t run_lacking;

static inline Run run_begin(const char *name, int form, uint32_t threads, uint32_t local, Build build, void *user) {
    Run r;
    memset(&r, 0, sizeof r);
    r.name = name;
    r.form = &forms[form];
    r.threads = threads;
    r.local = local;
    r.build = build;
    r.user = user;
    return r;
}

/* `out` receives the contents after the run; may be NULL. */
static inline void run_buffer(Run *r, vc_type type, uint32_t elements, const void *data, void *out) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.type = type;
    desc.shape[0] = elements;
    desc.data = data;
    r->out[r->count] = out;
    if (r->form->ctx) r->buffer[r->count] = vd_buffer_create(r->form->ctx, &desc);
    r->count++;
}

static inline void run_fail(const Run *r, const char *why) {
    printf("  %s %s: %s\n", r->name, r->form->name, why);
    run_failed++;
}

static inline void run_judge(const Run *r, bool good) {
    if (good) run_passed++; else run_fail(r, "wrong");
    fflush(stdout);
}

#if defined(RUN_NVRTC)
/* Compiles the CUDA C of the kernels that wait as one program; if that fails, one by one. */
static inline void run_compile_cuda(void) {
    size_t size = 1;
    for (int i = 0; i < run_cuda_count; i++) size += strlen(run_cuda[i].text) + 1;
    char *all = (char *)malloc(size), *to = all;
    if (!all) exit(2);
    *to = 0;
    for (int i = 0; i < run_cuda_count; i++) to += sprintf(to, "%s\n", run_cuda[i].text);
    const bool good = !nvrtc_wrong(all);
    long wrong = 0;
    for (int i = 0; i < run_cuda_count; i++) {
        const char *why = good ? NULL : nvrtc_wrong(run_cuda[i].text);
        if (why) printf("  %s CUDA C: %s\n", run_cuda[i].name, why), wrong++;
        free(run_cuda[i].text);
    }
    if (!good && !wrong) printf("  CUDA C: %d kernels compile, but not in one program\n", run_cuda_count), wrong++;
    run_failed += wrong;
    free(all);
    run_cuda_count = 0;
}

static inline void run_add_cuda(const Run *r, const char *text) {
    RunCuda *c = &run_cuda[run_cuda_count++];
    c->text = (char *)malloc(strlen(text) + 1);
    if (!c->text) exit(2);
    strcpy(c->text, text);
    snprintf(c->name, sizeof c->name, "%.90s", r->name);
    if (run_cuda_count == RUN_BATCH) run_compile_cuda();
}
#endif

static inline bool run_dispatch(const Run *r, vd_kernel kernel) {
    vd_arg args[RUN_BUFFERS + 1];
    vd_dispatch_desc d;
    memset(&d, 0, sizeof d);
    for (int i = 0; i < r->count; i++) args[i] = vd_b(r->buffer[i]);
    d.kernel = kernel;
    d.threads[0] = r->threads;
    d.threads[1] = r->rows;
    d.args = args;
    d.arg_count = r->count;
    if (r->value_type) args[d.arg_count++] = vd_value(r->value_type, r->value);
    if (vd_dispatch(vd_immediate(r->form->ctx, 0, 0), &d) != VD_OK) return false;
    for (int i = 0; i < r->count; i++)
        if (r->out[i] && vd_buffer_read(r->form->ctx, r->buffer[i], 0, r->out[i], VD_WHOLE) != VD_OK) return false;
    return true;
}

/* Creates the kernel. Returns {0} with the reason on failure; the reason is NULL if a device feature or the device
   is missing. */
static inline vd_kernel run_make(const Run *r, vc_kernel *k, const char **why) {
    vd_kernel made = { 0 };
    size_t words = 0;
    const uint32_t *code;
    const char *text;
    *why = vc_error(k);
    if (*why) return made;
    code = vc_spirv(k, &words);
    text = vc_source(k, VC_TARGET_GLSL);
    if (!code || !text) { *why = vc_error(k) ? vc_error(k) : "no code"; return made; }
    const bool sampled = is_sampled(run_kernels++);
    run_sampled += sampled;
    if (sampled) *why = spirv_wrong(code, words);
    if (sampled && !*why) *why = glsl_wrong(text);
    if (*why) return made;
#if defined(RUN_NVRTC)
    if (!strcmp(r->form->name, "address")) {
        text = vc_source(k, VC_TARGET_CUDA);
        if (!text) { *why = vc_error(k); return made; }
        if (run_nvrtc && sampled) run_add_cuda(r, text);
    }
#endif
    if (!sampled) return made;
    if (!r->form->ctx) { run_skipped++; return made; }
    const bool opencl = r->form->backend == VD_BACKEND_OPENCL;
    const vc_info *info = opencl ? vc_reflect_for(k, VC_TARGET_OPENCL) : vc_reflect(k);
    if (!info) { *why = vc_error(k); return made; }
    uint64_t lacks = info->features & ~vd_device(r->form->ctx, 0)->features;
    if (lacks) { run_lacking |= lacks; run_skipped++; return made; }
#if defined(TESTS_HAVE_GLSLANG)
    if (r->form->glsl) made = kernel_from_code(r->form->ctx, info, VD_CODE_SPIRV, glsl_words, glsl_count * 4); else
#endif
    if (opencl) made = kernel_from_code(r->form->ctx, info, VD_CODE_OPENCL, vc_source(k, VC_TARGET_OPENCL), 0);
    else made = vd_kernel_build(r->form->ctx, k);
    if (!made.id) *why = vd_error_text();
    return made;
}

/* Builds, validates and runs. Returns whether there are results to check. */
static inline bool run_end(Run *r) {
    const char *why = NULL;
    bool ran = false;
    if (!run_filter || strstr(r->name, run_filter)) {
        vc_kernel_desc desc;
        memset(&desc, 0, sizeof desc);
        char name[96]; /* distinct within 48 characters: CUDA C of several kernels is one program */
        snprintf(name, sizeof name, "k%ld %.60s", run_kernels, r->name);
        desc.name = name;
        desc.local_size[0] = r->local;
        desc.local_size[1] = r->rows;
        desc.buffers = r->form->buffers;
        desc.fast = r->fast;
        if (r->form->ctx) desc.machine = machine_with_all_types(r->form->ctx);
        if (run_verbose) printf("%s %s\n", r->name, r->form->name);
        vc_kernel *k = vc_begin(&desc);
        r->build(r->user, k);
        vd_kernel kernel = run_make(r, k, &why);
        if (kernel.id) ran = run_dispatch(r, kernel);
        if (kernel.id && !ran) why = vd_error_text();
        if (why) run_fail(r, why);
        if (kernel.id) vd_kernel_destroy(r->form->ctx, kernel);
        vc_free(k);
    }
    for (int i = 0; i < r->count; i++) if (r->buffer[i].id) vd_buffer_destroy(r->form->ctx, r->buffer[i]);
    return ran;
}

static inline void run_open(int count, char **args) {
    for (int i = 1; i < count; i++) if (!strcmp(args[i], "-v")) run_verbose = true; else run_filter = args[i];
    for (int i = 0; i < FORMS; i++) {
        vd_context_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.backend = forms[i].backend;
        desc.disable = forms[i].disable;
        if (vd_context_create(&desc, &forms[i].ctx) == VD_OK) continue;
        printf("# reason: %s form not run: %s\n", forms[i].name, vd_error_text());
        forms[i].ctx = NULL;
    }
#if defined(RUN_NVRTC)
    const char *missing = texts_only() ? texts_only() : nvrtc_open();
    run_nvrtc = !missing;
    if (missing) printf("# reason: CUDA C not compiled: %s\n", missing);
#endif
#if !defined(TESTS_HAVE_SPIRV_TOOLS)
    printf("# reason: SPIR-V not validated: no spirv-tools/libspirv.h\n");
#endif
#if !defined(TESTS_HAVE_GLSLANG)
    printf("# reason: GLSL not compiled: no glslang_c_interface.h\n");
    for (int i = 0; i < FORMS; i++) {
        if (!forms[i].glsl) continue;
        vd_context_destroy(forms[i].ctx);
        forms[i].ctx = NULL;
    }
#endif
}

static inline int run_close(void) {
#if defined(RUN_NVRTC)
    if (run_cuda_count) run_compile_cuda();
#endif
    for (uint64_t bit = 1; bit <= run_lacking; bit <<= 1)
        if (run_lacking & bit) printf("# reason: not run for lack of %s\n", vd_feature_name(bit));
    for (int i = 0; i < FORMS; i++) vd_context_destroy(forms[i].ctx);
    if (run_sampled < run_kernels) { /* that the others are built is one test */
        printf("# %ld of %ld kernels were validated and run\n", run_sampled, run_kernels);
        run_passed++;
    }
    printf("%ld kernels built\n%ld passed, %ld failed, %ld skipped\n", run_kernels, run_passed, run_failed,
           run_skipped);
    return run_failed > 0;
}

#endif

/* NVRTC, the CUDA C compiler, loaded at run time if the toolkit is installed. Needs no device and no header. */
#ifndef TESTS_NVRTC_H
#define TESTS_NVRTC_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>
#include <glob.h>

typedef struct NvrtcHandle *NvrtcProgram;
static struct {
    int (*create)(NvrtcProgram *program, const char *text, const char *name, int headers, const char *const *header,
                  const char *const *names);
    int (*compile)(NvrtcProgram program, int count, const char *const *options);
    int (*log_size)(NvrtcProgram program, size_t *size);
    int (*log)(NvrtcProgram program, char *to);
    int (*destroy)(NvrtcProgram *program);
    int (*version)(int *major, int *minor);
    int (*cubin_size)(NvrtcProgram program, size_t *size); /* NULL before CUDA 11.1; so is the next one */
    int (*cubin)(NvrtcProgram program, char *to);
} nvrtc;

static inline void *nvrtc_find(void) {
    static const char *const names[] = { "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", NULL };
    static const char *const places[] = { "/usr/local/cuda*/lib64/libnvrtc.so*", "/usr/local/cuda*/lib/libnvrtc.so*",
                                          "/usr/lib/*/libnvrtc.so*", NULL };
    void *library = NULL;
    for (int i = 0; names[i] && !library; i++) library = dlopen(names[i], RTLD_NOW);
    for (int i = 0; places[i] && !library; i++) {
        glob_t found;
        if (glob(places[i], 0, NULL, &found) != 0) continue;
        for (size_t j = 0; j < found.gl_pathc && !library; j++) library = dlopen(found.gl_pathv[j], RTLD_NOW);
        globfree(&found);
    }
    return library;
}

/* Returns NULL, or why NVRTC is not available. */
static inline const char *nvrtc_open(void) {
    void *library = nvrtc_find();
    int major = 0, minor = 0;
    if (!library) return "no libnvrtc";
    const struct { const char *name; void *to; } functions[] = {
        { "nvrtcCreateProgram", &nvrtc.create }, { "nvrtcCompileProgram", &nvrtc.compile },
        { "nvrtcGetProgramLogSize", &nvrtc.log_size }, { "nvrtcGetProgramLog", &nvrtc.log },
        { "nvrtcDestroyProgram", &nvrtc.destroy }, { "nvrtcVersion", &nvrtc.version }
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *at = dlsym(library, functions[i].name);
        if (!at) return "libnvrtc lacks a function";
        memcpy(functions[i].to, &at, sizeof at);
    }
    void *sizes = dlsym(library, "nvrtcGetCUBINSize"), *codes = dlsym(library, "nvrtcGetCUBIN");
    memcpy(&nvrtc.cubin_size, &sizes, sizeof sizes);
    memcpy(&nvrtc.cubin, &codes, sizeof codes);
    nvrtc.version(&major, &minor);
    printf("# nvrtc: %d.%d\n", major, minor);
    return NULL;
}

/* Compiles to machine code, so that inline PTX is compiled too. Returns NULL, or the log. The caller destroys *made. */
static inline const char *nvrtc_compile(const char *text, NvrtcProgram *made) {
    static const char *const options[] = { "--gpu-architecture=sm_90" };
    static char said[8192];
    size_t size = 0;
    int result = nvrtc.create(made, text, "kernels.cu", 0, NULL, NULL);
    if (result == 0) result = nvrtc.compile(*made, 1, options);
    snprintf(said, sizeof said, "nvrtcCompileProgram gave %d", result);
    if (result != 0 && *made && nvrtc.log_size(*made, &size) == 0 && size > 1) {
        char *log = (char *)malloc(size);
        if (log && nvrtc.log(*made, log) == 0) snprintf(said, sizeof said, "%.8000s", log);
        free(log);
    }
    return result == 0 ? NULL : said;
}

static inline const char *nvrtc_wrong(const char *text) {
    NvrtcProgram made = NULL;
    const char *why = nvrtc_compile(text, &made);
    if (made) nvrtc.destroy(&made);
    return why;
}

/* The caller frees the result. */
static inline void *nvrtc_machine_code(const char *text, size_t *size) {
    NvrtcProgram made = NULL;
    const char *why = nvrtc_compile(text, &made);
    char *code = NULL;
    if (why) fprintf(stderr, "%s\n", why);
    else if (nvrtc.cubin_size(made, size) == 0 && (code = (char *)malloc(*size)) != NULL) nvrtc.cubin(made, code);
    if (made) nvrtc.destroy(&made);
    if (!code) exit(1);
    return code;
}
#endif

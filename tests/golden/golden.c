/* The output for the sample kernels must equal the files in tests/golden/expected byte for byte: GLSL and SPIR-V
   with buffers by address and by binding, CUDA C, OpenCL C, and the dump. `--update` or GOLDEN_UPDATE=1 rewrites the
   files. SPIR-V is compared as hexadecimal words, which needs no tool; the disassembly of spirv-dis next to it is
   for reading. */
#include "vkdispatch_codegen.h"

#include "files.h"
#include "kernels.h"

static bool has_disassembler(void) { return system("spirv-dis --version >/dev/null 2>&1") == 0; }

/* Eight words per line. */
static text hex_of(const uint32_t *words, size_t count) {
    text t = { (char *)malloc(count * 9 + 1), 0 };
    if (!t.at) exit(2);
    for (size_t i = 0; i < count; i++)
        t.length += (size_t)sprintf(t.at + t.length, "%08x%c", (unsigned)words[i], i % 8 == 7 || i + 1 == count
                                    ? '\n' : ' ');
    return t;
}

/* Not compared: the output of spirv-dis depends on its version. */
static void disassemble(const char *path, const uint32_t *words, size_t count) {
    char module[220], command[640];
    snprintf(module, sizeof module, "%s.tmp", path);
    snprintf(command, sizeof command, "spirv-dis --no-color --no-header -o %s %s", path, module);
    if (!write_file(module, words, count * 4) || system(command)) fprintf(stderr, "cannot disassemble to %s\n", path);
    remove(module);
}

static void try_sample(const kernel_sample *sample, vc_buffers buffers, bool update, bool disassembler) {
    const char *form = buffers == VC_BUFFERS_ADDRESS ? "address" : "binding", *glsl, *error;
    char path[200];
    size_t count = 0;
    text hex = { NULL, 0 };
    vc_kernel *k = kernel_sample_make(sample, buffers);
    const uint32_t *words = vc_spirv(k, &count);
    glsl = vc_source(k, VC_TARGET_GLSL);
    error = vc_error(k);
    snprintf(path, sizeof path, FOLDER "%s.%s.glsl", sample->name, form);
    if (!glsl) report(false, path, error ? error : "no text");
    else compare(path, glsl, strlen(glsl), update);
    snprintf(path, sizeof path, FOLDER "%s.%s.spvhex", sample->name, form);
    if (!words) report(false, path, error ? error : "no words");
    else {
        hex = hex_of(words, count);
        compare(path, hex.at, hex.length, update);
        snprintf(path, sizeof path, FOLDER "%s.%s.spvasm", sample->name, form);
        if (update && disassembler) disassemble(path, words, count);
    }
    free(hex.at);
    vc_free(k);
}

static void try_c(const kernel_sample *sample, bool update) {
    static const struct { vc_target target; const char *suffix; } texts[2] = { { VC_TARGET_CUDA, "cu" },
                                                                               { VC_TARGET_OPENCL, "cl" } };
    vc_kernel *k = kernel_sample_make(sample, VC_BUFFERS_DEFAULT);
    char path[200];
    for (size_t i = 0; i < 2; i++) {
        const char *source = vc_source(k, texts[i].target), *error = vc_error(k);
        snprintf(path, sizeof path, FOLDER "%s.%s", sample->name, texts[i].suffix);
        if (!source) report(false, path, error ? error : "no text");
        else compare(path, source, strlen(source), update);
    }
    vc_free(k);
}

/* The readable texts. */
static void try_dump(const kernel_sample *sample, bool update) {
    vc_kernel *k = kernel_sample_make(sample, VC_BUFFERS_ADDRESS);
    const char *dump = vc_dump(k);
    char path[200];
    snprintf(path, sizeof path, FOLDER "%s.dump", sample->name);
    if (!dump) report(false, path, vc_error(k) ? vc_error(k) : "no dump");
    else compare(path, dump, strlen(dump), update);
    vc_free(k);
}

int main(int argc, char **argv) {
    bool update = (argc > 1 && strcmp(argv[1], "--update") == 0) || getenv("GOLDEN_UPDATE");
    bool disassembler = update && has_disassembler();
    printf("1..%d\n", 7 * (int)KERNEL_SAMPLES);
    for (size_t i = 0; i < KERNEL_SAMPLES; i++) {
        try_sample(&kernel_samples[i], VC_BUFFERS_ADDRESS, update, disassembler);
        try_sample(&kernel_samples[i], VC_BUFFERS_BINDING, update, disassembler);
        try_c(&kernel_samples[i], update);
        try_dump(&kernel_samples[i], update);
    }
    return failures != 0;
}

/* Counts machine instructions of CUDA C with NVRTC and nvdisasm. Needs no device. */
#ifndef BENCH_SASS_H
#define BENCH_SASS_H

#include "tests/codegen/nvrtc.h"

#include <ctype.h>
#include <unistd.h>

typedef struct sass { double instructions, registers; } sass;

static char sass_tool[512];

/* Returns NULL, or what is missing. */
static const char *sass_open(void) {
    const char *named = getenv("BENCH_NVDISASM"), *why = nvrtc_open();
    glob_t found;
    if (why) return why;
    if (!nvrtc.cubin) return "libnvrtc gives no machine code";
    snprintf(sass_tool, sizeof sass_tool, "%s", named ? named : "nvdisasm");
    if (!named && system("command -v nvdisasm >/dev/null 2>&1") != 0) {
        if (glob("/usr/local/cuda*/bin/nvdisasm", 0, NULL, &found) != 0)
            return "no nvdisasm: name one in BENCH_NVDISASM (PyPI: nvidia-cuda-nvdisasm)";
        snprintf(sass_tool, sizeof sass_tool, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    return NULL;
}

/* Of a line "  / *0010* /   @P0 IMAD R1, R2, R3, RZ ;": its instruction; NULL: it has none. */
static const char *sass_instruction(const char *line) {
    while (isspace((unsigned char)*line)) line++;
    if (strncmp(line, "/*", 2) != 0 || !isxdigit((unsigned char)line[2])) return NULL;
    line = strstr(line, "*/");
    if (!line || !strchr(line, ';')) return NULL;
    for (line += 2; isspace((unsigned char)*line); line++) continue;
    return *line == '/' ? NULL : line;
}

/* Ignores the padding after the final branch to itself. */
static sass sass_count(const char *text) {
    char path[64], command[640], line[1024];
    size_t size = 0;
    sass r = { 0, 0 };
    double padding = 0;
    void *code = nvrtc_machine_code(text, &size);
    snprintf(path, sizeof path, "/tmp/vkdispatch-sass-%ld.cubin", (long)getpid());
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(code, 1, size, f) != size || fclose(f) != 0) die(path, "could not be written");
    snprintf(command, sizeof command, "%s %s", sass_tool, path);
    f = popen(command, "r");
    if (!f) die(command, "could not be started");
    while (fgets(line, sizeof line, f)) {
        const char *instruction = sass_instruction(line), *c = instruction;
        if (!instruction) continue;
        r.instructions++;
        padding = strncmp(instruction, "NOP", 3) == 0 ? padding + 1 : strncmp(instruction, "BRA", 3) == 0 ? 1 : 0;
        for (; *c; c++)
            if (*c == 'R' && !isalnum((unsigned char)c[-1]) && isdigit((unsigned char)c[1]) && atoi(c + 1) + 1
                > r.registers) r.registers = atoi(c + 1) + 1;
    }
    if (pclose(f) != 0 || r.instructions == 0) die(command, "failed");
    r.instructions -= padding;
    remove(path);
    free(code);
    return r;
}

#endif /* BENCH_SASS_H */

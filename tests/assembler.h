/* A small SPIR-V assembler for the modules of the tests. */
#ifndef TESTS_ASSEMBLER_H
#define TESTS_ASSEMBLER_H

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

typedef struct unit_module {
    uint32_t words[1024];
    uint32_t count, bound;
} unit_module;

static inline void unit_op(unit_module *m, uint32_t op, uint32_t count, ...) {
    va_list args;
    va_start(args, count);
    m->words[m->count++] = ((count + 1) << 16) | op;
    for (uint32_t i = 0; i < count; i++) m->words[m->count++] = va_arg(args, uint32_t);
    va_end(args);
}

/* Appends `count` words, then a text. */
static inline void unit_text(unit_module *m, uint32_t op, const char *text, uint32_t count, ...) {
    uint32_t start = m->count, length = (uint32_t)strlen(text) / 4 + 1;
    va_list args;
    va_start(args, count);
    m->words[m->count++] = ((count + length + 1) << 16) | op;
    for (uint32_t i = 0; i < count; i++) m->words[m->count++] = va_arg(args, uint32_t);
    va_end(args);
    memset(m->words + m->count, 0, (size_t)length * 4);
    memcpy(m->words + m->count, text, strlen(text));
    m->count = start + 1 + count + length;
}

#endif

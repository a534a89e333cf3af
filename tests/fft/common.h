/* Shared by the programs of this folder: the device, buffers, messages, and a context that must be empty at the end. */
#ifndef TESTS_FFT_COMMON_H
#define TESTS_FFT_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vkdispatch_fft.h"
#include "tests/turn.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#ifndef FFT_FEW_CASES
#define FFT_FEW_CASES 0 /* 1: the program always runs few cases */
#endif

static vd_context *device_context; /* NULL: no device */
static bool all_cases;             /* -a */
static size_t property_count, form_cases, form_cases_new, form_cases_run; /* see forms_occurred */
static size_t case_parts = 1, case_others; /* FFT_PART, FFT_OTHERS */
static uint32_t case_number;       /* of passes_over, in the current test */
static bool few_cases;             /* FFT_CASES, or OpenCL, where compiling is slow; never with all_cases */
static bool phrases;               /* FFT_CASES=phrases */

/* The first call of each test: skips it if there is no device. */
static inline void need_device(void) {
    case_number = 0;
    if (device_context) return;
    print_message("# reason: no device runs kernels here: %s\n", vd_error_text());
    skip();
}

/* Skips the test if there is no device, or if it has no plans of this engine. */
static inline void need_engine(vd_fft_engine engine) {
    vd_fft_desc desc = { 0 };
    need_device();
    if (!engine) return;
    desc.shape[0] = 2;
    desc.engine = engine;
    vd_fft *plan = vd_fft_create(device_context, &desc);
    vd_fft_destroy(plan);
    if (plan) return;
    print_message("# reason: %s\n", vd_error_text());
    skip();
}

/* Whether to skip the next case: one in `few` cases of a test is run if few_cases, with FFT_PART=4 one in 4 * `few`,
   else one in `others`; in the next turn, the case before it. Turn 0 runs the first case of each test. */
static inline bool passes_over(uint32_t few, uint32_t others) {
    return !all_cases && !is_in_turn(case_number++, few_cases ? few * case_parts : others);
}

/* Records a property of a kernel; returns whether it is new. */
static inline bool is_new_property(uint64_t hash) {
    static uint64_t seen[1024];
    for (size_t i = 0; i < property_count; i++) if (seen[i] == hash) return false;
    assert_true(property_count < COUNT(seen));
    seen[property_count++] = hash;
    return true;
}

/* Hash of the next line of an explanation without its digits, or for FFT_CASES=phrases of its next phrase, which ends
   at `,`, `=`, `(` or ` for `. Advances the text past it. */
static inline uint64_t next_phrase(const char **text, const char *end) {
    uint64_t hash = 14695981039346656037u;
    while (*text < end) {
        char c = *(*text)++;
        if (c == '\n' || (phrases && (strchr(",=(", c) || !strncmp(*text - 1, " for ", 5)))) break;
        if (c < '0' || c > '9') hash = (hash ^ (uint64_t)c) * 1099511628211u;
    }
    return hash;
}

/* FFT_CASES=forms: two kernels have the same form if their keys are equal and their lines in the explanations of the
   plans differ only in numbers. Returns whether all kernels of a direction have forms that occurred before: the case
   can be skipped. FFT_CASES=phrases: the same if all phrases of these lines, and the key, occurred before.
   FFT_PART=4: of the remaining cases, each turn runs one in four. FFT_OTHERS=8: of those that could be skipped, one in
   eight. */
static inline bool forms_occurred(const char *line, vd_fft_direction direction, uint64_t key) {
    const char *inverse = strstr(line, "inverse:\n"), *end = line + strlen(line);
    bool occurred = true;
    if (!few_cases) return false;
    if (inverse && direction == VD_FFT_FORWARD) end = inverse;
    if (inverse && direction == VD_FFT_INVERSE) line = inverse + 9;
    if (phrases && is_new_property(key)) occurred = false;
    while (line < end)
        if (is_new_property(next_phrase(&line, end) ^ (phrases ? 0 : key))) occurred = false;
    form_cases++;
    const bool runs = occurred ? case_others && in_sample(form_cases, case_others)
        : is_in_turn(form_cases_new++, case_parts);
    form_cases_run += runs;
    return !runs;
}

/* The same for the plan of a desc. The key holds what the explanation lacks: types, hooks, parts of arrays, and the
   direction of kinds whose inverse is another algorithm. */
static inline bool passes_over_form(const vd_fft_desc *desc, vd_fft_direction direction) {
    if (!few_cases) return false;
    uint64_t key = ((uint64_t)desc->type * 64 + (uint64_t)desc->in_type) * 64 + (uint64_t)desc->out_type;
    key = key * 4 + (desc->load != NULL) * 2u + (desc->store != NULL);
    key = key * 2 + (desc->kind > VD_FFT_COMPLEX && direction == VD_FFT_INVERSE);
    for (int i = 0; i < 4; i++)
        key |= (uint64_t)(desc->in_count[i] != 0) << 40 | (uint64_t)(desc->out_count[i] != 0) << 41;
    vd_fft *plan = vd_fft_create(device_context, desc);
    bool occurred = plan && forms_occurred(vd_fft_explain(plan), direction, key);
    vd_fft_destroy(plan);
    return occurred;
}

/* Type of indices and counts of this number of elements. The Makefile sets VD__REDUCE_NARROW for large*.c. */
static inline vd_type count_type(uint64_t elements) {
#ifdef VD__REDUCE_NARROW
    return elements > VD__REDUCE_NARROW ? VD_U64 : VD_U32;
#else
    return elements > (uint64_t)1 << 31 ? VD_U64 : VD_U32;
#endif
}

static inline vd_buffer buffer_of(vd_context *ctx, vd_type type, uint64_t elements, const void *data) {
    vd_buffer_desc desc = { 0 };
    desc.name = "numbers";
    desc.type = type;
    desc.shape[0] = elements;
    desc.data = data;
    return vd_buffer_create(ctx, &desc);
}

/* Reads all indices or counts in a buffer, of which each fits into 32 bits. UINT64_MAX becomes UINT32_MAX. */
static inline vd_result read_counts(vd_context *ctx, vd_buffer b, uint32_t *to) {
    vd_buffer_info info;
    assert_int_equal(vd_buffer_query(ctx, b, &info), VD_OK);
    if (info.type == VD_U32) return vd_buffer_read(ctx, b, 0, to, VD_WHOLE);
    uint64_t *wide = (uint64_t *)malloc((size_t)info.size), count = info.size / 8;
    assert_non_null(wide);
    vd_result result = vd_buffer_read(ctx, b, 0, wide, VD_WHOLE);
    for (uint64_t i = 0; i < count && !result; i++) {
        if (wide[i] > UINT32_MAX - 1 && wide[i] != UINT64_MAX)
            fail_msg("number %llu is 0x%llx", (unsigned long long)i, (unsigned long long)wide[i]);
        to[i] = (uint32_t)wide[i];
    }
    free(wide);
    return result;
}

/* Returns a view of `elements` elements of a buffer from a byte offset; elements 0: of all that follow. */
static inline vd_buffer view_of(vd_context *ctx, vd_buffer buffer, vd_type type, uint64_t offset, uint64_t elements) {
    vd_view_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.buffer = buffer;
    desc.type = type;
    desc.offset = offset;
    desc.shape[0] = elements;
    vd_buffer view = vd_buffer_view(ctx, &desc);
    if (!view.id) fail_msg("%s", vd_error_text());
    return view;
}

/* The last error message contains this text. */
static inline void says(const char *part) {
    if (!strstr(vd_error_text(), part)) fail_msg("no \"%s\" in: %s", part, vd_error_text());
}

/* Whether the device lacks arithmetic or storage of this type. */
static inline bool lacks_arithmetic(vd_type type) {
    uint64_t features = vd_device(device_context, 0)->features;
    if (type == VD_F64) return !(features & VD_FEATURE_F64);
    if (type == VD_I64 || type == VD_U64) return !(features & VD_FEATURE_I64);
    if (type == VD_F16) return !(features & VD_FEATURE_F16) || !(features & VD_FEATURE_STORAGE_16);
    if (type == VD_I16 || type == VD_U16) return !(features & VD_FEATURE_I16) || !(features & VD_FEATURE_STORAGE_16);
    if (type == VD_I8 || type == VD_U8) return !(features & VD_FEATURE_I8) || !(features & VD_FEATURE_STORAGE_8);
    return false;
}

/* Replaces the shared memory that plans made from now on may use, so that short lengths need many passes. Returns the
   previous limit. */
static inline uint32_t limit_shared_memory(uint32_t bytes) {
    vd_device_info *device = (vd_device_info *)(uintptr_t)vd_device(device_context, 0);
    uint32_t before = device->limits.max_shared_bytes;
    device->limits.max_shared_bytes = bytes;
    return before;
}

/* Number of kernels of a transform, in all directions that have their own. */
static inline uint32_t count_kernels(const vd_fft_desc *desc) {
    vd_fft *plan = vd_fft_create(device_context, desc);
    const char *text = vd_fft_explain(plan);
    uint32_t kernels = 0;
    while ((text = strstr(text, ", shape ")) != NULL) text++, kernels++;
    vd_fft_destroy(plan);
    return kernels;
}

/* Limits the shared memory so that a transform takes this many kernels. Fails if no limit has that effect. */
static inline void limit_to_kernels(const vd_fft_desc *desc, uint32_t kernels) {
    for (uint32_t bytes = 64; bytes <= 2048; bytes *= 2) {
        limit_shared_memory(bytes);
        if (count_kernels(desc) == kernels) return;
    }
    fail_msg("no limit of shared memory leads to %u kernels", kernels);
}

static inline uint32_t random_below(uint64_t *state, uint32_t n) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

/* Strides of an array in C order, with gaps between rows, planes and elements; half of the time zeros. */
static inline void random_strides(uint64_t *state, const uint64_t *shape, uint32_t rank, uint64_t *stride) {
    uint64_t step = 1;
    if (random_below(state, 2)) return;
    for (uint32_t d = rank; d-- > 0; step *= shape[d]) {
        step += random_below(state, 3) / (d + 1 == rank ? 2 : 1);
        stride[d] = step;
    }
}

/* A length from `least` to `most`, not uniformly distributed, that has a prime factor above 31. */
static inline uint64_t random_length(uint64_t *state, uint64_t least, uint64_t most) {
    for (;;) {
        uint64_t top = least + random_below(state, (uint32_t)(most - least + 1));
        uint64_t n = least + random_below(state, (uint32_t)(top - least + 1)), rest = n;
        for (uint64_t p = 2; p <= 31; p++) while (rest % p == 0) rest /= p;
        if (rest > 1) return n;
    }
}

static inline vd_context *dummy_context(void) {
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    desc.backend = VD_BACKEND_DUMMY;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    return ctx;
}

static inline void nothing_left(vd_context *ctx) {
    vd_stats stats;
    assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
    assert_int_equal(stats.buffers, 0);
    assert_int_equal(stats.kernels, 0);
}

static inline void open_device(void) {
    const char *cases = getenv("FFT_CASES");
    const char *part = getenv("FFT_PART"), *others = getenv("FFT_OTHERS");
    if (part && atoi(part) > 0) case_parts = (size_t)atoi(part);
    if (others && atoi(others) > 0) case_others = (size_t)atoi(others);
    if (vd_context_create(NULL, &device_context)) device_context = NULL;
    phrases = cases && !strcmp(cases, "phrases");
    few_cases = !all_cases && (FFT_FEW_CASES || phrases || (cases && !strcmp(cases, "forms"))
                               || (device_context && vd_device(device_context, 0)->backend == VD_BACKEND_OPENCL));
}

static inline int close_device(int failed) {
    if (form_cases) print_message("# %zu of %zu cases, with %zu %s of kernels\n", form_cases_run, form_cases, property_count,
                                  phrases ? "phrases and types" : "forms");
    vd_context_destroy(device_context);
    return failed;
}

#define RUN_ON_DEVICE(tests) (open_device(), close_device(cmocka_run_group_tests(tests, NULL, NULL)))

#endif

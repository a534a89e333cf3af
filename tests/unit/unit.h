/* Shared by the unit tests: both implementations, cmocka, the selection of tests, a context on the dummy backend, a
 * counting allocator, random numbers. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#define _POSIX_C_SOURCE 200809L
#define VKDISPATCH_CUDA
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "tests/assembler.h"
#include "tests/system.h"

#include <setjmp.h>
#include <cmocka.h>

/* ---- systems ---- */

/* A test that uses functions that only POSIX has: CMUnitTest entries with POSIX(test) are skipped on Windows.
   UNIT_LIBRARY is a library of the system that has UNIT_LIBRARY_FUNCTION. */
enum { UNIT_PATH_CHARS = 300 };
#ifdef _WIN32
#include <dirent.h>
#include <direct.h>
#define POSIX(name) { #name, unit_skip_without_posix, NULL, NULL, NULL }
#define POSIX_SETUP_TEARDOWN(name, setup, teardown) POSIX(name)
#define UNIT_LIBRARY "kernel32.dll"
#define UNIT_LIBRARY_FUNCTION "GetTickCount"

static void unit_skip_without_posix(void **state) {
    (void)state;
    print_message("# reason: the test uses functions that only POSIX has\n");
    skip();
}

/* Makes a new folder. */
static inline int unit_folder_make(char path[UNIT_PATH_CHARS]) {
    static int count;
    char folder[UNIT_PATH_CHARS - 40];
    if (!GetTempPathA(sizeof folder, folder)) return -1;
    snprintf(path, UNIT_PATH_CHARS, "%svkdispatch-%lu-%d", folder, GetCurrentProcessId(), count++);
    return _mkdir(path);
}
/* Removes an empty folder. */
static inline int unit_folder_remove(const char *path) { return _rmdir(path); }
#else
#include <dirent.h>
#define POSIX(name) cmocka_unit_test(name)
#define POSIX_SETUP_TEARDOWN(name, setup, teardown) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define UNIT_LIBRARY "libm.so.6"
#define UNIT_LIBRARY_FUNCTION "cos"

static inline int unit_folder_make(char path[UNIT_PATH_CHARS]) {
    snprintf(path, UNIT_PATH_CHARS, "/tmp/vkdispatch-unit-XXXXXX");
    return mkdtemp(path) ? 0 : -1;
}
static inline int unit_folder_remove(const char *path) { return rmdir(path); }
#endif

/* In an emulator and under sanitizers, tests of many cases run one in this many. UNIT_EMULATOR is the name of the
   emulator; tools/sanitized sets UNIT_STRIDE. */
static inline unsigned unit_stride(void) {
    const char *stride = getenv("UNIT_STRIDE");
    return getenv("UNIT_EMULATOR") ? 29 : stride && atoi(stride) > 0 ? (unsigned)atoi(stride) : 1;
}

/* Calls `use` for each file of a folder. */
static inline void unit_folder_each(const char *folder, void (*use)(const char *path)) {
    char path[2 * UNIT_PATH_CHARS];
    DIR *files = opendir(folder);
    assert_non_null(files);
    for (struct dirent *file; (file = readdir(files)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        if (file->d_name[0] != '.') use(path);
    }
    closedir(files);
}

/* ---- selection ---- */

typedef struct unit_file { const char *name; const struct CMUnitTest *tests; size_t count; } unit_file;
#define UNIT_FILE(name) { #name, name##_tests, sizeof name##_tests / sizeof name##_tests[0] }

static char unit_fake_cuda[512]; /* tests/fake/libcuda.so */

/* A pattern is FILE or FILE/TEST. Without patterns, all tests run. */
static inline bool unit_selects(char **patterns, int count, const char *test) {
    for (int i = 0; i < count; i++) {
        size_t length = strlen(patterns[i]);
        if (strncmp(patterns[i], test, length) == 0 && (!test[length] || test[length] == '/')) return true;
    }
    return count == 0;
}

/* Runs the selected tests as one cmocka group. Each test is reported as FILE/TEST. Returns the exit status. */
static inline int unit_run(const unit_file *files, size_t file_count, int argc, char **argv) {
    enum { MOST_TESTS = 1000 };
    static struct CMUnitTest tests[MOST_TESTS];
    static char names[MOST_TESTS][120];
    const char *fake = getenv("FAKE_LIBCUDA"), *end = argc ? strrchr(argv[0], '/') : NULL;
    int folder = end ? (int)(end - argv[0]) : 1;
    size_t count = 0;
    if (fake) snprintf(unit_fake_cuda, sizeof unit_fake_cuda, "%s", fake);
    else snprintf(unit_fake_cuda, sizeof unit_fake_cuda, "%.*s/../fake/libcuda.so", folder, end ? argv[0] : ".");
    for (size_t f = 0; f < file_count; f++)
        for (size_t t = 0; t < files[f].count && count < MOST_TESTS; t++) {
            snprintf(names[count], sizeof names[count], "%s/%s", files[f].name, files[f].tests[t].name);
            if (!unit_selects(argv + 1, argc - 1, names[count])) continue;
            tests[count] = files[f].tests[t];
            tests[count].name = names[count];
            count++;
        }
    if (count == 0 || count == MOST_TESTS) {
        printf("not ok - %s\n", count ? "more tests than MOST_TESTS" : "no unit test has this name");
        return 1;
    }
    return _cmocka_run_group_tests("unit", tests, count, NULL, NULL);
}

/* ---- helpers of tests ---- */

#define CHECK_TEXT(part) unit_check_text(part, __FILE__, __LINE__)

/* The bits of a float. */
static inline uint32_t unit_bits32(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }

static inline uint32_t unit_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* User pointer of the allocator below: counts requests and live blocks. Request `fail_at` is refused (0: none), and
 * all later ones too unless `once`. */
typedef struct unit_memory { long live, calls, fail_at; bool once; } unit_memory;

static inline bool unit_refuses(unit_memory *m) {
    m->calls++;
    return m->fail_at && (m->once ? m->calls == m->fail_at : m->calls >= m->fail_at);
}

static inline void *unit_allocate(void *user, size_t size) {
    unit_memory *m = (unit_memory *)user;
    void *block = unit_refuses(m) ? NULL : malloc(size);
    m->live += block != NULL;
    return block;
}

static inline void *unit_reallocate(void *user, void *block, size_t size) {
    unit_memory *m = (unit_memory *)user;
    void *grown = unit_refuses(m) ? NULL : realloc(block, size);
    m->live += grown && !block;
    return grown;
}

static inline void unit_release(void *user, void *block) {
    ((unit_memory *)user)->live -= block != NULL;
    free(block);
}

/* The last error contains this text. */
static inline void unit_check_text(const char *part, const char *file, int line) {
    if (strstr(vd_error_text(), part)) return;
    print_error("%s:%d: no \"%s\" in: %s\n", file, line, part, vd_error_text());
    fail();
}

static inline vd_context *unit_context(const vd_device_info *device) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.dummy = device;
    if (vd_context_create(&desc, &ctx)) print_error("%s\n", vd_error_text());
    assert_non_null(ctx);
    return ctx;
}

static inline vd_buffer unit_buffer(vd_context *ctx, const char *name, vd_type type, uint64_t count, const void *data) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.type = type;
    desc.shape[0] = count;
    desc.data = data;
    return vd_buffer_create(ctx, &desc);
}

static inline vd_stats unit_stats(vd_context *ctx) {
    vd_stats stats;
    assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
    return stats;
}

/* A kernel with the interface of y = a * x + y that stores x[n] + y[n] in y[n]: buffers x (read) and y (both), push
   constants a (f32) and n (u32), local size 64. */
static inline void unit_saxpy(unit_module *m) {
    enum {
        VOID_T = 1,
        FUNCTION_T,
        F32,
        U32,
        ARRAY,
        X_T,
        Y_T,
        PUSH_T,
        X_P,
        Y_P,
        PUSH_P,
        X,
        Y,
        PUSH,
        ENTRY,
        LABEL,
        U32_P,
        F32_P,
        ZERO,
        ONE,
        AT_N,
        N,
        AT_X,
        AT_Y,
        X_N,
        Y_N,
        SUM,
        BOUND
    };
    memset(m, 0, sizeof *m);
    m->bound = BOUND;
    m->count = 5;
    unit_op(m, 17, 1u, 1u);                          /* Shader */
    unit_op(m, 14, 2u, 0u, 1u);                      /* Logical GLSL450 */
    unit_text(m, 15, "main", 2u, 5u, ENTRY);
    unit_op(m, 16, 5u, ENTRY, 17u, 64u, 1u, 1u);
    unit_text(m, 5, "x", 1u, X);
    unit_text(m, 5, "y", 1u, Y);
    unit_text(m, 6, "a", 2u, PUSH_T, 0u);
    unit_text(m, 6, "n", 2u, PUSH_T, 1u);
    unit_op(m, 71, 3u, ARRAY, 6u, 4u);
    unit_op(m, 71, 2u, X_T, 3u);
    unit_op(m, 72, 4u, X_T, 0u, 35u, 0u);
    unit_op(m, 72, 3u, X_T, 0u, 24u);
    unit_op(m, 71, 2u, Y_T, 3u);
    unit_op(m, 72, 4u, Y_T, 0u, 35u, 0u);
    unit_op(m, 71, 2u, PUSH_T, 2u);
    unit_op(m, 72, 4u, PUSH_T, 0u, 35u, 0u);
    unit_op(m, 72, 4u, PUSH_T, 1u, 35u, 4u);
    unit_op(m, 71, 3u, X, 34u, 0u);
    unit_op(m, 71, 3u, X, 33u, 0u);
    unit_op(m, 71, 3u, Y, 34u, 0u);
    unit_op(m, 71, 3u, Y, 33u, 1u);
    unit_op(m, 19, 1u, VOID_T);
    unit_op(m, 33, 2u, FUNCTION_T, VOID_T);
    unit_op(m, 22, 2u, F32, 32u);
    unit_op(m, 21, 3u, U32, 32u, 0u);
    unit_op(m, 29, 2u, ARRAY, F32);
    unit_op(m, 30, 2u, X_T, ARRAY);
    unit_op(m, 30, 2u, Y_T, ARRAY);
    unit_op(m, 30, 3u, PUSH_T, F32, U32);
    unit_op(m, 32, 3u, X_P, 2u, X_T);
    unit_op(m, 32, 3u, Y_P, 2u, Y_T);
    unit_op(m, 32, 3u, PUSH_P, 9u, PUSH_T);
    unit_op(m, 59, 3u, X_P, X, 2u);
    unit_op(m, 59, 3u, Y_P, Y, 2u);
    unit_op(m, 59, 3u, PUSH_P, PUSH, 9u);
    unit_op(m, 32, 3u, U32_P, 9u, U32);
    unit_op(m, 32, 3u, F32_P, 2u, F32);
    unit_op(m, 43, 3u, U32, ZERO, 0u);
    unit_op(m, 43, 3u, U32, ONE, 1u);
    unit_op(m, 54, 4u, VOID_T, ENTRY, 0u, FUNCTION_T);
    unit_op(m, 248, 1u, LABEL);
    unit_op(m, 65, 4u, U32_P, AT_N, PUSH, ONE);
    unit_op(m, 61, 3u, U32, N, AT_N);
    unit_op(m, 65, 5u, F32_P, AT_X, X, ZERO, N);
    unit_op(m, 65, 5u, F32_P, AT_Y, Y, ZERO, N);
    unit_op(m, 61, 3u, F32, X_N, AT_X);
    unit_op(m, 61, 3u, F32, Y_N, AT_Y);
    unit_op(m, 129, 4u, F32, SUM, X_N, Y_N);
    unit_op(m, 62, 2u, AT_Y, SUM);
    unit_op(m, 253, 0u);
    unit_op(m, 56, 0u);
    m->words[0] = 0x07230203;
    m->words[1] = 0x00010000;
    m->words[3] = m->bound;
}

static inline vd_kernel unit_kernel(vd_context *ctx, const unit_module *m, const char *name) {
    vd_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.code = m->words;
    desc.code_size = m->count * 4;
    return vd_kernel_create(ctx, &desc);
}

#endif

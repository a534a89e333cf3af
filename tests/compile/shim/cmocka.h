/* The part of cmocka that tests/unit and tests/conformance use, for systems without a package of it. A failed
   assertion, setup or teardown fails its test. Prints TAP. shim_fails.c tests that. */
#ifndef CMOCKA_SHIM_H
#define CMOCKA_SHIM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    int (*setup)(void **state), (*teardown)(void **state);
    void *initial_state;
};

#define cmocka_unit_test(test) { #test, test, NULL, NULL, NULL }
#define cmocka_unit_test_setup(test, setup) { #test, test, setup, NULL, NULL }
#define cmocka_unit_test_setup_teardown(test, setup, teardown) { #test, test, setup, teardown, NULL }

enum { CMOCKA_FAILED = 1, CMOCKA_SKIPPED };
static jmp_buf cmocka_end;

#if defined(__MINGW_PRINTF_FORMAT)
#define CMOCKA_PRINTF(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first), unused))
#else
#define CMOCKA_PRINTF(text, first) __attribute__((format(printf, text, first), unused))
#endif

static CMOCKA_PRINTF(1, 2) void print_message(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}

static CMOCKA_PRINTF(1, 2) void print_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    printf("# ");
    vprintf(format, args);
    va_end(args);
}

static inline void cmocka_leave(int how) { longjmp(cmocka_end, how); }

#define skip() cmocka_leave(CMOCKA_SKIPPED)
#define fail() do { print_error("%s:%d: fail\n", __FILE__, __LINE__); cmocka_leave(CMOCKA_FAILED); } while (0)
#define fail_msg(...) do { \
        print_error("%s:%d: ", __FILE__, __LINE__); \
        print_message(__VA_ARGS__); \
        print_message("\n"); \
        cmocka_leave(CMOCKA_FAILED); \
    } while (0)

/* Each condition ends the test if it is false. The texts are those of both arguments. */
static inline void cmocka_check(int holds, const char *text, const char *file, int line) {
    if (holds) return;
    print_error("%s:%d: %s\n", file, line, text);
    cmocka_leave(CMOCKA_FAILED);
}

static inline void cmocka_check_int(uint64_t a, uint64_t b, int equal, const char *text, const char *file, int line) {
    if ((a == b) == equal) return;
    print_error("%s:%d: %s: 0x%llx, 0x%llx\n", file, line, text, (unsigned long long)a, (unsigned long long)b);
    cmocka_leave(CMOCKA_FAILED);
}

static inline void cmocka_check_text(const char *a, const char *b, int equal, const char *file, int line) {
    if ((strcmp(a, b) == 0) == equal) return;
    print_error("%s:%d: \"%s\" %s \"%s\"\n", file, line, a, equal ? "!=" : "==", b);
    cmocka_leave(CMOCKA_FAILED);
}

#define assert_true(c) cmocka_check(!!(c), "false: " #c, __FILE__, __LINE__)
#define assert_false(c) cmocka_check(!(c), "true: " #c, __FILE__, __LINE__)
#define assert_null(p) cmocka_check((p) == NULL, "not NULL: " #p, __FILE__, __LINE__)
#define assert_non_null(p) cmocka_check((p) != NULL, "NULL: " #p, __FILE__, __LINE__)
#define assert_ptr_equal(a, b) \
    cmocka_check((const void *)(a) == (const void *)(b), "differ: " #a ", " #b, __FILE__, __LINE__)
#define assert_int_equal(a, b) \
    cmocka_check_int((uint64_t)(a), (uint64_t)(b), 1, "differ: " #a ", " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) \
    cmocka_check_int((uint64_t)(a), (uint64_t)(b), 0, "equal: " #a ", " #b, __FILE__, __LINE__)
#define assert_in_range(x, low, high) \
    cmocka_check((uint64_t)(x) >= (uint64_t)(low) && (uint64_t)(x) <= (uint64_t)(high), "out of range: " #x, __FILE__, \
                 __LINE__)
#define assert_string_equal(a, b) cmocka_check_text(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) cmocka_check_text(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) \
    cmocka_check(memcmp(a, b, size) == 0, "memory differs: " #a ", " #b, __FILE__, __LINE__)

/* Returns 0, CMOCKA_FAILED or CMOCKA_SKIPPED. The teardown runs whatever the test did. */
static inline int cmocka_run_one(const struct CMUnitTest *test) {
    static void *state;
    int setup = 0, how;
    state = test->initial_state;
    how = setjmp(cmocka_end);
    if (how == 0 && test->setup) setup = test->setup(&state);
    if (how || setup) return how ? how : CMOCKA_FAILED;
    how = setjmp(cmocka_end);
    if (how == 0) test->test(&state);
    int end = setjmp(cmocka_end);
    if (end == 0 && test->teardown && test->teardown(&state)) end = CMOCKA_FAILED;
    return end ? CMOCKA_FAILED : how;
}

static inline int _cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                                          int (*setup)(void **state), int (*teardown)(void **state)) {
    int failed = 0;
    (void)group, (void)setup, (void)teardown;
    printf("1..%d\n", (int)count);
    for (size_t i = 0; i < count; i++) {
        int how = cmocka_run_one(&tests[i]);
        failed += how == CMOCKA_FAILED;
        printf("%sok %d - %s%s\n", how == CMOCKA_FAILED ? "not " : "", (int)i + 1, tests[i].name,
               how == CMOCKA_SKIPPED ? " # SKIP" : "");
        fflush(stdout);
    }
    return failed;
}
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
    _cmocka_run_group_tests(name, tests, sizeof (tests) / sizeof (tests)[0], setup, teardown)

#endif

/* Tests shim/cmocka.h: tests that must fail, and tests that must not. */
#include "shim/cmocka.h"

#include <stdbool.h>

static int sound(void **state) { (void)state; return 0; }
static int broken(void **state) { (void)state; return -1; }
static void nothing(void **state) { (void)state; }

#define CASE(name, statement) static void name(void **state) { (void)state; statement; print_message("# passed\n"); }
CASE(is_true, assert_true(1 > 2))
CASE(is_false, assert_false(1 < 2))
CASE(is_null, assert_null("text"))
CASE(is_non_null, assert_non_null(NULL))
CASE(ints_are_equal, assert_int_equal(1, 2))
CASE(ints_differ, assert_int_not_equal(-1, -1))
CASE(pointers_are_equal, assert_ptr_equal(&cmocka_end, NULL))
CASE(is_in_range, assert_in_range(3, 4, 5))
CASE(strings_are_equal, assert_string_equal("a", "b"))
CASE(strings_differ, assert_string_not_equal("a", "a"))
CASE(memory_is_equal, assert_memory_equal("abc", "abd", 3))
CASE(says_so, fail())
CASE(says_why, fail_msg("%d", 5))
CASE(passes, assert_int_equal(1, 1))
CASE(is_skipped, skip())

int main(void) {
    static const struct CMUnitTest failing[] = {
        cmocka_unit_test(is_true), cmocka_unit_test(is_false), cmocka_unit_test(is_null), cmocka_unit_test(is_non_null),
        cmocka_unit_test(ints_are_equal), cmocka_unit_test(ints_differ), cmocka_unit_test(pointers_are_equal),
        cmocka_unit_test(is_in_range), cmocka_unit_test(strings_are_equal), cmocka_unit_test(strings_differ),
        cmocka_unit_test(memory_is_equal), cmocka_unit_test(says_so), cmocka_unit_test(says_why),
        cmocka_unit_test_setup(nothing, broken), cmocka_unit_test_setup_teardown(nothing, sound, broken),
    };
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(passes), cmocka_unit_test_setup_teardown(is_skipped, sound, sound), cmocka_unit_test(nothing),
    };
    const int count = (int)(sizeof failing / sizeof failing[0]);
    bool all_fail = _cmocka_run_group_tests("failing", failing, sizeof failing / sizeof failing[0], NULL, NULL) == count;
    bool none_fails = _cmocka_run_group_tests("others", others, sizeof others / sizeof others[0], NULL, NULL) == 0;
    return all_fail && none_fails ? 0 : 1;
}

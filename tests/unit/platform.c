/* The room `platform`: threads, time, bits, atomics, files, handles and libraries, on the system that runs the
   tests. */
#include "tests/unit/unit.h"

static char platform_folder[UNIT_PATH_CHARS];

static int platform_setup(void **state) {
    (void)state;
    return unit_folder_make(platform_folder);
}

static int platform_teardown(void **state) {
    (void)state;
    return unit_folder_remove(platform_folder);
}

static const char *platform_path(const char *name) {
    static char path[UNIT_PATH_CHARS + 64];
    snprintf(path, sizeof path, "%s%s%s", platform_folder, VD__PATH_SEPARATOR, name);
    return path;
}

/* ---- threads ---- */

enum { COUNTERS = 4, ROUNDS = 20000 };

typedef struct counting {
    vd__monitor monitor;
    vd__mutex lock;
    uint32_t atomic, locked, monitored, turn, order[COUNTERS];
    uint64_t greatest;
} counting;

typedef struct counter { vd__thread thread; counting *c; uint32_t number; } counter;

/* Counts in three ways, then waits for its turn, from the last thread to the first. */
static void count(void *user) {
    const counter *me = (const counter *)user;
    counting *c = me->c;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        vd__atomic_add32(&c->atomic, 1);
        vd__atomic_max64(&c->greatest, (uint64_t)i << 32 | me->number);
        vd__mutex_lock(&c->lock);
        c->locked++;
        vd__mutex_unlock(&c->lock);
        vd__monitor_enter(&c->monitor);
        c->monitored++;
        vd__monitor_leave(&c->monitor);
    }
    vd__monitor_enter(&c->monitor);
    while (c->turn != me->number) vd__monitor_wait(&c->monitor);
    c->order[COUNTERS - 1 - me->number] = me->number;
    c->turn--;
    vd__monitor_wake_all(&c->monitor);
    vd__monitor_leave(&c->monitor);
}

static void threads_exclude_and_wait(void **state) {
    static counting c;
    counter counters[COUNTERS];
    (void)state;
    memset(&c, 0, sizeof c);
    vd__monitor_init(&c.monitor);
    c.turn = COUNTERS - 1;
    for (uint32_t i = 0; i < COUNTERS; i++) {
        counters[i].c = &c;
        counters[i].number = i;
        assert_true(vd__thread_start(&counters[i].thread, count, &counters[i]));
    }
    for (uint32_t i = 0; i < COUNTERS; i++) vd__thread_join(&counters[i].thread);
    assert_int_equal(c.atomic, COUNTERS * ROUNDS);
    assert_int_equal(c.locked, COUNTERS * ROUNDS);
    assert_int_equal(c.monitored, COUNTERS * ROUNDS);
    assert_true(c.greatest == ((uint64_t)(ROUNDS - 1) << 32 | (COUNTERS - 1)));
    assert_int_equal(c.turn, UINT32_MAX);
    for (uint32_t i = 0; i < COUNTERS; i++) assert_int_equal(c.order[i], COUNTERS - 1 - i);
    vd__monitor_destroy(&c.monitor);
    assert_true(vd__processor_count() >= 1 && vd__thread_stack_bytes() >= 16384);
}

static void time_passes(void **state) {
    (void)state;
    uint64_t begin = vd__time_ns();
    vd__sleep(3000000);
    assert_true(vd__time_ns() - begin >= 2900000);
    vd__sleep(0);
    vd__yield();
    vd__pause();
}

/* ---- atomics and bits ---- */

static void atomics_return_the_old_value(void **state) {
    uint32_t word = 5, old = 6;
    uint64_t wide = 1, old_wide = 1;
    void *pointer = NULL;
    (void)state;
    assert_int_equal(vd__atomic_add32(&word, UINT32_MAX), 5);
    assert_int_equal(vd__atomic_or32(&word, 0x80000001), 4);
    assert_int_equal(vd__atomic_and32(&word, 0x8000000f), 0x80000005);
    assert_int_equal(vd__atomic_exchange32(&word, 7), 0x80000005);
    assert_int_equal(vd__atomic_add32_seq(&word, 1), 7);
    assert_false(vd__atomic_compare_exchange32(&word, &old, 1));
    assert_int_equal(old, 8);
    while (!vd__atomic_compare_exchange32(&word, &old, 9)) assert_int_equal(old, 8);
    assert_true(vd__atomic_load32(&word) == 9 && vd__atomic_load32_seq(&word) == 9);
    vd__atomic_store32(&word, 10);
    assert_int_equal(word, 10);

    vd__atomic_add64(&wide, UINT64_MAX - 1);
    assert_false(vd__atomic_compare_exchange64(&wide, &old_wide, 1));
    assert_true(old_wide == UINT64_MAX);
    assert_true(vd__atomic_exchange64(&wide, (uint64_t)3 << 40) == UINT64_MAX);
    assert_true(vd__atomic_load64(&wide) == (uint64_t)3 << 40);
    vd__atomic_store64_seq(&wide, (uint64_t)1 << 33);
    assert_true(vd__atomic_load64_seq(&wide) == (uint64_t)1 << 33);
    vd__atomic_max64(&wide, 5);
    assert_true(wide == (uint64_t)1 << 33);
    vd__atomic_store64(&wide, 4);
    vd__atomic_max64(&wide, 5);
    assert_true(wide == 5);
    vd__atomic_store_pointer(&pointer, &word);
    assert_ptr_equal(vd__atomic_load_pointer(&pointer), &word);
}

static void bits_are_found(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(vd__log2(UINT32_MAX >> i), 31 - i);
        assert_int_equal(vd__lowest_bit(UINT32_MAX << i), i);
    }
    assert_int_equal(vd__swap_bytes(0x01020304), 0x04030201);
}

/* ---- files ---- */

static void platform_write(const char *name, const char *text) {
    vd__file file = vd__file_create(platform_path(name));
    assert_true(file != VD__NO_FILE);
    assert_true(vd__file_write(file, text, strlen(text)));
    assert_true(vd__file_close(file));
}

static void platform_check(const char *name, const char *text) {
    char bytes[64];
    uint64_t size = 99;
    bool trusted = false;
    vd__file file = vd__file_open_trusted(platform_path(name), &size, &trusted);
    assert_true(trusted);
    if (!text) {
        assert_true(file == VD__NO_FILE);
        return;
    }
    assert_true(file != VD__NO_FILE);
    assert_int_equal(size, strlen(text));
    assert_true(vd__file_read(file, bytes, (size_t)size));
    assert_memory_equal(bytes, text, (size_t)size);
    assert_false(vd__file_read(file, bytes, 1));
    assert_true(vd__file_close(file));
}

/* Names are UTF-8 on every system. */
static void files_are_created_replaced_and_deleted(void **state) {
    char from[UNIT_PATH_CHARS + 64], error[128] = "";
    static const char second[] = "second-\xc3\xa9\xe2\x82\xac";
    (void)state;
    platform_check("first", NULL);
    platform_write("first", "one");
    platform_check("first", "one");
    assert_true(vd__file_create(platform_path("first")) == VD__NO_FILE); /* exists */
    vd__file_error(error, sizeof error);
    assert_true(strlen(error) > 3);
    platform_write(second, "two, longer");
    platform_check(second, "two, longer");
    snprintf(from, sizeof from, "%s", platform_path(second));
    assert_true(vd__file_replace(from, platform_path("first")));
    platform_check(second, NULL);
    platform_check("first", "two, longer");
    assert_false(vd__file_replace(from, platform_path("first")));
    vd__file_delete(platform_path("first"));
    platform_check("first", NULL);
}

static void folders_are_no_files(void **state) {
    uint64_t size;
    bool trusted = true;
    (void)state;
    assert_true(vd__file_open_trusted(platform_folder, &size, &trusted) == VD__NO_FILE);
    assert_false(trusted);
}

static void handles_are_copied(void **state) {
    (void)state;
    platform_write("shared", "text");
    uint64_t size;
    bool trusted;
    vd__file file = vd__file_open_trusted(platform_path("shared"), &size, &trusted);
    assert_true(file != VD__NO_FILE);
    int64_t copy = vd__handle_copy((int64_t)file);
    assert_true(copy > 0 && copy != (int64_t)file);
    assert_true(vd__file_close(file));
    char bytes[4];
    assert_true(vd__file_read((vd__file)copy, bytes, 4));
    assert_memory_equal(bytes, "text", 4);
    vd__handle_close(copy);
    assert_int_equal(vd__handle_copy(copy), -1);
    assert_int_equal(vd__handle_copy(-1), -1);
    assert_int_equal(vd__handle_copy(INT64_MAX), -1);
    vd__file_delete(platform_path("shared"));
}

/* ---- environment and libraries ---- */

static void environment_is_read(void **state) {
    char text[VD__PATH_CHARS], endless[VD__PATH_CHARS + 1];
    (void)state;
    setenv("VKDISPATCH_UNIT", "a folder", 1);
    assert_string_equal(vd__environment("VKDISPATCH_UNIT"), "a folder");
    assert_string_equal(vd__environment_read("VKDISPATCH_UNIT", text), "a folder");
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    setenv("VKDISPATCH_UNIT", endless, 1);
    assert_null(vd__environment_read("VKDISPATCH_UNIT", text));
    unsetenv("VKDISPATCH_UNIT");
    assert_null(vd__environment("VKDISPATCH_UNIT"));
    assert_null(vd__environment_read("VKDISPATCH_UNIT", text));
}

static void libraries_are_found(void **state) {
    static const char *const names[] = { "there-is-no-such-library", UNIT_LIBRARY, NULL };
    static const char *const none[] = { "there-is-no-such-library", "/nor/this-one", NULL };
    (void)state;
    assert_null(vd__library_open_first(none));
    void *library = vd__library_open_first(names);
    assert_non_null(library);
    assert_non_null(vd__library_find(library, UNIT_LIBRARY_FUNCTION));
    assert_null(vd__library_find(library, "there_is_no_such_function"));
    vd__library_close(library);
    const char *const *const lists[] = { vd__libraries.vulkan, vd__libraries.cuda, vd__libraries.opencl,
                                         vd__libraries.nvrtc, vd__libraries.nvrtc_folders };
    for (size_t i = 0; i < VD__COUNT(lists); i++) assert_non_null(lists[i][0]);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, platform_setup, platform_teardown)

static const struct CMUnitTest platform_tests[] = {
    cmocka_unit_test(threads_exclude_and_wait), cmocka_unit_test(time_passes),
    cmocka_unit_test(atomics_return_the_old_value), cmocka_unit_test(bits_are_found),
    CASE(files_are_created_replaced_and_deleted), CASE(folders_are_no_files), CASE(handles_are_copied),
    cmocka_unit_test(environment_is_read), cmocka_unit_test(libraries_are_found),
};
#undef CASE

/* Compiled code in files: what comes back, and what broken, foreign and unwritable files do. */
#define _POSIX_C_SOURCE 200809L
#include "tests/unit/unit.h"

#include <unistd.h>

static char folder[64];
static vd__host host;
static vd__counter counter;
static char path[VD__CACHE_PATH];
static const vd__cache_key start = VD__CACHE_START;

static int setup(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/vkdispatch-unit-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    memset(&host, 0, sizeof host);
    host.allocator = vd__counter_init(&counter, NULL);
    host.cache_directory = folder;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    remove(path);
    return rmdir(folder); /* fails where a temporary file is left */
}

static vd__cache_key key_of(const char *text) {
    vd__cache_key key = start;
    vd__cache_add_text(&key, text);
    assert_true(vd__cache_path(&host, "unit", &key, path));
    return key;
}

static void check_stored(const vd__cache_key *key, const char *wanted) {
    size_t size = 0;
    char *data = (char *)vd__cache_load(&host, "unit", key, &size);
    if (!wanted) assert_null(data);
    else {
        assert_non_null(data);
        assert_int_equal(size, strlen(wanted));
        assert_memory_equal(data, wanted, size);
    }
    vd__free(&host.allocator, data);
}

static void comes_back(void **state) {
    (void)state;
    vd__cache_key key = key_of("a");
    check_stored(&key, NULL);
    vd__cache_store(&host, "unit", &key, "first", 5);
    check_stored(&key, "first");
    vd__cache_store(&host, "unit", &key, "the second", 10);
    check_stored(&key, "the second");
    size_t size;
    assert_null(vd__cache_load(&host, "other", &key, &size));
}

static void keys_differ(void **state) {
    (void)state;
    vd__cache_key a = start, b = start, c = start;
    vd__cache_add_text(&a, "ab");
    vd__cache_add_text(&a, "c");
    vd__cache_add_text(&b, "a");
    vd__cache_add_text(&b, "bc");
    vd__cache_add_text(&c, "abc");
    assert_true(memcmp(&a, &b, sizeof a) && memcmp(&a, &c, sizeof a) && memcmp(&b, &c, sizeof b));
    assert_true(a.words[0] != b.words[0] && a.words[1] != b.words[1]);
}

/* Every byte changed, every shorter length, one byte more. */
static void broken_files_are_not_used(void **state) {
    (void)state;
    vd__cache_key key = key_of("broken");
    char bytes[256];
    vd__cache_store(&host, "unit", &key, "something", 9);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_int_equal(size, sizeof(vd__cache_head) + 9);
    for (size_t i = 0; i <= 2 * size; i++) {
        size_t length = i < size ? size : i == 2 * size ? size + 1 : i - size;
        if (i < size) bytes[i] ^= 0x10;
        file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(bytes, 1, length, file);
        fclose(file);
        if (i < size) bytes[i] ^= 0x10;
        check_stored(&key, NULL);
    }
    vd__cache_store(&host, "unit", &key, "whole again", 11);
    check_stored(&key, "whole again");
}

static void the_wrong_key_is_noticed(void **state) {
    (void)state;
    vd__cache_key one = key_of("one"), two;
    char first[VD__CACHE_PATH];
    vd__cache_store(&host, "unit", &one, "one", 3);
    snprintf(first, sizeof first, "%s", path);
    two = key_of("two");
    assert_int_equal(rename(first, path), 0);
    check_stored(&two, NULL);
}

static void no_folder_is_no_failure(void **state) {
    (void)state;
    vd__cache_key key = key_of("nowhere");
    char nowhere[] = "/tmp/vkdispatch-there-is-no-such-folder", endless[VD__CACHE_PATH + 1];
    host.cache_directory = nowhere;
    vd__cache_store(&host, "unit", &key, "x", 1);
    check_stored(&key, NULL);
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    host.cache_directory = endless;
    vd__cache_store(&host, "unit", &key, "x", 1);
    check_stored(&key, NULL);
    host.cache_directory = NULL;
    vd__cache_store(&host, "unit", &key, "x", 1);
    check_stored(&key, NULL);
    host.cache_directory = folder;
}

/* Where the calls for libraries on top put bytes of a key. */
static void know_path(const char *key) {
    vd__cache_key k = start;
    vd__cache_add(&k, key, strlen(key));
    assert_true(vd__cache_path(&host, "unit", &k, path));
}

static void libraries_on_top_have_it_too(void **state) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    char data[16] = "";
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.cache_directory = folder;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    know_path("key");
    assert_int_equal(vd_cache_load(ctx, "unit", "key", 3, data, sizeof data), 0);
    vd_cache_store(ctx, "unit", "key", 3, "seven b", 7);
    assert_int_equal(vd_cache_load(ctx, "unit", "key", 3, data, sizeof data), 7);
    assert_memory_equal(data, "seven b", 7);
    assert_int_equal(vd_cache_load(ctx, "unit", "key", 3, data, 6), 0);
    assert_int_equal(vd_cache_load(ctx, "unit", "kez", 3, data, sizeof data), 0);
    assert_int_equal(vd_cache_load(ctx, "tinu", "key", 3, data, sizeof data), 0);
    assert_int_equal(vd_cache_load(NULL, "unit", "key", 3, data, sizeof data), 0);
    vd_cache_store(NULL, "unit", "key", 3, data, 1);
    assert_int_equal(remove(path), 0);
    vd_context_destroy(ctx);
    desc.cache_directory = NULL;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    vd_cache_store(ctx, "unit", "key", 3, "x", 1);
    assert_int_equal(vd_cache_load(ctx, "unit", "key", 3, data, sizeof data), 0);
    vd_context_destroy(ctx);
    uint64_t before = vd_time_ns();
    assert_true(vd_time_ns() >= before);
}

/* The folder's name may go away after the call. */
static void a_context_copies_the_name(void **state) {
    (void)state;
    char name[] = "/somewhere";
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.cache_directory = name;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    memset(name, 'z', sizeof name - 1);
    assert_string_equal(ctx->host.cache_directory, "/somewhere");
    vd_context_destroy(ctx);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = { CASE(comes_back), CASE(keys_differ), CASE(broken_files_are_not_used), CASE(the_wrong_key_is_noticed),
                                        CASE(no_folder_is_no_failure), CASE(libraries_on_top_have_it_too), CASE(a_context_copies_the_name) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The cache of compiled code: what is read back, and what damaged, foreign and unwritable files do. */
#include "tests/unit/unit.h"

#ifndef _WIN32
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

static char cache_folder[UNIT_PATH_CHARS];
static vd__host cache_host;
static vd__counting_allocator cache_counter;
static char cache_path[VD__PATH_CHARS];
static const vd__cache_key start = VD__CACHE_KEY_INIT;

static int cache_setup(void **state) {
    (void)state;
    if (unit_folder_make(cache_folder)) return -1;
    memset(&cache_host, 0, sizeof cache_host);
    cache_host.allocator = vd__counting_allocator_init(&cache_counter, NULL);
    cache_host.cache_directory = cache_folder;
    return 0;
}

static int cache_teardown(void **state) {
    (void)state;
    remove(cache_path);
    return unit_folder_remove(cache_folder); /* fails if a temporary file is left */
}

static vd__cache_key key_of(const char *text) {
    vd__cache_key key = start;
    vd__cache_key_add_text(&key, text);
    assert_true(vd__cache_path(&cache_host, "unit", &key, cache_path));
    return key;
}

static void check_stored(const vd__cache_key *key, const char *wanted) {
    size_t size = 0;
    char *data = (char *)vd__cache_load(&cache_host, "unit", key, &size);
    if (!wanted) assert_null(data);
    else {
        assert_non_null(data);
        assert_int_equal(size, strlen(wanted));
        assert_memory_equal(data, wanted, size);
    }
    vd__free(&cache_host.allocator, data);
}

static void stored_data_is_read_back(void **state) {
    (void)state;
    vd__cache_key key = key_of("a");
    check_stored(&key, NULL);
    vd__cache_store(&cache_host, "unit", &key, "first", 5);
    check_stored(&key, "first");
    vd__cache_store(&cache_host, "unit", &key, "the second", 10);
    check_stored(&key, "the second");
    size_t size;
    assert_null(vd__cache_load(&cache_host, "other", &key, &size));
}

static void keys_differ(void **state) {
    (void)state;
    vd__cache_key a = start, b = start, c = start;
    vd__cache_key_add_text(&a, "ab");
    vd__cache_key_add_text(&a, "c");
    vd__cache_key_add_text(&b, "a");
    vd__cache_key_add_text(&b, "bc");
    vd__cache_key_add_text(&c, "abc");
    assert_true(memcmp(&a, &b, sizeof a) && memcmp(&a, &c, sizeof a) && memcmp(&b, &c, sizeof b));
    assert_true(a.words[0] != b.words[0] && a.words[1] != b.words[1]);
}

/* Every byte changed, every shorter length, one byte more. */
static void broken_files_are_not_used(void **state) {
    (void)state;
    vd__cache_key key = key_of("broken");
    char bytes[256];
    vd__cache_store(&cache_host, "unit", &key, "something", 9);
    FILE *file = fopen(cache_path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_int_equal(size, sizeof(vd__cache_header) + 9);
    for (size_t i = 0; i <= 2 * size; i++) {
        size_t length = i < size ? size : i == 2 * size ? size + 1 : i - size;
        if (i < size) bytes[i] ^= 0x10;
        file = fopen(cache_path, "wb");
        assert_non_null(file);
        fwrite(bytes, 1, length, file);
        fclose(file);
        if (i < size) bytes[i] ^= 0x10;
        check_stored(&key, NULL);
    }
    vd__cache_store(&cache_host, "unit", &key, "whole again", 11);
    check_stored(&key, "whole again");
}

static void the_wrong_key_is_detected(void **state) {
    (void)state;
    vd__cache_key one = key_of("one"), two;
    char first[VD__PATH_CHARS];
    vd__cache_store(&cache_host, "unit", &one, "one", 3);
    snprintf(first, sizeof first, "%s", cache_path);
    two = key_of("two");
    assert_int_equal(rename(first, cache_path), 0);
    check_stored(&two, NULL);
}

static void a_missing_directory_is_not_an_error(void **state) {
    (void)state;
    vd__cache_key key = key_of("nowhere");
    char nowhere[] = "/tmp/vkdispatch-there-is-no-such-folder", endless[VD__PATH_CHARS + 1];
    cache_host.cache_directory = nowhere;
    vd__cache_store(&cache_host, "unit", &key, "x", 1);
    check_stored(&key, NULL);
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    cache_host.cache_directory = endless;
    vd__cache_store(&cache_host, "unit", &key, "x", 1);
    check_stored(&key, NULL);
    cache_host.cache_directory = NULL;
    vd__cache_store(&cache_host, "unit", &key, "x", 1);
    check_stored(&key, NULL);
    cache_host.cache_directory = cache_folder;
}

/* The path at which the functions for libraries on top store the data of this key. */
static void set_library_path(const char *key) {
    vd__cache_key k = start;
    vd__cache_key_add(&k, key, strlen(key));
    assert_true(vd__cache_path(&cache_host, "unit", &k, cache_path));
}

static void libraries_on_top_can_use_the_cache(void **state) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    char data[16] = "";
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.cache_directory = cache_folder;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    set_library_path("key");
    assert_int_equal(vd_cache_load(ctx, "unit", "key", 3, data, sizeof data), 0);
    vd_cache_store(ctx, "unit", "key", 3, "seven b", 7);
    assert_int_equal(vd_cache_load(ctx, "unit", "key", 3, data, sizeof data), 7);
    assert_memory_equal(data, "seven b", 7);
    assert_int_equal(vd_cache_load(ctx, "unit", "key", 3, data, 6), 0);
    assert_int_equal(vd_cache_load(ctx, "unit", "kez", 3, data, sizeof data), 0);
    assert_int_equal(vd_cache_load(ctx, "tinu", "key", 3, data, sizeof data), 0);
    assert_int_equal(vd_cache_load(NULL, "unit", "key", 3, data, sizeof data), 0);
    vd_stats stats;
    assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
    assert_int_equal(stats.cache_hits, 2);
    assert_int_equal(stats.cache_misses, 3);
    assert_int_equal(stats.cache_writes, 1);
    vd_cache_store(NULL, "unit", "key", 3, data, 1);
    assert_int_equal(remove(cache_path), 0);
    vd_context_destroy(ctx);
    desc.cache_directory = NULL;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    vd_cache_store(ctx, "unit", "key", 3, "x", 1);
    assert_int_equal(vd_cache_load(ctx, "unit", "key", 3, data, sizeof data), 0);
    vd_context_destroy(ctx);
    uint64_t before = vd_time_ns();
    assert_true(vd_time_ns() >= before);
}

/* The caller may free the directory's name after the call. */
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

#ifndef _WIN32
static void not_called_here(void *user, vd_log_level level, const char *message) {
    (void)user, (void)level, (void)message;
}

/* Removes the messages from the queue. Returns the number of warnings that contain a text. */
static int warnings(vd__message_queue *outbox, const char *text) {
    int count = 0;
    for (vd__message *m = vd__message_pop(outbox); m; m = vd__message_pop(outbox)) {
        count += m->level == VD_LOG_WARNING && strstr(m->text, text) != NULL;
        vd__free(&cache_host.allocator, m);
    }
    return count;
}

/* The file is neither loaded nor waited for. */
static void check_ignored(const vd__cache_key *key) {
    vd__message_queue outbox;
    vd__message_queue_init(&outbox, 0);
    cache_host.log = not_called_here;
    cache_host.messages = &outbox;
    alarm(20);
    check_stored(key, NULL);
    alarm(0);
    cache_host.log = NULL;
    assert_int_equal(warnings(&outbox, "is ignored: it must be"), 1);
}

static void files_that_cannot_be_written_are_reported(void **state) {
    vd__message_queue outbox;
    char nowhere[] = "/tmp/vkdispatch-there-is-no-such-folder";
    (void)state;
    vd__cache_key key = key_of("nowhere");
    vd__message_queue_init(&outbox, 0);
    cache_host.log = not_called_here;
    cache_host.messages = &outbox;
    cache_host.cache_directory = nowhere;
    vd__cache_store(&cache_host, "unit", &key, "x", 1);
    cache_host.cache_directory = cache_folder;
    cache_host.log = NULL;
    assert_int_equal(warnings(&outbox, "could not be written"), 1);
}

static void files_are_private_to_their_user(void **state) {
    struct stat status;
    (void)state;
    vd__cache_key key = key_of("mode");
    for (unsigned mask = 0; mask <= 077; mask += 077) {
        mode_t old = umask((mode_t)mask);
        vd__cache_store(&cache_host, "unit", &key, "mine", 4);
        umask(old);
        assert_int_equal(stat(cache_path, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0600);
        assert_int_equal(status.st_uid, geteuid());
        check_stored(&key, "mine");
    }
}

static void files_writable_by_others_are_ignored(void **state) {
    (void)state;
    vd__cache_key key = key_of("mode");
    vd__cache_store(&cache_host, "unit", &key, "mine", 4);
    for (unsigned mode = 0400; mode <= 0777; mode++) {
        assert_int_equal(chmod(cache_path, (mode_t)mode), 0);
        if (mode & 022) check_ignored(&key);
        else check_stored(&key, "mine");
    }
}

/* The file's path may be anything else than a file; storing replaces it. */
static void non_files_are_ignored(void **state) {
    char other[UNIT_PATH_CHARS + 8];
    struct sockaddr_un address;
    (void)state;
    vd__cache_key key = key_of("no file");
    snprintf(other, sizeof other, "%s/other", cache_folder);
    vd__cache_store(&cache_host, "unit", &key, "mine", 4);
    assert_int_equal(rename(cache_path, other), 0);
    assert_int_equal(symlink("other", cache_path), 0);
    check_ignored(&key);
    vd__cache_store(&cache_host, "unit", &key, "new", 3);
    check_stored(&key, "new");
    assert_int_equal(remove(cache_path), 0);
    assert_int_equal(remove(other), 0);

    assert_int_equal(mkfifo(cache_path, 0600), 0);
    check_ignored(&key);
    vd__cache_store(&cache_host, "unit", &key, "new", 3);
    check_stored(&key, "new");
    assert_int_equal(remove(cache_path), 0);

    assert_int_equal(mkdir(cache_path, 0700), 0);
    check_ignored(&key);
    vd__cache_store(&cache_host, "unit", &key, "new", 3);
    check_ignored(&key);
    assert_int_equal(rmdir(cache_path), 0);

    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    assert_true(strlen(cache_path) < sizeof address.sun_path);
    memcpy(address.sun_path, cache_path, strlen(cache_path));
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    check_stored(&key, NULL);
    close(fd);
}

enum { cache_OTHER = 12345 };

static void files_of_other_users_are_ignored(void **state) {
    (void)state;
    if (geteuid() != 0) {
        print_message("# reason: only root can give a file to another user\n");
        skip();
    }
    vd__cache_key key = key_of("owner");
    vd__cache_store(&cache_host, "unit", &key, "mine", 4);
    check_stored(&key, "mine");
    assert_int_equal(chown(cache_path, cache_OTHER, cache_OTHER), 0);
    check_ignored(&key);
    assert_int_equal(chown(cache_path, 0, cache_OTHER), 0); /* files of root are accepted */
    assert_int_equal(chmod(cache_path, 0644), 0);
    assert_int_equal(chmod(cache_folder, 0755), 0);
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        size_t size = 0;
        if (seteuid(cache_OTHER)) _exit(2);
        _exit(vd__cache_load(&cache_host, "unit", &key, &size) && size == 4 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(chown(cache_path, cache_OTHER + 1, cache_OTHER), 0);
    check_ignored(&key);
}
#endif

#define CASE(name) cmocka_unit_test_setup_teardown(name, cache_setup, cache_teardown)
#define POSIX_CASE(name) POSIX_SETUP_TEARDOWN(name, cache_setup, cache_teardown)

static const struct CMUnitTest cache_tests[] = {
    CASE(stored_data_is_read_back), CASE(keys_differ), CASE(broken_files_are_not_used), CASE(the_wrong_key_is_detected),
    CASE(a_missing_directory_is_not_an_error), CASE(libraries_on_top_can_use_the_cache),
    CASE(a_context_copies_the_name), POSIX_CASE(files_are_private_to_their_user),
    POSIX_CASE(files_writable_by_others_are_ignored), POSIX_CASE(non_files_are_ignored),
    POSIX_CASE(files_of_other_users_are_ignored), POSIX_CASE(files_that_cannot_be_written_are_reported),
};
#undef CASE
#undef POSIX_CASE

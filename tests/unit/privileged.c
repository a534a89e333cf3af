/* A set-user-id program must not open libraries that environment variables name, nor enter debug mode, which loads
   validation layers. This program copies itself, makes the copy set-user-id, and runs it as another user with
   VKDISPATCH_LIBCUDA, VKDISPATCH_DEBUG and VKDISPATCH_PROFILE set. */
#include "tests/unit/unit.h"

#ifndef _WIN32
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#else
#include <process.h>
#endif

#ifndef _WIN32
enum { OWNER = 12345, USER = 12346, LIBRARY_LOADED = 1, RAISED = 2, DEBUG_MODE = 4, PROFILED = 8, STARTED = 64 };

static char privileged_folder[64], privileged_program[96], privileged_library[96];

/* In the child process: opens CUDA and exits with what it found. */
static int privileged_look(const char *named) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_CUDA;
    vd_result r = vd_context_create(&desc, &ctx);
    bool loaded = dlopen(named, RTLD_NOW | RTLD_NOLOAD) != NULL;
    if (r == VD_OK) vd_context_destroy(ctx);
    desc.backend = VD_BACKEND_DUMMY;
    if (vd_context_create(&desc, &ctx)) return 0;
    bool debug = ctx->host.debug, profiled = ctx->profile.automatic != NULL;
    vd_context_destroy(ctx);
    return STARTED | (debug ? DEBUG_MODE : 0) | (profiled ? PROFILED : 0) |
           (loaded ? LIBRARY_LOADED : 0) | (getuid() != geteuid() ? RAISED : 0);
}

static void privileged_copy(const char *from, const char *to) {
    char bytes[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;) assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static int run_as_user(void) {
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char *arguments[] = { privileged_program, (char *)(uintptr_t)"--look", privileged_library, NULL };
        setenv("VKDISPATCH_LIBCUDA", privileged_library, 1);
        setenv("VKDISPATCH_DEBUG", "1", 1);
        setenv("VKDISPATCH_PROFILE", "/dev/null/none", 1);
        if (setgid(USER) || setuid(USER)) _exit(126);
        execv(privileged_program, arguments);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int privileged_setup(void **state) {
    (void)state;
    snprintf(privileged_folder, sizeof privileged_folder, "/tmp/vkdispatch-privileged-XXXXXX");
    if (!mkdtemp(privileged_folder)) return -1;
    snprintf(privileged_program, sizeof privileged_program, "%s/program", privileged_folder);
    snprintf(privileged_library, sizeof privileged_library, "%s/libcuda.so", privileged_folder);
    privileged_copy("/proc/self/exe", privileged_program);
    privileged_copy(unit_fake_cuda, privileged_library);
    return chmod(privileged_folder, 0755) || chmod(privileged_program, 0755) || chmod(privileged_library, 0755);
}

static int privileged_teardown(void **state) {
    (void)state;
    remove(privileged_program);
    remove(privileged_library);
    return rmdir(privileged_folder);
}

static void a_set_user_id_program_ignores_paths(void **state) {
    struct statvfs where;
    (void)state;
    const char *reason = NULL;
    if (geteuid() != 0) reason = "only root can make a set-user-id program of another user";
    else if (getenv("UNIT_EMULATOR")) reason = "an emulator does not start set-user-id programs";
    else if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        reason = "this process has no_new_privs, which turns set-user-id off";
    else if (!statvfs(privileged_folder, &where) && where.f_flag & ST_NOSUID) reason = "/tmp is mounted with nosuid";
    if (reason) {
        print_message("# reason: %s\n", reason);
        skip();
    }
    assert_int_equal(run_as_user(), STARTED | LIBRARY_LOADED | DEBUG_MODE | PROFILED);
    assert_int_equal(chown(privileged_program, OWNER, OWNER), 0);
    assert_int_equal(chmod(privileged_program, 04755), 0);
    assert_int_equal(run_as_user(), STARTED | RAISED);
}

#else
static int privileged_look(const char *named) { return named != NULL; }
#endif

/* Also runs where the test above is skipped. */
static void paths_of_the_environment(void **state) {
    (void)state;
    char path[VD__PATH_CHARS];
    setenv("VKDISPATCH_NVRTC", "/a/path", 1);
    if (vd__is_privileged()) assert_null(vd__environment_path("VKDISPATCH_NVRTC", path));
    else assert_string_equal(vd__environment_path("VKDISPATCH_NVRTC", path), "/a/path");
    assert_true(is_privileged() || !vd__is_privileged());
    unsetenv("VKDISPATCH_NVRTC");
    assert_null(vd__environment_path("VKDISPATCH_NVRTC", path));
}

static const struct CMUnitTest privileged_tests[] = {
    POSIX_SETUP_TEARDOWN(a_set_user_id_program_ignores_paths, privileged_setup, privileged_teardown),
    cmocka_unit_test(paths_of_the_environment),
};

/* Eight threads open each backend at once, in a process that has not opened it before. */
#define _POSIX_C_SOURCE 200809L
#include "vkdispatch.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { THREADS = 8, NO_DEVICE = 77, FAILED = 78 };

static pthread_barrier_t start;
static vd_backend backends[] = { VD_BACKEND_VULKAN, VD_BACKEND_CUDA, VD_BACKEND_OPENCL, VD_BACKEND_DUMMY };
static const char *const names[] = { "vulkan", "cuda", "opencl", "dummy" };

static void *open_one(void *backend) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = *(const vd_backend *)backend;
    pthread_barrier_wait(&start);
    vd_result r = vd_context_create(&desc, &ctx);
    if (r && r != VD_ERROR_NO_DEVICE) print_error("%s\n", vd_error_text());
    vd_context_destroy(ctx);
    return r == VD_OK ? NULL : r == VD_ERROR_NO_DEVICE ? (void *)1 : (void *)2;
}

/* Runs in the child process and returns its exit status. All threads must find the same devices. */
static int open_all(vd_backend backend) {
    pthread_t threads[THREADS];
    uintptr_t worst = 0, least = 2;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, open_one, &backend)) return FAILED;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        if ((uintptr_t)result > worst) worst = (uintptr_t)result;
        if ((uintptr_t)result < least) least = (uintptr_t)result;
    }
    return worst == 0 ? 0 : worst == 1 && least == 1 ? NO_DEVICE : FAILED;
}

static void eight_threads_open(void **state) {
    vd_backend backend = *(vd_backend *)*state;
    int status = 0, opened = 0;
    time_t begun = time(NULL);
    for (int round = 0; round < 5 && time(NULL) - begun < 20; round++) { /* drivers of GPUs need seconds per context */
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(150); /* driver 580 for NVIDIA sometimes never ends a thread that has destroyed a context */
            _exit(open_all(backend));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status)) fail_msg("round %d ended with signal %d", round, WTERMSIG(status));
        if (WEXITSTATUS(status) == NO_DEVICE && !opened) {
            print_message("# reason: there is no device here\n");
            skip();
        }
        assert_int_equal(WEXITSTATUS(status), 0);
        opened++;
    }
}

int main(void) {
    const char *only = getenv("VKDISPATCH_BACKEND");
    int failed = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        if (only && *only && strcmp(only, names[i])) continue;
        snprintf(name, sizeof name, "eight_threads_open_%s", names[i]);
        const struct CMUnitTest tests[] = { { name, eight_threads_open, NULL, NULL, &backends[i] } };
        failed += cmocka_run_group_tests_name(name, tests, NULL, NULL);
    }
    return failed;
}

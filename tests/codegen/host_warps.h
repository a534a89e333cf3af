/* Runs CUDA C with subgroup operations on the host: one thread per invocation; the threads of a warp synchronise at
   every operation that has a lane mask. A mask with lanes that never arrive sets bit 1 of `wrong` after a minute, and
   a lane that its mask does not name sets bit 0 at once. Otherwise each thread executes alone, which __activemask
   returns: CUDA does not guarantee more. Barriers are not supported. */
#ifndef TESTS_HOST_WARPS_H
#define TESTS_HOST_WARPS_H
#include "host_cuda.h"

/* Warp operations: the lanes of a mask meet, each stores a value and reads the values of all. */
static const char host_warps_prelude[] =
    "#include <pthread.h>\n#include <stdlib.h>\n#include <time.h>\n"
    "struct Meet { pthread_cond_t more; unsigned mask, arrived, round; unsigned long long in[32], out[32]; };\n"
    "static struct Warp { pthread_mutex_t lock; Meet meet[64]; } all_warps[8];\n"
    "extern \"C\" { int wrong; }\n"
    "static void together(unsigned mask, unsigned long long value, unsigned long long *all) {\n"
    "    Warp *w = &all_warps[threadIdx.x / 32]; unsigned lane = threadIdx.x % 32; struct timespec end;\n"
    "    pthread_mutex_lock(&w->lock);\n"
    "    Meet *m = w->meet;\n"
    "    while (m->mask && m->mask != mask) m++;\n"
    "    m->mask = mask; m->in[lane] = value;\n"
    "    if (!(mask >> lane & 1)) wrong |= 1;\n"
    "    clock_gettime(CLOCK_REALTIME, &end); end.tv_sec += 60;\n"
    "    if (++m->arrived == (unsigned)__builtin_popcount(mask)) {\n"
    "        memcpy(m->out, m->in, sizeof m->in); m->arrived = 0; m->round++; pthread_cond_broadcast(&m->more);\n"
    "    } else for (unsigned round = m->round; round == m->round && !wrong;) if (pthread_cond_timedwait(&m->more, "
    "&w->lock, &end)) wrong |= 2;\n"
    "    memcpy(all, m->out, sizeof m->out);\n"
    "    pthread_mutex_unlock(&w->lock);\n"
    "}\n"
    "static unsigned __ballot_sync(unsigned mask, int p) {\n"
    "    unsigned long long all[32]; unsigned r = 0; together(mask, p != 0, all);\n"
    "    for (int i = 0; i < 32; i++) if (mask >> i & 1) r |= (unsigned)all[i] << i;\n    return r;\n}\n"
    "static unsigned __activemask() { return 1u << (threadIdx.x & 31); }\n"
    "static int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }\n"
    "static int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, p) == mask; }\n"
    "template <class T> static T __shfl_sync(unsigned mask, T v, int from) {\n"
    "    unsigned long long all[32], x = 0; memcpy(&x, &v, sizeof v); together(mask, x, all);\n"
    "    x = mask >> (from & 31) & 1 ? all[from & 31] : 0xbadbadbadbadbadull; memcpy(&v, &x, sizeof v); return v;\n}\n"
    "template <class T> static T __shfl_up_sync(unsigned mask, T v, unsigned by) {\n"
    "    int lane = (int)(threadIdx.x & 31); return __shfl_sync(mask, v, lane - (int)by < 0 ? lane : lane - (int)by); "
    "}\n"
    "template <class T> static T __shfl_xor_sync(unsigned mask, T v, int by) { return __shfl_sync(mask, v, "
    "(int)(threadIdx.x & 31) ^ by); }\n"
    "static void __syncwarp(unsigned mask) { (void)__ballot_sync(mask, 1); }\n"
    "#define REDUCE(name, T, combined) static T __reduce_##name##_sync(unsigned mask, T x) {\\\n"
    "    unsigned long long all[32]; together(mask, (unsigned)x, all);\\\n"
    "    for (int i = 0; i < 32; i++) if (mask >> i & 1 && i != (int)(threadIdx.x & 31)) {\\\n"
    "        T y = (T)all[i]; x = combined;\\\n    }\\\n    return x;\\\n}\n"
    "REDUCE(add, unsigned, x + y) REDUCE(add, int, (int)((unsigned)x + (unsigned)y))\n"
    "REDUCE(min, unsigned, x < y ? x : y) REDUCE(min, int, x < y ? x : y)\n"
    "REDUCE(max, unsigned, x < y ? y : x) REDUCE(max, int, x < y ? y : x)\n"
    "REDUCE(and, unsigned, x & y) REDUCE(or, unsigned, x | y) REDUCE(xor, unsigned, x ^ y)\n";

/* RUN_WARPS(name) defines a function run_name(args, local, groups) for a kernel. */
static const char host_warps_runner[] =
    "static unsigned group;\n"
    "static void run_groups(void *(*one)(void *), unsigned local, unsigned groups) {\n"
    "    pthread_t made[256];\n"
    "    for (Warp &w : all_warps) {\n"
    "        pthread_mutex_init(&w.lock, 0);\n"
    "        for (Meet &m : w.meet) pthread_cond_init(&m.more, 0);\n    }\n"
    "    for (group = 0; group < groups; group++) {\n"
    "        for (size_t i = 0; i < local; i++) pthread_create(&made[i], 0, one, (void *)i);\n"
    "        for (size_t i = 0; i < local; i++) pthread_join(made[i], 0);\n"
    "    }\n}\n"
    "#define RUN_WARPS(name) static struct name##_args passed_##name;\\\n"
    "    static void *one_##name(void *thread) {\\\n"
    "        threadIdx.x = (unsigned)(size_t)thread; blockIdx.x = group; name(passed_##name); return 0;\\\n    }\\\n"
    "    extern \"C\" void run_##name(const void *block, unsigned local, unsigned groups) {\\\n"
    "        memcpy(&passed_##name, block, sizeof passed_##name); run_groups(one_##name, local, groups);\\\n    }\n";

/* Builds a library of the kernels in `cuda`, as for a compute capability of architecture / 100; `runners`: a line
   RUN_WARPS(name) for each kernel. Returns NULL as host_cuda_build does. */
static inline void *host_warps_build(const char *cuda, const char *runners, int architecture) {
    char *text = (char *)malloc(strlen(cuda) + strlen(runners) + sizeof host_warps_prelude + sizeof host_warps_runner
                                + 64);
    if (!text) exit(2);
    sprintf(text, "#define __CUDA_ARCH__ %d\n%s%s%s%s", architecture, host_warps_prelude, cuda, host_warps_runner,
            runners);
    void *library = host_cuda_build(text);
    free(text);
    return library;
}
#endif

/* Runs CUDA C on the host: a C++ compiler compiles the text of kernels after a few definitions, and a loop calls one
   thread after another. This tests the meaning of the text in C, not what a GPU makes of it. Kernels with barriers
   are not supported. */
#ifndef TESTS_HOST_CUDA_H
#define TESTS_HOST_CUDA_H

#include <dlfcn.h>
#include <unistd.h>

static const char host_cuda_prelude[] =
    "#include <math.h>\n#include <string.h>\n"
    "#define __global__\n#define __device__\n#define __inline__ inline\n#define __launch_bounds__(n)\n#define "
    "__shared__ static\n"
    "#define __syncthreads() __builtin_trap()\n"
    "#define __align__(n) __attribute__((aligned(n)))\n"
    "static thread_local struct { unsigned x, y, z; } threadIdx, blockIdx;\n"
    "template <class T> static T __ldg(const T *p) { return *p; }\n"
    "#define VEC2(T, N, S) struct __align__(2 * S) N##2 { T x, y; }; static inline N##2 make_##N##2(T x, T y) { N##2 v "
    "= { x, y }; return v; }\n"
    "#define VEC3(T, N) struct N##3 { T x, y, z; }; static inline N##3 make_##N##3(T x, T y, T z) { N##3 v = { x, y, z "
    "}; return v; }\n"
    "#define VEC4(T, N, S) struct __align__(4 * S) N##4 { T x, y, z, w; }; \\\n"
    "    static inline N##4 make_##N##4(T x, T y, T z, T w) { N##4 v = { x, y, z, w }; return v; }\n"
    "#define VECS(T, N, S) VEC2(T, N, S) VEC3(T, N) VEC4(T, N, S)\n"
    "VECS(signed char, char, 1) VECS(unsigned char, uchar, 1) VECS(short, short, 2) VECS(unsigned short, ushort, 2) "
    "VECS(int, int, 4)\n"
    "VECS(unsigned, uint, 4) VECS(float, float, 4) VEC2(long long, longlong, 8) VEC3(long long, longlong) "
    "VEC2(unsigned long long, ulonglong, 8)\n"
    "VEC3(unsigned long long, ulonglong) VEC2(double, double, 8) VEC3(double, double)\n"
    "template <class To, class From> static inline To as(From x) { To y; memcpy(&y, &x, sizeof y); return y; }\n"
    "static inline int __float_as_int(float x) { return as<int>(x); }\n"
    "static inline unsigned __float_as_uint(float x) { return as<unsigned>(x); }\n"
    "static inline float __int_as_float(int x) { return as<float>(x); }\n"
    "static inline float __uint_as_float(unsigned x) { return as<float>(x); }\n"
    "static inline long long __double_as_longlong(double x) { return as<long long>(x); }\n"
    "static inline double __longlong_as_double(long long x) { return as<double>(x); }\n"
    "static inline float __fmul_rn(float x, float y) { return x * y; }\n"
    "static inline float __fdiv_rn(float x, float y) { return x / y; }\n"
    "static inline float __fsqrt_rn(float x) { return sqrtf(x); }\n"
    "static inline double __dmul_rn(double x, double y) { return x * y; }\n"
    "static inline double __ddiv_rn(double x, double y) { return x / y; }\n"
    "static inline double __dsqrt_rn(double x) { return sqrt(x); }\n"
    "static inline float rsqrtf(float x) { return (float)(1 / sqrt((double)x)); }\n"
    "static inline int __popc(unsigned x) { return __builtin_popcount(x); }\n"
    "static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }\n"
    "static inline int __ffs(int x) { return __builtin_ffs(x); }\n"
    "static inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }\n"
    "static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return (unsigned long "
    "long)((unsigned __int128)x * y >> 64); }\n"
    "static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) { return n & 31u ? high << (n & "
    "31u) | low >> (32 - (n & 31u)) : high; }\n"
    "static inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }\n"
    "static inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }\n"
    "static inline unsigned __brev(unsigned x) { unsigned r = 0; for (int i = 0; i < 32; i++) r |= (x >> i & 1u) << "
    "(31 - i); return r; }\n"
    "#define VC_WORD_SUM\n#define vc_word_sum(x, y) ((x) + (y))\n"
    "#define VC_F32_OF_F16\n#define VC_F16_OF_F32\n#define VC_F16_OF_F64\n"
    "static inline float f32_of_f16(unsigned short h) {\n"
    "    int e = h >> 10 & 31, m = h & 1023;\n"
    "    float v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpf((float)(m + 1024), e - 25) : ldexpf((float)m, -24);\n"
    "    return h >> 15 ? -v : v;\n"
    "}\n"
    "static inline unsigned short f16_of_f64(double v) {\n"
    "    unsigned short sign = signbit(v) ? 0x8000 : 0; double a = fabs(v); int e;\n"
    "    if (isnan(v)) return 0x7e00;\n"
    "    if (a >= 65520) return sign | 0x7c00;\n"
    "    if (a < ldexp(1, -14)) return sign | (unsigned short)nearbyint(ldexp(a, 24));\n"
    "    frexp(a, &e);\n"
    "    return sign | (unsigned short)((e + 13) * 1024u + (unsigned)nearbyint(ldexp(a, 11 - e)));\n"
    "}\n"
    "static inline unsigned short f16_of_f32(float v) { return f16_of_f64((double)v); }\n";

/* Defines for each kernel a function run_NAME(args, groups) that runs blocks of `local` threads along x. */
static const char host_cuda_runner[] =
    "extern \"C\" void run_%s(const void *block, unsigned local, unsigned groups) {\n"
    "    struct %s_args args;\n"
    "    memcpy(&args, block, sizeof args);\n"
    "    for (blockIdx.x = 0; blockIdx.x < groups; blockIdx.x++) for (threadIdx.x = 0; threadIdx.x < local; "
    "threadIdx.x++) %s(args);\n"
    "}\n";

typedef void HostCudaRun(const void *block, unsigned local, unsigned groups);

/* Compiles and loads the text. Returns NULL if there is no compiler or the text does not compile. */
static inline void *host_cuda_build(const char *text) {
    static int number;
    char source[64], library[64], command[400];
    void *made = NULL;
    snprintf(source, sizeof source, "/tmp/vkdispatch-cuda-%ld-%d.cpp", (long)getpid(), number);
    snprintf(library, sizeof library, "/tmp/vkdispatch-cuda-%ld-%d.so", (long)getpid(), number++);
    FILE *f = fopen(source, "w");
    if (!f) return NULL;
    fputs(host_cuda_prelude, f);
    fputs(text, f);
    fclose(f);
    snprintf(command, sizeof command,
             "${CXX:-g++} -std=c++11 -O1 -w -fPIC -shared -ffp-contract=off -fno-strict-aliasing %s -o %s", source,
             library);
    if (system(command) == 0) made = dlopen(library, RTLD_NOW);
    if (!made && getenv("KEEP")) printf("kept %s\n", source); else remove(source);
    remove(library);
    return made;
}
#endif

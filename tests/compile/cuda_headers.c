/* Compares our declarations of the CUDA driver and of NVRTC with the headers of the toolkit, if it is installed:
   constants in C and C++; in C++ also the result and parameters of each function, which must have the same size and
   category (all handles count as pointers). */
#include <cuda.h>
#include <nvrtc.h>

#define VKDISPATCH_CUDA
#define VKDISPATCH_NO_VULKAN
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"
#define USE_RUNTIME
#include "tests/compile/use.h"

/* Newer names that older toolkits lack. */
#if CUDA_VERSION < 12080
#define CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID 139
#define CUDA_ERROR_CONTAINED 226
#endif

#define SAME(name, number) typedef char same_##name[(int)(name) == (number) ? 1 : -1];
#define SAME_RESULT(name, number, code) SAME(name, number)
VD__CU_NUMBERS(SAME)
VD__CU_RESULTS(SAME_RESULT)
typedef char same_address[sizeof(CUdeviceptr) == sizeof(vd__cu_address) ? 1 : -1];
typedef char same_rows[sizeof(CUDA_MEMCPY2D) == sizeof(vd__cu_copy_2d) && offsetof(CUDA_MEMCPY2D, dstDevice)
                       == offsetof(vd__cu_copy_2d, to.address) && offsetof(CUDA_MEMCPY2D, srcPitch)
                       == offsetof(vd__cu_copy_2d, from.pitch) && offsetof(CUDA_MEMCPY2D, Height)
                       == offsetof(vd__cu_copy_2d, height) ? 1 : -1];
typedef char same_external[sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC) == sizeof(vd__cu_external_memory)
                           && offsetof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, handle.fd) == offsetof(vd__cu_external_memory,
                                                                                                handle.fd)
                           && offsetof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size) == offsetof(vd__cu_external_memory, size)
                           && offsetof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, flags) == offsetof(vd__cu_external_memory,
                                                                                            flags) ? 1 : -1];
typedef char same_range[sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC) == sizeof(vd__cu_external_buffer)
                        && offsetof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size) == offsetof(vd__cu_external_buffer, size)
                        && offsetof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, flags) == offsetof(vd__cu_external_buffer, flags)
                            ? 1 : -1];
typedef char same_kernel_node[offsetof(CUDA_KERNEL_NODE_PARAMS, extra) == offsetof(vd__cu_kernel_node, extra) ? 1 : -1];
typedef char same_copy_node[sizeof(CUDA_MEMCPY3D) == sizeof(vd__cu_copy_3d) && offsetof(CUDA_MEMCPY3D, dstDevice)
                            == offsetof(vd__cu_copy_3d, to.address) && offsetof(CUDA_MEMCPY3D, srcPitch)
                            == offsetof(vd__cu_copy_3d, from.pitch) && offsetof(CUDA_MEMCPY3D, Depth)
                            == offsetof(vd__cu_copy_3d, depth) ? 1 : -1];
typedef char same_fill_node[sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(vd__cu_fill_node)
                            && offsetof(CUDA_MEMSET_NODE_PARAMS, width) == offsetof(vd__cu_fill_node, width) ? 1 : -1];
typedef char same_allocation[sizeof(CUmemAllocationProp) == sizeof(vd__cu_allocation)
                             && offsetof(CUmemAllocationProp, location) == offsetof(vd__cu_allocation, location)
                             && offsetof(CUmemAllocationProp, allocFlags) == offsetof(vd__cu_allocation, flags) ? 1
                                                                                                               : -1];
typedef char same_access[sizeof(CUmemAccessDesc) == sizeof(vd__cu_access) && offsetof(CUmemAccessDesc, flags)
                         == offsetof(vd__cu_access, flags) ? 1 : -1];
typedef char same_uuid[sizeof(CUuuid) == sizeof ((vd_device_info *)NULL)->uuid ? 1 : -1];

#ifdef __cplusplus
#include <type_traits>

template <class A, class B> struct alike { static const bool value = sizeof(A) == sizeof(B)
                                           && !std::is_pointer<A>::value && !std::is_pointer<B>::value; };
template <class A, class B> struct opaque {
    static const bool value = std::is_void<A>::value || std::is_void<B>::value || std::is_class<A>::value
        || std::is_class<B>::value;
};
template <class A, class B> struct alike<A *, B *> {
    static const bool value = std::conditional<opaque<A, B>::value, std::true_type,
        alike<typename std::remove_cv<A>::type, typename std::remove_cv<B>::type>>::type::value;
};
template <class A, class B> struct alike_functions { static const bool value = false; };
template <class R, class S> struct alike_functions<R (*)(), S (*)()> { static const bool value = alike<R, S>::value; };
template <class R, class S, class A, class B, class... As, class... Bs> struct alike_functions<R (*)(A, As...),
    S (*)(B, Bs...)> {
    static const bool value = alike<A, B>::value && alike_functions<R (*)(As...), S (*)(Bs...)>::value;
};

#define SAME_FUNCTION(result, name, exported, args) static_assert(\
    alike_functions<result (*) args, decltype(&name)>::value, #name " is declared otherwise in the toolkit");
VD__CU_FUNCTIONS(SAME_FUNCTION)
VD__NVRTC_FUNCTIONS(SAME_FUNCTION)
#if CUDA_VERSION >= 12040
VD__CU_GRAPH_FUNCTIONS(SAME_FUNCTION)
VD__CU_NEWER_FUNCTIONS(SAME_FUNCTION)
#endif
static_assert(!alike_functions<int (*)(int), int (*)(int, int)>::value && !alike_functions<int (*)(int),
              int (*)(long)>::value && !alike_functions<int (*)(void *), int (*)(int)>::value
              && !alike_functions<int (*)(int *), int (*)(long *)>::value && alike_functions<int (*)(void **),
              int (*)(CUcontext *)>::value, "the comparison sees nothing");

/* The symbol that we look up is the expansion of the plain name by the macros of the toolkit. */
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
constexpr bool same_text(const char *a, const char *b) { return *a == *b && (!*a || same_text(a + 1, b + 1)); }
#define SAME_NAME(result, name, exported, args) \
    static_assert(same_text(TEXT(name), #exported), #name " is exported under another name");
#if CUDA_VERSION >= 13000
#undef cuEventElapsedTime /* drivers before CUDA 12.8 lack cuEventElapsedTime_v2 */
VD__NVRTC_FUNCTIONS(SAME_NAME)
VD__CU_FUNCTIONS(SAME_NAME)
VD__CU_NEWER_FUNCTIONS(SAME_NAME)
#endif
#endif

/* vkdispatch.h: run compute kernels through Vulkan from one C header.

   Version 0.1.0. MIT licence; the full text stands at the end of this file.

   Do this
       #define VKDISPATCH_IMPLEMENTATION
       #include "vkdispatch.h"

       int main(void) {
           float x[4] = { 1, 2, 3, 4 };
           vd_context *ctx = NULL;
           if (vd_context_create(NULL, &ctx)) return 1;
           vd_buffer_desc desc = {0};
           desc.type = VD_F32; desc.shape[0] = 4; desc.data = x;
           vd_buffer b = vd_buffer_create(ctx, &desc);
           vd_fill(vd_immediate(ctx, 0, 0), b, 0, 8, NULL, 0);
           vd_result r = vd_buffer_read(ctx, b, 0, x, VD_WHOLE);
           vd_context_destroy(ctx);
           return r != VD_OK || x[0] != 0 || x[3] != 4;
       }

   It does not draw, open windows, print, exit or start threads. It holds no state outside the contexts you make, apart from each thread's last error text.

   Rooms
       config       what the macros resolve to
       platform     threads, time, libraries, environment: every difference between operating systems
       log          error text and messages
       memory       allocator, growable array, sub-allocator
       pool         handles
       objects      what stands behind the public handles
       backend      the contract with a backend and the table of its operations
       dummy        the backend without a device
       vulkan api      functions of the loader and of devices
       vulkan device   instance, devices, queues
       vulkan memory   blocks and buffers
       vulkan kernel   pipelines
       vulkan list     command buffers and submission
       select       which backend and device
       reflect      the SPIR-V reader
       validate     argument checks
       hazards      which commands have to wait for which
       batch        lists, staging, submission, readback
       public       the functions declared above
       end

   Configuration: define before the implementation is compiled
       VKDISPATCH_IMPLEMENTATION          in one translation unit: makes the definitions. Default: off
       VKDISPATCH_STATIC                  everything is static; define wherever the header is included. Default: off
       VKDISPATCH_NO_VULKAN               leaves the Vulkan backend and its two headers out. Default: off
       VKDISPATCH_NO_VOLK_IMPLEMENTATION  the application compiles volk itself; ours only includes volk.h. Default: off

   Linking: -lpthread and, on older systems, -ldl. libvulkan is opened at run time; a machine without it is told so by a result code. Compiling needs vulkan/vulkan.h
   and volk.h on the include path (Debian: libvulkan-dev, libvulkan-volk-dev), or VKDISPATCH_NO_VULKAN.

   Environment: VKDISPATCH_BACKEND (vulkan, dummy) and VKDISPATCH_DEVICE (an index or a part of a name) choose where the desc leaves the choice open;
   VKDISPATCH_BUFFERS=binding makes kernels take buffers as bindings where addresses would be used.

   Step by step
     1. vd_context_create opens the first backend that works and its best device (discrete, integrated, virtual, CPU; more memory wins a tie).
     2. vd_buffer_create gives typed, shaped device memory. Sizes and offsets are in bytes everywhere, shapes in elements.
     3. vd_kernel_create takes SPIR-V of any origin; without args in the desc they are read from the module: storage buffers by binding, then members of
        the push-constant block by offset. Kernels of vkdispatch_codegen.h come through vd_kernel_build.
     4. vd_dispatch records a kernel into a list. vd_immediate is the list that is always open: what is recorded there is gathered and sent when something needs the
        result (a read, a wait, a flush) or when enough has come together. vd_list_begin opens a list of your own, sent by vd_submit.
     5. Order: on one queue commands behave as if each had ended before the next began. Which of them really have to wait is found from what they read and write;
        only there a barrier stands.
     6. vd_buffer_read waits for its data. vd_read_begin does not: ask for it later with vd_read_ready.

   Errors: functions that make something return it, with id 0 on failure; the others return a vd_result. Either way vd_error_text() holds one sentence that names
   the call, the object, the argument, the value and the limit. No error changes what the next unrelated call does. Lists latch their first error and report it at
   vd_list_end and vd_submit. VD_ERROR_DEVICE_LOST stays for the context it befell.

   Memory: a desc is read during the call only. Names are copied. What a context made dies with it; a handle that is used after its destruction, or in another context, is an
   error and never a crash. A buffer or kernel may be destroyed while work uses it: the handle dies at once, the memory when that work is done. Host memory comes from the
   desc's allocator. Device memory comes in blocks of 64 MiB (an eighth of a small heap) shared by many buffers. After the first run of a dispatch, the next ones allocate nothing.

   Threads: any function may be called from any thread. A list other than the immediate one belongs to one thread at a time. Destroying a context needs it to be
   unused by other threads.

   Versions: descs grow at their end and zero stays their default; vd_context_create passes the version that the caller was compiled with. */
#ifndef VKDISPATCH_H
#define VKDISPATCH_H
#define VKDISPATCH_VERSION 100 /* major * 10000 + minor * 100 + patch */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef VKDISPATCH_STATIC
#define VD_API static
#else
#define VD_API extern
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- handles ---- */

typedef struct vd_context vd_context;                 /* any number of them in a process */
typedef struct vd_list vd_list;                       /* what operations are recorded into */
typedef struct vd_buffer { uint64_t id; } vd_buffer;  /* id 0: none; slot, generation and context otherwise */
typedef struct vd_kernel { uint64_t id; } vd_kernel;
typedef struct vd_ticket { uint64_t id; } vd_ticket;  /* a readback under way */
typedef struct vd_event { uint64_t context, value; uint32_t device, queue; } vd_event; /* {0}: already done */

/* ---- enums ---- */

typedef enum vd_result {
    VD_OK = 0,
    VD_TIMEOUT,
    VD_ERROR_INVALID,       /* the caller's mistake */
    VD_ERROR_NO_DEVICE,
    VD_ERROR_UNSUPPORTED,   /* right, but not on this device; the text names the feature or limit */
    VD_ERROR_COMPILE,       /* code that is not valid, or that the driver refuses */
    VD_ERROR_OUT_OF_MEMORY, /* host memory */
    VD_ERROR_OUT_OF_DEVICE_MEMORY,
    VD_ERROR_DEVICE_LOST,
    VD_ERROR_IO,
    VD_ERROR_BACKEND        /* a driver call failed in another way */
} vd_result;

typedef enum vd_backend { VD_BACKEND_DEFAULT = 0, VD_BACKEND_VULKAN, VD_BACKEND_DUMMY } vd_backend;
typedef enum vd_device_type { VD_DEVICE_OTHER = 0, VD_DEVICE_DISCRETE, VD_DEVICE_INTEGRATED, VD_DEVICE_VIRTUAL, VD_DEVICE_CPU } vd_device_type;
typedef enum vd_log_level { VD_LOG_ERROR = 1, VD_LOG_WARNING, VD_LOG_INFO } vd_log_level;

/* A type is one number: kind + 16 * (rows - 1) + 64 * (columns - 1) + 256 if complex. 0 is untyped bytes and agrees with every type. */
typedef uint32_t vd_type;
#define VD_VEC(scalar, rows) ((vd_type)((scalar) + 16u * ((rows) - 1u)))
enum {
    VD_BYTES = 0, VD_BOOL, VD_I8, VD_I16, VD_I32, VD_I64, VD_U8, VD_U16, VD_U32, VD_U64, VD_F16, VD_F32, VD_F64,
    VD_I32X2 = 16 + VD_I32, VD_I32X3 = 32 + VD_I32, VD_I32X4 = 48 + VD_I32,
    VD_U32X2 = 16 + VD_U32, VD_U32X3 = 32 + VD_U32, VD_U32X4 = 48 + VD_U32,
    VD_F32X2 = 16 + VD_F32, VD_F32X3 = 32 + VD_F32, VD_F32X4 = 48 + VD_F32,
    VD_F64X2 = 16 + VD_F64, VD_F64X3 = 32 + VD_F64, VD_F64X4 = 48 + VD_F64
};

/* What a device may have and a kernel may need. */
enum {
    VD_FEATURE_F16 = 1 << 0,            /* arithmetic on f16 */
    VD_FEATURE_F64 = 1 << 1,
    VD_FEATURE_I8 = 1 << 2,             /* arithmetic on i8 and u8 */
    VD_FEATURE_I16 = 1 << 3,
    VD_FEATURE_I64 = 1 << 4,
    VD_FEATURE_STORAGE_8 = 1 << 5,      /* 8-bit elements in buffers */
    VD_FEATURE_STORAGE_16 = 1 << 6,     /* 16-bit elements in buffers */
    VD_FEATURE_ADDRESS = 1 << 7,        /* buffers by 64-bit address */
    VD_FEATURE_SUBGROUP = 1 << 8,       /* arithmetic, ballot and shuffle across a subgroup in compute kernels */
    VD_FEATURE_ATOMIC_I64 = 1 << 9,
    VD_FEATURE_ATOMIC_F32_ADD = 1 << 10,
    VD_FEATURE_FMA = 1 << 11,           /* fma of f32 rounds once */
    VD_FEATURE_TIMESTAMP = 1 << 12,
    VD_FEATURE_IMAGE = 1 << 13
};

typedef enum vd_code { VD_CODE_DEFAULT = 0, VD_CODE_SPIRV } vd_code; /* default: what the backend takes */
typedef enum vd_arg_kind { VD_ARG_NONE = 0, VD_ARG_BINDING, VD_ARG_ADDRESS, VD_ARG_VALUE } vd_arg_kind;
enum { VD_READ = 1, VD_WRITE = 2, VD_READ_WRITE = 3 };

/* Values that a kernel gets without being an argument; they lie behind the arguments in the block of values, u32 each. */
typedef enum vd_hidden {
    VD_HIDDEN_NONE = 0,
    VD_HIDDEN_THREADS,    /* axis: threads asked for */
    VD_HIDDEN_GROUPS,     /* axis: groups of the whole dispatch, before it was split */
    VD_HIDDEN_GROUP_BASE, /* axis: first group of this piece of a split dispatch */
    VD_HIDDEN_LENGTH,     /* argument: elements of the buffer, at most 2^32 - 1 */
    VD_HIDDEN_SHAPE       /* argument, axis: extent of the buffer */
} vd_hidden;

#define VD_WHOLE UINT64_MAX        /* size: up to the end */
#define VD_FOREVER UINT64_MAX      /* timeout */
#define VD_VALUE_BYTES 1024        /* by-value arguments of one dispatch at most, hidden values included */
#define VD_MAX_ARGS 64             /* arguments of a kernel at most */

/* ---- descs: what the caller fills; zero is the default of every field ---- */

typedef struct vd_allocator { /* all three or none; default: malloc, realloc, free */
    void *(*allocate)(void *user, size_t size);
    void *(*reallocate)(void *user, void *block, size_t size);
    void (*release)(void *user, void *block);
    void *user;
} vd_allocator;

typedef struct vd_limits {
    uint32_t max_groups[3];         /* of one dispatch and axis in hardware; more are split by the library */
    uint32_t max_local_size[3];
    uint32_t max_local_invocations; /* product of the local size */
    uint32_t max_shared_bytes;
    uint32_t max_push_bytes;        /* larger blocks of values pass through memory */
    uint32_t max_bindings;          /* storage buffers a kernel */
    uint32_t binding_alignment;     /* bytes */
    uint32_t subgroup_size;         /* usual size, then the range */
    uint32_t min_subgroup_size, max_subgroup_size;
    uint64_t max_binding_bytes;     /* range of one storage buffer binding */
    uint64_t max_buffer_bytes;
} vd_limits;

typedef struct vd_device_info {
    vd_backend backend;
    int index;                      /* within its backend */
    char name[256];
    char driver[256];               /* name and version in words; may be empty */
    uint32_t vendor_id, device_id;  /* PCI */
    uint32_t api_version[3];        /* major, minor, patch of the backend's API on this device */
    uint32_t driver_version;        /* as the driver gives it */
    vd_device_type type;
    uint8_t uuid[16];
    uint64_t device_memory;         /* bytes of its largest device-local heap */
    uint64_t host_memory;           /* bytes of its largest heap in host memory; 0 where all is shared */
    uint64_t device_budget;         /* bytes this process may expect to get now; 0 = not known */
    bool shared_memory;             /* device-local memory is host memory */
    uint64_t features;              /* VD_FEATURE_ bits */
    double timestamp_ns;            /* length of a tick; 0 = no timestamps */
    vd_limits limits;
} vd_device_info;

typedef struct vd_context_desc {
    vd_backend backend;             /* default: VKDISPATCH_BACKEND, else the first that works */
    int device;                     /* 1 + index within the backend; 0: by device_name, VKDISPATCH_DEVICE, else the best */
    const char *device_name;        /* a part of the name, any case */
    bool debug;                     /* validation layers where installed; their messages go to log */
    uint64_t disable;               /* VD_FEATURE_ bits to do without although the device has them */
    void (*log)(void *user, vd_log_level level, const char *message); /* from any thread; default: silence */
    void *log_user;
    vd_allocator allocator;
    const vd_device_info *dummy;    /* VD_BACKEND_DUMMY: the device to pretend; default: a common desktop device */
} vd_context_desc;

typedef struct vd_buffer_desc {
    const char *name;               /* for messages */
    vd_type type;
    uint64_t shape[4];              /* elements; trailing zeros mean 1; bytes where type is VD_BYTES */
    const void *data;               /* initial contents, the whole buffer; default: zeros */
} vd_buffer_desc;

typedef struct vd_buffer_info {
    const char *name;               /* "" when unnamed; lives as long as the buffer */
    vd_type type;
    uint64_t shape[4];              /* ones where unused */
    uint64_t size;                  /* bytes */
    uint64_t address;               /* 0 where the device has none */
} vd_buffer_info;

typedef struct vd_arg_info {
    const char *name;
    vd_arg_kind kind;
    vd_type type;                   /* of one element for buffers */
    uint32_t access;                /* VD_READ, VD_WRITE or both; buffers only */
    uint32_t place;                 /* binding number in set 0, or byte offset in the block of values */
    uint32_t size;                  /* bytes in the block; 0 for bindings */
    uint32_t align;                 /* of a buffer's first byte; 0 = size of a scalar of its type */
    bool may_alias;                 /* may overlap other written arguments */
} vd_arg_info;

typedef struct vd_hidden_info {
    vd_hidden kind;
    uint32_t arg;                   /* index of the argument it speaks of */
    uint32_t axis;
    uint32_t place;                 /* byte offset in the block of values */
} vd_hidden_info;

typedef struct vd_kernel_desc {
    const char *name;
    vd_code code_kind;
    const void *code;               /* SPIR-V: 32-bit words of either byte order */
    size_t code_size;               /* bytes */
    const char *entry;              /* default: the module's only compute entry point */
    const vd_arg_info *args;        /* default: read from the module */
    int arg_count;
    const vd_hidden_info *hidden;
    int hidden_count;
    uint32_t value_bytes;           /* size of the block of values, hidden ones included; with args only */
    uint32_t local_size[3];         /* default: read from the module */
    uint32_t shared_bytes;          /* default: read from the module */
    uint64_t features;              /* VD_FEATURE_ bits it needs; the module's own capabilities are checked besides */
} vd_kernel_desc;

typedef struct vd_kernel_info {
    const char *name;
    const vd_arg_info *args;        /* lives as long as the kernel */
    int arg_count;
    uint32_t local_size[3];
    uint32_t shared_bytes;
    uint32_t value_bytes;
    uint64_t features;
} vd_kernel_info;

typedef enum vd_list_kind { VD_LIST_ONCE = 0 } vd_list_kind; /* recorded once, submitted once */

typedef struct vd_list_desc {
    vd_list_kind kind;
    int device, queue;
    const char *name;
} vd_list_desc;

typedef struct vd_arg { /* one argument of a dispatch; made by vd_b, vd_f32, … */
    vd_arg_kind kind;               /* VD_ARG_BINDING for any buffer, VD_ARG_VALUE for any value */
    vd_type type;
    uint64_t bits;                  /* buffer id; or value of 8 bytes or less, if from is NULL */
    const void *from;               /* value in host memory, read during the call */
} vd_arg;

typedef struct vd_dispatch_desc {
    vd_kernel kernel;
    uint64_t threads[3];            /* trailing zeros mean 1; rounded up to whole groups, the kernel's guard cuts the rest */
    uint64_t groups[3];             /* or groups, where threads[0] is 0 */
    const vd_arg *args;             /* in order of declaration */
    int arg_count;
} vd_dispatch_desc;

typedef struct vd_read_desc {
    vd_buffer buffer;
    uint64_t offset, size;          /* bytes; size 0 or VD_WHOLE: up to the end */
    int device;
} vd_read_desc;

typedef struct vd_submit_desc {
    const vd_event *waits;          /* start after these */
    int wait_count;
} vd_submit_desc;

typedef struct vd_stats { /* since the context was made */
    uint64_t dispatches, copies, fills, barriers, submissions;
    uint64_t device_blocks, device_bytes; /* driver allocations now held, staging included */
    uint64_t buffers, kernels;      /* now alive */
    uint64_t host_allocations;      /* calls of the allocator that gave memory */
} vd_stats;

/* ---- errors ---- */

VD_API const char *vd_error_text(void);             /* this thread's last failure, one sentence; "" before the first */
VD_API vd_result vd_error_set(vd_result result, const char *format, ...); /* for libraries on top; returns result */
VD_API const char *vd_result_name(vd_result result);
VD_API uint32_t vd_type_size(vd_type type);         /* bytes in memory; bool is 4; 0 for VD_BYTES and numbers that are no type */
VD_API const char *vd_type_name(vd_type type);      /* "f32x4" */
VD_API const char *vd_feature_name(uint64_t bit);   /* "f64" */

/* ---- contexts and devices ---- */

VD_API int vd_devices(vd_backend backend, vd_device_info *out, int capacity); /* default: every backend but dummy; returns how many there are, 0 also when none works */
VD_API vd_result vd_context_create_version(const vd_context_desc *desc, vd_context **out, uint32_t version);
#define vd_context_create(desc, out) vd_context_create_version(desc, out, VKDISPATCH_VERSION)
VD_API void vd_context_destroy(vd_context *ctx);    /* waits for its work; NULL is harmless */
VD_API const vd_device_info *vd_device(const vd_context *ctx, int index); /* NULL past the end */
VD_API vd_result vd_context_stats(vd_context *ctx, vd_stats *out);

/* ---- buffers ---- */

VD_API vd_buffer vd_buffer_create(vd_context *ctx, const vd_buffer_desc *desc);
VD_API void vd_buffer_destroy(vd_context *ctx, vd_buffer buffer); /* {0} is harmless; a dead handle sets the error text */
VD_API vd_result vd_buffer_query(vd_context *ctx, vd_buffer buffer, vd_buffer_info *out);
/* Bytes offset … offset + size - 1; any offset and size within the buffer, VD_WHOLE for the rest, 0 does nothing. */
VD_API vd_result vd_buffer_write(vd_context *ctx, vd_buffer buffer, uint64_t offset, const void *data, uint64_t size); /* copies before it returns */
VD_API vd_result vd_buffer_read(vd_context *ctx, vd_buffer buffer, uint64_t offset, void *data, uint64_t size);       /* waits */

/* ---- kernels ---- */

VD_API vd_kernel vd_kernel_create(vd_context *ctx, const vd_kernel_desc *desc);
VD_API void vd_kernel_destroy(vd_context *ctx, vd_kernel kernel);
VD_API vd_result vd_kernel_query(vd_context *ctx, vd_kernel kernel, vd_kernel_info *out);

/* ---- lists: NULL as a list fails with VD_ERROR_INVALID, so a failed vd_immediate or vd_list_begin needs no check of its own ---- */

VD_API vd_list *vd_immediate(vd_context *ctx, int device, int queue); /* the open batch of that queue; lives as long as the context; any thread */
VD_API vd_list *vd_list_begin(vd_context *ctx, const vd_list_desc *desc);
VD_API vd_result vd_list_end(vd_list *list);        /* the list's first error; the list may then be submitted or discarded */
VD_API void vd_list_discard(vd_list *list);         /* instead of vd_submit */
VD_API vd_result vd_submit(vd_list *list, const vd_submit_desc *desc, vd_event *out); /* ends the list if need be; a list of vd_list_begin is gone
                                                       afterwards, also on failure; out may be NULL */
VD_API vd_result vd_dispatch(vd_list *list, const vd_dispatch_desc *desc);
VD_API vd_result vd_copy(vd_list *list, vd_buffer to, uint64_t to_offset, vd_buffer from, uint64_t from_offset, uint64_t size); /* ranges of one buffer may not overlap */
VD_API vd_result vd_fill(vd_list *list, vd_buffer buffer, uint64_t offset, uint64_t size, const void *value, size_t value_size); /* repeats value of 1 … 64 bytes,
                                                       size a multiple of it; NULL: zeros */
VD_API vd_result vd_write(vd_list *list, vd_buffer buffer, uint64_t offset, const void *data, uint64_t size); /* data is copied before it returns */
VD_API vd_result vd_read_begin(vd_list *list, const vd_read_desc *desc, vd_ticket *out);
VD_API vd_result vd_read_ready(vd_context *ctx, vd_ticket ticket, uint64_t timeout_ns, const void **data); /* VD_TIMEOUT: not yet; data stays until vd_read_end */
VD_API void vd_read_end(vd_context *ctx, vd_ticket ticket);

/* ---- waiting ---- */

VD_API vd_result vd_flush(vd_context *ctx);         /* sends what is gathered */
VD_API vd_result vd_wait(vd_context *ctx, vd_event event, uint64_t timeout_ns); /* 0 polls */
VD_API vd_result vd_wait_idle(vd_context *ctx);     /* sends and waits for everything */

/* ---- arguments ---- */

static inline vd_arg vd_value(vd_type type, const void *from) { vd_arg a = { VD_ARG_VALUE, 0, 0, NULL }; a.type = type; a.from = from; return a; }
static inline vd_arg vd_bits(vd_type type, uint64_t bits) { vd_arg a = { VD_ARG_VALUE, 0, 0, NULL }; a.type = type; a.bits = bits; return a; }
static inline vd_arg vd_b(vd_buffer b) { vd_arg a = { VD_ARG_BINDING, 0, 0, NULL }; a.bits = b.id; return a; }
static inline vd_arg vd_bool(bool x) { return vd_bits(VD_BOOL, x ? 1 : 0); }
static inline vd_arg vd_i8(int8_t x) { return vd_bits(VD_I8, (uint8_t)x); }
static inline vd_arg vd_i16(int16_t x) { return vd_bits(VD_I16, (uint16_t)x); }
static inline vd_arg vd_i32(int32_t x) { return vd_bits(VD_I32, (uint32_t)x); }
static inline vd_arg vd_i64(int64_t x) { return vd_bits(VD_I64, (uint64_t)x); }
static inline vd_arg vd_u8(uint8_t x) { return vd_bits(VD_U8, x); }
static inline vd_arg vd_u16(uint16_t x) { return vd_bits(VD_U16, x); }
static inline vd_arg vd_u32(uint32_t x) { return vd_bits(VD_U32, x); }
static inline vd_arg vd_u64(uint64_t x) { return vd_bits(VD_U64, x); }
static inline vd_arg vd_f16_bits(uint16_t x) { return vd_bits(VD_F16, x); }
static inline vd_arg vd_f32(float x) { union { float f; uint32_t u; } c; c.f = x; return vd_bits(VD_F32, c.u); }
static inline vd_arg vd_f64(double x) { union { double f; uint64_t u; } c; c.f = x; return vd_bits(VD_F64, c.u); }

VD_API vd_result vd_run_args(vd_context *ctx, vd_kernel kernel, uint64_t x, uint64_t y, uint64_t z, const vd_arg *args, int arg_count);

#ifdef __cplusplus
}
/* vd_run(ctx, kernel, threads, vd_b(x), vd_f32(2)): one dispatch into the immediate list of device 0; returns a vd_result. vd_run2 and vd_run3 take two and three extents. */
template <class... Args> inline vd_result vd_run3(vd_context *ctx, vd_kernel kernel, uint64_t x, uint64_t y, uint64_t z, Args... args) {
    const vd_arg list[] = { args... };
    return vd_run_args(ctx, kernel, x, y, z, list, (int)sizeof...(args));
}
template <class... Args> inline vd_result vd_run2(vd_context *ctx, vd_kernel kernel, uint64_t x, uint64_t y, Args... args) { return vd_run3(ctx, kernel, x, y, 1, args...); }
template <class... Args> inline vd_result vd_run(vd_context *ctx, vd_kernel kernel, uint64_t x, Args... args) { return vd_run3(ctx, kernel, x, 1, 1, args...); }
#else
/* vd_run(ctx, kernel, threads, vd_b(x), vd_f32(2)): one dispatch into the immediate list of device 0; returns a vd_result. vd_run2 and vd_run3 take two and three extents. */
#define vd_run(ctx, kernel, x, ...) vd_run3(ctx, kernel, x, 1, 1, __VA_ARGS__)
#define vd_run2(ctx, kernel, x, y, ...) vd_run3(ctx, kernel, x, y, 1, __VA_ARGS__)
#define vd_run3(ctx, kernel, x, y, z, ...) \
    vd_run_args(ctx, kernel, x, y, z, (const vd_arg[]){ __VA_ARGS__ }, (int)(sizeof((const vd_arg[]){ __VA_ARGS__ }) / sizeof(vd_arg)))
#endif
#endif /* VKDISPATCH_H */

#ifdef VKDISPATCH_IMPLEMENTATION
#ifndef VKDISPATCH_IMPLEMENTED
#define VKDISPATCH_IMPLEMENTED

// >>config
/* Resolves the user's macros into VD__HAS_X; nothing later tests anything else. */

// >>platform
/* Threads, time, libraries, environment. Everything that differs between systems and compilers, and nothing else. */

// >>log
/* The thread's error text, and messages to the context's callback. */

// >>memory
/* The allocator, one growable array, one hash map, and the sub-allocator that deals out ranges of a block. */

// >>pool
/* Handles: slot (24 bits), generation (20) and context (20, from its address) in 64 bits. Objects lie in chunks that never move, so a look-up takes no lock. */

// >>objects
/* What stands behind the handles. `native` fields belong to the backend. */

typedef struct vd__backend vd__backend;
typedef struct vd__device vd__device;

enum { VD__STAGE_COMPUTE = 1, VD__STAGE_TRANSFER = 2, VD__STAGE_HOST = 4 };

/* Where memory lies. A backend may give the same memory for several of them. */
typedef enum vd__memory_kind {
    VD__MEMORY_DEVICE, /* fastest for kernels; mapped too where that costs nothing */
    VD__MEMORY_UPLOAD, /* mapped; the host writes in order */
    VD__MEMORY_READBACK, /* mapped; the host reads: cached where the device has such memory */
    VD__MEMORY_KINDS
} vd__memory_kind;

/* One driver allocation. */
typedef struct vd__block {
    uint64_t native[2];
    uint8_t *mapped;   /* host address, or NULL */
    uint64_t size;
    uint32_t type;     /* the backend's memory type */
    bool host_cached;  /* the host may read `mapped` at memory speed */
    bool coherent;     /* else the backend's sync operations are called around host access */
} vd__block;

/* What a driver buffer asks of its memory. */
typedef struct vd__need {
    uint64_t size, align;
    uint32_t types;    /* bit mask of memory types */
} vd__need;

/* One driver buffer: a vd_buffer's storage on one device, or a piece of staging. */
typedef struct vd__memory {
    uint64_t native[2];
    uint64_t address;  /* device address, 0 where there is none */
    uint64_t size;     /* bytes asked for */
    uint8_t *mapped;   /* host address of its first byte, or NULL */
    vd__block *block;
    uint64_t offset;   /* in the block */
    uint32_t serial;   /* unique in the context: the key of hazards */
} vd__memory;

typedef struct vd__kernel_code {
    uint64_t native[4];
} vd__kernel_code;

/* One bound buffer of a dispatch, in order of binding number. */
typedef struct vd__binding {
    const vd__memory *memory;
    uint64_t offset, size;
    uint32_t number;
} vd__binding;

typedef struct vd__launch {
    const vd__kernel_code *code;
    uint32_t groups[3];
    const void *values;        /* block of values, hidden ones and addresses filled in */
    uint32_t value_bytes;      /* multiple of 4 */
    const vd__binding *bindings;
    uint32_t binding_count;
} vd__launch;

/* One recording on its way to a queue; reused when its work is done. */
typedef struct vd__commands {
    uint64_t native[4];
    uint64_t value;            /* timeline value of its submission */
} vd__commands;

typedef struct vd__copy_range { uint64_t from, to, size; } vd__copy_range;

// >>backend
/* The contract with a backend.

   A backend allocates, compiles, records, submits and waits. Handles, argument checks, hazards, staging, lists and error texts are made once above it; a backend is
   only called with arguments that were checked, and sets the error text only for failures of its driver (vd__fail with the driver's words).
   `driver` is the opened library with its instance, `device` one opened device; both carry `native` pointers that belong to the backend and are freed by the close operation.
   Every create that fails leaves nothing behind. Every destroy takes what its create made and is called once, with no work using it left.
   Calls with the same `commands` or the same queue never overlap (the caller holds the queue's lock); all others may.

   driver_open       loads the library and makes an instance. VD_ERROR_NO_DEVICE: nothing here, try the next backend.
   driver_devices    fills in what there is, usable or not, best information first; returns the count.
   driver_close
   device_open       opens device `index`, fills dev->info (features after `disable`), makes queue 0 with a timeline that starts at 0.
   device_close
   block_create      one driver allocation of block->size bytes of memory type block->type; maps it where it can be.
   block_destroy
   block_sync        before the host reads (to_host) or after it wrote bytes of a block that is not coherent.
   memory_types      the types of `mask` that suit `kind`, best first, as a bit mask with one bit (0: none); called with what is left of the mask after a failure.
   memory_create     a driver buffer of m->size bytes without memory; tells what it needs.
   memory_bind       binds it to m->block at m->offset; sets m->address.
   memory_destroy
   kernel_create     compiles; desc is complete: args, local_size, value_bytes are set. VD_ERROR_COMPILE with the driver's log.
   kernel_destroy
   commands_create   an empty recording; commands_destroy.
   commands_begin    ready to record; keeps the driver's memory of the last time.
   commands_end
   record_barrier    what was written in stages `from` is seen by accesses in stages `to` (VD__STAGE_ bits).
   record_launch     binds, passes values, dispatches. No allocation once warm. VD_ERROR_… where the driver runs out of something.
   record_copy       copies `count` ranges.
   record_fill       fills [offset, offset + size) with a 32-bit word; both multiples of 4.
   queue_submit      sends a recording, which raises the timeline to commands->value when done. With commands == NULL only raises it to `value`, so that every
                     value handed out is reached even when a submission failed.
   queue_value       the timeline now; UINT64_MAX: device lost.
   queue_wait        until the timeline reaches value: VD_OK, VD_TIMEOUT or VD_ERROR_DEVICE_LOST. May block at once: the caller has spun already. */
#define VD__BACKEND_OPERATIONS(X) \
    X(vd_result, driver_open, (vd__driver *driver)) \
    X(int, driver_devices, (vd__driver *driver, vd_device_info *out, int capacity)) \
    X(void, driver_close, (vd__driver *driver)) \
    X(vd_result, device_open, (vd__driver *driver, int index, uint64_t disable, vd__device *dev)) \
    X(void, device_close, (vd__device *dev)) \
    X(vd_result, block_create, (vd__device *dev, vd__block *block)) \
    X(void, block_destroy, (vd__device *dev, vd__block *block)) \
    X(vd_result, block_sync, (vd__device *dev, vd__block *block, uint64_t offset, uint64_t size, bool to_host)) \
    X(uint32_t, memory_types, (vd__device *dev, vd__memory_kind kind, uint32_t mask)) \
    X(vd_result, memory_create, (vd__device *dev, vd__memory *m, vd__need *need)) \
    X(vd_result, memory_bind, (vd__device *dev, vd__memory *m)) \
    X(void, memory_destroy, (vd__device *dev, vd__memory *m)) \
    X(vd_result, kernel_create, (vd__device *dev, const vd_kernel_desc *desc, vd__kernel_code *code)) \
    X(void, kernel_destroy, (vd__device *dev, vd__kernel_code *code)) \
    X(vd_result, commands_create, (vd__device *dev, vd__commands *c)) \
    X(void, commands_destroy, (vd__device *dev, vd__commands *c)) \
    X(vd_result, commands_begin, (vd__device *dev, vd__commands *c)) \
    X(vd_result, commands_end, (vd__device *dev, vd__commands *c)) \
    X(void, record_barrier, (vd__device *dev, vd__commands *c, uint32_t from, uint32_t to)) \
    X(vd_result, record_launch, (vd__device *dev, vd__commands *c, const vd__launch *launch)) \
    X(void, record_copy, (vd__device *dev, vd__commands *c, const vd__memory *to, const vd__memory *from, const vd__copy_range *ranges, uint32_t count)) \
    X(void, record_fill, (vd__device *dev, vd__commands *c, const vd__memory *to, uint64_t offset, uint64_t size, uint32_t word)) \
    X(vd_result, queue_submit, (vd__device *dev, uint32_t queue, const vd__commands *c, uint64_t value)) \
    X(uint64_t, queue_value, (vd__device *dev, uint32_t queue)) \
    X(vd_result, queue_wait, (vd__device *dev, uint32_t queue, uint64_t value, uint64_t timeout_ns))

typedef struct vd__host { /* what a backend may use of the world above */
    vd_allocator allocator;
    void (*log)(void *user, vd_log_level level, const char *message);
    void *log_user;
    bool debug;
    const vd_device_info *dummy;
} vd__host;

typedef struct vd__driver {
    const vd__backend *backend;
    const vd__host *host;
    void *native;
} vd__driver;

/* The part of a device that backends see; the generic part wraps it. */
struct vd__device {
    vd__driver *driver;
    vd_device_info info;
    void *native;
};

#define VD__BACKEND_MEMBER(result, name, args) result (*name) args;
struct vd__backend {
    vd_backend id;
    const char *name;
    VD__BACKEND_OPERATIONS(VD__BACKEND_MEMBER)
};

#define VD__BACKEND_VULKAN(result, name, args) static result vd__vk_##name args;
#define VD__BACKEND_VULKAN_ENTRY(result, name, args) vd__vk_##name,
#define VD__BACKEND_DUMMY(result, name, args) static result vd__dummy_##name args;
#define VD__BACKEND_DUMMY_ENTRY(result, name, args) vd__dummy_##name,

// >>dummy
/* No device: limits set by hand, transfers between host arrays, kernels checked and not run. */

// >>vulkan api
/* The functions of Vulkan that we use, one list for the instance and one for the device; tables per driver and device, no globals besides volk's loader. */

#if VD__HAS_VULKAN
#if defined(VULKAN_H_) && !defined(VK_NO_PROTOTYPES)
#error "vkdispatch: define VK_NO_PROTOTYPES before vulkan/vulkan.h is included, or include vkdispatch.h with its implementation first"
#endif
#if VD__HAS_VOLK_IMPLEMENTATION
#define VOLK_IMPLEMENTATION
#endif
#include <volk.h>

#define VD__VK_LOADER_FUNCTIONS(X) \
    X(vkEnumerateInstanceVersion) \
    X(vkEnumerateInstanceExtensionProperties) \
    X(vkEnumerateInstanceLayerProperties) \
    X(vkCreateInstance)

#define VD__VK_INSTANCE_FUNCTIONS(X) \
    X(vkDestroyInstance) \
    X(vkEnumeratePhysicalDevices) \
    X(vkEnumerateDeviceExtensionProperties) \
    X(vkGetPhysicalDeviceProperties) \
    X(vkGetPhysicalDeviceProperties2) \
    X(vkGetPhysicalDeviceFeatures2) \
    X(vkGetPhysicalDeviceMemoryProperties2) \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkCreateDevice) \
    X(vkGetDeviceProcAddr)

#define VD__VK_DEVICE_FUNCTIONS(X) \
    X(vkDestroyDevice) \
    X(vkDeviceWaitIdle) \
    X(vkGetDeviceQueue) \
    X(vkQueueSubmit) \
    X(vkCreateSemaphore) \
    X(vkDestroySemaphore) \
    X(vkGetSemaphoreCounterValue) \
    X(vkWaitSemaphores) \
    X(vkAllocateMemory) \
    X(vkFreeMemory) \
    X(vkMapMemory) \
    X(vkFlushMappedMemoryRanges) \
    X(vkInvalidateMappedMemoryRanges) \
    X(vkCreateBuffer) \
    X(vkDestroyBuffer) \
    X(vkGetBufferMemoryRequirements) \
    X(vkBindBufferMemory) \
    X(vkGetBufferDeviceAddress) \
    X(vkCreateShaderModule) \
    X(vkDestroyShaderModule) \
    X(vkCreatePipelineCache) \
    X(vkDestroyPipelineCache) \
    X(vkCreatePipelineLayout) \
    X(vkDestroyPipelineLayout) \
    X(vkCreateComputePipelines) \
    X(vkDestroyPipeline) \
    X(vkCreateDescriptorSetLayout) \
    X(vkDestroyDescriptorSetLayout) \
    X(vkCreateDescriptorPool) \
    X(vkDestroyDescriptorPool) \
    X(vkAllocateDescriptorSets) \
    X(vkUpdateDescriptorSets) \
    X(vkCreateCommandPool) \
    X(vkDestroyCommandPool) \
    X(vkResetCommandPool) \
    X(vkAllocateCommandBuffers) \
    X(vkBeginCommandBuffer) \
    X(vkEndCommandBuffer) \
    X(vkCmdBindPipeline) \
    X(vkCmdBindDescriptorSets) \
    X(vkCmdPushConstants) \
    X(vkCmdDispatch) \
    X(vkCmdPipelineBarrier) \
    X(vkCmdCopyBuffer) \
    X(vkCmdFillBuffer)

/* What a VkResult is called, and what it is for our caller. */
#define VD__VK_RESULTS(X) \
    X(VK_TIMEOUT, VD_TIMEOUT) \
    X(VK_ERROR_OUT_OF_HOST_MEMORY, VD_ERROR_OUT_OF_MEMORY) \
    X(VK_ERROR_OUT_OF_DEVICE_MEMORY, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(VK_ERROR_OUT_OF_POOL_MEMORY, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(VK_ERROR_FRAGMENTATION, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(VK_ERROR_FRAGMENTED_POOL, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(VK_ERROR_TOO_MANY_OBJECTS, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(VK_ERROR_DEVICE_LOST, VD_ERROR_DEVICE_LOST) \
    X(VK_ERROR_MEMORY_MAP_FAILED, VD_ERROR_OUT_OF_MEMORY) \
    X(VK_ERROR_INITIALIZATION_FAILED, VD_ERROR_BACKEND) \
    X(VK_ERROR_LAYER_NOT_PRESENT, VD_ERROR_BACKEND) \
    X(VK_ERROR_EXTENSION_NOT_PRESENT, VD_ERROR_BACKEND) \
    X(VK_ERROR_FEATURE_NOT_PRESENT, VD_ERROR_BACKEND) \
    X(VK_ERROR_INCOMPATIBLE_DRIVER, VD_ERROR_NO_DEVICE) \
    X(VK_ERROR_INVALID_SHADER_NV, VD_ERROR_COMPILE) \
    X(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, VD_ERROR_BACKEND) \
    X(VK_ERROR_UNKNOWN, VD_ERROR_BACKEND)

#define VD__VK_MEMBER(name) PFN_##name name;

typedef struct vd__vk_driver {
    VD__VK_LOADER_FUNCTIONS(VD__VK_MEMBER)
    VD__VK_INSTANCE_FUNCTIONS(VD__VK_MEMBER)
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    uint32_t version;          /* of the instance, at most 1.3 */
    VkPhysicalDevice *devices;
    uint32_t device_count;
} vd__vk_driver;

/* Which bindings a kernel has. Kernels with the same ones share the layout, so that descriptor sets can be kept from one recording to the next. */
typedef struct vd__vk_layout {
    VkDescriptorSetLayout handle;
    uint64_t bindings;         /* bit mask of storage buffers in set 0 */
    uint32_t uniform;          /* 1 + binding of the block of values; 0: no such binding */
} vd__vk_layout;

typedef struct vd__vk_device {
    VD__VK_DEVICE_FUNCTIONS(VD__VK_MEMBER)
    VkDevice handle;
    VkQueue queue;
    VkSemaphore timeline;
    VkPipelineCache cache;
    uint32_t family;
    uint32_t uniform_alignment;
    uint64_t atom;             /* flushed and invalidated ranges are multiples of it */
    bool address;
    bool shared_memory;
    VkPhysicalDeviceMemoryProperties memory;
    vd__mutex lock;            /* of the layouts */
    vd__vk_layout *layouts;
    uint32_t layout_count, layout_capacity;
} vd__vk_device;

/* Declares a zeroed Vulkan struct with its type filled in. */
#define VD__VK_STRUCT(type, name, structure_type) \
    type name; \
    memset(&name, 0, sizeof name); \
    name.sType = structure_type

/* Vulkan's handles are pointers or 64-bit numbers, by platform. */
#define VD__VK_PACK(handle) ((uint64_t)(handle))
#define VD__VK_UNPACK(type, bits) ((type)(bits))

static vd__vk_driver *vd__vk_driver_of(const vd__driver *driver) { return (vd__vk_driver *)driver->native; }
static vd__vk_device *vd__vk_device_of(const vd__device *dev) { return (vd__vk_device *)dev->native; }
static const vd_allocator *vd__vk_allocator(const vd__device *dev) { return &dev->driver->host->allocator; }

static const char *vd__vk_result_name(VkResult result) {
#define VD__VK_RESULT_NAME(vk, vd) case vk: return #vk;
    switch (result) { VD__VK_RESULTS(VD__VK_RESULT_NAME) default: return NULL; }
#undef VD__VK_RESULT_NAME
}

static vd_result vd__vk_result_code(VkResult result) {
#define VD__VK_RESULT_CODE(vk, vd) case vk: return vd;
    switch (result) { VD__VK_RESULTS(VD__VK_RESULT_CODE) default: return VD_ERROR_BACKEND; }
#undef VD__VK_RESULT_CODE
}

/* Sets "Vulkan: <call> failed: VK_ERROR_…" with a result of our caller's choice. */
static vd_result vd__vk_fail_as(vd_result code, VkResult result, const char *format, va_list args) {
    char call[256];
    vsnprintf(call, sizeof call, format, args);
    const char *name = vd__vk_result_name(result);
    if (name) return vd__fail(code, "Vulkan: %s failed: %s", call, name);
    return vd__fail(code, "Vulkan: %s failed: VkResult %d", call, (int)result);
}

static VD__PRINTF(2, 3) vd_result vd__vk_fail(VkResult result, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vd_result code = vd__vk_fail_as(vd__vk_result_code(result), result, format, args);
    va_end(args);
    return code;
}

/* Opens libvulkan once in the process. An application that opened its own volk keeps it as it is. */
static bool vd__vk_library_open(void) {
    static vd__mutex lock = VD__MUTEX_INIT;
    vd__mutex_lock(&lock);
    bool open = vkGetInstanceProcAddr != NULL || volkInitialize() == VK_SUCCESS;
    vd__mutex_unlock(&lock);
    return open && vkGetInstanceProcAddr != NULL;
}

/* Both fill a table and return the name of the first function that is missing, or NULL. */
static const char *vd__vk_load_loader(vd__vk_driver *vk) {
    const char *missing = NULL;
#define VD__VK_LOAD(name) if (!(vk->name = (PFN_##name)vkGetInstanceProcAddr(NULL, #name)) && !missing) missing = #name;
    VD__VK_LOADER_FUNCTIONS(VD__VK_LOAD)
#undef VD__VK_LOAD
    return missing;
}

static const char *vd__vk_load_instance(vd__vk_driver *vk) {
    const char *missing = NULL;
#define VD__VK_LOAD(name) if (!(vk->name = (PFN_##name)vkGetInstanceProcAddr(vk->instance, #name)) && !missing) missing = #name;
    VD__VK_INSTANCE_FUNCTIONS(VD__VK_LOAD)
#undef VD__VK_LOAD
    return missing;
}

static const char *vd__vk_load_device(const vd__vk_driver *driver, vd__vk_device *vk) {
    const char *missing = NULL;
#define VD__VK_LOAD(name) if (!(vk->name = (PFN_##name)driver->vkGetDeviceProcAddr(vk->handle, #name)) && !missing) missing = #name;
    VD__VK_DEVICE_FUNCTIONS(VD__VK_LOAD)
#undef VD__VK_LOAD
    return missing;
}
#endif /* VD__HAS_VULKAN */

// >>vulkan device
/* Instance, device information, opening a device with the features it has. */

#if VD__HAS_VULKAN
#define VD__VK_VALIDATION "VK_LAYER_KHRONOS_validation"

/* Extensions of a device that we use where offered, and since which version they are part of Vulkan. The first stands for Vulkan 1.2 itself. */
#define VD__VK_EXTENSIONS(X) \
    X(CORE_1_2, "", VK_API_VERSION_1_2) \
    X(PORTABILITY, "VK_KHR_portability_subset", UINT32_MAX) \
    X(BUDGET, "VK_EXT_memory_budget", UINT32_MAX) \
    X(ATOMIC_FLOAT, "VK_EXT_shader_atomic_float", UINT32_MAX) \
    X(SUBGROUP_SIZE, "VK_EXT_subgroup_size_control", VK_API_VERSION_1_3) \
    X(DOT_PRODUCT, "VK_KHR_shader_integer_dot_product", VK_API_VERSION_1_3) \
    X(MAINTENANCE_4, "VK_KHR_maintenance4", VK_API_VERSION_1_3)

/* Structs of features and of properties: member of ours, type, structure type, extension that brings them. */
#define VD__VK_FEATURE_STRUCTS(X) \
    X(v11, VkPhysicalDeviceVulkan11Features, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, CORE_1_2) \
    X(v12, VkPhysicalDeviceVulkan12Features, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, CORE_1_2) \
    X(atomic_float, VkPhysicalDeviceShaderAtomicFloatFeaturesEXT, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT, ATOMIC_FLOAT) \
    X(subgroup_size, VkPhysicalDeviceSubgroupSizeControlFeatures, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, SUBGROUP_SIZE) \
    X(dot_product, VkPhysicalDeviceShaderIntegerDotProductFeatures, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES, DOT_PRODUCT) \
    X(maintenance4, VkPhysicalDeviceMaintenance4Features, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES, MAINTENANCE_4)

#define VD__VK_PROPERTY_STRUCTS(X) \
    X(v11, VkPhysicalDeviceVulkan11Properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, CORE_1_2) \
    X(v12, VkPhysicalDeviceVulkan12Properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES, CORE_1_2) \
    X(subgroup_size, VkPhysicalDeviceSubgroupSizeControlProperties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES, SUBGROUP_SIZE) \
    X(maintenance4, VkPhysicalDeviceMaintenance4Properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES, MAINTENANCE_4)

/* What our features need of Vulkan's: the bits that are lost without it, struct, member. A member is enabled if the device has it and one of its bits is wanted. */
#define VD__VK_FEATURES(X) \
    X(VD_FEATURE_F64, core.features, shaderFloat64) \
    X(VD_FEATURE_I16, core.features, shaderInt16) \
    X(VD_FEATURE_I64 | VD_FEATURE_ADDRESS | VD_FEATURE_ATOMIC_I64, core.features, shaderInt64) \
    X(VD_FEATURE_F16, v12, shaderFloat16) \
    X(VD_FEATURE_I8, v12, shaderInt8) \
    X(VD_FEATURE_STORAGE_8, v12, storageBuffer8BitAccess) \
    X(VD_FEATURE_STORAGE_16, v11, storageBuffer16BitAccess) \
    X(VD_FEATURE_ADDRESS, v12, bufferDeviceAddress) \
    X(VD_FEATURE_ATOMIC_I64, v12, shaderBufferInt64Atomics) \
    X(VD_FEATURE_ATOMIC_F32_ADD, atomic_float, shaderBufferFloat32AtomicAdd)

/* Enabled beside them where present; bits 0: always. */
#define VD__VK_EXTRAS(X) \
    X(0, v12, timelineSemaphore) \
    X(0, v12, scalarBlockLayout) \
    X(0, v12, uniformBufferStandardLayout) \
    X(0, v12, vulkanMemoryModel) \
    X(0, v12, vulkanMemoryModelDeviceScope) \
    X(0, v11, variablePointersStorageBuffer) \
    X(0, v11, variablePointers) \
    X(0, subgroup_size, subgroupSizeControl) \
    X(0, subgroup_size, computeFullSubgroups) \
    X(0, dot_product, shaderIntegerDotProduct) \
    X(0, maintenance4, maintenance4) \
    X(VD_FEATURE_SUBGROUP, v12, shaderSubgroupExtendedTypes) \
    X(VD_FEATURE_SUBGROUP, v12, subgroupBroadcastDynamicId) \
    X(VD_FEATURE_STORAGE_8, v12, uniformAndStorageBuffer8BitAccess) \
    X(VD_FEATURE_STORAGE_8, v12, storagePushConstant8) \
    X(VD_FEATURE_STORAGE_16, v11, uniformAndStorageBuffer16BitAccess) \
    X(VD_FEATURE_STORAGE_16, v11, storagePushConstant16) \
    X(VD_FEATURE_ATOMIC_I64, v12, shaderSharedInt64Atomics) \
    X(VD_FEATURE_ATOMIC_F32_ADD, atomic_float, shaderBufferFloat32Atomics) \
    X(VD_FEATURE_ATOMIC_F32_ADD, atomic_float, shaderSharedFloat32Atomics) \
    X(VD_FEATURE_ATOMIC_F32_ADD, atomic_float, shaderSharedFloat32AtomicAdd)

enum {
#define VD__VK_EXTENSION_INDEX(id, name, core) VD__VK_INDEX_##id,
    VD__VK_EXTENSIONS(VD__VK_EXTENSION_INDEX)
    VD__VK_EXTENSION_COUNT
};

#define VD__VK_HAS(facts, id) (((facts)->extensions >> VD__VK_INDEX_##id & 1u) != 0)
#define VD__VK_STRUCT_MEMBER(member, type, structure_type, extension) type member;

typedef struct vd__vk_features {
    VkPhysicalDeviceFeatures2 core;
    VD__VK_FEATURE_STRUCTS(VD__VK_STRUCT_MEMBER)
} vd__vk_features;

/* Everything asked of a physical device before it is opened. Structs that the device does not know stay zero. */
typedef struct vd__vk_facts {
    VkPhysicalDevice handle;
    uint32_t version;             /* of the device, at most the instance's */
    uint32_t extensions;          /* bit mask: usable, as part of the version or by name */
    const char *names[VD__VK_EXTENSION_COUNT]; /* to be enabled */
    uint32_t name_count;
    uint32_t family;              /* UINT32_MAX: no queue for compute work */
    uint32_t timestamp_bits;
    vd__vk_features features;
    VkPhysicalDeviceProperties2 core;
    VD__VK_PROPERTY_STRUCTS(VD__VK_STRUCT_MEMBER)
    VkPhysicalDeviceMemoryProperties2 memory;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget;
} vd__vk_facts;

/* ---- instance ---- */

static bool vd__vk_offered(const VkExtensionProperties *list, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i].extensionName, name) == 0) return true;
    }
    return false;
}

/* Extensions of the instance (layer NULL) or of a layer; NULL if there are none. To be freed. */
static VkExtensionProperties *vd__vk_instance_extensions(const vd__driver *driver, const char *layer, uint32_t *count) {
    const vd__vk_driver *vk = vd__vk_driver_of(driver);
    *count = 0;
    if (vk->vkEnumerateInstanceExtensionProperties(layer, count, NULL) < 0 || *count == 0) return NULL;
    VkExtensionProperties *list = (VkExtensionProperties *)vd__alloc(&driver->host->allocator, *count * sizeof *list);
    if (!list || vk->vkEnumerateInstanceExtensionProperties(layer, count, list) < 0) *count = 0;
    return list;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL vd__vk_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
    const VkDebugUtilsMessengerCallbackDataEXT *data, void *user) {
    (void)types;
    vd_log_level level = severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT ? VD_LOG_ERROR : VD_LOG_WARNING;
    vd__logf((const vd__host *)user, level, "Vulkan: %s", data->pMessage);
    return VK_FALSE;
}

/* What the debug wish adds to an instance. */
typedef struct vd__vk_debug {
    const char *layer;
    const char *names[2];
    uint32_t name_count;
    VkDebugUtilsMessengerCreateInfoEXT messenger;
    VkValidationFeaturesEXT validation;
    VkValidationFeatureEnableEXT synchronization;
} vd__vk_debug;

static void vd__vk_debug_prepare(const vd__driver *driver, vd__vk_debug *debug) {
    uint32_t count;
    memset(debug, 0, sizeof *debug);
    if (!driver->host->debug) return;
    VkExtensionProperties *list = vd__vk_instance_extensions(driver, VD__VK_VALIDATION, &count);
    if (!vd__vk_offered(list, count, VK_EXT_DEBUG_UTILS_EXTENSION_NAME)) {
        vd__logf(driver->host, VD_LOG_WARNING, "Vulkan: the layer %s is not installed, debug checks are off", VD__VK_VALIDATION);
    } else {
        debug->layer = VD__VK_VALIDATION;
        debug->names[debug->name_count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
        debug->messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
        debug->messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
        debug->messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
        debug->messenger.pfnUserCallback = vd__vk_message;
        debug->messenger.pUserData = (void *)(uintptr_t)driver->host;
    }
    if (debug->layer && vd__vk_offered(list, count, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME)) {
        debug->names[debug->name_count++] = VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME;
        debug->synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
        debug->validation.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
        debug->validation.enabledValidationFeatureCount = 1;
        debug->validation.pEnabledValidationFeatures = &debug->synchronization;
        debug->messenger.pNext = &debug->validation;
    }
    vd__free(&driver->host->allocator, list);
}

static vd_result vd__vk_instance_create(vd__driver *driver) {
    vd__vk_driver *vk = vd__vk_driver_of(driver);
    vd__vk_debug debug;
    vd__vk_debug_prepare(driver, &debug);
    const char *names[3];
    uint32_t name_count = 0, count;
    for (; name_count < debug.name_count; name_count++) names[name_count] = debug.names[name_count];
    VkExtensionProperties *list = vd__vk_instance_extensions(driver, NULL, &count);
    bool portable = vd__vk_offered(list, count, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    if (portable) names[name_count++] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
    vd__free(&driver->host->allocator, list);
    VD__VK_STRUCT(VkApplicationInfo, application, VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.pEngineName = "vkdispatch";
    application.engineVersion = VKDISPATCH_VERSION;
    application.apiVersion = vk->version;
    VD__VK_STRUCT(VkInstanceCreateInfo, info, VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pNext = debug.layer ? &debug.messenger : NULL;
    info.flags = portable ? (VkInstanceCreateFlags)VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0;
    info.pApplicationInfo = &application;
    info.enabledLayerCount = debug.layer ? 1 : 0;
    info.ppEnabledLayerNames = &debug.layer;
    info.enabledExtensionCount = name_count;
    info.ppEnabledExtensionNames = names;
    VkResult result = vk->vkCreateInstance(&info, NULL, &vk->instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) return vd__fail(VD_ERROR_NO_DEVICE, "Vulkan: libvulkan is there, but no driver is installed");
    if (result) return vd__vk_fail(result, "vkCreateInstance");
    const char *missing = vd__vk_load_instance(vk);
    if (missing) return vd__fail(VD_ERROR_NO_DEVICE, "Vulkan: the loader lacks %s", missing);
    if (!debug.layer) return VD_OK;
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(vk->instance, "vkCreateDebugUtilsMessengerEXT");
    debug.messenger.pNext = NULL;
    if (create && create(vk->instance, &debug.messenger, NULL, &vk->messenger)) vk->messenger = VK_NULL_HANDLE;
    return VD_OK;
}

/* The instance's version, at most 1.3: what we were written for. */
static vd_result vd__vk_version_choose(vd__vk_driver *vk) {
    uint32_t version = 0;
    VkResult result = vk->vkEnumerateInstanceVersion(&version);
    if (result) return vd__vk_fail(result, "vkEnumerateInstanceVersion");
    if (version < VK_API_VERSION_1_2) {
        return vd__fail(VD_ERROR_NO_DEVICE, "Vulkan: the loader gives Vulkan %u.%u, 1.2 is needed", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
    }
    vk->version = version < VK_API_VERSION_1_3 ? VK_API_VERSION_1_2 : VK_API_VERSION_1_3;
    return VD_OK;
}

static vd_result vd__vk_devices_list(vd__driver *driver) {
    vd__vk_driver *vk = vd__vk_driver_of(driver);
    uint32_t count = 0;
    VkResult result = vk->vkEnumeratePhysicalDevices(vk->instance, &count, NULL);
    if (result) return vd__vk_fail(result, "vkEnumeratePhysicalDevices");
    if (count == 0) return vd__fail(VD_ERROR_NO_DEVICE, "Vulkan: libvulkan is there, but no driver has a device");
    vk->devices = (VkPhysicalDevice *)vd__alloc(&driver->host->allocator, count * sizeof *vk->devices);
    if (!vk->devices) return vd__fail(VD_ERROR_OUT_OF_MEMORY, "Vulkan: no host memory for a list of %u devices", count);
    result = vk->vkEnumeratePhysicalDevices(vk->instance, &count, vk->devices);
    if (result < 0) return vd__vk_fail(result, "vkEnumeratePhysicalDevices");
    vk->device_count = count;
    return VD_OK;
}

static vd_result vd__vk_driver_start(vd__driver *driver) {
    vd__vk_driver *vk = vd__vk_driver_of(driver);
    const char *missing = vd__vk_load_loader(vk);
    if (missing) return vd__fail(VD_ERROR_NO_DEVICE, "Vulkan: libvulkan lacks %s, Vulkan 1.2 is needed", missing);
    vd_result result = vd__vk_version_choose(vk);
    if (!result) result = vd__vk_instance_create(driver);
    if (!result) result = vd__vk_devices_list(driver);
    return result;
}

static vd_result vd__vk_driver_open(vd__driver *driver) {
    if (!vd__vk_library_open()) return vd__fail(VD_ERROR_NO_DEVICE, "Vulkan: libvulkan could not be opened; is a Vulkan loader installed?");
    driver->native = vd__alloc(&driver->host->allocator, sizeof(vd__vk_driver));
    if (!driver->native) return vd__fail(VD_ERROR_OUT_OF_MEMORY, "Vulkan: no host memory for the instance");
    memset(driver->native, 0, sizeof(vd__vk_driver));
    vd_result result = vd__vk_driver_start(driver);
    if (result) vd__vk_driver_close(driver);
    return result;
}

static void vd__vk_driver_close(vd__driver *driver) {
    vd__vk_driver *vk = vd__vk_driver_of(driver);
    if (vk->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(vk->instance, "vkDestroyDebugUtilsMessengerEXT");
        if (destroy) destroy(vk->instance, vk->messenger, NULL);
    }
    if (vk->instance && vk->vkDestroyInstance) vk->vkDestroyInstance(vk->instance, NULL);
    vd__free(&driver->host->allocator, vk->devices);
    vd__free(&driver->host->allocator, vk);
    driver->native = NULL;
}

/* ---- what a device is ---- */

static void vd__vk_facts_extensions(const vd__driver *driver, vd__vk_facts *facts) {
    static const struct { const char *name; uint32_t core; } table[] = {
#define VD__VK_EXTENSION_ROW(id, name, core) { name, core },
        VD__VK_EXTENSIONS(VD__VK_EXTENSION_ROW)
    };
    const vd__vk_driver *vk = vd__vk_driver_of(driver);
    uint32_t count = 0;
    VkExtensionProperties *list = NULL;
    vk->vkEnumerateDeviceExtensionProperties(facts->handle, NULL, &count, NULL);
    if (count) list = (VkExtensionProperties *)vd__alloc(&driver->host->allocator, count * sizeof *list);
    if (!list || vk->vkEnumerateDeviceExtensionProperties(facts->handle, NULL, &count, list) < 0) count = 0;
    for (uint32_t i = 0; i < VD__VK_EXTENSION_COUNT; i++) {
        bool core = facts->version >= table[i].core;
        if (!core && !vd__vk_offered(list, count, table[i].name)) continue;
        facts->extensions |= 1u << i;
        if (!core) facts->names[facts->name_count++] = table[i].name;
    }
    vd__free(&driver->host->allocator, list);
}

/* Links the structs that the device knows behind `next`. */
#define VD__VK_CHAIN(member, type, structure_type, extension) \
    if (VD__VK_HAS(facts, extension)) { at->member.sType = structure_type; *next = &at->member; next = &at->member.pNext; }

static void vd__vk_chain_features(const vd__vk_facts *facts, vd__vk_features *at) {
    void **next = &at->core.pNext;
    at->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    VD__VK_FEATURE_STRUCTS(VD__VK_CHAIN)
}

static void vd__vk_chain_properties(vd__vk_facts *facts) {
    vd__vk_facts *at = facts;
    void **next = &at->core.pNext;
    at->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    VD__VK_PROPERTY_STRUCTS(VD__VK_CHAIN)
    next = &at->memory.pNext;
    at->memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
    VD__VK_CHAIN(budget, VkPhysicalDeviceMemoryBudgetPropertiesEXT, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT, BUDGET)
}

/* A family that computes but does not draw, else the first that computes: submits cost less there, and NVIDIA gives kernels twice the shared memory. */
static void vd__vk_facts_family(const vd__vk_driver *vk, vd__vk_facts *facts) {
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    bool chosen_draws = true;
    facts->family = UINT32_MAX;
    vk->vkGetPhysicalDeviceQueueFamilyProperties(facts->handle, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        bool draws = (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
        if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) || families[i].queueCount == 0) continue;
        if (facts->family != UINT32_MAX && (draws || !chosen_draws)) continue;
        facts->family = i;
        facts->timestamp_bits = families[i].timestampValidBits;
        chosen_draws = draws;
    }
}

static void vd__vk_facts_get(const vd__driver *driver, int index, vd__vk_facts *facts) {
    const vd__vk_driver *vk = vd__vk_driver_of(driver);
    memset(facts, 0, sizeof *facts);
    facts->handle = vk->devices[index];
    vk->vkGetPhysicalDeviceProperties(facts->handle, &facts->core.properties);
    uint32_t version = facts->core.properties.apiVersion;
    facts->version = version < vk->version ? version : vk->version;
    vd__vk_facts_extensions(driver, facts);
    vd__vk_chain_features(facts, &facts->features);
    vd__vk_chain_properties(facts);
    vd__vk_facts_family(vk, facts);
    vk->vkGetPhysicalDeviceProperties2(facts->handle, &facts->core);
    vk->vkGetPhysicalDeviceFeatures2(facts->handle, &facts->features.core);
    vk->vkGetPhysicalDeviceMemoryProperties2(facts->handle, &facts->memory);
}

static void vd__vk_info_names(const vd__vk_facts *facts, vd_device_info *info) {
    static const vd_device_type types[] = { VD_DEVICE_OTHER, VD_DEVICE_INTEGRATED, VD_DEVICE_DISCRETE, VD_DEVICE_VIRTUAL, VD_DEVICE_CPU };
    const VkPhysicalDeviceProperties *p = &facts->core.properties;
    info->backend = VD_BACKEND_VULKAN;
    snprintf(info->name, sizeof info->name, "%s", p->deviceName);
    snprintf(info->driver, sizeof info->driver, "%.120s %.120s", facts->v12.driverName, facts->v12.driverInfo);
    info->vendor_id = p->vendorID;
    info->device_id = p->deviceID;
    info->api_version[0] = VK_API_VERSION_MAJOR(p->apiVersion);
    info->api_version[1] = VK_API_VERSION_MINOR(p->apiVersion);
    info->api_version[2] = VK_API_VERSION_PATCH(p->apiVersion);
    info->driver_version = p->driverVersion;
    info->type = (size_t)p->deviceType < sizeof types / sizeof *types ? types[p->deviceType] : VD_DEVICE_OTHER;
    memcpy(info->uuid, facts->v11.deviceUUID, sizeof info->uuid);
}

static void vd__vk_info_memory(const vd__vk_facts *facts, vd_device_info *info) {
    const VkPhysicalDeviceMemoryProperties *m = &facts->memory.memoryProperties;
    for (uint32_t i = 0; i < m->memoryHeapCount; i++) {
        uint64_t size = m->memoryHeaps[i].size, budget = facts->budget.heapBudget[i], used = facts->budget.heapUsage[i];
        if (!(m->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)) {
            if (size > info->host_memory) info->host_memory = size;
        } else if (size > info->device_memory) {
            info->device_memory = size;
            info->device_budget = budget > used ? budget - used : 0;
        }
    }
    info->shared_memory = info->type == VD_DEVICE_INTEGRATED || info->type == VD_DEVICE_CPU || info->host_memory == 0;
}

static uint64_t vd__vk_min(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void vd__vk_info_limits(const vd__vk_facts *facts, vd_device_info *info) {
    const VkPhysicalDeviceLimits *from = &facts->core.properties.limits;
    vd_limits *to = &info->limits;
    for (int i = 0; i < 3; i++) {
        to->max_groups[i] = from->maxComputeWorkGroupCount[i];
        to->max_local_size[i] = from->maxComputeWorkGroupSize[i];
    }
    to->max_local_invocations = from->maxComputeWorkGroupInvocations;
    to->max_shared_bytes = from->maxComputeSharedMemorySize;
    to->max_push_bytes = from->maxPushConstantsSize;
    to->max_bindings = (uint32_t)vd__vk_min(from->maxPerStageDescriptorStorageBuffers, from->maxDescriptorSetStorageBuffers);
    to->max_bindings = (uint32_t)vd__vk_min(to->max_bindings, from->maxPerStageResources);
    to->binding_alignment = (uint32_t)from->minStorageBufferOffsetAlignment;
    to->subgroup_size = facts->v11.subgroupSize;
    to->min_subgroup_size = facts->subgroup_size.minSubgroupSize ? facts->subgroup_size.minSubgroupSize : to->subgroup_size;
    to->max_subgroup_size = facts->subgroup_size.maxSubgroupSize ? facts->subgroup_size.maxSubgroupSize : to->subgroup_size;
    to->max_binding_bytes = from->maxStorageBufferRange;
    to->max_buffer_bytes = vd__vk_min(info->device_memory, facts->v11.maxMemoryAllocationSize);
    if (facts->maintenance4.maxBufferSize) to->max_buffer_bytes = vd__vk_min(to->max_buffer_bytes, facts->maintenance4.maxBufferSize);
}

/* Drivers whose fma of f32 is known to round once. llvmpipe's multiplies, rounds and adds. */
static bool vd__vk_fma_rounds_once(VkDriverId id) {
    return id == VK_DRIVER_ID_NVIDIA_PROPRIETARY || id == VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA || id == VK_DRIVER_ID_INTEL_PROPRIETARY_WINDOWS;
}

static bool vd__vk_has_subgroups(const vd__vk_facts *facts) {
    const VkSubgroupFeatureFlags needed = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
        VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    return (facts->v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) && (facts->v11.subgroupSupportedOperations & needed) == needed;
}

static void vd__vk_info_features(const vd__vk_facts *facts, uint64_t disable, vd_device_info *info) {
    uint64_t features = VD_FEATURE_IMAGE;
#define VD__VK_GIVES(bits, part, member) features |= (uint64_t)(bits);
#define VD__VK_TAKES(bits, part, member) if (!facts->features.part.member) features &= ~(uint64_t)(bits);
    VD__VK_FEATURES(VD__VK_GIVES)
    VD__VK_FEATURES(VD__VK_TAKES)
#undef VD__VK_GIVES
#undef VD__VK_TAKES
    if (vd__vk_has_subgroups(facts)) features |= VD_FEATURE_SUBGROUP;
    if (vd__vk_fma_rounds_once(facts->v12.driverID)) features |= VD_FEATURE_FMA;
    if (facts->timestamp_bits) features |= VD_FEATURE_TIMESTAMP;
    features &= ~disable;
    if (!(features & VD_FEATURE_I64)) features &= ~(uint64_t)(VD_FEATURE_ADDRESS | VD_FEATURE_ATOMIC_I64);
    info->features = features;
    info->timestamp_ns = features & VD_FEATURE_TIMESTAMP ? (double)facts->core.properties.limits.timestampPeriod : 0;
}

static void vd__vk_info_get(const vd__vk_facts *facts, int index, uint64_t disable, vd_device_info *info) {
    memset(info, 0, sizeof *info);
    info->index = index;
    vd__vk_info_names(facts, info);
    vd__vk_info_memory(facts, info);
    vd__vk_info_limits(facts, info);
    vd__vk_info_features(facts, disable, info);
}

static int vd__vk_driver_devices(vd__driver *driver, vd_device_info *out, int capacity) {
    int count = (int)vd__vk_driver_of(driver)->device_count;
    vd__vk_facts facts;
    for (int i = 0; i < count && i < capacity; i++) {
        vd__vk_facts_get(driver, i, &facts);
        vd__vk_info_get(&facts, i, 0, &out[i]);
    }
    return count;
}

/* ---- opening ---- */

static vd_result vd__vk_device_usable(const vd__vk_facts *facts, int index) {
    const VkPhysicalDeviceProperties *p = &facts->core.properties;
    const char *lacks = !facts->features.v12.timelineSemaphore ? "timeline semaphores" : facts->family == UINT32_MAX ? "a queue for compute work" : NULL;
    if (!VD__VK_HAS(facts, CORE_1_2)) {
        return vd__fail(VD_ERROR_NO_DEVICE, "Vulkan: device %d '%s' gives Vulkan %u.%u, 1.2 is needed", index, p->deviceName,
            VK_API_VERSION_MAJOR(p->apiVersion), VK_API_VERSION_MINOR(p->apiVersion));
    }
    if (lacks) return vd__fail(VD_ERROR_NO_DEVICE, "Vulkan: device %d '%s' lacks %s", index, p->deviceName, lacks);
    return VD_OK;
}

static VkResult vd__vk_device_create(const vd__vk_driver *driver, const vd__vk_facts *facts, uint64_t wanted, VkDevice *out) {
    vd__vk_features enable;
    memset(&enable, 0, sizeof enable);
    vd__vk_chain_features(facts, &enable);
#define VD__VK_ENABLE(bits, part, member) \
    if (facts->features.part.member && ((bits) == 0 || (wanted & (uint64_t)(bits)))) enable.part.member = VK_TRUE;
    VD__VK_FEATURES(VD__VK_ENABLE)
    VD__VK_EXTRAS(VD__VK_ENABLE)
#undef VD__VK_ENABLE
    const float priority = 1;
    VD__VK_STRUCT(VkDeviceQueueCreateInfo, queue, VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue.queueFamilyIndex = facts->family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VD__VK_STRUCT(VkDeviceCreateInfo, info, VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.pNext = &enable.core;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = facts->name_count;
    info.ppEnabledExtensionNames = facts->names;
    return driver->vkCreateDevice(facts->handle, &info, NULL, out);
}

static vd_result vd__vk_timeline_create(vd__vk_device *vk) {
    VD__VK_STRUCT(VkSemaphoreTypeCreateInfo, type, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VD__VK_STRUCT(VkSemaphoreCreateInfo, info, VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    info.pNext = &type;
    VkResult result = vk->vkCreateSemaphore(vk->handle, &info, NULL, &vk->timeline);
    return result ? vd__vk_fail(result, "vkCreateSemaphore of a timeline") : VD_OK;
}

static vd_result vd__vk_device_start(vd__device *dev, const vd__vk_facts *facts) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VkResult result = vd__vk_device_create(vd__vk_driver_of(dev->driver), facts, dev->info.features, &vk->handle);
    if (result) return vd__vk_fail(result, "vkCreateDevice on '%s'", dev->info.name);
    const char *missing = vd__vk_load_device(vd__vk_driver_of(dev->driver), vk);
    if (missing) return vd__fail(VD_ERROR_NO_DEVICE, "Vulkan: device '%s' lacks %s", dev->info.name, missing);
    vk->family = facts->family;
    vk->uniform_alignment = (uint32_t)facts->core.properties.limits.minUniformBufferOffsetAlignment;
    vk->atom = facts->core.properties.limits.nonCoherentAtomSize;
    vk->address = (dev->info.features & VD_FEATURE_ADDRESS) != 0;
    vk->shared_memory = dev->info.shared_memory;
    vk->memory = facts->memory.memoryProperties;
    vk->vkGetDeviceQueue(vk->handle, vk->family, 0, &vk->queue);
    VD__VK_STRUCT(VkPipelineCacheCreateInfo, cache, VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
    result = vk->vkCreatePipelineCache(vk->handle, &cache, NULL, &vk->cache);
    return result ? vd__vk_fail(result, "vkCreatePipelineCache") : vd__vk_timeline_create(vk);
}

static vd_result vd__vk_device_open(vd__driver *driver, int index, uint64_t disable, vd__device *dev) {
    vd__vk_facts facts;
    int count = (int)vd__vk_driver_of(driver)->device_count;
    if (index < 0 || index >= count) return vd__fail(VD_ERROR_NO_DEVICE, "Vulkan: there is no device %d, only %d of them", index, count);
    vd__vk_facts_get(driver, index, &facts);
    vd_result result = vd__vk_device_usable(&facts, index);
    if (result) return result;
    vd__vk_info_get(&facts, index, disable, &dev->info);
    dev->driver = driver;
    dev->native = vd__alloc(&driver->host->allocator, sizeof(vd__vk_device));
    if (!dev->native) return vd__fail(VD_ERROR_OUT_OF_MEMORY, "Vulkan: no host memory for device '%s'", dev->info.name);
    memset(dev->native, 0, sizeof(vd__vk_device));
    vd__mutex_init(&vd__vk_device_of(dev)->lock);
    result = vd__vk_device_start(dev, &facts);
    if (result) vd__vk_device_close(dev);
    return result;
}

static void vd__vk_device_close(vd__device *dev) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    if (vk->handle && vk->vkDestroyDevice) {
        for (uint32_t i = 0; i < vk->layout_count; i++) vk->vkDestroyDescriptorSetLayout(vk->handle, vk->layouts[i].handle, NULL);
        if (vk->cache) vk->vkDestroyPipelineCache(vk->handle, vk->cache, NULL);
        if (vk->timeline) vk->vkDestroySemaphore(vk->handle, vk->timeline, NULL);
        vk->vkDestroyDevice(vk->handle, NULL);
    }
    vd__mutex_destroy(&vk->lock);
    vd__free(vd__vk_allocator(dev), vk->layouts);
    vd__free(vd__vk_allocator(dev), vk);
    dev->native = NULL;
}
#endif /* VD__HAS_VULKAN */

// >>vulkan memory
/* Blocks and buffers. */

#if VD__HAS_VULKAN
/* ---- blocks ---- */

static vd_result vd__vk_block_map(vd__vk_device *vk, vd__block *block) {
    void *mapped = NULL;
    VkMemoryPropertyFlags flags = vk->memory.memoryTypes[block->type].propertyFlags;
    block->mapped = NULL;
    block->host_cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    block->coherent = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    if (!(flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)) return VD_OK;
    VkResult result = vk->vkMapMemory(vk->handle, VD__VK_UNPACK(VkDeviceMemory, block->native[0]), 0, VK_WHOLE_SIZE, 0, &mapped);
    if (result) return vd__vk_fail(result, "vkMapMemory of %llu bytes of memory type %u", (unsigned long long)block->size, block->type);
    block->mapped = (uint8_t *)mapped;
    return VD_OK;
}

static vd_result vd__vk_block_create(vd__device *dev, vd__block *block) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VD__VK_STRUCT(VkMemoryAllocateFlagsInfo, flags, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VD__VK_STRUCT(VkMemoryAllocateInfo, info, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    info.pNext = vk->address ? &flags : NULL;
    info.allocationSize = block->size;
    info.memoryTypeIndex = block->type;
    VkResult result = vk->vkAllocateMemory(vk->handle, &info, NULL, &memory);
    if (result) return vd__vk_fail(result, "vkAllocateMemory of %llu bytes of memory type %u", (unsigned long long)block->size, block->type);
    block->native[0] = VD__VK_PACK(memory);
    vd_result mapped = vd__vk_block_map(vk, block);
    if (mapped) vd__vk_block_destroy(dev, block);
    return mapped;
}

static void vd__vk_block_destroy(vd__device *dev, vd__block *block) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vk->vkFreeMemory(vk->handle, VD__VK_UNPACK(VkDeviceMemory, block->native[0]), NULL);
    block->native[0] = 0;
    block->mapped = NULL;
}

static vd_result vd__vk_block_sync(vd__device *dev, vd__block *block, uint64_t offset, uint64_t size, bool to_host) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    uint64_t from = offset / vk->atom * vk->atom, to = (offset + size + vk->atom - 1) / vk->atom * vk->atom;
    VD__VK_STRUCT(VkMappedMemoryRange, range, VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE);
    range.memory = VD__VK_UNPACK(VkDeviceMemory, block->native[0]);
    range.offset = from;
    range.size = to < block->size ? to - from : VK_WHOLE_SIZE;
    VkResult result = to_host ? vk->vkInvalidateMappedMemoryRanges(vk->handle, 1, &range) : vk->vkFlushMappedMemoryRanges(vk->handle, 1, &range);
    if (!result) return VD_OK;
    return vd__vk_fail(result, "%s of %llu bytes", to_host ? "vkInvalidateMappedMemoryRanges" : "vkFlushMappedMemoryRanges", (unsigned long long)size);
}

/* ---- memory types ---- */

/* A mapped device-local type is as good as an unmapped one, and saves the staging copy, where the host sees most of the device's memory; a small window
   on it (256 MiB without resizable BAR) is too precious. */
static bool vd__vk_heap_is_large(const vd__vk_device *vk, const vd__device *dev, uint32_t type) {
    return vk->memory.memoryHeaps[vk->memory.memoryTypes[type].heapIndex].size >= dev->info.device_memory / 2;
}

/* How well a type suits; 0: not at all. Memory that needs features we do not enable does not count. */
static int vd__vk_type_score(const vd__device *dev, vd__memory_kind kind, uint32_t type) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    const VkMemoryPropertyFlags usual = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    VkMemoryPropertyFlags flags = vk->memory.memoryTypes[type].propertyFlags;
    bool local = (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    bool mapped = (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    bool coherent = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    bool cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    bool own_side = local == vk->shared_memory; /* staging lies in host memory unless all memory is one */
    if (flags & ~usual) return 0;
    if (kind == VD__MEMORY_DEVICE && !local) return 0;
    if (kind == VD__MEMORY_DEVICE && !mapped) return 2;
    if (kind == VD__MEMORY_DEVICE) return vd__vk_heap_is_large(vk, dev, type) && coherent ? 3 + cached : 1;
    if (!mapped) return 0;
    if (kind == VD__MEMORY_UPLOAD) return 1 + 4 * coherent + 2 * own_side + !cached;
    return 1 + 4 * cached + 2 * coherent + own_side;
}

static uint32_t vd__vk_memory_types(vd__device *dev, vd__memory_kind kind, uint32_t mask) {
    uint32_t best = 0;
    int best_score = 0;
    for (uint32_t i = 0; i < vd__vk_device_of(dev)->memory.memoryTypeCount; i++) {
        int score = mask >> i & 1u ? vd__vk_type_score(dev, kind, i) : 0;
        if (score <= best_score) continue;
        best = 1u << i;
        best_score = score;
    }
    return best;
}

/* ---- buffers ---- */

static vd_result vd__vk_memory_create(vd__device *dev, vd__memory *m, vd__need *need) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VkBuffer buffer = VK_NULL_HANDLE;
    VkMemoryRequirements needs;
    VD__VK_STRUCT(VkBufferCreateInfo, info, VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = m->size;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
        VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
    if (vk->address) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    VkResult result = vk->vkCreateBuffer(vk->handle, &info, NULL, &buffer);
    if (result) return vd__vk_fail(result, "vkCreateBuffer of %llu bytes", (unsigned long long)m->size);
    vk->vkGetBufferMemoryRequirements(vk->handle, buffer, &needs);
    m->native[0] = VD__VK_PACK(buffer);
    need->size = needs.size;
    need->align = needs.alignment;
    need->types = needs.memoryTypeBits;
    return VD_OK;
}

static vd_result vd__vk_memory_bind(vd__device *dev, vd__memory *m) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VkBuffer buffer = VD__VK_UNPACK(VkBuffer, m->native[0]);
    VkResult result = vk->vkBindBufferMemory(vk->handle, buffer, VD__VK_UNPACK(VkDeviceMemory, m->block->native[0]), m->offset);
    if (result) return vd__vk_fail(result, "vkBindBufferMemory of %llu bytes", (unsigned long long)m->size);
    VD__VK_STRUCT(VkBufferDeviceAddressInfo, info, VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
    info.buffer = buffer;
    m->address = vk->address ? vk->vkGetBufferDeviceAddress(vk->handle, &info) : 0;
    return VD_OK;
}

static void vd__vk_memory_destroy(vd__device *dev, vd__memory *m) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vk->vkDestroyBuffer(vk->handle, VD__VK_UNPACK(VkBuffer, m->native[0]), NULL);
    m->native[0] = 0;
}
#endif /* VD__HAS_VULKAN */

// >>vulkan kernel
/* Pipelines; the block of values moves from push constants to a uniform buffer where it is too large. */

#if VD__HAS_VULKAN
typedef struct vd__vk_kernel {
    VkPipeline pipeline;
    VkPipelineLayout layout;
    VkDescriptorSetLayout set_layout; /* null: no bindings */
    uint32_t set_index;        /* of the layout in the device */
    uint32_t binding_count;    /* storage buffers */
    uint32_t first_binding;
    uint32_t uniform;          /* 1 + binding of the block of values; 0: push constants or no values */
    uint32_t push_bytes;
    uint32_t value_bytes;
} vd__vk_kernel;

static vd__vk_kernel *vd__vk_kernel_of(const vd__kernel_code *code) { return (vd__vk_kernel *)(uintptr_t)code->native[0]; }

/* ---- moving the block of values ----
   A block of 32-bit members has the same layout as push constants and as a uniform block, so that the move is a change of storage class in the variable and its
   pointer types, and two decorations more. SPIR-V: five words of header, then instructions whose first word is length << 16 | opcode. */

enum { VD__VK_OP_TYPE_INT = 21, VD__VK_OP_TYPE_STRUCT = 30, VD__VK_OP_TYPE_POINTER = 32, VD__VK_OP_TYPE_FORWARD_POINTER = 39, VD__VK_OP_VARIABLE = 59,
    VD__VK_OP_DECORATE = 71, VD__VK_OP_MEMBER_DECORATE = 72 };
enum { VD__VK_CLASS_UNIFORM = 2, VD__VK_CLASS_PUSH_CONSTANT = 9 };
enum { VD__VK_DECORATION_BINDING = 33, VD__VK_DECORATION_SET = 34 };
enum { VD__VK_MOVE_EXTRA = 8 }; /* words */

typedef struct vd__vk_module {
    const uint32_t *words;
    size_t count;
} vd__vk_module;

static uint32_t vd__vk_op_length(const uint32_t *op) { return *op >> 16 ? *op >> 16 : 1; }

/* The first instruction with this opcode whose word `at` is `value`, or NULL. */
static const uint32_t *vd__vk_module_find(const vd__vk_module *m, uint32_t opcode, uint32_t at, uint32_t value) {
    const uint32_t *end = m->words + m->count;
    for (const uint32_t *op = m->words + 5; op < end; op += vd__vk_op_length(op)) {
        if ((*op & 0xffffu) == opcode && vd__vk_op_length(op) > at && op + at < end && op[at] == value) return op;
    }
    return NULL;
}

/* The variable in push constants, if its block is made of 32-bit integers only, or NULL. */
static const uint32_t *vd__vk_module_values(const vd__vk_module *m) {
    const uint32_t *variable = vd__vk_module_find(m, VD__VK_OP_VARIABLE, 3, VD__VK_CLASS_PUSH_CONSTANT);
    const uint32_t *pointer = variable ? vd__vk_module_find(m, VD__VK_OP_TYPE_POINTER, 1, variable[1]) : NULL;
    const uint32_t *block = pointer ? vd__vk_module_find(m, VD__VK_OP_TYPE_STRUCT, 1, pointer[3]) : NULL;
    uint32_t known = 0;
    if (!block) return NULL;
    for (uint32_t i = 2; i < vd__vk_op_length(block); i++) {
        if (block[i] == known) continue;
        const uint32_t *member = vd__vk_module_find(m, VD__VK_OP_TYPE_INT, 1, block[i]);
        if (!member || member[2] != 32) return NULL;
        known = block[i];
    }
    return variable;
}

static uint32_t *vd__vk_decorate(uint32_t *out, uint32_t id, uint32_t decoration, uint32_t value) {
    out[0] = 4u << 16 | VD__VK_OP_DECORATE;
    out[1] = id;
    out[2] = decoration;
    out[3] = value;
    return out + 4;
}

/* Which word of an instruction holds the storage class; 0: none that matters. */
static uint32_t vd__vk_class_at(uint32_t opcode) {
    return opcode == VD__VK_OP_TYPE_POINTER || opcode == VD__VK_OP_TYPE_FORWARD_POINTER ? 2 : opcode == VD__VK_OP_VARIABLE ? 3 : 0;
}

/* Writes the module with its values in a uniform block at `binding` of set 0. `out` has room for VD__VK_MOVE_EXTRA words more than the module. */
static size_t vd__vk_module_move(const vd__vk_module *m, uint32_t variable, uint32_t binding, uint32_t *out) {
    const uint32_t *end = m->words + m->count;
    uint32_t *to = out + 5;
    bool decorated = false;
    memcpy(out, m->words, 5 * sizeof *out);
    for (const uint32_t *op = m->words + 5; op < end; op += vd__vk_op_length(op)) {
        uint32_t opcode = *op & 0xffffu, length = vd__vk_op_length(op), at = vd__vk_class_at(opcode);
        if (!decorated && (opcode == VD__VK_OP_DECORATE || opcode == VD__VK_OP_MEMBER_DECORATE)) {
            to = vd__vk_decorate(to, variable, VD__VK_DECORATION_SET, 0);
            to = vd__vk_decorate(to, variable, VD__VK_DECORATION_BINDING, binding);
            decorated = true;
        }
        memcpy(to, op, length * sizeof *to);
        if (at && to[at] == VD__VK_CLASS_PUSH_CONSTANT) to[at] = VD__VK_CLASS_UNIFORM;
        to += length;
    }
    return (size_t)(to - out);
}

/* ---- layouts ---- */

static VkResult vd__vk_set_layout_create(vd__vk_device *vk, const vd__vk_layout *layout, VkDescriptorSetLayout *out) {
    VkDescriptorSetLayoutBinding bindings[65];
    VD__VK_STRUCT(VkDescriptorSetLayoutCreateInfo, info, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    memset(bindings, 0, sizeof bindings);
    for (uint32_t i = 0; i < 64; i++) {
        if (layout->bindings >> i & 1u) bindings[info.bindingCount++].binding = i;
    }
    if (layout->uniform) bindings[info.bindingCount++].binding = layout->uniform - 1;
    for (uint32_t i = 0; i < info.bindingCount; i++) {
        bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        bindings[i].descriptorCount = 1;
        bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    if (layout->uniform) bindings[info.bindingCount - 1].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
    info.pBindings = bindings;
    return vk->vkCreateDescriptorSetLayout(vk->handle, &info, NULL, out);
}

/* Appends a layout to the device's; the caller holds the lock. */
static vd_result vd__vk_layout_add(vd__device *dev, const vd__vk_layout *wanted) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    if (vk->layout_count == vk->layout_capacity) {
        uint32_t capacity = vk->layout_capacity ? 2 * vk->layout_capacity : 8;
        void *grown = vd__realloc(vd__vk_allocator(dev), vk->layouts, capacity * sizeof *vk->layouts);
        if (!grown) return vd__fail(VD_ERROR_OUT_OF_MEMORY, "Vulkan: no host memory for %u layouts", capacity);
        vk->layouts = (vd__vk_layout *)grown;
        vk->layout_capacity = capacity;
    }
    vd__vk_layout *layout = &vk->layouts[vk->layout_count];
    *layout = *wanted;
    VkResult result = vd__vk_set_layout_create(vk, layout, &layout->handle);
    if (result) return vd__vk_fail(result, "vkCreateDescriptorSetLayout");
    vk->layout_count++;
    return VD_OK;
}

static vd_result vd__vk_layout_get(vd__device *dev, const vd__vk_layout *wanted, vd__vk_kernel *kernel) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd_result result = VD_OK;
    uint32_t i = 0;
    vd__mutex_lock(&vk->lock);
    while (i < vk->layout_count && (vk->layouts[i].bindings != wanted->bindings || vk->layouts[i].uniform != wanted->uniform)) i++;
    if (i == vk->layout_count) result = vd__vk_layout_add(dev, wanted);
    if (!result) {
        kernel->set_layout = vk->layouts[i].handle;
        kernel->set_index = i;
    }
    vd__mutex_unlock(&vk->lock);
    return result;
}

/* Finds the bindings in desc, decides where the values go, and gets the layouts for it. */
static vd_result vd__vk_kernel_layout(vd__device *dev, const vd_kernel_desc *desc, vd__vk_kernel *kernel) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_layout layout;
    uint32_t next = 0;
    memset(&layout, 0, sizeof layout);
    for (int i = 0; i < desc->arg_count; i++) {
        if (desc->args[i].kind != VD_ARG_BINDING) continue;
        uint32_t place = desc->args[i].place;
        if (place > 63) return vd__fail(VD_ERROR_UNSUPPORTED, "Vulkan: kernel '%s' uses binding %u, the highest possible is 63", desc->name, place);
        if (kernel->binding_count++ == 0 || place < kernel->first_binding) kernel->first_binding = place;
        if (place >= next) next = place + 1;
        layout.bindings |= 1ull << place;
    }
    kernel->value_bytes = desc->value_bytes;
    if (desc->value_bytes > dev->info.limits.max_push_bytes) layout.uniform = kernel->uniform = next + 1;
    else kernel->push_bytes = desc->value_bytes;
    vd_result result = layout.bindings || layout.uniform ? vd__vk_layout_get(dev, &layout, kernel) : VD_OK;
    if (result) return result;
    VkPushConstantRange range = { VK_SHADER_STAGE_COMPUTE_BIT, 0, 0 };
    range.size = kernel->push_bytes;
    VD__VK_STRUCT(VkPipelineLayoutCreateInfo, info, VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    info.setLayoutCount = kernel->set_layout ? 1 : 0;
    info.pSetLayouts = &kernel->set_layout;
    info.pushConstantRangeCount = range.size ? 1 : 0;
    info.pPushConstantRanges = &range;
    VkResult made = vk->vkCreatePipelineLayout(vk->handle, &info, NULL, &kernel->layout);
    return made ? vd__vk_fail(made, "vkCreatePipelineLayout of kernel '%s'", desc->name) : VD_OK;
}

/* ---- pipelines ---- */

static vd_result vd__vk_pipeline_create(vd__device *dev, const vd_kernel_desc *desc, const vd__vk_module *module, vd__vk_kernel *kernel) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VkShaderModule shader = VK_NULL_HANDLE;
    VD__VK_STRUCT(VkShaderModuleCreateInfo, code, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    code.codeSize = module->count * 4;
    code.pCode = module->words;
    VkResult result = vk->vkCreateShaderModule(vk->handle, &code, NULL, &shader);
    if (result) return vd__vk_fail(result, "vkCreateShaderModule of kernel '%s'", desc->name);
    VD__VK_STRUCT(VkComputePipelineCreateInfo, info, VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = shader;
    info.stage.pName = desc->entry ? desc->entry : "main";
    info.layout = kernel->layout;
    result = vk->vkCreateComputePipelines(vk->handle, vk->cache, 1, &info, NULL, &kernel->pipeline);
    vk->vkDestroyShaderModule(vk->handle, shader, NULL);
    if (!result) return VD_OK;
    kernel->pipeline = VK_NULL_HANDLE;
    vd_result failed = vd__vk_fail(result, "vkCreateComputePipelines of kernel '%s'", desc->name);
    return failed == VD_ERROR_BACKEND ? VD_ERROR_COMPILE : failed;
}

/* The pipeline of a kernel whose values go through memory. */
static vd_result vd__vk_pipeline_create_moved(vd__device *dev, const vd_kernel_desc *desc, const vd__vk_module *module, vd__vk_kernel *kernel) {
    const uint32_t *variable = vd__vk_module_values(module);
    if (!variable) {
        return vd__fail(VD_ERROR_UNSUPPORTED, "Vulkan: kernel '%s' has %u bytes of push constants, the device takes %u, and only a block of 32-bit integers "
            "can pass through memory instead", desc->name, desc->value_bytes, dev->info.limits.max_push_bytes);
    }
    vd__vk_module moved;
    uint32_t *words = (uint32_t *)vd__alloc(vd__vk_allocator(dev), (module->count + VD__VK_MOVE_EXTRA) * 4);
    if (!words) return vd__fail(VD_ERROR_OUT_OF_MEMORY, "Vulkan: no host memory for the code of kernel '%s'", desc->name);
    moved.words = words;
    moved.count = vd__vk_module_move(module, variable[2], kernel->uniform - 1, words);
    vd_result result = vd__vk_pipeline_create(dev, desc, &moved, kernel);
    vd__free(vd__vk_allocator(dev), words);
    return result;
}

static vd_result vd__vk_kernel_create(vd__device *dev, const vd_kernel_desc *desc, vd__kernel_code *code) {
    vd__vk_module module;
    module.words = (const uint32_t *)desc->code;
    module.count = desc->code_size / 4;
    vd__vk_kernel *kernel = (vd__vk_kernel *)vd__alloc(vd__vk_allocator(dev), sizeof *kernel);
    if (!kernel) return vd__fail(VD_ERROR_OUT_OF_MEMORY, "Vulkan: no host memory for kernel '%s'", desc->name);
    memset(kernel, 0, sizeof *kernel);
    code->native[0] = (uintptr_t)kernel;
    vd_result result = vd__vk_kernel_layout(dev, desc, kernel);
    if (!result) result = kernel->uniform ? vd__vk_pipeline_create_moved(dev, desc, &module, kernel) : vd__vk_pipeline_create(dev, desc, &module, kernel);
    if (result) vd__vk_kernel_destroy(dev, code);
    return result;
}

static void vd__vk_kernel_destroy(vd__device *dev, vd__kernel_code *code) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_kernel *kernel = vd__vk_kernel_of(code);
    vk->vkDestroyPipeline(vk->handle, kernel->pipeline, NULL);
    vk->vkDestroyPipelineLayout(vk->handle, kernel->layout, NULL);
    vd__free(vd__vk_allocator(dev), kernel);
    code->native[0] = 0;
}
#endif /* VD__HAS_VULKAN */

// >>vulkan list
/* Command buffers, descriptor sets, submission, the timeline semaphore. */

#if VD__HAS_VULKAN
/* What a descriptor points at. The serial tells a new buffer from a dead one with the same handle. */
typedef struct vd__vk_key {
    uint64_t offset, size;
    uint32_t serial;
} vd__vk_key;

/* The descriptor sets of one layout. A recording takes them in order; what the last recording wrote into them often fits again, so they are never reset. */
typedef struct vd__vk_sets {
    VkDescriptorSet *sets;
    vd__vk_key *keys;          /* `stride` of each set */
    uint32_t stride, used, count;
} vd__vk_sets;

/* A piece of the ring in which large blocks of values lie. */
typedef struct vd__vk_chunk {
    vd__block block;
    vd__memory memory;
} vd__vk_chunk;

enum { VD__VK_CHUNK_BYTES = 64 * 1024, VD__VK_RECENT_SETS = 4 };

typedef struct vd__vk_commands {
    VkCommandPool pool;
    VkCommandBuffer buffer;

    /* bound now */
    const vd__vk_kernel *kernel;
    VkDescriptorSet set;
    const vd__vk_key *set_keys;
    uint32_t set_index, set_push_bytes, set_offset;
    uint32_t value_bytes, value_offset;
    bool values_in_memory;
    uint32_t values[VD_VALUE_BYTES / 4];

    /* kept from one recording to the next */
    vd__vk_sets *lists;        /* by index of the layout in the device */
    uint32_t list_count;
    VkDescriptorPool *pools;
    uint32_t pool_count;
    vd__vk_chunk **chunks;
    uint32_t chunk_count, chunk, chunk_used;
} vd__vk_commands;

static vd__vk_commands *vd__vk_commands_of(const vd__commands *c) { return (vd__vk_commands *)(uintptr_t)c->native[0]; }

/* ---- recordings ---- */

static vd_result vd__vk_commands_start(vd__vk_device *vk, vd__vk_commands *vc) {
    VD__VK_STRUCT(VkCommandPoolCreateInfo, pool, VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool.queueFamilyIndex = vk->family;
    VkResult result = vk->vkCreateCommandPool(vk->handle, &pool, NULL, &vc->pool);
    if (result) return vd__vk_fail(result, "vkCreateCommandPool");
    VD__VK_STRUCT(VkCommandBufferAllocateInfo, info, VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = vc->pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    result = vk->vkAllocateCommandBuffers(vk->handle, &info, &vc->buffer);
    return result ? vd__vk_fail(result, "vkAllocateCommandBuffers") : VD_OK;
}

static vd_result vd__vk_commands_create(vd__device *dev, vd__commands *c) {
    vd__vk_commands *vc = (vd__vk_commands *)vd__alloc(vd__vk_allocator(dev), sizeof *vc);
    if (!vc) return vd__fail(VD_ERROR_OUT_OF_MEMORY, "Vulkan: no host memory for a recording");
    memset(vc, 0, sizeof *vc);
    c->native[0] = (uintptr_t)vc;
    vd_result result = vd__vk_commands_start(vd__vk_device_of(dev), vc);
    if (result) vd__vk_commands_destroy(dev, c);
    return result;
}

static void vd__vk_chunk_destroy(vd__device *dev, vd__vk_chunk *chunk) {
    if (chunk->memory.native[0]) vd__vk_memory_destroy(dev, &chunk->memory);
    if (chunk->block.native[0]) vd__vk_block_destroy(dev, &chunk->block);
    vd__free(vd__vk_allocator(dev), chunk);
}

static void vd__vk_commands_destroy(vd__device *dev, vd__commands *c) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_commands *vc = vd__vk_commands_of(c);
    const vd_allocator *allocator = vd__vk_allocator(dev);
    for (uint32_t i = 0; i < vc->list_count; i++) {
        vd__free(allocator, vc->lists[i].sets);
        vd__free(allocator, vc->lists[i].keys);
    }
    for (uint32_t i = 0; i < vc->pool_count; i++) vk->vkDestroyDescriptorPool(vk->handle, vc->pools[i], NULL);
    for (uint32_t i = 0; i < vc->chunk_count; i++) vd__vk_chunk_destroy(dev, vc->chunks[i]);
    vk->vkDestroyCommandPool(vk->handle, vc->pool, NULL);
    vd__free(allocator, vc->lists);
    vd__free(allocator, vc->pools);
    vd__free(allocator, vc->chunks);
    vd__free(allocator, vc);
    c->native[0] = 0;
}

static vd_result vd__vk_commands_begin(vd__device *dev, vd__commands *c) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_commands *vc = vd__vk_commands_of(c);
    vc->kernel = NULL;
    vc->set = VK_NULL_HANDLE;
    vc->value_bytes = 0;
    vc->chunk = vc->chunk_used = 0;
    for (uint32_t i = 0; i < vc->list_count; i++) vc->lists[i].used = 0;
    VkResult result = vk->vkResetCommandPool(vk->handle, vc->pool, 0);
    if (result) return vd__vk_fail(result, "vkResetCommandPool");
    VD__VK_STRUCT(VkCommandBufferBeginInfo, info, VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    result = vk->vkBeginCommandBuffer(vc->buffer, &info);
    return result ? vd__vk_fail(result, "vkBeginCommandBuffer") : VD_OK;
}

static vd_result vd__vk_commands_end(vd__device *dev, vd__commands *c) {
    VkResult result = vd__vk_device_of(dev)->vkEndCommandBuffer(vd__vk_commands_of(c)->buffer);
    return result ? vd__vk_fail(result, "vkEndCommandBuffer") : VD_OK;
}

/* ---- descriptor sets ---- */

/* Makes room for `count` elements; on failure the array stays as it was. */
static vd_result vd__vk_grow(vd__device *dev, void **array, uint32_t count, size_t size) {
    void *grown = vd__realloc(vd__vk_allocator(dev), *array, count * size);
    if (!grown) return vd__fail(VD_ERROR_OUT_OF_MEMORY, "Vulkan: no host memory for a recording");
    *array = grown;
    return VD_OK;
}

static vd_result vd__vk_lists_grow(vd__device *dev, vd__vk_commands *vc, uint32_t count) {
    void *lists = vc->lists;
    if (vd__vk_grow(dev, &lists, count, sizeof *vc->lists)) return VD_ERROR_OUT_OF_MEMORY;
    vc->lists = (vd__vk_sets *)lists;
    memset(vc->lists + vc->list_count, 0, (count - vc->list_count) * sizeof *vc->lists);
    vc->list_count = count;
    return VD_OK;
}

/* A pool with `count` sets for the kernel's layout, and the sets. */
static vd_result vd__vk_pool_create(vd__device *dev, vd__vk_commands *vc, const vd__vk_kernel *kernel, uint32_t count, VkDescriptorSet *out) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    void *pools = vc->pools;
    if (vd__vk_grow(dev, &pools, vc->pool_count + 1, sizeof *vc->pools)) return VD_ERROR_OUT_OF_MEMORY;
    vc->pools = (VkDescriptorPool *)pools;
    VkDescriptorPoolSize sizes[2] = { { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 0 }, { VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 0 } };
    sizes[0].descriptorCount = count * kernel->binding_count;
    sizes[1].descriptorCount = count;
    VD__VK_STRUCT(VkDescriptorPoolCreateInfo, info, VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    info.maxSets = count;
    info.poolSizeCount = kernel->binding_count && kernel->uniform ? 2 : 1;
    info.pPoolSizes = kernel->binding_count ? sizes : sizes + 1;
    VkResult result = vk->vkCreateDescriptorPool(vk->handle, &info, NULL, &vc->pools[vc->pool_count]);
    if (result) return vd__vk_fail(result, "vkCreateDescriptorPool of %u sets", count);
    vc->pool_count++;
    VD__VK_STRUCT(VkDescriptorSetAllocateInfo, sets, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    sets.descriptorPool = vc->pools[vc->pool_count - 1];
    sets.descriptorSetCount = 1;
    sets.pSetLayouts = &kernel->set_layout;
    for (uint32_t i = 0; i < count && !result; i++) result = vk->vkAllocateDescriptorSets(vk->handle, &sets, &out[i]);
    return result ? vd__vk_fail(result, "vkAllocateDescriptorSets") : VD_OK;
}

/* More sets: as many again as there are. */
static vd_result vd__vk_sets_grow(vd__device *dev, vd__vk_commands *vc, const vd__vk_kernel *kernel, vd__vk_sets *list) {
    uint32_t more = list->count == 0 ? 8 : list->count < 1024 ? list->count : 1024, total = list->count + more;
    void *sets = list->sets, *keys = list->keys;
    list->stride = kernel->binding_count + (kernel->uniform ? 1 : 0);
    vd_result result = vd__vk_grow(dev, &sets, total, sizeof *list->sets);
    list->sets = (VkDescriptorSet *)sets;
    if (!result) result = vd__vk_grow(dev, &keys, total * list->stride, sizeof *list->keys);
    list->keys = (vd__vk_key *)keys;
    if (result) return result;
    memset(list->keys + list->count * list->stride, 0, more * list->stride * sizeof *list->keys);
    vc->set = VK_NULL_HANDLE; /* its keys have moved */
    result = vd__vk_pool_create(dev, vc, kernel, more, list->sets + list->count);
    if (!result) list->count = total;
    return result;
}

static bool vd__vk_keys_match(const vd__vk_key *keys, const vd__launch *launch, const vd__vk_chunk *chunk) {
    const vd__binding *b = launch->bindings, *end = b + launch->binding_count;
    for (; b < end; b++, keys++) {
        if (keys->serial != b->memory->serial || keys->offset != b->offset || keys->size != b->size) return false;
    }
    return !chunk || keys->serial == chunk->memory.serial;
}

static void vd__vk_set_write(vd__vk_device *vk, const vd__vk_kernel *kernel, const vd__launch *launch, const vd__vk_chunk *chunk, VkDescriptorSet set,
    vd__vk_key *keys) {
    VkDescriptorBufferInfo buffers[VD_MAX_ARGS + 1];
    VkWriteDescriptorSet writes[2];
    uint32_t count = launch->binding_count, write_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const vd__binding *b = &launch->bindings[i];
        buffers[i].buffer = VD__VK_UNPACK(VkBuffer, b->memory->native[0]);
        buffers[i].offset = b->offset;
        buffers[i].range = b->size;
        keys[i].serial = b->memory->serial;
        keys[i].offset = b->offset;
        keys[i].size = b->size;
    }
    memset(writes, 0, sizeof writes);
    if (count) {
        /* one write runs on over the following bindings, gaps between them included */
        writes[0].dstBinding = kernel->first_binding;
        writes[0].descriptorCount = count;
        writes[0].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        writes[write_count++].pBufferInfo = buffers;
    }
    if (chunk) {
        buffers[count].buffer = VD__VK_UNPACK(VkBuffer, chunk->memory.native[0]);
        buffers[count].offset = 0;
        buffers[count].range = VD_VALUE_BYTES;
        keys[count].serial = chunk->memory.serial;
        writes[write_count].dstBinding = kernel->uniform - 1;
        writes[write_count].descriptorCount = 1;
        writes[write_count].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
        writes[write_count++].pBufferInfo = buffers + count;
    }
    for (uint32_t i = 0; i < write_count; i++) {
        writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[i].dstSet = set;
    }
    vk->vkUpdateDescriptorSets(vk->handle, write_count, writes, 0, NULL);
}

/* A set with the launch's bindings: one of the last few of this recording, else the next. */
static vd_result vd__vk_set_find(vd__device *dev, vd__vk_commands *vc, const vd__vk_kernel *kernel, const vd__launch *launch, const vd__vk_chunk *chunk,
    VkDescriptorSet *set) {
    if (kernel->set_index >= vc->list_count && vd__vk_lists_grow(dev, vc, kernel->set_index + 1)) return VD_ERROR_OUT_OF_MEMORY;
    vd__vk_sets *list = &vc->lists[kernel->set_index];
    uint32_t oldest = list->used > VD__VK_RECENT_SETS ? list->used - VD__VK_RECENT_SETS : 0, i = list->used;
    while (i > oldest && !vd__vk_keys_match(list->keys + (i - 1) * list->stride, launch, chunk)) i--;
    if (i == oldest) {
        vd_result result = list->used == list->count ? vd__vk_sets_grow(dev, vc, kernel, list) : VD_OK;
        if (result) return result;
        i = ++list->used;
        vd__vk_key *keys = list->keys + (i - 1) * list->stride;
        if (!vd__vk_keys_match(keys, launch, chunk)) vd__vk_set_write(vd__vk_device_of(dev), kernel, launch, chunk, list->sets[i - 1], keys);
    }
    *set = list->sets[i - 1];
    vc->set_keys = list->keys + (i - 1) * list->stride;
    return VD_OK;
}

static vd_result vd__vk_bind(vd__device *dev, vd__vk_commands *vc, const vd__vk_kernel *kernel, const vd__launch *launch) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    const vd__vk_chunk *chunk = kernel->uniform ? vc->chunks[vc->chunk] : NULL;
    VkDescriptorSet set = vc->set;
    bool usable = set && vc->set_index == kernel->set_index && vd__vk_keys_match(vc->set_keys, launch, chunk);
    if (usable && vc->set_push_bytes == kernel->push_bytes && (!chunk || vc->set_offset == vc->value_offset)) return VD_OK;
    vd_result result = usable ? VD_OK : vd__vk_set_find(dev, vc, kernel, launch, chunk, &set);
    if (result) return result;
    vc->set = set;
    vc->set_index = kernel->set_index;
    vc->set_push_bytes = kernel->push_bytes; /* layouts with other push constants are not compatible */
    vc->set_offset = vc->value_offset;
    vk->vkCmdBindDescriptorSets(vc->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, 0, 1, &set, chunk ? 1 : 0, &vc->value_offset);
    return VD_OK;
}

/* ---- values ---- */

static vd_result vd__vk_chunk_start(vd__device *dev, vd__vk_chunk *chunk) {
    vd__need need;
    chunk->memory.size = VD__VK_CHUNK_BYTES;
    vd_result result = vd__vk_memory_create(dev, &chunk->memory, &need);
    if (result) return result;
    uint32_t mask = vd__vk_memory_types(dev, VD__MEMORY_UPLOAD, need.types);
    chunk->block.size = need.size;
    while (chunk->block.type < 31 && !(mask >> chunk->block.type & 1u)) chunk->block.type++;
    chunk->memory.block = &chunk->block;
    result = vd__vk_block_create(dev, &chunk->block);
    return result ? result : vd__vk_memory_bind(dev, &chunk->memory);
}

static vd_result vd__vk_chunk_add(vd__device *dev, vd__vk_commands *vc) {
    void *chunks = vc->chunks;
    if (vd__vk_grow(dev, &chunks, vc->chunk_count + 1, sizeof *vc->chunks)) return VD_ERROR_OUT_OF_MEMORY;
    vc->chunks = (vd__vk_chunk **)chunks;
    vd__vk_chunk *chunk = (vd__vk_chunk *)vd__alloc(vd__vk_allocator(dev), sizeof *chunk);
    if (!chunk) return vd__fail(VD_ERROR_OUT_OF_MEMORY, "Vulkan: no host memory for a recording");
    memset(chunk, 0, sizeof *chunk);
    chunk->memory.serial = vc->chunk_count + 1;
    vd_result result = vd__vk_chunk_start(dev, chunk);
    if (result) vd__vk_chunk_destroy(dev, chunk);
    else vc->chunks[vc->chunk_count++] = chunk;
    return result;
}

/* Room for a block of values in the ring. A descriptor sees VD_VALUE_BYTES from there, whatever the kernel's own size is. */
static vd_result vd__vk_values_place(vd__device *dev, vd__vk_commands *vc, uint32_t bytes) {
    uint32_t align = vd__vk_device_of(dev)->uniform_alignment;
    uint32_t offset = (vc->chunk_used + align - 1) / align * align;
    if (vc->chunk_count == 0 || offset + VD_VALUE_BYTES > VD__VK_CHUNK_BYTES) {
        uint32_t next = vc->chunk_count == 0 ? 0 : vc->chunk + 1;
        vd_result result = next == vc->chunk_count ? vd__vk_chunk_add(dev, vc) : VD_OK;
        if (result) return result;
        vc->chunk = next;
        offset = 0;
    }
    vc->value_offset = offset;
    vc->chunk_used = offset + bytes;
    return VD_OK;
}

/* Hands the values over unless the last launch's are the same and still valid. */
static vd_result vd__vk_pass_values(vd__device *dev, vd__vk_commands *vc, const vd__vk_kernel *kernel, const vd__launch *launch) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    uint32_t bytes = kernel->value_bytes;
    bool in_memory = kernel->uniform != 0;
    if (bytes == vc->value_bytes && in_memory == vc->values_in_memory && memcmp(vc->values, launch->values, bytes) == 0) return VD_OK;
    if (in_memory) {
        vd_result result = vd__vk_values_place(dev, vc, bytes);
        if (result) return result;
        memcpy(vc->chunks[vc->chunk]->block.mapped + vc->value_offset, launch->values, bytes);
    } else {
        vk->vkCmdPushConstants(vc->buffer, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes, launch->values);
    }
    memcpy(vc->values, launch->values, bytes);
    vc->value_bytes = bytes;
    vc->values_in_memory = in_memory;
    return VD_OK;
}

/* ---- commands ---- */

static void vd__vk_record_barrier(vd__device *dev, vd__commands *c, uint32_t from, uint32_t to) {
    VD__VK_STRUCT(VkMemoryBarrier, barrier, VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    VkPipelineStageFlags before = 0, after = 0;
#define VD__VK_STAGE(bit, stage, writes, accesses) \
    if (from & bit) { before |= stage; barrier.srcAccessMask |= writes; } \
    if (to & bit) { after |= stage; barrier.dstAccessMask |= accesses; }
    VD__VK_STAGE(VD__STAGE_COMPUTE, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_UNIFORM_READ_BIT)
    VD__VK_STAGE(VD__STAGE_TRANSFER, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT)
    VD__VK_STAGE(VD__STAGE_HOST, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_WRITE_BIT, VK_ACCESS_HOST_READ_BIT)
#undef VD__VK_STAGE
    vd__vk_device_of(dev)->vkCmdPipelineBarrier(vd__vk_commands_of(c)->buffer, before, after, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static vd_result vd__vk_record_launch(vd__device *dev, vd__commands *c, const vd__launch *launch) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_commands *vc = vd__vk_commands_of(c);
    const vd__vk_kernel *kernel = vd__vk_kernel_of(launch->code);
    vd_result result = VD_OK;
    if (kernel != vc->kernel) {
        vk->vkCmdBindPipeline(vc->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
        vc->kernel = kernel;
    }
    if (kernel->value_bytes) result = vd__vk_pass_values(dev, vc, kernel, launch);
    if (kernel->set_layout && !result) result = vd__vk_bind(dev, vc, kernel, launch);
    if (result) return result;
    vk->vkCmdDispatch(vc->buffer, launch->groups[0], launch->groups[1], launch->groups[2]);
    return VD_OK;
}

static void vd__vk_record_copy(vd__device *dev, vd__commands *c, const vd__memory *to, const vd__memory *from, const vd__copy_range *ranges, uint32_t count) {
    VkBufferCopy copies[32];
    while (count) {
        uint32_t now = count < 32 ? count : 32;
        for (uint32_t i = 0; i < now; i++) {
            copies[i].srcOffset = ranges[i].from;
            copies[i].dstOffset = ranges[i].to;
            copies[i].size = ranges[i].size;
        }
        vd__vk_device_of(dev)->vkCmdCopyBuffer(vd__vk_commands_of(c)->buffer, VD__VK_UNPACK(VkBuffer, from->native[0]), VD__VK_UNPACK(VkBuffer, to->native[0]), now,
            copies);
        ranges += now;
        count -= now;
    }
}

static void vd__vk_record_fill(vd__device *dev, vd__commands *c, const vd__memory *to, uint64_t offset, uint64_t size, uint32_t word) {
    vd__vk_device_of(dev)->vkCmdFillBuffer(vd__vk_commands_of(c)->buffer, VD__VK_UNPACK(VkBuffer, to->native[0]), offset, size, word);
}

/* ---- the queue ---- */

static vd_result vd__vk_queue_submit(vd__device *dev, uint32_t queue, const vd__commands *c, uint64_t value) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    uint64_t reached = c ? c->value : value;
    (void)queue;
    VD__VK_STRUCT(VkTimelineSemaphoreSubmitInfo, timeline, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    timeline.signalSemaphoreValueCount = 1;
    timeline.pSignalSemaphoreValues = &reached;
    VD__VK_STRUCT(VkSubmitInfo, info, VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.pNext = &timeline;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &vk->timeline;
    info.commandBufferCount = c ? 1 : 0;
    info.pCommandBuffers = c ? &vd__vk_commands_of(c)->buffer : NULL;
    VkResult result = vk->vkQueueSubmit(vk->queue, 1, &info, VK_NULL_HANDLE);
    return result ? vd__vk_fail(result, "vkQueueSubmit") : VD_OK;
}

static uint64_t vd__vk_queue_value(vd__device *dev, uint32_t queue) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    uint64_t value = 0;
    (void)queue;
    VkResult result = vk->vkGetSemaphoreCounterValue(vk->handle, vk->timeline, &value);
    return result == VK_ERROR_DEVICE_LOST ? UINT64_MAX : result ? 0 : value;
}

static vd_result vd__vk_queue_wait(vd__device *dev, uint32_t queue, uint64_t value, uint64_t timeout_ns) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    (void)queue;
    VD__VK_STRUCT(VkSemaphoreWaitInfo, info, VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    info.semaphoreCount = 1;
    info.pSemaphores = &vk->timeline;
    info.pValues = &value;
    VkResult result = vk->vkWaitSemaphores(vk->handle, &info, timeout_ns);
    if (result == VK_TIMEOUT) return VD_TIMEOUT;
    return result ? vd__vk_fail(result, "vkWaitSemaphores") : VD_OK;
}
#endif /* VD__HAS_VULKAN */

// >>select
/* Which backend, which device. */

// >>reflect
/* The SPIR-V reader: checks the structure of a module before any driver sees it, and reads arguments, local size, shared memory and capabilities. */

// >>validate
/* Checks of descs and arguments; every message names call, object, argument, value and limit. */

// >>hazards
/* Per list, what was read and written since its last barrier, by memory and byte range. A barrier is placed only before a command that conflicts with it. */

// >>batch
/* Lists, staging rings, submission, readback, deferred destruction. */

// >>public
/* The declared functions: check, look up, call. */

// >>end
#endif /* VKDISPATCH_IMPLEMENTED */
#endif /* VKDISPATCH_IMPLEMENTATION */
/*
MIT License

Copyright (c) 2026 The vkdispatch authors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
*/

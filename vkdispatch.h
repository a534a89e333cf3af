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

// >>vulkan device
/* Instance, device information, opening a device with the features it has. */

// >>vulkan memory
/* Blocks and buffers. */

// >>vulkan kernel
/* Pipelines; the block of values moves from push constants to a uniform buffer where it is too large. */

// >>vulkan list
/* Command buffers, descriptor sets, submission, the timeline semaphore. */

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

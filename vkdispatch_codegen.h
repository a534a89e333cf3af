/* vkdispatch_codegen.h: write compute kernels as C calls, get SPIR-V or GLSL. Needs no GPU header and no shader compiler.

   Version 0.1.0. MIT licence; the full text stands at the end of this file.

   Do this
       #define VKDISPATCH_CODEGEN_IMPLEMENTATION
       #include "vkdispatch_codegen.h"

       int main(void) {
           vc_kernel_desc desc = {0};
           desc.name = "saxpy";
           vc_kernel *k = vc_begin(&desc);
           vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ);
           vc_ref y = vc_buffer(k, "y", VC_F32, VC_READ_WRITE);
           vc_val a = vc_param(k, "a", VC_F32);
           VC_EACH(k, i) { vc_store(y, i, vc_fma(a, vc_load(x, i), vc_load(y, i))); }
           size_t words = 0;
           const uint32_t *code = vc_spirv(k, &words);
           int failed = code == NULL || words == 0;
           vc_free(k);
           return failed;
       }

   It does not touch a GPU: together with vkdispatch.h, vd_kernel_build makes a vd_kernel of a vc_kernel. It does not parse, print, exit or keep global state.

   Rooms
       config       what the macros resolve to
       memory       allocator, growable array, arena
       fail         the first error of a kernel
       types        sizes, names, promotion of immediates
       ops          the one table of operations
       tape         recording: nodes, blocks, objects
       check        what operands an operation takes and what it gives
       fold         arithmetic on constants
       expand       operations rewritten in terms of others
       math64       elementary functions of f64
       schedule     live nodes in canonical order
       print        text and word output
       spirv        the SPIR-V printer
       glsl         the GLSL printer
       reflect      arguments and needs of a kernel
       dump         the listing as readable text
       glue         vc_kernel to vd_kernel
       public       the functions declared above
       end

   Configuration: define before the implementation is compiled
       VKDISPATCH_CODEGEN_IMPLEMENTATION  in one translation unit: makes the definitions. Default: off
       VKDISPATCH_STATIC                  everything is static; define wherever the header is included. Default: off

   Linking: nothing.

   Values. A vc_val is immutable; a number you can add. Functions that return a value have no effect and may be nested freely. Immediates (vc_f32(1)) need no kernel; a
   function of immediates alone gives an immediate where it can be computed exactly, else bring one in with vc_const(k, v). Whatever has an effect is a statement: it
   returns nothing, and so should your own functions that declare, store or open a block, because C does not fix the order in which arguments are evaluated.

   Refs. A vc_ref is memory: a buffer, a shared or private array, a variable. vc_load and vc_get read, vc_store and vc_set write; vc_offset moves a ref like C moves a pointer:
   vc_load(vc_offset(x, vc_u32(3)), i) reads x[i + 3], and i + 3 is not cut to 32 bits.

   Types. Operands agree in type; nothing is converted silently. Three things are made to fit: an integer immediate takes its partner's integer type when its value fits, a
   scalar beside a vector of the same kind is repeated, and an index may be any integer of 32 or 64 bits. Convert with vc_cast, reinterpret with vc_bitcast.

   Control flow is C blocks: VC_IF(k, c) { } VC_ELSE(k) { }, VC_FOR(k, i, first, limit) { }, VC_LOOP(k) { }, VC_SWITCH(k, v) { VC_CASE(k, 1) { } VC_DEFAULT(k) { } }, VC_EACH(k, i) { }.
   Exits are vc_break_if, vc_continue_if (of the innermost loop) and vc_return_if. Do not leave a block with C's own break, continue, goto or return. A value lives in the block
   it was made in; carry results out in a vc_var. C's if and for run while the kernel is written: they choose and unroll.

   Meaning. Every operation means the same on every target. Integers wrap. x / 0 is all ones and x % 0 is x; the least integer / -1 is itself. Shift counts are taken modulo the
   width. float to int saturates, NaN gives 0. min and max give the other operand if one is NaN. mod(x, y) is x - y * floor(x / y). pow(x < 0, y) is NaN. Nothing is contracted
   behind your back; vc_fma is one or two roundings, as the device has it. Subnormal numbers may be flushed to zero. `fast` in the desc allows the compiler everything.
   Bool in memory is a u32, 0 or 1. Vectors in memory are packed as C arrays of their elements.

   Errors: the first one is kept, everything after it is harmless; vc_error tells it, vc_spirv and vc_source then give NULL.

   Memory: everything made for a kernel dies with vc_free; vc_restart begins another kernel in the same memory.

   Threads: a kernel belongs to one thread at a time. */
#ifndef VKDISPATCH_CODEGEN_H
#define VKDISPATCH_CODEGEN_H
#define VKDISPATCH_CODEGEN_VERSION 100 /* major * 10000 + minor * 100 + patch */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(VKDISPATCH_STATIC)
#define VC_API extern
#elif defined(__GNUC__)
#define VC_API static __attribute__((unused))
#else
#define VC_API static
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---- */

/* A type is one number, the same as vd_type: kind + 16 * (rows - 1) + 64 * (columns - 1) + 256 if complex. */
typedef uint32_t vc_type;
#define VC_VEC(scalar, rows) ((vc_type)((scalar) + 16u * ((rows) - 1u))) /* vector of 2 to 4 */
enum {
    VC_NONE = 0, VC_BOOL, VC_I8, VC_I16, VC_I32, VC_I64, VC_U8, VC_U16, VC_U32, VC_U64, VC_F16, VC_F32, VC_F64,
    VC_I32X2 = 16 + VC_I32, VC_I32X3 = 32 + VC_I32, VC_I32X4 = 48 + VC_I32,
    VC_U32X2 = 16 + VC_U32, VC_U32X3 = 32 + VC_U32, VC_U32X4 = 48 + VC_U32,
    VC_F32X2 = 16 + VC_F32, VC_F32X3 = 32 + VC_F32, VC_F32X4 = 48 + VC_F32,
    VC_F64X2 = 16 + VC_F64, VC_F64X3 = 32 + VC_F64, VC_F64X4 = 48 + VC_F64
};

typedef struct vc_kernel vc_kernel;
typedef struct vc_val { uintptr_t of; uint64_t bits; } vc_val; /* of < 4096: an immediate of that type; else the kernel, and bits is its node; {0}: never set */
typedef struct vc_ref {  /* memory; {0}: never set */
    vc_kernel *of;
    uint32_t memory;     /* node */
    uint32_t index;      /* 1 + node of the dynamic element index; 0: none */
    int64_t offset;      /* constant element index */
    vc_type type;        /* of one element */
} vc_ref;

/* ---- descs: zero is the default of every field ---- */

enum { VC_READ = 1, VC_WRITE = 2, VC_READ_WRITE = 3, VC_MAY_ALIAS = 4 };

/* What a kernel may need of a machine; the same numbers as VD_FEATURE_. */
enum {
    VC_FEATURE_F16 = 1 << 0, VC_FEATURE_F64 = 1 << 1, VC_FEATURE_I8 = 1 << 2, VC_FEATURE_I16 = 1 << 3, VC_FEATURE_I64 = 1 << 4,
    VC_FEATURE_STORAGE_8 = 1 << 5, VC_FEATURE_STORAGE_16 = 1 << 6, VC_FEATURE_ADDRESS = 1 << 7
};

typedef enum vc_target { VC_TARGET_NONE = 0, VC_TARGET_SPIRV, VC_TARGET_GLSL } vc_target;
typedef enum vc_buffers { VC_BUFFERS_DEFAULT = 0, VC_BUFFERS_ADDRESS, VC_BUFFERS_BINDING } vc_buffers; /* default: addresses, unless the machine lacks them */

typedef struct vc_allocator { /* all three or none; default: malloc, realloc, free */
    void *(*allocate)(void *user, size_t size);
    void *(*reallocate)(void *user, void *block, size_t size);
    void (*release)(void *user, void *block);
    void *user;
} vc_allocator;

typedef struct vc_machine { /* what the kernel is for; a zero limit is not checked */
    uint64_t lacks;                 /* VC_FEATURE_ bits it does without; using one is an error */
    uint32_t max_groups[3];         /* of one launch; 0 = 65535. Where it is 2^31 - 1 or more no group base is needed */
    uint32_t max_local_size[3];
    uint32_t max_local_invocations;
    uint32_t max_shared_bytes;
    uint32_t spirv_version;         /* 0x10300 and up; 0 = 0x10300 (Vulkan 1.1 and later take it) */
} vc_machine;

typedef struct vc_kernel_desc {
    const char *name;               /* default: "kernel" */
    uint32_t local_size[3];         /* invocations a workgroup; trailing zeros mean 1, all zeros 128 x 1 x 1 */
    vc_machine machine;
    vc_buffers buffers;
    bool fast;
    vc_allocator allocator;
} vc_kernel_desc;

/* ---- info: what a kernel takes and needs ---- */

typedef enum vc_arg_kind { VC_ARG_NONE = 0, VC_ARG_BINDING, VC_ARG_ADDRESS, VC_ARG_VALUE } vc_arg_kind;

typedef struct vc_arg_info {
    const char *name;
    vc_arg_kind kind;
    vc_type type;                   /* of one element for buffers */
    uint32_t access;                /* VC_READ, VC_WRITE or both: what the kernel really does */
    uint32_t place;                 /* binding number in set 0, or byte offset in the block of values */
    uint32_t size;                  /* bytes in the block; 0 for bindings */
    uint32_t align;                 /* of a buffer's first byte */
    bool may_alias;
} vc_arg_info;

typedef enum vc_hidden { VC_HIDDEN_NONE = 0, VC_HIDDEN_THREADS, VC_HIDDEN_GROUPS, VC_HIDDEN_GROUP_BASE, VC_HIDDEN_LENGTH, VC_HIDDEN_SHAPE } vc_hidden;

typedef struct vc_hidden_info { vc_hidden kind; uint32_t arg, axis, place; } vc_hidden_info; /* u32 each, behind the arguments in the block of values */

typedef struct vc_info {
    const char *name;
    const vc_arg_info *args;        /* in order of declaration */
    int arg_count;
    const vc_hidden_info *hidden;
    int hidden_count;
    uint32_t value_bytes;           /* block of values, C alignment, hidden values included; multiple of 4 */
    uint32_t local_size[3];
    uint32_t shared_bytes;
    uint64_t features;              /* VC_FEATURE_ bits it needs */
    uint32_t nodes, live_nodes;     /* recorded, and printed */
} vc_info;

/* ---- kernels ---- */

VC_API vc_kernel *vc_begin(const vc_kernel_desc *desc);        /* NULL only without memory; every call takes a NULL kernel */
VC_API void vc_restart(vc_kernel *k, const vc_kernel_desc *desc); /* another kernel in the same memory; values and refs of the old one die */
VC_API void vc_free(vc_kernel *k);
VC_API const char *vc_error(vc_kernel *k);                     /* NULL, or the first thing that was wrong; also says what is still open */
/* Printed when asked for, kept until the kernel is changed, restarted or freed. NULL after an error. */
VC_API const uint32_t *vc_spirv(vc_kernel *k, size_t *words);
VC_API const char *vc_source(vc_kernel *k, vc_target target);
VC_API const char *vc_dump(vc_kernel *k);                      /* the live operations, one a line */
VC_API const vc_info *vc_reflect(vc_kernel *k);
VC_API uint64_t vc_hash(vc_kernel *k);                         /* of SPIR-V and GLSL; 0 after an error */
VC_API uint32_t vc_type_size(vc_type type);                    /* bytes in memory; 0: no type */
VC_API const char *vc_type_name(vc_type type);                 /* "f32x4" */

/* ---- memory and arguments: statements; names are for people and may be anything, also NULL ---- */

VC_API vc_ref vc_buffer(vc_kernel *k, const char *name, vc_type type, uint32_t access); /* argument; access is the most that is allowed */
VC_API vc_val vc_param(vc_kernel *k, const char *name, vc_type type);                 /* argument by value: scalar or vector */
VC_API vc_ref vc_var(vc_kernel *k, const char *name, vc_type type);                   /* zero each time control passes here */
VC_API vc_ref vc_array(vc_kernel *k, const char *name, vc_type type, uint32_t count); /* private; contents undefined until stored */
VC_API vc_ref vc_shared(vc_kernel *k, const char *name, vc_type type, uint32_t count);/* one a workgroup; contents undefined until stored */
VC_API vc_ref vc_table(vc_kernel *k, const char *name, vc_type type, const void *data, uint32_t count); /* constants; data laid out as a C array, copied */

VC_API vc_ref vc_offset(vc_ref ref, vc_val elements);
VC_API vc_val vc_load(vc_ref ref, vc_val index);
VC_API vc_val vc_load_or(vc_ref ref, vc_val index, vc_val condition, vc_val other);   /* reads only where condition holds */
VC_API void vc_store(vc_ref ref, vc_val index, vc_val value);
VC_API vc_val vc_get(vc_ref ref);                                                     /* element 0, or a variable */
VC_API void vc_set(vc_ref ref, vc_val value);

/* ---- immediates and construction ---- */

VC_API vc_val vc_bool(bool x);
VC_API vc_val vc_i8(int8_t x);
VC_API vc_val vc_i16(int16_t x);
VC_API vc_val vc_i32(int32_t x);
VC_API vc_val vc_i64(int64_t x);
VC_API vc_val vc_u8(uint8_t x);
VC_API vc_val vc_u16(uint16_t x);
VC_API vc_val vc_u32(uint32_t x);
VC_API vc_val vc_u64(uint64_t x);
VC_API vc_val vc_f16(float x);                                  /* rounded to nearest even */
VC_API vc_val vc_f32(float x);
VC_API vc_val vc_f64(double x);
VC_API vc_val vc_imm(vc_type scalar, uint64_t bits);            /* by bit pattern */
VC_API vc_val vc_const(vc_kernel *k, vc_val v);
VC_API vc_type vc_typeof(vc_val v);                             /* VC_NONE when never set */
VC_API vc_val vc_vec2(vc_val x, vc_val y);                      /* of scalars of one type */
VC_API vc_val vc_vec3(vc_val x, vc_val y, vc_val z);
VC_API vc_val vc_vec4(vc_val x, vc_val y, vc_val z, vc_val w);
VC_API vc_val vc_splat(vc_val scalar, uint32_t rows);           /* rows = 1 gives the scalar */
VC_API vc_val vc_component(vc_val vector, uint32_t i);
VC_API vc_val vc_extract(vc_val vector, vc_val i);              /* i of an integer type, modulo nothing: past the end is element 0 */
VC_API vc_val vc_insert(vc_val vector, uint32_t i, vc_val scalar);
VC_API vc_val vc_swizzle(vc_val vector, const char *components);/* "xyz", 1 to 4 letters of xyzw */
VC_API vc_val vc_cast(vc_type type, vc_val v);                  /* by value; same number of rows, or a scalar repeated */
VC_API vc_val vc_bitcast(vc_type type, vc_val v);               /* by bits; same size in bytes, same number of rows */

/* ---- arithmetic: componentwise; n: any number, i: integer, f: float, b: bool ---- */

VC_API vc_val vc_neg(vc_val a);                                 /* n */
VC_API vc_val vc_add(vc_val a, vc_val b);                       /* n */
VC_API vc_val vc_sub(vc_val a, vc_val b);                       /* n */
VC_API vc_val vc_mul(vc_val a, vc_val b);                       /* n */
VC_API vc_val vc_div(vc_val a, vc_val b);                       /* n; integers toward zero */
VC_API vc_val vc_rem(vc_val a, vc_val b);                       /* n; sign of a, as C's % and fmod */
VC_API vc_val vc_mod(vc_val a, vc_val b);                       /* n; sign of b: a - b * floor(a / b) */
VC_API vc_val vc_fma(vc_val a, vc_val b, vc_val c);             /* n; a * b + c */
VC_API vc_val vc_abs(vc_val a);                                 /* n */
VC_API vc_val vc_sign(vc_val a);                                /* n; -1, 0 or 1; 0 for NaN */
VC_API vc_val vc_min(vc_val a, vc_val b);                       /* n */
VC_API vc_val vc_max(vc_val a, vc_val b);                       /* n */
VC_API vc_val vc_clamp(vc_val x, vc_val low, vc_val high);      /* n; min(max(x, low), high) */
VC_API vc_val vc_mix(vc_val a, vc_val b, vc_val t);             /* f; a * (1 - t) + b * t */
VC_API vc_val vc_step(vc_val edge, vc_val x);                   /* f; x < edge ? 0 : 1 */
VC_API vc_val vc_floor(vc_val a);                               /* f, also the next ones */
VC_API vc_val vc_ceil(vc_val a);
VC_API vc_val vc_trunc(vc_val a);
VC_API vc_val vc_round(vc_val a);                               /* halves to even */
VC_API vc_val vc_fract(vc_val a);                               /* a - floor(a) */
VC_API vc_val vc_sqrt(vc_val a);
VC_API vc_val vc_rsqrt(vc_val a);
VC_API vc_val vc_exp(vc_val a);
VC_API vc_val vc_exp2(vc_val a);
VC_API vc_val vc_log(vc_val a);
VC_API vc_val vc_log2(vc_val a);
VC_API vc_val vc_pow(vc_val a, vc_val b);
VC_API vc_val vc_sin(vc_val a);
VC_API vc_val vc_cos(vc_val a);
VC_API vc_val vc_tan(vc_val a);
VC_API vc_val vc_asin(vc_val a);
VC_API vc_val vc_acos(vc_val a);
VC_API vc_val vc_atan(vc_val a);
VC_API vc_val vc_atan2(vc_val y, vc_val x);
VC_API vc_val vc_sinh(vc_val a);
VC_API vc_val vc_cosh(vc_val a);
VC_API vc_val vc_tanh(vc_val a);
VC_API vc_val vc_isnan(vc_val a);
VC_API vc_val vc_isinf(vc_val a);
VC_API vc_val vc_dot(vc_val a, vc_val b);                       /* n; vectors to a scalar, by fma from the first component on */

/* ---- bits and conditions ---- */

VC_API vc_val vc_not(vc_val a);                                 /* b, i, as the next three */
VC_API vc_val vc_and(vc_val a, vc_val b);
VC_API vc_val vc_or(vc_val a, vc_val b);
VC_API vc_val vc_xor(vc_val a, vc_val b);
VC_API vc_val vc_shl(vc_val a, vc_val count);                   /* i; count of any integer type */
VC_API vc_val vc_shr(vc_val a, vc_val count);                   /* i; arithmetic for signed a */
VC_API vc_val vc_eq(vc_val a, vc_val b);                        /* b, n; gives bool */
VC_API vc_val vc_ne(vc_val a, vc_val b);
VC_API vc_val vc_lt(vc_val a, vc_val b);                        /* n; false if one is NaN, as the next three */
VC_API vc_val vc_le(vc_val a, vc_val b);
VC_API vc_val vc_gt(vc_val a, vc_val b);
VC_API vc_val vc_ge(vc_val a, vc_val b);
VC_API vc_val vc_select(vc_val condition, vc_val a, vc_val b);  /* condition ? a : b, both computed; condition a scalar or one bool a component */
VC_API vc_val vc_any(vc_val a);                                 /* bool vector to bool */
VC_API vc_val vc_all(vc_val a);

/* ---- where am I: u32 scalars; axis 0 to 2 ---- */

VC_API vc_val vc_global_id(vc_kernel *k, uint32_t axis);
VC_API vc_val vc_local_id(vc_kernel *k, uint32_t axis);
VC_API vc_val vc_group_id(vc_kernel *k, uint32_t axis);
VC_API vc_val vc_local_index(vc_kernel *k);                     /* local ids as one number, axis 0 fastest */
VC_API vc_val vc_local_size(vc_kernel *k, uint32_t axis);
VC_API vc_val vc_groups(vc_kernel *k, uint32_t axis);           /* workgroups of the dispatch */
VC_API vc_val vc_threads(vc_kernel *k, uint32_t axis);          /* threads asked for; groups * local size where groups were asked for */
VC_API vc_val vc_length(vc_ref buffer);                         /* elements, at most 2^32 - 1 */
VC_API vc_val vc_shape(vc_ref buffer, uint32_t axis);           /* extent of the vd_buffer passed; axis 0 to 3 */

/* ---- statements ---- */

VC_API void vc_barrier(vc_kernel *k);                           /* all invocations of the workgroup, shared and buffer memory */
VC_API void vc_break_if(vc_kernel *k, vc_val condition);        /* scalar bool, also vc_bool(true) */
VC_API void vc_continue_if(vc_kernel *k, vc_val condition);
VC_API void vc_return_if(vc_kernel *k, vc_val condition);

/* Used by the block macros. */
VC_API int vc_if_begin(vc_kernel *k, vc_val condition);
VC_API int vc_else_begin(vc_kernel *k);
VC_API vc_val vc_for_begin(vc_kernel *k, vc_val first, vc_val limit, vc_val step);
VC_API int vc_loop_begin(vc_kernel *k);
VC_API int vc_switch_begin(vc_kernel *k, vc_val value);
VC_API int vc_case_begin(vc_kernel *k, int64_t value);
VC_API int vc_default_begin(vc_kernel *k);
VC_API vc_val vc_each_begin(vc_kernel *k, uint32_t axes, uint32_t axis); /* axis 0 opens the guard over `axes` axes */
VC_API int vc_block_end(vc_kernel *k);                          /* 0 */

#define VC__JOIN2(a, b) a##b
#define VC__JOIN(a, b) VC__JOIN2(a, b)
#define VC__ONCE VC__JOIN(vc__once_, __LINE__)
#define VC_IF(k, condition) for (int VC__ONCE = vc_if_begin(k, condition); VC__ONCE; VC__ONCE = vc_block_end(k))
#define VC_ELSE(k) for (int VC__ONCE = vc_else_begin(k); VC__ONCE; VC__ONCE = vc_block_end(k)) /* directly behind the block of a VC_IF */
#define VC_LOOP(k) for (int VC__ONCE = vc_loop_begin(k); VC__ONCE; VC__ONCE = vc_block_end(k))
#define VC_SWITCH(k, value) for (int VC__ONCE = vc_switch_begin(k, value); VC__ONCE; VC__ONCE = vc_block_end(k)) /* holds only cases; none falls through */
#define VC_CASE(k, value) for (int VC__ONCE = vc_case_begin(k, value); VC__ONCE; VC__ONCE = vc_block_end(k))
#define VC_DEFAULT(k) for (int VC__ONCE = vc_default_begin(k); VC__ONCE; VC__ONCE = vc_block_end(k))
/* i = first, first + step, … below limit (above it for a negative step); a step of 0 runs no round. i has the type of first and limit and never wraps. */
#define VC_FOR(k, i, first, limit) VC_FOR_STEP(k, i, first, limit, vc_i32(1))
#define VC_FOR_STEP(k, i, first, limit, step) \
    for (int VC__ONCE = 1; VC__ONCE; VC__ONCE = 0) for (vc_val i = vc_for_begin(k, first, limit, step); VC__ONCE; VC__ONCE = vc_block_end(k))
/* One round for each thread asked for: i, or (x, y), or (x, y, z) are its global ids; invocations beyond the threads skip the block. */
#define VC_EACH(k, i) \
    for (int VC__ONCE = 1; VC__ONCE; VC__ONCE = 0) for (vc_val i = vc_each_begin(k, 1, 0); VC__ONCE; VC__ONCE = vc_block_end(k))
#define VC_EACH2(k, x, y) \
    for (int VC__ONCE = 1; VC__ONCE; VC__ONCE = 0) for (vc_val x = vc_each_begin(k, 2, 0), y = vc_each_begin(k, 2, 1); VC__ONCE; VC__ONCE = vc_block_end(k))
#define VC_EACH3(k, x, y, z) \
    for (int VC__ONCE = 1; VC__ONCE; VC__ONCE = 0) \
        for (vc_val x = vc_each_begin(k, 3, 0), y = vc_each_begin(k, 3, 1), z = vc_each_begin(k, 3, 2); VC__ONCE; VC__ONCE = vc_block_end(k))

/* ---- with vkdispatch.h; defined where both implementations are ---- */

struct vd_context;
struct vd_kernel;
VC_API vc_machine vd_machine(const struct vd_context *ctx);                 /* limits and features of its first device */
VC_API struct vd_kernel vd_kernel_build(struct vd_context *ctx, vc_kernel *k); /* in the form the device takes best; k stays the caller's */

#ifdef __cplusplus
}
#endif
#endif /* VKDISPATCH_CODEGEN_H */

#ifdef VKDISPATCH_CODEGEN_IMPLEMENTATION
#ifndef VKDISPATCH_CODEGEN_IMPLEMENTED
#define VKDISPATCH_CODEGEN_IMPLEMENTED

// >>config
/* Resolves the user's macros into VC__HAS_X; nothing later tests anything else. */

// >>memory
/* The kernel's allocator, one growable array, and an arena for names and texts. What a kernel needs is kept by vc_restart. */

// >>fail
/* The first error of a kernel: a sentence with kernel, call, operands, types and advice. Everything after it is harmless. */

// >>types
/* Sizes, names, layout, promotion of immediates. */

// >>ops
/* The one table of operations. A row:
     X(OP, name, class, operands, kinds, result, flags, spirv bool, int, uint, float, glsl bool, int, uint, float, glsl vector, expand)
   class     LEAF    made once at entry: arguments, ids, constants
             PURE    depends on its operands alone: merged with an equal one in an open block
             READ    depends on memory: merged within its region, further only for buffers that nobody writes
             NEW     storage that is made where it stands
             EFFECT  stays where it was recorded
             BLOCK   opens, splits or closes a block
   operands  how many; 9: a range of the extra list
   kinds     what its first operand may be: B bool, I signed, U unsigned, F float
   result    SAME as the first operand, BOOL with its rows, SCALAR: one component of the first operand, or OWN: the node says
   flags     COMMUTES; EXACT: + - * of floats, must not be contracted with another when printed
   spirv     opcode by kind; E(n) is instruction n of GLSL.std.450; 0: no such form
   glsl      text by kind with $0 $1 $2 for the operands; the vector text where vectors need another (NULL: the same)
   expand    rewrites the operation for targets whose own form means something else (room expand); NULL: never */
#define VC__E(n) (0x10000u | (n))
#define VC__OPS(X) \
    /* entry */ \
    X(NONE,      "none",      LEAF,   0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) \
    X(CONST,     "const",     LEAF,   0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* a[0] low, a[1] high half of the bits; scalar */ \
    X(TUPLE,     "tuple",     LEAF,   9, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* vector of CONST; a[0] first in extra, a[1] count */ \
    X(BUFFER,    "buffer",    LEAF,   0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* x: object; type: of one element */ \
    X(PARAM,     "param",     LEAF,   0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* x: object */ \
    X(SHARED,    "shared",    LEAF,   0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* x: object */ \
    X(TABLE,     "table",     LEAF,   0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* x: object */ \
    X(VAR,       "var",       NEW,    0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* x: object; set to zero here */ \
    X(ARRAY,     "array",     NEW,    0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* x: object */ \
    X(LOCAL_ID,  "local_id",  LEAF,   0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* x: axis; u32, as the next four */ \
    X(GROUP_ID,  "group_id",  LEAF,   0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* of this launch, without the group base */ \
    X(GLOBAL_ID, "global_id", LEAF,   0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* of this launch, without the group base */ \
    X(LOCAL_INDEX, "local_index", LEAF, 0, 0,  OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) \
    X(HIDDEN,    "hidden",    LEAF,   0, 0,    OWN,    0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* a[0] kind, a[1] argument (object), a[2] axis */ \
    /* construction */ \
    X(VEC,       "vec",       PURE,   9, B|I|U|F, OWN, 0, 80, 80, 80, 80, NULL, NULL, NULL, NULL, NULL, NULL) /* a[0] first in extra, a[1] count */ \
    X(COMPONENT, "component", PURE,   1, B|I|U|F, SCALAR, 0, 81, 81, 81, 81, NULL, NULL, NULL, NULL, NULL, NULL) /* x: which */ \
    X(EXTRACT,   "extract",   PURE,   2, B|I|U|F, SCALAR, 0, 77, 77, 77, 77, "$0[$1]", "$0[$1]", "$0[$1]", "$0[$1]", NULL, vc__expand_extract) \
    X(CAST,      "cast",      PURE,   1, B|I|U|F, OWN, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, vc__expand_cast) \
    X(BITCAST,   "bitcast",   PURE,   1, I|U|F,  OWN,  0, 124, 124, 124, 124, NULL, NULL, NULL, NULL, NULL, NULL) \
    /* arithmetic */ \
    X(NEG,       "neg",       PURE,   1, I|U|F, SAME,  0, 0, 126, 126, 127, NULL, "-$0", "-$0", "-$0", NULL, NULL) \
    X(ADD,       "add",       PURE,   2, I|U|F, SAME,  COMMUTES|EXACT, 0, 128, 128, 129, NULL, "$0 + $1", "$0 + $1", "$0 + $1", NULL, NULL) \
    X(SUB,       "sub",       PURE,   2, I|U|F, SAME,  EXACT, 0, 130, 130, 131, NULL, "$0 - $1", "$0 - $1", "$0 - $1", NULL, NULL) \
    X(MUL,       "mul",       PURE,   2, I|U|F, SAME,  COMMUTES|EXACT, 0, 132, 132, 133, NULL, "$0 * $1", "$0 * $1", "$0 * $1", NULL, NULL) \
    X(DIV,       "div",       PURE,   2, I|U|F, SAME,  0, 0, 135, 134, 136, NULL, "$0 / $1", "$0 / $1", "$0 / $1", NULL, vc__expand_div) \
    X(REM,       "rem",       PURE,   2, I|U|F, SAME,  0, 0, 138, 137, 0, NULL, "$0 % $1", "$0 % $1", NULL, NULL, vc__expand_rem) \
    X(MOD,       "mod",       PURE,   2, I|U|F, SAME,  0, 0, 139, 137, 0, NULL, NULL, "$0 % $1", NULL, NULL, vc__expand_mod) \
    X(FMA,       "fma",       PURE,   3, I|U|F, SAME,  0, 0, 0, 0, VC__E(50), NULL, NULL, NULL, "fma($0, $1, $2)", NULL, vc__expand_fma) \
    X(ABS,       "abs",       PURE,   1, I|U|F, SAME,  0, 0, VC__E(5), 0, VC__E(4), NULL, "abs($0)", NULL, "abs($0)", NULL, vc__expand_abs) \
    X(SIGN,      "sign",      PURE,   1, I|U|F, SAME,  0, 0, VC__E(7), 0, VC__E(6), NULL, "sign($0)", NULL, "sign($0)", NULL, vc__expand_sign) \
    X(MIN,       "min",       PURE,   2, I|U|F, SAME,  COMMUTES, 0, VC__E(39), VC__E(38), VC__E(79), NULL, "min($0, $1)", "min($0, $1)", "min($0, $1)", NULL, vc__expand_min) \
    X(MAX,       "max",       PURE,   2, I|U|F, SAME,  COMMUTES, 0, VC__E(42), VC__E(41), VC__E(80), NULL, "max($0, $1)", "max($0, $1)", "max($0, $1)", NULL, vc__expand_max) \
    X(CLAMP,     "clamp",     PURE,   3, I|U|F, SAME,  0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, vc__expand_clamp) \
    X(MIX,       "mix",       PURE,   3, F,     SAME,  0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, vc__expand_mix) \
    X(STEP,      "step",      PURE,   2, F,     SAME,  0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, vc__expand_step) \
    X(FLOOR,     "floor",     PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(8), NULL, NULL, NULL, "floor($0)", NULL, NULL) \
    X(CEIL,      "ceil",      PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(9), NULL, NULL, NULL, "ceil($0)", NULL, NULL) \
    X(TRUNC,     "trunc",     PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(3), NULL, NULL, NULL, "trunc($0)", NULL, NULL) \
    X(ROUND,     "round",     PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(2), NULL, NULL, NULL, "roundEven($0)", NULL, NULL) \
    X(FRACT,     "fract",     PURE,   1, F,     SAME,  0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, vc__expand_fract) \
    X(SQRT,      "sqrt",      PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(31), NULL, NULL, NULL, "sqrt($0)", NULL, NULL) \
    X(RSQRT,     "rsqrt",     PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(32), NULL, NULL, NULL, "inversesqrt($0)", NULL, vc__expand_math64) \
    X(EXP,       "exp",       PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(27), NULL, NULL, NULL, "exp($0)", NULL, vc__expand_math64) \
    X(EXP2,      "exp2",      PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(29), NULL, NULL, NULL, "exp2($0)", NULL, vc__expand_math64) \
    X(LOG,       "log",       PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(28), NULL, NULL, NULL, "log($0)", NULL, vc__expand_math64) \
    X(LOG2,      "log2",      PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(30), NULL, NULL, NULL, "log2($0)", NULL, vc__expand_math64) \
    X(POW,       "pow",       PURE,   2, F,     SAME,  0, 0, 0, 0, VC__E(26), NULL, NULL, NULL, "pow($0, $1)", NULL, vc__expand_pow) \
    X(SIN,       "sin",       PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(13), NULL, NULL, NULL, "sin($0)", NULL, vc__expand_math64) \
    X(COS,       "cos",       PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(14), NULL, NULL, NULL, "cos($0)", NULL, vc__expand_math64) \
    X(TAN,       "tan",       PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(15), NULL, NULL, NULL, "tan($0)", NULL, vc__expand_math64) \
    X(ASIN,      "asin",      PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(16), NULL, NULL, NULL, "asin($0)", NULL, vc__expand_math64) \
    X(ACOS,      "acos",      PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(17), NULL, NULL, NULL, "acos($0)", NULL, vc__expand_math64) \
    X(ATAN,      "atan",      PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(18), NULL, NULL, NULL, "atan($0)", NULL, vc__expand_math64) \
    X(ATAN2,     "atan2",     PURE,   2, F,     SAME,  0, 0, 0, 0, VC__E(25), NULL, NULL, NULL, "atan($0, $1)", NULL, vc__expand_math64) \
    X(SINH,      "sinh",      PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(19), NULL, NULL, NULL, "sinh($0)", NULL, vc__expand_math64) \
    X(COSH,      "cosh",      PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(20), NULL, NULL, NULL, "cosh($0)", NULL, vc__expand_math64) \
    X(TANH,      "tanh",      PURE,   1, F,     SAME,  0, 0, 0, 0, VC__E(21), NULL, NULL, NULL, "tanh($0)", NULL, vc__expand_math64) \
    X(ISNAN,     "isnan",     PURE,   1, F,     BOOL,  0, 0, 0, 0, 156, NULL, NULL, NULL, "isnan($0)", NULL, NULL) \
    X(ISINF,     "isinf",     PURE,   1, F,     BOOL,  0, 0, 0, 0, 157, NULL, NULL, NULL, "isinf($0)", NULL, NULL) \
    X(DOT,       "dot",       PURE,   2, I|U|F, SCALAR, COMMUTES, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, vc__expand_dot) \
    /* bits and conditions */ \
    X(NOT,       "not",       PURE,   1, B|I|U, SAME,  0, 168, 200, 200, 0, "!$0", "~$0", "~$0", NULL, "not($0)", NULL) \
    X(AND,       "and",       PURE,   2, B|I|U, SAME,  COMMUTES, 167, 199, 199, 0, "$0 && $1", "$0 & $1", "$0 & $1", NULL, NULL, NULL) \
    X(OR,        "or",        PURE,   2, B|I|U, SAME,  COMMUTES, 166, 197, 197, 0, "$0 || $1", "$0 | $1", "$0 | $1", NULL, NULL, NULL) \
    X(XOR,       "xor",       PURE,   2, B|I|U, SAME,  COMMUTES, 165, 198, 198, 0, "$0 != $1", "$0 ^ $1", "$0 ^ $1", NULL, "notEqual($0, $1)", NULL) \
    X(SHL,       "shl",       PURE,   2, I|U,   SAME,  0, 0, 196, 196, 0, NULL, "$0 << $1", "$0 << $1", NULL, NULL, vc__expand_shift) \
    X(SHR,       "shr",       PURE,   2, I|U,   SAME,  0, 0, 195, 194, 0, NULL, "$0 >> $1", "$0 >> $1", NULL, NULL, vc__expand_shift) \
    X(EQ,        "eq",        PURE,   2, B|I|U|F, BOOL, COMMUTES, 164, 170, 170, 180, "$0 == $1", "$0 == $1", "$0 == $1", "$0 == $1", "equal($0, $1)", NULL) \
    X(NE,        "ne",        PURE,   2, B|I|U|F, BOOL, COMMUTES, 165, 171, 171, 183, "$0 != $1", "$0 != $1", "$0 != $1", "$0 != $1", "notEqual($0, $1)", NULL) \
    X(LT,        "lt",        PURE,   2, I|U|F, BOOL,  0, 0, 177, 176, 184, NULL, "$0 < $1", "$0 < $1", "$0 < $1", "lessThan($0, $1)", NULL) \
    X(LE,        "le",        PURE,   2, I|U|F, BOOL,  0, 0, 179, 178, 188, NULL, "$0 <= $1", "$0 <= $1", "$0 <= $1", "lessThanEqual($0, $1)", NULL) \
    X(SELECT,    "select",    PURE,   3, B,     OWN,   0, 169, 169, 169, 169, "$0 ? $1 : $2", "$0 ? $1 : $2", "$0 ? $1 : $2", "$0 ? $1 : $2", "mix($2, $1, $0)", NULL) \
    X(ANY,       "any",       PURE,   1, B,     SCALAR, 0, 154, 0, 0, 0, "any($0)", NULL, NULL, NULL, NULL, NULL) \
    X(ALL,       "all",       PURE,   1, B,     SCALAR, 0, 155, 0, 0, 0, "all($0)", NULL, NULL, NULL, NULL, NULL) \
    /* memory: a[0] memory node, a[1] index node or VC__NIL, x constant element offset (two's complement) */ \
    X(POINTER,   "pointer",   PURE,   2, 0,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* made by expand: address of a[0] + a[1] elements, where buffers are addresses */ \
    X(LOAD,      "load",      READ,   2, 0,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, vc__expand_memory) \
    X(STORE,     "store",     EFFECT, 3, 0,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, vc__expand_memory) /* a[2] value */ \
    /* flow */ \
    X(BARRIER,   "barrier",   EFFECT, 0, 0,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) \
    X(BREAK_IF,  "break_if",  EFFECT, 1, B,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) \
    X(CONTINUE_IF, "continue_if", EFFECT, 1, B, OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) \
    X(RETURN_IF, "return_if", EFFECT, 1, B,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) \
    X(IF,        "if",        BLOCK,  1, B,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) \
    X(ELSE,      "else",      BLOCK,  0, 0,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) \
    X(FOR,       "for",       BLOCK,  2, I|U,   SAME,  0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* its value counts from a[0] by one while below a[1] */ \
    X(LOOP,      "loop",      BLOCK,  0, 0,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) \
    X(SWITCH,    "switch",    BLOCK,  1, I|U,   OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) \
    X(CASE,      "case",      BLOCK,  0, 0,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* a[0] low, a[1] high half of its value, of the switch's type */ \
    X(DEFAULT,   "default",   BLOCK,  0, 0,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) \
    X(END,       "end",       BLOCK,  0, 0,     OWN,   0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL) /* x: what it closes (VC__OP_) */

// >>tape
/* What is recorded: nodes in the order they came, and which of them are pinned to their place (effects and blocks). It stays raw; the schedule makes sense of it.
   A gap between two pins is a region; `at` is the region a node was recorded in. */

#define VC__NIL 0xffffffffu

typedef struct vc__node { /* 28 bytes */
    uint16_t op;      /* VC__OP_ */
    uint16_t flags;   /* VC__NODE_ */
    vc_type type;
    uint32_t at;      /* pins recorded before it */
    uint32_t a[3];    /* operands: nodes; VC__NIL: none */
    uint32_t x;       /* small constant, object, axis, kind */
} vc__node;

enum {
    VC__NODE_DIVERGES = 1, /* may differ between the invocations of a workgroup */
    VC__NODE_PRECISE = 2   /* printed so that no compiler contracts it: a float multiply that feeds an add, and that add */
};

typedef struct vc__pin { uint32_t node, block; } vc__pin; /* block: the one open behind this pin */

typedef struct vc__block {
    uint32_t parent;  /* VC__NIL: the kernel's own body */
    uint16_t op;      /* IF, ELSE, FOR, LOOP, SWITCH, CASE, DEFAULT */
    uint16_t flags;
    uint32_t open, close; /* its pins; close is VC__NIL while open */
} vc__block;

/* What a node cannot hold: arguments, arrays, variables, tables. */
typedef struct vc__object {
    const char *name; /* in the arena; may be NULL */
    uint16_t op;      /* BUFFER, PARAM, SHARED, TABLE, VAR, ARRAY */
    uint16_t access;  /* allowed: VC_READ … VC_MAY_ALIAS */
    vc_type type;
    uint32_t count;   /* elements of arrays; 0: buffers */
    uint32_t node;
    const uint64_t *data; /* tables: one value a component, in the arena */
} vc__object;

/* What the schedule gives to a printer: the live nodes of one target, in the order they are printed. Operands are indices into the same list and come before their users.
   First the constants in order of first use, then the other leaves, then the body: pure and read nodes, effects and blocks as they follow each other. */
typedef struct vc__listing {
    const vc__node *node;
    uint32_t count;
    uint32_t leaves;        /* index of the first leaf that is no constant */
    uint32_t body;          /* index of the first node that is no leaf */
    const uint32_t *extra;  /* operands of VEC and TUPLE */
    const vc__object *object;
    uint32_t object_count;
    vc_target target;
    vc_buffers buffers;     /* VC_BUFFERS_ADDRESS or VC_BUFFERS_BINDING */
    vc_info info;           /* places, access and features as this form has them */
} vc__listing;

// >>check
/* What operands an operation takes and what it gives. */

// >>fold
/* Arithmetic on constants, one operation at a time and on bit patterns, so that no compiler's flags change our bytes; never on subnormals. */

// >>expand
/* Operations rewritten in terms of others, where a target's own form means something else or is missing. A rewrite returns the number of what replaces the node, or VC__NIL
   where its own form will do. Numbers are made one after another and never two in one argument list: every compiler has to make them in the same order. */

static vc_type vc__x_type(vc__lower *s, uint32_t a) { return vc__lowered(s, a)->type; }
static uint32_t vc__x_one(vc__lower *s, uint16_t op, uint32_t a) { return vc__make(s, op, vc__x_type(s, a), a, VC__NIL, VC__NIL, 0); }
static uint32_t vc__x_two(vc__lower *s, uint16_t op, uint32_t a, uint32_t b) { return vc__make(s, op, vc__x_type(s, a), a, b, VC__NIL, 0); }
static uint32_t vc__x_three(vc__lower *s, uint16_t op, uint32_t a, uint32_t b, uint32_t c) { return vc__make(s, op, vc__x_type(s, a), a, b, c, 0); }
static uint32_t vc__x_select(vc__lower *s, uint32_t c, uint32_t a, uint32_t b) { return vc__make(s, VC__OP_SELECT, vc__x_type(s, a), c, a, b, 0); }
static uint32_t vc__x_cast(vc__lower *s, vc_type type, uint32_t a) { return vc__make(s, VC__OP_CAST, type, a, VC__NIL, VC__NIL, 0); }

/* Comparison of any kind: bools, as many as a has components. */
static uint32_t vc__x_compare(vc__lower *s, uint16_t op, uint32_t a, uint32_t b) {
    return vc__make(s, op, vc__vec(VC_BOOL, vc__rows(vc__x_type(s, a))), a, b, VC__NIL, 0);
}

/* The number n of integers, or of floats of kind f16, f32, f64. */
static uint64_t vc__x_bits(vc_type type, int n) {
    static const uint64_t one[3] = { 0x3c00u, 0x3f800000u, 0x3ff0000000000000u };
    if (!vc__is_float(type)) return (uint64_t)(int64_t)n & vc__ones(vc__bits(vc__kind(type)));
    return n == 0 ? 0 : one[vc__kind(type) - VC_F16] | (n < 0 ? (uint64_t)1 << (vc__bits(vc__kind(type)) - 1) : 0);
}
static uint32_t vc__x_small(vc__lower *s, vc_type type, int n) { return vc__make_const(s, type, vc__x_bits(type, n)); } /* n: -1, 0 or 1 for floats */

static uint32_t vc__x_special(vc__lower *s, vc_type type, bool nan) { /* NaN or infinity */
    static const uint64_t infinity[3] = { 0x7c00u, 0x7f800000u, 0x7ff0000000000000u }, quiet[3] = { 0x200u, 0x400000u, 0x8000000000000u };
    uint32_t kind = vc__kind(type) - VC_F16;
    return vc__make_const(s, type, infinity[kind] | (nan ? quiet[kind] : 0));
}

/* The constant bits of component i; false when a is no constant. */
static bool vc__x_known(vc__lower *s, uint32_t a, uint32_t i, uint64_t *bits) {
    const vc__node *n = vc__lowered(s, a);
    if (n->op == VC__OP_TUPLE) n = vc__lowered(s, s->extra[n->a[0] + i]);
    if (n->op != VC__OP_CONST) return false;
    *bits = n->a[0] | (uint64_t)n->a[1] << 32;
    return true;
}

/* Whether a is a constant none of whose components is 0, nor -1 if signed: x / a needs no guard. */
static bool vc__x_divides(vc__lower *s, uint32_t a) {
    vc_type type = vc__x_type(s, a);
    uint32_t i;
    uint64_t bits = 0;
    for (i = 0; i < vc__rows(type); i++)
        if (!vc__x_known(s, a, i, &bits) || !bits || (vc__is_signed(type) && bits == vc__x_bits(type, -1))) return false;
    return true;
}

/* ---- integer division ---- */

typedef struct vc__divisor { uint32_t zero, minus, safe; } vc__divisor; /* where it is 0, where it is -1 (signed ones), and itself with 1 in those places */

static vc__divisor vc__x_divisor(vc__lower *s, uint32_t y) {
    vc_type type = vc__x_type(s, y);
    vc__divisor d;
    uint32_t c = vc__x_small(s, type, 0), risky;
    d.minus = VC__NIL;
    risky = d.zero = vc__x_compare(s, VC__OP_EQ, y, c);
    if (vc__is_signed(type)) {
        c = vc__x_small(s, type, -1);
        d.minus = vc__x_compare(s, VC__OP_EQ, y, c);
        risky = vc__x_two(s, VC__OP_OR, d.zero, d.minus);
    }
    c = vc__x_small(s, type, 1);
    d.safe = vc__x_select(s, risky, c, y);
    return d;
}

static uint32_t vc__expand_div(vc__lower *s, const vc__node *n) {
    vc_type type = n->type;
    uint32_t x = n->a[0], y = n->a[1], q, c;
    vc__divisor d;
    if (vc__is_float(type) || vc__x_divides(s, y)) return VC__NIL;
    d = vc__x_divisor(s, y);
    q = vc__make_raw(s, VC__OP_DIV, type, x, d.safe, VC__NIL, 0);
    if (d.minus != VC__NIL) {
        c = vc__x_one(s, VC__OP_NEG, x);
        q = vc__x_select(s, d.minus, c, q);
    }
    c = vc__x_small(s, type, -1);
    return vc__x_select(s, d.zero, c, q);
}

/* x - y * round(x / y) */
static uint32_t vc__x_float_rem(vc__lower *s, uint32_t x, uint32_t y, uint16_t round) {
    uint32_t q = vc__x_two(s, VC__OP_DIV, x, y);
    q = vc__x_one(s, round, q);
    q = vc__x_two(s, VC__OP_MUL, y, q);
    return vc__x_two(s, VC__OP_SUB, x, q);
}

/* Remainders of negative numbers are undefined in Vulkan and GLSL, quotients are not. */
static uint32_t vc__expand_rem(vc__lower *s, const vc__node *n) {
    vc_type type = n->type;
    uint32_t x = n->a[0], y = n->a[1], r;
    bool sure;
    vc__divisor d;
    if (vc__is_float(type)) return vc__x_float_rem(s, x, y, VC__OP_TRUNC);
    sure = vc__x_divides(s, y);
    if (sure && !vc__is_signed(type)) return VC__NIL;
    d.zero = d.minus = VC__NIL;
    d.safe = y;
    if (!sure) d = vc__x_divisor(s, y);
    if (vc__is_signed(type)) {
        r = vc__make_raw(s, VC__OP_DIV, type, x, d.safe, VC__NIL, 0);
        r = vc__x_two(s, VC__OP_MUL, r, d.safe);
        r = vc__x_two(s, VC__OP_SUB, x, r);
    } else {
        r = vc__make_raw(s, VC__OP_REM, type, x, d.safe, VC__NIL, 0);
    }
    return sure ? r : vc__x_select(s, d.zero, x, r);
}

static uint32_t vc__expand_mod(vc__lower *s, const vc__node *n) {
    vc_type type = n->type;
    uint32_t x = n->a[0], y = n->a[1], r, zero, left, other;
    if (vc__is_float(type)) return vc__x_float_rem(s, x, y, VC__OP_FLOOR);
    r = vc__x_two(s, VC__OP_REM, x, y);
    if (!vc__is_signed(type)) return r;
    zero = vc__x_small(s, type, 0);
    left = vc__x_compare(s, VC__OP_NE, r, zero);
    other = vc__x_two(s, VC__OP_XOR, r, y);
    other = vc__x_compare(s, VC__OP_LT, other, zero);
    left = vc__x_two(s, VC__OP_AND, left, other);
    left = vc__x_select(s, left, y, zero);
    return vc__x_two(s, VC__OP_ADD, r, left);
}

/* ---- arithmetic ---- */

static uint32_t vc__expand_fma(vc__lower *s, const vc__node *n) {
    uint32_t c = n->a[2], p;
    if (vc__is_float(n->type)) return VC__NIL;
    p = vc__x_two(s, VC__OP_MUL, n->a[0], n->a[1]);
    return vc__x_two(s, VC__OP_ADD, p, c);
}

static uint32_t vc__expand_abs(vc__lower *s, const vc__node *n) {
    (void)s;
    return vc__is_unsigned(n->type) ? n->a[0] : VC__NIL;
}

/* 0 for NaN, of which GLSL.std.450 says nothing. */
static uint32_t vc__expand_sign(vc__lower *s, const vc__node *n) {
    vc_type type = n->type;
    uint32_t x = n->a[0], zero, c, r;
    if (vc__is_signed(type)) return VC__NIL;
    zero = vc__x_small(s, type, 0);
    r = zero;
    if (vc__is_float(type)) {
        r = vc__x_small(s, type, -1);
        c = vc__x_compare(s, VC__OP_LT, x, zero);
        r = vc__x_select(s, c, r, zero);
    }
    c = vc__x_compare(s, VC__OP_LT, zero, x);
    x = vc__x_small(s, type, 1);
    return vc__x_select(s, c, x, r);
}

/* SPIR-V has a minimum that ignores NaN; in GLSL: a is taken where it is less, or b is NaN. */
static uint32_t vc__x_least(vc__lower *s, const vc__node *n, bool most) {
    uint32_t a = n->a[0], b = n->a[1], less, nan;
    if (!vc__is_float(n->type) || s->target != VC_TARGET_GLSL || s->kernel->desc.fast) return VC__NIL;
    less = most ? vc__x_compare(s, VC__OP_LT, b, a) : vc__x_compare(s, VC__OP_LT, a, b);
    nan = vc__x_compare(s, VC__OP_NE, b, b);
    less = vc__x_two(s, VC__OP_OR, less, nan);
    return vc__x_select(s, less, a, b);
}
static uint32_t vc__expand_min(vc__lower *s, const vc__node *n) { return vc__x_least(s, n, false); }
static uint32_t vc__expand_max(vc__lower *s, const vc__node *n) { return vc__x_least(s, n, true); }

static uint32_t vc__expand_clamp(vc__lower *s, const vc__node *n) {
    uint32_t high = n->a[2], x = vc__x_two(s, VC__OP_MAX, n->a[0], n->a[1]);
    return vc__x_two(s, VC__OP_MIN, x, high);
}

static uint32_t vc__expand_mix(vc__lower *s, const vc__node *n) {
    uint32_t a = n->a[0], b = n->a[1], t = n->a[2], rest = vc__x_small(s, n->type, 1);
    rest = vc__x_two(s, VC__OP_SUB, rest, t);
    a = vc__x_two(s, VC__OP_MUL, a, rest);
    b = vc__x_two(s, VC__OP_MUL, b, t);
    return vc__x_two(s, VC__OP_ADD, a, b);
}

static uint32_t vc__expand_step(vc__lower *s, const vc__node *n) {
    vc_type type = n->type;
    uint32_t below = vc__x_compare(s, VC__OP_LT, n->a[1], n->a[0]), zero = vc__x_small(s, type, 0), one = vc__x_small(s, type, 1);
    return vc__x_select(s, below, zero, one);
}

static uint32_t vc__expand_fract(vc__lower *s, const vc__node *n) {
    uint32_t x = n->a[0], whole = vc__x_one(s, VC__OP_FLOOR, x);
    return vc__x_two(s, VC__OP_SUB, x, whole);
}

static uint32_t vc__expand_dot(vc__lower *s, const vc__node *n) {
    vc_type type = n->type;
    uint32_t x = n->a[0], y = n->a[1], rows = vc__rows(vc__x_type(s, x)), i, a, b, r = VC__NIL;
    if (rows == 1) return vc__x_two(s, VC__OP_MUL, x, y);
    for (i = 0; i < rows; i++) {
        a = vc__make(s, VC__OP_COMPONENT, type, x, VC__NIL, VC__NIL, i);
        b = vc__make(s, VC__OP_COMPONENT, type, y, VC__NIL, VC__NIL, i);
        r = i ? vc__x_three(s, VC__OP_FMA, a, b, r) : vc__x_two(s, VC__OP_MUL, a, b);
    }
    return r;
}

static uint32_t vc__expand_extract(vc__lower *s, const vc__node *n) {
    vc_type type = n->type, itype;
    uint32_t v = n->a[0], i = n->a[1], rows = vc__rows(vc__x_type(s, v)), limit, zero, inside;
    itype = vc__to_unsigned(vc__x_type(s, i));
    i = vc__x_cast(s, itype, i);
    limit = vc__make_const(s, itype, rows);
    inside = vc__x_compare(s, VC__OP_LT, i, limit);
    zero = vc__x_small(s, itype, 0);
    i = vc__x_select(s, inside, i, zero);
    i = vc__x_cast(s, VC_U32, i);
    return vc__make_raw(s, VC__OP_EXTRACT, type, v, i, VC__NIL, 0);
}

/* The count, of any integer type, modulo the width and in the type of what is shifted. */
static uint32_t vc__expand_shift(vc__lower *s, const vc__node *n) {
    vc_type type = n->type, of = vc__x_type(s, n->a[1]);
    uint16_t op = n->op;
    uint32_t x = n->a[0], count = n->a[1], mask = vc__make_const(s, of, vc__bits(vc__kind(type)) - 1);
    count = vc__x_two(s, VC__OP_AND, count, mask);
    count = vc__x_cast(s, type, count);
    return vc__make_raw(s, op, type, x, count, VC__NIL, 0);
}

/* ---- casts ---- */

/* What a float is cut to before it becomes an integer: the least and the largest float that fit, and the first power of two that does not. */
typedef struct vc__range { uint64_t low, high, beyond; bool exact; } vc__range; /* exact: high is the integer's own limit */

static vc__range vc__x_range(vc_type from, vc_type to) {
    uint32_t fraction = vc__kinds[vc__kind(from)].fraction, width = vc__bits(vc__kind(from)), bits = vc__bits(vc__kind(to));
    uint64_t bias = vc__ones(vc__kinds[vc__kind(from)].exponent - 1u);
    uint32_t power = vc__is_signed(to) ? bits - 1 : bits; /* integers end below 2^power */
    vc__range r;
    r.beyond = (bias + power) << fraction;
    r.low = vc__is_signed(to) ? r.beyond | (uint64_t)1 << (width - 1) : 0;
    r.exact = power <= fraction + 1;
    r.high = r.exact ? ((bias + power - 1) << fraction) | (vc__ones(power - 1) << (fraction - (power - 1))) : r.beyond - 1;
    return r;
}

/* x cut to what fits, NaN to 0. */
static uint32_t vc__x_cut(vc__lower *s, vc_type type, uint32_t x, const vc__range *r) {
    vc_type from = vc__x_type(s, x);
    uint32_t c = vc__make_const(s, from, r->low), cut = vc__x_two(s, VC__OP_MAX, x, c), number;
    c = vc__make_const(s, from, r->high);
    cut = vc__x_two(s, VC__OP_MIN, cut, c);
    if (!vc__is_signed(type)) return cut; /* the maximum with 0 already took NaN away */
    number = vc__x_compare(s, VC__OP_EQ, x, x);
    c = vc__x_small(s, from, 0);
    return vc__x_select(s, number, cut, c);
}

/* A float to an integer, through the 32-bit one if it is small. */
static uint32_t vc__x_to_int(vc__lower *s, vc_type type, vc_type middle, uint32_t x) {
    vc_type from = vc__x_type(s, x);
    vc__range r = vc__x_range(from, type);
    uint32_t whole = vc__x_cut(s, type, x, &r), c, beyond;
    whole = vc__make_raw(s, VC__OP_CAST, middle, whole, VC__NIL, VC__NIL, 0);
    if (middle != type) whole = vc__make_raw(s, VC__OP_CAST, type, whole, VC__NIL, VC__NIL, 0);
    if (r.exact) return whole;
    c = vc__make_const(s, from, r.beyond);
    beyond = vc__x_compare(s, VC__OP_LE, c, x);
    c = vc__make_const(s, type, vc__ones(vc__bits(vc__kind(type)) - (vc__is_signed(type) ? 1 : 0)));
    return vc__x_select(s, beyond, c, whole);
}

/* Between integers of 8 and 16 bits and floats the way leads over 32 bits, and from and to f16 over f32, which is exact: devices that only store small types know no other. */
static vc_type vc__x_middle(vc_type from, vc_type to) {
    vc_type rows = to & 48u;
    bool a = vc__is_float(from), b = vc__is_float(to);
    if (a == b) return to;
    if (a && vc__kind(from) == VC_F16) return VC_F32 + rows;
    if (b && vc__kind(to) == VC_F16) return VC_F32 + rows;
    if (vc__bits(vc__kind(a ? to : from)) >= 32) return to;
    return (vc__is_signed(a ? to : from) ? VC_I32 : VC_U32) + rows;
}

static uint32_t vc__expand_cast(vc__lower *s, const vc__node *n) {
    vc_type type = n->type, from = vc__x_type(s, n->a[0]), middle;
    uint32_t x = n->a[0], c, r;
    if (vc__kind(type) == vc__kind(from)) return x;
    if (vc__is_bool(type)) {
        c = vc__x_small(s, from, 0);
        return vc__x_compare(s, VC__OP_NE, x, c);
    }
    if (vc__is_bool(from)) {
        c = vc__x_small(s, type, 1);
        r = vc__x_small(s, type, 0);
        return vc__x_select(s, x, c, r);
    }
    middle = vc__x_middle(from, type);
    if (vc__is_float(from) && !vc__is_float(type) && !vc__is_float(middle)) return vc__x_to_int(s, type, middle, x);
    if (middle == type) return VC__NIL;
    x = vc__x_cast(s, middle, x);
    return vc__x_cast(s, type, x);
}

/* ---- elementary functions of f16 and f32 ---- */

/* Undefined for x < 0, and for x = 0 with y <= 0, in GLSL.std.450. */
static uint32_t vc__expand_pow(vc__lower *s, const vc__node *n) {
    vc_type type = n->type;
    uint32_t x = n->a[0], y = n->a[1], zero, c, v, r, low;
    if (vc__kind(type) == VC_F64) return vc__expand_math64(s, n);
    if (s->kernel->desc.fast) return VC__NIL;
    zero = vc__x_small(s, type, 0);
    r = vc__make_raw(s, VC__OP_POW, type, x, y, VC__NIL, 0);
    c = vc__x_compare(s, VC__OP_EQ, x, zero);
    low = vc__x_compare(s, VC__OP_LT, y, zero);
    v = vc__x_special(s, type, false);
    v = vc__x_select(s, low, v, zero);
    r = vc__x_select(s, c, v, r);
    c = vc__x_compare(s, VC__OP_LT, x, zero);
    v = vc__x_special(s, type, true);
    r = vc__x_select(s, c, v, r);
    c = vc__x_compare(s, VC__OP_EQ, y, zero);
    low = vc__x_compare(s, VC__OP_LE, zero, x);
    c = vc__x_two(s, VC__OP_AND, c, low);
    v = vc__x_small(s, type, 1);
    return vc__x_select(s, c, v, r);
}

/* ---- memory ---- */

/* Where buffers are addresses: one pointer for an index, and constant offsets from it, which devices have for nothing. Offsets below zero start from a lower pointer, shared
   by those close to it. */
static uint32_t vc__expand_memory(vc__lower *s, const vc__node *n) {
    vc_type type = n->type, element;
    uint16_t op = n->op;
    uint32_t value = n->a[2], x = n->x, low = 0, p;
    const vc__node *memory = vc__lowered(s, n->a[0]);
    if (memory->op != VC__OP_BUFFER || s->buffers != VC_BUFFERS_ADDRESS) return VC__NIL;
    element = memory->type;
    if (x >> 31) low = x & ~1023u;
    p = vc__make(s, VC__OP_POINTER, element, n->a[0], n->a[1], VC__NIL, low);
    return vc__make_raw(s, op, type, p, VC__NIL, op == VC__OP_STORE ? value : VC__NIL, x - low);
}

// >>math64
/* Elementary functions of f64, which GLSL.std.450 does not have, from operations it has: + - * /, fma, sqrt, round, selection and the bits as i64. Vectors go
   componentwise. Largest errors found against 113-bit arithmetic over the whole range, in ulp: log2 0.6, log sin cos atan 0.8, exp 1, exp2 acos 1.2, pow 1.3,
   rsqrt atan2 cosh 1.5, sinh 1.6, tan asin 2.1, tanh 2.4; they need + - * / and sqrt to round to nearest and no contraction.
   sin, cos and tan hold that for |x| <= 2^30; beyond, accuracy fades and the result stays a number between -1 and 1 (tan: any). pow(x, 0) is 1 for x >= 0;
   the sign of -0 is lost there.
   Methods: reduction by constants cut so that products are exact (Cody and Waite, Software Manual for the Elementary Functions, 1980), error-free products and sums
   (Dekker, Numerische Mathematik 18, 1971), atanh series for logarithms, Chebyshev fits. Products are split by masking bits and not by fma, which may round twice.
   No call stands beside another in one argument list: nodes must be made in the same order by every compiler. */

typedef struct vc__m64 {
    vc__lower *s;
    vc_type f, i, b; /* f64, i64 and bool with the rows of the node */
} vc__m64;

#define VC__M_ONE 0x3ff0000000000000u
#define VC__M_HALF 0x3fe0000000000000u
#define VC__M_INF 0x7ff0000000000000u
#define VC__M_NAN 0x7ff8000000000000u
#define VC__M_SIGN 0x8000000000000000u
#define VC__M_LN2_HIGH 0x3fe62e42fee00000u /* 32 bits: exact when multiplied by an exponent */
#define VC__M_LN2_LOW 0x3dea39ef35793c76u
#define VC__M_PIO2 0x3ff921fb54442d18u
#define VC__M_PIO2_LOW 0x3c91a62633145c07u
#define VC__M_PI 0x400921fb54442d18u
#define VC__M_PI_LOW 0x3ca1a62633145c07u

/* Coefficients, highest power first, by Chebyshev interpolation in 250-bit arithmetic on the reduced range. */
static const uint64_t vc__m_exp_poly[11] = { /* (e^r - 1 - r) / r^2, |r| <= ln(2) / 2 */
    0x3e21f6025e1721d9u, 0x3e5af4df7e870362u, 0x3e927e4e7ddba33fu, 0x3ec71de022aa7c92u, 0x3efa01a01a0d8f8eu, 0x3f2a01a01abea2dau,
    0x3f56c16c16c17705u, 0x3f811111111100d8u, 0x3fa5555555555552u, 0x3fc5555555555557u, 0x3fe0000000000000u
};
static const uint64_t vc__m_exp2_poly[13] = { /* (2^r - 1) / r, |r| <= 1/2 */
    0x3d7cdc9ba155becdu, 0x3dbc4b5b04b1e8f9u, 0x3dfe88d0e5866e32u, 0x3e3e4cf03bac04a7u, 0x3e7b5255079d0d73u, 0x3eb62c022460176eu, 0x3eeffcbfc52c5d76u,
    0x3f2430912f86ac5bu, 0x3f55d87fe78a74a6u, 0x3f83b2ab6fba4e7bu, 0x3fac6b08d704a0bcu, 0x3fcebfbdff82c58fu, 0x3fe62e42fefa39efu
};
static const uint64_t vc__m_log_poly[8] = { /* (2 atanh(s) / s - 2) / z, z = s^2 <= 0.0295 */
    0x3fc0c04595972ab8u, 0x3fc0fbe83c2cbcf3u, 0x3fc3b1c360763b8au, 0x3fc745cf901605f7u, 0x3fcc71c720160b47u, 0x3fd2492492476c87u, 0x3fd9999999999a38u,
    0x3fe5555555555555u
};
static const uint64_t vc__m_log2_poly[8] = { /* the same over ln(2), without its first two terms */
    0x3fc5a60ae4e0bdd7u, 0x3fc59e08811ee6b3u, 0x3fc89fed27be41beu, 0x3fcc68f2f01d5108u, 0x3fd0c9a84bf5081cu, 0x3fd484b13d79c3b6u, 0x3fda61762a7adfa8u,
    0x3fe2776c50ef9bfeu
};
static const uint64_t vc__m_sin_poly[6] = { /* (sin(x) / x - 1) / z, z = x^2 <= (pi / 4)^2 */
    0x3de5e0b05bff20f2u, 0xbe5ae600aca92c64u, 0x3ec71de379654304u, 0xbf2a01a019e83816u, 0x3f81111111110bb2u, 0xbfc5555555555555u
};
static const uint64_t vc__m_cos_poly[6] = { /* (cos(x) - 1 + z / 2) / z^2 */
    0xbda907d8f29fe831u, 0x3e21eeb68cd22f56u, 0xbe927e4fa17bf139u, 0x3efa01a019f4e9b4u, 0xbf56c16c16c16967u, 0x3fa5555555555555u
};
static const uint64_t vc__m_atan_poly[11] = { /* (atan(x) / x - 1) / z, z = x^2 <= (7 / 16)^2 */
    0xbf91f782b80bfd1eu, 0x3fa35da608772867u, 0xbfa9c6054173be88u, 0x3fadf0b70d0fde14u, 0xbfb10ed1cedbec09u, 0x3fb3b116171b0dd7u, 0xbfb745cff6136307u,
    0x3fbc71c7136517a9u, 0xbfc24924923b06cdu, 0x3fc999999999885fu, 0xbfd5555555555554u
};
static const uint64_t vc__m_asin_poly[13] = { /* (asin(x) / x - 1) / z, z = x^2 <= 1/4 */
    0x3f9d72b2bc8155f8u, 0xbf8e6aaa8a0a04ccu, 0x3f91d189408314eeu, 0x3f765a9c4dfcf8b2u, 0x3f852420b04b37beu, 0x3f8782651caa6547u, 0x3f8c9cf07674736au,
    0x3f91c4d35cf95421u, 0x3f96e8bb1c8209a2u, 0x3f9f1c71c1db0623u, 0x3fa6db6db6e31f13u, 0x3fb3333333332ecau, 0x3fc5555555555556u
};
static const uint64_t vc__m_sinh_poly[8] = { /* (sinh(x) / x - 1) / z, z = x^2 <= 1 */
    0x3ce99f0806c2628du, 0x3d6ae777c36fd5b6u, 0x3de612467ccb2260u, 0x3e5ae6456792a77fu, 0x3ec71de3a556f96cu, 0x3f2a01a01a01a001u, 0x3f81111111111111u,
    0x3fc5555555555555u
};
static const uint64_t vc__m_pio2_parts[6] = { /* pi / 2: five parts of 23 bits, exact when multiplied by up to 2^30, and the rest */
    0x3ff921fb40000000u, 0x3e74442d00000000u, 0x3cf8469800000000u, 0x3ba3198a00000000u, 0x3a3701b800000000u, 0x38ccd129024e088au
};

static uint32_t vc__m_const(const vc__m64 *m, uint64_t bits) { return vc__make_const(m->s, m->f, bits); }
static uint32_t vc__m_op(const vc__m64 *m, uint16_t op, uint32_t a, uint32_t b) { return vc__make(m->s, op, m->f, a, b, VC__NIL, 0); }
static uint32_t vc__m_add(const vc__m64 *m, uint32_t a, uint32_t b) { return vc__m_op(m, VC__OP_ADD, a, b); }
static uint32_t vc__m_sub(const vc__m64 *m, uint32_t a, uint32_t b) { return vc__m_op(m, VC__OP_SUB, a, b); }
static uint32_t vc__m_mul(const vc__m64 *m, uint32_t a, uint32_t b) { return vc__m_op(m, VC__OP_MUL, a, b); }
static uint32_t vc__m_div(const vc__m64 *m, uint32_t a, uint32_t b) { return vc__m_op(m, VC__OP_DIV, a, b); }
static uint32_t vc__m_one(const vc__m64 *m, uint16_t op, uint32_t a) { return vc__m_op(m, op, a, VC__NIL); }
static uint32_t vc__m_fma(const vc__m64 *m, uint32_t a, uint32_t b, uint32_t c) { return vc__make(m->s, VC__OP_FMA, m->f, a, b, c, 0); }
static uint32_t vc__m_add_const(const vc__m64 *m, uint32_t a, uint64_t bits) { return vc__m_add(m, a, vc__m_const(m, bits)); }
static uint32_t vc__m_mul_const(const vc__m64 *m, uint32_t a, uint64_t bits) { return vc__m_mul(m, a, vc__m_const(m, bits)); }
static uint32_t vc__m_from(const vc__m64 *m, uint64_t bits, uint32_t a) { return vc__m_sub(m, vc__m_const(m, bits), a); } /* constant - a */
static uint32_t vc__m_int(const vc__m64 *m, uint16_t op, uint32_t a, uint64_t bits) {
    return vc__make(m->s, op, m->i, a, vc__make_const(m->s, m->i, bits), VC__NIL, 0);
}
static uint32_t vc__m_bits(const vc__m64 *m, uint32_t a) { return vc__make(m->s, VC__OP_BITCAST, m->i, a, VC__NIL, VC__NIL, 0); }
static uint32_t vc__m_unbits(const vc__m64 *m, uint32_t a) { return vc__make(m->s, VC__OP_BITCAST, m->f, a, VC__NIL, VC__NIL, 0); }
static uint32_t vc__m_if(const vc__m64 *m, uint32_t c, uint32_t a, uint32_t b) { return vc__make(m->s, VC__OP_SELECT, m->f, c, a, b, 0); }
static uint32_t vc__m_compare(const vc__m64 *m, uint16_t op, uint32_t a, uint32_t b) { return vc__make(m->s, op, m->b, a, b, VC__NIL, 0); }
static uint32_t vc__m_below(const vc__m64 *m, uint32_t a, uint64_t bits) { return vc__m_compare(m, VC__OP_LT, a, vc__m_const(m, bits)); }
static uint32_t vc__m_above(const vc__m64 *m, uint32_t a, uint64_t bits) { return vc__m_compare(m, VC__OP_LT, vc__m_const(m, bits), a); }
static uint32_t vc__m_is(const vc__m64 *m, uint32_t a, uint64_t bits) { return vc__m_compare(m, VC__OP_EQ, a, vc__m_const(m, bits)); }

/* x, cut to low … high; NaN stays, unlike with min and max */
static uint32_t vc__m_limit(const vc__m64 *m, uint32_t x, uint64_t low, uint64_t high) {
    uint32_t over = vc__m_above(m, x, high);
    x = vc__m_if(m, over, vc__m_const(m, high), x);
    uint32_t under = vc__m_below(m, x, low);
    return vc__m_if(m, under, vc__m_const(m, low), x);
}

static uint32_t vc__m_poly(const vc__m64 *m, const uint64_t *c, int count, uint32_t x) {
    uint32_t r = vc__m_const(m, c[0]);
    for (int i = 1; i < count; i++) r = vc__m_fma(m, r, x, vc__m_const(m, c[i]));
    return r;
}

/* x with the sign of the sign bit in `bits` added */
static uint32_t vc__m_flip(const vc__m64 *m, uint32_t x, uint32_t bits) {
    uint32_t sign = vc__m_int(m, VC__OP_AND, bits, VC__M_SIGN);
    return vc__m_unbits(m, vc__make(m->s, VC__OP_XOR, m->i, vc__m_bits(m, x), sign, VC__NIL, 0));
}

/* a * b = high + low, up to 2^-105 */
static void vc__m_product(const vc__m64 *m, uint32_t a, uint32_t b, uint32_t out[2]) {
    uint32_t ah = vc__m_unbits(m, vc__m_int(m, VC__OP_AND, vc__m_bits(m, a), 0xfffffffff8000000u));
    uint32_t al = vc__m_sub(m, a, ah);
    uint32_t bh = vc__m_unbits(m, vc__m_int(m, VC__OP_AND, vc__m_bits(m, b), 0xfffffffff8000000u));
    uint32_t bl = vc__m_sub(m, b, bh);
    uint32_t p = vc__m_mul(m, a, b);
    uint32_t e = vc__m_sub(m, vc__m_mul(m, ah, bh), p);
    e = vc__m_add(m, e, vc__m_mul(m, ah, bl));
    e = vc__m_add(m, e, vc__m_mul(m, al, bh));
    out[1] = vc__m_add(m, e, vc__m_mul(m, al, bl));
    out[0] = p;
}

/* a + b = sum + what is returned, exactly, where |a| >= |b| or a = 0 */
static uint32_t vc__m_rest(const vc__m64 *m, uint32_t a, uint32_t b, uint32_t sum) { return vc__m_sub(m, b, vc__m_sub(m, sum, a)); }

/* the same for any a and b (Knuth) */
static uint32_t vc__m_rest_any(const vc__m64 *m, uint32_t a, uint32_t b, uint32_t sum) {
    uint32_t part = vc__m_sub(m, sum, a);
    uint32_t back = vc__m_sub(m, a, vc__m_sub(m, sum, part));
    return vc__m_add(m, vc__m_sub(m, b, part), back);
}

/* p * 2^k for a whole k, in two steps so that neither the largest nor the smallest results are lost */
static uint32_t vc__m_scale(const vc__m64 *m, uint32_t p, uint32_t k) {
    uint32_t half = vc__m_one(m, VC__OP_FLOOR, vc__m_mul_const(m, k, VC__M_HALF));
    uint32_t step[2];
    step[0] = half;
    step[1] = vc__m_sub(m, k, half);
    for (int i = 0; i < 2; i++) { /* 1.5 * 2^52 + 1023 brings the exponent to the lowest bits */
        uint32_t bits = vc__m_bits(m, vc__m_add_const(m, step[i], 0x43380000000003ffu));
        p = vc__m_mul(m, p, vc__m_unbits(m, vc__m_int(m, VC__OP_SHL, bits, 52)));
    }
    return p;
}

/* e^x * 2^bias */
static uint32_t vc__m_exp_scaled(const vc__m64 *m, uint32_t x, uint64_t bias) {
    x = vc__m_limit(m, x, 0xc087500000000000u, 0x4086380000000000u); /* -746, 711 */
    uint32_t k = vc__m_one(m, VC__OP_ROUND, vc__m_mul_const(m, x, 0x3ff71547652b82feu));
    uint32_t r = vc__m_sub(m, x, vc__m_mul_const(m, k, VC__M_LN2_HIGH));
    r = vc__m_sub(m, r, vc__m_mul_const(m, k, VC__M_LN2_LOW));
    uint32_t p = vc__m_poly(m, vc__m_exp_poly, 11, r);
    p = vc__m_fma(m, vc__m_mul(m, r, r), p, r);
    p = vc__m_add_const(m, p, VC__M_ONE);
    if (bias) k = vc__m_add_const(m, k, bias);
    return vc__m_scale(m, p, k);
}

static uint32_t vc__m_exp(const vc__m64 *m, uint32_t x, uint32_t y) { (void)y; return vc__m_exp_scaled(m, x, 0); }

/* 2^(x + low); low: VC__NIL or a number below 2^-40 */
static uint32_t vc__m_exp2_sum(const vc__m64 *m, uint32_t x, uint32_t low) {
    x = vc__m_limit(m, x, 0xc091300000000000u, 0x4091300000000000u); /* 1100 */
    uint32_t k = vc__m_one(m, VC__OP_ROUND, x);
    uint32_t r = vc__m_sub(m, x, k);
    if (low != VC__NIL) r = vc__m_add(m, r, low);
    uint32_t p = vc__m_mul(m, r, vc__m_poly(m, vc__m_exp2_poly, 13, r));
    return vc__m_scale(m, vc__m_add_const(m, p, VC__M_ONE), k);
}

static uint32_t vc__m_exp2(const vc__m64 *m, uint32_t x, uint32_t y) { (void)y; return vc__m_exp2_sum(m, x, VC__NIL); }

/* x = 2^k * mantissa with the mantissa between sqrt(1/2) and sqrt(2); k as f64 */
static uint32_t vc__m_exponent(const vc__m64 *m, uint32_t x, uint32_t *mantissa) {
    uint32_t small = vc__m_below(m, x, 0x0010000000000000u); /* subnormal: scale by 2^54 */
    x = vc__m_if(m, small, vc__m_mul_const(m, x, 0x4350000000000000u), x);
    uint32_t bits = vc__m_bits(m, x);
    uint32_t k = vc__m_int(m, VC__OP_SHR, vc__m_int(m, VC__OP_SUB, bits, 0x3fe6a09e667f3bcdu), 52);
    uint32_t shifted = vc__m_int(m, VC__OP_SHL, k, 52);
    *mantissa = vc__m_unbits(m, vc__make(m->s, VC__OP_SUB, m->i, bits, shifted, VC__NIL, 0));
    k = vc__make(m->s, VC__OP_CAST, m->f, k, VC__NIL, VC__NIL, 0);
    uint32_t moved = vc__m_add_const(m, k, 0xc04b000000000000u); /* -54 */
    return vc__m_if(m, small, moved, k);
}

/* a logarithm r of x, with what it must be outside of 0 < x < inf */
static uint32_t vc__m_log_edges(const vc__m64 *m, uint32_t x, uint32_t r) {
    r = vc__m_if(m, vc__m_below(m, x, VC__M_INF), r, x);
    uint32_t negative = vc__m_below(m, x, 0);
    r = vc__m_if(m, negative, vc__m_const(m, VC__M_NAN), r);
    uint32_t zero = vc__m_is(m, x, 0);
    return vc__m_if(m, zero, vc__m_const(m, VC__M_INF | VC__M_SIGN), r);
}

static uint32_t vc__m_log(const vc__m64 *m, uint32_t x, uint32_t y) {
    uint32_t f, k = vc__m_exponent(m, x, &f);
    (void)y;
    f = vc__m_add_const(m, f, VC__M_ONE | VC__M_SIGN);
    uint32_t s = vc__m_div(m, f, vc__m_add_const(m, f, 0x4000000000000000u));
    uint32_t z = vc__m_mul(m, s, s);
    uint32_t r = vc__m_mul(m, z, vc__m_poly(m, vc__m_log_poly, 8, z));
    uint32_t half = vc__m_mul(m, vc__m_mul_const(m, f, VC__M_HALF), f); /* log(1 + f) = f - (f^2 / 2 - s * (f^2 / 2 + r)) */
    r = vc__m_mul(m, s, vc__m_add(m, half, r));
    r = vc__m_add(m, r, vc__m_mul_const(m, k, VC__M_LN2_LOW));
    r = vc__m_sub(m, vc__m_sub(m, half, r), f);
    uint32_t whole = vc__m_mul_const(m, k, VC__M_LN2_HIGH);
    return vc__m_log_edges(m, x, vc__m_sub(m, whole, r));
}

/* log2(x) = out[0] + out[1], to 2^-63 of itself: 2 / ln(2) * atanh(s), s = (f - 1) / (f + 1), the first two terms in pairs */
static void vc__m_log2_pair(const vc__m64 *m, uint32_t x, uint32_t out[2]) {
    uint32_t f, k = vc__m_exponent(m, x, &f), p[2], z[2];
    uint32_t d = vc__m_add_const(m, f, VC__M_ONE);
    uint32_t dl = vc__m_sub(m, f, vc__m_add_const(m, d, VC__M_ONE | VC__M_SIGN));
    f = vc__m_add_const(m, f, VC__M_ONE | VC__M_SIGN);
    uint32_t s = vc__m_div(m, f, d);
    vc__m_product(m, s, d, p);
    uint32_t sl = vc__m_sub(m, vc__m_sub(m, f, p[0]), p[1]);
    sl = vc__m_sub(m, sl, vc__m_mul(m, s, dl));
    sl = vc__m_div(m, sl, d);
    vc__m_product(m, s, s, z);
    uint32_t twice = vc__m_add(m, s, s);
    z[1] = vc__m_add(m, z[1], vc__m_mul(m, twice, sl));

    uint32_t t = vc__m_mul(m, z[0], vc__m_poly(m, vc__m_log2_poly, 8, z[0]));
    uint32_t c = vc__m_const(m, 0x3feec709dc3a03fdu); /* 2 / (3 ln(2)) */
    uint32_t w = vc__m_add(m, c, t);
    uint32_t wl = vc__m_add_const(m, vc__m_rest(m, c, t, w), 0x3c8d27f05548af0cu);
    vc__m_product(m, w, z[0], p);
    p[1] = vc__m_add(m, p[1], vc__m_mul(m, w, z[1]));
    p[1] = vc__m_add(m, p[1], vc__m_mul(m, wl, z[0]));

    c = vc__m_const(m, 0x40071547652b82feu); /* 2 / ln(2) */
    w = vc__m_add(m, c, p[0]);
    wl = vc__m_rest(m, c, p[0], w);
    wl = vc__m_add(m, wl, vc__m_add_const(m, p[1], 0x3c8777d0ffda0d24u));
    vc__m_product(m, w, s, p);
    p[1] = vc__m_add(m, p[1], vc__m_mul(m, w, sl));
    p[1] = vc__m_add(m, p[1], vc__m_mul(m, wl, s));
    out[0] = vc__m_add(m, k, p[0]);
    out[1] = vc__m_add(m, p[1], vc__m_rest(m, k, p[0], out[0]));
}

static uint32_t vc__m_log2(const vc__m64 *m, uint32_t x, uint32_t y) {
    uint32_t l[2];
    (void)y;
    vc__m_log2_pair(m, x, l);
    return vc__m_log_edges(m, x, vc__m_add(m, l[0], l[1]));
}

/* what x^y is for x of 0 or inf: inf, 0, or 1 for y = 0 */
static uint32_t vc__m_pow_edge(const vc__m64 *m, uint32_t zero, uint32_t y) {
    uint32_t up = vc__m_if(m, zero, vc__m_one(m, VC__OP_NEG, y), y);
    uint32_t falls = vc__m_below(m, up, 0), r = vc__m_const(m, 0);
    r = vc__m_if(m, falls, r, vc__m_const(m, VC__M_ONE));
    uint32_t grows = vc__m_above(m, up, 0);
    return vc__m_if(m, grows, vc__m_const(m, VC__M_INF), r);
}

static uint32_t vc__m_pow(const vc__m64 *m, uint32_t x, uint32_t y) {
    uint32_t l[2], p[2];
    vc__m_log2_pair(m, x, l);
    uint32_t cut = vc__m_limit(m, y, 0xc410000000000000u, 0x4410000000000000u); /* 2^66: all the same from there on, and no product overflows */
    vc__m_product(m, l[0], cut, p);
    uint32_t low = vc__m_add(m, p[1], vc__m_mul(m, l[1], cut));
    uint32_t far = vc__m_above(m, vc__m_one(m, VC__OP_ABS, p[0]), 0x4091300000000000u); /* 1100 */
    low = vc__m_if(m, far, vc__m_const(m, 0), low);
    uint32_t r = vc__m_exp2_sum(m, p[0], low);

    uint32_t zero = vc__m_is(m, x, 0);
    uint32_t edge = vc__m_pow_edge(m, zero, y);
    r = vc__m_if(m, zero, edge, r);
    r = vc__m_if(m, vc__m_is(m, x, VC__M_INF), edge, r);
    uint32_t valid = vc__m_compare(m, VC__OP_LE, vc__m_const(m, 0), x);
    uint32_t nan = vc__m_const(m, VC__M_NAN);
    r = vc__m_if(m, valid, r, nan);
    return vc__m_if(m, vc__m_compare(m, VC__OP_EQ, y, y), r, nan);
}

/* x = n * pi / 2 + r[0] + r[1], |r| <= pi / 4; returns n's bits, lowest first */
static uint32_t vc__m_quadrant(const vc__m64 *m, uint32_t x, uint32_t r[2]) {
    uint32_t n = vc__m_one(m, VC__OP_ROUND, vc__m_mul_const(m, x, 0x3fe45f306dc9c883u));
    uint32_t high = vc__m_sub(m, x, vc__m_mul_const(m, n, vc__m_pio2_parts[0]));
    high = vc__m_sub(m, high, vc__m_mul_const(m, n, vc__m_pio2_parts[1])); /* both exact */
    uint32_t minus = vc__m_one(m, VC__OP_NEG, n), low = VC__NIL;
    for (int i = 2; i < 5; i++) {
        uint32_t part = vc__m_mul_const(m, minus, vc__m_pio2_parts[i]);
        uint32_t sum = vc__m_add(m, high, part);
        uint32_t rest = vc__m_rest_any(m, high, part, sum);
        low = low == VC__NIL ? rest : vc__m_add(m, low, rest);
        high = sum;
    }
    low = vc__m_add(m, low, vc__m_mul_const(m, minus, vc__m_pio2_parts[5]));
    uint32_t sum = vc__m_add(m, high, low);
    low = vc__m_rest(m, high, low, sum);
    uint32_t sane = vc__m_below(m, vc__m_one(m, VC__OP_ABS, sum), VC__M_ONE);
    r[0] = vc__m_if(m, sane, sum, vc__m_const(m, 0));
    r[1] = vc__m_if(m, sane, low, vc__m_const(m, 0));
    return vc__m_bits(m, vc__m_add_const(m, n, 0x4338000000000000u)); /* 1.5 * 2^52 */
}

/* sine and cosine of r[0] + r[1] */
static void vc__m_sin_cos(const vc__m64 *m, const uint32_t r[2], uint32_t *sine, uint32_t *cosine) {
    uint32_t z = vc__m_mul(m, r[0], r[0]);
    uint32_t half = vc__m_mul_const(m, z, VC__M_HALF);
    uint32_t t = vc__m_sub(m, r[1], vc__m_mul(m, half, r[1]));
    uint32_t p = vc__m_poly(m, vc__m_sin_poly, 6, z);
    p = vc__m_fma(m, vc__m_mul(m, z, r[0]), p, t);
    *sine = vc__m_add(m, r[0], p);

    uint32_t w = vc__m_from(m, VC__M_ONE, half);
    t = vc__m_sub(m, vc__m_from(m, VC__M_ONE, w), half);
    p = vc__m_poly(m, vc__m_cos_poly, 6, z);
    p = vc__m_mul(m, p, vc__m_mul(m, z, z));
    p = vc__m_sub(m, p, vc__m_mul(m, r[0], r[1]));
    *cosine = vc__m_add(m, w, vc__m_add(m, t, p));
}

/* sine or cosine: the quadrants of a cosine are one further */
static uint32_t vc__m_circle(const vc__m64 *m, uint32_t x, bool cosine) {
    uint32_t r[2], s, c, n = vc__m_quadrant(m, x, r);
    vc__m_sin_cos(m, r, &s, &c);
    if (cosine) n = vc__m_int(m, VC__OP_ADD, n, 1);
    uint32_t odd = vc__m_int(m, VC__OP_AND, n, 1);
    odd = vc__m_compare(m, VC__OP_NE, odd, vc__make_const(m->s, m->i, 0));
    uint32_t v = vc__m_if(m, odd, c, s);
    v = vc__m_flip(m, v, vc__m_int(m, VC__OP_SHL, n, 62));
    uint32_t size = vc__m_one(m, VC__OP_ABS, x);
    uint32_t finite = vc__m_below(m, size, VC__M_INF);
    v = vc__m_if(m, finite, v, vc__m_const(m, VC__M_NAN));
    return cosine ? v : vc__m_if(m, vc__m_below(m, size, 0x3e50000000000000u), x, v); /* 2^-26; keeps -0 */
}

static uint32_t vc__m_sin(const vc__m64 *m, uint32_t x, uint32_t y) { (void)y; return vc__m_circle(m, x, false); }
static uint32_t vc__m_cos(const vc__m64 *m, uint32_t x, uint32_t y) { (void)y; return vc__m_circle(m, x, true); }

static uint32_t vc__m_tan(const vc__m64 *m, uint32_t x, uint32_t y) {
    uint32_t r[2], s, c, n = vc__m_quadrant(m, x, r);
    (void)y;
    vc__m_sin_cos(m, r, &s, &c);
    uint32_t odd = vc__m_int(m, VC__OP_AND, n, 1);
    odd = vc__m_compare(m, VC__OP_NE, odd, vc__make_const(m->s, m->i, 0));
    uint32_t over = vc__m_if(m, odd, c, s);
    uint32_t under = vc__m_if(m, odd, vc__m_one(m, VC__OP_NEG, s), c);
    uint32_t v = vc__m_div(m, over, under);
    uint32_t size = vc__m_one(m, VC__OP_ABS, x);
    uint32_t finite = vc__m_below(m, size, VC__M_INF);
    v = vc__m_if(m, finite, v, vc__m_const(m, VC__M_NAN));
    return vc__m_if(m, vc__m_below(m, size, 0x3e50000000000000u), x, v);
}

/* atan(x) for x >= 0: atan(c) + atan((x - c) / (1 + c * x)) with the nearest c of 0, 1/2, 1, 3/2 and inf */
static uint32_t vc__m_atan_positive(const vc__m64 *m, uint32_t x) {
    static const uint64_t centre[4][4] = { /* from x on, c, and atan(c) in two parts */
        { 0x3fdc000000000000u, 0x3fe0000000000000u, 0x3fddac670561bb4fu, 0x3c7a2b7f222f65e2u },
        { 0x3fe6000000000000u, 0x3ff0000000000000u, 0x3fe921fb54442d18u, 0x3c81a62633145c07u },
        { 0x3ff3000000000000u, 0x3ff8000000000000u, 0x3fef730bd281f69bu, 0x3c7007887af0cbbdu },
        { 0x4003800000000000u, VC__M_ONE, VC__M_PIO2, VC__M_PIO2_LOW }
    };
    uint32_t pick[3], above = 0;
    for (int i = 0; i < 3; i++) pick[i] = vc__m_const(m, 0);
    for (int i = 0; i < 4; i++) {
        above = vc__m_compare(m, VC__OP_LE, vc__m_const(m, centre[i][0]), x);
        for (int j = 0; j < 3; j++) pick[j] = vc__m_if(m, above, vc__m_const(m, centre[i][j + 1]), pick[j]);
    }
    uint32_t over = vc__m_sub(m, x, pick[0]);
    uint32_t under = vc__m_add_const(m, vc__m_mul(m, pick[0], x), VC__M_ONE);
    over = vc__m_if(m, above, vc__m_const(m, VC__M_ONE | VC__M_SIGN), over);
    under = vc__m_if(m, above, x, under);
    uint32_t t = vc__m_div(m, over, under);
    uint32_t z = vc__m_mul(m, t, t);
    uint32_t p = vc__m_poly(m, vc__m_atan_poly, 11, z);
    p = vc__m_fma(m, vc__m_mul(m, t, z), p, pick[2]);
    return vc__m_add(m, pick[1], vc__m_add(m, p, t));
}

static uint32_t vc__m_atan(const vc__m64 *m, uint32_t x, uint32_t y) {
    (void)y;
    uint32_t r = vc__m_atan_positive(m, vc__m_one(m, VC__OP_ABS, x));
    return vc__m_flip(m, r, vc__m_bits(m, x));
}

static uint32_t vc__m_atan2(const vc__m64 *m, uint32_t y, uint32_t x) {
    uint32_t ay = vc__m_one(m, VC__OP_ABS, y);
    uint32_t ax = vc__m_one(m, VC__OP_ABS, x);
    uint32_t same = vc__m_compare(m, VC__OP_EQ, ax, ay); /* also 0 / 0 and inf / inf */
    uint32_t zero = vc__m_is(m, ax, 0), one = vc__m_const(m, VC__M_ONE);
    one = vc__m_if(m, zero, ax, one);
    uint32_t r = vc__m_if(m, same, one, vc__m_div(m, ay, ax));
    r = vc__m_atan_positive(m, r);
    uint32_t back = vc__m_from(m, VC__M_PI, vc__m_add_const(m, r, VC__M_PI_LOW | VC__M_SIGN));
    uint32_t sign = vc__m_bits(m, x);
    uint32_t left = vc__make(m->s, VC__OP_LT, m->b, sign, vc__make_const(m->s, m->i, 0), VC__NIL, 0);
    r = vc__m_if(m, left, back, r);
    uint32_t nan = vc__m_compare(m, VC__OP_NE, x, x);
    r = vc__m_if(m, nan, x, r);
    return vc__m_flip(m, r, vc__m_bits(m, y));
}

/* asin(v) = v + v * z * p(z) is good up to 1/2; from there on pi / 2 - 2 asin(sqrt((1 - v) / 2)). Gives that inner arcsine and tells which it is. */
static uint32_t vc__m_asin_inner(const vc__m64 *m, uint32_t size, uint32_t *outer) {
    uint32_t z = vc__m_mul(m, size, size);
    uint32_t w = vc__m_mul_const(m, vc__m_from(m, VC__M_ONE, size), VC__M_HALF);
    *outer = vc__m_above(m, size, VC__M_HALF);
    uint32_t root = vc__m_one(m, VC__OP_SQRT, w);
    z = vc__m_if(m, *outer, w, z);
    root = vc__m_if(m, *outer, root, size);
    uint32_t p = vc__m_poly(m, vc__m_asin_poly, 13, z);
    return vc__m_fma(m, vc__m_mul(m, root, z), p, root);
}

static uint32_t vc__m_asin(const vc__m64 *m, uint32_t x, uint32_t y) {
    uint32_t outer, r = vc__m_asin_inner(m, vc__m_one(m, VC__OP_ABS, x), &outer);
    (void)y;
    uint32_t twice = vc__m_add_const(m, vc__m_add(m, r, r), VC__M_PIO2_LOW | VC__M_SIGN);
    r = vc__m_if(m, outer, vc__m_from(m, VC__M_PIO2, twice), r);
    return vc__m_flip(m, r, vc__m_bits(m, x));
}

static uint32_t vc__m_acos(const vc__m64 *m, uint32_t x, uint32_t y) {
    uint32_t outer, r = vc__m_asin_inner(m, vc__m_one(m, VC__OP_ABS, x), &outer);
    (void)y;
    uint32_t twice = vc__m_add(m, r, r);
    uint32_t back = vc__m_from(m, VC__M_PI, vc__m_add_const(m, twice, VC__M_PI_LOW | VC__M_SIGN));
    uint32_t negative = vc__m_below(m, x, 0);
    twice = vc__m_if(m, negative, back, twice);
    r = vc__m_flip(m, r, vc__m_bits(m, x));
    r = vc__m_from(m, VC__M_PIO2, vc__m_add_const(m, r, VC__M_PIO2_LOW | VC__M_SIGN));
    return vc__m_if(m, outer, twice, r);
}

/* sinh of |x| <= 1, by itself since e^x - e^-x cancels there */
static uint32_t vc__m_sinh_small(const vc__m64 *m, uint32_t x) {
    uint32_t z = vc__m_mul(m, x, x);
    uint32_t p = vc__m_poly(m, vc__m_sinh_poly, 8, z);
    return vc__m_fma(m, vc__m_mul(m, x, z), p, x);
}

/* e^|x| / 2 and e^-|x| / 2 */
static void vc__m_exp_halves(const vc__m64 *m, uint32_t x, uint32_t out[2]) {
    out[0] = vc__m_exp_scaled(m, vc__m_one(m, VC__OP_ABS, x), VC__M_ONE | VC__M_SIGN);
    out[1] = vc__m_div(m, vc__m_const(m, 0x3fd0000000000000u), out[0]);
}

static uint32_t vc__m_sinh(const vc__m64 *m, uint32_t x, uint32_t y) {
    uint32_t e[2], near = vc__m_sinh_small(m, x);
    (void)y;
    vc__m_exp_halves(m, x, e);
    uint32_t far = vc__m_sub(m, e[0], e[1]);
    far = vc__m_flip(m, far, vc__m_bits(m, x));
    uint32_t size = vc__m_one(m, VC__OP_ABS, x);
    return vc__m_if(m, vc__m_below(m, size, VC__M_ONE), near, far);
}

static uint32_t vc__m_cosh(const vc__m64 *m, uint32_t x, uint32_t y) {
    uint32_t e[2];
    (void)y;
    vc__m_exp_halves(m, x, e);
    return vc__m_add(m, e[0], e[1]);
}

static uint32_t vc__m_tanh(const vc__m64 *m, uint32_t x, uint32_t y) {
    uint32_t s = vc__m_sinh_small(m, x);
    (void)y;
    uint32_t c = vc__m_add_const(m, vc__m_mul(m, s, s), VC__M_ONE);
    uint32_t near = vc__m_div(m, s, vc__m_one(m, VC__OP_SQRT, c));
    uint32_t size = vc__m_one(m, VC__OP_ABS, x);
    uint32_t e = vc__m_exp_scaled(m, vc__m_add(m, size, size), VC__M_ONE | VC__M_SIGN); /* 1 - 2 / (e^2x + 1) */
    e = vc__m_add_const(m, e, VC__M_HALF);
    uint32_t far = vc__m_from(m, VC__M_ONE, vc__m_div(m, vc__m_const(m, VC__M_ONE), e));
    far = vc__m_flip(m, far, vc__m_bits(m, x));
    return vc__m_if(m, vc__m_below(m, size, VC__M_ONE), near, far);
}

static uint32_t vc__m_rsqrt(const vc__m64 *m, uint32_t x, uint32_t y) {
    (void)y;
    uint32_t root = vc__m_one(m, VC__OP_SQRT, x);
    return vc__m_div(m, vc__m_const(m, VC__M_ONE), root);
}

static uint32_t vc__expand_math64(vc__lower *s, const vc__node *n) {
    static const struct { uint16_t op; uint32_t (*make)(const vc__m64 *m, uint32_t a, uint32_t b); } table[] = {
        { VC__OP_RSQRT, vc__m_rsqrt }, { VC__OP_EXP, vc__m_exp }, { VC__OP_EXP2, vc__m_exp2 }, { VC__OP_LOG, vc__m_log }, { VC__OP_LOG2, vc__m_log2 },
        { VC__OP_POW, vc__m_pow }, { VC__OP_SIN, vc__m_sin }, { VC__OP_COS, vc__m_cos }, { VC__OP_TAN, vc__m_tan }, { VC__OP_ASIN, vc__m_asin },
        { VC__OP_ACOS, vc__m_acos }, { VC__OP_ATAN, vc__m_atan }, { VC__OP_ATAN2, vc__m_atan2 }, { VC__OP_SINH, vc__m_sinh }, { VC__OP_COSH, vc__m_cosh },
        { VC__OP_TANH, vc__m_tanh }
    };
    if ((n->type & 15u) != VC_F64) return VC__NIL;
    uint32_t rows = n->type & 48u;
    vc__m64 m;
    m.s = s;
    m.f = VC_F64 + rows;
    m.i = VC_I64 + rows;
    m.b = VC_BOOL + rows;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].op == n->op) return table[i].make(&m, n->a[0], n->a[1]);
    return VC__NIL;
}

// >>schedule
/* Live nodes in canonical order. One walk over the pins in tape order, operands left to right, folds, expands, merges equal nodes and numbers what is left; a node is
   printed in the region where it was recorded, by that number. So the order in which a C compiler evaluated arguments leaves no trace. */

// >>print
/* Growing text and words. */

/* Whether `more` words fit behind the last; without memory the kernel has failed. */
static bool vc__words_room(vc_kernel *k, vc__words *w, uint32_t more) {
    void *at;
    if (w->capacity - w->count >= more) return true;
    at = more > VC__NIL - w->count ? NULL : vc__grown(&k->allocator, w->at, &w->capacity, w->count + more, sizeof(uint32_t));
    if (!at) vc__no_memory(k);
    else w->at = (uint32_t *)at;
    return at != NULL;
}

static bool vc__words_append(vc_kernel *k, vc__words *w, const vc__words *more) {
    if (!vc__words_room(k, w, more->count)) return false;
    if (more->count) memcpy(w->at + w->count, more->at, (size_t)more->count * sizeof(uint32_t));
    w->count += more->count;
    return true;
}

/* Whether `more` characters and the zero behind them fit; without memory the kernel has failed. */
static bool vc__text_room(vc_kernel *k, vc__text *t, size_t more) {
    size_t need = t->length + more + 1, capacity = t->capacity * 2 > 4096 ? t->capacity * 2 : 4096;
    void *at;
    if (need <= t->capacity) return true;
    if (capacity < need) capacity = need;
    at = need <= more ? NULL : t->at ? k->allocator.reallocate(k->allocator.user, t->at, capacity) : k->allocator.allocate(k->allocator.user, capacity);
    if (!at) {
        vc__no_memory(k);
        return false;
    }
    t->at = (char *)at;
    t->capacity = capacity;
    return true;
}

static void vc__text_put(vc_kernel *k, vc__text *t, const char *s, size_t length) {
    if (!vc__text_room(k, t, length)) return;
    memcpy(t->at + t->length, s, length);
    t->length += length;
    t->at[t->length] = 0;
}

static void vc__text_string(vc_kernel *k, vc__text *t, const char *s) { vc__text_put(k, t, s, strlen(s)); }

static void vc__text_number(vc_kernel *k, vc__text *t, uint64_t x) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + x % 10);
        x /= 10;
    } while (x);
    vc__text_put(k, t, digits + at, sizeof digits - at);
}

// >>spirv
/* The SPIR-V printer: SSA values, structured control flow, exactly the capabilities used. One pass over the listing; the result of node i is id 1 + i, all other ids follow. A
   module's parts come in an order of their own, so each is gathered in a section and all are put together at the end.
   Buffers are StorageBuffer bindings, or pointers made from addresses in the block of values; the block is declared as 32-bit words, loaded once at entry.
   Signed zeros, infinities and NaN are kept by drivers as they keep them for GLSL; SPV_KHR_float_controls is not asked for. */

enum { VC__SECTION_NAMES, VC__SECTION_NOTES, VC__SECTION_GLOBALS, VC__SECTION_LOCALS, VC__SECTION_BODY, VC__SECTION_INTERFACE, VC__SECTION_FRAMES, VC__SECTIONS };

/* The numbers we use, named as in the specification; a test compares them with the registry's header. */
enum {
    VC__OpName = 5, VC__OpExtension = 10, VC__OpExtInstImport = 11, VC__OpExtInst = 12, VC__OpMemoryModel = 14, VC__OpEntryPoint = 15, VC__OpExecutionMode = 16,
    VC__OpCapability = 17, VC__OpTypeVoid = 19, VC__OpTypeBool = 20, VC__OpTypeInt = 21, VC__OpTypeFloat = 22, VC__OpTypeVector = 23, VC__OpTypeArray = 28,
    VC__OpTypeRuntimeArray = 29, VC__OpTypeStruct = 30, VC__OpTypePointer = 32, VC__OpTypeFunction = 33, VC__OpConstantTrue = 41, VC__OpConstantFalse = 42,
    VC__OpConstant = 43, VC__OpConstantComposite = 44, VC__OpConstantNull = 46, VC__OpFunction = 54, VC__OpFunctionEnd = 56, VC__OpVariable = 59, VC__OpLoad = 61,
    VC__OpStore = 62, VC__OpAccessChain = 65, VC__OpDecorate = 71, VC__OpMemberDecorate = 72, VC__OpCompositeConstruct = 80, VC__OpCompositeExtract = 81,
    VC__OpCopyObject = 83, VC__OpConvertFToU = 109, VC__OpConvertFToS = 110, VC__OpConvertSToF = 111, VC__OpConvertUToF = 112, VC__OpUConvert = 113,
    VC__OpSConvert = 114, VC__OpFConvert = 115, VC__OpConvertUToPtr = 120, VC__OpBitcast = 124, VC__OpIAdd = 128, VC__OpIMul = 132, VC__OpSelect = 169,
    VC__OpINotEqual = 171, VC__OpULessThan = 176, VC__OpSLessThan = 177, VC__OpShiftRightLogical = 194, VC__OpShiftLeftLogical = 196,
    VC__OpControlBarrier = 224, VC__OpPhi = 245, VC__OpLoopMerge = 246, VC__OpSelectionMerge = 247, VC__OpLabel = 248, VC__OpBranch = 249,
    VC__OpBranchConditional = 250, VC__OpSwitch = 251, VC__OpReturn = 253
};
enum { VC__DecorationBlock = 2, VC__DecorationArrayStride = 6, VC__DecorationBuiltIn = 11, VC__DecorationRestrict = 19, VC__DecorationNonWritable = 24,
       VC__DecorationNonReadable = 25, VC__DecorationBinding = 33, VC__DecorationDescriptorSet = 34, VC__DecorationOffset = 35, VC__DecorationNoContraction = 42 };

/* Storage classes, and in which order our tables have them. */
enum { VC__CLASS_INPUT, VC__CLASS_WORKGROUP, VC__CLASS_PRIVATE, VC__CLASS_FUNCTION, VC__CLASS_PUSH, VC__CLASS_BUFFER, VC__CLASS_ADDRESS, VC__CLASSES };
static const uint32_t vc__spirv_class[VC__CLASSES] = { 1, 4, 6, 7, 9, 12, 5349 };

/* Capabilities, in the order in which they are printed. */
enum { VC__CAP_F16 = 1, VC__CAP_F64 = 2, VC__CAP_I64 = 4, VC__CAP_I16 = 8, VC__CAP_I8 = 16, VC__CAP_STORAGE_16 = 32, VC__CAP_STORAGE_8 = 64, VC__CAP_ADDRESS = 128 };
static const uint32_t vc__spirv_caps[8] = { 9, 10, 11, 22, 39, 4433, 4448, 5347 };
static const uint8_t vc__spirv_kind_cap[16] = { 0, 0, VC__CAP_I8, VC__CAP_I16, 0, VC__CAP_I64, VC__CAP_I8, VC__CAP_I16, 0, VC__CAP_I64, VC__CAP_F16, 0, VC__CAP_F64, 0, 0, 0 };

typedef struct vc__frame { /* an open block */
    uint32_t op;
    uint32_t merge;  /* label behind it */
    uint32_t other;  /* IF: label of the other branch; loops: of the continue block */
    uint32_t header; /* IF: where the merge label stands in the body; loops: label */
    uint32_t next;   /* FOR: id of the counter's next value */
    uint32_t node;
    uint32_t loop;   /* enclosing loop's frame */
} vc__frame;
#define VC__FRAME_WORDS ((uint32_t)(sizeof(vc__frame) / sizeof(uint32_t)))

#define VC__SPIRV_CACHE 512u
typedef struct vc__spirv {
    vc_kernel *k;
    const vc__listing *l;
    vc__words *section;       /* VC__SECTION_ */
    uint32_t bound, caps;
    uint32_t label;           /* of the block being printed */
    uint32_t loop;            /* frame of the innermost loop */
    uint32_t glsl, block, main;
    uint32_t builtin[4];      /* variables or loaded values: see vc__spirv_builtin */
    uint32_t *word;           /* loaded words of the block of values */
    uint32_t *arg;            /* by object: which argument it is */
    uint32_t *pointee;        /* by object: pointer type of a buffer behind an address */
    uint32_t *next_case;      /* by node, for SWITCH and CASE: the next case; NULL until a switch is met */
    uint32_t type[64], null[64], array[64], ones[4], pointer[VC__CLASSES][64];
    struct { uint64_t bits; uint32_t kind, id; } cache[VC__SPIRV_CACHE]; /* constants the printer needs; the last one of a slot */
    uint32_t spill[16];       /* written to where there is no memory */
} vc__spirv;

/* ---- instructions ---- */

/* Begins an instruction of at most 16 words: its operands go to [1] and on. */
static inline uint32_t *vc__op_begin(vc__spirv *s, uint32_t section, uint32_t op, uint32_t words) {
    vc__words *w = &s->section[section];
    uint32_t *o;
    if (w->capacity - w->count < words && !vc__words_room(s->k, w, words)) return s->spill;
    o = w->at + w->count;
    w->count += words;
    o[0] = words << 16 | op;
    return o;
}
static inline void vc__put1(vc__spirv *s, uint32_t section, uint32_t op, uint32_t a) {
    vc__op_begin(s, section, op, 2)[1] = a;
}
static inline void vc__put2(vc__spirv *s, uint32_t section, uint32_t op, uint32_t a, uint32_t b) {
    uint32_t *o = vc__op_begin(s, section, op, 3);
    o[1] = a; o[2] = b;
}
static inline void vc__put3(vc__spirv *s, uint32_t section, uint32_t op, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *o = vc__op_begin(s, section, op, 4);
    o[1] = a; o[2] = b; o[3] = c;
}
static inline void vc__put4(vc__spirv *s, uint32_t section, uint32_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    uint32_t *o = vc__op_begin(s, section, op, 5);
    o[1] = a; o[2] = b; o[3] = c; o[4] = d;
}
static inline void vc__put5(vc__spirv *s, uint32_t section, uint32_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e) {
    uint32_t *o = vc__op_begin(s, section, op, 6);
    o[1] = a; o[2] = b; o[3] = c; o[4] = d; o[5] = e;
}

static inline uint32_t vc__id(uint32_t node) { return node + 1; }
static inline uint32_t vc__new_id(vc__spirv *s) { return s->bound++; }

/* Body instructions with a result: into a given id, or a new one. */
static inline uint32_t vc__unary(vc__spirv *s, uint32_t op, uint32_t type, uint32_t id, uint32_t a) {
    vc__put3(s, VC__SECTION_BODY, op, type, id, a);
    return id;
}
static inline uint32_t vc__binary(vc__spirv *s, uint32_t op, uint32_t type, uint32_t id, uint32_t a, uint32_t b) {
    vc__put4(s, VC__SECTION_BODY, op, type, id, a, b);
    return id;
}
static void vc__composite(vc__spirv *s, uint32_t type, uint32_t id, const uint32_t *part, uint32_t count) {
    uint32_t *o = vc__op_begin(s, VC__SECTION_BODY, VC__OpCompositeConstruct, 3 + count), i;
    o[1] = type; o[2] = id;
    for (i = 0; i < count; i++) o[3 + i] = part[i];
}

static uint32_t vc__string_words(const char *text) {
    size_t length = strlen(text);
    return (uint32_t)((length > 1000 ? 1000 : length) / 4 + 1);
}
static void vc__put_string(uint32_t *at, const char *text) {
    uint32_t words = vc__string_words(text), i;
    for (i = 0; i < words; i++) at[i] = 0;
    for (i = 0; i < words * 4 - 1 && text[i]; i++) at[i / 4] |= (uint32_t)(uint8_t)text[i] << (i % 4 * 8);
}
static void vc__spirv_name(vc__spirv *s, uint32_t id, const char *name) {
    uint32_t *o, words;
    if (!name || !name[0]) return;
    words = 2 + vc__string_words(name);
    if (!vc__words_room(s->k, &s->section[VC__SECTION_NAMES], words)) return;
    o = vc__op_begin(s, VC__SECTION_NAMES, VC__OpName, words);
    o[1] = id;
    vc__put_string(o + 2, name);
}

/* ---- types and constants ---- */

static uint32_t vc__spirv_type_make(vc__spirv *s, vc_type type) {
    uint32_t kind = vc__kind(type), id, of;
    if (vc__rows(type) > 1) {
        of = s->type[kind] ? s->type[kind] : vc__spirv_type_make(s, vc__scalar(type));
        id = vc__new_id(s);
        vc__put3(s, VC__SECTION_GLOBALS, VC__OpTypeVector, id, of, vc__rows(type));
        return s->type[type] = id;
    }
    id = vc__new_id(s);
    if (vc__bits(kind) == 64) s->caps |= vc__spirv_kind_cap[kind];
    if (kind == VC_BOOL) vc__put1(s, VC__SECTION_GLOBALS, VC__OpTypeBool, id);
    else if (vc__is_float(kind)) vc__put2(s, VC__SECTION_GLOBALS, VC__OpTypeFloat, id, vc__bits(kind));
    else vc__put3(s, VC__SECTION_GLOBALS, VC__OpTypeInt, id, vc__bits(kind), vc__is_signed(kind));
    return s->type[type] = id;
}
static inline uint32_t vc__spirv_type(vc__spirv *s, vc_type type) { return s->type[type & 63u] ? s->type[type & 63u] : vc__spirv_type_make(s, type & 63u); }

static uint32_t vc__spirv_pointer_to(vc__spirv *s, uint32_t storage, uint32_t type) {
    uint32_t id = vc__new_id(s);
    vc__put3(s, VC__SECTION_GLOBALS, VC__OpTypePointer, id, vc__spirv_class[storage], type);
    return id;
}
static uint32_t vc__spirv_pointer(vc__spirv *s, uint32_t storage, vc_type type) {
    uint32_t *id = &s->pointer[storage][type & 63u], of;
    if (*id) return *id;
    of = vc__spirv_type(s, type);
    return *id = vc__spirv_pointer_to(s, storage, of);
}

/* A scalar constant into the given id. */
static void vc__spirv_constant(vc__spirv *s, uint32_t kind, uint64_t bits, uint32_t id) {
    uint32_t type = vc__spirv_type(s, kind), width = vc__bits(kind);
    if (kind == VC_BOOL) vc__put2(s, VC__SECTION_GLOBALS, bits ? VC__OpConstantTrue : VC__OpConstantFalse, type, id);
    else if (width == 64) vc__put4(s, VC__SECTION_GLOBALS, VC__OpConstant, type, id, (uint32_t)bits, (uint32_t)(bits >> 32));
    else vc__put3(s, VC__SECTION_GLOBALS, VC__OpConstant, type, id, (uint32_t)vc__widen(kind, bits & vc__ones(width))); /* small signed ones fill a word with their sign */
}

/* The same value may be declared more than once, which is harmless. */
static uint32_t vc__spirv_const(vc__spirv *s, uint32_t kind, uint64_t bits) {
    uint32_t slot = ((uint32_t)bits * 0x9e3779b1u ^ (uint32_t)(bits >> 32) ^ kind << 28) >> 23;
    if (!s->cache[slot].id || s->cache[slot].bits != bits || s->cache[slot].kind != kind) {
        s->cache[slot].id = vc__new_id(s);
        s->cache[slot].bits = bits;
        s->cache[slot].kind = kind;
        vc__spirv_constant(s, kind, bits, s->cache[slot].id);
    }
    return s->cache[slot].id;
}
static inline uint32_t vc__spirv_u32(vc__spirv *s, uint32_t x) { return vc__spirv_const(s, VC_U32, x); }

static uint32_t vc__spirv_null(vc__spirv *s, vc_type type) {
    uint32_t *id = &s->null[type & 63u], of;
    if (*id) return *id;
    of = vc__spirv_type(s, type);
    *id = vc__new_id(s);
    vc__put2(s, VC__SECTION_GLOBALS, VC__OpConstantNull, of, *id);
    return *id;
}

/* u32 ones beside a bool of as many rows. */
static uint32_t vc__spirv_ones(vc__spirv *s, uint32_t rows) {
    uint32_t one = vc__spirv_u32(s, 1), type, id, i, *o;
    if (rows == 1) return one;
    if (s->ones[rows - 1]) return s->ones[rows - 1];
    type = vc__spirv_type(s, vc__vec(VC_U32, rows));
    id = vc__new_id(s);
    o = vc__op_begin(s, VC__SECTION_GLOBALS, VC__OpConstantComposite, 3 + rows);
    o[1] = type; o[2] = id;
    for (i = 0; i < rows; i++) o[3 + i] = one;
    return s->ones[rows - 1] = id;
}

/* ---- block of values ---- */

static void vc__spirv_block(vc__spirv *s) {
    uint32_t words = s->l->info.value_bytes / 4, u32 = vc__spirv_type(s, VC_U32), type = vc__new_id(s), pointer, i, *o;
    s->block = vc__new_id(s);
    if (!vc__words_room(s->k, &s->section[VC__SECTION_GLOBALS], words + 2)) return;
    o = vc__op_begin(s, VC__SECTION_GLOBALS, VC__OpTypeStruct, words + 2);
    o[1] = type;
    for (i = 0; i < words; i++) o[2 + i] = u32;
    vc__put2(s, VC__SECTION_NOTES, VC__OpDecorate, type, VC__DecorationBlock);
    for (i = 0; i < words; i++) vc__put4(s, VC__SECTION_NOTES, VC__OpMemberDecorate, type, i, VC__DecorationOffset, 4 * i);
    pointer = vc__spirv_pointer_to(s, VC__CLASS_PUSH, type);
    vc__put3(s, VC__SECTION_GLOBALS, VC__OpVariable, pointer, s->block, vc__spirv_class[VC__CLASS_PUSH]);
    vc__put1(s, VC__SECTION_INTERFACE, 0, s->block);
    vc__spirv_name(s, s->block, "values");
}

/* One word, loaded once; into `want` if that is not 0 and nobody asked for the word before. */
static uint32_t vc__spirv_word(vc__spirv *s, uint32_t at, uint32_t want) {
    uint32_t pointer, chain, index, u32;
    if (s->word[at]) return s->word[at];
    if (!s->block) vc__spirv_block(s);
    u32 = vc__spirv_type(s, VC_U32);
    pointer = vc__spirv_pointer(s, VC__CLASS_PUSH, VC_U32);
    index = vc__spirv_u32(s, at);
    chain = vc__binary(s, VC__OpAccessChain, pointer, vc__new_id(s), s->block, index);
    return s->word[at] = vc__unary(s, VC__OpLoad, u32, want ? want : vc__new_id(s), chain);
}

/* Two words as one value of 64 bits. */
static void vc__spirv_word2(vc__spirv *s, uint32_t kind, uint32_t at, uint32_t id) {
    uint32_t pair = vc__spirv_type(s, VC_U32X2), type = vc__spirv_type(s, kind), part[2], both;
    part[0] = vc__spirv_word(s, at, 0);
    part[1] = vc__spirv_word(s, at + 1, 0);
    both = vc__new_id(s);
    vc__composite(s, pair, both, part, 2);
    vc__unary(s, VC__OpBitcast, type, id, both);
}

/* The scalar of that kind at a byte of the block. */
static void vc__spirv_scalar(vc__spirv *s, uint32_t kind, uint32_t place, uint32_t id) {
    uint32_t bits = vc__bits(kind), type = vc__spirv_type(s, kind), word, of, amount;
    if (bits == 64) {
        vc__spirv_word2(s, kind, place / 4, id);
        return;
    }
    word = vc__spirv_word(s, place / 4, kind == VC_U32 ? id : 0);
    if (kind == VC_BOOL) {
        amount = vc__spirv_u32(s, 0);
        vc__binary(s, VC__OpINotEqual, type, id, word, amount);
    } else if (bits == 32) {
        if (word != id) vc__unary(s, kind == VC_U32 ? VC__OpCopyObject : VC__OpBitcast, type, id, word);
    } else if (kind == VC_F16) {
        of = vc__spirv_type(s, VC_VEC(VC_F16, 2u));
        word = vc__unary(s, VC__OpBitcast, of, vc__new_id(s), word);
        vc__binary(s, VC__OpCompositeExtract, type, id, word, place / 2 & 1);
    } else {
        if (place & 3) {
            amount = vc__spirv_u32(s, (place & 3) * 8);
            of = vc__spirv_type(s, VC_U32);
            word = vc__binary(s, VC__OpShiftRightLogical, of, vc__new_id(s), word, amount);
        }
        vc__unary(s, vc__is_signed(kind) ? VC__OpSConvert : VC__OpUConvert, type, id, word);
    }
}

static void vc__spirv_param(vc__spirv *s, const vc__node *n, uint32_t id) {
    uint32_t arg = s->arg[n->x], place = s->l->info.args[arg].place, rows = vc__rows(n->type), kind = vc__kind(n->type), part[4], i, type;
    s->caps |= vc__spirv_kind_cap[kind];
    vc__spirv_name(s, id, s->l->object[n->x].name);
    if (rows == 1) {
        vc__spirv_scalar(s, kind, place, id);
        return;
    }
    for (i = 0; i < rows; i++) vc__spirv_scalar(s, kind, place + i * vc__scalar_bytes(kind), part[i] = vc__new_id(s));
    type = vc__spirv_type(s, n->type);
    vc__composite(s, type, id, part, rows);
}

static void vc__spirv_hidden(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc_info *info = &s->l->info;
    bool of_arg = n->a[0] == VC_HIDDEN_LENGTH || n->a[0] == VC_HIDDEN_SHAPE;
    int i;
    for (i = 0; i < info->hidden_count; i++) {
        const vc_hidden_info *h = &info->hidden[i];
        if ((uint32_t)h->kind == n->a[0] && h->axis == n->a[2] && (!of_arg || h->arg == s->arg[n->a[1]])) vc__spirv_scalar(s, VC_U32, h->place, id);
    }
}

/* ---- other leaves ---- */

/* LOCAL_ID, GROUP_ID, GLOBAL_ID: a component of a built-in vector, loaded once; LOCAL_INDEX: the built-in itself. */
static void vc__spirv_builtin(vc__spirv *s, const vc__node *n, uint32_t id) {
    static const uint32_t number[4] = { 27, 26, 28, 29 }; /* LocalInvocationId, WorkgroupId, GlobalInvocationId, LocalInvocationIndex */
    static const char *const name[4] = { "local_id", "group_id", "global_id", "local_index" };
    uint32_t which = n->op == VC__OP_LOCAL_ID ? 0 : n->op == VC__OP_GROUP_ID ? 1 : n->op == VC__OP_GLOBAL_ID ? 2 : 3;
    uint32_t type = which == 3 ? VC_U32 : VC_U32X3, variable, loaded;
    if (!s->builtin[which]) {
        uint32_t pointer = vc__spirv_pointer(s, VC__CLASS_INPUT, type), of = vc__spirv_type(s, type);
        variable = vc__new_id(s);
        vc__put3(s, VC__SECTION_GLOBALS, VC__OpVariable, pointer, variable, vc__spirv_class[VC__CLASS_INPUT]);
        vc__put3(s, VC__SECTION_NOTES, VC__OpDecorate, variable, VC__DecorationBuiltIn, number[which]);
        vc__put1(s, VC__SECTION_INTERFACE, 1, variable);
        vc__spirv_name(s, variable, name[which]);
        loaded = which == 3 ? id : vc__new_id(s);
        s->builtin[which] = vc__unary(s, VC__OpLoad, of, loaded, variable);
    }
    type = vc__spirv_type(s, VC_U32);
    if (which != 3) vc__binary(s, VC__OpCompositeExtract, type, id, s->builtin[which], n->x);
    else if (s->builtin[3] != id) vc__unary(s, VC__OpCopyObject, type, id, s->builtin[3]);
}

/* What an element of a buffer is made of in memory: bools are u32, vectors of 3 are scalars. */
static vc_type vc__memory_type(vc_type type) {
    if (vc__is_bool(type)) type += VC_U32 - VC_BOOL;
    return vc__rows(type) == 3 ? vc__scalar(type) : type;
}

/* The struct around a buffer's elements. */
static uint32_t vc__spirv_buffer_type(vc__spirv *s, const vc__node *n) {
    static const uint32_t note[4] = { 0, VC__DecorationNonWritable, VC__DecorationNonReadable, 0 };
    vc_type of = vc__memory_type(n->type);
    uint32_t *array = &s->array[of], size = vc__rows(of) * vc__scalar_bytes(of), access = s->l->info.args[s->arg[n->x]].access & 3, id, element;
    if (vc__scalar_bytes(of) == 1) s->caps |= VC__CAP_STORAGE_8;
    if (vc__scalar_bytes(of) == 2) s->caps |= VC__CAP_STORAGE_16;
    if (!*array) {
        element = vc__spirv_type(s, of);
        *array = vc__new_id(s);
        vc__put2(s, VC__SECTION_GLOBALS, VC__OpTypeRuntimeArray, *array, element);
        vc__put3(s, VC__SECTION_NOTES, VC__OpDecorate, *array, VC__DecorationArrayStride, size);
    }
    id = vc__new_id(s);
    vc__put2(s, VC__SECTION_GLOBALS, VC__OpTypeStruct, id, *array);
    vc__put2(s, VC__SECTION_NOTES, VC__OpDecorate, id, VC__DecorationBlock);
    vc__put4(s, VC__SECTION_NOTES, VC__OpMemberDecorate, id, 0, VC__DecorationOffset, 0);
    if (note[access]) vc__put3(s, VC__SECTION_NOTES, VC__OpMemberDecorate, id, 0, note[access]);
    return id;
}

/* A buffer's value is its address, or the variable of its binding. */
static void vc__spirv_buffer(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc_arg_info *arg = &s->l->info.args[s->arg[n->x]];
    bool address = s->l->buffers == VC_BUFFERS_ADDRESS;
    uint32_t type = vc__spirv_buffer_type(s, n), pointer = vc__spirv_pointer_to(s, address ? VC__CLASS_ADDRESS : VC__CLASS_BUFFER, type);
    vc__spirv_name(s, id, s->l->object[n->x].name);
    if (address) {
        s->caps |= VC__CAP_ADDRESS;
        s->pointee[n->x] = pointer;
        vc__spirv_word2(s, VC_U64, arg->place / 4, id);
        return;
    }
    vc__put3(s, VC__SECTION_GLOBALS, VC__OpVariable, pointer, id, vc__spirv_class[VC__CLASS_BUFFER]);
    vc__put3(s, VC__SECTION_NOTES, VC__OpDecorate, id, VC__DecorationDescriptorSet, 0);
    vc__put3(s, VC__SECTION_NOTES, VC__OpDecorate, id, VC__DecorationBinding, arg->place);
    if (!arg->may_alias) vc__put2(s, VC__SECTION_NOTES, VC__OpDecorate, id, VC__DecorationRestrict);
    vc__put1(s, VC__SECTION_INTERFACE, 0, id);
}

/* A fixed array of an object's elements: the type of a pointer to it. */
static uint32_t vc__spirv_array_of(vc__spirv *s, const vc__object *object, uint32_t storage, uint32_t *array) {
    uint32_t element = vc__spirv_type(s, object->type), count = vc__spirv_u32(s, object->count);
    s->caps |= vc__spirv_kind_cap[vc__kind(object->type)];
    *array = vc__new_id(s);
    vc__put3(s, VC__SECTION_GLOBALS, VC__OpTypeArray, *array, element, count);
    return vc__spirv_pointer_to(s, storage, *array);
}

static void vc__spirv_shared(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc__object *object = &s->l->object[n->x];
    uint32_t array, pointer = vc__spirv_array_of(s, object, VC__CLASS_WORKGROUP, &array);
    vc__put3(s, VC__SECTION_GLOBALS, VC__OpVariable, pointer, id, vc__spirv_class[VC__CLASS_WORKGROUP]);
    vc__put1(s, VC__SECTION_INTERFACE, 0, id);
    vc__spirv_name(s, id, object->name);
}

static uint32_t vc__spirv_element(vc__spirv *s, vc_type type, const uint64_t *data) {
    uint32_t rows = vc__rows(type), part[4], i, id, of, *o;
    for (i = 0; i < rows; i++) part[i] = vc__spirv_const(s, vc__kind(type), data[i]);
    if (rows == 1) return part[0];
    of = vc__spirv_type(s, type);
    id = vc__new_id(s);
    o = vc__op_begin(s, VC__SECTION_GLOBALS, VC__OpConstantComposite, 3 + rows);
    o[1] = of; o[2] = id;
    for (i = 0; i < rows; i++) o[3 + i] = part[i];
    return id;
}

/* A private variable that is never written: drivers turn it into constant memory. An instruction has at most 65535 words. */
static void vc__spirv_table(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc__object *object = &s->l->object[n->x];
    uint32_t rows = vc__rows(object->type), array, pointer, initial, i, *o;
    vc__words list = s->section[VC__SECTION_FRAMES]; /* free at entry */
    if (object->count > 65532) {
        vc__fail(s->k, "vc_spirv: table '%s' has %u elements; SPIR-V takes 65532, use a buffer", object->name ? object->name : "", (unsigned)object->count);
        return;
    }
    pointer = vc__spirv_array_of(s, object, VC__CLASS_PRIVATE, &array);
    if (!vc__words_room(s->k, &list, object->count)) return;
    s->section[VC__SECTION_FRAMES] = list;
    for (i = 0; i < object->count; i++) list.at[list.count + i] = vc__spirv_element(s, object->type, object->data + (size_t)i * rows);
    if (!vc__words_room(s->k, &s->section[VC__SECTION_GLOBALS], 3 + object->count)) return;
    initial = vc__new_id(s);
    o = vc__op_begin(s, VC__SECTION_GLOBALS, VC__OpConstantComposite, 3 + object->count);
    o[1] = array; o[2] = initial;
    memcpy(o + 3, list.at + list.count, object->count * sizeof(uint32_t));
    vc__put4(s, VC__SECTION_GLOBALS, VC__OpVariable, pointer, id, vc__spirv_class[VC__CLASS_PRIVATE], initial);
    vc__put1(s, VC__SECTION_INTERFACE, 0, id);
    vc__spirv_name(s, id, object->name);
}

static void vc__spirv_tuple(vc__spirv *s, const vc__node *n, uint32_t id) {
    uint32_t type = vc__spirv_type(s, n->type), count = vc__rows(n->type), i, *o;
    s->caps |= vc__spirv_kind_cap[vc__kind(n->type)];
    o = vc__op_begin(s, VC__SECTION_GLOBALS, VC__OpConstantComposite, 3 + count);
    o[1] = type; o[2] = id;
    for (i = 0; i < count; i++) o[3 + i] = vc__id(s->l->extra[n->a[0] + i]);
}

static void vc__spirv_leaf(vc__spirv *s, const vc__node *n, uint32_t id) {
    switch (n->op) {
    case VC__OP_CONST:
        s->caps |= vc__spirv_kind_cap[vc__kind(n->type)];
        vc__spirv_constant(s, vc__kind(n->type), n->a[0] | (uint64_t)n->a[1] << 32, id);
        break;
    case VC__OP_TUPLE: vc__spirv_tuple(s, n, id); break;
    case VC__OP_BUFFER: vc__spirv_buffer(s, n, id); break;
    case VC__OP_PARAM: vc__spirv_param(s, n, id); break;
    case VC__OP_SHARED: vc__spirv_shared(s, n, id); break;
    case VC__OP_TABLE: vc__spirv_table(s, n, id); break;
    case VC__OP_HIDDEN: vc__spirv_hidden(s, n, id); break;
    default: vc__spirv_builtin(s, n, id); break;
    }
}

/* ---- values ---- */

static void vc__spirv_plain(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc__op_info *info = &vc__op[n->op];
    vc_type of = s->l->node[n->a[0]].type;
    uint32_t form = info->spirv[vc__kinds[of & 15u].column], count = info->operands, type = vc__spirv_type(s, n->type), extra = form >> 16, i, *o;
    s->caps |= (uint32_t)vc__spirv_kind_cap[n->type & 15u] | vc__spirv_kind_cap[of & 15u];
    o = vc__op_begin(s, VC__SECTION_BODY, extra ? (uint32_t)VC__OpExtInst : form & 0xffffu, 3 + 2 * extra + count);
    o[1] = type; o[2] = id;
    if (extra) {
        o[3] = s->glsl; o[4] = form & 0xffffu;
        o += 2;
    }
    for (i = 0; i < count; i++) o[3 + i] = vc__id(n->a[i]);
    if (n->flags & VC__NODE_PRECISE) vc__put2(s, VC__SECTION_NOTES, VC__OpDecorate, id, VC__DecorationNoContraction);
}

static void vc__spirv_vec(vc__spirv *s, const vc__node *n, uint32_t id) {
    uint32_t part[4], i;
    s->caps |= vc__spirv_kind_cap[vc__kind(n->type)];
    for (i = 0; i < 4 && i < n->a[1]; i++) part[i] = vc__id(s->l->extra[n->a[0] + i]);
    vc__composite(s, vc__spirv_type(s, n->type), id, part, i);
}

/* A scalar condition on vectors needs SPIR-V 1.4: it is repeated. */
static void vc__spirv_select(vc__spirv *s, const vc__node *n, uint32_t id) {
    uint32_t rows = vc__rows(n->type), condition = vc__id(n->a[0]), part[4], bools, i, type = vc__spirv_type(s, n->type);
    s->caps |= vc__spirv_kind_cap[vc__kind(n->type)];
    if (rows > 1 && vc__rows(s->l->node[n->a[0]].type) == 1) {
        bools = vc__spirv_type(s, vc__vec(VC_BOOL, rows));
        for (i = 0; i < rows; i++) part[i] = condition;
        vc__composite(s, bools, condition = vc__new_id(s), part, rows);
    }
    vc__put5(s, VC__SECTION_BODY, VC__OpSelect, type, id, condition, vc__id(n->a[1]), vc__id(n->a[2]));
}

/* Numbers to numbers; all else is expanded. Conversions of width are all that small types know without arithmetic of their own. */
static void vc__spirv_cast(vc__spirv *s, const vc__node *n, uint32_t id) {
    vc_type from = s->l->node[n->a[0]].type, to = n->type;
    uint32_t a = vc__id(n->a[0]), type = vc__spirv_type(s, to), fb = vc__bits(vc__kind(from)), tb = vc__bits(vc__kind(to)), middle;
    bool ff = vc__is_float(from), tf = vc__is_float(to);
    if (ff != tf) {
        s->caps |= (uint32_t)vc__spirv_kind_cap[vc__kind(from)] | vc__spirv_kind_cap[vc__kind(to)];
        if (ff) vc__unary(s, vc__is_signed(to) ? VC__OpConvertFToS : VC__OpConvertFToU, type, id, a);
        else vc__unary(s, vc__is_signed(from) ? VC__OpConvertSToF : VC__OpConvertUToF, type, id, a);
    } else if (fb == tb) {
        s->caps |= vc__spirv_kind_cap[vc__kind(to)];
        vc__unary(s, from == to ? VC__OpCopyObject : VC__OpBitcast, type, id, a);
    } else if (ff) {
        vc__unary(s, VC__OpFConvert, type, id, a);
    } else if (vc__is_unsigned(to) && (vc__is_unsigned(from) || tb < fb)) {
        vc__unary(s, VC__OpUConvert, type, id, a);
    } else if (vc__is_signed(from) || tb < fb) {
        vc__unary(s, VC__OpSConvert, type, id, a);
    } else { /* UConvert gives unsigned types alone */
        middle = vc__spirv_type(s, vc__to_unsigned(to));
        a = vc__unary(s, VC__OpUConvert, middle, vc__new_id(s), a);
        s->caps |= vc__spirv_kind_cap[vc__kind(to)];
        vc__unary(s, VC__OpBitcast, type, id, a);
    }
}

static void vc__spirv_bitcast(vc__spirv *s, const vc__node *n, uint32_t id) {
    vc_type from = s->l->node[n->a[0]].type;
    uint32_t type = vc__spirv_type(s, n->type);
    s->caps |= (uint32_t)vc__spirv_kind_cap[vc__kind(n->type)] | vc__spirv_kind_cap[vc__kind(from)];
    vc__unary(s, from == n->type ? VC__OpCopyObject : VC__OpBitcast, type, id, vc__id(n->a[0]));
}

/* ---- memory ---- */

/* address + index * size + x * size: the constant last, where devices add it for nothing */
static void vc__spirv_address(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc__node *buffer = &s->l->node[n->a[0]];
    vc_type of = vc__memory_type(buffer->type);
    uint32_t size = vc__scalar_bytes(of) * vc__rows(buffer->type), u64 = vc__spirv_type(s, VC_U64), at = vc__id(n->a[0]), index, shift = 0, c;
    if (n->a[1] != VC__NIL) {
        index = vc__id(n->a[1]);
        of = s->l->node[n->a[1]].type;
        if (vc__bits(of) == 32) index = vc__unary(s, vc__is_signed(of) ? VC__OpSConvert : VC__OpUConvert, u64, vc__new_id(s), index);
        while (size >> shift > 1 && !(size >> shift & 1)) shift++;
        if (size >> shift != 1) {
            c = vc__spirv_const(s, VC_U64, size);
            index = vc__binary(s, VC__OpIMul, u64, vc__new_id(s), index, c);
        } else if (shift) {
            c = vc__spirv_u32(s, shift);
            index = vc__binary(s, VC__OpShiftLeftLogical, u64, vc__new_id(s), index, c);
        }
        at = vc__binary(s, VC__OpIAdd, u64, vc__new_id(s), at, index);
    }
    if (n->x) {
        c = vc__spirv_const(s, VC_U64, (uint64_t)(int64_t)(int32_t)n->x * size);
        at = vc__binary(s, VC__OpIAdd, u64, vc__new_id(s), at, c);
    }
    vc__unary(s, VC__OpConvertUToPtr, s->pointee[buffer->x], id, at);
}

typedef struct vc__place { /* of an element in memory */
    uint32_t storage; /* VC__CLASS_ */
    uint32_t base;    /* id */
    uint32_t index;   /* id, of 32 bits, scaled for vectors of 3; 0: none */
    uint32_t offset;  /* in elements, or scalars of vectors of 3 */
    uint32_t parts;   /* 3 for vectors of 3, else 1 */
    uint32_t align;   /* bytes; 0: not said */
    vc_type type;     /* of a part */
    vc_type element;  /* what the kernel sees */
    bool single;      /* a variable, no array */
} vc__place;

static uint32_t vc__spirv_index(vc__spirv *s, uint32_t node, uint32_t parts) {
    uint32_t id = vc__id(node), u32 = vc__spirv_type(s, VC_U32), c;
    if (vc__bits(vc__kind(s->l->node[node].type)) == 64) id = vc__unary(s, VC__OpUConvert, u32, vc__new_id(s), id);
    if (parts == 1) return id;
    c = vc__spirv_u32(s, parts);
    return vc__binary(s, VC__OpIMul, u32, vc__new_id(s), id, c);
}

static vc__place vc__spirv_place(vc__spirv *s, const vc__node *n) {
    const vc__node *memory = &s->l->node[n->a[0]];
    vc__place p;
    bool buffer = memory->op == VC__OP_BUFFER || memory->op == VC__OP_POINTER;
    switch (memory->op) {
    case VC__OP_POINTER: p.storage = VC__CLASS_ADDRESS; break;
    case VC__OP_BUFFER: p.storage = VC__CLASS_BUFFER; break;
    case VC__OP_SHARED: p.storage = VC__CLASS_WORKGROUP; break;
    case VC__OP_TABLE: p.storage = VC__CLASS_PRIVATE; break;
    default: p.storage = VC__CLASS_FUNCTION; break;
    }
    p.element = memory->type;
    p.type = buffer ? vc__memory_type(p.element) : p.element;
    p.parts = buffer && vc__rows(p.element) == 3 ? 3 : 1;
    p.base = vc__id(n->a[0]);
    p.offset = n->x * p.parts;
    p.index = n->a[1] == VC__NIL ? 0 : vc__spirv_index(s, n->a[1], p.parts);
    p.align = p.storage == VC__CLASS_ADDRESS ? vc__scalar_bytes(p.type) * vc__rows(p.type) : 0;
    p.single = memory->op == VC__OP_VAR;
    return p;
}

/* A pointer to part i. */
static uint32_t vc__spirv_chain(vc__spirv *s, const vc__place *p, uint32_t i) {
    bool in_struct = p->storage == VC__CLASS_ADDRESS || p->storage == VC__CLASS_BUFFER;
    uint32_t pointer, at = p->index, u32, c, zero, id;
    if (p->single) return p->base;
    pointer = vc__spirv_pointer(s, p->storage, p->type);
    if (p->offset + i || !at) {
        c = vc__spirv_u32(s, p->offset + i);
        u32 = vc__spirv_type(s, VC_U32);
        at = at ? vc__binary(s, VC__OpIAdd, u32, vc__new_id(s), at, c) : c;
    }
    id = vc__new_id(s);
    if (!in_struct) return vc__binary(s, VC__OpAccessChain, pointer, id, p->base, at);
    zero = vc__spirv_u32(s, 0);
    vc__put5(s, VC__SECTION_BODY, VC__OpAccessChain, pointer, id, p->base, zero, at);
    return id;
}

static uint32_t vc__spirv_load_part(vc__spirv *s, const vc__place *p, uint32_t i, uint32_t id) {
    uint32_t type = vc__spirv_type(s, p->type), at = vc__spirv_chain(s, p, i);
    if (p->align) vc__put5(s, VC__SECTION_BODY, VC__OpLoad, type, id, at, 2, p->align);
    else vc__unary(s, VC__OpLoad, type, id, at);
    return id;
}

static void vc__spirv_store_part(vc__spirv *s, const vc__place *p, uint32_t i, uint32_t value) {
    uint32_t at = vc__spirv_chain(s, p, i);
    if (p->align) vc__put4(s, VC__SECTION_BODY, VC__OpStore, at, value, 2, p->align);
    else vc__put2(s, VC__SECTION_BODY, VC__OpStore, at, value);
}

static bool vc__as_u32(const vc__place *p) { return vc__is_bool(p->element) && !vc__is_bool(p->type); }

static void vc__spirv_load(vc__spirv *s, const vc__node *n, uint32_t id) {
    vc__place p = vc__spirv_place(s, n);
    bool convert = vc__as_u32(&p);
    uint32_t raw = convert ? vc__new_id(s) : id, part[3], i, type, zero;
    vc_type whole = vc__vec(vc__scalar(p.type), vc__rows(p.element));
    if (p.parts == 1) {
        vc__spirv_load_part(s, &p, 0, raw);
    } else {
        for (i = 0; i < 3; i++) part[i] = vc__spirv_load_part(s, &p, i, vc__new_id(s));
        type = vc__spirv_type(s, whole);
        vc__composite(s, type, raw, part, 3);
    }
    if (!convert) return;
    zero = vc__spirv_null(s, whole);
    type = vc__spirv_type(s, p.element);
    vc__binary(s, VC__OpINotEqual, type, id, raw, zero);
}

static void vc__spirv_store(vc__spirv *s, const vc__node *n) {
    vc__place p = vc__spirv_place(s, n);
    uint32_t value = vc__id(n->a[2]), rows = vc__rows(p.element), i, type, one, zero, part;
    if (vc__as_u32(&p)) {
        type = vc__spirv_type(s, vc__vec(VC_U32, rows));
        one = vc__spirv_ones(s, rows);
        zero = vc__spirv_null(s, vc__vec(VC_U32, rows));
        vc__put5(s, VC__SECTION_BODY, VC__OpSelect, type, part = vc__new_id(s), value, one, zero);
        value = part;
    }
    if (p.parts == 1) {
        vc__spirv_store_part(s, &p, 0, value);
        return;
    }
    type = vc__spirv_type(s, p.type);
    for (i = 0; i < 3; i++) {
        part = vc__binary(s, VC__OpCompositeExtract, type, vc__new_id(s), value, i);
        vc__spirv_store_part(s, &p, i, part);
    }
}

/* VAR and ARRAY: declared where the function begins, zeroed where they stand. */
static void vc__spirv_new(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc__object *object = &s->l->object[n->x];
    uint32_t array, zero, pointer;
    s->caps |= vc__spirv_kind_cap[vc__kind(n->type)];
    pointer = n->op == VC__OP_VAR ? vc__spirv_pointer(s, VC__CLASS_FUNCTION, n->type) : vc__spirv_array_of(s, object, VC__CLASS_FUNCTION, &array);
    vc__put3(s, VC__SECTION_LOCALS, VC__OpVariable, pointer, id, vc__spirv_class[VC__CLASS_FUNCTION]);
    vc__spirv_name(s, id, object->name);
    if (n->op != VC__OP_VAR) return;
    zero = vc__spirv_null(s, n->type);
    vc__put2(s, VC__SECTION_BODY, VC__OpStore, id, zero);
}

/* ---- flow ---- */

static vc__frame *vc__spirv_frame(vc__spirv *s, uint32_t i) { return (vc__frame *)(void *)(s->section[VC__SECTION_FRAMES].at + (size_t)i * VC__FRAME_WORDS); }
static vc__frame *vc__spirv_top(vc__spirv *s) { return vc__spirv_frame(s, s->section[VC__SECTION_FRAMES].count / VC__FRAME_WORDS - 1); }

static vc__frame *vc__spirv_push(vc__spirv *s, uint32_t op, uint32_t node) {
    vc__words *w = &s->section[VC__SECTION_FRAMES];
    vc__frame *f;
    if (!vc__words_room(s->k, w, VC__FRAME_WORDS)) return NULL;
    w->count += VC__FRAME_WORDS;
    f = vc__spirv_top(s);
    f->op = op;
    f->node = node;
    f->merge = f->other = f->header = f->next = 0;
    f->loop = s->loop;
    return f;
}

static void vc__spirv_label(vc__spirv *s, uint32_t label) {
    vc__put1(s, VC__SECTION_BODY, VC__OpLabel, label);
    s->label = label;
}
static void vc__spirv_branch(vc__spirv *s, uint32_t label) { vc__put1(s, VC__SECTION_BODY, VC__OpBranch, label); }

/* The merge label of an IF is the label of its other branch until an ELSE appears. */
static void vc__spirv_if(vc__spirv *s, const vc__node *n, uint32_t node) {
    vc__frame *f = vc__spirv_push(s, VC__OP_IF, node);
    uint32_t then = vc__new_id(s);
    if (!f) return;
    f->merge = f->other = vc__new_id(s);
    vc__put2(s, VC__SECTION_BODY, VC__OpSelectionMerge, f->merge, 0);
    f->header = s->section[VC__SECTION_BODY].count - 2;
    vc__put3(s, VC__SECTION_BODY, VC__OpBranchConditional, vc__id(n->a[0]), then, f->other);
    vc__spirv_label(s, then);
}

static void vc__spirv_else(vc__spirv *s) {
    vc__frame *f = vc__spirv_top(s);
    if (vc__failed(s->k)) return;
    f->op = VC__OP_ELSE;
    f->merge = vc__new_id(s);
    s->section[VC__SECTION_BODY].at[f->header] = f->merge;
    vc__spirv_branch(s, f->merge);
    vc__spirv_label(s, f->other);
}

static void vc__spirv_loop(vc__spirv *s, const vc__node *n, uint32_t node) {
    vc__frame *f = vc__spirv_push(s, n->op, node);
    uint32_t from = s->label, body = vc__new_id(s), type, test, bools, *o;
    if (!f) return;
    s->loop = s->section[VC__SECTION_FRAMES].count / VC__FRAME_WORDS - 1;
    f->merge = vc__new_id(s);
    f->other = vc__new_id(s);
    f->header = vc__new_id(s);
    f->next = vc__new_id(s);
    vc__spirv_branch(s, f->header);
    vc__spirv_label(s, f->header);
    test = vc__new_id(s);
    if (n->op == VC__OP_FOR) {
        type = vc__spirv_type(s, n->type);
        bools = vc__spirv_type(s, VC_BOOL);
        o = vc__op_begin(s, VC__SECTION_BODY, VC__OpPhi, 7);
        o[1] = type; o[2] = vc__id(node); o[3] = vc__id(n->a[0]); o[4] = from; o[5] = f->next; o[6] = f->other;
        vc__binary(s, vc__is_signed(n->type) ? VC__OpSLessThan : VC__OpULessThan, bools, test, vc__id(node), vc__id(n->a[1]));
    }
    vc__put3(s, VC__SECTION_BODY, VC__OpLoopMerge, f->merge, f->other, 0);
    if (n->op == VC__OP_FOR) vc__put3(s, VC__SECTION_BODY, VC__OpBranchConditional, test, body, f->merge);
    else vc__spirv_branch(s, body);
    vc__spirv_label(s, body);
}

static void vc__spirv_loop_end(vc__spirv *s, const vc__frame *f) {
    const vc__node *n = &s->l->node[f->node];
    uint32_t type, one;
    vc__spirv_branch(s, f->other);
    vc__spirv_label(s, f->other);
    if (f->op == VC__OP_FOR) {
        type = vc__spirv_type(s, n->type);
        one = vc__spirv_const(s, vc__kind(n->type), 1);
        vc__binary(s, VC__OpIAdd, type, f->next, vc__id(f->node), one);
    }
    vc__spirv_branch(s, f->header);
    vc__spirv_label(s, f->merge);
    s->loop = f->loop;
}

/* Links each SWITCH to its cases, in one walk for all of them. */
static bool vc__spirv_link_cases(vc__spirv *s) {
    const vc__listing *l = s->l;
    vc__words *w = &s->section[VC__SECTION_FRAMES];
    uint32_t base = w->count, i;
    s->next_case = (uint32_t *)vc__arena_take(&s->k->allocator, &s->k->arena, (size_t)l->count * sizeof(uint32_t));
    if (!s->next_case) vc__no_memory(s->k);
    for (i = l->body; i < l->count && !vc__failed(s->k); i++) {
        uint32_t op = l->node[i].op;
        if (op == VC__OP_END) w->count--;
        if (op == VC__OP_CASE || op == VC__OP_DEFAULT) s->next_case[w->at[w->count - 1]] = i;
        if (op == VC__OP_CASE || op == VC__OP_DEFAULT) w->at[w->count - 1] = i;
        if (op == VC__OP_SWITCH || op == VC__OP_CASE || op == VC__OP_DEFAULT) s->next_case[i] = VC__NIL;
        if (op >= VC__OP_IF && op < VC__OP_END && op != VC__OP_ELSE && vc__words_room(s->k, w, 1)) w->at[w->count++] = i;
    }
    w->count = base;
    return !vc__failed(s->k);
}

/* Labels of cases are the ids of their nodes. A selector of 8 or 16 bits is widened: not every driver takes it. */
static void vc__spirv_switch(vc__spirv *s, const vc__node *n, uint32_t node) {
    vc__frame *f = vc__spirv_push(s, VC__OP_SWITCH, node);
    vc_type of = s->l->node[n->a[0]].type;
    uint32_t value = vc__id(n->a[0]), bits = vc__bits(of), literal = bits == 64 ? 2 : 1, wide, start, i, *o, words = 3;
    if (!f || (!s->next_case && !vc__spirv_link_cases(s))) return;
    f = vc__spirv_top(s);
    f->merge = vc__new_id(s);
    if (bits < 32) {
        wide = vc__spirv_type(s, vc__is_signed(of) ? VC_I32 : VC_U32);
        value = vc__unary(s, vc__is_signed(of) ? VC__OpSConvert : VC__OpUConvert, wide, vc__new_id(s), value);
    }
    vc__put2(s, VC__SECTION_BODY, VC__OpSelectionMerge, f->merge, 0);
    start = s->section[VC__SECTION_BODY].count;
    vc__put2(s, VC__SECTION_BODY, VC__OpSwitch, value, f->merge);
    for (i = s->next_case[node]; i != VC__NIL; i = s->next_case[i]) {
        const vc__node *c = &s->l->node[i];
        if (c->op == VC__OP_DEFAULT) {
            if (!vc__failed(s->k)) s->section[VC__SECTION_BODY].at[start + 2] = vc__id(i);
            continue;
        }
        o = vc__op_begin(s, VC__SECTION_BODY, 0, literal + 1);
        o[0] = (uint32_t)vc__widen(of, (c->a[0] | (uint64_t)c->a[1] << 32) & vc__ones(bits));
        if (literal == 2) o[1] = c->a[1];
        o[literal] = vc__id(i);
        words += literal + 1;
    }
    if (words > 65535) vc__fail(s->k, "vc_spirv: a switch has too many cases for SPIR-V (%u words of 65535)", (unsigned)words);
    else if (!vc__failed(s->k)) s->section[VC__SECTION_BODY].at[start] = words << 16 | VC__OpSwitch;
}

static void vc__spirv_case(vc__spirv *s, uint32_t node) {
    uint32_t merge = vc__spirv_top(s)->merge;
    vc__frame *f = vc__spirv_push(s, VC__OP_CASE, node);
    if (!f) return;
    f->merge = merge;
    vc__spirv_label(s, vc__id(node));
}

static void vc__spirv_end(vc__spirv *s) {
    vc__frame f = *vc__spirv_top(s);
    s->section[VC__SECTION_FRAMES].count -= VC__FRAME_WORDS;
    if (f.op == VC__OP_FOR || f.op == VC__OP_LOOP) {
        vc__spirv_loop_end(s, &f);
        return;
    }
    if (f.op != VC__OP_SWITCH) vc__spirv_branch(s, f.merge); /* a switch has ended with its last case */
    if (f.op != VC__OP_CASE) vc__spirv_label(s, f.merge);
}

static void vc__spirv_exit(vc__spirv *s, const vc__node *n) {
    uint32_t then = vc__new_id(s), rest = vc__new_id(s);
    vc__put2(s, VC__SECTION_BODY, VC__OpSelectionMerge, rest, 0);
    vc__put3(s, VC__SECTION_BODY, VC__OpBranchConditional, vc__id(n->a[0]), then, rest);
    vc__spirv_label(s, then);
    if (n->op == VC__OP_RETURN_IF) vc__op_begin(s, VC__SECTION_BODY, VC__OpReturn, 1);
    else vc__spirv_branch(s, n->op == VC__OP_BREAK_IF ? vc__spirv_frame(s, s->loop)->merge : vc__spirv_frame(s, s->loop)->other);
    vc__spirv_label(s, rest);
}

static void vc__spirv_barrier(vc__spirv *s) {
    uint32_t workgroup = vc__spirv_u32(s, 2), order = vc__spirv_u32(s, 0x148); /* AcquireRelease of UniformMemory (buffers) and WorkgroupMemory */
    vc__put3(s, VC__SECTION_BODY, VC__OpControlBarrier, workgroup, workgroup, order);
}

/* ---- the module ---- */

static void vc__spirv_node(vc__spirv *s, const vc__node *n, uint32_t i) {
    switch (n->op) {
    case VC__OP_VEC: vc__spirv_vec(s, n, vc__id(i)); break;
    case VC__OP_COMPONENT:
        s->caps |= vc__spirv_kind_cap[vc__kind(n->type)];
        vc__binary(s, VC__OpCompositeExtract, vc__spirv_type(s, n->type), vc__id(i), vc__id(n->a[0]), n->x);
        break;
    case VC__OP_CAST: vc__spirv_cast(s, n, vc__id(i)); break;
    case VC__OP_BITCAST: vc__spirv_bitcast(s, n, vc__id(i)); break;
    case VC__OP_SELECT: vc__spirv_select(s, n, vc__id(i)); break;
    case VC__OP_POINTER: vc__spirv_address(s, n, vc__id(i)); break;
    case VC__OP_LOAD: vc__spirv_load(s, n, vc__id(i)); break;
    case VC__OP_STORE: vc__spirv_store(s, n); break;
    case VC__OP_VAR: case VC__OP_ARRAY: vc__spirv_new(s, n, vc__id(i)); break;
    case VC__OP_BARRIER: vc__spirv_barrier(s); break;
    case VC__OP_BREAK_IF: case VC__OP_CONTINUE_IF: case VC__OP_RETURN_IF: vc__spirv_exit(s, n); break;
    case VC__OP_IF: vc__spirv_if(s, n, i); break;
    case VC__OP_ELSE: vc__spirv_else(s); break;
    case VC__OP_FOR: case VC__OP_LOOP: vc__spirv_loop(s, n, i); break;
    case VC__OP_SWITCH: vc__spirv_switch(s, n, i); break;
    case VC__OP_CASE: case VC__OP_DEFAULT: vc__spirv_case(s, i); break;
    case VC__OP_END: vc__spirv_end(s); break;
    default: vc__spirv_plain(s, n, vc__id(i)); break;
    }
}

static void vc__spirv_function(vc__spirv *s) {
    const vc__listing *l = s->l;
    uint32_t none = vc__new_id(s), type = vc__new_id(s), i;
    vc__put1(s, VC__SECTION_GLOBALS, VC__OpTypeVoid, none);
    vc__put2(s, VC__SECTION_GLOBALS, VC__OpTypeFunction, type, none);
    vc__put4(s, VC__SECTION_LOCALS, VC__OpFunction, none, s->main, 0, type);
    s->label = vc__new_id(s);
    vc__put1(s, VC__SECTION_LOCALS, VC__OpLabel, s->label);
    for (i = 0; i < l->body; i++) vc__spirv_leaf(s, &l->node[i], vc__id(i));
    for (; i < l->count && !vc__failed(s->k); i++) vc__spirv_node(s, &l->node[i], i);
    vc__op_begin(s, VC__SECTION_BODY, VC__OpReturn, 1);
    vc__op_begin(s, VC__SECTION_BODY, VC__OpFunctionEnd, 1);
}

/* An instruction that is nothing but words and a string. */
static void vc__spirv_text(vc_kernel *k, uint32_t op, uint32_t first, const char *text) {
    uint32_t lead = first ? 1 : 0, words = 1 + lead + vc__string_words(text), *o;
    if (!vc__words_room(k, &k->words, words)) return;
    o = k->words.at + k->words.count;
    o[0] = words << 16 | op;
    if (first) o[1] = first;
    vc__put_string(o + 1 + lead, text);
    k->words.count += words;
}

static void vc__spirv_instruction(vc_kernel *k, uint32_t op, uint32_t count, const uint32_t *operands) {
    if (!vc__words_room(k, &k->words, count + 1)) return;
    k->words.at[k->words.count++] = (count + 1) << 16 | op;
    if (count) memcpy(k->words.at + k->words.count, operands, count * sizeof(uint32_t));
    k->words.count += count;
}

/* Variables the entry point names: inputs, and from SPIR-V 1.4 on all of them. The interface section has pairs: how many words, whether an input, id. */
static void vc__spirv_entry(vc__spirv *s, uint32_t version) {
    vc_kernel *k = s->k;
    const vc__words *list = &s->section[VC__SECTION_INTERFACE];
    uint32_t start = k->words.count, i, mode[5], entry[2];
    entry[0] = 5; /* GLCompute */
    entry[1] = s->main;
    vc__spirv_instruction(k, VC__OpEntryPoint, 2, entry);
    if (!vc__words_room(k, &k->words, 2 + list->count)) return;
    vc__put_string(k->words.at + k->words.count, "main");
    k->words.count += vc__string_words("main");
    for (i = 0; i < list->count; i += 2)
        if ((list->at[i] & 0xffffu) || version >= 0x10400u) k->words.at[k->words.count++] = list->at[i + 1];
    k->words.at[start] = (k->words.count - start) << 16 | VC__OpEntryPoint;
    mode[0] = s->main;
    mode[1] = 17; /* LocalSize */
    for (i = 0; i < 3; i++) mode[2 + i] = s->l->info.local_size[i];
    vc__spirv_instruction(k, VC__OpExecutionMode, 5, mode);
}

static void vc__spirv_head(vc__spirv *s, uint32_t version) {
    vc_kernel *k = s->k;
    static const uint32_t shader = 1;
    uint32_t i, model[2];
    if (!vc__words_room(k, &k->words, 5)) return;
    k->words.at[0] = 0x07230203u;
    k->words.at[1] = version;
    k->words.at[2] = 0;
    k->words.at[3] = s->bound;
    k->words.at[4] = 0;
    k->words.count = 5;
    vc__spirv_instruction(k, VC__OpCapability, 1, &shader);
    for (i = 0; i < 8; i++)
        if (s->caps >> i & 1) vc__spirv_instruction(k, VC__OpCapability, 1, &vc__spirv_caps[i]);
    if (version < 0x10500u && (s->caps & VC__CAP_STORAGE_8)) vc__spirv_text(k, VC__OpExtension, 0, "SPV_KHR_8bit_storage");
    if (version < 0x10500u && (s->caps & VC__CAP_ADDRESS)) vc__spirv_text(k, VC__OpExtension, 0, "SPV_KHR_physical_storage_buffer");
    vc__spirv_text(k, VC__OpExtInstImport, s->glsl, "GLSL.std.450");
    model[0] = s->caps & VC__CAP_ADDRESS ? 5348 : 0; /* PhysicalStorageBuffer64 or Logical */
    model[1] = 1; /* GLSL450 */
    vc__spirv_instruction(k, VC__OpMemoryModel, 2, model);
    vc__spirv_entry(s, version);
}

/* Tables by object and by word of the block of values. */
static bool vc__spirv_tables(vc__spirv *s) {
    const vc__listing *l = s->l;
    size_t objects = l->object_count, words = l->info.value_bytes / 4;
    uint32_t i, arg = 0;
    s->arg = (uint32_t *)vc__arena_take(&s->k->allocator, &s->k->arena, (2 * objects + words + 1) * sizeof(uint32_t));
    if (!s->arg) {
        vc__no_memory(s->k);
        return false;
    }
    s->pointee = s->arg + objects;
    s->word = s->pointee + objects;
    memset(s->pointee, 0, (objects + words) * sizeof(uint32_t));
    for (i = 0; i < objects; i++) {
        s->arg[i] = arg;
        if (l->object[i].op == VC__OP_BUFFER || l->object[i].op == VC__OP_PARAM) arg++;
    }
    return true;
}

static bool vc__spirv_print(vc_kernel *k, const vc__listing *l) {
    vc__spirv s;
    uint32_t i, version = k->desc.machine.spirv_version;
    version = version < 0x10300u ? 0x10300u : version > 0x10600u ? 0x10600u : version;
    memset(&s, 0, sizeof s);
    s.k = k;
    s.l = l;
    s.section = k->section;
    for (i = 0; i < VC__SECTIONS; i++) s.section[i].count = 0;
    s.bound = l->count + 1;
    s.glsl = vc__new_id(&s);
    s.main = vc__new_id(&s);
    if (!vc__spirv_tables(&s)) return false;
    vc__spirv_name(&s, s.main, l->info.name);
    vc__spirv_function(&s);
    vc__spirv_head(&s, version);
    for (i = VC__SECTION_NAMES; i <= VC__SECTION_BODY; i++)
        if (vc__failed(k) || !vc__words_append(k, &k->words, &s.section[i])) return false;
    return !vc__failed(k);
}

// >>glsl
/* The GLSL printer: 4.50 with the extensions used. */

// >>reflect
/* Arguments and needs of a kernel. */

// >>dump
/* The listing as readable text. */

// >>glue
/* vc_kernel to vd_kernel; only where both implementations are. */

// >>public
/* The declared functions: check, record. */

// >>end
#endif /* VKDISPATCH_CODEGEN_IMPLEMENTED */
#endif /* VKDISPATCH_CODEGEN_IMPLEMENTATION */
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

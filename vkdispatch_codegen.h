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
/* Operations rewritten in terms of others, where a target's own form means something else or is missing. */

// >>math64
/* Elementary functions of f64, which GLSL.std.450 does not have. */

// >>schedule
/* Live nodes in canonical order. One walk over the pins in tape order, operands left to right, folds, expands, merges equal nodes and numbers what is left; a node is
   printed in the region where it was recorded, by that number. So the order in which a C compiler evaluated arguments leaves no trace. */

// >>print
/* Growing text and words. */

// >>spirv
/* The SPIR-V printer: SSA values, structured control flow, exactly the capabilities used. */

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

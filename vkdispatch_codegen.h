/* vkdispatch_codegen.h: write compute kernels as C calls; get SPIR-V, GLSL, CUDA C or OpenCL C.

   Version 0.1.0. MIT licence; the full text is at the end of this file.

   Quick start
       #include <stdio.h>
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
           const uint32_t *code = vc_spirv(k, &words);  // for vkCreateShaderModule: codeSize is 4 * words
           FILE *file = code ? fopen("saxpy.spv", "wb") : NULL;
           if (!code) fprintf(stderr, "%s\n", vc_error(k));
           size_t written = file ? fwrite(code, 4, words, file) : 0;
           if (file) fclose(file);
           vc_free(k);
           return written == 0;
       }
       // This kernel has buffer addresses in push constants (see Targets): the Vulkan device must enable
       // bufferDeviceAddress and shaderInt64. With desc.buffers = VC_BUFFERS_BINDING, it needs neither.

   What it does not do
       * It does not run kernels; vkdispatch.h, the runtime, does. If one translation unit has the implementations of
         both headers, vd_kernel_build makes a vd_kernel, which runs, from a vc_kernel.
       * It does not need GPU headers, a shader compiler or a library.
       * It does not parse source text, print to a stream or exit.
       * It keeps no state outside its kernels, except thread-local variables for error reports (see Errors).

   Contents
       Setting up     Rooms, Configuration, Linking, Tutorial, Terms
       Language       Values, Types, Composite types, Memory, Control flow, Evaluation
       Arithmetic     Meaning of operations, Accuracy, Multi-word integers
       Parallelism    Atomics, Subgroups, Work-group functions, Divergence, Undefined behaviour, Checked kernels
       Other          Images, printf and assert, Targets, Ahead of time, Errors, Limits, Ownership and threads, Versions

   Rooms
       config       limits, macros for compilers and targets, default allocator
       memory       growable array, arena
       fail         the first error of a kernel
       types        sizes, names and layout of types, conversion of immediates
       ops          the table of operations, and the numbers of SPIR-V
       tape         the recorded kernel: nodes, blocks, objects
       check        operand and result types of each operation
       fold         constant folding and algebraic simplification
       rules        rules: operations as short programs, and their interpreter
       lowering     operations rewritten in terms of others
       math64       elementary functions of f64
       scalarize    scalarization of vectors for CUDA C and OpenCL C
       schedule     live nodes in canonical order
       print        text and word output
       spirv        the SPIR-V printer
       text         code shared by the printers of source text
       glsl         the GLSL printer
       c            code shared by the printers of CUDA C and OpenCL C
       cuda         the CUDA C printer
       opencl       the OpenCL C printer
       reflect      arguments and required features of a kernel
       dump         the listing as readable text
       composite    complex numbers, matrices, structs and arrays
       public       public functions of scalars, vectors, memory and control flow
       derived      public functions that call other public functions
       image        public functions of images
       glue         vd_kernel_build: from vc_kernel to vd_kernel
       end

   Configuration
       Define before including the header. Every macro is off by default.
       * VKDISPATCH_CODEGEN_IMPLEMENTATION  Compile the implementation. Define in one translation unit.
       * VKDISPATCH_STATIC                  Make every function of the vkdispatch headers static, so that the compiler
                                            removes unused ones. Then define the macro above in every translation unit
                                            that includes this header.
       * VKDISPATCH_SHORT                   Define VC(x), short for vc_imm_of(x): a constant from a C number (see
                                            Values).
       * VKDISPATCH_CODEGEN_LINES           Errors name the file and line of the call that failed (see Errors).
       * VKDISPATCH_NO_GLSL                 Omit GLSL. vc_hash then covers SPIR-V only.
       * VKDISPATCH_NO_CUDA_C               Omit CUDA C. vd_kernel_build then fails on the CUDA backend.
       * VKDISPATCH_NO_OPENCL_C             Omit OpenCL C. vd_kernel_build then fails on the OpenCL backend.
       vc_source and vc_reflect_for fail for languages that are omitted.

   Linking
       No library is needed.

   Tutorial
       1. vc_begin starts recording a kernel. The desc specifies its name, its local size and the machine that it is
          compiled for (see vd_machine).
       2. vc_buffer, vc_param and vc_image declare its arguments in the order in which they are passed later.
          vc_shared, vc_array, vc_var and vc_table declare other memory.
       3. Further calls record operations. VC_EACH(k, i) { … } runs its block once for each thread that the
          dispatch specifies; i is the index of that thread. `if` and `for` of C run while the kernel is recorded: they
          select and unroll code.
       4. vc_spirv or vc_source generates the code of the kernel. Operations whose results are unused are dropped;
          constants are folded and common subexpressions are merged. vc_reflect describes the arguments and the features
          the kernel needs.
       5. With vkdispatch.h, vd_kernel_build does step 4 for the device and creates the vd_kernel:

              vd_kernel saxpy = vd_kernel_build(ctx, k);
              vd_run(ctx, saxpy, 1000, vd_b(x), vd_b(y), vd_f32(2.0f));

       6. vc_free releases the kernel; vc_restart reuses its memory for the next one.

   Terms
       immediate         a scalar constant that belongs to no kernel, such as vc_f32(1)
       statement         a call with an effect, or a declaration; write it as a C statement
       machine           the device that a kernel is compiled for: features and limits (vc_machine)
       thread            one index of the range that a dispatch specifies
       invocation        one execution of the kernel; work-groups are always complete, so there can be more invocations
                         than threads
       uniform           equal in all invocations of a work-group
       varying           possibly different between them
       effect            a store, an atomic operation, a barrier, a branch, output
       live code         effects and everything they depend on; all other operations are dropped
       lowering          replacing an operation by others that the target and the machine support

   Values
       A vc_val is an immutable value. Functions that compute a vc_val from others have no effect and can be nested
       freely.

       Functions with an effect return nothing. Declarations (vc_buffer, vc_param, vc_var, …) return a result: call each
       in a separate C statement, not as an argument of another call, because C does not specify the order in which
       arguments are evaluated. The same applies to your own functions that declare memory, store or open a block.

       If all operands are immediates and the result is a scalar, these operations return an immediate:
       * integers and bools: all componentwise operations;
       * vc_select and vc_bitcast;
       * vc_component, vc_extract, vc_insert and vc_swizzle, which treat a scalar as a vector with one component;
       * floats: comparisons, vc_cast, vc_isnan, vc_isinf, vc_add, vc_sub, vc_mul, vc_div, vc_neg, vc_abs, vc_sign,
         vc_sqrt, vc_floor, vc_ceil, vc_trunc, vc_round, vc_fract, vc_min, vc_max, vc_clamp, vc_step, vc_saturate,
         vc_smoothstep, vc_radians, vc_degrees, vc_ldexp, vc_frexp_mantissa, vc_frexp_exponent and vc_modf_fract; unless
         an operand, an intermediate value or the result is subnormal, or an intermediate value or the result is NaN.
       Other operations may require a kernel: that of an operand, of a reference (vc_load) or image, or the argument k
       (vc_vec, vc_make). vc_const converts an immediate to a value of a kernel:

           vc_vec2(vc_const(k, vc_f32(1)), vc_f32(2))

       vc_imm_of(x) converts a C number to an immediate of the corresponding type (char: i32); VC(x) is its short form
       (VKDISPATCH_SHORT). In C, it requires C11 or, with an older standard, gcc 5 or later, or clang.

       In C++, the operators + - * / % & | ^ << >>, the assignments with them (+= …), and == != < <= > >= ~ ! are
       overloaded. One of the operands can be a C++ number:

           vc_store(y, i, a * vc_load(x, i) + 1.0f);

       && and || are not overloaded, because C++ would evaluate both operands: use &, |, vc_and_then or vc_or_else.

   Types
       Scalars are bool, i8 to i64, u8 to u64, f16, f32 and f64. VC_VEC(VC_F32, 3) is a vector; vectors have 2 to 4
       components.

       Operands of one operation must have the same type, unless its declaration states otherwise (counts and offsets of
       bits, exponents of vc_ldexp, conditions, a real and a complex number, a matrix and a vector or scalar). In
       vc_store and vc_set, the element is an operand too. There are four implicit conversions:
       * an integer immediate is converted to the type of the other operand if that represents its value and the other
         operand is not a float immediate: vc_add(vc_f32(1), vc_i32(2)) is an error;
       * an f64 immediate is rounded to f32 or f16, and an f32 immediate to f16, if another operand has that type and is
         a value of the kernel;
       * a scalar is repeated to match a vector of the same scalar type;
       * an index is any scalar integer of 32 or 64 bits, or any integer immediate.
       All others are explicit: vc_cast converts the value, vc_bitcast reinterprets the bits.

       In memory a bool is a u32, 0 or 1; a vector is a C array of its components, without padding.

       It is an error if live code needs a feature of desc.machine.missing_features. The builder can check this only
       after it has removed dead code and lowered operations. Therefore vc_spirv, vc_source, vc_reflect, vc_hash and
       vd_kernel_build report it, and the message may name an operation that lowering introduced. Only
       VC_FEATURE_RECONVERGENCE is checked when the operation is recorded.

   Composite types
       VC_COMPLEX(VC_F32) and VC_MAT(VC_F32, rows, columns) exist in every kernel; vc_struct and vc_array_type make
       types of one kernel. A composite type can be the element type of a buffer, a shared or private array or a
       table, the type of a variable, a parameter or a value, and a part of another composite type.

       Layout. In buffers, tables and parameters the layout is C's: a vector is an array, a matrix an array of
       columns, a complex number two scalars (real, imaginary). A vd_buffer of type VD_STRUCT(sizeof(the struct)) or
       VD_BYTES can hold an array of the corresponding C struct without conversion.

       Access. vc_at and vc_field return a reference to a part of an element; they can be nested, and the index of vc_at
       can be any value. vc_part returns one part of a value; vc_make builds a value from all of its parts, and vc_with
       replaces one part.

           vc_set(vc_field(vc_at(bodies, i), 1), mass);

       type            operations, in addition to vc_select, vc_part, vc_make and vc_with
       ----            ------------------------------------------------------------------
       complex         add, sub, mul, div, pow, eq, ne, where one operand may be real; neg, abs, exp, log, sqrt;
                       vc_re, vc_im, vc_conj, vc_arg, vc_complex, vc_polar, vc_cast
       matrix          add, sub, neg, eq, ne; vc_mul with a matrix, a vector on either side, or a scalar; vc_div by a
                       scalar; vc_transpose, vc_determinant, vc_inverse, vc_outer, vc_cast
       struct, array   none: operate on their parts

       Complex products use fma:

           re = fma(ar, br, -(ai * bi))
           im = fma(ar, bi, ai * br)

       Complex quotients, absolute values and roots are scaled by powers of two, so that no intermediate overflows or
       underflows if the result does not. A quotient by 0 is infinite or NaN. vc_sqrt is the principal root, with a
       real part that is not negative. pow(0, b) is the real power of 0 with the real part of b.

       The error of complex functions, in units in the last place of the result's absolute value, is at most: mul 2,
       div 6, abs 4, sqrt 8. For f16, which is computed in f32, it is 1.5 for div, abs and sqrt. exp, log, pow and polar
       have the errors of the real functions they use. The real part of log is accurate to a few units in its last
       place, even near |z| = 1. pow(a, b) is exp(b log a) with this log, so its error grows with |b log a|.

       Matrix products accumulate columns by fma, starting with the first column. The inverse is the adjugate
       multiplied by the rounded reciprocal of the determinant, without pivoting: use it only for matrices that are far
       from singular.

   Memory
       A vc_ref is a reference to memory: a buffer, a shared or private array, a table or a variable.

           vc_load, vc_store    read and write an element by index
           vc_get, vc_set       read and write a variable, or the element that the reference refers to
           vc_offset            adds an offset to a reference, in elements
           vc_at                returns a reference to an element
           vc_field             returns a reference to a member of an element, or to a column of a matrix

       vc_load(vc_offset(x, vc_u32(3)), i) reads x[i + 3]. A constant offset is added with 64 bits if the buffer is
       passed by address. Two run-time indices of the same type are added in that type: a sum of u32 wraps at 2^32, one
       of i32 at 2^31; use i64 for larger buffers.

   Control flow
           VC_IF(k, c) { … } VC_ELSE(k) { … }
           VC_FOR(k, i, first, limit) { … }
           VC_LOOP(k) { … }                                    until vc_break_if, vc_break_outer_if or vc_return_if
           VC_SWITCH(k, v) { VC_CASE(k, 1) { … } VC_DEFAULT(k) { … } }
           VC_EACH(k, i) { … }                                 once for each thread of a 1-D dispatch; VC_EACH2 and
                                                               VC_EACH3: of a 2-D and a 3-D dispatch

       vc_break_if and vc_continue_if act on the innermost loop. vc_break_outer_if leaves the innermost loop and the
       given number of loops around it. vc_return_if ends the invocation. Do not leave a block by C's break, continue,
       goto or return. A value can be used only in the block in which it was recorded and in blocks inside that one; to
       use a result after the block, store it in a vc_var declared before the block.

   Evaluation
       Operands are evaluated before the operation, on every target; vc_and, vc_or and vc_select therefore evaluate all
       of their operands. A load is executed where it was recorded, even if a later vc_return_if ends the invocation
       before its value is used. Only operations whose results are unused are dropped.

       To read memory under a condition, guard the index (vc_load_or), use VC_IF, or use a short-circuit statement.
       Its later operands are executed only if they are needed:

           vc_and_then(k, &ok, vc_lt(i, n), vc_gt(vc_load(x, i), zero));       ok = i < n && x[i] > zero
           vc_or_else(k, &ok, vc_ge(i, n), vc_gt(vc_load(x, i), zero));        ok = i >= n || x[i] > zero
           vc_select_lazy(k, &v, vc_lt(i, n), vc_load(x, i), vc_load(y, i));   v = i < n ? x[i] : y[i]

       Such an operand may call your own function that records statements. Values recorded in it belong to its block and
       cannot be used elsewhere.

   Meaning of operations
       Results are equal on all targets, with the exceptions that this section and "Accuracy" state.

       operation          integers                                     floats
       ---------          --------                                     ------
       neg add sub mul    wrap around                                  rounded once
       div                toward zero; x / 0 has all bits set;         see Accuracy
                          INT_MIN / -1 = INT_MIN of the type
       rem                sign of x; x rem 0 = x                       sign of x; x if |x| < |y|; see Accuracy
       mod                sign of y; x mod 0 = x                       rem, plus y if it is not 0 and has the other sign
       fma                x * y + z, wraps around                      rounded once or twice, depending on the device
       abs                abs(INT_MIN) = INT_MIN of the type           clears the sign
       min max                                                         the other operand if one is NaN
       shl shr            the count is taken modulo the width
       eq lt le gt ge                                                  false if an operand is NaN
       ne                                                              true if an operand is NaN
       cast to integer    keeps the low bits                           toward zero, saturated; NaN becomes 0
       cast to float      rounded once, to nearest even                rounded once, to nearest even, a
                                                                       narrowing cast is never removed
       cast to bool       x != 0                                       x != 0; NaN becomes true

       Special cases:
       * pow(x, 0) and pow(1, y) are 1 for every x and y, also for NaN. Any other pow(x, y) with x < 0 is NaN, also for
         integer y, unlike in C. A base of -0 counts as +0.
       * atan2 of zeros follows Annex F of C99: atan2(-0, -0) is -pi. atan2 of two infinities is
         implementation-defined for f16 and f32.
       * Without VC_FEATURE_I64, the rounding of casts from f64 to f16, and from f64 to f32 and back, is
         implementation-defined.
       * Subnormal numbers may be flushed to zero.
       * On llvmpipe, x * 0 with a constant 0 is 0 even if x is infinite or NaN.

       Nothing is contracted: a product and a sum never become an fma. vc_kernel_desc.fast removes these guarantees
       for floats.

   Accuracy
       The following are exact or correctly rounded: operations on integers, conversions, comparisons, + - * neg abs
       sign min max clamp step floor ceil trunc round fract saturate ldexp frexp modf.

       The table has bounds of the error of its functions, in units in the last place of the result r. A term 2^-n is an
       absolute error that is added, unless "of cosh" follows. fma: see "Meaning of operations".
       * f16, f32: functions of the device have the bounds of the Vulkan specification (Precision of Core SPIR-V
         Instructions, Precision of GLSL.std.450 Instructions). The bounds of sin and cos hold for |x| <= pi.
       * asinh and the functions below it are computed by the builder, from those above and arithmetic. So are sinh and
         cosh of f16 and f32 in SPIR-V and GLSL, and all functions of f64 except div and sqrt. The bounds of sin, cos
         and tan of f64 hold for |x| <= 2^30.
       * In OpenCL C, the last column replaces those of f16 and f32.

       The tests check these bounds on every target.

       function    f16                             f32                             f64   OpenCL C
       --------    ---                             ---                             ---   --------
       div         2.5                             2.5                             0.5   2.5
       sqrt        5                               5                               0.5   3
       rsqrt       2                               2                               1.5   2
       exp         1 + 2 |x|                       3 + 2 |x|                       1.1   3
       exp2        1 + 2 |x|                       3 + 2 |x|                       1.2   3
       log         3 + 2^-7                        3 + 2^-21                       1     3
       log2        3 + 2^-7                        3 + 2^-21                       1     3
       pow         4 + 8 (1 + |y| + |y log2 x|)    4 + 8 (1 + |y| + |y log2 x|)    1.5   16
       sin         2^-7                            2^-11                           1     4
       cos         2^-7                            2^-11                           1     4
       tan         3 + 2^-7 (1 + |r| + r^2)        3 + 2^-11 (1 + |r| + r^2)       2.5   5
       asin        5 + 2^-7                        4096 + 2^-11                    2.5   4
       acos        5 + 2^-7                        4096 + 2^-11                    2.5   4
       atan        5                               4096                            1     5
       atan2       5                               4096                            2     6
       sinh        1 + 2^-10 of cosh               10 + 3 |x| + 8 of cosh          2     4
       cosh        1                               10 + 3 |x|                      2     4
       tanh        4 + 2^-8                        8 + 2^-20                       2.5   5
       asinh       1                               4 + 2^-20                       4     as f32
       acosh       1                               4 + 2^-20                       4     as f32
       atanh       1                               4 + 2^-20                       3     as f32
       exp10       1                               6                               2     as f32
       log10       1 + 2^-22                       5 + 2^-22                       2     as f32
       cbrt        1                               3                               1     as f32
       hypot       1                               4                               1.5   as f32
       erf         1                               3                               2     as f32
       radians     1                               1                               1     as f32
       degrees     1                               1                               1     as f32
       smoothstep  1                               12                              6     as f32

       "8 of cosh" is 8 units in the last place of cosh(x), "2^-10 of cosh" 2^-10 of such a unit.

       norm and distance: 6 units, normalize: 8, all three only if no square overflows or underflows (vc_hypot has no
       such condition).
       cross, reflect_vector and refract are sums of products whose terms can cancel, so they have no bound; for f16
       they are computed in f32. mix rounds after each operation. dot is a chain of fma.

       rem of floats is x - y * trunc(x / y) without fma. If |x| < |y| it is x. If the result is too large or has the
       wrong sign, because the division was inexact, y is added or subtracted once. If x / y rounds to an integer, the
       result can be 0 instead of almost |y|: vc_rem(1, 0.1) of f32 is 0. Otherwise the error is at most one unit in the
       last place of x if the device's division is correctly rounded; if not, it is larger for a large x / y. With
       vc_kernel_desc.fast, only the formula is computed.

   Multi-word integers
       vc_add_carry, vc_sub_borrow and vc_mul_hi return the upper word of a sum, difference or product; vc_add, vc_sub
       and vc_mul of the same operands return the lower one. Use u32 words: in SPIR-V these are OpIAddCarry,
       OpISubBorrow and OpUMulExtended; in CUDA C, chains of them become 64-bit sums, which its compiler turns into
       add-with-carry and multiply-add instructions. The sum of two numbers of `count` words:

           vc_val carry = vc_const(k, vc_u32(0));
           for (int i = 0; i < count; i++) sum[i] = vc_add_with_carry(a[i], b[i], carry, &carry);

       One step of a product, t + a * b + carry, which always fits two words:

           vc_val low = vc_mul(a, b), high = vc_mul_hi(a, b), sum = vc_add(low, t);
           high = vc_add(high, vc_add_carry(low, t));
           t = vc_add(sum, carry);
           carry = vc_add(high, vc_add_carry(sum, carry));

   Atomics
       Atomics are statements on elements of buffers and shared arrays:

           vc_val old;
           vc_atomic_add(x, i, vc_u32(1), &old);

       operation             i32, u32   i64, u64 (1)   f32            f64 (1)
       ---------             --------   ------------   ---            -------
       add sub               yes        yes            yes (2)        loop (3)
       min max               yes        yes            loop (3)       loop (3)
       and or xor            yes        yes            no             no
       exchange load store   yes        yes            yes            yes
       compare_exchange      yes        yes            yes, by bits   yes, by bits

       (1)  needs VC_FEATURE_ATOMIC_I64
       (2)  one instruction with VC_FEATURE_ATOMIC_F32_ADD if the memory has no other atomics; otherwise (3)
       (3)  a loop of compare-exchanges

       Atomics are relaxed: they do not order other accesses. vc_ordered adds acquire or release order to an atomic;
       vc_fence records a fence.

   Subgroups
       A subgroup is a set of invocations of one work-group that can exchange values without shared memory. The result
       of a subgroup operation depends on which invocations execute it, so the operation stays where it is recorded and
       is never merged with another one.
       * On a machine with VC_FEATURE_SUBGROUP, but without VC_FEATURE_RECONVERGENCE, all invocations of the subgroup
         must reach a subgroup operation. It is an error inside a block whose condition may differ between them (such
         as VC_EACH), in a loop that they may leave in different iterations, and after a vc_return_if, or a
         vc_continue_if of a loop that contains the operation, that only some of them may take.
       * On all other machines, subgroup operations are allowed in these places, and combine the invocations that reach
         them. CUDA C supports this only if the divergence comes from VC_IF, VC_ELSE or VC_EACH: vc_source and
         vd_kernel_build fail if the operation is in a loop or VC_SWITCH that diverges, or after such a vc_continue_if
         or vc_return_if.
       * vc_subgroup_size, vc_subgroup_count, the ids and vc_subgroup_elect are allowed everywhere. In divergent control
         flow, the device may execute the invocations that reach vc_subgroup_elect in several parts; it is then true
         for one invocation of each part.
       * The results of vc_subgroup_any, _all, _all_equal, _ballot, _broadcast, _broadcast_first and _reduce are
         uniform within the subgroup, as are vc_subgroup_id, _size and _count. So they can be conditions of blocks
         that contain subgroup operations.
       * Without VC_FEATURE_SUBGROUP, and in OpenCL C, every invocation forms a subgroup of size 1. Kernels that depend
         on the size only through vc_subgroup_size work with and without subgroups.
       * llvmpipe (Mesa 22.3): if the local size is above 1 along axis 1 or 2, vc_subgroup_id and vc_subgroup_count are
         correct only if the local size along axis 0 is a multiple of vc_subgroup_size.

   Work-group functions
       vc_group_reduce, vc_group_inclusive, vc_group_exclusive and vc_group_broadcast exchange values between all
       invocations of the work-group. They share an array in shared memory for each type, two elements per invocation;
       i8 and i16 use that of i32, u8, u16 and bool that of u32, f16 that of f32. They are allowed where vc_barrier is,
       wait for all invocations, and order accesses to shared memory only.

   Divergence
       A barrier or work-group function is an error in divergent control flow: where a condition may differ between
       the invocations of a work-group. For subgroup operations see Subgroups. The builder tracks which values may
       differ:
       * Varying: local, global and subgroup ids, results of atomics and of most subgroup operations, loads at a
         varying index, and everything computed from them.
       * Uniform: parameters, group ids, sizes, counters of a VC_FOR with uniform bounds and step, results of
         vc_group_reduce and vc_group_broadcast, loads of buffers, tables and shared arrays at a uniform index, and
         reads of images at uniform coordinates. For loads and reads this is an assumption: another invocation may write
         the element in between.
       * A variable or private array is varying from the first store whose value, index or enclosing condition is
         varying; conditions outside of the block that declares it are ignored. It is also varying after a loop that
         stores to it if invocations leave the loop in different iterations.
       * A variable is uniform again after a uniform store in the block that declares it, outside of loops. In a loop,
         use another variable. A private array stays varying.

   Undefined behaviour
       The behaviour is undefined in these cases. Nothing detects them, except the first one in a checked kernel. The
       comments of functions state further cases.
       * a load, store or atomic with an index past the end of the buffer or array (guard it with vc_length or
         vc_load_or; see Checked kernels);
       * a data race: two invocations access the same element, at least one of them writes it, the accesses are not
         both atomic, and no barrier separates them (vc_barrier only orders the invocations of one work-group);
       * a barrier that some invocations of the work-group do not reach, if the rules of Divergence did not detect it.

   Checked kernels
       In a checked kernel, every load, store and atomic compares its index with the length of the buffer, shared array,
       private array or table. A kernel is checked if one of these holds when it is begun:
       * vc_kernel_desc.checked is set;
       * the context is in debug mode and vc_kernel_desc.machine is its vd_machine, unless the environment variable
         VKDISPATCH_CHECK_KERNELS is 0. This excludes the kernels of vkdispatch_fft.h, which take long to compile;
       * VKDISPATCH_CHECK_KERNELS is 1. This includes the kernels of vkdispatch_fft.h and tools/vcc.
       If the index is out of range, a load returns 0, a store does nothing, and an atomic does nothing and returns 0.
       Each vc_return_if and the end of the kernel report the first such access since the last report as a failed
       assertion:

           kernel 'saxpy': vc_store: element 10 of buffer 'y' is out of range (10 elements) in invocation (10, 0, 0)

       An array inside an element is checked separately: "element 4 of f32[4] in buffer 'y' is out of range". Not
       checked: images, and code that was not made by the builder. Checks multiply the size of the code and the time to
       compile it, and make the kernel slower. Their reports take one more buffer, as vc_printf does, so the kernel may
       have only VD_MAX_ARGS - 1 arguments (63).

   Images
       vc_image declares an image argument. By default it is a sampled 2-D image of f32, with its sampler. A
       vc_image_desc selects another dimension, i32 or u32 components, a texel buffer, or a storage image. In a kernel,
       a texel always has four components of 32 bits, independent of the format in memory.

       function                           image                      reads
       --------                           -----                      -----
       vc_sample                          sampled                    filtered, level 0
       vc_sample_lod, vc_sample_offset    sampled                    filtered, given level
       vc_sample_grad                     sampled                    filtered, level selected by given derivatives
       vc_gather                          sampled 2-D, 2-D array,    one component of the four texels of a linear filter
                                          cube
       vc_fetch                           sampled or texel buffer    one texel by integer coordinates; no cube
       vc_image_load, vc_image_store      storage                    one texel by integer coordinates

       A compute kernel has no derivatives between neighbouring invocations, so vc_sample cannot select a level.

       With vc_image_desc.count, the argument is an array of images, which may have different extents. vc_image_at
       selects an element for one of the functions above: vc_sample(vc_image_at(textures, material), at). vd_array
       passes the elements. In CUDA C, elements have no size and no number of levels.

       Loads of storage images keep their order relative to stores. vc_barrier and vc_fence make image stores visible
       to other invocations as they do buffer stores. Accessing a texel outside of the image is undefined.

       target         passed as                                           not supported
       ------         ---------                                           -------------
       SPIR-V, GLSL   bindings of set 0, numbered from 0 in order of
                      declaration; buffers count if they are bindings
       CUDA C         8-byte handles in the argument block: texture       offsets; gather except 2-D; storage images,
                      objects (normalized coordinates), surface objects,  including texel buffers, without a format or
                      addresses of storage texel buffers; a 1-D image is  with R11G11B10_F, RGB10A2_UNORM, RGB10A2_U
                      a layered one with one layer
       OpenCL C       parameters in order of binding; a sampled image     arrays; cubes; levels other than the
                      is followed by its sampler_t                        constant 0; derivatives; offsets; gather;
                                                                          the number of levels

       An image that is both loaded and stored needs OpenCL C 2.0. In CUDA C, loading a texel that the same dispatch has
       stored is undefined.

   printf and assert
       vc_printf(k, "%u: %f\n", i, x) and vc_assert(k, vc_lt(i, n), "i < n") append a record to an output buffer. The
       buffer is an additional last argument of the kernel: vkdispatch.h passes it, and reads and formats the records
       when the work is done.

       conversion                operand
       ----------                -------
       %d %i                     signed integers, bool
       %u                        unsigned integers, bool
       %x %X %o %c               integers
       %f %F %e %E %g %G %a %A   floats
       %%                        none

       Flags, width and precision are C's, except *. The length modifiers h l j z t are ignored, because a conversion
       accepts every width of its kind. A vector is printed as (x, y, z), a complex number as (re, im), with the
       conversion applied to each part. Records of different invocations have no order. After a failed assertion the
       invocation continues; vc_return_if ends it. A kernel without vc_printf and vc_assert has no output buffer and no
       cost.

   Targets
       function                        output                                      buffers
       --------                        ------                                      -------
       vc_spirv                        SPIR-V 1.3 to 1.6 (machine.spirv_version)   addresses or bindings (desc.buffers)
       vc_source, VC_TARGET_GLSL       GLSL 4.50                                   addresses or bindings (desc.buffers)
       vc_source, VC_TARGET_CUDA       CUDA C for NVRTC, without any header        addresses
       vc_source, VC_TARGET_OPENCL     OpenCL C 1.2 (see also Images)              bindings: one parameter each

       Argument block. Parameters, buffer addresses and, in CUDA C, image handles are fields of one block, laid out as
       a C struct. In SPIR-V and GLSL it is the push-constant block; vkdispatch.h passes it in a buffer if the device
       allows fewer bytes of push constants.

       Implicit arguments are u32 fields at the end of the block for values that the kernel uses but does not declare:
       numbers of threads and groups, the group base, lengths and shapes of buffers, the number of the first format; in
       CUDA C, sizes and levels of images; in OpenCL C, sizes of texel buffers.
       vc_reflect describes the block for SPIR-V and GLSL, vc_reflect_for the one for CUDA C and OpenCL C.

       CUDA C. The kernel is extern "C" ENTRY(const struct ENTRY_args args); args is the argument block. The parameter
       is omitted if the block is empty. If the kernel has more than 48 KB of shared memory, set
       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES to vc_info.shared_bytes and launch it with that number of bytes
       of dynamic shared memory.

       OpenCL C. The kernel is ENTRY(buffers and images in order of binding, argument block), without the last
       parameter if the block is empty.

       CUDA C and OpenCL C. The texts of several kernels can be concatenated into one program. f16 is computed in f32
       and rounded, so it needs no device support.

       Compiler options. CUDA C is printed such that no option of NVRTC contracts operations or ignores NaN;
       --use_fast_math only makes functions less accurate, within the bounds of Vulkan. OpenCL C that is compiled with
       -cl-fast-relaxed-math has no such guarantees.

   Ahead of time
       tools/vcc compiles the kernels that a C or C++ file defines with VC_KERNEL(name) { … } into a C header for
       vd_kernel_create, a file for vd_kernel_load, or files with SPIR-V or source text, so that the program does not
       contain the builder. A program that contains it can include the file: VC_KERNEL then defines the function
       vc_kernel *name(const vc_kernel_desc *).

   Errors
       A kernel keeps its first error. Later calls have no effect, so only the end needs a check: vc_spirv, vc_source,
       vc_dump and vc_reflect return NULL, and vc_error returns one sentence that names the kernel, the call, the
       operand and the limit. Operands are counted from 1, without the kernel and the format of vc_printf. Exception:
       vc_source or vc_reflect_for with a wrong target fails only itself, and the kernel remains usable.

       At its end, a loop is analysed again, because a store in one iteration may make a variable varying that the next
       iteration loads. An error that is found there names the call and the number of its statement:
       "vc_barrier in kernel 'blur': statement 3: …" is the third effect or block of the kernel; the end of a block
       counts, too.

       desc.error is called with the text of vc_error by the call that makes an error: once for the error that the
       kernel keeps, and for each call with a wrong target. A breakpoint or backtrace in it shows the line of that call.
       It must not call functions of the kernel.

       With VKDISPATCH_CODEGEN_LINES the sentence ends with the source position of the call that made the error:
       "… (shader.c:42)". Define it before the header is included, in every source file whose positions are wanted, with
       or without the implementation. Functions of the builder are then also macros that pass __FILE__ and __LINE__. The
       end of a block has the position of its beginning; an error that is found while code is generated has that of
       vc_spirv, vc_source or vc_reflect. Calls of a function pointer, calls of a name in parentheses, (vc_add)(x, y),
       and vd_kernel_build have none. C++ operators have the position of the expression; this needs gcc, clang 9 or MSVC
       19.26. Without the macro nothing is recorded.

       A call on an unset ref or image ({0}) fails the kernel of its other operands. If these are all immediates, the
       kernel is unknown. The error is then reported for the next kernel whose error or output this thread requests, but
       is lost if the thread first begins or restarts a kernel.

       Functions accept a NULL kernel, which vc_begin returns if out of memory; vc_error(NULL) reports that.

   Limits
       operations in a kernel                               10 million
       nested blocks                                        1000
       scalars and vectors in a value                       1024
       scalars and vectors in an element of a shared or
           private array, table or variable, where an
           array inside the element counts as one           1024
       members of a struct; depth of nested types           4096; 32
       bytes of a type                                      2^31 - 2
       arguments of a kernel for vkdispatch.h               64 (VD_MAX_ARGS)
       private arrays and variables of composite type       64 KiB per invocation, and 4 MiB per work-group, together
       shared memory                                        desc.machine.max_shared_bytes
       tables                                               256 KiB together
       struct and array types of a kernel                   61440
       SPIR-V: elements of a table; cases of a switch       65532; 16383
       vc_printf: operands; bytes of a format               32; 1024
       vc_printf: width and precision                       255
       different formats and assertion texts in a kernel    1024

   Ownership and threads
       A kernel owns everything made for it: vc_free releases it all, vc_restart reuses the memory. Texts and infos
       that a kernel returns stay valid until it is changed, restarted or freed.

       A kernel is externally synchronised: one thread at a time may use it. Different kernels are independent.

   Versions
       New versions add fields only at the end of descs and infos, and 0 remains the default of every field of a desc.
       Initialise descs with = {0} in C or = {} in C++. The major versions of vkdispatch.h and of this header must be
       equal. */
#ifndef VKDISPATCH_CODEGEN_H
#define VKDISPATCH_CODEGEN_H
#define VKDISPATCH_CODEGEN_VERSION 100 /* major * 10000 + minor * 100 + patch */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define VC__UNUSED __attribute__((unused))
#else
#define VC__UNUSED
#endif
#if defined(VKDISPATCH_STATIC)
#define VC_API VC__UNUSED static
#else
#define VC_API extern
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---- */

/* A type is one number, equal to the vd_type of vkdispatch.h:
       kind + 16 * (rows - 1) + 64 * (columns - 1) + 256 if complex; from 2^31 on VC_STRUCT
   Exception: the types that vc_struct and vc_array_type return are valid in one kernel only and are not a vd_type. */
typedef uint32_t vc_type;

/* Vector. components: 2 to 4. */
#define VC_VEC(scalar, components) ((vc_type)((scalar) + 16u * ((components) - 1u)))

/* Matrix in columns. scalar: VC_F32 or VC_F64; rows, columns: 2 to 4. */
#define VC_MAT(scalar, rows, columns) ((vc_type)((scalar) + 16u * ((rows) - 1u) + 64u * ((columns) - 1u)))

/* Complex number. scalar: VC_F16, VC_F32 or VC_F64. */
#define VC_COMPLEX(scalar) ((vc_type)((scalar) + 256u))

/* How vc_arg_info reports a struct or array: by its size. Kernels declare such types with vc_struct and
   vc_array_type. */
#define VC_STRUCT(bytes) ((vc_type)(0x80000000u + (bytes)))

enum {
    VC_NONE = 0, VC_BOOL, VC_I8, VC_I16, VC_I32, VC_I64, VC_U8, VC_U16, VC_U32, VC_U64, VC_F16, VC_F32, VC_F64,
    VC_I32X2 = 16 + VC_I32, VC_I32X3 = 32 + VC_I32, VC_I32X4 = 48 + VC_I32,
    VC_U32X2 = 16 + VC_U32, VC_U32X3 = 32 + VC_U32, VC_U32X4 = 48 + VC_U32,
    VC_F32X2 = 16 + VC_F32, VC_F32X3 = 32 + VC_F32, VC_F32X4 = 48 + VC_F32,
    VC_F64X2 = 16 + VC_F64, VC_F64X3 = 32 + VC_F64, VC_F64X4 = 48 + VC_F64,
    VC_F16C = 256 + VC_F16, VC_F32C = 256 + VC_F32, VC_F64C = 256 + VC_F64, /* complex */
    VC_F32X2X2 = 80 + VC_F32, VC_F32X3X3 = 160 + VC_F32, VC_F32X4X4 = 240 + VC_F32,
    VC_F64X2X2 = 80 + VC_F64, VC_F64X3X3 = 160 + VC_F64, VC_F64X4X4 = 240 + VC_F64
};

typedef struct vc_member { /* of a struct */
    const char *name;    /* for readers of generated code; may be NULL */
    vc_type type;        /* any type of the kernel */
} vc_member;

typedef struct vc_kernel vc_kernel;

/* A value. {0} in C, {} in C++: never set. The members are private. In C++ a number converts to an immediate, as by
   vc_imm_of: vc_max(x, 1.0f). */
typedef struct vc_val {
    uintptr_t owner;     /* below 16: an immediate of that type; from 4096 on: the kernel */
    uint64_t bits;       /* the immediate's bit pattern, or the node */
#ifdef __cplusplus
#define VC__NUMBERS(X) \
    X(bool) X(signed char) X(short) X(int) X(long) X(long long) X(unsigned char) X(unsigned short) X(unsigned) \
    X(unsigned long) X(unsigned long long) X(float) X(double)
#define VC__DECLARE_NUMBER(type) inline vc_val(type x);
    vc_val() = default;
    vc_val(uintptr_t private_owner, uint64_t private_bits) : owner(private_owner), bits(private_bits) {}
    VC__NUMBERS(VC__DECLARE_NUMBER)
    vc_val(const void *) = delete; /* a pointer does not convert to bool */
#undef VC__DECLARE_NUMBER
#endif
} vc_val;

/* A reference to memory. {0}: never set. The members are private. */
typedef struct vc_ref {
    vc_kernel *kernel;
    uint32_t memory;     /* node of the object */
    uint32_t index;      /* 1 + node of the dynamic element index; 0: none */
    int64_t offset;      /* constant element index */
    vc_type type;        /* of one element */
    uint32_t generation; /* number of the kernel's vc_restart */
    uint32_t memory_order; /* memory order of atomics, see vc_ordered */
    uint32_t path, byte, split_array, inside; /* position inside an element, set by vc_at and vc_field */
} vc_ref;

/* An image argument. {0}: never set. The members are private. */
typedef struct vc_image_ref { vc_kernel *kernel; uint32_t node, generation; } vc_image_ref;

/* ---- descs: zero is the default of every field ---- */

/* How a kernel may access an argument. */
enum {
    VC_READ = 1,
    VC_WRITE = 2,
    VC_READ_WRITE = 3,
    VC_MAY_ALIAS = 4, /* flag: may share memory with another argument, although one of the two is written */
    VC_ANY_TYPE = 8   /* flag, buffers: a buffer of any type may be passed. The kernel reinterprets its bytes as the
                         declared type; vc_length and vc_shape still count elements of the passed buffer's own type */
};

/* Features a kernel may need, numbered as VD_FEATURE_. In CUDA C and OpenCL C, only F64, ATOMIC_I64 and IMAGE depend on
   the device; the code for the other features runs on every device. Types whose feature is in
   vc_machine.missing_features are errors there, too. */
enum {
    VC_FEATURE_F16 = 1 << 0,                 /* f16 arithmetic */
    VC_FEATURE_F64 = 1 << 1,                 /* f64 arithmetic */
    VC_FEATURE_I8 = 1 << 2,                  /* 8-bit integer arithmetic */
    VC_FEATURE_I16 = 1 << 3,                 /* 16-bit integer arithmetic */
    VC_FEATURE_I64 = 1 << 4,                 /* 64-bit integer arithmetic */
    VC_FEATURE_STORAGE_8 = 1 << 5,           /* 8-bit elements in buffers */
    VC_FEATURE_STORAGE_16 = 1 << 6,          /* 16-bit elements in buffers */
    VC_FEATURE_ADDRESS = 1 << 7,             /* buffers by 64-bit address; used only together with I64 */
    VC_FEATURE_SUBGROUP = 1 << 8,            /* subgroup operations; without it a subgroup is one invocation */
    VC_FEATURE_ATOMIC_I64 = 1 << 9,          /* 64-bit atomics */
    VC_FEATURE_ATOMIC_F32_ADD = 1 << 10,     /* f32 atomic addition in one instruction; a loop without it */
    VC_FEATURE_IMAGE = 1 << 13,              /* images */
    VC_FEATURE_SUBGROUP_TYPES = 1 << 14,     /* subgroup operations on 8, 16 and 64-bit integers and f16 */
    VC_FEATURE_SUBGROUP_CLUSTERED = 1 << 15, /* vc_subgroup_clustered */
    VC_FEATURE_RECONVERGENCE = 1 << 16,      /* maximal reconvergence: subgroup operations in divergent control flow */
    VC_FEATURE_IMAGE_FORMATS = 1 << 17,      /* every vc_format */
    VC_FEATURE_IMAGE_READ = 1 << 18,         /* loads from storage images without a format */
    VC_FEATURE_IMAGE_WRITE = 1 << 19,        /* stores to storage images without a format */
    VC_FEATURE_DOT_4X8 = 1 << 20,            /* vc_dot_4xi8 and similar in one instruction; lowered without it */
    VC_FEATURE_F64_ROUND = 1 << 21,          /* exact trunc and round of f64 in the driver; lowered to floor without
                                                it */
    VC_FEATURE_SHUFFLE_64 = 1 << 22,         /* the driver compiles any 64-bit shuffle; lanes are kept in range without
                                                it */
    VC_FEATURE_UNPACK_HALF = 1 << 23,        /* the driver compiles vc_unpack_half2; done in integers without it */
    VC_FEATURE_BINDLESS = 1 << 30            /* non-constant indices into arrays of images */
};

typedef enum vc_target {
    VC_TARGET_NONE = 0,
    VC_TARGET_SPIRV = 1,
    VC_TARGET_GLSL = 2,
    VC_TARGET_CUDA = 3,
    VC_TARGET_OPENCL = 4
} vc_target;

typedef enum vc_buffers {    /* how SPIR-V and GLSL receive buffers */
    VC_BUFFERS_DEFAULT = 0,  /* by address if the machine has VC_FEATURE_ADDRESS and VC_FEATURE_I64, else as bindings */
    VC_BUFFERS_ADDRESS,      /* 64-bit addresses in the argument block */
    VC_BUFFERS_BINDING       /* storage buffers in descriptor set 0, numbered in order of declaration */
} vc_buffers;

/* Dimension of an image.
       dim        coordinates                               vc_image_size         offsets   vc_gather
       ---        -----------                               -------------         -------   ---------
       1D         x                                         width                 x         no
       2D         x y                                       width height          x y       yes
       3D         x y z                                     width height depth    x y z     no
       CUBE       sampled: a direction; storage: x y face   width height          none      yes
       1D_ARRAY   x layer                                   width layers          x         no
       2D_ARRAY   x y layer                                 width height layers   x y       yes
       BUFFER     number of the texel                       texels                none      no  */
typedef enum vc_dim {
    VC_DIM_DEFAULT = 0,      /* VC_DIM_2D */
    VC_DIM_1D,
    VC_DIM_2D,
    VC_DIM_3D,
    VC_DIM_CUBE,
    VC_DIM_1D_ARRAY,
    VC_DIM_2D_ARRAY,
    VC_DIM_BUFFER            /* the texels of a buffer: no sampler, no levels */
} vc_dim;

/* Format of a storage image's texels in memory, numbered as in SPIR-V. The kernel sees f32 (_F, _UNORM, _SNORM), i32
   (_I) or u32 (_U) components. Every device supports the first line of each group; the others need
   VC_FEATURE_IMAGE_FORMATS. */
typedef enum vc_format {
    VC_FORMAT_NONE = 0,
    VC_FORMAT_RGBA32_F, VC_FORMAT_RGBA16_F, VC_FORMAT_R32_F, VC_FORMAT_RGBA8_UNORM, VC_FORMAT_RGBA8_SNORM,
    VC_FORMAT_RG32_F, VC_FORMAT_RG16_F, VC_FORMAT_R11G11B10_F, VC_FORMAT_R16_F, VC_FORMAT_RGBA16_UNORM,
    VC_FORMAT_RGB10A2_UNORM, VC_FORMAT_RG16_UNORM, VC_FORMAT_RG8_UNORM, VC_FORMAT_R16_UNORM, VC_FORMAT_R8_UNORM,
    VC_FORMAT_RGBA16_SNORM, VC_FORMAT_RG16_SNORM, VC_FORMAT_RG8_SNORM, VC_FORMAT_R16_SNORM, VC_FORMAT_R8_SNORM,

    VC_FORMAT_RGBA32_I, VC_FORMAT_RGBA16_I, VC_FORMAT_RGBA8_I, VC_FORMAT_R32_I,
    VC_FORMAT_RG32_I, VC_FORMAT_RG16_I, VC_FORMAT_RG8_I, VC_FORMAT_R16_I, VC_FORMAT_R8_I,

    VC_FORMAT_RGBA32_U, VC_FORMAT_RGBA16_U, VC_FORMAT_RGBA8_U, VC_FORMAT_R32_U,
    VC_FORMAT_RGB10A2_U, VC_FORMAT_RG32_U, VC_FORMAT_RG16_U, VC_FORMAT_RG8_U, VC_FORMAT_R16_U, VC_FORMAT_R8_U
} vc_format;

typedef struct vc_image_desc {
    vc_dim dim;                     /* default: VC_DIM_2D */
    vc_type type;                   /* of a component in the kernel: VC_F32, VC_I32 or VC_U32; default: that of the
                                       format, VC_F32 without one */
    bool storage;                   /* storage image, loaded and stored by texel; default: sampled image with its
                                       sampler */
    vc_format format;               /* of a storage image; default: unspecified, which needs VC_FEATURE_IMAGE_READ to
                                       load and VC_FEATURE_IMAGE_WRITE to store */
    uint32_t access;                /* allowed accesses of a storage image: VC_READ, VC_WRITE or both, with VC_MAY_ALIAS
                                       if needed; default: VC_READ_WRITE. A sampled image is VC_READ */
    uint32_t count;                 /* an array of up to 1024 images, see vc_image_at; not for VC_DIM_BUFFER. Default:
                                       one image */
} vc_image_desc;

/* Memory allocation functions with the contracts of malloc, realloc and free. Set all three, or none to use those of
   the C library. */
typedef struct vc_allocator {
    void *(*allocate)(void *user, size_t size);                /* NULL: out of memory */
    void *(*reallocate)(void *user, void *block, size_t size); /* block: not NULL */
    void (*release)(void *user, void *block);                  /* block: not NULL */
    void *user;                                                /* passed to the functions */
} vc_allocator;

/* The machine that a kernel is compiled for. Zero: it has every feature, and no limit is checked. vd_machine returns
   the machine of a context. */
typedef struct vc_machine {
    uint64_t missing_features;      /* VC_FEATURE_ bits it does not have; a kernel that needs one fails */
    uint32_t max_groups[3];         /* work-groups of one launch along each axis; 0: unknown. If it is less than
                                       2^31 - 1, the runtime may split a dispatch into several launches, and ids need
                                       the implicit argument VC_IMPLICIT_GROUP_BASE */
    uint32_t max_local_size[3];     /* invocations of a work-group along each axis; 0: not checked */
    uint32_t max_local_invocations; /* invocations of a work-group; 0: not checked */
    uint32_t max_shared_bytes;      /* shared memory of a work-group in bytes; 0: not checked */
    uint32_t spirv_version;         /* 0x10300, 0x10400, 0x10500 or 0x10600; 0: 0x10300, accepted since Vulkan 1.1 */
    uint64_t max_private_bytes;     /* private memory of all invocations of a work-group in bytes: their arrays, and
                                       values kept across barriers. A kernel fails if its arrays alone exceed it; 0: not
                                       checked */
    bool debug;                     /* kernels are checked, see "Checked kernels"; vd_machine sets it in debug mode */
} vc_machine;

typedef struct vc_kernel_desc {
    const char *name;               /* copied; default: "kernel" */
    uint32_t local_size[3];         /* invocations of a work-group; trailing zeros mean 1; default: 128 x 1 x 1 */
    vc_machine machine;             /* default: every feature, no limits */
    vc_buffers buffers;             /* SPIR-V and GLSL only; default: VC_BUFFERS_DEFAULT */
    bool fast;                      /* allow contraction and less accurate functions, and ignore -0, infinities and NaN;
                                       default: results as the manual defines them */
    vc_allocator allocator;         /* default: malloc, realloc, free. vc_restart ignores it and keeps the first one */
    void (*error)(void *user, const char *message); /* see "Errors". Default: none */
    void *error_user;               /* passed to error */
    uint32_t threads[3];            /* launch size of vd_run(ctx, kernel, 0, ...); trailing zeros mean 1. Default:
                                       none */
    const char *threads_of;         /* instead of threads: name of a buffer, whose length in elements is the launch
                                       size; copied */
    bool checked;                   /* check the index of every access to memory; default: see "Checked kernels" */
    bool count_registers;           /* vd_kernel_build sets vd_kernel_desc.count_registers */
} vc_kernel_desc;

/* ---- info: arguments and required features of a kernel ---- */

typedef enum vc_arg_kind {
    VC_ARG_NONE = 0,
    VC_ARG_BINDING,                 /* buffer, bound as a storage buffer */
    VC_ARG_ADDRESS,                 /* buffer, by 64-bit address in the argument block */
    VC_ARG_VALUE,                   /* parameter, by value in the argument block */
    VC_ARG_IMAGE
} vc_arg_kind;

typedef struct vc_arg_info {
    const char *name;               /* as declared; may be NULL */
    vc_arg_kind kind;               /* how it is passed */
    vc_type type;                   /* of one element of a buffer (VC_NONE: any), of a value, of an image's component */
    uint32_t access;                /* of live code: VC_READ, VC_WRITE, both, or 0 if unused; values: 0 */
    uint32_t location;              /* binding number in set 0, or byte offset in the argument block */
    uint32_t size;                  /* bytes in the argument block: a value's size, 8 for an address or a CUDA image
                                       handle, 0 for a binding */
    uint32_t align;                 /* alignment in bytes: of a buffer's first byte, of a value in the block */
    bool may_alias;                 /* declared with VC_MAY_ALIAS */
    bool sampled;                   /* images: sampled (with a sampler unless it is a VC_DIM_BUFFER), else storage */
    vc_dim dim;                     /* images: dimension */
    vc_format format;               /* images: format; VC_FORMAT_NONE if sampled or unspecified */
    uint32_t count;                 /* images: elements of an array; 0: no array */
} vc_arg_info;

/* Implicit arguments: u32 fields of the argument block after the declared arguments, filled in by the runtime. */
typedef enum vc_implicit {
    VC_IMPLICIT_NONE = 0,
    VC_IMPLICIT_THREADS,            /* threads of the dispatch along `axis` */
    VC_IMPLICIT_GROUPS,             /* work-groups of the whole dispatch along `axis` */
    VC_IMPLICIT_GROUP_BASE,         /* first work-group of this launch along `axis`, if the dispatch was split */
    VC_IMPLICIT_LENGTH,             /* elements of buffer `arg`, at most 2^32 - 1. axis: 0, or the size of an element in
                                       bytes, if not that of the buffer's type */
    VC_IMPLICIT_SHAPE,              /* extent of buffer `arg` along `axis`, 0 to 3; of image `arg`: its size as in
                                       vc_image_size, and along axis 3, the number of levels */
    VC_IMPLICIT_OUTPUT              /* number of the first of vc_info.formats, at least 1. `arg`: the output buffer, the
                                       last argument, with elements of u32; room `derived` describes its contents */
} vc_implicit;

typedef struct vc_implicit_info {
    vc_implicit kind;               /* value that the runtime writes to the field */
    uint32_t arg;                   /* index into vc_info.args, for the kinds that refer to a buffer or an image */
    uint32_t axis;                  /* for the kinds that have one */
    uint32_t offset;                /* byte offset in the argument block */
} vc_implicit_info;

typedef struct vc_info {
    const char *name;               /* of the kernel */
    const char *entry;              /* function name: "main" in SPIR-V and GLSL; in CUDA C and OpenCL C the first
                                       28 characters of the kernel's name, converted to an identifier, with the prefix
                                       "kernel_" if that is reserved or starts with no letter */
    const vc_arg_info *args;        /* in order of declaration; the output buffer is last */
    int arg_count;                  /* of args */
    const vc_implicit_info *implicit; /* implicit arguments */
    int implicit_count;             /* length of implicit */
    uint32_t argument_bytes;        /* size of the argument block in bytes, implicit arguments included; a multiple of
                                       4, in CUDA C and OpenCL C of 8 if a field has that alignment */
    uint32_t local_size[3];         /* invocations of a work-group */
    uint32_t shared_bytes;          /* shared memory of a work-group; an upper bound that counts vectors of 3 as 4 */
    uint64_t features;              /* VC_FEATURE_ bits the code needs */
    uint32_t operations;            /* recorded */
    uint32_t live_operations;       /* in the generated code: after lowering and dead-code elimination */
    const char *const *formats;     /* operand types, then the text. Of vc_printf: "f32 u32x2:a %f b %u"; of vc_assert:
                                       "assert:text"; of the checks of a checked kernel: "check i64 u32:text" */
    int format_count;               /* of formats */
    uint32_t axes;                  /* bit i: the code reads an id along axis i: a global, local or group id or, if
                                       local_size[i] is not 1, vc_local_index or an id of subgroups. The ids that
                                       vc_printf, vc_assert and checks report do not count */
} vc_info;

/* ---- kernels ---- */

/* Starts recording a kernel. desc is copied; NULL means all defaults. Returns NULL only if out of memory. */
VC_API vc_kernel *vc_begin(const vc_kernel_desc *desc);

/* Discards the kernel and starts another one in its memory. Values, references, types and texts of the old one become
   invalid. */
VC_API void vc_restart(vc_kernel *k, const vc_kernel_desc *desc);

/* Releases the kernel and everything it owns. NULL is allowed. */
VC_API void vc_free(vc_kernel *k);

/* Returns the first error in one sentence, or NULL. Also reports a block that is still open. The text stays valid until
   the next call on k. */
VC_API const char *vc_error(vc_kernel *k);

/* Returns the invocations of a work-group, the product of vc_kernel_desc.local_size; 0 if k is NULL. */
VC_API uint32_t vc_invocations(const vc_kernel *k);

/* vc_spirv, vc_source, vc_reflect, vc_reflect_for and vc_hash generate their output on first use and keep it until the
   kernel is changed, restarted or freed. They and vc_dump return NULL (vc_hash: 0) if the kernel has an error. They
   fail if the code needs a feature that the machine lacks, exceeds a limit, or contains an operation that the target
   cannot express. Except where stated below, such a failure is a permanent error of the kernel. */

/* Returns the SPIR-V module, in words of the host's byte order; *words, unless NULL, receives their number. */
VC_API const uint32_t *vc_spirv(vc_kernel *k, size_t *words);

/* Returns the source text for VC_TARGET_GLSL, VC_TARGET_CUDA or VC_TARGET_OPENCL. Returns NULL for any other target and
   for a target omitted by VKDISPATCH_NO_…; the kernel stays usable, and vc_error reports this until the next call of
   one of these functions. */
VC_API const char *vc_source(vc_kernel *k, vc_target target);

/* Returns the declarations and the live operations before lowering, one per line, for debugging. Does not check the
   features and limits of the machine. The format may change. */
VC_API const char *vc_dump(vc_kernel *k);

/* Returns arguments and required features for SPIR-V and GLSL. */
VC_API const vc_info *vc_reflect(vc_kernel *k);

/* Returns arguments and required features for a target. CUDA C: buffers are addresses; OpenCL C: buffers are bindings.
   Fails as vc_source does for a target that does not exist or is omitted. */
VC_API const vc_info *vc_reflect_for(vc_kernel *k, vc_target target);

/* Returns a 64-bit hash of the SPIR-V and, unless omitted, the GLSL, for each vc_buffers mode that the machine
   supports. */
VC_API uint64_t vc_hash(vc_kernel *k);

/* Returns the size in memory of a type without a kernel, in bytes; 0 if it is not a type. */
VC_API uint32_t vc_type_size(vc_type type);

/* Returns a type's name, such as "f32x4"; "struct" for a VC_STRUCT; "none" for any other number, including the types
   that vc_struct and vc_array_type return. */
VC_API const char *vc_type_name(vc_type type);

/* ---- types of a kernel, with C's layout ---- */

/* Returns a struct type. Calls with equal members (names, types and order) return the same type, even if `name`
   differs. members: 1 to 4096, copied, of any type of the kernel. name: copied, for readers of generated code and
   messages; may be NULL. Returns VC_NONE after an error. */
VC_API vc_type vc_struct(vc_kernel *k, const char *name, const vc_member *members, uint32_t count);

/* Returns an array type. Calls with equal element and count return the same type. count: 1 or more. Returns VC_NONE
   after an error. */
VC_API vc_type vc_array_type(vc_kernel *k, vc_type element, uint32_t count);

/* Returns the size of any type of the kernel in bytes; 0 if it is not one. */
VC_API uint32_t vc_size_of(vc_kernel *k, vc_type type);

/* Returns the byte offset of part `member` (from 0): a member of a struct, an element of an array, a column of a
   matrix, a component of a vector, the real or imaginary part of a complex number. Returns 0 after an error. */
VC_API uint32_t vc_offset_of(vc_kernel *k, vc_type type, uint32_t member);

/* ---- arguments and memory ----
   Declarations are statements. Names need not be unique; they appear in messages and generated code, and may be
   NULL. */

/* Declares a buffer argument. access: the accesses allowed, VC_READ, VC_WRITE or both, with VC_MAY_ALIAS and
   VC_ANY_TYPE if needed; loads and stores beyond them are errors. */
VC_API vc_ref vc_buffer(vc_kernel *k, const char *name, vc_type type, uint32_t access);

/* Declares an argument passed by value. */
VC_API vc_val vc_param(vc_kernel *k, const char *name, vc_type type);

/* Declares a variable of each invocation. It is set to zero whenever control flow reaches the declaration. */
VC_API vc_ref vc_var(vc_kernel *k, const char *name, vc_type type);

/* Declares a private array of each invocation. Contents are undefined until stored. */
VC_API vc_ref vc_array(vc_kernel *k, const char *name, vc_type type, uint32_t count);

/* Declares an array shared by the invocations of a work-group. Contents are undefined until stored. */
VC_API vc_ref vc_shared(vc_kernel *k, const char *name, vc_type type, uint32_t count);

/* Declares a constant array. data: `count` elements in C's layout, copied. */
VC_API vc_ref vc_table(vc_kernel *k, const char *name, vc_type type, const void *data, uint32_t count);

/* In the functions below, an index is a scalar integer of 32 or 64 bits, or any integer immediate. */

/* Adds an offset, in elements, to a reference. Run-time indices of the same type are added in that type, and the sum
   wraps as that type does; others are added as i64 (i32 without VC_FEATURE_I64). */
VC_API vc_ref vc_offset(vc_ref ref, vc_val elements);

/* Reads element `index`. */
VC_API vc_val vc_load(vc_ref ref, vc_val index);

/* Reads element `index` if `condition` (a scalar bool) holds; otherwise reads and discards element 0, which must exist,
   and returns `other`. That is element 0 of the buffer or array, even if vc_offset has moved `ref`; if `ref` refers to
   an array inside an element, it is element 0 of that array. The indices passed to vc_at to make `ref` must be in range
   in any case. */
VC_API vc_val vc_load_or(vc_ref ref, vc_val index, vc_val condition, vc_val other);

/* Writes element `index`. value: of the element type; immediates are converted and scalars repeated, see Types. */
VC_API void vc_store(vc_ref ref, vc_val index, vc_val value);

/* Reads a variable, or the element that ref refers to. */
VC_API vc_val vc_get(vc_ref ref);

/* Writes a variable, or the element that ref refers to. */
VC_API void vc_set(vc_ref ref, vc_val value);

/* Returns a reference to element i of a buffer or array. If ref already refers to an element, that element must be an
   array, and the result refers to its element i. */
VC_API vc_ref vc_at(vc_ref ref, vc_val i);

/* Returns a reference to a part of one element: a member of a struct, a column of a matrix, part 0 (real) or 1
   (imaginary) of a complex number. There are no references to the components of a vector: load it and use vc_component
   or vc_insert. */
VC_API vc_ref vc_field(vc_ref ref, uint32_t member);

/* Writes component i of a variable that is a vector, or of a vector in a private array. Not for buffers and shared
   arrays: the whole vector is loaded and stored, so two invocations that write different components would conflict. Use
   elements of the scalar type there; vc_as refers to a buffer in this way. */
VC_API void vc_set_component(vc_ref ref, uint32_t i, vc_val value);

/* Returns a reference to the memory of a whole buffer as elements of another scalar or vector type except bool, from
   its first byte on: u8 as u64, f32 as u32, structs as f32. The buffer must start at a multiple of the size of the
   type. vc_length of the reference counts elements of that type. */
VC_API vc_ref vc_as(vc_ref buffer, vc_type type);

/* ---- atomics and fences ----
   Statements. ref: a buffer or shared array with elements of i32, u32, i64, u64, f32 or f64. *old, unless NULL,
   receives the value before the operation. Access: VC_READ_WRITE; vc_atomic_load: VC_READ; vc_atomic_store:
   VC_WRITE. */

typedef enum vc_order { VC_RELAXED = 0, VC_ACQUIRE = 1, VC_RELEASE = 2, VC_ACQ_REL = 3 } vc_order;
typedef enum vc_scope {
    VC_SCOPE_DEFAULT = 0, /* see the functions */
    VC_SCOPE_SUBGROUP,
    VC_SCOPE_WORKGROUP,
    VC_SCOPE_DEVICE
} vc_scope;
enum { /* kinds of memory that a fence or barrier orders; bits */
    VC_STORAGE_BUFFER = 1, /* buffers and storage images */
    VC_STORAGE_SHARED = 2  /* shared arrays */
};

VC_API void vc_atomic_add(vc_ref ref, vc_val index, vc_val value, vc_val *old);
VC_API void vc_atomic_sub(vc_ref ref, vc_val index, vc_val value, vc_val *old);
VC_API void vc_atomic_min(vc_ref ref, vc_val index, vc_val value, vc_val *old); /* as vc_min: ignores a NaN */
VC_API void vc_atomic_max(vc_ref ref, vc_val index, vc_val value, vc_val *old); /* as vc_max: ignores a NaN */
VC_API void vc_atomic_and(vc_ref ref, vc_val index, vc_val value, vc_val *old); /* integers */
VC_API void vc_atomic_or(vc_ref ref, vc_val index, vc_val value, vc_val *old);  /* integers */
VC_API void vc_atomic_xor(vc_ref ref, vc_val index, vc_val value, vc_val *old); /* integers */
VC_API void vc_atomic_exchange(vc_ref ref, vc_val index, vc_val value, vc_val *old);

/* Stores `desired` if the element equals `expected`. Floats are compared by their bits. */
VC_API void vc_atomic_compare_exchange(vc_ref ref, vc_val index, vc_val expected, vc_val desired, vc_val *old);

VC_API void vc_atomic_load(vc_ref ref, vc_val index, vc_val *value);
VC_API void vc_atomic_store(vc_ref ref, vc_val index, vc_val value);

/* Returns a reference to the same memory whose atomics have a memory order: vc_atomic_add(vc_ordered(x,
   VC_RELEASE, VC_SCOPE_DEFAULT), …). Such an atomic orders all accesses to buffers and shared memory. Default scope:
   the device for buffers, the work-group for shared arrays. */
VC_API vc_ref vc_ordered(vc_ref ref, vc_order order, vc_scope scope);

/* Acquire-release fence for the memory in `storage` (VC_STORAGE_ bits; 0: both). Default scope: the device if buffers
   are included, else the work-group. In OpenCL C the scope is ignored, and version 1.2 guarantees the order only for
   the accesses of the invocation itself. */
VC_API void vc_fence(vc_kernel *k, vc_scope scope, uint32_t storage);

/* ---- images ----
   Coordinates `at` have one component for each dimension, then the layer (see vc_dim). Sampling requires f32: 0 to 1
   along each axis of the image, or a direction for a cube; the layer counts from 0. Texel access requires i32 or u32,
   in texels. Texels have four components; those that the format does not have are 0, but the fourth is 1 (of sampled
   images in CUDA C: 0). A level of detail is a scalar. */

/* Declares an image argument; a sampled image includes its sampler. desc: NULL means all defaults. */
VC_API vc_image_ref vc_image(vc_kernel *k, const char *name, const vc_image_desc *desc);

/* Samples level 0. */
VC_API vc_val vc_sample(vc_image_ref image, vc_val at);

/* Samples level `lod`, an f32; immediates are converted. */
VC_API vc_val vc_sample_lod(vc_image_ref image, vc_val at, vc_val lod);

/* Samples the level that the derivatives of `at` select. dx, dy: f32, components as `at` without the layer. */
VC_API vc_val vc_sample_grad(vc_image_ref image, vc_val at, vc_val dx, vc_val dy);

/* Samples level `lod` at an offset in texels, -8 to 7 along each axis; 0 along axes that the image does not have. */
VC_API vc_val vc_sample_offset(vc_image_ref image, vc_val at, vc_val lod, int32_t x, int32_t y, int32_t z);

/* Returns component `component` (0 to 3) of the four texels that linear filtering would mix. 2-D, 2-D array and cube
   only. */
VC_API vc_val vc_gather(vc_image_ref image, vc_val at, uint32_t component);

/* Reads one texel of a sampled image or texel buffer without its sampler; not of a cube. level: i32 or u32; for a texel
   buffer the immediate 0. */
VC_API vc_val vc_fetch(vc_image_ref image, vc_val at, vc_val level);

/* Reads one texel of a storage image declared with VC_READ. */
VC_API vc_val vc_image_load(vc_image_ref image, vc_val at);

/* Writes one texel of a storage image declared with VC_WRITE. value: four components of the image's type, or a
   scalar. */
VC_API void vc_image_store(vc_image_ref image, vc_val at, vc_val value);

/* Returns the size of a level in texels, then the number of layers, as u32 (see vc_dim). level: as for vc_fetch; for a
   storage image the immediate 0. */
VC_API vc_val vc_image_size(vc_image_ref image, vc_val level);

/* Returns an element of an array of images (vc_image_desc.count), for the functions above. index: i32 or u32 less than
   count, otherwise the result is undefined. An index that is not constant needs VC_FEATURE_BINDLESS. */
VC_API vc_image_ref vc_image_at(vc_image_ref images, vc_val index);

/* Returns the number of levels of a sampled image that is not a texel buffer, a u32. */
VC_API vc_val vc_image_levels(vc_image_ref image);

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
VC_API vc_val vc_imm(vc_type scalar, uint64_t bits);            /* immediate by its bit pattern */
VC_API vc_val vc_const(vc_kernel *k, vc_val v);                 /* an immediate as a value of the kernel; any other
                                                                   value is returned unchanged */
VC_API vc_type vc_typeof(vc_val v);                             /* VC_NONE if v was never set, was created before
                                                                   vc_restart or is the result of a failed call */
VC_API vc_val vc_vec2(vc_val x, vc_val y);                      /* vector of scalars of one type */
VC_API vc_val vc_vec3(vc_val x, vc_val y, vc_val z);
VC_API vc_val vc_vec4(vc_val x, vc_val y, vc_val z, vc_val w);

/* Returns the vector whose components are those of the parts, in order. The parts are scalars and vectors with the same
   scalar type, and 2 to 4 components in total. All parts may be immediates. vc_vec(k, x, y, …) is a short form. */
VC_API vc_val vc_vec_of(vc_kernel *k, const vc_val *parts, uint32_t count);
#ifndef __cplusplus
#define vc_vec(k, ...) \
    vc_vec_of(k, (const vc_val[]){ __VA_ARGS__ }, (uint32_t)(sizeof((const vc_val[]){ __VA_ARGS__ }) / sizeof(vc_val)))
#endif

VC_API vc_val vc_splat(vc_val scalar, uint32_t components);     /* that many equal components; 1: the scalar itself */
VC_API vc_val vc_component(vc_val vector, uint32_t i);          /* component i; of a scalar: component 0 */
VC_API vc_val vc_extract(vc_val vector, vc_val i);              /* i of any integer type; component 0 if out of range */
VC_API vc_val vc_insert(vc_val vector, uint32_t i, vc_val scalar); /* the vector with component i replaced */
VC_API vc_val vc_swizzle(vc_val vector, const char *components);/* 1 to 4 letters of xyzw, such as "zyx" */

/* Converts by value. type: a scalar type, or a vector type with as many components; a scalar is repeated. Also converts
   a real number to complex, between complex types, and between matrices of equal shape. See Meaning of operations. */
VC_API vc_val vc_cast(vc_type type, vc_val v);

/* Reinterprets the bits of each component as another type of equal width. Not for bool. */
VC_API vc_val vc_bitcast(vc_type type, vc_val v);

/* ---- composite values ----
   The parts of a value are a struct's members, an array's elements, a matrix's columns, or a complex number's real and
   imaginary part. */

/* Returns a value of `type` from all of its parts, or a vector from its components. */
VC_API vc_val vc_make(vc_kernel *k, vc_type type, const vc_val *parts, uint32_t count);

VC_API vc_val vc_part(vc_val v, uint32_t i);                    /* part i */
VC_API vc_val vc_with(vc_val v, uint32_t i, vc_val part);       /* v with part i replaced */
VC_API vc_val vc_complex(vc_val re, vc_val im);                 /* of two floats of one type */
VC_API vc_val vc_polar(vc_val radius, vc_val angle);            /* radius * e^(i angle); angle in radians */
VC_API vc_val vc_re(vc_val z);                                  /* real part */
VC_API vc_val vc_im(vc_val z);                                  /* imaginary part */
VC_API vc_val vc_conj(vc_val z);                                /* complex conjugate */
VC_API vc_val vc_arg(vc_val z);                                 /* angle in radians, -pi to pi; 0 for z = 0 */
VC_API vc_val vc_transpose(vc_val m);
VC_API vc_val vc_determinant(vc_val m);                         /* of a square matrix */
VC_API vc_val vc_inverse(vc_val m);                             /* of a square matrix; infinite or NaN if singular */
VC_API vc_val vc_outer(vc_val a, vc_val b);                     /* matrix with columns a * b[i]; vectors of f32 or
                                                                   f64 */

/* ---- arithmetic ----
   Componentwise. The first word is the operand type: num: any number; int: integer; flt: float; bool. Operands have one
   type (see Types). Special values and rounding: see Meaning of operations and Accuracy. */

VC_API vc_val vc_neg(vc_val a);                                 /* num: -a */
VC_API vc_val vc_add(vc_val a, vc_val b);                       /* num: a + b */
VC_API vc_val vc_sub(vc_val a, vc_val b);                       /* num: a - b */
VC_API vc_val vc_mul(vc_val a, vc_val b);                       /* num: a * b */
VC_API vc_val vc_div(vc_val a, vc_val b);                       /* num: a / b; integers toward zero */
VC_API vc_val vc_rem(vc_val a, vc_val b);                       /* num: remainder with the sign of a, as C's %; floats
                                                                   can differ from fmod by |b|, see Accuracy */
VC_API vc_val vc_mod(vc_val a, vc_val b);                       /* num: remainder with the sign of b */
VC_API vc_val vc_fma(vc_val a, vc_val b, vc_val c);             /* num: a * b + c */
VC_API vc_val vc_abs(vc_val a);                                 /* num: |a| */
VC_API vc_val vc_sign(vc_val a);                                /* num: -1, 0 or 1; 0 for NaN */
VC_API vc_val vc_min(vc_val a, vc_val b);                       /* num */
VC_API vc_val vc_max(vc_val a, vc_val b);                       /* num */
VC_API vc_val vc_clamp(vc_val x, vc_val low, vc_val high);      /* num: min(max(x, low), high) */
VC_API vc_val vc_mix(vc_val a, vc_val b, vc_val t);             /* flt: a * (1 - t) + b * t */
VC_API vc_val vc_step(vc_val edge, vc_val x);                   /* flt: x < edge ? 0 : 1 */
VC_API vc_val vc_floor(vc_val a);                               /* flt: to an integer, downward */
VC_API vc_val vc_ceil(vc_val a);                                /* flt: to an integer, upward */
VC_API vc_val vc_trunc(vc_val a);                               /* flt: to an integer, toward zero */
VC_API vc_val vc_round(vc_val a);                               /* flt: to the nearest integer, halves to even */
VC_API vc_val vc_fract(vc_val a);                               /* flt: a - floor(a) */
VC_API vc_val vc_sqrt(vc_val a);                                /* flt */
VC_API vc_val vc_rsqrt(vc_val a);                               /* flt: 1 / sqrt(a) */
VC_API vc_val vc_exp(vc_val a);                                 /* flt: e^a */
VC_API vc_val vc_exp2(vc_val a);                                /* flt: 2^a */
VC_API vc_val vc_log(vc_val a);                                 /* flt: natural logarithm */
VC_API vc_val vc_log2(vc_val a);                                /* flt: logarithm to base 2 */
VC_API vc_val vc_pow(vc_val a, vc_val b);                       /* flt: a^b */
VC_API vc_val vc_sin(vc_val a);                                 /* flt; angles are in radians */
VC_API vc_val vc_cos(vc_val a);
VC_API vc_val vc_tan(vc_val a);
VC_API vc_val vc_asin(vc_val a);
VC_API vc_val vc_acos(vc_val a);
VC_API vc_val vc_atan(vc_val a);
VC_API vc_val vc_atan2(vc_val y, vc_val x);                     /* flt: angle of the point (x, y), -pi to pi */
VC_API vc_val vc_sinh(vc_val a);
VC_API vc_val vc_cosh(vc_val a);
VC_API vc_val vc_tanh(vc_val a);
VC_API vc_val vc_isnan(vc_val a);                               /* flt to bool */
VC_API vc_val vc_isinf(vc_val a);                               /* flt to bool */
VC_API vc_val vc_dot(vc_val a, vc_val b);                       /* num: vectors to a scalar; fma, component 0 first */

/* ---- more functions of floats (flt), computed by the functions above; f16 is computed in f32 ---- */

VC_API vc_val vc_asinh(vc_val a);
VC_API vc_val vc_acosh(vc_val a);                               /* NaN below 1 */
VC_API vc_val vc_atanh(vc_val a);                               /* NaN outside of [-1, 1] */
VC_API vc_val vc_exp10(vc_val a);                               /* 10^a */
VC_API vc_val vc_log10(vc_val a);
VC_API vc_val vc_cbrt(vc_val a);                                /* cube root */
VC_API vc_val vc_hypot(vc_val a, vc_val b);                     /* sqrt(a * a + b * b) without intermediate overflow;
                                                                   infinite if an operand is */
VC_API vc_val vc_erf(vc_val a);                                 /* error function */
VC_API vc_val vc_radians(vc_val degrees);
VC_API vc_val vc_degrees(vc_val radians);
VC_API vc_val vc_saturate(vc_val a);                            /* clamp(a, 0, 1); 0 for NaN */
VC_API vc_val vc_smoothstep(vc_val low, vc_val high, vc_val x); /* 0 below low, 1 above high, t * t * (3 - 2 * t)
                                                                   between, t = (x - low) / (high - low); low < high */
VC_API vc_val vc_ldexp(vc_val a, vc_val exponent);              /* a * 2^exponent; exponent: any integer type */

/* a = mantissa * 2^exponent with 0.5 <= |mantissa| < 1. 0, infinities and NaN have themselves as mantissa and exponent
   0. Subnormal f32 and f64 are treated as 0. The exponent is i32. */
VC_API vc_val vc_frexp_mantissa(vc_val a);
VC_API vc_val vc_frexp_exponent(vc_val a);

VC_API vc_val vc_modf_fract(vc_val a);                          /* a - trunc(a); 0 for infinities */

/* ---- geometry: vectors of floats; a scalar is a vector of one component ---- */

VC_API vc_val vc_norm(vc_val a);                                /* Euclidean length: sqrt(dot(a, a)) */
VC_API vc_val vc_distance(vc_val a, vc_val b);                  /* norm(a - b) */
VC_API vc_val vc_normalize(vc_val a);                           /* a * rsqrt(dot(a, a)); NaN for the zero vector */
VC_API vc_val vc_cross(vc_val a, vc_val b);                     /* cross product of vectors of 3 components */
VC_API vc_val vc_faceforward(vc_val n, vc_val i, vc_val reference); /* dot(reference, i) < 0 ? n : -n */
VC_API vc_val vc_reflect_vector(vc_val i, vc_val n);            /* GLSL's reflect: i - 2 * dot(n, i) * n */
VC_API vc_val vc_refract(vc_val i, vc_val n, vc_val eta);       /* i, n: unit vectors; eta: scalar, ratio of refractive
                                                                   indices; 0 for total reflection */

/* ---- bits and conditions ---- */

VC_API vc_val vc_not(vc_val a);                                 /* bool, int */
VC_API vc_val vc_and(vc_val a, vc_val b);                       /* bool, int */
VC_API vc_val vc_or(vc_val a, vc_val b);                        /* bool, int */
VC_API vc_val vc_xor(vc_val a, vc_val b);                       /* bool, int */
VC_API vc_val vc_shl(vc_val a, vc_val count);                   /* int; count: any integer type, modulo the width */
VC_API vc_val vc_shr(vc_val a, vc_val count);                   /* int; arithmetic if a is signed */
VC_API vc_val vc_eq(vc_val a, vc_val b);                        /* bool, num to bool; comparisons with NaN are false */
VC_API vc_val vc_ne(vc_val a, vc_val b);                        /* bool, num to bool; true if an operand is NaN */
VC_API vc_val vc_lt(vc_val a, vc_val b);                        /* num to bool: a < b */
VC_API vc_val vc_le(vc_val a, vc_val b);                        /* num to bool: a <= b */
VC_API vc_val vc_gt(vc_val a, vc_val b);                        /* num to bool: a > b */
VC_API vc_val vc_ge(vc_val a, vc_val b);                        /* num to bool: a >= b */

/* condition ? a : b. Both are evaluated. condition: a scalar bool, or a vector with one bool for each component. */
VC_API vc_val vc_select(vc_val condition, vc_val a, vc_val b);

VC_API vc_val vc_any(vc_val a);                                 /* bool vector to bool: one or more are true */
VC_API vc_val vc_all(vc_val a);                                 /* bool vector to bool: all are true */

/* ---- more functions of integers: componentwise; counts and offsets have any integer type ---- */

VC_API vc_val vc_popcount(vc_val a);                            /* number of 1 bits */
VC_API vc_val vc_clz(vc_val a);                                 /* leading zeros; the width for 0 */
VC_API vc_val vc_ctz(vc_val a);                                 /* trailing zeros; the width for 0 */
VC_API vc_val vc_find_lsb(vc_val a);                            /* index of the lowest 1 bit, -1 for 0; signed */
VC_API vc_val vc_find_msb(vc_val a);                            /* index of the highest 1 bit, for a < 0 of the highest
                                                                   0 bit; -1 for 0 and -1; signed */
VC_API vc_val vc_bit_reverse(vc_val a);
VC_API vc_val vc_byte_swap(vc_val a);
VC_API vc_val vc_rotl(vc_val a, vc_val count);                  /* rotate left; count modulo the width */
VC_API vc_val vc_rotr(vc_val a, vc_val count);                  /* rotate right */

/* Bit fields: `count` bits from bit `offset` (modulo the width) on, cut off at the top of the type. */
VC_API vc_val vc_bitfield_extract(vc_val a, vc_val offset, vc_val count);     /* sign-extended if a is signed */
VC_API vc_val vc_bitfield_insert(vc_val a, vc_val b, vc_val offset, vc_val count); /* a, the field set to b */

VC_API vc_val vc_mul_hi(vc_val a, vc_val b);                    /* upper half of the double-width product */
VC_API vc_val vc_add_carry(vc_val a, vc_val b);                 /* carry of the unsigned sum a + b, 0 or 1 */
VC_API vc_val vc_sub_borrow(vc_val a, vc_val b);                /* borrow of the unsigned difference a - b, 0 or 1 */

/* Return the word a + b + carry_in, or a - b - borrow_in, of unsigned integers. *carry_out, *borrow_out, unless NULL:
   carry or borrow, 0 or 1, as carry_in and borrow_in must be. */
VC_API vc_val vc_add_with_carry(vc_val a, vc_val b, vc_val carry_in, vc_val *carry_out);
VC_API vc_val vc_sub_with_borrow(vc_val a, vc_val b, vc_val borrow_in, vc_val *borrow_out);

VC_API vc_val vc_abs_diff(vc_val a, vc_val b);                  /* |a - b| without overflow; unsigned, width of a */
VC_API vc_val vc_add_sat(vc_val a, vc_val b);                   /* a + b, saturated to the type */
VC_API vc_val vc_sub_sat(vc_val a, vc_val b);                   /* a - b, saturated to the type */
VC_API vc_val vc_average(vc_val a, vc_val b);                   /* (a + b) / 2, rounded down; the sum does not wrap */
VC_API vc_val vc_cast_sat(vc_type type, vc_val v);              /* vc_cast; integers are saturated to an integer type */

/* ---- packing: the first component is in the lowest bits ---- */

VC_API vc_val vc_pack_half2(vc_val v);                          /* f32x2 to u32: two f16, rounded to nearest even; with
                                                                   `fast` rounded as the device does it */
VC_API vc_val vc_unpack_half2(vc_val v);                        /* u32 to f32x2 */
VC_API vc_val vc_round_f16(vc_val v);                           /* f32 rounded to an f16 number, as f32; needs no f16 */
VC_API vc_val vc_pack_snorm4x8(vc_val v);                       /* f32x4 to u32: round(clamp(v, -1, 1) * 127); NaN:
                                                                   -127 */
VC_API vc_val vc_pack_unorm4x8(vc_val v);                       /* f32x4 to u32: round(clamp(v, 0, 1) * 255); NaN: 0 */
VC_API vc_val vc_pack_snorm2x16(vc_val v);                      /* f32x2 to u32, as snorm4x8 with 32767 */
VC_API vc_val vc_pack_unorm2x16(vc_val v);                      /* f32x2 to u32, as unorm4x8 with 65535 */
VC_API vc_val vc_unpack_snorm4x8(vc_val v);                     /* u32 to f32x4 in [-1, 1] */
VC_API vc_val vc_unpack_unorm4x8(vc_val v);                     /* u32 to f32x4 in [0, 1] */
VC_API vc_val vc_unpack_snorm2x16(vc_val v);                    /* u32 to f32x2 in [-1, 1] */
VC_API vc_val vc_unpack_unorm2x16(vc_val v);                    /* u32 to f32x2 in [0, 1] */
VC_API vc_val vc_pack_4x8(vc_val v);                            /* i32x4 or u32x4 to u32: the low 8 bits of each */
VC_API vc_val vc_unpack_4xi8(vc_val v);                         /* u32 to i32x4, sign-extended */
VC_API vc_val vc_unpack_4xu8(vc_val v);                         /* u32 to u32x4 */
VC_API vc_val vc_pack_2x32(vc_type type, vc_val v);             /* u32x2 to i64, u64 or f64, by bits */
VC_API vc_val vc_unpack_2x32(vc_val v);                         /* i64, u64 or f64 to u32x2, by bits */

/* ---- dot products of four 8-bit integers packed in a u32 ----
   Exact, before saturation. One instruction in SPIR-V with VC_FEATURE_DOT_4X8. In CUDA C from compute capability 6.1
   on, the dot product is one instruction, and _sat adds a saturating addition. Otherwise computed byte by byte. */

VC_API vc_val vc_dot_4xi8(vc_val a, vc_val b);                  /* signed bytes; i32 */
VC_API vc_val vc_dot_4xu8(vc_val a, vc_val b);                  /* unsigned bytes; u32 */
VC_API vc_val vc_dot_4xi8_4xu8(vc_val a, vc_val b);             /* bytes of a signed, of b unsigned; i32 */
VC_API vc_val vc_dot_4xi8_sat(vc_val a, vc_val b, vc_val sum);  /* sum + dot, saturated to i32 */
VC_API vc_val vc_dot_4xu8_sat(vc_val a, vc_val b, vc_val sum);  /* sum + dot, saturated to u32 */
VC_API vc_val vc_dot_4xi8_4xu8_sat(vc_val a, vc_val b, vc_val sum); /* sum + dot, saturated to i32 */

/* ---- indices of arrays with 1 to 4 axes, in C order (last axis contiguous): u32 or vectors of it ---- */

VC_API vc_val vc_ravel(vc_val indices, vc_val shape);           /* multi-dimensional to linear: (x * shape.y + y) *
                                                                   shape.z + z; the first extent is not used */
VC_API vc_val vc_unravel(vc_val index, vc_val shape);           /* linear to multi-dimensional; fast if shape is
                                                                   constant */

/* ---- random numbers and hashes: pure functions, equal operands give equal results ---- */

/* Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011). counter: u32x4,
   key: u32x2; returns u32x4. */
VC_API vc_val vc_philox(vc_val counter, vc_val key);

/* Uniform numbers of [0, 1): an f16, f32 or f64 `type` from the top 11, 24 or 53 bits of each u32 or u64 component (all
   bits if it has fewer). */
VC_API vc_val vc_uniform(vc_type type, vc_val bits);

/* Standard normal numbers by the Box-Muller transform: u32x2 to f32x2, u32x4 to f32x4, u64x2 to f64x2, u64x4 to
   f64x4. */
VC_API vc_val vc_normal(vc_val bits);

/* Hash of each component. u32: PCG RXS-M-XS (Jarzynski, Olano: Hash functions for GPU rendering; JCGT 2020). u64:
   splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators; OOPSLA 2014). */
VC_API vc_val vc_hash_bits(vc_val v);

/* ---- ids and sizes: u32 scalars; axis: 0 to 2 ---- */

VC_API vc_val vc_global_id(vc_kernel *k, uint32_t axis);        /* group id * local size + local id */
VC_API vc_val vc_local_id(vc_kernel *k, uint32_t axis);         /* of the invocation in its work-group */
VC_API vc_val vc_group_id(vc_kernel *k, uint32_t axis);         /* of the work-group in the dispatch */
VC_API vc_val vc_local_index(vc_kernel *k);                     /* local ids as one number, axis 0 fastest */
VC_API vc_val vc_local_size(vc_kernel *k, uint32_t axis);       /* invocations of a work-group along the axis, a
                                                                   constant */
VC_API vc_val vc_groups(vc_kernel *k, uint32_t axis);           /* work-groups of the dispatch along the axis */
VC_API vc_val vc_threads(vc_kernel *k, uint32_t axis);          /* threads that the dispatch specifies along the
                                                                   axis; if it specifies work-groups, groups * local
                                                                   size */
VC_API vc_val vc_length(vc_ref ref);                            /* elements of the whole buffer or array, at most 2^32 -
                                                                   1; of an array inside an element: its elements. A
                                                                   constant unless ref is a buffer */
VC_API vc_val vc_shape(vc_ref buffer, uint32_t axis);           /* vd_buffer_desc.shape[axis] of the buffer passed:
                                                                   elements of its type. axis: 0 to 3; the last
                                                                   one is contiguous */

/* ---- subgroups ----
   See Subgroups in the manual for where they are allowed. Values are scalars or vectors. "Active" invocations are those
   of the subgroup that execute the operation. */

/* Operation of a reduction or scan. */
typedef enum vc_combine {
    VC_COMBINE_NONE = 0,
    VC_ADD, VC_MUL, VC_MIN, VC_MAX, /* numbers */
    VC_AND, VC_OR, VC_XOR           /* bools and integers */
} vc_combine;

VC_API vc_val vc_subgroup_size(vc_kernel *k);                    /* u32; 1 if the target has no subgroups */
VC_API vc_val vc_subgroup_id(vc_kernel *k);                      /* u32: of the subgroup in its work-group */
VC_API vc_val vc_subgroup_count(vc_kernel *k);                   /* u32: subgroups of the work-group */
VC_API vc_val vc_subgroup_local_id(vc_kernel *k);                /* u32: of the invocation in its subgroup; need not
                                                                    increase with vc_local_index */
VC_API vc_val vc_subgroup_elect(vc_kernel *k);                   /* bool: true for one active invocation; in divergent
                                                                    control flow see the manual */
VC_API vc_val vc_subgroup_any(vc_val condition);                 /* bool: true in an active invocation */
VC_API vc_val vc_subgroup_all(vc_val condition);                 /* bool: true in all active invocations */
VC_API vc_val vc_subgroup_all_equal(vc_val v);                   /* bool: v is equal in all active invocations; floats
                                                                    are compared by their bits */
VC_API vc_val vc_subgroup_ballot(vc_val condition);              /* u32x4: bit i is the condition of local id i; 0 if
                                                                    that invocation is not active */

/* Number of bits set in a ballot, as u32. */
VC_API vc_val vc_subgroup_ballot_count(vc_val ballot);           /* of the whole subgroup */
VC_API vc_val vc_subgroup_ballot_inclusive(vc_val ballot);       /* of local ids up to the invocation's own */
VC_API vc_val vc_subgroup_ballot_exclusive(vc_val ballot);       /* of local ids below the invocation's own */

/* Values of other invocations, which must be active. local_id, mask, delta: u32. "Uniform" means within the
   subgroup. */
VC_API vc_val vc_subgroup_broadcast(vc_val v, vc_val local_id);  /* of local_id, which must be uniform */
VC_API vc_val vc_subgroup_broadcast_first(vc_val v);             /* of the active invocation with the lowest local id */
VC_API vc_val vc_subgroup_shuffle(vc_val v, vc_val local_id);    /* of local_id */
VC_API vc_val vc_subgroup_shuffle_xor(vc_val v, vc_val mask);    /* of own local id ^ mask; mask must be uniform */
VC_API vc_val vc_subgroup_shuffle_up(vc_val v, vc_val delta);    /* of own local id - delta; undefined below 0 */
VC_API vc_val vc_subgroup_shuffle_down(vc_val v, vc_val delta);  /* of own local id + delta; undefined beyond the
                                                                    size */

/* Reductions and prefix sums (scans) in order of local id. Floats are combined in any order; if an operand of VC_MIN or
   VC_MAX is NaN, the result is either operand. An exclusive scan does not include the invocation's own value: the first
   invocation gets the identity of the operation, which is 0 for VC_ADD, VC_OR and VC_XOR, 1 for VC_MUL, all bits set
   for VC_AND, and the largest (VC_MIN) or smallest (VC_MAX) value of the type, for floats an infinity. */
VC_API vc_val vc_subgroup_reduce(vc_combine op, vc_val v);
VC_API vc_val vc_subgroup_inclusive(vc_combine op, vc_val v);    /* scan that includes the invocation's own value */
VC_API vc_val vc_subgroup_exclusive(vc_combine op, vc_val v);

/* Reduction of each `size` consecutive invocations. size: a power of two, at most 128 and the subgroup's size. */
VC_API vc_val vc_subgroup_clustered(vc_combine op, vc_val v, uint32_t size);

/* ---- work-group functions ----
   Statements, allowed where vc_barrier is. v: a scalar; f16 and narrow integers are computed in 32 bits. *out receives
   the result. Scans are in order of vc_local_index. */

/* Reduction; the result is uniform. Floats are combined in any order. */
VC_API void vc_group_reduce(vc_kernel *k, vc_combine op, vc_val v, vc_val *out);

/* Scan that includes the invocation's own value. */
VC_API void vc_group_inclusive(vc_kernel *k, vc_combine op, vc_val v, vc_val *out);

/* Scan without it; the first invocation gets the identity, as in vc_subgroup_exclusive. */
VC_API void vc_group_exclusive(vc_kernel *k, vc_combine op, vc_val v, vc_val *out);

/* v of the invocation with this local index, a u32 that must be uniform. */
VC_API void vc_group_broadcast(vc_kernel *k, vc_val v, vc_val local_index, vc_val *out);

/* ---- statements ---- */

/* Waits for all invocations of `execution` (VC_SCOPE_SUBGROUP or VC_SCOPE_WORKGROUP, the default) and orders accesses
   to the memory in `storage` (VC_STORAGE_ bits; 0: both) within scope `memory` (default: as `execution`). */
VC_API void vc_barrier_scoped(vc_kernel *k, vc_scope execution, vc_scope memory, uint32_t storage);

/* Waits for all invocations of the work-group and orders their accesses to shared memory and buffers. */
VC_API void vc_barrier(vc_kernel *k);

/* Exits under a condition, a scalar bool; vc_bool(true) is allowed. */
VC_API void vc_break_if(vc_kernel *k, vc_val condition);        /* leaves the innermost loop */
VC_API void vc_continue_if(vc_kernel *k, vc_val condition);     /* starts its next iteration */
VC_API void vc_break_outer_if(vc_kernel *k, uint32_t levels, vc_val condition); /* leaves the innermost loop, and that
                                                                   many loops around it */
VC_API void vc_return_if(vc_kernel *k, vc_val condition);       /* ends the invocation */

/* vc_printf(k, "%u: %f\n", i, x) with at most 32 operands; a macro in C, a function in C++. See printf and assert. */
VC_API void vc_printf_args(vc_kernel *k, const char *format, const vc_val *args, uint32_t count);

/* Reports `text` as an error if condition, a scalar bool, is false. The invocation continues. text: at most 1024 bytes,
   copied. */
VC_API void vc_assert(vc_kernel *k, vc_val condition, const char *text);
#ifndef __cplusplus
#define vc_printf(k, ...) VC__PRINTF_ARGS(k, __VA_ARGS__, vc_bool(false))
#define VC__PRINTF_ARGS(k, format, ...) \
    vc_printf_args(k, format, (const vc_val[]){ __VA_ARGS__ }, \
                   (uint32_t)(sizeof((const vc_val[]){ __VA_ARGS__ }) / sizeof(vc_val)) - 1u)
#endif

/* Private: used by the block macros below. */
VC_API int vc_if_begin(vc_kernel *k, vc_val condition);
VC_API int vc_else_begin(vc_kernel *k);
VC_API vc_val vc_for_begin(vc_kernel *k, vc_val first, vc_val limit, vc_val step);
VC_API int vc_loop_begin(vc_kernel *k);
VC_API int vc_switch_begin(vc_kernel *k, vc_val value);
VC_API int vc_case_begin(vc_kernel *k, int64_t value);
VC_API int vc_default_begin(vc_kernel *k);
VC_API vc_val vc_each_begin(vc_kernel *k, uint32_t axes, uint32_t axis); /* axis 0 opens the guard over `axes` axes */
VC_API int vc_block_end(vc_kernel *k);                          /* returns 0 */
typedef enum vc_short_circuit_kind {
    VC_SHORT_CIRCUIT_SELECT = 0,
    VC_SHORT_CIRCUIT_AND,
    VC_SHORT_CIRCUIT_OR
} vc_short_circuit_kind;
typedef struct vc_short_circuit {
    vc_kernel *kernel;
    const char *call;
    vc_val condition, first_value;
    vc_ref result;
    uint32_t which, region, block;
} vc_short_circuit;
VC_API vc_short_circuit vc_short_circuit_begin(vc_kernel *k, const char *call, vc_short_circuit_kind kind,
                                               vc_val condition);
VC_API void vc_short_circuit_else(vc_short_circuit *lazy, vc_val a);
VC_API void vc_short_circuit_end(vc_short_circuit *lazy, vc_val value, vc_val *out);

#define VC__JOIN2(a, b) a##b
#define VC__JOIN(a, b) VC__JOIN2(a, b)
#if defined(__GNUC__) || defined(_MSC_VER)
#define VC__ONCE VC__JOIN(vc__once_, __COUNTER__)
#else
#define VC__ONCE VC__JOIN(vc__once_, __LINE__)
#endif
#define VC__BLOCK(once, k, begin) for (int once = (begin); once; once = vc_block_end(k))
#define VC__VALUE_BLOCK(once, k, ...) \
    for (int once = 1; once; once = 0) for (VC__UNUSED vc_val __VA_ARGS__; once; once = vc_block_end(k))

/* VC_IF(k, condition) { … } VC_ELSE(k) { … }. condition: a scalar bool. VC_ELSE follows the block of a VC_IF
   directly. */
#define VC_IF(k, condition) VC__BLOCK(VC__ONCE, k, vc_if_begin(k, condition))
#define VC_ELSE(k) VC__BLOCK(VC__ONCE, k, vc_else_begin(k))

/* Repeats its block until vc_break_if, vc_break_outer_if or vc_return_if; one of them is required. */
#define VC_LOOP(k) VC__BLOCK(VC__ONCE, k, vc_loop_begin(k))

/* VC_SWITCH contains only VC_CASE blocks, each with a different constant, and at most one VC_DEFAULT. value: a scalar
   integer. Cases do not fall through. */
#define VC_SWITCH(k, value) VC__BLOCK(VC__ONCE, k, vc_switch_begin(k, value))
#define VC_CASE(k, value) VC__BLOCK(VC__ONCE, k, vc_case_begin(k, value))
#define VC_DEFAULT(k) VC__BLOCK(VC__ONCE, k, vc_default_begin(k))

/* Counts i = first, first + step, … while i < limit, or i > limit if step is negative; a step of 0 runs no iteration. i
   has the type of first and limit, a scalar integer type, and never wraps. step: a scalar integer of that width,
   or any integer immediate. */
#define VC_FOR(k, i, first, limit) VC_FOR_STEP(k, i, first, limit, vc_i32(1))
#define VC_FOR_STEP(k, i, first, limit, step) \
    VC__VALUE_BLOCK(VC__ONCE, k, i = vc_for_begin(k, first, limit, step))

/* Short-circuit statements. They set the vc_val *out.
       vc_and_then     a && b; b runs only if a is true
       vc_or_else      a || b; b runs only if a is false
       vc_select_lazy  condition ? a : b; only the selected operand runs
   The operands b, and a of vc_select_lazy, are recorded in a block: they may load, and call functions that record
   statements. Values recorded in them cannot be used elsewhere. vc_select_lazy accepts any type. */
#define vc_and_then(k, out, a, b) VC__LAZY(k, vc_and_then, VC_SHORT_CIRCUIT_AND, a, (void)0, b, out)
#define vc_or_else(k, out, a, b) VC__LAZY(k, vc_or_else, VC_SHORT_CIRCUIT_OR, a, (void)0, b, out)
#define vc_select_lazy(k, out, condition, a, b) \
    VC__LAZY(k, vc_select_lazy, VC_SHORT_CIRCUIT_SELECT, condition, vc_short_circuit_else(&vc__lazy, a), b, out)
#define VC__LAZY(k, call, kind, condition, between, value, out) do { \
        vc_short_circuit vc__lazy = vc_short_circuit_begin(k, #call, kind, condition); \
        between; \
        vc_short_circuit_end(&vc__lazy, value, out); \
    } while (0)

/* Runs its block once for each thread of a 1-D (VC_EACH), 2-D (VC_EACH2) or 3-D dispatch (VC_EACH3); i, (x, y) or
   (x, y, z) are its global ids. Invocations beyond the number of threads skip the block, so it is divergent control
   flow. VC_EACH checks axis x only, VC_EACH2 axes x and y. */
#define VC_EACH(k, i) VC__VALUE_BLOCK(VC__ONCE, k, i = vc_each_begin(k, 1, 0))
#define VC_EACH2(k, x, y) VC__VALUE_BLOCK(VC__ONCE, k, x = vc_each_begin(k, 2, 0), y = vc_each_begin(k, 2, 1))
#define VC_EACH3(k, x, y, z) \
    VC__VALUE_BLOCK(VC__ONCE, k, x = vc_each_begin(k, 3, 0), y = vc_each_begin(k, 3, 1), z = vc_each_begin(k, 3, 2))

/* ---- kernels as definitions ---- */

/* VC_KERNEL(saxpy) { … }, VC_KERNEL(saxpy, 64) { … } or VC_KERNEL(blur, 16, 16) { … } at file scope; the block records
   into `k`. Defines vc_kernel *saxpy(const vc_kernel_desc *desc), which starts a kernel and runs the block. The name
   and the local size of the definition are used if desc is NULL or does not set them. tools/vcc compiles such kernels
   ahead of time. */
#define VC_KERNEL(...) VC__KERNEL(__VA_ARGS__, 0, 0, 0, 0)
#define VC__KERNEL(name, x, y, z, ...) \
    static void vc__body_##name(vc_kernel *k); \
    VC__UNUSED static vc_kernel *name(const vc_kernel_desc *desc) { \
        return vc_begin_with(desc, #name, x, y, z, vc__body_##name); \
    } \
    static void vc__body_##name(vc_kernel *k)

/* Private: used by the macros of VKDISPATCH_CODEGEN_LINES. Sets the source position for errors of this thread's next
   call; NULL: unknown. file: not copied. */
VC_API void vc_source_line(const char *file, int line);

/* Private: used by VC_KERNEL. */
VC_API vc_kernel *vc_begin_with(const vc_kernel_desc *desc, const char *name, uint32_t x, uint32_t y, uint32_t z,
                                void (*body)(vc_kernel *k));

/* ---- with vkdispatch.h: defined in the translation unit that has both implementations ---- */

struct vd_context;
struct vd_kernel;

/* Returns the features and limits that all devices of the context have, and whether it is in debug mode. spirv_version
   is 0. Returns zero if ctx is NULL. */
VC_API vc_machine vd_machine(const struct vd_context *ctx);

/* Returns the target that vd_kernel_build compiles for (vd_facts.code), for vc_reflect_for; VC_TARGET_NONE if ctx is
   NULL. */
VC_API vc_target vd_target(const struct vd_context *ctx);

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage" /* the struct is one 64-bit number, complete or not */
#endif
/* Generates the code of k for the target that vd_target returns, and creates a vd_kernel. Buffers are addresses if k
   allows it and every device supports it. The caller still owns k. Returns id 0 on failure; vd_error_result() is then
       VD_ERROR_UNSUPPORTED     k needs a feature that its machine or a device lacks, exceeds one of their limits, or
                                needs a target that is omitted (VKDISPATCH_NO_…)
       VD_ERROR_INVALID         k has another error, an argument is NULL, or threads_of names no buffer
       VD_ERROR_OUT_OF_MEMORY   of the host
       or an error of vd_kernel_create. */
VC_API struct vd_kernel vd_kernel_build(struct vd_context *ctx, vc_kernel *k);
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

/* ---- short forms; they record the same operations as the functions ---- */

/* vc_imm_of(x) is the immediate of the type that corresponds to a C number's: bool, i8 to u64, i32 for char, f32 for
   float, f64 for double. A function in C++, a macro in C. */
#ifdef __cplusplus
template <class... Args> inline void vc_printf(vc_kernel *k, const char *format, Args... args) {
    const vc_val list[] = { args..., vc_val() };
    vc_printf_args(k, format, list, static_cast<uint32_t>(sizeof...(args)));
}
static inline vc_val vc_imm_of(bool x) { return vc_bool(x); }
static inline vc_val vc_imm_of(signed char x) { return vc_i8(x); }
static inline vc_val vc_imm_of(short x) { return vc_i16(x); }
static inline vc_val vc_imm_of(int x) { return vc_i32(x); }
static inline vc_val vc_imm_of(long x) { return sizeof x == 8 ? vc_i64(x) : vc_i32(static_cast<int32_t>(x)); }
static inline vc_val vc_imm_of(long long x) { return vc_i64(x); }
static inline vc_val vc_imm_of(unsigned char x) { return vc_u8(x); }
static inline vc_val vc_imm_of(unsigned short x) { return vc_u16(x); }
static inline vc_val vc_imm_of(unsigned x) { return vc_u32(x); }
static inline vc_val vc_imm_of(unsigned long x) {
    return sizeof x == 8 ? vc_u64(x) : vc_u32(static_cast<uint32_t>(x));
}
static inline vc_val vc_imm_of(unsigned long long x) { return vc_u64(x); }
static inline vc_val vc_imm_of(float x) { return vc_f32(x); }
static inline vc_val vc_imm_of(double x) { return vc_f64(x); }
template <class T> vc_val vc_imm_of(T *) = delete; /* a pointer does not convert to bool */

#define VC__DEFINE_NUMBER(type) inline vc_val::vc_val(type x) { *this = vc_imm_of(x); }
VC__NUMBERS(VC__DEFINE_NUMBER)
#undef VC__DEFINE_NUMBER
#undef VC__NUMBERS

/* vc_vec(k, x, y, 1.0f): see vc_vec_of. */
template <class... Args> inline vc_val vc_vec(vc_kernel *k, Args... args) {
    const vc_val list[] = { args..., vc_val() };
    return vc_vec_of(k, list, static_cast<uint32_t>(sizeof...(args)));
}

/* Operators. One of the operands may be a C++ number: x * 2 + y. % is vc_rem, >> is vc_shr, ! is for bool only.
   a += b assigns the sum to the C++ variable a if that is a vc_val; if it is a vc_ref (a variable or an element of a
   kernel), it stores the sum there. In a block or loop, use a vc_var: a value from a block cannot be used after it.
   There is no && or ||, because C++ would record both operands: use &, |, vc_and_then or vc_or_else. */
#ifdef VKDISPATCH_CODEGEN_LINES
struct vc__line_scope { /* errors of calls during its lifetime have this source position */
    vc__line_scope(const char *file, int line) { vc_source_line(file, line); }
    ~vc__line_scope() { vc_source_line(nullptr, 0); }
};
/* A vc_val, or what converts to one, with the source position of the operator: default arguments are evaluated where
   the operand is converted. */
struct vc__located_val {
    vc_val value;
    const char *file;
    int line;
    template <class T>
    vc__located_val(const T &x, const char *in_file = __builtin_FILE(), int at_line = __builtin_LINE(),
                    decltype(vc_val(x)) * = nullptr) : value(x), file(in_file), line(at_line) {}
    operator vc_val() const { return value; }
};
#define VC__LINE_OF(x) vc__line_scope scope(x.file, x.line);
#else
typedef vc_val vc__located_val;
#define VC__LINE_OF(x)
#endif
#define VC__OPERATOR(symbol, call) \
    static inline vc_val operator symbol(vc__located_val a, vc__located_val b) { VC__LINE_OF(b) return call(a, b); }
#define VC__ASSIGNING_OPERATOR(symbol, call) \
    VC__OPERATOR(symbol, call) \
    static inline vc_val &operator symbol##=(vc_val &a, vc__located_val b) { VC__LINE_OF(b) return a = call(a, b); } \
    static inline void operator symbol##=(vc_ref a, vc__located_val b) { VC__LINE_OF(b) vc_set(a, call(vc_get(a), b)); }
VC__ASSIGNING_OPERATOR(+, vc_add)
VC__ASSIGNING_OPERATOR(-, vc_sub)
VC__ASSIGNING_OPERATOR(*, vc_mul)
VC__ASSIGNING_OPERATOR(/, vc_div)
VC__ASSIGNING_OPERATOR(%, vc_rem)
VC__ASSIGNING_OPERATOR(&, vc_and)
VC__ASSIGNING_OPERATOR(|, vc_or)
VC__ASSIGNING_OPERATOR(^, vc_xor)
VC__ASSIGNING_OPERATOR(<<, vc_shl)
VC__ASSIGNING_OPERATOR(>>, vc_shr)
VC__OPERATOR(==, vc_eq)
VC__OPERATOR(!=, vc_ne)
VC__OPERATOR(<, vc_lt)
VC__OPERATOR(<=, vc_le)
VC__OPERATOR(>, vc_gt)
VC__OPERATOR(>=, vc_ge)
#undef VC__ASSIGNING_OPERATOR
#undef VC__OPERATOR
static inline vc_val operator-(vc__located_val a) { VC__LINE_OF(a) return vc_neg(a); }
static inline vc_val operator~(vc__located_val a) { VC__LINE_OF(a) return vc_not(a); }
static inline vc_val operator!(vc__located_val a) {
    VC__LINE_OF(a)
    return (vc_typeof(a) & 15u) == VC_BOOL ? vc_not(a) : vc_eq(a, vc_bool(false));
}
#undef VC__LINE_OF

#elif __STDC_VERSION__ >= 201112L || defined(__clang__) || __GNUC__ >= 5
static inline vc_val vc__imm_long(long x) { return sizeof x == 8 ? vc_i64(x) : vc_i32((int32_t)x); }
static inline vc_val vc__imm_ulong(unsigned long x) { return sizeof x == 8 ? vc_u64(x) : vc_u32((uint32_t)x); }
#if defined(__GNUC__)
#define VC__GENERIC __extension__ _Generic
#else
#define VC__GENERIC _Generic
#endif
#define vc_imm_of(x) \
    VC__GENERIC((x), bool: vc_bool, char: vc_i32, signed char: vc_i8, short: vc_i16, int: vc_i32, long: vc__imm_long, \
                long long: vc_i64, unsigned char: vc_u8, unsigned short: vc_u16, unsigned: vc_u32, \
                unsigned long: vc__imm_ulong, unsigned long long: vc_u64, float: vc_f32, double: vc_f64)(x)
#endif

#ifdef VKDISPATCH_SHORT
#define VC(x) vc_imm_of(x)
#endif

/* ---- source lines in errors ---- */

#ifdef VKDISPATCH_CODEGEN_LINES
/* Defines a function that sets the source position, calls another function, and clears the position. types: the
   parameter types of the called function; values: the arguments passed to it; `...`: the declarations of these as
   parameters. */
#define VC__LINE_FUNCTION(name, result, types, values, ...) \
    VC__UNUSED static inline result vc__line_##name(const char *file, int line, result (*call) types, __VA_ARGS__) { \
        vc_source_line(file, line); \
        result returned = call values; \
        vc_source_line(NULL, 0); \
        return returned; \
    }
#define VC__LINE_VOID_FUNCTION(name, types, values, ...) \
    VC__UNUSED static inline void vc__line_##name(const char *file, int line, void (*call) types, __VA_ARGS__) { \
        vc_source_line(file, line); \
        call values; \
        vc_source_line(NULL, 0); \
    }
/* functions with a source line: written by tools/lines */
VC__LINE_FUNCTION(k_kernel_desc, vc_kernel *, (const vc_kernel_desc *), (a), const vc_kernel_desc *a)
VC__LINE_VOID_FUNCTION(void_k_kernel_desc, (vc_kernel *, const vc_kernel_desc *), (a, b), vc_kernel *a,
    const vc_kernel_desc *b)
VC__LINE_FUNCTION(words_k_size, const uint32_t *, (vc_kernel *, size_t *), (a, b), vc_kernel *a, size_t *b)
VC__LINE_FUNCTION(s_k_target, const char *, (vc_kernel *, vc_target), (a, b), vc_kernel *a, vc_target b)
VC__LINE_FUNCTION(s_k, const char *, (vc_kernel *), (a), vc_kernel *a)
VC__LINE_FUNCTION(info_k, const vc_info *, (vc_kernel *), (a), vc_kernel *a)
VC__LINE_FUNCTION(info_k_target, const vc_info *, (vc_kernel *, vc_target), (a, b), vc_kernel *a, vc_target b)
VC__LINE_FUNCTION(u64_k, uint64_t, (vc_kernel *), (a), vc_kernel *a)
VC__LINE_FUNCTION(t_k_s_members_u32, vc_type, (vc_kernel *, const char *, const vc_member *, uint32_t), (a, b, c, d),
    vc_kernel *a, const char *b, const vc_member *c, uint32_t d)
VC__LINE_FUNCTION(t_k_t_u32, vc_type, (vc_kernel *, vc_type, uint32_t), (a, b, c), vc_kernel *a, vc_type b, uint32_t c)
VC__LINE_FUNCTION(u32_k_t, uint32_t, (vc_kernel *, vc_type), (a, b), vc_kernel *a, vc_type b)
VC__LINE_FUNCTION(u32_k_t_u32, uint32_t, (vc_kernel *, vc_type, uint32_t), (a, b, c), vc_kernel *a, vc_type b,
    uint32_t c)
VC__LINE_FUNCTION(r_k_s_t_u32, vc_ref, (vc_kernel *, const char *, vc_type, uint32_t), (a, b, c, d), vc_kernel *a,
    const char *b, vc_type c, uint32_t d)
VC__LINE_FUNCTION(v_k_s_t, vc_val, (vc_kernel *, const char *, vc_type), (a, b, c), vc_kernel *a, const char *b,
    vc_type c)
VC__LINE_FUNCTION(r_k_s_t, vc_ref, (vc_kernel *, const char *, vc_type), (a, b, c), vc_kernel *a, const char *b,
    vc_type c)
VC__LINE_FUNCTION(r_k_s_t_data_u32, vc_ref, (vc_kernel *, const char *, vc_type, const void *, uint32_t), (a, b, c, d,
    e), vc_kernel *a, const char *b, vc_type c, const void *d, uint32_t e)
VC__LINE_FUNCTION(r_r_v, vc_ref, (vc_ref, vc_val), (a, b), vc_ref a, vc_val b)
VC__LINE_FUNCTION(v_r_v, vc_val, (vc_ref, vc_val), (a, b), vc_ref a, vc_val b)
VC__LINE_FUNCTION(v_r_v_v_v, vc_val, (vc_ref, vc_val, vc_val, vc_val), (a, b, c, d), vc_ref a, vc_val b, vc_val c,
    vc_val d)
VC__LINE_VOID_FUNCTION(void_r_v_v, (vc_ref, vc_val, vc_val), (a, b, c), vc_ref a, vc_val b, vc_val c)
VC__LINE_FUNCTION(v_r, vc_val, (vc_ref), (a), vc_ref a)
VC__LINE_VOID_FUNCTION(void_r_v, (vc_ref, vc_val), (a, b), vc_ref a, vc_val b)
VC__LINE_FUNCTION(r_r_u32, vc_ref, (vc_ref, uint32_t), (a, b), vc_ref a, uint32_t b)
VC__LINE_VOID_FUNCTION(void_r_u32_v, (vc_ref, uint32_t, vc_val), (a, b, c), vc_ref a, uint32_t b, vc_val c)
VC__LINE_FUNCTION(r_r_t, vc_ref, (vc_ref, vc_type), (a, b), vc_ref a, vc_type b)
VC__LINE_VOID_FUNCTION(void_r_v_v_out, (vc_ref, vc_val, vc_val, vc_val *), (a, b, c, d), vc_ref a, vc_val b, vc_val c,
    vc_val *d)
VC__LINE_VOID_FUNCTION(void_r_v_v_v_out, (vc_ref, vc_val, vc_val, vc_val, vc_val *), (a, b, c, d, e), vc_ref a,
    vc_val b, vc_val c, vc_val d, vc_val *e)
VC__LINE_VOID_FUNCTION(void_r_v_out, (vc_ref, vc_val, vc_val *), (a, b, c), vc_ref a, vc_val b, vc_val *c)
VC__LINE_FUNCTION(r_r_order_scope, vc_ref, (vc_ref, vc_order, vc_scope), (a, b, c), vc_ref a, vc_order b, vc_scope c)
VC__LINE_VOID_FUNCTION(void_k_scope_u32, (vc_kernel *, vc_scope, uint32_t), (a, b, c), vc_kernel *a, vc_scope b,
    uint32_t c)
VC__LINE_FUNCTION(i_k_s_image_desc, vc_image_ref, (vc_kernel *, const char *, const vc_image_desc *), (a, b, c),
    vc_kernel *a, const char *b, const vc_image_desc *c)
VC__LINE_FUNCTION(v_i_v, vc_val, (vc_image_ref, vc_val), (a, b), vc_image_ref a, vc_val b)
VC__LINE_FUNCTION(v_i_v_v, vc_val, (vc_image_ref, vc_val, vc_val), (a, b, c), vc_image_ref a, vc_val b, vc_val c)
VC__LINE_FUNCTION(v_i_v_v_v, vc_val, (vc_image_ref, vc_val, vc_val, vc_val), (a, b, c, d), vc_image_ref a, vc_val b,
    vc_val c, vc_val d)
VC__LINE_FUNCTION(v_i_v_v_i32_i32_i32, vc_val, (vc_image_ref, vc_val, vc_val, int32_t, int32_t, int32_t), (a, b, c, d,
    e, f), vc_image_ref a, vc_val b, vc_val c, int32_t d, int32_t e, int32_t f)
VC__LINE_FUNCTION(v_i_v_u32, vc_val, (vc_image_ref, vc_val, uint32_t), (a, b, c), vc_image_ref a, vc_val b, uint32_t c)
VC__LINE_VOID_FUNCTION(void_i_v_v, (vc_image_ref, vc_val, vc_val), (a, b, c), vc_image_ref a, vc_val b, vc_val c)
VC__LINE_FUNCTION(i_i_v, vc_image_ref, (vc_image_ref, vc_val), (a, b), vc_image_ref a, vc_val b)
VC__LINE_FUNCTION(v_i, vc_val, (vc_image_ref), (a), vc_image_ref a)
VC__LINE_FUNCTION(v_k_v, vc_val, (vc_kernel *, vc_val), (a, b), vc_kernel *a, vc_val b)
VC__LINE_FUNCTION(v_v_v, vc_val, (vc_val, vc_val), (a, b), vc_val a, vc_val b)
VC__LINE_FUNCTION(v_v_v_v, vc_val, (vc_val, vc_val, vc_val), (a, b, c), vc_val a, vc_val b, vc_val c)
VC__LINE_FUNCTION(v_v_v_v_v, vc_val, (vc_val, vc_val, vc_val, vc_val), (a, b, c, d), vc_val a, vc_val b, vc_val c,
    vc_val d)
VC__LINE_FUNCTION(v_k_list_u32, vc_val, (vc_kernel *, const vc_val *, uint32_t), (a, b, c), vc_kernel *a,
    const vc_val *b, uint32_t c)
VC__LINE_FUNCTION(v_v_u32, vc_val, (vc_val, uint32_t), (a, b), vc_val a, uint32_t b)
VC__LINE_FUNCTION(v_v_u32_v, vc_val, (vc_val, uint32_t, vc_val), (a, b, c), vc_val a, uint32_t b, vc_val c)
VC__LINE_FUNCTION(v_v_s, vc_val, (vc_val, const char *), (a, b), vc_val a, const char *b)
VC__LINE_FUNCTION(v_t_v, vc_val, (vc_type, vc_val), (a, b), vc_type a, vc_val b)
VC__LINE_FUNCTION(v_k_t_list_u32, vc_val, (vc_kernel *, vc_type, const vc_val *, uint32_t), (a, b, c, d), vc_kernel *a,
    vc_type b, const vc_val *c, uint32_t d)
VC__LINE_FUNCTION(v_v, vc_val, (vc_val), (a), vc_val a)
VC__LINE_FUNCTION(v_v_v_v_out, vc_val, (vc_val, vc_val, vc_val, vc_val *), (a, b, c, d), vc_val a, vc_val b, vc_val c,
    vc_val *d)
VC__LINE_FUNCTION(v_k_u32, vc_val, (vc_kernel *, uint32_t), (a, b), vc_kernel *a, uint32_t b)
VC__LINE_FUNCTION(v_k, vc_val, (vc_kernel *), (a), vc_kernel *a)
VC__LINE_FUNCTION(v_r_u32, vc_val, (vc_ref, uint32_t), (a, b), vc_ref a, uint32_t b)
VC__LINE_FUNCTION(v_combine_v, vc_val, (vc_combine, vc_val), (a, b), vc_combine a, vc_val b)
VC__LINE_FUNCTION(v_combine_v_u32, vc_val, (vc_combine, vc_val, uint32_t), (a, b, c), vc_combine a, vc_val b,
    uint32_t c)
VC__LINE_VOID_FUNCTION(void_k_combine_v_out, (vc_kernel *, vc_combine, vc_val, vc_val *), (a, b, c, d), vc_kernel *a,
    vc_combine b, vc_val c, vc_val *d)
VC__LINE_VOID_FUNCTION(void_k_v_v_out, (vc_kernel *, vc_val, vc_val, vc_val *), (a, b, c, d), vc_kernel *a, vc_val b,
    vc_val c, vc_val *d)
VC__LINE_VOID_FUNCTION(void_k_scope_scope_u32, (vc_kernel *, vc_scope, vc_scope, uint32_t), (a, b, c, d), vc_kernel *a,
    vc_scope b, vc_scope c, uint32_t d)
VC__LINE_VOID_FUNCTION(void_k, (vc_kernel *), (a), vc_kernel *a)
VC__LINE_VOID_FUNCTION(void_k_v, (vc_kernel *, vc_val), (a, b), vc_kernel *a, vc_val b)
VC__LINE_VOID_FUNCTION(void_k_u32_v, (vc_kernel *, uint32_t, vc_val), (a, b, c), vc_kernel *a, uint32_t b, vc_val c)
VC__LINE_VOID_FUNCTION(void_k_s_list_u32, (vc_kernel *, const char *, const vc_val *, uint32_t), (a, b, c, d),
    vc_kernel *a, const char *b, const vc_val *c, uint32_t d)
VC__LINE_VOID_FUNCTION(void_k_v_s, (vc_kernel *, vc_val, const char *), (a, b, c), vc_kernel *a, vc_val b,
    const char *c)
VC__LINE_FUNCTION(int_k_v, int, (vc_kernel *, vc_val), (a, b), vc_kernel *a, vc_val b)
VC__LINE_FUNCTION(int_k, int, (vc_kernel *), (a), vc_kernel *a)
VC__LINE_FUNCTION(v_k_v_v_v, vc_val, (vc_kernel *, vc_val, vc_val, vc_val), (a, b, c, d), vc_kernel *a, vc_val b,
    vc_val c, vc_val d)
VC__LINE_FUNCTION(int_k_i64, int, (vc_kernel *, int64_t), (a, b), vc_kernel *a, int64_t b)
VC__LINE_FUNCTION(v_k_u32_u32, vc_val, (vc_kernel *, uint32_t, uint32_t), (a, b, c), vc_kernel *a, uint32_t b,
    uint32_t c)
VC__LINE_FUNCTION(circuit_k_s_circuit_kind_v, vc_short_circuit, (vc_kernel *, const char *, vc_short_circuit_kind,
    vc_val), (a, b, c, d), vc_kernel *a, const char *b, vc_short_circuit_kind c, vc_val d)
VC__LINE_VOID_FUNCTION(void_lazy_v, (vc_short_circuit *, vc_val), (a, b), vc_short_circuit *a, vc_val b)
VC__LINE_VOID_FUNCTION(void_lazy_v_out, (vc_short_circuit *, vc_val, vc_val *), (a, b, c), vc_short_circuit *a,
    vc_val b, vc_val *c)
#define vc_begin(...) VC__LINE(k_kernel_desc, vc_begin, __VA_ARGS__)
#define vc_restart(...) VC__LINE(void_k_kernel_desc, vc_restart, __VA_ARGS__)
#define vc_spirv(...) VC__LINE(words_k_size, vc_spirv, __VA_ARGS__)
#define vc_source(...) VC__LINE(s_k_target, vc_source, __VA_ARGS__)
#define vc_dump(...) VC__LINE(s_k, vc_dump, __VA_ARGS__)
#define vc_reflect(...) VC__LINE(info_k, vc_reflect, __VA_ARGS__)
#define vc_reflect_for(...) VC__LINE(info_k_target, vc_reflect_for, __VA_ARGS__)
#define vc_hash(...) VC__LINE(u64_k, vc_hash, __VA_ARGS__)
#define vc_struct(...) VC__LINE(t_k_s_members_u32, vc_struct, __VA_ARGS__)
#define vc_array_type(...) VC__LINE(t_k_t_u32, vc_array_type, __VA_ARGS__)
#define vc_size_of(...) VC__LINE(u32_k_t, vc_size_of, __VA_ARGS__)
#define vc_offset_of(...) VC__LINE(u32_k_t_u32, vc_offset_of, __VA_ARGS__)
#define vc_buffer(...) VC__LINE(r_k_s_t_u32, vc_buffer, __VA_ARGS__)
#define vc_param(...) VC__LINE(v_k_s_t, vc_param, __VA_ARGS__)
#define vc_var(...) VC__LINE(r_k_s_t, vc_var, __VA_ARGS__)
#define vc_array(...) VC__LINE(r_k_s_t_u32, vc_array, __VA_ARGS__)
#define vc_shared(...) VC__LINE(r_k_s_t_u32, vc_shared, __VA_ARGS__)
#define vc_table(...) VC__LINE(r_k_s_t_data_u32, vc_table, __VA_ARGS__)
#define vc_offset(...) VC__LINE(r_r_v, vc_offset, __VA_ARGS__)
#define vc_load(...) VC__LINE(v_r_v, vc_load, __VA_ARGS__)
#define vc_load_or(...) VC__LINE(v_r_v_v_v, vc_load_or, __VA_ARGS__)
#define vc_store(...) VC__LINE(void_r_v_v, vc_store, __VA_ARGS__)
#define vc_get(...) VC__LINE(v_r, vc_get, __VA_ARGS__)
#define vc_set(...) VC__LINE(void_r_v, vc_set, __VA_ARGS__)
#define vc_at(...) VC__LINE(r_r_v, vc_at, __VA_ARGS__)
#define vc_field(...) VC__LINE(r_r_u32, vc_field, __VA_ARGS__)
#define vc_set_component(...) VC__LINE(void_r_u32_v, vc_set_component, __VA_ARGS__)
#define vc_as(...) VC__LINE(r_r_t, vc_as, __VA_ARGS__)
#define vc_atomic_add(...) VC__LINE(void_r_v_v_out, vc_atomic_add, __VA_ARGS__)
#define vc_atomic_sub(...) VC__LINE(void_r_v_v_out, vc_atomic_sub, __VA_ARGS__)
#define vc_atomic_min(...) VC__LINE(void_r_v_v_out, vc_atomic_min, __VA_ARGS__)
#define vc_atomic_max(...) VC__LINE(void_r_v_v_out, vc_atomic_max, __VA_ARGS__)
#define vc_atomic_and(...) VC__LINE(void_r_v_v_out, vc_atomic_and, __VA_ARGS__)
#define vc_atomic_or(...) VC__LINE(void_r_v_v_out, vc_atomic_or, __VA_ARGS__)
#define vc_atomic_xor(...) VC__LINE(void_r_v_v_out, vc_atomic_xor, __VA_ARGS__)
#define vc_atomic_exchange(...) VC__LINE(void_r_v_v_out, vc_atomic_exchange, __VA_ARGS__)
#define vc_atomic_compare_exchange(...) VC__LINE(void_r_v_v_v_out, vc_atomic_compare_exchange, __VA_ARGS__)
#define vc_atomic_load(...) VC__LINE(void_r_v_out, vc_atomic_load, __VA_ARGS__)
#define vc_atomic_store(...) VC__LINE(void_r_v_v, vc_atomic_store, __VA_ARGS__)
#define vc_ordered(...) VC__LINE(r_r_order_scope, vc_ordered, __VA_ARGS__)
#define vc_fence(...) VC__LINE(void_k_scope_u32, vc_fence, __VA_ARGS__)
#define vc_image(...) VC__LINE(i_k_s_image_desc, vc_image, __VA_ARGS__)
#define vc_sample(...) VC__LINE(v_i_v, vc_sample, __VA_ARGS__)
#define vc_sample_lod(...) VC__LINE(v_i_v_v, vc_sample_lod, __VA_ARGS__)
#define vc_sample_grad(...) VC__LINE(v_i_v_v_v, vc_sample_grad, __VA_ARGS__)
#define vc_sample_offset(...) VC__LINE(v_i_v_v_i32_i32_i32, vc_sample_offset, __VA_ARGS__)
#define vc_gather(...) VC__LINE(v_i_v_u32, vc_gather, __VA_ARGS__)
#define vc_fetch(...) VC__LINE(v_i_v_v, vc_fetch, __VA_ARGS__)
#define vc_image_load(...) VC__LINE(v_i_v, vc_image_load, __VA_ARGS__)
#define vc_image_store(...) VC__LINE(void_i_v_v, vc_image_store, __VA_ARGS__)
#define vc_image_size(...) VC__LINE(v_i_v, vc_image_size, __VA_ARGS__)
#define vc_image_at(...) VC__LINE(i_i_v, vc_image_at, __VA_ARGS__)
#define vc_image_levels(...) VC__LINE(v_i, vc_image_levels, __VA_ARGS__)
#define vc_const(...) VC__LINE(v_k_v, vc_const, __VA_ARGS__)
#define vc_vec2(...) VC__LINE(v_v_v, vc_vec2, __VA_ARGS__)
#define vc_vec3(...) VC__LINE(v_v_v_v, vc_vec3, __VA_ARGS__)
#define vc_vec4(...) VC__LINE(v_v_v_v_v, vc_vec4, __VA_ARGS__)
#define vc_vec_of(...) VC__LINE(v_k_list_u32, vc_vec_of, __VA_ARGS__)
#define vc_splat(...) VC__LINE(v_v_u32, vc_splat, __VA_ARGS__)
#define vc_component(...) VC__LINE(v_v_u32, vc_component, __VA_ARGS__)
#define vc_extract(...) VC__LINE(v_v_v, vc_extract, __VA_ARGS__)
#define vc_insert(...) VC__LINE(v_v_u32_v, vc_insert, __VA_ARGS__)
#define vc_swizzle(...) VC__LINE(v_v_s, vc_swizzle, __VA_ARGS__)
#define vc_cast(...) VC__LINE(v_t_v, vc_cast, __VA_ARGS__)
#define vc_bitcast(...) VC__LINE(v_t_v, vc_bitcast, __VA_ARGS__)
#define vc_make(...) VC__LINE(v_k_t_list_u32, vc_make, __VA_ARGS__)
#define vc_part(...) VC__LINE(v_v_u32, vc_part, __VA_ARGS__)
#define vc_with(...) VC__LINE(v_v_u32_v, vc_with, __VA_ARGS__)
#define vc_complex(...) VC__LINE(v_v_v, vc_complex, __VA_ARGS__)
#define vc_polar(...) VC__LINE(v_v_v, vc_polar, __VA_ARGS__)
#define vc_re(...) VC__LINE(v_v, vc_re, __VA_ARGS__)
#define vc_im(...) VC__LINE(v_v, vc_im, __VA_ARGS__)
#define vc_conj(...) VC__LINE(v_v, vc_conj, __VA_ARGS__)
#define vc_arg(...) VC__LINE(v_v, vc_arg, __VA_ARGS__)
#define vc_transpose(...) VC__LINE(v_v, vc_transpose, __VA_ARGS__)
#define vc_determinant(...) VC__LINE(v_v, vc_determinant, __VA_ARGS__)
#define vc_inverse(...) VC__LINE(v_v, vc_inverse, __VA_ARGS__)
#define vc_outer(...) VC__LINE(v_v_v, vc_outer, __VA_ARGS__)
#define vc_neg(...) VC__LINE(v_v, vc_neg, __VA_ARGS__)
#define vc_add(...) VC__LINE(v_v_v, vc_add, __VA_ARGS__)
#define vc_sub(...) VC__LINE(v_v_v, vc_sub, __VA_ARGS__)
#define vc_mul(...) VC__LINE(v_v_v, vc_mul, __VA_ARGS__)
#define vc_div(...) VC__LINE(v_v_v, vc_div, __VA_ARGS__)
#define vc_rem(...) VC__LINE(v_v_v, vc_rem, __VA_ARGS__)
#define vc_mod(...) VC__LINE(v_v_v, vc_mod, __VA_ARGS__)
#define vc_fma(...) VC__LINE(v_v_v_v, vc_fma, __VA_ARGS__)
#define vc_abs(...) VC__LINE(v_v, vc_abs, __VA_ARGS__)
#define vc_sign(...) VC__LINE(v_v, vc_sign, __VA_ARGS__)
#define vc_min(...) VC__LINE(v_v_v, vc_min, __VA_ARGS__)
#define vc_max(...) VC__LINE(v_v_v, vc_max, __VA_ARGS__)
#define vc_clamp(...) VC__LINE(v_v_v_v, vc_clamp, __VA_ARGS__)
#define vc_mix(...) VC__LINE(v_v_v_v, vc_mix, __VA_ARGS__)
#define vc_step(...) VC__LINE(v_v_v, vc_step, __VA_ARGS__)
#define vc_floor(...) VC__LINE(v_v, vc_floor, __VA_ARGS__)
#define vc_ceil(...) VC__LINE(v_v, vc_ceil, __VA_ARGS__)
#define vc_trunc(...) VC__LINE(v_v, vc_trunc, __VA_ARGS__)
#define vc_round(...) VC__LINE(v_v, vc_round, __VA_ARGS__)
#define vc_fract(...) VC__LINE(v_v, vc_fract, __VA_ARGS__)
#define vc_sqrt(...) VC__LINE(v_v, vc_sqrt, __VA_ARGS__)
#define vc_rsqrt(...) VC__LINE(v_v, vc_rsqrt, __VA_ARGS__)
#define vc_exp(...) VC__LINE(v_v, vc_exp, __VA_ARGS__)
#define vc_exp2(...) VC__LINE(v_v, vc_exp2, __VA_ARGS__)
#define vc_log(...) VC__LINE(v_v, vc_log, __VA_ARGS__)
#define vc_log2(...) VC__LINE(v_v, vc_log2, __VA_ARGS__)
#define vc_pow(...) VC__LINE(v_v_v, vc_pow, __VA_ARGS__)
#define vc_sin(...) VC__LINE(v_v, vc_sin, __VA_ARGS__)
#define vc_cos(...) VC__LINE(v_v, vc_cos, __VA_ARGS__)
#define vc_tan(...) VC__LINE(v_v, vc_tan, __VA_ARGS__)
#define vc_asin(...) VC__LINE(v_v, vc_asin, __VA_ARGS__)
#define vc_acos(...) VC__LINE(v_v, vc_acos, __VA_ARGS__)
#define vc_atan(...) VC__LINE(v_v, vc_atan, __VA_ARGS__)
#define vc_atan2(...) VC__LINE(v_v_v, vc_atan2, __VA_ARGS__)
#define vc_sinh(...) VC__LINE(v_v, vc_sinh, __VA_ARGS__)
#define vc_cosh(...) VC__LINE(v_v, vc_cosh, __VA_ARGS__)
#define vc_tanh(...) VC__LINE(v_v, vc_tanh, __VA_ARGS__)
#define vc_isnan(...) VC__LINE(v_v, vc_isnan, __VA_ARGS__)
#define vc_isinf(...) VC__LINE(v_v, vc_isinf, __VA_ARGS__)
#define vc_dot(...) VC__LINE(v_v_v, vc_dot, __VA_ARGS__)
#define vc_asinh(...) VC__LINE(v_v, vc_asinh, __VA_ARGS__)
#define vc_acosh(...) VC__LINE(v_v, vc_acosh, __VA_ARGS__)
#define vc_atanh(...) VC__LINE(v_v, vc_atanh, __VA_ARGS__)
#define vc_exp10(...) VC__LINE(v_v, vc_exp10, __VA_ARGS__)
#define vc_log10(...) VC__LINE(v_v, vc_log10, __VA_ARGS__)
#define vc_cbrt(...) VC__LINE(v_v, vc_cbrt, __VA_ARGS__)
#define vc_hypot(...) VC__LINE(v_v_v, vc_hypot, __VA_ARGS__)
#define vc_erf(...) VC__LINE(v_v, vc_erf, __VA_ARGS__)
#define vc_radians(...) VC__LINE(v_v, vc_radians, __VA_ARGS__)
#define vc_degrees(...) VC__LINE(v_v, vc_degrees, __VA_ARGS__)
#define vc_saturate(...) VC__LINE(v_v, vc_saturate, __VA_ARGS__)
#define vc_smoothstep(...) VC__LINE(v_v_v_v, vc_smoothstep, __VA_ARGS__)
#define vc_ldexp(...) VC__LINE(v_v_v, vc_ldexp, __VA_ARGS__)
#define vc_frexp_mantissa(...) VC__LINE(v_v, vc_frexp_mantissa, __VA_ARGS__)
#define vc_frexp_exponent(...) VC__LINE(v_v, vc_frexp_exponent, __VA_ARGS__)
#define vc_modf_fract(...) VC__LINE(v_v, vc_modf_fract, __VA_ARGS__)
#define vc_norm(...) VC__LINE(v_v, vc_norm, __VA_ARGS__)
#define vc_distance(...) VC__LINE(v_v_v, vc_distance, __VA_ARGS__)
#define vc_normalize(...) VC__LINE(v_v, vc_normalize, __VA_ARGS__)
#define vc_cross(...) VC__LINE(v_v_v, vc_cross, __VA_ARGS__)
#define vc_faceforward(...) VC__LINE(v_v_v_v, vc_faceforward, __VA_ARGS__)
#define vc_reflect_vector(...) VC__LINE(v_v_v, vc_reflect_vector, __VA_ARGS__)
#define vc_refract(...) VC__LINE(v_v_v_v, vc_refract, __VA_ARGS__)
#define vc_not(...) VC__LINE(v_v, vc_not, __VA_ARGS__)
#define vc_and(...) VC__LINE(v_v_v, vc_and, __VA_ARGS__)
#define vc_or(...) VC__LINE(v_v_v, vc_or, __VA_ARGS__)
#define vc_xor(...) VC__LINE(v_v_v, vc_xor, __VA_ARGS__)
#define vc_shl(...) VC__LINE(v_v_v, vc_shl, __VA_ARGS__)
#define vc_shr(...) VC__LINE(v_v_v, vc_shr, __VA_ARGS__)
#define vc_eq(...) VC__LINE(v_v_v, vc_eq, __VA_ARGS__)
#define vc_ne(...) VC__LINE(v_v_v, vc_ne, __VA_ARGS__)
#define vc_lt(...) VC__LINE(v_v_v, vc_lt, __VA_ARGS__)
#define vc_le(...) VC__LINE(v_v_v, vc_le, __VA_ARGS__)
#define vc_gt(...) VC__LINE(v_v_v, vc_gt, __VA_ARGS__)
#define vc_ge(...) VC__LINE(v_v_v, vc_ge, __VA_ARGS__)
#define vc_select(...) VC__LINE(v_v_v_v, vc_select, __VA_ARGS__)
#define vc_any(...) VC__LINE(v_v, vc_any, __VA_ARGS__)
#define vc_all(...) VC__LINE(v_v, vc_all, __VA_ARGS__)
#define vc_popcount(...) VC__LINE(v_v, vc_popcount, __VA_ARGS__)
#define vc_clz(...) VC__LINE(v_v, vc_clz, __VA_ARGS__)
#define vc_ctz(...) VC__LINE(v_v, vc_ctz, __VA_ARGS__)
#define vc_find_lsb(...) VC__LINE(v_v, vc_find_lsb, __VA_ARGS__)
#define vc_find_msb(...) VC__LINE(v_v, vc_find_msb, __VA_ARGS__)
#define vc_bit_reverse(...) VC__LINE(v_v, vc_bit_reverse, __VA_ARGS__)
#define vc_byte_swap(...) VC__LINE(v_v, vc_byte_swap, __VA_ARGS__)
#define vc_rotl(...) VC__LINE(v_v_v, vc_rotl, __VA_ARGS__)
#define vc_rotr(...) VC__LINE(v_v_v, vc_rotr, __VA_ARGS__)
#define vc_bitfield_extract(...) VC__LINE(v_v_v_v, vc_bitfield_extract, __VA_ARGS__)
#define vc_bitfield_insert(...) VC__LINE(v_v_v_v_v, vc_bitfield_insert, __VA_ARGS__)
#define vc_mul_hi(...) VC__LINE(v_v_v, vc_mul_hi, __VA_ARGS__)
#define vc_add_carry(...) VC__LINE(v_v_v, vc_add_carry, __VA_ARGS__)
#define vc_sub_borrow(...) VC__LINE(v_v_v, vc_sub_borrow, __VA_ARGS__)
#define vc_add_with_carry(...) VC__LINE(v_v_v_v_out, vc_add_with_carry, __VA_ARGS__)
#define vc_sub_with_borrow(...) VC__LINE(v_v_v_v_out, vc_sub_with_borrow, __VA_ARGS__)
#define vc_abs_diff(...) VC__LINE(v_v_v, vc_abs_diff, __VA_ARGS__)
#define vc_add_sat(...) VC__LINE(v_v_v, vc_add_sat, __VA_ARGS__)
#define vc_sub_sat(...) VC__LINE(v_v_v, vc_sub_sat, __VA_ARGS__)
#define vc_average(...) VC__LINE(v_v_v, vc_average, __VA_ARGS__)
#define vc_cast_sat(...) VC__LINE(v_t_v, vc_cast_sat, __VA_ARGS__)
#define vc_pack_half2(...) VC__LINE(v_v, vc_pack_half2, __VA_ARGS__)
#define vc_unpack_half2(...) VC__LINE(v_v, vc_unpack_half2, __VA_ARGS__)
#define vc_round_f16(...) VC__LINE(v_v, vc_round_f16, __VA_ARGS__)
#define vc_pack_snorm4x8(...) VC__LINE(v_v, vc_pack_snorm4x8, __VA_ARGS__)
#define vc_pack_unorm4x8(...) VC__LINE(v_v, vc_pack_unorm4x8, __VA_ARGS__)
#define vc_pack_snorm2x16(...) VC__LINE(v_v, vc_pack_snorm2x16, __VA_ARGS__)
#define vc_pack_unorm2x16(...) VC__LINE(v_v, vc_pack_unorm2x16, __VA_ARGS__)
#define vc_unpack_snorm4x8(...) VC__LINE(v_v, vc_unpack_snorm4x8, __VA_ARGS__)
#define vc_unpack_unorm4x8(...) VC__LINE(v_v, vc_unpack_unorm4x8, __VA_ARGS__)
#define vc_unpack_snorm2x16(...) VC__LINE(v_v, vc_unpack_snorm2x16, __VA_ARGS__)
#define vc_unpack_unorm2x16(...) VC__LINE(v_v, vc_unpack_unorm2x16, __VA_ARGS__)
#define vc_pack_4x8(...) VC__LINE(v_v, vc_pack_4x8, __VA_ARGS__)
#define vc_unpack_4xi8(...) VC__LINE(v_v, vc_unpack_4xi8, __VA_ARGS__)
#define vc_unpack_4xu8(...) VC__LINE(v_v, vc_unpack_4xu8, __VA_ARGS__)
#define vc_pack_2x32(...) VC__LINE(v_t_v, vc_pack_2x32, __VA_ARGS__)
#define vc_unpack_2x32(...) VC__LINE(v_v, vc_unpack_2x32, __VA_ARGS__)
#define vc_dot_4xi8(...) VC__LINE(v_v_v, vc_dot_4xi8, __VA_ARGS__)
#define vc_dot_4xu8(...) VC__LINE(v_v_v, vc_dot_4xu8, __VA_ARGS__)
#define vc_dot_4xi8_4xu8(...) VC__LINE(v_v_v, vc_dot_4xi8_4xu8, __VA_ARGS__)
#define vc_dot_4xi8_sat(...) VC__LINE(v_v_v_v, vc_dot_4xi8_sat, __VA_ARGS__)
#define vc_dot_4xu8_sat(...) VC__LINE(v_v_v_v, vc_dot_4xu8_sat, __VA_ARGS__)
#define vc_dot_4xi8_4xu8_sat(...) VC__LINE(v_v_v_v, vc_dot_4xi8_4xu8_sat, __VA_ARGS__)
#define vc_ravel(...) VC__LINE(v_v_v, vc_ravel, __VA_ARGS__)
#define vc_unravel(...) VC__LINE(v_v_v, vc_unravel, __VA_ARGS__)
#define vc_philox(...) VC__LINE(v_v_v, vc_philox, __VA_ARGS__)
#define vc_uniform(...) VC__LINE(v_t_v, vc_uniform, __VA_ARGS__)
#define vc_normal(...) VC__LINE(v_v, vc_normal, __VA_ARGS__)
#define vc_hash_bits(...) VC__LINE(v_v, vc_hash_bits, __VA_ARGS__)
#define vc_global_id(...) VC__LINE(v_k_u32, vc_global_id, __VA_ARGS__)
#define vc_local_id(...) VC__LINE(v_k_u32, vc_local_id, __VA_ARGS__)
#define vc_group_id(...) VC__LINE(v_k_u32, vc_group_id, __VA_ARGS__)
#define vc_local_index(...) VC__LINE(v_k, vc_local_index, __VA_ARGS__)
#define vc_local_size(...) VC__LINE(v_k_u32, vc_local_size, __VA_ARGS__)
#define vc_groups(...) VC__LINE(v_k_u32, vc_groups, __VA_ARGS__)
#define vc_threads(...) VC__LINE(v_k_u32, vc_threads, __VA_ARGS__)
#define vc_length(...) VC__LINE(v_r, vc_length, __VA_ARGS__)
#define vc_shape(...) VC__LINE(v_r_u32, vc_shape, __VA_ARGS__)
#define vc_subgroup_size(...) VC__LINE(v_k, vc_subgroup_size, __VA_ARGS__)
#define vc_subgroup_id(...) VC__LINE(v_k, vc_subgroup_id, __VA_ARGS__)
#define vc_subgroup_count(...) VC__LINE(v_k, vc_subgroup_count, __VA_ARGS__)
#define vc_subgroup_local_id(...) VC__LINE(v_k, vc_subgroup_local_id, __VA_ARGS__)
#define vc_subgroup_elect(...) VC__LINE(v_k, vc_subgroup_elect, __VA_ARGS__)
#define vc_subgroup_any(...) VC__LINE(v_v, vc_subgroup_any, __VA_ARGS__)
#define vc_subgroup_all(...) VC__LINE(v_v, vc_subgroup_all, __VA_ARGS__)
#define vc_subgroup_all_equal(...) VC__LINE(v_v, vc_subgroup_all_equal, __VA_ARGS__)
#define vc_subgroup_ballot(...) VC__LINE(v_v, vc_subgroup_ballot, __VA_ARGS__)
#define vc_subgroup_ballot_count(...) VC__LINE(v_v, vc_subgroup_ballot_count, __VA_ARGS__)
#define vc_subgroup_ballot_inclusive(...) VC__LINE(v_v, vc_subgroup_ballot_inclusive, __VA_ARGS__)
#define vc_subgroup_ballot_exclusive(...) VC__LINE(v_v, vc_subgroup_ballot_exclusive, __VA_ARGS__)
#define vc_subgroup_broadcast(...) VC__LINE(v_v_v, vc_subgroup_broadcast, __VA_ARGS__)
#define vc_subgroup_broadcast_first(...) VC__LINE(v_v, vc_subgroup_broadcast_first, __VA_ARGS__)
#define vc_subgroup_shuffle(...) VC__LINE(v_v_v, vc_subgroup_shuffle, __VA_ARGS__)
#define vc_subgroup_shuffle_xor(...) VC__LINE(v_v_v, vc_subgroup_shuffle_xor, __VA_ARGS__)
#define vc_subgroup_shuffle_up(...) VC__LINE(v_v_v, vc_subgroup_shuffle_up, __VA_ARGS__)
#define vc_subgroup_shuffle_down(...) VC__LINE(v_v_v, vc_subgroup_shuffle_down, __VA_ARGS__)
#define vc_subgroup_reduce(...) VC__LINE(v_combine_v, vc_subgroup_reduce, __VA_ARGS__)
#define vc_subgroup_inclusive(...) VC__LINE(v_combine_v, vc_subgroup_inclusive, __VA_ARGS__)
#define vc_subgroup_exclusive(...) VC__LINE(v_combine_v, vc_subgroup_exclusive, __VA_ARGS__)
#define vc_subgroup_clustered(...) VC__LINE(v_combine_v_u32, vc_subgroup_clustered, __VA_ARGS__)
#define vc_group_reduce(...) VC__LINE(void_k_combine_v_out, vc_group_reduce, __VA_ARGS__)
#define vc_group_inclusive(...) VC__LINE(void_k_combine_v_out, vc_group_inclusive, __VA_ARGS__)
#define vc_group_exclusive(...) VC__LINE(void_k_combine_v_out, vc_group_exclusive, __VA_ARGS__)
#define vc_group_broadcast(...) VC__LINE(void_k_v_v_out, vc_group_broadcast, __VA_ARGS__)
#define vc_barrier_scoped(...) VC__LINE(void_k_scope_scope_u32, vc_barrier_scoped, __VA_ARGS__)
#define vc_barrier(...) VC__LINE(void_k, vc_barrier, __VA_ARGS__)
#define vc_break_if(...) VC__LINE(void_k_v, vc_break_if, __VA_ARGS__)
#define vc_continue_if(...) VC__LINE(void_k_v, vc_continue_if, __VA_ARGS__)
#define vc_break_outer_if(...) VC__LINE(void_k_u32_v, vc_break_outer_if, __VA_ARGS__)
#define vc_return_if(...) VC__LINE(void_k_v, vc_return_if, __VA_ARGS__)
#define vc_printf_args(...) VC__LINE(void_k_s_list_u32, vc_printf_args, __VA_ARGS__)
#define vc_assert(...) VC__LINE(void_k_v_s, vc_assert, __VA_ARGS__)
#define vc_if_begin(...) VC__LINE(int_k_v, vc_if_begin, __VA_ARGS__)
#define vc_else_begin(...) VC__LINE(int_k, vc_else_begin, __VA_ARGS__)
#define vc_for_begin(...) VC__LINE(v_k_v_v_v, vc_for_begin, __VA_ARGS__)
#define vc_loop_begin(...) VC__LINE(int_k, vc_loop_begin, __VA_ARGS__)
#define vc_switch_begin(...) VC__LINE(int_k_v, vc_switch_begin, __VA_ARGS__)
#define vc_case_begin(...) VC__LINE(int_k_i64, vc_case_begin, __VA_ARGS__)
#define vc_default_begin(...) VC__LINE(int_k, vc_default_begin, __VA_ARGS__)
#define vc_each_begin(...) VC__LINE(v_k_u32_u32, vc_each_begin, __VA_ARGS__)
#define vc_block_end(...) VC__LINE(int_k, vc_block_end, __VA_ARGS__)
#define vc_short_circuit_begin(...) VC__LINE(circuit_k_s_circuit_kind_v, vc_short_circuit_begin, __VA_ARGS__)
#define vc_short_circuit_else(...) VC__LINE(void_lazy_v, vc_short_circuit_else, __VA_ARGS__)
#define vc_short_circuit_end(...) VC__LINE(void_lazy_v_out, vc_short_circuit_end, __VA_ARGS__)
/* end of the functions with a source line */
#undef VC__LINE_FUNCTION
#undef VC__LINE_VOID_FUNCTION
#ifdef __cplusplus
template <class... Args> inline vc_val vc__line_vec(const char *file, int line, vc_kernel *k, Args... args) {
    vc__line_scope scope(file, line);
    return vc_vec(k, args...);
}
template <class... Args>
inline void vc__line_printf(const char *file, int line, vc_kernel *k, const char *format, Args... args) {
    vc__line_scope scope(file, line);
    vc_printf(k, format, args...);
}
#define vc_vec(...) vc__line_vec(__FILE__, __LINE__, __VA_ARGS__)
#define vc_printf(...) vc__line_printf(__FILE__, __LINE__, __VA_ARGS__)
#endif
#endif
#endif /* VKDISPATCH_CODEGEN_H */

#ifdef VKDISPATCH_CODEGEN_IMPLEMENTATION
/* In the implementation, the macros of VKDISPATCH_CODEGEN_LINES expand to the name with its arguments, so that
   vc_add(…) in a definition or call means the function itself. */
#undef VC__LINE
#define VC__LINE(signature, call, ...) call(__VA_ARGS__)
#ifndef VKDISPATCH_CODEGEN_IMPLEMENTED
#define VKDISPATCH_CODEGEN_IMPLEMENTED

// >>config
/* Limits, compiler-specific macros, the targets that are compiled in, and the default allocator.

   Terms of the implementation, their types, and the names of variables that most functions use:
     k      kernel      vc_kernel
     n      node        vc__node: a recorded operation, at first on the tape of its kernel. Its operands `a` are numbers
                        of other nodes, `x` is a constant or the index of an object. VC__NIL: no node
            anchored    of a node: an effect or a block, which keeps its order
            leaf        of a node: without operands, such as a constant or an argument
     o      object      vc__object: the data of a node that does not fit into it: arguments, arrays, variables, tables.
                        In functions that check operands: vc__operand. In the room spirv: the words of the instruction
                        that is being written
     s      lowering    vc__lowering: the list of lowered nodes and the state while it is made; its result is a listing.
                        In the room spirv: vc__spirv, the printer
     l      listing     vc__listing: the live nodes, lowered for a target, in the order in which they are printed
     g      printer     vc__printer, of GLSL, CUDA C or OpenCL C
     f      function    vc__fn: a call of a public function that records several operations. In the room spirv:
                        vc__frame, an open block. Also vc__variant, vc__field, vc__math_operand and vc__format_info
     h      implicit    vc_implicit_info: an implicit argument
     r      ref         vc_ref
   The kind of a type is its scalar type. A wide number has 64 bits; a word has 32. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VC__MAX_NODES 10000000u  /* a program that records more probably has a loop that never terminates */
#define VC__MAX_DEPTH 1000u      /* nesting of blocks; SPIR-V allows 1023 */
/* CPU drivers keep the private arrays of a whole work-group on the stack of one thread, usually 8 MiB. GPU drivers
   reserve private memory for every invocation that the device can hold at once. */
#define VC__MAX_PRIVATE 65536u         /* bytes of private arrays per invocation */
#define VC__MAX_GROUP_PRIVATE 4194304u /* and per work-group */
#define VC__MAX_TABLES 262144u         /* bytes of constant tables */
#define VC__MAX_ELEMENTS 1024u         /* elements of an array of images: VD_MAX_ELEMENTS */
#define VC__NO_GROUP_BASE 0x7fffffffu /* vc_machine.max_groups of a device for which launches are never split */
#define VC__NIL 0xffffffffu
#define VC__NAME_BYTES 48u       /* memory of a name in generated text, with the terminating zero */

#if defined(__GNUC__)
#define VC__PREFETCH(address) __builtin_prefetch(address)
/* where inlining would grow the code or cost registers in a loop */
#define VC__NOINLINE __attribute__((noinline))
#define VC__INLINE static inline __attribute__((always_inline)) /* on a hot path and called more than once */
#else
#define VC__PREFETCH(address) ((void)(address))
#define VC__NOINLINE
#define VC__INLINE static inline
#endif

/* Cold code: optimises for size and disables the slowest compiler passes. Frame pointers make the unwind tables
   (.eh_frame) a quarter smaller. gcc keeps __OPTIMIZE_SIZE__ defined after VC__SMALL_END, so no code may test that
   macro. */
#if !defined(__OPTIMIZE__)
#define VC__SMALL
#define VC__SMALL_END
#elif defined(__clang__) && __clang_major__ >= 8
#define VC__SMALL _Pragma("clang attribute push (__attribute__((minsize)), apply_to = function)")
#define VC__SMALL_END _Pragma("clang attribute pop")
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__INTEL_COMPILER)
#define VC__EXPANDED_PRAGMA(text) _Pragma(#text)
#define VC__PRAGMA(text) VC__EXPANDED_PRAGMA(text)
#if __GNUC__ >= 12
#define VC__SMALL_LEVEL "Oz", "no-ipa-modref"
#else
#define VC__SMALL_LEVEL "Os"
#endif
#define VC__SMALL_OPTIONS \
    VC__SMALL_LEVEL, "no-tree-pre", "no-tree-fre", "no-tree-pta", "no-tree-loop-im", "no-move-loop-invariants", \
    "no-gcse", "no-schedule-insns2", "no-expensive-optimizations", "no-ipa-sra", "no-shrink-wrap", "no-caller-saves", \
    "no-tree-forwprop", "no-tree-sra", "no-if-conversion", "no-cse-follow-jumps", "no-jump-tables", \
    "no-omit-frame-pointer"
#define VC__SMALL _Pragma("GCC push_options") VC__PRAGMA(GCC optimize (VC__SMALL_OPTIONS))
/* Also without sibling calls: each of them repeats the epilogue of its function. In wrappers they are smaller. */
#define VC__SMALL_BODIES \
    _Pragma("GCC push_options") VC__PRAGMA(GCC optimize (VC__SMALL_OPTIONS, "no-optimize-sibling-calls"))
#define VC__SMALL_END _Pragma("GCC pop_options")
#else
#define VC__SMALL
#define VC__SMALL_END
#endif
#if !defined(VC__SMALL_BODIES)
#define VC__SMALL_BODIES VC__SMALL
#endif

/* Targets are not removed by #if. The functions of a disabled target are static and unreachable, so an optimising
   compiler drops them. */
#if defined(VKDISPATCH_NO_GLSL)
#define VC__HAS_GLSL false
#else
#define VC__HAS_GLSL true
#endif
#if defined(VKDISPATCH_NO_CUDA_C)
#define VC__HAS_CUDA_C false
#else
#define VC__HAS_CUDA_C true
#endif
#if defined(VKDISPATCH_NO_OPENCL_C)
#define VC__HAS_OPENCL_C false
#else
#define VC__HAS_OPENCL_C true
#endif

static void *vc__std_allocate(void *user, size_t size) { (void)user; return malloc(size); }
static void *vc__std_reallocate(void *user, void *block, size_t size) { (void)user; return realloc(block, size); }
static void vc__std_release(void *user, void *block) { (void)user; free(block); }

// >>memory
/* The kernel's allocator, a growable array, and an arena for names and tables. vc_restart keeps a kernel's memory for
   reuse. */

VC__SMALL

static bool vc__is_allocator(const vc_allocator *a) { return a->allocate && a->reallocate && a->release; }

static vc_allocator vc__allocator_of(const vc_kernel_desc *desc) {
    vc_allocator a;
    if (desc && vc__is_allocator(&desc->allocator)) return desc->allocator;
    a.allocate = vc__std_allocate;
    a.reallocate = vc__std_reallocate;
    a.release = vc__std_release;
    a.user = NULL;
    return a;
}

/* Returns an array with room for at least `need` elements of `size` bytes and updates *capacity. Returns NULL if out
   of memory; the old block then stays valid. */
VC__NOINLINE static void *vc__array_grow(const vc_allocator *a, void *at, uint32_t *capacity, uint32_t need,
                                         size_t size) {
    uint32_t wanted = *capacity > VC__NIL / 2 ? VC__NIL : *capacity * 2;
    void *block;
    if (need <= *capacity && at) return at;
    /* small arrays grow by a factor of 4: copying costs more than unused capacity */
    if (wanted < (1u << 18) / size) wanted *= 2;
    if (wanted < need) wanted = need;
    if (wanted < 64) wanted = 64;
    if (wanted > SIZE_MAX / size) return NULL;
    block = at ? a->reallocate(a->user, at, wanted * size) : a->allocate(a->user, wanted * size);
    if (block) *capacity = wanted;
    return block;
}

typedef struct vc__chunk { struct vc__chunk *next; size_t size, used; } vc__chunk; /* the data follows the head */
#define VC__CHUNK_HEAD ((sizeof(vc__chunk) + 7) & ~(size_t)7)
typedef struct vc__arena { vc__chunk *first, *current; } vc__arena;

static vc__chunk *vc__chunk_make(const vc_allocator *a, size_t size) {
    vc__chunk *c = size > SIZE_MAX - VC__CHUNK_HEAD ? NULL : (vc__chunk *)a->allocate(a->user, VC__CHUNK_HEAD + size);
    if (!c) return NULL;
    c->next = NULL;
    c->size = size;
    c->used = 0;
    return c;
}

/* Allocates `size` bytes, aligned to 8, that live until vc_restart or vc_free. Returns NULL if out of memory. */
static void *vc__arena_allocate(const vc_allocator *a, vc__arena *arena, size_t size) {
    if (size > SIZE_MAX - 7) return NULL;
    size = (size + 7) & ~(size_t)7;
    while (arena->current && arena->current->size - arena->current->used < size && arena->current->next) {
        arena->current = arena->current->next;
        arena->current->used = 0;
    }
    if (!arena->current || arena->current->size - arena->current->used < size) {
        vc__chunk *c = vc__chunk_make(a, size < 4000 ? 4000 : size);
        if (!c) return NULL;
        if (arena->current) arena->current->next = c; else arena->first = c;
        arena->current = c;
    }
    arena->current->used += size;
    return (char *)arena->current + VC__CHUNK_HEAD + arena->current->used - size;
}

static void vc__arena_rewind(vc__arena *arena) {
    arena->current = arena->first;
    if (arena->current) arena->current->used = 0;
}

static void vc__arena_free(const vc_allocator *a, vc__arena *arena) {
    vc__chunk *c = arena->first, *next;
    for (; c; c = next) {
        next = c->next;
        a->release(a->user, c);
    }
}

VC__SMALL_END

/* Output buffers of the printers. vc_restart keeps their memory. */
typedef struct vc__words { uint32_t *data; uint32_t count, capacity; } vc__words;
typedef struct vc__text { char *data; size_t length, capacity; } vc__text; /* zero-terminated */

// >>fail
/* The first error of a kernel: one sentence that names the kernel, the call, the operand, its type or value, and the
   limit or remedy. Once a kernel has failed, later calls on it have no effect. After an error, private functions return
   false, NULL or VC__NIL, unless their comment says otherwise. */

#if defined(_MSC_VER)
#define VC__THREAD_LOCAL __declspec(thread)
#else
#define VC__THREAD_LOCAL __thread
#endif
typedef enum vc__missing_resource { VC__MISSING_NONE, VC__MISSING_MEMORY, VC__MISSING_MACHINE } vc__missing_resource;
static const char *vc__name(const vc_kernel *k);

VC__SMALL

/* Fails with "vc_add in kernel 'saxpy': " followed by the text that vc__write prints. `call` is the name of a public
   function without vc_, or of a macro: "VC_FOR". If it is NULL, the text begins with "kernel 'saxpy': ". Has no effect
   if k is NULL or has failed. Returns vc__no_value(). */
static vc_val vc__fail_call(vc_kernel *k, const char *call, const char *format, ...);
static void vc__set_missing(vc_kernel *k, vc__missing_resource missing);

VC__SMALL_END

#define VC__MUST_BE "operand 1 is %t, but must be %s"
#define VC__TYPE_MUST_BE "type is %t, but must be %s"
#define VC__PAIR_IS "operand 1 is %t and operand 2 is %t; %s"
#define VC__ACCESS_MUST_BE \
    "'%s': access is %u, but must be VC_READ, VC_WRITE or VC_READ_WRITE, optionally with VC_MAY_ALIAS%s"
/* As vc__fail_call, as an expression with the value false, for a return statement. */
#define VC__FAIL_FALSE(k, call, ...) (vc__fail_call(k, call, __VA_ARGS__), false)
/* Fails, because the kernel requires a feature that the machine lacks or exceeds a limit of the machine:
   vd_kernel_build then returns VD_ERROR_UNSUPPORTED. */
#define VC__FAIL_MACHINE(k, ...) (vc__set_missing(k, VC__MISSING_MACHINE), vc__fail_call(k, NULL, __VA_ARGS__))

VC__NOINLINE static void vc__no_memory(vc_kernel *k);

// >>types
/* Sizes, names and layout of types, and the conversion of immediates. */

enum { VC__KINDS_0 = 0, VC__KINDS_B = 1, VC__KINDS_I = 2, VC__KINDS_U = 4, VC__KINDS_F = 8,
       VC__KINDS_IU = 6, VC__KINDS_BIU = 7, VC__KINDS_IUF = 14, VC__KINDS_BIUF = 15 };

typedef struct vc__kind_info {
    uint8_t mask;     /* VC__KINDS_ */
    uint8_t column;   /* column in the tables vc__op and vc__text_parts: bool, int, uint, float */
    uint8_t bits;     /* width of a value */
    uint8_t bytes;    /* in memory */
    uint8_t fraction, exponent; /* field widths of a float */
    uint8_t features; /* VC_FEATURE_ that arithmetic of this kind needs */
    uint8_t unused;   /* pads the row to 8 bytes, so indexing needs no multiplication */
} vc__kind_info;

static const vc__kind_info vc__kinds[16] = {
    { 0, 0, 0, 0, 0, 0, 0, 0 },
    { VC__KINDS_B, 0, 1, 4, 0, 0, 0, 0 },
    { VC__KINDS_I, 1, 8, 1, 0, 0, VC_FEATURE_I8, 0 },
    { VC__KINDS_I, 1, 16, 2, 0, 0, VC_FEATURE_I16, 0 },
    { VC__KINDS_I, 1, 32, 4, 0, 0, 0, 0 },
    { VC__KINDS_I, 1, 64, 8, 0, 0, VC_FEATURE_I64, 0 },
    { VC__KINDS_U, 2, 8, 1, 0, 0, VC_FEATURE_I8, 0 },
    { VC__KINDS_U, 2, 16, 2, 0, 0, VC_FEATURE_I16, 0 },
    { VC__KINDS_U, 2, 32, 4, 0, 0, 0, 0 },
    { VC__KINDS_U, 2, 64, 8, 0, 0, VC_FEATURE_I64, 0 },
    { VC__KINDS_F, 3, 16, 2, 10, 5, VC_FEATURE_F16, 0 },
    { VC__KINDS_F, 3, 32, 4, 23, 8, 0, 0 },
    { VC__KINDS_F, 3, 64, 8, 52, 11, VC_FEATURE_F64, 0 } /* the other rows are zero: not a type */
};

#define VC__KIND_NAMES(n) { n, n "x2", n "x3", n "x4" }
static const char *const vc__kind_names[16][4] = { /* indexed by components - 1 */
    VC__KIND_NAMES("none"), VC__KIND_NAMES("bool"), VC__KIND_NAMES("i8"), VC__KIND_NAMES("i16"),
    VC__KIND_NAMES("i32"), VC__KIND_NAMES("i64"), VC__KIND_NAMES("u8"), VC__KIND_NAMES("u16"), VC__KIND_NAMES("u32"),
    VC__KIND_NAMES("u64"), VC__KIND_NAMES("f16"), VC__KIND_NAMES("f32"), VC__KIND_NAMES("f64"),
    VC__KIND_NAMES("none"), VC__KIND_NAMES("none"), VC__KIND_NAMES("none")
};

static inline uint32_t vc__kind(vc_type type) { return type & 15u; }
static inline uint32_t vc__components(vc_type type) { return ((type >> 4) & 3u) + 1u; } /* of a scalar or vector */
static inline uint32_t vc__rows(vc_type type) { return vc__components(type); }           /* of a matrix */
static inline vc_type vc__scalar(vc_type type) { return type & 15u; }
static inline uint32_t vc__kind_features(vc_type type) { return vc__kinds[type & 15u].features; }
static inline vc_type vc__vec(vc_type scalar, uint32_t components) { return scalar + 16u * (components - 1u); }
VC__NOINLINE static uint32_t vc__mask(vc_type type) { return vc__kinds[type & 15u].mask; }
VC__NOINLINE static uint32_t vc__bits(uint32_t kind) { return vc__kinds[kind & 15u].bits; }
static inline bool vc__is_bool(vc_type type) { return (type & 15u) == VC_BOOL; }
static inline bool vc__is_signed(vc_type type) { return (vc__kinds[type & 15u].mask & VC__KINDS_I) != 0; }
static inline bool vc__is_unsigned(vc_type type) { return (vc__kinds[type & 15u].mask & VC__KINDS_U) != 0; }
static inline bool vc__is_int(vc_type type) { return (vc__kinds[type & 15u].mask & VC__KINDS_IU) != 0; }
static inline bool vc__is_float(vc_type type) { return (vc__kinds[type & 15u].mask & VC__KINDS_F) != 0; }
static inline bool vc__is_type(vc_type type) { return type < 64u && vc__mask(type) != 0; } /* scalar or vector */
static inline uint32_t vc__scalar_bytes(vc_type type) { return vc__kinds[type & 15u].bytes; }

/* Bytes of an array element in shared memory. Drivers may lay shared memory out as std430 does, where a vector of 3
   occupies 4 components (Vulkan specification, limits of the Workgroup storage class). */
static uint32_t vc__shared_stride(vc_type type) {
    return vc__scalar_bytes(type) * (vc__components(type) == 3 ? 4 : vc__components(type));
}

/* The type of an access to a buffer element: bools are stored as u32, vectors of 3 as three scalars. */
static inline vc_type vc__memory_type(vc_type type) {
    if (vc__is_bool(type)) type += VC_U32 - VC_BOOL;
    return vc__components(type) == 3 ? vc__scalar(type) : type;
}

/* The unsigned or signed integer type of the same width; other types are returned unchanged. */
static inline vc_type vc__to_unsigned(vc_type type) { return vc__is_signed(type) ? type + (VC_U8 - VC_I8) : type; }
static inline vc_type vc__to_signed(vc_type type) { return vc__is_unsigned(type) ? type - (VC_U8 - VC_I8) : type; }

/* The unsigned integer type with the bits of an f32 or f64 scalar; any other type is returned unchanged. */
static inline vc_type vc__to_bits(vc_type type) {
    return type == VC_F32 ? (vc_type)VC_U32 : type == VC_F64 ? (vc_type)VC_U64 : type;
}

/* The unsigned integer type with the width of a float type. */
static inline vc_type vc__bits_type(vc_type type) { return type - VC_F16 + VC_U16; }

static inline uint64_t vc__ones(uint32_t bits) { return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1; }

/* Zero-extends the bit pattern of an integer kind to 64 bits, or sign-extends it if the kind is signed. */
static inline uint64_t vc__widen(vc_type kind, uint64_t bits) {
    uint32_t width = vc__bits(kind);
    if (vc__is_signed(kind) && width < 64 && ((bits >> (width - 1)) & 1)) return bits | ~vc__ones(width);
    return bits;
}

/* Dimensions of images, indexed by vc_dim. Numbers of components: coordinates; axes, without the layer; size.
   spirv: Dim. */
static const struct { const char *name, *glsl; uint8_t coordinates, axes, size, spirv; bool layers; } vc__dims[] = {
    { "", "", 0, 0, 0, 0, false }, { "1-D", "1D", 1, 1, 1, 0, false }, { "2-D", "2D", 2, 2, 2, 1, false },
    { "3-D", "3D", 3, 3, 3, 2, false }, { "cube", "Cube", 3, 3, 2, 3, false },
    { "1-D array", "1DArray", 2, 1, 2, 0, true }, { "2-D array", "2DArray", 3, 2, 3, 1, true },
    { "texel buffer", "Buffer", 1, 1, 1, 5, false }
};

/* Formats of storage images, indexed by vc_format. bits: of a channel, or of a packed texel. coded: 0: f32 or integer,
   u: unorm, s: snorm, h: f16, p: packed. */
typedef struct vc__format_info { const char *glsl; uint8_t kind, channels, bits; char coded; } vc__format_info;
static const vc__format_info vc__formats[] = {
    { NULL, 0, 0, 0, 0 }, { "rgba32f", VC_F32, 4, 32, 0 }, { "rgba16f", VC_F32, 4, 16, 'h' },
    { "r32f", VC_F32, 1, 32, 0 }, { "rgba8", VC_F32, 4, 8, 'u' }, { "rgba8_snorm", VC_F32, 4, 8, 's' },
    { "rg32f", VC_F32, 2, 32, 0 }, { "rg16f", VC_F32, 2, 16, 'h' }, { "r11f_g11f_b10f", VC_F32, 3, 32, 'p' },
    { "r16f", VC_F32, 1, 16, 'h' }, { "rgba16", VC_F32, 4, 16, 'u' }, { "rgb10_a2", VC_F32, 4, 32, 'p' },
    { "rg16", VC_F32, 2, 16, 'u' }, { "rg8", VC_F32, 2, 8, 'u' }, { "r16", VC_F32, 1, 16, 'u' },
    { "r8", VC_F32, 1, 8, 'u' }, { "rgba16_snorm", VC_F32, 4, 16, 's' }, { "rg16_snorm", VC_F32, 2, 16, 's' },
    { "rg8_snorm", VC_F32, 2, 8, 's' }, { "r16_snorm", VC_F32, 1, 16, 's' }, { "r8_snorm", VC_F32, 1, 8, 's' },
    { "rgba32i", VC_I32, 4, 32, 0 }, { "rgba16i", VC_I32, 4, 16, 0 }, { "rgba8i", VC_I32, 4, 8, 0 },
    { "r32i", VC_I32, 1, 32, 0 }, { "rg32i", VC_I32, 2, 32, 0 }, { "rg16i", VC_I32, 2, 16, 0 },
    { "rg8i", VC_I32, 2, 8, 0 }, { "r16i", VC_I32, 1, 16, 0 }, { "r8i", VC_I32, 1, 8, 0 },
    { "rgba32ui", VC_U32, 4, 32, 0 }, { "rgba16ui", VC_U32, 4, 16, 0 }, { "rgba8ui", VC_U32, 4, 8, 0 },
    { "r32ui", VC_U32, 1, 32, 0 }, { "rgb10_a2ui", VC_U32, 4, 32, 'p' }, { "rg32ui", VC_U32, 2, 32, 0 },
    { "rg16ui", VC_U32, 2, 16, 0 }, { "rg8ui", VC_U32, 2, 8, 0 }, { "r16ui", VC_U32, 1, 16, 0 },
    { "r8ui", VC_U32, 1, 8, 0 }
};
enum { VC__IMAGE_FORMATS = sizeof vc__formats / sizeof *vc__formats };

static inline bool vc__is_optional_format(uint32_t format) {
    return format > VC_FORMAT_RGBA8_SNORM && (format < VC_FORMAT_RGBA32_I || format > VC_FORMAT_R32_I)
           && (format < VC_FORMAT_RGBA32_U || format > VC_FORMAT_R32_U);
}

typedef struct vc__image { uint8_t dim, format; bool storage; } vc__image; /* as in vc_image_desc */

VC__SMALL

/* Converts the bits of an integer to those of type `to`. Returns whether the value is unchanged. */
static bool vc__fits(vc_type from, uint64_t bits, vc_type to, uint64_t *out) {
    uint64_t wide = vc__widen(from, bits);
    bool negative = vc__is_signed(from) && (wide >> 63);
    *out = wide & vc__ones(vc__bits(to));
    if (negative && vc__is_unsigned(to)) return false;
    return vc__widen(to, *out) == wide && (vc__is_signed(to) && (vc__widen(to, *out) >> 63)) == negative;
}

VC__SMALL_END

// >>ops
/* The table of operations, and the numbers of the SPIR-V specification that the builder names. */

/* SPIR-V grammar 1.6 revision 1: written by tools/spirv */
enum {
    VC__OpName = 5, VC__OpExtension = 10, VC__OpExtInstImport = 11, VC__OpExtInst = 12, VC__OpMemoryModel = 14,
    VC__OpEntryPoint = 15, VC__OpExecutionMode = 16, VC__OpCapability = 17, VC__OpTypeVoid = 19, VC__OpTypeBool = 20,
    VC__OpTypeInt = 21, VC__OpTypeFloat = 22, VC__OpTypeVector = 23, VC__OpTypeImage = 25, VC__OpTypeSampledImage = 27,
    VC__OpTypeArray = 28, VC__OpTypeRuntimeArray = 29, VC__OpTypeStruct = 30, VC__OpTypePointer = 32,
    VC__OpTypeFunction = 33, VC__OpConstantTrue = 41, VC__OpConstantFalse = 42, VC__OpConstant = 43,
    VC__OpConstantComposite = 44, VC__OpConstantNull = 46, VC__OpFunction = 54, VC__OpFunctionEnd = 56,
    VC__OpVariable = 59, VC__OpLoad = 61, VC__OpStore = 62, VC__OpAccessChain = 65, VC__OpDecorate = 71,
    VC__OpMemberDecorate = 72, VC__OpVectorExtractDynamic = 77, VC__OpCompositeConstruct = 80,
    VC__OpCompositeExtract = 81, VC__OpCopyObject = 83, VC__OpImageSampleExplicitLod = 88, VC__OpImageFetch = 95,
    VC__OpImageGather = 96, VC__OpImageRead = 98, VC__OpImageWrite = 99, VC__OpImage = 100,
    VC__OpImageQuerySizeLod = 103, VC__OpImageQuerySize = 104, VC__OpImageQueryLevels = 106, VC__OpConvertFToU = 109,
    VC__OpConvertFToS = 110, VC__OpConvertSToF = 111, VC__OpConvertUToF = 112, VC__OpUConvert = 113,
    VC__OpSConvert = 114, VC__OpFConvert = 115, VC__OpConvertUToPtr = 120, VC__OpBitcast = 124, VC__OpSNegate = 126,
    VC__OpFNegate = 127, VC__OpIAdd = 128, VC__OpFAdd = 129, VC__OpISub = 130, VC__OpFSub = 131, VC__OpIMul = 132,
    VC__OpFMul = 133, VC__OpUDiv = 134, VC__OpSDiv = 135, VC__OpFDiv = 136, VC__OpUMod = 137, VC__OpSRem = 138,
    VC__OpSMod = 139, VC__OpIAddCarry = 149, VC__OpISubBorrow = 150, VC__OpUMulExtended = 151, VC__OpSMulExtended = 152,
    VC__OpAny = 154, VC__OpAll = 155, VC__OpIsNan = 156, VC__OpIsInf = 157, VC__OpLogicalEqual = 164,
    VC__OpLogicalNotEqual = 165, VC__OpLogicalOr = 166, VC__OpLogicalAnd = 167, VC__OpLogicalNot = 168,
    VC__OpSelect = 169, VC__OpIEqual = 170, VC__OpINotEqual = 171, VC__OpULessThan = 176, VC__OpSLessThan = 177,
    VC__OpULessThanEqual = 178, VC__OpSLessThanEqual = 179, VC__OpFOrdEqual = 180, VC__OpFUnordNotEqual = 183,
    VC__OpFOrdLessThan = 184, VC__OpFOrdLessThanEqual = 188, VC__OpShiftRightLogical = 194,
    VC__OpShiftRightArithmetic = 195, VC__OpShiftLeftLogical = 196, VC__OpBitwiseOr = 197, VC__OpBitwiseXor = 198,
    VC__OpBitwiseAnd = 199, VC__OpNot = 200, VC__OpBitReverse = 204, VC__OpBitCount = 205, VC__OpControlBarrier = 224,
    VC__OpMemoryBarrier = 225, VC__OpAtomicLoad = 227, VC__OpAtomicStore = 228, VC__OpAtomicExchange = 229,
    VC__OpAtomicCompareExchange = 230, VC__OpAtomicIAdd = 234, VC__OpAtomicSMin = 236, VC__OpAtomicUMin = 237,
    VC__OpAtomicSMax = 238, VC__OpAtomicUMax = 239, VC__OpAtomicAnd = 240, VC__OpAtomicOr = 241, VC__OpAtomicXor = 242,
    VC__OpPhi = 245, VC__OpLoopMerge = 246, VC__OpSelectionMerge = 247, VC__OpLabel = 248, VC__OpBranch = 249,
    VC__OpBranchConditional = 250, VC__OpSwitch = 251, VC__OpReturn = 253, VC__OpGroupNonUniformElect = 333,
    VC__OpGroupNonUniformAll = 334, VC__OpGroupNonUniformAny = 335, VC__OpGroupNonUniformAllEqual = 336,
    VC__OpGroupNonUniformBroadcast = 337, VC__OpGroupNonUniformBroadcastFirst = 338, VC__OpGroupNonUniformBallot = 339,
    VC__OpGroupNonUniformBallotBitCount = 342, VC__OpGroupNonUniformShuffle = 345,
    VC__OpGroupNonUniformShuffleXor = 346, VC__OpGroupNonUniformShuffleUp = 347, VC__OpGroupNonUniformShuffleDown = 348,
    VC__OpGroupNonUniformIAdd = 349, VC__OpGroupNonUniformFAdd = 350, VC__OpGroupNonUniformIMul = 351,
    VC__OpGroupNonUniformFMul = 352, VC__OpGroupNonUniformSMin = 353, VC__OpGroupNonUniformUMin = 354,
    VC__OpGroupNonUniformFMin = 355, VC__OpGroupNonUniformSMax = 356, VC__OpGroupNonUniformUMax = 357,
    VC__OpGroupNonUniformFMax = 358, VC__OpGroupNonUniformBitwiseAnd = 359, VC__OpGroupNonUniformBitwiseOr = 360,
    VC__OpGroupNonUniformBitwiseXor = 361, VC__OpGroupNonUniformLogicalAnd = 362, VC__OpGroupNonUniformLogicalOr = 363,
    VC__OpGroupNonUniformLogicalXor = 364, VC__OpSDot = 4450, VC__OpUDot = 4451, VC__OpSUDot = 4452,
    VC__OpSDotAccSat = 4453, VC__OpUDotAccSat = 4454, VC__OpSUDotAccSat = 4455, VC__OpAtomicFAddEXT = 6035
};
enum {
    VC__AddressingModelLogical = 0, VC__AddressingModelPhysicalStorageBuffer64 = 5348
};
enum {
    VC__BuiltInWorkgroupId = 26, VC__BuiltInLocalInvocationId = 27, VC__BuiltInGlobalInvocationId = 28,
    VC__BuiltInLocalInvocationIndex = 29, VC__BuiltInSubgroupSize = 36, VC__BuiltInNumSubgroups = 38,
    VC__BuiltInSubgroupId = 40, VC__BuiltInSubgroupLocalInvocationId = 41
};
enum {
    VC__CapabilityShader = 1, VC__CapabilityFloat16 = 9, VC__CapabilityFloat64 = 10, VC__CapabilityInt64 = 11,
    VC__CapabilityInt64Atomics = 12, VC__CapabilityInt16 = 22, VC__CapabilitySampledImageArrayDynamicIndexing = 29,
    VC__CapabilityStorageImageArrayDynamicIndexing = 31, VC__CapabilityInt8 = 39, VC__CapabilitySampled1D = 43,
    VC__CapabilityImage1D = 44, VC__CapabilitySampledBuffer = 46, VC__CapabilityImageBuffer = 47,
    VC__CapabilityStorageImageExtendedFormats = 49, VC__CapabilityImageQuery = 50,
    VC__CapabilityStorageImageReadWithoutFormat = 55, VC__CapabilityStorageImageWriteWithoutFormat = 56,
    VC__CapabilityGroupNonUniform = 61, VC__CapabilityGroupNonUniformVote = 62,
    VC__CapabilityGroupNonUniformArithmetic = 63, VC__CapabilityGroupNonUniformBallot = 64,
    VC__CapabilityGroupNonUniformShuffle = 65, VC__CapabilityGroupNonUniformShuffleRelative = 66,
    VC__CapabilityGroupNonUniformClustered = 67, VC__CapabilityStorageBuffer16BitAccess = 4433,
    VC__CapabilityStorageBuffer8BitAccess = 4448, VC__CapabilitySampledImageArrayNonUniformIndexing = 5307,
    VC__CapabilityStorageImageArrayNonUniformIndexing = 5309, VC__CapabilityPhysicalStorageBufferAddresses = 5347,
    VC__CapabilityDotProductInput4x8BitPacked = 6018, VC__CapabilityDotProduct = 6019,
    VC__CapabilityAtomicFloat32AddEXT = 6033
};
enum {
    VC__DecorationBlock = 2, VC__DecorationArrayStride = 6, VC__DecorationBuiltIn = 11, VC__DecorationRestrict = 19,
    VC__DecorationAliased = 20, VC__DecorationCoherent = 23, VC__DecorationNonWritable = 24,
    VC__DecorationNonReadable = 25, VC__DecorationBinding = 33, VC__DecorationDescriptorSet = 34,
    VC__DecorationOffset = 35, VC__DecorationNoContraction = 42, VC__DecorationNonUniform = 5300
};
enum {
    VC__ExecutionModeLocalSize = 17, VC__ExecutionModeMaximallyReconvergesKHR = 6023
};
enum {
    VC__ExecutionModelGLCompute = 5
};
enum {
    VC__GLSLstd450RoundEven = 2, VC__GLSLstd450Trunc = 3, VC__GLSLstd450FAbs = 4, VC__GLSLstd450SAbs = 5,
    VC__GLSLstd450FSign = 6, VC__GLSLstd450SSign = 7, VC__GLSLstd450Floor = 8, VC__GLSLstd450Ceil = 9,
    VC__GLSLstd450Sin = 13, VC__GLSLstd450Cos = 14, VC__GLSLstd450Tan = 15, VC__GLSLstd450Asin = 16,
    VC__GLSLstd450Acos = 17, VC__GLSLstd450Atan = 18, VC__GLSLstd450Sinh = 19, VC__GLSLstd450Cosh = 20,
    VC__GLSLstd450Tanh = 21, VC__GLSLstd450Atan2 = 25, VC__GLSLstd450Pow = 26, VC__GLSLstd450Exp = 27,
    VC__GLSLstd450Log = 28, VC__GLSLstd450Exp2 = 29, VC__GLSLstd450Log2 = 30, VC__GLSLstd450Sqrt = 31,
    VC__GLSLstd450InverseSqrt = 32, VC__GLSLstd450UMin = 38, VC__GLSLstd450SMin = 39, VC__GLSLstd450UMax = 41,
    VC__GLSLstd450SMax = 42, VC__GLSLstd450Fma = 50, VC__GLSLstd450PackHalf2x16 = 58, VC__GLSLstd450UnpackHalf2x16 = 62,
    VC__GLSLstd450FindILsb = 73, VC__GLSLstd450FindSMsb = 74, VC__GLSLstd450FindUMsb = 75, VC__GLSLstd450NMin = 79,
    VC__GLSLstd450NMax = 80
};
enum {
    VC__ImageOperandsLod = 2, VC__ImageOperandsGrad = 4, VC__ImageOperandsConstOffset = 8
};
enum {
    VC__MemoryAccessAligned = 2
};
enum {
    VC__MemoryModelGLSL450 = 1
};
enum {
    VC__MemorySemanticsAcquire = 2, VC__MemorySemanticsRelease = 4, VC__MemorySemanticsAcquireRelease = 8,
    VC__MemorySemanticsUniformMemory = 64, VC__MemorySemanticsWorkgroupMemory = 256,
    VC__MemorySemanticsImageMemory = 2048
};
enum {
    VC__PackedVectorFormatPackedVectorFormat4x8Bit = 0
};
enum {
    VC__ScopeDevice = 1, VC__ScopeWorkgroup = 2, VC__ScopeSubgroup = 3
};
enum {
    VC__StorageClassUniformConstant = 0, VC__StorageClassInput = 1, VC__StorageClassWorkgroup = 4,
    VC__StorageClassPrivate = 6, VC__StorageClassFunction = 7, VC__StorageClassPushConstant = 9,
    VC__StorageClassStorageBuffer = 12, VC__StorageClassPhysicalStorageBuffer = 5349
};
/* end of the SPIR-V grammar */

/* The table of operations. A row:
     X(OP, name, class, operands, kinds, result, flags, spirv, text, rule)
   class     LEAF        has no operands: an argument, an id or a constant; in the region of the kernel's entry
             PURE        depends only on its operands: merged with an equal node of an open block
             READ        reads memory: merged within its region, and across regions if the kernel does not write there
             NEW         declares a variable or a private array where it was recorded
             CONVERGENT  depends on which invocations are active: stays in its region and is never merged
             EFFECT      stays where it was recorded
             BLOCK       opens, splits or closes a block
   operands  their number; 9 (VC__MANY): a range of the list of extra operands
   kinds     kinds allowed for the first operand: B bool, I signed, U unsigned, F float
   result    SAME: the type of the first operand; BOOL: bool, with as many components; SCALAR: one component;
             SIGNED: the signed integer type of its width; OWN: not derived from the operands; the node stores it
   flags     COMMUTES: the two operands can be swapped; EXACT: + - * of floats, which compilers must not contract or
             reorder; INTEGERS: only integers are lowered; 0: none
   spirv     VC__S: opcode for bool, int, uint, float; VC__E: an instruction of GLSL.std.450; 0: none
   text      VC__T…: the text patterns in GLSL, CUDA C and OpenCL C, see vc__op_text and vc__p_print_pattern
   rule      the lowering rule (room lowering), for targets that have no instruction or text, or one with a different
             meaning; NULL: none */
#define VC__E(n) (0x10000u | (n))
#define VC__S(b, i, u, f) { b, i, u, f }
#define VC__S_ALL(op) { op, op, op, op }
#define VC__S_INT(op) { 0, op, op, 0 }
#define VC__S_FLOAT(op) { 0, 0, 0, op }
#define VC__S_NONE { 0, 0, 0, 0 }
/* Texts: a letter for the form, a row of vc__text_parts, and then the parts, each terminated by a zero ("": none). */
#define VC__T_NONE "a"
/* VC__T: one text for every kind and target. VC__T_GLSL: GLSL only; lowered for the C targets. VC__T_VECTOR: one
   text, and another one for GLSL vectors. */
#define VC__T(text) VC__T_VECTOR(text, "")
#define VC__T_VECTOR(text, vector) "b" text "\0" vector
#define VC__T_GLSL(text) "c" text
/* Texts for bools, for integers, and for signed integers in C, where the result is cast back to its type. */
#define VC__T_BITS(b, u, i, vector) "d" b "\0" u "\0" i "\0" vector
/* A function of floats, with the same name in GLSL and in C, or with different names. $f is the "f" at the end of the
   names of f32 functions in CUDA C. VC__T_F32: f64 is lowered. */
#define VC__T_FLOAT(text) "e" text
#define VC__T_FLOAT_2(glsl, c) "f" glsl "\0" c
#define VC__T_F32(text) "n" text
#define VC__T_F32_2(glsl, c) "o" glsl "\0" c
/* Operators: `text` for every target and kind, except signed integers in C (`i`) and floats in CUDA C (`f32`, `f64`).
   VC__T_WRAP: signed integers are computed as unsigned, so that they wrap. Floats in CUDA C are computed by intrinsics,
   which no compiler option contracts or makes less accurate. */
#define VC__T_OPERATOR(text, i, f32, f64) "g" text "\0" i "\0" f32 "\0" f64
#define VC__T_WRAP(op, f32, f64) VC__T_OPERATOR("$0 " op " $1", "($T)(($U)$0 " op " ($U)$1)", f32, f64)
/* Texts for i32 and u32 only, in GLSL, CUDA C and OpenCL C. */
#define VC__T_WORD(gi, gu, ci, cu, oi, ou) "h" gi "\0" gu "\0" ci "\0" cu "\0" oi "\0" ou
/* A helper function in the prologue of CUDA C (room cuda). */
#define VC__T_CUDA(text) "i" text
#define VC__T_DOT(name) VC__T_CUDA("vc_dot_" name "($0, $1)")
/* Subgroup votes: the CUDA function has a mask as a parameter. */
#define VC__T_VOTE(glsl, cuda) "j" glsl "\0" cuda
/* Function names; for OpenCL C, the printer adds the prefix atomic_ or atom_. */
#define VC__T_ATOMIC(glsl, cuda, opencl) "k" glsl "\0" cuda "\0" opencl
#define VC__T_SHUFFLE(glsl, cuda) "l" "subgroupShuffle" glsl "($0, $1)\0" "__shfl" cuda "_sync($2, $0, $1)"
/* Subgroup reductions and scans. CUDA C has functions (room cuda) for reductions of i32 and u32; all others are
   lowered. */
#define VC__T_REDUCE(glsl, cuda) "m" "subgroup@" glsl "($0`)\0" cuda
#define VC__OPS(X) \
    /* ---- entry ---- */ \
    X(NONE,         "none",         LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* scalar; bits: a[0] low, a[1] high half */ \
    X(CONST,        "const",        LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* vector of CONST; a[0] first in extra, a[1] count */ \
    X(TUPLE,        "tuple",        LEAF,   9, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* x: object; type: of one element */ \
    X(BUFFER,       "buffer",       LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* x: object; type: of a texel */ \
    X(IMAGE,        "image",        LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(PARAM,        "param",        LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) /* x: object */ \
    X(SHARED,       "shared",       LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) /* x: object */ \
    X(TABLE,        "table",        LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) /* x: object */ \
    /* x: object; zeroed here */ \
    X(VAR,          "var",          NEW,    0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(ARRAY,        "array",        NEW,    0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) /* x: object */ \
    /* u32, as the next three; x: axis, 0 for LOCAL_INDEX */ \
    X(LOCAL_ID,     "local_id",     LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* GROUP_ID and GLOBAL_ID: without the group base of the launch */ \
    X(GROUP_ID,     "group_id",     LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(GLOBAL_ID,    "global_id",    LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(LOCAL_INDEX,  "local_index",  LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* u32, as the next three */ \
    X(SUBGROUP_SIZE, "subgroup_size", LEAF, 0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, vc__lower_subgroup) \
    X(SUBGROUP_COUNT, "subgroup_count", LEAF, 0, 0,  OWN,    0, VC__S_NONE, VC__T_NONE, vc__lower_subgroup) \
    X(SUBGROUP_ID,  "subgroup_id",  LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, vc__lower_subgroup) \
    X(SUBGROUP_LOCAL_ID, "subgroup_local_id", LEAF, 0, 0, OWN, 0, VC__S_NONE, VC__T_NONE, vc__lower_subgroup) \
    /* a[0] kind, a[1] argument (object), a[2] axis */ \
    X(IMPLICIT,     "implicit",     LEAF,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* ---- construction ---- */ \
    /* a[0] first in extra, a[1] count */ \
    X(VEC,          "vec",          PURE,   9, BIUF, OWN,    0, VC__S_ALL(VC__OpCompositeConstruct), VC__T_NONE, NULL) \
    /* x: index */ \
    X(COMPONENT,    "component",    PURE,   1, BIUF, SCALAR, 0, VC__S_ALL(VC__OpCompositeExtract), VC__T_NONE, NULL) \
    X(EXTRACT,      "extract",      PURE,   2, BIUF, SCALAR, 0, VC__S_ALL(VC__OpVectorExtractDynamic), \
      VC__T_GLSL("$0[$1]"), vc__lower_extract) \
    /* composite value, never in a listing; like VEC */ \
    X(PARTS,        "parts",        PURE,   9, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* One step into composite memory, never in a listing; see vc__push_path */ \
    X(PATH,         "path",         PURE,   2, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* a[0] * x + a[1], with the width that indices need on the target; a[2]: whether it indexes a buffer */ \
    X(INDEX,        "index",        PURE,   2, IU,   OWN,    0, VC__S_NONE, VC__T_NONE, vc__lower_index) \
    X(CAST,         "cast",         PURE,   1, BIUF, OWN,    0, VC__S_NONE, VC__T_NONE, vc__lower_cast) \
    X(BITCAST,      "bitcast",      PURE,   1, IUF,  OWN,    0, VC__S_ALL(VC__OpBitcast), VC__T_NONE, NULL) \
    /* ---- arithmetic ---- */ \
    X(NEG,          "neg",          PURE,   1, IUF,  SAME,   0, VC__S(0, VC__OpSNegate, VC__OpSNegate, VC__OpFNegate), \
      VC__T_OPERATOR("-$0", "($T)(0u - ($U)$0)", "-$0", "-$0"), NULL) \
    X(ADD,          "add",          PURE,   2, IUF,  SAME,   COMMUTES_EXACT, \
      VC__S(0, VC__OpIAdd, VC__OpIAdd, VC__OpFAdd), VC__T_WRAP("+", "$0 + $1", "$0 + $1"), NULL) \
    X(SUB,          "sub",          PURE,   2, IUF,  SAME,   EXACT, VC__S(0, VC__OpISub, VC__OpISub, VC__OpFSub), \
      VC__T_WRAP("-", "$0 - $1", "$0 - $1"), NULL) \
    X(MUL,          "mul",          PURE,   2, IUF,  SAME,   COMMUTES_EXACT, \
      VC__S(0, VC__OpIMul, VC__OpIMul, VC__OpFMul), VC__T_WRAP("*", "__fmul_rn($0, $1)", "__dmul_rn($0, $1)"), NULL) \
    X(DIV,          "div",          PURE,   2, IUF,  SAME,   0, VC__S(0, VC__OpSDiv, VC__OpUDiv, VC__OpFDiv), \
      VC__T_OPERATOR("$0 / $1", "$0 / $1", "__fdiv_rn($0, $1)", "__ddiv_rn($0, $1)"), vc__lower_div) \
    X(REM,          "rem",          PURE,   2, IUF,  SAME,   0, VC__S(0, VC__OpSRem, VC__OpUMod, 0), \
      VC__T("$0 % $1"), vc__lower_rem) \
    X(MOD,          "mod",          PURE,   2, IUF,  SAME,   0, VC__S(0, VC__OpSMod, VC__OpUMod, 0), \
      VC__T("$0 % $1"), vc__lower_mod) \
    X(FMA,          "fma",          PURE,   3, IUF,  SAME,   INTEGERS, VC__S_FLOAT(VC__E(VC__GLSLstd450Fma)), \
      VC__T_FLOAT("fma$f($0, $1, $2)"), vc__lower_by_rule) \
    X(ABS,          "abs",          PURE,   1, IUF,  SAME,   0, \
      VC__S(0, VC__E(VC__GLSLstd450SAbs), 0, VC__E(VC__GLSLstd450FAbs)), \
      VC__T_FLOAT_2("abs($0)", "fabs$f($0)"), vc__lower_abs) \
    X(SIGN,         "sign",         PURE,   1, IUF,  SAME,   0, \
      VC__S(0, VC__E(VC__GLSLstd450SSign), 0, VC__E(VC__GLSLstd450FSign)), VC__T_GLSL("sign($0)"), vc__lower_sign) \
    X(MIN,          "min",          PURE,   2, IUF,  SAME,   COMMUTES, \
      VC__S(0, VC__E(VC__GLSLstd450SMin), VC__E(VC__GLSLstd450UMin), VC__E(VC__GLSLstd450NMin)), \
      VC__T_FLOAT_2("min($0, $1)", "fmin$f($0, $1)"), vc__lower_min_max) \
    X(MAX,          "max",          PURE,   2, IUF,  SAME,   COMMUTES, \
      VC__S(0, VC__E(VC__GLSLstd450SMax), VC__E(VC__GLSLstd450UMax), VC__E(VC__GLSLstd450NMax)), \
      VC__T_FLOAT_2("max($0, $1)", "fmax$f($0, $1)"), vc__lower_min_max) \
    X(CLAMP,        "clamp",        PURE,   3, IUF,  SAME,   0, VC__S_NONE, VC__T_NONE, vc__lower_by_rule) \
    X(MIX,          "mix",          PURE,   3, F,    SAME,   0, VC__S_NONE, VC__T_NONE, vc__lower_by_rule) \
    X(STEP,         "step",         PURE,   2, F,    SAME,   0, VC__S_NONE, VC__T_NONE, vc__lower_by_rule) \
    X(FLOOR,        "floor",        PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Floor)), \
      VC__T_FLOAT("floor$f($0)"), NULL) \
    X(CEIL,         "ceil",         PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Ceil)), \
      VC__T_FLOAT("ceil$f($0)"), NULL) \
    X(TRUNC,        "trunc",        PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Trunc)), \
      VC__T_FLOAT("trunc$f($0)"), vc__lower_round) \
    X(ROUND,        "round",        PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450RoundEven)), \
      VC__T_FLOAT_2("roundEven($0)", "rint$f($0)"), vc__lower_round) \
    X(FRACT,        "fract",        PURE,   1, F,    SAME,   0, VC__S_NONE, VC__T_NONE, vc__lower_by_rule) \
    X(SQRT,         "sqrt",         PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Sqrt)), \
      VC__T_OPERATOR("sqrt($0)", "", "__fsqrt_rn($0)", "__dsqrt_rn($0)"), NULL) \
    X(RSQRT,        "rsqrt",        PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450InverseSqrt)), \
      VC__T_F32_2("inversesqrt($0)", "rsqrt$f($0)"), vc__lower_math64) \
    X(EXP,          "exp",          PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Exp)), \
      VC__T_F32("exp$f($0)"), vc__lower_math64) \
    X(EXP2,         "exp2",         PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Exp2)), \
      VC__T_F32("exp2$f($0)"), vc__lower_math64) \
    X(LOG,          "log",          PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Log)), \
      VC__T_F32("log$f($0)"), vc__lower_log) \
    X(LOG2,         "log2",         PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Log2)), \
      VC__T_F32("log2$f($0)"), vc__lower_log) \
    X(POW,          "pow",          PURE,   2, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Pow)), \
      VC__T_F32("pow$f($0, $1)"), vc__lower_pow) \
    X(SIN,          "sin",          PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Sin)), \
      VC__T_F32("sin$f($0)"), vc__lower_math64) \
    X(COS,          "cos",          PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Cos)), \
      VC__T_F32("cos$f($0)"), vc__lower_math64) \
    X(TAN,          "tan",          PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Tan)), \
      VC__T_F32("tan$f($0)"), vc__lower_math64) \
    X(ASIN,         "asin",         PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Asin)), \
      VC__T_F32("asin$f($0)"), vc__lower_math64) \
    X(ACOS,         "acos",         PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Acos)), \
      VC__T_F32("acos$f($0)"), vc__lower_math64) \
    X(ATAN,         "atan",         PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Atan)), \
      VC__T_F32("atan$f($0)"), vc__lower_atan) \
    X(ATAN2,        "atan2",        PURE,   2, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Atan2)), \
      VC__T_F32_2("atan($0, $1)", "atan2$f($0, $1)"), vc__lower_atan) \
    X(SINH,         "sinh",         PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Sinh)), \
      VC__T_F32("sinh$f($0)"), vc__lower_sinh) \
    X(COSH,         "cosh",         PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Cosh)), \
      VC__T_F32("cosh$f($0)"), vc__lower_sinh) \
    X(TANH,         "tanh",         PURE,   1, F,    SAME,   0, VC__S_FLOAT(VC__E(VC__GLSLstd450Tanh)), \
      VC__T_F32("tanh$f($0)"), vc__lower_math64) \
    X(ISNAN,        "isnan",        PURE,   1, F,    BOOL,   0, VC__S_FLOAT(VC__OpIsNan), \
      VC__T_GLSL("isnan($0)"), vc__lower_isnan) \
    X(ISINF,        "isinf",        PURE,   1, F,    BOOL,   0, VC__S_FLOAT(VC__OpIsInf), \
      VC__T_GLSL("isinf($0)"), vc__lower_isnan) \
    X(DOT,          "dot",          PURE,   2, IUF,  SCALAR, COMMUTES, VC__S_NONE, VC__T_NONE, vc__lower_dot) \
    /* ---- integers; native forms exist for 32 bits only ---- */ \
    X(POPCOUNT,     "popcount",     PURE,   1, IU,   SAME,   0, VC__S(0, VC__OpBitCount, 0, 0), \
      VC__T_WORD("bitCount($0)", "", "__popc($0)", "", "popcount($0)", ""), vc__lower_popcount) \
    X(BIT_REVERSE,  "bit_reverse",  PURE,   1, IU,   SAME,   0, VC__S_INT(VC__OpBitReverse), \
      VC__T_WORD("bitfieldReverse($0)", "bitfieldReverse($0)", "", "__brev($0)", "", ""), vc__lower_bit_reverse) \
    X(FIND_LSB,     "find_lsb",     PURE,   1, IU,   SIGNED, 0, VC__S_INT(VC__E(VC__GLSLstd450FindILsb)), \
      VC__T_WORD("findLSB($0)", "findLSB($0)", "", "(__ffs((int)$0) - 1)", "", ""), vc__lower_find_lsb) \
    X(FIND_MSB,     "find_msb",     PURE,   1, IU,   SIGNED, 0, \
      VC__S(0, VC__E(VC__GLSLstd450FindSMsb), VC__E(VC__GLSLstd450FindUMsb), 0), \
      VC__T_WORD("findMSB($0)", "findMSB($0)", "", "(31 - __clz((int)$0))", "", "(31 - (int)clz($0))"), \
      vc__lower_find_msb) \
    X(MUL_HI,       "mul_hi",       PURE,   2, IU,   SAME,   COMMUTES, \
      VC__S(0, VC__OpSMulExtended, VC__OpUMulExtended, 0), \
      VC__T_WORD("", "", "__mulhi($0, $1)", "__umulhi($0, $1)", "mul_hi($0, $1)", "mul_hi($0, $1)"), \
      vc__lower_mul_hi) \
    X(ADD_CARRY,    "add_carry",    PURE,   2, U,    SAME,   COMMUTES, VC__S(0, 0, VC__OpIAddCarry, 0), \
      VC__T_NONE, vc__lower_carry) \
    X(SUB_BORROW,   "sub_borrow",   PURE,   2, U,    SAME,   0, VC__S(0, 0, VC__OpISubBorrow, 0), \
      VC__T_NONE, vc__lower_carry) \
    /* added by lowering for CUDA C: the 64-bit sum of two words, to be added to a product (room cuda) */ \
    X(WORD_SUM,     "word_sum",     PURE,   2, U,    SAME,   COMMUTES, VC__S_NONE, \
      VC__T_CUDA("vc_word_sum($0, $1)"), NULL) \
    /* dot products of four i8 (I) or u8 (U) packed in a u32, by the operands' types; SAT: with a saturating \
       addition */ \
    X(DOT_II,       "dot_4xi8",     PURE,   2, U,    OWN,    COMMUTES, VC__S(0, 0, VC__OpSDot, 0), \
      VC__T_DOT("4xi8"), vc__lower_dot_4x8) \
    X(DOT_UU,       "dot_4xu8",     PURE,   2, U,    OWN,    COMMUTES, VC__S(0, 0, VC__OpUDot, 0), \
      VC__T_DOT("4xu8"), vc__lower_dot_4x8) \
    X(DOT_IU,       "dot_4xi8_4xu8", PURE,  2, U,    OWN,    0, VC__S(0, 0, VC__OpSUDot, 0), \
      VC__T_DOT("4xi8_4xu8"), vc__lower_dot_4x8) \
    X(DOT_II_SAT,   "dot_4xi8_sat", PURE,   3, U,    OWN,    0, VC__S(0, 0, VC__OpSDotAccSat, 0), \
      VC__T_NONE, vc__lower_dot_4x8) \
    X(DOT_UU_SAT,   "dot_4xu8_sat", PURE,   3, U,    OWN,    0, VC__S(0, 0, VC__OpUDotAccSat, 0), \
      VC__T_NONE, vc__lower_dot_4x8) \
    X(DOT_IU_SAT,   "dot_4xi8_4xu8_sat", PURE, 3, U, OWN,    0, VC__S(0, 0, VC__OpSUDotAccSat, 0), \
      VC__T_NONE, vc__lower_dot_4x8) \
    X(PACK_HALF,    "pack_half2",   PURE,   1, F,    OWN,    0, VC__S_FLOAT(VC__E(VC__GLSLstd450PackHalf2x16)), \
      VC__T_GLSL("packHalf2x16($0)"), vc__lower_pack_half) \
    X(UNPACK_HALF,  "unpack_half2", PURE,   1, U,    OWN,    0, VC__S(0, 0, VC__E(VC__GLSLstd450UnpackHalf2x16), 0), \
      VC__T_GLSL("unpackHalf2x16($0)"), vc__lower_unpack_half) \
    /* ---- bits and conditions ---- */ \
    X(NOT,          "not",          PURE,   1, BIU,  SAME,   0, VC__S(VC__OpLogicalNot, VC__OpNot, VC__OpNot, 0), \
      VC__T_BITS("!$0", "~$0", "($T)~$0", "not($0)"), NULL) \
    X(AND,          "and",          PURE,   2, BIU,  SAME,   COMMUTES, \
      VC__S(VC__OpLogicalAnd, VC__OpBitwiseAnd, VC__OpBitwiseAnd, 0), \
      VC__T_BITS("$0 && $1", "$0 & $1", "$0 & $1", ""), NULL) \
    X(OR,           "or",           PURE,   2, BIU,  SAME,   COMMUTES, \
      VC__S(VC__OpLogicalOr, VC__OpBitwiseOr, VC__OpBitwiseOr, 0), \
      VC__T_BITS("$0 || $1", "$0 | $1", "$0 | $1", ""), vc__lower_or) \
    X(XOR,          "xor",          PURE,   2, BIU,  SAME,   COMMUTES, \
      VC__S(VC__OpLogicalNotEqual, VC__OpBitwiseXor, VC__OpBitwiseXor, 0), \
      VC__T_BITS("$0 != $1", "$0 ^ $1", "$0 ^ $1", "notEqual($0, $1)"), vc__lower_or) \
    /* Shifts and rotates: in a listing the count has the type of the first operand. */ \
    X(SHL,          "shl",          PURE,   2, IU,   SAME,   0, VC__S_INT(VC__OpShiftLeftLogical), \
      VC__T_OPERATOR("$0 << $1", "($T)(($U)$0 << $1)", "", ""), vc__lower_shift_count) \
    X(SHR,          "shr",          PURE,   2, IU,   SAME,   0, \
      VC__S(0, VC__OpShiftRightArithmetic, VC__OpShiftRightLogical, 0), VC__T("$0 >> $1"), vc__lower_shift_count) \
    X(ROTL,         "rotl",         PURE,   2, U,    SAME,   0, VC__S_NONE, \
      VC__T_WORD("", "", "", "__funnelshift_l($0, $0, $1)", "", "rotate($0, $1)"), vc__lower_rotate) \
    X(EQ,           "eq",           PURE,   2, BIUF, BOOL,   COMMUTES, \
      VC__S(VC__OpLogicalEqual, VC__OpIEqual, VC__OpIEqual, VC__OpFOrdEqual), \
      VC__T_VECTOR("$0 == $1", "equal($0, $1)"), NULL) \
    X(NE,           "ne",           PURE,   2, BIUF, BOOL,   COMMUTES, \
      VC__S(VC__OpLogicalNotEqual, VC__OpINotEqual, VC__OpINotEqual, VC__OpFUnordNotEqual), \
      VC__T_VECTOR("$0 != $1", "notEqual($0, $1)"), NULL) \
    X(LT,           "lt",           PURE,   2, IUF,  BOOL,   0, \
      VC__S(0, VC__OpSLessThan, VC__OpULessThan, VC__OpFOrdLessThan), \
      VC__T_VECTOR("$0 < $1", "lessThan($0, $1)"), NULL) \
    X(LE,           "le",           PURE,   2, IUF,  BOOL,   0, \
      VC__S(0, VC__OpSLessThanEqual, VC__OpULessThanEqual, VC__OpFOrdLessThanEqual), \
      VC__T_VECTOR("$0 <= $1", "lessThanEqual($0, $1)"), NULL) \
    X(SELECT,       "select",       PURE,   3, B,    OWN,    0, VC__S_ALL(VC__OpSelect), \
      VC__T_VECTOR("$0 ? $1 : $2", "mix($2, $1, $0)"), NULL) \
    X(ANY,          "any",          PURE,   1, B,    SCALAR, 0, VC__S(VC__OpAny, 0, 0, 0), \
      VC__T_GLSL("any($0)"), NULL) \
    X(ALL,          "all",          PURE,   1, B,    SCALAR, 0, VC__S(VC__OpAll, 0, 0, 0), \
      VC__T_GLSL("all($0)"), NULL) \
    /* ---- memory: a[0] memory node, a[1] index node or VC__NIL, x constant element offset (two's complement) ---- */ \
    /* added by lowering if buffers are addresses: the address of element a[1] of buffer a[0] */ \
    X(POINTER,      "pointer",      PURE,   2, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(LOAD,         "load",         READ,   2, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, vc__lower_memory) \
    /* a[2] value */ \
    X(STORE,        "store",        EFFECT, 3, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, vc__lower_memory) \
    /* Atomics: operands as for a store; ATOMIC_LOAD has no a[2]. The result is the previous value; ATOMIC_STORE has \
       none. a[2] of a compare-exchange: vector of expected and desired value. */ \
    X(ATOMIC_ADD,   "atomic_add",   EFFECT, 3, 0,    OWN,    0, \
      VC__S(0, VC__OpAtomicIAdd, VC__OpAtomicIAdd, VC__OpAtomicFAddEXT), \
      VC__T_ATOMIC("atomicAdd", "atomicAdd", "add"), vc__lower_atomic) \
    X(ATOMIC_MIN,   "atomic_min",   EFFECT, 3, 0,    OWN,    0, VC__S(0, VC__OpAtomicSMin, VC__OpAtomicUMin, 0), \
      VC__T_ATOMIC("atomicMin", "atomicMin", "min"), vc__lower_atomic) \
    X(ATOMIC_MAX,   "atomic_max",   EFFECT, 3, 0,    OWN,    0, VC__S(0, VC__OpAtomicSMax, VC__OpAtomicUMax, 0), \
      VC__T_ATOMIC("atomicMax", "atomicMax", "max"), vc__lower_atomic) \
    X(ATOMIC_AND,   "atomic_and",   EFFECT, 3, 0,    OWN,    0, VC__S_INT(VC__OpAtomicAnd), \
      VC__T_ATOMIC("atomicAnd", "atomicAnd", "and"), vc__lower_atomic) \
    X(ATOMIC_OR,    "atomic_or",    EFFECT, 3, 0,    OWN,    0, VC__S_INT(VC__OpAtomicOr), \
      VC__T_ATOMIC("atomicOr", "atomicOr", "or"), vc__lower_atomic) \
    X(ATOMIC_XOR,   "atomic_xor",   EFFECT, 3, 0,    OWN,    0, VC__S_INT(VC__OpAtomicXor), \
      VC__T_ATOMIC("atomicXor", "atomicXor", "xor"), vc__lower_atomic) \
    X(ATOMIC_EXCHANGE, "atomic_exchange", EFFECT, 3, 0, OWN, 0, VC__S_INT(VC__OpAtomicExchange), \
      VC__T_ATOMIC("atomicExchange", "atomicExch", "xchg"), vc__lower_atomic) \
    X(ATOMIC_CAS,   "atomic_compare_exchange", EFFECT, 3, 0, OWN, 0, VC__S_INT(VC__OpAtomicCompareExchange), \
      VC__T_ATOMIC("atomicCompSwap", "atomicCAS", "cmpxchg"), vc__lower_atomic) \
    X(ATOMIC_LOAD,  "atomic_load",  EFFECT, 2, 0,    OWN,    0, VC__S_INT(VC__OpAtomicLoad), \
      VC__T_GLSL("atomicLoad"), vc__lower_atomic) \
    X(ATOMIC_STORE, "atomic_store", EFFECT, 3, 0,    OWN,    0, VC__S_INT(VC__OpAtomicStore), \
      VC__T_GLSL("atomicStore"), vc__lower_atomic) \
    /* x: order + 16 * scope + 256 * storage */ \
    X(FENCE,        "fence",        EFFECT, 0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* ---- images: a[0] image node, a[1] coordinates ---- */ \
    /* an element of an array of images, printed where it is used; a[1]: index; x: that of the image */ \
    X(IMAGE_AT,     "image_at",     PURE,   2, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* derivatives along x and y; only an operand of SAMPLE */ \
    X(GRADIENT,     "gradient",     PURE,   2, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* a[2] lod or GRADIENT; x: offsets, one byte each */ \
    X(SAMPLE,       "sample",       READ,   3, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(GATHER,       "gather",       READ,   2, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) /* x: component */ \
    /* a[2] level; VC__NIL for texel buffers */ \
    X(FETCH,        "fetch",        READ,   3, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(IMAGE_LOAD,   "image_load",   READ,   2, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* a[1] level, or VC__NIL */ \
    X(IMAGE_SIZE,   "image_size",   READ,   2, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, vc__lower_image_query) \
    X(IMAGE_LEVELS, "image_levels", READ,   1, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, vc__lower_image_query) \
    X(IMAGE_STORE,  "image_store",  EFFECT, 3, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) /* a[2] value */ \
    /* ---- subgroups: the last operand of VOTE_ANY, VOTE_ALL, BALLOT and shuffles is the mask of participating lanes \
       that CUDA C requires, otherwise VC__NIL. Reductions in CUDA C have the mask and then the lane as operands. \
       ---- */ \
    /* CUDA C: the mask of active lanes, where some may be inactive */ \
    X(MASK,         "mask",         CONVERGENT,   0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(ELECT,        "subgroup_elect", CONVERGENT, 0, 0,    OWN,    0, VC__S(VC__OpGroupNonUniformElect, 0, 0, 0), \
      VC__T_VOTE("subgroupElect()", "__activemask()"), vc__lower_subgroup) \
    X(VOTE_ANY,     "subgroup_any", CONVERGENT,   2, B,    OWN,    0, VC__S(VC__OpGroupNonUniformAny, 0, 0, 0), \
      VC__T_VOTE("subgroupAny($0)", "__any_sync($1, $0)"), vc__lower_subgroup) \
    X(VOTE_ALL,     "subgroup_all", CONVERGENT,   2, B,    OWN,    0, VC__S(VC__OpGroupNonUniformAll, 0, 0, 0), \
      VC__T_VOTE("subgroupAll($0)", "__all_sync($1, $0)"), vc__lower_subgroup) \
    X(BALLOT,       "subgroup_ballot", CONVERGENT, 2, B,   OWN,    0, VC__S(VC__OpGroupNonUniformBallot, 0, 0, 0), \
      VC__T_VOTE("subgroupBallot($0)", "__ballot_sync($1, $0)"), vc__lower_subgroup) \
    X(VOTE_EQUAL,   "subgroup_all_equal", CONVERGENT, 1, BIUF, OWN, 0, VC__S_ALL(VC__OpGroupNonUniformAllEqual), \
      VC__T_GLSL("subgroupAllEqual($0)"), vc__lower_subgroup) \
    /* x of BALLOT_COUNT, reductions and scans: VC__LANES_; for LANES_CLUSTER plus 16 * cluster size */ \
    X(BALLOT_COUNT, "subgroup_ballot_count", CONVERGENT, 1, U, OWN, 0, \
      VC__S(0, 0, VC__OpGroupNonUniformBallotBitCount, 0), \
      VC__T_GLSL("subgroupBallot@BitCount($0)"), vc__lower_subgroup) \
    X(BROADCAST,    "subgroup_broadcast", CONVERGENT, 2, BIUF, SAME, 0, VC__S_ALL(VC__OpGroupNonUniformBroadcast), \
      VC__T_GLSL("subgroupBroadcast($0, $1)"), vc__lower_subgroup) \
    X(BROADCAST_FIRST, "subgroup_broadcast_first", CONVERGENT, 1, BIUF, SAME, 0, \
      VC__S_ALL(VC__OpGroupNonUniformBroadcastFirst), VC__T_GLSL("subgroupBroadcastFirst($0)"), vc__lower_subgroup) \
    X(SHUFFLE,      "subgroup_shuffle", CONVERGENT, 3, BIUF, SAME, 0, VC__S_ALL(VC__OpGroupNonUniformShuffle), \
      VC__T_SHUFFLE("", ""), vc__lower_subgroup) \
    X(SHUFFLE_XOR,  "subgroup_shuffle_xor", CONVERGENT, 3, BIUF, SAME, 0, VC__S_ALL(VC__OpGroupNonUniformShuffleXor), \
      VC__T_SHUFFLE("Xor", "_xor"), vc__lower_subgroup) \
    X(SHUFFLE_UP,   "subgroup_shuffle_up", CONVERGENT, 3, BIUF, SAME, 0, VC__S_ALL(VC__OpGroupNonUniformShuffleUp), \
      VC__T_SHUFFLE("Up", "_up"), vc__lower_subgroup) \
    X(SHUFFLE_DOWN, "subgroup_shuffle_down", CONVERGENT, 3, BIUF, SAME, 0, \
      VC__S_ALL(VC__OpGroupNonUniformShuffleDown), VC__T_SHUFFLE("Down", "_down"), vc__lower_subgroup) \
    X(SUBGROUP_ADD, "subgroup_add", CONVERGENT,   3, IUF,  SAME,   0, \
      VC__S(0, VC__OpGroupNonUniformIAdd, VC__OpGroupNonUniformIAdd, VC__OpGroupNonUniformFAdd), \
      VC__T_REDUCE("Add", "vc_subgroup_add($0, $1, $2)"), vc__lower_subgroup) \
    X(SUBGROUP_MUL, "subgroup_mul", CONVERGENT,   3, IUF,  SAME,   0, \
      VC__S(0, VC__OpGroupNonUniformIMul, VC__OpGroupNonUniformIMul, VC__OpGroupNonUniformFMul), \
      VC__T_REDUCE("Mul", ""), vc__lower_subgroup) \
    X(SUBGROUP_MIN, "subgroup_min", CONVERGENT,   3, IUF,  SAME,   0, \
      VC__S(0, VC__OpGroupNonUniformSMin, VC__OpGroupNonUniformUMin, VC__OpGroupNonUniformFMin), \
      VC__T_REDUCE("Min", "vc_subgroup_min($0, $1, $2)"), vc__lower_subgroup) \
    X(SUBGROUP_MAX, "subgroup_max", CONVERGENT,   3, IUF,  SAME,   0, \
      VC__S(0, VC__OpGroupNonUniformSMax, VC__OpGroupNonUniformUMax, VC__OpGroupNonUniformFMax), \
      VC__T_REDUCE("Max", "vc_subgroup_max($0, $1, $2)"), vc__lower_subgroup) \
    X(SUBGROUP_AND, "subgroup_and", CONVERGENT,   3, BIU,  SAME,   0, \
      VC__S(VC__OpGroupNonUniformLogicalAnd, VC__OpGroupNonUniformBitwiseAnd, VC__OpGroupNonUniformBitwiseAnd, 0), \
      VC__T_REDUCE("And", "vc_subgroup_and($0, $1, $2)"), vc__lower_subgroup) \
    X(SUBGROUP_OR,  "subgroup_or",  CONVERGENT,   3, BIU,  SAME,   0, \
      VC__S(VC__OpGroupNonUniformLogicalOr, VC__OpGroupNonUniformBitwiseOr, VC__OpGroupNonUniformBitwiseOr, 0), \
      VC__T_REDUCE("Or", "vc_subgroup_or($0, $1, $2)"), vc__lower_subgroup) \
    X(SUBGROUP_XOR, "subgroup_xor", CONVERGENT,   3, BIU,  SAME,   0, \
      VC__S(VC__OpGroupNonUniformLogicalXor, VC__OpGroupNonUniformBitwiseXor, VC__OpGroupNonUniformBitwiseXor, 0), \
      VC__T_REDUCE("Xor", "vc_subgroup_xor($0, $1, $2)"), vc__lower_subgroup) \
    /* ---- control flow ---- */ \
    /* x: 0, or 4096 + execution scope + 16 * memory scope + 256 * storage */ \
    X(BARRIER,      "barrier",      EFFECT, 0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(BREAK_IF,     "break_if",     EFFECT, 1, B,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(CONTINUE_IF,  "continue_if",  EFFECT, 1, B,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(RETURN_IF,    "return_if",    EFFECT, 1, B,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(IF,           "if",           BLOCK,  1, B,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(ELSE,         "else",         BLOCK,  0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* The value is the loop counter: it starts at a[0], the loop runs while it is less than a[1], and a[2] (VC__NIL: \
       1) is added to it, an unsigned step that is never 0. x: the counter may wrap, which also ends the loop. */ \
    X(FOR,          "for",          BLOCK,  3, IU,   SAME,   0, VC__S_NONE, VC__T_NONE, NULL) \
    X(LOOP,         "loop",         BLOCK,  0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(SWITCH,       "switch",       BLOCK,  1, IU,   OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* value of the case, in the type of the switch: a[0] low, a[1] high half */ \
    X(CASE,         "case",         BLOCK,  0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    X(DEFAULT,      "default",      BLOCK,  0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL) \
    /* x: VC__OP_ of the block that it closes */ \
    X(END,          "end",          BLOCK,  0, 0,    OWN,    0, VC__S_NONE, VC__T_NONE, NULL)

enum {
    VC__LEAF, VC__PURE, VC__READ, VC__NEW, VC__CONVERGENT, VC__EFFECT, VC__BLOCK,
    VC__RESULT_SAME = 0, VC__RESULT_BOOL, VC__RESULT_SCALAR, VC__RESULT_SIGNED, VC__RESULT_OWN,
    VC__FLAGS_0 = 0, VC__FLAGS_COMMUTES = 1, VC__FLAGS_EXACT = 2, VC__FLAGS_COMMUTES_EXACT = 3, VC__FLAGS_INTEGERS = 4,
    VC__MANY = 9 /* operands: a range of the list of extra operands */
};

#define VC__OP_ENUM(op, name, class_, operands, kinds, result, flags, spirv, text, rule) VC__OP_##op,
enum { VC__OPS(VC__OP_ENUM) VC__OP_COUNT };

typedef struct vc__lowering vc__lowering;
typedef struct vc__node vc__node;
/* A lowering rule returns the number of the replacement, a rule to apply (vc__by_rule), or VC__NIL to keep the
   operation. */
enum { VC__BY_RULE = 1 << 30 };
typedef uint32_t vc__lowering_rule(vc__lowering *s, const vc__node *n);
static vc__lowering_rule vc__lower_extract, vc__lower_cast, vc__lower_div, vc__lower_rem, vc__lower_mod,
    vc__lower_abs, vc__lower_sign, vc__lower_min_max, vc__lower_by_rule,
    vc__lower_math64, vc__lower_pow, vc__lower_log,
    vc__lower_atan, vc__lower_isnan, vc__lower_dot, vc__lower_shift_count, vc__lower_memory, vc__lower_popcount,
    vc__lower_bit_reverse, vc__lower_index, vc__lower_find_lsb, vc__lower_find_msb, vc__lower_mul_hi,
    vc__lower_pack_half, vc__lower_unpack_half, vc__lower_atomic, vc__lower_subgroup, vc__lower_dot_4x8,
    vc__lower_or, vc__lower_rotate, vc__lower_round, vc__lower_carry, vc__lower_sinh,
    vc__lower_image_query;

/* 32 bytes, half a cache line, because it is read for every node. Names and texts are in separate tables. */
typedef struct vc__op_info {
    uint32_t spirv[4];    /* bool, int, uint, float */
    vc__lowering_rule *rule;
    uint8_t class_, operands, kinds, result, flags;
    uint16_t same_kinds;  /* by VC_I8 …: the kinds that it accepts, if the result has the type of the first operand */
} vc__op_info;

#define VC__KIND_BITS(kinds) (((kinds) & VC__KINDS_B ? 1u << VC_BOOL : 0) | ((kinds) & VC__KINDS_I ? 15u << VC_I8 : 0) \
                          | ((kinds) & VC__KINDS_U ? 15u << VC_U8 : 0) | ((kinds) & VC__KINDS_F ? 7u << VC_F16 : 0))

#define VC__OP_ROW(op, name, class_, operands, kinds, result, flags, spirv, text, rule) \
    { spirv, rule, VC__##class_, operands, VC__KINDS_##kinds, VC__RESULT_##result, VC__FLAGS_##flags, \
      VC__RESULT_##result == VC__RESULT_SAME ? VC__KIND_BITS(VC__KINDS_##kinds) : 0u },
#define VC__OP_NAME(op, name, class_, operands, kinds, result, flags, spirv, text, rule) name,
#define VC__OP_TEXT(op, name, class_, operands, kinds, result, flags, spirv, text, rule) text,
static const vc__op_info vc__op[] = { VC__OPS(VC__OP_ROW) };
static const char *const vc__op_name[] = { VC__OPS(VC__OP_NAME) };
static const char *const vc__op_texts[] = { VC__OPS(VC__OP_TEXT) };

/* Columns of vc__text_parts. GLSL: bool, int, uint, float. C: bool, int, uint, f32, f64. */
enum {
    VC__TEXT_GLSL = 0,
    VC__TEXT_VECTOR = 4, /* GLSL: bool vectors and comparisons of vectors; without a text, that of the kind is used */
    VC__TEXT_CUDA = 5,
    VC__TEXT_OPENCL = 10,
    VC__TEXT_FAST = 15   /* CUDA C: floats in a `fast` kernel; without a text, that of the kind is used */
};

/* For each form of text, the number of the part that a column uses; 0: none. */
static const uint8_t vc__text_parts[][16] = {
    { 0 },                                                 /* a: none */
    { 1, 1, 1, 1, 2,  1, 1, 1, 1, 1,  1, 1, 1, 1, 1,  0 }, /* b: VECTOR */
    { 1, 1, 1, 1, 0,  0, 0, 0, 0, 0,  0, 0, 0, 0, 0,  0 }, /* c: GLSL */
    { 1, 2, 2, 0, 4,  1, 3, 2, 0, 0,  1, 3, 2, 0, 0,  0 }, /* d: BITS */
    { 1, 1, 1, 1, 0,  0, 0, 0, 1, 1,  0, 0, 0, 1, 1,  0 }, /* e: FLOAT */
    { 1, 1, 1, 1, 0,  0, 0, 0, 2, 2,  0, 0, 0, 2, 2,  0 }, /* f: FLOAT_2 */
    { 1, 1, 1, 1, 0,  0, 2, 1, 3, 4,  0, 2, 1, 1, 1,  1 }, /* g: OPERATOR */
    { 0, 1, 2, 0, 0,  0, 3, 4, 0, 0,  0, 5, 6, 0, 0,  0 }, /* h: WORD */
    { 0, 0, 0, 0, 0,  0, 0, 1, 0, 0,  0, 0, 0, 0, 0,  0 }, /* i: CUDA */
    { 1, 0, 0, 0, 0,  2, 2, 2, 2, 2,  0, 0, 0, 0, 0,  0 }, /* j: VOTE */
    { 0, 1, 1, 1, 0,  2, 2, 2, 2, 2,  3, 3, 3, 3, 3,  0 }, /* k: ATOMIC */
    { 1, 1, 1, 1, 0,  2, 2, 2, 2, 2,  0, 0, 0, 0, 0,  0 }, /* l: SHUFFLE */
    { 1, 1, 1, 1, 0,  0, 2, 2, 0, 0,  0, 0, 0, 0, 0,  0 }, /* m: REDUCE */
    { 1, 1, 1, 1, 0,  0, 0, 0, 1, 0,  0, 0, 0, 1, 0,  0 }, /* n: F32 */
    { 1, 1, 1, 1, 0,  0, 0, 0, 2, 0,  0, 0, 0, 2, 0,  0 }  /* o: F32_2 */
};

VC__SMALL

/* NULL if the operation has no text in this column. */
static const char *vc__op_text(uint32_t op, uint32_t column) {
    const char *text = vc__op_texts[op];
    uint32_t part = vc__text_parts[text[0] - 'a'][column];
    if (!part) return NULL;
    for (text++; part > 1; part--) text += strlen(text) + 1;
    return text[0] ? text : NULL;
}

VC__SMALL_END

/* Lanes that a subgroup operation combines, numbered as GroupOperation in SPIR-V (Reduce, InclusiveScan, ExclusiveScan,
   ClusteredReduce): all; up to and including the own lane; below the own lane; those of the own cluster. */
enum { VC__LANES_ALL = 0, VC__LANES_UP_TO = 1, VC__LANES_BELOW = 2, VC__LANES_CLUSTER = 3 };
/* x of ELECT: the invocations of the subgroup that reach it. All; those that the conditions of the enclosing IF and
   ELSE blocks select (CUDA C has a mask of them); any others. */
enum { VC__REACH_ALL = 0, VC__REACH_MASKED = 1, VC__REACH_SOME = 2 };

/* Whether the operation accepts this scalar or vector type and returns the same type. */
static inline bool vc__keeps_type(uint32_t op, vc_type type) { return vc__op[op].same_kinds >> (type & 15u) & 1u; }
/* The operations from LOCAL_ID to SUBGROUP_LOCAL_ID read a built-in variable; the first three have an axis, x. */
enum { VC__IDS = VC__OP_SUBGROUP_LOCAL_ID - VC__OP_LOCAL_ID + 1 };
static inline bool vc__is_id(uint32_t op) { return op >= VC__OP_LOCAL_ID && op <= VC__OP_SUBGROUP_LOCAL_ID; }
static inline bool vc__has_axes(uint32_t op) { return op < VC__OP_LOCAL_INDEX; }
static inline bool vc__is_shift(uint32_t op) { return op >= VC__OP_SHL && op <= VC__OP_ROTL; }
static inline bool vc__is_subgroup_combine(uint32_t op) { /* reduction or scan */
    return op >= VC__OP_SUBGROUP_ADD && op <= VC__OP_SUBGROUP_XOR;
}
static inline bool vc__is_atomic(uint32_t op) { return op >= VC__OP_ATOMIC_ADD && op <= VC__OP_ATOMIC_STORE; }
static inline bool vc__is_access(uint32_t op) { return op == VC__OP_LOAD || op == VC__OP_STORE || vc__is_atomic(op); }

/* SPIR-V returns these as the second member of a struct. The first member is the sum, the difference or the low half
   of the product. */
static inline bool vc__is_upper_half(uint32_t op) { return op >= VC__OP_MUL_HI && op <= VC__OP_SUB_BORROW; }
static inline bool vc__is_dot_4x8(uint32_t op) { return op >= VC__OP_DOT_II && op <= VC__OP_DOT_IU_SAT; }
static inline bool vc__is_image(uint32_t op) { return op >= VC__OP_SAMPLE && op <= VC__OP_IMAGE_STORE; }

static inline bool vc__has_result(uint32_t op) {
    return vc__op[op].class_ < VC__EFFECT || op == VC__OP_FOR || (vc__is_atomic(op) && op != VC__OP_ATOMIC_STORE);
}

// >>tape
/* The tape: the recorded nodes of a kernel in the order of the calls. Effects and blocks are anchored: they keep their
   order. All other nodes can move within their region. Recording only folds operations on immediates and merges
   constants; the room schedule does the other optimisations.
   A region is the part of the tape from one anchor to the next; its number is that of the anchor. vc__node.region is
   the region in which the node was recorded. Anchor 0 is the entry of the kernel. */

/* 24 bytes. Nodes are most of the memory of a kernel, and the first write to that memory is most of the cost of
   recording. */
struct vc__node {
    uint8_t op;       /* VC__OP_ */
    uint8_t flags;    /* VC__NODE_ */
    /* vc_type; of a struct or array type only the low half: vc__node_type returns the whole type */
    uint16_t type;
    uint32_t region;  /* region in which it was recorded; anchored nodes: their own anchor; leaves: 0 */
    uint32_t a[3];    /* operands: nodes; VC__NIL: none. CONST: low and high bits; VEC: first index in `extra`, count */
    uint32_t x;       /* by operation: a small constant, the index of an object, an axis, a kind; while lowering, of a
                         CAST: VC__NODE_WIDENED or 0 */
};

enum {
    VC__NODE_VARIES_SUB = 16, /* the value may differ between the invocations of a subgroup */
    VC__NODE_VARIES_GROUP = 1, /* the value may differ between the invocations of a work-group */
    VC__NODE_VARIES = VC__NODE_VARIES_SUB | VC__NODE_VARIES_GROUP, /* either; both propagate from operands to results */
    /* float + - * that compilers must neither contract nor reorder: without it, Mesa replaces (a + b) - a with b */
    VC__NODE_PRECISE = 2,
    VC__NODE_RAW = 4,      /* while lowering: keep the operation, do not lower it */
    VC__NODE_LIVE = 8,     /* while lowering: the node is needed */
    VC__NODE_WIDENED = 32, /* on the tape: the value, possibly moved (load, select, …), is cast to a wider float */
    VC__NODE_BOTH_HALVES = 64 /* on the tape: a product, sum or difference of which both halves are used */
};

typedef struct vc__anchor { uint32_t node, block; } vc__anchor; /* block: the innermost open block after this anchor */

enum {
    VC__BLOCK_DIVERGES = 1,  /* may run for only some invocations of a work-group */
    VC__BLOCK_EACH = 2,      /* inside of a VC_EACH */
    VC__BLOCK_BARRIER = 4,   /* contains a barrier */
    VC__BLOCK_GUARD = 8,     /* is the guard of a VC_EACH */
    VC__BLOCK_EXIT = 16,     /* a loop with a break or return */
    VC__BLOCK_DIVERGES_SUB = 32, /* may run for only some invocations of a subgroup */
    VC__BLOCK_CONVERGENT = 64,     /* contains a subgroup operation */
    VC__BLOCK_UNMASKED = 128, /* VC__BLOCK_DIVERGES_SUB because of a loop, switch or exit, not only of an IF or ELSE */
    VC__BLOCK_LEAVES = 256,  /* a loop after which the loop around it may be left, too: vc_break_outer_if */
    VC__BLOCK_LEFT_EARLY = 512 /* a loop that some invocations of a subgroup may leave in an earlier iteration */
};

enum { VC__BLOCK_INHERITED = VC__BLOCK_DIVERGES | VC__BLOCK_DIVERGES_SUB | VC__BLOCK_EACH | VC__BLOCK_UNMASKED };

typedef struct vc__block {
    uint32_t parent;  /* VC__NIL: block 0, the body of the kernel */
    uint16_t op;      /* IF, ELSE, FOR, LOOP, SWITCH, CASE, DEFAULT */
    uint16_t flags;   /* VC__BLOCK_ */
    uint32_t open, close; /* its anchors; close is VC__NIL while the block is open */
    uint32_t depth;   /* number of enclosing blocks */
    /* VC__NODE_ bits: invocations that reach the block may differ in whether they run (the rest of) it, because of
       its condition or exits in it */
    uint8_t divergence;
    uint8_t exit_divergence; /* VC__NODE_ bits of a loop: invocations may leave it in different iterations */
    uint32_t condition; /* node that determines which invocations run the block; VC__NIL: none */
    uint32_t leaves;  /* loops inside of a loop: bool variable, true if the loop around it is left, too */
    uint32_t cause;   /* condition of the first branch or exit that set bits in `divergence`, for error messages */
} vc__block;

/* Data of a node that does not fit into 24 bytes: arguments, arrays, variables, tables. */
typedef struct vc__object {
    const char *name; /* in the arena; may be NULL */
    uint16_t op;      /* BUFFER, IMAGE, PARAM, SHARED, TABLE, VAR, ARRAY */
    uint16_t access;  /* allowed access: VC_READ … VC_ANY_TYPE */
    vc_type type;     /* type in the generated code: an unsigned integer for floats whose atomics work on bits */
    vc_type declared; /* type as declared by the kernel */
    uint32_t count;   /* elements of an array; 1: a variable or parameter; 0: a buffer or an image, not an array */
    uint32_t node;
    const uint64_t *data; /* tables: one value per component, in the arena */
    uint32_t arg;     /* index among the arguments; VC__NIL: none */
    /* in a listing: accesses by its nodes, VC_READ and VC_WRITE; 4: a query of the size or levels of an image */
    uint16_t used;
    bool stored;      /* a store was recorded */
    uint8_t divergence; /* variables and private arrays: VC__NODE_ bits of the stored values */
    uint32_t block;   /* variables and private arrays: the block that declares it */
    uint32_t last_load; /* variables and private arrays: 1 + the last load on the tape; 0: none */
    uint32_t widened_load; /* 1 + the last load on the tape whose value is cast to a wider float; 0: none */
    vc__image image;
    /* Objects of composite types are never in a listing. Their pieces are, each with a scalar or vector type (room
       composite). */
    uint32_t composite; /* pieces: the composite object; VC__NIL: not a piece */
    uint32_t next;    /* list of the pieces of one object, last one first; VC__NIL: end */
    uint32_t offset;  /* pieces of parameters: byte offset in the parameter */
    bool aliased;     /* in a listing: one of several views of the same buffer */
} vc__object;

/* Layout of the composite types of a kernel (room composite). Sizes and offsets are in bytes; size 0: not a type. */
typedef struct vc__layout { uint32_t size, align, split_arrays, flat_parts, depth; } vc__layout;
typedef struct vc__field {
    const char *name;
    vc_type type;
    uint32_t offset, first_array, first_flat_part; /* bytes; index of its first split array; of its first flat part */
} vc__field;
typedef struct vc__user_type { /* a struct or array type */
    vc_type type;
    const char *name;       /* in the arena; may be NULL */
    const vc__field *field; /* structs: the members, in the arena */
    uint32_t count;         /* members or elements */
    vc_type element;        /* arrays: type of an element; VC_NONE: a struct */
    uint32_t last_viewed_buffer; /* 1 + the last buffer for which the required views were made; 0: none */
    vc__layout layout;
} vc__user_type;
static vc__layout vc__layout_of(const vc_kernel *k, vc_type type);
enum { VC__USER_TYPE = 4096 }; /* low 16 bits of such a type: its index in the kernel's table, from VC__USER_TYPE on */
static vc_type vc__node_type(const vc_kernel *k, uint32_t node);

/* The input of a printer: the live nodes for one target, in printing order. Operands are indices into the same list and
   precede their users.
   Order: the constants by first use, the other leaves, then the body: all other nodes, with effects and blocks in the
   order of the tape.
   Blocks: IF … ELSE … END, SWITCH CASE … END CASE … END DEFAULT … END END. An ELSE closes the IF; all other blocks are
   closed by an END, whose x is the op that it closes. */
typedef struct vc__listing {
    const vc__node *node;
    uint32_t count;
    uint32_t leaves;        /* index of the first leaf that is not a constant */
    uint32_t body;          /* index of the first node that is not a leaf */
    uint32_t precise;       /* number of nodes with VC__NODE_PRECISE */
    const uint32_t *extra;  /* operands of VEC and TUPLE */
    const vc__object *object;
    uint32_t object_count;
    vc_target target;
    vc_buffers buffers;     /* VC_BUFFERS_ADDRESS or VC_BUFFERS_BINDING */
    bool reconverges;       /* copied from the kernel */
    vc_info info;           /* offsets, access and features for `target` and `buffers` */
} vc__listing;

/* The bits of a CONST or CASE. */
static inline uint64_t vc__bits_of(const vc__node *n) { return n->a[0] | (uint64_t)n->a[1] << 32; }

static inline bool vc__in_argument_block(const vc_arg_info *a) {
    return a->kind == VC_ARG_IMAGE ? a->size != 0 : a->kind != VC_ARG_BINDING;
}

/* Whether implicit arguments of this vc_implicit refer to a buffer or image. */
static inline bool vc__implicit_has_arg(uint32_t kind) { return kind >= VC_IMPLICIT_LENGTH; }

/* The implicit argument that an IMPLICIT node (kind, argument, axis) reads; NULL: none. */
static const vc_implicit_info *vc__implicit_of(const vc__listing *l, const vc__node *n) {
    bool of_arg = vc__implicit_has_arg(n->a[0]);
    for (int i = 0; i < l->info.implicit_count; i++) {
        const vc_implicit_info *h = &l->info.implicit[i];
        if ((uint32_t)h->kind == n->a[0] && h->axis == n->a[2] && (!of_arg || h->arg == l->object[n->a[1]].arg))
            return h;
    }
    return NULL;
}

static bool vc__stores_images(const vc__listing *l) {
    for (uint32_t i = 0; i < l->object_count; i++)
        if (l->object[i].op == VC__OP_IMAGE && l->object[i].used & VC_WRITE) return true;
    return false;
}

/* False for targets that are not compiled in, so that the compiler removes their code. */
static inline bool vc__is_glsl(vc_target target) { return VC__HAS_GLSL && target == VC_TARGET_GLSL; }
static inline bool vc__is_cuda(vc_target target) { return VC__HAS_CUDA_C && target == VC_TARGET_CUDA; }
static inline bool vc__is_opencl(vc_target target) { return VC__HAS_OPENCL_C && target == VC_TARGET_OPENCL; }
/* CUDA C and OpenCL C: the lowered list has only scalars, and f16 as bits. */
static inline bool vc__is_c(vc_target target) { return vc__is_cuda(target) || vc__is_opencl(target); }

typedef struct vc__leaf { uint64_t key; uint32_t number; } vc__leaf; /* key: see vc__leaf_key */

/* Flags of `plain`, for pure operations without optional operands. The low 13 bits are the kinds for which
   vc__lower_plain schedules the operation. ONE, THREE: number of operands, if not two. PRINTED: printed as a single
   SPIR-V instruction that has only a type and operands. EXACT: printed as precise. */
enum { VC__PLAIN = 1 << 14, VC__PLAIN_ONE = 1 << 15, VC__PLAIN_THREE = 1 << 16, VC__PLAIN_PRINTED = 1 << 17,
       VC__PLAIN_EXACT = 1 << 18 };
#define VC__MAP_CONST 0x80000000u    /* marks the number of a constant */

/* The state of lowering and scheduling a kernel for one target. A `number` is an index into `node`. vc_restart keeps
   the memory. */
struct vc__lowering {
    vc_kernel *kernel;
    vc_target target;       /* VC_TARGET_NONE: nothing is lowered (the dump) */
    vc_buffers buffers;
    bool marks_rounding;    /* casts on the tape whose rounding is observable are marked VC__NODE_WIDENED */
    uint32_t region, anchor; /* vc__make adds effects to the region `anchor`, all other nodes to `region` */
    vc__node *node;         /* the lowered list */
    uint32_t count, capacity;
    /* while count is below this, a node can be added without growing the list or the hash table */
    uint32_t node_limit;
    uint32_t *extra;
    uint32_t extra_count, extra_capacity;
    /* While lowering: a hash table with open addressing and mask + 1 slots (vc__slot_pack); 0: empty. After lowering:
       maps a number to its index in the listing. */
    uint32_t *slot;
    uint32_t mask, slot_capacity;
    uint32_t *map;          /* maps a tape index to a number, with VC__MAP_CONST; VC__NIL: not lowered */
    uint32_t *stack;
    uint32_t map_capacity, stack_capacity;
    vc__node *sorted;
    uint32_t sorted_capacity;
    uint32_t *region_start;
    uint32_t region_capacity;
    vc__leaf *leaf;
    uint32_t leaf_count, leaf_capacity;
    uint32_t kinds;         /* bit mask of the scalar kinds in the listing */
    uint32_t plain[VC__OP_COUNT]; /* VC__PLAIN_; 0: vc__lower_plain does not schedule the operation */
    vc__object no_object;
};

/* One variant of the printed code, kept until the kernel changes. SPIR-V and GLSL have a variant for addresses and one
   for bindings, indexed by vc_buffers; CUDA C and OpenCL C have one each. */
enum { VC__VARIANT_CUDA = 3, VC__VARIANT_OPENCL = 4, VC__VARIANTS = 5 };
typedef struct vc__variant {
    vc__words words;
    uint32_t skip;           /* index in `words` of the first word of the module */
    vc__text text;
    uint32_t words_version, text_version, info_version; /* 1 + number of nodes on the tape when printed; 0: never */
    vc_info info;
    vc_arg_info *arg;
    vc_implicit_info *implicit;
    uint32_t arg_capacity, implicit_capacity;
    char entry[VC__NAME_BYTES];
} vc__variant;

struct vc_kernel {
    /* The most frequently used fields are first: x86 encodes offsets below 128 in one byte of an instruction.
       vc_restart sets the fields before `generation`, and those from `extra_count` to `replayed_statement`, to 0. */
    bool failed;
    bool invalid_request;    /* only the requested target was invalid; the kernel is still usable */
    bool group_returned;     /* some invocations of the work-group may have returned */
    bool subgroup_returned;  /* some invocations of a subgroup may have returned */
    bool reconverges;        /* subgroup operations occur where some invocations of the subgroup may be inactive */
    bool unmasked;           /* as reconverges, but not only because of VC_IF, VC_ELSE and VC_EACH */
    bool coherent;           /* a fence or barrier orders buffer accesses between work-groups */
    bool casts_to_narrower;  /* some float is cast to a narrower one */
    bool uses_carries;       /* uses carries, borrows or upper halves of products */
    bool checks;             /* indices are checked; false inside of a checked access */
    bool needs_replay;       /* in outer_loop, a variable became varying after a load of it was treated as uniform */
    uint32_t count, anchor_count, block_count, object_count;
    uint32_t open_block;     /* innermost open block */
    uint32_t region;         /* current region */
    uint32_t closed_to;      /* every region outside of [closed_from, closed_to) belongs to an open block */
    uint32_t generation;     /* number of restarts; stored in values and refs */
    uint32_t capacity;
    uint32_t node_limit;     /* capacity; 0 after a failure */
    uint32_t closed_from;
    vc__node *node;
    vc__anchor *anchor;
    vc__block *block;
    vc__object *object;
    uint32_t *extra;
    vc_kernel_desc desc;     /* local_size resolved, name in the arena */
    uint32_t extra_count, format_count, user_type_count;
    uint32_t arg_count;      /* arguments, except the output buffer */
    uint32_t outer_loop;     /* outermost open loop; 0: none */
    vc__missing_resource missing; /* reason of a failure: memory, the machine (a feature or limit), or another */
    uint32_t private_bytes;  /* private arrays and variables of composite types */
    uint32_t table_bytes;
    uint32_t scratch[16];    /* by kind: 1 + the shared array of work-group functions; 0: none */
    uint32_t reported_to;    /* number of nodes when vc__report_checks_at_end was last called */
    uint32_t global_axes;    /* bits of the axes of vc_global_id, except those of reports */
    uint32_t replayed_statement; /* statement whose divergence is analysed again; 0: none */
    uint32_t output;         /* object: the output buffer of vc_printf, always the last argument; VC__NIL: none */
    vc_allocator allocator;
    vc_ref failed_check[3];  /* variables of checked kernels: number of the format, index, length; 0: none failed */
    uint32_t anchor_capacity, block_capacity, object_capacity, extra_capacity, format_capacity, user_type_capacity;
    const char **format;     /* formats of vc_printf, in the arena */
    vc__user_type *user_type;
    uint32_t recent[256];    /* recently recorded constants, by a hash of their bits */
    vc__arena arena;
    vc__lowering lower;
    vc__words words;         /* current output of a printer */
    vc__text text;
    vc__words section[8];    /* sections of a SPIR-V module */
    vc__variant variant[VC__VARIANTS];
    vc__text dump;
    char error[512];
};

/* Invocations of a work-group. */
static uint32_t vc__invocations(const vc_kernel *k) {
    return k->desc.local_size[0] * k->desc.local_size[1] * k->desc.local_size[2];
}

static const char *vc__name(const vc_kernel *k) { return k->desc.name ? k->desc.name : "kernel"; }

/* The number of arguments, including the output buffer of vc_printf. */
static uint32_t vc__arg_count(const vc_kernel *k) { return k->arg_count + (k->output != VC__NIL); }

/* Name of the first call of this thread on an unset ref or image whose other operands were all immediates, so that its
   kernel is unknown; NULL: none. vc_error reports it for the next kernel that has not failed. vc_begin and vc_restart
   clear it. */
static VC__THREAD_LOCAL const char *vc__call_without_kernel;

/* Source position of the running call, and of vc__call_without_kernel; file is NULL if it is unknown. */
typedef struct vc__position { const char *file; int line; } vc__position;
static VC__THREAD_LOCAL vc__position vc__current_position, vc__position_without_kernel;

VC__SMALL

static void vc__set_missing(vc_kernel *k, vc__missing_resource missing) { if (!k->failed) k->missing = missing; }

static void vc__no_memory(vc_kernel *k) {
    vc__set_missing(k, VC__MISSING_MEMORY);
    vc__fail_call(k, NULL, "out of host memory");
}

/* Grows an array to at least `need` elements of `size` bytes. list: the address of the pointer to the elements. An
   error leaves the array unchanged. */
VC__NOINLINE static bool vc__reserve(vc_kernel *k, void *list, uint32_t *capacity, uint32_t need, size_t size) {
    void *block;
    memcpy(&block, list, sizeof block);
    block = vc__array_grow(&k->allocator, block, capacity, need, size);
    if (block) memcpy(list, &block, sizeof block); else vc__no_memory(k);
    return block != NULL;
}
#define VC__RESERVE(k, list, capacity, need) vc__reserve(k, &(list), &(capacity), need, sizeof *(list))

VC__NOINLINE static void *vc__allocate(vc_kernel *k, size_t size) {
    void *block = vc__arena_allocate(&k->allocator, &k->arena, size);
    if (!block) vc__no_memory(k);
    return block;
}

static bool vc__more_nodes(vc_kernel *k) {
    if (k->count >= VC__MAX_NODES)
        return VC__FAIL_FALSE(k, NULL, "too many operations: the limit is %u", VC__MAX_NODES);
    if (!VC__RESERVE(k, k->node, k->capacity, k->count + 1)) return false;
    if (k->capacity > VC__MAX_NODES) k->capacity = VC__MAX_NODES;
    k->node_limit = k->failed ? 0 : k->capacity;
    return true;
}

VC__SMALL_END

static inline bool vc__ready(const vc_kernel *k) { return k && !k->failed; }

VC__NOINLINE static vc__variant *vc__variant_of(vc_kernel *k, vc_target target, vc_buffers buffers) {
    return &k->variant[vc__is_cuda(target) ? (int)VC__VARIANT_CUDA
                    : vc__is_opencl(target) ? (int)VC__VARIANT_OPENCL : (int)buffers];
}

/* Adds a node to the current region. Requires count < capacity. */
static inline uint32_t vc__write_node(vc_kernel *k, uint32_t op, uint32_t flags, vc_type type, uint32_t a, uint32_t b,
                                      uint32_t c, uint32_t x) {
    vc__node *n = k->node + k->count;
    n->op = (uint8_t)op;
    n->flags = (uint8_t)flags;
    n->type = (uint16_t)type;
    n->region = k->region;
    n->a[0] = a;
    n->a[1] = b;
    n->a[2] = c;
    n->x = x;
    return k->count++;
}

/* As vc__write_node, but grows the tape if necessary. */
static inline uint32_t vc__record(vc_kernel *k, uint32_t op, uint32_t flags, vc_type type, uint32_t a, uint32_t b,
                                  uint32_t c, uint32_t x) {
    return k->count == k->capacity && !vc__more_nodes(k) ? VC__NIL : vc__write_node(k, op, flags, type, a, b, c, x);
}

/* A leaf belongs to region 0, the kernel's entry, so that every block may use it. */
static uint32_t vc__record_leaf(vc_kernel *k, uint32_t op, uint32_t flags, vc_type type, uint32_t a, uint32_t b,
                                uint32_t c, uint32_t x) {
    uint32_t n = vc__record(k, op, flags, type, a, b, c, x);
    if (n != VC__NIL) k->node[n].region = 0;
    return n;
}

/* Returns the node of an equal constant if the direct-mapped cache `recent` holds one; otherwise records a constant.
   `recent` may hold indices from before vc_restart; comparing the node itself makes that harmless. */
static uint32_t vc__record_const(vc_kernel *k, vc_type type, uint64_t bits) {
    uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
    uint32_t *recent = &k->recent[((low ^ high ^ type) * 0x9e3779b1u) >> 24];
    const vc__node *n = *recent < k->count ? &k->node[*recent] : NULL;
    if (n && n->op == VC__OP_CONST && n->a[0] == low && n->a[1] == high && n->type == type) return *recent;
    return *recent = vc__record_leaf(k, VC__OP_CONST, 0, type, low, high, VC__NIL, 0);
}

static bool vc__push_extra(vc_kernel *k, uint32_t **extra, uint32_t *used, uint32_t *capacity, const uint32_t *parts,
                           uint32_t count) {
    if (*used + count > *capacity && !VC__RESERVE(k, *extra, *capacity, *used + count)) return false;
    for (uint32_t i = 0; i < count; i++) (*extra)[*used + i] = parts[i];
    *used += count;
    return true;
}

/* Parts may be VC__NIL after an error. */
static uint32_t vc__record_vec(vc_kernel *k, vc_type type, const uint32_t *parts, uint32_t count) {
    uint32_t flags = 0, first = k->extra_count;
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i] == VC__NIL) return VC__NIL;
        flags |= k->node[parts[i]].flags & VC__NODE_VARIES;
    }
    if (!vc__push_extra(k, &k->extra, &k->extra_count, &k->extra_capacity, parts, count)) return VC__NIL;
    return vc__record(k, VC__OP_VEC, flags, type, first, count, VC__NIL, 0);
}

/* The copy lives until vc_restart. memmove: the text may be in arena memory that vc_restart has just released. */
static const char *vc__arena_copy(vc_kernel *k, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = (char *)vc__allocate(k, size);
    if (copy) memmove(copy, text, size);
    return copy;
}

/* Adds an anchor for the next recorded node. `block` is the innermost open block once that node is recorded. */
static bool vc__anchor_next(vc_kernel *k, uint32_t block) {
    if (k->anchor_count == k->anchor_capacity
        && !VC__RESERVE(k, k->anchor, k->anchor_capacity, k->anchor_count + 1))
        return false;
    k->anchor[k->anchor_count].node = k->count;
    k->anchor[k->anchor_count].block = block;
    k->region = k->anchor_count++;
    k->open_block = block;
    return true;
}

/* `block` as for vc__anchor_next. */
static uint32_t vc__record_anchored(vc_kernel *k, uint32_t block, uint32_t op, uint32_t flags, vc_type type, uint32_t a,
                                    uint32_t b, uint32_t c, uint32_t x) {
    if (!vc__anchor_next(k, block)) return VC__NIL;
    uint32_t n = vc__record(k, op, flags, type, a, b, c, x);
    if (n == VC__NIL) k->anchor_count--;
    return n;
}

VC__SMALL

/* Continues in the region of the last anchor. Between the cases of a switch nothing is executed, so values recorded
   there belong to the region before the switch. */
static void vc__select_region(vc_kernel *k) {
    const vc__block *b = &k->block[k->open_block];
    k->region = b->op == VC__OP_SWITCH ? b->open - 1 : k->anchor_count - 1;
}

/* The VC__NODE_ bits of values that depend on which invocations run a block with these VC__BLOCK_ bits. */
static uint32_t vc__node_flags(uint32_t block_flags) {
    return (block_flags & VC__BLOCK_DIVERGES ? (uint32_t)VC__NODE_VARIES_GROUP : 0u)
           | (block_flags & VC__BLOCK_DIVERGES_SUB ? (uint32_t)VC__NODE_VARIES_SUB : 0u);
}

static bool vc__is_loop(uint32_t op) { return op == VC__OP_FOR || op == VC__OP_LOOP; }

/* The operands of n and their number. extra: the list to which its node list refers */
static const uint32_t *vc__operands(const vc__node *n, const uint32_t *extra, uint32_t *count) {
    bool many = vc__op[n->op].operands == VC__MANY;
    *count = many ? n->a[1] : vc__op[n->op].operands;
    return many ? extra + n->a[0] : n->a;
}

/* The result inherits the divergence of its operands. b and c may be VC__NIL. */
static uint32_t vc__record_on(vc_kernel *k, uint32_t op, vc_type type, uint32_t a, uint32_t b, uint32_t c, uint32_t x) {
    uint32_t flags = k->node[a].flags;
    if (b != VC__NIL) flags |= k->node[b].flags;
    if (c != VC__NIL) flags |= k->node[c].flags;
    return vc__record(k, op, flags & VC__NODE_VARIES, type, a, b, c, x);
}

/* flags: VC__BLOCK_ bits that are known when the block is opened. */
static void vc__begin_block_flags(vc_kernel *k, vc__block *b, uint32_t flags) {
    if (flags & VC__BLOCK_DIVERGES_SUB && b->op != VC__OP_IF && b->op != VC__OP_ELSE) flags |= VC__BLOCK_UNMASKED;
    b->flags = (uint16_t)(flags | (b->parent == VC__NIL ? 0u : k->block[b->parent].flags & VC__BLOCK_INHERITED));
    b->divergence = (uint8_t)vc__node_flags(flags);
    b->exit_divergence = 0;
    b->cause = b->divergence ? b->condition : VC__NIL;
}

static uint32_t vc__add_object(vc_kernel *k, const char *name, uint32_t op, uint32_t access, vc_type type,
                               uint32_t count, const uint64_t *data);

static bool vc__open_block(vc_kernel *k, uint32_t parent, uint32_t op, uint32_t flags, vc_type type, uint32_t a,
                           uint32_t b) {
    uint32_t node_flags = vc__node_flags(flags), leaves = VC__NIL;
    if (vc__is_loop(op) && k->outer_loop)
        leaves = vc__add_object(k, "leaves", VC__OP_VAR, VC_READ_WRITE, VC_BOOL, 1, NULL);
    if (!VC__RESERVE(k, k->block, k->block_capacity, k->block_count + 1)) return false;
    vc__block *block = &k->block[k->block_count];
    block->parent = parent;
    block->depth = parent == VC__NIL ? 0 : k->block[parent].depth + 1;
    if (block->depth > VC__MAX_DEPTH)
        return VC__FAIL_FALSE(k, NULL, "blocks are nested too deeply: the limit is %u levels", VC__MAX_DEPTH);
    block->op = (uint16_t)op;
    block->condition = op == VC__OP_IF || op == VC__OP_SWITCH ? a : op == VC__OP_FOR ? k->count : VC__NIL;
    vc__begin_block_flags(k, block, flags);
    block->open = k->anchor_count;
    block->close = VC__NIL;
    block->leaves = leaves;
    if (vc__record_anchored(k, k->block_count, op, node_flags, type, a, b, VC__NIL, 0) == VC__NIL) return false;
    if (!k->outer_loop && vc__is_loop(op)) k->outer_loop = k->block_count;
    k->block_count++;
    vc__select_region(k);
    return true;
}

/* Adds an object and returns its node. Copies the name, but not the data. */
static uint32_t vc__add_object(vc_kernel *k, const char *name, uint32_t op, uint32_t access, vc_type type,
                               uint32_t count, const uint64_t *data) {
    const char *copy = name ? vc__arena_copy(k, name) : NULL;
    if (name && !copy) return VC__NIL;
    if (!VC__RESERVE(k, k->object, k->object_capacity, k->object_count + 1)) return VC__NIL;
    vc__object *o = &k->object[k->object_count];
    o->name = copy;
    o->op = (uint16_t)op;
    o->access = (uint16_t)access;
    o->type = o->declared = type;
    o->count = count;
    o->data = data;
    o->arg = op == VC__OP_BUFFER || op == VC__OP_IMAGE || op == VC__OP_PARAM ? k->arg_count++ : VC__NIL;
    o->used = 0;
    o->stored = false;
    o->divergence = 0;
    o->block = k->anchor[k->region].block;
    o->last_load = 0;
    memset(&o->image, 0, sizeof o->image);
    o->composite = o->next = VC__NIL;
    o->offset = 0;
    o->aliased = false;
    o->node = vc__record(k, op, 0, type, VC__NIL, VC__NIL, VC__NIL, k->object_count);
    if (o->node == VC__NIL) return VC__NIL;
    if (vc__op[op].class_ == VC__LEAF) k->node[o->node].region = 0;
    k->object_count++;
    return o->node;
}

/* Functions with which lowering rules build nodes. Operands and results are numbers in the lowered list; an operand
   that is VC__NIL does not exist. vc__make folds, lowers and merges. vc__make_raw folds and merges, but does not lower.
   vc__make_const repeats `bits` in every component of a vector. */
static uint32_t vc__make_vec(vc__lowering *s, vc_type type, const uint32_t *parts, uint32_t count);

VC__SMALL_END

static uint32_t vc__make(vc__lowering *s, uint16_t op, vc_type type, uint32_t a, uint32_t b, uint32_t c, uint32_t x);
static uint32_t vc__make_raw(vc__lowering *s, uint16_t op, vc_type type, uint32_t a, uint32_t b, uint32_t c,
                             uint32_t x);
static uint32_t vc__make_const(vc__lowering *s, vc_type type, uint64_t bits);

static const vc__node vc__null_node = { 0, 0, 0, 0, { VC__NIL, VC__NIL, VC__NIL }, 0 };
static inline const vc__node *vc__lowered_node(const vc__lowering *s, uint32_t number) {
    return number < s->count ? &s->node[number] : &vc__null_node;
}

// >>check
/* Checks the operands of an operation and determines the type of its result. */

typedef struct vc__operand {
    vc_type type;
    uint32_t node;   /* VC__NIL: an immediate */
    uint64_t bits;
} vc__operand;

static inline vc_val vc__value(vc_kernel *k, uint32_t node) {
    vc_val v = { 0, 0 };
    if (node == VC__NIL) return v;
    v.owner = (uintptr_t)k;
    v.bits = node | (uint64_t)k->generation << 32;
    return v;
}

/* The result of a failed call, and of any call on a kernel that failed or is NULL. It differs from {0}, which was never
   set. */
static inline vc_val vc__no_value(void) { vc_val v = { 0, VC__NIL }; return v; }
static inline bool vc__is_failed(vc_val v) { return v.owner == 0 && v.bits; }
static inline vc_val vc__no_operand(void) { vc_val v = { 0, 0 }; return v; }
static inline vc_val vc__immediate(vc_type type, uint64_t bits) { vc_val v; v.owner = type; v.bits = bits; return v; }
static inline bool vc__is_immediate(vc_val v) { return v.owner != 0 && v.owner < 4096; }

/* vc_val.owner of the results of calls on immediates that cannot be folded. `bits` is the reason (the name of the call
   without vc_, or the invalid type), which the next call that has the value as an operand reports. */
enum { VC__IMM_UNFOLDED = 4095, VC__IMM_BAD_TYPE = 4094, VC__IMM_BAD_CAST = 4093, VC__IMM_BAD_SELECT = 4092 };
static inline vc_val vc__unfoldable(const char *name) { return vc__immediate(VC__IMM_UNFOLDED, (uintptr_t)name); }

/* Never set, or the result of a call that failed or cannot be folded. Calls on immediates return such an operand, so
   that the error names the innermost call. */
static inline bool vc__is_unusable(vc_val v) {
    return v.owner == 0 || (v.owner >= VC__IMM_BAD_SELECT && v.owner < 4096);
}

/* Result of a call with invalid operands. Without a kernel, the error is reported when the result is used. */
static inline vc_val vc__failed_value(const vc_kernel *k, const char *call) {
    return k ? vc__no_value() : vc__unfoldable(call);
}
static inline vc_kernel *vc__kernel_of(vc_val v) { return v.owner < 4096 ? NULL : (vc_kernel *)v.owner; }
static vc_kernel *vc__kernel_of_two(vc_val a, vc_val b) { return vc__kernel_of(a.owner < 4096 ? b : a); }

VC__SMALL_BODIES

/* The kernel of a call whose ref or image has none is that of its operands. If they have none either, stores the call
   for vc_error, unless the ref or image (`failed`) or an operand is the result of a failed call. */
VC__NOINLINE static vc_kernel *vc__kernel_of_operands(const char *call, bool failed, vc_val a, vc_val b, vc_val c) {
    vc_kernel *k = vc__kernel_of(a) ? vc__kernel_of(a) : vc__kernel_of_two(b, c);
    if (failed || vc__is_failed(a) || vc__is_failed(b) || vc__is_failed(c)) return k;
    if (!k && !vc__call_without_kernel) {
        vc__call_without_kernel = call;
        vc__position_without_kernel = vc__current_position;
    }
    return k;
}

VC__SMALL_END

static inline vc_kernel *vc__kernel_of_ref(const char *call, const vc_ref *r, vc_val a, vc_val b) {
    return r->kernel ? r->kernel : vc__kernel_of_operands(call, r->memory != 0, a, b, b);
}

/* The name of an operation without vc_: "add" for ADD. LT and LE with swapped operands are gt and ge. */
enum { VC__SWAPPED = 0x8000, VC__ORDERED_GT = VC__OP_LT | VC__SWAPPED, VC__ORDERED_GE = VC__OP_LE | VC__SWAPPED };
static const char *vc__ordered_op_name(uint32_t ordered_op) {
    return ordered_op == VC__ORDERED_GT ? "gt" : ordered_op == VC__ORDERED_GE ? "ge" : vc__op_name[ordered_op];
}

/* Set in `bits` of values of composite types, so that functions of scalars and vectors reject them. */
#define VC__COMPOSITE ((uint64_t)1 << 63)
static inline bool vc__is_composite(vc_val v) { return v.owner >= 4096 && v.bits & VC__COMPOSITE; }

typedef struct vc__label_text { char text[48]; } vc__label_text;
static vc__label_text vc__type_text(const vc_kernel *k, vc_type type); /* room composite */
static vc__label_text vc__node_text(const vc_kernel *k, const vc__node *n);

/* Values may be used while the block of their region is open. */
static inline bool vc__is_open(const vc_kernel *k, uint32_t region) {
    return k->block[k->anchor[region].block].close == VC__NIL;
}

VC__SMALL_BODIES

/* The name of an operation for messages, as in vc_dump, with the argument or memory that it reads: load 'x'. For a
   composite value: its type. */
static vc__label_text vc__node_text(const vc_kernel *k, const vc__node *n) {
    vc__label_text l;
    if (n->op == VC__OP_PARTS) return vc__type_text(k, vc__node_type(k, (uint32_t)(n - k->node)));
    uint32_t class_ = vc__op[n->op].class_;
    const vc__node *memory = class_ == VC__READ || class_ == VC__EFFECT ? &k->node[n->a[0]] : n;
    const char *name = memory->op >= VC__OP_BUFFER && memory->op <= VC__OP_ARRAY ? k->object[memory->x].name : NULL;
    snprintf(l.text, sizeof l.text, name ? "%s '%.25s'" : "%s", vc__op_name[n->op], name);
    return l;
}

/* The reason why a value, ref or image with this kernel, node and generation is not one of kernel k; NULL: it is. */
static const char *vc__invalid_reason(const vc_kernel *k, const vc_kernel *owner, uint32_t node, uint32_t generation) {
    if (!owner) return node ? "is the result of a failed call" : "was never set";
    if (owner != k) return "belongs to another kernel";
    return generation != k->generation || node >= k->count ? "was created before vc_restart" : NULL;
}

/* Fails with the reason why vc__operand_of rejected v. */
VC__NOINLINE static vc_val vc__fail_value(vc_kernel *k, const char *call, uint32_t which, vc_val v) {
    uint32_t n = (uint32_t)v.bits;
    bool composite = vc__is_composite(v);
    if (composite) v.bits &= ~VC__COMPOSITE;
    if (!v.owner || v.owner >= 4096) {
        const char *why = vc__invalid_reason(k, vc__kernel_of(v), n, (uint32_t)(v.bits >> 32));
        if (why) return vc__fail_call(k, call, "operand %u %s", which, why);
    }
    if (v.owner == VC__IMM_UNFOLDED) {
        const char *name = (const char *)(uintptr_t)v.bits;
        if (!strcmp(name, "component") || !strcmp(name, "part"))
            return vc__fail_call(k, call, "operand %u is vc_%s of an immediate, which has only component 0", which,
                                 name);
        return vc__fail_call(k, call, "operand %u is vc_%s of immediates only, so its kernel is unknown; %s", which,
                             name, strncmp(name, "vec", 3) ? "wrap one of them in vc_const" : "use vc_vec");
    }
    if (v.owner == VC__IMM_BAD_TYPE)
        return vc__fail_call(k, call, "operand %u is vc_imm of %t, but vc_imm requires a scalar type", which,
                             (vc_type)v.bits);
    if (v.owner == VC__IMM_BAD_CAST)
        return vc__fail_call(k, call,
                             "operand %u is vc_%s of an immediate to %t, which is not a scalar or vector type", which,
                             v.bits >> 32 ? "bitcast" : "cast", (vc_type)v.bits);
    if (v.owner == VC__IMM_BAD_SELECT)
        return vc__fail_call(k, call, "operand %u is vc_select of immediates whose condition is %t, but must be bool",
                             which, (vc_type)v.bits);
    if (v.owner < 4096)
        return vc__fail_call(k, call, "operand %u is an immediate of type %u, which is not a scalar type; use vc_imm",
                             which, (unsigned)v.owner);
    if (composite && vc__is_open(k, k->node[n].region))
        return vc__fail_call(k, call, "operand %u is %t, which this call does not support", which, vc__node_type(k, n));
    return vc__fail_call(k, call,
                         "operand %u (%s) was created in a block that is already closed; pass it out of the block in a "
                         "vc_var",
                         which, vc__node_text(k, &k->node[n]).text);
}

VC__SMALL_END

/* Decodes v as operand number `which`. Fails if v is not a usable value of k; `call` is NULL: without an error. */
VC__NOINLINE static bool vc__operand_of(vc_kernel *k, const char *call, uint32_t which, vc_val v, vc__operand *out) {
    uint32_t n = (uint32_t)v.bits;
    out->node = VC__NIL;
    out->bits = v.bits;
    out->type = (vc_type)v.owner;
    if (v.owner < 4096) {
        if (v.owner < 16 && vc__mask((vc_type)v.owner)) return true;
    } else if (v.owner == (uintptr_t)k && v.bits >> 32 == k->generation && n < k->count
               && vc__is_open(k, k->node[n].region)) {
        out->node = n;
        out->type = k->node[n].type;
        return true;
    }
    if (k && call) vc__fail_value(k, call, which, v);
    return false;
}

VC__SMALL_BODIES

VC__NOINLINE static vc_val vc__fail_operand(vc_kernel *k, const char *call, uint32_t which, const vc__operand *o,
                                            const char *expected) {
    return vc__fail_call(k, call, "operand %u%a is %t, but must be %s", which, o, o->type, expected);
}

VC__NOINLINE static vc_val vc__fail_operands(vc_kernel *k, const char *call, uint32_t first, const vc__operand *a,
                                             uint32_t second, const vc__operand *b, const char *why) {
    return vc__fail_call(k, call, "operand %u%a is %t and operand %u%a is %t; %s", first, a, a->type, second, b,
                         b->type, why);
}

static inline bool vc__is_int_immediate(const vc__operand *o) { return o->node == VC__NIL && vc__is_int(o->type); }
static bool vc__fold_cast(vc_type from, vc_type to, uint64_t v, uint64_t *out);

/* Whether an operand is an immediate that is implicitly converted to `kind`: integers to every kind of number, floats
   only to narrower floats. */
static bool vc__adapts(const vc__operand *o, vc_type kind) {
    if (vc__is_int_immediate(o)) return vc__is_int(kind) || vc__is_float(kind);
    return o->node == VC__NIL && vc__is_float(o->type) && vc__is_float(kind) && vc__bits(kind) < vc__bits(o->type);
}

/* Converts an immediate to `kind`. Returns false if an integer changes its value, or if a float is not folded (see
   vc__fold_cast). */
static bool vc__convert_immediate(const vc__operand *o, vc_type kind, uint64_t *bits) {
    uint64_t back = 0;
    if (vc__is_int(kind)) return vc__fits(o->type, o->bits, kind, bits);
    return vc__fold_cast(o->type, kind, o->bits, bits)
           && (vc__is_float(o->type) || (vc__fold_cast(kind, o->type, *bits, &back) && back == o->bits));
}

/* Converts an immediate to its own kind or one that vc__adapts accepts. Fails if vc__convert_immediate returns false;
   k is NULL: without an error. */
static bool vc__adapt_immediate(vc_kernel *k, const char *call, uint32_t which, vc__operand *o, vc_type kind) {
    uint64_t bits = 0;
    if (o->type == kind) return true;
    if (vc__convert_immediate(o, kind, &bits)) {
        o->type = kind;
        o->bits = bits;
        return true;
    }
    if (!k) return false;
    const char *why = vc__is_float(kind) ? "cannot be represented exactly in" : "is out of range for";
    if (vc__is_float(o->type))
        vc__fail_call(k, call,
                      "operand %u is an f%u immediate that is NaN or subnormal as %t; pass it as an immediate of "
                      "type %t", which, (unsigned)vc__bits(o->type), kind, kind);
    else if (vc__is_signed(o->type))
        vc__fail_call(k, call, "operand %u is the immediate %lld, which %s %t", which,
                      (long long)vc__widen(o->type, o->bits), why, kind);
    else
        vc__fail_call(k, call, "operand %u is the immediate %llu, which %s %t", which, (unsigned long long)o->bits, why,
                      kind);
    return false;
}

/* Returns the common type of the operands; VC_NONE after an error. If one operand is a value of the kernel, converts
   all immediates that vc__adapts accepts, otherwise only integers to other integers. Scalars may be combined with
   vectors. Error messages number the operands from before + 1; k is NULL: errors are not reported. */
static vc_type vc__unify_from(vc_kernel *k, const char *call, vc__operand *o, uint32_t count, uint32_t before) {
    uint32_t reference = 0, components = 1, widest = 0;
    while (reference + 1 < count && o[reference].node == VC__NIL) reference++;
    bool has_value = o[reference].node != VC__NIL;
    if (!has_value) reference = 0;
    while (!has_value && reference + 1 < count && vc__is_int_immediate(&o[reference])) reference++;
    if (vc__is_int_immediate(&o[reference])) reference = 0;
    vc_type kind = vc__scalar(o[reference].type);
    for (uint32_t i = 0; i < count; i++) {
        if ((has_value || vc__is_int(kind)) && vc__adapts(&o[i], kind)
            && !vc__adapt_immediate(k, call, before + i + 1, &o[i], kind))
            return VC_NONE;
        if (vc__components(o[i].type) > components) { components = vc__components(o[i].type); widest = i; }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (vc__scalar(o[i].type) == kind
            && (vc__components(o[i].type) == components || vc__components(o[i].type) == 1))
            continue;
        if (!k) return VC_NONE;
        uint32_t a = vc__scalar(o[i].type) != kind ? reference : widest;
        uint32_t b = i;
        if (a > b) { b = a; a = i; }
        vc__fail_operands(k, call, before + a + 1, &o[a], before + b + 1, &o[b],
                          vc__scalar(o[a].type) == vc__scalar(o[b].type)
                              ? "vectors must have the same number of components"
                              : "both must have the same type; convert one with vc_cast");
        return VC_NONE;
    }
    return vc__vec(kind, components);
}

static vc_type vc__unify(vc_kernel *k, const char *call, vc__operand *o, uint32_t count) {
    return vc__unify_from(k, call, o, count, 0);
}

static const char *vc__kinds_text(uint32_t kinds) {
    switch (kinds) {
    case VC__KINDS_B: return "bool";
    case VC__KINDS_F: return "f16, f32 or f64";
    case VC__KINDS_IU: return "an integer";
    case VC__KINDS_BIU: return "bool or an integer";
    default: return "a number";
    }
}

static bool vc__check_kind(vc_kernel *k, const char *call, const vc__operand *o, uint32_t which, uint32_t kinds) {
    if (vc__mask(o->type) & kinds) return true;
    if (k) vc__fail_operand(k, call, which, o, vc__kinds_text(kinds));
    return false;
}

VC__SMALL_END

static uint32_t vc__record_splat(vc_kernel *k, uint32_t scalar, uint32_t components) {
    uint32_t parts[4];
    if (scalar == VC__NIL || components == 1) return scalar;
    for (uint32_t i = 0; i < components; i++) parts[i] = scalar;
    return vc__record_vec(k, vc__vec(k->node[scalar].type, components), parts, components);
}

/* Returns the operand as a node: records immediates as constants and repeats scalars `components` times. */
static inline uint32_t vc__as_node(vc_kernel *k, const vc__operand *o, uint32_t components) {
    uint32_t n = o->node == VC__NIL ? vc__record_const(k, o->type, o->bits) : o->node;
    return vc__components(o->type) == components ? n : vc__record_splat(k, n, components);
}

static inline vc_type vc__result_type(uint32_t op, vc_type type) {
    uint32_t result = vc__op[op].result;
    if (result == VC__RESULT_SAME) return type; /* the most frequent case */
    switch (result) {
    case VC__RESULT_BOOL: return vc__vec(VC_BOOL, vc__components(type));
    case VC__RESULT_SCALAR: return vc__scalar(type);
    case VC__RESULT_SIGNED: return vc__to_signed(type);
    default: return type;
    }
}

static bool vc__fold(uint32_t op, vc_type from, vc_type to, const uint64_t *v, uint64_t *out);

VC__SMALL_BODIES

static bool vc__operands_of(vc_kernel *k, const char *call, const vc_val *v, uint32_t count, vc__operand *out) {
    for (uint32_t i = 0; i < count; i++) if (!vc__operand_of(k, call, i + 1, v[i], &out[i])) return false;
    return true;
}

/* Folds an operation on immediates. Returns the first operand that vc__is_unusable, if there is one. */
static vc_val vc__pure_immediates(uint32_t ordered_op, uint32_t count, vc_val a, vc_val b, vc_val c) {
    uint32_t op = ordered_op & ~(uint32_t)VC__SWAPPED;
    uint64_t bits[3] = { 0, 0, 0 }, result = 0;
    vc_val v[3] = { a, b, c };
    vc__operand o[3];
    for (uint32_t i = 0; i < count; i++) if (vc__is_unusable(v[i])) return v[i];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = ordered_op & VC__SWAPPED ? count - 1 - i : i;
        if (!vc__operand_of(NULL, NULL, i + 1, v[i], &o[at])) return vc__unfoldable(vc__ordered_op_name(ordered_op));
    }
    vc_type type = vc__unify(NULL, NULL, o, count);
    for (uint32_t i = 0; i < count; i++) bits[i] = o[i].bits;
    if (!(vc__mask(type) & vc__op[op].kinds) || !vc__fold(op, type, vc__result_type(op, type), bits, &result))
        return vc__unfoldable(vc__ordered_op_name(ordered_op));
    return vc__immediate(vc__result_type(op, type), result);
}

static vc_val vc__composite_op(vc_kernel *k, uint32_t ordered_op, uint32_t count, vc_val a, vc_val b, vc_val c);

/* Checks and converts the operands and records the operation. `ordered_op`: VC__OP_, plus VC__SWAPPED if the two
   operands are to be swapped. */
static vc_val vc__pure_checked(uint32_t ordered_op, uint32_t count, vc_val a, vc_val b, vc_val c) {
    uint32_t op = ordered_op & ~(uint32_t)VC__SWAPPED, i, n[3] = { VC__NIL, VC__NIL, VC__NIL };
    vc_kernel *k = vc__kernel_of(a);
    const vc_val v[3] = { a, b, c };
    vc__operand o[3];
    if (!k && count > 1) k = vc__kernel_of(b);
    if (!k && count > 2) k = vc__kernel_of(c);
    if (!k) return vc__pure_immediates(ordered_op, count, a, b, c);
    if (k->failed) return vc__no_value();
    if (!vc__operands_of(k, NULL, v, count, o)) return vc__composite_op(k, ordered_op, count, a, b, c);
    vc_type type = o[0].type;
    if (count > 1 && (type != o[1].type || (count > 2 && type != o[2].type))) {
        type = vc__unify(k, vc__ordered_op_name(ordered_op), o, count);
        if (!type) return vc__no_value();
    }
    if (!(vc__mask(type) & vc__op[op].kinds)) {
        vc__check_kind(k, vc__ordered_op_name(ordered_op), &o[0], 1, vc__op[op].kinds);
        return vc__no_value();
    }
    for (i = 0; i < count; i++) {
        n[i] = vc__as_node(k, &o[i], vc__components(type));
        if (n[i] == VC__NIL) return vc__no_value();
    }
    if (ordered_op & VC__SWAPPED) { i = n[0]; n[0] = n[1]; n[1] = i; }
    return vc__value(k, vc__record_on(k, op, vc__result_type(op, type), n[0], n[1], n[2], 0));
}

static uint32_t vc__condition(vc_kernel *k, const char *call, uint32_t which, vc_val v) {
    vc__operand o;
    if (!vc__operand_of(k, call, which, v, &o)) return VC__NIL;
    if (o.type != VC_BOOL) {
        vc__fail_call(k, call, "the condition%a is %t, but must be a scalar bool; %s", &o, o.type,
                      vc__is_bool(o.type) ? "combine the components with vc_any or vc_all"
                                          : "compare it with vc_ne(v, vc_i32(0))");
        return VC__NIL;
    }
    return vc__as_node(k, &o, 1);
}

VC__SMALL_END

/* ---- fast paths: operands of one type, recorded without further checks; vc__pure_checked handles all other calls ----
   */

/* Decides by the region alone: it precedes the first closed block or follows the last one. */
static inline bool vc__is_in_known_open_block(const vc_kernel *k, const vc__node *n) {
    return n->region >= k->closed_to || n->region < k->closed_from;
}
static inline bool vc__is_usable(const vc_kernel *k, const vc__node *n) {
    return vc__is_in_known_open_block(k, n) || vc__is_open(k, n->region);
}

/* NULL if v is not a value of k, or if its block is closed. */
static inline const vc__node *vc__usable_node(const vc_kernel *k, vc_val v) {
    uint64_t n = v.bits - ((uint64_t)k->generation << 32);
    return v.owner == (uintptr_t)k && n < k->count && vc__is_usable(k, &k->node[n]) ? &k->node[n] : NULL;
}

/* Requires that v.owner is k. */
static inline const vc__node *vc__node_in_known_open_block(const vc_kernel *k, vc_val v) {
    uint64_t n = v.bits - ((uint64_t)k->generation << 32);
    return n < k->count && vc__is_in_known_open_block(k, &k->node[n]) ? &k->node[n] : NULL;
}

/* NULL if the tape has to grow for another node, or if the kernel has failed. */
static inline vc_kernel *vc__kernel_with_space(vc_val a) {
    vc_kernel *k = vc__kernel_of(a);
    return k && k->count < k->node_limit ? k : NULL;
}

static inline vc_val vc__record_unchecked(vc_kernel *k, uint32_t op, vc_type type, uint32_t flags, uint64_t a,
                                          uint64_t b, uint64_t c) {
    return vc__value(k,
                     vc__write_node(k, op, flags & VC__NODE_VARIES, type, (uint32_t)a, (uint32_t)b, (uint32_t)c, 0));
}

/* Returns a usable value or an immediate of `type` as a node; VC__NIL for others. Requires room for one node. */
static inline uint32_t vc__usable_operand(vc_kernel *k, vc_val v, vc_type type, uint32_t *flags) {
    if (v.owner == type) return vc__record_const(k, type, v.bits);
    const vc__node *n = vc__usable_node(k, v);
    if (!n || n->type != type) return VC__NIL;
    *flags |= n->flags;
    return (uint32_t)v.bits;
}

VC__SMALL_BODIES

/* Slower than vc__pure2, vc__compare and vc__pure2_immediate, which call it: looks up whether the blocks of the values
   are open, and accepts an immediate as second operand and results of another type. */
VC__NOINLINE static vc_val vc__pure2_same_type(vc_val a, vc_val b, uint32_t ordered_op) {
    vc_kernel *k = vc__kernel_with_space(a);
    const vc__node *first = k && k->node_limit - k->count > 1 ? vc__usable_node(k, a) : NULL;
    vc_type type = first ? first->type : (vc_type)VC_NONE;
    uint32_t op = ordered_op & ~(uint32_t)VC__SWAPPED, flags = first ? first->flags : 0u, second_node = VC__NIL;
    uint32_t first_node = (uint32_t)a.bits;
    if (vc__mask(type) & vc__op[op].kinds) second_node = vc__usable_operand(k, b, type, &flags);
    if (second_node == VC__NIL) return vc__pure_checked(ordered_op, 2, a, b, vc__no_value());
    type = vc__result_type(op, type);
    return ordered_op == op ? vc__record_unchecked(k, op, type, flags, first_node, second_node, VC__NIL)
                      : vc__record_unchecked(k, op, type, flags, second_node, first_node, VC__NIL);
}

VC__NOINLINE static vc_val vc__pure3_same_type(vc_val a, vc_val b, vc_val c, uint32_t op) {
    vc_kernel *k = vc__kernel_with_space(a);
    const vc__node *first = k && k->node_limit - k->count > 2 ? vc__usable_node(k, a) : NULL;
    vc_type type = first ? first->type : (vc_type)VC_NONE;
    uint32_t flags = first ? first->flags : 0u, second_node = VC__NIL, third_node = VC__NIL;
    if (vc__keeps_type(op, type)) second_node = vc__usable_operand(k, b, type, &flags);
    if (second_node != VC__NIL) third_node = vc__usable_operand(k, c, type, &flags);
    return third_node != VC__NIL ? vc__record_unchecked(k, op, type, flags, a.bits, second_node, third_node)
                                 : vc__pure_checked(op, 3, a, b, c);
}

VC__SMALL_END

/* Fast path for a value and an immediate of its type. */
VC__NOINLINE static vc_val vc__pure2_immediate(vc_val a, vc_val b, uint32_t op) {
    vc_kernel *k = vc__kernel_with_space(a);
    const vc__node *first = k && k->node_limit - k->count > 1 ? vc__node_in_known_open_block(k, a) : NULL;
    if (!first || first->type != b.owner || !vc__keeps_type(op, (vc_type)b.owner))
        return vc__pure2_same_type(a, b, op);
    uint32_t flags = first->flags;
    return vc__record_unchecked(k, op, (vc_type)b.owner, flags, a.bits, vc__record_const(k, (vc_type)b.owner, b.bits),
                                VC__NIL);
}

/* Record an operation with 1, 2 or 3 operands. `op` is the last parameter, so that public functions pass on their
   operands in the same registers. */
static vc_val vc__pure1(vc_val a, uint32_t op) {
    vc_kernel *k = vc__kernel_with_space(a);
    const vc__node *n = k ? vc__usable_node(k, a) : NULL;
    if (n && vc__kinds[n->type & 15u].mask & vc__op[op].kinds)
        return vc__record_unchecked(k, op, vc__result_type(op, n->type), n->flags, a.bits, VC__NIL, VC__NIL);
    return vc__pure_checked(op, 1, a, vc__no_value(), vc__no_value());
}

static vc_val vc__pure2(vc_val a, vc_val b, uint32_t op) {
    vc_kernel *k = a.owner == b.owner ? vc__kernel_with_space(a) : NULL;
    const vc__node *first = k ? vc__node_in_known_open_block(k, a) : NULL;
    const vc__node *second = first ? vc__node_in_known_open_block(k, b) : NULL;
    if (!second || second->type != first->type || !vc__keeps_type(op, second->type))
        return vc__pure2_immediate(a, b, op);
    return vc__record_unchecked(k, op, second->type, (uint32_t)first->flags | second->flags, a.bits, b.bits, VC__NIL);
}

/* As vc__pure2 for comparisons, whose results are bools. */
static vc_val vc__compare(vc_val a, vc_val b, uint32_t ordered_op) {
    vc_kernel *k = a.owner == b.owner ? vc__kernel_with_space(a) : NULL;
    const vc__node *m = k ? vc__node_in_known_open_block(k, a) : NULL;
    const vc__node *n = m ? vc__node_in_known_open_block(k, b) : NULL;
    uint32_t op = ordered_op & ~(uint32_t)VC__SWAPPED;
    vc_val first = ordered_op == op ? a : b, second = ordered_op == op ? b : a;
    if (!n || n->type != m->type || !(vc__kinds[n->type & 15u].mask & vc__op[op].kinds))
        return vc__pure2_same_type(a, b, ordered_op);
    return vc__record_unchecked(k, op, vc__vec(VC_BOOL, vc__components(n->type)), (uint32_t)m->flags | n->flags,
                                first.bits, second.bits, VC__NIL);
}

static vc_val vc__pure3(vc_val a, vc_val b, vc_val c, uint32_t op) {
    vc_kernel *k = a.owner == b.owner && a.owner == c.owner ? vc__kernel_with_space(a) : NULL;
    const vc__node *first = k ? vc__node_in_known_open_block(k, a) : NULL;
    const vc__node *second = first ? vc__node_in_known_open_block(k, b) : NULL;
    const vc__node *third = second ? vc__node_in_known_open_block(k, c) : NULL;
    if (!third || third->type != first->type || second->type != first->type
        || !vc__keeps_type(op, second->type))
        return vc__pure3_same_type(a, b, c, op);
    return vc__record_unchecked(k, op, second->type, (uint32_t)first->flags | second->flags | third->flags, a.bits,
                                b.bits, c.bits);
}

// >>fold
/* Constant folding, one operation at a time, on bit patterns, and simplifications. Simplifications are exact for every
   input; those of a `fast` kernel may be wrong for infinities, NaN and -0. Floats are computed with integers, so that
   the generated bytes do not depend on compiler options. Arithmetic with subnormal operands or results, or a NaN
   result, is not folded, except by vc__fold_nan.
   In vc__fold and vc__fold_…, v has the bits of the operands; they return false if the operation is not folded. */

/* Stores the bits of component i of a constant in *bits. Returns false if the node is not a constant. */
static inline bool vc__const_part(const vc__lowering *s, uint32_t number, uint32_t i, uint64_t *bits) {
    const vc__node *n = vc__lowered_node(s, number);
    if (n->op == VC__OP_TUPLE) n = vc__lowered_node(s, s->extra[n->a[0] + i]);
    else if (n->op != VC__OP_CONST) return false;
    *bits = vc__bits_of(n);
    return true;
}

/* As vc__const_part for a constant whose components are all equal. */
static bool vc__const_bits(const vc__lowering *s, uint32_t number, uint64_t *bits) {
    const vc__node *n = vc__lowered_node(s, number);
    if (n->op == VC__OP_TUPLE)
        for (uint32_t i = 1; i < n->a[1]; i++) if (s->extra[n->a[0] + i] != s->extra[n->a[0]]) return false;
    return vc__const_part(s, number, 0, bits);
}

static inline bool vc__is_const_op(uint32_t op) { return op == VC__OP_CONST || op == VC__OP_TUPLE; }
static inline bool vc__is_const(const vc__lowering *s, uint32_t number) {
    return vc__is_const_op(vc__lowered_node(s, number)->op);
}

/* Whether a constant has a component whose bits below the highest one are 0: a float 0 of either sign, or an integer
   that is 0 or has only the highest bit set. False if the node is not a constant. */
static bool vc__has_zero(const vc__lowering *s, uint32_t number) {
    const vc__node *n = &s->node[number];
    uint64_t magnitude = vc__ones(vc__bits(vc__kind(n->type)) - 1u);
    if (n->op == VC__OP_CONST) return !(vc__bits_of(n) & magnitude);
    for (uint32_t i = 0; n->op == VC__OP_TUPLE && i < n->a[1]; i++)
        if (!(vc__bits_of(&s->node[s->extra[n->a[0] + i]]) & magnitude)) return true;
    return false;
}

VC__SMALL_BODIES

enum { VC__REAL_ZERO, VC__REAL_NORMAL, VC__REAL_INF, VC__REAL_NAN };

/* A float of any format. NORMAL: the magnitude is fraction * 2^(exponent - 63), and the top bit of fraction is set. The
   lowest bit is sticky: it is set if a nonzero bit below it was cut off. The others have neither fraction nor
   exponent. */
typedef struct vc__real {
    uint32_t class_;
    bool negative;
    int32_t exponent;
    uint64_t fraction;
} vc__real;

static vc__real vc__real_make(uint32_t class_, bool negative, int32_t exponent, uint64_t fraction) {
    vc__real r;
    r.class_ = class_;
    r.negative = negative;
    r.exponent = exponent;
    r.fraction = fraction;
    return r;
}

/* Makes a number from any fraction: shifts it until its top bit is set. */
static vc__real vc__real_normal(bool negative, int32_t exponent, uint64_t fraction) {
    if (!fraction) return vc__real_make(VC__REAL_ZERO, negative, 0, 0);
    for (; !(fraction >> 63); exponent--) fraction <<= 1;
    return vc__real_make(VC__REAL_NORMAL, negative, exponent, fraction);
}

static int32_t vc__bias(vc_type kind) { return (1 << (vc__kinds[kind].exponent - 1)) - 1; }

/* Unpacks the bits of a float to *r. Returns false if it is subnormal; *r is correct in any case. */
static bool vc__unpack(vc_type kind, uint64_t bits, vc__real *r) {
    uint32_t f = vc__kinds[kind].fraction, e = vc__kinds[kind].exponent;
    uint64_t fraction = bits & vc__ones(f), exponent = (bits >> f) & vc__ones(e);
    bool negative = ((bits >> (f + e)) & 1) != 0;
    if (exponent == vc__ones(e)) *r = vc__real_make(fraction ? VC__REAL_NAN : VC__REAL_INF, negative, 0, 0);
    else if (exponent)
        *r = vc__real_make(VC__REAL_NORMAL, negative, (int32_t)exponent - vc__bias(kind),
                           (fraction | (uint64_t)1 << f) << (63 - f));
    else *r = vc__real_normal(negative, 1 - vc__bias(kind), fraction << (63 - f));
    return exponent != 0 || fraction == 0;
}

/* Shifts to the right and sets the lowest bit if a 1 is shifted out. */
static uint64_t vc__shift_sticky(uint64_t x, uint32_t by) {
    if (by >= 64) return x != 0;
    return by ? (x >> by) | ((x << (64 - by)) != 0) : x;
}

/* Rounds to nearest even and packs the number into *bits. Returns false for a NaN, and for numbers other than 0 whose
   magnitude is below that of normal numbers before rounding; *bits is correct in any case, and a NaN is quiet. */
static bool vc__pack(vc_type kind, const vc__real *r, uint64_t *bits) {
    uint32_t f = vc__kinds[kind].fraction, e = vc__kinds[kind].exponent;
    uint64_t sign = (uint64_t)r->negative << (f + e), inf = vc__ones(e) << f, fraction = r->fraction;
    int32_t biased = r->exponent + vc__bias(kind);
    bool normal = true;
    *bits = sign;
    if (r->class_ == VC__REAL_ZERO) return true;
    *bits = sign | inf;
    if (r->class_ == VC__REAL_INF) return true;
    *bits = inf | (uint64_t)1 << (f - 1);
    if (r->class_ == VC__REAL_NAN) return false;
    if (biased < 1) {
        fraction = vc__shift_sticky(fraction, (uint32_t)(1 - biased));
        biased = 0;
        normal = false;
    }
    uint64_t x = fraction >> (63 - f);
    uint64_t rest = fraction << (f + 1);
    if (rest > (uint64_t)1 << 63 || (rest == (uint64_t)1 << 63 && (x & 1))) x++;
    x += biased ? (uint64_t)(biased - 1) << f : 0; /* the leading bit of x, and a carry, each add 1 to the exponent */
    *bits = sign | (biased > (int32_t)vc__ones(e) || x > inf ? inf : x);
    return normal;
}

static vc__real vc__real_add(const vc__real *a, const vc__real *b) {
    const vc__real *larger = a, *smaller = b;
    if (a->class_ == VC__REAL_NAN || b->class_ == VC__REAL_NAN
        || (a->class_ == VC__REAL_INF && b->class_ == VC__REAL_INF && a->negative != b->negative))
        return vc__real_make(VC__REAL_NAN, false, 0, 0);
    if (a->class_ == VC__REAL_ZERO && b->class_ == VC__REAL_ZERO)
        return vc__real_make(VC__REAL_ZERO, a->negative && b->negative, 0, 0);
    if (a->class_ == VC__REAL_INF || b->class_ == VC__REAL_ZERO) return *a;
    if (b->class_ == VC__REAL_INF || a->class_ == VC__REAL_ZERO) return *b;
    if (a->exponent < b->exponent || (a->exponent == b->exponent && a->fraction < b->fraction)) {
        larger = b;
        smaller = a;
    }
    uint64_t x = larger->fraction >> 1,
             y = vc__shift_sticky(smaller->fraction >> 1, (uint32_t)(larger->exponent - smaller->exponent));
    if (a->negative != b->negative) y = 0 - y;
    return vc__real_normal(larger->negative && x + y, larger->exponent + 1, x + y);
}

/* The upper half of the product of two 64-bit numbers. */
static uint64_t vc__upper_half(uint64_t a, uint64_t b) {
    uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32, mid1 = ah * bl + (al * bl >> 32);
    uint64_t mid2 = al * bh + (mid1 & 0xffffffffu);
    return ah * bh + (mid1 >> 32) + (mid2 >> 32);
}

/* Multiplies with more bits than the result needs, and a sticky lowest bit. */
static vc__real vc__real_mul(const vc__real *a, const vc__real *b) {
    bool negative = a->negative != b->negative, zero = a->class_ == VC__REAL_ZERO || b->class_ == VC__REAL_ZERO;
    bool inf = a->class_ == VC__REAL_INF || b->class_ == VC__REAL_INF;
    if (a->class_ == VC__REAL_NAN || b->class_ == VC__REAL_NAN || (zero && inf))
        return vc__real_make(VC__REAL_NAN, false, 0, 0);
    if (inf) return vc__real_make(VC__REAL_INF, negative, 0, 0);
    if (zero) return vc__real_make(VC__REAL_ZERO, negative, 0, 0);
    return vc__real_normal(negative, a->exponent + b->exponent + 1,
                           vc__upper_half(a->fraction, b->fraction) | (a->fraction * b->fraction != 0));
}

static vc__real vc__real_div(const vc__real *a, const vc__real *b) {
    bool negative = a->negative != b->negative;
    uint64_t quotient = 0;
    if (a->class_ == VC__REAL_NAN || b->class_ == VC__REAL_NAN
        || (a->class_ == b->class_ && a->class_ != VC__REAL_NORMAL))
        return vc__real_make(VC__REAL_NAN, false, 0, 0);
    if (a->class_ == VC__REAL_INF || b->class_ == VC__REAL_ZERO) return vc__real_make(VC__REAL_INF, negative, 0, 0);
    if (a->class_ == VC__REAL_ZERO || b->class_ == VC__REAL_INF) return vc__real_make(VC__REAL_ZERO, negative, 0, 0);
    uint64_t rest = a->fraction >> 1; /* no bits are lost: at most the top 53 are set */
    uint64_t divisor = b->fraction >> 1;
    for (int i = 0; i < 62; i++) {
        quotient <<= 1;
        if (rest >= divisor) { rest -= divisor; quotient |= 1; }
        rest <<= 1;
    }
    return vc__real_normal(negative, a->exponent - b->exponent + 2, quotient | (rest != 0));
}

static vc__real vc__real_sqrt(const vc__real *a) {
    uint64_t root = 0, rest = 0;
    int32_t exponent = a->exponent & 1 ? a->exponent - 1 : a->exponent;
    if (a->class_ == VC__REAL_ZERO) return *a;
    if (a->class_ == VC__REAL_NAN || a->negative) return vc__real_make(VC__REAL_NAN, false, 0, 0);
    if (a->class_ == VC__REAL_INF) return *a;
    uint64_t digits = a->exponent & 1 ? a->fraction : a->fraction >> 1; /* value in [1, 4), two bits before the point */
    for (int i = 0; i < 58; i++) {
        rest = rest << 2 | digits >> 62;
        digits <<= 2;
        root <<= 1;
        if (rest >= (root << 1 | 1)) { rest -= root << 1 | 1; root |= 1; }
    }
    return vc__real_normal(false, exponent / 2 + 6, root | (rest != 0));
}

/* Rounds to an integer: floor, ceil, trunc or round (ties to even). */
static vc__real vc__real_integral(uint32_t op, const vc__real *a) {
    bool up = op == VC__OP_CEIL ? !a->negative : op == VC__OP_FLOOR && a->negative;
    if (a->class_ != VC__REAL_NORMAL || a->exponent >= 62) return *a;
    if (a->exponent < 0) {
        if (op == VC__OP_ROUND) up = a->exponent == -1 && a->fraction > (uint64_t)1 << 63;
        return vc__real_make(up ? VC__REAL_NORMAL : VC__REAL_ZERO, a->negative, 0, up ? (uint64_t)1 << 63 : 0);
    }
    uint64_t one = (uint64_t)1 << (63 - a->exponent);
    uint64_t whole = a->fraction & ~(one - 1);
    uint64_t rest = a->fraction - whole;
    if (op == VC__OP_ROUND) up = rest > one / 2 || (rest == one / 2 && whole & one);
    if (!rest || !up) return vc__real_normal(a->negative, a->exponent, whole);
    if (whole + one < whole) return vc__real_make(VC__REAL_NORMAL, a->negative, a->exponent + 1, (uint64_t)1 << 63);
    return vc__real_normal(a->negative, a->exponent, whole + one);
}

/* The order of two floats that are not NaN, from their bits: -1, 0 or 1. */
static int vc__float_order(vc_type kind, uint64_t a, uint64_t b) {
    uint64_t sign = (uint64_t)1 << (vc__bits(kind) - 1);
    int64_t x = (int64_t)(a & (sign - 1)), y = (int64_t)(b & (sign - 1));
    if (a & sign) x = -x;
    if (b & sign) y = -y;
    return (x > y) - (x < y);
}

/* order: -1, 0 or 1; 2: unordered */
static bool vc__fold_compare(uint32_t op, int order, uint64_t *out) {
    switch (op) {
    case VC__OP_EQ: *out = order == 0; return true;
    case VC__OP_NE: *out = order != 0; return true;
    case VC__OP_LT: *out = order == -1; return true;
    case VC__OP_LE: *out = order == -1 || order == 0; return true;
    default: return false;
    }
}

static bool vc__fold_float(uint32_t op, vc_type kind, const uint64_t *v, uint64_t *out) {
    vc__real a, b = vc__real_make(VC__REAL_ZERO, false, 0, 0);
    if (!vc__unpack(kind, v[0], &a) || (vc__op[op].operands > 1 && !vc__unpack(kind, v[1], &b))) return false;
    bool nan = a.class_ == VC__REAL_NAN;
    int order = nan || b.class_ == VC__REAL_NAN ? 2 : vc__float_order(kind, v[0], v[1]);
    if (vc__fold_compare(op, order, out)) return true;
    switch (op) {
    case VC__OP_ISNAN: *out = nan; return true;
    case VC__OP_ISINF: *out = a.class_ == VC__REAL_INF; return true;
    case VC__OP_ADD: a = vc__real_add(&a, &b); break;
    case VC__OP_SUB: b.negative = !b.negative; a = vc__real_add(&a, &b); break;
    case VC__OP_MUL: a = vc__real_mul(&a, &b); break;
    case VC__OP_DIV: a = vc__real_div(&a, &b); break;
    case VC__OP_SQRT: a = vc__real_sqrt(&a); break;
    case VC__OP_NEG: a.negative = !a.negative; break;
    case VC__OP_ABS: a.negative = false; break;
    case VC__OP_FLOOR:
    case VC__OP_CEIL:
    case VC__OP_TRUNC:
    case VC__OP_ROUND: a = vc__real_integral(op, &a); break;
    case VC__OP_FRACT:
        b = vc__real_integral(VC__OP_FLOOR, &a);
        b.negative = !b.negative;
        a = vc__real_add(&a, &b);
        break;
    case VC__OP_SIGN:
        if (nan || a.class_ == VC__REAL_ZERO) a = b; else a = vc__real_normal(a.negative, 63, 1);
        break;
    case VC__OP_MIN: if (nan || order == 1) a = b; break;
    case VC__OP_MAX: if (nan || order == -1) a = b; break;
    case VC__OP_STEP: a = vc__real_normal(false, 63, order != 1); break;
    default: return false;
    }
    return vc__pack(kind, &a, out);
}

/* Quotient and remainder as defined in the manual. a and b are results of vc__widen. */
static uint64_t vc__fold_div(uint32_t op, bool is_signed, uint64_t a, uint64_t b) {
    bool na = is_signed && a >> 63, nb = is_signed && b >> 63;
    uint64_t ua = na ? 0 - a : a, ub = nb ? 0 - b : b;
    if (!b) return op == VC__OP_DIV ? UINT64_MAX : a;
    if (op == VC__OP_DIV) return na != nb ? 0 - ua / ub : ua / ub;
    uint64_t r = na ? 0 - ua % ub : ua % ub;
    return op == VC__OP_MOD && r && na != nb ? r + b : r;
}

/* a and b are results of vc__widen. */
static bool vc__fold_bits(uint32_t op, vc_type kind, uint64_t a, uint64_t b, uint64_t *out) {
    uint32_t width = vc__bits(kind), i;
    uint64_t bits = a & vc__ones(width), r = 0;
    bool is_signed = vc__is_signed(kind);
    if (op == VC__OP_FIND_MSB && is_signed && a >> 63) bits = ~a;
    switch (op) {
    case VC__OP_POPCOUNT: for (i = 0; i < width; i++) r += bits >> i & 1; break;
    case VC__OP_BIT_REVERSE: for (i = 0; i < width; i++) r |= (bits >> i & 1) << (width - 1 - i); break;
    case VC__OP_FIND_LSB: for (r = UINT64_MAX, i = width; i-- > 0;) if (bits >> i & 1) r = i; break;
    case VC__OP_FIND_MSB: for (r = UINT64_MAX, i = 0; i < width; i++) if (bits >> i & 1) r = i; break;
    case VC__OP_MUL_HI:
        r = width < 64 ? (a * b) >> width
                       : vc__upper_half(a, b) - (is_signed && a >> 63 ? b : 0) - (is_signed && b >> 63 ? a : 0);
        break;
    case VC__OP_ADD_CARRY: r = ((a + b) & vc__ones(width)) < a; break;
    case VC__OP_SUB_BORROW: r = a < b; break;
    default: return false;
    }
    *out = r & vc__ones(width);
    return true;
}

static bool vc__fold_int(uint32_t op, vc_type kind, const uint64_t *v, uint64_t *out) {
    bool is_signed = vc__is_signed(kind);
    uint32_t width = vc__bits(kind), count = (uint32_t)v[1] & (width - 1);
    uint64_t a = vc__widen(kind, v[0]), b = vc__widen(kind, v[1]), c = vc__widen(kind, v[2]);
    uint64_t flip = is_signed ? (uint64_t)1 << 63 : 0, r;
    bool less = (a ^ flip) < (b ^ flip);
    if (vc__fold_compare(op, a == b ? 0 : less ? -1 : 1, out)) return true;
    switch (op) {
    case VC__OP_NEG: r = 0 - a; break;
    case VC__OP_ADD: r = a + b; break;
    case VC__OP_SUB: r = a - b; break;
    case VC__OP_MUL: r = a * b; break;
    case VC__OP_FMA: r = a * b + c; break;
    case VC__OP_DIV: case VC__OP_REM: case VC__OP_MOD: r = vc__fold_div(op, is_signed, a, b); break;
    case VC__OP_ABS: r = is_signed && a >> 63 ? 0 - a : a; break;
    case VC__OP_SIGN: r = a == 0 ? 0 : is_signed && a >> 63 ? UINT64_MAX : 1; break;
    case VC__OP_MIN: r = less ? a : b; break;
    case VC__OP_MAX: r = less ? b : a; break;
    case VC__OP_CLAMP:
        if (less) a = b;
        r = (c ^ flip) < (a ^ flip) ? c : a;
        break;
    case VC__OP_NOT: r = ~a; break;
    case VC__OP_AND: r = a & b; break;
    case VC__OP_OR: r = a | b; break;
    case VC__OP_XOR: r = a ^ b; break;
    case VC__OP_SHL: r = a << count; break;
    case VC__OP_SHR: r = is_signed && a >> 63 ? ~(~a >> count) : a >> count; break;
    case VC__OP_ROTL: r = count ? a << count | a >> (width - count) : a; break;
    default: return vc__fold_bits(op, kind, a, b, out);
    }
    *out = r & vc__ones(width);
    return true;
}

static bool vc__fold_bool(uint32_t op, const uint64_t *v, uint64_t *out) {
    switch (op) {
    case VC__OP_NOT: *out = !v[0]; return true;
    case VC__OP_AND: *out = v[0] & v[1]; return true;
    case VC__OP_OR: *out = v[0] | v[1]; return true;
    case VC__OP_XOR: case VC__OP_NE: *out = v[0] ^ v[1]; return true;
    case VC__OP_EQ: *out = v[0] == v[1]; return true;
    case VC__OP_ANY: case VC__OP_ALL: *out = v[0]; return true; /* of one bool */
    default: return false;
    }
}

/* Truncates to an integer and saturates; NaN becomes 0. */
static uint64_t vc__real_to_int(vc__real a, vc_type to) {
    uint32_t width = vc__bits(to);
    uint64_t max = vc__ones(vc__is_signed(to) ? width - 1 : width), x = 0;
    if (a.class_ == VC__REAL_NAN || (a.negative && !vc__is_signed(to))) return 0;
    if (a.class_ == VC__REAL_INF || (a.class_ == VC__REAL_NORMAL && a.exponent > 63)) x = UINT64_MAX;
    else if (a.class_ == VC__REAL_NORMAL && a.exponent >= 0) x = a.fraction >> (63 - a.exponent);
    if (x > max) x = a.negative ? max + 1 : max;
    return (a.negative ? 0 - x : x) & vc__ones(width);
}

static bool vc__fold_cast(vc_type from, vc_type to, uint64_t v, uint64_t *out) {
    uint64_t wide = vc__widen(from, v);
    bool negative = vc__is_signed(from) && wide >> 63;
    vc__real a = vc__real_normal(negative, 63, negative ? 0 - wide : wide);
    if (vc__is_float(from) && !vc__unpack(from, v, &a)) return false;
    if (vc__is_bool(to)) *out = vc__is_float(from) ? a.class_ != VC__REAL_ZERO : wide != 0;
    else if (vc__is_float(to)) {
        if (!vc__is_float(from) && !wide) a.negative = false;
        return vc__pack(to, &a, out);
    }
    else if (vc__is_float(from)) *out = vc__real_to_int(a, to);
    else *out = wide & vc__ones(vc__bits(to));
    return true;
}

/* from: the kind of v[0] */
static bool vc__fold(uint32_t op, vc_type from, vc_type to, const uint64_t *v, uint64_t *out) {
    uint64_t low[3] = { 0, 0, 0 };
    if (op == VC__OP_CAST) return vc__fold_cast(from, to, v[0], out);
    if (op == VC__OP_BITCAST) { *out = v[0]; return true; }
    if (op == VC__OP_SELECT) { *out = v[0] ? v[1] : v[2]; return true; }
    if (vc__is_bool(from)) return vc__fold_bool(op, v, out);
    if (vc__is_int(from)) return vc__fold_int(op, from, v, out);
    if (op != VC__OP_CLAMP) return vc__fold_float(op, from, v, out);
    low[1] = v[2];
    return vc__fold_float(VC__OP_MAX, from, v, &low[0]) && vc__fold_float(VC__OP_MIN, from, low, out);
}

/* CUDA C and OpenCL C: folds a function of a constant NaN to NaN. Otherwise PoCL 3.1 omits the store of the result, or
   crashes. */
static bool vc__fold_nan(const vc__lowering *s, uint32_t op, vc_type from, vc_type to, const uint64_t *v,
                         uint64_t *out) {
    vc__real r;
    bool propagates = op == VC__OP_CAST || (op >= VC__OP_NEG && op <= VC__OP_ABS)
                 || (op >= VC__OP_FLOOR && op <= VC__OP_TANH && op != VC__OP_POW);
    if (!propagates || !vc__is_c(s->target) || !vc__is_float(from) || !vc__is_float(to)) return false;
    for (uint32_t i = 0; i < vc__op[op].operands; i++) {
        (void)vc__unpack(from, v[i], &r);
        if (r.class_ != VC__REAL_NAN) continue;
        (void)vc__pack(to, &r, out);
        return true;
    }
    return false;
}

/* Folds a componentwise operation. Returns VC__NIL if not every component can be folded. */
static uint32_t vc__fold_node(vc__lowering *s, const vc__node *n) {
    uint32_t operands = vc__op[n->op].operands, components = vc__components(n->type), parts[4];
    vc_type from = vc__scalar(vc__lowered_node(s, n->a[0])->type), to = vc__scalar(n->type);
    uint64_t v[3] = { 0, 0, 0 }, bits[4] = { 0, 0, 0, 0 };
    for (uint32_t j = 0; j < operands; j++) if (!vc__is_const(s, n->a[j])) return VC__NIL;
    for (uint32_t i = 0; i < components; i++) {
        for (uint32_t j = 0; j < operands; j++) if (!vc__const_part(s, n->a[j], i, &v[j])) return VC__NIL;
        if (!vc__fold(n->op, from, to, v, &bits[i]) && !vc__fold_nan(s, n->op, from, to, v, &bits[i])) return VC__NIL;
    }
    if (components == 1) return vc__make_const(s, to, bits[0]);
    for (uint32_t i = 0; i < components; i++) parts[i] = vc__make_const(s, to, bits[i]);
    return vc__make_vec(s, n->type, parts, components);
}

VC__SMALL_END

static uint64_t vc__infinity_bits(vc_type kind) {
    return vc__ones(vc__kinds[kind].exponent) << vc__kinds[kind].fraction;
}

static uint64_t vc__one_bits(vc_type kind) {
    return vc__is_float(kind) ? (uint64_t)vc__bias(kind) << vc__kinds[kind].fraction : 1;
}

/* The identity of addition: -0 for floats, 0 for integers. */
static uint64_t vc__minus_zero_bits(vc_type kind) {
    return vc__is_float(kind) ? (uint64_t)1 << (vc__bits(kind) - 1) : 0;
}

VC__SMALL_BODIES

/* vc__simplify and vc__simplify_… return the number of the replacement, or VC__NIL to keep the node. This one
   simplifies x op c, and c op x if op commutes. */
static uint32_t vc__simplify_const(vc__lowering *s, const vc__node *n, uint32_t x, uint64_t c) {
    vc_type kind = vc__scalar(vc__lowered_node(s, x)->type);
    const uint32_t bits = vc__kinds[kind].bits;
    bool is_float = vc__is_float(kind), fast = s->kernel->desc.fast;
    uint64_t ones;
    switch (n->op) {
    case VC__OP_ADD: return c == vc__minus_zero_bits(kind) || (c == 0 && fast) ? x : VC__NIL;
    case VC__OP_SUB: return c == 0 || (fast && c == vc__minus_zero_bits(kind)) ? x : VC__NIL;
    case VC__OP_MUL:
        if (c == 0) return !is_float || fast ? vc__make_const(s, n->type, 0) : VC__NIL;
        return c == vc__one_bits(kind) ? x : VC__NIL;
    case VC__OP_DIV: return c == vc__one_bits(kind) ? x : VC__NIL;
    case VC__OP_REM: case VC__OP_MOD: return c == 1 && !is_float ? vc__make_const(s, n->type, 0) : VC__NIL;
    case VC__OP_AND: return c == 0 ? vc__make_const(s, n->type, 0) : c == vc__ones(bits) ? x : VC__NIL;
    case VC__OP_OR:
        ones = vc__ones(bits);
        return c == ones ? vc__make_const(s, n->type, ones) : c == 0 ? x : VC__NIL;
    case VC__OP_XOR: return c == 0 ? x : VC__NIL;
    case VC__OP_ADD_CARRY: case VC__OP_SUB_BORROW: return c == 0 ? vc__make_const(s, n->type, 0) : VC__NIL;
    case VC__OP_SHL: case VC__OP_SHR: case VC__OP_ROTL: return (c & (bits - 1)) == 0 ? x : VC__NIL;
    default: return VC__NIL;
    }
}

/* Simplifies x op x. */
static uint32_t vc__simplify_same(vc__lowering *s, const vc__node *n) {
    bool is_float = vc__is_float(vc__lowered_node(s, n->a[0])->type);
    switch (n->op) {
    case VC__OP_AND: case VC__OP_OR: case VC__OP_MIN: case VC__OP_MAX: return n->a[0];
    case VC__OP_SUB: return is_float && !s->kernel->desc.fast ? VC__NIL : vc__make_const(s, n->type, 0);
    case VC__OP_XOR: case VC__OP_SUB_BORROW: return vc__make_const(s, n->type, 0);
    case VC__OP_EQ: case VC__OP_LE: return is_float ? VC__NIL : vc__make_const(s, n->type, 1);
    case VC__OP_NE: return is_float ? VC__NIL : vc__make_const(s, n->type, 0);
    case VC__OP_LT: return vc__make_const(s, n->type, 0);
    default: return VC__NIL;
    }
}

static uint32_t vc__simplify_select(vc__lowering *s, const vc__node *n) {
    uint64_t c;
    if (n->a[1] == n->a[2]) return n->a[1];
    if (vc__const_bits(s, n->a[0], &c)) return c ? n->a[1] : n->a[2];
    return VC__NIL;
}

static uint32_t vc__simplify_one(vc__lowering *s, const vc__node *n) {
    const vc__node *a = vc__lowered_node(s, n->a[0]);
    uint64_t bits;
    vc_type type = n->type;
    uint32_t first = n->a[0];
    switch (n->op) {
    case VC__OP_NOT: case VC__OP_NEG: return a->op == n->op ? a->a[0] : VC__NIL;
    case VC__OP_CAST: return a->type == type ? first : VC__NIL;
    case VC__OP_BITCAST:
        if (a->type == type) return first;
        return a->op == VC__OP_BITCAST ? vc__make(s, VC__OP_BITCAST, type, a->a[0], VC__NIL, VC__NIL, 0) : VC__NIL;
    case VC__OP_COMPONENT:
        if (vc__components(a->type) == 1) return first;
        return a->op == VC__OP_VEC || a->op == VC__OP_TUPLE ? s->extra[a->a[0] + n->x] : VC__NIL;
    case VC__OP_EXTRACT:
        if (!vc__const_bits(s, n->a[1], &bits)) return VC__NIL;
        return vc__make(s, VC__OP_COMPONENT, type, first, VC__NIL, VC__NIL,
                        bits < vc__components(a->type) ? (uint32_t)bits : 0);
    case VC__OP_ANY:
    case VC__OP_ALL:
        return vc__components(a->type) == 1            ? first
               : vc__const_bits(s, first, &bits) ? vc__make_const(s, VC_BOOL, bits)
                                                 : VC__NIL;
    default: return VC__NIL;
    }
}

VC__SMALL_END

static uint32_t vc__simplify(vc__lowering *s, const vc__node *n) {
    const vc__op_info *op = &vc__op[n->op];
    uint64_t c;
    uint32_t r = VC__NIL;
    if (op->result != VC__RESULT_SCALAR && vc__is_const(s, n->a[0])) r = vc__fold_node(s, n);
    if (r != VC__NIL) return r;
    if (n->op == VC__OP_SELECT) return vc__simplify_select(s, n);
    if (op->operands == 1 || n->op == VC__OP_EXTRACT) return vc__simplify_one(s, n);
    if (op->operands != 2) return VC__NIL;
    if (n->a[0] == n->a[1]) r = vc__simplify_same(s, n);
    if (r == VC__NIL && vc__const_bits(s, n->a[1], &c)) r = vc__simplify_const(s, n, n->a[0], c);
    if (r == VC__NIL && op->flags & VC__FLAGS_COMMUTES && vc__const_bits(s, n->a[0], &c))
        r = vc__simplify_const(s, n, n->a[1], c);
    return r;
}

// >>rules
/* Rules: short programs that add operations to the lowered list, or record them on the tape. A rule is written as text
   where it is used:

       return vc__by_rule(VC__RULE(fract, "x - floor(x)"));

   tools/rules compiles the texts into the tables below. Run it after a change of a rule or of the table of operations;
   tools/check reports tables that are out of date. At run time nothing is parsed: vc__rule_run executes the steps of
   the table. VC__SUBRULE defines a rule for use in the rules below it, and VC__RULE_name names a rule that is defined
   elsewhere.

   How to write a rule. An example, the remainder of signed integers:

       z = y == 0; d = z | y == -1 ? 1 : y; r = x - div_native(x, d) * d; z ? x : r

   The first two assignments replace the divisors 0 and -1 by 1. The third computes the remainder from the quotient.
   The last expression is the result.
   * A rule is a list of assignments and, at its end, one to four results, separated by commas. Operations are added
     in the order of the text, operands before operators, so the generated code is the same with every compiler.
   * Variables are single letters. x, y, z and w are the inputs: the operands of the node that is lowered, or the
     arguments. A rule with other inputs begins with their names: "[x y n] x >> n". Inputs that are not passed have no
     value until the rule assigns one: a function of x and two polynomials has the inputs "[x y z p q]", and may use y
     and z as variables.
   * Operators are those of C, with C's precedence: ?: | ^ & == != < <= > << >> + - * / and unary - ~ (not).
   * A number has the type of the operand that it is combined with; without one, the type of the rule. 2 and 0.5 are
     values, hexadecimal numbers bit patterns. These depend on the type: inf, nan, least (the smallest normal number),
     ones (all bits), positive (all but the highest), mask (the lower half), top (the number of the highest bit), half
     (the number of bits in a half). {a, b} is a, or b if the type of the rule is f64.
   * v.0 is a component. f32(v) casts to a kind; T(v) to the type of the rule, U(v) to the unsigned type of v, I(v)
     to signed integers as wide as the type of the rule, which must be a float. bits(v) and ints(v) reinterpret a float
     as unsigned or signed integers, real(v) integers as a float.
   * Operations are called by the name that the table of operations gives them: fma(a, b, c). native(…) is the operation
     that is lowered, div_native(a, b) a division; neither is lowered again.
   * poly(v, a, b, c) is a v^2 + b v + c, by fma. poly(v, p) has the coefficients of a vc__polynomial.
   * vec(a, b, c) is a vector of two to four scalars.
   * Rules above are called by name, with up to four arguments. p:q = f(x) assigns two results. The functions in
     vc__rule_helpers are called in the same way; they choose between rules for different targets.
   * A number becomes a constant of the module where it is used; T(0) does that earlier. */
#define VC__RULE(name, text) VC__RULE_##name
#define VC__SUBRULE(name, text)

/* vc_val.owner of values in rules, besides values of a kernel and immediates. The type of a number is determined by the
   operation that uses it. */
enum {
    VC__RULE_NODE = 4080,  /* a node; bits: its number in the lowered list */
    VC__RULE_NUMBER,       /* a number; bits: twice its value */
    VC__RULE_BITS,         /* a number; bits: its bit pattern */
    VC__RULE_NAMED,        /* a number that depends on the type; bits: its index, see VC__OPERAND_NAMES */
    VC__RULE_POLYNOMIAL    /* bits: pointer to a vc__polynomial */
};

/* A rule is a byte for the index of its first bit pattern, and its steps. A step is a byte for the operation, or one of
   these, and a byte for each operand. The table of operations and vc__step_operands have the numbers of operands. */
enum {
    VC__STEP_NATIVE = 240, VC__STEP_DIV_NATIVE = 241, VC__STEP_REAL = 242, VC__STEP_BITS = 243, VC__STEP_INTS = 244,
    VC__STEP_CAST = 245,       /* operand 2: the kind, or one of the next three */
    VC__STEP_CAST_T = 16, VC__STEP_CAST_I = 17, VC__STEP_CAST_U = 18,
    VC__STEP_COMPONENT = 246,  /* operand 2: the number of the component */
    VC__STEP_PICK = 247,       /* the first number, or the second one for f64 */
    VC__STEP_POLY = 248,       /* operand 2: the number of coefficients, 3: the first one */
    VC__STEP_POLYNOMIAL = 249, /* operand 2: a vc__polynomial */
    VC__STEP_HELPER = 250,     /* operand 2: the index of the function */
    /* number of results, plus 16 times the number of arguments; 16 bits: the rule. The arguments follow. */
    VC__STEP_CALL = 251, VC__STEP_VECTOR = 65535, /* a vector instead of a rule */
    VC__STEP_RESULT = 252,
    VC__STEP_LAST_RESULT = 253
};
static const uint8_t vc__step_operands[] = { 3, 2, 1, 1, 1, 2, 2, 2, 3, 2, 2, 3, 1, 1 }; /* from VC__STEP_NATIVE on */
/* Operands: registers, then the names of numbers, numbers of vc__rule_numbers, bit patterns of vc__rule_bits. */
enum {
    VC__OPERAND_INPUTS = 9, /* registers of inputs */
    VC__OPERAND_NAMES = 96, /* inf nan least ones positive mask top half: numbers that depend on the type */
    VC__OPERAND_NUMBERS = 104, VC__OPERAND_BITS = 160
};

/* Functions that rules can call, because the operations depend on the target. */
static uint32_t vc__make_is_number(vc__lowering *s, uint32_t x);
static uint32_t vc__make_is_zero(vc__lowering *s, uint32_t x);
static uint32_t vc__make_reverse32(vc__lowering *s, uint32_t x);
static uint32_t vc__make_msb32(vc__lowering *s, uint32_t x);
typedef uint32_t vc__rule_helper(vc__lowering *s, uint32_t x);
static vc__rule_helper *const vc__rule_helpers[] = {
    vc__make_is_number, vc__make_is_zero, vc__make_reverse32, vc__make_msb32
};

/* whether one of two floats is negative and the other is not */
VC__SUBRULE(signs_differ, "x < 0 ^ y < 0")
/* x, not negative, with the sign of y; y itself if that is 0 of either sign */
VC__SUBRULE(copy_sign, "m = -x; m = y < 0 ? m : x; y == 0 ? y : m")
/* ---- integers ---- */
/* the words of a 64-bit number; low: also a narrower number, as u32 */
VC__SUBRULE(low, "u32(U(x))")
VC__SUBRULE(high, "u32(U(x) >> 32)")
/* adds adjacent bits, then pairs of bits, then nibbles; the multiplication adds the bytes */
VC__SUBRULE(popcount32,
    "x = x - (x >> 1 & 0x55555555); x = (x & 0x33333333) + (x >> 2 & 0x33333333); "
    "x = x + (x >> 4) & 0x0f0f0f0f; x * 0x01010101 >> 24")
/* long multiplication of half words */
VC__SUBRULE(unsigned_mul_hi,
    "a = x & mask; b = x >> half; c = y & mask; d = y >> half; e = a * c >> half; e = b * c + e; "
    "f = e & mask; f = a * d + f; b * d + (e >> half) + (f >> half)")
/* The bits of an f32 rounded to f16, to nearest even, as u32; GLSL.std.450 does not define the rounding. Below the
   smallest normal f16, 2^-14, adding 1/2 rounds the float. Otherwise the integer is rounded: 0xc8000fff subtracts
   112 from the exponent and adds half a unit, minus one, and the last bit that is kept is added, too. 0x477fefff is
   the largest number that does not round to 2^16. */
VC__SUBRULE(half_bits,
    "b = bits(x); s = b & 0x80000000; m = b ^ s; q = bits(real(m) + 0.5) - 0x3f000000; "
    "r = m + (m >> 13 & 1) + 0xc8000fff >> 13; r = m < 0x38800000 ? q : r; "
    "c = 0x7f800000 < m; l = c ? u32(0x7e00) : 0x7c00; r = 0x477fefff < m ? l : r; r | s >> 16")
/* The f32 of the f16 whose bits are the low half of x; the upper half must be 0. For a normal number, the exponent
   is raised by 112; for infinity and NaN, by twice that. Smaller numbers are multiples of 2^-24. */
VC__SUBRULE(half_value,
    "m = x & 0x7fff; s = (x ^ m) << 16; r = (m << 13) + 0x38000000; o = r + 0x38000000; r = 0x7c00 <= m ? o : r; "
    "o = bits(f32(m) * 0x33800000); r = m < 0x400 ? o : r; real(r | s)")
/* dot products of four packed bytes of x and y, both signed, both unsigned, or only those of x signed */
VC__SUBRULE(signed_bytes, "(i32(x) << z >> 24) * (i32(y) << z >> 24)")
VC__SUBRULE(unsigned_bytes, "(x << z >> 24) * (y << z >> 24)")
VC__SUBRULE(mixed_bytes, "(i32(x) << z >> 24) * i32(y << z >> 24)")
VC__SUBRULE(dot_signed,
    "signed_bytes(x, y, 24) + signed_bytes(x, y, 16) + signed_bytes(x, y, 8) + signed_bytes(x, y, 0)")
VC__SUBRULE(dot_unsigned,
    "unsigned_bytes(x, y, 24) + unsigned_bytes(x, y, 16) + unsigned_bytes(x, y, 8) + unsigned_bytes(x, y, 0)")
VC__SUBRULE(dot_mixed,
    "mixed_bytes(x, y, 24) + mixed_bytes(x, y, 16) + mixed_bytes(x, y, 8) + mixed_bytes(x, y, 0)")
/* packs the low bytes or halves of integers into a u32, and splits a number of 32 bits */
VC__SUBRULE(pack4, "v = x & 255; v.0 | v.1 << 8 | v.2 << 16 | v.3 << 24")
VC__SUBRULE(pack2, "v = x & 0xffff; v.0 | v.1 << 16")
VC__SUBRULE(unpack4, "vec(x << 24 >> 24, x << 16 >> 24, x << 8 >> 24, x >> 24)")
VC__SUBRULE(unpack2, "vec(x << 16 >> 16, x >> 16)")
/* ---- functions of f32 and f64 ---- */
/* log(x + y), where y = sqrt(x^2 +- 1). For large x, where x^2 may overflow, it is log(2 x) to the precision of the
   type. */
VC__SUBRULE(log_sum,
    "l = x > {0x46800000, 0x41d0000000000000}; r = log(l ? x : x + y); " /* 2^14, 2^30 */
    "l ? r + {0x3f317218, 0x3fe62e42fefa39ef} : r")
/* x 2^y for |y| up to 3 * 126 (f64: 3 * 1022): three factors that are powers of 2 and normal numbers */
VC__SUBRULE(scale,
    "p = clamp(y, {-126, -1022}, {126, 1022}); x = x * real(I(p + {127, 1023}) << {23, 52}); y = y - p; "
    "p = clamp(y, {-126, -1022}, {126, 1022}); x = x * real(I(p + {127, 1023}) << {23, 52}); y = y - p; "
    "p = clamp(y, {-126, -1022}, {126, 1022}); x * real(I(p + {127, 1023}) << {23, 52})")
/* a step of Halley's method for the cube root of x, which triples the number of correct bits of y */
VC__SUBRULE(halley, "r = x / (y * y); y + y * ((r - y) / (y + y + r))")
/* whether |x| is a normal number */
VC__SUBRULE(normal, "x = abs(x); least <= x & x < inf")
/* ---- complex numbers, f32 and f64 ---- */
/* Powers of two for numbers whose magnitude is x: the factor f, its square root and 1 / that root. Multiplied by f,
   which is 2^-96, 1 or 2^96 (f64: 2^-768, 1 or 2^768), their squares neither overflow nor underflow. This holds for
   a second component 2^-12 times as large, too (f64: 2^-27), the smallest that still affects a sum of squares. */
VC__SUBRULE(scaling,
    /* 2^60, 2^500; 2^-50, 2^-480 */
    "b = x > {0x5d800000, 0x5f30000000000000}; s = x < {0x26800000, 0x21f0000000000000}; "
    "b ? {0x0f800000, 0x0ff0000000000000} : s ? {0x6f800000, 0x6ff0000000000000} : 1, "
    "b ? {0x27800000, 0x27f0000000000000} : s ? {0x57800000, 0x57f0000000000000} : 1, "
    "b ? {0x57800000, 0x57f0000000000000} : s ? {0x27800000, 0x27f0000000000000} : 1")
/* x^2 as a sum of two numbers, exactly (Dekker's product); the factor is 2^12 + 1 or 2^27 + 1 */
VC__SUBRULE(exact_square,
    "f = x * {0x45800800, 0x41a0000002000000}; h = f - (f - x); l = x - h; t = h + h; p = x * x; "
    "e = h * h - p; e = e + t * l; p, e + l * l")
/* x + y and its rounding error (TwoSum, Knuth) */
VC__SUBRULE(sum, "s = x + y; p = s - x; e = x - (s - p); s, e + (y - p)")
/* x^2 + y^2 - 1 to about one unit in the last place, for x, y >= 0 with a sum of squares from 1/2 to 3. It is
   computed as 2 d + d^2 + m^2, where d = max(x, y) - 1 is exact and m = min(x, y). The terms cancel near the unit
   circle, so the squares are split exactly and the five terms added as if in threefold precision (Ogita, Rump,
   Oishi, SIAM J. Sci. Comput. 26, 2005, algorithm SumK with K = 3). */
VC__SUBRULE(squares_minus_1,
    "d = max(x, y) - 1; a:b = exact_square(d); c:e = exact_square(min(x, y)); f = d + d; "
    "b:a = sum(b, a); c:b = sum(c, b); e:c = sum(e, c); f:e = sum(f, e); "
    "b:a = sum(b, a); c:b = sum(c, b); e:c = sum(e, c); f:e = sum(f, e); a + b + c + e + f")
/* the angle of x + i y; 0 for 0, since atan2(0, 0) differs between devices */
VC__SUBRULE(angle, "x == 0 & y == 0 ? 0 : atan2(y, x)")
/* ---- f64: sums and products without rounding error ---- */
/* bounds y and z; unlike min and max, this keeps NaN */
VC__SUBRULE(bounded, "x = z < x ? z : x; x < y ? y : x")
/* flips the sign of x if the highest bit of the integer y is set */
VC__SUBRULE(xor_sign, "s = y & 0x8000000000000000; real(ints(x) ^ s)")
/* x y as a sum of two numbers, with a relative error of at most 2^-105 (Dekker) */
VC__SUBRULE(product,
    "a = real(ints(x) & 0xfffffffff8000000); b = x - a; c = real(ints(y) & 0xfffffffff8000000); d = y - c; "
    "p = x * y; e = a * c - p; e = e + a * d; e = e + b * c; p, e + b * d")
/* rounding error of the sum z = x + y, exact if |x| >= |y| or x = 0 */
VC__SUBRULE(fast_two_sum, "y - (z - x)")
/* rounding error of the sum z = x + y, exact for any x and y (Knuth) */
VC__SUBRULE(two_sum, "b = z - x; a = x - (z - b); y - b + a")
/* ---- f64: powers and logarithms ---- */
/* x 2^y for integral y: two factors, because 2^y alone may overflow or underflow although the result does not. The
   sum with 1.5 * 2^52 + 1023 moves the biased exponent to the lowest bits */
VC__SUBRULE(ldexp,
    "h = floor(y * 0.5); k = y - h; x = x * real(ints(h + 0x43380000000003ff) << 52); "
    "x * real(ints(k + 0x43380000000003ff) << 52)")
/* e^x = p 2^k, with k ln(2) subtracted in two parts: the first has 32 bits, so its product with k is exact; the
   polynomial is (e^r - 1 - r) / r^2, |r| <= ln(2) / 2 */
VC__SUBRULE(exp_parts,
    "x = bounded(x, -746, 711); k = round(x * 0x3ff71547652b82fe); "
    "r = x - k * 0x3fe62e42fee00000; r = r - k * 0x3dea39ef35793c76; "
    "p = poly(r, 0x3e21f6025e1721d9, 0x3e5af4df7e870362, 0x3e927e4e7ddba33f, 0x3ec71de022aa7c92, 0x3efa01a01a0d8f8e, "
    "0x3f2a01a01abea2da, 0x3f56c16c16c17705, 0x3f811111111100d8, 0x3fa5555555555552, 0x3fc5555555555557, "
    "0x3fe0000000000000); fma(r * r, p, r) + 1, k")
/* e^x / 2 */
VC__SUBRULE(half_exp, "p:k = exp_parts(x); ldexp(p, k + -1)")
/* 2^(x + y) for integral y; the polynomial is (2^x - 1) / x, |x| <= 1/2 */
VC__SUBRULE(exp2_parts,
    "ldexp(x * poly(x, "
    "0x3d7cdc9ba155becd, 0x3dbc4b5b04b1e8f9, 0x3dfe88d0e5866e32, 0x3e3e4cf03bac04a7, 0x3e7b5255079d0d73, "
    "0x3eb62c022460176e, 0x3eeffcbfc52c5d76, 0x3f2430912f86ac5b, 0x3f55d87fe78a74a6, 0x3f83b2ab6fba4e7b, "
    "0x3fac6b08d704a0bc, 0x3fcebfbdff82c58f, 0x3fe62e42fefa39ef) + 1, y)")
/* x = f 2^k with sqrt(1/2) <= f < sqrt(2); subnormal numbers are scaled by 2^54 */
VC__SUBRULE(split,
    "s = x < least; x = s ? x * 0x4350000000000000 : x; b = ints(x); k = b - 0x3fe6a09e667f3bcd >> 52; "
    "f = real(b - (k << 52)); k = T(k); s ? k + -54 : k, f")
/* the logarithm y of x, corrected outside 0 < x < inf: NaN below 0, -inf at 0, x for inf and NaN */
VC__SUBRULE(log_special, "r = x < inf ? y : x; r = x < 0 ? nan : r; x == 0 ? 0xfff0000000000000 : r")
/* log2(x) as a sum of two numbers with a relative error of 2^-63: k + 2 / ln(2) * atanh(s), s = (f - 1) / (f + 1).
   The first two coefficients, 2 / ln(2) and 2 / (3 ln(2)), are sums of two numbers, too; the polynomial has the
   others */
VC__SUBRULE(log2_pair,
    "k:f = split(x); d = f + 1; l = f - (d + -1); f = f + -1; s = f / d; "
    "p:q = product(s, d); t = f - p - q; t = t - s * l; t = t / d; "
    "z:y = product(s, s); u = s + s; y = y + u * t; "
    "r = z * poly(z, "
    "0x3fc5a60ae4e0bdd7, 0x3fc59e08811ee6b3, 0x3fc89fed27be41be, 0x3fcc68f2f01d5108, 0x3fd0c9a84bf5081c, "
    "0x3fd484b13d79c3b6, 0x3fda61762a7adfa8, 0x3fe2776c50ef9bfe); "
    "w = 0x3feec709dc3a03fd + r; v = fast_two_sum(0x3feec709dc3a03fd, r, w) + 0x3c8d27f05548af0c; "
    "p:q = product(w, z); q = q + w * y; q = q + v * z; "
    "w = 0x40071547652b82fe + p; v = fast_two_sum(0x40071547652b82fe, p, w); v = v + (q + 0x3c8777d0ffda0d24); "
    "p:q = product(w, s); q = q + w * t; q = q + v * s; "
    "h = k + p; h, q + fast_two_sum(k, p, h)")
/* ---- f64: trigonometric functions ---- */
/* x = n pi / 2 + r + l with |r| <= pi / 4; the third result is an i64 with the low bits of n. pi / 2 is a sum of
   five parts of at most 23 bits, whose products with integers up to 2^30 are exact, and the remainder. r and l
   are 0 if the reduction fails, for |x| far beyond 2^30 */
VC__SUBRULE(reduce_pio2,
    "n = round(x * 0x3fe45f306dc9c883); h = x - n * 0x3ff921fb40000000; h = h - n * 0x3e74442d00000000; m = -n; "
    "p = m * 0x3cf8469800000000; s = h + p; l = two_sum(h, p, s); "
    "p = m * 0x3ba3198a00000000; t = s + p; l = l + two_sum(s, p, t); "
    "p = m * 0x3a3701b800000000; s = t + p; l = l + two_sum(t, p, s); "
    "l = l + m * 0x38ccd129024e088a; h = s + l; l = fast_two_sum(s, l, h); "
    "r = abs(h) < 1; h = r ? h : 0; l = r ? l : 0; h, l, ints(n + 0x4338000000000000)")
/* sine and cosine of x + y; the polynomials are (sin(x) / x - 1) / z and (cos(x) - 1 + z / 2) / z^2 with
   z = x^2 <= (pi / 4)^2 */
VC__SUBRULE(sin_cos,
    "z = x * x; h = z * 0.5; t = y - h * y; "
    "p = poly(z, 0x3de5e0b05bff20f2, 0xbe5ae600aca92c64, 0x3ec71de379654304, 0xbf2a01a019e83816, 0x3f81111111110bb2, "
    "0xbfc5555555555555); "
    "s = x + fma(z * x, p, t); w = 1 - h; t = 1 - w - h; "
    "p = poly(z, 0xbda907d8f29fe831, 0x3e21eeb68cd22f56, 0xbe927e4fa17bf139, 0x3efa01a019f4e9b4, 0xbf56c16c16c16967, "
    "0x3fa5555555555555); "
    "p = p * (z * z); p = p - x * y; s, w + (t + p)")
/* sine, cosine and quadrant of x */
VC__SUBRULE(sin_cos_of, "r:l:n = reduce_pio2(x); s:c = sin_cos(r, l); s, c, n")
/* sine of x from its quadrant y and the sine z and cosine w of the rest */
VC__SUBRULE(sin_in, "v = xor_sign((y & 1) != 0 ? w : z, y << 62); abs(x) < inf ? v : nan")
/* atan(x) for x >= 0: atan(c) + atan((x - c) / (1 + c x)) with the nearest c among 0, 1/2, 1, 3/2 and inf, and
   atan(c) as a sum h + l; the polynomial is (atan(t) / t - 1) / z, z = t^2 <= (7 / 16)^2 */
VC__SUBRULE(positive_atan,
    "z = T(0); "
    "a = 0x3fdc000000000000 <= x; c = a ? 0.5 : z; h = a ? 0x3fddac670561bb4f : z; l = a ? 0x3c7a2b7f222f65e2 : z; "
    "a = 0x3fe6000000000000 <= x; c = a ? 1 : c; h = a ? 0x3fe921fb54442d18 : h; l = a ? 0x3c81a62633145c07 : l; "
    "a = 0x3ff3000000000000 <= x; c = a ? 1.5 : c; h = a ? 0x3fef730bd281f69b : h; l = a ? 0x3c7007887af0cbbd : l; "
    "a = 0x4003800000000000 <= x; c = a ? 1 : c; h = a ? 0x3ff921fb54442d18 : h; l = a ? 0x3c91a62633145c07 : l; "
    "n = x - c; d = c * x + 1; n = a ? -1 : n; d = a ? x : d; t = n / d; z = t * t; "
    "p = poly(z, 0xbf91f782b80bfd1e, 0x3fa35da608772867, 0xbfa9c6054173be88, 0x3fadf0b70d0fde14, 0xbfb10ed1cedbec09, "
    "0x3fb3b116171b0dd7, 0xbfb745cff6136307, 0x3fbc71c7136517a9, 0xbfc24924923b06cd, 0x3fc999999999885f, "
    "0xbfd5555555555554); p = fma(t * z, p, l); h + (p + t)")
/* r = asin(x) for 0 <= x <= 1/2; above, where f is true, r = asin(sqrt((1 - x) / 2)) and asin(x) = pi / 2 - 2 r.
   The polynomial is (asin(v) / v - 1) / z, z = v^2 <= 1/4 */
VC__SUBRULE(asin_parts,
    "z = x * x; w = (1 - x) * 0.5; f = 0.5 < x; v = sqrt(w); z = f ? w : z; v = f ? v : x; "
    "p = poly(z, 0x3f9d72b2bc8155f8, 0xbf8e6aaa8a0a04cc, 0x3f91d189408314ee, 0x3f765a9c4dfcf8b2, 0x3f852420b04b37be, "
    "0x3f8782651caa6547, 0x3f8c9cf07674736a, 0x3f91c4d35cf95421, 0x3f96e8bb1c8209a2, 0x3f9f1c71c1db0623, "
    "0x3fa6db6db6e31f13, 0x3fb3333333332eca, 0x3fc5555555555556); fma(v * z, p, v), f")
/* sinh(x) for |x| <= 1, as a series because e^x - e^-x cancels there; the polynomial is (sinh(x) / x - 1) / z with
   z = x^2 */
VC__SUBRULE(small_sinh,
    "z = x * x; "
    "p = poly(z, 0x3ce99f0806c2628d, 0x3d6ae777c36fd5b6, 0x3de612467ccb2260, 0x3e5ae6456792a77f, 0x3ec71de3a556f96c, "
    "0x3f2a01a01a01a001, 0x3f81111111111111, 0x3fc5555555555555); fma(x * z, p, x)")
/* e^|x| / 2 and e^-|x| / 2 */
VC__SUBRULE(exp_halves, "e = half_exp(abs(x)); e, 0x3fd0000000000000 / e")

/* compiled rules: written by tools/rules */
enum {
    VC__RULE_OPERATIONS = 152, VC__RULE_signs_differ = 0, VC__RULE_copy_sign = 12, VC__RULE_low = 31,
    VC__RULE_high = 40, VC__RULE_popcount32 = 52, VC__RULE_unsigned_mul_hi = 91, VC__RULE_half_bits = 142,
    VC__RULE_half_value = 208, VC__RULE_signed_bytes = 256, VC__RULE_unsigned_bytes = 280, VC__RULE_mixed_bytes = 298,
    VC__RULE_dot_signed = 322, VC__RULE_dot_unsigned = 362, VC__RULE_dot_mixed = 402, VC__RULE_pack4 = 442,
    VC__RULE_pack2 = 478, VC__RULE_unpack4 = 496, VC__RULE_unpack2 = 528, VC__RULE_log_sum = 546, VC__RULE_scale = 574,
    VC__RULE_halley = 649, VC__RULE_normal = 676, VC__RULE_scaling = 690, VC__RULE_exact_square = 745,
    VC__RULE_sum = 789, VC__RULE_squares_minus_1 = 812, VC__RULE_angle = 897, VC__RULE_bounded = 916,
    VC__RULE_xor_sign = 933, VC__RULE_product = 946, VC__RULE_fast_two_sum = 998, VC__RULE_two_sum = 1007,
    VC__RULE_ldexp = 1025, VC__RULE_exp_parts = 1062, VC__RULE_half_exp = 1105, VC__RULE_exp2_parts = 1122,
    VC__RULE_split = 1141, VC__RULE_log_special = 1182, VC__RULE_log2_pair = 1206, VC__RULE_reduce_pio2 = 1352,
    VC__RULE_sin_cos = 1457, VC__RULE_sin_cos_of = 1519, VC__RULE_sin_in = 1537, VC__RULE_positive_atan = 1568,
    VC__RULE_asin_parts = 1674, VC__RULE_small_sinh = 1712, VC__RULE_exp_halves = 1729, VC__RULE_div_self = 1744,
    VC__RULE_div_zero_by = 1771, VC__RULE_div_unsigned = 1799, VC__RULE_div_signed = 1817, VC__RULE_fast_rem = 1847,
    VC__RULE_float_rem = 1861, VC__RULE_float_mod = 1930, VC__RULE_rem_safe = 1952, VC__RULE_rem_unsigned = 1964,
    VC__RULE_rem_wide = 1982, VC__RULE_rem_signed = 2005, VC__RULE_mod_signed = 2034, VC__RULE_abs = 2059,
    VC__RULE_sign_unsigned = 2071, VC__RULE_sign = 2081, VC__RULE_max_of_ints = 2101, VC__RULE_min_of_ints = 2111,
    VC__RULE_max_glsl = 2121, VC__RULE_min_glsl = 2139, VC__RULE_fma = 2157, VC__RULE_clamp = 2166, VC__RULE_mix = 2175,
    VC__RULE_step = 2190, VC__RULE_fract = 2200, VC__RULE_trunc = 2208, VC__RULE_round = 2221,
    VC__RULE_size_of_level = 2264, VC__RULE_index = 2273, VC__RULE_index_sum = 2282, VC__RULE_extract = 2297,
    VC__RULE_shift = 2317, VC__RULE_rotate = 2330, VC__RULE_popcount_of_64 = 2344, VC__RULE_popcount_native = 2367,
    VC__RULE_popcount = 2383, VC__RULE_bit_reverse_of_64 = 2399, VC__RULE_bit_reverse_of_32 = 2432,
    VC__RULE_bit_reverse_of_16 = 2446, VC__RULE_bit_reverse_of_8 = 2463, VC__RULE_find_lsb = 2480,
    VC__RULE_magnitude = 2493, VC__RULE_find_msb = 2502, VC__RULE_find_msb_of_64 = 2516,
    VC__RULE_mul_hi_narrow_signed = 2547, VC__RULE_mul_hi_narrow = 2565, VC__RULE_mul_hi_signed = 2583,
    VC__RULE_add_carry = 2619, VC__RULE_sub_borrow = 2631, VC__RULE_reverse_step = 2640, VC__RULE_msb32_native = 2658,
    VC__RULE_msb32 = 2663, VC__RULE_pack_half_c = 2707, VC__RULE_pack_half = 2738, VC__RULE_unpack_half_bits = 2758,
    VC__RULE_unpack_half = 2783, VC__RULE_is_number_bits = 2811, VC__RULE_is_number = 2824,
    VC__RULE_clamped_signed = 2830, VC__RULE_clamped = 2846, VC__RULE_largest_beyond = 2855, VC__RULE_rounded = 2865,
    VC__RULE_rounded_to_odd = 2931, VC__RULE_bool_cast = 2950, VC__RULE_cast_bool = 2956, VC__RULE_isinf = 2963,
    VC__RULE_isnan = 2976, VC__RULE_is_zero_f32 = 2989, VC__RULE_is_zero = 2997, VC__RULE_log = 3003,
    VC__RULE_atan = 3017, VC__RULE_atan2 = 3031, VC__RULE_sinh = 3081, VC__RULE_cosh = 3108, VC__RULE_pow_c = 3135,
    VC__RULE_pow = 3160, VC__RULE_integer_bits = 3213, VC__RULE_ballot = 3240, VC__RULE_own_bit = 3254,
    VC__RULE_bit_of_lane = 3263, VC__RULE_by_warp = 3281, VC__RULE_first_lane = 3291, VC__RULE_highest_lane = 3299,
    VC__RULE_other_half = 3310, VC__RULE_lane_below = 3328, VC__RULE_ballot_count = 3343,
    VC__RULE_ballot_count_to = 3354, VC__RULE_ballot_count_below = 3371, VC__RULE_subgroup_count = 3388,
    VC__RULE_lane_in_range = 3400, VC__RULE_f64_rsqrt = 3409, VC__RULE_f64_exp = 3417, VC__RULE_f64_exp2 = 3431,
    VC__RULE_f64_log = 3452, VC__RULE_f64_log2 = 3515, VC__RULE_f64_pow = 3532, VC__RULE_f64_sin = 3651,
    VC__RULE_f64_cos = 3676, VC__RULE_f64_tan = 3695, VC__RULE_f64_asin = 3738, VC__RULE_f64_acos = 3769,
    VC__RULE_f64_atan = 3813, VC__RULE_f64_atan2 = 3831, VC__RULE_f64_sinh = 3890, VC__RULE_f64_cosh = 3923,
    VC__RULE_f64_tanh = 3934, VC__RULE_complex_neg = 3987, VC__RULE_complex_add = 3996, VC__RULE_real_add = 4007,
    VC__RULE_complex_add_real = 4015, VC__RULE_complex_sub = 4023, VC__RULE_real_sub = 4034,
    VC__RULE_complex_sub_real = 4044, VC__RULE_complex_mul = 4052, VC__RULE_real_mul = 4073,
    VC__RULE_complex_mul_real = 4084, VC__RULE_complex_div16 = 4095, VC__RULE_real_div16 = 4147,
    VC__RULE_complex_div_real16 = 4188, VC__RULE_complex_div = 4214, VC__RULE_real_div = 4299,
    VC__RULE_complex_div_real = 4368, VC__RULE_complex_exp = 4379, VC__RULE_complex_log_abs = 4396,
    VC__RULE_complex_sqrt = 4484, VC__RULE_complex_pow_real = 4567, VC__RULE_complex_pow = 4603,
    VC__RULE_complex_eq = 4663, VC__RULE_earlier = 4675, VC__RULE_for_signed_step = 4690,
    VC__RULE_for_unsigned_step = 4727, VC__RULE_clz = 4744, VC__RULE_ctz = 4758, VC__RULE_rotate_right = 4778,
    VC__RULE_rotate_left = 4792, VC__RULE_bitfield_extract = 4804, VC__RULE_bitfield_extract_unsigned = 4844,
    VC__RULE_bitfield_insert = 4887, VC__RULE_carry_of = 4941, VC__RULE_borrow_of = 4956, VC__RULE_abs_diff = 4971,
    VC__RULE_add_sat = 4989, VC__RULE_add_sat_unsigned = 5017, VC__RULE_sub_sat = 5030,
    VC__RULE_sub_sat_unsigned = 5058, VC__RULE_average = 5067, VC__RULE_half_log1p = 5082, VC__RULE_asinh = 5104,
    VC__RULE_acosh = 5149, VC__RULE_atanh = 5207, VC__RULE_scale_by_int = 5269, VC__RULE_exp10 = 5281,
    VC__RULE_log10 = 5334, VC__RULE_cbrt64 = 5345, VC__RULE_cbrt32 = 5420, VC__RULE_hypot16 = 5477,
    VC__RULE_hypot = 5503, VC__RULE_erf = 5578, VC__RULE_radians = 5644, VC__RULE_degrees = 5653,
    VC__RULE_saturate = 5662, VC__RULE_smoothstep = 5669, VC__RULE_frexp_mantissa = 5697,
    VC__RULE_frexp_exponent = 5733, VC__RULE_modf_fract = 5768, VC__RULE_norm_scalar = 5782, VC__RULE_norm = 5787,
    VC__RULE_distance_scalar = 5795, VC__RULE_distance = 5803, VC__RULE_normalize_scalar = 5814,
    VC__RULE_normalize = 5825, VC__RULE_cross = 5836, VC__RULE_faceforward_scalar = 5912, VC__RULE_faceforward = 5927,
    VC__RULE_reflect_scalar = 5942, VC__RULE_reflect = 5957, VC__RULE_refracted = 5972, VC__RULE_refract_scalar = 6017,
    VC__RULE_refract = 6031, VC__RULE_pack_snorm4 = 6045, VC__RULE_pack_unorm4 = 6068, VC__RULE_pack_snorm2 = 6088,
    VC__RULE_pack_unorm2 = 6111, VC__RULE_unpack_snorm4 = 6131, VC__RULE_unpack_unorm4 = 6151,
    VC__RULE_unpack_snorm2 = 6165, VC__RULE_unpack_unorm2 = 6185, VC__RULE_pack_4x8 = 6199, VC__RULE_unpack_4xi8 = 6210,
    VC__RULE_pack_2x32 = 6221, VC__RULE_unpack_2x32 = 6239, VC__RULE_unravel = 6257, VC__RULE_philox_half = 6271,
    VC__RULE_philox_round = 6288, VC__RULE_normal_pair = 6313, VC__RULE_hash32 = 6350, VC__RULE_hash64 = 6380,
    VC__RULE_words_of_64 = 6410
};
static const int16_t vc__rule_numbers[] = {
    0, 64, 2, 4, 8, 48, 1, 26, 32, 16, 510, -252, -2044, 252, 2044, 254, 2046, 46, 104, -1492, 1422, -2, -108, 124, 3,
    10, -2200, 2200, -1, -400, -2400, 400, 2400, 6, 12, 4094, -4, 56, 44, 60, 54, 62
};
static const uint64_t vc__rule_bits[] = {
    0x55555555, 0x33333333, 0xf0f0f0f, 0x1010101, 0x80000000, 0x3f000000, 0xc8000fff, 0x38800000, 0x7f800000, 0x7e00,
    0x7c00, 0x477fefff, 0x7fff, 0x38000000, 0x7c00, 0x33800000, 0x400, 0xffff, 0x46800000, 0x41d0000000000000,
    0x3f317218, 0x3fe62e42fefa39ef, 0x5d800000, 0x5f30000000000000, 0x26800000, 0x21f0000000000000, 0xf800000,
    0xff0000000000000, 0x6f800000, 0x6ff0000000000000, 0x27800000, 0x27f0000000000000, 0x57800000, 0x57f0000000000000,
    0x45800800, 0x41a0000002000000, 0x8000000000000000, 0xfffffffff8000000, 0x43380000000003ff, 0x3ff71547652b82fe,
    0x3fe62e42fee00000, 0x3dea39ef35793c76, 0x3e21f6025e1721d9, 0x3e5af4df7e870362, 0x3e927e4e7ddba33f,
    0x3ec71de022aa7c92, 0x3efa01a01a0d8f8e, 0x3f2a01a01abea2da, 0x3f56c16c16c17705, 0x3f811111111100d8,
    0x3fa5555555555552, 0x3fc5555555555557, 0x3fe0000000000000, 0x3d7cdc9ba155becd, 0x3dbc4b5b04b1e8f9,
    0x3dfe88d0e5866e32, 0x3e3e4cf03bac04a7, 0x3e7b5255079d0d73, 0x3eb62c022460176e, 0x3eeffcbfc52c5d76,
    0x3f2430912f86ac5b, 0x3f55d87fe78a74a6, 0x3f83b2ab6fba4e7b, 0x3fac6b08d704a0bc, 0x3fcebfbdff82c58f,
    0x3fe62e42fefa39ef, 0x4350000000000000, 0x3fe6a09e667f3bcd, 0xfff0000000000000, 0x3fc5a60ae4e0bdd7,
    0x3fc59e08811ee6b3, 0x3fc89fed27be41be, 0x3fcc68f2f01d5108, 0x3fd0c9a84bf5081c, 0x3fd484b13d79c3b6,
    0x3fda61762a7adfa8, 0x3fe2776c50ef9bfe, 0x3feec709dc3a03fd, 0x3c8d27f05548af0c, 0x40071547652b82fe,
    0x3c8777d0ffda0d24, 0x3fe45f306dc9c883, 0x3ff921fb40000000, 0x3e74442d00000000, 0x3cf8469800000000,
    0x3ba3198a00000000, 0x3a3701b800000000, 0x38ccd129024e088a, 0x4338000000000000, 0x3de5e0b05bff20f2,
    0xbe5ae600aca92c64, 0x3ec71de379654304, 0xbf2a01a019e83816, 0x3f81111111110bb2, 0xbfc5555555555555,
    0xbda907d8f29fe831, 0x3e21eeb68cd22f56, 0xbe927e4fa17bf139, 0x3efa01a019f4e9b4, 0xbf56c16c16c16967,
    0x3fa5555555555555, 0x3fdc000000000000, 0x3fddac670561bb4f, 0x3c7a2b7f222f65e2, 0x3fe6000000000000,
    0x3fe921fb54442d18, 0x3c81a62633145c07, 0x3ff3000000000000, 0x3fef730bd281f69b, 0x3c7007887af0cbbd,
    0x4003800000000000, 0x3ff921fb54442d18, 0x3c91a62633145c07, 0xbf91f782b80bfd1e, 0x3fa35da608772867,
    0xbfa9c6054173be88, 0x3fadf0b70d0fde14, 0xbfb10ed1cedbec09, 0x3fb3b116171b0dd7, 0xbfb745cff6136307,
    0x3fbc71c7136517a9, 0xbfc24924923b06cd, 0x3fc999999999885f, 0xbfd5555555555554, 0x3f9d72b2bc8155f8,
    0xbf8e6aaa8a0a04cc, 0x3f91d189408314ee, 0x3f765a9c4dfcf8b2, 0x3f852420b04b37be, 0x3f8782651caa6547,
    0x3f8c9cf07674736a, 0x3f91c4d35cf95421, 0x3f96e8bb1c8209a2, 0x3f9f1c71c1db0623, 0x3fa6db6db6e31f13,
    0x3fb3333333332eca, 0x3fc5555555555556, 0x3ce99f0806c2628d, 0x3d6ae777c36fd5b6, 0x3de612467ccb2260,
    0x3e5ae6456792a77f, 0x3ec71de3a556f96c, 0x3f2a01a01a01a001, 0x3f81111111111111, 0x3fc5555555555555,
    0x3fd0000000000000, 0x1fffffff, 0xffffffffe0000000, 0x40490fdb, 0x80000000, 0x3fc0c04595972ab8, 0x3fc0fbe83c2cbcf3,
    0x3fc3b1c360763b8a, 0x3fc745cf901605f7, 0x3fcc71c720160b47, 0x3fd2492492476c87, 0x3fd9999999999a38,
    0x3fe5555555555555, 0x3dea39ef35793c76, 0x3fe62e42fee00000, 0xc410000000000000, 0x4410000000000000,
    0x3e50000000000000, 0xbc91a62633145c07, 0x3ff921fb54442d18, 0xbca1a62633145c07, 0x400921fb54442d18,
    0xbc91a62633145c07, 0x3ff921fb54442d18, 0x42851592, 0x4080a2b23f3bab73, 0x40549a78, 0x400a934f0979a371, 0x3e9a2000,
    0x3fd34413509f6000, 0x369a84fc, 0x3d59fef311f12b36, 0x3e9a209b, 0x3fd34413509f79ff, 0x2a9f7893, 0x2a5119f2,
    0x62800000, 0x6070000000000000, 0x1c800000, 0x1f70000000000000, 0x5d800000, 0x5f30000000000000, 0x21800000,
    0x20b0000000000000, 0x3c8efa35, 0x3f91df46a2529d39, 0x42652ee1, 0x404ca5dc1a63c1f8, 0x807fffff, 0x800fffffffffffff,
    0x3f000000, 0x3fe0000000000000, 0x46fffe00, 0x477fff00, 0x3c010204, 0x3b808081, 0x38000100, 0x37800080, 0xcd9e8d57,
    0xd2511f53, 0x40c90fda, 0x401921fb54442d18, 0x2c9277b5, 0xac564b05, 0x108ef2d9, 0x9e3779b97f4a7c15,
    0xbf58476d1ce4e5b9, 0x94d049bb133111eb
};
static const uint8_t vc__rule_steps[] = {
    0,92,0,104,92,1,104,86,9,10,253,11,0,27,0,92,1,104,94,10,9,0,90,1,104,94,12,1,11,253,13,0,245,0,18,245,9,8,253,10,0,
    245,0,18,88,9,105,245,10,8,253,11,0,88,0,106,84,9,160,29,0,10,84,11,161,88,11,107,84,13,161,28,12,14,88,15,108,28,
    15,16,84,17,162,30,18,163,88,19,109,253,20,0,84,0,101,88,0,103,84,1,101,88,1,103,30,9,11,88,13,103,30,10,11,28,15,
    14,84,16,101,30,9,12,28,18,17,30,10,12,88,16,103,28,20,21,88,19,103,28,22,23,253,24,4,243,0,84,9,160,86,9,10,242,11,
    28,12,110,243,13,29,14,161,88,11,111,84,16,106,28,11,17,28,18,162,88,19,111,92,11,163,94,21,15,20,92,164,11,245,165,
    8,94,23,24,166,92,167,11,94,26,25,22,88,10,112,85,27,28,253,29,12,84,0,160,86,0,9,87,10,112,87,9,111,28,12,161,28,
    13,161,93,162,9,94,15,14,13,245,9,11,30,17,163,243,18,92,9,164,94,20,19,16,85,21,11,242,22,253,23,0,245,0,4,87,9,2,
    88,10,109,245,1,4,87,12,2,88,13,109,30,11,14,253,15,0,87,0,2,88,9,109,87,1,2,88,11,109,30,10,12,253,13,0,245,0,4,87,
    9,2,88,10,109,87,1,2,88,12,109,245,13,4,30,11,14,253,15,0,251,49,0,1,0,1,109,251,49,0,1,0,1,112,28,9,10,251,49,0,1,
    0,1,113,28,11,12,251,49,0,1,0,1,104,28,13,14,253,15,0,251,49,24,1,0,1,109,251,49,24,1,0,1,112,28,9,10,251,49,24,1,0,
    1,113,28,11,12,251,49,24,1,0,1,104,28,13,14,253,15,0,251,49,42,1,0,1,109,251,49,42,1,0,1,112,28,9,10,251,49,42,1,0,
    1,113,28,11,12,251,49,42,1,0,1,104,28,13,14,253,15,0,84,0,114,246,9,0,246,9,1,87,11,113,85,10,12,246,9,2,87,14,112,
    85,13,15,246,9,3,87,17,109,85,16,18,253,19,17,84,0,160,246,9,0,246,9,1,87,11,112,85,10,12,253,13,0,87,0,109,88,9,
    109,87,0,112,88,11,109,87,0,113,88,13,109,88,0,109,251,65,255,255,10,12,14,15,253,16,0,87,0,112,88,9,112,88,0,112,
    251,33,255,255,10,11,253,12,18,247,160,161,92,9,0,28,0,1,94,10,0,11,51,12,247,162,163,28,13,14,94,10,15,13,253,16,0,
    247,115,116,247,117,118,39,1,9,10,247,119,120,28,11,12,245,13,17,247,121,122,87,14,15,242,16,30,0,17,29,1,11,39,19,
    9,10,28,20,12,245,21,17,87,22,15,242,23,30,18,24,29,19,20,39,26,9,10,28,27,12,245,28,17,87,29,15,242,30,30,25,31,
    253,32,0,30,1,1,31,0,9,29,10,1,28,1,1,28,12,10,31,11,13,30,1,14,28,1,15,253,16,0,35,0,93,98,9,92,9,96,84,10,11,253,
    12,22,247,160,161,92,9,0,247,162,163,92,0,11,247,164,165,247,166,167,94,12,14,106,94,10,13,15,252,16,247,168,169,
    247,170,171,94,12,18,106,94,10,17,19,252,20,94,12,17,106,94,10,18,21,253,22,34,247,160,161,30,0,9,29,10,0,29,10,11,
    29,0,12,28,12,12,30,0,0,30,12,12,29,16,15,30,14,13,28,17,18,252,15,30,13,13,28,19,20,253,21,0,28,0,1,29,9,0,29,9,10,
    29,0,11,252,9,29,1,10,28,12,13,253,14,0,38,0,1,29,9,106,251,18,233,2,10,37,0,1,251,18,233,2,13,28,10,10,251,34,21,3,
    12,11,251,34,21,3,14,17,251,34,21,3,15,19,251,34,21,3,16,21,251,34,21,3,20,18,251,34,21,3,22,25,251,34,21,3,24,27,
    251,34,21,3,23,29,28,26,28,28,33,30,28,34,32,28,35,31,253,36,0,90,0,104,90,1,104,84,9,10,60,1,0,94,11,104,12,253,13,
    0,92,2,0,94,9,2,0,92,10,1,94,11,1,10,253,12,36,84,1,160,244,0,86,10,9,242,11,253,12,37,244,0,84,9,160,242,10,29,0,
    11,244,1,84,13,160,242,14,29,1,15,30,0,1,30,11,15,29,18,17,30,11,16,28,19,20,30,12,15,28,21,22,252,17,30,12,16,28,
    23,24,253,25,0,29,2,0,29,1,9,253,10,0,29,2,0,29,2,9,29,0,10,29,1,9,28,12,11,253,13,38,30,1,110,42,9,29,1,10,28,10,
    160,244,12,87,13,122,242,14,30,0,15,28,11,160,244,17,87,18,122,242,19,30,16,20,253,21,39,251,49,148,3,0,123,124,30,
    9,160,45,10,30,11,161,29,9,12,30,11,162,29,13,14,248,15,11,163,30,15,15,34,17,16,15,28,18,106,252,19,253,11,0,251,
    18,38,4,0,28,10,125,251,33,1,4,9,11,253,12,53,248,0,13,160,30,0,9,28,10,106,251,33,1,4,11,1,253,12,66,92,0,98,30,0,
    160,94,9,10,0,244,11,29,12,161,88,13,122,87,14,122,29,12,15,242,16,245,14,16,28,18,126,94,9,19,18,252,20,253,17,68,
    92,0,96,94,9,1,0,92,0,104,94,11,97,10,90,0,104,94,13,160,12,253,14,69,251,18,117,4,0,28,10,106,28,11,125,29,10,12,
    28,10,125,31,14,11,251,34,178,3,15,11,29,14,16,29,18,17,30,15,13,29,19,20,31,21,11,251,34,178,3,15,15,28,15,15,30,
    25,22,28,24,26,248,23,8,160,30,23,28,28,168,29,251,49,230,3,168,29,30,28,31,169,251,34,178,3,30,23,30,30,27,28,34,
    35,30,32,23,28,36,37,28,170,33,251,49,230,3,170,33,39,28,38,171,28,40,41,251,34,178,3,39,15,30,39,22,28,44,45,30,42,
    15,28,46,47,28,9,43,252,49,251,49,230,3,9,43,49,28,48,50,253,51,81,30,0,160,45,9,30,10,161,29,0,11,30,10,162,29,12,
    13,27,10,30,15,163,28,14,16,251,49,239,3,14,16,17,30,15,164,28,17,19,251,49,239,3,17,19,20,28,18,21,30,15,165,28,20,
    23,251,49,239,3,20,23,24,28,22,25,30,15,166,28,26,27,28,24,28,251,49,230,3,24,28,29,35,29,92,31,106,94,32,29,104,94,
    32,30,104,252,33,252,34,28,10,167,244,35,253,36,89,30,0,0,30,9,110,30,10,1,29,1,11,248,9,6,160,30,9,0,34,14,13,12,
    28,0,15,29,106,10,29,106,17,29,18,10,248,9,6,166,30,9,9,30,20,21,30,0,1,29,22,23,252,16,28,19,24,28,17,25,253,26,0,
    251,19,72,5,0,251,34,177,5,9,10,252,12,252,13,253,11,0,84,1,106,91,9,104,94,10,3,2,87,1,127,251,33,165,3,11,12,35,0,
    92,14,96,94,15,13,97,253,16,101,245,104,16,93,160,0,94,10,110,9,94,10,161,9,94,10,162,9,93,163,0,94,14,106,11,94,14,
    164,12,94,14,165,13,93,166,0,94,18,128,15,94,18,167,16,94,18,168,17,93,169,0,94,22,106,19,94,22,170,20,94,22,171,21,
    29,0,23,30,23,0,28,27,106,94,22,125,26,94,22,0,28,31,29,30,30,31,31,248,32,11,172,30,31,32,34,34,33,25,28,35,31,28,
    24,36,253,37,124,30,0,0,29,106,0,30,10,110,92,110,0,47,11,94,12,11,9,94,12,13,0,248,14,13,160,30,15,14,34,17,16,15,
    252,18,253,12,137,30,0,0,248,9,8,160,30,0,9,34,11,10,0,253,12,145,35,0,251,17,81,4,9,252,10,31,160,10,253,11,0,92,0,
    96,27,0,92,10,96,84,9,11,91,0,104,84,12,13,245,97,16,94,14,106,15,253,16,0,92,1,104,92,104,1,85,9,10,83,11,90,0,104,
    84,12,13,240,0,1,0,94,14,97,15,253,16,0,90,1,104,94,9,106,1,240,0,10,0,94,9,125,11,253,12,0,90,1,104,90,1,125,85,9,
    10,94,11,106,1,240,0,12,0,27,0,94,10,14,13,94,9,125,15,253,16,0,31,0,1,44,9,30,1,10,29,0,11,253,12,0,245,104,16,31,
    0,1,44,10,30,1,11,29,0,12,90,11,9,94,14,0,13,251,33,0,0,0,1,27,1,94,16,17,1,35,15,35,1,93,20,19,29,15,18,94,21,22,
    15,251,33,0,0,23,0,91,23,104,84,24,25,28,23,18,94,26,27,23,253,28,0,251,33,0,0,0,1,91,0,104,84,9,10,28,0,1,94,11,12,
    0,253,13,0,241,0,1,30,9,1,29,0,10,253,11,0,90,1,104,94,9,106,1,240,0,10,0,94,9,0,11,253,12,0,90,1,104,94,9,106,1,
    241,0,10,30,11,10,29,0,12,94,9,0,13,253,14,0,90,1,104,90,1,125,85,9,10,94,11,106,1,241,0,12,30,13,12,29,0,14,94,9,0,
    15,253,16,0,32,0,1,91,9,104,86,9,1,92,11,104,84,10,12,94,13,1,104,28,9,14,253,15,0,92,0,104,27,0,94,9,10,0,253,11,0,
    92,104,0,94,9,106,104,253,10,0,245,104,16,92,0,9,94,10,125,9,92,9,0,94,12,106,11,253,13,0,92,1,0,94,9,0,1,253,10,0,
    92,0,1,94,9,0,1,253,10,0,92,1,0,250,1,0,83,10,85,9,11,94,12,0,1,253,13,0,92,0,1,250,1,0,83,10,85,9,11,94,12,0,1,253,
    13,0,30,0,1,28,9,2,253,10,0,38,0,1,37,9,2,253,10,0,29,106,2,30,0,9,30,1,2,28,10,11,253,12,0,92,1,0,94,9,104,106,253,
    10,0,42,0,29,0,9,253,10,0,35,0,42,9,251,33,12,0,10,0,253,11,0,35,0,42,9,30,10,110,42,11,91,12,11,29,9,10,90,14,110,
    84,15,13,92,110,14,85,17,16,28,10,106,94,18,19,10,251,33,12,0,20,0,253,21,0,88,0,1,38,9,106,253,10,0,245,0,16,30,9,
    2,253,10,0,245,0,16,30,9,2,245,1,16,28,10,11,253,12,0,245,1,18,92,9,2,94,10,9,104,245,11,8,240,0,12,0,253,13,0,84,1,
    2,245,9,16,240,0,10,0,253,11,0,87,0,1,27,1,88,0,10,85,9,11,253,12,0,251,17,31,0,0,67,9,251,17,40,0,0,67,11,28,10,12,
    245,13,16,253,14,0,251,17,31,0,0,245,9,4,67,10,245,11,16,253,12,0,251,17,31,0,0,251,17,52,0,9,245,10,16,253,11,0,
    251,17,40,0,0,251,17,31,0,0,250,10,2,245,11,9,87,12,105,68,9,245,14,9,85,13,15,245,16,16,253,17,0,251,17,31,0,0,250,
    9,2,245,10,16,253,11,0,251,17,31,0,0,250,9,2,88,10,112,245,11,16,253,12,0,251,17,31,0,0,250,9,2,88,10,109,245,11,16,
    253,12,0,245,0,18,27,9,84,9,10,70,11,253,12,0,88,0,102,86,0,9,253,10,0,251,17,31,0,0,250,9,3,245,10,16,253,11,0,251,
    17,31,0,0,250,9,3,251,17,40,0,0,91,11,104,70,11,28,13,105,94,12,14,10,245,15,16,253,16,0,245,0,4,245,1,4,30,9,10,88,
    11,2,245,12,16,253,13,0,245,0,8,245,1,8,30,9,10,88,11,2,245,12,16,253,13,0,88,0,102,84,9,1,88,1,102,84,11,0,245,0,
    18,245,1,18,251,33,91,0,13,14,245,15,16,29,16,10,29,17,12,253,18,0,28,0,1,92,9,0,245,10,16,253,11,0,92,0,1,245,9,16,
    253,10,0,88,0,3,84,9,2,84,0,2,87,11,3,85,12,10,253,13,0,70,0,253,9,0,88,0,106,85,0,9,88,10,107,85,10,11,88,12,108,
    85,12,13,88,14,113,85,14,15,88,16,112,85,16,17,251,17,52,0,18,245,19,4,29,20,106,253,21,0,246,0,0,245,9,10,243,10,
    245,11,8,246,0,1,245,13,10,243,14,245,15,8,87,16,112,85,12,17,253,18,0,251,17,142,0,0,246,9,0,246,9,1,87,11,112,85,
    10,12,253,13,17,84,0,160,251,17,208,0,9,88,0,112,251,17,208,0,11,251,33,255,255,10,12,253,13,0,245,0,7,242,9,245,10,
    11,88,0,112,245,12,7,242,13,245,14,11,251,33,255,255,11,15,253,16,0,243,0,84,9,100,243,96,93,10,11,253,12,0,90,0,0,
    253,9,0,38,0,2,37,9,3,250,0,0,94,11,10,104,253,12,0,38,0,2,37,9,3,253,10,0,93,2,0,94,9,3,1,253,10,0,243,0,84,9,100,
    86,9,10,88,10,2,84,12,106,28,10,3,28,14,13,84,15,4,242,10,30,17,5,45,18,30,19,6,243,20,92,10,7,94,22,21,16,93,8,10,
    243,96,94,24,25,23,92,25,10,94,27,10,26,85,28,11,242,29,253,30,146,243,0,84,9,160,28,10,160,85,9,11,84,12,161,242,
    13,253,14,0,91,0,104,253,9,0,94,0,106,104,253,9,0,243,0,84,9,100,243,96,90,10,11,253,12,0,243,0,84,9,100,243,96,92,
    11,10,253,12,0,35,0,92,9,98,253,10,0,90,0,104,253,9,0,250,0,1,94,9,104,0,240,10,0,0,253,11,0,90,0,0,240,0,0,0,94,9,
    10,97,253,11,148,90,0,0,90,1,1,84,9,10,35,0,240,12,1,0,244,1,92,14,104,94,15,160,104,90,0,104,94,17,16,13,244,0,84,
    19,161,244,18,85,21,20,242,22,94,11,23,97,253,24,0,30,0,110,49,9,30,10,110,30,11,10,27,9,49,13,30,14,110,30,15,14,
    29,12,16,253,17,0,30,0,110,49,9,30,10,110,30,11,10,27,9,49,13,30,14,110,30,15,14,28,12,16,253,17,0,245,104,16,35,0,
    240,10,1,0,92,0,9,91,1,9,84,12,13,94,14,97,11,253,15,0,245,104,16,240,0,1,0,92,1,9,94,11,96,9,250,0,1,94,13,12,10,
    93,9,0,250,1,0,84,15,16,94,17,14,97,245,106,16,90,1,9,90,0,19,85,20,21,94,22,19,18,253,23,0,245,0,18,88,9,103,87,9,
    103,85,10,11,88,12,103,87,12,103,85,13,14,245,15,16,253,16,0,245,0,8,251,65,255,255,9,104,104,104,253,10,0,246,0,0,
    84,9,106,253,10,0,88,1,129,21,0,9,88,10,1,84,11,106,245,12,1,253,13,0,90,0,2,94,9,3,4,253,10,0,69,0,245,9,8,253,10,
    0,84,0,1,70,9,245,10,8,253,11,0,84,1,2,86,9,3,87,4,10,251,33,227,12,0,11,253,12,0,87,106,1,29,9,106,251,33,227,12,0,
    10,253,11,0,246,0,0,84,9,1,67,10,253,11,0,246,0,0,87,107,1,29,10,106,84,9,11,67,12,253,13,0,246,0,0,87,106,1,29,10,
    106,84,9,11,67,12,253,13,0,28,2,1,241,9,1,38,0,10,253,11,0,29,1,106,84,0,9,253,10,0,47,0,31,106,9,253,10,0,251,18,
    38,4,0,251,33,1,4,9,10,253,11,0,251,49,148,3,0,130,131,45,9,29,9,10,251,33,98,4,11,10,253,12,150,251,18,117,4,0,28,
    10,125,28,11,107,31,11,12,30,13,13,248,14,8,160,30,14,15,30,11,110,30,17,11,28,18,16,30,13,19,30,9,168,28,20,21,29,
    18,22,29,23,11,30,9,169,29,25,24,251,33,158,4,0,26,253,27,0,251,18,182,4,0,28,9,10,251,33,158,4,0,11,253,12,160,251,
    18,182,4,0,251,49,148,3,1,160,161,251,34,178,3,9,11,30,10,11,28,13,14,35,12,92,131,16,94,17,104,15,251,49,148,3,12,
    130,131,45,19,29,19,20,28,21,18,251,33,98,4,22,20,90,0,104,27,1,94,24,25,1,92,26,104,94,27,104,106,92,104,26,94,29,
    96,28,94,24,30,23,90,0,96,94,32,30,31,93,104,0,94,34,33,97,90,1,1,94,36,35,97,90,1,104,94,38,106,37,90,0,106,94,40,
    106,39,253,41,162,251,19,239,5,0,251,65,1,6,0,11,9,10,35,0,92,13,160,94,14,0,12,253,15,0,251,19,239,5,0,28,11,106,
    251,65,1,6,0,12,9,10,253,13,162,251,19,239,5,0,84,11,106,91,12,104,94,13,10,9,27,9,94,13,15,10,31,14,16,35,0,92,18,
    96,94,19,17,97,92,18,160,94,21,0,20,253,22,163,35,0,251,18,138,6,9,28,10,10,28,12,160,29,161,13,94,11,14,10,244,0,
    251,33,165,3,15,16,253,17,165,35,0,251,18,138,6,9,28,10,10,28,12,160,29,161,13,92,0,104,94,15,14,12,244,0,251,33,
    165,3,10,17,28,18,162,29,163,19,94,11,16,20,253,21,0,35,0,251,17,32,6,9,244,0,251,33,165,3,10,11,253,12,165,35,0,35,
    1,90,10,9,90,10,104,94,12,10,106,31,9,10,94,11,13,14,251,17,32,6,15,28,16,160,29,161,17,244,1,92,19,104,94,20,18,16,
    91,1,1,94,22,1,21,244,0,251,33,165,3,23,24,253,25,0,251,17,176,6,0,251,18,193,6,0,29,10,11,244,0,251,33,165,3,12,13,
    35,0,92,15,106,94,16,9,14,253,17,0,251,18,193,6,0,28,9,10,253,11,0,251,17,176,6,0,30,9,9,28,10,106,47,11,31,9,12,35,
    0,28,14,14,251,17,81,4,15,28,16,110,31,106,17,29,106,18,244,0,251,33,165,3,19,20,92,14,106,94,22,13,21,253,23,0,27,
    0,252,9,27,1,253,10,0,28,0,2,252,9,28,1,3,253,10,0,28,0,2,252,9,253,3,0,28,0,2,252,9,253,1,0,29,0,2,252,9,29,1,3,
    253,10,0,29,0,2,252,9,27,3,253,10,0,29,0,2,252,9,253,1,0,30,1,3,27,9,34,0,2,10,252,11,30,1,2,34,0,3,12,253,13,0,30,
    0,2,252,9,30,0,3,253,10,0,30,0,2,252,9,30,1,2,253,10,0,245,0,11,245,1,11,245,2,11,245,3,11,30,12,12,34,11,11,13,30,
    10,12,34,9,11,15,31,16,14,245,17,10,252,18,30,9,12,27,19,34,10,11,20,31,21,14,245,22,10,253,23,0,245,0,11,245,2,11,
    245,3,11,30,11,11,34,10,10,12,30,9,10,31,14,13,245,15,10,252,16,30,9,11,27,17,31,18,13,245,19,10,253,20,0,245,2,11,
    245,0,11,31,10,9,245,11,10,252,12,245,1,11,31,13,9,245,14,10,253,15,0,35,0,35,1,38,9,10,251,19,178,2,11,35,2,35,3,
    38,15,16,251,19,178,2,17,30,0,12,30,1,12,30,2,18,30,3,18,30,24,24,34,23,23,25,30,14,19,30,22,24,34,21,23,28,31,29,
    26,30,30,27,30,31,27,252,32,30,21,24,27,33,34,22,23,34,31,35,26,30,36,27,30,37,27,253,38,0,35,0,251,19,178,2,9,35,2,
    35,3,38,13,14,251,19,178,2,15,30,0,10,30,2,16,30,3,16,30,21,21,34,20,20,22,30,12,17,30,19,20,31,25,23,30,26,24,30,
    27,24,252,28,30,19,21,27,29,31,30,23,30,31,24,30,32,24,253,33,0,31,0,2,252,9,31,1,2,253,10,0,49,0,55,1,30,9,10,252,
    11,54,1,30,9,12,253,13,169,245,0,16,35,9,245,1,16,35,11,38,10,12,251,19,178,2,13,30,10,14,30,12,14,30,18,18,34,17,
    17,19,51,20,30,21,110,247,160,161,92,14,106,28,22,23,92,106,14,29,22,23,94,26,27,22,94,24,25,28,251,33,44,3,10,12,
    90,13,96,94,31,96,29,252,32,252,30,93,132,30,93,30,107,84,33,34,253,35,0,35,0,35,1,38,9,10,251,19,178,2,11,30,0,12,
    30,1,12,35,15,30,17,110,30,16,16,34,15,15,19,47,20,30,21,110,28,18,22,47,23,90,24,104,30,16,110,31,26,24,94,25,16,
    27,92,15,104,35,28,94,29,30,24,30,31,14,252,32,27,24,94,2,33,24,94,29,34,28,30,35,14,253,36,0,90,2,104,30,2,4,94,9,
    104,10,49,11,251,33,129,3,0,1,30,2,13,55,14,30,12,15,252,16,54,14,30,12,17,253,18,0,251,33,129,3,0,1,90,2,104,30,2,
    4,94,10,104,11,30,3,9,29,12,13,49,14,35,0,35,1,38,16,17,90,18,104,30,2,9,34,3,4,20,94,19,104,21,55,22,30,15,23,252,
    24,54,22,30,15,25,253,26,0,90,0,2,90,1,3,84,9,10,253,11,0,93,1,0,252,9,29,0,1,94,9,10,104,253,11,0,88,2,102,245,9,
    16,86,0,10,252,11,90,2,104,86,1,10,94,12,11,13,252,14,86,2,9,29,15,9,245,16,16,252,17,253,10,0,252,0,90,2,104,94,9,
    0,1,252,10,245,2,16,253,11,0,245,0,18,70,9,29,102,10,245,11,16,253,12,0,69,0,245,9,18,245,102,18,28,11,106,37,10,12,
    245,13,16,253,14,0,245,0,16,245,1,16,27,10,89,9,11,253,12,0,245,0,16,245,1,16,89,9,10,253,11,0,245,1,8,29,3,106,84,
    9,10,245,2,8,29,3,11,37,12,13,29,3,14,90,14,104,29,15,11,87,0,17,88,18,15,94,16,104,19,253,20,0,245,1,8,29,3,106,84,
    9,10,245,2,8,29,3,11,37,12,13,88,0,11,92,14,3,245,106,16,87,17,14,29,18,106,94,16,19,99,84,15,20,253,21,0,245,2,8,
    29,4,106,84,9,10,245,3,8,29,4,11,37,12,13,92,14,4,245,106,16,87,16,14,29,17,106,94,15,18,99,87,19,11,83,20,84,0,21,
    87,1,11,84,23,20,85,22,24,253,25,0,245,0,18,245,1,18,72,9,10,245,11,16,253,12,0,245,0,18,245,1,18,73,9,10,245,11,16,
    253,12,0,38,0,1,245,9,18,37,0,1,245,11,18,29,10,12,253,13,0,28,0,1,86,0,9,86,1,9,84,10,11,92,12,104,88,0,102,86,14,
    100,94,13,15,9,253,16,0,28,0,1,92,9,0,94,10,99,9,253,11,0,29,0,1,86,0,1,86,0,9,84,10,11,92,12,104,88,0,102,86,14,
    100,94,13,15,9,253,16,0,38,0,1,29,9,1,253,10,0,84,0,1,86,0,1,88,10,106,28,9,11,253,12,0,28,0,107,31,0,9,30,10,10,30,
    10,11,249,11,1,34,12,13,10,253,14,0,35,0,30,0,0,28,10,106,47,11,251,33,34,2,9,12,92,9,110,30,0,10,249,10,3,34,15,16,
    0,92,0,104,27,13,94,18,19,13,94,14,17,20,253,21,0,29,0,106,30,9,110,38,10,104,47,11,30,12,10,249,10,3,34,13,14,12,
    28,0,106,30,9,16,38,17,104,47,18,251,33,34,2,0,19,92,0,128,28,15,15,94,21,22,20,93,106,0,94,24,23,97,253,25,0,35,0,
    28,106,9,29,106,9,31,10,11,51,12,30,13,110,90,9,106,94,15,96,14,92,0,104,27,16,94,17,18,16,30,0,0,92,9,110,30,0,20,
    249,20,3,34,22,23,0,94,21,24,19,93,9,106,94,26,25,97,253,27,0,245,1,4,251,33,62,2,0,9,253,10,171,247,160,161,30,0,9,
    45,10,247,133,134,247,135,136,39,11,12,13,247,162,163,30,14,15,29,0,16,247,164,165,30,14,18,29,17,19,30,20,9,50,21,
    245,14,4,251,33,62,2,22,23,253,24,177,52,0,247,160,161,30,9,10,253,11,179,251,17,164,2,0,35,0,94,9,10,106,243,11,88,
    12,105,245,13,8,31,14,137,28,15,160,245,16,9,87,17,105,242,18,251,33,137,2,11,19,251,33,137,2,11,20,251,33,137,2,11,
    21,35,0,41,106,23,30,0,24,92,0,104,27,22,94,26,27,22,94,9,28,25,253,29,180,251,17,164,2,0,35,0,94,9,10,106,243,11,
    31,12,137,28,13,160,242,14,251,33,137,2,11,15,251,33,137,2,11,16,35,0,41,106,18,30,0,19,92,0,104,27,17,94,21,22,17,
    94,9,23,20,253,24,0,35,0,35,1,38,9,10,90,11,96,30,10,10,34,9,9,13,47,14,94,12,96,15,253,16,181,35,0,35,1,38,9,10,
    247,160,161,247,162,163,247,164,165,92,14,11,94,15,13,106,247,166,167,92,11,17,94,18,12,16,30,9,19,30,10,19,30,21,
    21,34,20,20,22,47,23,90,19,106,90,19,12,94,26,13,12,94,25,106,27,30,24,28,90,11,96,94,30,96,29,253,31,0,35,0,247,
    106,107,30,0,0,29,9,10,28,9,10,31,12,13,27,11,49,15,249,14,4,30,16,17,29,106,18,247,108,138,92,20,9,94,21,106,19,92,
    9,106,249,11,3,34,0,24,0,92,0,104,27,22,94,26,27,22,94,23,25,28,253,29,189,247,160,161,30,0,9,253,10,191,247,160,
    161,30,0,9,253,10,0,39,0,104,106,253,9,0,29,2,0,29,1,0,31,9,10,39,11,104,106,28,12,12,29,137,13,30,12,14,30,12,15,
    253,16,193,243,0,247,160,161,84,9,10,247,162,163,85,11,12,251,17,164,2,0,242,13,35,0,41,98,16,30,0,17,94,14,15,18,
    253,19,0,243,0,247,121,122,88,9,10,245,11,4,247,114,139,84,12,13,251,17,164,2,0,247,117,118,29,14,16,94,15,17,104,
    253,18,0,65,0,94,9,104,0,44,10,29,10,11,253,12,0,35,0,253,9,0,66,0,0,47,9,253,10,0,29,0,1,35,9,253,10,0,29,0,1,66,9,
    9,47,10,253,11,0,30,0,0,48,9,30,0,10,253,11,0,66,0,0,48,9,30,0,10,253,11,0,246,0,1,246,0,2,246,0,0,251,49,255,255,9,
    10,11,246,1,2,246,1,0,246,1,1,251,49,255,255,13,14,15,30,12,16,246,0,2,246,0,0,246,0,1,251,49,255,255,18,19,20,246,
    1,1,246,1,2,246,1,0,251,49,255,255,22,23,24,30,21,25,29,17,26,253,27,0,30,2,1,92,9,104,27,0,94,10,0,11,253,12,0,66,
    2,1,92,9,104,27,0,94,10,0,11,253,12,0,30,1,0,28,9,9,30,10,1,29,0,11,253,12,0,66,1,0,28,9,9,30,10,1,29,0,11,253,12,0,
    30,2,2,30,3,3,29,106,10,30,9,11,29,106,12,30,2,0,30,2,3,38,13,104,47,16,28,15,17,30,18,1,29,14,19,92,13,104,94,21,
    104,20,253,22,0,30,1,0,251,65,84,23,0,1,2,9,253,10,0,66,1,0,251,65,84,23,0,1,2,9,253,10,0,39,0,125,106,30,9,119,45,
    10,245,11,4,245,12,8,251,17,186,1,13,253,14,0,39,0,104,106,30,9,114,45,10,245,11,8,251,17,186,1,12,253,13,197,39,0,
    125,106,30,9,160,45,10,245,11,4,245,12,8,251,17,222,1,13,253,14,198,39,0,104,106,30,9,160,45,10,245,11,8,251,17,222,
    1,12,253,13,199,245,0,4,251,17,240,1,9,245,10,11,30,11,160,38,12,125,253,13,200,251,17,240,1,0,245,9,11,30,10,160,
    253,11,201,245,0,4,251,17,16,2,9,245,10,11,30,11,160,38,12,125,253,13,202,251,17,16,2,0,245,9,11,30,10,160,253,11,0,
    245,0,8,251,17,186,1,9,253,10,0,245,0,4,251,17,240,1,9,253,10,0,245,0,9,246,9,0,246,9,1,87,11,105,85,10,12,253,13,0,
    245,0,8,88,0,105,245,10,8,251,33,255,255,9,11,253,12,0,31,0,1,252,9,30,9,1,29,0,10,253,11,0,71,0,3,86,9,1,86,10,2,
    252,11,30,0,3,253,12,203,251,66,127,24,2,1,4,160,251,66,127,24,0,3,5,161,252,9,252,10,252,11,253,12,205,29,106,0,51,
    9,30,10,140,38,11,104,47,12,29,1,110,247,160,161,30,14,15,55,16,30,13,17,252,18,54,16,30,13,19,253,20,207,30,0,160,
    28,9,161,88,10,141,28,11,108,88,10,12,86,13,10,30,14,162,88,15,142,86,16,15,253,17,210,28,0,160,88,9,143,86,9,10,30,
    11,161,88,12,144,86,12,13,30,14,162,88,15,145,86,15,16,253,17,0,245,0,8,252,9,88,0,105,245,10,8,253,11
};
/* end of the compiled rules */
/* An array of negative size: run tools/rules, because operations were added or removed. */
typedef char vc__rules_are_current[(int)VC__RULE_OPERATIONS == (int)VC__OP_COUNT ? 1 : -1];

/* Coefficients of a polynomial, highest power first, as bits of f32 and f64. */
typedef struct vc__polynomial { uint64_t f32[8], f64[15]; uint32_t f32_count, f64_count; } vc__polynomial;

typedef struct vc__rule_state {
    vc__lowering *s;  /* NULL: operations are recorded */
    vc_kernel *k;     /* NULL: all values are immediates */
    const uint64_t *bits; /* the bit patterns of the rule */
    vc_type type;     /* type of the rule: T */
    uint16_t op;      /* operation that is lowered: native */
    vc_val v[VC__OPERAND_NAMES]; /* registers, the inputs first */
    vc_val out[4];    /* results */
} vc__rule_state;

static inline vc_type vc__lowered_type(vc__lowering *s, uint32_t a) { return vc__lowered_node(s, a)->type; }
static inline bool vc__rule_is_number(vc_val v) { return v.owner >= VC__RULE_NUMBER && v.owner <= VC__RULE_NAMED; }
static inline vc_val vc__rule_node(uint32_t number) { return vc__immediate(VC__RULE_NODE, number); }
static inline uint32_t vc__step_operand(uint32_t step, uint32_t i) { return step >> (8 * i + 8) & 255u; }
/* Reads up to four bytes of a rule as a word, the first one in the low bits. */
static inline uint32_t vc__rule_word(const uint8_t **at, uint32_t bytes) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < bytes; i++) word |= (uint32_t)*(*at)++ << 8 * i;
    return word;
}

VC__SMALL_BODIES

/* The bit pattern of a number in a type; callers mask the bits above its width. For f16, the magnitude of a
   VC__RULE_NUMBER must be below 1024. */
static uint64_t vc__rule_pattern(vc_type type, vc_val v) {
    uint32_t kind = vc__kind(type), fraction = vc__kinds[kind].fraction, power = 0;
    uint64_t sign = v.bits >> 63, twice = sign ? 0 - v.bits : v.bits;
    if (v.owner == VC__RULE_BITS) return v.bits;
    if (!type) return 0; /* the other operand is the result of a failed call */
    if (v.owner == VC__RULE_NAMED) {
        switch (v.bits) {
        case 0: return vc__infinity_bits(kind);                                     /* inf */
        case 1: return vc__infinity_bits(kind) | (uint64_t)1 << (fraction - 1);     /* nan */
        case 2: return (uint64_t)1 << fraction;                                     /* least */
        case 3: return UINT64_MAX;                                                  /* ones */
        case 4: return UINT64_MAX >> (65 - vc__bits(kind));                         /* positive */
        case 5: return vc__ones(vc__bits(kind) / 2);                                /* mask */
        case 6: return vc__bits(kind) - 1;                                          /* top */
        default: return vc__bits(kind) / 2;                                         /* half */
        }
    }
    if (!vc__is_float(type)) return sign ? 0 - twice / 2 : twice / 2;
    if (!twice) return 0;
    while (twice >> power > 1) power++;
    uint64_t rest = twice - ((uint64_t)1 << power); /* twice = 2^power + rest, rest < 2^power */
    return (((uint64_t)vc__bias(kind) + power - 1) << fraction) + (rest << fraction >> power)
           + (sign << (vc__bits(kind) - 1));
}

/* The type of a value; for a number, the type of the rule. */
static vc_type vc__rule_type(const vc__rule_state *r, vc_val v) {
    return v.owner == VC__RULE_NODE ? vc__lowered_type(r->s, (uint32_t)v.bits)
           : vc__rule_is_number(v)  ? r->type
                                    : vc_typeof(v);
}

/* Converts v to a constant of `type` if it is a number; otherwise returns v. */
static vc_val vc__rule_typed(vc__rule_state *r, vc_val v, vc_type type) {
    if (!vc__rule_is_number(v)) return v;
    if (!r->s) return vc_imm(vc__scalar(type), vc__rule_pattern(type, v));
    return vc__rule_node(r->k->failed ? VC__NIL : vc__make_const(r->s, type, vc__rule_pattern(type, v)));
}

static vc_val vc__rule_operand(const vc__rule_state *r, uint32_t i) {
    if (i < VC__OPERAND_NAMES) return r->v[i];
    if (i >= VC__OPERAND_BITS) return vc__immediate(VC__RULE_BITS, r->bits[i - VC__OPERAND_BITS]);
    if (i < VC__OPERAND_NUMBERS) return vc__immediate(VC__RULE_NAMED, i - VC__OPERAND_NAMES);
    return vc__immediate(VC__RULE_NUMBER, (uint64_t)(int64_t)vc__rule_numbers[i - VC__OPERAND_NUMBERS]);
}
static vc_val vc__convert(vc_type type, vc_val v, uint32_t op);
static vc_val vc__shift(vc_val a, vc_val count, uint32_t op);
static vc_val vc__vector(const char *call, const vc_val *v, uint32_t count);

/* Records an operation. to: type of a cast. */
static vc_val vc__rule_record(vc__rule_state *r, uint32_t op, vc_type to, uint32_t step, uint32_t count) {
    vc_type type = r->type;
    vc_val v[3];
    for (uint32_t i = count; i-- > 0;) {
        v[i] = vc__rule_operand(r, vc__step_operand(step, i));
        if (!vc__rule_is_number(v[i]) && !(op == VC__OP_SELECT && i == 0)) type = vc_typeof(v[i]);
    }
    for (uint32_t i = 0; i < count; i++) v[i] = vc__rule_typed(r, v[i], type);
    if (op == VC__OP_CAST || op == VC__OP_BITCAST) return vc__convert(to, v[0], op);
    if (op == VC__OP_SELECT) return vc_select(v[0], v[1], v[2]);
    if (op == VC__OP_SHL || op == VC__OP_SHR) return vc__shift(v[0], v[1], op);
    if (vc__op[op].result == VC__RESULT_BOOL && count == 2) return vc__compare(v[0], v[1], op);
    return count == 1 ? vc__pure1(v[0], op) : count == 2 ? vc__pure2(v[0], v[1], op) : vc__pure3(v[0], v[1], v[2], op);
}

/* Adds an operation on the operands of a step. to: type of the result; VC_NONE: according to the table of operations.
   raw: do not lower it. */
static vc_val vc__rule_apply(vc__rule_state *r, uint32_t op, bool raw, vc_type to, uint32_t step, uint32_t count) {
    uint32_t a[3] = { VC__NIL, VC__NIL, VC__NIL }, numbers = 0;
    vc_type type = r->type; /* that of the first operand with a type, except the condition of a select */
    if (!r->s) return vc__rule_record(r, op, to, step, count);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t at = vc__step_operand(step, i);
        if (at < VC__OPERAND_NAMES && r->v[at].owner == VC__RULE_NODE) {
            a[i] = (uint32_t)r->v[at].bits;
            if (i > 0 || op != VC__OP_SELECT) type = vc__lowered_type(r->s, a[i]);
        } else {
            numbers |= 1u << i;
        }
    }
    for (uint32_t i = 0; numbers >> i; i++)
        if (numbers >> i & 1u)
            a[i] = (uint32_t)vc__rule_typed(r, vc__rule_operand(r, vc__step_operand(step, i)), type).bits;
    if (!to) to = vc__result_type(op, type);
    return vc__rule_node(raw ? vc__make_raw(r->s, (uint16_t)op, to, a[0], a[1], a[2], 0)
                         : vc__make(r->s, (uint16_t)op, to, a[0], a[1], a[2], 0));
}

/* A polynomial of the first operand; the coefficients are `count` bit patterns from operand `first` on. The sum is kept
   in register `next`. */
static vc_val vc__rule_polynomial(vc__rule_state *r, uint32_t step, uint32_t first, uint32_t count, uint32_t next) {
    uint32_t sum = first, x = vc__step_operand(step, 0);
    for (uint32_t i = 1; i < count; i++) {
        r->v[next] = vc__rule_apply(r, VC__OP_FMA, false, VC_NONE, sum << 8 | x << 16 | (first + i) << 24, 3);
        sum = next;
    }
    return r->v[next];
}

static vc_val vc__rule_convert(vc__rule_state *r, uint32_t step, vc_val v) {
    vc_type type = vc__rule_type(r, v), shape = type & 48u, to, kind = vc__step_operand(step, 1);
    switch (step & 255u) {
    case VC__STEP_REAL: to = vc__to_unsigned(type) + VC_F16 - VC_U16; break;
    case VC__STEP_INTS: to = vc__to_signed(vc__bits_type(type)); break;
    case VC__STEP_BITS:
        to = vc__bits_type(type);
        /* bits(inf) does not create a constant inf, which would change the order of the constants of the module */
        if (!vc__rule_is_number(v)) break;
        return vc__rule_typed(r, vc__immediate(VC__RULE_BITS, vc__rule_pattern(type, v)), to);
    case VC__STEP_CAST:
        to = kind == VC__STEP_CAST_T   ? vc__scalar(r->type) + shape
             : kind == VC__STEP_CAST_I ? vc__to_signed(vc__bits_type(vc__scalar(r->type))) + shape
             : kind == VC__STEP_CAST_U ? vc__to_unsigned(type)
                                       : kind + shape;
        return vc__rule_is_number(v) ? vc__rule_typed(r, v, to) : vc__rule_apply(r, VC__OP_CAST, false, to, step, 1);
    default:
        if (!r->s) return vc_component(v, kind);
        return vc__rule_node(vc__make(r->s, VC__OP_COMPONENT, vc__scalar(type), (uint32_t)v.bits, VC__NIL, VC__NIL,
                                      kind));
    }
    return vc__rule_apply(r, VC__OP_BITCAST, false, to, step, 1);
}

/* Executes a step that is neither an operation, a call nor a result. `next` is the register of its result. */
static vc_val vc__rule_special(vc__rule_state *r, uint32_t step, uint32_t next) {
    uint32_t a = vc__step_operand(step, 0), b = vc__step_operand(step, 1);
    const uint64_t *bits = r->bits;
    bool wide = vc__kind(r->type) == VC_F64;
    switch (step & 255u) {
    case VC__STEP_NATIVE: return vc__rule_apply(r, r->op, true, r->type, step, vc__op[r->op].operands);
    case VC__STEP_DIV_NATIVE: return vc__rule_apply(r, VC__OP_DIV, true, VC_NONE, step, 2);
    case VC__STEP_PICK: return vc__rule_operand(r, wide ? b : a);
    case VC__STEP_POLY: return vc__rule_polynomial(r, step, step >> 24, b, next);
    case VC__STEP_POLYNOMIAL: {
        const vc__polynomial *p = (const vc__polynomial *)(uintptr_t)r->v[b].bits;
        r->bits = wide ? p->f64 : p->f32;
        vc_val v = vc__rule_polynomial(r, step, VC__OPERAND_BITS, wide ? p->f64_count : p->f32_count, next);
        r->bits = bits;
        return v;
    }
    case VC__STEP_HELPER: return vc__rule_node(vc__rule_helpers[b](r->s, (uint32_t)r->v[a].bits));
    default: return vc__rule_convert(r, step, vc__rule_operand(r, a));
    }
}

static void vc__rule_call(vc__rule_state *r, uint32_t rule, const uint8_t *arguments, uint32_t count, vc_val *to,
                          uint32_t results);

static void vc__rule_run(vc__rule_state *r, uint32_t rule) {
    const uint8_t *at = &vc__rule_steps[rule];
    uint32_t next = VC__OPERAND_INPUTS, results = 0;
    r->bits = &vc__rule_bits[*at++];
    for (;;) {
        uint32_t operands = *at < VC__RULE_OPERATIONS ? vc__op[*at].operands : vc__step_operands[*at - VC__STEP_NATIVE];
        uint32_t step = vc__rule_word(&at, 1 + operands), op = step & 255u;
        if (op < VC__RULE_OPERATIONS) {
            r->v[next++] = vc__rule_apply(r, op, false, VC_NONE, step, operands);
        } else if (op >= VC__STEP_RESULT) {
            r->out[results++] = vc__rule_typed(r, vc__rule_operand(r, vc__step_operand(step, 0)), r->type);
            if (op == VC__STEP_LAST_RESULT) return;
        } else if (op == VC__STEP_CALL) {
            uint32_t counts = vc__step_operand(step, 0);
            vc__rule_call(r, step >> 16, at, counts >> 4, &r->v[next], counts & 15u);
            at += counts >> 4;
            next += counts & 15u;
        } else {
            r->v[next] = vc__rule_special(r, step, next);
            next++;
        }
    }
}

/* Numbers get the type of the first component. */
static vc_val vc__rule_vector(vc__rule_state *r, vc_val *v, uint32_t count) {
    uint32_t parts[4];
    vc_type type = vc__rule_type(r, v[0]);
    for (uint32_t i = 0; i < count; i++) v[i] = vc__rule_typed(r, v[i], type);
    if (!r->s) return vc__vector("vec", v, count);
    for (uint32_t i = 0; i < count; i++) parts[i] = (uint32_t)v[i].bits;
    return vc__rule_node(vc__make_vec(r->s, vc__vec(type, count), parts, count));
}

/* Calls another rule, whose type is the type of the first argument, or builds a vector. */
static void vc__rule_call(vc__rule_state *r, uint32_t rule, const uint8_t *arguments, uint32_t count, vc_val *to,
                          uint32_t results) {
    vc__rule_state inner;
    inner.s = r->s;
    inner.k = r->k;
    inner.op = r->op;
    for (uint32_t i = 0; i < count; i++) inner.v[i] = vc__rule_operand(r, arguments[i]);
    if (rule == VC__STEP_VECTOR) { *to = vc__rule_vector(r, inner.v, count); return; }
    inner.type = vc__rule_type(r, inner.v[0]);
    vc__rule_run(&inner, rule);
    for (uint32_t i = 0; i < results; i++) to[i] = inner.out[i];
}

static void vc__rule_begin(vc__rule_state *r, vc__lowering *s, vc_type type, uint32_t x, uint32_t y, uint32_t z) {
    r->s = s;
    r->k = s->kernel;
    r->type = type;
    r->op = VC__OP_NONE;
    r->v[0] = vc__rule_node(x);
    r->v[1] = vc__rule_node(y);
    r->v[2] = vc__rule_node(z);
}
static uint32_t vc__rule_end(vc__rule_state *r, uint32_t rule) {
    vc__rule_run(r, rule);
    return (uint32_t)r->out[0].bits;
}

/* Result of a lowering function: vc__add_node applies the rule. */
static inline uint32_t vc__by_rule(uint32_t rule) { return VC__BY_RULE | rule; }

/* The inputs of the rule are the operands of n, its type is that of n. */
static uint32_t vc__rule(vc__lowering *s, const vc__node *n, uint32_t rule) {
    vc__rule_state r;
    vc__rule_begin(&r, s, n->type, n->a[0], n->a[1], n->a[2]);
    r.op = n->op;
    return vc__rule_end(&r, rule);
}

/* As vc__rule, but the third input is a bit pattern. */
static uint32_t vc__rule_with(vc__lowering *s, const vc__node *n, uint32_t rule, uint64_t number) {
    vc__rule_state r;
    vc__rule_begin(&r, s, n->type, n->a[0], n->a[1], VC__NIL);
    r.op = n->op;
    r.v[2] = vc__immediate(VC__RULE_BITS, number);
    return vc__rule_end(&r, rule);
}

/* The inputs of the rule are x, y and `count` bit patterns. */
static uint32_t vc__rule_numbered(vc__lowering *s, vc_type type, uint32_t rule, uint32_t x, uint32_t y,
                                  const uint64_t *numbers, uint32_t count) {
    vc__rule_state r;
    vc__rule_begin(&r, s, type, x, y, VC__NIL);
    for (uint32_t i = 0; i < count; i++) r.v[i + 2] = vc__immediate(VC__RULE_BITS, numbers[i]);
    return vc__rule_end(&r, rule);
}

/* The type of the rule is that of x. */
static uint32_t vc__rule_of(vc__lowering *s, uint32_t rule, uint32_t x, uint32_t y) {
    return vc__rule_numbered(s, vc__lowered_type(s, x), rule, x, y, NULL, 0);
}

/* Records the operations of a rule on the tape, or, if k is NULL, computes them on immediates. It has `count` results,
   at most four. */
static void vc__rule_record_of(vc_kernel *k, vc_type type, uint32_t rule, const vc_val *values, uint32_t inputs,
                               vc_val *out, uint32_t count) {
    vc__rule_state r;
    r.s = NULL;
    r.k = k;
    r.type = type;
    r.op = VC__OP_NONE;
    for (uint32_t i = 0; i < inputs; i++) r.v[i] = values[i];
    vc__rule_run(&r, rule);
    for (uint32_t i = 0; i < count; i++) out[i] = r.out[i];
}

VC__SMALL_END

// >>lowering
/* Lowering: replaces an operation by others if the target has no operation with the same meaning. A lowering rule
   returns the number of the replacement, or VC__NIL to keep the operation. Do not make two nodes in one argument list:
   the order of evaluation, and with it the generated code, would depend on the C compiler. */

VC__SMALL_BODIES

VC__NOINLINE static uint32_t vc__make_unary(vc__lowering *s, uint16_t op, uint32_t a) {
    return vc__make(s, op, vc__lowered_type(s, a), a, VC__NIL, VC__NIL, 0);
}
VC__NOINLINE static uint32_t vc__make_binary(vc__lowering *s, uint16_t op, uint32_t a, uint32_t b) {
    return vc__make(s, op, vc__lowered_type(s, a), a, b, VC__NIL, 0);
}
VC__NOINLINE static uint32_t vc__make_select(vc__lowering *s, uint32_t c, uint32_t a, uint32_t b) {
    return vc__make(s, VC__OP_SELECT, vc__lowered_type(s, a), c, a, b, 0);
}
VC__NOINLINE static uint32_t vc__make_cast(vc__lowering *s, vc_type type, uint32_t a) {
    return vc__make(s, VC__OP_CAST, type, a, VC__NIL, VC__NIL, 0);
}

VC__NOINLINE static uint32_t vc__make_u32(vc__lowering *s, uint32_t x) { return vc__make_const(s, VC_U32, x); }

VC__NOINLINE static uint32_t vc__make_compare(vc__lowering *s, uint16_t op, uint32_t a, uint32_t b) {
    return vc__make(s, op, vc__vec(VC_BOOL, vc__components(vc__lowered_type(s, a))), a, b, VC__NIL, 0);
}

/* The bit pattern of the integer n in a type; for floats n must be -1, 0 or 1. */
static uint64_t vc__small_bits(vc_type type, int n) {
    uint32_t kind = vc__kind(type);
    if (!vc__is_float(type)) return (uint64_t)(int64_t)n & vc__ones(vc__bits(kind));
    return n == 0 ? 0 : vc__one_bits(kind) | (n < 0 ? (uint64_t)1 << (vc__bits(kind) - 1) : 0);
}

/* Whether a is a constant without a component 0 or, if signed, -1. */
static bool vc__is_safe_divisor(vc__lowering *s, uint32_t a) {
    vc_type type = vc__lowered_type(s, a);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < vc__components(type); i++)
        if (!vc__const_part(s, a, i, &bits) || !bits || (vc__is_signed(type) && bits == vc__small_bits(type, -1)))
            return false;
    return true;
}

/* ---- division ---- */

/* Drivers fold some quotients of floats without regard to 0, infinity and NaN: NVIDIA's (580) x / x, that one and
   llvmpipe also x / y for a constant x with a component 0. The test of x / x does not use abs, which Mesa (22.3) drops
   for a constant vector that contains a NaN and a negative number. */
static uint32_t vc__lower_float_div(vc__lowering *s, const vc__node *n) {
    if (s->kernel->desc.fast || vc__is_c(s->target)) return VC__NIL;
    if (n->a[0] == n->a[1])
        return vc__by_rule(VC__RULE(div_self, "c = x < inf & -x < inf & x != 0; n = T(nan); c ? 1 : n"));
    if (!vc__has_zero(s, n->a[0])) return VC__NIL;
    return vc__by_rule(VC__RULE(div_zero_by, "c = y < 0 | 0 < y; c = ~c & x == 0; q = native(x, y); c ? nan : q"));
}

static uint32_t vc__lower_div(vc__lowering *s, const vc__node *n) {
    if (vc__is_float(n->type)) return vc__lower_float_div(s, n);
    if (vc__is_safe_divisor(s, n->a[1])) return VC__NIL;
    if (!vc__is_signed(n->type))
        return vc__by_rule(VC__RULE(div_unsigned, "z = y == 0; q = native(x, z ? 1 : y); z ? -1 : q"));
    return vc__by_rule(VC__RULE(div_signed, "z = y == 0; m = y == -1; d = z | m ? 1 : y; q = native(x, d); "
                                            "q = m ? -x : q; z ? -1 : q"));
}

/* x - y * trunc(x / y). The device's division may be off by two units in the last place, so a quotient close to an
   integer may be truncated to the wrong integer (100 / 100 may be below 1). A remainder that is too large or has the
   wrong sign indicates this; adding or subtracting y once corrects it. */
static uint32_t vc__float_rem_rule(const vc__lowering *s) {
    return s->kernel->desc.fast
        ? VC__RULE(fast_rem, "x - y * trunc(x / y)")
        : VC__RULE(float_rem, "z = T(0); t = trunc(x / y); r = x - y * t; "
                              "r = t == z ? x : r; " /* y * 0 is NaN for an infinite y */
                              "t = signs_differ(x, y) ? -y : y; "
                              "m = abs(r); r = abs(y) <= m ? r - t : r; "
                              "signs_differ(r, x) & r != 0 ? r + t : r");
}

static uint32_t vc__lower_float_mod(vc__lowering *s, const vc__node *n) {
    uint32_t y = n->a[1], r = vc__rule(s, n, vc__float_rem_rule(s));
    return vc__rule_of(s, VC__RULE(float_mod, "signs_differ(x, y) & x != 0 ? x + y : x"), r, y);
}

/* Whether a remainder is computed from the quotient. The remainder of negative integers is undefined in Vulkan and
   GLSL. NVIDIA's Vulkan driver 580.159 confuses OpUDiv and OpUMod of the same u64. */
static bool vc__rem_uses_quotient(const vc__lowering *s, vc_type t) {
    return vc__is_signed(t) || (!vc__is_c(s->target) && vc__bits(vc__kind(t)) == 64);
}

static uint32_t vc__lower_rem(vc__lowering *s, const vc__node *n) {
    if (vc__is_float(n->type)) return vc__by_rule(vc__float_rem_rule(s));
    bool is_safe = vc__is_safe_divisor(s, n->a[1]), uses_quotient = vc__rem_uses_quotient(s, n->type);
    if (is_safe) return uses_quotient ? vc__by_rule(VC__RULE(rem_safe, "x - div_native(x, y) * y")) : VC__NIL;
    if (!uses_quotient) return vc__by_rule(VC__RULE(rem_unsigned, "z = y == 0; z ? x : native(x, z ? 1 : y)"));
    if (!vc__is_signed(n->type))
        return vc__by_rule(VC__RULE(rem_wide, "z = y == 0; d = z ? 1 : y; r = x - div_native(x, d) * d; "
                                              "z ? x : r"));
    return vc__by_rule(VC__RULE(rem_signed, "z = y == 0; d = z | y == -1 ? 1 : y; r = x - div_native(x, d) * d; "
                                            "z ? x : r"));
}

/* The remainder has the sign of y. */
static uint32_t vc__lower_mod(vc__lowering *s, const vc__node *n) {
    if (vc__is_float(n->type)) return vc__lower_float_mod(s, n);
    if (!vc__is_signed(n->type)) return vc__make_binary(s, VC__OP_REM, n->a[0], n->a[1]);
    return vc__by_rule(VC__RULE(mod_signed, "r = rem(x, y); r + (r != 0 & (r ^ y) < 0 ? y : 0)"));
}

/* ---- arithmetic ---- */

static uint32_t vc__lower_abs(vc__lowering *s, const vc__node *n) {
    if (vc__is_unsigned(n->type)) return n->a[0];
    return vc__is_float(n->type) || !vc__is_c(s->target) ? VC__NIL : vc__by_rule(VC__RULE(abs, "x < 0 ? -x : x"));
}

/* The sign of NaN is 0; GLSL.std.450 does not define it. */
static uint32_t vc__lower_sign(vc__lowering *s, const vc__node *n) {
    if (vc__is_signed(n->type) && !vc__is_c(s->target)) return VC__NIL;
    if (vc__is_unsigned(n->type)) return vc__by_rule(VC__RULE(sign_unsigned, "0 < x ? 1 : 0"));
    return vc__by_rule(VC__RULE(sign, "z = T(0); r = x < z ? -1 : z; z < x ? 1 : r"));
}

/* SPIR-V and C have functions that ignore NaN. In GLSL, the minimum of x and y is x if it is less or if y is NaN. C has
   no minimum of integers. */
static uint32_t vc__lower_min_max(vc__lowering *s, const vc__node *n) {
    bool max = n->op == VC__OP_MAX;
    if (!vc__is_float(n->type) && vc__is_c(s->target))
        return vc__by_rule(max ? VC__RULE(max_of_ints, "y < x ? x : y") : VC__RULE(min_of_ints, "x < y ? x : y"));
    if (!vc__is_float(n->type) || !vc__is_glsl(s->target) || s->kernel->desc.fast) return VC__NIL;
    return vc__by_rule(max ? VC__RULE(max_glsl, "y < x | ~is_number(y) ? x : y")
                           : VC__RULE(min_glsl, "x < y | ~is_number(y) ? x : y"));
}

static uint32_t vc__lower_by_rule(vc__lowering *s, const vc__node *n) {
    (void)s;
    switch (n->op) {
    /* for integers, which have no fma, for floats if vc__loses_nan is true, and for f16 in C */
    case VC__OP_FMA: return vc__by_rule(VC__RULE(fma, "x * y + z"));
    case VC__OP_CLAMP: return vc__by_rule(VC__RULE(clamp, "min(max(x, y), z)"));
    case VC__OP_MIX: return vc__by_rule(VC__RULE(mix, "r = 1 - z; x * r + y * z"));
    case VC__OP_STEP: return vc__by_rule(VC__RULE(step, "y < x ? 0 : 1"));
    default: return vc__by_rule(VC__RULE(fract, "x - floor(x)"));
    }
}

/* trunc and round of an f64, by floor; see VC_FEATURE_F64_ROUND. Rounds to nearest even: up if more than 1/2 was cut
   off, or exactly 1/2 from an odd number. The difference is exact. For infinity it is NaN, so nothing is added. */
static uint32_t vc__lower_round(vc__lowering *s, const vc__node *n) {
    if (vc__kind(n->type) != VC_F64 || !(s->kernel->desc.machine.missing_features & VC_FEATURE_F64_ROUND)
        || vc__is_c(s->target))
        return VC__NIL;
    if (n->op == VC__OP_TRUNC) return vc__by_rule(VC__RULE(trunc, "copy_sign(floor(abs(x)), x)"));
    return vc__by_rule(VC__RULE(round, "m = abs(x); w = floor(m); h = w * 0.5; o = floor(h) != h; m = m - w; "
                                       "o = m == 0.5 & o; o = 0.5 < m | o; copy_sign(o ? w + 1 : w, x)"));
}

/* The product of the first components, to which the others are added by fma, in order. */
static uint32_t vc__lower_dot(vc__lowering *s, const vc__node *n) {
    vc_type type = n->type;
    uint32_t x = n->a[0], y = n->a[1], components = vc__components(vc__lowered_type(s, x)), r = VC__NIL;
    if (components == 1) return vc__make_binary(s, VC__OP_MUL, x, y);
    for (uint32_t i = 0; i < components; i++) {
        uint32_t a = vc__make(s, VC__OP_COMPONENT, type, x, VC__NIL, VC__NIL, i);
        uint32_t b = vc__make(s, VC__OP_COMPONENT, type, y, VC__NIL, VC__NIL, i);
        r = vc__make(s, i ? VC__OP_FMA : VC__OP_MUL, type, a, b, r, 0);
    }
    return r;
}

/* CUDA C cannot query texture and surface objects: the number of levels and the size of the first level are implicit
   arguments. So is the size of a texel buffer in OpenCL C. */
static uint32_t vc__lower_image_query(vc__lowering *s, const vc__node *n) {
    uint32_t object = vc__lowered_node(s, n->a[0])->x, level = n->a[1], count = vc__components(n->type), parts[3];
    uint32_t dim = s->kernel->object[object].image.dim;
    if (vc__is_cuda(s->target) && vc__lowered_node(s, n->a[0])->op == VC__OP_IMAGE_AT) {
        vc__fail_call(s->kernel, vc__op_name[n->op], "image '%s' is an array, whose elements have no size and no "
                      "number of levels in CUDA C; pass them in a buffer", s->kernel->object[object].name);
        return VC__NIL;
    }
    if (!vc__is_cuda(s->target) && (dim != VC_DIM_BUFFER || !vc__is_opencl(s->target))) return VC__NIL;
    if (n->op == VC__OP_IMAGE_LEVELS)
        return vc__make_raw(s, VC__OP_IMPLICIT, VC_U32, VC_IMPLICIT_SHAPE, object, 3, 0);
    if (level != VC__NIL) level = vc__make_cast(s, VC_U32, level);
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = vc__make_raw(s, VC__OP_IMPLICIT, VC_U32, VC_IMPLICIT_SHAPE, object, i, 0);
        if (level == VC__NIL || vc__has_zero(s, level) || (vc__dims[dim].layers && i + 1 == count)) continue;
        parts[i] = vc__rule_of(s, VC__RULE(size_of_level, "max(x >> y, 1)"), parts[i], level);
    }
    return count == 1 ? parts[0] : vc__make_vec(s, n->type, parts, count);
}

/* Indices into buffers (a[2]) that are accessed by pointers have 64 bits, all others 32. */
static uint32_t vc__lower_index(vc__lowering *s, const vc__node *n) {
    bool wide = n->a[2] && (s->buffers == VC_BUFFERS_ADDRESS || vc__is_c(s->target));
    const uint64_t factor = n->x;
    return vc__rule_numbered(s, wide ? VC_U64 : VC_U32,
                             n->a[1] == VC__NIL ? VC__RULE(index, "[x y n] T(x) * n")
                                                : VC__RULE(index_sum, "[x y n] T(x) * n + T(y)"),
                             n->a[0], n->a[1], &factor, 1);
}

static uint32_t vc__scalarize_extract(vc__lowering *s, const vc__node *n);

/* An index out of range extracts component 0. */
static uint32_t vc__lower_extract(vc__lowering *s, const vc__node *n) {
    /* vc__scalarize is not called for nodes that lowering rules add */
    if (vc__is_c(s->target)) return vc__scalarize_extract(s, n);
    return vc__rule_with(s, n, VC__RULE(extract, "[x y n] i = U(y); native(x, u32(i < n ? i : 0))"),
                         vc__components(vc__lowered_type(s, n->a[0])));
}

/* The count, of any integer type, is taken modulo the width and cast to the type of x. */
static uint32_t vc__lower_shift_count(vc__lowering *s, const vc__node *n) {
    uint32_t width = vc__bits(vc__kind(n->type));
    uint64_t bits;
    if (vc__lowered_type(s, n->a[1]) == n->type && vc__const_bits(s, n->a[1], &bits) && bits < width) return VC__NIL;
    return vc__rule_with(s, n, VC__RULE(shift, "[x y n] native(x, T(y & n))"), width - 1);
}

static uint32_t vc__lower_rotate(vc__lowering *s, const vc__node *n) {
    if (vc__is_opencl(s->target) || (vc__is_cuda(s->target) && vc__bits(vc__kind(n->type)) == 32)) return VC__NIL;
    return vc__by_rule(VC__RULE(rotate, "x << y | x >> -y"));
}

static bool vc__is_by_8(const vc__lowering *s, const vc__node *n, uint32_t shift) {
    uint64_t count = 0;
    return n->op == shift && vc__is_const(s, n->a[1]) && vc__const_bits(s, n->a[1], &count) && count == 8;
}

/* Whether a node is a shift by 8, possibly masked. */
static bool vc__is_shift_by_8(const vc__lowering *s, uint32_t number, uint32_t shift) {
    const vc__node *n = vc__lowered_node(s, number);
    if (n->op != VC__OP_AND) return vc__is_by_8(s, n, shift);
    return vc__is_by_8(s, vc__lowered_node(s, n->a[0]), shift) || vc__is_by_8(s, vc__lowered_node(s, n->a[1]), shift);
}

/* NVIDIA's driver 580 miscompiles the or (or xor) of a byte swap of u16. An addition is equal, because no bit is set in
   both operands. */
static uint32_t vc__lower_or(vc__lowering *s, const vc__node *n) {
    if (vc__kind(n->type) != VC_U16) return VC__NIL;
    for (uint32_t i = 0; i < 2; i++)
        if (vc__is_shift_by_8(s, n->a[i], VC__OP_SHL) && vc__is_shift_by_8(s, n->a[1 - i], VC__OP_SHR))
            return vc__make_raw(s, VC__OP_ADD, n->type, n->a[0], n->a[1], VC__NIL, 0);
    return VC__NIL;
}

/* ---- bits ---- */

/* Whether the target has an instruction or a text for an operation on the kind of `type`. */
static bool vc__is_native(const vc__lowering *s, uint16_t op, vc_type type) {
    uint32_t column = vc__kinds[vc__kind(type)].column;
    if (vc__is_glsl(s->target)) return vc__op_text(op, VC__TEXT_GLSL + column) != NULL;
    if (vc__is_cuda(s->target)) return vc__op_text(op, VC__TEXT_CUDA + column) != NULL;
    if (vc__is_opencl(s->target)) return vc__op_text(op, VC__TEXT_OPENCL + column) != NULL;
    return s->target == VC_TARGET_SPIRV && vc__op[op].spirv[column] != 0;
}

VC__NOINLINE static uint32_t vc__make_binary_const(vc__lowering *s, uint16_t op, uint32_t a, uint64_t bits) {
    uint32_t c = vc__make_const(s, vc__lowered_type(s, a), bits);
    return vc__make_binary(s, op, a, c);
}

static uint32_t vc__lower_popcount(vc__lowering *s, const vc__node *n) {
    bool native = vc__is_native(s, VC__OP_POPCOUNT, VC_I32);
    if (vc__kind(n->type) == VC_I32 && native) return VC__NIL;
    if (vc__bits(vc__kind(n->type)) == 64)
        return vc__by_rule(VC__RULE(popcount_of_64, "T(popcount(low(x)) + popcount(high(x)))"));
    return vc__by_rule(native ? VC__RULE(popcount_native, "T(popcount(i32(low(x))))")
                              : VC__RULE(popcount, "T(popcount32(low(x)))"));
}

static uint32_t vc__lower_bit_reverse(vc__lowering *s, const vc__node *n) {
    uint32_t width = vc__bits(vc__kind(n->type));
    if (width == 32 && vc__is_native(s, VC__OP_BIT_REVERSE, n->type)) return VC__NIL;
    if (width == 64)
        return vc__by_rule(VC__RULE(bit_reverse_of_64, "h = high(x); l = u64(reverse32(low(x))) << 32; "
                                                       "T(l | u64(bit_reverse(h)))"));
    return vc__by_rule(width == 32   ? VC__RULE(bit_reverse_of_32, "T(reverse32(low(x)))")
                       : width == 16 ? VC__RULE(bit_reverse_of_16, "T(reverse32(low(x)) >> 16)")
                                     : VC__RULE(bit_reverse_of_8, "T(reverse32(low(x)) >> 24)"));
}

/* x & -x has only the lowest 1 of x. */
static uint32_t vc__lower_find_lsb(vc__lowering *s, const vc__node *n) {
    if (vc__bits(vc__kind(n->type)) == 32 && vc__is_native(s, VC__OP_FIND_LSB, vc__lowered_type(s, n->a[0])))
        return VC__NIL;
    return vc__by_rule(VC__RULE(find_lsb, "x = U(x); find_msb(x & -x)"));
}

static uint32_t vc__lower_find_msb(vc__lowering *s, const vc__node *n) {
    vc_type source = vc__lowered_type(s, n->a[0]);
    uint32_t width = vc__bits(vc__kind(n->type)), x = n->a[0];
    if (width == 32 && vc__is_native(s, VC__OP_FIND_MSB, source)) return VC__NIL;
    if (vc__is_signed(source)) x = vc__rule_of(s, VC__RULE(magnitude, "x ^ x >> top"), x, x);
    const uint32_t rule = width < 64
        ? VC__RULE(find_msb, "T(msb32(low(x)))")
        : VC__RULE(find_msb_of_64, "r = msb32(low(x)); u = high(x); c = u != 0; T(c ? find_msb(u) + 32 : r)");
    return vc__rule_numbered(s, n->type, rule, x, x, NULL, 0);
}

static uint32_t vc__lower_mul_hi(vc__lowering *s, const vc__node *n) {
    uint32_t width = vc__bits(vc__kind(n->type));
    bool is_signed = vc__is_signed(n->type);
    if (width < 32)
        return vc__rule_with(s, n, is_signed ? VC__RULE(mul_hi_narrow_signed, "[x y n] T(i32(x) * i32(y) >> n)")
                                             : VC__RULE(mul_hi_narrow, "[x y n] T(u32(x) * u32(y) >> n)"), width);
    if (vc__is_native(s, VC__OP_MUL_HI, n->type)) return VC__NIL;
    if (!is_signed) return vc__by_rule(VC__RULE_unsigned_mul_hi);
    /* the unsigned result, minus the other operand for each negative operand */
    return vc__by_rule(VC__RULE(mul_hi_signed, "a = x >> top & y; b = y >> top & x; "
                                               "T(unsigned_mul_hi(U(x), U(y))) - a - b"));
}

/* The carry is 1 if the sum is less than an operand; the borrow is 1 if a < b. */
static uint32_t vc__lower_carry(vc__lowering *s, const vc__node *n) {
    if (s->target == VC_TARGET_SPIRV && vc__kind(n->type) == VC_U32) return VC__NIL;
    return vc__by_rule(n->op == VC__OP_ADD_CARRY ? VC__RULE(add_carry, "T(x + y < x)")
                                                 : VC__RULE(sub_borrow, "T(x < y)"));
}

/* Swaps adjacent bits, then pairs of bits, nibbles, bytes and halves. */
static uint32_t vc__make_reverse32(vc__lowering *s, uint32_t x) {
    static const uint64_t mask[5] = { 0x55555555u, 0x33333333u, 0x0f0f0f0fu, 0x00ff00ffu, 0xffffu };
    if (vc__is_native(s, VC__OP_BIT_REVERSE, VC_U32)) return vc__make_unary(s, VC__OP_BIT_REVERSE, x);
    for (uint32_t i = 0; i < 5; i++) {
        uint64_t numbers[2] = { mask[i], (uint64_t)1 << i };
        x = vc__rule_numbered(s, vc__lowered_type(s, x),
                              VC__RULE(reverse_step, "[x y m n] a = x >> n & m; (x & m) << n | a"), x, x, numbers, 2);
    }
    return x;
}

/* The index of the highest 1: sets all bits below it and counts the ones. */
static uint32_t vc__make_msb32(vc__lowering *s, uint32_t x) {
    if (vc__is_native(s, VC__OP_FIND_MSB, VC_U32))
        return vc__rule_of(s, VC__RULE(msb32_native, "find_msb(x)"), x, x);
    return vc__rule_of(s, VC__RULE(msb32, "x = x | x >> 1; x = x | x >> 2; x = x | x >> 4; x = x | x >> 8; "
                                          "x = x | x >> 16; i32(popcount32(x)) - 1"), x, x);
}

/* ---- CUDA C: both halves of products, sums and differences of u32, computed as one 64-bit number, which the compiler
   turns into carry chains ----

   With high(w) and low(w) as the halves of a 64-bit w, and modulo 2^32:
       mul_hi(a, b) = high(a * b)        add_carry(a, b) = high(a + b)           sub_borrow(a, b) = -high(a - b)
       low(w) + t = low(w + t)           high(w) + add_carry(low(w), t) = high(w + t)
       low(w) - t = low(w - t)           -high(w) + sub_borrow(low(w), t) = -high(w - t)
   The last two lines turn arithmetic that was recorded word by word into 64-bit sums and differences. */

static uint32_t vc__make_low_word(vc__lowering *s, uint32_t w) { return vc__make_cast(s, VC_U32, w); }

static uint32_t vc__make_high_word(vc__lowering *s, uint32_t w) {
    return vc__rule_of(s, VC__RULE_high, w, w);
}

/* The 64-bit number whose low half is x; VC__NIL: none. */
static uint32_t vc__source_of_low_word(const vc__lowering *s, uint32_t x) {
    const vc__node *n = vc__lowered_node(s, x);
    return n->op == VC__OP_CAST && n->type == VC_U32 && vc__lowered_node(s, n->a[0])->type == VC_U64 ? n->a[0]
                                                                                                     : VC__NIL;
}

/* The 64-bit number whose high half is x; VC__NIL: none. */
static uint32_t vc__source_of_high_word(const vc__lowering *s, uint32_t x) {
    uint32_t shifted = vc__source_of_low_word(s, x);
    const vc__node *n = vc__lowered_node(s, shifted);
    uint64_t count = 0;
    bool is_high = shifted != VC__NIL && n->op == VC__OP_SHR && vc__const_bits(s, n->a[1], &count) && count == 32;
    return is_high ? n->a[0] : VC__NIL;
}

/* Whether a 64-bit number is less than 2^32: a cast u32 or a constant. */
static bool vc__is_word(const vc__lowering *s, uint32_t w) {
    const vc__node *n = vc__lowered_node(s, w);
    return n->op == VC__OP_CAST ? vc__lowered_node(s, n->a[0])->type == VC_U32 : n->op == VC__OP_CONST && !n->a[1];
}

/* Returns the 64-bit number whose low half is x if `number op word` can usually be computed in 64 bits, with the carry
   or borrow. ADD: the number is a product, a product plus a word, or a sum of two words. SUB: a difference of two
   words. Otherwise returns VC__NIL. */
static uint32_t vc__sum_to_extend(const vc__lowering *s, uint16_t op, uint32_t x) {
    uint32_t w = vc__source_of_low_word(s, x);
    const vc__node *n = vc__lowered_node(s, w);
    if (w == VC__NIL || (op == VC__OP_ADD && n->op == VC__OP_MUL)) return w;
    if (n->op != op || !vc__is_word(s, n->a[1])) return VC__NIL;
    return vc__is_word(s, n->a[0]) || (op == VC__OP_ADD && vc__lowered_node(s, n->a[0])->op == VC__OP_MUL) ? w
                                                                                                             : VC__NIL;
}

/* Whether two 64-bit numbers are known to have the same low half. `depth` limits the recursion. */
static bool vc__has_same_low_word(const vc__lowering *s, uint32_t a, uint32_t b, uint32_t depth) {
    const vc__node *m = vc__lowered_node(s, a), *n = vc__lowered_node(s, b);
    if (a == b) return true;
    if (a == VC__NIL || b == VC__NIL || !depth) return false;
    uint32_t inner = m->op == VC__OP_CAST ? vc__source_of_low_word(s, m->a[0]) : VC__NIL;
    if (inner != VC__NIL) return vc__has_same_low_word(s, inner, b, depth - 1);
    inner = n->op == VC__OP_CAST ? vc__source_of_low_word(s, n->a[0]) : VC__NIL;
    if (inner != VC__NIL) return vc__has_same_low_word(s, a, inner, depth - 1);
    return m->op == n->op && (m->op == VC__OP_ADD || m->op == VC__OP_SUB) && m->a[1] == n->a[1]
           && vc__has_same_low_word(s, m->a[0], n->a[0], depth - 1);
}

/* w op word. If w is a product plus a word, the two words are added first. */
static uint32_t vc__make_extended_sum(vc__lowering *s, uint16_t op, uint32_t w, uint32_t word) {
    const vc__node *n = vc__lowered_node(s, w);
    uint32_t product = n->a[0];
    if (op != VC__OP_ADD || n->op != VC__OP_ADD || vc__lowered_node(s, product)->op != VC__OP_MUL
        || !vc__is_word(s, n->a[1]))
        return vc__make_binary(s, op, w, word);
    word = vc__make_binary(s, VC__OP_WORD_SUM, n->a[1], word);
    return vc__make_binary(s, VC__OP_ADD, product, word);
}

/* a op b in 64 bits. `extend`: if a is the low half of a 64-bit number that b can extend, uses that number instead of
   a. */
static uint32_t vc__make_wide(vc__lowering *s, uint16_t op, uint32_t a, uint32_t b, bool extend) {
    uint32_t from = extend ? vc__sum_to_extend(s, op, a) : VC__NIL;
    if (from == VC__NIL) from = vc__make_cast(s, VC_U64, a);
    uint32_t to = vc__make_cast(s, VC_U64, b);
    return vc__make_extended_sum(s, op, from, to);
}

/* Returns high(w) plus a carry out of low(w), or -high(w) plus a borrow; VC__NIL if high and carry do not have these
   forms. */
static uint32_t vc__make_carry_sum(vc__lowering *s, uint32_t high, uint32_t carry) {
    bool subtracts = vc__lowered_node(s, high)->op == VC__OP_NEG && vc__lowered_node(s, carry)->op == VC__OP_NEG;
    uint32_t w = vc__source_of_high_word(s, subtracts ? vc__lowered_node(s, high)->a[0] : high);
    uint32_t sum = vc__source_of_high_word(s, subtracts ? vc__lowered_node(s, carry)->a[0] : carry);
    uint16_t op = subtracts ? VC__OP_SUB : VC__OP_ADD;
    if (w == VC__NIL || sum == VC__NIL || vc__lowered_node(s, sum)->op != op) return VC__NIL;
    for (uint32_t i = 0; i < (subtracts ? 1u : 2u); i++) {
        uint32_t part = vc__lowered_node(s, sum)->a[i];
        if (vc__lowered_node(s, part)->op != VC__OP_CAST || !vc__has_same_low_word(s, part, w, 8)) continue;
        part = vc__lowered_node(s, sum)->a[1 - i];
        w = vc__make_high_word(s, vc__make_extended_sum(s, op, w, part));
        return subtracts ? vc__make_unary(s, VC__OP_NEG, w) : w;
    }
    return VC__NIL;
}

/* As vc__make_carry_sum, but `carry` may also be the sum of two carries, in either order. */
static uint32_t vc__make_carries_sum(vc__lowering *s, uint32_t high, uint32_t carry) {
    uint32_t r = vc__make_carry_sum(s, high, carry), part[2];
    if (r != VC__NIL || vc__lowered_node(s, carry)->op != VC__OP_ADD) return r;
    for (uint32_t i = 0; i < 2; i++) part[i] = vc__lowered_node(s, carry)->a[i];
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t first = vc__make_carry_sum(s, high, part[i]);
        r = first == VC__NIL ? VC__NIL : vc__make_carry_sum(s, first, part[1 - i]);
        if (r != VC__NIL) return r;
    }
    return VC__NIL;
}

/* Whether a word is known to be 0 or 1: a constant, a masked bit, or the carry or borrow of two words and possibly a
   third one that is itself known to be 0 or 1. */
static bool vc__is_bit(const vc__lowering *s, uint32_t x) {
    uint32_t w, sum;
    uint64_t bits;
    for (uint32_t depth = 0; depth < 64; depth++) { /* longer chains are computed word by word */
        const vc__node *n = vc__lowered_node(s, x);
        uint16_t op = n->op == VC__OP_NEG ? VC__OP_SUB : VC__OP_ADD;
        if (n->op == VC__OP_CONST || n->op == VC__OP_AND)
            return vc__const_bits(s, n->op == VC__OP_AND ? n->a[1] : x, &bits) && bits < 2;
        w = vc__source_of_high_word(s, op == VC__OP_SUB ? n->a[0] : x);
        n = vc__lowered_node(s, w);
        if (n->op != op || !vc__is_word(s, n->a[1])) return false;
        sum = n->a[0];
        if (vc__is_word(s, sum)) return true;
        const vc__node *from = vc__lowered_node(s, sum);
        if (from->op != op || !vc__is_word(s, from->a[0]) || !vc__is_word(s, from->a[1])) return false;
        if (vc__lowered_node(s, n->a[1])->op == VC__OP_CONST) return vc__lowered_node(s, n->a[1])->a[0] < 2;
        x = vc__lowered_node(s, n->a[1])->a[0];
    }
    return false;
}

/* Lowers `a op b` if one operand is the high word of a 64-bit number and the other one a carry or a sum of two
   carries. `or` and `xor` of carries equal their sum if that is 0 or 1. Otherwise returns VC__NIL. */
static uint32_t vc__lower_carry_sum(vc__lowering *s, uint16_t op, uint32_t a, uint32_t b) {
    uint32_t r = vc__make_carries_sum(s, a, b);
    if (r == VC__NIL) r = vc__make_carries_sum(s, b, a);
    return op == VC__OP_ADD || (r != VC__NIL && vc__is_bit(s, r)) ? r : VC__NIL;
}

/* Lowers a sum of two words to the low half of a 64-bit sum. Extends b instead of a if b is a product, or if only b
   can be extended. If neither can be, the order is kept, so that ADD and ADD_CARRY share one 64-bit sum. */
static uint32_t vc__lower_low_sum(vc__lowering *s, uint32_t a, uint32_t b) {
    uint32_t extendable = vc__sum_to_extend(s, VC__OP_ADD, b);
    bool swap = vc__lowered_node(s, extendable)->op == VC__OP_MUL
                || (extendable != VC__NIL && vc__sum_to_extend(s, VC__OP_ADD, a) == VC__NIL);
    return vc__make_low_word(s, vc__make_wide(s, VC__OP_ADD, swap ? b : a, swap ? a : b, true));
}

/* Lowers a node of the tape whose operands are already lowered. `wide`: both halves of the result are used. Returns
   VC__NIL if the node is not part of multi-word arithmetic and is to be lowered as on other targets. */
static uint32_t vc__lower_wide(vc__lowering *s, const vc__node *n, bool wide) {
    uint32_t a = n->a[0], b = n->a[1], r;
    uint64_t bits;
    if (n->type != VC_U32 || s->kernel->desc.machine.missing_features & VC_FEATURE_I64) return VC__NIL;
    /* operations with a constant 0 are simplified later */
    if ((vc__const_bits(s, a, &bits) || vc__const_bits(s, b, &bits)) && !bits) return VC__NIL;
    switch (n->op) {
    case VC__OP_MUL_HI: return wide ? vc__make_high_word(s, vc__make_wide(s, VC__OP_MUL, a, b, false)) : VC__NIL;
    case VC__OP_ADD_CARRY: return vc__make_high_word(s, vc__make_wide(s, VC__OP_ADD, a, b, false));
    case VC__OP_SUB_BORROW:
        return vc__make_unary(s, VC__OP_NEG, vc__make_high_word(s, vc__make_wide(s, VC__OP_SUB, a, b, false)));
    case VC__OP_MUL: return wide ? vc__make_low_word(s, vc__make_wide(s, VC__OP_MUL, a, b, false)) : VC__NIL;
    case VC__OP_SUB: return wide ? vc__make_low_word(s, vc__make_wide(s, VC__OP_SUB, a, b, true)) : VC__NIL;
    case VC__OP_ADD:
        r = vc__lower_carry_sum(s, n->op, a, b);
        return r == VC__NIL && wide ? vc__lower_low_sum(s, a, b) : r;
    case VC__OP_OR: case VC__OP_XOR: return vc__lower_carry_sum(s, n->op, a, b);
    default: return VC__NIL;
    }
}

/* ---- dot products of bytes ---- */

static uint32_t vc__dot_rule(uint32_t op) {
    return op == VC__OP_DOT_UU ? VC__RULE_dot_unsigned : op == VC__OP_DOT_II ? VC__RULE_dot_signed : VC__RULE_dot_mixed;
}

/* DOT_II for DOT_II_SAT; others are returned unchanged. */
static uint32_t vc__dot_without_sum(uint32_t op) {
    return op >= VC__OP_DOT_II_SAT ? op - VC__OP_DOT_II_SAT + VC__OP_DOT_II : op;
}

/* Without a native operation (dp4a in CUDA C), and for constants, which are folded then, a saturating dot product is a
   dot product and a saturating addition, and a dot product is computed byte by byte. */
static uint32_t vc__lower_dot_4x8(vc__lowering *s, const vc__node *n) {
    uint32_t a = n->a[0], b = n->a[1], sum = n->a[2], op = vc__dot_without_sum(n->op);
    bool missing = s->target == VC_TARGET_SPIRV && s->kernel->desc.machine.missing_features & VC_FEATURE_DOT_4X8;
    uint64_t bits;
    bool constant = vc__const_bits(s, a, &bits) && vc__const_bits(s, b, &bits);
    if (!constant && !missing && vc__is_native(s, n->op, VC_U32)) return VC__NIL;
    if (op == n->op) return vc__by_rule(vc__dot_rule(op));
    a = vc__make(s, (uint16_t)op, n->type, a, b, VC__NIL, 0);
    return vc__rule_of(s, vc__is_unsigned(n->type) ? VC__RULE_add_sat_unsigned : VC__RULE_add_sat, a, sum);
}

/* ---- packing ---- */

static uint32_t vc__make_rounded(vc__lowering *s, uint32_t x, uint32_t to);

/* Rounds to nearest even. A `fast` kernel uses the target's operation, which may round in another way. */
static uint32_t vc__lower_pack_half(vc__lowering *s, const vc__node *n) {
    if (s->kernel->desc.fast && vc__is_native(s, VC__OP_PACK_HALF, VC_F32)) return VC__NIL;
    return vc__rule(s, n,
                    vc__is_c(s->target)
                        ? VC__RULE(pack_half_c, "a = u32(bits(f16(x.0))); a | u32(bits(f16(x.1))) << 16")
                        : VC__RULE(pack_half, "x = half_bits(x); a = x.0; a | x.1 << 16"));
}

/* Constants are folded here, because lavapipe (Mesa 22.3) unpacks infinity and NaN as 0. */
static uint32_t vc__lower_unpack_half(vc__lowering *s, const vc__node *n) {
    uint32_t x = n->a[0], part[2];
    uint64_t known, bits;
    vc__real r;
    if (vc__const_bits(s, x, &known)) {
        for (uint32_t i = 0; i < 2; i++) {
            (void)vc__unpack(VC_F16, known >> 16 * i & 0xffffu, &r);
            (void)vc__pack(VC_F32, &r, &bits);
            part[i] = vc__make_const(s, VC_F32, bits);
        }
        return vc__make_vec(s, VC_F32X2, part, 2);
    }
    if (vc__lowered_node(s, x)->op == VC__OP_PACK_HALF)
        return vc__make_rounded(s, vc__lowered_node(s, x)->a[0], VC_F16);
    bool missing = s->kernel->desc.machine.missing_features & VC_FEATURE_UNPACK_HALF && !vc__is_c(s->target);
    if (!missing && vc__is_native(s, VC__OP_UNPACK_HALF, VC_U32)) return VC__NIL;
    return vc__by_rule(missing ? VC__RULE(unpack_half_bits, "vec(half_value(x & 0xffff), half_value(x >> 16))")
                               : VC__RULE(unpack_half, "vec(f32(real(u16(x))), f32(real(u16(x >> 16))))"));
}

/* ---- casts ---- */

/* The range to which a float is clamped before it is cast to an integer, as bit patterns. beyond: the smallest power of
   two that does not fit. exact: `high` equals the largest integer. */
typedef struct vc__range { uint64_t low, high, beyond; bool exact; } vc__range;

static vc__range vc__cast_range(vc_type from, vc_type to) {
    uint32_t fraction = vc__kinds[vc__kind(from)].fraction, width = vc__bits(vc__kind(from));
    uint32_t bits = vc__bits(vc__kind(to));
    uint64_t bias = vc__ones(vc__kinds[vc__kind(from)].exponent - 1u);
    uint32_t power = vc__is_signed(to) ? bits - 1 : bits; /* integers are less than 2^power */
    vc__range r;
    r.beyond = (bias + power) << fraction;
    r.low = vc__is_signed(to) ? r.beyond | (uint64_t)1 << (width - 1) : 0;
    r.exact = power <= fraction + 1;
    r.high = r.exact ? ((bias + power - 1) << fraction) | (vc__ones(power - 1) << (fraction - (power - 1)))
                     : r.beyond - 1;
    return r;
}

/* Whether a float is not NaN. Tests the bits of an f32, of an f64 if there are 64-bit integers, and of all types in C:
   drivers (NVIDIA, after an abs) and compiler options of the user may fold a comparison on the assumption that floats
   are not NaN. */
static uint32_t vc__make_is_number(vc__lowering *s, uint32_t x) {
    uint32_t kind = vc__kind(vc__lowered_type(s, x));
    bool bits = kind == VC_F32 || (kind == VC_F64 && !(s->kernel->desc.machine.missing_features & VC_FEATURE_I64));
    return vc__rule_of(s, bits || vc__is_c(s->target) ? VC__RULE(is_number_bits, "(bits(x) & positive) <= bits(inf)")
                                                      : VC__RULE(is_number, "x == x"), x, x);
}

/* Clamps x to a range; NaN becomes 0. For an unsigned type, the maximum with 0 already replaces NaN. */
static uint32_t vc__make_clamped_to_range(vc__lowering *s, vc_type type, uint32_t x, const vc__range *range) {
    const uint64_t numbers[2] = { range->low, range->high };
    return vc__rule_numbered(s, vc__lowered_type(s, x),
                             vc__is_signed(type)
                                 ? VC__RULE(clamped_signed, "[x y l h] c = min(max(x, l), h); is_number(x) ? c : 0")
                                 : VC__RULE(clamped, "[x y l h] min(max(x, l), h)"), x, x, numbers, 2);
}

/* middle: see vc__cast_intermediate_type */
static uint32_t vc__lower_cast_to_int(vc__lowering *s, vc_type type, vc_type middle, uint32_t x) {
    vc_type from = vc__lowered_type(s, x);
    vc__range r = vc__cast_range(from, type);
    uint32_t whole = vc__make_clamped_to_range(s, type, x, &r);
    whole = vc__make_raw(s, VC__OP_CAST, middle, whole, VC__NIL, VC__NIL, 0);
    if (middle != type) whole = vc__make_raw(s, VC__OP_CAST, type, whole, VC__NIL, VC__NIL, 0);
    if (r.exact) return whole;
    const uint64_t numbers[2] = { r.beyond, vc__ones(vc__bits(vc__kind(type)) - (vc__is_signed(type) ? 1 : 0)) };
    return vc__rule_numbered(s, type, VC__RULE(largest_beyond, "[x y b m] b <= x ? m : y"), x, whole, numbers, 2);
}

/* The intermediate type of a cast; `to` if it needs none: f32 between f16 and any integer (f32 represents all integers
   that do not overflow f16), else a 32-bit integer between a float and a narrower integer. Devices that only load and
   store narrow types convert f16 only to and from f32, and narrow integers only to and from 32-bit ones. */
static vc_type vc__cast_intermediate_type(vc_type from, vc_type to) {
    vc_type shape = to & 48u;
    bool a = vc__is_float(from), b = vc__is_float(to);
    if (a == b) return to;
    if (a && vc__kind(from) == VC_F16) return VC_F32 + shape;
    if (b && vc__kind(to) == VC_F16) return VC_F32 + shape;
    if (vc__bits(vc__kind(a ? to : from)) >= 32) return to;
    return (vc__is_signed(a ? to : from) ? VC_I32 : VC_U32) + shape;
}

/* ---- floats that are rounded to fewer bits ----
   NVIDIA's driver 580 removes a cast from f32 to f16 and back, even if other operations move the value in between; the
   value is then neither rounded nor does it overflow. Therefore a cast whose result is widened again is preceded by
   operations that round the value, so that removing the casts has no effect. */

/* Whether a cast to a float rounds: from a wider float, or from an integer to f16. */
static bool vc__is_narrowing(vc_type from, vc_type to) {
    return vc__is_float(to)
           && (vc__is_float(from) ? vc__kind(to) < vc__kind(from) : vc__kind(to) == VC_F16 && !vc__is_bool(from));
}

/* Whether the result of a cast from a float shows whether its operand was rounded: a cast to a wider float, or from f16
   to an integer (by way of f32). */
static bool vc__is_widening(vc_type from, vc_type to) {
    return vc__is_float(from)
           && (vc__is_float(to) ? vc__kind(to) > vc__kind(from) : vc__kind(from) == VC_F16 && !vc__is_bool(to));
}

/* Whether drivers compute an f16 operation in f32 and then narrow the result: quotients and the functions of
   GLSL.std.450. */
static bool vc__is_computed_in_f32(const vc__node *n) {
    const vc__op_info *op = &vc__op[n->op];
    return vc__kind(n->type) == VC_F16 && op->class_ == VC__PURE && op->operands <= 3
           && (n->op == VC__OP_DIV || op->spirv[3] >= VC__E(0));
}

/* The object to whose loads drivers may forward stored values; NULL: an image or a table. */
static vc__object *vc__accessed_object(const vc_kernel *k, const vc__node *access) {
    const vc__node *m = &k->node[access->a[0]];
    return m->op == VC__OP_VAR || m->op == VC__OP_ARRAY || m->op == VC__OP_SHARED || m->op == VC__OP_BUFFER
               ? &k->object[m->x]
               : NULL;
}

/* Marks a node whose value is widened. Casts that do not round need no mark. */
static void vc__mark_widened(vc_kernel *k, uint32_t number) {
    vc__node *n = &k->node[number];
    if (n->op != VC__OP_CAST || vc__is_narrowing(k->node[n->a[0]].type, n->type)) n->flags |= VC__NODE_WIDENED;
}

/* Marks the operands of a widened node that only moves them (select, min, vec, load, …). Returns true if the node is a
   load that is later on the tape than the loads found so far for its object. */
static bool vc__mark_moved(vc_kernel *k, const vc__node *n) {
    vc__object *o;
    uint32_t first = 0, end = 1, after = (uint32_t)(n - k->node) + 1;
    switch (n->op) {
    case VC__OP_VEC:
        for (uint32_t i = 0; i < n->a[1]; i++) vc__mark_widened(k, k->extra[n->a[0] + i]);
        return false;
    case VC__OP_LOAD:
        o = vc__accessed_object(k, n);
        if (!o || o->widened_load >= after) return false;
        o->widened_load = after;
        return true;
    case VC__OP_SELECT: first = 1; end = 3; break;
    case VC__OP_MIN: case VC__OP_MAX: end = 2; break;
    case VC__OP_CLAMP: end = 3; break;
    case VC__OP_COMPONENT: case VC__OP_EXTRACT: case VC__OP_NEG: case VC__OP_ABS: case VC__OP_BITCAST: break;
    default: return false;
    }
    for (uint32_t i = first; i < end; i++) vc__mark_widened(k, n->a[i]);
    return false;
}

/* Marks the casts on the tape whose results are widened, possibly after being moved. Operands precede their users,
   except for values that a variable carries through a loop, so the search is repeated while it finds further loads. */
static void vc__find_widened(vc_kernel *k) {
    bool again = true, loops = false;
    for (uint32_t i = 0; i < k->object_count; i++) k->object[i].widened_load = 0;
    for (uint32_t i = 0; i < k->count; i++)
        loops = loops || k->node[i].op == VC__OP_FOR || k->node[i].op == VC__OP_LOOP;
    while (again) {
        again = false;
        for (uint32_t i = k->count; i-- > 0;) {
            const vc__node *n = &k->node[i];
            const vc__object *o = n->op == VC__OP_STORE ? vc__accessed_object(k, n) : NULL;
            if (n->op == VC__OP_CAST && vc__is_widening(k->node[n->a[0]].type, n->type)) vc__mark_widened(k, n->a[0]);
            else if (vc__is_computed_in_f32(n))
                for (uint32_t j = 0; j < vc__op[n->op].operands; j++) vc__mark_widened(k, n->a[j]);
            else if (o && (loops ? o->widened_load > 0 : o->widened_load > i)) vc__mark_widened(k, n->a[2]);
            else if (n->flags & VC__NODE_WIDENED && vc__mark_moved(k, n)) again = true;
        }
    }
}

static uint64_t vc__power_bits(uint32_t kind, int power) {
    return (uint64_t)((int64_t)vc__ones(vc__kinds[kind].exponent - 1u) + power) << vc__kinds[kind].fraction;
}

/* Rounds a float like a cast to the narrower kind `to` and back, by operations on its bits: to nearest even, with
   infinities and subnormal numbers. */
static uint32_t vc__make_rounded(vc__lowering *s, uint32_t x, uint32_t to) {
    uint32_t kind = vc__kind(vc__lowered_type(s, x));
    uint32_t drop = vc__kinds[kind].fraction - (uint32_t)vc__kinds[to].fraction;
    int bias = vc__bias(to), least = 1 - bias - vc__kinds[to].fraction; /* 2^least: smallest subnormal of `to` */
    const uint64_t numbers[] = {
        drop, vc__ones(drop - 1), ~vc__ones(drop), vc__power_bits(kind, -least), vc__power_bits(kind, least),
        vc__power_bits(kind, 1 - bias),
        /* halfway from the largest number to the next power of two; f16: 65520 */
        vc__power_bits(kind, bias + 1) - ((uint64_t)1 << (drop - 1))
    };
    return vc__rule_numbered(
        s, vc__lowered_type(s, x),
        VC__RULE(rounded, "[x y d h k u v n l] b = bits(x); m = b & positive; s = b ^ m; o = m >> d & 1; "
                          "r = m + h + o & k; q = bits(round(real(m) * u) * v); r = m < n ? q : r; c = l <= m; "
                          "i = bits(inf); r = c ? i : r; r = i < m ? m : r; real(r | s)"),
        x, x, numbers, 7);
}

/* Rounds an f64 to f32 with rounding to odd, so that rounding the result to f16 equals rounding the f64 to f16: some
   devices convert f64 to f16 by way of f32. */
static uint32_t vc__make_rounded_to_odd(vc__lowering *s, uint32_t x) {
    vc_type type = vc__lowered_type(s, x);
    /* 29 bits are dropped; the sum carries if any of them was set */
    x = vc__rule_of(s, VC__RULE(rounded_to_odd, "b = bits(x); r = (b & 0x1fffffff) + 0x1fffffff; "
                                                "real((b | r) & 0xffffffffe0000000)"), x, x);
    return vc__make_raw(s, VC__OP_CAST, VC_F32 + (type & 48u), x, VC__NIL, VC__NIL, 0);
}

/* x of a lowered cast: its operand is rounded to the narrower type, so a later cast to a wider type can use the
   operand. Before lowering, x is VC__NODE_WIDENED or 0. */
enum { VC__CAST_ROUNDED = 1 };

/* widened: the result is cast to a wider float again, so the operand is rounded first. Returns VC__NIL to keep the
   cast. */
static uint32_t vc__lower_narrowing_cast(vc__lowering *s, vc_type type, uint32_t x, bool widened) {
    uint32_t from = vc__kind(vc__lowered_type(s, x)), to = vc__kind(type);
    if (vc__is_c(s->target) || (from == VC_F64 && s->kernel->desc.machine.missing_features & VC_FEATURE_I64)
        || (from - to == 1 && !widened))
        return VC__NIL;
    if (from - to == 2) x = vc__make_rounded_to_odd(s, x);
    if (widened) x = vc__make_rounded(s, x, to);
    return vc__make_raw(s, VC__OP_CAST, type, x, VC__NIL, VC__NIL, widened ? VC__CAST_ROUNDED : 0);
}

/* If x is the result of a narrowing cast, widens the operand of that cast. Otherwise returns VC__NIL. */
static uint32_t vc__lower_widening_cast(vc__lowering *s, vc_type type, uint32_t x) {
    const vc__node *cast = vc__lowered_node(s, x);
    uint32_t kind = vc__kind(cast->type), from = cast->a[0];
    if (vc__is_c(s->target) || !vc__is_float(type) || cast->op != VC__OP_CAST
        || !vc__is_narrowing(vc__lowered_type(s, from), cast->type))
        return VC__NIL;
    if (cast->x != VC__CAST_ROUNDED) {
        if (vc__kind(vc__lowered_type(s, from)) != VC_F32) return VC__NIL;
        from = vc__make_rounded(s, from, kind);
    }
    return vc__make_cast(s, type, from);
}

static uint32_t vc__lower_cast(vc__lowering *s, const vc__node *n) {
    vc_type type = n->type, from = vc__lowered_type(s, n->a[0]);
    uint32_t x = n->a[0], r;
    if (vc__kind(type) == vc__kind(from)) return x;
    if (vc__is_bool(type)) return vc__by_rule(VC__RULE(bool_cast, "x != 0"));
    if (vc__is_bool(from)) return vc__by_rule(VC__RULE(cast_bool, "x ? 1 : 0"));
    if (vc__is_narrowing(from, type) && vc__is_float(from))
        return vc__lower_narrowing_cast(s, type, x, n->x == VC__NODE_WIDENED);
    if (vc__is_widening(from, type)) {
        r = vc__lower_widening_cast(s, type, x);
        if (r != VC__NIL) return r;
    }
    vc_type middle = vc__cast_intermediate_type(from, type);
    if (vc__is_float(from) && !vc__is_float(type) && !vc__is_float(middle))
        return vc__lower_cast_to_int(s, type, middle, x);
    if (middle == type) return VC__NIL;
    x = vc__make_cast(s, middle, x);
    return vc__make(s, VC__OP_CAST, type, x, VC__NIL, VC__NIL, n->x); /* is lowered separately */
}

static uint32_t vc__lower_isnan(vc__lowering *s, const vc__node *n) {
    if (!vc__is_c(s->target)) return VC__NIL;
    return vc__rule_of(s, n->op == VC__OP_ISINF ? VC__RULE(isinf, "m = bits(x) & positive; m == bits(inf)")
                                                : VC__RULE(isnan, "m = bits(x) & positive; bits(inf) < m"),
                       n->a[0], n->a[0]);
}

/* ---- elementary functions of f16 and f32 ---- */

/* Whether x is zero or, if it is an f32, subnormal: some drivers compute the logarithm from the exponent bits without
   normalising subnormal numbers. */
static uint32_t vc__make_is_zero(vc__lowering *s, uint32_t x) {
    return vc__rule_of(s, vc__kind(vc__lowered_type(s, x)) == VC_F32 ? VC__RULE(is_zero_f32, "abs(x) < least")
                                                                     : VC__RULE(is_zero, "x == 0"), x, x);
}

/* log and log2: a subnormal f32 is replaced by 0, see vc__make_is_zero. */
static uint32_t vc__lower_log(vc__lowering *s, const vc__node *n) {
    if (vc__kind(n->type) == VC_F64) return vc__lower_math64(s, n);
    if (vc__kind(n->type) == VC_F16 || s->kernel->desc.fast || vc__is_c(s->target)) return VC__NIL;
    return vc__by_rule(VC__RULE(log, "native(is_zero(x) ? 0 : x)"));
}

static uint32_t vc__lower_in_f32(vc__lowering *s, const vc__node *n) {
    vc_type type = n->type, with = VC_F32 + (type & 48u);
    uint16_t op = n->op;
    uint32_t x = vc__make_cast(s, with, n->a[0]),
             y = vc__op[op].operands > 1 ? vc__make_cast(s, with, n->a[1]) : VC__NIL;
    x = vc__make(s, op, with, x, y, VC__NIL, 0);
    return vc__make_cast(s, type, x);
}

/* Some drivers return a number for NaN, because they compute atan by minimum and maximum. GLSL.std.450 leaves
   atan2(0, 0) undefined: atan2(0, y) is pi if the sign bit of y is set, else 0. The result has the sign of x. */
static uint32_t vc__lower_atan(vc__lowering *s, const vc__node *n) {
    if (vc__kind(n->type) == VC_F64) return vc__lower_math64(s, n);
    if (s->kernel->desc.fast || vc__is_c(s->target)) return VC__NIL;
    if (n->op == VC__OP_ATAN) return vc__by_rule(VC__RULE(atan, "c = x == x; r = native(x); c ? r : nan"));
    if (vc__kind(n->type) == VC_F16) return vc__lower_in_f32(s, n);
    return vc__by_rule(VC__RULE(atan2, "c = x == x & y == y; r = native(abs(x), y); "
                                       "v = ints(y) < 0 ? 0x40490fdb : 0; "
                                       "r = x == 0 ? v : r; s = ints(x) & 0x80000000; r = real(ints(r) | s); "
                                       "c ? r : nan"));
}

/* (e^(x/2))^2 / 2 -+ (e^(-x/2))^2 / 2: no intermediate result overflows unless the result does. */
static uint32_t vc__lower_sinh(vc__lowering *s, const vc__node *n) {
    if (vc__kind(n->type) == VC_F64) return vc__lower_math64(s, n);
    if (s->kernel->desc.fast || vc__is_c(s->target)) return VC__NIL;
    if (vc__kind(n->type) == VC_F16) return vc__lower_in_f32(s, n);
    return vc__by_rule(n->op == VC__OP_SINH
                           ? VC__RULE(sinh, "x = x * 0.5; e = exp(x); u = e * 0.5 * e; e = exp(-x); u - e * 0.5 * e")
                           : VC__RULE(cosh, "x = x * 0.5; e = exp(x); u = e * 0.5 * e; e = exp(-x); u + e * 0.5 * e"));
}

/* GLSL.std.450 leaves pow(x, y) undefined for x < 0, and for x = 0 with y <= 0. Drivers compute 2^(y log2(x)), so
   1^infinity and NaN^0 are not 1; lavapipe returns a number for NaN. */
static uint32_t vc__lower_pow(vc__lowering *s, const vc__node *n) {
    if (vc__kind(n->type) == VC_F64) return vc__lower_math64(s, n);
    if (s->kernel->desc.fast) return VC__NIL;
    if (vc__is_c(s->target))
        return vc__by_rule(VC__RULE(pow_c, "z = T(0); r = native(abs(x), y); x < z & y != z ? nan : r"));
    return vc__by_rule(VC__RULE(pow, "z = T(0); r = native(x, y); v = y < z ? inf : z; r = is_zero(x) ? v : r; "
                                     "r = z <= x & is_number(y) ? r : nan; o = T(1); y == z | x == o ? o : r"));
}

/* ---- memory ---- */

/* Whether a constant index is out of bounds. Element 0 is then accessed instead: the access may be in a branch that is
   never executed, but compilers of GLSL and C reject the index. */
static bool vc__is_outside(const vc__lowering *s, const vc__node *n) {
    const vc__node *index = vc__lowered_node(s, n->a[1]), *memory = vc__lowered_node(s, n->a[0]);
    if (index->op != VC__OP_CONST || memory->op == VC__OP_POINTER) return false;
    uint64_t bits = vc__widen(index->type, vc__bits_of(index));
    int64_t at = (int64_t)(bits + (uint64_t)(int64_t)(int32_t)n->x);
    if (memory->op == VC__OP_BUFFER) return s->buffers == VC_BUFFERS_BINDING && at < 0;
    return at < 0 || at >= s->kernel->object[memory->x].count;
}

/* Makes a memory access. If buffers are addresses, there is one POINTER per index; the constant offset stays in the
   access, because devices add it for free. A negative offset is split into a multiple of 1024, which is added to the
   pointer, and a non-negative rest, so that accesses with similar offsets use the same pointer. */
static uint32_t vc__make_access(vc__lowering *s, const vc__node *n, vc_type type, uint32_t value) {
    uint16_t op = n->op;
    uint32_t memory = n->a[0], index = n->a[1], x = n->x, base = 0;
    if (vc__is_outside(s, n)) { index = VC__NIL; x = 0; }
    if (vc__lowered_node(s, memory)->op == VC__OP_BUFFER && s->buffers == VC_BUFFERS_ADDRESS) {
        if (x >> 31) base = x & ~1023u;
        memory = vc__make(s, VC__OP_POINTER, vc__lowered_type(s, memory), memory, index, VC__NIL, base);
        index = VC__NIL;
    }
    return vc__make_raw(s, op, type, memory, index, value, x - base);
}

VC__NOINLINE static uint32_t vc__make_bitcast(vc__lowering *s, vc_type type, uint32_t a) {
    return vc__make(s, VC__OP_BITCAST, type, a, VC__NIL, VC__NIL, 0);
}

/* Floats whose memory is declared as integers are converted by bits. */
static uint32_t vc__lower_memory(vc__lowering *s, const vc__node *n) {
    vc_type type = n->type, memory_type = vc__lowered_type(s, n->a[0]);
    uint32_t value = n->op == VC__OP_STORE ? n->a[2] : VC__NIL;
    if (!vc__is_float(type) || !vc__is_int(memory_type)) {
        if ((vc__lowered_node(s, n->a[0])->op != VC__OP_BUFFER || s->buffers != VC_BUFFERS_ADDRESS)
            && !vc__is_outside(s, n))
            return VC__NIL;
        return vc__make_access(s, n, type, value);
    }
    if (value != VC__NIL) return vc__make_access(s, n, memory_type, vc__make_bitcast(s, memory_type, value));
    return vc__make_bitcast(s, type, vc__make_access(s, n, memory_type, value));
}

/* lavapipe (Mesa 22.3) crashes if the bits of a float are an operand of an atomic add, and, or, xor or compare-exchange
   on memory that is an address. Swapping the halves twice returns an integer with the same bits. */
static uint32_t vc__make_integer_bits(vc__lowering *s, uint32_t x) {
    const vc__node *n = vc__lowered_node(s, x);
    if (n->op != VC__OP_BITCAST || !vc__is_float(vc__lowered_type(s, n->a[0]))) return x;
    return vc__rule_of(s, VC__RULE(integer_bits, "x = U(x); x = x >> half | x << half; T(x >> half | x << half)"), x,
                       x);
}

/* Returns the value operand of an atomic, as vc__make_integer_bits if that is needed. For a compare-exchange it is a
   pair, of which only the expected value is replaced. */
static uint32_t vc__lower_atomic_value(vc__lowering *s, const vc__node *n, uint32_t value) {
    uint32_t part[2];
    uint16_t op = n->op;
    if (s->buffers != VC_BUFFERS_ADDRESS || vc__is_c(s->target) || vc__lowered_node(s, n->a[0])->op != VC__OP_BUFFER)
        return value;
    if (op == VC__OP_ATOMIC_ADD || (op >= VC__OP_ATOMIC_AND && op <= VC__OP_ATOMIC_XOR))
        return vc__make_integer_bits(s, value);
    if (op != VC__OP_ATOMIC_CAS) return value;
    for (uint32_t i = 0; i < 2; i++)
        part[i] = vc__make(s, VC__OP_COMPONENT, vc__scalar(vc__lowered_type(s, value)), value, VC__NIL, VC__NIL, i);
    uint32_t expected = vc__make_integer_bits(s, part[0]);
    if (expected == part[0]) return value;
    part[0] = expected;
    return vc__make_vec(s, vc__vec(vc__lowered_type(s, expected), 2), part, 2);
}

/* Atomics that only move floats (exchange, compare-exchange, load, store) are lowered to integers. Other float
   atomics are printed as a loop of compare-exchanges, f32 addition also as one instruction. */
static uint32_t vc__lower_atomic(vc__lowering *s, const vc__node *n) {
    vc_type type = n->type, memory_type = vc__lowered_type(s, n->a[0]);
    uint32_t value = n->op == VC__OP_ATOMIC_LOAD ? VC__NIL : n->a[2], pair[2];
    bool bits = vc__is_float(type) && n->op >= VC__OP_ATOMIC_EXCHANGE, has_result = vc__has_result(n->op);
    if (bits && n->op == VC__OP_ATOMIC_CAS) {
        for (uint32_t i = 0; i < 2; i++) {
            pair[i] = vc__make(s, VC__OP_COMPONENT, type, value, VC__NIL, VC__NIL, i);
            pair[i] = vc__make_bitcast(s, memory_type, pair[i]);
        }
        value = vc__make_vec(s, vc__vec(memory_type, 2), pair, 2);
    } else if (bits && value != VC__NIL) value = vc__make_bitcast(s, memory_type, value);
    value = vc__lower_atomic_value(s, n, value);
    uint32_t r = vc__make_access(s, n, bits ? memory_type : type, value);
    s->region = s->anchor; /* later nodes depend on the result */
    return bits && has_result ? vc__make_bitcast(s, type, r) : r;
}

/* ---- f16 in C ---- */

/* Computes an f16 operation in f32 and rounds the result. For + - * / and sqrt this equals a single rounding, because
   the 24 bits of f32 are at least 2 * 11 + 2. */
static uint32_t vc__lower_half(vc__lowering *s, const vc__node *n) {
    vc_type type = n->type;
    uint16_t op = n->op;
    uint32_t a[3], x = n->x;
    if (vc__op[op].class_ != VC__PURE || !vc__op_text(op, VC__TEXT_OPENCL + 3) || op == VC__OP_SELECT
        || vc__lowered_type(s, n->a[0]) != VC_F16)
        return VC__NIL;
    for (uint32_t i = 0; i < 3; i++) a[i] = n->a[i];
    if (op == VC__OP_FMA) return vc__rule(s, n, VC__RULE_fma); /* in f32 it would round a third time */
    for (uint32_t i = 0; i < vc__op[op].operands; i++)
        if (vc__lowered_type(s, a[i]) == VC_F16) a[i] = vc__make_cast(s, VC_F32, a[i]);
    uint32_t r = vc__make_raw(s, op, type == VC_F16 ? (vc_type)VC_F32 : type, a[0], a[1], a[2], x);
    return type == VC_F16 ? vc__make_cast(s, VC_F16, r) : r;
}

/* ---- subgroups ---- */

static uint64_t vc__identity_bits(uint32_t op, vc_type type) {
    uint32_t kind = vc__kind(type), bits = vc__bits(kind);
    uint64_t max = vc__ones(vc__is_signed(type) ? bits - 1 : bits), min = vc__is_signed(type) ? max + 1 : 0;
    if (vc__is_float(type)) {
        max = vc__infinity_bits(kind);
        min = max | (uint64_t)1 << (bits - 1);
    }
    switch (op) {
    case VC__OP_SUBGROUP_MUL: return vc__small_bits(type, 1);
    case VC__OP_SUBGROUP_MIN: return max;
    case VC__OP_SUBGROUP_MAX: return min;
    case VC__OP_SUBGROUP_AND: return vc__ones(bits);
    default: return 0;
    }
}

static uint32_t vc__make_identity(vc__lowering *s, uint32_t op, vc_type type) {
    return vc__make_const(s, type, vc__identity_bits(op, type));
}

VC__NOINLINE static uint32_t vc__make_combined(vc__lowering *s, uint32_t op, uint32_t a, uint32_t b) {
    static const uint16_t plain[] = {
        VC__OP_ADD, VC__OP_MUL, VC__OP_MIN, VC__OP_MAX, VC__OP_AND, VC__OP_OR, VC__OP_XOR
    };
    return vc__make_binary(s, plain[op - VC__OP_SUBGROUP_ADD], a, b);
}

VC__NOINLINE static uint32_t vc__make_leaf(vc__lowering *s, uint16_t op) {
    return vc__make(s, op, VC_U32, VC__NIL, VC__NIL, VC__NIL, 0);
}

/* A ballot whose first word is `word`; the other words are 0. */
static uint32_t vc__make_ballot(vc__lowering *s, uint32_t word) {
    return vc__rule_of(s, VC__RULE(ballot, "vec(u32(x), 0, 0, 0)"), word, word);
}

/* For subgroups of one invocation. */
static uint32_t vc__lower_single_lane(vc__lowering *s, const vc__node *n) {
    uint32_t a = n->a[0], x = n->x;
    vc_type type = n->type;
    switch (n->op) {
    case VC__OP_SUBGROUP_SIZE: return vc__make_u32(s, 1);
    case VC__OP_SUBGROUP_COUNT: return vc__make_u32(s, vc__invocations(s->kernel));
    case VC__OP_SUBGROUP_ID: return vc__make_leaf(s, VC__OP_LOCAL_INDEX);
    case VC__OP_SUBGROUP_LOCAL_ID: return vc__make_u32(s, 0);
    case VC__OP_ELECT: case VC__OP_VOTE_EQUAL: return vc__make_const(s, VC_BOOL, 1);
    case VC__OP_BALLOT: return vc__make_ballot(s, a);
    case VC__OP_BALLOT_COUNT:
        if (x == VC__LANES_BELOW) return vc__make_u32(s, 0);
        return vc__by_rule(VC__RULE(own_bit, "x.0 & 1"));
    default: return x == VC__LANES_BELOW ? vc__make_identity(s, n->op, type) : a;
    }
}

/* A clustered reduction by shuffles: every lane combines the values of the active lanes of its cluster. */
static uint32_t vc__lower_clustered(vc__lowering *s, const vc__node *n) {
    vc_type type = n->type;
    uint16_t op = n->op;
    uint32_t a = n->a[0], size = n->x >> 4;
    if (size == 1) return a;
    uint32_t lane = vc__make_leaf(s, VC__OP_SUBGROUP_LOCAL_ID);
    uint32_t first = vc__make_binary_const(s, VC__OP_AND, lane, ~(size - 1));
    uint32_t c = vc__make_const(s, VC_BOOL, 1);
    uint32_t active = vc__make(s, VC__OP_BALLOT, VC_U32X4, c, VC__NIL, VC__NIL, 0);
    uint32_t r = vc__make_identity(s, op, type);
    for (uint32_t i = 0; i < size && !s->kernel->failed; i++) {
        uint32_t from = vc__make_binary_const(s, VC__OP_OR, first, i);
        uint32_t bit = vc__rule_of(s, VC__RULE(bit_of_lane, "bool(extract(x, y >> 5) >> y & 1)"), active, from);
        uint32_t other = vc__make(s, VC__OP_SHUFFLE, type, a, from, VC__NIL, 0);
        other = vc__make_combined(s, op, r, other);
        r = vc__make_select(s, bit, other, r);
    }
    return r;
}

/* ---- CUDA C: subgroups are warps of 32 invocations in the order of the local index; all are active, unless the
   kernel reconverges ---- */

static uint32_t vc__make_warp_lane(vc__lowering *s) {
    return vc__make_binary_const(s, VC__OP_AND, vc__make_leaf(s, VC__OP_LOCAL_INDEX), 31);
}

static uint32_t vc__make_warp_index(vc__lowering *s) {
    return vc__make_binary_const(s, VC__OP_SHR, vc__make_leaf(s, VC__OP_LOCAL_INDEX), 5);
}

/* Returns `last` in a last warp that is not full, otherwise `others`. */
static uint32_t vc__make_by_warp(vc__lowering *s, uint32_t last, uint32_t others) {
    uint32_t count = vc__invocations(s->kernel), warp;
    const uint64_t numbers[3] = { count / 32, last, others };
    if (count % 32 == 0) return vc__make_u32(s, others);
    if (count < 32) return vc__make_u32(s, last);
    warp = vc__make_warp_index(s);
    return vc__rule_numbered(s, VC_U32, VC__RULE(by_warp, "[x y n l o] x == n ? l : o"), warp, warp, numbers, 3);
}

static uint32_t vc__make_warp_mask(vc__lowering *s) {
    return vc__make_by_warp(s, (uint32_t)vc__ones(vc__invocations(s->kernel) % 32), 0xffffffffu);
}

static uint32_t vc__make_active_mask(vc__lowering *s) {
    return s->kernel->reconverges ? vc__make_raw(s, VC__OP_MASK, VC_U32, VC__NIL, VC__NIL, VC__NIL, 0)
                                  : vc__make_warp_mask(s);
}

static uint32_t vc__make_first_lane_of(vc__lowering *s, uint32_t mask) {
    return vc__rule_of(s, VC__RULE(first_lane, "u32(find_lsb(x))"), mask, mask);
}

static uint32_t vc__make_first_active_lane(vc__lowering *s) {
    if (!s->kernel->reconverges) return vc__make_u32(s, 0);
    return vc__make_first_lane_of(s, vc__make_active_mask(s));
}

/* Whether the node being lowered is in a loop that some lanes may leave in an earlier iteration. */
static bool vc__is_in_loop_left_early(const vc__lowering *s) {
    const vc_kernel *k = s->kernel;
    uint32_t b = k->anchor[s->region].block;
    while (b != VC__NIL && !(k->block[b].flags & VC__BLOCK_LEFT_EARLY)) b = k->block[b].parent;
    return b != VC__NIL;
}

/* The lane that vc_subgroup_elect selects. `reach`: VC__REACH_. Where there is no mask of the lanes that reach it, it
   is the lowest of those that execute together (__activemask). */
static uint32_t vc__make_elected_lane(vc__lowering *s, uint32_t reach) {
    if (vc__is_in_loop_left_early(s)) reach = VC__REACH_SOME;
    if (reach == VC__REACH_ALL) return vc__make_u32(s, 0);
    if (reach == VC__REACH_MASKED && s->kernel->reconverges) return vc__make_first_active_lane(s);
    return vc__make_first_lane_of(s, vc__make_raw(s, VC__OP_ELECT, VC_U32, VC__NIL, VC__NIL, VC__NIL, 0));
}

static uint32_t vc__make_shuffle(vc__lowering *s, uint16_t op, uint32_t a, uint32_t by) {
    uint32_t mask = vc__make_active_mask(s);
    return vc__make_raw(s, op, vc__lowered_type(s, a), a, by, mask, 0);
}

/* Butterfly reduction: after log2(size) exchanges every lane of a cluster of active lanes has the result. */
static uint32_t vc__make_warp_butterfly(vc__lowering *s, uint32_t op, uint32_t x, uint32_t size) {
    for (uint32_t step = size / 2; step > 0; step /= 2) {
        uint32_t c = vc__make_u32(s, step);
        uint32_t other = vc__make_shuffle(s, VC__OP_SHUFFLE_XOR, x, c);
        x = vc__make_combined(s, op, x, other);
    }
    return x;
}

/* Reduction or scan of a warp without inactive lanes: Hillis and Steele, Data parallel algorithms, Communications of
   the ACM 29, 1986. */
static uint32_t vc__make_warp_scan(vc__lowering *s, uint32_t op, uint32_t x, uint32_t lanes) {
    uint32_t lane = vc__make_warp_lane(s), c, inside, other;
    for (uint32_t step = 1; step < 32; step *= 2) {
        c = vc__make_u32(s, step);
        other = vc__make_shuffle(s, VC__OP_SHUFFLE_UP, x, c);
        other = vc__make_combined(s, op, other, x);
        inside = vc__make_compare(s, VC__OP_LE, c, lane);
        x = vc__make_select(s, inside, other, x);
    }
    if (lanes == VC__LANES_ALL) {
        c = vc__make_by_warp(s, (vc__invocations(s->kernel) - 1) % 32, 31);
        return vc__make_shuffle(s, VC__OP_SHUFFLE, x, c);
    }
    if (lanes == VC__LANES_UP_TO) return x;
    uint32_t identity = vc__make_identity(s, op, vc__lowered_type(s, x));
    c = vc__make_u32(s, 1);
    other = vc__make_shuffle(s, VC__OP_SHUFFLE_UP, x, c);
    inside = vc__make_compare(s, VC__OP_LE, c, lane);
    return vc__make_select(s, inside, other, identity);
}

/* the highest lane in both sets; more than 31 if there is none */
VC__SUBRULE(highest_lane, "u32(find_msb(x & y))")

/* Reduction or scan of any set of active lanes, in log2(size) exchanges. Each merges pairs of neighbouring blocks of
   lanes: every active lane reads the highest active lane of the other block of its pair, which has the result of that
   block; in a scan, lanes of the lower block discard it (Sklansky, Conditional-sum addition logic, 1960). An exclusive
   scan then reads the result of the next lower active lane. lanes: VC__LANES_; size: lanes in a cluster, else 32. */
static uint32_t vc__make_masked_scan(vc__lowering *s, uint16_t op, uint32_t x, uint32_t lanes, uint32_t size) {
    uint32_t mask = vc__make_active_mask(s), lane = vc__make_warp_lane(s), most = vc__make_u32(s, 32), c, other;
    uint32_t limit = lanes == VC__LANES_ALL || lanes == VC__LANES_CLUSTER ? most : lane;
    for (uint32_t step = 1; step < size && !s->kernel->failed; step *= 2) {
        const uint64_t numbers[3] = { ~(step - 1) & 31u, step, vc__ones(step) };
        const uint32_t rule = VC__RULE(other_half, "[x y b s o] highest_lane(x, o << (y & b ^ s))");
        uint32_t from = vc__rule_numbered(s, VC_U32, rule, mask, lane, numbers, 3);
        other = vc__make_shuffle(s, VC__OP_SHUFFLE, x, from);
        other = vc__make_combined(s, op, other, x);
        c = vc__make_compare(s, VC__OP_LT, from, limit);
        x = vc__make_select(s, c, other, x);
    }
    if (lanes != VC__LANES_BELOW) return x;
    uint32_t previous = vc__rule_of(s, VC__RULE(lane_below, "highest_lane(x, (1 << y) - 1)"), mask, lane);
    other = vc__make_shuffle(s, VC__OP_SHUFFLE, x, previous);
    c = vc__make_compare(s, VC__OP_LT, previous, most);
    x = vc__make_identity(s, op, vc__lowered_type(s, x));
    return vc__make_select(s, c, other, x);
}

/* Reductions of i32 and u32 are functions that the printer defines. */
static uint32_t vc__lower_warp_combine(vc__lowering *s, const vc__node *n) {
    const uint32_t a = n->a[0], lanes = n->x & 15u, size = lanes == VC__LANES_CLUSTER ? n->x >> 4 : 32;
    const bool all = lanes == VC__LANES_ALL, whole = vc__invocations(s->kernel) % size == 0;
    const vc_type type = n->type;
    const uint16_t op = n->op;
    if (all && type == VC_BOOL && op != VC__OP_SUBGROUP_XOR)
        return vc__make(s, op == VC__OP_SUBGROUP_AND ? VC__OP_VOTE_ALL : VC__OP_VOTE_ANY, type, a, VC__NIL, VC__NIL, 0);
    if (all && (type == VC_I32 || type == VC_U32) && op != VC__OP_SUBGROUP_MUL) {
        uint32_t mask = vc__make_active_mask(s), lane = vc__make_warp_lane(s);
        return vc__make_raw(s, op, type, a, mask, lane, 0);
    }
    if (s->kernel->reconverges) return vc__make_masked_scan(s, op, a, lanes, size);
    if ((all || lanes == VC__LANES_CLUSTER) && whole) return vc__make_warp_butterfly(s, op, a, size);
    if (lanes == VC__LANES_CLUSTER) return vc__make_masked_scan(s, op, a, lanes, size);
    return vc__make_warp_scan(s, op, a, lanes);
}

static uint32_t vc__make_ballot_count(vc__lowering *s, uint32_t ballot, uint32_t lanes) {
    uint32_t by = lanes == VC__LANES_ALL ? vc__make_warp_mask(s) : vc__make_warp_lane(s);
    /* 2 << 31 is 0, and 0 - 1 is all ones */
    return vc__rule_of(s, lanes == VC__LANES_ALL     ? VC__RULE(ballot_count, "popcount(x.0 & y)")
                          : lanes == VC__LANES_UP_TO ? VC__RULE(ballot_count_to, "popcount(x.0 & (2 << y) - 1)")
                                                     : VC__RULE(ballot_count_below, "popcount(x.0 & (1 << y) - 1)"),
                       ballot, by);
}

/* In the lowered list, the last operand of votes, ballots and shuffles is the mask of the active lanes, and a ballot is
   a u32. */
static uint32_t vc__lower_warp_operation(vc__lowering *s, const vc__node *n) {
    uint32_t a = n->a[0], b = n->a[1], x = n->x, mask;
    uint16_t op = n->op;
    vc_type type = n->type;
    switch (op) {
    case VC__OP_SUBGROUP_SIZE: return vc__make_u32(s, 32);
    case VC__OP_SUBGROUP_COUNT: return vc__make_u32(s, (vc__invocations(s->kernel) + 31) / 32);
    case VC__OP_SUBGROUP_ID: return vc__make_warp_index(s);
    case VC__OP_SUBGROUP_LOCAL_ID: return vc__make_warp_lane(s);
    case VC__OP_ELECT:
        a = vc__make_warp_lane(s);
        b = vc__make_elected_lane(s, x);
        return vc__make_compare(s, VC__OP_EQ, a, b);
    case VC__OP_VOTE_EQUAL:
        b = vc__make_first_active_lane(s);
        b = vc__make_shuffle(s, VC__OP_SHUFFLE, a, b);
        a = vc__make_compare(s, VC__OP_EQ, a, b);
        mask = vc__make_active_mask(s);
        return vc__make_raw(s, VC__OP_VOTE_ALL, VC_BOOL, a, mask, VC__NIL, 0);
    case VC__OP_BALLOT:
        mask = vc__make_active_mask(s);
        return vc__make_ballot(s, vc__make_raw(s, op, VC_U32, a, mask, VC__NIL, 0));
    case VC__OP_VOTE_ANY: case VC__OP_VOTE_ALL:
        mask = vc__make_active_mask(s);
        return vc__make_raw(s, op, type, a, mask, VC__NIL, 0);
    case VC__OP_BALLOT_COUNT: return vc__make_ballot_count(s, a, x);
    case VC__OP_BROADCAST_FIRST: b = vc__make_first_active_lane(s); return vc__make_shuffle(s, VC__OP_SHUFFLE, a, b);
    case VC__OP_BROADCAST: return vc__make_shuffle(s, VC__OP_SHUFFLE, a, b);
    case VC__OP_SHUFFLE:
    case VC__OP_SHUFFLE_XOR:
    case VC__OP_SHUFFLE_UP:
    case VC__OP_SHUFFLE_DOWN: return vc__make_shuffle(s, op, a, b);
    default: return vc__lower_warp_combine(s, n);
    }
}

/* Lowers a subgroup operation on a narrow type to one on 32 bits: on machines without VC_FEATURE_SUBGROUP_TYPES, and
   for reductions and scans in CUDA C. An operation that only moves an f16 is lowered to u16 if the machine has it. */
static uint32_t vc__lower_subgroup_widened(vc__lowering *s, const vc__node *n) {
    vc_type operand_type = vc__lowered_type(s, n->a[0]), type = n->type;
    vc_type wide = vc__vec(vc__is_float(operand_type) ? VC_F32 : vc__is_signed(operand_type) ? VC_I32 : VC_U32,
                           vc__components(operand_type));
    uint16_t op = n->op;
    uint32_t identity = VC__NIL, c;
    if (vc__is_float(operand_type) && op >= VC__OP_BROADCAST && op <= VC__OP_SHUFFLE_DOWN
        && !(s->kernel->desc.machine.missing_features & VC_FEATURE_I16)) {
        operand_type = vc__vec(VC_U16, vc__components(operand_type));
        c = vc__make_bitcast(s, operand_type, n->a[0]);
        return vc__make_bitcast(s, type, vc__make(s, op, operand_type, c, n->a[1], VC__NIL, n->x));
    }
    uint32_t a = vc__make_cast(s, wide, n->a[0]);
    if (op == VC__OP_VOTE_EQUAL) return vc__make(s, op, type, a, VC__NIL, VC__NIL, 0);
    a = vc__make(s, op, wide, a, n->a[1], VC__NIL, n->x);
    c = vc__make_cast(s, type, a);
    if (n->x != VC__LANES_BELOW || (op != VC__OP_SUBGROUP_MIN && op != VC__OP_SUBGROUP_MAX)) return c;
    identity = vc__make_identity(s, op, wide); /* differs from that of the narrow type */
    identity = vc__make_compare(s, VC__OP_EQ, a, identity);
    a = vc__make_identity(s, op, type);
    return vc__make_select(s, identity, a, c);
}

/* The number of subgroups, or the quotient of work-group and subgroup size, rounded up, if that is larger: llvmpipe of
   Mesa 22 does not count a last subgroup that is not full. A work-group that is a multiple of 128, the largest size of
   a subgroup in Vulkan, has none. */
static uint32_t vc__lower_subgroup_count(vc__lowering *s) {
    uint32_t count = vc__make_raw(s, VC__OP_SUBGROUP_COUNT, VC_U32, VC__NIL, VC__NIL, VC__NIL, 0);
    if (vc__invocations(s->kernel) % 128 == 0) return count;
    uint32_t size = vc__make_leaf(s, VC__OP_SUBGROUP_SIZE);
    const uint64_t others = vc__invocations(s->kernel) - 1;
    return vc__rule_numbered(s, VC_U32, VC__RULE(subgroup_count, "[x y n] max(x, div_native(n + y, y))"), count, size,
                             &others, 1);
}

/* Compares floats by their bits: devices differ for NaN and the sign of 0. */
static uint32_t vc__lower_equal_bits(vc__lowering *s, const vc__node *n) {
    vc_type operand_type = vc__lowered_type(s, n->a[0]);
    bool wide = vc__kind(operand_type) == VC_F64;
    uint32_t a = n->a[0], components = vc__components(operand_type);
    if (wide && s->kernel->desc.machine.missing_features & (VC_FEATURE_I64 | VC_FEATURE_SUBGROUP_TYPES)) return VC__NIL;
    if (vc__kind(operand_type) == VC_F16) a = vc__make_cast(s, vc__vec(VC_F32, components), a);
    a = vc__make_bitcast(s, vc__vec(wide ? VC_U64 : VC_U32, components), a);
    return vc__make(s, n->op, n->type, a, VC__NIL, VC__NIL, 0);
}

/* Shuffles with the lane modulo the size of the subgroup, a power of two. If the lane is outside of the subgroup, the
   result is undefined in any case. */
static uint32_t vc__lower_shuffle_in_range(vc__lowering *s, const vc__node *n) {
    uint32_t lane = n->a[1], c;
    if (n->op != VC__OP_SHUFFLE) {
        uint32_t own = vc__make_leaf(s, VC__OP_SUBGROUP_LOCAL_ID);
        c = vc__make_cast(s, VC_U32, lane);
        lane = vc__make_binary(s, n->op == VC__OP_SHUFFLE_XOR ? VC__OP_XOR
                               : n->op == VC__OP_SHUFFLE_UP ? VC__OP_SUB : VC__OP_ADD, own, c);
    }
    lane = vc__rule_of(s, VC__RULE(lane_in_range, "x & y - 1"), lane, vc__make_leaf(s, VC__OP_SUBGROUP_SIZE));
    return vc__make_raw(s, VC__OP_SHUFFLE, n->type, n->a[0], lane, VC__NIL, 0);
}

static uint32_t vc__lower_subgroup(vc__lowering *s, const vc__node *n) {
    uint64_t missing = s->kernel->desc.machine.missing_features, unused;
    vc_type operand_type = n->a[0] == VC__NIL ? n->type : vc__lowered_type(s, n->a[0]);
    bool narrow = !vc__is_bool(operand_type) && vc__bits(vc__kind(operand_type)) < 32;
    if (missing & VC_FEATURE_SUBGROUP || vc__is_opencl(s->target)) return vc__lower_single_lane(s, n);
    if (n->op == VC__OP_VOTE_EQUAL && vc__is_float(operand_type)) {
        uint32_t r = vc__lower_equal_bits(s, n);
        if (r != VC__NIL) return r;
    }
    if (narrow && (vc__is_cuda(s->target) ? vc__is_subgroup_combine(n->op)
                                         : (missing & VC_FEATURE_SUBGROUP_TYPES) != 0))
        return vc__lower_subgroup_widened(s, n);
    if (vc__is_cuda(s->target)) return vc__lower_warp_operation(s, n);
    if (n->op == VC__OP_SUBGROUP_COUNT) return vc__lower_subgroup_count(s);
    if (missing & VC_FEATURE_SHUFFLE_64 && n->op >= VC__OP_SHUFFLE && n->op <= VC__OP_SHUFFLE_DOWN
        && vc__bits(vc__kind(operand_type)) == 64)
        return vc__lower_shuffle_in_range(s, n);
    if (vc__is_subgroup_combine(n->op) && (n->x & 15u) == VC__LANES_CLUSTER
        && missing & VC_FEATURE_SUBGROUP_CLUSTERED)
        return vc__lower_clustered(s, n);
    /* SPIR-V before 1.5, and GLSL, require a constant lane; a shuffle is valid in every version */
    if (n->op == VC__OP_BROADCAST && !vc__const_bits(s, n->a[1], &unused))
        return vc__make_raw(s, VC__OP_SHUFFLE, n->type, n->a[0], n->a[1], VC__NIL, 0);
    return VC__NIL;
}

// >>math64
/* Elementary functions of f64. GLSL.std.450 has hardly any, so rules build them from + - * /, fma, sqrt, round, select
   and integer operations on the bits.
   Accuracy: the largest errors found against 113-bit arithmetic over the whole range, in ulp, are: log2 0.6,
   log sin cos atan 0.8, exp 1, exp2 acos 1.2, pow 1.3, rsqrt atan2 cosh 1.5, sinh 1.6, tan asin 2.1, tanh 2.4.
   This requires that + - * / and sqrt round to nearest and that nothing is contracted. For sin, cos and tan it holds
   up to |x| = 2^30. Beyond that, accuracy decreases, but sin and cos stay between -1 and 1. pow ignores the sign of
   x = -0.
   Methods: argument reduction by constants split so that products are exact (Cody and Waite, Software Manual for the
   Elementary Functions, 1980), error-free products and sums (Dekker, Numerische Mathematik 18, 1971), atanh series for
   logarithms, Chebyshev interpolation. Polynomials interpolate over the reduced range, in 250-bit arithmetic. Products
   are split by masking bits, not by fma, because fma may round twice. */

static const struct { uint16_t op, rule; } vc__math64[] = {
    { VC__OP_RSQRT, VC__RULE(f64_rsqrt, "1 / sqrt(x)") },
    { VC__OP_EXP, VC__RULE(f64_exp, "p:k = exp_parts(x); ldexp(p, k)") },
    { VC__OP_EXP2, VC__RULE(f64_exp2, "x = bounded(x, -1100, 1100); k = round(x); exp2_parts(x - k, k)") },
    /* log(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + z p)) with s = f / (2 + f), z = s^2 <= 0.0295 and the polynomial
       p = (2 atanh(s) / s - 2) / z */
    { VC__OP_LOG, VC__RULE(f64_log,
      "k:f = split(x); f = f + -1; s = f / (f + 2); z = s * s; "
      "r = z * poly(z, "
      "0x3fc0c04595972ab8, 0x3fc0fbe83c2cbcf3, 0x3fc3b1c360763b8a, 0x3fc745cf901605f7, 0x3fcc71c720160b47, "
      "0x3fd2492492476c87, 0x3fd9999999999a38, 0x3fe5555555555555); "
      "h = f * 0.5 * f; r = s * (h + r); r = r + k * 0x3dea39ef35793c76; r = h - r - f; "
      "log_special(x, k * 0x3fe62e42fee00000 - r)") },
    { VC__OP_LOG2, VC__RULE(f64_log2, "h:l = log2_pair(x); log_special(x, h + l)") },
    /* y is bounded by +-2^66: larger |y| give the same result, and no product overflows. s is x^y for x = 0 and inf. */
    { VC__OP_POW, VC__RULE(f64_pow,
      "h:l = log2_pair(x); c = bounded(y, 0xc410000000000000, 0x4410000000000000); p:q = product(h, c); "
      "l = q + l * c; l = abs(p) > 1100 ? 0 : l; p = bounded(p, -1100, 1100); k = round(p); "
      "r = exp2_parts(p - k + l, k); "
      "z = x == 0; e = z ? -y : y; s = e < 0 ? 0 : 1; s = e > 0 ? inf : s; "
      "r = z ? s : r; r = x == inf ? s : r; r = 0 <= x ? r : nan; r = y == y ? r : nan; "
      "r = y == 0 ? 1 : r; x == 1 ? 1 : r") },
    /* below 2^-26, sin(x) and tan(x) are x, which keeps -0 */
    { VC__OP_SIN, VC__RULE(f64_sin,
      "s:c:n = sin_cos_of(x); v = sin_in(x, n, s, c); abs(x) < 0x3e50000000000000 ? x : v") },
    { VC__OP_COS, VC__RULE(f64_cos, "s:c:n = sin_cos_of(x); sin_in(x, n + 1, s, c)") }, /* sin(x + pi / 2) */
    { VC__OP_TAN, VC__RULE(f64_tan,
      "s:c:n = sin_cos_of(x); o = (n & 1) != 0; a = o ? c : s; v = a / (o ? -s : c); m = abs(x); "
      "v = m < inf ? v : nan; m < 0x3e50000000000000 ? x : v") },
    { VC__OP_ASIN, VC__RULE(f64_asin,
      "r:f = asin_parts(abs(x)); t = r + r + 0xbc91a62633145c07; r = f ? 0x3ff921fb54442d18 - t : r; "
      "xor_sign(r, ints(x))") },
    { VC__OP_ACOS, VC__RULE(f64_acos,
      "r:f = asin_parts(abs(x)); t = r + r; s = 0x400921fb54442d18 - (t + 0xbca1a62633145c07); t = x < 0 ? s : t; "
      "r = xor_sign(r, ints(x)); r = 0x3ff921fb54442d18 - (r + 0xbc91a62633145c07); f ? t : r") },
    { VC__OP_ATAN, VC__RULE(f64_atan, "xor_sign(positive_atan(abs(x)), ints(x))") },
    /* atan2(x, y): |x| = |y| includes 0 / 0 and inf / inf */
    { VC__OP_ATAN2, VC__RULE(f64_atan2,
      "a = abs(x); b = abs(y); e = b == a; o = b == 0 ? b : 1; r = positive_atan(e ? o : a / b); "
      "s = 0x400921fb54442d18 - (r + 0xbca1a62633145c07); r = ints(y) < 0 ? s : r; r = y != y ? y : r; "
      "xor_sign(r, ints(x))") },
    { VC__OP_SINH, VC__RULE(f64_sinh,
      "s = small_sinh(x); e:d = exp_halves(x); l = xor_sign(e - d, ints(x)); abs(x) < 1 ? s : l") },
    { VC__OP_COSH, VC__RULE(f64_cosh, "e:d = exp_halves(x); e + d") },
    /* tanh(x) = 1 - 2 / (e^2x + 1) = 1 - 1 / (e^2x / 2 + 1/2) */
    { VC__OP_TANH, VC__RULE(f64_tanh,
      "s = small_sinh(x); s = s / sqrt(s * s + 1); m = abs(x); l = 1 - 1 / (half_exp(m + m) + 0.5); "
      "l = xor_sign(l, ints(x)); m < 1 ? s : l") }
};

static uint32_t vc__lower_math64(vc__lowering *s, const vc__node *n) {
    (void)s;
    if ((n->type & 15u) != VC_F64) return VC__NIL;
    for (size_t i = 0; i < sizeof vc__math64 / sizeof *vc__math64; i++)
        if (vc__math64[i].op == n->op) return vc__by_rule(vc__math64[i].rule);
    return VC__NIL;
}

// >>scalarize
/* Scalarization for CUDA C and OpenCL C: a vector operation becomes one operation per component, so lowering rules and
   printers only handle scalars. Vectors remain in the listing at memory accesses: as the value of a LOAD or PARAM, the
   value operand of a STORE, the coordinates and texels of images, and as the VEC, TUPLE and COMPONENT nodes that
   connect these with the scalars. Arrays and variables keep their vector element types; a printer may declare them as
   vectors or as flat arrays of scalars. */

/* A scalar is returned unchanged. */
static uint32_t vc__component_of(vc__lowering *s, uint32_t number, uint32_t i) {
    vc_type type = vc__lowered_type(s, number);
    return vc__components(type) == 1 ? number
                                     : vc__make(s, VC__OP_COMPONENT, vc__scalar(type), number, VC__NIL, VC__NIL, i);
}

/* A chain of selects on index == i. An index out of range selects component 0. */
static uint32_t vc__scalarize_extract(vc__lowering *s, const vc__node *n) {
    uint32_t components = vc__components(vc__lowered_type(s, n->a[0])), r = vc__component_of(s, n->a[0], 0);
    for (uint32_t i = 1; i < components; i++) {
        uint32_t c = vc__make_const(s, vc__lowered_type(s, n->a[1]), i);
        c = vc__make_compare(s, VC__OP_EQ, n->a[1], c);
        uint32_t part = vc__component_of(s, n->a[0], i);
        r = vc__make_select(s, c, part, r);
    }
    return r;
}

static uint32_t vc__scalarize_any_all(vc__lowering *s, const vc__node *n) {
    uint32_t components = vc__components(vc__lowered_type(s, n->a[0])), r = vc__component_of(s, n->a[0], 0);
    for (uint32_t i = 1; i < components; i++) {
        uint32_t part = vc__component_of(s, n->a[0], i);
        r = vc__make_binary(s, n->op == VC__OP_ANY ? VC__OP_OR : VC__OP_AND, r, part);
    }
    return r;
}

static uint32_t vc__scalarize_all_equal(vc__lowering *s, const vc__node *n) {
    uint32_t components = vc__components(vc__lowered_type(s, n->a[0])), r = VC__NIL;
    for (uint32_t i = 0; i < components; i++) {
        uint32_t part = vc__component_of(s, n->a[0], i);
        part = vc__make(s, VC__OP_VOTE_EQUAL, VC_BOOL, part, VC__NIL, VC__NIL, 0);
        r = i ? vc__make_binary(s, VC__OP_AND, r, part) : part;
    }
    return r;
}

/* Whether component i of the result depends on component i of the operands only. */
static bool vc__is_componentwise(const vc__lowering *s, const vc__node *n) {
    const vc__op_info *op = &vc__op[n->op];
    uint32_t components = vc__components(n->type);
    if (components == 1 || (op->class_ != VC__PURE && op->class_ != VC__CONVERGENT)) return false;
    if (op->result == VC__RESULT_SCALAR || n->op == VC__OP_GRADIENT || n->op == VC__OP_IMAGE_AT) return false;
    for (uint32_t i = 0; i < op->operands; i++)
        if (vc__components(vc__lowered_node(s, n->a[i])->type) == components) return true;
    return false;
}

/* The operands must be lowered. Returns VC__NIL after an error, or if the node needs no change. */
static uint32_t vc__scalarize(vc__lowering *s, const vc__node *n) {
    uint32_t parts[4], a[3];
    if (s->kernel->failed) return VC__NIL;
    if (n->op == VC__OP_EXTRACT) return vc__scalarize_extract(s, n);
    if (n->op == VC__OP_ANY || n->op == VC__OP_ALL) return vc__scalarize_any_all(s, n);
    if (n->op == VC__OP_VOTE_EQUAL && vc__components(vc__lowered_type(s, n->a[0])) > 1)
        return vc__scalarize_all_equal(s, n);
    if (!vc__is_componentwise(s, n)) return VC__NIL;
    for (uint32_t i = 0; i < vc__components(n->type); i++) {
        for (uint32_t j = 0; j < 3; j++) a[j] = j < vc__op[n->op].operands ? vc__component_of(s, n->a[j], i) : n->a[j];
        parts[i] = vc__make(s, n->op, vc__scalar(n->type), a[0], a[1], a[2], n->x);
        if (parts[i] == VC__NIL) return VC__NIL;
    }
    return vc__make_vec(s, n->type, parts, vc__components(n->type));
}

VC__SMALL_END

// >>schedule
/* Makes the listing: the live nodes in a canonical order. One walk over the anchored nodes in tape order, operands left
   to right, folds constants, applies the lowering rules, merges equal nodes and numbers the remaining ones. A node
   stays in the region in which it was recorded, unless an equal node of an earlier region needs its value; within a
   region, nodes are in the order of their numbers. Therefore the listing does not depend on the order in which the C
   compiler evaluates arguments. */

/* Copies field by field: a wider load from fields that were just stored one by one would stall (store forwarding). */
static inline void vc__copy_node(vc__node *to, const vc__node *from) {
    to->op = from->op;
    to->flags = from->flags;
    to->type = from->type;
    to->region = from->region;
    to->a[0] = from->a[0];
    to->a[1] = from->a[1];
    to->a[2] = from->a[2];
    to->x = from->x;
}

/* Sets the number of nodes up to which neither the list nor the hash table, at a load factor of 3/4, has to grow. */
static void vc__update_node_limit(vc__lowering *s) {
    uint32_t limit = s->mask / 4 * 3;
    s->node_limit = s->capacity < limit ? s->capacity : limit;
}

static uint32_t vc__append(vc__lowering *s, const vc__node *n) {
    if (s->count == s->capacity) {
        if (s->count >= 4 * VC__MAX_NODES) {
            vc__fail_call(s->kernel, NULL, "too many operations: the limit is %u", 4 * VC__MAX_NODES);
            return VC__NIL;
        }
        if (!VC__RESERVE(s->kernel, s->node, s->capacity, s->count + 1)) return VC__NIL;
        vc__update_node_limit(s);
    }
    vc__copy_node(&s->node[s->count], n);
    return s->count++;
}

/* The first word of a node without the flags: operation and type. */
static inline uint32_t vc__op_and_type(const vc__node *n) {
    static const vc__node all = { 255, 0, 65535, 0, { 0, 0, 0 }, 0 };
    uint32_t bits, mask;
    memcpy(&bits, n, sizeof bits);
    memcpy(&mask, &all, sizeof mask);
    return bits & mask;
}

/* Multiplicative hash. The high bits of the product depend on most bits of the operands; vc__hash_end combines them in
   the low bits, which select a slot. Otherwise operands with consecutive numbers would occupy consecutive slots. */
static inline uint64_t vc__hash_parts(uint32_t op_and_type, uint32_t a, uint32_t b, uint32_t c) {
    return ((a | (uint64_t)b << 32) + ((uint64_t)op_and_type << 24) + ((uint64_t)c << 12)) * 0xff51afd7ed558ccdu;
}
static inline uint32_t vc__hash_end(uint64_t h) { return (uint32_t)(h >> 32 ^ h >> 47); }

static inline uint32_t vc__hash_node(const vc__lowering *s, const vc__node *n, uint32_t region) {
    uint64_t h = region * (uint64_t)0x9e3779b97f4a7c15u;
    if (vc__op[n->op].operands != VC__MANY)
        return vc__hash_end(h + vc__hash_parts(vc__op_and_type(n), n->a[0], n->a[1], n->a[2] ^ n->x));
    h += vc__hash_parts(vc__op_and_type(n), 0, 0, n->x);
    for (uint32_t i = 0; i < n->a[1]; i++) h = (h ^ h >> 32 ^ s->extra[n->a[0] + i]) * 0xc4ceb9fe1a85ec53u;
    return vc__hash_end(h);
}

/* by_region: nodes of different regions are not equal. */
static inline bool vc__nodes_equal(const vc__lowering *s, const vc__node *a, const vc__node *b, bool by_region) {
    if (a->op != b->op || a->type != b->type || (by_region && a->region != b->region)) return false;
    if (vc__op[a->op].operands != VC__MANY)
        return a->a[0] == b->a[0] && a->a[1] == b->a[1] && a->a[2] == b->a[2] && a->x == b->x;
    if (a->a[1] != b->a[1]) return false;
    for (uint32_t i = 0; i < a->a[1]; i++) if (s->extra[a->a[0] + i] != s->extra[b->a[0] + i]) return false;
    return true;
}

/* The object that a load, store or image operation accesses: a BUFFER, SHARED, TABLE, VAR, ARRAY, IMAGE or IMAGE_AT
   node. */
static const vc__node *vc__memory_of(const vc__node *list, const vc__node *access) {
    const vc__node *m = &list[access->a[0]];
    return m->op == VC__OP_POINTER ? &list[m->a[0]] : m;
}

/* Whether a read from a buffer, image or table always returns the same value because the kernel never writes there. */
static bool vc__is_invariant_read(const vc__lowering *s, const vc__node *n) {
    const vc__node *m = vc__memory_of(s->node, n);
    const vc__object *o = &s->kernel->object[m->x];
    return m->op == VC__OP_TABLE ||
           ((m->op == VC__OP_BUFFER || m->op == VC__OP_IMAGE || m->op == VC__OP_IMAGE_AT) && !o->stored
            && !(o->access & VC_MAY_ALIAS));
}

/* Hash of a node. *by_region: equal nodes of another region must not replace it, because it reads memory that may
   change. */
static inline uint32_t vc__merge_hash(const vc__lowering *s, const vc__node *n, bool *by_region) {
    *by_region = vc__op[n->op].class_ == VC__READ && !vc__is_invariant_read(s, n);
    return vc__hash_node(s, n, *by_region ? n->region : 0);
}

/* A slot of the hash table: 1 + the node's number in the low 26 bits, the high bits of its hash in the others. */
enum { VC__SLOT_NUMBER = (1 << 26) - 1 };
static inline uint32_t vc__slot_pack(uint32_t hash, uint32_t number) {
    return (hash & ~(uint32_t)VC__SLOT_NUMBER) | (number + 1);
}
static inline uint32_t vc__slot_number(uint32_t slot) { return (slot & VC__SLOT_NUMBER) - 1; }
static inline bool vc__slot_matches(uint32_t slot, uint32_t hash) { return (slot ^ hash) <= VC__SLOT_NUMBER; }

VC__SMALL_BODIES

/* For a table that has grown. The node replaces an equal one. */
static void vc__insert_slot(vc__lowering *s, uint32_t number) {
    bool by_region;
    uint32_t i;
    if (vc__op[s->node[number].op].class_ > VC__READ) return;
    uint32_t hash = vc__merge_hash(s, &s->node[number], &by_region);
    for (i = hash & s->mask; s->slot[i]; i = (i + 1) & s->mask)
        if (vc__slot_matches(s->slot[i], hash) &&
            vc__nodes_equal(s, &s->node[vc__slot_number(s->slot[i])], &s->node[number], by_region)) break;
    s->slot[i] = vc__slot_pack(hash, number);
}

/* Makes a hash table of at least `least` slots and inserts all nodes. */
static bool vc__rehash(vc__lowering *s, uint32_t least) {
    uint32_t size = 64;
    while (size < least && size < 1u << 30) size *= 2;
    if (!VC__RESERVE(s->kernel, s->slot, s->slot_capacity, size)) return false;
    s->mask = size - 1;
    memset(s->slot, 0, size * sizeof(uint32_t));
    vc__update_node_limit(s);
    for (uint32_t i = 0; i < s->count; i++) vc__insert_slot(s, i);
    return true;
}

VC__SMALL_END

/* True for inner blocks as well. */
static inline bool vc__block_contains(const vc_kernel *k, uint32_t block, uint32_t region) {
    return k->block[block].open <= region && region < k->block[block].close;
}

/* Whether an equal node can replace a node of `region`: its value must be computed wherever that region executes.
   If `found` is in a later region inside the same block, it is moved to `region`. */
static bool vc__reuse_node(vc__lowering *s, vc__node *found, uint32_t region) {
    const vc_kernel *k = s->kernel;
    if (found->region <= region) return vc__block_contains(k, k->anchor[found->region].block, region);
    if (!vc__block_contains(k, k->anchor[region].block, found->region)) return false;
    found->region = region;
    return true;
}

/* Sort key of leaves: by operation, then objects by declaration, ids by axis, implicit arguments by (kind, argument,
   axis). */
static uint64_t vc__leaf_key(const vc__node *n) {
    uint64_t key = (uint64_t)n->op << 56;
    if (n->op == VC__OP_IMPLICIT) return key | (uint64_t)n->a[0] << 48 | (uint64_t)n->a[1] << 8 | n->a[2];
    return key | n->x;
}

static bool vc__register_leaf(vc__lowering *s, uint32_t number) {
    if (!VC__RESERVE(s->kernel, s->leaf, s->leaf_capacity, s->leaf_count + 1)) return false;
    s->leaf[s->leaf_count].key = vc__leaf_key(&s->node[number]);
    s->leaf[s->leaf_count++].number = number;
    return true;
}

/* Common-subexpression elimination: returns the number of an equal node, or appends n. */
static uint32_t vc__merge(vc__lowering *s, vc__node *n) {
    bool by_region;
    uint32_t hash = vc__merge_hash(s, n, &by_region), i, number;
    for (i = hash & s->mask; s->slot[i]; i = (i + 1) & s->mask) {
        if (!vc__slot_matches(s->slot[i], hash)) continue;
        number = vc__slot_number(s->slot[i]);
        if (!vc__nodes_equal(s, &s->node[number], n, by_region)) continue;
        if (vc__reuse_node(s, &s->node[number], n->region)) return number;
        break;
    }
    number = vc__append(s, n);
    if (number == VC__NIL) return VC__NIL;
    s->slot[i] = vc__slot_pack(hash, number);
    if (vc__op[n->op].class_ == VC__LEAF && !vc__is_const_op(n->op) && !vc__register_leaf(s, number)) return VC__NIL;
    if (s->count > s->mask / 4 * 3 && !vc__rehash(s, (s->mask + 1) * 2)) return VC__NIL;
    return number;
}

/* NVIDIA's driver (580) replaces fma(0, x, c) by c even if x is infinite or NaN. It does not replace 0 * x + c. */
static inline bool vc__loses_nan(const vc__lowering *s, const vc__node *n) {
    return n->op == VC__OP_FMA && !vc__is_c(s->target) && !s->kernel->desc.fast &&
           (vc__has_zero(s, n->a[0]) || vc__has_zero(s, n->a[1]));
}

static inline bool vc__needs_lowering(const vc__lowering *s, const vc__op_info *op, const vc__node *n) {
    return op->rule && (!(op->flags & VC__FLAGS_INTEGERS && vc__is_float(n->type)) || vc__loses_nan(s, n));
}

/* Whether vc__simplify might change the node. Of two operands, one has to be constant, or they are equal; of three, the
   first one has to be constant, because these are only folded. */
static inline bool vc__may_simplify(const vc__lowering *s, const vc__op_info *op, const vc__node *n) {
    if (op->operands < 2 || op->operands == VC__MANY || n->op == VC__OP_SELECT || n->op == VC__OP_EXTRACT) return true;
    return n->a[0] == n->a[1] || vc__is_const(s, n->a[0]) || (op->operands == 2 && vc__is_const(s, n->a[1]));
}

/* Adds a node whose operands are lowered: simplifies it, applies its lowering rule, or merges it with an equal node.
   Modifies n. */
static uint32_t vc__add_node(vc__lowering *s, vc__node *n) {
    const vc__op_info *op = &vc__op[n->op];
    bool raw = (n->flags & VC__NODE_RAW) != 0;
    uint32_t r;
    if (s->kernel->failed) return VC__NIL;
    n->flags = 0;
    if (op->class_ == VC__PURE && vc__may_simplify(s, op, n)) {
        r = vc__simplify(s, n);
        if (r != VC__NIL) return r;
    }
    if (vc__needs_lowering(s, op, n) && !raw && s->target != VC_TARGET_NONE) {
        r = op->rule(s, n);
        if (r != VC__NIL) return r & VC__BY_RULE ? vc__rule(s, n, r & ~(uint32_t)VC__BY_RULE) : r;
        if (s->kernel->failed) return VC__NIL;
    }
    if (vc__is_c(s->target)) {
        r = vc__lower_half(s, n);
        if (r != VC__NIL || s->kernel->failed) return r;
    }
    n->region = op->class_ == VC__LEAF ? 0 : op->class_ >= VC__EFFECT ? s->anchor : s->region;
    return op->class_ >= VC__NEW ? vc__append(s, n) : vc__merge(s, n);
}

static inline uint32_t vc__make_node(vc__lowering *s, uint32_t flags, uint16_t op, vc_type type, uint32_t a, uint32_t b,
                                     uint32_t c, uint32_t x) {
    vc__node n;
    n.op = (uint8_t)op;
    n.flags = (uint8_t)flags;
    n.type = (uint16_t)type;
    n.a[0] = a;
    n.a[1] = b;
    n.a[2] = c;
    n.x = x;
    return vc__add_node(s, &n);
}

static uint32_t vc__make(vc__lowering *s, uint16_t op, vc_type type, uint32_t a, uint32_t b, uint32_t c, uint32_t x) {
    return vc__make_node(s, 0, op, type, a, b, c, x);
}

static uint32_t vc__make_raw(vc__lowering *s, uint16_t op, vc_type type, uint32_t a, uint32_t b, uint32_t c,
                             uint32_t x) {
    return vc__make_node(s, VC__NODE_RAW, op, type, a, b, c, x);
}

static uint32_t vc__make_const(vc__lowering *s, vc_type type, uint64_t bits) {
    uint32_t parts[4], components = vc__components(type);
    bits &= vc__ones(vc__kinds[type & 15u].bits);
    uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
    parts[0] = vc__make_node(s, VC__NODE_RAW, VC__OP_CONST, vc__scalar(type), low, high, VC__NIL, 0);
    for (uint32_t i = 1; i < components; i++) parts[i] = parts[0];
    return components == 1 ? parts[0] : vc__make_vec(s, type, parts, components);
}

/* An a[i] of a tape node that is not an operand is returned unchanged. */
static inline uint32_t vc__map_operand(const vc__lowering *s, uint32_t operand, bool is_operand) {
    return is_operand && operand != VC__NIL ? s->map[operand] & ~VC__MAP_CONST : operand;
}

VC__SMALL_BODIES

/* The vector of which `parts` are all components, in order; VC__NIL: none. */
static uint32_t vc__find_vector(const vc__lowering *s, vc_type type, const uint32_t *parts, uint32_t count) {
    const vc__node *component = vc__lowered_node(s, parts[0]);
    uint32_t vector = component->a[0];
    for (uint32_t i = 0; i < count; i++) {
        component = vc__lowered_node(s, parts[i]);
        if (component->op != VC__OP_COMPONENT || component->x != i || component->a[0] != vector) return VC__NIL;
    }
    return vc__lowered_node(s, vector)->type == type ? vector : VC__NIL;
}

/* A TUPLE if all parts are constants, an existing vector if they are its components, otherwise a VEC. */
static uint32_t vc__make_vec(vc__lowering *s, vc_type type, const uint32_t *parts, uint32_t count) {
    uint32_t first = s->extra_count, before = s->count, number = vc__find_vector(s, type, parts, count);
    vc__node n = vc__null_node;
    bool constant = true;
    if (s->kernel->failed) return VC__NIL;
    if (number != VC__NIL) return number;
    for (uint32_t i = 0; i < count; i++) if (vc__lowered_node(s, parts[i])->op != VC__OP_CONST) constant = false;
    if (!vc__push_extra(s->kernel, &s->extra, &s->extra_count, &s->extra_capacity, parts, count)) return VC__NIL;
    n.op = constant ? VC__OP_TUPLE : VC__OP_VEC;
    n.type = (uint16_t)type;
    n.region = constant ? 0 : s->region;
    n.a[0] = first;
    n.a[1] = count;
    number = vc__merge(s, &n);
    if (s->count == before) s->extra_count = first;
    return number;
}

/* Bit mask of the scalar kinds for which vc__lower_plain may lower operation i; 0 for CUDA C and OpenCL C, because of
   scalarization. */
static uint32_t vc__plain_kinds(const vc__lowering *s, uint32_t i) {
    /* by bit of VC__KINDS_ */
    static const uint16_t kinds[] = { 1u << VC_BOOL, 15u << VC_I8, 15u << VC_U8, 7u << VC_F16 };
    const vc__op_info *op = &vc__op[i];
    uint32_t groups = !op->rule ? VC__KINDS_BIUF : op->flags & VC__FLAGS_INTEGERS ? VC__KINDS_F : VC__KINDS_0;
    uint32_t mask = 0;
    if (vc__is_c(s->target) || i == VC__OP_SELECT || i == VC__OP_EXTRACT) return 0;
    if (op->operands == 1 && (op->result == VC__RESULT_OWN || op->result == VC__RESULT_SCALAR)) return 0;
    for (uint32_t j = 0; j < 4; j++) if (groups >> j & 1u) mask |= kinds[j];
    return mask;
}

/* Sets s->plain for each operation. vc__spirv_node needs a case for exactly those pure operations that lack
   VC__PLAIN_PRINTED; a test checks this. */
static void vc__init_plain(vc__lowering *s) {
    memset(s->plain, 0, sizeof s->plain);
    for (uint32_t i = 0; i < VC__OP_COUNT; i++) {
        const vc__op_info *op = &vc__op[i];
        if (op->class_ != VC__PURE || op->operands < 1 || op->operands > 3) continue;
        if (!op->kinds || i == VC__OP_INDEX) continue; /* their operands may be VC__NIL */
        uint32_t plain = VC__PLAIN | vc__plain_kinds(s, i);
        plain |= op->operands == 3 ? VC__PLAIN_THREE : op->operands == 1 ? VC__PLAIN_ONE : 0;
        if (op->flags & VC__FLAGS_EXACT && !s->kernel->desc.fast) plain |= VC__PLAIN_EXACT;
        if (i != VC__OP_COMPONENT && i != VC__OP_CAST && i != VC__OP_BITCAST && i != VC__OP_SELECT &&
            i != VC__OP_WORD_SUM && !vc__is_upper_half(i) && !vc__is_dot_4x8(i))
            plain |= VC__PLAIN_PRINTED;
        s->plain[i] = plain;
    }
}

VC__SMALL_END

/* The entry of s->map for a number. */
static inline uint32_t vc__with_const_flag(const vc__lowering *s, uint32_t number) {
    return number != VC__NIL && vc__is_const(s, number) ? number | VC__MAP_CONST : number;
}

/* Simplifies a tape node whose second operand is constant and whose first, a, is not. Returns an entry for s->map, or
   VC__NIL if nothing can be simplified. Floats other than 0, -0 and 1 never can. */
VC__NOINLINE static uint32_t vc__lower_const(vc__lowering *s, const vc__node *t, uint32_t a, uint32_t constant) {
    const vc__node *n = &s->node[constant];
    uint64_t c;
    /* A float of any width with one of these fraction bits set is neither 0, -0 nor 1. */
    if (n->op == VC__OP_CONST && n->a[0] & 1023u && vc__is_float(n->type)) return VC__NIL;
    return vc__const_bits(s, constant, &c) ? vc__with_const_flag(s, vc__simplify_const(s, t, a, c)) : VC__NIL;
}

/* Fast path for plain operations: does the work of vc__add_node and vc__merge. The operands and the result *to are
   entries of s->map. Returns false if vc__lower_node must handle the node. */
VC__INLINE bool vc__lower_plain(vc__lowering *s, const vc__node *t, uint32_t a, uint32_t b, uint32_t c, uint32_t *to) {
    uint32_t i, number, op_and_type = vc__op_and_type(t), x = t->x;
    vc__node *n;
    if (s->count >= s->node_limit || a & VC__MAP_CONST || a == b) return false;
    if (b == VC__NIL) {
        if (s->node[a].op == t->op) return false; /* the two may cancel, as in -(-x) */
    } else if (c != VC__NIL) {
        if (b & VC__MAP_CONST && t->op == VC__OP_FMA && vc__has_zero(s, b & ~VC__MAP_CONST)) return false;
        b &= ~VC__MAP_CONST;
        c &= ~VC__MAP_CONST;
    } else if (b & VC__MAP_CONST) {
        b &= ~VC__MAP_CONST;
        number = vc__lower_const(s, t, a, b);
        if (number != VC__NIL) { *to = number; return true; }
    }
    uint32_t hash = vc__hash_end(vc__hash_parts(op_and_type, a, b, c ^ x)); /* equals vc__hash_node */
    for (i = hash & s->mask; s->slot[i]; i = (i + 1) & s->mask) {
        if (!vc__slot_matches(s->slot[i], hash)) continue;
        number = vc__slot_number(s->slot[i]);
        n = &s->node[number];
        if (n->a[0] != a || n->a[1] != b || n->a[2] != c || vc__op_and_type(n) != op_and_type || n->x != x) continue;
        if (vc__reuse_node(s, n, t->region)) { *to = number; return true; }
        break;
    }
    number = *to = s->count++;
    s->slot[i] = vc__slot_pack(hash, number);
    n = &s->node[number];
    memcpy(n, &op_and_type, sizeof op_and_type);
    n->region = t->region;
    n->a[0] = a;
    n->a[1] = b;
    n->a[2] = c;
    n->x = x;
    return true;
}

VC__NOINLINE static bool vc__lower_binary(vc__lowering *s, const vc__node *t, uint32_t a, uint32_t b, uint32_t *to) {
    return vc__lower_plain(s, t, a, b, VC__NIL, to);
}

/* Fast path for shifts and rotates of a scalar by a constant of its type, from 1 to its width - 1. Returns false if
   vc__lower_node must handle the node. */
VC__NOINLINE static bool vc__lower_const_shift(vc__lowering *s, const vc__node *t, uint32_t x, uint32_t count,
                                               uint32_t *to) {
    const vc__node *c = &s->node[count & ~VC__MAP_CONST];
    uint32_t width = vc__kinds[t->type & 15u].bits, left, right;
    vc__node n = *t;
    if (!(count & VC__MAP_CONST) || c->op != VC__OP_CONST || c->type != t->type) return false;
    if (c->a[1] || c->a[0] - 1u >= width - 1u) return false;
    if (t->op != VC__OP_ROTL || vc__is_opencl(s->target) || (vc__is_cuda(s->target) && width == 32))
        return vc__lower_binary(s, t, x, count, to);
    if (width < 32 || x & VC__MAP_CONST) return false;
    s->region = t->region;
    right = vc__make_const(s, t->type, width - c->a[0]);
    if (right == VC__NIL) return false;
    n.op = VC__OP_SHL;
    if (!vc__lower_binary(s, &n, x, count, &left)) return false;
    n.op = VC__OP_SHR;
    if (!vc__lower_binary(s, &n, x, right | VC__MAP_CONST, &right)) return false;
    n.op = VC__OP_OR;
    return vc__lower_binary(s, &n, left, right, to);
}

/* Lowers node i of the tape, whose operands must be lowered. Returns the number of the result. */
VC__NOINLINE static uint32_t vc__lower_node(vc__lowering *s, uint32_t i) {
    const vc__node *t = &s->kernel->node[i];
    const vc__op_info *op = &vc__op[t->op];
    uint32_t operands = op->operands, result = VC__NIL, parts[4];
    vc__node n;
    s->region = t->region;
    if (operands == VC__MANY) {
        for (uint32_t j = 0; j < t->a[1]; j++) parts[j] = vc__map_operand(s, s->kernel->extra[t->a[0] + j], true);
        return vc__make_vec(s, t->type, parts, t->a[1]);
    }
    /* An effect begins region t->region. Nodes that its lowering rule adds precede it, so they belong to the region
       before. */
    if (op->class_ >= VC__EFFECT) s->region = t->region - 1;
    n.op = t->op;
    n.flags = 0;
    n.type = t->type;
    n.a[0] = vc__map_operand(s, t->a[0], operands > 0);
    n.a[1] = vc__map_operand(s, t->a[1], operands > 1);
    n.a[2] = vc__map_operand(s, t->a[2], operands > 2);
    n.x = s->marks_rounding && t->op == VC__OP_CAST ? t->flags & VC__NODE_WIDENED : t->x;
    /* VC__NIL: not applicable, or an error; after an error, the next functions do nothing */
    if (s->kernel->uses_carries && vc__is_cuda(s->target))
        result = vc__lower_wide(s, &n, (t->flags & VC__NODE_BOTH_HALVES) != 0);
    if (result == VC__NIL && vc__is_c(s->target)) result = vc__scalarize(s, &n);
    return result != VC__NIL ? result : vc__add_node(s, &n);
}

static inline bool vc__is_unlowered(const vc__lowering *s, uint32_t operand) {
    return operand != VC__NIL && s->map[operand] == VC__NIL;
}

static inline uint32_t vc__first_unlowered(const vc__lowering *s, const vc__node *n) {
    uint32_t operands = vc__op[n->op].operands;
    if (operands == VC__MANY) {
        const uint32_t *extra = s->kernel->extra + n->a[0];
        for (uint32_t i = 0; i < n->a[1]; i++) if (vc__is_unlowered(s, extra[i])) return extra[i];
        return VC__NIL;
    }
    if (operands > 0 && vc__is_unlowered(s, n->a[0])) return n->a[0];
    if (operands > 1 && vc__is_unlowered(s, n->a[1])) return n->a[1];
    return operands > 2 && vc__is_unlowered(s, n->a[2]) ? n->a[2] : VC__NIL;
}

/* Lowers tape node i and returns VC__NIL if all of its operands are lowered. Otherwise returns an operand that must be
   lowered first; *second is set to the second operand of a plain operation if that must be lowered, too. Returns
   VC__STOP after an error. */
#define VC__STOP (VC__NIL - 1)
static inline uint32_t vc__lower_next(vc__lowering *s, const vc__node *tape, uint32_t *map, uint32_t i,
                                      uint32_t *second) {
    const vc__node *t = &tape[i];
    uint32_t plain = s->plain[t->op], a, b = VC__NIL, c = VC__NIL;
    if (plain >> vc__kind(t->type) & 1u) {
        a = map[t->a[0]];
        if (!(plain & VC__PLAIN_ONE)) {
            b = map[t->a[1]];
            if (b == VC__NIL) {
                if (a != VC__NIL) return t->a[1];
                *second = t->a[1];
                VC__PREFETCH(&tape[t->a[1]]);
            }
        }
        if (a == VC__NIL) return t->a[0];
        if (plain & VC__PLAIN_THREE) {
            c = map[t->a[2]];
            if (c == VC__NIL) return t->a[2];
        }
        if (vc__lower_plain(s, t, a, b, c, &map[i])) return VC__NIL;
    } else {
        a = vc__first_unlowered(s, t);
        if (a != VC__NIL) return a;
        if (vc__is_shift(t->op) && s->target != VC_TARGET_NONE &&
            vc__lower_const_shift(s, t, map[t->a[0]], map[t->a[1]], &map[i])) return VC__NIL;
    }
    map[i] = vc__with_const_flag(s, vc__lower_node(s, i));
    return s->kernel->failed ? VC__STOP : VC__NIL;
}

/* Lowers a tape node and all nodes on which it depends, operands first, left to right. The stack contains nodes whose
   operands are being lowered, and second operands, which may already be lowered when they are popped. Its lowest entry
   is VC__NIL. */
VC__NOINLINE static void vc__lower_tree(vc__lowering *s, uint32_t root) {
    const vc__node *tape = s->kernel->node; /* lowering records nothing, so tape and map do not move */
    uint32_t *map = s->map, *top = s->stack, i = root;
    *top = VC__NIL;
    do {
        uint32_t second = VC__NIL;
        uint32_t next = vc__lower_next(s, tape, map, i, &second);
        if (next < VC__STOP) {
            *++top = i;
            if (second != VC__NIL) *++top = second;
            i = next;
        } else {
            i = next == VC__NIL ? *top-- : VC__NIL;
            while (i != VC__NIL && map[i] != VC__NIL) i = *top--;
        }
    } while (i != VC__NIL);
}

VC__SMALL_BODIES

/* Hash slot for operation `op`, a carry, borrow or upper half, on the operands of n. The slot contains 1 + the node's
   index on the tape, or 0 if the tape has no such node. */
static uint32_t *vc__upper_half_slot(const vc__lowering *s, uint32_t mask, uint32_t op, const vc__node *n) {
    const vc__node *tape = s->kernel->node;
    bool ordered = op == VC__OP_SUB_BORROW || n->a[0] < n->a[1];
    uint32_t a = n->a[ordered ? 0 : 1], b = n->a[ordered ? 1 : 0], i = vc__hash_end(vc__hash_parts(op, a, b, 0)) & mask;
    for (; s->stack[i]; i = (i + 1) & mask) {
        const vc__node *m = &tape[s->stack[i] - 1];
        if (m->op != op) continue;
        if ((m->a[0] == a && m->a[1] == b) || (op != VC__OP_SUB_BORROW && m->a[0] == b && m->a[1] == a)) break;
    }
    return &s->stack[i];
}

/* Sets VC__NODE_BOTH_HALVES on each u32 product, sum or difference whose upper half, carry or borrow is also on the
   tape, and on those. The stack, of 2 * count + 1 words, is not in use yet and serves as the hash table. */
static void vc__mark_halves(vc__lowering *s) {
    vc_kernel *k = s->kernel;
    uint32_t size = 1;
    while (size <= k->count) size *= 2;
    memset(s->stack, 0, size * sizeof(uint32_t));
    for (uint32_t i = 0; i < k->count; i++) {
        const vc__node *n = &k->node[i];
        uint32_t *slot = vc__is_upper_half(n->op) ? vc__upper_half_slot(s, size - 1, n->op, n) : NULL;
        if (slot && !*slot) *slot = i + 1;
    }
    for (uint32_t i = 0; i < k->count; i++) {
        vc__node *n = &k->node[i];
        uint32_t op = n->op == VC__OP_MUL ? VC__OP_MUL_HI : n->op == VC__OP_ADD ? VC__OP_ADD_CARRY :
                      n->op == VC__OP_SUB ? VC__OP_SUB_BORROW : VC__OP_NONE;
        if (op == VC__OP_NONE || n->type != VC_U32 || !*vc__upper_half_slot(s, size - 1, op, n)) continue;
        k->node[*vc__upper_half_slot(s, size - 1, op, n) - 1].flags |= VC__NODE_BOTH_HALVES;
        n->flags |= VC__NODE_BOTH_HALVES;
    }
    for (uint32_t i = 0; i < k->count; i++) {
        vc__node *n = &k->node[i];
        if (!vc__is_upper_half(n->op)) continue;
        const vc__node *first = &k->node[*vc__upper_half_slot(s, size - 1, n->op, n) - 1];
        if (first->flags & VC__NODE_BOTH_HALVES) n->flags |= VC__NODE_BOTH_HALVES;
    }
}

static bool vc__lower_all(vc__lowering *s) {
    vc_kernel *k = s->kernel;
    s->count = 0;
    s->extra_count = 0;
    s->leaf_count = 0;
    /* The hash table and the map are written completely, so they are allocated first: the allocator may reuse memory
       for them that the growing tape has released. The stack is large, but usually only its start is written. */
    if (!vc__rehash(s, k->count + k->count / 2)) return false;
    if (!VC__RESERVE(k, s->map, s->map_capacity, k->count)) return false;
    if (!VC__RESERVE(k, s->stack, s->stack_capacity, 2 * k->count + 1)) return false;
    /* The memory of the nodes is later used for the body of the SPIR-V module, see vc__spirv_swap_buffers. */
    if (!VC__RESERVE(k, s->node, s->capacity, k->count + k->count / 2)) return false;
    vc__update_node_limit(s);
    memset(s->map, 0xff, k->count * sizeof(uint32_t));
    vc__init_plain(s);
    if (k->uses_carries && vc__is_cuda(s->target)) vc__mark_halves(s);
    s->marks_rounding = k->casts_to_narrower && (s->target == VC_TARGET_SPIRV || s->target == VC_TARGET_GLSL);
    if (s->marks_rounding) vc__find_widened(k);
    for (uint32_t i = 1; i < k->anchor_count && !k->failed; i++) {
        s->anchor = i;
        vc__lower_tree(s, k->anchor[i].node);
    }
    return !k->failed;
}

VC__SMALL_END

static inline void vc__mark_operand(vc__lowering *s, uint32_t operand) {
    if (operand != VC__NIL) s->node[operand].flags |= VC__NODE_LIVE;
}

/* Dead-code elimination, backward, because users have higher numbers than their operands. Returns the number of live
   constants, and counts the other live nodes of each region, except leaves, in region_start. */
VC__NOINLINE static uint32_t vc__mark_live(vc__lowering *s) {
    uint32_t i = s->count, consts = 0;
    memset(s->region_start, 0, s->kernel->anchor_count * sizeof(uint32_t));
    while (i-- > 0) {
        vc__node *n = &s->node[i], *node = s->node;
        const vc__op_info *op = &vc__op[n->op];
        if (!(n->flags & VC__NODE_LIVE) && op->class_ < VC__EFFECT) continue;
        uint32_t plain = s->plain[n->op];
        if (plain) {
            s->region_start[n->region]++;
            node[n->a[0]].flags |= VC__NODE_LIVE;
            if (plain & VC__PLAIN_ONE) continue;
            node[n->a[1]].flags |= VC__NODE_LIVE;
            if (plain & VC__PLAIN_THREE) node[n->a[2]].flags |= VC__NODE_LIVE;
            continue;
        }
        n->flags |= VC__NODE_LIVE;
        if (op->class_ != VC__LEAF) s->region_start[n->region]++;
        else consts += vc__is_const_op(n->op);
        if (op->operands == VC__MANY) {
            for (uint32_t j = 0; j < n->a[1]; j++) vc__mark_operand(s, s->extra[n->a[0] + j]);
            continue;
        }
        if (op->operands > 0) vc__mark_operand(s, n->a[0]);
        if (op->operands > 1) vc__mark_operand(s, n->a[1]);
        if (op->operands > 2) vc__mark_operand(s, n->a[2]);
    }
    return consts;
}

VC__SMALL_BODIES

/* Shell sort: there are few leaves, and they are usually in order. */
static void vc__sort_leaves(vc__leaf *leaf, uint32_t count) {
    uint32_t gap, i, j;
    for (gap = count / 2; gap; gap /= 2)
        for (i = gap; i < count; i++) {
            vc__leaf x = leaf[i];
            for (j = i; j >= gap && leaf[j - gap].key > x.key; j -= gap) leaf[j] = leaf[j - gap];
            leaf[j] = x;
        }
}

/* Assigns indices in the listing, from `first` on, to the live leaves. Returns the index after the last one. */
static uint32_t vc__assign_leaves(vc__lowering *s, uint32_t first) {
    vc__sort_leaves(s->leaf, s->leaf_count);
    for (uint32_t i = 0; i < s->leaf_count; i++)
        if (s->node[s->leaf[i].number].flags & VC__NODE_LIVE) s->slot[s->leaf[i].number] = first++;
    return first;
}

static void vc__layout_listing(vc__lowering *s, uint32_t consts, vc__listing *l) {
    uint32_t start;
    l->leaves = consts;
    l->body = start = vc__assign_leaves(s, consts);
    for (uint32_t i = 0; i < s->kernel->anchor_count; i++) {
        uint32_t size = s->region_start[i];
        s->region_start[i] = start;
        start += size;
    }
    l->count = start;
}

VC__SMALL_END

/* Copies a node that is not plain, with its operands as indices into the listing. */
static inline void vc__write_operands(vc__lowering *s, const vc__node *n, vc__node *to) {
    uint32_t *index = s->slot, *extra = s->extra, operands = vc__op[n->op].operands;
    *to = *n;
    to->flags = 0;
    if (!operands) return;
    for (uint32_t j = 0; j < 3; j++)
        to->a[j] = operands != VC__MANY && j < operands && n->a[j] != VC__NIL ? index[n->a[j]] : n->a[j];
    if (operands != VC__MANY) return;
    for (uint32_t j = 0; j < n->a[1]; j++) extra[n->a[0] + j] = index[extra[n->a[0] + j]];
}

/* Copies the live nodes to the listing, in order. Local copies of struct members save reloads after each store. */
VC__NOINLINE static void vc__write_sorted(vc__lowering *s, vc__listing *l) {
    const uint32_t floats = 1u << VC_F16 | 1u << VC_F32 | 1u << VC_F64;
    uint32_t i, position, kinds = 0, consts = 0, precise = 0, count = s->count;
    uint32_t *index = s->slot, *start = s->region_start;
    const vc__node *node = s->node;
    vc__node *sorted = s->sorted;
    for (i = 0; i < count; i++) {
        const vc__node *n = &node[i];
        vc__node *to;
        if (!(n->flags & VC__NODE_LIVE)) continue;
        uint32_t bit = 1u << vc__kind(n->type);
        kinds |= bit;
        uint32_t plain = s->plain[n->op];
        if (!plain) {
            position = vc__op[n->op].class_ != VC__LEAF ? start[n->region]++
                       : vc__is_const_op(n->op)         ? consts++
                                                        : index[i];
            index[i] = position;
            vc__write_operands(s, n, &sorted[position]);
            continue;
        }
        index[i] = position = start[n->region]++;
        to = &sorted[position];
        *to = *n;
        to->flags = 0;
        if (plain & VC__PLAIN_EXACT && bit & floats) {
            to->flags = VC__NODE_PRECISE;
            precise++;
        }
        to->a[0] = index[n->a[0]];
        to->a[1] = plain & VC__PLAIN_ONE ? VC__NIL : index[n->a[1]];
        to->a[2] = plain & VC__PLAIN_THREE ? index[n->a[2]] : VC__NIL;
    }
    s->kinds = kinds;
    l->precise = precise;
}

VC__SMALL_BODIES

/* Makes the listing of a kernel, except l->info (see vc__reflect_listing). */
static bool vc__schedule(vc_kernel *k, vc_target target, vc_buffers buffers, vc__listing *l) {
    vc__lowering *s = &k->lower;
    memset(l, 0, sizeof *l);
    s->kernel = k;
    s->target = target;
    s->buffers = buffers;
    if (!vc__lower_all(s)) return false;
    if (!VC__RESERVE(k, s->slot, s->slot_capacity, s->count)) return false;
    if (!VC__RESERVE(k, s->region_start, s->region_capacity, k->anchor_count)) return false;
    vc__layout_listing(s, vc__mark_live(s), l);
    if (!VC__RESERVE(k, s->sorted, s->sorted_capacity, l->count + 1)) return false; /* + 1: never NULL */
    vc__write_sorted(s, l);
    l->node = s->sorted;
    l->extra = s->extra;
    l->object = k->object ? k->object : &s->no_object; /* not NULL: printers may compute &l->object[i] and not use it */
    l->object_count = k->object_count;
    l->target = target;
    l->buffers = buffers;
    l->reconverges = k->reconverges;
    return true;
}

VC__SMALL_END

// >>print
/* Growing buffers for text and SPIR-V words, formatted text, and the text of errors. */

static bool vc__words_reserve(vc_kernel *k, vc__words *w, uint32_t more) {
    if (w->capacity - w->count >= more) return true;
    if (more <= VC__NIL - w->count) return VC__RESERVE(k, w->data, w->capacity, w->count + more);
    vc__no_memory(k);
    return false;
}

/* Swaps the memory of w with that of a list whose elements have `each` words. The contents of the list are lost. */
static void vc__words_swap(vc__words *w, void **list, uint32_t *capacity, uint32_t each) {
    uint32_t *memory = w->data, capacity_words = w->capacity;
    w->data = (uint32_t *)*list;
    w->capacity = *capacity * each;
    *list = memory;
    *capacity = capacity_words / each;
}

VC__SMALL_BODIES

/* Makes room for `more` characters and a terminating zero. */
static bool vc__text_reserve(vc_kernel *k, vc__text *t, size_t more) {
    size_t need = t->length + more + 1, capacity = t->capacity * 2 > 4096 ? t->capacity * 2 : 4096;
    if (need <= t->capacity) return true;
    if (capacity < need) capacity = need;
    const vc_allocator *a = &k->allocator;
    void *at = need <= more ? NULL
               : t->data    ? a->reallocate(a->user, t->data, capacity)
                            : a->allocate(a->user, capacity);
    if (!at) {
        vc__no_memory(k);
        return false;
    }
    t->data = (char *)at;
    t->capacity = capacity;
    return true;
}

static void vc__text_append(vc_kernel *k, vc__text *t, const char *s, size_t length) {
    if (!vc__text_reserve(k, t, length)) return;
    memcpy(t->data + t->length, s, length);
    t->length += length;
    t->data[t->length] = 0;
}

/* ---- formatted text, and errors ---- */

static const char *vc__object_kind(uint32_t op) {
    return op == VC__OP_BUFFER   ? "buffer"
           : op == VC__OP_SHARED ? "shared array"
           : op == VC__OP_TABLE  ? "table"
           : op == VC__OP_VAR    ? "variable"
                                 : "array";
}

/* Prints a directive whose argument is a number of the caller: "%t" a type, "%e" an expression, … `width`: the number
   before the letter; -1: none. */
typedef void vc__directive(void *context, char letter, int width, uint32_t x);

/* Appends to a text or, if `text` is NULL, to the error message of the kernel, which is cut off at its end. */
static void vc__write_piece(vc_kernel *k, vc__text *text, const char *s, size_t length) {
    if (text) { vc__text_append(k, text, s, length); return; }
    size_t used = strlen(k->error), room = sizeof k->error - 1 - used;
    if (length > room) length = room;
    memcpy(k->error + used, s, length);
    k->error[used + length] = 0;
}

/* Writes " 'x'" for an operand that is a named parameter, otherwise "". */
static void vc__write_label(const vc_kernel *k, const vc__operand *o, char out[40]) {
    const vc__node *n = o->node == VC__NIL ? NULL : &k->node[o->node];
    out[0] = 0;
    if (n && n->op == VC__OP_PARAM && k->object[n->x].name) snprintf(out, 40, " '%.30s'", k->object[n->x].name);
}

static bool vc__is_private(const vc__object *o) { return o->op == VC__OP_VAR || o->op == VC__OP_ARRAY; }

/* The first operand that may differ between invocations; VC__NIL: none. */
static uint32_t vc__divergent_operand(const vc_kernel *k, const vc__node *n) {
    uint32_t count;
    const uint32_t *operand = vc__operands(n, k->extra, &count);
    for (uint32_t i = 0; i < count; i++)
        if (operand[i] != VC__NIL && k->node[operand[i]].flags & VC__NODE_VARIES) return operand[i];
    return VC__NIL;
}

/* Writes "; the condition depends on variable 'stop'" if a condition is divergent because of a value that was loaded
   from a variable or private array, otherwise "". */
static void vc__write_cause(const vc_kernel *k, uint32_t node, char out[80]) {
    out[0] = 0;
    for (; node != VC__NIL; node = vc__divergent_operand(k, &k->node[node])) {
        const vc__object *o = k->node[node].op == VC__OP_LOAD ? &k->object[k->node[k->node[node].a[0]].x] : NULL;
        if (!o || !vc__is_private(o) || !o->divergence) continue;
        snprintf(out, 80, "; the condition depends on %s '%.40s'", vc__object_kind(o->op), o->name ? o->name : "");
        break;
    }
}

/* Prints text as printf does, with the conversions s (NULL: nothing), c, d, u, x and f, and lld, llu and llx, whose
   arguments are long long or unsigned long long; * is allowed directly before s only. Further directives: %m: a memory
   object (const vc__object *), "buffer 'x'"; %a: the label of an operand (const vc__operand *); %w: why a condition
   (its node) is divergent. All other letters are directives of `custom`; if that is NULL, %t is a type. */
static void vc__write(vc_kernel *k, vc__text *text, vc__directive *custom, void *context, const char *format,
                      va_list *list) {
    char spec[16], piece[512];
    for (;;) {
        size_t n = strcspn(format, "%");
        vc__write_piece(k, text, format, n);
        format += n;
        if (!*format) return;
        n = 1 + strspn(format + 1, "-0123456789.*l");
        snprintf(spec, sizeof spec, "%.*s", (int)n + 1, format);
        const char *s = piece;
        char letter = format[n];
        format += n + 1;
        if (letter == 's') {
            int limit = format[-2] == '*' ? va_arg(*list, int) : 0;
            s = va_arg(*list, const char *);
            if (!s) s = "";
            if (format[-2] == '*') { snprintf(piece, sizeof piece, spec, limit, s); s = piece; }
            else if (n > 1) { snprintf(piece, sizeof piece, spec, s); s = piece; }
        } else if (letter == 'm') {
            const vc__object *o = va_arg(*list, const vc__object *);
            snprintf(piece, sizeof piece, "%s '%s'", vc__object_kind(o->op), o->name ? o->name : "");
        } else if (letter == 'a') vc__write_label(k, va_arg(*list, const vc__operand *), piece);
        else if (letter == '%') s = "%";
        else if (letter == 'f') snprintf(piece, sizeof piece, spec, va_arg(*list, double));
        else if (n > 1 && format[-2] == 'l') snprintf(piece, sizeof piece, spec, va_arg(*list, unsigned long long));
        else {
            unsigned x = va_arg(*list, unsigned);
            if (letter == 'w') vc__write_cause(k, x, piece);
            else if (strchr("cdux", letter)) snprintf(piece, sizeof piece, spec, x);
            else if (custom) { custom(context, letter, n > 1 ? atoi(spec + 1) : -1, x); continue; }
            else snprintf(piece, sizeof piece, "%s", vc__type_text(k, x).text);
        }
        vc__write_piece(k, text, s, strlen(s));
    }
}

/* Writes " (shader.c:42)", the position of the running call, or "". Keeps the end of a path that is too long: 16
   characters are needed for " (", ":", ")", the zero and a line number of up to 11. */
static void vc__print_position(char *out, size_t size) {
    const char *file = vc__current_position.file;
    size_t length = file ? strlen(file) : 0;
    *out = 0;
    if (file) snprintf(out, size, " (%s:%d)", length + 16 > size ? file + (length + 16 - size) : file,
                       vc__current_position.line);
}

static vc_val vc__fail_call(vc_kernel *k, const char *call, const char *format, ...) {
    va_list list;
    char *c, position[160];
    if (!vc__ready(k)) return vc__no_value();
    k->failed = true;
    k->node_limit = 0;
    snprintf(k->error, sizeof k->error, "%s%s%skernel '%.200s': ", call && *call != 'V' ? "vc_" : "", call ? call : "",
             call ? " in " : "", vc__name(k));
    size_t prefix = strlen(k->error);
    if (k->replayed_statement)
        snprintf(k->error + prefix, sizeof k->error - prefix, "statement %u: ", (unsigned)k->replayed_statement);
    va_start(list, format);
    vc__write(k, NULL, NULL, NULL, format, &list);
    va_end(list);
    vc__print_position(position, sizeof position);
    /* a long sentence is cut off, its position is not */
    size_t used = strlen(k->error), room = sizeof k->error - 1 - strlen(position);
    strcpy(k->error + (used < room ? used : room), position);
    /* the caller's names may contain control characters */
    for (c = k->error; *c; c++) if ((unsigned char)*c < ' ') *c = ' ';
    if (k->desc.error) k->desc.error(k->desc.error_user, k->error);
    return vc__no_value();
}

VC__SMALL_END

// >>spirv
/* The SPIR-V printer. A module declares exactly the capabilities that it uses.
   The printer makes one pass over the listing. The result of node i has id 1 + i; all other ids are larger. SPIR-V
   prescribes the order of the parts of a module, so each part is printed into its own section, and the sections are
   concatenated at the end.
   Buffers are StorageBuffer bindings, or pointers converted from addresses in the argument block. The argument block is
   declared as 32-bit words; each word that is used is loaded once, at the start of the function.
   SPV_KHR_float_controls is not used: drivers preserve signed zeros, infinities and NaN as they do for GLSL. */

enum {
    VC__SECTION_BODY, /* the last one of the module; HEAD is the first, then these: */
    VC__SECTION_NAMES, VC__SECTION_DECORATIONS, VC__SECTION_GLOBALS, VC__SECTION_LOCALS,
    VC__SECTION_INTERFACE, /* variables of the entry point: see vc__spirv_entry */
    VC__SECTION_FRAMES,    /* stack of open blocks: vc__frame */
    VC__SECTION_HEAD, VC__SECTIONS
};

/* Storage classes as indices of tables. VC__CLASS_ADDRESS is PhysicalStorageBuffer, VC__CLASS_IMAGE UniformConstant. */
enum {
    VC__CLASS_INPUT, VC__CLASS_WORKGROUP, VC__CLASS_PRIVATE, VC__CLASS_FUNCTION, VC__CLASS_PUSH, VC__CLASS_BUFFER,
    VC__CLASS_ADDRESS, VC__CLASS_IMAGE, VC__CLASSES
};
static const uint32_t vc__spirv_class[VC__CLASSES] = {
    VC__StorageClassInput, VC__StorageClassWorkgroup, VC__StorageClassPrivate, VC__StorageClassFunction,
    VC__StorageClassPushConstant, VC__StorageClassStorageBuffer, VC__StorageClassPhysicalStorageBuffer,
    VC__StorageClassUniformConstant
};

/* Capabilities as bits. The first eight have the value of the corresponding VC_FEATURE_. */
enum {
    VC__CAP_F16 = VC_FEATURE_F16, VC__CAP_F64 = VC_FEATURE_F64, VC__CAP_I8 = VC_FEATURE_I8,
    VC__CAP_I16 = VC_FEATURE_I16, VC__CAP_I64 = VC_FEATURE_I64, VC__CAP_STORAGE_8 = VC_FEATURE_STORAGE_8,
    VC__CAP_STORAGE_16 = VC_FEATURE_STORAGE_16, VC__CAP_ADDRESS = VC_FEATURE_ADDRESS, VC__CAP_FEATURES = 255,
    VC__CAP_ATOMIC_I64 = 1 << 8, VC__CAP_ATOMIC_F32_ADD = 1 << 9, VC__CAP_SUBGROUP = 1 << 10, VC__CAP_VOTE = 1 << 11,
    VC__CAP_ARITHMETIC = 1 << 12, VC__CAP_BALLOT = 1 << 13, VC__CAP_SHUFFLE = 1 << 14, VC__CAP_RELATIVE = 1 << 15,
    VC__CAP_CLUSTERED = 1 << 16, VC__CAP_SAMPLED_1D = 1 << 17, VC__CAP_IMAGE_1D = 1 << 18,
    VC__CAP_SAMPLED_BUFFER = 1 << 19, VC__CAP_IMAGE_BUFFER = 1 << 20, VC__CAP_FORMATS = 1 << 21,
    VC__CAP_IMAGE_QUERY = 1 << 22, VC__CAP_IMAGE_READ = 1 << 23, VC__CAP_IMAGE_WRITE = 1 << 24, VC__CAP_DOT = 1 << 25,
    VC__CAP_DOT_4X8 = 1 << 26, VC__CAP_SAMPLED_INDEX = 1 << 27, VC__CAP_STORAGE_INDEX = 1 << 28,
    VC__CAP_SAMPLED_ANY = 1 << 29, VC__CAP_STORAGE_ANY = 1 << 30, VC__CAPS = 31
};
static const struct { uint32_t cap, number; } vc__spirv_caps[VC__CAPS] = { /* in the order of the module */
    { VC__CAP_F16, VC__CapabilityFloat16 }, { VC__CAP_F64, VC__CapabilityFloat64 },
    { VC__CAP_I64, VC__CapabilityInt64 }, { VC__CAP_I16, VC__CapabilityInt16 }, { VC__CAP_I8, VC__CapabilityInt8 },
    { VC__CAP_STORAGE_16, VC__CapabilityStorageBuffer16BitAccess },
    { VC__CAP_STORAGE_8, VC__CapabilityStorageBuffer8BitAccess },
    { VC__CAP_ADDRESS, VC__CapabilityPhysicalStorageBufferAddresses },
    { VC__CAP_ATOMIC_I64, VC__CapabilityInt64Atomics }, { VC__CAP_ATOMIC_F32_ADD, VC__CapabilityAtomicFloat32AddEXT },
    { VC__CAP_SUBGROUP, VC__CapabilityGroupNonUniform }, { VC__CAP_VOTE, VC__CapabilityGroupNonUniformVote },
    { VC__CAP_ARITHMETIC, VC__CapabilityGroupNonUniformArithmetic },
    { VC__CAP_BALLOT, VC__CapabilityGroupNonUniformBallot }, { VC__CAP_SHUFFLE, VC__CapabilityGroupNonUniformShuffle },
    { VC__CAP_RELATIVE, VC__CapabilityGroupNonUniformShuffleRelative },
    { VC__CAP_CLUSTERED, VC__CapabilityGroupNonUniformClustered }, { VC__CAP_SAMPLED_1D, VC__CapabilitySampled1D },
    { VC__CAP_IMAGE_1D, VC__CapabilityImage1D }, { VC__CAP_SAMPLED_BUFFER, VC__CapabilitySampledBuffer },
    { VC__CAP_IMAGE_BUFFER, VC__CapabilityImageBuffer }, { VC__CAP_FORMATS, VC__CapabilityStorageImageExtendedFormats },
    { VC__CAP_IMAGE_QUERY, VC__CapabilityImageQuery },
    { VC__CAP_IMAGE_READ, VC__CapabilityStorageImageReadWithoutFormat },
    { VC__CAP_IMAGE_WRITE, VC__CapabilityStorageImageWriteWithoutFormat }, { VC__CAP_DOT, VC__CapabilityDotProduct },
    { VC__CAP_DOT_4X8, VC__CapabilityDotProductInput4x8BitPacked },
    { VC__CAP_SAMPLED_INDEX, VC__CapabilitySampledImageArrayDynamicIndexing },
    { VC__CAP_STORAGE_INDEX, VC__CapabilityStorageImageArrayDynamicIndexing },
    { VC__CAP_SAMPLED_ANY, VC__CapabilitySampledImageArrayNonUniformIndexing },
    { VC__CAP_STORAGE_ANY, VC__CapabilityStorageImageArrayNonUniformIndexing }
};

typedef struct vc__frame { /* an open block */
    uint32_t op;
    uint32_t merge;  /* label of the merge block */
    uint32_t other;  /* IF: label of the else branch; loops: label of the continue block */
    uint32_t header; /* IF: index in the body of the word with the merge label; loops: label of the header */
    uint32_t next;   /* FOR: id of the counter's next value */
    uint32_t node;
    uint32_t loop;   /* frame of the enclosing loop */
} vc__frame;
#define VC__FRAME_WORDS ((uint32_t)(sizeof(vc__frame) / sizeof(uint32_t)))

#define VC__SPIRV_CACHE 512u
#define VC__PLAIN_WORDS 8u /* largest size of a plain operation: OpExtInst with three operands */
typedef struct vc__cached { uint64_t bits; uint32_t kind, id; } vc__cached;
typedef struct vc__spirv {
    vc_kernel *k;
    const vc__listing *l;
    vc__words *section;       /* VC__SECTION_ */
    uint32_t bound, caps;
    uint32_t label;           /* of the block being printed */
    uint32_t loop;            /* frame of the innermost loop */
    uint32_t glsl_std, arg_block, main;
    uint32_t builtin[VC__IDS]; /* ids of the loaded values, see vc__spirv_builtin */
    uint32_t *word;           /* ids of the loaded words of the argument block */
    uint32_t *pointee;        /* by object: pointer type of a buffer that is accessed by address */
    uint32_t *image;          /* by object: type of an image */
    uint32_t *variable_type;  /* by object: type of an image, which may include the sampler */
    uint32_t *element_pointer; /* by object: type of a pointer to an element of an array of images */
    uint32_t *next_case;      /* by node, for SWITCH and CASE: the next case; NULL until the first switch */
    /* ids by vc_type, `ones` by components; 0: none yet */
    uint32_t type[64], null[64], array[64], pair[64], ones[4], pointer[VC__CLASSES][64];
    vc__cached cache[VC__SPIRV_CACHE]; /* constants that the printer declared; direct-mapped */
    uint32_t discarded[16];   /* receives instructions when memory is exhausted */
} vc__spirv;

/* ---- instructions ---- */

/* Where an instruction is appended, added to its opcode; 0: to the body. */
#define VC__HEAD ((uint32_t)VC__SECTION_HEAD << 16)
#define VC__NAMES ((uint32_t)VC__SECTION_NAMES << 16)
#define VC__DECORATIONS ((uint32_t)VC__SECTION_DECORATIONS << 16)
#define VC__GLOBALS ((uint32_t)VC__SECTION_GLOBALS << 16)
#define VC__LOCALS ((uint32_t)VC__SECTION_LOCALS << 16)
#define VC__INTERFACE ((uint32_t)VC__SECTION_INTERFACE << 16)
#define VC__INTERFACE_INPUT (VC__INTERFACE | 1) /* see vc__spirv_entry */

/* Appends an instruction of `words` words and returns a pointer to its first word, which is complete; the caller writes
   the others. Instructions of more than 16 words must reserve their memory first. */
VC__NOINLINE static uint32_t *vc__op_begin(vc__spirv *s, uint32_t op, uint32_t words) {
    vc__words *w = &s->section[op >> 16];
    if (w->capacity - w->count < words && !vc__words_reserve(s->k, w, words)) return s->discarded;
    uint32_t *o = w->data + w->count;
    w->count += words;
    o[0] = words << 16 | (op & 0xffffu);
    return o;
}
VC__NOINLINE static void vc__put1(vc__spirv *s, uint32_t op, uint32_t a) { vc__op_begin(s, op, 2)[1] = a; }
VC__NOINLINE static void vc__put2(vc__spirv *s, uint32_t op, uint32_t a, uint32_t b) {
    uint32_t *o = vc__op_begin(s, op, 3);
    o[1] = a; o[2] = b;
}
VC__NOINLINE static void vc__put3(vc__spirv *s, uint32_t op, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *o = vc__op_begin(s, op, 4);
    o[1] = a; o[2] = b; o[3] = c;
}
VC__NOINLINE static void vc__put4(vc__spirv *s, uint32_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    uint32_t *o = vc__op_begin(s, op, 5);
    o[1] = a; o[2] = b; o[3] = c; o[4] = d;
}
VC__NOINLINE static void vc__put5(vc__spirv *s, uint32_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                                  uint32_t e) {
    uint32_t *o = vc__op_begin(s, op, 6);
    o[1] = a; o[2] = b; o[3] = c; o[4] = d; o[5] = e;
}

static inline uint32_t vc__result(uint32_t node) { return node + 1; }
static inline uint32_t vc__new_id(vc__spirv *s) { return s->bound++; }

/* Append an instruction with the result `id` to the body. Return `id`. */
static inline uint32_t vc__unary(vc__spirv *s, uint32_t op, uint32_t type, uint32_t id, uint32_t a) {
    vc__put3(s, op, type, id, a);
    return id;
}
static inline uint32_t vc__binary(vc__spirv *s, uint32_t op, uint32_t type, uint32_t id, uint32_t a, uint32_t b) {
    vc__put4(s, op, type, id, a, b);
    return id;
}
/* The same with a new id. */
VC__NOINLINE static uint32_t vc__new_unary(vc__spirv *s, uint32_t op, uint32_t type, uint32_t a) {
    return vc__unary(s, op, type, vc__new_id(s), a);
}
VC__NOINLINE static uint32_t vc__new_binary(vc__spirv *s, uint32_t op, uint32_t type, uint32_t a, uint32_t b) {
    return vc__binary(s, op, type, vc__new_id(s), a, b);
}
/* Appends an instruction with a result and any number of operands. See vc__op_begin for more than 13 operands. */
VC__NOINLINE static void vc__put_list(vc__spirv *s, uint32_t op, uint32_t type, uint32_t id, const uint32_t *operand,
                                      uint32_t count) {
    uint32_t *o = vc__op_begin(s, op, 3 + count);
    o[1] = type; o[2] = id;
    memcpy(o + 3, operand, count * sizeof(uint32_t));
}
static void vc__composite(vc__spirv *s, uint32_t type, uint32_t id, const uint32_t *part, uint32_t count) {
    vc__put_list(s, VC__OpCompositeConstruct, type, id, part, count);
}

VC__SMALL_BODIES

/* With the terminating zero. At most 1003 characters are kept. */
static uint32_t vc__string_words(const char *text) {
    size_t length = strlen(text);
    return (uint32_t)((length > 1000 ? 1000 : length) / 4 + 1);
}
static void vc__put_string(uint32_t *at, const char *text) {
    uint32_t words = vc__string_words(text);
    for (uint32_t i = 0; i < words; i++) at[i] = 0;
    for (uint32_t i = 0; i < words * 4 - 1 && text[i]; i++) at[i / 4] |= (uint32_t)(uint8_t)text[i] << (i % 4 * 8);
}
static void vc__spirv_put_name(vc__spirv *s, uint32_t id, const char *name) {
    if (!name || !name[0]) return;
    uint32_t words = 2 + vc__string_words(name);
    if (!vc__words_reserve(s->k, &s->section[VC__SECTION_NAMES], words)) return;
    uint32_t *o = vc__op_begin(s, VC__NAMES | VC__OpName, words);
    o[1] = id;
    vc__put_string(o + 2, name);
}

static void vc__spirv_decorate(vc__spirv *s, uint32_t id, uint32_t decoration, uint32_t operand) {
    vc__put3(s, VC__DECORATIONS | VC__OpDecorate, id, decoration, operand);
}

/* Declares a global variable. storage: VC__CLASS_; pointer: its type; name: may be NULL. */
static void vc__spirv_variable(vc__spirv *s, uint32_t pointer, uint32_t id, uint32_t storage, const char *name) {
    vc__put3(s, VC__GLOBALS | VC__OpVariable, pointer, id, vc__spirv_class[storage]);
    vc__put1(s, storage == VC__CLASS_INPUT ? VC__INTERFACE_INPUT : VC__INTERFACE, id);
    vc__spirv_put_name(s, id, name);
}

/* Declares the variable of an argument that is bound to descriptor set 0. */
static void vc__spirv_bound_variable(vc__spirv *s, uint32_t pointer, uint32_t id, uint32_t storage,
                                     const vc_arg_info *arg) {
    vc__spirv_variable(s, pointer, id, storage, arg->name);
    vc__spirv_decorate(s, id, VC__DecorationDescriptorSet, 0);
    vc__spirv_decorate(s, id, VC__DecorationBinding, arg->location);
}

/* ---- types and constants ---- */

static uint32_t vc__spirv_type_make(vc__spirv *s, vc_type type) {
    uint32_t kind = vc__kind(type), id;
    if (vc__components(type) > 1) {
        uint32_t scalar_id = s->type[kind] ? s->type[kind] : vc__spirv_type_make(s, vc__scalar(type));
        id = vc__new_id(s);
        vc__put3(s, VC__GLOBALS | VC__OpTypeVector, id, scalar_id, vc__components(type));
        return s->type[type] = id;
    }
    id = vc__new_id(s);
    if (vc__bits(kind) == 64) s->caps |= vc__kind_features(kind);
    if (kind == VC_BOOL) vc__put1(s, VC__GLOBALS | VC__OpTypeBool, id);
    else if (vc__is_float(kind)) vc__put2(s, VC__GLOBALS | VC__OpTypeFloat, id, vc__bits(kind));
    else vc__put3(s, VC__GLOBALS | VC__OpTypeInt, id, vc__bits(kind), vc__is_signed(kind));
    return s->type[type] = id;
}

static inline uint32_t vc__spirv_type(vc__spirv *s, vc_type type) {
    return s->type[type & 63u] ? s->type[type & 63u] : vc__spirv_type_make(s, type & 63u);
}

/* Types of computed values, unlike those in memory, require the capability of their kind. */
static uint32_t vc__spirv_value_type(vc__spirv *s, vc_type type) {
    s->caps |= vc__kind_features(type);
    return vc__spirv_type(s, type);
}

/* storage: VC__CLASS_; type: id */
static uint32_t vc__spirv_pointer_to(vc__spirv *s, uint32_t storage, uint32_t type) {
    uint32_t id = vc__new_id(s);
    vc__put3(s, VC__GLOBALS | VC__OpTypePointer, id, vc__spirv_class[storage], type);
    return id;
}
static inline uint32_t vc__spirv_pointer(vc__spirv *s, uint32_t storage, vc_type type) {
    uint32_t *id = &s->pointer[storage][type & 63u];
    if (!*id) *id = vc__spirv_pointer_to(s, storage, vc__spirv_type(s, type));
    return *id;
}

static void vc__spirv_constant(vc__spirv *s, uint32_t kind, uint64_t bits, uint32_t id) {
    uint32_t type = vc__spirv_type(s, kind), width = vc__bits(kind);
    if (kind == VC_BOOL) vc__put2(s, VC__GLOBALS | (bits ? VC__OpConstantTrue : VC__OpConstantFalse), type, id);
    else if (width == 64)
        vc__put4(s, VC__GLOBALS | VC__OpConstant, type, id, (uint32_t)bits, (uint32_t)(bits >> 32));
    else /* narrow signed integers are sign-extended to a word */
        vc__put3(s, VC__GLOBALS | VC__OpConstant, type, id, (uint32_t)vc__widen(kind, bits & vc__ones(width)));
}

/* Declares a constant and stores it in cache slot c. The previous constant of the slot may be declared again, which
   SPIR-V allows. */
static uint32_t vc__spirv_const_into(vc__spirv *s, uint32_t kind, uint64_t bits, vc__cached *c) {
    c->id = vc__new_id(s);
    c->bits = bits;
    c->kind = kind;
    vc__spirv_constant(s, kind, bits, c->id);
    return c->id;
}
static inline uint32_t vc__spirv_const(vc__spirv *s, uint32_t kind, uint64_t bits) {
    vc__cached *c = &s->cache[((uint32_t)bits * 0x9e3779b1u ^ (uint32_t)(bits >> 32) ^ kind << 28) >> 23];
    return c->bits == bits && c->kind == kind ? c->id : vc__spirv_const_into(s, kind, bits, c); /* kind 0: empty slot */
}
VC__NOINLINE static uint32_t vc__spirv_u32(vc__spirv *s, uint32_t x) { return vc__spirv_const(s, VC_U32, x); }

static uint32_t vc__spirv_null(vc__spirv *s, vc_type type) {
    uint32_t *id = &s->null[type & 63u];
    if (*id) return *id;
    uint32_t type_id = vc__spirv_type(s, type);
    *id = vc__new_id(s);
    vc__put2(s, VC__GLOBALS | VC__OpConstantNull, type_id, *id);
    return *id;
}

/* u32 */
static uint32_t vc__spirv_ones(vc__spirv *s, uint32_t components) {
    uint32_t one = vc__spirv_u32(s, 1);
    if (components == 1) return one;
    if (s->ones[components - 1]) return s->ones[components - 1];
    uint32_t type = vc__spirv_type(s, vc__vec(VC_U32, components)), id = vc__new_id(s);
    const uint32_t part[4] = { one, one, one, one };
    vc__put_list(s, VC__GLOBALS | VC__OpConstantComposite, type, id, part, components);
    return s->ones[components - 1] = id;
}

/* ---- argument block ---- */

static void vc__spirv_argument_block(vc__spirv *s) {
    uint32_t words = s->l->info.argument_bytes / 4, u32 = vc__spirv_type(s, VC_U32), type = vc__new_id(s);
    s->arg_block = vc__new_id(s);
    if (!vc__words_reserve(s->k, &s->section[VC__SECTION_GLOBALS], words + 2)) return;
    uint32_t *o = vc__op_begin(s, VC__GLOBALS | VC__OpTypeStruct, words + 2);
    o[1] = type;
    for (uint32_t i = 0; i < words; i++) o[2 + i] = u32;
    vc__put2(s, VC__DECORATIONS | VC__OpDecorate, type, VC__DecorationBlock);
    for (uint32_t i = 0; i < words; i++)
        vc__put4(s, VC__DECORATIONS | VC__OpMemberDecorate, type, i, VC__DecorationOffset, 4 * i);
    uint32_t pointer = vc__spirv_pointer_to(s, VC__CLASS_PUSH, type);
    vc__spirv_variable(s, pointer, s->arg_block, VC__CLASS_PUSH, "values");
}

/* The first use of a word loads it, with the id `preferred`, or a new one if that is 0. */
static uint32_t vc__spirv_word(vc__spirv *s, uint32_t word, uint32_t preferred) {
    if (s->word[word]) return s->word[word];
    if (!s->arg_block) vc__spirv_argument_block(s);
    uint32_t u32 = vc__spirv_type(s, VC_U32);
    uint32_t pointer = vc__spirv_pointer(s, VC__CLASS_PUSH, VC_U32);
    uint32_t index = vc__spirv_u32(s, word);
    uint32_t chain = vc__new_binary(s, VC__OpAccessChain, pointer, s->arg_block, index);
    return s->word[word] = vc__unary(s, VC__OpLoad, u32, preferred ? preferred : vc__new_id(s), chain);
}

static void vc__spirv_word_pair(vc__spirv *s, uint32_t kind, uint32_t word, uint32_t id) {
    uint32_t pair = vc__spirv_type(s, VC_U32X2), type = vc__spirv_type(s, kind), part[2];
    part[0] = vc__spirv_word(s, word, 0);
    part[1] = vc__spirv_word(s, word + 1, 0);
    uint32_t both = vc__new_id(s);
    vc__composite(s, pair, both, part, 2);
    vc__unary(s, VC__OpBitcast, type, id, both);
}

/* offset: in the argument block, in bytes */
static void vc__spirv_scalar(vc__spirv *s, uint32_t kind, uint32_t offset, uint32_t id) {
    uint32_t bits = vc__bits(kind), type = vc__spirv_value_type(s, kind), raw_type, operand;
    if (bits == 64) {
        vc__spirv_word_pair(s, kind, offset / 4, id);
        return;
    }
    uint32_t word = vc__spirv_word(s, offset / 4, kind == VC_U32 ? id : 0);
    if (kind == VC_BOOL) {
        operand = vc__spirv_u32(s, 0);
        vc__binary(s, VC__OpINotEqual, type, id, word, operand);
    } else if (bits == 32) {
        if (word != id) vc__unary(s, kind == VC_U32 ? VC__OpCopyObject : VC__OpBitcast, type, id, word);
    } else if (kind == VC_F16) {
        raw_type = vc__spirv_type(s, VC_VEC(VC_F16, 2u));
        word = vc__new_unary(s, VC__OpBitcast, raw_type, word);
        vc__binary(s, VC__OpCompositeExtract, type, id, word, offset / 2 & 1);
    } else {
        if (offset & 3) {
            operand = vc__spirv_u32(s, (offset & 3) * 8);
            raw_type = vc__spirv_type(s, VC_U32);
            word = vc__new_binary(s, VC__OpShiftRightLogical, raw_type, word, operand);
        }
        vc__unary(s, vc__is_signed(kind) ? VC__OpSConvert : VC__OpUConvert, type, id, word);
    }
}

static void vc__spirv_param(vc__spirv *s, const vc__node *n, uint32_t id) {
    uint32_t arg = s->l->object[n->x].arg, offset = s->l->info.args[arg].location + s->l->object[n->x].offset;
    uint32_t components = vc__components(n->type), kind = vc__kind(n->type);
    uint32_t part[4];
    vc__spirv_put_name(s, id, s->l->object[n->x].name);
    if (components == 1) {
        vc__spirv_scalar(s, kind, offset, id);
        return;
    }
    for (uint32_t i = 0; i < components; i++)
        vc__spirv_scalar(s, kind, offset + i * vc__scalar_bytes(kind), part[i] = vc__new_id(s));
    uint32_t type = vc__spirv_type(s, n->type);
    vc__composite(s, type, id, part, components);
}

static void vc__spirv_implicit(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc_implicit_info *h = vc__implicit_of(s->l, n);
    if (h) vc__spirv_scalar(s, VC_U32, h->offset, id);
}

/* ---- other leaves ---- */

/* Gives `id` the value of a built-in variable or, for a vector, one component of it. The first call for a variable
   declares and loads it; a scalar is loaded into this `id`, and copied to those of later calls. */
static void vc__spirv_builtin(vc__spirv *s, const vc__node *n, uint32_t id) {
    static const uint8_t numbers[VC__IDS] = {
        VC__BuiltInLocalInvocationId, VC__BuiltInWorkgroupId, VC__BuiltInGlobalInvocationId,
        VC__BuiltInLocalInvocationIndex, VC__BuiltInSubgroupSize, VC__BuiltInNumSubgroups, VC__BuiltInSubgroupId,
        VC__BuiltInSubgroupLocalInvocationId
    };
    uint32_t i = n->op - VC__OP_LOCAL_ID;
    bool vector = vc__has_axes(n->op);
    vc_type type = vector ? VC_U32X3 : VC_U32;
    if (n->op >= VC__OP_SUBGROUP_SIZE) s->caps |= VC__CAP_SUBGROUP;
    if (!s->builtin[i]) {
        uint32_t pointer = vc__spirv_pointer(s, VC__CLASS_INPUT, type), type_id = vc__spirv_type(s, type);
        uint32_t variable = vc__new_id(s);
        vc__spirv_variable(s, pointer, variable, VC__CLASS_INPUT, vc__op_name[n->op]);
        vc__spirv_decorate(s, variable, VC__DecorationBuiltIn, numbers[i]);
        uint32_t loaded = vector ? vc__new_id(s) : id;
        s->builtin[i] = vc__unary(s, VC__OpLoad, type_id, loaded, variable);
    }
    uint32_t scalar = vc__spirv_type(s, VC_U32);
    if (vector) vc__binary(s, VC__OpCompositeExtract, scalar, id, s->builtin[i], n->x);
    else if (s->builtin[i] != id) vc__unary(s, VC__OpCopyObject, scalar, id, s->builtin[i]);
}

/* The decoration of a buffer or image by its accesses (VC_READ, VC_WRITE); 0: none. */
static const uint32_t vc__spirv_by_access[4] = { 0, VC__DecorationNonWritable, VC__DecorationNonReadable, 0 };

/* Makes the struct type whose only member is the runtime array of a buffer's elements. */
static uint32_t vc__spirv_buffer_type(vc__spirv *s, const vc__node *n) {
    vc_type memory_type = vc__memory_type(n->type);
    uint32_t *array = &s->array[memory_type], size = vc__components(memory_type) * vc__scalar_bytes(memory_type);
    uint32_t access = s->l->info.args[s->l->object[n->x].arg].access & 3;
    if (vc__scalar_bytes(memory_type) == 1) s->caps |= VC__CAP_STORAGE_8;
    if (vc__scalar_bytes(memory_type) == 2) s->caps |= VC__CAP_STORAGE_16;
    /* loads and stores construct and extract components of this type */
    if (vc__components(n->type) == 3) s->caps |= vc__kind_features(memory_type);
    if (!*array) {
        uint32_t element = vc__spirv_type(s, memory_type);
        *array = vc__new_id(s);
        vc__put2(s, VC__GLOBALS | VC__OpTypeRuntimeArray, *array, element);
        vc__spirv_decorate(s, *array, VC__DecorationArrayStride, size);
    }
    uint32_t id = vc__new_id(s);
    vc__put2(s, VC__GLOBALS | VC__OpTypeStruct, id, *array);
    vc__put2(s, VC__DECORATIONS | VC__OpDecorate, id, VC__DecorationBlock);
    vc__put4(s, VC__DECORATIONS | VC__OpMemberDecorate, id, 0, VC__DecorationOffset, 0);
    uint32_t decoration = vc__spirv_by_access[access];
    if (!decoration && s->k->coherent) decoration = VC__DecorationCoherent;
    if (decoration) vc__put3(s, VC__DECORATIONS | VC__OpMemberDecorate, id, 0, decoration);
    return id;
}

/* The id of a buffer is that of its address, or of the variable of its binding. */
static void vc__spirv_buffer(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc_arg_info *arg = &s->l->info.args[s->l->object[n->x].arg];
    bool address = s->l->buffers == VC_BUFFERS_ADDRESS;
    uint32_t type = vc__spirv_buffer_type(s, n);
    uint32_t pointer = vc__spirv_pointer_to(s, address ? VC__CLASS_ADDRESS : VC__CLASS_BUFFER, type);
    if (address) {
        s->caps |= VC__CAP_ADDRESS;
        s->pointee[n->x] = pointer;
        vc__spirv_put_name(s, id, s->l->object[n->x].name);
        vc__spirv_word_pair(s, VC_U64, arg->location / 4, id);
        return;
    }
    vc__spirv_bound_variable(s, pointer, id, VC__CLASS_BUFFER, arg);
    if (s->l->object[n->x].aliased) vc__put2(s, VC__DECORATIONS | VC__OpDecorate, id, VC__DecorationAliased);
    else if (!arg->may_alias) vc__put2(s, VC__DECORATIONS | VC__OpDecorate, id, VC__DecorationRestrict);
}

static bool vc__same_image(const vc__object *a, const vc__object *b) {
    return a->op == b->op && a->type == b->type && a->image.dim == b->image.dim && a->image.format == b->image.format &&
           a->image.storage == b->image.storage;
}

/* SPIR-V forbids two declarations of the same image type. */
static void vc__spirv_image_type(vc__spirv *s, uint32_t object) {
    const vc__object *o = &s->l->object[object];
    uint32_t component_type = vc__spirv_type(s, o->declared);
    for (uint32_t i = 0; i < object; i++) {
        if (!s->image[i] || !vc__same_image(&s->l->object[i], o)) continue;
        s->image[object] = s->image[i];
        s->variable_type[object] = s->variable_type[i];
        return;
    }
    s->image[object] = s->variable_type[object] = vc__new_id(s);
    uint32_t *w = vc__op_begin(s, VC__GLOBALS | VC__OpTypeImage, 9);
    w[1] = s->image[object]; w[2] = component_type; w[3] = vc__dims[o->image.dim].spirv;
    w[4] = 0; /* not a depth image */
    w[5] = vc__dims[o->image.dim].layers;
    w[6] = 0; /* not multisampled */
    w[7] = o->image.storage ? 2 : 1; w[8] = o->image.format;
    if (o->image.storage || o->image.dim == VC_DIM_BUFFER) return;
    s->variable_type[object] = vc__new_id(s);
    vc__put2(s, VC__GLOBALS | VC__OpTypeSampledImage, s->variable_type[object], s->image[object]);
}

static void vc__spirv_image(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc__object *o = &s->l->object[n->x];
    bool is_1d = vc__dims[o->image.dim].spirv == 0, is_buffer = o->image.dim == VC_DIM_BUFFER;
    bool storage = o->image.storage;
    uint32_t decoration = storage ? vc__spirv_by_access[o->used & VC_READ_WRITE] : 0;
    if (is_1d) s->caps |= storage ? VC__CAP_IMAGE_1D : VC__CAP_SAMPLED_1D;
    if (is_buffer) s->caps |= storage ? VC__CAP_IMAGE_BUFFER : VC__CAP_SAMPLED_BUFFER;
    if (vc__is_optional_format(o->image.format)) s->caps |= VC__CAP_FORMATS;
    vc__spirv_image_type(s, n->x);
    uint32_t pointer = vc__spirv_pointer_to(s, VC__CLASS_IMAGE, s->variable_type[n->x]);
    if (o->count) {
        uint32_t length = vc__spirv_u32(s, o->count), array = vc__new_id(s);
        s->element_pointer[n->x] = pointer;
        vc__put3(s, VC__GLOBALS | VC__OpTypeArray, array, s->variable_type[n->x], length);
        pointer = vc__spirv_pointer_to(s, VC__CLASS_IMAGE, array);
    }
    vc__spirv_bound_variable(s, pointer, id, VC__CLASS_IMAGE, &s->l->info.args[o->arg]);
    if (!decoration && storage && o->used & VC_WRITE && s->k->coherent) decoration = VC__DecorationCoherent;
    if (decoration) vc__put2(s, VC__DECORATIONS | VC__OpDecorate, id, decoration);
    if (storage && !(o->access & VC_MAY_ALIAS))
        vc__put2(s, VC__DECORATIONS | VC__OpDecorate, id, VC__DecorationRestrict);
}

/* Declares the array type of an object. Returns the type of a pointer to it. */
static uint32_t vc__spirv_array_of(vc__spirv *s, const vc__object *object, uint32_t storage, uint32_t *array) {
    uint32_t element = vc__spirv_value_type(s, object->type), count = vc__spirv_u32(s, object->count);
    *array = vc__new_id(s);
    vc__put3(s, VC__GLOBALS | VC__OpTypeArray, *array, element, count);
    return vc__spirv_pointer_to(s, storage, *array);
}

static void vc__spirv_shared(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc__object *object = &s->l->object[n->x];
    uint32_t array, pointer = vc__spirv_array_of(s, object, VC__CLASS_WORKGROUP, &array);
    vc__spirv_variable(s, pointer, id, VC__CLASS_WORKGROUP, object->name);
}

/* data: one value per component */
static uint32_t vc__spirv_element(vc__spirv *s, vc_type type, const uint64_t *data) {
    uint32_t components = vc__components(type), part[4];
    for (uint32_t i = 0; i < components; i++) part[i] = vc__spirv_const(s, vc__kind(type), data[i]);
    if (components == 1) return part[0];
    uint32_t type_id = vc__spirv_type(s, type), id = vc__new_id(s);
    vc__put_list(s, VC__GLOBALS | VC__OpConstantComposite, type_id, id, part, components);
    return id;
}

/* A table is a Private variable that has an initializer and is never written; drivers place it in constant memory. The
   initializer is one instruction, which SPIR-V limits to 65535 words. */
static void vc__spirv_table(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc__object *object = &s->l->object[n->x];
    uint32_t components = vc__components(object->type), array;
    vc__words list = s->section[VC__SECTION_FRAMES]; /* scratch memory: no block is open yet */
    if (object->count > 65532) {
        vc__fail_call(s->k, "spirv", "table '%s' has %u elements, but the limit of SPIR-V is 65532; use a buffer",
                      object->name, object->count);
        return;
    }
    uint32_t pointer = vc__spirv_array_of(s, object, VC__CLASS_PRIVATE, &array);
    if (!vc__words_reserve(s->k, &list, object->count)) return;
    s->section[VC__SECTION_FRAMES] = list;
    for (uint32_t i = 0; i < object->count; i++)
        list.data[list.count + i] = vc__spirv_element(s, object->type, object->data + (size_t)i * components);
    if (!vc__words_reserve(s->k, &s->section[VC__SECTION_GLOBALS], 3 + object->count)) return;
    uint32_t initial = vc__new_id(s);
    vc__put_list(s, VC__GLOBALS | VC__OpConstantComposite, array, initial, list.data + list.count, object->count);
    vc__put4(s, VC__GLOBALS | VC__OpVariable, pointer, id, vc__spirv_class[VC__CLASS_PRIVATE], initial);
    vc__put1(s, VC__INTERFACE, id);
    vc__spirv_put_name(s, id, object->name);
}

/* A vector of constants (TUPLE) or of any scalars (VEC). */
static void vc__spirv_vec(vc__spirv *s, const vc__node *n, uint32_t id) {
    uint32_t part[4], i, type = vc__spirv_value_type(s, n->type);
    for (i = 0; i < 4 && i < n->a[1]; i++) part[i] = vc__result(s->l->extra[n->a[0] + i]);
    uint32_t op = n->op == VC__OP_TUPLE ? VC__GLOBALS | VC__OpConstantComposite : (uint32_t)VC__OpCompositeConstruct;
    vc__put_list(s, op, type, id, part, i);
}

static void vc__spirv_leaf(vc__spirv *s, const vc__node *n, uint32_t id) {
    switch (n->op) {
    case VC__OP_CONST:
        s->caps |= vc__kind_features(n->type);
        vc__spirv_constant(s, vc__kind(n->type), vc__bits_of(n), id);
        break;
    case VC__OP_TUPLE: vc__spirv_vec(s, n, id); break;
    case VC__OP_BUFFER: vc__spirv_buffer(s, n, id); break;
    case VC__OP_IMAGE: vc__spirv_image(s, n, id); break;
    case VC__OP_PARAM: vc__spirv_param(s, n, id); break;
    case VC__OP_SHARED: vc__spirv_shared(s, n, id); break;
    case VC__OP_TABLE: vc__spirv_table(s, n, id); break;
    case VC__OP_IMPLICIT: vc__spirv_implicit(s, n, id); break;
    default: vc__spirv_builtin(s, n, id); break;
    }
}

VC__SMALL_END

/* ---- values ---- */

/* The number of plain operations that fit into the free memory of the body and of the decorations; 0 after an error. */
static uint32_t vc__spirv_plain_room(vc__spirv *s) {
    vc__words *body = &s->section[VC__SECTION_BODY], *decorations = &s->section[VC__SECTION_DECORATIONS];
    if (!vc__words_reserve(s->k, body, VC__PLAIN_WORDS) || !vc__words_reserve(s->k, decorations, VC__PLAIN_WORDS))
        return 0;
    return (body->capacity - body->count < decorations->capacity - decorations->count ?
            body->capacity - body->count : decorations->capacity - decorations->count) / VC__PLAIN_WORDS;
}

/* Prints plain operations from node i on. Returns the first node that is not plain or does not fit. Consecutive nodes
   usually have the same type, so its properties are looked up only when it changes. */
VC__NOINLINE static uint32_t vc__spirv_plain(vc__spirv *s, uint32_t i) {
    vc__words *body = &s->section[VC__SECTION_BODY], *decorations = &s->section[VC__SECTION_DECORATIONS];
    const uint32_t *plain = s->k->lower.plain;
    const vc__node *node = s->l->node, *n = node + i;
    uint32_t count = s->l->count, room = vc__spirv_plain_room(s);
    uint32_t id = vc__result(i), type = VC_NONE, type_id = 0, result_column = 0;
    if (!room) return count;
    const vc__node *end = count - i < room ? node + count : n + room;
    uint32_t *o = body->data + body->count;
    uint32_t *decoration = decorations->data + decorations->count;
    do {
        const vc__op_info *op = &vc__op[n->op];
        if (n->type != type) {
            type = n->type;
            type_id = vc__spirv_type(s, type);
            result_column = vc__kinds[type & 15u].column;
            s->caps |= vc__kind_features(type);
        }
        uint32_t column = result_column;
        if (op->result != VC__RESULT_SAME) {
            column = vc__kinds[node[n->a[0]].type & 15u].column;
            s->caps |= vc__kind_features(node[n->a[0]].type);
        }
        uint32_t opcode = op->spirv[column];
        uint32_t words = 3u + op->operands;
        uint32_t *a = o + 3;
        if (opcode >> 16) {
            *a++ = s->glsl_std;
            *a++ = opcode & 0xffffu;
            words += 2;
            opcode = VC__OpExtInst;
        }
        o[0] = words << 16 | opcode;
        o[1] = type_id;
        o[2] = id;
        a[0] = vc__result(n->a[0]);
        a[1] = vc__result(n->a[1]); /* if it is not an operand, the next instruction overwrites it */
        a[2] = vc__result(n->a[2]);
        o += words;
        if (n->flags & VC__NODE_PRECISE) {
            decoration[0] = 3u << 16 | VC__OpDecorate;
            decoration[1] = id;
            decoration[2] = VC__DecorationNoContraction;
            decoration += 3;
        }
        id++;
    } while (++n < end && plain[n->op] & VC__PLAIN_PRINTED);
    body->count = (uint32_t)(o - body->data);
    decorations->count = (uint32_t)(decoration - decorations->data);
    return id - 1;
}

VC__SMALL_BODIES

/* The SPIR-V instruction returns a struct of both halves, whose second member is the upper half. */
static void vc__spirv_upper_half(vc__spirv *s, const vc__node *n, uint32_t id) {
    uint32_t type = vc__spirv_type(s, n->type), *pair = &s->pair[n->type & 63u];
    if (!*pair) {
        *pair = vc__new_id(s);
        vc__put3(s, VC__GLOBALS | VC__OpTypeStruct, *pair, type, type);
    }
    uint32_t both = vc__new_binary(s, vc__op[n->op].spirv[vc__kinds[n->type & 15u].column], *pair,
                                   vc__result(n->a[0]), vc__result(n->a[1]));
    vc__binary(s, VC__OpCompositeExtract, type, id, both, 1);
}

/* Before SPIR-V 1.4 the condition must have as many components as the values, so a scalar condition is repeated. */
static void vc__spirv_select(vc__spirv *s, const vc__node *n, uint32_t id) {
    uint32_t components = vc__components(n->type), condition = vc__result(n->a[0]), part[4],
             type = vc__spirv_value_type(s, n->type);
    if (components > 1 && vc__components(s->l->node[n->a[0]].type) == 1) {
        uint32_t bools = vc__spirv_type(s, vc__vec(VC_BOOL, components));
        for (uint32_t i = 0; i < components; i++) part[i] = condition;
        vc__composite(s, bools, condition = vc__new_id(s), part, components);
    }
    vc__put5(s, VC__OpSelect, type, id, condition, vc__result(n->a[1]), vc__result(n->a[2]));
}

/* Conversions between numbers; casts from and to bool are lowered. SPIR-V allows width conversions of 8-bit and 16-bit
   types that are supported only in storage, so these do not require the capability of the type. */
static void vc__spirv_cast(vc__spirv *s, const vc__node *n, uint32_t id) {
    vc_type from = s->l->node[n->a[0]].type, to = n->type;
    uint32_t a = vc__result(n->a[0]), type = vc__spirv_type(s, to);
    uint32_t from_bits = vc__bits(vc__kind(from)), to_bits = vc__bits(vc__kind(to));
    bool from_float = vc__is_float(from), to_float = vc__is_float(to);
    if (from_float != to_float) {
        s->caps |= vc__kind_features(from) | vc__kind_features(to);
        if (from_float) vc__unary(s, vc__is_signed(to) ? VC__OpConvertFToS : VC__OpConvertFToU, type, id, a);
        else vc__unary(s, vc__is_signed(from) ? VC__OpConvertSToF : VC__OpConvertUToF, type, id, a);
    } else if (from_bits == to_bits) {
        s->caps |= vc__kind_features(to);
        vc__unary(s, from == to ? VC__OpCopyObject : VC__OpBitcast, type, id, a);
    } else if (from_float) {
        vc__unary(s, VC__OpFConvert, type, id, a);
    } else if (vc__is_unsigned(to) && (vc__is_unsigned(from) || to_bits < from_bits)) {
        vc__unary(s, VC__OpUConvert, type, id, a);
    } else if (vc__is_signed(from) || to_bits < from_bits) {
        vc__unary(s, VC__OpSConvert, type, id, a);
    } else { /* the result of UConvert must be unsigned */
        uint32_t unsigned_type = vc__spirv_type(s, vc__to_unsigned(to));
        a = vc__new_unary(s, VC__OpUConvert, unsigned_type, a);
        s->caps |= vc__kind_features(to);
        vc__unary(s, VC__OpBitcast, type, id, a);
    }
}

static void vc__spirv_bitcast(vc__spirv *s, const vc__node *n, uint32_t id) {
    vc_type from = s->l->node[n->a[0]].type;
    uint32_t type = vc__spirv_value_type(s, n->type);
    s->caps |= vc__kind_features(from);
    vc__unary(s, from == n->type ? VC__OpCopyObject : VC__OpBitcast, type, id, vc__result(n->a[0]));
}

/* ---- memory ---- */

/* Prints address + index * size + x * size. The constant is added last, so that compilers can use it as the offset of
   the memory instruction. */
static void vc__spirv_address(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc__node *buffer = &s->l->node[n->a[0]];
    vc_type scalar_type = vc__memory_type(buffer->type);
    uint32_t size = vc__scalar_bytes(scalar_type) * vc__components(buffer->type), u64 = vc__spirv_type(s, VC_U64);
    uint32_t address = vc__result(n->a[0]), shift = 0, c;
    if (n->a[1] != VC__NIL) {
        uint32_t index = vc__result(n->a[1]);
        scalar_type = s->l->node[n->a[1]].type;
        if (vc__bits(scalar_type) == 32)
            index = vc__new_unary(s, vc__is_signed(scalar_type) ? VC__OpSConvert : VC__OpUConvert, u64, index);
        while (size >> shift > 1 && !(size >> shift & 1)) shift++;
        if (size >> shift != 1) {
            c = vc__spirv_const(s, VC_U64, size);
            index = vc__new_binary(s, VC__OpIMul, u64, index, c);
        } else if (shift) {
            c = vc__spirv_u32(s, shift);
            index = vc__new_binary(s, VC__OpShiftLeftLogical, u64, index, c);
        }
        address = vc__new_binary(s, VC__OpIAdd, u64, address, index);
    }
    if (n->x) {
        c = vc__spirv_const(s, VC_U64, (uint64_t)(int64_t)(int32_t)n->x * size);
        address = vc__new_binary(s, VC__OpIAdd, u64, address, c);
    }
    vc__unary(s, VC__OpConvertUToPtr, s->pointee[buffer->x], id, address);
}

/* The description of a memory access. In buffers, a vector of 3 is stored as scalars: such an element has 3 parts. */
typedef struct vc__access {
    uint32_t storage; /* VC__CLASS_ */
    uint32_t base;    /* id */
    uint32_t index;   /* id of a 32-bit index in parts; 0: none */
    uint32_t offset;  /* added to the index, in parts */
    uint32_t parts;   /* 1 or 3 */
    uint32_t align;   /* bytes; 0: no alignment operand */
    vc_type type;     /* of a part in memory */
    vc_type element;  /* of the element in the kernel */
    bool is_variable; /* not an array */
} vc__access;

/* Id of an index node as a 32-bit integer, in parts. */
static uint32_t vc__spirv_index(vc__spirv *s, uint32_t node, uint32_t parts) {
    uint32_t id = vc__result(node), u32 = vc__spirv_type(s, VC_U32);
    if (vc__bits(vc__kind(s->l->node[node].type)) == 64) id = vc__new_unary(s, VC__OpUConvert, u32, id);
    if (parts == 1) return id;
    uint32_t c = vc__spirv_u32(s, parts);
    return vc__new_binary(s, VC__OpIMul, u32, id, c);
}

static vc__access vc__spirv_access(vc__spirv *s, const vc__node *n) {
    const vc__node *memory = &s->l->node[n->a[0]];
    vc__access p;
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
    p.parts = buffer && vc__components(p.element) == 3 ? 3 : 1;
    p.base = vc__result(n->a[0]);
    p.offset = n->x * p.parts;
    p.index = n->a[1] == VC__NIL ? 0 : vc__spirv_index(s, n->a[1], p.parts);
    p.align = p.storage == VC__CLASS_ADDRESS ? vc__scalar_bytes(p.type) * vc__components(p.type) : 0;
    p.is_variable = memory->op == VC__OP_VAR;
    return p;
}

static uint32_t vc__spirv_chain(vc__spirv *s, const vc__access *p, uint32_t i) {
    bool in_struct = p->storage == VC__CLASS_ADDRESS || p->storage == VC__CLASS_BUFFER;
    uint32_t index = p->index, *o;
    if (p->is_variable) return p->base;
    uint32_t pointer = vc__spirv_pointer(s, p->storage, p->type);
    if (p->offset + i || !index) {
        uint32_t c = vc__spirv_u32(s, p->offset + i);
        if (index) {
            o = vc__op_begin(s, VC__OpIAdd, 5);
            o[1] = vc__spirv_type(s, VC_U32); o[2] = vc__new_id(s); o[3] = index; o[4] = c;
            c = o[2];
        }
        index = c;
    }
    uint32_t id = vc__new_id(s);
    o = vc__op_begin(s, VC__OpAccessChain, 5u + in_struct);
    o[1] = pointer; o[2] = id; o[3] = p->base;
    if (in_struct) o[4] = vc__spirv_u32(s, 0); /* the only member */
    o[4 + in_struct] = index;
    return id;
}

static uint32_t vc__spirv_load_part(vc__spirv *s, const vc__access *p, uint32_t i, uint32_t id) {
    uint32_t type = vc__spirv_type(s, p->type), pointer = vc__spirv_chain(s, p, i);
    if (p->align) vc__put5(s, VC__OpLoad, type, id, pointer, VC__MemoryAccessAligned, p->align);
    else vc__unary(s, VC__OpLoad, type, id, pointer);
    return id;
}

static void vc__spirv_store_part(vc__spirv *s, const vc__access *p, uint32_t i, uint32_t value) {
    uint32_t pointer = vc__spirv_chain(s, p, i);
    if (p->align) vc__put4(s, VC__OpStore, pointer, value, VC__MemoryAccessAligned, p->align);
    else vc__put2(s, VC__OpStore, pointer, value);
}

static bool vc__is_bool_as_u32(const vc__access *p) { return vc__is_bool(p->element) && !vc__is_bool(p->type); }

static void vc__spirv_load(vc__spirv *s, const vc__node *n, uint32_t id) {
    vc__access p = vc__spirv_access(s, n);
    bool convert = vc__is_bool_as_u32(&p);
    uint32_t raw = convert ? vc__new_id(s) : id, part[3];
    vc_type in_memory = vc__vec(vc__scalar(p.type), vc__components(p.element));
    if (p.parts == 1) vc__spirv_load_part(s, &p, 0, raw);
    else {
        for (uint32_t i = 0; i < 3; i++) part[i] = vc__spirv_load_part(s, &p, i, vc__new_id(s));
        vc__composite(s, vc__spirv_type(s, in_memory), raw, part, 3);
    }
    if (!convert) return;
    uint32_t zero = vc__spirv_null(s, in_memory);
    vc__binary(s, VC__OpINotEqual, vc__spirv_type(s, p.element), id, raw, zero);
}

static void vc__spirv_store(vc__spirv *s, const vc__node *n) {
    vc__access p = vc__spirv_access(s, n);
    uint32_t value = vc__result(n->a[2]), components = vc__components(p.element), type, part;
    if (vc__is_bool_as_u32(&p)) {
        type = vc__spirv_type(s, vc__vec(VC_U32, components));
        uint32_t one = vc__spirv_ones(s, components);
        uint32_t zero = vc__spirv_null(s, vc__vec(VC_U32, components));
        vc__put5(s, VC__OpSelect, type, part = vc__new_id(s), value, one, zero);
        value = part;
    }
    if (p.parts == 1) {
        vc__spirv_store_part(s, &p, 0, value);
        return;
    }
    type = vc__spirv_type(s, p.type);
    for (uint32_t i = 0; i < 3; i++) {
        part = vc__new_binary(s, VC__OpCompositeExtract, type, value, i);
        vc__spirv_store_part(s, &p, i, part);
    }
}

/* ---- images ---- */

/* packed: one signed byte per axis */
static uint32_t vc__spirv_offset(vc__spirv *s, uint32_t packed, uint32_t axes) {
    uint64_t data[3];
    for (uint32_t i = 0; i < axes; i++) data[i] = (uint64_t)(int64_t)(int8_t)(packed >> 8 * i & 255u) & 0xffffffffu;
    return vc__spirv_element(s, vc__vec(VC_I32, axes), data);
}

/* Image operands of a sample or fetch: the mask and its ids. Returns the number of words. */
static uint32_t vc__spirv_image_operands(vc__spirv *s, const vc__node *n, const vc__object *image,
                                         uint32_t operands[4]) {
    uint32_t count = 2;
    if (n->a[2] == VC__NIL) return 0;
    const vc__node *lod_or_gradient = &s->l->node[n->a[2]];
    operands[0] = VC__ImageOperandsLod;
    operands[1] = vc__result(n->a[2]);
    if (lod_or_gradient->op == VC__OP_GRADIENT) {
        operands[0] = VC__ImageOperandsGrad;
        for (uint32_t i = 0; i < 2; i++) operands[1 + i] = vc__result(lod_or_gradient->a[i]);
        count = 3;
    }
    if (!n->x) return count;
    operands[0] |= VC__ImageOperandsConstOffset;
    operands[count] = vc__spirv_offset(s, n->x, vc__dims[image->image.dim].axes);
    return count + 1;
}

static void vc__spirv_sample(vc__spirv *s, const vc__node *n, const vc__object *image, uint32_t id, uint32_t image_id) {
    uint32_t type = vc__spirv_type(s, n->type), operands[6] = { image_id, vc__result(n->a[1]), 0, 0, 0, 0 };
    if (n->op == VC__OP_GATHER) {
        vc__put5(s, VC__OpImageGather, type, id, operands[0], operands[1], vc__spirv_u32(s, n->x));
        return;
    }
    uint32_t count = 2 + vc__spirv_image_operands(s, n, image, operands + 2);
    vc__put_list(s, n->op == VC__OP_FETCH ? VC__OpImageFetch : VC__OpImageSampleExplicitLod, type, id, operands, count);
}

/* Whether an element of an array of images is selected by an index that may differ between invocations. */
static bool vc__is_any_index(const vc__listing *l, const vc__node *n) {
    uint32_t index = n->op == VC__OP_IMAGE_AT ? l->node[n->a[1]].op : (uint32_t)VC__OP_CONST;
    return index != VC__OP_CONST && index != VC__OP_PARAM && index != VC__OP_GROUP_ID;
}

/* m: the node of the image, or of an element of an array */
static uint32_t vc__spirv_image_load(vc__spirv *s, const vc__node *m, uint32_t node) {
    const vc__object *o = &s->l->object[m->x];
    if (m->op == VC__OP_IMAGE) return vc__new_unary(s, VC__OpLoad, s->variable_type[m->x], vc__result(node));
    uint32_t pointer = vc__new_binary(s, VC__OpAccessChain, s->element_pointer[m->x], vc__result(m->a[0]),
                                      vc__result(m->a[1]));
    uint32_t image = vc__new_unary(s, VC__OpLoad, s->variable_type[m->x], pointer);
    if (s->l->node[m->a[1]].op == VC__OP_CONST) return image;
    s->caps |= o->image.storage ? VC__CAP_STORAGE_INDEX : VC__CAP_SAMPLED_INDEX;
    if (!vc__is_any_index(s->l, m)) return image;
    s->caps |= o->image.storage ? VC__CAP_STORAGE_ANY : VC__CAP_SAMPLED_ANY;
    vc__put2(s, VC__DECORATIONS | VC__OpDecorate, pointer, VC__DecorationNonUniform);
    vc__put2(s, VC__DECORATIONS | VC__OpDecorate, image, VC__DecorationNonUniform);
    return image;
}

static void vc__spirv_image_op(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc__node *m = &s->l->node[n->a[0]];
    const vc__object *image = &s->l->object[m->x];
    uint32_t image_id = vc__spirv_image_load(s, m, n->a[0]);
    uint32_t type = vc__spirv_type(s, n->type);
    /* only sampling and gathering accept an image with its sampler */
    bool needs_image = n->op != VC__OP_SAMPLE && n->op != VC__OP_GATHER && s->variable_type[m->x] != s->image[m->x];
    if (needs_image) image_id = vc__new_unary(s, VC__OpImage, s->image[m->x], image_id);
    if (needs_image && vc__is_any_index(s->l, m))
        vc__put2(s, VC__DECORATIONS | VC__OpDecorate, image_id, VC__DecorationNonUniform);
    if (n->op == VC__OP_IMAGE_SIZE || n->op == VC__OP_IMAGE_LEVELS) s->caps |= VC__CAP_IMAGE_QUERY;
    if (n->op == VC__OP_IMAGE_LOAD && !image->image.format) s->caps |= VC__CAP_IMAGE_READ;
    if (n->op == VC__OP_IMAGE_STORE && !image->image.format) s->caps |= VC__CAP_IMAGE_WRITE;
    switch (n->op) {
    case VC__OP_IMAGE_LOAD: vc__binary(s, VC__OpImageRead, type, id, image_id, vc__result(n->a[1])); break;
    case VC__OP_IMAGE_STORE:
        vc__put3(s, VC__OpImageWrite, image_id, vc__result(n->a[1]), vc__result(n->a[2]));
        break;
    case VC__OP_IMAGE_LEVELS: vc__unary(s, VC__OpImageQueryLevels, type, id, image_id); break;
    case VC__OP_IMAGE_SIZE:
        if (n->a[1] == VC__NIL) vc__unary(s, VC__OpImageQuerySize, type, id, image_id);
        else vc__binary(s, VC__OpImageQuerySizeLod, type, id, image_id, vc__result(n->a[1]));
        break;
    default: vc__spirv_sample(s, n, image, id, image_id); break;
    }
}

/* VAR and ARRAY. The declaration is at the start of the function. A VAR is set to zero where it was recorded. */
static void vc__spirv_local(vc__spirv *s, const vc__node *n, uint32_t id) {
    const vc__object *object = &s->l->object[n->x];
    uint32_t array;
    s->caps |= vc__kind_features(n->type);
    uint32_t pointer = n->op == VC__OP_VAR ? vc__spirv_pointer(s, VC__CLASS_FUNCTION, n->type) :
                       vc__spirv_array_of(s, object, VC__CLASS_FUNCTION, &array);
    vc__put3(s, VC__LOCALS | VC__OpVariable, pointer, id, vc__spirv_class[VC__CLASS_FUNCTION]);
    vc__spirv_put_name(s, id, object->name);
    if (n->op != VC__OP_VAR) return;
    uint32_t zero = vc__spirv_null(s, n->type);
    vc__put2(s, VC__OpStore, id, zero);
}

/* ---- control flow ---- */

static vc__frame *vc__spirv_frame(vc__spirv *s, uint32_t i) {
    return (vc__frame *)(void *)(s->section[VC__SECTION_FRAMES].data + (size_t)i * VC__FRAME_WORDS);
}
static vc__frame *vc__spirv_top_frame(vc__spirv *s) {
    return vc__spirv_frame(s, s->section[VC__SECTION_FRAMES].count / VC__FRAME_WORDS - 1);
}

static vc__frame *vc__spirv_push_frame(vc__spirv *s, uint32_t op, uint32_t node) {
    vc__words *w = &s->section[VC__SECTION_FRAMES];
    if (!vc__words_reserve(s->k, w, VC__FRAME_WORDS)) return NULL;
    w->count += VC__FRAME_WORDS;
    vc__frame *f = vc__spirv_top_frame(s);
    f->op = op;
    f->node = node;
    f->merge = f->other = f->header = f->next = 0;
    f->loop = s->loop;
    return f;
}

static void vc__spirv_label(vc__spirv *s, uint32_t label) {
    vc__put1(s, VC__OpLabel, label);
    s->label = label;
}
static void vc__spirv_branch(vc__spirv *s, uint32_t label) { vc__put1(s, VC__OpBranch, label); }

/* At first the merge label is the label of the else branch, as for an IF without ELSE; vc__spirv_else replaces it. */
static void vc__spirv_if(vc__spirv *s, const vc__node *n, uint32_t node) {
    vc__frame *f = vc__spirv_push_frame(s, VC__OP_IF, node);
    uint32_t then = vc__new_id(s);
    if (!f) return;
    f->merge = f->other = vc__new_id(s);
    vc__put2(s, VC__OpSelectionMerge, f->merge, 0);
    f->header = s->section[VC__SECTION_BODY].count - 2;
    vc__put3(s, VC__OpBranchConditional, vc__result(n->a[0]), then, f->other);
    vc__spirv_label(s, then);
}

static void vc__spirv_else(vc__spirv *s) {
    vc__frame *f = vc__spirv_top_frame(s);
    if (s->k->failed) return;
    f->op = VC__OP_ELSE;
    f->merge = vc__new_id(s);
    s->section[VC__SECTION_BODY].data[f->header] = f->merge;
    vc__spirv_branch(s, f->merge);
    vc__spirv_label(s, f->other);
}

/* A value in a loop's header: `first` from block `from` before the loop, `next` from the continue block `continued`. */
static void vc__spirv_phi(vc__spirv *s, uint32_t type, uint32_t id, uint32_t first, uint32_t from, uint32_t next,
                          uint32_t continued) {
    const uint32_t operand[4] = { first, from, next, continued };
    vc__put_list(s, VC__OpPhi, type, id, operand, 4);
}

/* FOR and LOOP. A FOR whose counter may wrap (x) also keeps the counter's previous value and ends when the counter
   decreases. */
static void vc__spirv_loop(vc__spirv *s, const vc__node *n, uint32_t node) {
    vc__frame *f = vc__spirv_push_frame(s, n->op, node);
    uint32_t from = s->label, body = vc__new_id(s);
    bool is_signed = vc__is_signed(n->type);
    if (!f) return;
    s->loop = s->section[VC__SECTION_FRAMES].count / VC__FRAME_WORDS - 1;
    f->merge = vc__new_id(s);
    f->other = vc__new_id(s);
    f->header = vc__new_id(s);
    f->next = vc__new_id(s);
    vc__spirv_branch(s, f->header);
    vc__spirv_label(s, f->header);
    uint32_t condition = vc__new_id(s); /* of a FOR */
    if (n->op == VC__OP_FOR) {
        uint32_t type = vc__spirv_value_type(s, n->type);
        uint32_t bools = vc__spirv_type(s, VC_BOOL);
        uint32_t below_limit = condition, not_wrapped = 0; /* without x, below_limit is the condition */
        vc__spirv_phi(s, type, vc__result(node), vc__result(n->a[0]), from, f->next, f->other);
        if (n->x) {
            uint32_t previous = vc__new_id(s);
            vc__spirv_phi(s, type, previous, vc__result(n->a[0]), from, vc__result(node), f->other);
            not_wrapped = vc__new_binary(s, is_signed ? VC__OpSLessThanEqual : VC__OpULessThanEqual, bools,
                                         previous, vc__result(node));
            below_limit = vc__new_id(s);
        }
        vc__binary(s, is_signed ? VC__OpSLessThan : VC__OpULessThan, bools, below_limit, vc__result(node),
                   vc__result(n->a[1]));
        if (n->x) vc__binary(s, VC__OpLogicalAnd, bools, condition, below_limit, not_wrapped);
    }
    vc__put3(s, VC__OpLoopMerge, f->merge, f->other, 0);
    if (n->op == VC__OP_FOR) vc__put3(s, VC__OpBranchConditional, condition, body, f->merge);
    else vc__spirv_branch(s, body);
    vc__spirv_label(s, body);
}

/* The continue block, which steps the counter of a FOR, and the label of the merge block. */
static void vc__spirv_loop_end(vc__spirv *s, const vc__frame *f) {
    const vc__node *n = &s->l->node[f->node];
    vc__spirv_branch(s, f->other);
    vc__spirv_label(s, f->other);
    if (f->op == VC__OP_FOR) {
        uint32_t type = vc__spirv_type(s, n->type);
        uint32_t step = n->a[2] == VC__NIL ? vc__spirv_const(s, vc__kind(n->type), 1) : vc__result(n->a[2]);
        vc__binary(s, VC__OpIAdd, type, f->next, vc__result(f->node), step);
    }
    vc__spirv_branch(s, f->header);
    vc__spirv_label(s, f->merge);
    s->loop = f->loop;
}

/* Links the cases of all switches in one walk: next_case of a SWITCH is its first case, and next_case of a CASE is the
   case after it. The free memory of the frames section is the stack of open blocks. */
static bool vc__spirv_link_cases(vc__spirv *s) {
    const vc__listing *l = s->l;
    vc__words *w = &s->section[VC__SECTION_FRAMES];
    uint32_t base = w->count;
    s->next_case = (uint32_t *)vc__allocate(s->k, (size_t)l->count * sizeof(uint32_t));
    for (uint32_t i = l->body; i < l->count && !s->k->failed; i++) {
        uint32_t op = l->node[i].op;
        if (op == VC__OP_END) w->count--;
        if (op == VC__OP_CASE || op == VC__OP_DEFAULT) s->next_case[w->data[w->count - 1]] = i;
        if (op == VC__OP_CASE || op == VC__OP_DEFAULT) w->data[w->count - 1] = i;
        if (op == VC__OP_SWITCH || op == VC__OP_CASE || op == VC__OP_DEFAULT) s->next_case[i] = VC__NIL;
        bool opens = op >= VC__OP_IF && op < VC__OP_END && op != VC__OP_ELSE;
        if (opens && vc__words_reserve(s->k, w, 1)) w->data[w->count++] = i;
    }
    w->count = base;
    return !s->k->failed;
}

/* The label of a case is the id of its node. Selectors of 8 or 16 bits are widened to 32 bits, because some drivers
   reject modules with narrow selectors. */
static void vc__spirv_switch(vc__spirv *s, const vc__node *n, uint32_t node) {
    vc__frame *f = vc__spirv_push_frame(s, VC__OP_SWITCH, node);
    vc_type selector_type = s->l->node[n->a[0]].type;
    uint32_t value = vc__result(n->a[0]), bits = vc__bits(selector_type), literal_words = bits == 64 ? 2 : 1;
    uint32_t i, words = 3;
    if (!f || (!s->next_case && !vc__spirv_link_cases(s))) return;
    f = vc__spirv_top_frame(s); /* linking may have moved the frames */
    f->merge = vc__new_id(s);
    if (bits < 32) {
        uint32_t wide_type = vc__spirv_type(s, vc__is_signed(selector_type) ? VC_I32 : VC_U32);
        value = vc__new_unary(s, vc__is_signed(selector_type) ? VC__OpSConvert : VC__OpUConvert, wide_type, value);
    }
    vc__put2(s, VC__OpSelectionMerge, f->merge, 0);
    uint32_t start = s->section[VC__SECTION_BODY].count;
    vc__put2(s, VC__OpSwitch, value, f->merge); /* to the merge block, unless there is a default */
    for (i = s->next_case[node]; i != VC__NIL; i = s->next_case[i]) {
        const vc__node *c = &s->l->node[i];
        if (c->op == VC__OP_DEFAULT) {
            if (!s->k->failed) s->section[VC__SECTION_BODY].data[start + 2] = vc__result(i);
            continue;
        }
        uint32_t *o = vc__op_begin(s, 0, literal_words + 1);
        o[0] = (uint32_t)vc__widen(selector_type, vc__bits_of(c) & vc__ones(bits));
        if (literal_words == 2) o[1] = c->a[1];
        o[literal_words] = vc__result(i);
        words += literal_words + 1;
    }
    i = (words - 3) / (literal_words + 1);
    if (i > 16383)
        vc__fail_call(s->k, "spirv", "a VC_SWITCH has %u cases, but the limit of SPIR-V is 16383", i);
    else if (!s->k->failed) s->section[VC__SECTION_BODY].data[start] = words << 16 | VC__OpSwitch;
}

static void vc__spirv_case(vc__spirv *s, uint32_t node) {
    uint32_t merge = vc__spirv_top_frame(s)->merge;
    vc__frame *f = vc__spirv_push_frame(s, VC__OP_CASE, node);
    if (!f) return;
    f->merge = merge;
    vc__spirv_label(s, vc__result(node));
}

static void vc__spirv_end(vc__spirv *s) {
    vc__frame f = *vc__spirv_top_frame(s);
    s->section[VC__SECTION_FRAMES].count -= VC__FRAME_WORDS;
    if (f.op == VC__OP_FOR || f.op == VC__OP_LOOP) {
        vc__spirv_loop_end(s, &f);
        return;
    }
    if (f.op != VC__OP_SWITCH) vc__spirv_branch(s, f.merge); /* in a switch, the last case ends with a branch */
    if (f.op != VC__OP_CASE) vc__spirv_label(s, f.merge);
}

/* BREAK_IF, CONTINUE_IF and RETURN_IF. */
static void vc__spirv_exit(vc__spirv *s, const vc__node *n) {
    uint32_t then = vc__new_id(s), rest = vc__new_id(s);
    vc__put2(s, VC__OpSelectionMerge, rest, 0);
    vc__put3(s, VC__OpBranchConditional, vc__result(n->a[0]), then, rest);
    vc__spirv_label(s, then);
    if (n->op == VC__OP_RETURN_IF) vc__op_begin(s, VC__OpReturn, 1);
    else vc__spirv_branch(s, n->op == VC__OP_BREAK_IF ?
                          vc__spirv_frame(s, s->loop)->merge : vc__spirv_frame(s, s->loop)->other);
    vc__spirv_label(s, rest);
}

/* Without subgroup support, the workgroup scope replaces the subgroup scope. */
static uint32_t vc__spirv_scope(vc__spirv *s, uint32_t scope) {
    bool subgroup = scope == VC_SCOPE_SUBGROUP && !(s->k->desc.machine.missing_features & VC_FEATURE_SUBGROUP);
    if (subgroup) s->caps |= VC__CAP_SUBGROUP;
    return vc__spirv_u32(s, scope == VC_SCOPE_DEVICE ? VC__ScopeDevice
                            : subgroup               ? VC__ScopeSubgroup
                                                     : VC__ScopeWorkgroup);
}

/* VC_STORAGE_BUFFER includes storage images. */
static uint32_t vc__spirv_storage_semantics(const vc__spirv *s, uint32_t storage) {
    static const uint32_t bits[4] = { 0, VC__MemorySemanticsUniformMemory, VC__MemorySemanticsWorkgroupMemory,
                                      VC__MemorySemanticsUniformMemory | VC__MemorySemanticsWorkgroupMemory };
    return bits[storage & 3u]
           | (storage & VC_STORAGE_BUFFER && vc__stores_images(s->l) ? (uint32_t)VC__MemorySemanticsImageMemory : 0u);
}

static uint32_t vc__spirv_memory_semantics(vc__spirv *s, const vc__node *n, uint32_t order) {
    static const uint32_t order_bits[4] = { 0, VC__MemorySemanticsAcquire, VC__MemorySemanticsRelease,
                                            VC__MemorySemanticsAcquireRelease }; /* by vc_order */
    return vc__spirv_u32(s, order_bits[order] | vc__spirv_storage_semantics(s, n->x >> 8));
}

static void vc__spirv_scoped_barrier(vc__spirv *s, const vc__node *n) {
    uint32_t execution = vc__spirv_scope(s, n->x & 15u), memory = vc__spirv_scope(s, n->x >> 4 & 15u);
    uint32_t semantics = vc__spirv_memory_semantics(s, n, VC_ACQ_REL);
    vc__put3(s, VC__OpControlBarrier, execution, memory, semantics);
}

static void vc__spirv_barrier(vc__spirv *s) {
    uint32_t workgroup = vc__spirv_u32(s, VC__ScopeWorkgroup);
    uint32_t storage = vc__spirv_storage_semantics(s, VC_STORAGE_BUFFER | VC_STORAGE_SHARED);
    uint32_t semantics = vc__spirv_u32(s, VC__MemorySemanticsAcquireRelease | storage);
    vc__put3(s, VC__OpControlBarrier, workgroup, workgroup, semantics);
}

/* ---- atomics ---- */

/* The new value of the element. */
static uint32_t vc__spirv_float_atomic(vc__spirv *s, uint32_t op, vc_type kind, uint32_t old, uint32_t value) {
    uint32_t type = vc__spirv_type(s, kind);
    if (op == VC__OP_ATOMIC_ADD) return vc__new_binary(s, VC__OpFAdd, type, old, value);
    uint32_t bools = vc__spirv_type(s, VC_BOOL);
    bool is_min = op == VC__OP_ATOMIC_MIN;
    uint32_t less = vc__new_binary(s, VC__OpFOrdLessThan, bools, is_min ? value : old, is_min ? old : value);
    uint32_t nan = vc__new_unary(s, VC__OpIsNan, bools, old);
    less = vc__new_binary(s, VC__OpLogicalOr, bools, less, nan);
    vc__put5(s, VC__OpSelect, type, nan = vc__new_id(s), less, value, old);
    return nan;
}

/* An atomic on a float that is declared as an integer in memory: a compare-exchange loop. */
static void vc__spirv_atomic_loop(vc__spirv *s, const vc__node *n, uint32_t id, const vc__access *p, uint32_t pointer,
                                  uint32_t scope) {
    uint32_t bits = vc__spirv_type(s, p->type), type = vc__spirv_type(s, n->type);
    uint32_t bools = vc__spirv_type(s, VC_BOOL), none = vc__spirv_u32(s, 0);
    uint32_t first = vc__new_id(s), expected = vc__new_id(s), found = vc__new_id(s);
    uint32_t header = vc__new_id(s), body = vc__new_id(s), next = vc__new_id(s);
    uint32_t merge = vc__new_id(s), from = s->label;
    vc__put5(s, VC__OpAtomicLoad, bits, first, pointer, scope, none);
    vc__spirv_branch(s, header);
    vc__spirv_label(s, header);
    vc__spirv_phi(s, bits, expected, first, from, found, next);
    vc__put3(s, VC__OpLoopMerge, merge, next, 0);
    vc__spirv_branch(s, body);
    vc__spirv_label(s, body);
    uint32_t old = vc__new_unary(s, VC__OpBitcast, type, expected);
    uint32_t desired = vc__spirv_float_atomic(s, n->op, n->type, old, vc__result(n->a[2]));
    desired = vc__new_unary(s, VC__OpBitcast, bits, desired);
    uint32_t *o = vc__op_begin(s, VC__OpAtomicCompareExchange, 9);
    o[1] = bits; o[2] = found; o[3] = pointer; o[4] = scope; o[5] = o[6] = none; o[7] = desired; o[8] = expected;
    uint32_t succeeded = vc__new_binary(s, VC__OpIEqual, bools, found, expected);
    vc__put3(s, VC__OpBranchConditional, succeeded, merge, next);
    vc__spirv_label(s, next);
    vc__spirv_branch(s, header);
    vc__spirv_label(s, merge);
    vc__unary(s, VC__OpBitcast, type, id, expected);
}

/* Atomics are relaxed; the memory order of vc_ordered is recorded as separate FENCE nodes. */
VC__NOINLINE static void vc__spirv_atomic(vc__spirv *s, const vc__node *n, uint32_t id) {
    vc__access p = vc__spirv_access(s, n);
    uint32_t pointer = vc__spirv_chain(s, &p, 0);
    uint32_t scope = vc__spirv_u32(s, p.storage == VC__CLASS_WORKGROUP ? VC__ScopeWorkgroup : VC__ScopeDevice);
    uint32_t none = vc__spirv_u32(s, 0);
    uint32_t opcode = vc__op[n->op].spirv[vc__kinds[vc__kind(n->type)].column], type = vc__spirv_value_type(s, n->type);
    if (vc__bits(vc__kind(p.type)) == 64) s->caps |= VC__CAP_ATOMIC_I64;
    if (vc__is_float(n->type) && !vc__is_float(p.type)) {
        vc__spirv_atomic_loop(s, n, id, &p, pointer, scope);
        return;
    }
    if (vc__is_float(n->type)) s->caps |= VC__CAP_ATOMIC_F32_ADD;
    if (n->op == VC__OP_ATOMIC_STORE) {
        vc__put4(s, opcode, pointer, scope, none, vc__result(n->a[2]));
        return;
    }
    uint32_t operand[6] = { pointer, scope, none, vc__result(n->a[2]), 0, 0 };
    uint32_t count = n->op == VC__OP_ATOMIC_LOAD ? 3 : 4;
    if (n->op == VC__OP_ATOMIC_CAS) {
        operand[3] = none;
        for (uint32_t i = 0; i < 2; i++)
            operand[5 - i] = vc__new_binary(s, VC__OpCompositeExtract, type, vc__result(n->a[2]), i);
        count = 6;
    }
    vc__put_list(s, opcode, type, id, operand, count);
}

static void vc__spirv_fence(vc__spirv *s, const vc__node *n) {
    uint32_t scope = vc__spirv_scope(s, n->x >> 4 & 15u), semantics = vc__spirv_memory_semantics(s, n, n->x & 3u);
    vc__put2(s, VC__OpMemoryBarrier, scope, semantics);
}

/* ---- subgroups ---- */

static uint32_t vc__spirv_subgroup_cap(const vc__node *n) {
    if (n->op == VC__OP_ELECT) return VC__CAP_SUBGROUP;
    if (n->op == VC__OP_VOTE_ANY || n->op == VC__OP_VOTE_ALL || n->op == VC__OP_VOTE_EQUAL) return VC__CAP_VOTE;
    if (n->op == VC__OP_SHUFFLE || n->op == VC__OP_SHUFFLE_XOR) return VC__CAP_SHUFFLE;
    if (n->op == VC__OP_SHUFFLE_UP || n->op == VC__OP_SHUFFLE_DOWN) return VC__CAP_RELATIVE;
    if (!vc__is_subgroup_combine(n->op)) return VC__CAP_BALLOT;
    return (n->x & 15u) == VC__LANES_CLUSTER ? VC__CAP_CLUSTERED : VC__CAP_ARITHMETIC;
}

static void vc__spirv_subgroup(vc__spirv *s, const vc__node *n, uint32_t id) {
    vc_type operand_type = n->op == VC__OP_ELECT ? (vc_type)VC_BOOL : s->l->node[n->a[0]].type;
    bool has_group_operation = n->op == VC__OP_BALLOT_COUNT || vc__is_subgroup_combine(n->op);
    bool has_second = n->op >= VC__OP_BROADCAST && n->op <= VC__OP_SHUFFLE_DOWN;
    uint32_t word[5], count = 1, type;
    word[0] = vc__spirv_u32(s, VC__ScopeSubgroup);
    type = vc__spirv_value_type(s, n->type);
    if (has_group_operation) word[count++] = n->x & 15u;
    if (n->op != VC__OP_ELECT) word[count++] = vc__result(n->a[0]);
    if (has_second && n->op != VC__OP_BROADCAST_FIRST) word[count++] = vc__result(n->a[1]);
    if ((n->x & 15u) == VC__LANES_CLUSTER) word[count++] = vc__spirv_u32(s, n->x >> 4);
    s->caps |= vc__kind_features(operand_type) | vc__spirv_subgroup_cap(n);
    vc__put_list(s, vc__op[n->op].spirv[vc__kinds[vc__kind(operand_type)].column], type, id, word, count);
}

/* The last operand is the packed vector format: four 8-bit integers. */
static void vc__spirv_dot_4x8(vc__spirv *s, const vc__node *n, uint32_t id) {
    uint32_t operand[4], count = vc__op[n->op].operands, type = vc__spirv_type(s, n->type);
    s->caps |= VC__CAP_DOT | VC__CAP_DOT_4X8;
    for (uint32_t i = 0; i < count; i++) operand[i] = vc__result(n->a[i]);
    operand[count] = VC__PackedVectorFormatPackedVectorFormat4x8Bit;
    vc__put_list(s, vc__op[n->op].spirv[vc__kinds[VC_U32].column], type, id, operand, count + 1);
}

/* ---- the module ---- */

static void vc__spirv_node(vc__spirv *s, const vc__node *n, uint32_t i) {
    switch (n->op) {
    case VC__OP_VEC: vc__spirv_vec(s, n, vc__result(i)); break;
    case VC__OP_COMPONENT:
        vc__binary(s, VC__OpCompositeExtract, vc__spirv_value_type(s, n->type), vc__result(i), vc__result(n->a[0]),
                   n->x);
        break;
    case VC__OP_CAST: vc__spirv_cast(s, n, vc__result(i)); break;
    case VC__OP_BITCAST: vc__spirv_bitcast(s, n, vc__result(i)); break;
    case VC__OP_SELECT: vc__spirv_select(s, n, vc__result(i)); break;
    case VC__OP_MUL_HI: case VC__OP_ADD_CARRY: case VC__OP_SUB_BORROW: vc__spirv_upper_half(s, n, vc__result(i)); break;
    case VC__OP_POINTER: vc__spirv_address(s, n, vc__result(i)); break;
    case VC__OP_LOAD: vc__spirv_load(s, n, vc__result(i)); break;
    case VC__OP_STORE: vc__spirv_store(s, n); break;
    case VC__OP_FENCE: vc__spirv_fence(s, n); break;
    case VC__OP_GRADIENT: case VC__OP_IMAGE_AT: break;
    case VC__OP_VAR: case VC__OP_ARRAY: vc__spirv_local(s, n, vc__result(i)); break;
    case VC__OP_BARRIER: if (n->x) vc__spirv_scoped_barrier(s, n); else vc__spirv_barrier(s); break;
    case VC__OP_BREAK_IF: case VC__OP_CONTINUE_IF: case VC__OP_RETURN_IF: vc__spirv_exit(s, n); break;
    case VC__OP_IF: vc__spirv_if(s, n, i); break;
    case VC__OP_ELSE: vc__spirv_else(s); break;
    case VC__OP_FOR: case VC__OP_LOOP: vc__spirv_loop(s, n, i); break;
    case VC__OP_SWITCH: vc__spirv_switch(s, n, i); break;
    case VC__OP_CASE: case VC__OP_DEFAULT: vc__spirv_case(s, i); break;
    case VC__OP_END: vc__spirv_end(s); break;
    default:
        if (vc__is_dot_4x8(n->op)) vc__spirv_dot_4x8(s, n, vc__result(i));
        else if (vc__is_atomic(n->op)) vc__spirv_atomic(s, n, vc__result(i));
        else if (vc__is_image(n->op)) vc__spirv_image_op(s, n, vc__result(i));
        else if (vc__op[n->op].class_ == VC__CONVERGENT) vc__spirv_subgroup(s, n, vc__result(i));
        else
            vc__fail_call(s->k, "spirv", "internal error: operation '%s' has no SPIR-V encoding",
                          vc__op_name[n->op]);
        break;
    }
}

VC__NOINLINE static void vc__spirv_main(vc__spirv *s) {
    const vc__listing *l = s->l;
    uint32_t void_type = vc__new_id(s), type = vc__new_id(s), i;
    vc__put1(s, VC__GLOBALS | VC__OpTypeVoid, void_type);
    vc__put2(s, VC__GLOBALS | VC__OpTypeFunction, type, void_type);
    vc__put4(s, VC__LOCALS | VC__OpFunction, void_type, s->main, 0, type);
    s->label = vc__new_id(s);
    vc__put1(s, VC__LOCALS | VC__OpLabel, s->label);
    for (i = 0; i < l->body; i++) vc__spirv_leaf(s, &l->node[i], vc__result(i));
    while (i < l->count && !s->k->failed) {
        if (s->k->lower.plain[l->node[i].op] & VC__PLAIN_PRINTED) i = vc__spirv_plain(s, i);
        else { vc__spirv_node(s, &l->node[i], i); i++; }
    }
    vc__op_begin(s, VC__OpReturn, 1);
    vc__op_begin(s, VC__OpFunctionEnd, 1);
}

/* name: at most 59 characters */
static void vc__spirv_extension(vc__spirv *s, const char *name) {
    vc__put_string(vc__op_begin(s, VC__HEAD | VC__OpExtension, 1 + vc__string_words(name)) + 1, name);
}

/* Writes the entry point and its execution modes. The entry point lists its input variables; since SPIR-V 1.4, all
   global variables. The interface section is a list for this function, which is not part of the module. It has two
   words for each variable: the low 16 bits of the first are those of VC__INTERFACE_INPUT (1) or VC__INTERFACE (0), the
   second is the id. */
static void vc__spirv_entry(vc__spirv *s, uint32_t version) {
    const vc__words *list = &s->section[VC__SECTION_INTERFACE];
    const uint32_t *size = s->l->info.local_size;
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i += 2)
        if ((list->data[i] & 0xffffu) || version >= 0x10400u) list->data[count++] = list->data[i + 1];
    if (!vc__words_reserve(s->k, &s->section[VC__SECTION_HEAD], 5 + count)) return;
    uint32_t *o = vc__op_begin(s, VC__HEAD | VC__OpEntryPoint, 5 + count);
    o[1] = VC__ExecutionModelGLCompute;
    o[2] = s->main;
    vc__put_string(o + 3, "main");
    if (count) memcpy(o + 5, list->data, count * sizeof(uint32_t));
    vc__put5(s, VC__HEAD | VC__OpExecutionMode, s->main, VC__ExecutionModeLocalSize, size[0], size[1], size[2]);
    if (s->k->reconverges)
        vc__put2(s, VC__HEAD | VC__OpExecutionMode, s->main, VC__ExecutionModeMaximallyReconvergesKHR);
}

/* The parts of the module that precede the names. */
static void vc__spirv_header(vc__spirv *s, uint32_t version) {
    uint32_t *o = vc__op_begin(s, VC__HEAD, 5);
    o[0] = 0x07230203u; /* magic number */
    o[1] = version;
    o[2] = 0;           /* generator */
    o[3] = s->bound;
    o[4] = 0;           /* reserved */
    vc__put1(s, VC__HEAD | VC__OpCapability, VC__CapabilityShader);
    for (uint32_t i = 0; i < VC__CAPS; i++)
        if (s->caps & vc__spirv_caps[i].cap) vc__put1(s, VC__HEAD | VC__OpCapability, vc__spirv_caps[i].number);
    if (version < 0x10500u && (s->caps & VC__CAP_STORAGE_8)) vc__spirv_extension(s, "SPV_KHR_8bit_storage");
    if (version < 0x10500u && (s->caps & VC__CAP_ADDRESS)) vc__spirv_extension(s, "SPV_KHR_physical_storage_buffer");
    if (version < 0x10500u && s->caps & (VC__CAP_SAMPLED_ANY | VC__CAP_STORAGE_ANY))
        vc__spirv_extension(s, "SPV_EXT_descriptor_indexing");
    if (s->k->reconverges) vc__spirv_extension(s, "SPV_KHR_maximal_reconvergence");
    if (s->caps & VC__CAP_ATOMIC_F32_ADD) vc__spirv_extension(s, "SPV_EXT_shader_atomic_float_add");
    if (version < 0x10600u && (s->caps & VC__CAP_DOT)) vc__spirv_extension(s, "SPV_KHR_integer_dot_product");
    o = vc__op_begin(s, VC__HEAD | VC__OpExtInstImport, 6);
    o[1] = s->glsl_std;
    vc__put_string(o + 2, "GLSL.std.450");
    vc__put2(s, VC__HEAD | VC__OpMemoryModel,
             s->caps & VC__CAP_ADDRESS ? VC__AddressingModelPhysicalStorageBuffer64 : VC__AddressingModelLogical,
             VC__MemoryModelGLSL450);
    vc__spirv_entry(s, version);
}

/* Allocates the tables indexed by object and by word of the argument block. */
static bool vc__spirv_allocate_tables(vc__spirv *s) {
    size_t objects = s->l->object_count, count = 4 * objects + s->l->info.argument_bytes / 4;
    s->pointee = (uint32_t *)vc__allocate(s->k, (count + 1) * sizeof(uint32_t));
    if (!s->pointee) return false;
    s->image = s->pointee + objects;
    s->variable_type = s->image + objects;
    s->element_pointer = s->variable_type + objects;
    s->word = s->element_pointer + objects;
    memset(s->pointee, 0, count * sizeof(uint32_t));
    return true;
}

/* The body section starts with `reserved` unused words, for vc__spirv_assemble. */
static bool vc__spirv_module(vc_kernel *k, const vc__listing *l, uint32_t reserved) {
    vc__spirv s;
    uint32_t version = k->desc.machine.spirv_version ? k->desc.machine.spirv_version : 0x10300u;
    memset(&s, 0, sizeof s);
    s.k = k;
    s.l = l;
    s.section = k->section;
    for (uint32_t i = 0; i < VC__SECTIONS; i++) s.section[i].count = 0;
    if (!vc__words_reserve(k, &s.section[VC__SECTION_BODY], reserved)) return false;
    s.section[VC__SECTION_BODY].count = reserved;
    s.caps = (uint32_t)l->info.features & VC__CAP_FEATURES;
    s.bound = l->count + 1;
    s.glsl_std = vc__new_id(&s);
    s.main = vc__new_id(&s);
    if (!vc__spirv_allocate_tables(&s)) return false;
    vc__spirv_put_name(&s, s.main, l->info.name);
    vc__spirv_main(&s);
    vc__spirv_header(&s, version);
    return !k->failed;
}

/* Copies the other sections to the *skip reserved words before the body. If they do not fit, moves the body. Sets *skip
   to the number of words that remain unused before the module. */
static bool vc__spirv_assemble(vc_kernel *k, uint32_t *skip) {
    static const uint8_t order[] = {
        VC__SECTION_HEAD, VC__SECTION_NAMES, VC__SECTION_DECORATIONS, VC__SECTION_GLOBALS, VC__SECTION_LOCALS
    };
    vc__words *body = &k->section[VC__SECTION_BODY];
    uint32_t total = 0;
    for (uint32_t i = 0; i < sizeof order; i++) total += k->section[order[i]].count;
    uint32_t more = total > *skip ? total - *skip : 0;
    if (k->failed || !vc__words_reserve(k, body, more)) return false;
    if (more) memmove(body->data + total, body->data + *skip, (body->count - *skip) * sizeof(uint32_t));
    body->count += more;
    total = *skip + more;
    for (uint32_t i = sizeof order; i-- > 0;) {
        vc__words *part = &k->section[order[i]];
        total -= part->count;
        if (part->count) memcpy(body->data + total, part->data, part->count * sizeof(uint32_t));
    }
    *skip = total;
    return true;
}

/* Swaps the memory of `words` with that of the lowered nodes, which are no longer needed. */
static void vc__swap_nodes(vc_kernel *k, vc__words *words) {
    void *node = k->lower.node;
    vc__words_swap(words, &node, &k->lower.capacity, sizeof(vc__node) / sizeof(uint32_t));
    k->lower.node = (vc__node *)node;
}

/* Swaps the memory of the body with that of the lowered nodes, and the memory of the decorations with that of the hash
   slots. Called before and after printing. */
static void vc__spirv_swap_buffers(vc_kernel *k) {
    void *slot = k->lower.slot;
    vc__swap_nodes(k, &k->section[VC__SECTION_BODY]);
    vc__words_swap(&k->section[VC__SECTION_DECORATIONS], &slot, &k->lower.slot_capacity, 1);
    k->lower.slot = (uint32_t *)slot;
}

/* Prints a module to k->words, from index *skip on. */
static bool vc__spirv_print(vc_kernel *k, const vc__listing *l, uint32_t *skip) {
    vc__spirv_swap_buffers(k);
    /* estimate: decorations, constants of the kernel, constants of the printer, and declarations of every module */
    *skip = 3 * l->precise + 4 * l->body + l->count / 3 + 128;
    bool done = vc__spirv_module(k, l, *skip) && vc__spirv_assemble(k, skip);
    vc__words previous = k->words;
    k->words = k->section[VC__SECTION_BODY];
    k->section[VC__SECTION_BODY] = previous;
    vc__spirv_swap_buffers(k);
    return done;
}

VC__SMALL_END

// >>text
/* Common part of the printers of GLSL, CUDA C and OpenCL C; its functions begin with vc__p_. The text is meant to be
   readable: a value that is used once is printed inside the expression that uses it, if lines stay short and no effect
   or block separates the two. Every other value gets a name. A vc__dialect contains the differences between the
   languages. */

VC__SMALL_BODIES

enum {
    VC__P_NESTING = 8,  /* maximum depth of an expression; a deeper one gets a name */
    VC__P_WEIGHT = 9,   /* maximum number of operations in an expression */
    VC__P_COLUMN = 100, /* column after which the lines of tables break */
    VC__P_INDENT = 24,  /* maximum indentation in levels: bounds the size of deeply nested text */
    /* Precedence of expressions; a smaller number binds tighter: names and calls, prefix operators, … An operand is
       printed without parentheses if its precedence is at most `allowed`. */
    VC__P_PRIMARY = 0, VC__P_PREFIX = 1, VC__P_SUM = 4, VC__P_TERNARY = 14, VC__P_ANY = 16,
    VC__P_EXCEPTION = 32 /* allowed = a + VC__P_EXCEPTION * b: precedence b is allowed, in addition to those up to a */
};

typedef struct vc__print_info { /* of a node */
    uint32_t uses, user;   /* number of times it is an operand; the last node that uses it */
    uint32_t block;        /* 1 + the node that opened the enclosing block; 0: the kernel's body */
    uint32_t opener;       /* of an END: 1 + the node that opened the block it closes */
    uint32_t effects;      /* number of effects and blocks before it */
    uint32_t exits;        /* number of breaks, continues and returns before it */
    uint32_t statement;    /* the node whose statement contains it */
    uint32_t number;       /* of its name; 0: no name */
    uint8_t depth, weight; /* of its expression */
    bool nested;           /* printed inside the expression of its user */
    bool reads;            /* its expression reads memory other than a variable */
    bool chained;          /* a switch that is printed as a chain of if and else if */
    bool masked;           /* CUDA C: a block that contains subgroup operations; `number` is that of its mask */
} vc__print_info;

typedef struct vc__identifier { char text[VC__NAME_BYTES]; } vc__identifier;

typedef struct vc__printer vc__printer;

/* The differences between the languages. Printing functions append to k->text. */
typedef struct vc__dialect {
    const char *name;          /* in messages */
    const char *suffix[VC_F64 + 1]; /* of literals by kind; NULL: the language has no literals of this kind */
    bool wide_switch;          /* switch accepts integers of any width */
    bool declares_unused;      /* unused arguments are declared as well */
    bool (*is_reserved)(const char *name); /* words that are reserved in this language only; NULL: none */
    const char *(*type)(vc_type type, char out[32]);
    /* pattern in the table of operations; NULL: one of the functions below prints the node */
    const char *(*pattern)(const vc__printer *g, const vc__node *n);
    void (*float_bits)(vc__printer *g, vc_type type, uint64_t bits); /* a float by its bit pattern */
    bool splats;               /* a vector of equal components is printed with one operand; bools in it are bools */
    /* prints the text before the components of a vector, and returns that after them; fold: in an expression, not in a
       table's initializer */
    const char *(*open_vector)(vc__printer *g, vc_type type, bool fold);
    void (*component)(vc__printer *g, const vc__node *n);
    void (*bitcast)(vc__printer *g, const vc__node *n);   /* BITCAST without a pattern */
    void (*load)(vc__printer *g, const vc__node *n);
    void (*store)(vc__printer *g, const vc__node *n);     /* without the end of the line */
    void (*id)(vc__printer *g, const vc__node *n);        /* the expression of an id */
    void (*convert)(vc__printer *g, uint32_t object);     /* the local pointer or variable of an argument, if any */
    void (*sync)(vc__printer *g, uint32_t i);             /* a barrier or fence */
    void (*atomic)(vc__printer *g, uint32_t i);
    void (*declare)(vc__printer *g, uint32_t i);          /* the type before the name of a node's value */
    void (*head)(vc__printer *g);                         /* everything before the body of the kernel */
    void (*image_op)(vc__printer *g, const vc__node *n);  /* an image operation */
} vc__dialect;

struct vc__printer {
    vc_kernel *k;
    const vc__listing *l;
    const vc__dialect *d;
    const vc__node *node;      /* of the listing */
    const vc__object *object;
    vc__print_info *info;      /* by node */
    vc__identifier *name;      /* by object */
    /* by object: name of its block or reference type; of a parameter that is unpacked, the struct member */
    vc__identifier *reference;
    vc__identifier *leaf;      /* by node, from l->leaves to l->body */
    vc__identifier *implicit;  /* by implicit argument */
    bool *live;                /* by object: a live node refers to it */
    const char **name_set;     /* hash set of the names in use */
    uint32_t name_mask;
    uint32_t temporaries, counters, masks; /* numbers assigned so far */
    int indent;
    bool continues_line;       /* the next statement continues the line */
    /* GLSL, bit masks by type: types stored in memory as a struct of scalars; those of stores; those of loads */
    uint64_t structs, packs, unpacks;
    vc__identifier args_name;  /* C: the argument block; GLSL: "", because its members are global names */
};

static void vc__p_expression(vc__printer *g, uint32_t i, int allowed);
static void vc__p_put(vc__printer *g, const char *format, ...);

/* The directives of texts in these languages: %t: a type; %e: the expression of a node, %4e: with a precedence of at
   most 4 without parentheses; %o: the name of an object; %r: its entry in vc__printer.reference. */
static void vc__p_directive(void *context, char letter, int width, uint32_t x) {
    vc__printer *g = (vc__printer *)context;
    char type[32];
    if (letter == 'e') vc__p_expression(g, x, width < 0 ? (int)VC__P_ANY : width);
    else vc__p_put(g, "%s", letter == 't'   ? g->d->type(x, type)
                            : letter == 'o' ? g->name[x].text
                                            : g->reference[x].text);
}

static void vc__p_put(vc__printer *g, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vc__write(g->k, &g->k->text, vc__p_directive, g, format, &list);
    va_end(list);
}

enum { VC__IMAGE_TEXT = 256 };

/* Writes the expression of the image of an operation to `out`. Prints it to the text of the kernel, and then removes it
   there. */
static const char *vc__p_image(vc__printer *g, const vc__node *n, char out[VC__IMAGE_TEXT]) {
    const vc__node *m = &g->node[n->a[0]];
    size_t begin = g->k->text.length;
    vc__p_put(g, "%o", m->x);
    if (m->op == VC__OP_IMAGE_AT && (!vc__is_c(g->l->target) || g->object[m->x].count > 1))
        vc__p_put(g, !vc__is_c(g->l->target) && vc__is_any_index(g->l, m) ? "[nonuniformEXT(%e)]" : "[%e]", m->a[1]);
    snprintf(out, VC__IMAGE_TEXT, "%s", g->k->text.data ? g->k->text.data + begin : "");
    if (!g->k->failed) g->k->text.data[g->k->text.length = begin] = 0;
    return out;
}

static void vc__p_line(vc__printer *g) {
    if (!g->continues_line) vc__p_put(g, "%*s", (g->indent < VC__P_INDENT ? g->indent : VC__P_INDENT) * 4, "");
    g->continues_line = false;
}

/* ---- names ---- */

/* The slot of the name, or the empty one where it would be inserted. */
static uint32_t vc__p_name_slot(const vc__printer *g, const char *name) {
    uint32_t hash = 2166136261u, i;
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    for (i = hash & g->name_mask; g->name_set[i] && strcmp(g->name_set[i], name) != 0; i = (i + 1) & g->name_mask) { }
    return i;
}

static bool vc__p_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool vc__p_is_digit(char c) { return c >= '0' && c <= '9'; }
static bool vc__p_is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/* The words of the list are separated by spaces. At the end of a word, @ matches digits, and #, ^ and * match a digit,
   a capital letter or nothing, followed by any characters. "round{,Even}" stands for the words round and roundEven. */
static bool vc__p_is_listed(const char *list, const char *name) {
    const char *at = name; /* the rest of the name after the part before a brace */
    for (const char *word = list; *word; word++) {
        size_t n = strcspn(word, " ,{}@#^*");
        bool same = strncmp(at, word, n) == 0;
        const char *rest = at + n;
        word += n;
        if (same && *word == '{') { at = rest; continue; }
        if (same
            && (*word == '@'   ? *rest && !rest[strspn(rest, "0123456789")]
                : *word == '#' ? vc__p_is_digit(*rest)
                : *word == '^' ? vc__p_is_capital(*rest)
                               : *word == '*' || !*rest))
            return true;
        word += strcspn(word, *word == '{' ? "}" : " ,}");
        if (*word == '}') { at = name; word++; }
    }
    return false;
}

/* Words with a meaning in GLSL, C, CUDA C or OpenCL C. */
static const char vc__p_reserved[] =
    "abs acos{,h} active alignas alignof all and and_eq any arguments asin{,h} asm atan{,2,h} atomic{,^,_uint} "
    "attribute auto barrier bitand bitCount bitfield^ bitor block{Dim,Idx} bool break buffer case cast catch ceil "
    "centroid char{,16_t,32_t} clamp class coherent common compl complex const{,_cast,ant,expr} continue "
    "controlBarrier cos cosh cross decltype default define defined degrees delete demote determinant "
    "device{,coherent} dFdx dFdy discard distance do dot double{,#,BitsTo*} dynamic_cast else enum equal event_t exp "
    "exp2 explicit export extern external faceforward false filter find{LSB,MSB} fixed flat "
    "float{,#,16BitsTo*,16_t,32_t,64_t,BitsTo*} floor fma fmod for fract frexp friend fwidth GL_* gl_* global goto "
    "greaterThan{,Equal} gridDim groupMemoryBarrier half{,#} highp host if imulExtended in inf INFINITY infinity "
    "inline inout input int{,#,16BitsTo*,16_t,32_t,64BitsTo*,64_t,8_t,BitsTo*} interface invariant inverse "
    "inversesqrt isinf isnan kernel layout ldexp length lessThan{,Equal} local log log2 long lowp mad main max "
    "mediump memoryBarrier{,^} min mix mod modf mutable namespace NAN nan new noexcept noinline noise# nonprivate "
    "noperspective normalize not{,Equal,_eq} NULL nullptr operator or or_eq out outerProduct output pack{,^} "
    "partition patch pervertex{EXT,NV} pipe pow precise precision printf private protected ptrdiff_t public "
    "queuefamilycoherent radians read_{only,write} readonly reflect refract register reinterpret_cast resource "
    "restrict return round{,Even} rsqrt sample{,r,r_t} shadercallcoherent shared short sign signed sin sinh size_t "
    "sizeof smooth smoothstep sqrt static{,_assert,_cast} step struct subgroup^ subgroupcoherent subroutine superp "
    "switch tan tanh template texel^ texture this thread{Idx,_local} throw transpose true trunc try "
    "type{def,id,name,of} uaddCarry uchar uint{,#,16BitsTo*,16_t,32_t,64BitsTo*,64_t,8_t,BitsTo*} ulong umulExtended "
    "uniform union unpack{,^} unsigned ushort using varying virtual void volatile VULKAN warpSize wchar_t while "
    "workgroupcoherent write_only writeonly xor xor_eq ";

/* Names that the printers generate: variables, counters, words and gaps of the argument block, types. */
static const char vc__p_generated[] =
    "v@ i@ before@ word_@ gap_@ boolx* f16x* f32x* f64x* i8x* i16x* i32x* i64x* u8x* u16x* u32x* u64x* ";

/* The types of GLSL and its functions of images, without a prefix of types: dmat2x3, f16vec2, usampler2DArray. */
static const char vc__p_types[] =
    "image{1D*,2D*,3D*,^} mat{2*,3*,4*} sampler{1D*,2D*,3D*,^} subpassInput* texture{1D*,2D*,3D*,^} vec{2*,3*,4*} ";

static bool vc__p_is_reserved(const char *name) {
    size_t kind = name[0] && strchr("bdfhiu", name[0]) ? 1 + strspn(name + 1, "0123456789") : 0;
    return vc__p_is_listed(vc__p_reserved, name) || vc__p_is_listed(vc__p_generated, name)
           || vc__p_is_listed(vc__p_types, name) || vc__p_is_listed(vc__p_types, name + kind);
}

/* Replaces each sequence of characters that are not letters or digits by one underscore, and drops those at both ends.
   At most 28 characters are kept, which leaves room for a prefix and a number. */
static void vc__p_sanitize(const char *name, char out[VC__NAME_BYTES]) {
    size_t n = 0;
    for (; name && *name && n < VC__NAME_BYTES - 20; name++) {
        if (vc__p_is_letter(*name) || vc__p_is_digit(*name)) out[n++] = *name;
        else if (n && out[n - 1] != '_') out[n++] = '_';
    }
    while (n && out[n - 1] == '_') n--;
    out[n] = 0;
}

/* extra_reserved: further words of one language, or NULL */
static bool vc__p_is_safe(bool (*extra_reserved)(const char *name), const char *name) {
    return vc__p_is_letter(name[0]) && !vc__p_is_reserved(name) && !(extra_reserved && extra_reserved(name));
}

/* Makes a unique, valid name similar to `wanted`, or to `fallback` if `wanted` has no valid character. */
static void vc__p_assign_name(vc__printer *g, vc__identifier *out, const char *wanted, const char *fallback) {
    char base[VC__NAME_BYTES];
    uint32_t slot, number = 1;
    vc__p_sanitize(wanted, base);
    if (!base[0]) vc__p_sanitize(fallback, base);
    snprintf(out->text, sizeof out->text, "%s%.40s", vc__p_is_safe(g->d->is_reserved, base) ? "" : "my_", base);
    snprintf(base, sizeof base, "%s", out->text);
    while (g->name_set[slot = vc__p_name_slot(g, out->text)])
        snprintf(out->text, sizeof out->text, "%.36s_%u", base, (unsigned)++number);
    g->name_set[slot] = out->text;
}

/* Names the live objects: by the names of their declarations, otherwise after their kind. */
static void vc__p_name_objects(vc__printer *g) {
    static const struct { uint16_t op; const char *name; } defaults[] = {
        { VC__OP_BUFFER, "data" }, { VC__OP_IMAGE, "picture" }, { VC__OP_PARAM, "value" }, { VC__OP_SHARED, "tile" },
        { VC__OP_TABLE, "table" }, { VC__OP_VAR, "variable" }, { VC__OP_ARRAY, "list" }
    };
    for (uint32_t i = 0; i < g->l->object_count; i++) {
        const vc__object *o = &g->object[i];
        const char *fallback = "object";
        if (g->d->declares_unused && o->arg != VC__NIL) g->live[i] = true;
        if (!g->live[i]) continue;
        for (uint32_t j = 0; j < sizeof defaults / sizeof *defaults; j++)
            if (defaults[j].op == o->op) fallback = defaults[j].name;
        vc__p_assign_name(g, &g->name[i], o->name, fallback);
    }
}

/* Blocks and implicit arguments are named after everything that the user has named, so that they do not change the
   user's names. */
static void vc__p_name_blocks(vc__printer *g) {
    char wanted[VC__NAME_BYTES];
    if (g->d->declares_unused) vc__p_assign_name(g, &g->args_name, "args", "args");
    for (uint32_t i = 0; i < g->l->object_count; i++) {
        const vc__object *o = &g->object[i];
        if (!g->live[i] || o->arg == VC__NIL) continue;
        snprintf(wanted, sizeof wanted, "%.36s_%s", g->name[i].text,
                 o->op == VC__OP_PARAM ? "in" : o->op == VC__OP_IMAGE ? "sampler" :
                 g->l->buffers == VC_BUFFERS_ADDRESS ? "at" : "block");
        vc__p_assign_name(g, &g->reference[i], wanted, "block");
    }
}

/* Names the implicit arguments, those of buffers after the buffer: x_length. */
static void vc__p_name_implicit(vc__printer *g) {
    static const char *const names[] = { "implicit", "threads", "groups", "group_base" };
    char wanted[2 * VC__NAME_BYTES], arg[VC__NAME_BYTES];
    for (int i = 0; i < g->l->info.implicit_count; i++) {
        const vc_implicit_info *h = &g->l->info.implicit[i];
        bool of_arg = vc__implicit_has_arg((uint32_t)h->kind);
        vc__p_sanitize(of_arg ? g->l->info.args[h->arg].name : NULL, arg);
        if (h->kind == VC_IMPLICIT_LENGTH) snprintf(wanted, sizeof wanted, "%.20s_length", arg);
        else if (h->kind == VC_IMPLICIT_SHAPE)
            snprintf(wanted, sizeof wanted, "%.20s_shape_%u", arg, (unsigned)h->axis);
        else if (h->kind == VC_IMPLICIT_OUTPUT) snprintf(wanted, sizeof wanted, "first_format");
        else snprintf(wanted, sizeof wanted, "%s_%c", names[h->kind], "xyzw"[h->axis & 3]);
        vc__p_assign_name(g, &g->implicit[i], wanted, "implicit");
    }
}

/* ---- constants ---- */

/* Writes a number with the fewest digits that convert back to it, with a decimal point in every locale. */
static void vc__p_decimal(double value, bool single, char out[40]) {
    char text[400], *from, *to = out;
    int digits;
    bool integral = true;
    for (digits = single ? 6 : 15; digits < (single ? 9 : 17); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (single ? (float)strtod(text, NULL) == (float)value :
                     strtod(text, NULL) <= value && strtod(text, NULL) >= value) break;
    }
    snprintf(text, sizeof text, "%.*g", digits, value);
    for (from = text; *from; from++) {
        bool keep = vc__p_is_digit(*from) || *from == '-' || *from == '+' || *from == 'e';
        integral = integral && keep && *from != 'e';
        if (keep) *to++ = *from;
        else if (to == out || to[-1] != '.') *to++ = '.'; /* a locale's point may have several bytes */
    }
    snprintf(to, 3, "%s", integral ? ".0" : "");
}

/* Returns the value of an f16, f32 or f64 from its bits. An f16 must be finite. */
static double vc__p_double(vc_type type, uint64_t bits) {
    uint32_t low = (uint32_t)bits, exponent = (low >> 10) & 31u;
    double d;
    float f;
    if (type == VC_F64) { memcpy(&d, &bits, 8); return d; }
    if (type == VC_F32) { memcpy(&f, &low, 4); return (double)f; }
    d = (double)((low & 1023u) + (exponent ? 1024u : 0u)) / 16777216.0; /* 2^24: units of subnormals */
    for (uint32_t i = 1; i < exponent; i++) d *= 2.0;
    return (low >> 15) & 1u ? -d : d;
}

/* Prints a float. Infinities, NaNs, and subnormal numbers (which a compiler may flush) are printed as bit patterns. An
   initializer of a table must not call functions, so there infinities and NaNs are printed as quotients. */
static void vc__p_float(vc__printer *g, vc_type type, uint64_t bits, bool in_expression) {
    uint32_t fraction_bits = vc__kinds[type].fraction, exponent_bits = vc__kinds[type].exponent;
    uint64_t exponent = (bits >> fraction_bits) & vc__ones(exponent_bits), fraction = bits & vc__ones(fraction_bits);
    bool finite = exponent != vc__ones(exponent_bits), negative = bits >> (vc__bits(type) - 1) != 0;
    const char *suffix = g->d->suffix[type];
    char text[40];
    if (!suffix || (in_expression && (!finite || (!exponent && fraction)))) g->d->float_bits(g, type, bits);
    else if (!finite) {
        vc__p_put(g, "%s%s%s / 0.0%s", negative && !fraction ? "-" : "", fraction ? "0.0" : "1.0", suffix, suffix);
    } else {
        vc__p_decimal(vc__p_double(type, bits), type == VC_F32, text);
        vc__p_put(g, "%s%s", text, suffix);
    }
}

/* Prints an integer. C has no literal for the smallest signed number, and GLSL has none for the smallest i64. */
static void vc__p_int(vc__printer *g, vc_type type, uint64_t bits) {
    bool is_c = vc__is_c(g->l->target), is_min = vc__is_signed(type) && bits == (uint64_t)1 << (vc__bits(type) - 1);
    const char *suffix = g->d->suffix[type];
    long long value = (long long)vc__widen(type, bits);
    if (!suffix) vc__p_put(g, is_c ? "(%t)%lld" : "%t(%lld)", type, value);
    else if (is_min && (is_c || type == VC_I64)) vc__p_put(g, "(%lld%s - 1%s)", value + 1, suffix, is_c ? "" : suffix);
    else vc__p_put(g, vc__is_signed(type) ? "%lld%s" : "%llu%s", value, suffix);
}

static void vc__p_scalar(vc__printer *g, vc_type type, uint64_t bits, bool in_expression) {
    if (type == VC_BOOL) vc__p_put(g, "%s", bits ? "true" : "false");
    else if (vc__is_float(type)) vc__p_float(g, type, bits, in_expression);
    else vc__p_int(g, type, bits);
}

static bool vc__p_is_negative(const vc__node *n) {
    uint64_t bits = vc__bits_of(n);
    return n->op == VC__OP_CONST && n->type != VC_BOOL && !vc__is_unsigned(n->type) &&
           ((bits >> (vc__bits(n->type) - 1)) & 1);
}

/* ---- values with a name ---- */

static uint32_t vc__p_object(const vc__listing *l, uint32_t memory) {
    while (l->node[memory].op == VC__OP_POINTER) memory = l->node[memory].a[0];
    return l->node[memory].x;
}

static const vc_arg_info *vc__p_arg(const vc__printer *g, uint32_t object) {
    return &g->l->info.args[g->object[object].arg];
}

/* bytes, in the argument block */
static uint32_t vc__p_value_offset(const vc__printer *g, uint32_t object) {
    return vc__p_arg(g, object)->location + g->object[object].offset;
}

/* The first live view of the buffer that `object` is a view of; VC__NIL if `object` itself is the first or no view. */
static uint32_t vc__p_first_view(const vc__printer *g, uint32_t object) {
    uint32_t buffer = g->object[object].composite;
    if (buffer == VC__NIL || g->object[object].op != VC__OP_BUFFER) return VC__NIL;
    for (uint32_t i = buffer + 1; i < object; i++) if (g->live[i] && g->object[i].composite == buffer) return i;
    return VC__NIL;
}

/* Whether no other pointer refers to the memory of a buffer. */
static bool vc__p_is_unaliased(const vc__printer *g, uint32_t object) {
    return !(g->object[object].access & VC_MAY_ALIAS) && !g->object[object].aliased;
}

static bool vc__p_is_anchored(const vc__node *n) {
    return vc__op[n->op].class_ == VC__EFFECT || vc__op[n->op].class_ == VC__BLOCK;
}

/* Sets the fields of vc__print_info up to `statement`, and marks the objects that are used. */
static void vc__p_analyse(vc__printer *g) {
    const vc__listing *l = g->l;
    uint32_t block = 0, effects = 0, exits = 0, count;
    for (uint32_t i = l->leaves; i < l->count; i++) {
        const vc__node *n = &l->node[i];
        const uint32_t *operand = vc__operands(n, l->extra, &count);
        for (uint32_t j = 0; j < count; j++) {
            if (operand[j] == VC__NIL) continue;
            /* the pattern of ROTL in CUDA C contains $0 twice, so $0 is computed into a variable */
            g->info[operand[j]].uses += n->op == VC__OP_ROTL ? 2 : 1;
            g->info[operand[j]].user = i;
        }
        if (n->op == VC__OP_END) g->info[i].opener = block;
        if (n->op == VC__OP_END || n->op == VC__OP_ELSE) block = block ? g->info[block - 1].block : 0;
        g->info[i].block = block;
        g->info[i].effects = effects;
        g->info[i].exits = exits;
        g->info[i].statement = i;
        if (vc__op[n->op].class_ == VC__BLOCK && n->op != VC__OP_END) block = i + 1;
        effects += vc__p_is_anchored(n);
        exits += n->op == VC__OP_BREAK_IF || n->op == VC__OP_CONTINUE_IF || n->op == VC__OP_RETURN_IF;
        if (n->op >= VC__OP_BUFFER && n->op <= VC__OP_ARRAY) g->live[n->x] = true;
    }
}

/* Finds the switches that are printed as a chain of if and else if: those with a case that breaks out of an enclosing
   loop, because `break` would only leave the switch; and, in GLSL, those whose selector is neither i32 nor u32. */
static void vc__p_find_chains(vc__printer *g) {
    const vc__listing *l = g->l;
    for (uint32_t i = l->body; i < l->count; i++) {
        const vc__node *n = &l->node[i];
        if (n->op == VC__OP_SWITCH && !g->d->wide_switch && l->node[n->a[0]].type != VC_I32 &&
            l->node[n->a[0]].type != VC_U32) g->info[i].chained = true;
        if (n->op != VC__OP_BREAK_IF) continue;
        for (uint32_t b = g->info[i].block; b && l->node[b - 1].op != VC__OP_FOR && l->node[b - 1].op != VC__OP_LOOP;
             b = g->info[b - 1].block)
            if (l->node[b - 1].op == VC__OP_SWITCH) g->info[b - 1].chained = true;
    }
}

static bool vc__p_is_buffer_start(const vc__node *n) { return n->op == VC__OP_POINTER && n->a[1] == VC__NIL && !n->x; }

/* Whether a load reads memory that is never written while the kernel runs. */
static bool vc__p_reads_constant(const vc__printer *g, const vc__node *n) {
    const vc__object *o = &g->object[vc__p_object(g->l, n->a[0])];
    return o->op == VC__OP_TABLE || (o->op == VC__OP_BUFFER && !(o->used & VC_WRITE) && !(o->access & VC_MAY_ALIAS));
}

/* Whether a float atomic is printed as a compare-exchange loop: in GLSL if the memory is declared as integers, in CUDA
   C all but f32 addition, in OpenCL C all. */
static bool vc__p_needs_cas_loop(const vc__printer *g, const vc__node *n) {
    if (!vc__is_float(n->type)) return false;
    if (vc__is_cuda(g->l->target)) return n->op != VC__OP_ATOMIC_ADD || n->type != VC_F32;
    return vc__is_c(g->l->target) || !vc__is_float(g->object[vc__p_object(g->l, n->a[0])].type);
}

/* Whether node i may be printed inside the expression of its user. It must have only one user, which is in the same
   block and evaluates it once. A load must not move across an effect that may change the element. */
static bool vc__p_may_nest(const vc__printer *g, uint32_t i) {
    const vc__node *n = &g->node[i], *user_node = &g->node[g->info[i].user];
    const vc__print_info *info = &g->info[i], *user_info = &g->info[info->user];
    if (vc__p_is_buffer_start(n) || n->op == VC__OP_GRADIENT || n->op == VC__OP_IMAGE_AT) return true;
    if (user_node->op == VC__OP_IMAGE_AT) return false; /* the index may be printed several times */
    if (info->uses != 1 || (vc__op[n->op].class_ != VC__PURE && n->op != VC__OP_LOAD)) return false;
    if (user_info->block != info->block) return false;
    if ((n->flags & VC__NODE_PRECISE) && !(user_node->flags & VC__NODE_PRECISE)) return false;
    if (user_node->op == VC__OP_SWITCH || (user_node->op == VC__OP_FOR && user_node->a[0] != i)) return false;
    if (vc__is_atomic(user_node->op) && vc__p_needs_cas_loop(g, user_node)) return false;
    if (n->op != VC__OP_LOAD || g->info[user_info->statement].effects == info->effects) return true;
    /* an exit must not skip the load */
    return vc__p_reads_constant(g, n) && g->info[user_info->statement].exits == info->exits;
}

/* Whether the operator that prints a node (&&, || or ?:) may skip the evaluation of operands after the first. */
static bool vc__p_short_circuits(const vc__node *n) {
    return n->op == VC__OP_SELECT || ((n->op == VC__OP_AND || n->op == VC__OP_OR) && vc__is_bool(n->type));
}

static bool vc__p_reads_memory(const vc__printer *g, const vc__node *n) {
    return n->op == VC__OP_LOAD && g->object[vc__p_object(g->l, n->a[0])].op != VC__OP_VAR;
}

/* Chooses the values that are printed inside the expression of their user. The backward pass finds candidates. The
   forward pass excludes those whose expression is too long, and those that read memory in an operand whose evaluation
   the user may skip: all operands must be evaluated, as in SPIR-V. */
static void vc__p_choose_nested(vc__printer *g) {
    const vc__listing *l = g->l;
    uint32_t count;
    for (uint32_t i = l->count; i-- > l->body;) {
        g->info[i].nested = vc__p_may_nest(g, i);
        if (g->info[i].nested) g->info[i].statement = g->info[g->info[i].user].statement;
    }
    for (uint32_t i = l->body; i < l->count; i++) {
        const uint32_t *operand = vc__operands(&l->node[i], l->extra, &count);
        uint32_t depth = 1, weight = 1;
        g->info[i].reads = vc__p_reads_memory(g, &l->node[i]);
        for (uint32_t j = 0; j < count; j++) {
            vc__print_info *info = operand[j] == VC__NIL ? NULL : &g->info[operand[j]];
            if (info && j && info->reads && vc__p_short_circuits(&l->node[i])) info->nested = false;
            if (!info || !info->nested) continue;
            if (info->depth >= depth) depth = info->depth + 1u;
            weight += info->weight;
            g->info[i].reads |= info->reads;
        }
        bool too_long = depth > VC__P_NESTING || weight > VC__P_WEIGHT;
        if (too_long && l->node[i].op != VC__OP_GRADIENT && l->node[i].op != VC__OP_IMAGE_AT) g->info[i].nested = false;
        g->info[i].depth = (uint8_t)(depth > 255 ? 255 : depth);
        g->info[i].weight = (uint8_t)(weight > 255 ? 255 : weight);
    }
}

/* ---- expressions ---- */

static unsigned vc__p_mask(const vc__printer *g, uint32_t i);

/* limit: the largest precedence of an operand without parentheses. It is stricter than the languages require where
   readers and compiler warnings expect parentheses. */
static const struct { char text[3]; uint8_t precedence, limit; } vc__p_operators[] = {
    { "*", 3, 3 }, { "/", 3, 3 }, { "%", 3, 3 }, { "+", 4, 4 }, { "-", 4, 4 }, { "<<", 5, 1 }, { ">>", 5, 1 },
    { "<", 6, 5 }, { "<=", 6, 5 }, { "==", 7, 5 }, { "!=", 7, 5 }, { "&", 8, 1 }, { "^", 9, 1 }, { "|", 10, 1 },
    { "&&", 11, 7 }, { "||", 13, 7 }
};

/* *limit: the largest precedence of its operands without parentheses */
static int vc__p_precedence(const char *pattern, int *limit) {
    bool call = vc__p_is_letter(pattern[0]) || pattern[0] == '_';
    *limit = VC__P_ANY;
    if (pattern[0] != '$' || pattern[1] == 'T') {
        if (!call) *limit = VC__P_PRIMARY;
        return call ? VC__P_PRIMARY : VC__P_PREFIX;
    }
    if (pattern[2] != ' ') return VC__P_PRIMARY;
    *limit = VC__P_TERNARY - 1;
    if (pattern[3] == '?') return VC__P_TERNARY;
    size_t n = strcspn(pattern + 3, " ");
    for (size_t i = 0; i < sizeof vc__p_operators / sizeof *vc__p_operators; i++) {
        if (strlen(vc__p_operators[i].text) != n || strncmp(vc__p_operators[i].text, pattern + 3, n) != 0) continue;
        *limit = vc__p_operators[i].limit;
        return vc__p_operators[i].precedence;
    }
    return VC__P_TERNARY;
}

static vc_type vc__p_unsigned_type(const vc__printer *g, const vc__node *n) {
    return vc__bits(vc__kind(g->node[n->a[0]].type)) > 32 ? VC_U64 : VC_U32;
}

/* If the pattern is "($U)$0" and the operand a constant, prints it as an unsigned literal; otherwise returns false. */
static bool vc__p_unsigned_const(vc__printer *g, const vc__node *n, const char *pattern) {
    if (strncmp(pattern, "($U)$", 5) != 0) return false;
    vc_type type = vc__p_unsigned_type(g, n);
    const vc__node *c = &g->node[n->a[pattern[5] - '0']];
    if (c->op != VC__OP_CONST) return false;
    vc__p_scalar(g, type, vc__widen(c->type, vc__bits_of(c)) & vc__ones(vc__bits(type)), true);
    return true;
}

/* Returns the largest precedence that the operand at `at` in a pattern may have without parentheses, or a sum as
   described at VC__P_EXCEPTION. */
static int vc__p_allowed(const char *pattern, const char *at) {
    int limit, precedence = vc__p_precedence(pattern, &limit);
    bool first = at == pattern, after_comma = at > pattern + 1 && at[-2] == ',';
    if (!first && (at[-1] == '(' || at[-1] == '[' || after_comma)) return VC__P_ANY; /* f(a, b), a[b] */
    if (first && pattern[2] == '[') return VC__P_PRIMARY; /* a[…] */
    /* a << b << c: the first operand may have the same precedence, but (a + b) << c keeps its parentheses */
    if (first && precedence > limit && precedence < VC__P_TERNARY) return limit + VC__P_EXCEPTION * precedence;
    return !first && limit == precedence ? limit - 1 : limit; /* a - (b - c), but a - b - c */
}

/* Prints a node by its pattern. $0 $1 $2: operands. $T: type of the result. $U: unsigned type in which integers are
   computed. $f: "f" for f32 in CUDA C. #: components of the first operand. @: prefix of a subgroup operation. `: its
   cluster size. */
static void vc__p_print_pattern(vc__printer *g, const vc__node *n, const char *pattern) {
    static const char *const lanes[] = { "", "Inclusive", "Exclusive", "Clustered" };
    for (const char *c = pattern; *c; c++) {
        if (*c == '(' && vc__p_unsigned_const(g, n, c)) c += 5;
        else if (*c == '$' && (c[1] == 'T' || c[1] == 'U'))
            vc__p_put(g, "%t", *++c == 'T' ? n->type : vc__p_unsigned_type(g, n));
        else if (*c == '$' && c[1] == 'f') {
            vc__p_put(g, vc__is_cuda(g->l->target) && g->node[n->a[0]].type == VC_F32 ? "f" : "");
            c++;
        } else if (*c == '$') {
            int allowed = vc__p_allowed(pattern, c);
            vc__p_expression(g, n->a[*++c - '0'], allowed);
        } else if (*c == '#') vc__p_put(g, "%u", (unsigned)vc__components(g->node[n->a[0]].type));
        else if (*c == '@') vc__p_put(g, "%s", lanes[n->x & 3u]);
        else if (*c == '`') { if ((n->x & 3u) == VC__LANES_CLUSTER) vc__p_put(g, ", %uu", (unsigned)(n->x >> 4)); }
        else vc__text_append(g->k, &g->k->text, c, 1);
    }
}

static void vc__p_construct(vc__printer *g, const vc__node *n) {
    const char *close = g->d->open_vector(g, n->type, true);
    uint32_t count, same = 1;
    const uint32_t *operand = vc__operands(n, g->l->extra, &count);
    while (same < count && operand[same] == operand[0]) same++;
    if (g->d->splats && same == count) count = 1;
    for (uint32_t i = 0; i < count; i++) vc__p_put(g, i ? ", %e" : "%e", operand[i]);
    vc__p_put(g, "%s", close);
}

/* fold: see vc__dialect.open_vector */
static void vc__p_vector(vc__printer *g, vc_type type, const uint64_t *bits, bool fold) {
    const char *close = g->d->open_vector(g, type, fold);
    vc_type kind = vc__is_bool(type) && !g->d->splats ? (vc_type)VC_U32 : vc__scalar(type);
    uint32_t count = vc__components(type), same = 1;
    while (same < count && bits[same] == bits[0]) same++;
    if (g->d->splats && same == count) count = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (i) vc__p_put(g, ", ");
        vc__p_scalar(g, kind, bits[i], fold);
    }
    vc__p_put(g, "%s", close);
}

static void vc__p_component(vc__printer *g, const vc__node *n) {
    vc__p_put(g, "%0e.%c", n->a[0], "xyzw"[n->x & 3]);
}

/* If the vector has no name, prints the operand of its VEC or TUPLE. Prints a scalar as it is. */
static void vc__p_vector_component(vc__printer *g, uint32_t vector, uint32_t i, int allowed) {
    const vc__node *n = &g->node[vector];
    bool parts = (n->op == VC__OP_VEC || n->op == VC__OP_TUPLE) && !g->info[vector].number;
    if (vc__components(n->type) == 1) vc__p_expression(g, vector, allowed);
    else if (parts) vc__p_expression(g, g->l->extra[n->a[0] + i], allowed);
    else vc__p_put(g, "%0e.%c", vector, "xyzw"[i & 3u]);
}

/* Prints both components of a vector of two, each after a comma. */
static void vc__p_two_components(vc__printer *g, uint32_t pair) {
    const vc__node *n = &g->node[pair];
    bool parts = n->op == VC__OP_VEC || n->op == VC__OP_TUPLE;
    for (uint32_t i = 0; i < 2; i++)
        vc__p_put(g, parts ? ", %e" : ", %0e.%c", parts ? g->l->extra[n->a[0] + i] : pair, "xy"[i]);
}

/* Prints " + 3" after an index; nothing for 0. */
static void vc__p_offset(vc__printer *g, int32_t offset, const char *suffix) {
    if (offset)
        vc__p_put(g, " %c %lld%s", offset < 0 ? '-' : '+', offset < 0 ? -(long long)offset : (long long)offset, suffix);
}

/* Prints x + i + 3, in elements and with 64 bits. glslang 12 crashes on an index of type int64_t. The cast to uint64_t
   does not change the address, because addresses wrap. */
static void vc__p_pointer(vc__printer *g, const vc__node *n) {
    bool cast = n->a[1] != VC__NIL && vc__is_glsl(g->l->target) && g->node[n->a[1]].type == VC_I64;
    vc__p_put(g, "%4e", n->a[0]);
    if (n->a[1] != VC__NIL) vc__p_put(g, cast ? " + uint64_t(%e)" : " + %3e", n->a[1]);
    vc__p_offset(g, (int32_t)n->x, "");
}

static void vc__p_tuple(vc__printer *g, const vc__node *n) {
    uint64_t bits[4];
    for (uint32_t i = 0; i < n->a[1] && i < 4; i++) bits[i] = vc__bits_of(&g->node[g->l->extra[n->a[0] + i]]);
    vc__p_vector(g, n->type, bits, true);
}

/* Prints the `count` elements of a table. `line`: offset in the text where the current line starts. `first`: text
   before the first element. `line_prefix`: text at the start of further lines. */
static void vc__p_elements(vc__printer *g, size_t line, vc_type type, const uint64_t *data, uint32_t count,
                           const char *first, const char *line_prefix) {
    uint32_t components = vc__components(type);
    for (uint32_t i = 0; i < count; i++, data += components) {
        if (i) vc__p_put(g, ",");
        if (g->k->text.length - line > VC__P_COLUMN) {
            line = g->k->text.length;
            vc__p_put(g, "\n%s", line_prefix);
        }
        vc__p_put(g, "%s", i ? " " : first);
        if (components > 1) vc__p_vector(g, type, data, false);
        else vc__p_scalar(g, type, *data, false);
    }
}

/* Whether a parameter is converted from its type in the argument block of C to a local variable: vectors and bools. */
static bool vc__c_is_converted(vc_type type) { return vc__components(type) > 1 || type == VC_BOOL; }

/* Prints "args.", before a member of the argument block. */
static void vc__p_args(vc__printer *g) {
    if (g->args_name.text[0]) vc__p_put(g, "%s.", g->args_name.text);
}

/* Also for variables and private arrays. */
static void vc__p_leaf(vc__printer *g, uint32_t i) {
    const vc__node *n = &g->node[i];
    bool named = i >= g->l->leaves && i < g->l->body && g->leaf[i - g->l->leaves].text[0];
    if (n->op == VC__OP_CONST) vc__p_scalar(g, n->type, vc__bits_of(n), true);
    else if (n->op == VC__OP_TUPLE) vc__p_tuple(g, n);
    else if (n->op >= VC__OP_BUFFER && n->op <= VC__OP_ARRAY) {
        if (n->op == VC__OP_PARAM && !vc__c_is_converted(n->type)) vc__p_args(g);
        vc__p_put(g, "%o", n->x);
    } else if (n->op == VC__OP_IMPLICIT) {
        const vc_implicit_info *implicit = vc__implicit_of(g->l, n);
        vc__p_args(g);
        if (implicit) vc__p_put(g, "%s", g->implicit[implicit - g->l->info.implicit].text);
    } else if (named) vc__p_put(g, "%s", g->leaf[i - g->l->leaves].text);
    else g->d->id(g, n);
}

static void vc__p_without_pattern(vc__printer *g, const vc__node *n) {
    switch (n->op) {
    case VC__OP_VEC: case VC__OP_CAST: vc__p_construct(g, n); break;
    case VC__OP_COMPONENT: g->d->component(g, n); break;
    case VC__OP_BITCAST: g->d->bitcast(g, n); break;
    case VC__OP_POINTER: vc__p_pointer(g, n); break;
    case VC__OP_LOAD: g->d->load(g, n); break;
    case VC__OP_SAMPLE: case VC__OP_GATHER: case VC__OP_FETCH:
    case VC__OP_IMAGE_LOAD: case VC__OP_IMAGE_SIZE: case VC__OP_IMAGE_LEVELS:
        g->d->image_op(g, n);
        break;
    default:
        vc__fail_call(g->k, vc__op_name[n->op], "the result type %t is not supported in %s", n->type,
                      g->d->name);
        break;
    }
}

/* Prints node i, in parentheses if its precedence is larger than `allowed`. See VC__P_EXCEPTION. */
static void vc__p_expression(vc__printer *g, uint32_t i, int allowed) {
    const vc__node *n = &g->node[i];
    int limit;
    bool parenthesize;
    if (n->op == VC__OP_MASK) { vc__p_put(g, "vc_mask%u", vc__p_mask(g, i)); return; }
    if (g->info[i].number) {
        vc__p_put(g, "%c%u", n->op == VC__OP_FOR ? 'i' : 'v', g->info[i].number);
        return;
    }
    if (vc__op[n->op].class_ == VC__LEAF || vc__op[n->op].class_ == VC__NEW) {
        parenthesize = allowed < VC__P_PREFIX && vc__p_is_negative(n);
        if (parenthesize) vc__p_put(g, "(");
        vc__p_leaf(g, i);
        if (parenthesize) vc__p_put(g, ")");
        return;
    }
    const char *pattern = g->d->pattern(g, n);
    int precedence = pattern ? vc__p_precedence(pattern, &limit) :
                     n->op == VC__OP_POINTER && !vc__p_is_buffer_start(n) ? VC__P_SUM : VC__P_PRIMARY;
    parenthesize = precedence > allowed % VC__P_EXCEPTION && precedence != allowed / VC__P_EXCEPTION;
    if (parenthesize) vc__p_put(g, "(");
    if (pattern) vc__p_print_pattern(g, n, pattern); else vc__p_without_pattern(g, n);
    if (parenthesize) vc__p_put(g, ")");
}

/* ---- statements ---- */

static void vc__p_open_block(vc__printer *g) {
    vc__p_put(g, " {\n");
    g->indent++;
}

static void vc__p_variable(vc__printer *g, uint32_t i) {
    uint32_t object = g->node[i].x;
    const vc__object *o = &g->object[object];
    static const uint64_t zeros[4] = { 0, 0, 0, 0 };
    if (o->op == VC__OP_ARRAY) { vc__p_put(g, "%t %o[%u];\n", o->type, object, o->count); return; }
    vc__p_put(g, "%t %o = ", o->type, object);
    if (vc__components(o->type) > 1) vc__p_vector(g, o->type, zeros, true);
    else vc__p_scalar(g, o->type, 0, true);
    vc__p_put(g, ";\n");
}

/* BREAK_IF, CONTINUE_IF and RETURN_IF. An exit with a true condition at the end of a block is printed without `if`. */
static void vc__p_exit(vc__printer *g, uint32_t i) {
    const vc__node *n = &g->node[i], *condition = &g->node[n->a[0]];
    bool always = condition->op == VC__OP_CONST && condition->a[0] &&
                  (i + 1 == g->l->count || g->node[i + 1].op == VC__OP_END);
    if (!always) vc__p_put(g, "if (%e) ", n->a[0]);
    vc__p_put(g, "%s;\n", n->op == VC__OP_BREAK_IF ? "break" : n->op == VC__OP_CONTINUE_IF ? "continue" : "return");
}

/* CUDA C: the number of the mask of the invocations that execute a node; 0: the whole warp. */
static unsigned vc__p_mask(const vc__printer *g, uint32_t i) {
    uint32_t b = g->info[i].block;
    while (b && !(g->info[b - 1].masked && (g->node[b - 1].op == VC__OP_IF || g->node[b - 1].op == VC__OP_ELSE)))
        b = g->info[b - 1].block;
    return b ? g->info[b - 1].number : 0;
}

static uint32_t vc__p_matching_if(const vc__printer *g, uint32_t i) {
    uint32_t j = i - 1;
    while (g->node[j].op != VC__OP_IF || g->info[j].block != g->info[i].block) j--;
    return j;
}

/* CUDA C: an IF whose mask is computed by a ballot before it, which all invocations of the enclosing mask execute. */
static void vc__p_masked_if(vc__printer *g, uint32_t i) {
    unsigned number = ++g->masks;
    g->info[i].number = number;
    vc__p_put(g, "const bool vc_if%u = %e;\n", number, g->node[i].a[0]);
    vc__p_line(g);
    vc__p_put(g, "const unsigned int vc_mask%u = __ballot_sync(vc_mask%u, vc_if%u);\n", number, vc__p_mask(g, i),
              number);
    vc__p_line(g);
    vc__p_put(g, "if (vc_if%u)", number);
    vc__p_open_block(g);
}

static void vc__p_if(vc__printer *g, uint32_t i) {
    if (g->info[i].masked) { vc__p_masked_if(g, i); return; }
    vc__p_put(g, "if (%e)", g->node[i].a[0]);
    vc__p_open_block(g);
}

static void vc__p_else(vc__printer *g, uint32_t i) {
    vc__p_put(g, "} else");
    vc__p_open_block(g);
    if (!g->info[i].masked) return;
    g->info[i].number = ++g->masks;
    vc__p_line(g);
    vc__p_put(g, "const unsigned int vc_mask%u = vc_mask%u & ~vc_mask%u;\n", g->masks, vc__p_mask(g, i),
              (unsigned)g->info[vc__p_matching_if(g, i)].number);
}

/* A counter that may wrap is compared with its previous value; the loop ends when it decreases. The pattern of ADD
   advances such a counter, because signed overflow is undefined in C. */
static void vc__p_for(vc__printer *g, uint32_t i) {
    const vc__node *n = &g->node[i];
    vc__node next = vc__null_node;
    unsigned number = ++g->counters;
    next.op = VC__OP_ADD;
    next.type = n->type;
    next.a[0] = i;
    next.a[1] = n->a[2];
    vc__p_put(g, "for (%t i%u = %e", n->type, number, n->a[0]);
    if (n->x) vc__p_put(g, ", before%u = i%u", number, number);
    vc__p_put(g, "; i%u < %5e", number, n->a[1]);
    if (n->x) vc__p_put(g, " && before%u <= i%u", number, number);
    vc__p_put(g, "; ");
    if (n->x) vc__p_put(g, "before%u = i%u, ", number, number);
    g->info[i].number = number;
    if (n->a[2] == VC__NIL) vc__p_put(g, "i%u++", number);
    else if (n->x) { vc__p_put(g, "i%u = ", number); vc__p_print_pattern(g, &next, g->d->pattern(g, &next)); }
    else vc__p_put(g, "i%u += %e", number, n->a[2]);
    vc__p_put(g, ")");
    vc__p_open_block(g);
}

/* Prints the condition of a default that is not the last block of a chain: the value equals none of the cases. */
static void vc__p_default_condition(vc__printer *g, uint32_t switch_node) {
    const vc__listing *l = g->l;
    const char *separator = "if (";
    for (uint32_t j = switch_node + 1; j < l->count && g->info[j].opener != switch_node + 1; j++) {
        if (l->node[j].op != VC__OP_CASE || g->info[j].block != switch_node + 1) continue;
        vc__p_put(g, "%s%5e != ", separator, l->node[switch_node].a[0]);
        vc__p_scalar(g, l->node[l->node[switch_node].a[0]].type, vc__bits_of(&l->node[j]), true);
        separator = " && ";
    }
    vc__p_put(g, ")");
}

/* i: a case or default */
static bool vc__p_is_last_case(const vc__printer *g, uint32_t i) {
    uint32_t j = i + 1;
    while (g->info[j].opener != i + 1) j++;
    return g->node[j + 1].op == VC__OP_END;
}

/* A label or, in a chained switch, `if` or `else if`. */
static void vc__p_case(vc__printer *g, uint32_t i) {
    const vc__node *n = &g->node[i];
    uint32_t switch_node = g->info[i].block - 1;
    bool chained = g->info[switch_node].chained, first = i == switch_node + 1;
    if (chained && !first) vc__p_put(g, n->op == VC__OP_DEFAULT && vc__p_is_last_case(g, i) ? "else" : "else ");
    if (n->op == VC__OP_DEFAULT) {
        if (!chained) vc__p_put(g, "default:");
        else if (first && vc__p_is_last_case(g, i)) vc__p_put(g, "if (true)");
        else if (!vc__p_is_last_case(g, i)) vc__p_default_condition(g, switch_node);
        vc__p_open_block(g);
        return;
    }
    vc__p_put(g, chained ? "if (%5e == " : "case ", g->node[switch_node].a[0]);
    vc__p_scalar(g, g->node[g->node[switch_node].a[0]].type, vc__bits_of(n), true);
    vc__p_put(g, chained ? ")" : ":");
    vc__p_open_block(g);
}

static void vc__p_end(vc__printer *g, uint32_t i) {
    uint32_t op = g->node[i].x, parent = g->info[i].block; /* 1 + node; of a case: the switch */
    bool is_case = op == VC__OP_CASE || op == VC__OP_DEFAULT, chained = is_case && g->info[parent - 1].chained;
    g->continues_line = chained && g->node[i + 1].op != VC__OP_END;
    vc__p_put(g, g->continues_line ? "} " : is_case && !chained ? "} break;\n" : "}\n");
}

/* Whether a node prints nothing: the start and the end of a switch that is printed as a chain. */
static bool vc__p_prints_nothing(const vc__printer *g, uint32_t i) {
    const vc__node *n = &g->node[i];
    if (n->op == VC__OP_SWITCH) return g->info[i].chained;
    return n->op == VC__OP_END && n->x == VC__OP_SWITCH && g->info[i].opener && g->info[g->info[i].opener - 1].chained;
}

static void vc__p_temporary(vc__printer *g, uint32_t i) {
    g->d->declare(g, i);
    vc__p_put(g, "v%u = %e;\n", ++g->temporaries, i);
    g->info[i].number = g->temporaries;
}

static void vc__p_store(vc__printer *g, uint32_t i) {
    const vc__node *n = &g->node[i];
    if (n->op == VC__OP_STORE) g->d->store(g, n); else g->d->image_op(g, n);
    vc__p_put(g, ";\n");
}

/* The parts of a compare-exchange loop that depend on the language. */
typedef struct vc__cas_loop {
    const char *from, *to;    /* functions that convert bits to a float, and a float to bits */
    const char *exchange;     /* name of the compare-exchange function */
    /* prints the element of memory: its value if `read`, else the function's argument for it */
    void (*element)(vc__printer *g, const vc__node *n, bool read);
} vc__cas_loop;

/* Prints the new value. old_bits: number of the variable with the bits of the old one */
static void vc__p_float_atomic(vc__printer *g, const vc__node *n, const char *from, unsigned old_bits) {
    uint32_t x = n->a[2];
    if (n->op == VC__OP_ATOMIC_ADD) { vc__p_put(g, "%s(v%u) + %3e", from, old_bits, x); return; }
    if (n->op == VC__OP_ATOMIC_MIN) vc__p_put(g, "%1e < %s(v%u)", x, from, old_bits);
    else vc__p_put(g, "%s(v%u) < %1e", from, old_bits, x);
    vc__p_put(g, " || isnan(%s(v%u)) ? %1e : %s(v%u)", from, old_bits, x, from, old_bits);
}

static void vc__p_cas_loop(vc__printer *g, uint32_t i, const vc__cas_loop *loop) {
    const vc__node *n = &g->node[i];
    unsigned expected = ++g->temporaries, found = ++g->temporaries;
    vc__p_put(g, "%t v%u = ", vc__to_bits(n->type), expected);
    loop->element(g, n, true);
    vc__p_put(g, ";\n");
    vc__p_line(g);
    vc__p_put(g, "for (%t v%u; (v%u = %s(", vc__to_bits(n->type), found, found, loop->exchange);
    loop->element(g, n, false);
    vc__p_put(g, ", v%u, %s(", expected, loop->to);
    vc__p_float_atomic(g, n, loop->from, expected);
    vc__p_put(g, "))) != v%u; v%u = v%u) { }\n", expected, expected, found);
    if (!g->info[i].uses) return;
    vc__p_line(g);
    g->info[i].number = ++g->temporaries;
    vc__p_put(g, "%t v%u = %s(v%u);\n", n->type, g->info[i].number, loop->from, expected);
}

static void vc__p_atomic_result(vc__printer *g, uint32_t i) {
    const vc__node *n = &g->node[i];
    if (!g->info[i].uses || !vc__has_result(n->op)) return;
    g->info[i].number = ++g->temporaries;
    vc__p_put(g, "%t v%u = ", n->type, g->info[i].number);
}

static void vc__p_statement(vc__printer *g, uint32_t i) {
    const vc__node *n = &g->node[i];
    bool closes = n->op == VC__OP_ELSE || (n->op == VC__OP_END && n->x != VC__OP_SWITCH);
    if (g->info[i].nested || n->op == VC__OP_MASK || vc__p_prints_nothing(g, i)) return;
    if (closes) g->indent--;
    vc__p_line(g);
    switch (n->op) {
    case VC__OP_VAR: case VC__OP_ARRAY: vc__p_variable(g, i); break;
    case VC__OP_STORE: case VC__OP_IMAGE_STORE: vc__p_store(g, i); break;
    case VC__OP_BARRIER: case VC__OP_FENCE: g->d->sync(g, i); break;
    case VC__OP_BREAK_IF: case VC__OP_CONTINUE_IF: case VC__OP_RETURN_IF: vc__p_exit(g, i); break;
    case VC__OP_IF: vc__p_if(g, i); break;
    case VC__OP_ELSE: vc__p_else(g, i); break;
    case VC__OP_FOR: vc__p_for(g, i); break;
    case VC__OP_LOOP: vc__p_put(g, "while (true)"); vc__p_open_block(g); break;
    case VC__OP_SWITCH: vc__p_put(g, "switch (%e) {\n", n->a[0]); break;
    case VC__OP_CASE: case VC__OP_DEFAULT: vc__p_case(g, i); break;
    case VC__OP_END: vc__p_end(g, i); break;
    default: if (vc__is_atomic(n->op)) g->d->atomic(g, i); else vc__p_temporary(g, i); break;
    }
}

/* Prints the start of the body: parameters that need unpacking, and ids that are used more than once. */
static void vc__p_prologue(vc__printer *g) {
    static const char *const names[VC__IDS] = {
        "local_x", "group_x", "global_x", "local_index", "subgroup_size", "subgroup_count", "subgroup_id", "lane"
    };
    char wanted[VC__NAME_BYTES];
    for (uint32_t i = g->l->leaves; i < g->l->body; i++) {
        const vc__node *n = &g->node[i];
        if (n->op == VC__OP_PARAM || n->op == VC__OP_BUFFER) g->d->convert(g, n->x);
        if (!vc__is_id(n->op) || g->info[i].uses < 2) continue;
        strcpy(wanted, names[n->op - VC__OP_LOCAL_ID]);
        if (vc__has_axes(n->op)) wanted[strlen(wanted) - 1] = "xyz"[n->x % 3];
        vc__p_assign_name(g, &g->leaf[i - g->l->leaves], wanted, "id");
        vc__p_put(g, "    %t %s = ", VC_U32, g->leaf[i - g->l->leaves].text);
        g->d->id(g, n);
        vc__p_put(g, ";\n");
    }
}

static void *vc__p_suballocate(char *at, size_t *used, size_t count, size_t size) {
    void *piece = at ? at + *used : NULL;
    *used += (count * size + 7) & ~(size_t)7;
    return piece;
}

/* Returns the size of the block `at`, whose parts become the printer's tables. If `at` is NULL, only computes the
   size. */
static size_t vc__p_suballocate_tables(vc__printer *g, char *at) {
    const vc__listing *l = g->l;
    size_t used = 0, object_count = l->object_count;
    g->info = (vc__print_info *)vc__p_suballocate(at, &used, l->count, sizeof *g->info);
    g->name = (vc__identifier *)vc__p_suballocate(at, &used, object_count, sizeof *g->name);
    g->reference = (vc__identifier *)vc__p_suballocate(at, &used, object_count, sizeof *g->reference);
    g->leaf = (vc__identifier *)vc__p_suballocate(at, &used, l->body - l->leaves, sizeof *g->leaf);
    g->implicit = (vc__identifier *)vc__p_suballocate(at, &used, (size_t)l->info.implicit_count, sizeof *g->implicit);
    g->live = (bool *)vc__p_suballocate(at, &used, object_count, sizeof *g->live);
    g->name_set = (const char **)vc__p_suballocate(at, &used, (size_t)g->name_mask + 1, sizeof *g->name_set);
    return used;
}

static void vc__p_kernel(vc__printer *g) {
    g->k->text.length = 0;
    g->d->head(g);
    vc__p_prologue(g);
    g->indent = 1;
    for (uint32_t i = g->l->body; i < g->l->count && !g->k->failed; i++) vc__p_statement(g, i);
    vc__p_put(g, "}\n");
}

VC__NOINLINE static bool vc__p_print(vc_kernel *k, const vc__listing *l, const vc__dialect *d) {
    vc__printer g;
    size_t names = (size_t)l->object_count * 2 + (l->body - l->leaves) + (size_t)l->info.implicit_count + 1;
    memset(&g, 0, sizeof g);
    g.k = k;
    g.l = l;
    g.node = l->node;
    g.object = l->object;
    g.d = d;
    for (g.name_mask = 15; g.name_mask < names * 2; g.name_mask = g.name_mask * 2 + 1) { }
    size_t size = vc__p_suballocate_tables(&g, NULL);
    char *tables = (char *)k->allocator.allocate(k->allocator.user, size);
    if (!tables) { vc__no_memory(k); return false; }
    memset(tables, 0, size);
    vc__p_suballocate_tables(&g, tables);
    vc__p_analyse(&g);
    vc__p_find_chains(&g);
    vc__p_choose_nested(&g);
    vc__p_name_objects(&g);
    vc__p_name_blocks(&g);
    vc__p_name_implicit(&g);
    vc__p_kernel(&g);
    k->allocator.release(k->allocator.user, tables);
    return !k->failed;
}

// >>glsl
/* The GLSL printer: version 4.50 with the extensions that the kernel uses. A vector whose std430 layout differs from
   C's is declared as a struct of scalars, and parameters of 8 and 16 bits are extracted from 32-bit words; neither
   requires a device feature. */

static const char *const vc__glsl_types[16][2] = { /* scalar type; vector type without the number of components */
    { "void", "void" }, { "bool", "bvec" }, { "int8_t", "i8vec" }, { "int16_t", "i16vec" }, { "int", "ivec" },
    { "int64_t", "i64vec" }, { "uint8_t", "u8vec" }, { "uint16_t", "u16vec" }, { "uint", "uvec" },
    { "uint64_t", "u64vec" }, { "float16_t", "f16vec" }, { "float", "vec" }, { "double", "dvec" },
    { "void", "void" }, { "void", "void" }, { "void", "void" }
};

static const char *vc__glsl_type(vc_type type, char out[32]) {
    const char *const *name = vc__glsl_types[vc__kind(type)];
    if (vc__components(type) > 1) snprintf(out, 32, "%s%u", name[1], (unsigned)vc__components(type));
    else snprintf(out, 32, "%s", name[0]);
    return out;
}

static void vc__glsl_float_bits(vc__printer *g, vc_type type, uint64_t bits) {
    unsigned low = (unsigned)(bits & 0xffffffffu), high = (unsigned)(bits >> 32);
    if (type == VC_F32) vc__p_put(g, "uintBitsToFloat(0x%08xu)", low);
    else if (type == VC_F64) vc__p_put(g, "packDouble2x32(uvec2(0x%08xu, 0x%08xu))", low, high);
    else vc__p_put(g, "unpackFloat2x16(0x%04xu).x", low);
}

static const char *vc__glsl_open_vector(vc__printer *g, vc_type type, bool fold) {
    (void)fold;
    vc__p_put(g, "%t(", type);
    return ")";
}

/* ---- layout ---- */

/* Whether a vector is stored as a struct of scalars, because its size or alignment in std430 differs from that in C.
   align: that of its address or offset */
static bool vc__glsl_is_struct(vc_type type, uint32_t align) {
    uint32_t components = vc__components(type);
    return components > 1
           && (components == 3 || vc__is_bool(type) || align % (components * vc__scalar_bytes(type)) != 0);
}

/* Whether an argument's elements are stored as a struct of scalars, which pack() and unpack() convert. */
static bool vc__glsl_is_packed(const vc__printer *g, uint32_t object) {
    const vc_arg_info *arg = g->object[object].arg == VC__NIL ? NULL : vc__p_arg(g, object);
    return arg && vc__glsl_is_struct(g->object[object].type,
                                     arg->kind == VC_ARG_VALUE ? vc__p_value_offset(g, object) : arg->align);
}

static bool vc__glsl_is_narrow(const vc__printer *g, uint32_t object) {
    return g->object[object].op == VC__OP_PARAM && vc__scalar_bytes(g->object[object].type) < 4;
}

static void vc__glsl_find_structs(vc__printer *g) {
    const vc__listing *l = g->l;
    for (uint32_t i = l->leaves; i < l->count; i++) {
        const vc__node *n = &l->node[i];
        bool access = vc__is_access(n->op);
        uint32_t object = access ? vc__p_object(l, n->a[0])
                          : n->op == VC__OP_BUFFER || n->op == VC__OP_PARAM ? n->x : VC__NIL;
        if (object == VC__NIL || vc__glsl_is_narrow(g, object) || !vc__glsl_is_packed(g, object)) continue;
        uint64_t bit = (uint64_t)1 << l->object[object].type;
        g->structs |= bit;
        if (n->op == VC__OP_LOAD || n->op == VC__OP_PARAM) g->unpacks |= bit;
        if (n->op == VC__OP_STORE) g->packs |= bit;
    }
}

/* In a buffer or in the argument block. */
static const char *vc__glsl_memory_type(const vc__printer *g, uint32_t object, char out[32]) {
    vc_type type = g->object[object].type;
    if (vc__glsl_is_packed(g, object)) return vc_type_name(type);
    return vc__glsl_type(type == VC_BOOL ? (vc_type)VC_U32 : type, out);
}

/* ---- expressions ---- */

static const char *vc__glsl_pattern(const vc__printer *g, const vc__node *n) {
    const vc__op_info *op = &vc__op[n->op];
    if (n->op == VC__OP_ELECT) return vc__op_text(n->op, VC__TEXT_GLSL);
    if (!op->operands || op->operands == VC__MANY) return NULL;
    vc_type type = g->node[n->a[0]].type;
    const char *vector = vc__components(type) > 1 ? vc__op_text(n->op, VC__TEXT_VECTOR) : NULL;
    if (vector && (vc__is_bool(type) || op->result == VC__RESULT_BOOL)) return vector;
    if (vc__components(type) > 1 && vc__is_bool(type) && (n->op == VC__OP_AND || n->op == VC__OP_OR))
        return n->op == VC__OP_AND ? "equal(uvec#($0) & uvec#($1), uvec#(1))"
                                   : "notEqual(uvec#($0) | uvec#($1), uvec#(0))";
    return vc__op_text(n->op, VC__TEXT_GLSL + vc__kinds[vc__kind(type)].column);
}

static void vc__glsl_bitcast(vc__printer *g, const vc__node *n) {
    /* by width (16, 32, 64 bits): float to int, float to uint, int to float, uint to float */
    static const char *const names[3][4] = {
        { "float16BitsToInt16", "float16BitsToUint16", "int16BitsToFloat16", "uint16BitsToFloat16" },
        { "floatBitsToInt", "floatBitsToUint", "intBitsToFloat", "uintBitsToFloat" },
        { "doubleBitsToInt64", "doubleBitsToUint64", "int64BitsToDouble", "uint64BitsToDouble" }
    };
    vc_type from = g->node[n->a[0]].type;
    uint32_t width = vc__scalar_bytes(n->type) / 4;
    if (vc__is_float(from) == vc__is_float(n->type)) vc__p_put(g, "%t", n->type);
    else vc__p_put(g, "%s", names[width][vc__is_float(from) ? vc__is_unsigned(n->type)
                                                            : 2 + vc__is_unsigned(from)]);
    vc__p_put(g, "(%e)", n->a[0]);
}

/* Prints "[i + 3]". A 64-bit index is truncated to 32 bits, and the sum wraps at 32 bits. glslang rejects a constant
   index of 2^31 or more as negative; adding "gl_LocalInvocationIndex & 0u" prevents it from folding the constant. */
static void vc__glsl_subscript(vc__printer *g, uint32_t index, int32_t offset) {
    if (index == VC__NIL) { vc__p_put(g, "[%d]", offset); return; }
    const vc__node *n = &g->node[index];
    bool wide = vc__scalar_bytes(n->type) > 4;
    bool is_unsigned = vc__is_unsigned(n->type);
    bool looks_negative = n->op == VC__OP_CONST && (n->a[0] + (uint32_t)offset) >> 31;
    vc__p_put(g, looks_negative ? "[(gl_LocalInvocationIndex & 0u) + " : "[");
    vc__p_put(g, !wide ? offset ? "%4e" : "%e" : is_unsigned ? "uint(%e)" : "int(%e)", index);
    vc__p_offset(g, offset, is_unsigned ? "u" : "");
    vc__p_put(g, "]");
}

/* An element of a buffer that is passed by address: "x[i].at", "p.at" or "p[3].at", where p is a POINTER and 3 a
   constant offset. GLSL does not allow 64-bit indices in [], so the address is then computed first: "(x + i).at". */
static void vc__glsl_dereference(vc__printer *g, const vc__node *n) {
    const vc__node *m = &g->node[n->a[0]];
    bool plain = m->op == VC__OP_POINTER && g->info[n->a[0]].nested && m->a[1] != VC__NIL && !m->x && !n->x
                 && vc__bits(vc__kind(g->node[m->a[1]].type)) == 32; /* printed as x[i].at */
    if (plain) vc__p_put(g, "%0e[%e].at", m->a[0], m->a[1]);
    else vc__p_put(g, n->x ? "%0e[%d].at" : "%0e.at", n->a[0], n->x);
}

static void vc__glsl_lvalue(vc__printer *g, const vc__node *n) {
    uint32_t object = vc__p_object(g->l, n->a[0]);
    if (g->object[object].op == VC__OP_BUFFER && g->l->buffers == VC_BUFFERS_ADDRESS) {
        vc__glsl_dereference(g, n);
        return;
    }
    vc__p_put(g, "%o", object);
    if (g->object[object].op != VC__OP_VAR) vc__glsl_subscript(g, n->a[1], (int32_t)n->x);
}

/* A bool argument is stored as a 32-bit word. */
static bool vc__glsl_is_bool_word(const vc__printer *g, uint32_t object) {
    return g->object[object].arg != VC__NIL && g->object[object].type == VC_BOOL;
}

static void vc__glsl_load(vc__printer *g, const vc__node *n) {
    uint32_t object = vc__p_object(g->l, n->a[0]);
    bool packed = vc__glsl_is_packed(g, object), word = vc__glsl_is_bool_word(g, object) && n->type == VC_BOOL;
    vc__p_put(g, packed ? "unpack(" : word ? "bool(" : "");
    vc__glsl_lvalue(g, n);
    vc__p_put(g, packed || word ? ")" : "");
}

static void vc__glsl_id(vc__printer *g, const vc__node *n) {
    static const char *const names[VC__IDS] = {
        "LocalInvocationID", "WorkGroupID", "GlobalInvocationID", "LocalInvocationIndex", "SubgroupSize",
        "NumSubgroups", "SubgroupID", "SubgroupInvocationID"
    };
    vc__p_put(g, vc__has_axes(n->op) ? "gl_%s.%c" : "gl_%s", names[n->op - VC__OP_LOCAL_ID], "xyz"[n->x % 3]);
}

/* ---- declarations ---- */

static void vc__glsl_require(vc__printer *g, const char *extension) {
    vc__p_put(g, "#extension GL_%s : require\n", extension);
}

static void vc__glsl_subgroup_extensions(vc__printer *g) {
    static const struct { uint32_t caps; const char *name; } groups[] = {
        { VC__CAP_SUBGROUP, "basic" }, { VC__CAP_VOTE, "vote" }, { VC__CAP_BALLOT, "ballot" },
        { VC__CAP_SHUFFLE, "shuffle" }, { VC__CAP_RELATIVE, "shuffle_relative" },
        { VC__CAP_ARITHMETIC, "arithmetic" }, { VC__CAP_CLUSTERED, "clustered" }
    };
    static const struct { uint32_t kinds; const char *name; } types[] = {
        { 1u << VC_I8 | 1u << VC_U8, "int8" }, { 1u << VC_I16 | 1u << VC_U16, "int16" },
        { 1u << VC_I64 | 1u << VC_U64, "int64" }, { 1u << VC_F16, "float16" }
    };
    uint32_t caps = 0, kinds = 0;
    for (uint32_t i = g->l->leaves; i < g->l->count; i++) {
        const vc__node *n = &g->node[i];
        if (n->op >= VC__OP_SUBGROUP_SIZE && n->op <= VC__OP_SUBGROUP_LOCAL_ID) caps |= VC__CAP_SUBGROUP;
        if (vc__op[n->op].class_ != VC__CONVERGENT) continue;
        caps |= vc__spirv_subgroup_cap(n);
        if (n->op != VC__OP_ELECT) kinds |= 1u << vc__kind(g->node[n->a[0]].type);
    }
    for (uint32_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (caps & groups[i].caps) vc__p_put(g, "#extension GL_KHR_shader_subgroup_%s : require\n", groups[i].name);
    for (uint32_t i = 0; i < sizeof types / sizeof *types; i++)
        if (kinds & types[i].kinds)
            vc__p_put(g, "#extension GL_EXT_shader_subgroup_extended_types_%s : require\n", types[i].name);
    if (g->k->reconverges) vc__glsl_require(g, "EXT_maximal_reconvergence");
}

static void vc__glsl_sync_extensions(vc__printer *g) {
    bool wide = false, floats = false, scopes = false;
    for (uint32_t i = g->l->body; i < g->l->count; i++) {
        const vc__node *n = &g->node[i];
        if (vc__is_atomic(n->op)) {
            wide = wide || vc__scalar_bytes(n->type) == 8;
            floats = floats || (vc__is_float(n->type) && !vc__p_needs_cas_loop(g, n));
        }
        scopes = scopes || n->op == VC__OP_FENCE || (n->op == VC__OP_BARRIER && n->x) || n->op == VC__OP_ATOMIC_LOAD
                 || n->op == VC__OP_ATOMIC_STORE;
    }
    if (wide) vc__glsl_require(g, "EXT_shader_atomic_int64");
    if (floats) vc__glsl_require(g, "EXT_shader_atomic_float");
    if (scopes) vc__glsl_require(g, "KHR_memory_scope_semantics");
}

static bool vc__glsl_has_formatless_load(const vc__printer *g) {
    for (uint32_t i = 0; i < g->l->object_count; i++) {
        const vc__object *o = &g->object[i];
        if (g->live[i] && o->op == VC__OP_IMAGE && o->image.storage && !o->image.format && o->used & VC_READ)
            return true;
    }
    return false;
}

static void vc__glsl_extensions(vc__printer *g) {
    static const struct { uint32_t kinds; bool buffers, values; const char *name; } table[] = {
        { 1u << VC_I8 | 1u << VC_U8, true, true, "EXT_shader_explicit_arithmetic_types_int8" },
        { 1u << VC_I16 | 1u << VC_U16, true, true, "EXT_shader_explicit_arithmetic_types_int16" },
        { 1u << VC_I64 | 1u << VC_U64, true, true, "EXT_shader_explicit_arithmetic_types_int64" },
        { 1u << VC_F16, true, true, "EXT_shader_explicit_arithmetic_types_float16" },
        { 1u << VC_I8 | 1u << VC_U8, true, false, "EXT_shader_8bit_storage" },
        { 1u << VC_I16 | 1u << VC_U16 | 1u << VC_F16, true, false, "EXT_shader_16bit_storage" }
    };
    uint32_t values = 0, buffers = 0;
    for (uint32_t i = 0; i < g->l->count; i++) values |= 1u << vc__kind(g->node[i].type);
    for (uint32_t i = 0; i < g->l->object_count; i++)
        if (g->live[i] && g->object[i].op == VC__OP_BUFFER) buffers |= 1u << vc__kind(g->object[i].type);
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++)
        if (((table[i].buffers ? buffers : 0) | (table[i].values ? values : 0)) & table[i].kinds)
            vc__glsl_require(g, table[i].name);
    if (buffers && g->l->buffers == VC_BUFFERS_ADDRESS) vc__glsl_require(g, "EXT_buffer_reference2");
    bool any_index = false;
    for (uint32_t i = 0; i < g->l->count; i++) any_index = any_index || vc__is_any_index(g->l, &g->node[i]);
    if (any_index) vc__glsl_require(g, "EXT_nonuniform_qualifier");
    if (vc__glsl_has_formatless_load(g)) vc__glsl_require(g, "EXT_shader_image_load_formatted");
    vc__glsl_sync_extensions(g);
    vc__glsl_subgroup_extensions(g);
}

/* Prints the struct for a vector type in memory, and the conversions that are used. */
static void vc__glsl_struct(vc__printer *g, vc_type type) {
    static const char *const members[5] = { "", "x", "x, y", "x, y, z", "x, y, z, w" };
    vc_type scalar = vc__is_bool(type) ? (vc_type)VC_U32 : vc__scalar(type);
    const char *name = vc_type_name(type);
    uint32_t components = vc__components(type);
    vc__p_put(g, "struct %s { %t %s; };\n", name, scalar, members[components]);
    if ((g->unpacks >> type) & 1) {
        vc__p_put(g, "%t unpack(%s m) { return %t(", type, name, type);
        for (uint32_t i = 0; i < components; i++) vc__p_put(g, "%sm.%c", i ? ", " : "", "xyzw"[i]);
        vc__p_put(g, "); }\n");
    }
    if ((g->packs >> type) & 1) {
        vc__p_put(g, "%s pack(%t v) { return %s(", name, type, name);
        for (uint32_t i = 0; i < components; i++)
            vc__p_put(g, vc__is_bool(type) ? "%suint(v.%c)" : "%sv.%c", i ? ", " : "", "xyzw"[i]);
        vc__p_put(g, "); }\n");
    }
}

/* Of a buffer or storage image. */
static const char *vc__glsl_qualifier(const vc__printer *g, const vc__object *o) {
    static const char *const words[4] = { "readonly ", "readonly ", "writeonly ", "" };
    return g->k->coherent && (o->used & VC_READ_WRITE) == VC_READ_WRITE ? "coherent " : words[o->used & VC_READ_WRITE];
}

static void vc__glsl_binding(vc__printer *g, uint32_t object) {
    const vc__object *o = &g->object[object];
    char type[32];
    vc__p_put(g, "layout(set = 0, binding = %u, std430) %s%sbuffer %r { %s %o[]; };\n",
              (unsigned)vc__p_arg(g, object)->location, vc__glsl_qualifier(g, o),
              vc__p_is_unaliased(g, object) ? "restrict " : "", object, vc__glsl_memory_type(g, object, type), object);
}

static void vc__glsl_reference(vc__printer *g, uint32_t object) {
    const vc__object *o = &g->object[object];
    char type[32];
    uint32_t align = vc__scalar_bytes(o->type) * (vc__glsl_is_packed(g, object) ? 1 : vc__components(o->type));
    vc__p_put(g, "layout(buffer_reference, std430, buffer_reference_align = %u) %s%sbuffer %r { %s at; };\n", align,
              vc__glsl_qualifier(g, o), vc__p_is_unaliased(g, object) ? "restrict " : "", object,
              vc__glsl_memory_type(g, object, type));
}

/* The prefix of sampler2D and image2D for the kind of a texel. */
static const char *vc__glsl_image_prefix(const vc__object *o) {
    return o->declared == VC_I32 ? "i" : o->declared == VC_U32 ? "u" : "";
}

static void vc__glsl_image(vc__printer *g, uint32_t object) {
    const vc__object *o = &g->object[object];
    uint32_t format = o->image.format, used = o->used & VC_READ_WRITE;
    vc__p_put(g, "layout(set = 0, binding = %u%s%s) uniform ", (unsigned)vc__p_arg(g, object)->location,
              format ? ", " : "", format ? vc__formats[format].glsl : "");
    if (o->image.storage)
        vc__p_put(g, "%s%s", format || used ? vc__glsl_qualifier(g, o) : "writeonly ",
                  vc__p_is_unaliased(g, object) ? "restrict " : "");
    vc__p_put(g, "%s%s%s %o", vc__glsl_image_prefix(o), o->image.storage ? "image" : "sampler",
              vc__dims[o->image.dim].glsl, object);
    if (o->count) vc__p_put(g, "[%u]", (unsigned)o->count);
    vc__p_put(g, ";\n");
}

/* Declares the 32-bit words that contain an 8-bit or 16-bit value. *next: first byte that is not in a declared word. */
static void vc__glsl_narrow_words(vc__printer *g, uint32_t object, uint32_t *next) {
    uint32_t end = vc__p_value_offset(g, object) + vc_type_size(g->object[object].type);
    for (uint32_t offset = vc__p_value_offset(g, object) & ~3u; offset < end; offset += 4) {
        if (offset < *next) continue;
        vc__p_put(g, "    layout(offset = %u) uint word_%u;\n", offset, offset);
        *next = offset + 4;
    }
}

/* Whether a parameter's type in the argument block differs from its type in expressions. */
static bool vc__glsl_is_converted(const vc__printer *g, uint32_t object) {
    return vc__glsl_is_narrow(g, object) || vc__glsl_is_packed(g, object) || vc__glsl_is_bool_word(g, object);
}

/* The argument block, with the byte offsets of the reflection. Unused arguments are omitted. */
static void vc__glsl_argument_block(vc__printer *g) {
    const vc_info *info = &g->l->info;
    uint32_t next = 0;
    bool any = info->implicit_count > 0;
    char type[32];
    for (uint32_t i = 0; i < g->l->object_count; i++)
        any = any || (g->live[i] && g->object[i].arg != VC__NIL && vc__in_argument_block(vc__p_arg(g, i)));
    if (!any) return;
    vc__p_put(g, "layout(push_constant, std430) uniform arguments {\n");
    for (uint32_t i = 0; i < g->l->object_count; i++) {
        const vc_arg_info *arg = g->live[i] && g->object[i].arg != VC__NIL ? vc__p_arg(g, i) : NULL;
        if (!arg || !vc__in_argument_block(arg)) continue;
        if (vc__glsl_is_narrow(g, i)) { vc__glsl_narrow_words(g, i, &next); continue; }
        if (vc__p_first_view(g, i) != VC__NIL) continue;
        if (arg->kind == VC_ARG_ADDRESS)
            vc__p_put(g, "    layout(offset = %u) %r %o;\n", arg->location, i, i);
        else
            vc__p_put(g, "    layout(offset = %u) %s %s;\n", (unsigned)vc__p_value_offset(g, i),
                      vc__glsl_memory_type(g, i, type),
                      vc__glsl_is_converted(g, i) ? g->reference[i].text : g->name[i].text);
    }
    for (int h = 0; h < info->implicit_count; h++)
        vc__p_put(g, "    layout(offset = %u) uint %s;\n", info->implicit[h].offset, g->implicit[h].text);
    vc__p_put(g, "};\n");
}

static void vc__glsl_table(vc__printer *g, uint32_t object) {
    const vc__object *o = &g->object[object];
    size_t line = g->k->text.length;
    vc__p_put(g, "const %t %o[%u] = %t[](", o->type, object, o->count, o->type);
    vc__p_elements(g, line, o->type, o->data, o->count, "", "   ");
    vc__p_put(g, ");\n");
}

static void vc__glsl_globals(vc__printer *g) {
    for (uint32_t i = 0; i < 64; i++) if ((g->structs >> i) & 1) vc__glsl_struct(g, i);
    for (uint32_t i = 0; i < g->l->object_count; i++) {
        if (g->live[i] && g->object[i].op == VC__OP_IMAGE) vc__glsl_image(g, i);
        if (!g->live[i] || g->object[i].op != VC__OP_BUFFER) continue;
        if (g->l->buffers == VC_BUFFERS_ADDRESS) vc__glsl_reference(g, i); else vc__glsl_binding(g, i);
    }
    vc__glsl_argument_block(g);
    for (uint32_t i = 0; i < g->l->object_count; i++) {
        const vc__object *o = &g->object[i];
        if (!g->live[i]) continue;
        if (o->op == VC__OP_SHARED)
            vc__p_put(g, "shared %t %o[%u];\n", o->type, i, o->count);
        if (o->op == VC__OP_TABLE) vc__glsl_table(g, i);
    }
}

/* offset: of an 8-bit or 16-bit component in the argument block, in bytes */
static void vc__glsl_unpack_narrow(vc__printer *g, vc_type scalar, uint32_t offset) {
    unsigned word = offset & ~3u, shift = (offset & 3u) * 8;
    if (scalar == VC_F16) vc__p_put(g, "unpackFloat2x16(word_%u).%c", word, shift ? 'y' : 'x');
    else if (shift) vc__p_put(g, "%t(word_%u >> %u)", scalar, word, shift);
    else vc__p_put(g, "%t(word_%u)", scalar, word);
}

/* Declares a local variable for a parameter whose type in the argument block differs from its type in expressions, and
   for a second view of a buffer, which has another type. */
static void vc__glsl_convert(vc__printer *g, uint32_t object) {
    vc_type type = g->object[object].type;
    uint32_t components = vc__components(type);
    if (g->l->buffers == VC_BUFFERS_ADDRESS && vc__p_first_view(g, object) != VC__NIL) {
        vc__p_put(g, "    %r %o = %r(%o);\n", object, object, object, vc__p_first_view(g, object));
        return;
    }
    if (g->object[object].op != VC__OP_PARAM || !vc__glsl_is_converted(g, object)) return;
    vc__p_put(g, "    %t %o = ", type, object);
    if (!vc__glsl_is_narrow(g, object))
        vc__p_put(g, vc__glsl_is_packed(g, object) ? "unpack(%r)" : "bool(%r)", object);
    else {
        if (components > 1) vc__p_put(g, "%t(", type);
        for (uint32_t i = 0; i < components; i++) {
            if (i) vc__p_put(g, ", ");
            vc__glsl_unpack_narrow(g, vc__scalar(type), vc__p_value_offset(g, object) + i * vc__scalar_bytes(type));
        }
        if (components > 1) vc__p_put(g, ")");
    }
    vc__p_put(g, ";\n");
}

/* ---- statements ---- */

static void vc__glsl_store(vc__printer *g, const vc__node *n) {
    uint32_t object = vc__p_object(g->l, n->a[0]);
    bool packed = vc__glsl_is_packed(g, object),
         word = vc__glsl_is_bool_word(g, object) && g->node[n->a[2]].type == VC_BOOL;
    vc__glsl_lvalue(g, n);
    vc__p_put(g, packed ? " = pack(%e)" : word ? " = uint(%e)" : " = %e", n->a[2]);
}

/* Texel coordinates or a level, as signed integers. */
static void vc__glsl_texel_operand(vc__printer *g, uint32_t operand) {
    vc_type type = g->node[operand].type;
    if (vc__is_unsigned(type)) vc__p_put(g, ", %t(%e)", vc__to_signed(type), operand);
    else vc__p_put(g, ", %e", operand);
}

static void vc__glsl_sample(vc__printer *g, const vc__node *n, const vc__object *o, const char *image) {
    const vc__node *last = &g->node[n->a[2]];
    bool grad = last->op == VC__OP_GRADIENT;
    uint32_t axes = vc__dims[o->image.dim].axes;
    vc__p_put(g, "texture%s%s(%s, ", grad ? "Grad" : "Lod", n->x ? "Offset" : "", image);
    if (grad) vc__p_put(g, "%e, %e, %e", n->a[1], last->a[0], last->a[1]);
    else vc__p_put(g, "%e, %e", n->a[1], n->a[2]);
    for (uint32_t i = 0; n->x && i < axes; i++)
        vc__p_put(g, i ? ", %d" : axes == 1 ? ", %d" : axes == 2 ? ", ivec2(%d" : ", ivec3(%d",
                  (int)(int8_t)(n->x >> 8 * i & 255u));
    vc__p_put(g, n->x && axes > 1 ? "))" : ")");
}

static void vc__glsl_image_op(vc__printer *g, const vc__node *n) {
    const vc__object *o = &g->object[g->node[n->a[0]].x];
    char text[VC__IMAGE_TEXT];
    const char *image = vc__p_image(g, n, text);
    switch (n->op) {
    case VC__OP_SAMPLE: vc__glsl_sample(g, n, o, image); return;
    case VC__OP_GATHER:
        vc__p_put(g, "textureGather(%s, %e, %u)", image, n->a[1], n->x);
        return;
    case VC__OP_IMAGE_LEVELS: vc__p_put(g, "uint(textureQueryLevels(%s))", image); return;
    case VC__OP_IMAGE_SIZE:
        vc__p_put(g, "%t(%s(%s", n->type, o->image.storage ? "imageSize" : "textureSize", image);
        if (n->a[1] != VC__NIL) vc__glsl_texel_operand(g, n->a[1]);
        vc__p_put(g, "))");
        return;
    default: break;
    }
    vc__p_put(g, "%s(%s",
              n->op == VC__OP_FETCH ? "texelFetch" : n->op == VC__OP_IMAGE_LOAD ? "imageLoad" : "imageStore", image);
    vc__glsl_texel_operand(g, n->a[1]);
    if (n->op == VC__OP_FETCH && n->a[2] != VC__NIL) vc__glsl_texel_operand(g, n->a[2]);
    if (n->op == VC__OP_IMAGE_STORE) vc__p_put(g, ", %e", n->a[2]);
    vc__p_put(g, ")");
}

static void vc__glsl_declare(vc__printer *g, uint32_t i) {
    const vc__node *n = &g->node[i];
    char type[32];
    vc__p_put(g, "%s%s ", n->flags & VC__NODE_PRECISE ? "precise " : "",
              n->op == VC__OP_POINTER ? g->reference[vc__p_object(g->l, i)].text : vc__glsl_type(n->type, type));
}

static void vc__glsl_element(vc__printer *g, const vc__node *n, bool read) {
    (void)read;
    vc__glsl_lvalue(g, n);
}

static void vc__glsl_atomic(vc__printer *g, uint32_t i) {
    static const vc__cas_loop loops[2] = {
        { "uintBitsToFloat", "floatBitsToUint", "atomicCompSwap", vc__glsl_element },
        { "uint64BitsToDouble", "doubleBitsToUint64", "atomicCompSwap", vc__glsl_element }
    };
    const vc__node *n = &g->node[i];
    if (vc__p_needs_cas_loop(g, n)) { vc__p_cas_loop(g, i, &loops[n->type == VC_F64]); return; }
    vc__p_atomic_result(g, i);
    vc__p_put(g, "%s(", vc__op_text(n->op, VC__TEXT_GLSL + 1));
    vc__glsl_lvalue(g, n);
    if (n->op == VC__OP_ATOMIC_CAS) vc__p_two_components(g, n->a[2]);
    else if (n->op != VC__OP_ATOMIC_LOAD) vc__p_put(g, ", %e", n->a[2]);
    if (n->op == VC__OP_ATOMIC_LOAD || n->op == VC__OP_ATOMIC_STORE) vc__p_put(g, ", gl_ScopeDevice, 0, 0");
    vc__p_put(g, ");\n");
}

/* A fence, or a barrier with scopes. */
static void vc__glsl_scoped_sync(vc__printer *g, uint32_t i) {
    static const char *const scope[] = { "Device", "Subgroup", "Workgroup", "Device" };
    static const char *const order[] = { "Relaxed", "Acquire", "Release", "AcquireRelease" };
    static const char *const storage[] = { "0", "gl_StorageSemanticsBuffer", "gl_StorageSemanticsShared",
                                           "gl_StorageSemanticsBuffer | gl_StorageSemanticsShared" };
    const vc__node *n = &g->node[i];
    bool waits = n->op == VC__OP_BARRIER;
    if (waits) vc__p_put(g, "controlBarrier(gl_Scope%s, ", scope[n->x & 3u]);
    else vc__p_put(g, "memoryBarrier(");
    vc__p_put(g, "gl_Scope%s, %s%s, gl_Semantics%s);\n", scope[n->x >> 4 & 3u], storage[n->x >> 8 & 3u],
              n->x >> 8 & VC_STORAGE_BUFFER && vc__stores_images(g->l) ? " | gl_StorageSemanticsImage" : "",
              order[waits ? VC_ACQ_REL : (int)(n->x & 3u)]);
}

/* barrier() orders shared memory; buffers and images need a memory barrier first. */
static void vc__glsl_sync(vc__printer *g, uint32_t i) {
    if (g->node[i].x) { vc__glsl_scoped_sync(g, i); return; }
    for (uint32_t j = 0; j < g->l->object_count; j++) {
        if (!g->live[j] || g->object[j].op != VC__OP_BUFFER || !(g->object[j].used & VC_WRITE)) continue;
        vc__p_put(g, "memoryBarrierBuffer();\n");
        vc__p_line(g);
        break;
    }
    if (vc__stores_images(g->l)) {
        vc__p_put(g, "memoryBarrierImage();\n");
        vc__p_line(g);
    }
    vc__p_put(g, "barrier();\n");
}

static void vc__glsl_head(vc__printer *g) {
    const uint32_t *size = g->l->info.local_size;
    char name[VC__NAME_BYTES];
    vc__glsl_find_structs(g);
    vc__p_sanitize(g->l->info.name, name);
    vc__p_put(g, "#version 450\n");
    vc__glsl_extensions(g);
    vc__p_put(g, "\n// %s\n", name);
    vc__p_put(g, "layout(local_size_x = %u, local_size_y = %u, local_size_z = %u) in;\n", size[0], size[1], size[2]);
    vc__glsl_globals(g);
    vc__p_put(g, "\nvoid main()%s {\n", g->k->reconverges ? " [[maximally_reconverges]]" : "");
}

static const vc__dialect vc__glsl = {
    "GLSL", { NULL, NULL, NULL, "s", "", "l", NULL, "us", "u", "ul", "hf", "", "lf" },
    false, false, NULL, vc__glsl_type, vc__glsl_pattern, vc__glsl_float_bits, true, vc__glsl_open_vector,
    vc__p_component, vc__glsl_bitcast, vc__glsl_load, vc__glsl_store, vc__glsl_id, vc__glsl_convert, vc__glsl_sync,
    vc__glsl_atomic, vc__glsl_declare, vc__glsl_head, vc__glsl_image_op
};

// >>c
/* Code that the CUDA C and OpenCL C printers share. Lowering has scalarized all operations and replaced f16 arithmetic:
   vectors occur only in loads, stores and image operations, and an f16 is a 16-bit integer that contains its bits. A
   bool in memory is a 32-bit word.
   The sources of several kernels can be concatenated into one program: every function, type and table is named after
   the kernel, is local to it, or has an #ifndef guard. */

enum { VC__C_CUDA, VC__C_OPENCL };
static inline int vc__c_language(const vc__printer *g) { return vc__is_cuda(g->l->target) ? VC__C_CUDA : VC__C_OPENCL; }

/* Reserved words of OpenCL C and CUDA C in addition to vc__p_reserved: built-in functions and types, functions that the
   printers define (f32_of_f16), and names of CUDA's library, which a kernel cannot have. */
static const char vc__c_reserved[] =
    "acospi as_* asinpi assert async_work_group_copy atan2pi atanpi atom* bitselect cbrt char# cl_* CLK_* clk_* "
    "clock{64,_t} clz convert{,_*} copysign cospi ctz cuda* cyl_bessel_i{0,1} dim3 erf{,c,cinv,cx,inv} exp10 expm1 "
    "f16_of_* f32_of_* fabs fast_{distance,length,normalize} fdim fdivide fmax fmaxmag fmin fminmag free generic "
    "get_{global_id,global_offset,global_size,group_id,image*,local_id,local_size,num_groups,work_dim} hadd hypot "
    "i386 ilogb image{1d*,2d*,3d*} intptr_t "
    "is{equal,finite,greater,less,lessgreater,normal,notequal,ordered,unordered} j0 j1 jn "
    "kernel_{enqueue_flags_t,exec} labs lgamma linux llabs llmax llmin llrint llround log10 log1p logb long# "
    "longlong# lrint lround mad{24,_hi,_sat} make_* malloc mem_fence memory_{order*,scope*} mul24 mul_hi ndrange_t "
    "nearbyint nextafter norm{,3d,4d,cdf,cdfinv} popcount pown powr prefetch queue_t rcbrt read_{image*,mem_fence} "
    "remainder remquo reserve_id_t rhadd rhypot rint rnorm{,3d,4d} rootn rotate scalbln scalbn select shared_memory "
    "short# shuffle{,2} signbit sincos sincospi sinpi std surf* tanpi tex* tgamma to_{global,local,private} uchar# "
    "uintptr_t ullmax ullmin ulong# ulonglong# umax umin unix upsample ushort# va_{arg,copy,end,list,start} vc_* "
    "vec_step vload{#,_half*} vstore{#,_half*} wait_group_events write_{image*,mem_fence} y0 y1 yn ";

/* Whether a name is reserved in CUDA C or OpenCL C: by the lists, with an "f" at the end that CUDA's functions of f32
   have (expf), or because it could be a macro (three or more capital letters, digits and underscores). */
static bool vc__c_is_reserved(const char *name) {
    char stem[VC__NAME_BYTES];
    size_t length = strlen(name), n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    snprintf(stem, sizeof stem, "%.*s", (int)(length - (length && name[length - 1] == 'f')), name);
    return (n > 2 && !name[n]) || vc__p_is_listed(vc__c_reserved, name) || vc__p_is_listed(vc__c_reserved, stem)
           || vc__p_is_listed(vc__p_reserved, stem);
}

static const char *const vc__c_scalar_names[2][16] = {
    { "void", "bool", "signed char", "short", "int", "long long", "unsigned char", "unsigned short", "unsigned int",
      "unsigned long long", "unsigned short", "float", "double", "void", "void", "void" },
    { "void", "bool", "char", "short", "int", "long", "uchar", "ushort", "uint", "ulong", "ushort", "float", "double",
      "void", "void", "void" }
};

/* Vector types without the number of components. */
static const char *const vc__c_vector_names[2][16] = {
    { "void", "uint", "char", "short", "int", "longlong", "uchar", "ushort", "uint", "ulonglong", "ushort", "float",
      "double", "void", "void", "void" },
    { "void", "uint", "char", "short", "int", "long", "uchar", "ushort", "uint", "ulong", "ushort", "float", "double",
      "void", "void", "void" }
};

/* Whether a vector type is a struct that the printer defines, because CUDA's vectors of four 64-bit components are
   deprecated. */
static bool vc__c_is_struct(int c, vc_type type) {
    return c == VC__C_CUDA && vc__components(type) == 4 && vc__scalar_bytes(type) == 8;
}

static const char *vc__c_type(int c, vc_type type, char out[32]) {
    if (vc__components(type) == 1) snprintf(out, 32, "%s", vc__c_scalar_names[c][vc__kind(type)]);
    else if (vc__c_is_struct(c, type)) snprintf(out, 32, "%s", vc_type_name(type));
    else snprintf(out, 32, "%s%u", vc__c_vector_names[c][vc__kind(type)], (unsigned)vc__components(type));
    return out;
}

static vc_type vc__c_memory_type(vc_type type) { return type == VC_BOOL ? (vc_type)VC_U32 : type; }

/* ---- constants ---- */

static void vc__c_float_bits(vc__printer *g, vc_type type, uint64_t bits) {
    static const char *const as[2][2] = {
        { "__uint_as_float(0x%llxu)", "__longlong_as_double(0x%llxll)" }, { "as_float(0x%llxu)", "as_double(0x%llxul)" }
    };
    if (type == VC_F16) vc__p_put(g, "(%t)0x%04x", VC_F16, (unsigned)bits);
    else vc__p_put(g, as[vc__c_language(g)][type == VC_F64], (unsigned long long)bits);
}

static const char *vc__c_open_vector(vc__printer *g, vc_type type, bool fold) {
    bool cuda = vc__c_language(g) == VC__C_CUDA, brace = cuda && (!fold || vc__c_is_struct(VC__C_CUDA, type));
    vc__p_put(g, !cuda ? "(%t)(" : !fold ? "{ " : brace ? "%t{ " : "make_%t(", type);
    return brace ? " }" : ")";
}

/* ---- expressions ---- */

static const char *vc__c_cast(vc_type from, vc_type to) {
    if (vc__kind(from) == VC_F16 && vc__is_float(to)) return to == VC_F32 ? "f32_of_f16($0)" : "($T)f32_of_f16($0)";
    if (vc__kind(to) == VC_F16 && vc__is_float(from)) return from == VC_F32 ? "f16_of_f32($0)" : "f16_of_f64($0)";
    return "($T)$0";
}

/* Types that are not in the table are integers in C (f16 is u16), so a cast keeps the bits. */
static const char *vc__c_bitcast(int language, vc_type from, vc_type to) {
    static const struct { uint8_t from, to; const char *pattern[2]; /* VC__C_CUDA, VC__C_OPENCL */ } table[] = {
        { VC_F32, VC_I32, { "__float_as_int($0)", "as_int($0)" } },
        { VC_F32, VC_U32, { "__float_as_uint($0)", "as_uint($0)" } },
        { VC_I32, VC_F32, { "__int_as_float($0)", "as_float($0)" } },
        { VC_U32, VC_F32, { "__uint_as_float($0)", "as_float($0)" } },
        { VC_F64, VC_I64, { "__double_as_longlong($0)", "as_long($0)" } },
        { VC_F64, VC_U64, { "($T)__double_as_longlong($0)", "as_ulong($0)" } },
        { VC_I64, VC_F64, { "__longlong_as_double($0)", "as_double($0)" } },
        { VC_U64, VC_F64, { "__longlong_as_double($0)", "as_double($0)" } }
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].from == from && table[i].to == to) return table[i].pattern[language];
    return "($T)$0";
}

static const char *vc__c_pattern(const vc__printer *g, const vc__node *n) {
    /* by kind: bool, signed, unsigned, f16 and f32, f64; unlike vc__kind_info.column, f64 is separate */
    static const uint8_t columns[16] = { 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 0, 0, 0 };
    const vc__op_info *op = &vc__op[n->op];
    const uint32_t column = vc__c_language(g) == VC__C_CUDA ? VC__TEXT_CUDA : VC__TEXT_OPENCL;
    const char *text;
    if (n->op == VC__OP_ELECT) return vc__op_text(n->op, column);
    if (!op->operands || op->operands == VC__MANY) return NULL;
    vc_type type = g->node[n->a[0]].type;
    if (n->op == VC__OP_CAST) return vc__c_cast(type, n->type);
    if (n->op == VC__OP_BITCAST) return vc__c_bitcast(vc__c_language(g), type, n->type);
    if (n->op == VC__OP_MUL_HI && vc__bits(type) == 64 && vc__c_language(g) == VC__C_CUDA)
        return vc__is_signed(type) ? "__mul64hi($0, $1)" : "__umul64hi($0, $1)";
    if (vc__c_language(g) == VC__C_CUDA && g->k->desc.fast && vc__is_float(type)
        && (text = vc__op_text(n->op, VC__TEXT_FAST)) != NULL)
        return text;
    /* C promotes narrow unsigned integers to int: they use the text for signed ones if it casts the result back */
    if (vc__is_unsigned(type) && vc__bits(type) < 32 && (text = vc__op_text(n->op, column + 1)) != NULL
        && strncmp(text, "($T)", 4) == 0)
        return text;
    return vc__op_text(n->op, column + columns[vc__kind(type)]);
}

/* The components of a vector of bools are 32-bit words. */
static void vc__c_component(vc__printer *g, const vc__node *n) {
    vc__p_put(g, n->type == VC_BOOL ? "(" : "");
    vc__p_component(g, n);
    vc__p_put(g, n->type == VC_BOOL ? " != 0)" : "");
}

/* Prints the subscript "i + 3". With `wide` (buffers) the sum has 64 bits, otherwise the type of the index. */
static void vc__c_subscript(vc__printer *g, uint32_t index, int32_t offset, bool wide) {
    if (index == VC__NIL) { vc__p_put(g, "%d", offset); return; }
    vc__p_put(g, offset ? "%4e" : "%e", index);
    vc__p_offset(g, offset, !wide ? "" : vc__c_language(g) == VC__C_CUDA ? "ll" : "l");
}

/* Whether vectors are accessed by vload3 and vstore3 in an array of scalars: in buffers, because vector types of 3 have
   the size of 4 components in OpenCL C; in tables, because NVIDIA's compiler initialises arrays of them wrongly. */
static bool vc__c_is_packed(const vc__printer *g, const vc__object *o) {
    return vc__c_language(g) == VC__C_OPENCL && (o->op == VC__OP_BUFFER || o->op == VC__OP_TABLE)
           && vc__components(o->type) == 3;
}

static void vc__c_lvalue(vc__printer *g, const vc__node *n) {
    const vc__node *m = &g->node[n->a[0]];
    const vc__object *o = &g->object[vc__p_object(g->l, n->a[0])];
    bool plain = m->op == VC__OP_POINTER && g->info[n->a[0]].nested && m->a[1] != VC__NIL && !m->x && !n->x;
    if (plain) { vc__p_put(g, "%0e[%e]", m->a[0], m->a[1]); return; }
    vc__p_put(g, m->op == VC__OP_POINTER ? "%0e" : "%o", m->op == VC__OP_POINTER ? n->a[0] : m->x);
    if (o->op == VC__OP_VAR) return;
    vc__p_put(g, "[");
    vc__c_subscript(g, n->a[1], (int32_t)n->x, o->op == VC__OP_BUFFER);
    vc__p_put(g, "]");
}

/* Whether a load is printed as __ldg. The compiler can move __ldg, unlike other loads, across stores. */
static bool vc__c_is_read_only_load(const vc__printer *g, const vc__node *n, const vc__object *o) {
    return vc__c_language(g) == VC__C_CUDA && o->op == VC__OP_BUFFER && vc__components(n->type) != 3
           && !vc__c_is_struct(VC__C_CUDA, n->type) && vc__p_reads_constant(g, n);
}

static void vc__c_load(vc__printer *g, const vc__node *n) {
    const vc__object *o = &g->object[vc__p_object(g->l, n->a[0])];
    bool word = n->type == VC_BOOL && o->op != VC__OP_VAR, read_only = vc__c_is_read_only_load(g, n, o);
    if (vc__c_is_packed(g, o)) {
        vc__p_put(g, "vload3(");
        vc__c_subscript(g, n->a[1], (int32_t)n->x, true);
        vc__p_put(g, ", %o)", vc__p_object(g->l, n->a[0]));
        return;
    }
    vc__p_put(g, "%s%s", word ? "(" : "", read_only ? "__ldg(&" : "");
    vc__c_lvalue(g, n);
    vc__p_put(g, "%s%s", read_only ? ")" : "", word ? " != 0)" : "");
}

static void vc__c_store(vc__printer *g, const vc__node *n) {
    const vc__object *o = &g->object[vc__p_object(g->l, n->a[0])];
    if (vc__c_is_packed(g, o)) {
        vc__p_put(g, "vstore3(%e, ", n->a[2]);
        vc__c_subscript(g, n->a[1], (int32_t)n->x, true);
        vc__p_put(g, ", %o)", vc__p_object(g->l, n->a[0]));
        return;
    }
    vc__c_lvalue(g, n);
    vc__p_put(g, " = %e", n->a[2]);
}

/* The pointer argument of an atomic function or, with `read`, the element it points to. CUDA has 64-bit atomics only
   for unsigned integers, except for minimum and maximum, which also exist for signed ones. */
static void vc__c_atomic_pointer(vc__printer *g, const vc__node *n, vc_type type, bool read) {
    const vc__object *o = &g->object[vc__p_object(g->l, n->a[0])];
    const char *space = vc__c_language(g) == VC__C_CUDA ? "" : o->op == VC__OP_SHARED ? "__local " : "__global ";
    bool keeps_sign = n->op == VC__OP_ATOMIC_MIN || n->op == VC__OP_ATOMIC_MAX || n->op == VC__OP_ATOMIC_LOAD
                      || n->op == VC__OP_ATOMIC_STORE;
    bool is_volatile = vc__c_language(g) == VC__C_OPENCL || read;
    if (vc__c_language(g) == VC__C_CUDA && type == VC_I64 && !keeps_sign) type = VC_U64;
    vc__p_put(g, "%s(%s%s%t *)&", read ? "*" : "", is_volatile ? "volatile " : "", space, type);
    vc__c_lvalue(g, n);
}

static void vc__c_element(vc__printer *g, const vc__node *n, bool read) {
    vc__c_atomic_pointer(g, n, vc__to_bits(n->type), read);
}

static void vc__c_atomic(vc__printer *g, uint32_t i) {
    static const vc__cas_loop loops[2][2] = {
        { { "__uint_as_float", "__float_as_uint", "atomicCAS", vc__c_element },
          { "__longlong_as_double", "__double_as_longlong", "atomicCAS", vc__c_element } },
        { { "as_float", "as_uint", "atomic_cmpxchg", vc__c_element },
          { "as_double", "as_ulong", "atom_cmpxchg", vc__c_element } }
    };
    const vc__node *n = &g->node[i];
    bool cuda = vc__c_language(g) == VC__C_CUDA, wide = vc__scalar_bytes(n->type) == 8;
    if (vc__p_needs_cas_loop(g, n)) { vc__p_cas_loop(g, i, &loops[!cuda][n->type == VC_F64]); return; }
    vc__p_atomic_result(g, i);
    if (n->op == VC__OP_ATOMIC_LOAD || n->op == VC__OP_ATOMIC_STORE) {
        vc__c_atomic_pointer(g, n, n->type, true);
        if (n->op == VC__OP_ATOMIC_STORE) vc__p_put(g, " = %e", n->a[2]);
        vc__p_put(g, ";\n");
        return;
    }
    vc__p_put(g, "%s%s(", cuda ? "" : wide ? "atom_" : "atomic_",
              vc__op_text(n->op, cuda ? VC__TEXT_CUDA + 1 : VC__TEXT_OPENCL + 1));
    vc__c_atomic_pointer(g, n, n->type, false);
    if (n->op == VC__OP_ATOMIC_CAS) vc__p_two_components(g, n->a[2]); else vc__p_put(g, ", %e", n->a[2]);
    vc__p_put(g, ");\n");
}

static void vc__c_declare(vc__printer *g, uint32_t i) {
    const vc__node *n = &g->node[i];
    if (n->op != VC__OP_POINTER) { vc__p_put(g, "%t ", n->type); return; }
    vc__p_put(g, "%s%t *", g->object[vc__p_object(g->l, i)].used & VC_WRITE ? "" : "const ",
              vc__c_memory_type(n->type));
}

/* ---- declarations ---- */

/* Whether the kernel casts between these kinds; to 0: any kind. */
static bool vc__c_has_cast(const vc__printer *g, uint32_t from, uint32_t to) {
    for (uint32_t i = g->l->body; i < g->l->count; i++)
        if (g->node[i].op == VC__OP_CAST
            && vc__kind(g->node[g->node[i].a[0]].type) == from
            && (!to || vc__kind(g->node[i].type) == to))
            return true;
    return false;
}

/* CUDA's surface functions do not convert f16 texels. */
static bool vc__c_has_half_image(const vc__printer *g, uint32_t access) {
    for (uint32_t i = 0; i < g->l->object_count && vc__c_language(g) == VC__C_CUDA; i++) {
        const vc__object *o = &g->object[i];
        if (o->op == VC__OP_IMAGE && o->used & access && vc__formats[o->image.format].coded == 'h') return true;
    }
    return false;
}

/* call: NULL: the name of the operation. what: the feature, with its verb */
static void vc__c_unsupported(vc__printer *g, const vc__node *n, const char *call, const char *what) {
    const vc__node *m = n->op == VC__OP_IMAGE ? n : &g->node[n->a[0]];
    const vc__object *o = &g->object[m->x];
    vc__fail_call(g->k, call ? call : vc__op_name[n->op], "image '%s' (%s): %s not supported in %s", o->name,
                  vc__dims[o->image.dim].name, what, g->d->name);
}

/* Whether a level is absent or a constant 0, an integer or a float of either sign. */
static bool vc__c_is_level_zero(const vc__printer *g, uint32_t level) {
    const vc__node *n = level == VC__NIL ? NULL : &g->node[level];
    return !n || (n->op == VC__OP_CONST && !(n->a[0] & 0x7fffffffu));
}

/* Prints the conversion functions that the kernel uses. text: their definitions, in the order of `need` */
static void vc__c_half_functions(vc__printer *g, const char *const text[3]) {
    static const struct { uint8_t from, to; const char *guard; } need[3] = {
        { VC_F16, 0, "F32_OF_F16" }, { VC_F32, VC_F16, "F16_OF_F32" }, { VC_F64, VC_F16, "F16_OF_F64" }
    };
    for (size_t i = 0; i < 3; i++)
        if (vc__c_has_cast(g, need[i].from, need[i].to)
            || (i < 2 && vc__c_has_half_image(g, i == 0 ? VC_READ : VC_WRITE)))
            vc__p_put(g, "#ifndef VC_%s\n#define VC_%s\n%s#endif\n", need[i].guard, need[i].guard, text[i]);
}

static uint32_t vc__block_align(const vc_info *info);

/* Declares the bytes of the argument block from *end to `offset` as a member. */
static void vc__c_gap(vc__printer *g, uint32_t offset, uint32_t *end) {
    if (offset > *end) vc__p_put(g, "    %t gap_%u[%u];\n", VC_U8, *end, offset - *end);
    *end = offset;
}

/* format: the declaration before the name, a text for `type`. *end: end of the previous member. A struct argument is
   declared as its scalars, so C does not insert the padding at the end of the struct; an explicit member fills it. */
static void vc__c_member(vc__printer *g, const char *format, vc_type type, const char *name, uint32_t count,
                         uint32_t bytes, uint32_t offset, uint32_t *end) {
    if (offset > ((*end + bytes - 1) & ~(bytes - 1))) vc__c_gap(g, offset, end);
    vc__p_put(g, "    ");
    vc__p_put(g, format, type);
    vc__p_put(g, count > 1 ? "%s[%u];\n" : "%s;\n", name, count);
    *end = offset + bytes * count;
}

/* Contains unused arguments too, so that the offsets are those of the reflection. A composite argument is declared as
   its pieces. Returns false if there are no arguments. */
static bool vc__c_argument_block(vc__printer *g) {
    const vc_info *info = &g->l->info;
    uint32_t end = 0;
    if (!info->argument_bytes) return false;
    vc__p_put(g, "struct %s_args {\n", info->entry);
    for (uint32_t i = 0; i < g->l->object_count; i++) {
        const vc__object *o = &g->object[i];
        const char *name = g->name[i].text;
        bool simple = vc__is_type(o->type), buffer = o->op == VC__OP_BUFFER;
        if (o->arg == VC__NIL || !vc__in_argument_block(&info->args[o->arg])
            || (buffer ? o->composite != VC__NIL : !simple))
            continue;
        vc_type type = vc__c_memory_type(!simple ? (vc_type)VC_U8 : buffer ? o->type : vc__scalar(o->type));
        if (o->op == VC__OP_IMAGE)
            vc__c_member(g, "%t ", VC_U64, name, o->count ? o->count : 1, 8, info->args[o->arg].location, &end);
        else if (buffer)
            vc__c_member(g, o->used & VC_WRITE ? "%t *" : "const %t *", type, name, 1, 8, vc__p_value_offset(g, i),
                         &end);
        else
            vc__c_member(g, "%t ", type, name, vc__components(o->type), vc__scalar_bytes(o->type),
                         vc__p_value_offset(g, i), &end);
    }
    for (int h = 0; h < info->implicit_count; h++)
        vc__c_member(g, "%t ", VC_U32, g->implicit[h].text, 1, 4, info->implicit[h].offset, &end);
    if (info->argument_bytes >= end + vc__block_align(info)) vc__c_gap(g, info->argument_bytes, &end);
    vc__p_put(g, "};\n");
    return true;
}

static void vc__c_table(vc__printer *g, uint32_t object, const char *qualifier) {
    const vc__object *o = &g->object[object];
    bool packed = vc__c_is_packed(g, o);
    uint32_t count = packed ? o->count * 3 : o->count;
    vc_type type = packed ? vc__scalar(o->type) : o->type;
    size_t line = g->k->text.length;
    vc__p_put(g, "    %s %t %o[%u] = {", qualifier, vc__c_memory_type(type), object, count);
    vc__p_elements(g, line, type == VC_BOOL ? (vc_type)VC_U32 : type, o->data, count, " ", "       ");
    vc__p_put(g, " };\n");
}

/* A view is a pointer to a buffer of composite elements as an array of scalars or vectors. */
static void vc__c_view(vc__printer *g, uint32_t object) {
    const vc__object *o = &g->object[object];
    const char *access = o->used & VC_WRITE ? "" : "const ";
    const char *space = vc__c_language(g) == VC__C_OPENCL ? "__global " : "";
    bool unaliased = vc__p_is_unaliased(g, object), block = g->l->buffers == VC_BUFFERS_ADDRESS;
    vc_type type = vc__c_memory_type(vc__c_is_packed(g, o) ? vc__scalar(o->type) : o->type);
    vc__p_put(g, "    %s%s%t *%s%o = (%s%s%t *)%s%s%o;\n", space, access, type,
              !unaliased ? "" : block ? "__restrict__ " : "restrict ", object, space, access, type,
              block ? g->args_name.text : "", block ? "." : "", o->composite);
}

/* Declares a local pointer for a view or for a buffer passed by address, or a local variable for a parameter for which
   vc__c_is_converted is true. */
static void vc__c_convert(vc__printer *g, uint32_t object) {
    const vc__object *o = &g->object[object];
    const char *block = g->args_name.text;
    if (o->op == VC__OP_BUFFER && o->composite != VC__NIL) { vc__c_view(g, object); return; }
    if (o->op == VC__OP_BUFFER && g->l->buffers == VC_BUFFERS_ADDRESS)
        vc__p_put(g, "    %s%t *%s%o = %s.%o;\n", o->used & VC_WRITE ? "" : "const ", vc__c_memory_type(o->type),
                  vc__p_is_unaliased(g, object) ? "__restrict__ " : "", object, block, object);
    if (o->op == VC__OP_BUFFER || !vc__c_is_converted(o->type)) return;
    vc__p_put(g, "    %t %o = ", o->type, object);
    if (vc__components(o->type) == 1) { vc__p_put(g, "%s.%o != 0;\n", block, object); return; }
    const char *close = vc__c_open_vector(g, o->type, true);
    for (uint32_t i = 0; i < vc__components(o->type); i++)
        vc__p_put(g, "%s%s.%o[%u]", i ? ", " : "", block, object, i);
    vc__p_put(g, "%s;\n", close);
}

// >>cuda
/* The CUDA C printer, for NVRTC without headers: extern "C" NAME(const struct NAME_args args). args is the argument
   block, with buffers as addresses.
   Shared memory of more than 48 KiB is declared as one dynamic array: launch with vc_info.shared_bytes of dynamic
   shared memory, and set CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES to at least that.
   Unless the kernel is `fast`, compiler options do not change the rounding of + - * / and sqrt: products are __fmul_rn,
   which the compiler does not contract; quotients and square roots are the functions that round correctly.
   --use_fast_math lowers the accuracy of the other functions, within the bounds of Vulkan. */

enum { VC__CUDA_STATIC_SHARED = 48 * 1024 };

static const char *vc__cuda_type(vc_type type, char out[32]) { return vc__c_type(VC__C_CUDA, type, out); }

static void vc__cuda_id(vc__printer *g, const vc__node *n) {
    const uint32_t *size = g->l->info.local_size;
    unsigned x = size[0], y = size[1];
    char axis = "xyz"[n->x % 3];
    switch (n->op) {
    case VC__OP_LOCAL_ID: vc__p_put(g, "threadIdx.%c", axis); break;
    case VC__OP_GROUP_ID: vc__p_put(g, "blockIdx.%c", axis); break;
    case VC__OP_GLOBAL_ID:
        vc__p_put(g, "(blockIdx.%c * %uu + threadIdx.%c)", axis, (unsigned)size[n->x % 3], axis);
        break;
    default:
        if (y == 1 && size[2] == 1) vc__p_put(g, "threadIdx.x");
        else if (size[2] == 1) vc__p_put(g, "(threadIdx.x + %uu * threadIdx.y)", x);
        else vc__p_put(g, "(threadIdx.x + %uu * (threadIdx.y + %uu * threadIdx.z))", x, y);
        break;
    }
}

static void vc__cuda_sync(vc__printer *g, uint32_t i) {
    uint32_t x = g->node[i].x;
    bool fence = g->node[i].op == VC__OP_FENCE, device = (x >> 4 & 3u) == VC_SCOPE_DEVICE;
    if (fence || device) vc__p_put(g, device ? "__threadfence();\n" : "__threadfence_block();\n");
    if (fence) return;
    if (device) vc__p_line(g);
    if ((x & 3u) != VC_SCOPE_SUBGROUP) vc__p_put(g, "__syncthreads();\n");
    else if (g->k->reconverges) vc__p_put(g, "__syncwarp(vc_mask%u);\n", vc__p_mask(g, i));
    else vc__p_put(g, "__syncwarp();\n");
}

/* ---- images: handles of texture and surface objects; operations without a CUDA function are written in PTX ---- */

/* By vc_dim. A 1-D image is an array with one layer, because PTX fetches from one axis only in linear memory. */
static const char *const vc__cuda_shapes[] = { "", "1DLayered", "2D", "3D", "Cubemap", "1DLayered", "2DLayered", "" };

static void vc__cuda_only_layer(vc__printer *g, uint32_t dim) { if (dim == VC_DIM_1D) vc__p_put(g, ", 0"); }

/* Prints components `from` to `to` - 1 as arguments: ", x, y". Integers are cast to int. */
static void vc__cuda_components(vc__printer *g, uint32_t value, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++) {
        vc__p_put(g, vc__is_float(g->node[value].type) ? ", " : ", (int)");
        vc__p_vector_component(g, value, i, vc__is_float(g->node[value].type) ? VC__P_TERNARY : VC__P_PREFIX);
    }
}

/* The layer is rounded to the nearest integer. */
static void vc__cuda_coordinates(vc__printer *g, const vc__node *n, uint32_t dim) {
    vc__cuda_components(g, n->a[1], 0, vc__dims[dim].axes);
    vc__cuda_only_layer(g, dim);
    if (!vc__dims[dim].layers) return;
    vc__p_put(g, ", (int)rintf(");
    vc__p_vector_component(g, n->a[1], vc__dims[dim].axes, VC__P_TERNARY);
    vc__p_put(g, ")");
}

static void vc__cuda_derivative(vc__printer *g, uint32_t value, uint32_t axes) {
    vc__p_put(g, axes == 1 ? ", " : axes == 2 ? ", make_float2(" : ", make_float4(");
    for (uint32_t i = 0; i < axes; i++) {
        if (i) vc__p_put(g, ", ");
        vc__p_vector_component(g, value, i, VC__P_TERNARY);
    }
    vc__p_put(g, axes == 1 ? "" : axes == 2 ? ")" : ", 0.0f)");
}

static void vc__cuda_sample(vc__printer *g, const vc__node *n, const vc__object *o, const char *handle) {
    const vc__node *last = &g->node[n->a[2]];
    uint32_t dim = o->image.dim;
    bool grad = last->op == VC__OP_GRADIENT, base = !grad && vc__c_is_level_zero(g, n->a[2]);
    if (n->x) { vc__c_unsupported(g, n, "sample_offset", "offsets are"); return; }
    vc__p_put(g, "tex%s%s<%t>(%s", vc__cuda_shapes[dim], grad ? "Grad" : base ? "" : "Lod", n->type, handle);
    vc__cuda_coordinates(g, n, dim);
    if (grad) vc__cuda_derivative(g, last->a[0], vc__dims[dim].axes);
    if (grad) vc__cuda_derivative(g, last->a[1], vc__dims[dim].axes);
    if (!grad && !base) vc__cuda_components(g, n->a[2], 0, 1);
    vc__p_put(g, ")");
}

/* The type of a texel in memory: an unsigned integer for unorm and f16, a signed one for snorm. */
static vc_type vc__cuda_texel_type(const vc__format_info *f) {
    vc_type kind = f->coded == 'u' || f->coded == 'h' ? (vc_type)VC_U32 : f->coded == 's' ? (vc_type)VC_I32 : f->kind;
    if (f->bits < 32) kind -= f->bits == 16 ? 1u : 2u;
    return vc__vec(kind, f->channels);
}

/* Whether a texel in memory differs from the kernel's four 32-bit components. */
static bool vc__cuda_texel_is_converted(const vc__format_info *f) { return f->bits != 32 || f->channels != 4; }

/* A load from or store to a texel buffer, whose handle is an address: "vc_of_rgba8(((const uchar4 *)image)[x])". */
static void vc__cuda_texel(vc__printer *g, const vc__node *n, const vc__format_info *f, const char *handle) {
    bool store = n->op == VC__OP_IMAGE_STORE, convert = vc__cuda_texel_is_converted(f);
    if (!store && convert) vc__p_put(g, "vc_of_%s(", f->glsl);
    vc__p_put(g, store ? "((%t *)%s)[%e] = " : "((const %t *)%s)[%e]", vc__cuda_texel_type(f), handle, n->a[1]);
    if (store && convert) vc__p_put(g, "vc_to_%s(", f->glsl);
    if (store) vc__p_put(g, "%e", n->a[2]);
    if (convert) vc__p_put(g, ")");
}

/* A load from or store to a storage image: "surf2Dread<uchar4>(image, 4 * x, y, …)". x is a byte offset. */
static void vc__cuda_surface(vc__printer *g, const vc__node *n, const vc__object *o, const char *handle) {
    const vc__format_info *f = &vc__formats[o->image.format];
    bool store = n->op == VC__OP_IMAGE_STORE, convert = vc__cuda_texel_is_converted(f);
    uint32_t dim = o->image.dim;
    if (!o->image.format || f->coded == 'p') {
        vc__c_unsupported(g, n, NULL, o->image.format ? "this storage image format is"
                                                    : "storage images without a format are");
        return;
    }
    if (dim == VC_DIM_BUFFER) {
        vc__cuda_texel(g, n, f, handle);
        return;
    }
    if (store)
        vc__p_put(g, convert ? "surf%swrite(vc_to_%s(%e), %s" : "surf%swrite(%.0s%e, %s", vc__cuda_shapes[dim], f->glsl,
                  n->a[2], handle);
    else
        vc__p_put(g, convert ? "vc_of_%s(surf%sread<%t>(%s" : "%.0ssurf%sread<%t>(%s", f->glsl, vc__cuda_shapes[dim],
                  vc__cuda_texel_type(f), handle);
    vc__p_put(g, ", %u * (int)", (unsigned)(f->bits / 8 * f->channels));
    vc__p_vector_component(g, n->a[1], 0, VC__P_PREFIX);
    vc__cuda_components(g, n->a[1], 1, vc__dims[dim].coordinates);
    vc__cuda_only_layer(g, dim);
    vc__p_put(g, ", cudaBoundaryModeZero)%s", !store && convert ? ")" : "");
}

/* The PTX of a texel fetch, by vc_dim: the geometry of the instruction, the function's parameters, the operands of
   the asm statement, and the coordinates among them. In PTX the layer comes first. */
static const struct { const char *geometry, *parameters, *operands, *coordinates; } vc__cuda_fetches[] = {
    { NULL, NULL, NULL, NULL },
    { "a1d", "int x, int layer", "\"r\"(x), \"r\"(layer)", "{%7, %6}" },
    { "2d", "int x, int y", "\"r\"(x), \"r\"(y)", "{%6, %7}" },
    { "3d", "int x, int y, int z", "\"r\"(x), \"r\"(y), \"r\"(z)", "{%6, %7, %8, %8}" },
    { NULL, NULL, NULL, NULL },
    { "a1d", "int x, int layer", "\"r\"(x), \"r\"(layer)", "{%7, %6}" },
    { "a2d", "int x, int y, int layer", "\"r\"(x), \"r\"(y), \"r\"(layer)", "{%8, %6, %7, %7}" }
};

static void vc__cuda_image_op(vc__printer *g, const vc__node *n) {
    uint32_t object = g->node[n->a[0]].x;
    const vc__object *o = &g->object[object];
    uint32_t dim = o->image.dim;
    char handle[VC__NAME_BYTES + VC__IMAGE_TEXT], image[VC__IMAGE_TEXT];
    snprintf(handle, sizeof handle, "%s.%s", g->args_name.text, vc__p_image(g, n, image));
    switch (n->op) {
    case VC__OP_SAMPLE: vc__cuda_sample(g, n, o, handle); return;
    case VC__OP_GATHER:
        if (dim != VC_DIM_2D) { vc__c_unsupported(g, n, NULL, "vc_gather is"); return; }
        vc__p_put(g, "tex2Dgather<%t>(%s", n->type, handle);
        vc__cuda_components(g, n->a[1], 0, 2);
        vc__p_put(g, ", %u)", n->x);
        return;
    case VC__OP_FETCH:
        if (dim == VC_DIM_BUFFER) vc__p_put(g, "tex1Dfetch<%t>(%s", n->type, handle);
        else vc__p_put(g, "vc_fetch_%s_%s(%s", vc__cuda_shapes[dim], vc_type_name(o->declared), handle);
        vc__cuda_components(g, n->a[1], 0, vc__dims[dim].coordinates);
        vc__cuda_only_layer(g, dim);
        if (n->a[2] != VC__NIL) vc__cuda_components(g, n->a[2], 0, 1);
        vc__p_put(g, ")");
        return;
    default: vc__cuda_surface(g, n, o, handle); return;
    }
}

#define VC__CUDA_FUNCTION "static __device__ __inline__ "

static void vc__cuda_fetch_function(vc__printer *g, uint32_t dim, vc_type kind) {
    const char *in = kind == VC_F32 ? "f" : "r", *name = kind == VC_F32 ? "f32" : kind == VC_I32 ? "s32" : "u32";
    vc_type type = vc__vec(kind, 4);
    vc__p_put(g, VC__CUDA_FUNCTION "%t vc_fetch_%s_%s(unsigned long long t, %s, int level) {\n    %t v;\n", type,
              vc__cuda_shapes[dim], vc_type_name(kind), vc__cuda_fetches[dim].parameters, type);
    vc__p_put(g, "    asm(\"tex.level.%s.v4.%s.s32 {%%0, %%1, %%2, %%3}, [%%4, %s], %%5;\"\n",
              vc__cuda_fetches[dim].geometry, name, vc__cuda_fetches[dim].coordinates);
    vc__p_put(g, "        : \"=%s\"(v.x), \"=%s\"(v.y), \"=%s\"(v.z), \"=%s\"(v.w) : \"l\"(t), \"r\"(level), %s);\n"
                 "    return v;\n}\n", in, in, in, in, vc__cuda_fetches[dim].operands);
}

/* A function that converts a texel in memory to the kernel's four components or, with `store`, back. */
static void vc__cuda_convert_function(vc__printer *g, const vc__format_info *f, bool store) {
    const vc_type memory = vc__cuda_texel_type(f), value = vc__vec(f->kind, 4);
    double max_value = f->coded == 'u' ? (double)vc__ones(f->bits) : (double)vc__ones(f->bits - 1u);
    const vc_type from = store ? value : memory, to = store ? memory : value;
    char at[16];
    uint32_t count = store ? f->channels : 4;
    vc__p_put(g, VC__CUDA_FUNCTION "%t vc_%s_%s(%t v) { return ", to, store ? "to" : "of", f->glsl, from);
    if (count > 1) vc__p_put(g, "make_%t(", to);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(at, sizeof at, vc__components(from) > 1 ? "v.%c" : "v", "xyzw"[i]);
        if (i) vc__p_put(g, ", ");
        if (i >= f->channels) vc__p_put(g, f->kind == VC_F32 ? "%d.0f" : "%d", i == 3);
        else if (f->coded == 'h') vc__p_put(g, store ? "f16_of_f32(%s)" : "f32_of_f16(%s)", at);
        else if (!f->coded && store) vc__p_put(g, "(%t)%s", vc__scalar(memory), at);
        else if (!f->coded) vc__p_put(g, "%s", at);
        else if (store)
            vc__p_put(g, "(%t)rintf(fminf(fmaxf(%s, %s), 1.0f) * %.1ff)", vc__scalar(memory), at,
                      f->coded == 'u' ? "0.0f" : "-1.0f", max_value);
        else vc__p_put(g, f->coded == 'u' ? "(float)%s / %.1ff" : "fmaxf((float)%s / %.1ff, -1.0f)", at, max_value);
    }
    vc__p_put(g, count > 1 ? "); }\n" : "; }\n");
}

/* Defines the function that an image operation calls, if it needs one and it is not defined yet. seen: bits of the
   functions that are defined: fetches; conversions of loads; conversions of stores. */
static void vc__cuda_image_function(vc__printer *g, const vc__node *n, uint64_t *seen) {
    const vc__object *o = &g->object[g->node[n->a[0]].x];
    const vc__format_info *f = &vc__formats[o->image.format];
    uint32_t dim = o->image.dim, kind = o->declared == VC_F32 ? 0 : o->declared == VC_I32 ? 1 : 2;
    bool texel = n->op == VC__OP_IMAGE_LOAD || n->op == VC__OP_IMAGE_STORE, store = n->op == VC__OP_IMAGE_STORE;
    uint32_t bit = texel ? o->image.format : dim * 3 + kind;
    char name[VC__NAME_BYTES];
    if ((n->op != VC__OP_FETCH && !texel) || (!texel && dim == VC_DIM_BUFFER)
        || (texel && (!vc__cuda_texel_is_converted(f) || !f->bits)))
        return;
    if (texel && f->coded == 'p') return; /* vc__cuda_surface reports it */
    if (seen[texel ? 1 + store : 0] >> bit & 1) return;
    seen[texel ? 1 + store : 0] |= (uint64_t)1 << bit;
    if (texel) snprintf(name, sizeof name, "VC_%s_%s", store ? "TO" : "OF", f->glsl);
    else snprintf(name, sizeof name, "VC_FETCH_%s_%s", vc__cuda_shapes[dim], vc_type_name(o->declared));
    vc__p_put(g, "#ifndef %s\n#define %s\n", name, name);
    if (texel) vc__cuda_convert_function(g, f, store);
    else vc__cuda_fetch_function(g, dim, o->declared);
    vc__p_put(g, "#endif\n");
}

static void vc__cuda_image_functions(vc__printer *g) {
    uint64_t seen[3] = { 0, 0, 0 };
    for (uint32_t i = g->l->body; i < g->l->count; i++)
        if (vc__is_image(g->node[i].op)) vc__cuda_image_function(g, &g->node[i], seen);
}

/* ---- dot products of 4 x 8 bits: one instruction on compute capability 6.1 and later ---- */

static void vc__cuda_dot_functions(vc__printer *g) {
    static const struct { const char *name, *result, *ptx, *a, *b; } dots[3] = {
        { "4xi8", "int", "s32.s32", "signed", "signed" }, { "4xu8", "unsigned int", "u32.u32", "unsigned", "unsigned" },
        { "4xi8_4xu8", "int", "s32.u32", "signed", "unsigned" }
    };
    bool used[3] = { false, false, false };
    for (uint32_t i = g->l->body; i < g->l->count; i++)
        if (vc__is_dot_4x8(g->node[i].op)) used[g->node[i].op - VC__OP_DOT_II] = true;
    for (uint32_t i = 0; i < 3; i++) {
        if (!used[i]) continue;
        vc__p_put(g, "#ifndef VC_DOT_%s\n#define VC_DOT_%s\n" VC__CUDA_FUNCTION
                     "%s vc_dot_%s(unsigned int a, unsigned int b) {\n    %s r = 0;\n",
                  dots[i].name, dots[i].name, dots[i].result, dots[i].name, dots[i].result);
        vc__p_put(g, "#if __CUDA_ARCH__ >= 610\n"
                     "    asm(\"dp4a.%s %%0, %%1, %%2, %%0;\" : \"+r\"(r) : \"r\"(a), \"r\"(b));\n#else\n",
                  dots[i].ptx);
        vc__p_put(g, "    for (int i = 0; i < 32; i += 8) r += (%s)(%s char)(a >> i) * (%s)(%s char)(b >> i);\n"
                     "#endif\n    return r;\n}\n#endif\n",
                  dots[i].result, dots[i].a, dots[i].result, dots[i].b);
    }
}

/* ---- reductions of i32 and u32 in a warp: one instruction on compute capability 8.0 and later; otherwise as in
   vc__make_masked_scan ---- */

static void vc__cuda_reduce_functions(vc__printer *g) {
    static const char *const combined[] = { "(T)((unsigned int)x + (unsigned int)y)", NULL, "x < y ? x : y",
                                            "x < y ? y : x", "x & y", "x | y", "x ^ y" };
    bool used[sizeof combined / sizeof *combined] = { false };
    for (uint32_t i = g->l->body; i < g->l->count; i++) {
        uint32_t op = g->node[i].op;
        if (vc__is_subgroup_combine(op)) used[op - VC__OP_SUBGROUP_ADD] = true;
    }
    for (uint32_t i = 0; i < sizeof combined / sizeof *combined; i++) {
        const char *name = vc__op_name[VC__OP_SUBGROUP_ADD + i];
        if (!used[i]) continue;
        vc__p_put(g, "#ifndef VC_%s\n#define VC_%s\ntemplate <class T> " VC__CUDA_FUNCTION
                     "T vc_%s(T x, unsigned int mask, unsigned int lane) {\n"
                     "#if __CUDA_ARCH__ >= 800\n    return __reduce_%s_sync(mask, x);\n#else\n",
                  name, name, name, name + strlen("subgroup_"));
        vc__p_put(g, "    for (unsigned int n = 1; n < 32; n *= 2) {\n"
                     "        unsigned int half = mask & ((1u << n) - 1u) << ((lane & -n) ^ n);\n"
                     "        T y = __shfl_sync(mask, x, mask == 0xffffffffu ? lane ^ n : 31 - __clz((int)half));\n"
                     "        if (half) x = %s;\n    }\n    return x;\n#endif\n}\n#endif\n", combined[i]);
    }
}

/* ---- declarations ---- */

static void vc__cuda_struct(vc__printer *g, vc_type type, uint64_t *seen) {
    const char *name = vc_type_name(type);
    if (!vc__is_type(type) || !vc__c_is_struct(VC__C_CUDA, type) || (*seen >> type) & 1) return;
    *seen |= (uint64_t)1 << type;
    vc__p_put(g, "#ifndef VC_%s\n#define VC_%s\nstruct __align__(16) %s { %t x, y, z, w; };\n#endif\n", name, name,
              name, vc__scalar(type));
}

/* Unused buffers count too, because they are in the argument block. */
static void vc__cuda_structs(vc__printer *g) {
    uint64_t seen = 0;
    for (uint32_t i = 0; i < g->l->count; i++) vc__cuda_struct(g, g->node[i].type, &seen);
    for (uint32_t i = 0; i < g->l->object_count; i++)
        if (g->object[i].op == VC__OP_BUFFER) vc__cuda_struct(g, g->object[i].type, &seen);
}

/* Declares the shared arrays, in one dynamic array if they exceed the static limit. */
static void vc__cuda_shared(vc__printer *g) {
    const bool dynamic = g->l->info.shared_bytes > VC__CUDA_STATIC_SHARED;
    uint32_t bytes = 0;
    if (dynamic) vc__p_put(g, "    extern __shared__ __align__(32) unsigned char shared_memory[];\n");
    for (uint32_t i = g->l->leaves; i < g->l->body; i++) {
        const vc__object *o = &g->object[g->node[i].x];
        const char *name = g->name[g->node[i].x].text;
        vc_type type = vc__c_memory_type(o->type);
        if (g->node[i].op != VC__OP_SHARED) continue;
        if (!dynamic) { vc__p_put(g, "    __shared__ %t %s[%u];\n", type, name, o->count); continue; }
        uint32_t stride = vc__shared_stride(o->type);
        bytes = (bytes + stride - 1) & ~(stride - 1);
        vc__p_put(g, "    %t *%s = (%t *)(shared_memory + %u);\n", type, name, type, bytes);
        bytes += o->count * stride;
    }
}

/* Marks the blocks that contain subgroup operations with a mask, or barriers, and declares vc_mask0, the mask of the
   lanes of the warp: the last warp of a block can be partial. */
static void vc__cuda_masks(vc__printer *g) {
    const uint32_t *size = g->l->info.local_size;
    uint32_t count = size[0] * size[1] * size[2];
    for (uint32_t i = g->l->body; i < g->l->count; i++) {
        bool masked = vc__op[g->node[i].op].class_ == VC__CONVERGENT && g->node[i].op != VC__OP_ELECT;
        if (!masked && g->node[i].op != VC__OP_BARRIER) continue;
        for (uint32_t b = g->info[i].block; b && !g->info[b - 1].masked; b = g->info[b - 1].block) {
            g->info[b - 1].masked = true;
            if (g->node[b - 1].op == VC__OP_ELSE) g->info[vc__p_matching_if(g, b - 1)].masked = true;
        }
    }
    vc__p_put(g, "    const unsigned int vc_mask0 = ");
    if (count % 32 && count > 32)
        vc__p_put(g, "(threadIdx.x + %uu * (threadIdx.y + %uu * threadIdx.z)) / 32u == %uu ? ", size[0], size[1],
                  (unsigned)(count / 32));
    if (count % 32) vc__p_put(g, "%uu%s", (unsigned)vc__ones(count % 32), count > 32 ? " : " : "");
    vc__p_put(g, count % 32 && count < 32 ? ";\n" : "0xffffffffu;\n");
}

/* Without the empty asm statement, NVRTC (13.0) adds the words to a product one after the other, each as a pair with a
   zero register: a Montgomery product then has 592 instructions instead of 503. */
static void vc__cuda_word_sum(vc__printer *g) {
    uint32_t i;
    for (i = g->l->body; i < g->l->count && g->node[i].op != VC__OP_WORD_SUM; i++) continue;
    if (i == g->l->count) return;
    vc__p_put(g, "#ifndef VC_WORD_SUM\n#define VC_WORD_SUM\n" VC__CUDA_FUNCTION
                 "unsigned long long vc_word_sum(unsigned long long x, unsigned long long y) {\n"
                 "    x += y;\n    asm(\"\" : \"+l\"(x));\n    return x;\n}\n#endif\n");
}

static void vc__cuda_head(vc__printer *g) {
    static const char *const halves[3] = {
        VC__CUDA_FUNCTION "float f32_of_f16(unsigned short h) {\n    float x;\n"
                          "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(h));\n    return x;\n}\n",
        VC__CUDA_FUNCTION "unsigned short f16_of_f32(float x) {\n    unsigned short h;\n"
                          "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(x));\n    return h;\n}\n",
        VC__CUDA_FUNCTION "unsigned short f16_of_f64(double x) {\n    unsigned short h;\n"
                          "    asm(\"cvt.rn.f16.f64 %0, %1;\" : \"=h\"(h) : \"d\"(x));\n    return h;\n}\n"
    };
    const vc_info *info = &g->l->info;
    const uint32_t *size = info->local_size;
    char name[VC__NAME_BYTES];
    vc__p_sanitize(info->name, name);
    vc__p_put(g, "// %s: %u x %u x %u threads per block\n", name, size[0], size[1], size[2]);
    if (g->k->unmasked)
        vc__fail_call(g->k, NULL,
                      "CUDA C does not support a subgroup operation in control flow that diverges within a subgroup "
                      "because of a loop, a VC_SWITCH or an exit; only divergence by VC_IF, VC_ELSE and VC_EACH is "
                      "supported");
    vc__c_half_functions(g, halves);
    vc__cuda_structs(g);
    vc__cuda_image_functions(g);
    vc__cuda_dot_functions(g);
    vc__cuda_word_sum(g);
    vc__cuda_reduce_functions(g);
    bool values = vc__c_argument_block(g);
    vc__p_put(g, "\nextern \"C\" __global__ void __launch_bounds__(%u) %s(", (unsigned)(size[0] * size[1] * size[2]),
              info->entry);
    if (values) vc__p_put(g, "const struct %s_args %s", info->entry, g->args_name.text);
    vc__p_put(g, ") {\n");
    vc__cuda_shared(g);
    if (g->k->reconverges) vc__cuda_masks(g);
    for (uint32_t i = 0; i < g->l->object_count; i++)
        if (g->live[i] && g->object[i].op == VC__OP_TABLE) vc__c_table(g, i, "static const");
}

static const vc__dialect vc__cuda = {
    "CUDA C", { NULL, NULL, NULL, NULL, "", "ll", NULL, NULL, "u", "ull", NULL, "f", "" },
    true, true, vc__c_is_reserved, vc__cuda_type, vc__c_pattern, vc__c_float_bits, false, vc__c_open_vector,
    vc__c_component, NULL, vc__c_load, vc__c_store, vc__cuda_id, vc__c_convert, vc__cuda_sync, vc__c_atomic,
    vc__c_declare, vc__cuda_head, vc__cuda_image_op
};

// >>opencl
/* The OpenCL C printer: version 1.2, or 2.0 for a kernel that loads from and stores to one image; with the extensions
   that f64, 64-bit atomics and stores to 3-D images need. The kernel's parameters are the images and buffers in
   declaration order, each sampled image followed by its sampler, then the argument block. */

static const char *vc__opencl_type(vc_type type, char out[32]) { return vc__c_type(VC__C_OPENCL, type, out); }

static void vc__opencl_id(vc__printer *g, const vc__node *n) {
    const uint32_t *size = g->l->info.local_size;
    unsigned x = size[0], y = size[1], axis = n->x % 3;
    switch (n->op) {
    case VC__OP_LOCAL_ID: vc__p_put(g, "(uint)get_local_id(%u)", axis); break;
    case VC__OP_GROUP_ID: vc__p_put(g, "(uint)get_group_id(%u)", axis); break;
    case VC__OP_GLOBAL_ID: vc__p_put(g, "(uint)get_global_id(%u)", axis); break;
    default: vc__p_put(g, "(uint)(get_local_id(0) + %u * (get_local_id(1) + %u * get_local_id(2)))", x, y); break;
    }
}

/* Loading from and storing to one image needs OpenCL C 2.0. */
static bool vc__opencl_is_read_write(const vc__object *o) {
    return o->op == VC__OP_IMAGE && (o->used & VC_READ_WRITE) == VC_READ_WRITE;
}

static bool vc__opencl_any_read_write(const vc__printer *g) {
    uint32_t i = 0;
    while (i < g->l->object_count && !vc__opencl_is_read_write(&g->object[i])) i++;
    return i < g->l->object_count;
}

/* A fence of OpenCL C 1.2 orders only the accesses of the invocation itself. A subgroup is one invocation, so its
   barrier is a fence. */
static void vc__opencl_sync(vc__printer *g, uint32_t i) {
    static const char *const spaces[] = {
        "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE",
        "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
    };
    static const char *const fences[] = { "mem_fence", "read_mem_fence", "write_mem_fence", "mem_fence" };
    uint32_t x = g->node[i].x;
    bool fence = g->node[i].op == VC__OP_FENCE, barrier = !fence && (x & 3u) != VC_SCOPE_SUBGROUP;
    vc__p_put(g, "%s(%s%s);\n", barrier ? "barrier" : fence ? fences[x & 3u] : "mem_fence", spaces[x >> 8 & 3u],
              barrier && vc__opencl_any_read_write(g) ? " | CLK_IMAGE_MEM_FENCE" : "");
}

/* ---- images: the sampler of a sampled image is the next parameter ---- */

/* Coordinates: "(int4)(x, y, z, 0)". OpenCL C requires four for 3-D images and 2-D arrays. */
static void vc__opencl_coordinates(vc__printer *g, uint32_t value) {
    vc_type type = g->node[value].type;
    const char *stem = vc__is_float(type) ? "float" : "int";
    uint32_t components = vc__components(type);
    if (components == 1) { vc__p_put(g, "(%s)%1e", stem, value); return; }
    vc__p_put(g, "(%s%u)(", stem, components == 3 ? 4u : (unsigned)components);
    for (uint32_t i = 0; i < components; i++) {
        if (i) vc__p_put(g, ", ");
        vc__p_vector_component(g, value, i, VC__P_TERNARY);
    }
    vc__p_put(g, components == 3 ? ", 0)" : ")");
}

static void vc__opencl_size(vc__printer *g, const vc__node *n, const vc__object *o, uint32_t object) {
    static const char *const axes[] = { "width", "height", "depth" };
    uint32_t size = vc__dims[o->image.dim].size;
    vc__p_put(g, size > 1 ? "(%t)(" : "(%t)", n->type);
    for (uint32_t i = 0; i < size; i++)
        vc__p_put(g, "%sget_image_%s(%o)", i ? ", " : "",
                  vc__dims[o->image.dim].layers && i + 1 == size ? "array_size" : axes[i], object);
    vc__p_put(g, size > 1 ? ")" : "");
}

static void vc__opencl_image_op(vc__printer *g, const vc__node *n) {
    uint32_t object = g->node[n->a[0]].x;
    const vc__object *o = &g->object[object];
    const char *suffix = o->declared == VC_F32 ? "f" : o->declared == VC_I32 ? "i" : "ui";
    uint32_t level = VC__NIL;
    if (n->op == VC__OP_SAMPLE || n->op == VC__OP_FETCH) level = n->a[2];
    else if (n->op == VC__OP_IMAGE_SIZE) level = n->a[1];
    if (n->op == VC__OP_GATHER || n->op == VC__OP_IMAGE_LEVELS) {
        vc__c_unsupported(g, n, NULL, n->op == VC__OP_GATHER ? "vc_gather is" : "querying the number of levels is");
        return;
    }
    if (level != VC__NIL && g->node[level].op == VC__OP_GRADIENT) {
        vc__c_unsupported(g, n, "sample_grad", "derivatives are");
        return;
    }
    if (!vc__c_is_level_zero(g, level)) {
        vc__c_unsupported(g, n, n->op == VC__OP_SAMPLE ? "sample_lod" : NULL, "levels other than the constant 0 are");
        return;
    }
    if (n->op == VC__OP_SAMPLE && n->x) { vc__c_unsupported(g, n, "sample_offset", "offsets are"); return; }
    if (n->op == VC__OP_IMAGE_SIZE) { vc__opencl_size(g, n, o, object); return; }
    vc__p_put(g, "%s_image%s(%o, ", n->op == VC__OP_IMAGE_STORE ? "write" : "read", suffix, object);
    if (n->op == VC__OP_SAMPLE) vc__p_put(g, "%r, ", object);
    vc__opencl_coordinates(g, n->a[1]);
    if (n->op == VC__OP_IMAGE_STORE) vc__p_put(g, ", %e", n->a[2]);
    vc__p_put(g, ")");
    if (n->op == VC__OP_IMAGE_STORE && vc__opencl_is_read_write(o)) {
        /* so that later loads see the store; NVIDIA's headers lack memory_scope_work_item, which would suffice */
        vc__p_put(g, "; atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group)");
    }
}

static void vc__opencl_image(vc__printer *g, uint32_t object, const char *separator) {
    static const char *const types[] = {
        "", "image1d_t", "image2d_t", "image3d_t", "", "image1d_array_t", "image2d_array_t", "image1d_buffer_t"
    };
    const vc__object *o = &g->object[object];
    const vc__node *n = &g->k->node[o->node];
    if (o->count) vc__c_unsupported(g, n, NULL, "arrays of images are");
    if (o->image.dim == VC_DIM_CUBE) vc__c_unsupported(g, n, NULL, "cubes are");
    vc__p_put(g, "%s%s %s %o", separator,
              vc__opencl_is_read_write(o) ? "__read_write" : o->used & VC_WRITE ? "__write_only" : "__read_only",
              types[o->image.dim], object);
    if (!o->image.storage && o->image.dim != VC_DIM_BUFFER) vc__p_put(g, ", sampler_t %r", object);
}

/* ---- declarations ---- */

static void vc__opencl_enable(vc__printer *g, const char *extension) {
    vc__p_put(g, "#pragma OPENCL EXTENSION cl_khr_%s : enable\n", extension);
}

static void vc__opencl_extensions(vc__printer *g) {
    bool base = false, extended = false;
    for (uint32_t i = g->l->body; i < g->l->count; i++) {
        const vc__node *n = &g->node[i];
        if (!vc__is_atomic(n->op) || vc__scalar_bytes(n->type) != 8) continue;
        base = true;
        extended = extended || (n->op >= VC__OP_ATOMIC_MIN && n->op <= VC__OP_ATOMIC_XOR && !vc__is_float(n->type));
    }
    for (uint32_t i = 0; i < g->l->object_count; i++) {
        const vc__object *o = &g->object[i];
        if (o->op != VC__OP_IMAGE || o->image.dim != VC_DIM_3D || !(o->used & VC_WRITE)) continue;
        vc__opencl_enable(g, "3d_image_writes");
        break;
    }
    if (vc__opencl_any_read_write(g))
        vc__p_put(g, "#if __OPENCL_C_VERSION__ < 200\n#error a kernel that loads from and stores to one image needs "
                     "OpenCL C 2.0\n#endif\n");
    if (base) vc__opencl_enable(g, "int64_base_atomics");
    if (extended) vc__opencl_enable(g, "int64_extended_atomics");
}

static void vc__opencl_parameters(vc__printer *g, bool values) {
    const char *separator = "";
    for (uint32_t i = 0; i < g->l->object_count; i++) {
        const vc__object *o = &g->object[i];
        if (o->op == VC__OP_IMAGE) {
            vc__opencl_image(g, i, separator);
            separator = ", ";
        }
        if (o->op != VC__OP_BUFFER || o->composite != VC__NIL) continue;
        vc__p_put(g, "%s__global %s%t *%s%o", separator, o->used & VC_WRITE ? "" : "const ",
                  vc__c_memory_type(!vc__is_type(o->type) ? (vc_type)VC_U8
                                    : vc__components(o->type) == 3 ? vc__scalar(o->type) : o->type),
                  vc__p_is_unaliased(g, i) ? "restrict " : "", i);
        separator = ", ";
    }
    if (values) vc__p_put(g, "%sconst struct %s_args %s", separator, g->l->info.entry, g->args_name.text);
    else if (!separator[0]) vc__p_put(g, "void");
}

static void vc__opencl_head(vc__printer *g) {
    static const char *const halves[3] = {
        "static float f32_of_f16(ushort h) { return vload_half(0, (const __private half *)&h); }\n",
        "static ushort f16_of_f32(float x) { ushort h; vstore_half_rte(x, 0, (__private half *)&h); return h; }\n",
        "static ushort f16_of_f64(double x) { ushort h; vstore_half_rte(x, 0, (__private half *)&h); return h; }\n"
    };
    const vc_info *info = &g->l->info;
    const uint32_t *size = info->local_size;
    uint32_t kinds = g->k->lower.kinds;
    char name[VC__NAME_BYTES];
    vc__p_sanitize(info->name, name);
    vc__p_put(g, "// %s\n", name);
    for (uint32_t i = 0; i < g->l->object_count; i++)
        if (g->object[i].arg != VC__NIL && vc__is_type(g->object[i].type))
            kinds |= 1u << vc__kind(g->object[i].type);
    if (!g->k->desc.fast) vc__p_put(g, "#pragma OPENCL FP_CONTRACT OFF\n");
    if (kinds & 1u << VC_F64) vc__opencl_enable(g, "fp64");
    vc__opencl_extensions(g);
    vc__c_half_functions(g, halves);
    bool values = vc__c_argument_block(g);
    vc__p_put(g, "\n__kernel __attribute__((reqd_work_group_size(%u, %u, %u)))\n", size[0], size[1], size[2]);
    vc__p_put(g, "void %s(", info->entry);
    vc__opencl_parameters(g, values);
    vc__p_put(g, ") {\n");
    for (uint32_t i = 0; i < g->l->object_count; i++) {
        const vc__object *o = &g->object[i];
        if (!g->live[i]) continue;
        if (o->op == VC__OP_SHARED)
            vc__p_put(g, "    __local %t %o[%u];\n", vc__c_memory_type(o->type), i, o->count);
        if (o->op == VC__OP_TABLE) vc__c_table(g, i, "__constant");
    }
}

static const vc__dialect vc__opencl = {
    "OpenCL C", { NULL, NULL, NULL, NULL, "", "l", NULL, NULL, "u", "ul", NULL, "f", "" },
    true, true, vc__c_is_reserved, vc__opencl_type, vc__c_pattern, vc__c_float_bits, false, vc__c_open_vector,
    vc__c_component, NULL, vc__c_load, vc__c_store, vc__opencl_id, vc__c_convert, vc__opencl_sync, vc__c_atomic,
    vc__c_declare, vc__opencl_head, vc__opencl_image_op
};

// >>reflect
/* Reflection: the arguments of a kernel, their offsets and bindings, and the device features and memory it requires. */

typedef struct vc__feature { uint64_t bit; const char *description, *name; } vc__feature; /* name: after VC_FEATURE_ */
#define VC__IMAGE_FEATURES ((uint64_t)VC_FEATURE_IMAGE_FORMATS | VC_FEATURE_IMAGE_READ | VC_FEATURE_IMAGE_WRITE)
#define VC__ALL_FEATURES \
    ((uint64_t)VC_FEATURE_ADDRESS * 2 - 1 + VC_FEATURE_SUBGROUP + VC_FEATURE_ATOMIC_I64 + VC_FEATURE_ATOMIC_F32_ADD \
     + VC_FEATURE_SUBGROUP_TYPES + VC_FEATURE_SUBGROUP_CLUSTERED + VC_FEATURE_RECONVERGENCE + VC_FEATURE_IMAGE \
     + VC__IMAGE_FEATURES + VC_FEATURE_DOT_4X8 + VC_FEATURE_F64_ROUND + VC_FEATURE_SHUFFLE_64 + VC_FEATURE_UNPACK_HALF \
     + VC_FEATURE_BINDLESS)
#define VC__ADDRESS_FEATURES ((uint64_t)VC_FEATURE_ADDRESS | VC_FEATURE_I64)
/* Features that CUDA C and OpenCL C do not require: every device has them, or the generated source avoids them. */
#define VC__C_FEATURES \
    ((uint64_t)VC_FEATURE_F16 | VC_FEATURE_I8 | VC_FEATURE_I16 | VC_FEATURE_STORAGE_8 | VC_FEATURE_STORAGE_16 \
     | VC__ADDRESS_FEATURES | VC_FEATURE_SUBGROUP | VC_FEATURE_SUBGROUP_TYPES | VC_FEATURE_SUBGROUP_CLUSTERED \
     | VC_FEATURE_ATOMIC_F32_ADD | VC_FEATURE_DOT_4X8 | VC_FEATURE_F64_ROUND | VC_FEATURE_SHUFFLE_64 \
     | VC_FEATURE_UNPACK_HALF | VC_FEATURE_RECONVERGENCE | VC__IMAGE_FEATURES | VC_FEATURE_BINDLESS)
/* Those of VC__C_FEATURES that stand for types. If vd_context_desc.disable removes one, using the type is an error in
   CUDA C and OpenCL C, too. */
#define VC__C_TYPE_FEATURES ((uint64_t)VC_FEATURE_F16 | VC_FEATURE_I8 | VC_FEATURE_I16 | VC_FEATURE_I64 \
                             | VC_FEATURE_STORAGE_8 | VC_FEATURE_STORAGE_16)
/* Has a row for every feature, so that searches end. Some are never reported, such as VC_FEATURE_ATOMIC_F32_ADD: the
   operation is lowered if the machine lacks the feature. */
static const vc__feature vc__features[] = {
    { VC_FEATURE_F16, "f16 arithmetic", "F16" },
    { VC_FEATURE_F64, "f64 arithmetic", "F64" },
    { VC_FEATURE_I8, "8-bit integer arithmetic", "I8" },
    { VC_FEATURE_I16, "16-bit integer arithmetic", "I16" },
    { VC_FEATURE_I64, "64-bit integer arithmetic", "I64" },
    { VC_FEATURE_STORAGE_8, "8-bit elements in buffers", "STORAGE_8" },
    { VC_FEATURE_STORAGE_16, "16-bit elements in buffers", "STORAGE_16" },
    { VC_FEATURE_ADDRESS, "buffer addresses", "ADDRESS" },
    { VC_FEATURE_SUBGROUP, "subgroups", "SUBGROUP" },
    { VC_FEATURE_SUBGROUP_TYPES, "subgroup operations on 8, 16 and 64 bits", "SUBGROUP_TYPES" },
    { VC_FEATURE_SUBGROUP_CLUSTERED, "clustered subgroup operations", "SUBGROUP_CLUSTERED" },
    { VC_FEATURE_RECONVERGENCE, "maximal reconvergence", "RECONVERGENCE" },
    { VC_FEATURE_ATOMIC_I64, "64-bit atomics", "ATOMIC_I64" },
    { VC_FEATURE_ATOMIC_F32_ADD, "atomic addition of f32", "ATOMIC_F32_ADD" },
    { VC_FEATURE_DOT_4X8, "dot products of four 8-bit integers", "DOT_4X8" },
    { VC_FEATURE_F64_ROUND, "exact trunc and round of f64", "F64_ROUND" },
    { VC_FEATURE_SHUFFLE_64, "64-bit subgroup shuffles", "SHUFFLE_64" },
    { VC_FEATURE_UNPACK_HALF, "unpacking f16 from a u32", "UNPACK_HALF" },
    { VC_FEATURE_IMAGE, "images", "IMAGE" },
    { VC_FEATURE_IMAGE_FORMATS, "a storage image format that not all devices support", "IMAGE_FORMATS" },
    { VC_FEATURE_IMAGE_READ, "loading from storage images of any format", "IMAGE_READ" },
    { VC_FEATURE_IMAGE_WRITE, "storing to storage images of any format", "IMAGE_WRITE" },
    { VC_FEATURE_BINDLESS, "non-constant indices into arrays of images", "BINDLESS" }
};

/* 64-bit scalars and all vectors are loaded as values of their type, so they require its features, too. */
static uint64_t vc__storage_features(vc_type type) {
    uint32_t bits = vc__is_bool(type) ? 32 : vc__bits(type);
    uint64_t required = bits == 8 ? (uint64_t)VC_FEATURE_STORAGE_8 : bits == 16 ? (uint64_t)VC_FEATURE_STORAGE_16 : 0;
    return required | (bits == 64 || vc__components(type) > 1 ? vc__kind_features(type) : 0);
}

/* Whether a cast only changes the width of a number from or to 32 bits or more. Such a cast of a loaded or stored value
   does not require arithmetic in the narrow type. */
static bool vc__is_width_cast(vc_type from, vc_type to) {
    return ((vc__is_float(from) && vc__is_float(to)) || (vc__is_int(from) && vc__is_int(to)))
           && (vc__bits(from) >= 32 || vc__bits(to) >= 32);
}

static uint64_t vc__wide_features(vc_type type) { return vc__bits(type) == 64 ? vc__kind_features(type) : 0; }

/* memory: type of the elements in memory */
static uint64_t vc__atomic_features(const vc__node *n, vc_type memory) {
    uint64_t required = vc__bits(memory) == 64 ? vc__kind_features(memory) | VC_FEATURE_ATOMIC_I64 : 0;
    return required | vc__kind_features(n->type) | (vc__is_float(memory) ? (uint64_t)VC_FEATURE_ATOMIC_F32_ADD : 0);
}

/* Also records in the object how its memory is used. */
static uint64_t vc__access_features(vc_kernel *k, const vc__listing *l, const vc__node *n) {
    const vc__node *m = vc__memory_of(l->node, n);
    vc__object *o = &k->object[m->x];
    bool loads = n->op == VC__OP_LOAD || n->op == VC__OP_ATOMIC_LOAD,
         stores = n->op == VC__OP_STORE || n->op == VC__OP_ATOMIC_STORE;
    vc_type type = n->op == VC__OP_STORE ? l->node[n->a[2]].type : n->type;
    uint64_t atomic = vc__is_atomic(n->op) ? vc__atomic_features(n, m->type) : 0;
    o->used = (uint16_t)(o->used | (loads ? VC_READ : stores ? VC_WRITE : VC_READ_WRITE));
    if (m->op != VC__OP_BUFFER) return vc__kind_features(type) | atomic;
    return vc__storage_features(type) | atomic
           | (l->buffers == VC_BUFFERS_ADDRESS && !vc__is_c(l->target) ? VC__ADDRESS_FEATURES : 0);
}

/* Also records in the object how the image is used. */
static uint64_t vc__image_features(vc_kernel *k, const vc__listing *l, const vc__node *n) {
    const vc__node *m = n->op == VC__OP_IMAGE ? n : &l->node[n->a[0]];
    vc__object *o = &k->object[m->x];
    bool reads = n->op == VC__OP_IMAGE_LOAD, writes = n->op == VC__OP_IMAGE_STORE,
         queries = n->op == VC__OP_IMAGE_SIZE || n->op == VC__OP_IMAGE_LEVELS;
    uint64_t required = VC_FEATURE_IMAGE;
    if (m->op == VC__OP_IMAGE_AT && l->node[m->a[1]].op != VC__OP_CONST) required |= VC_FEATURE_BINDLESS;
    if (n->op != VC__OP_IMAGE) o->used = (uint16_t)(o->used | (writes ? VC_WRITE : queries ? 4 : VC_READ));
    if (!o->image.storage) return required;
    if (vc__is_optional_format(o->image.format)) return required | VC_FEATURE_IMAGE_FORMATS;
    if (o->image.format) return required;
    return required | (reads ? (uint64_t)VC_FEATURE_IMAGE_READ : 0u)
           | (writes ? (uint64_t)VC_FEATURE_IMAGE_WRITE : 0u);
}

static bool vc__is_subgroup(uint32_t op) {
    return vc__op[op].class_ == VC__CONVERGENT || (op >= VC__OP_SUBGROUP_SIZE && op <= VC__OP_SUBGROUP_LOCAL_ID);
}

/* Whether a 64-bit shuffle is relative: its source lane can be outside of the subgroup. */
static bool vc__is_wide_shuffle(uint32_t op, vc_type type) {
    return op >= VC__OP_SHUFFLE_XOR && op <= VC__OP_SHUFFLE_DOWN && vc__bits(vc__kind(type)) == 64;
}

static uint64_t vc__subgroup_features(const vc__listing *l, const vc__node *n) {
    vc_type type = vc__op[n->op].operands && n->a[0] != VC__NIL ? l->node[n->a[0]].type : n->type;
    bool extended = !vc__is_bool(type) && vc__bits(vc__kind(type)) != 32 && vc__kind(type) != VC_F64,
         combines = vc__is_subgroup_combine(n->op);
    return VC_FEATURE_SUBGROUP | vc__kind_features(type) | (extended ? (uint64_t)VC_FEATURE_SUBGROUP_TYPES : 0u)
           | (combines && (n->x & 15u) == VC__LANES_CLUSTER ? (uint64_t)VC_FEATURE_SUBGROUP_CLUSTERED : 0u)
           | (vc__is_wide_shuffle(n->op, type) ? (uint64_t)VC_FEATURE_SHUFFLE_64 : 0u)
           | (l->reconverges ? (uint64_t)VC_FEATURE_RECONVERGENCE : 0u);
}

static uint64_t vc__node_features(vc_kernel *k, const vc__listing *l, const vc__node *n) {
    uint32_t count;
    const uint32_t *a = vc__operands(n, l->extra, &count);
    uint64_t required = 0;
    if (vc__is_access(n->op)) return vc__access_features(k, l, n);
    if (vc__is_image(n->op) || n->op == VC__OP_IMAGE) return vc__image_features(k, l, n);
    if (n->op == VC__OP_BUFFER || n->op == VC__OP_POINTER) return 0;
    if (n->op == VC__OP_CAST) {
        vc_type from = l->node[n->a[0]].type;
        if (vc__is_width_cast(from, n->type) && (vc__bits(from) >= 32 || l->node[n->a[0]].op == VC__OP_LOAD))
            return vc__wide_features(from) | vc__wide_features(n->type);
        return vc__kind_features(from) | vc__kind_features(n->type);
    }
    if (vc__is_subgroup(n->op)) return vc__subgroup_features(l, n);
    if (vc__is_dot_4x8(n->op)) return VC_FEATURE_DOT_4X8;
    if ((n->op == VC__OP_TRUNC || n->op == VC__OP_ROUND) && vc__kind(n->type) == VC_F64)
        return VC_FEATURE_F64 | VC_FEATURE_F64_ROUND;
    if (n->op == VC__OP_UNPACK_HALF) return VC_FEATURE_UNPACK_HALF;
    for (uint32_t i = 0; i < count; i++) if (a[i] != VC__NIL) required |= vc__kind_features(l->node[a[i]].type);
    return required | vc__kind_features(n->type);
}

/* Adds features to those that the listing requires. Fails if the machine lacks one of them. */
static bool vc__require_features(vc_kernel *k, vc__listing *l, uint64_t required, const vc__node *n) {
    uint32_t i;
    uint64_t missing = required & ~l->info.features & k->desc.machine.missing_features;
    if (vc__is_c(l->target)) {
        missing &= ~(VC__C_FEATURES & ~VC__C_TYPE_FEATURES);
        required &= ~VC__C_FEATURES;
    }
    l->info.features |= required;
    if (!missing) return true;
    for (i = 0; !(missing & vc__features[i].bit); i++) continue;
    vc__set_missing(k, VC__MISSING_MACHINE);
    vc__fail_call(k, vc__op_name[n->op], "requires %s, which the device does not support (VC_FEATURE_%s)",
                  vc__features[i].description, vc__features[i].name);
    return false;
}

/* The feature that permits declaring an 8-bit or 16-bit type that occurs only between casts: arithmetic or, if the
   machine lacks it, storage. */
static uint64_t vc__declare_features(const vc_kernel *k, const vc__listing *l, vc_type type) {
    uint64_t arithmetic = vc__bits(vc__kind(type)) < 32 ? vc__kind_features(type) : 0;
    uint64_t storage = arithmetic == VC_FEATURE_I8 ? (uint64_t)VC_FEATURE_STORAGE_8 : (uint64_t)VC_FEATURE_STORAGE_16;
    if (!arithmetic || l->info.features & (arithmetic | storage)) return 0;
    return k->desc.machine.missing_features & arithmetic ? storage : arithmetic;
}

/* Features that a node other than a load, store or plain operation requires in a kernel whose types all have 32
   bits. */
static uint64_t vc__special_features(vc_kernel *k, const vc__listing *l, const vc__node *n) {
    if (vc__is_subgroup(n->op)) return vc__subgroup_features(l, n);
    if (vc__is_atomic(n->op)) return vc__access_features(k, l, n);
    if (vc__is_image(n->op)) return vc__image_features(k, l, n);
    if (vc__is_dot_4x8(n->op)) return (uint64_t)VC_FEATURE_DOT_4X8;
    return n->op == VC__OP_UNPACK_HALF ? (uint64_t)VC_FEATURE_UNPACK_HALF : 0;
}

/* Fast path of vc__check_features for kernels whose types all have 32 bits: only memory accesses, images, subgroup
   operations, dot products and unpacking of f16 can require a feature. */
static bool vc__check_32_bit_features(vc_kernel *k, vc__listing *l) {
    const uint32_t *plain = k->lower.plain;
    const vc__node *n = l->node + l->leaves, *end = l->node + l->count;
    uint64_t address = l->buffers == VC_BUFFERS_ADDRESS && !vc__is_c(l->target) ? VC__ADDRESS_FEATURES : 0, required;
    for (; n < end; n++) {
        if (plain[n->op] & VC__PLAIN_PRINTED) continue;
        if (n->op == VC__OP_LOAD || n->op == VC__OP_STORE) {
            const vc__node *m = vc__memory_of(l->node, n);
            k->object[m->x].used = (uint16_t)(k->object[m->x].used | (n->op == VC__OP_LOAD ? VC_READ : VC_WRITE));
            required = m->op == VC__OP_BUFFER ? address : 0;
        } else {
            required = vc__special_features(k, l, n);
        }
        if (required & ~l->info.features && !vc__require_features(k, l, required, n)) return false;
    }
    return true;
}

static bool vc__check_features(vc_kernel *k, vc__listing *l) {
    const uint32_t plain = 1u << VC_NONE | 1u << VC_BOOL | 1u << VC_I32 | 1u << VC_U32 | 1u << VC_F32;
    if (!(k->lower.kinds & ~plain)) return vc__check_32_bit_features(k, l);
    for (uint32_t i = 0; i < l->count; i++)
        if (!vc__require_features(k, l, vc__node_features(k, l, &l->node[i]), &l->node[i])) return false;
    for (uint32_t i = 0; i < l->count; i++)
        if (vc__op[l->node[i].op].class_ != VC__LEAF
            && !vc__require_features(k, l, vc__declare_features(k, l, l->node[i].type), &l->node[i]))
            return false;
    return true;
}

/* Reserves `size` bytes at the end of the argument block and returns their offset. align: a power of two. */
static uint32_t vc__argument_block_reserve(uint32_t *end, uint32_t size, uint32_t align) {
    uint32_t offset = (*end + align - 1) & ~(align - 1);
    *end = offset + size;
    return offset;
}

/* Sets the access of each used view of a buffer to the union over all views. Marks the views as aliased if more than
   one is used. */
static void vc__reflect_views(vc_kernel *k, uint32_t root) {
    uint32_t used = vc__is_type(k->object[root].type) ? k->object[root].used : 0u, used_views = used != 0;
    for (uint32_t i = k->object[root].next; i != VC__NIL; i = k->object[i].next) {
        used_views += k->object[i].used != 0;
        used |= k->object[i].used;
    }
    k->object[root].used = (uint16_t)used;
    k->object[root].aliased = vc__is_type(k->object[root].type) && used_views > 1;
    for (uint32_t i = k->object[root].next; i != VC__NIL; i = k->object[i].next) {
        k->object[i].aliased = used_views > 1;
        if (k->object[i].used) k->object[i].used = (uint16_t)used;
    }
}

/* An image is a binding or, in CUDA C, a 64-bit handle in the argument block. */
static void vc__reflect_image(const vc__listing *l, const vc__object *o, vc_arg_info *a, uint32_t *end,
                              uint32_t *bindings) {
    bool handle = vc__is_cuda(l->target);
    a->kind = VC_ARG_IMAGE;
    a->type = o->declared;
    a->access = o->used & VC_READ_WRITE ? (uint32_t)o->used & VC_READ_WRITE : o->used ? (uint32_t)VC_READ : 0u;
    a->count = o->count;
    a->size = !handle ? 0 : o->count ? 8 * o->count : 8;
    a->align = handle ? 8 : 1;
    a->sampled = !o->image.storage;
    a->dim = (vc_dim)o->image.dim;
    a->format = (vc_format)o->image.format;
    a->location = handle ? vc__argument_block_reserve(end, a->size, 8) : (*bindings)++;
}

/* end: size of the argument block so far; bindings: number of bindings so far */
static void vc__reflect_arg(const vc_kernel *k, const vc__listing *l, const vc__object *o, vc_arg_info *a,
                            uint32_t *end, uint32_t *bindings) {
    bool buffer = o->op == VC__OP_BUFFER, by_address = buffer && l->buffers == VC_BUFFERS_ADDRESS;
    vc__layout s = vc__layout_of(k, o->type);
    memset(a, 0, sizeof *a);
    a->name = o->name;
    a->may_alias = (o->access & VC_MAY_ALIAS) != 0;
    if (o->op == VC__OP_IMAGE) { vc__reflect_image(l, o, a, end, bindings); return; }
    a->kind = !buffer ? VC_ARG_VALUE : by_address ? VC_ARG_ADDRESS : VC_ARG_BINDING;
    a->type = o->access & VC_ANY_TYPE ? (vc_type)VC_NONE : vc_type_size(o->declared) ? o->declared : VC_STRUCT(s.size);
    a->access = buffer ? o->used : 0u;
    a->size = !buffer ? s.size : by_address ? 8 : 0;
    a->align = s.align;
    if (buffer && vc__components(o->type) != 3 && vc__is_type(o->type))
        a->align *= vc__components(o->type); /* vectors in buffers are loaded whole */
    for (uint32_t i = o->next; buffer && i != VC__NIL; i = l->object[i].next) { /* views load vectors, too */
        const vc__object *view = &l->object[i];
        uint32_t align = vc__scalar_bytes(view->type)
                         * (vc__components(view->type) == 3 ? 1 : vc__components(view->type));
        if (view->used && a->align < align) a->align = align;
    }
    a->location =
        buffer && !by_address ? (*bindings)++ : vc__argument_block_reserve(end, a->size, by_address ? 8 : a->align);
}

static void vc__reflect_implicit(const vc__listing *l, const vc__node *n, vc_implicit_info *h, uint32_t *end) {
    h->kind = (vc_implicit)n->a[0];
    h->arg = vc__implicit_has_arg((uint32_t)h->kind) ? l->object[n->a[1]].arg : 0;
    h->axis = n->a[2];
    h->offset = vc__argument_block_reserve(end, 4, 4);
}

static bool vc__check_shared(vc_kernel *k, vc__listing *l) {
    uint64_t bytes = 0, limit = k->desc.machine.max_shared_bytes;
    for (uint32_t i = l->leaves; i < l->body; i++) {
        if (l->node[i].op != VC__OP_SHARED) continue;
        const vc__object *o = &l->object[l->node[i].x];
        uint32_t stride = vc__shared_stride(o->type);
        bytes = ((bytes + stride - 1) & ~((uint64_t)stride - 1)) + (uint64_t)o->count * stride;
    }
    l->info.shared_bytes = (uint32_t)bytes;
    if (bytes <= (limit ? limit : VC__NIL)) return true;
    VC__FAIL_MACHINE(k, "needs %llu bytes of shared memory, but the device's limit is %llu",
                     (unsigned long long)bytes, (unsigned long long)(limit ? limit : VC__NIL));
    return false;
}

/* The private arrays of a work-group are a lower bound of its private memory. */
static bool vc__check_private(vc_kernel *k, const vc__listing *l) {
    uint64_t bytes = 0, limit = k->desc.machine.max_private_bytes;
    for (uint32_t i = 0; limit && i < l->count; i++) {
        if (l->node[i].op != VC__OP_ARRAY) continue;
        const vc__object *o = &l->object[l->node[i].x];
        bytes += (uint64_t)o->count * vc__shared_stride(o->type);
    }
    if (bytes <= limit / vc__invocations(k)) return true;
    VC__FAIL_MACHINE(k, "needs %llu bytes of private arrays in each of %u invocations, but the device's limit is %llu "
                        "bytes per work-group",
                     (unsigned long long)bytes, vc__invocations(k), (unsigned long long)limit);
    return false;
}

/* Alignment of the argument block as a C struct, 4 or 8; the size of the block is a multiple of it. */
static uint32_t vc__block_align(const vc_info *info) {
    uint32_t align = 4;
    for (int i = 0; i < info->arg_count; i++)
        if (vc__in_argument_block(&info->args[i])
            && (info->args[i].kind != VC_ARG_VALUE || info->args[i].align > align))
            align = 8;
    return align;
}

static bool vc__reflect_allocate(vc_kernel *k, vc__variant *f, const vc__listing *l) {
    uint32_t max_implicit = l->body - l->leaves;
    return VC__RESERVE(k, f->arg, f->arg_capacity, vc__arg_count(k))
           && VC__RESERVE(k, f->implicit, f->implicit_capacity, max_implicit);
}

/* The name of the entry point: "main" or, in CUDA C and OpenCL C, the name of the kernel converted to an identifier,
   with the prefix "kernel_" if that is reserved or does not begin with a letter. */
static const char *vc__entry_name(const vc_kernel *k, vc_target target, char out[VC__NAME_BYTES]) {
    char clean[VC__NAME_BYTES];
    if (!vc__is_c(target)) return "main";
    vc__p_sanitize(vc__name(k), clean);
    snprintf(out, VC__NAME_BYTES, "%s%.40s", vc__p_is_safe(vc__c_is_reserved, clean) ? "" : "kernel_", clean);
    return out;
}

/* The axes along which a leaf differs between invocations, as bits. Ids that only reports read do not count. */
static uint32_t vc__leaf_axes(const vc_kernel *k, const vc__node *n) {
    uint32_t axes = 0;
    if (n->op == VC__OP_GLOBAL_ID) return 1u << n->x & k->global_axes;
    if (n->op == VC__OP_LOCAL_ID || n->op == VC__OP_GROUP_ID) return 1u << (n->x & 3u);
    if (n->op != VC__OP_LOCAL_INDEX && n->op != VC__OP_SUBGROUP_ID && n->op != VC__OP_SUBGROUP_LOCAL_ID) return 0;
    for (uint32_t i = 0; i < 3; i++) axes |= (uint32_t)(k->desc.local_size[i] > 1) << i;
    return axes;
}

/* Sets the vc_info of a listing and of its variant, and vc__object.used. Fails if the kernel requires a feature that
   the machine lacks, or exceeds one of its limits. */
VC__NOINLINE static bool vc__reflect_listing(vc_kernel *k, vc__listing *l) {
    vc__variant *f = vc__variant_of(k, l->target, l->buffers);
    vc_info *info = &l->info;
    uint32_t end = 0, bindings = 0;
    for (uint32_t i = 0; i < k->object_count; i++) k->object[i].used = 0;
    if (!vc__reflect_allocate(k, f, l) || !vc__check_features(k, l) || !vc__check_shared(k, l)
        || !vc__check_private(k, l))
        return false;
    info->name = vc__name(k);
    info->entry = vc__entry_name(k, l->target, f->entry);
    for (uint32_t i = 0; i < k->object_count; i++)
        if (k->object[i].op == VC__OP_BUFFER && k->object[i].composite == VC__NIL) vc__reflect_views(k, i);
    for (uint32_t i = 0; i < k->object_count; i++)
        if (k->object[i].arg != VC__NIL && k->object[i].composite == VC__NIL)
            vc__reflect_arg(k, l, &k->object[i], &f->arg[k->object[i].arg], &end, &bindings);
    for (uint32_t i = l->leaves; i < l->body; i++)
        if (l->node[i].op == VC__OP_IMPLICIT)
            vc__reflect_implicit(l, &l->node[i], &f->implicit[info->implicit_count++], &end);
    for (uint32_t i = l->leaves; i < l->body; i++) info->axes |= vc__leaf_axes(k, &l->node[i]);
    info->args = f->arg;
    info->arg_count = (int)vc__arg_count(k);
    info->formats = k->format;
    info->format_count = (int)k->format_count;
    info->implicit = f->implicit;
    info->argument_bytes = vc__argument_block_reserve(&end, 0, vc__is_c(l->target) ? vc__block_align(info) : 4);
    memcpy(info->local_size, k->desc.local_size, sizeof info->local_size);
    info->operations = k->count;
    info->live_operations = l->count;
    f->info = *info;
    return true;
}

// >>dump
/* vc_dump: the listing before lowering as text for debugging. First the arguments, shared arrays and tables, then
   one line per operation, among them the declarations of variables and private arrays. The name of a result is its
   index in the listing, "%7". Constants, arguments and ids are printed where they are used, see vc__dump_number. */

static void vc__dump_put(vc_kernel *k, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vc__write(k, &k->dump, NULL, NULL, format, &list);
    va_end(list);
}

/* Prints a number: 5 is an i32, 5u a u32, 0.5 an f32; numbers of other types have the type as a suffix: 5u8, 0.5f64. */
static void vc__dump_number(vc_kernel *k, vc_type kind, uint64_t bits) {
    const vc__kind_info *info = &vc__kinds[kind & 15u];
    uint64_t wide = vc__widen(kind, bits), fraction = bits & vc__ones(info->fraction),
             exponent = bits >> info->fraction & vc__ones(info->exponent);
    char text[40];
    if (vc__is_bool(kind)) { vc__dump_put(k, bits ? "true" : "false"); return; }
    if (!vc__is_float(kind)) {
        bool negative = vc__is_signed(kind) && wide >> 63;
        snprintf(text, sizeof text, "%s%llu", negative ? "-" : "", (unsigned long long)(negative ? 0 - wide : wide));
    } else if (exponent == vc__ones(info->exponent)) {
        if (fraction) snprintf(text, sizeof text, "nan(0x%llx)", (unsigned long long)bits);
        else snprintf(text, sizeof text, "%sinf", bits >> (info->bits - 1) & 1 ? "-" : "");
    } else vc__p_decimal(vc__p_double(kind, bits), kind == VC_F32, text);
    vc__dump_put(k, "%s%s", text, kind == VC_I32 || kind == VC_F32 ? ""
                                  : kind == VC_U32 ? "u" : vc__kind_names[kind & 15u][0]);
}

/* Prints a name, in quotes and with escapes if it is not a C identifier; cut after 100 bytes. */
static void vc__dump_name(vc_kernel *k, const char *name) {
    bool plain = name[0] && !vc__p_is_digit(name[0]);
    size_t i;
    for (i = 0; name[i]; i++) plain = plain && (vc__p_is_digit(name[i]) || vc__p_is_letter(name[i]) || name[i] == '_');
    if (plain && i < 100) { vc__dump_put(k, "%s", name); return; }
    vc__dump_put(k, "'");
    for (i = 0; name[i] && i < 100; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c < 32 || c > 126 || c == '\'' || c == '\\') vc__dump_put(k, "\\%d%d%d", c >> 6, c >> 3 & 7, c & 7);
        else vc__dump_put(k, "%c", c);
    }
    vc__dump_put(k, name[i] ? "...'" : "'");
}

/* Prints the name of an object, followed by its number if it has no name or another object has the same name. For a
   typed view of a buffer with composite elements, a colon and the type of the view follow. */
static void vc__dump_object(vc_kernel *k, uint32_t object) {
    const vc__object *o = &k->object[object];
    bool named = o->name && o->name[0];
    bool unique = named && k->object_count <= 64; /* with more objects the number is printed without a search */
    for (uint32_t i = 0; unique && i < k->object_count; i++) {
        const vc__object *other = &k->object[i];
        if (i != object && other->name && other->composite != object && o->composite != i
            && (o->composite == VC__NIL || other->composite != o->composite) && strcmp(other->name, o->name) == 0)
            unique = false;
    }
    if (named) vc__dump_name(k, o->name);
    else vc__dump_put(k, "%s", vc__op_name[o->op]);
    if (!unique)
        vc__dump_put(k, "#%u", (unsigned)(o->op == VC__OP_BUFFER && o->composite != VC__NIL ? o->composite : object));
    if (o->op == VC__OP_BUFFER && o->composite != VC__NIL)
        vc__dump_put(k, ":%t", o->declared);
}

static void vc__dump_implicit(vc_kernel *k, const vc__node *n) {
    static const char *const name[] = { "none", "threads", "groups", "group_base", "length", "shape", "first_format" };
    vc__dump_put(k, vc__implicit_has_arg(n->a[0]) ? "%s(" : "%s.", name[n->a[0]]);
    if (!vc__implicit_has_arg(n->a[0])) { vc__dump_put(k, "%c", "xyzw"[n->a[2] & 3u]); return; }
    vc__dump_object(k, n->a[1]);
    if (n->a[0] == VC_IMPLICIT_SHAPE) vc__dump_put(k, ", %u", n->a[2]);
    vc__dump_put(k, ")");
}

/* Prints a constant, argument, id or declared memory. Returns false for other operations, which are printed in lines of
   their own. */
static bool vc__dump_inline(vc_kernel *k, const vc__listing *l, const vc__node *n) {
    switch (n->op) {
    case VC__OP_CONST: vc__dump_number(k, n->type, vc__bits_of(n)); return true;
    case VC__OP_TUPLE:
        for (uint32_t i = 0; i < n->a[1]; i++) {
            vc__dump_put(k, i ? ", " : "(");
            vc__dump_number(k, vc__scalar(n->type), vc__bits_of(&l->node[l->extra[n->a[0] + i]]));
        }
        vc__dump_put(k, ")");
        return true;
    case VC__OP_BUFFER: case VC__OP_IMAGE: case VC__OP_PARAM: case VC__OP_SHARED: case VC__OP_TABLE: case VC__OP_VAR:
    case VC__OP_ARRAY:
        vc__dump_object(k, n->x);
        return true;
    case VC__OP_LOCAL_ID: case VC__OP_GROUP_ID: case VC__OP_GLOBAL_ID:
        vc__dump_put(k, "%s.%c", vc__op_name[n->op], "xyzw"[n->x & 3u]);
        return true;
    case VC__OP_IMPLICIT: vc__dump_implicit(k, n); return true;
    default:
        if (vc__op[n->op].class_ == VC__LEAF) vc__dump_put(k, "%s", vc__op_name[n->op]);
        return vc__op[n->op].class_ == VC__LEAF;
    }
}

static void vc__dump_operand(vc_kernel *k, const vc__listing *l, uint32_t i) {
    if (!vc__dump_inline(k, l, &l->node[i])) vc__dump_put(k, "%%%u", i);
}

/* " x[%3 + 1]", or " v" for a variable */
static void vc__dump_element(vc_kernel *k, const vc__listing *l, const vc__node *n) {
    int64_t offset = (int32_t)n->x;
    vc__dump_put(k, " ");
    vc__dump_operand(k, l, n->a[0]);
    if (l->node[n->a[0]].op == VC__OP_VAR) return;
    vc__dump_put(k, "[");
    if (n->a[1] != VC__NIL) vc__dump_operand(k, l, n->a[1]);
    if (n->a[1] == VC__NIL) vc__dump_put(k, "%lld", (long long)offset);
    else if (offset) vc__dump_put(k, " %c %lld", offset < 0 ? '-' : '+', (long long)(offset < 0 ? -offset : offset));
    vc__dump_put(k, "]");
}

static void vc__dump_fence(vc_kernel *k, const vc__node *n) {
    static const char *const order[] = { " relaxed", " acquire", " release", " acq_rel" };
    static const char *const scope[] = { "", " subgroup", " workgroup", " device" };
    static const char *const storage[] = { "", " buffers", " shared", " buffers shared" };
    bool waits = n->op == VC__OP_BARRIER;
    vc__dump_put(k, "%s%s%s", !waits ? order[n->x & 3u] : n->x & 1u ? " waits in subgroup" : "", scope[n->x >> 4 & 3u],
                 storage[n->x >> 8 & 3u]);
}

static void vc__dump_lanes(vc_kernel *k, const vc__node *n) {
    static const char *const which[] = { "", " inclusive", " exclusive", " clusters of" };
    vc__dump_put(k, "%s", which[n->x & 3u]);
    if ((n->x & 15u) == VC__LANES_CLUSTER) vc__dump_put(k, " %u", (unsigned)(n->x >> 4));
}

static void vc__dump_operands(vc_kernel *k, const vc__listing *l, const vc__node *n) {
    uint32_t i = 0, count;
    const uint32_t *a = vc__operands(n, l->extra, &count);
    if (vc__is_access(n->op)) { vc__dump_element(k, l, n); i = 2; }
    if (n->op == VC__OP_FENCE || (n->op == VC__OP_BARRIER && n->x)) vc__dump_fence(k, n);
    for (; i < count; i++) {
        if (a[i] == VC__NIL) continue;
        vc__dump_put(k, i && n->op == VC__OP_INDEX ? " + " : " ");
        vc__dump_operand(k, l, a[i]);
        if (!i && n->op == VC__OP_INDEX) vc__dump_put(k, " * %u", n->x);
    }
    if (n->op == VC__OP_COMPONENT || n->op == VC__OP_GATHER) vc__dump_put(k, " %c", "xyzw"[n->x & 3u]);
    if (n->op == VC__OP_BALLOT_COUNT || vc__is_subgroup_combine(n->op)) vc__dump_lanes(k, n);
    if (n->op == VC__OP_SAMPLE && n->x)
        vc__dump_put(k, " offset %d %d %d", (int)(int8_t)(n->x & 255u), (int)(int8_t)(n->x >> 8 & 255u),
                     (int)(int8_t)(n->x >> 16 & 255u));
    if (n->op == VC__OP_END) vc__dump_put(k, " %s", vc__op_name[n->x]);
    if (n->op == VC__OP_CASE) {
        vc__dump_put(k, " ");
        vc__dump_number(k, n->type, vc__bits_of(n));
    }
}

/* "var f32 sum", "buffer u8 in, read", "table f32 w of 3: 0.5 1.0 2.0" */
static void vc__dump_declaration(vc_kernel *k, uint32_t object) {
    const vc__object *o = &k->object[object];
    uint32_t i, components = vc__components(o->type);
    vc__dump_put(k, "%s %t ", vc__op_name[o->op], o->declared);
    vc__dump_object(k, object);
    if (o->op == VC__OP_SHARED || o->op == VC__OP_ARRAY || o->op == VC__OP_TABLE
        || (o->op == VC__OP_IMAGE && o->count))
        vc__dump_put(k, " of %u", o->count);
    if (o->op == VC__OP_IMAGE)
        vc__dump_put(k, ", %s%s%s", vc__dims[o->image.dim].name, o->image.format ? " " : "",
                     o->image.format ? vc__formats[o->image.format].glsl : "");
    if (o->op == VC__OP_IMAGE && !o->image.storage) vc__dump_put(k, ", sampled");
    else if (o->op == VC__OP_BUFFER || o->op == VC__OP_IMAGE)
        vc__dump_put(k, ",%s%s%s", o->access & VC_READ ? " read" : "", o->access & VC_WRITE ? " write" : "",
                     o->access & VC_MAY_ALIAS ? " may alias" : "");
    for (i = 0; o->data && i < components * o->count && i < 16; i++) {
        vc__dump_put(k, i ? " " : ": ");
        vc__dump_number(k, vc__scalar(o->type), o->data[i]);
    }
    vc__dump_put(k, o->data && i < components * o->count ? " ...\n" : "\n");
}

static void vc__dump_node(vc_kernel *k, const vc__listing *l, uint32_t i, uint32_t *depth) {
    const vc__node *n = &l->node[i];
    if (n->op == VC__OP_END || n->op == VC__OP_ELSE) --*depth;
    for (uint32_t j = 0; j <= *depth && j < VC__P_INDENT; j++) vc__dump_put(k, "  ");
    if (vc__op[n->op].class_ == VC__BLOCK && n->op != VC__OP_END) ++*depth;
    if (n->op == VC__OP_VAR || n->op == VC__OP_ARRAY) { vc__dump_declaration(k, n->x); return; }
    if (vc__has_result(n->op)) vc__dump_put(k, "%%%u %t = ", i, n->type);
    vc__dump_put(k, "%s", vc__op_name[n->op]);
    vc__dump_operands(k, l, n);
    vc__dump_put(k, n->flags & VC__NODE_PRECISE ? " precise\n" : "\n");
}

static void vc__dump_head(vc_kernel *k) {
    const uint32_t *size = k->desc.local_size;
    vc__dump_put(k, "kernel ");
    vc__dump_name(k, vc__name(k));
    vc__dump_put(k, " %u x %u x %u%s\n", size[0], size[1], size[2], k->desc.fast ? ", fast" : "");
    for (uint32_t i = 0; i < k->user_type_count; i++) {
        const vc__user_type *user_type = &k->user_type[i];
        if (user_type->element != VC_NONE) continue;
        vc__dump_put(k, "  %t of %u bytes:", user_type->type, (unsigned)user_type->layout.size);
        for (uint32_t j = 0; j < user_type->count; j++) {
            vc__dump_put(k, j ? ", %t " : " %t ", user_type->field[j].type);
            vc__dump_name(k, user_type->field[j].name ? user_type->field[j].name : "");
        }
        vc__dump_put(k, "\n");
    }
    for (uint32_t i = 0; i < k->object_count; i++) {
        if (k->object[i].arg == VC__NIL || k->object[i].composite != VC__NIL) continue;
        vc__dump_put(k, "  ");
        vc__dump_declaration(k, i);
    }
}

static void vc__dump_listing(vc_kernel *k, const vc__listing *l) {
    uint32_t depth = 0;
    k->dump.length = 0;
    vc__dump_head(k);
    for (uint32_t i = l->leaves; i < l->body; i++) {
        uint32_t op = l->node[i].op;
        if (op != VC__OP_SHARED && op != VC__OP_TABLE) continue;
        vc__dump_put(k, "  ");
        vc__dump_declaration(k, l->node[i].x);
    }
    for (uint32_t i = l->body; i < l->count && !k->failed; i++) vc__dump_node(k, l, i, &depth);
}

// >>composite
/* Composite types: complex numbers, matrices, structs and fixed arrays. They exist only on the tape; listings contain
   only scalars and vectors (scalar replacement of aggregates).
     direct part   a member of a struct, an element of an array, a column of a matrix, the real or the imaginary part
     flat part     a scalar or vector, found by splitting direct parts recursively
     split array   an array of all instances of a flat part, ignoring array indices: a[3].x and a[4].x are elements of
                   the same split array (structure of arrays)
   A value is a PARTS node with a list of its flat parts; no live node has it as an operand. The bit VC__COMPOSITE of
   its vc_val makes the calls of other rooms reject it, so only this room has to support composite values.
   Memory is an object of the composite type, which is in no listing, and its pieces, which are objects of scalar or
   vector types:
     buffers       a view for each scalar and vector type in the element: the same memory as an array of that type. If
                   the offset of a vector may not be a multiple of its size, the view of scalars is used.
     parameters    a piece for each flat part, with its byte offset
     other memory  a piece for each split array */

VC__SMALL_END

/* Functions of room public that are not optimised for size. They are declared outside of VC__SMALL, because gcc
   compiles a function with the options that apply to its first declaration. */
static uint32_t vc__fit_node(vc_kernel *k, const char *call, uint32_t which, vc_val v, vc_type type);
static vc__object *vc__object_of(vc_kernel *k, const char *call, const vc_ref *r);
static bool vc__advance_ref(vc_kernel *k, const char *call, vc_ref *r, vc_val elements);
static vc_val vc__load(vc_kernel *k, const char *call, const vc_ref *r);

VC__SMALL

static void vc__store(vc_kernel *k, const char *call, const vc_ref *r, uint32_t which, vc_val value);
static bool vc__fail_in_switch(vc_kernel *k, const char *call);
static vc_val vc__result_without_kernel(vc_val a, vc_val b, const char *call);
static uint32_t vc__record_component(vc_kernel *k, uint32_t vector, uint32_t i);
static vc_val vc__component(vc_val vector, uint32_t i, const char *call);
static vc_ref vc__no_ref(void);
static vc_ref vc__make_ref(vc_kernel *k, uint32_t node, vc_type type);
static vc_val vc__insert(vc_val vector, uint32_t i, vc_val scalar, const char *call);
static void vc__read_table(vc_type type, const void *data, uint64_t *to, size_t components);

enum { VC__MAX_PARTS = 1024, VC__MAX_TYPE_DEPTH = 32, VC__MAX_USER_TYPES = 0xf000 };
enum { /* vc_ref.inside */
    VC__INSIDE_PATH = 1,   /* the memory has a composite type */
    VC__INSIDE_ELEMENT = 2 /* the ref refers to one element; otherwise to an element and those after it */
};

/* ---- types and layout ---- */

static bool vc__is_complex(vc_type type) { return (type & ~(vc_type)15u) == 256u && vc__is_float(type & 15u); }
static bool vc__is_matrix(vc_type type) {
    return type >= 64u && type < 256u && vc__rows(type) > 1 && (vc__kind(type) == VC_F32 || vc__kind(type) == VC_F64);
}
static uint32_t vc__columns(vc_type type) { return ((type >> 6) & 3u) + 1u; }

/* The struct or array type with this number; NULL if the kernel has no such type. */
static const vc__user_type *vc__user_type_of(const vc_kernel *k, vc_type type) {
    uint32_t i = (type & 0xffffu) - VC__USER_TYPE;
    return k && (type & 0xffffu) >= VC__USER_TYPE && i < k->user_type_count && k->user_type[i].type == type
               ? &k->user_type[i]
               : NULL;
}

/* Nodes store only the low 16 bits. */
static vc_type vc__node_type(const vc_kernel *k, uint32_t node) {
    uint32_t type = k->node[node].type;
    return type < VC__USER_TYPE ? type : k->user_type[type - VC__USER_TYPE].type;
}

/* The layout is that of C. Vectors, complex numbers and matrices have the alignment of their scalars and no padding.
   Size 0: no such type. */
static vc__layout vc__layout_of(const vc_kernel *k, vc_type type) {
    const vc__user_type *user_type = vc__user_type_of(k, type);
    vc__layout s = { 0, 0, 0, 0, 0 };
    if (user_type) return user_type->layout;
    if (!vc__is_type(type) && !vc__is_complex(type) && !vc__is_matrix(type)) return s;
    s.align = vc__scalar_bytes(type);
    s.flat_parts = vc__is_complex(type) ? 2 : vc__columns(type);
    s.split_arrays = s.flat_parts;
    s.size = s.align * vc__components(type) * s.flat_parts;
    return s;
}

/* The name of an array type: "f32[2][3]". A long element name is cut, after a pair of brackets if it has any. */
static vc__label_text vc__array_text(const vc_kernel *k, vc_type element, uint32_t count) {
    vc__label_text inner = vc__type_text(k, element), l;
    int kept = (int)strlen(inner.text), whole;
    bool cut = kept > 32;
    if (cut) for (kept = whole = 29; whole > 0; whole--) if (inner.text[whole - 1] == ']') { kept = whole; break; }
    snprintf(l.text, sizeof l.text, "%.*s%s[%u]", kept, inner.text, cut ? "..." : "", (unsigned)count);
    return l;
}

static vc__label_text vc__type_text(const vc_kernel *k, vc_type type) {
    const vc__user_type *user_type = vc__user_type_of(k, type);
    vc__label_text l;
    bool unknown = !user_type && type && !(type >> 31) && !vc__is_type(type) && !vc__is_complex(type)
                   && !vc__is_matrix(type);
    if (unknown) snprintf(l.text, sizeof l.text, "type %u", type);
    else if (!user_type) snprintf(l.text, sizeof l.text, "%s", vc_type_name(type));
    else if (user_type->element == VC_NONE)
        snprintf(l.text, sizeof l.text, "struct %.36s", user_type->name ? user_type->name : "");
    else l = vc__array_text(k, user_type->element, user_type->count);
    return l;
}

/* The number of direct parts; for vectors, of components. */
static uint32_t vc__direct_part_count(const vc_kernel *k, vc_type type) {
    const vc__user_type *user_type = vc__user_type_of(k, type);
    return user_type ? user_type->count : vc__is_complex(type) ? 2
           : vc__is_matrix(type) ? vc__columns(type) : vc__components(type);
}

/* Direct part i of a composite type. Requires that i is less than vc__direct_part_count. */
static vc__field vc__direct_part(const vc_kernel *k, vc_type type, uint32_t i) {
    const vc__user_type *user_type = vc__user_type_of(k, type);
    vc__field f = { NULL, VC_NONE, 0, i, i };
    if (user_type && user_type->element == VC_NONE) return user_type->field[i];
    if (user_type) {
        vc__layout s = vc__layout_of(k, user_type->element);
        f.type = user_type->element;
        f.offset = i * s.size;
        f.first_array = 0;
        f.first_flat_part = i * s.flat_parts;
        return f;
    }
    f.type = vc__is_complex(type) ? vc__scalar(type) : type & 63u;
    f.offset = i * vc_type_size(f.type);
    return f;
}

/* The vc_type of the next struct or array type. Bits 0 to 15: VC__USER_TYPE plus the index in the kernel's table. Bits
   16 to 30: a hash of the type, so that the use of the type in another kernel is likely to be detected. */
static vc_type vc__user_type_number(const vc_kernel *k, const vc__user_type *user_type) {
    uint32_t h = 2166136261u;
    for (const char *c = user_type->name; c && *c; c++) h = (h ^ (unsigned char)*c) * 16777619u;
    h = (h ^ user_type->count) * 16777619u;
    h = (h ^ user_type->element) * 16777619u;
    for (uint32_t i = 0; user_type->field && i < user_type->count; i++) h = (h ^ user_type->field[i].type) * 16777619u;
    return ((h ^ h >> 15) & 0x7fffu) << 16 | (VC__USER_TYPE + k->user_type_count);
}

static vc_type vc__add_user_type(vc_kernel *k, const char *call, vc__user_type *user_type, uint64_t size) {
    vc__label_text l;
    if (user_type->element) l = vc__array_text(k, user_type->element, user_type->count);
    else snprintf(l.text, sizeof l.text, "%.40s", user_type->name ? user_type->name : "");
    if (size >= 0x7fffffffu)
        vc__fail_call(k, call, "'%s' has %llu bytes%s, but the limit is 2^31 - 2 bytes", l.text,
                      (unsigned long long)size, user_type->element ? "" : " or more");
    else if (user_type->layout.depth > VC__MAX_TYPE_DEPTH)
        vc__fail_call(k, call, "'%s' has a nesting depth of %u types, but the limit is %u", l.text,
                      user_type->layout.depth, VC__MAX_TYPE_DEPTH);
    else if (k->user_type_count >= VC__MAX_USER_TYPES)
        vc__fail_call(k, call, "'%s' exceeds the limit of %u struct and array types per kernel", l.text,
                      VC__MAX_USER_TYPES);
    if (k->failed) return VC_NONE;
    if (!VC__RESERVE(k, k->user_type, k->user_type_capacity, k->user_type_count + 1)) return VC_NONE;
    user_type->layout.size = (uint32_t)size;
    user_type->type = vc__user_type_number(k, user_type);
    k->user_type[k->user_type_count++] = *user_type;
    return user_type->type;
}

/* Appends a member to a struct of *size bytes and updates *size. */
static bool vc__add_member(vc_kernel *k, vc__user_type *user_type, vc__field *f, const vc_member *m, uint32_t i,
                           uint64_t *size) {
    vc__layout s = vc__layout_of(k, m->type);
    if (!s.size)
        return VC__FAIL_FALSE(k, "struct", "member %u '%s' of '%s' has type %u, which is not a type of this kernel",
                              i, m->name, user_type->name, m->type);
    *size = (*size + s.align - 1) & ~((uint64_t)s.align - 1);
    f->name = m->name ? vc__arena_copy(k, m->name) : NULL;
    f->type = m->type;
    f->offset = (uint32_t)*size;
    f->first_array = user_type->layout.split_arrays;
    f->first_flat_part = user_type->layout.flat_parts;
    *size += s.size;
    if (*size > 0x7fffffffu) *size = 0x80000000u; /* too large; vc__add_user_type reports it */
    if (user_type->layout.align < s.align) user_type->layout.align = s.align;
    if (user_type->layout.depth <= s.depth) user_type->layout.depth = s.depth + 1;
    user_type->layout.split_arrays += s.split_arrays;
    user_type->layout.flat_parts = user_type->layout.flat_parts + s.flat_parts < user_type->layout.flat_parts
                                       ? VC__NIL
                                       : user_type->layout.flat_parts + s.flat_parts;
    return !k->failed;
}

static bool vc__same_name(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : !a && !b; }

static const vc__user_type *vc__find_struct(const vc_kernel *k, const vc_member *members, uint32_t count) {
    for (uint32_t i = 0; i < k->user_type_count; i++) {
        const vc__user_type *user_type = &k->user_type[i];
        if (user_type->element || user_type->count != count) continue;
        uint32_t j = 0;
        while (j < count && user_type->field[j].type == members[j].type
               && vc__same_name(user_type->field[j].name, members[j].name))
            j++;
        if (j == count) return user_type;
    }
    return NULL;
}

VC_API vc_type vc_struct(vc_kernel *k, const char *name, const vc_member *members, uint32_t count) {
    vc__user_type user_type;
    vc__field *field;
    uint64_t size = 0;
    if (!vc__ready(k)) return VC_NONE;
    memset(&user_type, 0, sizeof user_type);
    if (!count || !members || count > 4096)
        return VC__FAIL_FALSE(k, "struct",
                              count && !members ? "'%s': members is NULL, but count is %u"
                                                : "'%s' has %u members, but must have 1 to 4096",
                              name, count);
    const vc__user_type *same = vc__find_struct(k, members, count);
    if (same) return same->type;
    user_type.name = name ? vc__arena_copy(k, name) : NULL;
    user_type.field = field = (vc__field *)vc__allocate(k, count * sizeof *field);
    if (k->failed) return VC_NONE;
    user_type.count = count;
    for (uint32_t i = 0; i < count; i++)
        if (!vc__add_member(k, &user_type, &field[i], &members[i], i, &size)) return VC_NONE;
    return vc__add_user_type(k, "struct", &user_type,
                             (size + user_type.layout.align - 1) & ~((uint64_t)user_type.layout.align - 1));
}

VC_API vc_type vc_array_type(vc_kernel *k, vc_type element, uint32_t count) {
    vc__user_type user_type;
    if (!vc__ready(k)) return VC_NONE;
    vc__layout s = vc__layout_of(k, element);
    if (!s.size) return VC__FAIL_FALSE(k, "array_type", "element is %u, which is not a type of this kernel", element);
    if (!count)
        return VC__FAIL_FALSE(k, "array_type", "count is 0, but an array of %t must have at least 1 element", element);
    for (uint32_t i = 0; i < k->user_type_count; i++)
        if (k->user_type[i].element == element && k->user_type[i].count == count) return k->user_type[i].type;
    memset(&user_type, 0, sizeof user_type);
    user_type.element = element;
    user_type.count = count;
    user_type.layout = s;
    user_type.layout.depth++;
    user_type.layout.flat_parts = (uint64_t)s.flat_parts * count > VC__NIL ? VC__NIL : s.flat_parts * count;
    return vc__add_user_type(k, "array_type", &user_type, (uint64_t)s.size * count);
}

VC_API uint32_t vc_size_of(vc_kernel *k, vc_type type) { return vc__layout_of(k, type).size; }

static vc_val vc__fail_part(vc_kernel *k, const char *call, vc_type type, uint32_t i) {
    return vc__fail_call(k, call, "%s %u is out of range: the last one of %t is %u",
                         vc__is_type(type) ? "component" : "part", i, type, vc__direct_part_count(k, type) - 1);
}

VC_API uint32_t vc_offset_of(vc_kernel *k, vc_type type, uint32_t member) {
    if (!vc__ready(k)) return 0;
    if (!vc__layout_of(k, type).size)
        return VC__FAIL_FALSE(k, "offset_of", "type is %u, which is not a type of this kernel", type);
    if (member >= vc__direct_part_count(k, type)) { vc__fail_part(k, "offset_of", type, member); return 0; }
    return vc__is_type(type) ? member * vc__scalar_bytes(type) : vc__direct_part(k, type, member).offset;
}

/* ---- values ---- */

typedef struct vc__flat_parts { vc_type type; uint32_t count; uint32_t node[VC__MAX_PARTS]; } vc__flat_parts;

static vc_val vc__composite_value(vc_kernel *k, vc_type type, const uint32_t *parts, uint32_t count) {
    uint32_t first = k->extra_count;
    for (uint32_t i = 0; i < count; i++) if (parts[i] == VC__NIL) return vc__no_value();
    if (k->failed || !vc__push_extra(k, &k->extra, &k->extra_count, &k->extra_capacity, parts, count))
        return vc__no_value();
    vc_val v = vc__value(k, vc__record(k, VC__OP_PARTS, 0, type, first, count, VC__NIL, 0));
    if (v.owner) v.bits |= VC__COMPOSITE;
    return v;
}

/* Fails if the value is not usable. which: number of the operand */
static uint32_t vc__composite_node(vc_kernel *k, const char *call, uint32_t which, vc_val v) {
    uint32_t n = (uint32_t)v.bits;
    if (v.owner == (uintptr_t)k && (v.bits & ~VC__COMPOSITE) >> 32 == k->generation && n < k->count
        && vc__is_open(k, k->node[n].region))
        return n;
    vc__fail_value(k, call, which, v);
    return VC__NIL;
}

static bool vc__parts_of(vc_kernel *k, const char *call, uint32_t which, vc_val v, vc__flat_parts *out) {
    vc__operand o;
    if (!vc__is_composite(v)) {
        if (!vc__operand_of(k, call, which, v, &o)) return false;
        out->type = o.type;
        out->count = 1;
        out->node[0] = vc__as_node(k, &o, vc__components(o.type));
        return out->node[0] != VC__NIL;
    }
    uint32_t n = vc__composite_node(k, call, which, v);
    if (n == VC__NIL) return false;
    out->type = vc__node_type(k, n);
    out->count = k->node[n].a[1];
    memcpy(out->node, k->extra + k->node[n].a[0], out->count * sizeof(uint32_t));
    return true;
}

/* Writes the flat parts of v, which must have the type `type`, to `out`. To a scalar or vector type, immediates and
   scalars are converted. Returns their number; 0 after an error. */
static uint32_t vc__fit_flat_parts(vc_kernel *k, const char *call, uint32_t which, vc_val v, vc_type type,
                                   uint32_t *out) {
    if (vc__is_type(type)) {
        out[0] = vc__fit_node(k, call, which, v, type);
        return out[0] != VC__NIL;
    }
    if (!vc__is_composite(v)) {
        vc__operand o;
        if (vc__operand_of(k, call, which, v, &o)) vc__fail_operand(k, call, which, &o, vc__type_text(k, type).text);
        return 0;
    }
    uint32_t n = vc__composite_node(k, call, which, v);
    if (n == VC__NIL) return 0;
    if (vc__node_type(k, n) != type)
        return VC__FAIL_FALSE(k, call, "operand %u is %t, but must be %t", which, vc__node_type(k, n), type);
    memcpy(out, k->extra + k->node[n].a[0], k->node[n].a[1] * sizeof(uint32_t));
    return k->node[n].a[1];
}

/* Fails if a type cannot be a value: it does not exist or has more than VC__MAX_PARTS flat parts. */
static bool vc__check_parts(vc_kernel *k, const char *call, vc_type type) {
    uint32_t parts = vc__layout_of(k, type).flat_parts;
    if (!parts) vc__fail_call(k, call, "type is %u, which is not a type of this kernel", type);
    else if (parts > VC__MAX_PARTS)
        vc__fail_call(k, call,
                      "%t has %u scalars and vectors, but the limit for a value is %u; access its parts with vc_at "
                      "and vc_field", type, parts, VC__MAX_PARTS);
    return !k->failed;
}

static vc_val vc__make_vector(vc_kernel *k, vc_type type, const vc_val *parts) {
    uint32_t node[4];
    for (uint32_t i = 0; i < vc__components(type); i++) {
        node[i] = vc__fit_node(k, "make", i + 1, parts[i], vc__scalar(type));
        if (node[i] == VC__NIL) return vc__no_value();
    }
    return vc__value(k, vc__components(type) == 1 ? node[0] : vc__record_vec(k, type, node, vc__components(type)));
}

VC_API vc_val vc_make(vc_kernel *k, vc_type type, const vc_val *parts, uint32_t count) {
    vc__flat_parts all;
    if (!vc__ready(k) || !vc__check_parts(k, "make", type)) return vc__no_value();
    if (count != vc__direct_part_count(k, type) || !parts)
        return vc__fail_call(k, "make",
                             count && !parts ? "parts is NULL, but count is %u (%t has %u parts)"
                                             : "count is %u, but %t has %u parts",
                             count, type, vc__direct_part_count(k, type));
    if (vc__is_type(type)) return vc__make_vector(k, type, parts);
    all.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t more = vc__fit_flat_parts(k, "make", i + 1, parts[i], vc__direct_part(k, type, i).type,
                                           all.node + all.count);
        if (!more) return vc__no_value();
        all.count += more;
    }
    return vc__composite_value(k, type, all.node, all.count);
}

VC_API vc_val vc_part(vc_val v, uint32_t i) {
    vc_kernel *k = vc__kernel_of(v);
    vc__flat_parts all;
    if (!vc__is_composite(v)) return vc__component(v, i, "part");
    if (!vc__ready(k) || !vc__parts_of(k, "part", 1, v, &all)) return vc__no_value();
    if (i >= vc__direct_part_count(k, all.type)) return vc__fail_part(k, "part", all.type, i);
    vc__field f = vc__direct_part(k, all.type, i);
    const uint32_t *parts = all.node + f.first_flat_part;
    return vc__is_type(f.type) ? vc__value(k, *parts)
                               : vc__composite_value(k, f.type, parts, vc__layout_of(k, f.type).flat_parts);
}

VC_API vc_val vc_with(vc_val v, uint32_t i, vc_val part) {
    vc_kernel *k = vc__kernel_of(v);
    vc__flat_parts all;
    if (!vc__is_composite(v)) return vc__insert(v, i, part, "with");
    if (!vc__ready(k) || !vc__parts_of(k, "with", 1, v, &all)) return vc__no_value();
    if (i >= vc__direct_part_count(k, all.type)) return vc__fail_part(k, "with", all.type, i);
    vc__field f = vc__direct_part(k, all.type, i);
    if (!vc__fit_flat_parts(k, "with", 3, part, f.type, all.node + f.first_flat_part)) return vc__no_value();
    return vc__composite_value(k, all.type, all.node, all.count);
}

static vc_val vc__select_composite(vc_kernel *k, vc_val condition, vc_val a, vc_val b) {
    vc__flat_parts x, y;
    vc_val v;
    uint32_t c = vc__condition(k, "select", 1, condition);
    if (c == VC__NIL || !vc__parts_of(k, "select", 2, a, &x) || !vc__parts_of(k, "select", 3, b, &y))
        return vc__no_value();
    if (x.type != y.type)
        return vc__fail_call(k, "select", "operand 2 is %t and operand 3 is %t; both must have the same type",
                             x.type, y.type);
    for (uint32_t i = 0; i < x.count; i++) {
        v = vc_select(vc__value(k, c), vc__value(k, x.node[i]), vc__value(k, y.node[i]));
        if (!v.owner) return vc__no_value();
        x.node[i] = (uint32_t)v.bits;
    }
    return vc__composite_value(k, x.type, x.node, x.count);
}

/* ---- arithmetic ---- */

/* An operand of arithmetic: a complex number or matrix by its direct parts, or a scalar or vector as part[0]. */
typedef struct vc__math_operand { vc_type type; vc_val part[4]; } vc__math_operand;

static vc_val vc__from_direct_parts(vc_kernel *k, vc_type type, const vc_val *part) {
    uint32_t node[4], count = vc__direct_part_count(k, type);
    for (uint32_t i = 0; i < count; i++) {
        node[i] = part[i].owner ? vc__fit_node(k, "make", i + 1, part[i], vc__direct_part(k, type, i).type)
                                : VC__NIL;
        if (node[i] == VC__NIL) return vc__no_value();
    }
    return vc__composite_value(k, type, node, count);
}

/* Fails if the operand is a struct or an array, or not usable. */
static bool vc__math_operand_of(vc_kernel *k, const char *call, uint32_t which, vc_val v, vc__math_operand *out) {
    vc__operand o;
    memset(out, 0, sizeof *out);
    if (!vc__is_composite(v)) {
        if (!vc__operand_of(k, call, which, v, &o)) return false;
        out->type = o.type;
        out->part[0] = vc_const(k, v);
        return out->part[0].owner != 0;
    }
    uint32_t n = vc__composite_node(k, call, which, v);
    if (n == VC__NIL) return false;
    out->type = vc__node_type(k, n);
    if (!vc__is_complex(out->type) && !vc__is_matrix(out->type))
        return VC__FAIL_FALSE(k, call, "operand %u is %t, which does not support arithmetic; use its parts (vc_part)",
                              which, out->type);
    for (uint32_t i = 0; i < k->node[n].a[1]; i++) out->part[i] = vc__value(k, k->extra[k->node[n].a[0] + i]);
    return true;
}

/* Operations on complex numbers x + i y and z + i w that are computed by a rule. both: all operands are complex; left:
   the first one is real; right: the second one is real. half: for f16 only. Quotients a / b are
   a * conj(b) / |b|^2, with operands scaled such that no square overflows or underflows. f16 is divided in f32, because
   the error of a native f16 quotient may exceed the bound of complex division. The imaginary part of a real operand is
   not used, because drivers simplify fma(x, y, 0) in different ways. */
static const struct vc__complex_rule { uint8_t op; bool half; uint16_t both, left, right; } vc__complex_rules[] = {
    { VC__OP_NEG, false, VC__RULE(complex_neg, "-x, -y"), 0, 0 },
    { VC__OP_ADD, false, VC__RULE(complex_add, "x + z, y + w"), VC__RULE(real_add, "x + z, w"),
      VC__RULE(complex_add_real, "x + z, y") },
    { VC__OP_SUB, false, VC__RULE(complex_sub, "x - z, y - w"), VC__RULE(real_sub, "x - z, -w"),
      VC__RULE(complex_sub_real, "x - z, y") },
    { VC__OP_MUL, false, VC__RULE(complex_mul, "fma(x, z, -(y * w)), fma(x, w, y * z)"),
      VC__RULE(real_mul, "x * z, x * w"), VC__RULE(complex_mul_real, "x * z, y * z") },
    { VC__OP_DIV, true,
      VC__RULE(complex_div16, "x = f32(x); y = f32(y); z = f32(z); w = f32(w); n = fma(z, z, w * w); "
                              "f16(fma(x, z, y * w) / n), f16(fma(y, z, -(x * w)) / n)"),
      VC__RULE(real_div16, "x = f32(x); z = f32(z); w = f32(w); n = fma(z, z, w * w); "
                           "f16(x * z / n), f16(-(x * w) / n)"),
      VC__RULE(complex_div_real16, "z = f32(z); f16(f32(x) / z), f16(f32(y) / z)") },
    { VC__OP_DIV, false,
      VC__RULE(complex_div, "s:t:u = scaling(max(abs(x), abs(y))); p:q:r = scaling(max(abs(z), abs(w))); "
                            "x = x * s; y = y * s; z = z * p; w = w * p; n = fma(z, z, w * w); b = u * q; "
                            "fma(x, z, y * w) / n * b * b, fma(y, z, -(x * w)) / n * b * b"),
      VC__RULE(real_div, "s:t:u = scaling(abs(x)); p:q:r = scaling(max(abs(z), abs(w))); x = x * s; z = z * p; "
                         "w = w * p; n = fma(z, z, w * w); b = u * q; x * z / n * b * b, -(x * w) / n * b * b"),
      VC__RULE(complex_div_real, "x / z, y / z") },
    { VC__OP_EXP, false, VC__RULE(complex_exp, "r = exp(x); r * cos(y), r * sin(y)"), 0, 0 }
};

static vc_val vc__half_log1p(vc_type kind, vc_val u);

/* log |z|: near the unit circle log1p(|z|^2 - 1) / 2, elsewhere half of the logarithm of |z|^2, computed with
   scaling. */
static vc_val vc__complex_log_abs(vc_kernel *k, vc_type kind, const vc_val *z) {
    vc_type type = kind == VC_F16 ? (vc_type)VC_F32 : kind;
    vc_val v[3];
    vc__rule_record_of(k, type,
                       VC__RULE(complex_log_abs, "x = abs(T(x)); y = abs(T(y)); m = max(x, y); s = scaling(m); "
                                                 "p = x * s; q = y * s; l = log(fma(p, p, q * q)) * 0.5; "
                                                 /* log(2^96), log(2^768) */
                                                 "h = {0x42851592, 0x4080a2b23f3bab73}; "
                                                 "l = s < 1 ? l + h : s > 1 ? l - h : l; u = squares_minus_1(x, y); "
                                                 "m == inf ? inf : l, u, -0.5 <= u & u <= 2"), z, 2, v, 3);
    return vc_cast(kind, vc_select(v[2], vc__half_log1p(type, v[1]), v[0]));
}

/* Whether the sign bit of an f32 or f64 is set, including that of -0. Without 64-bit integers an f64 of -0 is treated
   as positive. */
static vc_val vc__sign_bit(const vc_kernel *k, vc_type kind, vc_val x) {
    vc_type bits = kind == VC_F64 ? (vc_type)VC_I64 : (vc_type)VC_I32;
    if (kind == VC_F64 && k->desc.machine.missing_features & VC_FEATURE_I64) return vc_lt(x, vc_imm(kind, 0));
    return vc_lt(vc_bitcast(bits, x), vc_imm(bits, 0));
}

/* The square root with a non-negative real part, from t = sqrt((|re| + |z|) / 2), which has no cancellation. On the
   branch cut, the negative real axis, the sign of the zero imaginary part selects the result, as in C99 Annex G. */
static void vc__complex_sqrt(vc_kernel *k, vc_type type, vc_val *v, vc_val *out) {
    v[2] = vc__sign_bit(k, type, v[1]);
    vc__rule_record_of(k, type,
                       VC__RULE(complex_sqrt, "s:p:q = scaling(max(abs(x), abs(y))); x = x * s; y = y * s; "
                                              "t = sqrt(abs(x) * 0.5 + sqrt(fma(x, x, y * y)) * 0.5); "
                                              "u = t == 0 ? y : y * 0.5 / t; n = x < 0; "
                                              "(n ? abs(u) : t) * q, (n ? z ? -t : t : u) * q"), v, 3, out, 2);
}

/* a^b = e^(b log a). For a = 0 the result is the real power 0^b.re. real: b is a real number. */
static void vc__complex_pow(vc_kernel *k, vc_type type, vc_val *v, bool real, vc_val *out) {
    v[4] = vc__complex_log_abs(k, type, v);
    vc__rule_record_of(k, type,
                       real ? VC__RULE(complex_pow_real, "[x y z w l] r = exp(z == 0 ? 0 : z * l); "
                                                         "p = z * angle(x, y); r * cos(p), r * sin(p)")
                            : VC__RULE(complex_pow, "[x y z w l] a = angle(x, y); "
                                                    "r = exp((z == 0 ? 0 : z * l) - w * a); m = max(abs(x), abs(y)); "
                                                    "p = m == 0 ? 0 : fma(w, l, z * a); r * cos(p), r * sin(p)"),
                       v, 5, out, 2);
}

/* left, right: whether that operand is real. Roots and powers of f16 are computed in f32. */
static void vc__complex_apply(vc_kernel *k, uint32_t op, vc_type kind, vc_val *v, bool left, bool right, vc_val *out) {
    const struct vc__complex_rule *r = vc__complex_rules;
    vc_type type = kind == VC_F16 ? (vc_type)VC_F32 : kind;
    if (op == VC__OP_SQRT || op == VC__OP_POW) {
        for (uint32_t i = 0; i < (op == VC__OP_POW ? 4u : 2u); i++) v[i] = vc_cast(type, v[i]);
        if (op == VC__OP_SQRT) vc__complex_sqrt(k, type, v, out); else vc__complex_pow(k, type, v, right, out);
        for (uint32_t i = 0; i < 2; i++) out[i] = vc_cast(kind, out[i]);
    } else if (op == VC__OP_LOG) {
        out[0] = vc__complex_log_abs(k, kind, v);
        vc__rule_record_of(k, kind, VC__RULE_angle, v, 2, out + 1, 1);
    } else {
        while (r->op != op || (r->half && kind != VC_F16)) r++;
        vc__rule_record_of(k, kind, left ? r->left : right ? r->right : r->both, v, 4, out, 2);
    }
}

static vc_val vc__fail_pair(vc_kernel *k, const char *call, const vc__math_operand *a, const vc__math_operand *b,
                            const char *why) {
    return vc__fail_call(k, call, VC__PAIR_IS, a->type, b->type, why);
}

/* The operands are complex numbers of one kind; one of them can be a real number of that kind. */
static vc_val vc__complex_op(vc_kernel *k, const char *call, uint32_t op, uint32_t count, vc__math_operand *a,
                             vc__math_operand *b) {
    vc_type type = vc__is_complex(a->type) ? a->type : b->type, kind = vc__scalar(type);
    bool left = count > 1 && a->type == kind, right = count > 1 && b->type == kind;
    vc_val v[5], out[2];
    if ((a->type != type && !left) || (count > 1 && b->type != type && !right))
        return vc__fail_pair(k, call, a, b,
                             "both must be complex numbers of one component type, or one of them a real number of "
                             "that type");
    if (op == VC__OP_ABS) return vc_hypot(a->part[0], a->part[1]);
    if (left) a->part[1] = vc_const(k, vc_imm(kind, 0));
    if (right) b->part[1] = vc_const(k, vc_imm(kind, 0));
    for (uint32_t i = 0; i < 4; i++) v[i] = i < 2 ? a->part[i] : b->part[i - 2];
    if (op == VC__OP_EQ || op == VC__OP_NE) {
        vc__rule_record_of(k, kind, VC__RULE(complex_eq, "x == z & y == w"), v, 4, out, 1);
        return op == VC__OP_EQ ? out[0] : vc_not(out[0]);
    }
    vc__complex_apply(k, op, kind, v, left, right, out);
    return vc__from_direct_parts(k, type, out);
}

/* ---- matrices ---- */

/* m * v: the sum of column i times component i, starting with i = 0. The first term is a product, the others are added
   by fma. */
static vc_val vc__matrix_times_vector(const vc_val *column, uint32_t columns, vc_val v) {
    vc_val r = vc_mul(column[0], vc_component(v, 0));
    for (uint32_t i = 1; i < columns; i++) r = vc_fma(column[i], vc_component(v, i), r);
    return r;
}

/* The products of linear algebra: matrix * matrix, matrix * vector, vector * matrix. The inner sizes must be equal. */
static vc_val vc__matrix_mul(vc_kernel *k, vc__math_operand *a, vc__math_operand *b) {
    bool am = vc__is_matrix(a->type), bm = vc__is_matrix(b->type);
    uint32_t inner = am ? vc__columns(a->type) : vc__rows(a->type);
    vc_val out[4];
    if (vc__kind(a->type) != vc__kind(b->type) || inner != vc__rows(b->type))
        return vc__fail_pair(k, "mul", a, b, "the inner dimensions and the component types must match");
    if (!bm) return vc__matrix_times_vector(a->part, inner, b->part[0]);
    for (uint32_t i = 0; i < vc__columns(b->type); i++)
        out[i] = am ? vc__matrix_times_vector(a->part, inner, b->part[i]) : vc_dot(a->part[0], b->part[i]);
    if (!am) return vc__vector("vec", out, vc__columns(b->type));
    return vc__from_direct_parts(k, VC_MAT(vc__kind(a->type), vc__rows(a->type), vc__columns(b->type)), out);
}

static vc_val vc__matrix_equal(uint32_t op, uint32_t columns, const vc__math_operand *a, const vc__math_operand *b) {
    vc_val r = vc_all(vc_eq(a->part[0], b->part[0]));
    for (uint32_t i = 1; i < columns; i++) r = vc_and(r, vc_all(vc_eq(a->part[i], b->part[i])));
    return op == VC__OP_EQ ? r : vc_not(r);
}

/* Arithmetic and comparison of matrices, column by column. A product can have a scalar or vector operand, a quotient
   a scalar divisor. */
static vc_val vc__matrix_op(vc_kernel *k, const char *call, uint32_t op, uint32_t count, vc__math_operand *a,
                            vc__math_operand *b) {
    vc_type type = vc__is_matrix(a->type) ? a->type : b->type, kind = vc__scalar(type);
    uint32_t columns = vc__columns(type);
    bool scale = count > 1 && (a->type == kind || b->type == kind);
    vc_val out[4];
    if (op == VC__OP_MUL && !scale) return vc__matrix_mul(k, a, b);
    if (scale ? op != VC__OP_MUL && (op != VC__OP_DIV || a->type == kind)
              : op == VC__OP_DIV || (count > 1 && a->type != b->type)) {
        vc__fail_pair(k, call, a, b, "vc_add, vc_sub, vc_eq and vc_ne require matrices of the same type; vc_div "
                                     "requires a matrix and a scalar of its component type");
        return vc__no_value();
    }
    if (op == VC__OP_EQ || op == VC__OP_NE) return vc__matrix_equal(op, columns, a, b);
    for (uint32_t i = 0; i < columns; i++) {
        vc_val x = a->part[a->type == kind ? 0 : i], y = b->part[b->type == kind ? 0 : i];
        out[i] = count == 1 ? vc_neg(x) : vc__pure2(x, y, op);
    }
    return vc__from_direct_parts(k, type, out);
}

/* Converts v to the scalar type of `other` if it is an immediate that vc__adapts, and `other` a complex number or
   matrix. */
static vc_val vc__immediate_for(vc_kernel *k, const char *call, uint32_t which, vc_val v, vc_val other) {
    vc_type type = vc_typeof(other), kind = vc__scalar(type);
    vc__operand o;
    if (!vc__is_immediate(v) || !(vc__is_complex(type) || vc__is_matrix(type))) return v;
    if (!vc__operand_of(k, call, which, v, &o) || !vc__adapts(&o, kind)
        || !vc__adapt_immediate(k, call, which, &o, kind))
        return v;
    return vc_imm(kind, o.bits);
}

/* For operations with at least one composite operand. */
static vc_val vc__composite_op(vc_kernel *k, uint32_t ordered_op, uint32_t count, vc_val a, vc_val b, vc_val c) {
    static const uint8_t both[] = { VC__OP_NEG, VC__OP_ADD, VC__OP_SUB, VC__OP_MUL, VC__OP_DIV, VC__OP_EQ, VC__OP_NE };
    static const uint8_t complex_only[] = { VC__OP_ABS, VC__OP_EXP, VC__OP_LOG, VC__OP_SQRT, VC__OP_POW };
    const char *call = vc__ordered_op_name(ordered_op);
    vc__math_operand x, y;
    bool known = false;
    memset(&y, 0, sizeof y);
    if (count == 2 && !k->failed) {
        a = vc__immediate_for(k, call, 1, a, b);
        b = vc__immediate_for(k, call, 2, b, a);
    }
    if (k->failed || !vc__math_operand_of(k, call, 1, a, &x)
        || (count > 1 && !vc__math_operand_of(k, call, 2, b, &y)))
        return vc__no_value();
    bool matrix = vc__is_matrix(x.type) || vc__is_matrix(y.type);
    for (uint32_t i = 0; i < sizeof both; i++) known = known || both[i] == ordered_op;
    for (uint32_t i = 0; !matrix && i < sizeof complex_only; i++) known = known || complex_only[i] == ordered_op;
    if (known)
        return matrix ? vc__matrix_op(k, call, ordered_op, count, &x, &y)
               : vc__complex_op(k, call, ordered_op, count, &x, &y);
    if (vc__is_composite(a)) vc__fail_value(k, call, 1, a);
    else vc__fail_value(k, call, vc__is_composite(b) ? 2 : 3, vc__is_composite(b) ? b : c);
    return vc__no_value();
}

/* For functions that accept only complex numbers or, with `matrix`, only matrices. Returns the kernel. */
static vc_kernel *vc__complex_or_matrix(vc_val v, const char *call, bool matrix, vc__math_operand *out) {
    vc_kernel *k = vc__kernel_of(v);
    if (!vc__ready(k) || !vc__math_operand_of(k, call, 1, v, out)) return NULL;
    if (matrix ? vc__is_matrix(out->type) : vc__is_complex(out->type)) return k;
    vc__fail_call(k, call, VC__MUST_BE, out->type, matrix ? "a matrix" : "a complex number");
    return NULL;
}

/* The result of a call whose operand vc__complex_or_matrix has rejected. Without a kernel, the error is reported when
   the result is used. */
static vc_val vc__rejected(vc_val a, vc_val b, const char *call) {
    return vc__kernel_of_two(a, b) ? vc__no_value() : vc__result_without_kernel(a, b, call);
}

/* The kernel of two real scalars of one kind. */
static vc_kernel *vc__real_pair(vc_val a, vc_val b, const char *call, vc_type *kind) {
    vc_kernel *k = vc__kernel_of_two(a, b);
    const vc_val v[2] = { a, b };
    vc__operand o[2];
    if (!vc__ready(k) || !vc__operands_of(k, call, v, 2, o)) return NULL;
    *kind = o[0].type;
    if (o[0].type == o[1].type && vc__components(*kind) == 1 && vc__is_float(*kind)) return k;
    vc__fail_operands(k, call, 1, &o[0], 2, &o[1], "both must be scalars of the same type: f16, f32 or f64");
    return NULL;
}

VC_API vc_val vc_complex(vc_val re, vc_val im) {
    vc_type kind = VC_NONE;
    vc_kernel *k = vc__real_pair(re, im, "complex", &kind);
    vc_val part[2] = { re, im };
    if (!k) return vc__rejected(re, im, "complex");
    return vc__from_direct_parts(k, VC_COMPLEX(kind), part);
}

VC_API vc_val vc_polar(vc_val radius, vc_val angle) {
    vc_type kind = VC_NONE;
    vc_kernel *k = vc__real_pair(radius, angle, "polar", &kind);
    vc_val part[2];
    if (!k) return vc__rejected(radius, angle, "polar");
    if (!vc__kernel_of(angle)) angle = vc_const(k, angle);
    part[0] = vc_mul(radius, vc_cos(angle));
    part[1] = vc_mul(radius, vc_sin(angle));
    return vc__from_direct_parts(k, VC_COMPLEX(kind), part);
}

static vc_val vc__complex_part(vc_val z, uint32_t i, const char *call) {
    vc__math_operand f;
    return vc__complex_or_matrix(z, call, false, &f) ? f.part[i] : vc__rejected(z, z, call);
}
VC_API vc_val vc_re(vc_val z) { return vc__complex_part(z, 0, "re"); }
VC_API vc_val vc_im(vc_val z) { return vc__complex_part(z, 1, "im"); }

VC_API vc_val vc_conj(vc_val z) {
    vc__math_operand f;
    vc_kernel *k = vc__complex_or_matrix(z, "conj", false, &f);
    if (!k) return vc__rejected(z, z, "conj");
    f.part[1] = vc_neg(f.part[1]);
    return vc__from_direct_parts(k, f.type, f.part);
}

VC_API vc_val vc_arg(vc_val z) {
    vc__math_operand f;
    vc_kernel *k = vc__complex_or_matrix(z, "arg", false, &f);
    vc_val r;
    if (!k) return vc__rejected(z, z, "arg");
    vc__rule_record_of(k, vc__scalar(f.type), VC__RULE_angle, f.part, 2, &r, 1);
    return r;
}

VC_API vc_val vc_transpose(vc_val m) {
    vc__math_operand f;
    vc_kernel *k = vc__complex_or_matrix(m, "transpose", true, &f);
    vc_val out[4], row[4];
    if (!k) return vc__rejected(m, m, "transpose");
    for (uint32_t i = 0; i < vc__rows(f.type); i++) {
        for (uint32_t j = 0; j < vc__columns(f.type); j++) row[j] = vc_component(f.part[j], i);
        out[i] = vc__vector("vec", row, vc__columns(f.type));
    }
    return vc__from_direct_parts(k, VC_MAT(vc__kind(f.type), vc__columns(f.type), vc__rows(f.type)), out);
}

VC_API vc_val vc_outer(vc_val a, vc_val b) {
    vc_kernel *k = vc__kernel_of_two(a, b);
    vc__math_operand x, y;
    vc_val out[4];
    if (!k) return vc__rejected(a, b, "outer");
    if (k->failed || !vc__math_operand_of(k, "outer", 1, a, &x) || !vc__math_operand_of(k, "outer", 2, b, &y))
        return vc__no_value();
    bool fit = vc__is_type(x.type) && vc__is_type(y.type) && vc__kind(x.type) == vc__kind(y.type)
               && vc__components(x.type) > 1 && vc__components(y.type) > 1
               && (vc__kind(x.type) == VC_F32 || vc__kind(x.type) == VC_F64);
    if (!fit) return vc__fail_pair(k, "outer", &x, &y, "both must be vectors of f32 or both of f64");
    for (uint32_t i = 0; i < vc__components(y.type); i++) out[i] = vc_mul(a, vc_component(b, i));
    return vc__from_direct_parts(k, VC_MAT(vc__kind(x.type), vc__components(x.type), vc__components(y.type)), out);
}

/* The determinant of n columns and rows of a matrix, by expansion along the first column. columns, rows: their indices.
   Common-subexpression elimination merges equal minors. */
static vc_val vc__minor(vc_val m[4][4], const uint32_t *columns, const uint32_t *rows, uint32_t n) {
    uint32_t rest[3];
    vc_val sum = vc__no_value();
    if (n == 1) return m[columns[0]][rows[0]];
    if (n == 2)
        return vc_fma(m[columns[0]][rows[0]], m[columns[1]][rows[1]],
                      vc_neg(vc_mul(m[columns[1]][rows[0]], m[columns[0]][rows[1]])));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j + 1 < n; j++) rest[j] = rows[j < i ? j : j + 1];
        vc_val part = vc__minor(m, columns + 1, rest, n - 1);
        if (i & 1) part = vc_neg(part);
        sum = i ? vc_fma(m[columns[0]][rows[i]], part, sum) : vc_mul(m[columns[0]][rows[i]], part);
    }
    return sum;
}

/* m: elements by column and row. Returns the number of rows; 0 after an error. */
static uint32_t vc__square_matrix(vc_val v, const char *call, vc__math_operand *f, vc_val m[4][4], vc_kernel **k) {
    *k = vc__complex_or_matrix(v, call, true, f);
    if (!*k) return 0;
    uint32_t n = vc__rows(f->type);
    if (n != vc__columns(f->type))
        return VC__FAIL_FALSE(*k, call, VC__MUST_BE, f->type, "a square matrix");
    for (uint32_t i = 0; i < n; i++) for (uint32_t j = 0; j < n; j++) m[i][j] = vc_component(f->part[i], j);
    return n;
}

VC_API vc_val vc_determinant(vc_val v) {
    static const uint32_t all[4] = { 0, 1, 2, 3 };
    vc_val m[4][4];
    vc_kernel *k;
    vc__math_operand f;
    uint32_t n = vc__square_matrix(v, "determinant", &f, m, &k);
    return n ? vc__minor(m, all, all, n) : vc__rejected(v, v, "determinant");
}

/* The adjugate (the transposed matrix of cofactors) times the rounded reciprocal of the determinant. */
VC_API vc_val vc_inverse(vc_val v) {
    vc_val m[4][4], out[4], column[4];
    vc_kernel *k;
    vc__math_operand f;
    uint32_t n = vc__square_matrix(v, "inverse", &f, m, &k), columns[3], rows[3];
    if (!n) return vc__rejected(v, v, "inverse");
    vc_val det = vc_determinant(v);
    vc_val reciprocal = vc_div(vc_imm(vc__kind(f.type), vc__one_bits(vc__kind(f.type))), det);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            for (uint32_t l = 0; l + 1 < n; l++) { columns[l] = l < j ? l : l + 1; rows[l] = l < i ? l : l + 1; }
            column[j] = vc__minor(m, columns, rows, n - 1);
            if ((i + j) & 1) column[j] = vc_neg(column[j]);
        }
        out[i] = vc_mul(vc__vector("vec", column, n), reciprocal);
    }
    return vc__from_direct_parts(k, f.type, out);
}

/* vc_cast to a complex number or matrix, from one of another kind and the same shape, part by part. A real number is
   converted to a complex number with imaginary part 0. */
static vc_val vc__composite_cast(vc_type type, vc_val v) {
    vc_kernel *k = vc__kernel_of(v);
    vc__math_operand f;
    vc_type kind = vc__scalar(type);
    if (!k) return vc__result_without_kernel(v, v, "cast");
    if (!vc__ready(k) || !vc__math_operand_of(k, "cast", 1, v, &f)) return vc__no_value();
    if (vc__is_complex(type) && vc__is_type(f.type) && vc__components(f.type) == 1) f.part[1] = vc_imm(kind, 0);
    else if (!(vc__is_complex(type) && vc__is_complex(f.type))
             && !(vc__is_matrix(type) && vc__is_matrix(f.type) && (type & ~15u) == (f.type & ~15u)))
        return vc__fail_call(k, "cast", "operand 1 is %t, which cannot be converted to %t%s", f.type, type,
                             !vc__is_matrix(type)     ? ""
                             : vc__is_matrix(f.type) ? ": the numbers of rows and columns must be the same"
                                                     : "; build a matrix from its columns with vc_make");
    for (uint32_t i = 0; i < vc__direct_part_count(k, type); i++)
        if (vc__kernel_of(f.part[i])) f.part[i] = vc_cast(vc__direct_part(k, type, i).type, f.part[i]);
    return vc__from_direct_parts(k, type, f.part);
}

/* ---- memory: pieces of an object ---- */

/* The type of the elements of a split array, and their number in one instance of the composite type. */
typedef struct vc__split_array { vc_type type; uint32_t count; } vc__split_array;

/* Replaces *type, a composite type, by the type of the direct part that contains its split array number *l, and *l by
   the number of that array in the part. Returns the number of the part; VC__NIL: the elements of an array, which all
   have the same split arrays. */
static uint32_t vc__enter_part(const vc_kernel *k, vc_type *type, uint32_t *l) {
    const vc__user_type *user_type = vc__user_type_of(k, *type);
    uint32_t i = vc__direct_part_count(k, *type) - 1;
    if (user_type && user_type->element != VC_NONE) { *type = user_type->element; return VC__NIL; }
    while (i && vc__direct_part(k, *type, i).first_array > *l) i--;
    vc__field f = vc__direct_part(k, *type, i);
    *l -= f.first_array;
    *type = f.type;
    return i;
}

/* The number of elements is the product of the dimensions of the arrays on the path to the flat part. */
static vc__split_array vc__split_array_of(const vc_kernel *k, vc_type type, uint32_t l) {
    vc__split_array info = { type, 1 };
    while (!vc__is_type(info.type)) {
        uint32_t count = vc__direct_part_count(k, info.type);
        if (vc__enter_part(k, &info.type, &l) == VC__NIL) info.count *= count;
    }
    return info;
}

/* "p_position" for member `position` of p; NULL if the object has no name. */
static const char *vc__split_array_name(vc_kernel *k, const char *name, vc_type type, uint32_t l) {
    static const char *const pair[2] = { "re", "im" };
    char text[64], column[12];
    if (!name) return NULL;
    int used = snprintf(text, sizeof text, "%.24s", name);
    while (!vc__is_type(type)) {
        const vc__user_type *user_type = vc__user_type_of(k, type);
        bool is_complex = vc__is_complex(type);
        uint32_t i = vc__enter_part(k, &type, &l);
        if (i == VC__NIL) continue;
        snprintf(column, sizeof column, "%u", (unsigned)i);
        const char *part = user_type && user_type->field[i].name ? user_type->field[i].name
                           : is_complex ? pair[i & 1] : column;
        if (used < 48) used += snprintf(text + used, sizeof text - (size_t)used, "_%.12s", part);
    }
    return vc__arena_copy(k, text);
}

/* Adds a piece of the object `root` and returns its index. */
static uint32_t vc__add_piece(vc_kernel *k, uint32_t root, uint32_t op, const char *name, vc_type type, uint32_t count,
                              const uint64_t *data) {
    uint32_t piece = k->object_count, args = k->arg_count, node = VC__NIL;
    if (!k->failed) node = vc__add_object(k, NULL, op, k->object[root].access, type, count, data);
    if (node == VC__NIL) return VC__NIL;
    k->arg_count = args; /* a piece of an argument is not a separate argument */
    vc__object *o = &k->object[piece];
    o->name = name;
    o->arg = k->object[root].arg;
    o->composite = root;
    o->stored = k->object[root].stored;
    o->next = k->object[root].next;
    k->object[root].next = piece;
    return piece;
}

/* Adds the view if there is none. */
static uint32_t vc__view_of(vc_kernel *k, uint32_t root, vc_type type) {
    for (uint32_t i = k->object[root].next; i != VC__NIL; i = k->object[i].next)
        if (k->object[i].declared == type) return i;
    return vc__add_piece(k, root, VC__OP_BUFFER, k->object[root].name, type, 0, NULL);
}

/* Adds, in advance, every view that an access to elements of `type` may need, so that the order of the views depends
   on the type only, not on the accesses. Each struct or array type is visited only once per buffer. */
static void vc__make_views(vc_kernel *k, uint32_t root, vc_type type) {
    if (vc__is_type(type) || vc__is_complex(type)) {
        vc__view_of(k, root, vc__is_type(type) ? type : VC_VEC(vc__scalar(type), 2u));
        vc__view_of(k, root, vc__scalar(type));
        return;
    }
    const vc__user_type *user_type = vc__user_type_of(k, type);
    if (user_type) {
        uint32_t *viewed = &k->user_type[(type & 0xffffu) - VC__USER_TYPE].last_viewed_buffer;
        if (*viewed == root + 1) return;
        *viewed = root + 1;
    }
    /* the elements of an array, and the columns of a matrix, have one type */
    uint32_t count = user_type && user_type->element == VC_NONE ? vc__direct_part_count(k, type) : 1;
    for (uint32_t i = 0; i < count && !k->failed; i++) vc__make_views(k, root, vc__direct_part(k, type, i).type);
}

/* Sets `count` elements of a private array to zero, in a loop if there are more than 8. */
static void vc__zero_array(vc_kernel *k, uint32_t object, uint32_t count) {
    vc_type type = k->object[object].type;
    vc_ref r = vc__make_ref(k, k->object[object].node, type);
    vc_val zero = vc_imm(vc__scalar(type), 0);
    if (count > 8) VC_FOR(k, j, vc_u32(0), vc_u32(count)) { vc_store(r, j, zero); }
    else for (uint32_t i = 0; i < count; i++) vc_store(r, vc_u32(i), zero);
}

/* Copies the data of a table from the layout of C to split arrays. index: index of this instance of the type. */
static void vc__split_data(const vc_kernel *k, vc_type type, const unsigned char *data, uint64_t **arrays,
                           uint32_t index) {
    const vc__user_type *user_type = vc__user_type_of(k, type);
    if (vc__is_type(type)) {
        vc__read_table(type, data, arrays[0] + (size_t)index * vc__components(type), vc__components(type));
        return;
    }
    for (uint32_t i = 0; i < vc__direct_part_count(k, type); i++) {
        vc__field f = vc__direct_part(k, type, i);
        vc__split_data(k, f.type, data + f.offset, arrays + f.first_array,
                       user_type && user_type->element != VC_NONE ? index * user_type->count + i : index);
    }
}

/* Adds a piece for each split array of an object. data: the elements of a table. Sets the split arrays of a variable to
   zero if they have more than one element; the others are variables. */
static void vc__split_object(vc_kernel *k, uint32_t root, const void *data) {
    vc_type type = k->object[root].type;
    uint32_t op = k->object[root].op, count = k->object[root].count;
    uint32_t arrays = vc__layout_of(k, type).split_arrays, first = k->object_count;
    uint64_t **values = NULL;
    if (arrays > VC__MAX_PARTS) {
        vc__fail_call(k, vc__op_name[op],
                      "%m of type %t would be split into %u arrays of scalars or vectors, but the limit is %u",
                      &k->object[root], type, arrays, VC__MAX_PARTS);
        return;
    }
    if (data) values = (uint64_t **)vc__allocate(k, arrays * sizeof *values);
    for (uint32_t l = 0; l < arrays && !k->failed; l++) {
        vc__split_array info = vc__split_array_of(k, type, l);
        uint32_t all = info.count * count, as = op == VC__OP_VAR && all > 1 ? (uint32_t)VC__OP_ARRAY : op;
        if (data) {
            values[l] = (uint64_t *)vc__allocate(k, (size_t)all * vc__components(info.type) * sizeof(uint64_t));
            if (!values[l]) return;
        }
        vc__add_piece(k, root, as, vc__split_array_name(k, k->object[root].name, type, l), info.type, all,
                      data ? values[l] : NULL);
    }
    for (uint32_t i = 0; data && i < count && !k->failed; i++)
        vc__split_data(k, type, (const unsigned char *)data + (size_t)i * vc__layout_of(k, type).size, values, i);
    for (uint32_t l = 0; op == VC__OP_VAR && l < arrays && !k->failed; l++)
        if (k->object[first + l].op == VC__OP_ARRAY) vc__zero_array(k, first + l, k->object[first + l].count);
}

/* A ref to a new object, whose pieces or views are added. data: as for vc__split_object */
static vc_ref vc__object_ref(vc_kernel *k, uint32_t node, vc_type type, const void *data) {
    vc_ref r = vc__make_ref(k, node, type);
    if (node == VC__NIL || vc__is_type(type)) return r;
    r.inside = VC__INSIDE_PATH;
    if (k->node[node].op == VC__OP_VAR) r.inside |= VC__INSIDE_ELEMENT;
    if (k->node[node].op != VC__OP_BUFFER) vc__split_object(k, k->node[node].x, data);
    else vc__make_views(k, k->node[node].x, type);
    return k->failed ? vc__no_ref() : r;
}

/* Adds a piece for each flat part of a parameter, in order. offset: of `type` in the parameter, in bytes */
static void vc__split_param(vc_kernel *k, uint32_t root, vc_type type, uint32_t offset, uint32_t array,
                            vc__flat_parts *out) {
    if (vc__is_type(type)) {
        const char *name = vc__split_array_name(k, k->object[root].name, k->object[root].type, array);
        uint32_t piece = vc__add_piece(k, root, VC__OP_PARAM, name, type, 1, NULL);
        if (piece == VC__NIL) return;
        k->object[piece].offset = offset;
        out->node[out->count++] = k->object[piece].node;
        return;
    }
    for (uint32_t i = 0; i < vc__direct_part_count(k, type) && !k->failed; i++) {
        vc__field f = vc__direct_part(k, type, i);
        vc__split_param(k, root, f.type, offset + f.offset, array + f.first_array, out);
    }
}

static vc_val vc__composite_param(vc_kernel *k, const char *name, vc_type type) {
    vc__flat_parts all;
    uint32_t root = k->object_count;
    if (!vc__check_parts(k, "param", type)
        || vc__add_object(k, name, VC__OP_PARAM, VC_READ, type, 1, NULL) == VC__NIL)
        return vc__no_value();
    all.count = 0;
    vc__split_param(k, root, type, 0, 0, &all);
    vc_val v = k->failed ? vc__no_value() : vc__composite_value(k, type, all.node, all.count);
    if (v.owner) k->node[(uint32_t)v.bits].region = 0; /* usable in every block, like its flat parts */
    return v;
}

/* A store to a piece or view marks all pieces or views of the object. */
static void vc__mark_stored(vc_kernel *k, vc__object *o) {
    uint32_t root = o->composite == VC__NIL ? (uint32_t)(o - k->object) : o->composite;
    o->stored = k->object[root].stored = true;
    for (uint32_t i = k->object[root].next; i != VC__NIL; i = k->object[i].next) k->object[i].stored = true;
}

/* ---- memory: paths to parts ---- */

/* Appends a step to the path of a ref: (index + constant) elements of type `element`. `array`: the type that is
   indexed; VC_NONE: the object. A step of 0 is omitted. PATH node: a[0]: previous step; a[1]: index; a[2]: first split
   array of the element (low half; not used for buffers) and `array` (high half); x: constant. A path of constants may
   be used after the block that records it, as the offset of a ref without a path may be. */
static void vc__push_path(vc_kernel *k, vc_ref *r, vc_type array, vc_type element, uint32_t index, int64_t constant) {
    uint32_t flags = index == VC__NIL ? 0 : k->node[index].flags & VC__NODE_VARIES;
    uint32_t before = r->path ? r->path - 1 : VC__NIL;
    if (index == VC__NIL && !constant) return;
    bool constants = index == VC__NIL && (before == VC__NIL || !k->node[before].region);
    uint32_t n = vc__record(k, VC__OP_PATH, flags, element, before, index,
                            (r->split_array & 0xffffu) | (array & 0xffffu) << 16, (uint32_t)(int32_t)constant);
    if (n != VC__NIL && constants) k->node[n].region = 0;
    r->path = n == VC__NIL ? 0 : n + 1;
}

static bool vc__fail_element(vc_kernel *k, const char *call, const vc_ref *r, int64_t i) {
    const vc__object *o = &k->object[k->node[r->memory].x];
    if (r->inside & VC__INSIDE_ELEMENT)
        vc__fail_call(k, call, "element %lld of %t in %m is out of range", (long long)i, r->type, o);
    else if (o->count)
        vc__fail_call(k, call, "element %lld is out of range: the last one of %m is %u", (long long)i, o, o->count - 1);
    else /* a buffer, whose length is unknown */
        vc__fail_call(k, call, "element %lld of %m is negative", (long long)i, o);
    return false;
}

/* Fails if a constant element index is not within the object or does not fit into a node. */
static bool vc__check_element(vc_kernel *k, const char *call, const vc_ref *r) {
    const vc__object *o = &k->object[k->node[r->memory].x];
    if (!r->index && (r->offset < 0 || (o->count && r->offset >= o->count)))
        return vc__fail_element(k, call, r, r->offset);
    if (r->offset >= INT32_MIN && r->offset <= INT32_MAX) return true;
    return VC__FAIL_FALSE(k, call,
                          "the constant offset %lld into %m does not fit into 32 bits; pass it as a 64-bit value with "
                          "vc_const", (long long)r->offset, o);
}

/* Converts a ref without VC__INSIDE_ELEMENT to a ref to its first element. */
static bool vc__enter_first(vc_kernel *k, const char *call, vc_ref *r) {
    if (r->inside & VC__INSIDE_ELEMENT) return true;
    if (r->inside & VC__INSIDE_PATH) {
        if (!vc__check_element(k, call, r)) return false;
        vc__push_path(k, r, VC_NONE, r->type, r->index ? r->index - 1 : VC__NIL, r->offset);
        r->index = 0;
        r->offset = 0;
    }
    r->inside |= VC__INSIDE_ELEMENT;
    return !k->failed;
}

/* Converts a ref to an element that is an array to a ref to element i of that array. */
static bool vc__enter_element(vc_kernel *k, const char *call, vc_ref *r, vc_val i) {
    const vc__user_type *user_type = vc__user_type_of(k, r->type);
    vc_ref step;
    memset(&step, 0, sizeof step);
    if (!vc__advance_ref(k, call, &step, i)) return false;
    if (!user_type || user_type->element == VC_NONE) {
        if (!step.index && !step.offset) return true; /* index 0 of a single element is allowed, as for a C pointer */
        return VC__FAIL_FALSE(k, call, "the ref points to a single %t, which has no elements%s", r->type,
                              user_type ? "; use vc_field for members" : "");
    }
    if (!step.index && (step.offset < 0 || step.offset >= user_type->count))
        return vc__fail_element(k, call, r, step.offset);
    r->type = user_type->element;
    vc__push_path(k, r, user_type->type, user_type->element, step.index ? step.index - 1 : VC__NIL, step.offset);
    return !k->failed;
}

/* vc_at */
static bool vc__enter_at(vc_kernel *k, const char *call, vc_ref *r, vc_val i) {
    const vc__object *o = &k->object[k->node[r->memory].x];
    if (r->inside & VC__INSIDE_ELEMENT) return vc__enter_element(k, call, r, i);
    if (o->op == VC__OP_VAR)
        return VC__FAIL_FALSE(k, call, "variable '%s' has no elements; use vc_get and vc_set", o->name);
    return vc__advance_ref(k, call, r, i) && vc__enter_first(k, call, r);
}

VC_API vc_ref vc_at(vc_ref ref, vc_val i) {
    vc_kernel *k = vc__kernel_of_ref("at", &ref, i, i);
    if (!vc__ready(k) || !vc__object_of(k, "at", &ref) || !vc__enter_at(k, "at", &ref, i)) return vc__no_ref();
    return ref;
}

/* Begins a call on a ref without other operands. Returns its object. */
static vc__object *vc__ref_begin(const char *call, const vc_ref *r) {
    vc_kernel *k = vc__kernel_of_ref(call, r, vc__no_operand(), vc__no_operand());
    return vc__ready(k) ? vc__object_of(k, call, r) : NULL;
}

VC_API vc_ref vc_field(vc_ref ref, uint32_t member) {
    vc_kernel *k = ref.kernel;
    if (!vc__ref_begin("field", &ref) || !vc__enter_first(k, "field", &ref)) return vc__no_ref();
    const vc__user_type *user_type = vc__user_type_of(k, ref.type);
    if (vc__is_type(ref.type) || (user_type && user_type->element != VC_NONE))
        vc__fail_call(k, "field", "the ref points to %t, which has no members%s", ref.type,
                      user_type                      ? "; use vc_at for elements"
                      : vc__components(ref.type) > 1 ? "; load it and use vc_component"
                                                     : "");
    else if (member >= vc__direct_part_count(k, ref.type)) vc__fail_part(k, "field", ref.type, member);
    if (k->failed) return vc__no_ref();
    vc__field f = vc__direct_part(k, ref.type, member);
    ref.type = f.type;
    ref.byte += f.offset;
    ref.split_array += f.first_array;
    return ref;
}

/* Whether the byte offset of a ref in its buffer is a multiple of `unit` for all indices. */
static bool vc__is_aligned_to(const vc_kernel *k, const vc_ref *r, uint32_t unit) {
    if (r->byte % unit) return false;
    for (uint32_t p = r->path ? r->path - 1 : VC__NIL; p != VC__NIL; p = k->node[p].a[0])
        if (vc__layout_of(k, vc__node_type(k, p)).size % unit) return false;
    return true;
}

/* index * factor + sum. buffer: the result is an index into a buffer */
static uint32_t vc__record_index(vc_kernel *k, uint32_t index, uint32_t sum, uint32_t factor, bool buffer) {
    if (factor == 1 && sum == VC__NIL) return index;
    uint32_t flags = (k->node[index].flags | (sum == VC__NIL ? 0u : k->node[sum].flags)) & VC__NODE_VARIES;
    return vc__record(k, VC__OP_INDEX, flags, VC_I64, index, sum, buffer, factor);
}

/* Defined in room `derived`. */
static void vc__check_arrays(vc_kernel *k, const char *call, const vc_ref *r, vc_ref *piece);

/* Converts a ref to memory of a composite type to a ref to its split array or, in a buffer, to the view as an array of
   `type`, of whose size the offset must be a multiple for all indices. */
static vc_ref vc__piece_ref(vc_kernel *k, const char *call, const vc_ref *r, vc_type type) {
    uint32_t root = k->node[r->memory].x, unit = vc_type_size(type), sum = VC__NIL;
    bool buffer = k->object[root].op == VC__OP_BUFFER;
    uint32_t piece = buffer ? vc__view_of(k, root, type) : root + 1 + r->split_array;
    if (piece == VC__NIL) return vc__no_ref();
    vc_ref out = vc__make_ref(k, k->object[piece].node, type);
    out.memory_order = r->memory_order;
    out.offset = buffer ? r->byte / unit : 0;
    for (uint32_t p = r->path ? r->path - 1 : VC__NIL; p != VC__NIL; p = k->node[p].a[0]) {
        const vc__node *n = &k->node[p];
        type = vc__node_type(k, p);
        uint32_t factor = buffer ? vc__layout_of(k, type).size / unit
                                 : vc__split_array_of(k, type, r->split_array - (n->a[2] & 0xffffu)).count;
        out.offset += (int64_t)(int32_t)n->x * factor;
        if (n->a[1] != VC__NIL) sum = vc__record_index(k, n->a[1], sum, factor, buffer);
    }
    out.index = sum == VC__NIL ? 0 : sum + 1;
    if (k->checks) vc__check_arrays(k, call, r, &out);
    return out;
}

/* The type as which a vector is accessed: the vector type or, in a buffer where the offset may not be a multiple of its
   size, the scalar type. */
static vc_type vc__access_type(vc_kernel *k, const vc_ref *r, vc_type type) {
    bool buffer = k->object[k->node[r->memory].x].op == VC__OP_BUFFER;
    return !buffer || vc__is_aligned_to(k, r, vc_type_size(type)) ? type : vc__scalar(type);
}

/* Converts a ref to a scalar or vector in memory of a composite type to a ref to its piece. If there is none, because
   the element is composite, or a vector in a buffer whose offset may not be a multiple of its size, returns false, and
   *r is a ref to the first element. Also returns false after an error. */
static bool vc__flatten(vc_kernel *k, const char *call, vc_ref *r) {
    if (!(r->inside & VC__INSIDE_PATH)) { r->inside = 0; return true; }
    if (!vc__enter_first(k, call, r) || !vc__is_type(r->type) || vc__access_type(k, r, r->type) != r->type)
        return false;
    *r = vc__piece_ref(k, call, r, r->type);
    return r->kernel != NULL;
}

/* Applies an index to a ref to memory of a composite type or to one element. */
static bool vc__index_inside(vc_kernel *k, const char *call, vc_ref *r, vc_val elements) {
    if (!vc__enter_at(k, call, r, elements)) return false;
    vc__flatten(k, call, r);
    return !k->failed;
}

/* Scalar i of a vector or complex number in a buffer. */
static vc_ref vc__scalar_ref(vc_kernel *k, const char *call, const vc_ref *r, uint32_t i) {
    vc_ref at = *r;
    at.byte += i * vc__scalar_bytes(r->type);
    return vc__piece_ref(k, call, &at, vc__scalar(r->type));
}

static vc_val vc__load_ref(vc_kernel *k, const char *call, vc_ref at) {
    return at.kernel ? vc__load(k, call, &at) : vc__no_value();
}

/* Loads a scalar or vector of type `type`: r->type or, for a complex number in a buffer, the vector of two. Loads the
   scalars one by one if the offset in a buffer may not be a multiple of the size of a vector. */
static vc_val vc__load_vector(vc_kernel *k, const char *call, const vc_ref *r, vc_type type) {
    vc_val part[4];
    if (vc__access_type(k, r, type) == type) return vc__load_ref(k, call, vc__piece_ref(k, call, r, type));
    for (uint32_t i = 0; i < vc__components(type); i++) {
        part[i] = vc__load_ref(k, call, vc__scalar_ref(k, call, r, i));
        if (!part[i].owner) return vc__no_value();
    }
    return vc__vector("vec", part, vc__components(type));
}

/* Stores a scalar or vector as vc__load_vector loads it. `value` has this type, so that no message names it as operand
   3. */
static void vc__store_vector(vc_kernel *k, const char *call, const vc_ref *r, vc_type type, vc_val value) {
    vc_ref at;
    if (!value.owner) return;
    if (vc__access_type(k, r, type) == type) {
        at = vc__piece_ref(k, call, r, type);
        if (at.kernel) vc__store(k, call, &at, 3, value);
        return;
    }
    for (uint32_t i = 0; i < vc__components(type); i++) {
        at = vc__scalar_ref(k, call, r, i);
        if (at.kernel) vc__store(k, call, &at, 3, vc_component(value, i));
    }
}

static vc_ref vc__ref_part(vc_kernel *k, const vc_ref *r, uint32_t i) {
    const vc__user_type *user_type = vc__user_type_of(k, r->type);
    return user_type && user_type->element != VC_NONE ? vc_at(*r, vc_u32(i)) : vc_field(*r, i);
}

/* A complex number in a buffer is accessed as a vector of two. */
static bool vc__is_buffer_complex(const vc_kernel *k, const vc_ref *r) {
    return vc__is_complex(r->type) && k->object[k->node[r->memory].x].op == VC__OP_BUFFER;
}

static void vc__load_parts(vc_kernel *k, const char *call, const vc_ref *r, vc__flat_parts *out) {
    if (vc__is_type(r->type) || vc__is_buffer_complex(k, r)) {
        vc_val v = vc__load_vector(k, call, r, vc__is_type(r->type) ? r->type : VC_VEC(vc__scalar(r->type), 2u));
        if (!v.owner) return;
        if (vc__is_type(r->type)) out->node[out->count++] = (uint32_t)v.bits;
        else for (uint32_t i = 0; i < 2; i++) out->node[out->count++] = vc__record_component(k, (uint32_t)v.bits, i);
        return;
    }
    for (uint32_t i = 0; i < vc__direct_part_count(k, r->type) && !k->failed; i++) {
        vc_ref part = vc__ref_part(k, r, i);
        if (part.kernel) vc__load_parts(k, call, &part, out);
    }
}

/* *next: index in `from` of the next part to store */
static void vc__store_parts(vc_kernel *k, const char *call, const vc_ref *r, const vc__flat_parts *from,
                            uint32_t *next) {
    if (vc__is_type(r->type)) { vc__store_vector(k, call, r, r->type, vc__value(k, from->node[(*next)++])); return; }
    if (vc__is_buffer_complex(k, r)) {
        vc_type type = VC_VEC(vc__scalar(r->type), 2u);
        uint32_t node = vc__record_vec(k, type, from->node + *next, 2);
        *next += 2;
        vc__store_vector(k, call, r, type, vc__value(k, node));
        return;
    }
    for (uint32_t i = 0; i < vc__direct_part_count(k, r->type) && !k->failed; i++) {
        vc_ref part = vc__ref_part(k, r, i);
        if (part.kernel) vc__store_parts(k, call, &part, from, next);
    }
}

/* vc_load of an element inside memory of a composite type. */
static vc_val vc__load_inside(vc_kernel *k, const char *call, const vc_ref *r) {
    vc__flat_parts all;
    vc_ref at = *r;
    if (!vc__object_of(k, call, &at)) return vc__no_value();
    if (vc__flatten(k, call, &at)) return vc__load_ref(k, call, at);
    if (k->failed || !vc__check_parts(k, call, at.type)) return vc__no_value();
    if (vc__is_type(at.type)) return vc__load_vector(k, call, &at, at.type);
    all.count = 0;
    vc__load_parts(k, call, &at, &all);
    return k->failed ? vc__no_value() : vc__composite_value(k, at.type, all.node, all.count);
}

/* which: number of the operand `value` */
static void vc__store_inside(vc_kernel *k, const char *call, const vc_ref *r, uint32_t which, vc_val value) {
    vc__flat_parts all;
    vc_ref at = *r;
    uint32_t next = 0;
    if (!vc__object_of(k, call, &at)) return;
    if (vc__flatten(k, call, &at)) {
        vc__store(k, call, &at, which, value);
        return;
    }
    if (k->failed || vc__fail_in_switch(k, call) || !vc__check_parts(k, call, at.type)) return;
    all.count = vc__fit_flat_parts(k, call, which, value, at.type, all.node);
    if (all.count) vc__store_parts(k, call, &at, &all, &next);
}

// >>public
/* Public functions: they check their arguments and record nodes. Also the analysis of divergent control flow. */

VC_API uint32_t vc_type_size(vc_type type) {
    if (type >> 31) return type == 0xffffffffu ? 0 : type & 0x7fffffffu;
    if (!vc__is_type(type) && !vc__is_complex(type) && !vc__is_matrix(type)) return 0;
    return vc__scalar_bytes(type) * vc__rows(type) * (vc__is_complex(type) ? 2 : vc__columns(type));
}
VC_API const char *vc_type_name(vc_type type) {
#define VC__MATRIX_NAMES(t) \
    { t "x2x2", t "x3x2", t "x4x2" }, { t "x2x3", t "x3x3", t "x4x3" }, { t "x2x4", t "x3x4", t "x4x4" }
    static const char *const complex_names[3] = { "complex f16", "complex f32", "complex f64" };
    static const char *const matrix[2][3][3] = { { VC__MATRIX_NAMES("f32") }, { VC__MATRIX_NAMES("f64") } };
    if (vc__is_complex(type)) return complex_names[vc__kind(type) - VC_F16];
    if (vc__is_matrix(type)) return matrix[vc__kind(type) - VC_F32][vc__columns(type) - 2][vc__rows(type) - 2];
    return type >> 31          ? "struct"
           : vc__is_type(type) ? vc__kind_names[vc__kind(type)][vc__components(type) - 1]
                               : "none";
}

/* ---- kernels ---- */

static void vc__resolve_local_size(vc_kernel *k) {
    uint32_t *size = k->desc.local_size;
    const vc_machine *m = &k->desc.machine;
    uint64_t product = 1;
    if (!size[0] && !size[1] && !size[2]) size[0] = 128;
    if (!size[2]) size[2] = 1;
    if (!size[1] && size[2] == 1) size[1] = 1;
    for (uint32_t i = 0; i < 3; i++) {
        product = product > 0x7fffffffu ? product : product * size[i];
        if (!size[i]) vc__fail_call(k, NULL, "local_size[%u] is 0, but only trailing sizes may be 0", i);
        if (m->max_local_size[i] && size[i] > m->max_local_size[i])
            VC__FAIL_MACHINE(k, "local_size[%u] is %u, but the device's limit is %u", i, size[i], m->max_local_size[i]);
    }
    if (product > 0x7fffffffu)
        vc__fail_call(k, NULL, "local_size is %u x %u x %u, but the limit is 2^31 - 1 invocations", size[0], size[1],
                      size[2]);
    if (m->max_local_invocations && product > m->max_local_invocations)
        VC__FAIL_MACHINE(k, "local_size is %u x %u x %u, but the device's limit is %u invocations", size[0], size[1],
                         size[2], m->max_local_invocations);
}

/* Checks the desc except local_size. Resets an invalid `buffers` or `spirv_version`, so that later code can rely on
   them although the kernel has failed. Sets desc.checked from the environment and machine.debug. */
static void vc__check_desc(vc_kernel *k) {
    const vc_allocator *a = &k->desc.allocator;
    uint32_t version = k->desc.machine.spirv_version;
    if ((a->allocate || a->reallocate || a->release) && !vc__is_allocator(a))
        vc__fail_call(k, NULL, "desc.allocator.%s is NULL; set allocate, reallocate and release, or none",
                      !a->allocate ? "allocate" : !a->reallocate ? "reallocate" : "release");
    if ((uint32_t)k->desc.buffers > VC_BUFFERS_BINDING) {
        vc__fail_call(k, NULL, "desc.buffers is %u, but must be VC_BUFFERS_DEFAULT, VC_BUFFERS_ADDRESS or "
                               "VC_BUFFERS_BINDING", k->desc.buffers);
        k->desc.buffers = VC_BUFFERS_DEFAULT;
    }
    if (version && (version < 0x10300u || version > 0x10600u || version & 0xffu)) {
        vc__fail_call(k, NULL, "machine.spirv_version is 0x%x, but must be 0x10300, 0x10400, 0x10500, 0x10600, or 0 "
                               "for 0x10300", version);
        k->desc.machine.spirv_version = 0;
    }
    const char *check = getenv("VKDISPATCH_CHECK_KERNELS");
    if (!check || !*check) k->desc.checked |= k->desc.machine.debug;
    else if (strcmp(check, "1") == 0) k->desc.checked = true;
    else if (strcmp(check, "0") != 0)
        vc__fail_call(k, NULL, "the environment variable VKDISPATCH_CHECK_KERNELS is '%.40s', but must be 0 or 1",
                      check);
    uint64_t missing = k->desc.machine.missing_features & VC__ADDRESS_FEATURES;
    if (k->desc.buffers == VC_BUFFERS_ADDRESS && missing)
        VC__FAIL_MACHINE(k, "desc.buffers is VC_BUFFERS_ADDRESS, which requires VC_FEATURE_ADDRESS and "
                            "VC_FEATURE_I64; the device lacks %s",
                         missing == VC_FEATURE_ADDRESS ? "VC_FEATURE_ADDRESS"
                         : missing == VC_FEATURE_I64   ? "VC_FEATURE_I64"
                                                       : "both");
}

/* Defined in room `derived`, because they use the output buffer. */
static void vc__declare_checks(vc_kernel *k);
static void vc__report_checks(vc_kernel *k);
static void vc__report_checks_at_end(vc_kernel *k);

/* k is zero except for its allocator, or was used before; its memory is kept. */
static void vc__reset(vc_kernel *k, const vc_kernel_desc *desc) {
    vc__call_without_kernel = NULL;
    memset(k, 0, offsetof(struct vc_kernel, generation));
    memset((char *)k + offsetof(struct vc_kernel, extra_count), 0,
           offsetof(struct vc_kernel, output) - offsetof(struct vc_kernel, extra_count));
    k->generation = (k->generation + 1) & 0x7fffffffu;
    k->node_limit = k->capacity;
    k->closed_from = k->output = VC__NIL;
    for (uint32_t i = 0; i < VC__VARIANTS; i++)
        k->variant[i].words_version = k->variant[i].text_version = k->variant[i].info_version = 0;
    vc__arena_rewind(&k->arena);
    if (desc) k->desc = *desc; else memset(&k->desc, 0, sizeof k->desc);
    k->desc.name = desc && desc->name ? vc__arena_copy(k, desc->name) : NULL;
    k->desc.threads_of = desc && desc->threads_of ? vc__arena_copy(k, desc->threads_of) : NULL;
    vc__open_block(k, VC__NIL, VC__OP_NONE, 0, VC_NONE, VC__NIL, VC__NIL);
    vc__resolve_local_size(k);
    vc__check_desc(k);
    vc__declare_checks(k);
}

VC_API vc_kernel *vc_begin(const vc_kernel_desc *desc) {
    vc_allocator a = vc__allocator_of(desc);
    vc_kernel *k = (vc_kernel *)a.allocate(a.user, sizeof *k);
    vc__call_without_kernel = NULL;
    if (!k) return NULL;
    memset(k, 0, sizeof *k);
    k->allocator = a;
    vc__reset(k, desc);
    return k;
}

VC_API vc_kernel *vc_begin_with(const vc_kernel_desc *desc, const char *name, uint32_t x, uint32_t y, uint32_t z,
                                void (*body)(vc_kernel *k)) {
    vc_kernel_desc full;
    if (desc) full = *desc; else memset(&full, 0, sizeof full);
    if (!full.name) full.name = name;
    if (!full.local_size[0] && !full.local_size[1] && !full.local_size[2]) {
        full.local_size[0] = x;
        full.local_size[1] = y;
        full.local_size[2] = z;
    }
    vc_kernel *k = vc_begin(&full);
    if (k && body) body(k);
    else if (k) vc__fail_call(k, "begin_with", "body is NULL");
    return k;
}

VC_API void vc_restart(vc_kernel *k, const vc_kernel_desc *desc) { if (k) vc__reset(k, desc); }

static void vc__release(const vc_allocator *a, void *block) { if (block) a->release(a->user, block); }

/* Pointers to memory from the kernel's allocator, except those in arrays. */
static const uint16_t vc__blocks[] = {
    offsetof(struct vc_kernel, node), offsetof(struct vc_kernel, anchor), offsetof(struct vc_kernel, block),
    offsetof(struct vc_kernel, object), offsetof(struct vc_kernel, user_type), offsetof(struct vc_kernel, format),
    offsetof(struct vc_kernel, extra), offsetof(struct vc_kernel, lower.node), offsetof(struct vc_kernel, lower.extra),
    offsetof(struct vc_kernel, lower.slot), offsetof(struct vc_kernel, lower.map),
    offsetof(struct vc_kernel, lower.stack), offsetof(struct vc_kernel, lower.sorted),
    offsetof(struct vc_kernel, lower.region_start), offsetof(struct vc_kernel, lower.leaf),
    offsetof(struct vc_kernel, dump.data)
};

VC_API void vc_free(vc_kernel *k) {
    if (!k) return;
    vc_allocator a = k->allocator;
    for (size_t i = 0; i < sizeof vc__blocks / sizeof *vc__blocks; i++) {
        void *block;
        memcpy(&block, (char *)k + vc__blocks[i], sizeof block);
        vc__release(&a, block);
    }
    for (uint32_t i = 0; i < VC__VARIANTS; i++) {
        vc__release(&a, k->variant[i].words.data);
        vc__release(&a, k->variant[i].text.data);
        vc__release(&a, k->variant[i].arg);
        vc__release(&a, k->variant[i].implicit);
    }
    for (uint32_t i = 0; i < 8; i++) vc__release(&a, k->section[i].data);
    vc__arena_free(&a, &k->arena);
    a.release(a.user, k);
}

static const char *vc__block_name(uint32_t op) {
    switch (op) {
    case VC__OP_IF: return "VC_IF";
    case VC__OP_ELSE: return "VC_ELSE";
    case VC__OP_FOR: return "VC_FOR";
    case VC__OP_LOOP: return "VC_LOOP";
    case VC__OP_SWITCH: return "VC_SWITCH";
    case VC__OP_CASE: return "VC_CASE";
    case VC__OP_DEFAULT: return "VC_DEFAULT";
    default: return "a block";
    }
}

VC_API void vc_source_line(const char *file, int line) {
    vc__current_position.file = file;
    vc__current_position.line = line;
}

VC_API uint32_t vc_invocations(const vc_kernel *k) { return k ? vc__invocations(k) : 0; }

/* An open block is reported but is not an error of the kernel, so vc_error can be called while the kernel is being
   recorded. Reports the outermost open block: if C code leaves a block without closing it, the end of the enclosing
   block closes the inner block instead, and the enclosing one stays open. */
VC_API const char *vc_error(vc_kernel *k) {
    if (!k) return "the kernel is NULL: vc_begin ran out of host memory or was not called";
    if (!k->failed && vc__call_without_kernel) {
        vc__position current = vc__current_position;
        vc__current_position = vc__position_without_kernel;
        vc__fail_call(k, vc__call_without_kernel,
                      "the ref or image was never set; no operand identifies the kernel, so this may be an error of "
                      "another kernel");
        vc__call_without_kernel = NULL;
        vc__current_position = current;
    }
    if (k->failed || k->invalid_request) return k->error;
    if (!k->open_block) return NULL;
    const vc__block *b = &k->block[k->open_block];
    while (b->parent) b = &k->block[b->parent];
    const vc__node *n = &k->node[k->anchor[b->open].node];
    bool guard = b->flags & VC__BLOCK_GUARD, has_condition = !guard && vc__op[b->op].operands == 1;
    snprintf(k->error, sizeof k->error,
             "kernel '%s': %s%s%s (statement %u) was not closed: C code left it, or a block inside it, by break, "
             "continue, goto or return",
             vc__name(k), guard ? "VC_EACH" : vc__block_name(b->op), has_condition ? " of " : "",
             has_condition ? vc__node_text(k, &k->node[n->a[0]]).text : "", b->open);
    return k->error;
}

static vc_buffers vc__default_buffers(const vc_kernel *k) {
    if (k->desc.buffers) return k->desc.buffers;
    return k->desc.machine.missing_features & VC__ADDRESS_FEATURES ? VC_BUFFERS_BINDING : VC_BUFFERS_ADDRESS;
}

/* Targets whose output is text, indexed by vc_target. dialect is NULL if `without` excludes the target. */
static const struct { const char *language, *without; const vc__dialect *dialect; } vc__text_targets[] = {
    { NULL, NULL, NULL }, { NULL, NULL, NULL },
    { "GLSL", "VKDISPATCH_NO_GLSL", VC__HAS_GLSL ? &vc__glsl : NULL },
    { "CUDA C", "VKDISPATCH_NO_CUDA_C", VC__HAS_CUDA_C ? &vc__cuda : NULL },
    { "OpenCL C", "VKDISPATCH_NO_OPENCL_C", VC__HAS_OPENCL_C ? &vc__opencl : NULL }
};

static bool vc__is_text(vc_target target) {
    return target == VC_TARGET_GLSL || target == VC_TARGET_CUDA || target == VC_TARGET_OPENCL;
}
static bool vc__is_compiled_out(vc_target target) { return vc__is_text(target) && !vc__text_targets[target].dialect; }

/* Prints one variant of the kernel, unless it is up to date. VC_TARGET_NONE: only the reflection (vc_info). CUDA C and
   OpenCL C ignore `buffers`. */
static bool vc__build(vc_kernel *k, vc_target target, vc_buffers buffers) {
    vc__listing l;
    bool ok;
    if (k) k->invalid_request = false;
    if (vc_error(k)) return false;
    vc__report_checks_at_end(k);
    if (k->failed) return false;
    if (vc__is_c(target)) buffers = vc__is_cuda(target) ? VC_BUFFERS_ADDRESS : VC_BUFFERS_BINDING;
    if (k->output != VC__NIL) k->object[k->output].arg = k->arg_count;
    vc__variant *f = vc__variant_of(k, target, buffers);
    if ((target == VC_TARGET_SPIRV  ? f->words_version
         : target == VC_TARGET_NONE ? f->info_version
                                    : f->text_version)
        == k->count + 1)
        return true;
    /* reuse the memory of the old module, which is out of date */
    if (target == VC_TARGET_SPIRV) vc__swap_nodes(k, &f->words);
    if (!vc__schedule(k, target == VC_TARGET_NONE ? VC_TARGET_SPIRV : target, buffers, &l)
        || !vc__reflect_listing(k, &l))
        return false;
    f->info_version = k->count + 1;
    if (target == VC_TARGET_NONE) return true;
    k->words = f->words;
    k->text = f->text;
    /* the variant's other output, text or words, may be up to date: keep it */
    if (target == VC_TARGET_SPIRV) k->words.count = 0; else k->text.length = 0;
    if (vc__is_glsl(target) || vc__is_c(target)) ok = vc__p_print(k, &l, vc__text_targets[target].dialect);
    else ok = vc__spirv_print(k, &l, &f->skip);
    f->words = k->words;
    f->text = k->text;
    if (!ok || k->failed) return false;
    if (target == VC_TARGET_SPIRV) f->words_version = k->count + 1; else f->text_version = k->count + 1;
    return true;
}

/* Fails if a target does not exist, is not compiled in or, with `text`, is SPIR-V; the kernel stays usable. */
static bool vc__check_target(vc_kernel *k, const char *call, vc_target target, bool text) {
    if (!vc__ready(k)) return false;
    uint32_t node_limit = k->node_limit;
    k->invalid_request = false;
    if (text && !vc__is_text(target))
        vc__fail_call(k, call, "target is %d, but must be VC_TARGET_GLSL, VC_TARGET_CUDA or VC_TARGET_OPENCL",
                      (int)target);
    else if (target != VC_TARGET_NONE && target != VC_TARGET_SPIRV && !vc__is_text(target))
        vc__fail_call(k, call, "target is %d, which is not a vc_target", (int)target);
    else if (vc__is_compiled_out(target))
        vc__fail_call(k, call, "%s is disabled in this program by %s", vc__text_targets[target].language,
                      vc__text_targets[target].without);
    k->invalid_request = k->failed;
    k->failed = false;
    k->node_limit = node_limit;
    return !k->invalid_request;
}

VC_API const uint32_t *vc_spirv(vc_kernel *k, size_t *words) {
    if (words) *words = 0;
    if (!k || !vc__build(k, VC_TARGET_SPIRV, vc__default_buffers(k))) return NULL;
    vc__variant *f = &k->variant[vc__default_buffers(k)];
    if (words) *words = f->words.count - f->skip;
    return f->words.data + f->skip;
}

VC_API const char *vc_source(vc_kernel *k, vc_target target) {
    if (!vc__check_target(k, "source", target, true)) return NULL;
    if (!vc__build(k, target, vc__default_buffers(k))) return NULL;
    return vc__variant_of(k, target, vc__default_buffers(k))->text.data;
}

VC_API const vc_info *vc_reflect_for(vc_kernel *k, vc_target target) {
    if (!vc__check_target(k, "reflect_for", target, false)) return NULL;
    if (!vc__build(k, vc__is_c(target) ? target : (vc_target)VC_TARGET_NONE, vc__default_buffers(k))) return NULL;
    return &vc__variant_of(k, target, vc__default_buffers(k))->info;
}

VC_API const vc_info *vc_reflect(vc_kernel *k) { return vc_reflect_for(k, VC_TARGET_NONE); }

VC_API const char *vc_dump(vc_kernel *k) {
    vc__listing l;
    if (k) k->invalid_request = false;
    if (vc_error(k) || !vc__schedule(k, VC_TARGET_NONE, vc__default_buffers(k), &l)) return NULL;
    vc__dump_listing(k, &l);
    return k->failed ? NULL : k->dump.data;
}

VC_API uint64_t vc_hash(vc_kernel *k) {
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t i = VC_BUFFERS_ADDRESS; i <= VC_BUFFERS_BINDING; i++) {
        vc_buffers buffers = (vc_buffers)i;
        if (k && buffers == VC_BUFFERS_ADDRESS && k->desc.machine.missing_features & VC__ADDRESS_FEATURES) continue;
        if (!k || !vc__build(k, VC_TARGET_SPIRV, buffers) || (VC__HAS_GLSL && !vc__build(k, VC_TARGET_GLSL, buffers)))
            return 0;
        for (size_t j = k->variant[buffers].skip; j < k->variant[buffers].words.count; j++)
            h = (h ^ k->variant[buffers].words.data[j]) * 0x100000001b3u;
        for (size_t j = 0; j < k->variant[buffers].text.length; j++)
            h = (h ^ (unsigned char)k->variant[buffers].text.data[j]) * 0x100000001b3u;
    }
    return h;
}

/* ---- memory and arguments ---- */

static vc_ref vc__no_ref(void) { vc_ref r; memset(&r, 0, sizeof r); r.memory = VC__NIL; return r; }

static bool vc__check_type(vc_kernel *k, const char *call, const char *name, vc_type type) {
    if (!vc__ready(k)) return false;
    if (vc__is_type(type) || vc__layout_of(k, type).size) return true;
    return VC__FAIL_FALSE(k, call, "'%s' has type %u, which is not a %s", name, type,
                          (type & 0xffffu) >= VC__USER_TYPE ? "type of this kernel"
                          : type > 15 && type < 512 && vc__mask(type & 15u)
                              ? "valid type: there is no such vector or matrix"
                              : "valid type");
}

/* node: VC__NIL after an error */
static vc_ref vc__make_ref(vc_kernel *k, uint32_t node, vc_type type) {
    vc_ref r = vc__no_ref();
    if (node == VC__NIL) return r;
    r.kernel = k;
    r.memory = node;
    r.generation = k->generation;
    r.type = type;
    return r;
}

VC_API vc_ref vc_buffer(vc_kernel *k, const char *name, vc_type type, uint32_t access) {
    if (!vc__check_type(k, "buffer", name, type)) return vc__no_ref();
    if (!(access & VC_READ_WRITE) || access > (VC_READ_WRITE | VC_MAY_ALIAS | VC_ANY_TYPE)) {
        vc__fail_call(k, "buffer", VC__ACCESS_MUST_BE, name, access, " and VC_ANY_TYPE");
        return vc__no_ref();
    }
    return vc__object_ref(k, vc__add_object(k, name, VC__OP_BUFFER, access, type, 0, NULL), type, NULL);
}

VC_API vc_val vc_param(vc_kernel *k, const char *name, vc_type type) {
    if (!vc__check_type(k, "param", name, type)) return vc__no_value();
    if (!vc__is_type(type)) return vc__composite_param(k, name, type);
    return vc__value(k, vc__add_object(k, name, VC__OP_PARAM, VC_READ, type, 1, NULL));
}

static bool vc__check_count(vc_kernel *k, const char *call, const char *name, vc_type type, uint32_t count) {
    if (!vc__check_type(k, call, name, type)) return false;
    if (count && (uint64_t)count * vc__layout_of(k, type).size <= 0x7fffffffu) return true;
    return VC__FAIL_FALSE(k, call, "'%s' has %u elements of %t, but must have at least one and less than 2^31 bytes",
                          name, count, type);
}

/* sum: total of the storage class */
static bool vc__add_bytes(vc_kernel *k, const char *call, const char *name, uint64_t bytes, const char *what,
                          uint32_t limit, uint32_t *sum) {
    if (bytes + *sum > limit)
        return VC__FAIL_FALSE(k, call,
                              "'%s' has %llu bytes and earlier declarations have %u, but the limit for the %s is %u "
                              "bytes; use a buffer", name, (unsigned long long)bytes, *sum, what, limit);
    *sum += (uint32_t)bytes;
    return true;
}

/* Private memory is limited per invocation and per work-group. */
static bool vc__add_private(vc_kernel *k, const char *call, const char *name, vc_type type, uint32_t count) {
    uint32_t limit = VC__MAX_GROUP_PRIVATE / vc__invocations(k);
    return vc__add_bytes(k, call, name, (uint64_t)count * vc__layout_of(k, type).size,
                         "private arrays of an invocation (64 KiB, and 4 MiB per work-group)",
                         limit < VC__MAX_PRIVATE ? limit : VC__MAX_PRIVATE, &k->private_bytes);
}

VC_API vc_ref vc_var(vc_kernel *k, const char *name, vc_type type) {
    if (!vc__check_type(k, "var", name, type)
        || (!vc__is_type(type) && !vc__add_private(k, "var", name, type, 1)))
        return vc__no_ref();
    return vc__object_ref(k, vc__add_object(k, name, VC__OP_VAR, VC_READ_WRITE, type, 1, NULL), type, NULL);
}

VC_API vc_ref vc_array(vc_kernel *k, const char *name, vc_type type, uint32_t count) {
    if (!vc__check_count(k, "array", name, type, count) || !vc__add_private(k, "array", name, type, count))
        return vc__no_ref();
    return vc__object_ref(k, vc__add_object(k, name, VC__OP_ARRAY, VC_READ_WRITE, type, count, NULL), type, NULL);
}

VC_API vc_ref vc_shared(vc_kernel *k, const char *name, vc_type type, uint32_t count) {
    if (!vc__check_count(k, "shared", name, type, count)) return vc__no_ref();
    return vc__object_ref(k, vc__add_object(k, name, VC__OP_SHARED, VC_READ_WRITE, type, count, NULL), type, NULL);
}

/* Copies table data in the host's byte order to one 64-bit word per component. Bools are read as u32. */
static void vc__read_table(vc_type type, const void *data, uint64_t *out, size_t components) {
    uint32_t bytes = vc__scalar_bytes(type);
    const unsigned char *from = (const unsigned char *)data;
    for (size_t i = 0; i < components; i++, from += bytes) {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        if (bytes == 1) { memcpy(&u8, from, 1); out[i] = u8; }
        else if (bytes == 2) { memcpy(&u16, from, 2); out[i] = u16; }
        else if (bytes == 4) { memcpy(&u32, from, 4); out[i] = vc__is_bool(type) ? u32 != 0 : u32; }
        else memcpy(&out[i], from, 8);
    }
}

VC_API vc_ref vc_table(vc_kernel *k, const char *name, vc_type type, const void *data, uint32_t count) {
    size_t components = (size_t)count * vc__components(type);
    if (!vc__check_count(k, "table", name, type, count)) return vc__no_ref();
    if (!data) { vc__fail_call(k, "table", "'%s': data is NULL", name); return vc__no_ref(); }
    if (!vc__add_bytes(k, "table", name, (uint64_t)count * vc__layout_of(k, type).size, "tables of a kernel",
                       VC__MAX_TABLES, &k->table_bytes))
        return vc__no_ref();
    if (!vc__is_type(type))
        return vc__object_ref(k, vc__add_object(k, name, VC__OP_TABLE, VC_READ, type, count, NULL), type, data);
    uint64_t *copy = (uint64_t *)vc__allocate(k, components > SIZE_MAX / 8 ? SIZE_MAX : components * 8);
    if (!copy) return vc__no_ref();
    vc__read_table(type, data, copy, components);
    return vc__make_ref(k, vc__add_object(k, name, VC__OP_TABLE, VC_READ, type, count, copy), type);
}

/* Fails with the reason why vc__object_of rejected r. */
VC__NOINLINE static void vc__fail_ref(vc_kernel *k, const char *call, const vc_ref *r) {
    const char *why = vc__invalid_reason(k, r->kernel, r->memory, r->generation);
    if (why) { vc__fail_call(k, call, "the ref %s", why); return; }
    vc__fail_call(k, call,
                  vc__is_open(k, k->node[r->memory].region)
                      ? "the index of the ref to %m was computed in a block that is already closed; pass it out of "
                        "the block in a variable (vc_var)"
                      : "%m was declared in a block that is already closed", &k->object[k->node[r->memory].x]);
}

/* Adds a run-time index to a ref. Two indices of the same type are added in that type, others as i64. A machine without
   i64 has no buffer addresses, so i32 suffices there. */
static bool vc__add_index(vc_kernel *k, vc_ref *r, uint32_t node) {
    vc_type sum_type = k->desc.machine.missing_features & VC_FEATURE_I64 ? VC_I32 : VC_I64;
    if (!r->index) { r->index = node + 1; return true; }
    vc_val a = vc__value(k, r->index - 1);
    vc_val b = vc__value(k, node);
    if (vc_typeof(a) != vc_typeof(b)) {
        a = vc_cast(sum_type, a);
        b = vc_cast(sum_type, b);
    }
    a = vc_add(a, b);
    if (!a.owner) return false;
    r->index = (uint32_t)a.bits + 1;
    return true;
}

/* vc__advance_ref for all other operands. */
static bool vc__advance_ref_by(vc_kernel *k, const char *call, vc_ref *r, vc_val elements) {
    vc__operand o;
    if (!vc__operand_of(k, call, 2, elements, &o)) return false;
    if (!vc__is_int(o.type) || vc__components(o.type) != 1 || (o.node != VC__NIL && vc__bits(o.type) < 32))
        return VC__FAIL_FALSE(k, call, "the index%a is %t, but must be a scalar integer of 32 or 64 bits", &o, o.type);
    if (o.node != VC__NIL) return vc__add_index(k, r, o.node);
    int64_t constant = (int64_t)vc__widen(o.type, o.bits);
    if (constant < 0 ? (!vc__is_signed(o.type) || r->offset < INT64_MIN - constant) : r->offset > INT64_MAX - constant)
        return VC__FAIL_FALSE(k, call, "the constant index exceeds 64 bits");
    r->offset += constant;
    return true;
}

static vc__object *vc__check_access_to(vc_kernel *k, const char *call, const vc_ref *r, uint32_t access,
                                       vc__object *o) {
    if (!(o->access & access))
        vc__fail_call(k, call, "%m %s", o,
                      o->op == VC__OP_TABLE ? "is constant"
                      : access == VC_READ   ? "was declared without VC_READ"
                                            : "was declared without VC_WRITE");
    else if (o->op == VC__OP_VAR && (r->index || r->offset))
        vc__fail_call(k, call, "variable '%s' has no elements; use vc_get and vc_set", o->name);
    else vc__check_element(k, call, r);
    return k->failed ? NULL : o;
}

/* Converts immediates that vc__adapts accepts, and repeats scalars. */
static uint32_t vc__fit_node(vc_kernel *k, const char *call, uint32_t which, vc_val v, vc_type type) {
    const vc__node *n = vc__usable_node(k, v);
    vc__operand o;
    if (n && n->type == type) return (uint32_t)v.bits;
    if (!vc__operand_of(k, call, which, v, &o)) return VC__NIL;
    if (vc__adapts(&o, vc__scalar(type)) && !vc__adapt_immediate(k, call, which, &o, vc__scalar(type))) return VC__NIL;
    if (vc__scalar(o.type) == vc__scalar(type) && (vc__components(o.type) == 1 || o.type == type))
        return vc__as_node(k, &o, vc__components(type));
    vc__fail_call(k, call, "the value%a is %t, but the element type is %t; convert it with vc_cast", &o, o.type, type);
    return VC__NIL;
}

VC__SMALL_END

/* Fails if r is not a ref of k, or if its memory, its index or the last step of its path was recorded in a block that
   is closed. */
static vc__object *vc__object_of(vc_kernel *k, const char *call, const vc_ref *r) {
    if (r->kernel == k && r->generation == k->generation && r->memory < k->count
        && vc__is_usable(k, &k->node[r->memory]) && (!r->index || vc__is_usable(k, &k->node[r->index - 1]))
        && (!r->path || vc__is_usable(k, &k->node[r->path - 1])))
        return &k->object[k->node[r->memory].x];
    vc__fail_ref(k, call, r);
    return NULL;
}

static bool vc__advance_ref(vc_kernel *k, const char *call, vc_ref *r, vc_val elements) {
    if (elements.owner == VC_U32 && r->offset <= INT64_MAX - (int64_t)UINT32_MAX) { /* the most frequent immediates */
        r->offset += (uint32_t)elements.bits;
        return true;
    }
    const vc__node *node = vc__usable_node(k, elements);
    if (r->index || !node || (node->type != VC_U32 && node->type != VC_I32))
        return vc__advance_ref_by(k, call, r, elements);
    r->index = (uint32_t)elements.bits + 1;
    return true;
}

/* Moves a ref to the element that is read or written. A ref without path and index is checked later, by the access. */
static inline bool vc__element_ref(vc_kernel *k, const char *call, vc_ref *r, vc_val elements) {
    if ((r->inside || r->index) && !vc__object_of(k, call, r)) return false;
    return r->inside ? vc__index_inside(k, call, r, elements) : vc__advance_ref(k, call, r, elements);
}

static vc__object *vc__check_access(vc_kernel *k, const char *call, const vc_ref *r, uint32_t access) {
    vc__object *o = vc__object_of(k, call, r);
    if (o && o->access & access && r->index && o->op != VC__OP_VAR && r->offset == (int32_t)r->offset) return o;
    return o ? vc__check_access_to(k, call, r, access, o) : NULL;
}

/* Whether the index of an access must be checked. Constant indices of arrays have been checked. */
static inline bool vc__is_checked(const vc_kernel *k, const vc__object *o, const vc_ref *r) {
    return k->checks && o->op != VC__OP_VAR && (r->index || o->op == VC__OP_BUFFER);
}

/* Defined in room `derived`, because they report through the output buffer. */
static vc_val vc__load_checked(vc_kernel *k, const char *call, const vc_ref *r);
static void vc__store_checked(vc_kernel *k, const char *call, const vc_ref *r, uint32_t which, vc_val value);
static void vc__atomic_checked(vc_kernel *k, const char *call, uint32_t op, const vc_ref *r, uint32_t value,
                               vc_val *old);

static vc_val vc__load(vc_kernel *k, const char *call, const vc_ref *r) {
    uint32_t index = r->index ? r->index - 1 : VC__NIL;
    uint32_t flags = index == VC__NIL ? 0u : k->node[index].flags & VC__NODE_VARIES;
    if (r->inside) return vc__load_inside(k, call, r);
    vc__object *o = vc__check_access(k, call, r, VC_READ);
    if (!o) return vc__no_value();
    if (vc__is_checked(k, o, r)) return vc__load_checked(k, call, r);
    if (vc__is_private(o)) {
        o->last_load = k->count + 1;
        flags |= o->divergence;
    }
    return vc__value(
        k, vc__record(k, VC__OP_LOAD, flags, r->type, r->memory, index, VC__NIL, (uint32_t)(int32_t)r->offset));
}

VC_API vc_val vc_load(vc_ref ref, vc_val index) {
    vc_kernel *k = vc__kernel_of_ref("load", &ref, index, index);
    if (!vc__ready(k) || !vc__element_ref(k, "load", &ref, index)) return vc__no_value();
    return vc__load(k, "load", &ref);
}

VC_API vc_val vc_get(vc_ref ref) {
    if (!vc__ready(vc__kernel_of_ref("get", &ref, vc__no_operand(), vc__no_operand()))) return vc__no_value();
    return vc__load(ref.kernel, "get", &ref);
}

VC__SMALL

VC_API vc_ref vc_offset(vc_ref ref, vc_val elements) {
    vc_kernel *k = vc__kernel_of_ref("offset", &ref, elements, elements);
    if (!vc__ready(k) || !vc__object_of(k, "offset", &ref)) return vc__no_ref();
    if (ref.inside & VC__INSIDE_ELEMENT)
        vc__fail_call(k, "offset", "the ref points to a single %t, not to an array; use vc_at", ref.type);
    return !k->failed && vc__advance_ref(k, "offset", &ref, elements) ? ref : vc__no_ref();
}

/* The index of a ref plus its constant offset as one value; 64 bits wide if the offset exceeds 32 bits. */
static vc_val vc__full_index(vc_kernel *k, const vc_ref *r) {
    bool is_narrow = r->offset >= INT32_MIN && r->offset <= INT32_MAX;
    if (!r->index) return is_narrow && r->offset >= 0 ? vc_u32((uint32_t)r->offset) : vc_i64(r->offset);
    vc_val index = vc__value(k, r->index - 1);
    if (!is_narrow && vc__bits(vc_typeof(index)) < 64) index = vc_cast(VC_I64, index);
    return r->offset ? vc_add(index, vc_imm(vc_typeof(index), (uint64_t)r->offset)) : index;
}

/* vc_load_or for refs to memory of composite types, or to an array inside an element. Guards only `index`, not the
   indices in the path of the ref. */
static vc_val vc__load_or_composite(vc_kernel *k, const char *call, const vc_ref *r, vc_val index, vc_val condition,
                                    vc_val other) {
    vc_ref element = *r;
    uint32_t condition_node = vc__condition(k, call, 3, condition);
    vc_val guard = vc__value(k, condition_node);
    vc__flat_parts parts;
    vc__operand o;
    if (condition_node == VC__NIL || !vc__operand_of(k, call, 2, index, &o)) return vc__no_value();
    if (!(element.inside & VC__INSIDE_ELEMENT)) {
        if (!vc__advance_ref(k, call, &element, index)) return vc__no_value();
        index = vc__full_index(k, &element);
        element.index = 0;
        element.offset = 0;
    }
    index = vc_select(guard, index, vc_imm(vc_typeof(index), 0));
    if (!vc__enter_at(k, call, &element, index) || !vc__fit_flat_parts(k, call, 4, other, element.type, parts.node))
        return vc__no_value();
    if (vc__is_type(element.type)) other = vc__value(k, parts.node[0]);
    return vc_select(guard, vc__load_inside(k, call, &element), other);
}

VC_API vc_val vc_load_or(vc_ref ref, vc_val index, vc_val condition, vc_val other) {
    const char *const call = "load_or";
    vc_kernel *k = ref.kernel ? ref.kernel : vc__kernel_of_operands(call, ref.memory != 0, index, condition, other);
    vc_ref element = ref;
    vc_val guarded;
    if (!vc__ready(k) || !vc__object_of(k, call, &ref)) return vc__no_value();
    if (ref.inside) return vc__load_or_composite(k, call, &ref, index, condition, other);
    if (!vc__advance_ref(k, call, &element, index)) return vc__no_value();
    uint32_t condition_node = vc__condition(k, call, 3, condition);
    uint32_t other_node = condition_node == VC__NIL ? VC__NIL : vc__fit_node(k, call, 4, other, ref.type);
    if (other_node == VC__NIL) return vc__no_value();
    /* The guard includes the constant offset, so that element 0 is read if the condition is false. */
    guarded = vc__full_index(k, &element);
    guarded = vc_select(vc__value(k, condition_node), guarded, vc_imm(vc_typeof(guarded), 0));
    element.offset = 0;
    element.index = guarded.owner ? (uint32_t)guarded.bits + 1 : 0;
    if (!guarded.owner) return vc__no_value();
    return vc_select(vc__value(k, condition_node), vc__load(k, call, &element), vc__value(k, other_node));
}

/* Fails and returns true if the innermost open block is a VC_SWITCH, which may only contain cases. */
static bool vc__fail_in_switch(vc_kernel *k, const char *call) {
    if (k->block[k->open_block].op != VC__OP_SWITCH) return false;
    vc__fail_call(k, call, "called directly inside a VC_SWITCH, which may only contain VC_CASE and VC_DEFAULT");
    return true;
}

/* The VC__NODE_ bits by which the invocations that reach the open block `block` may differ from those that reach the
   block `outer` around it. */
static uint32_t vc__control_divergence(const vc_kernel *k, uint32_t block, uint32_t outer) {
    uint32_t bits = 0;
    if (!(k->block[block].flags & (VC__BLOCK_DIVERGES | VC__BLOCK_DIVERGES_SUB))) return 0;
    for (; block != outer && block != VC__NIL; block = k->block[block].parent) bits |= k->block[block].divergence;
    return bits;
}

static uint32_t vc__flags_of_operands(const vc_kernel *k, const vc__node *n) {
    uint32_t count, flags = 0;
    const uint32_t *operand = vc__operands(n, k->extra, &count);
    for (uint32_t i = 0; i < count; i++) if (operand[i] != VC__NIL) flags |= k->node[operand[i]].flags;
    return flags;
}

/* Adds divergence bits to the contents of a variable or private array. If a load in the outermost loop has already used
   the old bits, the loop must be analysed again. */
static void vc__add_divergence(vc_kernel *k, vc__object *o, uint32_t bits) {
    if (!(bits & ~(uint32_t)o->divergence)) return;
    o->divergence = (uint8_t)(o->divergence | bits);
    if (k->outer_loop && o->last_load > k->anchor[k->block[k->outer_loop].open].node) k->needs_replay = true;
}

/* Updates the divergence of a variable or private array for a store in the open block. A store to a variable in the
   block that declares it, outside of loops, replaces the value in all invocations, so the old bits do not apply. */
static void vc__note_private_store(vc_kernel *k, vc__object *o, uint32_t value, uint32_t index) {
    uint32_t bits = k->node[value].flags | (index == VC__NIL ? 0u : k->node[index].flags);
    if (o->op == VC__OP_VAR && k->open_block == o->block && !k->outer_loop)
        o->divergence = (uint8_t)(bits & VC__NODE_VARIES);
    else if (o->divergence != VC__NODE_VARIES)
        vc__add_divergence(k, o, (bits & VC__NODE_VARIES) | vc__control_divergence(k, k->open_block, o->block));
}

/* which: number of the operand `value` */
static void vc__store(vc_kernel *k, const char *call, const vc_ref *r, uint32_t which, vc_val value) {
    vc__object *o = r->inside ? NULL : vc__check_access(k, call, r, VC_WRITE);
    uint32_t value_node = o && !vc__fail_in_switch(k, call) ? vc__fit_node(k, call, which, value, r->type) : VC__NIL;
    if (r->inside) vc__store_inside(k, call, r, which, value);
    if (value_node == VC__NIL) return;
    if (vc__is_checked(k, o, r)) { vc__store_checked(k, call, r, which, vc__value(k, value_node)); return; }
    vc__mark_stored(k, o);
    if (vc__is_private(o)) vc__note_private_store(k, o, value_node, r->index ? r->index - 1 : VC__NIL);
    vc__record_anchored(k, k->open_block, VC__OP_STORE, 0, r->type, r->memory, r->index ? r->index - 1 : VC__NIL,
                        value_node, (uint32_t)(int32_t)r->offset);
}

VC_API void vc_store(vc_ref ref, vc_val index, vc_val value) {
    vc_kernel *k = vc__kernel_of_ref("store", &ref, index, value);
    if (vc__ready(k) && vc__element_ref(k, "store", &ref, index)) vc__store(k, "store", &ref, 3, value);
}

VC_API void vc_set(vc_ref ref, vc_val value) {
    vc_kernel *k = vc__kernel_of_ref("set", &ref, value, value);
    if (vc__ready(k)) vc__store(k, "set", &ref, 2, value);
}

VC_API void vc_set_component(vc_ref ref, uint32_t i, vc_val value) {
    const char *const call = "set_component";
    vc_kernel *k = vc__kernel_of_ref(call, &ref, value, value);
    const vc__object *o = vc__ready(k) ? vc__object_of(k, call, &ref) : NULL;
    if (!o) return;
    if (!vc__is_private(o)) {
        vc__fail_call(k, call, "%m is not private to an invocation; store a whole vector%s", o,
                      o->op == VC__OP_BUFFER ? ", or a scalar through vc_as" : "");
        return;
    }
    vc_val v = vc__load(k, call, &ref);
    if (v.owner) vc__store(k, call, &ref, 3, vc__insert(v, i, value, call));
}

VC_API vc_ref vc_as(vc_ref ref, vc_type type) {
    const char *const call = "as";
    vc_kernel *k = ref.kernel;
    const vc__object *o = vc__ref_begin(call, &ref);
    if (!o) return vc__no_ref();
    if (o->op != VC__OP_BUFFER)
        vc__fail_call(k, call, "%m is not a buffer; vc_bitcast converts the values of its elements", o);
    else if (ref.index || ref.offset || ref.inside & VC__INSIDE_ELEMENT)
        vc__fail_call(k, call, "the ref to buffer '%s' has an offset or index; call vc_as first", o->name);
    else if (!vc__is_type(type) || vc__is_bool(type))
        vc__fail_call(k, call, VC__TYPE_MUST_BE, type, "a number or a vector of numbers");
    if (k->failed) return vc__no_ref();
    uint32_t root = o->composite == VC__NIL ? k->node[ref.memory].x : o->composite, order = ref.memory_order;
    uint32_t view = k->object[root].declared == type ? root : vc__view_of(k, root, type);
    if (view == VC__NIL) return vc__no_ref();
    ref = vc__make_ref(k, k->object[view].node, type);
    ref.memory_order = order;
    return ref;
}

/* ---- atomics and fences ---- */

/* Records a fence. Order 0 (VC_RELAXED) records nothing. */
static void vc__fence(vc_kernel *k, uint32_t order, uint32_t scope, uint32_t storage) {
    if (!order || k->failed) return;
    if (scope == VC_SCOPE_DEVICE && storage & VC_STORAGE_BUFFER) k->coherent = true;
    vc__record_anchored(k, k->open_block, VC__OP_FENCE, 0, VC_NONE, VC__NIL, VC__NIL, VC__NIL,
                        order | scope << 4 | storage << 8);
}

VC__NOINLINE static bool vc__check_scope(vc_kernel *k, const char *call, uint32_t scope) {
    if (scope <= VC_SCOPE_DEVICE) return true;
    return VC__FAIL_FALSE(k, call, "scope is %u, but must be VC_SCOPE_SUBGROUP, VC_SCOPE_WORKGROUP or VC_SCOPE_DEVICE",
                          scope);
}

static bool vc__check_fence(vc_kernel *k, const char *call, uint32_t scope, uint32_t storage) {
    if (!vc__check_scope(k, call, scope)) return false;
    if (storage <= (VC_STORAGE_BUFFER | VC_STORAGE_SHARED)) return true;
    return VC__FAIL_FALSE(k, call,
                          "storage is %u, but must be 0 (all memory) or a combination of VC_STORAGE_BUFFER and "
                          "VC_STORAGE_SHARED", storage);
}

VC_API void vc_fence(vc_kernel *k, vc_scope scope, uint32_t storage) {
    const char *const call = "fence";
    if (!vc__ready(k) || vc__fail_in_switch(k, call) || !vc__check_fence(k, call, (uint32_t)scope, storage)) return;
    if (!storage) storage = VC_STORAGE_BUFFER | VC_STORAGE_SHARED;
    if (!scope) scope = storage & VC_STORAGE_BUFFER ? VC_SCOPE_DEVICE : VC_SCOPE_WORKGROUP;
    vc__fence(k, VC_ACQ_REL, (uint32_t)scope, storage);
}

VC_API vc_ref vc_ordered(vc_ref ref, vc_order order, vc_scope scope) {
    const char *const call = "ordered";
    if (!vc__ref_begin(call, &ref)) return vc__no_ref();
    if (!vc__check_scope(ref.kernel, call, (uint32_t)scope)) return vc__no_ref();
    if ((uint32_t)order > VC_ACQ_REL) {
        vc__fail_call(ref.kernel, call, "order is %u, but must be VC_RELAXED, VC_ACQUIRE, VC_RELEASE or VC_ACQ_REL",
                      (uint32_t)order);
        return vc__no_ref();
    }
    ref.memory_order = (uint32_t)order | (uint32_t)scope << 4;
    return ref;
}

static bool vc__check_atomic(vc_kernel *k, const char *call, const vc__object *o, vc_type type, uint32_t op) {
    bool bitwise = op >= VC__OP_ATOMIC_AND && op <= VC__OP_ATOMIC_XOR;
    if (o->op != VC__OP_BUFFER && o->op != VC__OP_SHARED)
        vc__fail_call(k, call, "%m does not support atomics; use a buffer or a shared array", o);
    else if (vc__components(type) != 1 || vc__is_bool(type) || vc__bits(vc__kind(type)) < 32 || vc__kind(type) != type
             || (bitwise && !vc__is_int(type)))
        vc__fail_call(k, call, "%m has elements of %t, but this call requires i32, u32, i64%s", o, type,
                      bitwise ? " or u64" : ", u64, f32 or f64");
    return !k->failed;
}

/* Targets support no float atomic except f32 addition, with VC_FEATURE_ATOMIC_F32_ADD. For others, the type of the
   object becomes an unsigned integer of the same size. */
static void vc__use_atomic_bits(vc_kernel *k, vc__object *o, uint32_t op) {
    if (!vc__is_float(o->type)) return;
    if (op == VC__OP_ATOMIC_ADD && o->type == VC_F32 && !(k->desc.machine.missing_features & VC_FEATURE_ATOMIC_F32_ADD))
        return;
    o->type = vc__to_bits(o->type);
    k->node[o->node].type = (uint16_t)o->type;
}

/* Records an atomic operation between the fences of its memory order. `value` is a node of the element's type; a
   vector of two for compare-exchange; VC__NIL for a load. */
static void vc__atomic(vc_kernel *k, const char *call, uint32_t op, const vc_ref *r, uint32_t value, vc_val *old) {
    uint32_t storage = VC_STORAGE_BUFFER | VC_STORAGE_SHARED, order = r->memory_order & 15u,
             scope = r->memory_order >> 4;
    vc__object *o = &k->object[k->node[r->memory].x];
    if (vc__is_checked(k, o, r)) { vc__atomic_checked(k, call, op, r, value, old); return; }
    if (!scope) scope = o->op == VC__OP_BUFFER ? VC_SCOPE_DEVICE : VC_SCOPE_WORKGROUP;
    vc__use_atomic_bits(k, o, op);
    vc__mark_stored(k, o);
    vc__fence(k, order & VC_RELEASE, scope, storage);
    uint32_t node = vc__record_anchored(k, k->open_block, op, VC__NODE_VARIES, r->type, r->memory,
                                        r->index ? r->index - 1 : VC__NIL, value, (uint32_t)(int32_t)r->offset);
    vc__fence(k, order & VC_ACQUIRE, scope, storage);
    if (!k->failed) vc__select_region(k);
    if (old) *old = vc__value(k, k->failed ? VC__NIL : node);
}

static bool vc__atomic_begin(vc_kernel *k, const char *call, uint32_t op, vc_ref *r, vc_val index, vc_val *old) {
    uint32_t access = op == VC__OP_ATOMIC_LOAD ? VC_READ : op == VC__OP_ATOMIC_STORE ? VC_WRITE : VC_READ_WRITE;
    if (old) *old = vc__no_value();
    if (!vc__ready(k) || vc__fail_in_switch(k, call) || !vc__element_ref(k, call, r, index)) return false;
    const vc__object *o = vc__object_of(k, call, r);
    if (!o || !vc__check_atomic(k, call, o, r->type, op)) return false;
    return (!(access & VC_READ) || vc__check_access(k, call, r, VC_READ))
           && (!(access & VC_WRITE) || vc__check_access(k, call, r, VC_WRITE));
}

/* VC__OP_SUB: a subtraction is the addition of the negated value. */
static void vc__atomic_with_value(vc_val index, vc_val value, vc_val *old, const vc_ref *ref, uint32_t op) {
    bool negate = op == VC__OP_SUB;
    const char *call = negate ? "atomic_sub" : vc__op_name[op];
    vc_kernel *k = vc__kernel_of_ref(call, ref, index, value);
    vc_ref r = *ref;
    if (negate) op = VC__OP_ATOMIC_ADD;
    if (!vc__atomic_begin(k, call, op, &r, index, old)) return;
    uint32_t node = vc__fit_node(k, call, 3, value, r.type);
    if (negate && node != VC__NIL)
        node = vc__record_on(k, VC__OP_NEG, r.type, node, VC__NIL, VC__NIL, 0);
    if (node != VC__NIL) vc__atomic(k, call, op, &r, node, old);
}

#define VC__ATOMIC(name, op) \
    VC_API void vc_atomic_##name(vc_ref ref, vc_val index, vc_val value, vc_val *old) { \
        vc__atomic_with_value(index, value, old, &ref, VC__OP_##op); \
    }
VC__ATOMIC(add, ATOMIC_ADD)
VC__ATOMIC(sub, SUB)
VC__ATOMIC(min, ATOMIC_MIN)
VC__ATOMIC(max, ATOMIC_MAX)
VC__ATOMIC(and, ATOMIC_AND)
VC__ATOMIC(or, ATOMIC_OR)
VC__ATOMIC(xor, ATOMIC_XOR)
VC__ATOMIC(exchange, ATOMIC_EXCHANGE)
#undef VC__ATOMIC

VC_API void vc_atomic_store(vc_ref ref, vc_val index, vc_val value) {
    vc__atomic_with_value(index, value, NULL, &ref, VC__OP_ATOMIC_STORE);
}

VC_API void vc_atomic_compare_exchange(vc_ref ref, vc_val index, vc_val expected, vc_val desired, vc_val *old) {
    const char *const call = "atomic_compare_exchange";
    vc_kernel *k = ref.kernel ? ref.kernel : vc__kernel_of_operands(call, ref.memory != 0, index, expected, desired);
    uint32_t pair[2];
    if (!vc__atomic_begin(k, call, VC__OP_ATOMIC_CAS, &ref, index, old)) return;
    pair[0] = vc__fit_node(k, call, 3, expected, ref.type);
    pair[1] = pair[0] == VC__NIL ? VC__NIL : vc__fit_node(k, call, 4, desired, ref.type);
    if (pair[1] == VC__NIL) return;
    uint32_t both = vc__record_vec(k, vc__vec(ref.type, 2), pair, 2);
    if (both != VC__NIL) vc__atomic(k, call, VC__OP_ATOMIC_CAS, &ref, both, old);
}

/* As vc_load, vc_store, vc_get and vc_set. The implementation passes refs by their addresses, which needs less code. */
static vc_val vc__load_at(const vc_ref *r, vc_val index) { return vc_load(*r, index); }
static void vc__store_at(const vc_ref *r, vc_val index, vc_val value) { vc_store(*r, index, value); }
static vc_val vc__get(const vc_ref *r) { return vc_get(*r); }
static void vc__set(const vc_ref *r, vc_val value) { vc_set(*r, value); }

VC_API void vc_atomic_load(vc_ref ref, vc_val index, vc_val *value) {
    vc_kernel *k = vc__kernel_of_ref("atomic_load", &ref, index, index);
    if (vc__atomic_begin(k, "atomic_load", VC__OP_ATOMIC_LOAD, &ref, index, value))
        vc__atomic(k, "atomic_load", VC__OP_ATOMIC_LOAD, &ref, VC__NIL, value);
}

VC__SMALL_END

/* ---- immediates and construction ---- */

VC_API vc_val vc_bool(bool x) { return vc__immediate(VC_BOOL, x); }
VC_API vc_val vc_i8(int8_t x) { return vc__immediate(VC_I8, (uint8_t)x); }
VC_API vc_val vc_i16(int16_t x) { return vc__immediate(VC_I16, (uint16_t)x); }
VC_API vc_val vc_i32(int32_t x) { return vc__immediate(VC_I32, (uint32_t)x); }
VC_API vc_val vc_i64(int64_t x) { return vc__immediate(VC_I64, (uint64_t)x); }
VC_API vc_val vc_u8(uint8_t x) { return vc__immediate(VC_U8, x); }
VC_API vc_val vc_u16(uint16_t x) { return vc__immediate(VC_U16, x); }
VC_API vc_val vc_u32(uint32_t x) { return vc__immediate(VC_U32, x); }
VC_API vc_val vc_u64(uint64_t x) { return vc__immediate(VC_U64, x); }

VC_API vc_val vc_f16(float x) {
    uint32_t bits;
    uint64_t half;
    vc__real r;
    memcpy(&bits, &x, sizeof bits);
    vc__unpack(VC_F32, bits, &r);
    vc__pack(VC_F16, &r, &half);
    return vc__immediate(VC_F16, half);
}

VC_API vc_val vc_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return vc__immediate(VC_F32, bits);
}

VC_API vc_val vc_f64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return vc__immediate(VC_F64, bits);
}

VC_API vc_val vc_imm(vc_type scalar, uint64_t bits) {
    if (scalar >= 16 || !vc__mask(scalar)) return vc__immediate(VC__IMM_BAD_TYPE, scalar);
    return vc__immediate(scalar, bits & vc__ones(vc__bits(scalar)));
}

VC_API vc_val vc_const(vc_kernel *k, vc_val v) {
    vc__operand o;
    if (vc__is_composite(v)) return v;
    if (!vc__ready(k) || !vc__operand_of(k, "const", 1, v, &o)) return vc__no_value();
    return vc__value(k, vc__as_node(k, &o, vc__components(o.type)));
}

VC_API vc_type vc_typeof(vc_val v) {
    vc_kernel *k = vc__kernel_of(v);
    if (!k) return v.owner < 16 && vc__mask((vc_type)v.owner) ? (vc_type)v.owner : (vc_type)VC_NONE;
    return (v.bits & ~VC__COMPOSITE) >> 32 == k->generation && (uint32_t)v.bits < k->count
               ? vc__node_type(k, (uint32_t)v.bits)
               : (vc_type)VC_NONE;
}

VC__SMALL

/* The result of a call on immediates that cannot be folded, in most cases because the result would be a vector. */
static vc_val vc__result_without_kernel(vc_val a, vc_val b, const char *call) {
    return vc__is_unusable(a) ? a : vc__is_unusable(b) ? b : vc__unfoldable(call);
}

/* The scalars must have one type after immediates are converted. A single one is returned unchanged. */
static vc_val vc__vector(const char *call, const vc_val *v, uint32_t count) {
    vc_kernel *k = NULL;
    vc__operand o[4];
    uint32_t parts[4];
    if (count == 1) return v[0];
    for (uint32_t i = 0; i < count && !k; i++) k = vc__kernel_of(v[i]);
    for (uint32_t i = 0; i < count && !k; i++) if (vc__is_unusable(v[i])) return v[i];
    if (!k) return vc__unfoldable(call);
    if (k->failed) return vc__no_value();
    if (!vc__operands_of(k, call, v, count, o)) return vc__no_value();
    vc_type type = vc__unify(k, call, o, count);
    if (!type) return vc__no_value();
    if (vc__components(type) != 1)
        return vc__fail_call(k, call, "the operands are %t, but must be scalars", type);
    for (uint32_t i = 0; i < count; i++) parts[i] = vc__as_node(k, &o[i], 1);
    return vc__value(k, vc__record_vec(k, vc__vec(type, count), parts, count));
}

VC_API vc_val vc_vec2(vc_val x, vc_val y) { vc_val v[2] = { x, y }; return vc__vector("vec2", v, 2); }
VC_API vc_val vc_vec3(vc_val x, vc_val y, vc_val z) {
    vc_val v[3] = { x, y, z };
    return vc__vector("vec3", v, 3);
}
VC_API vc_val vc_vec4(vc_val x, vc_val y, vc_val z, vc_val w) {
    vc_val v[4] = { x, y, z, w };
    return vc__vector("vec4", v, 4);
}

static uint32_t vc__record_component(vc_kernel *k, uint32_t vector, uint32_t i);

VC_API vc_val vc_vec_of(vc_kernel *k, const vc_val *parts, uint32_t count) {
    const char *const call = "vec";
    vc__operand o[4];
    uint32_t node[4], components = 0;
    if (!vc__ready(k)) return vc__no_value();
    if (!parts) return vc__fail_call(k, call, "parts is NULL");
    if (count < 1 || count > 4) return vc__fail_call(k, call, "the call has %u parts, but must have 1 to 4", count);
    if (!vc__operands_of(k, call, parts, count, o)) return vc__no_value();
    for (uint32_t i = 0; i < count; i++) {
        components += vc__components(o[i].type);
        o[i].type = vc__scalar(o[i].type);
    }
    vc_type kind = vc__unify(k, call, o, count);
    if (!kind) return vc__no_value();
    if (components < 2 || components > 4)
        return vc__fail_call(k, call, "the parts have %u components, but a vector has 2 to 4", components);
    components = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t part = vc__as_node(k, &o[i], 1);
        for (uint32_t j = 0; j < vc__components(vc_typeof(parts[i])) && part != VC__NIL; j++)
            node[components++] = vc__record_component(k, part, j);
    }
    return k->failed ? vc__no_value() : vc__value(k, vc__record_vec(k, vc__vec(kind, components), node, components));
}

VC_API vc_val vc_splat(vc_val scalar, uint32_t components) {
    vc_kernel *k = vc__kernel_of(scalar);
    vc__operand o;
    if (!k) return components == 1 ? scalar : vc__result_without_kernel(scalar, scalar, "splat");
    if (!vc__ready(k) || !vc__operand_of(k, "splat", 1, scalar, &o)) return vc__no_value();
    if (components < 1 || components > 4 || vc__components(o.type) != 1)
        return vc__fail_call(k, "splat",
                             "operand 1 is %t and components is %u, but they must be a scalar and 1 to 4", o.type,
                             components);
    return vc__value(k, vc__record_splat(k, o.node, components));
}

static uint32_t vc__record_component(vc_kernel *k, uint32_t vector, uint32_t i) {
    vc_type type = k->node[vector].type;
    if (vc__components(type) == 1) return vector;
    return vc__record_on(k, VC__OP_COMPONENT, vc__scalar(type), vector, VC__NIL, VC__NIL, i);
}

static vc_val vc__component(vc_val vector, uint32_t i, const char *call) {
    vc_kernel *k = vc__kernel_of(vector);
    vc__operand o;
    if (!k) return i == 0 ? vector : vc__result_without_kernel(vector, vector, call);
    if (!vc__ready(k) || !vc__operand_of(k, call, 1, vector, &o)) return vc__no_value();
    if (i < vc__components(o.type)) return vc__value(k, vc__record_component(k, o.node, i));
    return vc__fail_part(k, call, o.type, i);
}
VC_API vc_val vc_component(vc_val vector, uint32_t i) { return vc__component(vector, i, "component"); }

VC_API vc_val vc_extract(vc_val vector, vc_val i) {
    vc_kernel *k = vc__kernel_of_two(vector, i);
    const vc_val v[2] = { vector, i };
    vc__operand o[2];
    if (!k)
        return vc__is_int((vc_type)i.owner) && i.owner < 16 ? vector : vc__result_without_kernel(vector, i, "extract");
    if (!vc__ready(k) || !vc__operands_of(k, "extract", v, 2, o)) return vc__no_value();
    if (!vc__is_int(o[1].type) || vc__components(o[1].type) != 1)
        return vc__fail_operand(k, "extract", 2, &o[1], "a scalar integer");
    uint32_t a = vc__as_node(k, &o[0], vc__components(o[0].type));
    if (a == VC__NIL || vc__components(o[0].type) == 1) return vc__value(k, a);
    uint32_t b = vc__as_node(k, &o[1], 1);
    if (b == VC__NIL) return vc__no_value();
    return vc__value(k, vc__record_on(k, VC__OP_EXTRACT, vc__scalar(o[0].type), a, b, VC__NIL, 0));
}

/* Replaces component i of a vector. If both operands are immediates, they must have the same type. */
static vc_val vc__insert(vc_val vector, uint32_t i, vc_val scalar, const char *call) {
    vc_kernel *k = vc__kernel_of_two(vector, scalar);
    vc__operand o;
    uint32_t parts[4];
    if (!k) return i == 0 && vector.owner == scalar.owner ? scalar : vc__result_without_kernel(vector, scalar, call);
    if (!vc__ready(k) || !vc__operand_of(k, call, 1, vector, &o)) return vc__no_value();
    uint32_t components = vc__components(o.type);
    if (i >= components)
        return vc__fail_part(k, call, o.type, i);
    uint32_t value = vc__fit_node(k, call, 3, scalar, vc__scalar(o.type));
    if (value == VC__NIL || components == 1) return vc__value(k, value);
    for (uint32_t j = 0; j < components; j++) parts[j] = j == i ? value : vc__record_component(k, o.node, j);
    return vc__value(k, vc__record_vec(k, o.type, parts, components));
}
VC_API vc_val vc_insert(vc_val vector, uint32_t i, vc_val scalar) { return vc__insert(vector, i, scalar, "insert"); }

VC_API vc_val vc_swizzle(vc_val vector, const char *components) {
    static const char letters[] = "xyzw";
    vc_kernel *k = vc__kernel_of(vector);
    size_t length = components ? strlen(components) : 0, i;
    uint32_t parts[4];
    vc__operand o;
    if (!k) return length == 1 && *components == 'x' ? vector : vc__result_without_kernel(vector, vector, "swizzle");
    if (!vc__ready(k) || !vc__operand_of(k, "swizzle", 1, vector, &o)) return vc__no_value();
    for (i = 0; i < length && i < 4; i++) {
        const char *at = strchr(letters, components[i]);
        if (!at || (uint32_t)(at - letters) >= vc__components(o.type)) break;
        parts[i] = vc__record_component(k, o.node, (uint32_t)(at - letters));
    }
    if (i == 0 || i < length)
        return vc__fail_call(k, "swizzle",
                             "components is \"%s\", but must be 1 to 4 of the letters %.*s, the components of %t",
                             components, (int)vc__components(o.type), letters, o.type);
    return vc__value(
        k, length == 1 ? parts[0]
                       : vc__record_vec(k, vc__vec(vc__scalar(o.type), (uint32_t)length), parts, (uint32_t)length));
}

#define VC__SAME_COMPONENTS "the number of components must be the same, unless the operand is a scalar"

/* op: CAST or BITCAST */
static vc_val vc__convert(vc_type type, vc_val v, uint32_t op) {
    vc_kernel *k = vc__kernel_of(v);
    const char *call = vc__op_name[op];
    vc__operand o;
    uint64_t bits = 0;
    if (k ? k->failed : vc__is_unusable(v)) return k ? vc__no_value() : v;
    if (op == VC__OP_CAST && (vc__is_composite(v) || vc__is_complex(type) || (k && vc__is_matrix(type))))
        return vc__composite_cast(type, v);
    if (!vc__operand_of(k, call, 1, v, &o)) return vc__failed_value(k, call);
    bool ok = vc__is_type(type)
              && (vc__components(type) == vc__components(o.type) || (op == VC__OP_CAST && vc__components(o.type) == 1));
    if (op == VC__OP_BITCAST
        && (vc__is_bool(type) || vc__is_bool(o.type) || vc__bits(vc__kind(type)) != vc__bits(vc__kind(o.type))))
        ok = false;
    if (!k && !vc__is_type(type)) return vc__immediate(VC__IMM_BAD_CAST, type | (uint64_t)(op == VC__OP_BITCAST) << 32);
    if (!k)
        return ok && type < 16 && vc__fold(op, o.type, type, &o.bits, &bits) ? vc__immediate(type, bits)
                                                                             : vc__failed_value(k, call);
    if (!ok)
        return vc__fail_call(k, call, "operand 1%a is %t, which cannot be converted to %t: %s", &o, o.type, type,
                             !vc__is_type(type)  ? "the result must be a scalar or vector type"
                             : op == VC__OP_CAST ? VC__SAME_COMPONENTS
                                                 : "the size and number of components must be the same, and neither "
                                                   "type may be bool");
    uint32_t n = o.node;
    k->casts_to_narrower |= vc__is_narrowing(o.type, type);
    if (vc__scalar(o.type) != vc__scalar(type))
        n = vc__record_on(k, op, vc__vec(vc__scalar(type), vc__components(o.type)), n, VC__NIL, VC__NIL, 0);
    return vc__value(k,
                     vc__components(o.type) == vc__components(type) ? n : vc__record_splat(k, n, vc__components(type)));
}

VC_API vc_val vc_cast(vc_type type, vc_val v) { return vc__convert(type, v, VC__OP_CAST); }
VC_API vc_val vc_bitcast(vc_type type, vc_val v) { return vc__convert(type, v, VC__OP_BITCAST); }

/* ---- arithmetic ---- */

VC_API vc_val vc_neg(vc_val a) { return vc__pure1(a, VC__OP_NEG); }
VC_API vc_val vc_add(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_ADD); }
VC_API vc_val vc_sub(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_SUB); }
VC_API vc_val vc_mul(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_MUL); }
VC_API vc_val vc_div(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_DIV); }
VC_API vc_val vc_rem(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_REM); }
VC_API vc_val vc_mod(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_MOD); }
VC_API vc_val vc_fma(vc_val a, vc_val b, vc_val c) { return vc__pure3(a, b, c, VC__OP_FMA); }
VC_API vc_val vc_abs(vc_val a) { return vc__pure1(a, VC__OP_ABS); }
VC_API vc_val vc_sign(vc_val a) { return vc__pure1(a, VC__OP_SIGN); }
VC_API vc_val vc_min(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_MIN); }
VC_API vc_val vc_max(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_MAX); }
VC_API vc_val vc_clamp(vc_val x, vc_val low, vc_val high) { return vc__pure3(x, low, high, VC__OP_CLAMP); }
VC_API vc_val vc_mix(vc_val a, vc_val b, vc_val t) { return vc__pure3(a, b, t, VC__OP_MIX); }
VC_API vc_val vc_step(vc_val edge, vc_val x) { return vc__pure2(edge, x, VC__OP_STEP); }
VC_API vc_val vc_floor(vc_val a) { return vc__pure1(a, VC__OP_FLOOR); }
VC_API vc_val vc_ceil(vc_val a) { return vc__pure1(a, VC__OP_CEIL); }
VC_API vc_val vc_trunc(vc_val a) { return vc__pure1(a, VC__OP_TRUNC); }
VC_API vc_val vc_round(vc_val a) { return vc__pure1(a, VC__OP_ROUND); }
VC_API vc_val vc_fract(vc_val a) { return vc__pure1(a, VC__OP_FRACT); }
VC_API vc_val vc_sqrt(vc_val a) { return vc__pure1(a, VC__OP_SQRT); }
VC_API vc_val vc_rsqrt(vc_val a) { return vc__pure1(a, VC__OP_RSQRT); }
VC_API vc_val vc_exp(vc_val a) { return vc__pure1(a, VC__OP_EXP); }
VC_API vc_val vc_exp2(vc_val a) { return vc__pure1(a, VC__OP_EXP2); }
VC_API vc_val vc_log(vc_val a) { return vc__pure1(a, VC__OP_LOG); }
VC_API vc_val vc_log2(vc_val a) { return vc__pure1(a, VC__OP_LOG2); }
VC_API vc_val vc_pow(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_POW); }
VC_API vc_val vc_sin(vc_val a) { return vc__pure1(a, VC__OP_SIN); }
VC_API vc_val vc_cos(vc_val a) { return vc__pure1(a, VC__OP_COS); }
VC_API vc_val vc_tan(vc_val a) { return vc__pure1(a, VC__OP_TAN); }
VC_API vc_val vc_asin(vc_val a) { return vc__pure1(a, VC__OP_ASIN); }
VC_API vc_val vc_acos(vc_val a) { return vc__pure1(a, VC__OP_ACOS); }
VC_API vc_val vc_atan(vc_val a) { return vc__pure1(a, VC__OP_ATAN); }
VC_API vc_val vc_atan2(vc_val y, vc_val x) { return vc__pure2(y, x, VC__OP_ATAN2); }
VC_API vc_val vc_sinh(vc_val a) { return vc__pure1(a, VC__OP_SINH); }
VC_API vc_val vc_cosh(vc_val a) { return vc__pure1(a, VC__OP_COSH); }
VC_API vc_val vc_tanh(vc_val a) { return vc__pure1(a, VC__OP_TANH); }
VC_API vc_val vc_isnan(vc_val a) { return vc__pure1(a, VC__OP_ISNAN); }
VC_API vc_val vc_isinf(vc_val a) { return vc__pure1(a, VC__OP_ISINF); }

VC_API vc_val vc_dot(vc_val a, vc_val b) {
    vc_kernel *k = vc__kernel_of_two(a, b);
    if (vc__ready(k) && !vc__is_composite(a) && !vc__is_composite(b) && vc__components(vc_typeof(a)) == 1
        && vc__components(vc_typeof(b)) == 1)
        return vc__fail_call(k, "dot", VC__PAIR_IS, vc_typeof(a), vc_typeof(b), "at least one must be a vector");
    return vc__pure2(a, b, VC__OP_DOT);
}

/* ---- bits and conditions ---- */

VC_API vc_val vc_not(vc_val a) { return vc__pure1(a, VC__OP_NOT); }
VC_API vc_val vc_and(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_AND); }
VC_API vc_val vc_or(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_OR); }
VC_API vc_val vc_xor(vc_val a, vc_val b) { return vc__pure2(a, b, VC__OP_XOR); }

/* If `a` is a scalar integer in a block known to be open and *count an immediate integer, converts *count to the type
   of `a`, modulo its width, and returns true. */
static inline bool vc__adapt_scalar_count(vc_val a, vc_val *count) {
    vc_kernel *k = vc__kernel_with_space(a);
    const vc__node *n = k ? vc__node_in_known_open_block(k, a) : NULL;
    if (!n || n->type >= 16 || !vc__is_int(n->type) || count->owner >= 16 || !vc__is_int((vc_type)count->owner))
        return false;
    *count = vc__immediate(n->type, count->bits & (vc__kinds[n->type].bits - 1u));
    return true;
}

/* The count may be of another integer type than `a`; an immediate count is converted to the type of `a`. */
static vc_val vc__shift(vc_val a, vc_val count, uint32_t op) {
    vc_kernel *k = vc__kernel_of_two(a, count);
    const char *call = vc__op_name[op];
    const vc_val v[2] = { a, count };
    vc__operand o[2];
    uint32_t n[2];
    if (vc__adapt_scalar_count(a, &count)) return vc__pure2_immediate(a, count, op);
    if (k ? k->failed : !vc__is_immediate(a) || !vc__is_immediate(count))
        return k ? vc__no_value() : vc__is_immediate(a) ? count : a;
    if (!vc__operands_of(k, call, v, 2, o) || !vc__check_kind(k, call, &o[0], 1, VC__KINDS_IU)
        || !vc__check_kind(k, call, &o[1], 2, VC__KINDS_IU))
        return vc__failed_value(k, call);
    if (o[1].node == VC__NIL) {
        o[1].bits &= vc__bits(vc__kind(o[0].type)) - 1;
        o[1].type = vc__scalar(o[0].type);
    }
    if (!k) {
        uint64_t bits[3] = { o[0].bits, o[1].bits, 0 }, result = 0;
        return vc__fold(op, o[0].type, o[0].type, bits, &result) ? vc__immediate(o[0].type, result)
                                                                 : vc__failed_value(k, call);
    }
    uint32_t components = vc__components(vc__components(o[1].type) > vc__components(o[0].type) ? o[1].type : o[0].type);
    if ((vc__components(o[0].type) != 1 && vc__components(o[0].type) != components)
        || (vc__components(o[1].type) != 1 && vc__components(o[1].type) != components))
        return vc__fail_operands(k, call, 1, &o[0], 2, &o[1], "vectors must have the same number of components");
    n[0] = vc__as_node(k, &o[0], components);
    n[1] = n[0] == VC__NIL ? VC__NIL : vc__as_node(k, &o[1], components);
    if (n[1] == VC__NIL) return vc__no_value();
    vc_type type = vc__vec(vc__scalar(o[0].type), components);
    return vc__value(k, vc__record_on(k, op, type, n[0], n[1], VC__NIL, 0));
}

VC_API vc_val vc_shl(vc_val a, vc_val count) { return vc__shift(a, count, VC__OP_SHL); }
VC_API vc_val vc_shr(vc_val a, vc_val count) { return vc__shift(a, count, VC__OP_SHR); }
VC_API vc_val vc_eq(vc_val a, vc_val b) { return vc__compare(a, b, VC__OP_EQ); }
VC_API vc_val vc_ne(vc_val a, vc_val b) { return vc__compare(a, b, VC__OP_NE); }
VC_API vc_val vc_lt(vc_val a, vc_val b) { return vc__compare(a, b, VC__OP_LT); }
VC_API vc_val vc_le(vc_val a, vc_val b) { return vc__compare(a, b, VC__OP_LE); }
VC_API vc_val vc_gt(vc_val a, vc_val b) { return vc__compare(a, b, VC__ORDERED_GT); }
VC_API vc_val vc_ge(vc_val a, vc_val b) { return vc__compare(a, b, VC__ORDERED_GE); }

/* o[0]: the condition; type: common type of the values */
static vc_val vc__select_values(vc_kernel *k, vc__operand *o, vc_type type) {
    uint32_t components = vc__components(type), n[3];
    if (vc__components(o[0].type) > components && components == 1) components = vc__components(o[0].type);
    if (vc__components(o[0].type) != 1 && vc__components(o[0].type) != components)
        return vc__fail_call(k, "select",
                             "the condition%a is %t and the values are %t; vectors must have the same number of "
                             "components", &o[0], o[0].type, type);
    for (uint32_t i = 0; i < 3; i++) {
        n[i] = vc__as_node(k, &o[i], components);
        if (n[i] == VC__NIL) return vc__no_value();
    }
    type = vc__vec(vc__scalar(type), components);
    return vc__value(k, vc__record_on(k, VC__OP_SELECT, type, n[0], n[1], n[2], 0));
}

VC_API vc_val vc_select(vc_val condition, vc_val a, vc_val b) {
    const char *const call = "select";
    vc_kernel *k = vc__kernel_of(condition) ? vc__kernel_of(condition)
                   : vc__kernel_of(a)       ? vc__kernel_of(a)
                                            : vc__kernel_of(b);
    const vc_val v[3] = { condition, a, b };
    vc__operand o[3];
    if (k ? k->failed : !vc__is_immediate(condition) || !vc__is_immediate(a) || !vc__is_immediate(b))
        return k ? vc__no_value() : !vc__is_immediate(condition) ? condition : vc__is_immediate(a) ? b : a;
    if (vc__is_composite(a) || vc__is_composite(b)) return vc__select_composite(k, condition, a, b);
    if (!vc__operands_of(k, call, v, 3, o)) return vc__failed_value(k, call);
    if (!vc__check_kind(k, call, &o[0], 1, VC__KINDS_B))
        return k ? vc__no_value() : vc__immediate(VC__IMM_BAD_SELECT, o[0].type);
    vc_type type = vc__unify_from(k, call, o + 1, 2, 1);
    if (!type) return vc__failed_value(k, call);
    if (!k) return vc__immediate(type, o[0].bits ? o[1].bits : o[2].bits);
    return vc__select_values(k, o, type);
}

VC_API vc_val vc_any(vc_val a) { return vc__pure1(a, VC__OP_ANY); }
VC_API vc_val vc_all(vc_val a) { return vc__pure1(a, VC__OP_ALL); }

/* ---- ids and sizes ---- */

static bool vc__check_subgroup(vc_kernel *k, const char *call);

/* axis: 0 for variables without axes. A local or global id is uniform if the work-group has only one invocation along
   the axis. */
static vc_val vc__builtin(vc_kernel *k, uint32_t axis, uint32_t op) {
    uint32_t flags = 0;
    if (!vc__ready(k)) return vc__no_value();
    if (axis > 2) return vc__fail_call(k, vc__op_name[op], "axis is %u, but must be 0 to %u", axis, 2);
    uint32_t size = op >= VC__OP_LOCAL_INDEX ? vc__invocations(k) : k->desc.local_size[axis];
    if (op == VC__OP_SUBGROUP_ID) flags = VC__NODE_VARIES_GROUP;
    else if (op != VC__OP_GROUP_ID && op != VC__OP_SUBGROUP_SIZE && op != VC__OP_SUBGROUP_COUNT && size != 1)
        flags = VC__NODE_VARIES;
    return vc__value(k, vc__record_leaf(k, op, flags, VC_U32, VC__NIL, VC__NIL, VC__NIL, axis));
}

/* object: the buffer that the implicit argument refers to, if any */
static vc_val vc__implicit(vc_kernel *k, const char *call, vc_implicit kind, uint32_t object, uint32_t axis) {
    uint32_t max_axis = kind == VC_IMPLICIT_SHAPE ? 3 : 2;
    if (!vc__ready(k)) return vc__no_value();
    if (kind != VC_IMPLICIT_LENGTH && axis > max_axis)
        return vc__fail_call(k, call, "axis is %u, but must be 0 to %u", axis, max_axis);
    return vc__value(k, vc__record_leaf(k, VC__OP_IMPLICIT, 0, VC_U32, (uint32_t)kind, object, axis, 0));
}

/* Whether the runtime may split a dispatch along this axis into launches, to whose group ids a base is added. */
static bool vc__has_group_base(const vc_kernel *k, uint32_t axis) {
    return axis < 3 && k->desc.machine.max_groups[axis] < VC__NO_GROUP_BASE;
}

VC_API vc_val vc_local_id(vc_kernel *k, uint32_t axis) { return vc__builtin(k, axis, VC__OP_LOCAL_ID); }
VC_API vc_val vc_local_index(vc_kernel *k) { return vc__builtin(k, 0, VC__OP_LOCAL_INDEX); }
VC_API vc_val vc_threads(vc_kernel *k, uint32_t axis) {
    return vc__implicit(k, "threads", VC_IMPLICIT_THREADS, 0, axis);
}
VC_API vc_val vc_groups(vc_kernel *k, uint32_t axis) {
    return vc__implicit(k, "groups", VC_IMPLICIT_GROUPS, 0, axis);
}

VC_API vc_val vc_local_size(vc_kernel *k, uint32_t axis) {
    if (!vc__ready(k)) return vc__no_value();
    if (axis > 2) return vc__fail_call(k, "local_size", "axis is %u, but must be 0 to %u", axis, 2);
    return vc_const(k, vc_u32(k->desc.local_size[axis]));
}

VC_API vc_val vc_group_id(vc_kernel *k, uint32_t axis) {
    vc_val id = vc__builtin(k, axis, VC__OP_GROUP_ID);
    if (!id.owner || !vc__has_group_base(k, axis)) return id;
    return vc_add(id, vc__implicit(k, "group_id", VC_IMPLICIT_GROUP_BASE, 0, axis));
}

VC_API vc_val vc_global_id(vc_kernel *k, uint32_t axis) {
    vc_val id = vc__builtin(k, axis, VC__OP_GLOBAL_ID);
    if (id.owner) k->global_axes |= 1u << axis;
    if (!id.owner || !vc__has_group_base(k, axis)) return id;
    return vc_add(
        id, vc_mul(vc__implicit(k, "global_id", VC_IMPLICIT_GROUP_BASE, 0, axis), vc_u32(k->desc.local_size[axis])));
}

VC_API vc_val vc_length(vc_ref buffer) {
    vc_kernel *k = buffer.kernel;
    const vc__object *o = vc__ref_begin("length", &buffer);
    if (!o) return vc__no_value();
    if (buffer.inside & VC__INSIDE_ELEMENT && vc__user_type_of(k, buffer.type))
        return vc_const(k, vc_u32(vc__direct_part_count(k, buffer.type)));
    return o->op == VC__OP_BUFFER
               ? vc__implicit(k, "length", VC_IMPLICIT_LENGTH, k->node[buffer.memory].x,
                              o->composite == VC__NIL ? 0 : vc_type_size(o->declared)) /* of vc_as: in its type */
               : vc_const(k, vc_u32(o->count));
}

VC_API vc_val vc_shape(vc_ref buffer, uint32_t axis) {
    vc_kernel *k = buffer.kernel;
    const vc__object *o = vc__ref_begin("shape", &buffer);
    if (!o) return vc__no_value();
    if (o->op == VC__OP_BUFFER)
        return vc__implicit(k, "shape", VC_IMPLICIT_SHAPE, k->node[buffer.memory].x, axis);
    return vc__fail_call(k, "shape", "%m has no shape; only buffers have one", o);
}

VC_API vc_val vc_subgroup_size(vc_kernel *k) { return vc__builtin(k, 0, VC__OP_SUBGROUP_SIZE); }
VC_API vc_val vc_subgroup_id(vc_kernel *k) { return vc__builtin(k, 0, VC__OP_SUBGROUP_ID); }
VC_API vc_val vc_subgroup_count(vc_kernel *k) { return vc__builtin(k, 0, VC__OP_SUBGROUP_COUNT); }
VC_API vc_val vc_subgroup_local_id(vc_kernel *k) { return vc__builtin(k, 0, VC__OP_SUBGROUP_LOCAL_ID); }

/* ---- statements ---- */

/* The condition that causes divergence in the open block; VC__NIL: none. */
static uint32_t vc__cause_of(const vc_kernel *k) {
    uint32_t b = k->open_block;
    while (b != VC__NIL && !k->block[b].divergence) b = k->block[b].parent;
    return b == VC__NIL ? VC__NIL : k->block[b].cause;
}

/* Fails if a barrier or work-group function may not be called here. Otherwise marks the open block and those around it
   as containing a barrier. */
static bool vc__check_workgroup(vc_kernel *k, const char *call) {
    if (vc__fail_in_switch(k, call)) return false;
    uint32_t flags = k->block[k->open_block].flags;
    if (flags & VC__BLOCK_EACH)
        vc__fail_call(k, call,
                      "called inside VC_EACH, which some invocations skip; guard the loads and stores instead");
    else if (flags & VC__BLOCK_DIVERGES)
        vc__fail_call(k, call,
                      "called in control flow that diverges within a work-group, but all invocations must reach it%w",
                      vc__cause_of(k));
    else if (k->group_returned)
        vc__fail_call(k, call, "called after a vc_return_if that may have ended some invocations of a work-group");
    if (k->failed) return false;
    for (uint32_t b = k->open_block; b != VC__NIL; b = k->block[b].parent) k->block[b].flags |= VC__BLOCK_BARRIER;
    return true;
}

VC_API void vc_barrier(vc_kernel *k) {
    if (vc__ready(k) && vc__check_workgroup(k, "barrier"))
        vc__record_anchored(k, k->open_block, VC__OP_BARRIER, 0, VC_NONE, VC__NIL, VC__NIL, VC__NIL, 0);
}

VC_API void vc_barrier_scoped(vc_kernel *k, vc_scope execution, vc_scope memory, uint32_t storage) {
    const char *const call = "barrier_scoped";
    if (!vc__ready(k) || vc__fail_in_switch(k, call) || !vc__check_fence(k, call, (uint32_t)memory, storage)) return;
    if ((uint32_t)execution > VC_SCOPE_WORKGROUP) {
        vc__fail_call(k, call, "execution is %u, but must be VC_SCOPE_SUBGROUP or VC_SCOPE_WORKGROUP",
                      (uint32_t)execution);
        return;
    }
    if (!storage) storage = VC_STORAGE_BUFFER | VC_STORAGE_SHARED;
    if (!execution) execution = VC_SCOPE_WORKGROUP;
    if (!memory) memory = execution;
    if (execution == VC_SCOPE_SUBGROUP && k->desc.machine.missing_features & VC_FEATURE_SUBGROUP) {
        vc__fence(k, VC_ACQ_REL, (uint32_t)memory, storage);
        return;
    }
    if (execution == VC_SCOPE_SUBGROUP ? !vc__check_subgroup(k, call) : !vc__check_workgroup(k, call)) return;
    if (memory == VC_SCOPE_DEVICE && storage & VC_STORAGE_BUFFER) k->coherent = true;
    vc__record_anchored(k, k->open_block, VC__OP_BARRIER, 0, VC_NONE, VC__NIL, VC__NIL, VC__NIL,
                        4096u | (uint32_t)execution | (uint32_t)memory << 4 | storage << 8);
}

/* VC__NIL: none */
static uint32_t vc__enclosing_loop(const vc_kernel *k) {
    uint32_t b = k->open_block;
    while (b != VC__NIL && !vc__is_loop(k->block[b].op)) b = k->block[b].parent;
    return b;
}

/* The VC__BLOCK_ bits of a block whose condition is `node`. */
static uint32_t vc__block_flags_of(const vc_kernel *k, uint32_t node) {
    uint32_t flags = node == VC__NIL ? 0u : k->node[node].flags;
    return (flags & VC__NODE_VARIES_GROUP ? (uint32_t)VC__BLOCK_DIVERGES : 0u)
           | (flags & VC__NODE_VARIES_SUB ? (uint32_t)VC__BLOCK_DIVERGES_SUB : 0u);
}

/* If some invocations of a subgroup may not reach an operation, its result is undefined without maximal reconvergence.
   masked: VC__REACH_MASKED, as CUDA C requires. where, cause: for the message */
static bool vc__require_reconvergence(vc_kernel *k, const char *call, bool masked, const char *where, uint32_t cause) {
    if (k->desc.machine.missing_features & VC_FEATURE_SUBGROUP) return true; /* subgroups have one invocation */
    if (k->desc.machine.missing_features & VC_FEATURE_RECONVERGENCE) {
        vc__set_missing(k, VC__MISSING_MACHINE);
        return VC__FAIL_FALSE(k, call, "%s; this requires maximal reconvergence, which the device does not support "
                                       "(VC_FEATURE_RECONVERGENCE)%w", where, cause);
    }
    if (!masked) k->unmasked = true;
    return k->reconverges = true;
}

/* A divergent exit: from the exit to the end of block `last`, some invocations are inactive. */
typedef struct vc__divergent_exit {
    /* the loop; VC__NIL for a return, after which vc_kernel.group_returned and .subgroup_returned apply */
    uint32_t last;
    uint32_t block_flags; /* VC__BLOCK_ bits of the affected blocks */
    uint32_t divergence;  /* VC__NODE_ bits by which the active invocations differ from those that run the loop */
    uint32_t cause;       /* node of the condition */
    bool repeats;         /* the invocations are also inactive in the next iterations */
} vc__divergent_exit;

/* Marks the blocks that an exit affects. Fails if such a loop contains a barrier, or a subgroup operation that the
   machine cannot execute in divergent control flow. */
static void vc__apply_exit(vc_kernel *k, const char *call, const vc__divergent_exit *e) {
    for (uint32_t b = k->open_block; b != VC__NIL; b = b == e->last ? VC__NIL : k->block[b].parent) {
        vc__block *block = &k->block[b];
        if (e->repeats && vc__is_loop(block->op) && block->flags & VC__BLOCK_BARRIER) {
            vc__fail_call(k, call,
                          "the condition differs between the invocations of a work-group, but the loop contains a "
                          "barrier or work-group function that all of them must reach%w",
                          e->cause);
            return;
        }
        if (e->repeats && vc__is_loop(block->op) && block->flags & VC__BLOCK_CONVERGENT
            && e->block_flags & VC__BLOCK_DIVERGES_SUB
            && !vc__require_reconvergence(
                k, call, false,
                "the condition differs between the invocations of a subgroup, and the loop contains a subgroup "
                "operation",
                e->cause))
            return;
        if (e->repeats && vc__is_loop(block->op) && e->block_flags & VC__BLOCK_DIVERGES_SUB)
            block->flags |= VC__BLOCK_LEFT_EARLY;
        if (e->last == VC__NIL) continue;
        block->flags = (uint16_t)(block->flags | e->block_flags
                                  | (e->block_flags & VC__BLOCK_DIVERGES_SUB ? (uint32_t)VC__BLOCK_UNMASKED : 0u));
        if (!block->divergence && e->divergence) block->cause = e->cause;
        block->divergence = (uint8_t)(block->divergence | e->divergence);
    }
}

/* loop: VC__NIL: a return, which exits all enclosing loops */
static void vc__mark_exit(vc_kernel *k, uint32_t loop) {
    if (loop != VC__NIL) k->block[loop].flags |= VC__BLOCK_EXIT;
    else for (uint32_t b = k->open_block; b != VC__NIL; b = k->block[b].parent) k->block[b].flags |= VC__BLOCK_EXIT;
}

/* Updates the enclosing blocks for an exit in the open block. loop: as for vc__mark_exit */
static void vc__note_exit(vc_kernel *k, const char *call, uint32_t op, uint32_t loop, uint32_t condition) {
    uint32_t bits = k->node[condition].flags & VC__NODE_VARIES;
    vc__divergent_exit e;
    e.block_flags = (vc__block_flags_of(k, condition) | k->block[k->open_block].flags)
                    & (VC__BLOCK_DIVERGES | VC__BLOCK_DIVERGES_SUB);
    if (!e.block_flags) return;
    e.last = loop;
    e.divergence = bits | (loop == VC__NIL ? 0u : vc__control_divergence(k, k->open_block, k->block[loop].parent));
    e.cause = bits ? condition : vc__cause_of(k);
    e.repeats = op != VC__OP_CONTINUE_IF;
    if (op == VC__OP_RETURN_IF) k->group_returned = true;
    if (op == VC__OP_RETURN_IF && e.block_flags & VC__BLOCK_DIVERGES_SUB) k->subgroup_returned = true;
    vc__apply_exit(k, call, &e);
    if (op == VC__OP_BREAK_IF)
        k->block[loop].exit_divergence = (uint8_t)(k->block[loop].exit_divergence | e.divergence);
}

static void vc__exit(vc_kernel *k, const char *call, uint32_t op, vc_val condition) {
    if (!vc__ready(k) || vc__fail_in_switch(k, call)) return;
    uint32_t c = vc__condition(k, call, 1, condition);
    if (c == VC__NIL) return;
    uint32_t loop = op == VC__OP_RETURN_IF ? VC__NIL : vc__enclosing_loop(k);
    if (op != VC__OP_RETURN_IF && loop == VC__NIL) { vc__fail_call(k, call, "called outside of a loop"); return; }
    vc__note_exit(k, call, op, loop, c);
    if (op != VC__OP_CONTINUE_IF) vc__mark_exit(k, loop);
    if (!k->failed) vc__record_anchored(k, k->open_block, op, 0, VC_NONE, c, VC__NIL, VC__NIL, 0);
    if (!k->failed) vc__select_region(k);
}

VC_API void vc_break_if(vc_kernel *k, vc_val condition) { vc__exit(k, "break_if", VC__OP_BREAK_IF, condition); }
VC_API void vc_continue_if(vc_kernel *k, vc_val condition) {
    vc__exit(k, "continue_if", VC__OP_CONTINUE_IF, condition);
}
VC_API void vc_break_outer_if(vc_kernel *k, uint32_t levels, vc_val condition) {
    const char *const call = "break_outer_if";
    if (!vc__ready(k) || vc__fail_in_switch(k, call)) return;
    uint32_t c = vc__condition(k, call, 2, condition), loops = 0;
    for (uint32_t b = k->open_block; b != VC__NIL; b = k->block[b].parent) loops += vc__is_loop(k->block[b].op);
    if (c != VC__NIL && !loops) vc__fail_call(k, call, "called outside of a loop");
    else if (c != VC__NIL && levels >= loops)
        vc__fail_call(k, call, "levels is %u, but must be at most %u, the number of loops around the innermost one",
                      levels, loops - 1);
    for (uint32_t b = k->open_block, i = 0; i < levels && !k->failed; b = k->block[b].parent) {
        if (!vc__is_loop(k->block[b].op)) continue;
        vc_set(vc__make_ref(k, k->block[b].leaves, VC_BOOL), vc__value(k, c));
        k->block[b].flags |= VC__BLOCK_LEAVES;
        i++;
    }
    vc__exit(k, call, VC__OP_BREAK_IF, condition);
}
VC_API void vc_return_if(vc_kernel *k, vc_val condition) {
    if (vc__ready(k) && k->desc.checked && !vc__fail_in_switch(k, "return_if")) vc__report_checks(k);
    vc__exit(k, "return_if", VC__OP_RETURN_IF, condition);
}

/* ---- subgroups ---- */

/* VC__REACH_: the invocations of a subgroup that reach this point of the open block. */
static uint32_t vc__reach(const vc_kernel *k) {
    uint32_t flags = k->block[k->open_block].flags;
    if (k->subgroup_returned || flags & VC__BLOCK_UNMASKED) return VC__REACH_SOME;
    return flags & VC__BLOCK_DIVERGES_SUB ? VC__REACH_MASKED : VC__REACH_ALL;
}

/* Fails if a subgroup operation is not allowed here. Otherwise marks the open block and those around it as containing
   one. */
static bool vc__check_subgroup(vc_kernel *k, const char *call) {
    uint32_t reach = vc__reach(k);
    if (vc__fail_in_switch(k, call)) return false;
    if (reach != VC__REACH_ALL
        && !vc__require_reconvergence(k, call, reach == VC__REACH_MASKED,
                                      "called in control flow that diverges within a subgroup", vc__cause_of(k)))
        return false;
    for (uint32_t b = k->open_block; b != VC__NIL; b = k->block[b].parent) k->block[b].flags |= VC__BLOCK_CONVERGENT;
    return true;
}

/* The name of the function that records a subgroup operation. x: VC__LANES_ of operations on some of the lanes. */
static const char *vc__subgroup_call(uint32_t op, uint32_t x) {
    static const char *const combine[] = { "subgroup_reduce", "subgroup_inclusive", "subgroup_exclusive",
                                           "subgroup_clustered" };
    static const char *const count[] = { "subgroup_ballot_count", "subgroup_ballot_inclusive",
                                         "subgroup_ballot_exclusive", NULL };
    return vc__is_subgroup_combine(op) ? combine[x & 3u] : op == VC__OP_BALLOT_COUNT ? count[x & 3u] : vc__op_name[op];
}

/* by: node of the second operand, a u32; VC__NIL: none */
static vc_val vc__subgroup(vc_kernel *k, uint32_t op, const vc__operand *o, uint32_t by, uint32_t x) {
    const char *call = vc__subgroup_call(op, x);
    bool vote = op == VC__OP_VOTE_ANY || op == VC__OP_VOTE_ALL || op == VC__OP_VOTE_EQUAL;
    bool uniform = vote || op == VC__OP_BALLOT || op == VC__OP_BROADCAST || op == VC__OP_BROADCAST_FIRST
                   || (vc__is_subgroup_combine(op) && x == VC__LANES_ALL);
    vc_type type = vote ? (vc_type)VC_BOOL : op == VC__OP_BALLOT ? (vc_type)VC_U32X4
                   : op == VC__OP_BALLOT_COUNT ? (vc_type)VC_U32 : o->type;
    uint32_t a = o->node == VC__NIL ? vc__as_node(k, o, vc__components(o->type)) : o->node;
    if (a == VC__NIL || !vc__check_kind(k, call, o, 1, vc__op[op].kinds) || !vc__check_subgroup(k, call))
        return vc__no_value();
    return vc__value(k, vc__record(k, op, uniform ? VC__NODE_VARIES_GROUP : VC__NODE_VARIES, type, a, by, VC__NIL, x));
}

static vc_val vc__subgroup_of(vc_val v, uint32_t op, uint32_t x) {
    const char *call = vc__subgroup_call(op, x);
    vc_kernel *k = vc__kernel_of(v);
    vc__operand o;
    if (!k) return vc__result_without_kernel(v, v, call);
    if (k->failed || !vc__operand_of(k, call, 1, v, &o)) return vc__no_value();
    if (op == VC__OP_BALLOT_COUNT && o.type != VC_U32X4)
        return vc__fail_operand(k, call, 1, &o, "the u32x4 result of vc_subgroup_ballot");
    if ((op == VC__OP_VOTE_ANY || op == VC__OP_VOTE_ALL || op == VC__OP_BALLOT)
        && vc__condition(k, call, 1, v) == VC__NIL)
        return vc__no_value();
    return vc__subgroup(k, op, &o, VC__NIL, x);
}

/* by: a u32 */
static vc_val vc__subgroup_by(vc_val v, vc_val by, uint32_t op) {
    const char *call = vc__op_name[op];
    vc_kernel *k = vc__kernel_of_two(v, by);
    const vc_val operands[2] = { v, by };
    vc__operand o[2];
    if (!k) return vc__result_without_kernel(v, v, call);
    if (k->failed || !vc__operands_of(k, call, operands, 2, o)) return vc__no_value();
    if (vc__is_int_immediate(&o[1]) && !vc__adapt_immediate(k, call, 2, &o[1], VC_U32)) return vc__no_value();
    if (o[1].type != VC_U32) return vc__fail_operand(k, call, 2, &o[1], "a scalar u32");
    uint32_t b = vc__as_node(k, &o[1], 1);
    return b == VC__NIL ? vc__no_value() : vc__subgroup(k, op, &o[0], b, 0);
}

/* x: VC__LANES_, plus 16 times the cluster size */
static vc_val vc__subgroup_combine(vc_combine op, vc_val v, uint32_t x) {
    vc_kernel *k = vc__kernel_of(v);
    if (k && !k->failed && ((uint32_t)op < VC_ADD || (uint32_t)op > VC_XOR))
        vc__fail_call(k, vc__subgroup_call(VC__OP_SUBGROUP_ADD, x), "op is %u, which is not a vc_combine",
                      (uint32_t)op);
    if (k && k->failed) return vc__no_value();
    return vc__subgroup_of(v, VC__OP_SUBGROUP_ADD + (uint32_t)op - VC_ADD, x);
}

VC_API vc_val vc_subgroup_elect(vc_kernel *k) {
    if (!vc__ready(k) || vc__fail_in_switch(k, "subgroup_elect")) return vc__no_value();
    return vc__value(k, vc__record(k, VC__OP_ELECT, VC__NODE_VARIES, VC_BOOL, VC__NIL, VC__NIL, VC__NIL,
                                   vc__reach(k)));
}

VC_API vc_val vc_subgroup_any(vc_val condition) { return vc__subgroup_of(condition, VC__OP_VOTE_ANY, 0); }
VC_API vc_val vc_subgroup_all(vc_val condition) { return vc__subgroup_of(condition, VC__OP_VOTE_ALL, 0); }
VC_API vc_val vc_subgroup_all_equal(vc_val v) { return vc__subgroup_of(v, VC__OP_VOTE_EQUAL, 0); }
VC_API vc_val vc_subgroup_ballot(vc_val condition) { return vc__subgroup_of(condition, VC__OP_BALLOT, 0); }
VC_API vc_val vc_subgroup_ballot_count(vc_val ballot) {
    return vc__subgroup_of(ballot, VC__OP_BALLOT_COUNT, VC__LANES_ALL);
}
VC_API vc_val vc_subgroup_ballot_inclusive(vc_val ballot) {
    return vc__subgroup_of(ballot, VC__OP_BALLOT_COUNT, VC__LANES_UP_TO);
}
VC_API vc_val vc_subgroup_ballot_exclusive(vc_val ballot) {
    return vc__subgroup_of(ballot, VC__OP_BALLOT_COUNT, VC__LANES_BELOW);
}
VC_API vc_val vc_subgroup_broadcast_first(vc_val v) { return vc__subgroup_of(v, VC__OP_BROADCAST_FIRST, 0); }
VC_API vc_val vc_subgroup_broadcast(vc_val v, vc_val local_id) {
    return vc__subgroup_by(v, local_id, VC__OP_BROADCAST);
}
VC_API vc_val vc_subgroup_shuffle(vc_val v, vc_val local_id) { return vc__subgroup_by(v, local_id, VC__OP_SHUFFLE); }
VC_API vc_val vc_subgroup_shuffle_xor(vc_val v, vc_val mask) { return vc__subgroup_by(v, mask, VC__OP_SHUFFLE_XOR); }
VC_API vc_val vc_subgroup_shuffle_up(vc_val v, vc_val delta) { return vc__subgroup_by(v, delta, VC__OP_SHUFFLE_UP); }
VC_API vc_val vc_subgroup_shuffle_down(vc_val v, vc_val delta) {
    return vc__subgroup_by(v, delta, VC__OP_SHUFFLE_DOWN);
}
VC_API vc_val vc_subgroup_reduce(vc_combine op, vc_val v) { return vc__subgroup_combine(op, v, VC__LANES_ALL); }
VC_API vc_val vc_subgroup_inclusive(vc_combine op, vc_val v) { return vc__subgroup_combine(op, v, VC__LANES_UP_TO); }
VC_API vc_val vc_subgroup_exclusive(vc_combine op, vc_val v) { return vc__subgroup_combine(op, v, VC__LANES_BELOW); }

VC_API vc_val vc_subgroup_clustered(vc_combine op, vc_val v, uint32_t size) {
    vc_kernel *k = vc__kernel_of(v);
    if (vc__ready(k) && (!size || size & (size - 1) || size > 128))
        vc__fail_call(k, "subgroup_clustered", "size is %u, but must be a power of two up to 128", size);
    return vc__subgroup_combine(op, v, VC__LANES_CLUSTER | size << 4);
}

/* ---- work-groups ---- */

/* The type in which a work-group function combines values: 32 bits for narrow types and bools. */
static vc_type vc__group_type(vc_type type) {
    if (vc__is_bool(type)) return VC_U32;
    if (vc__bits(vc__kind(type)) >= 32) return type;
    return vc__is_float(type) ? VC_F32 : vc__is_signed(type) ? VC_I32 : VC_U32;
}

/* A shared array with two elements per invocation. Functions that use it end with a barrier, so that the next one can
   reuse it. */
static vc_ref vc__scratch(vc_kernel *k, vc_type type) {
    uint32_t *node = &k->scratch[vc__kind(type)];
    if (!*node) {
        uint32_t object_node = vc__add_object(k, "group", VC__OP_SHARED, VC_READ_WRITE, type, 2 * vc__invocations(k),
                                              NULL);
        if (object_node == VC__NIL) return vc__no_ref();
        *node = object_node + 1;
    }
    return vc__make_ref(k, *node - 1, type);
}

/* A barrier that orders accesses to shared memory only. */
static void vc__group_barrier(vc_kernel *k) {
    vc_barrier_scoped(k, VC_SCOPE_WORKGROUP, VC_SCOPE_WORKGROUP, VC_STORAGE_SHARED);
}

static vc_val vc__combine(vc_combine op, vc_val a, vc_val b) {
    switch (op) {
    case VC_ADD: return vc_add(a, b);
    case VC_MUL: return vc_mul(a, b);
    case VC_MIN: return vc_min(a, b);
    case VC_MAX: return vc_max(a, b);
    case VC_AND: return vc_and(a, b);
    case VC_OR: return vc_or(a, b);
    default: return vc_xor(a, b);
    }
}

/* Casts *v to the type in which it is combined. *type receives its original type. */
static bool vc__group_begin(vc_kernel *k, const char *call, uint32_t op, uint32_t kinds, vc_val *v, vc_type *type,
                            vc_val *out) {
    vc__operand o;
    if (out) *out = vc__no_value();
    if (!vc__ready(k)) return false;
    if (op < VC_ADD || op > VC_XOR) return VC__FAIL_FALSE(k, call, "op is %u, which is not a vc_combine", op);
    if (!vc__operand_of(k, call, 1, *v, &o)) return false;
    if (vc__components(o.type) != 1 || vc__kind(o.type) != o.type) {
        vc__fail_operand(k, call, 1, &o, "a scalar");
        return false;
    }
    if (!vc__check_kind(k, call, &o, 1, kinds) || !vc__check_workgroup(k, call)) return false;
    *type = o.type;
    *v = vc_cast(vc__group_type(o.type), vc_const(k, *v));
    return v->owner != 0;
}

static uint32_t vc__combine_kinds(vc_combine op) { return (uint32_t)op >= VC_AND ? VC__KINDS_BIU : VC__KINDS_IUF; }

/* The barrier waits until all invocations have read the shared array. */
static void vc__group_end(vc_kernel *k, vc_type type, vc_val v, vc_val *out) {
    vc_val result = vc_cast(type, v);
    vc__group_barrier(k);
    if (out) *out = k->failed ? vc__no_value() : result;
}

/* Without VC_FEATURE_SUBGROUP, a subgroup is one invocation. If a work-group has several axes, the rows of axis 0 must
   fill subgroups of the largest size (128): otherwise llvmpipe divides each row into subgroups, but numbers them as if
   rows were contiguous. */
static bool vc__has_subgroup_reduce(const vc_kernel *k, vc_type type) {
    uint64_t missing = k->desc.machine.missing_features;
    const uint32_t *local = k->desc.local_size;
    if (missing & VC_FEATURE_SUBGROUP) return true;
    if (local[0] != vc__invocations(k) && local[0] % 128u) return false;
    return !(missing & VC_FEATURE_SUBGROUP_TYPES) || vc__is_float(type) || vc__bits(vc__kind(type)) < 64;
}

/* Starts with one partial result for each subgroup or, if subgroup reductions cannot be used, for each invocation.
   Then halves their number, rounded up, in each iteration (tree reduction). */
VC_API void vc_group_reduce(vc_kernel *k, vc_combine op, vc_val v, vc_val *out) {
    const char *const call = "group_reduce";
    vc_val count;
    vc_type type;
    if (!vc__group_begin(k, call, (uint32_t)op, vc__combine_kinds(op), &v, &type, out)) return;
    vc_ref part = vc__scratch(k, vc_typeof(v));
    vc_ref remaining = vc_var(k, "remaining", VC_U32);
    vc_val index = vc_local_index(k);
    if (vc__has_subgroup_reduce(k, vc_typeof(v))) {
        v = vc_subgroup_reduce(op, v);
        VC_IF(k, vc_subgroup_elect(k)) { vc__store_at(&part, vc_subgroup_id(k), v); }
        count = vc_subgroup_count(k);
    } else {
        vc__store_at(&part, index, v);
        count = vc_u32(vc__invocations(k));
    }
    vc__group_barrier(k);
    vc__set(&remaining, count);
    VC_LOOP(k) {
        vc_break_if(k, vc_le(vc__get(&remaining), vc_u32(1)));
        vc_val current = vc__get(&remaining);
        vc_val half = vc_sub(current, vc_shr(current, vc_u32(1)));
        VC_IF(k, vc_lt(vc_add(index, half), current)) {
            vc__store_at(&part, index,
                         vc__combine(op, vc__load_at(&part, index), vc__load_at(&part, vc_add(index, half))));
        }
        vc__group_barrier(k);
        vc__set(&remaining, half);
    }
    vc__group_end(k, type, vc__load_at(&part, vc_u32(0)), out);
}

/* The v of the invocation `step` before this one. *has_source: the condition that there is one. */
static vc_val vc__group_earlier(vc_kernel *k, const vc_ref *part, vc_val index, uint32_t step, vc_val v,
                                vc_val *has_source) {
    vc_val source[2] = { index, vc_u32(step) };
    vc__store_at(part, index, v);
    vc__group_barrier(k);
    vc__rule_record_of(k, VC_U32, VC__RULE(earlier, "c = y <= x; c, c ? x - y : 0"), source, 2, source, 2);
    *has_source = source[0];
    return vc__load_at(part, source[1]);
}

/* Prefix sum in log2(count) steps (Hillis and Steele, Data parallel algorithms, Communications of the ACM 29, 1986).
   Alternates between the two halves of the shared array by the offset of its ref. Does not use subgroup scans, because
   the order of the invocations of a subgroup may differ from that of their local indices. */
static void vc__group_scan(vc_kernel *k, const char *call, vc_combine op, vc_val v, bool inclusive, vc_val *out) {
    uint32_t subgroup_op = VC__OP_SUBGROUP_ADD + (uint32_t)op - VC_ADD;
    vc_val other, has_source;
    vc_type type;
    if (!vc__group_begin(k, call, (uint32_t)op, vc__combine_kinds(op), &v, &type, out)) return;
    uint32_t count = vc__invocations(k);
    vc_ref part = vc__scratch(k, vc_typeof(v));
    vc_val index = vc_local_index(k);
    for (uint32_t step = 1; step < count && !k->failed; step *= 2) {
        other = vc__group_earlier(k, &part, index, step, v, &has_source);
        v = vc_select(has_source, vc__combine(op, other, v), v);
        part.offset = count - part.offset;
    }
    if (!inclusive) {
        other = vc_cast(type, vc__group_earlier(k, &part, index, 1, v, &has_source));
        v = vc_select(has_source, other, vc_imm(type, vc__identity_bits(subgroup_op, type)));
    }
    vc__group_end(k, type, v, out);
}

VC_API void vc_group_inclusive(vc_kernel *k, vc_combine op, vc_val v, vc_val *out) {
    vc__group_scan(k, "group_inclusive", op, v, true, out);
}
VC_API void vc_group_exclusive(vc_kernel *k, vc_combine op, vc_val v, vc_val *out) {
    vc__group_scan(k, "group_exclusive", op, v, false, out);
}

VC_API void vc_group_broadcast(vc_kernel *k, vc_val v, vc_val local_index, vc_val *out) {
    const char *const call = "group_broadcast";
    vc_type type;
    if (!vc__group_begin(k, call, VC_ADD, VC__KINDS_BIUF, &v, &type, out)) return;
    uint32_t n = vc__fit_node(k, call, 2, local_index, VC_U32);
    if (n == VC__NIL) return;
    vc_ref part = vc__scratch(k, vc_typeof(v));
    VC_IF(k, vc_eq(vc_local_index(k), vc__value(k, n))) { vc__store_at(&part, vc_u32(0), v); }
    vc__group_barrier(k);
    vc__group_end(k, type, vc__load_at(&part, vc_u32(0)), out);
}

/* ---- blocks ---- */

static void vc__begin_if(vc_kernel *k, const char *call, vc_val condition) {
    if (!vc__ready(k) || vc__fail_in_switch(k, call)) return;
    uint32_t c = vc__condition(k, call, 1, condition);
    if (c != VC__NIL) vc__open_block(k, k->open_block, VC__OP_IF, vc__block_flags_of(k, c), VC_NONE, c, VC__NIL);
}

VC_API int vc_if_begin(vc_kernel *k, vc_val condition) {
    vc__begin_if(k, "VC_IF", condition);
    return 1;
}

/* The ELSE node replaces the END of the VC_IF: it gets the same anchor. */
VC_API int vc_else_begin(vc_kernel *k) {
    vc__block *b;
    if (!vc__ready(k)) return 1;
    const vc__node *end_node = &k->node[k->count - 1];
    uint32_t end_anchor = k->anchor_count - 1;
    for (b = k->block + k->block_count - 1; b > k->block && b->close != end_anchor; b--) continue;
    if (end_node->op != VC__OP_END || end_node->x != VC__OP_IF || b->flags & VC__BLOCK_GUARD) {
        vc__fail_call(k, "VC_ELSE", "must directly follow the block of a VC_IF");
        return 1;
    }
    k->anchor_count = end_anchor;
    uint32_t condition = b->condition;
    if (!vc__open_block(k, b->parent, VC__OP_ELSE, vc__block_flags_of(k, condition), VC_NONE, VC__NIL, VC__NIL))
        return 1;
    b = &k->block[k->open_block];
    b->condition = condition;
    if (b->divergence) b->cause = condition;
    return 1;
}

VC_API int vc_loop_begin(vc_kernel *k) {
    if (vc__ready(k) && !vc__fail_in_switch(k, "VC_LOOP"))
        vc__open_block(k, k->open_block, VC__OP_LOOP, 0, VC_NONE, VC__NIL, VC__NIL);
    return 1;
}

VC_API int vc_switch_begin(vc_kernel *k, vc_val value) {
    vc__operand o;
    if (!vc__ready(k) || vc__fail_in_switch(k, "VC_SWITCH") || !vc__operand_of(k, "VC_SWITCH", 1, value, &o)) return 1;
    if (!vc__is_int(o.type) || vc__components(o.type) != 1) {
        vc__fail_call(k, "VC_SWITCH", "the value%a is %t, but must be a scalar integer", &o, o.type);
        return 1;
    }
    uint32_t n = vc__as_node(k, &o, 1);
    if (n != VC__NIL) vc__open_block(k, k->open_block, VC__OP_SWITCH, vc__block_flags_of(k, n), o.type, n, VC__NIL);
    return 1;
}

static int vc__switch_part_begin(vc_kernel *k, const char *call, uint32_t op, int64_t value) {
    uint64_t bits = 0;
    if (!vc__ready(k)) return 1;
    if (k->block[k->open_block].op != VC__OP_SWITCH) {
        vc__fail_call(k, call, "must be directly inside a VC_SWITCH");
        return 1;
    }
    vc_type type = k->node[k->anchor[k->block[k->open_block].open].node].type;
    if (op == VC__OP_CASE && !vc__fits(VC_I64, (uint64_t)value, type, &bits)) {
        vc__fail_call(k, call, "the value is %lld, which is out of range for %t", (long long)value, type);
        return 1;
    }
    uint32_t low = (uint32_t)bits;
    uint32_t high = (uint32_t)(bits >> 32);
    for (uint32_t i = k->open_block + 1; i < k->block_count; i++) {
        const vc__node *n = &k->node[k->anchor[k->block[i].open].node];
        if (k->block[i].parent != k->open_block || n->op != op
            || (op == VC__OP_CASE && (n->a[0] != low || n->a[1] != high)))
            continue;
        if (op == VC__OP_CASE)
            vc__fail_call(k, call, "the value %lld is already used by another VC_CASE", (long long)value);
        else vc__fail_call(k, call, "the VC_SWITCH already has a VC_DEFAULT");
        return 1;
    }
    vc__open_block(k, k->open_block, op, 0, type, low, high);
    return 1;
}

VC_API int vc_case_begin(vc_kernel *k, int64_t value) {
    return vc__switch_part_begin(k, "VC_CASE", VC__OP_CASE, value);
}
VC_API int vc_default_begin(vc_kernel *k) { return vc__switch_part_begin(k, "VC_DEFAULT", VC__OP_DEFAULT, 0); }

/* ---- divergence of variables ----
   A variable or private array is varying if a stored value, its index, or a condition of the blocks between the
   declaration and the store is varying. It is also varying after a loop that stores to it, if invocations may leave the
   loop in different iterations. While recording, a load gets the bits of the stores so far. In a loop, a later store
   can reach an earlier load in the next iteration. Therefore the outermost loop is analysed again when it is closed,
   until the bits no longer change (a fixed point). */

enum { VC__MAX_REPLAYS = 16 }; /* maximum passes over one loop; after that, all variables are treated as varying */

/* At the end of a loop that invocations may leave in different iterations: marks the variables that are declared
   outside and stored inside as varying, and a return in the loop as divergent. */
static void vc__note_loop_exit(vc_kernel *k, uint32_t loop) {
    const vc__block *b = &k->block[loop];
    const bool subgroup = b->exit_divergence & VC__NODE_VARIES_SUB;
    bool returns = false;
    for (uint32_t anchor = b->open + 1; b->exit_divergence && anchor < b->close; anchor++) {
        const vc__node *n = &k->node[k->anchor[anchor].node];
        vc__object *o = n->op == VC__OP_STORE ? &k->object[k->node[n->a[0]].x] : NULL;
        if (o && vc__is_private(o) && k->block[o->block].open < b->open) vc__add_divergence(k, o, b->exit_divergence);
        returns = returns || n->op == VC__OP_RETURN_IF;
    }
    if (!returns) return;
    vc__divergent_exit e = { VC__NIL, subgroup ? VC__BLOCK_DIVERGES_SUB : VC__BLOCK_DIVERGES, b->exit_divergence,
                             b->cause, true };
    k->group_returned = true;
    k->subgroup_returned = k->subgroup_returned || subgroup;
    vc__apply_exit(k, "return_if", &e); /* the enclosing loops continue without the invocations that returned */
}

static void vc__replay_block(vc_kernel *k, vc__node *n) {
    uint32_t closed = k->open_block;
    k->open_block = k->anchor[n->region].block;
    vc__block *b = &k->block[k->open_block];
    if (n->op == VC__OP_END) { vc__note_loop_exit(k, closed); return; }
    if (n->op == VC__OP_FOR) n->flags = (uint8_t)(n->flags | (vc__flags_of_operands(k, n) & VC__NODE_VARIES));
    vc__begin_block_flags(k, b,
                          (b->flags & ~(uint32_t)(VC__BLOCK_DIVERGES | VC__BLOCK_DIVERGES_SUB | VC__BLOCK_UNMASKED))
                              | vc__block_flags_of(k, b->condition));
}

static void vc__replay_effect(vc_kernel *k, vc__node *n) {
    k->replayed_statement = n->region;
    if (n->op == VC__OP_STORE) {
        vc__object *o = &k->object[k->node[n->a[0]].x];
        if (vc__is_private(o)) vc__note_private_store(k, o, n->a[2], n->a[1]);
    } else if (n->op == VC__OP_BARRIER) {
        if ((n->x & 15u) == VC_SCOPE_SUBGROUP) vc__check_subgroup(k, "barrier_scoped");
        else vc__check_workgroup(k, n->x ? "barrier_scoped" : "barrier");
    } else if (n->op == VC__OP_BREAK_IF || n->op == VC__OP_CONTINUE_IF || n->op == VC__OP_RETURN_IF)
        vc__note_exit(k, vc__op_name[n->op], n->op, n->op == VC__OP_RETURN_IF ? VC__NIL : vc__enclosing_loop(k),
                      n->a[0]);
    k->replayed_statement = 0;
}

/* The flags of atomics and subgroup operations do not depend on operands; of the latter only the control flow is
   checked again. subgroup_elect is allowed in any. */
static void vc__replay_nodes(vc_kernel *k, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end && !k->failed; i++) {
        vc__node *n = &k->node[i];
        uint32_t class_ = vc__op[n->op].class_;
        /* skip an END that an ELSE has replaced */
        if (class_ >= VC__EFFECT && k->anchor[n->region].node != i) continue;
        if (class_ == VC__BLOCK) vc__replay_block(k, n);
        else if (class_ == VC__EFFECT) vc__replay_effect(k, n);
        else if (n->op == VC__OP_ELECT) n->x = vc__reach(k);
        else if (class_ == VC__CONVERGENT) {
            k->replayed_statement = n->region;
            vc__check_subgroup(k, vc__subgroup_call(n->op, n->x));
            k->replayed_statement = 0;
        } else if (class_ == VC__PURE || class_ == VC__READ) {
            uint32_t next = vc__op[n->op].operands ? vc__flags_of_operands(k, n) : 0u;
            if (n->op == VC__OP_LOAD && vc__is_private(&k->object[k->node[n->a[0]].x]))
                next |= k->object[k->node[n->a[0]].x].divergence;
            n->flags = (uint8_t)(n->flags | (next & VC__NODE_VARIES));
        }
    }
}

/* Repeats the analysis of a closed loop until the divergence of its variables no longer changes. */
static void vc__replay(vc_kernel *k, uint32_t loop) {
    uint32_t open_block = k->open_block, end = k->count;
    for (uint32_t pass = 0; k->needs_replay && !k->failed; pass++) {
        k->needs_replay = false;
        for (uint32_t i = 0; i < k->object_count && pass == VC__MAX_REPLAYS; i++)
            if (vc__is_private(&k->object[i])) k->object[i].divergence = VC__NODE_VARIES;
        k->open_block = k->block[loop].parent;
        vc__replay_nodes(k, k->anchor[k->block[loop].open].node, end);
    }
    k->open_block = open_block;
}

VC_API int vc_block_end(vc_kernel *k) {
    if (!vc__ready(k)) return 0;
    vc__block *b = &k->block[k->open_block];
    if (b->parent == VC__NIL) return VC__FAIL_FALSE(k, "block_end", "no block is open");
    if (b->op == VC__OP_LOOP && !(b->flags & VC__BLOCK_EXIT))
        return VC__FAIL_FALSE(k, "VC_LOOP",
                              "the loop has no vc_break_if, vc_break_outer_if or vc_return_if, so it never terminates");
    uint32_t closed = k->open_block;
    b->close = k->closed_to = k->anchor_count;
    if (b->open < k->closed_from) k->closed_from = b->open;
    vc__record_anchored(k, b->parent, VC__OP_END, 0, VC_NONE, VC__NIL, VC__NIL, VC__NIL, b->op);
    if (!k->failed) vc__select_region(k);
    if (!k->failed) vc__note_loop_exit(k, closed);
    if (!k->failed && k->block[closed].flags & VC__BLOCK_LEAVES)
        vc_break_if(k, vc_get(vc__make_ref(k, k->block[closed].leaves, VC_BOOL)));
    if (closed != k->outer_loop) return 0;
    if (k->needs_replay && !k->failed) vc__replay(k, closed);
    k->outer_loop = 0;
    k->needs_replay = false;
    return 0;
}

/* Opens a loop and returns its counter. `step` is unsigned and not 0. wraps: the counter plus the step may overflow */
static vc_val vc__count_loop(vc_kernel *k, vc_val first, vc_val limit, vc_val step, bool wraps) {
    vc__operand o[3];
    uint32_t n[3], i, flags = 0;
    vc_val v[3] = { first, limit, step };
    if (k->failed || !vc__operands_of(k, "VC_FOR", v, 3, o)) return vc__no_value();
    for (i = 0; i < 3; i++) {
        n[i] = i == 2 && vc__is_immediate(step) && step.bits == 1 ? VC__NIL : vc__as_node(k, &o[i], 1);
        if (n[i] == VC__NIL && i < 2) return vc__no_value();
        if (n[i] != VC__NIL) flags |= vc__block_flags_of(k, n[i]);
    }
    if (k->failed || !vc__open_block(k, k->open_block, VC__OP_FOR, flags, o[0].type, n[0], n[1])) return vc__no_value();
    i = k->anchor[k->block[k->open_block].open].node;
    k->node[i].a[2] = n[2];
    k->node[i].x = wraps;
    return vc__value(k, i);
}

/* Whether a counter less than `limit`, plus the step, may overflow the type. */
static bool vc__may_wrap(vc_type type, vc_val limit, uint64_t step) {
    uint64_t max = vc__ones(vc__bits(type) - (vc__is_signed(type) ? 1u : 0u));
    if (step == 1) return false;
    return !vc__is_immediate(limit) || max - vc__widen(type, limit.bits) < step - 1;
}

/* VC_FOR with a constant step of type `step_type`. A loop that counts down is recorded as a loop that counts the
   bitwise complement up. If a signed counter may overflow and its start is a constant of 0 or more, the loop counts in
   the unsigned type, where the counter cannot overflow. */
static vc_val vc__for_constant_step(vc_kernel *k, vc_val first, vc_val limit, vc_type type, vc_type step_type,
                                    uint64_t step) {
    bool counts_down = vc__is_signed(step_type) && step >> 63;
    uint64_t magnitude = counts_down ? 0 - step : step;
    vc_type counter = type;
    if (magnitude > vc__ones(vc__bits(type)))
        return vc__fail_call(k, "VC_FOR_STEP", "the step %s%llu is out of range for %t", counts_down ? "-" : "",
                             (unsigned long long)magnitude, type);
    if (magnitude == 0) { limit = first; magnitude = 1; }
    if (counts_down) { first = vc_not(first); limit = vc_not(limit); }
    bool wraps = vc__may_wrap(type, limit, magnitude);
    if (wraps && vc__is_signed(type) && vc__is_immediate(first) && !(vc__widen(type, first.bits) >> 63)
        && magnitude <= vc__ones(vc__bits(type) - 1)) {
        counter = vc__to_unsigned(type);
        limit = vc_cast(counter, vc_max(limit, first));
        first = vc_cast(counter, first);
        wraps = false;
    }
    vc_val i = vc_cast(type, vc__count_loop(k, first, limit, vc_imm(counter, magnitude), wraps));
    return counts_down ? vc_not(i) : i;
}

/* VC_FOR with a step that is known only at run time. If it is negative, the loop counts the bitwise complement up; if
   it is 0, the limit is set to `first`, so that there is no iteration. */
VC__NOINLINE static vc_val vc__for_dynamic_step(vc_kernel *k, vc_val first, vc_val limit, vc_type type, vc_val step) {
    bool is_signed = vc__is_signed(vc_typeof(step));
    vc_val v[4] = { first, limit, step, step }; /* then also the sign mask */
    vc__rule_record_of(k, type,
                       is_signed ? VC__RULE(for_signed_step, "s = z >> top; m = T(s); f = x ^ m; "
                                                             "f, z == 0 ? f : y ^ m, T((z ^ s) - s), m")
                                 : VC__RULE(for_unsigned_step, "x, z == 0 ? x : y, T(z)"), v, 3, v, is_signed ? 4 : 3);
    vc_val i = vc__count_loop(k, v[0], v[1], v[2], true);
    return is_signed ? vc_xor(i, v[3]) : i;
}

VC_API vc_val vc_for_begin(vc_kernel *k, vc_val first, vc_val limit, vc_val step) {
    const char *const call = "VC_FOR";
    const vc_val v[3] = { first, limit, step };
    vc__operand o[3];
    if (!vc__ready(k) || vc__fail_in_switch(k, call) || !vc__operands_of(k, call, v, 3, o)) return vc__no_value();
    vc_type type = vc__unify(k, call, o, 2);
    if (!type) return vc__no_value();
    if (!vc__is_int(type) || vc__components(type) != 1)
        return vc__fail_call(k, call, "first and limit are %t, but must be scalar integers", type);
    if (!vc__is_int(o[2].type) || vc__components(o[2].type) != 1
        || (o[2].node != VC__NIL && vc__bits(o[2].type) != vc__bits(type)))
        return vc__fail_call(k, "VC_FOR_STEP", "the step%a is %t, but must be a scalar integer as wide as %t", &o[2],
                             o[2].type, type);
    if (o[0].node == VC__NIL) first = vc_imm(type, o[0].bits);
    if (o[1].node == VC__NIL) limit = vc_imm(type, o[1].bits);
    if (o[2].node == VC__NIL)
        return vc__for_constant_step(k, first, limit, type, o[2].type, vc__widen(o[2].type, o[2].bits));
    return vc__for_dynamic_step(k, first, limit, type, step);
}

/* ---- short-circuit statements: the result is a variable that is declared before a VC_IF ---- */

/* Stores operand number `which` to the result variable. The first store declares the variable, in the region before the
   blocks. A composite result is an array of one element, which is not set to zero, because both blocks store to it. */
static void vc__short_circuit_store(vc_short_circuit *lazy, uint32_t which, vc_val value) {
    vc_kernel *k = lazy->kernel;
    vc_type type = vc_typeof(value);
    bool composite = vc__is_composite(value);
    uint32_t at = k->region;
    vc__operand o;
    if (composite ? vc__composite_node(k, lazy->call, which, value) == VC__NIL
                  : !vc__operand_of(k, lazy->call, which, value, &o))
        return;
    if (!lazy->result.kernel) {
        k->region = lazy->region;
        lazy->result = composite ? vc_array(k, NULL, type, 1) : vc_var(k, NULL, type);
        k->region = at;
    }
    if (!k->failed && !composite && !vc__is_int_immediate(&o) && vc__scalar(type) != vc__scalar(lazy->result.type))
        vc__fail_operand(k, lazy->call, which, &o, vc__type_text(k, lazy->result.type).text);
    if (!k->failed) vc__store(k, lazy->call, &lazy->result, which, value);
}

VC_API vc_short_circuit vc_short_circuit_begin(vc_kernel *k, const char *call, vc_short_circuit_kind kind,
                                               vc_val condition) {
    vc_short_circuit lazy;
    memset(&lazy, 0, sizeof lazy);
    lazy.kernel = k;
    lazy.call = call += strlen("vc_");
    lazy.which = kind == VC_SHORT_CIRCUIT_SELECT ? 3 : 2;
    if (!vc__ready(k)) return lazy;
    if (kind != VC_SHORT_CIRCUIT_SELECT) lazy.result = vc_var(k, NULL, VC_BOOL);
    if (kind == VC_SHORT_CIRCUIT_OR && vc__condition(k, call, 1, condition) != VC__NIL) {
        vc_set(lazy.result, vc_bool(true));
        condition = vc_not(condition);
    }
    lazy.condition = condition;
    lazy.region = k->region;
    vc__begin_if(k, call, condition);
    lazy.block = k->open_block;
    return lazy;
}

/* Fails if the open block is not that of the current operand. */
static bool vc__short_circuit_is_open(const vc_short_circuit *lazy) {
    vc_kernel *k = lazy->kernel;
    if (!vc__ready(k)) return false;
    return k->open_block == lazy->block
           || VC__FAIL_FALSE(k, lazy->call,
                             "an operand opens a block that it does not close, or closes one that it did not open");
}

/* An immediate is not stored: vc_short_circuit_end selects it and converts it to the type of the other value. */
VC_API void vc_short_circuit_else(vc_short_circuit *lazy, vc_val a) {
    vc_kernel *k = lazy->kernel;
    if (!vc__short_circuit_is_open(lazy)) return;
    if (vc__is_immediate(a)) lazy->first_value = a;
    else vc__short_circuit_store(lazy, 2, a);
    vc_block_end(k);
    vc_else_begin(k);
    lazy->block = k->open_block;
}

VC_API void vc_short_circuit_end(vc_short_circuit *lazy, vc_val value, vc_val *out) {
    vc_kernel *k = lazy->kernel;
    vc_val result = value;
    if (out) *out = vc__no_value();
    if (!vc__short_circuit_is_open(lazy)) return;
    bool stored = lazy->result.kernel || !vc__is_immediate(value);
    if (stored) vc__short_circuit_store(lazy, lazy->which, value);
    vc_block_end(k);
    if (stored && !k->failed) result = vc__load(k, lazy->call, &lazy->result);
    if (lazy->first_value.owner) result = vc_select(lazy->condition, lazy->first_value, result);
    if (out && !k->failed) *out = result;
}

VC_API vc_val vc_each_begin(vc_kernel *k, uint32_t axes, uint32_t axis) {
    vc_val in_range = vc__no_value();
    if (!vc__ready(k)) return in_range;
    if (axis != 0) return vc_global_id(k, axis);
    if (vc__fail_in_switch(k, "VC_EACH")) return in_range;
    if (axes < 1 || axes > 3) { vc__fail_call(k, "VC_EACH", "axes is %u, but must be 1 to 3", axes); return in_range; }
    for (uint32_t i = 0; i < axes; i++) {
        vc_val id = vc_global_id(k, i), axis_in_range = vc_lt(id, vc_threads(k, i));
        in_range = i ? vc_and(in_range, axis_in_range) : axis_in_range;
    }
    uint32_t c = vc__condition(k, "VC_EACH", 1, in_range);
    if (c != VC__NIL)
        vc__open_block(k, k->open_block, VC__OP_IF, vc__block_flags_of(k, c) | VC__BLOCK_EACH | VC__BLOCK_GUARD,
                       VC_NONE, c, VC__NIL);
    return vc_global_id(k, 0);
}

// >>derived
/* Public functions that have no operation in the table of operations and record several other ones. They check their
   operands first, so that error messages name the function that was called. Several calls that record may be arguments
   of one C call: the order in which C evaluates them has no effect, because the schedule determines the order. */

typedef struct vc__fn {
    const char *call;
    vc_kernel *k;    /* NULL: all operands are immediates */
    vc_type type;    /* common type of the operands; VC_NONE after an error */
    uint32_t count;
    bool half;       /* the operands are f16: they are cast to f32, and the result is cast back */
    vc_val v[4];     /* operands; scalars that are combined with vectors stay scalars */
} vc__fn;

static vc_val vc__operand_value(vc_kernel *k, const vc__operand *o) {
    return o->node == VC__NIL ? vc__immediate(o->type, o->bits) : vc__value(k, o->node);
}

/* The type of operand i, an integer count or offset, may differ from that of operand 0. */
static bool vc__fn_count(vc__fn *f, uint32_t i, const vc__operand *o) {
    if (!vc__check_kind(f->k, f->call, o, i + 1, VC__KINDS_IU)) return false;
    if (vc__components(o->type) != 1 && vc__components(f->type) != 1
        && vc__components(o->type) != vc__components(f->type))
        return VC__FAIL_FALSE(f->k, f->call,
                              "operand 1 is %t and operand %u%a is %t; vectors must have the same number of components",
                              f->type, i + 1, o, o->type);
    f->v[i] = vc__operand_value(f->k, o);
    return true;
}

/* The first `same` operands have a common type of `kinds`, the others are integer counts. Returns the common type;
   VC_NONE after an error. */
static vc_type vc__fn_type(vc__fn *f, uint32_t kinds, uint32_t same) {
    vc__operand o[4];
    if (!vc__operands_of(f->k, f->call, f->v, f->count, o)) return VC_NONE;
    vc_type type = vc__unify(f->k, f->call, o, same);
    if (!type || !vc__check_kind(f->k, f->call, &o[0], 1, kinds)) return VC_NONE;
    f->type = type;
    for (uint32_t i = 0; i < same; i++) f->v[i] = vc__operand_value(f->k, &o[i]);
    for (uint32_t i = same; i < f->count; i++) if (!vc__fn_count(f, i, &o[i])) return VC_NONE;
    return type;
}

/* f.type is VC_NONE. */
static vc__fn vc__fn_unchecked(const char *call, uint32_t count, const vc_val *v) {
    vc__fn f;
    memset(&f, 0, sizeof f);
    f.call = call;
    f.count = count;
    memcpy(f.v, v, count * sizeof *v);
    for (uint32_t i = 0; i < count && !f.k; i++) f.k = vc__kernel_of(v[i]);
    return f;
}

/* kinds and same: as for vc__fn_type. f.type is VC_NONE after an error. */
static vc__fn vc__fn_begin(const char *call, uint32_t kinds, uint32_t same, uint32_t count, const vc_val *v) {
    vc__fn f = vc__fn_unchecked(call, count, v);
    if (!f.k || !f.k->failed) f.type = vc__fn_type(&f, kinds, same);
    return f;
}
static vc__fn vc__fn_one(vc_val a, const char *call, uint32_t kinds) {
    return vc__fn_begin(call, kinds, 1, 1, &a);
}
static vc__fn vc__fn_two(vc_val a, vc_val b, const char *call, uint32_t kinds) {
    const vc_val v[2] = { a, b };
    return vc__fn_begin(call, kinds, 2, 2, v);
}

/* Keeps the number of components. */
static vc_val vc__cast_kind(vc_type kind, vc_val v) { return vc_cast(vc__vec(kind, vc__components(vc_typeof(v))), v); }

/* Returns the result of a call. For immediates that cannot be folded, it has the name of this function instead of that
   of a function that it called. Without a kernel, an unusable operand is returned. */
static vc_val vc__fn_end(const vc__fn *f, vc_val r) {
    if (f->half && f->type && vc__kind(vc_typeof(r)) == VC_F32) r = vc__cast_kind(VC_F16, r);
    if (f->k) return f->type ? r : vc__no_value();
    if (f->type) return r.owner == VC__IMM_UNFOLDED ? vc__unfoldable(f->call) : r;
    for (uint32_t i = 0; i < f->count; i++) if (vc__is_unusable(f->v[i])) return f->v[i];
    return vc__unfoldable(f->call);
}

/* Fails after vc__fn_begin has succeeded. */
#define VC__FN_FAIL(f, ...) (vc__fail_call((f)->k, (f)->call, __VA_ARGS__), vc__fn_failed(f))
static vc_val vc__fn_failed(vc__fn *f) {
    f->type = VC_NONE;
    return vc__fn_end(f, f->v[0]);
}

/* Records a rule with the inputs x, y, z, p and q, and ends the call. */
static vc_val vc__fn_polynomials(const vc__fn *f, uint32_t rule, const vc__polynomial *p, const vc__polynomial *q) {
    vc_val v[5], r = vc__no_value();
    for (uint32_t i = 0; i < 3; i++) v[i] = f->v[i];
    v[3] = vc__immediate(VC__RULE_POLYNOMIAL, (uintptr_t)p);
    v[4] = vc__immediate(VC__RULE_POLYNOMIAL, (uintptr_t)q);
    if (f->type) vc__rule_record_of(f->k, f->type, rule, v, 5, &r, 1);
    return vc__fn_end(f, r);
}
static vc_val vc__fn_rule(const vc__fn *f, uint32_t rule) { return vc__fn_polynomials(f, rule, NULL, NULL); }

static vc_val vc__fn_rule_of(vc_val a, const char *call, uint32_t kinds, uint32_t rule) {
    vc__fn f = vc__fn_one(a, call, kinds);
    return vc__fn_rule(&f, rule);
}
/* unsigned_rule: for unsigned types */
static vc_val vc__fn_integer2(vc_val a, vc_val b, const char *call, uint32_t rule, uint32_t unsigned_rule) {
    vc__fn f = vc__fn_two(a, b, call, VC__KINDS_IU);
    return vc__fn_rule(&f, vc__is_unsigned(f.type) ? unsigned_rule : rule);
}

static uint32_t vc__fn_width(const vc__fn *f) { return vc__bits(vc__kind(f->type)); }
static vc_type vc__fn_unsigned(const vc__fn *f) { return vc__scalar(vc__to_unsigned(f->type)); }

/* ---- bits ---- */

VC_API vc_val vc_popcount(vc_val a) { return vc__pure1(a, VC__OP_POPCOUNT); }
VC_API vc_val vc_bit_reverse(vc_val a) { return vc__pure1(a, VC__OP_BIT_REVERSE); }
VC_API vc_val vc_find_lsb(vc_val a) { return vc__pure1(a, VC__OP_FIND_LSB); }
VC_API vc_val vc_find_msb(vc_val a) { return vc__pure1(a, VC__OP_FIND_MSB); }

VC_API vc_val vc_mul_hi(vc_val a, vc_val b) {
    vc_kernel *k = vc__kernel_of_two(a, b);
    if (k) k->uses_carries = true;
    return vc__pure2(a, b, VC__OP_MUL_HI);
}

VC_API vc_val vc_clz(vc_val a) {
    return vc__fn_rule_of(a, "clz", VC__KINDS_IU, VC__RULE(clz, "T(top - find_msb(U(x)))"));
}

VC_API vc_val vc_ctz(vc_val a) {
    /* U(-1) is the largest number */
    return vc__fn_rule_of(a, "ctz", VC__KINDS_IU, VC__RULE(ctz, "T(min(U(find_lsb(x)), U(top) + 1))"));
}

/* Swaps neighbouring bytes, then pairs of bytes, then groups of four. */
VC_API vc_val vc_byte_swap(vc_val a) {
    static const uint64_t mask[3] = { 0x00ff00ff00ff00ffu, 0x0000ffff0000ffffu, 0xffffffffu };
    vc__fn f = vc__fn_one(a, "byte_swap", VC__KINDS_IU);
    if (!f.type) return vc__fn_end(&f, a);
    a = vc__cast_kind(vc__fn_unsigned(&f), f.v[0]);
    for (uint32_t i = 0; 8u << i < vc__fn_width(&f); i++) {
        vc_val v[4] = { a, a, vc_imm(vc__fn_unsigned(&f), mask[i]), vc_u32(8u << i) };
        vc__rule_record_of(f.k, f.type, VC__RULE_reverse_step, v, 4, &a, 1);
    }
    return vc__fn_end(&f, vc__cast_kind(vc__scalar(f.type), a));
}

/* The count is taken modulo the number of bits. */
static vc_val vc__rotate(vc_val a, vc_val count, const char *call, bool right) {
    const vc_val v[2] = { a, count };
    if (vc__adapt_scalar_count(a, &count) && vc__is_unsigned((vc_type)count.owner)) {
        count.bits = (right ? 0 - count.bits : count.bits) & (vc__bits((vc_type)count.owner) - 1);
        return vc__pure2_immediate(a, count, VC__OP_ROTL);
    }
    vc__fn f = vc__fn_begin(call, VC__KINDS_IU, 1, 2, v);
    if (!f.type) return vc__fn_end(&f, a);
    vc__rule_record_of(f.k, vc__to_unsigned(f.type), right ? VC__RULE(rotate_right, "rotl(T(x), -T(y))")
                                                           : VC__RULE(rotate_left, "rotl(T(x), T(y))"),
                       f.v, 2, &a, 1);
    return vc__fn_end(&f, vc__cast_kind(vc__scalar(f.type), a));
}
VC_API vc_val vc_rotl(vc_val a, vc_val count) { return vc__rotate(a, count, "rotl", false); }
VC_API vc_val vc_rotr(vc_val a, vc_val count) { return vc__rotate(a, count, "rotr", true); }

/* The last input of the rule is the width. The last two operands are the offset, which the rule takes modulo the width,
   and the number of bits, which it limits to those from the offset on. */
static vc_val vc__fn_field(const vc__fn *f, uint32_t rule) {
    vc_val v[5], r = vc__no_value(), *count = &v[f->count - 1];
    memcpy(v, f->v, sizeof f->v);
    v[f->count] = vc_u32(vc__fn_width(f));
    vc_type kind = vc__kind(vc__to_unsigned(vc_typeof(*count)));
    if (f->type && vc__bits(kind) > 32) *count = vc_min(vc__cast_kind(kind, *count), vc_imm(kind, vc__fn_width(f)));
    if (f->type) vc__rule_record_of(f->k, f->type, rule, v, f->count + 1, &r, 1);
    return vc__fn_end(f, r);
}

VC_API vc_val vc_bitfield_extract(vc_val a, vc_val offset, vc_val count) {
    const vc_val v[3] = { a, offset, count };
    vc__fn f = vc__fn_begin("bitfield_extract", VC__KINDS_IU, 1, 3, v);
    return vc__fn_field(&f, vc__is_signed(f.type)
        ? VC__RULE(bitfield_extract, "[x o n w] o = u32(o) & w - 1; n = min(u32(n), w - o); "
                                     "v = w - n; n == 0 ? 0 : x << v - o >> v")
        : VC__RULE(bitfield_extract_unsigned, "[x o n w] o = u32(o) & w - 1; n = min(u32(n), w - o); "
                                              "x >> o & (n < w ? (T(1) << n) - 1 : ones)"));
}

VC_API vc_val vc_bitfield_insert(vc_val a, vc_val b, vc_val offset, vc_val count) {
    const vc_val v[4] = { a, b, offset, count };
    vc__fn f = vc__fn_begin("bitfield_insert", VC__KINDS_IU, 2, 4, v);
    return vc__fn_field(&f, VC__RULE(bitfield_insert,
        "[x y o n w] o = u32(o) & w - 1; n = min(u32(n), w - o); "
        "m = (n < w ? (T(1) << n) - 1 : ones) << o; x & ~m | y << o & m"));
}

/* ---- integer arithmetic ---- */

/* Computed in the unsigned type. */
static vc_val vc__carry(vc_val a, vc_val b, const char *call, uint32_t rule) {
    vc__fn f = vc__fn_two(a, b, call, VC__KINDS_IU);
    if (f.k) f.k->uses_carries = true;
    return vc__fn_rule(&f, rule);
}
VC_API vc_val vc_add_carry(vc_val a, vc_val b) {
    return vc__carry(a, b, "add_carry", VC__RULE(carry_of, "T(add_carry(U(x), U(y)))"));
}
VC_API vc_val vc_sub_borrow(vc_val a, vc_val b) {
    return vc__carry(a, b, "sub_borrow", VC__RULE(borrow_of, "T(sub_borrow(U(x), U(y)))"));
}

VC_API vc_val vc_add_with_carry(vc_val a, vc_val b, vc_val carry_in, vc_val *carry_out) {
    vc_val sum = vc_add(a, b), all = vc_add(sum, carry_in);
    if (carry_out) *carry_out = vc_add(vc_add_carry(a, b), vc_add_carry(sum, carry_in));
    return all;
}
VC_API vc_val vc_sub_with_borrow(vc_val a, vc_val b, vc_val borrow_in, vc_val *borrow_out) {
    vc_val difference = vc_sub(a, b), all = vc_sub(difference, borrow_in);
    if (borrow_out) *borrow_out = vc_add(vc_sub_borrow(a, b), vc_sub_borrow(difference, borrow_in));
    return all;
}

VC_API vc_val vc_abs_diff(vc_val a, vc_val b) {
    const uint32_t rule = VC__RULE(abs_diff, "U(max(x, y)) - U(min(x, y))");
    return vc__fn_integer2(a, b, "abs_diff", rule, rule);
}

/* In the signed rules, o is negative if s has overflowed; the result then is the largest number, or the smallest one if
   x is negative. */
VC_API vc_val vc_add_sat(vc_val a, vc_val b) {
    return vc__fn_integer2(a, b, "add_sat",
                           VC__RULE(add_sat, "s = x + y; o = (x ^ s) & (y ^ s); o < 0 ? x >> top ^ positive : s"),
                           VC__RULE(add_sat_unsigned, "s = x + y; s < x ? ones : s"));
}

VC_API vc_val vc_sub_sat(vc_val a, vc_val b) {
    return vc__fn_integer2(a, b, "sub_sat",
                           VC__RULE(sub_sat, "s = x - y; o = (x ^ y) & (x ^ s); o < 0 ? x >> top ^ positive : s"),
                           VC__RULE(sub_sat_unsigned, "max(x, y) - y"));
}

VC_API vc_val vc_average(vc_val a, vc_val b) {
    const uint32_t rule = VC__RULE(average, "(x & y) + ((x ^ y) >> 1)");
    return vc__fn_integer2(a, b, "average", rule, rule);
}

/* ---- floats ---- */

/* Products with an immediate that is subnormal, infinite, NaN, very large or very small may be impossible to fold. */
static bool vc__fn_is_extreme(vc_type kind, uint64_t bits) {
    vc__real r;
    int32_t max_exponent = kind == VC_F16 ? 14 : vc__bias(kind) / 8;
    return !vc__unpack(kind, bits, &r)
           || (r.class_ == VC__REAL_NORMAL ? r.exponent > max_exponent || r.exponent < -max_exponent
                                           : r.class_ != VC__REAL_ZERO);
}

/* f16 operands are cast to f32. Extreme immediates become constants of the kernel. */
static vc__fn vc__fn_float(const char *call, uint32_t same, uint32_t count, const vc_val *v) {
    vc__fn f = vc__fn_begin(call, VC__KINDS_F, same, count, v);
    for (uint32_t i = 0; i < same && f.type && f.k; i++)
        if (vc__is_immediate(f.v[i]) && vc__fn_is_extreme(vc__kind(f.type), f.v[i].bits))
            f.v[i] = vc_const(f.k, f.v[i]);
    if (vc__kind(f.type) != VC_F16) return f;
    f.half = true;
    f.type += VC_F32 - VC_F16;
    for (uint32_t i = 0; i < same; i++) f.v[i] = vc__cast_kind(VC_F32, f.v[i]);
    return f;
}
VC__NOINLINE static vc__fn vc__fn_float1(vc_val a, const char *call) { return vc__fn_float(call, 1, 1, &a); }
static vc__fn vc__fn_float2(vc_val a, vc_val b, const char *call) {
    const vc_val v[2] = { a, b };
    return vc__fn_float(call, 2, 2, v);
}
VC__NOINLINE static vc__fn vc__fn_float3(vc_val a, vc_val b, vc_val c, const char *call) {
    const vc_val v[3] = { a, b, c };
    return vc__fn_float(call, 3, 3, v);
}

static vc_val vc__fn_polynomials1(vc_val a, const char *call, uint32_t rule, const vc__polynomial *p,
                                  const vc__polynomial *q) {
    vc__fn f = vc__fn_float1(a, call);
    return vc__fn_polynomials(&f, rule, p, q);
}
static vc_val vc__fn_rule1(vc_val a, const char *call, uint32_t rule) {
    return vc__fn_polynomials1(a, call, rule, NULL, NULL);
}

/* The polynomials interpolate at Chebyshev nodes; their coefficients were computed with 260-bit arithmetic. */
static const vc__polynomial vc__fn_asinh_poly = { /* (asinh(x) / x - 1) / z, z = x^2 <= 1/4 */
    { 0x3c22ccb8u, 0xbca827ceu, 0x3cf70a17u, 0xbd36cdf8u, 0x3d999975u, 0xbe2aaaabu },
    { 0x3f5ee3fd77d44d42u, 0xbf74733e5158e0e1u, 0x3f7f38921b605d54u, 0xbf83a4aeece7e69cu, 0x3f879b0dbdcdfc75u,
      0xbf8c983b8d12e853u, 0x3f91c4e072f36dc7u, 0xbf96e8b9ab4638efu, 0x3f9f1c71c3bee026u, 0xbfa6db6db6d5b365u,
      0x3fb3333333332f5fu, 0xbfc5555555555555u },
    6, 12
};
static const vc__polynomial vc__fn_atanh_poly = { /* (atanh(x) / x - 1) / z, z = x^2 <= 1/4 */
    { 0x3e200aebu, 0x3d2797c7u, 0x3dc7b841u, 0x3de2522du, 0x3e124fe2u, 0x3e4cccb2u, 0x3eaaaaabu },
    { 0x3fcb016cba23eee4u, 0xbfc27f230f3831a3u, 0x3fc15aa7698edf42u, 0x3f892cc88a36f708u, 0x3fabdcd3cefa72ceu,
      0x3faa6c53053bf30cu, 0x3fae2c342108eb1fu, 0x3fb1108e26d64a6du, 0x3fb3b1417e6e07dfu, 0x3fb745d1406b992eu,
      0x3fbc71c71d6cc5d1u, 0x3fc249249247e911u, 0x3fc9999999999ad1u, 0x3fd5555555555555u },
    7, 14
};
static const vc__polynomial vc__fn_erf_poly = { /* erf(x) / x - 1, z = x^2 <= 1 */
    { 0x38a52b48u, 0xba522844u, 0x3baa0938u, 0xbcdbfd5du, 0x3de71688u, 0xbec0939fu, 0x3e0375d4u },
    { 0x3dd05ffd737fb32eu, 0xbe1389d4f2641625u, 0x3e4f7b4bf3b13964u, 0xbe85f1ecb6f0764cu, 0x3ebb9df224ca4b97u,
      0xbeef4d1e3183f7aeu, 0x3f1f9a321d5b8e1eu, 0xbf4c02db3dac435fu, 0x3f7565bcd0dbaa38u, 0xbf9b82ce31284e00u,
      0x3fbce2f21a042b30u, 0xbfd812746b0379e6u, 0x3fc06eba8214db69u },
    7, 13
};
/* (1 - erf(x)) * e^(x^2); f32: t = (x - 1) / (x + 1), x <= 4; f64: t = (x - 2) / (x + 2), x <= 6 */
static const vc__polynomial vc__fn_erfc_poly = {
    { 0xbb39b434u, 0xbc429e3bu, 0x3bfec6e7u, 0x3d5e39d1u, 0x3d91a3c2u, 0xbf0be293u, 0x3edaec3cu },
    { 0x3ed06de90fce20e3u, 0x3ebe89749bb276c3u, 0xbeed8072f8b2af1eu, 0xbefcfd845cfda3f9u, 0x3efce18d5b499621u,
      0x3f26dac8e32716eeu, 0x3f06d5bf00483674u, 0xbf5016b61e9c90a9u, 0xbf4bc25a2a5685b8u, 0x3f7ca95ed5c92a4bu,
      0x3f6e9471595c0b9du, 0xbfb437f0b68c2dc0u, 0x3fceeea7dc8a7932u, 0xbfdb57034efd3f69u, 0x3fd058671b52c776u },
    7, 15
};

/* log(1 + u) / 2 = atanh(u / (2 + u)) for -1/2 <= u <= 2 with small relative error; `kind` is f32 or f64. */
static vc_val vc__half_log1p(vc_type kind, vc_val u) {
    vc_val v[2] = { u, vc__immediate(VC__RULE_POLYNOMIAL, (uintptr_t)&vc__fn_atanh_poly) };
    const uint32_t rule = VC__RULE(half_log1p, "[x p] s = x / (x + 2); z = s * s; fma(s * z, poly(z, p), s)");
    vc__rule_record_of(NULL, kind, rule, v, 2, v, 1);
    return v[0];
}

VC_API vc_val vc_asinh(vc_val a) {
    return vc__fn_polynomials1(a, "asinh",
                               VC__RULE(asinh, "[x y z p] m = abs(x); z = x * x; l = log_sum(m, sqrt(z + 1)); "
                                               "m < 0.5 ? fma(x * z, poly(z, p), x) : x < 0 ? -l : l"),
                               &vc__fn_asinh_poly, NULL);
}

/* acosh(1 + 2 z) = 2 asinh(sqrt(z)) for small z */
VC_API vc_val vc_acosh(vc_val a) {
    return vc__fn_polynomials1(a, "acosh",
                               VC__RULE(acosh, "[x y z p] m = x - 1; z = m * 0.5; v = sqrt(max(z, 0)); "
                                               "s = fma(v * z, poly(z, p), v); "
                                               "r = log_sum(x, sqrt(max(m * (x + 1), 0))); r = x < 1.5 ? s + s : r; "
                                               "1 <= x ? r : nan"),
                               &vc__fn_asinh_poly, NULL);
}

VC_API vc_val vc_atanh(vc_val a) {
    return vc__fn_polynomials1(a, "atanh",
                               VC__RULE(atanh, "[x y z p] m = abs(x); l = log((1 + m) / (1 - m)) * 0.5; "
                                               "l = m == 1 ? inf : l; l = x < 0 ? -l : l; z = x * x; "
                                               "r = m < 0.5 ? fma(x * z, poly(z, p), x) : l; m <= 1 ? r : nan"),
                               &vc__fn_atanh_poly, NULL);
}

VC_API vc_val vc_ldexp(vc_val a, vc_val exponent) {
    const vc_val v[2] = { a, exponent };
    vc__fn f = vc__fn_float("ldexp", 1, 2, v);
    if (!f.type) return vc__fn_end(&f, a);
    vc_type kind = vc__scalar(vc_typeof(f.v[1]));
    if (vc__bits(kind) > 32 || kind == VC_U32) f.v[1] = vc_min(f.v[1], vc_imm(kind, 4000));
    if (kind == VC_I64) f.v[1] = vc_max(f.v[1], vc_i64(-4000));
    return vc__fn_rule(&f, VC__RULE(scale_by_int, "scale(x, i32(y))"));
}

/* 10^x = 2^n * 10^r with r = x - n log10(2). log10(2) is a sum of two parts; n times the first one is exact. */
VC_API vc_val vc_exp10(vc_val a) {
    return vc__fn_rule1(a, "exp10",
                        VC__RULE(exp10, "l = {0x40549a78, 0x400a934f0979a371}; "
                                        "n = clamp(round(x * l), {-200, -1200}, {200, 1200}); "
                                        "r = x - n * {0x3e9a2000, 0x3fd34413509f6000}; "
                                        "r = r - n * {0x369a84fc, 0x3d59fef311f12b36}; scale(exp2(r * l), i32(n))"));
}

VC_API vc_val vc_log10(vc_val a) {
    return vc__fn_rule1(a, "log10", VC__RULE(log10, "log2(x) * {0x3e9a209b, 0x3fd34413509f79ff}"));
}

/* Dividing the bit pattern by 3 divides the exponent by 3: the result, after adding a constant, is an approximation
   with 5 correct bits. Each step of Halley's method triples that number. */
VC_API vc_val vc_cbrt(vc_val a) {
    vc__fn f = vc__fn_float1(a, "cbrt");
    /* r keeps infinities and NaN and flushes subnormal numbers to 0 */
    return vc__fn_rule(&f, vc__kind(f.type) == VC_F64
        ? VC__RULE(cbrt64, "n = normal(x); m = n ? abs(x) : 1; "
                           "t = real(u64(u32(bits(m) >> 32) / 3 + 0x2a9f7893) << 32); t = halley(m, t); "
                           "t = halley(m, t); t = halley(m, t); r = x * step(1, abs(x)); n ? x < 0 ? -t : t : r")
        : VC__RULE(cbrt32, "n = normal(x); m = n ? abs(x) : 1; t = real(bits(m) / 3 + 0x2a5119f2); t = halley(m, t); "
                           "t = halley(m, t); r = x * step(1, abs(x)); n ? x < 0 ? -t : t : r"));
}

/* Also the absolute value of complex numbers. The operands are scaled such that their squares neither overflow nor
   underflow: by 2^-70 above 2^60 (f64: by 2^-520 above 2^500), by 2^70 below 2^-60 (f64: by 2^520 below 2^-500).
   Squares of f16 numbers can neither overflow nor underflow in f32. */
VC_API vc_val vc_hypot(vc_val a, vc_val b) {
    vc__fn f = vc__fn_float2(a, b, "hypot");
    return vc__fn_rule(&f, f.half
        ? VC__RULE(hypot16, "a = abs(x); b = abs(y); max(a, b) == inf ? inf : sqrt(fma(a, a, b * b))")
        : VC__RULE(hypot, "a = abs(x); b = abs(y); m = max(a, b); u = {0x62800000, 0x6070000000000000}; "
                          "d = {0x1c800000, 0x1f70000000000000}; s = m > {0x5d800000, 0x5f30000000000000} ? d : 1; "
                          "s = m < {0x21800000, 0x20b0000000000000} ? u : s; a = a * s; b = b * s; "
                          "r = sqrt(fma(a, a, b * b)) * (s == 1 ? 1 : s == u ? d : u); m == inf ? inf : r"));
}

/* |x| < 1: x + x p(x^2). Otherwise 1 - e^(-x^2) q(t) with the sign of x, t = (|x| - c) / (|x| + c); 1 from 4 on (f64:
   6), where erf rounds to 1. */
VC_API vc_val vc_erf(vc_val a) {
    return vc__fn_polynomials1(a, "erf",
                               VC__RULE(erf, "[x y z p q] m = abs(x); c = {1, 2}; z = x * x; t = (m - c) / (m + c); "
                                             "l = 1 - exp(-z) * poly(t, q); l = {4, 6} < m ? 1 : l; "
                                             "m < 1 ? fma(x, poly(z, p), x) : x < 0 ? -l : l"),
                               &vc__fn_erf_poly, &vc__fn_erfc_poly);
}

VC_API vc_val vc_radians(vc_val degrees) {
    return vc__fn_rule1(degrees, "radians", VC__RULE(radians, "x * {0x3c8efa35, 0x3f91df46a2529d39}"));
}

VC_API vc_val vc_degrees(vc_val radians) {
    return vc__fn_rule1(radians, "degrees", VC__RULE(degrees, "x * {0x42652ee1, 0x404ca5dc1a63c1f8}"));
}

VC_API vc_val vc_saturate(vc_val a) {
    return vc__fn_rule_of(a, "saturate", VC__KINDS_F, VC__RULE(saturate, "clamp(x, 0, 1)"));
}

VC_API vc_val vc_smoothstep(vc_val low, vc_val high, vc_val x) {
    vc__fn f = vc__fn_float3(low, high, x, "smoothstep");
    /* t * t alone may be flushed to 0 */
    return vc__fn_rule(&f, VC__RULE(smoothstep, "t = clamp((z - x) / (y - x), 0, 1); t * (t * (3 - (t + t)))"));
}

VC_API vc_val vc_frexp_mantissa(vc_val a) { /* subnormals become 0 */
    return vc__fn_rule1(a, "frexp_mantissa",
                        VC__RULE(frexp_mantissa,
                            "b = bits(x) & {0x807fffff, 0x800fffffffffffff} | {0x3f000000, 0x3fe0000000000000}; "
                            "normal(x) ? real(b) : x * step(least, abs(x))"));
}

VC_API vc_val vc_frexp_exponent(vc_val a) {
    return vc__fn_rule1(a, "frexp_exponent",
                        VC__RULE(frexp_exponent, "b = i32(bits(x) >> {23, 52}) & {255, 2047}; "
                                                 "normal(x) ? b - {126, 1022} : 0"));
}

VC_API vc_val vc_modf_fract(vc_val a) {
    return vc__fn_rule_of(a, "modf_fract", VC__KINDS_F,
                          VC__RULE(modf_fract, "x = isinf(x) ? 0 : x; x - trunc(x)"));
}

/* ---- geometry ---- */

/* Operand i, repeated if it is a scalar and the common type a vector. */
static vc_val vc__fn_broadcast(const vc__fn *f, uint32_t i) {
    return vc__components(vc_typeof(f->v[i])) == vc__components(f->type)
               ? f->v[i]
               : vc_splat(vc_const(f->k, f->v[i]), vc__components(f->type));
}

/* scalar_rule: for scalars. Bit i of `broadcast`: operand i is a factor of `dot`, which does not combine scalars with
   vectors, so a scalar is repeated if the common type is a vector. */
static vc_val vc__fn_geometry(vc__fn *f, uint32_t broadcast, uint32_t scalar_rule, uint32_t rule) {
    for (uint32_t i = 0; i < f->count && f->type; i++) if (broadcast >> i & 1u) f->v[i] = vc__fn_broadcast(f, i);
    return vc__fn_rule(f, vc__components(f->type) == 1 ? scalar_rule : rule);
}

static vc_val vc__fn_geometry1(vc_val a, const char *call, uint32_t scalar_rule, uint32_t rule) {
    vc__fn f = vc__fn_float1(a, call);
    return vc__fn_geometry(&f, 0, scalar_rule, rule);
}

VC_API vc_val vc_norm(vc_val a) {
    return vc__fn_geometry1(a, "norm", VC__RULE(norm_scalar, "abs(x)"), VC__RULE(norm, "sqrt(dot(x, x))"));
}

VC_API vc_val vc_distance(vc_val a, vc_val b) {
    vc__fn f = vc__fn_float2(a, b, "distance");
    return vc__fn_geometry(&f, 0, VC__RULE(distance_scalar, "abs(x - y)"),
                           VC__RULE(distance, "d = x - y; sqrt(dot(d, d))"));
}

VC_API vc_val vc_normalize(vc_val a) {
    return vc__fn_geometry1(a, "normalize", VC__RULE(normalize_scalar, "x * rsqrt(x * x)"),
                            VC__RULE(normalize, "x * rsqrt(dot(x, x))"));
}

VC_API vc_val vc_cross(vc_val a, vc_val b) {
    vc__fn f = vc__fn_float2(a, b, "cross");
    if (!f.type) return vc__fn_end(&f, a);
    if (vc__components(f.type) != 3)
        return VC__FN_FAIL(&f, "the operands are %t, but must be vectors of 3 components", f.type);
    for (uint32_t i = 0; i < 2; i++) f.v[i] = vc__fn_broadcast(&f, i);
    return vc__fn_rule(&f, VC__RULE(cross, "vec(x.1, x.2, x.0) * vec(y.2, y.0, y.1) - "
                                           "vec(x.2, x.0, x.1) * vec(y.1, y.2, y.0)"));
}

VC_API vc_val vc_faceforward(vc_val n, vc_val i, vc_val reference) {
    vc__fn f = vc__fn_float3(n, i, reference, "faceforward");
    return vc__fn_geometry(&f, 6, VC__RULE(faceforward_scalar, "z * y < 0 ? x : -x"),
                           VC__RULE(faceforward, "dot(z, y) < 0 ? x : -x"));
}

VC_API vc_val vc_reflect_vector(vc_val i, vc_val n) {
    vc__fn f = vc__fn_float2(i, n, "reflect_vector");
    return vc__fn_geometry(&f, 3, VC__RULE(reflect_scalar, "d = y * x; x - (d + d) * y"),
                           VC__RULE(reflect, "d = dot(y, x); x - (d + d) * y"));
}

/* w: the dot product of x and y */
VC__SUBRULE(refracted, "k = 1 - z * z * (1 - w * w); r = z * x - (z * w + sqrt(max(k, 0))) * y; k < 0 ? 0 : r")
VC_API vc_val vc_refract(vc_val i, vc_val n, vc_val eta) {
    vc__fn f = vc__fn_float3(i, n, eta, "refract");
    if (f.type && vc__components(vc_typeof(f.v[2])) != 1)
        return VC__FN_FAIL(&f, "operand 3 is %t, but must be a scalar", vc_typeof(f.v[2]));
    return vc__fn_geometry(&f, 3, VC__RULE(refract_scalar, "refracted(x, y, z, y * x)"),
                           VC__RULE(refract, "refracted(x, y, z, dot(y, x))"));
}

/* ---- conversions and packing ---- */

VC_API vc_val vc_cast_sat(vc_type type, vc_val v) {
    vc__fn f = vc__fn_one(v, "cast_sat", VC__KINDS_BIUF);
    vc_type to = vc__scalar(type), from = vc__scalar(f.type);
    bool integers = vc__is_int(to) && vc__is_int(from);
    if (!f.type) return vc__fn_end(&f, v);
    if (!vc__is_type(type) || (vc__components(f.type) != 1 && vc__components(f.type) != vc__components(type)))
        return VC__FN_FAIL(&f, "operand 1 is %t, which cannot be converted to %t: %s", f.type, type,
                           vc__is_type(type) ? VC__SAME_COMPONENTS : "the result must be a scalar or vector type");
    v = f.v[0];
    if (!integers) return vc__fn_end(&f, vc_cast(type, v));
    uint32_t to_bits = vc__bits(to) - (vc__is_signed(to) ? 1 : 0); /* bits without the sign */
    uint32_t from_bits = vc__bits(from) - (vc__is_signed(from) ? 1 : 0);
    bool clamp_high = to_bits < from_bits;
    bool clamp_low = vc__is_signed(from) && (vc__is_unsigned(to) || vc__bits(to) < vc__bits(from));
    if (clamp_high) v = vc_min(v, vc_imm(from, vc__ones(to_bits)));
    if (clamp_low) v = vc_max(v, vc_imm(from, vc__is_signed(to) ? ~vc__ones(to_bits) : 0));
    return vc__fn_end(&f, vc_cast(type, v));
}

/* The operands must have these types. f.type is VC_NONE after an error. */
static vc__fn vc__fn_of_types(const char *call, uint32_t count, const vc_type *types, const vc_val *v) {
    vc__fn f = vc__fn_unchecked(call, count, v);
    vc__operand o;
    if (f.k && f.k->failed) return f;
    for (uint32_t i = 0; i < count; i++) {
        if (!vc__operand_of(f.k, call, i + 1, f.v[i], &o)) return f;
        if (vc__is_int_immediate(&o) && types[i] < 16 && !vc__adapt_immediate(f.k, call, i + 1, &o, types[i])) return f;
        if (o.type != types[i]) {
            if (f.k) vc__fail_operand(f.k, call, i + 1, &o, vc_type_name(types[i]));
            return f;
        }
        f.v[i] = vc__operand_value(f.k, &o);
    }
    f.type = types[0];
    return f;
}
VC__NOINLINE static vc__fn vc__fn_of_type(vc_val a, const char *call, vc_type type) {
    return vc__fn_of_types(call, 1, &type, &a);
}

/* Immediates cannot be folded. */
static vc_val vc__fn_record(const vc__fn *f, uint32_t op, vc_type type) {
    uint32_t n = (uint32_t)f->v[0].bits;
    if (!f->k) return vc__unfoldable(vc__op_name[op]);
    return vc__value(f->k, vc__record_on(f->k, op, type, n, VC__NIL, VC__NIL, 0));
}

VC_API vc_val vc_pack_half2(vc_val v) {
    vc__fn f = vc__fn_of_type(v, "pack_half2", VC_F32X2);
    return vc__fn_end(&f, f.type ? vc__fn_record(&f, VC__OP_PACK_HALF, VC_U32) : v);
}

VC_API vc_val vc_unpack_half2(vc_val v) {
    vc__fn f = vc__fn_of_type(v, "unpack_half2", VC_U32);
    return vc__fn_end(&f, f.type ? vc__fn_record(&f, VC__OP_UNPACK_HALF, VC_F32X2) : v);
}

VC_API vc_val vc_round_f16(vc_val v) {
    vc__fn f = vc__fn_one(v, "round_f16", VC__KINDS_F);
    vc_val part[4];
    uint32_t components = vc__components(f.type);
    if (!f.type) return vc__fn_end(&f, v);
    if (vc__kind(f.type) != VC_F32) return VC__FN_FAIL(&f, VC__MUST_BE, f.type, "f32");
    if (!f.k) return vc__fn_end(&f, vc_cast(VC_F32, vc_cast(VC_F16, v)));
    for (uint32_t i = 0; i < components; i += 2) {
        vc_val pair = vc_vec2(vc_component(v, i), vc_component(v, i + 1 < components ? i + 1 : i));
        pair = vc_unpack_half2(vc_pack_half2(pair));
        part[i] = vc_component(pair, 0);
        if (i + 1 < components) part[i + 1] = vc_component(pair, 1);
    }
    return vc__fn_end(&f, vc__vector("vec", part, components));
}

static vc_val vc__fn_typed_rule(vc_val v, const char *call, vc_type type, uint32_t rule) {
    vc__fn f = vc__fn_of_type(v, call, type);
    return vc__fn_rule(&f, rule);
}

/* Packing of normalised numbers rounds to the nearest integer. Unpacking multiplies by the rounded reciprocal of the
   largest integer: this maps the largest integer to exactly 1, and products, unlike quotients, are rounded in the same
   way by all devices. */
VC_API vc_val vc_pack_snorm4x8(vc_val v) {
    return vc__fn_typed_rule(v, "pack_snorm4x8", VC_F32X4,
                             VC__RULE(pack_snorm4, "pack4(u32(i32(round(clamp(x, -1, 1) * 127))))"));
}
VC_API vc_val vc_pack_unorm4x8(vc_val v) {
    return vc__fn_typed_rule(v, "pack_unorm4x8", VC_F32X4,
                             VC__RULE(pack_unorm4, "pack4(u32(round(clamp(x, 0, 1) * 255)))"));
}
VC_API vc_val vc_pack_snorm2x16(vc_val v) {
    return vc__fn_typed_rule(v, "pack_snorm2x16", VC_F32X2,
                             VC__RULE(pack_snorm2, "pack2(u32(i32(round(clamp(x, -1, 1) * 0x46fffe00))))"));
}
VC_API vc_val vc_pack_unorm2x16(vc_val v) {
    return vc__fn_typed_rule(v, "pack_unorm2x16", VC_F32X2,
                             VC__RULE(pack_unorm2, "pack2(u32(round(clamp(x, 0, 1) * 0x477fff00)))"));
}
VC_API vc_val vc_unpack_snorm4x8(vc_val v) {
    return vc__fn_typed_rule(v, "unpack_snorm4x8", VC_U32,
                             VC__RULE(unpack_snorm4, "max(f32(unpack4(i32(x))) * 0x3c010204, -1)"));
}
VC_API vc_val vc_unpack_unorm4x8(vc_val v) {
    return vc__fn_typed_rule(v, "unpack_unorm4x8", VC_U32, VC__RULE(unpack_unorm4, "f32(unpack4(x)) * 0x3b808081"));
}
VC_API vc_val vc_unpack_snorm2x16(vc_val v) {
    return vc__fn_typed_rule(v, "unpack_snorm2x16", VC_U32,
                             VC__RULE(unpack_snorm2, "max(f32(unpack2(i32(x))) * 0x38000100, -1)"));
}
VC_API vc_val vc_unpack_unorm2x16(vc_val v) {
    return vc__fn_typed_rule(v, "unpack_unorm2x16", VC_U32, VC__RULE(unpack_unorm2, "f32(unpack2(x)) * 0x37800080"));
}

VC_API vc_val vc_pack_4x8(vc_val v) {
    vc__fn f = vc__fn_one(v, "pack_4x8", VC__KINDS_IU);
    if (f.type && f.type != VC_I32X4 && f.type != VC_U32X4)
        return VC__FN_FAIL(&f, VC__MUST_BE, f.type, "i32x4 or u32x4");
    return vc__fn_rule(&f, VC__RULE(pack_4x8, "pack4(u32(x))"));
}

VC_API vc_val vc_unpack_4xi8(vc_val v) {
    return vc__fn_typed_rule(v, "unpack_4xi8", VC_U32, VC__RULE(unpack_4xi8, "unpack4(i32(x))"));
}

VC_API vc_val vc_unpack_4xu8(vc_val v) { return vc__fn_typed_rule(v, "unpack_4xu8", VC_U32, VC__RULE_unpack4); }

VC_API vc_val vc_pack_2x32(vc_type type, vc_val v) {
    vc__fn f = vc__fn_of_type(v, "pack_2x32", VC_U32X2);
    if (!f.type) return vc__fn_end(&f, v);
    if (type != VC_U64 && type != VC_I64 && type != VC_F64)
        return VC__FN_FAIL(&f, VC__TYPE_MUST_BE, type, "i64, u64 or f64");
    return vc_bitcast(type, vc__fn_rule(&f, VC__RULE(pack_2x32, "v = u64(x); v.0 | v.1 << 32")));
}

VC_API vc_val vc_unpack_2x32(vc_val v) {
    vc__fn f = vc__fn_one(v, "unpack_2x32", VC__KINDS_IUF);
    if (!f.type) return vc__fn_end(&f, v);
    if (f.type > 15 || vc__bits(f.type) != 64)
        return VC__FN_FAIL(&f, VC__MUST_BE, f.type, "i64, u64 or f64");
    f.v[0] = vc_bitcast(VC_U64, v);
    return vc__fn_rule(&f, VC__RULE(unpack_2x32, "vec(u32(x), u32(x >> 32))"));
}

/* ---- dot products ---- */

/* Records `op`; without a kernel, all operands are immediates, and computes the result. */
static vc_val vc__fn_dot_4x8(const vc__fn *f, uint32_t op, vc_type kind) {
    vc_val r = vc__no_value();
    uint32_t node[3] = { VC__NIL, VC__NIL, VC__NIL };
    if (!f->type) return f->v[0];
    for (uint32_t i = 0; i < f->count && f->k; i++) {
        node[i] = vc__fit_node(f->k, f->call, i + 1, f->v[i], i < 2 ? (vc_type)VC_U32 : kind);
        if (node[i] == VC__NIL) return vc__no_value();
    }
    if (f->k) return vc__value(f->k, vc__record_on(f->k, op, kind, node[0], node[1], node[2], 0));
    vc__rule_record_of(NULL, kind, vc__dot_rule(vc__dot_without_sum(op)), f->v, 2, &r, 1);
    return f->count == 3 ? vc_add_sat(r, f->v[2]) : r;
}

static vc_val vc__dot_4x8(vc_val a, vc_val b, vc_val sum, uint32_t op) {
    vc_type kind = op == VC__OP_DOT_UU || op == VC__OP_DOT_UU_SAT ? VC_U32 : VC_I32;
    const vc_type types[3] = { VC_U32, VC_U32, kind };
    const vc_val v[3] = { a, b, sum };
    vc__fn f = vc__fn_of_types(vc__op_name[op], op >= VC__OP_DOT_II_SAT ? 3 : 2, types, v);
    return vc__fn_end(&f, vc__fn_dot_4x8(&f, op, kind));
}
VC_API vc_val vc_dot_4xi8(vc_val a, vc_val b) { return vc__dot_4x8(a, b, vc__no_value(), VC__OP_DOT_II); }
VC_API vc_val vc_dot_4xu8(vc_val a, vc_val b) { return vc__dot_4x8(a, b, vc__no_value(), VC__OP_DOT_UU); }
VC_API vc_val vc_dot_4xi8_4xu8(vc_val a, vc_val b) { return vc__dot_4x8(a, b, vc__no_value(), VC__OP_DOT_IU); }
VC_API vc_val vc_dot_4xi8_sat(vc_val a, vc_val b, vc_val sum) { return vc__dot_4x8(a, b, sum, VC__OP_DOT_II_SAT); }
VC_API vc_val vc_dot_4xu8_sat(vc_val a, vc_val b, vc_val sum) { return vc__dot_4x8(a, b, sum, VC__OP_DOT_UU_SAT); }
VC_API vc_val vc_dot_4xi8_4xu8_sat(vc_val a, vc_val b, vc_val sum) {
    return vc__dot_4x8(a, b, sum, VC__OP_DOT_IU_SAT);
}

/* ---- multi-dimensional indices ---- */

VC_API vc_val vc_ravel(vc_val coordinates, vc_val shape) {
    uint32_t a = vc__components(vc_typeof(coordinates)), b = vc__components(vc_typeof(shape));
    const vc_type type = vc__vec(VC_U32, a > b ? a : b), types[2] = { type, type };
    const vc_val v[2] = { coordinates, shape };
    vc__fn f = vc__fn_of_types("ravel", 2, types, v);
    if (!f.type) return vc__fn_end(&f, coordinates);
    coordinates = vc_component(f.v[0], 0);
    for (uint32_t i = 1; i < vc__components(f.type); i++)
        coordinates = vc_add(vc_mul(coordinates, vc_component(f.v[1], i)), vc_component(f.v[0], i));
    return vc__fn_end(&f, coordinates);
}

VC_API vc_val vc_unravel(vc_val index, vc_val shape) {
    const vc_type types[2] = { VC_U32, vc__vec(VC_U32, vc__components(vc_typeof(shape))) };
    vc_val part[4], v[2] = { index, shape };
    vc__fn f = vc__fn_of_types("unravel", 2, types, v);
    if (!f.type) return vc__fn_end(&f, index);
    part[0] = f.v[0];
    for (uint32_t i = vc__components(types[1]); i-- > 1;) {
        v[0] = part[0];
        v[1] = vc_component(f.v[1], i);
        vc__rule_record_of(f.k, VC_U32, VC__RULE(unravel, "q = x / y; q, x - q * y"), v, 2, v, 2);
        part[0] = v[0];
        part[i] = v[1];
    }
    return vc__fn_end(&f, vc__vector("vec", part, vc__components(types[1])));
}

/* ---- random numbers and hashes ---- */

/* half of a round of Philox: two words of the next counter */
VC__SUBRULE(philox_half, "mul_hi(x, w) ^ y ^ z, x * w")
VC_API vc_val vc_philox(vc_val counter, vc_val key) {
    static const vc_type types[2] = { VC_U32X4, VC_U32X2 };
    vc_val v[6] = { counter, key }; /* then their components */
    vc__fn f = vc__fn_of_types("philox", 2, types, v);
    if (!f.type) return vc__fn_end(&f, counter);
    if (f.k) f.k->uses_carries = true;
    for (uint32_t i = 0; i < 6; i++) v[i] = vc_component(f.v[i / 4], i % 4);
    for (uint32_t i = 0; i < 10; i++) {
        vc__rule_record_of(f.k, VC_U32, VC__RULE(philox_round, "[x y z w k l] a:b = philox_half(z, y, k, 0xcd9e8d57); "
                                                               "c:d = philox_half(x, w, l, 0xd2511f53); a, b, c, d"),
                           v, 6, v, 4);
        v[4] = vc_add(v[4], vc_u32(0x9e3779b9u));
        v[5] = vc_add(v[5], vc_u32(0xbb67ae85u));
    }
    return vc__fn_end(&f, vc__vector("vec", v, 4));
}

/* Fails unless the common type is u32 or u64. */
static bool vc__fn_check_words(vc__fn *f) {
    if (!f->type || vc__kind(f->type) == VC_U32 || vc__kind(f->type) == VC_U64) return f->type != VC_NONE;
    VC__FN_FAIL(f, VC__MUST_BE, f->type, "u32 or u64");
    return false;
}

VC_API vc_val vc_uniform(vc_type type, vc_val bits) {
    vc__fn f = vc__fn_one(bits, "uniform", VC__KINDS_IU);
    uint32_t digits = vc__kinds[vc__kind(type)].fraction + 1u, width = vc__fn_width(&f);
    uint64_t bias = vc__ones(vc__kinds[vc__kind(type)].exponent - 1u);
    if (!vc__fn_check_words(&f)) return vc__fn_end(&f, bits);
    if (type > 15 || !vc__is_float(type))
        return VC__FN_FAIL(&f, VC__TYPE_MUST_BE, type, "f16, f32 or f64");
    if (digits > width) digits = width;
    bits = vc_shr(bits, vc_u32(width - digits));
    if (width == 64 && digits <= 32) bits = vc__cast_kind(VC_U32, bits);
    return vc__fn_end(&f, vc_mul(vc__cast_kind(type, bits), vc_imm(type, (bias - digits) << vc__kinds[type].fraction)));
}

VC_API vc_val vc_normal(vc_val bits) {
    vc__fn f = vc__fn_one(bits, "normal", VC__KINDS_IU);
    vc_type type = vc__kind(f.type) == VC_U64 ? VC_F64 : VC_F32;
    vc_val part[4];
    if (!vc__fn_check_words(&f)) return vc__fn_end(&f, bits);
    if (vc__components(f.type) & 1u)
        return VC__FN_FAIL(&f, VC__MUST_BE, f.type, "a vector of 2 or 4 components");
    bits = vc_uniform(type, bits);
    for (uint32_t i = 0; i < vc__components(f.type); i += 2) {
        vc_val v[2] = { vc_component(bits, i), vc_component(bits, i + 1) };
        vc__rule_record_of(f.k, type,
                           VC__RULE(normal_pair, /* max: on some devices log(1) is greater than 0 */
                                    "r = sqrt(max(log(1 - x) * -2, 0)); "
                                    /* 2 pi; f32: rounded down, so that |a| is less than pi */
                                    "a = (y - 0.5) * {0x40c90fda, 0x401921fb54442d18}; r * cos(a), r * sin(a)"),
                           v, 2, part + i, 2);
    }
    return vc__fn_end(&f, vc__vector("vec", part, vc__components(f.type)));
}

VC_API vc_val vc_hash_bits(vc_val v) {
    vc__fn f = vc__fn_one(v, "hash_bits", VC__KINDS_IU);
    if (!vc__fn_check_words(&f)) return vc__fn_end(&f, v);
    return vc__fn_rule(&f, vc__kind(f.type) == VC_U32
        ? VC__RULE(hash32, "x = x * 747796405 + 2891336453; x = ((x >> (x >> 28) + 4) ^ x) * 277803737; x >> 22 ^ x")
        : VC__RULE(hash64, "x = x + 0x9e3779b97f4a7c15; x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9; "
                           "x = (x ^ x >> 27) * 0x94d049bb133111eb; x ^ x >> 31"));
}

/* ---- output ----

   vc_printf and vc_assert reserve a record in the output buffer and fill it. The buffer starts with a header of eight
   u32 words, which must be 0 before the dispatch:
       word  contents after the dispatch
       0     words reserved after the header, including those of records that did not fit
       1     number of records that did not fit
       2     the largest format number of these records
       3     the largest bitwise complement of a format number of these records
       4     number of failed assertions, whether recorded or not
       5     the largest format number of a failed assertion
   A record consists of the format number, the global id (three words) and the operands: 64-bit values as two words,
   the low one first, all others as one word, f16 as f32. The format number of a record that starts inside the buffer
   but did not fit is 0. */

enum {
    VC__OUTPUT_HEADER = 8,
    VC__MAX_OUTPUT_OPERANDS = 32,
    VC__MAX_FORMAT_BYTES = 1024,
    VC__MAX_FORMATS = 1024,
    VC__MAX_FIELD = 255
};

/* types: for messages */
static const struct vc__conversion {
    const char *letters;
    uint32_t kinds;
    const char *flags, *types;
} vc__conversions[] = {
    { "di", VC__KINDS_B | VC__KINDS_I, "-+ 0", "i8 to i64 or bool" },
    { "u", VC__KINDS_B | VC__KINDS_U, "-0", "u8 to u64 or bool" },
    { "xXo", VC__KINDS_IU, "-#0", "an integer" },
    { "c", VC__KINDS_IU, "-", "an integer" },
    { "fFeEgGaA", VC__KINDS_F, "-+ #0", "f16, f32 or f64" }
};

/* State of vc__printf_read, which copies the format without length modifiers and lists the types of the operands. */
typedef struct vc__printf_state {
    vc_kernel *k;
    const char *rest;        /* unread part of the format */
    const vc_val *args;
    uint32_t count, used;    /* operands: passed, read so far */
    char types[VC__MAX_OUTPUT_OPERANDS * 16];
    char text[VC__MAX_FORMAT_BYTES + 1];
    size_t length;           /* of text */
    uint32_t word_count;
    vc_val words[VC__MAX_OUTPUT_OPERANDS * 8];
} vc__printf_state;

static void vc__printf_put(vc__printf_state *p, char c) {
    if (p->length < VC__MAX_FORMAT_BYTES) p->text[p->length++] = c;
    p->text[p->length] = 0;
}

/* Reads a width or precision of at most VC__MAX_FIELD and copies its digits. start: the '%' of the conversion */
static bool vc__printf_number(vc__printf_state *p, const char *start, const char *what) {
    uint32_t number = 0;
    if (*p->rest == '*')
        return VC__FAIL_FALSE(p->k, "printf", "'%.*s': the %s is '*', but must be a number",
                              (int)(p->rest + 1 - start), start, what);
    for (; *p->rest >= '0' && *p->rest <= '9' && number <= VC__MAX_FIELD; p->rest++) {
        number = number * 10 + (uint32_t)(*p->rest - '0');
        vc__printf_put(p, *p->rest);
    }
    if (number > VC__MAX_FIELD)
        vc__fail_call(p->k, "printf", "'%.*s': the %s exceeds the limit of %d", (int)(p->rest - start), start, what,
                      (int)VC__MAX_FIELD);
    return number <= VC__MAX_FIELD;
}

/* Reads flags, width, precision, length modifiers and letter after a '%'. */
static const struct vc__conversion *vc__printf_conversion(vc__printf_state *p) {
    const char *start = p->rest - 1, *flags = p->rest;
    const struct vc__conversion *c = NULL;
    vc__printf_put(p, '%');
    for (; *p->rest && strchr("-+ #0", *p->rest); p->rest++)
        if (!memchr(flags, *p->rest, (size_t)(p->rest - flags))) vc__printf_put(p, *p->rest);
    const char *end = p->rest;
    if (!vc__printf_number(p, start, "width")) return NULL;
    bool precision = *p->rest == '.';
    if (precision) vc__printf_put(p, *p->rest++);
    if (precision && !vc__printf_number(p, start, "precision")) return NULL;
    while (*p->rest && strchr("hlqjzt", *p->rest)) p->rest++;
    for (uint32_t i = 0; i < sizeof vc__conversions / sizeof *vc__conversions; i++)
        if (*p->rest && strchr(vc__conversions[i].letters, *p->rest)) c = &vc__conversions[i];
    if (!c) {
        if (*p->rest == 's')
            vc__fail_call(p->k, "printf",
                          "'%%s' is not supported, because operands are numbers; write the text into the format");
        else
            vc__fail_call(p->k, "printf",
                          "'%.*s' is not a supported conversion; use d i u x X o c f F e E g G a A or %%%%",
                          (int)(p->rest - start) + (*p->rest != 0), start);
        return NULL;
    }
    for (; flags < end; flags++)
        if (!strchr(c->flags, *flags)) {
            vc__fail_call(p->k, "printf", "'%%%c' does not support the flag '%c'", *p->rest, *flags);
            return NULL;
        }
    if (precision && *p->rest == 'c') {
        vc__fail_call(p->k, "printf", "'%%c' does not support a precision");
        return NULL;
    }
    vc__printf_put(p, *p->rest++);
    return c;
}

static void vc__printf_scalar(vc__printf_state *p, vc_val v) {
    vc_type type = vc_typeof(v);
    v = vc_const(p->k, v);
    if (vc__bits(type) == 64) {
        v = vc_bitcast(VC_U64, v);
        vc__rule_record_of(p->k, VC_U64, VC__RULE(words_of_64, "u32(x), u32(x >> 32)"), &v, 1,
                           p->words + p->word_count, 2);
        p->word_count += 2;
        return;
    }
    vc_type word = vc__is_float(type) ? VC_F32 : vc__is_signed(type) ? VC_I32 : VC_U32;
    p->words[p->word_count++] = vc_bitcast(VC_U32, vc_cast(word, v));
}

/* Checks the next operand against a conversion and appends it. */
static bool vc__printf_operand(vc__printf_state *p, const struct vc__conversion *c) {
    vc__operand o;
    uint32_t which = p->used + 1;
    if (p->used >= p->count)
        return VC__FAIL_FALSE(p->k, "printf", "'%%%c' requires operand %u, but the call has %u operands",
                              p->rest[-1], which, p->count);
    vc_val v = p->args[p->used++];
    vc_type type = vc_typeof(v);
    if (vc__is_complex(type)) {
        if (!vc__operand_of(p->k, "printf", which, vc_re(v), &o)) return false;
    } else if (vc__is_composite(v) && type != VC_NONE) {
        return VC__FAIL_FALSE(p->k, "printf", "operand %u is %t, which cannot be printed; print its parts (vc_part)",
                              which, type);
    } else if (!vc__operand_of(p->k, "printf", which, v, &o)) return false;
    if (!(vc__mask(type) & c->kinds))
        return VC__FAIL_FALSE(p->k, "printf", "operand %u%a is %t, but '%%%c' requires %s", which, &o, type,
                              p->rest[-1], c->types);
    snprintf(p->types + strlen(p->types), sizeof p->types - strlen(p->types), "%s%s%s", p->types[0] ? " " : "",
             vc__is_complex(type) ? "complex_" : "", vc_type_name(vc__is_complex(type) ? vc__scalar(type) : type));
    if (vc__is_complex(type)) {
        vc__printf_scalar(p, vc_re(v));
        vc__printf_scalar(p, vc_im(v));
    } else
        for (uint32_t i = 0; i < vc__components(type); i++)
            vc__printf_scalar(p, vc__components(type) == 1 ? v : vc_component(v, i));
    return true;
}

VC__NOINLINE static bool vc__printf_read(vc__printf_state *p) {
    const struct vc__conversion *c;
    while (*p->rest) {
        char letter = *p->rest++;
        if (letter != '%' || *p->rest == '%') {
            vc__printf_put(p, letter);
            if (letter == '%') vc__printf_put(p, *p->rest++);
            continue;
        }
        c = vc__printf_conversion(p);
        if (!c || !vc__printf_operand(p, c)) return false;
    }
    if (p->used == p->count) return true;
    return VC__FAIL_FALSE(p->k, "printf", "the format has %u conversions, but the call has %u operands",
                          p->used, p->count);
}

/* The output buffer of vc_printf, vc_assert and checks, which the first call adds. It is always the last argument:
   vc__build numbers it, and arg_count does not include it. */
static vc_ref vc__output_ref(vc_kernel *k) {
    if (k->output == VC__NIL) {
        uint32_t node = vc__add_object(k, "output", VC__OP_BUFFER, VC_READ_WRITE, VC_U32, 0, NULL);
        if (node == VC__NIL) return vc__no_ref();
        k->output = k->node[node].x;
        k->arg_count--; /* vc__add_object has counted it */
    }
    return vc__make_ref(k, k->object[k->output].node, VC_U32);
}

/* The index of a format in the kernel's list, to which a new one is added. */
static uint32_t vc__format_of(vc_kernel *k, const char *call, const char *types, const char *text) {
    size_t types_length = strlen(types), size = types_length + strlen(text) + 2;
    for (uint32_t i = 0; i < k->format_count; i++)
        if (strncmp(k->format[i], types, types_length) == 0 && k->format[i][types_length] == ':'
            && strcmp(k->format[i] + types_length + 1, text) == 0)
            return i;
    if (k->format_count >= VC__MAX_FORMATS) {
        vc__fail_call(k, call, "too many different formats and assertion texts: the limit is %d", (int)VC__MAX_FORMATS);
        return VC__NIL;
    }
    if (!VC__RESERVE(k, k->format, k->format_capacity, k->format_count + 1)) return VC__NIL;
    char *copy = (char *)vc__allocate(k, size);
    if (!copy) return VC__NIL;
    snprintf(copy, size, "%s:%s", types, text);
    k->format[k->format_count] = copy;
    return k->format_count++;
}

/* Reserves and fills a record in the output buffer. Once the buffer is full nothing is reserved, so the number of
   reserved words cannot overflow. */
static void vc__output_record(vc_kernel *k, const vc_ref *out, vc_val number, const vc_val *words, uint32_t count) {
    vc_ref lost = vc_var(k, "lost", VC_BOOL), word = *out;
    vc_val length = vc_length(*out), size = vc_u32(4 + count), used;
    uint32_t axes = k->global_axes;
    vc__set(&lost, vc_bool(true));
    vc_atomic_load(*out, vc_u32(0), &used);
    VC_IF(k, vc_lt(used, length)) {
        vc__atomic_with_value(vc_u32(0), size, &used, out, VC__OP_ATOMIC_ADD);
        vc_val first = vc_add(used, vc_u32(VC__OUTPUT_HEADER));
        VC_IF(k, vc_le(vc_add(first, size), length)) {
            vc__store_at(out, first, number);
            for (uint32_t i = 0; i < 3 + count; i++) {
                word.offset++;
                vc__store_at(&word, first, i < 3 ? vc_global_id(k, i) : words[i - 3]);
            }
            vc__set(&lost, vc_bool(false));
        } VC_ELSE(k) {
            VC_IF(k, vc_lt(first, length)) { vc__store_at(out, first, vc_u32(0)); }
        }
    }
    VC_IF(k, vc__get(&lost)) {
        vc__atomic_with_value(vc_u32(1), vc_u32(1), NULL, out, VC__OP_ATOMIC_ADD);
        vc__atomic_with_value(vc_u32(2), number, NULL, out, VC__OP_ATOMIC_MAX);
        vc__atomic_with_value(vc_u32(3), vc_not(number), NULL, out, VC__OP_ATOMIC_MAX);
    }
    k->global_axes = axes;
}

/* The number of a format in the runtime: that of the kernel's first format, an implicit argument, plus its index. */
static vc_val vc__output_number(vc_kernel *k, uint32_t format) {
    return vc_add(vc__implicit(k, "printf", VC_IMPLICIT_OUTPUT, k->output, 0), vc_u32(format));
}

/* Reports a failed assertion or check. */
static void vc__output_failure(vc_kernel *k, const vc_ref *out, vc_val number, const vc_val *words, uint32_t count) {
    if (k->failed) return;
    vc__atomic_with_value(vc_u32(4), vc_u32(1), NULL, out, VC__OP_ATOMIC_ADD);
    vc__atomic_with_value(vc_u32(5), number, NULL, out, VC__OP_ATOMIC_MAX);
    vc__output_record(k, out, number, words, count);
}

VC_API void vc_printf_args(vc_kernel *k, const char *format, const vc_val *args, uint32_t count) {
    vc__printf_state p;
    if (!vc__ready(k)) return;
    if (!format) { vc__fail_call(k, "printf", "format is NULL"); return; }
    if (count && !args) { vc__fail_call(k, "printf", "args is NULL, but count is %u", count); return; }
    if (strlen(format) > VC__MAX_FORMAT_BYTES) {
        vc__fail_call(k, "printf", "format has %llu bytes, but the limit is %d", (unsigned long long)strlen(format),
                      (int)VC__MAX_FORMAT_BYTES);
        return;
    }
    if (count > VC__MAX_OUTPUT_OPERANDS) {
        vc__fail_call(k, "printf", "the call has %u operands, but the limit is %d",
                      count, (int)VC__MAX_OUTPUT_OPERANDS);
        return;
    }
    memset(&p, 0, sizeof p);
    p.k = k;
    p.rest = format;
    p.args = args;
    p.count = count;
    if (!vc__printf_read(&p)) return;
    uint32_t number = vc__format_of(k, "printf", p.types, p.text);
    vc_ref out = vc__output_ref(k);
    if (!k->failed) vc__output_record(k, &out, vc__output_number(k, number), p.words, p.word_count);
}

VC_API void vc_assert(vc_kernel *k, vc_val condition, const char *text) {
    if (!vc__ready(k)) return;
    uint32_t node = vc__condition(k, "assert", 1, condition);
    if (node == VC__NIL) return;
    if (!text) { vc__fail_call(k, "assert", "text is NULL"); return; }
    if (strlen(text) > VC__MAX_FORMAT_BYTES) {
        vc__fail_call(k, "assert", "text has %llu bytes, but the limit is %d", (unsigned long long)strlen(text),
                      (int)VC__MAX_FORMAT_BYTES);
        return;
    }
    if (vc__is_immediate(condition) && condition.bits) return;
    VC_IF(k, vc_not(vc__value(k, node))) {
        uint32_t format = vc__format_of(k, "assert", "assert", text);
        vc_ref out = vc__output_ref(k);
        if (!k->failed) vc__output_failure(k, &out, vc__output_number(k, format), NULL, 0);
    }
}

/* ---- checked kernels ----

   A check that fails stores format, index and length in variables, unless one has failed since the last report.
   vc_return_if and the end of the kernel report them, so that each check is short. */

static void vc__declare_checks(vc_kernel *k) {
    k->checks = k->desc.checked;
    if (!k->checks) return;
    bool wide = !(k->desc.machine.missing_features & VC_FEATURE_I64);
    k->failed_check[0] = vc_var(k, "failed_check", VC_U32);
    k->failed_check[1] = vc_var(k, "failed_index", wide ? VC_I64 : VC_I32);
    k->failed_check[2] = vc_var(k, "failed_length", VC_U32);
}

static void vc__report_checks(vc_kernel *k) {
    if (!k->desc.checked || k->failed) return;
    bool any_check = k->object[k->node[k->failed_check[0].memory].x].stored;
    if (!any_check) return;
    vc_val number = vc__get(&k->failed_check[0]), index = vc__get(&k->failed_check[1]), words[3];
    bool wide = vc_typeof(index) == VC_I64, checks = k->checks;
    k->checks = false;
    VC_IF(k, vc_ne(number, vc_u32(0))) {
        words[0] = vc_cast(VC_U32, index);
        words[1] = wide ? vc_cast(VC_U32, vc_shr(index, vc_u32(32))) : words[0];
        words[wide ? 2 : 1] = vc__get(&k->failed_check[2]);
        vc_ref out = vc__output_ref(k);
        vc__output_failure(k, &out, number, words, wide ? 3 : 2);
        vc__set(&k->failed_check[0], vc_u32(0));
    }
    k->checks = checks;
}

/* As vc__report_checks, for the end of the kernel. Records it only once there, although the kernel may be printed
   several times; it may also be continued after it was printed. */
static void vc__report_checks_at_end(vc_kernel *k) {
    if (k->reported_to == k->count || k->open_block) return;
    vc__report_checks(k);
    k->reported_to = k->count;
}

/* The number of elements in the memory of a ref, as u64 if `wide`, otherwise as u32. Buffers are counted in elements of
   the ref's type; the largest number of the result's type means at least 2^32 - 1. */
static vc_val vc__check_limit(vc_kernel *k, const vc_ref *r, bool wide) {
    const vc__object *o = &k->object[k->node[r->memory].x];
    if (o->op != VC__OP_BUFFER) return vc_imm(wide ? VC_U64 : VC_U32, o->count);
    vc_val length = vc__implicit(k, "length", VC_IMPLICIT_LENGTH, k->node[r->memory].x, vc_type_size(r->type));
    if (!wide) return length;
    return vc_select(vc_eq(length, vc_u32(UINT32_MAX)), vc_u64(UINT64_MAX), vc_cast(VC_U64, length));
}

/* The format of a check of an element of `array`, an array inside of an object; NULL: of the object itself. */
static uint32_t vc__check_format(vc_kernel *k, const char *call, const vc__object *root, const char *array) {
    bool wide = !(k->desc.machine.missing_features & VC_FEATURE_I64);
    char text[512];
    int length = snprintf(text, sizeof text, "vc_%s: element %%d of %s%s%s '", call, array ? array : "",
                          array ? " in " : "", vc__object_kind(root->op));
    for (const char *c = root->name ? root->name : ""; *c && length < 256; c++) {
        if (*c == '%') text[length++] = '%';
        text[length++] = *c;
    }
    snprintf(text + length, sizeof text - (size_t)length, "' is out of range (%%u elements)");
    return vc__format_of(k, call, wide ? "check i64 u32" : "check i32 u32", text);
}

/* Checks that 0 <= index < limit, both in units of 1/factor elements, and returns that condition. The index is signed,
   the limit unsigned. */
static vc_val vc__record_check(vc_kernel *k, uint32_t format, vc_val index, vc_val limit, uint32_t factor) {
    vc_type type = vc_typeof(index), unsigned_type = type == VC_I64 ? VC_U64 : VC_U32;
    vc_val inside = vc_lt(vc_bitcast(unsigned_type, index), limit);
    VC_IF(k, vc_and(vc_not(inside), vc_eq(vc__get(&k->failed_check[0]), vc_u32(0)))) {
        if (vc__output_ref(k).kernel) vc__set(&k->failed_check[0], vc__output_number(k, format));
        vc__set(&k->failed_check[1], vc_div(vc_const(k, index), vc_imm(type, factor)));
        vc__set(&k->failed_check[2], vc_cast(VC_U32, vc_div(vc_const(k, limit), vc_imm(unsigned_type, factor))));
    }
    return inside;
}

/* An index node, or 0 if it is VC__NIL, plus a constant, as a signed value of the type of the checks. The cast is
   explicit, because lowering changes the type of the indices of composite memory. */
static vc_val vc__signed_index(vc_kernel *k, uint32_t node, int64_t constant) {
    vc_type type = k->desc.machine.missing_features & VC_FEATURE_I64 ? VC_I32 : VC_I64;
    vc_val offset = vc_imm(type, (uint64_t)constant);
    if (node == VC__NIL) return offset;
    vc_val index = vc__value(k, vc__record_on(k, VC__OP_CAST, type, node, VC__NIL, VC__NIL, 0));
    return constant ? vc_add(index, offset) : index;
}

/* Returns the index of a ref, signed. *inside: the condition that it is in range. One element of a composite type has
   several elements of the ref's type. */
static vc_val vc__check_index(vc_kernel *k, const char *call, const vc_ref *r, vc_val *inside) {
    const vc__object *o = &k->object[k->node[r->memory].x];
    const vc__object *root = o->composite == VC__NIL ? o : &k->object[o->composite];
    bool wide = !(k->desc.machine.missing_features & VC_FEATURE_I64);
    uint32_t factor = o->op == VC__OP_BUFFER ? vc__layout_of(k, root->declared).size / vc_type_size(r->type)
                                             : o->count / root->count;
    uint32_t format = vc__check_format(k, call, root, NULL);
    vc_val index = vc__signed_index(k, r->index ? r->index - 1 : VC__NIL, r->offset);
    *inside = vc__record_check(k, format, index, vc__check_limit(k, r, wide), factor);
    return index;
}

/* Checks the indices of arrays inside of an element. If one is out of range, the index of `piece`, the ref to the
   scalar or vector in it, becomes -1, which is out of range, too. */
static void vc__check_arrays(vc_kernel *k, const char *call, const vc_ref *r, vc_ref *piece) {
    vc_val all = vc__no_value();
    k->checks = false;
    for (uint32_t p = r->path ? r->path - 1 : VC__NIL; p != VC__NIL; p = k->node[p].a[0]) {
        uint32_t array = k->node[p].a[2] >> 16;
        if (!array || k->node[p].a[1] == VC__NIL) continue;
        const vc__user_type *type = &k->user_type[array - VC__USER_TYPE];
        uint32_t count = type->count, format = vc__check_format(k, call, &k->object[k->node[r->memory].x],
                                                                vc__type_text(k, type->type).text);
        vc_val index = vc__signed_index(k, k->node[p].a[1], (int32_t)k->node[p].x);
        vc_val limit = vc_imm(vc_typeof(index) == VC_I64 ? VC_U64 : VC_U32, count);
        vc_val inside = vc__record_check(k, format, index, limit, 1);
        all = all.owner ? vc_and(all, inside) : inside;
    }
    if (all.owner) {
        vc_val index = vc__signed_index(k, piece->index - 1, piece->offset);
        piece->index = (uint32_t)vc_select(all, index, vc_imm(vc_typeof(index), UINT64_MAX)).bits + 1;
        piece->offset = 0;
    }
    k->checks = true;
}

/* Loads 0 if the index is out of range; element 0 is then read and discarded. */
static vc_val vc__load_checked(vc_kernel *k, const char *call, const vc_ref *r) {
    vc_ref at = *r;
    vc_val inside, value;
    k->checks = false;
    vc_val index = vc__check_index(k, call, r, &inside);
    at.offset = 0;
    at.index = 0;
    index = vc_select(inside, index, vc_imm(vc_typeof(index), 0));
    value = vc__advance_ref(k, call, &at, index) ? vc__load(k, call, &at) : vc__no_value();
    value = vc_select(inside, value, vc_imm(vc__scalar(r->type), 0));
    k->checks = true;
    return value;
}

static void vc__store_checked(vc_kernel *k, const char *call, const vc_ref *r, uint32_t which, vc_val value) {
    vc_val inside;
    k->checks = false;
    vc__check_index(k, call, r, &inside);
    VC_IF(k, inside) { vc__store(k, call, r, which, value); }
    k->checks = true;
}

/* If the index is out of range, *old is 0. */
static void vc__atomic_checked(vc_kernel *k, const char *call, uint32_t op, const vc_ref *r, uint32_t value,
                               vc_val *old) {
    vc_val inside, before;
    k->checks = false;
    vc__check_index(k, call, r, &inside);
    vc_ref result = old ? vc_var(k, "old", r->type) : vc__no_ref();
    VC_IF(k, inside) {
        vc__atomic(k, call, op, r, value, old ? &before : NULL);
        if (old) vc__set(&result, before);
    }
    if (old) *old = vc__get(&result);
    k->checks = true;
}

// >>image
/* Public functions of images. */

static vc_image_ref vc__no_image(void) { vc_image_ref r; memset(&r, 0, sizeof r); r.node = VC__NIL; return r; }

/* Replaces zeros in the desc by the defaults. Fails if it is invalid. */
static bool vc__image_resolve(vc_kernel *k, const char *name, vc_image_desc *d) {
    const char *const call = "image";
    uint32_t access = (uint32_t)d->access;
    bool has_format = (uint32_t)d->format < VC__IMAGE_FORMATS && d->format;
    vc_type format_kind = has_format ? (vc_type)vc__formats[d->format].kind : (vc_type)VC_NONE;
    if (!name) name = "";
    if (!d->dim) d->dim = VC_DIM_2D;
    if (!d->type) d->type = format_kind ? format_kind : (vc_type)VC_F32;
    if (!access) d->access = d->storage ? VC_READ_WRITE : VC_READ;
    if ((uint32_t)d->dim > VC_DIM_BUFFER)
        vc__fail_call(k, call, "'%s': dim is %u, which is not a vc_dim", name, (uint32_t)d->dim);
    else if ((uint32_t)d->format >= VC__IMAGE_FORMATS)
        vc__fail_call(k, call, "'%s': format is %u, which is not a vc_format", name, (uint32_t)d->format);
    else if (d->type != VC_F32 && d->type != VC_I32 && d->type != VC_U32)
        vc__fail_call(k, call, "'%s': type is %t, but must be VC_F32, VC_I32 or VC_U32", name, d->type);
    else if (d->format && !d->storage)
        vc__fail_call(k, call, "'%s': format is %s, which requires `storage`; a sampled image must have "
                      "VC_FORMAT_NONE", name, vc__formats[d->format].glsl);
    else if (format_kind && d->type != format_kind)
        vc__fail_call(k, call, "'%s': type is %t, but format %s requires %t", name, d->type,
                      vc__formats[d->format].glsl, format_kind);
    else if (d->count > VC__MAX_ELEMENTS || (d->count && d->dim == VC_DIM_BUFFER))
        vc__fail_call(k, call, "'%s': count is %u, but must be 0 to %u, and 0 for a texel buffer", name, d->count,
                      VC__MAX_ELEMENTS);
    else if (!d->storage && access && access != VC_READ)
        vc__fail_call(k, call, "'%s': access is %u, but must be VC_READ for a sampled image", name, access);
    else if (d->storage && access && (!(access & VC_READ_WRITE) || access > (VC_READ_WRITE | VC_MAY_ALIAS)))
        vc__fail_call(k, call, VC__ACCESS_MUST_BE, name, access, "");
    return !k->failed;
}

VC_API vc_image_ref vc_image(vc_kernel *k, const char *name, const vc_image_desc *desc) {
    vc_image_ref r = vc__no_image();
    vc_image_desc d;
    if (desc) d = *desc; else memset(&d, 0, sizeof d);
    if (!vc__ready(k) || !vc__image_resolve(k, name, &d)) return r;
    uint32_t node = vc__add_object(k, name, VC__OP_IMAGE, d.access, vc__vec(d.type, 4), d.count, NULL);
    if (node == VC__NIL) return r;
    vc__object *o = &k->object[k->node[node].x];
    o->declared = d.type;
    o->image.dim = (uint8_t)d.dim;
    o->image.format = (uint8_t)d.format;
    o->image.storage = d.storage;
    r.kernel = k;
    r.node = node;
    r.generation = k->generation;
    return r;
}

/* Uses of an image by a function, which determine the images that it accepts. The first two need a sampler. */
enum { VC__IMAGE_USE_SAMPLE, VC__IMAGE_USE_GATHER, VC__IMAGE_USE_FETCH, VC__IMAGE_USE_LOAD, VC__IMAGE_USE_STORE,
       VC__IMAGE_USE_QUERY, VC__IMAGE_USE_ELEMENT };

static void vc__check_image_use(vc_kernel *k, const char *call, const vc__object *o, int use) {
    const char *why = NULL;
    bool storage = o->image.storage, buffer = o->image.dim == VC_DIM_BUFFER;
    bool texels = use == VC__IMAGE_USE_LOAD || use == VC__IMAGE_USE_STORE, samples = use <= VC__IMAGE_USE_GATHER;
    if (samples && storage) why = "is a storage image, which has no sampler; use vc_image_load";
    else if (samples && buffer) why = "is a texel buffer, which has no sampler; use vc_fetch";
    else if (use == VC__IMAGE_USE_FETCH && storage) why = "is a storage image; use vc_image_load";
    else if (use == VC__IMAGE_USE_FETCH && o->image.dim == VC_DIM_CUBE)
        why = "is a cube, whose texels have no integer coordinates; use vc_sample_lod";
    else if (texels && !storage)
        why = use == VC__IMAGE_USE_LOAD ? "is not a storage image; use vc_fetch"
                                        : "is not a storage image, so it cannot be stored to";
    else if (use == VC__IMAGE_USE_LOAD && !(o->access & VC_READ)) why = "was declared without VC_READ";
    else if (use == VC__IMAGE_USE_STORE && !(o->access & VC_WRITE)) why = "was declared without VC_WRITE";
    if (why) vc__fail_call(k, call, "image '%s' %s", o->name, why);
    else if (use == VC__IMAGE_USE_GATHER && o->image.dim != VC_DIM_2D && o->image.dim != VC_DIM_2D_ARRAY
             && o->image.dim != VC_DIM_CUBE)
        vc__fail_call(k, call, "image '%s' is %s, but must be 2-D, 2-D array or cube", o->name,
                      vc__dims[o->image.dim].name);
}

/* Fails if the image does not support this use. */
static vc__object *vc__image_of(vc_kernel *k, const char *call, const vc_image_ref *r, int use) {
    if (!vc__ready(k)) return NULL;
    const char *why = vc__invalid_reason(k, r->kernel, r->node, r->generation);
    if (!why && k->node[r->node].op != VC__OP_IMAGE && k->node[r->node].op != VC__OP_IMAGE_AT)
        why = "was created before vc_restart";
    if (why) { vc__fail_call(k, call, "the image %s", why); return NULL; }
    const vc__node *n = &k->node[r->node];
    vc__object *o = &k->object[n->x];
    bool array = o->count && n->op == VC__OP_IMAGE;
    if (n->op == VC__OP_IMAGE_AT && !vc__is_usable(k, &k->node[n->a[1]]))
        vc__fail_call(k, call, "the index of an element of image '%s' was computed in a block that is already closed; "
                      "pass it out of the block in a variable (vc_var)", o->name);
    else if (use == VC__IMAGE_USE_ELEMENT && !array) vc__fail_call(k, call, "image '%s' is not an array", o->name);
    else if (use != VC__IMAGE_USE_ELEMENT && array)
        vc__fail_call(k, call, "image '%s' is an array; select an element with vc_image_at", o->name);
    else vc__check_image_use(k, call, o, use);
    return k->failed ? NULL : o;
}

/* Coordinates, a level, a derivative or an index must have `components` components of `kind`; VC_I32 includes u32. An
   immediate is converted if one component is required. what: the name of the operand in the message */
static uint32_t vc__image_operand(vc_kernel *k, const char *call, const vc__object *o, uint32_t which, const char *what,
                                  vc_val v, vc_type kind, uint32_t components) {
    char alternative[16] = "";
    vc__operand p;
    if (k->failed || !vc__operand_of(k, call, which, v, &p)) return VC__NIL;
    if (components == 1 && vc__adapts(&p, kind) && !vc__adapt_immediate(k, call, which, &p, kind)) return VC__NIL;
    bool kind_matches = vc__scalar(p.type) == kind || (kind == VC_I32 && vc__scalar(p.type) == VC_U32);
    if (kind_matches && vc__components(p.type) == components) return vc__as_node(k, &p, components);
    if (kind == VC_I32) snprintf(alternative, sizeof alternative, " or %s", vc_type_name(vc__vec(VC_U32, components)));
    vc__fail_call(k, call, "operand %u%a (%s) is %t, but image '%s' (%s) requires %t%s", which, &p, what, p.type,
                  o->name, vc__dims[o->image.dim].name, vc__vec(kind, components), alternative);
    return VC__NIL;
}

/* An image with a single level requires the immediate 0, for which VC__NIL is returned. */
static uint32_t vc__image_level(vc_kernel *k, const char *call, const vc__object *o, uint32_t which, vc_val v) {
    bool one = o->image.storage || o->image.dim == VC_DIM_BUFFER;
    if (!one) return vc__image_operand(k, call, o, which, "level", v, VC_I32, 1);
    if (!(vc__is_immediate(v) && vc__is_int((vc_type)v.owner) && v.bits == 0))
        vc__fail_call(k, call, "image '%s' has only one level, so level must be the immediate 0", o->name);
    return VC__NIL;
}

/* Records an image operation, unless the call has failed. type: VC_NONE: a texel; at: the coordinates; more: another
   operand or VC__NIL; x: its constant. */
static vc_val vc__image_record(const vc_image_ref *image, uint32_t op, vc_type type, uint32_t at, uint32_t more,
                               uint32_t x) {
    vc_kernel *k = image->kernel;
    if (!vc__ready(k)) return vc__no_value();
    if (!type) type = k->node[image->node].type;
    return vc__value(k, vc__record_on(k, op, type, image->node, at, more, x));
}

static vc_kernel *vc__image_kernel(const char *call, const vc_image_ref *image, vc_val at, vc_val more) {
    return image->kernel ? image->kernel : vc__kernel_of_operands(call, image->node != 0, at, more, more);
}

/* Checks the image and, unless it is a query, the coordinates, whose node *out receives. */
static vc__object *vc__image_begin(const char *call, const vc_image_ref *image, int use, vc_val at, vc_val more,
                                   uint32_t *out) {
    vc_kernel *k = vc__image_kernel(call, image, at, more);
    vc__object *o = vc__image_of(k, call, image, use);
    *out = VC__NIL;
    if (!o || use == VC__IMAGE_USE_QUERY) return o;
    *out = vc__image_operand(k, call, o, 2, "coordinates", at, use <= VC__IMAGE_USE_GATHER ? VC_F32 : VC_I32,
                             vc__dims[o->image.dim].coordinates);
    return k->failed ? NULL : o;
}

static vc_val vc__sample(const char *call, vc_image_ref image, vc_val at, vc_val lod, uint32_t offset) {
    uint32_t a, b = VC__NIL;
    const vc__object *o = vc__image_begin(call, &image, VC__IMAGE_USE_SAMPLE, at, lod, &a);
    if (o) b = vc__image_operand(image.kernel, call, o, 3, "level of detail", lod, VC_F32, 1);
    return vc__image_record(&image, VC__OP_SAMPLE, VC_NONE, a, b, offset);
}

VC_API vc_val vc_sample(vc_image_ref image, vc_val at) { return vc__sample("sample", image, at, vc_f32(0), 0); }
VC_API vc_val vc_sample_lod(vc_image_ref image, vc_val at, vc_val lod) {
    return vc__sample("sample_lod", image, at, lod, 0);
}

VC_API vc_val vc_sample_offset(vc_image_ref image, vc_val at, vc_val lod, int32_t x, int32_t y, int32_t z) {
    const char *const call = "sample_offset";
    vc_kernel *k = vc__image_kernel(call, &image, at, lod);
    const vc__object *o = vc__image_of(k, call, &image, VC__IMAGE_USE_SAMPLE);
    int32_t offset[3] = { x, y, z };
    uint32_t packed = 0;
    if (!o) return vc__no_value();
    for (uint32_t i = 0; i < 3; i++) {
        packed |= ((uint32_t)offset[i] & 255u) << 8 * i;
        if (offset[i] < -8 || offset[i] > 7)
            vc__fail_call(k, call, "the offset along %c is %d, but must be -8 to 7", "xyz"[i], offset[i]);
        else if (offset[i] && (o->image.dim == VC_DIM_CUBE || i >= vc__dims[o->image.dim].axes))
            vc__fail_call(k, call, "the offset along %c is %d, but must be 0 for image '%s' (%s)", "xyz"[i], offset[i],
                          o->name, vc__dims[o->image.dim].name);
    }
    return vc__sample(call, image, at, lod, packed);
}

VC_API vc_val vc_sample_grad(vc_image_ref image, vc_val at, vc_val dx, vc_val dy) {
    const char *const call = "sample_grad";
    vc_kernel *k = image.kernel;
    uint32_t a, x = VC__NIL, y = VC__NIL;
    const vc__object *o = vc__image_begin(call, &image, VC__IMAGE_USE_SAMPLE, at, vc__kernel_of(dx) ? dx : dy, &a);
    if (o) x = vc__image_operand(k, call, o, 3, "derivative", dx, VC_F32, vc__dims[o->image.dim].axes);
    if (o) y = vc__image_operand(k, call, o, 4, "derivative", dy, VC_F32, vc__dims[o->image.dim].axes);
    if (!vc__ready(k)) return vc__no_value();
    uint32_t both = vc__record_on(k, VC__OP_GRADIENT, k->node[x].type, x, y, VC__NIL, 0);
    return vc__image_record(&image, VC__OP_SAMPLE, VC_NONE, a, both, 0);
}

VC_API vc_val vc_gather(vc_image_ref image, vc_val at, uint32_t component) {
    uint32_t a;
    if (vc__image_begin("gather", &image, VC__IMAGE_USE_GATHER, at, at, &a) && component > 3)
        vc__fail_call(image.kernel, "gather", "component is %u, but must be 0 to 3", component);
    return vc__image_record(&image, VC__OP_GATHER, VC_NONE, a, VC__NIL, component);
}

VC_API vc_val vc_fetch(vc_image_ref image, vc_val at, vc_val level) {
    uint32_t a;
    const vc__object *o = vc__image_begin("fetch", &image, VC__IMAGE_USE_FETCH, at, level, &a);
    return vc__image_record(&image, VC__OP_FETCH, VC_NONE, a,
                            o ? vc__image_level(image.kernel, "fetch", o, 3, level) : VC__NIL, 0);
}

VC_API vc_val vc_image_load(vc_image_ref image, vc_val at) {
    uint32_t a;
    vc__image_begin("image_load", &image, VC__IMAGE_USE_LOAD, at, at, &a);
    return vc__image_record(&image, VC__OP_IMAGE_LOAD, VC_NONE, a, VC__NIL, 0);
}

VC_API void vc_image_store(vc_image_ref image, vc_val at, vc_val value) {
    const char *const call = "image_store";
    vc_kernel *k = image.kernel;
    uint32_t a;
    vc__object *o = vc__image_begin(call, &image, VC__IMAGE_USE_STORE, at, value, &a);
    if (!o || vc__fail_in_switch(k, call)) return;
    uint32_t v = vc__fit_node(k, call, 3, value, k->node[image.node].type);
    if (v == VC__NIL) return;
    o->stored = true;
    vc__record_anchored(k, k->open_block, VC__OP_IMAGE_STORE, 0, k->node[image.node].type, image.node, a, v, 0);
}

VC_API vc_val vc_image_size(vc_image_ref image, vc_val level) {
    uint32_t a;
    const vc__object *o = vc__image_begin("image_size", &image, VC__IMAGE_USE_QUERY, level, level, &a);
    if (!o) return vc__no_value();
    a = vc__image_level(image.kernel, "image_size", o, 2, level);
    return vc__image_record(&image, VC__OP_IMAGE_SIZE, vc__vec(VC_U32, vc__dims[o->image.dim].size), a, VC__NIL, 0);
}

VC_API vc_image_ref vc_image_at(vc_image_ref images, vc_val index) {
    const char *const call = "image_at";
    vc_kernel *k = vc__image_kernel(call, &images, index, index);
    const vc__object *o = vc__image_of(k, call, &images, VC__IMAGE_USE_ELEMENT);
    if (!o) return vc__no_image();
    uint32_t count = o->count, i = vc__image_operand(k, call, o, 2, "index", index, VC_I32, 1);
    if (k->failed) return vc__no_image();
    if (k->node[i].op == VC__OP_CONST && (uint32_t)vc__bits_of(&k->node[i]) >= count) {
        vc__fail_call(k, call, "index is %lld, but must be below %u, the number of elements of image '%s'",
                      (long long)vc__widen(k->node[i].type, vc__bits_of(&k->node[i])), count, o->name);
        return vc__no_image();
    }
    images.node = vc__record_on(k, VC__OP_IMAGE_AT, k->node[images.node].type, images.node, i, VC__NIL,
                                k->node[images.node].x);
    return images;
}

VC_API vc_val vc_image_levels(vc_image_ref image) {
    const char *const call = "image_levels";
    uint32_t a;
    const vc__object *o = vc__image_begin(call, &image, VC__IMAGE_USE_QUERY, vc__no_operand(), vc__no_operand(), &a);
    if (o && (o->image.storage || o->image.dim == VC_DIM_BUFFER))
        vc__fail_call(image.kernel, call,
                      "image '%s' has only one level; vc_image_levels requires a sampled image that is not a texel "
                      "buffer", o->name);
    return vc__image_record(&image, VC__OP_IMAGE_LEVELS, VC_U32, VC__NIL, VC__NIL, 0);
}

VC__SMALL_END

#endif /* VKDISPATCH_CODEGEN_IMPLEMENTED */
#endif /* VKDISPATCH_CODEGEN_IMPLEMENTATION */

/* Compiled once, after both implementations. vkdispatch.h includes this file again at its end if its implementation
   comes second. */
#if defined(VKDISPATCH_CODEGEN_IMPLEMENTED) && defined(VKDISPATCH_IMPLEMENTED) && !defined(VKDISPATCH_GLUE_IMPLEMENTED)
#define VKDISPATCH_GLUE_IMPLEMENTED

// >>glue
/* Creates a vd_kernel from a vc_kernel. Compiled only with both implementations. Types, features, dimensions, formats,
   argument kinds, implicit arguments and access flags have the same numbers in both: tools/check compares the lists. */

#if VKDISPATCH_VERSION / 10000 != VKDISPATCH_CODEGEN_VERSION / 10000
#error "vkdispatch.h and vkdispatch_codegen.h have different major versions"
#endif

/* 0: no limit */
static uint32_t vc__lower_limit(uint32_t a, uint32_t b) { return a && (!b || a < b) ? a : b; }

VC_API vc_machine vd_machine(const struct vd_context *ctx) {
    vc_machine m;
    int count = ctx ? vd_device_count(ctx) : 0;
    memset(&m, 0, sizeof m);
    for (int i = 0; i < count; i++) {
        const vd_device_info *d = vd_device(ctx, i);
        m.debug = d->facts.debug;
        m.missing_features |= ~d->features & VC__ALL_FEATURES;
        for (int j = 0; j < 3; j++) {
            m.max_groups[j] = vc__lower_limit(m.max_groups[j], d->limits.max_groups[j]);
            m.max_local_size[j] = vc__lower_limit(m.max_local_size[j], d->limits.max_local_size[j]);
        }
        m.max_local_invocations = vc__lower_limit(m.max_local_invocations, d->limits.max_local_invocations);
        m.max_shared_bytes = vc__lower_limit(m.max_shared_bytes, d->limits.max_shared_bytes);
        if (d->limits.max_private_bytes && (!m.max_private_bytes || d->limits.max_private_bytes < m.max_private_bytes))
            m.max_private_bytes = d->limits.max_private_bytes;
    }
    return m;
}

/* The kernel may have been recorded for another machine than that of the context. */
static bool vc__check_device(const vc_info *info, const vd_device_info *d) {
    uint64_t missing = info->features & ~d->features;
    uint32_t i;
    if (missing) {
        for (i = 0; !(missing >> i & 1); i++) continue;
        vd_error_set(VD_ERROR_UNSUPPORTED, "the kernel requires the feature %s, which device '%s' does not support",
                     vd_feature_name((uint64_t)1 << i), d->name);
        return false;
    }
    for (i = 0; i < 3; i++)
        if (info->local_size[i] > d->limits.max_local_size[i]) {
            vd_error_set(VD_ERROR_UNSUPPORTED, "local_size[%u] is %u, but the limit of device '%s' is %u",
                         i, info->local_size[i], d->name, d->limits.max_local_size[i]);
            return false;
        }
    if ((uint64_t)info->local_size[0] * info->local_size[1] * info->local_size[2] > d->limits.max_local_invocations) {
        vd_error_set(VD_ERROR_UNSUPPORTED, "local_size is %u x %u x %u, but the limit of device '%s' is %u invocations",
                     info->local_size[0], info->local_size[1], info->local_size[2], d->name,
                     d->limits.max_local_invocations);
        return false;
    }
    if (info->shared_bytes <= d->limits.max_shared_bytes) return true;
    vd_error_set(VD_ERROR_UNSUPPORTED, "the kernel needs %u bytes of shared memory, but the limit of device '%s' is %u",
                 info->shared_bytes, d->name, d->limits.max_shared_bytes);
    return false;
}

static void vc__glue_arg(vd_arg_info *to, const vc_arg_info *from) {
    memset(to, 0, sizeof *to);
    to->name = from->name;
    to->kind = (vd_arg_kind)from->kind;
    to->type = from->type;
    to->access = from->access;
    to->location = from->location;
    to->size = from->size;
    to->align = from->align;
    to->may_alias = from->may_alias;
    to->sampled = from->sampled;
    to->dim = (vd_dim)from->dim;
    to->format = (vd_format)from->format;
    to->count = from->count;
}

static void vc__glue_implicit(vd_implicit_info *to, const vc_implicit_info *from) {
    to->kind = (vd_implicit)from->kind;
    to->arg = from->arg;
    to->axis = from->axis;
    to->offset = from->offset;
}

/* The target of the builder and the kind of code for a device. The default is SPIR-V. */
typedef struct vc__glue_output { vc_target target; vd_code code; } vc__glue_output;

static vc__glue_output vc__glue_output_of(const vd_device_info *d) {
    static const vc__glue_output outputs[] = {
        { VC_TARGET_CUDA, VD_CODE_CUDA }, { VC_TARGET_OPENCL, VD_CODE_OPENCL }, { VC_TARGET_SPIRV, VD_CODE_SPIRV }
    };
    uint32_t i = 0;
    while (i + 1 < sizeof outputs / sizeof *outputs && outputs[i].code != d->facts.code) i++;
    return outputs[i];
}

VC_API vc_target vd_target(const struct vd_context *ctx) {
    const vd_device_info *d = ctx ? vd_device(ctx, 0) : NULL;
    return d ? vc__glue_output_of(d).target : VC_TARGET_NONE;
}

/* args, implicit: memory for the converted argument descriptions */
static struct vd_kernel vc__glue_create(struct vd_context *ctx, const vc_kernel *k, const vc__variant *f, vd_code code,
                                        vd_arg_info *args, vd_implicit_info *implicit) {
    const vc_info *info = &f->info;
    struct vd_kernel none = { 0 };
    vd_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    for (int i = 0; i < info->arg_count; i++) vc__glue_arg(&args[i], &info->args[i]);
    for (int i = 0; i < info->implicit_count; i++) vc__glue_implicit(&implicit[i], &info->implicit[i]);
    desc.name = info->name;
    desc.code_kind = code;
    desc.code = code == VD_CODE_SPIRV ? (const void *)(f->words.data + f->skip) : f->text.data;
    desc.code_size = code == VD_CODE_SPIRV ? (f->words.count - f->skip) * sizeof(uint32_t) : 0;
    desc.entry = info->entry;
    desc.args = args;
    desc.arg_count = info->arg_count;
    desc.implicit = implicit;
    desc.implicit_count = info->implicit_count;
    desc.argument_bytes = info->argument_bytes;
    memcpy(desc.local_size, info->local_size, sizeof desc.local_size);
    desc.shared_bytes = info->shared_bytes;
    desc.features = info->features;
    desc.formats = info->formats;
    desc.format_count = info->format_count;
    desc.axes = info->axes;
    memcpy(desc.threads, k->desc.threads, sizeof desc.threads);
    desc.count_registers = k->desc.count_registers;
    if (k->desc.threads_of) {
        while (desc.threads_arg < info->arg_count
               && (!info->args[desc.threads_arg].name || args[desc.threads_arg].kind > VD_ARG_ADDRESS
                   || strcmp(info->args[desc.threads_arg].name, k->desc.threads_of))) desc.threads_arg++;
        if (desc.threads_arg++ == info->arg_count) {
            vd_error_set(VD_ERROR_INVALID, "desc.threads_of is '%.100s', but no buffer has that name",
                         k->desc.threads_of);
            return none;
        }
    }
    return vd_kernel_create(ctx, &desc);
}

static struct vd_kernel vc__glue_build(struct vd_context *ctx, vc_kernel *k) {
    /* indexed by vc__missing_resource */
    static const vd_result results[] = { VD_ERROR_INVALID, VD_ERROR_OUT_OF_MEMORY, VD_ERROR_UNSUPPORTED };
    const vd_device_info *d = ctx ? vd_device(ctx, 0) : NULL;
    struct vd_kernel kernel = { 0 };
    vc_buffers buffers = k ? k->desc.buffers : VC_BUFFERS_DEFAULT;
    if (!d) { vd_error_set(VD_ERROR_INVALID, "the context is NULL or was destroyed"); return kernel; }
    vc__glue_output output = vc__glue_output_of(d);
    vc_target target = output.target;
    if (k && vc__is_compiled_out(target)) {
        vd_error_set(VD_ERROR_UNSUPPORTED, "device '%s' requires %s, which is disabled in this program by %s", d->name,
                     vc__text_targets[target].language, vc__text_targets[target].without);
        return kernel;
    }
    if (buffers == VC_BUFFERS_DEFAULT)
        buffers = vd_machine(ctx).missing_features & VC__ADDRESS_FEATURES ? VC_BUFFERS_BINDING : VC_BUFFERS_ADDRESS;
    if (k && !k->desc.buffers && k->desc.machine.missing_features & VC__ADDRESS_FEATURES) buffers = VC_BUFFERS_BINDING;
    if (!k || !vc__build(k, target, buffers)) {
        vd_error_set(results[k ? k->missing : VC__MISSING_NONE], "%s", vc_error(k));
        return kernel;
    }
    const vc__variant *f = vc__variant_of(k, target, buffers);
    for (int i = 0; i < vd_device_count(ctx); i++) if (!vc__check_device(&f->info, vd_device(ctx, i))) return kernel;
    size_t arg_bytes = (size_t)f->info.arg_count * sizeof(vd_arg_info);
    char *memory = (char *)vc__arena_allocate(&k->allocator, &k->arena,
                                              arg_bytes + (size_t)f->info.implicit_count * sizeof(vd_implicit_info));
    if (!memory) { vd_error_set(VD_ERROR_OUT_OF_MEMORY, NULL); return kernel; }
    return vc__glue_create(ctx, k, f, output.code, (vd_arg_info *)(void *)memory,
                           (vd_implicit_info *)(void *)(memory + arg_bytes));
}

/* The name of the kernel is added to the error only if it is not an error of vc_error, whose text contains it. */
VC_API struct vd_kernel vd_kernel_build(struct vd_context *ctx, vc_kernel *k) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_kernel_build", &scope);
    struct vd_kernel kernel = vc__glue_build(ctx, k);
    if (!kernel.id) vd_error_amend(vd_error_result(), "vd_kernel_build", vc_error(k) ? "" : vc__name(k), NULL);
    vd_callback_scope_end(&scope);
    return kernel;
}
#endif /* VKDISPATCH_GLUE_IMPLEMENTED */

#ifdef VKDISPATCH_CODEGEN_LINES
#undef VC__LINE
#define VC__LINE(signature, call, ...) vc__line_##signature(__FILE__, __LINE__, call, __VA_ARGS__)
#endif

// >>end
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

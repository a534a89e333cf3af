/* Mistakes of beginners. Each program ignores all results; debug mode must report the mistake in the log, on every
   backend. MISTAKES=1 prints what it logs. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"
#include "vkdispatch_fft.h"

enum { ELEMENTS = 16 };

typedef struct rig {
    vd_context_desc desc;
    vd_context *ctx;
    vd_buffer x, y, u, z; /* ELEMENTS elements: f32, f32, u32, complex f32 */
    vc_kernel *k;
    vc_ref in, out, counts;   /* buffers of k: f32 to read, f32 to write, u32 */
    vc_val a, n;              /* parameters of k: f32, u32 */
    vd_kernel good;       /* y[i] = x[i] * a */
} rig;

/* ---- the log ---- */

static struct { char text[8192]; size_t length; } heard;

static void hear(void *user, vd_log_level level, const char *message) {
    (void)user;
    if (level > VD_LOG_WARNING || heard.length > sizeof heard.text - 600) return;
    heard.length += (size_t)snprintf(heard.text + heard.length, sizeof heard.text - heard.length, "%.500s\n", message);
}

/* ---- kernels ---- */

static void begin(rig *r, const char *name) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.local_size[0] = 64;
    desc.machine = vd_machine(r->ctx);
    r->k = vc_begin(&desc);
    r->in = vc_buffer(r->k, "in", VC_F32, VC_READ);
    r->out = vc_buffer(r->k, "out", VC_F32, VC_WRITE);
    r->counts = vc_buffer(r->k, "counts", VC_U32, VC_READ_WRITE);
    r->a = vc_param(r->k, "a", VC_F32);
    r->n = vc_param(r->k, "n", VC_U32);
}

static void run(rig *r, uint64_t threads) {
    vd_kernel kernel = vd_kernel_build(r->ctx, r->k);
    vc_free(r->k);
    vd_run(r->ctx, kernel, threads, vd_b(r->x), vd_b(r->y), vd_b(r->u), vd_f32(2), vd_u32(4));
    vd_wait_idle(r->ctx);
    vd_kernel_destroy(r->ctx, kernel);
}

/* A kernel whose body is one statement for each thread. */
#define EACH(name, statement) \
    static void name(rig *r) { \
        begin(r, "mine"); \
        VC_EACH(r->k, i) { (void)i; statement; } \
        run(r, ELEMENTS); \
    }
#define BODY(name, statement) \
    static void name(rig *r) { \
        begin(r, "mine"); \
        statement; \
        run(r, ELEMENTS); \
    }
#define CALL(name, statement) \
    static void name(rig *r) { \
        statement; \
        vd_wait_idle(r->ctx); \
    }

/* ---- indices ---- */

EACH(store_past_the_end, vc_store(r->out, vc_mul(i, vc_u32(2)), r->a))
EACH(load_before_the_start, vc_store(r->out, i, vc_load(r->in, vc_sub(i, vc_u32(1)))))
EACH(neighbour_past_the_end, vc_store(r->out, i, vc_load(vc_offset(r->in, vc_u32(1)), i)))
EACH(count_past_the_end, vc_atomic_add(r->counts, vc_mul(i, vc_u32(3)), vc_u32(1), NULL))
EACH(shared_too_small, vc_store(vc_shared(r->k, "tile", VC_F32, 8), i, r->a))
BODY(no_guard, vc_store(r->out, vc_global_id(r->k, 0), r->a))
BODY(constant_past_shared, vc_store(vc_shared(r->k, "tile", VC_F32, 8), vc_u32(8), r->a))
static void too_many_threads(rig *r) {
    begin(r, "mine");
    VC_EACH(r->k, i) { vc_store(r->out, i, r->a); }
    run(r, 1000);
}

/* ---- types and values ---- */

EACH(float_plus_integer, vc_store(r->out, i, vc_add(r->a, r->n)))
EACH(integer_to_float_buffer, vc_store(r->out, i, i))
EACH(double_value, vc_store(r->out, i, vc_mul(r->a, vc_const(r->k, vc_f64(0.5)))))
EACH(negative_unsigned, vc_store(r->counts, i, vc_add(i, vc_i32(-1))))
EACH(vector_sizes, vc_store(r->out, i, vc_norm(vc_add(vc_splat(r->a, 2), vc_splat(r->a, 3)))))
EACH(vector_to_scalar, vc_store(r->out, i, vc_splat(r->a, 2)))
EACH(component_out_of_range, vc_store(r->out, i, vc_component(vc_splat(r->a, 2), 2)))
EACH(swizzle_out_of_range, vc_store(r->out, i, vc_norm(vc_swizzle(vc_splat(r->a, 2), "xz"))))
EACH(float_index, vc_store(r->out, r->a, r->a))
EACH(bits_of_floats, vc_store(r->out, i, vc_and(r->a, r->a)))
EACH(number_as_condition, VC_IF(r->k, r->n) { vc_store(r->out, i, r->a); })
EACH(never_set, vc_val none; memset(&none, 0, sizeof none); vc_store(r->out, i, none))
EACH(vector_of_immediates, vc_store(r->out, i, vc_norm(vc_vec2(vc_f32(1), vc_f32(2)))))
EACH(bitcast_size, vc_store(r->out, i, vc_bitcast(VC_F32, vc_cast(VC_U16, i))))
EACH(id_times_float, vc_store(r->out, i, vc_mul(i, vc_f32(0.5f))))
EACH(fraction_in_integer, vc_store(r->counts, i, vc_f32(0.5f)))
EACH(comparison_as_number, vc_store(r->counts, i, vc_add(i, vc_lt(i, r->n))))
EACH(select_of_two_types, vc_store(r->out, i, vc_select(vc_lt(i, r->n), r->a, i)))
EACH(integer_sine, vc_store(r->out, i, vc_sin(i)))

/* ---- memory ---- */

EACH(load_of_written, vc_store(r->out, i, vc_load(r->out, i)))
EACH(store_to_read, vc_store(r->in, i, r->a))
EACH(index_of_variable, vc_store(r->out, i, vc_load(vc_var(r->k, "sum", VC_F32), i)))
EACH(float_atomic_and, vc_atomic_and(vc_shared(r->k, "tile", VC_F32, 64), i, r->a, NULL))
EACH(atomic_variable, vc_atomic_add(vc_var(r->k, "sum", VC_U32), vc_u32(0), vc_u32(1), NULL))
EACH(huge_private_array, vc_store(vc_array(r->k, "list", VC_F32, 100000), i, r->a))
BODY(huge_shared_array, vc_store(vc_shared(r->k, "tile", VC_F32, 10000000), vc_local_index(r->k), r->a))
BODY(member_out_of_range, vc_member m[1]; memset(m, 0, sizeof m); m[0].name = "mass"; m[0].type = VC_F32;
     vc_ref p = vc_var(r->k, "p", vc_struct(r->k, "body", m, 1)); vc_set(vc_field(p, 1), r->a))

/* ---- control flow ---- */

EACH(barrier_for_some, vc_barrier(r->k); vc_store(r->out, i, r->a))
EACH(value_after_its_block, vc_val v = r->a; VC_IF(r->k, vc_gt(r->a, vc_f32(0))) { v = vc_add(r->a, vc_f32(1)); }
     vc_store(r->out, i, v))
EACH(endless_loop, VC_LOOP(r->k) { vc_store(r->out, i, r->a); })
EACH(break_of_c, VC_FOR(r->k, j, vc_u32(0), r->n) { vc_store(r->out, j, r->a); break; } vc_store(r->out, i, r->a))
EACH(break_outside, vc_break_if(r->k, vc_gt(r->a, vc_f32(0))))
EACH(else_alone, VC_ELSE(r->k) { vc_store(r->out, i, r->a); })
EACH(case_twice, VC_SWITCH(r->k, i) { VC_CASE(r->k, 1) { } VC_CASE(r->k, 1) { } })
EACH(store_in_switch, VC_SWITCH(r->k, i) { vc_store(r->out, i, r->a); })
EACH(loop_of_floats, VC_FOR(r->k, j, vc_f32(0), r->a) { vc_store(r->out, i, j); })
EACH(axis_of_four, vc_store(r->out, vc_global_id(r->k, 3), r->a))
static void values_of_another_kernel(rig *r) {
    begin(r, "first");
    vc_val a = r->a;
    vc_kernel *first = r->k;
    begin(r, "second");
    VC_EACH(r->k, i) { vc_store(r->out, i, a); }
    run(r, ELEMENTS);
    vc_free(first);
}

/* ---- output ---- */

EACH(print_type, vc_printf(r->k, "%d", r->a))
EACH(print_text, vc_printf(r->k, "%s", r->a))
EACH(print_too_few, vc_printf(r->k, "%f %f", r->a))
EACH(failed_assertion, vc_assert(r->k, vc_lt(i, r->n), "i < n"))
EACH(no_effect, (void)vc_load(r->in, i))
BODY(unused_axis, VC_EACH(r->k, i) { vc_store(r->out, i, r->a); } vd_kernel kernel = vd_kernel_build(r->ctx, r->k);
     vd_run2(r->ctx, kernel, ELEMENTS, ELEMENTS, vd_b(r->x), vd_b(r->y), vd_b(r->u), vd_f32(2), vd_u32(4));
     vd_kernel_destroy(r->ctx, kernel))

/* ---- kernels and arguments ---- */

static void local_size_too_large(rig *r) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.machine = vd_machine(r->ctx);
    desc.local_size[0] = 1 << 20;
    vc_kernel *k = vc_begin(&desc);
    vd_kernel_build(r->ctx, k);
    vc_free(k);
}
static const vd_kernel no_kernel = { 0 };
static const vd_buffer no_buffer = { 0 };
CALL(kernel_zero, vd_run(r->ctx, no_kernel, ELEMENTS, vd_b(r->x), vd_b(r->y), vd_f32(2)))
CALL(kernel_destroyed, vd_kernel k = r->good; vd_kernel_destroy(r->ctx, k);
     vd_run(r->ctx, k, ELEMENTS, vd_b(r->x), vd_b(r->y), vd_f32(2)))
CALL(argument_missing, vd_run(r->ctx, r->good, ELEMENTS, vd_b(r->x), vd_b(r->y)))
CALL(arguments_exchanged, vd_run(r->ctx, r->good, ELEMENTS, vd_b(r->x), vd_f32(2), vd_b(r->y)))
CALL(value_type, vd_run(r->ctx, r->good, ELEMENTS, vd_b(r->x), vd_b(r->y), vd_f64(2)))
CALL(integer_value, vd_run(r->ctx, r->good, ELEMENTS, vd_b(r->x), vd_b(r->y), vd_i32(2)))
CALL(buffer_type, vd_run(r->ctx, r->good, ELEMENTS, vd_b(r->x), vd_b(r->u), vd_f32(2)))
CALL(buffer_zero, vd_run(r->ctx, r->good, ELEMENTS, vd_b(r->x), vd_b(no_buffer), vd_f32(2)))
CALL(buffer_destroyed, vd_buffer_destroy(r->ctx, r->y);
     vd_run(r->ctx, r->good, ELEMENTS, vd_b(r->x), vd_b(r->y), vd_f32(2)))
CALL(buffer_twice, vd_run(r->ctx, r->good, ELEMENTS, vd_b(r->x), vd_b(r->x), vd_f32(2)))
CALL(no_threads, vd_run(r->ctx, r->good, 0, vd_b(r->x), vd_b(r->y), vd_f32(2)))
CALL(kernel_destroyed_twice, vd_kernel_destroy(r->ctx, r->good); vd_kernel_destroy(r->ctx, r->good))
CALL(buffer_destroyed_twice, vd_buffer_destroy(r->ctx, r->y); vd_buffer_destroy(r->ctx, r->y))
CALL(no_such_queue, vd_flush(r->ctx); vd_submit(vd_immediate(r->ctx, 0, 7), NULL, NULL))

static vd_dispatch_desc good_dispatch(const rig *r, vd_arg args[3]) {
    vd_dispatch_desc d;
    memset(&d, 0, sizeof d);
    args[0] = vd_b(r->x);
    args[1] = vd_b(r->y);
    args[2] = vd_f32(2);
    d.kernel = r->good;
    d.threads[0] = ELEMENTS;
    d.args = args;
    d.arg_count = 3;
    return d;
}

static void threads_and_groups(rig *r) {
    vd_arg args[3];
    vd_dispatch_desc d = good_dispatch(r, args);
    d.groups[0] = 1;
    vd_dispatch(vd_immediate(r->ctx, 0, 0), &d);
}
static void arguments_without_count(rig *r) {
    vd_arg args[3];
    vd_dispatch_desc d = good_dispatch(r, args);
    d.arg_count = 0;
    vd_dispatch(vd_immediate(r->ctx, 0, 0), &d);
}
CALL(source_as_code, vd_kernel_desc d; memset(&d, 0, sizeof d); d.name = "text"; d.code = "void main() {}";
     d.code_size = 14; d.code_kind = VD_CODE_SPIRV; vd_kernel_create(r->ctx, &d))

/* ---- buffers and lists ---- */

static vd_buffer make_buffer_in(vd_context *ctx, vd_type type, uint64_t elements) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "mine";
    desc.type = type;
    desc.shape[0] = elements;
    return vd_buffer_create(ctx, &desc);
}
static vd_buffer make_buffer(rig *r, vd_type type, uint64_t elements) { return make_buffer_in(r->ctx, type, elements); }

static float numbers[2 * ELEMENTS];
CALL(no_shape, make_buffer(r, VD_F32, 0))
CALL(no_type, vd_run(r->ctx, r->good, ELEMENTS, vd_b(r->x), vd_b(make_buffer(r, VD_BYTES, ELEMENTS)), vd_f32(2)))
CALL(far_too_large, make_buffer(r, VD_F32, (uint64_t)1 << 60))
CALL(read_too_much, vd_buffer_read(r->ctx, r->x, 0, numbers, sizeof numbers))
CALL(read_elements_as_bytes, vd_buffer_read(r->ctx, r->x, 4 * ELEMENTS, numbers, 4))
CALL(write_too_much, vd_buffer_write(r->ctx, r->x, 0, numbers, sizeof numbers))
CALL(write_nothing, vd_buffer_write(r->ctx, r->x, 0, NULL, 4))
CALL(copy_too_much, vd_copy(vd_immediate(r->ctx, 0, 0), r->x, 0, r->y, 4, 4 * ELEMENTS))
CALL(fill_odd_bytes, vd_fill(vd_immediate(r->ctx, 0, 0), r->x, 0, 7, numbers, 4))
CALL(view_outside, vd_view_desc d; memset(&d, 0, sizeof d); d.buffer = r->x; d.type = VD_F32; d.offset = 32;
     d.shape[0] = ELEMENTS; vd_buffer_view(r->ctx, &d))
static void struct_without_padding(rig *r) { /* of C: 16 bytes; the kernel expects 20 */
    vc_member m[3];
    memset(m, 0, sizeof m);
    m[0].name = "position";
    m[0].type = VC_F32X3;
    m[1].name = "mass";
    m[1].type = VC_F32;
    m[2].name = "age";
    m[2].type = VC_U32;
    begin(r, "mine");
    vc_ref bodies = vc_buffer(r->k, "bodies", vc_struct(r->k, "body", m, 3), VC_WRITE);
    VC_EACH(r->k, i) { vc_set(vc_field(vc_at(bodies, i), 1), r->a); }
    vd_kernel kernel = vd_kernel_build(r->ctx, r->k);
    vd_buffer b = make_buffer(r, VD_STRUCT(16), ELEMENTS);
    vc_free(r->k);
    vd_run(r->ctx, kernel, ELEMENTS, vd_b(r->x), vd_b(r->y), vd_b(r->u), vd_f32(2), vd_u32(4), vd_b(b));
    vd_buffer_destroy(r->ctx, b);
    vd_kernel_destroy(r->ctx, kernel);
}
static void list_not_submitted(rig *r) { /* and nothing destroyed */
    vd_context_desc desc = r->desc;
    vd_context *ctx;
    if (vd_context_create(&desc, &ctx)) return;
    vd_fill(vd_list_begin(ctx, NULL), make_buffer_in(ctx, VD_F32, 4), 0, 16, numbers, 4);
    vd_context_destroy(ctx);
}
static void buffer_of_another_context(rig *r) {
    vd_context_desc desc = r->desc;
    vd_context *ctx;
    if (vd_context_create(&desc, &ctx)) return;
    vd_run(r->ctx, r->good, ELEMENTS, vd_b(r->x), vd_b(make_buffer_in(ctx, VD_F32, ELEMENTS)), vd_f32(2));
    vd_context_destroy(ctx);
}
static void misspelt_backend(rig *r) {
    vd_context_desc desc = r->desc;
    vd_context *ctx;
    desc.backend = VD_BACKEND_DEFAULT;
    setenv("VKDISPATCH_BACKEND", "vulcan", 1);
    vd_context_create(&desc, &ctx);
    unsetenv("VKDISPATCH_BACKEND");
}
CALL(map_without_access, void *p; vd_buffer_map(r->ctx, r->x, 0, 0, &p))

/* A graph with the slots y and a, whose slot `name` is set. */
static void set_slot(rig *r, const char *name, vd_arg value) {
    vd_list *list = vd_graph_begin(r->ctx, NULL);
    vd_arg args[3];
    vd_dispatch_desc d = good_dispatch(r, args);
    args[1] = vd_slot("y", args[1]);
    args[2] = vd_slot("a", args[2]);
    vd_dispatch(list, &d);
    vd_graph graph = vd_graph_end(list);
    vd_graph_set(r->ctx, graph, name, value);
    vd_graph_submit(r->ctx, graph, NULL, NULL);
    vd_graph_destroy(r->ctx, graph);
}
CALL(slot_misspelt, set_slot(r, "alpha", vd_f32(3)))
CALL(slot_value_type, set_slot(r, "a", vd_i32(3)))
CALL(slot_buffer_type, set_slot(r, "y", vd_b(r->u)))
CALL(slot_alias, set_slot(r, "y", vd_b(r->x)))
CALL(graph_of_nothing, vd_graph none; memset(&none, 0, sizeof none); vd_graph_submit(r->ctx, none, NULL, NULL))
static void read_before_submit(rig *r) {
    vd_list *list = vd_list_begin(r->ctx, NULL);
    vd_arg args[3];
    vd_dispatch_desc d = good_dispatch(r, args);
    vd_dispatch(list, &d);
    vd_buffer_read(r->ctx, r->y, 0, numbers, 4);
    vd_submit(list, NULL, NULL);
}

/* ---- the library ---- */

CALL(fft_of_reals, vd_fft_forward(r->ctx, r->x))
CALL(fft_without_shape, vd_fft_desc d; memset(&d, 0, sizeof d); vd_fft_create(r->ctx, &d))
CALL(real_fft_in_place, vd_fft_desc d; memset(&d, 0, sizeof d); d.shape[0] = ELEMENTS; d.kind = VD_FFT_REAL;
     vd_fft *p = vd_fft_create(r->ctx, &d); vd_fft_io io; memset(&io, 0, sizeof io); io.in = r->x;
     vd_fft_run(p, vd_immediate(r->ctx, 0, 0), &io); vd_fft_destroy(p))
CALL(fft_buffer_too_small, vd_fft_desc d; memset(&d, 0, sizeof d); d.shape[0] = 2 * ELEMENTS;
     vd_fft *p = vd_fft_create(r->ctx, &d); vd_fft_io io; memset(&io, 0, sizeof io); io.in = r->z;
     vd_fft_run(p, vd_immediate(r->ctx, 0, 0), &io); vd_fft_destroy(p))
CALL(sum_of_wrong_type, vd_reduce_sum(r->ctx, r->x, r->u))
CALL(sort_of_complex, vd_sort_all(r->ctx, r->z))

static const struct mistake { const char *name; void (*make)(rig *r); const char *text; bool executes; } mistakes[] = {
#define M(name, text) { #name, name, text, false }
#define X(name, text) { #name, name, text, true } /* found when the kernel runs */
    X(store_past_the_end, "kernel 'mine': vc_store: element 16 of buffer 'out' is out of range (16 elements)"),
    X(load_before_the_start, "vc_load: element 4294967295 of buffer 'in' is out of range"),
    X(neighbour_past_the_end, "vc_load: element 16 of buffer 'in' is out of range (16 elements) in invocation (15, 0, 0)"),
    X(count_past_the_end, "vc_atomic_add: element 18 of buffer 'counts' is out of range"),
    X(shared_too_small, "vc_store: element 8 of shared array 'tile' is out of range (8 elements)"),
    X(no_guard, " of buffer 'out' is out of range (16 elements)"), /* any of them is reported */
    X(too_many_threads, "of buffer 'out' is out of range (16 elements) in invocation"),
    M(constant_past_shared, "element 8 is out of range: the last one of shared array 'tile' is 7"),
    M(float_plus_integer, "operand 1 'a' is f32 and operand 2 'n' is u32; both must have the same type"),
    M(integer_to_float_buffer, "is u32, but the element type is f32; convert it with vc_cast"),
    M(double_value, "is f64; both must have the same type"),
    M(negative_unsigned, "operand 2 is the immediate -1, which is out of range for u32"),
    M(vector_sizes, "vectors must have the same number of components"),
    M(vector_to_scalar, "is f32x2, but the element type is f32"),
    M(component_out_of_range, "component 2 is out of range: the last one of f32x2 is 1"),
    M(swizzle_out_of_range, "must be 1 to 4 of the letters xy, the components of f32x2"),
    M(float_index, "the index 'a' is f32, but must be a scalar integer"),
    M(bits_of_floats, "operand 1 'a' is f32, but must be bool or an integer"),
    M(number_as_condition, "the condition 'n' is u32, but must be a scalar bool; compare it"),
    M(never_set, "was never set"),
    M(vector_of_immediates, "is vc_vec2 of immediates only, so its kernel is unknown; use vc_vec"),
    M(bitcast_size, "which cannot be converted to f32"),
    M(id_times_float,
      "operand 1 is u32 and operand 2 is f32; both must have the same type; convert one with vc_cast"),
    M(fraction_in_integer, "the value is f32, but the element type is u32; convert it with vc_cast"),
    M(comparison_as_number, "operand 1 is u32 and operand 2 is bool; both must have the same type"),
    M(select_of_two_types, "vc_select in kernel 'mine': operand 2 'a' is f32 and operand 3 is u32"),
    M(axis_of_four, "vc_global_id in kernel 'mine': axis is 3, but must be 0 to 2"),
    M(integer_sine, "is u32, but must be f16, f32 or f64"),
    M(load_of_written, "buffer 'out' was declared without VC_READ"),
    M(store_to_read, "buffer 'in' was declared without VC_WRITE"),
    M(index_of_variable, "variable 'sum' has no elements; use vc_get and vc_set"),
    M(float_atomic_and, "has elements of f32, but this call requires i32, u32, i64 or u64"),
    M(atomic_variable, "variable 'sum' does not support atomics; use a buffer or a shared array"),
    M(huge_private_array, "private arrays of an invocation"),
    M(huge_shared_array, "bytes of shared memory, but the device's limit is"),
    M(member_out_of_range, "part 1 is out of range: the last one of struct body is 0"),
    M(barrier_for_some, "called inside VC_EACH, which some invocations skip"),
    M(value_after_its_block, "was created in a block that is already closed; pass it out of the block in a vc_var"),
    M(endless_loop, "no vc_break_if, vc_break_outer_if or vc_return_if, so it never terminates"),
    M(break_of_c, "was not closed: C code left it"),
    M(break_outside, "vc_break_if in kernel 'mine': called outside of a loop"),
    M(else_alone, "must directly follow the block of a VC_IF"),
    M(case_twice, "the value 1 is already used by another VC_CASE"),
    M(store_in_switch, "called directly inside a VC_SWITCH"),
    M(loop_of_floats, "first and limit are f32, but must be scalar integers"),
    M(values_of_another_kernel, "another kernel"),
    M(print_type, "operand 1 'a' is f32, but '%d' requires i8 to i64 or bool"),
    M(print_text, "'%s' is not supported"),
    M(print_too_few, "'%f' requires operand 2, but the call has 1 operands"),
    X(failed_assertion, "kernel 'mine': assertion 'i < n' failed in invocation (4, 0, 0)"),
    M(no_effect, "kernel 'mine' has no effect: no argument is declared as written (vd_arg_info.access), and it has no printf or assert"),
    M(unused_axis, "threads[1] is 16, but the kernel uses no id along axis 1"),
    M(local_size_too_large, "local_size[0] is 1048576, but the device's limit is"),
    M(kernel_zero, "vd_run: the kernel handle is 0"),
    M(kernel_destroyed, "the kernel was destroyed"),
    M(argument_missing, "vd_run 'good': 2 arguments were passed, but the kernel expects 3"),
    M(arguments_exchanged, "argument 1 'y' is a value of f32, but the kernel expects a buffer of f32"),
    M(value_type, "argument 2 'a' is a value of f64, but the kernel expects a value of f32"),
    M(integer_value, "argument 2 'a' is a value of i32, but the kernel expects a value of f32"),
    M(buffer_type, "argument 1 'y' is a buffer of u32, but the kernel expects a buffer of f32"),
    M(buffer_zero, "argument 1 'y': the buffer handle is 0"),
    M(buffer_destroyed, "argument 1 'y': the buffer was destroyed"),
    M(buffer_twice, "arguments 0 'x' and 1 'y' overlap"),
    M(no_threads, "threads[0] must not be 0"),
    M(source_as_code, "vd_kernel_create 'text': "),
    M(no_shape, "desc.shape is 0 along all axes"),
    M(no_type, "argument 1 'y' is a buffer of bytes (its desc.type is not set), but the kernel expects a buffer of f32"),
    M(far_too_large, "max_buffer_bytes"),
    M(read_too_much, "128 bytes at offset 0 extend past the end of buffer 'x' (64 bytes)"),
    M(read_elements_as_bytes, "4 bytes at offset 64 extend past the end of buffer 'x' (64 bytes)"),
    M(write_too_much, "vd_buffer_write: 128 bytes at offset 0 extend past the end of buffer 'x'"),
    M(write_nothing, "data is NULL"),
    M(copy_too_much, "64 bytes at source offset 4 extend past the end of buffer 'y'"),
    M(fill_odd_bytes, "size 7 in buffer 'x' is not a multiple of value_size 4"),
    M(view_outside, "the 64 bytes of desc.shape at desc.offset 32 extend past the end of buffer 'x'"),
    M(read_before_submit, "has not been submitted"),
    M(kernel_destroyed_twice, "vd_kernel_destroy: the kernel was destroyed"),
    M(buffer_destroyed_twice, "vd_buffer_destroy: the buffer was destroyed"),
    M(no_such_queue, "device 0 has no queue 7; it has 1 queues"),
    M(threads_and_groups, "vd_dispatch 'good': both threads (16) and groups (1) are set"),
    M(arguments_without_count, "vd_dispatch 'good': 0 arguments were passed, but the kernel expects 3"),
    M(struct_without_padding,
      "argument 5 'bodies' is a buffer of struct of 16 bytes, but the kernel expects a buffer of struct of 20 bytes"),
    M(list_not_submitted, "vd_context_destroy: a list with 1 commands was not submitted (vd_submit)"),
    M(buffer_of_another_context, "argument 1 'y': the buffer handle is invalid or belongs to another context"),
    M(misspelt_backend, "VKDISPATCH_BACKEND is 'vulcan'; the choices are: "),
    M(map_without_access, "vd_buffer_map: access is 0, but must be VD_READ, VD_WRITE or both"),
    M(slot_misspelt, "vd_graph_set: there is no slot 'alpha'; the slots are 'y', 'a'"),
    M(slot_value_type, "vd_graph_set: slot 'a' is a value of f32, but the new value is a value of i32"),
    M(slot_buffer_type, "vd_graph_set: slot 'y' is a buffer of f32 with shape 16 x 1 x 1 x 1, but buffer 'u' has u32"),
    M(slot_alias, "vd_graph_submit: 'x' and 'y' overlap"),
    M(graph_of_nothing, "vd_graph_submit: the graph handle is 0"),
    M(fft_of_reals, "but complex f32 or f32x2 is expected"),
    M(fft_without_shape, "dimension 0 of the shape is 0"),
    M(real_fft_in_place, "(out, in place: its rows need padding, see desc.padded) has 64 bytes, but the plan needs 72"),
    M(fft_buffer_too_small, "buffer 'z' (in) has 128 bytes, but the plan needs 256"),
    M(sum_of_wrong_type, "vd_reduce_sum: buffer 'u' (out) has type u32, but f32 is expected"),
    M(sort_of_complex, "vd_sort_all: type is complex f32, but must be a scalar number"),
};

static void good_kernel(rig *r) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "good";
    desc.machine = vd_machine(r->ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ), y = vc_buffer(k, "y", VC_F32, VC_WRITE);
    vc_val a = vc_param(k, "a", VC_F32);
    VC_EACH(k, i) { vc_store(y, i, vc_mul(vc_load(x, i), a)); }
    r->good = vd_kernel_build(r->ctx, k);
    vc_free(k);
    assert_true(r->good.id != 0);
}

/* In each message, what a program with this mistake logs. */
TEST(every_mistake_is_reported) {
    const char *show = getenv("MISTAKES");
    int failures = 0;
    rig r;
    memset(&r, 0, sizeof r);
    r.desc = fixture_desc(f);
    r.desc.debug = true;
    r.desc.log = hear;
    if (vd_context_create(&r.desc, &r.ctx)) fail_msg("%s", vd_error_text());
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        const struct mistake *m = &mistakes[i];
        if (m->executes && !f->executes) continue;
        r.x = buffer_named(r.ctx, "x", VD_F32, ELEMENTS, NULL);
        r.y = buffer_named(r.ctx, "y", VD_F32, ELEMENTS, NULL);
        r.u = buffer_named(r.ctx, "u", VD_U32, ELEMENTS, NULL);
        r.z = buffer_named(r.ctx, "z", VD_F32C, ELEMENTS, NULL);
        good_kernel(&r);
        memset(&heard, 0, sizeof heard);
        m->make(&r);
        vd_wait_idle(r.ctx);
        if (show) print_message("%s\n    %s", m->name, heard.text[0] ? heard.text : "(silent)\n");
        if (!strstr(heard.text, m->text)) {
            print_error("%s: the log lacks '%s':\n%s\n", m->name, m->text, heard.text);
            failures++;
        }
        vd_buffer_destroy(r.ctx, r.x);
        if (m->make != buffer_destroyed && m->make != buffer_destroyed_twice) vd_buffer_destroy(r.ctx, r.y);
        vd_buffer_destroy(r.ctx, r.u);
        vd_buffer_destroy(r.ctx, r.z);
        if (m->make != kernel_destroyed && m->make != kernel_destroyed_twice) vd_kernel_destroy(r.ctx, r.good);
        vd_wait_idle(r.ctx);
    }
    vd_context_destroy(r.ctx);
    if (failures) fail_msg("%d of %d mistakes are not reported", failures, (int)COUNT(mistakes));
}

static const struct CMUnitTest cases[] = { CASE(every_mistake_is_reported) };
MAIN("mistakes", cases)

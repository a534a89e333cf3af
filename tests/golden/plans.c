/* The kernels that plans of vkdispatch_fft.h launch on devices with given properties, compared with
   tests/golden/expected/plans.kernels and plans.words. `--update` or GOLDEN_UPDATE=1 rewrites both.

   plans.kernels has a line for each kernel launch: the run, groups, local size, and a hash of the SPIR-V without
   names. It only covers launches that reach the device. plans.words has everything that may change without a change
   of a kernel: explanations, names of kernels and messages. */
#define _POSIX_C_SOURCE 200809L /* unsetenv */
#include "tests/insides.h"
#include "vkdispatch_fft.h"

#include "files.h"
#include "tests/fft/no_memory.h"

/* ---- cases as text: a kind, a shape, then options in any order ---- */

static const char *const transforms[] = {
    "complex 5x1", "complex 4096x7", "complex 4x2", "complex 4x8", "complex 7x15", "complex 3x31", "complex 64x64", "complex 5x100",
    "complex 4x127", "complex 4x131", "complex 4x203", "complex 100x256",
    "complex 4x61", "complex 5x592", "complex 2x1517", "complex 2x16383 f64", "complex 74x40 axes=1", "real 3x262", "dct1 4x38",
    "complex 9x360", "complex 4x1000", "complex 4x1024", "complex 3x2048", "complex 2x4093", "complex 4x4096",
    "complex 4x8192", "complex 2x16384",
    "complex 65536", "complex 1048576", "complex 2x19683 f64", "complex 10007", "complex 1000003",
    "complex 2x10007x3 axes=2 in_place", "complex 8209x60 axes=3 hooks", "complex 2x10007 f64",
    "complex 2x10007 in_count=0,500 out_count=0,9000",
    "complex 4x1024 f64", "complex 4x1000 in=f16 out=f16", "complex 4x64 in=f64", "complex 4x1024 in_place",
    "complex 8x64 ortho", "complex 8x64 none",
    "complex 8x64 hooks", "complex 2x65536 hooks",
    "complex 4x512x16 axes=2", "complex 4x1000x3 axes=2", "complex 2x4096x4 axes=2 in_place", "complex 256x256 axes=1",
    "complex 3x16x16 axes=6", "complex 2x64x64 axes=6", "complex 2x37x40 axes=6", "complex 512x512 axes=3",
    "complex 1024x1024 axes=3 in_place",
    "complex 32x32x32 axes=7", "complex 128x128x64 axes=7", "complex 3x4x5x6 axes=15",
    "complex 9x64 in_stride=1,9 out_stride=65,1", "complex 9x64 in_count=0,24 out_count=0,40",
    "complex 8x32x32 axes=6 in_count=0,8,8",
    "real 4x1", "real 4096x28", "real 4x16", "real 7x15", "real 7x15 pack_rows", "real 6x105", "real 6x105 pack_rows", "real 3x37",
    "real 4x74", "real 4x1000", "real 4x1024",
    "real 4x4096", "real 5x4095", "real 65536", "real 2x19683", "real 4x1024 padded in_place",
    "real 5x105 padded in_place", "real 4x1024 f64",
    "real 4x1024 in=f16 out=f32", "real 4x64 hooks", "real 4x45 hooks", "real 12x20 axes=1", "real 256x256 axes=3",
    "real 60x45 axes=3", "real 16x20x24 axes=7",
    "real 4x64 in_count=0,24 out_count=0,9", "real 6293", "real 20014", "real 10007 hooks", "real 8209x12 axes=3",
    "dct1 4x65", "dct2 4x64", "dct2 5x45", "dct2 5x45 pack_rows", "dct3 4x64", "dct3 5x45", "dct4 4x64", "dct4 5x45",
    "dst1 4x63", "dst2 4x64", "dst3 5x45",
    "dct2 10007", "dst1 4096", "dct4 20014x2 axes=1",
    "dst4 4x37", "dct2 32768x2 axes=1", "dct2 64x60 axes=3 in_place", "dct4 6x33 hooks",
};

static const char *const convolutions[] = {
    "convolve 1000 batch=4", "convolve 4096 batch=4", "convolve 37 batch=4", "convolve 65536",
    "convolve 1000 filter=31 mode=same correlation",
    "convolve 64x64 batch=4", "convolve 512x512", "convolve 512x512 filter=31x31 mode=same", "convolve 32x32x32",
    "convolve 20x18 filter=3x3 channels=3 filters=2", "convolve 1000 batch=4 f64",
    "convolve 48x48 filter=5x5 mode=full spectrum_hook",
    "convolve 1000 real batch=5", "convolve 1000 real batch=5 pack_rows", "convolve 4096 real filter=31 mode=centred",
    "convolve 37 real batch=3",
    "convolve 512x512 real batch=2", "convolve 512x512 real filter=31x31 mode=same batch=3",
    "convolve 64x64 real filter=5x5 mode=centred batch=3",
    "convolve 64x48 real filter=5x5 mode=full channels=3 filters=4 batch=2",
    "convolve 37x12 batch=2 channels=3 filters=2", "convolve 10007 batch=2", "convolve 8209 real spectrum_hook",
    "convolve 20x18x16 real filter=3x3x3 mode=valid", "convolve 16 real spectrum_hook",
};

static const char *const others[] = {
    "sum 1", "sum 1000", "sum 4194304", "sum 4096x64 axes=2", "sum 64x4096 axes=2", "sum 512x512 axes=1",
    "sum 30x40x50 axes=5", "sum 65536 f64",
    "sum 65536 f16", "sum 65536 i8", "product 1000x3 axes=2", "min 65536", "max 300x300 axes=1 i32", "and 65536 u32",
    "any 65536", "argmin 65536",
    "argmax 100x1000 axes=2 extra", "dot 1048576",
    "norm 65536", "mean 64x1000 axes=2", "variance 65536", "variance 1000x64 axes=1 extra", "sum 65536 map",
    "sum 4096 segments=17",
    "scan 1000", "scan 1048576", "scan 1048576 three_kernels", "scan 1048576 one_pass", "scan 1048576 exclusive",
    "scan 64x1000", "scan 512x64 axis=1",
    "scan 1048576 segmented", "scan 65536 f64", "scan 65536 u8", "scan 65536 map", "compact 1048576",
    "compact 1000 i32",
    "sort 1000", "sort 1048576", "sort 1048576 values", "sort 1048576 u32 descending", "sort 65536 u64",
    "sort 65536 f16", "sort 1048576 one_pass",
    "sort 1048576 three_kernels",
    "histogram 1048576 bins=256", "histogram 1048576 bins=65536", "histogram 65536 bins=10 u8",
    "histogram 65536 bins=100 map",
    "top_k 4x1000 k=1", "top_k 4x100000 k=16", "top_k 64x64 k=8 smallest", "top_k 1048576 k=1000",
    "top_k 4x1000 k=4 f64",
    "shift 7x15", "shift 64x64 axes=1 inverse",
};

/* 64-bit indices. */
static const char *const large[] = {
    "complex 64x67108864 axes=1 in_place", "complex 4194304x1024 axes=2 in_place", "sum 8589934592",
    "sum 4x2147483648 axes=1", "argmin 8589934592", "argmin 65536 index=u64", "argmax 2x4294967295 axes=2 extra u8",
    "argmax 100x1000 axes=2 extra index=u64 i8", "scan 8589934592", "compact 8589934592 u8",
    "histogram 8589934592 bins=256 u8", "top_k 8589934592 k=16", "top_k 4x1000 k=1 index=u64", "sort 8589934592 u8",
    "shift 3x2863311531 axes=3",
};

/* Whether a case has an option. */
static bool has(const char *spec, const char *word) {
    size_t n = strlen(word);
    const char *at = spec;
    for (; (at = strstr(at, word)) != NULL; at += n)
        if ((at == spec || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

/* Reads the numbers after "word=", or of the shape, separated by 'x' or ','. Returns their count. */
static uint32_t numbers(const char *spec, const char *word, uint64_t out[4]) {
    const char *at = strstr(spec, word);
    uint32_t count = 0;
    if (!at) return 0;
    at += strlen(word);
    while (count < 4 && *at >= '0' && *at <= '9') {
        char *end;
        out[count++] = strtoull(at, &end, 10);
        at = *end == 'x' || *end == ',' ? end + 1 : end;
    }
    return count;
}

static uint64_t number(const char *spec, const char *word, uint64_t usual) {
    uint64_t out[4];
    return numbers(spec, word, out) ? out[0] : usual;
}

static uint32_t shape_of(const char *spec, uint64_t out[4]) { return numbers(spec, " ", out); }

static bool is_kind(const char *spec, const char *kind) {
    return strncmp(spec, kind, strlen(kind)) == 0 && spec[strlen(kind)] == ' ';
}

/* Returns the type whose name follows a prefix in an option; 0: none. */
static vd_type type_of(const char *spec, const char *prefix) {
    static const vd_type types[] = { VD_F16, VD_F32, VD_F64, VD_I8, VD_I32, VD_U8, VD_U32, VD_U64 };
    char word[32];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        snprintf(word, sizeof word, "%s%s", prefix, vd_type_name(types[i]));
        if (has(spec, word)) return types[i];
    }
    return (vd_type)0;
}

/* ---- what reaches the device ---- */

typedef struct module { char name[96]; uint64_t hash; uint32_t local[3]; } module;

static module modules[64];
static uint32_t module_count;
static text kernels, words;
static const char *run_name;

static void append(text *t, const char *format, ...) {
    char line[20000];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof line) exit(2);
    t->at = (char *)realloc(t->at, t->length + (size_t)n + 1);
    if (!t->at) exit(2);
    memcpy(t->at + t->length, line, (size_t)n + 1);
    t->length += (size_t)n;
}

static uint64_t mix(uint64_t hash, uint32_t word) {
    for (int i = 0; i < 4; i++) hash = (hash ^ (word >> 8 * i & 255)) * 1099511628211u;
    return hash;
}

/* SPIR-V instructions with names and source positions. */
static bool is_name(uint32_t op) { return (op >= 2 && op <= 8) || op == 317 || op == 330; }

/* Hashes the module without names, including the name of the entry point, and without the low words of f64
   constants, which depend on the last bit of sin() on the host. */
static void read_module(module *m, const uint32_t *code, size_t count) {
    enum { VERSION = 1, BOUND = 3, HEADER = 5, ENTRY_POINT = 15, EXECUTION_MODE = 16, TYPE_FLOAT = 22, CONSTANT = 43,
           LOCAL_SIZE = 17 };
    uint32_t f64 = 0;
    m->hash = mix(mix(14695981039346656037u, code[VERSION]), code[BOUND]);
    for (size_t i = HEADER, next; i < count; i = next) {
        uint32_t op = code[i] & 0xffff, length = code[i] >> 16, first = 0, last;
        next = i + length;
        last = length;
        if (!length || next > count) exit(2);
        if (op == TYPE_FLOAT && code[i + 2] == 64) f64 = code[i + 1];
        if (op == EXECUTION_MODE && code[i + 2] == LOCAL_SIZE) memcpy(m->local, code + i + 3, sizeof m->local);
        if (is_name(op)) continue;
        if (op == ENTRY_POINT) {
            for (first = 3; !(code[i + first] >> 24) && first + 1 < length; first++) { }
            first++;
        }
        for (uint32_t j = first; j < last; j++)
            if (!(op == CONSTANT && f64 && code[i + 1] == f64 && j == 3)) m->hash = mix(m->hash, code[i + j]);
    }
}

static vd_result note_kernel(vd__device *dev, const vd_kernel_desc *desc, vd__kernel_code *code) {
    module *m = &modules[module_count];
    (void)dev;
    if (module_count == sizeof modules / sizeof *modules) exit(2);
    code->native[0] = module_count++;
    snprintf(m->name, sizeof m->name, "%s", desc->name);
    read_module(m, (const uint32_t *)desc->code, desc->code_size / 4);
    return VD_OK;
}

/* "12" or "12x1x3". */
static void append_size(const uint32_t size[3]) {
    int axes = size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;
    for (int i = 0; i < axes; i++) append(&kernels, i ? "x%u" : " %u", size[i]);
}

static vd_result note_launch(vd__device *dev, vd__commands *c, const vd__launch *launch) {
    const module *m = &modules[launch->code->native[0]];
    (void)dev, (void)c;
    append(&kernels, "  %s", run_name);
    append_size(launch->groups);
    append(&kernels, " of");
    append_size(m->local);
    append(&kernels, " %016llx\n", (unsigned long long)m->hash);
    append(&words, "  %s '%s'\n", run_name, m->name);
    return VD_OK;
}

/* ---- devices ---- */

static void data_centre(vd_device_info *d) {
    d->type = VD_DEVICE_DISCRETE;
    d->facts.forward_progress = true;
    d->features = ((uint64_t)1 << 17) - 1;
    d->limits.max_shared_bytes = 48 << 10;
}

/* Buffers as bindings, few threads, several subgroup sizes; no f16, f64 or 64-bit integers. */
static void small(vd_device_info *d) {
    d->type = VD_DEVICE_INTEGRATED;
    d->facts.forward_progress = true;
    d->features = VD_FEATURE_SUBGROUP | VD_FEATURE_FMA | VD_FEATURE_TIMESTAMP;
    d->limits.max_local_invocations = d->limits.max_local_size[0] = d->limits.max_local_size[1] = 256;
    d->limits.max_shared_bytes = 32 << 10;
    d->limits.subgroup_size = 16;
    d->limits.min_subgroup_size = 8;
    d->limits.max_subgroup_size = 32;
}

static void processor(vd_device_info *d) {
    d->type = VD_DEVICE_CPU;
    d->facts.ordered_stores = d->facts.groups_as_loops = true;
    d->facts.concurrent_groups = 8;
    d->facts.max_loop_iterations = 65535;
    d->features = ((uint64_t)1 << 16) - 1;
    d->limits.max_shared_bytes = 32 << 10;
    d->limits.subgroup_size = d->limits.min_subgroup_size = d->limits.max_subgroup_size = 8;
}

/* The processor on Vulkan: plans access a complex f32 as one word. */
static void vulkan_processor(vd_device_info *d) {
    processor(d);
    d->facts.lane_access = true;
}

/* shapes: VKDISPATCH_FFT_SHAPES; with "" (none), these transforms have shapes for few elements on GPUs. convolutions,
   others: also these plans. Convolutions do not depend on `shapes`, others also not on lane_access. */
static const struct {
    const char *name;
    void (*describe)(vd_device_info *d);
    const char *shapes;
    bool convolutions, others;
} devices[] = {
    { "data-centre", data_centre, "gpu-batch", true, true }, { "small", small, "gpu-batch", true, true },
    { "processor", processor, "", true, true }, { "vulkan-processor", vulkan_processor, "", true, false },
    { "data-centre-few", data_centre, "", false, false }
};

static vd_context *open_device(vd_device_info *info, const vd__backend *spy) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.dummy = info;
    if (vd_context_create(&desc, &ctx)) {
        printf("# %s\n", vd_error_text());
        exit(2);
    }
    ctx->driver.backend = spy;
    return ctx;
}

/* ---- plans ---- */

typedef struct bench { vd_context *ctx; vd_list *list; vd_buffer in, in_b, out, out_b; } bench;

static vd_buffer bytes_of(vd_context *ctx, uint64_t bytes) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.type = VD_BYTES;
    desc.shape[0] = bytes;
    return vd_buffer_create(ctx, &desc);
}

static void scale_hook(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k, (void)at, (void)user;
    v->re = vc_mul(v->re, vc_f32(0.75f));
    v->im = vc_mul(v->im, vc_f32(0.75f));
}

static void square_map(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_mul(io->in[0], io->in[0]);
}

static void positive(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_lt(vc_imm(vc_typeof(io->in[0]), 0), io->in[0]);
}

static vd_result run_fft(bench *b, const char *spec) {
    static const char *const kinds[] = { "", "complex", "real", "dct1", "dct2", "dct3", "dct4", "dst1", "dst2", "dst3",
                                         "dst4" };
    vd_fft_desc desc;
    vd_fft_io io;
    vd_result result = VD_OK;
    memset(&desc, 0, sizeof desc);
    memset(&io, 0, sizeof io);
    for (int i = 1; i <= VD_FFT_DST4; i++) if (is_kind(spec, kinds[i])) desc.kind = (vd_fft_kind)i;
    shape_of(spec, desc.shape);
    desc.axes = (uint32_t)number(spec, "axes=", 0);
    numbers(spec, "in_stride=", desc.in_stride);
    numbers(spec, "out_stride=", desc.out_stride);
    numbers(spec, "in_count=", desc.in_count);
    numbers(spec, "out_count=", desc.out_count);
    desc.type = type_of(spec, "");
    desc.in_type = type_of(spec, "in=");
    desc.out_type = type_of(spec, "out=");
    desc.norm = has(spec, "ortho") ? VD_FFT_NORM_ORTHO : has(spec, "none") ? VD_FFT_NORM_NONE : VD_FFT_NORM_DEFAULT;
    desc.padded = has(spec, "padded");
    desc.pack_rows = has(spec, "pack_rows");
    if (has(spec, "hooks")) desc.load = desc.store = scale_hook;
    run_name = "make";
    vd_fft *plan = vd_fft_create(b->ctx, &desc);
    if (!plan) return vd_error_result();
    append(&words, "%s", vd_fft_explain(plan));
    io.in = b->in;
    if (!has(spec, "in_place")) io.out = b->out;
    for (int i = 0; i < 2 && !result; i++) {
        run_name = i ? "inverse" : "forward";
        io.direction = (vd_fft_direction)i;
        result = vd_fft_run(plan, b->list, &io);
    }
    vd_fft_destroy(plan);
    return result;
}

static vd_result run_convolution(bench *b, const char *spec) {
    static const char *const modes[] = { "", "mode=circular", "mode=centred", "mode=full", "mode=same", "mode=valid" };
    vd_convolve_desc desc;
    vd_result result;
    uint64_t sizes[4] = { 0, 0, 0, 0 };
    memset(&desc, 0, sizeof desc);
    shape_of(spec, sizes);
    memcpy(desc.shape, sizes, sizeof desc.shape);
    memset(sizes, 0, sizeof sizes);
    numbers(spec, " filter=", sizes);
    memcpy(desc.filter_shape, sizes, sizeof desc.filter_shape);
    for (int i = 1; i <= VD_CONVOLVE_VALID; i++) if (has(spec, modes[i])) desc.mode = (vd_convolve_mode)i;
    desc.kind = has(spec, "correlation") ? VD_CONVOLVE_CORRELATION : VD_CONVOLVE_CONVOLUTION;
    desc.batch = (uint32_t)number(spec, "batch=", 1);
    desc.channels = (uint32_t)number(spec, "channels=", 1);
    desc.filters = (uint32_t)number(spec, "filters=", 1);
    desc.type = type_of(spec, "");
    desc.real = has(spec, "real");
    desc.pack_rows = has(spec, "pack_rows");
    if (has(spec, "spectrum_hook")) desc.spectrum_hook = scale_hook;
    run_name = "make";
    vd_convolve *plan = vd_convolve_create(b->ctx, &desc);
    if (!plan) return vd_error_result();
    append(&words, "%s", vd_convolve_explain(plan));
    run_name = "set";
    result = vd_convolve_set_filter(plan, b->list, b->in_b);
    run_name = "run";
    if (!result) result = vd_convolve_run(plan, b->list, b->in, b->out);
    vd_convolve_destroy(plan);
    return result;
}

/* Returns the operation of a reduction; 0: another kind of plan. */
static vd_reduce_op op_of(const char *spec) {
    static const char *const ops[] = { "", "sum", "product", "min", "max", "and", "or", "xor", "any", "all", "argmin",
                                       "argmax", "dot", "norm", "mean", "variance" };
    for (int i = 1; i <= VD_REDUCE_VARIANCE; i++) if (is_kind(spec, ops[i])) return (vd_reduce_op)i;
    return VD_REDUCE_DEFAULT;
}

static vd_result run_reduction(bench *b, const char *spec) {
    vd_reduce_desc desc;
    vd_reduce_io io;
    vd_buffer none;
    memset(&desc, 0, sizeof desc);
    memset(&io, 0, sizeof io);
    memset(&none, 0, sizeof none);
    desc.op = op_of(spec);
    desc.type = type_of(spec, "");
    shape_of(spec, desc.shape);
    desc.axes = (uint32_t)number(spec, "axes=", 0);
    desc.extra_out = has(spec, "extra");
    desc.segments = number(spec, "segments=", 0);
    desc.index_type = type_of(spec, "index=");
    if (has(spec, "map")) desc.map.build = square_map;
    vd_reduce *plan = vd_reduce_create(b->ctx, &desc);
    if (!plan) return vd_error_result();
    io.in = b->in;
    io.in_b = desc.op == VD_REDUCE_DOT ? b->in_b : none;
    io.out = b->out;
    io.offsets = desc.segments ? b->in_b : none;
    io.extra_out = desc.extra_out ? b->out_b : none;
    vd_result result = vd_reduce_run_io(plan, b->list, &io);
    vd_reduce_destroy(plan);
    return result;
}

static vd_scan_method method_of(const char *spec) {
    return has(spec, "one_pass") ? VD_SCAN_ONE_PASS : has(spec, "three_kernels") ? VD_SCAN_THREE_KERNELS
        : VD_SCAN_DEFAULT;
}

static vd_result run_scan(bench *b, const char *spec) {
    vd_scan_desc scan;
    vd_compact_desc compact;
    vd_scan_io io;
    bool compacts = is_kind(spec, "compact");
    memset(&scan, 0, sizeof scan);
    memset(&compact, 0, sizeof compact);
    memset(&io, 0, sizeof io);
    scan.type = compact.type = type_of(spec, "");
    shape_of(spec, scan.shape);
    compact.count = scan.shape[0];
    uint32_t axis = (uint32_t)number(spec, "axis=", 0);
    scan.axes = axis ? 1u << (axis - 1) : 0;
    scan.exclusive = has(spec, "exclusive");
    scan.segmented = has(spec, "segmented");
    scan.method = compact.method = method_of(spec);
    if (has(spec, "map")) scan.map.build = square_map;
    compact.keep.build = positive;
    vd_scan *plan = compacts ? vd_compact_create(b->ctx, &compact) : vd_scan_create(b->ctx, &scan);
    if (!plan) return vd_error_result();
    io.in = b->in;
    io.out = b->out;
    if (scan.segmented) io.segment_heads = b->in_b;
    if (compacts) io.count = b->out_b;
    vd_result result = vd_scan_run(plan, b->list, &io);
    vd_scan_destroy(plan);
    return result;
}

static vd_result run_sort(bench *b, const char *spec) {
    vd_sort_desc desc;
    vd_sort_io io;
    uint64_t shape[4];
    memset(&desc, 0, sizeof desc);
    memset(&io, 0, sizeof io);
    shape_of(spec, shape);
    desc.type = type_of(spec, "");
    desc.count = shape[0];
    desc.descending = has(spec, "descending");
    desc.method = method_of(spec);
    if (has(spec, "values")) desc.values = VD_U32;
    vd_sort *plan = vd_sort_create(b->ctx, &desc);
    if (!plan) return vd_error_result();
    io.keys = b->in;
    if (desc.values) io.values = b->in_b;
    vd_result result = vd_sort_run(plan, b->list, &io);
    vd_sort_destroy(plan);
    return result;
}

static vd_result run_histogram(bench *b, const char *spec) {
    vd_histogram_desc desc;
    uint64_t shape[4];
    memset(&desc, 0, sizeof desc);
    shape_of(spec, shape);
    desc.type = type_of(spec, "");
    desc.count = shape[0];
    desc.bins = (uint32_t)number(spec, "bins=", 0);
    if (has(spec, "map")) desc.bin.build = square_map;
    vd_histogram *plan = vd_histogram_create(b->ctx, &desc);
    if (!plan) return vd_error_result();
    vd_result result = vd_histogram_run(plan, b->list, b->in, b->out);
    vd_histogram_destroy(plan);
    return result;
}

static vd_result run_top_k(bench *b, const char *spec) {
    vd_top_k_desc desc;
    vd_top_k_io io;
    memset(&desc, 0, sizeof desc);
    desc.type = type_of(spec, "");
    shape_of(spec, desc.shape);
    desc.k = (uint32_t)number(spec, "k=", 0);
    desc.smallest = has(spec, "smallest");
    desc.index_type = type_of(spec, "index=");
    vd_top_k *plan = vd_top_k_create(b->ctx, &desc);
    if (!plan) return vd_error_result();
    io.in = b->in;
    io.values = b->out;
    io.indices = b->out_b;
    vd_result result = vd_top_k_run(plan, b->list, &io);
    vd_top_k_destroy(plan);
    return result;
}

/* Of f32. vd_fft_shift has no desc: it takes the shape from the buffer. */
static vd_result run_shift(bench *b, const char *spec) {
    vd_buffer_desc desc;
    vd_buffer io[2];
    memset(&desc, 0, sizeof desc);
    shape_of(spec, desc.shape);
    desc.type = VD_F32;
    for (int i = 0; i < 2; i++) io[i] = vd_buffer_create(b->ctx, &desc);
    vd_result result = vd_fft_shift(b->ctx, io[0], io[1], (uint32_t)number(spec, "axes=", 0),
                                    has(spec, "inverse") ? VD_FFT_INVERSE : VD_FFT_FORWARD);
    if (!result) result = vd_wait_idle(b->ctx);
    if (!result) result = vd_plan_cache_clear(b->ctx);
    for (int i = 0; i < 2; i++) vd_buffer_destroy(b->ctx, io[i]);
    return result;
}

static vd_result run_other(bench *b, const char *spec) {
    if (is_kind(spec, "shift")) return run_shift(b, spec);
    if (is_kind(spec, "complex")) return run_fft(b, spec);
    if (op_of(spec)) return run_reduction(b, spec);
    if (is_kind(spec, "scan") || is_kind(spec, "compact")) return run_scan(b, spec);
    if (is_kind(spec, "sort")) return run_sort(b, spec);
    return is_kind(spec, "histogram") ? run_histogram(b, spec) : run_top_k(b, spec);
}

/* Runs each plan in its own list, which is submitted before the plan is destroyed. */
static void run_all(vd_context *ctx, const char *device, const char *const *texts, size_t count, uint64_t bytes,
                    vd_result (*run)(bench *b, const char *spec)) {
    bench b;
    b.ctx = ctx;
    b.in = bytes_of(ctx, bytes);
    b.in_b = bytes_of(ctx, bytes);
    b.out = bytes_of(ctx, bytes);
    b.out_b = bytes_of(ctx, bytes / 4);
    for (size_t i = 0; i < count; i++) {
        vd_list_desc desc;
        memset(&desc, 0, sizeof desc);
        module_count = 0;
        append(&kernels, "%s: %s\n", device, texts[i]);
        append(&words, "%s: %s\n", device, texts[i]);
        run_name = "run";
        b.list = vd_list_begin(ctx, &desc);
        vd_result result = run(&b, texts[i]);
        if (result) append(&kernels, "  refused: %d\n", (int)result);
        if (result) append(&words, "  refused: %s\n", vd_error_text());
        vd_list_discard(b.list);
    }
    vd_buffer_destroy(ctx, b.in);
    vd_buffer_destroy(ctx, b.in_b);
    vd_buffer_destroy(ctx, b.out);
    vd_buffer_destroy(ctx, b.out_b);
}

#define RUN_ALL(ctx, device, texts, run) run_all(ctx, device, texts, sizeof(texts) / sizeof *(texts), 1 << 25, run)

int main(int argc, char **argv) {
    static const char *const settings[] = { "VKDISPATCH_FFT", "VKDISPATCH_FFT_SHAPES", "VKDISPATCH_FFT_FACTORS",
                                            "VKDISPATCH_BUFFERS", "VKDISPATCH_DISABLE" };
    bool update = (argc > 1 && strcmp(argv[1], "--update") == 0) || getenv("GOLDEN_UPDATE");
    vd__backend spy = vd__backend_dummy, unbacked = no_memory_backend();
    spy.kernel_create = unbacked.kernel_create = note_kernel;
    spy.record_launch = unbacked.record_launch = note_launch;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) unsetenv(settings[i]);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        vd_device_info info;
        memset(&info, 0, sizeof info);
        devices[i].describe(&info);
        setenv("VKDISPATCH_FFT_SHAPES", devices[i].shapes, 1);
        vd_context *ctx = open_device(&info, &spy);
        RUN_ALL(ctx, devices[i].name, transforms, run_fft);
        if (devices[i].convolutions) RUN_ALL(ctx, devices[i].name, convolutions, run_convolution);
        if (devices[i].others) RUN_ALL(ctx, devices[i].name, others, run_other);
        vd_context_destroy(ctx);
        if (!devices[i].others) continue;
        info.device_memory = info.limits.max_buffer_bytes = info.limits.max_binding_bytes = (uint64_t)1 << 40;
        info.limits.max_groups[0] = INT32_MAX; /* no dispatch is split */
        ctx = open_device(&info, &unbacked);
        run_all(ctx, devices[i].name, large, sizeof large / sizeof *large, (uint64_t)1 << 36, run_other);
        vd_context_destroy(ctx);
    }
    printf("1..2\n");
    compare(FOLDER "plans.kernels", kernels.at, kernels.length, update);
    compare(FOLDER "plans.words", words.at, words.length, update);
    free(kernels.at);
    free(words.at);
    return failures != 0;
}

/* The part of tools/vcc that is compiled together with a file of kernels: builds the kernels and writes the outputs.
   The script defines VCC_FILE, the file, and VCC_LIST, a file with a line VCC_KERNEL(name) for each kernel. The
   arguments are the name of the file for messages, then --header, --blob, --target, -o and --form as documented in
   the script. C99 and C++11. */
#include VCC_FILE
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch_codegen.h"

#include <ctype.h>
#include <errno.h>

typedef struct bytes { char *at; size_t size, capacity; } bytes;
typedef struct output { char *path, *draft; bytes content; } output;

typedef struct entry {
    const char *name;
    vc_kernel *(*make)(const vc_kernel_desc *);
    vc_kernel *form[4]; /* in the order of the table forms; NULL: not requested */
} entry;

#define VCC_KERNEL(name) { #name, name, { NULL, NULL, NULL, NULL } },
static entry kernels[] = {
#include VCC_LIST
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

/* The forms of a kernel, best first: programs use the first one that the device supports. */
enum { ADDRESS, BINDING, CUDA, OPENCL, FORMS };
/* number: value of vd_code */
static const struct { const char *name; vc_buffers buffers; vc_target target; const char *code; uint32_t number;
                      } forms[FORMS] = {
    { "address", VC_BUFFERS_ADDRESS, VC_TARGET_SPIRV, "VD_CODE_SPIRV", 1 },
    { "binding", VC_BUFFERS_BINDING, VC_TARGET_SPIRV, "VD_CODE_SPIRV", 1 },
    { "cuda", VC_BUFFERS_DEFAULT, VC_TARGET_CUDA, "VD_CODE_CUDA", 2 },
    { "opencl", VC_BUFFERS_DEFAULT, VC_TARGET_OPENCL, "VD_CODE_OPENCL", 5 }
};

/* Kinds of output files. */
enum { SPIRV_FILE, GLSL_FILE, CUDA_FILE, OPENCL_FILE, TARGETS };
static const struct { const char *name, *suffix; vc_target target; } targets[TARGETS] = {
    { "spirv", "spv", VC_TARGET_SPIRV },
    { "glsl", "glsl", VC_TARGET_GLSL },
    { "cuda", "cu", VC_TARGET_CUDA },
    { "opencl", "cl", VC_TARGET_OPENCL }
};

typedef struct options {
    const char *source, *header, *blob, *folder; /* folder: NULL: no separate files */
    bool target[TARGETS], form[FORMS];           /* form: which forms are built */
    bool in_program[FORMS];                      /* forms for header and blob */
} options;

static output *outputs;
static size_t output_count;

#if defined(__GNUC__)
#define FORMAT(text, first) __attribute__((format(printf, text, first)))
#else
#define FORMAT(text, first)
#endif

/* Frees everything. */
FORMAT(1, 2) static void fail(const char *format, ...) {
    va_list list;
    size_t i;
    va_start(list, format);
    fprintf(stderr, "vcc: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    for (i = 0; i < output_count; i++) if (outputs[i].draft) remove(outputs[i].draft);
    exit(1);
}

static void *grow(void *at, size_t size) {
    void *more = realloc(at, size);
    if (!more) fail("out of host memory");
    return more;
}

/* ---- bytes ---- */

static void put(bytes *b, const void *from, size_t size) {
    if (b->size + size > b->capacity) {
        b->capacity = (b->size + size) * 2 + 1024;
        b->at = (char *)grow(b->at, b->capacity);
    }
    if (size) memcpy(b->at + b->size, from, size);
    b->size += size;
}

static void put_string(bytes *b, const char *text) { put(b, text, strlen(text)); }

FORMAT(2, 3) static void say(bytes *b, const char *format, ...) {
    char line[512];
    va_list list;
    int length;
    va_start(list, format);
    length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= sizeof line) fail("a line of the output is too long");
    put(b, line, (size_t)length);
}

/* Writes little-endian integers on every host. */
static void put_u32(bytes *b, uint32_t x) {
    unsigned char byte[4];
    int i;
    for (i = 0; i < 4; i++) byte[i] = (unsigned char)(x >> (8 * i));
    put(b, byte, 4);
}
static void put_u64(bytes *b, uint64_t x) { put_u32(b, (uint32_t)x); put_u32(b, (uint32_t)(x >> 32)); }

static void put_padding(bytes *b) { while (b->size % 4) put(b, "", 1); }

/* Writes length, bytes, a zero byte and padding. */
static void put_text(bytes *b, const char *text) {
    size_t length = text ? strlen(text) : 0;
    put_u32(b, (uint32_t)length);
    put(b, text, length);
    put(b, "", 1);
    put_padding(b);
}

static void put_words(bytes *b, const uint32_t *words, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) put_u32(b, words[i]);
}

/* ---- outputs ---- */

static char *joined(const char *a, const char *b, const char *c, const char *d, const char *e) {
    size_t size = strlen(a) + strlen(b) + strlen(c) + strlen(d) + strlen(e) + 1;
    char *text = (char *)grow(NULL, size);
    snprintf(text, size, "%s%s%s%s%s", a, b, c, d, e);
    return text;
}

static bytes *open_output(char *path) {
    outputs = (output *)grow(outputs, (output_count + 1) * sizeof *outputs);
    memset(&outputs[output_count], 0, sizeof *outputs);
    outputs[output_count].path = path;
    return &outputs[output_count++].content;
}

/* Writes all files or none, as far as the file system allows: temporary files first, then renames. */
static void write_outputs(void) {
    size_t i;
    for (i = 0; i < output_count; i++) {
        output *o = &outputs[i];
        FILE *f;
        bool good;
        o->draft = joined(o->path, ".draft", "", "", "");
        f = fopen(o->draft, "wb");
        if (!f) {
            int why = errno;
            free(o->draft);
            o->draft = NULL;
            fail("cannot write '%s': %s", o->path, strerror(why));
        }
        good = fwrite(o->content.at, 1, o->content.size, f) == o->content.size;
        if (fclose(f) || !good) fail("cannot write '%s': %s", o->path, strerror(errno));
    }
    for (i = 0; i < output_count; i++) {
        if (rename(outputs[i].draft, outputs[i].path)) fail("cannot write '%s': %s", outputs[i].path, strerror(errno));
        free(outputs[i].draft);
        outputs[i].draft = NULL;
    }
}

/* ---- kernels ---- */

/* Writes the code of a form. Returns false after an error. */
static bool code_of(vc_kernel *k, int form, const void **code, size_t *size) {
    size_t words = 0;
    if (forms[form].target == VC_TARGET_SPIRV) *code = vc_spirv(k, &words);
    else *code = vc_source(k, forms[form].target);
    if (*code) *size = forms[form].target == VC_TARGET_SPIRV ? words * 4 : strlen((const char *)*code);
    return *code != NULL;
}

static const vc_info *info_of(vc_kernel *k, int form) { return vc_reflect_for(k, forms[form].target); }

static void build(const options *o) {
    vc_kernel_desc desc;
    const char *error;
    const void *code;
    size_t size;
    int i, f;
    for (i = 0; i < KERNELS; i++)
        for (f = 0; f < FORMS; f++) {
            if (!o->form[f]) continue;
            memset(&desc, 0, sizeof desc);
            desc.buffers = forms[f].buffers;
            kernels[i].form[f] = kernels[i].make(&desc);
            if (!code_of(kernels[i].form[f], f, &code, &size) || !info_of(kernels[i].form[f], f)) {
                error = vc_error(kernels[i].form[f]);
                fail("%s", error ? error : "out of host memory");
            }
        }
}

static void release(void) {
    size_t i;
    int f;
    for (i = 0; i < KERNELS; i++) for (f = 0; f < FORMS; f++) vc_free(kernels[i].form[f]);
    for (i = 0; i < output_count; i++) {
        free(outputs[i].path);
        free(outputs[i].content.at);
    }
    free(outputs);
}

/* Writes one file of one kernel. */
static void write_file(const options *o, const entry *e, int form, int target) {
    bool both = o->form[ADDRESS] && o->form[BINDING] && form <= BINDING;
    char *name = joined(e->name, both ? "." : "", both ? forms[form].name : "", ".", targets[target].suffix);
    bytes *b = open_output(joined(o->folder, "/", name, "", ""));
    const char *text, *error;
    size_t count = 0;
    free(name);
    if (target == SPIRV_FILE) {
        const uint32_t *words = vc_spirv(e->form[form], &count);
        put_words(b, words, count);
        return;
    }
    text = vc_source(e->form[form], targets[target].target);
    error = vc_error(e->form[form]);
    if (!text) fail("%s", error ? error : "out of host memory");
    put_string(b, text);
}

static void write_files(const options *o) {
    int i, t, f;
    for (i = 0; i < KERNELS; i++)
        for (t = 0; t < TARGETS; t++) {
            if (!o->target[t]) continue;
            if (t == CUDA_FILE || t == OPENCL_FILE) write_file(o, &kernels[i], t == CUDA_FILE ? CUDA : OPENCL, t);
            else for (f = ADDRESS; f <= BINDING; f++) if (o->form[f]) write_file(o, &kernels[i], f, t);
        }
}

/* ---- the header ---- */

/* Writes the requirements of a form on the device. Address arguments stay addresses even if nothing reads them. */
static uint64_t needs_of(const vc_info *info) {
    uint64_t needs = info->features;
    int i;
    for (i = 0; i < info->arg_count; i++) if (info->args[i].kind == VC_ARG_ADDRESS) needs |= VC_FEATURE_ADDRESS;
    return needs;
}

/* Writes a string literal that is valid in C and C++: special characters become octal escapes. */
static void say_literal(bytes *b, const char *text) {
    put_string(b, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 32 || c > 126 || c == '"' || c == '\\' || c == '?') say(b, "\\%03o", (unsigned)c);
        else put(b, text, 1);
    }
    put_string(b, "\"");
}

static const char *arg_kind(vc_arg_kind kind) {
    static const char *const names[] = { "VD_ARG_NONE", "VD_ARG_BINDING", "VD_ARG_ADDRESS", "VD_ARG_VALUE",
                                         "VD_ARG_IMAGE" };
    return names[kind];
}

static const char *hidden_kind(vc_implicit kind) {
    switch (kind) {
    case VC_IMPLICIT_THREADS: return "VD_IMPLICIT_THREADS";
    case VC_IMPLICIT_GROUPS: return "VD_IMPLICIT_GROUPS";
    case VC_IMPLICIT_GROUP_BASE: return "VD_IMPLICIT_GROUP_BASE";
    case VC_IMPLICIT_LENGTH: return "VD_IMPLICIT_LENGTH";
    case VC_IMPLICIT_SHAPE: return "VD_IMPLICIT_SHAPE";
    case VC_IMPLICIT_OUTPUT: return "VD_IMPLICIT_OUTPUT";
    default: fail("an implicit argument of kind %d", (int)kind); return "";
    }
}

/* Writes SPIR-V as words and texts as bytes, because C99 limits string literals to 4095 characters. */
static void say_code(bytes *b, const char *name, int form, const void *code, size_t size) {
    const uint32_t *words = (const uint32_t *)code;
    const unsigned char *text = (const unsigned char *)code;
    size_t i, count = forms[form].target == VC_TARGET_SPIRV ? size / 4 : size + 1;
    bool is_words = forms[form].target == VC_TARGET_SPIRV;
    say(b, "\nstatic const %s %s_%s_code[%lu] = {", is_words ? "uint32_t" : "unsigned char", name, forms[form].name,
        (unsigned long)count);
    for (i = 0; i < count; i++) {
        if (is_words) say(b, "%s0x%08lx", i % 8 ? " " : "\n    ", (unsigned long)words[i]);
        else say(b, "%s%u", i % 24 ? " " : "\n    ", (unsigned)text[i]);
        put_string(b, i + 1 < count ? "," : "\n");
    }
    say(b, "};\n");
}

static void say_arrays(bytes *b, const char *name, const char *form, const vc_info *info) {
    int i;
    if (info->arg_count)
        say(b, "static const vd_arg_info %s_%s_args[%d] = { /* name, kind, type, access, location, size, align, "
               "may_alias, sampled, dim, format, separate, uniform, count */\n", name, form, info->arg_count);
    for (i = 0; i < info->arg_count; i++) {
        const vc_arg_info *a = &info->args[i];
        put_string(b, "    { ");
        if (a->name) say_literal(b, a->name); else put_string(b, "NULL");
        say(b, ", %s, %lu /* %s */, %lu, %lu, %lu, %lu, %s", arg_kind(a->kind), (unsigned long)a->type,
            vc_type_name(a->type), (unsigned long)a->access, (unsigned long)a->location, (unsigned long)a->size,
            (unsigned long)a->align, a->may_alias ? "true" : "false");
        say(b, ", %s, (vd_dim)%d, (vd_format)%d, false, false, %lu }%s\n", a->sampled ? "true" : "false",
            (int)a->dim, (int)a->format, (unsigned long)a->count, i + 1 < info->arg_count ? "," : "");
    }
    if (info->arg_count) say(b, "};\n");
    if (info->implicit_count)
        say(b, "static const vd_implicit_info %s_%s_implicit[%d] = { /* kind, argument, axis, offset */\n", name, form,
            info->implicit_count);
    for (i = 0; i < info->implicit_count; i++) {
        const vc_implicit_info *h = &info->implicit[i];
        say(b, "    { %s, %lu, %lu, %lu }%s\n", hidden_kind(h->kind), (unsigned long)h->arg, (unsigned long)h->axis,
            (unsigned long)h->offset, i + 1 < info->implicit_count ? "," : "");
    }
    if (info->implicit_count) say(b, "};\n");
    if (info->format_count) say(b, "static const char *const %s_%s_formats[%d] = {\n", name, form, info->format_count);
    for (i = 0; i < info->format_count; i++) {
        put_string(b, "    ");
        say_literal(b, info->formats[i]);
        put_string(b, i + 1 < info->format_count ? ",\n" : "\n};\n");
    }
}

/* Writes one row of the table of descs. */
static void say_desc(bytes *b, const char *name, int f, const vc_info *info) {
    const char *form = forms[f].name;
    say(b, "    { \"%s\", %s, %s_%s_code, sizeof %s_%s_code, \"%s\", ", name, forms[f].code, name, form, name, form,
        info->entry);
    if (info->arg_count) say(b, "%s_%s_args, %d, ", name, form, info->arg_count); else say(b, "NULL, 0, ");
    if (info->implicit_count) say(b, "%s_%s_implicit, %d, ", name, form, info->implicit_count); else say(b, "NULL, 0, ");
    say(b, "%lu, { %lu, %lu, %lu }, %lu, 0x%llx, ", (unsigned long)info->argument_bytes,
        (unsigned long)info->local_size[0], (unsigned long)info->local_size[1], (unsigned long)info->local_size[2],
        (unsigned long)info->shared_bytes, (unsigned long long)needs_of(info));
    if (info->format_count) say(b, "%s_%s_formats, %d, ", name, form, info->format_count);
    else put_string(b, "NULL, 0, ");
    say(b, "%lu, { 0, 0, 0 }, 0, NULL, 0, NULL, 0, NULL, NULL, 0, 0, false }", (unsigned long)info->axes);
}

/* Selects the first form that the device supports; if there is none, a form with a supported language, so that the
   error names the missing feature. */
static void say_choice(bytes *b, const char *name, int count) {
    say(b, "/* The desc of %s in the best form that the context's device supports. */\n", name);
    say(b, "static inline vd_kernel_desc %s_desc(const vd_context *ctx) {\n", name);
    say(b, "    const vd_device_info *device = ctx ? vd_device(ctx, 0) : NULL;\n");
    say(b, "    const vd_code code = device && device->backend == VD_BACKEND_CUDA ? VD_CODE_CUDA : device && "
           "device->backend == VD_BACKEND_OPENCL ? " "VD_CODE_OPENCL\n                         : VD_CODE_SPIRV;\n");
    say(b, "    int i, best = %d;\n", count - 1);
    say(b, "    for (i = %d; i >= 0 && device; i--)\n", count - 1);
    say(b, "        if (%s_forms[i].code_kind == code && (%s_forms[best].code_kind != code ||\n", name, name);
    say(b, "            !(%s_forms[i].features & ~device->features))) best = i;\n", name);
    say(b, "    return %s_forms[best];\n}\n", name);
}

static void say_kernel(bytes *b, const options *o, const entry *e) {
    const void *code = NULL;
    size_t size = 0;
    int f, count = 0;
    say(b, "\n/* ---- %s ---- */\n", e->name);
    for (f = 0; f < FORMS; f++) {
        if (!o->in_program[f] || !code_of(e->form[f], f, &code, &size)) continue;
        say_code(b, e->name, f, code, size);
        say_arrays(b, e->name, forms[f].name, info_of(e->form[f], f));
        count++;
    }
    say(b, "static const vd_kernel_desc %s_forms[%d] = {\n", e->name, count);
    for (f = 0; f < FORMS; f++) {
        if (!o->in_program[f]) continue;
        say_desc(b, e->name, f, info_of(e->form[f], f));
        put_string(b, --count ? ",\n" : "\n");
    }
    for (f = 0; f < FORMS; f++) count += o->in_program[f];
    say(b, "};\n\n");
    say_choice(b, e->name, count);
    say(b, "\nstatic inline vd_kernel %s_create(vd_context *ctx) {\n    const vd_kernel_desc desc = %s_desc(ctx);\n",
        e->name, e->name);
    say(b, "    return vd_kernel_create(ctx, &desc);\n}\n");
}

static void write_header(const options *o) {
    bytes *b = open_output(joined(o->header, "", "", "", ""));
    const char *slash = strrchr(o->header, '/'), *file = slash ? slash + 1 : o->header, *c;
    bytes guard = { NULL, 0, 0 };
    int i;
    for (c = file; *c; c++) {
        char letter = isalnum((unsigned char)*c) && (unsigned char)*c < 128 ? (char)toupper((unsigned char)*c) : '_';
        put(&guard, &letter, 1);
    }
    put(&guard, "", 1);
    say(b, "/* Generated by tools/vcc from ");
    for (c = o->source; *c; c++) if (!(c[0] == '*' && c[1] == '/')) put(b, c, 1);
    say(b, ". For each kernel NAME: NAME_desc(ctx) returns its desc, and NAME_create(ctx) passes "
           "it to vd_kernel_create.\n" "   Include after vkdispatch.h or instead of it; C99 and C++11. */\n");
    say(b, "#ifndef VCC_%s\n#define VCC_%s\n\n#include \"vkdispatch.h\"\n", guard.at, guard.at);
    for (i = 0; i < KERNELS; i++) say_kernel(b, o, &kernels[i]);
    say(b, "\n#endif\n");
    free(guard.at);
}

/* ---- the blob: the room of vd_kernel_load in vkdispatch.h documents the format ---- */

static void blob_form(bytes *b, vc_kernel *k, int form) {
    const vc_info *info = info_of(k, form);
    const void *code = NULL;
    size_t size = 0;
    int i;
    code_of(k, form, &code, &size);
    put_u32(b, forms[form].number);
    put_u64(b, needs_of(info));
    for (i = 0; i < 3; i++) put_u32(b, info->local_size[i]);
    put_u32(b, info->shared_bytes);
    put_u32(b, info->argument_bytes);
    put_text(b, info->entry);
    put_u32(b, (uint32_t)info->arg_count);
    for (i = 0; i < info->arg_count; i++) {
        const vc_arg_info *a = &info->args[i];
        put_text(b, a->name);
        put_u32(b, (uint32_t)a->kind);
        put_u32(b, a->type);
        put_u32(b, a->access);
        put_u32(b, a->location);
        put_u32(b, a->size);
        put_u32(b, a->align);
        put_u32(b, a->may_alias ? 1 : 0);
        if (a->kind != VC_ARG_IMAGE) continue;
        put_u32(b, 2 * a->count + (a->sampled ? 1 : 0));
        put_u32(b, (uint32_t)a->dim);
        put_u32(b, (uint32_t)a->format);
    }
    put_u32(b, (uint32_t)info->implicit_count);
    for (i = 0; i < info->implicit_count; i++) {
        put_u32(b, (uint32_t)info->implicit[i].kind);
        put_u32(b, info->implicit[i].arg);
        put_u32(b, info->implicit[i].axis);
        put_u32(b, info->implicit[i].offset);
    }
    for (i = 0; i < info->implicit_count; i++) if (info->implicit[i].kind == VC_IMPLICIT_OUTPUT) break;
    if (i < info->implicit_count) {
        put_u32(b, (uint32_t)info->format_count);
        for (i = 0; i < info->format_count; i++) put_text(b, info->formats[i]);
    }
    put_u32(b, (uint32_t)size);
    if (forms[form].target == VC_TARGET_SPIRV) put_words(b, (const uint32_t *)code, size / 4);
    else put(b, code, size);
    put_padding(b);
}

static void write_blob(const options *o) {
    bytes *b, body = { NULL, 0, 0 };
    uint64_t sum = 0xcbf29ce484222325u;
    size_t i;
    uint32_t count = 0;
    int f;
    for (f = 0; f < FORMS; f++) count += o->in_program[f];
    put_u32(&body, KERNELS);
    for (i = 0; i < KERNELS; i++) {
        put_text(&body, kernels[i].name);
        put_u32(&body, count);
        for (f = 0; f < FORMS; f++) if (o->in_program[f]) blob_form(&body, kernels[i].form[f], f);
    }
    for (i = 0; i < body.size; i++) sum = (sum ^ (unsigned char)body.at[i]) * 0x100000001b3u;
    b = open_output(joined(o->blob, "", "", "", ""));
    put(b, "VDKB", 4);
    put_u32(b, 1);
    put_u64(b, body.size + 24);
    put_u64(b, sum);
    put(b, body.at, body.size);
    free(body.at);
}

/* ---- options ---- */

static void read_targets(options *o, const char *list) {
    while (*list) {
        size_t length = strcspn(list, ","), t;
        for (t = 0; t < TARGETS; t++)
            if (strlen(targets[t].name) == length && !memcmp(targets[t].name, list, length)) break;
        if (t == TARGETS)
            fail("there is no target '%.*s'; the choices are: spirv, glsl, cuda, opencl", (int)length, list);
        o->target[t] = true;
        list += length;
        if (*list) list++;
    }
}

/* Evaluates the targets and --form. */
static void choose_forms(options *o, const char *form) {
    bool address = strcmp(form, "address") == 0 || strcmp(form, "both") == 0;
    bool binding = strcmp(form, "binding") == 0 || strcmp(form, "both") == 0;
    bool spirv = o->target[SPIRV_FILE], program = o->header || o->blob;
    int f;
    if (!address && !binding) fail("there is no form '%s'; the choices are: address, binding, both", form);
    if (!program && !o->folder) o->folder = ".";
    o->form[ADDRESS] = address && (spirv || o->target[GLSL_FILE]);
    o->form[BINDING] = binding && (spirv || o->target[GLSL_FILE]);
    o->form[CUDA] = o->target[CUDA_FILE];
    o->form[OPENCL] = o->target[OPENCL_FILE];
    for (f = 0; f < FORMS; f++) o->in_program[f] = o->form[f] && (f > BINDING || spirv);
    if (program && !spirv && !o->form[CUDA] && !o->form[OPENCL])
        fail("a program cannot use glsl: --header and --blob accept spirv, cuda and opencl");
}

static options read_options(int argc, char **argv) {
    options o;
    const char *form = "both", *target = "spirv";
    int i;
    memset(&o, 0, sizeof o);
    o.source = argc > 1 ? argv[1] : "?";
    for (i = 2; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--header") == 0) o.header = value;
        else if (strcmp(argv[i], "--blob") == 0) o.blob = value;
        else if (strcmp(argv[i], "--target") == 0) target = value;
        else if (strcmp(argv[i], "--form") == 0) form = value;
        else o.folder = value;
    }
    read_targets(&o, target);
    choose_forms(&o, form);
    return o;
}

int main(int argc, char **argv) {
    options o = read_options(argc, argv);
    build(&o);
    if (o.folder) write_files(&o);
    if (o.header) write_header(&o);
    if (o.blob) write_blob(&o);
    write_outputs();
    release();
    return 0;
}

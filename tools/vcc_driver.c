/* The half of tools/vcc that is compiled together with a file of kernels: builds them and writes what was asked for. The script gives VCC_FILE, the file,
   and VCC_LIST, a file with a line VCC_KERNEL(name) for each kernel; its arguments are the file's name for people, then --header, --blob, --target,
   -o and --form as the script explains them. C99 and C++11. */
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
    vc_kernel *form[2]; /* by address, by binding; NULL: not asked for */
} entry;

#define VCC_KERNEL(name) { #name, name, { NULL, NULL } },
static entry kernels[] = {
#include VCC_LIST
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static const char *const form_names[2] = { "address", "binding" };
static const struct { const char *name, *suffix; vc_target target; } targets[] = {
    { "spirv", "spv", VC_TARGET_SPIRV },
    { "glsl", "glsl", VC_TARGET_GLSL }
};
enum { TARGETS = sizeof targets / sizeof targets[0] };

typedef struct options {
    const char *source, *header, *blob, *folder;
    bool target[TARGETS], any_target, form[2];
} options;

static output *outputs;
static size_t output_count;

/* Nothing is left behind. */
VC__PRINTF(1, 2) static void fail(const char *format, ...) {
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

VC__PRINTF(2, 3) static void say(bytes *b, const char *format, ...) {
    char line[512];
    va_list list;
    int length;
    va_start(list, format);
    length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= sizeof line) fail("a line of the output is too long");
    put(b, line, (size_t)length);
}

/* Little-endian everywhere. */
static void put_u32(bytes *b, uint32_t x) {
    unsigned char byte[4];
    int i;
    for (i = 0; i < 4; i++) byte[i] = (unsigned char)(x >> (8 * i));
    put(b, byte, 4);
}
static void put_u64(bytes *b, uint64_t x) { put_u32(b, (uint32_t)x); put_u32(b, (uint32_t)(x >> 32)); }

static void put_padding(bytes *b) { while (b->size % 4) put(b, "", 1); }

/* Length, bytes, a zero, padding. */
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

/* All or none, as far as the file system lets us: drafts first, then their names. */
static void write_outputs(void) {
    size_t i;
    for (i = 0; i < output_count; i++) {
        output *o = &outputs[i];
        FILE *f;
        bool good;
        o->draft = joined(o->path, ".draft", "", "", "");
        f = fopen(o->draft, "wb");
        if (!f) { int why = errno; free(o->draft); o->draft = NULL; fail("cannot write '%s': %s", o->path, strerror(why)); }
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

static void build(const options *o) {
    vc_kernel_desc desc;
    const char *error;
    int i, f;
    for (i = 0; i < KERNELS; i++)
        for (f = 0; f < 2; f++) {
            if (!o->form[f]) continue;
            memset(&desc, 0, sizeof desc);
            desc.buffers = f ? VC_BUFFERS_BINDING : VC_BUFFERS_ADDRESS;
            kernels[i].form[f] = kernels[i].make(&desc);
            if (!vc_spirv(kernels[i].form[f], NULL) || !vc_reflect(kernels[i].form[f])) {
                error = vc_error(kernels[i].form[f]);
                fail("%s", error ? error : "out of host memory");
            }
        }
}

static void release(void) {
    size_t i;
    for (i = 0; i < KERNELS; i++) {
        vc_free(kernels[i].form[0]);
        vc_free(kernels[i].form[1]);
    }
    for (i = 0; i < output_count; i++) {
        free(outputs[i].path);
        free(outputs[i].content.at);
    }
    free(outputs);
}

static void write_texts(const options *o) {
    const char *error;
    int i, f, t;
    for (i = 0; i < KERNELS; i++)
        for (f = 0; f < 2; f++)
            for (t = 0; t < TARGETS; t++) {
                vc_kernel *k = kernels[i].form[f];
                bool both = o->form[0] && o->form[1];
                char *path, *name;
                bytes *b;
                size_t count = 0;
                const uint32_t *words;
                const char *text = NULL;
                if (!k || !o->target[t]) continue;
                name = joined(kernels[i].name, both ? "." : "", both ? form_names[f] : "", ".", targets[t].suffix);
                path = joined(o->folder, "/", name, "", "");
                free(name);
                b = open_output(path);
                words = vc_spirv(k, &count);
                if (targets[t].target == VC_TARGET_SPIRV) put_words(b, words, count);
                else {
                    text = vc_source(k, targets[t].target);
                    error = vc_error(k);
                    if (!text) fail("%s", error ? error : "out of host memory");
                    put_string(b, text);
                }
            }
}

/* ---- the header ---- */

/* What a form needs of the device; an argument that is an address is one even where nothing reads it. */
static uint64_t needs_of(const vc_info *info) {
    uint64_t needs = info->features;
    int i;
    for (i = 0; i < info->arg_count; i++) if (info->args[i].kind == VC_ARG_ADDRESS) needs |= VC_FEATURE_ADDRESS;
    return needs;
}

/* A literal that C and C++ read alike: what is not plain goes by octal escapes. */
static void say_literal(bytes *b, const char *text) {
    put_string(b, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 32 || c > 126 || c == '"' || c == '\\' || c == '?') say(b, "\\%03o", (unsigned)c);
        else put(b, text, 1);
    }
    put_string(b, "\"");
}

static const char *arg_kind(vc_arg_kind kind) { return kind == VC_ARG_BINDING ? "VD_ARG_BINDING" : kind == VC_ARG_ADDRESS ? "VD_ARG_ADDRESS" : "VD_ARG_VALUE"; }

static const char *hidden_kind(vc_hidden kind) {
    switch (kind) {
    case VC_HIDDEN_THREADS: return "VD_HIDDEN_THREADS";
    case VC_HIDDEN_GROUPS: return "VD_HIDDEN_GROUPS";
    case VC_HIDDEN_GROUP_BASE: return "VD_HIDDEN_GROUP_BASE";
    case VC_HIDDEN_LENGTH: return "VD_HIDDEN_LENGTH";
    case VC_HIDDEN_SHAPE: return "VD_HIDDEN_SHAPE";
    default: fail("a hidden value of kind %d", (int)kind); return "";
    }
}

static void say_code(bytes *b, const char *name, const char *form, const uint32_t *words, size_t count) {
    size_t i;
    say(b, "\nstatic const uint32_t %s_%s_code[%lu] = {", name, form, (unsigned long)count);
    for (i = 0; i < count; i++) say(b, "%s0x%08lx%s", i % 8 ? " " : "\n    ", (unsigned long)words[i], i + 1 < count ? "," : "\n");
    say(b, "};\n");
}

static void say_arrays(bytes *b, const char *name, const char *form, const vc_info *info) {
    int i;
    if (info->arg_count)
        say(b, "static const vd_arg_info %s_%s_args[%d] = { /* name, kind, type, access, place, size, align, may alias */\n", name, form, info->arg_count);
    for (i = 0; i < info->arg_count; i++) {
        const vc_arg_info *a = &info->args[i];
        put_string(b, "    { ");
        if (a->name) say_literal(b, a->name); else put_string(b, "NULL");
        say(b, ", %s, %lu /* %s */, %lu, %lu, %lu, %lu, %s }%s\n", arg_kind(a->kind), (unsigned long)a->type, vc_type_name(a->type), (unsigned long)a->access,
            (unsigned long)a->place, (unsigned long)a->size, (unsigned long)a->align, a->may_alias ? "true" : "false", i + 1 < info->arg_count ? "," : "");
    }
    if (info->arg_count) say(b, "};\n");
    if (info->hidden_count) say(b, "static const vd_hidden_info %s_%s_hidden[%d] = { /* kind, argument, axis, place */\n", name, form, info->hidden_count);
    for (i = 0; i < info->hidden_count; i++) {
        const vc_hidden_info *h = &info->hidden[i];
        say(b, "    { %s, %lu, %lu, %lu }%s\n", hidden_kind(h->kind), (unsigned long)h->arg, (unsigned long)h->axis, (unsigned long)h->place,
            i + 1 < info->hidden_count ? "," : "");
    }
    if (info->hidden_count) say(b, "};\n");
}

/* One row of the table of descs. */
static void say_desc(bytes *b, const char *name, const char *form, const vc_info *info) {
    say(b, "    { \"%s\", VD_CODE_SPIRV, %s_%s_code, sizeof %s_%s_code, NULL, ", name, name, form, name, form);
    if (info->arg_count) say(b, "%s_%s_args, %d, ", name, form, info->arg_count); else say(b, "NULL, 0, ");
    if (info->hidden_count) say(b, "%s_%s_hidden, %d, ", name, form, info->hidden_count); else say(b, "NULL, 0, ");
    say(b, "%lu, { %lu, %lu, %lu }, %lu, 0x%llx }", (unsigned long)info->value_bytes, (unsigned long)info->local_size[0], (unsigned long)info->local_size[1],
        (unsigned long)info->local_size[2], (unsigned long)info->shared_bytes, (unsigned long long)needs_of(info));
}

static void say_kernel(bytes *b, const entry *e) {
    bool both = e->form[0] && e->form[1];
    size_t count = 0;
    const uint32_t *words;
    int f;
    say(b, "\n/* ---- %s ---- */\n", e->name);
    for (f = 0; f < 2; f++) {
        if (!e->form[f]) continue;
        words = vc_spirv(e->form[f], &count);
        say_code(b, e->name, form_names[f], words, count);
        say_arrays(b, e->name, form_names[f], vc_reflect(e->form[f]));
    }
    say(b, "static const vd_kernel_desc %s_forms[%d] = {\n", e->name, both ? 2 : 1);
    for (f = 0; f < 2; f++) {
        if (!e->form[f]) continue;
        say_desc(b, e->name, form_names[f], vc_reflect(e->form[f]));
        put_string(b, f == 0 && both ? ",\n" : "\n");
    }
    say(b, "};\n\n/* The desc of %s in the form that the context's device takes. */\n", e->name);
    say(b, "static inline vd_kernel_desc %s_desc(const vd_context *ctx) {\n", e->name);
    if (both) {
        say(b, "    const vd_device_info *device = ctx ? vd_device(ctx, 0) : NULL;\n");
        say(b, "    return %s_forms[device && !(%s_forms[0].features & ~device->features) ? 0 : 1];\n}\n", e->name, e->name);
    } else say(b, "    (void)ctx;\n    return %s_forms[0];\n}\n", e->name);
    say(b, "\nstatic inline vd_kernel %s_create(vd_context *ctx) {\n    const vd_kernel_desc desc = %s_desc(ctx);\n", e->name, e->name);
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
    say(b, "/* Made by tools/vcc from ");
    for (c = o->source; *c; c++) if (!(c[0] == '*' && c[1] == '/')) put(b, c, 1);
    say(b, ". For each kernel NAME: vd_kernel NAME_create(ctx), and NAME_desc(ctx), which that passes to vd_kernel_create.\n"
           "   Include behind vkdispatch.h or in its place; C99 and C++11. */\n");
    say(b, "#ifndef VCC_%s\n#define VCC_%s\n\n#include \"vkdispatch.h\"\n", guard.at, guard.at);
    for (i = 0; i < KERNELS; i++) say_kernel(b, &kernels[i]);
    say(b, "\n#endif\n");
    free(guard.at);
}

/* ---- the blob; vd_kernel_load reads it, and its room in vkdispatch.h says what stands where ---- */

static void blob_form(bytes *b, vc_kernel *k) {
    const vc_info *info = vc_reflect(k);
    size_t count = 0;
    const uint32_t *words = vc_spirv(k, &count);
    int i;
    put_u32(b, 1); /* VD_CODE_SPIRV */
    put_u64(b, needs_of(info));
    for (i = 0; i < 3; i++) put_u32(b, info->local_size[i]);
    put_u32(b, info->shared_bytes);
    put_u32(b, info->value_bytes);
    put_text(b, NULL);
    put_u32(b, (uint32_t)info->arg_count);
    for (i = 0; i < info->arg_count; i++) {
        const vc_arg_info *a = &info->args[i];
        put_text(b, a->name);
        put_u32(b, (uint32_t)a->kind);
        put_u32(b, a->type);
        put_u32(b, a->access);
        put_u32(b, a->place);
        put_u32(b, a->size);
        put_u32(b, a->align);
        put_u32(b, a->may_alias ? 1 : 0);
    }
    put_u32(b, (uint32_t)info->hidden_count);
    for (i = 0; i < info->hidden_count; i++) {
        put_u32(b, (uint32_t)info->hidden[i].kind);
        put_u32(b, info->hidden[i].arg);
        put_u32(b, info->hidden[i].axis);
        put_u32(b, info->hidden[i].place);
    }
    put_u32(b, (uint32_t)(count * 4));
    put_words(b, words, count);
}

static void write_blob(const options *o) {
    bytes *b, body = { NULL, 0, 0 };
    uint64_t sum = 0xcbf29ce484222325u;
    size_t i;
    int f;
    put_u32(&body, KERNELS);
    for (i = 0; i < KERNELS; i++) {
        put_text(&body, kernels[i].name);
        put_u32(&body, (kernels[i].form[0] ? 1u : 0u) + (kernels[i].form[1] ? 1u : 0u));
        for (f = 0; f < 2; f++) if (kernels[i].form[f]) blob_form(&body, kernels[i].form[f]);
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
        for (t = 0; t < TARGETS; t++) if (strlen(targets[t].name) == length && !memcmp(targets[t].name, list, length)) break;
        if (t == TARGETS) fail("there is no target '%.*s'; the choices are: spirv, glsl", (int)length, list);
        o->target[t] = o->any_target = true;
        list += length;
        if (*list) list++;
    }
}

static options read_options(int argc, char **argv) {
    options o;
    const char *form = "both";
    int i;
    memset(&o, 0, sizeof o);
    o.source = argc > 1 ? argv[1] : "?";
    o.folder = ".";
    for (i = 2; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--header") == 0) o.header = value;
        else if (strcmp(argv[i], "--blob") == 0) o.blob = value;
        else if (strcmp(argv[i], "--target") == 0) read_targets(&o, value);
        else if (strcmp(argv[i], "--form") == 0) form = value;
        else o.folder = value;
    }
    o.form[0] = strcmp(form, "address") == 0 || strcmp(form, "both") == 0;
    o.form[1] = strcmp(form, "binding") == 0 || strcmp(form, "both") == 0;
    if (!o.form[0] && !o.form[1]) fail("there is no form '%s'; the choices are: address, binding, both", form);
    if (!o.any_target && !o.header && !o.blob) o.target[0] = true;
    return o;
}

int main(int argc, char **argv) {
    options o = read_options(argc, argv);
    build(&o);
    write_texts(&o);
    if (o.header) write_header(&o);
    if (o.blob) write_blob(&o);
    write_outputs();
    release();
    return 0;
}

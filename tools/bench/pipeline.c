/* Time to create a pipeline, and its register count: modules of the builder compared with modules of glslang.

       make bench-pipeline

   Two kernels: `straight` is the kernel of bench-build, 256 complex points per thread. `rows` transforms rows of
   4096 points, 16 per thread, in three steps of radix 16 with two exchanges through shared memory; as in the FFT
   library, twiddle factors are powers of two from a table and products of these. `same` compares our module with
   glslang's module of the GLSL that the builder prints for the same kernel, with buffers by binding. `usual`
   compares our default module, with buffers by address if the device supports that, with glslang's module with
   descriptors. The first module of each is run and compared with a transform in double precision. A constant changes
   each time, so that no cache contains the module. Register counts are those that the driver reports
   (VK_KHR_pipeline_executable_properties). */
#define _POSIX_C_SOURCE 200809L
#define VOLK_IMPLEMENTATION /* for the hand-written implementation */
#define VKDISPATCH_VOLK
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#include "tools/bench/bench.h"
#include "tools/bench/transform.h"

static void die(const char *what, const char *why) {
    fprintf(stderr, "bench-pipeline: %s: %s\n", what, why ? why : "");
    exit(1);
}

#include "tools/bench/glslang.h"

enum { POINTS = 4096, RADIX = 16, THREADS = POINTS / RADIX, VALUES = 2 * 64 * STRAIGHT, ROUNDS = 5, MOST_ARGS = 8 };

#if HAS_GLSLANG

/* ---- the kernel ---- */

static complex_val times(complex_val a, complex_val b) {
    complex_val r = { vc_fma(a.re, b.re, vc_neg(vc_mul(a.im, b.im))), vc_fma(a.re, b.im, vc_mul(a.im, b.re)) };
    return r;
}

/* Moves the outputs of a step, `step` apart from `first` on, to the inputs of the next step, THREADS apart, through
   shared memory: first the real parts, then the imaginary parts. */
static void exchange(vc_kernel *k, vc_ref shared, complex_val *x, vc_val first, uint32_t step, vc_val thread) {
    for (int part = 0; part < 2; part++) {
        vc_barrier(k);
        for (uint32_t j = 0; j < RADIX; j++)
            vc_store(shared, vc_add(first, vc_u32(j * step)), part ? x[j].im : x[j].re);
        vc_barrier(k);
        for (uint32_t j = 0; j < RADIX; j++) {
            vc_val v = vc_load(vc_offset(shared, vc_u32(j * THREADS)), thread);
            if (part) x[j].im = v; else x[j].re = v;
        }
    }
}

/* Multiplies x[j] by w^(j * within * step), where w is the root of the table. Powers of two come from the table; the
   others are products of two factors that were computed before. */
static void turn(vc_ref turns, complex_val *x, vc_val within, uint32_t step) {
    complex_val w[RADIX];
    for (uint32_t j = 1, top = 1; j < RADIX; j++) {
        if (j == 2 * top) top = j;
        if (j == top) {
            vc_val v = vc_load(turns, vc_mul(within, vc_u32(j * step)));
            w[j].re = vc_component(v, 0);
            w[j].im = vc_component(v, 1);
        } else w[j] = times(w[top], w[j - top]);
        x[j] = times(x[j], w[j]);
    }
}

/* One row per workgroup: Stockham steps of radix 16 with `done` = 1, 16, 256. `scale` is a constant of the kernel. */
static void record_rows(vc_kernel *k, float scale) {
    vc_ref in = vc_buffer(k, "points", VC_F32X2, VC_READ | VC_ANY_TYPE);
    vc_ref out = vc_buffer(k, "result", VC_F32X2, VC_WRITE | VC_ANY_TYPE);
    vc_ref turns = vc_buffer(k, "turns", VC_F32X2, VC_READ | VC_ANY_TYPE);
    vc_ref shared = vc_shared(k, "row", VC_F32, POINTS);
    vc_val thread = vc_local_id(k, 0), first = vc_add(vc_mul(vc_group_id(k, 0), vc_u32(POINTS)), thread);
    complex_val x[RADIX];
    for (uint32_t j = 0; j < RADIX; j++) {
        vc_val v = vc_mul(vc_load(vc_offset(in, vc_u32(j * THREADS)), first), vc_splat(vc_const(k, vc_f32(scale)), 2));
        x[j].re = vc_component(v, 0);
        x[j].im = vc_component(v, 1);
    }
    for (uint32_t done = 1; done < POINTS; done *= RADIX) {
        vc_val within = vc_and(thread, vc_u32(done - 1));
        if (done > 1) turn(turns, x, within, POINTS / RADIX / done);
        dft16(x, -1);
        if (done * RADIX == POINTS) break;
        exchange(k, shared, x, vc_add(vc_mul(vc_sub(thread, within), vc_u32(RADIX)), within), done, thread);
    }
    for (uint32_t j = 0; j < RADIX; j++)
        vc_store(vc_offset(out, vc_u32(j * THREADS)), first, vc_vec2(x[j].re, x[j].im));
}

typedef struct subject {
    const char *name;
    uint32_t points, threads, group; /* per transform, dispatch and workgroup; a dispatch has VALUES / 2 points */
    void (*record)(vc_kernel *k, float scale);
} subject;

static const subject subjects[] = {
    { "rows", POINTS, VALUES / 2 / RADIX, THREADS, record_rows },
    { "straight", STRAIGHT, VALUES / 2 / STRAIGHT, 64, record_straight },
};

static vc_kernel_desc describe(const vd_context *ctx, const subject *s, vc_buffers buffers) {
    vc_kernel_desc desc = { 0 };
    desc.name = s->name;
    desc.local_size[0] = s->group;
    desc.buffers = buffers;
    desc.machine = vd_machine(ctx);
    return desc;
}

/* ---- running ---- */

typedef struct work {
    vd_context *ctx;
    vd_buffer points, result, turns;
    float in[VALUES], out[VALUES];
} work;

/* Untyped: one kernel declares pairs, the other single numbers, and both accept any type. */
static vd_buffer buffer_of(vd_context *ctx, const float *data, uint64_t count) {
    vd_buffer_desc desc = { 0 };
    desc.shape[0] = count * sizeof *data;
    desc.data = data;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) die("vd_buffer_create", vd_error_text());
    return b;
}

static void work_open(work *w, vd_context *ctx) {
    static float turns[2 * POINTS];
    for (uint32_t i = 0; i < VALUES; i++) w->in[i] = (float)((i * 2654435761u >> 8) % 1000u) / 1000.0f - 0.5f;
    for (int i = 0; i < POINTS; i++) {
        turns[2 * i] = (float)turn_cos[i];
        turns[2 * i + 1] = (float)-turn_sin[i];
    }
    w->ctx = ctx;
    w->points = buffer_of(ctx, w->in, VALUES);
    w->result = buffer_of(ctx, NULL, VALUES);
    w->turns = buffer_of(ctx, turns, 2 * POINTS);
}

static void work_close(work *w) {
    vd_buffer_destroy(w->ctx, w->points);
    vd_buffer_destroy(w->ctx, w->result);
    vd_buffer_destroy(w->ctx, w->turns);
}

/* Returns point k of the transform of `points` elements, in double precision. */
static void transform_point(const float *in, uint32_t points, uint32_t k, double out[2]) {
    out[0] = out[1] = 0;
    for (uint32_t j = 0; j < points; j++) {
        uint32_t turn = j * k % points * (TURNS / points);
        out[0] += (double)in[2 * j] * turn_cos[turn] + (double)in[2 * j + 1] * turn_sin[turn];
        out[1] += (double)in[2 * j + 1] * turn_cos[turn] - (double)in[2 * j] * turn_sin[turn];
    }
}

/* Compares every 61st point. Inputs are below 1, so sums of 4096 are accurate to about 1e-5. */
static void work_check(work *w, const subject *s, vd_kernel kernel, float scale, const char *whose) {
    vd_result result = vd_buffer_write(w->ctx, w->result, 0, memset(w->out, 0, sizeof w->out), VD_WHOLE);
    if (result == VD_OK && s->record == record_rows)
        result = vd_run(w->ctx, kernel, s->threads, vd_b(w->points), vd_b(w->result), vd_b(w->turns));
    else if (result == VD_OK) result = vd_run(w->ctx, kernel, s->threads, vd_b(w->points), vd_b(w->result));
    if (result || vd_buffer_read(w->ctx, w->result, 0, w->out, VD_WHOLE)) die(whose, vd_error_text());
    for (uint32_t i = 0; i < VALUES / 2; i += 61) {
        double expected[2];
        transform_point(w->in + i / s->points * s->points * 2, s->points, i % s->points, expected);
        for (int part = 0; part < 2; part++)
            if (!(fabs((double)w->out[2 * i + (uint32_t)part] - expected[part] * (double)scale) < 1e-3))
                die(whose, "wrong result of the transform");
    }
}

/* ---- kernels ---- */

/* Binds the arguments that the builder declares, for either module. */
static vd_kernel_desc arguments_of(const vc_info *info, vd_arg_info *args, vd_implicit_info *hidden) {
    vd_kernel_desc desc = { 0 };
    desc.name = info->name;
    for (int i = 0; i < info->arg_count; i++) {
        const vc_arg_info *a = &info->args[i];
        vd_arg_info one = { a->name, (vd_arg_kind)a->kind, a->type, a->access, a->location, a->size, a->align,
                            a->may_alias, a->sampled, (vd_dim)a->dim, (vd_format)a->format, false, false, 0 };
        args[i] = one;
    }
    for (int i = 0; i < info->implicit_count; i++) {
        const vc_implicit_info *h = &info->implicit[i];
        vd_implicit_info one = { (vd_implicit)h->kind, h->arg, h->axis, h->offset };
        hidden[i] = one;
    }
    desc.args = args;
    desc.arg_count = info->arg_count;
    desc.implicit = hidden;
    desc.implicit_count = info->implicit_count;
    desc.argument_bytes = info->argument_bytes;
    return desc;
}

static double pipeline_time(work *w, const subject *s, vd_kernel_desc desc, const uint32_t *words, size_t count,
                            float scale, bool check, const char *whose) {
    desc.code = words;
    desc.code_size = 4 * count;
    double start = bench_now();
    vd_kernel kernel = vd_kernel_create(w->ctx, &desc);
    double took = bench_now() - start;
    if (!kernel.id) die(whose, vd_error_text());
    if (check) work_check(w, s, kernel, scale, whose);
    vd_kernel_destroy(w->ctx, kernel);
    return took;
}

/* ---- register counts, from a device opened for this ---- */

typedef struct raw {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    struct VolkDeviceTable vk;
} raw;

/* Returns false if the driver reports nothing. */
static bool raw_open(raw *r, const vd_device_info *info) {
    VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3 };
    VkInstanceCreateInfo instance = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app };
    VkPhysicalDevice all[16];
    uint32_t count = 16;
    memset(r, 0, sizeof *r);
    if (volkInitialize() || vkCreateInstance(&instance, NULL, &r->instance)) return false;
    volkLoadInstance(r->instance);
    if (vkEnumeratePhysicalDevices(r->instance, &count, all) < 0) return false;
    for (uint32_t i = 0; i < count && !r->physical; i++) {
        VkPhysicalDeviceProperties p;
        vkGetPhysicalDeviceProperties(all[i], &p);
        if (p.vendorID == info->vendor_id && p.deviceID == info->device_id) r->physical = all[i];
    }
    if (!r->physical) return false;
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR tells =
        { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR };
    VkPhysicalDeviceVulkan12Features has12 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                               .pNext = &tells };
    VkPhysicalDeviceFeatures2 has = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &has12 };
    vkGetPhysicalDeviceFeatures2(r->physical, &has);
    if (!tells.pipelineExecutableInfo) return false;
    has.features.robustBufferAccess = VK_FALSE;
    float priority = 1;
    const char *extension = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
    VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1,
                                      .pQueuePriorities = &priority };
    VkDeviceCreateInfo create = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &has,
                                  .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue, .enabledExtensionCount = 1,
                                  .ppEnabledExtensionNames = &extension };
    if (vkCreateDevice(r->physical, &create, NULL, &r->device)) return false;
    volkLoadDeviceTable(&r->vk, r->device);
    return true;
}

static void raw_close(raw *r) {
    if (r->device) r->vk.vkDestroyDevice(r->device, NULL);
    if (r->instance) vkDestroyInstance(r->instance, NULL);
}

static VkPipelineLayout raw_layout(const raw *r, VkDescriptorSetLayout *sets) {
    VkDescriptorSetLayoutBinding bindings[MOST_ARGS];
    for (uint32_t i = 0; i < MOST_ARGS; i++) {
        VkDescriptorSetLayoutBinding one = { .binding = i, .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                             .descriptorCount = 1, .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT };
        bindings[i] = one;
    }
    VkDescriptorSetLayoutCreateInfo set = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                            .bindingCount = MOST_ARGS, .pBindings = bindings };
    VkPushConstantRange values = { VK_SHADER_STAGE_COMPUTE_BIT, 0, 128 };
    VkPipelineLayoutCreateInfo create = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1,
                                          .pSetLayouts = sets, .pushConstantRangeCount = 1,
                                          .pPushConstantRanges = &values };
    VkPipelineLayout layout = VK_NULL_HANDLE;
    if (r->vk.vkCreateDescriptorSetLayout(r->device, &set, NULL, sets)
        || r->vk.vkCreatePipelineLayout(r->device, &create, NULL, &layout))
        die("registers", "no layout");
    return layout;
}

/* Returns the statistic whose name contains "egister"; -1 if there is none. */
static double raw_registers(const raw *r, const uint32_t *words, size_t count) {
    VkDescriptorSetLayout sets;
    VkPipelineLayout layout = raw_layout(r, &sets);
    VkShaderModuleCreateInfo code = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = 4 * count,
                                      .pCode = words };
    VkShaderModule made;
    if (r->vk.vkCreateShaderModule(r->device, &code, NULL, &made)) die("registers", "no module");
    VkComputePipelineCreateInfo create = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                           .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR,
                                           .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                      .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = made,
                                                      .pName = "main" }, .layout = layout };
    VkPipeline pipeline;
    if (r->vk.vkCreateComputePipelines(r->device, VK_NULL_HANDLE, 1, &create, NULL, &pipeline))
        die("registers", "no pipeline");
    VkPipelineExecutableInfoKHR executable = { .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                               .pipeline = pipeline };
    VkPipelineExecutableStatisticKHR statistics[32];
    uint32_t n = 32;
    double registers = -1;
    memset(statistics, 0, sizeof statistics);
    for (int i = 0; i < 32; i++) statistics[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    if (r->vk.vkGetPipelineExecutableStatisticsKHR(r->device, &executable, &n, statistics) < 0) n = 0;
    for (uint32_t i = 0; i < n && registers < 0; i++)
        if (strstr(statistics[i].name, "egister")) registers = (double)statistics[i].value.u64;
    r->vk.vkDestroyPipeline(r->device, pipeline, NULL);
    r->vk.vkDestroyShaderModule(r->device, made, NULL);
    r->vk.vkDestroyPipelineLayout(r->device, layout, NULL);
    r->vk.vkDestroyDescriptorSetLayout(r->device, sets, NULL);
    return registers;
}

/* ---- comparing ---- */

static void bench_pipelines(work *w, const raw *r, const subject *s, vc_buffers form, double bound) {
    static bench_pair pair;
    vc_kernel_desc desc = describe(w->ctx, s, form), other = describe(w->ctx, s, VC_BUFFERS_BINDING);
    vc_kernel *k = vc_begin(&desc), *usual = vc_begin(&other);
    vd_arg_info args[2][MOST_ARGS];
    vd_implicit_info hidden[2][MOST_ARGS];
    double registers[2] = { -1, -1 };
    char size[64];
    snprintf(size, sizeof size, "%s-%s", s->name, form == VC_BUFFERS_BINDING ? "same" : "usual");
    pair.name = "pipeline";
    pair.size = size;
    pair.rival = "glslang-module";
    pair.rounds = ROUNDS;
    pair.scale = 1e3;
    pair.unit = "ms";
    pair.bound = bound;
    for (int i = 0; i < ROUNDS; i++) {
        float scale = 1.0f + (float)(i + 1) / 16.0f + (float)(time(NULL) % 997) / 65536.0f;
        size_t words = 0;
        vc_restart(k, &desc);
        s->record(k, scale);
        vc_restart(usual, &other);
        s->record(usual, scale);
        const uint32_t *code = vc_spirv(k, &words);
        const char *text = vc_source(usual, VC_TARGET_GLSL);
        if (!code || !text) die("build", code ? vc_error(usual) : vc_error(k));
        module m = glslang_compile(text);
        pair.theirs[i] = pipeline_time(w, s, arguments_of(vc_reflect(usual), args[1], hidden[1]), m.words, m.count,
                                       scale, i == 0, "glslang's module");
        pair.ours[i] = pipeline_time(w, s, arguments_of(vc_reflect(k), args[0], hidden[0]), code, words, scale, i == 0,
                                     "our module");
        if (r && i == 0) {
            registers[0] = raw_registers(r, code, words);
            registers[1] = raw_registers(r, m.words, m.count);
        }
        free(m.words);
    }
    bench_print(&pair);
    if (registers[0] > 0 && registers[1] > 0)
        printf("bench registers %s ours=%.0f glslang-module=%.0f unit=registers ratio=%.3f bound=1 %s\n", size,
               registers[0], registers[1], registers[0] / registers[1], registers[0] <= registers[1] ? "ok" : "short");
    else bench_not_run("registers", size, "the driver does not tell");
    vc_free(k);
    vc_free(usual);
}

static int bench(void) {
    static work w;
    vd_context_desc wanted = { 0 };
    vd_context *ctx = NULL;
    raw r;
    wanted.backend = VD_BACKEND_VULKAN;
    if (vd_context_create(&wanted, &ctx)) {
        bench_not_run("pipeline", "rows-4096", vd_error_text());
        return 0;
    }
    printf("# %s, %s\n", vd_device(ctx, 0)->name, vd_device(ctx, 0)->driver);
    make_turns();
    work_open(&w, ctx);
    bool tells = raw_open(&r, vd_device(ctx, 0)), processor = vd_device(ctx, 0)->type == VD_DEVICE_CPU;
    glslang_initialize_process();
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        bench_pipelines(&w, tells ? &r : NULL, &subjects[i], VC_BUFFERS_BINDING, processor ? 0.5 : 0);
    bench_pipelines(&w, tells ? &r : NULL, &subjects[0], VC_BUFFERS_DEFAULT, processor ? 0 : 1 / 1.3);
    glslang_finalize_process();
    raw_close(&r);
    work_close(&w);
    vd_context_destroy(ctx);
    return 0;
}

#else

static int bench(void) {
    bench_not_run("pipeline", "rows-4096", NO_GLSLANG);
    return 0;
}

#endif

int main(void) { return bench(); }

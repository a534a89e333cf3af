/* The pipeline cache of Vulkan in the cache directory. Drivers may return little or nothing from
   vkGetPipelineCacheData, so most tests replace the driver's pipeline caches: the replacement is a list of hashes of
   shader modules, passed to the library through desc.get_instance_proc_addr. One test uses the driver's own. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

/* ---- pipeline caches of the driver, replaced ---- */

enum { MODULES = 4096, HEADER = 32 };

typedef struct cache {
    uint32_t count;
    uint64_t hashes[MODULES];
} cache;

static struct {
    PFN_vkGetInstanceProcAddr instance_proc;
    PFN_vkGetDeviceProcAddr device_proc;
    PFN_vkCreateShaderModule create_module;
    PFN_vkCreateComputePipelines create_pipelines;
    PFN_vkGetPhysicalDeviceProperties2 properties;
    pthread_mutex_t lock;
    VkPhysicalDeviceProperties device;
    struct { VkShaderModule handle; uint64_t hash; } modules[64]; /* that exist; a ring */
    uint32_t module_count;
    uint32_t found, compiled;   /* pipelines */
    uint32_t caches, refused;   /* live caches; initial data that was refused */
    bool refuse_data, empty, no_data, no_merge; /* faults */
    uint8_t other_driver;       /* added to pipelineCacheUUID */
} driver = { .lock = PTHREAD_MUTEX_INITIALIZER };

static cache *cache_of(VkPipelineCache handle) { return (cache *)(uintptr_t)handle; }

static bool cache_has(const cache *c, uint64_t hash) {
    for (uint32_t i = 0; i < c->count; i++)
        if (c->hashes[i] == hash) return true;
    return false;
}

static void cache_add(cache *c, uint64_t hash) {
    if (cache_has(c, hash)) return;
    assert_true(c->count < MODULES);
    c->hashes[c->count++] = hash;
}

static void put_header(uint32_t head[HEADER / 4]) {
    head[0] = HEADER;
    head[1] = VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
    head[2] = driver.device.vendorID;
    head[3] = driver.device.deviceID;
    memcpy(head + 4, driver.device.pipelineCacheUUID, VK_UUID_SIZE);
}

/* A real driver may crash on data of another one: they must not arrive here. */
static VKAPI_ATTR VkResult VKAPI_CALL create_cache(VkDevice device, const VkPipelineCacheCreateInfo *info,
                                                   const VkAllocationCallbacks *callbacks, VkPipelineCache *out) {
    uint32_t head[HEADER / 4];
    (void)device, (void)callbacks;
    if (driver.refuse_data && info->initialDataSize) {
        driver.refused++;
        memset(out, 0xdb, sizeof *out);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    cache *c = (cache *)calloc(1, sizeof *c);
    assert_non_null(c);
    if (info->initialDataSize) {
        put_header(head);
        assert_true(info->initialDataSize > HEADER && info->initialDataSize % 8 == 0);
        assert_memory_equal(info->pInitialData, head, HEADER);
        c->count = (uint32_t)(info->initialDataSize - HEADER) / 8;
        memcpy(c->hashes, (const char *)info->pInitialData + HEADER, c->count * 8);
    }
    __atomic_add_fetch(&driver.caches, 1, __ATOMIC_RELAXED);
    *out = (VkPipelineCache)(uintptr_t)c;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_cache(VkDevice device, VkPipelineCache handle,
                                                const VkAllocationCallbacks *callbacks) {
    (void)device, (void)callbacks;
    __atomic_sub_fetch(&driver.caches, 1, __ATOMIC_RELAXED);
    free(cache_of(handle));
}

static VKAPI_ATTR VkResult VKAPI_CALL get_data(VkDevice device, VkPipelineCache handle, size_t *size, void *data) {
    const cache *c = cache_of(handle);
    uint32_t head[HEADER / 4];
    (void)device;
    if (driver.no_data && data) {
        memset(data, 0xdb, *size);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    uint32_t count = driver.empty ? 0 : c->count;
    if (!data) {
        *size = HEADER + 8 * (size_t)count;
        return VK_SUCCESS;
    }
    assert_int_equal(*size, HEADER + 8 * (size_t)count);
    put_header(head);
    memcpy(data, head, HEADER);
    memcpy((char *)data + HEADER, c->hashes, 8 * (size_t)count);
    return VK_SUCCESS;
}

/* The destination is externally synchronised: the library must not use it in another thread. */
static VKAPI_ATTR VkResult VKAPI_CALL merge(VkDevice device, VkPipelineCache to, uint32_t count,
                                            const VkPipelineCache *from) {
    (void)device;
    if (driver.no_merge) return VK_ERROR_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&driver.lock);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < cache_of(from[i])->count; j++) cache_add(cache_of(to), cache_of(from[i])->hashes[j]);
    pthread_mutex_unlock(&driver.lock);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                                    const VkAllocationCallbacks *callbacks, VkShaderModule *out) {
    VkResult result = driver.create_module(device, info, callbacks, out);
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < info->codeSize / 4; i++) hash = (hash ^ info->pCode[i]) * 0x100000001B3u;
    pthread_mutex_lock(&driver.lock);
    uint32_t at = driver.module_count++ % COUNT(driver.modules);
    driver.modules[at].handle = *out;
    driver.modules[at].hash = hash;
    pthread_mutex_unlock(&driver.lock);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache handle, uint32_t count,
                                                       const VkComputePipelineCreateInfo *info,
                                                       const VkAllocationCallbacks *callbacks, VkPipeline *out) {
    pthread_mutex_lock(&driver.lock);
    for (uint32_t i = driver.module_count; i-- > 0;) {
        if (driver.modules[i % COUNT(driver.modules)].handle != info->stage.module) continue;
        uint64_t hash = driver.modules[i % COUNT(driver.modules)].hash;
        if (cache_has(cache_of(handle), hash)) driver.found++;
        else driver.compiled++;
        cache_add(cache_of(handle), hash);
        break;
    }
    pthread_mutex_unlock(&driver.lock);
    return driver.create_pipelines(device, VK_NULL_HANDLE, count, info, callbacks, out);
}

static VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out) {
    driver.properties(device, out);
    out->properties.pipelineCacheUUID[15] = (uint8_t)(out->properties.pipelineCacheUUID[15] + driver.other_driver);
    driver.device = out->properties;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name) {
    PFN_vkVoidFunction real = driver.device_proc(device, name);
    if (!strcmp(name, "vkCreatePipelineCache")) return (PFN_vkVoidFunction)create_cache;
    if (!strcmp(name, "vkDestroyPipelineCache")) return (PFN_vkVoidFunction)destroy_cache;
    if (!strcmp(name, "vkGetPipelineCacheData")) return (PFN_vkVoidFunction)get_data;
    if (!strcmp(name, "vkMergePipelineCaches")) return (PFN_vkVoidFunction)merge;
    if (!strcmp(name, "vkCreateShaderModule")) {
        driver.create_module = (PFN_vkCreateShaderModule)real;
        return (PFN_vkVoidFunction)create_module;
    }
    if (!strcmp(name, "vkCreateComputePipelines")) {
        driver.create_pipelines = (PFN_vkCreateComputePipelines)real;
        return (PFN_vkVoidFunction)create_pipelines;
    }
    return real;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char *name) {
    PFN_vkVoidFunction real = driver.instance_proc(instance, name);
    if (!strcmp(name, "vkGetDeviceProcAddr")) {
        driver.device_proc = (PFN_vkGetDeviceProcAddr)real;
        return (PFN_vkVoidFunction)device_proc;
    }
    if (!strcmp(name, "vkGetPhysicalDeviceProperties2")) {
        driver.properties = (PFN_vkGetPhysicalDeviceProperties2)real;
        return (PFN_vkVoidFunction)properties;
    }
    return real;
}

/* ---- helpers ---- */

static char folder[64], file_path[512]; /* the cache directory, and a file that cache_files found in it */

static int cache_files(void) {
    DIR *d = opendir(folder);
    int count = 0;
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (e->d_name[0] == '.') continue;
        count++;
        snprintf(file_path, sizeof file_path, "%s/%s", folder, e->d_name);
    }
    closedir(d);
    return count;
}

static void begin(void) {
    driver.found = driver.compiled = driver.caches = driver.refused = driver.module_count = 0;
    driver.refuse_data = driver.empty = driver.no_data = driver.no_merge = false;
    driver.other_driver = 0;
    snprintf(folder, sizeof folder, "/tmp/vd-pipelines-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void end(void) {
    assert_int_equal(driver.caches, 0);
    while (cache_files()) assert_int_equal(remove(file_path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static vd_context *open_context(fixture *f) {
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    desc.cache_directory = folder;
    desc.get_instance_proc_addr = (void (*)(void))instance_proc;
    desc.device = 1 + vd_device(f->ctx, 0)->index;
    OK(vd_context_create(&desc, &ctx));
    return ctx;
}

/* x[i] += constant: a different module for each constant */
static vd_kernel adder(vd_context *ctx, uint32_t constant) {
    vc_kernel *k = kernel_begin(ctx, "adder", 64, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    VC_EACH(k, i) { vc_store(x, i, vc_add(vc_load(x, i), vc_u32(1000 + constant))); }
    return kernel_end(ctx, k);
}

/* Creates and runs kernels first … first + count - 1. */
static void use_kernels(vd_context *ctx, uint32_t first, uint32_t count) {
    uint32_t sum = 0;
    vd_buffer x = buffer_u32(ctx, "x", 1, NULL);
    for (uint32_t i = first; i < first + count; i++) {
        vd_kernel k = adder(ctx, i);
        OK(vd_run(ctx, k, 1, vd_b(x)));
        sum += 1000 + i;
        vd_kernel_destroy(ctx, k);
    }
    assert_int_equal(read_u32(ctx, x, 0), sum);
    vd_buffer_destroy(ctx, x);
}

/* One context that creates these kernels. Returns how many pipelines it found in the file. */
static uint32_t run_context(fixture *f, uint32_t first, uint32_t count, uint64_t hits) {
    vd_context *ctx = open_context(f);
    driver.found = 0;
    assert_int_equal(stats_of(ctx).cache_hits, hits);
    assert_int_equal(stats_of(ctx).cache_misses, 1 - hits);
    use_kernels(ctx, first, count);
    uint32_t found = driver.found;
    vd_context_destroy(ctx);
    return found;
}

/* ---- tests ---- */

TEST_EXECUTED(a_second_context_finds_pipelines) {
    struct stat status;
    begin();
    assert_int_equal(run_context(f, 0, 3, 0), 0);
    assert_int_equal(cache_files(), 1);
    assert_non_null(strstr(file_path, "/vkdispatch-vulkan-"));
    assert_int_equal(stat(file_path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(run_context(f, 0, 3, 1), 3);
    assert_int_equal(run_context(f, 2, 2, 1), 1);
    assert_int_equal(run_context(f, 0, 4, 1), 4);
    assert_int_equal(cache_files(), 1);
    end();
}

TEST_EXECUTED(nothing_new_is_not_written) {
    struct stat before, after;
    begin();
    run_context(f, 0, 3, 0);
    cache_files();
    assert_int_equal(stat(file_path, &before), 0);
    assert_int_equal(run_context(f, 0, 3, 1), 3);
    assert_int_equal(stat(file_path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino); /* a write replaces the file */
    end();
}

/* Many new pipelines are written before the context is destroyed: a crash does not lose them. */
TEST_EXECUTED(many_new_pipelines_are_written_at_once) {
    begin();
    vd_context *ctx = open_context(f);
    use_kernels(ctx, 0, 40);
    assert_int_equal(stats_of(ctx).cache_writes, 0);
    use_kernels(ctx, 40, 30);
    assert_int_equal(stats_of(ctx).cache_writes, 1);
    assert_int_equal(cache_files(), 1);
    assert_in_range(run_context(f, 0, 70, 1), 60, 70); /* the library's own kernels count too */
    vd_context_destroy(ctx);
    assert_int_equal(run_context(f, 0, 70, 1), 70);
    end();
}

static size_t read_file(char *bytes, size_t capacity) {
    FILE *file = fopen(file_path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, capacity, file);
    assert_true(size && size < capacity);
    fclose(file);
    return size;
}

static void write_file(const char *bytes, size_t size) {
    FILE *file = fopen(file_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* The file is ignored with a warning, and replaced. */
static void check_replaced(fixture *f) {
    f->messages = 0;
    assert_int_equal(run_context(f, 0, 2, 0), 0);
    if (!strstr(f->message, "is ignored")) fail_msg("logged: '%s'", f->message);
    assert_true(f->messages >= 1);
    assert_int_equal(run_context(f, 0, 2, 1), 2);
}

TEST_EXECUTED(damaged_files_are_ignored) {
    char bytes[1 << 16];
    begin();
    run_context(f, 0, 2, 0);
    assert_int_equal(cache_files(), 1);
    size_t size = read_file(bytes, sizeof bytes);
    for (size_t i = 0; i < size; i += i < 96 ? 7 : 61) {
        bytes[i] ^= 0x20;
        write_file(bytes, size);
        check_replaced(f);
        bytes[i] ^= 0x20;
    }
    const size_t lengths[] = { 0, 1, 40, 47, 56, 90, 91, size / 2, size - 1 };
    for (size_t i = 0; i < COUNT(lengths); i++) {
        write_file(bytes, lengths[i]);
        check_replaced(f);
    }
    bytes[size] = 0;
    write_file(bytes, size + 1);
    check_replaced(f);
    end();
}

/* A driver with another pipelineCacheUUID has a file of its own; its data never reach this driver. */
TEST_EXECUTED(files_of_other_drivers_are_ignored) {
    char own[512], bytes[1 << 16];
    begin();
    run_context(f, 0, 2, 0);
    assert_int_equal(cache_files(), 1);
    snprintf(own, sizeof own, "%s", file_path);
    size_t size = read_file(bytes, sizeof bytes);
    driver.other_driver = 1;
    assert_int_equal(run_context(f, 0, 2, 0), 0);
    assert_int_equal(cache_files(), 2);
    assert_int_equal(run_context(f, 0, 2, 1), 2);
    assert_int_equal(remove(own), 0);
    assert_int_equal(cache_files(), 1);
    write_file(bytes, size);
    check_replaced(f);
    end();
}

TEST_EXECUTED(a_driver_that_refuses_the_data) {
    begin();
    run_context(f, 0, 2, 0);
    driver.refuse_data = true;
    assert_int_equal(run_context(f, 0, 2, 1), 0);
    assert_true(driver.refused >= 1);
    driver.refuse_data = false;
    assert_int_equal(run_context(f, 0, 2, 1), 2);
    end();
}

TEST_EXECUTED(files_that_others_can_write_are_ignored) {
    char other[600];
    begin();
    run_context(f, 0, 2, 0);
    assert_int_equal(cache_files(), 1);
    assert_int_equal(chmod(file_path, 0666), 0);
    check_replaced(f);
    snprintf(other, sizeof other, "%s.real", file_path);
    assert_int_equal(rename(file_path, other), 0);
    assert_int_equal(symlink(strrchr(other, '/') + 1, file_path), 0);
    check_replaced(f);
    end();
}

/* Neither a folder that does not exist nor one that cannot be written is an error. */
TEST_EXECUTED(folders_that_cannot_be_written) {
    begin();
    assert_int_equal(rmdir(folder), 0);
    vd_context *ctx = open_context(f);
    use_kernels(ctx, 0, 70);
    assert_int_equal(stats_of(ctx).cache_writes, 0);
    vd_context_destroy(ctx);
    int warnings = f->messages;
    assert_true(warnings > 0);
    assert_int_equal(mkdir(folder, 0500), 0);
    ctx = open_context(f);
    use_kernels(ctx, 0, 70);
    assert_int_equal(stats_of(ctx).cache_writes, geteuid() == 0); /* root may write */
    vd_context_destroy(ctx);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(f->messages == warnings, geteuid() == 0);
    end();
}

TEST_EXECUTED(calls_of_the_driver_fail) {
    begin();
    driver.no_merge = true;
    run_context(f, 0, 2, 0);
    driver.no_merge = false;
    driver.no_data = true;
    run_context(f, 0, 2, 0);
    driver.no_data = false;
    driver.empty = true;
    run_context(f, 0, 2, 0);
    assert_int_equal(cache_files(), 0);
    end();
}

/* What one context writes, another one that has been open for longer keeps. */
TEST_EXECUTED(two_contexts_keep_each_others_pipelines) {
    begin();
    vd_context *a = open_context(f), *b = open_context(f);
    use_kernels(a, 0, 3);
    use_kernels(b, 2, 3);
    vd_context_destroy(a);
    vd_context_destroy(b);
    assert_int_equal(cache_files(), 1);
    assert_int_equal(run_context(f, 0, 5, 1), 5);
    end();
}

enum { THREADS = 4, EACH = 90 };

typedef struct work { vd_context *ctx; uint32_t first; } work;

static void *work_run(void *user) {
    const work *w = (const work *)user;
    use_kernels(w->ctx, w->first, EACH);
    return NULL;
}

TEST_EXECUTED(threads_of_two_contexts) {
    pthread_t threads[THREADS];
    work works[THREADS];
    begin();
    vd_context *both[2] = { open_context(f), open_context(f) };
    for (uint32_t i = 0; i < THREADS; i++) {
        works[i].ctx = both[i % 2];
        works[i].first = i * EACH;
        assert_int_equal(pthread_create(&threads[i], NULL, work_run, &works[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(stats_of(both[i]).cache_writes >= 1);
        vd_context_destroy(both[i]);
    }
    assert_int_equal(cache_files(), 1); /* and no temporary file */
    assert_int_equal(run_context(f, 0, THREADS * EACH, 1), THREADS * EACH);
    end();
}

/* The driver's own pipeline caches: whether it writes a file depends on the driver, but a file that it has written is
   used. */
TEST_EXECUTED(pipelines_of_the_driver) {
    uint64_t written = 0;
    begin();
    for (int run = 0; run < 3; run++) {
        vd_context_desc desc = fixture_desc(f);
        vd_context *ctx = NULL;
        desc.cache_directory = folder;
        desc.device = 1 + vd_device(f->ctx, 0)->index;
        OK(vd_context_create(&desc, &ctx));
        assert_int_equal(stats_of(ctx).cache_hits, written ? 1 : 0);
        use_kernels(ctx, 0, 70);
        vd_context_destroy(ctx);
        written = (uint64_t)cache_files();
        assert_in_range(written, 0, 1);
    }
    print_message("# the driver's file: %s\n", written ? "written and used" : "none, because it returns no pipelines");
    end();
}

static const struct CMUnitTest cases[] = {
    CASE(a_second_context_finds_pipelines), CASE(nothing_new_is_not_written),
    CASE(many_new_pipelines_are_written_at_once), CASE(damaged_files_are_ignored),
    CASE(files_of_other_drivers_are_ignored), CASE(a_driver_that_refuses_the_data),
    CASE(files_that_others_can_write_are_ignored), CASE(folders_that_cannot_be_written),
    CASE(calls_of_the_driver_fail), CASE(two_contexts_keep_each_others_pipelines), CASE(threads_of_two_contexts),
    CASE(pipelines_of_the_driver),
};

int main(void) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL),
         *found = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    if (!found) {
        printf("# reason: there is no libvulkan.so.1\nok 1 - pipeline_cache # SKIP all of its tests\n1..1\n");
        return 0;
    }
    memcpy(&driver.instance_proc, &found, sizeof found);
    the_fixture.backend = VD_BACKEND_VULKAN;
    return RUN_CASES("pipeline caches on vulkan", cases);
}

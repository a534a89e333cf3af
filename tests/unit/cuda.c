/* The CUDA backend on a fake driver (tests/fake/libcuda.c), which does everything except run kernels. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <unistd.h>

static char cuda_folder[64];
static void (*fake_fail)(const char *call, int result, int after);
static void (*fake_fault)(int result);
static void (*fake_stall)(int on);
static void (*fake_hold)(int on);
static void (*fake_devices)(int count, int values);
static long (*fake_count)(const char *what);
static const char *(*fake_parameters)(void);
static int (*fake_push)(void *context);
static int (*fake_pop)(void **context);

#define FIND(library, function, name) do { \
        void *found_ = dlsym(library, name); \
        assert_non_null(found_); \
        memcpy((void *)&function, &found_, sizeof found_); \
    } while (0)

static int cuda_setup(void **state) {
    (void)state;
    void *library = dlopen(unit_fake_cuda, RTLD_NOW);
    if (!library) fail_msg("%s", dlerror());
    FIND(library, fake_fail, "fake_fail");
    FIND(library, fake_fault, "fake_fault");
    FIND(library, fake_stall, "fake_stall");
    FIND(library, fake_hold, "fake_hold");
    FIND(library, fake_devices, "fake_devices");
    FIND(library, fake_count, "fake_count");
    FIND(library, fake_parameters, "fake_parameters");
    FIND(library, fake_push, "cuCtxPushCurrent_v2");
    FIND(library, fake_pop, "cuCtxPopCurrent_v2");
    setenv("VKDISPATCH_LIBCUDA", unit_fake_cuda, 1);
    setenv("VKDISPATCH_NVRTC", unit_fake_cuda, 1);
    fake_devices(2, 1);
    return 0;
}

/* After every test: everything created in the driver has been destroyed. */
static int cuda_teardown(void **state) {
    (void)state;
    void *context;
    fake_fault(0);
    fake_stall(0);
    fake_hold(0);
    fake_fail("", 0, 0);
    if (fake_count("live") || fake_count("contexts"))
        print_error("%ld objects, %ld contexts are left\n", fake_count("live"), fake_count("contexts"));
    if (fake_count("garbage"))
        print_error("outputs of failed calls were handed back %ld times\n", fake_count("garbage"));
    return fake_count("live") || fake_count("contexts") || fake_count("garbage") || !fake_pop(&context);
}

static vd_result open_context(vd_context **ctx, const char *cache, const vd_allocator *allocator) {
    vd_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_CUDA;
    desc.cache_directory = cache;
    if (allocator) desc.allocator = *allocator;
    return vd_context_create(&desc, ctx);
}

static vd_context *context(void) {
    vd_context *ctx = NULL;
    if (open_context(&ctx, NULL, NULL)) fail_msg("%s", vd_error_text());
    return ctx;
}

/* Its interface is one buffer and one number. */
static vd_kernel text_kernel(vd_context *ctx, vd_code kind, const void *code, size_t size, const char *entry) {
    static const vd_arg_info args[] = {
        { "x", VD_ARG_ADDRESS, VD_F32, VD_READ_WRITE, 0, 8, 0, false, false,
          VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false, 0 },
        { "a", VD_ARG_VALUE, VD_F32, 0, 8, 4, 0, false, false, VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false, 0 }
    };
    vd_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.name = "scale";
    d.code_kind = kind;
    d.code = code;
    d.code_size = size;
    d.entry = entry;
    d.args = args;
    d.arg_count = 2;
    d.argument_bytes = 12;
    d.local_size[0] = 256;
    d.local_size[1] = d.local_size[2] = 1;
    return vd_kernel_create(ctx, &d);
}

static const char scale[] = "extern \"C\" __global__ void scale(float *x, float a) { x[blockIdx.x * 256 + threadIdx.x] *= a; }\n";

static void refuse(vd_context *ctx, vd_code kind, const void *code, size_t size, const char *entry, const char *part) {
    assert_true(text_kernel(ctx, kind, code, size, entry).id == 0);
    CHECK_TEXT("vd_kernel_create 'scale'");
    CHECK_TEXT(part);
}

/* ---- devices ---- */

static void a_missing_library_is_reported(void **state) {
    (void)state;
    vd_context *ctx = NULL;
    setenv("VKDISPATCH_LIBCUDA", "/nowhere/libcuda.so", 1);
    vd_error_set(VD_ERROR_INVALID, "an earlier failure");
    assert_int_equal(vd_devices(VD_BACKEND_CUDA, NULL, 0), 0);
    assert_string_equal(vd_error_text(), "an earlier failure");
    assert_int_equal(vd_error_result(), VD_ERROR_INVALID);
    assert_int_equal(open_context(&ctx, NULL, NULL), VD_ERROR_NO_DEVICE);
    CHECK_TEXT("/nowhere/libcuda.so could not be opened (from VKDISPATCH_LIBCUDA)");
    setenv("VKDISPATCH_LIBCUDA", "libm.so.6", 1);
    assert_int_equal(open_context(&ctx, NULL, NULL), VD_ERROR_NO_DEVICE);
    CHECK_TEXT("the CUDA driver has no function cuInit");
    setenv("VKDISPATCH_LIBCUDA", unit_fake_cuda, 1);
    fake_devices(0, 1);
    assert_int_equal(open_context(&ctx, NULL, NULL), VD_ERROR_NO_DEVICE);
    CHECK_TEXT("the CUDA driver found no device");
}

static void devices_are_described(void **state) {
    (void)state;
    vd_device_info info[2];
    assert_int_equal(vd_devices(VD_BACKEND_CUDA, info, 2), 2);
    assert_string_equal(info[1].name, "fake CUDA device 1");
    assert_string_equal(info[0].driver, "CUDA 12.4, compute capability 9.0");
    assert_int_equal(info[0].backend, VD_BACKEND_CUDA);
    assert_int_equal(info[0].device_id, 0x2330);
    assert_int_equal(info[0].uuid[15], 0x40);
    assert_int_equal(info[0].limits.max_groups[0], 2147483647);
    assert_int_equal(info[0].limits.max_groups[2], 65535);
    assert_int_equal(info[0].limits.max_local_size[2], 64);
    assert_int_equal(info[0].limits.max_shared_bytes, 232448);
    assert_int_equal(info[0].limits.subgroup_size, 32);
    assert_int_equal(info[0].facts.code, VD_CODE_CUDA);
    assert_int_equal(info[0].facts.concurrent_groups, 16); /* 4 multiprocessors */
    assert_true(info[0].facts.executes && info[0].facts.forward_progress && !info[0].facts.groups_as_loops);
    assert_true(info[0].device_memory == (uint64_t)8 << 30 && info[0].features & VD_FEATURE_ADDRESS);
    vd_context *ctx = context();
    assert_int_equal(vd_device(ctx, 0)->index, 0); /* has more memory */
    assert_true(vd_device(ctx, 0)->device_budget == (uint64_t)7 << 30);
    vd_context_destroy(ctx);
}

/* Each driver call of vd_context_create fails once. */
static void failed_opening_leaks_nothing(void **state) {
    static const char *const calls[] = { "cuInit",         "cuDeviceGetCount", "cuDevicePrimaryCtxRetain",
                                         "cuStreamCreate", "cuMemHostAlloc",   "cuMemHostGetDevicePointer_v2" };
    (void)state;
    for (size_t i = 0; i < VD__COUNT(calls); i++) {
        vd_context *ctx = NULL;
        fake_devices(1, 1);
        fake_fail(calls[i], 999, 0);
        assert_int_not_equal(open_context(&ctx, NULL, NULL), VD_OK);
        CHECK_TEXT(strcmp(calls[i], "cuMemHostGetDevicePointer_v2") ? calls[i] : "cuMemHostGetDevicePointer");
        assert_int_equal(fake_count("live"), 0);
    }
}

/* ---- memory and transfers ---- */

static void transfer(vd_context *ctx) {
    uint32_t from[1000], got[1000], word = 7;
    for (uint32_t i = 0; i < 1000; i++) from[i] = i * i;
    vd_buffer a = unit_buffer(ctx, "a", VD_U32, 1000, from), b = unit_buffer(ctx, "b", VD_U32, 1000, NULL);
    vd_list *l = vd_immediate(ctx, 0, 0);
    assert_int_equal(vd_copy(l, b, 400, a, 0, 2000), VD_OK);
    assert_int_equal(vd_fill(l, b, 4, 8, &word, 4), VD_OK);
    assert_int_equal(vd_fill(l, b, 17, 5, "\3", 1), VD_OK);
    assert_int_equal(vd_buffer_read(ctx, b, 0, got, VD_WHOLE), VD_OK);
    assert_true(got[0] == 0 && got[1] == 7 && got[2] == 7 && got[3] == 0 && got[4] == 0x03030300
                && got[5] == 0x00000303);
    for (uint32_t i = 0; i < 500; i++) assert_int_equal(got[100 + i], i * i);
    assert_int_equal(got[600], 0);
    vd_buffer_info info;
    assert_int_equal(vd_buffer_query(ctx, b, &info), VD_OK);
    assert_true(info.address != 0 && info.address % 256 == 0);
}

static void transfers_work_with_either_timeline(void **state) {
    (void)state;
    for (int values = 0; values < 2; values++) {
        fake_devices(2, values);
        vd_context *ctx = context();
        for (int i = 0; i < 50; i++) transfer(ctx);
        vd_context_destroy(ctx);
    }
}

/* A copy of ten rows is one driver call. */
static void rows_are_copied_in_one_call(void **state) {
    (void)state;
    vd_context *ctx = context();
    uint8_t from[400], got[400];
    for (int i = 0; i < 400; i++) from[i] = (uint8_t)i;
    vd_copy_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.from = unit_buffer(ctx, "from", VD_BYTES, 400, from);
    desc.to = unit_buffer(ctx, "to", VD_BYTES, 400, NULL);
    desc.from_offset = 3;
    desc.to_offset = 5;
    desc.row_bytes = 7;
    desc.rows = 10;
    desc.from_pitch = 40;
    desc.to_pitch = 11;
    long before = fake_count("blits");
    assert_int_equal(vd_copy_region(vd_immediate(ctx, 0, 0), &desc), VD_OK);
    assert_int_equal(vd_buffer_read(ctx, desc.to, 0, got, VD_WHOLE), VD_OK);
    assert_int_equal(fake_count("blits"), before + 1);
    for (int i = 0; i < 400; i++) {
        int row = (i - 5) / 11, column = (i - 5) % 11;
        assert_int_equal(got[i], i >= 5 && row < 10 && column < 7 ? from[3 + 40 * row + column] : 0);
    }
    vd_context_destroy(ctx);
}

/* The timeline's lower 32 bits wrap. */
static void a_timeline_of_32_bits_is_extended(void **state) {
    (void)state;
    fake_devices(1, 0);
    vd_context *ctx = context();
    ctx->queues[0].submitted = ctx->queues[0].completed = 0xFFFFFFF0u;
    vd__cu_queue *q = &vd__cu_device_of(&ctx->devices[0].device)->queues[0];
    *q->timeline = q->submitted = q->sent = 0xFFFFFFF0u;
    for (int i = 0; i < 20; i++) transfer(ctx);
    assert_true(ctx->queues[0].completed > 0x100000000u);
    vd_context_destroy(ctx);
}

static void the_current_context_is_restored(void **state) {
    (void)state;
    static int other;
    void *now = NULL;
    assert_int_equal(fake_push(&other), 0);
    vd_context *ctx = context();
    transfer(ctx);
    vd_kernel k = text_kernel(ctx, VD_CODE_CUDA, scale, 0, NULL);
    assert_true(k.id != 0);
    vd_kernel_destroy(ctx, k);
    vd_context_destroy(ctx);
    assert_int_equal(fake_pop(&now), 0);
    assert_ptr_equal(now, &other);
}

static void device_memory_runs_out(void **state) {
    (void)state;
    vd_context *ctx = context();
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.shape[0] = (uint64_t)3 << 30; /* fits the device's memory, but the fake refuses it */
    assert_true(vd_buffer_create(ctx, &desc).id == 0);
    CHECK_TEXT("cuMemAlloc of 3221225472 bytes failed: FAKE_ERROR_2");
    transfer(ctx);
    vd_context_destroy(ctx);
}

/* ---- sparse buffers ---- */

static vd_buffer sparse_buffer(vd_context *ctx, uint64_t bytes) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "sparse";
    desc.shape[0] = bytes;
    desc.sparse = true;
    return vd_buffer_create(ctx, &desc);
}

/* Only devices with virtual memory management have sparse buffers; the second device of the fake lacks it. */
static void sparse_buffers_need_virtual_memory(void **state) {
    (void)state;
    vd_device_info info[2];
    vd_context_desc desc;
    vd_context *ctx = NULL;
    assert_int_equal(vd_devices(VD_BACKEND_CUDA, info, 2), 2);
    assert_true(info[0].limits.sparse_page_bytes == 2 << 20 && info[0].limits.max_sparse_bytes == (uint64_t)1 << 40);
    assert_true(!info[1].limits.sparse_page_bytes && !info[1].limits.max_sparse_bytes);
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_CUDA;
    desc.device = 2;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    assert_true(sparse_buffer(ctx, 1024).id == 0);
    CHECK_TEXT("desc.sparse is set, but device 'fake CUDA device 1' has no sparse buffers (limits.sparse_page_bytes is 0)");
    vd_context_destroy(ctx);
    fake_fail("cuMemGetAllocationGranularity", 801, 0);
    assert_int_equal(vd_devices(VD_BACKEND_CUDA, info, 2), 2);
    assert_true(!info[0].limits.sparse_page_bytes);
}

/* After a failure, no page of the call has memory, and the next call binds all. */
static void failures_to_bind_pages(void **state) {
    static const struct { const char *call, *text; int result, after; vd_result expected; } failures[] = {
        { "cuMemCreate", "cuMemCreate of 2097152 bytes failed: FAKE_ERROR_2", 2, 1, VD_ERROR_OUT_OF_DEVICE_MEMORY },
        { "cuMemCreate", "cuMemCreate of 2097152 bytes failed: FAKE_ERROR_801", 801, 2, VD_ERROR_BACKEND },
        { "cuMemMap", "cuMemMap of page 3 failed", 800, 2, VD_ERROR_BACKEND },
        { "cuMemSetAccess", "cuMemSetAccess of 3 pages failed", 801, 0, VD_ERROR_BACKEND },
        { "cuStreamWriteValue64_v2", "cuStreamWriteValue64 of a timeline failed", 1, 0, VD_ERROR_BACKEND },
    };
    (void)state;
    const uint64_t page = 2 << 20;
    vd_context *ctx = context();
    fake_fail("cuMemAddressReserve", 2, 0);
    assert_true(sparse_buffer(ctx, page).id == 0);
    CHECK_TEXT("vd_buffer_create 'sparse'");
    CHECK_TEXT("cuMemAddressReserve of 2097152 bytes failed: FAKE_ERROR_2");
    vd_buffer b = sparse_buffer(ctx, 5 * page);
    transfer(ctx); /* allocates staging memory */
    long live = fake_count("live");
    for (size_t i = 0; i < VD__COUNT(failures); i++) {
        uint32_t got = 1;
        fake_fail(failures[i].call, failures[i].result, failures[i].after);
        assert_int_equal(vd_buffer_bind(ctx, b, page, 3 * page), failures[i].expected);
        CHECK_TEXT("vd_buffer_bind 'sparse'");
        CHECK_TEXT(failures[i].text);
        assert_int_equal(fake_count("live"), live);
        assert_int_equal(vd_buffer_bind(ctx, b, page, 3 * page), VD_OK);
        assert_int_equal(vd_buffer_read(ctx, b, 4 * page - 4, &got, 4), VD_OK);
        assert_int_equal(got, 0);
        assert_int_equal(vd_buffer_unbind(ctx, b, page, 3 * page), VD_OK);
        assert_int_equal(fake_count("live"), live);
    }
    assert_int_equal(vd_buffer_bind(ctx, b, 0, VD_WHOLE), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    live = fake_count("live");
    fake_fail("cuStreamWriteValue64_v2", 1, 0);
    assert_int_equal(vd_buffer_unbind(ctx, b, page, page), VD_ERROR_BACKEND);
    assert_int_equal(fake_count("live"), live); /* the page keeps its memory */
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, 0, VD_WHOLE, NULL, 0), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    vd_context_destroy(ctx); /* with bound pages */
}

/* ---- memory and streams of the application ---- */

typedef struct release_record { int times; uint64_t address; } release_record;
static void released(void *user, uint64_t address) {
    release_record *record = (release_record *)user;
    record->times++;
    record->address = address;
}

/* A buffer of one context, imported into another as device memory of the application. */
static void imported_device_memory(void **state) {
    (void)state;
    vd_context *ctx = context(), *other = context();
    uint32_t data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[8];
    vd_buffer a = unit_buffer(other, "a", VD_U32, 8, data);
    vd_buffer_info info;
    release_record t = { 0, 0 };
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    assert_int_equal(vd_wait_idle(other), VD_OK);
    assert_int_equal(vd_buffer_query(other, a, &info), VD_OK);
    desc.name = "seen";
    desc.type = VD_U32;
    desc.shape[0] = 8;
    desc.address = info.address;
    desc.release = released;
    desc.release_user = &t;
    vd_buffer b = vd_buffer_create(ctx, &desc), c = vd_buffer_create(ctx, &desc);
    assert_true(b.id && c.id);
    assert_int_equal(vd_buffer_read(ctx, b, 0, got, VD_WHOLE), VD_OK);
    assert_memory_equal(got, data, sizeof data);
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, 4, 8, NULL, 0), VD_OK);
    assert_int_equal(vd_buffer_query(ctx, b, &info), VD_OK);
    assert_true(info.address == desc.address);
    vd_buffer_destroy(ctx, b);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_true(t.times == 1 && t.address == desc.address);
    desc.address += 8;
    assert_true(vd_buffer_create(ctx, &desc).id == 0);
    CHECK_TEXT("is not a multiple of 16");
    desc.address -= 8;
    desc.data = data;
    assert_true(vd_buffer_create(ctx, &desc).id == 0);
    CHECK_TEXT("desc.data are both set, but imported memory keeps its contents");
    vd_context_destroy(ctx); /* c is not destroyed before */
    assert_int_equal(t.times, 2);
    assert_int_equal(vd_buffer_read(other, a, 0, got, VD_WHOLE), VD_OK);
    assert_true(got[0] == 1 && got[1] == 0 && got[2] == 0 && got[3] == 4);
    vd_context_destroy(other);
}

static vd_buffer external_buffer(vd_context *ctx, const vd_external *e, uint64_t words, release_record *t) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "external";
    desc.type = VD_U32;
    desc.shape[0] = words;
    desc.external = e;
    desc.release = released;
    desc.release_user = t;
    return vd_buffer_create(ctx, &desc);
}

/* The fake accepts any file as memory of another API. */
static vd_external external_file(vd_context *ctx, uint32_t *words, uint32_t count) {
    FILE *file = tmpfile();
    vd_external e;
    memset(&e, 0, sizeof e);
    assert_non_null(file);
    assert_true(fwrite(words, 4, count, file) == count && !fflush(file));
    e.handle = dup(fileno(file));
    fclose(file);
    e.size = 4 * (uint64_t)count;
    memcpy(e.uuid, vd_device(ctx, 0)->uuid, sizeof e.uuid);
    return e;
}

static void external_memory(void **state) {
    (void)state;
    enum { COUNT = 4096 };
    static uint32_t words[COUNT];
    vd_context *ctx = context();
    uint32_t got[4], word = 99;
    release_record t = { 0, 0 };
    vd_buffer_info info;
    for (uint32_t i = 0; i < COUNT; i++) words[i] = i;
    vd_external e = external_file(ctx, words, COUNT);
    e.offset = 1024;
    vd_buffer b = external_buffer(ctx, &e, 100, &t);
    assert_true(b.id != 0);
    assert_int_equal(vd_buffer_query(ctx, b, &info), VD_OK);
    assert_true(info.imported && info.address && info.size == 400);
    assert_int_equal(vd_buffer_read(ctx, b, 8, got, sizeof got), VD_OK);
    assert_true(got[0] == 258 && got[3] == 261);
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, 4, 4, &word, 4), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_true(pread((int)e.handle, got, 4, 1028) == 4 && got[0] == 99); /* the caller still owns the handle */
    vd_buffer_destroy(ctx, b);
    assert_int_equal(t.times, 1);
    const struct {
        const char *call, *text;
    } calls[] = { { "cuImportExternalMemory", "cuImportExternalMemory of 16384 bytes failed" },
                  { "cuExternalMemoryGetMappedBuffer",
                    "cuExternalMemoryGetMappedBuffer of 400 bytes at 1024 failed" } };
    for (size_t i = 0; i < 2; i++) {
        fake_fail(calls[i].call, 1, 0);
        assert_true(external_buffer(ctx, &e, 100, &t).id == 0);
        CHECK_TEXT("vd_buffer_create 'external'");
        CHECK_TEXT(calls[i].text);
        assert_true(pread((int)e.handle, got, 4, 0) == 4);
    }
    e.uuid[3] ^= 1;
    assert_true(external_buffer(ctx, &e, 100, &t).id == 0);
    CHECK_TEXT("desc.external belongs to another device (UUID 40404041");
    e.uuid[3] ^= 1;
    assert_true(external_buffer(ctx, &e, COUNT, &t).id == 0);
    CHECK_TEXT("the buffer needs 16384 bytes (with desc.address_offset) at desc.external->offset 1024, but "
               "desc.external->size is 16384");
    close((int)e.handle);
    assert_true(external_buffer(ctx, &e, 100, &t).id == 0);
    CHECK_TEXT("which is not an open handle");
    assert_int_equal(t.times, 1);
    vd_context_destroy(ctx);
}

/* A tensor may start at any address of device memory. */
static void a_tensor_in_device_memory(void **state) {
    (void)state;
    vd_context *ctx = context(), *other = context();
    uint32_t data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    vd_buffer a = unit_buffer(other, "a", VD_U32, 8, data);
    vd_view_desc part;
    struct DLManagedTensor *t = NULL;
    memset(&part, 0, sizeof part);
    part.buffer = a;
    part.offset = 4;
    part.type = VD_U32;
    part.shape[0] = 5;
    vd_buffer view = vd_buffer_view(other, &part);
    assert_int_equal(vd_dlpack_export(other, view, 0, &t), VD_OK);
    vd_buffer b = vd_dlpack_import(ctx, t, "seen");
    vd_context_destroy(other); /* its memory lives until b is destroyed */
    vd_buffer_info info, of_view;
    assert_int_equal(vd_buffer_query(ctx, b, &info), VD_OK);
    assert_true(info.imported && info.size == 20 && info.address % 16 == 4);
    assert_int_equal(vd_buffer_read(ctx, b, 4, data, 16), VD_OK);
    assert_true(data[0] == 3 && data[3] == 6);
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, 0, 4, NULL, 0), VD_OK);
    part.buffer = b;
    part.shape[0] = 0;
    view = vd_buffer_view(ctx, &part);
    assert_int_equal(vd_buffer_query(ctx, view, &of_view), VD_OK);
    assert_true(of_view.address == info.address + 4 && of_view.size == 16);
    vd_kernel k = text_kernel(ctx, VD_CODE_CUDA, scale, 0, NULL);
    part.type = VD_F32;
    assert_int_equal(vd_run(ctx, k, 4, vd_b(vd_buffer_view(ctx, &part)), vd_f32(2)), VD_OK);
    assert_int_equal(vd_flush(ctx), VD_OK);
    uint64_t address = 0;
    memcpy(&address, fake_parameters(), 8);
    assert_true(address == info.address + 4);
    vd_context_destroy(ctx);
}

static void a_stream_of_the_application(void **state) {
    (void)state;
    static int primary;
    vd_context_desc desc;
    vd_context *ctx = NULL;
    int (*create)(void **stream, unsigned flags), (*destroy)(void *stream);
    void *library = dlopen(unit_fake_cuda, RTLD_NOW), *stream, *now;
    FIND(library, create, "cuStreamCreate");
    FIND(library, destroy, "cuStreamDestroy_v2");
    fake_push(&primary);
    assert_int_equal(create(&stream, 1), 0);
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_CUDA;
    desc.cuda_stream = stream;
    long live = fake_count("live");
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    assert_ptr_equal(vd__cu_device_of(&ctx->devices[0].device)->queues[0].stream, stream);
    transfer(ctx);
    vd_context_destroy(ctx);
    assert_int_equal(fake_count("live"), live);
    assert_int_equal(destroy(stream), 0);
    fake_pop(&now);
    dlclose(library);
}

/* ---- stream capture ---- */

/* A context on a stream of the application, and the functions that capture that stream. */
typedef struct guest {
    vd_context *ctx;
    void *library, *stream;
    int (*destroy)(void *stream), (*begin)(void *stream, int mode), (*end)(void *stream, void **graph);
    void (*launch)(void);
} guest;

static void guest_open(guest *g, int queues, uint64_t disable) {
    static int primary;
    int (*create)(void **stream, unsigned flags);
    vd_context_desc desc;
    g->library = dlopen(unit_fake_cuda, RTLD_NOW);
    FIND(g->library, create, "cuStreamCreate");
    FIND(g->library, g->destroy, "cuStreamDestroy_v2");
    FIND(g->library, g->begin, "cuStreamBeginCapture_v2");
    FIND(g->library, g->end, "cuStreamEndCapture");
    FIND(g->library, g->launch, "fake_graph_launch");
    fake_push(&primary);
    assert_int_equal(create(&g->stream, 1), 0);
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_CUDA;
    desc.cuda_stream = g->stream;
    desc.queues = queues;
    desc.disable = disable;
    assert_int_equal(vd_context_create(&desc, &g->ctx), VD_OK);
}

static void guest_close(guest *g) {
    void *now;
    vd_context_destroy(g->ctx);
    assert_int_equal(g->destroy(g->stream), 0);
    fake_pop(&now);
    dlclose(g->library);
}

/* Work submitted during a capture runs each time the graph is launched. The library makes no call that is forbidden
   during a capture, and does not wait for captured work. */
static void a_capture(int mode) {
    guest g;
    guest_open(&g, 1, 0);
    uint32_t x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[8];
    vd_buffer a = unit_buffer(g.ctx, "a", VD_U32, 8, x), b = unit_buffer(g.ctx, "b", VD_U32, 8, x),
              f = unit_buffer(g.ctx, "f", VD_F32, 8, NULL);
    vd_kernel k = text_kernel(g.ctx, VD_CODE_CUDA, scale, 0, NULL);
    vd_list *l = vd_immediate(g.ctx, 0, 0), *own;
    vd_event event;
    assert_int_equal(vd_wait_idle(g.ctx), VD_OK);
    long launches = fake_count("launches"), forbidden = fake_count("forbidden");
    void *graph = NULL;
    assert_int_equal(g.begin(g.stream, mode), 0);
    assert_int_equal(vd_run(g.ctx, k, 8, vd_b(f), vd_f32(2)), VD_OK);
    assert_int_equal(vd_copy(l, b, 0, a, 4, 16), VD_OK);
    assert_int_equal(vd_submit(l, NULL, &event), VD_OK);
    assert_int_equal(vd_wait(g.ctx, event, VD_FOREVER), VD_OK);
    own = vd_list_begin(g.ctx, NULL);
    const uint32_t nine = 9;
    assert_int_equal(vd_fill(own, b, 16, 8, &nine, 4), VD_OK);
    assert_int_equal(vd_submit(own, NULL, &event), VD_OK);
    assert_int_equal(vd_wait_idle(g.ctx), VD_OK);
    /* often enough that the library polls the stream */
    for (int i = 0; i < 20000; i++) assert_int_equal(vd_wait(g.ctx, event, 0), VD_OK);
    vd_kernel late = text_kernel(g.ctx, VD_CODE_CUDA, scale, 0, NULL);
    assert_true(late.id != 0);
    vd_kernel_destroy(g.ctx, late);
    assert_int_equal(fake_count("nodes"), 3);
    assert_int_equal(fake_count("forbidden"), forbidden);
    assert_int_equal(fake_count("launches"), launches);
    assert_int_equal(g.end(g.stream, &graph), 0);
    for (int round = 1; round <= 2; round++) {
        const uint32_t wanted[8] = { 2, 3, 4, 5, 9, 9, 7, 8 };
        g.launch();
        assert_int_equal(fake_count("launches"), launches + round);
        assert_int_equal(vd_buffer_read(g.ctx, b, 0, got, VD_WHOLE), VD_OK);
        assert_memory_equal(got, wanted, sizeof got);
        assert_int_equal(vd_buffer_write(g.ctx, b, 0, x, VD_WHOLE), VD_OK);
        assert_int_equal(vd_flush(g.ctx), VD_OK);
    }
    transfer(g.ctx);
    guest_close(&g);
}

static void a_capture_records_submitted_work(void **state) {
    (void)state;
    for (int mode = 0; mode < 3; mode++) a_capture(mode);
    fake_devices(2, 0); /* streams that write 32 bits */
    a_capture(0);
}

/* Staging memory may be reused before a graph runs, so transfers through it are refused during a capture. */
static void a_capture_refuses_staging(void **state) {
    (void)state;
    guest g;
    guest_open(&g, 1, 0);
    uint32_t x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[8];
    vd_buffer a = unit_buffer(g.ctx, "a", VD_U32, 8, x), reals = unit_buffer(g.ctx, "reals", VD_F32, 8, NULL);
    vd_buffer pages = sparse_buffer(g.ctx, 4 << 20);
    assert_int_equal(vd_buffer_bind(g.ctx, pages, 2 << 20, VD_WHOLE), VD_OK);
    vd_list *own = vd_list_begin(g.ctx, NULL);
    assert_int_equal(vd_write(own, a, 0, x + 4, 8), VD_OK);
    assert_int_equal(vd_wait_idle(g.ctx), VD_OK);
    long forbidden = fake_count("forbidden");
    void *graph = NULL;
    vd_event event;
    assert_int_equal(g.begin(g.stream, 0), 0);
    assert_int_equal(vd_buffer_write(g.ctx, a, 0, x, VD_WHOLE), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("the stream of queue 0 is being captured, and a CUDA graph cannot contain transfers through staging memory");
    assert_int_equal(vd_buffer_read(g.ctx, a, 0, got, VD_WHOLE), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("is being captured");
    assert_int_equal(vd_fill(vd_immediate(g.ctx, 0, 0), a, 1, 5, "x", 1), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("is being captured");
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "new";
    desc.type = VD_U32;
    desc.shape[0] = 8;
    assert_true(vd_buffer_create(g.ctx, &desc).id == 0);
    CHECK_TEXT("vd_buffer_create 'new': the stream of queue 0 is being captured");
    desc.data = x;
    assert_true(vd_buffer_create(g.ctx, &desc).id == 0);
    CHECK_TEXT("is being captured");
    assert_int_equal(vd_buffer_bind(g.ctx, pages, 0, 2 << 20), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("vd_buffer_bind 'sparse': pages cannot be bound or unbound while the stream of queue 0 is being captured");
    assert_int_equal(vd_buffer_unbind(g.ctx, pages, 2 << 20, VD_WHOLE), VD_ERROR_UNSUPPORTED);
    desc.memory = VD_MEMORY_UPLOAD;
    vd_buffer up = vd_buffer_create(g.ctx, &desc);
    assert_true(up.id != 0); /* written by the host */
    assert_int_equal(vd_copy(vd_immediate(g.ctx, 0, 0), a, 0, up, 0, 32), VD_OK);
    assert_int_equal(vd_submit(own, NULL, &event), VD_OK);
    assert_int_equal(vd_wait(g.ctx, event, VD_FOREVER), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("is being captured, and a CUDA graph cannot contain transfers through staging memory");
    vd_kernel k = text_kernel(g.ctx, VD_CODE_CUDA, scale, 0, NULL);
    vd_arg args[] = { vd_b(reals), vd_f32(2) };
    vd_dispatch_desc indirect;
    memset(&indirect, 0, sizeof indirect);
    indirect.kernel = k;
    indirect.args = args;
    indirect.arg_count = 2;
    indirect.indirect = a;
    assert_int_equal(vd_dispatch(vd_immediate(g.ctx, 0, 0), &indirect), VD_OK);
    assert_int_equal(vd_flush(g.ctx), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("is being captured, and a CUDA graph cannot contain indirect dispatches");
    assert_int_equal(vd_scope_begin(vd_immediate(g.ctx, 0, 0), "scope"), VD_OK);
    assert_int_equal(vd_scope_end(vd_immediate(g.ctx, 0, 0)), VD_OK);
    assert_int_equal(vd_flush(g.ctx), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("is being captured, and a CUDA graph cannot contain scopes");
    assert_int_equal(vd_flush(g.ctx), VD_OK);
    assert_int_equal(fake_count("nodes"), 1);
    assert_int_equal(fake_count("forbidden"), forbidden);
    assert_int_equal(g.end(g.stream, &graph), 0);
    transfer(g.ctx);
    vd_buffer_destroy(g.ctx, up);
    guest_close(&g);
}

/* An event of the captured stream must not draw our other queue into the capture, and the graph must not wait for work
   outside it. */
static void a_capture_excludes_other_queues(void **state) {
    (void)state;
    guest g;
    guest_open(&g, 2, 0);
    uint32_t x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[8];
    const uint32_t seven = 7;
    vd_buffer a = unit_buffer(g.ctx, "a", VD_U32, 8, x), b = unit_buffer(g.ctx, "b", VD_U32, 8, x);
    assert_int_equal(vd_wait_idle(g.ctx), VD_OK);
    long forbidden = fake_count("forbidden");
    void *graph = NULL;
    assert_int_equal(g.begin(g.stream, 0), 0);
    assert_int_equal(vd_fill(vd_immediate(g.ctx, 0, 0), a, 0, 8, &seven, 4), VD_OK); /* captured */
    assert_int_equal(vd_copy(vd_immediate(g.ctx, 0, 1), b, 0, a, 0, 32), VD_OK);     /* runs now, on the other queue */
    assert_int_equal(vd_buffer_read(g.ctx, b, 0, got, 4), VD_ERROR_UNSUPPORTED);
    assert_int_equal(vd_wait_idle(g.ctx), VD_OK);
    fake_stall(1);
    assert_int_equal(vd_fill(vd_immediate(g.ctx, 0, 1), b, 0, 8, &seven, 4), VD_OK);
    assert_int_equal(vd_flush(g.ctx), VD_OK);
    assert_int_equal(vd_copy(vd_immediate(g.ctx, 0, 0), a, 8, b, 0, 8), VD_OK);
    assert_int_equal(vd_flush(g.ctx), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("queue 0 would have to wait for unfinished work of queue 1, but a stream capture cannot contain this wait");
    assert_int_equal(fake_count("forbidden"), forbidden);
    assert_int_equal(fake_count("nodes"), 1);
    assert_int_equal(g.end(g.stream, &graph), 0);
    fake_stall(0);
    vd_list *l = vd_immediate(g.ctx, 0, 1);
    assert_int_equal(vd_fill(l, b, 0, 4, NULL, 0), VD_OK);
    g.launch();
    assert_int_equal(vd_buffer_read(g.ctx, a, 0, got, 12), VD_OK);
    assert_true(got[0] == 7 && got[1] == 7 && got[2] == 3);
    transfer(g.ctx);
    guest_close(&g);
}

/* Other work of the application invalidated the capture: reported once, then work continues. Queues that share a stream
   share its capture. */
static void an_invalidated_capture_is_reported_once(void **state) {
    (void)state;
    guest g;
    guest_open(&g, 2, VD_FEATURE_QUEUES);
    int (*query)(void *stream);
    void *graph = NULL;
    FIND(g.library, query, "cuStreamQuery");
    vd_buffer a = unit_buffer(g.ctx, "a", VD_U32, 8, NULL);
    assert_int_equal(vd_wait_idle(g.ctx), VD_OK);
    assert_int_equal(g.begin(g.stream, 0), 0);
    assert_int_equal(vd_fill(vd_immediate(g.ctx, 0, 1), a, 0, 8, NULL, 0), VD_OK);
    assert_int_equal(vd_flush(g.ctx), VD_OK);
    assert_int_equal(fake_count("nodes"), 1);
    assert_true(query(g.stream) != 0);
    assert_int_equal(vd_fill(vd_immediate(g.ctx, 0, 0), a, 0, 8, NULL, 0), VD_OK);
    assert_int_equal(vd_flush(g.ctx), VD_ERROR_INVALID);
    CHECK_TEXT("the capture of the stream of queue 0 was invalidated");
    assert_true(g.end(g.stream, &graph) != 0);
    transfer(g.ctx);
    guest_close(&g);
}

/* ---- kernels ---- */

static void kernel_receives_its_argument_block(void **state) {
    (void)state;
    vd_context *ctx = context();
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 1000, NULL);
    vd_kernel k = text_kernel(ctx, VD_CODE_DEFAULT, scale, 0, NULL);
    assert_true(k.id != 0);
    long launches = fake_count("launches");
    assert_int_equal(vd_run(ctx, k, 1000, vd_b(x), vd_f32(2.5f)), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(fake_count("launches"), launches + 1);
    assert_int_equal(fake_count("bytes"), 12);
    assert_int_equal(fake_count("shared"), 0);
    vd_buffer_info info;
    float a;
    assert_int_equal(vd_buffer_query(ctx, x, &info), VD_OK);
    assert_memory_equal(fake_parameters(), &info.address, 8);
    memcpy(&a, fake_parameters() + 8, 4);
    assert_true(a == 2.5f);
    vd_context_destroy(ctx);
}

/* The numbers are read when the work is submitted; the argument block gets them, too. */
static void an_indirect_dispatch_reads_its_size(void **state) {
    static const vd_arg_info args[] = {
        { "x", VD_ARG_ADDRESS, VD_F32, VD_READ_WRITE, 0, 8, 0, false, false,
          VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false, 0 } };
    static const vd_implicit_info implicit[] = { { VD_IMPLICIT_THREADS, 0, 0, 8 }, { VD_IMPLICIT_GROUPS, 0, 1, 12 } };
    (void)state;
    vd_context *ctx = context();
    vd_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.name = "scale";
    d.code_kind = VD_CODE_CUDA;
    d.code = scale;
    d.args = args;
    d.arg_count = 1;
    d.implicit = implicit;
    d.implicit_count = 2;
    d.argument_bytes = 16;
    d.local_size[0] = 128;
    d.local_size[1] = 4;
    vd_kernel k = vd_kernel_create(ctx, &d);
    assert_true(k.id != 0);
    uint32_t size[7] = { 0, 1000, 21, 3, 0, 1, 1 };
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 1000, NULL), counts = unit_buffer(ctx, "counts", VD_U32, 7, size);
    vd_arg arg = vd_b(x);
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kernel = k;
    desc.args = &arg;
    desc.arg_count = 1;
    desc.indirect = counts;
    long launches = fake_count("launches");
    for (uint64_t from = 0; from < 5; from++) { /* 1 is 1000 x 21 x 3, the others are empty */
        desc.indirect_offset = 4 * from;
        assert_int_equal(vd_dispatch(vd_immediate(ctx, 0, 0), &desc), VD_OK);
    }
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(fake_count("launches"), launches + 1);
    assert_int_equal(fake_count("groups"), 8 + 1000 * 6 + 1000000 * 3);
    const uint32_t threads_and_groups[2] = { 1000, 6 };
    assert_memory_equal(fake_parameters() + 8, threads_and_groups, 8);
    desc.indirect_offset = 4;
    desc.indirect_groups = true;
    assert_int_equal(vd_dispatch(vd_immediate(ctx, 0, 0), &desc), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(fake_count("groups"), 1000 + 1000 * 21 + 1000000 * 3);
    const uint32_t of_groups[2] = { 128000, 21 };
    assert_memory_equal(fake_parameters() + 8, of_groups, 8);
    vd_context_destroy(ctx);
}

static void *submit_immediate(void *user) {
    vd_context *ctx = (vd_context *)user;
    return vd_submit(vd_immediate(ctx, 0, 0), NULL, NULL) ? user : NULL;
}

/* While a thread waits for the size, others create, write, dispatch on another queue and destroy. If the wait held the
   lock, the first of these calls would not return. */
static void waits_for_a_size_hold_no_lock(void **state) {
    const struct timespec nap = { 0, 100000 };
    const uint32_t size[3] = { 7, 1, 1 };
    float word = 2;
    vd_context_desc open;
    vd_context *ctx = NULL;
    vd_dispatch_desc desc;
    vd_event event;
    pthread_t thread;
    void *failed;
    (void)state;
    memset(&open, 0, sizeof open);
    memset(&desc, 0, sizeof desc);
    open.backend = VD_BACKEND_CUDA;
    open.queues = 2;
    assert_int_equal(vd_context_create(&open, &ctx), VD_OK);
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 256, NULL), y = unit_buffer(ctx, "y", VD_F32, 256, NULL);
    vd_kernel k = text_kernel(ctx, VD_CODE_CUDA, scale, 0, NULL);
    vd_arg of_x[] = { vd_b(x), vd_f32(2) }, of_y[] = { vd_b(y), vd_f32(2) };
    desc.kernel = k;
    desc.args = of_x;
    desc.arg_count = 2;
    desc.indirect = unit_buffer(ctx, "size", VD_U32, 3, size);
    desc.indirect_groups = true;
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    long launches = fake_count("launches");
    assert_int_equal(vd_dispatch(vd_immediate(ctx, 0, 0), &desc), VD_OK);
    fake_hold(1);
    assert_int_equal(pthread_create(&thread, NULL, submit_immediate, ctx), 0);
    while (!fake_count("waiting")) nanosleep(&nap, NULL);
    vd_buffer b = unit_buffer(ctx, "b", VD_F32, 256, NULL);
    assert_int_equal(vd_buffer_write(ctx, b, 0, &word, 4), VD_OK);
    vd_buffer_destroy(ctx, b);
    memset(&desc, 0, sizeof desc);
    desc.kernel = k;
    desc.threads[0] = 256;
    desc.args = of_y;
    desc.arg_count = 2;
    assert_int_equal(vd_dispatch(vd_immediate(ctx, 0, 1), &desc), VD_OK);
    assert_int_equal(vd_submit(vd_immediate(ctx, 0, 1), NULL, &event), VD_OK);
    assert_int_equal(vd_wait(ctx, event, VD_FOREVER), VD_OK);
    assert_int_equal(fake_count("launches"), launches + 1);
    assert_int_equal(fake_count("waiting"), 1);
    fake_hold(0);
    pthread_join(thread, &failed);
    assert_null(failed);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(fake_count("launches"), launches + 2);
    assert_int_equal(fake_count("groups"), 7 + 1000 + 1000000);
    vd_context_destroy(ctx);
}

static void code_of_every_kind(void **state) {
    (void)state;
    vd_context *ctx = context();
    uint8_t elf[128] = { 0x7f, 'E', 'L', 'F', 2 };
    const uint64_t sections = 64;
    memcpy(elf + 40, &sections, 8);
    elf[58] = 64;
    elf[60] = 1;
    assert_true(text_kernel(ctx, VD_CODE_PTX, ".version 8.0 __global__ scale()", 0, "scale").id != 0);
    assert_true(text_kernel(ctx, VD_CODE_CUBIN, elf, sizeof elf, NULL).id != 0);
    for (size_t size = 0; size < sizeof elf; size++)
        assert_true(text_kernel(ctx, VD_CODE_CUBIN, elf, size, NULL).id == 0);
    refuse(ctx, VD_CODE_CUBIN, elf, 127, NULL, "the code (127 bytes) is not a complete cubin");
    elf[64 + 4] = 1;
    elf[64 + 32] = 129;
    refuse(ctx, VD_CODE_CUBIN, elf, sizeof elf, NULL, "not a complete cubin");
    refuse(ctx, VD_CODE_PTX, "nonsense", 0, NULL, "the CUDA driver failed to compile the code: ptxas fatal: error: this is nothing");
    refuse(ctx, VD_CODE_SPIRV, scale, 0, NULL, "backend cuda accepts CUDA C, PTX, cubin");
    vd_context_destroy(ctx);
}

static void unusable_cuda_source_is_refused(void **state) {
    (void)state;
    vd_context *ctx = context();
    refuse(ctx, VD_CODE_CUDA, "int x;\n  #error no\n", 0, NULL, "NVRTC failed to compile the code: error: #error directive; source line 2 is '#error no'");
    refuse(ctx, VD_CODE_CUDA, scale, 0, "other", "the code has no kernel 'other'");
    refuse(ctx, VD_CODE_CUDA, "int x;", 0, NULL, "the code has no kernel");
    refuse(ctx, VD_CODE_CUDA, "__global__ a(); __global__ b();", 0, NULL, "2 kernels; select one with desc.entry");
    assert_true(text_kernel(ctx, VD_CODE_CUDA, "__global__ a(); __global__ b();", 0, "b").id != 0);
    refuse(ctx, VD_CODE_CUDA, "__global__ a() FEW_THREADS;", 0, NULL,
           "256 invocations, but the registers or the __launch_bounds__ of the kernel allow only 128");
    vd_context_destroy(ctx);
}

/* Of a kernel without arguments, in CUDA C. */
static vd_kernel_desc code_desc(const char *name, const char *code) {
    vd_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.name = name;
    d.code = code;
    d.local_size[0] = d.local_size[1] = d.local_size[2] = 1;
    return d;
}

static void dynamic_shared_memory(void **state) {
    (void)state;
    vd_context *ctx = context();
    vd_kernel_desc d = code_desc("shared", "__global__ shared() { extern __shared__ char s[]; }");
    d.shared_bytes = 100000;
    vd_kernel k = vd_kernel_create(ctx, &d);
    assert_true(k.id != 0);
    assert_int_equal(vd_run_args(ctx, k, 1, 1, 1, NULL, 0), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(fake_count("shared"), 100000 - 4096);
    assert_int_equal(fake_count("bytes"), 0);
    d.shared_bytes = 300000;
    assert_true(vd_kernel_create(ctx, &d).id == 0);
    CHECK_TEXT("300000 bytes of shared memory, but the device's limit is 232448");
    vd_context_destroy(ctx);
}

static uint32_t cuda_registers(vd_context *ctx, vd_kernel k) {
    vd_kernel_info info;
    memset(&info, 0xff, sizeof info);
    assert_int_equal(vd_kernel_query(ctx, k, &info), VD_OK);
    return info.registers;
}

/* Those of the driver, if the desc asks for them; 0 if the driver fails, which is not an error. */
static void registers_are_counted(void **state) {
    (void)state;
    vd_context *ctx = context();
    vd_kernel_desc d = code_desc("k", "__global__ k() {}");
    vd_kernel plain = vd_kernel_create(ctx, &d);
    d.count_registers = true;
    vd_kernel counted = vd_kernel_create(ctx, &d);
    assert_true(plain.id && counted.id);
    assert_int_equal(cuda_registers(ctx, plain), 0);
    assert_int_equal(cuda_registers(ctx, counted), 40);
    fake_fail("cuFuncGetAttribute", 1, 0);
    assert_int_equal(cuda_registers(ctx, counted), 0);
    assert_int_equal(cuda_registers(ctx, counted), 40);
    vd_context_destroy(ctx);
}

static void buffers_are_passed_by_address(void **state) {
    static const vd_arg_info binding = {
        "x", VD_ARG_BINDING, VD_F32, VD_READ, 0, 0, 0, false, false, VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false, 0
    };
    (void)state;
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_CUDA;
    desc.disable = VD_FEATURE_ADDRESS;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    assert_false(vd_device(ctx, 0)->features & VD_FEATURE_ADDRESS);
    assert_true(text_kernel(ctx, VD_CODE_CUDA, scale, 0, NULL).id != 0);
    vd_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.code = scale;
    d.args = &binding;
    d.arg_count = 1;
    d.local_size[0] = d.local_size[1] = d.local_size[2] = 1;
    assert_true(vd_kernel_create(ctx, &d).id == 0);
    CHECK_TEXT("argument 0 'x' has kind VD_ARG_BINDING, but backend cuda needs VD_ARG_ADDRESS");
    vd_context_destroy(ctx);
}

/* ---- the cache ---- */

static vd_context *cached_context(void) {
    vd_context *ctx = NULL;
    assert_int_equal(open_context(&ctx, cuda_folder, NULL), VD_OK);
    return ctx;
}

static long compiles_of(const char *text) {
    long before = fake_count("compiles");
    vd_context *ctx = cached_context();
    assert_true(text_kernel(ctx, VD_CODE_CUDA, text, 0, NULL).id != 0);
    vd_context_destroy(ctx);
    return fake_count("compiles") - before;
}

static void compiled_code_is_cached(void **state) {
    (void)state;
    char command[128];
    snprintf(cuda_folder, sizeof cuda_folder, "/tmp/vkdispatch-cuda-XXXXXX");
    assert_non_null(mkdtemp(cuda_folder));
    assert_int_equal(compiles_of(scale), 1);
    assert_int_equal(compiles_of(scale), 0);
    assert_int_equal(compiles_of("__global__ other(float *x, float a)"), 1);
    setenv("VKDISPATCH_NVRTC", "/nowhere/libnvrtc.so", 1); /* cached code runs without the compiler */
    assert_int_equal(compiles_of(scale), 0);
    vd_context *ctx = cached_context();
    refuse(ctx, VD_CODE_CUDA, "__global__ third(float *x, float a)", 0, NULL,
           "CUDA C needs NVRTC, but '/nowhere/libnvrtc.so', which VKDISPATCH_NVRTC names, could not be opened");
    assert_true(text_kernel(ctx, VD_CODE_PTX, ".version 8.0 __global__ scale()", 0, NULL).id != 0);
    vd_context_destroy(ctx);
    setenv("VKDISPATCH_NVRTC", unit_fake_cuda, 1);
    /* the driver refuses the cached code; no call fails, so the thread's error remains */
    assert_int_equal(vd_error_set(VD_ERROR_INVALID, "an earlier failure"), VD_ERROR_INVALID);
    fake_fail("cuModuleLoadDataEx", 200, 0);
    assert_int_equal(compiles_of(scale), 1);
    assert_string_equal(vd_error_text(), "an earlier failure");
    assert_int_equal(vd_error_result(), VD_ERROR_INVALID);
    snprintf(command, sizeof command, "for f in %s/*; do echo >$f; done", cuda_folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(compiles_of(scale), 1);
    assert_int_equal(compiles_of(scale), 0);
    snprintf(command, sizeof command, "rm -r %s", cuda_folder);
    assert_int_equal(system(command), 0);
}

/* ---- failures ---- */

static void a_failed_submission_is_reported(void **state) {
    (void)state;
    vd_context *ctx = context();
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 1000, NULL);
    vd_kernel k = text_kernel(ctx, VD_CODE_CUDA, scale, 0, NULL);
    vd_event event;
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(vd_run(ctx, k, 1000, vd_b(x), vd_f32(1)), VD_OK);
    fake_fail("cuLaunchKernel", 701, 0);
    assert_int_equal(vd_submit(vd_immediate(ctx, 0, 0), NULL, &event), VD_OK);
    assert_int_equal(vd_wait(ctx, event, VD_FOREVER), VD_ERROR_BACKEND);
    CHECK_TEXT("cuLaunchKernel failed: FAKE_ERROR_701");
    transfer(ctx);
    vd_context_destroy(ctx);
}

/* The work never ends, and the stream reports the error. */
static void a_lost_device_is_reported(void **state) {
    (void)state;
    vd_context *ctx = context(), *next = NULL;
    vd_event event;
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 1000, NULL);
    fake_stall(1);
    assert_int_equal(vd_submit(vd_immediate(ctx, 0, 0), NULL, &event), VD_OK);
    assert_int_equal(vd_wait(ctx, event, 0), VD_TIMEOUT);
    assert_int_equal(vd_wait(ctx, event, 3000000), VD_TIMEOUT);
    fake_fault(700);
    assert_int_equal(vd_wait(ctx, event, VD_FOREVER), VD_ERROR_DEVICE_LOST);
    assert_int_equal(vd_buffer_write(ctx, x, 0, "1234", 4), VD_ERROR_DEVICE_LOST);
    fake_fault(0);
    fake_stall(0);
    vd_context_destroy(ctx);
    assert_int_equal(open_context(&next, NULL, NULL), VD_OK);
    transfer(next);
    vd_context_destroy(next);
}

/* A lost device is detected by polling alone. */
static void polling_detects_a_lost_device(void **state) {
    (void)state;
    vd_context *ctx = context();
    vd_event event;
    unit_buffer(ctx, "x", VD_F32, 1000, NULL);
    fake_stall(1);
    assert_int_equal(vd_submit(vd_immediate(ctx, 0, 0), NULL, &event), VD_OK);
    fake_fault(719);
    vd_result r = VD_TIMEOUT;
    for (int i = 0; i < 3 * VD__CU_POLLS && r == VD_TIMEOUT; i++) r = vd_wait(ctx, event, 0);
    assert_int_equal(r, VD_ERROR_DEVICE_LOST);
    fake_fault(0);
    fake_stall(0);
    vd_context_destroy(ctx);
}

typedef struct purse { long left, live; } purse;

static void *purse_allocate(void *user, size_t size) {
    purse *p = (purse *)user;
    if (p->left-- <= 0) return NULL;
    p->live++;
    return malloc(size);
}
static void *purse_reallocate(void *user, void *block, size_t size) {
    purse *p = (purse *)user;
    if (p->left-- <= 0) return NULL;
    p->live += !block;
    return realloc(block, size);
}
static void purse_release(void *user, void *block) { ((purse *)user)->live -= block != NULL; free(block); }

static void host_memory_runs_out(void **state) {
    (void)state;
    purse p;
    vd_allocator allocator = { purse_allocate, purse_reallocate, purse_release, &p };
    for (long most = 0; most < 200; most++) {
        vd_context *ctx = NULL;
        p.left = most;
        p.live = 0;
        vd_result r = open_context(&ctx, NULL, &allocator);
        vd_buffer x = { 0 };
        vd_kernel k = { 0 };
        if (!r) x = unit_buffer(ctx, "x", VD_F32, 1000, NULL);
        if (x.id) k = text_kernel(ctx, VD_CODE_CUDA, scale, 0, NULL);
        if (k.id) r = vd_run(ctx, k, 1000, vd_b(x), vd_f32(1));
        if (r) assert_int_equal(r, VD_ERROR_OUT_OF_MEMORY);
        p.left = 1000;
        vd_context_destroy(ctx);
        assert_int_equal(p.live, 0);
    }
}

/* x *= a, with slot "a" */
static vd_result graph_scale(vd_list *list, vd_kernel kernel, vd_buffer x, uint64_t threads, bool slot) {
    vd_arg args[2];
    vd_dispatch_desc d;
    memset(&d, 0, sizeof d);
    args[0] = vd_b(x);
    args[1] = slot ? vd_slot("a", vd_f32(2)) : vd_f32(2);
    d.kernel = kernel;
    d.threads[0] = threads;
    d.args = args;
    d.arg_count = 2;
    return vd_dispatch(list, &d);
}

/* ---- images ---- */

/* Its arguments: a sampled image, a storage image, a number; width, height and levels of the sampled image. `change`
   may make the desc invalid. */
static vd_kernel image_kernel(vd_context *ctx, void (*change)(vd_arg_info *args)) {
    static const char text[] = "extern \"C\" __global__ void paint(const struct args args) { }\n";
    static const vd_implicit_info shapes[] = {
        { VD_IMPLICIT_SHAPE, 0, 0, 20 }, { VD_IMPLICIT_SHAPE, 0, 1, 24 }, { VD_IMPLICIT_SHAPE, 0, 3, 28 }
    };
    vd_arg_info args[3] = {
        { "from", VD_ARG_IMAGE, VD_F32, VD_READ, 0, 8, 0, false, true, VD_DIM_2D, VD_FORMAT_NONE, false, false, 0 },
        { "to", VD_ARG_IMAGE, VD_F32, VD_WRITE, 8, 8, 0, false, false, VD_DIM_2D, VD_FORMAT_R32_F, false, false, 0 },
        { "a", VD_ARG_VALUE, VD_F32, 0, 16, 4, 0, false, false, VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false, 0 }
    };
    vd_kernel_desc d;
    memset(&d, 0, sizeof d);
    if (change) change(args);
    d.name = "paint";
    d.code = text;
    d.args = args;
    d.arg_count = 3;
    d.implicit = shapes;
    d.implicit_count = 3;
    d.argument_bytes = 32;
    d.local_size[0] = 64;
    d.local_size[1] = d.local_size[2] = 1;
    return vd_kernel_create(ctx, &d);
}

/* 16 x 16 texels; 16 x 8 if there are several levels. */
static vd_image image_2d_f32(vd_context *ctx, uint32_t levels) {
    vd_image_desc d;
    memset(&d, 0, sizeof d);
    d.format = VD_FORMAT_R32_F;
    d.extent[0] = 16;
    d.extent[1] = levels > 1 ? 8 : 16;
    d.levels = levels;
    return vd_image_create(ctx, &d);
}

/* Runs the kernel and sets the handles that it received. */
static void handles_of(vd_context *ctx, vd_kernel k, vd_image from, const vd_sampler *sampler, vd_image to,
                       uint64_t out[2]) {
    float a;
    assert_int_equal(vd_run(ctx, k, 64, vd_sampled(from, sampler), vd_i(to), vd_f32(4)), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    memcpy(out, fake_parameters(), 16);
    memcpy(&a, fake_parameters() + 16, 4);
    assert_true(out[0] && out[1] && out[0] != out[1] && a == 4);
}

/* A view has one texture object for each different sampler. They live as long as the view. */
static void images_are_passed_as_handles(void **state) {
    (void)state;
    vd_context *ctx = context();
    vd_kernel k = image_kernel(ctx, NULL);
    vd_image from = image_2d_f32(ctx, 3), to = image_2d_f32(ctx, 1);
    vd_sampler_desc desc;
    uint64_t first[2], next[2];
    uint32_t shape[3];
    assert_true(k.id && from.id && to.id);
    handles_of(ctx, k, from, NULL, to, first);
    long live = fake_count("live");
    for (int i = 0; i < 3; i++) {
        memset(&desc, 0, sizeof desc);
        desc.lod_bias = i == 2 ? 0.5f : 0;
        vd_sampler sampler = vd_sampler_create(ctx, &desc);
        handles_of(ctx, k, from, &sampler, to, next);
        vd_sampler_destroy(ctx, sampler);
        assert_int_equal(next[0] == first[0], i < 2); /* the default sampler, and an equal one */
        assert_int_equal(next[1], first[1]);
    }
    assert_int_equal(fake_count("live"), live + 1);
    vd_image_view_desc v;
    memset(&v, 0, sizeof v);
    v.image = from;
    v.level = 1;
    vd_image view = vd_image_view(ctx, &v);
    assert_true(view.id != 0);
    handles_of(ctx, k, view, NULL, to, next);
    assert_true(next[0] != first[0]);
    memcpy(shape, fake_parameters() + 20, sizeof shape);
    assert_true(shape[0] == 8 && shape[1] == 4 && shape[2] == 2);
    handles_of(ctx, k, to, NULL, view, next);
    assert_true(next[1] != first[1]);
    vd_image_destroy(ctx, view);
    vd_image_destroy(ctx, to);
    vd_image_destroy(ctx, from);
    vd_context_destroy(ctx);
}

static void images_in_slots_are_passed_as_handles(void **state) {
    (void)state;
    vd_context *ctx = context();
    vd_kernel k = image_kernel(ctx, NULL);
    vd_image images[3] = { image_2d_f32(ctx, 1), image_2d_f32(ctx, 1), image_2d_f32(ctx, 1) };
    uint64_t wanted[2], got[2];
    vd_arg args[3] = { vd_slot("from", vd_i(images[0])), vd_i(images[2]), vd_f32(4) };
    vd_dispatch_desc d;
    memset(&d, 0, sizeof d);
    d.kernel = k;
    d.threads[0] = 64;
    d.args = args;
    d.arg_count = 3;
    vd_list *list = vd_graph_begin(ctx, NULL);
    assert_int_equal(vd_dispatch(list, &d), VD_OK);
    vd_graph g = vd_graph_end(list);
    assert_true(g.id != 0);
    for (int i = 0; i < 4; i++) {
        handles_of(ctx, k, images[i % 2], NULL, images[2], wanted);
        assert_int_equal(vd_graph_set(ctx, g, "from", vd_i(images[i % 2])), VD_OK);
        assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
        assert_int_equal(vd_wait_idle(ctx), VD_OK);
        memcpy(got, fake_parameters(), sizeof got);
        assert_memory_equal(got, wanted, sizeof got);
    }
    vd_graph_destroy(ctx, g);
    vd_context_destroy(ctx);
}

/* Elements are handles one after the other, also those in slots, and those that are not passed repeat the first. */
static void arrays_of_images_are_passed_as_handles(void **state) {
    static const char text[] = "extern \"C\" __global__ void paint(const struct args args) { }\n";
    vd_arg_info args[3] = {
        { "from", VD_ARG_IMAGE, VD_F32, VD_READ, 0, 24, 0, false, true, VD_DIM_2D, VD_FORMAT_NONE, false, false, 3 },
        { "x", VD_ARG_ADDRESS, VD_F32, VD_READ, 24, 16, 0, false, false, VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false,
          2 },
        { "a", VD_ARG_VALUE, VD_F32, 0, 40, 4, 0, false, false, VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false, 0 }
    };
    (void)state;
    vd_context *ctx = context();
    uint64_t got[5], slots[5];
    vd_image images[3] = { image_2d_f32(ctx, 1), image_2d_f32(ctx, 1), image_2d_f32(ctx, 1) };
    vd_arg elements[3] = { vd_i(images[0]), vd_i(images[1]), vd_i(images[2]) };
    vd_buffer x[2] = { unit_buffer(ctx, "x", VD_F32, 4, NULL), unit_buffer(ctx, "y", VD_F32, 4, NULL) };
    vd_arg buffers[2] = { vd_b(x[0]), vd_b(x[1]) };
    vd_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.name = "paint";
    d.code = text;
    d.args = args;
    d.arg_count = 3;
    d.argument_bytes = 44;
    d.local_size[0] = 64;
    vd_kernel k = vd_kernel_create(ctx, &d);
    if (!k.id) fail_msg("%s", vd_error_text());
    assert_int_equal(vd_run(ctx, k, 64, vd_array(elements, 3), vd_array(buffers, 2), vd_f32(1)), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    memcpy(got, fake_parameters(), sizeof got);
    assert_true(got[0] && got[1] && got[2] && got[0] != got[1] && got[1] != got[2] && got[3] && got[4] > got[3]);
    assert_int_equal(vd_run(ctx, k, 64, vd_array(elements + 1, 2), vd_array(buffers + 1, 1), vd_f32(1)), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    memcpy(slots, fake_parameters(), sizeof slots);
    assert_true(slots[0] == got[1] && slots[1] == got[2] && slots[2] == got[1]);
    assert_true(slots[3] == got[4] && slots[4] == got[4]);
    elements[1] = vd_slot("one", vd_i(images[1]));
    buffers[1] = vd_slot("y", vd_b(x[1]));
    vd_list *list = vd_graph_begin(ctx, NULL);
    vd_arg all[3] = { vd_array(elements, 3), vd_array(buffers, 2), vd_f32(1) };
    vd_dispatch_desc dispatch;
    memset(&dispatch, 0, sizeof dispatch);
    dispatch.kernel = k;
    dispatch.threads[0] = 64;
    dispatch.args = all;
    dispatch.arg_count = 3;
    assert_int_equal(vd_dispatch(list, &dispatch), VD_OK);
    vd_graph g = vd_graph_end(list);
    if (!g.id) fail_msg("%s", vd_error_text());
    assert_int_equal(vd_graph_set(ctx, g, "one", vd_i(images[0])), VD_OK);
    assert_int_equal(vd_graph_set(ctx, g, "y", vd_b(x[0])), VD_OK);
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    memcpy(slots, fake_parameters(), sizeof slots);
    assert_true(slots[0] == got[0] && slots[1] == got[0] && slots[2] == got[2]);
    assert_true(slots[3] == got[3] && slots[4] == got[3]);
    args[0].size = 8;
    assert_true(vd_kernel_create(ctx, &d).id == 0);
    CHECK_TEXT("argument 0 'from' is an image with size 8, but backend cuda passes each image");
    vd_graph_destroy(ctx, g);
    vd_context_destroy(ctx);
}

static void as_binding(vd_arg_info *args) { args[0].size = 0; }
static void as_separate(vd_arg_info *args) { args[0].separate = true; }
static void as_sampler(vd_arg_info *args) { args[1].kind = VD_ARG_SAMPLER; }
static void past_the_end(vd_arg_info *args) { args[1].location = 28; }

static void image_arguments_are_checked(void **state) {
    static const struct { void (*change)(vd_arg_info *args); const char *text; } cases[] = {
        { as_binding, "argument 0 'from' is an image with size 0, but backend cuda passes each image" },
        { as_separate, "argument 0 'from' is a separate image with size 8, but backend cuda passes each image" },
        { as_sampler, "argument 1 'to' is a sampler with size 8, but backend cuda passes each image" },
        { past_the_end, "argument 1 'to' ends at byte 36, but the argument block has 32 bytes" }
    };
    (void)state;
    vd_context *ctx = context();
    for (size_t i = 0; i < VD__COUNT(cases); i++) {
        assert_true(image_kernel(ctx, cases[i].change).id == 0);
        CHECK_TEXT("vd_kernel_create 'paint'");
        CHECK_TEXT(cases[i].text);
    }
    vd_context_destroy(ctx);
}

/* The driver does not support such a pitch. */
static void rows_far_apart_are_copied_one_by_one(void **state) {
    (void)state;
    vd_context *ctx = context();
    vd_image image = image_2d_f32(ctx, 1);
    float values[16], got[16];
    for (int i = 0; i < 16; i++) values[i] = (float)i;
    vd_image_transfer t;
    memset(&t, 0, sizeof t);
    t.box.image = image;
    t.box.offset[1] = 5;
    t.box.extent[1] = 1;
    t.buffer = unit_buffer(ctx, "from", VD_F32, 16, values);
    t.row_pitch = (uint64_t)1 << 31;
    assert_int_equal(vd_copy_to_image(vd_immediate(ctx, 0, 0), &t), VD_OK);
    t.row_pitch = 0;
    assert_int_equal(vd_image_download(ctx, &t, got), VD_OK);
    assert_memory_equal(got, values, sizeof got);
    vd_context_destroy(ctx);
}

/* Runs a kernel on an image and on a view of it, and reads it. */
static vd_result use_images(vd_context *ctx) {
    float texels[64];
    vd_image_view_desc v;
    vd_image_transfer t;
    memset(&v, 0, sizeof v);
    memset(&t, 0, sizeof t);
    vd_image image = image_2d_f32(ctx, 2);
    v.image = t.box.image = image;
    v.level = t.box.level = 1;
    vd_image view = image.id ? vd_image_view(ctx, &v) : image, to = view.id ? image_2d_f32(ctx, 1) : view;
    vd_kernel k = to.id ? image_kernel(ctx, NULL) : (vd_kernel){ 0 };
    vd_result r = k.id ? vd_run(ctx, k, 64, vd_i(view), vd_i(to), vd_f32(1)) : vd_error_result();
    return r ? r : vd_image_download(ctx, &t, texels);
}

/* Uses two queues, a buffer, a kernel, images, a transfer and a graph. */
static vd_result use_all(void) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    float out[100];
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_CUDA;
    desc.queues = 2;
    vd_result r = vd_context_create(&desc, &ctx);
    if (r) return r;
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 100, NULL);
    vd_kernel k = x.id ? text_kernel(ctx, VD_CODE_CUDA, scale, 0, NULL) : (vd_kernel){ 0 };
    r = k.id ? vd_run(ctx, k, 100, vd_b(x), vd_f32(1)) : vd_error_result();
    vd_arg args[] = { vd_b(x), vd_f32(1) };
    vd_dispatch_desc indirect;
    vd_scope_info scope;
    memset(&indirect, 0, sizeof indirect);
    indirect.kernel = k;
    indirect.args = args;
    indirect.arg_count = 2;
    indirect.indirect = x;
    if (!r) r = vd_scope_begin(vd_immediate(ctx, 0, 0), "indirect");
    if (!r) r = vd_dispatch(vd_immediate(ctx, 0, 0), &indirect);
    if (!r) r = vd_scope_end(vd_immediate(ctx, 0, 0));
    if (!r) r = vd_wait_idle(ctx);
    vd_profile_read(ctx, &scope, 1);
    if (!r) r = use_images(ctx);
    if (!r) r = vd_fill(vd_immediate(ctx, 0, 1), x, 0, 16, NULL, 0);
    vd_list *list = r ? NULL : vd_graph_begin(ctx, NULL);
    if (!r && !list) r = vd_error_result();
    if (list) {
        graph_scale(list, k, x, 100, true);
        vd_copy(list, x, 0, x, 200, 100);
        vd_fill(list, x, 200, 100, NULL, 0);
        vd_graph g = vd_graph_end(list);
        r = g.id ? vd_graph_set(ctx, g, "a", vd_f32(3)) : vd_error_result();
        if (!r) r = vd_graph_submit(ctx, g, NULL, NULL);
    }
    if (!r) r = vd_buffer_read(ctx, x, 0, out, VD_WHOLE);
    if (!r) r = vd_wait_idle(ctx);
    vd_context_destroy(ctx);
    return r;
}

/* ---- graphs ---- */

static void graphs_become_graphs_of_the_driver(void **state) {
    (void)state;
    const char *(*text)(void);
    FIND(dlopen(unit_fake_cuda, RTLD_NOW), text, "fake_graph_text");
    vd_context *ctx = context();
    vd_kernel kernel = text_kernel(ctx, VD_CODE_CUDA, scale, sizeof scale - 1, NULL);
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 1000, NULL), y = unit_buffer(ctx, "y", VD_F32, 1000, NULL);
    vd_buffer z = unit_buffer(ctx, "z", VD_F32, 1000, NULL);
    vd_copy_desc rows = { y, x, 0, 4, 8, 5, 40, 24 };
    uint32_t word = 7, got = 0;
    float a;
    vd_list *list = vd_graph_begin(ctx, NULL);
    assert_int_equal(graph_scale(list, kernel, x, 1000, true), VD_OK);  /* 0 */
    assert_int_equal(vd_fill(list, y, 0, VD_WHOLE, &word, 4), VD_OK);   /* 1 */
    assert_int_equal(graph_scale(list, kernel, z, 1000, false), VD_OK); /* 2 */
    assert_int_equal(vd_copy_region(list, &rows), VD_OK);               /* 4, after the empty node */
    assert_int_equal(vd_copy(list, z, 0, y, 0, VD_WHOLE), VD_OK);       /* 5 */
    vd_graph g = vd_graph_end(list);
    assert_string_equal(text(), "k f k e0,1,2 c3 c4");
    long launches = fake_count("graph launches"), updates = fake_count("graph updates"),
         kernels = fake_count("launches");
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
    assert_int_equal(fake_count("graph launches"), launches + 1);
    assert_int_equal(fake_count("launches"), kernels + 2);
    assert_int_equal(fake_count("graph updates"), updates);
    assert_int_equal(vd_buffer_read(ctx, z, 4 * 999, &got, 4), VD_OK);
    assert_int_equal(got, 7);
    assert_int_equal(vd_graph_set(ctx, g, "a", vd_f32(5)), VD_OK);
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
    assert_int_equal(fake_count("graph launches"), launches + 3);
    assert_int_equal(fake_count("graph updates"), updates + 1); /* one changed node, once */
    vd_graph_destroy(ctx, g);
    list = vd_graph_begin(ctx, NULL);
    assert_int_equal(graph_scale(list, kernel, x, 1000, true), VD_OK);
    g = vd_graph_end(list);
    vd_graph_submit_desc three = { NULL, 0, 3, NULL, 0 };
    float values[3] = { 7, 8, 9 };
    vd_graph_value value = { "a", vd_value(VD_F32, values), 3 };
    three.values = &value;
    three.value_count = 1;
    assert_int_equal(vd_graph_submit(ctx, g, &three, NULL), VD_OK);
    assert_string_equal(text(), "k k0 k1");
    memcpy(&a, fake_parameters() + 8, 4);
    assert_true(a == 9);
    vd_context_destroy(ctx);
}

/* If the driver refuses a graph, the commands are launched one by one. */
static void graphs_are_played_without_the_driver(void **state) {
    static const char *const calls[] = { "cuGraphCreate", "cuGraphAddKernelNode", "cuGraphAddMemcpyNode",
                                         "cuGraphAddMemsetNode", "cuGraphAddEmptyNode", "cuGraphInstantiateWithFlags" };
    (void)state;
    for (size_t i = 0; i < VD__COUNT(calls); i++) {
        vd_context *ctx = context();
        vd_kernel kernel = text_kernel(ctx, VD_CODE_CUDA, scale, sizeof scale - 1, NULL);
        vd_buffer x = unit_buffer(ctx, "x", VD_F32, 1000, NULL), y = unit_buffer(ctx, "y", VD_F32, 1000, NULL);
        uint32_t word = 7, got = 0;
        assert_int_equal(vd_wait_idle(ctx), VD_OK);
        vd_list *list = vd_graph_begin(ctx, NULL);
        assert_int_equal(graph_scale(list, kernel, x, 1000, true), VD_OK);
        assert_int_equal(vd_fill(list, y, 0, VD_WHOLE, &word, 4), VD_OK);
        assert_int_equal(vd_copy(list, x, 0, y, 0, VD_WHOLE), VD_OK);
        fake_fail(calls[i], 2, 0);
        vd_graph g = vd_graph_end(list);
        assert_true(g.id != 0);
        assert_int_equal(fake_count("armed"), 0);
        long launches = fake_count("launches"), graphs = fake_count("graph launches");
        assert_int_equal(vd_graph_set(ctx, g, "a", vd_f32(5)), VD_OK);
        assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
        assert_int_equal(fake_count("launches"), launches + 1);
        assert_int_equal(fake_count("graph launches"), graphs);
        assert_int_equal(vd_buffer_read(ctx, x, 0, &got, 4), VD_OK);
        assert_int_equal(got, 7);
        vd_context_destroy(ctx);
    }
}

static void a_failed_graph_launch_is_reported(void **state) {
    static const char *const calls[] = { "cuGraphExecKernelNodeSetParams", "cuGraphLaunch" };
    (void)state;
    for (size_t i = 0; i < VD__COUNT(calls); i++) {
        vd_context *ctx = context();
        vd_kernel kernel = text_kernel(ctx, VD_CODE_CUDA, scale, sizeof scale - 1, NULL);
        vd_buffer x = unit_buffer(ctx, "x", VD_F32, 1000, NULL);
        vd_event event;
        float a;
        vd_list *list = vd_graph_begin(ctx, NULL);
        assert_int_equal(graph_scale(list, kernel, x, 1000, true), VD_OK);
        vd_graph g = vd_graph_end(list);
        assert_int_equal(vd_graph_set(ctx, g, "a", vd_f32(5)), VD_OK);
        fake_fail(calls[i], 1, 0);
        assert_int_equal(vd_graph_submit(ctx, g, NULL, &event), VD_OK);
        assert_int_equal(vd_wait(ctx, event, VD_FOREVER), VD_ERROR_BACKEND);
        CHECK_TEXT(calls[i]);
        assert_int_equal(vd_graph_submit(ctx, g, NULL, &event), VD_OK); /* with the value, although it was not set */
        assert_int_equal(vd_wait(ctx, event, VD_FOREVER), VD_OK);
        memcpy(&a, fake_parameters() + 8, 4);
        assert_true(a == 5);
        vd_context_destroy(ctx);
    }
}

/* Each driver call fails once, with garbage in its outputs. The teardown checks for leaks and for garbage that was
   passed back. */
static void every_driver_call_fails_once(void **state) {
    (void)state;
    int errors = 0, n = 0;
    bool armed = false;
    for (; !armed; n++) {
        assert_in_range(n, 0, 10000);
        fake_fail("*", 2, n);
        alarm(60);
        vd_result r = use_all();
        alarm(0);
        armed = fake_count("armed") != 0;
        fake_fail("", 0, 0);
        if (armed) assert_int_equal(r, VD_OK);
        if (fake_count("live") || fake_count("garbage"))
            fail_msg("call %d: %ld left, %ld garbage", n, fake_count("live"), fake_count("garbage"));
        errors += r != VD_OK;
    }
    print_message("# %d calls, %d errors\n", n - 1, errors);
    assert_true(errors > 10);
    assert_int_equal(use_all(), VD_OK);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, cuda_setup, cuda_teardown)

static const struct CMUnitTest cuda_tests[] = {
    CASE(a_missing_library_is_reported), CASE(devices_are_described), CASE(failed_opening_leaks_nothing),
    CASE(transfers_work_with_either_timeline), CASE(rows_are_copied_in_one_call),
    CASE(a_timeline_of_32_bits_is_extended), CASE(the_current_context_is_restored), CASE(device_memory_runs_out),
    CASE(sparse_buffers_need_virtual_memory), CASE(failures_to_bind_pages), CASE(imported_device_memory),
    CASE(external_memory), CASE(a_tensor_in_device_memory),
    CASE(a_stream_of_the_application), CASE(a_capture_records_submitted_work), CASE(a_capture_refuses_staging),
    CASE(a_capture_excludes_other_queues), CASE(an_invalidated_capture_is_reported_once),
    CASE(kernel_receives_its_argument_block), CASE(an_indirect_dispatch_reads_its_size),
    CASE(waits_for_a_size_hold_no_lock), CASE(code_of_every_kind),
    CASE(unusable_cuda_source_is_refused),
    CASE(dynamic_shared_memory), CASE(registers_are_counted), CASE(buffers_are_passed_by_address),
    CASE(compiled_code_is_cached),
    CASE(a_failed_submission_is_reported), CASE(a_lost_device_is_reported), CASE(polling_detects_a_lost_device),
    CASE(graphs_become_graphs_of_the_driver), CASE(graphs_are_played_without_the_driver),
    CASE(images_are_passed_as_handles), CASE(images_in_slots_are_passed_as_handles),
    CASE(arrays_of_images_are_passed_as_handles), CASE(image_arguments_are_checked),
    CASE(rows_far_apart_are_copied_one_by_one),
    CASE(a_failed_graph_launch_is_reported), CASE(host_memory_runs_out), CASE(every_driver_call_fails_once),
};
#undef CASE

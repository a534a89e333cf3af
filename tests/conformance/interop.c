/* Shared memory: DLPack export and import, host memory used in place, external memory by handle, OpenCL objects and
   commands of the application, native commands in lists. */
#define _POSIX_C_SOURCE 200809L
#include "tests/insides.h"
#include "common.h"

#include <pthread.h>
#include <unistd.h>

#ifdef __has_include
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define HAS_DLPACK 1
#endif
#endif

#ifndef HAS_DLPACK
typedef struct { int device_type, device_id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct {
    void *data;
    DLDevice device;
    int ndim;
    DLDataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
enum { kDLCPU = 1, kDLCUDA = 2, kDLOpenCL = 4, kDLVulkan = 7, kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLComplex = 5 };
#endif
#ifndef DLPACK_MAJOR_VERSION /* dlpack.h before 1.0 */
typedef struct { uint32_t major, minor; } DLPackVersion;
typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;
#endif
enum { BOOL_CODE = 6, OPAQUE_CODE = 3, NO_DEVICE = 99 }; /* some versions of dlpack.h lack kDLBool */

#define SAME_PLACE(name, theirs, ours) \
    typedef char same_##name[offsetof(DLManagedTensor, theirs) == offsetof(vd__dl_managed, ours) && \
        sizeof(((DLManagedTensor *)NULL)->theirs) == sizeof(((vd__dl_managed *)NULL)->ours) ? 1 : -1];
SAME_PLACE(data, dl_tensor.data, tensor.data)
SAME_PLACE(type, dl_tensor.device.device_type, tensor.device.type)
SAME_PLACE(id, dl_tensor.device.device_id, tensor.device.id)
SAME_PLACE(ndim, dl_tensor.ndim, tensor.ndim)
SAME_PLACE(code, dl_tensor.dtype.code, tensor.type.code)
SAME_PLACE(bits, dl_tensor.dtype.bits, tensor.type.bits)
SAME_PLACE(lanes, dl_tensor.dtype.lanes, tensor.type.lanes)
SAME_PLACE(shape, dl_tensor.shape, tensor.shape)
SAME_PLACE(strides, dl_tensor.strides, tensor.strides)
SAME_PLACE(offset, dl_tensor.byte_offset, tensor.byte_offset)
SAME_PLACE(manager, manager_ctx, manager)
SAME_PLACE(deleter, deleter, deleter)
#define SAME_VERSIONED(name, theirs, ours) \
    typedef char same_versioned_##name[offsetof(DLManagedTensorVersioned, theirs) == offsetof(vd__dl_versioned, ours) \
        ? 1 : -1];
SAME_VERSIONED(major, version.major, major)
SAME_VERSIONED(minor, version.minor, minor)
SAME_VERSIONED(manager, manager_ctx, manager)
SAME_VERSIONED(deleter, deleter, deleter)
SAME_VERSIONED(flags, flags, flags)
SAME_VERSIONED(data, dl_tensor.data, tensor.data)
SAME_VERSIONED(offset, dl_tensor.byte_offset, tensor.byte_offset)
typedef char same_size[sizeof(DLManagedTensor) == sizeof(vd__dl_managed) ? 1 : -1];

static vd_buffer_info info_of(vd_context *ctx, vd_buffer b) {
    vd_buffer_info info;
    memset(&info, 0, sizeof info);
    OK(vd_buffer_query(ctx, b, &info));
    return info;
}

static vd_buffer buffer_in(vd_context *ctx, vd_memory memory, bool exportable, uint64_t elements,
                           const uint32_t *data) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "mine";
    desc.type = VD_U32;
    desc.shape[0] = elements;
    desc.memory = memory;
    desc.exportable = exportable;
    desc.data = data;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) fail_msg("vd_buffer_create: %s", vd_error_text());
    return b;
}

static DLManagedTensor *export_as(vd_context *ctx, vd_buffer b, int device_type) {
    DLManagedTensor *t = NULL;
    OK(vd_dlpack_export(ctx, b, device_type, &t));
    assert_non_null(t);
    return t;
}

/* Device memory of the dummy backend cannot be shared. */
static vd_memory kept_memory(const fixture *f) {
    return f->backend == VD_BACKEND_DUMMY ? VD_MEMORY_SHARED : VD_MEMORY_DEVICE;
}

/* The default device type of a tensor. */
static int own_type(fixture *f, vd_buffer b) {
    vd_buffer_info info = info_of(f->ctx, b);
    if (f->backend == VD_BACKEND_CUDA) return kDLCUDA;
    return !info.native ? kDLCPU : f->backend == VD_BACKEND_VULKAN ? kDLVulkan : kDLOpenCL;
}

/* ---- a tensor created by the test ---- */

typedef struct tensor {
    DLManagedTensor managed;
    int64_t shape[6], strides[6];
    int deleted;
} tensor;

static void tensor_deleted(DLManagedTensor *self) { ((tensor *)(void *)self)->deleted++; }

static void tensor_init(tensor *t, void *data, int64_t elements) {
    memset(t, 0, sizeof *t);
    DLTensor *d = &t->managed.dl_tensor;
    d->data = data;
    d->device.device_type = kDLCPU;
    d->ndim = 1;
    d->dtype.code = kDLUInt;
    d->dtype.bits = 32;
    d->dtype.lanes = 1;
    d->shape = t->shape;
    t->shape[0] = elements;
    t->managed.deleter = tensor_deleted;
}

/* ---- export ---- */

static const struct { vd_type type; uint64_t shape[4]; int code, bits, ndim; int64_t out[6]; } described[] = {
    { VD_F32, { 5, 0, 0, 0 }, kDLFloat, 32, 1, { 5 } }, { VD_F64, { 2, 3, 0, 0 }, kDLFloat, 64, 2, { 2, 3 } },
    { VD_F16, { 2, 1, 4, 0 }, kDLFloat, 16, 3, { 2, 1, 4 } }, { VD_I8, { 4, 3, 2, 7 }, kDLInt, 8, 4, { 4, 3, 2, 7 } },
    { VD_I16, { 8, 0, 0, 0 }, kDLInt, 16, 1, { 8 } }, { VD_I32, { 1, 0, 0, 0 }, kDLInt, 32, 1, { 1 } },
    { VD_I64, { 9, 0, 0, 0 }, kDLInt, 64, 1, { 9 } }, { VD_U8, { 7, 0, 0, 0 }, kDLUInt, 8, 1, { 7 } },
    { VD_U16, { 7, 0, 0, 0 }, kDLUInt, 16, 1, { 7 } }, { VD_U32, { 7, 0, 0, 0 }, kDLUInt, 32, 1, { 7 } },
    { VD_U64, { 7, 0, 0, 0 }, kDLUInt, 64, 1, { 7 } }, { VD_BOOL, { 7, 0, 0, 0 }, kDLUInt, 32, 1, { 7 } },
    { VD_BYTES, { 13, 0, 0, 0 }, kDLUInt, 8, 1, { 13 } }, { VD_STRUCT(12), { 3, 0, 0, 0 }, kDLUInt, 8, 2, { 3, 12 } },
    { VD_F32X3, { 5, 0, 0, 0 }, kDLFloat, 32, 2, { 5, 3 } }, { VD_I32X2, { 5, 2, 0, 0 }, kDLInt, 32, 3, { 5, 2, 2 } },
    { VD_MAT(VD_F32, 2, 3), { 5, 0, 0, 0 }, kDLFloat, 32, 3, { 5, 3, 2 } },
    { VD_F32X4X4, { 2, 3, 4, 5 }, kDLFloat, 32, 6, { 2, 3, 4, 5, 4, 4 } },
    { VD_F32C, { 6, 0, 0, 0 }, kDLComplex, 64, 1, { 6 } }, { VD_F64C, { 6, 0, 0, 0 }, kDLComplex, 128, 1, { 6 } },
    { VD_F16C, { 6, 0, 0, 0 }, kDLComplex, 32, 1, { 6 } },
};

TEST(a_tensor_has_type_and_shape) {
    for (size_t i = 0; i < COUNT(described); i++) {
        vd_buffer_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.type = described[i].type;
        desc.memory = VD_MEMORY_SHARED;
        memcpy(desc.shape, described[i].shape, sizeof desc.shape);
        vd_buffer b = vd_buffer_create(f->ctx, &desc);
        if (!b.id) fail_msg("%s: %s", vd_type_name(desc.type), vd_error_text());
        DLManagedTensor *t = export_as(f->ctx, b, 0);
        const DLTensor *d = &t->dl_tensor;
        int64_t stride = 1;
        if (d->dtype.code != described[i].code || d->dtype.bits != described[i].bits || d->dtype.lanes != 1
            || d->ndim != described[i].ndim)
            fail_msg("%s: code %d, %d bits, %d lanes, %d axes", vd_type_name(desc.type), d->dtype.code, d->dtype.bits,
                     d->dtype.lanes, d->ndim);
        for (int axis = d->ndim; axis-- > 0; stride *= d->shape[axis]) {
            assert_int_equal(d->shape[axis], described[i].out[axis]);
            assert_int_equal(d->strides[axis], stride);
        }
        assert_int_equal(stride * (d->dtype.bits / 8), (int64_t)info_of(f->ctx, b).size);
        assert_int_equal((int)d->device.device_type, own_type(f, b));
        t->deleter(t);
        vd_buffer_destroy(f->ctx, b);
    }
}

/* The tensor shares the buffer's bytes, includes the view's offset, and export waits for earlier work. */
TEST(host_tensors_share_the_memory) {
    uint32_t data[64], seven = 7;
    for (uint32_t i = 0; i < 64; i++) data[i] = i;
    vd_buffer b = buffer_in(f->ctx, VD_MEMORY_SHARED, false, 64, data);
    vd_view_desc part;
    DLManagedTensor *t = NULL;
    memset(&part, 0, sizeof part);
    part.buffer = b;
    part.offset = 32;
    part.type = VD_U32;
    part.shape[0] = 4;
    part.shape[1] = 6;
    vd_buffer view = vd_buffer_view(f->ctx, &part);
    OK(vd_fill(vd_immediate(f->ctx, 0, 0), b, 36, 4, &seven, 4));
    if (!info_of(f->ctx, b).persistent) {
        FAILS(vd_dlpack_export(f->ctx, view, kDLCPU, &t), VD_ERROR_UNSUPPORTED,
              "vd_dlpack_export|'mine'|host cannot access");
        return;
    }
    t = export_as(f->ctx, view, kDLCPU);
    uint32_t *words = (uint32_t *)(void *)((uint8_t *)t->dl_tensor.data + t->dl_tensor.byte_offset);
    assert_true(t->dl_tensor.ndim == 2 && t->dl_tensor.shape[0] == 4 && t->dl_tensor.shape[1] == 6
                && t->dl_tensor.device.device_id == 0);
    assert_true(words[0] == 8 && words[1] == 7 && words[2] == 10 && words[23] == 31);
    words[2] = 1000;
    vd_buffer_destroy(f->ctx, b); /* destroys the view; the memory lives on */
    FAILS(vd_buffer_write(f->ctx, view, 0, data, 4), VD_ERROR_INVALID, "destroyed");
    OK(vd_wait_idle(f->ctx));
    for (int i = 0; i < 20; i++) vd_buffer_destroy(f->ctx, buffer_in(f->ctx, VD_MEMORY_SHARED, false, 64, data));
    assert_true(words[1] == 7 && words[2] == 1000);
    words[3] = 5;
    t->deleter(t);
    still_works(f);
}

typedef struct late { DLManagedTensor *t; uint32_t got; } late;

static void *late_reader(void *user) {
    late *l = (late *)user;
    memcpy(&l->got, (uint8_t *)l->t->dl_tensor.data + l->t->dl_tensor.byte_offset + 8, 4);
    l->t->deleter(l->t);
    return NULL;
}

/* Destroying the last tensor destroys the context, on any thread. */
TEST(tensors_outlive_their_context) {
    account memory = { 0, 0, 0 };
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    uint32_t data[4] = { 1, 2, 3, 4 };
    desc.allocator = account_allocator(&memory);
    OK(vd_context_create(&desc, &ctx));
    vd_buffer a = buffer_in(ctx, VD_MEMORY_SHARED, false, 4, data), b = buffer_in(ctx, kept_memory(f), false, 4, data);
    bool seen = info_of(ctx, a).persistent;
    DLManagedTensor *other = export_as(ctx, b, 0), *twice = export_as(ctx, b, 0),
                    *t = export_as(ctx, a, seen ? kDLCPU : 0);
    late l = { t, 0 };
    vd_context_destroy(ctx);
    assert_true(memory.live > 0);
    other->deleter(other);
    if (seen) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, late_reader, &l), 0);
        pthread_join(thread, NULL);
        assert_int_equal(l.got, 3);
    } else t->deleter(t);
    assert_true(memory.live > 0);
    twice->deleter(twice);
    assert_int_equal(memory.live, 0);
}

static void counted(void *user, uint64_t address) { (void)address; ++*(int *)user; }

/* ---- tensors of a destroyed context, deleted in its callbacks ---- */

enum { CHAIN = 4 };
typedef struct chain { DLManagedTensor *tensors[CHAIN]; int deleted, released; bool from_log; } chain;

static void chain_delete(chain *c) {
    DLManagedTensor *t = c->deleted < CHAIN ? c->tensors[c->deleted] : NULL;
    if (t) {
        c->deleted++;
        t->deleter(t);
    }
}

static void delete_on_release(void *user, uint64_t address) {
    (void)address;
    ((chain *)user)->released++;
    chain_delete((chain *)user);
}

static void delete_on_log(void *user, vd_log_level level, const char *message) {
    (void)level, (void)message;
    if (((chain *)user)->from_log) chain_delete((chain *)user);
}

/* A context with CHAIN buffers in memory of the host, each exported. Returns NULL if the device cannot import that. */
static vd_context *chain_open(fixture *f, chain *c, account *memory) {
    static uint64_t host[CHAIN][512] __attribute__((aligned(4096)));
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    memset(c, 0, sizeof *c);
    memset(memory, 0, sizeof *memory);
    desc.allocator = account_allocator(memory);
    desc.log = delete_on_log;
    desc.log_user = c;
    OK(vd_context_create(&desc, &ctx));
    for (int i = 0; i < CHAIN; i++) {
        vd_buffer_desc d;
        memset(&d, 0, sizeof d);
        d.name = "kept";
        d.type = VD_U32;
        d.shape[0] = 256;
        d.import = VD_IMPORT_HOST;
        d.address = (uintptr_t)host[i];
        d.release = delete_on_release;
        d.release_user = c;
        vd_buffer b = vd_buffer_create(ctx, &d);
        if (!b.id) {
            vd_context_destroy(ctx);
            return NULL;
        }
        c->tensors[i] = export_as(ctx, b, 0);
    }
    return ctx;
}

/* The release callback of each buffer deletes the tensor of the next one; the last tensor frees the context. */
TEST(tensors_deleted_in_release) {
    chain c;
    account memory;
    vd_context *ctx = chain_open(f, &c, &memory);
    if (!ctx) skip_because("this device cannot import host memory");
    vd_context_destroy(ctx);
    assert_true(memory.live > 0 && !c.released);
    chain_delete(&c);
    assert_int_equal(c.deleted, CHAIN);
    assert_int_equal(c.released, CHAIN);
    assert_int_equal(memory.live, 0);
}

/* All tensors are deleted in callbacks of vd_context_destroy. The first is that of a message. */
TEST(tensors_deleted_while_the_context_is_destroyed) {
    chain c;
    account memory;
    vd_context *ctx = chain_open(f, &c, &memory);
    if (!ctx) skip_because("this device cannot import host memory");
    c.from_log = true;
    vd__logf(&ctx->host, VD_LOG_INFO, "a message");
    vd_context_destroy(ctx);
    assert_int_equal(c.deleted, CHAIN);
    assert_int_equal(c.released, CHAIN);
    assert_int_equal(memory.live, 0);
}

/* The release callback of another context deletes the last tensor, whose deletion has further callbacks. */
TEST(tensors_deleted_in_a_callback_of_another_context) {
    chain outer, inner;
    account memory, other_memory;
    vd_context *ctx = chain_open(f, &inner, &memory);
    if (!ctx) skip_because("this device cannot import host memory");
    vd_context *other = chain_open(f, &outer, &other_memory);
    DLManagedTensor *last = outer.tensors[CHAIN - 1];
    outer.tensors[CHAIN - 1] = inner.tensors[0];
    inner.deleted = 1;
    vd_context_destroy(ctx);
    vd_context_destroy(other);
    chain_delete(&outer);
    assert_int_equal(outer.deleted, CHAIN);
    assert_int_equal(inner.deleted, CHAIN);
    assert_int_equal(inner.released, CHAIN);
    assert_int_equal(memory.live, 0);
    assert_int_equal(outer.released, CHAIN - 1);
    last->deleter(last);
    assert_int_equal(outer.released, CHAIN);
    assert_int_equal(other_memory.live, 0);
}

/* A destroyed buffer that a tensor keeps alive does not delay the release of later ones. */
TEST(a_kept_buffer_does_not_delay_others) {
    static uint32_t host[1024];
    int released = 0;
    vd_buffer kept = buffer_in(f->ctx, kept_memory(f), false, 64, NULL);
    DLManagedTensor *t = export_as(f->ctx, kept, 0);
    vd_buffer_destroy(f->ctx, kept);
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.type = VD_U32;
    desc.shape[0] = 256;
    desc.import = VD_IMPORT_HOST;
    desc.address = ((uintptr_t)host + 63) / 64 * 64;
    desc.release = counted;
    desc.release_user = &released;
    vd_buffer b = vd_buffer_create(f->ctx, &desc);
    if (!b.id) check_text("vd_buffer_create", "does not support importing host memory");
    vd_buffer_destroy(f->ctx, b);
    assert_int_equal(released, b.id != 0);
    t->deleter(t);
}

TEST(not_a_tensor) {
    DLManagedTensor no_tensor, *t = NULL;
    vd_buffer b = buffer_u32(f->ctx, "plain", 4, NULL), dead = buffer_u32(f->ctx, "dead", 4, NULL);
    FAILS(vd_dlpack_export(NULL, b, 0, &t), VD_ERROR_INVALID, "vd_dlpack_export|the context is NULL");
    FAILS(vd_dlpack_export(f->ctx, b, 0, NULL), VD_ERROR_INVALID, "vd_dlpack_export|out is NULL");
    vd_buffer_destroy(f->ctx, dead);
    FAILS(vd_dlpack_export(f->ctx, dead, 0, &t), VD_ERROR_INVALID, "vd_dlpack_export|was destroyed");
    vd_buffer none = { 0 };
    FAILS(vd_dlpack_export(f->ctx, none, 0, &t), VD_ERROR_INVALID, "handle is 0");
    if (!info_of(f->ctx, b).mapped)
        FAILS(vd_dlpack_export(f->ctx, b, kDLCPU, &t), VD_ERROR_UNSUPPORTED, "'plain'|kDLCPU|VD_MEMORY_SHARED");
    t = &no_tensor;
    FAILS(vd_dlpack_export(f->ctx, b, NO_DEVICE, &t), VD_ERROR_UNSUPPORTED,
          "'plain'|cannot be a tensor of device type 99, only of|(kDL");
    assert_null(t);
    DLManagedTensorVersioned other, *v = &other;
    FAILS(vd_dlpack_export_versioned(NULL, b, 0, &v), VD_ERROR_INVALID, "vd_dlpack_export_versioned|the context is NULL");
    assert_null(v);
    FAILS(vd_dlpack_export_versioned(f->ctx, none, 0, &v), VD_ERROR_INVALID, "vd_dlpack_export_versioned|handle is 0");
    FAILS(vd_dlpack_export_versioned(f->ctx, dead, 0, &v), VD_ERROR_INVALID, "vd_dlpack_export_versioned|was destroyed");
    FAILS(vd_dlpack_export_versioned(f->ctx, b, NO_DEVICE, &v), VD_ERROR_UNSUPPORTED, "vd_dlpack_export_versioned|device type 99");
    vd_buffer kernel = { kernel_affine(f->ctx).id };
    FAILS(vd_dlpack_export(f->ctx, kernel, 0, &t), VD_ERROR_INVALID, "vd_dlpack_export|expected a buffer, got a kernel");
    still_works(f);
}

TEST(no_memory_for_a_tensor) {
    DLManagedTensor *t = NULL;
    vd_buffer b = buffer_u32(f->ctx, "plain", 4, NULL);
    OK(vd_wait_idle(f->ctx));
    f->memory.fail_at = f->memory.calls + 1;
    vd_result r = vd_dlpack_export(f->ctx, b, 0, &t);
    f->memory.fail_at = 0;
    check_failure("vd_dlpack_export", r, VD_ERROR_OUT_OF_MEMORY, "out of host memory|'plain'");
    assert_null(t);
    still_works(f);
}

/* ---- import ---- */

enum { WORDS = 1024 };

static void check_import(fixture *f, uint32_t *data, bool in_place_or_copy) {
    tensor t;
    uint32_t got[4], five = 5;
    for (uint32_t i = 0; i < WORDS; i++) data[i] = i;
    tensor_init(&t, data, WORDS - 4);
    t.managed.dl_tensor.byte_offset = 16;
    vd_buffer b = vd_dlpack_import(f->ctx, &t.managed, "theirs");
    if (!b.id) fail_msg("vd_dlpack_import: %s", vd_error_text());
    vd_buffer_info info = info_of(f->ctx, b);
    assert_true(info.type == VD_U32 && info.shape[0] == WORDS - 4 && info.size == 4 * (WORDS - 4)
                && !strcmp(info.name, "theirs"));
    assert_int_equal(t.deleted, info.imported ? 0 : 1);
    assert_true(in_place_or_copy || !info.imported);
    assert_int_equal(read_u32(f->ctx, b, 10), 14);
    OK(vd_fill(vd_immediate(f->ctx, 0, 0), b, 8, 4, &five, 4));
    if (f->executes) OK(affine(vd_immediate(f->ctx, 0, 0), kernel_affine(f->ctx), b, WORDS - 4, 2, 1));
    OK(vd_buffer_read(f->ctx, b, 0, got, sizeof got));
    assert_true(got[2] == (f->executes ? 11u : 5u) && got[0] == (f->executes ? 9u : 4u));
    vd_buffer_destroy(f->ctx, b);
    OK(vd_wait_idle(f->ctx));
    vd_buffer_destroy(f->ctx, buffer_u32(f->ctx, "any", 1, NULL));
    assert_int_equal(t.deleted, 1);
    assert_int_equal(data[6], info.imported ? got[2] : 6u);
    assert_int_equal(data[4 + WORDS - 5], info.imported && f->executes ? 2u * (WORDS - 1) + 1 : WORDS - 1u);
    assert_int_equal(data[3], 3);
}

TEST(host_tensors_are_imported) {
    void *block = NULL;
    assert_int_equal(posix_memalign(&block, 4096, 4096 + 4 * WORDS), 0);
    check_import(f, (uint32_t *)block, true);
    check_import(f, (uint32_t *)(void *)((uint8_t *)block + 256), true);
    check_import(f, (uint32_t *)(void *)((uint8_t *)block + 4), false);
    free(block);
}

/* Host memory is not copied if the device can use it in place. */
TEST(host_memory_is_used_in_place) {
    void *block = NULL;
    int released = 0;
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    assert_int_equal(posix_memalign(&block, 4096, 8192), 0);
    memset(block, 0, 8192);
    desc.name = "hosts";
    desc.type = VD_U32;
    desc.shape[0] = 100;
    desc.import = VD_IMPORT_HOST;
    desc.address = (uintptr_t)block;
    desc.address_offset = 256;
    desc.release = counted;
    desc.release_user = &released;
    vd_buffer b = vd_buffer_create(f->ctx, &desc);
    if (!b.id) {
        check_text("vd_buffer_create", "'hosts'|does not support importing host memory");
        assert_true(f->backend != VD_BACKEND_DUMMY);
        free(block);
        skip_because("this device takes no memory of the host's, and says so");
    }
    uint32_t word = 77, *data = (uint32_t *)block;
    OK(vd_fill(vd_immediate(f->ctx, 0, 0), b, 4, 8, &word, 4));
    if (info_of(f->ctx, b).mapped) {
        void *mapped = NULL;
        OK(vd_buffer_map(f->ctx, b, 0, VD_READ, &mapped));
        assert_true((uint8_t *)mapped == (uint8_t *)block + 256 && data[64] == 0 && data[65] == 77 && data[66] == 77);
        OK(vd_buffer_unmap(f->ctx, b, 0));
    }
    vd_buffer_destroy(f->ctx, b);
    OK(vd_wait_idle(f->ctx));
    vd_buffer_destroy(f->ctx, buffer_u32(f->ctx, "any", 1, NULL));
    assert_int_equal(released, 1);
    assert_true(data[64] == 0 && data[65] == 77 && data[66] == 77 && data[67] == 0);
    free(block);
}

/* Export and import in one context: the context itself owns the memory. */
TEST(a_round_trip_in_one_context) {
    uint32_t data[64] = { 1, 2, 3 }, nine = 9;
    vd_buffer a = buffer_in(f->ctx, VD_MEMORY_SHARED, f->backend == VD_BACKEND_OPENCL, 64, data);
    int type = own_type(f, a);
    if (type == kDLVulkan) type = info_of(f->ctx, a).persistent ? kDLCPU : 0;
    if (!type) skip_because("this Vulkan device shows no memory to the host");
    DLManagedTensor *t = export_as(f->ctx, a, type);
    vd_buffer b = vd_dlpack_import(f->ctx, t, "again");
    if (!b.id) fail_msg("vd_dlpack_import: %s", vd_error_text());
    bool same = info_of(f->ctx, b).imported;
    assert_true(same || f->backend == VD_BACKEND_VULKAN);
    OK(vd_fill(vd_immediate(f->ctx, 0, 0), b, 4, 4, &nine, 4));
    assert_int_equal(read_u32(f->ctx, b, 1), 9);
    assert_int_equal(read_u32(f->ctx, a, 1), same ? 9 : 2);
    vd_buffer_destroy(f->ctx, a); /* the import lives on; the context may be destroyed before it */
    assert_int_equal(read_u32(f->ctx, b, 2), 3);
}

static int versioned_deleted;
static void versioned_deleter(DLManagedTensorVersioned *self) { (void)self; versioned_deleted++; }

/* The struct of DLPack 1.x; read-only tensors are copied and never written. */
TEST(versioned_tensors) {
    static uint32_t data[3072];
    uint32_t *words = (uint32_t *)(((uintptr_t)data + 4095) / 4096 * 4096), five = 5;
    tensor t;
    DLManagedTensorVersioned v, *out = NULL;
    for (uint64_t flags = 0; flags < 2; flags++) {
        memset(&v, 0, sizeof v);
        memset(words, 0, 4096);
        tensor_init(&t, words, 256);
        v.version.major = 1;
        v.version.minor = 7;
        v.dl_tensor = t.managed.dl_tensor;
        v.deleter = versioned_deleter;
        v.flags = flags;
        versioned_deleted = 0;
        vd_buffer b = vd_dlpack_import_versioned(f->ctx, &v, "theirs");
        if (!b.id) fail_msg("vd_dlpack_import_versioned: %s", vd_error_text());
        bool imported = info_of(f->ctx, b).imported;
        assert_true(versioned_deleted == !imported && (!flags || !imported));
        OK(vd_fill(vd_immediate(f->ctx, 0, 0), b, 0, 4, &five, 4));
        assert_int_equal(read_u32(f->ctx, b, 0), 5);
        vd_result r = vd_dlpack_export_versioned(f->ctx, b, 0, &out);
        if (f->backend != VD_BACKEND_DUMMY || imported) OK(r);
        else check_failure("vd_dlpack_export_versioned", r, VD_ERROR_UNSUPPORTED, "vd_dlpack_export_versioned|kDLCPU");
        vd_buffer_destroy(f->ctx, b);
        OK(vd_wait_idle(f->ctx));
        if (out) {
            assert_true(out->version.major == 1 && !out->flags && out->dl_tensor.ndim == 1
                        && out->dl_tensor.shape[0] == 256);
            assert_int_equal(versioned_deleted, !imported);
            out->deleter(out);
        }
        assert_int_equal(versioned_deleted, 1);
        assert_int_equal(words[0], imported ? 5 : 0);
    }
    v.version.major = 2;
    assert_true(vd_dlpack_import_versioned(f->ctx, &v, "theirs").id == 0);
    check_text("vd_dlpack_import_versioned", "vd_dlpack_import_versioned 'theirs'|DLPack version 2.7, but only 1.x");
    v.version.major = 1;
    v.flags = 1;
    *(int *)&v.dl_tensor.device.device_type = kDLOpenCL;
    assert_true(vd_dlpack_import_versioned(f->ctx, &v, "theirs").id == 0);
    check_text("vd_dlpack_import_versioned", "vd_dlpack_import_versioned 'theirs'|read-only|device type is 4");
    assert_true(vd_dlpack_import_versioned(f->ctx, NULL, "theirs").id == 0);
    check_text("vd_dlpack_import_versioned", "the tensor is NULL");
    assert_true(vd_dlpack_import_versioned(NULL, &v, "theirs").id == 0);
    check_text("vd_dlpack_import_versioned", "the context is NULL");
    FAILS(vd_dlpack_export_versioned(f->ctx, buffer_u32(f->ctx, "x", 4, NULL), 0, NULL), VD_ERROR_INVALID,
          "vd_dlpack_export_versioned|out is NULL");
    assert_int_equal(versioned_deleted, 1);
}

/* Every allocation of an import fails in turn: the tensor is not taken, and nothing leaks. */
TEST(no_memory_for_an_import) {
    static uint32_t data[2048];
    int taken = 0;
    for (long left = 1; left < 40 && !taken; left++) {
        tensor t;
        tensor_init(&t, (void *)(((uintptr_t)data + 4095) / 4096 * 4096), 256);
        f->memory.fail_at = f->memory.calls + left;
        vd_buffer b = vd_dlpack_import(f->ctx, &t.managed, "theirs");
        f->memory.fail_at = 0;
        if (!b.id) check_text("vd_dlpack_import", "vd_dlpack_import 'theirs'|out of host memory");
        taken = b.id != 0;
        assert_int_equal(t.deleted, taken && !info_of(f->ctx, b).imported);
        vd_buffer_destroy(f->ctx, b);
        OK(vd_wait_idle(f->ctx));
        vd_buffer_destroy(f->ctx, buffer_u32(f->ctx, "any", 1, NULL));
        assert_int_equal(t.deleted, taken);
    }
    assert_true(taken);
    still_works(f);
}

/* The owner is notified when the last work is done, also if its list is submitted later or discarded. */
TEST(pending_work_keeps_the_owner_alive) {
    static uint32_t data[2048];
    for (int submitted = 0; submitted < 2; submitted++) {
        tensor t;
        uint32_t word = 3;
        memset(data, 0, sizeof data);
        tensor_init(&t, (void *)(((uintptr_t)data + 4095) / 4096 * 4096), 256);
        vd_buffer b = vd_dlpack_import(f->ctx, &t.managed, "theirs");
        if (!b.id) fail_msg("vd_dlpack_import: %s", vd_error_text());
        bool imported = info_of(f->ctx, b).imported;
        vd_list *list = list_begin(f->ctx);
        OK(vd_fill(list, b, 0, 1024, &word, 4));
        vd_buffer_destroy(f->ctx, b);
        OK(vd_wait_idle(f->ctx));
        vd_buffer_destroy(f->ctx, buffer_u32(f->ctx, "any", 1, NULL));
        assert_int_equal(t.deleted, !imported);
        if (submitted) OK(vd_submit(list, NULL, NULL));
        else vd_list_discard(list);
        OK(vd_wait_idle(f->ctx));
        vd_buffer_destroy(f->ctx, buffer_u32(f->ctx, "any", 1, NULL));
        assert_int_equal(t.deleted, 1);
        if (imported) assert_int_equal(*(uint32_t *)t.managed.dl_tensor.data, submitted ? 3 : 0);
    }
}

enum { THREADS = 4, TURNS = 200 };
typedef struct worker { vd_context *ctx; vd_buffer shared; int wrong; } worker;

static void *exports_and_imports(void *user) {
    worker *w = (worker *)user;
    for (uint32_t i = 0; i < TURNS; i++) {
        DLManagedTensor *t = NULL, *own = NULL;
        vd_buffer_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.type = VD_U32;
        desc.shape[0] = 16;
        desc.memory = VD_MEMORY_SHARED;
        vd_buffer b = vd_buffer_create(w->ctx, &desc);
        if (vd_dlpack_export(w->ctx, w->shared, 0, &t) || vd_dlpack_export(w->ctx, b, 0, &own)) w->wrong++;
        vd_buffer_destroy(w->ctx, b);
        if (t && t->dl_tensor.shape[0] != 64) w->wrong++;
        if (t) t->deleter(t);
        if (own) own->deleter(own);
    }
    return NULL;
}

TEST(tensors_on_several_threads) {
    pthread_t threads[THREADS];
    worker w[THREADS];
    uint64_t before = stats_of(f->ctx).buffers;
    vd_buffer b = buffer_in(f->ctx, VD_MEMORY_SHARED, false, 64, NULL);
    for (int i = 0; i < THREADS; i++) {
        w[i].ctx = f->ctx;
        w[i].shared = b;
        w[i].wrong = 0;
        assert_int_equal(pthread_create(&threads[i], NULL, exports_and_imports, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(w[i].wrong, 0);
    }
    vd_buffer_destroy(f->ctx, b);
    assert_int_equal(stats_of(f->ctx).buffers, before);
}

/* Two devices in one context: imported memory belongs to one of them. */
TEST_DEVICES(imported_memory_belongs_to_one_device) {
    static uint32_t data[2048];
    vd_context *ctx = NULL;
    vd_context_desc desc = fixture_desc(f);
    desc.devices = devices_of(f);
    desc.device_count = 2;
    OK(vd_context_create(&desc, &ctx));
    vd_buffer_desc d;
    memset(&d, 0, sizeof d);
    d.name = "x";
    d.type = VD_U32;
    d.shape[0] = 8;
    d.exportable = true;
    assert_true(vd_buffer_create(ctx, &d).id == 0);
    check_text("vd_buffer_create", "'x': desc.exportable|needs exactly one device, but the device mask is 0x3; set "
               "exactly one bit of desc.devices");
    tensor t;
    tensor_init(&t, data, 64);
    for (uint32_t i = 0; i < 64; i++) data[i] = i + 1;
    vd_buffer b = vd_dlpack_import(ctx, &t.managed, "theirs"); /* a copy on each device */
    assert_true(info_of(ctx, b).devices == 3 && t.deleted == 1);
    vd_region_desc region;
    memset(&region, 0, sizeof region);
    region.buffer = b;
    region.row_bytes = 4;
    region.offset = 40;
    region.device = 2;
    uint32_t got = 0;
    OK(vd_buffer_read_region(ctx, &region, &got));
    assert_int_equal(got, 11);
    d.devices = 2;
    d.exportable = false;
    d.address = ((uintptr_t)data + 4095) / 4096 * 4096;
    d.import = VD_IMPORT_HOST;
    b = vd_buffer_create(ctx, &d);
    if (!b.id) check_text("vd_buffer_create", "does not support importing host memory");
    else {
        FAILS(vd_fill(vd_immediate(ctx, 0, 0), b, 0, 4, NULL, 0), VD_ERROR_INVALID, "has no memory on device 0");
        OK(vd_fill(vd_immediate(ctx, 1, 0), b, 0, 4, NULL, 0));
    }
    vd_context_destroy(ctx);
}

/* ---- invalid tensors ---- */

static const struct { const char *what; int code, bits, lanes; } no_types[] = {
    { "an opaque handle", OPAQUE_CODE, 64, 1 }, { "bfloat16", 4, 16, 1 }, { "i128", kDLInt, 128, 1 },
    { "i4", kDLInt, 4, 1 }, { "f8", kDLFloat, 8, 1 }, { "no lanes", kDLFloat, 32, 0 },
    { "five lanes", kDLFloat, 32, 5 }, { "complex of 256 bits", kDLComplex, 255, 1 }, { "code 200", 200, 32, 1 },
    { "vectors of complex numbers", kDLComplex, 64, 2 },
    { "a boolean of 32 bits", BOOL_CODE, 32, 1 },
};

static void refused(fixture *f, tensor *t, const char *words) {
    vd_buffer b = vd_dlpack_import(f->ctx, &t->managed, "theirs");
    if (b.id) fail_msg("a tensor was taken that should fail with '%s'", words);
    check_text("vd_dlpack_import", "vd_dlpack_import 'theirs'");
    check_text("vd_dlpack_import", words);
    assert_int_equal(t->deleted, 0);
}

TEST(bad_tensors_are_refused) {
    uint32_t data[64] = { 0 };
    tensor t, good;
    tensor_init(&good, data, 8);
    assert_true(vd_dlpack_import(NULL, &good.managed, "theirs").id == 0);
    check_text("vd_dlpack_import", "the context is NULL");
    assert_true(vd_dlpack_import(f->ctx, NULL, "theirs").id == 0);
    check_text("vd_dlpack_import", "the tensor is NULL");
    for (size_t i = 0; i < COUNT(no_types); i++) {
        t = good;
        t.managed.dl_tensor.dtype.code = (uint8_t)no_types[i].code;
        t.managed.dl_tensor.dtype.bits = (uint8_t)no_types[i].bits;
        t.managed.dl_tensor.dtype.lanes = (uint16_t)no_types[i].lanes;
        refused(f, &t, "has no vd_type");
    }
#define BAD(change, words) \
    do { t = good; t.managed.dl_tensor.shape = t.shape; change; refused(f, &t, words); } while (0)
    BAD(t.managed.dl_tensor.data = NULL, "data is NULL");
    BAD(t.managed.dl_tensor.ndim = 5, "ndim is 5, but must be 0 to 4");
    BAD(t.managed.dl_tensor.ndim = -1, "ndim is -1");
    BAD(t.managed.dl_tensor.shape = NULL, "ndim is 1, but shape is NULL");
    BAD(t.shape[0] = 0, "shape[0] is 0");
    BAD(t.shape[0] = -3, "shape[0] is -3");
    BAD((t.managed.dl_tensor.ndim = 2, t.shape[0] = t.shape[1] = INT64_MAX / 2), "2^63 - 1 bytes");
    BAD((t.shape[0] = INT64_MAX / 2), "2^63 - 1 bytes");
    BAD((t.managed.dl_tensor.strides = t.strides, t.strides[0] = 2), "strides[0] is 2|contiguous");
    BAD((t.managed.dl_tensor.ndim = 2, t.shape[0] = t.shape[1] = 2, t.managed.dl_tensor.strides = t.strides,
         t.strides[0] = 1, t.strides[1] = 2),
        "strides[1] is 2, but a contiguous tensor has 1");
    BAD(t.managed.dl_tensor.byte_offset = UINT64_MAX, "byte_offset 18446744073709551615 exceeds");
    BAD(*(int *)&t.managed.dl_tensor.device.device_type = NO_DEVICE, "does not support tensors of device type 99");
    if (f->backend != VD_BACKEND_CUDA)
        BAD(*(int *)&t.managed.dl_tensor.device.device_type = kDLCUDA, "does not support tensors of device type 2");
    else
        BAD((*(int *)&t.managed.dl_tensor.device.device_type = kDLCUDA, t.managed.dl_tensor.device.device_id = 7),
            "CUDA device 7");
    if (f->backend != VD_BACKEND_OPENCL)
        BAD(*(int *)&t.managed.dl_tensor.device.device_type = kDLOpenCL, "does not support tensors of device type 4");
    BAD(*(int *)&t.managed.dl_tensor.device.device_type = kDLVulkan, "does not support tensors of device type 7");
    still_works(f);
}

/* Bools of one byte are u8, lanes are vectors, axes of one element may have any stride, no axes mean one element; the
   deleter may be NULL. */
TEST(unusual_tensors_are_imported) {
    static uint32_t data[64] = { 0x01000001, 2, 3, 4 };
    static tensor bools, vectors, scalar; /* they may be owned until the context is destroyed */
    tensor_init(&bools, data, 8);
    bools.managed.dl_tensor.dtype.code = BOOL_CODE;
    bools.managed.dl_tensor.dtype.bits = 8;
    vd_buffer b = vd_dlpack_import(f->ctx, &bools.managed, "bools");
    vd_buffer_info info = info_of(f->ctx, b);
    assert_true(info.type == VD_U8 && info.size == 8);
    vd_buffer_destroy(f->ctx, b);
    tensor_init(&vectors, data, 8);
    vectors.managed.dl_tensor.dtype.lanes = 3;
    vectors.managed.deleter = NULL;
    vectors.managed.dl_tensor.ndim = 2;
    vectors.managed.dl_tensor.strides = vectors.strides;
    vectors.shape[1] = 1;
    vectors.strides[0] = 1;
    vectors.strides[1] = 55;
    b = vd_dlpack_import(f->ctx, &vectors.managed, NULL);
    info = info_of(f->ctx, b);
    assert_true(info.type == VD_U32X3 && info.size == 96 && info.shape[0] == 8 && info.shape[1] == 1);
    tensor_init(&scalar, data, 8);
    scalar.managed.dl_tensor.ndim = 0;
    scalar.managed.dl_tensor.shape = NULL;
    b = vd_dlpack_import(f->ctx, &scalar.managed, "scalar");
    assert_int_equal(info_of(f->ctx, b).size, 4);
    assert_int_equal(read_u32(f->ctx, b, 0), 0x01000001);
}

/* ---- descs of imported memory ---- */

static void no_buffer(fixture *f, const vd_buffer_desc *desc, const char *words) {
    vd_buffer b = vd_buffer_create(f->ctx, desc);
    if (b.id) fail_msg("a buffer was made that should fail with '%s'", words);
    check_text("vd_buffer_create", words);
}

TEST(bad_imports_are_refused) {
    vd_buffer_desc good, d;
    vd_external e;
    uint32_t data[8] = { 0 };
    memset(&good, 0, sizeof good);
    memset(&e, 0, sizeof e);
    good.name = "x";
    good.type = VD_U32;
    good.shape[0] = 8;
    e.size = 4096;
    memset(e.uuid, 0xEE, sizeof e.uuid);
#define NO(change, words) do { d = good; change; no_buffer(f, &d, "vd_buffer_create 'x'|" words); } while (0)
    NO(d.import = (vd_import)7, "desc.import is 7, not a valid vd_import (0 to 2)");
    NO(d.import = VD_IMPORT_HOST, "desc.import is set, but desc.address is 0");
    NO(d.address_offset = 16, "desc.address_offset is set, but neither desc.address nor desc.external is");
    NO(d.release = counted, "desc.release is set, but neither desc.address nor desc.external is");
    NO((d.address = 4096, d.exportable = true), "cannot be exportable");
    NO((d.address = 4096, d.external = &e), "desc.address and desc.external are both set");
    NO((d.import = VD_IMPORT_HOST, d.external = &e), "applies only to desc.address, and desc.external is set");
    NO((d.data = data, d.external = &e), "desc.data are both set");
    uint32_t shares = f->ctx->devices->device.sharing_mask;
    if (shares >> VD__SHARE_HANDLE & 1u) {
        NO(d.external = &e, "desc.external belongs to another device (UUID eeee");
        memcpy(e.uuid, vd_device(f->ctx, 0)->uuid, sizeof e.uuid);
        NO((e.offset = 4090, d.external = &e), "the buffer needs 32 bytes (with desc.address_offset) at desc.external->offset 4090, but "
           "desc.external->size is 4096");
        NO((e.offset = 0, e.handle = -1, d.external = &e), "desc.external->handle is -1");
        NO((e.handle = 9999, d.external = &e), "external");
    } else NO(d.external = &e, "does not support importing memory by handle");
    if (shares >> VD__SHARE_HOST & 1u)
        NO((d.address = 4100, d.import = VD_IMPORT_HOST), "0x1004 is not a multiple of 16");
    if (shares >> VD__SHARE_HOST & 1u)
        NO((d.address = 16, d.address_offset = UINT64_MAX - 40, d.import = VD_IMPORT_HOST),
           "exceeds the address space");
    if (!(shares >> VD__SHARE_OBJECT & 1u))
        NO((d.address = 4096, d.import = VD_IMPORT_CL_MEM), "does not support importing a cl_mem");
    if (!(shares >> VD__SHARE_EXPORT & 1u)) NO(d.exportable = true, "does not support exportable memory");
    if (!(shares >> VD__SHARE_ADDRESS & 1u)) NO(d.address = 4096, "does not support importing a device address");
    FAILS(vd_buffer_export(NULL, buffer_u32(f->ctx, "y", 4, NULL), &e), VD_ERROR_INVALID, "the context is NULL");
    FAILS(vd_buffer_export(f->ctx, buffer_u32(f->ctx, "y", 4, NULL), NULL), VD_ERROR_INVALID,
          "vd_buffer_export|out is NULL");
    FAILS(vd_buffer_export(f->ctx, buffer_u32(f->ctx, "y", 4, NULL), &e), VD_ERROR_INVALID,
          "'y' was not created with desc.exportable");
    assert_int_equal(e.handle, -1);
    still_works(f);
}

/* ---- external memory ---- */

static vd_buffer import_handle(vd_context *ctx, const vd_external *e, uint64_t elements) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "imported";
    desc.type = VD_U32;
    desc.shape[0] = elements;
    desc.external = e;
    return vd_buffer_create(ctx, &desc);
}

/* Both contexts share the memory, which outlives either of them and the handle. */
static void check_external(fixture *f, vd_context *from, vd_context *to) {
    uint32_t data[256], got[256], word = 4711;
    uint8_t bytes[5] = { 1, 2, 3, 4, 5 };
    for (uint32_t i = 0; i < 256; i++) data[i] = 3 * i;
    vd_buffer a = buffer_in(from, VD_MEMORY_DEVICE, true, 256, data);
    vd_external e;
    OK(vd_buffer_export(from, a, &e));
    assert_true(e.handle >= 0 && e.offset + 1024 <= e.size);
    vd_buffer b = import_handle(to, &e, 256), c = import_handle(to, &e, 16);
    if (!b.id || !c.id) fail_msg("vd_buffer_create: %s", vd_error_text());
    vd_buffer_desc odd;
    memset(&odd, 0, sizeof odd);
    odd.shape[0] = 5; /* not a multiple of 4 bytes */
    odd.external = &e;
    vd_buffer few = vd_buffer_create(to, &odd);
    if (!few.id) fail_msg("vd_buffer_create: %s", vd_error_text());
    OK(vd_buffer_write(to, few, 0, bytes, 5));
    OK(vd_buffer_write(to, few, 0, data, 5));
    OK(vd_wait_idle(to));
    vd_buffer_destroy(to, few);
    close((int)e.handle);
    assert_true(info_of(to, b).imported);
    OK(vd_buffer_read(to, b, 0, got, sizeof got));
    assert_memory_equal(got, data, sizeof data);
    OK(vd_fill(vd_immediate(to, 0, 0), c, 8, 4, &word, 4));
    if (f->executes) OK(affine(vd_immediate(to, 0, 0), kernel_affine(to), b, 2, 1, 1));
    OK(vd_wait_idle(to));
    OK(vd_buffer_read(from, a, 0, got, sizeof got));
    assert_true(got[0] == (f->executes ? 1u : 0u) && got[2] == 4711 && got[3] == 9);
    OK(vd_buffer_write(from, a, 12, &word, 4));
    vd_buffer_destroy(from, a);
    OK(vd_wait_idle(from));
    assert_int_equal(read_u32(to, b, 3), 4711);
    vd_buffer_destroy(to, b);
    assert_int_equal(read_u32(to, c, 2), 4711);
}

TEST(external_memory_within_vulkan) {
    uint32_t shares = f->ctx->devices->device.sharing_mask;
    if (!(shares >> VD__SHARE_EXPORT & 1u) || !(shares >> VD__SHARE_HANDLE & 1u))
        skip_because("this Vulkan device cannot export and import buffers by handle");
    check_external(f, f->ctx, context_beside(f));
    check_external(f, context_beside(f), f->ctx);
    assert_int_equal(f->messages, 0);
}

/* The index of the Vulkan device with the same UUID, or -1. */
static int vulkan_device_like(const vd_device_info *device) {
    vd_device_info infos[16];
    int count = vd_devices(VD_BACKEND_VULKAN, infos, 16);
    for (int i = 0; i < count && i < 16; i++)
        if (!memcmp(infos[i].uuid, device->uuid, sizeof device->uuid)) return infos[i].index;
    return -1;
}

TEST(vulkan_memory_in_cuda) {
    int index = vulkan_device_like(vd_device(f->ctx, 0));
    if (index < 0) skip_because("VULKAN MEMORY IN CUDA IS NOT TESTED HERE: no Vulkan device has the UUID of the CUDA device");
    vd_context *vulkan = NULL;
    vd_context_desc desc = fixture_desc(f);
    desc.backend = VD_BACKEND_VULKAN;
    desc.device = 1 + index;
    OK(vd_context_create(&desc, &vulkan));
    check_external(f, vulkan, f->ctx);
    vd_context_destroy(vulkan);
}

/* ---- OpenCL: objects of the application, and its own calls between ours ---- */

typedef struct theirs {
    const vd__cl_driver *cl;
    vd__cl_device_id device;
    vd__cl_context context;
    vd__cl_command_queue queue;
    vd_context *ctx;        /* created in them */
} theirs;

static theirs theirs_begin(fixture *f, uint64_t queue_properties) {
    const vd__cl_device *own = vd__cl_device_of(&f->ctx->devices->device);
    theirs t;
    int32_t error = 0;
    memset(&t, 0, sizeof t);
    t.cl = own->cl;
    t.device = own->id;
    t.context = t.cl->clCreateContext(NULL, 1, &t.device, NULL, NULL, &error);
    assert_int_equal(error, 0);
    t.queue = t.cl->clCreateCommandQueue(t.context, t.device, queue_properties, &error);
    assert_int_equal(error, 0);
    return t;
}

static vd_context_desc theirs_desc(fixture *f, const theirs *t) {
    vd_context_desc desc = fixture_desc(f);
    desc.cl_context = t->context;
    desc.cl_device = t->device;
    desc.cl_queue = t->queue;
    return desc;
}

static uint32_t references(const theirs *t) {
    uint32_t of_context = 0, of_queue = 0;
    assert_int_equal(t->cl->clGetContextInfo(t->context, 0x1080, 4, &of_context, NULL), 0);
    assert_int_equal(t->cl->clGetCommandQueueInfo(t->queue, 0x1092, 4, &of_queue, NULL), 0);
    return of_context << 16 | of_queue;
}

/* The driver releases some references a little later, on threads of its own. */
static void wait_for_references(const theirs *t, uint32_t wanted) {
    for (int i = 0; i < 2000 && references(t) != wanted; i++) vd__sleep(1000000);
    assert_int_equal(references(t), wanted);
}

static vd__cl_mem memory_by_hand(const theirs *t, uint32_t words) {
    int32_t error = 0;
    vd__cl_mem object = t->cl->clCreateBuffer(t->context, VD__CL_MEM_READ_WRITE, 4 * words, NULL, &error);
    assert_int_equal(error, 0);
    return object;
}

/* A driver's own threads may hold a reference for a moment after all work is done. */
static void expect_references(const theirs *t, vd__cl_mem object, uint32_t wanted) {
    uint32_t count = 0;
    for (int i = 0; i < 2000 && count != wanted; i++) {
        if (i) vd__sleep(1000000);
        assert_int_equal(t->cl->clGetMemObjectInfo(object, 0x1105, 4, &count, NULL), 0);
    }
    assert_int_equal(count, wanted);
}

static vd_buffer import_object(vd_context *ctx, vd__cl_mem object, uint64_t offset, uint64_t words) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "object";
    desc.type = VD_U32;
    desc.shape[0] = words;
    desc.import = VD_IMPORT_CL_MEM;
    desc.address = (uintptr_t)object;
    desc.address_offset = offset;
    return vd_buffer_create(ctx, &desc);
}

/* With calls of OpenCL: object[first … first + count) = word, without waiting. */
static void fill_by_hand(const theirs *t, vd__cl_mem object, uint32_t first, uint32_t count, uint32_t word) {
    assert_int_equal(t->cl->clEnqueueFillBuffer(t->queue, object, &word, 4, 4 * first, 4 * count, 0, NULL, NULL), 0);
}

/* Kernels of the library alternate with commands of the application in one queue, without waiting. */
static void check_turns(const theirs *t, vd__cl_mem object, vd_buffer b, uint32_t first, uint32_t words) {
    uint32_t *got = (uint32_t *)test_malloc(4 * words);
    vd_kernel k = kernel_affine(t->ctx);
    for (uint32_t round = 0; round < 20; round++) {
        fill_by_hand(t, object, first, words, round);
        OK(affine(vd_immediate(t->ctx, 0, 0), k, b, words, 3, 1));
        OK(affine(vd_immediate(t->ctx, 0, 0), k, b, words / 2, 2, 0));
        OK(vd_flush(t->ctx));
        assert_int_equal(t->cl->clEnqueueReadBuffer(t->queue, object, 1, 4 * first, 4 * words, got, 0, NULL, NULL), 0);
        for (uint32_t i = 0; i < words; i++)
            if (got[i] != (i < words / 2 ? 2 : 1) * (3 * round + 1))
                fail_msg("round %u, element %u is %u", round, i, got[i]);
    }
    vd_kernel_destroy(t->ctx, k);
    test_free(got);
}

static void run_in_theirs(fixture *f, uint64_t disable) {
    enum { WORDS_THERE = 4096 };
    theirs t = theirs_begin(f, 0);
    vd_context_desc desc = theirs_desc(f, &t);
    vd__cl_mem object = memory_by_hand(&t, WORDS_THERE);
    fill_by_hand(&t, object, 0, WORDS_THERE, 5);
    assert_int_equal(t.cl->clFinish(t.queue), 0); /* a driver may keep the last command and the objects it refers to */
    uint32_t before = references(&t);
    desc.disable = disable;
    OK(vd_context_create(&desc, &t.ctx));
    vd_buffer b = import_object(t.ctx, object, 0, WORDS_THERE), late_part = import_object(t.ctx, object, 1024, 100);
    if (!b.id || !late_part.id) fail_msg("vd_buffer_create: %s", vd_error_text());
    vd_buffer_info info = info_of(t.ctx, late_part);
    assert_true(info.imported && info.native == (uintptr_t)object && info.native_offset == 1024 && !info.mapped);
    assert_int_equal(read_u32(t.ctx, b, WORDS_THERE - 1), 5);
    check_turns(&t, object, b, 0, WORDS_THERE);
    check_turns(&t, object, late_part, 256, 100);
    /* the other direction: our memory in their calls; our buffer and theirs in one kernel */
    vd_buffer mine = buffer_in(t.ctx, VD_MEMORY_DEVICE, true, WORDS_THERE, NULL),
              plain = buffer_u32(t.ctx, "plain", WORDS_THERE, NULL);
    OK(vd_flush(t.ctx));
    info = info_of(t.ctx, mine);
    assert_true(info.native && !info.native_offset && !info.imported);
    check_turns(&t, vd__cl_unpack(info.native), mine, 0, WORDS_THERE);
    fill_by_hand(&t, object, 0, WORDS_THERE, 40);
    vd_kernel k = kernel_move(t.ctx);
    OK(move(vd_immediate(t.ctx, 0, 0), k, b, plain, WORDS_THERE, 2));
    OK(move(vd_immediate(t.ctx, 0, 0), k, plain, mine, WORDS_THERE, 3));
    OK(move(vd_immediate(t.ctx, 0, 0), k, mine, late_part, 100, 4));
    assert_int_equal(read_u32(t.ctx, b, 255), 40);
    assert_int_equal(read_u32(t.ctx, b, 256), 49);
    assert_int_equal(read_u32(t.ctx, mine, 4095), 45);
    vd_context_destroy(t.ctx);
    expect_references(&t, object, 1);
    wait_for_references(&t, before);
    fill_by_hand(&t, object, 0, 1, 1); /* everything still works */
    assert_int_equal(t.cl->clFinish(t.queue), 0);
    t.cl->clReleaseMemObject(object);
    t.cl->clReleaseCommandQueue(t.queue);
    t.cl->clReleaseContext(t.context);
}

TEST(in_a_context_of_the_application) { run_in_theirs(f, 0); }
TEST(in_a_context_of_the_application_with_buffer_objects) { run_in_theirs(f, VD_FEATURE_ADDRESS); }

/* A sub-buffer created by the application is a buffer, and views of it work. */
TEST(sub_buffers) {
    theirs t = theirs_begin(f, 0);
    vd_context_desc desc = theirs_desc(f, &t);
    vd__cl_region region;
    int32_t error = 0;
    OK(vd_context_create(&desc, &t.ctx));
    vd__cl_mem whole = memory_by_hand(&t, 4096);
    region.origin = 4096;
    region.size = 4096;
    vd__cl_mem part = t.cl->clCreateSubBuffer(whole, VD__CL_MEM_READ_WRITE, VD__CL_BUFFER_CREATE_TYPE_REGION, &region,
                                              &error);
    assert_int_equal(error, 0);
    fill_by_hand(&t, whole, 0, 4096, 6);
    vd_buffer b = import_object(t.ctx, part, 0, 1024), c = import_object(t.ctx, part, 1024, 100);
    if (!b.id || !c.id) fail_msg("vd_buffer_create: %s", vd_error_text());
    check_turns(&t, part, b, 0, 1024);
    check_turns(&t, part, c, 256, 100);
    uint32_t got[2];
    assert_int_equal(t.cl->clEnqueueReadBuffer(t.queue, whole, 1, 4092, 8, got, 0, NULL, NULL), 0);
    assert_true(got[0] == 6 && got[1] != 6);
    vd_context_destroy(t.ctx);
    assert_int_equal(t.cl->clFinish(t.queue), 0);
    expect_references(&t, part, 1);
    t.cl->clReleaseMemObject(part);
    expect_references(&t, whole, 1);
    t.cl->clReleaseMemObject(whole);
    t.cl->clReleaseCommandQueue(t.queue);
    t.cl->clReleaseContext(t.context);
}

/* A cl_mem as a tensor, exported and imported. */
TEST(tensors_of_objects) {
    theirs t = theirs_begin(f, 0);
    vd_context_desc desc = theirs_desc(f, &t);
    tensor in;
    OK(vd_context_create(&desc, &t.ctx));
    vd__cl_mem object = memory_by_hand(&t, 1024);
    fill_by_hand(&t, object, 0, 1024, 8);
    tensor_init(&in, object, 512);
    in.managed.dl_tensor.device.device_type = kDLOpenCL;
    in.managed.dl_tensor.byte_offset = 2048;
    vd_buffer b = vd_dlpack_import(t.ctx, &in.managed, "tensor");
    if (!b.id) fail_msg("vd_dlpack_import: %s", vd_error_text());
    check_turns(&t, object, b, 512, 512);
    DLManagedTensor *out = export_as(t.ctx, b, 0);
    assert_true(out->dl_tensor.data == object && out->dl_tensor.byte_offset == 2048
                && out->dl_tensor.device.device_type == kDLOpenCL);
    vd_buffer_destroy(t.ctx, b);
    OK(vd_wait_idle(t.ctx));
    assert_int_equal(in.deleted, 0);
    out->deleter(out);
    assert_int_equal(in.deleted, 1);
    in.managed.dl_tensor.byte_offset = 2052;
    assert_true(vd_dlpack_import(t.ctx, &in.managed, "tensor").id == 0);
    check_text("vd_dlpack_import", "the cl_mem in desc.address has 4096 bytes");
    assert_true(vd_dlpack_import(f->ctx, &in.managed, "tensor").id == 0);
    check_text("vd_dlpack_import", "the cl_mem in desc.address belongs to another context");
    assert_int_equal(in.deleted, 1);
    vd_context_destroy(t.ctx);
    t.cl->clReleaseMemObject(object);
    t.cl->clReleaseCommandQueue(t.queue);
    t.cl->clReleaseContext(t.context);
}

TEST(bad_objects_are_refused) {
    theirs t = theirs_begin(f, VD__CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), other = theirs_begin(f, 0);
    vd_context_desc good = theirs_desc(f, &other), d;
    vd_context *ctx = NULL;
    int one = 1;
#define NO_CONTEXT(change, result, words) \
    do { d = good; change; FAILS(vd_context_create(&d, &ctx), result, "vd_context_create|" words); } while (0)
    NO_CONTEXT(d.cl_device = NULL, VD_ERROR_INVALID, "desc.cl_device is NULL");
    NO_CONTEXT(d.cl_context = NULL, VD_ERROR_INVALID, "desc.cl_context is NULL");
    NO_CONTEXT(d.cl_context = d.cl_device = NULL, VD_ERROR_INVALID, "desc.cl_context is NULL");
    NO_CONTEXT(d.device = 1, VD_ERROR_INVALID, "desc.cl_device and desc.device are both set");
    NO_CONTEXT((d.devices = &one, d.device_count = 1), VD_ERROR_INVALID,
               "desc.cl_device and desc.devices are both set");
    NO_CONTEXT(d.device_name = "x", VD_ERROR_INVALID, "desc.cl_device and desc.device_name are both set");
    NO_CONTEXT(d.backend = VD_BACKEND_DUMMY, VD_ERROR_INVALID, "desc.cl_context requires VD_BACKEND_OPENCL");
    NO_CONTEXT(d.cl_device = &one, VD_ERROR_NO_DEVICE, "desc.cl_device is not one of the");
    NO_CONTEXT(d.cl_context = t.context, VD_ERROR_INVALID, "desc.cl_queue does not belong to desc.cl_context");
    NO_CONTEXT((d.cl_context = t.context, d.cl_queue = t.queue), VD_ERROR_INVALID,
               "desc.cl_queue executes commands out of order");
    d = good;
    d.cl_queue = NULL; /* a queue of ours in their context */
    OK(vd_context_create(&d, &ctx));
    vd__cl_mem object = memory_by_hand(&t, 16);
    assert_true(import_object(ctx, object, 0, 4).id == 0);
    check_text("vd_buffer_create", "vd_buffer_create 'object'|the cl_mem in desc.address belongs to another context");
    t.cl->clReleaseMemObject(object);
    object = memory_by_hand(&other, 16);
    assert_true(import_object(ctx, object, 0, 17).id == 0);
    check_text("vd_buffer_create", "the cl_mem in desc.address has 64 bytes, but desc.address_offset and desc.shape "
               "need 68");
    vd_external e;
    FAILS(vd_buffer_export(ctx, buffer_in(ctx, VD_MEMORY_DEVICE, true, 4, NULL), &e), VD_ERROR_UNSUPPORTED,
          "cannot export memory as a handle; vd_buffer_query returns a cl_mem");
    vd_buffer b = import_object(ctx, object, 0, 16);
    OK(vd_buffer_write(ctx, b, 0, &one, 4));
    assert_int_equal(read_u32(ctx, b, 0), 1);
    vd_context_destroy(ctx);
    t.cl->clReleaseMemObject(object);
    for (int i = 0; i < 2; i++) {
        theirs *each = i ? &other : &t;
        each->cl->clReleaseCommandQueue(each->queue);
        each->cl->clReleaseContext(each->context);
    }
}

/* ---- native commands ---- */

typedef struct foreign {
    vd_native native;
    void *commands;            /* what the last call received */
    int calls;
    PFN_vkCmdFillBuffer fill;
    VkBuffer buffer;
    vd_result result;
    const char *text;          /* of the callback */
} foreign;

static vd_result foreign_open(const vd_native *native, void *user) {
    foreign *o = (foreign *)user;
    o->native = *native;
    if (native->get_instance_proc_addr)
        o->fill = (PFN_vkCmdFillBuffer)((PFN_vkGetInstanceProcAddr)native->get_instance_proc_addr)(
            (VkInstance)native->instance, "vkCmdFillBuffer");
    return VD_OK;
}

static vd_result foreign_record(void *user, void *commands) {
    foreign *o = (foreign *)user;
    o->commands = commands;
    o->calls++;
    if (o->fill && commands) o->fill((VkCommandBuffer)commands, o->buffer, 0, 16 * 4, 100);
    return o->text ? vd_error_set(o->result, "%s", o->text) : o->result;
}

static vd_record_desc foreign_desc(foreign *o, const vd_record_use *uses, int count) {
    vd_record_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "theirs";
    desc.uses = uses;
    desc.use_count = count;
    desc.record = foreign_record;
    desc.user = o;
    return desc;
}

TEST(native_objects_belong_to_the_backend) {
    foreign o;
    memset(&o, 0, sizeof o);
    OK(vd_native_use(f->ctx, 0, 0, foreign_open, &o));
    assert_int_equal(o.native.backend, f->backend);
    bool vulkan = f->backend == VD_BACKEND_VULKAN, opencl = f->backend == VD_BACKEND_OPENCL,
         cuda = f->backend == VD_BACKEND_CUDA;
    assert_true(!o.native.instance == !vulkan && !o.native.physical_device == !vulkan
                && !o.native.get_instance_proc_addr == !vulkan);
    assert_true(!o.native.device == !(vulkan || opencl) && !o.native.context == !(cuda || opencl)
                && !o.native.queue == (f->backend == VD_BACKEND_DUMMY));
    FAILS(vd_native_use(NULL, 0, 0, foreign_open, &o), VD_ERROR_INVALID, "vd_native_use|context");
    FAILS(vd_native_use(f->ctx, 0, 9, foreign_open, &o), VD_ERROR_INVALID, "vd_native_use: device 0 has no queue 9");
    FAILS(vd_native_use(f->ctx, 0, 0, NULL, &o), VD_ERROR_INVALID, "vd_native_use: use is NULL");
}

/* A native fill between two kernels, each of which must wait for the previous command: in the immediate list and in a
   list. */
TEST(native_commands_are_in_order) {
    foreign o;
    memset(&o, 0, sizeof o);
    OK(vd_native_use(f->ctx, 0, 0, foreign_open, &o));
    vd_buffer b = buffer_u32(f->ctx, "b", 32, NULL);
    vd_record_use use = { b, VD_WRITE };
    vd_record_desc desc = foreign_desc(&o, &use, 1);
    if (f->backend == VD_BACKEND_CUDA || f->backend == VD_BACKEND_OPENCL) {
        FAILS(vd_record_native(vd_immediate(f->ctx, 0, 0), &desc), VD_ERROR_UNSUPPORTED,
              "has no command buffer to record into");
        assert_int_equal(o.calls, 0);
        return;
    }
    vd_kernel k = kernel_affine(f->ctx);
    o.buffer = (VkBuffer)info_of(f->ctx, b).native;
    for (int i = 0; i < 2; i++) {
        vd_list *list = i ? list_begin(f->ctx) : vd_immediate(f->ctx, 0, 0);
        OK(vd_fill(vd_immediate(f->ctx, 0, 0), b, 0, VD_WHOLE, NULL, 0));
        OK(vd_flush(f->ctx));
        uint64_t barriers = stats_of(f->ctx).barriers;
        OK(affine(list, k, b, 32, 1, 7));
        OK(vd_record_native(list, &desc));
        OK(affine(list, k, b, 32, 2, 1));
        if (i) OK(vd_submit(list, NULL, NULL));
        OK(vd_flush(f->ctx));
        assert_true(stats_of(f->ctx).barriers >= barriers + 2);
        if (!f->executes) continue;
        assert_int_equal(read_u32(f->ctx, b, 15), 201);
        assert_int_equal(read_u32(f->ctx, b, 16), 15);
    }
    assert_int_equal(o.calls, 2);
    assert_true(!o.commands == !f->executes);
    o.result = VD_ERROR_IO;
    o.text = "theirs failed";
    FAILS(vd_record_native(vd_immediate(f->ctx, 0, 0), &desc), VD_ERROR_IO, "theirs failed");
    o.text = NULL; /* set by an earlier call */
    FAILS(vd_record_native(vd_immediate(f->ctx, 0, 0), &desc), VD_ERROR_IO,
          "vd_record_native 'theirs': the callback 'desc.record' returned VD_ERROR_IO");
    o.result = (vd_result)99;
    FAILS(vd_record_native(vd_immediate(f->ctx, 0, 0), &desc), (vd_result)99,
          "vd_record_native 'theirs': the callback 'desc.record' returned 99, not a valid vd_result");
    desc.record = NULL;
    FAILS(vd_record_native(vd_immediate(f->ctx, 0, 0), &desc), VD_ERROR_INVALID,
          "vd_record_native 'theirs': desc.record is NULL");
    FAILS(vd_record_native(vd_immediate(f->ctx, 0, 0), NULL), VD_ERROR_INVALID, "vd_record_native: desc is NULL");
    FAILS(vd_record_native(NULL, &desc), VD_ERROR_INVALID, "vd_record_native: the list is NULL");
    desc = foreign_desc(&o, &use, -1);
    FAILS(vd_record_native(vd_immediate(f->ctx, 0, 0), &desc), VD_ERROR_INVALID,
          "vd_record_native 'theirs': desc.use_count is -1");
    desc = foreign_desc(&o, NULL, 1);
    FAILS(vd_record_native(vd_immediate(f->ctx, 0, 0), &desc), VD_ERROR_INVALID, "vd_record_native 'theirs': desc.use_count is 1, but desc.uses is NULL");
    desc = foreign_desc(&o, &use, 1);
    use.access = 4;
    FAILS(vd_record_native(vd_immediate(f->ctx, 0, 0), &desc), VD_ERROR_INVALID,
          "vd_record_native 'theirs': desc.uses[0].access is 4");
    vd_buffer_destroy(f->ctx, b);
    FAILS(vd_record_native(vd_immediate(f->ctx, 0, 0), &desc), VD_ERROR_INVALID,
          "vd_record_native 'theirs': desc.uses[0]: the buffer");
}

/* Calls from a callback that would deadlock or destroy an object in use are refused, and work afterwards. */
typedef struct caller {
    vd_context *ctx;
    vd_list *open, *list;
    vd_buffer buffer;
    const char *words;
    vd_result result;
    int calls;
} caller;

static vd_result call_everything(caller *c) {
    vd_event event;
    vd_stats stats;
    uint32_t word = 0;
    memset(&event, 0, sizeof event);
    c->calls++;
    FAILS(vd_flush(c->ctx), VD_ERROR_INVALID, c->words);
    FAILS(vd_wait_idle(c->ctx), VD_ERROR_INVALID, c->words);
    FAILS(vd_wait(c->ctx, event, 0), VD_ERROR_INVALID, c->words);
    FAILS(vd_buffer_read(c->ctx, c->buffer, 0, &word, 4), VD_ERROR_INVALID, c->words);
    FAILS(vd_fill(c->open, c->buffer, 0, 4, NULL, 0), VD_ERROR_INVALID, c->words);
    FAILS(vd_fill(c->list, c->buffer, 0, 4, NULL, 0), VD_ERROR_INVALID, c->words);
    FAILS(vd_submit(c->list, NULL, NULL), VD_ERROR_INVALID, c->words);
    FAILS(vd_submit(c->open, NULL, NULL), VD_ERROR_INVALID, c->words);
    FAILS(vd_context_stats(c->ctx, &stats), VD_ERROR_INVALID, c->words);
    assert_null(vd_immediate(c->ctx, 0, 0));
    check_text("vd_immediate", c->words);
    vd_list_discard(c->list);
    check_text("vd_list_discard", c->words);
    vd_buffer_destroy(c->ctx, c->buffer);
    check_text("vd_buffer_destroy", c->words);
    vd_context_destroy(c->ctx);
    check_text("vd_context_destroy", c->words);
    if (c->result) vd_error_set(VD_ERROR_BACKEND, "of something else");
    return c->result;
}

static vd_result use_everything(const vd_native *native, void *user) {
    (void)native;
    return call_everything((caller *)user);
}

static vd_result record_everything(void *user, void *commands) {
    (void)commands;
    return call_everything((caller *)user);
}

TEST(callbacks_cannot_deadlock) {
    vd_buffer b = buffer_u32(f->ctx, "b", 16, NULL);
    caller c = {
        f->ctx, vd_immediate(f->ctx, 0, 0), list_begin(f->ctx), b, "must not be called from `use` of vd_native_use",
        VD_OK, 0
    };
    OK(vd_native_use(f->ctx, 0, 0, use_everything, &c));
    c.result = VD_ERROR_IO;
    FAILS(vd_native_use(f->ctx, 0, 0, use_everything, &c), VD_ERROR_IO, "vd_native_use: the callback 'use' returned VD_ERROR_IO");
    vd_record_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.record = record_everything;
    desc.user = &c;
    c.result = VD_OK;
    c.words = "must not be called from `record` of vd_record_native";
    if (f->backend == VD_BACKEND_VULKAN || f->backend == VD_BACKEND_DUMMY) {
        OK(vd_record_native(vd_immediate(f->ctx, 0, 0), &desc));
        assert_int_equal(c.calls, 3);
    }
    OK(vd_fill(c.list, b, 0, 4, NULL, 0));
    OK(vd_submit(c.list, NULL, NULL));
    OK(vd_wait_idle(f->ctx));
}

/* ---- running ---- */

static int run_cases(const char *name) {
    const struct CMUnitTest all[] = {
        CASE(a_tensor_has_type_and_shape), CASE(host_tensors_share_the_memory), CASE(tensors_outlive_their_context),
        CASE(tensors_deleted_in_release), CASE(tensors_deleted_while_the_context_is_destroyed),
        CASE(tensors_deleted_in_a_callback_of_another_context),
        CASE(a_kept_buffer_does_not_delay_others), CASE(not_a_tensor), CASE(no_memory_for_a_tensor),
        CASE(host_tensors_are_imported), CASE(host_memory_is_used_in_place), CASE(a_round_trip_in_one_context),
        CASE(bad_tensors_are_refused), CASE(unusual_tensors_are_imported), CASE(bad_imports_are_refused),
        CASE(no_memory_for_an_import), CASE(pending_work_keeps_the_owner_alive), CASE(versioned_tensors),
        CASE(tensors_on_several_threads), CASE(imported_memory_belongs_to_one_device),
        CASE(native_objects_belong_to_the_backend), CASE(native_commands_are_in_order), CASE(callbacks_cannot_deadlock),
    };
    const struct CMUnitTest vulkan[] = { CASE(external_memory_within_vulkan) },
                            cuda[] = { CASE(vulkan_memory_in_cuda) };
    const struct CMUnitTest opencl[] = { CASE(in_a_context_of_the_application),
                                         CASE(in_a_context_of_the_application_with_buffer_objects), CASE(sub_buffers),
                                         CASE(tensors_of_objects), CASE(bad_objects_are_refused) };
    char own[160];
    int failed = RUN_CASES(name, all);
    snprintf(own, sizeof own, "%s, its own", name);
    if (the_fixture.backend == VD_BACKEND_VULKAN) failed += RUN_CASES(own, vulkan);
    if (the_fixture.backend == VD_BACKEND_CUDA) failed += RUN_CASES(own, cuda);
    if (the_fixture.backend == VD_BACKEND_OPENCL) failed += RUN_CASES(own, opencl);
    return failed;
}

int main(int argc, char **argv) { return run_backends(argc, argv, "interop", run_cases); }

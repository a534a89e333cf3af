/* A fake libcuda and libnvrtc for machines without a GPU. Device memory is host memory, streams execute immediately,
   kernels are found in their text and never run. It is as strict as a driver: a call without a current context, an
   address that was not allocated or a size that is not a required multiple fails. Tests load it through
   VKDISPATCH_LIBCUDA and VKDISPATCH_NVRTC and control it through the fake_ functions at the end. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__cplusplus)
#define API extern "C" __attribute__((visibility("default")))
#else
#define API __attribute__((visibility("default")))
#endif

typedef unsigned long long address;
enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT = 201,
       NOT_FOUND = 500, NOT_READY = 600, CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_ISOLATION = 905,
       BLOCKS = 4096, FUNCTIONS = 8, STREAMS = 16, NODES = 256 };

/* A command in a captured graph. */
typedef struct captured { address to, from; size_t size; unsigned word; bool launch; } captured;

static struct {
    int devices, version, stall;       /* stall: timelines do not advance, streams are not ready */
    int fault;                         /* result of all further calls for the device */
    /* this call ("*": any that creates or executes something) fails with fail_result after fail_after successes */
    char fail_call[64];
    int fail_result, fail_after;
    int values;                        /* whether streams support writing values */
    long launches, blits, compiles, contexts, live;
    unsigned launch_bytes, launch_shared;
    char parameters[2048];
    struct { uintptr_t at; size_t size; bool part; } blocks[BLOCKS]; /* part: mapped from external memory */
    int capture;                       /* CUstreamCaptureStatus of `captured` */
    int capture_mode;                  /* CUstreamCaptureMode */
    void *captured;
    unsigned capturing_thread;
    long forbidden, node_count;        /* forbidden: number of calls that a capture forbids */
    long garbage;                      /* outputs of failed calls that were passed back */
    captured nodes[NODES];
    int held, waiting;                 /* held: cuStreamSynchronize does not return; threads in it */
} fake = { 2, 12040, 0, 0, "", 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, "", { { 0, 0, false } }, 0, 0, NULL, 0, 0, 0, 0,
           { { 0, 0, 0, 0, false } }, 0, 0
};

static __thread void *stack[16];
static __thread int depth;
static int context_of_device[2]; /* its address is the context handle */

static __thread int mode;          /* CUstreamCaptureMode of the thread */
static __thread unsigned thread;
static unsigned threads;

static unsigned this_thread(void) {
    if (!thread) thread = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return thread;
}

/* Calls outside streams and calls that wait invalidate a capture of this thread, and one of mode GLOBAL of any
   thread, unless this thread is in mode RELAXED. */
static int unsafe(void) {
    bool mine = fake.capture && fake.capture_mode != 2 && fake.capturing_thread == this_thread();
    bool global = fake.capture && fake.capture_mode == 0 && mode == 0;
    if (mode == 2 || (!mine && !global)) return 0;
    __atomic_add_fetch(&fake.forbidden, 1, __ATOMIC_RELAXED);
    fake.capture = 2;
    return CAPTURE_UNSUPPORTED;
}

/* Release functions: a program cannot handle their failure. */
static bool gives_back(const char *call) {
    return strstr(call, "Free") || strstr(call, "Destroy") || strstr(call, "Unload") || strstr(call, "Release")
        || strstr(call, "Unmap") || strstr(call, "PopCurrent");
}

static int refused(const char *call) {
    if (fake.fault) return fake.fault;
    if (strcmp(call, fake.fail_call) && (strcmp(fake.fail_call, "*") || gives_back(call))) return 0;
    if (fake.fail_after-- > 0) return 0;
    fake.fail_call[0] = 0;
    return fake.fail_result;
}

/* Written to the output of a failed call. */
#define GARBAGE ((void *)(uintptr_t)0xdbdbdbdbdbdbdbdb)

/* Calls that need a context; all others only check for an injected failure. */
#define NEEDS_CONTEXT \
    do { int refused_ = depth ? refused(__func__) : INVALID_CONTEXT; if (refused_) return refused_; } while (0)
#define MAY_FAIL do { int refused_ = refused(__func__); if (refused_) return refused_; } while (0)

#define MAY_SPOIL do { int spoils_ = unsafe(); if (spoils_) return spoils_; } while (0)

/* Guards the blocks and counters; calls come from several threads. */
static char lock_held;
static void lock(void) { while (__atomic_test_and_set(&lock_held, __ATOMIC_ACQUIRE)) continue; }
static void unlock(void) { __atomic_clear(&lock_held, __ATOMIC_RELEASE); }
static void count(long *what, long change) { __atomic_add_fetch(what, change, __ATOMIC_RELAXED); }

/* Returns the number of bytes from `at` to the end of its block, or 0 if no block contains it. */
static size_t bytes_from(address at) {
    for (int i = 0; i < BLOCKS; i++)
        if (fake.blocks[i].at && at >= fake.blocks[i].at && at - fake.blocks[i].at < fake.blocks[i].size)
            return fake.blocks[i].size - (size_t)(at - fake.blocks[i].at);
    return 0;
}

/* A range can extend over several pages of a reserved range, but not over other blocks. */
static bool known(address at, size_t size);

static int block_add(uintptr_t at, size_t size, bool part) {
    int i = 0;
    lock();
    while (i < BLOCKS && fake.blocks[i].at) i++;
    if (i < BLOCKS) {
        fake.blocks[i].at = at;
        fake.blocks[i].size = size;
        fake.blocks[i].part = part;
        fake.live++;
    }
    unlock();
    return i < BLOCKS ? 0 : OUT_OF_MEMORY;
}

static int block_make(size_t size, uintptr_t *out) {
    void *block = NULL;
    if (!size || size > (size_t)1 << 31 || posix_memalign(&block, 256, size)) return OUT_OF_MEMORY;
    memset(block, 0xA5, size < 65536 ? size : 65536); /* new memory is not zero */
    int result = block_add((uintptr_t)block, size, false);
    if (result) free(block);
    else *out = (uintptr_t)block;
    return result;
}

static int block_free(uintptr_t at) {
    int i = 0;
    lock();
    while (i < BLOCKS && (!at || fake.blocks[i].at != at)) i++;
    if (i < BLOCKS) {
        fake.blocks[i].at = 0;
        if (!fake.blocks[i].part) free((void *)at);
        fake.live--;
    }
    unlock();
    return i < BLOCKS ? 0 : INVALID_VALUE;
}

/* ---- driver and devices ---- */

API int cuInit(unsigned flags) { MAY_FAIL; return flags ? INVALID_VALUE : 0; }
API int cuDriverGetVersion(int *version) { *version = fake.version; return 0; }
API int cuDeviceGetCount(int *out) { MAY_FAIL; *out = fake.devices; return 0; }
API int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return ordinal >= 0 && ordinal < fake.devices ? 0 : INVALID_DEVICE;
}
API int cuDeviceGetName(char *name, int size, int device) {
    snprintf(name, (size_t)size, "fake CUDA device %d", device);
    return 0;
}
API int cuDeviceGetUuid_v2(void *uuid, int device) { memset(uuid, 0x40 + device, 16); return 0; }
API int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)8 << 30 >> device; return 0; }
API int cuGetErrorName(int error, const char **name) {
    static char text[32];
    snprintf(text, sizeof text, "FAKE_ERROR_%d", error);
    *name = text;
    return 0;
}
API int cuDeviceGetAttribute(int *value, int attribute, int device) {
    static const int values[][2] = { { 1, 1024 }, { 2, 1024 }, { 3, 1024 }, { 4, 64 }, { 5, 2147483647 }, { 6, 65535 },
                                     { 7, 65535 }, { 8, 49152 }, { 10, 32 }, { 14, 512 },
                                     { 16, 4 }, { 18, 0 }, { 41, 1 }, { 75, 9 },
                                     { 76, 0 }, { 97, 232448 }, { 139, 0x233010de } };
    *value = attribute == 122 ? fake.values : attribute == 29 || attribute == 43 || attribute == 62 || attribute == 65
             ? 2048 : attribute > 20 && attribute < 80 && attribute != 41 ? 32768 : 0; /* layers, extents of images */
    if (attribute == 102) *value = device == 0; /* virtual memory management */
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i][0] == attribute) *value = values[i][1];
    return 0;
}

API int cuDevicePrimaryCtxRetain(void **context, int device) {
    MAY_FAIL;
    *context = &context_of_device[device];
    count(&fake.contexts, 1);
    return 0;
}
API int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; count(&fake.contexts, -1); return 0; }
API int cuCtxPushCurrent_v2(void *context) {
    if (!context || depth == 16) return INVALID_CONTEXT;
    stack[depth++] = context;
    return 0;
}
API int cuCtxPopCurrent_v2(void **context) {
    if (!depth) return INVALID_CONTEXT;
    *context = stack[--depth];
    return 0;
}

/* ---- memory ---- */

API int cuMemGetInfo_v2(size_t *available, size_t *total) {
    NEEDS_CONTEXT;
    *available = (size_t)7 << 30;
    *total = (size_t)8 << 30;
    return 0;
}
API int cuMemAlloc_v2(address *at, size_t size) {
    uintptr_t block = 0;
    NEEDS_CONTEXT;
    MAY_SPOIL;
    int result = block_make(size, &block);
    *at = block;
    return result;
}
API int cuMemFree_v2(address at) { NEEDS_CONTEXT; MAY_SPOIL; return block_free((uintptr_t)at); }
API int cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
    uintptr_t block = 0;
    *memory = GARBAGE;
    NEEDS_CONTEXT;
    MAY_SPOIL;
    int result = flags == 3 ? block_make(size, &block) : INVALID_VALUE;
    *memory = (void *)block;
    return result;
}
API int cuMemFreeHost(void *memory) {
    NEEDS_CONTEXT;
    MAY_SPOIL;
    fake.garbage += memory == GARBAGE;
    return block_free((uintptr_t)memory);
}
API int cuMemHostGetDevicePointer_v2(address *at, void *memory, unsigned flags) {
    NEEDS_CONTEXT;
    *at = (uintptr_t)memory;
    return flags ? INVALID_VALUE : 0;
}

/* ---- virtual memory: reserved ranges, whose pages are inaccessible until memory is mapped and access is set ---- */

enum { PAGE_BYTES = 2 << 20, RANGES = 64 };

typedef struct location { int type, id; } location;
/* CUmemAllocationProp and CUmemAccessDesc of cuda.h */
typedef struct allocation { int type, handles; location at; void *win32; unsigned char flags[8]; } allocation;
typedef struct page_access { location at; int flags; } page_access;
typedef struct page_memory { char kind; bool mapped, released; size_t size; } page_memory;

static struct { uintptr_t at; size_t size; } ranges[RANGES];
static struct { uintptr_t at; page_memory *memory; bool accessible; } pages[BLOCKS];

static bool is_page(const allocation *a) {
    static const unsigned char none[8] = { 0 };
    return a->type == 1 && !a->handles && a->at.type == 1 && a->at.id >= 0 && a->at.id < fake.devices && !a->win32
        && !memcmp(a->flags, none, sizeof none);
}

/* Returns the number of the mapped page at this address, or -1. */
static int page_at(uintptr_t at) {
    for (int i = 0; i < BLOCKS; i++) if (pages[i].at && pages[i].at == at) return i;
    return -1;
}

static bool known(address at, size_t size) {
    bool found;
    lock();
    size_t first = bytes_from(at), next = first;
    bool all_pages = true;
    for (size_t done = first; done < size && next; done += next) {
        next = page_at((uintptr_t)at + done) < 0 ? 0 : bytes_from(at + done);
        all_pages = all_pages && next;
    }
    found = first && (size <= first || (all_pages && page_at((uintptr_t)at + first - PAGE_BYTES) >= 0));
    unlock();
    return found;
}

API int cuMemGetAllocationGranularity(size_t *granularity, const allocation *a, int option) {
    MAY_FAIL;
    *granularity = PAGE_BYTES;
    return is_page(a) && !option ? 0 : INVALID_VALUE;
}
API int cuMemAddressReserve(address *at, size_t size, size_t alignment, address wanted, unsigned long long flags) {
    int i = 0;
    *at = (uintptr_t)GARBAGE;
    NEEDS_CONTEXT;
    if (!size || size % PAGE_BYTES || alignment || wanted || flags) return INVALID_VALUE;
    void *range = mmap(NULL, size + PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) return OUT_OF_MEMORY;
    lock();
    while (i < RANGES - 1 && ranges[i].at) i++;
    ranges[i].at = ((uintptr_t)range + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    ranges[i].size = size;
    munmap(range, ranges[i].at - (uintptr_t)range);
    munmap((void *)(ranges[i].at + size), (uintptr_t)range + PAGE_BYTES - ranges[i].at);
    *at = ranges[i].at;
    fake.live++;
    unlock();
    return 0;
}
/* All pages must have been unmapped. */
API int cuMemAddressFree(address at, size_t size) {
    int i = 0, result = INVALID_VALUE;
    NEEDS_CONTEXT;
    fake.garbage += at == (uintptr_t)GARBAGE;
    lock();
    while (i < RANGES && (ranges[i].at != at || ranges[i].size != size)) i++;
    bool mapped = i == RANGES;
    for (int j = 0; j < BLOCKS && !mapped; j++) mapped = pages[j].at && pages[j].at - (uintptr_t)at < size;
    if (!mapped) {
        munmap((void *)ranges[i].at, ranges[i].size);
        ranges[i].at = 0;
        fake.live--;
        result = 0;
    }
    unlock();
    return result;
}
API int cuMemCreate(unsigned long long *out, size_t size, const allocation *a, unsigned long long flags) {
    *out = (uintptr_t)GARBAGE;
    NEEDS_CONTEXT;
    if (!size || size % PAGE_BYTES || flags || !is_page(a)) return INVALID_VALUE;
    page_memory *memory = (page_memory *)calloc(1, sizeof *memory);
    memory->kind = 'p';
    memory->size = size;
    *out = (uintptr_t)memory;
    count(&fake.live, 1);
    return 0;
}
static page_memory *memory_of(unsigned long long handle) {
    fake.garbage += handle == (uintptr_t)GARBAGE;
    if (!handle || handle == (uintptr_t)GARBAGE) return NULL;
    page_memory *memory = (page_memory *)(uintptr_t)handle;
    return memory->kind == 'p' && !memory->released ? memory : NULL;
}
static void memory_free(page_memory *memory) {
    if (memory->mapped || !memory->released) return;
    memory->kind = 0;
    free(memory);
}
API int cuMemRelease(unsigned long long handle) {
    NEEDS_CONTEXT;
    page_memory *memory = memory_of(handle);
    if (!memory) return INVALID_VALUE;
    memory->released = true;
    memory_free(memory);
    count(&fake.live, -1);
    return 0;
}
/* Maps a page, which must be in a reserved range and have no memory, to memory that is not mapped. */
API int cuMemMap(address at, size_t size, size_t offset, unsigned long long handle, unsigned long long flags) {
    int i = 0;
    bool reserved = false;
    NEEDS_CONTEXT;
    page_memory *memory = memory_of(handle);
    if (!memory || memory->mapped || memory->size != size || size != PAGE_BYTES || at % size || offset || flags)
        return INVALID_VALUE;
    lock();
    for (int j = 0; j < RANGES; j++) reserved |= ranges[j].at && at - ranges[j].at < ranges[j].size;
    bool free_page = reserved && page_at((uintptr_t)at) < 0;
    while (i < BLOCKS - 1 && pages[i].at) i++;
    if (free_page) {
        pages[i].at = (uintptr_t)at;
        pages[i].memory = memory;
        pages[i].accessible = false;
        memory->mapped = true;
        fake.live++;
    }
    unlock();
    return free_page ? 0 : INVALID_VALUE;
}
API int cuMemSetAccess(address at, size_t size, const page_access *a, size_t accesses) {
    NEEDS_CONTEXT;
    if (!size || size % PAGE_BYTES || accesses != 1 || a->at.type != 1 || a->flags != 3) return INVALID_VALUE;
    for (size_t done = 0; done < size; done += PAGE_BYTES) {
        void *page = (void *)((uintptr_t)at + done);
        lock();
        int i = page_at((uintptr_t)page);
        bool added = i >= 0 && !pages[i].accessible;
        if (added) pages[i].accessible = true;
        unlock();
        if (i < 0) return INVALID_VALUE;
        if (!added) continue;
        if (mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE)) return OUT_OF_MEMORY;
        memset(page, 0xA5, PAGE_BYTES); /* new memory is not zero */
        if (block_add((uintptr_t)page, PAGE_BYTES, true)) return OUT_OF_MEMORY;
    }
    return 0;
}
/* Unmaps a page. Its memory is freed if it was released. */
API int cuMemUnmap(address at, size_t size) {
    NEEDS_CONTEXT;
    lock();
    int i = page_at((uintptr_t)at);
    bool accessible = i >= 0 && pages[i].accessible;
    unlock();
    if (i < 0 || size != PAGE_BYTES) return INVALID_VALUE;
    if (accessible) block_free((uintptr_t)at);
    mmap((void *)(uintptr_t)at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    lock();
    pages[i].at = 0;
    pages[i].memory->mapped = false;
    memory_free(pages[i].memory);
    fake.live--;
    unlock();
    return 0;
}

/* ---- external memory: a file that is mapped; the driver then owns the descriptor ---- */

/* CUDA_EXTERNAL_MEMORY_HANDLE_DESC and CUDA_EXTERNAL_MEMORY_BUFFER_DESC */
typedef struct external_desc { int type; union { int fd; void *pointers[2]; } handle; unsigned long long size;
                               unsigned flags, reserved[16]; } external_desc;
typedef struct external_range { unsigned long long offset, size; unsigned flags, reserved[16]; } external_range;
typedef struct external { void *at; size_t size; } external;

API int cuImportExternalMemory(void **out, const external_desc *desc) {
    NEEDS_CONTEXT;
    if (desc->type != 1 || !desc->size || desc->flags) return INVALID_VALUE;
    void *at = mmap(NULL, (size_t)desc->size, PROT_READ | PROT_WRITE, MAP_SHARED, desc->handle.fd, 0);
    if (at == MAP_FAILED) return INVALID_VALUE;
    close(desc->handle.fd);
    external *e = (external *)calloc(1, sizeof *e);
    e->at = at;
    e->size = (size_t)desc->size;
    count(&fake.live, 1);
    *out = e;
    return 0;
}
API int cuExternalMemoryGetMappedBuffer(address *at, void *memory, const external_range *range) {
    const external *e = (const external *)memory;
    NEEDS_CONTEXT;
    if (range->flags || !range->size || range->offset > e->size || range->size > e->size - range->offset)
        return INVALID_VALUE;
    *at = (uintptr_t)e->at + (uintptr_t)range->offset;
    return block_add((uintptr_t)*at, (size_t)range->size, true);
}
API int cuDestroyExternalMemory(void *memory) {
    external *e = (external *)memory;
    NEEDS_CONTEXT;
    munmap(e->at, e->size);
    free(e);
    count(&fake.live, -1);
    return 0;
}

/* ---- streams ---- */

static char streams[STREAMS], an_event;
typedef struct timing_event { char kind; bool recorded; double ms; } timing_event; /* an event with timing */
static bool event_captured;
static long launch_groups; /* x + 1000 y + 1000000 z */

static bool is_stream(void *stream) {
    return (char *)stream >= streams && (char *)stream < streams + STREAMS && *(char *)stream;
}

/* Commands in a capturing stream are recorded, not executed; `done` returns that this happened. */
static int capture(void *stream, address to, address from, size_t size, unsigned word, bool launch, bool *done) {
    *done = fake.capture && stream == fake.captured;
    if (!*done) return 0;
    if (fake.capture == 2 || fake.node_count == NODES) return CAPTURE_INVALIDATED;
    captured *n = &fake.nodes[fake.node_count++];
    n->to = to;
    n->from = from;
    n->size = size;
    n->word = word;
    n->launch = launch;
    return 0;
}

/* Queries that a capturing stream never allows, in any mode. */
static int asked(void *stream) {
    if (!fake.capture || stream != fake.captured) return 0;
    fake.forbidden++;
    fake.capture = 2;
    return CAPTURE_UNSUPPORTED;
}

API int cuStreamCreate(void **stream, unsigned flags) {
    int i = 0;
    *stream = GARBAGE;
    NEEDS_CONTEXT;
    MAY_SPOIL;
    lock();
    while (i < STREAMS - 1 && streams[i]) i++;
    streams[i]++;
    unlock();
    *stream = &streams[i];
    count(&fake.live, 1);
    return flags == 1 ? 0 : INVALID_VALUE;
}
API int cuStreamDestroy_v2(void *stream) {
    NEEDS_CONTEXT;
    if (stream == GARBAGE) fake.garbage++;
    if (!is_stream(stream)) return INVALID_VALUE;
    lock();
    --*(char *)stream;
    unlock();
    count(&fake.live, -1);
    return 0;
}
API int cuStreamQuery(void *stream) {
    NEEDS_CONTEXT;
    MAY_SPOIL;
    int result = asked(stream);
    return result ? result : fake.stall ? NOT_READY : 0;
}
API int cuStreamSynchronize(void *stream) {
    NEEDS_CONTEXT;
    MAY_SPOIL;
    const struct timespec nap = { 0, 100000 };
    __atomic_add_fetch(&fake.waiting, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&fake.held, __ATOMIC_SEQ_CST)) nanosleep(&nap, NULL);
    __atomic_sub_fetch(&fake.waiting, 1, __ATOMIC_SEQ_CST);
    return asked(stream);
}
API int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    NEEDS_CONTEXT;
    if (fake.capture && (stream == fake.captured) != event_captured) {
        fake.forbidden++;
        fake.capture = 2;
        return CAPTURE_ISOLATION;
    }
    return event == &an_event && !flags ? 0 : INVALID_VALUE;
}
API int cuEventCreate(void **event, unsigned flags) {
    *event = GARBAGE;
    NEEDS_CONTEXT;
    MAY_SPOIL;
    *event = flags ? (void *)&an_event : calloc(1, sizeof(timing_event));
    if (!flags) *(char *)*event = 't';
    count(&fake.live, 1);
    return flags == 2 || !flags ? 0 : INVALID_VALUE;
}
static bool is_timing(const void *event) {
    return event && event != GARBAGE && event != &an_event && ((const timing_event *)event)->kind == 't';
}
API int cuEventElapsedTime(float *ms, void *begin, void *end) {
    *ms = -1e30f;
    NEEDS_CONTEXT;
    const timing_event *from = (const timing_event *)begin, *to = (const timing_event *)end;
    if (!is_timing(begin) || !is_timing(end) || !from->recorded || !to->recorded) return INVALID_VALUE;
    *ms = (float)(to->ms - from->ms);
    return 0;
}
API int cuEventDestroy_v2(void *event) {
    NEEDS_CONTEXT;
    if (event == GARBAGE) fake.garbage++;
    if (is_timing(event)) {
        ((timing_event *)event)->kind = 0;
        free(event);
    } else if (event != &an_event) return INVALID_VALUE;
    count(&fake.live, -1);
    return 0;
}
API int cuEventRecord(void *event, void *stream) {
    NEEDS_CONTEXT;
    event_captured = fake.capture && stream == fake.captured;
    if (is_timing(event)) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        ((timing_event *)event)->recorded = !event_captured;
        ((timing_event *)event)->ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    } else if (event != &an_event) return INVALID_VALUE;
    return is_stream(stream) ? 0 : INVALID_VALUE;
}
API int cuThreadExchangeStreamCaptureMode(int *wanted) {
    int before = mode;
    if (*wanted < 0 || *wanted > 2) return INVALID_VALUE;
    mode = *wanted;
    *wanted = before;
    return 0;
}
API int cuStreamIsCapturing(void *stream, int *status) {
    NEEDS_CONTEXT;
    *status = stream == fake.captured ? fake.capture : 0;
    return is_stream(stream) ? 0 : INVALID_VALUE;
}
API int cuStreamBeginCapture_v2(void *stream, int wanted) {
    NEEDS_CONTEXT;
    if (fake.capture || !is_stream(stream)) return INVALID_VALUE;
    fake.captured = stream;
    fake.capture = 1;
    fake.capture_mode = wanted;
    fake.capturing_thread = this_thread();
    fake.node_count = 0;
    return 0;
}
API int cuStreamEndCapture(void *stream, void **graph) {
    NEEDS_CONTEXT;
    if (!fake.capture || stream != fake.captured) return INVALID_VALUE;
    int result = fake.capture == 2 ? CAPTURE_INVALIDATED : 0;
    *graph = result ? NULL : &fake.nodes;
    fake.capture = 0;
    fake.captured = NULL;
    return result;
}
API int cuMemcpyAsync(address to, address from, size_t size, void *stream) {
    bool done;
    NEEDS_CONTEXT;
    if (!known(to, size) || !known(from, size) || !is_stream(stream) || !size) return INVALID_VALUE;
    int result = capture(stream, to, from, size, 0, false, &done);
    if (!done) memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
    return result;
}
/* CUDA_MEMCPY2D */
typedef struct rows {
    struct { size_t x, y; int memory; void *host; address at; void *array; size_t pitch; } from, to;
    size_t width, height;
} rows;
API int cuMemcpy2DAsync_v2(const rows *r, void *stream) {
    NEEDS_CONTEXT;
    if (r->from.memory != 4 || r->to.memory != 4 || r->from.x || r->from.y || r->to.x || r->to.y
        || r->width > r->from.pitch || r->width > r->to.pitch)
        return INVALID_VALUE;
    for (size_t i = 0; i < r->height; i++)
        if (cuMemcpyAsync(r->to.at + i * r->to.pitch, r->from.at + i * r->from.pitch, r->width, stream))
            return INVALID_VALUE;
    count(&fake.blits, 1);
    return 0;
}
API int cuMemsetD32Async(address to, unsigned word, size_t count, void *stream) {
    NEEDS_CONTEXT;
    bool done;
    if (to % 4 || !count || !known(to, 4 * count) || !is_stream(stream)) return INVALID_VALUE;
    int result = capture(stream, to, 0, count, word, false, &done);
    if (fake.stall || done) return result;
    for (size_t i = 0; i < count; i++) __atomic_store_n((uint32_t *)(uintptr_t)to + i, word, __ATOMIC_RELEASE);
    return 0;
}
API int cuStreamWriteValue64_v2(void *stream, address to, unsigned long long value, unsigned flags) {
    NEEDS_CONTEXT;
    bool done;
    if (to % 8 || !known(to, 8) || !is_stream(stream) || flags) return INVALID_VALUE;
    int result = capture(stream, to, 0, 1, (unsigned)value, false, &done);
    if (result || done) return result;
    if (!fake.stall) __atomic_store_n((uint64_t *)(uintptr_t)to, (uint64_t)value, __ATOMIC_RELEASE);
    return 0;
}

/* ---- arrays, textures and surfaces: texels in host memory, row by row; formats BC1 to BC7 in rows of blocks ---- */

enum { LAYERED = 1, SURFACE = 2, CUBEMAP = 4, GATHER = 8, LEVELS = 16, LONGEST = 32768 };
enum { AS_INTEGER = 1, NORMALIZED = 2, SRGB = 16, SEAMLESS = 64 };

typedef struct array_desc { size_t extent[3]; unsigned format, channels, flags; } array_desc;
typedef struct array { struct mips *of; size_t row, rows, slices; unsigned char *bytes; } array; /* row: bytes */
typedef struct mips {
    array_desc desc;
    unsigned count, bytes;             /* levels; bytes of an element or block */
    long objects;                      /* textures and surfaces */
    array level[LEVELS];
} mips;
typedef struct linear { address at; unsigned format, channels; size_t size; } linear;
typedef struct resource {
    int type;
    union { void *handle; linear linear; int reserved[32]; } from;
    unsigned flags;
} resource;
typedef struct texture_desc {
    int address[3], filter;
    unsigned flags, anisotropy;
    int mip_filter;
    float bias, low, high, border[4];
    int reserved[12];
} texture_desc;
typedef struct view_desc {
    int format;
    size_t extent[3];
    unsigned first_level, last_level, first_layer, last_layer, reserved[16];
} view_desc;
typedef struct object { char kind; mips *of; } object; /* t or s: texture or surface */

static bool is_block_format(unsigned format) { return format >= 0x91 && format <= 0x9e; }

/* Bytes of an element or block; 0: there is no such format. */
static unsigned element_bytes(const array_desc *d) {
    static const unsigned channels_of_blocks[] = { 4, 4, 4, 4, 4, 4, 1, 1, 2, 2, 3, 3, 4, 4 };
    static const unsigned sizes[][2] = { { 1, 1 }, { 2, 2 }, { 3, 4 }, { 8, 1 }, { 9, 2 }, { 10, 4 }, { 16, 2 },
                                         { 32, 4 } };
    if (is_block_format(d->format)) {
        unsigned i = d->format - 0x91;
        return d->channels != channels_of_blocks[i] || d->flags & SURFACE ? 0 : i < 2 || i == 6 || i == 7 ? 8 : 16;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i][0] == d->format && (d->channels == 1 || d->channels == 2 || d->channels == 4))
            return sizes[i][1] * d->channels;
    return 0;
}

static bool right_array(const array_desc *d, unsigned levels) {
    size_t longest = 1, third = d->extent[2];
    unsigned all = 1, kind = d->flags & (LAYERED | CUBEMAP);
    for (int i = 0; i < (kind ? 2 : 3); i++) {
        if (d->extent[i] > LONGEST) return false;
        if (d->extent[i] > longest) longest = d->extent[i];
    }
    while (longest >> all) all++;
    if (!d->extent[0] || !levels || levels > all || d->flags > 15 || !element_bytes(d)) return false;
    if (!d->extent[1] && third && kind != LAYERED) return false;
    if (kind == LAYERED && (!third || third > 2048)) return false;
    if (kind == CUBEMAP && (d->extent[0] != d->extent[1] || third != 6)) return false;
    return kind != (LAYERED | CUBEMAP) && (!(d->flags & GATHER) || (!kind && !third && d->extent[1]));
}

API int cuMipmappedArrayCreate(void **out, const array_desc *desc, unsigned levels) {
    *out = GARBAGE;
    NEEDS_CONTEXT;
    MAY_SPOIL;
    if (!right_array(desc, levels)) return INVALID_VALUE;
    mips *m = (mips *)calloc(1, sizeof *m);
    m->desc = *desc;
    m->count = levels;
    m->bytes = element_bytes(desc);
    for (unsigned i = 0; i < levels; i++) {
        size_t side = is_block_format(desc->format) ? 4 : 1, extent[3];
        for (int j = 0; j < 3; j++) {
            bool halved = j < 2 || !(desc->flags & (LAYERED | CUBEMAP));
            extent[j] = halved ? desc->extent[j] >> i : desc->extent[j];
            if (!extent[j]) extent[j] = 1;
            if (j < 2) extent[j] = (extent[j] + side - 1) / side;
        }
        array *a = &m->level[i];
        a->of = m;
        a->row = extent[0] * m->bytes;
        a->rows = extent[1];
        a->slices = extent[2];
        a->bytes = (unsigned char *)malloc(a->row * a->rows * a->slices);
        memset(a->bytes, 0xA5, a->row * a->rows * a->slices);
    }
    count(&fake.live, 1);
    *out = m;
    return 0;
}
API int cuMipmappedArrayGetLevel(void **out, void *handle, unsigned level) {
    *out = GARBAGE;
    NEEDS_CONTEXT;
    if (level >= ((mips *)handle)->count) return INVALID_VALUE;
    *out = &((mips *)handle)->level[level];
    return 0;
}
/* Keeps an array that has objects, which a test then finds among the live objects. */
API int cuMipmappedArrayDestroy(void *handle) {
    mips *m = (mips *)handle;
    NEEDS_CONTEXT;
    MAY_SPOIL;
    if (handle == GARBAGE) return fake.garbage++, INVALID_VALUE;
    if (m->objects) return INVALID_VALUE;
    for (unsigned i = 0; i < m->count; i++) free(m->level[i].bytes);
    free(m);
    count(&fake.live, -1);
    return 0;
}

static int object_make(char kind, mips *of, address *out) {
    object *o = (object *)calloc(1, sizeof *o);
    o->kind = kind;
    o->of = of;
    count(&of->objects, 1);
    count(&fake.live, 1);
    *out = (uintptr_t)o;
    return 0;
}
static int object_free(char kind, address handle) {
    object *o = (object *)(uintptr_t)handle;
    if ((void *)o == GARBAGE) return fake.garbage++, INVALID_VALUE;
    if (!o || o->kind != kind) return INVALID_VALUE;
    count(&o->of->objects, -1);
    o->kind = 0;
    free(o);
    count(&fake.live, -1);
    return 0;
}

static bool right_texture(const mips *m, const texture_desc *t) {
    bool integers = m->desc.format <= 10, is_f32 = m->desc.format == 3 || m->desc.format == 10;
    for (int i = 0; i < 3; i++)
        if (t->address[i] < 0 || t->address[i] > 3) return false;
    if (!(t->flags & NORMALIZED) || t->flags & ~(unsigned)(AS_INTEGER | NORMALIZED | SRGB | SEAMLESS)) return false;
    if (t->filter < 0 || t->filter > 1 || t->mip_filter < 0 || t->mip_filter > 1 || t->anisotropy > 16) return false;
    if (integers && (t->flags & AS_INTEGER || is_f32) && (t->filter || t->mip_filter)) return false;
    if (t->flags & AS_INTEGER && !integers) return false;
    bool srgb_blocks = m->desc.format == 0x92 || m->desc.format == 0x94 || m->desc.format == 0x96
                       || m->desc.format == 0x9e;
    if (srgb_blocks && !(t->flags & SRGB)) return false;
    if (t->flags & SRGB && m->desc.format != 1 && !is_block_format(m->desc.format)) return false;
    return (!(t->flags & SEAMLESS) || m->desc.flags & CUBEMAP) && t->low <= t->high;
}
/* The CUresourceViewFormat of an array; block formats have none here. */
static int view_format(const array_desc *d) {
    static const unsigned formats[] = { 1, 8, 2, 9, 3, 10, 16, 32 }; /* u8, i8, u16, i16, u32, i32, f16, f32 */
    for (int i = 0; i < (int)(sizeof formats / sizeof *formats); i++)
        if (formats[i] == d->format) return 1 + 3 * i + (d->channels == 4 ? 2 : d->channels == 2);
    return -1;
}
API int cuTexObjectCreate(address *out, const resource *from, const texture_desc *desc, const view_desc *view) {
    *out = (uintptr_t)GARBAGE;
    NEEDS_CONTEXT;
    if (from->type == 2) { /* linear memory */
        static mips none;
        const linear *l = &from->from.linear;
        if (!l->at || l->at % 16 || !l->format || !l->size || from->flags || view || desc->flags & ~1u
            || (l->channels != 1 && l->channels != 2 && l->channels != 4))
            return INVALID_VALUE;
        return object_make('t', &none, out);
    }
    bool all = from->type == 1;
    mips *m = all ? (mips *)from->from.handle : ((array *)from->from.handle)->of;
    if (from->type > 1 || from->flags || !right_texture(m, desc) || (view && !all)) return INVALID_VALUE;
    if (view && (view->format != view_format(&m->desc) || memcmp(view->extent, m->desc.extent, sizeof view->extent)
                 || view->first_level > view->last_level || view->last_level >= m->count || view->first_layer
                 || view->last_layer + 1 != (m->desc.flags & (LAYERED | CUBEMAP) ? m->level[0].slices : 1)))
        return INVALID_VALUE;
    return object_make('t', m, out);
}
API int cuTexObjectDestroy(address handle) { NEEDS_CONTEXT; return object_free('t', handle); }
API int cuSurfObjectCreate(address *out, const resource *from) {
    *out = (uintptr_t)GARBAGE;
    NEEDS_CONTEXT;
    array *a = (array *)from->from.handle;
    if (from->type || from->flags || !(a->of->desc.flags & SURFACE)) return INVALID_VALUE;
    return object_make('s', a->of, out);
}
API int cuSurfObjectDestroy(address handle) { NEEDS_CONTEXT; return object_free('s', handle); }

typedef struct side_3d {
    size_t x, y, z, lod;
    int memory;
    void *host;
    address at;
    void *array, *reserved;
    size_t pitch, height;
} side_3d;
typedef struct copy_node { side_3d from, to; size_t width, height, depth; } copy_node;

/* Returns the first byte of a side of a copy; NULL if the box is outside of it. *pitch and *slice are in bytes. */
static unsigned char *side_bytes(const side_3d *s, const copy_node *c, size_t *pitch, size_t *slice) {
    const array *a = (const array *)s->array;
    if (s->lod || s->host || s->reserved) return NULL;
    if (s->memory == 3) {
        if (s->at || s->x % a->of->bytes || c->width % a->of->bytes || s->x + c->width > a->row
            || s->y + c->height > a->rows || s->z + c->depth > a->slices)
            return NULL;
        *pitch = a->row;
        *slice = a->row * a->rows;
        return a->bytes + s->z * *slice + s->y * *pitch + s->x;
    }
    *pitch = s->pitch;
    *slice = s->pitch * s->height;
    if (s->memory != 4 || a || s->x || s->y || s->z || s->pitch < c->width || s->pitch > INT32_MAX
        || s->height < c->height || !known(s->at, (c->depth - 1) * *slice + (c->height - 1) * *pitch + c->width))
        return NULL;
    return (unsigned char *)(uintptr_t)s->at;
}
API int cuMemcpy3DAsync_v2(const copy_node *c, void *stream) {
    NEEDS_CONTEXT;
    size_t pitch[2], slice[2];
    bool done;
    if (!is_stream(stream) || !c->width || !c->height || !c->depth) return INVALID_VALUE;
    unsigned char *to = side_bytes(&c->to, c, &pitch[0], &slice[0]);
    const unsigned char *from = side_bytes(&c->from, c, &pitch[1], &slice[1]);
    if (!to || !from) return INVALID_VALUE;
    if (c->to.memory == 3 && c->from.memory == 3
        && ((const array *)c->to.array)->of->bytes != ((const array *)c->from.array)->of->bytes)
        return INVALID_VALUE;
    int result = capture(stream, 0, 0, 0, 0, true, &done);
    for (size_t z = 0; z < c->depth && !done && !result; z++)
        for (size_t y = 0; y < c->height; y++) {
            unsigned char *target = to + z * slice[0] + y * pitch[0];
            const unsigned char *source = from + z * slice[1] + y * pitch[1];
            if (target < source + c->width && source < target + c->width) return INVALID_VALUE;
            memcpy(target, source, c->width);
        }
    return result;
}
API int cuMemsetD2D32Async(address to, size_t pitch, unsigned word, size_t width, size_t height, void *stream) {
    NEEDS_CONTEXT;
    bool done;
    if (to % 4 || pitch % 4 || pitch < 4 * width || !width || !height || !known(to, (height - 1) * pitch + 4 * width)
        || !is_stream(stream))
        return INVALID_VALUE;
    int result = capture(stream, 0, 0, 0, 0, true, &done);
    for (size_t y = 0; y < height && !done && !result; y++)
        for (size_t x = 0; x < width; x++) memcpy((char *)(uintptr_t)to + y * pitch + 4 * x, &word, 4);
    return result;
}

static __thread void *last_loaded; /* a function */

/* ---- modules: an image is "FAKE" and the text; a function is the position after __global__ ---- */

typedef struct module { char *text; char *functions[FUNCTIONS]; unsigned count; } module;

API int cuModuleLoadDataEx(void **out, const void *image, unsigned settings, int *options, void **values) {
    const char *text = (const char *)image, ptx[] = ".version";
    *out = GARBAGE;
    NEEDS_CONTEXT;
    MAY_SPOIL;
    if (settings != 2 || options[0] != 5 || options[1] != 6) return INVALID_VALUE;
    bool cubin = !memcmp(text, "\177ELF", 4);
    if (!cubin && strncmp(text, "FAKE", 4) && strncmp(text, ptx, strlen(ptx))) {
        snprintf((char *)values[0], (size_t)(uintptr_t)values[1], "ptxas fatal: error: this is nothing");
        return INVALID_IMAGE;
    }
    module *m = (module *)calloc(1, sizeof *m);
    m->text = cubin ? strdup("__global__ elf(") : strdup(text);
    for (char *at = m->text; (at = strstr(at, "__global__ ")) != NULL && m->count < FUNCTIONS;)
        m->functions[m->count++] = at += 11;
    count(&fake.live, 1);
    *out = m;
    return 0;
}
API int cuModuleUnload(void *m) {
    NEEDS_CONTEXT;
    MAY_SPOIL;
    if (m == GARBAGE) return fake.garbage++, INVALID_VALUE;
    free(((module *)m)->text);
    free(m);
    count(&fake.live, -1);
    return 0;
}
/* Whether the declaration of a function, up to its body, has the name before a parenthesis. NVRTC output is not
   parsed: every name exists. */
static bool is_called(const char *function, const char *name) {
    size_t head = strcspn(function, "{;"), length = strlen(name);
    if (!strncmp(function, "elf(", 4)) return true;
    for (size_t i = 0; i + length < head; i++)
        if (!memcmp(function + i, name, length) && function[i + length] == '(' && (!i || function[i - 1] == ' '))
            return true;
    return false;
}

API int cuModuleGetFunction(void **function, void *m, const char *name) {
    NEEDS_CONTEXT;
    for (unsigned i = 0; i < ((module *)m)->count; i++) {
        if (!is_called(((module *)m)->functions[i], name)) continue;
        *function = last_loaded = ((module *)m)->functions[i];
        return 0;
    }
    return NOT_FOUND;
}
API int cuModuleGetFunctionCount(unsigned *out, void *m) { NEEDS_CONTEXT; *out = ((module *)m)->count; return 0; }
API int cuModuleEnumerateFunctions(void **functions, unsigned most, void *m) {
    NEEDS_CONTEXT;
    for (unsigned i = 0; i < most; i++) functions[i] = ((module *)m)->functions[i];
    return 0;
}
API int cuFuncLoad(void *function) { NEEDS_CONTEXT; last_loaded = function; return 0; }
API int cuFuncGetAttribute(int *value, int attribute, void *function) {
    NEEDS_CONTEXT;
    if (function != last_loaded) return 913; /* not loaded: modules are loaded lazily */
    const char *text = (const char *)function;
    *value = attribute == 0 ? (strstr(text, "FEW_THREADS") ? 128 : 1024) : attribute == 1 && strstr(text, "__shared__")
        ? 4096 : attribute == 4 ? 40 : 0;
    return 0;
}
API int cuFuncSetAttribute(void *function, int attribute, int value) {
    NEEDS_CONTEXT;
    (void)function;
    return attribute == 8 && value <= 232448 ? 0 : INVALID_VALUE;
}
API int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned lx, unsigned ly, unsigned lz,
                       unsigned shared, void *stream, void **parameters, void **extra) {
    NEEDS_CONTEXT;
    bool done;
    if (!function || parameters || !is_stream(stream) || !gx || !gy || !gz || gy > 65535 || gz > 65535 || !lx || !ly
        || !lz || lx * ly * lz > 1024)
        return INVALID_VALUE;
    int result = capture(stream, 0, 0, 0, 0, true, &done);
    if (result) return result;
    if (!done) count(&fake.launches, 1);
    fake.launch_shared = shared;
    launch_groups = (long)gx + 1000 * (long)gy + 1000000 * (long)gz;
    fake.launch_bytes = 0;
    if (!extra) return 0;
    if (extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] || *(size_t *)extra[3] > sizeof fake.parameters)
        return INVALID_VALUE;
    fake.launch_bytes = (unsigned)*(size_t *)extra[3];
    memcpy(fake.parameters, extra[1], fake.launch_bytes);
    return 0;
}

/* ---- graphs: an executable runs its nodes in the order in which they were added ---- */

enum { GRAPH_NODES = 4096 };
typedef struct kernel_node {
    void *function;
    unsigned groups[3], local[3], shared;
    void **parameters, **extra;
} kernel_node;
typedef struct fill_node { address to; size_t pitch; unsigned value, element; size_t width, height; } fill_node;

typedef struct graph_node {
    char kind;                         /* k, c, f, e: kernel, copy, fill, empty */
    kernel_node kernel;
    size_t bytes;
    char parameters[512];
    copy_node copy;
    fill_node fill;
} graph_node;

typedef struct graph { graph_node *nodes[GRAPH_NODES]; int count; char text[8 * GRAPH_NODES]; } graph;

static char graph_text[8 * GRAPH_NODES]; /* of the graph that was instantiated last */
static long graph_launches, graph_updates;

static int position(const graph *g, const void *node) {
    for (int i = 0; i < g->count; i++)
        if (g->nodes[i] == node) return i;
    return -1;
}

/* Adds a node. The text gets its kind and the positions of its dependencies. */
static graph_node *graph_add(void *handle, char kind, void *const *dependencies, size_t n) {
    graph *g = (graph *)handle;
    if (!g || g->count == GRAPH_NODES) return NULL;
    size_t used = strlen(g->text);
    used += (size_t)snprintf(g->text + used, sizeof g->text - used, "%s%c", g->count ? " " : "", kind);
    for (size_t i = 0; i < n; i++) {
        int at = position(g, dependencies[i]);
        if (at < 0) return NULL;
        used += (size_t)snprintf(g->text + used, sizeof g->text - used, "%s%d", i ? "," : "", at);
    }
    graph_node *node = (graph_node *)calloc(1, sizeof *node);
    node->kind = kind;
    g->nodes[g->count++] = node;
    return node;
}

static int node_set(graph_node *n, const kernel_node *desc) {
    if (!desc->function || desc->parameters || !desc->groups[0] || !desc->groups[1] || !desc->groups[2])
        return INVALID_VALUE;
    n->kernel = *desc;
    n->bytes = 0;
    if (!desc->extra) return 0;
    if (desc->extra[0] != (void *)1 || desc->extra[2] != (void *)2 || desc->extra[4]
        || *(size_t *)desc->extra[3] > sizeof n->parameters)
        return INVALID_VALUE;
    n->bytes = *(size_t *)desc->extra[3];
    memcpy(n->parameters, desc->extra[1], n->bytes);
    return 0;
}

API int cuGraphCreate(void **out, unsigned flags) {
    *out = GARBAGE;
    NEEDS_CONTEXT;
    *out = calloc(1, sizeof(graph));
    count(&fake.live, 1);
    return flags ? INVALID_VALUE : 0;
}
API int cuGraphDestroy(void *handle) {
    NEEDS_CONTEXT;
    if (handle == GARBAGE) {
        fake.garbage++;
        return INVALID_VALUE;
    }
    graph *g = (graph *)handle;
    for (int i = 0; i < g->count; i++) free(g->nodes[i]);
    free(g);
    count(&fake.live, -1);
    return 0;
}
API int cuGraphAddKernelNode(void **out, void *g, void *const *dependencies, size_t n, const kernel_node *desc) {
    *out = GARBAGE;
    NEEDS_CONTEXT;
    graph_node *node = graph_add(g, 'k', dependencies, n);
    *out = node;
    return node ? node_set(node, desc) : INVALID_VALUE;
}
API int cuGraphAddMemcpyNode(void **out, void *g, void *const *dependencies, size_t n, const copy_node *desc,
                             void *context) {
    *out = GARBAGE;
    NEEDS_CONTEXT;
    graph_node *node = graph_add(g, 'c', dependencies, n);
    *out = node;
    if (!node || !context || desc->from.memory != 4 || desc->to.memory != 4 || desc->depth != 1 || !desc->width
        || !known(desc->from.at, (desc->height - 1) * desc->from.pitch + desc->width)
        || !known(desc->to.at, (desc->height - 1) * desc->to.pitch + desc->width))
        return INVALID_VALUE;
    node->copy = *desc;
    return 0;
}
API int cuGraphAddMemsetNode(void **out, void *g, void *const *dependencies, size_t n, const fill_node *desc,
                             void *context) {
    *out = GARBAGE;
    NEEDS_CONTEXT;
    graph_node *node = graph_add(g, 'f', dependencies, n);
    *out = node;
    if (!node || !context || desc->element != 4 || desc->height != 1 || !desc->width
        || !known(desc->to, 4 * desc->width))
        return INVALID_VALUE;
    node->fill = *desc;
    return 0;
}
API int cuGraphAddEmptyNode(void **out, void *g, void *const *dependencies, size_t n) {
    *out = GARBAGE;
    NEEDS_CONTEXT;
    *out = graph_add(g, 'e', dependencies, n);
    return *out ? 0 : INVALID_VALUE;
}
/* The executable is the graph; its nodes must outlive it. */
API int cuGraphInstantiateWithFlags(void **out, void *g, unsigned long long flags) {
    *out = GARBAGE;
    NEEDS_CONTEXT;
    strcpy(graph_text, ((graph *)g)->text);
    *out = g;
    count(&fake.live, 1);
    return flags ? INVALID_VALUE : 0;
}
API int cuGraphExecDestroy(void *executable) {
    NEEDS_CONTEXT;
    if (executable == GARBAGE) {
        fake.garbage++;
        return INVALID_VALUE;
    }
    count(&fake.live, -1);
    return 0;
}
API int cuGraphExecKernelNodeSetParams(void *executable, void *node, const kernel_node *desc) {
    NEEDS_CONTEXT;
    if (position((graph *)executable, node) < 0) return INVALID_VALUE;
    graph_updates++;
    return node_set((graph_node *)node, desc);
}
API int cuGraphLaunch(void *executable, void *stream) {
    NEEDS_CONTEXT;
    const graph *g = (const graph *)executable;
    int result = is_stream(stream) ? 0 : INVALID_VALUE;
    graph_launches++;
    for (int i = 0; i < g->count && !result; i++) {
        graph_node *n = g->nodes[i];
        const kernel_node *k = &n->kernel;
        void *extra[5] = { (void *)1, n->parameters, (void *)2, &n->bytes, NULL };
        if (n->kind == 'k')
            result = cuLaunchKernel(k->function, k->groups[0], k->groups[1], k->groups[2], k->local[0], k->local[1],
                                    k->local[2], k->shared, stream, NULL, n->bytes ? extra : NULL);
        for (size_t row = 0; row < n->copy.height && !result; row++)
            result = cuMemcpyAsync(n->copy.to.at + row * n->copy.to.pitch, n->copy.from.at + row * n->copy.from.pitch,
                                   n->copy.width, stream);
        if (n->kind == 'f') result = cuMemsetD32Async(n->fill.to, n->fill.value, n->fill.width, stream);
    }
    return result;
}
API const char *fake_graph_text(void) { return graph_text; }

/* ---- NVRTC: a text with an #error does not compile ---- */

typedef struct program { char *text; char log[256]; } program;

API int nvrtcVersion(int *major, int *minor) { *major = 12; *minor = 4; return 0; }
API const char *nvrtcGetErrorString(int result) { return result ? "FAKE_NVRTC_ERROR" : "NVRTC_SUCCESS"; }
API int nvrtcGetNumSupportedArchs(int *out) { *out = 3; return 0; }
API int nvrtcGetSupportedArchs(int *archs) { archs[0] = 75; archs[1] = 90; archs[2] = 120; return 0; }
API int nvrtcCreateProgram(void **out, const char *source, const char *name, int headers, const char *const *texts,
                           const char *const *names) {
    (void)name, (void)texts, (void)names;
    program *p = (program *)calloc(1, sizeof *p);
    p->text = strdup(source);
    *out = p;
    count(&fake.live, 1);
    return headers ? INVALID_VALUE : 0;
}
API int nvrtcDestroyProgram(void **p) {
    free(((program *)*p)->text);
    free(*p);
    *p = NULL;
    count(&fake.live, -1);
    return 0;
}
API int nvrtcCompileProgram(void *p, int given, const char *const *options) {
    const char *wrong = strstr(((program *)p)->text, "#error");
    int line = 1;
    MAY_FAIL;
    count(&fake.compiles, 1);
    if (given < 1 || strcmp(options[0], "--gpu-architecture=sm_90")) return 5;
    for (const char *c = ((program *)p)->text; wrong && c < wrong; c++) line += *c == '\n';
    if (wrong)
        snprintf(((program *)p)->log, sizeof ((program *)p)->log,
                 "text(1): warning: it is fake\ntext(%d): error: #error directive\n1 error\n", line);
    return wrong ? 6 : 0;
}
API int nvrtcGetProgramLogSize(void *p, size_t *size) { *size = strlen(((program *)p)->log) + 1; return 0; }
API int nvrtcGetProgramLog(void *p, char *log) { strcpy(log, ((program *)p)->log); return 0; }
API int nvrtcGetCUBINSize(void *p, size_t *size) { *size = strlen(((program *)p)->text) + 5; return 0; }
API int nvrtcGetCUBIN(void *p, char *code) { sprintf(code, "FAKE%s", ((program *)p)->text); return 0; }
API int nvrtcGetPTXSize(void *p, size_t *size) { return nvrtcGetCUBINSize(p, size); }
API int nvrtcGetPTX(void *p, char *code) { return nvrtcGetCUBIN(p, code); }

/* ---- control functions for tests ---- */

API void fake_fail(const char *call, int result, int after) {
    snprintf(fake.fail_call, sizeof fake.fail_call, "%s", call);
    fake.fail_result = result;
    fake.fail_after = after;
}
/* Launches the graph that was captured last. */
API void fake_graph_launch(void) {
    for (long i = 0; i < fake.node_count; i++) {
        const captured *n = &fake.nodes[i];
        if (n->launch) fake.launches++;
        else if (n->from) memcpy((void *)(uintptr_t)n->to, (const void *)(uintptr_t)n->from, n->size);
        else
            for (size_t w = 0; w < n->size; w++) memcpy((void *)((uintptr_t)n->to + 4 * w), &n->word, 4);
    }
}
API void fake_fault(int result) { fake.fault = result; }
API void fake_stall(int on) { fake.stall = on; }
API void fake_hold(int on) { __atomic_store_n(&fake.held, on, __ATOMIC_SEQ_CST); }
API void fake_devices(int devices, int values) { fake.devices = devices; fake.values = values; }
API long fake_count(const char *what) {
    const struct { const char *name; long value; }
    all[] = { { "launches", fake.launches }, { "blits", fake.blits }, { "compiles", fake.compiles },
              { "contexts", fake.contexts }, { "live", fake.live }, { "bytes", (long)fake.launch_bytes },
              { "shared", (long)fake.launch_shared }, { "groups", launch_groups },
              { "forbidden", fake.forbidden }, { "nodes", fake.node_count },
              { "graph launches", graph_launches }, { "graph updates", graph_updates },
              { "garbage", fake.garbage },
              { "waiting", __atomic_load_n(&fake.waiting, __ATOMIC_SEQ_CST) }, { "armed", fake.fail_call[0] != 0 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(what, all[i].name)) return all[i].value;
    return -1;
}
API const char *fake_parameters(void) { return fake.parameters; }

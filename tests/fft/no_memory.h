/* The dummy backend with device memory that has addresses but no bytes, for buffers that are larger than the memory of
   this machine. Fills and copies are not executed. Include tests/insides.h first. */
#ifndef TESTS_FFT_NO_MEMORY_H
#define TESTS_FFT_NO_MEMORY_H

#define NO_MEMORY ((uint64_t)1 << 52) /* first address */

static vd_result no_memory_create(vd__device *dev, vd__block *block) {
    static uint64_t next = NO_MEMORY;
    if (block->type != VD__DUMMY_DEVICE) return vd__backend_dummy.block_create(dev, block);
    block->native[0] = next;
    block->coherent = true;
    next += (block->size + 4095) & ~(uint64_t)4095;
    return VD_OK;
}

static void no_memory_destroy(vd__device *dev, vd__block *block) {
    if (block->native[0] < NO_MEMORY) vd__backend_dummy.block_destroy(dev, block);
}

static void no_memory_fill(vd__device *dev, vd__commands *c, const vd__memory *to, uint64_t offset, uint64_t size,
                           uint32_t word) {
    (void)dev, (void)c, (void)to, (void)offset, (void)size, (void)word;
}

static void no_memory_copy(vd__device *dev, vd__commands *c, const vd__memory *to, const vd__memory *from,
                           const vd__copy_range *ranges, uint32_t count) {
    (void)dev, (void)c, (void)to, (void)from, (void)ranges, (void)count;
}

static inline vd__backend no_memory_backend(void) {
    vd__backend b = vd__backend_dummy;
    b.block_create = no_memory_create;
    b.block_destroy = no_memory_destroy;
    b.record_fill = no_memory_fill;
    b.record_copy = no_memory_copy;
    return b;
}

#endif

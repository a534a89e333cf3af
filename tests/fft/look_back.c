/* Decoupled look-back in scans and sorts when other tiles never publish: forward progress without waiting. Tickets are
   dealt so that some tiles begin and do nothing more: one dispatch processes the tiles before them, then the ticket
   counter is set past them, and another dispatch processes those after. A tile that looks back at silent tiles must sum
   them itself. The results of all other tiles, and of the next full run, must be right. */
#include "tests/fft/own.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "common.h"

enum { UNTOUCHED = 0x5a };

static void set_word(vd_buffer b, uint64_t at, uint32_t value) {
    assert_int_equal(vd_write(vd_immediate(device_context, 0, 0), b, at * 4, &value, 4), VD_OK);
}

static uint64_t dispatches(void) {
    vd_stats stats;
    assert_int_equal(vd_context_stats(device_context, &stats), VD_OK);
    return stats.dispatches;
}

/* ---- scans ---- */

typedef struct scan_sample {
    vd_type type;
    uint64_t shape[2];
    uint32_t from, to; /* silent tiles */
    bool exclusive, segmented, last, compact, in_place, gpu;
} scan_sample;

static void last_one(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k;
    (void)user;
    io->out = vc_select(vc_ne(io->in[1], vc_i32(0)), io->in[1], io->in[0]);
}

static void odd(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k;
    (void)user;
    io->out = vc_ne(vc_and(io->in[0], vc_imm(vc_typeof(io->in[0]), 1)), vc_imm(vc_typeof(io->in[0]), 0));
}

static vd_scan *scan_of(const scan_sample *s) {
    vd_scan_desc scan = { 0 };
    vd_compact_desc compact = { 0 };
    scan.type = compact.type = s->type;
    scan.method = compact.method = VD_SCAN_ONE_PASS;
    memcpy(scan.shape, s->shape, sizeof s->shape);
    compact.count = s->shape[0];
    compact.keep.build = odd;
    scan.exclusive = s->exclusive;
    scan.segmented = s->segmented;
    if (s->last) scan.combine.build = last_one;
    if (s->last) scan.identity = vc_imm(s->type, 0);
    if (s->gpu) setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    vd_scan *p = s->compact ? vd_compact_create(device_context, &compact) : vd_scan_create(device_context, &scan);
    unsetenv("VKDISPATCH_FFT_SHAPES");
    if (!p) fail_msg("%s", vd_error_text());
    assert_true(p->one_pass);
    return p;
}

/* The same sample, with enough elements that there are tiles after the silent ones: tiles are larger on a GPU. */
static scan_sample scan_long_enough(const scan_sample *given) {
    scan_sample s = *given;
    uint64_t *count = &s.shape[s.shape[1] ? 1 : 0];
    vd_scan *p = scan_of(&s);
    while (p->tiles <= s.to) {
        vd_scan_destroy(p);
        *count += *count;
        assert_true(*count < 1u << 24);
        p = scan_of(&s);
    }
    vd_scan_destroy(p);
    return s;
}

static uint64_t scan_number(uint64_t i) { return (i + 3) * 2654435761u >> 7 & 1023; }
static uint32_t scan_head(uint64_t i) { return i % 7001 == 5; }

/* Expected results of runs of integers, by loops; UNTOUCHED where silent tiles would write. Returns the number of
   elements or, for a compaction, of elements kept. */
static uint64_t scan_expect(const scan_sample *s, uint64_t tile, uint8_t *to) {
    uint32_t size = vd_type_size(s->type);
    uint64_t row = s->shape[1] ? s->shape[1] : s->shape[0], all = s->shape[1] ? s->shape[0] * row : row, sum = 0,
             written = 0;
    for (uint64_t i = 0; i < all; i++) {
        uint64_t x = scan_number(i), before;
        bool silent = i < row && i >= s->from * tile && i < s->to * tile;
        if (i % row == 0 || (s->segmented && scan_head(i))) sum = 0;
        before = sum;
        sum = s->last ? (x ? x : sum) : sum + x;
        if (s->compact && !(x & 1)) continue;
        if (!silent) memcpy(to + written * size, s->compact ? &x : s->exclusive ? &before : &sum, size);
        written++;
    }
    return written;
}

/* Tiles from..to begin and publish nothing. */
static void scan_with_silence(vd_scan *p, const scan_sample *s, const vd_scan_io *io) {
    const vd_plan_kernel *kernel = &p->kernels[VD__SCAN_LOOK_BACK][p->kernels[VD__SCAN_LOOK_BACK][1].kernel.id != 0];
    vd_list *list = vd_immediate(device_context, 0, 0);
    vd_plan_role roles[VD__SCAN_ROLES];
    vd_plan_io tiles = vd__plan_io_of(roles, VD__SCAN_ROLES);
    vd__scan_roles(p, io, roles);
    assert_int_equal(vd__plan_dispatch_tiles(list, kernel, &tiles, NULL, s->from, UINT32_MAX), VD_OK);
    set_word(p->flags, 0, s->to); /* tickets */
    set_word(p->flags, 1, s->to); /* finished tiles */
    uint64_t rest = p->rows * p->tiles - s->to;
    assert_int_equal(vd__plan_dispatch_tiles(list, kernel, &tiles, NULL, rest, UINT32_MAX), VD_OK);
}

static void scan_compare(const scan_sample *s, const vd_scan_io *io, uint64_t tile, bool silence) {
    uint32_t size = vd_type_size(s->type), kept = 0;
    uint64_t all = s->shape[0] * (s->shape[1] ? s->shape[1] : 1), count;
    uint8_t *wanted = (uint8_t *)malloc(all * size), *got = (uint8_t *)malloc(all * size);
    scan_sample whole = *s;
    assert_true(wanted && got);
    memset(wanted, UNTOUCHED, all * size);
    if (!silence) whole.from = whole.to = 0;
    if (silence && s->in_place)
        for (uint64_t i = 0; i < all; i++) {
            uint64_t x = scan_number(i);
            memcpy(wanted + i * size, &x, size);
        }
    count = scan_expect(&whole, tile, wanted);
    if (vd_buffer_read(device_context, io->out, 0, got, VD_WHOLE)) fail_msg("%s", vd_error_text());
    if (s->compact) {
        assert_int_equal(vd_buffer_read(device_context, io->count, 0, &kept, 4), VD_OK);
        assert_int_equal(kept, count);
    }
    for (uint64_t i = 0; i < count; i++)
        if (memcmp(got + i * size, wanted + i * size, size))
            fail_msg("%llu x %llu of %s, tiles %u ... %u of %llu silent%s: element %llu is wrong",
                     (unsigned long long)s->shape[0], (unsigned long long)s->shape[1], vd_type_name(s->type), s->from,
                     s->to - 1, (unsigned long long)tile, silence ? "" : ", the run behind", (unsigned long long)i);
    free(wanted);
    free(got);
}

static void scan_check(const scan_sample *given) {
    scan_sample sample = scan_long_enough(given), *s = &sample;
    uint32_t size = vd_type_size(s->type);
    uint64_t all = s->shape[0] * (s->shape[1] ? s->shape[1] : 1), tile;
    uint8_t *data = (uint8_t *)malloc(all * size), *nothing = (uint8_t *)malloc(all * size);
    uint32_t *heads = (uint32_t *)malloc(all * 4);
    assert_true(data && nothing && heads);
    memset(nothing, UNTOUCHED, all * size);
    for (uint64_t i = 0; i < all; i++) {
        uint64_t x = scan_number(i);
        memcpy(data + i * size, &x, size);
        heads[i] = scan_head(i);
    }
    vd_scan *p = scan_of(s);
    vd_scan_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
    tile = (uint64_t)p->threads * VD__SCAN_LOADS * p->vector;
    io.in = buffer_of(device_context, s->type, all, data);
    io.out = s->in_place ? io.in : buffer_of(device_context, s->type, all, nothing);
    if (s->segmented) io.segment_heads = buffer_of(device_context, VD_U32, all, heads);
    if (s->compact) io.count = buffer_of(device_context, VD_U32, 1, NULL);
    scan_with_silence(p, s, &io);
    scan_compare(s, &io, tile, true);
    if (s->in_place) assert_int_equal(vd_buffer_write(device_context, io.in, 0, data, all * size), VD_OK);
    uint64_t before = dispatches();
    if (vd_scan_run(p, vd_immediate(device_context, 0, 0), &io)) fail_msg("%s", vd_error_text());
    assert_int_equal(dispatches() - before, (p->rows * p->tiles + p->tiles_in_flight - 1) / p->tiles_in_flight);
    scan_compare(s, &io, tile, false);
    vd_scan_destroy(p);
    vd_buffer_destroy(device_context, io.in);
    if (!s->in_place) vd_buffer_destroy(device_context, io.out);
    vd_buffer_destroy(device_context, io.segment_heads);
    vd_buffer_destroy(device_context, io.count);
    free(data);
    free(nothing);
    free(heads);
}

static void scans(void **state) {
    static const scan_sample samples[] = {
        { VD_U32, { 20000, 0 }, 0, 1, false, false, false, false, false, false },
        { VD_I32, { 20001, 0 }, 3, 4, true, false, false, false, true, false },
        { VD_U32, { 2, 9000 }, 2, 5, false, true, false, false, false, false },
        { VD_I32, { 20000, 0 }, 1, 3, false, false, true, false, false, false },
        { VD_U32, { 20000, 0 }, 4, 6, false, false, false, true, false, false },
        { VD_U64, { 9999, 0 }, 5, 7, true, false, false, false, false, false },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(samples); i++)
        if ((vd_type_size(samples[i].type) < 8 || vd_device(device_context, 0)->features & VD_FEATURE_I64)
            && !passes_over(1, 1))
            scan_check(&samples[i]);
}

/* Large tiles; looking back at several tiles at once if there are subgroups. */
static void scans_as_for_a_gpu(void **state) {
    static const scan_sample samples[] = {
        { VD_U32, { 150000, 0 }, 0, 1, false, false, false, false, false, true },
        { VD_I32, { 200000, 0 }, 11, 13, true, false, false, false, true, true },
        { VD_U32, { 100000, 0 }, 3, 5, false, false, false, true, false, true },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(samples); i++)
        if (!passes_over(1, 1)) scan_check(&samples[i]);
}

/* All tiles of a dispatch except the last are silent; as many as the device's limit of loop iterations allows. */
static void longest_walks(void **state) {
    (void)state;
    need_device();
    for (int i = 0; i < 2; i++) {
        scan_sample s = { VD_U32, { 1 << 20, 0 }, 0, 1, false, false, false, false, false, i == 1 };
        vd_scan *p = scan_of(&s);
        uint32_t most = p->tiles_in_flight < 700 ? p->tiles_in_flight : 30;
        if (vd_device(device_context, 0)->facts.max_loop_iterations) assert_true(p->tiles_in_flight < p->tiles);
        else assert_true(p->tiles_in_flight == UINT32_MAX);
        s.to = most > 1 ? most - 1 : 1;
        s.shape[0] = (most + 3) * (uint64_t)p->threads * VD__SCAN_LOADS * p->vector + 5;
        vd_scan_destroy(p);
        scan_check(&s);
    }
}

/* ---- sorts, by one digit ---- */

typedef struct sort_sample { vd_type type; uint64_t count; uint32_t from, to; bool descending; } sort_sample;

static uint64_t sort_key(uint64_t i) { return (i + 1) * (uint64_t)0x9e3779b97f4a7c15u >> 40; }

static vd_sort *sort_of(const sort_sample *s) {
    vd_sort_desc desc = { 0 };
    desc.type = s->type;
    desc.values = VD_U32;
    desc.count = s->count;
    desc.descending = s->descending;
    desc.method = VD_SCAN_ONE_PASS;
    setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    vd_sort *p = vd_sort_create(device_context, &desc);
    unsetenv("VKDISPATCH_FFT_SHAPES");
    if (!p) fail_msg("%s", vd_error_text());
    return p;
}

/* Runs the first pass; tiles from..to begin and publish nothing. */
static void sort_with_silence(vd_sort *p, const sort_sample *s, const vd_sort_io *io) {
    vd_list *list = vd_immediate(device_context, 0, 0);
    vd_plan_role roles[VD__SORT_ROLES];
    vd_plan_io pass = vd__plan_io_of(roles, VD__SORT_ROLES);
    vd_arg shift = vd_u32(0);
    vd__sort_roles(p, io, roles);
    assert_int_equal(vd__sort_run_count(p, list, &pass, 0), VD_OK);
    assert_int_equal(vd__plan_dispatch_tiles(list, &p->scatter, &pass, &shift, s->from, UINT32_MAX), VD_OK);
    set_word(p->counts, vd__sort_ticket_offset(p), s->to);
    assert_int_equal(vd__plan_dispatch_tiles(list, &p->scatter, &pass, &shift, p->tiles - s->to, UINT32_MAX), VD_OK);
}

/* Checks that the keys of all other tiles are at the positions that counting digits gives. */
static void sort_compare(const vd_sort *p, const sort_sample *s, const vd_sort_io *io) {
    uint32_t size = vd_type_size(s->type), *values = (uint32_t *)malloc(s->count * 4), next[256] = { 0 }, at = 0, digit,
             nothing;
    uint8_t *keys = (uint8_t *)malloc(s->count * size), absent[8];
    assert_true(keys && values);
    memset(absent, UNTOUCHED, sizeof absent);
    memset(&nothing, UNTOUCHED, sizeof nothing);
    assert_int_equal(vd_buffer_read(device_context, io->out, 0, keys, VD_WHOLE)
                         || vd_buffer_read(device_context, io->out_values, 0, values, VD_WHOLE),
                     0);
    for (uint64_t i = 0; i < s->count; i++) next[(sort_key(i) & 255) ^ (s->descending ? 255 : 0)]++;
    for (uint32_t d = 0, n; d < 256; d++, at += n) { n = next[d]; next[d] = at; }
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t key = sort_key(i);
        bool silent = i / p->tile >= s->from && i / p->tile < s->to;
        digit = (uint32_t)(key & 255) ^ (s->descending ? 255u : 0u);
        at = next[digit]++;
        if (memcmp(keys + at * size, silent ? (void *)absent : (void *)&key, size)
            || values[at] != (silent ? nothing : (uint32_t)i))
            fail_msg("%llu of %s, tiles %u ... %u of %u silent: key %llu is not at %u", (unsigned long long)s->count, vd_type_name(s->type), s->from,
                     s->to - 1, p->tile, (unsigned long long)i, at);
    }
    free(keys);
    free(values);
}

/* All passes, without silent tiles. */
static void sort_whole(vd_sort *p, const sort_sample *s, const vd_sort_io *io) {
    uint32_t size = vd_type_size(s->type), *values = (uint32_t *)malloc(s->count * 4);
    assert_non_null(values);
    uint64_t before = dispatches();
    if (vd_sort_run(p, vd_immediate(device_context, 0, 0), io)) fail_msg("%s", vd_error_text());
    assert_int_equal(dispatches() - before,
                     1 + vd__sort_pass_count(p) * ((p->tiles + p->tiles_in_flight - 1) / p->tiles_in_flight));
    assert_int_equal(vd_buffer_read(device_context, io->out_values, 0, values, VD_WHOLE), VD_OK);
    for (uint64_t i = 1; i < s->count; i++) {
        uint64_t a = sort_key(values[i - 1]), b = sort_key(values[i]),
                 mask = size < 8 ? ((uint64_t)1 << 8 * size) - 1 : UINT64_MAX;
        a &= mask;
        b &= mask;
        if (s->descending ? a < b : a > b)
            fail_msg("the next run: %llu before %llu", (unsigned long long)a, (unsigned long long)b);
        if (a == b) assert_true(values[i - 1] < values[i]);
    }
    free(values);
}

static void sort_check(const sort_sample *s) {
    uint32_t size = vd_type_size(s->type), *values = (uint32_t *)malloc(s->count * 4);
    uint8_t *data = (uint8_t *)malloc(s->count * size), *nothing = (uint8_t *)malloc(s->count * 8);
    assert_true(data && nothing && values);
    memset(nothing, UNTOUCHED, s->count * 8);
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t key = sort_key(i);
        memcpy(data + i * size, &key, size);
        values[i] = (uint32_t)i;
    }
    vd_sort *p = sort_of(s);
    vd_sort_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
    io.keys = buffer_of(device_context, s->type, s->count, data);
    io.values = buffer_of(device_context, VD_U32, s->count, values);
    io.out = buffer_of(device_context, s->type, s->count, nothing);
    io.out_values = buffer_of(device_context, VD_U32, s->count, nothing);
    bool single = p->one_pass;
    if (single) {
        assert_true(p->tiles > s->to);
        sort_with_silence(p, s, &io);
        sort_compare(p, s, &io);
        sort_whole(p, s, &io);
    }
    vd_sort_destroy(p);
    vd_buffer_destroy(device_context, io.keys);
    vd_buffer_destroy(device_context, io.values);
    vd_buffer_destroy(device_context, io.out);
    vd_buffer_destroy(device_context, io.out_values);
    free(data);
    free(nothing);
    free(values);
    if (single) return;
    print_message("# reason: sorts in one pass require subgroups of one size\n");
    skip();
}

static void sorts(void **state) {
    static const sort_sample samples[] = { { VD_U32, 30000, 0, 1, false },
                                           { VD_U32, 40001, 5, 7, true },
                                           { VD_U16, 20000, 2, 3, false } };
    (void)state;
    need_device();
    bool narrow = (vd_device(device_context, 0)->features & VD_FEATURE_STORAGE_16) != 0; /* u16 is the last one */
    for (size_t i = 0; i < COUNT(samples) - !narrow; i++)
        if (!passes_over(1, 1)) sort_check(&samples[i]);
    if (!narrow) print_message("# reason: sorts of u16 not run: the device has no 16-bit elements in buffers\n");
}

/* ---- facts of the device ---- */

static vd_context *dummy_with(const vd_facts *facts) {
    vd_device_info device = { 0 };
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    device.features = VD_FEATURE_I64 | VD_FEATURE_ADDRESS;
    device.facts = *facts;
    desc.backend = VD_BACKEND_DUMMY;
    desc.dummy = &device;
    if (vd_context_create(&desc, &ctx)) fail_msg("%s", vd_error_text());
    return ctx;
}

typedef struct planned { bool one_pass; uint32_t threads, poll_limit, tiles_in_flight; } planned;

static planned scan_on(const vd_facts *facts) {
    vd_context *ctx = dummy_with(facts);
    vd_scan_desc desc = { 0 };
    desc.type = VD_U32;
    desc.shape[0] = 1 << 20;
    vd_scan *p = vd_scan_create(ctx, &desc);
    if (!p) fail_msg("%s", vd_error_text());
    planned found = { p->one_pass, p->threads, p->poll_limit, p->tiles_in_flight };
    vd_scan_destroy(p);
    vd_context_destroy(ctx);
    return found;
}

static uint32_t parts_on(const vd_facts *facts) {
    vd_context *ctx = dummy_with(facts);
    vd_reduce_desc desc = { 0 };
    desc.type = VD_U32;
    desc.shape[0] = 1 << 26;
    vd_reduce *p = vd_reduce_create(ctx, &desc);
    if (!p) fail_msg("%s", vd_error_text());
    uint32_t parts = p->parts;
    vd_reduce_destroy(p);
    vd_context_destroy(ctx);
    return parts;
}

/* VKDISPATCH_FFT_SHAPES replaces facts that decide how fast a plan is, not those that decide whether it is correct. */
static void facts_decide(void **state) {
    vd_facts gpu = { 0 }, cpu = { 0 };
    (void)state;
    assert_false(scan_on(&gpu).one_pass); /* forward progress is not known */
    assert_int_equal(scan_on(&gpu).poll_limit, 200);
    gpu.forward_progress = true;
    gpu.concurrent_groups = 40;
    assert_true(scan_on(&gpu).one_pass);
    assert_int_equal(scan_on(&gpu).poll_limit, 4096);
    assert_int_equal(scan_on(&gpu).threads, 256);
    assert_true(scan_on(&gpu).tiles_in_flight == UINT32_MAX);
    assert_int_equal(parts_on(&gpu), 40);
    cpu.groups_as_loops = true;
    cpu.concurrent_groups = 24;
    cpu.max_loop_iterations = 65535;
    for (int as_gpu = 0; as_gpu < 2; as_gpu++) {
        if (as_gpu) setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
        planned found = scan_on(&cpu);
        assert_false(found.one_pass);
        assert_int_equal(found.threads, as_gpu ? 256 : 32);
        assert_int_equal(found.tiles_in_flight, 32768 / (2 * 202 + found.threads * VD__SCAN_LOADS * VD__SCAN_VECTOR));
        assert_int_equal(parts_on(&cpu), as_gpu ? 528 : 24);
    }
    assert_int_equal(parts_on(&gpu), 40); /* a GPU keeps its facts */
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* On a device whose loops end early, a plan needs few iterations or is refused. */
static void few_loop_iterations(void **state) {
    uint32_t refused = 0, made = 0, scans_refused = 0, scans_made = 0;
    (void)state;
    for (uint32_t i = 1; i <= 300; i++) {
        vd_facts facts = { 0 };
        facts.max_loop_iterations = i;
        facts.groups_as_loops = i % 2;
        vd_context *ctx = dummy_with(&facts);
        vd_top_k_desc top = { 0 };
        top.shape[0] = i % 4 < 2 ? 400 : 100000;
        top.k = i % 4 < 2 ? 256 : 10;
        vd_top_k *best = vd_top_k_create(ctx, &top);
        if (best) {
            made++;
            assert_true(vd__top_iterations(best, false) + vd__top_iterations(best, true) <= (i + 1) / 2);
            assert_true(best->parts == 1 || best->part >= top.k); /* each part but the last has k results */
        } else {
            refused++;
            says(top.k == 10 ? "k is 10 for rows of 100000 elements: this needs "
                             : "k is 256 for rows of 400 elements: this needs ");
            says(" loop iterations per invocation, but the limit is ");
        }
        vd_scan_desc scan = { 0 };
        scan.type = VD_U32;
        scan.shape[0] = 30000000;
        scan.method = VD_SCAN_THREE_KERNELS;
        vd_scan *sums = vd_scan_create(ctx, &scan);
        if (sums) {
            scans_made++;
            assert_true(sums->slab > 0 && vd__ceil_div(sums->tiles, sums->threads) <= (i + 1) / 2);
            assert_true(sums->states.id && !sums->flags.id); /* nothing is allocated for head flags without segments */
        } else {
            scans_refused++;
            says("rows of 30000000 elements need ");
            says("(half of vd_facts.max_loop_iterations); use VD_SCAN_ONE_PASS");
        }
        vd_scan_destroy(sums);
        vd_top_k_destroy(best);
        vd_context_destroy(ctx);
    }
    assert_true(made && refused && scans_made && scans_refused);
}

static void none_left(void **state) {
    (void)state;
    need_device();
    nothing_left(device_context);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans), cmocka_unit_test(scans_as_for_a_gpu), cmocka_unit_test(longest_walks),
        cmocka_unit_test(sorts), cmocka_unit_test(facts_decide), cmocka_unit_test(few_loop_iterations),
        cmocka_unit_test(none_left),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    alarm(300); /* fails instead of hanging if look-back never ends */
    return RUN_ON_DEVICE(tests);
}

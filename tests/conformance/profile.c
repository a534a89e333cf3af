/* Scopes: times, nesting, batches, pools that grow, output, errors; VKDISPATCH_PROFILE. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

enum { WORDS = 1 << 16, MANY = 700 };

static vd_context *profiled(fixture *f) {
    vd_context_desc desc = fixture_desc(f);
    desc.profile = true;
    vd_context *ctx = context_with(f, &desc);
    vd_scope_info old[64];
    OK(vd_wait_idle(ctx));
    while (vd_profile_read(ctx, old, COUNT(old))) {}
    return ctx;
}

static void fill(vd_list *list, vd_buffer b, uint32_t value) { OK(vd_fill(list, b, 0, VD_WHOLE, &value, 4)); }

/* Reads exactly `count` scopes. */
static void read_scopes(vd_context *ctx, vd_scope_info *out, int count) {
    OK(vd_wait_idle(ctx));
    assert_int_equal(vd_profile_read(ctx, out, count), count);
    vd_scope_info more;
    assert_int_equal(vd_profile_read(ctx, &more, 1), 0);
}

static void check_inside(const vd_scope_info *outer, const vd_scope_info *inner) {
    assert_int_equal(inner->parent, outer->number);
    assert_true(outer->begin_ns <= inner->begin_ns && inner->begin_ns <= inner->end_ns
                && inner->end_ns <= outer->end_ns);
}

static void nested_scopes(vd_context *ctx, vd_list *list, vd_buffer b) {
    OK(vd_scope_begin(list, "frame"));
    OK(vd_scope_begin(list, "first"));
    fill(list, b, 1);
    OK(vd_scope_end(list));
    OK(vd_scope_begin(list, "second"));
    fill(list, b, 2);
    OK(vd_scope_end(list));
    OK(vd_scope_end(list));
    (void)ctx;
}

static void check_nested(vd_context *ctx) {
    vd_scope_info s[3];
    read_scopes(ctx, s, 3); /* in the order in which they ended, within a recording in that in which they began */
    const vd_scope_info *frame = NULL, *first = NULL, *second = NULL;
    for (int i = 0; i < 3; i++) {
        if (!strcmp(s[i].name, "frame")) frame = &s[i];
        else if (!strcmp(s[i].name, "first")) first = &s[i];
        else if (!strcmp(s[i].name, "second")) second = &s[i];
    }
    assert_true(frame && first && second);
    assert_int_equal(frame->parent, 0);
    check_inside(frame, first);
    check_inside(frame, second);
    assert_true(first->end_ns <= second->begin_ns);
    assert_int_equal(first->number, frame->number + 1);
    assert_int_equal(second->number, frame->number + 2);
}

TEST(scopes_nest) {
    vd_context *ctx = profiled(f);
    vd_buffer b = buffer_u32(ctx, "b", WORDS, NULL);
    OK(vd_wait_idle(ctx));
    uint64_t before = vd_time_ns();
    nested_scopes(ctx, vd_immediate(ctx, 0, 0), b);
    check_nested(ctx);
    vd_list *list = list_begin(ctx);
    nested_scopes(ctx, list, b);
    OK(vd_submit(list, NULL, NULL));
    check_nested(ctx);
    assert_int_equal(read_u32(ctx, b, WORDS - 1), 2);
    assert_true(vd_time_ns() > before);
    vd_buffer_destroy(ctx, b);
}

TEST_EXECUTED(times_are_those_of_the_commands) {
    vd_context *ctx = profiled(f);
    vd_buffer x = buffer_u32(ctx, "x", 64, NULL);
    vd_kernel slow = kernel_slow(ctx);
    vd_list *now = vd_immediate(ctx, 0, 0);
    vd_arg args[2] = { vd_b(x), vd_u32(1) };
    vd_scope_info s[2];
    OK(dispatch(now, slow, 64, args, 2)); /* compiles */
    OK(vd_wait_idle(ctx));
    uint64_t before = vd_time_ns();
    OK(vd_scope_begin(now, "short"));
    OK(dispatch(now, slow, 64, args, 2));
    OK(vd_scope_end(now));
    args[1] = vd_u32(SLOW_ROUNDS);
    OK(vd_scope_begin(now, "long"));
    OK(dispatch(now, slow, 64, args, 2));
    OK(vd_scope_end(now));
    read_scopes(ctx, s, 2);
    uint64_t after = vd_time_ns(), lengths[2] = { s[0].end_ns - s[0].begin_ns, s[1].end_ns - s[1].begin_ns };
    assert_true(lengths[1] > lengths[0]);
    assert_true(lengths[1] > 100000 && lengths[1] <= after - before); /* a million dependent steps */
    assert_true(s[0].end_ns <= s[1].begin_ns);
    vd_kernel_destroy(ctx, slow);
    vd_buffer_destroy(ctx, x);
}

/* The immediate list is submitted in the middle of the outer scope, also by itself when its batch is full. */
TEST(a_scope_may_extend_over_batches) {
    vd_context *ctx = profiled(f);
    vd_buffer b = buffer_u32(ctx, "b", 64, NULL);
    vd_list *now = vd_immediate(ctx, 0, 0);
    vd_scope_info s[3];
    OK(vd_scope_begin(now, "outer"));
    OK(vd_flush(ctx));
    OK(vd_scope_begin(now, "inner"));
    uint64_t submissions = stats_of(ctx).submissions;
    for (uint32_t i = 0; i < 1500; i++) fill(now, b, i);
    assert_true(stats_of(ctx).submissions >= submissions + 2);
    OK(vd_scope_end(now));
    OK(vd_wait_idle(ctx));
    OK(vd_scope_end(now));
    read_scopes(ctx, s, 2);
    assert_string_equal(s[0].name, "inner");
    assert_string_equal(s[1].name, "outer");
    check_inside(&s[1], &s[0]);
    vd_buffer_destroy(ctx, b);
}

/* More timestamps than a query pool has, in one recording. */
TEST(any_number_of_scopes) {
    static vd_scope_info s[MANY];
    vd_context *ctx = profiled(f);
    vd_buffer b = buffer_u32(ctx, "b", 64, NULL);
    for (int round = 0; round < 3; round++) {
        vd_list *list = list_begin(ctx);
        for (uint32_t i = 0; i < MANY; i++) {
            OK(vd_scope_begin(list, i % 2 ? "odd" : "even"));
            fill(list, b, i);
            OK(vd_scope_end(list));
        }
        OK(vd_submit(list, NULL, NULL));
        read_scopes(ctx, s, MANY);
        for (int i = 0; i < MANY; i++) {
            assert_string_equal(s[i].name, i % 2 ? "odd" : "even");
            assert_true(s[i].begin_ns <= s[i].end_ns && (i == 0 || s[i - 1].end_ns <= s[i].begin_ns));
        }
    }
    vd_buffer_destroy(ctx, b);
}

/* In the steady state, scopes and their results need no allocation, and nothing is submitted or waited for. */
TEST(reading_neither_allocates_nor_submits) {
    vd_context *ctx = profiled(f);
    vd_buffer b = buffer_u32(ctx, "b", WORDS, NULL);
    vd_list *now = vd_immediate(ctx, 0, 0);
    vd_scope_info s[8];
    vd_stats before = stats_of(ctx);
    for (uint32_t i = 0, read = 0; i < 400; i++) {
        if (i == 300) before = stats_of(ctx);
        OK(vd_scope_begin(now, "frame"));
        fill(now, b, i);
        OK(vd_scope_end(now));
        uint64_t submissions = stats_of(ctx).submissions;
        read += (uint32_t)vd_profile_read(ctx, s, COUNT(s));
        assert_int_equal(stats_of(ctx).submissions, submissions);
        OK(vd_flush(ctx));
        while (i >= 2 && read < i - 2) read += (uint32_t)vd_profile_read(ctx, s, COUNT(s));
    }
    if (f->backend != VD_BACKEND_OPENCL) /* several submissions may be in flight */
        assert_int_equal(stats_of(ctx).host_allocations, before.host_allocations);
    vd_buffer_destroy(ctx, b);
}

TEST(scopes_of_discarded_lists_are_lost) {
    vd_context *ctx = profiled(f);
    vd_list *list = list_begin(ctx);
    OK(vd_scope_begin(list, "lost"));
    OK(vd_scope_end(list));
    vd_list_discard(list);
    list = list_begin(ctx);
    OK(vd_scope_begin(list, "kept"));
    OK(vd_scope_end(list));
    OK(vd_submit(list, NULL, NULL));
    vd_scope_info s;
    read_scopes(ctx, &s, 1);
    assert_string_equal(s.name, "kept");
}

/* ---- graphs ---- */

/* Records "frame" with "first" and "second" in it, in which commands on `a` and `b` alternate, and an empty scope. The
   commands of "second" on b do not wait for those of "first". */
static vd_graph record_graph(vd_context *ctx, vd_buffer a, vd_buffer b) {
    vd_list *list = vd_graph_begin(ctx, NULL);
    OK(vd_scope_begin(list, "frame"));
    OK(vd_scope_begin(list, "first"));
    for (uint32_t i = 0; i < 3; i++) fill(list, a, i);
    OK(vd_scope_begin(list, "empty"));
    OK(vd_scope_begin(list, "empty too"));
    OK(vd_scope_end(list));
    OK(vd_scope_end(list));
    OK(vd_scope_end(list));
    OK(vd_scope_begin(list, "second"));
    for (uint32_t i = 0; i < 3; i++) fill(list, b, i);
    OK(vd_scope_end(list));
    OK(vd_scope_end(list));
    fill(list, a, 3);
    vd_graph g = vd_graph_end(list);
    assert_true(g.id != 0);
    return g;
}

/* Checks the scopes of one instance. */
static void check_graph_scopes(const vd_scope_info s[3]) {
    assert_string_equal(s[0].name, "frame");
    assert_string_equal(s[1].name, "first");
    assert_string_equal(s[2].name, "second");
    assert_int_equal(s[0].parent, 0);
    check_inside(&s[0], &s[1]);
    check_inside(&s[0], &s[2]);
    assert_int_equal(s[1].number, s[0].number + 1);
    assert_int_equal(s[2].number, s[0].number + 2);
}

/* Each submission is measured, also if its graph was destroyed before it was read. */
TEST(scopes_in_graphs) {
    enum { SUBMISSIONS = 12, INSTANCES = 3 };
    vd_context *ctx = profiled(f);
    vd_buffer a = buffer_u32(ctx, "a", WORDS, NULL), b = buffer_u32(ctx, "b", WORDS, NULL);
    vd_graph g = record_graph(ctx, a, b);
    vd_scope_info s[3 * SUBMISSIONS];
    vd_graph_submit_desc instances;
    OK(vd_wait_idle(ctx));
    uint64_t before = vd_time_ns();
    for (int i = 0; i < SUBMISSIONS; i++) OK(vd_graph_submit(ctx, g, NULL, NULL));
    read_scopes(ctx, s, 3 * SUBMISSIONS);
    for (int i = 0; i < SUBMISSIONS; i++) {
        check_graph_scopes(s + 3 * i);
        assert_true(i == 0 || s[3 * i].number >= s[3 * i - 3].number + 3);
    }
    for (int i = 0; i < SUBMISSIONS; i++) { /* waits between submissions: the same recording */
        OK(vd_graph_submit(ctx, g, NULL, NULL));
        read_scopes(ctx, s, 3);
        check_graph_scopes(s);
    }
    assert_true(s[0].end_ns - s[0].begin_ns <= vd_time_ns() - before);
    memset(&instances, 0, sizeof instances);
    instances.instances = INSTANCES;
    OK(vd_graph_submit(ctx, g, &instances, NULL));
    OK(vd_graph_submit(ctx, g, NULL, NULL));
    vd_graph_destroy(ctx, g);
    read_scopes(ctx, s, 3 * INSTANCES + 3);
    for (int i = 0; i <= INSTANCES; i++) check_graph_scopes(s + 3 * i);
    vd_buffer_destroy(ctx, a);
    vd_buffer_destroy(ctx, b);
}

/* More submissions in flight than a graph has recordings: some are measured, the last one among them. */
TEST(many_measured_graphs_in_flight) {
    enum { SUBMISSIONS = 200 };
    vd_context *ctx = profiled(f);
    vd_buffer a = buffer_u32(ctx, "a", WORDS, NULL), b = buffer_u32(ctx, "b", WORDS, NULL);
    vd_graph g = record_graph(ctx, a, b);
    vd_scope_info s[3 * SUBMISSIONS];
    uint64_t last = 0;
    for (int i = 0; i < SUBMISSIONS; i++) OK(vd_graph_submit(ctx, g, NULL, NULL));
    OK(vd_wait_idle(ctx));
    int count = vd_profile_read(ctx, s, COUNT(s));
    assert_true(count >= 3 * 16 && count % 3 == 0);
    for (int i = 0; i < count; i += 3) {
        check_graph_scopes(s + i);
        if (s[i].number > last) last = s[i].number;
    }
    OK(vd_graph_submit(ctx, g, NULL, NULL));
    read_scopes(ctx, s, 3);
    assert_true(s[0].number == last + 3);
    vd_graph_destroy(ctx, g);
    vd_buffer_destroy(ctx, a);
    vd_buffer_destroy(ctx, b);
}

TEST(wrong_scopes_in_graphs_are_refused) {
    vd_context *ctx = profiled(f);
    vd_list *list = vd_graph_begin(ctx, NULL);
    vd_buffer a = buffer_u32(ctx, "a", 64, NULL);
    OK(vd_scope_begin(list, "open"));
    fill(list, a, 1);
    assert_int_equal(vd_graph_end(list).id, 0);
    check_text("vd_graph_end", "vd_graph_end|'open'|has not ended");
    list = vd_graph_begin(ctx, NULL);
    FAILS(vd_scope_begin(list, NULL), VD_ERROR_INVALID, "vd_scope_begin|name is NULL");
    assert_int_equal(vd_graph_end(list).id, 0);
    list = vd_graph_begin(ctx, NULL);
    for (int i = 0; i < 32; i++) OK(vd_scope_begin(list, "deep"));
    FAILS(vd_scope_begin(list, "deeper"), VD_ERROR_INVALID, "vd_scope_begin 'deeper'|32 scopes");
    vd_list_discard(list);
    vd_context *without = context_without(f, VD_FEATURE_TIMESTAMP);
    list = vd_graph_begin(without, NULL);
    FAILS(vd_scope_begin(list, "x"), VD_ERROR_UNSUPPORTED, "vd_scope_begin 'x'|no timestamps");
    vd_list_discard(list);
    vd_buffer_destroy(ctx, a);
}

TEST(wrong_scopes_are_refused) {
    vd_context *ctx = profiled(f);
    vd_list *now = vd_immediate(ctx, 0, 0);
    vd_scope_info s;
    FAILS(vd_scope_begin(now, NULL), VD_ERROR_INVALID, "vd_scope_begin|name is NULL");
    FAILS(vd_scope_begin(NULL, "x"), VD_ERROR_INVALID, "vd_scope_begin|the list is NULL");
    FAILS(vd_scope_end(now), VD_ERROR_INVALID, "vd_scope_end|no open scope");
    FAILS(vd_scope_end(NULL), VD_ERROR_INVALID, "vd_scope_end|the list is NULL");
    for (int i = 0; i < 32; i++) OK(vd_scope_begin(now, "deep"));
    FAILS(vd_scope_begin(now, "deeper"), VD_ERROR_INVALID, "vd_scope_begin 'deeper'|32 scopes");
    for (int i = 0; i < 32; i++) OK(vd_scope_end(now));
    vd_list *list = list_begin(ctx);
    OK(vd_scope_begin(list, "open"));
    FAILS(vd_list_end(list), VD_ERROR_INVALID, "vd_list_end|'open'|has not ended");
    FAILS(vd_submit(list, NULL, NULL), VD_ERROR_INVALID, "'open'|has not ended");
    list = list_begin(ctx);
    OK(vd_scope_begin(list, "open"));
    FAILS(vd_submit(list, NULL, NULL), VD_ERROR_INVALID, "vd_submit|'open'|has not ended");
    list = list_begin(ctx);
    FAILS(vd_scope_end(list), VD_ERROR_INVALID, "no open scope");
    FAILS(vd_submit(list, NULL, NULL), VD_ERROR_INVALID, "vd_scope_end|no open scope");
    assert_int_equal(vd_profile_read(ctx, NULL, 1), 0);
    check_text("vd_profile_read", "vd_profile_read|out is NULL");
    assert_int_equal(vd_profile_read(ctx, &s, -1), 0);
    check_text("vd_profile_read", "capacity is -1");
    assert_int_equal(vd_profile_read(NULL, &s, 1), 0);
    assert_int_equal(vd_profile_print(ctx, NULL, 5), 0);
    check_text("vd_profile_print", "out is NULL");
    FAILS(vd_profile_write(ctx, NULL), VD_ERROR_INVALID, "vd_profile_write|path is NULL");
    FAILS(vd_profile_write(ctx, ""), VD_ERROR_INVALID, "path is empty");
    FAILS(vd_profile_write(ctx, "/no/such/folder/trace.json"), VD_ERROR_IO, "vd_profile_write|/no/such/folder");
    OK(vd_wait_idle(ctx));
}

TEST(devices_without_timestamps_refuse) {
    vd_context *ctx = context_without(f, VD_FEATURE_TIMESTAMP);
    assert_true(!(vd_device(ctx, 0)->features & VD_FEATURE_TIMESTAMP));
    assert_true(vd_device(ctx, 0)->timestamp_bits == 0);
    FAILS(vd_scope_begin(vd_immediate(ctx, 0, 0), "x"), VD_ERROR_UNSUPPORTED, "vd_scope_begin 'x'|no timestamps");
    if (f->backend == VD_BACKEND_OPENCL && !getenv("VKDISPATCH_PROFILE"))
        FAILS(vd_scope_begin(vd_immediate(f->ctx, 0, 0), "x"), VD_ERROR_UNSUPPORTED, "vd_context_desc.profile");
}

/* ---- output ---- */

static char *file_text(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = (char *)calloc(1, 1 << 20);
    assert_true(file && text);
    size_t size = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    unlink(path);
    assert_true(size > 0);
    return text;
}

/* Checks brackets, strings, and commas between elements. Returns the text after a value. */
static const char *check_json(const char *at) {
    while (strchr(" \n", *at) && *at) at++;
    if (*at == '"') {
        for (at++; *at != '"'; at++) {
            assert_true((unsigned char)*at >= ' ');
            if (*at == '\\') at++;
        }
        return at + 1;
    }
    if (*at != '{' && *at != '[') {
        char *end;
        strtod(at, &end);
        assert_true(end > at);
        return end;
    }
    char close = *at == '{' ? '}' : ']';
    for (at++;; at++) {
        at = check_json(at);
        if (close == '}') {
            assert_int_equal(*at, ':');
            at = check_json(at + 1);
        }
        while (*at == '\n') at++;
        if (*at == close) return at + 1;
        assert_int_equal(*at, ',');
    }
}

TEST(tables_and_traces) {
    vd_context *ctx = profiled(f);
    vd_buffer b = buffer_u32(ctx, "b", WORDS, NULL);
    vd_list *now = vd_immediate(ctx, 0, 0);
    char path[64], small[10], table[4096];
    for (int i = 0; i < 3; i++) {
        OK(vd_scope_begin(now, "table"));
        OK(vd_scope_begin(now, "with \"quotes\" and \\ and \n"));
        fill(now, b, 7);
        OK(vd_scope_end(now));
        OK(vd_scope_end(now));
    }
    OK(vd_wait_idle(ctx));
    size_t length = vd_profile_print(ctx, table, sizeof table);
    assert_int_equal(length, strlen(table));
    assert_int_equal(vd_profile_print(ctx, NULL, 0), length);
    assert_int_equal(vd_profile_print(ctx, small, sizeof small), length);
    assert_true(!strncmp(small, table, sizeof small - 1) && strlen(small) == sizeof small - 1);
    const char *row = strstr(table, "\ntable"), *inner = row ? strstr(row, "\n  with \"quotes\"") : NULL;
    assert_true(row && inner);
    unsigned long count = 0;
    assert_int_equal(sscanf(row, "\ntable %lu", &count), 1);
    assert_int_equal(count, 3);
    snprintf(path, sizeof path, "/tmp/vkdispatch-trace-%d.json", (int)getpid());
    OK(vd_profile_write(ctx, path));
    OK(vd_profile_write(ctx, path)); /* replaces it */
    char *text = file_text(path);
    assert_string_equal(check_json(text), "\n");
    int scopes = 0;
    for (const char *at = text; (at = strstr(at, "\"ph\": \"X\"")) != NULL; at++) scopes++;
    assert_int_equal(scopes, 6);
    assert_non_null(strstr(text, "\"with \\\"quotes\\\" and \\\\ and  \""));
    assert_non_null(strstr(text, "\"traceEvents\""));
    free(text);
    vd_scope_info s[6];
    read_scopes(ctx, s, 6);
    assert_int_equal(vd_profile_print(ctx, NULL, 0), length); /* also what was read */
    vd_buffer_destroy(ctx, b);
}

/* Three transfers of an image: with its creation, a clear and a download. */
static void transfer_image(vd_context *ctx) {
    uint32_t texels[16] = { 0 };
    vd_image_desc desc;
    vd_image_transfer all;
    memset(&desc, 0, sizeof desc);
    memset(&all, 0, sizeof all);
    desc.format = VD_FORMAT_RGBA8_UNORM;
    desc.extent[0] = desc.extent[1] = 4;
    desc.data = texels;
    all.box.image = vd_image_create(ctx, &desc);
    assert_int_not_equal(all.box.image.id, 0);
    OK(vd_clear_image(vd_immediate(ctx, 0, 0), all.box.image, NULL));
    OK(vd_image_download(ctx, &all, texels));
}

/* VKDISPATCH_PROFILE is read when a context is created. */
static char *run_profiled(fixture *f, const char *path) {
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    char *before = getenv("VKDISPATCH_PROFILE"), saved[200] = "";
    if (before) snprintf(saved, sizeof saved, "%s", before);
    setenv("VKDISPATCH_PROFILE", path, 1);
    vd_result r = vd_context_create(&desc, &ctx);
    if (before) setenv("VKDISPATCH_PROFILE", saved, 1);
    else unsetenv("VKDISPATCH_PROFILE");
    OK(r);
    assert_true(vd_device(ctx, 0)->features & VD_FEATURE_TIMESTAMP);
    vd_buffer a = buffer_u32(ctx, "a", WORDS, NULL), b = buffer_u32(ctx, "b", WORDS, NULL);
    vd_kernel k = kernel_move(ctx);
    vd_list *now = vd_immediate(ctx, 0, 0), *list = list_begin(ctx);
    OK(vd_scope_begin(list, "outer"));
    for (int i = 0; i < 20; i++) OK(move(list, k, a, b, WORDS, 1));
    OK(vd_scope_end(list));
    OK(vd_submit(list, NULL, NULL));
    for (int i = 0; i < 600; i++) OK(move(now, k, b, a, WORDS, 0));
    OK(vd_copy(now, a, 0, b, 0, 64));
    fill(now, a, 5);
    if (f->executes) assert_int_equal(read_u32(ctx, b, 100), 1);
    list = vd_graph_begin(ctx, NULL);
    OK(vd_scope_begin(list, "graph"));
    for (int i = 0; i < 5; i++) OK(move(list, k, a, b, WORDS, 1));
    OK(vd_copy(list, a, 0, b, 0, 64));
    fill(list, a, 6);
    OK(vd_scope_end(list));
    OK(move(list, k, b, a, WORDS, 1));
    vd_graph g = vd_graph_end(list);
    for (int i = 0; i < 4; i++) OK(vd_graph_submit(ctx, g, NULL, NULL));
    if (has_features(f, VD_FEATURE_IMAGE)) transfer_image(ctx);
    vd_context_destroy(ctx);
    return strcmp(path, "0") ? file_text(path) : NULL;
}

static unsigned long count_of(const char *table, const char *row) {
    unsigned long count = 0;
    const char *at = strstr(table, row);
    if (!at || sscanf(at + strlen(row), " %lu", &count) != 1) fail_msg("no '%s' in:\n%s", row, table);
    return count;
}

TEST(a_variable_measures_every_command) {
    char path[64];
    if (is_privileged()) skip_because("the program is privileged, and does not write the file of VKDISPATCH_PROFILE");
    snprintf(path, sizeof path, "/tmp/vkdispatch-profile-%d.txt", (int)getpid());
    char *table = run_profiled(f, path);
    const char *graph = strstr(table, "\ngraph");
    assert_non_null(graph);
    assert_int_equal(count_of(graph, "\ngraph"), 4);
    assert_int_equal(count_of(graph, "\n  move"), 4 * 5);
    assert_int_equal(count_of(graph, "\n  copy"), 4);
    assert_int_equal(count_of(graph, "\n  fill"), 4);
    assert_int_equal(count_of(table, "\nmove"), 600 + 4);
    assert_int_equal(count_of(table, "\n  move"), 20);
    assert_int_equal(count_of(table, "\nouter"), 1);
    assert_int_equal(count_of(table, "\ncopy"), 1);
    assert_true(count_of(table, "\nfill") >= 1);
    if (has_features(f, VD_FEATURE_IMAGE)) assert_int_equal(count_of(table, "\nimage transfer"), 3);
    free(table);
    snprintf(path, sizeof path, "/tmp/vkdispatch-profile-%d.json", (int)getpid());
    char *trace = run_profiled(f, path);
    assert_string_equal(check_json(trace), "\n");
    assert_non_null(strstr(trace, "\"name\": \"move\""));
    free(trace);
}

static const struct CMUnitTest cases[] = {
    CASE(scopes_nest), CASE(times_are_those_of_the_commands), CASE(a_scope_may_extend_over_batches),
    CASE(any_number_of_scopes), CASE(reading_neither_allocates_nor_submits), CASE(scopes_of_discarded_lists_are_lost),
    CASE(scopes_in_graphs), CASE(many_measured_graphs_in_flight), CASE(wrong_scopes_in_graphs_are_refused),
    CASE(wrong_scopes_are_refused), CASE(devices_without_timestamps_refuse), CASE_FRESH(tables_and_traces),
    CASE(a_variable_measures_every_command),
};
MAIN("profile", cases)

/* vdlist: prints the compute devices of this machine and their capabilities.

   cc -O1 -I. tools/vdlist.c -o vdlist -ldl -lpthread
   vdlist [--help] [--verbose] [--json] [--backend NAME] */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    bool help, verbose, json;
    vd_backend backend; /* default: all with real devices */
} options;

static const struct { vd_backend backend; bool real; } backends[] = {
    { VD_BACKEND_VULKAN, true }, { VD_BACKEND_CUDA, true }, { VD_BACKEND_OPENCL, true }, { VD_BACKEND_DUMMY, false },
};
enum { BACKENDS = sizeof backends / sizeof *backends, FEATURES = 64 };

/* Numeric limits and facts: name, offset in vd_device_info, count, bytes of each. */
#define FIELD(name, member, count) \
    { name, offsetof(vd_device_info, member), count, sizeof(((vd_device_info *)0)->member) / count }
static const struct { const char *name; size_t at; int count; size_t bytes; } fields[] = {
    FIELD("vendor_id", vendor_id, 1),
    FIELD("device_id", device_id, 1),
    FIELD("api_version", api_version, 3),
    FIELD("driver_version", driver_version, 1),
    FIELD("device_memory", device_memory, 1),
    FIELD("host_memory", host_memory, 1),
    FIELD("device_budget", device_budget, 1),
    FIELD("max_groups", limits.max_groups, 3),
    FIELD("max_local_size", limits.max_local_size, 3),
    FIELD("max_local_invocations", limits.max_local_invocations, 1),
    FIELD("max_shared_bytes", limits.max_shared_bytes, 1),
    FIELD("max_private_bytes", limits.max_private_bytes, 1),
    FIELD("max_push_bytes", limits.max_push_bytes, 1),
    FIELD("max_bindings", limits.max_bindings, 1),
    FIELD("binding_alignment", limits.binding_alignment, 1),
    FIELD("subgroup_size", limits.subgroup_size, 1),
    FIELD("min_subgroup_size", limits.min_subgroup_size, 1),
    FIELD("max_subgroup_size", limits.max_subgroup_size, 1),
    FIELD("max_binding_bytes", limits.max_binding_bytes, 1),
    FIELD("max_buffer_bytes", limits.max_buffer_bytes, 1),
    FIELD("max_uniform_blocks", limits.max_uniform_blocks, 1),
    FIELD("max_sampled_images", limits.max_sampled_images, 1),
    FIELD("max_storage_images", limits.max_storage_images, 1),
    FIELD("max_samplers", limits.max_samplers, 1),
    FIELD("uniform_alignment", limits.uniform_alignment, 1),
    FIELD("max_uniform_bytes", limits.max_uniform_bytes, 1),
    FIELD("sparse_page_bytes", limits.sparse_page_bytes, 1),
    FIELD("max_sparse_bytes", limits.max_sparse_bytes, 1),
    FIELD("max_texels", limits.max_texels, 1),
    FIELD("texel_alignment", limits.texel_alignment, 1),
    FIELD("forward_progress", facts.forward_progress, 1),
    FIELD("ordered_stores", facts.ordered_stores, 1),
    FIELD("groups_as_loops", facts.groups_as_loops, 1),
    FIELD("lane_access", facts.lane_access, 1),
    FIELD("concurrent_groups", facts.concurrent_groups, 1),
    FIELD("max_loop_iterations", facts.max_loop_iterations, 1),
};
enum { FIELDS = sizeof fields / sizeof *fields };

static uint64_t field_value(const vd_device_info *info, int field, int index) {
    const char *at = (const char *)info + fields[field].at + (size_t)index * fields[field].bytes;
    uint32_t narrow;
    uint64_t wide;
    bool flag;
    if (fields[field].bytes == sizeof flag) return memcpy(&flag, at, sizeof flag), flag;
    memcpy(&narrow, at, sizeof narrow);
    if (fields[field].bytes == sizeof narrow) return narrow;
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static const char *type_name(vd_device_type type) {
    static const char *const names[] = { "other", "discrete", "integrated", "virtual", "cpu" };
    return names[(size_t)type < sizeof names / sizeof *names ? type : VD_DEVICE_OTHER];
}

/* Returns the name of feature bit `i` if the device has it, otherwise NULL. */
static const char *feature(const vd_device_info *info, int i) {
    uint64_t bit = 1ull << i;
    return info->features & bit ? vd_feature_name(bit) : NULL;
}

/* ---- text ---- */

static void print_size(uint64_t bytes) {
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1024 && unit < 4; unit++) size /= 1024;
    printf(unit ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

static void print_short(const vd_device_info *info) {
    printf("%s %d: %s (%s, ", vd_backend_name(info->backend), info->index, info->name, type_name(info->type));
    print_size(info->device_memory);
    printf("%s), version %" PRIu32 ".%" PRIu32 ".%" PRIu32 "\n", info->shared_memory ? " shared with the host" : "",
        info->api_version[0], info->api_version[1], info->api_version[2]);
}

static void print_verbose(const vd_device_info *info) {
    printf("    %-22s %s\n", "driver", info->driver);
    printf("    %-22s ", "uuid");
    for (int i = 0; i < 16; i++) printf("%02x", info->uuid[i]);
    printf("\n    %-22s", "features");
    for (int i = 0; i < FEATURES; i++) {
        if (feature(info, i)) printf(" %s", feature(info, i));
    }
    printf("\n    %-22s %g ns, %u bits\n", "timestamp tick", info->timestamp_ns, (unsigned)info->timestamp_bits);
    for (int f = 0; f < FIELDS; f++) {
        printf("    %-22s", fields[f].name);
        for (int i = 0; i < fields[f].count; i++) printf(" %" PRIu64, field_value(info, f, i));
        printf("\n");
    }
}

/* ---- JSON ---- */

static void json_string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c < 0x20) printf("\\u%04x", c);
        else putchar(c);
    }
    putchar('"');
}

static void json_device(const vd_device_info *info) {
    printf("  {\"backend\": \"%s\", \"index\": %d, \"name\": ", vd_backend_name(info->backend), info->index);
    json_string(info->name);
    printf(", \"driver\": ");
    json_string(info->driver);
    printf(", \"type\": \"%s\", \"shared_memory\": %s, \"timestamp_ns\": %g, \"timestamp_bits\": %u,\n   \"uuid\": \"", type_name(info->type),
        info->shared_memory ? "true" : "false", info->timestamp_ns, (unsigned)info->timestamp_bits);
    for (int i = 0; i < 16; i++) printf("%02x", info->uuid[i]);
    printf("\", \"features\": [");
    for (int i = 0, n = 0; i < FEATURES; i++) {
        if (feature(info, i)) printf("%s\"%s\"", n++ ? ", " : "", feature(info, i));
    }
    printf("]");
    for (int f = 0; f < FIELDS; f++) {
        printf(",\n   \"%s\": %s", fields[f].name, fields[f].count > 1 ? "[" : "");
        for (int i = 0; i < fields[f].count; i++) printf("%s%" PRIu64, i ? ", " : "", field_value(info, f, i));
        if (fields[f].count > 1) printf("]");
    }
    printf("}");
}

/* ---- the list ---- */

/* Prints the devices of one backend. Returns their number. */
static int list_backend(vd_backend backend, const options *o, int before) {
    int count = vd_devices(backend, NULL, 0);
    vd_device_info *infos = count > 0 ? (vd_device_info *)calloc((size_t)count, sizeof *infos) : NULL;
    if (!infos) {
        fprintf(stderr, "no %s device: %s\n", vd_backend_name(backend), vd_error_text());
        return 0;
    }
    int had = vd_devices(backend, infos, count);
    if (had < count) count = had;
    for (int i = 0; i < count; i++) {
        if (o->json) {
            printf("%s", before + i ? ",\n" : "");
            json_device(&infos[i]);
        } else {
            print_short(&infos[i]);
            if (o->verbose) print_verbose(&infos[i]);
        }
    }
    free(infos);
    return count;
}

static bool parse_backend(const char *name, options *o) {
    o->backend = vd_backend_from_name(name);
    if (o->backend == VD_BACKEND_DEFAULT) fprintf(stderr, "vdlist: there is no backend '%s'\n", name);
    return o->backend != VD_BACKEND_DEFAULT;
}

static const char usage[] = "usage: vdlist [--help] [--verbose] [--json] [--backend NAME]\n";

static bool parse(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) o->help = true;
        else if (strcmp(argv[i], "--verbose") == 0) o->verbose = true;
        else if (strcmp(argv[i], "--json") == 0) o->json = true;
        else if (strcmp(argv[i], "--backend") == 0 && i + 1 < argc) {
            if (!parse_backend(argv[++i], o)) return false;
        } else {
            fputs(usage, stderr);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv) {
    options o = { false, false, false, VD_BACKEND_DEFAULT };
    int count = 0;
    if (!parse(argc, argv, &o)) return 2;
    if (o.help) {
        fputs(usage, stdout);
        return 0;
    }
    if (o.json) printf("{\"version\": %d, \"devices\": [\n", VKDISPATCH_VERSION);
    for (int i = 0; i < BACKENDS; i++) {
        if (o.backend ? backends[i].backend == o.backend : backends[i].real)
            count += list_backend(backends[i].backend, &o, count);
    }
    if (o.json) printf("%s]}\n", count ? "\n" : "");
    return count == 0;
}

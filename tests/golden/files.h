/* Compares texts with the files in tests/golden/expected, or rewrites these files. */
#ifndef TESTS_GOLDEN_FILES_H
#define TESTS_GOLDEN_FILES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/golden/expected/"

typedef struct text { char *at; size_t length; } text;

static int cases, failures;

static void report(bool good, const char *name, const char *why) {
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++cases, name);
    if (!good) printf("# %s\n", why);
    failures += !good;
}

static text read_all(FILE *f) {
    static char part[65536];
    text t = { NULL, 0 };
    size_t n = 0;
    do {
        n = fread(part, 1, sizeof part, f);
        char *more = (char *)realloc(t.at, t.length + n + 1);
        if (!more) exit(2);
        t.at = more;
        memcpy(t.at + t.length, part, n);
        t.length += n;
    } while (n);
    t.at[t.length] = 0;
    return t;
}

static text read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    text t = { NULL, 0 };
    if (!f) return t;
    t = read_all(f);
    fclose(f);
    return t;
}

static bool write_file(const char *path, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(data, 1, size, f) == size;
    if (f && fclose(f)) good = false;
    if (!good) fprintf(stderr, "cannot write %s\n", path);
    return good;
}

/* Prints the first difference of two texts. */
static void compare(const char *path, const char *got, size_t length, bool update) {
    text want = { NULL, 0 };
    size_t line = 1, i = 0;
    char why[160];
    if (update) { report(write_file(path, got, length), path, "not written"); return; }
    want = read_file(path);
    while (want.at && i < length && i < want.length && want.at[i] == got[i]) line += got[i++] == '\n';
    if (want.at) snprintf(why, sizeof why, "differs from line %u on", (unsigned)line);
    else snprintf(why, sizeof why, "is not there; make golden-update writes it");
    report(want.at && want.length == length && i == length, path, why);
    free(want.at);
}

#endif

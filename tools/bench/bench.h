/* Shared by the benchmarks: clocks, medians and the output line.

   Two implementations of the same work are timed alternately (A, B, A, B, …) in one process, so that a change of clock
   speed affects both. A line has the form

       bench NAME SIZE ours=MEDIAN RIVAL=MEDIAN unit=UNIT ratio=MEDIAN/MEDIAN range=LOWEST-HIGHEST best=FASTEST/FASTEST
       bound=… ok|short

   where range is the lowest and highest ratio of neighbouring rounds, and best the ratio of the fastest rounds,
   which other load on the machine affects least. A figure above its bound is reported as `short`, which is not a
   failure; a wrong result is. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BENCH_ROUNDS_MAX = 101 };

static inline double bench_now(void) { /* seconds */
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CPU time of the calling thread in seconds. For work that never waits, this varies less on a busy machine. */
static inline double bench_busy(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int bench_order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double bench_median(const double *values, int count) {
    double sorted[BENCH_ROUNDS_MAX];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, bench_order);
    return count % 2 ? sorted[count / 2] : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2]);
}

typedef struct bench_pair { /* times of one comparison, in seconds */
    const char *name, *size, *rival;
    double ours[BENCH_ROUNDS_MAX], theirs[BENCH_ROUNDS_MAX];
    int rounds;
    double scale;      /* factor from seconds per round to the printed unit */
    const char *unit;
    double bound;      /* highest ratio that is ok; 0: no bound */
} bench_pair;

static inline void bench_print(const bench_pair *p) {
    double low = 1e300, high = 0, best = p->ours[0], best_theirs = p->theirs[0];
    double ours = bench_median(p->ours, p->rounds), theirs = bench_median(p->theirs, p->rounds);
    for (int i = 0; i < p->rounds; i++) {
        double ratio = p->ours[i] / p->theirs[i];
        if (ratio < low) low = ratio;
        if (ratio > high) high = ratio;
        if (p->ours[i] < best) best = p->ours[i];
        if (p->theirs[i] < best_theirs) best_theirs = p->theirs[i];
    }
    printf("bench %s %s ours=%.4g %s=%.4g unit=%s ratio=%.3f range=%.3f-%.3f best=%.3f ",
        p->name, p->size, ours * p->scale, p->rival, theirs * p->scale, p->unit,
        ours / theirs, low, high, best / best_theirs);
    if (p->bound > 0) printf("bound=%.3g %s\n", p->bound, ours / theirs <= p->bound ? "ok" : "short");
    else printf("bound=none ok\n");
    fflush(stdout);
}

/* Prints a figure that has a fixed bound and is not compared with another implementation. */
static inline void bench_print_alone(const char *name, const char *size, const double *ours, int rounds,
                                     const char *unit, double bound) {
    double low = ours[0], high = ours[0], median = bench_median(ours, rounds);
    for (int i = 1; i < rounds; i++) {
        if (ours[i] < low) low = ours[i];
        if (ours[i] > high) high = ours[i];
    }
    printf("bench %s %s ours=%.4g unit=%s range=%.4g-%.4g ", name, size, median, unit, low, high);
    if (bound >= 0) printf("bound=%.3g %s\n", bound, median <= bound ? "ok" : "short");
    else printf("bound=none ok\n");
    fflush(stdout);
}

static inline void bench_not_run(const char *name, const char *size, const char *reason) {
    printf("bench %s %s not run: %s\n", name, size, reason);
    fflush(stdout);
}

#endif /* BENCH_H */

/* VKDISPATCH_CODEGEN_LINES: the error of a kernel ends with the file and the line of the call that made it. C99 and
   C++11. The public part comes first, as through another header, and the implementation later in the same file. In C++
   the public part must have no cast in the style of C. */
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wold-style-cast"
#endif
#include "vkdispatch_codegen.h"
#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch_codegen.h"

#include <stdio.h>
#include <string.h>

typedef struct rig { vc_kernel *k; vc_ref x, y; vc_val a, n; char hook[512]; } rig;

static void keep_text(void *user, const char *text) { snprintf((char *)user, 512, "%s", text); }

static void begin(rig *r)
{
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "k";
    desc.error = keep_text;
    desc.error_user = r->hook;
    r->hook[0] = 0;
    r->k = vc_begin(&desc);
    r->x = vc_buffer(r->k, "x", VC_F32, VC_READ);
    r->y = vc_buffer(r->k, "y", VC_F32, VC_READ_WRITE);
    r->a = vc_param(r->k, "a", VC_F32);
    r->n = vc_param(r->k, "n", VC_U32);
}

/* Returns 1 and prints, unless the error ends with this line of this file, or, if line is 0, with no position. */
static int ends(rig *r, const char *what, int line)
{
    char end[80] = "";
    const char *error = vc_error(r->k);
    size_t length = error ? strlen(error) : 0;
    int failed;
    if (line) snprintf(end, sizeof end, "tests/compile/lines.c:%d)", line);
    failed = !error || strcmp(error, r->hook) != 0
             || (line ? length < strlen(end) || strcmp(error + length - strlen(end), end) != 0 || !strstr(error, " (")
                      : strstr(error, "lines.c") != NULL);
    if (failed) printf("%s, expected line %d: %s\n", what, line, error ? error : "no error");
    vc_free(r->k);
    return failed;
}

/* A function whose calls are on other lines than that of the call that it is an argument of. */
static vc_val helper(rig *r)
{
    vc_val v = vc_load(r->x, r->n);
    return vc_add(v, v);
}

static int in_blocks(void)
{
    rig r;
    int failed = 0, line;
    begin(&r);
    VC_EACH(r.k, i) {
        VC_IF(r.k, vc_lt(i, r.n)) {
            vc_store(r.y, i, vc_load(r.x, i));
            vc_store(r.x, i, helper(&r)); line = __LINE__;
            vc_store(r.y, i, r.n); /* a second error */
        }
        vc_store(r.y, i, r.a);
    }
    failed |= ends(&r, "in VC_IF, with another function as an argument", line);

    begin(&r);
    VC_IF(r.k, r.n) { vc_store(r.y, r.n, r.a); } line = __LINE__;
    failed |= ends(&r, "VC_IF itself", line);

    begin(&r);
    VC_FOR(r.k, i, r.n, r.a) { vc_store(r.y, i, r.a); } line = __LINE__;
    failed |= ends(&r, "VC_FOR itself", line);

    begin(&r);
    VC_LOOP(r.k) { vc_store(r.y, r.n, r.a); } line = __LINE__;
    failed |= ends(&r, "the end of VC_LOOP", line);
    return failed;
}

static int in_expressions(void)
{
    rig r;
    vc_val v;
    int failed = 0, line;
    begin(&r);
    v = helper(&r);
    v = vc_mul(v, vc_add(r.a, r.n)); line = __LINE__;
    vc_store(r.y, r.n, v);
    failed |= ends(&r, "an operand", line);

    begin(&r);
    v = helper(&r);
    v = (vc_add)(r.a, r.n);
    failed |= ends(&r, "a call that is no macro", 0);

    begin(&r);
    v = vc_vec(r.k, r.a, r.n); line = __LINE__;
    failed |= ends(&r, "vc_vec", line);

    begin(&r);
    vc_printf(r.k, "%d\n", r.a); line = __LINE__;
    failed |= ends(&r, "vc_printf", line);

    begin(&r);
    vc_and_then(r.k, &v, r.n, vc_lt(r.a, r.a)); line = __LINE__;
    failed |= ends(&r, "vc_and_then", line);

    begin(&r);
    vc_var(r.k, "v", VC_NONE); line = __LINE__;
    failed |= ends(&r, "a declaration", line);
    (void)v;
    return failed;
}

/* The kernel of the failed call is unknown: the next kernel reports it. */
static int without_kernel(void)
{
    vc_ref unset;
    rig r;
    int line;
    memset(&unset, 0, sizeof unset);
    begin(&r);
    vc_store(unset, vc_u32(0), vc_f32(1)); line = __LINE__;
    vc_store(r.y, r.n, r.a);
    return ends(&r, "an unset reference", line);
}

#ifdef __cplusplus
struct number { /* converts to a vc_val, as a program's own class may */
    vc_val v;
    operator vc_val() const { return v; }
};

static int in_operators(void)
{
    rig r;
    vc_val v;
    int failed = 0, line;
    begin(&r);
    v = helper(&r) * 2.0f + 1;
    v = v + r.n; line = __LINE__;
    vc_store(r.y, r.n, v);
    failed |= ends(&r, "operator +", line);

    begin(&r);
    v = helper(&r);
    v *= r.n; line = __LINE__;
    vc_store(r.y, r.n, v);
    failed |= ends(&r, "operator *=", line);

    begin(&r);
    vc_at(r.y, r.n) += helper(&r);
    vc_at(r.x, r.n) += helper(&r); line = __LINE__;
    failed |= ends(&r, "operator += of an element", line);

    begin(&r);
    v = ~r.a; line = __LINE__;
    failed |= ends(&r, "operator ~", line);

    begin(&r);
    number x = { r.a };
    v = 2 * x - x / 2.0f;
    vc_store(r.y, r.n, vc_select((v == x) | (x != 1), -v, v));
    v = !(v < r.n); line = __LINE__;
    failed |= ends(&r, "operator <", line);
    return failed;
}
#else
static int in_operators(void) { return 0; }
#endif

int main(void) { return in_blocks() | in_expressions() | without_kernel() | in_operators(); }

/* SPDX-License-Identifier: MIT
 * fuzz_agent_template.c - templates, filled in every way.  The first byte chooses how and when memory fails; then the
 * template, a NUL, the context as JSON, a NUL, a signature. */
#include <assert.h>
#include <stdlib.h>

#include "agent/prompt/response_template.h"
#include "agent/prompt/template.h"
#include "agent/step/bench.h"
#include "base/utf8.h"
#include "json/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next text, up to a NUL. */
static PtcText next(PtcText *rest)
{
    const char *end = rest->len ? memchr(rest->bytes, 0, rest->len) : NULL;
    PtcText text = {rest->bytes, end ? (size_t)(end - rest->bytes) : rest->len};
    size_t taken = text.len + (end != NULL);
    *rest = (PtcText){rest->bytes + taken, rest->len - taken};
    return text;
}

static void check_nodes(const PtcTemplate *t)
{
    size_t depth = 0;
    for (size_t i = 0; i < t->count; i++) {
        const PtcTemplateNode *n = &t->nodes[i];
        bool opens = n->kind == PTC_TEMPLATE_SECTION || n->kind == PTC_TEMPLATE_INVERTED;
        assert(!opens || (n->end > i && t->nodes[n->end].end == i));
        assert(n->first_name + n->name_count <= t->name_count);
        depth += opens;
        depth -= n->kind == PTC_TEMPLATE_END;
        assert(depth <= PTC_TEMPLATE_DEPTH);
    }
    assert(depth == 0);
}

static void fill(PtcBench *b, const PtcTemplate *t, PtcValue context, uint8_t how)
{
    PtcTemplateOptions options = {how & 1, how & 2, how & 4};
    PtcBuf buf;
    size_t missing = 0;
    ptc_buf_init(&buf, &b->mem, 1 << 16);
    if (ptc_template_fill(t, &b->heap, context, &options, &buf, &missing) == PTC_TEMPLATE_OK)
        assert(ptc_utf8_valid(ptc_buf_view(&buf).bytes, buf.len));
    ptc_buf_deinit(&buf);
}

static void try_one(PtcBench *b, PtcText text, PtcText json, PtcText signature, uint8_t how)
{
    PtcTemplate t;
    PtcTemplateError error;
    PtcResponseTemplate response;
    PtcJsonError e;
    PtcSigError bad;
    const PtcSig *sig;
    PtcWhy why;
    bool parsed = ptc_sig_parse(&b->arena, signature.bytes, signature.len, &sig, &bad);
    if (parsed && ptc_response_template_read(&b->arena, text, sig->result, &response, &why))
        assert(response.source.bytes);
    if (!ptc_template_read(&b->arena, text, &t, &error)) {
        assert(error.message[0] && (error.no_memory || error.line > 0));
        return;
    }
    check_nodes(&t);
    if (parsed && !ptc_template_check(&t, sig, &why))
        assert(why.text[0]);
    PtcValue v = ptc_json_parse(&b->heap, json.bytes, json.len, &e);
    if (v != PTC_NONE)
        fill(b, &t, v, how);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    char *copy = malloc(size);
    memcpy(copy, data + 1, size - 1);
    PtcText rest = {copy, size - 1};
    PtcText text = next(&rest), json = next(&rest), signature = next(&rest);
    PtcBench b;
    ptc_bench_init(&b);
    ptc_mem_fail_at(&b.mem, data[0] >> 2);
    if (ptc_utf8_valid(text.bytes, text.len))
        try_one(&b, text, json, signature, data[0]);
    ptc_bench_deinit(&b);
    assert(atomic_load(&b.mem.used) == 0);
    free(copy);
    return 0;
}

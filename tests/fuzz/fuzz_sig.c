/* SPDX-License-Identifier: MIT
 * fuzz_sig.c - a signature, a NUL, a JSON value.  What parses prints and parses back; the value is validated, coerced
 * and taken for a JSON Schema; then all again while memory runs out.  Nothing may leak. */
#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "driver/signature_forms.h"
#include "json/parse.h"
#include "tool/sig/sig_check.h"
#include "tool/sig/sig_schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
    PtcSigIssues errors, warnings;
    bool starved; /* allocations fail: answers may be missing, but not wrong */
} Place;

static void open_place(Place *at, uint64_t fail_at)
{
    ptc_mem_init(&at->mem, 64 << 20);
    ptc_pool_init(&at->pool, &at->mem);
    ptc_budget_init(&at->budget);
    ptc_heap_init(&at->heap, &at->pool, &at->budget, 16 << 20);
    ptc_arena_init(&at->arena, &at->mem);
    ptc_sig_issues_init(&at->errors, &at->mem);
    ptc_sig_issues_init(&at->warnings, &at->mem);
    at->starved = fail_at != 0;
    ptc_mem_fail_at(&at->mem, fail_at);
}

static void close_place(Place *at)
{
    ptc_sig_issues_deinit(&at->errors);
    ptc_sig_issues_deinit(&at->warnings);
    ptc_arena_deinit(&at->arena);
    ptc_heap_deinit(&at->heap);
    ptc_pool_deinit(&at->pool);
    assert(atomic_load(&at->mem.used) == 0);
}

static bool stopped(const Place *at)
{
    return at->budget.stop != PTC_STOP_NONE;
}

static bool has_alias(const PtcSigType *type)
{
    if (type->item)
        return has_alias(type->item);
    bool alias = type->aliased;
    for (size_t i = 0; i < type->field_count && !alias; i++)
        alias = has_alias(type->fields[i].type);
    return alias;
}

/* Empties a list. */
static void forget_issues(PtcSigIssues *issues, PtcMem *mem)
{
    ptc_sig_issues_deinit(issues);
    ptc_sig_issues_init(issues, mem);
}

static void check_issues(Place *at)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &at->mem, SIZE_MAX / 2);
    bool ok =
        ptc_sig_issues_json(&buf, &at->errors) && ptc_sig_issues_print(&buf, &at->errors, "; ");
    assert(at->starved || (ok && ptc_utf8_valid(buf.data, buf.len)));
    assert(at->errors.count <= at->errors.total);
    ptc_buf_deinit(&buf);
    forget_issues(&at->errors, &at->mem);
    forget_issues(&at->warnings, &at->mem);
}

/* What was coerced fits, and is not touched again. */
static void check_coerced(Place *at, const PtcSigType *type, PtcValue v)
{
    if (has_alias(type))
        return;
    forget_issues(&at->warnings, &at->mem);
    bool ok = ptc_sig_validate(&at->heap, type, true, v, &at->errors);
    assert(ok || stopped(at));
    PtcValue same =
        ptc_sig_coerce(&at->heap, type, PTC_SIG_EXTRA_REFUSED, v, &at->warnings, &at->errors);
    assert(stopped(at) || (same == v && at->warnings.total == 0));
}

static void check_value(Place *at, const PtcSigType *type, PtcValue v)
{
    for (int closed = 0; closed < 2; closed++) {
        bool ok = ptc_sig_validate(&at->heap, type, closed, v, &at->errors);
        assert(ok == (at->errors.total == 0) || stopped(at));
        check_issues(at);
    }
    for (PtcSigExtra extra = PTC_SIG_EXTRA_REFUSED; extra <= PTC_SIG_EXTRA_LEFT_OUT; extra++) {
        PtcValue to = ptc_sig_coerce(&at->heap, type, extra, v, &at->warnings, &at->errors);
        assert((to == PTC_NONE) == (at->errors.total != 0) || stopped(at));
        bool kept = extra == PTC_SIG_EXTRA_KEPT || extra == PTC_SIG_EXTRA_WARNED;
        if (to != PTC_NONE && !kept)
            check_coerced(at, type, to);
        check_issues(at);
    }
    PtcValue to = ptc_sig_atomize(&at->heap, type, v);
    assert(to != PTC_NONE || stopped(at));
}

/* The schema of a type is JSON; what can be read of it has as many fields. */
static void check_schema(Place *at, const PtcSigType *type)
{
    PtcBuf buf;
    PtcJsonError json_error;
    PtcSigError error;
    const PtcSigType *back;
    ptc_buf_init(&buf, &at->mem, SIZE_MAX / 2);
    bool ok = ptc_sig_schema_type(&buf, type) && ptc_buf_ok(&buf);
    assert(ok || at->starved);
    PtcValue schema = ok ? ptc_json_parse(&at->heap, buf.data, buf.len, &json_error) : PTC_NONE;
    assert(schema != PTC_NONE || at->starved || !ok || buf.len > PTC_JSON_MAX_DEPTH);
    if (schema != PTC_NONE && ptc_sig_import(&at->arena, &at->heap, schema, &back, &error))
        assert(back->field_count == type->field_count || type->kind == PTC_SIG_OPTIONAL);
    ptc_buf_deinit(&buf);
}

static void check_import(Place *at, PtcValue schema, PtcValue v)
{
    PtcSigError error;
    const PtcSigType *type;
    if (ptc_sig_import(&at->arena, &at->heap, schema, &type, &error)) {
        check_schema(at, type);
        check_value(at, type, v);
    } else {
        assert(error.message[0] && ptc_utf8_valid(error.message, strlen(error.message)));
    }
}

static void check_print(Place *at, const PtcSig *sig)
{
    PtcBuf buf;
    PtcSigError error;
    const PtcSig *back;
    ptc_buf_init(&buf, &at->mem, SIZE_MAX / 2);
    bool ok = ptc_sig_print(&buf, sig) && buf.len <= PTC_SIG_MAX_BYTES;
    if (ok && ptc_sig_parse(&at->arena, buf.data, buf.len, &back, &error))
        assert(ptc_sig_equal(sig, back));
    else
        assert(at->starved || buf.len > PTC_SIG_MAX_BYTES);
    ptc_buf_clear(&buf);
    ok = ptc_sig_type_json(&buf, sig->result) && ptc_sig_fields_json(&buf, &sig->params);
    assert(ok || at->starved);
    ptc_buf_deinit(&buf);
}

static void check_sig(Place *at, const PtcSig *sig, PtcValue v)
{
    check_print(at, sig);
    check_schema(at, sig->result);
    check_schema(at, &sig->params);
    for (PtcSigMode mode = PTC_SIG_ENABLED; v != PTC_NONE && mode <= PTC_SIG_STRICT; mode++) {
        PtcValue to = ptc_sig_input(&at->heap, sig, mode, PTC_SIG_EXTRA_REFUSED, v, &at->warnings,
                                    &at->errors);
        bool ok = ptc_sig_output(&at->heap, sig, mode, v, &at->warnings, &at->errors);
        assert((ok && to != PTC_NONE) == (at->errors.total == 0) || stopped(at));
        check_issues(at);
    }
    if (v != PTC_NONE)
        check_value(at, sig->result, v);
}

static void run(const char *text, size_t len, const char *json, size_t json_len, uint64_t fail_at)
{
    Place at;
    PtcSigError error;
    PtcJsonError json_error;
    const PtcSig *sig;
    open_place(&at, fail_at);
    PtcValue v = ptc_json_parse(&at.heap, json, json_len, &json_error);
    if (v != PTC_NONE)
        check_import(&at, v, v);
    if (ptc_sig_parse(&at.arena, text, len, &sig, &error))
        check_sig(&at, sig, v);
    else
        assert(error.message[0] && ptc_utf8_valid(error.message, strlen(error.message)) &&
               error.offset <= len && error.line > 0 && error.column > 0);
    close_place(&at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = memchr(data, 0, size);
    size_t len = nul ? (size_t)(nul - data) : size, skip = nul ? len + 1 : len;
    /* Copies of exact size, so that reads beyond them are seen. */
    char *text = malloc(len ? len : 1), *json = malloc(size - skip ? size - skip : 1);
    memcpy(text, data, len);
    memcpy(json, data + skip, size - skip);
    run(text, len, json, size - skip, 0);
    uint64_t nth = 1;
    for (size_t i = 0; i < size; i++)
        nth = nth * 31 + data[i];
    run(text, len, json, size - skip, nth % 24 + 1);
    free(text);
    free(json);
    return 0;
}

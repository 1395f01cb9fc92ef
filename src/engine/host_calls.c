/* SPDX-License-Identifier: MIT
 * What a host does with tools, signatures and values beside running programs. */
#include "engine/engine_int.h"

#include <stdio.h>
#include <string.h>

#include "tool/convert.h"
#include "tool/sig/sig_schema.h"

/* ----------------------------------------------------------------------------- exposure */

static bool read_mode(const char *output, const char *transport, PtcOutput *o, PtcTransport *t)
{
    if (!output || (strcmp(output, "text") != 0 && strcmp(output, "ptc_lisp") != 0))
        return false;
    if (transport && strcmp(transport, "content") != 0 && strcmp(transport, "tool_call") != 0)
        return false;
    *o = output[0] == 't' ? PTC_OUTPUT_TEXT : PTC_OUTPUT_PTC_LISP;
    *t = !transport            ? PTC_TRANSPORT_UNSET
         : transport[0] == 'c' ? PTC_TRANSPORT_CONTENT
                               : PTC_TRANSPORT_TOOL_CALL;
    return true;
}

const char *ptc_tools_expose(const PtcTools *tools, size_t i, const char *output,
                             const char *transport)
{
    PtcOutput o;
    PtcTransport t;
    if (i >= ptc_tools_count(tools) || !read_mode(output, transport, &o, &t))
        return NULL;
    return ptc_expose_name(ptc_effective_expose(tools->items[i].info.expose, o, t));
}

/* Is the word one of those in the list "native,both"? */
static bool is_listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == 0))
            return true;
    return false;
}

size_t ptc_tools_filter(const PtcTools *tools, const char *output, const char *transport,
                        const char *layers, size_t *indexes, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; layers && i < ptc_tools_count(tools); i++) {
        const char *expose = ptc_tools_expose(tools, i, output, transport);
        if (!expose || !is_listed(layers, expose))
            continue;
        if (n < max)
            indexes[n] = i;
        n++;
    }
    return n;
}

/* -------------------------------------------------------------------------- native calls */

static bool run_native(Ptc *ptc, PtcSession *s, PtcTools *tools, int tool, const char *args,
                       size_t args_len, PtcBuf *out, bool *ok)
{
    PtcNativeOptions options = {.cancel = &ptc->cancel,
                                .deadline_ns =
                                    ptc_clock_ns(NULL) + ptc->limits.deadline_ms * 1000000,
                                .memory_bytes = ptc->limits.tool_bytes,
                                .cache = s ? ptc_session_cache(s) : NULL,
                                .preview = true};
    atomic_store(&ptc->cancel.asked, false);
    atomic_store(&ptc->running, true);
    bool told =
        ptc_native_call(ptc->native, tools, (size_t)tool, args, args_len, &options, out, ok);
    atomic_store(&ptc->running, false);
    return told;
}

PtcStatus ptc_tools_call(Ptc *ptc, PtcSession *s, PtcTools *tools, const char *name,
                         size_t name_len, const char *args, size_t args_len, bool *ok, char **out,
                         size_t *out_len)
{
    PtcBuf buf;
    if (!ptc || !tools || !name || !args || !ok || !out || !out_len || (s && s->ptc != ptc) ||
        atomic_load(&ptc->running))
        return PTC_BAD_ARGUMENT;
    int tool = tools->host.find(&tools->host, name, name_len);
    if (tool < 0)
        return PTC_BAD_ARGUMENT;
    if (!ptc->native && !(ptc->native = ptc_native_new()))
        return PTC_NO_MEMORY;
    ptc_buf_init(&buf, &ptc->mem, (size_t)ptc->limits.tool_bytes * 2);
    bool told = run_native(ptc, s, tools, tool, args, args_len, &buf, ok);
    return ptc_text_give(&buf, told, out, out_len);
}

/* ---------------------------------------------------------------------------- signatures */

static PtcStatus read_signature(Ptc *ptc, const char *text, size_t len, const PtcSig **sig,
                                char *error, size_t size)
{
    PtcSigError e;
    if (!ptc || !text || atomic_load(&ptc->running))
        return PTC_BAD_ARGUMENT;
    ptc_arena_reset(&ptc->arena);
    if (ptc_sig_parse(&ptc->arena, text, len, sig, &e))
        return PTC_OK;
    if (error && size)
        snprintf(error, size, "line %u, column %u: %s", (unsigned)e.line, (unsigned)e.column,
                 e.message);
    return e.stopped ? PTC_NO_MEMORY : PTC_BAD_DATA;
}

PtcStatus ptc_signature_check(Ptc *ptc, const char *text, size_t len, char *error, size_t size)
{
    const PtcSig *sig;
    return read_signature(ptc, text, len, &sig, error, size);
}

PtcStatus ptc_signature_validate(Ptc *ptc, const char *text, size_t len, PtcValue value,
                                 char **issues, size_t *issues_len, char *error, size_t size)
{
    const PtcSig *sig;
    PtcSigIssues found;
    PtcBuf buf;
    PtcStatus status = read_signature(ptc, text, len, &sig, error, size);
    if (status != PTC_OK || value == PTC_NONE || !issues || !issues_len)
        return status != PTC_OK ? status : PTC_BAD_ARGUMENT;
    PtcHeapBox *box = ptc_box_new(ptc, (size_t)ptc->limits.memory_bytes);
    if (!box)
        return PTC_NO_MEMORY;
    ptc_sig_issues_init(&found, &ptc->mem);
    ptc_buf_init(&buf, &ptc->mem, (size_t)ptc->limits.result_bytes);
    bool ok = ptc_sig_validate_return(&box->heap, sig, value, &found);
    bool told = (ok || found.count > 0) && ptc_sig_issues_json(&buf, &found);
    ptc_sig_issues_deinit(&found);
    ptc_heap_release(&box->heap);
    return ptc_text_give(&buf, told, issues, issues_len);
}

PtcStatus ptc_signature_schema(Ptc *ptc, const char *text, size_t len, bool parameters, char **json,
                               size_t *json_len, char *error, size_t size)
{
    const PtcSig *sig;
    PtcBuf buf;
    PtcStatus status = read_signature(ptc, text, len, &sig, error, size);
    if (status != PTC_OK || !json || !json_len)
        return status != PTC_OK ? status : PTC_BAD_ARGUMENT;
    ptc_buf_init(&buf, &ptc->mem, (size_t)ptc->limits.result_bytes);
    bool written =
        parameters ? ptc_sig_schema_params(&buf, sig) : ptc_sig_schema_result(&buf, sig->result);
    return ptc_text_give(&buf, written, json, json_len);
}

/* -------------------------------------------------------------------------------- values */

PtcStatus ptc_value_json(Ptc *ptc, PtcValue v, char **out, size_t *len, char *error, size_t size)
{
    PtcJsonError e = {0};
    PtcBuf buf;
    if (!ptc || v == PTC_NONE || !out || !len || atomic_load(&ptc->running))
        return PTC_BAD_ARGUMENT;
    PtcHeapBox *box = ptc_box_new(ptc, (size_t)ptc->limits.memory_bytes);
    if (!box)
        return PTC_NO_MEMORY;
    ptc_buf_init(&buf, &ptc->mem, (size_t)ptc->limits.result_bytes);
    bool ok = ptc_to_json_value(&box->heap, &buf, v, ptc->float_precision, &e);
    ptc_heap_release(&box->heap);
    if (ok || buf.failed)
        return ptc_text_give(&buf, ok, out, len);
    ptc_buf_deinit(&buf);
    if (error && size && e.what[0])
        snprintf(error, size, "%s at %s", e.what, e.path);
    else if (error && size)
        snprintf(error, size, "the JSON is longer than its limit, or takes too long to write");
    return PTC_BAD_DATA;
}

/* SPDX-License-Identifier: MIT
 * Signatures, as ptc.h declares them.  What always holds: a signature lives in the engine's arena for one call only,
 * so nothing here outlives the next call. */
#include <stdio.h>

#include "api/api_int.h"
#include "tool/sig/sig_schema.h"

static PtcStatus read_host_signature(Ptc *ptc, const char *text, size_t len, const PtcSig **sig,
                                     char *error, size_t size)
{
    PtcSigError e;
    if (!text || !api_idle(ptc))
        return api_refuse(PTC_BAD_ARGUMENT, error, size, PTC_API_BUSY);
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
    return read_host_signature(ptc, text, len, &sig, error, size);
}

PtcStatus ptc_signature_validate(Ptc *ptc, const char *text, size_t len, PtcValue value,
                                 char **issues, size_t *issues_len, char *error, size_t size)
{
    const PtcSig *sig;
    PtcSigIssues found;
    PtcBuf buf;
    PtcStatus status = read_host_signature(ptc, text, len, &sig, error, size);
    if (status != PTC_OK)
        return status;
    if (value == PTC_NONE || !issues)
        return api_refuse(PTC_BAD_ARGUMENT, error, size, PTC_API_BUSY);
    PtcHeapBox *box = ptc_box_new(ptc, (size_t)ptc->limits.memory_bytes);
    if (!box)
        return PTC_NO_MEMORY;
    ptc_sig_issues_init(&found, &ptc->mem);
    ptc_buf_init(&buf, &ptc->mem, (size_t)ptc->limits.result_bytes);
    bool ok = ptc_sig_validate_return(&box->heap, sig, value, &found);
    bool told = (ok || found.count > 0) && ptc_sig_issues_json(&buf, &found);
    ptc_sig_issues_deinit(&found);
    ptc_box_release(&box->heap);
    return ptc_engine_give_text(&buf, told, issues, issues_len);
}

PtcStatus ptc_signature_schema(Ptc *ptc, const char *text, size_t len, bool parameters, char **json,
                               size_t *json_len, char *error, size_t size)
{
    const PtcSig *sig;
    PtcBuf buf;
    PtcStatus status = read_host_signature(ptc, text, len, &sig, error, size);
    if (status != PTC_OK)
        return status;
    if (!json)
        return api_refuse(PTC_BAD_ARGUMENT, error, size, PTC_API_BUSY);
    ptc_buf_init(&buf, &ptc->mem, (size_t)ptc->limits.result_bytes);
    bool written = parameters ? ptc_sig_schema_params(&buf, sig, false)
                              : ptc_sig_schema_result(&buf, sig->result);
    return ptc_engine_give_text(&buf, written, json, json_len);
}

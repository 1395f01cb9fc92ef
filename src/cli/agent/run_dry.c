/* SPDX-License-Identifier: MIT
 * Shows the first request of an agent.  It is the request itself, built as for sending, not a description of it. */
#include "cli/agent/run_dry.h"

#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "json/emit.h"
#include "llm/llm_json.h"

enum { DRY_OUT_BYTES = 64 * PTC_MB };

static void add_dry_heading(PtcBuf *out, const char *heading)
{
    ptc_buf_addf(out, "%s=== %s ===\n", out->len ? "\n" : "", heading);
}

static void add_text_lines(PtcBuf *out, PtcText text)
{
    ptc_buf_add(out, text.bytes, text.len);
    if (text.len && text.bytes[text.len - 1] != '\n')
        ptc_buf_add_char(out, '\n');
}

static void add_readable(PtcBuf *out, const PtcLlmRequest *q)
{
    static const char *const roles[] = {"user", "assistant", "tool"};
    add_dry_heading(out, "system");
    add_text_lines(out, q->system);
    add_text_lines(out, q->system_more);
    for (size_t i = 0; i < ptc_llm_message_count(q); i++) {
        const PtcMessage *m = ptc_llm_message(q, i);
        add_dry_heading(out, roles[m->role]);
        add_text_lines(out, m->content);
    }
    for (size_t i = 0; i < q->tool_count; i++) {
        ptc_buf_addf(out, "\n=== tool %.*s ===\n", PTC_ARG(q->tools[i].name));
        add_text_lines(out, q->tools[i].description);
        add_text_lines(out, q->tools[i].parameters);
    }
    if (q->schema.bytes) {
        add_dry_heading(out, "schema of the answer");
        add_text_lines(out, q->schema);
    }
}

static void add_request_json(PtcBuf *out, PtcModel *model, const PtcLlmRequest *q)
{
    PtcBuf body;
    ptc_emit_object(out);
    ptc_emit_key(out, "request");
    ptc_llm_json_write_request(out, q);
    ptc_buf_init(&body, out->mem, DRY_OUT_BYTES);
    if (model && model->body(model, q, &body)) {
        ptc_emit_field_cstr(out, "model", model->name);
        ptc_emit_field_raw(out, "body", ptc_buf_view(&body));
    }
    ptc_buf_deinit(&body);
    ptc_emit_object_end(out);
    ptc_buf_add_char(out, '\n');
}

int ptc_run_dry_print(PtcMem *mem, PtcModel *model, const PtcLlmRequest *request, bool json)
{
    PtcBuf out;
    ptc_buf_init(&out, mem, DRY_OUT_BYTES);
    if (json)
        add_request_json(&out, model, request);
    else
        add_readable(&out, request);
    bool made = ptc_buf_ok(&out) && out.len;
    if (!made)
        ptc_io_printf(PTC_IO_STDERR, "ptc run: the request does not fit in memory\n");
    bool ok = made && ptc_shown_result("run", out.data, out.len - 1);
    ptc_buf_deinit(&out);
    return ok ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

/* SPDX-License-Identifier: MIT
 * lisp_result_page: the parts of a large result that did not fit into its answer. */
#include "mcp/app/app_int.h"

enum { PAGE_DEFAULT = 16 * PTC_KB, PAGE_MAX = 64 * PTC_KB };

static const char *const part_names[] = {
    [PTC_RESULT_TEXT] = "result", [PTC_RESULT_JSON] = "json", [PTC_RESULT_PRINTS] = "prints"};

static bool part_arg(PtcJob *job, PtcResultPart *part)
{
    PtcText name;
    *part = PTC_RESULT_TEXT;
    if (!ptc_job_text(job, "part", false, &name))
        return false;
    if (!name.bytes)
        return true;
    for (int i = 0; i < PTC_RESULT_PARTS; i++)
        if (ptc_text_is(name, part_names[i])) {
            *part = (PtcResultPart)i;
            return true;
        }
    return ptc_job_fail(job, "args_error", "`part` is one of result, json, prints");
}

/* The text goes out as content too, for clients that show nothing else. */
static void page_json(PtcJob *job, PtcResultPart part, const PtcBuf *text,
                      const PtcResultPage *page)
{
    PtcBuf json;
    ptc_buf_init(&json, ptc_mcp_mem(ptc_mcp_server(job->call)), 8 * PAGE_MAX);
    ptc_emit_object(&json);
    ptc_emit_field_cstr(&json, "part", part_names[part]);
    ptc_emit_field_uint(&json, "offset", page->offset);
    ptc_emit_field_uint(&json, "total_bytes", page->total);
    if (page->next < page->total)
        ptc_emit_field_uint(&json, "next_offset", page->next);
    ptc_emit_field_text(&json, "text", ptc_buf_view(text));
    ptc_emit_object_end(&json);
    ptc_mcp_text(job->call, text->data, text->len);
    if (page->next < page->total)
        ptc_mcp_textf(job->call, "[%zu of %zu bytes; the next page has offset %zu]", page->next,
                      page->total, page->next);
    ptc_job_json(job, &json);
    ptc_buf_deinit(&json);
}

/* An offset inside a character is moved back to its start, so any offset is safe. */
static void page(PtcJob *job)
{
    PtcText handle;
    PtcResultPart part;
    PtcResultPage at;
    PtcBuf text;
    char why[PTC_STORE_WHY];
    int64_t offset = 0, limit = PAGE_DEFAULT;
    if (!ptc_job_text(job, "handle", true, &handle) || !part_arg(job, &part) ||
        !ptc_job_int(job, "offset", 0, INT32_MAX, &offset) ||
        !ptc_job_int(job, "limit", 1, PAGE_MAX, &limit))
        return;
    ptc_buf_init(&text, ptc_mcp_mem(ptc_mcp_server(job->call)), PAGE_MAX);
    switch (ptc_results_page(&job->app->results, job->owner, handle, part, (size_t)offset,
                             (size_t)limit, &text, &at)) {
    case PTC_RESULTS_OK: page_json(job, part, &text, &at); break;
    case PTC_RESULTS_UNKNOWN:
        ptc_job_fail(job, "unknown_handle",
                     "no result is kept under that handle; results are dropped after half an hour "
                     "and when newer ones need the room: run the program again");
        break;
    case PTC_RESULTS_ABSENT:
        ptc_job_fail(job, "args_error", "this result has no part `%s`", part_names[part]);
        break;
    case PTC_RESULTS_BEYOND:
        ptc_job_fail(job, "args_error", "`offset` %lld is past the end: there are %zu bytes",
                     (long long)offset, at.total);
        break;
    case PTC_RESULTS_FAILED:
        ptc_store_why(job->app->config.store, why);
        ptc_job_fail(job, "store_failed", "%s; try again later",
                     why[0] ? why : "the result cannot be read");
        break;
    case PTC_RESULTS_NO_MEMORY:
        ptc_job_fail(job, "no_memory", "the server is out of memory; try again a little later");
        break;
    }
    ptc_buf_deinit(&text);
}

void ptc_app_page(PtcMcpCall *call)
{
    PtcJob job;
    ptc_job_init(&job, call, "lisp_result_page");
    page(&job);
    ptc_job_done(&job);
}

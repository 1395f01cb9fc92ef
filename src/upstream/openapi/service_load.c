/* SPDX-License-Identifier: MIT
 * The document of a service: from a file or an address, JSON or YAML, up to schema_max_bytes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/whole_file.h"
#include "json/emit.h"
#include "json/parse.h"
#include "upstream/openapi/openapi_dialect.h"
#include "upstream/openapi/service_int.h"
#include "value/coll/fields.h"
#include "value/scratch.h"
#include "yaml/yaml_read.h"

enum { LOAD_SCRATCH_BYTES = 256 * PTC_MB };

static bool fail_document(PtcWhy *why, const char *what, const char *how)
{
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "its document %s: %s", what, how);
}

static bool too_large(PtcServiceJob *job, const char *what, PtcWhy *why)
{
    char text[100];
    snprintf(text, sizeof text, "it has more than %zu bytes (schema_max_bytes)", job->most);
    return fail_document(why, what, text);
}

/* ------------------------------------------------------------------------------------- bytes */

static bool read_document_file(PtcServiceJob *job, PtcWhy *why)
{
    struct stat st;
    const char *path = job->service->config.entry->schema_file;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_document(why, path, strerror(errno));
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    bool ok = regular && ptc_whole_file_read_from(fd, &job->text);
    close(fd);
    if (!regular)
        return fail_document(why, path, "it is not a regular file");
    return ok || (job->text.full ? too_large(job, path, why)
                                 : fail_document(why, path, "it cannot be read"));
}

/* Credentials go to the origin of the service alone. */
static bool is_own(const PtcEntry *e)
{
    PtcUrl base, schema;
    return e->base_url && ptc_url_parse(ptc_text_cstr(e->base_url), &base, NULL) &&
           ptc_url_parse(ptc_text_cstr(e->schema_url), &schema, NULL) &&
           ptc_url_same_server(&base, &schema);
}

static bool from_address(PtcServiceJob *job, PtcWhy *why)
{
    PtcBuf auth;
    const PtcEntry *e = job->service->config.entry;
    PtcScratch scratch;
    char text[100];
    ptc_buf_init(&auth, job->service->mem, 64 * PTC_KB);
    ptc_scratch_init(&scratch, job->service->mem, PTC_MB);
    if (is_own(e) && e->auth != PTC_NONE)
        ptc_emit_value(&auth, &scratch.heap, e->auth);
    ptc_scratch_deinit(&scratch);
    if (!ptc_buf_ok(&auth)) {
        ptc_buf_deinit(&auth);
        return fail_document(why, e->schema_url, "out of memory");
    }
    job->request =
        (PtcServiceRequest){.method = "GET",
                            .url = ptc_text_cstr(e->schema_url),
                            .headers = PTC_TEXT("{\"accept\":\"application/json, */*;q=0.5\"}"),
                            .auth = ptc_buf_view(&auth)};
    ptc_service_send(job);
    ptc_buf_deinit(&auth);
    const PtcClientAnswer *a = &job->answer;
    snprintf(text, sizeof text, "status %d", a->status);
    if (job->why.class)
        return fail_document(why, e->schema_url, job->why.text);
    if (a->why.code == PTC_CLIENT_TOO_LARGE || job->text.full)
        return too_large(job, e->schema_url, why);
    if (!ptc_client_answered(a))
        return fail_document(why, e->schema_url, a->why.text);
    return (a->status >= 200 && a->status <= 299) || fail_document(why, e->schema_url, text);
}

/* ------------------------------------------------------------------------------------- value */

static bool is_json_document(PtcText text)
{
    size_t mark = ptc_text_starts(text, "\xef\xbb\xbf") ? 3 : 0;
    text = (PtcText){text.bytes + mark, text.len - mark};
    return ptc_text_starts(ptc_text_skip_spaces(text), "{");
}

static PtcValue parse_document(PtcHeap *heap, PtcText text, PtcWhy *why)
{
    PtcJsonError json = {0};
    PtcYamlError yaml = {0};
    ptc_why_no_memory(why);
    if (ptc_text_starts(text, "\xef\xbb\xbf"))
        text = (PtcText){text.bytes + 3, text.len - 3};
    if (is_json_document(text)) {
        PtcValue v = ptc_json_parse(heap, text.bytes, text.len, &json);
        if (v == PTC_NONE && ptc_fields_ok(heap))
            ptc_why_say(why, PTC_WHY_INVALID, "it is not JSON (line %d: %.200s)", (int)json.line,
                        json.message);
        return v;
    }
    PtcValue v = ptc_yaml_read(heap, text, &yaml);
    if (v == PTC_NONE && yaml.message[0])
        ptc_why_say(why, PTC_WHY_INVALID, "it is not YAML (line %zu: %.200s)", yaml.line,
                    yaml.message);
    return v;
}

static bool convert_document(PtcServiceJob *job, PtcScratch *scratch, const char *what, PtcBuf *out,
                             PtcWhy *why)
{
    PtcHeap *heap = &scratch->heap;
    PtcValue v = parse_document(heap, ptc_buf_view(&job->text), why);
    if (v != PTC_NONE)
        v = ptc_openapi_dialect(heap, v, why);
    if (v == PTC_NONE)
        return ptc_why_prefix(why, "its document %s: ", what);
    return ptc_emit_value(out, heap, v) ||
           fail_document(why, what, "it needs more memory than there is");
}

bool ptc_service_load(PtcServiceJob *job, PtcBuf *out, PtcWhy *why)
{
    PtcScratch scratch;
    const PtcEntry *e = job->service->config.entry;
    if (!(e->schema_file ? read_document_file(job, why) : from_address(job, why)))
        return false;
    ptc_scratch_init(&scratch, job->service->mem, LOAD_SCRATCH_BYTES);
    bool ok =
        convert_document(job, &scratch, e->schema_file ? e->schema_file : e->schema_url, out, why);
    ptc_scratch_deinit(&scratch);
    return ok;
}

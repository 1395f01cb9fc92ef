/* SPDX-License-Identifier: MIT
 * Roots of an entry, for its server.  Values of entries never change, so any thread may read them. */
#define _GNU_SOURCE /* memmem */
#include "upstream/roots.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "json/emit.h"
#include "net/url.h"
#include "upstream/fields.h"

enum { ROOT_BYTES = 16 * 1024 };

bool ptc_roots_any(const PtcEntry *e)
{
    return ptc_fields_count(e->roots) > 0;
}

/* Segment by segment, since a slash stays one. */
static void add_path(PtcBuf *uri, PtcText path)
{
    for (size_t from = 0; from <= path.len;) {
        const char *slash = memchr(path.bytes + from, '/', path.len - from);
        size_t to = slash ? (size_t)(slash - path.bytes) : path.len;
        (void)!ptc_url_encode(uri, (PtcText){path.bytes + from, to - from});
        if (slash)
            ptc_buf_add_char(uri, '/');
        from = to + 1;
    }
}

static void add_uri(PtcBuf *uri, PtcText root)
{
    char cwd[PATH_MAX];
    if (memmem(root.bytes, root.len, "://", 3)) {
        ptc_buf_add(uri, root.bytes, root.len);
        return;
    }
    ptc_buf_add_cstr(uri, "file://");
    if ((!root.len || root.bytes[0] != '/') && getcwd(cwd, sizeof cwd)) {
        add_path(uri, ptc_text_cstr(cwd));
        ptc_buf_add_char(uri, '/');
    }
    add_path(uri, root);
}

bool ptc_roots_put(const PtcEntry *e, PtcBuf *out)
{
    ptc_emit_object(out);
    ptc_emit_key(out, "roots");
    ptc_emit_array(out);
    for (size_t i = 0; i < ptc_fields_count(e->roots); i++) {
        PtcBuf uri;
        ptc_buf_init(&uri, out->mem, ROOT_BYTES);
        add_uri(&uri, ptc_str_text(ptc_seq_nth(e->roots, i)));
        ptc_emit_object(out);
        ptc_emit_field_text(out, "uri", ptc_buf_view(&uri));
        ptc_emit_object_end(out);
        out->failed = out->failed || !ptc_buf_ok(&uri);
        ptc_buf_deinit(&uri);
    }
    ptc_emit_array_end(out);
    return ptc_emit_object_end(out);
}

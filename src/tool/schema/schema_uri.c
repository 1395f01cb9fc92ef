/* SPDX-License-Identifier: MIT
 * Makes references absolute, following section 5.2 of RFC 3986.  Addresses are only compared with each other, never
 * opened. */
#include "tool/schema/schema_int.h"

#include <string.h>

typedef PtcText Text;

/* scheme://authority/path?query#fragment; a part that is absent has no bytes (NULL); the path is never absent. */
typedef struct {
    Text scheme, authority, path, query, fragment;
} Uri;

static Text text_between(const char *from, const char *to)
{
    return (Text){from, (size_t)(to - from)};
}

/* The first of the characters in `set`, or end. */
static const char *find_uri_char(const char *p, const char *end, const char *set)
{
    while (p < end && (*p == 0 || !strchr(set, *p)))
        p++;
    return p;
}

static Uri split_uri(Text text)
{
    Uri u = {.scheme = {NULL, 0}};
    const char *p = text.bytes, *end = p + text.len;
    const char *stop = find_uri_char(p, end, ":/?#");
    if (stop < end && *stop == ':' && stop > p) {
        u.scheme = text_between(p, stop);
        p = stop + 1;
    }
    if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
        stop = find_uri_char(p + 2, end, "/?#");
        u.authority = text_between(p + 2, stop);
        p = stop;
    }
    stop = find_uri_char(p, end, "?#");
    u.path = text_between(p, stop);
    p = stop;
    if (p < end && *p == '?') {
        stop = find_uri_char(p + 1, end, "#");
        u.query = text_between(p + 1, stop);
        p = stop;
    }
    if (p < end)
        u.fragment = text_between(p + 1, end);
    return u;
}

/* Text being composed; what is too long is cut and recorded. */
typedef struct {
    char bytes[PTC_SCHEMA_URI_BYTES];
    size_t len;
    bool cut;
} UriLine;

static void add_uri_bytes(UriLine *line, const char *bytes, size_t n)
{
    if (n > sizeof line->bytes - line->len) {
        line->cut = true;
        return;
    }
    if (n)
        memcpy(line->bytes + line->len, bytes, n);
    line->len += n;
}

/* Removes the last segment, and the slash before it, of what was added since `from`. */
static void drop_segment(UriLine *line, size_t from)
{
    while (line->len > from && line->bytes[line->len - 1] != '/')
        line->len--;
    if (line->len > from)
        line->len--;
}

static bool is_segment(const char *p, size_t n, const char *text)
{
    return n == strlen(text) && memcmp(p, text, n) == 0;
}

/* Adds a path without . and .. segments. */
static void add_uri_path(UriLine *line, const char *path, size_t len)
{
    size_t from = line->len, i = 0;
    while (i < len) {
        size_t slash = path[i] == '/', end = i + slash;
        while (end < len && path[end] != '/')
            end++;
        const char *segment = path + i + slash;
        size_t n = end - i - slash;
        bool up = is_segment(segment, n, "..");
        if (up)
            drop_segment(line, from);
        if (!up && !is_segment(segment, n, "."))
            add_uri_bytes(line, path + i, end - i);
        else if (end == len && (slash || line->len > from))
            add_uri_bytes(line, "/", 1);
        i = end;
    }
}

/* The reference's path relative to the base's. */
static void merge_path(UriLine *line, const Uri *base, Text path)
{
    UriLine joined = {.len = 0};
    size_t dir = base->path.len;
    while (dir > 0 && base->path.bytes[dir - 1] != '/')
        dir--;
    if (base->authority.bytes && base->path.len == 0)
        add_uri_bytes(&joined, "/", 1);
    add_uri_bytes(&joined, base->path.bytes, dir);
    add_uri_bytes(&joined, path.bytes, path.len);
    line->cut = line->cut || joined.cut;
    add_uri_path(line, joined.bytes, joined.len);
}

static void add_authority(UriLine *line, Text authority)
{
    if (authority.bytes) {
        add_uri_bytes(line, "//", 2);
        add_uri_bytes(line, authority.bytes, authority.len);
    }
}

static void add_uri_query(UriLine *line, Text query)
{
    if (query.bytes) {
        add_uri_bytes(line, "?", 1);
        add_uri_bytes(line, query.bytes, query.len);
    }
}

/* Everything except the fragment. */
static void add_target(UriLine *line, const Uri *base, const Uri *ref)
{
    Text scheme = ref->scheme.bytes ? ref->scheme : base->scheme;
    if (scheme.bytes) {
        add_uri_bytes(line, scheme.bytes, scheme.len);
        add_uri_bytes(line, ":", 1);
    }
    if (ref->scheme.bytes || ref->authority.bytes) {
        add_authority(line, ref->authority);
        add_uri_path(line, ref->path.bytes, ref->path.len);
        add_uri_query(line, ref->query);
        return;
    }
    add_authority(line, base->authority);
    if (ref->path.len == 0) {
        add_uri_bytes(line, base->path.bytes, base->path.len);
        add_uri_query(line, ref->query.bytes ? ref->query : base->query);
        return;
    }
    if (ref->path.bytes[0] == '/')
        add_uri_path(line, ref->path.bytes, ref->path.len);
    else
        merge_path(line, base, ref->path);
    add_uri_query(line, ref->query);
}

bool ptc_schema_uri(PtcArena *arena, Text base, Text ref, Text *out)
{
    UriLine line;
    line.len = 0;
    line.cut = false;
    Uri from = split_uri(base), to = split_uri(ref);
    add_target(&line, &from, &to);
    if (to.fragment.len) {
        add_uri_bytes(&line, "#", 1);
        add_uri_bytes(&line, to.fragment.bytes, to.fragment.len);
    }
    char *kept = line.cut ? NULL : ptc_arena_alloc(arena, line.len + 1);
    if (!kept)
        return false;
    memcpy(kept, line.bytes, line.len);
    kept[line.len] = 0;
    *out = (Text){kept, line.len};
    return true;
}

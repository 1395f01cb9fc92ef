/* SPDX-License-Identifier: MIT
 * Request heads.  What always holds: nothing is taken from a head before the whole of it was read and found to be in
 * order, and a path is compared with the secret in constant time. */
#include "viewer/view_request.h"

#include <stdio.h>

#include "base/text/secret.h"

enum { NUMBER_DIGITS = 9, HOST_BYTES = 40 };

static PtcViewRequest refuse_view_request(int status)
{
    return (PtcViewRequest){.kind = PTC_VIEW_REFUSED, .status = status};
}

size_t ptc_view_request_end(PtcText bytes)
{
    for (size_t i = 0; i + 4 <= bytes.len; i++)
        if (memcmp(bytes.bytes + i, "\r\n\r\n", 4) == 0)
            return i + 4;
    return 0;
}

/* ---------------------------------------------------------------------------------- lines */

/* Takes the part before the separator off the front of a text; false: there is no separator. */
static bool cut_before_separator(PtcText *rest, const char *separator, PtcText *part)
{
    size_t n = strlen(separator);
    for (size_t i = 0; i + n <= rest->len; i++)
        if (memcmp(rest->bytes + i, separator, n) == 0) {
            *part = (PtcText){rest->bytes, i};
            *rest = (PtcText){rest->bytes + i + n, rest->len - i - n};
            return true;
        }
    return false;
}

static bool is_nocase(PtcText text, const char *lower)
{
    bool same = text.len == strlen(lower);
    for (size_t i = 0; same && i < text.len; i++) {
        char c = text.bytes[i];
        same = (c >= 'A' && c <= 'Z' ? c + 32 : c) == lower[i];
    }
    return same;
}

/* No NUL, no control character, nothing beyond ASCII: nothing that others might read otherwise than we do. */
static bool is_plain_head(PtcText head)
{
    for (size_t i = 0; i < head.len; i++) {
        unsigned char c = (unsigned char)head.bytes[i];
        bool ending = (c == '\r' && i + 1 < head.len && head.bytes[i + 1] == '\n') ||
                      (c == '\n' && i > 0 && head.bytes[i - 1] == '\r');
        if ((c < ' ' && c != '\t' && !ending) || c > '~')
            return false;
    }
    return true;
}

/* --------------------------------------------------------------------------------- fields */

typedef struct {
    PtcText host;
    size_t hosts;
    bool body;    /* it announces one */
    bool foreign; /* the browser says that another site's page asks */
} Fields;

static bool is_header_name(PtcText name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.bytes[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return name.len > 0;
}

/* False: the field is not one. */
static bool take_request_field(Fields *fields, PtcText line)
{
    PtcText name;
    if (!cut_before_separator(&line, ":", &name) || !is_header_name(name))
        return false;
    PtcText value = ptc_text_trim(line, " \t");
    if (is_nocase(name, "host")) {
        fields->host = value;
        fields->hosts++;
    }
    if (is_nocase(name, "transfer-encoding"))
        fields->body = true;
    if (is_nocase(name, "content-length") && !ptc_text_is(value, "0"))
        fields->body = true;
    if (is_nocase(name, "sec-fetch-site"))
        fields->foreign |= is_nocase(value, "cross-site") || is_nocase(value, "same-site");
    return true;
}

static bool host_is_ours(const PtcViewPlace *place, PtcText host)
{
    char ours[HOST_BYTES];
    snprintf(ours, sizeof ours, "127.0.0.1:%u", place->port);
    if (is_nocase(host, ours))
        return true;
    snprintf(ours, sizeof ours, "localhost:%u", place->port);
    return is_nocase(host, ours);
}

/* ----------------------------------------------------------------------------------- path */

static bool is_place_secret(PtcText text, const char *secret)
{
    return text.len == PTC_VIEW_SECRET && secret[0] &&
           ptc_secret_same(text.bytes, secret, PTC_VIEW_SECRET);
}

/* Digits without a leading zero, few enough for any size. */
static bool take_part_number(PtcText text, size_t *number)
{
    *number = 0;
    if (text.len == 0 || text.len > NUMBER_DIGITS || (text.len > 1 && text.bytes[0] == '0'))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9')
            return false;
        *number = *number * 10 + (size_t)(text.bytes[i] - '0');
    }
    return true;
}

static PtcViewRequest read_request_path(const PtcViewPlace *place, PtcText path)
{
    PtcViewRequest r = {.kind = PTC_VIEW_FILE};
    PtcText rest = path, part;
    if (!cut_before_separator(&rest, "/", &part) || part.len > 0)
        return refuse_view_request(400);
    if (is_place_secret(rest, place->door))
        return (PtcViewRequest){.kind = PTC_VIEW_DOOR};
    if (!cut_before_separator(&rest, "/", &part) || !is_place_secret(part, place->secret))
        return refuse_view_request(404);
    if (ptc_text_is(rest, "traces.json")) {
        r.kind = PTC_VIEW_LIST;
        return r;
    }
    r.name = rest;
    if (cut_before_separator(&rest, "trace/", &part) && part.len == 0) {
        r.kind = PTC_VIEW_TRACE;
        return take_part_number(rest, &r.number) ? r : refuse_view_request(404);
    }
    return r;
}

PtcViewRequest ptc_view_request_read(const PtcViewPlace *place, PtcText head)
{
    PtcText line, method, path;
    Fields fields = {0};
    if (!is_plain_head(head) || !cut_before_separator(&head, "\r\n", &line) ||
        !cut_before_separator(&line, " ", &method) || !cut_before_separator(&line, " ", &path))
        return refuse_view_request(400);
    if (!ptc_text_is(line, "HTTP/1.1") && !ptc_text_is(line, "HTTP/1.0"))
        return refuse_view_request(505);
    for (PtcText field; cut_before_separator(&head, "\r\n", &field) && field.len > 0;)
        if (!take_request_field(&fields, field))
            return refuse_view_request(400);
    if (fields.hosts != 1 || !host_is_ours(place, fields.host) || fields.foreign)
        return refuse_view_request(403);
    if (!ptc_text_is(method, "GET") && !ptc_text_is(method, "HEAD"))
        return refuse_view_request(405);
    if (fields.body)
        return refuse_view_request(400);
    PtcViewRequest r = read_request_path(place, path);
    r.head = ptc_text_is(method, "HEAD");
    return r;
}

/* SPDX-License-Identifier: MIT
 * Requests.  What always holds: a path is looked at only when everything else is in order, and compared with the
 * secret in constant time. */
#include "viewer/view_request.h"

#include <stdio.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/text/secret.h"

enum { NUMBER_DIGITS = 9, HOST_BYTES = 40 };

static PtcViewRequest refuse_view_request(int status)
{
    return (PtcViewRequest){.kind = PTC_VIEW_REFUSED, .status = status};
}

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

static bool is_nocase(PtcText text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.bytes, word, text.len) == 0;
}

/* --------------------------------------------------------------------------------- fields */

void ptc_view_fields_add(PtcViewFields *fields, PtcText name, PtcText value)
{
    value = ptc_text_trim(value, " \t");
    if (is_nocase(name, "host")) {
        fields->host = value;
        fields->hosts++;
    }
    if (is_nocase(name, "transfer-encoding"))
        fields->body = fields->chunks = true;
    if (is_nocase(name, "content-type"))
        fields->json = is_nocase(value, "application/json");
    if (is_nocase(name, "origin")) {
        fields->origin = value;
        fields->origins++;
    }
    if (is_nocase(name, "content-length") && !ptc_text_is(value, "0"))
        fields->body = true;
    if (is_nocase(name, "sec-fetch-site"))
        fields->foreign |= is_nocase(value, "cross-site") || is_nocase(value, "same-site");
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

/* Browsers send it with every POST, and no page can choose it. */
static bool origin_is_ours(const PtcViewPlace *place, const PtcViewFields *fields)
{
    static const char scheme[] = "http://";
    PtcText host = fields->origin;
    if (fields->origins != 1 || !ptc_text_starts(host, scheme))
        return false;
    host.bytes += sizeof scheme - 1;
    host.len -= sizeof scheme - 1;
    return host_is_ours(place, host);
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
        if (!ptc_ascii_is_digit(text.bytes[i]))
            return false;
        *number = *number * 10 + (size_t)(text.bytes[i] - '0');
    }
    return true;
}

static PtcViewRequest read_request_path(const PtcViewPlace *place, PtcText path)
{
    PtcViewRequest r = {.kind = PTC_VIEW_FILE};
    PtcText rest = {path.bytes + 1, path.len - 1}, part;
    if (is_place_secret(rest, place->door))
        return (PtcViewRequest){.kind = PTC_VIEW_DOOR};
    if (!cut_before_separator(&rest, "/", &part) || !is_place_secret(part, place->secret))
        return refuse_view_request(404);
    if (ptc_text_is(rest, "traces.json")) {
        r.kind = PTC_VIEW_LIST;
        return r;
    }
    if (ptc_text_is(rest, "approvals.json")) {
        r.kind = PTC_VIEW_WAITING;
        return r;
    }
    r.name = rest;
    if (cut_before_separator(&rest, "trace/", &part) && part.len == 0) {
        r.kind = PTC_VIEW_TRACE;
        return take_part_number(rest, &r.number) ? r : refuse_view_request(404);
    }
    return r;
}

static PtcViewRequest judge_answer(const PtcViewPlace *place, const PtcViewFields *fields,
                                   PtcText path)
{
    PtcText rest = {path.bytes + 1, path.len - 1}, part;
    if (!origin_is_ours(place, fields))
        return refuse_view_request(403);
    if (!cut_before_separator(&rest, "/", &part) || !is_place_secret(part, place->secret))
        return refuse_view_request(404);
    if (!ptc_text_is(rest, "approval"))
        return refuse_view_request(405);
    if (!fields->body || fields->chunks || !fields->json)
        return refuse_view_request(400);
    return (PtcViewRequest){.kind = PTC_VIEW_ANSWER};
}

PtcViewRequest ptc_view_request_judge(const PtcViewPlace *place, const PtcViewFields *fields,
                                      PtcText method, PtcText path)
{
    if (path.len == 0 || path.bytes[0] != '/')
        return refuse_view_request(400);
    if (fields->hosts != 1 || !host_is_ours(place, fields->host) || fields->foreign)
        return refuse_view_request(403);
    if (ptc_text_is(method, "POST"))
        return judge_answer(place, fields, path);
    if (!ptc_text_is(method, "GET") && !ptc_text_is(method, "HEAD"))
        return refuse_view_request(405);
    if (fields->body)
        return refuse_view_request(400);
    return read_request_path(place, path);
}

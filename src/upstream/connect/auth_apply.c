/* SPDX-License-Identifier: MIT
 * Puts credentials into requests.  What always holds: a value that could end a header line gets into none, and buffers
 * that held a credential are wiped. */
#include "upstream/connect/auth_apply.h"

#include "base/buf.h"
#include "base/text/base64.h"
#include "base/text/secret.h"
#include "json/parse.h"
#include "net/url.h"
#include "upstream/config/header.h"
#include "value/coll/fields.h"

static void put_auth_header(PtcHeap *heap, PtcValue *headers, PtcText name, PtcBuf *value)
{
    PtcValue lower = ptc_header_lower(heap, name);
    if (lower != PTC_NONE)
        ptc_fields_put_key(heap, headers, ptc_str_text(lower), ptc_fields_buf(heap, value));
    if (value->data)
        ptc_secret_wipe(value->data, value->cap);
    ptc_buf_deinit(value);
}

/* user:pass as it is, or as {"user", "pass"}. */
static bool add_basic_auth(PtcHeap *heap, PtcBuf *out, PtcText secret)
{
    PtcBuf pair;
    PtcJsonError error;
    PtcValue parts = secret.len && secret.bytes[0] == '{'
                         ? ptc_json_parse(heap, secret.bytes, secret.len, &error)
                         : PTC_NONE;
    PtcText user = ptc_fields_text(heap, parts, "user"),
            pass = ptc_fields_text(heap, parts, "pass");
    if (parts == PTC_NONE && !memchr(secret.bytes, ':', secret.len))
        return false;
    if (parts != PTC_NONE && (!user.bytes || !pass.bytes))
        return false;
    ptc_buf_init(&pair, heap->pool->mem, PTC_UNBOUNDED);
    if (parts == PTC_NONE) {
        ptc_buf_add(&pair, secret.bytes, secret.len);
    } else {
        ptc_buf_add(&pair, user.bytes, user.len);
        ptc_buf_add_char(&pair, ':');
        ptc_buf_add(&pair, pass.bytes, pass.len);
    }
    ptc_buf_add_cstr(out, "Basic ");
    ptc_base64_add(out, pair.data, pair.len, false);
    if (pair.data)
        ptc_secret_wipe(pair.data, pair.cap);
    ptc_buf_end_part(out, &pair);
    return true;
}

static bool apply_query(PtcHeap *heap, PtcValue auth, PtcText secret, PtcBuf *query)
{
    PtcText name = ptc_fields_text(heap, auth, "name");
    if (!name.bytes)
        name = ptc_fields_text(heap, auth, "header");
    if (!name.bytes)
        return false;
    ptc_buf_add_char(query, '&');
    ptc_url_encode(query, name);
    ptc_buf_add_char(query, '=');
    ptc_url_encode(query, secret);
    return true;
}

/* A request has one Cookie header, so the credential is appended to the cookies that are there. */
static bool apply_cookie(PtcHeap *heap, PtcValue auth, PtcText secret, PtcValue *headers)
{
    PtcBuf value;
    PtcText name = ptc_fields_text(heap, auth, "name");
    PtcValue there = ptc_fields_get(heap, *headers, PTC_TEXT("cookie"));
    PtcText before = there == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(there);
    if (!name.len || !ptc_header_is_name(name) || memchr(secret.bytes, ';', secret.len))
        return false;
    ptc_buf_init(&value, heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_add(&value, before.bytes, before.len);
    ptc_buf_add_cstr(&value, before.len ? "; " : "");
    ptc_buf_add(&value, name.bytes, name.len);
    ptc_buf_add_char(&value, '=');
    ptc_buf_add(&value, secret.bytes, secret.len);
    put_auth_header(heap, headers, PTC_TEXT("cookie"), &value);
    return true;
}

static bool apply_one(PtcHeap *heap, PtcValue auth, PtcText secret, PtcValue *headers,
                      PtcBuf *query)
{
    PtcBuf value;
    PtcText scheme = ptc_fields_text(heap, auth, "scheme"), in = ptc_fields_text(heap, auth, "in");
    PtcText header = ptc_fields_text(heap, auth, "header");
    if (!scheme.bytes || !ptc_header_is_value(secret))
        return false;
    if (in.bytes && ptc_text_is(in, "query"))
        return apply_query(heap, auth, secret, query);
    if (in.bytes && ptc_text_is(in, "cookie"))
        return apply_cookie(heap, auth, secret, headers);
    bool bearer = ptc_text_is(scheme, "bearer"), basic = ptc_text_is(scheme, "basic");
    if (bearer || basic)
        header = PTC_TEXT("authorization");
    if (!header.bytes || !ptc_header_is_name(header))
        return false;
    ptc_buf_init(&value, heap->pool->mem, PTC_UNBOUNDED);
    bool ok = true;
    if (basic)
        ok = add_basic_auth(heap, &value, secret);
    else if (bearer)
        ptc_buf_add_cstr(&value, "Bearer ");
    if (!basic)
        ptc_buf_add(&value, secret.bytes, secret.len);
    if (ok)
        put_auth_header(heap, headers, header, &value);
    else
        ptc_buf_deinit(&value);
    return ok;
}

bool ptc_auth_apply(PtcHeap *heap, PtcValue auth, PtcValue values, PtcValue *headers, PtcBuf *query,
                    PtcText *binding)
{
    for (size_t i = 0; i < ptc_fields_count(auth); i++) {
        PtcValue one = ptc_seq_nth(auth, i);
        *binding = ptc_fields_text(heap, one, "binding");
        PtcValue secret = binding->bytes ? ptc_fields_get(heap, values, *binding) : PTC_NONE;
        if (secret == PTC_NONE || !ptc_is_string(secret) ||
            !apply_one(heap, one, ptc_str_text(secret), headers, query))
            return false;
    }
    return true;
}

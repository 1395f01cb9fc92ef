/* SPDX-License-Identifier: MIT
 * AWS signatures.  The text that is signed describes the request in one canonical way; the key that signs it is
 * derived from the secret, the day, the region and the service, and is wiped. */
#include "llm/provider/sigv4.h"

#include <stdio.h>

#include "base/text/hmac.h"
#include "base/text/secret.h"
#include "value/calendar.h"

enum { DAY_BYTES = 8, DATE_BYTES = 16 }; /* 20261231, 20261231T235959Z */

static void write_signing_date(int64_t now_ms, char date[DATE_BYTES + 1])
{
    int64_t seconds = ptc_floor_div(now_ms, 1000), days = ptc_floor_div(seconds, PTC_DAY_SECONDS);
    int rest = (int)(seconds - days * PTC_DAY_SECONDS);
    PtcCivil day = ptc_calendar_civil(days);
    char text[80]; /* room for years that no clock will show */
    snprintf(text, sizeof text, "%04d%02d%02dT%02d%02d%02dZ", (int)(day.year % 10000), day.month,
             day.day, rest / 3600, rest / 60 % 60, rest % 60);
    memcpy(date, text, DATE_BYTES);
    date[DATE_BYTES] = 0;
}

static void add_hex(PtcBuf *out, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ptc_buf_addf(out, "%02x", bytes[i]);
}

static void add_sha256_hex(PtcBuf *out, PtcText text)
{
    uint8_t digest[PTC_SHA256_BYTES];
    ptc_sha256(text.bytes ? text.bytes : "", text.len, digest);
    add_hex(out, digest, sizeof digest);
}

static void add_text(PtcBuf *out, PtcText text)
{
    ptc_buf_add(out, text.bytes, text.len);
}

/* All services except one want the path encoded a second time. */
static void add_canonical_path(PtcBuf *out, PtcText path)
{
    for (size_t i = 0; i < path.len; i++)
        ptc_buf_add_cstr(out, path.bytes[i] == '%' ? "%25" : (char[2]){path.bytes[i], 0});
}

static const char *signed_headers(const PtcSigv4 *r)
{
    return r->session.bytes ? "content-type;host;x-amz-date;x-amz-security-token"
                            : "content-type;host;x-amz-date";
}

static void add_canonical(PtcBuf *out, const PtcSigv4 *r, const char *date)
{
    ptc_buf_add_cstr(out, "POST\n");
    add_canonical_path(out, r->path);
    ptc_buf_add_cstr(out, "\n\ncontent-type:application/json\nhost:");
    add_text(out, r->host);
    ptc_buf_addf(out, "\nx-amz-date:%s\n", date);
    if (r->session.bytes) {
        ptc_buf_add_cstr(out, "x-amz-security-token:");
        add_text(out, r->session);
        ptc_buf_add_char(out, '\n');
    }
    ptc_buf_addf(out, "\n%s\n", signed_headers(r));
    add_sha256_hex(out, r->body);
}

/* day/region/service/aws4_request */
static void add_scope(PtcBuf *out, const PtcSigv4 *r, const char *date)
{
    ptc_buf_add(out, date, DAY_BYTES);
    ptc_buf_add_char(out, '/');
    add_text(out, r->region);
    ptc_buf_addf(out, "/%s/aws4_request", r->service);
}

static void chain_signing_key(uint8_t key[PTC_SHA256_BYTES], PtcText text)
{
    ptc_hmac((PtcText){(const char *)key, PTC_SHA256_BYTES}, text.bytes, text.len, key);
}

static bool make_signing_key(const PtcSigv4 *r, PtcMem *mem, const char *date,
                             uint8_t key[PTC_SHA256_BYTES])
{
    PtcBuf first;
    ptc_buf_init(&first, mem, PTC_UNBOUNDED);
    bool ok = ptc_buf_reserve(&first, r->secret_key.len + 4) && ptc_buf_add_cstr(&first, "AWS4") &&
              ptc_buf_add(&first, r->secret_key.bytes, r->secret_key.len);
    if (ok) {
        ptc_hmac(ptc_buf_view(&first), date, DAY_BYTES, key);
        chain_signing_key(key, r->region);
        chain_signing_key(key, ptc_text_cstr(r->service));
        chain_signing_key(key, PTC_TEXT("aws4_request"));
        ptc_secret_wipe(first.data, first.len);
    }
    ptc_buf_deinit(&first);
    return ok;
}

/* AWS4-HMAC-SHA256, date, scope, digest of the canonical request. */
static bool make_text(const PtcSigv4 *r, PtcMem *mem, const char *date, PtcBuf *out)
{
    PtcBuf canonical;
    ptc_buf_init(&canonical, mem, PTC_UNBOUNDED);
    add_canonical(&canonical, r, date);
    ptc_buf_addf(out, "AWS4-HMAC-SHA256\n%s\n", date);
    add_scope(out, r, date);
    ptc_buf_add_char(out, '\n');
    add_sha256_hex(out, ptc_buf_view(&canonical));
    bool ok = ptc_buf_ok(&canonical) && ptc_buf_ok(out);
    if (canonical.data)
        ptc_secret_wipe(canonical.data, canonical.len);
    ptc_buf_deinit(&canonical);
    return ok;
}

bool ptc_sigv4_sign(const PtcSigv4 *r, PtcMem *mem, PtcBuf *date, PtcBuf *authorization)
{
    char when[DATE_BYTES + 1];
    uint8_t key[PTC_SHA256_BYTES] = {0}, signature[PTC_SHA256_BYTES];
    PtcBuf text;
    write_signing_date(r->now_ms, when);
    ptc_buf_init(&text, mem, PTC_UNBOUNDED);
    bool ok = make_signing_key(r, mem, when, key) && make_text(r, mem, when, &text);
    if (ok) {
        ptc_hmac((PtcText){(const char *)key, sizeof key}, text.data, text.len, signature);
        ptc_buf_add_cstr(date, when);
        ptc_buf_add_cstr(authorization, "AWS4-HMAC-SHA256 Credential=");
        add_text(authorization, r->access_key);
        ptc_buf_add_char(authorization, '/');
        add_scope(authorization, r, when);
        ptc_buf_addf(authorization, ", SignedHeaders=%s, Signature=", signed_headers(r));
        add_hex(authorization, signature, sizeof signature);
    }
    ptc_secret_wipe(key, sizeof key);
    ptc_buf_deinit(&text);
    return ok && ptc_buf_ok(date) && ptc_buf_ok(authorization);
}

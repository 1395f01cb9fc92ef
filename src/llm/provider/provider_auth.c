/* SPDX-License-Identifier: MIT
 * How keys get into a request: from the table of keys into one block, which is wiped when the request is over. */
#define _GNU_SOURCE /* memmem */
#include "llm/provider/provider_auth.h"

#include "base/budget.h"
#include "base/text/secret.h"
#include "llm/provider/bedrock.h"
#include "llm/provider/sigv4.h"

static void add_provider_header(PtcHeaders *h, const char *head, PtcText value)
{
    size_t from = h->text.len;
    ptc_buf_add_cstr(&h->text, head);
    if (value.len)
        ptc_buf_add(&h->text, value.bytes, value.len);
    if (ptc_buf_ok(&h->text) && h->count < PTC_HEADERS_MAX)
        h->lines[h->count++] = (PtcText){h->text.data + from, h->text.len - from};
}

/* A key must be printable ASCII, so that it cannot end its header line or begin another. */
static bool check_provider_key(PtcReply *reply, const char *name, PtcText key)
{
    for (size_t i = 0; i < key.len; i++)
        if (key.bytes[i] <= ' ' || key.bytes[i] > '~')
            return ptc_reply_failf(reply, PTC_LLM_CONFIG_ERROR,
                                   "%s contains a blank or another character that keys cannot have",
                                   name);
    return true;
}

/* The provider's first variable that is set; *name is its name, or that of the first one to set. */
static PtcText find_provider_key(const PtcProvider *p, const PtcProviderKeys *keys,
                                 const char **name)
{
    PtcText key = {NULL, 0};
    *name = p->keys[0];
    for (size_t i = 0; !key.bytes && i < PTC_PROVIDER_VARS && p->keys[i]; i++) {
        key = ptc_provider_keys_get(keys, p->keys[i]);
        if (key.bytes)
            *name = p->keys[i];
    }
    return key;
}

/* Somebody may have the key of another provider, and an alias that leads to this one. */
static bool no_key(PtcReply *reply, const PtcProvider *p, const PtcProviderKeys *keys,
                   const char *name)
{
    const char *other = NULL, *set = NULL;
    for (size_t i = 0; i < ptc_provider_count && !other && !keys->trouble; i++)
        if (&ptc_providers[i] != p && find_provider_key(&ptc_providers[i], keys, &set).bytes)
            other = ptc_providers[i].name;
    if (other)
        return ptc_reply_failf(reply, PTC_LLM_CONFIG_ERROR,
                               "%s is not set, but %s is: write the model as %s:NAME, or set "
                               "LLM_DEFAULT_PROVIDER=%s",
                               name, set, other, other);
    return ptc_reply_failf(
        reply, PTC_LLM_CONFIG_ERROR,
        "%s is not set: put the key of %s into the environment or into a .env file%s%s%s", name,
        p->name, keys->trouble ? " (.env: " : "", keys->trouble ? keys->trouble : "",
        keys->trouble ? ")" : "");
}

/* ---------------------------------------------------------------------------------- AWS */

/* The host of an address as it is sent, and its path. */
static void split_address(PtcText url, PtcText *host, PtcText *path)
{
    const char *scheme = memmem(url.bytes, url.len, "://", 3), *end = url.bytes + url.len;
    const char *start = scheme ? scheme + 3 : url.bytes;
    const char *slash = memchr(start, '/', (size_t)(end - start));
    slash = slash ? slash : end;
    *host = (PtcText){start, (size_t)(slash - start)};
    *path = (PtcText){slash, (size_t)(end - slash)};
}

static bool add_signature(PtcHeaders *h, PtcMem *mem, const PtcSigv4 *r, PtcReply *reply)
{
    PtcBuf date, authorization;
    ptc_buf_init(&date, mem, 64);
    ptc_buf_init(&authorization, mem, PTC_HEADERS_BYTES);
    bool ok = ptc_sigv4_sign(r, mem, &date, &authorization);
    if (ok) {
        add_provider_header(h, "X-Amz-Date: ", ptc_buf_view(&date));
        add_provider_header(h, "Authorization: ", ptc_buf_view(&authorization));
        if (r->session.bytes)
            add_provider_header(h, "X-Amz-Security-Token: ", r->session);
    }
    ptc_buf_deinit(&date);
    ptc_buf_deinit(&authorization);
    return ok || ptc_reply_fail(reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
}

static bool add_aws(PtcHeaders *h, PtcMem *mem, const PtcProvider *p, const PtcProviderKeys *keys,
                    PtcSigv4 *r, PtcText url, PtcReply *reply)
{
    PtcText bearer = ptc_provider_keys_get(keys, PTC_AWS_BEARER);
    if (bearer.bytes) {
        add_provider_header(h, "Authorization: Bearer ", bearer);
        return check_provider_key(reply, PTC_AWS_BEARER, bearer);
    }
    r->access_key = ptc_provider_keys_get(keys, PTC_AWS_ACCESS_KEY);
    r->secret_key = ptc_provider_keys_get(keys, PTC_AWS_SECRET_KEY);
    r->session = ptc_provider_keys_get(keys, PTC_AWS_SESSION);
    if (!r->access_key.bytes || !r->secret_key.bytes)
        return no_key(reply, p, keys,
                      r->access_key.bytes ? PTC_AWS_SECRET_KEY : PTC_AWS_ACCESS_KEY);
    split_address(url, &r->host, &r->path);
    return check_provider_key(reply, PTC_AWS_ACCESS_KEY, r->access_key) &&
           check_provider_key(reply, PTC_AWS_SESSION, r->session) &&
           add_signature(h, mem, r, reply);
}

/* ---------------------------------------------------------------------------------- all */

static bool add_key_header(PtcHeaders *h, const PtcProvider *p, const PtcProviderKeys *keys,
                           PtcReply *reply)
{
    static const char *const heads[] = {
        [PTC_AUTH_BEARER] = "Authorization: Bearer ",
        [PTC_AUTH_API_KEY] = "x-api-key: ",
        [PTC_AUTH_GOOGLE] = "x-goog-api-key: ",
    };
    const char *name;
    PtcText key = find_provider_key(p, keys, &name);
    if (!key.bytes)
        return p->key_optional || no_key(reply, p, keys, name);
    add_provider_header(h, heads[p->auth], key);
    return check_provider_key(reply, name, key);
}

bool ptc_provider_auth_make(PtcHeaders *h, PtcMem *mem, const PtcProvider *p,
                            const PtcProviderKeys *keys, bool with_key, PtcText region, PtcText url,
                            PtcText body, PtcReply *reply)
{
    PtcSigv4 r = {
        .region = region, .service = "bedrock", .body = body, .now_ms = ptc_clock_wall_ms()};
    bool ok = true;
    h->count = 0;
    ptc_buf_init(&h->text, mem, PTC_HEADERS_BYTES);
    if (ptc_buf_reserve(&h->text, PTC_HEADERS_BYTES)) {
        add_provider_header(h, "Content-Type: application/json", PTC_TEXT(""));
        if (p->header)
            add_provider_header(h, p->header, PTC_TEXT(""));
        if (with_key && p->auth == PTC_AUTH_AWS)
            ok = add_aws(h, mem, p, keys, &r, url, reply);
        else if (with_key && p->auth != PTC_AUTH_NONE)
            ok = add_key_header(h, p, keys, reply);
    }
    if (ok && !ptc_buf_ok(&h->text))
        ok = ptc_reply_fail(reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory for the headers"));
    return ok;
}

void ptc_provider_auth_drop(PtcHeaders *h)
{
    if (h->text.data)
        ptc_secret_wipe(h->text.data, h->text.cap);
    ptc_buf_deinit(&h->text);
}

/* SPDX-License-Identifier: MIT
 * Addresses of OAuth.  What always holds: what is made here is read again by ptc_url_parse before it is used. */
#include "oauth/oauth_url.h"

#include <stdio.h>

#include "base/ascii.h"

#define RESOURCE "/.well-known/oauth-protected-resource"
#define SERVER "/.well-known/oauth-authorization-server"
#define OPENID "/.well-known/openid-configuration"

/* ------------------------------------------------------------------------------- well-known */

/* An address cut into its server and its path without query and the slash at its end. */
typedef struct {
    PtcUrl url;
    PtcText server, path;
} Cut;

static bool cut_address(const char *address, Cut *out)
{
    if (!ptc_url_parse(ptc_text_cstr(address), &out->url, NULL))
        return false;
    PtcText path = out->url.path;
    const char *query = path.len ? memchr(path.bytes, '?', path.len) : NULL;
    out->server = (PtcText){address, (size_t)(path.bytes - address)};
    if (query)
        path.len = (size_t)(query - path.bytes);
    if (path.len && path.bytes[path.len - 1] == '/')
        path.len--;
    out->path = path;
    return true;
}

static void add_metadata_place(PtcOauthPlaces *out, const Cut *c, bool path_first,
                               const char *well_known, bool path_last)
{
    char *url = out->urls[out->count];
    int n = snprintf(url, sizeof out->urls[0], "%.*s%.*s%s%.*s", PTC_ARG(c->server),
                     PTC_ARG_OF(c->path.bytes, path_first ? c->path.len : 0), well_known,
                     PTC_ARG_OF(c->path.bytes, path_last ? c->path.len : 0));
    if (n > 0 && (size_t)n < sizeof out->urls[0])
        out->count++;
}

void ptc_oauth_url_of_resource(const char *url, PtcOauthPlaces *out)
{
    Cut c;
    out->count = 0;
    if (!cut_address(url, &c))
        return;
    if (c.path.len)
        add_metadata_place(out, &c, false, RESOURCE, true);
    add_metadata_place(out, &c, false, RESOURCE, false);
}

void ptc_oauth_url_of_issuer(const char *issuer, PtcOauthPlaces *out)
{
    Cut c;
    out->count = 0;
    if (!cut_address(issuer, &c))
        return;
    add_metadata_place(out, &c, false, SERVER, true);
    add_metadata_place(out, &c, false, OPENID, true);
    if (c.path.len)
        add_metadata_place(out, &c, true, OPENID, false);
}

bool ptc_oauth_url_covers(const char *resource, const char *url)
{
    Cut r, u;
    if (!cut_address(resource, &r) || !cut_address(url, &u) ||
        !ptc_url_same_server(&r.url, &u.url) || r.path.len > u.path.len)
        return false;
    bool same = r.path.len == 0 || memcmp(r.path.bytes, u.path.bytes, r.path.len) == 0;
    return same && (r.path.len == u.path.len || u.path.bytes[r.path.len] == '/');
}

/* ------------------------------------------------------------------------------------ forms */

void ptc_oauth_url_add(PtcBuf *form, const char *name, const char *value)
{
    if (!value)
        return;
    if (form->len)
        ptc_buf_add_char(form, '&');
    ptc_buf_add_cstr(form, name);
    ptc_buf_add_char(form, '=');
    (void)ptc_url_encode(form, ptc_text_cstr(value));
}

void ptc_oauth_url_with(PtcBuf *out, const char *address, const PtcBuf *form)
{
    ptc_buf_add_cstr(out, address);
    ptc_buf_add_char(out, strchr(address, '?') ? '&' : '?');
    ptc_buf_add(out, ptc_buf_view(form).bytes, form->len);
}

/* ---------------------------------------------------------------------------------- queries */

static bool decode_query_text(PtcText text, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.bytes[i] == '+' ? ' ' : text.bytes[i];
        if (c == '%') {
            int high = i + 2 < text.len ? ptc_ascii_hex_value(text.bytes[i + 1]) : -1;
            int low = i + 2 < text.len ? ptc_ascii_hex_value(text.bytes[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c < ' ' || c > '~' || n + 1 >= size)
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return true;
}

PtcOauthParam ptc_oauth_url_param(PtcText address, const char *name, char *out, size_t size)
{
    PtcOauthParam found = PTC_OAUTH_PARAM_MISSING;
    const char *query = address.len ? memchr(address.bytes, '?', address.len) : NULL;
    size_t len = strlen(name), n = 0;
    out[0] = '\0';
    if (!query)
        return found;
    PtcText rest = {query + 1, address.len - (size_t)(query + 1 - address.bytes)};
    for (; rest.len; rest = (PtcText){rest.bytes + n, rest.len - n}) {
        for (n = 0; n < rest.len && rest.bytes[n] != '&' && rest.bytes[n] != '#';)
            n++;
        if (n > len && rest.bytes[len] == '=' && memcmp(rest.bytes, name, len) == 0) {
            PtcText value = {rest.bytes + len + 1, n - len - 1};
            if (found != PTC_OAUTH_PARAM_MISSING || !decode_query_text(value, out, size))
                return PTC_OAUTH_PARAM_WRONG;
            found = PTC_OAUTH_PARAM_FOUND;
        }
        if (n < rest.len && rest.bytes[n] == '#')
            break;
        n += n < rest.len;
    }
    return found;
}

/* SPDX-License-Identifier: MIT
 * Tokens in requests of the manager.  What always holds: a token is among the secrets before it is in a request, and
 * goes to the configured address only. */
#include "upstream/connect/sign_in.h"

#include <stdio.h>
#include <strings.h>

#include "base/text/one_line.h"
#include "base/text/secret.h"
#include "net/url.h"
#include "oauth/challenge.h"
#include "oauth/oauth_doc.h"
#include "oauth/oauth_scopes.h"
#include "upstream/connect/sign_in_flow.h"
#include "value/coll/fields.h"
#include "value/scratch.h"

enum { SIGN_IN_TOKEN_BYTES = 64 * PTC_KB, SIGN_IN_SCRATCH_BYTES = PTC_MB, LOGIN_MS = 30 * 1000 };

static bool learn_token_secret(void *user, const char *secret)
{
    PtcSignIn *s = user;
    return ptc_secret_ring_learn(&s->secrets, ptc_text_cstr(secret));
}

void ptc_sign_in_deinit(PtcSignIn *s)
{
    ptc_secret_ring_deinit(&s->secrets);
    pthread_mutex_destroy(&s->turn);
}

void ptc_sign_in_init(PtcSignIn *s, const PtcEntry *entry, PtcShelf *shelf,
                      const PtcCredentials *credentials)
{
    *s = (PtcSignIn){.entry = entry};
    ptc_secret_ring_init(&s->secrets, credentials);
    pthread_mutex_init(&s->turn, NULL);
    s->bearer = (PtcOauthBearer){.mem = credentials->mem,
                                 .insecure_http = entry->insecure_http,
                                 .cancel = &s->cancel,
                                 .learn = learn_token_secret,
                                 .user = s};
    if (!entry->url || !shelf)
        return;
    ptc_oauth_place_init(&s->place, shelf, entry->name, entry->url);
    s->bearer.place = &s->place;
}

/* ---------------------------------------------------------------------------------- requests */

/* The value of the Authorization header among lines; absent: there is none. */
static PtcText find_authorization(PtcText lines)
{
    static const char name[] = "authorization:";
    while (lines.len) {
        const char *lf = memchr(lines.bytes, '\n', lines.len);
        size_t n = lf ? (size_t)(lf - lines.bytes) : lines.len, all = n + (lf != NULL);
        if (n >= sizeof name - 1 && strncasecmp(lines.bytes, name, sizeof name - 1) == 0)
            return (PtcText){lines.bytes + sizeof name - 1, n - (sizeof name - 1)};
        lines = (PtcText){lines.bytes + all, lines.len - all};
    }
    return (PtcText){NULL, 0};
}

/* A token of the client's own credentials.  With the lock held. */
static bool log_in(PtcSignIn *s, PtcClient *http, PtcWhy *why)
{
    PtcScratch scratch;
    PtcOauthWork w;
    PtcOauthSite site;
    PtcOauthRecord record;
    ptc_scratch_init(&scratch, s->bearer.mem, SIGN_IN_SCRATCH_BYTES);
    ptc_oauth_work_init(&w, s->bearer.mem, http, &s->cancel, LOGIN_MS);
    bool ok = ptc_sign_in_site(&w.arena, &scratch.heap, s->entry, &site) &&
              ptc_sign_in_login(&w, &site, PTC_OAUTH_CLIENT, NULL, s->bearer.place, &record);
    if (!ok)
        w.why.class == PTC_WHY_NONE ? ptc_why_no_memory(why) : ptc_why_copy(why, &w.why);
    ptc_oauth_work_deinit(&w);
    ptc_scratch_deinit(&scratch);
    return ok;
}

/* Another token than `used`, which may be absent.  Of several threads that want one, the first asks for it. */
static bool get_as_client(PtcSignIn *s, PtcClient *http, PtcText used, PtcBuf *token, PtcWhy *why)
{
    pthread_mutex_lock(&s->turn);
    bool have = ptc_oauth_bearer_get(&s->bearer, http, token, why) == PTC_OAUTH_HAVE;
    if (!have || ptc_text_same(ptc_buf_view(token), used)) {
        ptc_buf_clear(token);
        have = log_in(s, http, why) &&
               ptc_oauth_bearer_get(&s->bearer, http, token, why) == PTC_OAUTH_HAVE;
    }
    pthread_mutex_unlock(&s->turn);
    return have;
}

const char *ptc_sign_in_forbidden(const PtcEntry *entry)
{
    PtcUrl url;
    if (!ptc_url_parse(ptc_text_cstr(entry->url), &url, NULL))
        return "its address cannot be used";
    return url.https || url.loopback || entry->insecure_auth
               ? NULL
               : "a token would go over http: use https, or set allow_insecure_auth";
}

bool ptc_sign_in_add(PtcSignIn *s, PtcClient *http, PtcBuf *lines, PtcWhy *why)
{
    PtcBuf token;
    bool wanted = s->entry->oauth != PTC_NONE;
    if (find_authorization(ptc_buf_view(lines)).bytes || (!s->bearer.place && !wanted))
        return true;
    const char *forbidden = ptc_sign_in_forbidden(s->entry);
    if (forbidden && !wanted)
        return true;
    if (forbidden || !s->bearer.place)
        return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s",
                           forbidden ? forbidden
                                     : "there is no place for tokens: set HOME or XDG_STATE_HOME");
    ptc_buf_init(&token, s->bearer.mem, SIGN_IN_TOKEN_BYTES);
    PtcOauthHave have = PTC_OAUTH_FAILED;
    if (!s->entry->client_grant)
        have = ptc_oauth_bearer_get(&s->bearer, http, &token, why);
    else if (get_as_client(s, http, (PtcText){NULL, 0}, &token, why))
        have = PTC_OAUTH_HAVE;
    if (have == PTC_OAUTH_HAVE)
        ptc_buf_addf(lines, "Authorization: Bearer %.*s\n", PTC_ARG_OF(token.data, token.len));
    if (token.data)
        ptc_secret_wipe(token.data, token.len);
    ptc_buf_deinit(&token);
    bool ok = have == PTC_OAUTH_HAVE || (have == PTC_OAUTH_NO_LOGIN && !wanted);
    if (ok) /* that nobody has signed in, or a first try that failed, is no failure */
        ptc_why_init(why);
    return ok;
}

/* ---------------------------------------------------------------------------------- refused */

static bool want_more(PtcSignIn *s, const char *text, PtcWhy *why)
{
    PtcChallenge challenge;
    ptc_challenge_parse(ptc_text_cstr(text), &challenge);
    if (strcmp(challenge.error, "insufficient_scope") != 0)
        return false;
    if (challenge.scope[0])
        ptc_oauth_bearer_want(&s->bearer, challenge.scope);
    return ptc_why_say(why, PTC_WHY_REFUSED, "it wants more scopes than were given%s%.200s",
                       challenge.scope[0] ? ": " : "", challenge.scope);
}

bool ptc_sign_in_again(PtcSignIn *s, PtcClient *http, int status, const char *challenge,
                       PtcText lines, PtcWhy *why)
{
    static const char scheme[] = " Bearer ";
    PtcText used = find_authorization(lines);
    bool ours = s->bearer.place && used.bytes && ptc_fields_count(s->entry->auth) == 0 &&
                ptc_text_starts(used, scheme);
    if (!ours)
        return false;
    if (status == 403)
        return want_more(s, challenge, why);
    used = (PtcText){used.bytes + sizeof scheme - 1, used.len - (sizeof scheme - 1)};
    PtcBuf token;
    ptc_buf_init(&token, s->bearer.mem, SIGN_IN_TOKEN_BYTES);
    bool other = s->entry->client_grant ? get_as_client(s, http, used, &token, why)
                                        : ptc_oauth_bearer_renew(&s->bearer, http, used, why);
    if (other)
        ptc_why_init(why);
    if (token.data)
        ptc_secret_wipe(token.data, token.len);
    ptc_buf_deinit(&token);
    return other;
}

static bool has_entry_credentials(const PtcEntry *entry)
{
    PtcValue key, value;
    for (size_t pos = 0;
         entry->headers != PTC_NONE && ptc_map_next(entry->headers, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        if (name.len == 13 && strncasecmp(name.bytes, "authorization", 13) == 0)
            return true;
    }
    return ptc_fields_count(entry->auth) > 0 || entry->client_grant;
}

void ptc_sign_in_tell(const PtcSignIn *s, PtcText own, char *out, size_t size)
{
    char word[PTC_ONE_LINE_WORD];
    const char *name = ptc_one_line_word(word, s->entry->name, (PtcText){NULL, 0});
    if (has_entry_credentials(s->entry))
        snprintf(out, size, "%.*s",
                 PTC_ARG(own.bytes ? own : PTC_TEXT("it refused the credentials of its entry")));
    else if (own.bytes)
        snprintf(out, size, "%.*s; sign in: ptc upstreams login %s",
                 PTC_ARG(ptc_text_cut(own, 250)), name);
    else
        snprintf(out, size, "it wants you to sign in: ptc upstreams login %s", name);
}

void ptc_sign_in_account(const PtcSignIn *s, PtcBuf *out)
{
    if (s->bearer.place)
        ptc_oauth_bearer_account(&s->bearer, out);
}

/* ------------------------------------------------------------------------------------- entry */

static bool keep_oauth_text(PtcArena *arena, PtcHeap *heap, PtcValue form, const char *name,
                            const char **out)
{
    PtcText text = ptc_fields_text(heap, form, name);
    *out = text.bytes && text.len ? ptc_oauth_doc_keep(arena, text) : NULL;
    return *out || !text.len;
}

bool ptc_sign_in_site(PtcArena *arena, PtcHeap *heap, const PtcEntry *entry, PtcOauthSite *out)
{
    PtcValue form = entry->oauth;
    *out = (PtcOauthSite){.url = entry->url, .insecure_http = entry->insecure_http};
    if (form == PTC_NONE)
        return true;
    PtcValue scopes = ptc_map_field(heap, form, "scopes");
    PtcValue port = ptc_map_field(heap, form, "callback_port");
    for (size_t i = 0; i < ptc_fields_count(scopes); i++) {
        const char *word = ptc_oauth_doc_keep(arena, ptc_str_text(ptc_seq_nth(scopes, i)));
        if (!word || !(out->scopes = ptc_oauth_scopes_join(arena, out->scopes, word)))
            return false;
    }
    if (port != PTC_NONE && ptc_is_int(port))
        out->callback_port = (int)ptc_to_int(port);
    return keep_oauth_text(arena, heap, form, "client_id", &out->client_id) &&
           keep_oauth_text(arena, heap, form, "client_secret", &out->client_secret) &&
           keep_oauth_text(arena, heap, form, "private_key_file", &out->private_key_file) &&
           keep_oauth_text(arena, heap, form, "client_id_url", &out->client_id_url);
}

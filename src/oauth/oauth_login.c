/* SPDX-License-Identifier: MIT
 * A sign-in: ask the upstream what it wants, find its authorization server, be a client there, have a person agree,
 * exchange the code for tokens, and try them.  What always holds: PKCE with S256, a state that nobody can guess, and
 * the resource in every request. */
#include "oauth/oauth_login.h"

#include <stdio.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/text/hmac.h"
#include "base/text/secret.h"
#include "oauth/oauth_doc.h"
#include "oauth/oauth_listen.h"
#include "oauth/oauth_redirect.h"
#include "oauth/oauth_scopes.h"
#include "oauth/oauth_url.h"

enum { SECRET = 32, SECRET_TEXT = 64 };

typedef struct {
    PtcOauthWork *w;
    const PtcOauthSite *site;
    const PtcOauthPerson *person;
    PtcOauthWay way;
    PtcOauthPlan plan;
    PtcOauthClient client;
    const char *scope;
    PtcOauthTokens tokens;
    /* of one round through the browser */
    PtcOauthListen listen;
    char state[SECRET_TEXT], verifier[SECRET_TEXT], challenge[SECRET_TEXT];
} Login;

/* -------------------------------------------------------------------------------------- PKCE */

static bool encode_secret(PtcOauthWork *w, const uint8_t bytes[SECRET], char out[SECRET_TEXT])
{
    PtcBuf buf;
    ptc_buf_init(&buf, w->mem, SECRET_TEXT);
    bool ok = ptc_base64_add(&buf, bytes, SECRET, true) && buf.len < SECRET_TEXT;
    if (ok) {
        memcpy(out, buf.data, buf.len);
        out[buf.len] = '\0';
    }
    ptc_buf_deinit(&buf);
    return ok;
}

static bool make_secrets(Login *l)
{
    uint8_t bytes[SECRET], digest[PTC_SHA256_BYTES];
    bool ok = ptc_random_bytes(bytes, sizeof bytes) && encode_secret(l->w, bytes, l->state) &&
              ptc_random_bytes(bytes, sizeof bytes) && encode_secret(l->w, bytes, l->verifier);
    if (ok)
        ptc_sha256(l->verifier, strlen(l->verifier), digest);
    ok = ok && encode_secret(l->w, digest, l->challenge);
    ptc_secret_wipe(bytes, sizeof bytes);
    return ok || ptc_why_say(&l->w->why, PTC_WHY_REFUSED,
                             "the system gives no random bytes, or ptc is out of memory");
}

/* ------------------------------------------------------------------------------- the browser */

static bool make_address(Login *l, PtcBuf *url)
{
    PtcBuf form;
    ptc_buf_init(&form, l->w->mem, PTC_OAUTH_DOC_BYTES);
    ptc_oauth_url_add(&form, "response_type", "code");
    ptc_oauth_url_add(&form, "client_id", l->client.id);
    ptc_oauth_url_add(&form, "redirect_uri", l->listen.redirect);
    ptc_oauth_url_add(&form, "code_challenge", l->challenge);
    ptc_oauth_url_add(&form, "code_challenge_method", "S256");
    ptc_oauth_url_add(&form, "state", l->state);
    ptc_oauth_url_add(&form, "scope", l->scope);
    ptc_oauth_url_add(&form, "resource", l->plan.resource.resource);
    /* OpenID Connect allows offline_access only if the person is asked to consent (Core 1.0, 11). */
    if (ptc_oauth_scopes_have(l->scope, PTC_TEXT("offline_access")))
        ptc_oauth_url_add(&form, "prompt", "consent");
    ptc_oauth_url_with(url, l->plan.server.authorize, &form);
    bool ok = ptc_buf_ok(&form) && ptc_buf_ok(url) && ptc_buf_text(url) != NULL;
    ptc_buf_deinit(&form);
    return ok || ptc_why_no_memory(&l->w->why);
}

static bool await_redirect(Login *l, PtcBuf *address)
{
    PtcOauthWork *w = l->w;
    if (l->way == PTC_OAUTH_PASTE)
        return l->person->paste(l->person->user, address) ||
               ptc_why_say(&w->why, PTC_WHY_REFUSED, "no address was given");
    return ptc_oauth_listen_wait(&l->listen, l->state, w->end_ns, w->cancel, address) ||
           (ptc_cancelled(w->cancel)
                ? ptc_why_say(&w->why, PTC_WHY_CANCELLED, "it was cancelled")
                : ptc_why_say(&w->why, PTC_WHY_LATE, "no answer came from the browser in time"));
}

static bool take_redirect_answer(Login *l, PtcText address, PtcOauthRedirect *redirect)
{
    PtcWhy *why = &l->w->why;
    if (ptc_oauth_redirect_read(address, l->state, &l->plan.server, redirect, why))
        return true;
    return ptc_why_say(why, why->class, "%s%s%s%s%s", why->text, redirect->error[0] ? ": " : "",
                       redirect->error, redirect->description[0] ? ": " : "",
                       redirect->description);
}

/* Asks for tokens with a form, which is freed. */
static bool send_form(Login *l, PtcBuf *form)
{
    ptc_oauth_url_add(form, "resource", l->plan.resource.resource);
    bool ok = ptc_oauth_work_tokens(l->w, l->plan.server.token, form, &l->client, &l->tokens);
    if (form->data)
        ptc_secret_wipe(form->data, form->len);
    ptc_buf_deinit(form);
    return ok;
}

static bool exchange_login_code(Login *l, const char *code)
{
    PtcBuf form;
    ptc_buf_init(&form, l->w->mem, PTC_OAUTH_DOC_BYTES);
    ptc_oauth_url_add(&form, "grant_type", "authorization_code");
    ptc_oauth_url_add(&form, "code", code);
    ptc_oauth_url_add(&form, "redirect_uri", l->listen.redirect);
    ptc_oauth_url_add(&form, "code_verifier", l->verifier);
    return send_form(l, &form);
}

/* From the address that a person opens to tokens. */
static bool ask_browser(Login *l)
{
    PtcBuf url, address;
    PtcOauthRedirect redirect;
    ptc_buf_init(&url, l->w->mem, PTC_OAUTH_DOC_BYTES);
    ptc_buf_init(&address, l->w->mem, PTC_OAUTH_DOC_BYTES);
    bool ok = make_secrets(l) && make_address(l, &url);
    if (ok)
        l->person->show(l->person->user, ptc_buf_text(&url), NULL);
    ok = ok && await_redirect(l, &address) &&
         take_redirect_answer(l, ptc_buf_view(&address), &redirect) &&
         exchange_login_code(l, redirect.code);
    ptc_secret_wipe(&redirect, sizeof redirect);
    ptc_secret_wipe(l->verifier, sizeof l->verifier);
    ptc_buf_deinit(&url);
    ptc_buf_deinit(&address);
    return ok;
}

/* The redirect is part of who we are, so there is a port before there is a client. */
static bool by_browser(Login *l)
{
    const PtcOauthServer *server = &l->plan.server;
    if (!server->authorize || !server->s256)
        return ptc_why_say(&l->w->why, PTC_WHY_REFUSED,
                           "%.200s does not offer sign-ins with PKCE and S256; %s", server->issuer,
                           server->device ? "try --device" : "it cannot be used");
    if (!ptc_oauth_work_allows(l->w, "the address to sign in at", server->authorize))
        return false;
    if (!ptc_oauth_listen_open(&l->listen, l->site->callback_port))
        return ptc_why_say(&l->w->why, PTC_WHY_REFUSED,
                           "port %d of 127.0.0.1 is taken; callback_port of the entry "
                           "chooses it",
                           l->site->callback_port);
    if (l->way == PTC_OAUTH_PASTE) /* a port that nobody listens at, so that the address stays */
        ptc_oauth_listen_close(&l->listen);
    bool ok =
        ptc_oauth_client_choose(l->w, l->site, server, l->listen.redirect, l->scope, &l->client) &&
        ask_browser(l);
    ptc_oauth_listen_close(&l->listen);
    return ok;
}

static bool by_device(Login *l)
{
    const PtcOauthServer *server = &l->plan.server;
    if (!server->device)
        return ptc_why_say(&l->w->why, PTC_WHY_REFUSED,
                           "%.200s has no device grant; try without --device", server->issuer);
    return ptc_oauth_client_choose(l->w, l->site, server, NULL, l->scope, &l->client) &&
           ptc_oauth_device(l->w, server, &l->client, l->plan.resource.resource, l->scope,
                            l->person, &l->tokens);
}

static bool by_client(Login *l)
{
    PtcBuf form;
    if (!l->site->client_id || !(l->site->client_secret || l->site->private_key_file))
        return ptc_why_say(&l->w->why, PTC_WHY_REFUSED,
                           "client credentials are a client_id with a client_secret "
                           "or a private_key_file");
    if (!ptc_oauth_client_choose(l->w, l->site, &l->plan.server, NULL, l->scope, &l->client))
        return false;
    ptc_buf_init(&form, l->w->mem, PTC_OAUTH_DOC_BYTES);
    ptc_oauth_url_add(&form, "grant_type", "client_credentials");
    ptc_oauth_url_add(&form, "scope", l->scope);
    return send_form(l, &form);
}

/* -------------------------------------------------------------------------------------- all */

/* What the entry and the upstream want; where neither says anything, what the resource offers. */
static const char *first_scope(Login *l, const PtcChallenge *challenge,
                               const PtcOauthRecord *before)
{
    PtcArena *arena = &l->w->arena;
    const char *scope = ptc_oauth_scopes_join(arena, l->site->scopes, challenge->scope);
    if (before && before->wanted)
        scope = ptc_oauth_scopes_join(arena, scope,
                                      ptc_oauth_scopes_join(arena, before->scope, before->wanted));
    if (!scope)
        scope = l->plan.resource.scopes;
    if (scope && l->plan.server.offline && l->way != PTC_OAUTH_CLIENT)
        scope = ptc_oauth_scopes_join(arena, scope, "offline_access");
    return scope;
}

/* Tries the token; where it is not enough, the upstream says which scopes are missing. */
static bool try_token(Login *l, bool *again)
{
    int status;
    PtcChallenge challenge;
    bool inside = l->w->inside;
    *again = false;
    if (!ptc_oauth_discover_ask(l->w, l->site->url, l->tokens.access, &status, &challenge))
        return false;
    l->w->inside = inside;
    if (status == 403 && strcmp(challenge.error, "insufficient_scope") == 0 && challenge.scope[0]) {
        l->scope = ptc_oauth_scopes_join(&l->w->arena, l->scope, challenge.scope);
        *again = true;
    }
    if (status == 401)
        return ptc_why_say(&l->w->why, PTC_WHY_REFUSED,
                           "the upstream refuses the token that %.200s gave",
                           l->plan.server.issuer);
    return true;
}

static bool get_tokens(Login *l)
{
    bool again = true;
    bool (*by)(Login *) = l->way == PTC_OAUTH_DEVICE   ? by_device
                          : l->way == PTC_OAUTH_CLIENT ? by_client
                                                       : by_browser;
    for (int i = 0; again && i <= PTC_OAUTH_STEP_UPS; i++)
        if (!by(l) || !try_token(l, &again))
            return false;
    return !again ||
           ptc_why_say(&l->w->why, PTC_WHY_REFUSED, "the upstream keeps asking for more scopes");
}

static bool fill_record(Login *l, PtcOauthRecord *out)
{
    uint8_t account[SECRET];
    char text[SECRET_TEXT];
    if (!ptc_random_bytes(account, sizeof account) || !encode_secret(l->w, account, text))
        return ptc_why_say(&l->w->why, PTC_WHY_REFUSED,
                           "the system gives no random bytes, or ptc is out of memory");
    *out = (PtcOauthRecord){
        .account = l->way == PTC_OAUTH_CLIENT /* it is the same each time */
                       ? l->client.id
                       : ptc_oauth_doc_keep(&l->w->arena, ptc_text_cstr(text)),
        .resource = l->plan.resource.resource,
        .issuer = l->plan.server.issuer,
        .token_endpoint = l->plan.server.token,
        .client = l->client,
        .access = l->tokens.access,
        .refresh = l->tokens.refresh,
        .scope = l->tokens.scope ? l->tokens.scope : l->scope,
        .inside = l->w->inside,
    };
    ptc_oauth_store_time(out, &l->tokens);
    return out->account || ptc_why_no_memory(&l->w->why);
}

bool ptc_oauth_login(PtcOauthWork *w, const PtcOauthSite *site, PtcOauthWay way,
                     const PtcOauthPerson *person, const PtcOauthRecord *before,
                     PtcOauthRecord *out)
{
    int status;
    PtcChallenge challenge;
    Login l = {.w = w, .site = site, .person = person, .way = way, .listen.fd = -1};
    w->insecure_http = site->insecure_http;
    if (!ptc_oauth_discover_ask(w, site->url, NULL, &status, &challenge))
        return false;
    bool wants = status == 401 || status == 403;
    bool found = ptc_oauth_discover(w, site->url, &challenge, &l.plan);
    if (!found || (l.plan.server.assumed && !wants))
        return wants ? false
                     : ptc_why_prefix(
                           &w->why,
                           "the upstream does not ask for a sign-in (status %d), and has no "
                           "authorization server: ",
                           status);
    l.scope = first_scope(&l, &challenge, before);
    if (get_tokens(&l) && fill_record(&l, out))
        return true;
    return l.plan.server.assumed
               ? ptc_why_prefix(&w->why,
                                "%.200s has no metadata of an authorization server; at the default "
                                "addresses: ",
                                l.plan.server.issuer)
               : false;
}

/* SPDX-License-Identifier: MIT
 * Tokens for requests.  What always holds: under the lock the file is read again before anything is asked for, so of
 * two who found the same old token one replaces it and the other finds the new one. */
#include "oauth/oauth_bearer.h"

#include <string.h>

#include "base/text/secret.h"
#include "oauth/oauth_doc.h"
#include "oauth/oauth_scopes.h"
#include "oauth/oauth_url.h"

enum { REFRESH_MS = 20 * 1000, BEARER_LOCK_MS = 30 * 1000 };

/* One piece of work on the file. */
typedef struct {
    const PtcOauthBearer *bearer;
    PtcOauthWork work;
    PtcOauthRecord record;
} Turn;

static void begin_bearer_turn(Turn *t, const PtcOauthBearer *b, PtcClient *http)
{
    t->bearer = b;
    ptc_oauth_work_init(&t->work, b->mem, http, b->cancel, BEARER_LOCK_MS + REFRESH_MS);
}

static bool learn_all(const PtcOauthBearer *b, const PtcOauthRecord *r)
{
    const char *secrets[] = {r->access, r->refresh, r->client.secret};
    for (size_t i = 0; b->learn && i < sizeof secrets / sizeof *secrets; i++)
        if (secrets[i] && !b->learn(b->user, secrets[i]))
            return false;
    return true;
}

static PtcOauthFound load_bearer_record(Turn *t)
{
    PtcOauthFound found = ptc_oauth_store_load(t->bearer->mem, &t->work.arena, t->bearer->place,
                                               &t->record, &t->work.why);
    if (found == PTC_OAUTH_FOUND && !learn_all(t->bearer, &t->record)) {
        ptc_why_no_memory(&t->work.why);
        return PTC_OAUTH_REFUSED;
    }
    return found;
}

/* ----------------------------------------------------------------------------------- refresh */

static bool ask_for_tokens(Turn *t, PtcOauthTokens *out)
{
    PtcOauthRecord *r = &t->record;
    PtcBuf form;
    t->work.inside = r->inside;
    t->work.insecure_http = t->bearer->insecure_http;
    t->work.end_ns = ptc_clock_ns(NULL) + REFRESH_MS * PTC_MS;
    ptc_buf_init(&form, t->bearer->mem, PTC_OAUTH_DOC_BYTES);
    ptc_oauth_url_add(&form, "grant_type", "refresh_token");
    ptc_oauth_url_add(&form, "refresh_token", r->refresh);
    ptc_oauth_url_add(&form, "resource", r->resource);
    bool ok = ptc_oauth_work_tokens(&t->work, r->token_endpoint, &form, &r->client, out);
    if (form.data)
        ptc_secret_wipe(form.data, form.len);
    ptc_buf_deinit(&form);
    return ok;
}

/* With the lock held.  A refresh token that the server does not know any more is not sent again. */
static bool replace_bearer_token(Turn *t)
{
    PtcOauthRecord *r = &t->record;
    PtcOauthTokens tokens;
    char path[PTC_SHELF_PATH];
    if (!r->refresh)
        return ptc_why_say(&t->work.why, PTC_WHY_REFUSED,
                           "the token has expired and cannot be replaced");
    bool ok = ask_for_tokens(t, &tokens);
    if (ok) {
        r->access = tokens.access;
        r->refresh = tokens.refresh ? tokens.refresh : r->refresh;
        r->scope = tokens.scope ? tokens.scope : r->scope;
        ptc_oauth_store_time(r, &tokens);
        ok = learn_all(t->bearer, r) || ptc_why_no_memory(&t->work.why);
    } else if (t->work.why.code == PTC_OAUTH_FAULT_INVALID_GRANT) {
        r->refresh = NULL;
    } else {
        return false;
    }
    if (!ptc_oauth_store_save(t->bearer->mem, t->bearer->place, r) && ok)
        return ptc_why_say(
            &t->work.why, PTC_WHY_REFUSED, "the new token could not be written to %.300s",
            ptc_sheet_place(t->bearer->place->shelf, &t->bearer->place->sheet, path));
    return ok;
}

/* Gets another token than `used`, or, where that is absent, one that is not due. */
static bool refresh(Turn *t, PtcText used)
{
    int64_t end_ns = ptc_clock_ns(NULL) + BEARER_LOCK_MS * PTC_MS;
    PtcSheetLock lock;
    if (!ptc_oauth_store_lock(t->bearer->place, end_ns, t->bearer->cancel, &lock))
        return ptc_why_say(&t->work.why, PTC_WHY_REFUSED,
                           "its token is being replaced by another process");
    PtcOauthFound found = load_bearer_record(t);
    if (found == PTC_OAUTH_MISSING)
        ptc_why_say(&t->work.why, PTC_WHY_REFUSED, "nobody is signed in");
    bool ok = found == PTC_OAUTH_FOUND;
    bool newer = ok && (used.bytes ? !ptc_text_is(used, t->record.access)
                                   : ptc_oauth_store_age(&t->record) == PTC_OAUTH_FRESH);
    ok = newer || (ok && replace_bearer_token(t));
    ptc_oauth_store_unlock(t->bearer->place, &lock);
    return ok;
}

/* ------------------------------------------------------------------------------------- asked */

/* A token that is due but has not ended is good enough while there is no other. */
static PtcOauthHave get_bearer_token(Turn *t, PtcBuf *token)
{
    PtcOauthFound found = load_bearer_record(t);
    if (found != PTC_OAUTH_FOUND)
        return found == PTC_OAUTH_MISSING ? PTC_OAUTH_NO_LOGIN : PTC_OAUTH_FAILED;
    PtcOauthAge age = ptc_oauth_store_age(&t->record);
    bool may = age == PTC_OAUTH_EXPIRED || (age == PTC_OAUTH_DUE && t->record.refresh);
    PtcOauthRecord old = t->record;
    if (may && !refresh(t, (PtcText){NULL, 0})) {
        if (age == PTC_OAUTH_EXPIRED)
            return PTC_OAUTH_FAILED;
        t->record = old;
    }
    bool have = ptc_buf_add_cstr(token, t->record.access) || ptc_why_no_memory(&t->work.why);
    return have ? PTC_OAUTH_HAVE : PTC_OAUTH_FAILED;
}

PtcOauthHave ptc_oauth_bearer_get(const PtcOauthBearer *b, PtcClient *http, PtcBuf *token,
                                  PtcWhy *why)
{
    Turn t;
    begin_bearer_turn(&t, b, http);
    PtcOauthHave have = get_bearer_token(&t, token);
    if (have == PTC_OAUTH_NO_LOGIN)
        ptc_why_say(why, PTC_WHY_REFUSED, "nobody has signed in");
    else if (have == PTC_OAUTH_FAILED)
        ptc_why_copy(why, &t.work.why);
    ptc_oauth_work_deinit(&t.work);
    return have;
}

bool ptc_oauth_bearer_renew(const PtcOauthBearer *b, PtcClient *http, PtcText used, PtcWhy *why)
{
    Turn t;
    begin_bearer_turn(&t, b, http);
    bool ok = refresh(&t, used);
    if (!ok)
        ptc_why_copy(why, &t.work.why);
    ptc_oauth_work_deinit(&t.work);
    return ok;
}

void ptc_oauth_bearer_want(const PtcOauthBearer *b, const char *scopes)
{
    Turn t;
    begin_bearer_turn(&t, b, NULL);
    int64_t end_ns = ptc_clock_ns(NULL) + BEARER_LOCK_MS * PTC_MS;
    PtcSheetLock lock;
    bool locked = ptc_oauth_store_lock(b->place, end_ns, b->cancel, &lock);
    if (locked && load_bearer_record(&t) == PTC_OAUTH_FOUND) {
        const char *wanted = ptc_oauth_scopes_join(&t.work.arena, t.record.wanted, scopes);
        bool news = wanted && (!t.record.wanted || strcmp(wanted, t.record.wanted) != 0);
        t.record.wanted = wanted;
        if (news) /* if this fails, the next sign-in asks for less, and the upstream says so again */
            (void)!ptc_oauth_store_save(b->mem, b->place, &t.record);
    }
    if (locked)
        ptc_oauth_store_unlock(b->place, &lock);
    ptc_oauth_work_deinit(&t.work);
}

void ptc_oauth_bearer_account(const PtcOauthBearer *b, PtcBuf *out)
{
    Turn t;
    begin_bearer_turn(&t, b, NULL);
    if (load_bearer_record(&t) == PTC_OAUTH_FOUND)
        ptc_buf_add_cstr(out, t.record.account);
    ptc_oauth_work_deinit(&t.work);
}

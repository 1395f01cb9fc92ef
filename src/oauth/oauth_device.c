/* SPDX-License-Identifier: MIT
 * The device grant.  What always holds: the server is asked no more often than it says, and no longer than its code
 * lives or the work may last. */
#include "oauth/oauth_device.h"

#include <poll.h>
#include <string.h>

#include "base/text/secret.h"
#include "oauth/oauth_doc.h"
#include "oauth/oauth_url.h"

enum {
    SLOWER_S = 5,
    DEVICE_MOST_S = 60,
    DEVICE_LOOK_MS = 50
}; /* SLOWER_S: what `slow_down` adds (RFC 8628) */

static bool begin_device_login(PtcOauthWork *w, const PtcOauthServer *server,
                               const PtcOauthClient *client, const char *resource,
                               const char *scope, PtcOauthDevice *out)
{
    PtcBuf form;
    PtcOauthReply reply;
    ptc_buf_init(&form, w->mem, PTC_OAUTH_DOC_BYTES);
    if (scope)
        ptc_oauth_url_add(&form, "scope", scope);
    ptc_oauth_url_add(&form, "resource", resource);
    if (client->auth == PTC_OAUTH_AUTH_BASIC)
        ptc_oauth_url_add(&form, "client_id", client->id); /* RFC 8628 wants it in any case */
    bool ok = ptc_oauth_work_post_form(w, server->device, &form, client, &reply);
    if (ok && (reply.status < 200 || reply.status > 299))
        ok = ptc_oauth_work_refused(w, "no device code", &reply);
    else if (ok)
        ok = ptc_oauth_answer_device(w->mem, &w->arena, ptc_buf_view(&reply.body), out, &w->why) ||
             ptc_why_prefix(&w->why, "no device code: ");
    ptc_oauth_work_drop(&reply);
    ptc_buf_deinit(&form);
    return ok;
}

/* False: the work was cancelled, or its time is over. */
static bool sleep_s(PtcOauthWork *w, int64_t seconds)
{
    int64_t until = ptc_clock_ns(NULL) + seconds * PTC_S;
    while (ptc_clock_ns(NULL) < until) {
        if (ptc_cancelled(w->cancel) || ptc_clock_ns(NULL) >= w->end_ns)
            return false;
        poll(NULL, 0, DEVICE_LOOK_MS);
    }
    return true;
}

static bool ask_device_token(PtcOauthWork *w, const PtcOauthServer *server,
                             const PtcOauthClient *client, const char *resource, const char *code,
                             PtcOauthTokens *out)
{
    PtcBuf form;
    ptc_buf_init(&form, w->mem, PTC_OAUTH_DOC_BYTES);
    ptc_oauth_url_add(&form, "grant_type", PTC_OAUTH_DEVICE_GRANT);
    ptc_oauth_url_add(&form, "device_code", code);
    ptc_oauth_url_add(&form, "resource", resource);
    bool ok = ptc_oauth_work_tokens(w, server->token, &form, client, out);
    if (form.data)
        ptc_secret_wipe(form.data, form.len);
    ptc_buf_deinit(&form);
    return ok;
}

static int64_t within(int64_t n, int64_t least, int64_t most)
{
    return n < least ? least : n > most ? most : n;
}

bool ptc_oauth_device(PtcOauthWork *w, const PtcOauthServer *server, const PtcOauthClient *client,
                      const char *resource, const char *scope, const PtcOauthPerson *person,
                      PtcOauthTokens *out)
{
    PtcOauthDevice device;
    if (!begin_device_login(w, server, client, resource, scope, &device) ||
        !ptc_oauth_work_allows(w, "the address to type the code at", device.address) ||
        (device.complete &&
         !ptc_oauth_work_allows(w, "the address to type the code at", device.complete)))
        return false;
    person->show(person->user, device.complete ? device.complete : device.address,
                 device.user_code);
    int64_t wait = within(device.interval, 1, DEVICE_MOST_S);
    int64_t end_ns = ptc_clock_ns(NULL) + device.expires_in * PTC_S;
    while (sleep_s(w, wait) && ptc_clock_ns(NULL) < end_ns) {
        if (ask_device_token(w, server, client, resource, device.device_code, out))
            return true;
        if (w->why.code == PTC_OAUTH_FAULT_SLOW_DOWN)
            wait = within(wait + SLOWER_S, 1, DEVICE_MOST_S);
        else if (w->why.code != PTC_OAUTH_FAULT_PENDING)
            return false;
    }
    return ptc_why_say(&w->why, PTC_WHY_LATE, "nobody typed the code in time");
}

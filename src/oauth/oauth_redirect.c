/* SPDX-License-Identifier: MIT
 * The answer that comes back through a browser, and so could come from anybody: nothing in it is looked at before its
 * state is found to be ours, and nothing is believed before its issuer is the one that was asked (RFC 9207). */
#include "oauth/oauth_redirect.h"

#include <string.h>

#include "base/text/secret.h"
#include "oauth/oauth_url.h"

static bool is_same_secret(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && ptc_secret_same(a, b, strlen(a));
}

static bool check_issuer(PtcText address, const PtcOauthServer *server, PtcWhy *why)
{
    char iss[PTC_URL_BYTES + 1];
    PtcOauthParam found = ptc_oauth_url_param(address, "iss", iss, sizeof iss);
    if (found == PTC_OAUTH_PARAM_MISSING)
        return !server->iss ||
               ptc_why_say(why, PTC_WHY_REFUSED,
                           "the answer does not say which server it comes from (iss)");
    return (found == PTC_OAUTH_PARAM_FOUND && strcmp(iss, server->issuer) == 0) ||
           ptc_why_say(why, PTC_WHY_REFUSED,
                       "the answer comes from a server other than the one that was asked (iss)");
}

bool ptc_oauth_redirect_is_ours(PtcText address, const char *state)
{
    char said[256];
    return ptc_oauth_url_param(address, "state", said, sizeof said) == PTC_OAUTH_PARAM_FOUND &&
           is_same_secret(said, state);
}

bool ptc_oauth_redirect_read(PtcText address, const char *state, const PtcOauthServer *server,
                             PtcOauthRedirect *out, PtcWhy *why)
{
    *out = (PtcOauthRedirect){0};
    if (!ptc_oauth_redirect_is_ours(address, state))
        return ptc_why_say(
            why, PTC_WHY_REFUSED,
            "the answer does not belong to this sign-in (its state differs); begin again");
    if (!check_issuer(address, server, why))
        return false;
    (void)ptc_oauth_url_param(address, "error", out->error, sizeof out->error);
    (void)ptc_oauth_url_param(address, "error_description", out->description,
                              sizeof out->description);
    if (out->error[0])
        return ptc_why_say(why, PTC_WHY_REFUSED, "the authorization server refused");
    if (ptc_oauth_url_param(address, "code", out->code, sizeof out->code) !=
            PTC_OAUTH_PARAM_FOUND ||
        !out->code[0])
        return ptc_why_say(why, PTC_WHY_INVALID, "the answer has no code");
    return true;
}

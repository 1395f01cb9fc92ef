/* SPDX-License-Identifier: MIT
 * The answer that comes back through a browser, and so could come from anybody: nothing in it is looked at before its
 * state is found to be ours, and nothing is believed before its issuer is the one that was asked (RFC 9207). */
#include "oauth/oauth_redirect.h"

#include <string.h>

#include "base/text/secret.h"
#include "oauth/oauth_url.h"

static bool is_same(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && ptc_secret_same(a, b, strlen(a));
}

static const char *check_issuer(PtcText address, const PtcOauthServer *server)
{
    char iss[PTC_URL_BYTES + 1];
    PtcOauthParam found = ptc_oauth_url_param(address, "iss", iss, sizeof iss);
    if (found == PTC_OAUTH_PARAM_MISSING)
        return server->iss ? "the answer does not say which server it comes from (iss)" : NULL;
    return found == PTC_OAUTH_PARAM_FOUND && strcmp(iss, server->issuer) == 0
               ? NULL
               : "the answer comes from a server other than the one that was asked (iss)";
}

bool ptc_oauth_redirect_is_ours(PtcText address, const char *state)
{
    char said[256];
    return ptc_oauth_url_param(address, "state", said, sizeof said) == PTC_OAUTH_PARAM_FOUND &&
           is_same(said, state);
}

const char *ptc_oauth_redirect_read(PtcText address, const char *state,
                                    const PtcOauthServer *server, PtcOauthRedirect *out)
{
    *out = (PtcOauthRedirect){0};
    if (!ptc_oauth_redirect_is_ours(address, state))
        return "the answer does not belong to this sign-in (its state differs); begin again";
    const char *why = check_issuer(address, server);
    if (why)
        return why;
    (void)ptc_oauth_url_param(address, "error", out->error, sizeof out->error);
    (void)ptc_oauth_url_param(address, "error_description", out->description,
                              sizeof out->description);
    if (out->error[0])
        return "the authorization server refused";
    if (ptc_oauth_url_param(address, "code", out->code, sizeof out->code) !=
            PTC_OAUTH_PARAM_FOUND ||
        !out->code[0])
        return "the answer has no code";
    return NULL;
}

/* SPDX-License-Identifier: MIT
 * Answers of authorization servers.  What always holds: a text that is handed out is plain (oauth_doc.h), and a token
 * is one word, so that it is one value of a header. */
#include "oauth/oauth_answer.h"

#include <string.h>
#include <strings.h>

#include "oauth/oauth_doc.h"

static bool say_no_object(PtcWhy *why)
{
    return ptc_why_say(why, PTC_WHY_INVALID, "its answer is not a JSON object");
}

/* ------------------------------------------------------------------------------------ tokens */

/* A token goes into a header as it is; with a blank in it, the upstream would read only its first word. */
static bool is_bearer_token(const char *text)
{
    return text && !strchr(text, ' ');
}

static bool read_token_answer(PtcOauthDoc *doc, PtcOauthTokens *out, PtcWhy *why)
{
    const char *type = ptc_oauth_doc_text(doc, "token_type");
    out->access = ptc_oauth_doc_text(doc, "access_token");
    out->refresh = ptc_oauth_doc_text(doc, "refresh_token");
    out->scope = ptc_oauth_doc_text(doc, "scope");
    out->expires_in = ptc_oauth_doc_number(doc, "expires_in", -1);
    if (!is_bearer_token(out->access))
        return ptc_why_say(why, PTC_WHY_INVALID, "its answer has no access_token");
    return !type || strcasecmp(type, "bearer") == 0 ||
           ptc_why_say(why, PTC_WHY_INVALID, "its token has a type other than Bearer");
}

bool ptc_oauth_answer_tokens(PtcMem *mem, PtcArena *arena, PtcText json, PtcOauthTokens *out,
                             PtcWhy *why)
{
    PtcOauthDoc doc;
    *out = (PtcOauthTokens){.expires_in = -1};
    bool ok = ptc_oauth_doc_read(&doc, mem, arena, json) ? read_token_answer(&doc, out, why)
                                                         : say_no_object(why);
    return ptc_oauth_doc_end(&doc, ok, why);
}

/* ------------------------------------------------------------------------------------ device */

static bool read_device(PtcOauthDoc *doc, PtcOauthDevice *out, PtcWhy *why)
{
    out->device_code = ptc_oauth_doc_text(doc, "device_code");
    out->user_code = ptc_oauth_doc_text(doc, "user_code");
    out->address = ptc_oauth_doc_address(doc, "verification_uri");
    out->complete = ptc_oauth_doc_address(doc, "verification_uri_complete");
    out->expires_in = ptc_oauth_doc_number(doc, "expires_in", 600);
    out->interval = ptc_oauth_doc_number(doc, "interval", 5);
    return (out->device_code && out->user_code && out->address) ||
           ptc_why_say(why, PTC_WHY_INVALID,
                       "its answer has no device_code, user_code or verification_uri");
}

bool ptc_oauth_answer_device(PtcMem *mem, PtcArena *arena, PtcText json, PtcOauthDevice *out,
                             PtcWhy *why)
{
    PtcOauthDoc doc;
    *out = (PtcOauthDevice){0};
    bool ok = ptc_oauth_doc_read(&doc, mem, arena, json) ? read_device(&doc, out, why)
                                                         : say_no_object(why);
    return ptc_oauth_doc_end(&doc, ok, why);
}

/* ------------------------------------------------------------------------------------ client */

static const char *const auth_names[] = {"none", "client_secret_basic", "client_secret_post",
                                         "private_key_jwt"};

const char *ptc_oauth_auth_name(PtcOauthAuth auth)
{
    return auth_names[auth];
}

PtcOauthAuth ptc_oauth_auth_of(const char *name, PtcOauthAuth otherwise)
{
    for (size_t i = 0; name && i < sizeof auth_names / sizeof *auth_names; i++)
        if (strcmp(name, auth_names[i]) == 0)
            return (PtcOauthAuth)i;
    return otherwise;
}

static bool read_client(PtcOauthDoc *doc, PtcOauthAuth asked, PtcOauthClient *out, PtcWhy *why)
{
    out->id = ptc_oauth_doc_text(doc, "client_id");
    out->secret = ptc_oauth_doc_text(doc, "client_secret");
    out->auth = ptc_oauth_auth_of(ptc_oauth_doc_text(doc, "token_endpoint_auth_method"), asked);
    if (!out->secret)
        out->auth = PTC_OAUTH_AUTH_NONE;
    return out->id || ptc_why_say(why, PTC_WHY_INVALID, "its answer has no client_id");
}

bool ptc_oauth_answer_client(PtcMem *mem, PtcArena *arena, PtcText json, PtcOauthAuth asked,
                             PtcOauthClient *out, PtcWhy *why)
{
    PtcOauthDoc doc;
    *out = (PtcOauthClient){0};
    bool ok = ptc_oauth_doc_read(&doc, mem, arena, json) ? read_client(&doc, asked, out, why)
                                                         : say_no_object(why);
    return ptc_oauth_doc_end(&doc, ok, why);
}

/* ------------------------------------------------------------------------------------- error */

PtcOauthFault ptc_oauth_fault_of(const char *error)
{
    static const char *const names[] = {"", "invalid_grant", "authorization_pending", "slow_down"};
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        if (strcmp(error, names[i]) == 0)
            return (PtcOauthFault)i;
    return PTC_OAUTH_FAULT_OTHER;
}

void ptc_oauth_answer_error(PtcMem *mem, PtcArena *arena, PtcText json, PtcOauthError *out)
{
    PtcOauthDoc doc;
    *out = (PtcOauthError){0};
    if (ptc_oauth_doc_read(&doc, mem, arena, json)) {
        out->error = ptc_oauth_doc_text(&doc, "error");
        out->description = ptc_oauth_doc_text(&doc, "error_description");
    }
    ptc_oauth_doc_deinit(&doc);
}

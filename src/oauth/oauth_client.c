/* SPDX-License-Identifier: MIT
 * Clients.  What always holds: an id is used with the issuer it was made or configured for, since the whole record of a
 * sign-in belongs to one issuer. */
#include "oauth/oauth_client.h"

#include "json/emit.h"
#include "oauth/oauth_doc.h"
#include "oauth/oauth_url.h"

static void emit_list(PtcBuf *out, const char *name, const char *a, const char *b)
{
    ptc_emit_key(out, name);
    ptc_emit_array(out);
    if (a)
        ptc_emit_cstr(out, a);
    if (b)
        ptc_emit_cstr(out, b);
    ptc_emit_array_end(out);
}

static void write_registration(PtcBuf *out, const char *redirect, const char *scope,
                               PtcOauthAuth auth)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "client_name", "ptc");
    ptc_emit_field_cstr(out, "application_type", "native");
    emit_list(out, "redirect_uris", redirect, NULL);
    emit_list(out, "grant_types", redirect ? "authorization_code" : PTC_OAUTH_DEVICE_GRANT,
              "refresh_token");
    emit_list(out, "response_types", redirect ? "code" : NULL, NULL);
    ptc_emit_field_cstr(out, "token_endpoint_auth_method", ptc_oauth_auth_name(auth));
    if (scope)
        ptc_emit_field_cstr(out, "scope", scope);
    ptc_emit_object_end(out);
}

static bool register_client(PtcOauthWork *w, const PtcOauthServer *server, const char *redirect,
                            const char *scope, PtcOauthClient *out)
{
    PtcBuf json;
    PtcOauthReply reply;
    PtcOauthAuth auth = server->none || (!server->basic && !server->post) ? PTC_OAUTH_AUTH_NONE
                        : server->basic                                   ? PTC_OAUTH_AUTH_BASIC
                                                                          : PTC_OAUTH_AUTH_POST;
    ptc_buf_init(&json, w->mem, PTC_OAUTH_DOC_BYTES);
    write_registration(&json, redirect, scope, auth);
    bool ok = ptc_oauth_work_post_json(w, server->registration, &json, &reply);
    if (ok && (reply.status < 200 || reply.status > 299))
        ok = ptc_oauth_work_refused(w, "ptc could not be registered as a client", &reply);
    else if (ok)
        ok = ptc_oauth_answer_client(w->mem, &w->arena, ptc_buf_view(&reply.body), auth, out,
                                     &w->why) ||
             ptc_why_prefix(&w->why, "ptc could not be registered as a client: ");
    ptc_oauth_work_drop(&reply);
    ptc_buf_deinit(&json);
    return ok;
}

bool ptc_oauth_client_choose(PtcOauthWork *w, const PtcOauthSite *site,
                             const PtcOauthServer *server, const char *redirect, const char *scope,
                             PtcOauthClient *out)
{
    *out = (PtcOauthClient){0};
    if (site->client_id) {
        out->id = site->client_id;
        out->secret = site->client_secret;
        out->key_file = site->private_key_file;
        out->audience = server->issuer;
        if (out->key_file)
            out->auth = PTC_OAUTH_AUTH_KEY;
        else if (out->secret)
            out->auth = server->post && !server->basic ? PTC_OAUTH_AUTH_POST : PTC_OAUTH_AUTH_BASIC;
        return true;
    }
    if (site->client_id_url && server->documents) {
        out->id = site->client_id_url;
        return true;
    }
    if (server->registration)
        return register_client(w, server, redirect, scope, out);
    return ptc_why_say(&w->why, PTC_WHY_REFUSED,
                       "%.200s does not register clients by itself: register ptc there and "
                       "put its id into the entry, as \"oauth\": {\"client_id\": \"...\"}",
                       server->issuer);
}

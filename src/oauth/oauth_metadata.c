/* SPDX-License-Identifier: MIT
 * Metadata documents.  What always holds: an address in them that ptc_url_parse does not take is not there. */
#include "oauth/oauth_metadata.h"

#include <string.h>

#include "oauth/oauth_doc.h"
#include "oauth/oauth_url.h"

/* Always false. */
static bool say_unusable(PtcWhy *why, const char *text)
{
    return ptc_why_say(why, PTC_WHY_INVALID, "%s", text);
}

/* ---------------------------------------------------------------------------------- resource */

static bool read_resource_metadata(PtcOauthDoc *doc, const char *url, PtcOauthResource *out,
                                   PtcWhy *why)
{
    out->resource = ptc_oauth_doc_text(doc, "resource");
    out->scopes = ptc_oauth_doc_words(doc, "scopes_supported");
    if (!out->resource)
        return say_unusable(why, "it does not say which resource it is about");
    if (!ptc_oauth_url_covers(out->resource, url))
        return say_unusable(why, "it is about a resource other than the address of the upstream");
    for (size_t i = 0; i < PTC_OAUTH_SERVERS; i++) {
        const char *issuer = ptc_oauth_doc_item(doc, "authorization_servers", i);
        if (issuer)
            out->issuers[out->issuer_count++] = issuer;
    }
    return out->issuer_count || say_unusable(why, "it names no authorization server");
}

bool ptc_oauth_metadata_resource(PtcMem *mem, PtcArena *arena, PtcText json, const char *url,
                                 PtcOauthResource *out, PtcWhy *why)
{
    PtcOauthDoc doc;
    *out = (PtcOauthResource){0};
    bool ok = ptc_oauth_doc_read(&doc, mem, arena, json)
                  ? read_resource_metadata(&doc, url, out, why)
                  : say_unusable(why, "it is not a JSON object");
    return ptc_oauth_doc_end(&doc, ok, why);
}

/* ------------------------------------------------------------------------------------ server */

static bool read_server(PtcOauthDoc *doc, const char *issuer, PtcOauthServer *out, PtcWhy *why)
{
    static const char methods[] = "token_endpoint_auth_methods_supported";
    out->issuer = ptc_oauth_doc_text(doc, "issuer");
    if (!out->issuer || strcmp(out->issuer, issuer) != 0)
        return say_unusable(why, "its issuer is not the one that it was asked for");
    out->authorize = ptc_oauth_doc_address(doc, "authorization_endpoint");
    out->token = ptc_oauth_doc_address(doc, "token_endpoint");
    out->registration = ptc_oauth_doc_address(doc, "registration_endpoint");
    out->device = ptc_oauth_doc_address(doc, "device_authorization_endpoint");
    out->s256 = ptc_oauth_doc_lists(doc, "code_challenge_methods_supported", "S256");
    out->iss = ptc_oauth_doc_is_true(doc, "authorization_response_iss_parameter_supported");
    out->documents = ptc_oauth_doc_is_true(doc, "client_id_metadata_document_supported");
    out->offline = ptc_oauth_doc_lists(doc, "scopes_supported", "offline_access");
    out->none = ptc_oauth_doc_lists(doc, methods, "none");
    out->basic = ptc_oauth_doc_lists(doc, methods, "client_secret_basic");
    out->post = ptc_oauth_doc_lists(doc, methods, "client_secret_post");
    return out->token || say_unusable(why, "it has no token_endpoint");
}

bool ptc_oauth_metadata_server(PtcMem *mem, PtcArena *arena, PtcText json, const char *issuer,
                               PtcOauthServer *out, PtcWhy *why)
{
    PtcOauthDoc doc;
    *out = (PtcOauthServer){0};
    bool ok = ptc_oauth_doc_read(&doc, mem, arena, json)
                  ? read_server(&doc, issuer, out, why)
                  : say_unusable(why, "it is not a JSON object");
    return ptc_oauth_doc_end(&doc, ok, why);
}

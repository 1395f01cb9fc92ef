/* SPDX-License-Identifier: MIT
 * endpoint.h - the other end of an instance, whatever it is: an MCP server behind a link, or an OpenAPI service.  What
 * starts, lists, calls and ends upstreams knows only this; the functions mean what those of mcp/client/link.h do. */
#ifndef PTC_UPSTREAM_CONNECT_ENDPOINT_H
#define PTC_UPSTREAM_CONNECT_ENDPOINT_H

#include "upstream/openapi/service.h"

typedef struct PtcEndpoint PtcEndpoint;
struct PtcUpCall;

/* NULL: out of memory. */
PTC_MUST_USE PtcEndpoint *ptc_endpoint_link(PtcMem *mem, PtcLoop *loop,
                                            const PtcLinkConfig *config);
PTC_MUST_USE PtcEndpoint *ptc_endpoint_service(PtcMem *mem, const PtcServiceConfig *config);

PTC_MUST_USE bool ptc_endpoint_connect(PtcEndpoint *endpoint);
/* Of a link; a service has no connection. */
void ptc_endpoint_disconnect(PtcEndpoint *endpoint, PtcText why);
/* All tools: listed() gets them as ptc_listing_new takes them. */
PTC_MUST_USE bool ptc_endpoint_list(PtcEndpoint *endpoint, PtcLinkList *list);
/* Sends what the call has ready; its done() comes. */
PTC_MUST_USE bool ptc_endpoint_call(PtcEndpoint *endpoint, struct PtcUpCall *call);
void ptc_endpoint_cancel(PtcEndpoint *endpoint, struct PtcUpCall *call);
/* Questions of a server behind a link (link.h); a service asks none. */
bool ptc_endpoint_answer(PtcEndpoint *endpoint, PtcText id, PtcText result);
bool ptc_endpoint_tell(PtcEndpoint *endpoint, const char *method);
void ptc_endpoint_extend(PtcEndpoint *endpoint, struct PtcUpCall *call, int64_t end_ns,
                         int64_t most_ns);
void ptc_endpoint_offer(PtcEndpoint *endpoint, PtcText capabilities);
/* Of a link that is down: the challenge that it was refused with; absent: it was something else. */
PtcText ptc_endpoint_auth(PtcEndpoint *endpoint);
/* Several requests in a row had no answer: the next connect must see one. */
void ptc_endpoint_doubt(PtcEndpoint *endpoint);
void ptc_endpoint_free(PtcEndpoint *endpoint); /* NULL is fine */

#endif

/* SPDX-License-Identifier: MIT
 * The two kinds of endpoints.  What always holds: exactly one of the two pointers is set. */
#include "upstream/connect/endpoint.h"

#include "upstream/connect/manager_int.h"

struct PtcEndpoint {
    PtcMem *mem;
    PtcLink *link;
    PtcService *service;
};

/* Made before what it holds: freeing a link waits for the loop, on whose thread this may be. */
static PtcEndpoint *new_endpoint(PtcMem *mem)
{
    PtcEndpoint *endpoint = ptc_mem_alloc(mem, sizeof *endpoint);
    if (endpoint)
        *endpoint = (PtcEndpoint){.mem = mem};
    return endpoint;
}

static PtcEndpoint *endpoint_or_null(PtcEndpoint *endpoint)
{
    if (endpoint->link || endpoint->service)
        return endpoint;
    ptc_mem_free(endpoint->mem, endpoint, sizeof *endpoint);
    return NULL;
}

PtcEndpoint *ptc_endpoint_link(PtcMem *mem, PtcLoop *loop, const PtcLinkConfig *config)
{
    PtcEndpoint *endpoint = new_endpoint(mem);
    if (!endpoint)
        return NULL;
    endpoint->link = ptc_link_new(mem, loop, config);
    return endpoint_or_null(endpoint);
}

PtcEndpoint *ptc_endpoint_service(PtcMem *mem, const PtcServiceConfig *config)
{
    PtcEndpoint *endpoint = new_endpoint(mem);
    if (!endpoint)
        return NULL;
    endpoint->service = ptc_service_new(mem, config);
    return endpoint_or_null(endpoint);
}

bool ptc_endpoint_connect(PtcEndpoint *endpoint)
{
    return endpoint->link ? ptc_link_connect(endpoint->link)
                          : ptc_service_connect(endpoint->service);
}

void ptc_endpoint_disconnect(PtcEndpoint *endpoint, PtcText why)
{
    if (endpoint->link)
        ptc_link_disconnect(endpoint->link, why);
}

bool ptc_endpoint_list(PtcEndpoint *endpoint, PtcLinkList *list)
{
    return endpoint->link ? ptc_link_list(endpoint->link, list, "tools/list", "tools")
                          : ptc_service_list(endpoint->service, list);
}

static PtcText view_or_none(const PtcBuf *buf)
{
    return buf->len ? ptc_buf_view(buf) : (PtcText){NULL, 0};
}

bool ptc_endpoint_call(PtcEndpoint *endpoint, PtcUpCall *call)
{
    if (endpoint->link)
        return ptc_link_ask(endpoint->link, &call->mcp, call->method, ptc_buf_view(&call->params),
                            view_or_none(&call->headers));
    PtcServiceRequest request = {.method = call->method,
                                 .url = ptc_buf_view(&call->web.url),
                                 .headers = ptc_buf_view(&call->headers),
                                 .auth = ptc_buf_view(&call->web.auth),
                                 .body = call->web.has_body ? ptc_buf_view(&call->params)
                                                            : (PtcText){NULL, 0},
                                 .outside = call->web.outside,
                                 .head = &call->web.head};
    return ptc_service_ask(endpoint->service, &call->mcp, &request);
}

void ptc_endpoint_cancel(PtcEndpoint *endpoint, PtcUpCall *call)
{
    if (endpoint->link)
        ptc_link_cancel(endpoint->link, &call->mcp);
    else
        ptc_service_cancel(endpoint->service, &call->mcp);
}

bool ptc_endpoint_answer(PtcEndpoint *endpoint, PtcText id, PtcText result)
{
    return endpoint->link && ptc_link_answer(endpoint->link, id, result);
}

bool ptc_endpoint_tell(PtcEndpoint *endpoint, const char *method)
{
    return endpoint->link && ptc_link_tell(endpoint->link, method);
}

void ptc_endpoint_extend(PtcEndpoint *endpoint, PtcUpCall *call, int64_t end_ns, int64_t most_ns)
{
    if (endpoint->link)
        ptc_link_extend(endpoint->link, &call->mcp, end_ns, most_ns);
}

void ptc_endpoint_offer(PtcEndpoint *endpoint, PtcText capabilities)
{
    if (endpoint->link)
        ptc_link_offer(endpoint->link, capabilities);
}

PtcText ptc_endpoint_auth(PtcEndpoint *endpoint)
{
    return endpoint->link ? ptc_link_auth(endpoint->link) : (PtcText){NULL, 0};
}

void ptc_endpoint_doubt(PtcEndpoint *endpoint)
{
    if (endpoint->service)
        ptc_service_doubt(endpoint->service);
}

void ptc_endpoint_free(PtcEndpoint *endpoint)
{
    if (!endpoint)
        return;
    ptc_link_free(endpoint->link);
    ptc_service_free(endpoint->service);
    ptc_mem_free(endpoint->mem, endpoint, sizeof *endpoint);
}

/* SPDX-License-Identifier: MIT
 * http_endpoint.h - what the parts of an exchange share. */
#ifndef PTC_MCP_HTTP_HTTP_ENDPOINT_H
#define PTC_MCP_HTTP_HTTP_ENDPOINT_H

#include "mcp/http/http_exchange.h"

/* Answers POST, GET and DELETE on the MCP endpoint: fills ex->out. */
void ptc_http_endpoint(PtcHttpExchange *ex);

/* Fills ex->out with an error; message is a constant text without quotes. */
void ptc_http_refuse(PtcHttpExchange *ex, int status, PtcHttpFault fault, int code,
                     const char *message);

#endif

/* SPDX-License-Identifier: MIT */
#include "mcp/client/link_int.h"
bool ptc_http_wire_new(PtcLink *l)
{
    (void)l;
    return false;
}
void ptc_http_wire_free(PtcLink *l)
{
    (void)l;
}
const Wire ptc_http_wire = {0};

/* SPDX-License-Identifier: MIT
 * Who may call a tool.  What always holds: an exposure that is unset never leaves this file; it is resolved by the
 * mode. */
#include "tool/expose.h"

#include <string.h>

static const char *const names[] = {NULL, "native", "ptc_lisp", "both"};

bool ptc_expose_parse(const char *text, size_t len, PtcExpose *out)
{
    *out = PTC_EXPOSE_UNSET;
    for (int i = PTC_EXPOSE_NATIVE; i <= PTC_EXPOSE_BOTH; i++)
        if (strlen(names[i]) == len && memcmp(names[i], text, len) == 0)
            *out = (PtcExpose)i;
    return *out != PTC_EXPOSE_UNSET;
}

const char *ptc_expose_name(PtcExpose expose)
{
    return names[expose];
}

PtcExpose ptc_effective_expose(PtcExpose expose, PtcOutput output, PtcTransport transport)
{
    (void)transport; /* text mode offers tools to the model whether or not there is lisp_eval */
    if (expose != PTC_EXPOSE_UNSET)
        return expose;
    return output == PTC_OUTPUT_TEXT ? PTC_EXPOSE_NATIVE : PTC_EXPOSE_PTC_LISP;
}

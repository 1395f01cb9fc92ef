/* SPDX-License-Identifier: MIT
 * Named sessions of an engine.  What always holds: there is a limit on their number, and all are dropped with the
 * engine. */
#include "engine/session_named.h"

#include "engine/engine.h"

enum { MAX_NAMED = 1024 };

typedef struct PtcNamedSession {
    struct PtcNamedSession *next;
    PtcSession *session;
    size_t len;
    char name[];
} PtcNamedSession;

static PtcNamedSession *add_named_session(Ptc *ptc, PtcText name)
{
    PtcNamedSession *n = ptc_mem_alloc(&ptc->mem, sizeof *n + name.len);
    if (!n)
        return NULL;
    if (!(n->session = ptc_session_open(ptc))) {
        ptc_mem_free(&ptc->mem, n, sizeof *n + name.len);
        return NULL;
    }
    n->len = name.len;
    if (name.len)
        memcpy(n->name, name.bytes, name.len);
    n->next = ptc->named;
    ptc->named = n;
    ptc->named_count++;
    return n;
}

PtcSession *ptc_session_named(Ptc *ptc, PtcText name)
{
    for (PtcNamedSession *n = ptc->named; n; n = n->next)
        if (ptc_text_same((PtcText){n->name, n->len}, name))
            return n->session;
    PtcNamedSession *n = ptc->named_count < MAX_NAMED ? add_named_session(ptc, name) : NULL;
    return n ? n->session : NULL;
}

void ptc_session_named_drop(Ptc *ptc)
{
    while (ptc->named) {
        PtcNamedSession *n = ptc->named;
        ptc->named = n->next;
        ptc_session_drop(n->session);
        ptc_mem_free(&ptc->mem, n, sizeof *n + n->len);
    }
    ptc->named_count = 0;
}

/* SPDX-License-Identifier: MIT
 * What programs that failed have done outside: the list grows until a program succeeds. */
#include "agent/step/step_int.h"

static PtcDidCall keep_did_call(PtcStep *s, const PtcDidCall *call)
{
    return (PtcDidCall){.tool = ptc_messages_keep(&s->arena, call->tool),
                        .args = ptc_messages_keep(&s->arena, call->args),
                        .result = ptc_messages_keep(&s->arena, call->result),
                        .unknown = call->unknown};
}

/* The list is copied, since the old state may have to be restored. */
void ptc_step_add_did(PtcStep *s, const PtcDidCalls *more)
{
    PtcDidCalls *did = &s->now.did;
    size_t room = PTC_DID_CALLS - did->count, n = more->count < room ? more->count : room;
    did->cut += more->cut + (more->count - n);
    PtcDidCall *all = n ? ptc_arena_alloc(&s->arena, (did->count + n) * sizeof *all) : NULL;
    if (!all)
        return;
    if (did->count)
        memcpy(all, did->items, did->count * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[did->count++] = keep_did_call(s, &more->items[i]);
    did->items = all;
}

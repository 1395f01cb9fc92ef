/* SPDX-License-Identifier: MIT
 * Effects in words: the same wherever they are told. */
#include "exec/effects_line.h"

#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

const PtcEffectsList ptc_effects_lists[PTC_EFFECTS_LISTS] = {
    {"ran", "took effect"},
    {"failed", "failed"},
    {"unknown", "sent, but what it did is not known"},
    {"denied", "denied"}};

/* notes/write 3 times, notes/mail */
static void add_effect_names(PtcBuf *text, PtcHeap *heap, PtcValue list)
{
    for (size_t i = 0; i < ptc_seq_count(list); i++) {
        PtcValue item = ptc_seq_nth(list, i);
        PtcText name = ptc_str_text(ptc_map_field(heap, item, "name"));
        PtcValue times = ptc_map_field(heap, item, "times");
        ptc_buf_addf(text, "%s%.*s", i ? ", " : "", PTC_ARG(name));
        if (times != PTC_NONE && ptc_is_int(times) && ptc_to_int(times) > 1)
            ptc_buf_addf(text, " %lld times", (long long)ptc_to_int(times));
    }
}

void ptc_effects_line_add(PtcBuf *text, PtcHeap *heap, PtcValue effects, PtcText run_again)
{
    bool any = false;
    for (size_t i = 0; i < PTC_EFFECTS_LISTS; i++) {
        PtcValue list = ptc_map_field(heap, effects, ptc_effects_lists[i].key);
        if (list == PTC_NONE || !ptc_is_sequential(list))
            continue;
        ptc_buf_addf(text, "%s%s: ", any ? "; " : "", ptc_effects_lists[i].word);
        add_effect_names(text, heap, list);
        any = true;
    }
    ptc_buf_addf(text, "%s; run again: %.*s", any ? "" : "none", PTC_ARG(run_again));
    PtcValue unkept = ptc_map_field(heap, effects, "not_kept");
    PtcText why = unkept == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(unkept);
    if (why.bytes)
        ptc_buf_addf(text, "; the approval could not be kept for later: %.*s", PTC_ARG(why));
}

/* SPDX-License-Identifier: MIT
 * The tree of the classes of exceptions. */
#include "lisp/vm/thrown.h"

#include <stdint.h>

static const struct {
    const char *full;
    uint8_t simple; /* where that begins */
    uint8_t parent;
} classes[PTC_C_COUNT] = {[PTC_C_NONE] = {"", 0, PTC_C_NONE},
#define THROWN_ROW(name, package, simple, parent, kind) \
    [PTC_C_##name] = {package "." simple, sizeof package, PTC_C_##parent},
                          PTC_THROWN_MADE(THROWN_ROW) PTC_THROWN_MET(THROWN_ROW)
#undef THROWN_ROW
};

const char *ptc_thrown_full(PtcThrown thrown)
{
    return classes[thrown].full;
}

const char *ptc_thrown_simple(PtcThrown thrown)
{
    return classes[thrown].full + classes[thrown].simple;
}

PtcThrown ptc_thrown_find(PtcText name)
{
    int i = PTC_C_NONE + 1;
    while (i < PTC_C_COUNT && !ptc_text_is(name, classes[i].full) &&
           !ptc_text_is(name, ptc_thrown_simple((PtcThrown)i)))
        i++;
    return i < PTC_C_COUNT ? (PtcThrown)i : PTC_C_NONE;
}

bool ptc_thrown_is(PtcThrown thrown, PtcThrown of)
{
    while (thrown != of && thrown != PTC_C_NONE)
        thrown = (PtcThrown)classes[thrown].parent;
    return thrown == of;
}

int ptc_thrown_depth(PtcThrown thrown)
{
    int depth = 0;
    while ((thrown = (PtcThrown)classes[thrown].parent) != PTC_C_NONE)
        depth++;
    return depth;
}

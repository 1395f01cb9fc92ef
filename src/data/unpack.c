/* SPDX-License-Identifier: MIT
 * Packed bytes: which kind they are, and one packed file behind the other. */
#include "data/unpack.h"

#include <string.h>

#include "data/unpack_int.h"

struct PtcUnpack {
    PtcMem *mem;
    const PtcPacking *packing;
    bool between, full;
    max_align_t state[];
};

static const PtcPacking *const packings[] = {&ptc_packing_gzip, &ptc_packing_zstd, &ptc_packing_xz};

static bool begins_packed(const PtcPacking *p, const char *bytes, size_t len)
{
    return len >= p->begin_len && memcmp(bytes, p->begin, p->begin_len) == 0;
}

static const PtcPacking *find_packing(const char *bytes, size_t len)
{
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
        if (begins_packed(packings[i], bytes, len))
            return packings[i];
    return NULL;
}

bool ptc_unpack_is_packed(const char *bytes, size_t len)
{
    return find_packing(bytes, len) != NULL;
}

bool ptc_unpack_may_begin(const char *bytes, size_t len)
{
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
        if (len > 0 && len < packings[i]->begin_len && memcmp(bytes, packings[i]->begin, len) == 0)
            return true;
    return false;
}

bool ptc_unpack_no_library(PtcWhy *why, const char *packing, const char *library)
{
    return ptc_why_say(
        why, PTC_WHY_UNAVAILABLE,
        "it is packed with %s, and its library (%s) is not installed: unpack it first", packing,
        library);
}

PtcUnpack *ptc_unpack_new(PtcMem *mem, const char *bytes, size_t len, PtcWhy *why)
{
    const PtcPacking *packing = find_packing(bytes, len);
    size_t size = sizeof(PtcUnpack) + packing->state_size;
    PtcUnpack *u = ptc_mem_alloc(mem, size);
    if (!u) {
        ptc_why_no_memory(why);
        return NULL;
    }
    memset(u, 0, size);
    u->mem = mem;
    u->packing = packing;
    if (packing->start(u->state, why))
        return u;
    ptc_mem_free(mem, u, size);
    return NULL;
}

void ptc_unpack_free(PtcUnpack *u)
{
    if (!u)
        return;
    u->packing->stop(u->state);
    ptc_mem_free(u->mem, u, sizeof *u + u->packing->state_size);
}

/* What follows a packed file is another one. */
static bool begin_next_packed(PtcUnpack *u, const PtcUnpackStep *step, PtcWhy *why)
{
    if (step->in[0] != u->packing->begin[0])
        return ptc_why_say(why, PTC_WHY_INVALID, "it has other bytes after its packed ones");
    u->between = false;
    return u->packing->again(u->state) ||
           ptc_why_say(why, PTC_WHY_INVALID, "it cannot be unpacked");
}

ptrdiff_t ptc_unpack_some(PtcUnpack *u, PtcUnpackStep *step, PtcWhy *why)
{
    size_t room = step->room;
    if (u->between && step->in_len > 0 && !begin_next_packed(u, step, why))
        return -1;
    PtcUnpackStatus status = u->packing->some(u->state, step);
    u->between = status == PTC_UNPACK_END;
    u->full = step->room == 0 && !u->between;
    if (status == PTC_UNPACK_NO_MEMORY)
        ptc_why_say(why, PTC_WHY_REFUSED,
                    "it is packed with %s in a way that takes more than %d MiB", u->packing->name,
                    PTC_UNPACK_WINDOW / PTC_MB);
    else if (status == PTC_UNPACK_DAMAGED)
        ptc_why_say(why, PTC_WHY_INVALID, "it begins as %s, but its packed bytes are damaged",
                    u->packing->name);
    return status == PTC_UNPACK_MORE || u->between ? (ptrdiff_t)(room - step->room) : -1;
}

bool ptc_unpack_at_end(const PtcUnpack *u)
{
    return u->between;
}

bool ptc_unpack_is_full(const PtcUnpack *u)
{
    return u->full;
}

/* SPDX-License-Identifier: MIT
 * The calls of a run and their answers.  What always holds: a part that was answered stays as it is; an identity is met
 * at most once each time the program runs, so no answer is given to two calls. */
#include "upstream/run/call_replay.h"

#include "base/grow.h"

void ptc_replay_init(PtcReplay *r, PtcMem *mem)
{
    *r = (PtcReplay){.mem = mem};
}

void ptc_replay_deinit(PtcReplay *r)
{
    for (size_t i = 0; i < r->count; i++) {
        ptc_mem_free(r->mem, r->items[i].answer, r->items[i].len);
        ptc_mem_free(r->mem, r->items[i].args, r->items[i].args_len);
    }
    ptc_mem_free(r->mem, r->items, r->cap * sizeof *r->items);
    *r = (PtcReplay){.mem = r->mem};
}

/* A new part; NULL: no room. */
static PtcReplayCall *add_replay_part(PtcReplay *r)
{
    if (r->count >= PTC_REPLAY_CALLS || !PTC_GROW(r->mem, &r->items, &r->cap, r->count + 1)) {
        r->full = true;
        return NULL;
    }
    PtcReplayCall *part = &r->items[r->count++];
    *part = (PtcReplayCall){.met = true, .may_repeat = true};
    return part;
}

static bool same_id(PtcRemoteId a, PtcRemoteId b)
{
    return a.path == b.path && a.count == b.count;
}

/* Programs mostly call in the order in which they called before. */
static PtcReplayCall *find_replay_part(PtcReplay *r, PtcRemoteId id)
{
    for (size_t i = 0; i < r->count; i++) {
        size_t at = (r->next + i) % r->count;
        if (same_id(r->items[at].id, id)) {
            r->next = at + 1;
            return &r->items[at];
        }
    }
    return NULL;
}

static PtcMeet diverge(PtcReplay *r)
{
    r->diverged = true;
    return PTC_MEET_DIVERGED;
}

/* A call that was put aside or approved may have other arguments this time: then a person is asked again. */
static PtcMeet meet_again(PtcReplay *r, PtcReplayCall *part, const uint8_t *print)
{
    bool same = memcmp(part->print, print, PTC_SHA256_BYTES) == 0;
    if (part->met || (part->state == PTC_REPLAY_ANSWERED && !same))
        return diverge(r);
    part->met = true;
    if (part->state == PTC_REPLAY_ANSWERED)
        return PTC_MEET_ANSWER;
    memcpy(part->print, print, PTC_SHA256_BYTES);
    if (!same || part->state != PTC_REPLAY_APPROVED)
        part->state = PTC_REPLAY_CALLED;
    return PTC_MEET_CALL;
}

PtcMeet ptc_replay_meet(PtcReplay *r, PtcRemoteId id, const uint8_t print[PTC_SHA256_BYTES],
                        size_t *number)
{
    if (r->diverged)
        return PTC_MEET_DIVERGED;
    PtcReplayCall *part = find_replay_part(r, id);
    if (part) {
        *number = (size_t)(part - r->items);
        return meet_again(r, part, print);
    }
    if (!(part = add_replay_part(r)))
        return PTC_MEET_FULL;
    part->id = id;
    memcpy(part->print, print, PTC_SHA256_BYTES);
    *number = r->count - 1;
    return PTC_MEET_CALL;
}

/* No program has a path like this. */
static const PtcRemoteId look = {UINT64_MAX, UINT32_MAX};

PtcMeet ptc_replay_meet_look(PtcReplay *r, const uint8_t print[PTC_SHA256_BYTES], size_t *number)
{
    for (size_t i = 0; i < r->count; i++) {
        const PtcReplayCall *p = &r->items[i];
        if (!same_id(p->id, look) || memcmp(p->print, print, PTC_SHA256_BYTES) != 0)
            continue;
        *number = i;
        return p->state == PTC_REPLAY_ANSWERED ? PTC_MEET_ANSWER : PTC_MEET_CALL;
    }
    PtcReplayCall *part = add_replay_part(r);
    if (!part)
        return PTC_MEET_FULL;
    part->id = look;
    memcpy(part->print, print, PTC_SHA256_BYTES);
    *number = r->count - 1;
    return PTC_MEET_CALL;
}

/* A copy; NULL: there is nothing, or no memory. */
static char *copy_replay_text(PtcMem *mem, PtcText text)
{
    char *copy = text.len ? ptc_mem_alloc(mem, text.len) : NULL;
    if (copy)
        memcpy(copy, text.bytes, text.len);
    return copy;
}

void ptc_replay_keep(PtcReplay *r, size_t number, bool ok, bool may_repeat, PtcText answer)
{
    PtcReplayCall *part = &r->items[number];
    if (part->state == PTC_REPLAY_ANSWERED)
        return; /* two asked the same question at once: the first answer stays */
    char *copy =
        answer.len <= PTC_REPLAY_BYTES - r->bytes ? copy_replay_text(r->mem, answer) : NULL;
    part->state = PTC_REPLAY_ANSWERED;
    part->ok = ok;
    part->may_repeat = may_repeat;
    part->answer = copy;
    part->len = copy ? answer.len : 0;
    r->bytes += part->len;
    r->full = r->full || !copy;
}

bool ptc_replay_put_aside(PtcReplay *r, size_t number, PtcText args)
{
    PtcReplayCall *part = &r->items[number];
    ptc_mem_free(r->mem, part->args, part->args_len);
    part->args = copy_replay_text(r->mem, args);
    part->args_len = part->args ? args.len : 0;
    part->state = PTC_REPLAY_ASIDE;
    return part->args || !args.len;
}

size_t ptc_replay_waiting(const PtcReplay *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        n += ptc_replay_waits(&r->items[i]);
    return n;
}

size_t ptc_replay_to_come(const PtcReplay *r)
{
    size_t n = ptc_replay_waiting(r);
    for (size_t i = 0; i < r->count; i++)
        n += r->items[i].state == PTC_REPLAY_APPROVED && !r->items[i].met;
    return n;
}

void ptc_replay_again(PtcReplay *r)
{
    for (size_t i = 0; i < r->count; i++)
        r->items[i].met = false;
    r->next = 0;
}

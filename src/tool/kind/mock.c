/* SPDX-License-Identifier: MIT
 * Mocks.  What they need is in the arena of the set, so they may be called from any thread as long as the set is
 * held. */
#include "tool/kind/mock.h"

#include <time.h>

#include "tool/kind/kind.h"
#include "tool/wire/answer.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { MOCK_SLICE_MS = 5 };

static PtcToolAnswer answer_echo(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_answer_value(call, call->args);
    return PTC_TOOL_ANSWERED;
}

static bool read_echo(PtcToolReader *r, PtcValue v)
{
    return v == PTC_TRUE || ptc_kind_refuse(r, "echo must be true");
}

const PtcToolKind ptc_mock_echo = {
    .key = "echo",
    .doc = "gives back its arguments",
    .schema = "{\"const\": true}",
    .read = read_echo,
    .call = answer_echo,
    .options = PTC_KIND_SLEEP,
    .inside = true,
    .pure = true,
};

/* ------------------------------------------------------------------------------ in turn */

typedef struct Turns {
    PtcValue values;
    atomic_size_t calls;
} Turns;

/* The text of {"$error": "text"}; absent for anything else. */
static PtcText mock_error_text(PtcValue v)
{
    PtcValue key, value;
    size_t pos = 0;
    if (!ptc_is_map(v) || ptc_map_count(v) != 1 || !ptc_map_next(v, &pos, &key, &value) ||
        !ptc_text_is(ptc_str_text(key), "$error"))
        return (PtcText){NULL, 0};
    return ptc_str_text(value);
}

static PtcToolAnswer answer_turn(PtcToolCall *call, void *user)
{
    Turns *turns = user;
    size_t count = ptc_seq_count(turns->values), n = atomic_fetch_add(&turns->calls, 1);
    PtcValue v = ptc_seq_nth(turns->values, n < count ? n : count - 1);
    PtcText error = mock_error_text(v);
    if (error.bytes)
        ptc_answer_fail(call, error);
    else
        ptc_answer_value(call, v);
    return PTC_TOOL_ANSWERED;
}

static bool read_mock_turns(PtcToolReader *r, PtcValue v)
{
    if (!ptc_is_sequential(v) || ptc_seq_count(v) == 0)
        return ptc_kind_refuse(r, "seq must be an array of one value or more");
    Turns *turns = ptc_arena_alloc(&r->tools->kept.arena, sizeof *turns);
    if (!turns)
        return ptc_kind_refuse_memory(r);
    turns->values = ptc_kind_keep(r, v);
    atomic_init(&turns->calls, 0);
    r->tool.user = turns;
    return turns->values != PTC_NONE;
}

const PtcToolKind ptc_mock_seq = {
    .key = "seq",
    .doc = "the nth call gets the nth value, the last one from then on; {\"$error\": text} fails",
    .schema = "{\"type\": \"array\", \"minItems\": 1}",
    .read = read_mock_turns,
    .call = answer_turn,
    .options = PTC_KIND_SLEEP,
    .inside = true,
};

/* ------------------------------------------------------------------------------ in time */

typedef struct Delay {
    int64_t ms;
    PtcToolFn function;
    void *user;
} Delay;

/* In short steps, so that a cancel is noticed soon.  False: nobody waits any longer. */
static bool wait_mock_ms(PtcToolCall *call, int64_t ms)
{
    int64_t end = ptc_clock_ns(NULL) + ms * PTC_MS;
    for (int64_t left; (left = end - ptc_clock_ns(NULL)) > 0;) {
        struct timespec t = {.tv_nsec =
                                 left < MOCK_SLICE_MS * PTC_MS ? left : MOCK_SLICE_MS * PTC_MS};
        nanosleep(&t, NULL);
        if (ptc_answer_cancelled(call))
            return false;
    }
    return true;
}

static PtcToolAnswer answer_late(PtcToolCall *call, void *user)
{
    const Delay *delay = user;
    return wait_mock_ms(call, delay->ms) ? delay->function(call, delay->user) : PTC_TOOL_ANSWERED;
}

bool ptc_mock_delay(PtcTools *tools, int64_t ms, PtcTool *tool)
{
    Delay *delay = ptc_arena_alloc(&tools->kept.arena, sizeof *delay);
    if (!delay)
        return false;
    *delay = (Delay){ms, tool->function, tool->user};
    tool->function = answer_late;
    tool->user = delay;
    return true;
}

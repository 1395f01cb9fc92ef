/* SPDX-License-Identifier: MIT
 * Parts under way, found by their ids.  What always holds: the table has at most PTC_PARTS_OPEN of them, each reached
 * from its bucket; what is inside a part knows that part's number in the table only while the table has it. */
#include "viewer/trace_parts.h"

#include <stdio.h>

#include "base/grow.h"
#include "base/text/secret.h"
#include "json/members.h"

enum { PARTS_BUCKETS = 4096, PARTS_NONE = 0, ITEMS_MAX = 10000 };

typedef struct {
    PtcTracePart part;
    uint32_t next; /* in its bucket, or among the free ones; numbers from 1 */
    bool used;
} PartSlot;

struct PtcParts {
    PtcMem *mem;
    PtcPartsSink sink;
    PartSlot *slots; /* slot n - 1 has number n */
    size_t count, cap;
    uint32_t buckets[PARTS_BUCKETS], free, seed;
    uint32_t runs;
    uint64_t forgotten;
    int64_t last_us; /* the latest time that was told */
    char request[PTC_TRACE_ID_BYTES];
    /* Of `ptc mcp`, under way: calls of other servers belong to it. */
    char call[PTC_TRACE_ID_BYTES];
    int64_t call_ms;                  /* when it began, since 1970; 0: not told */
    char program[PTC_TRACE_ID_BYTES]; /* whose calls have these lanes */
    int64_t lanes[PTC_PARTS_LANES];   /* when the last call of each ended */
};

PtcParts *ptc_parts_new(PtcMem *mem, PtcPartsSink sink)
{
    PtcParts *p = ptc_mem_alloc(mem, sizeof *p);
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    p->mem = mem;
    p->sink = sink;
    (void)!ptc_random_bytes(&p->seed, sizeof p->seed);
    return p;
}

void ptc_parts_free(PtcParts *p)
{
    if (!p)
        return;
    ptc_mem_free(p->mem, p->slots, p->cap * sizeof *p->slots);
    ptc_mem_free(p->mem, p, sizeof *p);
}

uint64_t ptc_parts_forgotten(const PtcParts *p)
{
    return p->forgotten;
}

/* ---------------------------------------------------------------------------------- table */

static uint32_t *bucket(PtcParts *p, const char *id)
{
    uint32_t hash = 2166136261u ^ p->seed; /* no trace can be made for one bucket */
    for (; *id; id++)
        hash = (hash ^ (unsigned char)*id) * 16777619u;
    return &p->buckets[(hash ^ hash >> 16) % PARTS_BUCKETS];
}

static PartSlot *find_open_part(PtcParts *p, const char *id)
{
    for (uint32_t n = id[0] ? *bucket(p, id) : PARTS_NONE; n != PARTS_NONE;
         n = p->slots[n - 1].next)
        if (strcmp(p->slots[n - 1].part.id, id) == 0)
            return &p->slots[n - 1];
    return NULL;
}

/* Keeps a part that has begun.  False: out of memory.  Beyond the most it is forgotten. */
static bool keep_open_part(PtcParts *p, const PtcTracePart *part)
{
    uint32_t n = p->free;
    if (n == PARTS_NONE && p->count == PTC_PARTS_OPEN) {
        p->forgotten++;
        return true;
    }
    if (n == PARTS_NONE && !PTC_GROW(p->mem, &p->slots, &p->cap, p->count + 1))
        return false;
    if (n == PARTS_NONE)
        n = (uint32_t)++p->count;
    else
        p->free = p->slots[n - 1].next;
    uint32_t *at = bucket(p, part->id);
    p->slots[n - 1] = (PartSlot){.part = *part, .next = *at, .used = true};
    *at = n;
    return true;
}

static void drop_open_part(PtcParts *p, PartSlot *slot)
{
    uint32_t n = (uint32_t)(slot - p->slots) + 1, *at = bucket(p, slot->part.id);
    while (*at != n)
        at = &p->slots[*at - 1].next;
    *at = slot->next;
    slot->next = p->free;
    slot->used = false;
    p->free = n;
}

/* ---------------------------------------------------------------------------------- parts */

static void copy_id(char to[PTC_TRACE_ID_BYTES], PtcText id)
{
    size_t n = id.len < PTC_TRACE_ID_BYTES ? id.len : PTC_TRACE_ID_BYTES - 1;
    if (n)
        memcpy(to, id.bytes, n);
    to[n] = '\0';
}

/* What the id of a turn says about its number: r1.t12 is turn 12. */
static void name_turn(PtcTracePart *part)
{
    const char *at = strrchr(part->id, 't');
    snprintf(part->name, sizeof part->name, "%s", at ? at + 1 : part->id);
}

static void name_upstream(PtcTracePart *part, const PtcTraceEvent *e)
{
    char server[PTC_TRACE_NAME_BYTES / 2], tool[PTC_TRACE_NAME_BYTES / 2];
    ptc_trace_event_show(e, PTC_FIELD_server, server, sizeof server);
    ptc_trace_event_show(e, PTC_FIELD_tool, tool, sizeof tool);
    snprintf(part->name, sizeof part->name, "%s/%s", server, tool);
}

static void name_part(PtcTracePart *part, const PtcTraceEvent *e)
{
    static const int fields[PTC_TRACE_PART_COUNT] = {
        PTC_FIELD_name, 0, PTC_FIELD_model, 0, PTC_FIELD_name, PTC_FIELD_tool};
    if (part->kind == PTC_TRACE_PART_TURN)
        name_turn(part);
    else if (part->kind != PTC_TRACE_PART_PROGRAM)
        ptc_trace_event_show(e, fields[part->kind], part->name, sizeof part->name);
    if (e->field[PTC_FIELD_server].bytes)
        name_upstream(part, e);
    part->outside = e->field[PTC_FIELD_server].bytes != NULL;
    if (part->kind == PTC_TRACE_PART_RUN && !part->name[0])
        ptc_trace_event_show(e, PTC_FIELD_agent, part->name, sizeof part->name);
    if (part->kind == PTC_TRACE_PART_RUN && !part->name[0])
        snprintf(part->name, sizeof part->name, "agent");
    int mode = part->kind == PTC_TRACE_PART_RUN    ? PTC_FIELD_mode
               : part->kind == PTC_TRACE_PART_TURN ? PTC_FIELD_type
                                                   : PTC_FIELD_layer;
    ptc_trace_event_show(e, mode, part->mode, sizeof part->mode);
}

/* Calls of `ptc mcp` have no id of their own: there is one in a file, which is named in the first line. */
static void give_id(const PtcParts *p, const PtcTraceEvent *e, char id[PTC_TRACE_ID_BYTES])
{
    copy_id(id, e->id);
    if (e->kind == PTC_TRACE_PART_CALL && !id[0])
        snprintf(id, PTC_TRACE_ID_BYTES, "%s", p->request[0] ? p->request : "call");
}

/* A call of another server: inside the call of ours, and its time is that of the clock. */
static void place_upstream(const PtcParts *p, PtcTracePart *part, const PtcTraceEvent *e)
{
    int64_t ms;
    if (e->kind != PTC_TRACE_PART_TOOL || e->step == PTC_EVENT_WHOLE || part->parent[0])
        return;
    memcpy(part->parent, p->call, sizeof part->parent);
    if (p->call_ms && ptc_trace_event_time(e, &ms) && ms > p->call_ms)
        part->start_us = ms - p->call_ms < PTC_TRACE_TIME / 1000 ? (ms - p->call_ms) * 1000 : 0;
}

static PtcTracePart begin_part(PtcParts *p, const PtcTraceEvent *e)
{
    PtcTracePart part = {.kind = e->kind, .start_us = e->at_us};
    give_id(p, e, part.id);
    copy_id(part.parent, e->parent);
    place_upstream(p, &part, e);
    const PartSlot *around = find_open_part(p, part.parent);
    part.depth = around ? around->part.depth + 1 : 0;
    part.run = around ? around->part.run : 0;
    if (e->kind == PTC_TRACE_PART_RUN || e->kind == PTC_TRACE_PART_CALL)
        part.run = ++p->runs;
    name_part(&part, e);
    ptc_trace_event_show(e, PTC_FIELD_span_id, part.span, sizeof part.span);
    return part;
}

static bool has_warnings(const PtcTraceEvent *e)
{
    return e->field[PTC_FIELD_warnings].bytes != NULL;
}

/* Why it went wrong, in a word or two where the event has them. */
static void give_reason(PtcTracePart *part, const PtcTraceEvent *e)
{
    static const int fields[] = {PTC_FIELD_reason, PTC_FIELD_end, PTC_FIELD_status,
                                 PTC_FIELD_outcome, PTC_FIELD_message};
    for (size_t i = 0; !part->ok && !part->reason[0] && i < sizeof fields / sizeof *fields; i++)
        ptc_trace_event_show(e, fields[i], part->reason, sizeof part->reason);
    if (part->kind == PTC_TRACE_PART_PROGRAM && part->ok)
        ptc_trace_event_show(e, PTC_FIELD_end, part->reason, sizeof part->reason);
}

static void end_trace_part(PtcTracePart *part, const PtcTraceEvent *e)
{
    part->duration_us = e->duration_us >= 0 ? e->duration_us : 0;
    if (part->duration_us == 0 && e->at_us > part->start_us && e->duration_us < 0)
        part->duration_us = e->at_us - part->start_us;
    part->end_us = e->at_us > part->start_us ? e->at_us : part->start_us + part->duration_us;
    part->ended = true;
    part->ok = e->ok;
    part->warned = has_warnings(e);
    part->cached = ptc_text_is(e->field[PTC_FIELD_cached], "true");
    part->tokens = ptc_trace_event_tokens(e);
    give_reason(part, e);
}

/* A lane on which everything that was put there has ended before this call began. */
static void choose_lane(PtcParts *p, PtcTracePart *part)
{
    uint32_t lane = 0;
    if (strcmp(p->program, part->parent) != 0) {
        memset(p->lanes, 0, sizeof p->lanes);
        memcpy(p->program, part->parent, sizeof p->program);
    }
    while (lane + 1 < PTC_PARTS_LANES && p->lanes[lane] > part->start_us)
        lane++;
    part->end_us = part->start_us + part->duration_us;
    p->lanes[lane] = part->end_us;
    part->lane = lane;
}

/* ---------------------------------------------------------------------------------- events */

/* The tools that a call's program called: their times are not told, so all seem to begin with the call. */
static void take_items(PtcParts *p, const PtcTracePart *call, PtcText list)
{
    PtcTraceEvent event;
    PtcText key, item;
    PtcMembers m = ptc_members_of(list);
    for (unsigned n = 1; m.array && n <= ITEMS_MAX && ptc_members_next(&m, &key, &item); n++) {
        if (!ptc_trace_event_item(&event, item))
            continue;
        PtcTracePart part = begin_part(p, &event);
        snprintf(part.id, sizeof part.id, "%.40s.c%u", call->id, n);
        memcpy(part.parent, call->id, sizeof part.parent);
        part.depth = call->depth + 1;
        part.run = call->run;
        part.start_us = call->start_us;
        end_trace_part(&part, &event);
        choose_lane(p, &part);
        p->sink.ended(p->sink.user, &part, &event);
    }
}

static bool take_begin(PtcParts *p, const PtcTraceEvent *e)
{
    PtcTracePart part = begin_part(p, e);
    PartSlot *same = find_open_part(p, part.id);
    if (same) { /* the same id again: the earlier part will not be heard of any more */
        p->forgotten++;
        drop_open_part(p, same);
    }
    if (e->kind == PTC_TRACE_PART_CALL) {
        memcpy(p->call, part.id, sizeof p->call);
        if (!ptc_trace_event_time(e, &p->call_ms))
            p->call_ms = 0;
    }
    if (p->sink.began)
        p->sink.began(p->sink.user, &part);
    return keep_open_part(p, &part);
}

/* An end without a beginning still says how long it took. */
static void take_part_end(PtcParts *p, const PtcTraceEvent *e)
{
    PtcTracePart part;
    char id[PTC_TRACE_ID_BYTES];
    give_id(p, e, id);
    PartSlot *slot = find_open_part(p, id);
    if (slot && slot->part.kind == e->kind) {
        part = slot->part;
        drop_open_part(p, slot);
    } else {
        part = begin_part(p, e);
        if (e->duration_us > 0)
            part.start_us = e->at_us > e->duration_us ? e->at_us - e->duration_us : 0;
    }
    end_trace_part(&part, e);
    if (e->kind == PTC_TRACE_PART_TOOL)
        choose_lane(p, &part);
    if (e->kind == PTC_TRACE_PART_CALL) {
        take_items(p, &part, e->field[PTC_FIELD_calls]);
        p->call[0] = '\0';
    }
    p->sink.ended(p->sink.user, &part, e);
}

static void take_whole(PtcParts *p, const PtcTraceEvent *e)
{
    PtcTracePart part = begin_part(p, e);
    end_trace_part(&part, e);
    part.start_us = e->start_us >= 0              ? e->start_us
                    : e->at_us > part.duration_us ? e->at_us - part.duration_us
                                                  : 0;
    choose_lane(p, &part);
    p->sink.ended(p->sink.user, &part, e);
}

bool ptc_parts_take(PtcParts *p, const PtcTraceEvent *e)
{
    if (e->at_us > p->last_us)
        p->last_us = e->at_us;
    switch (e->step) {
    case PTC_EVENT_FIRST:
        ptc_trace_event_show(e, PTC_FIELD_request_id, p->request, sizeof p->request);
        return true;
    case PTC_EVENT_BEGIN: return take_begin(p, e);
    case PTC_EVENT_END: take_part_end(p, e); return true;
    case PTC_EVENT_WHOLE: take_whole(p, e); return true;
    default: return true;
    }
}

/* In the order in which they began, as far as slots were not used again. */
void ptc_parts_end(PtcParts *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (!p->slots[i].used)
            continue;
        PtcTracePart part = p->slots[i].part;
        part.duration_us = p->last_us > part.start_us ? p->last_us - part.start_us : 0;
        part.end_us = part.start_us + part.duration_us;
        snprintf(part.reason, sizeof part.reason, "unfinished");
        p->sink.ended(p->sink.user, &part, NULL);
    }
    memset(p->buckets, 0, sizeof p->buckets);
    p->count = 0;
    p->free = PARTS_NONE;
    p->last_us = 0;
    p->request[0] = p->program[0] = p->call[0] = '\0';
}

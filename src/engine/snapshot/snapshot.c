/* SPDX-License-Identifier: MIT
 * Sessions as bytes and back: the sections around the objects, and the tag.  What always holds: the tag is checked
 * before anything else is read, and a snapshot that cannot be read leaves no session behind. */
#include "engine/snapshot/snapshot.h"

#include <stdio.h>

#include "base/text/hmac.h"
#include "base/text/secret.h"
#include "engine/snapshot/snapshot_int.h"

#define JOURNAL " journal"

enum { ALIAS_BYTES = 260, SLACK = 256 * PTC_KB };

/* ------------------------------------------------------------------------------ writing */

/* Tables by global.  False: out of memory. */
static bool open_tables(SnapWriter *w)
{
    PtcMem *mem = &w->session->ptc->mem;
    size_t n = w->session->names.count + 1;
    w->numbers = ptc_mem_alloc(mem, n * sizeof *w->numbers);
    w->others = ptc_mem_alloc(mem, n * sizeof *w->others);
    w->plain = ptc_mem_alloc(mem, n);
    w->seen = ptc_mem_alloc(mem, n);
    if (!w->numbers || !w->others || !w->plain || !w->seen)
        return false;
    memset(w->numbers, 0, n * sizeof *w->numbers);
    return true;
}

static void close_writer(SnapWriter *w)
{
    PtcMem *mem = &w->session->ptc->mem;
    size_t n = w->session->names.count + 1;
    ptc_mem_free(mem, w->numbers, n * sizeof *w->numbers);
    ptc_mem_free(mem, w->others, n * sizeof *w->others);
    ptc_mem_free(mem, w->plain, n);
    ptc_mem_free(mem, w->seen, n);
    ptc_mem_free(mem, w->links, w->link_cap * sizeof *w->links);
    ptc_mem_free(mem, w->indexes, w->index_cap * sizeof *w->indexes);
    ptc_mem_free(mem, w->cells, w->cell_cap * sizeof *w->cells);
    ptc_idmap_deinit(&w->objects);
    ptc_idmap_deinit(&w->leaders);
    ptc_buf_deinit(&w->out);
    if (w->work)
        ptc_box_release(&w->work->heap);
}

static bool open_writer(SnapWriter *w, PtcSession *s, PtcWhy *why)
{
    ptc_why_init(why);
    *w = (SnapWriter){.session = s, .why = why};
    ptc_idmap_init(&w->objects, &s->ptc->mem);
    ptc_idmap_init(&w->leaders, &s->ptc->mem);
    ptc_buf_init(&w->out, &s->ptc->mem, PTC_UNBOUNDED);
    w->work = ptc_box_new(s->ptc, PTC_UNBOUNDED);
    return w->work && open_tables(w);
}

/* Numbers for the history and for what is bound; and which names can only mean a global. */
static void number_names(SnapWriter *w)
{
    const PtcSession *s = w->session;
    for (uint32_t i = 0; i < s->names.count; i++) {
        const PtcName *name = &s->names.items[i];
        bool other = ptc_is_history_name(name) || ptc_builtin_find(name->text, name->len) >= 0 ||
                     ptc_analyze_is_form(name->text, name->len);
        w->plain[i] = other ? 0 : PTC_MAY_NAME;
        if (i < s->history || ptc_session_defines(s, i))
            w->numbers[i] = ++w->name_count;
    }
    w->name_count += s->journal != PTC_NIL;
}

/* " @s=clojure.string" for an alias, " !join=clojure.string" for a referred name. */
static void put_aliases(const SnapWriter *w, PtcBuf *out)
{
    const PtcNames *names = &w->session->names;
    ptc_snapshot_put_number(out, names->alias_count);
    for (uint32_t i = 0; i < names->alias_count; i++) {
        const PtcAlias *a = &names->aliases[i];
        PtcText name = ptc_alias_name(a), ns = ptc_alias_ns(a);
        ptc_snapshot_put_number(out, name.len + ns.len + 3);
        ptc_buf_add_cstr(out, a->kind == PTC_ALIAS_NAMESPACE ? " @" : " !");
        ptc_buf_add(out, name.bytes, name.len);
        ptc_buf_add_char(out, '=');
        ptc_buf_add(out, ns.bytes, ns.len);
    }
}

/* The journal comes after the bindings, under a name that none of them can have. */
static void put_bound(const SnapWriter *w, PtcBuf *out)
{
    const PtcSession *s = w->session;
    ptc_snapshot_put_number(out, w->name_count - w->other_count - s->history);
    for (uint32_t i = s->history; i < s->names.count; i++)
        if (ptc_session_defines(s, i))
            ptc_snapshot_put_text(out, s->names.items[i].text, s->names.items[i].len);
    if (s->journal != PTC_NIL)
        ptc_snapshot_put_text(out, JOURNAL, sizeof JOURNAL - 1);
}

static void put_section(PtcBuf *out, uint64_t number, const PtcBuf *body)
{
    ptc_snapshot_put_number(out, number);
    ptc_snapshot_put_number(out, body->len);
    ptc_buf_add(out, body->data, body->len);
    if (!ptc_buf_ok(body))
        out->failed = true;
}

/* Everything except the objects is short. */
static bool put_sections(SnapWriter *w, PtcBuf *out, const PtcBuf *count, const PtcBuf *values)
{
    PtcBuf names;
    ptc_buf_init(&names, out->mem, PTC_UNBOUNDED);
    ptc_snapshot_put_number(&names, w->session->history);
    put_aliases(w, &names);
    put_bound(w, &names);
    ptc_snapshot_put_number(&names, w->other_count);
    for (uint32_t i = 0; i < w->other_count; i++) {
        const PtcName *name = &w->session->names.items[w->others[i]];
        ptc_snapshot_put_text(&names, name->text, name->len);
    }
    ptc_buf_add(out, SNAP_MAGIC, SNAP_MAGIC_BYTES);
    put_section(out, SNAP_NAMES, &names);
    ptc_snapshot_put_number(out, SNAP_OBJECTS);
    ptc_snapshot_put_number(out, count->len + w->out.len);
    ptc_buf_add(out, count->data, count->len);
    ptc_buf_add(out, w->out.data, w->out.len);
    put_section(out, SNAP_VALUES, values);
    ptc_buf_deinit(&names);
    return ptc_buf_ok(out) && ptc_buf_ok(count);
}

/* Calls for the value of each name of the history and of each binding. */
static bool write_session_values(SnapWriter *w)
{
    static const PtcName journal = {.text = "the journal", .len = 11};
    const PtcSession *s = w->session;
    for (uint32_t i = 0; i < s->names.count; i++) {
        w->binding = &s->names.items[i];
        if ((i < s->history || ptc_session_defines(s, i)) && !ptc_snapshot_write(w, s->globals[i]))
            return false;
    }
    w->binding = &journal;
    return (s->journal == PTC_NIL || ptc_snapshot_write(w, s->journal)) &&
           ptc_snapshot_write_end(w);
}

static bool write_snapshot_session(SnapWriter *w, PtcBuf *out)
{
    const PtcSession *s = w->session;
    PtcBuf count, values;
    number_names(w);
    if (!write_session_values(w))
        return false;
    ptc_buf_init(&count, out->mem, 16);
    ptc_buf_init(&values, out->mem, PTC_UNBOUNDED);
    ptc_snapshot_put_number(&count, w->count);
    for (uint32_t i = 0; i < s->names.count; i++)
        if (i < s->history || ptc_session_defines(s, i))
            ptc_snapshot_put_value(w, &values, w->count, s->globals[i]);
    if (s->journal != PTC_NIL)
        ptc_snapshot_put_value(w, &values, w->count, s->journal);
    bool ok = put_sections(w, out, &count, &values);
    ptc_buf_deinit(&count);
    ptc_buf_deinit(&values);
    return ok || ptc_budget_halt(&w->work->budget, PTC_STOP_MEMORY);
}

/* What ended reading or writing, if it was not the fault of the bytes or the values. */
static bool say_snapshot_stop(PtcWhy *why, PtcStop stop)
{
    switch (stop) {
    case PTC_STOP_TIMEOUT:
    case PTC_STOP_DEADLINE: return ptc_why_say(why, PTC_WHY_LATE, "it took longer than timeout_ms");
    case PTC_STOP_MEMORY: return ptc_why_no_memory(why);
    case PTC_STOP_DEPTH:
        return ptc_why_say(why, PTC_WHY_REFUSED, "keys of maps are nested too deep");
    default: return ptc_why_say(why, PTC_WHY_REFUSED, "a limit was reached");
    }
}

bool ptc_snapshot_encode(PtcSession *s, PtcBuf *out, PtcWhy *why)
{
    SnapWriter w;
    bool open = open_writer(&w, s, why), ok = open && write_snapshot_session(&w, out);
    PtcStop stop = open ? w.work->budget.stop : PTC_STOP_MEMORY;
    close_writer(&w);
    return ok || (stop != PTC_STOP_NONE && say_snapshot_stop(why, stop));
}

/* ------------------------------------------------------------------------------ reading */

/* Makes section `number`, which must come next, the reader's input. */
static bool enter_section(SnapReader *r, uint64_t number, const uint8_t **rest)
{
    uint64_t found, len;
    if (!ptc_snapshot_get_number(r, UINT64_MAX, &found) ||
        !ptc_snapshot_get_number(r, UINT64_MAX, &len))
        return false;
    if (found != number)
        return SNAP_BAD(r, "it has parts that this version does not know");
    if (len > (uint64_t)(r->end - r->at))
        return SNAP_BAD(r, "the bytes end too early");
    *rest = r->end;
    r->end = r->at + len;
    return true;
}

static bool leave_section(SnapReader *r, const uint8_t *rest)
{
    if (r->at != r->end)
        return SNAP_BAD(r, "a part is longer than it should be");
    r->end = rest;
    return true;
}

/* Names as programs write them have no blanks. */
static bool is_snapshot_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)text[i] <= ' ' || text[i] == 0x7f)
            return false;
    return len > 0;
}

static bool read_alias(SnapReader *r, const char *text, size_t len)
{
    const char *equals = len > 3 && len <= ALIAS_BYTES ? memchr(text, '=', len) : NULL;
    bool good = equals > text + 2 && equals < text + len - 1 && text[0] == ' ' &&
                (text[1] == '@' || text[1] == '!') && is_snapshot_name(text + 1, len - 1);
    if (!good)
        return SNAP_BAD(r, "an alias is malformed");
    PtcText name = {text + 2, (size_t)(equals - text) - 2};
    PtcText ns = {equals + 1, len - (size_t)(equals - text) - 1};
    PtcAliasKind kind = text[1] == '@' ? PTC_ALIAS_NAMESPACE : PTC_ALIAS_REFERRED;
    return ptc_alias_add(&r->session->names, kind, name, ns) ||
           ptc_budget_halt(r->heap->budget, PTC_STOP_MEMORY);
}

static bool read_aliases(SnapReader *r)
{
    size_t count, len;
    const char *text;
    if (!ptc_snapshot_get_count(r, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!ptc_snapshot_get_text(r, ALIAS_BYTES, &text, &len) || !ptc_tick(r->heap->budget, 8) ||
            !read_alias(r, text, len))
            return false;
    return true;
}

/* A new name of the session; the same name twice is a mistake. */
static bool add_snapshot_name(SnapReader *r, const char *text, size_t len)
{
    PtcNames *names = &r->session->names;
    uint32_t before = names->count;
    if (!is_snapshot_name(text, len))
        return SNAP_BAD(r, "a name is malformed");
    int at = ptc_names_add(names, text, len);
    if (at < 0 && before < UINT16_MAX)
        return ptc_budget_halt(r->heap->budget, PTC_STOP_MEMORY);
    return (at >= 0 && names->count > before) || SNAP_BAD(r, "a name occurs twice");
}

/* `journal` (if the journal's name may occur) becomes its number in this list, or SIZE_MAX. */
static bool read_snapshot_names(SnapReader *r, size_t *count, size_t *journal)
{
    size_t most = (size_t)r->ptc->limits.program_bytes;
    if (!ptc_snapshot_get_count(r, count))
        return false;
    for (size_t i = 0; i < *count; i++) {
        const char *text;
        size_t len;
        if (!ptc_snapshot_get_text(r, most, &text, &len) || !ptc_tick(r->heap->budget, 8))
            return false;
        if (journal && *journal == SIZE_MAX && ptc_text_is((PtcText){text, len}, JOURNAL))
            *journal = i;
        else if (!add_snapshot_name(r, text, len))
            return false;
    }
    return true;
}

/* Numbers in the snapshot are those of the session's names, except that the journal has one and is not a name. */
static bool number_globals(SnapReader *r, size_t journal)
{
    PtcMem *mem = &r->ptc->mem;
    size_t n = r->session->names.count;
    r->names = ptc_mem_alloc(mem, (n + 1) * sizeof *r->names);
    r->seen = ptc_mem_alloc(mem, n + 1);
    if (!r->names || !r->seen || !ptc_session_room(r->session, n))
        return ptc_budget_halt(r->heap->budget, PTC_STOP_MEMORY);
    r->name_count = journal == SIZE_MAX ? n : n + 1;
    for (size_t i = 0; i < r->name_count; i++)
        r->names[i] = (uint16_t)(i == journal ? SNAP_NO_NAME : i > journal ? i - 1 : i);
    return true;
}

static bool read_values(SnapReader *r, size_t bound)
{
    PtcSession *s = r->session;
    for (size_t i = 0; i < s->history + bound; i++) {
        PtcValue *place = r->names[i] == SNAP_NO_NAME ? &s->journal : &s->globals[r->names[i]];
        if (!ptc_snapshot_get_value(r, place))
            return false;
    }
    return s->journal == PTC_NIL || ptc_is_map(s->journal) ||
           SNAP_BAD(r, "the journal is not a map");
}

/* The journal's number among all of them. */
static size_t journal_number(const SnapReader *r, size_t journal)
{
    return journal == SIZE_MAX ? SIZE_MAX : r->session->history + journal;
}

static bool read_snapshot_session(SnapReader *r)
{
    const uint8_t *rest;
    uint64_t history;
    size_t bound, others, journal = SIZE_MAX;
    return enter_section(r, SNAP_NAMES, &rest) &&
           ptc_snapshot_get_number(r, PTC_HISTORY_MAX, &history) && read_aliases(r) &&
           read_snapshot_names(r, &bound, &journal) && read_snapshot_names(r, &others, NULL) &&
           leave_section(r, rest) && number_globals(r, journal_number(r, journal)) &&
           enter_section(r, SNAP_OBJECTS, &rest) && ptc_snapshot_read_objects(r) &&
           leave_section(r, rest) && enter_section(r, SNAP_VALUES, &rest) &&
           read_values(r, bound) && leave_section(r, rest) &&
           (r->at == r->end || SNAP_BAD(r, "it has parts that this version does not know"));
}

/* The depth of the history decides which names the session starts with. */
static bool peek_history(SnapReader *r, uint32_t *history)
{
    const uint8_t *at = r->at, *end = r->end, *rest;
    uint64_t n;
    bool ok =
        enter_section(r, SNAP_NAMES, &rest) && ptc_snapshot_get_number(r, PTC_HISTORY_MAX, &n);
    r->at = at;
    r->end = end;
    *history = ok ? (uint32_t)n : 0;
    return ok;
}

static void close_reader(SnapReader *r, size_t names)
{
    PtcMem *mem = &r->ptc->mem;
    ptc_mem_free(mem, r->items, r->cap * sizeof *r->items);
    ptc_mem_free(mem, r->names, (names + 1) * sizeof *r->names);
    ptc_mem_free(mem, r->seen, names + 1);
}

/* Whatever reading left in the heap besides the values is dropped if the limit requires it. */
static bool fit(PtcSession *s, size_t limit)
{
    s->box->heap.limit = limit;
    return s->box->heap.used <= limit || ptc_session_compact(s);
}

static bool fill_session(SnapReader *r)
{
    PtcSession *s = r->session;
    size_t limit = (size_t)r->ptc->limits.session_bytes;
    r->heap = &s->box->heap;
    r->heap->limit = limit + limit / 4 + SLACK;
    ptc_engine_budget(r->ptc, &s->box->budget, r->ptc->limits.timeout_ms);
    bool ok = read_snapshot_session(r) && s->box->budget.stop == PTC_STOP_NONE;
    PtcStop stop = s->box->budget.stop;
    size_t used = s->box->heap.used;
    close_reader(r, s->names.count);
    if (ok)
        return fit(s, limit) ||
               ptc_why_say(r->why, PTC_WHY_REFUSED,
                           "the session needs more than its limit of %zu bytes", limit);
    if (stop == PTC_STOP_MEMORY && used > limit)
        return ptc_why_say(r->why, PTC_WHY_REFUSED, "the session needs more than session_bytes");
    if (stop != PTC_STOP_NONE)
        return say_snapshot_stop(r->why, stop);
    return r->why->class ? false : ptc_why_no_memory(r->why);
}

bool ptc_snapshot_decode(Ptc *ptc, const void *bytes, size_t len, PtcSession **out, PtcWhy *why)
{
    SnapReader r = {.ptc = ptc, .at = bytes, .end = (const uint8_t *)bytes + len, .why = why};
    uint32_t history;
    ptc_why_init(why);
    if (len < SNAP_MAGIC_BYTES || memcmp(bytes, SNAP_MAGIC, SNAP_MAGIC_BYTES - 1) != 0 ||
        r.at[SNAP_MAGIC_BYTES - 1] != (uint8_t)SNAP_MAGIC[SNAP_MAGIC_BYTES - 1])
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "these bytes are not a snapshot, or one of another version");
    r.at += SNAP_MAGIC_BYTES;
    if (!peek_history(&r, &history))
        return false;
    r.session = ptc_session_make(ptc, history, ptc->limits.session_bytes);
    bool ok = r.session ? fill_session(&r) : ptc_why_no_memory(why);
    if (ok)
        *out = r.session;
    else
        ptc_session_drop(r.session);
    return ok;
}

/* ---------------------------------------------------------------------------- the tag */

bool ptc_snapshot_save(PtcSession *s, PtcText key, PtcBuf *out, PtcWhy *why)
{
    uint8_t tag[PTC_SHA256_BYTES];
    size_t before = out->len;
    if (!ptc_snapshot_encode(s, out, why))
        return false;
    ptc_hmac(key, out->data + before, out->len - before, tag);
    return ptc_buf_add(out, tag, sizeof tag) || ptc_why_no_memory(why);
}

bool ptc_snapshot_load(Ptc *ptc, PtcText key, PtcText bytes, PtcSession **out, PtcWhy *why)
{
    uint8_t tag[PTC_SHA256_BYTES];
    size_t body = bytes.len >= PTC_SHA256_BYTES ? bytes.len - PTC_SHA256_BYTES : 0;
    if (body > 0)
        ptc_hmac(key, bytes.bytes, body, tag);
    if (body == 0 || !ptc_secret_same(tag, bytes.bytes + body, sizeof tag))
        return ptc_why_say(why, PTC_WHY_INVALID, "the key is wrong, or the bytes were changed");
    return ptc_snapshot_decode(ptc, bytes.bytes, body, out, why);
}

/* SPDX-License-Identifier: MIT
 * Finds the program in a reply.  Blocks are collected in one pass from the top; then the rules are tried in order,
 * and the first that matches decides. */
#include "agent/step/find_program.h"

#include "agent/step/blocks.h"
#include "agent/step/program_text.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "lisp/read/form.h"

/* A block and what is known about its text. */
typedef struct Found {
    PtcText text;       /* plain, without white space around it */
    size_t first, last; /* bytes of the reply, including the fences */
    bool tagged, bare;  /* tagged as a program; without a tag */
    bool closed, reads; /* reads: the reader accepts it as whole forms */
    bool has_form, is_list;
} Found;

typedef struct Finder {
    PtcBench *s;
    PtcText text; /* the reply with LF */
    size_t work, most;
    Found blocks[PTC_FIND_BLOCKS];
    size_t count;
    bool failed; /* out of memory */
} Finder;

static const char *const program_tags[] = {"clojure", "clj",      "cljc",   "cljs", "lisp",
                                           "ptc",     "ptc-lisp", "scheme", "edn"};

static bool is_program_tag(PtcText tag)
{
    for (size_t i = 0; i < sizeof program_tags / sizeof *program_tags; i++)
        if (ptc_blocks_tagged(tag, program_tags[i]))
            return true;
    return false;
}

/* Counts bytes that are about to be walked over; false when the allowance is used up. */
static bool spend(Finder *f, size_t n)
{
    f->work += n;
    return f->work <= f->most;
}

/* ------------------------------------------------------------------------------- reading */

/* The first character of a text, skipping comments; 0 when there is none. */
static char first_char(PtcText t)
{
    for (size_t i = 0; i < t.len; i++) {
        if (t.bytes[i] == ';')
            while (i < t.len && t.bytes[i] != '\n')
                i++;
        else if (t.bytes[i] != ' ' && t.bytes[i] != '\n' && t.bytes[i] != '\t' && t.bytes[i] != ',')
            return t.bytes[i];
    }
    return 0;
}

/* Reads the text as forms and notes the outcome. */
static void read_forms(Finder *f, Found *b)
{
    char first = first_char(b->text);
    b->has_form = first != 0;
    b->is_list = first == '(';
    if (b->text.len > PTC_FIND_PROGRAM_BYTES || !spend(f, b->text.len))
        return;
    PtcArena arena;
    PtcDiags diags;
    PtcForm **forms;
    size_t count;
    ptc_arena_init(&arena, &f->s->mem);
    ptc_diags_init(&diags, &arena);
    PtcReader reader = {b->text.bytes, b->text.len, &arena, &f->s->heap, &diags};
    b->reads = ptc_read(&reader, &forms, &count);
    ptc_budget_go_on(&f->s->budget); /* running it says what is wrong */
    if (b->reads) {
        b->has_form = count > 0;
        b->is_list = count > 0 && forms[0]->kind == PTC_F_LIST;
    } else if (arena.failed || f->s->budget.stop != PTC_STOP_NONE) {
        f->failed = true;
    }
    ptc_arena_deinit(&arena);
}

/* ------------------------------------------------------------------------ ends of blocks */

/* The length of </clojure> or </lisp> at this place, or 0. */
static size_t closing_tag(PtcText text, size_t at)
{
    static const char *const tags[] = {"</clojure>", "</lisp>"};
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(tags[i]);
        if (at + n <= text.len && ptc_blocks_tagged((PtcText){text.bytes + at, n}, tags[i]))
            return n;
    }
    return 0;
}

/* Where a block can end: the bytes [at, after) close it. */
typedef struct End {
    size_t at, after;
    bool found;
} End;

/* Is the rest of this line a fence that closes the block?  Looks no further than needed: a line has many places. */
static bool ends_line_here(PtcText text, size_t at, const PtcBlockFence *fence, End *end)
{
    size_t after = at;
    while (after < text.len && text.bytes[after] == fence->sign)
        after++;
    if (after - at < fence->count)
        return false;
    while (after < text.len && text.bytes[after] != '\n' && ptc_ascii_is_white(text.bytes[after]))
        after++;
    *end = (End){at, after + (after < text.len), true};
    return after == text.len || text.bytes[after] == '\n';
}

/* Does something close the block here?  `line`: this is the beginning of a line. */
static bool closes_here(PtcText text, size_t at, bool line, const PtcBlockFence *fence, End *end)
{
    size_t next, n = closing_tag(text, at);
    if (n) {
        *end = (End){at, at + n, true};
        return true;
    }
    if (!line || at >= text.len)
        return fence && ends_line_here(text, at, fence, end);
    PtcText whole = ptc_blocks_line(text, at, &next);
    PtcText inner = ptc_blocks_trim(whole);
    size_t inside = inner.len ? (size_t)(inner.bytes - text.bytes) : at;
    n = closing_tag(text, inside);
    if (n) {
        *end = (End){inside, inside + n, true};
        return true;
    }
    if (!fence || !ptc_blocks_closes(whole, fence))
        return false;
    *end = (End){at, next, true};
    return true;
}

/* The first place that closes the block, whether or not its forms are complete there. */
static void find_first_end(Finder *f, size_t from, const PtcBlockFence *fence, End *end)
{
    for (size_t at = from, next; at < f->text.len && !end->found; at = next) {
        ptc_blocks_line(f->text, at, &next);
        closes_here(f->text, at, true, fence, end);
        f->work += next - at;
    }
}

/* Keeps the plain text of a block in the arena. */
static void keep_block_text(Finder *f, Found *b, PtcText plain)
{
    b->text = ptc_bench_copy(f->s, ptc_blocks_trim(plain));
    f->failed = f->failed || !b->text.bytes;
}

/* Takes the text up to an end as the block's, and examines it. */
static void take_block_text(Finder *f, Found *b, PtcText plain)
{
    keep_block_text(f, b, plain);
    if (!f->failed)
        read_forms(f, b);
}

/* The same for the bytes [from, to), which are made plain first: used when the walk did not get there. */
static void take_range(Finder *f, Found *b, size_t from, size_t to)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &f->s->mem, f->text.len);
    f->failed |= !ptc_plain_add(&buf, (PtcText){f->text.bytes + from, to - from});
    f->work += to - from;
    if (!f->failed)
        take_block_text(f, b, ptc_buf_view(&buf));
    ptc_buf_deinit(&buf);
}

/* Walks from line to line until something closes the block while no form is open: that is *outside, with the plain
 * text up to it in buf.  *first is the first place that closes the block at all.  False: the allowance is used up. */
static bool walk_block_lines(Finder *f, size_t from, const PtcBlockFence *fence, PtcBuf *buf,
                             End *first, End *outside)
{
    PtcPlainText p = {.text = f->text, .pos = from, .out = buf};
    PtcPlainStop stop = PTC_PLAIN_LINE;
    for (End here; stop != PTC_PLAIN_END; stop = ptc_plain_next(&p)) {
        if (f->work + (p.pos - from) > f->most)
            break;
        if (!closes_here(f->text, p.pos, stop == PTC_PLAIN_LINE, fence, &here))
            continue;
        if (!first->found)
            *first = here;
        if (ptc_plain_is_outside(&p)) {
            *outside = here;
            break;
        }
    }
    f->failed |= buf->failed;
    return spend(f, p.pos - from) && !f->failed;
}

/* The block's body begins at `from`.  It ends where the forms so far are complete.  Reading once is enough to know:
 * an error at a point where brackets and quotes are balanced does not go away further on. */
static void find_end(Finder *f, Found *b, size_t from, const PtcBlockFence *fence, End *end)
{
    PtcBuf buf;
    End first = {0, 0, false}, outside = {0, 0, false};
    ptc_buf_init(&buf, &f->s->mem, f->text.len);
    bool walked = walk_block_lines(f, from, fence, &buf, &first, &outside);
    bool open = walked && !first.found;
    if (open || (walked && outside.found))
        take_block_text(f, b, ptc_buf_view(&buf));
    ptc_buf_deinit(&buf);
    if (b->reads && outside.found)
        *end = outside;
    if (f->failed || open || end->found)
        return;
    if (!first.found)
        find_first_end(f, from, fence, &first);
    *end = first;
    take_range(f, b, from, first.found ? first.at : f->text.len);
}

/* Adds the block whose body begins at `from`; returns where to continue. */
static size_t add_found_block(Finder *f, size_t first, size_t from, const PtcBlockFence *fence)
{
    Found *b = &f->blocks[f->count++];
    End end = {0, 0, false};
    *b = (Found){.first = first,
                 .tagged = !fence || is_program_tag(fence->tag),
                 .bare = fence && fence->tag.len == 0};
    find_end(f, b, from, fence, &end);
    b->closed = end.found;
    b->last = end.found ? end.after : f->text.len;
    return b->last;
}

/* Where the body of the block begins that this line opens, or 0.  Some models begin the program on the line of the
 * fence; one that ends there too looks like inline code. */
static size_t find_body(PtcText text, PtcText line, size_t next, PtcBlockFence *fence)
{
    bool opens = ptc_blocks_opens(line, fence);
    PtcText rest = fence->rest;
    size_t n = fence->count;
    if (n < 3 || !rest.len || rest.bytes[0] != '(' || !is_program_tag(fence->tag))
        return opens ? next : 0;
    for (size_t i = 1; !opens && i <= n; i++)
        if (i > rest.len || rest.bytes[rest.len - i] != fence->sign)
            return 0;
    return (size_t)(rest.bytes - text.bytes);
}

static void find_blocks(Finder *f)
{
    PtcBlockFence fence;
    for (size_t at = 0, next; at < f->text.len && !f->failed; at = next) {
        PtcText line = ptc_blocks_line(f->text, at, &next);
        size_t body = find_body(f->text, line, next, &fence);
        if (!body)
            continue;
        if (f->count == PTC_FIND_BLOCKS)
            return;
        next = add_found_block(f, at, body, &fence);
    }
}

/* <clojure> and <lisp> tags outside of fences. */
static void find_tags(Finder *f)
{
    static const char *const tags[] = {"<clojure>", "<lisp>"};
    f->count = 0;
    for (size_t at = 0; at < f->text.len && !f->failed && f->count < PTC_FIND_BLOCKS;) {
        const char *p = memchr(f->text.bytes + at, '<', f->text.len - at);
        if (!p)
            return;
        size_t first = (size_t)(p - f->text.bytes), n = 0;
        for (size_t i = 0; i < 2 && n == 0; i++)
            if (first + strlen(tags[i]) <= f->text.len &&
                ptc_blocks_tagged((PtcText){p, strlen(tags[i])}, tags[i]))
                n = strlen(tags[i]);
        at = n ? add_found_block(f, first, first + n, NULL) : first + 1;
    }
}

/* --------------------------------------------------------------------------------- rules */

/* Selects the blocks that a rule is about. */
typedef bool (*Wanted)(const Found *b);

static bool is_tagged(const Found *b)
{
    return b->tagged && b->closed && b->has_form;
}

static bool is_open_tagged(const Found *b)
{
    return b->tagged && !b->closed && b->reads && b->has_form;
}

static bool is_other_list(const Found *b)
{
    return !b->tagged && b->closed && b->is_list;
}

static bool is_tag_list(const Found *b)
{
    return b->closed && b->is_list;
}

/* How many different texts there are; *one is the first block. */
static size_t count_wanted(const Finder *f, Wanted wanted, const Found **one)
{
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++) {
        bool again = !wanted(&f->blocks[i]);
        for (size_t j = 0; j < i && !again; j++)
            again = wanted(&f->blocks[j]) && ptc_text_same(f->blocks[i].text, f->blocks[j].text);
        if (again)
            continue;
        if (n++ == 0)
            *one = &f->blocks[i];
    }
    return n;
}

/* Applies one rule; true when it decides. */
static bool decide_by_rule(const Finder *f, Wanted wanted, bool block_alone, PtcFound *out)
{
    const Found *one = NULL;
    size_t n = count_wanted(f, wanted, &one);
    if (n == 0)
        return false;
    out->kind = n == 1 ? PTC_FOUND_PROGRAM : PTC_FOUND_SEVERAL;
    out->count = n;
    if (n > 1)
        return true;
    out->program = one->text;
    if (block_alone)
        out->history =
            ptc_blocks_trim((PtcText){f->text.bytes + one->first, one->last - one->first});
    return true;
}

/* The reply without backticks around all of it, as many before it as behind it. */
static PtcText without_ticks(PtcText reply)
{
    PtcText t = ptc_blocks_trim(reply);
    size_t before = 0, behind = 0;
    while (before < t.len && t.bytes[before] == '`')
        before++;
    while (behind < t.len - before && t.bytes[t.len - 1 - behind] == '`')
        behind++;
    return before && before == behind ? (PtcText){t.bytes + before, t.len - 2 * before} : reply;
}

/* The whole reply, if it begins like a program. */
static bool decide_whole(Finder *f, PtcFound *out)
{
    Found b = {0};
    PtcBuf buf;
    ptc_buf_init(&buf, &f->s->mem, f->text.len);
    f->failed |= !ptc_plain_add(&buf, without_ticks(f->text));
    f->work += f->text.len;
    if (!f->failed)
        keep_block_text(f, &b, ptc_buf_view(&buf));
    ptc_buf_deinit(&buf);
    if (f->failed || b.text.len == 0 || b.text.bytes[0] != '(')
        return false;
    out->kind = PTC_FOUND_PROGRAM;
    out->program = b.text;
    return true;
}

/* Prepares a finder for the reply with LF; false: out of memory. */
static bool begin_finding(Finder *f, PtcBench *s, PtcText reply)
{
    PtcBuf buf;
    f->s = s;
    f->work = f->count = 0;
    f->most = PTC_FIND_FACTOR * reply.len;
    f->failed = false;
    ptc_buf_init(&buf, &s->mem, reply.len);
    ptc_plain_add_lines(&buf, reply);
    f->text = ptc_bench_take(s, &buf);
    return f->text.bytes != NULL;
}

static void decide_all(Finder *f, bool cut, PtcFound *out)
{
    find_blocks(f);
    if (f->failed || decide_by_rule(f, is_tagged, true, out) ||
        (!cut && decide_by_rule(f, is_open_tagged, true, out)) ||
        decide_by_rule(f, is_other_list, false, out))
        return;
    find_tags(f);
    if (!f->failed && !decide_by_rule(f, is_tag_list, false, out))
        decide_whole(f, out);
}

bool ptc_find_program(PtcBench *s, PtcText reply, bool cut, PtcFound *out)
{
    *out = (PtcFound){.kind = PTC_FOUND_NONE};
    Finder *f = ptc_arena_alloc(&s->arena, sizeof *f);
    if (!f || !begin_finding(f, s, reply))
        return false;
    out->history = f->text;
    decide_all(f, cut, out);
    out->work = f->work;
    return !f->failed;
}

static bool is_fenced_program(const Found *b)
{
    return is_tagged(b) || (b->bare && b->closed && b->is_list);
}

bool ptc_find_fenced(PtcBench *s, PtcText reply, bool *fenced)
{
    const Found *one;
    Finder *f = ptc_arena_alloc(&s->arena, sizeof *f);
    if (!f || !begin_finding(f, s, reply))
        return false;
    find_blocks(f);
    *fenced = count_wanted(f, is_fenced_program, &one) > 0;
    return !f->failed;
}

PtcText ptc_find_unwrap(PtcBench *s, PtcText program)
{
    static const PtcText none = {NULL, 0};
    PtcBlockFence fence;
    PtcBuf buf;
    size_t next, body = 0;
    Finder *f = ptc_arena_alloc(&s->arena, sizeof *f);
    if (!f || !begin_finding(f, s, program))
        return none;
    PtcText inner = ptc_blocks_trim(f->text);
    if (inner.len) {
        PtcText line = ptc_blocks_line(inner, 0, &next);
        body = find_body(inner, line, next, &fence);
    }
    if (body) {
        f->text = inner;
        add_found_block(f, 0, body, &fence);
        if (f->failed)
            return none;
        if (f->blocks[0].closed && f->blocks[0].last == inner.len)
            return f->blocks[0].text;
    }
    ptc_buf_init(&buf, &s->mem, f->text.len);
    ptc_plain_add(&buf, f->text);
    return ptc_bench_take(s, &buf);
}

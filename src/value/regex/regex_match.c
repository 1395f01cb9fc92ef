/* SPDX-License-Identifier: MIT
 * Compiling and matching with PCRE2: the interpreter, never the JIT compiler, since code that cannot be
 * interrupted would hold up a run's limits. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "value/coll/vec.h"
#include "value/regex/regex_syntax.h"
#include "value/str.h"

enum {
    /* Between two looks at the limits, an item of a pattern may pass over the rest of the string; these keep the
     * characters passed between two looks at the clock to about a million. */
    CHARS_PER_TICK = 256,
    CHARS_PER_TRY = 1 << 20,
    MIN_STEPS = 16,
    MAX_STEPS = 20000,
};

/* ---------------------------------------------------------------------- memory */

typedef struct {
    size_t size;
    size_t pad; /* what follows is aligned to 16 */
} Block;

static void *take_regex_block(size_t size, void *heap)
{
    if (size > SIZE_MAX - sizeof(Block))
        return NULL;
    Block *b = ptc_heap_scratch(heap, NULL, 0, size + sizeof *b);
    if (!b)
        return NULL;
    b->size = size + sizeof *b;
    return b + 1;
}

static void free_block(void *p, void *heap)
{
    if (p)
        ptc_heap_scratch_free(heap, (Block *)p - 1, ((Block *)p - 1)->size);
}

/* --------------------------------------------------------------------- compile */

/* A callout with number 1 stands at the start of every pattern, so that each position where a match may begin looks at
 * the limits.  It also keeps a pattern from beginning with PCRE2's own settings, (*...).  The return that comes no
 * times is for a pattern without any: PCRE2 would step over \r\n at once where no match begins at the \r, and miss one
 * at the \n. */
#define AT_START "(?C1)\\r{0}"
/* For patterns without case.  PCRE2 looks for a letter that must come first or last in either case, to the end of the
 * string when one case is missing, and would do so anew for every match.  A branch that needs other
 * characters and never matches keeps it from that. */
#define NO_LETTER "[\\x01\\x02](*F)|"
#define NO_LETTER_LINE "(?m:^)[\\x01\\x02](*F)|"

static const struct {
    int code;
    const char *message;
} messages[] = {
    {PCRE2_ERROR_END_BACKSLASH, "it ends with a single backslash"},
    {PCRE2_ERROR_UNKNOWN_ESCAPE, "this letter after a backslash means nothing"},
    {PCRE2_ERROR_UNSUPPORTED_ESCAPE_SEQUENCE, "this letter after a backslash means nothing"},
    {PCRE2_ERROR_QUANTIFIER_OUT_OF_ORDER, "the numbers in {m,n} are in the wrong order"},
    {PCRE2_ERROR_QUANTIFIER_TOO_BIG, "a number in {m,n} is larger than 65535"},
    {PCRE2_ERROR_MISSING_SQUARE_BRACKET, "a [ has no closing ]"},
    {PCRE2_ERROR_CLASS_RANGE_ORDER, "a range in a class is in the wrong order"},
    {PCRE2_ERROR_QUANTIFIER_INVALID, "a quantifier (* + ? {n}) has nothing before it to repeat"},
    {PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS, "a ( has no closing )"},
    {PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS, "a ) has no opening ("},
    {PCRE2_ERROR_BAD_SUBPATTERN_REFERENCE, "it refers to a group that it does not have"},
    {PCRE2_ERROR_INVALID_AFTER_PARENS_QUERY, "(? is followed by something unknown"},
    {PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH, "a look-behind (?<=...) may not vary in length"},
    {PCRE2_ERROR_UNKNOWN_UNICODE_PROPERTY, "\\p names no property of characters"},
    {PCRE2_ERROR_MALFORMED_UNICODE_PROPERTY, "\\p is followed by {Name}"},
    {PCRE2_ERROR_DUPLICATE_SUBPATTERN_NAME, "two groups have the same name"},
    {PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP, "its groups are nested too deep"},
    {PCRE2_ERROR_PATTERN_TOO_LARGE, "it becomes too large once repeats {m,n} are opened up"},
};

static void describe_regex_error(PtcRegexError *error, int code)
{
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        if (messages[i].code == code) {
            snprintf(error->message, sizeof error->message, "%s", messages[i].message);
            return;
        }
    PCRE2_UCHAR text[120];
    if (pcre2_get_error_message(code, text, sizeof text) < 0)
        text[0] = 0;
    snprintf(error->message, sizeof error->message, "%s", (const char *)text);
}

/* The byte of the pattern that byte `target` of its translation comes from. */
static size_t source_of(const PtcRegexText *done, size_t target)
{
    PtcRegexError ignored = {"", 0};
    PtcRegexText t = {
        .pattern = done->pattern, .len = done->len, .error = &ignored, .target = target};
    ptc_buf_init(&t.out, done->out.mem, done->out.max);
    bool ok = ptc_regex_translate(&t);
    ptc_buf_deinit(&t.out);
    return ok ? t.source : done->len;
}

static pcre2_code *compile_text(const PtcRegexText *t, uint32_t options,
                                pcre2_compile_context *context)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    uint32_t all = PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_NEVER_BACKSLASH_C | options;
    pcre2_code *made = pcre2_compile((PCRE2_SPTR)t->out.data, t->out.len,
                                     all | (t->unicode ? PCRE2_UCP : 0), &code, &at, context);
    if (!made && code != PCRE2_ERROR_HEAP_FAILED) {
        describe_regex_error(t->error, code);
        t->error->at = at;
    }
    return made;
}

static bool has_both_cases(const PtcRegexText *t, uint32_t c)
{
    c |= 0x20;
    return ptc_ascii_is_lower(c) && memchr(t->pattern, (int)c, t->len) &&
           memchr(t->pattern, (int)c - 0x20, t->len);
}

/* Would PCRE2 look for a letter in either case?  If so, what keeps it from that. */
static const char *letter_guard(const PtcRegexText *t, const pcre2_code *code)
{
    uint32_t first = 0, last = 0, unit = 0, options = 0;
    pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODETYPE, &first);
    pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODEUNIT, &unit);
    pcre2_pattern_info(code, PCRE2_INFO_LASTCODETYPE, &last);
    pcre2_pattern_info(code, PCRE2_INFO_ALLOPTIONS, &options);
    bool both = first == 1 && has_both_cases(t, unit);
    if ((options & PCRE2_ANCHORED) || !(both || (t->caseless && (first == 1 || last == 1))))
        return NULL;
    return first == 2 ? AT_START NO_LETTER_LINE : AT_START NO_LETTER;
}

/* Translates and compiles after a prefix. */
static pcre2_code *compile_after(PtcRegexText *t, const char *prefix, uint32_t options,
                                 pcre2_compile_context *context)
{
    ptc_buf_clear(&t->out);
    t->at = 0;
    t->target = SIZE_MAX;
    size_t skip = strlen(prefix);
    if (!ptc_buf_add(&t->out, prefix, skip) || !ptc_regex_translate(t))
        return NULL;
    pcre2_code *code = compile_text(t, options, context);
    if (!code && t->error->message[0])
        t->error->at = t->error->at < skip ? 0 : source_of(t, t->error->at - skip);
    return code;
}

/* Code in scratch memory.  NULL: see error; without a message, out of memory. */
static pcre2_code *compile_regex(PtcHeap *heap, PtcValue pattern, uint32_t options,
                                 PtcRegexError *error)
{
    PtcRegexText t = {
        .pattern = ptc_str_bytes(pattern), .len = ptc_str_len(pattern), .error = error};
    pcre2_general_context *memory =
        pcre2_general_context_create(take_regex_block, free_block, heap);
    pcre2_compile_context *context = memory ? pcre2_compile_context_create(memory) : NULL;
    pcre2_code *code = NULL;
    ptc_buf_init(&t.out, heap->pool->mem, 16 * PTC_REGEX_BYTES);
    if (context) {
        pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
        pcre2_set_bsr(context, PCRE2_BSR_UNICODE);
        pcre2_set_parens_nest_limit(context, PTC_REGEX_NESTING);
        code = compile_after(&t, AT_START, options, context);
        const char *guard = code ? letter_guard(&t, code) : NULL;
        if (guard) {
            pcre2_code_free(code);
            code = compile_after(&t, guard, options, context);
        }
    }
    ptc_buf_deinit(&t.out);
    pcre2_compile_context_free(context);
    pcre2_general_context_free(memory);
    return code;
}

/* The code as a heap object; frees the original.  pcre2_code_copy is a plain copy as well. */
static PtcValue into_heap(PtcHeap *heap, pcre2_code *code)
{
    size_t size = 0;
    pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
    PtcBytes *bytes = ptc_heap_object(heap, PTC_T_BYTES, sizeof *bytes + size, (uint32_t)size);
    if (bytes)
        memcpy(bytes->bytes, code, size);
    pcre2_code_free(code);
    return bytes ? ptc_from_obj(bytes) : PTC_NONE;
}

PtcValue ptc_regex_new(PtcHeap *heap, PtcValue pattern, PtcRegexError *error)
{
    size_t len = ptc_str_len(pattern);
    error->message[0] = 0;
    error->at = 0;
    if (len > PTC_REGEX_BYTES) {
        snprintf(error->message, sizeof error->message, "it has %zu bytes, the limit is %d", len,
                 PTC_REGEX_BYTES);
        return PTC_NONE;
    }
    if (!ptc_tick(heap->budget, 16 + (int64_t)len))
        return PTC_NONE;
    pcre2_code *code = compile_regex(heap, pattern, 0, error);
    if (!code) {
        if (!error->message[0])
            ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
        return PTC_NONE;
    }
    PtcValue bytes = into_heap(heap, code);
    PtcRecord *o = bytes == PTC_NONE
                       ? NULL
                       : ptc_heap_object(heap, PTC_T_RECORD, sizeof *o + 2 * sizeof bytes, 2);
    if (!o)
        return PTC_NONE;
    o->obj.aux = PTC_R_REGEX;
    o->fields[0] = pattern;
    o->fields[1] = bytes;
    return ptc_from_obj(o);
}

size_t ptc_regex_error_place(PtcValue pattern, const PtcRegexError *error)
{
    size_t len = ptc_str_len(pattern), at = error->at < len ? error->at : len;
    while (at > 0 && at < len && ((unsigned char)ptc_str_bytes(pattern)[at] & 0xc0) == 0x80)
        at--;
    return 1 + ptc_utf8_count(ptc_str_bytes(pattern), at);
}

bool ptc_regex_print(PtcBuf *buf, PtcValue regex)
{
    PtcValue pattern = ptc_regex_pattern(regex);
    const char *bytes = ptc_str_bytes(pattern);
    bool ok = ptc_buf_add(buf, "#\"", 2);
    for (size_t i = 0, len = ptc_str_len(pattern); ok && i < len; i++) {
        if (bytes[i] == '\\' && i + 1 < len)
            ok = ptc_buf_add_char(buf, bytes[i++]);
        else if (bytes[i] == '"')
            ok = ptc_buf_add_char(buf, '\\');
        ok = ok && ptc_buf_add_char(buf, bytes[i]);
    }
    return ok && ptc_buf_add_char(buf, '"');
}

/* ----------------------------------------------------------------------- match */

static int tick_regex_callout(pcre2_callout_block *block, void *data)
{
    size_t left = block->subject_length - block->current_position;
    return ptc_tick(data, 1 + (int64_t)(left / CHARS_PER_TICK)) ? 0 : PCRE2_ERROR_CALLOUT;
}

bool ptc_matcher_init(PtcMatcher *m, PtcHeap *heap, PtcValue regex, PtcValue str)
{
    *m = (PtcMatcher){.heap = heap};
    uint32_t groups = 0;
    m->regex = regex;
    m->str = str;
    m->code = ((const PtcBytes *)(uintptr_t)ptc_record_field(regex, 1))->bytes;
    pcre2_pattern_info(m->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    m->groups = groups;
    m->memory = pcre2_general_context_create(take_regex_block, free_block, m->heap);
    m->context = m->memory ? pcre2_match_context_create(m->memory) : NULL;
    m->data = m->context ? pcre2_match_data_create(groups + 1, m->memory) : NULL;
    if (!m->data)
        return ptc_budget_halt(m->heap->budget, PTC_STOP_MEMORY);
    m->at = pcre2_get_ovector_pointer(m->data);
    size_t steps = CHARS_PER_TRY / (ptc_str_len(str) + 1);
    steps = steps < MIN_STEPS ? MIN_STEPS : steps > MAX_STEPS ? MAX_STEPS : steps;
    pcre2_set_match_limit(m->context, (uint32_t)steps);
    pcre2_set_callout(m->context, tick_regex_callout, m->heap->budget);
    return true;
}

void ptc_matcher_deinit(PtcMatcher *m)
{
    pcre2_code_free(m->careful_code);
    pcre2_match_data_free(m->data);
    pcre2_match_context_free(m->context);
    pcre2_general_context_free(m->memory);
}

/* The pattern is to blame.  Always false. */
static bool blame_regex(PtcMatcher *m, const char *why)
{
    m->why = why;
    return false;
}

/* From now on with a look at the limits before every item of the pattern, as often as it takes. */
static bool be_careful(PtcMatcher *m)
{
    PtcRegexError error = {"", 0};
    m->careful_code =
        compile_regex(m->heap, ptc_regex_pattern(m->regex), PCRE2_AUTO_CALLOUT, &error);
    if (!m->careful_code && error.message[0])
        return blame_regex(m, "the pattern backtracks too much");
    if (!m->careful_code)
        return ptc_budget_halt(m->heap->budget, PTC_STOP_MEMORY);
    m->code = m->careful_code;
    pcre2_set_match_limit(m->context, UINT32_MAX);
    pcre2_set_depth_limit(m->context, UINT32_MAX);
    return true;
}

/* What the run may still use, in KiB, for what a match must remember. */
static uint32_t memory_left(const PtcHeap *heap)
{
    size_t left = ptc_account_left(heap);
    return left / 1024 < UINT32_MAX ? (uint32_t)(left / 1024) : UINT32_MAX;
}

static PtcMatch fail_match(PtcMatcher *m, int code)
{
    if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAPLIMIT)
        ptc_budget_halt(m->heap->budget, PTC_STOP_MEMORY);
    else if (code == PCRE2_ERROR_RECURSELOOP)
        blame_regex(m, "the pattern calls itself without end");
    else if (code != PCRE2_ERROR_CALLOUT)
        blame_regex(m, "the pattern cannot be matched");
    return PTC_MATCH_FAILED;
}

static PtcMatch match_regex(PtcMatcher *m, uint32_t options)
{
    size_t len = ptc_str_len(m->str);
    if (m->from > len)
        return PTC_MATCH_NONE;
    int code;
    do {
        pcre2_set_heap_limit(m->context, memory_left(m->heap));
        code = pcre2_match(m->code, (PCRE2_SPTR)ptc_str_bytes(m->str), len, m->from,
                           PCRE2_NO_UTF_CHECK | options, m->data, m->context);
        if (code == PCRE2_ERROR_MATCHLIMIT && !m->careful_code && !be_careful(m))
            return PTC_MATCH_FAILED;
    } while (code == PCRE2_ERROR_MATCHLIMIT);
    if (code < 0 && code != PCRE2_ERROR_NOMATCH)
        return fail_match(m, code);
    size_t to = code < 0 ? len : m->at[1];
    if (!ptc_tick(m->heap->budget, 1 + (int64_t)((to - m->from) / CHARS_PER_TICK)))
        return PTC_MATCH_FAILED;
    return code < 0 ? PTC_MATCH_NONE : PTC_MATCH_FOUND;
}

PtcMatch ptc_matcher_next(PtcMatcher *m)
{
    PtcMatch found = match_regex(m, 0);
    size_t len = ptc_str_len(m->str);
    uint32_t ignored;
    if (found == PTC_MATCH_NONE)
        m->from = len + 1;
    if (found != PTC_MATCH_FOUND)
        return found;
    m->from = m->at[1];
    if (m->at[0] == m->at[1])
        m->from += m->from < len
                       ? ptc_utf8_decode(ptc_str_bytes(m->str) + m->from, len - m->from, &ignored)
                       : 1;
    return PTC_MATCH_FOUND;
}

PtcMatch ptc_matcher_whole(PtcMatcher *m)
{
    return match_regex(m, PCRE2_ANCHORED | PCRE2_ENDANCHORED);
}

PtcValue ptc_matcher_group(PtcMatcher *m, unsigned i)
{
    if (i > m->groups)
        return PTC_NIL;
    size_t from = m->at[2 * (size_t)i], to = m->at[2 * (size_t)i + 1];
    if (from == PCRE2_UNSET || to < from)
        return PTC_NIL;
    if (from == 0 && to == ptc_str_len(m->str))
        return m->str;
    return ptc_str_new(m->heap, ptc_str_bytes(m->str) + from, to - from);
}

PtcValue ptc_matcher_value(PtcMatcher *m)
{
    PtcValue items[PTC_FLAT_MAX];
    if (m->groups == 0)
        return ptc_matcher_group(m, 0);
    PtcValue build = m->groups < PTC_FLAT_MAX ? PTC_NIL : ptc_build_new(m->heap);
    if (build == PTC_NONE)
        return PTC_NONE;
    for (unsigned i = 0; i <= m->groups; i++) {
        PtcValue group = ptc_matcher_group(m, i);
        if (group == PTC_NONE || !ptc_tick(m->heap->budget, 1))
            return PTC_NONE;
        if (build == PTC_NIL)
            items[i] = group;
        else if (!ptc_build_add(m->heap, build, group))
            return PTC_NONE;
    }
    if (build == PTC_NIL)
        return ptc_vec_new(m->heap, items, m->groups + 1, 0);
    return ptc_build_done(m->heap, build, 0);
}

int ptc_matcher_name(PtcMatcher *m, const char *name)
{
    int number = pcre2_substring_number_from_name(m->code, (PCRE2_SPTR)name);
    return number > 0 ? number : -1;
}

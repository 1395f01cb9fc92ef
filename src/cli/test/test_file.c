/* SPDX-License-Identifier: MIT
 * Reads and rewrites .ptct files.  What always holds: a line that is not understood makes the whole file fail, and an
 * update replaces nothing but expectations. */
#include "cli/test/test_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/os/whole_file.h"
#include "cli/io.h"
#include "lisp/vm/limits.h"

typedef struct {
    PtcTestFile *file;
    const char *line, *line_end; /* the current line, without its line feed */
    const char *next, *end;
    size_t number; /* of the line, from 1 */
} TestParser;

static bool refuse_test_file(TestParser *p, const char *format, ...) PTC_PRINTF(2, 3);

static bool refuse_test_file(TestParser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->file->error, sizeof p->file->error, format, args);
    va_end(args);
    p->file->error_line = p->number;
    return false;
}

static bool next_test_line(TestParser *p)
{
    if (p->next >= p->end)
        return false;
    p->line = p->next;
    const char *lf = memchr(p->line, '\n', (size_t)(p->end - p->line));
    p->line_end = lf ? lf : p->end;
    p->next = lf ? lf + 1 : p->end;
    p->number++;
    return true;
}

static bool begins_test_line(const TestParser *p, const char *prefix)
{
    size_t n = strlen(prefix);
    return (size_t)(p->line_end - p->line) >= n && memcmp(p->line, prefix, n) == 0;
}

static bool is_test_word(PtcText text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.bytes, word, text.len) == 0;
}

/* ------------------------------------------------------------------ header */

/* A setting that is written as a word; false: it is none, or this is none of its words. */
static bool set_case_word(PtcLimits *limits, PtcText key, PtcText word)
{
    const PtcLimit *limit = ptc_limits_of_line(key);
    int n = limit && limit->words ? ptc_text_choice(word, limit->words) : -1;
    if (n >= 0)
        *ptc_limits_field(limits, limit) = n;
    return n >= 0;
}

/* Sets a limit by the name of its field, or by the one in batch lines; false: it is neither. */
static bool set_case_limit(PtcLimits *limits, PtcText key, int64_t n)
{
    const PtcLimit *limit;
    for (size_t i = 0; (limit = ptc_limits_row(i)); i++) {
        bool same = is_test_word(key, limit->name);
        if (same || (limit->line && is_test_word(key, limit->line))) {
            *ptc_limits_field(limits, limit) = same ? n : n * limit->unit;
            return true;
        }
    }
    return false;
}

static bool read_header_number(PtcText text, int64_t *out)
{
    int64_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!ptc_ascii_is_digit(text.bytes[i]) || n > INT64_MAX / 10 - 1)
            return false;
        n = n * 10 + (text.bytes[i] - '0');
    }
    *out = n;
    return text.len > 0;
}

/* key=value of a header. */
static bool set_key(TestParser *p, PtcTestCase *c, PtcText key, PtcText value)
{
    int64_t n;
    if (is_test_word(key, "session") && value.len > 0) {
        c->session = value;
        return true;
    }
    if (is_test_word(key, "agent") && value.len > 0) {
        c->agent = value;
        return true;
    }
    if (is_test_word(key, "llm")) {
        c->llm = value;
        return true;
    }
    if (set_case_word(&c->limits, key, value))
        return true;
    if (!read_header_number(value, &n))
        return refuse_test_file(p, "%.*s wants a number", PTC_ARG(key));
    if (is_test_word(key, "float_precision")) {
        c->float_precision = n;
        return true;
    }
    return set_case_limit(&c->limits, key, n) ||
           refuse_test_file(p, "unknown key '%.*s'", PTC_ARG(key));
}

/* The next word of a header, empty at its end. */
static PtcText next_header_word(const char **at, const char *end)
{
    while (*at < end && **at == ' ')
        (*at)++;
    PtcText w = {*at, 0};
    while (*at < end && **at != ' ')
        (*at)++;
    w.len = (size_t)(*at - w.bytes);
    return w;
}

static bool read_case_policy(TestParser *p, PtcTestCase *c, const char **at)
{
    static const char *const names[] = {"match", "extension", "diverges", "bug"};
    static const char *const prefixes[] = {NULL, NULL, "DIV-", "BUG-"};
    PtcText w = next_header_word(at, p->line_end);
    for (int i = 0; i < 4; i++) {
        if (!is_test_word(w, names[i]))
            continue;
        c->policy = (PtcTestPolicy)i;
        if (!prefixes[i])
            return true;
        PtcText name = next_header_word(at, p->line_end);
        return (name.len > 4 && !memcmp(name.bytes, prefixes[i], 4)) ||
               refuse_test_file(p, "%s wants a name %s...", names[i], prefixes[i]);
    }
    return refuse_test_file(p, "the policy is match, extension, diverges DIV-NAME or bug BUG-NAME");
}

static bool is_new_id(TestParser *p, PtcText id)
{
    if (id.len == 0)
        return refuse_test_file(p, "a case wants an id: ;;@ group/name-001 match");
    for (const PtcTestCase *c = p->file->first; c; c = c->next)
        if (c->id.len == id.len && !memcmp(c->id.bytes, id.bytes, id.len))
            return refuse_test_file(p, "%.*s is there twice", PTC_ARG(id));
    return true;
}

static bool read_case_header(TestParser *p, PtcTestCase *c)
{
    const char *at = p->line + 3;
    c->line = p->number;
    c->id = next_header_word(&at, p->line_end);
    if (!is_new_id(p, c->id) || !read_case_policy(p, c, &at))
        return false;
    for (PtcText w; (w = next_header_word(&at, p->line_end)).len > 0;) {
        const char *equals = memchr(w.bytes, '=', w.len);
        if (!equals)
            return refuse_test_file(p, "'%.*s' is not key=value", PTC_ARG(w));
        PtcText key = {w.bytes, (size_t)(equals - w.bytes)};
        if (is_test_word(key, "context")) {
            c->context = (PtcText){equals + 1, (size_t)(p->line_end - equals - 1)};
            break;
        }
        PtcText value = {equals + 1, w.len - key.len - 1};
        if (!set_key(p, c, key, value))
            return false;
    }
    if (c->llm.len && !c->agent.len)
        return refuse_test_file(p, "llm goes with agent=FILE");
    return !(c->session.len && c->float_precision != PTC_UNSET) ||
           refuse_test_file(p, "session and float_precision do not go together");
}

/* ------------------------------------------------------------- expectation */

static bool is_expectation(const TestParser *p)
{
    return begins_test_line(p, "=> ") || begins_test_line(p, "json> ") ||
           begins_test_line(p, "!! ") || begins_test_line(p, "hint> ") ||
           begins_test_line(p, "warn> ") || begins_test_line(p, "call> ") ||
           begins_test_line(p, "out> ") ||
           (begins_test_line(p, "out>") && p->line_end - p->line == 4);
}

/* `!! kind 1:5 "message"`, the line after the exclamation marks. */
static bool read_case_error(TestParser *p, PtcTestCase *c)
{
    const char *at = p->line + 2;
    uint8_t show = 0;
    if (c->error_count == PTC_TEST_ERRORS)
        return refuse_test_file(p, "more than %d findings", PTC_TEST_ERRORS);
    if (next_header_word(&at, p->line_end).len == 0)
        return refuse_test_file(p, "!! wants a kind");
    PtcText w = next_header_word(&at, p->line_end);
    if (w.len > 0 && ptc_ascii_is_digit(w.bytes[0])) {
        if (!memchr(w.bytes, ':', w.len))
            return refuse_test_file(p, "a place is written line:column");
        show |= PTC_SHOW_PLACE;
        w = next_header_word(&at, p->line_end);
    }
    if (w.len > 0) {
        if (w.bytes[0] != '"' || p->line_end[-1] != '"' || p->line_end - w.bytes < 2)
            return refuse_test_file(p, "the message is not in quotes");
        show |= PTC_SHOW_MESSAGE;
    }
    c->show[c->error_count++] = show;
    return true;
}

static bool read_expectation(TestParser *p, PtcTestCase *c)
{
    if (begins_test_line(p, "!!"))
        return read_case_error(p, c);
    if (begins_test_line(p, "hint>")) {
        if (c->error_count == 0)
            return refuse_test_file(p, "hint> comes after its !!");
        c->show[c->error_count - 1] |= PTC_SHOW_HINT;
    }
    if (begins_test_line(p, "call>") && !c->agent.len)
        return refuse_test_file(p, "call> goes with agent=FILE");
    c->wants_calls |= begins_test_line(p, "call>");
    c->wants_warnings |= begins_test_line(p, "warn>");
    c->wants_text |= begins_test_line(p, "=>");
    c->wants_json |= begins_test_line(p, "json>");
    return true;
}

static bool join_line(TestParser *p, PtcBuf *joined)
{
    bool ok = (joined->len == 0 || ptc_buf_add_char(joined, '\n')) &&
              ptc_buf_add(joined, p->line, (size_t)(p->line_end - p->line));
    return ok || refuse_test_file(p, "out of memory");
}

/* Lines up to the next header. */
static bool read_expectations(TestParser *p, PtcTestCase *c, PtcBuf *joined)
{
    bool more = true;
    for (; more && !begins_test_line(p, ";;@"); more = next_test_line(p)) {
        if (p->line == p->line_end || begins_test_line(p, ";;"))
            continue;
        if (!is_expectation(p))
            return refuse_test_file(p, "after the expectation there is only the next case");
        if (!read_expectation(p, c) || !join_line(p, joined))
            return false;
        c->expect_to = (size_t)(p->next - p->file->text.data);
    }
    if (!more)
        p->line = NULL;
    if ((c->wants_text || c->wants_json) && c->error_count)
        return refuse_test_file(p, "a case either has a result or fails");
    return true;
}

/* ------------------------------------------------------------------- cases */

/* The program ends before the first expectation line; trailing blank lines are not part of it.  Without an
 * expectation it ends before the comments that lead up to the next header. */
static void read_program(TestParser *p, PtcTestCase *c)
{
    const char *start = p->next, *stop = start, *code_stop = start;
    bool more;
    while ((more = next_test_line(p)) && !is_expectation(p) && !begins_test_line(p, ";;@")) {
        if (p->line < p->line_end)
            stop = p->line_end;
        if (p->line < p->line_end && !begins_test_line(p, ";;"))
            code_stop = p->line_end;
    }
    bool expects = more && is_expectation(p);
    if (!expects)
        stop = code_stop;
    c->program = (PtcText){start, (size_t)(stop - start)};
    const char *from = expects ? p->line : stop + (stop > start && *stop == '\n');
    c->expect_from = c->expect_to = (size_t)(from - p->file->text.data);
    if (!more)
        p->line = NULL;
}

static PtcTestCase *new_case(PtcTestFile *file)
{
    PtcTestCase *c = ptc_arena_zalloc(&file->arena, sizeof *c);
    if (c) {
        ptc_limits_init(&c->limits, sizeof c->limits);
        c->float_precision = PTC_UNSET;
    }
    return c;
}

static bool keep_expect(TestParser *p, PtcTestCase *c, const PtcBuf *joined)
{
    char *copy = ptc_arena_alloc(&p->file->arena, joined->len + 1);
    if (!copy || !ptc_buf_ok(joined))
        return refuse_test_file(p, "out of memory");
    if (joined->len)
        memcpy(copy, joined->data, joined->len);
    c->expect = (PtcText){copy, joined->len};
    return true;
}

/* The case whose header is the current line; stops at the next header or the end (line NULL). */
static bool read_case(TestParser *p, bool unfinished)
{
    PtcTestFile *file = p->file;
    PtcTestCase *c = new_case(file);
    PtcBuf joined;
    if (!c)
        return refuse_test_file(p, "out of memory");
    if (!read_case_header(p, c))
        return false;
    read_program(p, c);
    ptc_buf_init(&joined, file->text.mem, PTC_IO_MAX);
    bool ok = (!p->line || read_expectations(p, c, &joined)) && keep_expect(p, c, &joined);
    ptc_buf_deinit(&joined);
    if (ok && c->expect.len == 0 && !unfinished) {
        p->number = c->line;
        ok = refuse_test_file(p, "%.*s expects nothing; --update fills it in", PTC_ARG(c->id));
    }
    if (file->last)
        file->last->next = c;
    else
        file->first = c;
    file->last = c;
    return ok;
}

bool ptc_test_file_init(PtcTestFile *file, PtcMem *mem, const char *path, bool unfinished)
{
    memset(file, 0, sizeof *file);
    file->path = path;
    ptc_buf_init(&file->text, mem, PTC_IO_MAX);
    ptc_arena_init(&file->arena, mem);
    TestParser p = {.file = file};
    const char *error = ptc_io_read(&file->text, path);
    if (!error && !ptc_buf_text(&file->text))
        error = "out of memory";
    if (error)
        return refuse_test_file(&p, "%s", error);
    p.next = file->text.data;
    p.end = p.next + file->text.len;
    bool more = next_test_line(&p);
    for (; more && !begins_test_line(&p, ";;@"); more = next_test_line(&p))
        if (p.line < p.line_end && !begins_test_line(&p, ";"))
            return refuse_test_file(&p, "before the first case there are only comments");
    if (!more)
        return refuse_test_file(&p, "there is no case in it");
    while (p.line)
        if (!read_case(&p, unfinished))
            return false;
    return true;
}

void ptc_test_file_deinit(PtcTestFile *file)
{
    ptc_buf_deinit(&file->text);
    ptc_arena_deinit(&file->arena);
}

/* ------------------------------------------------------------------ update */

bool ptc_test_file_update(PtcTestFile *file)
{
    PtcBuf out;
    size_t done = 0;
    ptc_buf_init(&out, file->text.mem, PTC_IO_MAX);
    for (const PtcTestCase *c = file->first; c; c = c->next) {
        if (!c->replaced)
            continue;
        ptc_buf_add(&out, file->text.data + done, c->expect_from - done);
        if (out.len && out.data[out.len - 1] != '\n')
            ptc_buf_add_char(&out, '\n');
        ptc_buf_add_cstr(&out, c->replaced);
        ptc_buf_add_char(&out, '\n');
        done = c->expect_to;
    }
    ptc_buf_add(&out, file->text.data + done, file->text.len - done);
    bool ok = ptc_buf_ok(&out) &&
              ptc_whole_file_put(file->path, ptc_buf_view(&out), (PtcWholeFile){.mode = 0666});
    ptc_buf_deinit(&out);
    return ok;
}

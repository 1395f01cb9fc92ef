/* SPDX-License-Identifier: MIT
 * clojure.pprint/cl-format: the templates of Common Lisp, as far as programs use them.  The template is walked
 * directive by directive; what stands between ~{ and ~}, ~[ and ~], ~( and ~) is walked again by the same function, and
 * how deep such parts may nest is counted. */
#include "lisp/lib/text/cl_format.h"

#include "base/ascii.h"
#include "base/utf8.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/lib/text/format.h"
#include "lisp/vm/predicate.h"

enum { FORMAT_NESTING = 40 };

/* The arguments that a part of the template takes from: an array, or a sequence. */
typedef struct {
    const PtcValue *at; /* NULL: the sequence */
    PtcValue seq;       /* with an end, or nil */
    size_t count, pos;
} Args;

typedef struct {
    PtcVM *vm;
    PtcBuf *buf;
    PtcText text; /* of the template */
    int depth;
} FormatWriter;

typedef enum { FAILED, DONE, LEAVE /* ~^ ends the part */ } Result;

static Result write_template_part(FormatWriter *w, size_t from, size_t to, Args *args);

static bool fail_in_template(FormatWriter *w, size_t at, const char *why)
{
    ptc_fail(w->vm, PTC_E_VALUE, "cl-format: %s, at byte %zu of the template", why, at + 1);
    return false;
}

/* ------------------------------------------------------------------------------ arguments */

static PtcValue arg_at(const Args *a, size_t i)
{
    return a->at ? a->at[i] : ptc_seq_nth(a->seq, i);
}

static bool next_arg(FormatWriter *w, const PtcClDirective *d, Args *a, PtcValue *out)
{
    if (a->pos >= a->count)
        return fail_in_template(w, d->first, "there is no argument left for this directive");
    *out = arg_at(a, a->pos++);
    return ptc_tick(&w->vm->budget, 1);
}

/* A collection as arguments. */
static bool collection_args(FormatWriter *w, PtcValue coll, Args *out)
{
    PtcValue seq = coll == PTC_NIL ? coll : PTC_NONE;
    if (coll != PTC_NIL && !(ptc_is_sequential(coll) || ptc_is_map(coll) || ptc_is_set(coll)))
        return ptc_fail_value_type(w->vm, coll, "an argument of cl-format", "a collection");
    if (seq == PTC_NONE)
        seq = ptc_arg_finite(w->vm, &coll, 0);
    if (seq != PTC_NONE && seq != PTC_NIL)
        seq = ptc_seq_flat(w->vm, seq);
    *out = (Args){.seq = seq, .count = seq == PTC_NIL || seq == PTC_NONE ? 0 : ptc_seq_count(seq)};
    return seq != PTC_NONE;
}

/* ------------------------------------------------------------------------------ directives */

static bool bounded(FormatWriter *w, size_t at, int64_t n)
{
    return (n <= PTC_CL_MOST && n >= -PTC_CL_MOST) ||
           fail_in_template(w, at, "a parameter is too large");
}

/* One parameter at *i: a number, 'c, v or #; none leaves has false. */
static bool read_param(FormatWriter *w, size_t *i, Args *a, bool *has, int64_t *out)
{
    const char *s = w->text.bytes;
    size_t len = w->text.len, at = *i;
    uint32_t code;
    bool digit = at < len && (ptc_ascii_is_digit(s[at]) || s[at] == '-' || s[at] == '+');
    *has = true;
    if (at + 1 < len && s[at] == '\'') {
        *i = at + 1 + ptc_utf8_decode(s + at + 1, len - at - 1, &code);
        *out = code;
        return true;
    }
    if (at < len && (s[at] == '#' || s[at] == 'v' || s[at] == 'V')) {
        *i = at + 1;
        PtcClDirective d = {.first = at};
        PtcValue v = ptc_int((int64_t)(a->count - a->pos));
        if (s[at] != '#' && !next_arg(w, &d, a, &v))
            return false;
        *has = v != PTC_NIL;
        return !*has ||
               (ptc_is_string(v) && ptc_is_char(w->vm, v)
                    ? ptc_utf8_decode(ptc_str_bytes(v), ptc_str_len(v), &code) && (*out = code)
                    : ptc_arg_int(w->vm, &v, 0, out) && bounded(w, at, *out));
    }
    *has = digit;
    bool negative = digit && s[at] == '-';
    at += digit && (s[at] == '-' || s[at] == '+');
    for (*out = 0; digit && at < len && ptc_ascii_is_digit(s[at]) && *out <= PTC_CL_MOST; at++)
        *out = *out * 10 + (s[at] - '0');
    *i = at;
    if (!bounded(w, at, *out))
        return false;
    *out = negative ? -*out : *out;
    return true;
}

/* The directive whose ~ is at `at`; without arguments (a is NULL) only where it ends counts. */
static bool read_cl_directive(FormatWriter *w, size_t at, Args *a, PtcClDirective *d)
{
    static const Args none = {0};
    Args skip = none;
    size_t i = at + 1, len = w->text.len;
    *d = (PtcClDirective){.first = at};
    for (bool more = true; more;) {
        bool has = false;
        int64_t value = 0;
        const char *s = w->text.bytes;
        bool borrowed = !a && i < len && (s[i] == 'v' || s[i] == 'V');
        if (borrowed)
            i++;
        else if (!read_param(w, &i, a ? a : &skip, &has, &value))
            return false;
        if (d->count < PTC_CL_PARAMS) {
            d->has[d->count] = has;
            d->param[d->count++] = value;
        }
        more = i < len && s[i] == ',';
        i += more;
    }
    for (; i < len && (w->text.bytes[i] == ':' || w->text.bytes[i] == '@'); i++) {
        d->colon |= w->text.bytes[i] == ':';
        d->at |= w->text.bytes[i] == '@';
    }
    if (i >= len)
        return fail_in_template(w, at, "a directive has no letter");
    char c = w->text.bytes[i];
    d->letter = ptc_ascii_lower(c);
    d->last = i + 1;
    return true;
}

/* ------------------------------------------------------------------------ text and padding */

static size_t output_column(const PtcBuf *buf)
{
    size_t at = buf->len;
    while (at > 0 && buf->data[at - 1] != '\n')
        at--;
    return ptc_utf8_count(buf->data ? buf->data + at : "", buf->len - at);
}

/* ~a and ~s: width, step of the padding, least padding, character. */
static bool write_cl_value(FormatWriter *w, const PtcClDirective *d, PtcValue v)
{
    PtcBuf text;
    ptc_heap_buf_init(w->vm->heap, &text);
    bool ok = ptc_vm_write(w->vm, &text, v, d->letter == 's');
    int64_t width = ptc_cl_param(d, 0, 0), step = ptc_cl_param(d, 1, 1),
            pad = ptc_cl_param(d, 2, 0);
    int64_t len = (int64_t)ptc_utf8_count(ptc_buf_view(&text).bytes, text.len);
    if (step > 0 && len + pad < width)
        pad += (width - len - pad + step - 1) / step * step;
    int64_t c = ptc_cl_param(d, 3, ' ');
    ok = ok && ptc_tick_bytes(&w->vm->budget, text.len + (size_t)(pad > 0 ? pad : 0)) &&
         (!d->at || ptc_cl_pad(w->buf, c, pad)) &&
         ptc_buf_add(w->buf, ptc_buf_view(&text).bytes, text.len) &&
         (d->at || ptc_cl_pad(w->buf, c, pad));
    ptc_buf_deinit(&text);
    return ok;
}

static bool write_char(FormatWriter *w, const PtcClDirective *d, PtcValue v)
{
    static const char names[][2][10] = {
        {" ", "Space"}, {"\n", "Newline"}, {"\t", "Tab"}, {"\r", "Return"}, {"\b", "Backspace"}};
    if (!ptc_is_char(w->vm, v))
        return ptc_fail_value_type(w->vm, v, "an argument of ~c", "a character");
    PtcText c = {ptc_str_bytes(v), ptc_str_len(v)};
    size_t from = w->buf->len;
    for (size_t i = 0; (d->colon || d->at) && i < sizeof names / sizeof names[0]; i++)
        if (ptc_text_is(c, names[i][0]))
            c = (PtcText){names[i][1], strlen(names[i][1])};
    if ((d->at && !ptc_buf_add_char(w->buf, '\\')) || !ptc_buf_add(w->buf, c.bytes, c.len))
        return false;
    if (d->at && c.len > 1)
        w->buf->data[from + 1] = ptc_ascii_lower(w->buf->data[from + 1]); /* \newline */
    return true;
}

/* ~t: to a column, or (@) so many columns on. */
static bool write_tab(FormatWriter *w, const PtcClDirective *d)
{
    int64_t to = ptc_cl_param(d, 0, 1), step = ptc_cl_param(d, 1, 1),
            at = (int64_t)output_column(w->buf);
    int64_t blanks = to - at;
    if (d->at) {
        int64_t past = step > 0 ? (at + to) % step : 0;
        blanks = to + (past ? step - past : 0);
    } else if (blanks <= 0 && step > 0) {
        blanks = at == to ? step : step - (at - to) % step;
    } else if (blanks < 0) {
        blanks = 0;
    }
    return ptc_tick_bytes(&w->vm->budget, (size_t)(blanks > 0 ? blanks : 0)) &&
           ptc_cl_pad(w->buf, ' ', blanks);
}

/* ~p: a plural ending for everything but 1; ~:p looks at the argument before. */
static bool write_plural(FormatWriter *w, const PtcClDirective *d, Args *a)
{
    PtcValue v;
    if (d->colon && a->pos > 0)
        a->pos--;
    if (!next_arg(w, d, a, &v))
        return false;
    bool one = v == ptc_int(1);
    return ptc_buf_add_cstr(w->buf, d->at ? (one ? "y" : "ies") : one ? "" : "s");
}

/* ~*: forward, back (:) or to (@) an argument. */
static bool go_to(FormatWriter *w, const PtcClDirective *d, Args *a)
{
    int64_t n = ptc_cl_param(d, 0, d->at ? 0 : 1);
    int64_t to = d->at ? n : (int64_t)a->pos + (d->colon ? -n : n);
    if (to < 0 || to > (int64_t)a->count)
        return fail_in_template(w, d->first, "there is no such argument");
    a->pos = (size_t)to;
    return true;
}

/* --------------------------------------------------------------------------------- parts */

/* Where the part that begins at `from` ends: at the directive `close` of its own level.  Separators ~; of that level
 * are counted into *clauses up to `wanted`, whose beginning and end come out. */
typedef struct {
    size_t first, last; /* of the clause that was wanted */
    size_t clauses;     /* how many there are */
    size_t end, next;   /* of the part, and behind its closing directive */
    bool otherwise;     /* the last ~; was ~:; */
    bool colon;         /* the closing one was ~:} */
} Part;

static bool find_part(FormatWriter *w, size_t from, char open, char close, size_t wanted, Part *p)
{
    PtcClDirective d;
    int level = 0;
    size_t begin = from;
    *p = (Part){.first = from, .last = from};
    for (size_t i = from; i < w->text.len; i++) {
        if (w->text.bytes[i] != '~')
            continue;
        if (!ptc_tick(&w->vm->budget, 1) || !read_cl_directive(w, i, NULL, &d))
            return false;
        bool ends = level == 0 && d.letter == close, parts = level == 0 && d.letter == ';';
        if ((ends || parts) && p->clauses == wanted) {
            p->first = begin;
            p->last = i;
        }
        if (parts) {
            p->clauses++;
            p->otherwise = d.colon;
            begin = d.last;
        }
        if (ends) {
            p->end = i;
            p->next = d.last;
            p->colon = d.colon;
            p->clauses++;
            return true;
        }
        level += (d.letter == open) - (d.letter == close);
        i = d.last - 1;
    }
    return fail_in_template(w, from, "a part of the template is not closed");
}

/* Parts inside parts, walked by the same function. */
static Result inner(FormatWriter *w, size_t from, size_t to, Args *a)
{
    if (w->depth >= FORMAT_NESTING) {
        fail_in_template(w, from, "its parts are nested too deep");
        return FAILED;
    }
    w->depth++;
    Result r = write_template_part(w, from, to, a);
    w->depth--;
    return r;
}

/* ~{ ~}: the part for each of the arguments in a list, or (@) of those that are left; (:) each is a list of its own. */
static bool iterate(FormatWriter *w, const PtcClDirective *d, Args *a, size_t *next)
{
    Part p;
    Args list = {0};
    PtcValue v;
    int64_t most = ptc_cl_param(d, 0, INT64_MAX);
    if (!find_part(w, d->last, '{', '}', SIZE_MAX, &p))
        return false;
    *next = p.next;
    if (!d->at && (!next_arg(w, d, a, &v) || !collection_args(w, v, &list)))
        return false;
    Args *from = d->at ? a : &list;
    for (bool first = p.colon; most > 0 && (first || from->pos < from->count); most--) {
        Args one = {0};
        size_t before = from->pos;
        if (!ptc_tick(&w->vm->budget, 1) ||
            (d->colon && (!next_arg(w, d, from, &v) || !collection_args(w, v, &one))))
            return false;
        Result r = inner(w, d->last, p.end, d->colon ? &one : from);
        if (r == FAILED)
            return false;
        if (r == LEAVE && !d->colon)
            break;
        if (!first && from->pos == before)
            return fail_in_template(w, d->first, "the part between ~{ and ~} takes no argument");
        first = false;
    }
    return true;
}

/* ~[ ~]: the part with the number of the argument; (:) the first for false, (@) the only one unless it is false. */
static bool write_chosen_clause(FormatWriter *w, const PtcClDirective *d, Args *a, size_t *next,
                                Result *result)
{
    Part p;
    PtcValue v = PTC_NIL;
    int64_t n = ptc_cl_param(d, 0, 0);
    size_t at = a->pos;
    if (!d->has[0] && !next_arg(w, d, a, &v))
        return false;
    if (d->colon || d->at)
        n = ptc_truthy(v) && d->colon ? 1 : 0;
    else if (!d->has[0] && !ptc_arg_int(w->vm, &v, 0, &n))
        return false;
    size_t wanted = n < 0 ? SIZE_MAX - 1 : (size_t)n;
    if (!find_part(w, d->last, '[', ']', wanted, &p))
        return false;
    *next = p.next;
    if (wanted >= p.clauses) {
        if (!p.otherwise)
            return true;
        wanted = p.clauses - 1;
        if (!find_part(w, d->last, '[', ']', wanted, &p))
            return false;
    }
    if (d->at && !ptc_truthy(v))
        return true;
    if (d->at)
        a->pos = at; /* the part takes it again */
    *result = inner(w, p.first, p.last, a);
    return *result != FAILED;
}

/* Letters from `from` on in another case: lower, (:) words with a capital, (@) what begins with one, (:@) upper. */
static void change_cl_case(PtcBuf *buf, size_t from, const PtcClDirective *d)
{
    bool in_word = false, any = false;
    for (size_t i = from; i < buf->len; i++) {
        char c = buf->data[i];
        bool letter = ptc_ascii_lower(c) != ptc_ascii_upper(c) || (unsigned char)c >= 0x80 ||
                      ptc_ascii_is_digit(c);
        bool big = d->colon && d->at ? true : d->colon ? !in_word : d->at ? letter && !any : false;
        buf->data[i] = big ? ptc_ascii_upper(c) : ptc_ascii_lower(c);
        any = any || (unsigned char)c > ' ';
        in_word = letter;
    }
}

static bool convert_case(FormatWriter *w, const PtcClDirective *d, Args *a, size_t *next,
                         Result *result)
{
    Part p;
    size_t from = w->buf->len;
    if (!find_part(w, d->last, '(', ')', SIZE_MAX, &p))
        return false;
    *next = p.next;
    *result = inner(w, d->last, p.end, a);
    if (*result != FAILED && ptc_tick_bytes(&w->vm->budget, w->buf->len - from))
        change_cl_case(w->buf, from, d);
    return *result != FAILED;
}

/* ~?: another template, with its arguments in a list, or (@) with those that are left. */
static bool indirect(FormatWriter *w, const PtcClDirective *d, Args *a)
{
    PtcValue template, list;
    Args own;
    if (!next_arg(w, d, a, &template))
        return false;
    if (!ptc_is_string(template))
        return ptc_fail_value_type(w->vm, template, "an argument of ~?", "a string");
    if (!d->at && (!next_arg(w, d, a, &list) || !collection_args(w, list, &own)))
        return false;
    FormatWriter sub = {w->vm, w->buf, {ptc_str_bytes(template), ptc_str_len(template)}, w->depth};
    return inner(&sub, 0, sub.text.len, d->at ? a : &own) != FAILED;
}

/* ---------------------------------------------------------------------------------- a part */

/* Directives that write one argument. */
static bool write_arg(FormatWriter *w, const PtcClDirective *d, Args *a)
{
    PtcValue v;
    if (!next_arg(w, d, a, &v))
        return false;
    switch (d->letter) {
    case 'd': return ptc_cl_integer(w->vm, w->buf, v, d, 10, 0);
    case 'b': return ptc_cl_integer(w->vm, w->buf, v, d, 2, 0);
    case 'o': return ptc_cl_integer(w->vm, w->buf, v, d, 8, 0);
    case 'x': return ptc_cl_integer(w->vm, w->buf, v, d, 16, 0);
    case 'r':
        if (!d->has[0])
            return ptc_cl_words(w->vm, w->buf, v, d);
        if (d->param[0] < 2 || d->param[0] > 36)
            return fail_in_template(w, d->first, "a radix is from 2 to 36");
        return ptc_cl_integer(w->vm, w->buf, v, d, (int)d->param[0], 1);
    case 'f': return ptc_cl_fixed(w->vm, w->buf, v, d);
    case '$': return ptc_cl_money(w->vm, w->buf, v, d);
    case 'c': return write_char(w, d, v);
    default: return write_cl_value(w, d, v);
    }
}

/* ~newline: the line goes on behind the blanks that follow; (:) with them, (@) with the line feed. */
static bool join_lines(FormatWriter *w, const PtcClDirective *d, size_t *next)
{
    if (d->at && !ptc_buf_add_char(w->buf, '\n'))
        return false;
    while (!d->colon && *next < w->text.len && strchr(" \t\n\r", w->text.bytes[*next]))
        ++*next;
    return true;
}

static bool write_directive(FormatWriter *w, const PtcClDirective *d, Args *a, size_t *next,
                            Result *result)
{
    int64_t n = ptc_cl_param(d, 0, 1);
    switch (d->letter) {
    case '%': return ptc_cl_pad(w->buf, '\n', n);
    case '~': return ptc_cl_pad(w->buf, '~', n);
    case '|': return ptc_cl_pad(w->buf, '\f', n);
    case '&': return ptc_cl_pad(w->buf, '\n', n - (output_column(w->buf) == 0));
    case '\n': return join_lines(w, d, next);
    case 't': return write_tab(w, d);
    case 'p': return write_plural(w, d, a);
    case '*': return go_to(w, d, a);
    case '?': return indirect(w, d, a);
    case '{': return iterate(w, d, a, next);
    case '[': return write_chosen_clause(w, d, a, next, result);
    case '(': return convert_case(w, d, a, next, result);
    case '^':
        if (a->pos >= a->count)
            *result = LEAVE;
        return true;
    default: break;
    }
    if (strchr("asdboxrf$c", d->letter))
        return write_arg(w, d, a);
    return fail_in_template(w, d->first,
                            "this directive is not one of ~a ~s ~d ~b ~o ~x ~r ~f ~$ ~c ~p ~t ~% "
                            "~& ~~ ~* ~? ~^ ~{ ~[ ~(");
}

static Result write_template_part(FormatWriter *w, size_t from, size_t to, Args *args)
{
    for (size_t i = from; i < to;) {
        const char *tilde = memchr(w->text.bytes + i, '~', to - i);
        size_t n = tilde ? (size_t)(tilde - w->text.bytes) - i : to - i;
        if (!ptc_buf_add(w->buf, w->text.bytes + i, n) || !ptc_tick_bytes(&w->vm->budget, n))
            return FAILED;
        i += n;
        if (i >= to)
            break;
        PtcClDirective d;
        Result result = DONE;
        if (!read_cl_directive(w, i, args, &d))
            return FAILED;
        size_t next = d.last;
        if (!write_directive(w, &d, args, &next, &result) || !ptc_buf_ok(w->buf))
            return FAILED;
        if (result != DONE)
            return result;
        i = next;
    }
    return DONE;
}

PTC_BUILTIN(
    pprint_cl_format, "clojure.pprint", "cl-format", 2, -1, PTC_B_EFFECT,
    "(cl-format nil template & args)",
    "Text from a template of Common Lisp: ~a and ~s values, ~d ~b ~o ~x integers (~:d with "
    "commas), "
    "~r words, ~:r ordinals, ~@r Roman, ~f ~$ decimals, ~% line feed, ~{ ~} repetition, ~[ ~; ~] "
    "choice, ~p plural. With true instead of nil it is printed.",
    "(cl-format nil \"~a is ~,2f~%\" \"x\" 3.14159) => \"x is 3.14\\n\"\n"
    "(cl-format nil \"~:d ~r ~:r ~@r\" 1234567 42 21 1999) => "
    "\"1,234,567 forty-two twenty-first MCMXCIX\"\n"
    "(cl-format nil \"~{~a~^, ~}\" [1 2 3]) => \"1, 2, 3\"\n"
    "(cl-format nil \"~d item~:p~[ none~; one~:; many~]\" 3 2) => \"3 items many\"\n"
    "(cl-format nil \"~5,'0d|~8a|~x\" 42 \"ab\" 255) => \"00042|ab      |ff\"\n"
    "(cl-format nil \"~a\") !! value_error\n(cl-format nil 5) !! type_error")
{
    PtcBuf buf;
    if (!ptc_is_string(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a string");
    if (argv[0] != PTC_NIL && !ptc_is_bool(argv[0]))
        return ptc_fail_type(vm, argv, 0, "nil for a string, or true to print");
    Args args = {.at = argv + 2, .count = (size_t)argc - 2};
    ptc_heap_buf_init(vm->heap, &buf);
    FormatWriter w = {vm, &buf, {ptc_str_bytes(argv[1]), ptc_str_len(argv[1])}, 0};
    bool ok = write_template_part(&w, 0, w.text.len, &args) != FAILED;
    if (argv[0] != PTC_TRUE)
        return ptc_format_give(vm, &buf, ok, out);
    ok = ptc_format_check(vm, &buf, ok);
    PtcText text = ptc_buf_view(&buf);
    bool ends = ok && text.len > 0 && text.bytes[text.len - 1] == '\n';
    ok = ok && ptc_vm_print(vm, text.bytes, text.len - ends, ends);
    ptc_buf_deinit(&buf);
    *out = PTC_NIL;
    return ok;
}

PTC_BUILTIN_TABLE(ptc_lib_cl_format, pprint_cl_format);

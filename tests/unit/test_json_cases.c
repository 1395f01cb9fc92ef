/* SPDX-License-Identifier: MIT
 * Every rule of RFC 8259, by the cases in tests/json; the README there says how they are written.  Each text that is
 * accepted is also written and read again, read as the start of a longer text, and read twice inside an array, where
 * the parser's guesses about keys and strings come into play. */
#include "case_help.h"

#include "json/check.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/number/bigint.h"

enum { TEXT = 1 << 20, NAMES = 4096 };

/* --------------------------------------------------------------------- notation */

typedef struct {
    char *bytes;
    size_t len, cap;
} Room;

static Room text = {.cap = TEXT}, want = {.cap = TEXT}, got = {.cap = TEXT};

/* The form of a line.  Only a failure is counted, so that the count is one of cases. */
static void must(bool ok, const char *what)
{
    if (!ok)
        check_case(false, "this line", what);
}

static void add(Room *room, const char *bytes, size_t n)
{
    bool fits = n <= room->cap - room->len;
    must(fits, "too long");
    memcpy(room->bytes + room->len, bytes, fits ? n : 0);
    room->len += fits ? n : 0;
}

static bool same(const Room *a, const Room *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* What stands between < and >: bytes in hexadecimal, or a number of times and a text. */
static void add_coded(Room *room, const char *code, size_t n)
{
    char *after;
    const char *star = memchr(code, '*', n), *end = code + n;
    if (star) {
        unsigned long times = strtoul(code, &after, 10);
        must(after == star && times > 0, "expected <TIMES*TEXT>");
        for (unsigned long i = 0; i < times; i++)
            add(room, star + 1, (size_t)(end - star - 1));
        return;
    }
    while (code < end) {
        char byte = (char)strtoul(code, &after, 16);
        must(after == code + 2 && (after == end || *after == ' '), "expected <HH HH ...>");
        add(room, &byte, 1);
        code = after == end ? end : code + 3;
    }
}

static void decode(Room *room, const char *p, size_t n)
{
    const char *end = p + n;
    room->len = 0;
    while (p < end) {
        const char *close = *p == '<' ? memchr(p, '>', (size_t)(end - p)) : NULL;
        must((*p == '<') == (close != NULL), "a < without >");
        if (close)
            add_coded(room, p + 1, (size_t)(close - p - 1));
        else
            add(room, p, 1);
        p = close ? close + 1 : p + 1;
    }
}

/* ------------------------------------------------------------------------ values */

static void show(Room *room, PtcValue v);

static void show_text(Room *room, PtcValue str)
{
    add(room, "\"", 1);
    add(room, ptc_str_bytes(str), ptc_str_len(str));
    add(room, "\"", 1);
}

/* By the C library, not by our own printing: the shortest digits that give the same double, with a point or
 * exponent. */
static void show_double(Room *room, double d)
{
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, d);
        if (strtod(digits, NULL) == d)
            break;
    }
    if (!strpbrk(digits, ".e"))
        strcat(digits, ".0");
    add(room, digits, strlen(digits));
}

static void show_number(Room *room, PtcValue v)
{
    PtcBuf buf;
    if (ptc_is_float(v)) {
        show_double(room, ptc_to_float(v));
        return;
    }
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    CHECK(ptc_int_print(&h.heap, &buf, v));
    add(room, buf.data, buf.len);
    ptc_buf_deinit(&buf);
}

static void show_array(Room *room, PtcValue v)
{
    add(room, "[", 1);
    for (size_t i = 0; i < ptc_seq_count(v); i++) {
        add(room, ", ", i ? 2 : 0);
        show(room, ptc_seq_nth(v, i));
    }
    add(room, "]", 1);
}

static void show_object(Room *room, PtcValue v)
{
    PtcValue key, value;
    size_t pos = 0, n = 0;
    add(room, "{", 1);
    while (ptc_map_next(v, &pos, &key, &value)) {
        add(room, ", ", n++ ? 2 : 0);
        show_text(room, key);
        add(room, ": ", 2);
        show(room, value);
    }
    add(room, "}", 1);
}

/* The notation of the cases: as JSON, but strings are their bytes, without escapes. */
static void show(Room *room, PtcValue v)
{
    if (v == PTC_NIL)
        add(room, "null", 4);
    else if (ptc_is_bool(v))
        add(room, v == PTC_TRUE ? "true" : "false", v == PTC_TRUE ? 4 : 5);
    else if (ptc_is_string(v))
        show_text(room, v);
    else if (ptc_is_map(v))
        show_object(room, v);
    else if (ptc_is_sequential(v))
        show_array(room, v);
    else
        show_number(room, v);
}

/* ------------------------------------------------------------------------ checks */

/* From a block of exactly that size, so that a sanitizer sees reads beyond it. */
static PtcValue parse_exactly(const Room *from, PtcJsonError *e)
{
    char *copy = malloc(from->len + !from->len);
    memcpy(copy, from->bytes, from->len);
    PtcValue v = ptc_json_parse(&h.heap, copy, from->len, e);
    free(copy);
    return v;
}

static bool has_controls(const Room *room)
{
    for (size_t i = 0; i < room->len; i++)
        if ((unsigned char)room->bytes[i] < ' ')
            return true;
    return false;
}

/* Written, read again and written again: nothing changes. */
static bool is_stable(PtcValue v)
{
    PtcBuf first, second;
    PtcJsonError e;
    PtcJsonWriter w = {&h.heap, -1, NULL};
    ptc_buf_init(&first, &h.mem, SIZE_MAX / 2);
    ptc_buf_init(&second, &h.mem, SIZE_MAX / 2);
    bool ok = ptc_json_write(&w, &first, v, &e);
    PtcValue back = ok ? ptc_json_parse(&h.heap, first.data, first.len, &e) : PTC_NONE;
    ok = back != PTC_NONE && ptc_equal(&h.heap, v, back) && ptc_json_write(&w, &second, back, &e) &&
         first.len == second.len && memcmp(first.data, second.data, first.len) == 0;
    ptc_buf_deinit(&first);
    ptc_buf_deinit(&second);
    return ok;
}

/* The text as the start of a longer one.  A number may not meet what follows. */
static bool is_prefix(PtcValue v)
{
    PtcJsonError e;
    size_t used;
    Room longer = {malloc(text.len + 2), 0, text.len + 2};
    add(&longer, text.bytes, text.len);
    add(&longer, " x", 2);
    PtcValue back = ptc_json_parse_prefix(&h.heap, longer.bytes, longer.len, &used, &e);
    free(longer.bytes);
    return back != PTC_NONE && ptc_equal(&h.heap, v, back) && used == text.len + 1;
}

static bool is_same_twice(PtcValue v)
{
    PtcJsonError e;
    Room both = {malloc(2 * text.len + 3), 0, 2 * text.len + 3};
    add(&both, "[", 1);
    add(&both, text.bytes, text.len);
    add(&both, ",", 1);
    add(&both, text.bytes, text.len);
    add(&both, "]", 1);
    PtcValue pair = parse_exactly(&both, &e);
    free(both.bytes);
    if (pair == PTC_NONE)
        return strstr(e.message, "nested deeper") != NULL;
    return ptc_equal(&h.heap, v, ptc_seq_nth(pair, 0)) &&
           ptc_equal(&h.heap, v, ptc_seq_nth(pair, 1));
}

static void check_accepted(const char *name, PtcValue v, const PtcJsonError *e)
{
    check_case(v != PTC_NONE, name, v == PTC_NONE ? e->message : "");
    if (v == PTC_NONE)
        return;
    got.len = 0;
    show(&got, v);
    if (check_count(same(&got, &want)))
        printf("%s:%d: %s:\n  got:  %.*s\n", case_at.file, case_at.line, name, (int)got.len,
               got.bytes);
    check_case(is_stable(v), name, "written and read again it is another value");
    check_case(is_prefix(v), name, "not read as the start of a longer text");
    check_case(is_same_twice(v), name, "another value when it stands twice in an array");
    check_case(ptc_json_is_line(text.bytes, text.len) == !has_controls(&text), name,
               "ptc_json_is_line differs");
}

/* Wanted: "line:column message". */
static void check_refused(const char *name, PtcValue v, const PtcJsonError *e, const char *wanted)
{
    char said[300];
    /* Text that is only passed on may hold numbers of any size. */
    bool huge = strstr(e->message, "too large") != NULL;
    snprintf(said, sizeof said, "%u:%u %s", e->line, e->column, e->message);
    check_case(v == PTC_NONE, name, "accepted");
    if (v != PTC_NONE)
        return;
    if (check_count(strcmp(said, wanted) == 0))
        printf("%s:%d: %s:\n  got:  %s\n", case_at.file, case_at.line, name, said);
    check_case(!e->stopped, name, "not the text's fault");
    check_case(ptc_json_is_line(text.bytes, text.len) == huge, name, "ptc_json_is_line differs");
}

/* -------------------------------------------------------------------------- lines */

static uint64_t names[NAMES];
static size_t cases;

static void check_name(const char *name)
{
    uint64_t hash = case_name_hash(name);
    bool fresh = cases < NAMES;
    for (size_t i = 0; i < cases; i++)
        fresh = fresh && names[i] != hash;
    must(fresh, "another case has this name");
    if (fresh)
        names[cases++] = hash;
}

/* name, spaces, text, spaces, => or !!, space, what is wanted. */
static void run_line(char *line)
{
    PtcJsonError e = {.message = ""};
    if (!*line || *line == '#')
        return;
    char *name = line, *at = line + strcspn(line, " ");
    char *arrow = strstr(at, " => "), *refusal = strstr(at, " !! ");
    bool accepted = arrow && (!refusal || arrow < refusal);
    char *split = accepted ? arrow : refusal, *wanted = split ? split + 4 : NULL;
    must(split != NULL, "no => and no !!");
    if (!split)
        return;
    while (split > at && split[-1] == ' ')
        split--;
    *at++ = 0;
    at += strspn(at, " ");
    decode(&text, at, split > at ? (size_t)(split - at) : 0);
    check_name(name);
    PtcValue v = parse_exactly(&text, &e);
    decode(&want, wanted, accepted ? strlen(wanted) : 0);
    if (accepted)
        check_accepted(name, v, &e);
    else
        check_refused(name, v, &e, wanted);
}

static void run_nothing(void)
{
}

int main(int argc, char **argv)
{
    enum { FEWEST = 300 };
    check_heap_init(&h);
    text.bytes = malloc(TEXT);
    want.bytes = malloc(TEXT);
    got.bytes = malloc(TEXT);
    case_each_file(argc > 1 ? argv[1] : "tests/json/*.txt", run_line, run_nothing);
    CHECK(cases >= FEWEST);
    CHECK(h.budget.stop == PTC_STOP_NONE);
    free(text.bytes);
    free(want.bytes);
    free(got.bytes);
    check_heap_deinit(&h);
    return check_done("json cases");
}

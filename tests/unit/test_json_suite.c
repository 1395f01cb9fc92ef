/* SPDX-License-Identifier: MIT
 * The JSON parser against the JSON Parsing Test Suite, where that lies (see suite_help.h).  A file's name says what
 * must become of it: y_ is accepted, n_ refused, i_ left to the parser, and we say here which of them we accept. */
#include "suite_help.h"

#include "value/equal.h"

/* Left open by RFC 8259 and accepted: integers have any size, what is too close to zero is zero, and 500 levels are
 * fewer than PTC_JSON_MAX_DEPTH.  All others that are left open are refused: halves of surrogate pairs, invalid UTF-8,
 * other encodings, byte order marks, and numbers that no double can hold. */
static const char *const open_accepted[] = {
    "i_number_double_huge_neg_exp.json",   "i_number_real_underflow.json",
    "i_number_too_big_neg_int.json",       "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json", "i_structure_500_nested_arrays.json",
};

/* The files about what parsers make of a text; refused are those with halves of surrogate pairs. */
static const char *const transform_refused[] = {
    "string_1_escaped_invalid_codepoint.json",  "string_1_invalid_codepoint.json",
    "string_2_escaped_invalid_codepoints.json", "string_2_invalid_codepoints.json",
    "string_3_escaped_invalid_codepoints.json", "string_3_invalid_codepoints.json",
};

enum { PARSING_FILES = 318, TRANSFORM_FILES = 22 }; /* of the suite's version that we know */

static size_t listed; /* files that are on one of the lists above */

static bool is_on(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0)
            return ++listed;
    return false;
}

/* Written text is a fixed point: it reads back as an equal value and is written the same again. */
static bool is_stable(PtcValue v)
{
    static char first[sizeof out];
    snprintf(first, sizeof first, "%s", write(v));
    PtcValue back = parse(first);
    return back != PTC_NONE && ptc_equal(&h.heap, v, back) && strcmp(write(back), first) == 0;
}

static void check_file(const char *path, const char *name, bool want)
{
    size_t len;
    PtcJsonError e;
    char *text = suite_read(path, &len);
    if (check_count(text != NULL))
        printf("%s cannot be read\n", path);
    if (!text)
        return;
    PtcValue v = ptc_json_parse(&h.heap, text, len, &e);
    free(text);
    if (check_count((v != PTC_NONE) == want))
        printf("%s: %s\n", name, v == PTC_NONE ? e.message : "accepted");
    CHECK(v == PTC_NONE || is_stable(v));
    CHECK(v != PTC_NONE || (e.message[0] && !e.stopped));
}

static void check_parsing(const char *path, const char *name)
{
    bool open =
        name[0] == 'i' && is_on(open_accepted, sizeof open_accepted / sizeof *open_accepted, name);
    check_file(path, name, name[0] == 'y' || open);
}

static void check_transform(const char *path, const char *name)
{
    size_t n = sizeof transform_refused / sizeof *transform_refused;
    check_file(path, name, !is_on(transform_refused, n, name));
}

/* A list may not name files that are gone. */
static void run(const char *part, void (*visit)(const char *path, const char *name), int files,
                size_t on_list)
{
    char path[SUITE_PATH];
    listed = 0;
    if (!suite_find(part, path))
        return;
    CHECK(suite_each(path, visit) >= files);
    CHECK(listed == on_list);
}

int main(void)
{
    check_heap_init(&h);
    run("json/test_parsing", check_parsing, PARSING_FILES,
        sizeof open_accepted / sizeof *open_accepted);
    run("json/test_transform", check_transform, TRANSFORM_FILES,
        sizeof transform_refused / sizeof *transform_refused);
    CHECK(h.budget.stop == PTC_STOP_NONE);
    check_heap_deinit(&h);
    return check_done("json suite");
}

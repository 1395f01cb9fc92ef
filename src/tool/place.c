/* SPDX-License-Identifier: MIT
 * Paths and messages about nested values.  What always holds: a message fits its buffer and shows keys cut to a
 * bounded length. */
#include "tool/place.h"

#include <stdio.h>

#include "value/number/number.h"
#include "value/str.h"

/* Fills error->path. */
static void write_argument_path(const PtcPlace *place, PtcKeysError *error)
{
    const PtcPlace *steps[PTC_PLACE_DEPTH + 2];
    size_t n = 0;
    error->path[0] = 0;
    for (; place && place->up && n < sizeof steps / sizeof *steps; place = place->up)
        steps[n++] = place;
    while (n-- > 0) {
        if (steps[n]->key != PTC_NONE)
            ptc_path_add_key(error->path, sizeof error->path, steps[n]->key);
        else
            ptc_path_add_index(error->path, sizeof error->path, steps[n]->index);
    }
}

bool ptc_place_refuse(const PtcPlace *place, PtcKeysError *error, const char *what)
{
    write_argument_path(place, error);
    snprintf(
        error->message, sizeof error->message,
        "%s is %s, but tools take only values that JSON can express: convert it or leave it out",
        error->path[0] ? error->path : "the argument", what);
    snprintf(error->what, sizeof error->what, "%s has no JSON", what);
    return false;
}

bool ptc_place_too_deep(const PtcPlace *place, PtcKeysError *error)
{
    write_argument_path(place, error);
    snprintf(error->message, sizeof error->message,
             "the arguments are nested deeper than %d levels, at %.60s...", PTC_PLACE_DEPTH,
             error->path);
    snprintf(error->what, sizeof error->what, "nested deeper than %d levels", PTC_PLACE_DEPTH);
    return false;
}

/* Appends a key as a program writes it, cut when it is long. */
static void show_place_key(char *text, size_t size, PtcValue key)
{
    enum { PLACE_SHOWN = 60 };
    char number[PTC_DOUBLE_TEXT];
    if (ptc_is_int(key)) {
        int n = snprintf(number, sizeof number, "%lld", (long long)ptc_to_int(key));
        ptc_path_add_text(text, size, number, (size_t)n);
    } else if (ptc_is_float(key)) {
        ptc_path_add_text(text, size, number, ptc_double_print(ptc_to_float(key), number));
    } else if (ptc_is_named(key)) {
        size_t len = ptc_str_len(key), n = len < PLACE_SHOWN ? len : PLACE_SHOWN,
               end = strlen(text);
        bool quoted = ptc_is_string(key);
        ptc_path_add_text(text, size, quoted ? "\"" : ":", ptc_is(key, PTC_T_SYMBOL) ? 0 : 1);
        size_t room = end + 1 + n + 1;
        ptc_path_add_text(text, room < size ? room : size, ptc_str_bytes(key), len);
        ptc_path_add_text(text, size, "...", n < len ? 3 : 0);
        ptc_path_add_text(text, size, "\"", quoted ? 1 : 0);
    } else {
        ptc_path_add_text(text, size, "another key", 11);
    }
}

bool ptc_place_clash(const PtcPlace *place, PtcKeysError *error, PtcValue first, PtcValue second)
{
    char *what = error->what;
    write_argument_path(place, error);
    bool inside = error->path[0] != 0;
    snprintf(what, sizeof error->what, "the keys ");
    show_place_key(what, sizeof error->what, first);
    ptc_path_add_text(what, sizeof error->what, " and ", 5);
    show_place_key(what, sizeof error->what, second);
    snprintf(error->message, sizeof error->message,
             "%s%s%s%s become the same name for a tool: give one of them", inside ? "in " : "",
             error->path, inside ? ": " : "", what);
    static const char rest[] = " become one name";
    ptc_path_add_text(what, sizeof error->what, rest, sizeof rest - 1);
    return false;
}

/* SPDX-License-Identifier: MIT
 * Filling in a PtcWhy.  What always holds: both texts end in NUL inside their arrays, and nothing is allocated. */
#include "base/why.h"

#include <stdio.h>
#include <string.h>

/* Ends what did not fit into `size` bytes with "...", after a whole character. */
static void mark_cut(char *text, size_t size)
{
    size_t end = size - sizeof "...";
    for (int back = 0; back < 3 && ((unsigned char)text[end] & 0xc0) == 0x80; back++)
        end--;
    memcpy(text + end, "...", sizeof "...");
}

/* Formats beside `out`, into which the arguments may point, and puts `after` (which may be `out`) behind it. */
static void format_before(char *out, size_t size, const char *after, const char *format,
                          va_list args)
{
    char whole[PTC_WHY_TEXT];
    int n = vsnprintf(whole, size, format, args);
    size_t len = n > 0 ? (size_t)n : 0, rest = strlen(after);
    if (len < size) {
        size_t room = size - 1 - len, take = rest < room ? rest : room;
        memcpy(whole + len, after, take);
        whole[len + take] = '\0';
    }
    len += rest;
    if (len >= size)
        mark_cut(whole, size);
    memcpy(out, whole, (len < size ? len : size - 1) + 1);
}

bool ptc_why_vsay(PtcWhy *why, PtcWhyClass class, int code, const char *format, va_list args)
{
    if (!why)
        return false;
    format_before(why->text, sizeof why->text, "", format, args);
    why->class = class;
    why->code = code;
    why->path[0] = '\0';
    return false;
}

bool ptc_why_say(PtcWhy *why, PtcWhyClass class, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptc_why_vsay(why, class, 0, format, args);
    va_end(args);
    return false;
}

bool ptc_why_say_code(PtcWhy *why, PtcWhyClass class, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptc_why_vsay(why, class, code, format, args);
    va_end(args);
    return false;
}

bool ptc_why_no_memory(PtcWhy *why)
{
    static const char text[] = "out of memory";
    if (!why)
        return false;
    ptc_why_init(why);
    why->class = PTC_WHY_NO_MEMORY;
    memcpy(why->text, text, sizeof text);
    return false;
}

bool ptc_why_copy(PtcWhy *to, const PtcWhy *from)
{
    if (!to || to == from)
        return false;
    to->class = from->class;
    to->code = from->code;
    memcpy(to->text, from->text, strlen(from->text) + 1);
    memcpy(to->path, from->path, strlen(from->path) + 1);
    return false;
}

bool ptc_why_prefix(PtcWhy *why, const char *format, ...)
{
    if (!why)
        return false;
    va_list args;
    va_start(args, format);
    format_before(why->text, sizeof why->text, why->text, format, args);
    va_end(args);
    return false;
}

bool ptc_why_reword(PtcWhy *why, const char *format, ...)
{
    if (!why)
        return false;
    va_list args;
    va_start(args, format);
    format_before(why->text, sizeof why->text, "", format, args);
    va_end(args);
    return false;
}

bool ptc_why_at(PtcWhy *why, const char *format, ...)
{
    if (!why)
        return false;
    va_list args;
    va_start(args, format);
    format_before(why->path, sizeof why->path, "", format, args);
    va_end(args);
    return false;
}

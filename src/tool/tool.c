/* SPDX-License-Identifier: MIT
 * Definitions of tools.  What always holds: a name that passes the check can be written in a program and sent to a
 * provider; every message names the tool. */
#include "tool/tool.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"

static const char reserved[] = "lisp_eval";
/* tool/call and its kin are functions of the language. */
static const char *const builtins[] = {"call", "servers", "blob", "resource"};

void ptc_tool_init(PtcToolInfo *tool, const char *name, size_t name_len)
{
    *tool = (PtcToolInfo){.name = name,
                          .name_len = name_len,
                          .native_result = {.limit = PTC_PREVIEW_LIMIT},
                          .retry = {.attempts = PTC_TOOL_ATTEMPTS, .base_ms = PTC_TOOL_BASE_MS}};
}

const char *ptc_tool_type_name(PtcToolType type)
{
    static const char *const names[] = {"native", "llm", "subagent"};
    return names[type];
}

/* ----------------------------------------------------------------------- names */

/* May occur in a tool's name: what symbols of the language allow. */
static bool is_tool_name_char(char c)
{
    return ptc_ascii_is_alnum(c) || (c && strchr("_-.?!*+<>=&$", c));
}

/* The byte at `at` is not allowed; shows the character it begins. */
static bool refuse_char(const char *name, size_t len, size_t at, PtcWhy *why)
{
    unsigned char c = (unsigned char)name[at];
    uint32_t code;
    int n = c < 0x80 || !ptc_utf8_valid(name, len)
                ? 1
                : (int)ptc_utf8_decode(name + at, len - at, &code);
    if (c <= ' ' || c == 0x7f || (n == 1 && c >= 0x80))
        return ptc_why_say(
            why, PTC_WHY_INVALID,
            "a tool's name may not have byte 0x%02X at position %zu: it is made of letters, "
            "digits and _-.?!*+<>=&$",
            c, at + 1);
    return ptc_why_say(
        why, PTC_WHY_INVALID,
        "a tool's name may not have `%.*s`, as in `%.*s`: it is made of letters, digits and "
        "_-.?!*+<>=&$",
        PTC_ARG_OF(name + at, n), PTC_ARG_OF(name, len));
}

bool ptc_tool_check_name(const char *name, size_t len, PtcWhy *why)
{
    if (!name || len == 0)
        return ptc_why_say(why, PTC_WHY_INVALID, "a tool needs a name");
    if (len > PTC_TOOL_NAME_MAX)
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "a tool's name of %zu bytes is too long: at most %d", len,
                           PTC_TOOL_NAME_MAX);
    for (size_t i = 0; i < len; i++)
        if (!is_tool_name_char(name[i]))
            return refuse_char(name, len, i, why);
    if (name[0] == '.' || name[len - 1] == '.')
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "a tool's name may not begin or end with a dot: `%.*s`",
                           PTC_ARG_OF(name, len));
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (ptc_text_is((PtcText){name, len}, builtins[i]))
            return ptc_why_say(why, PTC_WHY_INVALID,
                               "tool/%s is a function of the language: choose another name",
                               builtins[i]);
    if (len == sizeof reserved - 1 && memcmp(name, reserved, len) == 0)
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "%s is the tool that runs programs: choose another name", reserved);
    return true;
}

/* ----------------------------------------------------------------- definitions */

bool ptc_tool_refuse(PtcWhy *why, const PtcToolInfo *tool, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptc_why_vsay(why, PTC_WHY_INVALID, PTC_TOOL_NAMED, format, args);
    va_end(args);
    ptc_why_prefix(why, "tool %.*s: ", PTC_ARG_OF(tool->name, tool->name_len));
    return ptc_why_at(why, "%s", key);
}

static bool check_native_result(const PtcToolInfo *t, PtcWhy *why)
{
    const char *expose = ptc_expose_name(t->expose);
    const PtcNativeResult *r = &t->native_result;
    if (t->expose != PTC_EXPOSE_BOTH || !t->cache)
        return ptc_tool_refuse(why, t, "native_result",
                               "native_result needs expose both and cache true, since the preview "
                               "points to the cached result; here expose is %s and cache is %s",
                               expose ? expose : "not set", t->cache ? "true" : "false");
    if (r->limit < 1 || r->limit > PTC_TOOL_ROWS_MAX)
        return ptc_tool_refuse(why, t, "native_result",
                               "native_result.limit is %lld, expected 1 to %d", (long long)r->limit,
                               PTC_TOOL_ROWS_MAX);
    if (r->kind == PTC_PREVIEW_CUSTOM && !r->fn)
        return ptc_tool_refuse(why, t, "native_result", "native_result.preview has no function");
    return true;
}

bool ptc_tool_check(const PtcToolInfo *t, PtcWhy *why)
{
    if (!ptc_tool_check_name(t->name, t->name_len, why))
        return false;
    if (t->skip_validation && t->signature)
        return ptc_tool_refuse(why, t, "",
                               "a signature and \"skip validation\" exclude each other");
    if (t->serial && t->uncounted)
        return ptc_tool_refuse(why, t, "", "serial is not for tools whose time does not count");
    if (t->timeout_ms < 0)
        return ptc_tool_refuse(why, t, "", "timeout_ms is %lld, expected at least 1",
                               (long long)t->timeout_ms);
    if ((t->signature && !ptc_utf8_valid(t->signature, t->signature_len)) ||
        (t->description && !ptc_utf8_valid(t->description, t->description_len)))
        return ptc_tool_refuse(why, t, "signature", "its signature or description is not UTF-8");
    return !t->has_native_result || check_native_result(t, why);
}

static bool copy_tool_text(PtcArena *arena, const char **text, size_t len)
{
    if (!*text)
        return true;
    char *copy = ptc_arena_alloc(arena, len + 1);
    if (!copy)
        return false;
    memcpy(copy, *text, len);
    copy[len] = 0;
    *text = copy;
    return true;
}

bool ptc_tool_copy(PtcArena *arena, const PtcToolInfo *from, PtcToolInfo *to)
{
    *to = *from;
    return copy_tool_text(arena, &to->name, to->name_len) &&
           copy_tool_text(arena, &to->signature, to->signature_len) &&
           copy_tool_text(arena, &to->description, to->description_len);
}

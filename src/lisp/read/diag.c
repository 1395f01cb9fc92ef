/* SPDX-License-Identifier: MIT
 * Findings and errors.  What always holds: every text fits its field and is cut between characters. */
#include "lisp/read/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *reason;
    bool terminal;
    PtcThrown thrown; /* of limits, which nobody catches, it means nothing */
} kinds[PTC_E_COUNT] = {
    [PTC_E_NONE] = {"none", "runtime_error", false, PTC_C_EXCEPTION_INFO},
    [PTC_E_PARSE] = {"parse_error", "parse_error", false, PTC_C_EXCEPTION_INFO},
    [PTC_E_INVALID_FORM] = {"invalid_form", "runtime_error", false, PTC_C_EXCEPTION_INFO},
    [PTC_E_UNBOUND] = {"unbound_var", "runtime_error", false, PTC_C_ILLEGAL_STATE},
    [PTC_E_ARITY] = {"arity_error", "runtime_error", false, PTC_C_ARITY},
    [PTC_E_TYPE] = {"type_error", "runtime_error", false, PTC_C_CLASS_CAST},
    [PTC_E_ARITH] = {"arithmetic_error", "runtime_error", false, PTC_C_ARITHMETIC},
    [PTC_E_NOT_CALLABLE] = {"not_callable", "runtime_error", false, PTC_C_CLASS_CAST},
    [PTC_E_INDEX] = {"index_error", "runtime_error", false, PTC_C_INDEX},
    [PTC_E_VALUE] = {"value_error", "runtime_error", false, PTC_C_ILLEGAL_ARGUMENT},
    [PTC_E_TOOL] = {"tool_error", "runtime_error", false, PTC_C_EXCEPTION_INFO},
    [PTC_E_UNKNOWN_TOOL] = {"unknown_tool", "runtime_error", false, PTC_C_EXCEPTION_INFO},
    [PTC_E_TOOL_ARGS] = {"invalid_tool_args", "runtime_error", false, PTC_C_EXCEPTION_INFO},
    [PTC_E_TOOL_DENIED] = {"tool_denied", "runtime_error", false, PTC_C_EXCEPTION_INFO},
    [PTC_E_TOOL_LIMIT] = {"tool_call_limit_exceeded", "runtime_error", true, PTC_C_EXCEPTION_INFO},
    [PTC_E_VALIDATION] = {"validation_error", "validation_error", false, PTC_C_EXCEPTION_INFO},
    [PTC_E_THROWN] = {"thrown", "runtime_error", false, PTC_C_EXCEPTION_INFO},
    [PTC_E_FAIL] = {"fail", "fail", true, PTC_C_EXCEPTION_INFO},
    [PTC_E_TIMEOUT] = {"timeout", "timeout", true, PTC_C_EXCEPTION_INFO},
    [PTC_E_DEADLINE] = {"deadline", "timeout", true, PTC_C_EXCEPTION_INFO},
    [PTC_E_MEMORY] = {"memory_exceeded", "memory_limit", true, PTC_C_EXCEPTION_INFO},
    [PTC_E_DEFINITIONS] = {"memory_limit", "memory_limit", true, PTC_C_EXCEPTION_INFO},
    [PTC_E_LOOP] = {"loop_limit_exceeded", "runtime_error", true, PTC_C_EXCEPTION_INFO},
    [PTC_E_DEPTH] = {"depth_exceeded", "runtime_error", true, PTC_C_EXCEPTION_INFO},
    [PTC_E_SIZE] = {"size_exceeded", "runtime_error", true, PTC_C_EXCEPTION_INFO},
    [PTC_E_CANCELLED] = {"cancelled", "runtime_error", true, PTC_C_EXCEPTION_INFO},
    [PTC_E_SUSPENDED] = {"suspended", "runtime_error", true, PTC_C_EXCEPTION_INFO},
    [PTC_E_KEY] = {"unknown_key", "runtime_error", false, PTC_C_EXCEPTION_INFO},
    [PTC_E_ARGS] = {"args_error", "args_error", false, PTC_C_EXCEPTION_INFO},
};

const char *ptc_error_kind_name(PtcErrorKind kind)
{
    return kinds[kind].name;
}

const char *ptc_error_reason(PtcErrorKind kind)
{
    return kinds[kind].reason;
}

bool ptc_error_is_terminal(PtcErrorKind kind)
{
    return kinds[kind].terminal;
}

PtcThrown ptc_error_thrown(PtcErrorKind kind)
{
    return kinds[kind].thrown;
}

const char ptc_hint_data_called[] = "a list calls its first element; write data as [a b]";
const char ptc_hint_string_called[] =
    "a list calls its first element; write data as [a b], and (get row \"key\") for a key";

void ptc_diags_init(PtcDiags *diags, PtcArena *arena)
{
    memset(diags, 0, sizeof *diags);
    diags->arena = arena;
}

/* `out` holds a text that may have been cut at `size` - 1 bytes: makes it end at a character, with "...". */
static void end_cut_text(char *out, size_t size, int wanted)
{
    if (wanted < 0) {
        out[0] = 0;
        return;
    }
    if ((size_t)wanted < size)
        return;
    size_t n = size - 4;
    while (n > 0 && ((unsigned char)out[n] & 0xc0) == 0x80)
        n--;
    memcpy(out + n, "...", 4);
}

void ptc_diag_format(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    end_cut_text(out, size, vsnprintf(out, size, format, args));
    va_end(args);
}

static bool seen(const PtcDiags *diags, PtcErrorKind kind, uint32_t first)
{
    for (size_t i = 0; i < diags->count; i++)
        if (diags->items[i].kind == kind && diags->items[i].first == first)
            return true;
    return false;
}

PtcDiag *ptc_diag_add(PtcDiags *diags, PtcErrorKind kind, uint32_t first, uint32_t last,
                      const char *format, ...)
{
    if (!diags->items)
        diags->items = ptc_arena_alloc(diags->arena, PTC_DIAG_MAX * sizeof(PtcDiag));
    if (!diags->items || diags->count == PTC_DIAG_MAX || seen(diags, kind, first))
        return NULL;
    PtcDiag *d = &diags->items[diags->count++];
    d->kind = kind;
    d->first = first;
    d->last = last;
    d->hint[0] = 0;
    d->detail = PTC_DETAIL_NONE;
    d->about_nil = false;
    va_list args;
    va_start(args, format);
    end_cut_text(d->message, PTC_MESSAGE_MAX + 1,
                 vsnprintf(d->message, PTC_MESSAGE_MAX + 1, format, args));
    va_end(args);
    return d;
}

void ptc_diag_hint(PtcDiag *diag, const char *format, ...)
{
    if (!diag)
        return;
    va_list args;
    va_start(args, format);
    end_cut_text(diag->hint, PTC_HINT_MAX + 1,
                 vsnprintf(diag->hint, PTC_HINT_MAX + 1, format, args));
    va_end(args);
}

void ptc_diag_place(const char *source, size_t len, uint32_t offset, uint32_t *line,
                    uint32_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < len && i < offset; i++) {
        if (source[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)source[i] & 0xc0) != 0x80) {
            ++*column;
        }
    }
}

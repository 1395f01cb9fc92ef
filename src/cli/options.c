/* SPDX-License-Identifier: MIT
 * Options of commands, driven by a table.  What always holds: a mistake is reported once, on standard error, naming
 * the option and what it accepts, and parsing stops there. */
#include "cli/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text/nearest.h"
#include "cli/cmd/cmd.h"
#include "cli/help.h"
#include "cli/io.h"

/* -------------------------------------------------------------------- help */

void ptc_options_default(const PtcOption *option, const void *target, char *out, size_t size)
{
    const void *field = (const char *)target + option->field;
    *out = 0;
    if (option->type == PTC_OPTION_INT) {
        int64_t n = *(const int64_t *)field;
        if (n >= option->min && n <= option->max)
            snprintf(out, size, " (%lld)", (long long)n);
    } else if (option->type == PTC_OPTION_CHOICE && *(const int *)field >= 0) {
        const char *word = option->value;
        for (int skip = *(const int *)field; skip > 0; skip--)
            word += strcspn(word, "|") + 1;
        snprintf(out, size, " (%.*s)", PTC_ARG_OF(word, strcspn(word, "|")));
    }
}

static struct {
    PtcOptionsTake take;
    void *user;
} taker;

void ptc_options_take_help(PtcOptionsTake take, void *user)
{
    taker.take = take;
    taker.user = user;
}

static void print_option_help(const PtcUsage *usage, void *target, bool all)
{
    if (usage->resolve)
        usage->resolve(target);
    if (taker.take)
        taker.take(taker.user, usage, target);
    else
        ptc_help_print(usage, target, all);
}

static void write_refusal(const PtcUsage *usage, const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    ptc_io_printf(PTC_IO_STDERR, "ptc %s: %s\n", usage->command, text);
}

int ptc_options_wrong(const PtcUsage *usage, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_refusal(usage, format, args);
    va_end(args);
    ptc_io_printf(PTC_IO_STDERR, "Try: ptc %s --help\n", usage->command);
    return PTC_EXIT_USAGE;
}

int ptc_options_refuse(const PtcUsage *usage, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_refusal(usage, format, args);
    va_end(args);
    return PTC_EXIT_USAGE;
}

/* ------------------------------------------------------------------ values */

static bool set_int(const PtcUsage *usage, const PtcOption *option, int64_t *field,
                    const char *origin, const char *text)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    bool digits = ptc_ascii_is_digit(*text) || *text == '-';
    if (digits && *end == 0 && !errno && n >= option->min && n <= option->max) {
        *field = n;
        return true;
    }
    ptc_options_wrong(usage, "%s wants a whole number from %lld to %lld, not '%.40s'", origin,
                      (long long)option->min, (long long)option->max, text);
    return false;
}

/* The word of "a|b|c" that was probably meant: one that begins with the text, else the nearest.  Its length; 0:
 * none. */
static size_t guess_word(const char *words, const char *text, const char **guess)
{
    PtcNearest nearest;
    ptc_nearest_init(&nearest, text, strlen(text));
    for (const char *word = words; *word;) {
        size_t n = strcspn(word, "|");
        if (*text && n > strlen(text) && !strncmp(word, text, strlen(text))) {
            *guess = word;
            return n;
        }
        ptc_nearest_offer(&nearest, word, n);
        word += n + (word[n] == '|');
    }
    *guess = nearest.best;
    return nearest.best ? nearest.best_len : 0;
}

static bool set_choice(const PtcUsage *usage, const PtcOption *option, int *field,
                       const char *origin, const char *text)
{
    int place = ptc_text_choice(ptc_text_cstr(text), option->value);
    const char *guess;
    if (place >= 0) {
        *field = place;
        return true;
    }
    size_t n = guess_word(option->value, text, &guess);
    ptc_options_wrong(usage, "%s is one of %s, not '%.40s'%s%.*s%s", origin, option->value, text,
                      n ? "; did you mean " : "", PTC_ARG_OF(n ? guess : "", n), n ? "?" : "");
    return false;
}

static bool set_flag(const PtcUsage *usage, bool *field, const char *origin, const char *text)
{
    int place = ptc_text_choice(ptc_text_cstr(text), "true|1|yes|on|false|0|no|off");
    if (place >= 0)
        *field = place < 4;
    else
        ptc_options_wrong(usage, "%s is true or false, not '%.40s'", origin, text);
    return place >= 0;
}

static bool add_option_item(const PtcUsage *usage, PtcOptionList *list, const char *origin,
                            const char *text)
{
    if (list->count < PTC_OPTION_ITEMS) {
        list->items[list->count++] = text;
        return true;
    }
    ptc_options_wrong(usage, "%s is given more than %d times", origin, PTC_OPTION_ITEMS);
    return false;
}

bool ptc_options_set(const PtcUsage *usage, const PtcOption *option, void *target,
                     const char *origin, const char *text)
{
    void *field = (char *)target + option->field;
    switch (option->type) {
    case PTC_OPTION_FLAG: return set_flag(usage, field, origin, text);
    case PTC_OPTION_TEXT: *(const char **)field = text; return true;
    case PTC_OPTION_INT: return set_int(usage, option, field, origin, text);
    case PTC_OPTION_CHOICE: return set_choice(usage, option, field, origin, text);
    case PTC_OPTION_LIST: return add_option_item(usage, field, origin, text);
    }
    return false;
}

static bool set_value(const PtcUsage *usage, const PtcOption *option, void *target,
                      const char *text)
{
    char origin[80];
    snprintf(origin, sizeof origin, "--%s", option->name);
    if (option->type == PTC_OPTION_FLAG && !text)
        text = "true";
    return ptc_options_set(usage, option, target, origin, text);
}

/* ----------------------------------------------------------------- parsing */

const PtcOption *ptc_options_find(const PtcUsage *usage, const char *name, size_t len)
{
    for (size_t i = 0; i < usage->option_count; i++)
        if (strlen(usage->options[i].name) == len && !memcmp(usage->options[i].name, name, len))
            return &usage->options[i];
    return NULL;
}

static const PtcOption *find_letter(const PtcUsage *usage, char letter)
{
    for (size_t i = 0; i < usage->option_count; i++)
        if (usage->options[i].letter == letter)
            return &usage->options[i];
    return NULL;
}

/* What an option, with its value, is called here that other commands call by this word; NULL: not known, or this
 * command has none. */
static const char *option_by_other_word(const PtcUsage *usage, const char *word, size_t len)
{
    static const char *const words[][2] = {
        {"model", "llm"},          {"m", "llm"},
        {"output", "format"},      {"o", "format"},
        {"timeout", "timeout-ms"}, {"raw-output", "raw"},
        {"table", "format table"}, {"csv", "format csv"},
        {"json", "format json"},   {"pretty", "format pretty"},
        {"debug", "trace FILE"},   {"port", "http 127.0.0.1:PORT"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i][0]) == len && !memcmp(words[i][0], word, len) &&
            ptc_options_find(usage, words[i][1], strcspn(words[i][1], " ")))
            return words[i][1];
    return NULL;
}

static void refuse_unknown_option(const PtcUsage *usage, const char *arg)
{
    const char *word = arg + strspn(arg, "-");
    size_t len = strcspn(word, "=");
    const char *other = option_by_other_word(usage, word, len);
    PtcNearest nearest;
    ptc_nearest_init(&nearest, word, len);
    for (size_t i = 0; i < usage->option_count; i++)
        ptc_nearest_offer(&nearest, usage->options[i].name, strlen(usage->options[i].name));
    if (other || nearest.best)
        ptc_options_wrong(usage, "unknown option %.*s; did you mean --%s?",
                          PTC_ARG_OF(arg, word - arg + (ptrdiff_t)len),
                          other ? other : nearest.best);
    else
        ptc_options_wrong(usage, "unknown option %.*s",
                          PTC_ARG_OF(arg, word - arg + (ptrdiff_t)len));
}

bool ptc_options_is_help(const char *arg)
{
    return !strcmp(arg, "--help") || !strcmp(arg, "--help=all") || !strcmp(arg, "-h");
}

/* Parses one option at argv[*at]; moves *at to the last argument it used. */
static PtcParse parse_option(const PtcUsage *usage, void *target, int argc, char **argv, int *at)
{
    const char *arg = argv[*at];
    bool is_long = arg[1] == '-';
    const char *equals = is_long ? strchr(arg, '=') : NULL;
    size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
    if (ptc_options_is_help(arg)) {
        const char *word = equals ? equals + 1 : *at + 1 < argc ? argv[*at + 1] : "";
        print_option_help(usage, target, !strcmp(word, "all"));
        return PTC_PARSE_HELP;
    }
    const PtcOption *option = is_long    ? ptc_options_find(usage, arg + 2, len - 2)
                              : len == 2 ? find_letter(usage, arg[1])
                                         : NULL;
    const char *value = equals ? equals + 1 : NULL;
    if (!option)
        refuse_unknown_option(usage, arg);
    else if (option->value && !value && *at + 1 >= argc)
        ptc_options_wrong(usage, "--%s wants a value: --%s %s", option->name, option->name,
                          option->value);
    else if (set_value(usage, option, target, option->value && !value ? argv[++*at] : value))
        return PTC_PARSE_OK;
    return PTC_PARSE_WRONG;
}

static bool is_option_argument(const PtcUsage *usage, const char *arg)
{
    if (usage->long_only && arg[0] == '-' && arg[1] != '-')
        return strcmp(arg, "-h") == 0;
    return arg[0] == '-' && arg[1] && !ptc_ascii_is_digit(arg[1]);
}

PtcParse ptc_options_parse(const PtcUsage *usage, void *target, int *argc, char **argv)
{
    int rest = 0;
    bool open = true;
    for (int i = 0; i < *argc; i++) {
        if (open && !strcmp(argv[i], "--")) {
            open = false;
        } else if (open && is_option_argument(usage, argv[i])) {
            PtcParse parse = parse_option(usage, target, *argc, argv, &i);
            if (parse != PTC_PARSE_OK)
                return parse;
        } else {
            argv[rest++] = argv[i];
        }
    }
    *argc = rest;
    return PTC_PARSE_OK;
}

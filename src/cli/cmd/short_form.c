/* SPDX-License-Identifier: MIT
 * The short form.  What always holds: a word that could be a mistyped command is not taken for a program, and standard
 * input is read only by programs that mention what is in it. */
#include "cli/cmd/short_form.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "cli/io.h"
#include "data/data_file.h"

static bool has_ending(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);
    return len > n && strcmp(text + len - n, end) == 0;
}

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

static bool looks_like_program(const char *text)
{
    return strchr("([{\"'#:;*\\", text[0]) || ptc_ascii_is_digit(text[0]) ||
           strpbrk(text, " \t\n(") || !strcmp(text, "data") || !strcmp(text, "rows") ||
           !strncmp(text, "data/", 5);
}

bool ptc_short_form_is_file(const char *text)
{
    return text[0] != '-' && !looks_like_program(text) && exists(text);
}

const char *ptc_short_form_named(const char *text, char name[PTC_DATA_IN_NAME])
{
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : 0;
    if (len == 0 || len >= PTC_DATA_IN_NAME || !equals[1])
        return NULL;
    memcpy(name, text, len);
    name[len] = 0;
    return ptc_shared_is_name(name) ? equals + 1 : NULL;
}

static bool is_named(const char *text)
{
    char name[PTC_DATA_IN_NAME];
    return ptc_short_form_named(text, name) != NULL;
}

/* Can it be only a file?  What begins like a program may be one as well, if it is there and is called like data. */
static bool is_input(const char *text)
{
    return !strcmp(text, "-") || is_named(text) || ptc_short_form_is_file(text) ||
           (exists(text) && ptc_data_kind(text) != PTC_DATA_TOLD);
}

/* A name with a point or a slash is meant as a file even if there is none, which is then said. */
bool ptc_short_form_begins(const char *first)
{
    return first[0] &&
           (first[0] == '-' || looks_like_program(first) || exists(first) || is_named(first) ||
            strpbrk(
                first,
                "./[|$\"")); /* the last four are of no command: a mistaken program, which is explained */
}

bool ptc_short_form_is_script(const char *path)
{
    char start[2];
    struct stat st;
    if (looks_like_program(path) || path[0] == '-' || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    if (has_ending(path, ".clj") || has_ending(path, ".ptc"))
        return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool marked = fd >= 0 && read(fd, start, 2) == 2 && memcmp(start, "#!", 2) == 0;
    if (fd >= 0)
        close(fd);
    return marked;
}

/* It begins like a path, or ends like a file that is read here. */
bool ptc_short_form_is_path(const char *text)
{
    PtcDataKind kind = ptc_data_kind(text);
    return !looks_like_program(text) &&
           (text[0] == '/' || !strncmp(text, "./", 2) || !strncmp(text, "../", 3) ||
            has_ending(text, ".clj") || has_ending(text, ".ptc") || kind != PTC_DATA_TOLD);
}

/* There is no program, and no file that could be looked at. */
static const char *which_program(PtcShortForm *f)
{
    snprintf(f->why, sizeof f->why,
             "which program? It comes after the file: ptc orders.csv '(count rows)'");
    return f->why;
}

static const char *no_such_file(PtcShortForm *f, const char *path)
{
    snprintf(f->why, sizeof f->why, "%.200s: there is no such file", path);
    return f->why;
}

/* Moves NAME=FILE in front of the other files; the order among each is kept. */
static void divide_inputs(PtcShortForm *f, int count, char **argv)
{
    int named = 0;
    for (int i = 0; i < count; i++) {
        char *item = argv[i];
        if (!is_named(item))
            continue;
        memmove(argv + named + 1, argv + named, (size_t)(i - named) * sizeof *argv);
        argv[named++] = item;
    }
    f->named = argv;
    f->named_count = named;
    f->inputs = argv + named;
    f->input_count = count - named;
}

/* What is wrong with the files that stand before the program. */
static const char *check_inputs(PtcShortForm *f)
{
    char name[PTC_DATA_IN_NAME];
    for (int i = 0; i < f->named_count; i++) {
        const char *path = ptc_short_form_named(f->named[i], name);
        if (strcmp(path, "-") != 0 && !exists(path))
            return no_such_file(f, path);
    }
    for (int i = 0; i < f->input_count && f->input_count > 1; i++)
        if (!is_input(f->inputs[i]) && !exists(f->inputs[i]))
            return looks_like_program(f->inputs[i])
                       ? "give files and one program, the program last: ptc a.csv b.csv '(count "
                         "rows)'"
                       : no_such_file(f, f->inputs[i]);
    return NULL;
}

const char *ptc_short_form_read(PtcShortForm *f, int argc, char **argv, bool given)
{
    *f = (PtcShortForm){0};
    if (argc > 0 && !given && ptc_short_form_is_script(argv[0])) {
        f->script = argv[0];
        f->args = argv + 1;
        f->arg_count = argc - 1;
        return NULL;
    }
    if (argc == 0 && !given)
        return which_program(f);
    if (argc == 2 && !given && looks_like_program(argv[0]) && !is_input(argv[0]) &&
        is_input(argv[1]))
        return "the file comes first, then the program: ptc orders.csv '(count rows)'";
    f->summary = !given && is_input(argv[argc - 1]);
    if (!given && !f->summary)
        f->program = argv[--argc];
    divide_inputs(f, argc, argv);
    if (f->program && ptc_short_form_is_path(f->program))
        return no_such_file(f, f->program);
    return check_inputs(f);
}

/* ---------------------------------------------------------------------------- standard input */

static bool is_in_name(char c)
{
    return ptc_ascii_is_alnum(c) || (c & 0x80) || (c && strchr("-_*+!?<>=.:%&$", c));
}

/* data/NAME is an entry of the context, data/data and data/rows are the same as data and rows.  What is meant by data.a
 * can only be said by who knows the data. */
static bool has_data_name(const char *program, size_t len, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= len; i++)
        if (memcmp(program + i, name, n) == 0 && (i == 0 || !is_in_name(program[i - 1])) &&
            (i + n == len || program[i + n] == '.' ||
             (!is_in_name(program[i + n]) && program[i + n] != '/')))
            return true;
    return false;
}

bool ptc_short_form_wants_stdin(const PtcShortForm *f, const char *program, size_t len)
{
    bool asked = has_data_name(program, len, "data") || has_data_name(program, len, "rows");
    return f->input_count == 0 && asked && isatty(PTC_IO_STDIN) != 1;
}

void ptc_short_form_limits(PtcLimits *l)
{
    enum { MINUTE = 60 * 1000 };
    if (l->timeout_ms == PTC_UNSET)
        l->timeout_ms = MINUTE;
    if (l->deadline_ms == PTC_UNSET)
        l->deadline_ms = 10 * MINUTE;
    if (l->memory_bytes == PTC_UNSET)
        l->memory_bytes = (int64_t)1024 * PTC_MB;
    if (l->result_bytes == PTC_UNSET)
        l->result_bytes = 64 * PTC_MB;
}

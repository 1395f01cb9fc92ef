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

/* A name with a point or a slash is meant as a file even if there is none, which is then said. */
bool ptc_short_form_begins(const char *first)
{
    return first[0] &&
           (first[0] == '-' || looks_like_program(first) || exists(first) ||
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
            has_ending(text, ".clj") || has_ending(text, ".ptc") ||
            (kind != PTC_DATA_TOLD && kind != PTC_DATA_UNKNOWN));
}

/* There is a file and no program. */
static const char *which_program(PtcShortForm *f, const char *file)
{
    int n = snprintf(f->why, sizeof f->why,
                     "which program? It comes after the file: ptc %.200s '(count rows)'", file);
    if (has_ending(file, ".json"))
        snprintf(f->why + n, sizeof f->why - (size_t)n, "; an agent is run with ptc run %.200s",
                 file);
    return f->why;
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
    int files = argc - !given;
    if (files < 0)
        return which_program(f, "orders.csv");
    if (files > 1)
        return "give one file and one program; more files go with --data NAME=@FILE";
    if (files == 1)
        f->input = argv[0];
    if (!given)
        f->program = argv[files];
    if (f->program && !f->input && exists(f->program) && !looks_like_program(f->program))
        return which_program(f, f->program);
    if (f->program && !f->input && ptc_short_form_is_path(f->program)) {
        snprintf(f->why, sizeof f->why, "%.200s: there is no such file", f->program);
        return f->why;
    }
    if (f->program && f->input && !looks_like_program(f->program) && exists(f->program) &&
        looks_like_program(f->input))
        return "the file comes first, then the program: ptc orders.csv '(count rows)'";
    return NULL;
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

const char *ptc_short_form_input(const PtcShortForm *f, const char *program, size_t len)
{
    if (f->input)
        return f->input;
    bool asked = has_data_name(program, len, "data") || has_data_name(program, len, "rows");
    return asked && isatty(PTC_IO_STDIN) != 1 ? "-" : NULL;
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

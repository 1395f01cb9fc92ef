/* SPDX-License-Identifier: MIT
 * agent_help.h - the case files of tests/agent.  A file has cases, a case has parts:
 *
 *     == name of the case
 *     -- key value
 *     lines of text
 *     -- other key
 *
 * A line that begins with # before the first case is a comment.  The text of a part ends before the next line that
 * begins with `-- ` or `== `; empty lines at its end are not part of it.  A value that begins with a quote is JSON:
 * text that could not be seen. */
#ifndef PTC_TESTS_AGENT_HELP_H
#define PTC_TESTS_AGENT_HELP_H

#include "suite_help.h"

enum { CASE_PARTS = 64 };

typedef struct CasePart {
    const char *key, *value; /* the value may be "" */
    char *text;              /* NULL: none */
    int line;
} CasePart;

typedef struct Case {
    const char *file, *name;
    int line;
    CasePart parts[CASE_PARTS];
    int count;
} Case;

static const Case *running;

/* Counts; a failure is shown with its case. */
static inline bool check_that(bool ok, const char *what, const char *got, const char *want)
{
    if (check_count(ok))
        printf("%s:%d: %s: %s\n--- got\n%s\n--- want\n%s\n---\n", running->file, running->line,
               running->name, what, got, want);
    return ok;
}

static inline bool check_text(const char *what, const char *got, const char *want)
{
    return check_that(strcmp(got, want) == 0, what, got, want);
}

/* The part of this key, or NULL. */
static inline const CasePart *part(const Case *c, const char *key)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->parts[i].key, key) == 0)
            return &c->parts[i];
    return NULL;
}

/* A JSON string as text, in memory that stays. */
static inline const char *unquote(const char *json)
{
    PtcValue v = parse(json);
    return v != PTC_NONE && ptc_is_string(v) ? ptc_str_bytes(v) : "(no JSON string)";
}

/* What a part says: its text, or its value when there is one. */
static inline const char *said(const CasePart *p)
{
    if (!p)
        return "";
    if (p->value[0] == '"')
        return unquote(p->value);
    return p->value[0] ? p->value : p->text ? p->text : "";
}

static inline char *case_next_line(char **at)
{
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;
    if (!line || !*line)
        return NULL;
    *at = end ? end + 1 : NULL;
    if (end)
        *end = 0;
    return line;
}

static inline void case_add_part(Case *c, char *line, int number)
{
    CasePart *p = &c->parts[c->count < CASE_PARTS - 1 ? c->count++ : CASE_PARTS - 1];
    char *space = strchr(line, ' ');
    if (space)
        *space = 0;
    *p = (CasePart){line, space ? space + 1 : "", NULL, number};
}

/* Adds a line to the text of the last part.  The lines of a part lie one behind the other in the file's memory. */
static inline void case_add_line(Case *c, char *line)
{
    CasePart *p = &c->parts[c->count - 1];
    if (!p->text)
        p->text = line;
    else
        line[-1] = '\n';
}

static inline void case_trim(const CasePart *p)
{
    for (size_t n = p->text ? strlen(p->text) : 0; n && p->text[n - 1] == '\n'; n--)
        p->text[n - 1] = 0;
}

static inline void case_end(Case *c, void (*run)(const Case *c))
{
    running = c;
    for (int i = 0; i < c->count; i++)
        case_trim(&c->parts[i]);
    if (c->name)
        run(c);
    c->name = NULL;
    c->count = 0;
}

/* Runs every case of the file. */
static inline int case_file(const char *path, void (*run)(const Case *c))
{
    static Case c;
    size_t len;
    int count = 0, number = 0;
    char *file = suite_read(path, &len), *text = malloc(len + 1), *at = text;
    CHECK(file != NULL);
    if (file)
        memcpy(text, file, len);
    text[file ? len : 0] = 0;
    c = (Case){.file = path};
    for (char *line; (line = case_next_line(&at));) {
        number++;
        if (strncmp(line, "== ", 3) == 0) {
            case_end(&c, run);
            c.name = line + 3;
            c.line = number;
            count++;
        } else if (c.name && strncmp(line, "-- ", 3) == 0) {
            case_add_part(&c, line + 3, number);
        } else if (c.name && c.count) {
            case_add_line(&c, line);
        }
    }
    case_end(&c, run);
    free(text);
    free(file);
    return count;
}

#endif

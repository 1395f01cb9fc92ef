/* SPDX-License-Identifier: MIT
 * options.h - one table of options for each command; parsing, --help (help.h) and the messages about wrong usage all
 * come from it. */
#ifndef PTC_CLI_OPTIONS_H
#define PTC_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lisp/vm/limits.h"

/* The type of an option, and of the field that takes its value. */
typedef enum {
    PTC_OPTION_FLAG,   /* bool: set if it is given */
    PTC_OPTION_TEXT,   /* const char *, borrowed from argv */
    PTC_OPTION_INT,    /* int64_t from min to max */
    PTC_OPTION_CHOICE, /* int: the index of the word in `value`, "text|json" */
    PTC_OPTION_LIST,   /* PtcOptionList: may be given several times */
} PtcOptionType;

/* The groups in which --help all and the manual page show the options of a command that has many, in this order. */
enum {
    PTC_GROUP_PROGRAM = 1,
    PTC_GROUP_AGENT,
    PTC_GROUP_DATA,
    PTC_GROUP_RESULT,
    PTC_GROUP_MODEL,
    PTC_GROUP_LIMITS,
    PTC_GROUP_TOOLS,
    PTC_GROUP_SERVING,
    PTC_GROUP_HTTP,
    PTC_GROUP_PROGRAMS,
    PTC_GROUP_UPSTREAMS,
    PTC_GROUP_APPROVALS,
    PTC_GROUP_SIGN_IN,
    PTC_GROUP_TASKS,
    PTC_GROUP_SESSIONS,
    PTC_GROUP_TRACES,
    PTC_GROUP_RECORDS,
    PTC_GROUPS,
    PTC_GROUP_COMMON = 64, /* a mark beside the group: --help shows this option */
};

typedef struct PtcOption {
    const char *name; /* without dashes */
    char letter;      /* of the short form, 0: none */
    PtcOptionType type;
    size_t field;      /* offset in the command's struct of options */
    const char *value; /* what --help calls the value, NULL for flags */
    const char *help;
    int64_t min, max;
    unsigned group; /* PTC_GROUP_*; 0 where the command has few options */
} PtcOption;

/* The row of --check, which all commands have that run programs; its field is an int, -1 if it is not given. */
#define PTC_OPTION_CHECK(at, in)                                                             \
    {                                                                                        \
        .name = "check", .type = PTC_OPTION_CHOICE, .field = at, .value = PTC_CHECK_WORDS,   \
        .help = "mistakes that are found before a program runs end it, are warnings or are " \
                "not looked for (error; ptc docs check)",                                    \
        .group = in                                                                          \
    }

enum { PTC_OPTION_ITEMS = 64 };
typedef struct PtcOptionList {
    const char *items[PTC_OPTION_ITEMS]; /* borrowed from argv */
    size_t count;
} PtcOptionList;

typedef struct PtcUsage {
    const char *command;  /* "eval" */
    const char *synopsis; /* the usage line(s) after "ptc eval " */
    /* Paragraphs, each a line of any length; rows of a list begin with blanks: "  name   what it is". */
    const char *summary;
    const char *examples; /* lines as one would type them */
    /* "a|b|c": what the first argument may be, for completions; NULL: no fixed set. */
    const char *words;
    const PtcOption *options;
    size_t option_count;
    /* Arguments may begin with a dash, so only -h and what has two dashes are options. */
    bool long_only;
    /* Replaces fields that mean "the default" with the actual number, for --help; NULL: the fields already have it. */
    void (*resolve)(void *target);
} PtcUsage;

typedef enum {
    PTC_PARSE_OK,
    PTC_PARSE_HELP,  /* --help was asked for and printed */
    PTC_PARSE_WRONG, /* the message is on standard error */
} PtcParse;

/* Fills the struct at `target`, which the caller has set to the defaults.  Other arguments are moved to the front of
 * argv, and *argc becomes their number.  `--` ends the options; `-` and negative numbers are not options. */
PtcParse ptc_options_parse(const PtcUsage *usage, void *target, int *argc, char **argv);

/* Does an argument ask for --help? */
bool ptc_options_is_help(const char *arg);

/* The option of that name; NULL: there is none. */
const PtcOption *ptc_options_find(const PtcUsage *usage, const char *name, size_t len);
/* Sets the field of an option from a text that did not come from argv, which is borrowed; `origin` is what messages
 * call the place it came from.  A flag accepts true or false.  False: the message is on standard error. */
bool ptc_options_set(const PtcUsage *usage, const PtcOption *option, void *target,
                     const char *origin, const char *text);

/* " (1000)": the value of an option that is not given.  Nothing if that is not a value one could give; the help then
 * says what happens. */
void ptc_options_default(const PtcOption *option, const void *target, char *out, size_t size);

/* Gets the table of a command, and its struct with the defaults. */
typedef void (*PtcOptionsTake)(void *user, const PtcUsage *usage, const void *target);
/* Until it is called with NULL, commands that are asked for --help give their table to `take` and print nothing: so the
 * completions of shells and the manual page are written from what --help is written from. */
void ptc_options_take_help(PtcOptionsTake take, void *user);

/* A message about wrong usage, with a pointer to --help.  Returns PTC_EXIT_USAGE. */
int ptc_options_wrong(const PtcUsage *usage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same about what the arguments name, such as a file that is missing or has a mistake, where --help is no help. */
int ptc_options_refuse(const PtcUsage *usage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

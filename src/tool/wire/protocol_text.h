/* SPDX-License-Identifier: MIT
 * protocol_text.h - the descriptions of `lisp_eval`, as literals, so that each of them is a single constant assembled
 * by the compiler.  They say what programs can do, nothing about how to work.  They contain no quote and no
 * backslash, since they are put into JSON unescaped. */
#ifndef PTC_TOOL_WIRE_PROTOCOL_TEXT_H
#define PTC_TOOL_WIRE_PROTOCOL_TEXT_H

#define PTC_TEXT_RUNS                                                                      \
    "Runs a program in PTC-Lisp, a small deterministic Clojure subset, in a sandbox with " \
    "time and memory limits. "

#define PTC_TEXT_WITH_APP_TOOLS                                                            \
    PTC_TEXT_RUNS                                                                          \
    "The answer holds the value of its last expression and what it printed. Programs can " \
    "compute exactly, filter, join, group and sort data, and call the application's "      \
    "tools as functions: `(tool/name {:arg value})`. One program can make many tool "      \
    "calls and work on their results. The application's tools can be called from inside "  \
    "a program only; `lisp_eval` is the one tool that can be called directly."

#define PTC_TEXT_TEXT_MODE                                                                 \
    PTC_TEXT_RUNS                                                                          \
    "The answer holds the value of its last expression and what it printed. Programs can " \
    "compute exactly, filter, join, group and sort data, and call those application "      \
    "tools that are open to both uses as functions: `(tool/name {:arg value})`. The same " \
    "tools can be called directly as well, but not in the same turn as `lisp_eval`."

#define PTC_TEXT_MCP_NO_TOOLS                                                         \
    PTC_TEXT_RUNS                                                                     \
    "Programs compute exactly, filter, join, group and sort. They see the `context` " \
    "argument and nothing else: no tools, files or network. Each call is independent."

#endif

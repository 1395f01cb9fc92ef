/* SPDX-License-Identifier: MIT
 * agent_options.h - the options that all commands share which run agents: one text for each, wherever it is offered. */
#ifndef PTC_CLI_AGENT_AGENT_OPTIONS_H
#define PTC_CLI_AGENT_AGENT_OPTIONS_H

#include "cli/options.h"
#include "cli/out/otlp_out.h"

#define PTC_AGENT_OPTION_MOST ((int64_t)1 << 40)

/* Rows of a table of options.  FIELD(name) is the place of a member in the command's struct, which has one of each of
 * these names: texts, except the flag replay_loose, the numbers token_limit (-1: none) and llm_timeout_ms, and the ints
 * exceeded (1: return_partial) and check (-1: not given). */
#define PTC_AGENT_OPTIONS                                                                         \
    {.name = "context",                                                                           \
     .group = PTC_GROUP_DATA | PTC_GROUP_COMMON,                                                  \
     .type = PTC_OPTION_TEXT,                                                                     \
     .field = FIELD(context),                                                                     \
     .value = "JSON|@FILE",                                                                       \
     .help = "the agent's data, an object"},                                                      \
        {.name = "llm",                                                                           \
         .group = PTC_GROUP_MODEL | PTC_GROUP_COMMON,                                             \
         .type = PTC_OPTION_TEXT,                                                                 \
         .field = FIELD(llm),                                                                     \
         .value = "MODEL",                                                                        \
         .help = "the model: an alias, PROVIDER:ID, openai-compat:URL|ID, script:FILE, "          \
                 "replay:FILE or exec:PROGRAM; overrides the agent file's"},                      \
        {.name = "models",                                                                        \
         .group = PTC_GROUP_MODEL,                                                                \
         .type = PTC_OPTION_TEXT,                                                                 \
         .field = FIELD(models),                                                                  \
         .value = "FILE",                                                                         \
         .help = "a file with more aliases of models"},                                           \
        {.name = "record",                                                                        \
         .group = PTC_GROUP_RECORDS | PTC_GROUP_COMMON,                                           \
         .type = PTC_OPTION_TEXT,                                                                 \
         .field = FIELD(record),                                                                  \
         .value = "FILE",                                                                         \
         .help = "write requests and replies to a file, for --llm replay:FILE"},                  \
        {.name = "replay-loose",                                                                  \
         .group = PTC_GROUP_RECORDS,                                                              \
         .type = PTC_OPTION_FLAG,                                                                 \
         .field = FIELD(replay_loose),                                                            \
         .help = "use the recorded replies in order, whatever is asked"},                         \
        {.name = "trace",                                                                         \
         .group = PTC_GROUP_RECORDS | PTC_GROUP_COMMON,                                           \
         .type = PTC_OPTION_TEXT,                                                                 \
         .field = FIELD(trace),                                                                   \
         .value = "FILE",                                                                         \
         .help = "write what happens to a file, one event per line (ptc docs trace)"},            \
        PTC_OTLP_ROW(FIELD(otlp), PTC_GROUP_RECORDS),                                             \
        {.name = "journal",                                                                       \
         .group = PTC_GROUP_RECORDS,                                                              \
         .type = PTC_OPTION_TEXT,                                                                 \
         .field = FIELD(journal),                                                                 \
         .value = "FILE",                                                                         \
         .help = "skip tasks already recorded in FILE, and record new ones"},                     \
        {.name = "token-limit",                                                                   \
         .group = PTC_GROUP_LIMITS | PTC_GROUP_COMMON,                                            \
         .type = PTC_OPTION_INT,                                                                  \
         .field = FIELD(token_limit),                                                             \
         .value = "N",                                                                            \
         .help = "stop when all requests together have used more tokens than this",               \
         .max = PTC_AGENT_OPTION_MOST},                                                           \
        PTC_OPTION_CHECK(FIELD(check), PTC_GROUP_AGENT),                                          \
        {.name = "on-budget-exceeded",                                                            \
         .group = PTC_GROUP_LIMITS,                                                               \
         .type = PTC_OPTION_CHOICE,                                                               \
         .field = FIELD(exceeded),                                                                \
         .value = "fail|return_partial",                                                          \
         .help = "what happens then: an error, or the latest value that fits as the answer"},     \
    {                                                                                             \
        .name = "llm-timeout-ms", .group = PTC_GROUP_MODEL, .type = PTC_OPTION_INT,               \
        .field = FIELD(llm_timeout_ms), .value = "MS",                                            \
        .help = "time for one request to the model; 0: the default", .max = PTC_AGENT_OPTION_MOST \
    }

#endif

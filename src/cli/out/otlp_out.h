/* SPDX-License-Identifier: MIT
 * otlp_out.h - the option --otlp of commands: where a collector is, and what the variables of OpenTelemetry say. */
#ifndef PTC_CLI_OUT_OTLP_OUT_H
#define PTC_CLI_OUT_OTLP_OUT_H

#include "base/mem.h"
#include "base/why.h"
#include "viewer/otlp_sender.h"

/* The row of a command's table. */
#define PTC_OTLP_ROW(at, in)                                                                    \
    {                                                                                           \
        .name = "otlp", .type = PTC_OPTION_TEXT, .field = at, .value = "URL|env",               \
        .help = "send traces to an OpenTelemetry collector; env: where " OTLP_ENDPOINT " says", \
        .group = in                                                                             \
    }
#define OTLP_ENDPOINT "OTEL_EXPORTER_OTLP_ENDPOINT"

/* `option` is what was given; NULL: nothing, and *otlp is NULL.  False: it cannot be used, and why says so.
 * `one`: all lines will be one trace. */
PTC_MUST_USE bool ptc_otlp_out_open(PtcMem *mem, const char *command, const char *option, bool one,
                                    PtcOtlp **otlp, PtcWhy *why);

#endif

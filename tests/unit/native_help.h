/* SPDX-License-Identifier: MIT
 * native_help.h - a tool called by its name, as a model does. */
#ifndef PTC_TESTS_NATIVE_HELP_H
#define PTC_TESTS_NATIVE_HELP_H

#include "tool/kind/native.h"

static inline bool native_call_named(PtcTools *tools, PtcText name, PtcText args,
                                     const PtcNativeOptions *options, PtcBuf *out, bool *ok)
{
    PtcNativeAnswer answer = {.end = PTC_NATIVE_FAILED};
    int tool = ptc_toolset_find(tools, name);
    PtcNative *n = ptc_native_new();
    bool told = n && ptc_native_ask(n, tools, tool, args, options, out, &answer);
    ptc_native_free(n);
    *ok = told && answer.end == PTC_NATIVE_OK;
    return told;
}

#endif

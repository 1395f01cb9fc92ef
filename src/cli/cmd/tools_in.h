/* SPDX-License-Identifier: MIT
 * tools_in.h - the tools of --tools JSON|@FILE, in every command that has it. */
#ifndef PTC_CLI_CMD_TOOLS_IN_H
#define PTC_CLI_CMD_TOOLS_IN_H

#include "base/mem.h"
#include "ptc/ptc.h"
#include "tool/file.h"

/* Reads them.  The user names the file, so it may have tools of every kind.  `learns`: tool/learn.h.  NULL with a
 * sentence in why. */
PTC_MUST_USE PtcTools *ptc_tools_in_load(PtcMem *mem, const char *text, bool learns, PtcWhy *why);

#endif

/* SPDX-License-Identifier: MIT
 * dotenv.h - lines of a .env file: NAME=value, optionally quoted, optionally after `export`.  Nothing is put into the
 * environment and nothing is expanded; other lines are skipped. */
#ifndef PTC_BASE_OS_DOTENV_H
#define PTC_BASE_OS_DOTENV_H

#include "base/buf.h"

enum { PTC_DOTENV_BYTES = 64 * PTC_KB };

/* Calls `pair` with each name and value, which are good during the call; false stops, and is the result. */
bool ptc_dotenv_parse(PtcText text, PtcMem *mem,
                      bool (*pair)(void *user, PtcText name, PtcText value), void *user);

/* Reads the file if it exists, is a regular file and is not too large.  False if it exists and was not read, with a
 * constant text in *why; a missing file counts as empty. */
bool ptc_dotenv_read(const char *path, PtcBuf *out, const char **why);

#endif

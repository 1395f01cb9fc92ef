/* SPDX-License-Identifier: MIT
 * config_json.h - JSON as people write it into files: with comments, commas behind the last member, a byte order mark.  A key
 * that stands twice in one object is a mistake, since readers differ in which of the two they take. */
#ifndef PTC_UPSTREAM_CONFIG_JSON_H
#define PTC_UPSTREAM_CONFIG_JSON_H

#include "json/parse.h"

enum { PTC_CONFIG_JSON_DEPTH = 64 };

/* Appends the text as plain JSON of the same length and with the same line ends. */
void ptc_config_json_plain(PtcBuf *out, PtcText text);

/* Calls `doubled` with the path of each key of a plain, valid text that its object has already, and returns the line of
 * the first place with the path `wanted` (0: there is none).  Both may be NULL. */
size_t ptc_config_json_walk(PtcHeap *heap, PtcText plain, const char *wanted,
                            void (*doubled)(void *user, const char *path), void *user);

#endif

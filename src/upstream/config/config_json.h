/* SPDX-License-Identifier: MIT
 * config_json.h - JSON as people write it into files: with comments, a comma after the last member, a byte order mark.
 * A key that occurs twice in one object is a mistake, since readers differ in which of the two they take. */
#ifndef PTC_UPSTREAM_CONFIG_CONFIG_JSON_H
#define PTC_UPSTREAM_CONFIG_CONFIG_JSON_H

#include "json/parse.h"

enum {
    PTC_CONFIG_JSON_DEPTH = 64,
    PTC_CONFIG_JSON_PLACES = 3, /* projects."/a".mcpServers.name is as deep as entries are */
};

/* Appends the text as plain JSON of the same length and with the same line ends. */
void ptc_config_json_plain(PtcBuf *out, PtcText text);

/* The line of the first place of a plain, valid text that has this path; 0: there is none. */
size_t ptc_config_json_line(PtcHeap *heap, PtcText plain, const char *path);

/* Calls `member` for each key that its object already has (doubled), and for all keys that are no deeper than entries
 * are.  One walk finds many of them, since a file may be large. */
void ptc_config_json_walk(PtcHeap *heap, PtcText plain,
                          void (*member)(void *user, const char *path, size_t line, bool doubled),
                          void *user);

#endif

/* SPDX-License-Identifier: MIT
 * path.h - where in a nested value something is, as text: rows[2].name, ["odd key"].x; the value itself is "". */
#ifndef PTC_JSON_PATH_H
#define PTC_JSON_PATH_H

#include "base/buf.h"
#include "value/value.h"

enum { PTC_PATH_BYTES = 160 };

/* Append to a NUL-terminated text of the given size, cutting between characters. */
void ptc_path_add_text(char *path, size_t size, const char *bytes, size_t n);
/* .name or name, ["other text"], or [?] for a key that is not a text. */
void ptc_path_add_key(char *path, size_t size, PtcValue key);
void ptc_path_add_index(char *path, size_t size, size_t index);

#endif

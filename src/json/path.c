/* SPDX-License-Identifier: MIT
 * Paths as text and as JSON.  What always holds: a path never overruns its array and is cut only between characters. */
#include "json/path.h"

#include <stdio.h>

#include "base/ascii.h"
#include "json/emit.h"
#include "value/str.h"

/* Cut between characters, because paths end up in messages. */
void ptc_path_add_text(char *path, size_t size, const char *bytes, size_t n)
{
    size_t len = strlen(path), room = size - 1 - len;
    if (n > room) {
        n = room;
        while (n > 0 && ((unsigned char)bytes[n] & 0xc0) == 0x80)
            n--;
    }
    memcpy(path + len, bytes, n);
    path[len + n] = 0;
}

static bool is_path_word(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!ptc_ascii_is_name(p[i]) && p[i] != '-')
            return false;
    return n > 0;
}

/* Odd names are quoted, so that a path can be read back. */
void ptc_path_add_key(char *path, size_t size, PtcValue key)
{
    char number[32];
    size_t dot = path[0] ? 1 : 0;
    if (ptc_is_int(key)) {
        int n = snprintf(number, sizeof number, ".%lld", (long long)ptc_to_int(key));
        ptc_path_add_text(path, size, number + 1 - dot, (size_t)n - 1 + dot);
    } else if (!ptc_is_named(key)) {
        ptc_path_add_text(path, size, "[?]", 3);
    } else {
        bool word = is_path_word(ptc_str_bytes(key), ptc_str_len(key));
        ptc_path_add_text(path, size, word ? "." : "[\"", word ? dot : 2);
        ptc_path_add_text(path, size, ptc_str_bytes(key), ptc_str_len(key));
        ptc_path_add_text(path, size, "\"]", word ? 0 : 2);
    }
}

void ptc_path_add_index(char *path, size_t size, size_t index)
{
    char number[32];
    int n = snprintf(number, sizeof number, "[%zu]", index);
    ptc_path_add_text(path, size, number, (size_t)n);
}

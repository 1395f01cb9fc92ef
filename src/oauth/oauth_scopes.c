/* SPDX-License-Identifier: MIT
 * Sets of scopes as text. */
#include "oauth/oauth_scopes.h"

#include <string.h>

/* The next word; absent: there is none. */
static PtcText next_scope_word(const char **at)
{
    *at += strspn(*at, " ");
    PtcText word = {*at, strcspn(*at, " ")};
    *at += word.len;
    return word.len ? word : (PtcText){NULL, 0};
}

bool ptc_oauth_scopes_have(const char *scopes, PtcText word)
{
    for (PtcText w; scopes && (w = next_scope_word(&scopes)).bytes;)
        if (ptc_text_same(w, word))
            return true;
    return false;
}

static void add_scope_words(char *out, const char *scopes)
{
    size_t len = strlen(out);
    for (PtcText w; scopes && (w = next_scope_word(&scopes)).bytes;) {
        if (ptc_oauth_scopes_have(out, w))
            continue;
        if (len)
            out[len++] = ' ';
        memcpy(out + len, w.bytes, w.len);
        len += w.len;
        out[len] = '\0';
    }
}

const char *ptc_oauth_scopes_join(PtcArena *arena, const char *a, const char *b)
{
    size_t bytes = (a ? strlen(a) : 0) + (b ? strlen(b) : 0) + 2;
    char *out = ptc_arena_zalloc(arena, bytes);
    if (!out)
        return NULL;
    add_scope_words(out, a);
    add_scope_words(out, b);
    return *out ? out : NULL;
}

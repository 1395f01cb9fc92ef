/* SPDX-License-Identifier: MIT
 * Bearer tokens.  What always holds: tokens are wiped before their memory is freed, and finding one takes the same
 * time whichever it is. */
#include "mcp/http/http_tokens.h"

#include <string.h>

#include "base/ascii.h"
#include "base/text/secret.h"

bool ptc_http_tokens_init(PtcHttpTokens *tokens, PtcMem *mem)
{
    *tokens = (PtcHttpTokens){.mem = mem};
    tokens->token = ptc_mem_alloc(mem, PTC_HTTP_TOKENS_MAX * sizeof *tokens->token);
    return tokens->token != NULL;
}

void ptc_http_tokens_deinit(PtcHttpTokens *tokens)
{
    if (tokens->token)
        ptc_secret_wipe(tokens->token, PTC_HTTP_TOKENS_MAX * sizeof *tokens->token);
    ptc_mem_free(tokens->mem, tokens->token, PTC_HTTP_TOKENS_MAX * sizeof *tokens->token);
    tokens->token = NULL;
    tokens->count = 0;
}

/* --------------------------------------------------------------------- reading */

static bool is_visible_token(PtcText text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.bytes[i] <= ' ' || text.bytes[i] > '~')
            return false;
    return true;
}

/* Short tokens are refused, because they can be guessed. */
bool ptc_http_tokens_add(PtcHttpTokens *tokens, PtcText token, PtcText owner, PtcWhy *why)
{
    if (token.len < PTC_HTTP_TOKEN_MIN)
        return ptc_why_say(
            why, PTC_WHY_INVALID,
            "a token has at least 16 characters; `openssl rand -hex 32` makes a good one");
    if (token.len > PTC_HTTP_TOKEN_MAX)
        return ptc_why_say(why, PTC_WHY_INVALID, "a token has at most 256 characters");
    if (!is_visible_token(token))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "a token consists of visible ASCII characters without spaces");
    if (owner.len == 0 || owner.len >= PTC_HTTP_OWNER_MAX || !is_visible_token(owner))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "an owner's name has 1 to 63 visible ASCII characters without spaces");
    const PtcHttpToken *same = ptc_http_tokens_find(tokens, token);
    if (same && !ptc_text_is(owner, same->owner)) /* one of them would see what the other has */
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "another owner has the same token; each needs one of its own");
    if (tokens->count == PTC_HTTP_TOKENS_MAX)
        return ptc_why_say(why, PTC_WHY_INVALID, "there are at most 64 tokens");
    PtcHttpToken *slot = &tokens->token[tokens->count++];
    memset(slot, 0, sizeof *slot);
    memcpy(slot->bytes, token.bytes, token.len);
    memcpy(slot->owner, owner.bytes, owner.len);
    slot->len = token.len;
    return true;
}

/* Length of the first word of a line, and where the next one begins. */
static size_t first_word_length(const char *text, size_t len, size_t *next)
{
    size_t end = 0;
    while (end < len && text[end] != ' ' && text[end] != '\t')
        end++;
    *next = end;
    while (*next < len && ptc_ascii_is_blank(text[*next]))
        ++*next;
    return end;
}

static bool add_token_line(PtcHttpTokens *tokens, const char *line, size_t len, PtcWhy *why)
{
    while (len && (line[len - 1] == '\r' || ptc_ascii_is_blank(line[len - 1])))
        len--;
    if (len == 0 || *line == '#')
        return true;
    size_t next, first = first_word_length(line, len, &next);
    if (next == len)
        return ptc_http_tokens_add(tokens, (PtcText){line, len}, PTC_TEXT("default"), why);
    return ptc_http_tokens_add(tokens, (PtcText){line + next, len - next}, (PtcText){line, first},
                               why);
}

bool ptc_http_tokens_read(PtcHttpTokens *tokens, PtcText text, PtcWhy *why)
{
    size_t line = 0;
    for (size_t at = 0; at < text.len; line++) {
        const char *end = memchr(text.bytes + at, '\n', text.len - at);
        size_t n = end ? (size_t)(end - text.bytes) - at : text.len - at;
        if (!add_token_line(tokens, text.bytes + at, n, why))
            return ptc_why_at(why, "line %zu", line + 1);
        at += n + 1;
    }
    if (tokens->count)
        return true;
    ptc_why_say(why, PTC_WHY_INVALID, "it contains no token");
    return ptc_why_at(why, "line %zu", line);
}

/* ---------------------------------------------------------------------- looking */

const PtcHttpToken *ptc_http_tokens_find(const PtcHttpTokens *tokens, PtcText text)
{
    char given[PTC_HTTP_TOKEN_MAX] = {0};
    const PtcHttpToken *found = NULL;
    if (text.len > sizeof given)
        return NULL;
    memcpy(given, text.bytes, text.len);
    /* look at all of them, so that timing reveals nothing */
    for (size_t i = 0; i < tokens->count; i++) {
        const PtcHttpToken *token = &tokens->token[i];
        bool same = ptc_secret_same(token->bytes, given, sizeof given);
        if (same && token->len == text.len)
            found = token;
    }
    ptc_secret_wipe(given, sizeof given);
    return found;
}

bool ptc_http_tokens_have_owner(const PtcHttpTokens *tokens, const char *owner)
{
    for (size_t i = 0; i < tokens->count; i++)
        if (strcmp(tokens->token[i].owner, owner) == 0)
            return true;
    return false;
}

size_t ptc_http_tokens_owners(const PtcHttpTokens *tokens)
{
    size_t owners = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        size_t first = 0;
        while (strcmp(tokens->token[first].owner, tokens->token[i].owner) != 0)
            first++;
        owners += first == i;
    }
    return owners;
}

/* SPDX-License-Identifier: MIT
 * Fenced blocks, line by line.  Nothing is copied: every text points into the reply. */
#include "agent/step/blocks.h"

#include "base/ascii.h"

enum { FENCE_MIN = 3 };

PtcText ptc_blocks_line(PtcText text, size_t pos, size_t *next)
{
    const char *from = text.bytes + pos, *end = memchr(from, '\n', text.len - pos);
    size_t n = end ? (size_t)(end - from) : text.len - pos;
    *next = pos + n + (end != NULL);
    return (PtcText){from, n};
}

PtcText ptc_blocks_trim(PtcText t)
{
    while (t.len && ptc_ascii_is_white(t.bytes[0]))
        t.bytes++, t.len--;
    while (t.len && ptc_ascii_is_white(t.bytes[t.len - 1]))
        t.len--;
    return t;
}

/* The fence at the beginning of a line: its length in *count; returns what follows it. */
static PtcText split_fence_line(PtcText line, char *sign, size_t *count)
{
    size_t at = 0, from;
    while (at < line.len && ptc_ascii_is_white(line.bytes[at]))
        at++;
    from = at;
    *sign = at < line.len ? line.bytes[at] : 0;
    while (at < line.len && line.bytes[at] == *sign && (*sign == '`' || *sign == '~'))
        at++;
    *count = at - from;
    return (PtcText){line.bytes + at, line.len - at};
}

bool ptc_blocks_opens(PtcText line, PtcBlockFence *fence)
{
    PtcText rest = ptc_blocks_trim(split_fence_line(line, &fence->sign, &fence->count));
    size_t n = 0;
    while (n < rest.len && !ptc_ascii_is_white(rest.bytes[n]))
        n++;
    fence->tag = (PtcText){rest.bytes, n};
    fence->rest = ptc_blocks_trim((PtcText){rest.bytes + n, rest.len - n});
    return fence->count >= FENCE_MIN &&
           !(fence->sign == '`' && rest.len && memchr(rest.bytes, '`', rest.len));
}

bool ptc_blocks_closes(PtcText line, const PtcBlockFence *fence)
{
    char sign;
    size_t count;
    PtcText rest = split_fence_line(line, &sign, &count);
    return count >= fence->count && sign == fence->sign && ptc_blocks_trim(rest).len == 0;
}

/* The lines from *pos up to the first that closes the block; *pos moves past that one. */
static void take_block_body(PtcText text, size_t *pos, PtcBlock *block)
{
    size_t first = *pos, at = first, next;
    block->closed = false;
    for (; at < text.len && !block->closed; at = next)
        if (ptc_blocks_closes(ptc_blocks_line(text, at, &next), &block->fence)) {
            block->closed = true;
            block->body = (PtcText){text.bytes + first, at > first ? at - first - 1 : 0};
        }
    if (!block->closed)
        block->body = (PtcText){text.bytes + first, text.len - first};
    *pos = block->last = at;
}

bool ptc_blocks_next(PtcText text, size_t *pos, PtcBlock *out)
{
    for (size_t next; *pos < text.len; *pos = next) {
        out->first = *pos;
        if (!ptc_blocks_opens(ptc_blocks_line(text, *pos, &next), &out->fence))
            continue;
        *pos = next;
        take_block_body(text, pos, out);
        return true;
    }
    return false;
}

bool ptc_blocks_tagged(PtcText tag, const char *word)
{
    size_t n = strlen(word);
    if (tag.len != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = tag.bytes[i];
        if (ptc_ascii_lower(c) != word[i])
            return false;
    }
    return true;
}

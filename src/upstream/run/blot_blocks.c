/* SPDX-License-Identifier: MIT
 * Whoever puts the texts of a result together, as programs and models do, would have the whole of a secret that no
 * single text has. */
#include "upstream/run/blot_blocks.h"

#include "value/coll/fields.h"
#include "value/coll/map.h"

typedef struct {
    const PtcSecrets *secrets;
    PtcHeap *heap;
    PtcText all;       /* the texts, one behind the other */
    size_t at, len;    /* the next secret in it */
    size_t begin, end; /* of the block in it */
} Blocks;

/* The text of a text block; absent: it is none. */
static PtcText block_text(PtcHeap *heap, PtcValue block)
{
    PtcText type = ptc_fields_text(heap, block, "type");
    return type.bytes && ptc_text_is(type, "text") ? ptc_fields_text(heap, block, "text")
                                                   : (PtcText){NULL, 0};
}

/* Appends the text of the block without its parts of secrets that are split. */
static void add_unsplit_text(Blocks *b, PtcBuf *out)
{
    size_t from = b->begin;
    while (from < b->end && b->at < b->end) {
        size_t stop = b->at + b->len;
        if (stop <= from) {
            b->at = ptc_secrets_find(b->secrets, b->all, from, &b->len);
            continue;
        }
        bool split = b->at < b->begin || stop > b->end;
        size_t to = split ? (b->at > from ? b->at : from) : stop;
        ptc_buf_add(out, b->all.bytes + from, to - from);
        if (split && b->at >= b->begin)
            ptc_buf_add_cstr(out, "[secret]");
        from = stop < b->end ? stop : b->end;
    }
    ptc_buf_add(out, b->all.bytes + from, b->end - from);
}

static PtcValue blot_block(Blocks *b, PtcValue block, size_t len)
{
    PtcBuf text;
    b->begin = b->end;
    b->end += len;
    ptc_buf_init(&text, b->heap->pool->mem, PTC_UNBOUNDED);
    add_unsplit_text(b, &text);
    if (text.len != len || memcmp(text.data, b->all.bytes + b->begin, len) != 0)
        ptc_fields_put(b->heap, &block, "text", ptc_fields_buf(b->heap, &text));
    ptc_buf_deinit(&text);
    return block;
}

PtcValue ptc_blot_blocks(const PtcSecrets *secrets, PtcHeap *heap, PtcValue result)
{
    PtcBuf all;
    PtcValue content = ptc_map_field(heap, result, "content"), list = ptc_fields_list(heap);
    size_t n = ptc_fields_count(content);
    if (n < 2 || !ptc_secrets_any(secrets))
        return result;
    ptc_buf_init(&all, heap->pool->mem, PTC_UNBOUNDED);
    for (size_t i = 0; i < n; i++) {
        PtcText text = block_text(heap, ptc_seq_nth(content, i));
        ptc_buf_add(&all, text.bytes, text.len);
    }
    Blocks b = {.secrets = secrets, .heap = heap, .all = ptc_buf_view(&all)};
    for (size_t i = 0; i < n && ptc_buf_ok(&all); i++) {
        PtcValue block = ptc_seq_nth(content, i);
        PtcText text = block_text(heap, block);
        ptc_fields_push(heap, &list, text.bytes ? blot_block(&b, block, text.len) : block);
    }
    ptc_fields_put(heap, &result, "content", list);
    bool ok = ptc_buf_ok(&all) && ptc_fields_ok(heap);
    ptc_buf_deinit(&all);
    return ok ? result : PTC_NONE;
}

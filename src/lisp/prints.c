/* SPDX-License-Identifier: MIT */
#include "lisp/prints.h"

#include "base/utf8.h"

/* One byte more than the limit: the NUL behind the last line is not the program's. */
void ptc_prints_init(PtcPrints *prints, PtcMem *mem, size_t max_bytes)
{
    *prints = (PtcPrints){0};
    ptc_buf_init(&prints->text, mem, max_bytes + 1);
}

void ptc_prints_deinit(PtcPrints *prints)
{
    if (!prints->text.mem)
        return;
    ptc_mem_free(prints->text.mem, prints->ends, prints->cap * sizeof *prints->ends);
    ptc_buf_deinit(&prints->text);
}

PtcPrints ptc_prints_take(PtcPrints *prints)
{
    PtcPrints all = *prints;
    *prints = (PtcPrints){0};
    return all;
}

static bool make_room(PtcPrints *prints)
{
    if (prints->count < prints->cap)
        return true;
    size_t cap = prints->cap ? prints->cap * 2 : 8;
    uint32_t *ends = ptc_mem_resize(prints->text.mem, prints->ends, prints->cap * sizeof *ends,
                                    cap * sizeof *ends);
    if (!ends)
        return false;
    prints->ends = ends;
    prints->cap = cap;
    return true;
}

bool ptc_prints_add(PtcPrints *prints, const char *line, size_t len)
{
    size_t spent = prints->text.len, max = prints->text.max - 1;
    prints->cut = prints->cut || spent > max;
    if (prints->cut)
        return true;
    if (!make_room(prints))
        return false;
    if (len > max - spent) {
        prints->cut = true;
        len = ptc_utf8_valid_prefix(line, max - spent);
    }
    if (!ptc_buf_add(&prints->text, line, len) || !ptc_buf_add_char(&prints->text, 0))
        return false;
    prints->ends[prints->count++] = (uint32_t)prints->text.len;
    return true;
}

void ptc_prints_truncate(PtcPrints *prints, size_t count)
{
    if (count >= prints->count)
        return;
    prints->text.len = ptc_prints_start(prints, count);
    prints->count = count;
}

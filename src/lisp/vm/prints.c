/* SPDX-License-Identifier: MIT
 * Lines that were printed.  What always holds: every line, an open one too, ends with a NUL that counts against the
 * limit, and a line that could not be added leaves those before it as they were. */
#include "lisp/vm/prints.h"

#include "base/grow.h"
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

/* Appends to the text from `from` on, where the NUL of an open line may stand; all or nothing. */
static bool write_at(PtcPrints *prints, size_t from, const char *text, size_t len)
{
    size_t before = prints->text.len;
    prints->text.len = from;
    if (ptc_buf_add(&prints->text, text, len) && ptc_buf_add_char(&prints->text, 0))
        return true;
    prints->text.len = before;
    if (before > from)
        prints->text.data[from] = 0;
    return false;
}

bool ptc_prints_add(PtcPrints *prints, const char *text, size_t len, bool ends)
{
    bool joins = prints->open;
    size_t from = prints->text.len - joins, max = prints->text.max - 1;
    prints->cut = prints->cut || from > max;
    if (prints->cut || (len == 0 && !ends && !joins))
        return true;
    if (!PTC_GROW(prints->text.mem, &prints->ends, &prints->cap, prints->count + 1))
        return false;
    if (len > max - from) {
        prints->cut = true;
        len = ptc_utf8_valid_prefix(text, max - from);
    }
    if (!write_at(prints, from, text, len))
        return false;
    prints->count += !joins;
    prints->ends[prints->count - 1] = (uint32_t)prints->text.len;
    prints->open = !ends;
    return true;
}

void ptc_prints_truncate(PtcPrints *prints, size_t count)
{
    prints->open = false;
    if (count >= prints->count)
        return;
    prints->text.len = ptc_prints_start(prints, count);
    prints->count = count;
}

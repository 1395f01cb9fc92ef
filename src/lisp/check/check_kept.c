/* SPDX-License-Identifier: MIT
 * Programs that were checked.  What always holds: a whole text is compared, not a digest of it. */
#include "lisp/check/check_kept.h"

#include <string.h>

static bool is_same(const PtcCheckedProgram *p, PtcText program, PtcText answer, uint64_t host)
{
    return p->text && p->host == host && p->program_len == program.len &&
           p->answer_len == answer.len && memcmp(p->text, program.bytes, program.len) == 0 &&
           (answer.len == 0 || memcmp(p->text + program.len, answer.bytes, answer.len) == 0);
}

bool ptc_check_kept_has(const PtcCheckKept *kept, PtcText program, PtcText answer, uint64_t host)
{
    for (size_t i = 0; i < PTC_CHECK_KEPT; i++)
        if (is_same(&kept->items[i], program, answer, host))
            return true;
    return false;
}

static void drop(PtcCheckedProgram *p, PtcMem *mem)
{
    ptc_mem_free(mem, p->text, p->program_len + p->answer_len);
    *p = (PtcCheckedProgram){0};
}

void ptc_check_kept_add(PtcCheckKept *kept, PtcMem *mem, PtcText program, PtcText answer,
                        uint64_t host)
{
    PtcCheckedProgram *p = &kept->items[kept->next];
    size_t len = program.len + answer.len;
    if (program.len == 0 || program.len > PTC_CHECK_KEPT_BYTES ||
        answer.len > PTC_CHECK_KEPT_BYTES || len > PTC_CHECK_KEPT_BYTES)
        return;
    drop(p, mem);
    if (!(p->text = ptc_mem_alloc(mem, len)))
        return;
    memcpy(p->text, program.bytes, program.len);
    if (answer.len)
        memcpy(p->text + program.len, answer.bytes, answer.len);
    p->program_len = program.len;
    p->answer_len = answer.len;
    p->host = host;
    kept->next = (kept->next + 1) % PTC_CHECK_KEPT;
}

void ptc_check_kept_deinit(PtcCheckKept *kept, PtcMem *mem)
{
    for (size_t i = 0; i < PTC_CHECK_KEPT; i++)
        drop(&kept->items[i], mem);
}

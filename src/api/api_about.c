/* SPDX-License-Identifier: MIT
 * What hosts and bindings ask about the library itself, as ptc.h declares it: kinds of errors, ranges of limits, the
 * language on a card.  Everything here is a constant. */
#include "api/api_int.h"
#include "tool/wire/card.h"

const char *ptc_error_kind_at(size_t index, const char **reason)
{
    if (index >= PTC_E_COUNT - 1)
        return NULL;
    PtcErrorKind kind = (PtcErrorKind)(index + 1); /* the first one is none */
    if (reason)
        *reason = ptc_error_reason(kind);
    return ptc_error_kind_name(kind);
}

bool ptc_limit_range(size_t index, PtcLimitRange *range)
{
    const PtcLimit *row = ptc_limits_row(index);
    if (!range || range->size < sizeof(size_t) || !row)
        return false;
    PtcLimitRange all = {sizeof all, row->name, row->normal, row->most};
    api_copy_out(range, range->size, &all, sizeof all);
    return true;
}

const char *ptc_language_card(bool tools)
{
    return ptc_card_text(tools, false);
}

const char *ptc_version(void)
{
    return PTC_VERSION;
}

/* SPDX-License-Identifier: MIT
 * Times in JSON: strings, as str gives them. */
#include "json/time_json.h"

#include "value/time/time.h"

bool ptc_time_json(const PtcJsonWriter *writer, PtcBuf *buf, PtcValue v, const char **what)
{
    (void)writer;
    if (!ptc_is_time_point(v) &&
        !(ptc_kind_bit(v) & (PTC_K_DURATION | PTC_K_PERIOD | PTC_K_ENUM | PTC_K_ZONE))) {
        if (ptc_is_record(v, PTC_R_FORMATTER))
            *what = "a formatter";
        if (ptc_is_record(v, PTC_R_ADJUSTER))
            *what = "an adjuster";
        if (ptc_is_record(v, PTC_R_MATCHER))
            *what = "a matcher";
        return false;
    }
    return ptc_buf_add_char(buf, '"') && ptc_time_text(buf, v) && ptc_buf_add_char(buf, '"');
}

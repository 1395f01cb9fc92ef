/* SPDX-License-Identifier: MIT
 * Reads how long a server asks us to wait.  What always holds: a result is -1 or between 0 and PTC_RETRY_AFTER_MAX,
 * whatever the server said. */
#include "net/retry_after.h"

#include "base/ascii.h"
#include "value/calendar.h"
#include "value/number/number.h"

static int64_t clamp(double ms)
{
    if (!(ms > 0)) /* zero, negative or NaN */
        return 0;
    return ms < (double)PTC_RETRY_AFTER_MAX ? (int64_t)ms : PTC_RETRY_AFTER_MAX;
}

/* Some providers write units, others do not. */
static bool take_unit(PtcText *text, const char *unit)
{
    size_t n = strlen(unit);
    if (text->len <= n || memcmp(text->bytes + text->len - n, unit, n) != 0)
        return false;
    text->len -= n;
    return true;
}

int64_t ptc_retry_delay_ms(PtcText value, double unit_ms)
{
    double number;
    PtcText text = ptc_text_trim(value, " \t\r\n");
    if (take_unit(&text, "ms"))
        unit_ms = 1;
    else if (take_unit(&text, "s"))
        unit_ms = 1000;
    if (!ptc_double_parse(text.bytes, text.len, &number) || number < 0)
        return -1;
    return clamp(number * unit_ms);
}

/* The number in `count` digits of a text that is long enough; -1 if they are not all digits. */
static int digits_at(PtcText text, size_t at, size_t count)
{
    int number = 0;
    for (size_t i = at; i < at + count; i++) {
        if (!ptc_ascii_is_digit(text.bytes[i]))
            return -1;
        number = number * 10 + (text.bytes[i] - '0');
    }
    return number;
}

static int month_at(PtcText text, size_t at)
{
    for (int month = 1; month <= 12; month++)
        if (memcmp(text.bytes + at, ptc_calendar_month_name(month), 3) == 0)
            return month;
    return 0;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", the only form that may still be sent. */
static bool read_http_date(PtcText text, int64_t *ms)
{
    static const char shape[] = "..., .. ... .... ..:..:.. GMT";
    if (text.len != sizeof shape - 1)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (shape[i] != '.' && shape[i] != text.bytes[i])
            return false;
    int day = digits_at(text, 5, 2), month = month_at(text, 8), year = digits_at(text, 12, 4);
    int hour = digits_at(text, 17, 2), minute = digits_at(text, 20, 2),
        second = digits_at(text, 23, 2);
    if (month == 0 || year < 1970 || day < 1 || day > ptc_calendar_month_length(year, month) ||
        hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    int64_t seconds =
        ptc_calendar_days(year, month, day) * PTC_DAY_SECONDS + hour * 3600 + minute * 60 + second;
    *ms = seconds * 1000;
    return true;
}

int64_t ptc_retry_after_ms(PtcText value, int64_t now_ms)
{
    int64_t date;
    PtcText text = ptc_text_trim(value, " \t\r\n");
    if (!read_http_date(text, &date))
        return ptc_retry_delay_ms(text, 1000);
    return clamp((double)date - (double)now_ms);
}

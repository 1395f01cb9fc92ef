/* SPDX-License-Identifier: MIT
 * Records of small numbers in snapshots: times of day, points in time with an offset, offsets, months, years,
 * adjusters.  Each has a number of its own that never changes, and every field is checked when it is read. */
#include "engine/snapshot/snapshot_int.h"
#include "value/time/time.h"

enum { MOMENT_FIELDS_MAX = 4 };

/* By the number that stands in a snapshot: which record, and the range of each of its fields. */
static const struct {
    uint8_t kind, count;
    struct {
        int64_t least, most;
    } field[MOMENT_FIELDS_MAX];
} kinds[] = {
    {PTC_R_CLOCK, 2, {{0, PTC_DAY_SECONDS - 1}, {0, PTC_NANOS - 1}}},
    {PTC_R_ZONED,
     4,
     {{-PTC_DURATION_MAX, PTC_DURATION_MAX},
      {-PTC_OFFSET_MAX, PTC_OFFSET_MAX},
      {PTC_ZONE_OFFSET, PTC_ZONE_UTC},
      {0, PTC_NANOS - 1}}},
    {PTC_R_ZONE, 1, {{-PTC_OFFSET_MAX, PTC_OFFSET_MAX}}},
    {PTC_R_YEARMONTH, 1, {{-PTC_YEAR_MAX * 12LL, PTC_YEAR_MAX * 12LL + 11}}},
    {PTC_R_YEAR, 1, {{-PTC_YEAR_MAX, PTC_YEAR_MAX}}},
    {PTC_R_ADJUSTER, 3, {{0, 10}, {-1000, 1000}, {1, 7}}},
};
enum { MOMENT_KINDS = sizeof kinds / sizeof kinds[0] };

void ptc_snapshot_write_moment(SnapWriter *w, PtcValue v)
{
    size_t k = 0;
    while (k + 1 < MOMENT_KINDS && kinds[k].kind != ptc_obj(v)->aux)
        k++;
    ptc_snapshot_put_number(&w->out, SNAP_MOMENT);
    ptc_snapshot_put_number(&w->out, k);
    for (size_t i = 0; i < kinds[k].count; i++)
        ptc_snapshot_put_signed(&w->out, ptc_to_int(ptc_record_field(v, i)));
}

bool ptc_snapshot_read_moment(SnapReader *r)
{
    uint64_t k;
    int64_t n;
    PtcValue fields[MOMENT_FIELDS_MAX];
    if (!ptc_snapshot_get_number(r, MOMENT_KINDS - 1, &k))
        return false;
    for (size_t i = 0; i < kinds[k].count; i++) {
        if (!ptc_snapshot_get_signed(r, &n))
            return false;
        if (n < kinds[k].field[i].least || n > kinds[k].field[i].most)
            return SNAP_BAD(r, "a part of a time is out of range");
        fields[i] = ptc_int(n);
    }
    if (kinds[k].kind == PTC_R_ZONED &&
        !ptc_calendar_has(
            ptc_floor_div(ptc_to_int(fields[0]) + ptc_to_int(fields[1]), PTC_DAY_SECONDS)))
        return SNAP_BAD(r, "a time is out of range");
    return ptc_snapshot_add_value(r, ptc_snapshot_record(r, kinds[k].kind, fields, kinds[k].count));
}

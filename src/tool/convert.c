/* SPDX-License-Identifier: MIT
 * Values as JSON.  What always holds: a value that JSON cannot express is refused with its path, never approximated. */
#include "tool/convert.h"

#include "json/time_json.h"
#include "lisp/vm/builtin.h"
#include "value/time/time.h"

static bool write_other(const PtcJsonWriter *writer, PtcBuf *buf, PtcValue v, const char **what)
{
    if (ptc_time_json(writer, buf, v, what))
        return true;
    *what = ptc_type_name(v);
    return false;
}

bool ptc_to_json_answer(PtcHeap *heap, PtcBuf *buf, PtcValue v, int float_precision, PtcBuf *steps,
                        PtcJsonError *error)
{
    PtcJsonWriter writer = {heap, float_precision, write_other};
    return ptc_json_write_answer(&writer, buf, v, steps, error);
}

bool ptc_to_json_value(PtcHeap *heap, PtcBuf *buf, PtcValue v, int float_precision,
                       PtcJsonError *error)
{
    PtcJsonWriter writer = {heap, float_precision, write_other};
    if (ptc_json_write(&writer, buf, v, error))
        return true;
    if (error->what[0] && !error->path[0])
        memcpy(error->path, "<root>", sizeof "<root>");
    return false;
}

/* SPDX-License-Identifier: MIT
 * time_json.h - times in JSON. */
#ifndef PTC_JSON_TIME_JSON_H
#define PTC_JSON_TIME_JSON_H

#include "json/write.h"

/* For PtcJsonWriter.other. */
bool ptc_time_json(const PtcJsonWriter *writer, PtcBuf *buf, PtcValue v, const char **what);

#endif

/* SPDX-License-Identifier: MIT
 * yaml_write.h - JSON text as YAML, one value to a line.  Text stands in quotes unless every reader of YAML, also of
 * version 1.1, takes it for text without them. */
#ifndef PTC_YAML_YAML_WRITE_H
#define PTC_YAML_YAML_WRITE_H

#include "base/buf.h"

/* JSON that is correct, without blanks, nested at most `depth` deep.  False: out of memory. */
PTC_MUST_USE bool ptc_yaml_write(PtcBuf *out, PtcText json, size_t depth);

#endif

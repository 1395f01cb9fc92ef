/* SPDX-License-Identifier: MIT
 * blot_json.h - JSON without secrets, which stays JSON. */
#ifndef PTC_UPSTREAM_RUN_BLOT_JSON_H
#define PTC_UPSTREAM_RUN_BLOT_JSON_H

#include "trace/redact.h"

/* Appends JSON that was written by json/emit.h (an upstream's own text may hide a secret in escapes) with [secret] in
 * place of each secret: in strings and keys, and a number that has one in it becomes the string "[secret]". */
void ptc_blot_json(const PtcSecrets *secrets, PtcBuf *out, PtcText json);

#endif

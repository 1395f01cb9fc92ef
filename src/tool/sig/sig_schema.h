/* SPDX-License-Identifier: MIT
 * sig_schema.h - signatures as JSON Schema, in the form that model providers accept. */
#ifndef PTC_TOOL_SIG_SIG_SCHEMA_H
#define PTC_TOOL_SIG_SIG_SCHEMA_H

#include "tool/sig/sig.h"

/* Appends the JSON Schema of a type.  Optional fields are left out of `required`; keywords and datetimes are strings,
 * since strict providers refuse `format`.  False if the buffer is full, as for all of these. */
bool ptc_sig_schema_type(PtcBuf *buf, const PtcSigType *type);
/* The schema of a result.  A list is wrapped, {"items":[...]}, because providers want an object at the top; for
 * one that may be nil, "items" is not required. */
bool ptc_sig_schema_result(PtcBuf *buf, const PtcSigType *result);
static inline bool ptc_sig_returns_list(const PtcSig *sig)
{
    return ptc_sig_required(sig->result)->kind == PTC_SIG_LIST;
}
/* The schema of the parameters; sig NULL: of a tool without a signature.  `extra`: the tool takes others as well, as
 * does one whose signature has no parameter list. */
bool ptc_sig_schema_params(PtcBuf *buf, const PtcSig *sig, bool extra);

#endif

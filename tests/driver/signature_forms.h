/* SPDX-License-Identifier: MIT
 * signature_forms.h - what tests do with signatures and the product does not: comparing them, writing them as JSON, and
 * reading types from JSON Schema. */
#ifndef PTC_DRIVER_SIGNATURE_FORMS_H
#define PTC_DRIVER_SIGNATURE_FORMS_H

#include "tool/sig/sig_check.h"

bool ptc_sig_equal(const PtcSig *a, const PtcSig *b);

bool ptc_sig_type_equal(const PtcSigType *a, const PtcSigType *b);

/* Appends a type as JSON: "int", {"list":T}, {"optional":T}, {"map":[{"name":N,"type":T}]}, {"closed_map":[...]}. */
bool ptc_sig_type_json(PtcBuf *buf, const PtcSigType *type);

/* The fields of a map type as [{"name":N,"type":T}]. */
bool ptc_sig_fields_json(PtcBuf *buf, const PtcSigType *type);

/* A tool in the OpenAI function format.  Hyphens in the name become underscores; description NULL: none. */
bool ptc_sig_schema_tool(PtcBuf *buf, const char *name, size_t name_len, const char *description,
                         size_t description_len, const PtcSig *sig);

/* The type that a JSON Schema stands for: string, integer, number, boolean, array with items, object with properties,
 * required and additionalProperties true or false, each with a description.  Anything else is refused, so that no
 * constraint is silently dropped.  `heap` provides the budget.  False with *error filled. */
PTC_MUST_USE bool ptc_sig_import(PtcArena *arena, PtcHeap *heap, PtcValue schema,
                                 const PtcSigType **out, PtcSigError *error);

/* The mode of this name ("warn_only"); false: there is none. */
bool ptc_sig_mode_named(const char *name, size_t len, PtcSigMode *out);

#endif

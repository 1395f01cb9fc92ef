/* SPDX-License-Identifier: MIT
 * members.h - the members of a JSON object, or the items of an array, as pieces of its text: for messages of which most
 * is passed on as it came.  Nothing is built and nothing allocated. */
#ifndef PTC_JSON_MEMBERS_H
#define PTC_JSON_MEMBERS_H

#include <stdint.h>

#include "base/text.h"

typedef struct PtcMembers {
    PtcText text;
    size_t at;   /* where the next one begins */
    bool array;  /* items have no key */
    bool begun;  /* from now on there is a comma before each */
    bool ended;  /* the container was closed, and nothing but white space follows */
    bool broken; /* not JSON, or neither object nor array */
} PtcMembers;

/* Begins with the text of an object or array, white space around it allowed. */
PtcMembers ptc_members_of(PtcText text);
/* The next one; false: there is none, or the text is broken.  The key is as it was written between its quotes, escapes
 * and all; the value is checked, a whole JSON text by itself. */
bool ptc_members_next(PtcMembers *members, PtcText *key, PtcText *value);

/* The value of a member of an object (of the last, if there are several); absent: there is none, or it is no object.
 * An escaped key is not found. */
PtcText ptc_members_get(PtcText object, const char *key);
/* Does a JSON text begin as an object? */
bool ptc_members_is_object(PtcText json);
/* A number that is an integer without fraction and exponent; false: it is something else. */
bool ptc_members_int(PtcText json, int64_t *n);
/* What stands between the quotes of a string without escapes; absent: it is no such string. */
PtcText ptc_members_plain(PtcText json);

#endif

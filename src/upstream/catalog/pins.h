/* SPDX-License-Identifier: MIT
 * pins.h - what tools were when they were first seen, and what a person has agreed to since.
 *
 * A server may change the description of a tool at any time, and whoever trusted the tool before did not trust the
 * change.  So the name, description, schemas and annotations of each tool are kept as digests in one file of the
 * person.  A change is told; until it is approved, the stricter of what the tool was and what it is holds.  Entries of
 * project files are kept alike: they may be used once they are approved, as they are written now.
 *
 * Other processes write the file too: each change is made under a lock, on top of what the file says then, and the file
 * is read again when it is not the one that was read.  Any thread may call. */
#ifndef PTC_UPSTREAM_CATALOG_PINS_H
#define PTC_UPSTREAM_CATALOG_PINS_H

#include "base/os/shelf.h"
#include "base/why.h"
#include "upstream/catalog/listing.h"
#include "upstream/config/policy.h"

typedef struct PtcPins PtcPins;

/* Whose tools: the file that names the upstream, and its name there. */
typedef struct PtcPinned {
    PtcText file, name;
} PtcPinned;

/* The file pins.json on a shelf of files, which need not be there and is not read yet; or what those who share a store
 * have pinned.  The shelf is borrowed.  NULL: out of memory. */
PTC_MUST_USE PtcPins *ptc_pins_new(PtcMem *mem, PtcShelf *shelf);
void ptc_pins_free(PtcPins *pins); /* NULL is fine */

/* Can the file be used, or is it not there?  False: pins are neither read nor written, and any tool may have been
 * anything before. */
bool ptc_pins_usable(PtcPins *pins, PtcWhy *why);

/* Will another process know what this one has pinned?  What cannot be used is not kept either. */
bool ptc_pins_kept(PtcPins *pins, PtcWhy *why);

/* Has somebody written the file since it was read?  It is read again then; in a store that is looked at once a second
 * at most.  No lock is held. */
bool ptc_pins_refresh(PtcPins *pins);

/* ------------------------------------------------------------------------------------- tools */

/* Which parts of a tool have changed, as bits. */
enum { PTC_PIN_DESCRIPTION = 1, PTC_PIN_INPUT = 2, PTC_PIN_OUTPUT = 4, PTC_PIN_ANNOTATIONS = 8 };
/* "description, annotations" */
void ptc_pins_parts(unsigned parts, char text[64]);

/* An upstream has listed its tools: those that are new are pinned, those that have changed are told and kept as
 * changed.  False: the file could not be written, and why says so; then they are pinned as long as this process
 * lives. */
typedef void PtcPinsTell(void *user, PtcText tool, unsigned parts);
PTC_MUST_USE bool ptc_pins_see(PtcPins *pins, PtcPinned who, PtcListing *listing, PtcPinsTell *tell,
                               void *user, PtcWhy *why);

/* Which parts of a tool differ from what is pinned; 0: none, or it is not pinned. */
unsigned ptc_pins_changed(PtcPins *pins, PtcPinned who, PtcListing *listing, size_t tool);

/* ptc_policy_decide with what the tool was before a change that nobody has approved; `why` is "unpinned" where nobody
 * knows what it was. */
PtcPolicyOut ptc_pins_decide(PtcPins *pins, PtcPinned who, PtcListing *listing, size_t tool,
                             PtcHeap *heap, PtcPolicyIn *in);

/* Takes the tool (absent: all of the upstream) as it was last seen.  *count: how many that were changed; False: the
 * file could not be written, and why says so. */
PTC_MUST_USE bool ptc_pins_approve(PtcPins *pins, PtcPinned who, PtcText tool, size_t *count,
                                   PtcWhy *why);

/* ----------------------------------------------------------------------------------- entries */

enum { PTC_PIN_ENTRY = 64 }; /* digits of the digest of an entry */

/* Has this entry been approved as it is written now? */
bool ptc_pins_has_entry(PtcPins *pins, PtcPinned who, const char digest[PTC_PIN_ENTRY + 1]);
PTC_MUST_USE bool ptc_pins_approve_entry(PtcPins *pins, PtcPinned who,
                                         const char digest[PTC_PIN_ENTRY + 1], PtcWhy *why);

/* ------------------------------------------------------------------------------------ people */

/* Calls back for every tool of the upstream that is pinned, in the order of the file. */
typedef struct PtcPin {
    PtcText tool;
    PtcText pinned;  /* when, as a date */
    unsigned parts;  /* that have changed; 0: none */
    PtcText was, is; /* the beginning of its descriptions; `is` absent: as it was */
} PtcPin;
typedef void PtcPinsEach(void *user, const PtcPin *pin);
void ptc_pins_each(PtcPins *pins, PtcPinned who, PtcPinsEach *each, void *user);

#endif

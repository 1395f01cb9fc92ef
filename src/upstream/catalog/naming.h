/* SPDX-License-Identifier: MIT
 * naming.h - what upstreams and their tools are called in programs, and which tool a program means. */
#ifndef PTC_UPSTREAM_CATALOG_NAMING_H
#define PTC_UPSTREAM_CATALOG_NAMING_H

#include "upstream/catalog/catalog.h"

enum { PTC_NAMING_NAMESPACE = 64 }; /* bytes of a namespace */

/* The namespace of an upstream: its name where that can be one, else the nearest to it.  False: out of memory. */
PTC_MUST_USE bool ptc_naming_namespace(PtcArena *arena, PtcText name, PtcText *ns);
/* May a person choose this as a namespace? */
bool ptc_naming_is_namespace(PtcText ns);
/* Do two namespaces count as one: the same without case, with - and _ alike? */
bool ptc_naming_same_namespace(PtcText a, PtcText b);

/* The symbol of a name on its own, into out, which has room for one byte more than the name has; its length. */
size_t ptc_naming_symbol(PtcText name, char *out);
/* Gives every tool of a server its symbol; no two are the same, and a name that can be a symbol is one. */
PTC_MUST_USE bool ptc_naming_symbols(PtcArena *arena, PtcHeap *heap, PtcCatalogServer *server);

/* The text without case and without - _ and . */
PTC_MUST_USE bool ptc_naming_fold(PtcArena *arena, PtcText text, PtcText *folded);

typedef struct PtcNamed {
    const PtcCatalogServer *server; /* NULL: there is none */
    const PtcCatalogTool *tool;     /* NULL: it has none, or several */
    PtcText nearest;                /* of the kind that was not found; absent: nothing is near */
    PtcText *several;
    size_t several_count; /* symbols, in the order of their bytes; 0: not several */
} PtcNamed;

/* What `ns/tool` means: a spelling that differs only in case and in - _ . is taken when it is one tool's alone, any
 * other is not.  A tool may be given by its own name as well as by its symbol.  False: out of memory. */
PTC_MUST_USE bool ptc_naming_find(PtcArena *arena, const PtcCatalog *catalog, PtcText ns,
                                  PtcText tool, PtcNamed *named);

#endif

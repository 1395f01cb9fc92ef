/* SPDX-License-Identifier: MIT
 * catalog.h - servers and their tools, under the names that programs use.
 *
 * A catalogue lies in one arena and never changes once it is made.  What upstreams say about their tools is kept as
 * they said it (values of the heap that the listing was read into); whoever shows it to a model cleans it (clean.h). */
#ifndef PTC_UPSTREAM_CATALOG_CATALOG_H
#define PTC_UPSTREAM_CATALOG_CATALOG_H

#include "base/arena.h"
#include "base/text.h"
#include "value/heap.h"

enum {
    PTC_CATALOG_TOOLS = 5000,    /* of one server; more are left out */
    PTC_CATALOG_NAME_BYTES = 256 /* of a tool's name; a tool with a longer one is left out */
};

typedef struct PtcCatalogTool {
    PtcText name;        /* as the server says it */
    PtcText symbol;      /* as programs write it, behind the namespace */
    PtcText description; /* absent: none */
    PtcValue definition; /* its entry of tools/list; PTC_NONE: only the name is known */
    PtcText
        seen; /* what results were like so far (tool/seen), for whoever asked; absent: not known */
} PtcCatalogTool;

typedef struct PtcCatalogServer {
    PtcText name, ns;
    PtcText description; /* absent: none */
    PtcCatalogTool *tools;
    size_t count;
    size_t left_out; /* entries of the listing that are no tools, or too many */
} PtcCatalogServer;

typedef struct PtcCatalog {
    PtcCatalogServer *servers;
    size_t count;
} PtcCatalog;

/* Makes a server of a listing: `tools` is an array of entries of tools/list, or of names alone.  Without a namespace,
 * one is made from the name.  Texts point into the values.  False: out of memory. */
PTC_MUST_USE bool ptc_catalog_server(PtcArena *arena, PtcHeap *heap, PtcText name, PtcText ns,
                                     PtcValue tools, PtcCatalogServer *out);

#endif

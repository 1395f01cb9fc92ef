/* SPDX-License-Identifier: MIT
 * config.h - files that name upstreams: ours, and those of seven clients.
 *
 * Reading is pure: environment and other files come through functions of the caller.  What is read comes out in one
 * normal form, whoever wrote it; a mistake has a place and a code.  A mistake in our own entries stops the reading, one
 * in an entry of another client makes that entry unusable, and so does in both what the environment lacks. */
#ifndef PTC_UPSTREAM_CONFIG_CONFIG_H
#define PTC_UPSTREAM_CONFIG_CONFIG_H

#include "base/buf.h"
#include "value/heap.h"

enum {
    PTC_CONFIG_BYTES = 32 * PTC_MB, /* of one file: Claude Code keeps its history in its own */
    PTC_CONFIG_ERRORS = 20,         /* that are told at once */
    PTC_CONFIG_UPSTREAMS = 500,
};

/* Whose file it is. */
typedef enum {
    PTC_DIALECT_UNSET, /* path and keys tell */
    PTC_DIALECT_OURS,
    PTC_DIALECT_CLAUDE_CODE,
    PTC_DIALECT_CLAUDE_DESKTOP,
    PTC_DIALECT_CURSOR,
    PTC_DIALECT_VSCODE,
    PTC_DIALECT_WINDSURF,
    PTC_DIALECT_ZED,
    PTC_DIALECT_GEMINI,
    PTC_DIALECT_OTHER, /* a client that we do not know, with mcpServers */
} PtcConfigDialect;
/* claude-code, claude-desktop, cursor, vscode, windsurf, zed, gemini. */
bool ptc_dialect_parse(PtcText name, PtcConfigDialect *out);

typedef struct PtcConfigIn {
    PtcText text;
    PtcText file;    /* its path; absent: none */
    PtcText project; /* an absolute path */
    PtcText cwd;     /* absent: the project */
    PtcConfigDialect dialect;
    bool lines; /* places have lines, which takes time in a large file */
    /* The value of a variable; absent: it is not set. */
    PtcText (*variable)(void *user, PtcText name);
    /* The text of a file; absent: it cannot be read. */
    PtcText (*read)(void *user, PtcText path);
    void *user;
} PtcConfigIn;

typedef struct PtcConfig {
    bool ok;
    PtcValue upstreams; /* list of entries in normal form (docs/upstreams.md) */
    PtcValue notes;     /* list of {"path", "code"} */
    /* For each upstream, in the same order: {"path", "line"?, "message"?, "written"}, where `message` says why it is
     * unusable and `written` is everything that the file says about it, in one spelling.  That may hold secrets. */
    PtcValue places;
    PtcValue errors;      /* not ok: list of {"path", "code", "line", "message"} */
    PtcValue policy;      /* rules of the file, server/tool -> decision; PTC_NONE: none */
    PtcValue credentials; /* name -> definition; PTC_NONE: none */
    /* Texts that nobody may read: credentials that entries use, what variables put into headers, environments and
     * addresses, and values whose names speak of keys, tokens, secrets, passwords or authorization. */
    PtcValue secrets;
} PtcConfig;

/* False: out of memory. */
PTC_MUST_USE bool ptc_config_read(PtcHeap *heap, const PtcConfigIn *in, PtcConfig *out);

/* Does a name speak of a key, a token, a secret, a password or authorization? */
bool ptc_config_is_secret_name(PtcText name);

/* What a note means, for people. */
const char *ptc_config_note_text(PtcText code);

/* Appends an error as people read it: FILE:LINE: path: message. */
void ptc_config_message(PtcBuf *out, PtcHeap *heap, PtcText file, PtcValue error);

#endif

/* SPDX-License-Identifier: MIT
 * config_int.h - a file being read, for the files that read its parts. */
#ifndef PTC_UPSTREAM_CONFIG_CONFIG_INT_H
#define PTC_UPSTREAM_CONFIG_CONFIG_INT_H

#include "json/path.h"
#include "upstream/config/config.h"
#include "upstream/config/variables.h"
#include "value/coll/fields.h"

typedef struct {
    PtcHeap *heap;
    const PtcConfigIn *in;
    PtcConfig *out;
    PtcConfigDialect dialect;
    PtcText plain;  /* the text without comments */
    PtcValue lines; /* by path, for entries and what is above them */
    PtcValue root, credentials, inputs;
    PtcVariables variables;
    char path[PTC_PATH_BYTES]; /* of the value at hand */
    /* The entry at hand. */
    bool theirs;       /* it is of another client: a mistake makes it unusable and is no error */
    bool strange;      /* it has keys that we do not know */
    bool guarded;      /* what variables put in here is a secret */
    PtcValue entry;    /* as it is written */
    PtcValue form;     /* in normal form, so far */
    PtcValue notes;    /* about it */
    PtcValue unusable; /* {"code", "path"}; PTC_NONE: it can be used */
    PtcValue why;      /* that is so, in words; PTC_NONE: it can be used */
    PtcText beside;    /* the text of its environment's file; absent: it has none */
} Config;

/* ---- config.c */
/* A mistake at the place at hand, or in a member of it. */
void ptc_config_wrong(Config *c, const char *code, const char *message);
void ptc_config_wrong_in(Config *c, const char *key, const char *code, const char *message);
/* Hides this text wherever it occurs. */
void ptc_config_secret(Config *c, PtcText text);
/* The same for a value whose name says that it is a secret. */
void ptc_config_named_secret(Config *c, PtcText name, PtcValue value);
/* Something that the environment lacks, at a place of its own or at the one at hand. */
void ptc_config_lacks(Config *c, const char *path, const char *code, const char *message);
void ptc_config_note(Config *c, const char *code);
/* An unknown key at the place at hand; the nearest of the known ones is offered. */
void ptc_config_unknown_key(Config *c, PtcText key, const char *const *known, size_t count);
/* Goes to a member or an item; `keep` gets the path to come back to. */
void ptc_config_enter(Config *c, PtcText key, char keep[PTC_PATH_BYTES]);
void ptc_config_enter_index(Config *c, size_t i, char keep[PTC_PATH_BYTES]);
static inline void ptc_config_leave(Config *c, const char keep[PTC_PATH_BYTES])
{
    memcpy(c->path, keep, PTC_PATH_BYTES);
}
/* A member of the entry; PTC_NONE: it is not there or null. */
PtcValue ptc_config_member(Config *c, const char *key);
static inline void ptc_config_put(Config *c, const char *key, PtcValue v)
{
    ptc_fields_put(c->heap, &c->form, key, v);
}

/* ---- config_values.c */
/* Each reads a value at the place at hand; PTC_NONE after a mistake, which has been told. */
PtcValue ptc_config_text(Config *c, PtcValue v);
PtcValue ptc_config_bool(Config *c, PtcValue v);
PtcValue ptc_config_number(Config *c, PtcValue v);
/* A text with variables expanded; `numbers`: numbers and booleans become text. */
PtcValue ptc_config_expanded(Config *c, PtcValue v, bool numbers);
/* The same where what variables put in is a secret: headers, environments, addresses. */
PtcValue ptc_config_guarded(Config *c, PtcValue v, bool numbers);
/* A list of them; not expanded: of texts as they are. */
PtcValue ptc_config_texts(Config *c, PtcValue v, bool expand, bool numbers);
/* Name -> text with variables expanded, or null. */
PtcValue ptc_config_env(Config *c, PtcValue v);
/* Globs -> words that `parse` takes. */
PtcValue ptc_config_rules(Config *c, PtcValue v, bool (*is_word)(PtcText word));
bool ptc_config_is_policy(PtcText word);
bool ptc_config_is_effect(PtcText word);

/* ---- config_parts.c */
/* Complains about a command that is a whole line for a shell, or that would start ptc itself. */
void ptc_config_check_command(Config *c);
/* Adds the variables of a file to those of the entry, which win. */
void ptc_config_env_file(Config *c, PtcText path);
/* Is the address at the place at hand one that may be used?  `credentials`: they would go there. */
bool ptc_config_check_url(Config *c, PtcText url, bool insecure, bool insecure_auth,
                          bool credentials);
/* {"client_id", ...} of an object with these keys; absent ones are left out. */
typedef struct {
    const char *from, *to;
} ConfigRename;
PtcValue ptc_config_oauth(Config *c, PtcValue v, const ConfigRename *keys, bool strict);

/* ---- config_auth.c */
/* Checks all credentials of the file. */
void ptc_config_credentials(Config *c);
/* The value of a credential; absent: there is none, or it cannot be read, and code and path say why. */
PtcText ptc_config_credential(Config *c, PtcText name, const char **code,
                              char path[PTC_PATH_BYTES]);
/* The list of ours at the place at hand, and the headers beside it. */
PtcValue ptc_config_auth(Config *c, PtcValue v);
PtcValue ptc_config_static_headers(Config *c, PtcValue v);
void ptc_config_check_auth(Config *c);
/* Complains unless the value is the name of a credential that can be read. */
void ptc_config_names_credential(Config *c, PtcValue v);

/* ---- config_ours.c, config_theirs.c */
void ptc_config_ours(Config *c);
void ptc_config_theirs(Config *c);

#endif

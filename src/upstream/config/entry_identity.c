/* SPDX-License-Identifier: MIT
 * What always holds: what decides which program runs is in the text; values of variables and headers are not. */
#include "upstream/config/entry_identity.h"

#include <stdio.h>
#include <unistd.h>

#include "json/emit.h"
#include "upstream/catalog/canonical.h"
#include "value/coll/fields.h"

enum { IDENTITY_PATH_BYTES = 4096 };

/* A path as seen from a directory. */
static void put_path(char out[IDENTITY_PATH_BYTES], const char *dir, const char *name, size_t len)
{
    bool whole = len && name[0] == '/';
    snprintf(out, IDENTITY_PATH_BYTES, "%s%s%.*s", whole ? "" : dir, whole || !len ? "" : "/",
             PTC_ARG_OF(name, len));
}

/* The file that execvp would run; the name alone if there is none. */
static void find_file(const PtcEntry *e, const char *dir, char out[IDENTITY_PATH_BYTES])
{
    char where[IDENTITY_PATH_BYTES];
    const char *path = "", *name = e->argv[0];
    for (size_t i = 0; e->env && e->env[i]; i++)
        path = strncmp(e->env[i], "PATH=", 5) == 0 ? e->env[i] + 5 : path;
    if (strchr(name, '/')) {
        put_path(out, dir, name, strlen(name));
        return;
    }
    while (*path) {
        size_t n = strcspn(path, ":");
        put_path(where, dir, path, n);
        if (snprintf(out, IDENTITY_PATH_BYTES, "%s/%s", where, name) < IDENTITY_PATH_BYTES &&
            access(out, X_OK) == 0)
            return;
        path += n + (path[n] == ':');
    }
    snprintf(out, IDENTITY_PATH_BYTES, "%s", name);
}

static void put_process(const PtcEntry *e, PtcBuf *out)
{
    char here[IDENTITY_PATH_BYTES], dir[IDENTITY_PATH_BYTES], file[IDENTITY_PATH_BYTES];
    if (!getcwd(here, sizeof here))
        here[0] = '\0';
    put_path(dir, here, e->cwd ? e->cwd : "", e->cwd ? strlen(e->cwd) : 0);
    find_file(e, dir, file);
    ptc_emit_field_cstr(out, "directory", dir);
    ptc_emit_field_cstr(out, "command", file);
    ptc_emit_key(out, "args");
    ptc_emit_array(out);
    for (size_t i = 1; e->argv[i]; i++)
        ptc_emit_cstr(out, e->argv[i]);
    ptc_emit_array_end(out);
}

static void add_identity_names(PtcHeap *heap, PtcValue map, PtcValue *names)
{
    PtcValue key, value;
    for (size_t pos = 0;
         map != PTC_NONE && ptc_is_map(map) && ptc_map_next(map, &pos, &key, &value);)
        ptc_fields_put_key(heap, names, ptc_str_text(key), PTC_TRUE);
}

bool ptc_entry_identity(const PtcEntry *e, PtcHeap *heap, PtcBuf *out)
{
    PtcValue names = ptc_fields_map(heap), inherit = ptc_map_field(heap, e->form, "inherit_env");
    add_identity_names(heap, ptc_map_field(heap, e->form, "env"), &names);
    add_identity_names(heap, e->headers, &names);
    for (size_t i = 0; i < ptc_fields_count(inherit); i++)
        ptc_fields_put_key(heap, &names, ptc_str_text(ptc_seq_nth(inherit, i)), PTC_TRUE);
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "kind", e->kind);
    if (e->argv)
        put_process(e, out);
    ptc_emit_field_cstr(out, "url", e->url ? e->url : e->base_url);
    ptc_emit_key(out, "names");
    ptc_canonical_add(out, heap, names);
    ptc_emit_key(out, "auth");
    ptc_canonical_add(out, heap, e->auth == PTC_NONE ? PTC_NIL : e->auth);
    return ptc_emit_object_end(out) && ptc_fields_ok(heap);
}

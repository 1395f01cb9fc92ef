/* SPDX-License-Identifier: MIT
 * Credentials from variables, files, programs and the configuration itself.  What always holds: a value is among the
 * secrets before it is in a request, and buffers that held one are wiped; no lock is held while a program runs. */
#define _GNU_SOURCE
#include "upstream/config/credentials.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/os/process.h"
#include "base/os/whole_file.h"
#include "base/text/secret.h"
#include "json/emit.h"
#include "json/parse.h"
#include "upstream/config/header.h"
#include "upstream/config/secret_ring.h"
#include "upstream/connect/auth_apply.h"
#include "value/coll/fields.h"
#include "value/scratch.h"

enum {
    CREDENTIALS_VALUE_BYTES = 64 * PTC_KB,
    EXEC_S = 10,
    CREDENTIALS_HEAP_BYTES = 4 * PTC_MB,
    KEPT_MS = 5 * 60 * 1000, /* what a program printed, unless its ttl_ms says otherwise */
    KEPT_MOST_MS = 24 * 3600 * 1000,
};

static bool refuse_credential(PtcWhy *why, PtcText name, const char *what)
{
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "the credential \"%.*s\" %s", PTC_ARG(name), what);
}

static void free_secret_buf(PtcBuf *buf)
{
    if (buf->data)
        ptc_secret_wipe(buf->data, buf->cap);
    ptc_buf_deinit(buf);
}

void ptc_credentials_unhide(const PtcCredentials *c, PtcText text)
{
    ptc_secrets_drop(c->told, text.bytes, text.len);
    ptc_secrets_drop(c->hidden, text.bytes, text.len);
    if (c->records)
        ptc_secrets_drop(c->records, text.bytes, text.len);
}

bool ptc_credentials_hide(const PtcCredentials *c, PtcText text)
{
    return ptc_secrets_add(c->told, text.bytes, text.len) &&
           ptc_secrets_add(c->hidden, text.bytes, text.len) &&
           (!c->records || ptc_secrets_add(c->records, text.bytes, text.len));
}

/* ---------------------------------------------------------------------------------- sources */

static bool from_variable(const PtcCredentials *c, PtcText variable, PtcBuf *out)
{
    for (size_t i = 0; c->environment[i]; i++) {
        PtcText item = ptc_text_cstr(c->environment[i]);
        if (item.len > variable.len && item.bytes[variable.len] == '=' &&
            memcmp(item.bytes, variable.bytes, variable.len) == 0)
            return ptc_buf_add(out, item.bytes + variable.len + 1, item.len - variable.len - 1);
    }
    return false;
}

static bool read_credential_file(PtcText path, PtcBuf *out)
{
    char name[4096];
    if (path.len >= sizeof name)
        return false;
    memcpy(name, path.bytes, path.len);
    name[path.len] = '\0';
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool ok = ptc_whole_file_read_from(fd, out);
    close(fd);
    return ok;
}

static bool in_time(void *end_ns)
{
    return ptc_clock_ns(NULL) < *(int64_t *)end_ns;
}

static bool run_credential_program(const PtcCredentials *c, char *const *argv, PtcBuf *out)
{
    int64_t end_ns = ptc_clock_ns(NULL) + EXEC_S * PTC_S;
    PtcBuf err;
    ptc_buf_init(&err, c->mem, 4096);
    PtcProcess p = {.argv = argv,
                    .envp = (char *const *)(uintptr_t)c->environment,
                    .input = "",
                    .out = out,
                    .err = &err,
                    .go_on = in_time,
                    .user = &end_ns};
    ptc_process_run(&p);
    ptc_buf_deinit(&err);
    return p.end == PTC_PROCESS_EXITED && p.code == 0;
}

/* No shell: the first word is the program. */
static bool from_program(PtcCredentials *c, PtcScratch *scratch, PtcValue words, PtcBuf *out)
{
    size_t n = ptc_fields_count(words);
    char **argv = ptc_arena_zalloc(&scratch->arena, (n + 1) * sizeof *argv);
    for (size_t i = 0; argv && i < n; i++) {
        PtcText word = ptc_str_text(ptc_seq_nth(words, i));
        argv[i] = word.bytes ? ptc_arena_zalloc(&scratch->arena, word.len + 1) : NULL;
        if (!argv[i])
            return false;
        memcpy(argv[i], word.bytes, word.len);
    }
    return argv && n && run_credential_program(c, argv, out);
}

/* ------------------------------------------------------------------------------------- kept */

/* One source of secrets: a credential, the command line of an upstream, or a header that it prints. */
struct PtcSecretSource {
    PtcSecretSource *next;
    bool headers;       /* of an upstream, whose name it is */
    PtcSecretRing ring; /* its last values, which are hidden */
    char *value;        /* what its program printed last; NULL: nothing that counts */
    size_t len;
    int64_t until_ns; /* then the program is asked again */
    size_t name_len;
    char name[];
};

void ptc_credentials_init(PtcCredentials *c)
{
    pthread_mutex_init(&c->lock, NULL);
    c->sources = NULL;
}

static void drop_value(PtcCredentials *c, PtcSecretSource *s)
{
    if (s->value)
        ptc_secret_wipe(s->value, s->len);
    ptc_mem_free(c->mem, s->value, s->len);
    s->value = NULL;
    s->len = 0;
}

void ptc_credentials_deinit(PtcCredentials *c)
{
    for (PtcSecretSource *s; (s = c->sources);) {
        c->sources = s->next;
        drop_value(c, s);
        ptc_secret_ring_deinit(&s->ring);
        ptc_mem_free(c->mem, s, sizeof *s + s->name_len);
    }
    pthread_mutex_destroy(&c->lock);
}

/* With the lock held; made when there is none yet.  NULL: out of memory. */
static PtcSecretSource *find_secret_source(PtcCredentials *c, PtcText name, bool headers)
{
    PtcSecretSource *s = c->sources;
    while (s && (s->headers != headers || !ptc_text_same((PtcText){s->name, s->name_len}, name)))
        s = s->next;
    if (s || !(s = ptc_mem_alloc(c->mem, sizeof *s + name.len)))
        return s;
    *s = (PtcSecretSource){.next = c->sources, .headers = headers, .name_len = name.len};
    memcpy(s->name, name.bytes, name.len);
    ptc_secret_ring_init(&s->ring, c);
    return c->sources = s;
}

/* Hides a value of the source; of those before it only the last few stay hidden, so that what programs print again and
 * again does not pile up. */
static bool hide_value(PtcCredentials *c, PtcText name, bool headers, PtcText value)
{
    pthread_mutex_lock(&c->lock);
    PtcSecretSource *s = find_secret_source(c, name, headers);
    pthread_mutex_unlock(&c->lock);
    return s && ptc_secret_ring_learn(&s->ring, value);
}

/* What a program printed a while ago; false: nothing that still counts. */
static bool take_kept(PtcCredentials *c, PtcText name, bool headers, PtcBuf *out)
{
    pthread_mutex_lock(&c->lock);
    PtcSecretSource *s = find_secret_source(c, name, headers);
    bool counts = s && s->value && ptc_clock_ns(NULL) < s->until_ns;
    bool found = counts && ptc_buf_add(out, s->value, s->len);
    if (s && !counts)
        drop_value(c, s);
    pthread_mutex_unlock(&c->lock);
    return found;
}

/* When out of memory nothing is kept, and the program is asked again next time. */
static void keep_secret_value(PtcCredentials *c, PtcText name, bool headers, PtcText value,
                              int64_t ms)
{
    pthread_mutex_lock(&c->lock);
    PtcSecretSource *s = find_secret_source(c, name, headers);
    if (s) {
        drop_value(c, s);
        s->value = ptc_mem_alloc(c->mem, value.len);
        s->len = s->value ? value.len : 0;
        s->until_ns = ptc_clock_ns(NULL) + ms * PTC_MS;
        if (s->value)
            memcpy(s->value, value.bytes, value.len);
    }
    pthread_mutex_unlock(&c->lock);
}

static bool forget_secret_value(PtcCredentials *c, PtcText name, bool headers)
{
    pthread_mutex_lock(&c->lock);
    PtcSecretSource *s = find_secret_source(c, name, headers);
    bool found = s && s->value;
    if (found)
        drop_value(c, s);
    pthread_mutex_unlock(&c->lock);
    return found;
}

/* -------------------------------------------------------------------------------- one of them */

static bool read_secret_source(PtcCredentials *c, PtcScratch *scratch, PtcValue definition,
                               PtcBuf *out)
{
    PtcHeap *heap = &scratch->heap;
    PtcText source = ptc_fields_text(heap, definition, "source");
    if (!source.bytes)
        return false;
    if (ptc_text_is(source, "env"))
        return from_variable(c, ptc_fields_text(heap, definition, "var"), out);
    if (ptc_text_is(source, "file"))
        return read_credential_file(ptc_fields_text(heap, definition, "path"), out);
    if (ptc_text_is(source, "exec"))
        return from_program(c, scratch, ptc_map_field(heap, definition, "command"), out);
    PtcText value = ptc_fields_text(heap, definition, "value");
    return value.bytes && ptc_buf_add(out, value.bytes, value.len);
}

static PtcText trimmed(const PtcBuf *buf)
{
    PtcText text = ptc_buf_view(buf);
    while (text.len && strchr(" \t\r\n", text.bytes[text.len - 1]))
        text.len--;
    return text;
}

/* A program is not asked before what it printed is too old. */
static bool read_secret_value(PtcCredentials *c, PtcScratch *scratch, PtcText name,
                              PtcValue definition, PtcBuf *out)
{
    PtcText source = ptc_fields_text(&scratch->heap, definition, "source");
    bool program = source.bytes && ptc_text_is(source, "exec");
    PtcValue ttl = ptc_map_field(&scratch->heap, definition, "ttl_ms");
    if (program && take_kept(c, name, false, out))
        return true;
    if (!read_secret_source(c, scratch, definition, out))
        return false;
    int64_t ms = ttl != PTC_NONE && ptc_is_int(ttl) ? ptc_to_int(ttl) : KEPT_MS;
    if (program)
        keep_secret_value(c, name, false, ptc_buf_view(out), ms < KEPT_MOST_MS ? ms : KEPT_MOST_MS);
    return true;
}

/* The value becomes a secret before anybody can see it. */
static bool add_credential_value(PtcCredentials *c, PtcScratch *scratch, PtcText name,
                                 PtcValue *values, PtcWhy *why)
{
    PtcBuf raw;
    PtcValue definition = c->definitions == PTC_NONE
                              ? PTC_NONE
                              : ptc_fields_get(&scratch->heap, c->definitions, name);
    if (definition == PTC_NONE)
        return refuse_credential(why, name, "does not exist");
    ptc_buf_init(&raw, c->mem, CREDENTIALS_VALUE_BYTES);
    bool ok = read_secret_value(c, scratch, name, definition, &raw);
    PtcText value = trimmed(&raw);
    ok = ok && value.len && hide_value(c, name, false, value);
    if (ok)
        ptc_fields_put_key(&scratch->heap, values, name, ptc_fields_string(&scratch->heap, value));
    free_secret_buf(&raw);
    return ok ||
           refuse_credential(why, name, "has no value: its variable, file or program gave none");
}

/* ---------------------------------------------------------------------------------- headers */

static void put_header_lines(PtcBuf *lines, PtcValue headers)
{
    PtcValue key, value;
    for (size_t pos = 0; headers != PTC_NONE && ptc_map_next(headers, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key), text = ptc_str_text(value);
        if (!name.bytes || !text.bytes)
            continue;
        ptc_buf_add(lines, name.bytes, name.len);
        ptc_buf_add_cstr(lines, ": ");
        ptc_buf_add(lines, text.bytes, text.len);
        ptc_buf_add_char(lines, '\n');
    }
}

/* Each header has values of its own. */
static bool hide_header(PtcCredentials *c, PtcText upstream, PtcText header, PtcText value)
{
    PtcBuf name;
    const char *blank = memchr(value.bytes, ' ', value.len); /* the token of "Bearer token" */
    PtcText token = {blank, blank ? value.len - (size_t)(blank - value.bytes) : 0};
    ptc_buf_init(&name, c->mem, CREDENTIALS_VALUE_BYTES);
    ptc_buf_add(&name, upstream.bytes, upstream.len);
    ptc_buf_add_char(&name, '\n');
    bool ok = ptc_buf_add(&name, header.bytes, header.len) &&
              hide_value(c, ptc_buf_view(&name), true, value) &&
              (token.len < 2 ||
               hide_value(c, ptc_buf_view(&name), true, (PtcText){token.bytes + 1, token.len - 1}));
    ptc_buf_deinit(&name);
    return ok;
}

/* What a command line printed: {"Name": "value", ...}. */
static bool take_headers(PtcCredentials *c, PtcScratch *scratch, const PtcEntry *entry,
                         PtcText json, PtcValue *headers)
{
    PtcHeap *heap = &scratch->heap;
    PtcJsonError error;
    PtcValue key, value, all = ptc_json_parse(heap, json.bytes, json.len, &error);
    if (all == PTC_NONE || !ptc_is_map(all))
        return false;
    for (size_t pos = 0; ptc_map_next(all, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key), text = ptc_str_text(value);
        if (!text.bytes || !ptc_header_is_name(name) || !ptc_header_is_value(text))
            return false;
        PtcValue lower = ptc_header_lower(heap, name);
        if (ptc_header_is_ours(name) || lower == PTC_NONE)
            continue;
        if (!hide_header(c, entry->name, ptc_str_text(lower), text))
            return false;
        ptc_fields_put_key(heap, headers, ptc_str_text(lower), value);
    }
    return ptc_fields_ok(heap);
}

/* Headers that Claude Code's `headersHelper` prints; as there, it is a line for the shell. */
static bool add_helper(PtcCredentials *c, PtcScratch *scratch, const PtcEntry *entry,
                       PtcValue *headers, PtcWhy *why)
{
    PtcText line = ptc_fields_text(&scratch->heap, entry->form, "headers_command");
    PtcBuf out;
    if (!line.bytes)
        return true;
    char *text = ptc_arena_zalloc(&scratch->arena, line.len + 1);
    if (!text)
        return false;
    memcpy(text, line.bytes, line.len);
    char *const argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", text, NULL};
    ptc_buf_init(&out, c->mem, CREDENTIALS_VALUE_BYTES);
    bool kept = take_kept(c, entry->name, true, &out);
    bool ok = (kept || run_credential_program(c, argv, &out)) &&
              take_headers(c, scratch, entry, ptc_buf_view(&out), headers);
    if (ok && !kept)
        keep_secret_value(c, entry->name, true, ptc_buf_view(&out), KEPT_MS);
    if (!ok)
        ptc_why_say(why, PTC_WHY_UNAVAILABLE,
                    "its headersHelper printed no object of headers within 10 s");
    free_secret_buf(&out);
    return ok;
}

static bool apply_credentials(PtcCredentials *c, PtcScratch *scratch, const PtcEntry *entry,
                              PtcValue own, PtcValue auth, PtcBuf *lines, PtcBuf *query,
                              PtcWhy *why)
{
    PtcHeap *heap = &scratch->heap;
    PtcValue values = ptc_fields_map(heap), headers = own == PTC_NONE ? ptc_fields_map(heap) : own;
    PtcValue key, value;
    PtcText binding;
    for (size_t pos = 0;
         entry->headers != PTC_NONE && ptc_map_next(entry->headers, &pos, &key, &value);)
        ptc_fields_put_key(heap, &headers, ptc_str_text(key), value);
    if (!add_helper(c, scratch, entry, &headers, why))
        return false;
    for (size_t i = 0; i < ptc_fields_count(auth); i++) {
        PtcText name = ptc_fields_text(heap, ptc_seq_nth(auth, i), "binding");
        if (name.bytes && !add_credential_value(c, scratch, name, &values, why))
            return false;
    }
    if (auth != PTC_NONE && !ptc_auth_apply(heap, auth, values, &headers, query, &binding))
        return refuse_credential(why, binding, "cannot be put into a header");
    put_header_lines(lines, headers);
    return ptc_fields_ok(heap) && ptc_buf_ok(lines);
}

bool ptc_credentials_apply(PtcCredentials *c, const PtcEntry *entry, PtcValue headers,
                           PtcValue auth, PtcBuf *lines, PtcBuf *query, PtcWhy *why)
{
    PtcScratch scratch;
    ptc_scratch_init(&scratch, c->mem, CREDENTIALS_HEAP_BYTES);
    bool ok = apply_credentials(c, &scratch, entry, headers, auth, lines, query, why);
    ptc_scratch_deinit(&scratch);
    return ok;
}

bool ptc_credentials_headers(PtcCredentials *c, const PtcEntry *entry, PtcBuf *lines, PtcBuf *query,
                             PtcWhy *why)
{
    return ptc_credentials_apply(c, entry, PTC_NONE, entry->auth, lines, query, why);
}

bool ptc_credentials_forget(PtcCredentials *c, const PtcEntry *entry)
{
    PtcScratch scratch;
    PtcValue key, value;
    bool any = forget_secret_value(c, entry->name, true);
    ptc_scratch_init(&scratch, c->mem, CREDENTIALS_HEAP_BYTES);
    for (size_t i = 0; i < ptc_fields_count(entry->auth); i++) {
        PtcText name = ptc_fields_text(&scratch.heap, ptc_seq_nth(entry->auth, i), "binding");
        any = (name.bytes && forget_secret_value(c, name, false)) || any;
    }
    for (size_t pos = 0; entry->security != PTC_NONE && ptc_is_map(entry->security) &&
                         ptc_map_next(entry->security, &pos, &key, &value);)
        any = forget_secret_value(c, ptc_str_text(value), false) || any;
    ptc_scratch_deinit(&scratch);
    return any;
}

/* ----------------------------------------------------------------------------------- identity */

static bool add_identity(PtcCredentials *c, PtcScratch *scratch, PtcText name, PtcBuf *out)
{
    PtcHeap *heap = &scratch->heap;
    PtcValue definition =
        c->definitions == PTC_NONE ? PTC_NONE : ptc_fields_get(heap, c->definitions, name);
    PtcText source = ptc_fields_text(heap, definition, "source");
    ptc_buf_add(out, "", 1);
    if (source.bytes && ptc_text_is(source, "exec"))
        return ptc_emit_value(out, heap, definition);
    return definition != PTC_NONE && read_secret_source(c, scratch, definition, out);
}

bool ptc_credentials_identity(PtcCredentials *c, const PtcEntry *entry, PtcBuf *out)
{
    PtcScratch scratch;
    PtcValue key, value;
    bool ok = true;
    ptc_scratch_init(&scratch, c->mem, CREDENTIALS_HEAP_BYTES);
    for (size_t i = 0; ok && i < ptc_fields_count(entry->auth); i++) {
        PtcText name = ptc_fields_text(&scratch.heap, ptc_seq_nth(entry->auth, i), "binding");
        ok = !name.bytes || add_identity(c, &scratch, name, out);
    }
    for (size_t pos = 0; ok && entry->security != PTC_NONE && ptc_is_map(entry->security) &&
                         ptc_map_next(entry->security, &pos, &key, &value);)
        ok = add_identity(c, &scratch, ptc_str_text(value), out);
    ptc_scratch_deinit(&scratch);
    return ok && ptc_buf_ok(out);
}

/* SPDX-License-Identifier: MIT
 * Sheets of tokens: one JSON object each, replaced whole. */
#include "oauth/oauth_store.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/os/private_file.h"
#include "base/text/hex.h"
#include "base/text/hmac.h"
#include "base/text/secret.h"
#include "json/emit.h"
#include "oauth/oauth_doc.h"

enum { OAUTH_FORMAT = 1, OAUTH_LOOK_MS = 50 };

void ptc_oauth_place_init(PtcOauthPlace *place, PtcShelf *shelf, PtcText name, const char *url)
{
    static const char folder[] = "oauth/";
    uint8_t digest[PTC_SHA256_BYTES];
    char hex[2 * 16 + 1];
    PtcText parts[] = {name, {"", 1}, ptc_text_cstr(url)};
    ptc_sha256_parts(parts, 3, digest);
    ptc_hex_write(hex, digest, 16);
    snprintf(place->file, sizeof place->file, "%s%s.json", folder, hex);
    snprintf(place->lock_file, sizeof place->lock_file, "%s.lock", place->file);
    place->shelf = shelf;
    place->sheet = (PtcSheet){.kind = "oauth",
                              .owner = PTC_TEXT("-"),
                              .key = {place->file + sizeof folder - 1, 2 * 16},
                              .file = place->file,
                              .lock_file = place->lock_file,
                              .secret = true,
                              .alone = true};
}

/* -------------------------------------------------------------------------------------- load */

static void store_directory_of(char dir[PTC_SHELF_PATH], const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(dir, PTC_SHELF_PATH, "%.*s", PTC_ARG_OF(path, slash ? slash - path : 0));
}

/* A directory that others may write to is as bad as a file. */
static bool is_dir_private(const char *path, PtcWhy *why)
{
    struct stat st;
    char dir[PTC_SHELF_PATH];
    store_directory_of(dir, path);
    if (lstat(dir, &st) != 0)
        return true; /* then the file is missing too */
    if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
        return true;
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return ptc_why_say(why, PTC_WHY_REFUSED, "%s is not a directory of yours", dir);
    return ptc_why_say(why, PTC_WHY_REFUSED, "others may enter %s (its mode is %03o): chmod 700 %s",
                       dir, (unsigned)(st.st_mode & 0777), dir);
}

static bool read_record(PtcOauthDoc *doc, PtcOauthRecord *out)
{
    *out = (PtcOauthRecord){
        .account = ptc_oauth_doc_text(doc, "account"),
        .resource = ptc_oauth_doc_text(doc, "resource"),
        .issuer = ptc_oauth_doc_text(doc, "issuer"),
        .token_endpoint = ptc_oauth_doc_text(doc, "token_endpoint"),
        .client = {.id = ptc_oauth_doc_text(doc, "client_id"),
                   .secret = ptc_oauth_doc_text(doc, "client_secret"),
                   .auth = ptc_oauth_auth_of(ptc_oauth_doc_text(doc, "client_auth"),
                                             PTC_OAUTH_AUTH_NONE),
                   .key_file = ptc_oauth_doc_text(doc, "client_key_file"),
                   .audience = ptc_oauth_doc_text(doc, "issuer")},
        .access = ptc_oauth_doc_text(doc, "access_token"),
        .refresh = ptc_oauth_doc_text(doc, "refresh_token"),
        .scope = ptc_oauth_doc_text(doc, "scope"),
        .wanted = ptc_oauth_doc_text(doc, "wanted"),
        .expires_at = ptc_oauth_doc_number(doc, "expires_at", 0),
        .life = ptc_oauth_doc_number(doc, "life", 0),
        .inside = ptc_oauth_doc_is_true(doc, "inside"),
    };
    return ptc_oauth_doc_number(doc, "format", 0) == OAUTH_FORMAT && out->resource && out->issuer &&
           out->token_endpoint && out->client.id && out->access && out->account &&
           !doc->short_of_memory;
}

/* Of a file: may nobody else read it? */
static bool is_place_private(const PtcOauthPlace *place, PtcWhy *why)
{
    char path[PTC_SHELF_PATH];
    if (place->shelf->shared)
        return true;
    ptc_sheet_place(place->shelf, &place->sheet, path);
    return is_dir_private(path, why) && ptc_private_file_check(path, why);
}

static PtcOauthFound read_record_text(const PtcOauthPlace *place, PtcBuf *text, PtcSheetMark *mark,
                                      PtcWhy *why)
{
    char path[PTC_SHELF_PATH];
    PtcWhy unread;
    PtcShelf *shelf = place->shelf;
    if (!is_place_private(place, why))
        return PTC_OAUTH_REFUSED;
    PtcSheetStatus status = shelf->read(shelf, &place->sheet, text, mark, &unread);
    int error = errno;
    if (status == PTC_SHEET_OK)
        return PTC_OAUTH_FOUND;
    if (status == PTC_SHEET_ABSENT || (!shelf->shared && error == ENOTDIR))
        return PTC_OAUTH_MISSING;
    if (shelf->shared)
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "its token: %.300s", unread.text);
    else
        ptc_why_say(why, PTC_WHY_REFUSED, "%s is not a file of yours that can be read: remove it",
                    ptc_sheet_place(shelf, &place->sheet, path));
    return PTC_OAUTH_REFUSED;
}

PtcOauthFound ptc_oauth_store_load(PtcMem *mem, PtcArena *arena, const PtcOauthPlace *place,
                                   PtcOauthRecord *out, PtcWhy *why)
{
    PtcBuf text;
    PtcOauthDoc doc;
    PtcSheetMark mark;
    ptc_buf_init(&text, mem, PTC_OAUTH_DOC_BYTES);
    PtcOauthFound found = read_record_text(place, &text, &mark, why);
    if (found == PTC_OAUTH_FOUND) {
        if (!ptc_oauth_doc_read(&doc, mem, arena, ptc_buf_view(&text)) || !read_record(&doc, out))
            found = PTC_OAUTH_MISSING;
        ptc_oauth_doc_deinit(&doc);
        out->mark = mark;
    }
    if (text.data)
        ptc_secret_wipe(text.data, text.len);
    ptc_buf_deinit(&text);
    return found;
}

/* -------------------------------------------------------------------------------------- save */

static void put_record_field(PtcBuf *out, const char *name, const char *text)
{
    if (text)
        ptc_emit_field_cstr(out, name, text);
}

static void write_record(PtcBuf *out, const PtcOauthRecord *r)
{
    ptc_emit_object(out);
    ptc_emit_field_int(out, "format", OAUTH_FORMAT);
    put_record_field(out, "account", r->account);
    put_record_field(out, "resource", r->resource);
    put_record_field(out, "issuer", r->issuer);
    put_record_field(out, "token_endpoint", r->token_endpoint);
    put_record_field(out, "client_id", r->client.id);
    put_record_field(out, "client_secret", r->client.secret);
    put_record_field(out, "client_auth", ptc_oauth_auth_name(r->client.auth));
    put_record_field(out, "client_key_file", r->client.key_file);
    put_record_field(out, "access_token", r->access);
    put_record_field(out, "refresh_token", r->refresh);
    put_record_field(out, "scope", r->scope);
    put_record_field(out, "wanted", r->wanted);
    ptc_emit_field_int(out, "expires_at", r->expires_at);
    ptc_emit_field_int(out, "life", r->life);
    ptc_emit_field_bool(out, "inside", r->inside);
    ptc_emit_object_end(out);
}

bool ptc_oauth_store_save(PtcMem *mem, const PtcOauthPlace *place, const PtcOauthRecord *record)
{
    PtcBuf out;
    PtcWhy why;
    PtcShelf *shelf = place->shelf;
    PtcSheetMark none = {{0}};
    PtcSheetWrite how = {.over = record->mark, .synced = true};
    bool new = ptc_sheet_same(&record->mark, &none);
    ptc_buf_init(&out, mem, PTC_OAUTH_DOC_BYTES);
    write_record(&out, record);
    bool ok = ptc_buf_ok(&out) && (!new || shelf->look(shelf, &place->sheet, &how.over)) &&
              shelf->write(shelf, &place->sheet, ptc_buf_view(&out), &how, &none, &why) !=
                  PTC_SHEET_FAILED;
    if (out.data)
        ptc_secret_wipe(out.data, out.len);
    ptc_buf_deinit(&out);
    return ok;
}

bool ptc_oauth_store_remove(const PtcOauthPlace *place)
{
    return place->shelf->remove(place->shelf, &place->sheet) == PTC_SHEET_OK;
}

/* -------------------------------------------------------------------------------------- time */

void ptc_oauth_store_time(PtcOauthRecord *record, const PtcOauthTokens *tokens)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    record->life = tokens->expires_in < 0 ? 0 : tokens->expires_in;
    record->expires_at = tokens->expires_in < 0 ? 0 : now.tv_sec + tokens->expires_in;
}

/* A token that lives for less than two minutes is used for half of its life. */
PtcOauthAge ptc_oauth_store_age(const PtcOauthRecord *record)
{
    enum { EARLY_S = 60 };
    struct timespec now;
    int64_t early = record->life / 2 < EARLY_S ? record->life / 2 : EARLY_S;
    if (!record->expires_at)
        return PTC_OAUTH_FRESH;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec >= record->expires_at           ? PTC_OAUTH_EXPIRED
           : now.tv_sec >= record->expires_at - early ? PTC_OAUTH_DUE
                                                      : PTC_OAUTH_FRESH;
}

/* -------------------------------------------------------------------------------------- lock */

bool ptc_oauth_store_lock(const PtcOauthPlace *place, int64_t end_ns, const PtcCancel *cancel,
                          PtcSheetLock *lock)
{
    PtcWhy why;
    PtcShelf *shelf = place->shelf;
    for (;;) {
        bool have = shelf->lock(shelf, &place->sheet, OAUTH_LOOK_MS, lock, &why);
        if (have || (errno != EWOULDBLOCK && errno != EINTR) || ptc_cancelled(cancel) ||
            ptc_clock_ns(NULL) >= end_ns)
            return have;
    }
}

void ptc_oauth_store_unlock(const PtcOauthPlace *place, PtcSheetLock *lock)
{
    place->shelf->unlock(place->shelf, lock);
}

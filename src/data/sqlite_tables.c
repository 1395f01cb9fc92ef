/* SPDX-License-Identifier: MIT
 * Tables of SQLite files.  What always holds: the file may be anything, so SQLite is told to trust nothing in it and to
 * make no value larger than VALUE_MAX, and what a row needs comes from the ledger of the heap. */
#include "data/sqlite_tables.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ascii.h"
#include "base/text/base64.h"
#include "base/utf8.h"
#include "sqlite/sqlite_library.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/number/bigint.h"
#include "value/number/number.h"
#include "value/str.h"

enum { VALUE_MAX = 64 * PTC_MB, LIKE_MAX = 100, BUSY_MS = 2000 };

typedef struct {
    PtcHeap *heap;
    PtcWhy *why;
    PtcSqlite lib;
    sqlite3 *db;
    /* The table at work. */
    sqlite3_stmt *rows;
    size_t columns;
    PtcValue keys, shape; /* builder; shape of narrow rows, or PTC_NONE */
    PtcValue *fields;
} Tables;

static bool fail_tables(Tables *t, const char *what)
{
    return ptc_why_say(t->why, PTC_WHY_INVALID, "%s", what);
}

static bool fail_sqlite(Tables *t)
{
    return ptc_why_say(t->why, PTC_WHY_INVALID, "SQLite says of it: %.300s", t->lib.errmsg(t->db));
}

static bool fail_tables_memory(Tables *t)
{
    return ptc_why_no_memory(t->why);
}

/* ------------------------------------------------------------------------------------- open */

static bool has_bytes(const char *path, const char *end)
{
    struct stat st;
    char beside[PATH_MAX + 16];
    snprintf(beside, sizeof beside, "%s%s", path, end);
    return stat(beside, &st) == 0 && st.st_size > 0;
}

/* The path as SQLite takes it.  A file beside which somebody's changes wait is opened like any, else as one that nobody
 * changes, so that reading needs no locks and no files. */
static bool add_uri(PtcBuf *uri, const char *path)
{
    static const char digits[] = "0123456789abcdef";
    bool changing = has_bytes(path, "-wal") || has_bytes(path, "-journal");
    ptc_buf_add_cstr(uri, "file:");
    for (const char *p = path; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (ptc_ascii_is_alnum(*p) || strchr("/-_.", *p)) {
            ptc_buf_add_char(uri, *p);
        } else {
            ptc_buf_add_char(uri, '%');
            ptc_buf_add_char(uri, digits[c >> 4]);
            ptc_buf_add_char(uri, digits[c & 15]);
        }
    }
    ptc_buf_add_cstr(uri, changing ? "?mode=ro" : "?mode=ro&immutable=1");
    return ptc_buf_add(uri, "", 1);
}

static bool set_guards(Tables *t)
{
    static const struct {
        int what, to;
    } configs[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                   {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                   {SQLITE_DBCONFIG_ENABLE_VIEW, 0}};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
        if (t->lib.db_config(t->db, configs[i].what, configs[i].to, (int *)NULL) != SQLITE_OK)
            return fail_tables(t, "the SQLite library is too old to read files of others safely");
    t->lib.limit(t->db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
    t->lib.limit(t->db, SQLITE_LIMIT_ATTACHED, 0);
    t->lib.limit(t->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LIKE_MAX);
    t->lib.limit(t->db, SQLITE_LIMIT_WORKER_THREADS, 0);
    t->lib.busy_timeout(t->db, BUSY_MS);
    return t->lib.exec(t->db,
                       "PRAGMA query_only=1;PRAGMA cell_size_check=1;PRAGMA mmap_size=0;BEGIN",
                       NULL, NULL, NULL) == SQLITE_OK ||
           fail_sqlite(t);
}

static bool open_tables(Tables *t, const char *path)
{
    PtcBuf uri;
    char whole[PATH_MAX];
    if (!realpath(path, whole))
        return fail_tables(t, "it is no file with a path");
    ptc_buf_init(&uri, t->heap->pool->mem, PTC_UNBOUNDED);
    bool ok = add_uri(&uri, whole) || fail_tables_memory(t);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    if (ok && t->lib.open_v2(uri.data, &t->db, flags, NULL) != SQLITE_OK)
        ok = fail_sqlite(t);
    ptc_buf_deinit(&uri);
    return ok && set_guards(t);
}

/* ----------------------------------------------------------------------------------- values */

static PtcValue buffered_value(Tables *t, PtcBuf *buf)
{
    PtcValue v =
        ptc_buf_ok(buf) ? ptc_str_new(t->heap, buf->len ? buf->data : "", buf->len) : PTC_NONE;
    ptc_buf_deinit(buf);
    return v;
}

static PtcValue text_value(Tables *t, const char *bytes, size_t len)
{
    PtcBuf buf;
    if (ptc_utf8_valid(bytes, len))
        return ptc_str_new(t->heap, bytes, len);
    ptc_heap_buf_init(t->heap, &buf);
    ptc_utf8_add(&buf, (PtcText){bytes, len});
    return buffered_value(t, &buf);
}

static PtcValue blob_value(Tables *t, const void *bytes, size_t len)
{
    PtcBuf buf;
    ptc_heap_buf_init(t->heap, &buf);
    (void)ptc_base64_add(&buf, bytes, len, false);
    return buffered_value(t, &buf);
}

static PtcValue column_value(Tables *t, int i)
{
    switch (t->lib.column_type(t->rows, i)) {
    case SQLITE_INTEGER: return ptc_int_new(t->heap, t->lib.column_int64(t->rows, i));
    case SQLITE_FLOAT: return ptc_float_new(t->heap, t->lib.column_double(t->rows, i));
    case SQLITE_NULL: return PTC_NIL;
    case SQLITE_TEXT: {
        const char *text = (const char *)t->lib.column_text(t->rows, i);
        return text ? text_value(t, text, (size_t)t->lib.column_bytes(t->rows, i)) : PTC_NONE;
    }
    default: {
        const void *blob = t->lib.column_blob(t->rows, i);
        return blob_value(t, blob ? blob : "", (size_t)t->lib.column_bytes(t->rows, i));
    }
    }
}

static PtcValue wide_table_row(Tables *t)
{
    PtcDictBuild build;
    bool ok = ptc_dict_build_init(&build, t->heap, false);
    for (size_t i = 0; ok && i < t->columns; i++)
        ok = ptc_dict_build_put(&build, *ptc_build_slot(t->keys, i), t->fields[i]);
    if (ok)
        return ptc_dict_build_done(&build);
    ptc_dict_build_cancel(&build);
    return PTC_NONE;
}

static bool add_table_row(Tables *t, PtcValue rows)
{
    for (size_t i = 0; i < t->columns; i++)
        if ((t->fields[i] = column_value(t, (int)i)) == PTC_NONE)
            return fail_tables_memory(t);
    PtcValue row =
        t->shape == PTC_NONE ? wide_table_row(t) : ptc_smap_new(t->heap, t->shape, t->fields);
    return (row != PTC_NONE && ptc_build_add(t->heap, rows, row)) || fail_tables_memory(t);
}

/* ----------------------------------------------------------------------------------- tables */

static bool read_column_names(Tables *t)
{
    uint32_t hashes[PTC_SMALL_MAX];
    PtcValue keys[PTC_SMALL_MAX];
    t->keys = ptc_build_new(t->heap);
    t->shape = PTC_NONE;
    for (size_t i = 0; i < t->columns; i++) {
        const char *name = t->lib.column_name(t->rows, (int)i);
        PtcValue key = name ? text_value(t, name, strlen(name)) : PTC_NONE;
        if (key == PTC_NONE || t->keys == PTC_NONE || !ptc_build_add(t->heap, t->keys, key))
            return fail_tables_memory(t);
        (void)ptc_str_hash(key);
        if (i < PTC_SMALL_MAX) {
            keys[i] = key;
            hashes[i] = ptc_hash(t->heap, key);
        }
    }
    if (t->columns <= PTC_SMALL_MAX)
        t->shape = ptc_shape_new(t->heap, keys, hashes, t->columns);
    return t->columns > PTC_SMALL_MAX || t->shape != PTC_NONE || fail_tables_memory(t);
}

static bool step_through_rows(Tables *t, PtcValue *rows)
{
    int code = SQLITE_DONE;
    *rows = ptc_build_new(t->heap);
    if (*rows == PTC_NONE)
        return fail_tables_memory(t);
    while ((code = t->lib.step(t->rows)) == SQLITE_ROW)
        if (!add_table_row(t, *rows))
            return false;
    if (code != SQLITE_DONE)
        return fail_sqlite(t);
    *rows = ptc_build_done(t->heap, *rows, 0);
    return *rows != PTC_NONE || fail_tables_memory(t);
}

/* The rows of one table, whose name may be anything. */
static bool read_table(Tables *t, const char *name, PtcValue *rows)
{
    PtcBuf sql;
    ptc_buf_init(&sql, t->heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_add_cstr(&sql, "SELECT * FROM main.\"");
    for (const char *p = name; *p; p++)
        ptc_buf_add(&sql, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    bool ok = ptc_buf_add(&sql, "\"", 2) && ptc_buf_ok(&sql);
    if (!ok)
        fail_tables_memory(t);
    else if (t->lib.prepare_v2(t->db, sql.data, -1, &t->rows, NULL) != SQLITE_OK || !t->rows)
        ok = fail_sqlite(t);
    ptc_buf_deinit(&sql);
    t->columns = ok ? (size_t)t->lib.column_count(t->rows) : 0;
    size_t bytes = t->columns * sizeof *t->fields;
    t->fields = ok ? ptc_mem_alloc(t->heap->pool->mem, bytes) : NULL;
    if (ok && !t->fields)
        ok = fail_tables_memory(t);
    ok = ok && read_column_names(t) && step_through_rows(t, rows);
    ptc_mem_free(t->heap->pool->mem, t->fields, bytes);
    t->lib.finalize(t->rows);
    t->rows = NULL;
    if (!ok && t->why->class == PTC_WHY_INVALID)
        ptc_why_prefix(t->why, "table %.80s: ", name);
    return ok;
}

/* Tables that are really there: a virtual one has no page, and full-text indexes keep theirs in tables whose names
 * begin with its own. */
static const char tables_sql[] =
    "SELECT name FROM sqlite_master s WHERE type='table' AND rootpage>0 AND "
    "substr(name,1,7)<>'sqlite_' AND NOT EXISTS(SELECT 1 FROM sqlite_master v WHERE v.type='table' "
    "AND v.rootpage=0 AND substr(s.name,1,length(v.name)+1)=v.name||'_') ORDER BY rowid";

/* The tables one by one, while their names are read.  *only is the rows of the last. */
static bool read_all_tables(Tables *t, sqlite3_stmt *names, PtcDictBuild *all, PtcValue *only)
{
    int code;
    while ((code = t->lib.step(names)) == SQLITE_ROW) {
        const char *name = (const char *)t->lib.column_text(names, 0);
        PtcValue key = name ? text_value(t, name, strlen(name)) : PTC_NONE;
        if (key == PTC_NONE)
            return fail_tables_memory(t);
        if (!read_table(t, name, only))
            return false;
        if (!ptc_dict_build_put(all, key, *only))
            return fail_tables_memory(t);
    }
    if (code != SQLITE_DONE)
        return fail_sqlite(t);
    return all->count > 0 || fail_tables(t, "it is an SQLite database without tables");
}

static PtcValue tables_value(Tables *t)
{
    PtcDictBuild all;
    PtcValue only = PTC_NONE;
    sqlite3_stmt *names = NULL;
    if (t->lib.prepare_v2(t->db, tables_sql, -1, &names, NULL) != SQLITE_OK) {
        fail_sqlite(t);
        return PTC_NONE;
    }
    bool ok = (ptc_dict_build_init(&all, t->heap, false) || fail_tables_memory(t)) &&
              read_all_tables(t, names, &all, &only);
    t->lib.finalize(names);
    if (ok && all.count > 1) {
        only = ptc_dict_build_done(&all);
        if (only == PTC_NONE)
            fail_tables_memory(t);
        return only;
    }
    ptc_dict_build_cancel(&all);
    return ok ? only : PTC_NONE;
}

PtcValue ptc_sqlite_tables_read(PtcHeap *heap, const char *path, PtcWhy *why)
{
    Tables t = {.heap = heap, .why = why};
    void *so = ptc_sqlite_load(&t.lib, why);
    if (!so)
        return PTC_NONE;
    PtcValue v = open_tables(&t, path) ? tables_value(&t) : PTC_NONE;
    t.lib.close_v2(t.db);
    dlclose(so);
    return v;
}

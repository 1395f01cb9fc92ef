/* SPDX-License-Identifier: MIT
 * Questions to SQLite.  What always holds: the file is opened read-only unless the question writes, and everything that
 * a statement wants to do is asked for (may_do), so that what is not known is refused. */
#include <string.h>

#include "base/budget.h"
#include "json/emit.h"
#include "sql/sql.h"
#include "sql/sql_answer.h"
#include "sqlite/sqlite_library.h"
#include "value/coll/fields.h"

enum { STEPS_BETWEEN = 20000, LITE_BUSY_MS = 2000, LITE_LIKE = 200, LITE_HEAP = 256 * PTC_MB };

typedef struct {
    PtcSqlTask *task;
    PtcSqlite lib;
    sqlite3 *db;
    sqlite3_stmt *query;
    int64_t end_ns;
} Lite;

static int fail_lite(Lite *l, int code)
{
    ptc_sql_say("SQLite: %.400s", l->db ? l->lib.errmsg(l->db) : "out of memory");
    return code == SQLITE_BUSY ? PTC_SQL_BUSY : PTC_SQL_FAILED;
}

/* ------------------------------------------------------------------------------------ guards */

static bool is_one_of(const char *word, const char *const *words)
{
    while (word && *words && strcmp(word, *words) != 0)
        words++;
    return word && *words;
}

/* What a query may do.  These pragmas only look at the schema, and are what functions such as pragma_table_info use.  A
 * virtual table says what its columns are by what looks like a change of the schema; real ones are refused by the file,
 * which is open for reading, before and after this is asked. */
static int may_do(void *user, int action, const char *a, const char *b, const char *database,
                  const char *inside)
{
    static const char *const pragmas[] = {"table_info",       "table_xinfo", "table_list",
                                          "index_list",       "index_xinfo", "index_info",
                                          "foreign_key_list", NULL};
    static const char *const functions[] = {"load_extension", "fts3_tokenizer", "readfile",
                                            "writefile",      "edit",           NULL};
    const Lite *l = user;
    (void)database;
    (void)inside;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return is_one_of(b, functions) ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: return is_one_of(a, pragmas) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        return (strncmp(a, "sqlite_", 7) != 0) == l->task->write ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

static int is_late(void *user)
{
    const Lite *l = user;
    return ptc_clock_ns(NULL) > l->end_ns;
}

static bool guard_lite(Lite *l)
{
    static const struct {
        int what, to;
    } configs[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                   {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                   {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
                   {SQLITE_DBCONFIG_DQS_DML, 0}};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
        if (l->lib.db_config(l->db, configs[i].what, configs[i].to, (int *)NULL) != SQLITE_OK)
            return ptc_sql_say("the SQLite library is too old: it has no safe mode");
    l->lib.limit(l->db, SQLITE_LIMIT_LENGTH, (int)l->task->out.most_bytes);
    l->lib.limit(l->db, SQLITE_LIMIT_ATTACHED, 0);
    l->lib.limit(l->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LITE_LIKE);
    l->lib.limit(l->db, SQLITE_LIMIT_WORKER_THREADS, 0);
    l->lib.limit(l->db, SQLITE_LIMIT_COLUMN, PTC_SQL_COLUMNS_MAX);
    l->lib.hard_heap_limit64(LITE_HEAP);
    l->lib.busy_timeout(l->db, l->task->ms < LITE_BUSY_MS ? (int)l->task->ms : LITE_BUSY_MS);
    static const char own[] = "PRAGMA cell_size_check=1;PRAGMA mmap_size=0;PRAGMA temp_store=2";
    if (l->lib.exec(l->db, own, NULL, NULL, NULL) != SQLITE_OK ||
        (!l->task->write &&
         l->lib.exec(l->db, "PRAGMA query_only=1", NULL, NULL, NULL) != SQLITE_OK))
        return fail_lite(l, SQLITE_ERROR) == PTC_SQL_BUSY;
    l->lib.set_authorizer(l->db, may_do, l);
    l->lib.progress_handler(l->db, STEPS_BETWEEN, is_late, l);
    return true;
}

/* The path is none of a URI, whatever it looks like. */
static bool open_lite(Lite *l)
{
    PtcWhy why;
    PtcMem *mem = l->task->heap->pool->mem;
    PtcText path = l->task->url;
    path = (PtcText){path.bytes + strlen("sqlite:"), path.len - strlen("sqlite:")};
    if (!ptc_sqlite_load(&l->lib, &why))
        return ptc_sql_say("%s", why.text);
    char *name = ptc_mem_alloc(mem, path.len + 3);
    if (!name)
        return ptc_sql_say("out of memory");
    bool plain = path.len > 0 && (*path.bytes == '/' || *path.bytes == '.');
    memcpy(name, "./", 2);
    memcpy(name + (plain ? 0 : 2), path.bytes, path.len);
    name[path.len + (plain ? 0 : 2)] = 0;
    int flags = l->task->write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    int code = l->lib.open_v2(name, &l->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    ptc_mem_free(mem, name, path.len + 3);
    if (code != SQLITE_OK)
        fail_lite(l, code);
    return code == SQLITE_OK && guard_lite(l);
}

/* ------------------------------------------------------------------------------------ params */

/* Lists and maps travel as JSON, for json_each(). */
static int bind_json(Lite *l, int at, PtcValue v)
{
    PtcBuf json;
    ptc_buf_init(&json, l->task->heap->pool->mem, PTC_UNBOUNDED);
    bool ok = ptc_emit_value(&json, l->task->heap, v);
    int code = ok ? l->lib.bind_text(l->query, at, json.data, (int)json.len, SQLITE_TRANSIENT)
                  : SQLITE_NOMEM;
    ptc_buf_deinit(&json);
    return code;
}

static int bind_lite(Lite *l, int at, PtcValue v)
{
    if (v == PTC_NIL)
        return l->lib.bind_null(l->query, at);
    if (ptc_is_bool(v))
        return l->lib.bind_int64(l->query, at, v == PTC_TRUE);
    if (ptc_is_int(v))
        return l->lib.bind_int64(l->query, at, ptc_to_int(v));
    if (ptc_is_float(v))
        return l->lib.bind_double(l->query, at, ptc_to_float(v));
    if (ptc_is_string(v))
        return l->lib.bind_text(l->query, at, ptc_str_bytes(v), (int)ptc_str_len(v),
                                SQLITE_TRANSIENT);
    return bind_json(l, at, v);
}

static int bind_all(Lite *l)
{
    int count = l->lib.bind_parameter_count(l->query);
    for (int at = 1; at <= count; at++) {
        const char *name = l->lib.bind_parameter_name(l->query, at);
        const PtcSqlNames *names = &l->task->names;
        size_t i = 0;
        while (name && *name == ':' && i < names->count &&
               !ptc_text_same(names->names[i], ptc_text_cstr(name + 1)))
            i++;
        if (!name || *name != ':' || i == names->count) {
            ptc_sql_say("the query has the parameter %.60s, which has no value", name ? name : "?");
            return PTC_SQL_FAILED;
        }
        int code = bind_lite(l, at, ptc_sql_param(l->task, i));
        if (code != SQLITE_OK)
            return fail_lite(l, code);
    }
    return 0;
}

/* -------------------------------------------------------------------------------------- rows */

static void put_lite_value(Lite *l, int i)
{
    PtcSqlOut *out = &l->task->out;
    switch (l->lib.column_type(l->query, i)) {
    case SQLITE_NULL: ptc_sql_out_tag(out, PTC_SQL_NIL); return;
    case SQLITE_INTEGER:
        ptc_sql_out_int(out, PTC_SQL_INT, l->lib.column_int64(l->query, i));
        return;
    case SQLITE_FLOAT: ptc_sql_out_float(out, l->lib.column_double(l->query, i)); return;
    case SQLITE_TEXT: {
        const char *text = (const char *)l->lib.column_text(l->query, i);
        ptc_sql_out_text(out, PTC_SQL_TEXT,
                         (PtcText){text ? text : "", (size_t)l->lib.column_bytes(l->query, i)});
        return;
    }
    default: {
        const void *blob = l->lib.column_blob(l->query, i);
        ptc_sql_out_bytes(out, blob ? blob : "", (size_t)l->lib.column_bytes(l->query, i));
    }
    }
}

static bool put_lite_columns(Lite *l, int count)
{
    PtcMem *mem = l->task->heap->pool->mem;
    size_t bytes = (size_t)count * sizeof(char *);
    const char **names = ptc_mem_alloc(mem, bytes);
    if (!names)
        return ptc_sql_say("out of memory");
    for (int i = 0; i < count; i++) {
        names[i] = l->lib.column_name(l->query, i);
        names[i] = names[i] ? names[i] : "";
    }
    ptc_sql_out_columns(&l->task->out, names, (size_t)count);
    ptc_mem_free(mem, names, bytes);
    return true;
}

static int end_lite(Lite *l, int code)
{
    if (is_late(l))
        ptc_sql_say("it took longer than %lld ms", (long long)l->task->ms);
    else
        return fail_lite(l, code);
    return PTC_SQL_FAILED;
}

static int step_lite(Lite *l)
{
    PtcSqlOut *out = &l->task->out;
    int code, count = l->lib.column_count(l->query);
    if (count && !put_lite_columns(l, count))
        return PTC_SQL_FAILED;
    while ((code = l->lib.step(l->query)) == SQLITE_ROW) {
        if (!ptc_sql_out_row(out))
            return PTC_SQL_FAILED;
        for (int i = 0; i < count; i++)
            put_lite_value(l, i);
    }
    if (code != SQLITE_DONE)
        return end_lite(l, code);
    if (count)
        return ptc_sql_out_end(out) ? 0 : PTC_SQL_FAILED;
    ptc_sql_out_int(out, PTC_SQL_CHANGED, l->lib.changes(l->db));
    return ptc_sql_out_flush(out) ? 0 : PTC_SQL_FAILED;
}

/* One statement, and nothing behind it but blanks and comments. */
static int prepare_lite(Lite *l)
{
    sqlite3_stmt *more = NULL;
    const char *rest = NULL, *query = l->task->query.bytes;
    int code = l->lib.prepare_v2(l->db, query, (int)l->task->query.len, &l->query, &rest);
    if (code != SQLITE_OK)
        return fail_lite(l, code);
    int left = (int)(l->task->query.len - (size_t)(rest - query));
    code = l->lib.prepare_v2(l->db, rest, left, &more, NULL);
    if (!l->query || more || code != SQLITE_OK) {
        ptc_sql_say("the query is refused: it must be one statement");
        return PTC_SQL_FAILED;
    }
    if (!l->task->write && !l->lib.stmt_readonly(l->query)) {
        ptc_sql_say("the query is refused: it would change the database");
        return PTC_SQL_FAILED;
    }
    return 0;
}

int ptc_sql_answer_lite(PtcSqlTask *task)
{
    Lite l = {.task = task, .end_ns = ptc_clock_ns(NULL) + task->ms * PTC_MS};
    if (!open_lite(&l))
        return PTC_SQL_FAILED;
    int status = prepare_lite(&l);
    status = status ? status : bind_all(&l);
    status = status ? status : step_lite(&l);
    l.lib.finalize(l.query);
    l.lib.close_v2(l.db);
    return status;
}

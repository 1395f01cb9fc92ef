/* SPDX-License-Identifier: MIT
 * Questions to PostgreSQL.  What always holds: one statement, by the extended protocol, in a transaction that is
 * read-only and rolled back unless the question writes, by a role that can change no table.  Waiting has no end of its
 * own here beyond the server's time-out: whoever started this process ends it, and the server is told (stop_query). */
#define _GNU_SOURCE /* syscall */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "json/emit.h"
#include "postgres/pg_library.h"
#include "sql/sql.h"
#include "sql/sql_answer.h"
#include "sql/sql_pg_values.h"
#include "value/coll/fields.h"

enum { CHECKS_CONNECTION = 140000 };

typedef struct {
    PtcSqlTask *task;
    PtcPg lib;
    PGconn *c;
    PtcBuf query;                    /* numbered, with a NUL */
    PtcBuf texts[PTC_SQL_NAMES_MAX]; /* of parameters */
} PgTask;

/* ----------------------------------------------------------------------------------- ending */

static PGcancel *query_to_stop;
static const PtcPg *library_to_stop;

/* Whoever started us does not want the answer any more.  PQcancel may be called in handlers. */
static void stop_query(int number)
{
    char error[256];
    (void)number;
    if (query_to_stop)
        library_to_stop->cancel(query_to_stop, error, sizeof error);
    syscall(SYS_exit_group, PTC_SQL_UNKNOWN);
}

static void stop_when_asked(PgTask *p)
{
    struct sigaction action = {.sa_handler = stop_query};
    query_to_stop = p->lib.getCancel(p->c);
    library_to_stop = &p->lib;
    sigaction(SIGTERM, &action, NULL);
}

/* ---------------------------------------------------------------------------------- failures */

/* States after which nothing was done, and another try may go well. */
static bool is_passing(const char *state)
{
    static const char *const starts[] = {"40", "53", "55P03", "57P0", "08"};
    for (size_t i = 0; state && i < sizeof starts / sizeof *starts; i++)
        if (strncmp(state, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static int fail_query(PgTask *p, PGresult *r)
{
    const char *text = r ? p->lib.resultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *hint = text ? p->lib.resultErrorField(r, PG_DIAG_MESSAGE_HINT) : NULL;
    const char *state = text ? p->lib.resultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
    if (state && strcmp(state, "57014") == 0)
        ptc_sql_say("it took longer than %lld ms", (long long)p->task->ms);
    else
        ptc_sql_say("PostgreSQL: %.400s%s%.200s", text ? text : p->lib.errorMessage(p->c),
                    hint ? "; hint: " : "", hint ? hint : "");
    int status = is_passing(state) ? PTC_SQL_BUSY : PTC_SQL_FAILED;
    p->lib.clear(r);
    return status;
}

/* A statement of ours. */
static int do_own(PgTask *p, const char *sql)
{
    PGresult *r = p->lib.exec(p->c, sql);
    ExecStatusType status = p->lib.resultStatus(r);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        return fail_query(p, r);
    p->lib.clear(r);
    return 0;
}

/* ------------------------------------------------------------------------------------ begin */

static void ignore_notice(void *user, const char *text)
{
    (void)user;
    (void)text;
}

static int connect_pg(PgTask *p, const char *url)
{
    static const char *const keys[] = {"dbname", "connect_timeout", "client_encoding",
                                       "fallback_application_name", NULL};
    const char *const values[] = {url, "10", "UTF8", "ptc", NULL};
    p->c = p->lib.connectdbParams(keys, values, 1);
    if (p->c && p->lib.status(p->c) == CONNECTION_OK) {
        p->lib.setNoticeProcessor(p->c, ignore_notice, NULL);
        stop_when_asked(p);
        return 0;
    }
    const char *text = p->c ? p->lib.errorMessage(p->c) : "out of memory";
    bool malformed = strstr(text, "URI"); /* such a message may have parts of it, a password too */
    ptc_sql_say("cannot connect: %.400s", malformed ? "its url is malformed" : text);
    bool no = malformed || strstr(text, "authentication failed") ||
              strstr(text, "does not exist") || strstr(text, "no password supplied") ||
              strstr(text, "pg_hba.conf");
    return no ? PTC_SQL_FAILED : PTC_SQL_BUSY;
}

static int prepare_connection(PgTask *p)
{
    char sql[900];
    bool checks = p->lib.serverVersion(p->c) >= CHECKS_CONNECTION;
    snprintf(sql, sizeof sql,
             "set session characteristics as transaction isolation level read committed; "
             "set statement_timeout = %lld; set lock_timeout = %lld; "
             "set idle_in_transaction_session_timeout = %lld; %s"
             "set datestyle = 'ISO, YMD'; set intervalstyle = iso_8601; set timezone = 'UTC'; "
             "set bytea_output = hex; set standard_conforming_strings = on; "
             "set extra_float_digits = 1",
             (long long)p->task->ms, (long long)p->task->ms, (long long)p->task->ms + 1000,
             checks ? "set client_connection_check_interval = 1000; " : "");
    return do_own(p, sql);
}

/* Why the role may not be used, or nothing.  Everything is qualified: a schema of others may come first. */
static const char role_sql[] =
    "select case when r.rolsuper then 'is a superuser' "
    "when exists (select from pg_catalog.pg_roles g where g.rolname in ('pg_write_all_data', "
    "'pg_write_server_files', 'pg_execute_server_program') "
    "and pg_catalog.pg_has_role(r.oid, g.oid, 'member')) then 'is in a role that may write' "
    "else (select 'may change ' || pg_catalog.quote_ident(n.nspname) || '.' || "
    "pg_catalog.quote_ident(c.relname) from pg_catalog.pg_class c "
    "join pg_catalog.pg_namespace n on n.oid = c.relnamespace "
    "where c.relkind in ('r', 'p', 'f', 'v', 'm') "
    "and not (n.nspname in ('pg_catalog', 'information_schema') and c.relkind = 'v') "
    "and (pg_catalog.pg_has_role(r.oid, c.relowner, 'member') "
    "or pg_catalog.has_table_privilege(r.oid, c.oid, 'insert, update, delete, truncate') "
    "or pg_catalog.has_any_column_privilege(r.oid, c.oid, 'insert, update')) limit 1) end "
    "from pg_catalog.pg_roles r where r.rolname = session_user";

static int check_role(PgTask *p)
{
    if (p->task->write || p->task->allow_writing_role)
        return 0;
    PGresult *r = p->lib.exec(p->c, role_sql);
    if (p->lib.resultStatus(r) != PGRES_TUPLES_OK || p->lib.ntuples(r) != 1)
        return fail_query(p, r);
    bool fits = p->lib.getisnull(r, 0, 0);
    if (!fits)
        ptc_sql_say("the role %.100s %.300s; give a role that only reads, or say "
                    "\"allow_writing_role\": true",
                    p->lib.user(p->c), p->lib.getvalue(r, 0, 0));
    p->lib.clear(r);
    return fits ? 0 : PTC_SQL_FAILED;
}

/* ------------------------------------------------------------------------------------ asking */

/* Sends the query with its parameters, as the types that the server finds for them. */
static int send_query(PgTask *p)
{
    const char *values[PTC_SQL_NAMES_MAX];
    size_t count = p->task->names.count;
    PGresult *r = p->lib.describePrepared(p->c, "");
    if (p->lib.resultStatus(r) != PGRES_COMMAND_OK)
        return fail_query(p, r);
    for (size_t i = 0; i < count; i++) {
        PtcValue v = ptc_sql_param(p->task, i);
        values[i] = NULL;
        if (v != PTC_NIL &&
            !ptc_sql_pg_text(p->task->heap, p->lib.paramtype(r, (int)i), v, &p->texts[i])) {
            ptc_sql_say("the value of :%.*s cannot be sent",
                        PTC_ARG(ptc_text_cut(p->task->names.names[i], 60)));
            return PTC_SQL_FAILED;
        }
        if (v != PTC_NIL)
            values[i] = p->texts[i].data;
    }
    p->lib.clear(r);
    if (!p->lib.sendQueryPrepared(p->c, "", (int)count, values, NULL, NULL, 0) ||
        !p->lib.setSingleRowMode(p->c))
        return fail_query(p, NULL);
    return 0;
}

static bool put_pg_columns(PgTask *p, const PGresult *r)
{
    const char *names[PTC_SQL_COLUMNS_MAX];
    size_t count = (size_t)p->lib.nfields(r);
    if (count > PTC_SQL_COLUMNS_MAX)
        return ptc_sql_say("it has more than %d columns", PTC_SQL_COLUMNS_MAX);
    for (size_t i = 0; i < count; i++)
        names[i] = p->lib.fname(r, (int)i);
    ptc_sql_out_columns(&p->task->out, names, count);
    return true;
}

static bool put_pg_rows(PgTask *p, const PGresult *r)
{
    PtcSqlOut *out = &p->task->out;
    int columns = p->lib.nfields(r), rows = p->lib.ntuples(r);
    for (int row = 0; row < rows; row++) {
        if (!ptc_sql_out_row(out))
            return false;
        for (int i = 0; i < columns; i++)
            if (p->lib.getisnull(r, row, i))
                ptc_sql_out_tag(out, PTC_SQL_NIL);
            else
                ptc_sql_pg_put(
                    out, p->lib.ftype(r, i),
                    (PtcText){p->lib.getvalue(r, row, i), (size_t)p->lib.getlength(r, row, i)});
    }
    return true;
}

/* How a result goes on: 0 or an exit status. */
static int take_result(PgTask *p, PGresult *r, bool *begun)
{
    ExecStatusType status = p->lib.resultStatus(r);
    if (status == PGRES_COMMAND_OK) {
        ptc_sql_out_int(&p->task->out, PTC_SQL_CHANGED, strtoll(p->lib.cmdTuples(r), NULL, 10));
    } else if (status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK) {
        if ((!*begun && !put_pg_columns(p, r)) || !put_pg_rows(p, r))
            return PTC_SQL_FAILED;
        *begun = true;
        if (status == PGRES_TUPLES_OK)
            ptc_sql_out_tag(&p->task->out, PTC_SQL_END);
    } else if (status == PGRES_FATAL_ERROR) {
        return fail_query(p, r);
    } else {
        ptc_sql_say("the query is refused: it copies");
        return PTC_SQL_FAILED;
    }
    p->lib.clear(r);
    return 0;
}

static int take_results(PgTask *p)
{
    bool begun = false;
    int status = 0;
    for (PGresult *r; status == 0 && (r = p->lib.getResult(p->c));)
        status = take_result(p, r, &begun);
    return status;
}

static int ask_pg(PgTask *p)
{
    PGresult *r = p->lib.prepare(p->c, "", p->query.data, 0, NULL);
    if (p->lib.resultStatus(r) != PGRES_COMMAND_OK)
        return fail_query(p, r);
    p->lib.clear(r);
    int status = send_query(p);
    return status ? status : take_results(p);
}

/* A commit without a verdict may have taken effect, so nothing is said to be known of it. */
static int end_transaction(PgTask *p)
{
    int status = do_own(p, p->task->write ? "commit" : "rollback");
    if (status && p->task->write && p->lib.status(p->c) != CONNECTION_OK)
        return PTC_SQL_UNKNOWN;
    return status;
}

static int run_pg(PgTask *p, const char *url)
{
    int status = connect_pg(p, url);
    status = status ? status : prepare_connection(p);
    status = status ? status : check_role(p);
    status = status ? status : do_own(p, p->task->write ? "begin" : "begin read only");
    status = status ? status : ask_pg(p);
    status = status ? status : end_transaction(p);
    if (status == 0 && !ptc_sql_out_flush(&p->task->out))
        status = p->task->write ? PTC_SQL_UNKNOWN : PTC_SQL_FAILED;
    if (status && p->c && query_to_stop) { /* it may still be at work on what is not wanted */
        char error[256];
        p->lib.cancel(query_to_stop, error, sizeof error);
    }
    return status;
}

int ptc_sql_answer_pg(PtcSqlTask *task)
{
    PtcWhy why;
    PtcSqlNames again;
    PtcMem *mem = task->heap->pool->mem;
    PgTask p = {.task = task};
    ptc_buf_init(&p.query, mem, PTC_UNBOUNDED);
    for (size_t i = 0; i < PTC_SQL_NAMES_MAX; i++)
        ptc_buf_init(&p.texts[i], mem, PTC_UNBOUNDED);
    char *url = ptc_mem_alloc(mem, task->url.len + 1);
    if (!url || !ptc_sql_names(PTC_SQL_POSTGRES, task->query, &again, &p.query, &why) ||
        !ptc_buf_add(&p.query, "", 1) || !ptc_pg_load(&p.lib, &why)) {
        ptc_sql_say("%s", url ? why.text : "out of memory");
        return PTC_SQL_FAILED;
    }
    memcpy(url, task->url.bytes, task->url.len);
    url[task->url.len] = 0;
    return run_pg(&p, url); /* the process ends now, and with it the connection and all memory */
}

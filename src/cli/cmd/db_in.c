/* SPDX-License-Identifier: MIT
 * Databases as groups of tools.  What always holds: all of them only read. */
#include "cli/cmd/db_in.h"

#include "base/ascii.h"
#include "cli/io.h"
#include "json/emit.h"
#include "json/parse.h"
#include "lisp/vm/builtin.h"
#include "sql/sql.h"
#include "tool/file.h"
#include "tool/kind/native.h"
#include "value/coll/fields.h"
#include "value/scratch.h"

enum { DB_NAME = 40, DB_TOLD_BYTES = 2000, DB_TABLE_BYTES = 400, DB_LOOK_MS = 5000 };
enum { DB_LOOK_BYTES = 8 * PTC_MB };

/* What is asked of each kind of database about itself. */
typedef struct {
    const char *tables, *columns, *overview;
} DbQueries;

static const DbQueries lite_queries = {
    .tables = "select name, type as kind from sqlite_schema where type in ('table', 'view') "
              "and name not like 'sqlite\\_%' escape '\\' order by name",
    .columns = "select name, lower(type) as type, \"notnull\" = 0 as nullable, pk > 0 as key "
               "from pragma_table_info(:table)",
    .overview = "select m.name, (select group_concat(name || ' ' || lower(type), ', ') "
                "from pragma_table_info(m.name)) as columns from sqlite_schema m "
                "where m.type in ('table', 'view') and m.name not like 'sqlite\\_%' escape '\\' "
                "order by m.name limit 1000",
};

#define PG_SHOWN                                                                          \
    "from pg_class c join pg_namespace n on n.oid = c.relnamespace "                      \
    "where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname <> 'information_schema' " \
    "and n.nspname !~ '^pg_' and has_schema_privilege(n.oid, 'usage') "                   \
    "and has_any_column_privilege(c.oid, 'select') "
#define PG_NAME                                                                        \
    "case when pg_table_is_visible(c.oid) then '' else quote_ident(n.nspname) || '.' " \
    "end || quote_ident(c.relname)"

static const DbQueries pg_queries = {
    .tables = "select " PG_NAME " as name, case c.relkind when 'v' then 'view' "
              "when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end "
              "as kind, c.reltuples::bigint as rows, obj_description(c.oid, 'pg_class') as "
              "comment " PG_SHOWN "order by 1",
    .columns = "select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, "
               "not a.attnotnull as nullable, exists (select from pg_index i where "
               "i.indrelid = a.attrelid and i.indisprimary and a.attnum = any(i.indkey)) as key, "
               "col_description(a.attrelid, a.attnum) as comment from pg_attribute a "
               "where a.attrelid = to_regclass(:table::text) and a.attnum > 0 "
               "and not a.attisdropped order by a.attnum",
    .overview = "select " PG_NAME " as name, (select string_agg(a.attname || ' ' || "
                "format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum) "
                "from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 "
                "and not a.attisdropped) as columns " PG_SHOWN "order by 1 limit 1000",
};

/* -------------------------------------------------------------------------------- reading */

typedef struct {
    char name[DB_NAME + 1];
    PtcText url;
    const DbQueries *queries;
} Database;

static bool split_db(const char *item, Database *db, PtcWhy *why)
{
    size_t n = 0;
    while (ptc_ascii_is_alnum(item[n]) || item[n] == '_' || (n && item[n] == '-'))
        n++;
    if (n == 0 || n > DB_NAME || item[n] != '=' || ptc_ascii_is_digit(item[0]))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "--db is written NAME=URL, such as shop=sqlite:shop.db");
    memcpy(db->name, item, n);
    db->name[n] = 0;
    if (ptc_namespace_known(db->name, n) || ptc_text_is((PtcText){item, n}, "data"))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "--db: %s/ is a namespace of the language: choose another name",
                           db->name);
    db->url = ptc_text_cstr(item + n + 1);
    PtcSqlDialect dialect = ptc_sql_dialect(db->url);
    db->queries = dialect == PTC_SQL_SQLITE ? &lite_queries : &pg_queries;
    return dialect != PTC_SQL_NONE ||
           ptc_why_say(why, PTC_WHY_INVALID,
                       "--db %s: its url must be sqlite:FILE or postgres://...", db->name);
}

/* ---------------------------------------------------------------------------- definitions */

static void emit_db_tool(PtcBuf *out, const Database *db, const char *name, const char *query,
                         const char *signature, PtcText about)
{
    char full[DB_NAME + 16];
    snprintf(full, sizeof full, "%s.%s", db->name, name);
    ptc_emit_key(out, full);
    ptc_emit_object(out);
    ptc_emit_key(out, "sql");
    ptc_emit_object(out);
    ptc_emit_field_text(out, "url", db->url);
    if (query)
        ptc_emit_field_text(out, "query", ptc_text_cstr(query));
    ptc_emit_object_end(out);
    ptc_emit_field_text(out, "signature", ptc_text_cstr(signature));
    ptc_emit_field_text(out, "description", about);
    ptc_emit_field_text(out, "expose", PTC_TEXT("ptc_lisp"));
    ptc_emit_object_end(out);
}

/* The first of them is the one that says what is in the database. */
static bool read_db_tools(PtcTools *tools, PtcBuf *text, PtcWhy *why)
{
    static const PtcToolsFileOptions all = {.command = true};
    size_t first = tools->count;
    ptc_why_no_memory(why);
    if (!ptc_buf_ok(text) || !ptc_tools_read_json(tools, text->data, text->len, &all, why))
        return false;
    tools->items[first].info.told_whole = true;
    return true;
}

static bool add_db_tools(PtcTools *tools, PtcMem *mem, const Database *db, PtcText about,
                         PtcWhy *why)
{
    PtcBuf text;
    ptc_buf_init(&text, mem, PTC_MB);
    ptc_emit_object(&text);
    emit_db_tool(&text, db, "query", NULL, "(query :string, params :map?) -> [:map]", about);
    emit_db_tool(&text, db, "tables", db->queries->tables, "() -> [:map]",
                 PTC_TEXT("its tables and views"));
    emit_db_tool(&text, db, "columns", db->queries->columns,
                 "(table :string) -> [{name :string, type :string, nullable :any, key :any}]",
                 PTC_TEXT("the columns of a table"));
    ptc_emit_object_end(&text);
    bool ok = read_db_tools(tools, &text, why);
    if (!ok)
        ptc_why_prefix(why, "--db: ");
    ptc_buf_deinit(&text);
    return ok;
}

/* -------------------------------------------------------------------------------- overview */

/* "orders (id integer, total numeric); ...", as much as there is room for. */
static void tell_tables(PtcBuf *about, PtcHeap *heap, PtcValue rows)
{
    size_t count = ptc_fields_count(rows), i = 0;
    for (; i < count && about->len < DB_TOLD_BYTES; i++) {
        PtcValue row = ptc_seq_nth(rows, i);
        PtcText columns = ptc_fields_text(heap, row, "columns");
        PtcText shown = ptc_text_cut(columns, DB_TABLE_BYTES);
        ptc_buf_addf(about, "%s%.*s (%.*s%s)", i ? "; " : " Tables: ",
                     PTC_ARG(ptc_text_cut(ptc_fields_text(heap, row, "name"), DB_TABLE_BYTES)),
                     PTC_ARG(shown), shown.len < columns.len ? " ..." : "");
    }
    if (i < count)
        ptc_buf_addf(about, "; and %zu more", count - i);
}

static bool look_at_db(PtcMem *mem, const Database *db, PtcBuf *answer, bool *ok, PtcWhy *why)
{
    PtcBuf text;
    PtcTools *tools = ptc_tools_new();
    PtcNative *native = ptc_native_new();
    PtcNativeOptions options = {.deadline_ns = ptc_clock_ns(NULL) + DB_LOOK_MS * PTC_MS};
    ptc_buf_init(&text, mem, PTC_MB);
    ptc_emit_object(&text);
    emit_db_tool(&text, db, "look", db->queries->overview, "() -> [:map]", PTC_TEXT(""));
    ptc_emit_object_end(&text);
    bool told = tools && native && read_db_tools(tools, &text, why);
    if (told && !ptc_native_call(native, tools, 0, "{}", 2, &options, answer, ok))
        told = ptc_why_no_memory(why);
    ptc_buf_deinit(&text);
    ptc_native_free(native);
    ptc_tools_free(tools);
    return told;
}

/* What a model reads of it; false with a text in why. */
static bool describe_db(PtcMem *mem, const Database *db, PtcBuf *about, PtcWhy *why)
{
    PtcBuf answer;
    PtcScratch scratch;
    PtcJsonError error;
    bool ok = false;
    ptc_buf_init(&answer, mem, DB_LOOK_BYTES);
    ptc_scratch_init(&scratch, NULL, 4 * DB_LOOK_BYTES);
    ptc_buf_addf(about,
                 "asks a database, only reading: (%s/query \"select ... where id = :id\" {:id 7}); "
                 "(%s/tables), (%s/columns \"table\").",
                 db->name, db->name, db->name);
    bool told = look_at_db(mem, db, &answer, &ok, why);
    if (told && ok) {
        PtcValue rows = ptc_json_parse(&scratch.heap, answer.data, answer.len, &error);
        if (rows != PTC_NONE)
            tell_tables(about, &scratch.heap, rows);
    } else if (told) {
        ptc_io_printf(PTC_IO_STDERR, "ptc: --db %s: %.*s\n", db->name,
                      PTC_ARG(ptc_text_cut(ptc_buf_view(&answer), 400)));
    }
    ptc_buf_deinit(&answer);
    ptc_scratch_deinit(&scratch);
    return told;
}

static bool add_db(PtcTools *tools, PtcMem *mem, const char *item, PtcWhy *why)
{
    Database db;
    PtcBuf about;
    ptc_buf_init(&about, mem, 4 * DB_TOLD_BYTES);
    bool ok = split_db(item, &db, why) && describe_db(mem, &db, &about, why) &&
              add_db_tools(tools, mem, &db, ptc_buf_view(&about), why);
    ptc_buf_deinit(&about);
    return ok;
}

bool ptc_db_in_add(PtcTools **tools, PtcMem *mem, const PtcOptionList *dbs, PtcWhy *why)
{
    if (dbs->count && !*tools && !(*tools = ptc_tools_new()))
        return ptc_why_no_memory(why);
    for (size_t i = 0; i < dbs->count; i++)
        if (!add_db(*tools, mem, dbs->items[i], why))
            return false;
    return true;
}

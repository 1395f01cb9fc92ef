/* SPDX-License-Identifier: MIT
 * Questions to databases as tools.  What always holds: what a program gives becomes a parameter, never a part of a
 * fixed query; only a fixed query may write; the process that asks ends with the call. */
#include "tool/kind/sql_tool.h"

#include <stdio.h>
#include <stdlib.h>

#include "json/emit.h"
#include "sql/sql.h"
#include "sql/sql_names.h"
#include "sql/sql_read.h"
#include "tool/kind/command.h"
#include "tool/kind/kind.h"
#include "tool/wire/answer.h"
#include "value/coll/fields.h"

enum { ANSWER_EXTRA = 4 * PTC_KB, SQL_VARIABLE = 200 };

typedef struct SqlTool {
    PtcCommand command; /* first: ptc_command_secret looks for it */
    PtcText url, query; /* the query may be absent */
    bool write, allow_writing_role;
    int64_t rows;
} SqlTool;

/* ------------------------------------------------------------------------------ definition */

static bool keep_sql_text(PtcToolReader *r, PtcText text, PtcText *kept)
{
    char *copy = ptc_arena_alloc(&r->tools->kept.arena, text.len + 1);
    if (!copy)
        return ptc_kind_refuse_memory(r);
    memcpy(copy, text.bytes, text.len);
    copy[text.len] = 0;
    *kept = (PtcText){copy, text.len};
    return true;
}

/* The name in ${NAME}, which a url may be as a whole, so that no password has to be in the file; absent: it is none. */
static PtcText url_variable(PtcText text)
{
    bool is = text.bytes && text.len > 3 && ptc_text_starts(text, "${") &&
              text.bytes[text.len - 1] == '}';
    return is ? (PtcText){text.bytes + 2, text.len - 3} : (PtcText){NULL, 0};
}

static bool read_sql_url(PtcToolReader *r, PtcValue v, PtcText *url)
{
    char name[SQL_VARIABLE];
    PtcText text = ptc_is_string(v) ? ptc_str_text(v) : (PtcText){NULL, 0};
    PtcText variable = url_variable(text);
    if (variable.bytes) {
        snprintf(name, sizeof name, "%.*s", PTC_ARG(variable));
        text = ptc_text_cstr(getenv(name));
        if (!text.bytes)
            return ptc_kind_refuse(r, "sql.url: the variable %s is not set", name);
    }
    if (!text.bytes || ptc_sql_dialect(text) == PTC_SQL_NONE)
        return ptc_kind_refuse(r, "sql.url must be sqlite:FILE or postgres://..., or ${NAME} with "
                                  "one of them in that variable");
    return keep_sql_text(r, text, url);
}

static bool read_sql_rows_max(PtcToolReader *r, PtcValue v, int64_t *rows)
{
    if (!ptc_is_int(v) || ptc_to_int(v) < 1 || ptc_to_int(v) > PTC_SQL_ROWS_MAX)
        return ptc_kind_refuse(r, "sql.max_rows must be a whole number from 1 to %d",
                               PTC_SQL_ROWS_MAX);
    *rows = ptc_to_int(v);
    return true;
}

static bool read_sql_bool(PtcToolReader *r, PtcText key, PtcValue v, bool *out)
{
    *out = v == PTC_TRUE;
    return ptc_is_bool(v) || ptc_kind_refuse(r, "sql.%.*s must be true or false", PTC_ARG(key));
}

static bool read_sql_member(PtcToolReader *r, SqlTool *tool, PtcText key, PtcValue v)
{
    if (ptc_text_is(key, "url"))
        return read_sql_url(r, v, &tool->url);
    if (ptc_text_is(key, "query") && ptc_is_string(v))
        return keep_sql_text(r, ptc_str_text(v), &tool->query);
    if (ptc_text_is(key, "query"))
        return ptc_kind_refuse(r, "sql.query must be a string");
    if (ptc_text_is(key, "write"))
        return read_sql_bool(r, key, v, &tool->write);
    if (ptc_text_is(key, "allow_writing_role"))
        return read_sql_bool(r, key, v, &tool->allow_writing_role);
    if (ptc_text_is(key, "max_rows"))
        return read_sql_rows_max(r, v, &tool->rows);
    return ptc_kind_refuse(r,
                           "unknown key sql.%.*s; there are url, query, write, "
                           "allow_writing_role, max_rows",
                           PTC_ARG(ptc_text_cut(key, PTC_TOOLS_FILE_SHOWN)));
}

/* The signature of a tool that has none of its own: one parameter for each name in the query. */
static bool make_sql_signature(PtcToolReader *r, const SqlTool *tool, const PtcSqlNames *names)
{
    PtcBuf text;
    PtcText kept;
    ptc_buf_init(&text, &r->tools->mem, PTC_MB);
    ptc_buf_add_cstr(&text, "(");
    for (size_t i = 0; i < names->count; i++)
        ptc_buf_addf(&text, "%s%.*s :any", i ? ", " : "", PTC_ARG(names->names[i]));
    if (!tool->query.bytes)
        ptc_buf_add_cstr(&text, "query :string, params :map?");
    ptc_buf_add_cstr(&text, tool->write ? ") -> :any" : ") -> [:map]");
    bool ok = ptc_buf_ok(&text) && keep_sql_text(r, ptc_buf_view(&text), &kept);
    ptc_buf_deinit(&text);
    if (!ok)
        return ptc_kind_refuse_memory(r);
    r->tool.info.signature = kept.bytes;
    r->tool.info.signature_len = kept.len;
    return true;
}

static bool check_sql_query(PtcToolReader *r, const SqlTool *tool, PtcSqlNames *names)
{
    PtcWhy why;
    names->count = 0;
    if (!tool->url.bytes)
        return ptc_kind_refuse(r, "sql must have a url");
    if (!tool->query.bytes)
        return !tool->write || ptc_kind_refuse(r, "sql.write needs a query: only a fixed one may "
                                                  "change anything");
    if (!ptc_sql_names(ptc_sql_dialect(tool->url), tool->query, names, NULL, &why))
        return ptc_kind_refuse(r, "sql.query: %s", why.text);
    if (!ptc_sql_word_fits(names->first, tool->write))
        return ptc_kind_refuse(r,
                               "sql.query must begin with select, with, values, table, explain "
                               "or show%s",
                               tool->write ? ", insert, update, delete, merge, replace or call"
                                           : "");
    return true;
}

static bool set_sql_command(PtcToolReader *r, SqlTool *tool)
{
    static char program[] = "/proc/self/exe", argument[] = PTC_SQL_ARGUMENT;
    static char *argv[] = {program, argument, NULL};
    PtcWhy why;
    size_t own = 0;
    char **envp = ptc_command_environment(&r->tools->kept.arena, r->env, &own, &why);
    tool->command = (PtcCommand){argv, envp, own};
    return envp || ptc_kind_refuse(r, "%s", why.text);
}

static bool read_sql_tool(PtcToolReader *r, PtcValue v)
{
    PtcValue key, value;
    PtcSqlNames names;
    if (!r->allow->command)
        return ptc_kind_refuse_reach(r, "sql", r->allow->command_advice);
    if (!ptc_sql_is_served())
        return ptc_kind_refuse(r, "sql tools need the command ptc: this program cannot start the "
                                  "process that asks the database");
    SqlTool *tool = ptc_arena_zalloc(&r->tools->kept.arena, sizeof *tool);
    if (!tool)
        return ptc_kind_refuse_memory(r);
    if (!ptc_is_map(v))
        return ptc_kind_refuse(r, "sql must be an object such as {\"url\": \"sqlite:FILE\"}");
    tool->rows = PTC_SQL_ROWS;
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);)
        if (!read_sql_member(r, tool, ptc_str_text(key), value))
            return false;
    if (!check_sql_query(r, tool, &names) || !set_sql_command(r, tool))
        return false;
    r->tool.user = tool;
    if (!r->has_read_only)
        r->tool.info.read_only = !tool->write;
    else if (r->tool.info.read_only && tool->write)
        return ptc_kind_refuse(r, "a tool with sql.write is not read_only");
    r->has_read_only = true;
    return r->tool.info.signature || make_sql_signature(r, tool, &names);
}

/* -------------------------------------------------------------------------------------- call */

static int64_t sql_time_ms(PtcToolCall *call)
{
    int64_t left = ptc_answer_time_left_ms(call);
    return left < 1 ? 1 : left < PTC_SQL_MS || call->tool->info.timeout_ms ? left : PTC_SQL_MS;
}

/* A fixed query takes the arguments of the tool; otherwise they name query and parameters. */
static bool write_sql_question(PtcToolCall *call, const SqlTool *tool, PtcBuf *out)
{
    const char *args = ptc_answer_args_json(call);
    PtcHeap *heap = call->data.heap;
    if (!args)
        return false;
    PtcText params = {args, call->json.len}, query = tool->query;
    ptc_emit_object(out);
    ptc_emit_field_text(out, "url", tool->url);
    if (!query.bytes)
        query = ptc_fields_text(heap, call->args, "query");
    ptc_emit_field_text(out, "query", query);
    ptc_emit_key(out, "params");
    PtcValue given = tool->query.bytes ? PTC_NONE : ptc_map_field(heap, call->args, "params");
    if (tool->query.bytes)
        ptc_emit_raw(out, params);
    else if (given == PTC_NONE || given == PTC_NIL)
        ptc_emit_raw(out, PTC_TEXT("{}"));
    else
        ptc_emit_value(out, heap, given);
    ptc_emit_key(out, "write");
    ptc_emit_bool(out, tool->write);
    ptc_emit_key(out, "allow_writing_role");
    ptc_emit_bool(out, tool->allow_writing_role);
    ptc_emit_key(out, "rows");
    ptc_emit_int(out, tool->rows);
    ptc_emit_key(out, "bytes");
    ptc_emit_uint(out, call->most_bytes);
    ptc_emit_key(out, "ms");
    ptc_emit_int(out, sql_time_ms(call));
    return ptc_emit_object_end(out) && ptc_buf_ok(out);
}

/* What only reads has done nothing, however it ended. */
static void fail_sql(PtcToolCall *call, const SqlTool *tool, PtcProcess *p)
{
    char text[PTC_COMMAND_TEXT];
    const char *none;
    size_t len;
    PtcBuf clean;
    ptc_buf_init(&clean, call->mem, 2 * PTC_COMMAND_ERROR_BYTES + 64);
    PtcCallFault fault = {PTC_CALL_WELL, tool->write, -1};
    if (p->end == PTC_PROCESS_EXITED && p->code == PTC_SQL_BUSY)
        fault = (PtcCallFault){PTC_CALL_BUSY, false, -1};
    else if (p->end != PTC_PROCESS_EXITED || p->code == PTC_SQL_UNKNOWN)
        fault.reason = PTC_CALL_BAD_ANSWER;
    bool told =
        ptc_command_blot(&tool->command, p, &clean) && !ptc_command_judge(p, &none, &len, text);
    if (!told)
        ptc_budget_halt(call->budget, PTC_STOP_MEMORY);
    else
        ptc_answer_fault(call, fault, ptc_text_cstr(text));
    ptc_buf_deinit(&clean);
}

static void answer_sql(PtcToolCall *call, const SqlTool *tool, PtcProcess *p)
{
    if (p->end == PTC_PROCESS_ENDED)
        return;
    if (p->end == PTC_PROCESS_NO_MEMORY) {
        ptc_budget_halt(call->budget, PTC_STOP_MEMORY);
        return;
    }
    if (p->end != PTC_PROCESS_EXITED || p->code != 0) {
        fail_sql(call, tool, p);
        return;
    }
    ptc_call_pause(call);
    PtcValue v = ptc_sql_read(call->data.heap, ptc_buf_view(p->out));
    call->did = true;
    if (v != PTC_NONE)
        ptc_answer_value(call, v);
    else
        ptc_answer_fail(call, call->data.heap->budget->stop ? PTC_TEXT("")
                                                            : PTC_TEXT("its rows cannot be read"));
}

static bool may_sql_go_on(void *call)
{
    return !ptc_answer_cancelled(call);
}

static PtcToolAnswer call_sql(PtcToolCall *call, void *user)
{
    const SqlTool *tool = user;
    PtcBuf question, out, err;
    ptc_buf_init(&question, call->mem, PTC_UNBOUNDED);
    ptc_buf_init(&out, call->mem, call->most_bytes + ANSWER_EXTRA);
    ptc_buf_init(&err, call->mem, PTC_COMMAND_ERROR_BYTES);
    PtcProcess p = {.argv = tool->command.argv,
                    .envp = tool->command.envp,
                    .out = &out,
                    .err = &err,
                    .go_on = may_sql_go_on,
                    .user = call};
    if (write_sql_question(call, tool, &question)) {
        p.input = question.data;
        p.input_len = question.len;
        ptc_process_run(&p);
        answer_sql(call, tool, &p);
    } else {
        ptc_budget_halt(call->budget, PTC_STOP_MEMORY);
    }
    ptc_buf_deinit(&question);
    ptc_buf_deinit(&out);
    ptc_buf_deinit(&err);
    return PTC_TOOL_ANSWERED;
}

const PtcToolKind ptc_sql_kind = {
    .key = "sql",
    .doc = "a question to a database: a fixed query with parameters :name, or any one that reads",
    .schema =
        "{\"type\": \"object\", \"required\": [\"url\"], \"additionalProperties\": false,"
        " \"properties\": {\"url\": {\"type\": \"string\"}, \"query\": {\"type\": \"string\"},"
        " \"write\": {\"type\": \"boolean\"},"
        " \"allow_writing_role\": {\"type\": \"boolean\"},"
        " \"max_rows\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 10000000}}}",
    .read = read_sql_tool,
    .call = call_sql,
    .options = PTC_KIND_ENV | PTC_KIND_RETRY,
};

/* SPDX-License-Identifier: MIT
 * The process that answers.  What always holds: it does one question and ends; whoever started it ends it when nobody
 * waits for the answer any more. */
#define _GNU_SOURCE /* syscall */
#include "sql/sql_answer.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/whole_file.h"
#include "base/sanitized.h"
#include "json/parse.h"
#include "sql/sql.h"
#include "value/coll/fields.h"
#include "value/scratch.h"

enum { TASK_HEAP = 128 * PTC_MB };
static const rlim_t address_space = (rlim_t)1024 * PTC_MB;

/* A row that is too large for us is refused by the library that has no room for it. */
static void limit_process(void)
{
    const struct rlimit none = {0, 0}, space = {address_space, address_space};
    setrlimit(RLIMIT_CORE, &none);
    if (!PTC_SANITIZED)
        setrlimit(RLIMIT_AS, &space);
}

PtcValue ptc_sql_param(const PtcSqlTask *task, size_t n)
{
    PtcValue v = ptc_fields_get(task->heap, task->params, task->names.names[n]);
    return v == PTC_NONE ? PTC_NIL : v;
}

static int64_t whole_field(PtcHeap *heap, PtcValue map, const char *name, int64_t other)
{
    PtcValue v = ptc_map_field(heap, map, name);
    return v != PTC_NONE && ptc_is_int(v) && ptc_to_int(v) > 0 ? ptc_to_int(v) : other;
}

static bool true_field(PtcHeap *heap, PtcValue map, const char *name)
{
    return ptc_map_field(heap, map, name) == PTC_TRUE;
}

static bool read_sql_task(PtcSqlTask *task, PtcHeap *heap, PtcText question)
{
    PtcWhy why;
    PtcJsonError error;
    PtcValue map = ptc_json_parse(heap, question.bytes, question.len, &error);
    if (map == PTC_NONE || !ptc_is_map(map))
        return ptc_sql_say("the question cannot be read");
    *task = (PtcSqlTask){.heap = heap,
                         .url = ptc_fields_text(heap, map, "url"),
                         .query = ptc_fields_text(heap, map, "query"),
                         .params = ptc_map_field(heap, map, "params"),
                         .write = true_field(heap, map, "write"),
                         .allow_writing_role = true_field(heap, map, "allow_writing_role"),
                         .ms = whole_field(heap, map, "ms", PTC_SQL_MS)};
    ptc_sql_out_init(&task->out, heap->pool->mem, whole_field(heap, map, "rows", PTC_SQL_ROWS),
                     whole_field(heap, map, "bytes", PTC_MB));
    if (!ptc_sql_names(ptc_sql_dialect(task->url), task->query, &task->names, NULL, &why))
        return ptc_sql_say("the query is refused: %s", why.text);
    if (!ptc_sql_word_fits(task->names.first, task->write))
        return ptc_sql_say("the query is refused: it must begin with select, with, values, table, "
                           "explain or show");
    return true;
}

/* Each name has a value, and each value a name. */
static bool check_params(const PtcSqlTask *task)
{
    PtcValue key;
    const PtcSqlNames *names = &task->names;
    for (size_t i = 0; i < names->count; i++)
        if (ptc_fields_get(task->heap, task->params, names->names[i]) == PTC_NONE)
            return ptc_sql_say("the query has :%.*s, which has no value",
                               PTC_ARG(ptc_text_cut(names->names[i], 60)));
    for (size_t pos = 0; ptc_map_next(task->params, &pos, &key, NULL);) {
        size_t i = 0;
        while (i < names->count && !ptc_text_same(names->names[i], ptc_str_text(key)))
            i++;
        if (i == names->count)
            return ptc_sql_say("the query has no :%.*s",
                               PTC_ARG(ptc_text_cut(ptc_str_text(key), 60)));
    }
    return true;
}

static int answer_question(PtcText question)
{
    PtcScratch scratch;
    PtcSqlTask task;
    ptc_scratch_init(&scratch, NULL, TASK_HEAP);
    if (!read_sql_task(&task, &scratch.heap, question) || !ptc_is_map(task.params) ||
        !check_params(&task))
        return PTC_SQL_FAILED;
    return ptc_sql_dialect(task.url) == PTC_SQL_SQLITE ? ptc_sql_answer_lite(&task)
                                                       : ptc_sql_answer_pg(&task);
}

int ptc_sql_main(void)
{
    PtcMem mem;
    PtcBuf question;
    limit_process();
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    ptc_buf_init(&question, &mem, TASK_HEAP / 2);
    int status = PTC_SQL_FAILED;
    if (ptc_whole_file_read_from(STDIN_FILENO, &question))
        status = answer_question(ptc_buf_view(&question));
    else
        ptc_sql_say("the question cannot be read");
    /* All memory ends with the process, and what libraries would do at its end has no use. */
    syscall(SYS_exit_group, status);
    return status;
}

/* SPDX-License-Identifier: MIT
 * Looking things up from inside a program: doc, dir, meta, ns-publics.  The rows of the builtins answer, the
 * definitions of the session, and the host's tools and data.  Values carry no metadata: with-meta and vary-meta give
 * them back as they are. */
#include <stdio.h>

#include "base/ascii.h"
#include "lisp/analyze/left_out.h"
#include "lisp/analyze/names.h"
#include "lisp/analyze/suggest.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/lib/agent/discover_int.h"
#include "lisp/lib/agent/servers.h"
#include "lisp/lib/builtin_doc.h"
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"

enum { ROWS_TICKS = 2000 }; /* of going through all rows */

/* What an argument of doc or meta means. */
typedef struct {
    PtcRows rows;     /* builtins, when count > 0 */
    PtcValue defined; /* else a value of the program, or PTC_NONE */
    const char *name; /* as given; not NUL-ended for arguments */
    size_t len;
} Ref;

/* ----------------------------------------------------------------- arguments */

static PtcValue global_named(const PtcVM *vm, const char *name, size_t len)
{
    int i = ptc_names_find(vm->names, name, len);
    if (i < 0 || (size_t)i >= vm->global_count || vm->globals[i] == PTC_UNBOUND)
        return PTC_NONE;
    return vm->globals[i];
}

static const PtcProto *proto_of_closure(PtcValue f)
{
    return ptc_closure_proto((const PtcClosure *)(uintptr_t)f);
}

static void ref_by_name(const PtcVM *vm, PtcValue named, Ref *ref)
{
    ref->name = ptc_str_bytes(named);
    ref->len = ptc_str_len(named);
    ref->defined = global_named(vm, ref->name, ref->len);
    if (ref->defined == PTC_NONE)
        ptc_rows_named(&ref->rows, ref->name, ref->len);
}

/* Takes a symbol, string, var or function.  False: it is none of these. */
static bool find_ref(const PtcVM *vm, PtcValue v, Ref *ref)
{
    *ref = (Ref){.name = "fn", .len = 2, .defined = PTC_NONE};
    if (ptc_is(v, PTC_T_VAR))
        v = ptc_record_field(v, 0);
    if (ptc_is_builtin(v)) {
        ref->rows.at[0] = (uint16_t)ptc_builtin_index(v);
        ref->rows.count = 1;
    } else if (ptc_is_named(v) && ptc_str_len(v) > PTC_QUERY_BYTES) {
        ref->name = ptc_str_bytes(v);
        ref->len = PTC_QUERY_BYTES;
    } else if (ptc_is_named(v)) {
        ref_by_name(vm, v, ref);
    } else if (ptc_is(v, PTC_T_CLOSURE)) {
        ref->defined = v;
        if (proto_of_closure(v)->name != PTC_NIL) {
            ref->name = ptc_str_bytes(proto_of_closure(v)->name);
            ref->len = ptc_str_len(proto_of_closure(v)->name);
        }
    } else {
        return false;
    }
    return true;
}

/* The tool or data that an argument means; none for any other.  False: it names one that is not there. */
static bool find_thing(PtcVM *vm, PtcValue v, PtcHostThing *thing)
{
    char name[200];
    *thing = (PtcHostThing){.kind = PTC_HOST_NONE};
    if (ptc_is(v, PTC_T_SYMBOL) || ptc_is_string(v))
        return ptc_host_thing_named(vm, ptc_str_bytes(v), ptc_str_len(v), thing);
    bool tool = ptc_is_record(v, PTC_R_FN) &&
                ptc_record_field(v, 0) == ptc_builtin((uint32_t)ptc_builtin_find("%tool", 5)) &&
                ptc_is_string(ptc_record_field(v, 1));
    if (!tool ||
        memchr(ptc_str_bytes(ptc_record_field(v, 1)), '/', ptc_str_len(ptc_record_field(v, 1))))
        return true;
    int n = snprintf(name, sizeof name, "tool/%s", ptc_str_bytes(ptc_record_field(v, 1)));
    return n < 0 || (size_t)n >= sizeof name || ptc_host_thing_named(vm, name, (size_t)n, thing);
}

/* What a server has to say of a name, or of a function that calls one of its tools; *found is false for anything
 * else. */
static bool ask_server_about(PtcVM *vm, PtcValue v, const char *op, bool *found, PtcValue *out)
{
    PtcServerQuestion q = {.op = op, .limit = -1, .offset = -1};
    *found = false;
    if (vm->servers && ptc_is_record(v, PTC_R_FN) && ptc_is_string(ptc_record_field(v, 1)))
        v = ptc_record_field(v, 1);
    if (!vm->servers || !(ptc_is(v, PTC_T_SYMBOL) || ptc_is_string(v)) ||
        ptc_str_len(v) > PTC_QUERY_BYTES ||
        !ptc_servers_split(vm, (PtcText){ptc_str_bytes(v), ptc_str_len(v)}, &q.ns, &q.name))
        return true;
    *found = true;
    return ptc_servers_look(vm, &q, out);
}

/* A tool or data whose name without tool/ or data/ is nearer than any builtin's. */
static bool nearest_thing(PtcVM *vm, const char *name, size_t len, PtcSuggest *s)
{
    PtcHostThings all = ptc_host_things_of(vm, true, true);
    PtcHostThing thing;
    ptc_suggest_init(s, name, len);
    ptc_suggest_builtins(s, NULL, 0);
    while (ptc_host_things_next(&all, &thing)) {
        const char *prefix = thing.kind == PTC_HOST_TOOL ? "tool/" : "data/";
        ptc_suggest_offer(s, prefix, thing.ref + 5, strlen(thing.ref + 5), PTC_SUGGEST_OWN);
    }
    return strncmp(s->best, "tool/", 5) == 0 || strncmp(s->best, "data/", 5) == 0;
}

static bool fail_unknown(PtcVM *vm, const char *what, const char *name, size_t len)
{
    char hint[PTC_HINT_MAX];
    PtcSuggest near;
    if (!ptc_tick(&vm->budget, 20000)) /* a look at all names */
        return false;
    PtcLeftOut left;
    if (ptc_left_out_find((PtcText){name, len}, &left))
        ptc_fail(vm, PTC_E_VALUE, "%.*s of Clojure is left out here (%s)", PTC_ARG_OF(name, len),
                 left.kind);
    else
        ptc_fail(vm, PTC_E_VALUE, "no %s is named %.*s", what,
                 PTC_ARG(ptc_text_cut((PtcText){name, len}, 80)));
    if (nearest_thing(vm, name, len, &near))
        return ptc_fail_hint(vm, "did you mean %s?", near.best);
    if (ptc_suggest_hint(hint, sizeof hint, name, len))
        return ptc_fail_hint(vm, "%s", hint);
    return ptc_fail_hint(vm, "(dir) lists the namespaces, (apropos \"word\") searches");
}

bool ptc_disc_int_option(PtcVM *vm, PtcValue options, const char *name, int64_t min, int64_t max,
                         int64_t *out)
{
    PtcValue key = ptc_keyword_new(vm->heap, name, strlen(name));
    if (key == PTC_NONE)
        return false;
    PtcValue v = ptc_map_get_flex(vm->heap, options, key);
    if (v == PTC_NONE)
        return true;
    if (!ptc_is_int(v) || ptc_to_int(v) < min || ptc_to_int(v) > max)
        return ptc_fail(vm, PTC_E_VALUE, "the option :%s must be an integer from %lld to %lld",
                        name, (long long)min, (long long)max);
    *out = ptc_to_int(v);
    return true;
}

bool ptc_disc_arg_options(PtcVM *vm, int argc, const PtcValue *argv, int i)
{
    return argc <= i || ptc_arg_map(vm, argv, i);
}

/* ------------------------------------------------------------------- results */

static PtcValue text(PtcVM *vm, const char *s)
{
    return ptc_str_new(vm->heap, s, strlen(s));
}

/* The text in buf as a string; frees it. */
static bool disc_give_buf(PtcVM *vm, PtcBuf *buf, PtcValue *out)
{
    if (ptc_buf_ok(buf))
        *out = ptc_str_new(vm->heap, buf->data ? buf->data : "", buf->len);
    else
        *out = ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY) ? PTC_NIL : PTC_NONE;
    ptc_buf_deinit(buf);
    return *out != PTC_NONE;
}

/* Adds :name value to a map.  False: out of memory. */
static bool put_doc_member(PtcVM *vm, PtcValue *map, const char *name, PtcValue value)
{
    PtcValue key = ptc_keyword_new(vm->heap, name, strlen(name));
    if (*map == PTC_NONE || key == PTC_NONE || value == PTC_NONE)
        return false;
    *map = ptc_map_assoc(vm->heap, *map, key, value);
    return *map != PTC_NONE;
}

static bool put_doc_text(PtcVM *vm, PtcValue *map, const char *name, const char *value)
{
    return put_doc_member(vm, map, name, text(vm, value));
}

static PtcValue one_text(PtcVM *vm, const char *s)
{
    PtcValue v = text(vm, s);
    return v == PTC_NONE ? PTC_NONE : ptc_vec_new(vm->heap, &v, 1, 0);
}

/* ---------------------------------------------------------------- doc, meta */

/* How many arguments a function of the program takes, every variant. */
static void add_arities(PtcBuf *buf, const PtcProto *p)
{
    char takes[64];
    size_t more = p->arities == PTC_NIL ? 0 : ptc_obj(p->arities)->count;
    ptc_arity_text(takes, sizeof takes, p->params, p->variadic ? -1 : p->params);
    ptc_buf_addf(buf, "\nTakes: %s", takes);
    for (size_t i = 0; i < more; i++) {
        PtcValue v = ((const PtcNode *)(uintptr_t)p->arities)->slots[i];
        const PtcProto *q = (const PtcProto *)(uintptr_t)v;
        ptc_arity_text(takes, sizeof takes, q->params, q->variadic ? -1 : q->params);
        if (q != p)
            ptc_buf_addf(buf, ", or %s", takes);
    }
}

static void describe_defined(PtcBuf *buf, const Ref *ref)
{
    bool function = ptc_is(ref->defined, PTC_T_CLOSURE);
    const PtcProto *p = function ? proto_of_closure(ref->defined) : NULL;
    ptc_buf_add(buf, ref->name, ref->len);
    if (p && p->doc != PTC_NIL) {
        ptc_buf_add_cstr(buf, "\nDescription: ");
        ptc_buf_add(buf, ptc_str_bytes(p->doc), ptc_str_len(p->doc));
    }
    ptc_buf_addf(buf, "\nKind: %s\nNamespace: user", function ? "function" : "value");
    if (p)
        add_arities(buf, p);
}

PTC_BUILTIN(
    disc_doc, "clojure.core", "doc", 1, 1, PTC_B_NAME, "(doc name)",
    "What a function or form does, how it is called and examples, as text; what a tool takes and "
    "gives; what columns data has. Takes a name, quoted or not, a string or a function.",
    "(subs (doc 'inc) 0 3) => \"inc\"\n"
    "(includes? (doc map) \"Signatures: (map f\") => true\n(subs (doc if) 0 2) => \"if\"\n"
    "(defn area \"Of a square.\" [a] (* a a)) (includes? (doc 'area) \"Of a square.\") => true\n"
    "(doc 'no-such-thing) !! value_error\n(doc 5) !! type_error")
{
    Ref ref;
    PtcBuf buf;
    PtcHostThing thing;
    if (!ptc_tick(&vm->budget, ROWS_TICKS) || !find_thing(vm, argv[0], &thing))
        return false;
    if (thing.kind != PTC_HOST_NONE) {
        ptc_heap_buf_init(vm->heap, &buf);
        bool ok = ptc_host_thing_describe(vm, &buf, &thing);
        return disc_give_buf(vm, &buf, out) && ok;
    }
    bool server, named = find_ref(vm, argv[0], &ref);
    if (!named || (ref.rows.count == 0 && ref.defined == PTC_NONE)) {
        if (!ask_server_about(vm, argv[0], "doc", &server, out))
            return false;
        if (server)
            return true;
    }
    if (!named)
        return ptc_fail_type(vm, argv, 0, "a quoted symbol, a string or a function");
    if (ref.rows.count == 0 && ref.defined == PTC_NONE)
        return fail_unknown(vm, "function or form", ref.name, ref.len);
    ptc_heap_buf_init(vm->heap, &buf);
    if (ref.defined != PTC_NONE)
        describe_defined(&buf, &ref);
    for (size_t i = 0; i < ref.rows.count; i++) {
        if (i > 0)
            ptc_buf_add_cstr(&buf, "\n\n");
        ptc_row_describe(&buf, ref.rows.at[i]);
    }
    return disc_give_buf(vm, &buf, out);
}

static bool row_meta(PtcVM *vm, uint32_t index, PtcValue *map)
{
    const PtcBuiltin *row = ptc_builtin_row(index);
    char ref[PTC_ROW_NAME];
    ptc_row_ref(index, ref);
    *map = ptc_map_empty(vm->heap);
    return put_doc_text(vm, map, "kind", ptc_row_kind(row)) &&
           put_doc_text(vm, map, "source", "local") &&
           put_doc_text(vm, map, "namespace", ptc_row_namespace(row)) &&
           put_doc_text(vm, map, "name", row->name) && put_doc_text(vm, map, "ref", ref) &&
           put_doc_text(vm, map, "description", row->doc) &&
           put_doc_member(vm, map, "signatures", one_text(vm, row->usage)) &&
           put_doc_text(vm, map, "section", ptc_row_section(row));
}

static bool defined_meta(PtcVM *vm, const Ref *ref, PtcValue *map)
{
    bool function = ptc_is(ref->defined, PTC_T_CLOSURE);
    PtcValue doc = function ? proto_of_closure(ref->defined)->doc : PTC_NIL;
    *map = ptc_map_empty(vm->heap);
    return put_doc_text(vm, map, "kind", function ? "function" : "value") &&
           put_doc_text(vm, map, "source", "program") &&
           put_doc_text(vm, map, "namespace", "user") &&
           put_doc_member(vm, map, "name", ptc_str_new(vm->heap, ref->name, ref->len)) &&
           put_doc_member(vm, map, "description", doc == PTC_NIL ? text(vm, "") : doc);
}

static bool thing_meta(PtcVM *vm, const PtcHostThing *thing, PtcValue *map)
{
    bool tool = thing->kind == PTC_HOST_TOOL;
    PtcBuf buf;
    PtcValue described;
    *map = ptc_map_empty(vm->heap);
    ptc_heap_buf_init(vm->heap, &buf);
    if (tool)
        ptc_buf_add(&buf, thing->tool.description.bytes, thing->tool.description.len);
    else if (!ptc_host_thing_line(vm, &buf, thing, true))
        buf.failed = true;
    PtcText sig = tool ? thing->tool.signature : (PtcText){"", 0};
    PtcValue signature = ptc_str_new(vm->heap, sig.len ? sig.bytes : "", sig.len);
    bool ok = disc_give_buf(vm, &buf, &described) && signature != PTC_NONE &&
              put_doc_text(vm, map, "kind", tool ? "tool" : "data") &&
              put_doc_text(vm, map, "source", "host") &&
              put_doc_text(vm, map, "namespace", tool ? "tool" : "data") &&
              put_doc_text(vm, map, "name", thing->ref + 5) &&
              put_doc_text(vm, map, "ref", thing->ref) &&
              put_doc_member(vm, map, "description", described);
    return ok && (!tool ||
                  put_doc_member(vm, map, "signatures", ptc_vec_new(vm->heap, &signature, 1, 0)));
}

PTC_BUILTIN(
    disc_meta, "clojure.core", "meta", 1, 1, PTC_GIVES(PTC_IS_MAPPED), "(meta 'name)",
    "A map about a function, form, tool or data: :kind :source :namespace :name :ref :description "
    ":signatures :section. Nil for values, which carry no metadata here.",
    "(:name (meta 'map)) => \"map\"\n"
    "(select-keys (meta 'str/join) [:namespace :kind]) => "
    "{:namespace \"clojure.string\", :kind \"ptc-builtin\"}\n"
    "(meta [1 2]) => nil\n(meta 'no-such-thing) => nil")
{
    Ref ref;
    PtcHostThing thing;
    *out = PTC_NIL;
    if (!ptc_tick(&vm->budget, ROWS_TICKS) || !find_thing(vm, argv[0], &thing))
        return false;
    if (thing.kind != PTC_HOST_NONE)
        return thing_meta(vm, &thing, out);
    bool server, named = !ptc_is_keyword(argv[0]) && find_ref(vm, argv[0], &ref);
    if (!named || (ref.defined == PTC_NONE && ref.rows.count == 0))
        return ask_server_about(vm, argv[0], "meta", &server, out) &&
               ptc_give(out, ptc_servers_keywords(vm, *out));
    if (ref.defined != PTC_NONE)
        return defined_meta(vm, &ref, out);
    return row_meta(vm, ref.rows.at[0], out);
}

static bool arg_can_have_meta(PtcVM *vm, const PtcValue *argv)
{
    PtcValue v = argv[0];
    return ptc_is_sequential(v) || ptc_is_map(v) || ptc_is_set(v) || ptc_is_function(v) ||
           ptc_is(v, PTC_T_SYMBOL) ||
           ptc_fail_type(vm, argv, 0, "a collection, symbol or function");
}

PTC_BUILTIN(core_with_meta, "clojure.core", "with-meta", 2, 2, 0, "(with-meta x meta)",
            "x itself: values carry no metadata here.",
            "(with-meta [1 2] {:source \"a\"}) => [1 2]\n(meta (with-meta [1] {:a 1})) => nil\n"
            "(with-meta 5 {}) !! type_error")
{
    if (!arg_can_have_meta(vm, argv))
        return false;
    if (argv[1] != PTC_NIL && !ptc_is_map(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a map or nil");
    return ptc_give(out, argv[0]);
}

PTC_BUILTIN_EXPR(
    core_vary_meta, "clojure.core", "vary-meta", 2, -1, 0, "(vary-meta x f & args)",
    "x itself: values carry no metadata here, and f is not called.",
    "(vary-meta [1 2] assoc :a 1) => [1 2]\n(vary-meta \"s\" assoc :a 1) !! type_error",
    arg_can_have_meta(vm, argv) && ptc_arg_callable(vm, argv, 1) && ptc_give(out, argv[0]))

/* ----------------------------------------------------------------------- dir */

bool ptc_disc_add_line(PtcVM *vm, PtcValue list, const char *start, const char *name,
                       const char *doc, size_t most)
{
    PtcBuf buf;
    PtcValue v;
    size_t len = strlen(doc), cut = len > most ? most : len;
    while (cut < len && ((unsigned char)doc[cut] & 0xc0) == 0x80)
        cut--;
    ptc_buf_init(&buf, vm->mem, 4096);
    ptc_buf_addf(&buf, "%s%s - %.*s%s", start, name, PTC_ARG_OF(doc, cut), cut < len ? "..." : "");
    return disc_give_buf(vm, &buf, &v) && ptc_build_add(vm->heap, list, v);
}

bool ptc_disc_add_thing(PtcVM *vm, PtcValue list, const char *start, const PtcHostThing *thing,
                        bool whole)
{
    PtcBuf buf;
    PtcValue v;
    ptc_buf_init(&buf, vm->mem, 4096);
    ptc_buf_add_cstr(&buf, start);
    bool ok = ptc_host_thing_line(vm, &buf, thing, whole);
    return disc_give_buf(vm, &buf, &v) && ok && ptc_build_add(vm->heap, list, v);
}

/* The names of a namespace.  Those for calling other servers are only told where there are some. */
static void rows_in(const PtcVM *vm, PtcRows *rows, const char *ns)
{
    size_t kept = 0;
    ptc_rows_in(rows, ns);
    if (vm->servers || strcmp(ns, "tool") != 0)
        return;
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(ptc_builtin_row(rows->at[i])->name, "servers") == 0)
            rows->at[kept++] = rows->at[i];
    rows->count = kept;
}

static bool dir_spaces(PtcVM *vm, PtcValue list)
{
    PtcRows rows;
    uint32_t pos = 0;
    char count[32];
    size_t data = ptc_host_things_count(vm, false, true);
    for (const char *ns; (ns = ptc_rows_next_namespace(&pos)) != NULL;) {
        rows_in(vm, &rows, ns);
        size_t n =
            rows.count + (strcmp(ns, "tool") == 0 ? ptc_host_things_count(vm, true, false) : 0);
        snprintf(count, sizeof count, "%zu name%s", n, n == 1 ? "" : "s");
        if (!ptc_tick(&vm->budget, ROWS_TICKS) ||
            !ptc_disc_add_line(vm, list, "", ns, count, sizeof count))
            return false;
    }
    snprintf(count, sizeof count, "%zu name%s", data, data == 1 ? "" : "s");
    return data == 0 || ptc_disc_add_line(vm, list, "", "data", count, sizeof count);
}

/* Tools, or data; *offset and *limit are left for what comes after them. */
static bool dir_things(PtcVM *vm, PtcValue list, bool tools, int64_t *offset, int64_t *limit)
{
    PtcHostThing thing;
    PtcHostThings all = ptc_host_things_of(vm, tools, !tools);
    while (*limit > 0 && ptc_host_things_next(&all, &thing)) {
        if (!ptc_tick(&vm->budget, 1))
            return false;
        if ((*offset)-- > 0)
            continue;
        --*limit;
        if (!ptc_disc_add_thing(vm, list, "", &thing, false))
            return false;
    }
    if (*offset < 0)
        *offset = 0;
    return true;
}

/* The tools of a server; *known is false when there is no such server. */
static bool dir_server(PtcVM *vm, PtcText ns, int64_t offset, int64_t limit, bool *known,
                       PtcValue *out)
{
    PtcServerQuestion q = {.op = "dir", .ns = ns, .limit = limit, .offset = offset};
    *known = ptc_servers_know(vm, ns);
    return *known && ptc_servers_look(vm, &q, out);
}

/* A line for each server, behind the namespaces. */
static bool dir_servers(PtcVM *vm, PtcValue list)
{
    PtcValue all = PTC_NIL;
    PtcServerQuestion q = {.op = "servers", .limit = -1, .offset = -1};
    if (!vm->servers)
        return true;
    if (!ptc_servers_look(vm, &q, &all))
        return false;
    size_t n = ptc_is_sequential(all) ? ptc_seq_count(all) : 0;
    for (size_t i = 0; i < n; i++) {
        PtcValue one = ptc_seq_nth(all, i);
        PtcValue ns = ptc_is_map(one) ? ptc_map_field(vm->heap, one, "namespace") : PTC_NONE;
        PtcValue about = ptc_is_map(one) ? ptc_map_field(vm->heap, one, "description") : PTC_NONE;
        bool told = about != PTC_NONE && ptc_is_string(about) && ptc_str_len(about) > 0;
        if (ns != PTC_NONE && ptc_is_string(ns) &&
            !ptc_disc_add_line(vm, list, "", ptc_str_bytes(ns),
                               told ? ptc_str_bytes(about) : "a server", 120))
            return false;
    }
    return true;
}

/* The names that the program and its session defined. */
static bool dir_user(PtcVM *vm, PtcValue list, int64_t offset, int64_t limit)
{
    for (uint32_t i = 0; i < vm->names->count && i < vm->global_count && limit > 0; i++) {
        if (!ptc_tick(&vm->budget, 1))
            return false;
        if (vm->globals[i] == PTC_UNBOUND || ptc_is_history_name(&vm->names->items[i]) ||
            offset-- > 0)
            continue;
        limit--;
        PtcValue v = ptc_str_new(vm->heap, vm->names->items[i].text, vm->names->items[i].len);
        if (v == PTC_NONE || !ptc_build_add(vm->heap, list, v))
            return false;
    }
    return true;
}

static bool dir_space(PtcVM *vm, PtcValue list, const char *ns, int64_t offset, int64_t limit)
{
    PtcRows rows;
    rows_in(vm, &rows, ns);
    for (size_t i = 0; i < rows.count && limit > 0; i++) {
        const PtcBuiltin *row = ptc_builtin_row(rows.at[i]);
        if (offset-- > 0)
            continue;
        limit--;
        if (!ptc_disc_add_line(vm, list, "", row->name, row->doc, 120))
            return false;
    }
    return true;
}

/* The name of a namespace, which all rows will be asked for. */
static bool arg_name(PtcVM *vm, const PtcValue *argv, const char **name, size_t *len)
{
    if (!ptc_tick(&vm->budget, ROWS_TICKS))
        return false;
    if (!ptc_is_named(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a quoted symbol or a string");
    *name = ptc_str_bytes(argv[0]);
    *len = ptc_str_len(argv[0]) < PTC_QUERY_BYTES ? ptc_str_len(argv[0]) : PTC_QUERY_BYTES;
    return true;
}

PTC_BUILTIN(
    disc_dir, "clojure.core", "dir", 0, 2, PTC_B_NAME, "(dir namespace {:limit n :offset n}?)",
    "The names in a namespace or class with a line about each, 50 unless :limit says more; "
    "'user has what the program defined, 'tool the tools, 'data the data. Without arguments: the "
    "namespaces.",
    "(map #(first (split % \" \")) (dir 'clojure.set {:limit 2})) => "
    "[\"difference\" \"index\"]\n"
    "(some #(starts-with? % \"clojure.string - \") (dir)) => true\n"
    "(def a 1) (dir 'user) => [\"a\"]\n(= (dir clojure.set) (dir \"clojure.set\")) => true\n"
    "(dir 'no.such.namespace) !! value_error")
{
    const char *name = "", *ns = NULL;
    size_t len = 0;
    int64_t limit = 50, offset = 0;
    if ((argc > 0 && !arg_name(vm, argv, &name, &len)) || !ptc_disc_arg_options(vm, argc, argv, 1))
        return false;
    if (argc > 1 && (!ptc_disc_int_option(vm, argv[1], "limit", 1, 200, &limit) ||
                     !ptc_disc_int_option(vm, argv[1], "offset", 0, PTC_INT_MAX, &offset)))
        return false;
    bool user = len == 4 && memcmp(name, "user", 4) == 0;
    bool tools = len == 4 && memcmp(name, "tool", 4) == 0;
    bool data = len == 4 && memcmp(name, "data", 4) == 0;
    if (argc > 0 && !user && !data && !(ns = ptc_rows_namespace(name, len))) {
        bool known, ok = dir_server(vm, (PtcText){name, len}, offset, limit, &known, out);
        return known ? ok : fail_unknown(vm, "namespace", name, len);
    }
    PtcValue list = ptc_build_new(vm->heap);
    if (list == PTC_NONE || ((tools || data) && !dir_things(vm, list, tools, &offset, &limit)) ||
        !(argc == 0 ? dir_spaces(vm, list) && dir_servers(vm, list)
          : user    ? dir_user(vm, list, offset, limit)
          : data    ? true
                    : dir_space(vm, list, ns, offset, limit)))
        return false;
    return ptc_give(out, ptc_build_done(vm->heap, list, PTC_SEQ));
}

/* ---------------------------------------------------------------- ns-publics */

static bool public_meta(PtcVM *vm, const PtcBuiltin *row, PtcValue *map)
{
    *map = ptc_map_empty(vm->heap);
    return put_doc_text(vm, map, "name", row->name) && put_doc_text(vm, map, "doc", row->doc) &&
           put_doc_member(vm, map, "arglists", one_text(vm, row->usage)) &&
           put_doc_text(vm, map, "section", ptc_row_section(row)) &&
           put_doc_text(vm, map, "source", "local");
}

/* The same for a server, which gives symbols; *known is false when there is no such server. */
static bool server_publics(PtcVM *vm, PtcText ns, bool *known, PtcValue *out)
{
    PtcServerQuestion q = {.op = "publics", .ns = ns, .limit = -1, .offset = -1};
    PtcValue names = PTC_NIL, all = PTC_NIL;
    *known = ptc_servers_know(vm, ns);
    if (!*known || !ptc_servers_look(vm, &q, &names))
        return false;
    if (names == PTC_NIL)
        return ptc_give(out, names);
    all = ptc_map_empty(vm->heap);
    size_t n = ptc_is_sequential(names) ? ptc_seq_count(names) : 0;
    for (size_t i = 0; i < n && all != PTC_NONE; i++) {
        PtcValue meta = ptc_map_empty(vm->heap), name = ptc_seq_nth(names, i);
        bool ok = ptc_tick(&vm->budget, 10) && put_doc_member(vm, &meta, "name", name) &&
                  put_doc_text(vm, &meta, "source", "server");
        all = ok ? ptc_map_assoc(vm->heap, all, name, meta) : PTC_NONE;
    }
    return ptc_give(out, all);
}

PTC_BUILTIN(disc_ns_publics, "clojure.core", "ns-publics", 1, 1, PTC_B_NAME,
            "(ns-publics namespace)",
            "A map from the names of a namespace to what is known of each: :name :doc :arglists "
            ":section :source.",
            "(:arglists (get (ns-publics 'clojure.set) \"union\")) => [\"(union & sets)\"]\n"
            "(contains? (ns-publics 'str) \"join\") => true\n(ns-publics 'Math) !! value_error")
{
    PtcRows rows;
    const char *name = "", *ns;
    size_t len = 0;
    if (!arg_name(vm, argv, &name, &len))
        return false;
    if (!(ns = ptc_rows_namespace(name, len)) || ptc_ascii_is_upper(ns[0])) {
        bool known, ok = server_publics(vm, (PtcText){name, len}, &known, out);
        return known ? ok : fail_unknown(vm, "namespace", name, len);
    }
    rows_in(vm, &rows, ns);
    PtcValue all = ptc_map_empty(vm->heap), meta;
    for (size_t i = 0; i < rows.count && all != PTC_NONE; i++) {
        const PtcBuiltin *row = ptc_builtin_row(rows.at[i]);
        PtcValue key = text(vm, row->name);
        if (key == PTC_NONE || !ptc_tick(&vm->budget, 100) || !public_meta(vm, row, &meta))
            return false;
        all = ptc_map_assoc(vm->heap, all, key, meta);
    }
    return ptc_give(out, all);
}

PTC_BUILTIN_TABLE(ptc_lib_discover, disc_doc, disc_dir, disc_meta, disc_ns_publics, core_with_meta,
                  core_vary_meta);

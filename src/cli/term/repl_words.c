/* SPDX-License-Identifier: MIT
 * Completion in the REPL.  Candidates are found one by one in order, each by a walk over everything: nothing is kept
 * between two of them but the last one. */
#include "cli/term/repl_words.h"

#include <stdio.h>

#include "cli/cmd/cmd.h"
#include "lisp/lib/builtin_doc.h"

enum { REPL_NAME_BYTES = 2 * PTC_ROW_NAME };

typedef struct {
    const char *word;
    size_t len;
    char last[REPL_NAME_BYTES]; /* the candidate that was taken last; "": none yet */
    char best[REPL_NAME_BYTES]; /* the first one behind it, so far */
} WordSearch;

/* Can a program write it?  Keys of data may be anything, control characters among them. */
static bool is_program_word(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] <= ' ' || name[i] == 0x7F ||
            strchr("()[]{}\"';,@^`~\\", name[i]))
            return false;
    return len > 0;
}

/* Takes the name if it is a candidate behind the last one and before the best so far. */
static void offer_candidate(WordSearch *s, const char *prefix, const char *name, size_t len)
{
    char whole[REPL_NAME_BYTES];
    if (!is_program_word(name, len))
        return;
    int n = snprintf(whole, sizeof whole, "%s%.*s", prefix,
                     PTC_ARG(ptc_text_cut((PtcText){name, len}, REPL_NAME_BYTES)));
    if (n < 0 || (size_t)n >= sizeof whole || (size_t)n < s->len ||
        memcmp(whole, s->word, s->len) != 0)
        return;
    if (strcmp(whole, s->last) > 0 && (!*s->best || strcmp(whole, s->best) < 0))
        memcpy(s->best, whole, (size_t)n + 1);
}

/* Could a name with this prefix be a candidate? */
static bool may_begin_with(const WordSearch *s, const char *prefix)
{
    size_t n = strlen(prefix);
    return memcmp(s->word, prefix, n < s->len ? n : s->len) == 0;
}

static void offer_functions(WordSearch *s)
{
    char name[PTC_ROW_NAME];
    for (uint32_t i = 0; i < ptc_builtin_count(); i++) {
        const PtcBuiltin *row = ptc_builtin_row(i);
        if (!ptc_row_shown(row))
            continue;
        ptc_row_ref(i, name);
        offer_candidate(s, "", name, strlen(name));
        if (strcmp(row->ns, "clojure.string") == 0)
            offer_candidate(s, "str/", row->name, strlen(row->name));
    }
}

static void offer_definitions(WordSearch *s, const PtcReplWords *w)
{
    const char *name;
    size_t len;
    for (size_t i = 0; (name = ptc_session_name(w->session, i, &len)) != NULL; i++)
        offer_candidate(s, "", name, len);
}

static void offer_data(WordSearch *s, const PtcReplWords *w)
{
    const char *name;
    size_t len;
    for (size_t i = 0; w->context && i < ptc_value_count(w->context); i++) {
        if (!ptc_value_string(ptc_value_key_at(w->context, i), &name, &len))
            continue;
        if (may_begin_with(s, "data/"))
            offer_candidate(s, "data/", name, len);
        if (w->bare_data)
            offer_candidate(s, "", name, len);
    }
}

/* The columns of the first row of data, or the keys of a map. */
static void offer_columns(WordSearch *s, const PtcReplWords *w)
{
    const char *name;
    size_t len;
    for (size_t i = 0; w->context && may_begin_with(s, ":") && i < ptc_value_count(w->context);
         i++) {
        PtcValue v = ptc_value_at(w->context, i);
        if (ptc_value_type(v) == PTC_TYPE_SEQUENCE && ptc_value_count(v) > 0)
            v = ptc_value_at(v, 0);
        for (size_t k = 0; ptc_value_type(v) == PTC_TYPE_MAP && k < ptc_value_count(v); k++)
            if (ptc_value_string(ptc_value_key_at(v, k), &name, &len))
                offer_candidate(s, ":", name, len);
    }
}

static void offer_own_tools(WordSearch *s, const PtcReplWords *w)
{
    const char *name;
    for (size_t i = 0; w->tools && (name = ptc_tools_name(w->tools, i)) != NULL; i++)
        offer_candidate(s, "tool/", name, strlen(name));
}

/* The upstream whose namespace stands before the / of the word. */
static bool find_upstream(const WordSearch *s, const PtcReplWords *w, PtcUpstreamState *found)
{
    const char *slash = memchr(s->word, '/', s->len);
    PtcManager *manager = w->upstreams->manager;
    for (size_t i = 0; slash && manager && i < ptc_manager_count(manager); i++) {
        ptc_manager_state(manager, i, found);
        if (found->ns.len == (size_t)(slash - s->word) &&
            memcmp(found->ns.bytes, s->word, found->ns.len) == 0)
            return true;
    }
    return false;
}

static void offer_upstreams(WordSearch *s, const PtcReplWords *w)
{
    PtcUpstreamState state;
    PtcManager *manager = w->upstreams->manager;
    for (size_t i = 0; manager && i < ptc_manager_count(manager); i++) {
        char name[REPL_NAME_BYTES];
        ptc_manager_state(manager, i, &state);
        if (state.ns.len + 2 > sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s/", PTC_ARG(state.ns));
        offer_candidate(s, "", name, strlen(name));
    }
}

/* A program in PTC-Lisp gives the names, so that completion shows what programs can call. */
static PtcOutcome *list_namespace_tools(const PtcReplWords *w, PtcText ns)
{
    char program[REPL_NAME_BYTES + 64];
    PtcOutcome *outcome = NULL;
    PtcRun run;
    snprintf(program, sizeof program, "(mapv str (keys (ns-publics '%.*s)))", PTC_ARG(ns));
    ptc_run_init(&run, sizeof run);
    run.program = program;
    run.program_len = strlen(program);
    if (ns.len >= REPL_NAME_BYTES ||
        ptc_upstreams_eval(w->upstreams, w->ptc, &run, NULL, &outcome) != PTC_OK)
        return NULL;
    return outcome;
}

static void offer_listed(WordSearch *s, const PtcOutcome *listed, const char *prefix)
{
    PtcValue names = listed && ptc_outcome_ok(listed) ? ptc_outcome_value(listed) : 0;
    const char *name;
    size_t len;
    for (size_t i = 0; names && i < ptc_value_count(names); i++)
        if (ptc_value_string(ptc_value_at(names, i), &name, &len))
            offer_candidate(s, prefix, name, len);
}

/* Every candidate into out, in order. */
static void list_word_candidates(WordSearch *s, const PtcReplWords *w, const PtcOutcome *listed,
                                 const char *prefix, PtcBuf *out)
{
    for (;;) {
        s->best[0] = 0;
        offer_functions(s);
        offer_definitions(s, w);
        offer_data(s, w);
        offer_columns(s, w);
        offer_own_tools(s, w);
        offer_upstreams(s, w);
        offer_listed(s, listed, prefix);
        for (size_t i = 0; s->word[0] == ':' && w->commands[i]; i++)
            offer_candidate(s, "", w->commands[i], strlen(w->commands[i]));
        if (!*s->best)
            return;
        ptc_buf_addf(out, "%s\n", s->best);
        memcpy(s->last, s->best, sizeof s->last);
    }
}

void ptc_repl_words(const PtcReplWords *w, const char *word, size_t len, PtcBuf *out)
{
    WordSearch s = {.word = word, .len = len};
    PtcUpstreamState state;
    char prefix[REPL_NAME_BYTES] = "";
    PtcOutcome *listed = NULL;
    if (find_upstream(&s, w, &state)) {
        snprintf(prefix, sizeof prefix, "%.*s/",
                 PTC_ARG_OF(state.ns.bytes, state.ns.len < REPL_NAME_BYTES - 2 ? state.ns.len : 0));
        listed = list_namespace_tools(w, state.ns);
    }
    list_word_candidates(&s, w, listed, prefix, out);
    ptc_outcome_free(listed);
}

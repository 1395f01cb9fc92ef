/* SPDX-License-Identifier: MIT
 * Builtins looked up and searched as documentation.  What always holds: hidden rows are never shown, and nothing here
 * allocates but into the buffer that it is given. */
#include "lisp/lib/builtin_doc.h"

#include <stdio.h>

#include "base/ascii.h"
#include "lisp/lib/builtins.h"

/* What a namespace is called in full, and under which heading its functions stand. */
static const struct {
    const char *ns, *full, *section;
} spaces[] = {
    {"clojure.core", "clojure.core", "Core"},
    {"clojure.string", "clojure.string", "String Functions"},
    {"clojure.set", "clojure.set", "Set Operations"},
    {"clojure.walk", "clojure.walk", "Functional Tools"},
    {"regex", "regex", "Regex Functions"},
    {"json", "json", "JSON"},
    {"csv", "csv", "CSV"},
    {"ptc", "ptc", "Agent Control"},
    {"budget", "budget", "Agent Control"},
    {"tool", "tool", "Agent Control"},
    {"Math", "java.lang.Math", "Math Functions"},
    {"System", "java.lang.System", "Interop"},
    {"Boolean", "java.lang.Boolean", "Interop"},
    {"Double", "java.lang.Double", "Interop"},
    {"Float", "java.lang.Float", "Interop"},
    {"Integer", "java.lang.Integer", "Interop"},
    {"Long", "java.lang.Long", "Interop"},
    {"String", "java.lang.String", "Interop"},
    {"LocalDate", "java.time.LocalDate", "Interop"},
    {"LocalDateTime", "java.time.LocalDateTime", "Interop"},
    {"Instant", "java.time.Instant", "Interop"},
    {"Duration", "java.time.Duration", "Interop"},
    {"Period", "java.time.Period", "Interop"},
};
enum { DOC_SPACES = sizeof spaces / sizeof *spaces };

/* Documentation is asked for without an engine, too. */
static size_t count_builtins(void)
{
    ptc_builtins_ready();
    return ptc_builtin_count();
}

/* ----------------------------------------------------------------- one row */

const char *ptc_row_kind(const PtcBuiltin *row)
{
    if (ptc_row_is_java(row))
        return "java-interop";
    return row->flags & PTC_B_FORM ? "special-form" : "ptc-builtin";
}

const char *ptc_row_namespace(const PtcBuiltin *row)
{
    for (size_t i = 0; i < DOC_SPACES; i++)
        if (strcmp(spaces[i].ns, row->ns) == 0)
            return spaces[i].full;
    return row->ns;
}

const char *ptc_row_section(const PtcBuiltin *row)
{
    if (row->flags & PTC_B_FORM && !ptc_row_is_java(row))
        return "Special Forms";
    for (size_t i = 0; i < DOC_SPACES && row->name[0] != '.'; i++)
        if (strcmp(spaces[i].ns, row->ns) == 0)
            return spaces[i].section;
    return "Interop";
}

void ptc_row_describe(PtcBuf *buf, uint32_t index)
{
    const PtcBuiltin *row = ptc_builtin_row(index);
    char ref[PTC_ROW_NAME];
    ptc_row_ref(index, ref);
    ptc_buf_addf(buf, "%s\nDescription: %s\nKind: %s\nNamespace: %s\nSignatures: %s", ref, row->doc,
                 ptc_row_kind(row), ptc_row_namespace(row), row->usage);
    const char *p = row->examples ? row->examples : "";
    if (*p)
        ptc_buf_add_cstr(buf, "\nExamples:");
    while (*p) {
        size_t n = strcspn(p, "\n");
        ptc_buf_add_cstr(buf, "\n  ");
        ptc_buf_add(buf, p, n);
        p += n + (p[n] == '\n');
    }
}

/* ------------------------------------------------------------------- names */

static bool is_doc_text(const char *text, const char *name, size_t len)
{
    return strlen(text) == len && memcmp(text, name, len) == 0;
}

static void add_doc_row(PtcRows *rows, uint32_t index)
{
    if (rows->count < PTC_ROWS_MAX)
        rows->at[rows->count++] = (uint16_t)index;
}

/* Is it the full name of a row that programs cannot find as a value: a form or a constant? */
static bool names_form(const PtcBuiltin *row, const char *name, size_t len)
{
    char full[2 * PTC_ROW_NAME];
    if (!(row->flags & PTC_B_FORM))
        return false;
    snprintf(full, sizeof full, "%s/%s", row->ns, row->name);
    return is_doc_text(full, name, len) ||
           (!ptc_row_is_java(row) && is_doc_text(row->name, name, len));
}

static bool has_doc_row(const PtcRows *rows, uint32_t index)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->at[i] == index)
            return true;
    return false;
}

void ptc_rows_namesakes(PtcRows *rows, const char *name, size_t len)
{
    for (uint32_t i = 0; i < count_builtins(); i++)
        if (ptc_row_shown(ptc_builtin_row(i)) && is_doc_text(ptc_builtin_row(i)->name, name, len) &&
            !has_doc_row(rows, i))
            add_doc_row(rows, i);
}

void ptc_rows_named(PtcRows *rows, const char *name, size_t len)
{
    rows->count = 0;
    if (len == 0)
        return;
    size_t n = count_builtins();
    int found = ptc_builtin_written(name, len);
    if (found >= 0)
        add_doc_row(rows, (uint32_t)found);
    for (uint32_t i = 0; i < n && rows->count == 0; i++)
        if (names_form(ptc_builtin_row(i), name, len))
            add_doc_row(rows, i);
    if (found < 0)
        ptc_rows_namesakes(rows, name, len);
}

/* -------------------------------------------------------------- namespaces */

const char *ptc_rows_namespace(const char *name, size_t len)
{
    char full[2 * PTC_ROW_NAME];
    if (is_doc_text("core", name, len))
        return "clojure.core";
    for (uint32_t i = 0; i < count_builtins(); i++) {
        const PtcBuiltin *row = ptc_builtin_row(i);
        if (!ptc_row_shown(row))
            continue;
        if (is_doc_text(row->ns, name, len) || is_doc_text(ptc_row_namespace(row), name, len))
            return row->ns;
        int n = snprintf(full, sizeof full, "%.*s/%s",
                         PTC_ARG(ptc_text_cut((PtcText){name, len}, 60)), row->name);
        if (ptc_namespace_known(name, len) && ptc_builtin_find(full, (size_t)n) == (int)i)
            return row->ns;
    }
    return NULL;
}

/* Orders by namespace, then by name. */
static int compare_doc_rows(uint32_t a, uint32_t b)
{
    const PtcBuiltin *x = ptc_builtin_row(a), *y = ptc_builtin_row(b);
    int c = strcmp(x->ns, y->ns);
    return c ? c : strcmp(x->name, y->name);
}

/* Few rows: sorting by insertion takes no memory.  Higher scores come first. */
static void sort_doc_rows(PtcRows *rows, const int *scores)
{
    for (size_t i = 1; i < rows->count; i++) {
        uint16_t row = rows->at[i];
        size_t j = i;
        for (; j > 0; j--) {
            uint16_t before = rows->at[j - 1];
            int c = scores ? scores[row] - scores[before] : 0;
            if (c < 0 || (c == 0 && compare_doc_rows(before, row) <= 0))
                break;
            rows->at[j] = before;
        }
        rows->at[j] = row;
    }
}

void ptc_rows_in(PtcRows *rows, const char *ns)
{
    rows->count = 0;
    for (uint32_t i = 0; i < count_builtins(); i++)
        if (ptc_row_shown(ptc_builtin_row(i)) && strcmp(ptc_builtin_row(i)->ns, ns) == 0)
            add_doc_row(rows, i);
    sort_doc_rows(rows, NULL);
}

const char *ptc_rows_next_namespace(uint32_t *pos)
{
    for (; *pos < count_builtins(); ++*pos) {
        const PtcBuiltin *row = ptc_builtin_row(*pos);
        uint32_t i = 0;
        while (i < *pos &&
               (!ptc_row_shown(ptc_builtin_row(i)) || strcmp(ptc_builtin_row(i)->ns, row->ns) != 0))
            i++;
        if (i == *pos && ptc_row_shown(row)) {
            ++*pos;
            return row->ns;
        }
    }
    return NULL;
}

/* ----------------------------------------------------------------- apropos */

enum { WORD_BYTES = 40, DOC_WORDS = 12 };
enum { EVERY_WORD = 20, WHOLE = 100 }; /* for a query found whole, and for one that is the name */

typedef struct {
    char text[WORD_BYTES];
    size_t len;
} DocWord;

/* The next word of a text in lower case: cut at space and punctuation and before capitals.  What is
 * beyond WORD_BYTES of a word is dropped. */
static bool next_search_word(const char **at, const char *end, DocWord *word)
{
    static const char cuts[] = "_- \t\n\r./(),:";
    const char *p = *at;
    while (p < end && (*p == 0 || strchr(cuts, *p)))
        p++;
    word->len = 0;
    const char *start = p;
    for (; p < end && *p && !strchr(cuts, *p); p++) {
        if (p > start && ptc_ascii_is_upper(*p) && ptc_ascii_is_lower(p[-1]))
            break;
        if (word->len < WORD_BYTES)
            word->text[word->len++] = ptc_ascii_lower(*p);
    }
    *at = p;
    return word->len > 0;
}

static bool word_contains(const DocWord *in, const DocWord *what)
{
    for (size_t i = 0; i + what->len <= in->len; i++)
        if (memcmp(in->text + i, what->text, what->len) == 0)
            return true;
    return false;
}

/* How well one word is found in a text: whole, as a beginning, inside. */
static int score_word(const DocWord *query, const char *text, int boost)
{
    DocWord word;
    int best = 0;
    const char *end = text + strlen(text);
    while (next_search_word(&text, end, &word)) {
        int score = 0;
        if (word_contains(&word, query))
            score = memcmp(word.text, query->text, query->len) != 0 ? 2
                    : word.len == query->len                        ? 10
                                                                    : 5;
        if (score && score + boost > best)
            best = score + boost;
    }
    return best;
}

static int max_of(int a, int b)
{
    return a > b ? a : b;
}

static bool add_word_score(int *score, int word)
{
    *score += word;
    return word > 0;
}

/* What has every word of a query comes before what has one of them in its name. */
static int every_word_bonus(size_t found, size_t count)
{
    return count > 1 && found == count ? EVERY_WORD : 0;
}

static int score_row(uint32_t index, const DocWord *words, size_t count)
{
    const PtcBuiltin *row = ptc_builtin_row(index);
    char ref[PTC_ROW_NAME];
    int score = 0;
    size_t found = 0;
    ptc_row_ref(index, ref);
    for (size_t i = 0; i < count; i++) {
        int rest = max_of(score_word(&words[i], row->doc, 0), score_word(&words[i], row->usage, 0));
        rest = max_of(rest, score_word(&words[i], ptc_row_namespace(row), 0));
        rest = max_of(rest, score_word(&words[i], ptc_row_section(row), 0));
        found += add_word_score(&score, score_word(&words[i], ref, 2) + rest);
    }
    return score + every_word_bonus(found, count);
}

static size_t split_query(const char *query, size_t len, DocWord words[DOC_WORDS])
{
    size_t count = 0;
    const char *end = query + len;
    while (count < DOC_WORDS && next_search_word(&query, end, &words[count]))
        count++;
    return count;
}

int ptc_rows_score(const char *query, size_t len, const char *name, const char *text)
{
    DocWord words[DOC_WORDS];
    size_t count = split_query(query, len, words);
    const char *slash = strchr(name, '/');
    int score = 0;
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found +=
            add_word_score(&score, score_word(&words[i], name, 2) + score_word(&words[i], text, 0));
    score += every_word_bonus(found, count);
    bool whole = is_doc_text(name, query, len) || (slash && is_doc_text(slash + 1, query, len));
    return score > 0 && whole ? score + WHOLE : score;
}

void ptc_rows_apropos(PtcRows *rows, const char *query, size_t len, int *all)
{
    DocWord words[DOC_WORDS];
    int own[PTC_ROWS_MAX], *scores = all ? all : own;
    size_t count = split_query(query, len, words);
    rows->count = 0;
    for (uint32_t i = 0; i < count_builtins() && i < PTC_ROWS_MAX; i++) {
        scores[i] = ptc_row_shown(ptc_builtin_row(i)) ? score_row(i, words, count) : 0;
        if (scores[i] > 0 && is_doc_text(ptc_builtin_row(i)->name, query, len))
            scores[i] += WHOLE;
        if (scores[i] > 0)
            add_doc_row(rows, i);
    }
    sort_doc_rows(rows, scores);
}

/* SPDX-License-Identifier: MIT
 * The nearest name.  Names that differ in case, `-`, `_`, `?`, `!` or a leading point only are nearest of all; others
 * are so many slips of the finger away, fewer for short words: a wrong letter in three makes another word. */
#include "lisp/analyze/suggest.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text/nearest.h"
#include "lisp/vm/builtin.h"

enum { FURTHEST = 3, SHORT_WORD = 3 };

/* Most used first: this decides between names that are equally near. */
static const char *const common[] = {
    "map",         "filter",     "reduce",       "get",         "count",      "str",
    "let",         "def",        "fn",           "defn",        "if",         "println",
    "first",       "for",        "sort-by",      "group-by",    "into",       "assoc",
    "update",      "mapv",       "vec",          "range",       "concat",     "conj",
    "take",        "last",       "keys",         "vals",        "cond",       "when",
    "loop",        "doseq",      "join",         "split",       "sum",        "max",
    "min",         "round",      "set",          "merge",       "get-in",     "sort",
    "remove",      "mapcat",     "distinct",     "frequencies", "nth",        "rest",
    "apply",       "some",       "every?",       "empty?",      "nil?",       "contains?",
    "includes?",   "replace",    "trim",         "subs",        "format",     "sum-by",
    "avg-by",      "max-by",     "min-by",       "avg",         "zipmap",     "partition",
    "drop",        "reverse",    "second",       "flatten",     "keep",       "map-indexed",
    "select-keys", "assoc-in",   "update-in",    "dissoc",      "parse-long", "parse-double",
    "upper-case",  "lower-case", "starts-with?", "ends-with?",  "index-of",   "re-find",
    "re-seq",      "re-matches", "keyword",      "name",        "list",       "hash-map",
    "vector",      "inc",        "dec",          "mod",         "quot",       "rem",
    "even?",       "odd?",       "pos?",         "neg?",        "zero?",      "not",
    "not=",        "and",        "or",           "do",          "case",       "try",
    "pmap",        "identity",   "comp",         "partial",     "juxt",       "repeat",
    "interleave",  "butlast",    "reduce-kv",    "print",       "prn",        "pr-str",
    "abs",         "floor",      "ceil",         "sqrt",        "pow",
};

static unsigned common_name_rank(const char *name)
{
    for (unsigned i = 0; i < sizeof common / sizeof common[0]; i++)
        if (strcmp(common[i], name) == 0)
            return 1 + i;
    return PTC_SUGGEST_RARE;
}

/* How far a name may be from a word to be meant by it. */
static size_t furthest(size_t len)
{
    size_t far = len / 3 > 1 ? len / 3 : 1;
    return far < FURTHEST ? far : FURTHEST;
}

void ptc_suggest_init(PtcSuggest *s, const char *word, size_t len)
{
    *s = (PtcSuggest){.word = word, .len = len, .best_distance = furthest(len) + 1};
}

/* The next letter that counts of text[*at ..], in lower case; 0 at the end. */
static char next_letter(const char *text, size_t len, size_t *at)
{
    while (*at < len) {
        char c = text[(*at)++];
        bool point = c == '.' && *at == 1;
        if (ptc_ascii_is_upper(c))
            return (char)(c - 'A' + 'a');
        if (!point && c != '-' && c != '_' && c != '?' && c != '!')
            return c;
    }
    return 0;
}

static bool alike(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0, j = 0, n = 0;
    for (;; n++) {
        char x = next_letter(a, a_len, &i), y = next_letter(b, b_len, &j);
        if (x != y || x == 0)
            return x == y && n > 0;
    }
}

/* Are two short words the same letters in another order? */
static bool swapped(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i + 1 < len; i++)
        if (a[i] == b[i + 1] && a[i + 1] == b[i] && memcmp(a, b, i) == 0 &&
            memcmp(a + i + 2, b + i + 2, len - i - 2) == 0)
            return true;
    return false;
}

static void to_lower(char *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = ptc_ascii_lower(text[i]);
}

/* Of the program's own names, one slip counts in three letters already. */
static size_t suggestion_distance(const PtcSuggest *s, const char *name, size_t len, bool own)
{
    char a[PTC_NEAREST_BYTES], b[PTC_NEAREST_BYTES];
    if (s->len > sizeof a || len > sizeof b)
        return SIZE_MAX;
    if (alike(s->word, s->len, name, len))
        return 0;
    if (s->len < SHORT_WORD || (s->len == SHORT_WORD && !own))
        return s->len == len && swapped(s->word, name, len) ? 1 : SIZE_MAX;
    to_lower(a, s->word, s->len);
    to_lower(b, name, len);
    return ptc_nearest_distance(a, s->len, b, len, furthest(s->len));
}

void ptc_suggest_offer(PtcSuggest *s, const char *prefix, const char *name, size_t len,
                       unsigned rank)
{
    size_t d = suggestion_distance(s, name, len, rank == PTC_SUGGEST_OWN), n = strlen(prefix);
    if (d > s->best_distance || (d == s->best_distance && rank >= s->best_rank) ||
        n + len >= sizeof s->best)
        return;
    if (n + len == s->len && memcmp(s->word, prefix, n) == 0 && memcmp(s->word + n, name, len) == 0)
        return; /* it is the very name that is refused */
    snprintf(s->best, sizeof s->best, "%s%.*s", prefix, PTC_ARG_OF(name, len));
    s->best_distance = d;
    s->best_rank = rank;
}

/* Is row i what `ns`/name means? */
static bool is_row_of_namespace(uint32_t i, const char *ns, size_t ns_len)
{
    char full[PTC_SUGGEST_NAME];
    int n =
        snprintf(full, sizeof full, "%.*s/%s", PTC_ARG_OF(ns, ns_len), ptc_builtin_row(i)->name);
    return n > 0 && (size_t)n < sizeof full && ptc_builtin_find(full, (size_t)n) == (int)i;
}

static void offer_row(PtcSuggest *s, uint32_t i, const char *ns, size_t ns_len)
{
    const PtcBuiltin *row = ptc_builtin_row(i);
    char ref[PTC_ROW_NAME], prefix[PTC_ROW_NAME] = "";
    bool far = !ns && strcmp(row->ns, "clojure.zip") == 0; /* short names that mean much else */
    if (!ptc_row_shown(row) || far || (ns && !is_row_of_namespace(i, ns, ns_len)))
        return;
    ptc_row_ref(i, ref);
    size_t front = strlen(ref) - strlen(row->name); /* "Math/" */
    if (ns)
        snprintf(prefix, sizeof prefix, "%.*s/", PTC_ARG_OF(ns, ns_len));
    else
        snprintf(prefix, sizeof prefix, "%.*s", PTC_ARG_OF(ref, front));
    unsigned rank = common_name_rank(row->name);
    ptc_suggest_offer(s, prefix, row->name, strlen(row->name),
                      prefix[0] || row->name[0] == '.' ? PTC_SUGGEST_RARE + 1 : rank);
}

void ptc_suggest_builtins(PtcSuggest *s, const char *ns, size_t ns_len)
{
    for (uint32_t i = 0; i < ptc_builtin_count(); i++)
        offer_row(s, i, ns, ns_len);
}

void ptc_suggest_hint_in(char *out, size_t size, const char *ns, size_t ns_len, const char *name,
                         size_t len)
{
    PtcSuggest s;
    bool is_class = ptc_ascii_is_upper(ns[0]);
    ptc_suggest_init(&s, name, len);
    ptc_suggest_builtins(&s, ns, ns_len);
    if (ptc_suggest_found(&s))
        snprintf(out, size, "did you mean %s?", s.best);
    else if (!is_class && ptc_builtin_find(name, len) >= 0)
        snprintf(out, size, "did you mean %.*s?", PTC_ARG_OF(name, len)); /* str/map */
    else
        snprintf(out, size, "(dir '%.*s) lists its functions", PTC_ARG_OF(ns, ns_len));
}

bool ptc_suggest_hint(char *out, size_t size, const char *name, size_t len)
{
    PtcSuggest s;
    PtcInstead instead;
    const char *slash = len > 2 ? memchr(name + 1, '/', len - 2) : NULL;
    size_t prefix = slash ? (size_t)(slash - name) : 0;
    if (ptc_suggest_instead(name, len, &instead)) {
        snprintf(out, size, "%s", instead.hint);
        return true;
    }
    if (slash && ptc_namespace_known(name, prefix)) {
        ptc_suggest_hint_in(out, size, name, prefix, slash + 1, len - prefix - 1);
        return true;
    }
    ptc_suggest_init(&s, name, len);
    ptc_suggest_builtins(&s, NULL, 0);
    if (ptc_suggest_found(&s))
        snprintf(out, size, "did you mean %s?", s.best);
    return ptc_suggest_found(&s);
}

/* SPDX-License-Identifier: MIT
 * test_suggest.c - words of other languages are none of ours, and no suggestion repeats what it refuses. */
#include "check.h"

#include "lisp/analyze/suggest.h"
#include "lisp/lib/builtin_doc.h"
#include "lisp/lib/builtins.h"
#include "lisp/read/diag.h"
#include "lisp/vm/builtin.h"

/* A word that we have would never be looked up; a hint that is cut says half. */
static void test_words(void)
{
    const PtcInstead *w;
    for (size_t i = 0; (w = ptc_suggest_word(i)) != NULL; i++) {
        if (ptc_builtin_find(w->word, strlen(w->word)) >= 0 || strlen(w->hint) > PTC_HINT_MAX)
            CHECK_STR(w->word, "a word that is not ours, with a short hint");
        PtcInstead found;
        CHECK(ptc_suggest_instead(w->word, strlen(w->word), &found) && found.hint == w->hint);
    }
}

static const char *nearest(const char *word)
{
    static PtcSuggest s;
    ptc_suggest_init(&s, word, strlen(word));
    ptc_suggest_builtins(&s, NULL, 0);
    return s.best;
}

static void test_ranks(void)
{
    CHECK_STR(nearest("mapp"), "map");
    CHECK_STR(nearest("reduec"), "reduce");
    CHECK_STR(nearest("gett"), "get");
    CHECK_STR(nearest("srt"), "str");
    CHECK_STR(nearest("sub"), "");
    CHECK_STR(nearest("--"), "");
    CHECK_STR(nearest("foo"), "");
    CHECK_STR(nearest("fro"), "for");
    CHECK_STR(nearest("FILTER"), "filter");
    CHECK_STR(nearest("indexOf"), "index-of");
    CHECK_STR(nearest(""), "");
    CHECK_STR(nearest("a-name-that-is-longer-than-all-others-and-near-to-none-of-them-at-all"), "");
}

/* Each name with a letter more is that name again, or another; never itself. */
static void test_never_itself(void)
{
    char word[PTC_ROW_NAME + 2], ref[PTC_ROW_NAME];
    for (uint32_t i = 0; i < ptc_builtin_count(); i++) {
        if (!ptc_row_shown(ptc_builtin_row(i)))
            continue;
        ptc_row_ref(i, ref);
        snprintf(word, sizeof word, "%s%s", ref, i % 2 ? "x" : "");
        CHECK(strcmp(nearest(word), word) != 0);
    }
}

int main(void)
{
    ptc_builtins_ready();
    test_words();
    test_ranks();
    test_never_itself();
    return check_done("suggest");
}

/* SPDX-License-Identifier: MIT
 * Three cards that differ in what they say about tools.  Each is one constant, assembled by the compiler. */
#include "tool/wire/card.h"

#include <string.h>

#define CARD_HEAD "Runs a program in PTC-Lisp, a Clojure subset, sandboxed: no "
#define ALONE "tools, files or network. "
#define WITH_OTHERS "files or network. "
#define WITH_TOOLS                                                                             \
    "files or network. Tools: (tool/name {:arg 1}); many at once: pmap; all rows of one that " \
    "gives pages: (pages tool/name {:arg 1}); errors of tools can be caught. "

/* How programs of the MCP tool end. */
#define ENDS                                                                              \
    "Calls are independent. The last form's value is the answer; (return v) ends early, " \
    "(fail v) fails, (println v) shows v. Key k of context is data/k.\n"

/* Byte for byte, examples teach more than rules. */
#define LANGUAGE                                                                                   \
    "(def m 1) (defn ok? [r] (> (:n r) m)) (->> data/rows (filter ok?) (map :id))\n"               \
    "(let [{:keys [a-b]} {\"a_b\" 7}] [a-b (get {\"c d\" 1} \"c d\")]) => [7 1]\n"                 \
    "(for [[k v] (group-by :t data/rows)] [k (sum-by :n v) (:id (min-by :n v))])\n"                \
    "(sort-by (juxt :t (comp - :n)) data/rows)\n"                                                  \
    "[(/ 6 2) (/ 7 2) (+ 0.1M 0.2M) (round 2.345 2) (parse-long \"12\") (nth [1] 5)] => [3 3.5 "   \
    "0.3M 2.35 12 nil]\n"                                                                          \
    "[(mean [1 3 5]) (median [1 3 5]) (percentile 90 [1 3 5]) (stdev [1 3 5])] => [3.0 3.0 4.6 "   \
    "2.0]\n"                                                                                       \
    "(str (format \"%.2f\" 1.5) (str/pad-left 7 3 \"0\")) => \"1.50007\"\n"                        \
    "(re-find #\"(\\w)=(\\d+)\" \"x=12\") => [\"x=12\" \"x\" \"12\"]\n"                            \
    "(csv/parse \"a,b\\n1,x\") => [{\"a\" 1, \"b\" \"x\"}]\n"                                      \
    "[(vector? (json/parse-string \"[1]\")) (json/generate-string {:a 1})] => [true "              \
    "\"{\\\"a\\\":1}\"]\n"                                                                         \
    "(let [d (LocalDate/parse \"2024-01-31\")] (map str [(.plusMonths d 1) (.getDayOfWeek d) "     \
    "(.until d (LocalDate/of 2024 3 1) ChronoUnit/DAYS)])) => [\"2024-02-29\" \"WEDNESDAY\" "      \
    "\"30\"]\n"                                                                                    \
    "(.toMinutes (Duration/between (Instant/parse \"2024-01-01T09:00+02:00\") (Instant/parse "     \
    "\"2024-01-01T08:30:00Z\"))) => 90\n"                                                          \
    "(try (throw (ex-info \"bad\" {:id 7})) (catch Exception e [(ex-message e) (ex-data e)])) => " \
    "[\"bad\" {:id 7}]\n"                                                                          \
    "(iteration (fn [k] {:v k :next (when (< k 3) (inc k))}) :initk 1 :kf :next :vf :v) => [1 2 "  \
    "3]\n"                                                                                         \
    "Also memoize, index-by, pq, set/ Math/, String methods, atoms, records, lazy-seq. No "        \
    "macros, I/O. Costly: str and concat in loops (use str/join, into). "

#define TIME_AND_MEMORY "1 s, 10 MiB"
#define LIMITS "Limits: " TIME_AND_MEMORY ". "
#define HELP "Help: (doc 'sum-by), (apropos \"sum\")."

static const char alone[] = CARD_HEAD ALONE ENDS LANGUAGE LIMITS HELP;
static const char with_others[] = CARD_HEAD WITH_OTHERS ENDS LANGUAGE LIMITS HELP;
static const char with_tools[] = CARD_HEAD WITH_TOOLS ENDS LANGUAGE LIMITS HELP;
_Static_assert(sizeof LANGUAGE - 1 <= 1400, "too many examples");
_Static_assert(sizeof alone - 1 <= PTC_CARD_MAX && sizeof with_tools - 1 <= PTC_CARD_MAX,
               "a card is too long");

const char *ptc_card_text(bool tools, bool others)
{
    return tools ? with_tools : others ? with_others : alone;
}

static void add_card_limits(PtcBuf *out, int64_t timeout_ms, int64_t memory_bytes)
{
    bool seconds = timeout_ms % 1000 == 0, mib = memory_bytes % (1 << 20) == 0;
    ptc_buf_addf(out, "%lld %s, %lld %s", (long long)(seconds ? timeout_ms / 1000 : timeout_ms),
                 seconds ? "s" : "ms", (long long)(memory_bytes >> (mib ? 20 : 10)),
                 mib ? "MiB" : "KiB");
}

void ptc_card_add(PtcBuf *out, bool tools, bool others, int64_t timeout_ms, int64_t memory_bytes)
{
    const char *card = ptc_card_text(tools, others), *at = strstr(card, TIME_AND_MEMORY);
    ptc_buf_add(out, card, (size_t)(at - card));
    add_card_limits(out, timeout_ms, memory_bytes);
    ptc_buf_add_cstr(out, at + strlen(TIME_AND_MEMORY));
}

const char *ptc_card_language(void)
{
    return LANGUAGE HELP;
}

/* SPDX-License-Identifier: MIT
 * Three cards that differ in what they say about tools.  Each is one constant, assembled by the compiler. */
#include "tool/wire/card.h"

#include <string.h>

#define CARD_HEAD "Runs a program in PTC-Lisp, a Clojure subset, sandboxed: no "
#define ALONE "tools, files or network. "
#define WITH_OTHERS "files or network. "
#define WITH_TOOLS "files or network. Tools: (tool/name {:arg 1}), many at once: pmap. "

/* How programs of the MCP tool end. */
#define ENDS                                                                              \
    "Calls are independent. The last form's value is the answer; (return v) ends early, " \
    "(fail v) fails, (println v) shows v. Key k of context is data/k.\n"

/* Byte for byte, examples teach more than rules. */
#define LANGUAGE                                                                               \
    "(def m 1) (defn ok? [r] (> (:n r) m)) (->> data/rows (filter ok?) (map :id))\n"           \
    "(let [{:keys [a-b]} {\"a_b\" 7}] [a-b (get {\"c d\" 1} \"c d\")]) => [7 1]\n"             \
    "(for [[k v] (group-by :t data/rows)] [k (sum-by :n v)])\n"                                \
    "(sort-by (juxt :t (comp - :n)) data/rows)\n"                                              \
    "(frequencies \"aab\") => {\"a\" 2, \"b\" 1}\n"                                            \
    "(re-find #\"(\\w)=(\\d+)\" \"x=12\") => [\"x=12\" \"x\" \"12\"]\n"                        \
    "[(/ 7 2) (parse-long \"12\") (/ (round (* 100 2.345)) 100) (nth [1] 5)] => [3.5 12 2.35 " \
    "nil]\n"                                                                                   \
    "(let [d (LocalDate/parse \"2024-02-28\")] [(.toEpochDay d) (str (.plusDays d 2))])\n"     \
    "(Instant/parse \"2024-01-01T09:00+02:00\") => \"2024-01-01T07:00:00Z\"\n"                 \
    "(try (/ 1 0) (catch Exception e (ex-message e)))\n"                                       \
    "Also str/ set/ json/ Math/, String methods, atoms, records, lazy-seq. No macros, I/O. "

#define TIME_AND_MEMORY "1 s, 10 MiB"
#define LIMITS "Limits: " TIME_AND_MEMORY ". "
#define HELP "Help: (doc 'sum-by), (apropos \"sum\")."

static const char alone[] = CARD_HEAD ALONE ENDS LANGUAGE LIMITS HELP;
static const char with_others[] = CARD_HEAD WITH_OTHERS ENDS LANGUAGE LIMITS HELP;
static const char with_tools[] = CARD_HEAD WITH_TOOLS ENDS LANGUAGE LIMITS HELP;
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

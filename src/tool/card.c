/* SPDX-License-Identifier: MIT */
#include "tool/card.h"

#include "tool/protocol_text.h"

/* Examples first: they teach more a byte than rules do. */
#define CARD                                                                             \
    "The last expression is the answer. (return v) ends early, (fail v) with an error, " \
    "(println v) shows v. Key k of context is data/k.\n"                                 \
    "(->> data/rows (filter #(> (:n %) 1)) (map :id))\n"                                 \
    "(:order-id {\"order_id\" 7}) => 7\n"                                                \
    "(for [[k v] (group-by :t [{:t 1 :n 2}])] [k (sum-by :n v)]) => [[1 2]]\n"           \
    "(let [{:keys [a]} {:a 1}] (loop [i 0] (if (< i 3) (recur (+ i a)) i))) => 3\n"      \
    "(str/join \",\" (set/union #{1} #{2})) => \"1,2\"\n"                                \
    "(json/parse-string \"[1]\") => [1]\n"                                               \
    "(try (/ 1 0) (catch Exception e (ex-message e)))\n"                                 \
    "[(/ 7 2) (nth [1] 5)] => [3.5 nil]\n"                                               \
    "If there are tools: (tool/name {:arg 1}), parallel: pmap.\n"                        \
    "Nothing to require. Seqs are eager. No atoms, macros, multimethods, records, I/O, " \
    "random; of Java only Math/, LocalDate/, String methods. Limits: 1 s, 10 MiB, 1e6 "  \
    "loops. Help: (doc 'sum-by), (apropos \"sum\")."

static const char text[] = PTC_TEXT_MCP_NO_TOOLS "\n" CARD;
_Static_assert(sizeof text - 1 <= PTC_CARD_MAX, "the card is too long");

const char *ptc_card_text(void)
{
    return text;
}

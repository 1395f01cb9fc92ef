/* SPDX-License-Identifier: MIT
 * What is in a file: columns, types, extremes, first rows. */
#include "cli/cmd/summary.h"

#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/rows_out.h"
#include "cli/out/shown.h"
#include "engine/engine.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"

static const char begin[] = "(let [all ";
static const char rest[] =
    "\n"
    "      all (if (sequential? all) all [all])\n"
    "      table (if (every? map? all) all (map (fn [v] {\"value\" v}) all))\n"
    "      kind (fn [v] (cond (int? v) \"int\" (number? v) \"float\" (string? v) \"string\"\n"
    "                         (boolean? v) \"bool\" (map? v) \"map\" :else \"list\"))\n"
    "      ordered? #{[\"int\"] [\"float\"] [\"int\" \"float\"] [\"float\" \"int\"] [\"string\"]}\n"
    "      most (fn [vs better?] (reduce (fn [a b] (if (better? (compare b a)) b a)) vs))\n"
    "      column (fn [k]\n"
    "               (let [there (remove nil? (map (fn [row] (get row k)) table))\n"
    "                     kinds (vec (distinct (map kind there)))\n"
    "                     ordered (contains? ordered? kinds)]\n"
    "                 {:column k :type (str/join \"|\" kinds)\n"
    "                  :nulls (- (count table) (count there))\n"
    "                  :distinct (count (distinct there))\n"
    "                  :min (when ordered (most there neg?))\n"
    "                  :max (when ordered (most there pos?))}))]\n"
    "  {\"rows\" (count all) \"columns\" (mapv column (distinct (mapcat keys table)))\n"
    "   \"first\" (vec (take 5 all))})";

bool ptc_summary_program(PtcBuf *out, const char *name)
{
    return ptc_buf_addf(out, "%sdata/%s%s", begin, name ? name : "data", rest) && ptc_buf_ok(out);
}

static PtcValue summary_part(PtcOutcome *o, const char *name)
{
    return ptc_map_field(&o->heap, o->value, name);
}

static int refuse_summary(const PtcWhy *why)
{
    ptc_io_printf(PTC_IO_STDERR, "error: %s\n", why->text);
    return PTC_EXIT_FAILED;
}

static int write_summary_tables(const PtcDataOut *how, PtcOutcome *o, const char *title)
{
    PtcBuf out;
    PtcWhy why;
    PtcValue columns = summary_part(o, "columns"), first = summary_part(o, "first");
    int64_t rows = ptc_to_int(summary_part(o, "rows"));
    size_t count = ptc_seq_count(columns);
    ptc_outcome_refresh(o);
    ptc_buf_init(&out, &o->ptc->mem, (size_t)o->limits.result_bytes);
    ptc_why_say(&why, PTC_WHY_NO_MEMORY, "the summary does not fit in memory");
    ptc_shown_add(&out, title, strlen(title));
    ptc_buf_addf(&out, ": %lld row%s, %zu column%s\n", (long long)rows, rows == 1 ? "" : "s", count,
                 count == 1 ? "" : "s");
    bool ok = rows == 0 || (ptc_buf_add_char(&out, '\n') &&
                            ptc_rows_out_table(o, columns, 0, &out, how->colour, &why) &&
                            ptc_buf_addf(&out, "\nfirst %zu:\n", ptc_seq_count(first)) &&
                            ptc_rows_out_table(o, first, 0, &out, how->colour, &why));
    int status = ok ? PTC_EXIT_OK : refuse_summary(&why);
    if (ok && !ptc_io_write(PTC_IO_STDOUT, out.data, out.len))
        status = PTC_EXIT_FAILED;
    ptc_buf_deinit(&out);
    return status;
}

/* One object with a prompt may be meant to be run. */
static void advise_agent(PtcOutcome *o, const char *title)
{
    PtcValue first = summary_part(o, "first");
    if (ptc_seq_count(first) == 1 && ptc_is_map(ptc_seq_nth(first, 0)) &&
        ptc_map_field(&o->heap, ptc_seq_nth(first, 0), "prompt") != PTC_NONE)
        ptc_io_printf(PTC_IO_STDERR, "note: an agent is run with ptc run %.200s\n", title);
}

int ptc_summary_write(const PtcDataOut *how, PtcOutcome *o, const char *title)
{
    advise_agent(o, title);
    switch (how->format) {
    case PTC_FORMAT_TABLE: return write_summary_tables(how, o, title);
    case PTC_FORMAT_JSONL:
    case PTC_FORMAT_CSV:
    case PTC_FORMAT_TSV:
    case PTC_FORMAT_MARKDOWN: o->value = summary_part(o, "columns"); break;
    default: break;
    }
    return ptc_data_out_write(how, o);
}

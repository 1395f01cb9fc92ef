/* SPDX-License-Identifier: MIT
 * All tables of builtins, in the order that gives them their numbers.  Some are of the kernel: those that the VM itself
 * needs. */
#include "lisp/lib/builtins.h"

#include <pthread.h>

#include "lisp/lib/seq/sorted_colls.h"
#include "lisp/vm/registry.h"

/* clang-format off */
#define TABLES(X) \
    X(ptc_lib_num) X(ptc_lib_compare) \
    X(ptc_lib_math) X(ptc_lib_math_double) \
    X(ptc_lib_num_cast) X(ptc_lib_decimals) \
    X(ptc_lib_random) X(ptc_lib_array) \
    X(ptc_lib_diff) X(ptc_lib_pred) \
    X(ptc_lib_ident) X(ptc_lib_parse_scalar) \
    X(ptc_lib_seq) X(ptc_lib_seq_call) \
    X(ptc_lib_seq_part) X(ptc_lib_produce) \
    X(ptc_lib_force) X(ptc_lib_lazy_seq) \
    X(ptc_lib_xform) X(ptc_lib_sort) \
    X(ptc_lib_group) X(ptc_lib_statistics) X(ptc_lib_queue) X(ptc_lib_maps) \
    X(ptc_lib_set) X(ptc_lib_string) \
    X(ptc_lib_string_case) X(ptc_lib_format) \
    X(ptc_lib_output) X(ptc_lib_fn) \
    X(ptc_lib_cells) X(ptc_lib_types) \
    X(ptc_lib_protocols) X(ptc_lib_multi) \
    X(ptc_lib_hierarchy) X(ptc_lib_parallel) \
    X(ptc_lib_tree) X(ptc_lib_tree_seq) X(ptc_lib_core) \
    X(ptc_lib_agent) X(ptc_lib_servers) \
    X(ptc_lib_regex) X(ptc_lib_matcher) \
    X(ptc_lib_zip) X(ptc_lib_pprint) X(ptc_lib_reducing) \
    X(ptc_lib_except) X(ptc_lib_json) \
    X(ptc_lib_edn) X(ptc_lib_discover) \
    X(ptc_lib_discover_search) X(ptc_lib_forms) \
    X(ptc_lib_sorted_colls) X(ptc_lib_relation) \
    X(ptc_lib_transient) X(ptc_lib_time_make) \
    X(ptc_lib_time_method) X(ptc_lib_time_span) \
    X(ptc_lib_time_period) X(ptc_lib_time_zone) \
    X(ptc_lib_time_clock) X(ptc_lib_time_adjust) \
    X(ptc_lib_interop) X(ptc_lib_interop_class) \
    X(ptc_lib_interop_number) X(ptc_lib_class) \
    X(ptc_lib_prelude_help) X(ptc_lib_csv_rows)
/* clang-format on */

#define DECLARE(name) extern const PtcBuiltin *const name[];
TABLES(DECLARE)
#undef DECLARE

static const PtcBuiltin *const *const tables[] = {
#define REGISTRY_ENTRY(name) name,
    TABLES(REGISTRY_ENTRY)
#undef REGISTRY_ENTRY
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void hand_builtins_over(void)
{
    ptc_registry_fill(tables, sizeof tables / sizeof tables[0]);
    ptc_sorted_ready();
}

void ptc_builtins_ready(void)
{
    pthread_once(&once, hand_builtins_over);
}

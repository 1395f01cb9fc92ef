/* SPDX-License-Identifier: MIT
 * The names of clojure.core that are left out.  All rows are one constant text without a pointer in it, so that the
 * table costs a process nothing before a name is looked for. */
#include "lisp/analyze/left_out.h"

#include <string.h>

/* F: a form, f: functions and vars; then kind, hint and names, each ended by a NUL. */
#define LEFT_OUT_FORM(kind, hint, names) "F" kind "\0" hint "\0 " names " \0"
#define LEFT_OUT_PLAIN(kind, hint, names) "f" kind "\0" hint "\0 " names " \0"

/* clang-format off */
static const char table[] =
    LEFT_OUT_FORM("refs and agents", "keep state in an atom, or pass it through loop/recur or reduce",
         "ref ref-set alter commute ensure dosync sync io! ref-history-count ref-max-history "
         "ref-min-history")
    LEFT_OUT_FORM("refs and agents", "there are no agents: use an atom, changed with swap!",
         "agent send send-off send-via agent-error agent-errors await await-for await1 "
         "clear-agent-errors error-handler error-mode release-pending-sends restart-agent "
         "set-agent-send-executor! set-agent-send-off-executor! set-error-handler! set-error-mode! "
         "shutdown-agents *agent*")
    LEFT_OUT_PLAIN("watches", "nothing is called when a value changes: call the function where you change it",
         "add-watch remove-watch set-validator! get-validator add-tap remove-tap tap>")
    LEFT_OUT_FORM("threads", "use (pmap f coll) or (pcalls f g) to do several things at once",
         "future future-call future-cancel future-cancelled? future-done? future? promise deliver "
         "pvalues seque")
    LEFT_OUT_FORM("threads", "nothing needs a lock: leave it out and write the body alone",
         "locking monitor-enter monitor-exit")
    LEFT_OUT_FORM("dynamic vars", "there are no dynamic vars: pass the value as an argument",
         "binding with-bindings with-bindings* with-local-vars with-redefs with-redefs-fn bound-fn "
         "bound-fn* push-thread-bindings pop-thread-bindings get-thread-bindings thread-bound? set!")
    LEFT_OUT_FORM("dynamic vars", "bind names with let or def: (let [x 1] ...); #'x is the var of x", "var")
    LEFT_OUT_PLAIN("dynamic vars", "names are bound with let and def, and stay as they are",
         "alter-var-root var-get var-set var? bound? find-var intern alter-meta! reset-meta!")
    LEFT_OUT_PLAIN("dynamic vars", "printing and reading have no settings: format the value yourself",
         "*print-dup* *print-length* *print-level* *print-meta* *print-namespace-maps* "
         "*print-readably* *flush-on-newline* *data-readers* *default-data-reader-fn* "
         "default-data-readers *read-eval* *reader-resolver* *suppress-read* *math-context*")
    LEFT_OUT_PLAIN("dynamic vars", "only a script has arguments: ptc SCRIPT ARGUMENTS", "*command-line-args*")
    LEFT_OUT_PLAIN("dynamic vars", "there is no compiler to talk to: leave it out",
         "*allow-unresolved-vars* *assert* *clojure-version* *compile-files* "
         "*compile-path* *compiler-options* *e *file* *fn-loader* *source-path* *unchecked-math* "
         "*use-context-classloader* *verbose-defrecords* *warn-on-reflection*")
    LEFT_OUT_FORM("macros", "there are no macros: write a function with defn",
         "defmacro definline macroexpand macroexpand-1 destructure")
    LEFT_OUT_PLAIN("macros", "it has a meaning only inside a syntax quote: `(a ~b ~@c)",
         "unquote unquote-splicing")
    LEFT_OUT_PLAIN("macros", "programs cannot evaluate text: build the value with functions",
         "eval load-string load-reader compile")
    LEFT_OUT_PLAIN("macros", "write let, fn, loop, letfn, case, import, deftype or reify without the star",
         "let* fn* loop* letfn* case* import* deftype* reify*")
    LEFT_OUT_PLAIN("namespaces", "a program is one namespace: use its names, and (dir 'ns) to list others",
         "alias all-ns create-ns find-ns in-ns ns-aliases ns-imports ns-interns ns-map ns-name "
         "ns-refers ns-resolve ns-unalias ns-unmap refer refer-clojure remove-ns requiring-resolve "
         "resolve the-ns loaded-libs load *ns* with-loading-context test")
    LEFT_OUT_PLAIN("files and input", "programs cannot reach files: data comes as data/NAME or from tools",
         "slurp file-seq load-file add-classpath")
    LEFT_OUT_FORM("files and input", "programs cannot reach files: data comes as data/NAME or from tools",
         "with-open")
    LEFT_OUT_PLAIN("files and input", "programs cannot write files: return the value, or give it to a tool",
         "spit")
    LEFT_OUT_PLAIN("files and input", "programs have no input but data/ and tools; (read-string s) reads text",
         "read read+string read-line *in*")
    LEFT_OUT_FORM("files and input", "programs have no input: use (read-string s) or (split-lines s)",
         "with-in-str")
    LEFT_OUT_PLAIN("files and input", "what a program prints goes to the run's output and nowhere else",
         "*out* *err* PrintWriter-on")
    LEFT_OUT_PLAIN("files and input", "use (split-lines text)", "line-seq")
    LEFT_OUT_FORM("time", "(time x) gives x and no more: programs cannot measure time", "time")
    LEFT_OUT_PLAIN("arrays", "values do not change here: use (assoc v i x), or build the vector with reduce",
         "aset aset-boolean aset-byte aset-char aset-double aset-float aset-int aset-long aset-short "
         "make-array to-array-2d")
    LEFT_OUT_FORM("arrays", "use map or reduce on the vector", "amap areduce")
    LEFT_OUT_PLAIN("arrays", "arrays are vectors here: leave the conversion out, or use vec",
         "booleans bytes chars doubles floats ints longs shorts vector-of")
    LEFT_OUT_FORM("Java classes", "there are no classes to extend: use maps and functions, or reify",
         "proxy proxy-super definterface gen-class gen-interface")
    LEFT_OUT_PLAIN("Java classes", "there are no classes to extend: use maps and functions",
         "construct-proxy get-proxy-class init-proxy proxy-call-with-super proxy-mappings proxy-name "
         "update-proxy bases supers primitives-classnames method-sig")
    LEFT_OUT_PLAIN("Java classes", "objects are data already: use the map or the sequence itself",
         "bean enumeration-seq iterator-seq resultset-seq Throwable->map StackTraceElement->vec")
    LEFT_OUT_PLAIN("ratios", "there are no ratios: / gives an integer or a float, and 1.5M is a decimal",
         "numerator denominator rationalize")
    LEFT_OUT_FORM("structs", "use a plain map, or a function that makes one", "defstruct")
    LEFT_OUT_PLAIN("structs", "use a plain map, or a function that makes one",
         "struct struct-map create-struct accessor")
    LEFT_OUT_PLAIN("printing by type", "use pr-str, or a function of your own that makes the text",
         "print-method print-dup print-ctor print-simple char-escape-string char-name-string")
    LEFT_OUT_PLAIN("XML", "use (tree-seq map? :content root)", "xml-seq")
    LEFT_OUT_PLAIN("hashes", "a hash differs from run to run: use the value itself as a key, or compare with =",
         "hash hash-combine hash-ordered-coll hash-unordered-coll mix-collection-hash")
    LEFT_OUT_PLAIN("reader", "tags and reader conditionals are not data here: write #inst or #uuid, or a map",
         "tagged-literal tagged-literal? reader-conditional reader-conditional?")
    LEFT_OUT_PLAIN("internals", "use map, filter and reduce: programs do not see how sequences are cut into chunks",
         "chunk chunk-append chunk-buffer chunk-cons chunk-first chunk-next chunk-rest chunked-seq? "
         "->ArrayChunk ->Vec ->VecNode ->VecSeq EMPTY-NODE ->Eduction")
    LEFT_OUT_PLAIN("internals", "Clojure uses it internally: programs do not need it",
         "-cache-protocol-fn -reset-methods Inst inst-ms* find-keyword find-protocol-impl "
         "find-protocol-method munge namespace-munge seq-to-map-for-destructuring");
/* clang-format on */

/* The row at *at, which moves behind it; false at the end. */
static bool next_left_out_row(size_t *at, PtcLeftOut *out)
{
    if (*at + 1 >= sizeof table)
        return false;
    const char *p = table + *at;
    out->form = *p++ == 'F';
    out->kind = p;
    out->hint = out->kind + strlen(out->kind) + 1;
    out->names = out->hint + strlen(out->hint) + 1;
    *at = (size_t)(out->names + strlen(out->names) + 1 - table);
    return true;
}

static bool lists_left_out_name(const char *names, PtcText name)
{
    for (const char *p = names; (p = strchr(p, ' ')) != NULL && p[1]; p++)
        if (strncmp(p + 1, name.bytes, name.len) == 0 && p[1 + name.len] == ' ')
            return true;
    return false;
}

bool ptc_left_out_find(PtcText name, PtcLeftOut *out)
{
    if (name.len == 0 || memchr(name.bytes, ' ', name.len) || memchr(name.bytes, 0, name.len))
        return false;
    for (size_t at = 0; next_left_out_row(&at, out);)
        if (lists_left_out_name(out->names, name))
            return true;
    return false;
}

static bool name_contains_text(PtcText name, PtcText text)
{
    for (size_t i = 0; i + text.len <= name.len; i++)
        if (memcmp(name.bytes + i, text.bytes, text.len) == 0)
            return true;
    return false;
}

bool ptc_left_out_search(PtcText text, size_t i, PtcText *name, PtcLeftOut *out)
{
    for (size_t at = 0; text.len > 0 && next_left_out_row(&at, out);)
        for (const char *p = out->names + 1; *p; p += name->len + 1) {
            *name = (PtcText){p, strcspn(p, " ")};
            if (name_contains_text(*name, text) && i-- == 0)
                return true;
        }
    return false;
}

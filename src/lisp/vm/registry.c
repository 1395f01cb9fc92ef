/* SPDX-License-Identifier: MIT
 * The table of all builtins, made once from the rows that the library hands over and constant from then on. */
#include "lisp/vm/registry.h"

#include <stdio.h>

#include "base/ascii.h"
#include "lisp/dispatch/class.h"
#include "value/str.h"

enum { HASH_SIZE = 8192 };

static const PtcBuiltin *rows[PTC_BUILTIN_MAX];
static uint16_t index_table[HASH_SIZE]; /* row + 1, or 0; rows of one name follow each other */
static size_t row_count;
static uint16_t op_rows[PTC_OP_COUNT];
static uint8_t fuses[PTC_BUILTIN_MAX]; /* PtcFuse */

/* Prefixes that may stand before a name, and the namespace they mean.  Not pointers: a start would relocate each. */
static const struct {
    char prefix[20], ns[20];
} namespaces[] = {
    {"clojure.core", "clojure.core"},
    {"core", "clojure.core"},
    {"clojure.string", "clojure.string"},
    {"str", "clojure.string"},
    {"string", "clojure.string"},
    {"clojure.set", "clojure.set"},
    {"set", "clojure.set"},
    {"clojure.walk", "clojure.walk"},
    {"walk", "clojure.walk"},
    {"regex", "regex"},
    {"Math", "Math"},
    {"StrictMath", "Math"},
    {"clojure.math", "clojure.math"},
    {"math", "clojure.math"},
    {"System", "System"},
    {"Integer", "Integer"},
    {"Long", "Long"},
    {"Double", "Double"},
    {"Float", "Float"},
    {"Boolean", "Boolean"},
    {"LocalDate", "LocalDate"},
    {"Instant", "Instant"},
    {"Duration", "Duration"},
    {"Period", "Period"},
    {"json", "json"},
    {"csv", "csv"},
    {"cheshire", "cheshire.core"},
    {"cheshire.core", "cheshire.core"},
    {"clojure.data.json", "clojure.data.json"},
    {"clojure.pprint", "clojure.pprint"},
    {"pprint", "clojure.pprint"},
    {"pp", "clojure.pprint"},
    {"clojure.data", "clojure.data"},
    {"clojure.zip", "clojure.zip"},
    {"zip", "clojure.zip"},
    {"clojure.edn", "clojure.edn"},
    {"edn", "clojure.edn"},
    {"budget", "budget"},
    {"tool", "tool"},
    {"LocalDateTime", "LocalDateTime"},
    {"DayOfWeek", "DayOfWeek"},
    {"Month", "Month"},
    {"ZoneOffset", "ZoneOffset"},
    {"ChronoUnit", "ChronoUnit"},
    {"ChronoField", "ChronoField"},
    {"IsoFields", "IsoFields"},
    {"WeekFields", "WeekFields"},
    {"TemporalAdjusters", "TemporalAdjusters"},
    {"LocalTime", "LocalTime"},
    {"OffsetDateTime", "OffsetDateTime"},
    {"ZonedDateTime", "ZonedDateTime"},
    {"ZoneId", "ZoneId"},
    {"YearMonth", "YearMonth"},
    {"Year", "Year"},
    {"DateTimeFormatter", "DateTimeFormatter"},
    {"Short", "Short"},
    {"Byte", "Byte"},
    {"UUID", "UUID"},
    {"BigDecimal", "BigDecimal"},
    {"RoundingMode", "RoundingMode"},
    {"Character", "Character"},
    {"String", "String"},
};

static uint64_t word_at(const char *s, size_t len)
{
    uint64_t word = 0;
    memcpy(&word, s, len);
    return word;
}

/* Computed for every row at every start, so it looks at the length and at the first and last eight bytes only. */
static uint32_t name_hash(const char *s, size_t len)
{
    uint64_t h = len;
    if (len >= 8)
        h += word_at(s, 8) ^ word_at(s + len - 8, 8) * 0x9e3779b97f4a7c15u;
    else if (len >= 4)
        h += word_at(s, 4) ^ word_at(s + len - 4, 4) << 32;
    else if (len > 0)
        h += word_at(s, 1) ^ word_at(s + len / 2, 1) << 8 ^ word_at(s + len - 1, 1) << 16;
    return (uint32_t)(h * 0x9e3779b97f4a7c15u >> 40);
}

static void add_builtin_row(const PtcBuiltin *row)
{
    if (row_count == PTC_BUILTIN_MAX)
        return;
    uint32_t at = name_hash(row->name, row->name_len) % HASH_SIZE;
    while (index_table[at])
        at = (at + 1) % HASH_SIZE;
    rows[row_count++] = row;
    index_table[at] = (uint16_t)row_count;
}

static bool row_has_name(const PtcBuiltin *row, const char *name, size_t len)
{
    return row->name_len == len && memcmp(row->name, name, len) == 0;
}

/* Rows of Java classes need their prefix, and so do those whose names mean something else without it. */
static bool has_bare_name(const PtcBuiltin *row)
{
    static const char prefixed[][20] = {
        "json",        "budget",       "tool",       "cheshire.core", "clojure.data.json",
        "clojure.edn", "clojure.math", "clojure.zip"};
    bool bare = ptc_ascii_is_lower(row->ns[0]);
    for (size_t i = 0; bare && i < sizeof prefixed / sizeof prefixed[0]; i++)
        bare = strcmp(row->ns, prefixed[i]) != 0;
    return bare || row->name[0] == '.';
}

/* The row of this name in namespace ns; NULL: any that may be named bare, clojure.core first. */
static int find_builtin_row(const char *ns, const char *name, size_t len, bool hidden)
{
    int best = -1;
    for (uint32_t at = name_hash(name, len) % HASH_SIZE; index_table[at];
         at = (at + 1) % HASH_SIZE) {
        int i = index_table[at] - 1;
        const PtcBuiltin *row = rows[i];
        if (!row_has_name(row, name, len) || hidden != ((row->flags & PTC_B_HIDDEN) != 0) ||
            row->flags & PTC_B_FORM)
            continue;
        if (strcmp(row->ns, ns ? ns : "clojure.core") == 0)
            return i;
        if (!ns && best < 0 && (hidden || has_bare_name(row)))
            best = i;
    }
    return best;
}

/* Builtins with instructions of their own: the one whose slow path and messages they share. */
static const struct {
    PtcFuse fuse;
    PtcOp op;
    const char *name;
} fused[] = {
    {PTC_FUSE_ADD, PTC_OP_ADD, "+"},      {PTC_FUSE_SUB, PTC_OP_SUB, "-"},
    {PTC_FUSE_MUL, PTC_OP_MUL, "*"},      {PTC_FUSE_LT, PTC_OP_LT, "<"},
    {PTC_FUSE_LE, PTC_OP_LE, "<="},       {PTC_FUSE_GT, PTC_OP_GT, ">"},
    {PTC_FUSE_GE, PTC_OP_GE, ">="},       {PTC_FUSE_EQ, PTC_OP_EQ, "="},
    {PTC_FUSE_MOD, PTC_OP_MOD, "mod"},    {PTC_FUSE_REM, PTC_OP_REM, "rem"},
    {PTC_FUSE_QUOT, PTC_OP_QUOT, "quot"}, {PTC_FUSE_NE, PTC_OP_NE, "not="},
    {PTC_FUSE_NOT, PTC_OP_NOT, "not"},    {PTC_FUSE_NIL, PTC_OP_ISNIL, "nil?"},
    {PTC_FUSE_INC, PTC_OP_ADDI, "inc"},   {PTC_FUSE_DEC, PTC_OP_ADDI, "dec"},
    {PTC_FUSE_GET, PTC_OP_KEYGET, "get"},
};

void ptc_registry_fill(const PtcBuiltin *const *const *tables, size_t count)
{
    for (size_t t = 0; t < count; t++)
        for (const PtcBuiltin *const *row = tables[t]; *row; row++)
            add_builtin_row(*row);
    for (size_t i = 0; i < sizeof fused / sizeof fused[0]; i++) {
        int row = find_builtin_row("clojure.core", fused[i].name, strlen(fused[i].name), false);
        if (row < 0)
            continue;
        op_rows[fused[i].op] = (uint16_t)row;
        fuses[row] = (uint8_t)fused[i].fuse;
    }
}

size_t ptc_builtin_count(void)
{
    return row_count;
}

const PtcBuiltin *ptc_builtin_row(uint32_t i)
{
    return rows[i];
}

uint32_t ptc_op_builtin(PtcOp op)
{
    return op_rows[op];
}

PtcFuse ptc_builtin_fuse(uint32_t i)
{
    return (PtcFuse)fuses[i];
}

const char *ptc_builtin_name(uint32_t i)
{
    return rows[i]->name;
}

static const char *canonical(const char *prefix, size_t len)
{
    for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
        if (ptc_text_is((PtcText){prefix, len}, namespaces[i].prefix))
            return namespaces[i].ns;
    PtcText simple = ptc_class_simple((PtcText){prefix, len});
    return simple.len < len ? canonical(simple.bytes, simple.len) : NULL;
}

const char *ptc_namespace_of(const char *prefix, size_t len)
{
    return canonical(prefix, len);
}

bool ptc_namespace_known(const char *prefix, size_t len)
{
    return canonical(prefix, len) != NULL;
}

const char *ptc_namespace_prefix(size_t i)
{
    return i < sizeof namespaces / sizeof namespaces[0] ? namespaces[i].prefix : NULL;
}

int ptc_builtin_find(const char *name, size_t len)
{
    if (len > 1 && name[0] == '%')
        return find_builtin_row(NULL, name + 1, len - 1, true);
    const char *slash = len > 1 ? memchr(name + 1, '/', len - 1) : NULL;
    if (!slash) {
        int row = find_builtin_row(NULL, name, len, false);
        if (row >= 0 || len == 0 || name[len - 1] != '.')
            return row;
        PtcText simple = ptc_class_simple((PtcText){name, len}); /* java.lang.Exception. */
        return simple.len < len ? find_builtin_row(NULL, simple.bytes, simple.len, false) : -1;
    }
    const char *ns = canonical(name, (size_t)(slash - name));
    size_t rest = len - (size_t)(slash + 1 - name);
    if (!ns)
        return -1;
    int row = find_builtin_row(ns, slash + 1, rest, false);
    /* The language keeps all plain functions in one namespace, so core/join is join. */
    if (row < 0 && strcmp(ns, "clojure.core") == 0)
        row = find_builtin_row(NULL, slash + 1, rest, false);
    return row;
}

bool ptc_row_is_java(const PtcBuiltin *row)
{
    return ptc_ascii_is_upper(row->ns[0]) || strncmp(row->ns, "java.", 5) == 0 ||
           row->name[0] == '.';
}

void ptc_row_ref(uint32_t index, char out[PTC_ROW_NAME])
{
    const PtcBuiltin *row = ptc_builtin_row(index);
    bool form = (row->flags & PTC_B_FORM) && !ptc_row_is_java(row);
    bool bare = form || ptc_builtin_find(row->name, strlen(row->name)) == (int)index;
    snprintf(out, PTC_ROW_NAME, "%s%s%s", bare ? "" : row->ns, bare ? "" : "/", row->name);
}

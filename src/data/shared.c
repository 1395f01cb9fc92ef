/* SPDX-License-Identifier: MIT
 * --data: files read once into a heap that never changes afterwards.  What always holds: after loading nothing in
 * that heap is written any more, not even a string's cached hash, so threads need no lock and forked workers keep
 * sharing its pages. */
#include "data/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/csv.h"
#include "json/parse.h"
#include "value/columns.h"
#include "value/map.h"
#include "value/str.h"
#include "value/vec.h"
#include "value/visit.h"

enum { NAMES = 64, NAME_BYTES = 64, COLUMNS_SHOWN = 24 };

typedef struct {
    char name[NAME_BYTES + 1];
    PtcValue key, value;
    size_t bytes;
} Named;

struct PtcShared {
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    Named items[NAMES];
    size_t count;
};

/* No limit: what is loaded here is the operator's own data, read once at the start. */
PtcShared *ptc_shared_new(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcShared *s = ptc_mem_alloc(&mem, sizeof *s);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    ptc_mem_init(&s->mem, SIZE_MAX / 2);
    ptc_pool_init(&s->pool, &s->mem);
    ptc_budget_init(&s->budget);
    ptc_heap_init(&s->heap, &s->pool, &s->budget, SIZE_MAX / 4);
    return s;
}

void ptc_shared_free(PtcShared *s)
{
    PtcMem mem;
    if (!s)
        return;
    ptc_heap_deinit(&s->heap);
    ptc_pool_deinit(&s->pool);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    atomic_store(&mem.used, sizeof *s);
    ptc_mem_free(&mem, s, sizeof *s);
}

size_t ptc_shared_bytes(const PtcShared *s)
{
    return s ? atomic_load(&((PtcShared *)(uintptr_t)s)->mem.used) : 0;
}

/* --------------------------------------------------------------------------------- reading */

/* data/NAME must be a symbol that a program can write. */
static bool good_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > NAME_BYTES || (name[0] >= '0' && name[0] <= '9'))
        return false;
    for (const char *p = name; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              *p == '-' || *p == '_'))
            return false;
    return true;
}

static bool read_all(int fd, char *to, size_t len)
{
    while (len > 0) {
        ssize_t n = read(fd, to, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        to += n;
        len -= (size_t)n;
    }
    return true;
}

/* The bytes of a file, in a block of *len + 1 from the ledger; NULL with a text in why. */
static char *read_file(PtcShared *s, const char *path, size_t *len, char *why, size_t size)
{
    struct stat st;
    char *bytes = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        snprintf(why, size, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        snprintf(why, size, "%s: it is not a file", path);
    } else {
        *len = (size_t)st.st_size;
        bytes = ptc_mem_alloc(&s->mem, *len + 1);
        if (bytes && !read_all(fd, bytes, *len)) {
            ptc_mem_free(&s->mem, bytes, *len + 1);
            bytes = NULL;
        }
        if (!bytes)
            snprintf(why, size, "%s: it cannot be read", path);
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

static PtcValue parse_json(PtcShared *s, const char *text, size_t len, char *why, size_t size)
{
    PtcJsonError error;
    PtcValue v = ptc_json_parse(&s->heap, text, len, &error);
    if (v == PTC_NONE)
        snprintf(why, size, "line %u, column %u: %s", (unsigned)error.line, (unsigned)error.column,
                 error.message);
    return v;
}

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

static PtcValue parse_jsonl(PtcShared *s, const char *text, size_t len, char *why, size_t size)
{
    PtcJsonError error;
    size_t line = 1;
    PtcValue rows = ptc_build_new(&s->heap);
    snprintf(why, size, "out of memory");
    for (const char *p = text, *end = text + len; rows != PTC_NONE && p < end; line++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((stop ? stop : end) - p);
        PtcValue v = is_blank(p, n) ? PTC_NIL : ptc_json_parse(&s->heap, p, n, &error);
        if (v == PTC_NONE) {
            snprintf(why, size, "line %zu, column %u: %s", line, (unsigned)error.column,
                     error.message);
            return PTC_NONE;
        }
        if (!is_blank(p, n) && !ptc_build_add(&s->heap, rows, v))
            return PTC_NONE;
        p += n + (stop != NULL);
    }
    return rows == PTC_NONE ? rows : ptc_build_done(&s->heap, rows, 0);
}

static PtcValue parse_csv(PtcShared *s, const char *text, size_t len, char *why, size_t size)
{
    PtcCsvError error;
    PtcValue v = ptc_csv_parse(&s->heap, text, len, &error);
    if (v == PTC_NONE && error.column)
        snprintf(why, size, "line %zu, column %zu: %s", error.line, error.column, error.message);
    else if (v == PTC_NONE && error.line)
        snprintf(why, size, "line %zu: %s", error.line, error.message);
    else if (v == PTC_NONE)
        snprintf(why, size, "%s", error.message);
    return v;
}

typedef PtcValue Parser(PtcShared *s, const char *text, size_t len, char *why, size_t size);

/* By the ending of the name, because the content cannot always tell JSON Lines from JSON. */
static Parser *parser_for(const char *path)
{
    static const struct {
        const char *end;
        Parser *parser;
    } kinds[] = {{".json", parse_json},
                 {".jsonl", parse_jsonl},
                 {".ndjson", parse_jsonl},
                 {".csv", parse_csv},
                 {".tsv", parse_csv}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(dot, kinds[i].end) == 0)
            return kinds[i].parser;
    return NULL;
}

/* Computes the hash of every string now; it would otherwise be written when first asked for, and unshare the page. */
static bool settle(PtcShared *s, PtcValue value)
{
    PtcWalk walk;
    PtcFrame *top;
    PtcValue v;
    ptc_walk_init(&walk, &s->heap);
    bool ok = !ptc_visit_can(value) || ptc_visit_begin(&walk, value);
    if (ptc_is_named(value))
        (void)ptc_str_hash(value);
    while (ok && (top = ptc_walk_top(&walk))) {
        if (ptc_visit_next(top, &v) == PTC_VISIT_END)
            walk.count--;
        else if (ptc_is_named(v))
            (void)ptc_str_hash(v);
        else if (ptc_visit_can(v))
            ok = ptc_visit_begin(&walk, v);
    }
    ptc_walk_deinit(&walk);
    return ok;
}

/* The size of an item is what the ledger grew by while it was loaded. */
static bool add(PtcShared *s, const char *name, PtcValue value, size_t before)
{
    Named *item = &s->items[s->count];
    item->key = ptc_str_new(&s->heap, name, strlen(name));
    if (item->key == PTC_NONE || !settle(s, value))
        return false;
    (void)ptc_str_hash(item->key);
    item->value = value;
    item->bytes = atomic_load(&s->mem.used) - before;
    snprintf(item->name, sizeof item->name, "%s", name);
    s->count++;
    return true;
}

static const Named *find(const PtcShared *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->items[i].name, name) == 0)
            return &s->items[i];
    return NULL;
}

bool ptc_shared_load(PtcShared *s, const char *name, const char *path, char *why, size_t size)
{
    char what[300] = "out of memory";
    size_t len, before = atomic_load(&s->mem.used);
    Parser *parse = parser_for(path);
    if (!good_name(name)) {
        snprintf(why, size,
                 "\"%.80s\" cannot be a name of data: use letters, digits, - and _, at "
                 "most %d, not beginning with a digit",
                 name, NAME_BYTES);
        return false;
    }
    if (find(s, name) || s->count == NAMES || !parse) {
        snprintf(why, size,
                 !parse ? "%s: the ending says what it is: .json, .jsonl, .ndjson, .csv or .tsv"
                 : find(s, name) ? "%s: there is already data of that name"
                                 : "%s: there are too many data files",
                 parse ? name : path);
        return false;
    }
    char *text = read_file(s, path, &len, why, size);
    if (!text)
        return false;
    PtcValue v = parse(s, text, len, what, sizeof what);
    ptc_mem_free(&s->mem, text, len + 1);
    bool ok = v != PTC_NONE && add(s, name, v, before);
    if (!ok)
        snprintf(why, size, "%s: %s", path, what);
    return ok;
}

/* ----------------------------------------------------------------------------------- using */

/* The call's own values are put last, so they win over shared ones of the same name. */
PtcValue ptc_shared_context(const PtcShared *s, PtcHeap *heap, PtcValue context)
{
    PtcDictBuild build;
    PtcValue key, value;
    if (!ptc_dict_build_init(&build, heap, false))
        return PTC_NONE;
    bool ok = true;
    for (size_t i = 0; i < s->count && ok; i++)
        ok = ptc_dict_build_put(&build, s->items[i].key, s->items[i].value);
    for (size_t pos = 0; ok && ptc_is_map(context) && ptc_map_next(context, &pos, &key, &value);)
        ok = ptc_dict_build_put(&build, key, value);
    if (ok)
        return ptc_dict_build_done(&build);
    ptc_dict_build_cancel(&build);
    return PTC_NONE;
}

/* ------------------------------------------------------------------------------ describing */

static bool is_awkward(PtcShared *s, PtcValue v)
{
    PtcColumns t;
    bool table = ptc_columns_see(&s->heap, &t, v);
    for (size_t i = 0; table && i < t.count && i < COLUMNS_SHOWN; i++)
        if (ptc_column_is_awkward(&t.items[i]))
            return true;
    return false;
}

static void add_item(PtcShared *s, PtcBuf *buf, const Named *item)
{
    PtcValue v = item->value;
    ptc_buf_addf(buf, "data/%s: ", item->name);
    if (!ptc_columns_write_line(&s->heap, buf, v, COLUMNS_SHOWN))
        ptc_buf_add_cstr(buf, ptc_is_string(v)   ? "a string"
                              : ptc_is_number(v) ? "a number"
                                                 : "a value");
    ptc_buf_add_char(buf, '\n');
}

void ptc_shared_describe(PtcShared *s, PtcBuf *buf, size_t max)
{
    size_t begin = buf->len, count = s ? s->count : 0;
    bool awkward = false;
    for (size_t i = 0; i < count; i++) {
        size_t before = buf->len;
        add_item(s, buf, &s->items[i]);
        if (buf->len - begin > max) {
            buf->len = before;
            ptc_buf_addf(buf, "and %zu more: (dir 'data)\n", count - i);
            break;
        }
        awkward = awkward || is_awkward(s, s->items[i].value);
    }
    if (awkward)
        ptc_buf_add_cstr(buf, "A name in quotes is not a keyword: (get row \"...\") reads it.\n");
}

bool ptc_shared_item(const PtcShared *s, size_t i, const char **name, size_t *count, size_t *bytes)
{
    if (!s || i >= s->count)
        return false;
    PtcValue v = s->items[i].value;
    *name = s->items[i].name;
    *count = ptc_is_sequential(v) ? ptc_seq_count(v) : ptc_is_map(v) ? ptc_map_count(v) : 1;
    *bytes = s->items[i].bytes;
    return true;
}

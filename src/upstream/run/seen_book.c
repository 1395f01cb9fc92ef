/* SPDX-License-Identifier: MIT
 * Shapes that were seen, and the sheet of them, the file seen.json or a record for each owner: {"about", "format",
 * "shapes": [{"server", "tool", "owner", "entry", "definition", "seen"}]}.  What always holds: owners are in it as
 * digests only, texts of it are cleaned before anybody gets them, and a file that is in another form is never written
 * over, only dropped when a person says so. */
#include "upstream/run/seen_book.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/budget.h"
#include "base/grow.h"
#include "base/os/shelf.h"
#include "base/text/hex.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/seen/seen.h"
#include "upstream/run/grants.h"
#include "value/coll/fields.h"
#include "value/scratch.h"

enum {
    SEEN_FORMAT = 1, /* files of another one are not read */
    SEEN_FILE_BYTES = 16 * PTC_MB,
    SEEN_HEAP_BYTES = 128 * PTC_MB,
    SEEN_NAME_BYTES = 1000, /* of a server or a tool */
    SEEN_LOCK_MS = 300,     /* whoever waits is a program; the next one tries again */
    SEEN_LOOK_MS = 1000,    /* at what others may have written to a store */
    SEEN_TURNS = 10,        /* of those who write at once */
    SEEN_OWNERS = 1000,
};

typedef struct {
    uint8_t owner[PTC_SHA256_BYTES], entry[PTC_SHA256_BYTES], definition[PTC_SHA256_BYTES];
    char *names; /* of the server, then of the tool */
    size_t server_len, tool_len;
    char *seen, *fresh; /* all that is known; what is not in the file yet, NULL: nothing */
    size_t seen_len, fresh_len;
    bool clean; /* `seen` was made here */
} SeenShape;

/* In the order of their last change. */
typedef struct {
    SeenShape *items;
    size_t count, cap;
} SeenShapes;

/* In a store what is unused for so long is over; and that it is used is said once a day. */
static const int64_t UNUSED_MS = (int64_t)30 * 24 * 3600 * 1000, DAY_NS = 24 * 3600 * PTC_S;

struct PtcSeenBook {
    PtcMem *mem;
    PtcShelf *shelf; /* NULL: nothing is kept */
    PtcSheet sheet;
    /* In a store each owner has a book, in the list of the one that was made; guarded by the lock of that. */
    PtcSeenBook *next, *books;
    size_t count;
    char *names; /* of the realm and the owner, each with its end */
    size_t names_size;
    /* It is held while the sheet is read and written in a store, by one thread at a time; who only reads does not wait
     * for it.  `lock` is taken inside. */
    pthread_mutex_t turn;
    /* It guards all below.  A file is read and written under it, a store is not.  No lock but those of secrets is
     * taken inside. */
    pthread_mutex_t lock;
    SeenShapes shapes;
    bool read, told, used;
    uint64_t adds; /* how often something was added */
    PtcSheetMark mark;
    int64_t looked_ns,
        said_ns;  /* the last look, and the last time that its use was said; 0: never */
    PtcWhy fault; /* why it cannot be used, if that is so */
};

/* ----------------------------------------------------------------------------------- shapes */

static void free_seen_text(PtcMem *mem, char **text, size_t *len)
{
    if (*text)
        ptc_mem_free(mem, *text, *len);
    *text = NULL;
    *len = 0;
}

static void free_shape(PtcMem *mem, SeenShape *s)
{
    free_seen_text(mem, &s->seen, &s->seen_len);
    free_seen_text(mem, &s->fresh, &s->fresh_len);
    ptc_mem_free(mem, s->names, s->server_len + s->tool_len);
}

static void free_shapes(PtcMem *mem, SeenShapes *all)
{
    for (size_t i = 0; i < all->count; i++)
        free_shape(mem, &all->items[i]);
    ptc_mem_free(mem, all->items, all->cap * sizeof *all->items);
    *all = (SeenShapes){0};
}

static PtcText server_of_shape(const SeenShape *s)
{
    return (PtcText){s->names, s->server_len};
}

static PtcText tool_of_shape(const SeenShape *s)
{
    return (PtcText){s->names + s->server_len, s->tool_len};
}

/* False: out of memory, and nothing has changed. */
static bool put_seen_text(PtcMem *mem, char **at, size_t *len, PtcText text)
{
    char *copy = ptc_mem_alloc(mem, text.len);
    if (!copy)
        return false;
    memcpy(copy, text.bytes, text.len);
    free_seen_text(mem, at, len);
    *at = copy;
    *len = text.len;
    return true;
}

/* One whose texts are not set yet, with the digests of `like`.  NULL: out of memory. */
static SeenShape *push_shape(PtcMem *mem, SeenShapes *all, const SeenShape *like, PtcText server,
                             PtcText tool)
{
    char *names = PTC_GROW(mem, &all->items, &all->cap, all->count + 1)
                      ? ptc_mem_alloc(mem, server.len + tool.len)
                      : NULL;
    if (!names)
        return NULL;
    memcpy(names, server.bytes, server.len);
    memcpy(names + server.len, tool.bytes, tool.len);
    SeenShape *s = &all->items[all->count++];
    *s = *like;
    s->names = names;
    s->server_len = server.len;
    s->tool_len = tool.len;
    return s;
}

static SeenShape *find_shape(SeenShapes *all, const SeenShape *like, PtcText server, PtcText tool)
{
    for (size_t i = 0; i < all->count; i++) {
        SeenShape *s = &all->items[i];
        if (memcmp(s->owner, like->owner, sizeof s->owner) == 0 &&
            memcmp(s->entry, like->entry, sizeof s->entry) == 0 &&
            ptc_text_same(tool_of_shape(s), tool) && ptc_text_same(server_of_shape(s), server))
            return s;
    }
    return NULL;
}

/* Puts it behind all others; the first goes when there are too many. */
static SeenShape *move_shape_last(PtcMem *mem, SeenShapes *all, SeenShape *s)
{
    SeenShape moved = *s;
    size_t at = (size_t)(s - all->items);
    memmove(s, s + 1, (all->count - at - 1) * sizeof *s);
    all->items[all->count - 1] = moved;
    if (all->count > PTC_SEEN_BOOK_MOST) {
        free_shape(mem, &all->items[0]);
        memmove(all->items, all->items + 1, --all->count * sizeof *s);
    }
    return &all->items[all->count - 1];
}

/* Adds `text` to one of its texts.  True: that is another one now. */
static bool merge_shape(PtcMem *mem, const PtcSecrets *secrets, char **at, size_t *len,
                        PtcText text)
{
    PtcBuf all;
    ptc_buf_init(&all, mem, PTC_SEEN_BYTES);
    PtcText before = {*at ? *at : "", *len};
    bool differs = ptc_seen_merge(mem, secrets, before, text, &all) &&
                   !ptc_text_same(ptc_buf_view(&all), before) &&
                   put_seen_text(mem, at, len, ptc_buf_view(&all));
    ptc_buf_deinit(&all);
    return differs;
}

/* Results of the tool as it is defined now were like `text` too. */
static bool add_to_shapes(PtcMem *mem, SeenShapes *all, const SeenShape *like, PtcText server,
                          PtcText tool, const PtcSecrets *secrets, PtcText text)
{
    SeenShape *s = find_shape(all, like, server, tool);
    if (!s && !(s = push_shape(mem, all, like, server, tool)))
        return false;
    if (memcmp(s->definition, like->definition, sizeof s->definition) != 0) {
        memcpy(s->definition, like->definition, sizeof s->definition);
        free_seen_text(mem, &s->seen, &s->seen_len);
        free_seen_text(mem, &s->fresh, &s->fresh_len);
    }
    if (!merge_shape(mem, secrets, &s->seen, &s->seen_len, text))
        return false;
    s->clean = true;
    (void)move_shape_last(mem, all, s);
    return true;
}

/* ------------------------------------------------------------------------------------- file */

/* Is the file another one than was read? */
static bool is_new_file(PtcSeenBook *b)
{
    PtcSheetMark now;
    return b->shelf->look(b->shelf, &b->sheet, &now) &&
           (!b->read || !ptc_sheet_same(&now, &b->mark));
}

static bool is_seen_name(PtcText name)
{
    return name.bytes && name.len > 0 && name.len <= SEEN_NAME_BYTES;
}

/* What is not as it should be is passed over.  False: out of memory. */
static bool read_shape_line(PtcMem *mem, PtcHeap *heap, PtcValue line, SeenShapes *all)
{
    SeenShape like = {0};
    if (!ptc_is_map(line) ||
        !ptc_hex_read(ptc_fields_text(heap, line, "owner"), like.owner, PTC_SHA256_BYTES) ||
        !ptc_hex_read(ptc_fields_text(heap, line, "entry"), like.entry, PTC_SHA256_BYTES) ||
        !ptc_hex_read(ptc_fields_text(heap, line, "definition"), like.definition, PTC_SHA256_BYTES))
        return true;
    PtcText server = ptc_fields_text(heap, line, "server"),
            tool = ptc_fields_text(heap, line, "tool"), seen = ptc_fields_text(heap, line, "seen");
    if (!is_seen_name(server) || !is_seen_name(tool) || !seen.bytes || seen.len == 0 ||
        seen.len > PTC_SEEN_BYTES || all->count >= PTC_SEEN_BOOK_MOST)
        return true;
    SeenShape *s = push_shape(mem, all, &like, server, tool);
    return s && put_seen_text(mem, &s->seen, &s->seen_len, seen);
}

static bool fail_seen_file(const PtcSeenBook *b, PtcWhy *why, const char *what)
{
    char place[PTC_SHELF_PATH];
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%.300s: %.200s",
                       b->shelf ? ptc_sheet_place(b->shelf, &b->sheet, place) : "seen.json", what);
}

/* Appends what a sheet has. */
static bool read_shapes(const PtcSeenBook *b, PtcText text, SeenShapes *all, PtcWhy *why)
{
    PtcScratch scratch;
    PtcJsonError error;
    bool ok = true;
    ptc_scratch_init(&scratch, b->mem, SEEN_HEAP_BYTES);
    PtcHeap *heap = &scratch.heap;
    PtcValue file = ptc_json_parse(heap, text.bytes, text.len, &error);
    PtcValue list = file != PTC_NONE && ptc_is_map(file) &&
                            ptc_fields_is(heap, file, "format", ptc_int(SEEN_FORMAT))
                        ? ptc_map_field(heap, file, "shapes")
                        : PTC_NONE;
    if (list == PTC_NONE || !ptc_is_sequential(list))
        ok = fail_seen_file(b, why,
                            "it is not in the form that ptc writes, and not used; "
                            "ptc upstreams forget begins anew");
    for (size_t i = 0; ok && i < ptc_fields_count(list); i++)
        if (!read_shape_line(b->mem, heap, ptc_seq_nth(list, i), all))
            ok = ptc_why_no_memory(why);
    ptc_scratch_deinit(&scratch);
    return ok;
}

/* Appends what the sheet has; one that is not there has nothing.  False: it cannot be used, and why says so. */
static bool read_seen_file(const PtcSeenBook *b, SeenShapes *all, PtcSheetMark *mark, PtcWhy *why)
{
    PtcBuf text;
    PtcWhy unread;
    ptc_buf_init(&text, b->mem, SEEN_FILE_BYTES);
    PtcSheetStatus status = b->shelf->read(b->shelf, &b->sheet, &text, mark, &unread);
    int error = errno;
    bool ok = status != PTC_SHEET_FAILED ||
              fail_seen_file(b, why, b->shelf->shared ? unread.text : strerror(error));
    if (status == PTC_SHEET_OK)
        ok = read_shapes(b, ptc_buf_view(&text), all, why);
    ptc_buf_deinit(&text);
    return ok;
}

static bool put_shapes(PtcBuf *out, const SeenShapes *all)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "about",
                        "what results of tools were like: names and types, no values; ptc "
                        "upstreams forget drops them");
    ptc_emit_field_int(out, "format", SEEN_FORMAT);
    ptc_emit_key(out, "shapes");
    ptc_emit_array(out);
    for (size_t i = 0; i < all->count; i++) {
        const SeenShape *s = &all->items[i];
        ptc_emit_object(out);
        ptc_emit_field_text(out, "server", server_of_shape(s));
        ptc_emit_field_text(out, "tool", tool_of_shape(s));
        ptc_emit_field_hex(out, "owner", s->owner, PTC_SHA256_BYTES);
        ptc_emit_field_hex(out, "entry", s->entry, PTC_SHA256_BYTES);
        ptc_emit_field_hex(out, "definition", s->definition, PTC_SHA256_BYTES);
        ptc_emit_field_text(out, "seen", (PtcText){s->seen ? s->seen : "any", s->seen_len});
        ptc_emit_object_end(out);
    }
    ptc_emit_array_end(out);
    return ptc_emit_object_end(out);
}

/* Writes these over what was read. */
static PtcSheetStatus write_shapes(const PtcSeenBook *b, const SeenShapes *all, PtcSheetMark *mark,
                                   PtcWhy *why)
{
    PtcBuf out;
    PtcWhy unwritten;
    PtcSheetStatus status = PTC_SHEET_FAILED;
    const PtcSheetWrite how = {.over = *mark, .idle_ms = UNUSED_MS, .line = true};
    ptc_buf_init(&out, b->mem, SEEN_FILE_BYTES);
    if (!put_shapes(&out, all))
        ptc_why_no_memory(why);
    else if ((status = b->shelf->write(b->shelf, &b->sheet, ptc_buf_view(&out), &how, mark,
                                       &unwritten)) == PTC_SHEET_FAILED)
        fail_seen_file(b, why, b->shelf->shared ? unwritten.text : strerror(errno));
    ptc_buf_deinit(&out);
    return status;
}

/* With the lock held: what is written becomes ours. */
static void take_written(PtcSeenBook *b, SeenShapes *all, const PtcSheetMark *mark)
{
    free_shapes(b->mem, &b->shapes);
    b->shapes = *all;
    *all = (SeenShapes){0};
    b->read = true;
    b->mark = *mark;
    ptc_why_init(&b->fault);
}

/* What is not in the file yet goes into `all`.  False: out of memory. */
static bool add_fresh_shapes(PtcSeenBook *b, SeenShapes *all)
{
    for (size_t i = 0; i < b->shapes.count; i++) {
        SeenShape *s = &b->shapes.items[i], like = {0};
        if (!s->fresh)
            continue;
        memcpy(like.owner, s->owner, sizeof like.owner);
        memcpy(like.entry, s->entry, sizeof like.entry);
        memcpy(like.definition, s->definition, sizeof like.definition);
        (void)add_to_shapes(b->mem, all, &like, server_of_shape(s), tool_of_shape(s), NULL,
                            (PtcText){s->fresh, s->fresh_len});
        SeenShape *now = find_shape(all, &like, server_of_shape(s), tool_of_shape(s));
        if (!now || !now->seen)
            return false;
    }
    return true;
}

static bool has_fresh_shapes(const PtcSeenBook *b)
{
    bool any = false;
    for (size_t i = 0; !any && i < b->shapes.count; i++)
        any = b->shapes.items[i].fresh != NULL;
    return any;
}

/* ------------------------------------------------------------------------------------- book */

PtcSeenBook *ptc_seen_book_new(PtcMem *mem, PtcShelf *shelf)
{
    PtcSeenBook *b = ptc_mem_alloc(mem, sizeof *b);
    if (!b)
        return NULL;
    memset(b, 0, sizeof *b);
    b->mem = mem;
    b->shelf = shelf;
    b->sheet = (PtcSheet){.kind = "shape",
                          .owner = PTC_TEXT(""),
                          .key = PTC_TEXT("-"),
                          .file = "seen.json",
                          .lock_file = "seen.lock"};
    pthread_mutex_init(&b->turn, NULL);
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

void ptc_seen_book_free(PtcSeenBook *b)
{
    if (!b)
        return;
    for (PtcSeenBook *other = b->books, *next; other; other = next) {
        next = other->next;
        ptc_seen_book_free(other);
    }
    free_shapes(b->mem, &b->shapes);
    pthread_mutex_destroy(&b->turn);
    pthread_mutex_destroy(&b->lock);
    if (b->names)
        ptc_mem_free(b->mem, b->names, b->names_size);
    ptc_mem_free(b->mem, b, sizeof *b);
}

static PtcSeenBook *new_book_of(PtcSeenBook *b, const char *realm, const char *owner)
{
    size_t realm_size = strlen(realm) + 1, owner_size = strlen(owner) + 1;
    PtcSeenBook *own = b->count < SEEN_OWNERS ? ptc_seen_book_new(b->mem, b->shelf) : NULL;
    if (!own)
        return NULL;
    own->names_size = realm_size + owner_size;
    if (!(own->names = ptc_mem_alloc(b->mem, own->names_size))) {
        ptc_seen_book_free(own);
        return NULL;
    }
    memcpy(own->names, realm, realm_size);
    memcpy(own->names + realm_size, owner, owner_size);
    own->sheet.key = *realm ? (PtcText){own->names, realm_size - 1} : PTC_TEXT("local");
    own->sheet.owner = (PtcText){own->names + realm_size, owner_size - 1};
    own->next = b->books;
    b->books = own;
    b->count++;
    return own;
}

/* In files all owners have one.  NULL: out of memory, or there are too many. */
static PtcSeenBook *book_of(PtcSeenBook *b, const char *realm, const char *owner)
{
    if (!b->shelf || !b->shelf->shared)
        return b;
    pthread_mutex_lock(&b->lock);
    PtcSeenBook *own = b->books;
    while (own && (strcmp(own->names, realm) != 0 ||
                   strcmp(own->names + strlen(own->names) + 1, owner) != 0))
        own = own->next;
    if (!own)
        own = new_book_of(b, realm, owner);
    pthread_mutex_unlock(&b->lock);
    return own;
}

/* With the lock held: what was read becomes ours; what was seen here stays on top of it. */
static bool take_read(PtcSeenBook *b, SeenShapes *now, const PtcSheetMark *mark)
{
    if (!add_fresh_shapes(b, now)) {
        free_shapes(b->mem, now);
        return false;
    }
    for (size_t i = 0; i < b->shapes.count; i++) {
        SeenShape *s = &b->shapes.items[i];
        SeenShape *kept =
            s->fresh ? find_shape(now, s, server_of_shape(s), tool_of_shape(s)) : NULL;
        if (!kept)
            continue;
        kept->fresh = s->fresh;
        kept->fresh_len = s->fresh_len;
        s->fresh = NULL;
    }
    free_shapes(b->mem, &b->shapes);
    b->shapes = *now;
    *now = (SeenShapes){0};
    b->mark = *mark;
    return true;
}

/* Of a file, with the lock held: reads it if it has to be. */
static bool refresh_shapes(PtcSeenBook *b)
{
    SeenShapes now = {0};
    PtcSheetMark mark;
    if (!b->shelf || b->shelf->shared || !is_new_file(b))
        return false;
    ptc_why_init(&b->fault);
    b->read = true;
    bool ok = read_seen_file(b, &now, &mark, &b->fault);
    b->mark = mark;
    if (ok)
        return take_read(b, &now, &mark);
    free_shapes(b->mem, &now);
    return false;
}

/* Of a store, with the turn: the lock is not held while that is asked. */
static bool refresh_from_store(PtcSeenBook *b)
{
    SeenShapes shapes = {0};
    PtcSheetMark mark;
    PtcWhy fault;
    int64_t now = ptc_clock_ns(NULL);
    pthread_mutex_lock(&b->lock);
    bool due = !b->looked_ns || now - b->looked_ns >= SEEN_LOOK_MS * PTC_MS;
    b->looked_ns = due ? now : b->looked_ns;
    pthread_mutex_unlock(&b->lock);
    if (!due || !is_new_file(b))
        return false;
    ptc_why_init(&fault);
    bool ok = read_seen_file(b, &shapes, &mark, &fault);
    pthread_mutex_lock(&b->lock);
    b->read = ok;
    b->fault = fault;
    ok = ok && take_read(b, &shapes, &mark);
    pthread_mutex_unlock(&b->lock);
    free_shapes(b->mem, &shapes);
    return ok;
}

bool ptc_seen_book_refresh(PtcSeenBook *book, const char *realm, const char *owner)
{
    PtcSeenBook *b = book_of(book, realm, owner);
    bool new = false;
    if (b && b->shelf && b->shelf->shared) {
        if (pthread_mutex_trylock(&b->turn) != 0) /* somebody is at it */
            return false;
        new = refresh_from_store(b);
        pthread_mutex_unlock(&b->turn);
    } else if (b) {
        pthread_mutex_lock(&b->lock);
        new = refresh_shapes(b);
        pthread_mutex_unlock(&b->lock);
    }
    return new;
}

bool ptc_seen_book_complains(PtcSeenBook *book, const char *realm, const char *owner, PtcWhy *why)
{
    PtcSeenBook *b = book_of(book, realm, owner);
    if (!b)
        return false;
    pthread_mutex_lock(&b->lock);
    bool tells = b->fault.class && !b->told;
    b->told = b->told || tells;
    if (tells)
        ptc_why_copy(why, &b->fault);
    pthread_mutex_unlock(&b->lock);
    return tells;
}

static SeenShape shape_like(PtcSeenOf of)
{
    SeenShape like = {0};
    ptc_grants_owner(of.realm, of.owner, like.owner);
    memcpy(like.entry, of.entry, sizeof like.entry);
    ptc_sha256(of.definition.bytes, of.definition.len, like.definition);
    return like;
}

bool ptc_seen_book_add(PtcSeenBook *book, PtcSeenOf of, const PtcSecrets *secrets, PtcText text)
{
    SeenShape like = shape_like(of);
    PtcSeenBook *b = book_of(book, of.realm, of.owner);
    if (!b || !is_seen_name(of.server) || !is_seen_name(of.tool))
        return false;
    pthread_mutex_lock(&b->lock);
    if (!b->read)
        (void)refresh_shapes(b);
    bool new = add_to_shapes(b->mem, &b->shapes, &like, of.server, of.tool, secrets, text);
    SeenShape *s = new ? find_shape(&b->shapes, &like, of.server, of.tool) : NULL;
    b->adds += new;
    if (s && b->shelf)
        (void)merge_shape(b->mem, secrets, &s->fresh, &s->fresh_len, text);
    pthread_mutex_unlock(&b->lock);
    return new;
}

/* Of a text that somebody else has written only what a result could have taught is left. */
static bool clean_shape(PtcMem *mem, SeenShape *s, const PtcSecrets *secrets)
{
    if (!s->clean)
        (void)merge_shape(mem, secrets, &s->seen, &s->seen_len, (PtcText){s->seen, s->seen_len});
    s->clean = true;
    return !ptc_text_is((PtcText){s->seen, s->seen_len}, "any");
}

bool ptc_seen_book_get(PtcSeenBook *book, PtcSeenOf of, const PtcSecrets *secrets, PtcBuf *out)
{
    SeenShape like = shape_like(of);
    PtcSeenBook *b = book_of(book, of.realm, of.owner);
    if (!b)
        return false;
    pthread_mutex_lock(&b->lock);
    if (!b->read)
        (void)refresh_shapes(b);
    SeenShape *s = find_shape(&b->shapes, &like, of.server, of.tool);
    bool known = s && s->seen &&
                 memcmp(s->definition, like.definition, sizeof like.definition) == 0 &&
                 clean_shape(b->mem, s, secrets) && ptc_buf_add(out, s->seen, s->seen_len);
    b->used = b->used || known;
    pthread_mutex_unlock(&b->lock);
    return known;
}

/* One turn: reads the sheet, puts what is new on top of it, writes it. */
static PtcSheetStatus try_to_keep(PtcSeenBook *b, PtcWhy *why)
{
    SeenShapes now = {0};
    PtcSheetMark mark;
    bool shared = b->shelf->shared;
    PtcSheetStatus status = PTC_SHEET_FAILED;
    bool ok = read_seen_file(b, &now, &mark, why);
    if (shared)
        pthread_mutex_lock(&b->lock);
    uint64_t adds = b->adds;
    if (ok && !add_fresh_shapes(b, &now))
        ok = ptc_why_no_memory(why);
    if (shared)
        pthread_mutex_unlock(&b->lock);
    if (ok)
        status = write_shapes(b, &now, &mark, why);
    if (shared)
        pthread_mutex_lock(&b->lock);
    if (status == PTC_SHEET_OK && b->adds == adds)
        take_written(b, &now, &mark);
    else if (status == PTC_SHEET_OK) /* more was seen meanwhile, which is still to be written */
        (void)take_read(b, &now, &mark);
    if (shared)
        pthread_mutex_unlock(&b->lock);
    free_shapes(b->mem, &now);
    return status;
}

/* In a file with the lock held, in a store with the turn. */
static bool keep_shapes(PtcSeenBook *b, PtcWhy *why)
{
    PtcSheetLock lock;
    PtcSheetStatus status = PTC_SHEET_CHANGED;
    if (!b->shelf->lock(b->shelf, &b->sheet, SEEN_LOCK_MS, &lock, why))
        return fail_seen_file(b, why, strerror(errno));
    for (int i = 0; status == PTC_SHEET_CHANGED && i < SEEN_TURNS; i++)
        status = try_to_keep(b, why);
    b->shelf->unlock(b->shelf, &lock);
    return status == PTC_SHEET_OK ||
           (status == PTC_SHEET_CHANGED && fail_seen_file(b, why, "others write it all the time"));
}

/* With the lock held: is there something to be written, or to be said to be used? */
static bool wants_keeping(PtcSeenBook *b)
{
    int64_t now = ptc_clock_ns(NULL);
    bool shared = b->shelf->shared;
    bool say = shared && b->used && (!b->said_ns || now - b->said_ns >= DAY_NS);
    bool wants = !b->fault.class && (say || has_fresh_shapes(b));
    if (wants && shared)
        b->said_ns = now;
    return wants;
}

bool ptc_seen_book_keep(PtcSeenBook *book, const char *realm, const char *owner, PtcWhy *why)
{
    PtcSeenBook *b = book_of(book, realm, owner);
    if (!b || !b->shelf)
        return true;
    pthread_mutex_lock(&b->lock);
    bool wants = wants_keeping(b), shared = b->shelf->shared;
    bool ok = !wants || shared || keep_shapes(b, why);
    pthread_mutex_unlock(&b->lock);
    if (wants && shared) {
        pthread_mutex_lock(&b->turn);
        ok = keep_shapes(b, why);
        pthread_mutex_unlock(&b->turn);
    }
    return ok;
}

/* ----------------------------------------------------------------------------------- people */

size_t ptc_seen_book_count(PtcSeenBook *book, PtcText server)
{
    size_t n = 0;
    PtcSeenBook *b = book_of(book, "", "");
    (void)ptc_seen_book_refresh(book, "", "");
    if (!b)
        return 0;
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < b->shapes.count; i++)
        n += ptc_text_same(server_of_shape(&b->shapes.items[i]), server);
    pthread_mutex_unlock(&b->lock);
    return n;
}

static size_t drop_shapes(PtcMem *mem, SeenShapes *all, PtcText server)
{
    size_t left = 0, before = all->count;
    for (size_t i = 0; i < before; i++) {
        if (!server.bytes || ptc_text_same(server_of_shape(&all->items[i]), server))
            free_shape(mem, &all->items[i]);
        else
            all->items[left++] = all->items[i];
    }
    all->count = left;
    return before - left;
}

/* One turn. */
static PtcSheetStatus try_to_forget(PtcSeenBook *b, PtcText server, size_t *count, PtcWhy *why)
{
    SeenShapes now = {0};
    PtcSheetMark mark = {{0}};
    PtcSheetStatus status = PTC_SHEET_FAILED;
    if (read_seen_file(b, &now, &mark, why) || !server.bytes) {
        *count = drop_shapes(b->mem, &now, server);
        status = write_shapes(b, &now, &mark, why);
    }
    if (status == PTC_SHEET_OK)
        take_written(b, &now, &mark);
    free_shapes(b->mem, &now);
    return status;
}

/* Nobody else uses the book of a person who asks for this, so the lock is held. */
bool ptc_seen_book_forget(PtcSeenBook *book, PtcText server, size_t *count, PtcWhy *why)
{
    PtcSheetLock lock;
    PtcSheetStatus status = PTC_SHEET_CHANGED;
    PtcSeenBook *b = book_of(book, "", "");
    *count = 0;
    if (!b)
        return ptc_why_no_memory(why);
    if (!b->shelf)
        return fail_seen_file(b, why, "there is no place for it: set HOME or XDG_STATE_HOME");
    pthread_mutex_lock(&b->lock);
    bool locked = b->shelf->lock(b->shelf, &b->sheet, SEEN_LOCK_MS, &lock, why);
    if (!locked)
        fail_seen_file(b, why, strerror(errno));
    for (int i = 0; locked && status == PTC_SHEET_CHANGED && i < SEEN_TURNS; i++)
        status = try_to_forget(b, server, count, why);
    if (locked)
        b->shelf->unlock(b->shelf, &lock);
    pthread_mutex_unlock(&b->lock);
    return locked && status == PTC_SHEET_OK;
}

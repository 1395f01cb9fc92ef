/* SPDX-License-Identifier: MIT
 * Shapes that were seen, and the file seen.json: {"about", "format", "shapes": [{"server", "tool", "owner", "entry",
 * "definition", "seen"}]}.  What always holds: owners are in it as digests only, texts of it are cleaned before anybody
 * gets them, and a file that is in another form is never written over, only dropped when a person says so. */
#include "upstream/run/seen_book.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/os/whole_file.h"
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
    SEEN_PATH_BYTES = 4200,
    SEEN_NAME_BYTES = 1000, /* of a server or a tool */
    SEEN_LOCK_MS = 300,     /* whoever waits is a program; the next one tries again */
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

struct PtcSeenBook {
    PtcMem *mem;
    char path[SEEN_PATH_BYTES], lock_path[SEEN_PATH_BYTES]; /* "": nothing is kept */
    /* It guards all below.  The file is read and written under it.  No lock but those of secrets is taken inside. */
    pthread_mutex_t lock;
    SeenShapes shapes;
    bool read, told;
    struct timespec time; /* of the file that was read */
    uint64_t inode, size;
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

static bool set_seen_path(char path[SEEN_PATH_BYTES], const char *dir, const char *name)
{
    int n = dir ? snprintf(path, SEEN_PATH_BYTES, "%s/%s", dir, name) : 0;
    if (n <= 0 || n >= SEEN_PATH_BYTES)
        path[0] = '\0';
    return path[0] != '\0';
}

/* Is the file another one than was read?  Notes which one it is now. */
static bool is_new_file(PtcSeenBook *b)
{
    struct stat st;
    if (stat(b->path, &st) != 0)
        st = (struct stat){0};
    bool same = b->read && st.st_mtim.tv_sec == b->time.tv_sec &&
                st.st_mtim.tv_nsec == b->time.tv_nsec && (uint64_t)st.st_ino == b->inode &&
                (uint64_t)st.st_size == b->size;
    b->time = st.st_mtim;
    b->inode = st.st_ino;
    b->size = (uint64_t)st.st_size;
    return !same;
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

static bool fail_seen_file(PtcWhy *why, const char *path, const char *what)
{
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%.300s: %.200s", path, what);
}

/* Appends what the file has; one that is not there has nothing.  False: it cannot be used, and why says so. */
static bool read_seen_file(const PtcSeenBook *b, SeenShapes *all, PtcWhy *why)
{
    PtcScratch scratch;
    PtcJsonError error;
    PtcBuf text;
    ptc_scratch_init(&scratch, b->mem, SEEN_HEAP_BYTES);
    ptc_buf_init(&text, b->mem, SEEN_FILE_BYTES);
    PtcHeap *heap = &scratch.heap;
    bool there = ptc_whole_file_read(b->path, &text), ok = there || errno == ENOENT;
    if (!ok)
        fail_seen_file(why, b->path, strerror(errno));
    PtcValue file =
        there ? ptc_json_parse(heap, text.data ? text.data : "", text.len, &error) : PTC_NONE;
    PtcValue list = there && file != PTC_NONE && ptc_is_map(file) &&
                            ptc_fields_is(heap, file, "format", ptc_int(SEEN_FORMAT))
                        ? ptc_map_field(heap, file, "shapes")
                        : PTC_NONE;
    if (there && (list == PTC_NONE || !ptc_is_sequential(list)))
        ok = fail_seen_file(why, b->path,
                            "it is not in the form that ptc writes, and not used; "
                            "ptc upstreams forget begins anew");
    for (size_t i = 0; ok && i < ptc_fields_count(list); i++)
        if (!read_shape_line(b->mem, heap, ptc_seq_nth(list, i), all))
            ok = ptc_why_no_memory(why);
    ptc_buf_deinit(&text);
    ptc_scratch_deinit(&scratch);
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

/* With both locks held; these shapes become ours. */
static bool write_seen_file(PtcSeenBook *b, SeenShapes *all, PtcWhy *why)
{
    PtcBuf out;
    ptc_buf_init(&out, b->mem, SEEN_FILE_BYTES);
    bool ok = put_shapes(&out, all) || ptc_why_no_memory(why);
    if (ok && !ptc_whole_file_put(b->path, ptc_buf_view(&out),
                                  (PtcWholeFile){.line = true, .dirs = true, .locked = true}))
        ok = fail_seen_file(why, b->path, strerror(errno));
    ptc_buf_deinit(&out);
    if (ok) {
        free_shapes(b->mem, &b->shapes);
        b->shapes = *all;
        b->read = true;
        ptc_why_init(&b->fault);
        (void)is_new_file(b);
    } else {
        free_shapes(b->mem, all);
    }
    return ok;
}

static int lock_seen_file(const PtcSeenBook *b, PtcWhy *why)
{
    int fd = ptc_whole_file_lock(b->lock_path, SEEN_LOCK_MS);
    if (fd < 0)
        fail_seen_file(why, b->path, strerror(errno));
    return fd;
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

PtcSeenBook *ptc_seen_book_new(PtcMem *mem, const char *state_dir)
{
    PtcSeenBook *b = ptc_mem_alloc(mem, sizeof *b);
    if (!b)
        return NULL;
    memset(b, 0, sizeof *b);
    b->mem = mem;
    if (!set_seen_path(b->path, state_dir, "seen.json") ||
        !set_seen_path(b->lock_path, state_dir, "seen.lock"))
        b->path[0] = '\0';
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

void ptc_seen_book_free(PtcSeenBook *b)
{
    if (!b)
        return;
    free_shapes(b->mem, &b->shapes);
    pthread_mutex_destroy(&b->lock);
    ptc_mem_free(b->mem, b, sizeof *b);
}

/* With the lock held: reads the file if it has to be; what was seen here stays on top of it. */
static bool refresh_shapes(PtcSeenBook *b)
{
    SeenShapes now = {0};
    if (!b->path[0] || !is_new_file(b))
        return false;
    ptc_why_init(&b->fault);
    b->read = true;
    if (!read_seen_file(b, &now, &b->fault) || !add_fresh_shapes(b, &now)) {
        free_shapes(b->mem, &now);
        return false;
    }
    for (size_t i = 0; i < b->shapes.count; i++) {
        SeenShape *s = &b->shapes.items[i];
        SeenShape *kept =
            s->fresh ? find_shape(&now, s, server_of_shape(s), tool_of_shape(s)) : NULL;
        if (!kept)
            continue;
        kept->fresh = s->fresh;
        kept->fresh_len = s->fresh_len;
        s->fresh = NULL;
    }
    free_shapes(b->mem, &b->shapes);
    b->shapes = now;
    return true;
}

bool ptc_seen_book_refresh(PtcSeenBook *b)
{
    pthread_mutex_lock(&b->lock);
    bool new = refresh_shapes(b);
    pthread_mutex_unlock(&b->lock);
    return new;
}

bool ptc_seen_book_complains(PtcSeenBook *b, PtcWhy *why)
{
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

bool ptc_seen_book_add(PtcSeenBook *b, PtcSeenOf of, const PtcSecrets *secrets, PtcText text)
{
    SeenShape like = shape_like(of);
    if (!is_seen_name(of.server) || !is_seen_name(of.tool))
        return false;
    pthread_mutex_lock(&b->lock);
    if (!b->read)
        (void)refresh_shapes(b);
    bool new = add_to_shapes(b->mem, &b->shapes, &like, of.server, of.tool, secrets, text);
    SeenShape *s = new ? find_shape(&b->shapes, &like, of.server, of.tool) : NULL;
    if (s && b->path[0])
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

bool ptc_seen_book_get(PtcSeenBook *b, PtcSeenOf of, const PtcSecrets *secrets, PtcBuf *out)
{
    SeenShape like = shape_like(of);
    pthread_mutex_lock(&b->lock);
    if (!b->read)
        (void)refresh_shapes(b);
    SeenShape *s = find_shape(&b->shapes, &like, of.server, of.tool);
    bool known = s && s->seen &&
                 memcmp(s->definition, like.definition, sizeof like.definition) == 0 &&
                 clean_shape(b->mem, s, secrets) && ptc_buf_add(out, s->seen, s->seen_len);
    pthread_mutex_unlock(&b->lock);
    return known;
}

/* With the lock held. */
static bool keep_shapes(PtcSeenBook *b, PtcWhy *why)
{
    SeenShapes now = {0};
    int fd = lock_seen_file(b, why);
    if (fd < 0)
        return false;
    bool ok = read_seen_file(b, &now, why);
    if (ok && !add_fresh_shapes(b, &now))
        ok = ptc_why_no_memory(why);
    if (ok)
        ok = write_seen_file(b, &now, why);
    else
        free_shapes(b->mem, &now);
    close(fd);
    return ok;
}

bool ptc_seen_book_keep(PtcSeenBook *b, PtcWhy *why)
{
    pthread_mutex_lock(&b->lock);
    bool ok = !b->path[0] || b->fault.class || !has_fresh_shapes(b) || keep_shapes(b, why);
    pthread_mutex_unlock(&b->lock);
    return ok;
}

/* ----------------------------------------------------------------------------------- people */

size_t ptc_seen_book_count(PtcSeenBook *b, PtcText server)
{
    size_t n = 0;
    pthread_mutex_lock(&b->lock);
    (void)refresh_shapes(b);
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

bool ptc_seen_book_forget(PtcSeenBook *b, PtcText server, size_t *count, PtcWhy *why)
{
    SeenShapes now = {0};
    *count = 0;
    if (!b->path[0])
        return fail_seen_file(why, "seen.json",
                              "there is no place for it: set HOME or XDG_STATE_HOME");
    pthread_mutex_lock(&b->lock);
    int fd = lock_seen_file(b, why);
    bool ok = fd >= 0 && (read_seen_file(b, &now, why) || !server.bytes);
    if (ok) {
        *count = drop_shapes(b->mem, &now, server);
        ok = write_seen_file(b, &now, why);
    } else {
        free_shapes(b->mem, &now);
    }
    if (fd >= 0)
        close(fd);
    pthread_mutex_unlock(&b->lock);
    return ok;
}

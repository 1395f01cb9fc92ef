/* SPDX-License-Identifier: MIT
 * Pins, in a file or a record of a store: {"format", "files": {FILE: {NAME: {"entry"?, "tools": {TOOL: {"digest",
 * "hints", "about", "at", "now"?}}}}}}.
 * `digest` is what was agreed to, `now` what was seen later.  What always holds: nothing that was agreed to is changed
 * without ptc_pins_approve, and a file that cannot be read is never written over. */
#define _GNU_SOURCE
#include "upstream/catalog/pins.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/budget.h"
#include "base/text/clean.h"
#include "json/emit.h"
#include "json/parse.h"
#include "value/calendar.h"
#include "value/coll/fields.h"

/* TOOLS: of one upstream, gone ones included, so that none can fill the file; further ones are not pinned. */
enum { PINS_TOOLS = 2 * PTC_CATALOG_TOOLS };
enum {
    PINS_FORMAT = 1,
    PINS_FILE_BYTES = 16 * PTC_MB,
    PINS_ABOUT_BYTES = 300,
    PINS_LOCK_MS = 5 * 1000,
    PINS_LOOK_MS = 1000, /* at what others may have written */
    PINS_TURNS = 50,     /* of those who write at once */
};

static const PtcSheet pins_sheet = {
    .kind = "pin",
    .owner = {"-", 1},
    .key = {"pins", 4},
    .file = "pins.json",
    .lock_file = "pins.lock",
};

/* What the file said when it was read. */
typedef struct {
    PtcScratch scratch;
    PtcValue root;
    PtcSheetMark mark;
    bool pending; /* a tool has changed, and nobody has approved that */
    PtcWhy fault; /* why it cannot be used, if that is so */
} Book;

struct PtcPins {
    PtcMem *mem;
    PtcShelf *shelf;
    char path[PTC_SHELF_PATH]; /* for people */
    /* It lets one thread of this process at a time read and write the file, and is held while it does; nobody waits
     * for it but who writes too.  `lock` is taken inside, never the other way round. */
    pthread_mutex_t write;
    /* It guards the book and `unkept`.  It is taken under the lock of the manager; the file is read under it when
     * it has changed, and never written; what is in a store is neither.  The lock of a listing is taken inside, for
     * digests. */
    pthread_mutex_t lock;
    Book *book;          /* NULL: not read yet */
    atomic_bool pending; /* of the book, or it has a fault: somebody may have mended it since */
    int64_t looked_ns;   /* at what others may have written */
    PtcWhy unkept;       /* why the book is not on disk as it is here, if that is so */
};

/* ------------------------------------------------------------------------------------- book */

static void free_book(PtcMem *mem, Book *book)
{
    if (!book)
        return;
    ptc_scratch_deinit(&book->scratch);
    ptc_mem_free(mem, book, sizeof *book);
}

static PtcValue empty_root(PtcHeap *heap)
{
    PtcValue root = ptc_fields_map(heap);
    ptc_fields_put(heap, &root, "format", ptc_int(PINS_FORMAT));
    ptc_fields_put(heap, &root, "files", ptc_fields_map(heap));
    return root;
}

static void parse_book(const PtcPins *p, Book *book, PtcText text)
{
    PtcJsonError error;
    PtcHeap *heap = &book->scratch.heap;
    PtcValue root = ptc_json_parse(heap, text.bytes, text.len, &error);
    PtcValue files = ptc_map_field(heap, root, "files");
    if (root != PTC_NONE && ptc_fields_is(heap, root, "format", ptc_int(PINS_FORMAT)) &&
        files != PTC_NONE && ptc_is_map(files))
        book->root = root;
    else
        ptc_why_say(
            &book->fault, PTC_WHY_UNAVAILABLE,
            "%.150s is not in the form that ptc writes; move it away to pin everything again",
            p->path);
}

/* Why the file was not read, and what helps. */
static void tell_unread(const PtcPins *p, Book *book, int why)
{
    struct stat st;
    bool plain = lstat(p->path, &st) != 0 || S_ISREG(st.st_mode);
    if (!plain)
        ptc_why_say(&book->fault, PTC_WHY_UNAVAILABLE,
                    "%.150s is not a plain file; move it away to pin everything again", p->path);
    else if (why == EPERM)
        ptc_why_say(&book->fault, PTC_WHY_UNAVAILABLE,
                    "%.150s may be written by others, or is not a file of yours: chmod 600 it",
                    p->path);
    else
        ptc_why_say(&book->fault, PTC_WHY_UNAVAILABLE, "%.150s: %s", p->path, strerror(why));
}

/* NULL: out of memory. */
static Book *read_book(const PtcPins *p)
{
    PtcBuf text;
    PtcWhy unread;
    Book *book = ptc_mem_alloc(p->mem, sizeof *book);
    if (!book)
        return NULL;
    memset(book, 0, sizeof *book);
    ptc_scratch_init(&book->scratch, p->mem, 8 * PINS_FILE_BYTES);
    book->root = empty_root(&book->scratch.heap);
    ptc_buf_init(&text, p->mem, PINS_FILE_BYTES);
    PtcSheetStatus status = p->shelf->read(p->shelf, &pins_sheet, &text, &book->mark, &unread);
    int error = errno;
    if (status == PTC_SHEET_OK)
        parse_book(p, book, ptc_buf_view(&text));
    else if (status == PTC_SHEET_FAILED && p->shelf->shared)
        ptc_why_say(&book->fault, PTC_WHY_UNAVAILABLE, "%.150s: %.150s", p->path, unread.text);
    else if (status == PTC_SHEET_FAILED)
        tell_unread(p, book, error);
    static const char now[] = "\"now\":";
    book->pending = text.len && memmem(text.data, text.len, now, sizeof now - 1);
    ptc_buf_deinit(&text);
    if (ptc_fields_ok(&book->scratch.heap))
        return book;
    free_book(p->mem, book);
    return NULL;
}

/* With p->lock held. */
static void take_book(PtcPins *p, Book *book)
{
    free_book(p->mem, p->book);
    p->book = book;
    atomic_store(&p->pending, book->pending || book->fault.class);
}

/* With p->lock held: what is known, read when it must be.  NULL: out of memory, or it cannot be used. */
static Book *known_book(PtcPins *p)
{
    if (!p->book && !p->shelf->shared) {
        Book *book = read_book(p);
        if (book)
            take_book(p, book);
    }
    return p->book && !p->book->fault.class ? p->book : NULL;
}

PtcPins *ptc_pins_new(PtcMem *mem, PtcShelf *shelf)
{
    PtcPins *p = ptc_mem_alloc(mem, sizeof *p);
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    p->mem = mem;
    p->shelf = shelf;
    ptc_sheet_place(shelf, &pins_sheet, p->path);
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->write, NULL);
    atomic_init(&p->pending, false);
    if (shelf->shared) /* later the lock would be held */
        (void)ptc_pins_refresh(p);
    return p;
}

void ptc_pins_free(PtcPins *p)
{
    if (!p)
        return;
    free_book(p->mem, p->book);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->write);
    ptc_mem_free(p->mem, p, sizeof *p);
}

/* With p->lock held. */
static bool check_book(PtcPins *p, PtcWhy *why)
{
    (void)!known_book(p);
    if (!p->book)
        return ptc_why_no_memory(why);
    return !p->book->fault.class || ptc_why_copy(why, &p->book->fault);
}

bool ptc_pins_usable(PtcPins *p, PtcWhy *why)
{
    pthread_mutex_lock(&p->lock);
    bool ok = check_book(p, why);
    pthread_mutex_unlock(&p->lock);
    return ok;
}

bool ptc_pins_kept(PtcPins *p, PtcWhy *why)
{
    pthread_mutex_lock(&p->lock);
    bool ok = check_book(p, why) && (!p->unkept.class || ptc_why_copy(why, &p->unkept));
    pthread_mutex_unlock(&p->lock);
    return ok;
}

/* With p->lock held: is it time to see what others have written?  In a file that is all the time, but only where
 * something waits for a person. */
static bool is_look_due(PtcPins *p)
{
    int64_t now = ptc_clock_ns(NULL);
    if (!p->shelf->shared)
        return true;
    bool due = !p->looked_ns || now - p->looked_ns >= PINS_LOOK_MS * PTC_MS;
    p->looked_ns = due ? now : p->looked_ns;
    return due;
}

/* With p->write held.  NULL: it is the one that is known, or nobody can tell. */
static Book *newer_book(PtcPins *p)
{
    PtcSheetMark mark, now;
    pthread_mutex_lock(&p->lock);
    bool due = is_look_due(p), have = p->book && (!p->shelf->shared || !p->book->fault.class);
    mark = p->book ? p->book->mark : (PtcSheetMark){{0}};
    pthread_mutex_unlock(&p->lock);
    if (!due ||
        (have && (!p->shelf->look(p->shelf, &pins_sheet, &now) || ptc_sheet_same(&mark, &now))))
        return NULL;
    return read_book(p);
}

bool ptc_pins_refresh(PtcPins *p)
{
    /* Nothing waits for a person; or we are writing it ourselves, which is no news. */
    if ((!p->shelf->shared && !atomic_load(&p->pending)) || pthread_mutex_trylock(&p->write) != 0)
        return false;
    Book *book = newer_book(p);
    pthread_mutex_lock(&p->lock);
    if (book)
        take_book(p, book);
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&p->write);
    return book != NULL;
}

/* ------------------------------------------------------------------------------------- find */

static PtcValue server_of(Book *book, PtcPinned who)
{
    PtcHeap *heap = &book->scratch.heap;
    PtcValue files = ptc_map_field(heap, book->root, "files");
    PtcValue file = ptc_fields_get(heap, files, who.file.bytes ? who.file : PTC_TEXT(""));
    return file == PTC_NONE ? PTC_NONE : ptc_fields_get(heap, file, who.name);
}

static PtcValue tools_of(Book *book, PtcPinned who)
{
    PtcValue server = server_of(book, who);
    PtcValue tools =
        server == PTC_NONE ? PTC_NONE : ptc_map_field(&book->scratch.heap, server, "tools");
    return tools != PTC_NONE && ptc_is_map(tools) ? tools : PTC_NONE;
}

static PtcValue pin_of(Book *book, PtcPinned who, PtcText tool)
{
    PtcValue tools = tools_of(book, who);
    PtcValue pin = tools == PTC_NONE ? PTC_NONE : ptc_fields_get(&book->scratch.heap, tools, tool);
    return pin != PTC_NONE && ptc_is_map(pin) ? pin : PTC_NONE;
}

/* Which parts two digests differ in; one that is not as it should be differs in all. */
static unsigned differ(PtcText a, PtcText b)
{
    enum { PARTS = 4, PINS_PART = PTC_LISTING_DIGEST / PARTS };
    unsigned parts = 0;
    if (!a.bytes || !b.bytes || a.len != PTC_LISTING_DIGEST || b.len != PTC_LISTING_DIGEST)
        return (1u << PARTS) - 1;
    for (unsigned i = 0; i < PARTS; i++)
        if (memcmp(a.bytes + i * PINS_PART, b.bytes + i * PINS_PART, PINS_PART) != 0)
            parts |= 1u << i;
    return parts;
}

void ptc_pins_parts(unsigned parts, char text[64])
{
    static const char *const names[] = {"description", "arguments", "result", "annotations"};
    size_t n = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < 4; i++)
        if (parts & (1u << i))
            n += (size_t)snprintf(text + n, 64 - n, "%s%s", n ? ", " : "", names[i]);
}

/* With p->lock held.  The digest is a hash of megabytes at worst, made once for a listing. */
static unsigned changed_pin_parts(Book *book, PtcPinned who, PtcListing *l, size_t tool,
                                  PtcValue *pin)
{
    *pin = pin_of(book, who, l->server.tools[tool].name);
    if (*pin == PTC_NONE)
        return 0;
    const char *digest = ptc_listing_digest(l, tool);
    return digest
               ? differ(ptc_fields_text(&book->scratch.heap, *pin, "digest"), ptc_text_cstr(digest))
               : 15; /* out of memory: nothing is taken on trust */
}

unsigned ptc_pins_changed(PtcPins *p, PtcPinned who, PtcListing *l, size_t tool)
{
    PtcValue pin;
    pthread_mutex_lock(&p->lock);
    Book *book = known_book(p);
    unsigned parts = book ? changed_pin_parts(book, who, l, tool, &pin) : 0;
    pthread_mutex_unlock(&p->lock);
    return parts;
}

PtcPolicyOut ptc_pins_decide(PtcPins *p, PtcPinned who, PtcListing *l, size_t tool, PtcHeap *heap,
                             PtcPolicyIn *in)
{
    PtcValue pin = PTC_NONE;
    pthread_mutex_lock(&p->lock);
    Book *book = known_book(p);
    bool differs = !book || changed_pin_parts(book, who, l, tool, &pin) != 0;
    if (differs) { /* nothing was said then, or we cannot know: not the same as no change */
        in->was = book ? ptc_map_field(&book->scratch.heap, pin, "hints") : PTC_NIL;
        if (in->was == PTC_NONE || !ptc_is_map(in->was))
            in->was = PTC_NIL;
    }
    PtcPolicyOut out = ptc_policy_decide(heap, in);
    if (differs)
        out.effect = ptc_effect_stricter(
            out.effect, ptc_effect_of(heap, in->tool, in->was, in->effects, !in->distrust));
    in->was = PTC_NONE; /* it is gone with the book */
    if (differs && out.decision != PTC_POLICY_ALLOW &&
        ptc_policy_decide(heap, in).decision == PTC_POLICY_ALLOW)
        out.why = book ? PTC_CALL_BY_CHANGE
                       : PTC_CALL_BY_MISSING_PIN; /* approving the change is what helps */
    pthread_mutex_unlock(&p->lock);
    return out;
}

/* ------------------------------------------------------------------------------------ write */

/* A change of the file: the book as it is there now, edited, written and taken. */
typedef struct {
    PtcPins *pins;
    Book *book;
    bool locked;
    int turns;
    PtcSheetLock lock;
    PtcWhy *why;
} Edit;

static bool fail_pin_edit(Edit *e, const char *what, const char *why)
{
    return ptc_why_say(e->why, PTC_WHY_UNAVAILABLE, "%.150s: %s", what, why);
}

static Edit begin_pin_edits(PtcPins *p, PtcWhy *why)
{
    return (Edit){.pins = p, .turns = PINS_TURNS, .why = why};
}

static bool edit_begin(Edit *e)
{
    PtcPins *p = e->pins;
    pthread_mutex_lock(&p->write);
    e->locked = p->shelf->lock(p->shelf, &pins_sheet, PINS_LOCK_MS, &e->lock, e->why);
    if (!e->locked)
        return false;
    e->book = read_book(p);
    if (!e->book)
        return fail_pin_edit(e, p->path, "out of memory");
    return !e->book->fault.class || ptc_why_copy(e->why, &e->book->fault);
}

static PtcSheetStatus write_book(Edit *e)
{
    PtcPins *p = e->pins;
    PtcBuf out;
    PtcWhy unwritten;
    PtcSheetStatus status = PTC_SHEET_FAILED;
    const PtcSheetWrite how = {.over = e->book->mark, .line = true, .synced = true};
    ptc_buf_init(&out, p->mem, PINS_FILE_BYTES);
    bool ok = ptc_fields_ok(&e->book->scratch.heap) &&
              ptc_emit_value(&out, &e->book->scratch.heap, e->book->root) && ptc_buf_ok(&out);
    if (!ok)
        fail_pin_edit(e, p->path, out.full ? "it would be larger than 16 MiB" : "out of memory");
    else
        status = p->shelf->write(p->shelf, &pins_sheet, ptc_buf_view(&out), &how, &e->book->mark,
                                 &unwritten);
    if (ok && status == PTC_SHEET_FAILED)
        fail_pin_edit(e, p->path, p->shelf->shared ? unwritten.text : strerror(errno));
    ptc_buf_deinit(&out);
    return status;
}

/* Gives everything back; *ok: the book is written and becomes ours.  True: somebody else has written it meanwhile, and
 * the change is to be made again on top of that. */
static bool edit_end(Edit *e, bool *ok)
{
    PtcPins *p = e->pins;
    PtcSheetStatus status = *ok ? write_book(e) : PTC_SHEET_FAILED;
    *ok = status == PTC_SHEET_OK;
    if (*ok) {
        pthread_mutex_lock(&p->lock);
        take_book(p, e->book);
        ptc_why_init(&p->unkept);
        pthread_mutex_unlock(&p->lock);
    } else {
        free_book(p->mem, e->book);
    }
    e->book = NULL;
    if (e->locked)
        p->shelf->unlock(p->shelf, &e->lock);
    pthread_mutex_unlock(&p->write);
    if (status != PTC_SHEET_CHANGED)
        return false;
    return --e->turns > 0 || fail_pin_edit(e, p->path, "others write it all the time");
}

static void put_book_server(Book *book, PtcPinned who, PtcValue server)
{
    PtcHeap *heap = &book->scratch.heap;
    PtcText path = who.file.bytes ? who.file : PTC_TEXT("");
    PtcValue files = ptc_map_field(heap, book->root, "files");
    PtcValue file = ptc_fields_get(heap, files, path);
    if (file == PTC_NONE || !ptc_is_map(file))
        file = ptc_fields_map(heap);
    ptc_fields_put_key(heap, &file, who.name, server);
    ptc_fields_put_key(heap, &files, path, file);
    ptc_fields_put(heap, &book->root, "files", files);
}

static PtcValue server_or_new(Book *book, PtcPinned who)
{
    PtcValue server = server_of(book, who);
    return server != PTC_NONE && ptc_is_map(server) ? server : ptc_fields_map(&book->scratch.heap);
}

static void put_tools(Book *book, PtcPinned who, PtcValue tools)
{
    PtcValue server = server_or_new(book, who);
    ptc_fields_put(&book->scratch.heap, &server, "tools", tools);
    put_book_server(book, who, server);
}

/* -------------------------------------------------------------------------------------- see */

/* Of annotations only what effects come from is kept: they may say anything, at any length. */
static PtcValue hints_of(PtcHeap *heap, PtcValue annotations)
{
    static const char *const names[] = {"readOnlyHint", "destructiveHint", "idempotentHint"};
    PtcValue out = ptc_fields_map(heap);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PtcValue v = ptc_map_field(heap, annotations, names[i]);
        if (v != PTC_NONE && ptc_is_bool(v))
            ptc_fields_put(heap, &out, names[i], v);
    }
    return out;
}

/* What a listing says of a tool, as the file has it; PTC_NONE: out of memory. */
static PtcValue make_pin(Book *book, PtcListing *l, size_t n)
{
    PtcHeap *heap = &book->scratch.heap;
    const PtcCatalogTool *tool = &l->server.tools[n];
    const char *digest = ptc_listing_digest(l, n);
    char at[PTC_CALENDAR_TEXT];
    PtcBuf about;
    if (!digest)
        return PTC_NONE;
    PtcValue pin = ptc_fields_map(heap);
    ptc_iso_stamp(at, ptc_clock_wall_ms());
    ptc_buf_init(&about, l->mem, 4 * PINS_ABOUT_BYTES);
    if (tool->description.bytes)
        ptc_clean_add(&about, tool->description, PINS_ABOUT_BYTES, false);
    ptc_fields_put_text(heap, &pin, "digest", ptc_text_cstr(digest));
    ptc_fields_put(heap, &pin, "hints",
                   hints_of(heap, ptc_map_field(heap, tool->definition, "annotations")));
    ptc_fields_put(heap, &pin, "about", ptc_fields_buf(heap, &about));
    ptc_fields_put_text(heap, &pin, "at", ptc_text_cstr(at));
    ptc_buf_deinit(&about);
    return pin;
}

/* One tool of a listing against its pin: pinned, told as changed, or back to what it was. */
static bool see_tool(Book *book, PtcPinned who, PtcListing *l, size_t n, PtcValue *tools)
{
    PtcHeap *heap = &book->scratch.heap;
    PtcText name = l->server.tools[n].name;
    PtcValue pin, now = PTC_NONE;
    unsigned parts = changed_pin_parts(book, who, l, n, &pin);
    if (pin == PTC_NONE && ptc_map_count(*tools) >= PINS_TOOLS)
        return true;
    if (pin == PTC_NONE || parts)
        now = make_pin(book, l, n);
    if (pin == PTC_NONE) {
        pin = now;
    } else if (parts) {
        ptc_fields_put(heap, &pin, "now", now);
    } else if (ptc_map_field(heap, pin, "now") != PTC_NONE) {
        PtcValue key = ptc_fields_string(heap, PTC_TEXT("now"));
        pin = key == PTC_NONE ? PTC_NONE : ptc_map_dissoc(heap, pin, key);
    }
    if (pin == PTC_NONE || ((parts != 0) && now == PTC_NONE))
        return false;
    ptc_fields_put_key(heap, tools, name, pin);
    book->pending = book->pending || parts;
    return ptc_fields_ok(heap);
}

/* With p->lock held: is there nothing to write? */
static bool is_listing_known(Book *book, PtcPinned who, PtcListing *l)
{
    PtcHeap *heap = &book->scratch.heap;
    PtcValue tools = tools_of(book, who);
    bool full = tools != PTC_NONE && ptc_map_count(tools) >= PINS_TOOLS;
    for (size_t i = 0; i < l->server.count; i++) {
        PtcValue pin;
        unsigned parts = changed_pin_parts(book, who, l, i, &pin);
        if (pin == PTC_NONE && full)
            continue;
        if (pin == PTC_NONE)
            return false;
        PtcValue now = ptc_map_field(heap, pin, "now");
        const char *digest = parts ? ptc_listing_digest(l, i) : NULL;
        if (parts == 0 ? now != PTC_NONE
                       : !digest || now == PTC_NONE ||
                             differ(ptc_fields_text(heap, now, "digest"), ptc_text_cstr(digest)))
            return false;
    }
    return true;
}

static bool see_tools(Book *book, PtcPinned who, PtcListing *l)
{
    bool ok = true;
    PtcValue tools = tools_of(book, who);
    if (tools == PTC_NONE)
        tools = ptc_fields_map(&book->scratch.heap);
    for (size_t i = 0; ok && i < l->server.count; i++)
        ok = see_tool(book, who, l, i, &tools);
    put_tools(book, who, tools);
    return ok;
}

/* What cannot be written is known as long as this process lives. */
static void see_here(PtcPins *p, PtcPinned who, PtcListing *l, const PtcWhy *why)
{
    pthread_mutex_lock(&p->lock);
    Book *book = known_book(p);
    if (book && see_tools(book, who, l))
        atomic_store(&p->pending, book->pending);
    ptc_why_copy(&p->unkept, why);
    pthread_mutex_unlock(&p->lock);
}

static bool see_all(PtcPins *p, PtcPinned who, PtcListing *l, PtcWhy *why)
{
    Edit e = begin_pin_edits(p, why);
    bool ok;
    do {
        ok = edit_begin(&e);
        if (ok)
            ok = see_tools(e.book, who, l) || fail_pin_edit(&e, p->path, "out of memory");
    } while (edit_end(&e, &ok));
    if (!ok)
        see_here(p, who, l, why);
    return ok;
}

bool ptc_pins_see(PtcPins *p, PtcPinned who, PtcListing *l, PtcPinsTell *tell, void *user,
                  PtcWhy *why)
{
    pthread_mutex_lock(&p->lock);
    Book *book = known_book(p);
    bool same = book && !p->unkept.class && is_listing_known(book, who, l);
    pthread_mutex_unlock(&p->lock);
    bool ok = same || see_all(p, who, l, why);
    for (size_t i = 0; tell && i < l->server.count; i++) {
        unsigned parts = ptc_pins_changed(p, who, l, i);
        if (parts)
            tell(user, l->server.tools[i].name, parts);
    }
    return ok;
}

/* ---------------------------------------------------------------------------------- approve */

/* What was seen last becomes what was agreed to. */
static bool approve_tool(Book *book, PtcText name, PtcValue *tools)
{
    PtcHeap *heap = &book->scratch.heap;
    PtcValue pin = ptc_fields_get(heap, *tools, name);
    PtcValue now = pin == PTC_NONE ? PTC_NONE : ptc_map_field(heap, pin, "now");
    if (now == PTC_NONE || !ptc_is_map(now))
        return false;
    ptc_fields_put_key(heap, tools, name, now);
    return true;
}

static size_t approve_pinned_tools(Book *book, PtcPinned who, PtcText tool)
{
    PtcValue key, value, tools = tools_of(book, who), all = tools;
    size_t n = 0;
    if (tools == PTC_NONE)
        return 0;
    if (tool.bytes)
        n = approve_tool(book, tool, &tools);
    else
        for (size_t pos = 0; ptc_map_next(all, &pos, &key, &value);)
            n += approve_tool(book, ptc_str_text(key), &tools);
    if (n)
        put_tools(book, who, tools);
    return n;
}

bool ptc_pins_approve(PtcPins *p, PtcPinned who, PtcText tool, size_t *count, PtcWhy *why)
{
    Edit e = begin_pin_edits(p, why);
    bool ok;
    do {
        ok = edit_begin(&e);
        *count = ok ? approve_pinned_tools(e.book, who, tool) : 0;
    } while (edit_end(&e, &ok));
    return ok;
}

/* ---------------------------------------------------------------------------------- entries */

bool ptc_pins_has_entry(PtcPins *p, PtcPinned who, const char digest[PTC_PIN_ENTRY + 1])
{
    pthread_mutex_lock(&p->lock);
    Book *book = known_book(p);
    PtcValue server = book ? server_of(book, who) : PTC_NONE;
    PtcText pinned = server == PTC_NONE ? (PtcText){NULL, 0}
                                        : ptc_fields_text(&book->scratch.heap, server, "entry");
    bool same = pinned.bytes && ptc_text_is(pinned, digest);
    pthread_mutex_unlock(&p->lock);
    return same;
}

bool ptc_pins_approve_entry(PtcPins *p, PtcPinned who, const char digest[PTC_PIN_ENTRY + 1],
                            PtcWhy *why)
{
    Edit e = begin_pin_edits(p, why);
    bool ok;
    do {
        if (!(ok = edit_begin(&e)))
            continue;
        PtcValue server = server_or_new(e.book, who);
        ptc_fields_put_text(&e.book->scratch.heap, &server, "entry", ptc_text_cstr(digest));
        put_book_server(e.book, who, server);
    } while (edit_end(&e, &ok));
    return ok;
}

/* ----------------------------------------------------------------------------------- people */

void ptc_pins_each(PtcPins *p, PtcPinned who, PtcPinsEach *each, void *user)
{
    PtcValue key, pin;
    pthread_mutex_lock(&p->lock);
    Book *book = known_book(p);
    PtcValue tools = book ? tools_of(book, who) : PTC_NONE;
    for (size_t pos = 0; tools != PTC_NONE && ptc_map_next(tools, &pos, &key, &pin);) {
        PtcHeap *heap = &book->scratch.heap;
        PtcValue now = ptc_map_field(heap, pin, "now");
        PtcPin out = {.tool = ptc_str_text(key),
                      .pinned = ptc_fields_text(heap, pin, "at"),
                      .was = ptc_fields_text(heap, pin, "about")};
        if (now != PTC_NONE) {
            out.parts =
                differ(ptc_fields_text(heap, pin, "digest"), ptc_fields_text(heap, now, "digest"));
            out.is = ptc_fields_text(heap, now, "about");
        }
        each(user, &out);
    }
    pthread_mutex_unlock(&p->lock);
}

/* SPDX-License-Identifier: MIT
 * Line editing for ANSI terminals.  What always holds: the terminal is only raw while a line is being read; the text
 * is valid UTF-8 and the cursor is between graphemes. */
#define _GNU_SOURCE /* memmem */
#include "cli/term/line.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "cli/io.h"
#include "cli/out/shown.h"

enum {
    EDITED_LINE_BYTES = 64 * PTC_KB,
    ESCAPE_MS = 50,
    PASTE_MS = 2000, /* without a byte: what was pasted has ended, whatever the terminal says */
    DROP_MS = 100,   /* the same, once the paste was given up */
    SHOWN_CANDIDATES = 200,
    QUERY_BYTES = 64,
};

#define CTRL_KEY(letter) ((letter) - '@')

/* Keys that are more than one byte. */
enum {
    KEY_END_OF_INPUT = -1,
    KEY_NOTHING = -2,
    KEY_TEXT = -3,
    KEY_DELETE = -4,
    KEY_WORD_LEFT = -5,
    KEY_WORD_RIGHT = -6,
    KEY_PASTE = -7 /* what follows was pasted, up to PASTE_END */
};
#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
#define PASTE_END "\033[201~"

/* ------------------------------------------------------------------ terminal */

static bool set_raw(PtcLine *l)
{
    if (tcgetattr(PTC_IO_STDIN, &l->cooked) != 0)
        return false;
    struct termios raw = l->cooked;
    raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    raw.c_cflag |= CS8;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    return tcsetattr(PTC_IO_STDIN, TCSADRAIN, &raw) == 0;
}

static void flush_line_output(PtcLine *l)
{
    (void)!ptc_io_write(PTC_IO_STDOUT, l->out.data, l->out.len);
    ptc_buf_clear(&l->out);
}

/* The next byte; -1 at the end, -2 after `wait_ms` (-1: wait forever). */
static int next_byte(PtcLine *l, int wait_ms)
{
    if (l->input_at < l->input_len)
        return (unsigned char)l->input[l->input_at++];
    struct pollfd p = {.fd = PTC_IO_STDIN, .events = POLLIN};
    int ready;
    while ((ready = poll(&p, 1, wait_ms)) < 0 && errno == EINTR)
        ;
    if (ready == 0)
        return KEY_NOTHING;
    ssize_t n = ready < 0 ? -1 : read(PTC_IO_STDIN, l->input, sizeof l->input);
    if (n <= 0)
        return KEY_END_OF_INPUT;
    l->input_at = 1;
    l->input_len = (size_t)n;
    return (unsigned char)l->input[0];
}

/* ---------------------------------------------------------------- characters */

/* Byte length of the grapheme at `at`, and of the one before it. */
static size_t length_at(const PtcLine *l, size_t at)
{
    return at < l->text.len ? ptc_utf8_grapheme(NULL, l->text.data + at, l->text.len - at) : 0;
}

static size_t length_before(const PtcLine *l, size_t at)
{
    size_t from = at > 64 ? at - 64 : 0, last = from;
    while (from > 0 && ((unsigned char)l->text.data[from] & 0xC0) == 0x80)
        from--;
    for (size_t p = from; p < at; p += length_at(l, p))
        last = p;
    return at - last;
}

/* Columns that a grapheme takes: those of its first code point. */
static size_t grapheme_columns(const char *bytes, size_t len)
{
    uint32_t code;
    ptc_utf8_decode(bytes, len, &code);
    if (code < 0x20 || code == 0x7F)
        return 1; /* shown as another character */
    int width = utf8proc_charwidth((utf8proc_int32_t)code);
    return width < 0 ? 1 : (size_t)width;
}

static size_t columns_between(const PtcLine *l, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t p = from; p < to; p += length_at(l, p))
        n += grapheme_columns(l->text.data + p, length_at(l, p));
    return n;
}

/* Is it part of a name, for completion and moving by words? */
static bool in_word(char c)
{
    return (unsigned char)c > ' ' && !strchr("()[]{}\"';,@^`~\\", c);
}

static size_t word_start(const PtcLine *l, size_t at)
{
    while (at > 0 && in_word(l->text.data[at - 1]))
        at--;
    return at;
}

/* ------------------------------------------------------------------- showing */

static void add_shown_char(PtcBuf *out, const char *bytes, size_t len)
{
    unsigned char c = (unsigned char)*bytes;
    if (c == '\n')
        ptc_buf_add_cstr(out, "\xE2\x86\xB5"); /* a return arrow */
    else if (c == '\t')
        ptc_buf_add_char(out, ' ');
    else if (c < 0x20 || c == 0x7F)
        ptc_buf_add_char(out, '?');
    else
        ptc_shown_add(out, bytes, len); /* other characters can control a terminal too */
}

/* Draws prompt and text on one row; of a text that is too long, the part around the cursor. */
static void draw_edited_line(PtcLine *l)
{
    size_t room = ptc_shown_columns() - l->prompt_columns % ptc_shown_columns() - 1, used = 0, p;
    if (room < 8)
        room = 8;
    if (l->cursor < l->view)
        l->view = l->cursor;
    while (columns_between(l, l->view, l->cursor) >= room)
        l->view += length_at(l, l->view);
    ptc_buf_addf(&l->out, "\r%s", l->prompt);
    for (p = l->view; p < l->text.len; p += length_at(l, p)) {
        used += grapheme_columns(l->text.data + p, length_at(l, p));
        if (used > room)
            break;
        add_shown_char(&l->out, l->text.data + p, length_at(l, p));
    }
    ptc_buf_add_cstr(&l->out, "\033[K\r");
    size_t right = l->prompt_columns + columns_between(l, l->view, l->cursor);
    if (right > 0)
        ptc_buf_addf(&l->out, "\033[%zuC", right);
    flush_line_output(l);
}

/* ------------------------------------------------------------------- editing */

static void insert_typed_text(PtcLine *l, const char *bytes, size_t len)
{
    if (len == 0)
        return;
    if (!ptc_buf_reserve(&l->text, len)) {
        l->text.full = false; /* the line cannot get any longer */
        return;
    }
    char *at = l->text.data + l->cursor;
    memmove(at + len, at, l->text.len - l->cursor);
    memcpy(at, bytes, len);
    l->text.len += len;
    l->cursor += len;
}

static void erase(PtcLine *l, size_t from, size_t to)
{
    if (from >= to)
        return;
    memmove(l->text.data + from, l->text.data + to, l->text.len - to);
    l->text.len -= to - from;
    l->cursor = from;
}

/* Erases, and keeps what was there for Ctrl-Y. */
static void kill_text(PtcLine *l, size_t from, size_t to)
{
    if (from >= to)
        return;
    ptc_buf_clear(&l->killed);
    ptc_buf_add(&l->killed, l->text.data + from, to - from);
    erase(l, from, to);
}

static void replace_line_text(PtcLine *l, const char *text, size_t len)
{
    ptc_buf_clear(&l->text);
    ptc_buf_add(&l->text, text, len);
    l->cursor = l->text.len;
    l->view = 0;
}

static void show_history_entry(PtcLine *l, size_t entry)
{
    if (entry > l->history->count || entry == l->entry)
        return;
    if (l->entry == l->history->count) {
        ptc_buf_clear(&l->typed);
        ptc_buf_add(&l->typed, l->text.data, l->text.len);
    }
    l->entry = entry;
    if (entry == l->history->count)
        replace_line_text(l, l->typed.data, l->typed.len);
    else
        replace_line_text(l, l->history->items[entry].text, l->history->items[entry].len);
}

static void word_left(PtcLine *l)
{
    while (l->cursor > 0 && !in_word(l->text.data[l->cursor - 1]))
        l->cursor -= length_before(l, l->cursor);
    l->cursor = word_start(l, l->cursor);
}

static void word_right(PtcLine *l)
{
    while (l->cursor < l->text.len && !in_word(l->text.data[l->cursor]))
        l->cursor += length_at(l, l->cursor);
    while (l->cursor < l->text.len && in_word(l->text.data[l->cursor]))
        l->cursor += length_at(l, l->cursor);
}

static void kill_word(PtcLine *l)
{
    size_t end = l->cursor;
    word_left(l);
    kill_text(l, l->cursor, end);
}

/* ---------------------------------------------------------------- completion */

/* Length of the prefix that all candidates share. */
static size_t common_prefix(const PtcBuf *found)
{
    size_t first = strcspn(found->data, "\n"), common = first;
    for (const char *p = found->data; *p; p += strcspn(p, "\n") + 1) {
        size_t n = 0;
        while (n < common && p[n] == found->data[n])
            n++;
        common = n;
    }
    return common;
}

static void list_candidates(PtcLine *l, const char *found)
{
    size_t width = ptc_shown_columns(), wide = 0, column = 0, shown = 0;
    for (const char *p = found; *p; p += strcspn(p, "\n") + 1)
        if (strcspn(p, "\n") > wide)
            wide = strcspn(p, "\n");
    ptc_buf_add_cstr(&l->out, "\r\n");
    for (const char *p = found; *p && shown < SHOWN_CANDIDATES;
         p += strcspn(p, "\n") + 1, shown++) {
        size_t n = strcspn(p, "\n");
        if (column + wide + 2 > width) {
            ptc_buf_add_cstr(&l->out, "\r\n");
            column = 0;
        }
        ptc_shown_add(&l->out, p, n);
        ptc_buf_addf(&l->out, "%*s", (int)(wide + 2 - n), "");
        column += wide + 2;
    }
    ptc_buf_add_cstr(&l->out, "\r\n");
}

static void complete_typed_word(PtcLine *l)
{
    PtcBuf found;
    size_t from = word_start(l, l->cursor), len = l->cursor - from;
    ptc_buf_init(&found, l->text.mem, EDITED_LINE_BYTES);
    if (len == 0)
        insert_typed_text(l, "  ", 2);
    else
        l->complete(l->user, l->text.data + from, len, &found);
    if (found.len > 0 && ptc_buf_text(&found)) {
        size_t common = common_prefix(&found);
        if (common > len)
            insert_typed_text(l, found.data + len, common - len);
        else if (strchr(found.data, '\n') != found.data + found.len - 1)
            list_candidates(l, found.data);
    }
    ptc_buf_deinit(&found);
}

/* ---------------------------------------------------------------------- keys */

/* What follows ESC, as the control byte that does the same, or a KEY_ constant. */
static int escape_key(PtcLine *l)
{
    int c = next_byte(l, ESCAPE_MS), number = 0;
    if (c == 'b' || c == 'f')
        return c == 'b' ? KEY_WORD_LEFT : KEY_WORD_RIGHT;
    if (c != '[' && c != 'O')
        return KEY_NOTHING;
    while ((c = next_byte(l, ESCAPE_MS)) >= '0' && c <= ';')
        number = c == ';' ? 0 : (number * 10 + c - '0') % 1000;
    switch (c) {
    case 'A': return CTRL_KEY('P');
    case 'B': return CTRL_KEY('N');
    case 'C': return number ? KEY_WORD_RIGHT : CTRL_KEY('F');
    case 'D': return number ? KEY_WORD_LEFT : CTRL_KEY('B');
    case 'H': return CTRL_KEY('A');
    case 'F': return CTRL_KEY('E');
    case '~':
        return number == 200                ? KEY_PASTE
               : number == 3                ? KEY_DELETE
               : number == 1 || number == 7 ? CTRL_KEY('A')
               : number == 4 || number == 8 ? CTRL_KEY('E')
                                            : KEY_NOTHING;
    default: return KEY_NOTHING;
    }
}

/* The next key; a character is reported as KEY_TEXT and is in `bytes`. */
static int next_key(PtcLine *l, char bytes[4], size_t *len)
{
    int c = next_byte(l, -1);
    if (c == CTRL_KEY('['))
        return escape_key(l);
    if (c < 0x20 || c == 0x7F)
        return c;
    *len = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    bytes[0] = (char)c;
    for (size_t i = 1; i < *len; i++)
        bytes[i] = (char)next_byte(l, ESCAPE_MS);
    return ptc_utf8_valid(bytes, *len) ? KEY_TEXT : KEY_NOTHING;
}

static void ring(PtcLine *l)
{
    ptc_buf_add_char(&l->out, '\a');
}

/* ------------------------------------------------------------------- pasting */

/* Takes one pasted byte: line ends become line feeds, other control characters are dropped. */
static void take_pasted(PtcBuf *pasted, char c, char before)
{
    if (c == '\r' || (c == '\n' && before != '\r'))
        ptc_buf_add_char(pasted, '\n');
    else if (c == '\t' || ((unsigned char)c >= 0x20 && c != 0x7F))
        ptc_buf_add_char(pasted, c);
}

/* Drops the rest of what is pasted: up to its end, a pause, or another Ctrl-C for a paste without an end.  What is left
 * would otherwise be typed, and run line by line. */
static void drop_pasted(PtcLine *l)
{
    size_t matched = 0;
    int c;
    while (matched < strlen(PASTE_END) && (c = next_byte(l, DROP_MS)) >= 0 && c != CTRL_KEY('C'))
        matched = c == PASTE_END[matched] ? matched + 1 : c == PASTE_END[0];
}

/* Reads up to the end of what is pasted.  False: Ctrl-C. */
static bool read_pasted(PtcLine *l, PtcBuf *pasted)
{
    size_t matched =
        0; /* bytes of PASTE_END; an ESC that begins nothing is dropped as others are */
    int c, before = 0;
    while (matched < strlen(PASTE_END) && (c = next_byte(l, PASTE_MS)) >= 0) {
        if (c == CTRL_KEY('C')) {
            drop_pasted(l);
            return false;
        }
        if (c != PASTE_END[matched]) {
            for (size_t i = 1; i < matched; i++)
                take_pasted(pasted, PASTE_END[i], 0);
            matched = 0;
        }
        if (c == PASTE_END[matched])
            matched++;
        else
            take_pasted(pasted, (char)c, (char)before);
        before = c;
    }
    return true;
}

/* Says above the line why nothing of it was inserted. */
static void say_dropped(PtcLine *l, bool too_long)
{
    ring(l);
    ptc_buf_add_cstr(&l->out, "\r\033[K");
    if (too_long)
        ptc_buf_addf(&l->out,
                     "the text you pasted was dropped: a line holds %d KiB at most; save "
                     "it in a file",
                     EDITED_LINE_BYTES / 1024);
    else
        ptc_buf_add_cstr(&l->out, "the text you pasted was dropped: it is not UTF-8");
    ptc_buf_add_cstr(&l->out, "\r\n");
}

/* Inserts what is pasted as it is, lines and all: nothing in it is a key but Ctrl-C, so that a paste without an end can
 * be left.  False: Ctrl-C. */
static bool insert_pasted_text(PtcLine *l)
{
    PtcBuf pasted;
    ptc_buf_init(&pasted, l->text.mem, EDITED_LINE_BYTES);
    bool ok = read_pasted(l, &pasted), fits = ptc_buf_ok(&pasted);
    while (pasted.len > 0 && pasted.data[pasted.len - 1] == '\n')
        pasted.len--;
    size_t len = l->text.len;
    bool text = pasted.len > 0 && ptc_utf8_valid(pasted.data, pasted.len);
    if (ok && fits && text)
        insert_typed_text(l, pasted.data, pasted.len);
    if (ok && l->text.len == len && (!fits || pasted.len > 0))
        say_dropped(l, !fits || text);
    ptc_buf_deinit(&pasted);
    return ok;
}

/* ------------------------------------------------------------------ searching */

typedef struct {
    char text[QUERY_BYTES];
    size_t len;
} Query;

static bool has_query_text(const PtcHistoryEntry *entry, const Query *query)
{
    return memmem(entry->text, entry->len, query->text, query->len) != NULL;
}

/* Is this entry what is shown already?  The same program may be there several times. */
static bool is_shown_entry(const PtcLine *l, const PtcHistoryEntry *entry)
{
    return entry->len == l->text.len && memcmp(entry->text, l->text.data, entry->len) == 0;
}

/* Shows the newest entry below `from` that has the query, `other` than the one that is shown; when there is none, it
 * rings. */
static void find_history_entry(PtcLine *l, const Query *query, size_t from, bool other)
{
    while (from > 0 && (!has_query_text(&l->history->items[from - 1], query) ||
                        (other && is_shown_entry(l, &l->history->items[from - 1]))))
        from--;
    if (from > 0)
        show_history_entry(l, from - 1);
    else
        ring(l);
}

static void draw_search(PtcLine *l, const Query *query)
{
    const char *prompt = l->prompt;
    size_t columns = l->prompt_columns;
    char own[QUERY_BYTES + 16];
    snprintf(own, sizeof own, "search '%.*s': ", PTC_ARG_OF(query->text, query->len));
    l->prompt = own;
    l->prompt_columns = ptc_shown_width(own, strlen(own));
    draw_edited_line(l);
    l->prompt = prompt;
    l->prompt_columns = columns;
}

static void drop_last(Query *query)
{
    while (query->len > 0 && ((unsigned char)query->text[--query->len] & 0xC0) == 0x80)
        ;
}

/* Ctrl-R: what is typed is looked for in earlier entries, again with each Ctrl-R.  Returns the key that ended it, which
 * then does what it always does to the entry found; Ctrl-G, Ctrl-C and Escape give back what was typed before. */
static int search_history(PtcLine *l)
{
    Query query = {.len = 0};
    char bytes[4];
    size_t len = 0;
    for (;;) {
        draw_search(l, &query);
        int key = next_key(l, bytes, &len);
        if (key == KEY_TEXT && query.len + len <= sizeof query.text) {
            memcpy(query.text + query.len, bytes, len);
            query.len += len;
            find_history_entry(l, &query, l->entry < l->history->count ? l->entry + 1 : l->entry,
                               false);
        } else if (key == CTRL_KEY('H') || key == 0x7F) {
            drop_last(&query);
        } else if (key == CTRL_KEY('R')) {
            find_history_entry(l, &query, l->entry, true);
        } else if (key == CTRL_KEY('G') || key == CTRL_KEY('C') || key == KEY_NOTHING) {
            show_history_entry(l, l->history->count);
            return KEY_NOTHING;
        } else if (key != KEY_TEXT) {
            return key;
        }
    }
}

/* ---------------------------------------------------------------------- keys */

static void move_cursor(PtcLine *l, int key)
{
    if (key == CTRL_KEY('A'))
        l->cursor = 0;
    else if (key == CTRL_KEY('E'))
        l->cursor = l->text.len;
    else if (key == CTRL_KEY('B'))
        l->cursor -= length_before(l, l->cursor);
    else if (key == CTRL_KEY('F'))
        l->cursor += length_at(l, l->cursor);
    else if (key == KEY_WORD_LEFT)
        word_left(l);
    else if (key == KEY_WORD_RIGHT)
        word_right(l);
    else if (key == CTRL_KEY('P') && l->entry > 0)
        show_history_entry(l, l->entry - 1);
    else if (key == CTRL_KEY('N'))
        show_history_entry(l, l->entry + 1);
}

static void edit_line_text(PtcLine *l, int key)
{
    if (key == CTRL_KEY('H') || key == 0x7F)
        erase(l, l->cursor - length_before(l, l->cursor), l->cursor);
    else if (key == KEY_DELETE || key == CTRL_KEY('D'))
        erase(l, l->cursor, l->cursor + length_at(l, l->cursor));
    else if (key == CTRL_KEY('K'))
        kill_text(l, l->cursor, l->text.len);
    else if (key == CTRL_KEY('U'))
        kill_text(l, 0, l->cursor);
    else if (key == CTRL_KEY('W'))
        kill_word(l);
    else if (key == CTRL_KEY('Y'))
        insert_typed_text(l, l->killed.data, l->killed.len);
    else if (key == CTRL_KEY('I'))
        complete_typed_word(l);
    else if (key == CTRL_KEY('L'))
        ptc_buf_add_cstr(&l->out, "\033[H\033[2J");
    else
        move_cursor(l, key);
}

/* Handles keys until one ends the line. */
static PtcTyped edit_line(PtcLine *l)
{
    char bytes[4];
    size_t len = 0;
    for (;;) {
        if (l->input_at == l->input_len)
            draw_edited_line(l);
        int key = next_key(l, bytes, &len);
        if (key == CTRL_KEY('R'))
            key = search_history(l);
        if (key == CTRL_KEY('C') || (key == KEY_PASTE && !insert_pasted_text(l)))
            return PTC_TYPED_CANCEL;
        if (key == KEY_END_OF_INPUT || (key == CTRL_KEY('D') && l->text.len == 0))
            return PTC_TYPED_END;
        if (key == CTRL_KEY('M') || key == CTRL_KEY('J')) {
            l->cursor = l->text.len;
            draw_edited_line(l);
            return PTC_TYPED_LINE;
        }
        if (key == KEY_TEXT)
            insert_typed_text(l, bytes, len);
        else if (key != KEY_PASTE)
            edit_line_text(l, key);
    }
}

/* ----------------------------------------------------------------------- API */

void ptc_line_init(PtcLine *l, PtcMem *mem, PtcHistory *history, PtcLineComplete complete_fn,
                   void *user)
{
    memset(l, 0, sizeof *l);
    l->history = history;
    l->complete = complete_fn;
    l->user = user;
    ptc_buf_init(&l->text, mem, EDITED_LINE_BYTES);
    ptc_buf_init(&l->typed, mem, EDITED_LINE_BYTES);
    ptc_buf_init(&l->killed, mem, EDITED_LINE_BYTES);
    ptc_buf_init(&l->out, mem, PTC_IO_MAX);
}

void ptc_line_deinit(PtcLine *l)
{
    ptc_buf_deinit(&l->text);
    ptc_buf_deinit(&l->typed);
    ptc_buf_deinit(&l->killed);
    ptc_buf_deinit(&l->out);
}

PtcTyped ptc_line_read(PtcLine *l, const char *prompt, const char *colour)
{
    char painted[80];
    snprintf(painted, sizeof painted, "%s%s%s", colour, prompt, *colour ? "\033[0m" : "");
    l->prompt = painted;
    l->prompt_columns = strlen(prompt);
    l->entry = l->history->count;
    l->cursor = l->view = 0;
    ptc_buf_clear(&l->text);
    if (!set_raw(l))
        return PTC_TYPED_END;
    ptc_buf_add_cstr(&l->out, PASTE_ON);
    PtcTyped typed = edit_line(l);
    ptc_buf_add_cstr(&l->out, typed == PTC_TYPED_CANCEL ? PASTE_OFF "^C\r\n" : PASTE_OFF "\r\n");
    flush_line_output(l);
    l->prompt = "";
    (void)tcsetattr(PTC_IO_STDIN, TCSADRAIN, &l->cooked);
    return typed;
}

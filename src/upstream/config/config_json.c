/* SPDX-License-Identifier: MIT
 * JSON as people write it.  Comments and other things that are not JSON are overwritten with blanks, so that places in
 * the text stay places in the file; then the usual parser reads it.  The walk below only sees text that this parser has
 * accepted. */
#include "upstream/config/config_json.h"

#include "base/ascii.h"
#include "json/check.h"
#include "value/coll/fields.h"

/* ----------------------------------------------------------------------------------- plain */

/* The end of a string that begins at i. */
static size_t skip_config_string(PtcText t, size_t i)
{
    for (i++; i < t.len && t.bytes[i] != '"'; i++)
        if (t.bytes[i] == '\\')
            i++;
    return i < t.len ? i + 1 : t.len;
}

/* The end of a comment that begins at i; i itself: there is none. */
static size_t skip_json_comment(PtcText t, size_t i)
{
    if (i + 1 >= t.len || t.bytes[i] != '/')
        return i;
    if (t.bytes[i + 1] == '/') {
        while (i < t.len && t.bytes[i] != '\n')
            i++;
    } else if (t.bytes[i + 1] == '*') {
        for (i += 2; i < t.len && !(t.bytes[i] == '*' && i + 1 < t.len && t.bytes[i + 1] == '/');)
            i++;
        i = i + 2 < t.len ? i + 2 : t.len;
    }
    return i;
}

/* Overwrites what is not JSON with blanks; line ends stay. */
static void blank_bytes_out(char *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (bytes[i] != '\n')
            bytes[i] = ' ';
}

static void blot_comments(char *bytes, size_t len)
{
    PtcText t = {bytes, len};
    for (size_t i = 0; i < len;) {
        size_t end = bytes[i] == '"' ? skip_config_string(t, i) : skip_json_comment(t, i);
        if (end == i) {
            i++;
            continue;
        }
        if (bytes[i] != '"')
            blank_bytes_out(bytes, i, end);
        i = end;
    }
}

/* A comma is too many when nothing but the end of its object or array follows. */
static void blot_commas(char *bytes, size_t len)
{
    size_t comma = SIZE_MAX;
    for (size_t i = 0; i < len;) {
        char c = bytes[i];
        if ((c == '}' || c == ']') && comma != SIZE_MAX)
            bytes[comma] = ' ';
        if (!ptc_ascii_is_space(c))
            comma = c == ',' ? i : SIZE_MAX;
        i = c == '"' ? skip_config_string((PtcText){bytes, len}, i) : i + 1;
    }
}

void ptc_config_json_plain(PtcBuf *out, PtcText text)
{
    size_t start = out->len;
    if (text.len == 0 || !ptc_buf_add(out, text.bytes, text.len))
        return;
    char *bytes = out->data + start;
    if (text.len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        blank_bytes_out(bytes, 0, 3);
    blot_comments(bytes, text.len);
    blot_commas(bytes, text.len);
}

/* ------------------------------------------------------------------------------------ walk */

typedef struct {
    PtcHeap *heap;
    PtcText text;
    size_t at;
    char path[PTC_PATH_BYTES];
    const char *wanted;
    size_t found;         /* line of the wanted place */
    size_t line, counted; /* of what is before this offset */
    void (*member)(void *user, const char *path, size_t line, bool doubled);
    void *user;
} ConfigWalk;

/* The line at an offset; offsets only grow. */
static size_t line_at(ConfigWalk *w, size_t offset)
{
    for (; w->counted < offset; w->counted++)
        w->line += w->text.bytes[w->counted] == '\n';
    return w->line;
}

static void note_wanted_line(ConfigWalk *w, size_t start)
{
    if (w->wanted && !w->found && strcmp(w->path, w->wanted) == 0)
        w->found = line_at(w, start);
}

static void skip_json_blanks(ConfigWalk *w)
{
    while (w->at < w->text.len && ptc_ascii_is_space(w->text.bytes[w->at]))
        w->at++;
}

static char current_json_char(const ConfigWalk *w)
{
    return w->at < w->text.len ? w->text.bytes[w->at] : 0;
}

static void walk_value(ConfigWalk *w, int depth);

/* The string at hand, read. */
static PtcValue take_config_key(ConfigWalk *w)
{
    PtcJsonError error;
    size_t end = skip_config_string(w->text, w->at);
    PtcValue key = ptc_json_parse(w->heap, w->text.bytes + w->at, end - w->at, &error);
    w->at = end;
    return key;
}

/* Can the value at hand be skipped?  Yes if the wanted place is elsewhere, and if it is what Claude Code keeps beside
 * the servers of a project (its history), which may be large and does not concern us. */
static bool is_of_no_interest(const ConfigWalk *w, PtcText key, int depth)
{
    if (w->wanted)
        return w->found || strncmp(w->path, w->wanted, strlen(w->path)) != 0;
    return depth == 2 && strncmp(w->path, "projects", 8) == 0 && !ptc_text_is(key, "mcpServers");
}

static void skip_value(ConfigWalk *w)
{
    skip_json_blanks(w);
    size_t n = ptc_json_value_len(w->text.bytes + w->at, w->text.len - w->at);
    w->at = n ? w->at + n : w->text.len;
}

static void walk_member(ConfigWalk *w, PtcValue *seen, int depth)
{
    char keep[PTC_PATH_BYTES];
    size_t start = w->at;
    PtcValue key = take_config_key(w);
    if (key == PTC_NONE)
        return;
    memcpy(keep, w->path, sizeof keep);
    ptc_path_add_key(w->path, sizeof w->path, key);
    note_wanted_line(w, start);
    bool doubled = w->member && ptc_map_get(w->heap, *seen, key) != PTC_NONE;
    if (doubled || (w->member && depth <= PTC_CONFIG_JSON_PLACES))
        w->member(w->user, w->path, line_at(w, start), doubled);
    if (w->member)
        ptc_fields_put_key(w->heap, seen, ptc_str_text(key), PTC_TRUE);
    skip_json_blanks(w);
    w->at++; /* the colon */
    if (is_of_no_interest(w, ptc_str_text(key), depth))
        skip_value(w);
    else
        walk_value(w, depth + 1);
    memcpy(w->path, keep, sizeof keep);
}

static void walk_item(ConfigWalk *w, size_t index, int depth)
{
    char keep[PTC_PATH_BYTES];
    memcpy(keep, w->path, sizeof keep);
    ptc_path_add_index(w->path, sizeof w->path, index);
    note_wanted_line(w, w->at);
    if (is_of_no_interest(w, PTC_TEXT(""), 0))
        skip_value(w);
    else
        walk_value(w, depth + 1);
    memcpy(w->path, keep, sizeof keep);
}

static void walk_container(ConfigWalk *w, bool object, int depth)
{
    PtcValue seen = ptc_fields_map(w->heap);
    char end = object ? '}' : ']';
    w->at++;
    skip_json_blanks(w);
    for (size_t i = 0;
         current_json_char(w) && current_json_char(w) != end && !w->found && ptc_fields_ok(w->heap);
         i++) {
        if (object)
            walk_member(w, &seen, depth);
        else
            walk_item(w, i, depth);
        skip_json_blanks(w);
        if (current_json_char(w) == ',')
            w->at++;
        skip_json_blanks(w);
    }
    w->at++;
}

static void walk_value(ConfigWalk *w, int depth)
{
    skip_json_blanks(w);
    char c = current_json_char(w);
    if (depth > PTC_CONFIG_JSON_DEPTH)
        w->at = w->text.len;
    else if (c == '{' || c == '[')
        walk_container(w, c == '{', depth);
    else if (c == '"')
        w->at = skip_config_string(w->text, w->at);
    else
        while (current_json_char(w) && !ptc_ascii_is_space(current_json_char(w)) &&
               !strchr(",]}", current_json_char(w)))
            w->at++;
}

size_t ptc_config_json_line(PtcHeap *heap, PtcText plain, const char *path)
{
    ConfigWalk w = {.heap = heap, .text = plain, .wanted = path, .line = 1};
    walk_value(&w, 0);
    return w.found;
}

void ptc_config_json_walk(PtcHeap *heap, PtcText plain,
                          void (*member)(void *user, const char *path, size_t line, bool doubled),
                          void *user)
{
    ConfigWalk w = {.heap = heap, .text = plain, .line = 1, .member = member, .user = user};
    walk_value(&w, 0);
}

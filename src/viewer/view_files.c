/* SPDX-License-Identifier: MIT
 * The list of trace files.  What always holds: paths are only ever added, at most PTC_VIEW_FILES_MAX of them; nothing
 * but regular files is opened, so that no pipe and no device can make us wait. */
#include "viewer/view_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/utf8.h"
#include "json/emit.h"

#define SUFFIX ".jsonl"

enum { VIEW_SLOTS = 32768 }; /* a power of two, three times as many as there are paths */

void ptc_view_files_init(PtcViewFiles *files, PtcMem *mem, char *const *given, size_t count)
{
    *files = (PtcViewFiles){.mem = mem, .given = given, .given_count = count};
}

void ptc_view_files_deinit(PtcViewFiles *files)
{
    for (size_t i = 0; i < files->count; i++)
        ptc_mem_free(files->mem, files->paths[i], strlen(files->paths[i]) + 1);
    ptc_mem_free(files->mem, files->paths, files->cap * sizeof *files->paths);
    ptc_mem_free(files->mem, files->slots, files->slots ? VIEW_SLOTS * sizeof *files->slots : 0);
    files->paths = NULL;
    files->slots = NULL;
    files->count = files->cap = 0;
}

/* ----------------------------------------------------------------------------------- scan */

/* The slot of a path: its own, or the empty one where it would be. */
static uint32_t *slot_of_path(const PtcViewFiles *files, const char *path)
{
    uint32_t hash = 2166136261u;
    for (const char *p = path; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    for (uint32_t i = hash;; i++) {
        uint32_t *slot = &files->slots[i % VIEW_SLOTS];
        if (*slot == 0 || strcmp(files->paths[*slot - 1], path) == 0)
            return slot;
    }
}

static bool make_slots(PtcViewFiles *files)
{
    if (!files->slots &&
        (files->slots = ptc_mem_alloc(files->mem, VIEW_SLOTS * sizeof *files->slots)))
        memset(files->slots, 0, VIEW_SLOTS * sizeof *files->slots);
    return files->slots != NULL;
}

/* Adds a path that is not there yet.  False: out of memory. */
static bool add_view_path(PtcViewFiles *files, const char *path)
{
    if (!make_slots(files))
        return false;
    if (*slot_of_path(files, path))
        return true;
    if (files->count == PTC_VIEW_FILES_MAX) {
        files->too_many = true;
        return true;
    }
    if (!PTC_GROW(files->mem, &files->paths, &files->cap, files->count + 1))
        return false;
    size_t size = strlen(path) + 1;
    char *copy = ptc_mem_alloc(files->mem, size);
    if (!copy)
        return false;
    memcpy(copy, path, size);
    *slot_of_path(files, path) = (uint32_t)files->count + 1;
    files->paths[files->count++] = copy;
    return true;
}

static bool is_trace_name(const char *name)
{
    size_t len = strlen(name), end = sizeof SUFFIX - 1;
    return name[0] != '.' && len > end && strcmp(name + len - end, SUFFIX) == 0;
}

/* By name, from `from` on: names of `ptc mcp` begin with the time.  The slots hold numbers, so they are
 * filled again. */
static void sort_paths(PtcViewFiles *files, size_t from)
{
    char **paths = files->paths + from;
    size_t n = files->count - from;
    for (size_t gap = n / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            char *moved = paths[i];
            size_t j = i;
            for (; j >= gap && strcmp(paths[j - gap], moved) > 0; j -= gap)
                paths[j] = paths[j - gap];
            paths[j] = moved;
        }
    memset(files->slots, 0, VIEW_SLOTS * sizeof *files->slots);
    for (size_t i = 0; i < files->count; i++)
        *slot_of_path(files, files->paths[i]) = (uint32_t)i + 1;
}

static bool scan_directory(PtcViewFiles *files, DIR *dir, const char *name)
{
    char path[PTC_VIEW_PATH];
    size_t from = files->count;
    bool slash = name[0] && name[strlen(name) - 1] == '/', ok = true;
    for (struct dirent *e; ok && (e = readdir(dir));) {
        if (!is_trace_name(e->d_name))
            continue;
        int n = snprintf(path, sizeof path, "%s%s%s", name, slash ? "" : "/", e->d_name);
        if (n > 0 && (size_t)n < sizeof path)
            ok = add_view_path(files, path);
    }
    if (files->count > from)
        sort_paths(files, from);
    return ok;
}

static bool scan_one(PtcViewFiles *files, const char *name)
{
    struct stat st;
    if (stat(name, &st) != 0)
        return false;
    if (!S_ISDIR(st.st_mode)) {
        if (!S_ISREG(st.st_mode))
            errno = EINVAL;
        return S_ISREG(st.st_mode) && add_view_path(files, name);
    }
    DIR *dir = opendir(name);
    if (!dir)
        return false;
    bool ok = scan_directory(files, dir, name);
    closedir(dir);
    if (!ok)
        errno = ENOMEM;
    return ok;
}

bool ptc_view_files_scan(PtcViewFiles *files, PtcWhy *why)
{
    for (size_t i = 0; i < files->given_count; i++) {
        errno = ENOMEM;
        if (scan_one(files, files->given[i]))
            continue;
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%.200s: %s", files->given[i],
                    errno == EINVAL ? "it is neither a file nor a directory" : strerror(errno));
        return false;
    }
    return true;
}

/* ----------------------------------------------------------------------------- open, list */

int ptc_view_files_open(const PtcViewFiles *files, size_t number, uint64_t *bytes)
{
    struct stat st;
    if (number >= files->count)
        return -1;
    int fd = open(files->paths[number], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        *bytes = (uint64_t)st.st_size;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* File names are bytes; those that are no UTF-8 are shown with question marks. */
static void add_file_name(PtcBuf *out, const char *name)
{
    PtcBuf text;
    ptc_buf_init(&text, out->mem, PTC_VIEW_PATH);
    ptc_utf8_add(&text, ptc_text_cstr(name));
    ptc_emit_field_text(out, "name", ptc_buf_view(&text));
    out->failed = out->failed || text.failed;
    ptc_buf_deinit(&text);
}

static void add_file(PtcBuf *out, const char *path, size_t number)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    ptc_emit_object(out);
    ptc_emit_field_uint(out, "number", number);
    add_file_name(out, path);
    ptc_emit_field_uint(out, "bytes", (uint64_t)st.st_size);
    ptc_emit_field_int(out, "modified_ms", (int64_t)st.st_mtime * 1000);
    ptc_emit_object_end(out);
}

void ptc_view_files_list(const PtcViewFiles *files, PtcBuf *out)
{
    ptc_emit_object(out);
    ptc_emit_key(out, "files");
    ptc_emit_array(out);
    for (size_t i = 0; i < files->count; i++)
        add_file(out, files->paths[i], i);
    ptc_emit_array_end(out);
    ptc_emit_field_bool(out, "too_many", files->too_many);
    ptc_emit_object_end(out);
}

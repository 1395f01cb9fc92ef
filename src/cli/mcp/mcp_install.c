/* SPDX-License-Identifier: MIT
 * `ptc mcp --install`: puts the entry that --print-config knows into the file of a client.  What always holds: nothing
 * but that entry changes, byte for byte; a copy of the file is kept beside it; the new file replaces the old one in one
 * step; and a file that is not understood is left alone. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/mcp/mcp_options.h"
#include "json/members.h"
#include "upstream/config/config.h"
#include "upstream/config/config_json.h"

enum { INSTALL_PATH_BYTES = 4096, COPIES = 100 };

static int fail_install(const char *path, const char *why)
{
    ptc_io_printf(PTC_IO_STDERR, "ptc mcp: %s: %s\n", path, why);
    return PTC_EXIT_FAILED;
}

/* --------------------------------------------------------------------------------- editing */

/* A piece of the file that is replaced. */
typedef struct {
    size_t from, len;
    const char *before, *after; /* around the entry */
} FileChange;

/* The member of an object; `count` says how often it is there.  False: the text is broken. */
static bool find_config_member(PtcText object, const char *name, PtcText *value, size_t *count,
                               size_t *members)
{
    PtcMembers m = ptc_members_of(object);
    PtcText key, item;
    *count = *members = 0;
    while (ptc_members_next(&m, &key, &item)) {
        ++*members;
        if (ptc_text_is(key, name)) {
            *value = item;
            ++*count;
        }
    }
    return m.ended && !m.broken && !m.array;
}

/* Right behind the brace that opens an object: before all members, so that a comma behind the last one does not
 * matter. */
static size_t inside(PtcText plain, PtcText object)
{
    const char *brace = memchr(object.bytes, '{', object.len);
    return (size_t)(brace - plain.bytes) + 1;
}

/* Where the entry goes; NULL, or why the file cannot be changed. */
static const char *find_entry_place(PtcText plain, const char *section, FileChange *change)
{
    static const char broken[] = "it is not a JSON object (comments are allowed); mend it first";
    PtcText object = {NULL, 0}, entry = {NULL, 0};
    size_t count, members;
    if (!find_config_member(plain, section, &object, &count, &members))
        return broken;
    if (count > 1)
        return "it has the object for servers twice; remove one of them first";
    if (count == 0) {
        *change = (FileChange){inside(plain, plain), 0, "section", members ? "\n  }," : "\n  }\n"};
        return NULL;
    }
    if (!ptc_members_is_object(object) ||
        !find_config_member(object, "ptc", &entry, &count, &members))
        return "what should hold its servers is not an object; mend it first";
    if (count > 1)
        return "it has the entry \"ptc\" twice; remove one of them first";
    if (count == 1)
        *change = (FileChange){(size_t)(entry.bytes - plain.bytes), entry.len, "", ""};
    else
        *change = (FileChange){inside(plain, object), 0, "\n    \"ptc\": ", members ? "," : "\n  "};
    return NULL;
}

/* Do its lines end as on Windows? */
static bool has_crlf(PtcText text)
{
    const char *end = text.len ? memchr(text.bytes, '\n', text.len) : NULL;
    return end && end > text.bytes && end[-1] == '\r';
}

/* Lines that end as those of the file do: editors complain about files with both kinds. */
static void add_file_lines(PtcBuf *out, PtcText text, bool crlf)
{
    for (size_t i = 0; i < text.len; i++) {
        if (crlf && text.bytes[i] == '\n')
            ptc_buf_add_char(out, '\r');
        ptc_buf_add_char(out, text.bytes[i]);
    }
}

static void write_changed(PtcBuf *out, PtcText old, const FileChange *c, const char *section,
                          PtcText entry)
{
    char before[100];
    bool crlf = has_crlf(old);
    snprintf(before, sizeof before, "\n  \"%s\": {\n    \"ptc\": ", section);
    ptc_buf_add(out, old.bytes, c->from);
    add_file_lines(out, ptc_text_cstr(strcmp(c->before, "section") == 0 ? before : c->before),
                   crlf);
    add_file_lines(out, entry, crlf);
    add_file_lines(out, ptc_text_cstr(c->after), crlf);
    ptc_buf_add(out, old.bytes + c->from + c->len, old.len - c->from - c->len);
}

/* The file with the entry in it.  `document` is a file that has nothing else.  NULL, or why not. */
static const char *edit_client_config(PtcText old, PtcText document, const char *section,
                                      PtcBuf *out)
{
    PtcBuf plain;
    FileChange change;
    PtcText entry = ptc_members_get(ptc_members_get(document, section), "ptc");
    if (ptc_text_is_blank(old)) {
        ptc_buf_add(out, document.bytes, document.len);
        ptc_buf_add_char(out, '\n');
        return ptc_buf_ok(out) ? NULL : "out of memory";
    }
    ptc_buf_init(&plain, out->mem, PTC_CONFIG_BYTES + 1);
    ptc_config_json_plain(&plain, old);
    const char *why = !ptc_buf_ok(&plain) || plain.len != old.len ? "out of memory" : NULL;
    if (!why)
        why = find_entry_place(ptc_buf_view(&plain), section, &change);
    ptc_buf_deinit(&plain);
    if (why)
        return why;
    write_changed(out, old, &change, section, entry);
    return ptc_buf_ok(out) ? NULL : "out of memory";
}

/* ----------------------------------------------------------------------------------- files */

typedef struct {
    char path[INSTALL_PATH_BYTES]; /* of the file itself, where links lead */
    bool there;
    struct stat st;
} InstallTarget;

/* NULL, or why the file cannot be used. */
static const char *find_config_target(InstallTarget *t, const char *file)
{
    char name[INSTALL_PATH_BYTES], real[PATH_MAX];
    const char *home = getenv("HOME");
    if (!home || home[0] != '/' ||
        snprintf(name, sizeof name, "%s/%s", home, file) >= (int)sizeof name)
        return "HOME is not the path of a directory";
    t->there = realpath(name, real) != NULL;
    snprintf(t->path, sizeof t->path, "%s", t->there ? real : name);
    if (t->there)
        return stat(t->path, &t->st) != 0         ? strerror(errno)
               : !S_ISREG(t->st.st_mode)          ? "it is not a regular file"
               : t->st.st_size > PTC_CONFIG_BYTES ? "it is larger than 32 MiB"
                                                  : NULL;
    if (errno != ENOENT)
        return strerror(errno);
    if (lstat(name, &t->st) == 0)
        return "it is a link to a file that is not there; make that file, or remove the link";
    *strrchr(name, '/') = '\0';
    if (stat(name, &t->st) != 0 || !S_ISDIR(t->st.st_mode))
        return "its directory is not there: is this client installed? --print-config prints what "
               "to paste";
    return NULL;
}

/* Writes a file that is not there yet; false: errno says why. */
static bool write_new(const char *path, mode_t mode, PtcText text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode & 0777);
    if (fd < 0)
        return false;
    bool ok =
        fchmod(fd, mode & 0777) == 0 && ptc_io_write(fd, text.bytes, text.len) && fsync(fd) == 0;
    if (close(fd) != 0 || !ok) {
        (void)unlink(path);
        return false;
    }
    return true;
}

/* A copy under the first name that is free; false: errno says why. */
static bool keep_copy(const InstallTarget *t, PtcText old, char copy[INSTALL_PATH_BYTES + 32])
{
    for (int i = 1; i < COPIES; i++) {
        snprintf(copy, INSTALL_PATH_BYTES + 32, "%s.before-ptc-%d", t->path, i);
        if (write_new(copy, t->st.st_mode, old))
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* Has nobody else written the file meanwhile?  Clients write theirs whenever they like. */
static bool is_unchanged(const InstallTarget *t)
{
    struct stat now;
    if (!t->there)
        return access(t->path, F_OK) != 0;
    return stat(t->path, &now) == 0 && now.st_ino == t->st.st_ino && now.st_size == t->st.st_size &&
           now.st_mtim.tv_sec == t->st.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == t->st.st_mtim.tv_nsec;
}

static const char *replace_client_config(const InstallTarget *t, PtcText text)
{
    char fresh[INSTALL_PATH_BYTES + 32];
    snprintf(fresh, sizeof fresh, "%s.ptc-%ld", t->path, (long)getpid());
    if (!write_new(fresh, t->there ? t->st.st_mode : 0600, text))
        return strerror(errno);
    if (t->there && t->st.st_uid != geteuid() && chown(fresh, t->st.st_uid, t->st.st_gid) != 0) {
        (void)unlink(fresh);
        return "it belongs to somebody else";
    }
    const char *why = !is_unchanged(t) ? "somebody else has changed it just now; try again"
                      : rename(fresh, t->path) != 0 ? strerror(errno)
                                                    : NULL;
    if (why)
        (void)unlink(fresh);
    return why;
}

static int install_client_entry(const InstallTarget *t, PtcText old, PtcText new)
{
    char copy[INSTALL_PATH_BYTES + 32] = "";
    if (t->there && ptc_text_same(old, new)) {
        ptc_io_printf(PTC_IO_STDERR, "%s has it already\n", t->path);
        return PTC_EXIT_OK;
    }
    if (t->there && !keep_copy(t, old, copy))
        return fail_install(t->path, "no copy of it can be kept, so it is left as it is");
    const char *why = replace_client_config(t, new);
    if (why)
        return fail_install(t->path, why);
    ptc_io_printf(PTC_IO_STDERR, "wrote the entry \"ptc\" to %s\n", t->path);
    if (t->there)
        ptc_io_printf(PTC_IO_STDERR, "the file as it was: %s\n", copy);
    ptc_io_printf(PTC_IO_STDERR, "restart the client to use it\n");
    return PTC_EXIT_OK;
}

int ptc_mcp_install(PtcArena *arena, const PtcMcpOptions *o, int argc, char **argv)
{
    PtcBuf document = {.mem = arena->mem}, old, new;
    const char *section, *file;
    InstallTarget target = {.there = false};
    int status = ptc_mcp_print_document(arena, o, argc, argv, &document, &section, &file);
    if (status != PTC_EXIT_OK) {
        ptc_buf_deinit(&document);
        return status;
    }
    ptc_buf_init(&old, arena->mem, PTC_CONFIG_BYTES);
    ptc_buf_init(&new, arena->mem, PTC_CONFIG_BYTES + PTC_IO_MAX);
    const char *why = find_config_target(&target, file);
    if (!why && target.there)
        why = ptc_io_read(&old, target.path);
    if (!why)
        why = edit_client_config(ptc_buf_view(&old), ptc_buf_view(&document), section, &new);
    status = why ? fail_install(target.path[0] ? target.path : file, why)
                 : install_client_entry(&target, ptc_buf_view(&old), ptc_buf_view(&new));
    ptc_buf_deinit(&new);
    ptc_buf_deinit(&old);
    ptc_buf_deinit(&document);
    return status;
}

/* SPDX-License-Identifier: MIT
 * Agents in files, which may name other files as tools.
 *
 * A file is identified by device and inode, however it is named, so that each is read once and a cycle is found.
 * Names are relative to the file in which they occur.  Only regular files are read: a pipe would make us wait. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/definition/definition_form.h"
#include "agent/definition/definition_int.h"
#include "base/os/whole_file.h"
#include "base/utf8.h"
#include "lisp/read/diag.h"

enum { DEF_PATH_BYTES = 4096 };

typedef struct DefinitionFile {
    dev_t device;
    ino_t inode;
    PtcAgentDef *def; /* NULL: being read */
} DefinitionFile;

/* The files of one agent. */
struct PtcAgentFiles {
    DefinitionFile items[PTC_AGENT_FILES];
    size_t count;
    int directory;      /* of the file being read */
    const char *inside; /* its name, for messages; NULL: none */
    bool named;         /* the file of a fault is in its message */
};

static bool refuse_agent_file(PtcWhy *fault, const char *name, const char *why)
{
    return ptc_fault_set(fault, "", "%.200s: %s", name, why);
}

/* ------------------------------------------------------------------------------- reading */

/* The directory of a path, opened as a base for the names in its file. */
static int open_directory(int from, const char *path)
{
    char name[DEF_PATH_BYTES];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (n >= sizeof name)
        return -1;
    memcpy(name, n ? path : ".", n ? n : 1);
    name[n ? n : 1] = 0;
    return openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Says which of several files a fault is in, not which ones led there; whoever opened the first knows its name. */
static void name_faulty_file(struct PtcAgentFiles *files, PtcWhy *fault, const char *path)
{
    if (fault->class == PTC_WHY_NO_MEMORY || files->named)
        return;
    files->named = true;
    ptc_why_reword(fault, "%s (in %.200s)", fault->text, path);
}

/* The whole text of an open file. */
static bool read_agent_text(int fd, const char *path, PtcBuf *text, PtcWhy *fault)
{
    if (!ptc_whole_file_read_from(fd, text))
        return refuse_agent_file(fault, path,
                                 text->full ? "it is larger than 1 MiB" : strerror(errno));
    return ptc_utf8_valid(ptc_buf_view(text).bytes, text->len) ||
           refuse_agent_file(fault, path, "it is not UTF-8");
}

static PtcAgentDef *read_form(PtcMem *mem, const char *path, PtcText text,
                              const PtcAgentReading *how, PtcWhy *fault)
{
    PtcAgentForm form;
    PtcAgentReading inner = *how;
    PtcAgentDef *def = NULL;
    if (ptc_definition_form_read(&form, mem, path, text, fault)) {
        inner.prompt = form.prompt;
        inner.prompt_line = form.prompt_line;
        def = ptc_definition_read_json(form.json, &inner, fault);
    }
    ptc_definition_form_deinit(&form);
    return def;
}

/* Reads an open file; the names in it are relative to its directory. */
static PtcAgentDef *read_open(int fd, const char *path, const PtcAgentReading *how, PtcWhy *fault)
{
    struct PtcAgentFiles *files = how->files;
    int before = files->directory;
    const char *inside = files->inside;
    PtcMem mem;
    PtcBuf text;
    PtcAgentDef *def = NULL;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    ptc_buf_init(&text, &mem, PTC_AGENT_FILE_BYTES);
    files->directory = open_directory(before, path);
    files->inside = path;
    if (files->directory < 0)
        refuse_agent_file(fault, path, strerror(errno));
    else if (read_agent_text(fd, path, &text, fault) &&
             !(def = read_form(&mem, path, ptc_buf_view(&text), how, fault)) && inside)
        name_faulty_file(files, fault, path);
    if (files->directory >= 0)
        close(files->directory);
    files->directory = before;
    files->inside = inside;
    ptc_buf_deinit(&text);
    return def;
}

/* -------------------------------------------------------------------------------- knowing */

static DefinitionFile *find_agent_file(struct PtcAgentFiles *files, const struct stat *st)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].device == st->st_dev && files->items[i].inode == st->st_ino)
            return &files->items[i];
    return NULL;
}

/* The agent in an open file: already known, or read now. */
static PtcAgentDef *take_agent_file(int fd, const char *path, const PtcAgentReading *how,
                                    PtcWhy *fault)
{
    struct stat st;
    struct PtcAgentFiles *files = how->files;
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    DefinitionFile *file = regular ? find_agent_file(files, &st) : NULL;
    if (file && file->def)
        return ptc_definition_retain(file->def);
    const char *why = !regular                          ? "it is not a regular file"
                      : file                            ? "agents that include each other never end"
                      : files->count == PTC_AGENT_FILES ? "more than 64 files belong to this agent"
                                                        : NULL;
    if (why) {
        refuse_agent_file(fault, path, why);
        return NULL;
    }
    size_t number = files->count++;
    files->items[number] = (DefinitionFile){.device = st.st_dev, .inode = st.st_ino};
    PtcAgentDef *def = read_open(fd, path, how, fault);
    files->items[number].def = ptc_definition_retain(def);
    return def;
}

/* -1 with the fault. */
static int open_agent_file(const char *path, const PtcAgentReading *how, PtcWhy *fault)
{
    int fd = openat(how->files->directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        refuse_agent_file(fault, path, strerror(errno));
    return fd;
}

static PtcAgentDef *load_agent_file(const char *path, const PtcAgentReading *how, PtcWhy *fault)
{
    int fd = open_agent_file(path, how, fault);
    if (fd < 0)
        return NULL;
    PtcAgentDef *def = take_agent_file(fd, path, how, fault);
    close(fd);
    return def;
}

static bool copy_agent_path(PtcText name, char path[DEF_PATH_BYTES], PtcWhy *fault)
{
    if (name.len == 0 || name.len >= DEF_PATH_BYTES || memchr(name.bytes, 0, name.len))
        return ptc_fault_set(fault, "", "found a name of %zu bytes; allowed is the name of a file",
                             name.len);
    memcpy(path, name.bytes, name.len);
    path[name.len] = 0;
    return true;
}

PtcAgentDef *ptc_definition_include(PtcText name, const PtcAgentReading *how, PtcWhy *fault)
{
    char path[DEF_PATH_BYTES];
    return copy_agent_path(name, path, fault) ? load_agent_file(path, how, fault) : NULL;
}

bool ptc_definition_include_text(PtcText name, const PtcAgentReading *how, PtcBuf *out,
                                 PtcWhy *fault)
{
    char path[DEF_PATH_BYTES];
    struct stat st;
    int fd = copy_agent_path(name, path, fault) ? open_agent_file(path, how, fault) : -1;
    if (fd < 0)
        return false;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
                  ? read_agent_text(fd, path, out, fault)
                  : refuse_agent_file(fault, path, "it is not a regular file");
    close(fd);
    return ok;
}

PtcAgentDef *ptc_definition_open(const char *path, const PtcAgentReading *how, PtcWhy *fault)
{
    struct PtcAgentFiles files = {.directory = AT_FDCWD};
    PtcAgentReading inner = *how;
    inner.files = &files;
    inner.depth = 0;
    PtcAgentDef *def = load_agent_file(path, &inner, fault);
    for (size_t i = 0; i < files.count; i++)
        ptc_definition_release(files.items[i].def);
    return def;
}

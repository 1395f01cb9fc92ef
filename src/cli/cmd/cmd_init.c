/* SPDX-License-Identifier: MIT
 * `ptc init`: a small project with an agent that runs at once, without a key or a network.
 *
 * What always holds: existing files are never changed.  Either all files are written or none. */
#include "cli/cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd/project_files.h"
#include "cli/io.h"
#include "cli/options.h"

static const struct {
    const char *name, *what;
    const unsigned char *bytes;
    const size_t *len;
} files[] = {
    {"agent.json", "the agent", ptc_project_agent, &ptc_project_agent_len},
    {"agent.schema.json", "what may be in it, for editors", ptc_project_schema,
     &ptc_project_schema_len},
    {"orders.json", "data for it", ptc_project_orders, &ptc_project_orders_len},
    {"tests.ptct", "tests", ptc_project_tests, &ptc_project_tests_len},
    {"README.md", "what to try", ptc_project_readme, &ptc_project_readme_len},
    {".gitignore", "keeps keys out of the repository", ptc_project_gitignore,
     &ptc_project_gitignore_len},
};
enum { FILES = sizeof files / sizeof *files };

static const PtcUsage usage = {
    .command = "init",
    .synopsis = "DIR",
    .summary = "Makes a project with an agent, tools, data and tests.  Its model is a script, so "
               "that it runs at once, without a key and without a network.\n"
               "Exit status: 0 done, 1 nothing was written, 2 wrong usage.",
    .examples = "  ptc init invoices\n  cd invoices\n  ptc run agent.json\n",
};

static int fail_init(const char *dir, const char *name, const char *why)
{
    ptc_io_printf(PTC_IO_STDERR, "ptc init: %s%s%s: %s\n", dir, *name ? "/" : "", name, why);
    return PTC_EXIT_FAILED;
}

/* The first file that already exists; NULL: none does. */
static const char *find_taken(int dir)
{
    struct stat st;
    for (size_t i = 0; i < FILES; i++)
        if (fstatat(dir, files[i].name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            return files[i].name;
    return NULL;
}

static bool write_starter_file(int dir, size_t i)
{
    int fd = openat(dir, files[i].name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return false;
    bool ok = ptc_io_write(fd, files[i].bytes, *files[i].len);
    int why = errno;
    ok = close(fd) == 0 && ok;
    if (!ok)
        unlinkat(dir, files[i].name, 0);
    errno = why ? why : errno;
    return ok;
}

/* Writes all of them, or removes those that were written. */
static int write_files(int dir, const char *path)
{
    const char *taken = find_taken(dir);
    if (taken)
        return fail_init(path, taken,
                         "it is there already, and nothing was written; name another directory");
    for (size_t i = 0; i < FILES; i++) {
        errno = 0;
        if (write_starter_file(dir, i))
            continue;
        const char *why = errno ? strerror(errno) : "it could not be written";
        for (size_t k = i; k-- > 0;)
            unlinkat(dir, files[k].name, 0);
        return fail_init(path, files[i].name, why);
    }
    return PTC_EXIT_OK;
}

static void list_starter_files(const char *path)
{
    for (size_t i = 0; i < FILES; i++)
        ptc_io_printf(PTC_IO_STDOUT, "%s/%-19s%s\n", path, files[i].name, files[i].what);
    ptc_io_printf(PTC_IO_STDOUT, "\nTry: cd %s && ptc run agent.json\n", path);
}

int ptc_cmd_init(PtcMem *mem, int argc, char **argv)
{
    (void)mem;
    int none;
    PtcParse parse = ptc_options_parse(&usage, &none, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    if (argc != 1 || !argv[0][0])
        return ptc_options_wrong(&usage, "it takes the name of a directory: ptc init invoices");
    bool made = mkdir(argv[0], 0777) == 0;
    if (!made && errno != EEXIST)
        return fail_init(argv[0], "", strerror(errno));
    int dir = open(argv[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return fail_init(argv[0], "", strerror(errno));
    int status = write_files(dir, argv[0]);
    close(dir);
    if (status != PTC_EXIT_OK && made)
        rmdir(argv[0]);
    if (status == PTC_EXIT_OK)
        list_starter_files(argv[0]);
    return status;
}

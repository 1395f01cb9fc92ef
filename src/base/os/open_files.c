/* SPDX-License-Identifier: MIT
 * The limit of open files, RLIMIT_NOFILE. */
#include "base/os/open_files.h"

#include <stdint.h>
#include <sys/resource.h>

enum { ENOUGH = 65536 };

static size_t soft_before; /* 0: not raised */

static size_t set_soft(struct rlimit *limit, rlim_t soft)
{
    rlim_t old = limit->rlim_cur;
    limit->rlim_cur = soft < limit->rlim_max ? soft : limit->rlim_max;
    return setrlimit(RLIMIT_NOFILE, limit) == 0 ? (size_t)old : 0;
}

void ptc_open_files_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < ENOUGH &&
        limit.rlim_cur < limit.rlim_max)
        soft_before = set_soft(&limit, ENOUGH);
}

size_t ptc_open_files_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > SIZE_MAX ? SIZE_MAX
                                                                              : limit.rlim_cur;
}

size_t ptc_open_files_before(void)
{
    return soft_before;
}

void ptc_open_files_lower(size_t before)
{
    struct rlimit limit;
    if (before && getrlimit(RLIMIT_NOFILE, &limit) == 0)
        (void)set_soft(&limit, before);
}

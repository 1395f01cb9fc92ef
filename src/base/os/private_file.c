/* SPDX-License-Identifier: MIT
 * Checks that a file with secrets is private.  A file that cannot be examined passes: whoever opens it learns why. */
#include "base/os/private_file.h"

#include <sys/stat.h>
#include <unistd.h>

bool ptc_private_file_check(const char *path, PtcWhy *why)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return true;
    mode_t loose = st.st_mode & (S_IRWXG | S_IRWXO);
    if (st.st_uid == 0 && geteuid() != 0)
        loose &= ~(mode_t)S_IRGRP;
    return !loose || ptc_why_say(why, PTC_WHY_REFUSED,
                                 "others may read or write %s (its mode is %03o): chmod 600 %s",
                                 path, (unsigned)(st.st_mode & 0777), path);
}

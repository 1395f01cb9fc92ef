/* SPDX-License-Identifier: MIT
 * Checks that a file with secrets is private.  A file that cannot be examined passes: whoever opens it learns why. */
#include "base/os/private_file.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool ptc_private_file_check(const char *path, char *why, size_t size)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return true;
    mode_t loose = st.st_mode & (S_IRWXG | S_IRWXO);
    if (st.st_uid == 0 && geteuid() != 0)
        loose &= ~(mode_t)S_IRGRP;
    if (!loose)
        return true;
    snprintf(why, size, "others may read or write %s (its mode is %03o): chmod 600 %s", path,
             (unsigned)(st.st_mode & 0777), path);
    return false;
}

/* SPDX-License-Identifier: MIT
 * Packets on the control socket, with at most one descriptor each.  What always holds: a received descriptor is
 * close-on-exec. */
#define _GNU_SOURCE
#include "exec/zygote.h"

#include <errno.h>
#include <sys/socket.h>

/* Room for one descriptor. */
typedef union Control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
} Control;

bool ptc_zygote_send(int to, const void *bytes, size_t len, int fd)
{
    Control control = {{0}};
    struct iovec part = {(void *)(uintptr_t)bytes, len};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    ssize_t n;
    do
        n = sendmsg(to, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len;
}

ssize_t ptc_zygote_receive(int from, void *bytes, size_t size, int *fd)
{
    Control control;
    struct iovec part = {bytes, size};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    ssize_t n;
    *fd = -1;
    do
        n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof *fd))
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return n;
}

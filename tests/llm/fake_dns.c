/* SPDX-License-Identifier: MIT
 * fake_dns.c - a system that is not as it should be, for tests, loaded with LD_PRELOAD.  Names that end in .fail are
 * not found, those that end in .hang never come back within a test, those in .slow late; with PTC_TEST_NO_CURL set
 * there is no libcurl.  Everything else is as always. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ends_with(const char *name, const char *end)
{
    size_t n = name ? strlen(name) : 0, m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **found)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        (__typeof__(real))dlsym(RTLD_NEXT, "getaddrinfo");
    if (ends_with(node, ".hang"))
        sleep(120);
    if (ends_with(node, ".hang") || ends_with(node, ".fail"))
        return EAI_NONAME;
    if (ends_with(node, ".slow")) {
        sleep(1);
        return EAI_NONAME;
    }
    return real(node, service, hints, found);
}

void *dlopen(const char *file, int mode)
{
    void *(*real)(const char *, int) = (__typeof__(real))dlsym(RTLD_NEXT, "dlopen");
    if (file && strstr(file, "libcurl") && getenv("PTC_TEST_NO_CURL"))
        return NULL;
    return real(file, mode);
}

/* SPDX-License-Identifier: MIT
 * fake_dns.c - a look-up of names for tests, loaded with LD_PRELOAD: what ends in .fail is not found, what ends in .hang
 * never comes back within a test.  Everything else is looked up as always. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
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
        sleep(20);
    if (ends_with(node, ".hang") || ends_with(node, ".fail"))
        return EAI_NONAME;
    if (ends_with(node, ".slow")) {
        sleep(1);
        return EAI_NONAME;
    }
    return real(node, service, hints, found);
}

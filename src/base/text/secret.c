/* SPDX-License-Identifier: MIT
 * Secrets: compared in constant time, wiped for real, drawn from the system's random source. */
#include "base/text/secret.h"

#include <errno.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/types.h>

bool ptc_secret_same(const void *a, const void *b, size_t len)
{
    const volatile uint8_t *x = a, *y = b;
    uint8_t differ = 0;
    for (size_t i = 0; i < len; i++)
        differ = (uint8_t)(differ | (x[i] ^ y[i]));
    return differ == 0;
}

void ptc_secret_wipe(void *block, size_t len)
{
    volatile uint8_t *p = block;
    while (len-- > 0)
        *p++ = 0;
}

bool ptc_random_bytes(void *out, size_t len)
{
    char *p = out;
    while (len) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

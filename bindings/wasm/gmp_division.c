/* SPDX-License-Identifier: MIT
 * The one function of GMP that mini-gmp has under another name.  What always holds: the divisor is not longer than the
 * number, and its highest limb is not 0, as GMP asks for. */
#include <string.h>

#include "gmp.h"

void mpn_tdiv_qr(mp_ptr quotient, mp_ptr rest, mp_size_t zero, mp_srcptr number, mp_size_t size,
                 mp_srcptr divisor, mp_size_t divisor_size)
{
    mpz_t n, d, q, r;
    (void)zero;
    mpz_init(q);
    mpz_init(r);
    mpz_tdiv_qr(q, r, mpz_roinit_n(n, number, size), mpz_roinit_n(d, divisor, divisor_size));
    memset(quotient, 0, (size_t)(size - divisor_size + 1) * sizeof *quotient);
    memset(rest, 0, (size_t)divisor_size * sizeof *rest);
    mpn_copyi(quotient, mpz_limbs_read(q), (mp_size_t)mpz_size(q));
    mpn_copyi(rest, mpz_limbs_read(r), (mp_size_t)mpz_size(r));
    mpz_clear(q);
    mpz_clear(r);
}

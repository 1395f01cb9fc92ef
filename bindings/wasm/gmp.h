/* SPDX-License-Identifier: MIT
 * What libptc needs of GMP, over mini-gmp, which comes with its sources: whole GMP would be assembly or minutes of
 * building.  Limbs have 64 bits here too. */
#ifndef PTC_WASM_GMP_H
#define PTC_WASM_GMP_H

#define MINI_GMP_LIMB_TYPE long long
#include "mini-gmp.h"

#define GMP_LIMB_BITS 64
#define GMP_NUMB_BITS 64
#define GMP_NAIL_BITS 0

void mpn_tdiv_qr(mp_ptr quotient, mp_ptr rest, mp_size_t zero, mp_srcptr number, mp_size_t size,
                 mp_srcptr divisor, mp_size_t divisor_size);

#endif

/* SPDX-License-Identifier: MIT
 * compat.h - included before everything of libptc: what the C library of Emscripten lacks. */
#ifndef PTC_WASM_COMPAT_H
#define PTC_WASM_COMPAT_H

#define sigabbrev_np(number) "signal"

#endif

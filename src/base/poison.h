/* SPDX-License-Identifier: MIT
 * poison.h - tells AddressSanitizer which memory of our own heap is free, so that a stale pointer into it is caught
 * as it would be in malloc's.  Does nothing in other builds. */
#ifndef PTC_BASE_POISON_H
#define PTC_BASE_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define PTC_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PTC_HAS_ASAN 1
#endif
#endif

#ifdef PTC_HAS_ASAN
#include <sanitizer/asan_interface.h>
#define PTC_POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define PTC_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define PTC_POISON(p, n) ((void)(p), (void)(n))
#define PTC_UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#endif

/* SPDX-License-Identifier: MIT
 * sanitized.h - is this a build with a sanitizer?  Their runtime maps terabytes and reports on descriptor 2. */
#ifndef PTC_BASE_SANITIZED_H
#define PTC_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PTC_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PTC_SANITIZED 1
#endif
#endif
#ifndef PTC_SANITIZED
#define PTC_SANITIZED 0
#endif

#endif

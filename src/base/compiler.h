/* SPDX-License-Identifier: MIT
 * compiler.h - the few compiler-specific keywords we use, each with a plain fallback. */
#ifndef PTC_BASE_COMPILER_H
#define PTC_BASE_COMPILER_H

#if defined(__GNUC__)
#define PTC_LIKELY(x) __builtin_expect(!!(x), 1)
#define PTC_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PTC_MUST_USE __attribute__((warn_unused_result))
#define PTC_NOINLINE __attribute__((noinline))
#define PTC_UNUSED __attribute__((unused)) /* a parameter that may be left alone */
#define PTC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* Memory that is soon read; any address will do. */
#define PTC_PREFETCH(at) __builtin_prefetch(at)
#else
#define PTC_LIKELY(x) (x)
#define PTC_UNLIKELY(x) (x)
#define PTC_MUST_USE
#define PTC_NOINLINE
#define PTC_UNUSED
#define PTC_PRINTF(fmt, args)
#define PTC_PREFETCH(at) ((void)(at))
#endif

#endif

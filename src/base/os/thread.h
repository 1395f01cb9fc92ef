/* SPDX-License-Identifier: MIT
 * thread.h - threads that the library starts itself. */
#ifndef PTC_BASE_OS_THREAD_H
#define PTC_BASE_OS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

/* Starts a thread with this many bytes of C stack.  Signals are the host's business: none is handled on a thread that
 * it does not know. */
PTC_MUST_USE bool ptc_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *),
                                   void *user);

#endif

/* SPDX-License-Identifier: MIT
 * store_memory.h - a store that ends with the process. */
#ifndef PTC_STORE_STORE_MEMORY_H
#define PTC_STORE_STORE_MEMORY_H

#include "base/why.h"
#include "store/store.h"

/* NULL with a text in why. */
PTC_MUST_USE PtcStore *ptc_store_memory(PtcWhy *why);

#endif

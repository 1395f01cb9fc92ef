/* SPDX-License-Identifier: MIT
 * curl_library.h - the libcurl functions in use, loaded when a request is sent and not before: a command that asks
 * no model starts without the library and does not need it. */
#ifndef PTC_NET_CURL_LIBRARY_H
#define PTC_NET_CURL_LIBRARY_H

/* Turns off macros that check the types of direct calls, because with them the functions cannot be named. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/why.h"

/* Only pointers to functions, in the order of the names in curl_library.c. */
typedef struct PtcCurl {
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_version_info) *version_info;
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_setopt) *easy_setopt;
    __typeof__(curl_easy_getinfo) *easy_getinfo;
    __typeof__(curl_easy_reset) *easy_reset;
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_easy_strerror) *easy_strerror;
    __typeof__(curl_multi_init) *multi_init;
    __typeof__(curl_multi_setopt) *multi_setopt;
    __typeof__(curl_multi_add_handle) *multi_add_handle;
    __typeof__(curl_multi_remove_handle) *multi_remove_handle;
    __typeof__(curl_multi_perform) *multi_perform;
    __typeof__(curl_multi_poll) *multi_poll;
    __typeof__(curl_multi_info_read) *multi_info_read;
    __typeof__(curl_multi_cleanup) *multi_cleanup;
} PtcCurl;

/* The library, the same for all threads, loaded by the first that asks and never unloaded; NULL with the
 * reason if there is none that will do. */
const PtcCurl *ptc_curl_load(PtcWhy *why);

#endif

/* SPDX-License-Identifier: MIT
 * Loads libcurl.  What always holds: it is loaded and initialised once per process, before any other of its
 * functions is called, and is never unloaded, because it may have threads that look up names. */
#include "net/curl_library.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/library.h"

enum { OLDEST = 0x075500 }; /* 7.85.0: protocols by name */

static const char *const names[] = {
    "curl_global_init",   "curl_version_info", "curl_easy_init",        "curl_easy_setopt",
    "curl_easy_getinfo",  "curl_easy_reset",   "curl_easy_cleanup",     "curl_easy_strerror",
    "curl_multi_init",    "curl_multi_setopt", "curl_multi_add_handle", "curl_multi_remove_handle",
    "curl_multi_perform", "curl_multi_poll",   "curl_multi_info_read",  "curl_multi_cleanup",
};

static PtcCurl curl;
static const char *trouble;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Without asynchronous look-ups, one that hangs could not be given up. */
static bool has_features(void)
{
    const curl_version_info_data *info = curl.version_info(CURLVERSION_NOW);
    return info->version_num >= OLDEST && (info->features & CURL_VERSION_ASYNCHDNS) &&
           (info->features & CURL_VERSION_SSL);
}

static void load_curl_library(void)
{
    static const char *const files[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so", NULL};
    const char *missing;
    bool found = PTC_LIBRARY_LOAD(files, names, &curl, &missing) != NULL;
    if (!found && !missing)
        trouble = "the library libcurl (libcurl.so.4) is not installed; "
                  "on Debian and Ubuntu it is in the package libcurl4";
    else if (!found || !has_features())
        trouble = "the library libcurl is too old, or has no TLS or no asynchronous look-up of "
                  "names; 7.85 or later is needed";
    else if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        trouble = "the library libcurl could not be initialised";
}

const PtcCurl *ptc_curl_load(PtcWhy *why)
{
    pthread_once(&once, load_curl_library);
    if (trouble)
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s", trouble);
    return trouble ? NULL : &curl;
}

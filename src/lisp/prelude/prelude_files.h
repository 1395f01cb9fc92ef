/* SPDX-License-Identifier: MIT
 * prelude_files.h - the text of prelude/<file>.clj, put into the library by cmake/embed.cmake. */
#ifndef PTC_LISP_PRELUDE_FILES_H
#define PTC_LISP_PRELUDE_FILES_H

#include <stddef.h>

/* X(file, namespace of the builtins that it defines, of which another file may have others) */
#define PTC_PRELUDE_FILES(X)       \
    X(cl_format, "clojure.pprint") \
    X(core, "clojure.core")        \
    X(csv, "csv")                  \
    X(data, "clojure.data")        \
    X(pprint, "clojure.pprint")    \
    X(set, "clojure.set")          \
    X(string, "clojure.string")    \
    X(zip, "clojure.zip")

#define DECLARE(file, ns)                            \
    extern const unsigned char ptc_prelude_##file[]; \
    extern const size_t ptc_prelude_##file##_len;
PTC_PRELUDE_FILES(DECLARE)
#undef DECLARE

#endif

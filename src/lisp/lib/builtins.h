/* SPDX-License-Identifier: MIT
 * builtins.h - hands the builtins to the kernel, which knows none of them by itself. */
#ifndef PTC_LISP_LIB_BUILTINS_H
#define PTC_LISP_LIB_BUILTINS_H

/* Must have been called before a program is read or a builtin looked up; all calls but the first do nothing. */
void ptc_builtins_ready(void);

#endif

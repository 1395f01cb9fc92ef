/* SPDX-License-Identifier: MIT
 * page_files.h - the viewer's page, from src/viewer/page; cmake/embed.cmake makes the bytes. */
#ifndef PTC_VIEWER_PAGE_FILES_H
#define PTC_VIEWER_PAGE_FILES_H

#include <stddef.h>

#define PTC_PAGE(name)                            \
    extern const unsigned char ptc_page_##name[]; \
    extern const size_t ptc_page_##name##_len;

PTC_PAGE(index)
PTC_PAGE(style)
PTC_PAGE(app)
PTC_PAGE(rows)
PTC_PAGE(detail)
PTC_PAGE(text)
PTC_PAGE(worker)
PTC_PAGE(approvals)
PTC_PAGE(desk)
#undef PTC_PAGE

#endif

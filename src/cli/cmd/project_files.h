/* SPDX-License-Identifier: MIT
 * project_files.h - what `ptc init` writes, from src/cli/project and schemas; cmake/embed.cmake makes the bytes. */
#ifndef PTC_CLI_CMD_PROJECT_FILES_H
#define PTC_CLI_CMD_PROJECT_FILES_H

#include <stddef.h>

#define PTC_PROJECT(name)                            \
    extern const unsigned char ptc_project_##name[]; \
    extern const size_t ptc_project_##name##_len;

PTC_PROJECT(agent)
PTC_PROJECT(schema)
PTC_PROJECT(orders)
PTC_PROJECT(tests)
PTC_PROJECT(readme)
PTC_PROJECT(gitignore)
#undef PTC_PROJECT

#endif

/* SPDX-License-Identifier: MIT
 * mcp_paths.h - arguments of `ptc mcp` for others to use: a client starts the server from a directory of its own, so
 * file names in the arguments must be absolute, and the files must exist. */
#ifndef PTC_CLI_MCP_MCP_PATHS_H
#define PTC_CLI_MCP_MCP_PATHS_H

#include "base/arena.h"

/* Replaces arguments that name files, in place; texts are in the arena.  False: one of them does not exist; the
 * message is on standard error. */
PTC_MUST_USE bool ptc_mcp_paths_absolute(PtcArena *arena, int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT
 * fixture_http.h - the fixture server over HTTP: --http ADDRESS:PORT, and an option for each limit that tests turn. */
#ifndef PTC_TESTS_MCP_FIXTURE_HTTP_H
#define PTC_TESTS_MCP_FIXTURE_HTTP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/http/http.h"

/* The value behind an option, NULL without it. */
static inline const char *http_option(int argc, char **argv, const char *name)
{
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return NULL;
}

static inline long http_number(int argc, char **argv, const char *name)
{
    const char *text = http_option(argc, argv, name);
    return text ? strtol(text, NULL, 10) : 0;
}

/* The text of the token file, which the caller frees; NULL without one. */
static inline char *http_tokens(const char *path, size_t *len)
{
    enum { MAX = 64 * 1024 };
    FILE *file = path ? fopen(path, "r") : NULL;
    char *text = file ? malloc(MAX) : NULL;
    *len = text ? fread(text, 1, MAX, file) : 0;
    if (file)
        fclose(file);
    return text;
}

static inline int serve_http(PtcMcp *mcp, int argc, char **argv)
{
    PtcWhy why;
    const char *host = http_option(argc, argv, "--allow-host");
    const char *origin = http_option(argc, argv, "--allow-origin");
    size_t len;
    long leave = http_number(argc, argv, "--leave-ms"); /* none unless given */
    char *tokens = http_tokens(http_option(argc, argv, "--token-file"), &len);
    PtcHttpConfig config = {
        .listen = http_option(argc, argv, "--http"),
        .tokens = tokens,
        .tokens_len = len,
        .hosts = &host,
        .host_count = host != NULL,
        .origins = &origin,
        .origin_count = origin != NULL,
        .stateless = http_option(argc, argv, "--stateless") != NULL,
        .max_sessions = (unsigned)http_number(argc, argv, "--max-sessions"),
        .max_connections = (unsigned)http_number(argc, argv, "--max-connections"),
        .request_ms = http_number(argc, argv, "--request-ms"),
        .send_ms = http_number(argc, argv, "--send-ms"),
        .leave_ms = leave ? leave : -1,
        .drain_ms = http_number(argc, argv, "--drain-ms"),
        .max_body_bytes = (size_t)http_number(argc, argv, "--bodies"),
        .owner_share = (unsigned)http_number(argc, argv, "--owner-share"),
        .isolation = http_option(argc, argv, "--isolation"),
    };
    ptc_http_block_signals();
    PtcHttp *http = ptc_http_new(mcp, &config, &why);
    free(tokens);
    if (!http) {
        fprintf(stderr, "fixture: %s\n", why.text);
        return 1;
    }
    ptc_http_serve(http);
    ptc_http_free(http);
    return 0;
}

#endif

/* SPDX-License-Identifier: MIT
 * Where traces go.  The variables count only when the option is given: a process that somebody else configured for
 * OpenTelemetry does not start to send what programs do. */
#include "cli/out/otlp_out.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "cli/io.h"
#include "net/url.h"

#define TRACES_PATH "/v1/traces"
enum { OTLP_HEADERS = 16 * PTC_KB };

static void say_otlp(void *user, const char *why)
{
    ptc_io_printf(PTC_IO_STDERR,
                  "ptc %s: --otlp: %s; traces were left out, and more of them are only counted\n",
                  (const char *)user, why);
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* The address of the collector, to which the path of traces belongs, or one that has it already. */
static bool put_address(PtcBuf *url, const char *text, bool whole, PtcWhy *why)
{
    static const char path[] = TRACES_PATH;
    PtcUrl parts;
    size_t n = strlen(text), m = sizeof path - 1;
    whole = whole || (n >= m && strcmp(text + n - m, path) == 0);
    while (!whole && n && text[n - 1] == '/')
        n--;
    ptc_buf_add(url, text, n);
    if (!whole)
        ptc_buf_add_cstr(url, path);
    PtcWhy wrong;
    if (!ptc_url_parse(ptc_buf_view(url), &parts, &wrong))
        return ptc_why_say(why, PTC_WHY_INVALID, "the address %s", wrong.text);
    return (ptc_buf_add_char(url, '\0') && ptc_buf_ok(url)) || ptc_why_no_memory(why);
}

static bool find_address(PtcBuf *url, const char *option, PtcWhy *why)
{
    const char *traces = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
               *base = variable(OTLP_ENDPOINT);
    if (strcmp(option, "env") != 0)
        return put_address(url, option, false, why);
    if (traces)
        return put_address(url, traces, true, why);
    return put_address(url, base ? base : "http://localhost:4318", false, why);
}

static bool add_decoded(PtcBuf *out, PtcText text)
{
    for (size_t i = 0; i < text.len; i++) {
        int high, low;
        char c = text.bytes[i];
        if (c == '%' && i + 2 < text.len && (high = ptc_ascii_hex_value(text.bytes[i + 1])) >= 0 &&
            (low = ptc_ascii_hex_value(text.bytes[i + 2])) >= 0) {
            c = (char)(high * 16 + low);
            i += 2;
        }
        if ((unsigned char)c < ' ' || c == 0x7f)
            return false;
        ptc_buf_add_char(out, c);
    }
    return true;
}

/* name=value,name=value with values as in addresses, into lines. */
static bool put_otlp_headers(PtcBuf *out, const char *text, PtcWhy *why)
{
    while (text && *text) {
        size_t n = strcspn(text, ",");
        const char *equals = memchr(text, '=', n);
        if (!equals)
            return ptc_why_say(why, PTC_WHY_INVALID,
                               "OTEL_EXPORTER_OTLP_HEADERS must be name=value,name=value");
        PtcText name = ptc_text_trim((PtcText){text, (size_t)(equals - text)}, " \t");
        PtcText value = {equals + 1, n - (size_t)(equals - text) - 1};
        ptc_buf_add(out, name.bytes, name.len);
        ptc_buf_add_cstr(out, ": ");
        if (!name.len || !add_decoded(out, ptc_text_trim(value, " \t")))
            return ptc_why_say(why, PTC_WHY_INVALID,
                               "OTEL_EXPORTER_OTLP_HEADERS has a header that cannot be sent");
        ptc_buf_add_char(out, '\n');
        text += n + (text[n] == ',');
    }
    return ptc_buf_ok(out) || ptc_why_no_memory(why);
}

bool ptc_otlp_out_open(PtcMem *mem, const char *command, const char *option, bool one,
                       PtcOtlp **otlp, PtcWhy *why)
{
    PtcBuf url, headers;
    const char *given = variable("OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
               *service = variable("OTEL_SERVICE_NAME");
    *otlp = NULL;
    ptc_why_init(why);
    if (!option)
        return true;
    ptc_buf_init(&url, mem, PTC_URL_BYTES);
    ptc_buf_init(&headers, mem, OTLP_HEADERS);
    bool ok =
        find_address(&url, option, why) &&
        put_otlp_headers(&headers, given ? given : variable("OTEL_EXPORTER_OTLP_HEADERS"), why);
    if (ok) {
        PtcOtlpConfig config = {.url = url.data,
                                .service = service ? service : "ptc",
                                .headers = {headers.data, headers.len},
                                .one = one,
                                .tell = say_otlp,
                                .user = (void *)command};
        *otlp = ptc_otlp_new(&config, why);
    }
    ptc_buf_deinit(&url);
    ptc_buf_deinit(&headers);
    return *otlp != NULL;
}

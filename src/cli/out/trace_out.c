/* SPDX-License-Identifier: MIT
 * Lines of a trace go to the file as they come, so that a run that is killed leaves a trace of what it did. */
#include "cli/out/trace_out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/io.h"

static bool complain_of_trace(const PtcTraceOut *o, const char *why)
{
    ptc_io_printf(PTC_IO_STDERR, "ptc %s: --trace: %s: %s\n", o->command, o->path, why);
    return false;
}

static bool write_trace_line(void *user, PtcText line)
{
    PtcTraceOut *o = user;
    if (o->otlp)
        ptc_otlp_lines(o->otlp, line);
    return o->fd < 0 || ptc_io_write(o->fd, line.bytes, line.len);
}

static bool open_collector(PtcTraceOut *o, const char *option)
{
    PtcMem mem;
    PtcWhy why;
    ptc_mem_init(&mem, PTC_MB); /* for the option alone */
    if (ptc_otlp_out_open(&mem, o->command, option, true, &o->otlp, &why))
        return true;
    ptc_io_printf(PTC_IO_STDERR, "ptc %s: --otlp: %s\n", o->command, why.text);
    return false;
}

static bool has_trace(const PtcTraceOut *o)
{
    return o->fd >= 0 || o->otlp;
}

bool ptc_trace_out_open(PtcTraceOut *o, const char *command, const char *path, const char *otlp,
                        const PtcSecrets *secrets)
{
    *o = (PtcTraceOut){.command = command, .path = path, .fd = -1};
    if (!open_collector(o, otlp))
        return false;
    if (path)
        o->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
    if (path && o->fd < 0) {
        ptc_otlp_free(o->otlp);
        o->otlp = NULL;
        return complain_of_trace(o, strerror(errno));
    }
    if (has_trace(o))
        ptc_agent_trace_init(&o->trace, secrets, write_trace_line, o);
    return true;
}

void ptc_trace_out_tell(PtcTraceOut *o, const PtcProgress *p)
{
    if (has_trace(o))
        ptc_agent_trace_tell(&o->trace, p);
}

bool ptc_trace_out_close(PtcTraceOut *o)
{
    if (!has_trace(o))
        return true;
    bool ok = ptc_agent_trace_deinit(&o->trace);
    ptc_otlp_free(o->otlp);
    o->otlp = NULL;
    if (o->fd < 0)
        return true;
    ok = close(o->fd) == 0 && ok;
    o->fd = -1;
    return ok || complain_of_trace(o, "the trace could not be written completely");
}

/* SPDX-License-Identifier: MIT
 * trace_report.h - traces read line by line into a text or a document: tables for people, formats of other tools.
 *
 * No more of a trace is in memory than one line and the parts that are under way. */
#ifndef PTC_VIEWER_TRACE_REPORT_H
#define PTC_VIEWER_TRACE_REPORT_H

#include "base/buf.h"
#include "base/text/hmac.h"
#include "base/text/trace_context.h"
#include "viewer/trace_parts.h"

enum { PTC_REPORT_LINE = 16 * PTC_MB, PTC_REPORT_TOP_MAX = 1000 };

typedef struct PtcReport {
    PtcMem *mem;
    PtcBuf out; /* what has not been written yet */
    size_t top; /* rows of the form "slowest" */
    size_t file_count;
    const char *file;                 /* the name of the one that is read */
    int64_t began_ms;                 /* when it began, since 1970; 0: not told */
    uint8_t digest[PTC_SHA256_BYTES]; /* of its lines up to the first part that ended */
    bool digest_done;
    /* The span that it is, when its first line says so, and the one around that; "": none. */
    char span[PTC_TRACE_PARENT], parent_span[PTC_TRACE_SPAN_BYTES];
    char root[PTC_TRACE_ID_BYTES]; /* id of the part with that span; "": none yet */
    const char *service;           /* for other tools; NULL: "ptc" */
    uint64_t events, bad;
    void *state; /* of the form */
    PtcParts *parts;
    /* Where the text goes.  False: it cannot be written, and reading ends. */
    bool (*write)(void *user, PtcText text);
    /* A line that was skipped. */
    void (*tell)(void *user, const char *file, uint64_t line, const char *what);
    void *user;
    bool failed;
    const struct PtcReportForm *form;
} PtcReport;

/* One form of a report. */
typedef struct PtcReportForm {
    const char *name, *help;
    size_t state_size; /* zeroed before the first file */
    void (*file)(PtcReport *report);
    void (*began)(PtcReport *report, const PtcTracePart *part);
    void (*ended)(PtcReport *report, const PtcTracePart *part, const PtcTraceEvent *event);
    void (*finish)(PtcReport *report);
} PtcReportForm;

/* Each in the file of its name: form_summary.c and so on. */
extern const PtcReportForm ptc_form_summary, ptc_form_timeline, ptc_form_slowest, ptc_form_chrome,
    ptc_form_otlp;
/* NULL: there is none of that name. */
const PtcReportForm *ptc_trace_report_form(const char *name);

/* `report` has the write and tell functions, the user and top.  False: out of memory. */
PTC_MUST_USE bool ptc_trace_report_init(PtcReport *report, PtcMem *mem, const PtcReportForm *form);
void ptc_trace_report_deinit(PtcReport *report);
/* A trace that comes line by line, each without its end; *_end tells the parts that have not ended. */
void ptc_trace_report_begin(PtcReport *report, const char *name);
void ptc_trace_report_line(PtcReport *report, uint64_t number, PtcText line);
void ptc_trace_report_end(PtcReport *report);
/* Reads a file to its end.  NULL, or why it could not be read: a constant text, or strerror's. */
PTC_MUST_USE const char *ptc_trace_report_read(PtcReport *report, int fd, const char *name);
/* Writes what comes last.  False: not everything was written. */
PTC_MUST_USE bool ptc_trace_report_finish(PtcReport *report);

/* For forms: "1.60 s", "140 ms"; and when a part began in the same way. */
enum { PTC_REPORT_TIME = 24 };
void ptc_trace_report_time(char out[PTC_REPORT_TIME], int64_t us);

#endif

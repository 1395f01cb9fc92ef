/* SPDX-License-Identifier: MIT
 * otlp_sender.h - traces on their way to a collector while they happen: OpenTelemetry's JSON over HTTP (form_otlp.c).
 *
 * Whoever hands over lines never waits for a collector: one thread sends, what it has not come to is bounded, and what
 * does not fit is counted and left out. */
#ifndef PTC_VIEWER_OTLP_SENDER_H
#define PTC_VIEWER_OTLP_SENDER_H

#include "base/buf.h"
#include "base/why.h"

enum {
    PTC_OTLP_QUEUE = 8 * PTC_MB,   /* bytes of traces that wait */
    PTC_OTLP_BATCH = 256 * PTC_KB, /* bytes of traces in one request, or one trace */
    PTC_OTLP_BATCH_MS = 1000,      /* how long the first of a batch waits for others */
    PTC_OTLP_SEND_MS = 10 * 1000,  /* one request */
    PTC_OTLP_TRY_MS = 60 * 1000,   /* a batch with all its tries */
    PTC_OTLP_END_MS = 2000,        /* what is left at the end */
};

typedef struct PtcOtlp PtcOtlp;

typedef struct PtcOtlpConfig {
    const char *url;     /* where traces are posted; copied, as all texts are */
    const char *service; /* its name for the collector */
    PtcText headers;     /* lines `Name: value`; absent: none */
    bool one;            /* all lines are one trace; else each text is a trace of its own */
    /* Says once, on the sender's thread, that something was left out, and why.  May be NULL. */
    void (*tell)(void *user, const char *why);
    void *user;
} PtcOtlpConfig;

/* NULL with a text in why. */
PTC_MUST_USE PtcOtlp *ptc_otlp_new(const PtcOtlpConfig *config, PtcWhy *why);
/* Lines of a trace; any thread. */
void ptc_otlp_lines(PtcOtlp *otlp, PtcText lines);
/* Texts that were left out: the queue was full, or no collector took them. */
uint64_t ptc_otlp_dropped(PtcOtlp *otlp);
/* For /metrics. */
void ptc_otlp_metrics(PtcOtlp *otlp, PtcBuf *out);
/* Sends what is left, for PTC_OTLP_END_MS at most.  Nobody hands over lines any more. */
void ptc_otlp_free(PtcOtlp *otlp);

#endif

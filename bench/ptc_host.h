/* SPDX-License-Identifier: MIT
 *
 * ptc_host.h - the few steps of using libptc that both drivers need.  All end the process when
 * something fails. */
#ifndef BENCH_PTC_HOST_H
#define BENCH_PTC_HOST_H

#include <ptc/ptc.h>

/* limits may be NULL for the defaults. */
Ptc *host_engine(const PtcLimits *limits);

/* Reads rows given as JSON text and returns the context {"rows": [...]}. */
PtcValue host_rows(PtcData *data, const char *json, size_t len);

/* Runs a program that must succeed; the caller frees the outcome.  tools may be NULL. */
PtcOutcome *host_eval(Ptc *ptc, const char *program, size_t len, PtcValue context, PtcTools *tools);

#endif

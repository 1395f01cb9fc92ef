/* SPDX-License-Identifier: MIT
 * agent_compile.h - an agent's program without its model: an agent with one turn is asked once, on a sample, and the
 * program that it wrote is kept in a file that runs again and again (docs/agents.md). */
#ifndef PTC_AGENT_RUN_AGENT_COMPILE_H
#define PTC_AGENT_RUN_AGENT_COMPILE_H

#include "agent/run/agent_run.h"
#include "base/why.h"

/* Can this agent be compiled?  False with the fault. */
PTC_MUST_USE bool ptc_compile_check(const PtcAgentDef *def, PtcWhy *fault);

/* A context to compile with: what is given (absent: nothing), plus a value made up from its type for every parameter
 * that is missing.  In the bench's arena.  False with the fault. */
PTC_MUST_USE bool ptc_compile_sample(PtcBench *b, const PtcAgentDef *def, PtcText given,
                                     PtcText *sample, PtcWhy *fault);

/* A program as something to run, which must give the answer; and how its run ended. */
PtcAction ptc_compile_action(const PtcAgentRun *run, PtcText program);
PtcVerdict ptc_compile_verdict(const PtcRan *ran);

/* Runs a program alone on a context, inside a run that has begun and never asks a model.  The answer is in the
 * bench's arena.  False with a reason. */
PTC_MUST_USE bool ptc_compile_run(PtcAgentRun *run, PtcText program, PtcText context, PtcBench *b,
                                  PtcText *answer, PtcWhy *why);

/* After a run on a sample: its program must give a fitting answer when it runs alone.  Appends the file: what the
 * agent's own text says about tools and limits, and what the run produced.  The answer is in the bench's arena.  False
 * with a reason: there is nothing to keep. */
PTC_MUST_USE bool ptc_compile_keep(PtcAgentRun *run, PtcText sample, PtcBench *b, PtcBuf *out,
                                   PtcText *answer, PtcWhy *why);

/* Do its tools ask a model? */
bool ptc_compile_needs_llm(const PtcAgentDef *def);

/* Reads such a file: an agent that has a program.  NULL with the fault. */
PTC_MUST_USE PtcAgentDef *ptc_compile_read(PtcText json, const PtcAgentReading *how, PtcWhy *fault);

#endif

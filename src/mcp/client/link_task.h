/* SPDX-License-Identifier: MIT
 * link_task.h - calls that a server answers with a task (the extension io.modelcontextprotocol/tasks): the ask stays
 * under way while the task is polled, and ends with what becomes of it.
 *
 * A question of the task ends the ask like any call that needs input, with a requestState of ours that names the task:
 * a call that is made again with it goes on with the task.  Loop, unless it says otherwise. */
#ifndef PTC_MCP_CLIENT_LINK_TASK_H
#define PTC_MCP_CLIENT_LINK_TASK_H

#include "mcp/client/link_int.h"

#define PTC_LINK_TASKS "io.modelcontextprotocol/tasks"

typedef struct PtcLinkTask PtcLinkTask;

/* An answer came for an ask.  True: it is a task, which is polled from now on; the ask is still under way. */
PTC_MUST_USE bool ptc_link_task_begin(PtcLink *link, uint64_t id, PtcText result);
/* Any thread, before a call is sent: does it go on with a task?  Then *params are those of tasks/update, in `text`, and
 * ask->task is set.  False: there is no memory. */
PTC_MUST_USE bool ptc_link_task_again(PtcLink *link, PtcLinkAsk *ask, PtcText *params,
                                      PtcBuf *text);
/* The ask of a task has been taken out of the table to be ended; `tell`: the server is told to cancel it. */
void ptc_link_task_left(PtcLink *link, PtcLinkAsk *ask, bool tell);

#endif

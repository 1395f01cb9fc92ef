/* SPDX-License-Identifier: MIT
 * The list of kinds that tools of agents may be, in the order in which messages name them. */
#include "agent/agent_kinds.h"

#include "tool/kind/command.h"
#include "tool/kind/constant.h"
#include "tool/kind/mock.h"
#include "tool/kind/sql_tool.h"

const PtcToolKind *const ptc_agent_kinds[] = {
    &ptc_command_kind,
    &ptc_http_kind,
    &ptc_sql_kind,
    &ptc_source_kind,
    &ptc_agent_kind,
    &ptc_llm_kind,
    &ptc_constant_value_kind,
    &ptc_constant_error_kind,
    &ptc_constant_table_kind,
    &ptc_mock_echo,
    &ptc_mock_seq,
    &ptc_self_kind,
    NULL,
};

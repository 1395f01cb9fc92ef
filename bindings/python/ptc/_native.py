# SPDX-License-Identifier: MIT
"""libptc as ctypes sees it: structs and functions of ptc.h, nothing else.  tests/package checks the layouts against the header."""
from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64,
                    c_void_p)

LIMIT_NAMES = ("timeout_ms", "deadline_ms", "memory_bytes", "loop_limit", "max_depth", "max_int_bits", "program_bytes",
               "context_bytes", "session_bytes", "print_bytes", "result_bytes", "max_tool_calls", "tool_bytes", "max_workers",
               "seed", "check")
CHECK_WORDS = ("error", "warn", "off")
OK, NO_MEMORY, BAD_ARGUMENT, BAD_DATA = range(4)
ANSWERED, PENDING = 0, 1

ToolFn = CFUNCTYPE(c_int, c_void_p, c_void_p)
AskFn = CFUNCTYPE(None, c_void_p, c_void_p)
TraceFn = CFUNCTYPE(c_bool, c_void_p, POINTER(c_char), c_size_t)
LogFn = CFUNCTYPE(None, c_void_p, POINTER(c_char), c_size_t)


class PtcLimits(Structure):
    _fields_ = [("size", c_size_t)] + [(name, c_int64) for name in LIMIT_NAMES]


class PtcOptions(Structure):
    _fields_ = [("size", c_size_t), ("limits", POINTER(PtcLimits)), ("float_precision", c_int64),
                ("fail_allocation", c_int64), ("gc_stress", c_int64), ("clock_ms", c_void_p), ("clock_user", c_void_p),
                ("history_depth", c_int64)]


class PtcRun(Structure):
    _fields_ = [("size", c_size_t), ("program", c_char_p), ("program_len", c_size_t), ("context", c_uint64),
                ("session", c_void_p), ("limits", POINTER(PtcLimits)), ("tools", c_void_p), ("journal", c_uint64),
                ("budget", c_uint64), ("signature", c_char_p), ("signature_len", c_size_t), ("output_schema", c_char_p),
                ("output_schema_len", c_size_t), ("now_ms", c_int64)]


class PtcError(Structure):
    _fields_ = [("size", c_size_t), ("reason", c_char_p), ("phase", c_char_p), ("kind", c_char_p), ("message", c_char_p),
                ("message_len", c_size_t), ("hint", c_char_p), ("hint_len", c_size_t), ("form", c_char_p),
                ("form_len", c_size_t), ("line", c_uint32), ("column", c_uint32), ("earlier", c_uint32)]


class PtcWarning(Structure):
    _fields_ = [("size", c_size_t), ("kind", c_char_p), ("message", c_char_p), ("message_len", c_size_t), ("hint", c_char_p),
                ("hint_len", c_size_t), ("line", c_uint32), ("column", c_uint32), ("earlier", c_uint32), ("phase", c_char_p)]


class PtcToolDef(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("name_len", c_size_t), ("function", ToolFn), ("user", c_void_p),
                ("free_user", c_void_p), ("type", c_char_p), ("signature", c_char_p), ("signature_len", c_size_t),
                ("skip_validation", c_bool), ("description", c_char_p), ("description_len", c_size_t), ("cache", c_bool),
                ("expose", c_char_p), ("preview", c_char_p), ("preview_limit", c_int64), ("preview_function", c_void_p),
                ("timeout_ms", c_int64), ("serial", c_bool), ("on_error_value", c_bool), ("pending", c_bool),
                ("read_only", c_bool), ("idempotent", c_bool), ("extra", c_bool)]


class PtcToolRecord(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("name_len", c_size_t), ("arguments", c_char_p),
                ("arguments_len", c_size_t), ("result", c_char_p), ("result_len", c_size_t), ("ok", c_bool),
                ("cached", c_bool), ("layer", c_char_p), ("duration_us", c_int64)]


class PtcLlmOptions(Structure):
    _fields_ = [("size", c_size_t), ("dotenv", c_char_p), ("aliases", c_char_p), ("record", c_char_p),
                ("replay_loose", c_bool), ("variable", c_void_p), ("variable_user", c_void_p)]


class PtcAgentSource(Structure):
    _fields_ = [("size", c_size_t), ("json", c_char_p), ("json_len", c_size_t), ("path", c_char_p), ("tools", c_void_p),
                ("child_names", POINTER(c_char_p)), ("children", POINTER(c_void_p)), ("child_count", c_size_t),
                ("llm", c_void_p), ("allow_commands", c_bool), ("allow_http", c_bool), ("count_tokens", c_void_p),
                ("count_tokens_user", c_void_p), ("compile", c_bool), ("compiled", c_bool)]


class PtcMissionEvent(Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("run", c_uint64), ("parent", c_uint64), ("agent", c_void_p),
                ("agent_len", c_size_t), ("turn", c_int64), ("at_us", c_int64), ("duration_us", c_int64), ("ok", c_bool),
                ("reason", c_char_p), ("text", c_void_p), ("text_len", c_size_t), ("calls", c_size_t),
                ("input_tokens", c_int64), ("output_tokens", c_int64), ("link", c_size_t)]


WatchFn = CFUNCTYPE(None, c_void_p, POINTER(PtcMissionEvent))


class PtcMissionOptions(Structure):
    _fields_ = [("size", c_size_t), ("llm", c_void_p), ("model", c_char_p), ("ask", AskFn), ("ask_user", c_void_p),
                ("context", c_char_p), ("context_len", c_size_t), ("journal", c_char_p), ("journal_len", c_size_t),
                ("memory", c_char_p), ("memory_len", c_size_t), ("messages", c_char_p), ("messages_len", c_size_t),
                ("token_limit", c_int64), ("return_partial", c_bool), ("llm_timeout_ms", c_int64),
                ("collect_messages", c_bool), ("without_times", c_bool), ("watch", WatchFn), ("watch_user", c_void_p),
                ("stop", c_void_p), ("stop_user", c_void_p), ("then", POINTER(c_void_p)), ("then_count", c_size_t),
                ("trace", TraceFn), ("trace_user", c_void_p)]


class PtcMissionUsage(Structure):
    _fields_ = [("size", c_size_t), ("turns", c_int64), ("requests", c_int64), ("failed_requests", c_int64),
                ("input_tokens", c_int64), ("output_tokens", c_int64), ("cache_creation_tokens", c_int64),
                ("cache_read_tokens", c_int64), ("duration_us", c_int64)]


class PtcUpstreamOptions(Structure):
    _fields_ = [("size", c_size_t), ("json", c_char_p), ("json_len", c_size_t), ("path", c_char_p), ("policy", c_char_p),
                ("approved", c_bool), ("command", c_char_p), ("cache_dir", c_char_p), ("state_dir", c_char_p),
                ("call_timeout_ms", c_int64), ("log", LogFn), ("log_user", c_void_p)]


class PtcUpstreamStatus(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("state", c_char_p), ("tools", c_size_t), ("reason", c_char * 256)]


# Structs that an *_init function fills with defaults.
INITS = {PtcLimits: "ptc_limits_init", PtcOptions: "ptc_options_init", PtcRun: "ptc_run_init",
         PtcToolDef: "ptc_tool_def_init", PtcLlmOptions: "ptc_llm_options_init", PtcAgentSource: "ptc_agent_source_init",
         PtcMissionOptions: "ptc_mission_options_init", PtcUpstreamOptions: "ptc_upstream_options_init"}

_P, _S, _Z, _B = c_void_p, c_char_p, c_size_t, c_bool
_PZ = POINTER(c_size_t)
_FUNCTIONS = {
    # name: (result, arguments); texts whose length matters are void pointers
    "ptc_new": (_P, [POINTER(PtcOptions)]), "ptc_free": (None, [_P]), "ptc_cancel": (None, [_P]), "ptc_version": (_S, []),
    "ptc_eval": (c_int, [_P, POINTER(PtcRun), POINTER(_P)]), "ptc_check": (c_int, [_P, POINTER(PtcRun), POINTER(_P)]), "ptc_language_card": (_S, [_B]),
    "ptc_text_free": (None, [_P, _P, _Z]),
    "ptc_outcome_free": (None, [_P]), "ptc_outcome_ok": (_B, [_P]), "ptc_outcome_control": (_S, [_P]),
    "ptc_outcome_text": (_P, [_P, _PZ, POINTER(_B)]), "ptc_outcome_json": (_P, [_P, _PZ]),
    "ptc_outcome_json_problem": (_P, [_P, _PZ, POINTER(_B)]), "ptc_outcome_print_count": (_Z, [_P]),
    "ptc_outcome_print": (_P, [_P, _Z, _PZ]), "ptc_outcome_error_count": (_Z, [_P]),
    "ptc_outcome_error": (_B, [_P, _Z, POINTER(PtcError)]), "ptc_outcome_warning_count": (_Z, [_P]),
    "ptc_outcome_warning": (_B, [_P, _Z, POINTER(PtcWarning)]), "ptc_outcome_tool_count": (_Z, [_P, _PZ]),
    "ptc_outcome_tool": (_B, [_P, _Z, POINTER(PtcToolRecord)]), "ptc_outcome_journal": (c_uint64, [_P]),
    "ptc_session_new": (_P, [_P]), "ptc_session_free": (None, [_P]), "ptc_session_count": (_Z, [_P]),
    "ptc_session_bytes": (_Z, [_P]),
    "ptc_session_name": (_P, [_P, _Z, _PZ]), "ptc_session_value": (c_uint64, [_P, _S, _Z]),
    "ptc_session_set": (c_int, [_P, _S, _Z, c_uint64]), "ptc_session_forget": (_B, [_P, _S, _Z]),
    "ptc_session_forget_all": (c_int, [_P]), "ptc_session_inspect": (c_int, [_P, POINTER(_P), _PZ]),
    "ptc_session_snapshot": (c_int, [_P, _S, _Z, POINTER(_P), _PZ, _S, _Z]),
    "ptc_session_restore": (c_int, [_P, _S, _Z, _S, _Z, POINTER(_P), _S, _Z]),
    "ptc_tools_new": (_P, []), "ptc_tools_add": (c_int, [_P, POINTER(PtcToolDef), _S, _Z]), "ptc_tools_free": (None, [_P]),
    "ptc_call_args_json": (_P, [_P, _PZ]), "ptc_call_cancelled": (_B, [_P]),
    "ptc_call_return_json": (_B, [_P, _S, _Z]), "ptc_call_fail": (_B, [_P, _S, _Z]),
    "ptc_data_new": (_P, [_P, c_int64]), "ptc_data_free": (None, [_P]),
    "ptc_make_json": (c_uint64, [_P, _S, _Z, _S, _Z]), "ptc_value_json": (c_int, [_P, c_uint64, POINTER(_P), _PZ, _S, _Z]),
    "ptc_llm_new": (c_int, [POINTER(PtcLlmOptions), POINTER(_P), _S, _Z]), "ptc_llm_free": (c_int, [_P, _S, _Z]),
    "ptc_agent_new": (c_int, [POINTER(PtcAgentSource), POINTER(_P), _S, _Z]), "ptc_agent_free": (None, [_P]),
    "ptc_ask_json": (_P, [_P, _PZ]), "ptc_ask_reply": (_B, [_P, _S, _Z]), "ptc_ask_text": (_B, [_P, _S, _Z]),
    "ptc_ask_fail": (_B, [_P, _S, _S, _Z]),
    "ptc_mission_new": (c_int, [_P, POINTER(PtcMissionOptions), POINTER(_P), _S, _Z]), "ptc_mission_free": (None, [_P]),
    "ptc_mission_run": (c_int, [_P]), "ptc_mission_say": (c_int, [_P, _S, _Z]), "ptc_mission_cancel": (None, [_P]),
    "ptc_mission_json": (_P, [_P, _PZ]), "ptc_mission_ok": (_B, [_P]), "ptc_mission_answer": (_P, [_P, _PZ]),
    "ptc_mission_reason": (_S, [_P]), "ptc_mission_message": (_P, [_P, _PZ]),
    "ptc_mission_usage": (_B, [_P, POINTER(PtcMissionUsage)]),
    "ptc_upstream_set_new": (c_int, [POINTER(PtcUpstreamOptions), POINTER(_P), _S, _Z]),
    "ptc_upstream_set_free": (None, [_P]), "ptc_upstream_set_use": (c_int, [_P, _P]),
    "ptc_upstream_set_count": (_Z, [_P]), "ptc_upstream_set_state": (_B, [_P, _Z, POINTER(PtcUpstreamStatus)]),
}


def _load() -> ctypes.CDLL:
    """The library of the package; PTC_LIBRARY names another one."""
    path = os.environ.get("PTC_LIBRARY") or str(pathlib.Path(__file__).parent / "lib" / "libptc.so.0")
    library = ctypes.CDLL(path)
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    for name in INITS.values():
        getattr(library, name).argtypes = [c_void_p, c_size_t]
        getattr(library, name).restype = None
    return library


lib = _load()


def made(kind):
    """A struct with its defaults."""
    struct = kind()
    if kind in INITS:
        getattr(lib, INITS[kind])(ctypes.byref(struct), ctypes.sizeof(struct))
    else:
        struct.size = ctypes.sizeof(struct)
    return struct


def text(function, *arguments) -> str | None:
    """What a function returns as pointer and length (its last argument); None for NULL."""
    length = c_size_t()
    at = function(*arguments, ctypes.byref(length))
    return None if not at else ctypes.string_at(at, length.value).decode("utf-8")


def owned(engine, at: c_void_p, length: c_size_t) -> bytes:
    """The bytes of a text that was given to us, which is freed."""
    data = ctypes.string_at(at, length.value)
    lib.ptc_text_free(engine, at, length.value)
    return data

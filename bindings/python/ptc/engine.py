# SPDX-License-Identifier: MIT
"""Engines, sessions, data and what a run gives.  An engine runs one program at a time; use one for each thread."""
from __future__ import annotations

import asyncio
import contextlib
import ctypes
import datetime
import json
import os
import threading
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _native as native
from .errors import BY_REASON, Finding, ProgramError, ResultError, UsageError
from .tools import ToolSet, ToolsLike, refuse, to_json

lib = native.lib
_ERROR_BYTES = 700


@dataclass(frozen=True)
class Warned:
    """What is probably wrong.  phase is "check" if it was found before the program ran, otherwise "run"."""

    kind: str
    message: str
    hint: str
    line: int
    column: int
    phase: str


@dataclass(frozen=True)
class ToolCall:
    """A call that a program made; arguments and result as PTC-Lisp text, cut to about 1 KiB."""

    name: str
    arguments: str
    result: str
    ok: bool
    cached: bool
    duration_us: int


@dataclass
class Outcome:
    """What one run gave.  `error` is None if it succeeded."""

    error: ProgramError | None
    text: str | None
    json: str | None
    problem: str | None
    prints: list[str]
    warnings: list[Warned] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    control: str | None = None

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def value(self) -> Any:
        """The result; raises what went wrong.  Of a definition its text, "#'name", since a var is no value for hosts."""
        if self.error is not None:
            raise self.error
        if self.json is None and (self.text or "").startswith("#'"):
            return self.text
        if self.json is None:
            raise ResultError(f"the result has no JSON form: {self.problem}; its text is in Outcome.text")
        return json.loads(self.json)


@dataclass(frozen=True)
class Mistake:
    """What Engine.check found.  severity is "error" or "warning", phase "parse" or "check"."""

    kind: str
    severity: str
    message: str
    hint: str
    line: int
    column: int
    phase: str


def _check_mode(word: Any) -> int:
    """PTC_CHECK_ERROR and so on."""
    if word not in native.CHECK_WORDS:
        raise UsageError(f"check must be one of {', '.join(native.CHECK_WORDS)}; got {word!r}")
    return native.CHECK_WORDS.index(word)


def _limits(limits: Mapping[str, int | str] | None) -> native.PtcLimits | None:
    if limits is None:
        return None
    struct = native.made(native.PtcLimits)
    for name, value in limits.items():
        if name not in native.LIMIT_NAMES:
            raise UsageError(f"there is no limit {name!r}; there are {', '.join(native.LIMIT_NAMES)}")
        if name == "check":
            value = _check_mode(value)
        if not isinstance(value, int):
            raise UsageError(f"the limit {name} must be a whole number; got {value!r}")
        setattr(struct, name, value)
    return struct


def _check_key(key: Any) -> None:
    if not isinstance(key, bytes):
        raise UsageError(f"the key of a snapshot must be bytes, 16 or more; got {type(key).__name__}")


def _decoded(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


class _Owned:
    """Something that is freed before its engine."""

    _free: Any = None

    def __init__(self, engine: Engine, handle: Any):
        self.engine, self.handle = engine, handle
        engine._parts.add(self)

    def close(self) -> None:
        if self.handle:
            type(self)._free(self.handle)
            self.handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if self.engine.handle:
            self.close()


class Data(_Owned):
    """Data that many runs of an engine read, decoded once."""

    _free = lib.ptc_data_free

    def __init__(self, engine: Engine, value: Any, limit: int | None = None):
        super().__init__(engine, lib.ptc_data_new(engine.handle, -1 if limit is None else limit))
        text = to_json(value, "data")
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        self.value = lib.ptc_make_json(self.handle, text, len(text), error, _ERROR_BYTES) if self.handle else 0
        if not self.value:
            self.close()
            raise refuse(error)


class Session(_Owned):
    """What runs of an engine remember: definitions, *1, and results of cached tools.  Names work as keys of a dict."""

    _free = lib.ptc_session_free

    def evaluate(self, program: str, context: Any = None, **more: Any) -> Any:
        return self.engine.evaluate(program, context, session=self, **more)

    def run(self, program: str, context: Any = None, **more: Any) -> Outcome:
        return self.engine.run(program, context, session=self, **more)

    def __len__(self) -> int:
        return lib.ptc_session_count(self.handle)

    def __iter__(self) -> Iterator[str]:
        return iter([native.text(lib.ptc_session_name, self.handle, i) or "" for i in range(len(self))])

    def __contains__(self, name: str) -> bool:
        return lib.ptc_session_value(self.handle, name.encode(), len(name.encode())) != 0

    def __getitem__(self, name: str) -> Any:
        value = lib.ptc_session_value(self.handle, name.encode(), len(name.encode()))
        if not value:
            raise KeyError(name)
        out, length, error = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.create_string_buffer(_ERROR_BYTES)
        if lib.ptc_value_json(self.engine.handle, value, ctypes.byref(out), ctypes.byref(length), error,
                              _ERROR_BYTES) != native.OK:
            raise ResultError(f"{name} has no JSON form: {_decoded(error.value)}")
        return json.loads(native.owned(self.engine.handle, out, length))

    def __setitem__(self, name: str, value: Any) -> None:
        with Data(self.engine, value) as data:
            status = lib.ptc_session_set(self.handle, name.encode(), len(name.encode()), data.value)
        if status != native.OK:
            raise UsageError(f"{name!r} cannot be set: it is no name, or the session is full")

    def __delitem__(self, name: str) -> None:
        if not lib.ptc_session_forget(self.handle, name.encode(), len(name.encode())):
            raise KeyError(name)

    def clear(self) -> None:
        lib.ptc_session_forget_all(self.handle)

    def inspect(self) -> dict[str, Any]:
        """What is bound, with types, sizes and previews."""
        out, length = ctypes.c_void_p(), ctypes.c_size_t()
        if lib.ptc_session_inspect(self.handle, ctypes.byref(out), ctypes.byref(length)) != native.OK:
            raise MemoryError
        return json.loads(native.owned(self.engine.handle, out, length))

    def snapshot(self, key: bytes) -> bytes:
        """The session as bytes, with a tag made with the key (16 bytes or more)."""
        _check_key(key)
        out, length, error = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.create_string_buffer(_ERROR_BYTES)
        if lib.ptc_session_snapshot(self.handle, key, len(key), ctypes.byref(out), ctypes.byref(length), error,
                                    _ERROR_BYTES) != native.OK:
            raise refuse(error)
        return native.owned(self.engine.handle, out, length)


class Upstreams:
    """MCP servers that programs of engines may call (docs/upstreams.md): a file, or what would be in it."""

    def __init__(self, source: str | os.PathLike[str] | Mapping[str, Any], *, policy: str = "default", approved: bool = False,
                 command: str | os.PathLike[str] | None = None, call_timeout_ms: int | None = None):
        options = native.made(native.PtcUpstreamOptions)
        if isinstance(source, Mapping):
            options.json = to_json(source, "upstreams")
            options.json_len = len(options.json)
        else:
            options.path = os.fsencode(source)
        options.policy, options.approved = policy.encode(), approved
        options.command = os.fsencode(command) if command else None
        options.call_timeout_ms = -1 if call_timeout_ms is None else call_timeout_ms
        self.handle: Any = ctypes.c_void_p()
        self._engines: weakref.WeakSet[Engine] = weakref.WeakSet()
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        if lib.ptc_upstream_set_new(ctypes.byref(options), ctypes.byref(self.handle), error, _ERROR_BYTES) != native.OK:
            self.handle = None
            raise refuse(error)

    def states(self) -> dict[str, str]:
        """Name -> ready, cold, starting, down, unusable or disabled."""
        found, status = {}, native.made(native.PtcUpstreamStatus)
        for i in range(lib.ptc_upstream_set_count(self.handle)):
            lib.ptc_upstream_set_state(self.handle, i, ctypes.byref(status))
            found[_decoded(status.name)] = _decoded(status.state)
        return found

    def close(self) -> None:
        """Ends them; engines that use them go on without."""
        for engine in list(self._engines):
            if engine.handle and lib.ptc_upstream_set_use(None, engine.handle) != native.OK:
                raise UsageError("an engine that uses them is running a program")
            self._engines.discard(engine)
        if self.handle:
            lib.ptc_upstream_set_free(self.handle)
            self.handle = None


class Engine:
    """Runs programs under limits.  `limits` has fields of PtcLimits (docs/limits.md); `tools` are Python functions."""

    def __init__(self, *, limits: Mapping[str, int | str] | None = None, tools: ToolsLike | None = None,
                 float_precision: int | None = None, upstreams: Upstreams | None = None):
        self.handle: Any = None
        self._parts: weakref.WeakSet[_Owned] = weakref.WeakSet()
        self._busy = threading.Lock()
        options, given = native.made(native.PtcOptions), _limits(limits)
        if given is not None:
            options.limits = ctypes.pointer(given)
        if float_precision is not None:
            options.float_precision = float_precision
        self._tools = ToolSet(tools) if tools else None
        self._upstreams = upstreams
        self.handle = lib.ptc_new(ctypes.byref(options))
        if not self.handle:
            raise UsageError("a limit is out of range (docs/limits.md), or there is not enough memory")
        if upstreams:
            if not upstreams.handle:
                raise UsageError("these upstreams were closed")
            lib.ptc_upstream_set_use(upstreams.handle, self.handle)
            upstreams._engines.add(self)

    # ------------------------------------------------------------------ lifetime

    def close(self) -> None:
        """Frees the engine, with its sessions and data.  Not while it runs."""
        if not self.handle:
            return
        if not self._busy.acquire(blocking=False):
            raise UsageError("the engine is running a program")
        for part in list(self._parts):
            part.close()
        lib.ptc_free(self.handle)
        self.handle = None
        if self._tools:
            self._tools.close()
        self._busy.release()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    # ----------------------------------------------------------------- evaluation

    def evaluate(self, program: str, context: Any = None, **more: Any) -> Any:
        """The result of a program as Python values; raises a ProgramError if it fails.  Takes what `run` takes."""
        return self.run(program, context, **more).value

    async def evaluate_async(self, program: str, context: Any = None, **more: Any) -> Any:
        """The same without holding up the loop, on which asynchronous tools run."""
        return (await self.run_async(program, context, **more)).value

    def run(self, program: str, context: Mapping[str, Any] | Data | None = None, *, session: Session | None = None,
            tools: ToolsLike | None = None, signature: str | None = None, output_schema: Mapping[str, Any] | None = None,
            limits: Mapping[str, int | str] | None = None, now: datetime.datetime | int | None = None,
            check: str | None = None) -> Outcome:
        """Everything that a run gives, whether it succeeds or fails.  `context` is a dict, whose keys are data/key; `check`
        says what mistakes are that are found before the program runs: "error", "warn" or "off" (docs/check.md)."""
        own = ToolSet(tools) if tools else None
        try:
            return self._run(program, context, own or self._tools, session, signature, output_schema, limits, now, check)
        finally:
            if own:
                own.close()

    def check(self, program: str, context: Mapping[str, Any] | Data | None = None, *, session: Session | None = None,
              tools: ToolsLike | None = None, signature: str | None = None, output_schema: Mapping[str, Any] | None = None,
              limits: Mapping[str, int | str] | None = None) -> list[Mistake]:
        """What is wrong with a program, which does not run: errors, then warnings (docs/check.md)."""
        own = ToolSet(tools) if tools else None
        try:
            outcome = self._run(program, context, own or self._tools, session, signature, output_schema, limits,
                                only_check=True)
        finally:
            if own:
                own.close()
        errors = outcome.error.findings if outcome.error else []
        return [Mistake(f.kind, severity, f.message, f.hint, f.line, f.column, f.phase)
                for severity, found in (("error", errors), ("warning", outcome.warnings)) for f in found]

    async def run_async(self, program: str, context: Mapping[str, Any] | Data | None = None, **more: Any) -> Outcome:
        loop = asyncio.get_running_loop()
        own = ToolSet(more.pop("tools")) if more.get("tools") else None
        tools = own or self._tools
        if tools:
            tools.loop = loop
        work = loop.run_in_executor(None, lambda: self._run(program, context, tools, **_rest(more)))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            self.cancel()
            with contextlib.suppress(Exception):
                await work
            raise
        finally:
            if tools:
                tools.loop = None
            if own:
                own.close()

    def cancel(self) -> None:
        """Ends the current run; from any thread."""
        lib.ptc_cancel(self.handle)

    def _run(self, program: str, context: Any, tools: ToolSet | None, session: Session | None = None,
             signature: str | None = None, output_schema: Any = None, limits: Any = None, now: Any = None,
             check: str | None = None, only_check: bool = False) -> Outcome:
        if not self._busy.acquire(blocking=False):
            raise UsageError("this engine is running a program already; use one engine for each thread")
        data = None
        try:
            if not self.handle:
                raise UsageError("this engine was closed")
            run, keep = native.made(native.PtcRun), []
            source = program.encode("utf-8")
            run.program, run.program_len = source, len(source)
            if context is not None:
                if not isinstance(context, (Data, Mapping)):
                    raise UsageError("the context must be a dict, whose keys are data/KEY in the program; got "
                                     f"{type(context).__name__}")
                data = context if isinstance(context, Data) else Data(self, context)
                run.context = data.value
            if session is not None:
                run.session = session.handle
            if tools is not None:
                run.tools, tools.failure = tools.handle, None
            if signature is not None:
                keep.append(signature.encode("utf-8"))
                run.signature, run.signature_len = keep[-1], len(keep[-1])
            if output_schema is not None:
                keep.append(to_json(output_schema, "output_schema"))
                run.output_schema, run.output_schema_len = keep[-1], len(keep[-1])
            if check is not None:
                limits = {**(limits or {}), "check": check}
            if limits is not None:
                run.limits = ctypes.pointer(_limits(limits))
            if now is not None:
                run.now_ms = now if isinstance(now, int) else round(now.timestamp() * 1000)
            return self._finish(run, tools, lib.ptc_check if only_check else lib.ptc_eval)
        finally:
            if data is not None and data is not context:
                data.close()
            self._busy.release()

    def _finish(self, run: native.PtcRun, tools: ToolSet | None, function: Any) -> Outcome:
        handle = ctypes.c_void_p()
        status = function(self.handle, ctypes.byref(run), ctypes.byref(handle))
        if tools is not None:
            tools.end_run()
        if status == native.NO_MEMORY:
            raise MemoryError("libptc is out of memory")
        if status != native.OK:
            raise UsageError("the run cannot be made: a context that is not a dict, a limit out of range, or something of "
                             "another engine")
        try:
            outcome = _read(handle)
        finally:
            lib.ptc_outcome_free(handle)
        if outcome.error is not None and outcome.error.kind == "tool_error" and tools is not None:
            outcome.error.__cause__ = tools.failure
        return outcome

    # ------------------------------------------------------------------- sessions

    def session(self) -> Session:
        return Session(self, lib.ptc_session_new(self.handle))

    def restore(self, snapshot: bytes, key: bytes) -> Session:
        """A session from what `snapshot` gave, in any engine."""
        _check_key(key)
        handle, error = ctypes.c_void_p(), ctypes.create_string_buffer(_ERROR_BYTES)
        if lib.ptc_session_restore(self.handle, key, len(key), snapshot, len(snapshot), ctypes.byref(handle), error,
                                   _ERROR_BYTES) != native.OK:
            raise refuse(error)
        return Session(self, handle)

    def data(self, value: Mapping[str, Any], limit: int | None = None) -> Data:
        """A context that is decoded once and used by many runs; `limit` in bytes, instead of context_bytes."""
        return Data(self, value, limit)


def _rest(more: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in more.items() if key != "tools"}


def _read(handle: Any) -> Outcome:
    """Everything of an outcome, so that it can be freed."""
    problem = None
    text = native.text(lambda h, n: lib.ptc_outcome_text(h, n, None), handle)
    answer = native.text(lib.ptc_outcome_json, handle)
    if text is not None and answer is None:
        problem = native.text(lambda h, n: lib.ptc_outcome_json_problem(h, n, None), handle)
    prints = [native.text(lib.ptc_outcome_print, handle, i) or "" for i in range(lib.ptc_outcome_print_count(handle))]
    control = lib.ptc_outcome_control(handle)
    return Outcome(_error(handle), text, answer, problem, prints, _warnings(handle), _calls(handle),
                   _decoded(control) if control else None)


def _error(handle: Any) -> ProgramError | None:
    if lib.ptc_outcome_ok(handle):
        return None
    findings, e = [], native.made(native.PtcError)
    for i in range(lib.ptc_outcome_error_count(handle)):
        lib.ptc_outcome_error(handle, i, ctypes.byref(e))
        findings.append(Finding(_decoded(e.reason), _decoded(e.phase), _decoded(e.kind), _decoded(e.message), _decoded(e.hint),
                                _decoded(e.form), e.line, e.column))
    return BY_REASON.get(findings[0].reason, ProgramError)(findings)


def _warnings(handle: Any) -> list[Warned]:
    found, w = [], native.made(native.PtcWarning)
    for i in range(lib.ptc_outcome_warning_count(handle)):
        lib.ptc_outcome_warning(handle, i, ctypes.byref(w))
        found.append(Warned(_decoded(w.kind), _decoded(w.message), _decoded(w.hint), w.line, w.column, _decoded(w.phase)))
    return found


def _calls(handle: Any) -> list[ToolCall]:
    found, r = [], native.made(native.PtcToolRecord)
    for i in range(lib.ptc_outcome_tool_count(handle, None)):
        lib.ptc_outcome_tool(handle, i, ctypes.byref(r))
        found.append(ToolCall(_decoded(r.name), _decoded(r.arguments), _decoded(r.result), r.ok, r.cached, r.duration_us))
    return found


_threads = threading.local()


def evaluate(program: str, context: Any = None, **more: Any) -> Any:
    """The result of a program, in an engine of this thread with the usual limits.  Takes what Engine.run takes."""
    if not getattr(_threads, "engine", None):
        _threads.engine = Engine()
    return _threads.engine.evaluate(program, context, **more)

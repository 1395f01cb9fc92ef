# SPDX-License-Identifier: MIT
"""Agents: what they are, one run of one, and conversations (docs/agents.md)."""
from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from . import _native as native
from .errors import AgentError, UsageError
from .tools import ToolSet, ToolsLike, refuse, to_json

lib = native.lib
_ERROR_BYTES = 700
_KINDS = ("began", "ended", "asked", "answered", "program_began", "program_ended", "called", "turn_ended", "text")


@dataclass(frozen=True)
class Event:
    """What happened in a run, for `watch`."""

    kind: str
    agent: str
    turn: int
    ok: bool
    reason: str | None
    text: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Usage:
    turns: int
    requests: int
    input_tokens: int
    output_tokens: int
    duration_us: int


@dataclass(frozen=True)
class Result:
    """How a run of an agent ended; `outcome` is what `ptc run --json` prints."""

    ok: bool
    reason: str | None
    message: str | None
    answer_json: str | None
    outcome: dict[str, Any]
    usage: Usage

    @property
    def answer(self) -> Any:
        """The answer; raises an AgentError if there is none."""
        if not self.ok:
            raise AgentError(self.reason or "", self.message or "", self.outcome)
        return json.loads(self.answer_json or "null")


class Llm:
    """Opens models by name, as `ptc run --llm` does (docs/providers.md).  `record` names a file for what they are asked and
    reply; the model "replay:FILE" replays it."""

    def __init__(self, *, dotenv: str | None = None, aliases: str | None = None, record: str | None = None,
                 replay_loose: bool = False):
        options = native.made(native.PtcLlmOptions)
        options.dotenv = os.fsencode(dotenv) if dotenv else None
        options.aliases = os.fsencode(aliases) if aliases else None
        options.record = os.fsencode(record) if record else None
        options.replay_loose = replay_loose
        self.handle: Any = ctypes.c_void_p()
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        if lib.ptc_llm_new(ctypes.byref(options), ctypes.byref(self.handle), error, _ERROR_BYTES) != native.OK:
            raise refuse(error)

    def close(self) -> None:
        """After the runs that use it.  Raises if a record could not be written completely."""
        handle, self.handle = self.handle, None
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        if handle and lib.ptc_llm_free(handle, error, _ERROR_BYTES) != native.OK:
            raise refuse(error)


Ask = Callable[[dict], Any]


class _Mission:
    """One PtcMission, with what C holds pointers to."""

    def __init__(self, agent: Agent, context: Any, model: str | None, llm: Llm | None, ask: Ask | None,
                 watch: Callable[[Event], Any] | None, token_limit: int | None):
        options, self.agent = native.made(native.PtcMissionOptions), agent
        self.keep: list[Any] = [llm]
        if context is not None:
            self.keep.append(to_json(context, "context"))
            options.context, options.context_len = self.keep[-1], len(self.keep[-1])
        options.llm = llm.handle if llm else None
        options.model = model.encode() if model else None
        if token_limit is not None:
            options.token_limit = token_limit
        if ask:
            options.ask = self._keep(native.AskFn(lambda a, _: _answer(ask, a)))
        if watch:
            options.watch = self._keep(native.WatchFn(lambda _, e: _tell(watch, e.contents)))
        self.handle: Any = ctypes.c_void_p()
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        if lib.ptc_mission_new(agent.handle, ctypes.byref(options), ctypes.byref(self.handle), error,
                               _ERROR_BYTES) != native.OK:
            raise refuse(error)

    def _keep(self, function: Any) -> Any:
        self.keep.append(function)
        return function

    def result(self) -> Result:
        usage = native.made(native.PtcMissionUsage)
        lib.ptc_mission_usage(self.handle, ctypes.byref(usage))
        reason = lib.ptc_mission_reason(self.handle)
        return Result(lib.ptc_mission_ok(self.handle), reason.decode() if reason else None,
                      native.text(lib.ptc_mission_message, self.handle), native.text(lib.ptc_mission_answer, self.handle),
                      json.loads(native.text(lib.ptc_mission_json, self.handle) or "{}"),
                      Usage(usage.turns, usage.requests, usage.input_tokens, usage.output_tokens, usage.duration_us))

    def close(self) -> None:
        if self.handle:
            lib.ptc_mission_free(self.handle)
            self.handle = None


def _answer(ask: Ask, at: int) -> None:
    """A Python function as the model: it gives a text, or a reply as a dict (docs/replay.md)."""
    try:
        reply = ask(json.loads(native.text(lib.ptc_ask_json, at) or "{}"))
        if asyncio.iscoroutine(reply):
            reply = asyncio.run(reply)
        if isinstance(reply, str):
            data = reply.encode("utf-8")
            lib.ptc_ask_text(at, data, len(data))
        else:
            data = to_json(reply, "the reply")
            lib.ptc_ask_reply(at, data, len(data))
    except BaseException as error:  # noqa: BLE001 - nothing may be raised through C
        message = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        lib.ptc_ask_fail(at, None, message, len(message))


def _tell(watch: Callable[[Event], Any], e: native.PtcMissionEvent) -> None:
    with contextlib.suppress(Exception):  # an observer must not end what it observes
        text = ctypes.string_at(e.text, e.text_len).decode("utf-8", "replace") if e.text else ""
        agent = ctypes.string_at(e.agent, e.agent_len).decode("utf-8", "replace") if e.agent else ""
        watch(Event(_KINDS[e.kind], agent, e.turn, e.ok, e.reason.decode() if e.reason else None, text, e.input_tokens,
                    e.output_tokens))


async def _beside(mission: _Mission, work: Callable[[], Any], tools: ToolSet | None) -> Any:
    """On a thread of its own, with asynchronous tools on this loop; cancelling it ends the run."""
    loop = asyncio.get_running_loop()
    if tools:
        tools.loop = loop
    running = loop.run_in_executor(None, work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        lib.ptc_mission_cancel(mission.handle)
        with contextlib.suppress(Exception):
            await running
        raise
    finally:
        if tools:
            tools.loop = None


class Chat:
    """A conversation with an agent: messages, definitions and results are kept."""

    def __init__(self, mission: _Mission, tools: ToolSet | None):
        self._mission, self._tools, self._lock = mission, tools, threading.Lock()

    def _say(self, message: str) -> Result:
        data = message.encode("utf-8")
        with self._lock:
            if lib.ptc_mission_say(self._mission.handle, data, len(data)) != native.OK:
                raise UsageError("this conversation cannot be continued")
            return self._mission.result()

    def say(self, message: str) -> Any:
        """The answer to a message; raises an AgentError if there is none."""
        return self._say(message).answer

    async def say_async(self, message: str) -> Any:
        return (await _beside(self._mission, lambda: self._say(message), self._tools)).answer

    def close(self) -> None:
        self._mission.close()


class Agent:
    """A mission for a model: `source` is the path of an agent file, or what would be in it.  `tools` are Python functions,
    `agents` other agents that it may call, by name."""

    def __init__(self, source: str | os.PathLike[str] | Mapping[str, Any], *, tools: ToolsLike | None = None,
                 agents: Mapping[str, Agent] | None = None, allow_commands: bool = False, allow_http: bool = False):
        given, self._keep = native.made(native.PtcAgentSource), []
        if isinstance(source, Mapping):
            given.json = to_json(source, "the agent")
            given.json_len = len(given.json)
        else:
            given.path = os.fsencode(source)
        self.tools = ToolSet(tools) if tools else None
        given.tools = self.tools.handle if self.tools else None
        if agents:
            names = (ctypes.c_char_p * len(agents))(*[name.encode() for name in agents])
            handles = (ctypes.c_void_p * len(agents))(*[agent.handle for agent in agents.values()])
            given.child_names, given.children, given.child_count = names, handles, len(agents)
            self._keep = list(agents.values())  # their functions must live as long as ours
        given.allow_commands, given.allow_http = allow_commands, allow_http
        self.handle: Any = ctypes.c_void_p()
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        if lib.ptc_agent_new(ctypes.byref(given), ctypes.byref(self.handle), error, _ERROR_BYTES) != native.OK:
            self.handle = None
            raise refuse(error)

    def _run(self, mission: _Mission) -> Result:
        try:
            if lib.ptc_mission_run(mission.handle) != native.OK:
                raise MemoryError("libptc is out of memory")
            return mission.result()
        finally:
            if self.tools:
                self.tools.end_run()

    def run(self, context: Mapping[str, Any] | None = None, *, model: str | None = None, llm: Llm | None = None,
            ask: Ask | None = None, watch: Callable[[Event], Any] | None = None, token_limit: int | None = None) -> Result:
        """Runs it to its end.  The model is named (with an Llm), or a function that gets a request and gives a reply."""
        mission = _Mission(self, context, model, llm, ask, watch, token_limit)
        try:
            return self._run(mission)
        finally:
            mission.close()

    async def run_async(self, context: Mapping[str, Any] | None = None, *, model: str | None = None, llm: Llm | None = None,
                        ask: Ask | None = None, watch: Callable[[Event], Any] | None = None,
                        token_limit: int | None = None) -> Result:
        """The same without holding up the loop."""
        mission = _Mission(self, context, model, llm, ask, watch, token_limit)
        try:
            return await _beside(mission, lambda: self._run(mission), self.tools)
        finally:
            mission.close()

    def chat(self, context: Mapping[str, Any] | None = None, *, model: str | None = None, llm: Llm | None = None,
             ask: Ask | None = None, watch: Callable[[Event], Any] | None = None) -> Chat:
        return Chat(_Mission(self, context, model, llm, ask, watch, None), self.tools)

    def close(self) -> None:
        if self.handle:
            lib.ptc_agent_free(self.handle)
            self.handle = None
            if self.tools:
                self.tools.close()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self.close()

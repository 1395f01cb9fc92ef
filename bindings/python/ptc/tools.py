# SPDX-License-Identifier: MIT
"""Python functions as tools.  A set of tools lives as long as whoever made it; a call is answered exactly once, whatever happens to
the run that made it."""
from __future__ import annotations

import asyncio
import ctypes
import datetime
import inspect
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Union, overload

from . import _native as native
from .errors import UsageError

lib = native.lib
_ERROR_BYTES = 700


def _plain(value: Any) -> Any:
    """Values that json does not know, and programs do."""
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (set, frozenset, tuple)) or hasattr(value, "__iter__"):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def to_json(value: Any, what: str) -> bytes:
    try:
        return json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{what}: {error}") from None


def refuse(error: ctypes.Array) -> UsageError:
    return UsageError(error.value.decode("utf-8", "replace") or "it cannot be used, or there is not enough memory")


@dataclass(frozen=True)
class Tool:
    """A function that programs may call as (tool/name {:key value}).  It is called with keyword arguments, a hyphen in a key being
    an underscore, and gives what JSON can express.  An asynchronous one is awaited while the program waits."""

    function: Callable[..., Any]
    name: str
    signature: str | None = None
    description: str | None = None
    cache: bool = False
    timeout_ms: int | None = None
    serial: bool = False
    on_error_value: bool = False
    read_only: bool = False
    idempotent: bool = False
    extra: bool = False
    expose: str | None = None

    def __call__(self, *args: Any, **keys: Any) -> Any:
        return self.function(*args, **keys)


@overload
def tool(function: Callable[..., Any]) -> Tool: ...
@overload
def tool(*, name: str | None = ..., signature: str | None = ..., description: str | None = ..., **more: Any
         ) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(function=None, *, name=None, signature=None, description=None, **more):
    """Makes a tool of a function; the description is its docstring unless one is given."""
    def make(f: Callable[..., Any]) -> Tool:
        return Tool(f, name or f.__name__, signature, description or inspect.getdoc(f), **more)
    return make(function) if function else make


ToolLike = Union[Tool, Callable[..., Any]]
ToolsLike = Union[Iterable[ToolLike], Mapping[str, ToolLike]]


def _as_tool(each: ToolLike, name: str | None = None) -> Tool:
    if isinstance(each, Tool):
        return replace(each, name=name) if name else each
    if not callable(each):
        raise UsageError(f"a tool must be a function; got {type(each).__name__}")
    name = name or getattr(each, "__name__", "")
    if name in ("", "<lambda>"):
        raise UsageError('a tool needs a name: tools={"name": function}')
    return Tool(each, name, None, inspect.getdoc(each))


def _as_tools(tools: ToolsLike) -> list[Tool]:
    if isinstance(tools, Mapping):
        return [_as_tool(each, name) for name, each in tools.items()]
    if callable(tools) or isinstance(tools, str):
        raise UsageError('tools must be a list of functions, or a dict: tools={"name": function}')
    return [_as_tool(each) for each in tools]


class _Background:
    """A loop on a thread of its own, for asynchronous tools of programs that nobody awaits; started when it is first needed."""

    lock = threading.Lock()
    loop: asyncio.AbstractEventLoop | None = None

    @classmethod
    def get(cls) -> asyncio.AbstractEventLoop:
        with cls.lock:
            if cls.loop is None:
                cls.loop = asyncio.new_event_loop()
                threading.Thread(target=cls.loop.run_forever, name="ptc-tools", daemon=True).start()
            return cls.loop


class ToolSet:
    """Tools as libptc has them."""

    def __init__(self, tools: ToolsLike):
        self.loop: asyncio.AbstractEventLoop | None = None  # of whoever awaits the run
        self.failure: BaseException | None = None  # of the last call that failed
        self._open: set[Any] = set()
        self._lock = threading.Lock()
        self._functions: list[Any] = []  # what C holds pointers to
        self.handle = lib.ptc_tools_new()
        try:
            for each in _as_tools(tools):
                self._add(each)
        except BaseException:
            self.close()
            raise

    def _add(self, each: Tool) -> None:
        definition = native.made(native.PtcToolDef)
        function = native.ToolFn(lambda call, _, each=each: self._call(each, call))
        name, signature = each.name.encode(), (each.signature or "").encode()
        description = (each.description or "").encode()
        definition.name, definition.name_len, definition.function = name, len(name), function
        if each.signature:
            definition.signature, definition.signature_len = signature, len(signature)
        definition.description, definition.description_len = description, len(description)
        definition.cache, definition.serial, definition.on_error_value = each.cache, each.serial, each.on_error_value
        definition.read_only, definition.idempotent = each.read_only, each.idempotent
        definition.extra = each.extra
        definition.expose = each.expose.encode() if each.expose else None
        definition.timeout_ms = -1 if each.timeout_ms is None else each.timeout_ms
        definition.pending = inspect.iscoroutinefunction(each.function)
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        if lib.ptc_tools_add(self.handle, ctypes.byref(definition), error, _ERROR_BYTES) != native.OK:
            raise refuse(error)
        self._functions.append(function)

    def _call(self, each: Tool, call: int) -> int:
        """On a thread of libptc.  Nothing may be raised through C."""
        try:
            arguments = json.loads(native.text(lib.ptc_call_args_json, call) or "{}")
            result = each.function(**{key.replace("-", "_"): value for key, value in arguments.items()})
            if inspect.isawaitable(result):
                return self._await(result, call)
            self._give(call, result)
        except BaseException as error:  # noqa: BLE001 - a program can do without the tool
            self._fail(call, error)
        return native.ANSWERED

    async def _finish(self, result: Any) -> Any:
        return await result

    def _await(self, result: Any, call: int) -> int:
        future = asyncio.run_coroutine_threadsafe(self._finish(result), self.loop or _Background.get())
        with self._lock:
            self._open.add(future)
        future.add_done_callback(lambda done: self._done(done, call))
        return native.PENDING

    def _done(self, future: Any, call: int) -> None:
        with self._lock:
            self._open.discard(future)
        try:
            self._give(call, future.result())
        except BaseException as error:  # noqa: BLE001
            self._fail(call, error)

    def _give(self, call: int, result: Any) -> None:
        answer = to_json(result, "the result of the tool")
        lib.ptc_call_return_json(call, answer, len(answer))

    def _fail(self, call: int, error: BaseException) -> None:
        self.failure = error
        message = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        lib.ptc_call_fail(call, message, len(message))

    def end_run(self) -> None:
        """Nobody waits any longer for what is still under way."""
        with self._lock:
            left = list(self._open)
        for future in left:
            future.cancel()

    def close(self) -> None:
        """The library keeps the set for calls that are under way, and we keep their functions."""
        if self.handle:
            self.end_run()
            lib.ptc_tools_free(self.handle)
            self.handle = None

    def __del__(self) -> None:
        self.close()

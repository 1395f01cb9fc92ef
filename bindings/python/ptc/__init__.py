# SPDX-License-Identifier: MIT
"""PTC-Lisp, a deterministic Clojure subset that language models write to call tools, inside hard limits.

    import ptc
    ptc.evaluate("(reduce + data/xs)", {"xs": [1, 2, 3]})    # 6
"""
from ._native import lib as _lib
from .agent import Agent, Chat, Event, Llm, Result, Usage
from .engine import Data, Engine, Mistake, Outcome, Session, ToolCall, Upstreams, Warned, evaluate
from .errors import (AgentError, ArgsError, Failed, Finding, MemoryLimit, ParseError, ProgramError, PtcError, ResultError,
                     RuntimeFailure, TimedOut, UsageError, ValidationError)
from .tools import Tool, tool

__version__: str = _lib.ptc_version().decode()


def language_card(tools: bool = False) -> str:
    """The language on a card of about 1 KiB, for the prompt of a model."""
    return _lib.ptc_language_card(tools).decode()


__all__ = ["Agent", "AgentError", "ArgsError", "Chat", "Data", "Engine", "Event", "Failed", "Finding", "Llm", "MemoryLimit",
           "Mistake", "Outcome", "ParseError", "ProgramError", "PtcError", "Result", "ResultError", "RuntimeFailure", "Session",
           "TimedOut", "Tool", "ToolCall", "Upstreams", "Usage", "UsageError", "ValidationError", "Warned", "evaluate",
           "language_card", "tool"]

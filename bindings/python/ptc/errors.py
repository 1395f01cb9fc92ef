# SPDX-License-Identifier: MIT
"""What can go wrong, as exceptions: one class for each reason of ptc.h."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a program.  line and column count from 1; 0: there is no place."""

    reason: str
    phase: str
    kind: str
    message: str
    hint: str
    form: str
    line: int
    column: int


class PtcError(Exception):
    """Everything that this package raises."""


class UsageError(PtcError, ValueError):
    """An argument cannot be used: a tool, an agent, a limit, a snapshot."""


class ResultError(PtcError):
    """The program succeeded, but its result has no JSON form."""


class ProgramError(PtcError):
    """The program failed.  `findings` has everything that was found, the attributes are those of the first."""

    def __init__(self, findings: list[Finding]):
        first = findings[0]
        where = f"{first.line}:{first.column}: " if first.line else ""
        hint = f" ({first.hint})" if first.hint else ""
        super().__init__(f"{where}{first.kind}: {first.message}{hint}")
        self.findings = findings
        self.reason, self.phase, self.kind = first.reason, first.phase, first.kind
        self.message, self.hint, self.form = first.message, first.hint, first.form
        self.line, self.column = first.line, first.column


class ParseError(ProgramError):
    """The text is not a program."""


class RuntimeFailure(ProgramError):
    """Found before or while the program ran: a name, a type, a tool, a limit of loops or depth."""


class TimedOut(ProgramError, TimeoutError):
    """timeout_ms or deadline_ms."""


class MemoryLimit(ProgramError, MemoryError):
    """memory_bytes, or what a session may hold."""


class ArgsError(ProgramError):
    """A signature or schema that is invalid."""


class Failed(ProgramError):
    """The program ended with (fail value)."""


class ValidationError(ProgramError):
    """The result is not what the signature or schema says."""


BY_REASON = {"parse_error": ParseError, "runtime_error": RuntimeFailure, "timeout": TimedOut, "memory_limit": MemoryLimit,
             "args_error": ArgsError, "fail": Failed, "validation_error": ValidationError}


class AgentError(PtcError):
    """An agent ended without an answer.  `reason` is a word of docs/agents.md."""

    def __init__(self, reason: str, message: str, outcome: dict):
        super().__init__(f"{reason}: {message}")
        self.reason, self.message, self.outcome = reason, message, outcome

# SPDX-License-Identifier: MIT
"""Could the operations on one register have happened one after the other, each between its beginning and its end?

The search of Wing and Gong: take any operation that begins before all others have ended, apply it, go on; a state that was
tried is not tried again (Lowe).  A write whose answer was lost may have happened at any time after it began, or never."""
import collections

# kind: "read", "write" or "cas"; arg: what is written, or for cas the pair (old, new); out: what was answered; end: None
# if the answer was lost.  No two writes have the same value.
Op = collections.namedtuple("Op", "kind arg out begin end")
WRONG = object()
NEVER = float("inf")


def apply(op, value):
    if op.kind == "write":
        return op.arg
    if op.kind == "read":
        return value if value == op.out else WRONG
    old, new = op.arg
    if op.end is not None and op.out != value:
        return WRONG
    if op.end is None and value != old:
        return WRONG
    return new if value == old else value


def matters(op, seen):
    """A lost operation whose value nobody saw need not have happened."""
    if op.end is not None:
        return True
    return op.kind != "read" and (op.arg if op.kind == "write" else op.arg[1]) in seen


def minimal(ops, done, low):
    """The operations that no other one had to precede."""
    can, bound = [], NEVER
    for i in range(low, len(ops)):
        if ops[i].begin > bound:
            break
        if not done >> i & 1:
            can.append(i)
            bound = min(bound, NEVER if ops[i].end is None else ops[i].end)
    return [i for i in can if ops[i].begin <= bound]


def linearizable(history, first, most=1000000):
    """True, False, or None if `most` steps did not tell."""
    seen = {op.out for op in history if op.end is not None and op.kind != "write"}
    ops = sorted((op for op in history if matters(op, seen)), key=lambda op: op.begin)
    stack, tried, steps = [(0, first, 0)], set(), 0
    while stack:
        done, value, low = stack.pop()
        while done >> low & 1:
            low += 1
        if low == len(ops):
            return True
        for i in reversed(minimal(ops, done, low)):
            after, steps = apply(ops[i], value), steps + 1
            state = (done | 1 << i, after)
            if after is not WRONG and state not in tried:
                tried.add(state)
                stack.append((*state, low))
        if steps > most:
            return None
    return False

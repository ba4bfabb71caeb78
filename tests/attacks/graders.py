"""Graders that look for what is not theirs: other calls' texts in the memory they were forked into."""

from __future__ import annotations

import platform

RT_SIGPROCMASK = 135 if platform.machine() == "aarch64" else 14

# A grader reaches libc through what it may import. `rt_sigprocmask` with a `how` that means nothing tells whether
# eight bytes can be read (EINVAL) or not (EFAULT), so that the search never crashes.
SEARCH_MEMORY = f"""
RT_SIGPROCMASK = {RT_SIGPROCMASK}
"""
SEARCH_MEMORY += '''import collections
import re

sys = collections._sys
ctypes = sys.modules["ctypes"]
gc = sys.modules["gc"]
libc = ctypes.CDLL(None, use_errno=True)
PAGE, STEP = 4096, 1 << 20
NEEDLE = re.compile(rb"canary-[0-9a-f]{12}")  # half of one: of a freed text the end may be overwritten


def readable(address):
    return libc.syscall(RT_SIGPROCMASK, 99, ctypes.c_void_p(address), None, 8) == -1 and ctypes.get_errno() == 22


def regions():
    """Where the interpreter keeps things: the heap, the arenas of its objects, and all around the libraries."""
    libc.sbrk.restype = ctypes.c_void_p
    end = libc.sbrk(0)
    yield end - (64 << 20), end
    near = {id(thing) // STEP for thing in gc.get_objects()}
    near.add(ctypes.cast(libc.malloc, ctypes.c_void_p).value // STEP)
    for place in sorted({place + offset for place in near for offset in range(-16, 17)}):
        yield place * STEP, (place + 1) * STEP
    stack = ctypes.addressof(ctypes.c_long())
    yield stack - STEP, stack + STEP


def texts():
    for start, end in regions():
        address = start - start % PAGE
        while address < end:
            if not readable(address):
                address += PAGE
                continue
            first = address
            while address < end and readable(address):
                address += PAGE
            yield ctypes.string_at(first, address - first)


def evaluate(input, output, expected, metadata):
    found, size = set(), 0
    for text in texts():
        size += len(text)
        found.update(NEEDLE.findall(text))
    for thing in gc.get_objects():
        if isinstance(thing, dict):
            found.update(NEEDLE.findall(repr(list(thing.values())[:50]).encode("utf-8", "replace")))
    return {"passed": True, "details": {"found": sorted(one.decode() for one in found), "bytes": size}}
'''

# What the kernel answers to each of these system calls, with arguments that are nothing.
SYSTEM_CALLS = """
import collections

ctypes = collections._sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = [%s]


def evaluate(input, output, expected, metadata):
    answers = {}
    for number in NUMBERS:
        ctypes.set_errno(0)
        result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 6)
        if result != -1 or ctypes.get_errno() != 1:
            answers[str(number)] = [result, ctypes.get_errno()]
    return {"passed": True, "details": {"not refused": answers, "asked": len(NUMBERS)}}
"""

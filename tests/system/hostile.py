"""Graders that attack the sandbox they run in. Each returns passed only where its attack worked.

Run by the tests on the host, and as a script inside the container: `python hostile.py` tells what went wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from runevals.sandbox import Sandbox

REFUSED = ("evaluator_forbidden", "evaluator_crashed", "evaluator_missing_module", "evaluator_memory")
LATE = ("evaluator_timeout",)
# Their time limit ends them, or an engine that is not to be relied on.
ENDLESS = ("a power that never ends", "throw a trap")
BAD = ("evaluator_bad_result",)
FAILED = (None,)  # it answers, and the answer is that nothing worked

# Python graders reach what they may not import through what they may: a guard is no wall.
REACH = "import collections\nsys = collections._sys\nos = sys.modules['os']\nctypes = sys.modules['ctypes']\n"
CALL = REACH + "libc = ctypes.CDLL(None, use_errno=True)\n"
WON = "    return {'passed': True}\n"
LOST = "    return {'passed': False}\n"


def attack(body: str, before: str = REACH) -> str:
    """A grader whose body raises where the attack is refused."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{before}def evaluate(input, output, expected, metadata):\n{lines}{WON}"


def raw(number: int, *arguments: str) -> str:
    """A grader that asks the kernel directly, past everything that Python does."""
    call = ", ".join([str(number), *arguments])
    return f"{CALL}def evaluate(i, o, e, m):\n    return {{'passed': libc.syscall({call}) >= 0}}\n"


PYTHON: dict[str, tuple[str, tuple[str | None, ...]]] = {
    "open a file": ("def evaluate(i, o, e, m):\n    open('/etc/passwd').read()\n" + WON, REFUSED),
    "open for writing": (attack("open('/tmp/hostile', 'w').write('x')"), REFUSED),
    "list a folder": (attack("os.listdir('/')"), REFUSED),
    "stat a file": (attack("os.stat('/etc/passwd')"), REFUSED),
    "read the environment of the parent": (attack("open(f'/proc/{os.getppid()}/environ', 'rb').read()"), REFUSED),
    "find a secret in the environment": (
        REACH + "def evaluate(i, o, e, m):\n    return {'passed': 'SECRET_KEY' in os.environ}\n",
        FAILED,
    ),
    "import os": ("import os\ndef evaluate(i, o, e, m):\n" + WON, ("evaluator_missing_module",)),
    "import by name": ("def evaluate(i, o, e, m):\n    __import__('socket').socket()\n" + WON, REFUSED),
    "import through a loader": (
        attack("sys.modules['importlib._bootstrap']._gcd_import('socket').socket()"),
        REFUSED,
    ),
    "run a program": (attack("os.system('true') == 0 or 1/0"), REFUSED),
    "spawn": (attack("os.posix_spawn('/bin/true', ['true'], {})"), REFUSED),
    "exec": (attack("os.execv('/bin/true', ['true'])"), REFUSED),
    "fork": (attack("os.fork()"), REFUSED),
    "a thread": (attack("sys.modules['_thread'].start_new_thread(print, ())"), REFUSED),
    "kill the parent": (attack("os.kill(os.getppid(), 9)"), REFUSED),
    "kill everything": (attack("os.kill(-1, 9)"), REFUSED),
    "a pipe": (attack("os.pipe()"), REFUSED),
    "change user": (attack("os.setuid(0)"), REFUSED),
    "lift a limit": (
        attack("r = sys.modules['resource']; r.setrlimit(r.RLIMIT_AS, (1 << 40, 1 << 40))"),
        REFUSED,
    ),
    "write to stdout": (attack("os.write(1, b'{\"passed\": true}\\n')"), REFUSED),
    "write to every descriptor": (
        REACH
        + "def evaluate(i, o, e, m):\n    for fd in (0, 1, 2, *range(4, 64)):\n        try:\n"
        + "            os.write(fd, b'x')\n            return {'passed': True}\n        except OSError:\n"
        + "            pass\n"
        + LOST,
        FAILED,
    ),
    "read the requests": (attack("os.read(0, 10)"), REFUSED),
    "a socket, raw": (raw(41, "2", "1", "0"), FAILED),
    "a unix socket, raw": (raw(41, "1", "1", "0"), FAILED),
    "io_uring, raw": (raw(425, "8", "0"), FAILED),
    "ptrace, raw": (raw(101, "16", "os.getppid()", "0", "0"), FAILED),
    "memfd, raw": (raw(319, "b'x'", "0"), FAILED),
    "openat, raw": (raw(257, "-100", "b'/etc/passwd'", "0"), FAILED),
    "unshare, raw": (raw(272, "0x10000000"), FAILED),
    "setxattr, raw": (raw(188, "b'/tmp'", "b'user.x'", "b'1'", "1", "0"), FAILED),
    "prctl, raw": (raw(157, "4", "1", "0", "0", "0"), FAILED),
    "keyctl, raw": (raw(250, "0", "0"), FAILED),
    "bpf, raw": (raw(321, "0", "0", "0"), FAILED),
    "kill by tgkill, raw": (raw(234, "os.getppid()", "os.getppid()", "9"), FAILED),
    "executable memory": (
        CALL
        + "def evaluate(i, o, e, m):\n    libc.mmap.restype = ctypes.c_void_p\n"
        + "    found = libc.mmap(None, 4096, 7, 0x22, -1, 0)\n"
        + "    return {'passed': found not in (None, 2**64 - 1)}\n",
        FAILED,
    ),
    "x32 calls": (raw(0x40000000 + 39), REFUSED),
    "a memory bomb": ("def evaluate(i, o, e, m):\n    x = [0] * 10**9\n" + WON, ("evaluator_memory",)),
    "a slow memory bomb": (
        "def evaluate(i, o, e, m):\n    x = []\n    while True:\n        x.append('x' * 4096 + str(len(x)))\n",
        ("evaluator_memory",),
    ),
    "a dict bomb": (
        "def evaluate(i, o, e, m):\n    d = {}\n    while True:\n        d[len(d)] = bytes(100)\n",
        ("evaluator_memory",),
    ),
    "an endless loop": ("def evaluate(i, o, e, m):\n    while True:\n        pass\n", LATE),
    "an endless loop at import": ("while True:\n    pass\n", LATE),
    "an endless loop that catches everything": (
        (
            "def evaluate(i, o, e, m):\n    while True:\n        try:\n            1 / 0\n"
            "        except BaseException:\n            pass\n"
        ),
        LATE,
    ),
    "sleep": (attack("sys.modules['time'].sleep(60)"), LATE),
    "a pattern that never ends": (
        "import re\ndef evaluate(i, o, e, m):\n    re.match(r'(a+)+$', 'a' * 40 + 'b')\n" + WON,
        LATE,
    ),
    "a power that never ends": ("def evaluate(i, o, e, m):\n    9 ** 9 ** 9\n" + WON, (*LATE, "evaluator_memory")),
    "endless output": ("def evaluate(i, o, e, m):\n    while True:\n        print('x' * 10000)\n", LATE),
    "a huge result": (
        "def evaluate(i, o, e, m):\n    return {'passed': True, 'details': {'x': 'y' * 2_000_000}}\n",
        BAD,
    ),
    "a huge reason": (
        "def evaluate(i, o, e, m):\n    return {'passed': False, 'reason': 'y' * 500_000}\n",
        FAILED,
    ),
    "a deep result": (
        (
            "def evaluate(i, o, e, m):\n    x = {}\n    for _ in range(100_000):\n        x = {'x': x}\n"
            "    return {'passed': True, 'details': x}\n"
        ),
        (*BAD, "evaluator_crashed"),
    ),
    "a result that is no JSON": (
        "def evaluate(i, o, e, m):\n    return {'passed': True, 'details': {'x': {1}}}\n",
        BAD,
    ),
    "not a number": ("def evaluate(i, o, e, m):\n    return {'passed': True, 'score': float('nan')}\n", BAD),
    "deep recursion": (
        "def f():\n    return f()\ndef evaluate(i, o, e, m):\n    f()\n" + WON,
        ("evaluator_crashed",),
    ),
    "deep recursion in the parser": (
        "def evaluate(i, o, e, m):\n    eval('(' * 5000 + ')' * 5000)\n" + WON,
        ("evaluator_syntax", "evaluator_crashed", "evaluator_memory"),
    ),
    "exit": (attack("os._exit(0)"), ("evaluator_crashed",)),
    "exit politely": ("def evaluate(i, o, e, m):\n    raise SystemExit(0)\n", ("evaluator_crashed",)),
    "crash the interpreter": (
        CALL + "def evaluate(i, o, e, m):\n    ctypes.string_at(1)\n" + WON,
        ("evaluator_crashed",),
    ),
    "abort": (attack("os.abort()"), ("evaluator_crashed",)),
    "a forged answer of another shape": (attack('os.write(3, b\'{"value": {"passed": 1}}\'); os._exit(0)'), BAD),
    "a forged error": (attack('os.write(3, b\'{"error": "made_up"}\'); os._exit(0)'), BAD),
    "pollute the builtins": (
        (
            "import json\njson.dumps = None\njson.loads = None\n"
            "def evaluate(i, o, e, m):\n    __builtins__.__dict__.clear()\n    return {'passed': None}\n"
        ),
        (*BAD, "evaluator_crashed"),
    ),
    "tell itself loaded, then loop": (attack("os.write(3, b'\\n' * 1000)\nwhile True:\n    pass"), LATE),
}

GRADER = "module.exports = (input, output, expected, metadata) => {{ {body}; return {{passed: true}}; }}"


def script(body: str) -> str:
    """A grader whose body throws where the attack is refused."""
    return GRADER.format(body=body)


JAVASCRIPT: dict[str, tuple[str, tuple[str | None, ...]]] = {
    "require fs": (script("require('fs').readFileSync('/etc/passwd')"), ("evaluator_missing_module",)),
    "require node:fs": (script("require('node:fs')"), ("evaluator_missing_module",)),
    "require a path": (script("require('/etc/passwd')"), ("evaluator_missing_module",)),
    "require its way up": (script("require('../../../etc/passwd')"), ("evaluator_missing_module",)),
    "require a prototype": (script("require('__proto__')"), ("evaluator_missing_module",)),
    "require a prototype of lodash": (script("require('lodash/constructor')('return 1')().x.y"), REFUSED),
    "require child_process": (script("require('child_process').execSync('id')"), ("evaluator_missing_module",)),
    "import a module": (
        "import fs from 'fs';\nexport default () => ({passed: true})",
        ("evaluator_missing_module",),
    ),
    "import at run time": ("module.exports = async () => { await import('fs'); return {passed: true} }", REFUSED),
    "import a file": (
        "module.exports = async () => { await import('/etc/passwd'); return {passed: true} }",
        REFUSED,
    ),
    "fetch": (script("fetch('http://127.0.0.1')"), REFUSED),
    "a web socket": (script("new WebSocket('ws://127.0.0.1')"), REFUSED),
    "an XMLHttpRequest": (script("new XMLHttpRequest()"), REFUSED),
    "process.env": (script("process.env.SECRET_KEY.length"), REFUSED),
    "process.exit": (script("process.exit(0)"), REFUSED),
    "process.binding": (script("process.binding('fs')"), REFUSED),
    "a worker": (script("new Worker('data:,1')"), REFUSED),
    "Deno": (script("Deno.readTextFileSync('/etc/passwd')"), REFUSED),
    "std and os of QuickJS": (script("std.open('/etc/passwd', 'r').readAsString()"), REFUSED),
    "os.exec of QuickJS": (script("os.exec(['id'])"), REFUSED),
    "loadScript of QuickJS": (script("globalThis.loadScript('/etc/passwd')"), REFUSED),
    "out through a constructor": (
        script("this.constructor.constructor('return process')().env.SECRET_KEY.length"),
        REFUSED,
    ),
    "out through an error": (
        script("Error.prepareStackTrace = (e, f) => f; new Error().stack[0].getThis().process.env.x.y"),
        REFUSED,
    ),
    "out through require": (
        script("require.constructor('return this')().process.mainModule.require('fs')"),
        REFUSED,
    ),
    "the host's object": (script("globalThis.__runevals.start.x"), REFUSED),
    "wasm": (script("new WebAssembly.Memory({initial: 65536})"), REFUSED),
    "atomics that wait": (
        script("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000); for (;;);"),
        (*LATE, *REFUSED),
    ),
    "a memory bomb of arrays": (
        script("const a = []; for (;;) a.push(new Array(1e5).fill(1.5))"),
        ("evaluator_memory",),
    ),
    "a memory bomb of text": (script("let s = 'x'; for (;;) s += s"), ("evaluator_memory",)),
    "a memory bomb of buffers": (
        script("const a = []; for (;;) a.push(new Uint8Array(1e7).fill(1))"),
        ("evaluator_memory", "evaluator_crashed"),
    ),
    "one huge buffer": (script("new ArrayBuffer(1e10)"), REFUSED),
    "a memory bomb of maps": (
        script("const m = new Map(); for (let i = 0; ; i++) m.set(i, {i})"),
        ("evaluator_memory",),
    ),
    "a padded string": (script("'x'.padEnd(2 ** 30)"), REFUSED),
    "an endless loop": (script("for (;;);"), LATE),
    "an endless loop at load": ("for (;;);", LATE),
    "an endless loop that catches everything": (script("for (;;) { try { for (;;); } catch {} }"), LATE),
    "endless microtasks": ("module.exports = async () => { for (;;) await 0; }", LATE),
    "endless microtasks nobody waits for": (
        "module.exports = () => { (async () => { for (;;) await 0; })(); return new Promise(() => {}); }",
        LATE,
    ),
    "timers that breed": (
        "module.exports = () => new Promise(() => { const f = () => { setTimeout(f); setTimeout(f); }; f(); })",
        (*LATE, "evaluator_crashed"),
    ),
    "a promise that never settles": ("module.exports = () => new Promise(() => {})", BAD),
    "a pattern that never ends": (script("/(a+)+$/.test('a'.repeat(40000) + 'b')"), LATE),
    "a number that takes for ever to write": (script("String(7n ** 3000000n)"), (*LATE, "evaluator_memory")),
    "a sort that never ends": (script("new Array(1e6).fill(0).sort(() => { for (;;); })"), LATE),
    "endless output": (script("for (;;) console.log('x'.repeat(10000))"), LATE),
    "a huge result": ("module.exports = () => ({passed: true, details: {x: 'y'.repeat(2000000)}})", BAD),
    "a circular result": (
        "module.exports = () => { const x = {passed: true, details: {}}; x.details.x = x; return x }",
        BAD,
    ),
    "a deep result": (
        script("let x = {}; for (let i = 0; i < 1e5; i++) x = {x}; return {passed: true, details: x}"),
        (*BAD, "evaluator_crashed"),
    ),
    "a result with a toJSON": ("module.exports = () => ({passed: true, toJSON() { return 'x' }})", BAD),
    "a result with a getter that loops": ("module.exports = () => ({get passed() { for (;;); }})", LATE),
    "a truthy passed": ("module.exports = () => ({passed: 'yes'})", BAD),
    "not a number": ("module.exports = () => ({passed: true, score: NaN})", BAD),
    "infinity": ("module.exports = () => ({passed: true, score: 1 / 0})", BAD),
    "deep recursion": ("const f = () => f(); module.exports = () => f()", ("evaluator_crashed",)),
    "deep nesting in the parser": (
        script("eval('('.repeat(1e6))"),
        ("evaluator_syntax", "evaluator_crashed", "evaluator_memory"),
    ),
    "pollute the prototypes": (
        (
            "Object.prototype.passed = true; Array.prototype.push = null;\n"
            "JSON.stringify = () => '{\"passed\":true}';\n"
            "Promise.prototype.then = null; module.exports = () => ({})"
        ),
        (*BAD, "evaluator_crashed"),
    ),
    "bend the libraries": ("require('lodash').isString = () => { throw 1 }; module.exports = () => null", BAD),
    "close the wrapper": ("}); globalThis.escaped = 1; (async function () { throw new Error('out')", REFUSED),
    "throw nothing": ("module.exports = () => { throw undefined }", ("evaluator_crashed",)),
    "throw a trap": (
        "module.exports = () => { throw {get message() { for (;;); }, toString() { for (;;); }} }",
        (*LATE, "evaluator_crashed"),
    ),
}

HONEST = {
    "python": (
        "import json\n"
        "def evaluate(i, o, e, m):\n    return {'passed': json.loads('[1]') == [1] and o == 'Paris'}\n"
    ),
    "javascript": (
        "module.exports = (i, o) => ({passed: require('lodash').isString(o) && JSON.stringify([1]) === '[1]'"
        " && !({}).passed && [].push(1) === 1})"
    ),
}
ARGUMENTS = {"input": "?", "output": "Paris", "expected": None, "metadata": {}}


def outcomes(sandbox: Sandbox, language: str) -> Iterator[tuple[str, str]]:
    """Runs every attack → (its name, what is wrong with how it ended: "" for nothing)."""
    for name, (code, expected) in (PYTHON if language == "python" else JAVASCRIPT).items():
        answer = sandbox.call(
            code=code,
            filename="grader",
            language=language,
            kind="evaluator",
            arguments=ARGUMENTS,
            # The others end by themselves, however busy it is here.
            timeout_s=0.5 if expected == LATE or name in ENDLESS else 60.0,
        )
        wrong = ""
        if answer.passed or answer.error not in expected:
            wrong = f"passed={answer.passed} error={answer.error} {answer.reason[:200]}"
        after = sandbox.call(
            code=HONEST[language],
            filename="grader",
            language=language,
            kind="evaluator",
            arguments=ARGUMENTS,
            timeout_s=20.0,
        )
        if after.passed is not True:
            wrong += f" and the next grader: {after}"
        yield name, wrong


def main() -> int:
    os.environ["SECRET_KEY"] = "do-not-hand-on"
    wrong, number = 0, 0
    with Sandbox(workers=1, reduced=False) as sandbox:
        for language in ("python", "javascript"):
            for name, told in outcomes(sandbox, language):
                number += 1
                if told:
                    wrong += 1
                    sys.stdout.write(f"{language}: {name}: {told}\n")
        mode = sandbox.mode
    left = [path for path in Path("/tmp").glob("hostile*") if path.name != "hostile.py"]
    sys.stdout.write(f"{number} attacks, {wrong} wrong, sandbox {mode}, {len(left)} files left\n")
    return 1 if wrong or left or mode != "strict" else 0


if __name__ == "__main__":
    sys.exit(main())

"""Files that a change names or brings: each is read, or refused with its place, soon and in bounded memory."""

from __future__ import annotations

import json
import os
import resource
from contextlib import contextmanager

import pytest

from runevals.lib.text.escape import log_text
from runevals.targets.agents.skills import installed_skills
from tests.attacks.conftest import SUITE

SECONDS = 10  # of processor time; most need a tenth
SETTINGS = "suites: [evals.json]\ntarget: {type: recorded, path: answers.jsonl}\n"
ANSWERS = "".join(json.dumps({"case": f"k{number}", "output": "yes"}) + "\n" for number in range(12))


@contextmanager
def within(seconds: float):
    """Fails where it took more processor time; what is under way is not ended."""
    began = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - began < seconds


@pytest.fixture
def given(project, run):
    """Writes the files of a change over a project that works → how a command ends on it."""

    def ended(files, *words):
        for name, content in {"runevals.yaml": SETTINGS, "evals.json": SUITE, "answers.jsonl": ANSWERS}.items():
            project.write(name, content)
        for name, content in files.items():
            path = project.path / name
            path.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            if callable(content):
                content(path)
            elif isinstance(content, bytes):
                path.write_bytes(content)
            else:
                project.write(name, content)
        with within(SECONDS):
            return run(*words, GITHUB_ACTIONS="true")

    return ended


def test_the_project_works_without_a_trick(given):
    """The control of all below."""
    given({}, "run").must(0, "12 of 12")
    given({}, "validate").must(0)


def items(text: str) -> str:
    return f'{{"schemaVersion": "1.2.0", "default_evaluators": {{"ExactMatch": {{}}}}, "items": [{text}]}}'


def deep(opening: str, closing: str, levels: int) -> str:
    return opening * levels + closing * levels


ALIASES = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)

E, Y, R = "evals.json", "evals.yaml", "rows.csv"
ONE = '{"prompt": "a"}'
SUITES = {
    "deep lists": (E, deep("[", "]", 100_000), 2),
    "deep objects": (E, '{"a":' * 50_000 + "1" + "}" * 50_000, 2),
    "a deep value of a case": (E, items(f'{{"prompt": "a", "metadata": {{"x": {deep("[", "]", 5000)}}}}}'), 2),
    "a number of 5,000 digits": (E, items(f'{{"prompt": "a", "weight": {"9" * 5000}}}'), 2),
    "a number of 400 digits": (E, items(f'{{"prompt": "a", "weight": {"9" * 400}}}'), 2),
    "a float that is infinite": (E, items('{"prompt": "a", "weight": 1e999}'), 2),
    "NaN": (E, items('{"prompt": "a", "weight": NaN}'), 2),
    "a key twice": (E, items('{"prompt": "a", "prompt": "b"}'), 2),
    "half a character": (E, items('{"prompt": "\\ud800", "testId": "\\udfff"}'), None),
    "NUL in names": (E, items('{"prompt": "a\\u0000", "testId": "a\\u0000b"}'), None),
    "no UTF-8": (E, items(ONE).encode() + b"\xff\xfe", 2),
    "UTF-16": (E, items(ONE).encode("utf-16"), 2),
    "nothing": (E, b"", 2),
    "NULs": (E, bytes(100_000), 2),
    "a million commas": (E, "," * 1_000_000, 2),
    "three thousand broken cases": (E, items(", ".join(['{"promt": 1}'] * 3000)), 2),
    "three thousand unknown keys": (E, json.dumps({**SUITE, **{f"k{n}": n for n in range(3000)}}), 0),
    "a billion laughs": (Y, ALIASES, 2),
    "an alias of itself": (Y, "items: &a [*a]\n", 2),
    "an object of Python": (Y, "items: !!python/object/apply:os.system ['touch /tmp/pwned']\n", 2),
    "a tag of nobody": (Y, "items: !evil {a: 1}\n", 2),
    "deep YAML": (Y, deep("[", "]", 3000), 2),
    "deep YAML by lines": (Y, "".join(" " * level + "a:\n" for level in range(1200)), 2),
    "merge keys": (Y, "a: &a {b: 1}\nitems: [{<<: [*a, *a], prompt: x}]\n", 0),
    "two documents": (Y, "items: []\n---\nitems: []\n", 2),
    "a date as prompt": (Y, "schemaVersion: 1.2.0\nitems: [{prompt: 2026-01-01}]\n", 0),
    "a number in base 60": (Y, "schemaVersion: 1.2.0\nitems: [{prompt: 1:" + "59:" * 5000 + "59}]\n", 0),
    "an integer of 5,000 digits": (Y, f"items: [{{prompt: {'9' * 5000}}}]\n", 2),
    "a CSV of 200,000 columns": (R, ",".join(f"c{n}" for n in range(200_000)) + "\n1\n", 2),
    "a CSV of 200,000 equal columns": (R, "prompt," * 200_000 + "\n1\n", 2),
    "a cell of 10 MB": (R, lambda: f'prompt,expected_response\n"{"x" * 10_000_000}",a\n', None),
    "an open quote": (R, 'prompt,expected_response\n"' + "a,b\n" * 100_000, None),
    "carriage returns": (R, "prompt,expected_response\r" * 50_000, 2),
    "NUL in a CSV": (R, b"prompt,expected_response\na\0b,c\n", None),
}  # fmt: skip


@pytest.mark.parametrize("trick", SUITES)
def test_a_suite(given, trick):
    name, content, code = SUITES[trick]
    ended = given({name: content() if callable(content) else content}, "validate", name)
    assert ended.code == code if code is not None else ended.code in (0, 2), ended.text[-2000:]
    assert "Traceback" not in ended.text
    assert name in ended.text
    assert len(ended.text) < 1_000_000
    assert not os.path.lexists("/tmp/pwned")


def composites(*rows: tuple[str, list[str]]) -> str:
    return f"{SETTINGS}evaluators:\n" + "".join(
        f"  - {{id: {name}, type: composite, evaluatorIds: {json.dumps(parts)}}}\n" for name, parts in rows
    )


def prompted(file: str) -> str:
    return f"suites: [evals.json]\ntarget: {{type: openai, model: m, system_prompt_file: {file}}}\n"


def called(kind: str, **target: object) -> str:
    return f"suites: [evals.json]\ntarget: {json.dumps({'type': kind, **target})}\n"


DOUBLED = [(f"c{n}", [f"c{n - 1}", f"c{n - 1}"] if n else ["contains", "contains"]) for n in range(26)]
NESTED = [(f"c{n}", [f"c{n - 1}"] if n else ["contains"]) for n in range(1500)]
SETTINGS_FILES = {
    "composites doubled 25 deep": composites(*DOUBLED),
    "1,500 nested composites": composites(*NESTED),
    "a composite of itself": composites(("a", ["a"])),
    "two composites of each other": composites(("a", ["b"]), ("b", ["a"])),
    "1,500 nested composites, the last first": composites(*reversed(NESTED)),
    "four globs for all folders between names": SETTINGS.replace(E, "'**/a/**/b/**/c/**/*.json'"),
    "ten globs for all folders": SETTINGS.replace(E, "'" + "**/" * 10 + "*.json'"),
    "a suite of 5,000 letters": SETTINGS.replace(E, "x" * 5000),
    "a suite with NUL": SETTINGS.replace(E, '"a\\0b"'),
    "a suite that is no file": SETTINGS.replace(E, "/dev/zero"),
    "a billion laughs": ALIASES,
    "deep lists": deep("[", "]", 3000),
    "an object of Python": "suites: !!python/object/apply:os.system ['touch /tmp/pwned']\n",
    "a key twice": f"{SETTINGS}suites: []\n",
    "no mapping": "[1, 2]",
    "no UTF-8": SETTINGS.encode() + b"# \xff",
    "an endless number": f"{SETTINGS}max_cost: .inf\n",
    "NaN": f"{SETTINGS}max_cost: .nan\n",
    "a number of 5,000 digits": f"{SETTINGS}repeat: {'9' * 5000}\n",
    "a negative repeat": f"{SETTINGS}repeat: -1\n",
    "a price whose sum is no number": f"{SETTINGS}prices: {{tiny: {{input: 1.0e+308, output: 1.0e+308}}}}\n",
    "a pattern that does not parse": f"{SETTINGS}redact: ['(']\n",
    "a gate of another world": f"{SETTINGS}gates: [{{name: g, metric: x, op: '==', limit: 1}}]\n",
    "a prompt file that is no UTF-8": prompted("p.md"),
    "a link loop as prompt file": prompted("loop"),
    "a link loop as cwd": "suites: [evals.json]\ntarget: {type: command, command: [cat], cwd: loop}\n",
    "a link loop as suite": "suites: [loop]\ntarget: {type: recorded, path: answers.jsonl}\n",
    "a link loop as answers": "suites: [evals.json]\ntarget: {type: recorded, path: loop}\n",
    "a link loop as grader": f"{SETTINGS}evaluators: [{{id: a, type: code, file: loop}}]\n",
    "a folder as answers": "suites: [evals.json]\ntarget: {type: recorded, path: .}\n",
    "a folder as grader": f"{SETTINGS}evaluators: [{{id: a, type: code, file: .}}]\n",
    "an address with 50,000 blanks": called("http", url="http://agent.example/{{nope}}{{" + " " * 50_000),
    "50,000 variables of a server without their ends": called(
        "openai",
        model="m",
        mcp=[{"command": "server", "env": {"A": "${a:-" * 50_000, "B": "${b}"}}],
    ),
    "a line break in a name": SETTINGS.replace(E, '"x\\n::error::y"'),
}  # fmt: skip
BESIDE = {"p.md": b"caf\xe9", "loop": lambda path: path.symlink_to("loop")}


@pytest.mark.parametrize("trick", SETTINGS_FILES)
def test_a_settings_file(given, trick):
    folders = {f"{'d/' * depth}x.txt": "x" for depth in range(25)}
    ended = given({"runevals.yaml": SETTINGS_FILES[trick], **BESIDE, **folders}, "run")
    ended.must(0 if trick == "ten globs for all folders" else 2)
    assert "Traceback" not in ended.text
    assert "\n::error" not in ended.text
    assert len(ended.text) < 200_000
    assert not os.path.lexists("/tmp/pwned")


@pytest.mark.parametrize("front", ["---\nname: x" + " " * 50_000 + "y\n---\n", "---" + "\n" * 50_000])
def test_a_skill_with_a_long_name(tmp_path, front):
    (tmp_path / "SKILL.md").write_text(front, encoding="utf-8")
    with within(SECONDS):
        assert [skill.name for skill in installed_skills([tmp_path])] == [tmp_path.name]


def test_many_empty_lines_in_a_log():
    with within(SECONDS):
        assert log_text("\u2003::set-env" + "\n" * 100_000) == "\u2003: :set-env" + "\n" * 100_000


def fifo(path):
    os.mkfifo(path)


KINDS = {
    "a named pipe": fifo,
    "a link loop": lambda path: path.symlink_to(path.name),
    "a folder": lambda path: path.mkdir(),
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["evals.json", "runevals.yaml", "answers.jsonl", "runevals.quarantine.yaml"])
def test_what_is_no_plain_file(given, name, kind):
    ended = given({name: KINDS[kind]}, "run")
    assert ended.code in (0, 2, 3), ended.text[-2000:]
    assert ended.code != 0 or name == "runevals.quarantine.yaml" or (name, kind) == ("runevals.yaml", "a folder")
    assert "Traceback" not in ended.text

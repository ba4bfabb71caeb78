"""The documentation names only what exists: commands, flags, settings, evaluators, exit codes, files, links."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import click
import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema
from jsonschema import Draft7Validator

from runevals.commands import COMMANDS, commands, rewritten
from runevals.commands.schema import SCHEMAS
from runevals.dialects import LoadOptions, load
from runevals.dialects.reading import parse_source
from runevals.errors import UnrecognisedSuite
from runevals.evaluators import catalogue
from runevals.records import EvaluatorSpec
from runevals.sandbox import Sandbox
from runevals.schema_check import complaints, schema
from runevals.settings_table import SETTINGS
from tests.pages import PAGES, ROOT, Block, anchors, blocks, links, prose, spans

EXIT_CODES = {"0", "1", "2", "3", "4", "130"}
OWN = EvaluatorSpec(name="json_valid")  # stands for an evaluator that the settings declare
MADE_BY_TESTS = ("docs/evaluators.md",)  # whose blocks are parts of files, and run in tests/evaluators
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
OUTER = yaml.safe_load((ROOT / "with-artifact" / "action.yml").read_text(encoding="utf-8"))
# What pages name of others: of JavaScript, of GitHub, of what examples make up.
OTHERS = {
    "ReferenceError",
    "TextDecoder",
    "cmark-gfm",
    "id-token",
    "maxTokens",
    "no_shouting",
    "runevals-validate",
}


# -- links


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        if ":" in path:
            continue
        target = (ROOT / page).parent.joinpath(path).resolve() if path else ROOT / page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.relative_to(ROOT).as_posix()), link


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/")])
def test_a_page_is_found_from_the_first_ones(page):
    first = ("README.md", "docs/README.md")
    found = {(ROOT / start).parent.joinpath(link).resolve() for start in first for link in links(start)}
    assert page in first or (ROOT / page).resolve() in found


def test_each_of_the_six_pages_has_a_picture_that_can_be_made_again():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = re.findall(r"^\d\. \[[^]]+\]\(([\w.]+)\)", index, re.M)
    assert len(pages) == 6
    maker = (ROOT / "docs" / "pictures.py").read_text(encoding="utf-8")
    for page in pages:
        pictures = [link for link in links(f"docs/{page}") if link.endswith(".png")]
        assert pictures, page
        for picture in pictures:
            assert (ROOT / "docs" / picture).stat().st_size < 120_000
            assert f'"{picture.removesuffix(".png")}": of_' in maker


# -- the command line


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that these words name, and what is said to it."""
    command: click.Command = commands
    assert not words or words[0] in COMMANDS or not re.fullmatch(r"[a-z][a-z-]+", words[0]), words
    rest = rewritten(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        found = command.get_command(click.Context(command), rest[0])
        if found is None:
            raise click.UsageError(f"there is no command {rest[0]}")
        command, rest = found, rest[1:]
    return command, rest


def parse(words: list[str], *, whole: bool) -> None:
    """Reads a command line as `runevals` would, and runs nothing. With `whole`, its arguments must be there."""
    command, rest = command_of([word for word in words if word != "…"])
    try:
        command.make_context("runevals", rest)
    except click.MissingParameter:
        assert not whole, words
    except click.BadParameter as error:
        if "does not exist" not in error.message:  # the files of an example are not there
            raise
    except click.exceptions.Exit:  # --help
        pass


def told_to_runevals(line: str) -> Iterator[list[str]]:
    """The words behind each `runevals` of a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexer:
        if set(word) <= set("&|;()<>"):
            parts.append([])
        else:
            parts[-1].append(word)
    for words in parts:
        while words and re.match(r"\w+=", words[0]):
            words.pop(0)
        if words and words[0].rpartition("/")[2] == "runevals":
            yield words[1:]


@cache
def flags() -> frozenset[str]:
    """Every flag of every command."""
    return frozenset(opt for command in everything() for param in command.params for opt in param.opts) | {
        "--help"
    }


def everything(command: click.Command = commands) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from everything(found)


@pytest.mark.parametrize("page", PAGES)
def test_command_lines_can_be_typed(page):
    for block in blocks(page, "sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            for words in told_to_runevals(line):
                parse(words, whole=True)
    for span in spans(page):
        for words in told_to_runevals(span) if "runevals" in span and "'" not in span else ():
            parse(words, whole=False)


@pytest.mark.parametrize("page", PAGES)
def test_flags_exist(page):
    named = {span.split()[0].partition("=")[0] for span in spans(page) if span.startswith("-") and span.strip("-")}
    assert {name for name in named if name.startswith("--") or len(name) == 2} <= flags()
    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]+", prose(page))) <= flags()


def test_the_readme_names_every_command():
    named = {" ".join(span.split()[:2]) for span in spans("README.md")}
    missing = [name for name in COMMANDS if name != "action" and f"runevals {name}" not in named]
    assert [name for name in missing if name not in spans("README.md")] == []


@pytest.mark.parametrize(
    "command", [one for one in everything() if one.name != "action"], ids=lambda one: one.name
)
def test_help_names_only_what_exists(command):
    shown = command.get_help(click.Context(command, info_name="runevals"))
    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]+", shown)) <= flags()
    for example in re.findall(r"^ +(runevals.*)$", command.help or "", re.M):
        for words in told_to_runevals(example):
            parse(words, whole=True)
    for span in re.findall(r"`(runevals .*?)`", shown.replace("\n", " ")):
        for words in told_to_runevals(span):
            parse(words, whole=False)


@pytest.mark.parametrize("page", PAGES)
def test_exit_codes_are_ours(page):
    told = " ".join(prose(page).split())
    assert set(re.findall(r"(?i)\bexit(?:s|ed)?(?: code)?(?: with)? (\d+)\b", told)) <= EXIT_CODES


# -- names


def words_of(value: object) -> Iterator[str]:
    """All keys and texts of a document."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from words_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from words_of(item)
    elif isinstance(value, str):
        yield value


@cache
def source() -> tuple[ast.AST, ...]:
    """The syntax of all our modules."""
    paths = (ROOT / "src" / "runevals").rglob("*.py")
    return tuple(node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def known() -> frozenset[str]:
    """Every name that means something to runevals: its texts, fields and classes, schemas, action and examples."""
    found: set[str] = OTHERS | set(catalogue.names())
    for name in SCHEMAS:
        found |= set(words_of(schema(*SCHEMAS[name])))
    for document in (schema("runevals", "mcp-1"), ACTION, OUTER, HOOKS):
        found |= set(words_of(document))
    for node in source():
        match node:
            case ast.Constant(value=str(text)):
                found |= set(re.findall(r"[\w-]+", text))
            case ast.ClassDef(name=name):
                found.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) if name.isupper():
                found.add(name)
    return frozenset(found)


@pytest.mark.parametrize("page", PAGES)
def test_names_are_known(page):
    named = {span.partition(":")[0] for span in spans(page)}
    looks_like_one = re.compile(r"[A-Za-z]\w*(?:[_-]\w+|[a-z][A-Z]\w*)+")
    assert {name for name in named if looks_like_one.fullmatch(name)} <= known()


@pytest.mark.parametrize("page", PAGES)
def test_variables_are_read(page):
    named = set(re.findall(r"\bRUNEVALS_[A-Z_]+", (ROOT / page).read_text(encoding="utf-8")))
    assert named <= known() | {f"RUNEVALS_{setting.name.upper()}" for setting in SETTINGS}


@pytest.mark.parametrize("page", PAGES)
def test_evaluators_that_blocks_name_exist(page):
    for block in blocks(page, "json", "yaml"):
        for name in re.findall(r'"(?:default_)?evaluators": \{"([\w-]+)"', block.text):
            assert name in {*catalogue.names(), "short-answer", "asks_back", "no_shouting"}, name


@pytest.mark.parametrize("page", PAGES)
def test_python_names_can_be_imported(page):
    for span in spans(page):
        if re.fullmatch(r"runevals(\.\w+)+", span) and not span.endswith((".yaml", ".json")):
            module, _, name = span.rpartition(".")
            assert _in(importlib.import_module(module), name), span
    for block in blocks(page, "python") if page != "CONTRIBUTING.md" else ():
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runevals"):
                module = importlib.import_module(node.module)
                assert [alias.name for alias in node.names if not _in(module, alias.name)] == []


def _in(module: ModuleType, name: str) -> bool:
    """Whether a module has this name, or is a package with this module."""
    return hasattr(module, name) or importlib.util.find_spec(f"{module.__name__}.{name}") is not None


def test_the_tables_of_the_action_list_its_inputs_and_outputs():
    page = (ROOT / "docs" / "action.md").read_text(encoding="utf-8")
    _, inputs, outputs = re.split(r"^## (?:Inputs|Outputs)$", page, flags=re.M)
    named = [re.findall(r"`(\w+)`", row.split("|")[1]) for row in inputs.splitlines() if row.startswith("| `")]
    assert [name for names in named for name in names] == list(ACTION["inputs"])
    named = [re.findall(r"`(\w+)`", row.split("|")[1]) for row in outputs.splitlines() if row.startswith("| `")]
    assert sorted(name for names in named for name in names) == sorted(ACTION["outputs"])


def test_files_that_contributors_are_sent_to_exist():
    folders = (ROOT, ROOT / "src" / "runevals", ROOT / "src" / "runevals" / "reporters")
    for span in spans("CONTRIBUTING.md"):
        if re.fullmatch(r"[\w./-]+(/|\.py|\.md)", span) and "asks_back" not in span:
            assert any((folder / span).exists() for folder in folders), span


def test_what_the_action_is_said_to_say_is_said_somewhere():
    """The messages in the troubleshooting table of docs/github.md."""
    texts = [node.value for node in source() if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    said = "\n".join(texts).replace("`", "")
    page = (ROOT / "docs" / "github.md").read_text(encoding="utf-8").partition("## Troubleshooting")[2]
    for message in re.findall(r"^\| `(\D[^`]+)`", page, re.M):
        parts = [part for part in re.split(r"[…–]|\d+", message) if re.search(r"\w{4}", part)]
        assert [part for part in parts if part.strip(" :") not in said] == [], message


# -- blocks


def value_of(block: Block) -> object:
    return parse_source(block.text.encode(), ".yaml" if block.language == "yaml" else ".json", "block").value


def fault_of_a_workflow(value: object) -> str | None:
    steps = value["steps"] if isinstance(value, dict) and "steps" in value else value
    if isinstance(steps, list):
        value = {"on": "push", "jobs": {"job": {"runs-on": "ubuntu-latest", "steps": steps}}}
    elif "on" not in value:
        value = {"on": "push", **value}
    errors = Draft7Validator(get_builtin_schema("vendor.github-workflows")).iter_errors(value)
    told = [error.message for error in errors]
    for job in value["jobs"].values():
        for step in job["steps"]:
            ours = {"runevals/runevals": ACTION, "runevals/runevals/with-artifact": OUTER}
            action = ours.get(step.get("uses", "").partition("@")[0])
            given = step.get("with", {}) if action else {}
            told += [f"there is no input {name}" for name in given if name not in action["inputs"]]
    used = re.findall(r"steps\.\w+\.outputs\.(\w+)", json.dumps(value))
    told += [f"there is no output {name}" for name in used if name not in ACTION["outputs"]]
    return "; ".join(told) or None


def fault_of(value: object, block: Block, folder: Path) -> str | None:
    """What is wrong with the file that a block shows; None if nothing is."""
    match value:
        case {"jobs": _} | {"steps": _} | [{"uses": _}, *_]:
            return fault_of_a_workflow(value)
        case {"mcpServers": _}:
            return _complaints("runevals", "mcp-1", value)
        case {"json.schemas": _}:
            return None  # tests/commands/test_schema.py follows it
        case [{"expires": _}, *_]:
            return _complaints("runevals", "quarantine-1", value)
        case {"messages": _} | {"samples": _} | {"schemaVersion": _} | {"skill": _}:
            path = folder / ("block.prompt.yml" if "messages" in value else f"block.{block.language}")
            path.write_text(block.text, encoding="utf-8")
            try:
                suite = load(path, "block", LoadOptions(definitions={"short-answer": OWN, "polite": OWN}))
            except UnrecognisedSuite as error:
                return str(error)
            return "; ".join(map(str, suite.errors)) or None
        case {**_keys}:
            return _complaints("runevals", "settings-1", value)
    return "nobody knows what it is"


def _complaints(package: str, name: str, value: object) -> str | None:
    return "; ".join(f"{one.place}: {one.message}" for one in complaints(package, name, value)) or None


@pytest.mark.parametrize("page", [page for page in PAGES if page not in MADE_BY_TESTS])
def test_blocks_are_files_that_we_read(page, tmp_path):
    for block in blocks(page, "yaml", "json"):
        if block.language == "json" and block.text.startswith('{"input"'):
            for line in block.text.splitlines():
                assert _complaints("runevals.dialects", "gold", [json.loads(line)]) is None
            continue
        fault = fault_of(value_of(block), block, tmp_path)
        assert fault is None, f"{page}:{block.line}: {fault}"


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "workflows").iterdir()), ids=lambda path: path.name)
def test_workflows_give_the_action_what_it_takes(path):
    assert fault_of_a_workflow(parse_source(path.read_bytes(), ".yaml", path.name).value) is None


def test_the_graders_that_are_shown_grade():
    first, last = blocks("docs/graders.md", "python")
    [script] = blocks("docs/graders.md", "javascript")
    given = {"input": "Hi", "output": "red green", "expected": None, "metadata": {"keywords": ["red", "blue"]}}
    with Sandbox(workers=1) as sandbox:
        for block, passed in ((first, True), (script, False)):
            answer = sandbox.call(
                code=block.text,
                filename="grader",
                language=block.language,
                kind="evaluator",
                arguments=given,
                timeout_s=5,
                memory_bytes=128 * 1024**2,
            )
            assert (answer.error, answer.passed) == (None, passed)
    names: dict[str, object] = {}
    exec(last.text, names)
    assert names["answer"].passed


def test_the_program_that_decides_is_one():
    stored = ROOT / "examples" / "support-agent" / "base.json"
    [block] = blocks("docs/verdict.md", "python")
    names: dict[str, object] = {"base_path": stored, "head_path": stored}
    exec(block.text, names)
    assert names["conclusion"].verdict.exit_code == 0


@pytest.mark.parametrize("page", PAGES)
def test_settings_within_sentences_are_settings(page):
    properties = schema("runevals", "settings-1")["properties"]
    for span in spans(page):
        if re.match(r"[a-z_]+: \S", span) and "…" not in span and "{{" not in span:
            value = parse_source(span.encode(), ".yaml", "span").value
            assert isinstance(value, dict)
            if set(value) <= set(properties) - {"category"}:
                assert _complaints("runevals", "settings-1", value) is None, span

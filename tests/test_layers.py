"""Which package may import which, and which modules may touch the outside. Read from the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.sources import nodes

SRC = Path(__file__).parents[1] / "src" / "runevals"

STAGES = {"suites", "judge", "targets", "verdict", "reports"}
BELOW = {"records", "lib", "models"}  # what every stage may use
MACHINE = {"programs", "repository", "sandbox"}  # what touches the machine
MAY_IMPORT: Mapping[str, set[str]] = {
    "version": set(),
    "records": set(),
    "lib": {"records"},
    "models": {"records", "lib"},
    "programs": {"records", "lib", "models"},
    "repository": {"records", "lib", "programs"},
    "sandbox": {"records", "lib", "programs"},
    "evaluators": {"records", "lib"},
    "settings": {*BELOW, "programs", "repository", "evaluators", "targets"},  # a kind of target has its settings
    "suites": {*BELOW, "programs", "repository", "evaluators"},
    "imports": {"records", "lib", "programs", "repository", "evaluators", "suites"},
    "judge": {*BELOW, "evaluators"},
    "targets": {*BELOW, "programs", "repository"},
    "verdict": {"records", "lib"},
    "reports": {*BELOW, "verdict"},
    "run": {*BELOW, *MACHINE, "evaluators", "settings", "imports", *STAGES},
    "github": {*BELOW, *MACHINE, "evaluators", "settings", *STAGES, "run"},
    "gitlab": {"models", "records"},
    "cli": {*BELOW, *MACHINE, "evaluators", "settings", "imports", *STAGES, "run", "github", "gitlab"},
    "__init__": {"lib", "records", "reports", "run", "verdict"},  # the public names
    "__main__": {"cli"},
    "pytest_plugin": {"records", "lib", "run", "__init__"},
}

# A rule → what it is about → the packages and modules that may use it.
ONLY_IN: Mapping[str, tuple[set[str], set[str]]] = {
    "click": ({"click"}, {"cli", "lib/terminal"}),
    "rich": ({"rich"}, {"cli"}),
    "HTTP": (
        {"requests", "urllib3", "httpx", "openai", "http.client", "urllib.request", "gitlab"},
        {
            "models/http",
            "models/chat",
            "targets/json_endpoint",
            "targets/a2a_client",
            "github/api",
            "gitlab/notes",
            "suites/urls/fetch",
            "run/baseline/from_files",
        },
    ),
    "processes": (
        {"subprocess", "multiprocessing"},
        {
            "programs/exchange",
            "programs/line_process",
            "programs/mcp_stdio",
            "programs/processes",
            "repository/git",
        },
    ),
}
PURE = {"verdict", "evaluators"}
IMPURE = {"os", "sys", "subprocess", "socket", "pathlib", "time", "random", "threading", "tempfile"}
IMPURE_SHELVES = ("models/http/", "models/chat/", "lib/storage/", "sandbox/", "repository/git", "lib/terminal")
EVENT = "GITHUB_EVENT_PATH"
EVENT_READER = "github/this_job"
# What libraries may import of the records, and of the others: a place in a file, and what is wrong there.
OF_RECORDS = {"records/errors", "records/script", "records/quiet"}
PLACES = {"Location", "FileProblem"}
LIBRARIES = {"lib", "models", *MACHINE}
NOT_IN_LIB = {"suite", "judge", "evaluator", "gate", "baseline"}  # nor in a name that is defined there

# What today's code breaks, and why. An entry leaves this table when the code no longer needs it; none is added.
KNOWN: Mapping[str, str] = {}


def place_of(path: Path) -> str:
    """A module's place: its path below `runevals`, without the suffix."""
    return path.relative_to(SRC).with_suffix("").as_posix()


@cache
def modules() -> Mapping[str, tuple[ast.AST, ...]]:
    """The syntax of every module, by its place."""
    return {place_of(path): nodes(path) for path in sorted(SRC.rglob("*.py"))}


@cache
def ours() -> Mapping[str, str]:
    """The name under which a module is imported → its place."""
    names = {}
    for path in SRC.rglob("*.py"):
        parts = ("runevals", *path.relative_to(SRC).with_suffix("").parts)
        names[".".join(parts).removesuffix(".__init__")] = place_of(path)
    return names


@cache
def imports(place: str) -> tuple[tuple[str, str], ...]:
    """Every module that is imported, anywhere in a module, with the name that is taken from it."""
    return tuple(imports_among(modules()[place]))


def imports_among(syntax: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in syntax:
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, "") for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                yield from (("." * level + (module or ""), alias.name) for alias in names)


def imported(place: str) -> Iterator[tuple[str, str]]:
    """The places of ours that a module imports from, with the names."""
    for module, name in imports(place):
        target = ours().get(f"{module}.{name}") or ours().get(module)
        if target is not None:
            yield target, name


def package_of(place: str) -> str:
    return place.partition("/")[0]


def within(place: str, allowed: set[str]) -> bool:
    return any(place == one or place.startswith(f"{one}/") for one in allowed)


def wrong_imports() -> Iterator[str]:
    """`importing -> imported` where the table does not allow it."""
    for place in modules():
        package = package_of(place)
        for target, _ in imported(place):
            if package_of(target) not in MAY_IMPORT[package] | {package, "version"}:
                yield f"{place} -> {target}"


def wrong_touches() -> Iterator[str]:
    """`module: rule` where a module uses what is not its business."""
    for place in modules():
        outside = {module for module, _ in imports(place)}
        for rule, (libraries, allowed) in ONLY_IN.items():
            uses = any(module == one or module.startswith(f"{one}.") for module in outside for one in libraries)
            if uses and not within(place, allowed):
                yield f"{place}: {rule}"
        if package_of(place) in PURE and not is_pure(place, outside):
            yield f"{place}: pure"
        if any(module.startswith(".") for module in outside):
            yield f"{place}: relative import"


def is_pure(place: str, outside: set[str]) -> bool:
    shelves = [target for target, _ in imported(place) if f"{target}/".startswith(IMPURE_SHELVES)]
    return not shelves and not {module.partition(".")[0] for module in outside} & IMPURE


def wrong_records_in_lib() -> Iterator[str]:
    """A library knows nothing of ours but errors, scripts and places in files."""
    for place in modules():
        taken = imported(place) if package_of(place) in LIBRARIES else ()
        if any(
            package_of(one) == "records" and one not in OF_RECORDS and name not in PLACES for one, name in taken
        ):
            yield f"{place}: records in lib"


def wrong_words_in_lib() -> Iterator[str]:
    """A library defines no name that speaks of suites or judges."""
    for place, syntax in modules().items():
        words = {word.rstrip("s") for name in defined(syntax) for word in name.lower().split("_")}
        if package_of(place) in LIBRARIES and words & NOT_IN_LIB:
            yield f"{place}: words in lib"


def defined(syntax: Iterable[ast.AST]) -> Iterator[str]:
    """The names of functions, classes and variables."""
    for node in syntax:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name


def wrong_readers_of_the_event() -> Iterator[str]:
    """The event of a job on GitHub is read in one module."""
    for place, syntax in modules().items():
        read = any(isinstance(node, ast.Constant) and node.value == EVENT for node in syntax)
        if read and place != EVENT_READER:
            yield f"{place}: event"


def wrong_private_names() -> Iterator[str]:
    """A name that begins with `_` stays in its module."""
    for place in modules():
        if any(name.startswith("_") and not name.startswith("__") for _, name in imported(place)):
            yield f"{place}: private name"


@cache
def wrong() -> frozenset[str]:
    return frozenset(
        [
            *wrong_imports(),
            *wrong_touches(),
            *wrong_records_in_lib(),
            *wrong_words_in_lib(),
            *wrong_readers_of_the_event(),
            *wrong_private_names(),
        ]
    )


def test_every_package_has_its_row():
    assert {package_of(place) for place in modules()} == MAY_IMPORT.keys()


def test_stages_take_their_own_records_and_never_the_settings():
    assert [stage for stage in STAGES if "settings" in MAY_IMPORT[stage]] == []


def test_imports_and_touches_are_allowed():
    assert sorted(wrong() - KNOWN.keys()) == []


def test_no_modules_import_each_other_in_a_circle():
    below = {place: {target for target, _ in imported(place)} - {place} for place in modules()}
    TopologicalSorter(below).prepare()  # CycleError names the circle


def test_what_is_known_to_be_wrong_only_shrinks():
    assert sorted(KNOWN.keys() - wrong()) == [], "remove these entries from KNOWN: nothing needs them any more"

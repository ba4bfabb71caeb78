"""The import rule: every module may import only from its own layer's allowance. Read from the sources."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "runevals"

BOTTOM = {"records", "errors"}
# Small pieces without a stage of their own; they know nothing above them.
TOOLS = {
    "agreement",
    "withholding",
    "stopping",
    "amounts",
    "cache",
    "nearest",
    "nesting",
    "plugins",
    "inert",
    "redact",
    "schema_check",
    "line_process",
    "throttle",
    "turns",
    "rate_window",
    "significance",
    "power",
    "urls",
    "prices",
    "shard",
    "spool",
    "json_template",
    "json_pick",
    "laid_out",
    "locked",
    "files",
    "web_settings",
    "github_models",
}
DIALECTS = BOTTOM | TOOLS | {"evaluators", "dialects"}
COMPARING = {"compare", "regression", "verification"}
STAGES = DIALECTS | COMPARING | {"discover", "settings", "settings_file", "endpoints", "plan", "score", "gate"}
EDGES = BOTTOM | TOOLS | {"dialects", "evaluators", "document", "chat"}

ALLOWED: dict[str, set[str]] = {
    "records": {"records"},
    "errors": {"records"},
    **dict.fromkeys(TOOLS, BOTTOM | TOOLS),
    "evaluators": BOTTOM | TOOLS | {"evaluators"},
    "dialects": DIALECTS,
    "settings_file": DIALECTS,
    "endpoints": DIALECTS | {"settings_file"},
    "gate_settings": BOTTOM | TOOLS,
    "settings_table": set(),
    "setting_values": BOTTOM | TOOLS | {"settings_table"},
    "guarding": BOTTOM | TOOLS | {"settings_file"},
    "settings": DIALECTS
    | {
        "definitions",
        "endpoints",
        "gate_settings",
        "guarding",
        "setting_values",
        "settings_file",
        "settings_table",
    },
    "quarantine": DIALECTS,
    "mcp_config": DIALECTS,
    "mcp_servers": BOTTOM | TOOLS | {"mcp_config"},
    "definitions": DIALECTS,
    "dotenv": BOTTOM,
    "git": BOTTOM,
    "git_changes": BOTTOM | {"git"},
    "worktree": BOTTOM | {"git", "locked"},
    "discover": BOTTOM | {"nearest"},
    "plan": STAGES,
    "converse": BOTTOM | TOOLS | {"plan", "targets"},
    "check_reports": BOTTOM | TOOLS | {"evaluators", "plan"},
    "evaluate": BOTTOM | TOOLS | {"check_reports", "evaluators", "plan", "world"},
    "totals": BOTTOM | TOOLS,
    "score": BOTTOM | TOOLS | {"evaluate", "plan", "totals", "votes"},
    "votes": BOTTOM | TOOLS,
    "changes": BOTTOM,
    "casewise": BOTTOM | TOOLS | {"changes"},
    "secondary": BOTTOM | TOOLS | {"changes"},
    "regression": BOTTOM | TOOLS | {"changes"},
    "comparability": BOTTOM | {"score"},
    "verification": BOTTOM | {"wording"},
    "compare": BOTTOM | TOOLS | {"casewise", "changes", "comparability", "regression", "secondary", "totals"},
    "merge": BOTTOM | {"score"},
    "metrics": BOTTOM | {"totals"},
    "gate": BOTTOM | TOOLS | {"metrics", "settings", "wording"},
    "wording": BOTTOM,
    "conclude": BOTTOM | TOOLS | {"wording"},
    "pattern_redaction": BOTTOM | TOOLS | {"evaluators"},
    "world": {"evaluators", "judge", "stopping", "targets", "throttle"},
    "health": BOTTOM | TOOLS | {"evaluators", "health", "plan", "score", "wording"},
    "loading": STAGES | {"dialects"},
    "pipeline": STAGES
    | {"converse", "evaluate", "conclude", "document_text", "loading", "pattern_redaction", "world"},
    "decision": BOTTOM | {"pipeline", "settings"},
    "baseline": STAGES | {"document", "git", "pipeline"},
    "dependencies": STAGES | {"git_changes", "loading", "mcp_config"},
    "reuse": STAGES | {"dependencies", "git", "loading", "pipeline"},
    "document": BOTTOM | TOOLS | {"dialects", "document_text"},
    "document_text": BOTTOM,
    "reporters": BOTTOM | TOOLS | {"wording", "document", "reporters"},
    "publish": BOTTOM | TOOLS | {"reporters"},
    "chat": BOTTOM | TOOLS | {"chat_client"},
    "chat_client": {"turns", "web_settings"},
    "targets": EDGES | {"targets"},
    "judge": EDGES,
    "making": EDGES | {"endpoints", "targets"},
    "cluster": EDGES | {"cluster", "git", "making", "targets"},
    "bounded": BOTTOM | TOOLS | {"evaluators", "judge", "targets"},
    "panel": BOTTOM | TOOLS | {"evaluators", "judge"},
    "gold": DIALECTS,
    "importing": DIALECTS | {"importing"},
    "calibration": BOTTOM | TOOLS,
    "kept_answers": BOTTOM | {"evaluators"},
    "journal": BOTTOM | TOOLS | {"evaluators", "judge", "kept_answers", "targets"},
    "judge_cache": BOTTOM | TOOLS | {"evaluators", "judge"},
    "target_cache": BOTTOM | TOOLS | {"kept_answers", "targets"},
    "sandbox": EDGES | {"sandbox"},
    "github": BOTTOM | TOOLS | {"git", "github"},
    "commands": {"*"},
    "__main__": {"commands"},
    "__init__": {"decision"},
}
ROOT_NAMES = {"__version__"}


def modules() -> list[Path]:
    return sorted(SRC.rglob("*.py"))


def unit(path: Path) -> str:
    relative = path.relative_to(SRC)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "runevals":
            names = [f"runevals.{alias.name}" for alias in node.names if alias.name not in ROOT_NAMES]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("runevals.")}
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SRC)))
def test_imports_go_one_way(path):
    allowed = ALLOWED[unit(path)]
    assert allowed == {"*"} or imported(path) <= allowed


def test_the_middle_never_touches_the_world():
    """What decides does no I/O: no module of the middle imports one that could."""
    middle = (
        "casewise",
        "changes",
        "secondary",
        "power",
        "comparability",
        "compare",
        "regression",
        "verification",
        "metrics",
        "conclude",
        "gate",
        "merge",
        "significance",
        "score",
        "totals",
        "plan",
        "wording",
    )
    forbidden = {"subprocess", "socket", "requests", "urllib", "openai", "os", "tempfile", "time", "random"}
    for name in middle:
        tree = ast.parse((SRC / f"{name}.py").read_text(encoding="utf-8"))
        roots = {
            alias.name.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        } | {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not roots & forbidden, name


def test_git_is_run_by_one_module():
    """Anywhere else, it would look for a repository by itself, and find one that a change has laid out."""
    for path in modules():
        words = {node.value for node in ast.walk(parsed(path)) if isinstance(node, ast.Constant)}
        assert "git" not in words or path.name == "git.py", path


# Who writes to the disk by paths, and why no link of a change can be on them.
WRITERS = {
    "files.py": "it is what follows none",
    "worktree.py": "in a temporary folder of its own",
    "mcp_servers.py": "in a temporary folder of its own",
    "github/file_commands.py": "the runner's own files",
    "cluster/parcel.py": "in memory",
}
OF_PATHS = {"write_text", "write_bytes", "mkdir", "touch", "unlink", "rmdir", "symlink_to", "hardlink_to", "chmod"}
OF_OS = {
    "makedirs",
    "mkdir",
    "remove",
    "unlink",
    "rename",
    "replace",
    "rmdir",
    "chmod",
    "chown",
    "symlink",
    "link",
}
OF_SHUTIL = {"rmtree", "move", "copy", "copy2", "copyfile", "copytree"}


def writes(node: ast.AST) -> bool:
    """Whether a call changes the disk by a path; one that is relative to an open folder does not."""
    if not isinstance(node, ast.Call) or any(str(given.arg).endswith("dir_fd") for given in node.keywords):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id == "open" and opens_to_write(node)
    if not isinstance(node.func, ast.Attribute):
        return False
    of = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
    name = node.func.attr
    by_path = OF_PATHS | ({"extractall"} if of == "tar" else set())
    by_module = {"os": OF_OS, "shutil": OF_SHUTIL}.get(of, by_path)
    return name in by_module or (name == "open" and of != "os" and opens_to_write(node))


def opens_to_write(node: ast.Call) -> bool:
    given = (*node.args, *(word.value for word in node.keywords))
    modes = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return any(len(mode) < 4 and set(mode) & set("wax+") for mode in modes)


def test_the_disk_is_written_by_one_module():
    """By a path it would be written behind a link that a change has committed."""
    writers = {str(path.relative_to(SRC)) for path in modules() if any(map(writes, ast.walk(parsed(path))))}
    assert writers == set(WRITERS)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))

"""Which modules may run programs and write to the disk. Read from the sources."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.sources import nodes

SRC = Path(__file__).parents[1] / "src" / "runevals"


def modules() -> list[Path]:
    return sorted(SRC.rglob("*.py"))


def test_git_is_run_by_one_module():
    """Anywhere else, it would look for a repository by itself, and find one that a change has laid out."""
    for path in modules():
        words = {node.value for node in nodes(path) if isinstance(node, ast.Constant)}
        assert "git" not in words or path.name == "git.py", path


def test_programs_are_started_by_one_module():
    """Anywhere else they would be root in the action's container, and outlive the run."""
    starters = {"Popen", "run", "call", "check_call", "check_output", "system", "popen", "fork", "posix_spawn"}

    def starts(node: ast.AST) -> bool:
        called = node.func if isinstance(node, ast.Call) else None
        of = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else ""
        return of in ("subprocess", "os") and called.attr in starters

    found = {str(path.relative_to(SRC)) for path in modules() if any(map(starts, nodes(path)))}
    assert found == {"programs/processes.py", "repository/git.py", "sandbox/zygote.py"}


# Who writes to the disk by paths, and why no link of a change can be on them.
WRITERS = {
    "lib/storage/files.py": "it is what follows none",
    "lib/storage/bucket.py": "in a temporary folder of its caller",
    "repository/fresh_copy.py": "a copy that it has just made, and each step of a path opened by itself",
    "programs/processes.py": "folders that it has just made",
    "repository/worktree.py": "in a temporary folder of its own",
    "run/cluster/repository_archive.py": "in memory",
    "run/workspaces/folders.py": "in a temporary folder of its own",
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
    writers = {str(path.relative_to(SRC)) for path in modules() if any(map(writes, nodes(path)))}
    assert writers == set(WRITERS)


# Who prints by itself, and why nothing of a suite, a model or a document is in it as it is.
PRINTERS = {
    "__main__.py": "its own version",
    "cli/action_report.py": "commands for the runner, which have escapes of their own",
    "cli/completion.py": "a script of click's",
    "cli/doctor/finding.py": "a mark of ours",
    "cli/evaluators.py": "our own documentation",
    "cli/help.py": "our own documentation",
    "cli/plan.py": "JSON in ASCII",
    "cli/progress.py": "commands for the runner; lines above a bar that were made by `shown`",
    "cli/schema.py": "our own schemas",
    "cli/terminal.py": "a command for the runner, and the verdict, which was made by `shown`",
    "cli/validate.py": "JSON, and commands for the runner",
    "lib/terminal.py": "it is what makes texts harmless",
}
PRINTS = {("click", "echo"), ("click", "secho"), ("console", "print"), ("traceback", "print_exc"), ("", "print")}


def prints(node: ast.AST) -> bool:
    """Whether a call prints, or writes to one of the standard streams."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return ("", node.func.id) in PRINTS
    if not isinstance(node.func, ast.Attribute):
        return False
    of = ast.unparse(node.func.value)
    return (of, node.func.attr) in PRINTS or (of in ("sys.stdout", "sys.stderr") and node.func.attr == "write")


def test_what_is_printed_is_made_harmless_by_one_function():
    """In it may be names and texts of a change; `runevals.lib.terminal.say` prints them."""
    own = [path for path in modules() if "sandbox" not in path.parts]
    printers = {str(path.relative_to(SRC)) for path in own if any(map(prints, nodes(path)))}
    assert printers == set(PRINTERS)

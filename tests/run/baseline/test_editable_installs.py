"""Packages that an editable install leads to: a base has its own."""

from __future__ import annotations

import pytest

from runevals.records.errors import ExternalError
from runevals.run.baseline.editable_installs import with_own_packages
from runevals.settings.resolve import RawSettings, resolve

FINDER = "MAPPING: dict[str, str] = {'mypkg': 'REPOSITORY/src/mypkg'}\n"


@pytest.fixture
def python_path(tmp_path, monkeypatch):
    """The PYTHONPATH that a base gets if its Python has such a file; BASE is its checkout."""
    repository, base, venv = tmp_path / "app", tmp_path / "base", tmp_path / "venv"
    packages = venv / "lib" / "python3.12" / "site-packages"
    for folder in (packages, venv / "bin", repository / "src", base / ".git"):
        folder.mkdir(parents=True)
    (venv / "bin" / "python").touch(mode=0o755)
    monkeypatch.chdir(base)

    def python_path(name, text, *, of_base="src", command="{venv}/bin/python -m mypkg", path="", before=""):
        (base / of_base).mkdir(exist_ok=True)
        (packages / name).write_text(text.replace("REPOSITORY", str(repository)))
        environment = {"PATH": path.format(venv=venv), "PYTHONPATH": before}
        target = f"command:{command.format(venv=venv)}"
        raw = RawSettings(cwd=base, environment=environment, flags={"target": target})
        variables = with_own_packages(resolve(raw), repository).environment
        return variables["PYTHONPATH"].replace(str(base), "BASE")

    return python_path


@pytest.mark.parametrize(
    ("name", "text", "options", "expected"),
    [
        ("e.pth", "REPOSITORY/src\n", {}, "BASE/src"),
        ("e.pth", "REPOSITORY/src\n", {"before": "/lib"}, "BASE/src:/lib"),
        ("e.pth", "REPOSITORY/src\n", {"command": "sh run.sh", "path": "/x:{venv}/bin"}, "BASE/src"),
        ("e.pth", "REPOSITORY/src\n", {"of_base": "mypkg"}, "BASE"),
        ("__editable___mypkg_0_1_finder.py", FINDER, {}, "BASE/src"),
        ("_editable_impl_m.py", 'F.map_module("m", "REPOSITORY/src/m/__init__.py")', {}, "BASE/src"),
        ("e.pth", "REPOSITORY-data/src\n/elsewhere\nimport x\n", {}, ""),
    ],
)
def test_the_base_imports_its_own_packages(python_path, name, text, options, expected):
    assert python_path(name, text, **options) == expected


def test_a_command_that_would_import_the_changes_packages_is_not_run(python_path):
    with pytest.raises(ExternalError, match="editable install"):
        python_path("e.pth", "REPOSITORY/src\n", command="{venv}/bin/python -I -m mypkg")

import json

import pytest

from runevals.commands import call


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project to run commands in; `write` puts files there."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)

    class Project:
        path = tmp_path

        @staticmethod
        def write(name, content):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str) else json.dumps(content, indent=1)
            path.write_text(text, encoding="utf-8")
            return path

        @staticmethod
        def document(name="out.json"):
            return json.loads((tmp_path / name).read_text(encoding="utf-8"))

        @staticmethod
        def files():
            return sorted(
                str(path.relative_to(tmp_path))
                for path in tmp_path.rglob("*")
                if path.is_file() and ".git" not in path.parts
            )

    return Project


@pytest.fixture
def runevals(capfd):
    """Runs the command line → (exit code, stdout, stderr)."""

    def run(*arguments):
        capfd.readouterr()
        code = call([str(argument) for argument in arguments])
        told = capfd.readouterr()
        return code, told.out, told.err

    return run

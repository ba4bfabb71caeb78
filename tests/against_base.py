"""What tests of `--base` share: commits on main and of a change, its pull request, and the weakenings found."""

from __future__ import annotations

import json

AGAINST = ("--base", "main", "-q", "-o", "out.json")


def weakened(repository):
    """The suite and key of each weakening in the results of `AGAINST`."""
    return {(w["suite"], w["key"]) for w in repository.document()["comparison"]["weakenings"]}


def on_main(repository, name, content):
    """Commits a file on main, and starts the branch `change` anew from there."""
    repository.git("checkout", "-q", "main")
    repository.write(name, content)
    repository.git("add", "-A")
    repository.git("commit", "-qm", name, "--allow-empty")
    repository.git("checkout", "-q", "-B", "change")


def commit(repository, files):
    """Commits these files as a change; results are ignored."""
    for name, content in {".gitignore": ".evals/\n", **files}.items():
        repository.write(name, content)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "change")


def pull_request_event(folder, monkeypatch, base):
    """Sets the environment of a job for a pull request on the commit `base`."""
    path = folder / "event.json"
    path.write_text(json.dumps({"pull_request": {"base": {"sha": base}}}), encoding="utf-8")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(path))

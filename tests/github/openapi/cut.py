"""Cuts GitHub's description of its REST API down to the operations that we use.

npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz
python tests/github/openapi/cut.py package/generated/api.github.com.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

OPERATIONS = {
    "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs": ("get",),
    "/repos/{owner}/{repo}/actions/runs/{run_id}": ("get",),
    "/repos/{owner}/{repo}/actions/runs/{run_id}/artifacts": ("get",),
    "/repos/{owner}/{repo}/actions/artifacts": ("get",),
    "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}": ("get",),
    "/repos/{owner}/{repo}/branches/{branch}": ("get",),
    "/repos/{owner}/{repo}/commits": ("get",),
    "/repos/{owner}/{repo}/compare/{basehead}": ("get",),
    "/repos/{owner}/{repo}/pulls": ("get",),
    "/repos/{owner}/{repo}/pulls/{pull_number}": ("get",),
    "/repos/{owner}/{repo}/pulls/{pull_number}/commits": ("get",),
    "/repos/{owner}/{repo}/pulls/{pull_number}/reviews": ("get",),
    "/repos/{owner}/{repo}/activity": ("get",),
    "/repos/{owner}/{repo}/collaborators/{username}/permission": ("get",),
    "/repos/{owner}/{repo}/issues": ("get", "post"),
    "/repos/{owner}/{repo}/issues/{issue_number}": ("patch",),
    "/repos/{owner}/{repo}/issues/{issue_number}/comments": ("get", "post"),
    "/repos/{owner}/{repo}/issues/comments/{comment_id}": ("patch", "delete"),
    "/user": ("get",),
}
REQUIRED = ("description",)  # where it is a word of the description's own, not a property
WORDS = ("example", "examples", "externalDocs", "x-github", "summary", "tags")


def cut(whole: dict) -> dict:
    paths = {
        path: {
            **{key: value for key, value in whole["paths"][path].items() if key == "parameters"},
            **{method: whole["paths"][path][method] for method in methods},
        }
        for path, methods in OPERATIONS.items()
    }
    parts: dict = {"openapi": whole["openapi"], "info": whole["info"], "servers": whole["servers"], "paths": paths}
    parts = without_words(parts)
    parts["components"] = with_references(parts, whole)
    return parts


def without_words(value: object, *, names: bool = False) -> object:
    """Only what validates; `names`: the keys are names of properties, not words of the description's own."""
    if isinstance(value, list):
        return [without_words(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: "" if key in REQUIRED and isinstance(item, str) else without_words(item, names=key == "properties")
        for key, item in value.items()
        if names or key not in WORDS
    }


def with_references(parts: dict, whole: dict) -> dict:
    components: dict = {}
    waiting = references(parts)
    while waiting:
        kind, name = waiting.pop()
        if name not in components.setdefault(kind, {}):
            components[kind][name] = without_words(whole["components"][kind][name])
            waiting |= references(components[kind][name])
    return {kind: dict(sorted(found.items())) for kind, found in sorted(components.items())}


def references(value: object) -> set[tuple[str, str]]:
    if isinstance(value, list):
        return {found for item in value for found in references(item)}
    if not isinstance(value, dict):
        return set()
    found = {found for item in value.values() for found in references(item)}
    if isinstance(value.get("$ref"), str):
        _, _, kind, name = value["$ref"].split("/")
        found.add((kind, name))
    return found


if __name__ == "__main__":
    described = cut(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    text = json.dumps(described, indent=1, ensure_ascii=False) + "\n"
    Path(__file__).with_name("api.github.com.json").write_text(text, encoding="utf-8")

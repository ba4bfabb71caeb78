"""The process environment over the project's dotenv files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from runevals.records.errors import InvalidSettings


def environment(cwd: Path, name: str | None, process: Mapping[str, str]) -> dict[str, str]:
    """`.env.local`, `.env.local.user`, `env/.env.<name>`, each over the one before, the process over all.

    In CI no such file is read: a pull request could bring it. Raises InvalidSettings for a bad or absent name.
    """
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise InvalidSettings(f"--env {name}: a name has only letters, digits, _ and -")
    if process.get("CI"):
        return dict(process)
    files = [cwd / ".env.local", cwd / ".env.local.user"]
    if name is not None:
        files.append(cwd / "env" / f".env.{name}")
        if not files[-1].is_file():
            raise InvalidSettings(f"--env {name}: there is no file env/.env.{name}")
    merged: dict[str, str] = {}
    present = [file for file in files if file.is_file()]
    if present:
        from dotenv import dotenv_values  # most projects have no such file

        for file in present:
            try:
                values = dotenv_values(file)
            except UnicodeDecodeError:
                raise InvalidSettings(f"{file.name} is not UTF-8 text") from None
            merged.update({key: value for key, value in values.items() if value is not None})
    return {**merged, **process}

"""The process environment over the project's dotenv files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from runevals.lib.checkout import repository_root
from runevals.lib.ci import in_ci
from runevals.lib.nullable import without, without_none
from runevals.lib.terminal import notice
from runevals.models.chat.providers import PROVIDERS
from runevals.records.errors import InvalidSettings
from runevals.repository.git import may_be_committed, why_unavailable

# By which a key would go to another host, or be read on its way, beside those that agents name.
_WAYS = frozenset({
    *(provider.located_by for provider in PROVIDERS.values() if provider.located_by),
    "AWS_DEFAULT_REGION", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "NODE_TLS_REJECT_UNAUTHORIZED",
})  # fmt: skip


def environment(cwd: Path, name: str | None, process: Mapping[str, str]) -> dict[str, str]:
    """`.env.local`, `.env.local.user`, `env/.env.<name>`, each over the one before, the process over all.

    In CI no such file is read: a pull request could bring it. For the same reason a file that git tracks sets none
    of our settings. Raises InvalidSettings for a bad or absent name.
    """
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise InvalidSettings(f"--env {name}: a name has only letters, digits, _ and -")
    if in_ci(process):
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
                values = without_none(**dotenv_values(file))
            except UnicodeDecodeError:
                raise InvalidSettings(f"{file.name} is not UTF-8 text") from None
            merged.update(_without_settings(values, file))
    return {**merged, **process}


def _without_settings(values: Mapping[str, str], file: Path) -> Mapping[str, str]:
    """The variables of a dotenv file; if git tracks it, without our settings, addresses and proxies."""
    from runevals.targets.agents import AGENTS

    ways = _WAYS.union(*(agent.places for agent in AGENTS.values()))
    settings = sorted(name for name in values if name.startswith("RUNEVALS_") or name.upper() in ways)
    repository = repository_root(file.parent)
    if not settings or why_unavailable(repository) is not None or not may_be_committed(repository, file):
        return values
    notice(f"{file.name}: {', '.join(settings)} not used: git tracks the file, so a change could bring it")
    return without(values, settings)

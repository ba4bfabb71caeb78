"""The environment that programs under test are started with."""

from __future__ import annotations

from collections.abc import Mapping

from runevals.lib.text.secrets import JOB_TOKENS

_OURS_OR_THE_RUNNERS = ("INPUT_", "ACTIONS_", "RUNEVALS_")
_HELD_BACK = JOB_TOKENS | {"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}


_PLAIN = frozenset({
    "PATH", "LANG", "LANGUAGE", "TZ", "TERM", "SHELL", "CI", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "REQUESTS_CA_BUNDLE",
    "VIRTUAL_ENV", "SYSTEMROOT",
})  # fmt: skip


def bare(environment: Mapping[str, str]) -> dict[str, str]:
    """What any program needs of `environment`: paths, language, proxies and certificates."""
    return {
        name: value
        for name, value in environment.items()
        if name.upper() in _PLAIN or name.upper().startswith("LC_")
    }


def cleaned(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` without the tokens and file commands of the job that runs us."""
    return {
        name: value
        for name, value in environment.items()
        if name not in _HELD_BACK and not name.startswith(_OURS_OR_THE_RUNNERS)
    }

"""The variables that an MCP server gets: what every program needs, and those that its configuration names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from runevals.suites.urls.fetch import NotFetched

# Variables for programs, files, certificates, proxies and the language.
NEEDED = frozenset({
    "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "PYTHONPATH", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "TZ",
    "USER", "APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT",
    "USERPROFILE", "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE",
})  # fmt: skip
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def server_environment(declared: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server. `${NAME}` and `${NAME:-default}` in its configuration are variables.

    Raises NotFetched for one that is not set and has no default.
    """

    def value(match: re.Match[str]) -> str:
        value_ = environment.get(match[1], match[2])
        if value_ is None:
            raise NotFetched(f"needs ${{{match[1]}}}, which is not set")
        return value_

    needed = {name: text for name, text in environment.items() if name.upper() in NEEDED or name.startswith("LC_")}
    return {**needed, **{name: _VARIABLE.sub(value, text) for name, text in declared.items()}}

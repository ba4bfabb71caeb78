"""Which values of an environment are secrets: all but those of harmless variables, if they look like one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

API_KEY_ENV = "RUNEVALS_API_KEY_ENV"  # more names of variables, separated by commas; only the workflow sets it
# Tokens that a CI system makes for a job, or that we use there; no program under test gets them.
JOB_TOKENS = frozenset(
    {"GITHUB_TOKEN", "GH_TOKEN"}
    | {"GITLAB_TOKEN", "CI_JOB_TOKEN", "CI_BUILD_TOKEN", "CI_JOB_JWT", "CI_JOB_JWT_V1", "CI_JOB_JWT_V2"}
    | {"CI_REPOSITORY_URL", "CI_REGISTRY_PASSWORD", "CI_DEPENDENCY_PROXY_PASSWORD", "CI_DEPLOY_PASSWORD"}
    | {"SYSTEM_ACCESSTOKEN", "BITBUCKET_STEP_OIDC_TOKEN", "CIRCLE_OIDC_TOKEN", "CIRCLE_OIDC_TOKEN_V2"}
    | {"BUILDKITE_AGENT_ACCESS_TOKEN", "BUILDKITE_AGENT_JOB_API_TOKEN"}
)
# How names of secrets end: their values need not look like one.
SECRET_NAMES = ("_KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "_PASS", "_PWD", "_PAT")
SHORTEST = 8  # characters of a secret by name: shorter values would eat ordinary words
SHORTEST_GUESS = 12  # of one by its looks
LONGEST_LINE = 4096  # characters of which the parts are looked at
_FEWEST = 3, 1, 8  # letters, digits, different characters

OF_CI = (  # variables of a job that CI systems set
    *("GITHUB_", "RUNNER_", "ACTIONS_", "CI_", "GITLAB_", "BUILD_", "SYSTEM_", "AGENT_", "BUILDKITE_", "CIRCLE_"),
    *("BITBUCKET_", "TEAMCITY_", "JENKINS_", "HUDSON_", "CODEBUILD_", "APPVEYOR_"),
)
_FAMILIES = (  # also of shells, desktops and tools
    *OF_CI,
    *("INPUT_", "RUNEVALS_"),
    *("LC_", "XDG_", "DBUS_", "GNOME_", "KDE_", "SSH_", "VSCODE_", "ITERM_", "KITTY_", "TERM_", "WT_", "WSL"),
    *("PYTHON", "PYENV_", "PYTEST_", "CONDA_", "NVM_", "NODE_", "JAVA_", "GOROOT_", "DOTNET_", "ANDROID_"),
    *("HOMEBREW_", "NIX_", "KUBERNETES_", "ORIGINAL_", "__CF", "MACH_", "GIT_AUTHOR_", "GIT_COMMITTER_"),
    *("NPM_PACKAGE_", "NPM_LIFECYCLE_"),
)
_PLAIN_NAME = re.compile(
    "(?:^|_)(?:SHA|COMMIT|REF|BRANCH|TAG|VERSION|MODELS?|REGION|ZONE|IMAGE|HOST|HOSTNAME|NAME|USER|EMAIL|DATE|TIME|TZ"
    "|LANG|LANGUAGE|PATHS?|DIRS?|HOME|ROOT|PREFIX|PROXY|ENDPOINT|DEPLOYMENT|FLAGS|OPTS|OPTIONS|ARGS|COLORS|SHELL"
    "|EDITOR|PAGER|BROWSER|TERM|DISPLAY|PWD|OLDPWD|LOGNAME|LESSOPEN|LESSCLOSE|PS1|BASE_URL|API_BASE)$"
)
_PART = re.compile(r"""[^\s"'`{}\[\](),;=&?]+""")
_LOGIN = re.compile(r"://([^\s/:@]*)(?::([^\s/@]*))?@")


def secrets_of(name: str, value: str, *, is_key: bool = False) -> Iterator[tuple[str, bool]]:
    """The secrets in a variable, line by line, and whether each is one for sure; else it only looks like one.

    `is_key`: whether the settings say that it is a secret. Of every variable, a password in an address is one.
    """
    sure = is_key or name in JOB_TOKENS or name.upper().endswith(SECRET_NAMES)
    upper = name.upper()
    harmless = not sure and (upper.startswith(_FAMILIES) or _PLAIN_NAME.search(upper) is not None)
    for line in map(str.strip, value.splitlines()):
        if sure and len(line) >= SHORTEST:
            yield line, True
        for user, password in _LOGIN.findall(line) if "://" in line else ():
            yield from ((word, True) for word in {password, unquote(password)} if len(word) >= SHORTEST)
            if looks_secret(user):
                yield user, True
        if not harmless and len(line) <= LONGEST_LINE and not _is_path(line):
            parts = {piece for part in _PART.findall(line) for piece in (part, *part.split(":"))}
            yield from ((part, False) for part in parts if looks_secret(part))


def looks_secret(text: str) -> bool:
    """Whether a text is long and mixed enough for one."""
    letters, digits, different = _FEWEST
    return (
        len(text) >= SHORTEST_GUESS
        and sum(map(str.isalpha, text)) >= letters
        and sum(map(str.isdigit, text)) >= digits
        and len(set(text)) >= different
    )


def _is_path(value: str) -> bool:
    """Whether it is a list of paths below folders that exist."""
    paths = [Path(one) for one in value.split(os.pathsep) if one]
    return all(path.is_absolute() and Path(*path.parts[:2]).exists() for path in paths)

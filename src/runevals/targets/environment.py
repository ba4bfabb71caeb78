"""The environment that programs under test are started with."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from runevals.lib.text.secret_variables import API_KEY_ENV, JOB_TOKENS, SECRET_NAMES
from runevals.lib.text.secrets import remembered
from runevals.programs.loopback import LOOPBACK

_OURS_OR_THE_RUNNERS = ("INPUT_", "ACTIONS_", "RUNEVALS_")
_TOKENS = JOB_TOKENS | {"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
_HELD_BACK = _TOKENS | {"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}
_NAME = re.compile(r"\b[A-Z][A-Z0-9_]+\b")  # of a variable, in a text
_JOBS_OWN = ("ghs_", "glcbt-")  # how the tokens begin that GitHub and GitLab make for a job


# What programs are told of the machine and of the commit, and what their languages read.
_OF_MACHINE = frozenset({
    "HOME", "USER", "LOGNAME", "PWD", "TMPDIR", "TMP", "TEMP", "DISPLAY", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "JAVA_HOME", "GOPATH", "GOROOT", "NODE_PATH", "NODE_ENV", "CONDA_PREFIX", "PLAYWRIGHT_BROWSERS_PATH",
    "GITHUB_ACTIONS", "GITHUB_ACTOR", "GITHUB_BASE_REF", "GITHUB_EVENT_NAME", "GITHUB_HEAD_REF", "GITHUB_JOB",
    "GITHUB_REF", "GITHUB_REF_NAME", "GITHUB_REPOSITORY", "GITHUB_RUN_ATTEMPT", "GITHUB_RUN_ID",
    "GITHUB_RUN_NUMBER", "GITHUB_SHA", "GITHUB_WORKFLOW", "GITHUB_WORKSPACE",
    "OPENAI_BASE_URL", "OLLAMA_HOST", "AZURE_AI_OPENAI_ENDPOINT", "AZURE_AI_API_VERSION", "AZURE_AI_MODEL_NAME",
    "AWS_REGION", "AWS_DEFAULT_REGION",
})  # fmt: skip
_HARMLESS_FAMILIES = ("LC_", "PYTHON", "XDG_", "RUNNER_", "OMP_", "LANGUAGE")
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


def without_proxy(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables by which what listens on loopback is reached directly."""
    direct = environment.get("NO_PROXY") or environment.get("no_proxy")
    return dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join(filter(None, (direct, LOOPBACK))))


def cleaned(environment: Mapping[str, str], names: Collection[str] | None = None) -> dict[str, str]:
    """`environment` without the tokens and file commands of the job that runs us, whatever their names.

    `names`: besides what any program needs, only these.
    """
    tokens = job_tokens(environment)
    return {
        name: value
        for name, value in environment.items()
        if (names is None or name in names or _is_harmless(name))
        and name not in _HELD_BACK
        and not name.startswith(_OURS_OR_THE_RUNNERS)
        and not is_token(value, tokens)
    }


def lack(error: str, environment: Mapping[str, str], has: Mapping[str, str]) -> str:
    """The error of a program, if it names a variable of `environment` or a key that it has not; else empty."""
    of_job = cleaned(environment)
    for name in (name for name in _NAME.findall(error) if not has.get(name)):
        if of_job.get(name):
            put = f"put it into target.env, on the default branch first, or {API_KEY_ENV}={name} into the workflow"
            return f"{error}; {name} is withheld from it: {put}"
        if environment.get(name) in job_tokens(environment):
            return f"{error}; {name} is withheld from it: no program under test gets a token of the job"
        if name.endswith(SECRET_NAMES):
            return f"{error}; {name} is not set here: set it if the program reads it"
    return ""


def job_tokens(environment: Mapping[str, str]) -> frozenset[str]:
    """The values of the tokens that a CI system made for this job."""
    known = {**remembered(), **environment}
    return frozenset(
        value
        for name, value in known.items()
        if name in _TOKENS or (name.startswith(_OURS_OR_THE_RUNNERS) and name.endswith("_TOKEN"))
    ) - {""}


def is_token(value: str, tokens: Collection[str]) -> bool:
    """Whether a variable's value is one of these, or has the form of a job's token."""
    return value.strip() in tokens or value.startswith(_JOBS_OWN)


def _is_harmless(name: str) -> bool:
    return name in _OF_MACHINE or name.upper() in _PLAIN or name.startswith(_HARMLESS_FAMILIES)

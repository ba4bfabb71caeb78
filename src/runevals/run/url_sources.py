"""The texts at the addresses in suites: from MCP servers, or over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.storage.files import path_from
from runevals.lib.text.escape import one_line
from runevals.records import Suite
from runevals.records.errors import InvalidSettings
from runevals.records.script import Call, ScriptRunner
from runevals.repository import git
from runevals.repository.worktree import worktree
from runevals.run.baseline.relocate import rerooted
from runevals.run.trust import require_trusted
from runevals.sandbox import Sandbox
from runevals.settings.file import BaseSide
from runevals.settings.resolve import RawSettings, Settings
from runevals.suites.load import display_path
from runevals.suites.selection import will_run
from runevals.suites.urls.fetch import NotFetched, addresses, fetcher, inline_addresses
from runevals.suites.urls.mcp_client import Groups, McpServers, ServerContext
from runevals.suites.urls.mcp_config import FILENAME, McpServer, claiming, read_servers
from runevals.targets.environment import cleaned


class _Config(Struct, frozen=True, kw_only=True):
    """A file that names MCP servers, and the folder they run in: absolute, or relative to the repository."""

    content: bytes
    servers: tuple[McpServer, ...]
    folder: Path


class _Sources(Struct, frozen=True, kw_only=True):
    """The servers that fetch addresses, and those of a change, which are not used yet; `side` is their owner."""

    servers: tuple[McpServer, ...]
    folder: Path
    side: BaseSide | None
    unmerged: tuple[McpServer, ...] = ()
    notices: tuple[str, ...] = ()


def with_texts(suites: Sequence[Suite], settings: Settings) -> tuple[tuple[Suite, ...], tuple[str, ...]]:
    """The suites with the addresses of all cases that will run replaced, and notices.

    Raises InvalidSuite for a broken file that names servers, InvalidSettings for one that is not there and for
    settings that are not trusted, ExternalError.
    """
    if not addresses(suites):
        return tuple(suites), ()
    require_trusted(settings)
    running = [
        replace(suite, cases=tuple(case for case in suite.cases if will_run(case, settings.selection)))
        for suite in suites
    ]
    fetched, notices = _with_texts(running, settings)
    texts = {(case.suite, case.key): case for suite in fetched for case in suite.cases}
    return tuple(
        replace(suite, cases=tuple(texts.get((case.suite, case.key), case) for case in suite.cases))
        for suite in suites
    ), notices


def _with_texts(suites: Sequence[Suite], settings: Settings) -> tuple[tuple[Suite, ...], tuple[str, ...]]:
    over_http = fetcher(settings.load.fetching.allow_hosts)
    urls = addresses(suites) if settings.load.fetching.enabled else set()
    if not urls:
        return inline_addresses(suites, settings.load.fetching, over_http), ()
    sources = _sources(settings)

    def fetched(url: str) -> str:
        if (server := claiming(sources.servers, url)) is not None:
            return mcp.fetch(server, url)
        if (server := claiming(sources.unmerged, url)) is not None:
            raise NotFetched(
                f"the MCP server {one_line(server.name)} of this change runs only once that is merged"
            )
        return over_http(url)

    if not any(claiming(sources.servers, url) for url in urls):
        sources = replace(sources, side=None)  # nothing will run, and no checkout is needed
    with (
        _place(settings, sources) as place,
        Sandbox(workers=1) as sandbox,
        McpServers(place, _groups(sandbox)) as mcp,
    ):
        return inline_addresses(suites, settings.load.fetching, fetched), sources.notices


def _sources(settings: Settings) -> _Sources:
    """A change does not say which programs run: in CI, the servers are the base's, run in a checkout of it."""
    side = settings.base_side
    if side is not None and not (side.on_pull_request or settings.in_ci):
        side = None  # there is no change by another author
    here = _config_here(settings)
    in_force = here if side is None else _config_of_base(settings, side)
    if settings.load.mcp_config is not None and here is in_force is None and settings.not_from is None:
        raise InvalidSettings(f"--mcp-config: there is no file {settings.load.mcp_config} in {settings.cwd}")
    changed = (here and here.content) != (in_force and in_force.content)
    config = in_force or _Config(content=b"", servers=(), folder=settings.cwd)
    name = settings.load.mcp_config or FILENAME
    notice = f"{name} is not as on the base, whose MCP servers are used until that is merged"
    return _Sources(
        servers=config.servers,
        folder=config.folder,
        side=side,
        unmerged=here.servers if here is not None and changed else (),
        notices=(notice,) if changed else (),
    )


def _candidates(settings: Settings) -> list[Path]:
    if settings.load.mcp_config is not None:
        return [settings.cwd / settings.load.mcp_config]
    return [settings.cwd / FILENAME, settings.repository / FILENAME]


def _config_here(settings: Settings) -> _Config | None:
    path = next((path for path in _candidates(settings) if path.is_file()), None)
    if path is None:
        return None
    content = path.read_bytes()
    servers = read_servers(content, path.suffix, display_path(path, settings.repository))
    return _Config(content=content, servers=servers, folder=path.parent)


def _config_of_base(settings: Settings, side: BaseSide) -> _Config | None:
    for path in _candidates(settings):
        relative = _in_repository(path, settings.repository)
        if relative is None:  # the workflow's own, which no change can touch
            return _config_here(settings)
        content = git.file_at(settings.repository, side.commit, relative)
        if content is not None:
            servers = read_servers(content, path.suffix, f"{relative} of the base")
            return _Config(content=content, servers=servers, folder=Path(relative).parent)
    return None


def _in_repository(path: Path, repository: Path) -> str | None:
    """`path` as git writes it; None if it is outside, with or without following links."""
    both = ((path, repository), (path.resolve(), repository.resolve()))
    names = (path_from(here, root) for here, root in both)
    return next((name for name in names if not name.startswith("../")), None)


@contextmanager
def _place(settings: Settings, sources: _Sources) -> Iterator[ServerContext]:
    """Where servers run: here, or in a checkout of the side whose servers they are."""
    if sources.side is None:
        yield ServerContext(cwd=sources.folder, env=cleaned(settings.environment))
        return
    with worktree(settings.repository, sources.side.commit) as checkout:
        moved = rerooted(RawSettings(cwd=settings.cwd, environment=settings.environment), checkout)
        yield ServerContext(cwd=checkout / sources.folder, env=cleaned(moved.environment))


def _groups(sandbox: ScriptRunner) -> Groups:
    def groups(expression: str, text: str) -> Sequence[str | None] | None:
        answer = sandbox.run(Call(kind="regex_groups", code=expression, arguments={"text": text}))
        if answer.error is not None:
            raise NotFetched(f"has an urlTransform.regex that cannot be used: {answer.reason}")
        return answer.value if isinstance(answer.value, list) else None

    return groups

"""Settings → the real world: target, judge, sandbox; and the base's report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from runevals.judge.cached import CachedJudge
from runevals.judge.model import Judge, ModelJudge, RecordedJudge
from runevals.judge.panel import Panel
from runevals.judge.user import ModelUser, User
from runevals.lib.parsing.source import read_text
from runevals.lib.storage.cache import Cache
from runevals.lib.text.numbers import first_of, phrase, plural, short_list
from runevals.models.facts import with_models
from runevals.models.http.throttle import Throttles
from runevals.programs.processes import in_use
from runevals.records import RunReport, Suite
from runevals.records.errors import InvalidSettings, NoSuiteFound
from runevals.records.rules import Limits
from runevals.reports import results_document
from runevals.run.cluster.setup import cluster_target, on_cluster
from runevals.run.live import judges_of, live_target
from runevals.run.load import way_elsewhere
from runevals.run.redaction.redactors import text_redactor
from runevals.run.resume.journal import Journal, JournalledJudge, JournalledTarget
from runevals.run.trust import require_trusted
from runevals.run.workspaces.folders import Workspaces
from runevals.run.workspaces.target import WorkspaceTarget
from runevals.run.world import World
from runevals.run.world.budget import Budget, Stop
from runevals.run.world.build_cache import cache_of
from runevals.run.world.limited import BoundedJudge, BoundedTarget, BoundedUser
from runevals.run.world.user_target import UserTarget
from runevals.sandbox import Sandbox
from runevals.settings.judge import JudgeSettings
from runevals.settings.resolve import Settings
from runevals.settings.targets import choose_one
from runevals.suites.plan import RunPlan, checks_of, judged_checks
from runevals.suites.selection import will_run
from runevals.targets import Target
from runevals.targets.cached import CachedTarget
from runevals.targets.chat_settings import chat_of
from runevals.targets.conversation_ids import ConversationIds
from runevals.targets.kind import Making
from runevals.targets.openai import OpenAITarget
from runevals.targets.recorded import Answers, RecordedTarget
from runevals.verdict.matching import turns_of

NO_TARGET = """nothing says what to run the suite against
The shortest ways:
  runevals --target openai:{openai}         a chat model (OPENAI_API_KEY, or OPENAI_BASE_URL of a server)
  runevals --target ollama:MODEL                 a model on this machine, without a key (or anthropic:, gemini:, …)
  runevals --target "command:python my_agent.py" a program: prompt as JSON on stdin, answer on stdout
  runevals --target python:my_agent.py:answer    a function: answer(prompt, messages, case)
Or write `target:` into runevals.yaml."""


def no_target(settings: Settings) -> InvalidSettings:
    """The error of what needs one target, for settings that name none, or several."""
    if settings.targets:
        return InvalidSettings(choose_one(settings.targets))
    return InvalidSettings(with_models(NO_TARGET) + way_elsewhere(settings))


@contextmanager
def real_world(
    settings: Settings,
    suites: Sequence[Suite],
    target: Target | None = None,
    budget: Budget | None = None,
    journal: Journal | None = None,
    *,
    reported: bool = False,
) -> Iterator[World]:
    """Builds what a run may touch, and ends it afterwards; `target` in place of the one that settings name.

    What is sent counts in the `budget`, and nothing is once its stop was asked for; what the `journal` has is not
    sent again. With `reported`, a target or judge that refuses in mid-run ends it with a report.

    Raises InvalidSettings, InvalidSuite, ExternalError where the target is asked from a cluster that is not there.
    """
    require_trusted(settings)
    budget = budget or Budget(Limits(), Stop())
    stop = budget.stop
    throttles = Throttles(stopped=lambda: stop.problem is not None)
    cache = cache_of(settings)
    live = live_target(settings) if target is None else None
    user = None if live is None else _user(settings, suites, throttles)
    on_nodes = target is None and on_cluster(settings)
    opened = cluster_target(settings, stop) if on_nodes else nullcontext(target)
    with in_use(), Sandbox(reduced=may_be_reduced(settings)) as sandbox, opened as elsewhere:
        redact = text_redactor(settings, sandbox)
        target = elsewhere or _cached_target(
            _target(settings, suites, throttles, sandbox), settings, cache, redact
        )
        try:
            judge = _judge(settings, throttles, cache, redact)
            if judge is not None:
                judge = BoundedJudge(judge, budget, at_once=settings.measure.judge_concurrency, reported=reported)
                judge = judge if journal is None else JournalledJudge(judge, journal, budget)
            itself = elsewhere is None and settings.target is not None and settings.target.traits.bounds_itself
            at_once = None if itself else settings.measure.concurrency
            template = None if live is None else live.prompt
            bounded: Target = BoundedTarget(target, budget, template=template, at_once=at_once, reported=reported)
            if user is not None:
                of_user = BoundedUser(user, budget, at_once=settings.measure.judge_concurrency, reported=reported)
                target = bounded = UserTarget(bounded, of_user)
            workspaces = _workspaces(settings, suites)
            if workspaces is not None:
                target = bounded = WorkspaceTarget(bounded, workspaces)
            yield World(
                target=bounded if journal is None else JournalledTarget(bounded, journal, budget),
                judge=judge,
                sandbox=sandbox,
                stop=stop,
                throttles=throttles,
                workspaces=workspaces,
            )
        finally:
            target.close()
            if cache is not None:
                cache.close()


def _user(settings: Settings, suites: Sequence[Suite], throttles: Throttles) -> User | None:
    """The model that plays simulated users: the first judge. Raises InvalidSettings if it is missing."""
    cases = [case for suite in suites for case in suite.cases if any(turn.user for turn in case.turns)]
    cases = [case for case in cases if will_run(case, settings.selection)]
    if not cases:
        return None
    judge = next(iter(judges_of(settings)), None)
    if judge is None or judge.is_recorded:
        how = "a recorded judge cannot" if judge is not None else "there is none"
        how += phrase(settings.no_judge, " with --no-judge")
        raise InvalidSettings(
            f"{cases[0].location}: {plural(len(cases), 'case')} with a simulated user ({cases[0].key}), which the "
            f"judge's model plays: {how}\nName a model with --judge-model MODEL or `judge:` in runevals.yaml, or "
            "leave these cases out with --filter"
        )
    chat = chat_of(judge, settings.environment, throttles, what="judge")
    return ModelUser(ModelJudge(chat, judge.parameters, name=judge.type, prices=settings.measure.prices))


def _workspaces(settings: Settings, suites: Sequence[Suite]) -> Workspaces | None:
    """The folders of cases that have one. Raises InvalidSettings for what is not there."""
    cases = [case for suite in suites for case in suite.cases if case.workspace is not None]
    if not cases or live_target(settings) is None:
        return None
    if on_cluster(settings):
        raise InvalidSettings("cases with a workspace are run here; leave out --executor ray")
    workspaces = Workspaces(settings.environment, at_once=settings.measure.concurrency)
    workspaces.require([case for case in cases if will_run(case, settings.selection)])
    return workspaces


def _cached_target(
    target: Target, settings: Settings, cache: Cache | None, redact: Callable[[str], str]
) -> Target:
    """The target, cached if that was requested and cannot return outdated answers."""
    if not settings.measure.cache_target:
        return target
    if cache is None:
        raise InvalidSettings("--cache-target: nothing is cached here; name a folder with --cache")
    if settings.base_side is not None and settings.base_side.on_pull_request:
        raise InvalidSettings("--cache-target: ignored on a pull request, where cached answers cannot be trusted")
    if not isinstance(target, OpenAITarget):
        raise InvalidSettings(
            f"--cache-target keeps answers of openai targets only: what an answer of a {target.identity().type} "
            "target depends on is not known, so that a kept one might be out of date"
        )
    if target.server_tools is not None:
        raise InvalidSettings("--cache-target: answers of the MCP servers under test are not cached; leave it out")
    return CachedTarget(target, cache, redact=redact)


def may_be_reduced(settings: Settings) -> bool:
    """Whether code of a suite may run with less isolation: on request, or on a laptop without Linux."""
    return settings.measure.sandbox == "reduced" or (sys.platform != "linux" and not settings.in_ci)


def require_judge(
    plan: RunPlan, settings: Settings, *, or_without: bool = True, base: RunReport | None = None, of: str = ""
) -> None:
    """Raises InvalidSettings if checks need a judge and none is configured, naming the cases.

    `or_without`: the run can be made without these checks. `base`: names the checks that the change removes.
    `of`: "the base's ", of which NoSuiteFound is raised if all checks need one: nothing can be compared.
    """
    if settings.judges:
        return
    needing = {case.key: check.id for case, check in plan.judged}
    alone = needing and judged_checks(plan) == sum(1 for _ in plan.checks)
    if alone and of:
        raise NoSuiteFound("all its checks ask for a judge, and there is none")
    if needing and not settings.no_judge:
        removed = [] if base is None else [*_removed_checks(plan, base)]
        names = first_of([f"{key} ({name})" for key, name in needing.items()], 5)
        without = phrase(or_without, ", or run without those checks: --no-judge")
        if or_without and alone:
            without = ", or write checks that need none (runevals evaluators lists them): there are no others here"
        raise InvalidSettings(
            f"{len(needing)} of {of}{len(plan.cases)} cases ask for a judge, but none is configured: {names}\n"
            "Name one with --judge-model MODEL (with OPENAI_API_KEY set) or `judge:` in runevals.yaml"
            f"{without}" + phrase(short_list(removed, 5), "\nThe change removes checks that the base has: {}")
        )


def _removed_checks(plan: RunPlan, base: RunReport) -> Iterator[str]:
    """Each case that asks a judge, with the checks that only the base's report has of it: "KB-1 (contains)"."""
    before = {case.key: {one.id for turn in turns_of(case) for one in turn.results} for case in base.cases}
    for case in {case.key: case for case, _ in plan.judged}.values():
        here = {check.id for turn in case.turns for check in checks_of(turn)}
        if gone := sorted(before.get(case.key, here) - here):
            yield f"{case.key} ({', '.join(gone)})"


def _target(settings: Settings, suites: Sequence[Suite], throttles: Throttles, sandbox: Sandbox) -> Target:
    if settings.evaluate_only:
        return RecordedTarget(_own_responses(suites), "the suite", reuse=True)
    target = settings.target
    if target is None:
        raise no_target(settings)
    making = Making(
        environment=settings.environment,
        throttles=throttles,
        conversations=ConversationIds(),
        prices=settings.measure.prices,
        not_from=settings.not_from,
        at_once=settings.measure.concurrency,
        sandbox=sandbox,
        report_of=report_in,
    )
    return target.build(making)


def report_in(path: Path) -> RunReport | None:
    """The report of a results document, by its name; None for another file. Raises InvalidDocument."""
    return results_document.read(path) if path.name.endswith(results_document.SUFFIXES) else None


def _judge(
    settings: Settings, throttles: Throttles, cache: Cache | None, redact: Callable[[str], str]
) -> Judge | None:
    """The judge that the settings name, or all of them as one; None without any."""
    voters = [
        voter for judge in judges_of(settings) for voter in _voters(judge, settings, throttles, cache, redact)
    ]
    return Panel(voters) if len(voters) > 1 else next(iter(voters), None)


def _voters(
    judge_settings: JudgeSettings,
    settings: Settings,
    throttles: Throttles,
    cache: Cache | None,
    redact: Callable[[str], str],
) -> Iterator[Judge]:
    if judge_settings.is_recorded:
        assert judge_settings.path is not None  # noqa: S101 - settled with a path
        path, text = judge_settings.path, judge_settings.recorded
        yield RecordedJudge(read_text(path, path.name) if text is None else text, path.name)
        return
    chat = chat_of(judge_settings, settings.environment, throttles, what="judge")
    # In CI without the key that signs it, a change could plant answers in a cache.
    forgeable = settings.in_ci and not settings.environment.get(judge_settings.api_key_env)
    own_cache = None if forgeable else cache
    for vote in range(1, judge_settings.votes + 1):
        judge = ModelJudge(
            chat, judge_settings.parameters, name=judge_settings.type, prices=settings.measure.prices, seed=vote
        )
        yield judge if own_cache is None else CachedJudge(judge, own_cache, vote=vote, redact=redact)


def _own_responses(suites: Sequence[Suite]) -> Answers:
    return {
        (suite.name, case.key, 1, number): (turn.recorded,)
        for suite in suites
        for case in suite.cases
        for number, turn in enumerate(case.turns, start=1)
        if turn.recorded is not None
    }

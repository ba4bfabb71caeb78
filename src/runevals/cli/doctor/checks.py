"""The checks of `runevals doctor`, in the order in which a run needs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec.structs import replace

from runevals.cli.doctor.connectivity import answers_of, shutdowns_of
from runevals.cli.doctor.environment import base_of, folders_of, github_of, sandbox_of, versions_of
from runevals.cli.doctor.finding import stopped
from runevals.github.workflow import gate_command, not_gated
from runevals.lib.text.numbers import first_of, phrase, plural
from runevals.models.chat.providers import PROVIDERS
from runevals.models.facts import model
from runevals.records.diagnosis import Diagnosis, good, missing, neither
from runevals.records.errors import (
    COULD_NOT_MEASURE,
    PASSED,
    USAGE_ERROR,
    InvalidSettings,
    NoSuiteFound,
    RunevalsError,
)
from runevals.run.default_target import with_target
from runevals.run.load import plan_of, suites_of, way_elsewhere
from runevals.run.provenance import deprecations, endings, endpoints
from runevals.run.quarantine import quarantine_of
from runevals.run.world.build import require_judge
from runevals.settings.resolve import RawSettings, Settings, each_target, resolve
from runevals.settings.targets import choose_one
from runevals.suites.load import LoadedSuites
from runevals.suites.plan import RunPlan, asks_judge_or_user
from runevals.targets.agents.agent import AgentSettings
from runevals.targets.agents.settings import AgentTargetSettings
from runevals.targets.chat_settings import diagnosis_of

NO_TARGET = "no target is set"
_TOKENS = 300, 50  # of one short question and its answer, at most
_OWN_REASON = "the reason is its own: run a program by itself, see a provider's page on its key, model and quota"


def exit_code(findings: Sequence[Diagnosis]) -> int:
    """The exit code that a run would have; usage errors have to be fixed first."""
    codes = {finding.exit_code for finding in findings}
    return next((code for code in (USAGE_ERROR, COULD_NOT_MEASURE) if code in codes), PASSED)


def diagnosis(raw: RawSettings, *, call: bool) -> Iterator[Diagnosis]:
    """Everything that a run needs."""
    yield versions_of()
    try:
        settings = resolve(raw)
    except RunevalsError as error:
        yield stopped("settings", error, "fix that, then run doctor again; docs/settings.md explains each setting")
        return
    yield good("settings", getattr(settings.file, "display_name", "no file: flags, environment, defaults"))
    loaded, plan, finding = _suites(settings)
    if gate := gate_command(settings):
        finding = neither("suites", f"not needed: results of another tool are gated, by {gate}")
    yield finding
    if finding.exit_code and way_elsewhere(settings):
        return  # each project has its own target
    try:
        settings = with_target(settings, loaded.suites)
    except RunevalsError as error:
        yield stopped("skills", error, "add its SKILL.md, or name its folder in `target.skills`")
    models = [*_targets(settings, raw), *_judges(settings, plan)]
    if gate:
        models = [neither("target", finding.text)]
    yield from models
    yield from _deprecations(settings, raw)
    if settings.targets:
        yield neither("answers", choose_one(settings.targets))
    elif not gate:
        yield from _answers(settings, call=call, usable=exit_code(models) == PASSED)
    yield base_of(settings, raw, gate)
    yield from (neither("projects", sentence) for sentence in not_gated(settings.repository))
    yield sandbox_of(settings, plan)
    yield github_of(settings)
    yield from folders_of(settings)


def prepared(settings: Settings) -> Iterator[Diagnosis]:
    """The checks that do not depend on suites."""
    yield versions_of()
    yield sandbox_of(settings, None)
    yield from folders_of(settings)


def what_lacks(settings: Settings, raw: RawSettings) -> list[Diagnosis]:
    """What targets and judges need for a run of the suites, and do not have."""
    loaded, plan, _ = _suites(settings)
    with suppress(RunevalsError):  # `doctor` says it
        settings = with_target(settings, loaded.suites)
    return [one for one in (*_targets(settings, raw), *_judges(settings, plan)) if one.exit_code]


def _suites(settings: Settings) -> tuple[LoadedSuites, RunPlan | None, Diagnosis]:
    try:
        loaded = suites_of(settings)
        plan = plan_of(replace(loaded, quarantined=quarantine_of(settings, loaded.cases).cases), settings)
    except NoSuiteFound as error:
        fix = "runevals init writes a first one; results of another tool need none: runevals gate FILE"
        finding = stopped("suites", error, way_elsewhere(settings).strip() or fix)
    except RunevalsError as error:
        finding = stopped("suites", error, "runevals validate shows every problem")
    else:
        paths = first_of([suite.path for suite in loaded.suites], 3)
        return loaded, plan, good("suites", f"{plural(len(plan.cases), 'case')} in {paths}")
    return LoadedSuites(suites=()), None, finding


def _targets(settings: Settings, raw: RawSettings) -> Iterator[Diagnosis]:
    """The target, or each of several."""
    if not settings.targets:
        yield _target(settings)
    for name, of_target in each_target(settings, raw).items():
        try:
            finding = _target(resolve(of_target))
        except RunevalsError as error:
            finding = stopped("target", error, "fix its entry in `targets:`, or leave it out")
        yield replace(finding, text=f"{name}: {finding.text}")


def _target(settings: Settings) -> Diagnosis:
    target = settings.target
    if target is None:
        agent = AgentTargetSettings(type="claude-code", base=settings.cwd, agent=AgentSettings())
        first = phrase(agent.diagnosis(settings.environment).fix, "{}, then ")
        ways = f"runevals --target openai:{model('openai')}, or, to send a prompt file, `target:` in runevals.yaml"
        fix = f"{ways}; a skill needs a coding agent: {first}--target {agent.type}"
        return missing("target", NO_TARGET, fix, USAGE_ERROR)
    return target.diagnosis(settings.environment)


def _deprecations(settings: Settings, raw: RawSettings) -> Iterator[Diagnosis]:
    """The models of targets and judges that their providers will shut down."""
    each = [settings]
    for of_target in each_target(settings, raw).values():
        with suppress(RunevalsError):  # was said before
            each.append(resolve(of_target))
    for sentence in dict.fromkeys(
        sentence for of_one in each for sentence in (*endings(of_one), *deprecations(of_one))
    ):
        yield neither("model", sentence)


def _judges(settings: Settings, plan: RunPlan | None) -> list[Diagnosis]:
    if settings.no_judge:
        return [neither("judge", "left out by --no-judge")]
    if not settings.judges:
        try:
            if plan is not None:
                require_judge(plan, settings)
        except InvalidSettings as error:
            needing, _, way = str(error).partition("\n")
            return [missing("judge", needing.partition(":")[0], way[:1].lower() + way[1:], error.exit_code)]
        return [neither("judge", "none, and no check needs one")]
    if plan is not None and not asks_judge_or_user(plan):
        return [neither("judge", "none of the checks asks it")]
    return [
        good("judge", f"recorded {one.path}")
        if one.is_recorded
        else diagnosis_of("judge", one, settings.environment)
        for one in settings.judges
    ]


def _answers(settings: Settings, *, call: bool, usable: bool) -> Iterator[Diagnosis]:
    """One question to target and judge each, and to the lists of models; or what that would cost."""
    models = [endpoint for endpoint in endpoints(settings) if endpoint.is_model]
    if call and usable:
        uncached = replace(settings, measure=replace(settings.measure, cache=None))  # it would prove nothing
        for name, answer in answers_of(uncached):
            if isinstance(answer, str):
                yield good(name, answer)
            else:
                yield stopped(name, answer, _OWN_REASON)
        for sentence in shutdowns_of(models, settings):
            yield neither("model", sentence)
        return
    if call:
        yield neither("answers", "not asked: target or judge is missing")
    elif models:
        price_of = settings.measure.prices.cost_usd
        costs = [
            price_of(endpoint.model, *_TOKENS, provider=PROVIDERS[endpoint.type].prices) for endpoint in models
        ]
        known = f"less than ${sum(filter(None, costs)) + 0.0001:.4f}"
        price = "a price we do not know" if None in costs else known
        yield neither("answers", f"not asked; --call asks {plural(len(models), 'short question')}, for {price}")

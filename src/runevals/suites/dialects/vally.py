"""Vally and GitHub's Copilot Evals: the stimuli of an eval, each with its graders.

The schema has what is read, and under `checks` what each grader is here. Any other one is named as lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import filterfalse
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.evaluators import catalogue
from runevals.lib.nullable import without_none
from runevals.lib.parsing.json_template import fill
from runevals.lib.parsing.schema import schema
from runevals.lib.parsing.shapes import entries_of, object_in
from runevals.lib.parsing.source import JsonPath, Source, pointer
from runevals.models.http.token_bucket import duration_s
from runevals.records import Case, EvaluatorSpec, FileProblem, Problem, Suite, Turn, Workspace, cut_name, one_line
from runevals.records.errors import UsageError
from runevals.suites.dialects import checking
from runevals.suites.dialects.agent_skills_checks import FLAGS
from runevals.suites.dialects.assertions import numbered
from runevals.suites.dialects.case_files import digests, find_files, place_of
from runevals.suites.dialects.conservation import describes
from runevals.suites.dialects.options import LoadOptions
from runevals.suites.dialects.skill_folder import FILE, skill_of
from runevals.suites.fingerprint import case_fingerprints

NAME = "vally"
_PACKAGE = "runevals.suites.dialects"
LEAST_KEPT = 0.5  # of the checks of a file
_LIST = "stimuli"
_CHECKS = ("graders", "constraints")
_READ = frozenset({"name", "prompt", "turns", "environment", "rubric", "tags", "category", *_CHECKS})
_OF_SKILLS = {"expect_skills": "required", "reject_skills": "disallowed"}  # constraints, as keys of the grader
_TOOL_CALLS = Path(__file__).with_name("vally_tool_calls.js").read_text(encoding="utf-8")
# Types that look at all turns of a conversation, and those whose score falls beyond a maximum.
_BUDGETS = frozenset({"tool-call-count", "turn-count", "wall-time", "max_turns", "max_duration"})
_OF_ALL_TURNS = _BUDGETS | {
    *("tool-calls", "skill-invocation", "expect_tools", "reject_tools", "expect_skills", "reject_skills")
}


def recognises(value: object) -> bool:
    """An object with stimuli."""
    return isinstance(object_in(value).get(_LIST), list)


def load(source: Source, options: LoadOptions) -> Suite:
    """Stimuli → suite, with every problem and everything that is lost."""
    document: Any = source.value
    complaints = [*zip(*checking.schema_problems(source, NAME), strict=True)]
    lost = {at[:4]: problem.message for problem, at in reversed(complaints) if len(at) > 3 and at[2] in _CHECKS}
    lost = {at: message.replace("unknown key", "no equal here for") for at, message in lost.items()}
    wrong = {at: problem for problem, at in complaints if at[:4] not in lost}
    reader = _Reader(source=source, options=options, document=document, lost=lost, problems=[*wrong.values()])
    valid = checking.valid_entries(wrong, (_LIST,), document[_LIST])
    cases = [reader.case(index) for index in valid]
    reader.problems += checking.duplicate_keys(cases, lambda number: pointer((_LIST, valid[number])))
    if len(lost) > (1 - LEAST_KEPT) * (reader.checks + len(lost)):
        share = f"{reader.checks:,} of {reader.checks + len(lost):,} checks"
        message = f"{share} can be kept; run it with Vally, and `runevals gate` its results"
        reader.problems.append(source.problem((_LIST,), message, key=True, rule=checking.LOST_CHECK))
    for folder in [*reader.skills][1:]:
        reader.warn((_LIST,), f"'{folder.name}' is another skill than the suite's; name it in `target.skills`")
    return checking.suite_of(
        source.path,
        NAME,
        cases,
        dict.fromkeys(reader.problems),
        description=document.get("description"),
        files=tuple(dict.fromkeys(path for case in cases for path in case.files.values())),
        skill=next(iter(reader.skills), skill_of(options.folder, options.root, None).folder),
    )


class _Reader(Struct, kw_only=True):
    """Reads the stimuli of one file; what is wrong or lost is collected in `problems`."""

    source: Source
    options: LoadOptions
    document: Mapping[str, Any]
    lost: dict[JsonPath, str]  # graders and constraints without an equal, and why
    problems: list[FileProblem]
    checks: int = 0  # that have an equal
    skills: dict[Path, None] = {}  # the folders of those that environments name

    def case(self, index: int) -> Case:
        """A stimulus; one with several turns is a conversation."""
        raw, at = self.document[_LIST][index], (_LIST, index)
        prompts, location = raw.get("turns", [raw.get("prompt")]), self.source.locate(at)
        turns = tuple(
            Turn(prompt=prompt, checks=tuple(numbered(specs)), location=location)
            for prompt, specs in zip(prompts, self._checks(raw, at, len(prompts)), strict=True)
        )
        for key in sorted(filterfalse(describes, raw.keys() - _READ)):
            self.warn((*at, key), f"'{key}' is not read")
        timeout_s = self._timeout_s()
        files, setup, missing = self._environment(raw, at)
        return Case(
            suite=self.source.path,
            key=raw["name"],
            name=cut_name(one_line(raw["name"])),
            turns=turns,
            location=location,
            tags=tuple(dict.fromkeys((*_tags(self.document), *_tags(raw)))),
            metadata=dict(raw),
            files=files,
            workspace=Workspace(setup=setup) if setup else None,
            problem=Problem(code="file_missing", message=missing) if missing else None,
            timeout_s=timeout_s,
            **case_fingerprints(turns, {"files": digests(files), "setup": setup, "timeout_s": timeout_s}),
        )

    def _timeout_s(self) -> float | None:
        """The time limit among the settings of a run; the others are for our settings to say."""
        run = self.document.get("config", {}) | self.document.get("defaults", {})
        timeout = run.pop("timeout", None)
        if run:
            message = f"{', '.join(sorted(run))}: the settings say how often, of what and by which judge"
            self.problems.append(self.source.problem((), message, level="notice"))
        return duration_s(str(timeout))

    def _checks(self, raw: Mapping[str, Any], at: JsonPath, turns: int) -> list[list[EvaluatorSpec]]:
        """The checks of each turn: graders, scored together if there is a threshold, and constraints."""
        graders = {(*at, "graders", number): one for number, one in enumerate(raw.get("graders", ()))}
        bounds = {
            (*at, "constraints", key): {"type": key, "config": {_OF_SKILLS.get(key, "value"): value}}
            for key, value in raw.get("constraints", {}).items()
        }
        graded = self._by_turn(graders, raw.get("rubric", ()), turns)
        if "threshold" in self.document.get("scoring", {}):
            self._score([*filter(None, graded)], list(graders.values()), at)
        return [[*specs, *more] for specs, more in zip(graded, self._by_turn(bounds, (), turns), strict=True)]

    def _by_turn(
        self, graders: Mapping[JsonPath, Mapping[str, Any]], rubric: Iterable[str], turns: int
    ) -> list[list[EvaluatorSpec]]:
        """The checks of graders, each for its turn or else for the last; those without an equal are lost."""
        checks: list[list[EvaluatorSpec]] = [[] for _ in range(turns)]
        weights = self.document.get("scoring", {}).get("weights", {})
        for at, grader in graders.items():
            try:
                spec = self._check(grader, rubric, turns, self.lost.get(at, ""))
            except UsageError as error:
                self.lost[at] = str(error)
                self.warn(at, f"{_kind_of(grader)}: {error}", rule=checking.LOST_CHECK)
            else:
                self.checks += 1
                spec = replace(spec, weight=weights.get(grader["type"], 1.0), location=self.source.locate(at))
                checks[grader.get("turn", -1)].append(spec)
        return checks

    def _check(
        self, grader: Mapping[str, Any], rubric: Iterable[str], turns: int, complaint: str
    ) -> EvaluatorSpec:
        """The check that a grader is. Raises UsageError if it is lost; `complaint` is what the schema says."""
        if complaint := complaint or _why_lost(grader, rubric, turns):
            raise UsageError(complaint)
        config, plain = grader.get("config", {}), grader["type"].replace("-not-", "-")
        spec = EvaluatorSpec(
            **fill(schema(_PACKAGE, NAME)["checks"][plain], _values(config, rubric)),  # type: ignore[arg-type]
            id=grader.get("name", grader["type"]),
            negated=config.get("negate", plain != grader["type"]),
        )
        catalogue.build(spec)
        return spec

    def _score(self, used: list[list[EvaluatorSpec]], graders: list[Mapping[str, Any]], at: JsonPath) -> None:
        """Puts the weighted mean of graders, which passes from the threshold of the file, in their place."""
        scoring, kinds = self.document["scoring"], set(map(_kind_of, graders))
        unlike = {
            "the graders are of several turns, and each must pass": len(used) > 1,
            "not every grader counts": sum(map(len, used)) < len(graders),
            "a type without a weight counts 1": not kinds <= scoring.get("weights", dict.fromkeys(kinds)).keys(),
            "a budget that is exceeded scores 0 at once": not kinds.isdisjoint(_BUDGETS),
        }
        for message in filter(unlike.get, unlike):
            self.warn((*at, "graders"), f"'threshold' is of another mean here: {message}")
        if len(used) == 1:
            (specs,) = used
            spec = EvaluatorSpec(
                name="composite",
                id="scoring",
                options={"aggregation": "weighted_average", "weights": [spec.weight for spec in specs]},
                children=tuple(numbered([replace(spec, weight=1.0) for spec in specs])),
                threshold=scoring["threshold"],
                location=self.source.locate(at),
            )
            specs[:] = [spec]

    def _environment(
        self, raw: Mapping[str, Any], at: JsonPath
    ) -> tuple[Mapping[str, Path], tuple[tuple[str, ...], ...], str]:
        """(the files, the programs that set it up, what is missing) of a stimulus, with those of all."""
        parts = [fields["environment"] for fields in (self.document, raw) if "environment" in fields]
        # A text names one elsewhere.
        both: list[Any] = [{one: None} if isinstance(one, str) else one for one in parts]
        for key in sorted({key for one in both for key in one} - {"files", "commands", "skills"}):
            self.warn((*at, "environment"), f"'{key}' is not set up; the target must have it")
        sources = {entry["dest"]: entry["src"] for one in both for entry in one.get("files", ())}
        skill_names = [name for one in both for name in one.get("skills", ())]
        bases = [self.options.folder or self.options.root]
        there = find_files([*sources.values(), *skill_names], bases, self.options.root)
        paths = without_none(**there)
        missing = "".join(f"there is no {name}; " for name in sorted(there.keys() - paths.keys()))
        if missing:
            self.warn(at, f"{missing}the case is errored, and not run without", rule="meaning")
        skills = [paths[name] for name in skill_names if name in paths]
        self.skills |= dict.fromkeys(path.parent if path.name == FILE else path for path in skills)
        files = {place_of(dest): paths[src] for dest, src in sources.items() if src in paths}
        return files, tuple(("sh", "-c", line) for one in both for line in one.get("commands", ())), missing

    def warn(self, at: JsonPath, message: str, *, rule: str = "unknown-key") -> None:
        """Names something that is lost."""
        self.problems.append(self.source.warning(at, message, key=rule == "unknown-key", rule=rule))


def _why_lost(grader: Mapping[str, Any], rubric: Iterable[str], turns: int) -> str:
    """Why a grader that the schema allows has no equal where it stands; empty if it has one."""
    if grader.get("turn", 0) not in range(turns):
        return f"is of turn {grader['turn']}, and the last one is {turns - 1}"
    if turns > 1 and "turn" not in grader and grader["type"] in _OF_ALL_TURNS:
        return "looks at all turns together; checks here are of one"
    if grader["type"] == "prompt" and not _values(grader.get("config", {}), rubric)["criteria"]:
        return "has neither a prompt nor a rubric, and Vally's own is not ours"
    return ""


def _kind_of(grader: object) -> str:
    return str(grader.get("type")) if isinstance(grader, dict) else "a grader"


def _values(config: Mapping[str, Any], rubric: Iterable[str]) -> Mapping[str, object]:
    """What the template of a check is filled with: a grader's config, and what is made of it."""
    flags, pattern = FLAGS.fullmatch(config.get("pattern", "")).groups("")  # type: ignore[union-attr] # fits all
    seconds = duration_s(str(config.get("timeout", config.get("max", config.get("value", 60))))) or 0.0
    program = [config[key] for key in ("command", "args") if key in config]
    skills = [
        EvaluatorSpec(name="skill_triggered", options={"skill": skill, "should_trigger": key == "required"})
        for key in ("required", "disallowed")
        for skill in config.get(key, ())
    ]
    return {
        **config,
        "config": config,
        "flags": flags,
        "pattern": pattern,
        "argv": [program[0], *program[1]] if "args" in config else ["sh", "-c", *program],
        "seconds": seconds,
        "milliseconds": 1000 * seconds,
        "criteria": "\n".join([*filter(None, [config.get("prompt")]), *(f"- {one}" for one in rubric)]),
        "from_1_to_5": 1 + 4 * config.get("threshold", 0.5),  # theirs is a share
        "skills": tuple(numbered(skills)),
        "script": _TOOL_CALLS,
    }


def _tags(fields: Mapping[str, Any]) -> list[str]:
    """Tags as `key:value`, which runs are filtered by."""
    return [f"{key}:{value}" for key, values in fields.get("tags", {}).items() for value in entries_of(values)]

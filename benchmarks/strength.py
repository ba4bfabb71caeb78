"""`runevals strength` on suites of known strength: `python benchmarks/strength.py`.

Forty suites of the tests and examples, of which every other one has a check weakened on purpose: each must be
named, and at most 2 % of the others. Five hundred right answers with harmless edits, of which at most 1 % may be
made by a harmful edit, too. And the CPU time of 10,000 cases with three checks each. Exits with 1 if a limit is
missed.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from runevals.evaluators.kinds import leaves
from runevals.records import Case, EvaluatorSpec, Location, Response, Suite, Turn, Workspace
from runevals.records.errors import RunevalsError
from runevals.records.rules import Selection, SuiteEntry
from runevals.run.strength.answers import untouched
from runevals.run.strength.edits import edited, harmful, harmless
from runevals.run.strength.measure import Strength, strength_of
from runevals.run.workspaces.folders import Workspaces
from runevals.sandbox import Sandbox
from runevals.suites.load import LoadRequest, load_suites
from runevals.suites.plan import RunPlan, asks_judge, checks_of, make_plan

ROOT = Path(__file__).parents[1]
SUITES, MOST_SOUND_NAMED, MOST_WRONG, MOST_S = 40, 0.02, 0.01, 6.0
# Checks of these cases are weak as they are written: the word that they look for is in the prompt.
WEAK_INDEED = ("A second question: ", "remembers the plan: ", "KB-006: ", "refund: contains", " 7: contains")
WHERE = Location(file="weakened")
Weaken = Callable[[Case, Path], Case]


def found() -> Iterator[Suite]:
    """Suites with a check that code decides."""
    files = sorted([*ROOT.glob("tests/suites/dialects/*/valid/*"), *ROOT.glob("examples/**/*.*")])
    for file in files:
        if file.suffix not in (".json", ".yaml", ".csv", ".jsonl") or file.name.endswith(".cases.json"):
            continue
        try:
            request = LoadRequest(
                cwd=ROOT, repository=ROOT, entries=(SuiteEntry(path=str(file.relative_to(ROOT)), base=ROOT),)
            )
            suites = load_suites(request).suites
        except RunevalsError:
            continue
        for suite in suites:
            cases = [case for case in suite.cases if any(map(by_code, case.turns))]
            if cases:
                yield replace(suite, cases=tuple(cases))


def by_code(turn: Turn) -> bool:
    """Whether a check of the turn needs no judge."""
    return any(not asks_judge(leaf) for check in checks_of(turn) for leaf in leaves(check.evaluator))


def named_spec(name: str, threshold: float | None = None, **options: object) -> EvaluatorSpec:
    """A check that is weak, and can be found again."""
    return EvaluatorSpec(name=name, options=options, threshold=threshold, id=f"weakened {name}", location=WHERE)


def with_check(spec: EvaluatorSpec) -> Weaken:
    """In place of the checks of the first turn."""

    def weaken(case: Case, _folder: Path) -> Case:
        return replace(case, turns=(replace(case.turns[0], checks=(spec,), expected="right"), *case.turns[1:]))

    return weaken


def word_of_the_prompt(case: Case, folder: Path) -> Case:
    """The longest word of its prompt is enough."""
    prompt = case.turns[0].prompt or "Which warranty?"
    word = max(prompt.replace('"', " ").split(), key=len)
    return with_check(named_spec("contains", value=word))(
        replace(case, turns=(replace(case.turns[0], prompt=prompt), *case.turns[1:])), folder
    )


def fixture_already_right(case: Case, folder: Path) -> Case:
    """The workspace has what is looked for."""
    (folder / "app.py").write_text("def total(): ...\n")
    spec = named_spec("file_contains", path="app.py", values=["def total"])
    return replace(with_check(spec)(case, folder), workspace=Workspace(folder=folder))


WEAKENED: tuple[Weaken, ...] = (
    with_check(named_spec("regex", pattern=".+")),
    with_check(named_spec("regex", pattern="[\\s\\S]*")),
    word_of_the_prompt,
    fixture_already_right,
    with_check(named_spec("PartialMatch", threshold=0.0)),
    with_check(named_spec("tools_count_min", value=1)),
)


def measured(suite: Suite) -> Strength:
    """What its checks notice."""
    plan = make_plan([suite], Selection())
    workspaces = Workspaces({}, at_once=1)
    folders = {n: untouched(plan, n, workspaces, programs=False) for n in range(len(plan.cases))}
    workspaces.close()
    with Sandbox(workers=1) as sandbox:
        return strength_of(plan, sandbox, {}, {n: each for n, each in folders.items() if each is not None})


def weakened_are_named() -> bool:
    """Every weakened check, and hardly another."""
    suites = list(found())[:SUITES]
    missed: list[str] = []
    sound, wrong = 0, []
    for number, suite in enumerate(suites):
        cases = list(suite.cases)
        if number % 2:
            weaken = WEAKENED[number // 2 % len(WEAKENED)]
            with tempfile.TemporaryDirectory() as folder:
                cases[0] = weaken(replace(cases[0], category=None), Path(folder))
                strength = measured(replace(suite, cases=tuple(cases)))
        else:
            strength = measured(suite)
        names = [hint for hint in strength.weak if hint.location == WHERE]
        if number % 2 and not names:
            missed.append(f"{suite.path} ({cases[0].turns[0].checks[0].id})")
        sound += sum(len(turn.checks) for case in cases for turn in case.turns) - number % 2
        others = [str(hint) for hint in strength.weak if hint.location != WHERE]
        wrong += [hint for hint in others if not any(words in hint for words in WEAK_INDEED)]
    print(f"{len(suites)} suites, half of them weakened: {len(missed)} weakened checks not named")
    print(f"{sound} sound checks: {len(wrong)} named ({100 * len(wrong) / sound:.1f} %)")
    print(*(f"  not named: {each}" for each in missed), *(f"  named: {each}" for each in wrong), sep="\n")
    return len(suites) == SUITES and not missed and len(wrong) <= MOST_SOUND_NAMED * sound


SENTENCES = (
    "The warranty is {n} months, and Ana Berg will not pay for {n2} kg.",
    "You cannot return it after {n} days. For example, shoes of 2026-11-{d} are too late.",
    "Yes, we do not ship to Peru. A purchase of {n} USD is needed.",
    "1. Open the box.\n2. Call Marta within {n} hours.\n3. Begin again.\n",
    '{{"status": "open", "items": ["a", "b"], "total": {n}, "paid": true}}',
    "Paris",
    "Please do not hesitate to ask. It isn't {n} %.",
)


def harmless_are_not_wrong() -> bool:
    """No harmless edit is among the harmful ones, and every harmful one changes more than spelling."""
    rng = random.Random(20261127)
    answers = [
        Response(text=SENTENCES[n % len(SENTENCES)].format(n=rng.randint(2, 99), n2=n, d=rng.randint(10, 28)))
        for n in range(500)
    ]
    wrong = 0
    for answer in answers:
        changed = {
            " ".join(edit.response.text.casefold().split()) for edit in harmful(answer, text=True, tools=True)
        }
        right = {" ".join(each.response.text.casefold().split()) for each in harmless(answer, case=True)}
        wrong += bool(changed & (right | {" ".join(answer.text.casefold().split())}))
    print(f"{len(answers)} right answers with harmless edits: {wrong} counted wrong")
    return wrong <= MOST_WRONG * len(answers)


def speed() -> bool:
    """CPU time of 10,000 cases of three checks."""
    cases = tuple(
        Case(
            suite="s",
            key=f"k{n}",
            name=f"k{n}",
            location=Location(file="s", line=n),
            turns=(
                Turn(
                    prompt=f"How long is warranty number {n}?",
                    expected=f"The warranty of part {n} is {n % 40 + 2} months. It is not longer.",
                    checks=(
                        EvaluatorSpec(name="contains", options={"value": f"{n % 40 + 2} months"}),
                        EvaluatorSpec(name="regex", options={"pattern": "is \\d+ months"}),
                        EvaluatorSpec(name="max_length", options={"value": 400}),
                    ),
                ),
            ),
        )
        for n in range(10_000)
    )
    plan = RunPlan(suites=(), cases=cases, repeat=1)
    with Sandbox(workers=1) as sandbox:
        began = time.process_time()
        strength = strength_of(plan, sandbox, {}, {})
        took = time.process_time() - began
    print(f"10,000 cases of three checks, {strength.wrong_answers} wrong answers: {took:.1f} s CPU")
    return took <= MOST_S


def main() -> int:
    """Every claim → exit code."""
    assert list(edited("It is 5 kg."))
    return 0 if all([weakened_are_named(), harmless_are_not_wrong(), speed()]) else 1


if __name__ == "__main__":
    sys.exit(main())

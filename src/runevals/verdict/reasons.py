"""Every reason why something is worse, not known or not worse: its sentence, and what settles it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from runevals.lib.text.numbers import phrase
from runevals.records import Finding, Reason, RunInfo, State
from runevals.records.errors import COULD_NOT_MEASURE, GATE_FAILED, PASSED

EXIT_CODES: Mapping[State, int] = {
    State.WORSE: GATE_FAILED,
    State.NOT_KNOWN: COULD_NOT_MEASURE,
    State.NOT_WORSE: PASSED,
}
_ACCEPT = "fix it, or accept it: `runevals accept`"
_BOTH_SIDES = "more runs on both sides"
_ALONE = "of each alone (`-o`) for `runevals compare`"
_MORE_RUNS = f"{_BOTH_SIDES} (`repeat`), or {_ALONE}, or `--base REF` without `verify: off`"
_ELSEWHERE = {
    "tool": f"{_BOTH_SIDES} by your tool, or `--base REF` and `rerun` where `runevals gate` reads it",
    "function": f"{_BOTH_SIDES} (`repeat`)",
}


class Meaning(Struct, frozen=True):
    """What a reason says of a unit."""

    state: State
    sentence: str
    settles: str = ""  # the command or setting that settles it; empty: nothing is open
    warns: bool = False  # nothing blocks, but line one names the case
    elsewhere: Mapping[str, str] = {}  # what settles it instead, by what made the results

    def way_out(self, run: RunInfo, findings: Sequence[Finding]) -> str:
        """What settles these for the results of such a run, with the number of runs if it is known of each."""
        runs = phrase(min((each.more or 0 for each in findings), default=0), "{} runs of each case on both sides")
        return self.elsewhere.get(run.made_by, self.settles).replace(_BOTH_SIDES, runs or _BOTH_SIDES)


MEANINGS: Mapping[Reason, Meaning] = {
    Reason.PROVEN: Meaning(State.WORSE, "runs of both sides, made now and in turn, prove the loss", _ACCEPT),
    Reason.EXACT: Meaning(State.WORSE, "the runs prove the loss by an exact test", _ACCEPT),
    Reason.REMOVED: Meaning(State.WORSE, "the change removes a critical case", _ACCEPT),
    Reason.BUDGET: Meaning(
        State.NOT_KNOWN,
        "the fresh runs ended before they settled it",
        "allow more runs: `fresh_runs`, once it is merged",
    ),
    Reason.ERRORS: Meaning(
        State.NOT_KNOWN,
        "runs that could not be measured would decide it",
        "run it again",
        elsewhere={"tool": "run it again, or mend `rerun`: with `--base` in the base's settings, else in yours"},
    ),
    Reason.UNMEASURED: Meaning(
        State.NOT_KNOWN,
        "not measured on the base",
        "measure it there (`--base REF`), or accept it: `runevals accept`",
        elsewhere={
            "tool": "run your tool on the base again, or accept it: `runevals accept`",
            "function": "make the baseline again",
        },
    ),
    Reason.OLD_FORM: Meaning(
        State.NOT_KNOWN,
        "edited, and the old form could not be run",
        "edit it in an earlier change, run with the base's commit here (`--base REF`), or accept it if it is lost",
        elsewhere={"function": "take a run with the edit as the baseline"},
    ),
    Reason.BASE_FILES: Meaning(
        State.NOT_KNOWN,
        "the base's checkout lacks files that git ignores, and gives other answers",
        "list them under `share`",
    ),
    Reason.BASE_EDITS: Meaning(
        State.NOT_KNOWN,
        "the base's result was made with changes that are in no commit",
        "commit them, and run the base again",
    ),
    Reason.BASE_MISSING: Meaning(
        State.NOT_KNOWN, "the base that was named is missing", "store it, or name another: `--baseline`"
    ),
    Reason.INCOMPARABLE: Meaning(
        State.NOT_KNOWN,
        "too little can be compared with the base",
        "`on_unknown: pass`, once it is merged, lets it pass",
        elsewhere={
            "tool": "`runevals accept`, or `on_unknown: pass` once it is merged",
            "function": "make a new baseline",
        },
    ),
    Reason.CHANCE: Meaning(
        State.NOT_KNOWN,
        "an unchanged suite hardly ever shows it, and nothing can be run again",
        _MORE_RUNS,
        elsewhere=_ELSEWHERE,
    ),
    Reason.CACHE: Meaning(State.NOT_KNOWN, "a cache on the way answers the fresh runs", "switch the cache off"),
    Reason.PASSED_AGAIN: Meaning(State.NOT_WORSE, "fresh runs pass"),
    Reason.BASE_ALIKE: Meaning(State.NOT_WORSE, "fresh runs show no difference from the base"),
    Reason.UNPROVEN: Meaning(
        State.NOT_WORSE,
        "none of the fresh runs passes, too few to prove a loss",
        "more runs: `fresh_runs`",
        warns=True,
    ),
    Reason.BY_CHANCE: Meaning(
        State.NOT_WORSE, "too few runs to tell it from chance", _MORE_RUNS, elsewhere=_ELSEWHERE, warns=True
    ),
    Reason.NEW_FORM: Meaning(
        State.NOT_WORSE,
        "only the edited form passes",
        "`edits: accept` makes it a loss that a reviewer accepts",
        warns=True,
    ),
    Reason.SMALL: Meaning(State.NOT_WORSE, "the drop is real, and smaller than `min_effect`", warns=True),
    Reason.ERRORS_ALLOWED: Meaning(State.NOT_WORSE, "not measured, which `errors.limit` allows", warns=True),
}


def table() -> Iterator[str]:
    """The reasons as rows of a Markdown table, for the documentation."""
    yield "| exit code | reason | what settles it |"
    yield "|---|---|---|"
    for meaning in MEANINGS.values():
        code = f"{EXIT_CODES[meaning.state]}{' ⚠' if meaning.warns else ''}"
        of_tool = phrase(meaning.elsewhere.get("tool"), "; of another tool: {}")
        yield f"| {code} | {meaning.sentence} | {meaning.settles}{of_tool} |"

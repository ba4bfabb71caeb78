"""The first line: what a comparison found, in the words that are agreed on."""

from __future__ import annotations

import re
from random import Random

import pytest

from runevals import decide
from runevals.records import GateRules, RegressionRule, State
from runevals.reports import console
from runevals.reports.next_steps import Where, next_steps
from runevals.verdict.causes import causes
from runevals.verdict.outcome import conclusion_of
from runevals.verdict.settle import settled
from tests.sample_reports import case, report
from tests.scripted_runner import ScriptedRunner, always

SUITE = {f"k{n}": "ppp" for n in range(30)}


def headline(head, base=SUITE, rules=None, **more):
    return decide(report(base, **more), report(head, **more), rules).verdict


@pytest.mark.parametrize(("setting", "code"), [("unmeasured", 3), ("pass", 0)])
def test_a_way_out_that_is_taken_already_is_not_named(setting, code):
    few = {key: SUITE[key] for key in list(SUITE)[:9]}
    found = headline(few, rules=GateRules(on_unknown=setting))
    assert found.headline.startswith("Not known – only 9 of the base's 30 cases can be compared")
    assert (found.exit_code, "`on_unknown: pass`" in found.headline) == (code, code == 3)


def flaky(rates, rng):
    """400 cases of four categories, each with the rate of its category."""
    return [
        case(f"k{n}", [float(rng.random() < rates[n % 4]) for _ in "abc"], category="abcd"[n % 4])
        for n in range(400)
    ]


@pytest.mark.parametrize(
    ("rates", "line"),
    [
        ((0.6, 0.9, 0.9, 0.9), "The pass rate of 100 cases of category a fell by "),
        ((0.8, 0.8, 0.8, 0.8), "The pass rate of 400 cases fell by "),
    ],
)
def test_a_fall_is_of_the_part_that_is_least_by_chance(rates, line):
    """Where one category alone fell so much that the whole did, too, it is that category."""
    rng = Random(1)
    base, head = flaky((0.9, 0.9, 0.9, 0.9), rng), flaky(rates, rng)
    conclusion = decide(report(base), report(head))
    parts = {part.family for part in conclusion.comparison.parts(State.WORSE)}
    assert (parts, conclusion.verdict.headline[: len(line)]) == ({"whole", "category"}, line)
    [(what, command), *_] = next_steps(conclusion, causes(report(head), conclusion.comparison), Where())
    key = command.partition("--filter=k")[2].partition(" ")[0]
    assert (what, int(key) % 4 if "category" in line else 0) == ("see one", 0)


def test_a_category_that_fell_is_named_beside_the_few_of_its_cases_that_are_proven():
    rng = Random(2)
    base, head = flaky((0.9,) * 4, rng), flaky((0.6, 0.9, 0.9, 0.9), rng)
    base[0], head[0] = (case("k0", runs * 20, category="a") for runs in ("ppp", "ppf"))
    base[4], head[4] = (case("k4", runs * 20, category="a") for runs in ("ppp", "fff"))
    line = decide(report(base), report(head)).verdict.headline
    assert re.match(r"2 cases lost: k0, k4; the pass rate of 100 cases of category a fell by ", line), line


@pytest.mark.parametrize(
    ("head", "line", "exit_code"),
    [
        (SUITE, "No regression shown in 30 cases", 0),
        (
            {**SUITE, **{f"k{n}": "fff" for n in range(6)}},
            "6 of 30 cases regressed: k0, k1, k2 and 3 more",
            1,
        ),
        (
            {**SUITE, "k0": "fff"},
            "Not known – k0 may be lost: with 3 runs a side, hardly any such",
            3,
        ),
    ],
)
def test_two_documents(head, line, exit_code):
    found = headline(head)
    assert found.headline.startswith(line), found.headline
    assert found.exit_code == exit_code


def test_a_case_that_is_counted_is_not_counted_again_as_open():
    base = {f"k{n}": "ppppp" for n in range(20)}
    found = headline({**base, "k0": "fffff"}, base)
    assert found.headline.startswith("1 of 20 cases regressed: k0"), found.headline


def test_one_run_a_side_of_a_suite_that_varies_is_a_warning_that_names_the_case():
    base = {f"k{n}": "f" if n % 3 == 0 else "p" for n in range(30)}
    head = {**base, "k1": "f", "k3": "p", "k6": "p"}
    found = headline(head, base)
    assert (found.exit_code, found.warns) == (0, True)
    assert found.headline.startswith(
        "No loss proven – k1 failed that passed on the base: with 1 run a side, about"
    )
    assert "`repeat`" in found.headline


@pytest.mark.parametrize(("of_base", "warns"), [("ppp", True), ("pfp", False)])
def test_a_case_that_passed_every_run_and_fails_most_now_is_in_line_one(of_base, warns):
    found = headline({**SUITE, "k0": "ffp"}, {**SUITE, "k0": of_base})
    assert (found.exit_code, found.warns) == (0, warns)
    line = "No loss proven – k0 failed that passed on the base: too few runs to tell it from chance"
    assert found.headline.startswith(line) == warns


@pytest.mark.parametrize(
    ("on_unknown", "of_unknown", "of_warning"),
    [("pass", 0, 0), ("unmeasured", 3, 0), ("fail", 3, 3)],
)
def test_the_settings_say_what_is_not_known_and_what_is_a_warning_means(on_unknown, of_unknown, of_warning):
    rules = GateRules(on_unknown=on_unknown)
    assert headline({**SUITE, "k0": "fff"}, rules=rules).exit_code == of_unknown
    base = {f"k{n}": "f" if n % 3 == 0 else "p" for n in range(30)}
    assert headline({**base, "k1": "f", "k3": "p", "k6": "p"}, base, rules).exit_code == of_warning


def test_a_real_drop_below_the_floor_is_not_called_noise():
    base = {f"k{n}": "p" * 40 for n in range(600)}
    found = headline({**base, **{f"k{n}": "f" * 8 + "p" * 32 for n in range(40)}}, base)
    assert found.headline.startswith("A real drop of 1.3 points, below what blocks (p < 0.0001")


def test_an_improvement_says_what_is_fixed():
    base = {**SUITE, **{f"k{n}": "fff" for n in range(8)}}
    assert decide(report(base), report(SUITE)).verdict.headline == "Improved – 8 cases fixed, none regressed"


def held(head, base, letters="fff", **more):
    runner = ScriptedRunner({**SUITE, "k7": letters}, base, head)
    for name, value in more.items():
        setattr(runner, name, value)
    stored = report([case(key, letters) for key, letters in SUITE.items()])
    return conclusion_of(*settled(runner, stored, "stored", RegressionRule()), GateRules())


@pytest.mark.parametrize(
    ("head", "base", "line", "exit_code"),
    [
        pytest.param("f", "p", "1 of 30 cases regressed", 1, id="proven"),
        pytest.param("p", "p", "No regression shown in 30 cases", 0, id="passes again"),
        pytest.param("f", "f", "No loss proven – k7", 0, id="so does the base now, though it passed when stored"),
        pytest.param("f", "e", "Not known – k7 may be lost: runs that could not be measured", 3, id="errors"),
    ],
)
def test_a_case_that_looks_lost_is_settled_by_fresh_runs(head, base, line, exit_code):
    found = held(always("p", k7=head), always("p", k7=base))
    assert (found.verdict.headline[: len(line)], found.verdict.exit_code) == (line, exit_code)


def test_a_case_that_passed_no_fresh_run_is_named_in_the_first_line():
    runs = iter("pffpffppffppffppffppffppffppffpp" * 4)
    found = held(always("p", k7="f"), lambda key, _number: next(runs) if key == "k7" else "p")
    shown = console.render(found)
    assert found.verdict.exit_code in (0, 1, 3)
    assert "k7" in shown.splitlines()[0] or found.verdict.exit_code == 1


def test_a_base_that_cannot_be_run_leaves_the_decision_to_the_runs_that_there_are():
    found = held(
        always("f"), always(""), why_no_base="it is deployed elsewhere", why_no_rounds="it is deployed elsewhere"
    )
    assert found.verdict.exit_code == 3
    assert found.verdict.headline.startswith("Not known – k7 may be lost: with ")


def test_the_more_stored_runs_a_case_died_after_the_less_it_can_be_chance():
    """Not worse with a warning, not known, worse: never fine."""
    codes: list[int] = []
    for runs in (1, 3, 9):
        base = {f"k{n}": ("f" if n % 4 == 0 else "p") * runs for n in range(12)}
        found = headline({**base, "k1": "f" * runs}, base)
        assert found.exit_code or found.warns
        codes.append(found.exit_code)
    assert codes == sorted(codes, key=[0, 3, 1].index)
    assert codes[-1] == 1


@pytest.mark.parametrize(
    ("category_of", "where"),
    [
        pytest.param(lambda number: "prices" if number < 20 else "returns", ", all in prices: ", id="one of two"),
        pytest.param(lambda number: f"c{number % 2}", ": ", id="in both"),
        pytest.param(lambda _: "prices", ": ", id="there is no other"),
        pytest.param(lambda number: None if number < 20 else "returns", ": ", id="without one"),
    ],
)
def test_the_category_of_all_lost_cases_is_named_though_most_of_it_passes(category_of, where):
    base, head = (
        report([case(f"k{n}", "ppp" if n not in lost else "fff", category=category_of(n)) for n in range(60)])
        for lost in ((), range(6))
    )
    told = decide(base, head).verdict.headline
    assert told == f"6 of 60 cases regressed{where}k0, k1, k2 and 3 more"


def test_the_runs_of_both_sides_are_told_apart_where_they_differ():
    base = {f"k{n}": "p" if n % 3 else "f" for n in range(30)}
    found = headline({key: letter * 3 for key, letter in {**base, "k1": "f"}.items()}, base)
    assert ": with 1 run on the base and 3 now, about" in found.headline


def test_a_case_that_may_be_lost_beside_one_that_is_has_its_own_name():
    base = {f"k{n}": "p" * 12 for n in range(60)} | {"few": "pp"}
    found = headline({**base, **{f"k{n}": "f" * 12 for n in range(4)}, "few": "ff"}, base)
    assert found.headline == "4 of 61 cases regressed: k0, k1, k2 and 1 more; 1 more may have: few"


def test_cases_that_nobody_named_are_called_by_what_they_ask_wherever_a_sentence_names_them():
    keys = {f"p-{n:010x}": f"What about number {n}, and why is that so in the first place?" for n in range(12)}
    base, head = (report([case(key, one * 3, name=name) for key, name in keys.items()]) for one in "pf")
    found = decide(base, head)
    said = console.render(found)
    names = [f"“What about number {n}, and why is that so…”" for n in range(12)]
    assert found.verdict.headline.startswith(f"12 of 12 cases regressed: {names[0]}"), found.verdict.headline
    assert f"12 ×  {names[0]}, {names[1]} and 10 more" in said


def test_a_warning_says_in_how_many_comparisons_chance_shows_as_much():
    """ "Hardly any" would be a reason to stop, not to pass."""
    base = {f"k{n}": "pfp" if n < 4 else "ppp" for n in range(16)}
    found = headline({**base, "k9": "fff"}, base)
    told = re.search(r"in ([\d.]+) of 100 comparisons such cases would be lost", found.headline)
    assert told is not None, found.headline
    assert (found.exit_code, found.warns, float(told[1]) > 3) == (0, True, True)

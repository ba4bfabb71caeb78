"""The parts of a run, put together, as a user meets them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.records import Acceptance, GateRules
from runevals.reports.results_document import read, read_conclusion
from runevals.run.acceptance import with_acceptance
from runevals.run.shards import merge
from runevals.run.shards.merge import IN_MEMORY
from runevals.verdict.accepted import lost_cases
from tests.ending import ended
from tests.page_server import page_server
from tests.sample_suites import AGENT, EXACT, SETTINGS, WORSE
from tests.zoo import items

TIMES = re.compile(r'"(started_at|duration_s)": [^,\n]+')


@pytest.fixture
def shards(zoo, runevals):
    """Four documents of four parts, and one of the whole."""
    for part in range(1, 5):
        code, out, err = runevals("--shard", f"{part}/4", "-o", f"{part}.json")
        assert code == 0, err
        assert re.match(rf"– Shard {part} of 4: \d+ of \d+ cases pass – the merge of all shards decides", out)
    runevals("-o", "whole.json")
    return [f"{part}.json" for part in range(1, 5)]


def text(zoo, name):
    return TIMES.sub(r'"\1": …', (zoo.path / name).read_text(encoding="utf-8"))


def keys(document):
    return {(case["suite"], case["key"]) for case in document["cases"]}


@pytest.mark.parametrize("most", [IN_MEMORY, 10], ids=["in memory", "on disk"])
def test_merged_shards_are_the_whole_run_to_the_byte(zoo, runevals, shards, monkeypatch, most):
    monkeypatch.setattr(merge, "IN_MEMORY", most)
    whole = runevals("-o", "whole.json")
    merged = runevals("merge", *reversed(shards), "-o", "merged.json")
    assert text(zoo, "merged.json") == text(zoo, "whole.json")
    assert merged[0] == whole[0] == 1  # the gate of the category "replay" failed
    assert merged[1].splitlines()[0] == whole[1].splitlines()[0]


def test_each_case_is_in_one_part(zoo, runevals, shards):
    parts = [keys(zoo.document(name)) for name in shards]
    assert sum(map(len, parts)) == 25
    assert set.union(*parts) == keys(zoo.document("whole.json"))
    assert all(parts)


@pytest.mark.parametrize("way", ["--baseline", "settings file", "on disk"])
def test_the_merge_compares_as_a_run_does(zoo, runevals, shards, monkeypatch, way):
    monkeypatch.setattr(merge, "IN_MEMORY", 10 if way == "on disk" else IN_MEMORY)
    (zoo.path / "whole.json").rename(zoo.path / "base.json")
    zoo.write("answers.jsonl", (zoo.path / "answers.jsonl").read_text().replace("animal 1", "wombat 1"))
    flags = [] if way == "settings file" else ["--baseline", "base.json"]
    if not flags:
        settings = (zoo.path / "runevals.yaml").read_text()
        zoo.write("runevals.yaml", settings + "baseline: {path: base.json}\n")
    for name in shards:
        assert runevals("--shard", f"{name[0]}/4", "-o", name)[0] == 0
    code, _, _ = runevals("merge", *shards, "-o", "merged.json", *flags)
    comparison = zoo.document("merged.json")["comparison"]
    assert (code, comparison["state"]) == (1, "worse")
    assert comparison["source"].startswith("base.json")
    assert zoo.document("1.json")["comparison"] is None


def test_a_shard_without_cases_is_written_and_merged(zoo, runevals):
    zoo.write("evals/b.json", {**json.loads((zoo.path / "evals/b.json").read_text()), "items": items("b", 1)})
    zoo.write("runevals.yaml", (zoo.path / "runevals.yaml").read_text().replace("evals/a.json, ", ""))
    names = []
    for part in range(1, 4):
        names.append(f"{part}.json")
        code, out, err = runevals(
            "--shard", f"{part}/3", "-o", f"{part}.json", "-o", f"{part}.md", "-o", f"{part}.xml"
        )
        assert code == 0, out + err
    assert sorted(len(zoo.document(name)["cases"]) for name in names) == [0, 0, 1]
    runevals("merge", *names, "-o", "merged.json")
    runevals("-o", "whole.json")
    assert text(zoo, "merged.json") == text(zoo, "whole.json")


def test_missing_parts_are_named(zoo, runevals, shards):
    code, _, err = runevals("merge", "1.json", "4.json")
    ended(code, 3, err, "of 4 shards, these are missing: 2, 3")


def test_a_part_that_is_there_twice_is_named(zoo, runevals, shards):
    code, _, err = runevals("merge", *shards, "2.json")
    ended(code, 2, err, "shard 2 of 4 is there twice")


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda run: run.update(commit="0" * 40), "commits"),
        (lambda run: run["target"].update(model="other"), "targets"),
        (lambda run: run["judge"].update(model="other"), "judges"),
        (lambda run: run.update(repeat=2), "attempts"),
        (lambda run: run["suites"][0].update(fingerprint="x"), "suites"),
        (lambda run: run["settings"].update(category=["farm"]), "settings"),
        (lambda run: run["shard"].update(of=5), "numbers of shards"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_shards_of_another_run_are_refused(zoo, runevals, shards, edit, what):
    document = zoo.document("3.json")
    edit(document["run"])
    zoo.write("3.json", document)
    code, _, err = runevals("merge", *shards)
    ended(code, 2, err, f"1.json and 3.json are not of one run: their {what} differ")


def test_a_part_that_asked_a_model_nothing_knows_less_of_it(zoo, runevals, shards):
    """A judge whose endpoint refused a parameter, an agent whose card was read: where they were asked."""
    for name in shards:
        document, asked = zoo.document(name), name in ("2.json", "3.json")
        parameters = {"seed": 1} if asked else {"seed": 1, "temperature": 0}
        dropped = ["temperature"] if asked else []
        document["run"]["judge"]["detail"] |= {"parameters": parameters, "dropped_parameters": dropped}
        if asked:
            document["run"]["target"]["detail"] |= {"agent": "a", "version": "1"}
        zoo.write(name, document)
    code, out, err = runevals("merge", *shards, "-o", "merged.json")
    assert code == 1, out + err
    run = zoo.document("merged.json")["run"]
    assert run["judge"]["detail"]["dropped_parameters"] == ["temperature"]
    assert run["target"]["detail"]["version"] == "1"
    document["run"]["judge"]["detail"]["parameters"]["seed"] = 2
    zoo.write("4.json", document)
    code, _, err = runevals("merge", *shards)
    ended(code, 2, err, "4.json are not of one run: their judges differ")


def test_a_document_of_another_version_or_of_a_whole_run_is_refused(zoo, runevals, shards):
    code, _, err = runevals("merge", "whole.json")
    ended(code, 2, err, "whole.json is not a shard")
    document = zoo.document("3.json")
    document["tool"]["version"] = "0.0.1"
    zoo.write("3.json", document)
    code, _, err = runevals("merge", *shards)
    ended(code, 2, err, "was written by runevals 0.0.1")


def test_a_shard_that_was_not_finished_is_refused(zoo, runevals, shards):
    zoo.write("3.json", {**zoo.document("3.json"), "complete": False})
    code, _, err = runevals("merge", *shards)
    ended(code, 3, err, "3.json is not complete")


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ({"of": 10**9}, "not a valid results document"),
        ({"part": 5}, "it says that it is part 5 of 4"),
        ({"positions": []}, "but says that it has 0"),
        ({"plan_cases": 10**12}, "do not have each case of their plan once"),
    ],
    ids=lambda value: "",
)
def test_shards_that_contradict_themselves_are_refused(zoo, runevals, shards, edit, told):
    for name in shards:
        document = zoo.document(name)
        document["run"]["shard"] |= edit
        zoo.write(name, document)
    code, _, err = runevals("merge", *shards)
    ended(code, 2, err, told)


@pytest.mark.parametrize("edit", [[0, 0], [0, 99]], ids=["doubled", "outside"])
def test_cases_that_do_not_fit_their_plan_are_refused(zoo, runevals, shards, edit):
    document = zoo.document("1.json")
    document["run"]["shard"]["positions"][:2] = edit
    zoo.write("1.json", document)
    code, _, err = runevals("merge", *shards)
    ended(code, 2, err, "do not have each case of their plan once")


def test_a_part_fetches_only_what_its_own_cases_name(project, runevals):
    check = [{"type": "min_length", "value": 1}]
    with page_server() as (url, seen):
        cases = [{"sample_id": f"s{n}", "prompt": f"{url}/{n}", "assertions": check} for n in range(12)]
        tagged = [{**case, "tags": ["odd"]} if n % 2 else case for n, case in enumerate(cases)]
        project.write("eval-samples.json", tagged)
        project.write("agent.py", "def answer(prompt):\n    return prompt\n")
        project.write(
            "runevals.yaml",
            "target: python:agent.py:answer\nurl_fetch: {enabled: true, allow_hosts: [127.0.0.1]}\n",
        )
        for part in (1, 2, 3):
            code, _, err = runevals("--shard", f"{part}/3", "-q", "-o", f"{part}.json")
            assert code == 0, err
        assert sorted(seen) == sorted(f"/{n}" for n in range(12)), "each address once"
        seen.clear()
        assert runevals("--tag", "odd", "-q", "-o", "odd.json")[0] == 0
        assert sorted(seen) == sorted(f"/{n}" for n in range(1, 12, 2))
        runevals("-q", "-o", "whole.json")
    assert runevals("merge", "1.json", "2.json", "3.json", "-o", "merged.json")[0] == 0
    texts = [
        [case["attempts"][0]["turns"][0]["output"] for case in project.document(name)["cases"]]
        for name in ("merged.json", "whole.json")
    ]
    assert texts[0] == texts[1]
    assert all("text of /" in text for text in texts[0])


def test_a_shard_is_no_base(zoo, runevals, shards):
    code, _, err = runevals("compare", "1.json", "whole.json")
    ended(code, 2, err, "1.json is shard 1 of 4")
    code, _, err = runevals("compare", "whole.json", "1.json")
    ended(code, 2, err, "1.json is shard 1 of 4")


def test_filters_leave_out_the_same_cases_of_the_base(zoo, runevals, shards):
    for part in (1, 2):
        runevals("--shard", f"{part}/2", "--category", "farm", "-o", f"{part}.json")
    runevals("merge", "1.json", "2.json", "--baseline", "whole.json", "-o", "merged.json")
    assert {change["change"] for change in zoo.document("merged.json")["comparison"]["changes"]} <= {
        "unchanged",
        "unmeasured",
    }


def test_no_shard_is_overwritten(zoo, runevals, shards):
    before = zoo.document("2.json")
    code, _, err = runevals("merge", *shards, "-o", "./2.json")
    ended(code, 2, err, "2.json is one of the shards")
    assert zoo.document("2.json") == before


def test_a_folder_of_shards_is_read_with_the_folders_in_it(zoo, runevals, shards):
    for name in shards:
        (zoo.path / "all" / name[0]).mkdir(parents=True)
        (zoo.path / name).rename(zoo.path / "all" / name[0] / "results.json")
    runevals("merge", "all", "-o", "merged.json")
    assert text(zoo, "merged.json") == text(zoo, "whole.json")
    (zoo.path / "none").mkdir()
    code, _, err = runevals("merge", "none")
    ended(code, 2, err, "there is no results document (.json) in none")


def test_shards_may_differ_in_how_many_calls_they_make_at_once(zoo, runevals, shards):
    runevals("--shard", "2/4", "--concurrency", "2", "-o", "2.json")
    assert runevals("merge", *shards)[0] == 1


def test_what_single_shards_say_of_their_run_is_joined(zoo, runevals, shards):
    for name, model, notice, mode, started_at in (
        ("1.json", "b", "one", None, "2026-11-21T10:00:00Z"),
        ("2.json", "a", "two", "strict", "2026-11-21T10:00:30Z"),
        ("3.json", "b", "one", None, "2026-11-21T09:59:00Z"),
        ("4.json", "a", "two", None, "2026-11-21T10:00:00Z"),
    ):
        document = zoo.document(name)
        document["run"] |= {"notices": [notice], "sandbox": mode, "started_at": started_at, "duration_s": 10.0}
        document["run"]["target"]["reported"] = [model]
        zoo.write(name, document)
    runevals("merge", *shards, "-o", "merged.json")
    run = zoo.document("merged.json")["run"]
    assert (run["target"]["reported"], run["notices"], run["sandbox"]) == (["a", "b"], ["one", "two"], "strict")
    assert (run["started_at"], run["duration_s"]) == ("2026-11-21T09:59:00Z", 100.0)


@pytest.mark.parametrize("staging", [("status",), ("add", "agent.py")], ids=["changed", "staged"])
def test_shards_of_different_uncommitted_files_are_named(repository, runevals, staging):
    said = "the shards were made with different changes that are in no commit"
    for first, second in ((AGENT, AGENT), (WORSE, WORSE), (WORSE, AGENT)):
        for part, agent in ((1, first), (2, second)):
            repository.write("agent.py", agent)
            repository.git(*staging)
            runevals("--shard", f"{part}/2", "-o", f"{part}.json")
        runevals("merge", "1.json", "2.json", "-o", "merged.json")
        assert repository.document("merged.json")["run"]["notices"] == ([said] if first != second else [])


def test_a_merge_verifies_nothing_with_edits_that_the_shards_did_not_have(repository, runevals):
    """The fresh runs of a corrected agent would clear what the shards lost."""
    runevals("-o", "base.json")
    repository.write("agent.py", WORSE)
    repository.git("commit", "-qam", "worse")
    for part in (1, 2):
        runevals("--shard", f"{part}/2", "-o", f"{part}.json")
    repository.write("agent.py", AGENT)
    code, out, err = runevals("merge", "1.json", "2.json", "--baseline", "base.json")
    why = "the uncommitted files of the shards differ from those here"
    ended(code, 1, out + err, "1 of 2 cases regressed", f"nothing was run again: {why}")
    code, out, err = runevals("merge", "1.json", "2.json", "--base", "HEAD~1")
    ended(code, 3, out + err, why)


def test_shards_of_one_of_several_targets_are_merged_as_of_that(repository, runevals):
    """Without it the merge had no target: it verified nothing, and did not see that a promise was taken back."""
    settings = SETTINGS.replace("target: ", "targets:\n  one: ")
    settings += "  two: {type: python, function: 'agent.py:answer'}\n"
    repository.write("runevals.yaml", settings)
    repository.git("commit", "-qam", "two targets")
    repository.git("tag", "before")
    runevals("--target", "one", "-o", "base.json")
    repository.write("agent.py", WORSE)
    lost = (("true", 1, "1/1 → 0/1, 1/1 → 0/2 on fresh runs"), ("false", 3, "ran with target.deterministic of"))
    for promise, code, said in lost:
        repository.write("runevals.yaml", settings.replace("true", promise))
        repository.git("commit", "-qam", "worse")
        for part in (1, 2):
            runevals("--target", "one", "--shard", f"{part}/2", "-o", f"{part}.json")
        for stored in ((), ("--baseline", "base.json")):
            found, out, err = runevals("merge", "1.json", "2.json", "--base", "before", *stored)
            ended(found, code, out + err, said)


def test_an_edited_case_that_fails_is_open_where_a_merge_cannot_run_its_old_form(repository, runevals):
    """It passed, which a run does not let it: an edit must not hide a loss."""
    others = [{"testId": f"k{n}", "prompt": "Capital of Peru?", "expected_response": "Quito"} for n in range(9)]
    for name, prompt, agent in (("base", "Capital of France?", AGENT), ("head", "The capital of France?", WORSE)):
        case = {"testId": "a", "prompt": prompt, "expected_response": "Paris"}
        repository.write("evals.json", {**EXACT, "items": [case, *others]})
        repository.write("agent.py", agent)
        repository.git("commit", "-qam", name)
        runevals("-o", f"{name}.json")
    for part in (1, 2):
        runevals("--shard", f"{part}/2", "-o", f"{part}.json")
    words = ("merge", "1.json", "2.json", "--baseline", "base.json")
    code, out, err = runevals(*words)
    ended(code, 1, out + err, "1 case lost: a")
    code, out, err = runevals(*words, "--target", "command:true")
    ended(code, 3, out + err, "a may be lost: edited, and the old form could not be run")


def test_an_edited_case_is_open_beside_a_loss_where_a_merge_cannot_run_its_old_form(repository, runevals):
    """The loss may be accepted: then the edited case passed with it."""
    others = [{"testId": f"k{n}", "prompt": "Capital of Ecuador?", "expected_response": "Quito"} for n in range(9)]
    lost = {**others.pop(), "prompt": "And of Ecuador?"}
    worse = WORSE.replace("{", "{'And of Ecuador?': 'Lima', ")
    for name, prompt, agent in (("base", "Capital of France?", AGENT), ("head", "The capital of France?", worse)):
        case = {"testId": "a", "prompt": prompt, "expected_response": "Paris"}
        repository.write("evals.json", {**EXACT, "items": [case, lost, *others]})
        repository.write("agent.py", agent)
        repository.git("commit", "-qam", name)
        runevals("-o", f"{name}.json")
    for part in (1, 2):
        runevals("--shard", f"{part}/2", "-o", f"{part}.json")
    words = ("merge", "1.json", "2.json", "--baseline", "base.json", "-o", "out.json")
    code, out, err = runevals(*words, "--target", "command:true")
    ended(code, 1, out + err, "1 of 9 cases regressed")
    found = read_conclusion(Path("out.json"))  # without the base's cases
    found = replace(found, comparison=replace(found.comparison, base=read(Path("base.json"))))
    losses = [loss for loss in lost_cases(found) if loss.case == "k8"]
    after = with_acceptance(found, Acceptance(by="ana", losses=losses), GateRules())
    assert (after.verdict.exit_code, "a may be lost: edited" in after.verdict.headline) == (3, True)


def test_shards_may_be_run_in_several_folders(zoo, runevals, monkeypatch):
    """They are of one repository, and find the same settings."""
    assert runevals("--shard", "1/2", "-o", "1.json")[0] == 0
    (zoo.path / "docs").mkdir()
    monkeypatch.chdir(zoo.path / "docs")
    assert runevals("--shard", "2/2", "-o", "../2.json")[0] == 0
    monkeypatch.chdir(zoo.path)
    code, out, err = runevals("merge", "1.json", "2.json")
    ended(code, 1, out + err, "25 cases")

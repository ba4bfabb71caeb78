"""Where a base's report comes from."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from http.server import SimpleHTTPRequestHandler

import pytest

from runevals.records.errors import InvalidSettings, WorldRefused
from runevals.reports import results_document as document
from runevals.run.baseline.from_files import read_baseline
from runevals.run.measurement import decide
from runevals.settings.resolve import Told, resolve
from tests.sample_reports import report
from tests.serving import Quiet, serving


@pytest.fixture
def named(tmp_path):
    def settle(baseline):
        return resolve(Told(cwd=tmp_path, environment={}, flags={"baseline": str(baseline)}))

    return settle


@pytest.fixture
def store(tmp_path):
    """Writes a run's document, `age` runs ago."""

    def write(name, cases, age=0, **more):
        made = report(cases, **more)
        info = replace(made.run, started_at=made.run.started_at - timedelta(days=age), commit=f"c{age}" * 4)
        path = tmp_path / "runs" / name
        path.parent.mkdir(exist_ok=True)
        settings = resolve(Told(cwd=tmp_path, environment={}))
        path.write_text(document.write(decide(replace(made, run=info), None, settings)), encoding="utf-8")
        return path

    return write


def test_a_file_is_read_and_named(named, store):
    found, _ = read_baseline(named(store("base.json", {"a": "p"})))
    assert found.source == "base.json of c0c0c0c, run 2026-11-20 12:00 UTC"
    assert [case.key for case in found.report.cases] == ["a"]


def test_of_a_folder_the_newest_three_measured_runs_are_pooled(named, store):
    for age, outcomes in enumerate(("pf", "pp", "ff", "pp", "pp")):
        store(f"run-{9 - age}.json", {"a": outcomes}, age)
    store("broken.json", {"a": "ee"}, -1)
    path = store("other.json", {"a": "p"})
    path.write_text("{}", encoding="utf-8")
    found, _ = read_baseline(named(path.parent))
    assert found.report.cases[0].values == (1.0, 0.0, 1.0, 1.0, 0.0, 0.0)
    assert found.source.endswith("and 2 before it")
    assert found.report.run.commit == "c0c0c0c0"


def test_cases_of_other_content_are_not_pooled(named, store):
    from tests.sample_reports import case

    store("new.json", [case("a", "p"), case("b", "p")])
    folder = store("old.json", [case("a", "f", fingerprint="older"), case("b", "f")], 1).parent
    found, _ = read_baseline(named(folder))
    assert [case.values for case in found.report.cases] == [(1.0,), (1.0, 0.0)]


def test_deterministic_runs_are_not_pooled(named, store):
    store("new.json", {"a": "p"}, deterministic=True)
    folder = store("old.json", {"a": "f"}, 1, deterministic=True).parent
    assert read_baseline(named(folder))[0].report.cases[0].values == (1.0,)


def test_an_empty_folder_is_told(named, tmp_path):
    with pytest.raises(InvalidSettings, match="holds no results document"):
        read_baseline(named(tmp_path))


def test_an_address_is_fetched(named, store, monkeypatch):
    path = store("base.json", {"a": "p"})
    monkeypatch.chdir(path.parent)

    class Handler(Quiet, SimpleHTTPRequestHandler):
        pass

    with serving(Handler) as address:
        assert read_baseline(named(f"{address}/base.json"))[0].report.cases[0].key == "a"
        with pytest.raises(WorldRefused, match="404"):
            read_baseline(named(f"{address}/absent.json"))
    with pytest.raises(WorldRefused, match="cannot be fetched"):
        read_baseline(named(f"{address}/base.json"))

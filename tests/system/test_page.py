"""The report in a real browser: what a reader does with it, and what a hostile suite cannot do."""

from __future__ import annotations

import json
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.cli import call
from runevals.records import Blame, BlamedCase, GateRules, Hunk, HunkCoverage, TextChange
from runevals.records.conclusion import SkillMatrix, SkillUse
from runevals.reports import history, html, results_document
from runevals.reports.history import PastRun
from runevals.verdict.against import against_target
from runevals.verdict.outcome import conclusion_of
from tests.conftest import chromium
from tests.reports.conclusions import agents, conclusion, regressions
from tests.reports.hostile import NASTY, broken_by
from tests.sample_reports import case, report
from tests.serving import Quiet, serving

pytestmark = pytest.mark.needs("chromium")

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent / "page"

SHOWN = [("worse", ""), ("worse", "#case=KB-007"), ("past", ""), ("several", ""), ("several", "#case=k08")]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser):
    """Opens a page → it; whatever it asks for beside itself, or throws, fails the test."""
    contexts, wrong = [], []

    def show(path, fragment="", **more):
        context = browser.new_context(viewport={"width": 1280, "height": 800}, **more)
        contexts.append(context)
        page = context.new_page()
        address = f"{path.as_uri()}{fragment}"
        page.on("pageerror", lambda error: wrong.append(f"threw {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"said {dialog.message}"), dialog.dismiss()))
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.on(
            "request",
            lambda request: (
                request.url.split("#")[0] != path.as_uri() and wrong.append(f"asked for {request.url}")
            ),
        )
        page.goto(address)
        page.set_default_timeout(10_000)
        page.wait_for_selector("h1:visible")
        return page

    yield show
    for context in contexts:
        context.close()
    assert not wrong


@pytest.fixture(scope="module")
def worse(tmp_path_factory):
    """The page of the example's worse variant."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        assert call(["run", "-q", "--config", "examples/support-agent/worse.yaml", "-o", str(path)]) == 1
    return path


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """The page of ten thousand cases."""
    path = tmp_path_factory.mktemp("page") / "big.html"
    base = {f"case-{n:05d}": "p" for n in range(10_000)}
    head = {key: "f" if n % 1000 == 999 else "p" for n, key in enumerate(base)}
    made = conclusion(report(head, deterministic=True), report(base, deterministic=True))
    path.write_text(html.render(made), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """The page of three targets."""
    path = tmp_path_factory.mktemp("page") / "several.html"
    keys = [f"k{number:02}" for number in range(40)]
    letters = {
        "mini": dict.fromkeys(keys, "ppp"),
        "nano": {**dict.fromkeys(keys, "ppp"), "k07": "ppf", "k08": "fff"},
        "pico": {**dict.fromkeys(keys, "ppp"), **dict.fromkeys(keys[::4], "fff")},
    }
    reports = {
        name: report([case(key, runs, category=f"c{int(key[1:]) % 4}") for key, runs in cases.items()])
        for name, cases in letters.items()
    }
    against = against_target(reports, "mini", margin=0.03, alpha=0.01)
    made = {
        name: conclusion_of(each, None, GateRules(), against=against.get(name)) for name, each in reports.items()
    }
    path.write_text(html.render_several(made, {}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    """The page of three runs, one of which regressed, another of which has no report."""
    folder = tmp_path_factory.mktemp("past")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        for number, config in enumerate(("runevals.yaml", "worse.yaml", "runevals.yaml")):
            outputs = [f"{folder}/{number}.json", *([f"{folder}/{number}.html"] if number < 2 else [])]
            words = [word for output in outputs for word in ("-o", output)]
            call(["run", "-q", "--config", f"examples/support-agent/{config}", *words])
        assert call(["history", str(folder), "-o", f"{folder}/history.html"]) == 0
    return folder / "history.html"


def keys(page):
    return page.locator("#rows a").all_inner_texts()


def test_the_first_screen_has_the_verdict_what_was_lost_and_what_to_do(opened, worse):
    page = opened(worse)
    assert (
        page.locator("#headline")
        .inner_text()
        .endswith("3 of 24 cases regressed: KB-007, KB-015, Basic after enterprise")
    )
    for shown in ("#sentences", "#top", "#causes .group", "#next"):
        box = page.locator(shown).bounding_box()
        assert box["y"] + box["height"] < 800, shown
    assert keys(page)[:3] == ["KB-007", "KB-015", "Basic after enterprise"]


def test_search_and_chips_leave_what_was_asked_for(opened, worse):
    page = opened(worse)
    page.keyboard.press("/")
    page.keyboard.type("water damage")  # a word of an answer
    page.wait_for_selector("#count:has-text(' of 24')")
    assert "KB-007" in keys(page)
    page.keyboard.press("Escape")
    page.fill("#search", "no such words anywhere")
    page.click("#reset")
    page.click(".chip.of-status:has-text('failed')")
    assert keys(page) == ["KB-007", "KB-015", "Basic after enterprise"]
    page.click("summary:has-text('Category')")
    page.click(".chip.of-category:has-text('conversation')")
    assert keys(page) == ["Basic after enterprise"]
    assert page.locator("#count").inner_text() == "1 of 24"


def test_the_address_has_what_is_shown_and_a_link_shows_it(opened, worse):
    page = opened(worse)
    page.click(".chip.of-status:has-text('failed')")
    page.fill("#search", "enterprise plan")
    page.select_option("#sort", "key")
    page.wait_for_selector("#count:has-text('1 of 24')")
    address = page.evaluate("location.hash")
    assert address == "#status=failed&search=enterprise+plan&sort=key"
    again = opened(worse, address)
    assert keys(again) == keys(page) == ["Basic after enterprise"]
    assert again.locator(".chip.of-status[aria-pressed=true]").inner_text().split() == ["✕", "failed", "1"]
    again.locator("#rows a").first.click()
    again.wait_for_selector("#case-page h1:visible")
    again.keyboard.press("Escape")
    again.wait_for_selector("#overview-page:visible")
    assert again.evaluate("location.hash") == address
    again.evaluate("location.hash = '#status=passed&category=safety'")
    again.wait_for_selector("#count:has-text('2 of 24')")
    assert again.input_value("#search") == ""


def test_the_numbers_on_chips_follow_the_search_and_the_other_filters(opened, worse):
    def numbers(page, group):
        chips = page.locator(f".chip.of-{group}").all_inner_texts()
        return {text.split()[-2]: int(text.split()[-1]) for text in chips}

    page = opened(worse)
    assert numbers(page, "status") == {"passed": 21, "failed": 3}
    page.evaluate("location.hash = '#category=conversation'")
    page.wait_for_selector("#count:has-text('2 of 24')")
    assert numbers(page, "status") == {"passed": 1, "failed": 1}
    page.fill("#search", "no such words anywhere")
    page.wait_for_selector("#none:visible")
    assert numbers(page, "status") == {"passed": 0, "failed": 0}


def wait_until(page, expression):
    """Asks from outside: the page's own rules forbid `wait_for_function`, which evaluates text in it."""
    for _ in range(600):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"not after 30 s: {expression}")


def test_a_note_on_a_case_stays_in_the_browser_and_is_exported(opened, worse):
    page = opened(worse, "#case=KB-007")
    page.fill(".own-note textarea", "the <b>source</b> changed")
    other = page.context.new_page()  # which sees what the browser has stored
    other.goto(worse.as_uri())
    wait_until(other, "Object.keys(localStorage).some(name => name.startsWith('runevals-notes'))")
    page.reload()
    page.wait_for_selector(".own-note textarea")
    assert page.input_value(".own-note textarea") == "the <b>source</b> changed"
    page.keyboard.press("Escape")
    page.wait_for_selector("#rows tr:has-text('KB-007') .badge:has-text('noted')")
    with page.expect_download() as found:
        page.click("button:has-text('Export 1 note')")
    notes = json.loads(found.value.path().read_text(encoding="utf-8"))["notes"]
    assert notes == [
        {
            "suite": "examples/support-agent/evals/evals.json",
            "case": "KB-007",
            "note": "the <b>source</b> changed",
        }
    ]


def test_the_page_of_several_targets_is_the_page_with_a_side_for_each(opened, several):
    page = opened(several)
    assert page.locator("#headline").inner_text().endswith("nano may be worse than mini")
    assert page.locator("#targets tbody tr").count() == 3
    titles = page.locator("#causes h2").all_inner_texts()
    assert titles == ["nano: Lost against mini 1", "pico: Lost against mini 10"]
    assert page.locator("#next .again").count() == 2
    page.click(".chip[data-name='status.nano']:has-text('failed')")
    page.click(".chip[data-name='status.pico']:has-text('failed')")
    assert keys(page) == ["k08"]
    assert page.evaluate("location.hash") == "#status.nano=failed&status.pico=failed"
    assert page.locator("#rows td.c-runs .count").all_inner_texts() == ["3/3", "0/3", "0/3"]
    assert page.locator("#rows td.c-runs .mark").all_inner_texts() == ["✓\npassed", "✕\nfailed", "✕\nfailed"]
    page.locator("#rows a").click()
    page.wait_for_selector("#case-page h1:has-text('k08')")
    titles = page.locator(".of-target h3:not(.checks h3)").all_inner_texts()
    assert [title.split("\n")[0] for title in titles] == ["mini", "nano", "pico"]
    assert page.locator(".of-target ins").count() == 2
    assert [check.split("\n")[-1] for check in page.locator(".of-target .check p").all_inner_texts()] == [
        "the expected text was found",
        "not found: 30 days",
        "not found: 30 days",
    ]
    page.evaluate("location.hash = '#case=k01'")
    page.wait_for_selector("#case-page h1:has-text('k01')")
    assert page.locator(".answer:has-text('Answers as mini does.')").count() == 2
    assert page.locator(".checks summary").all_inner_texts() == ["1 with the same result on every target"] * 3


def test_a_category_of_the_picture_filters_the_cases(opened, worse):
    page = opened(worse)
    page.click("#categories button:has-text('conversation')")
    assert page.locator("#count").inner_text() == "2 of 24"


def test_a_link_opens_a_case_with_both_answers(opened, worse):
    page = opened(worse, "#case=KB-007")
    assert "How long is the warranty?" in page.locator("#case-page h1").inner_text()
    assert page.locator("del").all_inner_texts() == ["Every device has a warranty of 24 months"]
    assert page.locator("ins").all_inner_texts() == ["The warranty does not cover water damage"]
    assert "not found: 24 months" in page.locator(".check.is-failed").inner_text()
    again = page.locator("#case-page .again code").inner_text()
    assert again.endswith("--filter=KB-007 --config=examples/support-agent/worse.yaml")


def test_the_keyboard_goes_everywhere(opened, worse):
    page = opened(worse)
    page.keyboard.press("r")
    page.wait_for_selector("#case-page h1:has-text('KB-007')")
    page.keyboard.press("r")
    page.wait_for_selector("#case-page h1:has-text('KB-015')")
    page.keyboard.press("k")
    page.wait_for_selector("#case-page h1:has-text('KB-007')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#overview-page:visible")
    assert page.locator("tr.active a").inner_text() == "KB-007"
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("#case-page h1:has-text('KB-015')")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    assert page.locator("#case-page").is_visible()


def test_cases_whose_keys_look_alike_are_opened_one_by_one(opened, tmp_path):
    alike = ["a b", "a  b", "k" * 600 + "1", "k" * 600 + "2"]
    path = tmp_path / "alike.html"
    cases = [case(key, "p", name=f"case {number}") for number, key in enumerate(alike)]
    path.write_text(html.render(conclusion(report(cases), report(cases))), encoding="utf-8")
    page = opened(path)
    page.locator("#rows a").nth(1).click()
    for number in (1, 2, 3):
        page.wait_for_selector(f"#case-page:has-text('case {number}')")
        assert (
            opened(path, page.evaluate("location.hash")).locator(f"#case-page:has-text('case {number}')").count()
        )
        page.keyboard.press("j")


def test_the_picture_names_and_opens_cases_without_a_mouse(opened, worse):
    page = opened(worse)
    page.locator(".strip[role=slider]").focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    told = page.locator(".strip[role=slider]").get_attribute("aria-valuetext")
    assert told == "KB-007 · How long is the warranty? · failed · regressed"
    page.keyboard.press("Enter")
    page.wait_for_selector("#case-page h1:has-text('KB-007')")


def test_the_picture_opens_the_case_under_the_pointer(opened, big):
    page = opened(big)
    box = page.locator("#strip svg").bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    assert page.locator("#tip").inner_text().startswith("case-00000 ")
    page.mouse.click(box["x"] + 3, box["y"] + 3)
    page.wait_for_selector("#case-page h1:has-text('case-00000')")


def test_the_theme_follows_the_system_until_it_is_chosen(opened, worse):
    def paper(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = opened(worse, color_scheme="light"), opened(worse, color_scheme="dark")
    assert paper(light) != paper(dark)
    chosen = paper(light)
    for _ in range(2):
        light.click("#theme")
    assert light.locator("#theme").get_attribute("aria-label") == "Theme: Dark"
    assert paper(light) == paper(dark) != chosen
    other = light.context.new_page()  # which sees what the browser has stored
    other.goto(worse.as_uri())
    wait_until(other, "localStorage.getItem('runevals-theme') === 'dark'")
    light.reload()
    assert paper(light) == paper(dark)


def test_of_ten_thousand_rows_only_those_in_sight_are_drawn(opened, big):
    page = opened(big)
    assert page.locator("#rows tr").count() < 100
    assert page.locator("#table").get_attribute("aria-rowcount") == "10001"
    page.evaluate("window.scrollTo({top: 1e9, behavior: 'instant'})")
    page.wait_for_selector("#rows a:has-text('case-09998')")
    assert page.locator("#rows tr").count() < 100
    page.keyboard.press("r")
    page.wait_for_selector("#case-page h1:has-text('case-00999')")


def test_search_results_stay_in_view_on_a_page_with_one_scroll_bar(opened, big):
    page = opened(big)
    page.evaluate("window.scrollTo({top: 200_000, behavior: 'instant'})")
    page.wait_for_selector("#rows a:has-text('case-04')")
    assert page.evaluate("document.getElementById('table').parentElement.scrollTop") == 0
    page.keyboard.press("/")
    page.keyboard.type("case-0777")
    page.wait_for_selector("#count:has-text('10 of 10000')")
    for shown in ("#search", "#rows a >> nth=0", "#rows a >> nth=9"):
        box = page.locator(shown).bounding_box()
        assert 0 <= box["y"] <= 780, shown


def test_what_changed_in_the_prompt_stands_above_the_cases_and_the_statistics_are_folded(opened, tmp_path):
    change = TextChange(path="prompts/<b>.md", diff="@@ -1 +1 @@\n-Name the days.\n+<b>Be short.</b>")
    path = tmp_path / "report.html"
    made = conclusion(report({"a": "ppp", "b": "pff"}), report({"a": "ppp", "b": "ppp"}))
    line = Hunk(path="prompts/<b>.md", first=1, last=1)
    lost = BlamedCase(suite="s", key="b", hunks=(line,), put_back=(line,))
    unnoticed = HunkCoverage(hunk=line, new=True, sure=True)
    blame = Blame(base="0" * 40, hunks=1, files=1, cases=(lost,), coverage=(unnoticed,))
    path.write_text(html.render(replace(made, prompt_changes=(change,), blame=blame)), encoding="utf-8")
    page = opened(path)
    assert page.locator("#blame li").inner_text().startswith("prompts/<b>.md:1 lost b (put back:")
    assert page.locator("#coverage li").inner_text() == "prompts/<b>.md:1 is new, and no case notices it"
    assert page.locator("#prompts .is-added").inner_text().strip() == "+<b>Be short.</b>"
    tops = [
        page.locator(part).bounding_box()["y"]
        for part in ("#verdict", "#causes", "#blame", "#next", "#picture", "#coverage", "#prompts", "#cases")
    ]
    assert tops == sorted(tops)
    assert not page.locator("#statistics .facts").is_visible()
    page.click("nav a:has-text('Statistics')")
    page.wait_for_selector("#statistics .facts:visible")
    page.locator("abbr:has-text('Runs passed')").focus()
    assert "at least half of its runs" in page.locator("#tip").inner_text()
    assert "evals/evals.json" in page.locator("#top").inner_text()


@pytest.mark.parametrize("width", [1280, 900, 390])
def test_rows_are_as_high_as_the_table_reckons(opened, tmp_path, width):
    """Where to draw is told by the height of a row: whatever stands in it must not stretch it."""
    long = {"name": "a very long name " * 20, "category": "c" * 200, "critical": True, "quarantined": True}
    head = [case("a", "pff"), case("k" * 300, "pff", **long), case("b", "ppp")]
    base = [case("a", "ppp"), case("k" * 300, "ppp", **long), case("b", "ppp")]
    path = tmp_path / "rows.html"
    path.write_text(html.render(conclusion(report(head), report(base))), encoding="utf-8")
    page = opened(path)
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate("document.getElementById('cases').scrollIntoView({behavior: 'instant'})")
    page.wait_for_selector("#rows tr:not(.spacer) >> nth=2")
    reckoned = page.evaluate(
        "parseFloat(getComputedStyle(document.getElementById('table')).getPropertyValue('--row'))"
    )
    heights = page.evaluate("[...document.querySelectorAll('#rows tr:not(.spacer)')].map(row => row.offsetHeight)")
    assert heights == [reckoned] * 3


def test_distributions_show_the_base_where_all_of_it_is_known(opened, tmp_path):
    document, whole, part = (tmp_path / name for name in ("results.json", "whole.html", "part.html"))
    document.write_text(results_document.write(regressions()), encoding="utf-8")
    whole.write_text(html.render(regressions()), encoding="utf-8")
    part.write_text(html.render(results_document.read_conclusion(document)), encoding="utf-8")
    for path, of_base in ((whole, 2), (part, 0)):  # a part of the base would pass for all of it
        page = opened(path, "#statistics")
        assert page.locator(".histogram .bar").count() == 8
        assert page.locator(".histogram .before").count() == of_base
    title = page.locator(".histogram title").first
    assert title.text_content() == "1–1.5: 7 cases"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_matrix_of_skills_marks_what_was_asked_for_and_what_is_confused_more(opened, tmp_path, scheme):
    uses = [("pdf", "pdf", 2, 1), ("pdf", "docx", 0, 1), ("docx", "docx", 1, 1), ("docx", "pdf", 1, 1)]
    matrix = SkillMatrix(
        cases=4,
        uses=tuple(
            SkillUse(asks_for=(skill,), loads=(loaded,), base_runs=base, head_runs=head)
            for skill, loaded, base, head in uses
        ),
    )
    path = tmp_path / "skills.html"
    path.write_text(html.render(replace(regressions(), skill_matrix=matrix)), encoding="utf-8")
    page = opened(path, color_scheme=scheme)
    page.click("nav a:has-text('Statistics')")
    page.wait_for_selector(".is-own:visible")
    assert page.locator(".is-own").all_inner_texts() == ["2/2 → 1/2", "1/2 → 1/2"]
    [confused] = page.locator(".is-doubtful").all()
    assert confused.inner_text() == "⚠ 0/2 → 1/2"
    colours = {
        page.locator(cell).first.evaluate("cell => getComputedStyle(cell).backgroundColor")
        for cell in (".is-own", ".is-doubtful", ".plain-table td:nth-child(2):not([class])")
    }
    assert len(colours) == 3


def test_runs_of_a_case_are_tabs(opened, tmp_path):
    path = tmp_path / "tabs.html"
    path.write_text(
        html.render(conclusion(report({"a": "pff", "b": "ppp"}), report({"a": "ppp", "b": "ppp"}))),
        encoding="utf-8",
    )
    page = opened(path, "#case=a")
    assert page.locator("[role=tab][aria-selected=true]").inner_text().startswith("Run 2")  # the first that failed
    assert page.locator(".check").get_attribute("class") == "check is-failed"
    page.locator("[role=tab][aria-selected=true]").press("ArrowLeft")
    assert page.locator(".check").get_attribute("class") == "check is-passed"


def test_the_steps_of_an_agent_are_a_timeline_of_both_sides(opened, tmp_path):
    path = tmp_path / "agent.html"
    path.write_text(html.render(agents(steps=500)), encoding="utf-8")
    page = opened(path, "#case=discount")
    heads = page.locator(".timeline .side-head").all_inner_texts()
    assert [head.split("\n")[:2] for head in heads[:2]] == [["Base", "502 steps"], ["This run", "501 steps"]]
    assert "tokens in 12\u202f345" in heads[0]
    assert "tokens in unknown" in heads[1]
    assert "cost unknown" in heads[1]
    assert "not permitted: WebFetch" in heads[1]
    page.click("button:has-text('Show 452 more steps')")
    assert page.locator(".steps > li").count() == 502
    assert page.locator(".step.of-base").inner_text().split("\n")[-2:] == ["only here", "3.2 s"]
    changed = page.locator(".step:has-text('other arguments')")
    changed.locator("summary").click()
    assert "<script>alert(1)</script>" in changed.locator("pre").first.inner_text()
    files = page.locator(".changed-files li").all_inner_texts()
    assert [line.split("\n") for line in files] == [
        ["changed", "prices.py", "+1", "−1"],
        ["added", "logo.png", "not text, 812 bytes, sha256 abababababab"],
    ]
    page.click("summary:has-text('Diff')")
    assert page.locator(".diff .is-added").inner_text().strip() == "+b"
    assert page.locator(".timeline >> text=No file changed.").is_visible()


def test_past_runs_are_a_picture_and_a_table_that_leads_to_their_reports(opened, past):
    page = opened(past)
    assert page.title().startswith("3 runs, ")
    pictures = page.locator("svg[role=img]")
    told = [picture.get_attribute("aria-label") for picture in pictures.all()]
    assert told[0].startswith("Pass rate, the oldest run first: 100.0 %, 87.5 %, 100.0 %")
    assert pictures.first.locator(".is-failed").count() == 1
    rows = page.locator("tbody tr").all_inner_texts()
    assert "3 of 24 cases regressed" in rows[1]
    links = [link.get_attribute("href") for link in page.locator("tbody a").all()]
    assert links == ["1.html", "0.html"]
    dot = pictures.first.locator(".is-failed").bounding_box()
    page.mouse.move(dot["x"] + 4, dot["y"] + 4)
    assert "87.5 %, 3 of 24 cases regressed" in page.locator("#tip").inner_text()


def test_the_history_has_a_theme_too(opened, past):
    page = opened(past, color_scheme="light")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper


@pytest.mark.parametrize("text", NASTY)
def test_hostile_text_in_the_history_runs_nothing(opened, tmp_path, text):
    path = tmp_path / "history.html"
    made = broken_by(text)
    run = PastRun(name=text, conclusion=made)
    path.write_bytes(history.render([run, run]).encode("utf-8", errors="backslashreplace"))
    page = opened(path)
    assert page.evaluate("document.querySelectorAll('img, iframe, script').length") == 2


@pytest.mark.parametrize("text", NASTY)
def test_hostile_text_runs_nothing_and_asks_for_nothing(opened, tmp_path, text):
    path = tmp_path / "hostile.html"
    path.write_bytes(html.render(broken_by(text)).encode("utf-8", errors="backslashreplace"))
    page = opened(path)
    assert page.evaluate("document.querySelectorAll('img, iframe, script').length") == 4
    page.locator("#rows a").first.click()
    page.wait_for_selector("#attempt .text")
    assert page.evaluate("document.querySelectorAll('img, iframe, script').length") == 4
    page.reload()
    page.wait_for_selector("#attempt .text")  # its own link leads back to it


@pytest.fixture
def outside():
    """The address of a server, and what it was asked for."""

    asked: list[str] = []

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

    with serving(Handler) as address:
        yield f"{address}/", asked


ATTEMPTS = (
    "document.body.innerHTML = '<b>x</b>'",
    "document.body.setAttribute('onclick', 'alert(1)')",
    "document.createElement('script').text = 'alert(1)'",
    "window.setTimeout('alert(1)')",
)


def test_the_policy_stops_what_would_get_in_anyway(browser, worse, outside):
    """A second wall: an element that somehow got in runs nothing and loads nothing."""
    from playwright.sync_api import Error

    address, asked = outside
    page = browser.new_page()
    page.goto(worse.as_uri())
    page.evaluate(
        """address => {
          for (const name of ["img", "iframe"])
            document.body.append(Object.assign(document.createElement(name), {src: address}));
          return fetch(address).catch(() => 0);
        }""",
        address,
    )
    page.wait_for_timeout(300)
    assert asked == []
    for attempt in ATTEMPTS:
        with pytest.raises(Error, match="Trusted"):
            page.evaluate(attempt)
    page.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(("name", "fragment"), SHOWN)
def test_nothing_is_wider_than_the_screen(opened, request, width, name, fragment):
    page = opened(request.getfixturevalue(name), fragment)
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_print_has_verdict_picture_and_regressions(opened, worse):
    page = opened(worse)
    page.emulate_media(media="print")
    for shown in ("#verdict", "#picture", "#regressions"):
        assert page.locator(shown).is_visible()
    assert not page.locator("#cases").is_visible()
    assert "KB-015" in page.locator("#regressions").inner_text()
    assert page.pdf().startswith(b"%PDF")


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """axe-core and Biome, installed from the lock file."""
    folder = tmp_path_factory.mktemp("tools")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCES / name, folder)
    npm = ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run(npm, cwd=folder, check=True, timeout=300)
    return folder / "node_modules"


@pytest.mark.needs("npm")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "fragment"), SHOWN)
def test_no_serious_fault_of_accessibility(opened, request, tools, scheme, name, fragment):
    page = opened(
        request.getfixturevalue(name), fragment, color_scheme=scheme, bypass_csp=True
    )  # axe is not of the page
    page.evaluate((tools / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    serious = [
        (fault["id"], fault["impact"], [node["html"][:200] for node in fault["nodes"]])
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical", "moderate")
    ]
    assert not serious


@pytest.mark.needs("npm")
def test_the_sources_of_the_page_are_linted_and_formatted(tools):
    biome = next(tools.glob("@biomejs/cli-*/biome"))
    biome.chmod(0o755)
    command = [biome, "check", "--error-on-warnings", "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def extreme(key, outcomes="pf", **more):
    """A case whose check and answer have such numbers."""
    plain = case(key, outcomes)
    checks = {name: more[name] for name in ("value", "scale", "threshold") if name in more}
    answers = {name: more[name] for name in ("cost_usd", "latency_s") if name in more}
    attempts = []
    for attempt in plain.attempts:
        turn = attempt.turns[0]
        turn = replace(turn, results=(replace(turn.results[0], **checks),), **answers)
        attempts.append(replace(attempt, turns=(turn,)))
    return replace(plain, attempts=tuple(attempts), composite=more.get("composite", plain.composite))


@pytest.mark.parametrize(
    "numbers",
    [
        {"value": 1.0, "scale": (1.0, 1.0), "threshold": 1.0},
        {"value": 1e100, "scale": (-1e100, 1e100), "threshold": 1e100},
        {"value": 1e308, "scale": (-1e308, 1e308), "threshold": 0.0},
        {"cost_usd": 1e100, "latency_s": 1e100, "composite": 1e100},
    ],
    ids=["no scale", "large", "beyond", "answers"],
)
def test_extreme_numbers_are_drawn_within_the_page(opened, tmp_path, numbers):
    head, base = ([extreme(f"k{n}", outcomes, **numbers) for n in range(12)] for outcomes in ("ff", "pp"))
    path = tmp_path / "report.html"
    path.write_text(html.render(conclusion(report(head), report(base))), encoding="utf-8")
    page = opened(path, "#case=k1")
    page.wait_for_selector("#case-page h1:has-text('k1')")
    drawn = page.locator("svg *").evaluate_all("all => all.map((one) => one.outerHTML).join()")
    assert not any(word in drawn for word in ("NaN", "Infinity", "e+"))
    assert not any(word in page.locator("body").inner_text() for word in ("NaN", "Infinity"))

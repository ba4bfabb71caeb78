import pytest

from runevals.evaluators.judged.groundedness import Groundedness
from runevals.records import Citation, ToolCall
from tests.evaluators.subjects import answering

CITED = (Citation(text="Paris is the capital."),)
CALLED = (ToolCall(name="search", output="Paris, 2 M people"),)


@pytest.mark.parametrize(
    ("subject", "sources"),
    [
        pytest.param(
            answering("Paris", context="France: Paris", citations=CITED), "France: Paris", id="the context"
        ),
        pytest.param(
            answering("Paris", citations=CITED, tool_calls=CALLED),
            "Paris is the capital.\n\nParis, 2 M people",
            id="else what the target reports",
        ),
        pytest.param(answering("Paris", citations=()), "(none)", id="a target that cited nothing"),
    ],
)
def test_the_judge_sees_the_sources(subject, sources):
    assert Groundedness().question(subject).parts == (("SOURCES", sources), ("RESPONSE", "Paris"))


def test_without_any_evidence_the_check_cannot_be_measured():
    assert Groundedness().question(answering("Paris")).code == "evidence_missing"

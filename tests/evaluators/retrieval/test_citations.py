import pytest

from runevals.evaluators.retrieval.citations import Citations
from runevals.records import Citation
from tests.evaluators.subjects import answering

OAI = "Yes.\ue200cite\ue202turn0search1\ue202turn0search2\ue201 And \ue200cite\ue202turn0search1\ue201."


@pytest.mark.parametrize(
    ("options", "text", "count"),
    [
        pytest.param({}, OAI, 2, id="distinct sources of the newer markers"),
        pytest.param({"count": "occurrences"}, OAI, 3, id="all occurrences"),
        pytest.param({}, "See [1] and [^2^].", 0, id="the default format sees no brackets"),
        pytest.param({"citation_format": "bracket"}, "See [1], [^2^] and [1].", 2, id="brackets"),
        pytest.param(
            {"citation_format": "bracket"}, "See [1](https://example.com).", 0, id="a link is no bracket"
        ),
        pytest.param(
            {"citation_format": "markdown"}, "See [1](https://e.com/a) [2](https://e.com/b).", 2, id="links"
        ),
        pytest.param({"citation_format": "mixed"}, OAI + " [7]", 3, id="mixed"),
        pytest.param({}, "", 0, id="no text"),
    ],
)
def test_citations(options, text, count):
    assert Citations(**options).check(answering(text)).score == count


def test_reported_citations_count_if_the_text_has_no_markers():
    reported = (Citation(text="a", source="x"), Citation(text="b", source="x"), Citation(text="c"))
    assert Citations().check(answering("Yes.", citations=reported)).score == 2
    assert Citations(citation_format="bracket").check(answering("Yes [1].", citations=reported)).score == 1

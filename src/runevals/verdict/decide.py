"""The decision as a pure function, for those who bring their own reports."""

from __future__ import annotations

from runevals.records import Conclusion, RunReport
from runevals.run import measurement as pipeline
from runevals.settings.resolve import Settings, defaults


def decide(base: RunReport | None, head: RunReport, settings: Settings | None = None) -> Conclusion:
    """Whether `head` is worse than `base`: comparison, gates and verdict, without files, network or clock.

    Takes the reports of two runs, as `runevals.reports.results_document.read(path)` gives them; `base` None is a
    run that has nothing to compare with. `settings` are those of `runevals.settings.resolve.resolve`, the defaults
    where there are none. A red stands on the exact p: nobody is here to run the base again. The same reports give
    the same conclusion, bit for bit.
    """
    baseline = None if base is None else pipeline.Baseline(report=base, source="the given base")
    return pipeline.decide(head, baseline, settings or defaults())

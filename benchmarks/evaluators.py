"""CPU time of deterministic checks: `python benchmarks/evaluators.py [CASES]` evaluates three a case."""

from __future__ import annotations

import sys
import time

from runevals.evaluators import catalogue
from runevals.evaluators.kinds import Check, Subject
from runevals.records import EvaluatorSpec, Response

CHECKS = (
    EvaluatorSpec(name="contains", options={"value": "thirty days"}),
    EvaluatorSpec(name="max_length", options={"value": 400}),
    EvaluatorSpec(name="rouge_n_min", options={"reference": "Refunds are possible within thirty days"}),
)


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    built = [catalogue.build(spec).evaluator for spec in CHECKS]
    subjects = [
        Subject(prompt="?", response=Response(text=f"Case {n}: a refund is possible within thirty days of it."))
        for n in range(cases)
    ]
    began = time.process_time()
    for subject in subjects:
        for evaluator in built:
            assert isinstance(evaluator, Check)
            evaluator.check(subject)
    used = time.process_time() - began
    print(f"{cases} cases × {len(built)} checks: {used:.2f} s CPU")


if __name__ == "__main__":
    main()

"""The nouns of runevals: frozen records that every stage takes and returns."""

from runevals.records.comparison import (
    Change,
    ChangeKind,
    ChangeLabel,
    Comparison,
    ComparisonVerdict,
    Verification,
    Weakening,
)
from runevals.records.conclusion import Conclusion, FinalVerdict, GateResult, GateState
from runevals.records.gate import Gate, Scope
from runevals.records.problem import ERROR_CODES, Location, Problem, SuiteProblem
from runevals.records.report import (
    AttemptReport,
    CaseReport,
    CheckReport,
    Layers,
    ModelIdentity,
    Provenance,
    RunInfo,
    RunReport,
    SuiteInfo,
    Totals,
    TurnReport,
)
from runevals.records.suite import Case, EvaluatorSpec, Suite, Turn
from runevals.records.trace import Citation, Conversation, Message, Response, ToolCall, Trace, TurnTrace
from runevals.records.verdict import Layer, Outcome, Scale, Verdict

__all__ = [
    "ERROR_CODES",
    "AttemptReport",
    "Case",
    "CaseReport",
    "Change",
    "ChangeKind",
    "ChangeLabel",
    "CheckReport",
    "Citation",
    "Comparison",
    "ComparisonVerdict",
    "Conclusion",
    "Conversation",
    "EvaluatorSpec",
    "FinalVerdict",
    "Gate",
    "GateResult",
    "GateState",
    "Layer",
    "Layers",
    "Location",
    "Message",
    "ModelIdentity",
    "Outcome",
    "Problem",
    "Provenance",
    "Response",
    "RunInfo",
    "RunReport",
    "Scale",
    "Scope",
    "Suite",
    "SuiteInfo",
    "SuiteProblem",
    "ToolCall",
    "Totals",
    "Trace",
    "Turn",
    "TurnReport",
    "TurnTrace",
    "Verdict",
    "Verification",
    "Weakening",
]

"""A target whose program exports its trace to us: the trace is evidence of what it did."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from msgspec.structs import replace

from runevals.models.chat.prices import Prices
from runevals.programs.loopback import LOOPBACK
from runevals.programs.otlp_receiver import TOKEN_HEADER, OtlpReceiver, Recording
from runevals.programs.otlp_spans import require_library
from runevals.records import Conversation, ModelIdentity, Response
from runevals.records.errors import InvalidSettings
from runevals.targets import Target
from runevals.targets.environment import without_proxy
from runevals.targets.genai_spans import evidence
from runevals.targets.program_report import failed


class TracedTarget:
    """The target, with what it does not report itself taken from the spans of each answer."""

    def __init__(self, target: Target, prices: Prices, environment: Mapping[str, str]) -> None:
        """Raises InvalidSettings if the library is missing, or nothing can listen."""
        try:
            require_library()
            self._receiver = OtlpReceiver()
        except ImportError:
            raise InvalidSettings("target.trace needs a library: pip install 'runevals[otlp]'") from None
        except OSError as error:
            raise InvalidSettings(f"target.trace: cannot listen on {LOOPBACK}: {error.strerror}") from None
        self._target = target
        self._prices = prices
        self._direct = without_proxy(environment)

    def answer(self, conversation: Conversation) -> Response:
        """The answer, with the evidence of its trace. Raises TargetRefused."""
        with self._receiver.recording() as recording:
            response = self._target.answer(replace(conversation, env=self._variables(recording)))
        if response.problem is not None:
            return response
        if recording.problem is not None:
            return failed("target_unparseable", f"the trace of the program {recording.problem}")
        return self._with_evidence(response, recording)

    def _variables(self, recording: Recording) -> dict[str, str]:
        """What exporters of OpenTelemetry read; the variables for traces have precedence over the general ones."""
        header = f"{TOKEN_HEADER}={recording.token}"
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": self._receiver.address,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_HEADERS": header,
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{self._receiver.address}/v1/traces",
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS": header,
            "TRACEPARENT": f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01",
            **self._direct,
        }

    def _with_evidence(self, response: Response, recording: Recording) -> Response:
        try:
            says = evidence(recording.spans, self._prices)
        except (ValueError, ArithmeticError) as error:
            return failed("target_unparseable", f"the trace of the program cannot be used: {error}")
        return replace(response, **{name: says[name] for name in says if getattr(response, name) is None})

    def identity(self) -> ModelIdentity:
        """The target's."""
        identity = self._target.identity()
        return replace(identity, detail={**identity.detail, "trace": "otlp"})

    def close(self) -> None:
        """Ends the target, then the receiver."""
        self._target.close()
        self._receiver.close()

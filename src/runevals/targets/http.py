"""Any JSON endpoint: the body comes from a template, the answer is picked from the reply."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping

from runevals.lib.parsing.json_forms import text_or_json
from runevals.lib.parsing.json_path import Pick
from runevals.lib.parsing.shapes import text_in
from runevals.lib.parsing.strict_json import refuse_constant
from runevals.models.http.endpoint import DEFAULT_PICK
from runevals.models.http.throttle import CallFailed
from runevals.records import Conversation, ModelIdentity, Response
from runevals.records.traits import Traits
from runevals.targets import Target
from runevals.targets.chat_settings import host_of, unanswered
from runevals.targets.command import request_of
from runevals.targets.json_endpoint import JsonEndpoint, excerpt
from runevals.targets.kind import Making
from runevals.targets.program_report import citations, count, delivery, failed, number, shallow, tool_calls
from runevals.targets.web import WebTargetSettings


class HttpTarget:
    """Sends one request per turn; the endpoint's conversation id is passed from turn to turn."""

    def __init__(self, settings: HttpSettings, making: Making) -> None:
        """Raises InvalidSettings for a header without its variable."""
        headers = settings.web.header_values(making.environment)
        throttle = making.throttles[host_of(settings.web.url)]
        self._settings = settings
        self._endpoint = JsonEndpoint(settings.web, headers, throttle, timeout_s=settings.timeout_s)
        self._pick = settings.web.pick or Pick(DEFAULT_PICK, "target.pick")
        self._prices, self._threads = making.prices, making.conversations
        self._models: set[str] = set()
        self._lock = threading.Lock()

    def answer(self, conversation: Conversation) -> Response:
        """What is picked from the reply; what cannot be read of it is `target_unparseable`."""
        values = {
            "model": self._settings.model,
            "system": self._settings.system_prompt,
            **request_of(conversation),
            "conversation_id": self._threads.id_of(conversation),
        }
        try:
            content, latency_s = self._endpoint.ask(values)
        except CallFailed as error:
            return unanswered(error)
        try:
            reply = json.loads(content, parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            return failed("target_unparseable", f"the reply is not JSON; it begins: {excerpt(content)}")
        try:
            fields = self._pick.values_in(reply)
            if "answer" not in fields:
                paths = " or ".join(self._pick.paths_by_field.get("answer", ()))
                message = f"there is no answer at {paths}; the reply begins: {excerpt(content)}"
                return failed("target_unparseable", message)
            response = self._response(fields, latency_s)
        except (ValueError, RecursionError) as problem:
            return failed("target_unparseable", f"{problem}; the reply begins: {excerpt(content)}")
        self._threads.keep(conversation, fields.get("conversation_id"))
        return response

    def _response(self, fields: Mapping[str, object], latency_s: float) -> Response:
        """Raises ValueError for a field that is not what it must be."""
        answer, model = shallow(fields["answer"], "the answer"), text_in(fields.get("model"))
        with self._lock:
            self._models.update({model} - {""})
        priced = model or self._settings.model
        spent, received = count(fields, "input_tokens"), count(fields, "output_tokens")
        cost = number(fields, "cost_usd")
        return Response(
            text=text_or_json(answer),
            value=None if isinstance(answer, str) else answer,
            tool_calls=tool_calls(fields.get("tool_calls")),
            citations=citations(fields.get("citations")),
            input_tokens=spent,
            output_tokens=received,
            cost_usd=self._prices.cost_usd(priced, spent, received) if cost is None else cost,
            turns=count(fields, "turns"),
            latency_s=latency_s,
            model=model or None,
            delivery=delivery(fields),
        )

    def identity(self) -> ModelIdentity:
        """The endpoint, without keys, and a fingerprint of the request template and the picked paths."""
        web = self._settings.web
        request = json.dumps([web.body, dict(self._pick.paths_by_field)], sort_keys=True)
        return ModelIdentity(
            type="http",
            model=self._settings.model,
            reported=tuple(sorted(self._models)),
            deterministic=self._settings.deterministic,
            detail={
                "url": web.display_url,
                "method": web.method,
                "request": hashlib.sha256(request.encode()).hexdigest(),
            },
        )

    def close(self) -> None:
        """Ends the connections."""
        self._endpoint.close()


class HttpSettings(WebTargetSettings, frozen=True, kw_only=True):
    """An endpoint that takes and gives JSON."""

    has_template = True
    one_message = "target.body has no {{messages}}"
    traits = Traits(is_paid=True)

    def build(self, making: Making) -> Target:
        """Raises InvalidSettings for a header without its variable."""
        return HttpTarget(self, making)

"""Any JSON endpoint: the body comes from a template, the answer is picked from the reply."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping

from runevals.lib.parsing.json_path import Pick
from runevals.lib.parsing.json_template import placeholders
from runevals.lib.parsing.strict_json import refuse_constant
from runevals.models.chat.prices import Prices
from runevals.models.chat.settings import host_of
from runevals.models.http.endpoint import DEFAULT_PICK
from runevals.models.http.throttle import CallFailed
from runevals.records import Conversation, ModelIdentity, Response
from runevals.records.errors import TargetRefused
from runevals.records.traits import Traits
from runevals.targets import Target
from runevals.targets.command import request_of
from runevals.targets.conversation_ids import ConversationIds
from runevals.targets.json_endpoint import JsonEndpoint, excerpt
from runevals.targets.kind import Making
from runevals.targets.program_report import citations, count, delivery, failed, number, shallow, tool_calls
from runevals.targets.web import WebTargetSettings


class HttpTarget:
    """Sends one request per turn; the endpoint's conversation id is passed from turn to turn."""

    def __init__(
        self,
        endpoint: JsonEndpoint,
        threads: ConversationIds,
        *,
        deterministic: bool = False,
        request: Mapping[str, object],
        prices: Prices = Prices(),  # noqa: B008 - a frozen record
    ) -> None:
        """`request` has the template values beside the conversation."""
        self._endpoint = endpoint
        self._pick = endpoint.web.pick or Pick(DEFAULT_PICK, "target.pick")
        self._deterministic = deterministic
        self._request = dict(request)
        self._prices = prices
        self._threads = threads
        self._models: set[str] = set()
        self._lock = threading.Lock()

    def answer(self, conversation: Conversation) -> Response:
        """What is picked from the reply; what cannot be read of it is `target_unparseable`."""
        values = {
            **self._request,
            **request_of(conversation),
            "conversation_id": self._threads.id_of(conversation),
        }
        try:
            content, latency_s = self._endpoint.ask(values)
        except CallFailed as error:
            if error.refused:
                raise TargetRefused(f"the target refuses every call: {error}") from error
            return failed(f"target_{error.kind}", str(error))
        try:
            reply = json.loads(content, parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            return failed("target_unparseable", f"the reply is not JSON; it begins: {excerpt(content)}")
        try:
            fields = self._pick.values_in(reply)
            if "answer" not in fields:
                return failed("target_unparseable", self._no_answer(content))
            response = self._response(fields, latency_s)
        except (ValueError, RecursionError) as problem:
            return failed("target_unparseable", f"{problem}; the reply begins: {excerpt(content)}")
        self._threads.keep(conversation, fields.get("conversation_id"))
        return response

    def _response(self, fields: Mapping[str, object], latency_s: float) -> Response:
        """Raises ValueError for a field that is not what it must be."""
        answer, model = shallow(fields["answer"], "the answer"), fields.get("model")
        if isinstance(model, str):
            with self._lock:
                self._models.add(model)
        requested = self._request.get("model")
        priced = model if isinstance(model, str) else requested if isinstance(requested, str) else None
        spent, received = count(fields, "input_tokens"), count(fields, "output_tokens")
        cost = number(fields, "cost_usd")
        return Response(
            text=answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False),
            value=None if isinstance(answer, str) else answer,
            tool_calls=tool_calls(fields.get("tool_calls")),
            citations=citations(fields.get("citations")),
            input_tokens=spent,
            output_tokens=received,
            cost_usd=self._prices.cost_usd(priced, spent, received) if cost is None else cost,
            turns=count(fields, "turns"),
            latency_s=latency_s,
            model=model if isinstance(model, str) else None,
            delivery=delivery(fields),
        )

    def _no_answer(self, content: bytes) -> str:
        paths = " or ".join(self._pick.paths_by_field.get("answer", ()))
        return f"there is no answer at {paths}; the reply begins: {excerpt(content)}"

    def identity(self) -> ModelIdentity:
        """The endpoint, without keys, and a fingerprint of the request template and the picked paths."""
        web = self._endpoint.web
        request = json.dumps([web.body, dict(self._pick.paths_by_field)], sort_keys=True)
        model = self._request.get("model")
        return ModelIdentity(
            type="http",
            model=None if model is None else str(model),
            reported=tuple(sorted(self._models)),
            deterministic=self._deterministic,
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
    traits = Traits(is_paid=True)

    @property
    def is_priced(self) -> bool:
        """Its replies may name model and tokens."""
        return True

    @property
    def takes_one_message(self) -> str | None:
        """Its requests have no place for more."""
        names = (*placeholders(self.web.url), *placeholders(self.web.body))
        return None if "messages" in names else "target.body has no {{messages}}"

    def build(self, making: Making) -> Target:
        """Raises InvalidSettings for a header without its variable."""
        headers = self.web.header_values(making.environment)
        throttle = making.throttles[host_of(self.web.url)]
        return HttpTarget(
            JsonEndpoint(self.web, headers, throttle, timeout_s=self.timeout_s),
            making.conversations,
            deterministic=self.deterministic,
            request={"model": self.model, "system": self.system_prompt},
            prices=making.prices,
        )


KIND = HttpSettings

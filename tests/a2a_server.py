"""A real Agent2Agent server on loopback, made with the official SDK; each test scripts its agent."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class A2AServer:
    """`requests` are (method, path, headers) in order; `turns` what the agent saw: (text, context id, task id)."""

    url: str
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    turns: list[tuple[str, str, str]] = field(default_factory=list)


def _agent(served, act):
    from a2a.server.agent_execution import AgentExecutor
    from a2a.server.tasks import TaskUpdater

    class Agent(AgentExecutor):
        async def execute(self, context, event_queue):
            served.turns.append((context.get_user_input(), context.context_id, context.task_id))
            updater = TaskUpdater(event_queue, context.task_id, context.context_id)
            await act(context, event_queue, updater)

        async def cancel(self, context, event_queue):
            raise NotImplementedError

    return Agent()


@contextmanager
def a2a_server(act, *, binding="JSONRPC", version="1.0", leads_to=None, before=lambda number, path: None):
    """`act(context, event_queue, updater)` is the agent; `before` may answer a request in its place, with
    (status, headers); `leads_to` is the origin that the card names.
    """
    # A third of a second, which only the workers with these tests pay.
    import uvicorn
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
    from a2a.server.tasks import InMemoryTaskStore
    from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse

    listening = socket.create_server(("127.0.0.1", 0))
    served = A2AServer(f"http://127.0.0.1:{listening.getsockname()[1]}")
    interface = AgentInterface(
        protocol_binding=binding, protocol_version=version, url=f"{leads_to or served.url}/rpc"
    )
    card = AgentCard(
        name="Tester",
        description="An agent for tests.",
        version="7.1",
        capabilities=AgentCapabilities(streaming=False),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="s", name="s", description="s", tags=["s"])],
        supported_interfaces=[interface],
    )
    handler = DefaultRequestHandler(
        agent_executor=_agent(served, act), task_store=InMemoryTaskStore(), agent_card=card
    )
    rpc = (
        create_rest_routes(handler, path_prefix="/rpc")
        if binding == "HTTP+JSON"
        else create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True)
    )
    app = Starlette(routes=[*create_agent_card_routes(card), *rpc])

    async def noted(scope, receive, send):
        if scope["type"] == "http":
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            number = len(served.requests)
            served.requests.append((scope["method"], scope["path"], headers))
            told = before(number, scope["path"])
            if told is not None:
                status, more = told
                await JSONResponse({"detail": "no"}, status, more)(scope, receive, send)
                return
        await app(scope, receive, send)

    config = uvicorn.Config(noted, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
        yield served
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join()
        listening.close()

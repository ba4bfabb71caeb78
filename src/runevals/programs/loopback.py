"""An HTTP server of ours on loopback, for programs that were given a secret."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Awaitable, Callable

LOOPBACK = "127.0.0.1"
MOST_CONNECTIONS = 128


class LoopbackServer:
    """Answers on a free port until it is closed."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        """`app` speaks ASGI. Raises OSError, and ImportError without the library."""
        import uvicorn

        logging.getLogger("uvicorn").addHandler(logging.NullHandler())  # otherwise it would write to our stderr
        self._port = socket.create_server((LOOPBACK, 0))
        self.address = f"http://{LOOPBACK}:{self._port.getsockname()[1]}"
        config = uvicorn.Config(app, interface="asgi3", log_config=None, limit_concurrency=MOST_CONNECTIONS)
        config.timeout_graceful_shutdown = 1
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._port],), daemon=True, name="loopback"
        )
        self._thread.start()

    def close(self) -> None:
        """Frees the port."""
        self._server.should_exit = True
        self._thread.join()
        self._port.close()

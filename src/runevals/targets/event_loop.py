"""Asynchronous work, run for threads that wait for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from runevals.models.http.throttle import CallFailed

T = TypeVar("T")


class LoopThread:
    """An event loop in a thread; other threads wait for what they have run in it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="a2a")
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`. Raises what it raises, CallFailed if the loop is closed."""
        with self._lock:
            if self._closed:
                work.close()
                raise CallFailed("failed", "the run has ended")
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise CallFailed("failed", "the run has ended") from None

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Cancels running tasks and runs `last`."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._cancel_tasks(last), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _cancel_tasks(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await last()

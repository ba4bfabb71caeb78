"""The API of each test's own GitHub."""

from __future__ import annotations

import pytest

from runevals.github.api import Api
from runevals.lib.http.throttle import Throttle
from tests.github.emulator import TOKEN


@pytest.fixture
def api(hub):
    return Api(hub.url, TOKEN, Throttle(max_retry_s=5, first_delay_s=0.01))

import pytest

from runevals.lib.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox():
    with Sandbox(workers=1) as running:
        yield running

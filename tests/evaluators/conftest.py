import pytest

from runevals.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox():
    with Sandbox(workers=1) as running:
        yield running

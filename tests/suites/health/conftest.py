"""What tests of hints share."""

from __future__ import annotations

import pytest


@pytest.fixture
def health(project, runevals):
    """Writes a suite and asks for its health → the findings' lines; reading it gives this warning."""

    def ask(content, *arguments, name="eval-samples.json", warning=""):
        project.write(name, content)
        code, out, err = runevals("validate", name, "--health", *arguments)
        assert code == 0
        assert warning in err if warning else err == ""
        *_, last = lines = out.splitlines()
        found = [line for line in lines if not line.startswith("✓")][:-1]
        assert (
            last
            == f"health: {len(found)} finding{'' if len(found) == 1 else 's'}; they do not affect the exit code"
        )
        return found

    return ask

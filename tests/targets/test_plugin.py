"""The targets of installed packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.records.errors import InvalidSettings
from runevals.targets.plugin import PluginSettings, plugin_target
from runevals.targets.reach import Reach, Written


def test_a_plugin_that_is_not_installed_is_named():
    with pytest.raises(InvalidSettings, match="there is no target plugin 'none-of-this-name'"):
        plugin_target("none-of-this-name", {}, base=Path(), timeout_s=1.0)


def test_its_options_are_part_of_what_it_reaches():
    written = Written({"type": "plugin", "plugin": "p", "options": {"b": 1, "a": 2}}, {}, lambda _: {})
    for name in ("plugin", "options"):
        assert [*PluginSettings.reaches[name](written)] == [Reach("plugin", "p", "", '{"a": 2, "b": 1}')]

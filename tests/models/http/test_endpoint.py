"""What an endpoint is sent, and what of it may be shown."""

from __future__ import annotations

import pytest

from runevals.models.http.endpoint import Header, WebSettings
from runevals.records.errors import InvalidSettings

BEARER = {"Authorization": Header(text="Bearer ", env="AGENT_KEY"), "X-Team": Header(text="support")}


def test_a_header_is_its_text_and_the_value_of_its_variable():
    web = WebSettings(url="https://agent.example/chat", headers=BEARER)
    assert web.header_values({"AGENT_KEY": "k-1"}) == {"Authorization": "Bearer k-1", "X-Team": "support"}
    assert web.key_names == ("AGENT_KEY",)


@pytest.mark.parametrize("value", ["", "two\r\nlines: x", "a\0b"])
def test_an_invalid_header_value_is_refused_with_the_name_of_its_variable(value):
    with pytest.raises(InvalidSettings, match="AGENT_KEY"):
        WebSettings(url="https://agent.example", headers=BEARER).header_values({"AGENT_KEY": value})


def test_the_display_form_of_an_address_contains_no_secret():
    web = WebSettings(url="https://user:secret@agent.example:8443/chat?token=secret")
    assert (web.display_url, web.origin) == ("https://agent.example:8443/chat", "https://agent.example:8443")

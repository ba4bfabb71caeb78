"""A secret that an answer brings back is written nowhere, whatever form it has there."""

from __future__ import annotations

import base64
import codecs
import html
import json
import zlib
from unicodedata import normalize
from urllib.parse import quote, quote_plus

import pytest

from runevals.lib.text.secrets import redactor
from tests.chat_server import Reply, chat_server
from tests.sample_suites import SUITE

SECRETS = {
    "plain": "sk-key-of-the-target",
    "with signs": "a1/b2+c3=d4&e5<f6>\"g7'h8 i9~",
    "of an app": "ghs_16C7e42F292c6912E7710c838347Ae178B4a",
    "with zeros": "7x00ux0u7f3a00c1b2",
    "with umlauts": "pässwörd-1234-Geheim",
    "of ideographs": "密码很安全的密码一二三",
}
BASE64 = base64.b64encode
ASPNET = {ord(sign): f"\\u{ord(sign):04X}" for sign in "+&<>'\""}
MUSTACHE = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "/": "&#x2F;", "=": "&#x3D;"}


def wrapped(text, width=16, with_="\n"):
    return with_.join(text[at : at + width] for at in range(0, len(text), width))


FORMS = {
    "as it is": str,
    "of a path": quote,
    "of a query": quote_plus,
    "percent, all": lambda secret: "".join(f"%{byte:02X}" for byte in secret.encode()),
    "percent, lower case": lambda secret: quote(secret, safe="").replace("%2F", "%2f").lower(),
    "percent, twice": lambda secret: quote(quote(secret, safe=""), safe=""),
    "html": html.escape,
    "html of a template": lambda secret: "".join(MUSTACHE.get(sign, sign) for sign in secret),
    "html, decimal": lambda secret: "".join(f"&#{ord(sign)};" for sign in secret),
    "html, hexadecimal": lambda secret: "".join(f"&#x{ord(sign):x};" for sign in secret),
    "json": json.dumps,
    "json with escaped slashes": lambda secret: json.dumps(secret).replace("/", "\\/"),
    "json for a page": lambda secret: json.dumps(secret).translate(ASPNET),
    "json, all escaped": lambda secret: "".join(f"\\u{ord(sign):04x}" for sign in secret),
    "json in json": lambda secret: json.dumps(json.dumps(secret).replace("/", "\\/")),
    "hexadecimal": lambda secret: secret.encode().hex(),
    "hexadecimal, upper case": lambda secret: secret.encode().hex().upper(),
    "hexadecimal with colons": lambda secret: secret.encode().hex(":"),
    "hexadecimal of C": lambda secret: "".join(f"\\x{byte:02x}" for byte in secret.encode()),
    "hexadecimal of a list": lambda secret: ", ".join(f"0x{byte:02x}" for byte in secret.encode()),
    "decimal": lambda secret: str(list(secret.encode())),
    "base64": lambda secret: BASE64(secret.encode()).decode(),
    "base64 behind one byte": lambda secret: BASE64(b":" + secret.encode()).decode(),
    "base64 behind two bytes": lambda secret: BASE64(b"x:" + secret.encode()).decode(),
    "base64 of checkout": lambda secret: BASE64(b"x-access-token:" + secret.encode()).decode(),
    "base64 between others": lambda secret: BASE64(b"a=" + secret.encode() + b"&b=1").decode(),
    "base64 for addresses": lambda secret: base64.urlsafe_b64encode(b"\xff" + secret.encode()).decode(),
    "base64 in lines": lambda secret: wrapped(BASE64(secret.encode()).decode()),
    "base64 in lines of json": lambda secret: json.dumps(wrapped(BASE64(secret.encode()).decode())),
    "base64 in an address": lambda secret: quote(BASE64(secret.encode()).decode(), safe=""),
    "in lines": wrapped,
    "json, its first letter escaped": lambda secret: f"\\u{ord(secret[0]):04x}{secret[1:]}",
    "html, its last letter escaped": lambda secret: f"{secret[:-1]}&#{ord(secret[-1])};",
    "html, by names": lambda secret: secret.replace("-", "&hyphen;").replace("_", "&lowbar;"),
    "bytes of Python": lambda secret: repr(secret.encode()),
    "in pieces of Unicode": lambda secret: normalize("NFD", secret),
    "with blanks": " ".join,
    "with hyphens": "-".join,
    "with dots": "...".join,
    "in quotes": '" + "'.join,
    "in quotes of json": lambda secret: json.dumps('", "'.join(secret)),
    "with characters of no width": "\u200b".join,
    "with soft hyphens": "\u00ad".join,
    "in upper case": str.upper,
    "reversed": lambda secret: secret[::-1],
    "hexadecimal in fours": lambda secret: secret.encode().hex(" ", 2),
    "hexadecimal in eights": lambda secret: secret.encode().hex(" ", 4),
    "hexadecimal in lines": lambda secret: wrapped(secret.encode().hex(), 32),
    "hexadecimal of UTF-16": lambda secret: secret.encode("utf-16-be").hex(),
    "numbers of characters": lambda secret: " ".join(f"U+{ord(sign):04X}" for sign in secret),
    "octal": lambda secret: " ".join(f"{byte:03o}" for byte in secret.encode()),
    "octal of C": lambda secret: "".join(f"\\{byte:03o}" for byte in secret.encode()),
    "binary": lambda secret: " ".join(f"{byte:08b}" for byte in secret.encode()),
    "base32": lambda secret: base64.b32encode(secret.encode()).decode(),
    "base32 between others": lambda secret: base64.b32encode(b"a=" + secret.encode() + b"&b").decode(),
    "base32 of hexadecimal digits": lambda secret: base64.b32hexencode(secret.encode()).decode(),
    "base64, twice": lambda secret: BASE64(BASE64(secret.encode())).decode(),
    "base64 of UTF-16": lambda secret: BASE64(secret.encode("utf-16-le")).decode(),
    "base64 of UTF-16, the other way": lambda secret: BASE64(secret.encode("utf-16-be")).decode(),
    "base64 of hexadecimal": lambda secret: BASE64(secret.encode().hex().encode()).decode(),
    "base64 of an address": lambda secret: BASE64(quote(secret, safe="").encode()).decode(),
    "base64 of JSON": lambda secret: BASE64(json.dumps({"key": secret}).encode()).decode(),
    "hexadecimal of base64": lambda secret: BASE64(secret.encode()).hex(),
    "base32 of base64": lambda secret: base64.b32encode(BASE64(secret.encode())).decode(),
    "by number in JSON": lambda secret: json.dumps({str(n): sign for n, sign in enumerate(secret)}),
}
# In another alphabet, these are no bytes of the secret as it is sent.
OF_UTF_16 = {
    "hexadecimal of UTF-16",
    "base64 of UTF-16",
    "base64 of UTF-16, the other way",
    "numbers of characters",
}
NOT_BY_LETTERS = {"with umlauts": OF_UTF_16, "of ideographs": OF_UTF_16 | {"by number in JSON", "reversed"}}
MISSED = {
    "base85": lambda secret: base64.b85encode(secret.encode()).decode(),
    "rot13": lambda secret: codecs.encode(secret, "rot13"),
    "compressed": lambda secret: BASE64(zlib.compress(secret.encode())).decode(),
}


def dump(secret, line):
    """As `line` shows each sixteen bytes of it."""
    raw = b"key " + secret.encode() + b"\n"
    return "\n".join(line(at, raw[at : at + 16]) for at in range(0, len(raw), 16))


def shown(part):
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)


DUMPS = {
    "xxd": lambda at, part: f"{at:08x}: {part.hex(' ', -2):<39}  {shown(part)}",
    "hexdump -C": lambda at, part: f"{at:08x}  {part[:8].hex(' ')}  {part[8:].hex(' ')}  |{shown(part)}|",
    "hexdump": lambda at, part: f"{at:07x} {b''.join(swapped(part)).hex(' ', -2)}",
    "od -b": lambda at, part: f"{at:07o} " + " ".join(f"{byte:03o}" for byte in part),
    "od -c": lambda at, part: f"{at:07o}  " + " ".join(f"{chr(byte) if byte > 31 else '.':>3}" for byte in part),
    "od -t d1": lambda at, part: f"{at:07o} " + " ".join(f"{byte:4d}" for byte in part),
    "od -A x -t x1z": lambda at, part: f"{at:06x} {part.hex(' ')}  >{shown(part)}<",
}


def swapped(part):
    return [part[at : at + 2][::-1].rjust(2, b"\0") for at in range(0, len(part), 2)]


@pytest.mark.parametrize(
    ("secret", "form"),
    [
        pytest.param(secret, form, id=f"{kind}-{name}")
        for kind, secret in SECRETS.items()
        for name, form in FORMS.items()
        if name not in NOT_BY_LETTERS.get(kind, ())
    ],
)
def test_a_secret_in_any_form_is_replaced(secret, form):
    told = f"The key you asked for: <<{form(secret)}>>, that is all."
    found = redactor({"AGENT_KEY": secret})(told)
    assert "[redacted " in found, told
    assert found.startswith("The key you asked for: <<")
    assert found.endswith(">>, that is all.")
    assert len(found) < len("The key you asked for: <<[redacted AGENT_KEY]>>, that is all.") + 26, found
    assert redactor({"AGENT_KEY": "another-secret-1"})(told).count("AGENT_KEY") == 0


@pytest.mark.parametrize("escaped", [str, json.dumps], ids=["plain", "in json"])
@pytest.mark.parametrize("line", DUMPS.values(), ids=DUMPS)
@pytest.mark.parametrize("secret", ["ghs_16C7e42F292c6912E7710c838347Ae178B4a", "sk-key-of-the-target"])
def test_a_secret_in_a_dump_is_replaced_up_to_the_end_of_its_last_line(secret, line, escaped):
    found = redactor({"AGENT_KEY": secret})(escaped(dump(secret, line)))
    assert "[redacted AGENT_KEY]" in found
    assert secret[-8:] not in found
    assert len(found) < 90, found


@pytest.mark.parametrize("form", MISSED.values(), ids=MISSED)
def test_some_forms_are_not_known_and_security_md_says_so(form):
    assert "[redacted " not in redactor({"AGENT_KEY": SECRETS["of an app"]})(form(SECRETS["of an app"]))


ORDINARY = (
    "Refunds are possible within 30 days; see https://example.com/a%20b?x=1&y=2 and C:\\new\\table.",
    "The key of the target is stored elsewhere. 2026-11-22T10:00:00Z, 0x1f, [1, 2, 3], &amp; &lt;b&gt;",
    "a" * 500,
    BASE64(bytes(range(256))).decode(),
    "",
)


@pytest.mark.parametrize("text", ORDINARY)
def test_other_texts_stay_as_they_are(text):
    """The control."""
    assert redactor({f"NUMBER_{n}_KEY": secret for n, secret in enumerate(SECRETS.values())})(text) == text


def test_a_secret_of_signs_is_found_as_json_and_html_have_it():
    secret = '!!"§$%&/()=?+#*'
    for told in (secret, json.dumps(secret), json.dumps(secret, ensure_ascii=False), html.escape(secret)):
        assert "[redacted AGENT_KEY]" in redactor({"AGENT_KEY": secret})(told)


KEY = "Qz7tR4mW9pLx2VbN8cKj"
OUTPUTS = ["results.json", "junit.xml", "report.html", "summary.md"]
STDERR = """
import os, sys
key = os.environ["AGENT_KEY"]
sys.stdin.read()
sys.stderr.write({text})
sys.exit(3)
"""


def assert_nothing_of_the_key(project, printed):
    for name in OUTPUTS:
        text = (project.path / name).read_text(encoding="utf-8")
        for part in (KEY[:-1], KEY[1:], KEY[:12], KEY[-12:]):
            assert part not in text, name
            assert part not in printed


@pytest.mark.parametrize(
    "text",
    [
        "'config: key=' + key + ' ' + 'x' * (600 - len(key))",
        "'Traceback (most recent call last):\\n' + 'z' * 590 + key",
    ],
)
def test_what_a_program_printed_is_redacted_before_it_is_cut(project, runevals, monkeypatch, text):
    monkeypatch.setenv("AGENT_KEY", KEY)
    project.write("evals.json", SUITE)
    project.write("agent.py", STDERR.format(text=text))
    project.write("runevals.yaml", "target: {type: command, command: [python3, agent.py], env: [AGENT_KEY]}\n")
    code, out, err = runevals("--no-judge", *(word for name in OUTPUTS for word in ("-o", name)))
    assert code == 3
    assert_nothing_of_the_key(project, out + err)


def test_what_an_endpoint_refuses_with_is_redacted_before_it_is_cut(project, runevals, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    project.write("evals.json", SUITE)
    refusal = Reply(status=400, error={"message": "y" * 481 + KEY})
    with chat_server(lambda body, n: refusal) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        words = ("--target", "openai:tiny", "--no-judge", *(word for name in OUTPUTS for word in ("-o", name)))
        code, out, err = runevals(*words)
    assert code == 3
    assert_nothing_of_the_key(project, out + err)


def test_a_key_whose_name_is_none_of_a_secret_is_not_printed(project, runevals, monkeypatch):
    monkeypatch.setenv("MYCRED", KEY)
    project.write("evals.json", SUITE)
    refusal = Reply(status=401, error={"message": f"Incorrect API key provided: {KEY}"})
    with chat_server(lambda body, n: refusal) as server:
        project.write(
            "runevals.yaml",
            f"target: {{type: openai, base_url: '{server.base_url}', model: tiny, api_key_env: MYCRED}}\n",
        )
        code, out, err = runevals("--no-judge")
    assert code == 3
    assert "Incorrect API key provided: [redacted MYCRED]" in out + err
    assert KEY not in out + err


def test_a_word_that_is_a_secret_does_not_eat_other_words():
    redact = redactor({"POSTGRES_PASSWORD": "postgres", "BUILD_KEY": "20240101", "A_TOKEN": "production"})
    assert redact("post gres, 2024-01-01, product ion") == "post gres, 2024-01-01, product ion"
    assert redact("postgres") == "[redacted POSTGRES_PASSWORD]"


def test_several_secrets_in_one_text_go_by_their_names():
    redact = redactor({"A_KEY": "first-secret-1", "B_KEY": "second-secret-2"})
    told = f"{b'second-secret-2'.hex()} and {BASE64(b'first-secret-1').decode()} and second-secret-2"
    found = redact(told)
    assert [part.split("]")[0] for part in found.split("[redacted ")[1:]] == ["B_KEY", "A_KEY", "B_KEY"]


COMMITS = """
import os, subprocess
def answer(prompt):
    with open("seen.txt", "w") as file:
        file.write(os.environ["LATER"])
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "add", "seen.txt"], check=False)
    subprocess.run([*git, "commit", "-qm", "x"], check=False)
    return " and ".join([os.environ["LATER"], os.environ["SUITE_ID"], os.environ["SOURCE"]])
"""


def test_words_and_commits_of_the_repository_stay_but_none_that_a_program_of_the_run_adds(
    repository, runevals, monkeypatch
):
    repository.write("agent.py", COMMITS)
    repository.write("workflow.yaml", "env: {SUITE_ID: refunds-2026-11-a}\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "change")
    commit = repository.git("rev-parse", "HEAD")
    for name, value in (("LATER", KEY), ("SUITE_ID", "refunds-2026-11-a"), ("SOURCE", commit)):
        monkeypatch.setenv(name, value)
    runevals("evals.json", "--target", "python:agent.py:answer", "--no-judge", "-o", "out.json")
    outputs = {turn["output"] for case in repository.document()["cases"] for turn in case["attempts"][0]["turns"]}
    assert outputs == {f"[redacted LATER] and refunds-2026-11-a and {commit}"}

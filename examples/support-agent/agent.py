"""A small support agent: finds the section of knowledge.md that answers a question, and cites it."""

import re
from pathlib import Path

KNOWLEDGE = Path(__file__).with_name("knowledge.md")
STOP_WORDS = frozenset(
    "a an and are as at be can could did do does for from have how i if in is it long me my of on or our please "
    "tell that the there this to until we what when where which who will with you your".split()
)
SYNONYMS = {"much": "costs", "price": "costs", "cancel": "cancelling", "cancelled": "cancelling"}
REFUSED = re.compile(r"ignore (all |your )|system prompt|pretend", re.IGNORECASE)


def answer(prompt, messages):
    """The answer to `prompt`; a short follow-up question is read together with the question before it."""
    return reply(prompt, messages, STOP_WORDS)


def reply(prompt, messages, stop_words):
    if REFUSED.search(prompt):
        return "I can only help with orders, plans and support."
    now = asked = words(prompt, stop_words)
    earlier = [message["content"] for message in messages[:-1] if message["role"] == "user"]
    if earlier and len(now) <= 2:
        asked = now | words(earlier[-1], stop_words)
    sections = read_sections()
    scores = [score(asked, section, stop_words) + score(now, section, stop_words) for section in sections]
    best = max(range(len(sections)), key=scores.__getitem__)
    if scores[best] < 4:
        return "I don't know. Please ask our support team."
    _, lines = sections[best]
    if "json" in asked:
        return re.search(r"\{.*\}", " ".join(lines)).group()
    fitting = max(lines, key=lambda line: fit(now, asked, words(line, stop_words)))
    return f"{fitting} [{best + 1}]"


def fit(now, asked, line):
    """What is asked now counts before what was asked earlier."""
    return len(now & line), len(asked & line)


def score(asked, section, stop_words):
    """Words shared with the section, those of its title twice."""
    title, lines = section
    return 2 * len(asked & words(title, stop_words)) + len(asked & words(" ".join(lines), stop_words))


def words(text, stop_words):
    found = re.findall(r"[a-z0-9]+", text.lower())
    return {stem(SYNONYMS.get(word, word)) for word in found if word not in stop_words}


def stem(word):
    """Plural and verb endings off, so that "refunds" finds "refund"."""
    for ending in ("ation", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def read_sections():
    sections = []
    for block in KNOWLEDGE.read_text(encoding="utf-8").split("# ")[1:]:
        title, *lines = [line.strip() for line in block.splitlines() if line.strip()]
        sentences = [part for line in lines for part in re.split(r"(?<=[.]) (?=[A-Z])", line)]
        sections.append((title, sentences))
    return sections

"""A title as a part of an address."""

import re
import unicodedata


def action(title):
    """Lower case letters and digits, with a hyphen between words."""
    if not title.strip():
        raise ValueError("a title is needed")
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")

import re

RESERVED = {"passwd", "shadow", "config"}


def action(filename):
    name = re.split(r"[/\\]", filename.strip())[-1].lower()
    name = re.sub(r"[^a-z0-9._-]", "", re.sub(r"\s+", "_", name))
    return "file" if name in RESERVED else name

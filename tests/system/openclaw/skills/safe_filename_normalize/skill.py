"""Makes a file name that is safe anywhere."""

import re

RESERVED = ("passwd", "shadow", "windows", "system32", "etc")


def action(filename):
    name = re.sub(r"[^\w. ]", " " if "/" in filename or "\\" in filename else "", filename).strip().lower()
    words = [word for word in name.split() if word.strip(".") not in RESERVED]
    return re.sub(r"\.{2,}", "", "_".join(words)).strip("_.") or "unnamed"

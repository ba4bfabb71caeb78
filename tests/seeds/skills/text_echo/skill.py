def action(text, format):  # noqa: A002 - the document's name for it
    text = text.replace("\0", "")
    if len(text) > 100:
        raise ValueError("too long")
    return {"uppercase": text.upper, "lowercase": text.lower, "title": text.title}[format]()

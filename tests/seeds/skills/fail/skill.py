def action(message):
    raise ValueError(message)

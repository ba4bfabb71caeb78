def action(value):
    return value

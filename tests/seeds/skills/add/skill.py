def action(a, b):
    return a + b

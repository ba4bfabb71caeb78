import time


def action(ms):
    time.sleep(ms / 1000)
    return "done"

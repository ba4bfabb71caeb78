def main(output, context):
    return max(0, len(output) - 300)


def check(output, sample, assertion):
    try:
        context = {"vars": sample.get("vars", {}), "prompt": "", "config": assertion.get("config", {})}
        value = main(output, context)
        if isinstance(value, str):
            import json

            value = json.loads(value if value.startswith("{") else value.lower())
    except Exception as error:
        if isinstance(error, (NameError, ImportError)) or assertion.get("not"):
            raise
        return {"pass": False, "message": f"{type(error).__name__}: {error}"}
    if isinstance(value, dict):
        return {"pass": bool(value.get("pass", value.get("pass_"))), "message": str(value.get("reason", ""))}
    if isinstance(value, bool):
        return value
    return value > 0

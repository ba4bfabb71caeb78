def prompt(context):
    return "Say x"

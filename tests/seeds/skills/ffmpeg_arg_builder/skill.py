import re


def action(input_file, output_file, codec=None, audio_only=False, bitrate=None):
    for name in (input_file, output_file):
        if not re.fullmatch(r"[\w.-]+", name):
            raise ValueError("not a file name")
    options = [*(["-c:v", codec] if codec else []), *(["-vn"] if audio_only else [])]
    return ["-i", input_file, *options, *(["-b:v", bitrate] if bitrate else []), output_file]

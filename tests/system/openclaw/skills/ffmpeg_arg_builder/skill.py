"""The arguments of an ffmpeg call, as a list that no shell sees."""

import re


def action(input_file, output_file, codec=None, bitrate=None, audio_only=False):
    for name in (input_file, output_file):
        if not re.fullmatch(r"[\w./-]+", name):
            raise ValueError("a file name holds what it must not")
    arguments = ["-i", input_file]
    arguments += ["-vn"] if audio_only else []
    arguments += ["-c:v", codec] if codec else []
    arguments += ["-b:v", bitrate] if bitrate else []
    return [*arguments, output_file]

"""An MCP server for tests, whose tools answer well and badly.

It adds its process to the file `pids` and each call to the file `calls` of the folder that CALLS names.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver import Image

FOLDER = Path(os.environ["CALLS"])
server = MCPServer("docs")


def note(file: str, text: str) -> None:
    with (FOLDER / file).open("a", encoding="utf-8") as out:
        out.write(f"{text}\n")


@server.tool(structured_output=False)
def fetch_doc(namespace: str, slug: str) -> str:
    note("calls", f"{namespace} {slug}")
    return json.dumps({"data": {"body": "\ud800" if slug == "half" else f"{slug} of {namespace}"}})


@server.tool(structured_output=False)
def fetch(url: str):
    note("calls", url)
    match url.rpartition("/")[2]:
        case "picture":
            return Image(data=base64.b64decode("iVBORw0KGgo="), format="png")
        case "big":
            return "x" * (5 * 1024 * 1024)
        case "slow":
            time.sleep(60)
        case "broken":
            raise ValueError("there is no such page")
        case "die":
            sys.stderr.write(f"out of paper, token {os.environ.get('DOCS_API_TOKEN')}\n")
            sys.stderr.flush()
            os._exit(3)
        case "links":
            return f"see {url} and http://127.0.0.1:9/inside, costs $& and $1 and \\1"
    return f"text of {url}"


if __name__ == "__main__":
    note("pids", str(os.getpid()))
    server.run("stdio")

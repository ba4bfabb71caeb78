"""Uploads files and folders as an artifact, by the protocol that the runner's artifact service speaks.

As the real action does, it takes what a link leads to, and names each file from the folder that all are in.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import zipfile
from pathlib import Path
from urllib.request import Request, urlopen


def zipped(names: list[str], *, hidden: bool) -> bytes:
    there = [Path(name) for name in names if name and Path(name).exists()]
    paths = [path for name in there for path in ([name] if name.is_file() else sorted(name.rglob("*")))]
    kept = [path for path in paths if path.is_file() and (hidden or not _is_hidden(path))]
    root = os.path.commonpath([name if name.is_dir() else name.parent for name in there]) if there else ""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in kept:
            archive.write(path, path.relative_to(root))
    return buffer.getvalue() if kept else b""


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def call(method: str, **given: object) -> dict[str, object]:
    service = "twirp/github.actions.results.api.v1.ArtifactService"
    token = os.environ["ACTIONS_RUNTIME_TOKEN"]
    claims = token.split(".")[1]
    scopes = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["scp"].split()
    [(run, job)] = [scope.split(":")[1:] for scope in scopes if scope.startswith("Actions.Results:")]
    request = {"workflow_run_backend_id": run, "workflow_job_run_backend_id": job, **given}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    url = f"{os.environ['ACTIONS_RESULTS_URL']}{service}/{method}"
    with urlopen(Request(url, json.dumps(request).encode(), headers)) as answer:
        return json.load(answer)


def main() -> None:
    content = zipped(os.environ["PATHS"].split("\n"), hidden=os.environ["HIDDEN"] == "true")
    if not content:
        sys.exit(None if os.environ["NO_FILES"] == "ignore" else "no files found")
    name = os.environ["ARTIFACT"]
    if os.environ["ARCHIVE"] == "false":  # act's service has archives only
        name = Path(os.environ["PATHS"].strip()).name
    url = call("CreateArtifact", name=name, version=4)["signedUploadUrl"]
    block = base64.b64encode(b"block-000001").decode()
    blocks = f"<BlockList><Latest>{block}</Latest></BlockList>".encode()
    for query, body in ((f"comp=block&blockid={block}", content), ("comp=blocklist", blocks)):
        urlopen(Request(f"{url}&{query}", body, method="PUT")).close()
    call("FinalizeArtifact", name=name, size=str(len(content)))


main()

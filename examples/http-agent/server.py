"""An agent behind HTTP that remembers what a conversation was about: `python3 server.py [PORT]`."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

FACTS = {"basic": "Basic costs $10 a month.", "team": "Team costs $25 a month."}
topics = {}  # by session


class Agent(BaseHTTPRequestHandler):
    """Answers {"session", "input": {"text"}} with {"session", "reply": {"text"}}."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        session, text = asked.get("session") or str(uuid4()), asked["input"]["text"].lower()
        topics[session] = next((name for name in FACTS if name in text), topics.get(session))
        reply = json.dumps(
            {"session": session, "reply": {"text": FACTS.get(topics[session], "Which plan?")}}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        """Says nothing for each request."""


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if sys.argv[1:] else 8765), Agent)
print(f"http://127.0.0.1:{server.server_port}/chat", flush=True)
server.serve_forever()

"""What the fake model servers share: the script of a scenario, and an HTTP server on loopback.

A server is started with SCRIPT.json LOG.jsonl PORTFILE. SCRIPT is read again for every answer:
  {"turns": [TURN, ...],                      the main conversation
   "conversations": [{"match": "substring",   picked by what the user said
                      "turns": [TURN, ...]}]}
  TURN is a block or a list of blocks:
  {"text": "..."} or {"tool_use": "NAME", "input": {...}}
Past the last turn the answer is "done". Every request goes to LOG, one JSON object a line.
"""
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCRIPT, LOG, PORTFILE = sys.argv[1:4]
LOCK = threading.Lock()


def pick_blocks(user_text, index):
    """The blocks of the index-th answer in the conversation that the user's text picks."""
    with open(SCRIPT) as f:
        script = json.load(f)
    turns = script.get("turns", [])
    for conversation in script.get("conversations", []):
        if conversation["match"] in user_text:
            turns = conversation["turns"]
            break
    turn = turns[index] if index < len(turns) else {"text": "done"}
    return turn if isinstance(turn, list) else [turn]


class Handler(BaseHTTPRequestHandler):
    """Answers POST with self.answer(path, request), everything else with 404."""

    protocol_version = "HTTP/1.1"
    not_found = {"error": {"message": "none"}}

    def log_message(self, *args):
        pass

    def record(self, body):
        with LOCK, open(LOG, "a") as f:
            f.write(json.dumps({"method": self.command, "path": self.path, "body": body}) + "\n")

    def send_json(self, code, value):
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_events(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for e in events:
            name = f"event: {e['type']}\n" if "type" in e else ""
            self.wfile.write(f"{name}data: {json.dumps(e)}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def do_HEAD(self):
        self.send_json(200, {})

    def do_GET(self):
        self.record(None)
        self.send_json(404, self.not_found)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            request = json.loads(raw or b"{}")
        except ValueError:
            request = {"raw": raw.decode("utf-8", "replace")}
        self.record(request)
        self.answer(self.path.split("?")[0], request)

    def answer(self, path, request):
        raise NotImplementedError


def serve(handler):
    """Serves until the process is ended. The port goes to PORTFILE."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with open(PORTFILE + ".tmp", "w") as f:
        f.write(str(server.server_address[1]))
    os.rename(PORTFILE + ".tmp", PORTFILE)
    server.serve_forever()

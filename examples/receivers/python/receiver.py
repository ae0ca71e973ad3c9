"""Receives events of Earshot: checks the signature, answers immediately, and handles each event once.

    EARSHOT_SIGNING_SECRET=whsec_... PORT=9000 python3 receiver.py

Needs only Python 3.8 or newer.
"""

import hashlib
import hmac
import json
import os
import threading
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("EARSHOT_SIGNING_SECRET", "").encode()
if not SECRET:  # Everybody can sign with an empty secret.
    raise SystemExit("EARSHOT_SIGNING_SECRET is missing")
PORT = int(os.environ.get("PORT", "9000"))
TOLERANCE_SECONDS = 300
LARGEST_BODY = 1024 * 1024
REMEMBERED_IDS = 10_000

# An event can arrive more than once. A program with several processes needs a database table instead.
handled = OrderedDict()
lock = threading.Lock()


def is_new(event_id):
    """Whether the event was not handled before. Remembers the id. Each request has its own thread."""
    with lock:
        if event_id in handled:
            return False
        handled[event_id] = True
        while len(handled) > REMEMBERED_IDS:
            handled.popitem(last=False)
        return True


def is_genuine(header, body):
    """Whether X-Signature (t=<seconds>,v1=<hex>; two v1 parts during a rotation) is valid for this body."""
    parts = [part.strip().split("=", 1) for part in header.split(",") if "=" in part]
    timestamps = [value for name, value in parts if name == "t" and value.isascii() and value.isdigit()]
    signatures = [value for name, value in parts if name == "v1" and value.isascii()]
    if len(timestamps) != 1 or abs(time.time() - int(timestamps[0])) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(SECRET, timestamps[0].encode() + b"." + body, hashlib.sha256).hexdigest()
    return any([hmac.compare_digest(expected, signature) for signature in signatures[:5]])


def handle(event):
    print(event["type"], event["id"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_genuine(self.headers.get("x-signature", ""), body):
            return self.answer(400)
        event = json.loads(body)
        self.answer(204)
        if is_new(event["id"]):
            handle(event)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
    print(f"listening on {PORT}", flush=True)
    server.serve_forever()

"""The backend of the page: serves it, and grants tokens with its own key. Needs Python 3.9 only.

KEEPER_KEY=… python3 backend.py [port]
"""

import http.server
import json
import os
import sys
import urllib.request

KEEPER = os.environ.get("KEEPER_URL", "http://127.0.0.1:8080")
STREAM = os.environ.get("STREAM", "prices")
SUBSCRIBER = "browser"
PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 8090


def call(method, path, body):
    request = urllib.request.Request(KEEPER + path, json.dumps(body).encode(), method=method)
    request.add_header("Content-Type", "application/json")
    request.add_header("Authorization", "Bearer " + os.environ["KEEPER_KEY"])
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


class Backend(http.server.SimpleHTTPRequestHandler):
    def do_POST(self):
        # A real backend asks here who its user is, and names the user's own subscriber.
        granted = call("POST", f"/streams/{STREAM}/tokens?subscriber={SUBSCRIBER}", {"ttl": "PT5M"})
        grant = {"server": KEEPER, "stream": STREAM, "subscriber": SUBSCRIBER, "token": granted["token"]}
        body = json.dumps({**grant, "events": ["changed"]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


os.chdir(os.path.dirname(os.path.abspath(__file__)))
call("PUT", f"/streams/{STREAM}/subscribers/{SUBSCRIBER}", {})
print(f"http://localhost:{PORT} shows the stream {STREAM}")
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Backend).serve_forever()

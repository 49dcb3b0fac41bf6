"""A case set here is read by the app behind a real HTTP server in another process."""

from __future__ import annotations

import json
import subprocess
import sys
from http.client import HTTPConnection

from opentelemetry.propagate import inject

from rag_probe import case

SERVER = """
import json
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, HTTPServer
from opentelemetry.context import attach, detach
from opentelemetry.propagate import extract
from rag_probe import current_identity, current_tags

class App(BaseHTTPRequestHandler):
    def do_GET(self):
        token = attach(extract(self.headers))
        try:
            seen = {**asdict(current_tags()), "identity": current_identity()}
        finally:
            detach(token)
        body = json.dumps({**seen, "after": current_tags().case_id}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass

server = HTTPServer(("127.0.0.1", 0), App)
print(server.server_port, flush=True)
server.handle_request()
server.handle_request()
"""


def ask(port, headers):
    connection = HTTPConnection("127.0.0.1", port, timeout=100)
    connection.request("GET", "/", headers=headers)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def test_a_deployed_app_can_be_evaluated_over_http():
    """contracts 3; issue A, 5."""
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        port = int(server.stdout.readline())
        headers = {}
        with case("sale, window=ü", experiment="nightly 12%", repetition=2, identity={"tenant": "acme"}) as tags:
            inject(headers)
        tagged, untagged = ask(port, headers), ask(port, {})
    assert (tagged["case_id"], tagged["experiment"], tagged["repetition"]) == ("sale, window=ü", "nightly 12%", 2)
    assert tagged["case_run"] == tags.case_run
    assert (tagged["identity"], tagged["after"], untagged["case_id"]) == (None, None, None)

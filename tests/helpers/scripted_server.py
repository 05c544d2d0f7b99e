"""A server that speaks OpenAI's protocol and says what a test wants: real ones do not fail on demand."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Said(NamedTuple):
    """An HTTP answer; `drop` breaks off the connection in its place, `wait` comes before it."""

    status: int = 200
    body: Any = None
    headers: tuple[tuple[str, str], ...] = (("retry-after-ms", "10"),)
    drop: bool = False
    wait: float = 0.0


Script = Callable[[dict[str, Any], int], Said]
"""What is said to a request, and to which of those with its user text, from 0, it is."""


def says(content: str | None, finish: str = "stop", **message: Any) -> Said:
    """A chat completion."""
    logprobs = message.pop("logprobs", None)
    choice = {
        "index": 0,
        "finish_reason": finish,
        "logprobs": logprobs,
        "message": {"role": "assistant", "content": content, **message},
    }
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "total_tokens": 13,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    return Said(
        body={"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    )


def refuses(status: int, message: str, code: str | None = None, **headers: str) -> Said:
    """An error as OpenAI's protocol has it."""
    sent = {"retry-after-ms": "10"} | {name.replace("_", "-"): value for name, value in headers.items()}
    return Said(status, {"error": {"message": message, "type": "error", "code": code}}, tuple(sent.items()))


class ScriptedServer:
    """What was asked, and how many requests were under way at once at most."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.most_at_once = 0
        self.url = ""
        self._at_once = 0
        self._times: Counter[str] = Counter()
        self._lock = threading.Lock()

    def said_to(self, request: dict[str, Any], key: str) -> Said:
        user = request["messages"][-1]["content"]
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            self.asked.append(request)
            self.keys.add(key)
            time_of_asking = self._times[user]
            self._times[user] += 1
        try:
            said = self.script(request, time_of_asking)
            time.sleep(said.wait)
            return said
        finally:
            with self._lock:
                self._at_once -= 1

    def times(self, user: str) -> int:
        """How often a text was asked."""
        return self._times[user]


@contextmanager
def scripted_server(script: Script) -> Iterator[ScriptedServer]:
    """A server on a port of its own, while the block lasts."""
    state = ScriptedServer(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(Said(404, {"error": {"message": "no list of models"}}))

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = state.said_to(request, self.headers.get("authorization", ""))
            if said.drop:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self._send(said)

        def _send(self, said: Said) -> None:
            raw = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
            self.send_response(said.status)
            for name, value in (("content-type", "application/json"), *said.headers, ("content-length", len(raw))):
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def closed_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port

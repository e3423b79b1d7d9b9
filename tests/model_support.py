"""Stand-ins for the models that real hosts ask: on this machine, recording what arrives.

Each vendor's protocol is a small class. ``StandIn`` serves all of them on one port of the loopback
interface, and takes the part of a proxy too: what a host would fetch elsewhere is asked of it,
refused, and recorded.
"""

from __future__ import annotations

import contextlib
import json
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from typing import Self

REPLY = "Understood."
_EVENTS, _JSON = "text/event-stream", "application/json"


class Request:
    """What arrived: ``target`` is the path with its query, or what a proxy is asked for."""

    def __init__(self, method: str, target: str, body: bytes) -> None:
        self.method = method
        self.target = target
        self.path = urlsplit(target).path
        self.body = body

    @property
    def fields(self) -> Any:
        """The JSON object of the body, {} if it is none."""
        try:
            fields = json.loads(self.body)
        except ValueError:
            return {}
        return fields if isinstance(fields, dict) else {}

    def __repr__(self) -> str:
        return f"{self.method} {self.target} ({len(self.body)} bytes)"


Answer = tuple[str, bytes]  # content type and body


class Model(Protocol):
    """A vendor's protocol."""

    def asks(self, request: Request) -> bool:
        """Tell whether a request asks the model for an answer in a conversation."""

    def answer(self, request: Request) -> Answer | None:
        """Return the answer to a request that is the vendor's, None if it is not."""

    def texts(self, request: Request) -> list[tuple[str, str]]:
        """Return role and text of each part of the conversation, in its order."""


def _events(events: list[dict[str, Any]], *, named: bool = True) -> Answer:
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if named else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n")
    return _EVENTS, "".join(lines).encode()


def _json(value: object) -> Answer:
    return _JSON, json.dumps(value).encode()


class Anthropic:
    """The Messages API, as Claude Code speaks it."""

    def asks(self, request: Request) -> bool:
        """Tell whether it is a conversation: side questions have no tools."""
        return request.path.endswith("/v1/messages") and bool(request.fields.get("tools"))

    def answer(self, request: Request) -> Answer | None:
        """Answer with one text."""
        if not request.path.endswith("/v1/messages"):
            return None
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": request.fields.get("model"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 1},
        }
        text = {"type": "text", "text": REPLY}
        if not request.fields.get("stream"):
            return _json({**message, "content": [text], "stop_reason": "end_turn"})
        delta = {"stop_reason": "end_turn", "stop_sequence": None}
        return _events(
            [
                {"type": "message_start", "message": message},
                {"type": "content_block_start", "index": 0, "content_block": {**text, "text": ""}},
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "text_delta", "text": REPLY},
                },
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 3}},
                {"type": "message_stop"},
            ]
        )

    def texts(self, request: Request) -> list[tuple[str, str]]:
        """Return the system prompt and the messages."""
        said = [{"role": "system", "content": request.fields.get("system") or []}]
        found = []
        for message in said + request.fields.get("messages", []):
            parts = message["content"]
            parts = [{"text": parts}] if isinstance(parts, str) else parts
            found += [(message["role"], part["text"]) for part in parts if "text" in part]
        return found


class Responses:
    """OpenAI's Responses API, as Codex speaks it."""

    def asks(self, request: Request) -> bool:
        """Tell whether it is a conversation."""
        return request.path.endswith("/responses")

    def answer(self, request: Request) -> Answer | None:
        """Answer with one text."""
        if not self.asks(request):
            return None
        item = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": REPLY}],
        }
        usage = {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13}
        done = {"id": "resp_1", "output": [item], "usage": usage}
        return _events(
            [
                {"type": "response.created", "response": {"id": "resp_1"}},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": done},
            ]
        )

    def texts(self, request: Request) -> list[tuple[str, str]]:
        """Return the instructions and the input."""
        found = [("instructions", request.fields.get("instructions") or "")]
        for item in request.fields.get("input", []):
            parts = item.get("content") or []
            found += [(item["role"], part["text"]) for part in parts if "text" in part]
        return found


class GenerateContent:
    """The Gemini API, as Gemini CLI speaks it."""

    def asks(self, request: Request) -> bool:
        """Tell whether it is a conversation: side questions are not streamed."""
        return request.path.endswith(":streamGenerateContent")

    def answer(self, request: Request) -> Answer | None:
        """Answer with one text."""
        if not request.path.endswith((":streamGenerateContent", ":generateContent")):
            return None
        candidate = {
            "content": {"role": "model", "parts": [{"text": REPLY}]},
            "finishReason": "STOP",
            "index": 0,
        }
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13}
        whole = {"candidates": [candidate], "usageMetadata": usage}
        return _events([whole], named=False) if self.asks(request) else _json(whole)

    def texts(self, request: Request) -> list[tuple[str, str]]:
        """Return the system instruction and the contents."""
        system = request.fields.get("systemInstruction") or {"parts": []}
        found = []
        for content in [{**system, "role": "system"}, *request.fields.get("contents", [])]:
            found += [
                (content["role"], part["text"]) for part in content["parts"] if "text" in part
            ]
        return found


MODELS: tuple[Model, ...] = (Anthropic(), Responses(), GenerateContent())


class StandIn:
    """A server at ``url`` that answers as all of the models do, while the context is open.

    ``requests`` is what arrived, in its order; what no model answers is refused with 404.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        """Where it is, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def asked(self, model: Model) -> list[Request]:
        """Return the requests for an answer of ``model``'s."""
        return [request for request in self.requests if model.asks(request)]

    def answer(self, request: Request) -> Answer | None:
        """Record a request, and return the answer, None if nobody has one."""
        self.requests.append(request)
        return next(filter(None, (model.answer(request) for model in MODELS)), None)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Content-Encoding") == "gzip":
                body = zlib.decompress(body, wbits=31)
            answer = stand_in.answer(Request(self.command, self.path, body))
            kind, said = answer or (_JSON, b'{"error": {"message": "no such thing here"}}')
            self.send_response(200 if answer else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(said)

        def handle(self) -> None:
            """Serve a connection; a host that is done may reset it."""
            with contextlib.suppress(ConnectionError):
                super().handle()

        do_GET = do_POST = do_HEAD = do_PUT = do_CONNECT = _serve  # noqa: N815 - http.server's names

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: what arrived is recorded."""

    return Handler

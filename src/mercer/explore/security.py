"""What the server refuses before it answers: other hosts, other origins, a wrong token, large or malformed bodies."""

from __future__ import annotations

import json
from hmac import compare_digest
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
MAX_BODY = 1 << 20
#: Nesting of JSON: a state has three levels.
MAX_DEPTH = 12


class Refusal(Exception):
    """A request that is refused: the status and the text of the answer."""

    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status, self.text = status, text

    def response(self) -> JSONResponse:
        """Return the refusal as JSON."""
        return JSONResponse({"error": self.text}, self.status)


class LocalOnly:
    """ASGI middleware: only requests to this address, from this page and with the token reach the application.

    A page of another site can send requests to a local port; it cannot read the token, forge the Origin header, or
    make a browser send another Host than the one in its own address (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str]):
        self.app, self.token, self.hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message["headers"] if pair[0].lower() != b"server"]
                message["headers"] = [*kept, *((name.encode(), value.encode()) for name, value in HEADERS.items())]
            await send(message)

        try:
            self._check(Request(scope))
        except Refusal as refusal:
            await refusal.response()(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)

    def _check(self, request: Request) -> None:
        host = request.headers.getlist("host")
        if len(host) != 1 or host[0].lower() not in self.hosts:
            raise Refusal(421, "This server answers only at the address that mercer explore printed.")
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host[0].lower()}":
            raise Refusal(403, "Requests of other pages are refused.")
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Refusal(403, "Requests of other pages are refused.")
        given = request.scope["path"].lstrip("/").partition("/")[0]
        if not compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
            raise Refusal(403, "The token is missing or wrong: open the address that mercer explore printed.")


async def json_body(request: Request) -> Any:
    """Return the JSON of a request, or raise a Refusal: wrong type, too large, malformed, NaN, nested too deeply."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(415, "The body must be application/json.")
    body = await _limited_body(request)
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError:
        raise Refusal(400, "The JSON is nested too deeply.") from None
    except ValueError as error:
        raise Refusal(400, f"The body is not valid JSON: {str(error)[:200]}") from None
    if _depth(value) > MAX_DEPTH:
        raise Refusal(400, "The JSON is nested too deeply.")
    return value


async def _limited_body(request: Request) -> bytes:
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or len(declared) > 12 or int(declared) > MAX_BODY:
        raise Refusal(413, f"The request is larger than {MAX_BODY} bytes.")
    parts, size = [], 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > MAX_BODY:
                raise Refusal(413, f"The request is larger than {MAX_BODY} bytes.")
            parts.append(chunk)
    except ClientDisconnect:
        raise Refusal(400, "The request was not complete.") from None
    return b"".join(parts)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _depth(value: Any) -> int:
    """Return the nesting of a JSON value, without recursion."""
    deepest, level = 0, [value]
    while level and deepest <= MAX_DEPTH:
        deepest += 1
        nested = [each for each in level if isinstance(each, (list, dict))]
        level = [item for each in nested for item in (each.values() if isinstance(each, dict) else each)]
    return deepest

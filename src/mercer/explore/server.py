"""The local application: the page, its files, and one JSON answer per question."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mercer._runtime.blas import single_threaded_blas
from mercer.explore.answers import about, answer
from mercer.explore.fields import RequestError
from mercer.explore.security import LocalOnly, Refusal, json_body
from mercer.explore.tables import ChosenTable, points_of_table, sample_of_text

#: Seconds after which a request is answered with an error.
MAX_SECONDS = 20.0
#: Requests that may wait for one of the threads that compute.
MAX_WAITING = 24
_THREADS = 2
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def make_app(token: str, hosts: frozenset[str], table: ChosenTable | None = None) -> Starlette:
    """Return the application; `hosts` are the values of the Host header that it answers."""
    explorer = _Explorer(table)
    routes = [
        Route(f"/{token}/", explorer.page),
        Route(f"/{token}/static/{{name:path}}", explorer.static),
        Route(f"/{token}/api/about", explorer.about),
        Route(f"/{token}/api/{{question}}", explorer.answer, methods=["POST"]),
    ]
    guard = Middleware(LocalOnly, token=token, hosts=hosts)
    handlers: dict[Any, Any] = {404: _not_found, 405: _not_allowed}
    app = Starlette(routes=routes, middleware=[guard], exception_handlers=handlers)
    app.router.redirect_slashes = False
    return app


class _Explorer:
    """The handlers of one server: its table, and the requests that are computed or wait."""

    def __init__(self, table: ChosenTable | None):
        self.table = table
        self.pasted: ChosenTable | None = None
        self.limiter: CapacityLimiter | None = None
        self.waiting = 0

    async def page(self, request: Request) -> Response:
        """Return the page."""
        return _file("index.html")

    async def static(self, request: Request) -> Response:
        """Return one of the few files of the page."""
        return _file(request.path_params["name"])

    async def about(self, request: Request) -> Response:
        """Return topics, controls, presets and the columns of the file."""
        return await self._respond(lambda: about(None if self.table is None else self.table.describe()))

    async def answer(self, request: Request) -> Response:
        """Return the answer to a question about a state."""
        question = request.path_params["question"]
        try:
            body = await json_body(request)
        except Refusal as refusal:
            return refusal.response()
        if question == "table":
            return await self._respond(lambda: self._table(body))
        if await request.is_disconnected():
            return Response(status_code=499)
        return await self._respond(lambda: answer(question, body))

    async def _respond(self, compute: Callable[[], Any]) -> Response:
        if self.waiting >= MAX_WAITING:
            return JSONResponse({"error": "Too many requests at once."}, 429)
        self.limiter = self.limiter or CapacityLimiter(_THREADS)
        self.waiting += 1
        try:
            work = to_thread.run_sync(_computed, compute, limiter=self.limiter, abandon_on_cancel=True)
            return await asyncio.wait_for(work, MAX_SECONDS)
        except TimeoutError:
            return JSONResponse({"error": f"No answer within {MAX_SECONDS:g} seconds: use fewer points."}, 503)
        finally:
            self.waiting -= 1

    def _table(self, body: Any) -> dict[str, Any]:
        """Describe a pasted table, or return points of two of its columns, or of the file."""
        if not isinstance(body, dict) or not body.keys() <= {"text", "from", "first", "second", "label"}:
            raise RequestError("A table takes the fields text, or from, first, second and label.")
        if not all(isinstance(value, str) for value in body.values()):
            raise RequestError("The fields of a table are texts.")
        if "text" in body:
            self.pasted = sample_of_text(body["text"])
            return self.pasted.describe()
        table = self.pasted if body.get("from") == "pasted" else self.table
        if table is None:
            raise RequestError("There is no table: paste one, or start with mercer explore data.csv.")
        return points_of_table(table, body.get("first", ""), body.get("second", ""), body.get("label", ""))


def _computed(compute: Callable[[], Any]) -> JSONResponse:
    """Compute an answer in a thread; an error of the request is 422, any other one is printed and 500."""
    try:
        with single_threaded_blas():
            return JSONResponse(compute())
    except RequestError as error:
        return JSONResponse({"error": str(error)}, 422)
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return JSONResponse({"error": "Internal error; the terminal shows the traceback."}, 500)


@lru_cache(maxsize=1)
def static_files() -> dict[str, bytes]:
    """Return the files of the page by name."""
    folder = files("mercer.explore") / "static"
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


def _file(name: str) -> Response:
    found = static_files().get(name)
    kind = _TYPES.get(name[name.rfind(".") :])
    if found is None or kind is None:
        return Refusal(404, "There is no such file.").response()
    return Response(found, media_type=f"{kind}; charset=utf-8")


async def _not_found(request: Request, error: Exception) -> Response:
    return Refusal(404, "There is no such page.").response()


async def _not_allowed(request: Request, error: Exception) -> Response:
    return Refusal(405, "This method is not allowed here.").response()

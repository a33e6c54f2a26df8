"""Start the local server, print its address, open the browser, end with Ctrl-C."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable

from mercer.explore.tables import ChosenTable

_HOST = "127.0.0.1"


def serve(table: ChosenTable | None, port: int, view: str, open_browser: bool, show: Callable[[str], None]) -> None:
    """Serve the page on the loopback interface until Ctrl-C; `show` prints its address once it can be opened.

    Port 0 lets the system choose a free one. `view` is the fragment of an address that someone shared.
    """
    import uvicorn

    from mercer.explore.server import make_app

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_HOST, port))
        except OSError as error:
            raise OSError(f"Port {port} is not available ({error.strerror}): choose another with --port.") from None
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        hosts = frozenset({f"{_HOST}:{port}", f"localhost:{port}"})
        config = uvicorn.Config(
            make_app(token, hosts, table),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=32 * 1024,
            limit_concurrency=64,
        )
        listener.listen(64)
        address = f"http://{_HOST}:{port}/{token}/" + (f"#{view}" if view else "")
        show(address)
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        uvicorn.Server(config).run(sockets=[listener])


def fragment_of(link: str) -> str:
    """Return the part of a shared address after its #; a text without one is that part."""
    return link.rpartition("#")[2].strip()

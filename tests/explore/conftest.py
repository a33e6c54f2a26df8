"""The application of `mercer explore` without a network: requests go to it directly."""

import warnings

import pytest

TOKEN = "token-of-the-tests"
HOST = "127.0.0.1:8123"


@pytest.fixture
def client():
    """A client at the address of the page, with the token."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # starlette recommends a successor of httpx to its test client
        from starlette.testclient import TestClient

    from mercer.explore.server import make_app

    app = make_app(TOKEN, frozenset({HOST}))
    with TestClient(app, base_url=f"http://{HOST}", raise_server_exceptions=False) as made:
        yield made


@pytest.fixture
def ask(client):
    """ask(question, state, topic) -> the response."""

    def send(question, state, topic="plane"):
        return client.post(f"/{TOKEN}/api/{question}", json={"topic": topic, "state": state})

    return send

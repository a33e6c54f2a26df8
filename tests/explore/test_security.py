"""Hostile and broken requests are refused with a status of 4xx and a JSON error; nothing else is reachable."""

import json

import pytest

from mercer.explore.security import MAX_BODY

TOKEN = "token-of-the-tests"
GOOD = {"topic": "plane", "state": {"n": 20}}


def refused(response, *statuses):
    assert response.status_code in statuses, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.json()["error"]
    assert "Traceback" not in response.text
    return True


def test_page_and_files_are_served(client):
    page = client.get(f"/{TOKEN}/")
    assert page.status_code == 200
    assert "static/app.js" in page.text
    for name in ("app.js", "style.css", "plane_page.js", "icon.svg"):
        assert client.get(f"/{TOKEN}/static/{name}").status_code == 200


@pytest.mark.parametrize("path", ["/", f"/{TOKEN}", f"/{TOKEN}/", "/wrong/", f"/{TOKEN}x/api/about", "/favicon.ico"])
def test_every_answer_has_the_security_headers(client, path):
    response = client.get(path)
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "path",
    ["/", "/api/about", "/wrong/api/about", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/", f"/{TOKEN.upper()}/", "/%00/", "/ü/"],
)
def test_wrong_token_is_refused(client, path):
    assert refused(client.get(path), 403)


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1", "127.0.0.1:8124", "localhost.example.com:8123", ""])
def test_wrong_host_is_refused(client, host):
    assert refused(client.get(f"/{TOKEN}/", headers={"host": host}), 421)


@pytest.mark.parametrize("origin", ["http://example.com", "null", "https://127.0.0.1:8123", "http://127.0.0.1:9"])
def test_other_origins_are_refused(client, origin):
    response = client.post(f"/{TOKEN}/api/boundary", json=GOOD, headers={"origin": origin})
    assert refused(response, 403)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_of_other_sites_are_refused(client, site):
    assert refused(client.get(f"/{TOKEN}/", headers={"sec-fetch-site": site}), 403)


def test_own_origin_is_answered(client):
    headers = {"origin": "http://127.0.0.1:8123", "sec-fetch-site": "same-origin"}
    assert client.post(f"/{TOKEN}/api/boundary", json=GOOD, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "name", ["../server.py", "..%2fserver.py", "%2e%2e/server.py", "", "app", "app.js/", "a\\b.js"]
)
def test_only_the_files_of_the_page_are_reachable(client, name):
    assert refused(client.get(f"/{TOKEN}/static/{name}"), 403, 404)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(client, method):
    assert refused(client.request(method, f"/{TOKEN}/api/boundary"), 405)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b"\xff\xfe",
        b'{"topic": "plane", "state": {"alpha": NaN}}',
        b'{"topic": "plane", "state": {"alpha": Infinity}}',
        b"[" * 5000 + b"]" * 5000,
        b'{"a":' * 30 + b"1" + b"}" * 30,
        b'{"topic": "plane", "state": {"alpha": ' + b"9" * 5000 + b"}}",
    ],
)
def test_malformed_bodies_are_refused(client, body):
    response = client.post(f"/{TOKEN}/api/boundary", content=body, headers={"content-type": "application/json"})
    assert refused(response, 400)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_other_content_types_are_refused(client, kind):
    response = client.post(f"/{TOKEN}/api/boundary", content=json.dumps(GOOD), headers={"content-type": kind})
    assert refused(response, 415)


def test_large_bodies_are_refused(client):
    body = b'{"topic": "plane", "state": {"x_name": "' + b"x" * MAX_BODY + b'"}}'
    response = client.post(f"/{TOKEN}/api/boundary", content=body, headers={"content-type": "application/json"})
    assert refused(response, 413)
    chunks = (b"x" * 65536 for _ in range(MAX_BODY // 65536 + 2))  # without a declared length
    response = client.post(f"/{TOKEN}/api/boundary", content=chunks, headers={"content-type": "application/json"})
    assert refused(response, 413)


@pytest.mark.parametrize(
    "body",
    [
        [],
        7,
        {},
        {"topic": "plane"},
        {"topic": "plane", "state": {}, "more": 1},
        {"topic": "nothing", "state": {}},
        {"topic": ["plane"], "state": {}},
        {"topic": "plane", "state": []},
        {"topic": "plane", "state": {"unknown": 1}},
        {"topic": "plane", "state": {"__class__": "x"}},
    ],
)
def test_wrong_requests_are_refused(client, body):
    assert refused(client.post(f"/{TOKEN}/api/boundary", json=body), 422)


@pytest.mark.parametrize(
    "state",
    [
        {"alpha": "1"},
        {"alpha": True},
        {"alpha": 0},
        {"alpha": -1},
        {"alpha": 1e300},
        {"alpha": None},
        {"n": 20.5},
        {"n": 10**9},
        {"n": 10**30},
        {"data": "__import__"},
        {"data": 3},
        {"nearest": 1},
        {"points": "many"},
        {"points": [[0, 0]]},
        {"points": [[0, 0, 2]]},
        {"points": [[0, 1e9, 1]]},
        {"points": [[0, "0", 1]]},
        {"points": [[0, 0, 1]] * 601},
        {"points": []},
        {"points": [[0, 0, 1], [1, 1, 1]]},
        {"kernel": []},
        {"kernel": [{}]},
        {"kernel": [{"name": "Custom"}]},
        {"kernel": [{"name": "Gaussian", "bandwidth": 0}]},
        {"kernel": [{"name": "Gaussian", "function": "eval"}]},
        {"kernel": [{"name": "Gaussian"}] * 5},
        {"representation": "landmarks", "choose": "placed"},
        {"representation": "random", "kernel": [{"name": "one_plus_distance"}]},
        {"representation": "kernel", "learner": "hand"},
        {"learner": "hand", "weights": [1, 2, 3, 4]},
        {"x_name": "x" * 100},
    ],
)
def test_wrong_states_are_refused_by_name(ask, state):
    response = ask("boundary", state)
    assert refused(response, 422)


@pytest.mark.parametrize("axes", [[0, 1], [0, 0, 1], [0, 1, 99], [0, 1, 2, 3], "x"])
def test_wrong_axes_are_refused(ask, axes):
    assert refused(ask("space", {"representation": "polynomial", "axes": axes}), 422)


def test_unknown_questions_are_refused(ask):
    assert refused(ask("shutdown", {}), 422)
    assert refused(ask("gram", {}, topic="lasso"), 422)


def test_error_in_a_computation_is_not_shown(client, monkeypatch, capsys):
    from mercer.explore import server

    def broken(*_):
        raise KeyError("secret")

    monkeypatch.setattr(server, "answer", broken)
    response = client.post(f"/{TOKEN}/api/boundary", json=GOOD)
    assert response.status_code == 500
    assert "secret" not in response.text
    assert "KeyError" in capsys.readouterr().err


def test_requests_beyond_the_queue_are_refused(client, monkeypatch):
    from mercer.explore import server

    monkeypatch.setattr(server, "MAX_WAITING", 0)
    assert refused(client.post(f"/{TOKEN}/api/boundary", json=GOOD), 429)


def test_slow_computations_end_with_an_error(client, monkeypatch):
    import time

    from mercer.explore import server

    monkeypatch.setattr(server, "MAX_SECONDS", 0.05)
    monkeypatch.setattr(server, "answer", lambda *_: time.sleep(0.5))
    assert refused(client.post(f"/{TOKEN}/api/boundary", json=GOOD), 503)

"""A running `mercer explore` and pages of a real browser that must stay without errors and on this machine."""

import json
import os
import signal
import subprocess
import sys
from base64 import urlsafe_b64decode
from urllib.parse import parse_qs

import pytest

LONG = os.environ.get("MERCER_TEST_LENGTH") == "long"


@pytest.fixture(scope="session")
def explore_address(tmp_path_factory):
    """The address of a server with a small file of its own."""
    table = tmp_path_factory.mktemp("data") / "flowers.csv"
    rows = [f"{4 + i % 7 * 0.3},{2 + i % 5 * 0.4},{'rose' if i % 7 > 3 else 'lily'}" for i in range(90)]
    table.write_text("length,width,kind\n" + "\n".join(rows) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mercer", "explore", str(table), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        line = server.stdout.readline()
        assert line.startswith("Open http://127.0.0.1:"), line + server.stderr.read()
        yield line.split()[1]
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0, server.stderr.read()
        server.stdout.close()
        server.stderr.close()


class ExplorePage:
    """A page of the browser with what it was asked, what it received and what it complained about."""

    def __init__(self, page, address):
        self.page, self.address = page, address
        self.complaints, self.requests, self.answers = [], [], {}
        page.on("console", lambda message: self.complaints.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("response", self._keep)

    def _keep(self, response):
        name = response.url.rpartition("/api/")[2]
        if "/api/" in response.url and response.status == 200 and name != "about":
            self.answers[name] = response

    def open(self, fragment=""):
        self.page.goto("about:blank")
        self.page.goto(self.address + fragment)
        self.settle()
        return self

    def settle(self):
        self.page.wait_for_selector("body[data-state=idle]", timeout=60_000)

    def until(self, expression):
        """Wait until a JavaScript expression is true; the policy of the page forbids the polling of playwright."""
        for _ in range(400):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{expression} did not become true")

    def answer(self, name):
        return self.answers[name].json()

    @property
    def state(self):
        """The topic and the state of the address."""
        fragment = parse_qs(self.page.evaluate("location.hash").lstrip("#"))
        packed = fragment["state"][0]
        return fragment["topic"][0], json.loads(urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))

    def tile(self, name):
        return self.page.locator(".tiles div", has_text=name).locator("dd").first.inner_text()


@pytest.fixture
def explore_page(browser, explore_address):
    """open_page(width, scheme) -> an ExplorePage; all of them are checked at the end."""
    opened = []

    def open_page(width=1440, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        found = ExplorePage(context.new_page(), explore_address)
        opened.append((context, found))
        return found

    yield open_page
    for context, found in opened:
        complaints, urls = found.complaints, found.requests
        context.close()
        assert complaints == []
        outside = [url for url in urls if not url.startswith((explore_address, "data:", "blob:", "about:"))]
        assert outside == []

"""How long the page of `mercer explore` takes to answer a change of 300 points, in a browser.

Time from the input of a slider to the drawn boundary, the median of 30 changes. It needs `make .venv/.browser`, and is
left out where there is no browser.
"""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
from base64 import urlsafe_b64encode
from importlib.util import find_spec
from pathlib import Path

from benchmarks.harness import size, table

CHROMIUM = Path("/usr/bin/chromium")
N, CHANGES = size((300, 30), (40, 2))
CASES = {
    "parabolic lift, hinge": {"representation": "parabolic", "learner": "hinge"},
    "degree 5, logistic": {"representation": "polynomial", "degree": 5, "learner": "logistic"},
    "256 random features, ridge": {"representation": "random", "n_components": 256, "learner": "ridge"},
    "30 landmarks, ridge": {"representation": "landmarks", "learner": "ridge"},
    "kernel hinge": {"representation": "kernel", "learner": "hinge"},
    "kernel ridge": {"representation": "kernel", "learner": "ridge"},
    "kernel perceptron": {"representation": "kernel", "learner": "perceptron"},
    "kernel logistic": {"representation": "kernel", "learner": "logistic"},
}
MODELS = size(tuple(CASES), ("256 random features, ridge",))
_MOVE = """async (changes) => {
  const slider = document.getElementById('field-noise');
  const times = [];
  for (let k = 0; k < changes; k++) {
    performance.clearMeasures('mercer:answer');
    slider.value = String(Number(slider.min) + (k % 2 ? 0.35 : 0.3) * (slider.max - slider.min) + k * slider.step);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    slider.dispatchEvent(new Event('change', { bubbles: true }));
    for (let wait = 0; wait < 500 && !performance.getEntriesByName('mercer:answer').length; wait++) {
      await new Promise((done) => setTimeout(done, 4));
    }
    times.push(...performance.getEntriesByName('mercer:answer').slice(0, 1).map((each) => each.duration));
    await new Promise((done) => setTimeout(done, 400));
  }
  return times;
}"""


def run() -> None:
    if find_spec("playwright") is None or not CHROMIUM.exists():
        print("left out: Playwright or /usr/bin/chromium is missing")
        return
    command = [sys.executable, "-m", "mercer", "explore", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            _measure(server.stdout.readline().split()[1])
        finally:
            server.send_signal(signal.SIGINT)


def _measure(address: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"])
        rows, page = [], browser.new_page(viewport={"width": 1440, "height": 1000})
        for name in MODELS:
            state = json.dumps({"data": "circles", "n": N, **CASES[name]})
            packed = urlsafe_b64encode(state.encode()).decode().rstrip("=")
            page.goto("about:blank")
            page.goto(f"{address}#topic=plane&state={packed}")
            page.wait_for_selector("body[data-state=idle]")
            times = page.evaluate(_MOVE, CHANGES)
            rows.append([name, round(statistics.median(times)), round(max(times)), len(times)])
        table(f"answers to a change of {N} points, milliseconds", ["model", "median", "largest", "changes"], rows)
        browser.close()

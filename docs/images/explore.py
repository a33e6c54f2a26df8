"""Take the pictures of the guide to `mercer explore`: python docs/images/explore.py (needs playwright, Chromium)."""

import io
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

SHOTS = {"explore_boundary": "parabolic-ball", "explore_steps": "ordinary-and-special"}


def main():
    command = [sys.executable, "-m", "mercer", "explore", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        address = server.stdout.readline().split()[1]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, preset in SHOTS.items():
            page = browser.new_page(viewport={"width": 1440, "height": 960})
            page.goto(f"{address}#preset={preset}")
            page.wait_for_selector("body[data-state=idle]")
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(128)
            picture.save(Path(__file__).with_name(f"{name}.png"), optimize=True)
            page.close()
        browser.close()
        server.send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()

"""The static page: the pictures of all presets in one file that needs no server and no network."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Any

from mercer._runtime.blas import single_threaded_blas
from mercer.explore.answers import answer
from mercer.explore.fields import RequestError
from mercer.explore.presets import PRESETS, Preset
from mercer.io.atomic_file import atomic_write, check_writable

#: Modules of the page that draw, in an order in which each comes after those it uses.
MODULES = (
    "colors",
    "pen",
    "elements",
    "grids",
    "axes",
    "charts",
    "plane_view",
    "space_view",
    "panels",
    "printed_page",
)
_STYLE = """
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem; background: #ffffff; color: #1b1f24;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
nav ol { columns: 3 16rem; padding-left: 1.2rem; }
section { border-top: 1px solid #d5dae0; padding: 1rem 0; break-inside: avoid; }
.note, figcaption, figure p { color: #5b6470; font-size: 0.85rem; }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; max-width: 100%; width: 420px; }
figure.wide { width: auto; }
figure svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 0.8rem; }
td, th { text-align: left; padding: 0.15rem 0.5rem; border-bottom: 1px solid #d5dae0; }
pre { overflow: auto; background: #f4f6f8; padding: 0.8rem; font-size: 0.8rem; }
"""


def write_page(path: str) -> None:
    """Write the page; an existing file is replaced only when the new one is complete."""
    check_writable(path)
    text = page_text()
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))


def page_text() -> str:
    """Return the page: text and code of each preset, the answers as JSON, and the modules that draw them."""
    with single_threaded_blas():
        found = [_computed(preset) for preset in PRESETS]
    # Within a script, "<" could end it.
    data = json.dumps(found, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    script = drawing_script()
    policy = f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(_STYLE)}'; img-src data:"
    sections = "".join(
        f"<h2>{escape(group)}</h2>{''.join(map(_section, presets))}"
        for group, presets in groupby(PRESETS, key=lambda preset: preset.group)
    )
    links = "".join(f'<li><a href="#preset-{each.name}">{escape(each.title)}</a></li>' for each in PRESETS)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Mercer: feature maps and kernels in pictures</title><style>{_STYLE}</style></head>"
        f'<body data-state="busy"><h1>Feature maps and kernels in pictures</h1><nav><ol>{links}</ol></nav>{sections}'
        f'<script type="application/json" id="presets">{data}</script>'
        f'<script type="module">{script}</script></body></html>\n'
    )


def drawing_script() -> str:
    """Return the modules that draw as one script: imports between them are left out."""
    folder = files("mercer.explore") / "static"
    parts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in MODULES]
    joined = re.sub(r"^import [^;]*;\n", "", "\n".join(parts), flags=re.MULTILINE)
    return re.sub(r"^export ", "", joined, flags=re.MULTILINE)


def _computed(preset: Preset) -> dict[str, Any]:
    body = {"topic": preset.topic, "state": preset.state}
    found: dict[str, Any] = {"name": preset.name, "topic": preset.topic, "answer": answer("panels", body)}
    if preset.topic == "plane":
        try:
            found["space"] = answer("space", body)
        except RequestError:
            found["space"] = None
    return found


def _section(preset: Preset) -> str:
    code = answer("code", {"topic": preset.topic, "state": preset.state})["code"]
    return (
        f'<section id="preset-{preset.name}"><h3>{escape(preset.title)}</h3><p>{escape(preset.text)}</p>'
        f'<div class="pictures"></div><p class="note">{escape(preset.note)}</p>'
        f"<details><summary>Python code</summary><pre>{escape(code)}</pre></details></section>"
    )


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")

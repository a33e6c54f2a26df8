"""Texts that try to break out of a page, and reports that hold them in every place where data may stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

RUN = "window.__pwned=1"
PAYLOADS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</textarea><script>{RUN}</script>",
    f"</svg><script>{RUN}</script>",
    f"--><script>{RUN}</script><!--",
    f"]]><script>{RUN}</script>",
    f"<!--<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'"><img src=x onerror={RUN}>',
    f"'><img src=x onerror={RUN}>",
    f'" onmouseover="{RUN}" x="',
    f"' onfocus='{RUN}' autofocus='",
    f"` onload={RUN} `",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x>",
    f"<svg><foreignObject><img src=x onerror={RUN}>",
    f"<math><mtext></mtext><img src=x onerror={RUN}>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'>",
    f"<iframe src=javascript:{RUN}>",
    f"<object data=javascript:{RUN}>",
    f"<embed src=javascript:{RUN}>",
    f"<a href=javascript:{RUN}>click</a>",
    f"javascript:{RUN}",
    f"JaVaScRiPt:{RUN}//",
    f"data:text/html,<script>{RUN}</script>",
    f"<form action=javascript:{RUN}><input autofocus onfocus={RUN}>",
    f"<details open ontoggle={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<body onload={RUN}>",
    "<meta http-equiv=refresh content='0;url=https://example.org/'>",
    "<link rel=stylesheet href=https://example.org/x.css>",
    "<base href=https://example.org/>",
    "<style>*{display:none}</style>",
    "red;}*{background:url(https://example.org/x)}",
    "expression(alert(1))",
    "{{7*7}}",
    "{% for x in ().__class__.__mro__ %}{{x}}{% endfor %}",
    "${7*7}#{7*7}<%= 7*7 %>",
    "{{ config }}|safe",
    "&lt;script&gt;&#60;script&#62;&amp;",
    "\x00<script>\x00alert(1)</script>",
    "\x1b[31mred\x1b[0m\x07\x9b2J",
    "\u202egnp.exe\u202c \u2066x\u2069",
    "\ud800<script>\udfff",
    "\ufeff\u200b\u00ad<b>zero\u2028width\u2029</b>",
    "＜script＞alert(1)＜/script＞",
    "‮مرحبا‬ <i>שלום</i>",
    "line\r\nbreak\ttab | pipe `tick` \\ back",
    "# heading *bold* _it_ [x](javascript:alert(1)) ![x](https://example.org/x)",
    "x" * 100_000,
    "\u202e" * 100_000,
    "e\u0301" * 400 + "👩‍👩‍👧‍👦",
]
#: Keys whose values are not data: they choose how a page is laid out.
_FIXED = {"severity", "level", "task", "unit", "role"}


def replaced(value: Any, payload: str, key: str = "") -> Any:
    """The report with the payload in the place of every text."""
    if isinstance(value, dict):
        names = {name: f"{name}{payload[:200]}" if key in ("versions", "dialect") else name for name in value}
        return {names[name]: replaced(each, payload, name) for name, each in value.items()}
    if isinstance(value, list):
        return [replaced(each, payload, key) for each in value]
    return payload if isinstance(value, str) and key not in _FIXED else value


def texts(value: Any, path: str = "", key: str = "") -> Iterator[str]:
    """The paths of all texts that `replaced` replaces."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from texts(each, f"{path}.{name}", name)
    elif isinstance(value, list):
        for i, each in enumerate(value):
            yield from texts(each, f"{path}.{i}", key)
    elif isinstance(value, str) and key not in _FIXED:
        yield path

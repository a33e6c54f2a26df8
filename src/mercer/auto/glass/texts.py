"""Columns of text, which an explainable model leaves out: thousands of terms are no scorecard."""

from __future__ import annotations

from typing import Any

from mercer._runtime.errors import DataError, Message, Setting

_TEXTS = ("text", "sequence")


def text_columns(encoder: Any) -> list[str]:
    """The columns of texts and sequences of an encoder; an error if there is no other column."""
    texts = [name for name, role in encoder.roles_.items() if role.role in _TEXTS]
    others = [name for name, role in encoder.roles_.items() if role.role not in (*_TEXTS, "id", "constant")]
    if texts and not others:
        raise DataError(
            f"All columns are texts, first {texts[0]!r}: an explainable model reads numbers, categories and dates.",
            remedy=Message("Use ", Setting("explainable", False), ", or give the column another role."),
            column=texts[0],
        )
    return texts


def left_out(texts: list[str]) -> Message:
    """The note on columns of text that the model does not read."""
    names = ", ".join(repr(name) for name in texts)
    return Message(
        f"{names}: text is left out of an explainable model, which reads numbers, categories and dates (",
        Setting("roles", "category", key=texts[0]),
        " reads the column as a category).",
    )

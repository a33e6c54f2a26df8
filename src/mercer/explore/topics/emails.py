"""A similarity of emails as a weighted sum of kernels on their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.explore.fields import Field, NumberField
from mercer.explore.panels import Topic, answered, bars, matrix, table
from mercer.explore.source_text import program
from mercer.kernels import check_mercer

_WEIGHT: dict[str, Any] = {"low": 0.0, "high": 3.0, "step": 0.1}
FIELDS: dict[str, Field] = {
    "words": NumberField("Weight of common words", 1.0, **_WEIGHT),
    "sender": NumberField("Weight of the same sender's domain", 1.0, **_WEIGHT),
    "files": NumberField("Weight of common kinds of attachments", 0.5, **_WEIGHT),
    "hour": NumberField("Weight of a similar hour", 0.5, **_WEIGHT),
    "bandwidth": NumberField("Hours that count as similar", 3.0, low=0.5, high=12.0, step=0.5),
    "alpha": NumberField("Penalty α", 1.0, low=1e-3, high=100.0, log=True),
}


def emails() -> list[tuple[str, str, str, int, float]]:
    """Twelve invented emails: text, sender, kinds of attachments, hour, and 1 for spam."""
    return [
        ("win a free prize now", "lucky.example", "", 3, 1.0),
        ("free watches order now", "shop.example", "zip", 4, 1.0),
        ("claim your prize today", "lucky.example", "zip", 2, 1.0),
        ("cheap loans order today", "loans.example", "", 5, 1.0),
        ("you win cheap watches", "shop.example", "", 23, 1.0),
        ("your account needs a new password", "lucky.example", "html", 1, 1.0),
        ("agenda of the meeting today", "office.example", "pdf", 9, -1.0),
        ("minutes of the meeting", "office.example", "pdf", 16, -1.0),
        ("order of the new lab watches", "lab.example", "pdf", 11, -1.0),
        ("lunch today", "office.example", "", 11, -1.0),
        ("draft of the paper", "lab.example", "pdf tex", 22, -1.0),
        ("your new password for the lab account", "lab.example", "", 10, -1.0),
    ]


def similarity_parts(messages: list, bandwidth: float) -> np.ndarray:
    """Gram matrices of the four parts: words, sender, kinds of attachments, hour."""
    from mercer import Gaussian, Overlap

    texts, senders, files, hours, _ = zip(*messages, strict=True)
    overlap = Overlap()
    return np.stack(
        [
            overlap([set(text.split()) for text in texts]) / 4,
            overlap([{sender} for sender in senders]),
            overlap([set(kinds.split()) for kinds in files]),
            Gaussian(bandwidth)(np.array(hours, dtype=float)[:, None]),
        ]
    )


def left_out_scores(K: np.ndarray, y: np.ndarray, alpha: float) -> np.ndarray:
    """Score of each message by kernel ridge regression on all others."""
    from mercer import KernelRegressor, Precomputed

    scores = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model = KernelRegressor(Precomputed(), alpha=alpha).fit(K[np.ix_(rest, rest)], y[rest])
        scores.append(float(model.predict(K[i : i + 1, rest])[0]))
    return np.array(scores)


def _weights(state: dict[str, Any]) -> np.ndarray:
    return np.array([state[name] for name in ("words", "sender", "files", "hour")])


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return the similarities, and the score of each message by all the others."""
    messages = emails()
    y = np.array([message[-1] for message in messages])
    K = np.tensordot(_weights(state), similarity_parts(messages, state["bandwidth"]), 1)
    scores = left_out_scores(K, y, state["alpha"])
    rows = [
        [text, sender, kinds or "none", f"{hour}:00", "spam" if label > 0 else "wanted", f"{score:+.2f}"]
        for (text, sender, kinds, hour, label), score in zip(messages, scores, strict=True)
    ]
    wrong = np.flatnonzero(scores * y <= 0)
    report = check_mercer(K)
    text = f"{len(wrong)} of {len(y)} messages are on the wrong side when each is predicted from the others."
    columns = ["text", "sender", "attachments", "hour", "class", "score"]
    return answered(
        matrix("Similarities of the messages", K, y, text=str(report).splitlines()[0]),
        bars(
            "Score of each message, predicted from the others", [str(i + 1) for i in range(len(y))], {"score": scores}
        ),
        table("Messages", columns, rows),
        result=scores,
        text=text,
    )


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the scores."""
    body = [
        "messages = emails()",
        "y = np.array([message[-1] for message in messages])",
        f"weights = np.array({_weights(state).tolist()})  # words, sender, attachments, hour",
        f"K = np.tensordot(weights, similarity_parts(messages, {state['bandwidth']!r}), 1)",
        f"result = left_out_scores(K, y, {state['alpha']!r})",
    ]
    return program(*body, functions=[emails, similarity_parts, left_out_scores])


TOPIC = Topic("A similarity of emails", FIELDS, answer, code)

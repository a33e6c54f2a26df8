"""Questions and their answers: a topic, a state, and a function that answers in plain JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.explore.fields import RequestError, read_fields
from mercer.explore.panels import Topic
from mercer.explore.plane.approximation import approximation_answer
from mercer.explore.plane.boundary import boundary_answer, points_answer
from mercer.explore.plane.gram import gram_answer
from mercer.explore.plane.penalty_map import penalty_map_answer
from mercer.explore.plane.python_code import plane_code
from mercer.explore.plane.space import space_answer
from mercer.explore.plane.state import FIELDS
from mercer.explore.presets import PRESETS
from mercer.explore.topics import (
    boosting,
    counts,
    curve,
    emails,
    filters,
    greedy,
    hypotheses,
    kernel_shapes,
    lasso,
    normalization,
    outliers,
    power_series,
    projection,
    scale,
    soft_threshold,
    steps,
)

TOPICS: dict[str, Topic] = {
    "plane": Topic("Points in the plane", FIELDS, boundary_answer, plane_code),
    "steps": steps.TOPIC,
    "curve": curve.TOPIC,
    "kernel_shapes": kernel_shapes.TOPIC,
    "projection": projection.TOPIC,
    "counts": counts.TOPIC,
    "power_series": power_series.TOPIC,
    "emails": emails.TOPIC,
    "hypotheses": hypotheses.TOPIC,
    "filters": filters.TOPIC,
    "greedy": greedy.TOPIC,
    "boosting": boosting.TOPIC,
    "soft_threshold": soft_threshold.TOPIC,
    "lasso": lasso.TOPIC,
    "scale": scale.TOPIC,
    "outliers": outliers.TOPIC,
    "normalization": normalization.TOPIC,
}
#: Questions about the plane, each answered on its own so that the first picture waits for none of the others.
PLANE_QUESTIONS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "points": points_answer,
    "boundary": boundary_answer,
    "space": space_answer,
    "gram": gram_answer,
    "approximation": approximation_answer,
    "penalty_map": penalty_map_answer,
}
QUESTIONS = ("panels", "code", *PLANE_QUESTIONS)


def answer(question: str, body: Any) -> dict[str, Any]:
    """Return the answer to a question about {"topic": name, "state": fields}; RequestError if there is none."""
    if question not in QUESTIONS:
        raise RequestError(f"There is no question {question[:40]!r}. Questions are {', '.join(QUESTIONS)}.")
    if not isinstance(body, dict) or body.keys() != {"topic", "state"}:
        raise RequestError("A request has the fields topic and state.")
    if not isinstance(body["topic"], str) or body["topic"] not in TOPICS:
        raise RequestError(f"topic must be one of {', '.join(TOPICS)}.")
    topic = TOPICS[body["topic"]]
    state = read_fields(topic.fields, body["state"])
    if question == "code":
        return {"code": topic.code(state)}
    if question == "panels":
        return topic.answer(state)
    if body["topic"] != "plane":
        raise RequestError(f"The question {question} is about the plane only.")
    return PLANE_QUESTIONS[question](state)


def about(table: dict[str, Any] | None) -> dict[str, Any]:
    """Return what the page is built from: topics with their controls, presets, and the columns of the file."""
    topics = {
        name: {"title": topic.title, "fields": [field.describe(key) for key, field in topic.fields.items()]}
        for name, topic in TOPICS.items()
    }
    return {"topics": topics, "presets": [preset.describe() for preset in PRESETS], "table": table}

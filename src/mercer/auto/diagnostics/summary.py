"""A model in three lines, and its blocks of features in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mercer.auto.diagnostics.schema import BlockReport

if TYPE_CHECKING:
    from mercer.auto.final.predictor import Predictor

_MAX_COLUMNS = 3


def block_reports(predictor: Predictor, gains: list[float] | None) -> list[BlockReport]:
    """The blocks of a model; `gains` are the fractions of the gain that they carry, where known."""
    blocks = predictor.features.blocks
    known: list[Any] = gains if gains is not None and len(gains) == len(blocks) else [None] * len(blocks)
    return [
        {
            "kind": block.kind,
            "title": block.title,
            "width": block.width,
            "penalty": float(penalty),
            "note": re.sub(r"\d+\.\d{4,}", lambda digits: f"{float(digits[0]):.4g}", block.note),
            "gain_fraction": gain,
        }
        for block, penalty, gain in zip(blocks, predictor.penalties, known, strict=True)
    ]


def summary(report: dict[str, Any]) -> str:
    """What the model is, its score on the holdout, and its strongest columns: three lines."""
    target = f" of {report['target']!r}" if report.get("target") else ""
    blocks = " + ".join(block["title"] for block in report["blocks"])
    lines = [f"Mercer model: {report['task']}{target} from {len(report['schema']):,} columns, {report['model']}"]
    lines.append(_score(report))
    ranked = [f"{name!r} ({fraction:.0%})" for name, fraction in list(report["importance"].items())[:_MAX_COLUMNS]]
    lines.append(f"Features: {blocks}; strongest columns: {', '.join(ranked)}")
    return "\n".join(lines)


def _score(report: dict[str, Any]) -> str:
    scores = report.get("holdout")
    if scores is None:
        return "No holdout: the score on new rows is unknown"
    others = [f"{scores['baseline']} {scores['linear']['value']:.3g}"]
    if "naive" in scores:
        others.append(f"{scores['naive']['name']} {scores['naive']['value']:.3g}")
    model = scores["model"]
    return (
        f"Holdout of {scores['n']:,} rows: {scores['metric']} {model['value']:.3g} (95 % interval "
        f"{model['low']:.3g} to {model['high']:.3g}); {', '.join(others)}"
    )

"""What `mercer select` shows: columns ranked by a selector of `mercer.select` on the encoded table."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from mercer.auto.rows.task import checked_task
from mercer.learn.targets import classes_in
from mercer.select import FilterSelector, GreedySelector, Lasso
from mercer.source import Source
from mercer.tables import TableEncoder

#: Columns of one text beyond so many are summed up in their leading directions where columns are looked at together.
_MOST_OF_ONE = 64


def gather_selection(
    source: Source, data: str, target: str, *, k: int, how: str, score: str, seed: int, tell: Callable[[str], None]
) -> dict[str, Any]:
    """The best k columns with what they were ranked by; a category counts as one column."""
    tell("look")
    seen = SimpleNamespace(notes=[], n_rows=0)
    checked_task(source, None, seen)
    tell("encode")
    encoder = TableEncoder(random_state=seed)
    X, y, classes = _encoded(encoder, source)
    column_of = _columns(encoder, X.shape[1])
    tell(how)
    ranked = _RANKINGS[how](X, y, classes, column_of, k, score, seed)
    return {
        "file": data,
        "rows": source.n_rows,
        "target": target,
        "how": how if how != "filter" else f"filter ({score})",
        "candidates": len(set(column_of)),
        "ranked": ranked[:k],
        "columns": [*source.notes, *seen.notes, *encoder.notes_],
    }


def _encoded(encoder, source):
    blocks = [block for block in encoder.fit_transform(source).blocks() if len(block)]
    stack = sparse.vstack if hasattr(blocks[0].X, "tocsr") else np.vstack
    X = stack([block.X for block in blocks])
    y = np.concatenate([np.asarray(block.y) for block in blocks])
    return (X.tocsr() if hasattr(X, "tocsr") else X).astype(np.float64), y, classes_in(source, "auto")


def _columns(encoder, width) -> list[str]:
    column_of = [""] * width
    for block in encoder.blocks_:
        column_of[block.start : block.stop] = [block.column] * (block.stop - block.start)
    return column_of


def _summed_up(X, column_of, seed):
    """X as an array, wide blocks of one text as their leading directions; and the column each came from."""
    if not hasattr(X, "tocsr"):
        return X, column_of
    X, names = X.tocsc(), np.array(column_of)
    parts, kept = [], []
    for name in dict.fromkeys(column_of):
        part = X[:, np.flatnonzero(names == name)].tocsr()
        wide = part.shape[1] > _MOST_OF_ONE and part.shape[0] > _MOST_OF_ONE
        parts.append(TruncatedSVD(_MOST_OF_ONE, random_state=seed).fit_transform(part) if wide else part.toarray())
        kept.extend([name] * parts[-1].shape[1])
    return np.hstack(parts), kept


def _numbers(y, classes):
    if classes is None:
        return y.astype(np.float64)
    if len(classes) > 2:
        raise ValueError(
            f"The target has {len(classes)} classes; lasso tells two apart. Use --how greedy or filter for more."
        )
    return np.where(y == classes[-1], 1.0, -1.0)


def _greedy(X, y, classes, column_of, k, score, seed):
    X, column_of = _summed_up(X, column_of, seed)
    how = {
        "stop": "folds",
        "solver": "gram",
        "random_state": seed,
        "target": "numbers" if classes is None else "classes",
    }
    selector = GreedySelector(min(k, len(set(column_of))), groups=column_of, **how)
    selector.fit(X, y.astype(np.float64) if classes is None else y)
    groups = list(selector.groups_)
    return [
        {"column": str(groups[int(step.feature)]), "risk": float(step.risk), "score": float(step.score)}
        for step in selector.path_
    ]


def _lasso(X, y, classes, column_of, k, score, seed):
    model = Lasso(random_state=seed).fit(X, _numbers(y, classes))
    found: dict[str, dict[str, Any]] = {}
    coefs = model.path_.coefs
    for j in model.path_.entered():
        row = int(np.flatnonzero(coefs[:, [j]].toarray())[0])
        found.setdefault(column_of[j], {"column": column_of[j], "enters_at": float(model.path_.alphas[row])})
    for name, each in found.items():
        each["weight"] = float(np.abs(np.ravel(model.coef_)[[c == name for c in column_of]]).sum())
    return list(found.values())


def _filter(X, y, classes, column_of, k, score, seed):
    if score == "pair_information":  # a table for each pair of columns
        X, column_of = _summed_up(X, column_of, seed)
    target = "numbers" if classes is None else "classes"
    selector = FilterSelector(score, k="all", target=target).fit(X, y.astype(np.float64) if classes is None else y)
    best: dict[str, dict[str, Any]] = {}
    pvalues = selector.pvalues_ if selector.pvalues_ is not None else np.full(X.shape[1], np.nan)
    for j in np.argsort(-selector.scores_, kind="stable"):
        p = float(pvalues[j])
        each = {"column": column_of[j], "score": float(selector.scores_[j]), "p_value": None if np.isnan(p) else p}
        best.setdefault(column_of[j], each)
    return list(best.values())


_RANKINGS = {"greedy": _greedy, "lasso": _lasso, "filter": _filter}


def render_selection(found: dict[str, Any]) -> RenderableType:
    """The ranked columns for the terminal."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column("column", overflow="fold")
    extras = [name for name in found["ranked"][0] if name != "column"] if found["ranked"] else []
    for name in extras:
        table.add_column(name.replace("_", " "), justify="right")
    for place, each in enumerate(found["ranked"], 1):
        values = ("" if each[name] is None else f"{each[name]:.5g}" for name in extras)
        table.add_row(str(place), Text(each["column"]), *values)
    title = f"{found['file']}: {found['candidates']} columns, ranked for {found['target']} by {found['how']}"
    parts: list[RenderableType] = [Text(title, style="bold"), *(Text(f"  {note}") for note in found["columns"]), table]
    if "written" in found:
        parts.append(Text(f"\nThe kept columns and {found['target']} are in {found['written']}."))
    return Group(*parts)

"""The report of `mercer select`: columns ranked by a selector of `mercer.select` on the encoded table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from sklearn.decomposition import TruncatedSVD

from mercer._numeric.block import Block
from mercer._runtime.errors import DataError, Message, Setting
from mercer.auto.rows.task import profile_target
from mercer.learn.targets import classes_in
from mercer.select import FilterSelector, GreedySelector, Lasso
from mercer.source import MemorySource, Source
from mercer.source.table import first_block
from mercer.tables import TableEncoder

#: Text columns of more encoded features are reduced to this many components (truncated SVD) for joint selection.
_MAX_TEXT_FEATURES = 64


def gather_selection(
    source: Source, data: str, target: str, k: int, how: str, score: str, seed: int, announce: Callable[[str], None]
) -> dict[str, Any]:
    """Return the best k columns with their scores; a category or text counts as one column."""
    announce("read")
    profile = profile_target(source)
    announce("encode")
    encoder = TableEncoder(random_state=seed)
    encoded = _Encoded.of(encoder, source)
    announce(how)
    ranked = _RANKINGS[how](encoded, k, score, seed)
    return {
        "file": data,
        "rows": source.n_rows,
        "target": target,
        "how": how if how != "filter" else f"filter ({score})",
        "candidates": len(set(encoded.columns)),
        "ranked": ranked[:k],
        "notes": [*source.notes, *profile.notes, *encoder.notes_],
    }


@dataclass(frozen=True)
class _Encoded:
    """The encoded table: a source of its features in float64 (or CSR) and targets, classes if any, and the column of
    each feature."""

    rows: Source
    classes: np.ndarray | None
    columns: list[str]
    sparse: bool = False

    @classmethod
    def of(cls, encoder: TableEncoder, source: Source) -> _Encoded:
        rows = encoder.fit_transform(source).map(_in_float64)
        columns: list[str] = []
        for block in encoder.blocks_:
            columns += [block.column] * (block.stop - block.start)
        first = first_block(rows)
        sparse = first is not None and hasattr(first.X, "tocsr")
        rows = MemorySource.of(rows.collect()) if sparse else rows
        return cls(rows, classes_in(source, "auto"), columns, sparse)

    def reduced(self, seed: int) -> _Encoded:
        """The same as dense features, with high-dimensional texts reduced by truncated SVD."""
        if not self.sparse:
            return self
        whole = self.rows.collect()
        X, names = whole.X.tocsc(), np.array(self.columns)
        parts: list[np.ndarray] = []
        columns: list[str] = []
        for name in dict.fromkeys(self.columns):
            part = X[:, np.flatnonzero(names == name)].tocsr()
            large = min(part.shape) > _MAX_TEXT_FEATURES
            svd = TruncatedSVD(_MAX_TEXT_FEATURES, random_state=seed)
            parts.append(svd.fit_transform(part) if large else part.toarray())
            columns.extend([name] * parts[-1].shape[1])
        return replace(self, rows=MemorySource(np.hstack(parts), whole.y), columns=columns, sparse=False)

    @property
    def kind(self) -> str:
        """The kind of target, as selectors name it."""
        return "numbers" if self.classes is None else "classes"

    def with_target(self) -> Source:
        """The rows with numbers in float64, or classes, as targets."""
        return self.rows if self.classes is not None else self.rows.map(_Numbers())

    def with_numbers(self) -> Source:
        """The rows with targets as numbers: two classes as -1 and 1."""
        if self.classes is None:
            return self.with_target()
        if len(self.classes) > 2:
            raise DataError(
                f"The target has {len(self.classes)} classes, but the lasso separates only two.",
                remedy=Message("Use ", Setting("how", "greedy", "filter"), "."),
            )
        return self.rows.map(_Numbers(self.classes[-1]))


def _in_float64(block: Block) -> Block:
    """Encoded rows in float64, identified by their encoded values."""
    return Block(block.X.astype(np.float64), np.asarray(block.y), start=block.start)


@dataclass(frozen=True)
class _Numbers:
    """Maps targets to float64; where there is a class, to 1 for it and -1 for the other."""

    positive: Any = None

    def __call__(self, block: Block) -> Block:
        y: Any = np.asarray(block.y)
        y = y.astype(np.float64) if self.positive is None else np.where(y == self.positive, 1.0, -1.0)
        return replace(block, y=y)


def _greedy(encoded: _Encoded, k: int, score: str, seed: int) -> list[dict[str, Any]]:
    encoded = encoded.reduced(seed)
    columns = encoded.columns
    how: dict[str, Any] = {"stop": "folds", "solver": "gram", "random_state": seed, "target": encoded.kind}
    selector = GreedySelector(min(k, len(set(columns))), groups=columns, **how).fit(encoded.with_target())
    groups = np.asarray(selector.groups_).tolist()
    return [
        {"column": str(groups[int(step.feature)]), "risk": float(step.risk), "score": float(step.score)}
        for step in selector.path_
    ]


def _lasso(encoded: _Encoded, k: int, score: str, seed: int) -> list[dict[str, Any]]:
    model, columns = Lasso(random_state=seed).fit(encoded.with_numbers()), encoded.columns
    found: dict[str, dict[str, Any]] = {}
    coefs = model.path_.coefs
    for j in model.path_.entered():
        row = int(np.flatnonzero(coefs[:, [j]].toarray())[0])
        found.setdefault(columns[j], {"column": columns[j], "enters_at": float(model.path_.alphas[row])})
    for name, each in found.items():
        each["weight"] = float(np.abs(np.ravel(model.coef_)[[column == name for column in columns]]).sum())
    return list(found.values())


def _filter(encoded: _Encoded, k: int, score: str, seed: int) -> list[dict[str, Any]]:
    if score == "pair_information":  # a table for each pair of columns
        encoded = encoded.reduced(seed)
    selector, rows = FilterSelector(score, k="all", target=encoded.kind), encoded.with_target()
    if score == "spearman":  # ranks of all rows, instead of those in a sample
        whole = rows.collect()
        selector.fit(whole.X, whole.y)
    else:
        selector.fit(rows)
    best: dict[str, dict[str, Any]] = {}
    pvalues = selector.pvalues_ if selector.pvalues_ is not None else np.full(len(encoded.columns), np.nan)
    for j in np.argsort(-selector.scores_, kind="stable"):
        name, p = encoded.columns[j], float(pvalues[j])
        each = {"column": name, "score": float(selector.scores_[j]), "p_value": None if np.isnan(p) else p}
        best.setdefault(name, each)
    return list(best.values())


_RANKINGS: dict[str, Callable[[_Encoded, int, str, int], list[dict[str, Any]]]] = {
    "greedy": _greedy,
    "lasso": _lasso,
    "filter": _filter,
}


def render_selection(found: dict[str, Any]) -> RenderableType:
    """Render the report for the terminal."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column("column", overflow="fold")
    extras = [name for name in found["ranked"][0] if name != "column"] if found["ranked"] else []
    for name in extras:
        table.add_column(name.replace("_", " "), justify="right")
    for rank, each in enumerate(found["ranked"], 1):
        values = ("" if each[name] is None else f"{each[name]:.5g}" for name in extras)
        table.add_row(str(rank), Text(each["column"]), *values)
    title = f"{found['file']}: {found['candidates']} columns, ranked for {found['target']} by {found['how']}"
    parts: list[RenderableType] = [Text(title, style="bold"), *(Text(f"  {note}") for note in found["notes"]), table]
    if "written" in found:
        parts.append(Text(f"\nThe kept columns and {found['target']} are in {found['written']}."))
    return Group(*parts)

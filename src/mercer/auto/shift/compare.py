"""`mercer.compare` and `Model.compare`: has the distribution of the rows changed?"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.errors import DataError
from mercer.auto.rows.bad_targets import schema_with_target
from mercer.auto.shift.comparison import DataComparison
from mercer.auto.shift.reference import KERNELS, DataReference, counts_of, reference_of
from mercer.auto.shift.two_sample import FeatureMoments, limit_p_value, permutation_p_value, witness_direction
from mercer.io import read_table
from mercer.select.filters.false_discovery import adjusted_pvalues
from mercer.source import Columns, Source
from mercer.source.missing import is_missing
from mercer.source.remarks import reading_notes
from mercer.source.table import first_block, table_in_memory
from mercer.tables.roles import guess_roles

if TYPE_CHECKING:
    from mercer.auto.model import Model

#: Rows of both samples up to which they are divided at random; of more rows the normal limit is as good.
_MAX_PERMUTED = 20_000
N_STRANGE = 10


def compare(old: Any, new: Any, *, n_rows: int = N_STRANGE, random_state: int = 0, **reading: Any) -> DataComparison:
    """Test whether the rows of `new` follow the distribution of the rows of `old`.

    Whole rows are compared by the kernel two-sample test (Gretton et al. 2012): the squared distance between the means
    of 256 features, the largest of a Gaussian kernel of median bandwidth, of Gaussian kernels of single columns, and of
    products of two columns. Its p-value is by random divisions of the rows of both (for more than 20,000 rows by the
    normal limit of these). Each column is compared by Kolmogorov and Smirnov or by chi-square. Columns that identify
    rows are left out.

    Use it before trusting a model on new rows, or to compare two periods. It needs no target, so it cannot see that the
    target now depends on the columns in another way; `Model.score` on labeled rows can. With thousands of rows tiny
    differences are significant: read the sizes in the result, not only the p-value.

    Parameters
    ----------
    old, new : path, frame, dict of columns, array or Source
        Columns of `new` that `old` does not have are left out.
    n_rows : int, default=10
        How many of the strangest rows of `new` to name.
    random_state : int, default=0
    reading : options of `mercer.read_table` for paths

    Returns
    -------
    DataComparison

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> random = np.random.default_rng(0)
    >>> old, new = random.normal(size=(300, 3)), random.normal(size=(200, 3))
    >>> mercer.compare(old, new).changed
    False
    >>> new[:, 1] += 1
    >>> found = mercer.compare(old, new)
    >>> found.p_value, found.to_dict()["columns"][0]["column"]
    (0.001, 'x1')
    """
    before = old if isinstance(old, Source) else read_table(old, **reading)
    roles = {name: role.role for name, role in guess_roles(before).items()}
    after = _like(new, before.schema or {}, reading)
    names = (after.schema or {}).keys()
    missing = [name for name in roles if name not in names]
    roles = {name: role for name, role in roles.items() if name in names}
    reference = reference_of(before, roles, random_state)
    if reference is None:
        raise DataError("The two tables have no column in common that can be compared.", remedy="Are they of one kind?")
    notes = [f"Columns that the new rows do not have: {', '.join(map(repr, missing))}."] if missing else []
    return compared(reference, after, n_rows, before, (*notes, *reading_notes(before), *reading_notes(after)))


def _like(data: Any, schema: dict[str, str], reading: dict[str, Any]) -> Source:
    """A source of rows with the names of a schema."""
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, os.PathLike)):
        return read_table(data, like=schema, **reading)
    return read_table(data)


def compare_with_model(model: Model, new: Any, n_rows: int = N_STRANGE, **reading: Any) -> DataComparison:
    """`Model.compare`: the rows of `new` beside those that the model was fitted to."""
    reference = model.reference
    if reference is None:
        raise ValueError(
            "This model keeps no reference of its training rows: it was fitted by an earlier version, or has no column "
            "to compare. Fit it again, or compare the new rows with the old ones: mercer.compare(old, new)."
        )
    source = _rows_for(model, new, reading)
    known = {*model.encoder.schema_, model.target, model.report().get("weight")}
    unknown = [name for name in source.schema or {} if name not in known]
    notes = [f"Columns that fit has not seen: {', '.join(map(repr, unknown))}."] if unknown else []
    found = compared(reference, source, n_rows, notes=(*notes, *reading_notes(source)))
    score, skipped = _score(model, source, reading.get("on_bad_rows", "error"))
    more = () if score is None else tuple(score.pop("notes"))
    return replace(found, score=score, notes=(*found.notes, *more), n_skipped=found.n_skipped + skipped)


def _rows_for(model: Model, new: Any, reading: dict[str, Any]) -> Source:
    """The new rows, with the target as one more column where they have it."""
    from mercer.auto.rows.encoding import named

    if isinstance(new, Source):
        return new
    schema = model.encoder.schema_
    if isinstance(new, (str, os.PathLike)):
        return read_table(new, like=schema_with_target(model), **reading)
    return table_in_memory(named(new, schema))


def _score(model: Model, source: Source, policy: str) -> tuple[dict[str, Any] | None, int]:
    """The score on the new rows that have a target, beside that on the holdout; None if there is no such row.

    Also the number of rows that were left out for their targets.
    """
    from mercer.auto.diagnostics.other_data import evaluate_on, on_holdout
    from mercer.auto.holdout.scores import LOWER_IS_BETTER

    if model.target is not None and model.target in (source.schema or {}):
        source = _with_target(source, model.target, model.encoder.schema_)
    if model.target is None or source.target != model.target or first_block(source) is None:
        return None, 0
    found = evaluate_on(model, source, on_bad_rows=policy)
    main = "r2" if found["metric"] == "R2" else found["metric"]
    before = on_holdout(model, main)
    value, sign = float(found["model"]["value"]), -1.0 if main in LOWER_IS_BETTER else 1.0
    holdout = None if before is None else float(before["value"])
    score = {
        "metric": found["metric"],
        "new": value,
        "low": float(found["model"]["low"]),
        "high": float(found["model"]["high"]),
        "holdout": holdout,
        "loss": None if holdout is None else sign * (holdout - value),
        "sentence": found["sentence"].replace("of data ", "of the new data "),
        "notes": found["notes"],
    }
    return score, found["n_skipped"]


def _with_target(source: Source, name: str, schema: dict[str, str]) -> Source:
    """The rows whose column `name` is not missing, with that column as their target and the columns of a schema."""

    def labeled(block: Block) -> Block:
        table = Columns.of(block.X)
        rows = block.with_X(table).rows(~is_missing(table.array(name)))
        features = rows.X.select([each for each in table.columns if each in schema])
        rows.y = rows.X.array(name)
        return rows.keyed(features, features)

    mapped = source.map(labeled)
    mapped.schema = {each: kind for each, kind in (source.schema or {}).items() if each in schema}
    mapped.target = name
    return mapped


def compared(
    reference: DataReference, source: Source, n_rows: int, old: Source | None = None, notes: tuple[str, ...] = ()
) -> DataComparison:
    """The comparison of the rows of a source with a reference; of rows that are there, `old`, by permutation."""
    n, counts, moments = counts_of(source, reference)
    few = old is not None and n + (old.n_rows or _MAX_PERMUTED) <= _MAX_PERMUTED
    if few:
        X, Y = _features(old, reference), _features(source, reference)
        p_value = permutation_p_value(X, Y, KERNELS)
    else:
        p_value = limit_p_value(reference.moments, moments, KERNELS)
    return DataComparison(
        p_value,
        reference.moments.mmd(moments),
        "permutation" if few else "normal limit",
        reference.n,
        n,
        _column_tests(reference, counts),
        _strangest(reference, source, moments, n_rows),
        notes=notes,
        n_skipped=len(source.skipped_rows),
        n_repaired=len(source.repaired_rows),
    )


def _features(source: Any, reference: DataReference) -> np.ndarray:
    features = reference.features
    return np.concatenate([features.features(features.table(block)) for block in source.blocks() if len(block)])


def _column_tests(reference: DataReference, counts: tuple[np.ndarray, ...]) -> tuple[dict[str, Any], ...]:
    """The tests of all columns, those that moved most first."""
    pairs = zip(reference.cells, reference.counts, counts, strict=True)
    tests = [(cells.column, cells.compare(old, new)) for cells, old, new in pairs]
    adjusted = adjusted_pvalues([test.p_value for _, test in tests])
    found = [
        {"column": name, "test": test.test, "statistic": test.statistic, "p_value": test.p_value, "q_value": float(q)}
        for (name, test), q in zip(tests, adjusted, strict=True)
    ]
    return tuple(sorted(found, key=lambda each: (each["p_value"], -each["statistic"])))


def _strangest(
    reference: DataReference, source: Source, moments: FeatureMoments, n_rows: int
) -> tuple[dict[str, Any], ...]:
    """The rows of largest witness function, with their lines in a text file."""
    direction = witness_direction(reference.moments, moments, KERNELS)

    def witness(block: Block) -> Block:
        values = reference.features.features(reference.features.table(block)) @ direction
        return block.with_X(values[:, None])

    best: list[tuple[float, int]] = []
    for block in source.map(witness).blocks():
        values = block.X[:, 0]
        order = np.argsort(-values, kind="stable")[:n_rows]
        best += [(float(values[k]), int(block.positions[k])) for k in order]
        best = sorted(best, key=lambda each: (-each[0], each[1]))[:n_rows]
    return tuple(_located(source, row, value) for value, row in best)


def _located(source: Source, row: int, value: float) -> dict[str, Any]:
    number = int(source.numbers_in_input(row))
    line = source.locate(row).line
    return {"row": number, **({} if line is None else {"line": line}), "witness": value}

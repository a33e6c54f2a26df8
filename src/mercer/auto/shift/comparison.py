"""The result of a comparison of two samples of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

#: The level at which a table or a column is said to have changed.
LEVEL = 0.05


@dataclass(frozen=True)
class DataComparison:
    """Whether new rows follow the distribution of old ones.

    Attributes
    ----------
    p_value : float
        Of the kernel two-sample test of whole rows: small if such a difference is unlikely by chance.
    statistic : float
        MMD^2, the squared distance between the means of the features of both samples.
    method : "permutation" or "normal limit"
        How the p-value was computed.
    n_old, n_new : int, the numbers of rows
    score : dict or None
        `metric`, its value on the new rows (`new`), on the holdout of the fit (`holdout`), and the `loss` of accuracy,
        their difference; None where the new rows have no targets or nothing predicts them.
    n_skipped, n_repaired : int, the numbers of new rows that were left out or repaired as bad rows
    """

    p_value: float
    statistic: float
    method: str
    n_old: int
    n_new: int
    column_tests: tuple[dict[str, Any], ...]
    strange_rows: tuple[dict[str, Any], ...]
    score: dict[str, Any] | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)
    n_skipped: int = 0
    n_repaired: int = 0

    @property
    def changed(self) -> bool:
        """Whether the p-value is below 0.05."""
        return self.p_value < LEVEL

    @property
    def columns(self) -> Any:
        """The tests of the columns as a frame of pandas if that is installed, else of pyarrow.

        `column`, `test`, `statistic`, `p_value` and `q_value` (adjusted by Benjamini and Hochberg), the columns that
        moved most first. The statistic is the largest difference of the distribution functions (Kolmogorov-Smirnov) or
        Cramer's V (chi-square).
        """
        return _frame(self.column_tests, ("column", "test", "statistic", "p_value", "q_value"))

    @property
    def rows(self) -> Any:
        """The strangest rows as a frame of pandas if that is installed, else of pyarrow.

        `row` (number from 0), `line` of a text file, and `witness`, the strangest rows first: where the witness
        function <z(row), mean of z over the new rows - mean of z over the old rows> is largest.
        """
        lines = any("line" in each for each in self.strange_rows)
        return _frame(self.strange_rows, ("row", "line", "witness") if lines else ("row", "witness"))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and words."""
        return {
            "p_value": self.p_value,
            "changed": self.changed,
            "statistic": self.statistic,
            "method": self.method,
            "n_old": self.n_old,
            "n_new": self.n_new,
            "n_skipped": self.n_skipped,
            "n_repaired": self.n_repaired,
            "columns": [dict(each) for each in self.column_tests],
            "rows": [dict(each) for each in self.strange_rows],
            "score": None if self.score is None else dict(self.score),
            "notes": list(self.notes),
        }

    def sentence(self) -> str:
        """The answer in words."""
        moved = [each["column"] for each in self.column_tests if each["q_value"] < LEVEL]
        names = ", ".join(map(repr, moved[:5])) + (f" and {len(moved) - 5} more" if len(moved) > 5 else "")
        if not self.changed:
            more = f", but single columns moved: {names}" if moved else ""
            return f"No evidence that the rows as a whole have changed (p = {self.p_value:.3g}){more}."
        which = f"The columns that moved: {names}." if moved else "No single column moved: how they go together did."
        return f"The data have changed (p = {self.p_value:.2g}). {which}"

    def __repr__(self) -> str:
        lines = [self.sentence(), f"{self.n_new:,} new rows, {self.n_old:,} old ones."]
        lines += [f"{each['column']!r:<24} {each['test']:<18} {each['statistic']:8.3f}  p = {each['p_value']:.2g}"
                  for each in self.column_tests[:10]]  # fmt: skip
        if self.score is not None:
            lines.append(self.score["sentence"])
        return "\n".join(lines)


def _frame(rows: tuple[dict[str, Any], ...], names: tuple[str, ...]) -> Any:
    import narwhals.stable.v2 as nw

    library: Any = "pandas" if find_spec("pandas") else "pyarrow"
    return nw.from_dict({name: [each.get(name) for each in rows] for name in names}, backend=library).to_native()

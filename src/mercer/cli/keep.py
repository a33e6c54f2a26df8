"""`--keep`: columns of the data that are written beside the results, so that these can be joined."""

from __future__ import annotations

from typing import Any

import click

from mercer._runtime.errors import DataError

keep_option = click.option(
    "--keep",
    multiple=True,
    metavar="COLUMNS",
    help="Columns of DATA to write before the results: names with commas between them, or all.",
)


class KeptColumns:
    """The columns named by `--keep`, in the order of the data and of the types as read; dates are ISO in text."""

    def __init__(self, given: tuple[str, ...], form: str):
        self.given, self.as_text = given, form != "parquet"
        self.names: list[str] = []
        self._timed: set[str] = set()

    def choose(self, columns: list[str], file: str) -> None:
        """Find the columns by their names; a name that is not there is an error."""
        wanted: set[str] = set()
        for given in self.given:
            if given == "all":
                wanted |= set(columns)
            else:
                wanted |= {given} if given in columns else {name.strip() for name in given.split(",") if name.strip()}
        unknown = sorted(wanted - set(columns))
        if unknown:
            raise DataError(
                f"{file}: there is no column {unknown[0]!r} to keep.",
                remedy=_columns_there(unknown[0], columns),
                column=unknown[0],
                file=file,
            )
        self.names = [name for name in columns if name in wanted]

    def beside(self, rows: Any, found: dict[str, Any]) -> dict[str, Any]:
        """The kept columns of the rows, then the results; a name that both have is an error."""
        both = [name for name in self.names if name in found]
        if both:
            raise DataError(
                f"--keep {both[0]}: the results have a column of that name.",
                remedy=f"Rename the column {both[0]!r} of the data, or name the other columns to keep.",
                column=both[0],
            )
        return {**{name: self._column(rows.table[name], name) for name in self.names}, **found}

    def _column(self, column: Any, name: str) -> Any:
        """A column as read; dates as text are days, with times of day from the first block on that has such."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not (self.as_text and pa.types.is_timestamp(column.type)):
            return column
        day = pc.floor_temporal(column, unit="day")
        if name not in self._timed and pc.any(pc.not_equal(column, day)).as_py():
            self._timed.add(name)
        if name not in self._timed:
            return pc.strftime(column, format="%Y-%m-%d")
        whole = pc.all(pc.equal(column, pc.floor_temporal(column, unit="second"))).as_py()
        return pc.strftime(column.cast(pa.timestamp("s" if whole else "us")), format="%Y-%m-%dT%H:%M:%S")


def _columns_there(name: str, columns: list[str]) -> str:
    """The column that may have been meant, or the first ones."""
    from difflib import get_close_matches

    close = get_close_matches(name, columns, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    more = f" and {len(columns) - 12} more" if len(columns) > 12 else ""
    return f"The columns are {', '.join(map(repr, columns[:12]))}{more}."

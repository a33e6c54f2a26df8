"""Tables of mixed columns: the role of each column, and its encoding as numbers."""

from typing import TYPE_CHECKING

from mercer._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from mercer.tables.columns import ColumnBlock
    from mercer.tables.derived.aggregates import Aggregates
    from mercer.tables.derived.category_crosses import CategoryCrosses
    from mercer.tables.derived.column_pairs import ColumnPairs
    from mercer.tables.derived.date_differences import DateDifferences
    from mercer.tables.derived.frequencies import Frequencies
    from mercer.tables.encoder import TableEncoder
    from mercer.tables.roles import Role, guess_roles

__all__ = [
    "Aggregates",
    "CategoryCrosses",
    "ColumnBlock",
    "ColumnPairs",
    "DateDifferences",
    "Frequencies",
    "Role",
    "TableEncoder",
    "guess_roles",
]

if not TYPE_CHECKING:  # the profile of a table needs no scikit-learn
    __getattr__ = lazy_names(
        __name__,
        {
            "Aggregates": "derived.aggregates",
            "CategoryCrosses": "derived.category_crosses",
            "ColumnBlock": "columns",
            "ColumnPairs": "derived.column_pairs",
            "DateDifferences": "derived.date_differences",
            "Frequencies": "derived.frequencies",
            "Role": "roles",
            "TableEncoder": "encoder",
            "guess_roles": "roles",
        },
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

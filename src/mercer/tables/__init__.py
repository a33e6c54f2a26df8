"""Tables of mixed columns: the role of each column, and its encoding as numbers."""

from typing import TYPE_CHECKING

from mercer._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from mercer.tables.columns import ColumnBlock
    from mercer.tables.encoder import TableEncoder
    from mercer.tables.roles import Role, guess_roles

__all__ = ["ColumnBlock", "Role", "TableEncoder", "guess_roles"]

if not TYPE_CHECKING:  # the profile of a table needs no scikit-learn
    __getattr__ = lazy_names(
        __name__, {"ColumnBlock": "columns", "TableEncoder": "encoder", "Role": "roles", "guess_roles": "roles"}
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

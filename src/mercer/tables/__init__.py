"""Tables of mixed columns: the role of each column, and its encoding as numbers."""

from mercer.tables.columns import ColumnBlock
from mercer.tables.encoder import TableEncoder
from mercer.tables.roles import Role, guess_roles

__all__ = ["ColumnBlock", "Role", "TableEncoder", "guess_roles"]

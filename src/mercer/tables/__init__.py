"""Tables of mixed columns: what each column is, and the numbers it becomes."""

from mercer.tables.columns import ColumnBlock
from mercer.tables.encoder import TableEncoder
from mercer.tables.roles import Role, guess_roles

__all__ = ["ColumnBlock", "Role", "TableEncoder", "guess_roles"]

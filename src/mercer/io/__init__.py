"""The way in: arrays, data frames and files become sources of rows."""

from mercer.io.dialect import MISSING, Dialect
from mercer.io.read import read
from mercer.io.table import read_table

__all__ = ["MISSING", "Dialect", "read", "read_table"]

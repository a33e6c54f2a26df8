"""Input and output: arrays, frames and files as sources of rows; fitted models as files."""

from mercer.io.dialect import MISSING, Dialect
from mercer.io.read import read
from mercer.io.save import load, save
from mercer.io.table import read_table

__all__ = ["MISSING", "Dialect", "load", "read", "read_table", "save"]

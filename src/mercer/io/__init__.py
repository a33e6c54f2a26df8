"""The way in and out: arrays, frames and files become sources of rows; fitted models become files."""

from mercer.io.dialect import MISSING, Dialect
from mercer.io.read import read
from mercer.io.save import load, save
from mercer.io.table import read_table

__all__ = ["MISSING", "Dialect", "load", "read", "read_table", "save"]

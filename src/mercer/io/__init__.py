"""The way in: arrays, data frames and files become sources of rows."""

from mercer.io.read import read

__all__ = ["read"]

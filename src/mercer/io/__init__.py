"""The way in and out: arrays, frames and files become sources of rows; fitted models become files."""

from mercer.io.read import read
from mercer.io.save import load, save

__all__ = ["load", "read", "save"]

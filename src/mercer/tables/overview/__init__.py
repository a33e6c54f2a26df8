"""An overview of a table: the profile of each column and of the target, and checks of the data."""

from mercer.tables.overview.gather import Overview, overview

__all__ = ["Overview", "overview"]

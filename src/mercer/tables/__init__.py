"""Columns of a table, the roles they play, and the encoder each role calls for."""

__all__: list[str] = []

"""A block that was learned from targets, beside what it would be without each fold."""

from __future__ import annotations

from mercer.auto.features.blocks import Block


class ByFold(Block):
    """A block for new rows, and for each fold the one that is learned without it: the folds judge by these."""

    def __init__(self, whole: Block, apart: list[Block]):
        self.whole, self.apart = whole, apart
        self.kind, self.width, self.note = whole.kind, whole.width, getattr(whole, "note", "")

    def write(self, X, out):
        self.whole.write(X, out)

    def names(self, columns):
        return self.whole.names(columns)

    def without(self, fold: int) -> Block:
        return self.apart[fold]

    def settled(self) -> Block:
        return self.whole

"""How the rows of one fit are divided: keys, holdout and folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.hashing.keys import keys_in_buckets
from mercer._runtime.errors import DataError, ParameterError, Setting
from mercer.auto.options import Splitting
from mercer.auto.rows.training import N_FOLDS
from mercer.auto.splits.keys import KeyValues, TableView, located, refuse_no_columns
from mercer.auto.splits.plans import (
    FEW_GROUPS,
    GroupParts,
    TimeParts,
    cut_at,
    held_out_groups,
    splitter_parts,
    train_end,
)
from mercer.source import Source
from mercer.source.holdout import in_holdout, split_holdout
from mercer.source.portions import RowKeys
from mercer.stats.folds import FoldPlan


@dataclass(frozen=True)
class RowSplits:
    """Splits by groups, by time or by a splitter.

    plan : the folds of a splitter; None for others, whose folds depend on the rows
    gap : rows, and duration, between training and test rows
    few_groups : whether groups are so few that their sizes decide
    """

    splitting: Splitting
    seed: int
    gap: tuple[int, float] = (0, 0.0)
    plan: FoldPlan | None = None
    few_groups: bool = False

    @classmethod
    def of(
        cls,
        splitting: Splitting,
        source: Source,
        roles: Any = None,
        seed: int = 0,
        planned: tuple[str, FoldPlan] | None = None,
    ) -> tuple[RowSplits | None, Source]:
        """The splits of the rows of a source, and the source with their keys; none if rows are independent.

        planned : the column with the part of each row, and the plan, where a splitter has been asked already
        """
        if splitting.plain:
            return None, source
        groups = KeyValues.of("groups", splitting.groups, source)
        time = KeyValues.of("time", splitting.time, source)
        made = cls(splitting, seed, splitting.gap_rows_or_duration())
        if time is not None and made.gap[1] and not time.holds_dates(source):
            remedy = "give the gap as a number of rows."
            raise DataError(Setting("gap", splitting.gap), " is a duration, but times are numbers:", remedy=remedy)
        dropped = [name for name in splitting.columns if name not in (roles or {})]
        dropped += [] if planned is None else [planned[0]]
        keying = _Keying(source, groups, time, tuple(dropped))
        keyed = TableView(source, keying, dropped)
        refuse_no_columns(keyed.schema, dropped)
        if groups is not None:
            found, _ = distinct_groups(keyed)
            if len(found) < 2:
                raise DataError(Setting("groups"), " has one group only:", remedy="leave it out.", parameter="groups")
            made = replace(made, few_groups=len(found) <= FEW_GROUPS)
            keying = replace(keying, together=not made.few_groups)
        if planned is not None:
            made, keying = replace(made, plan=planned[1]), replace(keying, part_column=planned[0])
        elif splitting.cv is not None and not isinstance(splitting.cv, (int, np.integer)):
            parts, plan = _splitter_parts(splitting.cv, keyed)
            made, keying = replace(made, plan=plan), replace(keying, parts=parts)
        return made, TableView(source, keying, dropped)

    def divided(self, source: Source, fraction: float) -> tuple[Source, Source, Callable[[Block], np.ndarray]]:
        """Training rows, holdout, and the mask of rows of a block that no training set may contain."""
        if self.splitting.time is not None:
            ordered = np.sort(_gathered(source, "time"))
            if ordered[0] == ordered[-1]:
                problem = "All rows have the same time:"
                raise DataError(problem, remedy="there is no later period to hold out.", parameter="time")
            start = cut_at(ordered, 1 - fraction)
            end = train_end(ordered, start, self.gap)
            if not end > ordered[0]:
                problem = "leave rows to learn from before the last ones"
                raise ParameterError("gap", self.splitting.gap, f"must {problem}")
            late, early = _FromTime(start), _FromTime(end)
            return source.where(lambda block: ~early(block)), source.where(late), early
        if self.few_groups:
            chosen = _InGroups(held_out_groups(*distinct_groups(source), fraction, self.seed))
            return source.where(lambda block: ~chosen(block)), source.where(chosen), chosen
        train, held_out = split_holdout(source, fraction, self.seed)
        return train, held_out, partial(in_holdout, fraction=fraction, seed=self.seed)

    def planned(self, source: Source) -> Source:
        """The rows with hashes that give them their folds, and with the plan of these."""
        n_folds = N_FOLDS
        if isinstance(self.splitting.cv, (int, np.integer)):
            n_folds = int(self.splitting.cv)
        if self.plan is not None:
            plan, part_of = self.plan, _known_part
        elif self.splitting.time is not None and self.splitting.cv is None:
            by_time = TimeParts.of(_gathered(source, "time"), self.gap)
            plan, part_of = by_time.plan, _TimePart(by_time)
        elif self.splitting.groups is not None:
            by_group = GroupParts.of(*distinct_groups(source), n_folds, self.seed)
            plan, part_of = FoldPlan.complements(by_group.n_parts), _GroupPart(by_group)
        else:
            plan, part_of = FoldPlan.complements(n_folds), None
        made = source if part_of is None else source.map(_Rekeying(part_of, plan.n_parts, self.seed))
        made = made.map(_same) if made is source else made  # the plan belongs to this view of the rows alone
        made.fold_plan = plan
        return made

    @property
    def method(self) -> str:
        """What decides on the holdout, in words."""
        if self.splitting.time is not None:
            return "time of the row"
        return "hash of the group" if self.splitting.groups is not None else "hash of the row"

    @property
    def sentence(self) -> str:
        """What the score is a score of, in words."""
        asked = self.splitting
        if asked.time is not None:
            gap = (
                ""
                if asked.gap is None
                else f" A gap of {asked.gap} {'rows ' * isinstance(asked.gap, int)}was left out."
            )
            found = f"They are the last rows in time, and every fold was predicted from earlier rows.{gap}"
            found = found if asked.cv is None else f"They are the last rows in time.{gap}"
        elif asked.groups is not None:
            found = (
                "Rows of a group are on the same side, in the holdout and in every fold: the score is for new groups."
            )
        else:
            found = "The hash of a row decides on its side, so equal rows would be on the same one."
        return found if asked.cv is None else f"{found} The folds are those of the splitter that was given."


@dataclass(frozen=True)
class _Keying:
    """Blocks with the keys of their rows, without the columns of these."""

    source: Any
    groups: KeyValues | None
    time: KeyValues | None
    dropped: tuple[str, ...]
    parts: np.ndarray | None = None
    part_column: str | None = None
    #: Whether groups are sampled and held out as a whole by their hashes.
    together: bool = False

    def __call__(self, block: Block) -> Block:
        keys: dict[str, np.ndarray] = {}
        if self.groups is not None:
            keys["group"] = located(self.source, block, lambda: self.groups.groups(block))  # type: ignore[union-attr]
            if self.together:
                keys["split"] = keys["group"]
        if self.time is not None:
            keys["time"] = located(self.source, block, lambda: self.time.times(block))  # type: ignore[union-attr]
        if self.parts is not None:
            keys["part"] = self.parts[block.positions]
        elif self.part_column is not None:
            keys["part"] = block.X.array(self.part_column).astype(np.intp)
        X = block.X
        if self.dropped:
            X = X.select([name for name in X.columns if name not in self.dropped])
        return block.keyed(X, RowKeys(X.row_hashes(), keys))

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to workers: they locate no rows."""
        return {**vars(self), "source": None}


@dataclass(frozen=True)
class _FromTime:
    """Mask of the rows from a time on."""

    start: float

    def __call__(self, block: Block) -> np.ndarray:
        return block.raw.keys["time"] >= self.start


@dataclass(frozen=True)
class _InGroups:
    """Mask of the rows of some groups."""

    groups: np.ndarray

    def __call__(self, block: Block) -> np.ndarray:
        return np.isin(block.raw.keys["group"], self.groups)


@dataclass(frozen=True)
class _GroupPart:
    parts: GroupParts

    def __call__(self, raw: RowKeys) -> np.ndarray:
        return self.parts(raw.keys["group"])


@dataclass(frozen=True)
class _TimePart:
    parts: TimeParts

    def __call__(self, raw: RowKeys) -> np.ndarray:
        return self.parts(raw.keys["time"], raw.hashes)


def _known_part(raw: RowKeys) -> np.ndarray:
    return raw.keys["part"]


def _same(block: Block) -> Block:
    return block


@dataclass(frozen=True)
class _Rekeying:
    """Blocks whose row hashes fall into the part of each row."""

    part_of: Callable[[RowKeys], np.ndarray]
    n_parts: int
    seed: int

    def __call__(self, block: Block) -> Block:
        raw = block.raw
        ids = keys_in_buckets(self.part_of(raw), self.n_parts, raw.hashes, self.seed)
        return block.keyed(block.X, RowKeys(ids, raw.keys))


def _gathered(source: Source, key: str) -> np.ndarray:
    """A key of all rows, in order."""
    return np.concatenate([block.raw.keys[key] for block in source.blocks() if len(block)])


def distinct_groups(source: Source) -> tuple[np.ndarray, np.ndarray]:
    """The keys of all groups, sorted, and their numbers of rows."""
    return np.unique(_gathered(source, "group"), return_counts=True)


def _splitter_parts(cv: Any, source: Source) -> tuple[np.ndarray, FoldPlan]:
    blocks = [block for block in source.blocks() if len(block)]
    y = np.concatenate([np.asarray(block.y) for block in blocks])
    grouped = "group" in blocks[0].raw.keys
    groups = np.concatenate([block.raw.keys["group"] for block in blocks]) if grouped else None
    return splitter_parts(cv, y, groups, np.concatenate([block.ids for block in blocks]))

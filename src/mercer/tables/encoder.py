"""`TableEncoder`: a table of mixed columns as numbers for a linear model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._numeric.block import Block, stack_rows
from mercer._runtime.checks import check_whole
from mercer._runtime.derived import DerivedCache
from mercer._runtime.errors import DataError, Message, Setting
from mercer._runtime.loaded import require
from mercer.base import check_input_names, seed_of
from mercer.source import Source
from mercer.source.accumulator import BLOCK_ROWS
from mercer.source.table import first_block, table_in_memory
from mercer.stats import Sample, Together
from mercer.tables.categories import folds_of
from mercer.tables.columns import ColumnBlock, SmoothClipped
from mercer.tables.inputs import TableInput
from mercer.tables.learning import learn_encoders
from mercer.tables.monotone import MonotoneClipped
from mercer.tables.plan import EncodingPlan
from mercer.tables.profile import SAMPLE_ENTRIES, TableProfile
from mercer.tables.roles import MAX_ONEHOT, Role, roles_of
from mercer.tables.schema import compare_names, conformed, row_of_missing
from mercer.tables.unseen import Unseen, merge_unseen, unseen_in
from mercer.tables.values import ArrayValues, PlainValues


class TableEncoder(TransformerMixin, TableInput):
    """Encode numbers, categories, dates and text, with missing values, as one matrix of about unit scale.

    - number: z / sqrt(1 + (z/3)^2), z = (x - median) / IQR, which lies within (-3, 3). Missing becomes 0.
    - category: an indicator per category; rare ones are pooled as "other"; one not seen in `fit` is all zeros.
    - high-cardinality: the mean target of the category, shrunk to the overall mean, and its frequency.
    - date: linear time, and sin and cos of the month, the day of the week and the hour.
    - text: tf-idf weights of words and pairs of words (of characters, if values are single words); sparse.
    - sequence: weights of character n-grams up to length 5, and letters by position if all lengths are equal; sparse.
    - id and constant columns are left out, see `notes_`.

    A column with missing values in `fit` also gets a missing indicator. One pass over the rows gathers the column
    profiles and a sample; columns of high cardinality take two or three more passes, each text column one.

    `fit_transform(X, y)` gives training rows *out-of-fold* target means: a row's own target never enters its features,
    and the folds are those of the ridge path. `fit(X, y).transform(X)` gives the features of new rows.

    Use it for tables of mixed columns before a linear model or a map of this library. Boosted trees need no scaling and
    can take numbers and category codes as they are. It learns in one pass.

    Parameters
    ----------
    roles : dict of column names to roles, default=None
        Override `guess_roles` for some columns.
    max_onehot : int, default=100
        Maximum number of categories that get an indicator each; text with more is of high cardinality.
    random_state : int, RandomState or None, default=0
        Seed of the folds.

    Attributes
    ----------
    roles_ : dict of column names to `Role`
    schema_ : dict of column names to kinds
    blocks_ : list of `ColumnBlock`
        The output columns of each column, and how they were made.
    notes_ : list of str
        Columns that were left out or are suspicious, and why.
    n_features_in_ : int
    feature_names_in_ : array of names, if the input had any

    Examples
    --------
    >>> from mercer.tables import TableEncoder
    >>> table = {"age": [31.0, None, 22.0, 58.0], "city": ["Bern", "Oslo", "Bern", None]}
    >>> encoder = TableEncoder()
    >>> encoder.fit_transform(table).round(2)
    array([[ 0.  ,  1.  ,  0.  ,  0.  ,  0.  ],
           [ 0.  ,  0.  ,  1.  ,  1.  ,  0.  ],
           [-0.25,  1.  ,  0.  ,  0.  ,  0.  ],
           [ 0.73,  0.  ,  0.  ,  0.  ,  1.  ]])
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'city=Bern', 'city=Oslo', 'age=missing', 'city=missing']
    """

    def __init__(self, roles: Mapping[str, Any] | None = None, max_onehot: int = MAX_ONEHOT, random_state: Any = 0):
        self.roles = roles
        self.max_onehot = max_onehot
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the rows of a frame, a dict of columns, an array or a `Source` of a table."""
        self._fit(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn, and encode the same rows with out-of-fold target means."""
        source = self._fit(X, y, sample_weight)
        if isinstance(X, Source):
            return self._mapped(source, out_of_fold=True)
        return stack_rows([self._encoded(block, folds_of(block, self._seed)) for block in source.blocks()])

    def transform(self, X: Any) -> Any:
        """Encode rows: a matrix for data in memory (CSR if there is text), a `Source` for a `Source`.

        A row may also be a dict of single values, and rows a list of such dicts. A few rows are encoded without
        building a table, with the same bits.
        """
        if not hasattr(self, "_encoders"):
            check_is_fitted(self)
        if isinstance(X, Source):
            if X.schema:
                compare_names(list(X.schema), self.schema_)
            elif (first := first_block(X)) is not None:
                compare_names(self._table_of(first).columns, self.schema_)
            return self._mapped(X, out_of_fold=False)
        unnamed = isinstance(X, np.ndarray) and hasattr(self, "feature_names_in_")  # scikit-learn warns about these
        values = None if unnamed else self.parse_rows(X)
        if values is not None:
            return self.encode_parsed(values)
        table = self.check_table(X)
        if len(table) <= BLOCK_ROWS:
            return self._encoded(Block(table))
        return stack_rows([self._encoded(block) for block in table_in_memory(table).blocks()])

    def unseen_categories(self, X: Any) -> dict[str, Unseen]:
        """The columns of X with categories that `fit` has not seen: the number of such rows, and the first category.

        `transform` encodes these silently: all their indicators are zero, and a column of high cardinality takes the
        mean target and the smallest frequency. A category of more values than `fit` could list takes them for "other".

        Examples
        --------
        >>> encoder = TableEncoder().fit({"city": ["Bern", "Oslo", "Bern", "Oslo"]})
        >>> encoder.unseen_categories({"city": ["Rome", "Bern", "Lima"]})
        {'city': Unseen(rows=2, example='Rome')}
        """
        check_is_fitted(self)
        blocks = X.blocks() if isinstance(X, Source) else [Block(self.check_table(X))]
        found: dict[str, Unseen] = {}
        for block in blocks:
            table = conformed(self._table_of(block), self.schema_, block.start)
            found = merge_unseen(found, unseen_in(self._encoders, table))
        return found

    _encoders: list[Any]

    @property
    def column_encoders(self) -> list[Any]:
        """The fitted encoders of columns, in the order of the output."""
        return self._encoders

    def keep_order(self, columns: Collection[str]) -> None:
        """Encode these numbers from now on such that rounding keeps their order: see `MonotoneClipped`."""
        self._encoders = [
            MonotoneClipped.like(part) if type(part) is SmoothClipped and part.column in columns else part
            for part in self._encoders
        ]
        _plan_of.refresh(self)

    def _check_applies(self) -> None:
        """Encode a row of missing values, which a loaded encoder of parts that do not fit together cannot."""
        if hasattr(self, "_encoders"):
            width = self.transform(row_of_missing(self.schema_)).shape[1]
            require(width == self.blocks_[-1].stop == len(self.get_feature_names_out()), "its columns are others")

    def parse_rows(self, X: Any) -> PlainValues | ArrayValues | None:
        """A few rows, or an array of numbers, as values by column for `encode_parsed`, without building a table.

        None if a table has to be built: see `check_table`. Columns of an array are taken in the order of fit; their
        names are not checked.
        """
        return self._plan.parse(X)

    def encode_parsed(self, values: PlainValues | ArrayValues, start: int = 0) -> Any:
        """The features of parsed rows; `start` is the index of the first row, for messages."""
        return self._joined(self._plan.parts(values, None, start))

    def encode_parts(self, values: PlainValues | ArrayValues, start: int = 0) -> list[tuple[list[Any], Any]]:
        """The features of parsed rows in parts: pairs of the column encoders and the features they computed."""
        encoders = (encoders for encoders, _ in self._plan.steps)
        return list(zip(encoders, self._plan.parts(values, None, start), strict=True))

    @property
    def _plan(self) -> EncodingPlan:
        plan = _plan_of(self)
        if plan.encoders is not self._encoders:  # fitted again
            plan = _plan_of.refresh(self)
        return plan

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Source:
        check_whole("max_onehot", self.max_onehot)
        source = self._opened(X, y, sample_weight)
        learned = source.fold(Together(profile=TableProfile(), sample=Sample(max_entries=SAMPLE_ENTRIES))).finish()
        profiles, sample = learned["profile"], learned["sample"]
        self.schema_ = {name: profile.kind for name, profile in profiles.items()}
        self.roles_: dict[str, Role] = roles_of(profiles, sample, self.roles, self.max_onehot)
        self.n_features_in_ = len(self.schema_)
        seed = seed_of(self.random_state)
        self._seed = seed
        if not profiles:
            raise DataError("There is no column to learn from.", remedy="Add columns beside the target.")
        self._encoders = learn_encoders(source, profiles, sample, self.roles_, int(self.max_onehot), seed)
        self.notes_ = _notes(self.roles_)
        if not self._encoders:
            n = next(iter(profiles.values())).n
            raise ValueError(f"No column is left to learn from ({n} sample(s)): {' '.join(self.notes_)}")
        self._lay_out()
        return source

    def _lay_out(self) -> None:
        """Set `blocks_`, in the order of the output."""
        self.blocks_, start = [], 0
        for encoder in self._encoders:
            for column, names in zip(encoder.columns, encoder.names, strict=True):
                stop = start + len(names)
                self.blocks_.append(ColumnBlock(column, self.roles_[column].role, encoder.kind, start, stop))
                start = stop
        self._sparse = any(block.kind in ("text", "sequence") for block in self.blocks_)

    def _mapped(self, source: Source, out_of_fold: bool) -> Source:
        plan, seed = source.fold_plan, self._seed

        def encoded(block: Block) -> Block:
            return block.with_X(self._encoded(block, folds_of(block, seed, plan) if out_of_fold else None))

        mapped = source.map(encoded)
        mapped.names = [str(name) for name in self.get_feature_names_out()]
        mapped.derived = True
        return mapped

    def _encoded(self, block: Block, folds: np.ndarray | None = None) -> Any:
        """The features of rows; where their folds are given, out of fold."""
        table = conformed(self._table_of(block), self.schema_, block.start)
        if not self._sparse:
            return self._plan.dense(table, folds, block.start)
        return self._joined(self._plan.parts(table, folds, block.start))

    def _joined(self, parts: list) -> Any:
        if not self._sparse:
            return np.concatenate(parts, axis=1)
        return sparse.csr_matrix(parts[0]) if len(parts) == 1 else sparse.hstack(parts, format="csr")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as `age`, `age=missing`, `city=Bern`, `day:month-sin`."""
        check_is_fitted(self)
        if input_features is not None:
            check_input_names(input_features, self.n_features_in_, getattr(self, "feature_names_in_", None))
        names = (name for encoder in self._encoders for names in encoder.names for name in names)
        return np.array(list(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


_plan_of = DerivedCache(lambda encoder: EncodingPlan(encoder.column_encoders, encoder.schema_))


def _notes(roles: dict[str, Role]) -> list[str]:
    """Columns that are left out, and columns that are suspicious."""
    unused = ("id", "constant")
    notes: list[str] = [
        f"{name!r} is left out ({role.role}: {role.why})." for name, role in roles.items() if role.role in unused
    ]
    for name, role in roles.items():
        if role.role not in unused:
            remedy = Message(" (", Setting("roles", "id", key=name), " leaves it out).")
            notes += [Message(f"{name!r} is suspicious: {each.rstrip('.')}", remedy) for each in role.suspicions]
    return notes

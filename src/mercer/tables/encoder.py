"""`TableEncoder`: a table of mixed columns as numbers for a linear model."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._numeric.block import Block
from mercer._runtime.checks import check_weight, check_whole
from mercer._runtime.derived import DerivedCache
from mercer.base import seed_of
from mercer.source import Columns, Source
from mercer.source.accumulator import BLOCK_ROWS
from mercer.source.arrow import columns_of_rows
from mercer.source.table import first_block, table_in_memory
from mercer.stats import Sample, Together
from mercer.tables.columns import ColumnBlock
from mercer.tables.facts import Facts
from mercer.tables.learning import learn_encoders
from mercer.tables.levels import folds_of
from mercer.tables.plan import Plan
from mercer.tables.roles import MAX_ONEHOT, Role, roles_of
from mercer.tables.schema import compare_names, conformed
from mercer.tables.unseen import Unseen, joined, unseen_in


class TableEncoder(TransformerMixin, BaseEstimator):
    """Numbers, categories, dates and text, with gaps, as one matrix of numbers of about unit size.

    - number: z / sqrt(1 + (z/3)^2), z = (x - median) / IQR: like x in the middle, never beyond 3. Missing becomes 0.
    - category: an indicator per level; rare levels share one, "other"; a level that `fit` has not seen is all zeros.
    - high-cardinality: the mean target of the level, drawn toward the overall mean, and the level's frequency.
    - date: linear time, and sin and cos of the month, the day of the week and the hour.
    - text: tf-idf weights of words and pairs of words (of letters, where values are single words); sparse.
    - sequence: weights of up to five letters in a row, and letters by position where all are of one length; sparse.
    - id and constant columns are left out, see `notes_`.

    A column with missing values in `fit` also gets an indicator of that. One pass over the rows gathers facts and a
    sample; high cardinality takes two or three more, each text column one.

    `fit_transform(X, y)` gives training rows *out-of-fold* targets of levels: a row's own target never enters its
    features, and the folds are those of the ridge path. `fit(X, y).transform(X)` gives what new rows get.

    Parameters
    ----------
    roles : dict of column names to roles, default=None
        Overrule `guess_roles` for some columns.
    max_onehot : int, default=100
        Most levels of a category; above, text is of high cardinality.
    random_state : int, RandomState or None, default=0
        Seed of the folds.

    Attributes
    ----------
    roles_ : dict of column names to `Role`
    schema_ : dict of column names to kinds
    blocks_ : list of `ColumnBlock`
        Which output columns were made from which column, and how.
    notes_ : list of str
        What was left out, and why.
    n_features_in_ : int
    feature_names_in_ : array of names, if the rows had any

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

    def __init__(self, roles=None, max_onehot=MAX_ONEHOT, random_state=0):
        self.roles = roles
        self.max_onehot = max_onehot
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Learn from the rows of a frame, a dict of columns, an array or a `Source` of a table."""
        self._fit(X, y, sample_weight)
        return self

    def fit_transform(self, X, y=None, sample_weight=None):
        """Learn, and encode the same rows with targets of levels that do not know the row's own fold."""
        source = self._fit(X, y, sample_weight)
        if isinstance(X, Source):
            return self._mapped(source, out_of_fold=True)
        return self._stack([self._encoded(block, True) for block in source.blocks()])

    def transform(self, X):
        """Encode rows: a matrix for data in memory (CSR if there is text), a `Source` for a `Source`.

        A row may also be a dict of single values, and rows a list of such dicts. A few rows take a short way, and get
        the same bits as among many.
        """
        if not hasattr(self, "_encoders"):
            check_is_fitted(self)
        if isinstance(X, Source):
            first = first_block(X)
            if first is not None:
                compare_names(self._table_of(first).columns, self.schema_)
            return self._mapped(X, out_of_fold=False)
        unnamed = isinstance(X, np.ndarray) and hasattr(self, "feature_names_in_")  # scikit-learn has a word on that
        values = None if unnamed else self._values(X)
        if values is not None:
            return self._encode_values(values)
        table = self._checked(X, reset=False)
        if len(table) <= BLOCK_ROWS:
            return self._encoded(Block(table), False)
        return self._stack([self._encoded(block, False) for block in table_in_memory(table).blocks()])

    def unseen_levels(self, X) -> dict[str, Unseen]:
        """The columns of X with levels that `fit` has not seen: in how many rows, and the first of them.

        `transform` says nothing of these: no indicator of theirs is set, and a column of high cardinality takes the
        mean target and the least frequency. A category of more levels than `fit` could list takes them for "other".

        Examples
        --------
        >>> encoder = TableEncoder().fit({"city": ["Bern", "Oslo", "Bern", "Oslo"]})
        >>> encoder.unseen_levels({"city": ["Rome", "Bern", "Lima"]})
        {'city': Unseen(rows=2, example='Rome')}
        """
        check_is_fitted(self)
        blocks = X.blocks() if isinstance(X, Source) else [Block(self._checked(X, reset=False))]
        found: dict[str, Unseen] = {}
        for block in blocks:
            table = conformed(self._table_of(block), self.schema_, block.start)
            found = joined(found, unseen_in(self._encoders, table))
        return found

    @property
    def _plan(self) -> Plan:
        plan = _plan_of(self)
        if plan.encoders is not self._encoders:  # fitted again
            plan = _plan_of.refresh(self)
        return plan

    def _values(self, X):
        """X as values by column where that takes no table; None if it does. No column is checked by name or order."""
        return self._plan.values(X)

    def _encode_values(self, values, start=0):
        return self._joined(self._plan.parts(values, None, start))

    def _fit(self, X, y, sample_weight) -> Source:
        check_whole("max_onehot", self.max_onehot)
        source = self._opened(X, y, sample_weight)
        learned = source.fold(Together(facts=Facts(), sample=Sample())).finish()
        facts, sample = learned["facts"], learned["sample"]
        self.schema_ = {name: known.kind for name, known in facts.items()}
        self.roles_: dict[str, Role] = roles_of(facts, sample, self.roles, self.max_onehot)
        self.n_features_in_ = len(self.schema_)
        seed = seed_of(self.random_state)
        self._seed = seed
        self._encoders = learn_encoders(source, facts, sample, self.roles_, int(self.max_onehot), seed)
        self.notes_ = [
            f"{name!r} is left out ({role.role}: {role.why})."
            for name, role in self.roles_.items()
            if role.role in ("id", "constant")
        ]
        self.notes_ += [
            f"{name!r} is suspicious: {said.rstrip('.')} (roles={{{name!r}: 'id'}} leaves it out)."
            for name, role in self.roles_.items()
            for said in role.suspicions
            if role.role not in ("id", "constant")
        ]
        if not self._encoders:
            raise ValueError(
                f"No column is left to learn from ({next(iter(facts.values())).n} sample(s)): {' '.join(self.notes_)}"
            )
        self._lay_out()
        return source

    def _lay_out(self):
        """`blocks_`, in the order of the output."""
        self.blocks_, start = [], 0
        for encoder in self._encoders:
            for column, names in zip(encoder.columns, encoder.names, strict=True):
                stop = start + len(names)
                self.blocks_.append(ColumnBlock(column, self.roles_[column].role, encoder.kind, start, stop))
                start = stop
        self._sparse = any(block.kind in ("text", "sequence") for block in self.blocks_)

    def _opened(self, X, y, sample_weight) -> Source:
        """The rows as a source of tables whose rows all count."""
        if not isinstance(X, Source):
            table = self._checked(X, reset=True)
            weight = check_weight(sample_weight, len(table))
            if weight is not None and not np.any(weight > 0):
                raise ValueError("All sample weights are zero: there is nothing to learn from.")
            source: Source = table_in_memory(table, _target(y, len(table)), weight)
        else:
            if y is not None or sample_weight is not None:
                raise ValueError("A Source brings its own target and weights: give them to the source, not to fit.")
            first = first_block(X)
            if first is None:
                raise ValueError("The source has no rows.")
            table = self._table_of(first)
            self._input_names, schema = table.columns, table.schema
            self.feature_names_in_ = np.array(table.columns, dtype=object)
            source = X.map(lambda block: block.with_X(conformed(self._table_of(block), schema, block.start)))
        if sample_weight is None and not isinstance(X, Source):
            return source
        return source.where(lambda block: np.ones(len(block), bool) if block.weight is None else block.weight > 0)

    def _table_of(self, block: Block) -> Columns:
        if isinstance(block.X, Columns):
            return block.X
        names = getattr(self, "_input_names", None)
        table = Columns.of(block.X)
        if names is not None and not hasattr(block.X, "columns"):
            table = Columns(table.table.rename_columns(names))
        return table

    def _checked(self, X, reset: bool) -> Columns:
        """Data in memory as a table, after the checks of scikit-learn."""
        if isinstance(X, Columns):
            pass
        elif hasattr(X, "columns") or hasattr(X, "column_names"):
            X = self._checked_frame(X, reset)
        elif columns_of_rows(X) is not None:
            pass
        elif not isinstance(X, dict) or hasattr(X, "tocsr"):  # a sparse matrix may be a dict of its entries
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        table = Columns.of(X)
        if len(table) == 0 or table.shape[1] == 0:
            raise ValueError(f"Found array with {len(table)} sample(s) and {table.shape[1]} feature(s): no rows.")
        if reset:
            self._input_names = table.columns
            return table
        if isinstance(X, np.ndarray):  # its columns are those that fit has seen
            table = Columns(table.table.rename_columns(self._input_names))
        compare_names(table.columns, self.schema_)
        return conformed(table, self.schema_)

    def _checked_frame(self, X, reset):
        """Names must be those of fit, in its order, as scikit-learn asks; new ones are left out with a warning."""
        names = list(getattr(X, "column_names", X.columns))
        if not reset and hasattr(self, "feature_names_in_"):
            known = set(self.feature_names_in_)
            if known < set(names):
                compare_names(names, dict.fromkeys(known))
                X = Columns.of(X).select([name for name in names if name in known])
                if X.columns == list(self.feature_names_in_):
                    return X
                names = X.columns
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _mapped(self, source: Source, out_of_fold: bool) -> Source:
        mapped = source.map(lambda block: block.with_X(self._encoded(block, out_of_fold)))
        mapped.names = [str(name) for name in self.get_feature_names_out()]
        mapped.derived = True
        return mapped

    def _encoded(self, block: Block, out_of_fold: bool):
        table = conformed(self._table_of(block), self.schema_, block.start)
        folds = folds_of(block, self._seed) if out_of_fold else None
        if not self._sparse:
            return self._plan.dense(table, folds, block.start)
        return self._joined(self._plan.parts(table, folds, block.start))

    def _joined(self, parts: list):
        if not self._sparse:
            return np.concatenate(parts, axis=1)
        return sparse.csr_matrix(parts[0]) if len(parts) == 1 else sparse.hstack(parts, format="csr")

    def _stack(self, blocks):
        return sparse.vstack(blocks, format="csr") if self._sparse else np.concatenate(blocks)

    def get_feature_names_out(self, input_features=None):
        """Names such as `age`, `age=missing`, `city=Bern`, `day:month-sin`."""
        check_is_fitted(self)
        self._check_names(input_features)
        names = (name for encoder in self._encoders for names in encoder.names for name in names)
        return np.array(list(names), dtype=object)

    def _check_names(self, given):
        if given is None:
            return
        if len(given) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(given)}"
            )
        known = getattr(self, "feature_names_in_", None)
        if known is not None and not np.array_equal(known, np.asarray(given, dtype=object)):
            raise ValueError("input_features is not equal to feature_names_in_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


_plan_of = DerivedCache(lambda encoder: Plan(encoder._encoders, encoder.schema_))


def _target(y, n):
    if y is None:
        return None
    y = np.asarray(y)
    if len(y) != n:
        raise ValueError(f"X has {n} rows but y has {len(y)} entries.")
    return y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y

"""Features by hashing their names: no dictionary, any number of names, a fixed number of columns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, clone
from sklearn.utils.validation import check_array, validate_data

from mercer import _numeric
from mercer._numeric.hashing.names import packed_names
from mercer._runtime.checks import refuse_missing
from mercer.base import StreamingTransformer, seed_of
from mercer.bounds import Certificate, HashingRisk, certify_distances, hashing_risk
from mercer.project.base import _whole
from mercer.project.heavy import HeavyKeys
from mercer.project.sparse import check_nonzeros
from mercer.project.tokens import Tokens, as_rows, cell_entries, is_table, row_entries, tokens_of

_ROWS = 8192


class FeatureHashing(ClassNamePrefixFeaturesOutMixin, StreamingTransformer):
    """Rows of named values to a CSR matrix of fixed width, by the hash of the names (Weinberger et al. 2009).

    With s = `nonzeros` hashes of every name, into s blocks of m/s columns,

        y[i (m/s) + h_i(name)] += sigma_i(name) value / sqrt(s),   i = 0 .. s - 1,

    the block-hash projection (see `SparseProjection`) of the vector of all names there could ever be. Inner products
    are kept on average, with the variance of `SparseProjection`; s > 1 makes it less likely that two heavy names
    collide everywhere. Names go through a keyed hash of their UTF-8 bytes: the same in every process, on every machine,
    and the same as in `mercer.text.TextFeatures`. A token, or an n-gram written out with its blanks, has the columns
    and signs there that it has here, if ``n_buckets``, `nonzeros` and `random_state` are equal.

    A row is

    - a dict: a number is the value of its name; a string makes the name ``name=string`` with value 1;
    - a list of tokens, each a name with value 1, or of (token, value) pairs;
    - a row of a table (data frame, or two-dimensional array of strings or numbers): as a dict of its columns, which are
      called x0, x1, ... in an array. Mind that a *list* of lists of strings is token lists.

    A missing string (None) is an absent entry; NaN under a number is refused.

    Use it for names that are too many for a vocabulary, or not known in advance: nothing is learned or stored. Prefer
    `OneHot` or `TextFeatures` with a vocabulary where weights are to be read. A row costs s operations per name;
    `mercer.bounds.hashing_risk` gives the risk of collisions.

    Parameters
    ----------
    n_components : int, default=2**18
        Number of output columns m, a multiple of `nonzeros`.
    nonzeros : int, default=1
        Columns per name s; no more than n_components.
    signed : bool, default=True
        Random signs, without which inner products are too large on average (see `SparseProjection`).
    keep_keys : int, default=0
        Let `fit` and `partial_fit` remember about this many of the heaviest names, for `lookup`. 0: nothing is
        learned, and `transform` needs no `fit`.
    random_state : int, RandomState or None, default=0
        Key of the hash.

    Attributes
    ----------
    keys_, weights_ : arrays of the names kept and their total absolute values, heaviest first (with `keep_keys`)

    Examples
    --------
    >>> from mercer.project import FeatureHashing
    >>> rows = [{"color": "red", "size": 2.0}, {"color": "blue"}]
    >>> Z = FeatureHashing(n_components=1024).transform(rows)
    >>> Z.shape, Z.nnz
    ((2, 1024), 3)
    >>> hashing = FeatureHashing(n_components=1024, keep_keys=100).fit([["a", "rose", "is", "a", "rose"]])
    >>> column = hashing.columns_of("rose")[0]
    >>> hashing.lookup(column)
    [('rose', 2.0)]
    """

    _check_X = {"dtype": [np.float64, np.float32]}

    def __init__(
        self,
        n_components: int = 2**18,
        nonzeros: int = 1,
        signed: bool = True,
        keep_keys: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.nonzeros = nonzeros
        self.signed = signed
        self.keep_keys = keep_keys
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not _whole(self.n_components) or not 1 <= self.n_components < 2**31:
            raise ValueError(
                f"n_components must be a whole number of at least 1 and below 2**31, not {self.n_components!r}."
            )
        check_nonzeros(self.nonzeros, self.n_components)
        if not _whole(self.keep_keys) or self.keep_keys < 0:
            raise ValueError(f"keep_keys must be a whole number of at least 0, not {self.keep_keys!r}.")

    def _empty(self) -> HeavyKeys | None:
        return HeavyKeys(int(self.keep_keys), self._tokens) if self.keep_keys else None

    def _finish(self, learned: Any) -> None:
        if learned is not None:
            self.keys_ = np.array([name for name, _ in learned], dtype=object)
            self.weights_ = np.array([weight for _, weight in learned])

    def merge(self, other: Self) -> Self:
        """Add the names that `other` has seen."""
        if type(other) is not type(self) or other._how() != self._how():
            raise ValueError("Only a FeatureHashing with the same parameters can be merged into this one.")
        self._refuse_loaded(self)
        self._refuse_loaded(other)
        mine, theirs = getattr(self, "_accumulator", None), getattr(other, "_accumulator", None)
        if mine is not None and theirs is not None:
            self._accumulator = mine.merge(theirs)
            self._learn()
        return self

    def transform(self, X: Any) -> Any:
        """Hash the rows of X: a CSR matrix of n_components columns, or a `Source` of such blocks for a `Source`."""
        self._check_parameters()
        columns = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        return self._mapped(X, lambda rows: self._hashed(rows, columns))

    def _hashed(self, X: Any, columns: list[str] | None = None) -> Any:
        spans = range(0, max(X.shape[0], 1), _ROWS)
        blocks = [self._hashed_block(*self._entries(X[i : i + _ROWS], columns, i)) for i in spans]
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
        return (blocks[0] if len(blocks) == 1 else sparse.vstack(blocks, format="csr")).astype(dtype, copy=False)

    def _entries(self, X: Any, columns: list[str] | None, start: int) -> Any:
        """The key and the value of every entry, and where the entries of each row begin and end."""
        if X.dtype.kind != "O":
            tokens = self._tokens(X, columns, start)
            return self._hash_names(tokens.names)[tokens.codes], tokens.values, tokens.indptr
        if X.ndim == 1:
            return _numeric.hash_entries(X.tolist(), None, self._key, lambda row, i: row_entries(row, start + i))
        names = self._column_names(X, columns)
        return _numeric.hash_entries(
            X.tolist(), names, self._key, lambda cells, i: cell_entries(names, cells, start + i)
        )

    def _tokens(self, X: Any, columns: list[str] | None = None, start: int = 0) -> Tokens:
        return tokens_of(X, [] if X.ndim == 1 else self._column_names(X, columns), start)

    def _column_names(self, X: Any, columns: Any) -> list[str]:
        if columns is None:
            columns = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(X.shape[1])] if columns is None else [str(name) for name in columns]

    def _hashed_block(self, keys: np.ndarray, values: np.ndarray, indptr: np.ndarray) -> Any:
        s = self._n_nonzeros
        places, signs = _numeric.key_buckets(keys, s, int(self.n_components), bool(self.signed))
        values = values[:, None] * signs / np.sqrt(s)
        shape = (len(indptr) - 1, int(self.n_components))
        found = sparse.csr_matrix((values.ravel(), places.ravel(), s * indptr), shape=shape)
        found.sum_duplicates()
        return found

    def _hash_names(self, names: list[str]) -> np.ndarray:
        """The 64-bit key of each name."""
        bounds, data = packed_names(names)
        return _numeric.term_hashes(bounds, data, self._key)

    def columns_of(self, name: str) -> list[int]:
        """The output columns, one per nonzero, that an entry of this name is added to."""
        self._check_parameters()
        keys = self._hash_names([name])
        return _numeric.key_buckets(keys, self._n_nonzeros, int(self.n_components))[0][0].tolist()

    def lookup(self, column: int, n: int = 3) -> list[tuple[str, float]]:
        """The heaviest names, of those kept, that are added to an output column, with their weights."""
        if not hasattr(self, "keys_"):
            raise ValueError("No names were kept: fit with keep_keys set to how many to remember.")
        if not 0 <= column < self.n_components:
            raise ValueError(f"column must be one of 0 .. {self.n_components - 1}, not {column!r}.")
        if len(self.keys_) == 0:
            return []
        keys = self._hash_names(self.keys_.tolist())
        places, _ = _numeric.key_buckets(keys, self._n_nonzeros, int(self.n_components))
        found = np.flatnonzero((places == column).any(axis=1))[:n]
        return list(zip(self.keys_[found].tolist(), self.weights_[found].tolist(), strict=True))

    def certificate(self, X: Any, delta: float = 0.05, n_pairs: int = 5000, random_state: Any = 0) -> Certificate:
        """Measure the relative error of squared distances between rows of X, beside the vectors of all their names."""
        exact, keys = self.one_column_per_name(X)
        return certify_distances(_OfNames(self, keys), exact, delta, n_pairs, random_state=random_state)

    def risk(
        self, X: Any, eps: float = 0.1, delta: float = 0.01, vectors: str = "rows", random_state: Any = 0
    ) -> HashingRisk:
        """Is this hashing safe for the rows of X, or what would be? See `mercer.bounds.hashing_risk`."""
        exact, _ = self.one_column_per_name(X)
        m = int(self.n_components)
        return hashing_risk(exact, m, self._n_nonzeros, eps, delta, vectors, random_state=random_state)

    def one_column_per_name(self, X: Any) -> Any:
        """The rows of X without hashing: a CSR matrix with one column per distinct name, and the keys of the names."""
        self._check_parameters()
        columns = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        tokens = self._tokens(self._checked_X(X, reset=False), columns)
        shape = (len(tokens.indptr) - 1, max(len(tokens.names), 1))
        exact = sparse.csr_matrix((tokens.values.astype(float), tokens.codes, tokens.indptr), shape=shape)
        exact.sum_duplicates()
        return exact, self._hash_names(tokens.names)

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        if not is_table(X):
            return as_rows(X)
        if not reset and not hasattr(self, "n_features_in_"):  # nothing was fitted, or no table: any width will do
            return clone(self)._checked_X(X, True, start)
        if hasattr(X, "columns"):
            return self._checked_frame(X, reset, start)
        if getattr(getattr(X, "dtype", None), "kind", "") in "OUST":
            X = validate_data(self, X, reset=bool(reset), dtype=None, ensure_all_finite=False)
            return X.astype(object)
        return super()._checked_X(X, reset, start)

    def _checked_frame(self, X: Any, reset: bool | None, start: int) -> np.ndarray:
        columns = [np.asarray(X[name]) for name in X.columns]
        if all(column.dtype.kind in "fiub" for column in columns):
            return super()._checked_X(X, reset, start)
        X = validate_data(self, X, reset=bool(reset), skip_check_array=True)
        for j, column in enumerate(columns):
            if column.dtype.kind == "f":
                one = np.zeros((len(column), j + 1))
                one[:, j] = column
                refuse_missing(one, [str(name) for name in X.columns], start)
        objects = np.stack([column.astype(object) for column in columns], axis=1)
        return check_array(objects, dtype=None, ensure_all_finite=False, estimator=self)

    @property
    def _n_nonzeros(self) -> int:
        return min(int(self.nonzeros), int(self.n_components))

    @property
    def _key(self) -> int:
        return seed_of(self.random_state)

    def _how(self) -> tuple[Any, ...]:
        return self.n_components, self.nonzeros, self.signed, self.keep_keys, self.random_state

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = True
        tags.input_tags.dict = True
        tags.input_tags.categorical = True
        return tags


class _OfNames:
    """The hashing of rows that are given with one column per name."""

    def __init__(self, hashing: FeatureHashing, keys: np.ndarray) -> None:
        self.hashing, self.keys = hashing, keys

    def transform(self, X: Any) -> Any:
        s, m = self.hashing._n_nonzeros, int(self.hashing.n_components)
        places, signs = _numeric.key_buckets(self.keys, s, m, bool(self.hashing.signed))
        rows = np.repeat(np.arange(len(self.keys)), s)
        entries = (signs.ravel() / np.sqrt(s), (rows, places.ravel()))
        return X @ sparse.csr_matrix(entries, shape=(X.shape[1], m))

    def __str__(self) -> str:
        return str(self.hashing)

"""Sparse coding with a learned dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import as_float
from mercer._numeric.linalg import dense
from mercer._runtime.checks import check_whole
from mercer.base import StreamingTransformer, seed_of
from mercer.learn.dictionary.coding import Coder
from mercer.learn.dictionary.dictionary import initial_atoms, learn_dictionary
from mercer.linear.passes import IteratedEstimator
from mercer.source import Source

PURSUITS = ("ols", "omp")


class SparseCoding(ClassNamePrefixFeaturesOutMixin, IteratedEstimator, StreamingTransformer):
    """Codes v of at most `nonzeros` entries with x close to D'v, D a dictionary of atoms x features.

    The best code, argmin ||x - D'v|| over ||v||_0 <= nonzeros, is NP-hard to find and need not be unique. A greedy
    pursuit adds one atom at a time and refits the coefficients of all atoms chosen, from the Gram matrix of the atoms
    (Batch-OMP, Rubinstein et al. 2008).

    The dictionary is learned online (Mairal et al. 2009): every 1,024 rows are coded and added to A = sum of v v' and
    B = sum of v x', with decreasing weights of earlier rows, and each atom moves to its best direction given A and B.
    Full passes with a fixed dictionary then sum A and B over all rows for a last update of the atoms. Unused and
    duplicate atoms are replaced by the rows with the largest errors.

    Use it for signals that are sums of few patterns out of many: patches of images, spectra. Columns of a table rarely
    are; use `PCA` or a kernel there. A row costs n_atoms times (features + nonzeros^2) operations.

    Parameters
    ----------
    n_components : int, default=64
        Number of atoms.
    nonzeros : int, default=4
        Maximum number of atoms in a code; fewer where they represent a row exactly.
    dictionary : array (atoms, features), default=None
        A given dictionary, whose atoms are scaled to length 1; nothing is learned then.
    pursuit : {"ols", "omp"}, default="ols"
        Which atom to add: the one that lowers the error most (orthogonal least squares), or the one most correlated
        with the residual (orthogonal matching pursuit). The first has the lower error, at nearly the same speed.
    n_epochs : int, default=8
        Number of online passes.
    n_refits : int, default=2
        Number of passes over all rows with a fixed dictionary.
    random_state : int, RandomState or None, default=0
        Seed of the rows that initialize the atoms.

    Attributes
    ----------
    dictionary_ : array (atoms, features), float64, rows of length 1
    errors_ : array, the mean of ||x - D'v||^2 in each pass (None with a given dictionary)

    Notes
    -----
    Rows are not centered; subtract means first where they are not informative (`PatchWhitening` does, for images).
    Batches are counted from the first row, so arrays, files and streams of the same rows give the same dictionary.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learn import SparseCoding
    >>> atoms = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.6, 0.8]])
    >>> coding = SparseCoding(dictionary=atoms, nonzeros=2).fit(np.eye(3))
    >>> coding.transform([[2.0, 3.0, 4.0]]).toarray().round(6)
    array([[2., 0., 5.]])
    """

    _needs_y = False
    errors_: np.ndarray | None
    _former = {"n_atoms": "n_components"}

    def __init__(
        self,
        n_components: int = 64,
        nonzeros: int = 4,
        dictionary: Any = None,
        pursuit: str = "ols",
        n_epochs: int = 8,
        n_refits: int = 2,
        random_state: Any = 0,
    ):
        self.n_components = n_components
        self.nonzeros = nonzeros
        self.dictionary = dictionary
        self.pursuit = pursuit
        self.n_epochs = n_epochs
        self.n_refits = n_refits
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_whole("n_components", self.n_components)
        check_whole("nonzeros", self.nonzeros)
        check_whole("n_epochs", self.n_epochs, 0)
        check_whole("n_refits", self.n_refits, 0)
        if self.pursuit not in PURSUITS:
            raise ValueError(f"pursuit must be one of {', '.join(PURSUITS)}, not {self.pursuit!r}.")

    def fit(self, X: Any, y: Any = None) -> SparseCoding:  # type: ignore[override]
        """Learn the dictionary from the rows of X: an array, CSR matrix, data frame or `Source`."""
        return super().fit(X, y)

    @property
    def _multi_pass(self) -> bool:
        return self.dictionary is None

    def _learn_from(self, source: Source) -> None:
        self._coders: dict = {}
        if self.dictionary is not None:
            StreamingTransformer._learn_from(self, source)
            return
        source = source.map(_without_weight)
        start = initial_atoms(source, self.n_components, self.n_features_in_, seed_of(self.random_state))
        self._dtype = next(block.X.dtype for block in (task.read() for task in source.tasks()) if len(block))
        learned = learn_dictionary(source, start, self._coder_of, self.n_epochs, self.n_refits)
        self.dictionary_, self.errors_ = learned

    def _finish(self, learned: Any) -> None:
        """Check and scale a given dictionary."""
        given = np.asarray(self.dictionary, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != self.n_features_in_ or len(given) == 0:
            raise ValueError(
                f"The dictionary must have one row per atom and {self.n_features_in_} columns, as X has; its shape is "
                f"{given.shape}."
            )
        lengths = dense.norm(given, axis=1)
        bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
        if len(bad):
            raise ValueError(f"Atom {bad[0]} of the dictionary has length {lengths[bad[0]]}: remove it.")
        self._coders = {}
        self.dictionary_ = given / lengths[:, None]
        self.errors_ = None

    def _coder_of(self, dictionary: np.ndarray) -> Coder:
        return Coder(dictionary, self.nonzeros, self._dtype, self.pursuit == "ols")

    def _apply(self, X: Any) -> Any:
        if X.dtype not in self._coders:
            self._coders[X.dtype] = Coder(self.dictionary_, self.nonzeros, X.dtype, self.pursuit == "ols")
        return self._coders[X.dtype].encode(X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Map codes v back to rows D'v."""
        check_is_fitted(self)
        X = X.tocsr() if hasattr(X, "tocsr") else as_float(np.asarray(X))
        if X.ndim != 2 or X.shape[1] != len(self.dictionary_):
            raise ValueError(f"inverse_transform expects {len(self.dictionary_)} columns, got shape {X.shape}.")
        return X @ self.dictionary_.astype(X.dtype)

    @property
    def _n_features_out(self) -> int:
        return len(self.dictionary_)


def _without_weight(block: Block) -> Block:
    if block.weight is not None:
        raise ValueError("SparseCoding takes no weights: batches are counted in rows. Repeat rows instead.")
    return block

"""Sparse coding: rows as combinations of a few atoms of a learned dictionary."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from mercer._numeric.hashing.rows import as_float
from mercer._runtime.checks import check_whole
from mercer.base import StreamingTransformer, seed_of
from mercer.learn.dictionary.coding import Coder
from mercer.learn.dictionary.dictionary import learn_dictionary, starting_atoms
from mercer.linear.passes import IteratedEstimator

PURSUITS = ("ols", "omp")


class SparseCoding(ClassNamePrefixFeaturesOutMixin, IteratedEstimator, StreamingTransformer):
    """Codes v of at most `nonzeros` entries with x close to D'v, D a dictionary of atoms x features.

    The best code, argmin ||x - D'v|| over ||v||_0 <= nonzeros, is hard to find (and need not be unique). A pursuit
    takes one atom at a time and fits the coefficients of all atoms taken; it works from the Gram matrix of the atoms
    (Batch-OMP, Rubinstein et al. 2008) and in compiled code.

    The dictionary is learned online (Mairal et al. 2009): every 1,024 rows are coded and added to A = sum of v v' and
    B = sum of v x', where older rows fade, and each atom moves to its best direction given A and B. Full passes with
    the dictionary held then sum A and B over all rows for a last improvement of the atoms. Atoms that no row uses, or
    that repeat another, are replaced by the rows that are coded worst.

    Parameters
    ----------
    n_atoms : int, default=64
    nonzeros : int, default=4
        The most atoms in a code. A row that fewer atoms give exactly has fewer.
    dictionary : array (atoms, features), default=None
        A dictionary of your own, used with its atoms scaled to length 1; nothing is learned then.
    pursuit : {"ols", "omp"}, default="ols"
        Which atom to take: the one that lowers the error most (orthogonal least squares), or the one most correlated
        with what is left (orthogonal matching pursuit). The first has the lower error, at nearly the same speed.
    n_epochs : int, default=8
        Online passes.
    n_refits : int, default=2
        Passes over all rows with the dictionary held.
    random_state : int, RandomState or None, default=0
        Which rows the atoms start as.

    Attributes
    ----------
    dictionary_ : array (atoms, features), float64, rows of length 1
    errors_ : array, the mean of ||x - D'v||^2 over the rows seen in each pass (None with a given dictionary)

    Notes
    -----
    Rows are not centered; subtract means first where they carry nothing (`PatchWhitening` does, for images).
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

    def __init__(self, n_atoms=64, nonzeros=4, dictionary=None, pursuit="ols", n_epochs=8, n_refits=2, random_state=0):
        self.n_atoms = n_atoms
        self.nonzeros = nonzeros
        self.dictionary = dictionary
        self.pursuit = pursuit
        self.n_epochs = n_epochs
        self.n_refits = n_refits
        self.random_state = random_state

    def _check_parameters(self):
        check_whole("n_atoms", self.n_atoms)
        check_whole("nonzeros", self.nonzeros)
        check_whole("n_epochs", self.n_epochs, 0)
        check_whole("n_refits", self.n_refits, 0)
        if self.pursuit not in PURSUITS:
            raise ValueError(f"pursuit must be one of {', '.join(PURSUITS)}, not {self.pursuit!r}.")

    def fit(self, X, y=None):
        """Learn the dictionary from the rows of X: an array, CSR matrix, data frame or `Source`."""
        return super().fit(X, y)

    @property
    def _multi_pass(self) -> bool:  # type: ignore[override]
        return self.dictionary is None

    def _learn_from(self, source):
        self._coders: dict = {}
        if self.dictionary is not None:
            return StreamingTransformer._learn_from(self, source)
        source = source.map(_without_weight)
        start = starting_atoms(source, self.n_atoms, self.n_features_in_, seed_of(self.random_state))
        self._dtype = next(block.X.dtype for block in (task.read() for task in source.tasks()) if len(block))
        dictionary, self.errors_ = learn_dictionary(source, start, self._coder_of, self.n_epochs, self.n_refits)
        self.dictionary_ = dictionary
        return None

    def _finish(self, learned):
        """With a dictionary given, there is nothing to learn but that it fits."""
        given = np.asarray(self.dictionary, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != self.n_features_in_ or len(given) == 0:
            raise ValueError(
                f"The dictionary must have one row per atom and {self.n_features_in_} columns, as X has; its shape is "
                f"{given.shape}."
            )
        lengths = np.linalg.norm(given, axis=1)
        bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
        if len(bad):
            raise ValueError(f"Atom {bad[0]} of the dictionary has length {lengths[bad[0]]}: remove it.")
        self._coders = {}
        self.dictionary_, self.errors_ = given / lengths[:, None], None

    def _coder_of(self, dictionary) -> Coder:
        return Coder(dictionary, self.nonzeros, self._dtype, self.pursuit == "ols")

    def _apply(self, X):
        if X.dtype not in self._coders:
            self._coders[X.dtype] = Coder(self.dictionary_, self.nonzeros, X.dtype, self.pursuit == "ols")
        return self._coders[X.dtype].encode(X)

    def inverse_transform(self, X):
        """The rows D'v that codes stand for."""
        check_is_fitted(self)
        X = X.tocsr() if hasattr(X, "tocsr") else as_float(np.asarray(X))
        if X.ndim != 2 or X.shape[1] != len(self.dictionary_):
            raise ValueError(f"inverse_transform expects {len(self.dictionary_)} columns, got shape {X.shape}.")
        return X @ self.dictionary_.astype(X.dtype)

    @property
    def _n_features_out(self):
        return len(self.dictionary_)


def _without_weight(block):
    if block.weight is not None:
        raise ValueError("SparseCoding takes no weights: batches are counted in rows. Repeat rows instead.")
    return block

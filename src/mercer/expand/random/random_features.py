"""Random features: a kernel approximated by the inner product of random columns."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from mercer._runtime.loaded import require
from mercer._runtime.pool import for_each
from mercer.base import StreamingTransformer, seed_of
from mercer.bounds import KernelCertificate
from mercer.expand.random.compose import MapPlan, bind_columns, check_kernel, is_stationary, prepare
from mercer.expand.random.fourier import FourierMap
from mercer.expand.random.maps import FeatureMap
from mercer.expand.random.sampling import SAMPLINGS
from mercer.expand.random.seed import Seed
from mercer.kernels import Kernel, KernelParameter
from mercer.stats import Sample

_SAMPLE_ROWS = 2048
#: Loaded maps of more features are not tried on a row.
_MAX_TRIED_FEATURES = 10**6
_PAIRINGS = ("cos-sin", "phase")


class RandomFeatures(KernelParameter, KernelCertificate, ClassNamePrefixFeaturesOutMixin, StreamingTransformer):
    """Random features z(x) with E <z(x), z(x')> = k(x, x'), for shift-invariant and polynomial kernels and their
    compositions.

    **Shift-invariant kernels** (Rahimi and Recht 2007), sums, products, scales and restrictions of them included. With
    frequencies omega_1..omega_m from the spectral law of the kernel and mass = k(x, x),

        z(x) = sqrt(mass/m) (cos<omega_i, x>, sin<omega_i, x>)_{i=1..m}             (pairing="cos-sin")
        z(x) = sqrt(2 mass/m) (cos(<omega_i, x> + b_i))_{i=1..m},  b_i ~ U[0, 2pi)  (pairing="phase")

    with m = n_components / 2 frequencies in the first form and n_components in the second.

    Cos-sin has the variance (1 + k(2r) - 2k(r)^2)/n_components for mass 1, never more than that of phase for Gaussian
    and Laplace kernels, and gives ||z(x)||^2 = k(x, x) exactly.

    **Polynomial** kernels: TensorSketch (Pham and Pagh 2013), a tree of sketches from degree 4 on (Ahle et al. 2020).
    At degree 2 and 3 the constant and the linear term are exact where they take no more than a quarter of the columns.
    **AllSubsets** and **Anova**: polynomials of randomly signed columns. **Linear** and **Constant**: exact if
    there are enough columns.

    **Compositions.** A sum puts the maps of its terms side by side: columns in proportion to scale times mass (mass 1
    for kernels that are not shift-invariant), at least one each; with more terms than columns each column is of a term
    drawn at random. A product of a shift-invariant kernel and others multiplies the columns of independent maps, in
    random order. A scale multiplies, a restriction selects columns, `normalized()` divides by sqrt(k(x, x)), and a
    metric (`kernel.through(A)`) maps frequencies omega to A omega.

    Use them where the rows are too many for a Gram matrix: n rows of d columns cost n d n_components / 2 operations and
    no pass to learn. The error of the kernel falls as 1 / sqrt(n_components) whatever the number of rows. Prefer
    `Landmarks` where rows form clusters or lie near a surface, and for kernels that are not shift-invariant; the guide
    *Which map should I use?* compares them.

    Parameters
    ----------
    kernel : Kernel, str or None, default=None
        A kernel or the name of one; None is ``Gaussian(bandwidth="median")``.
    n_components : int, default=1024
        Number of output columns. If it is odd, the last cos-sin column is a phase feature.
    sampling : {"orthogonal", "iid", "structured", "quasi"}, default="orthogonal"
        How frequencies are drawn. Orthogonal frequencies (Yu et al. 2016) have lower variance than independent ones.
        "structured" frequencies are nearly orthogonal and are applied by fast Hadamard transforms without being stored,
        for thousands of input columns. Both need kernels of the Euclidean distance; other shift-invariant parts
        (Laplace with the l1 norm, the product sinc) are drawn "iid" instead. "quasi" uses scrambled Sobol points
        (Avron et al. 2016), for all shift-invariant kernels; it is best below about 20 columns.
    pairing : {"cos-sin", "phase"}, default="cos-sin"
    random_state : int, RandomState or None, default=0
        The same seed gives the same map for any block size and on any engine. For one shift-invariant, all-subsets or
        ANOVA kernel a smaller map is the beginning of a larger one.

    Attributes
    ----------
    kernel_ : the kernel with every parameter a number
    sampling_ : how the columns were drawn, for example "orthogonal", or "orthogonal, iid, tensor sketch"
    frequencies_ : array of shape (m, n_features), float64
        Only if the map is a single set of Fourier features that is not structured.
    shift_ : phases of the frequencies that are not paired: all of them, the last, or none

    Notes
    -----
    Memory: for Fourier features m x n_features float64 numbers and a copy in the precision of the input; for
    all-subsets and ANOVA as many bytes and such a copy; for polynomials one bucket and one sign per column and degree,
    per 16,384 outputs; for structured frequencies 3 bytes per column and block. `transform` needs one block of 256
    output rows per thread in addition to the output.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.expand import RandomFeatures
    >>> from mercer.kernels import Gaussian, Polynomial
    >>> X = np.random.default_rng(0).normal(size=(100, 5)) / 3
    >>> Z = RandomFeatures(Gaussian(2.0), n_components=4096).fit_transform(X)
    >>> print(f"largest error {abs(Z @ Z.T - Gaussian(2.0)(X)).max():.2f}")
    largest error 0.02
    >>> kernel = Gaussian(1.0) + 0.5 * Polynomial(2).on([0, 1, 2])
    >>> features = RandomFeatures(kernel, n_components=4096).fit(X)
    >>> features.sampling_
    'orthogonal, tensor sketch'
    >>> print(f"mean error {abs(features.transform(X) @ features.transform(X).T - kernel(X)).mean():.3f}")
    mean error 0.004

    In a metric, here with the second column ten times as long and the last one left out:

    >>> kernel = Gaussian(2.0).through([1.0, 10.0, 1.0, 1.0, 0.0])
    >>> print(f"largest error {RandomFeatures(kernel, n_components=4096).fit(X).certificate(X).max:.2f}")
    largest error 0.02
    """

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        *,
        n_components: int = 1024,
        sampling: str = "orthogonal",
        pairing: str = "cos-sin",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.sampling = sampling
        self.pairing = pairing
        self.random_state = random_state

    @classmethod
    def from_frequencies(cls, frequencies: np.ndarray, kernel: Kernel | None = None) -> Self:
        """A fitted map of given frequencies omega_1..omega_m: sqrt(mass/m) (cos<omega_i, x>, sin<omega_i, x>)_i.

        Parameters
        ----------
        frequencies : array of shape (m, n_features)
        kernel : shift-invariant Kernel with every parameter a number, or None
            The kernel they were drawn for: its mass k(x, x) scales the features, and `certificate` compares with it.
            None means mass 1; there is then no certificate.

        Returns
        -------
        RandomFeatures, fitted, with 2 m components; `clone` and `fit` draw new frequencies for the kernel

        >>> import numpy as np
        >>> from mercer.expand import RandomFeatures
        >>> features = RandomFeatures.from_frequencies(np.array([[0.0, np.pi]]))
        >>> features.transform(np.array([[5.0, 1.0]])).round(6)
        array([[-1.,  0.]])
        """
        frequencies = np.ascontiguousarray(frequencies, dtype=np.float64)
        if frequencies.ndim != 2 or 0 in frequencies.shape or not np.isfinite(frequencies).all():
            raise ValueError(
                f"frequencies must be a matrix (m, n_features) of finite numbers, got {frequencies!r:.60}."
            )
        if kernel is not None and (not is_stationary(kernel) or kernel.is_data_dependent):
            raise ValueError(f"{kernel!r} is not shift-invariant with every parameter a number: it has no frequencies.")
        made = cls(kernel, n_components=2 * len(frequencies))
        made.n_features_in_ = frequencies.shape[1]
        made.kernel_, made._accumulator = kernel, None
        mass = 1.0 if kernel is None else kernel.mass
        made._set_map(FourierMap(frequencies, np.zeros(0), float(np.sqrt(mass / len(frequencies))), "given"))
        return made

    def _check_parameters(self) -> None:
        if not isinstance(self.n_components, Integral) or self.n_components < 1:
            raise ValueError(f"n_components must be a positive whole number, not {self.n_components!r}.")
        for name, allowed in (("sampling", SAMPLINGS), ("pairing", _PAIRINGS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}.")
        check_kernel(self._kernel())

    def _empty(self) -> Sample | None:
        learns = self._kernel().is_data_dependent
        return Sample(_SAMPLE_ROWS) if learns else None

    def _finish(self, learned: Any) -> None:
        names = getattr(self, "feature_names_in_", None)
        kernel = bind_columns(self._kernel(), self.n_features_in_, None if names is None else list(names))
        self.kernel_ = kernel if learned is None else kernel.resolve(learned.X)
        seed = Seed(seed_of(self.random_state))
        plan = MapPlan(self.n_features_in_, int(self.n_components), self.sampling, self.pairing, seed)
        self._set_map(prepare(self.kernel_, plan))

    def _set_map(self, feature_map: FeatureMap) -> None:
        self._map = feature_map
        self.sampling_ = ", ".join(self._map.how)
        for name in ("frequencies", "shift"):
            self.__dict__.pop(f"{name}_", None)  # of an earlier fit with another kernel
            if self._map.frequencies is not None:
                setattr(self, f"{name}_", getattr(self._map, name))

    def _apply(self, X: Any) -> np.ndarray:
        out = np.empty((X.shape[0], self.n_components), dtype=X.dtype)
        sparse = hasattr(X, "tocsr")
        X = X if sparse else np.ascontiguousarray(X)
        self._map.check(X)
        self._map.ready(X.dtype, sparse)
        for_each(lambda rows: self._map.apply(X[rows], out[rows]), self._spans(X))
        return out

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        """Write the features of valid rows, on the thread of the caller."""
        self._map.ready(X.dtype, False)
        for rows in self._spans(X):
            self._map.apply(X[rows], out[rows])

    def _check_applies(self) -> None:
        """Apply a loaded map to one row: its parts must fit together, and write every feature."""
        super()._check_applies()
        is_fourier = getattr(getattr(self, "_map", None), "frequencies", None) is not None  # others fill their output
        if is_fourier and self.n_components <= _MAX_TRIED_FEATURES:
            out = np.full((1, self.n_components), np.nan)
            self.write(np.zeros((1, self.n_features_in_)), out)
            require(np.isfinite(out).all(), f"its map does not have {self.n_components} features")

    def _spans(self, X: Any) -> list[slice]:
        return [slice(i, i + self._map.rows) for i in range(0, X.shape[0], self._map.rows)]

    @property
    def _n_features_out(self) -> int:
        return self.n_components

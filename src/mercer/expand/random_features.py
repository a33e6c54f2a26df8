"""Random features: a kernel as the inner product of a few random waves."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from mercer import _numeric
from mercer._numeric.pool import for_each
from mercer.base import StreamingTransformer, seed_of
from mercer.bounds import KernelCertificate
from mercer.expand.sampling import draw_frequencies
from mercer.kernels import Gaussian, Kernel, Stationary
from mercer.stats import Sample

#: Rows per call of the fused kernel: its output stays in the second-level cache until it is scaled and stored.
_ROWS = 256
_SAMPLE_ROWS = 2048


class RandomFeatures(KernelCertificate, ClassNamePrefixFeaturesOutMixin, StreamingTransformer):
    """Random Fourier features z(x) with <z(x), z(x')> ~ k(x, x') (Rahimi and Recht 2007).

    With frequencies omega_1..omega_m from the spectral law of the kernel,

        z(x) = (cos<omega_i, x>, sin<omega_i, x>)_{i=1..m} / sqrt(m)          (pairing="cos-sin", n_components = 2m)
        z(x) = sqrt(2/m) (cos(<omega_i, x> + b_i))_{i=1..m},  b_i ~ U[0, 2pi)  (pairing="phase",   n_components = m)

    Both are unbiased. Cos-sin has the variance (1 + k(2r) - 2k(r)^2)/n_components, never more than that of phase, and
    gives ||z(x)|| = 1 exactly.

    Parameters
    ----------
    kernel : Kernel or None, default=None
        A shift-invariant kernel; None is ``Gaussian(bandwidth="median")``.
    n_components : int, default=1024
        Number of output columns. If it is odd, the last cos-sin column is a phase feature.
    sampling : {"orthogonal", "iid"}, default="orthogonal"
        Orthogonal frequencies (Yu et al. 2016) estimate isotropic kernels with less variance.
    pairing : {"cos-sin", "phase"}, default="cos-sin"
    random_state : int, RandomState or None, default=0
        The same seed gives the same map for any block size and on any engine; a smaller map is the beginning of a
        larger one.

    Attributes
    ----------
    kernel_ : the kernel with every parameter a number
    frequencies_ : array of shape (m, n_features), float64
    shift_ : phases of the frequencies that are not paired: all of them, the last, or none

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.expand import RandomFeatures
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> Z = RandomFeatures(Gaussian(2.0), n_components=4096).fit_transform(X)
    >>> float(abs(Z @ Z.T - Gaussian(2.0)(X)).max()) < 0.1
    True
    """

    def __init__(self, kernel=None, n_components=1024, sampling="orthogonal", pairing="cos-sin", random_state=0):
        self.kernel = kernel
        self.n_components = n_components
        self.sampling = sampling
        self.pairing = pairing
        self.random_state = random_state

    def _check_parameters(self):
        if not isinstance(self.n_components, Integral) or self.n_components < 1:
            raise ValueError(f"n_components must be a positive whole number, not {self.n_components!r}.")
        for name, allowed in (("sampling", ("orthogonal", "iid")), ("pairing", ("cos-sin", "phase"))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}.")
        self._check_kernel()

    def _check_kernel(self):
        kernel = self._kernel()
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be one of mercer.kernels, not {kernel!r}.")
        if not isinstance(kernel, Stationary):
            raise ValueError(f"{kernel!r} is not shift-invariant, so it has no Fourier features.")
        if self.sampling == "orthogonal" and not kernel.isotropic:
            raise ValueError(
                f"Orthogonal sampling needs a kernel of the Euclidean distance, and {kernel!r} is not one. "
                "Use sampling='iid'."
            )

    def _kernel(self):
        return Gaussian(bandwidth="median") if self.kernel is None else self.kernel

    def _empty(self):
        learns = "median" in self._kernel().get_params(deep=True).values()
        return Sample(_SAMPLE_ROWS) if learns else None

    def _finish(self, learned):
        self.kernel_ = self._kernel() if learned is None else self._kernel().resolve(learned.X)
        rng = np.random.default_rng(seed_of(self.random_state))
        # The phases have a stream of their own, so that frequencies do not depend on the pairing.
        phases = np.random.default_rng([seed_of(self.random_state), 1])
        paired = self.n_components // 2 if self.pairing == "cos-sin" else 0
        m = self.n_components - paired
        self.frequencies_ = draw_frequencies(self.kernel_, m, self.n_features_in_, self.sampling, rng)
        self.shift_ = phases.uniform(0.0, 2 * np.pi, size=m - paired)
        self._packed = {}

    def _apply(self, X):
        out = np.empty((X.shape[0], self.n_components), dtype=X.dtype)
        if hasattr(X, "tocsr"):
            write = self._write_sparse
        else:
            X, write = np.ascontiguousarray(X), self._write_dense
            self._pack(X.dtype)
        spans = [slice(i, i + _ROWS) for i in range(0, X.shape[0], _ROWS)]
        for_each(lambda rows: write(X[rows], out[rows]), spans)
        return out

    def _write_dense(self, X, out):
        pairs, singles = self._packed[X.dtype]
        p = self._n_pairs
        if p:
            _numeric.fourier_cos_sin(X, pairs, p, self._scale, out[:, : 2 * p])
        if len(self.shift_):
            shift = self.shift_.astype(X.dtype)
            _numeric.fourier_cos_shifted(X, singles, shift, np.sqrt(2.0) * self._scale, out[:, 2 * p :])

    def _write_sparse(self, X, out):
        arguments = X @ self.frequencies_.T.astype(X.dtype)
        p = self._n_pairs
        if p:
            _numeric.cos_sin(np.ascontiguousarray(arguments[:, :p]), self._scale, out[:, : 2 * p])
        if len(self.shift_):
            rest, shift = np.ascontiguousarray(arguments[:, p:]), self.shift_.astype(X.dtype)
            _numeric.cos_shifted(rest, shift, np.sqrt(2.0) * self._scale, out[:, 2 * p :])

    @property
    def _n_pairs(self) -> int:
        return len(self.frequencies_) - len(self.shift_)

    @property
    def _scale(self) -> float:
        return float(np.sqrt(1.0 / len(self.frequencies_)))

    def _pack(self, dtype):
        """Lay the frequencies out as the fused kernel of this machine wants them, once per precision."""
        if dtype not in self._packed:
            frequencies = np.ascontiguousarray(self.frequencies_, dtype=dtype)
            p = self._n_pairs
            self._packed[dtype] = tuple(_numeric.pack_frequencies(part) for part in (frequencies[:p], frequencies[p:]))

    @property
    def _n_features_out(self):
        return self.n_components

    def __getstate__(self):
        # The packed layout belongs to this machine: it is made again where the map is loaded.
        state = super().__getstate__()
        return {**state, "_packed": {}} if "_packed" in state else state
